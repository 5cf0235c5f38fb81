//! Indexes.

use super::option;
use super::refuse::{no_wait, unsupported};
use crate::ast::{AlterAction, DdlStmt, IndexSpec};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl::{CreateIndex, Index, IndexKind, IndexMethod, IndexOption};
use narwal_types::{SqlResult, errors};

/// An index of a table's definition.
pub(super) fn index(i: Index, sql_mode: SqlMode) -> SqlResult<IndexSpec> {
    if matches!(i.kind, IndexKind::Fulltext | IndexKind::Spatial) {
        return unsupported("FULLTEXT and SPATIAL indexes");
    }
    let primary = i.kind == IndexKind::Primary;
    let mut spec = IndexSpec {
        name: i.name.or(i.constraint),
        if_not_exists: i.if_not_exists,
        primary,
        unique: primary || i.kind == IndexKind::Unique,
        columns: Vec::new(),
        functional: Vec::new(),
        comment: String::new(),
        ignored: false,
        method: None,
        key_block_size: 0,
        without_overlaps: i.without_overlaps,
        in_vain: Vec::new(),
    };
    for p in i.parts {
        if let Some(e) = p.expr {
            spec.functional.push((spec.columns.len(), e.expr));
        }
        let prefix = p.prefix.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        spec.columns.push((p.column, prefix, p.desc));
    }
    for o in i.options {
        match o {
            // HASH is built as BTREE by InnoDB too.
            IndexOption::Using(IndexMethod::BTree) => {
                spec.method = Some(narwal_engine::IndexMethod::BTree);
            }
            IndexOption::Using(IndexMethod::Hash) => {
                spec.method = Some(narwal_engine::IndexMethod::Hash);
            }
            IndexOption::Using(IndexMethod::RTree) => {
                return unsupported("index types other than BTREE");
            }
            IndexOption::Comment(c) => spec.comment = c,
            IndexOption::KeyBlockSize(n) => spec.key_block_size = n,
            IndexOption::Ignored(false) | IndexOption::Visible => {}
            IndexOption::Ignored(true) if primary => {
                return Err(errors::PK_INDEX_CANT_BE_IGNORED.plain());
            }
            IndexOption::Ignored(true) => spec.ignored = true,
            IndexOption::Parser(_) => return unsupported("WITH PARSER"),
            IndexOption::Engines(name, _) => {
                spec.in_vain.push(option::unknown(&name, sql_mode)?);
            }
        }
    }
    Ok(spec)
}

/// CREATE INDEX.
pub(super) fn create(c: CreateIndex, sql_mode: SqlMode) -> SqlResult<DdlStmt> {
    no_wait(c.how.wait)?;
    let algorithm =
        (c.how.algorithm.iter()).map(|a| AlterAction::Algorithm(a.to_ascii_uppercase()));
    let lock = (c.how.lock.iter()).map(|l| AlterAction::Lock(l.to_ascii_uppercase()));
    let ways = algorithm.chain(lock).collect();
    Ok(DdlStmt::CreateIndex {
        or_replace: c.creation.or_replace,
        table: c.table,
        index: index(c.index, sql_mode)?,
        ways,
    })
}
