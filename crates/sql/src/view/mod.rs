//! Views: what CREATE VIEW stores, and what SHOW prints of it.
//!
//! | file | holds |
//! |---|---|
//! | `names.rs` | a SELECT with all its names in full |
//! | `print.rs` | a SELECT as text |
//! | `describe.rs` | the columns that a view shows |
//!
//! How a statement reads a view: `planner/view.rs`.

mod copy;
mod describe;
mod names;
mod print;
mod windows;

use crate::ast::{CreateView, Settled, ViewCreation};
use crate::env::StatementEnv;
use crate::expr::{for_each_leaf, for_each_operand, name_charsets, name_sequences};
use crate::planner::resolve::{Resolver, no_such_table};
use crate::privilege::Needs;
use crate::query_walk::{for_each_expr, for_each_select, tables_of};
use crate::quote::quote_ident;
use crate::twice::first_twice;
use crate::view_def::{MAX_DEPTH, is_mergeable, name_columns, parsed};
use crate::virtual_tables::VirtualTables;
use narwal_engine::{Catalog, CheckOption, Database, ViewAlgorithm, ViewDef};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::{Expr as AstExpr, From, JoinKind, Select, SelectItem, TableName};
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult};
use std::collections::HashSet;
use std::sync::Arc;

pub(crate) use crate::query_walk::tables;
pub use crate::view_def::{invalid, wrong_kind};
pub use describe::describe;

