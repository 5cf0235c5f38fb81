//! The expressions of a table that its rows obey: DEFAULT expressions, generated columns, CHECK constraints. They are bound
//! once for each version of a table's definition and kept with it.

use crate::bind::bind;
use crate::bind::scope::{Scope, Source};
use crate::env::{LaterVariables, StatementEnv};
use crate::expr::functions::passed_on::into_column;
use crate::expr::node::Expr;
use crate::lower::parse_expression;
use crate::quote::quote_ident;
use narwal_engine::{DefaultDef, Table, TableDef};
use narwal_syntax::ParseOptions;
use narwal_syntax::ast::Expr as Ast;
use narwal_types::Collation;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// A bound CHECK constraint.
pub struct Check {
    /// Its name in error 4025: `table.column` for a column's own.
    pub name: String,
    /// The condition.
    pub expr: Expr,
}

/// The bound expressions of a table.
pub struct Rules {
    /// For each column its DEFAULT expression.
    pub defaults: Vec<Option<Expr>>,
    /// Generated columns in order, but for those that are computed when they are read.
    pub generated: Vec<(usize, Expr)>,
    /// Of each column: it is VIRTUAL, and neither an index, nor a column that is kept, nor a constraint needs it. MariaDB computes it
    /// when it is read, so a row is never refused for its sake.
    pub unseen: Vec<bool>,
    /// CHECK constraints, those of columns first.
    pub checks: Vec<Check>,
}

/// Binds an expression that stands in a table's definition.
pub fn bind_text(text: &str, table: &Arc<Table>) -> SqlResult<Expr> {
    bind_changed(text, table, |_| ())
}

/// The same with a change of what is written.
pub(crate) fn bind_changed(
    text: &str,
    table: &Arc<Table>,
    change: impl FnOnce(&mut Ast),
) -> SqlResult<Expr> {
    bind_under(text, table, Collation::Utf8mb4GeneralCi, change)
}

/// A generated column's expression or a CHECK: its literals are of the table's character set, if they can be.
fn bind_in_set(text: &str, table: &Arc<Table>) -> SqlResult<Expr> {
    let bound = bind_under(text, table, table.def.collation, |_| ());
    bound.or_else(|_| bind_text(text, table))
}

fn bind_under(
    text: &str,
    table: &Arc<Table>,
    collation: Collation,
    change: impl FnOnce(&mut Ast),
) -> SqlResult<Expr> {
    // The text means the same in every session: it is bound under the default settings.
    let mut env = StatementEnv::new(Arc::new(LaterVariables));
    env.db = Some(table.def.db.as_str().into());
    env.collation = collation;
    let source = [Source::new(table.def.name.as_str(), table.clone())];
    let mut ast = parse_expression(&casts_as_parsed(text), &ParseOptions::default())?;
    change(&mut ast);
    bind(
        &ast,
        &Scope {
            sources: &source,
            ..Scope::empty(&env)
        },
    )
}

/// The text with CAST to characters as the parser takes it: it knows no CHARSET there.
pub(crate) fn casts_as_parsed(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains(" charset ") {
        return text.into();
    }
    let mut out = text.replace(" charset utf8mb4)", ")");
    while let Some(end) = out.find(" charset binary)")
        && let Some(at) = out[..end].rfind(" as char")
    {
        let length = out[at + " as char".len()..end].to_string();
        out.replace_range(
            at..end + " charset binary".len(),
            &format!(" as binary{length}"),
        );
    }
    out.into()
}

