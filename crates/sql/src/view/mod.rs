//! Views: what CREATE VIEW stores, and what SHOW prints of it.
//!
//! | file | holds |
//! |---|---|
//! | `names.rs` | a SELECT with all its names in full |
//! | `print.rs` | a SELECT as text |
//! | `describe.rs` | the columns that a view shows |
//!
//! How a statement reads a view: `plan/view.rs`.

mod describe;
mod names;
mod print;

use crate::ast::{CreateView, Settled, Stmt};
use crate::env::StatementEnv;
use crate::lower::parse_statement;
use crate::plan::resolve::{Resolver, no_such_table};
use crate::privilege::Needs;
use crate::quote::quote_ident;
use crate::virtual_tables::VirtualTables;
use narwal_engine::{Catalog, CheckOption, Database, ViewAlgorithm, ViewDef};
use narwal_syntax::ParseOptions;
use narwal_syntax::ast::{Expr as AstExpr, From, Select, SelectItem, TableName};
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

pub use describe::describe;
pub(crate) use names::tables;

/// Views within each other, at most.
pub(crate) const MAX_DEPTH: usize = 64;

/// Plans the SELECT of a CREATE VIEW, and says what it needs.
pub fn settle(
    v: &CreateView,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<(Settled, Vec<Needs>)> {
    if names::any_variable(&v.select) {
        return Err(SqlError::new(
            1351,
            b"HY000",
            "View's SELECT contains a variable or parameter",
        ));
    }
    for t in tables(&v.select) {
        let of = t.db.as_deref().or(env.db.as_deref());
        if of.is_some_and(|db| env.temporary_table(db, &t.name).is_some()) {
            return Err(SqlError::new(
                1352,
                b"HY000",
                format!("View's SELECT refers to a temporary table '{}'", t.name),
            ));
        }
    }
    let resolver = Resolver::new(db, catalog, env, virtual_tables);
    let own = (resolver.db_of(&v.view)?, v.view.name.as_str());
    if reads(&v.select, own, catalog, env.db.as_deref(), 0) {
        return Err(no_such_table(own.0, own.1));
    }
    let plan = resolver.select(&v.select)?;
    if !v.columns.is_empty() && v.columns.len() != plan.columns.len() {
        return Err(SqlError::new(
            1353,
            b"HY000",
            "View's SELECT and view's field list have different column counts",
        ));
    }
    let (mut select, mut columns) = names::in_full(&resolver, &v.select)?;
    if !v.columns.is_empty() {
        columns.clone_from(&v.columns);
        name_columns(&mut select, &columns);
    }
    for (i, c) in columns.iter().enumerate() {
        if columns[..i].iter().any(|o| o.eq_ignore_ascii_case(c)) {
            return Err(SqlError::new(
                1060,
                b"42S21",
                format!("Duplicate column name '{c}'"),
            ));
        }
        if c.ends_with(' ') {
            return Err(SqlError::new(
                1166,
                b"42000",
                format!("Incorrect column name '{c}'"),
            ));
        }
    }
    let mergeable = is_mergeable(&v.select) && plan.group.is_none();
    // MariaDB says so of a SELECT with WITH, too, though nothing can be written through it.
    let updatable = is_mergeable(&Select {
        with: None,
        ..(*v.select).clone()
    }) && plan.group.is_none()
        && v.algorithm != Some(ViewAlgorithm::TempTable)
        && select.items.iter().any(|i| {
            matches!(
                i,
                SelectItem::Expr {
                    expr: AstExpr::Qualified(_),
                    ..
                }
            )
        });
    let settled = Settled {
        select: print::select(&select),
        columns,
        updatable,
        mergeable,
    };
    Ok((settled, resolver.needs.take()))
}

/// True if a SELECT reads a view, itself or through other views.
fn reads(
    s: &Select,
    (db, name): (&str, &str),
    catalog: &Catalog,
    current: Option<&str>,
    depth: usize,
) -> bool {
    depth < MAX_DEPTH
        && tables(s).iter().any(|t: &TableName| {
            let Some(of) = t.db.as_deref().or(current) else {
                return false;
            };
            (of, t.name.as_str()) == (db, name)
                || catalog.view(of, &t.name).is_some_and(|v| {
                    parsed(v).is_ok_and(|s| reads(&s, (db, name), catalog, None, depth + 1))
                })
        })
}

/// True if a SELECT's rows are rows of its FROM, unless it has aggregates.
pub(crate) fn is_mergeable(s: &Select) -> bool {
    s.with.is_none()
        && !s.distinct
        && s.group_by.is_empty()
        && s.having.is_none()
        && s.limit.is_none()
        && s.locking.is_none()
        && !matches!(s.from, None | Some(From::Set { .. }))
}

/// Gives the columns of a query other names.
fn name_columns(s: &mut Select, names: &[String]) {
    if let Some(From::Set { first, .. }) = &mut s.from {
        return name_columns(first, names);
    }
    for (item, name) in s.items.iter_mut().zip(names) {
        if let SelectItem::Expr { alias, .. } = item {
            *alias = Some(name.clone());
        }
    }
}

/// The SELECT of a stored view.
pub(crate) fn parsed(def: &ViewDef) -> SqlResult<Box<Select>> {
    match parse_statement(&def.select, &ParseOptions::default())? {
        Stmt::Select(s) => Ok(s),
        _ => Err(SqlError::unsupported("this view")),
    }
}

/// The tables under a view, through other views: database and name of each. Those that are missing are left out.
pub fn base_tables(def: &ViewDef, catalog: &Catalog) -> Vec<(String, String)> {
    fn collect(def: &ViewDef, catalog: &Catalog, depth: usize, out: &mut Vec<(String, String)>) {
        let Ok(select) = parsed(def) else { return };
        for t in tables(&select) {
            let Some(db) = t.db else { continue };
            if catalog.table(&db, &t.name).is_some() {
                out.push((db, t.name));
            } else if let Some(v) = catalog.view(&db, &t.name)
                && depth < MAX_DEPTH
            {
                collect(v, catalog, depth + 1, out);
            }
        }
    }
    let mut out = Vec::new();
    collect(def, catalog, 0, &mut out);
    out
}

/// SHOW CREATE VIEW's second column. `current`: the session's default database.
pub fn show_create(def: &ViewDef, current: Option<&str>) -> SqlResult<String> {
    let mut select = *parsed(def)?;
    if names::only_of(&select, &def.db) && current == Some(&def.db) {
        names::without_database(&mut select);
    }
    let name = match current == Some(&def.db) {
        true => quote_ident(&def.name),
        false => format!("{}.{}", quote_ident(&def.db), quote_ident(&def.name)),
    };
    let check = match def.check {
        CheckOption::None => String::new(),
        c => format!(" WITH {} CHECK OPTION", c.name()),
    };
    Ok(format!(
        "CREATE {}VIEW {name} AS {}{check}",
        attributes(def),
        print::select(&select)
    ))
}

/// `ALGORITHM=... DEFINER=... SQL SECURITY ... `
pub(crate) fn attributes(def: &ViewDef) -> String {
    format!(
        "ALGORITHM={} DEFINER={}@{} SQL SECURITY {} ",
        def.algorithm.name(),
        quote_ident(&def.definer.0),
        quote_ident(&def.definer.1),
        if def.invoker { "INVOKER" } else { "DEFINER" }
    )
}

/// Error 1356.
pub fn invalid(db: &str, name: &str) -> SqlError {
    SqlError::new(
        1356,
        b"HY000",
        format!(
            "View '{db}.{name}' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"
        ),
    )
}

/// Error 1347.
pub fn wrong_kind(db: &str, name: &str, kind: &str) -> SqlError {
    SqlError::new(
        1347,
        b"HY000",
        format!("'{db}.{name}' is not of type '{kind}'"),
    )
}
