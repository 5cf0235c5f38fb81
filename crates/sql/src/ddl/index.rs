//! Index definitions, CREATE and DROP INDEX.

use crate::ast::{AlterAction, DropKind, IndexSpec, TableElements};
use crate::ddl::comment::{Commented, comment};
use crate::ddl::functional::INDEX_NAME;
use crate::ddl::key_part::{TINY, is_tiny, part_bytes};
use crate::ddl::period;
use crate::ddl::run::Run;
use crate::env::StatementEnv;
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, IndexColumn, IndexDef, IndexMethod, PeriodDef, TableDef};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::row::HashedKey;
use narwal_types::{ColumnType, Name, SqlResult, TypeKind};

/// Longest key in bytes, as InnoDB's.
const MAX_KEY_BYTES: u64 = 3072;

impl Run<'_> {
    pub(super) fn create_index(
        &self,
        or_replace: bool,
        table: &TableName,
        index: &IndexSpec,
        ways: &[AlterAction],
    ) -> SqlResult<u64> {
        let table = self.table(table)?;
        let replaced = |name: &String| {
            or_replace && (table.def.indexes.iter()).any(|i| i.name.same_name(name))
        };
        let drop = index
            .name
            .as_ref()
            .filter(|n| replaced(n))
            .map(|name| AlterAction::Drop {
                kind: DropKind::Index,
                name: name.clone(),
                if_exists: false,
            });
        let elements = TableElements {
            indexes: vec![index.clone()],
            ..TableElements::default()
        };
        let add = AlterAction::Add {
            elements,
            place: None,
            if_not_exists: false,
        };
        let actions: Vec<_> = drop
            .into_iter()
            .chain([add])
            .chain(ways.iter().cloned())
            .collect();
        self.alter(table, &actions, false)
    }

    pub(super) fn drop_index(
        &self,
        if_exists: bool,
        table: &TableName,
        index: &str,
    ) -> SqlResult<u64> {
        let table = self.table(table)?;
        let drop = AlterAction::Drop {
            kind: DropKind::Index,
            name: index.to_string(),
            if_exists,
        };
        self.alter(table, &[drop], false)
    }
}

/// How many keys a table can have.
pub(super) const MAX_KEYS: usize = 64;

/// So many are refused before anything else is said of them: each one is compared with all others.
pub(super) const HOPELESS: usize = 1000;

/// Error 1069 of more than `most` keys.
pub(super) fn number_of_keys(keys: usize, most: usize) -> SqlResult<()> {
    if keys > most {
        let text = format!("Too many keys specified; max {MAX_KEYS} keys allowed");
        return Err(errors::TOO_MANY_KEYS.text(text));
    }
    Ok(())
}

pub(super) fn index_def(
    spec: &IndexSpec,
    columns: &[ColumnDef],
    others: &[IndexDef],
    period: Option<&PeriodDef>,
    env: &StatementEnv,
) -> SqlResult<IndexDef> {
    if spec.columns.len() > 32 {
        return Err(
            errors::TOO_MANY_KEY_PARTS.text("Too many key parts specified; max 32 parts allowed")
        );
    }
    let mut parts: Vec<IndexColumn> = Vec::with_capacity(spec.columns.len());
    let mut total = 0;
    for (name, prefix, desc) in &spec.columns {
        let column = columns
            .iter()
            .position(|c| c.name.same_name(name))
            .ok_or_else(|| errors::KEY_COLUMN_DOES_NOT_EXIST.with([&name]))?;
        if parts.iter().any(|p| p.column == column) {
            return Err(errors::DUP_FIELDNAME.with([&name]));
        }
        if columns[column].compressed {
            return Err(errors::COMPRESSED_COLUMN_USED_AS_KEY.with([&name]));
        }
        let ty = &columns[column].ty;
        if spec.primary
            && prefix.is_none()
            && matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
        {
            return Err(errors::BLOB_KEY_WITHOUT_LENGTH.with([&name]));
        }
        if ty.max_bytes() == Some(0) && !columns[column].nullable {
            return Err(errors::WRONG_KEY_COLUMN.with([&"InnoDB", name]));
        }
        let limit = Limit::of(spec.primary, spec.unique);
        let prefix = prefix_of(name, ty, *prefix, limit, env)?;
        total += part_bytes(ty, prefix);
        parts.push(IndexColumn {
            column,
            prefix,
            desc: *desc,
        });
    }
    let mut method = spec.method;
    if spec.unique && !spec.primary {
        method = method_of_unique(method, &parts, columns)?;
    } else if total > MAX_KEY_BYTES {
        return Err(errors::TOO_LONG_KEY.with([&MAX_KEY_BYTES]));
    }
    // Hashes have no order.
    if method == Some(IndexMethod::Hash) {
        parts.iter_mut().for_each(|p| p.desc = false);
    }
    let taken = |n: &str| others.iter().any(|i| i.name.same_name(n));
    let name = if spec.primary {
        name_of_primary(spec, env)
    } else if let Some(n) = &spec.name {
        if n.eq_ignore_ascii_case("PRIMARY") || n.is_empty() || n.ends_with(' ') {
            return Err(errors::WRONG_NAME_FOR_INDEX.with([&n]));
        }
        if taken(n) {
            return Err(errors::DUP_KEYNAME.with([&n]));
        }
        n.clone()
    } else {
        let functional = parts.iter().any(|p| columns[p.column].is_hidden());
        let base = match functional {
            true => INDEX_NAME,
            false => &columns[parts[0].column].name,
        };
        let mut n = base.to_string();
        let mut i = 2;
        while taken(&n) || n.eq_ignore_ascii_case("PRIMARY") {
            n = format!("{base}_{i}");
            i += 1;
        }
        n
    };
    if let Some(of) = &spec.without_overlaps {
        let hashed = method == Some(IndexMethod::Hash);
        parts.extend(period::key_parts(
            of, period, &name, &parts, columns, hashed,
        )?);
    }
    let comment = comment(&spec.comment, Commented::Index, &name, env)?;
    Ok(IndexDef {
        id: 0,
        name,
        unique: spec.unique,
        columns: parts,
        comment,
        implied: false,
        hashed: false,
        ignored: spec.ignored,
        method,
        key_block_size: spec.key_block_size,
        without_overlaps: spec.without_overlaps.is_some(),
    })
}