/// Plans the SELECT of a CREATE VIEW, and says what it needs.
pub fn settle(
    v: &CreateView,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<(Settled, Vec<Needs>)> {
    let tables = read_by(v)?;
    for t in &tables {
        let of = t.db.as_deref().or(env.db.as_deref());
        if of.is_some_and(|db| env.temporary_table(db, &t.name).is_some()) {
            return Err(errors::VIEW_SELECT_TMPTABLE.with([&t.name]));
        }
    }
    let resolver = Resolver::new(db, catalog, env, virtual_tables);
    let own = (resolver.db_of(&v.view)?, v.view.name.as_str());
    if reads(&tables, own, catalog, env.db.as_deref(), 0) {
        let table = catalog.table(own.0, own.1).is_some();
        return Err(match v.creation {
            ViewCreation::New if table || catalog.view(own.0, own.1).is_some() => {
                errors::TABLE_EXISTS_ERROR.with([&own.1])
            }
            ViewCreation::OrReplace | ViewCreation::Alter if table => {
                wrong_kind(own.0, own.1, "VIEW")
            }
            _ => no_such_table(own.0, own.1),
        });
    }
    let plan = resolver.select(&v.select)?;
    if !v.columns.is_empty() && v.columns.len() != plan.columns.len() {
        return Err(errors::VIEW_WRONG_LIST.plain());
    }
    let computed = plan.computes_over_rows();
    drop(plan);
    let (mut select, mut columns) = names::in_full(&resolver, &windows::without_names(&v.select)?)?;
    match v.columns.is_empty() {
        true => names::apart(&v.select, &select, &mut columns),
        false => columns.clone_from(&v.columns),
    }
    name_columns(&mut select, &columns);
    if let Some(twice) = first_twice(columns.iter().map(String::as_str)) {
        return Err(errors::DUP_FIELDNAME.with([&twice]));
    }
    if let Some(c) = columns.iter().find(|c| c.ends_with(' ')) {
        return Err(errors::WRONG_COLUMN_NAME.with([c]));
    }
    let set = env.collation.charset();
    for_each_expr(&mut select, &mut |e| {
        name_charsets(e, set);
        name_sequences_in(env, e);
        name_packages(env, e);
    });
    let stored = !reads_schema(v.select.from.as_ref(), env.db.as_deref(), catalog, 0);
    let mergeable = is_mergeable(&v.select) && !computed;
    // MariaDB says so of a SELECT with WITH, too, though nothing can be written through it.
    let updatable = is_mergeable(&Select {
        with: None,
        ..(*v.select).clone()
    }) && !computed
        && stored
        && v.algorithm != Some(ViewAlgorithm::TempTable)
        && select.items.iter().any(shows_column);
    let settled = Settled {
        select: print::select(&select),
        columns,
        updatable,
        mergeable,
    };
    Ok((settled, resolver.needs.take()))
}

/// Sequences without a database are the default one's.
fn name_sequences_in(env: &StatementEnv, e: &mut AstExpr) {
    if let Some(db) = env.db.as_deref() {
        name_sequences(e, db);
    }
}

/// Functions of a package are named with the package's database, for a view may be read from another one.
fn name_packages(env: &StatementEnv, e: &mut AstExpr) {
    if let AstExpr::Call(c) = e
        && c.schema().is_none()
        && let Some(package) = &c.db
        && !c.name.contains('.')
        && let Some(programs) = &env.programs
        && let Ok(Some(f)) = programs.function(Some(package), &c.name, env)
        && f.name.contains('.')
    {
        c.db = Some(f.db.clone());
        c.name.clone_from(&f.name);
    }
    for_each_operand(e, &mut |operand| name_packages(env, operand));
}

/// True for an item that is a column, if with another collation.
fn shows_column(item: &SelectItem) -> bool {
    let SelectItem::Expr { expr, .. } = item else {
        return false;
    };
    match expr {
        AstExpr::Collate { expr, .. } => matches!(**expr, AstExpr::Qualified(_)),
        e => matches!(e, AstExpr::Qualified(_)),
    }
}

/// A SELECT's text with all names in full.
///
/// # Errors
/// Those of names.
pub fn select_in_full(
    select: &Select,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<String> {
    let resolver = Resolver::new(db, catalog, env, virtual_tables);
    let (mut select, _) = names::in_full(&resolver, &windows::without_names(select)?)?;
    for_each_expr(&mut select, &mut |e| name_sequences_in(env, e));
    Ok(print::select(&select))
}

/// The tables that a view reads; refuses a SELECT with what views may not have.
fn read_by(v: &CreateView) -> SqlResult<Vec<TableName>> {
    copy::reserve_copy(&v.select)?;
    // The walks take what they may write to.
    let mut select = Select::clone(&v.select);
    let mut limited = false;
    for_each_select(&mut select, &mut |s| {
        limited |= s.rows_examined.is_some();
    });
    if limited {
        return Err(SqlError::unsupported("LIMIT ROWS EXAMINED inside views"));
    }
    if names::any_variable(&mut select) {
        return Err(errors::VIEW_SELECT_VARIABLE.plain());
    }
    Ok(tables_of(&mut select))
}

/// True if one of these tables is a view, or a view that reads it.
fn reads(
    tables: &[TableName],
    (db, name): (&str, &str),
    catalog: &Catalog,
    current: Option<&str>,
    depth: usize,
) -> bool {
    depth < MAX_DEPTH
        && tables.iter().any(|t| {
            let Some(of) = t.db.as_deref().or(current) else {
                return false;
            };
            (of, t.name.as_str()) == (db, name)
                || catalog.view(of, &t.name).is_some_and(|v| {
                    parsed(v).is_ok_and(|mut s| {
                        reads(&tables_of(&mut s), (db, name), catalog, None, depth + 1)
                    })
                })
        })
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

/// True for an outer join, also in a view that a FROM names: CHECK OPTION has no place there.
pub(crate) fn joins_outer(
    from: Option<&From>,
    current: Option<&str>,
    catalog: &Catalog,
    depth: usize,
) -> bool {
    match from {
        Some(From::Join(j)) => {
            j.kind != JoinKind::Inner
                || [&j.left, &j.right]
                    .into_iter()
                    .any(|side| joins_outer(Some(side), current, catalog, depth))
        }
        Some(From::Table(t)) if depth < MAX_DEPTH => {
            let db = t.name.db.as_deref().or(current);
            let Some(v) = db.and_then(|db| catalog.view(db, &t.name.name)) else {
                return false;
            };
            parsed(v).is_ok_and(|s| joins_outer(s.from.as_ref(), None, catalog, depth + 1))
        }
        _ => false,
    }
}

/// Whether a FROM has tables of information_schema, if in views: nothing is written through it.
pub(crate) fn reads_schema(
    from: Option<&From>,
    current: Option<&str>,
    catalog: &Catalog,
    depth: usize,
) -> bool {
    match from {
        Some(From::Join(j)) => [&j.left, &j.right]
            .into_iter()
            .any(|side| reads_schema(Some(side), current, catalog, depth)),
        Some(From::Table(t)) if depth < MAX_DEPTH => {
            let Some(db) = t.name.db.as_deref().or(current) else {
                return false;
            };
            db.eq_ignore_ascii_case("information_schema")
                || catalog.view(db, &t.name.name).is_some_and(|v| {
                    parsed(v).is_ok_and(|s| reads_schema(s.from.as_ref(), None, catalog, depth + 1))
                })
        }
        _ => false,
    }
}

/// Names that a SELECT uses otherwise than to show them, in lower case.
pub fn names_in_expressions(select: &Select) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut top = true;
    for_each_select(&mut select.clone(), &mut |s| {
        let mut rest = s.clone();
        if std::mem::take(&mut top) {
            let shown = |i: &SelectItem| match i {
                SelectItem::Expr { expr, .. } => {
                    matches!(expr, AstExpr::Column(_) | AstExpr::Qualified(_))
                }
                _ => true,
            };
            rest.items.retain(|i| !shown(i));
        }
        for_each_expr(&mut rest, &mut |e| {
            for_each_leaf(e, &mut |leaf| match leaf {
                AstExpr::Column(name) => drop(found.insert(name.name_key())),
                AstExpr::Qualified(q) => drop(found.insert(q.column.name_key())),
                _ => {}
            });
        });
    });
    found
}

/// The views that a view reads itself.
pub fn views_under<'c>(def: &ViewDef, catalog: &'c Catalog) -> Vec<&'c ViewDef> {
    let Ok(select) = parsed(def) else {
        return Vec::new();
    };
    let own = |t: &TableName| (t.db.as_deref(), t.name.as_str()) != (Some(&*def.db), &*def.name);
    (tables(&select).into_iter().filter(own))
        .filter_map(|t| catalog.view(t.db.as_deref()?, &t.name).map(|v| &**v))
        .collect()
}