thread_local! {
    /// The DEFAULT expressions that are being bound: each may name the next by DEFAULT(column).
    static OPEN: RefCell<Vec<(*const Table, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Takes the innermost DEFAULT expression out of [`OPEN`] when it is bound.
struct Opened;

impl Drop for Opened {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(|open| open.pop());
    }
}

/// So many DEFAULT expressions may name each other in a row: each takes its place on the stack.
const DEFAULTS_IN_A_ROW: usize = 32;

/// The DEFAULT expression of a column, `None` if its default is none. Error 4029 if it comes to itself.
pub fn default_expression(table: &Arc<Table>, column: usize) -> SqlResult<Option<Expr>> {
    if let Some(kept) = table
        .expressions
        .get()
        .and_then(|k| k.downcast_ref::<Rules>())
    {
        return Ok(kept.defaults.get(column).cloned().flatten());
    }
    let def = &table.def.columns[column];
    let DefaultDef::Expr(text) = &def.default else {
        return Ok(None);
    };
    let this = (Arc::as_ptr(table), column);
    let (deep, again) = OPEN.with_borrow(|o| (o.len() >= DEFAULTS_IN_A_ROW, o.contains(&this)));
    if deep || again {
        let name = quote_ident(&def.name);
        return Err(errors::EXPRESSION_REFERS_TO_UNINIT_FIELD.with([&name, &name]));
    }
    OPEN.with_borrow_mut(|open| open.push(this));
    let _opened = Opened;
    bind_text(text, table).map(|e| Some(into_column(e, &def.ty)))
}

fn make(table: &Arc<Table>) -> SqlResult<Rules> {
    let def = &table.def;
    let mut rules = Rules {
        defaults: Vec::with_capacity(def.columns.len()),
        generated: Vec::new(),
        unseen: Vec::new(),
        checks: Vec::new(),
    };
    for (i, c) in def.columns.iter().enumerate() {
        rules.defaults.push(default_expression(table, i)?);
        if let Some(g) = c.generated.as_ref().filter(|g| !g.late) {
            let e = bind_in_set(&g.expr, table)?;
            rules.generated.push((i, into_column(e, &c.ty)));
        }
        if let Some(text) = &c.check {
            rules.checks.push(Check {
                name: format!("{}.{}", def.name, c.name),
                expr: bind_in_set(text, table)?,
            });
        }
    }
    let of_period = def.period_check();
    for c in of_period
        .iter()
        .chain(&def.checks)
        .filter(|c| !c.not_enforced)
    {
        rules.checks.push(Check {
            name: c.name.clone(),
            expr: bind_in_set(&c.expr, table)?,
        });
    }
    rules.unseen = unseen(def, &rules);
    Ok(rules)
}

/// See [`Rules::unseen`].
fn unseen(def: &TableDef, rules: &Rules) -> Vec<bool> {
    let mut unseen: Vec<bool> = (def.columns.iter())
        .map(|c| c.generated.as_ref().is_some_and(|g| !g.stored))
        .collect();
    let mut see = |column: usize| {
        let now = unseen.get_mut(column).is_some_and(std::mem::take);
        // What it is made of is seen as well.
        now.then(|| rules.generated.iter().find(|(c, _)| *c == column))
            .flatten()
            .map(|(_, e)| e)
    };
    let stored = |(c, _): &&(usize, Expr)| {
        let of = def.columns[*c].generated.as_ref();
        of.is_none_or(|g| g.stored)
    };
    let mut pending: Vec<&Expr> = (rules.generated.iter().filter(stored).map(|(_, e)| e))
        .chain(rules.checks.iter().map(|c| &c.expr))
        .collect();
    let indexed = def.indexes.iter().flat_map(|i| &i.columns);
    pending.extend(indexed.filter_map(|p| see(p.column)));
    while let Some(e) = pending.pop() {
        e.for_each_column(&mut |c| pending.extend(see(c)));
    }
    unseen
}

/// The rules of a table, `None` if it has none.
#[inline]
pub fn rules(table: &Arc<Table>) -> SqlResult<Option<&Rules>> {
    if !table.has_expressions {
        return Ok(None);
    }
    bound(table).map(Some)
}

fn bound(table: &Arc<Table>) -> SqlResult<&Rules> {
    let kept: &Arc<dyn Any + Send + Sync> = match table.expressions.get() {
        Some(kept) => kept,
        None => {
            let made = make(table)?;
            table.expressions.get_or_init(|| Arc::new(made))
        }
    };
    kept.downcast_ref()
        .ok_or_else(|| SqlError::unknown("a table's expressions are of another kind"))
}

/// Error 4025; in MySQL it is the type JSON that refuses what is no JSON (3140).
pub fn check_failed(table: &Table, name: &str) -> SqlError {
    let json = |c: &narwal_engine::ColumnDef| {
        format!("{}.{}", table.def.name, c.name) == name && c.is_json()
    };
    if narwal_types::face::is_mysql() && table.def.columns.iter().any(json) {
        return errors::INVALID_JSON_TEXT.with([&name]);
    }
    errors::CONSTRAINT_FAILED.with([&name, &table.def.db, &table.def.name])
}

/// Error 1906.
pub fn given_value(table: &Table, column: usize) -> SqlError {
    errors::WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN
        .with([&table.def.columns[column].name, &table.def.name])
}