/// A primary key is called PRIMARY, whatever the statement calls it.
fn name_of_primary(spec: &IndexSpec, env: &StatementEnv) -> String {
    if let Some(n) = &spec.name
        && !n.eq_ignore_ascii_case("PRIMARY")
    {
        let text = format!("Name '{n}' ignored for PRIMARY key.");
        env.warn(codes::WRONG_NAME_FOR_INDEX, text);
    }
    "PRIMARY".to_string()
}

/// A note if an index says what another one says.
pub(super) fn note_twice(index: &IndexDef, others: &[IndexDef], env: &StatementEnv) {
    let twice = |o: &IndexDef| {
        // One that a foreign key brought goes for it.
        o.name != "PRIMARY"
            && !o.implied
            && o.unique == index.unique
            && o.columns == index.columns
            && o.without_overlaps == index.without_overlaps
            && o.method == index.method
    };
    if index.name != "PRIMARY" && others.iter().any(twice) {
        env.note(
            codes::DUP_INDEX,
            format!(
                "Duplicate index {}. This is deprecated and will be disallowed in a future release",
                quote_ident(&index.name)
            ),
        );
    }
}

/// What happens to a key part that is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// PRIMARY KEY: it is refused.
    Refuse,
    /// UNIQUE: the whole counts.
    Ignore,
    /// Others: it is cut, with a note.
    Cut,
}

impl Limit {
    pub(super) fn of(primary: bool, unique: bool) -> Limit {
        match (primary, unique) {
            (true, _) => Limit::Refuse,
            (_, true) => Limit::Ignore,
            _ => Limit::Cut,
        }
    }
}

/// How an index is kept that was there before, in a table of that engine: hashes of keys that are short enough without are said
/// for one statement only, but where the engine has hashes itself.
pub(super) fn kept_method(
    i: &IndexDef,
    columns: &[ColumnDef],
    engine: Option<&str>,
) -> SqlResult<Option<IndexMethod>> {
    if !i.unique || i.name == "PRIMARY" || i.without_overlaps {
        return Ok(i.method);
    }
    let own = engine.is_some_and(|e| e.eq_ignore_ascii_case("MEMORY"));
    let said = i.method.filter(|m| own || *m != IndexMethod::Hash);
    method_of_unique(said, &i.columns, columns)
}

/// Error 1071 for an index of several columns that are too long together, and that can't be one of hashes.
pub(super) fn fits_whole(i: &IndexDef, columns: &[ColumnDef]) -> SqlResult<()> {
    let of = |p: &IndexColumn| part_bytes(&columns[p.column].ty, p.prefix);
    let hashed = i.unique && i.name != "PRIMARY";
    match !hashed && i.columns.iter().map(of).sum::<u64>() > MAX_KEY_BYTES {
        true => Err(errors::TOO_LONG_KEY.with([&MAX_KEY_BYTES])),
        false => Ok(()),
    }
}