/// SHOW CREATE VIEW's second column. `current`: the session's default database.
/// `mode`: the session's. Where it is another server's, what only MariaDB has is left out.
/// `opens`: what it reads is there, and so is its definer.
pub fn show_create(
    def: &ViewDef,
    current: Option<&str>,
    mode: SqlMode,
    opens: bool,
) -> SqlResult<String> {
    let mut select = *parsed(def)?;
    if names::only_of(&select, &def.db) && current == Some(&def.db) {
        match opens {
            true => names::without_database(&mut select),
            false => names::tables_without_database(&mut select),
        }
    }
    let name = match current == Some(&def.db) {
        true => quote_ident(&def.name),
        false => format!("{}.{}", quote_ident(&def.db), quote_ident(&def.name)),
    };
    let check = match def.check {
        CheckOption::None => String::new(),
        c => format!(" WITH {} CHECK OPTION", c.name()),
    };
    let attributes = match crate::show::for_another_server(mode) {
        true => String::new(),
        false => attributes(def),
    };
    let select = match mode.has(SqlMode::ORACLE) {
        true => crate::show::in_oracle(&print::select(&select)),
        false => print::select(&select),
    };
    let text = format!("CREATE {attributes}VIEW {name} AS {select}{check}");
    Ok(crate::show::in_mode(text, mode))
}

/// A definer as statements name it. A role has no host.
pub fn definer_text((user, host): &(String, String)) -> String {
    match host.is_empty() {
        true => quote_ident(user),
        false => format!("{}@{}", quote_ident(user), quote_ident(host)),
    }
}

/// `ALGORITHM=... DEFINER=... SQL SECURITY ... `
pub(crate) fn attributes(def: &ViewDef) -> String {
    format!(
        "ALGORITHM={} DEFINER={} SQL SECURITY {} ",
        def.algorithm.name(),
        definer_text(&def.definer),
        if def.invoker { "INVOKER" } else { "DEFINER" }
    )
}