/// Says of which unique keys the hashes stand in rows: of those that MariaDB's replicas find rows by, as far as its hashes are
/// known.
pub(super) fn settle_hashes(def: &mut TableDef) {
    let memory = |e: &String| e.eq_ignore_ascii_case("MEMORY");
    let apart = def.indexes.iter().any(|i| i.name == "PRIMARY")
        || def.declared.as_ref().is_some_and(memory)
        || def.merge.is_some();
    let columns = &def.columns;
    let known = |p: &IndexColumn| {
        let c = &columns[p.column];
        HashedKey::is_known(&c.ty) && !c.generated.as_ref().is_some_and(|g| g.late)
    };
    for i in &mut def.indexes {
        let hash = i.unique && i.method == Some(IndexMethod::Hash) && !i.without_overlaps;
        i.hashed = hash && !apart && i.columns.iter().all(known);
    }
}

/// How a UNIQUE index finds its keys. One with texts or bytes of any length, or with keys that are too long, is MariaDB's index
/// of hashes. Here its keys stand in order like others; they are shown as there.
pub(super) fn method_of_unique(
    method: Option<IndexMethod>,
    parts: &[IndexColumn],
    columns: &[ColumnDef],
) -> SqlResult<Option<IndexMethod>> {
    let ty = |p: &IndexColumn| &columns[p.column].ty;
    let bytes: u64 = parts.iter().map(|p| part_bytes(ty(p), p.prefix)).sum();
    let endless = |p: &IndexColumn| {
        p.prefix.is_none() && matches!(ty(p).kind, TypeKind::Text(_) | TypeKind::Blob(_))
    };
    match bytes > MAX_KEY_BYTES || parts.iter().any(endless) {
        false => Ok(method),
        true if method == Some(IndexMethod::BTree) => {
            Err(errors::TOO_LONG_KEY.with([&MAX_KEY_BYTES]))
        }
        true => Ok(Some(IndexMethod::Hash)),
    }
}

/// Checks a key part's length and drops it where it says nothing.
pub(super) fn prefix_of(
    name: &str,
    ty: &ColumnType,
    prefix: Option<u32>,
    limit: Limit,
    env: &StatementEnv,
) -> SqlResult<Option<u16>> {
    let long = matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    let width = u64::from(ty.char_bytes());
    let max = (MAX_KEY_BYTES / width) as u32;
    let wrong = || errors::WRONG_SUB_KEY.plain();
    let full = ty.max_length().unwrap_or(0);
    match prefix {
        Some(0) => Err(errors::KEY_PART_0.with([&name])),
        // A prefix of all bytes is none.
        Some(p) if member_bytes(ty) == Some(u64::from(p) * width) => Ok(None),
        Some(_) if !ty.is_string() || ty.is_member() => Err(wrong()),
        Some(p) if !long && u64::from(p) > full => Err(wrong()),
        Some(p) if !long && u64::from(p) == full => Ok(None),
        Some(p) if is_tiny(ty) && p > u32::from(TINY) => Ok(Some(TINY)),
        Some(p) if p > max && limit != Limit::Ignore => cut(max, limit, env),
        Some(p) => match u16::try_from(p) {
            Ok(p) => Ok(Some(p)),
            Err(_) => Err(errors::TOO_LONG_KEYPART.with([&u16::MAX])),
        },
        None if long || (ty.is_string() && !ty.is_member() && full > u64::from(max)) => match limit
        {
            Limit::Ignore => Ok(None),
            _ if is_tiny(ty) => Ok(Some(TINY)),
            _ => cut(max, limit, env),
        },
        None => Ok(None),
    }
}

/// A key part that is too long: as many characters as there may be, with a note, or error 1071.
fn cut(max: u32, limit: Limit, env: &StatementEnv) -> SqlResult<Option<u16>> {
    let told = errors::TOO_LONG_KEY.with([&MAX_KEY_BYTES]);
    if limit == Limit::Refuse {
        return Err(told);
    }
    env.note(codes::TOO_LONG_KEY, told.message.to_string());
    Ok(Some(max as u16))
}

/// Bytes of an ENUM, SET or BIT, the types without characters that may have a prefix.
fn member_bytes(ty: &ColumnType) -> Option<u64> {
    match ty.kind {
        TypeKind::Enum(m) => Some(u64::from(m.enum_bytes())),
        TypeKind::Set(m) => Some(u64::from(m.set_bytes())),
        TypeKind::Bit(n) => Some(u64::from(n.div_ceil(8))),
        _ => None,
    }
}

pub(super) fn cant_drop(name: &str) -> String {
    format!(
        "Can't DROP INDEX {}; check that it exists",
        quote_ident(name)
    )
}
