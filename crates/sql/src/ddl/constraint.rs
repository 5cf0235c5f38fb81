//! CHECK constraints, generated columns and DEFAULT expressions of a new definition: names, and what may stand in them.

use crate::StatementEnv;
use crate::ast::{CheckSpec, ForeignKeySpec};
use crate::bind::bind;
use crate::bind::scope::Scope;
use crate::bind::table_rules::{bind_changed, bind_text};
use crate::ddl::unfit_default::{invalid_default, is_too_long, warn_of_default};
use crate::ddl::{padding, rounding, subtraction};
use crate::env::VariableScope;
use narwal_types::errors;
use narwal_types::errors::codes;

use crate::bind::predicate::is_known;
use crate::expr::node::Steadiness;
use crate::expr::node::{AggFunc, EvalCtx, Expr, ExprKind, NoRow};
use crate::expr::{
    for_each_operand, literal_bytes, name_charsets, name_sequences, print, unqualified,
};
use crate::plan::dml::{store_mode, store_target};
use crate::quote::quote_ident;
use narwal_engine::{CheckDef, ColumnDef, DefaultDef, Table, TableDef};
use narwal_syntax::ast::Expr as AstExpr;
use narwal_syntax::ast::{Expr as Ast, Literal, VarScope};
use narwal_types::convert::{NoWarnings, store};
use narwal_types::{Charset, Collation, ColumnType, Name, SqlError, SqlResult, TypeKind};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Where an expression of a definition stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clause {
    Check,
    Default,
    Generated,
}

impl Clause {
    fn name(self) -> &'static str {
        match self {
            Clause::Check => "CHECK",
            Clause::Default => "DEFAULT",
            Clause::Generated => "GENERATED ALWAYS AS",
        }
    }
}

/// A table by its database and its name.
pub(super) type Named<'a> = (&'a str, &'a str);

/// Names the CHECK constraints of a statement; `taken` are those that the table has. `columns`: those with a
/// CHECK of their own, which has their name.
pub(super) fn checks<'c>(
    specs: &[CheckSpec],
    taken: &[CheckDef],
    columns: impl Iterator<Item = &'c str>,
    table: Named<'_>,
    set: Charset,
) -> SqlResult<Vec<CheckDef>> {
    let mut out: Vec<CheckDef> = Vec::with_capacity(specs.len());
    let mut names: HashSet<String> = taken.iter().map(|c| c.name.name_key()).collect();
    let said: HashSet<String> = (specs.iter())
        .filter_map(|s| s.name.as_deref().map(Name::name_key))
        .collect();
    let of_columns: HashSet<String> = columns.map(Name::name_key).collect();
    // Those before it have a name each.
    let mut number = 1;
    for s in specs {
        let name = match &s.name {
            Some(n) => n.clone(),
            None => loop {
                let given = match narwal_types::face::is_mysql() {
                    true => format!("{}_chk_{number}", table.1),
                    false => format!("CONSTRAINT_{number}"),
                };
                let key = given.name_key();
                if ![&names, &said, &of_columns]
                    .iter()
                    .any(|s| s.contains(&key))
                {
                    break given;
                }
                number += 1;
            },
        };
        let is_taken = !names.insert(name.name_key());
        if is_taken && narwal_types::face::is_mysql() {
            return Err(errors::CHECK_CONSTRAINT_DUP_NAME.with([&name]));
        }
        if is_taken || of_columns.contains(&name.name_key()) {
            return Err(errors::DUP_CONSTRAINT_NAME
                .text(format!("Duplicate CHECK constraint name '{name}'")));
        }
        out.push(CheckDef {
            expr: text(&s.expr, Clause::Check, &name, table, set)?,
            name,
            not_enforced: !s.enforced,
        });
    }
    Ok(out)
}

/// Error 1918 for a text in an expression that has no place in the table's character set, in which MariaDB keeps its definition. An
/// introducer's text is kept as bytes.
pub(super) fn texts_fit(e: &AstExpr, table: Collation, env: &StatementEnv) -> SqlResult<()> {
    let set = table.charset();
    if env.of_mysql || narwal_types::face::is_mysql() {
        return Ok(());
    }
    match text_outside(&mut e.clone(), set) {
        Some(text) => Err(errors::BAD_DATA.text(format!(
            "Encountered illegal value '{text}' when converting to {}",
            set.name()
        ))),
        None => Ok(()),
    }
}

/// Whether a character set has all of a text.
fn holds(set: Charset, text: &str) -> bool {
    set == Charset::Utf8mb4 || text.is_ascii() || *set.decode(&set.encode(text.as_bytes())) == *text
}

/// Texts as they are in a table of swe7: MariaDB reads them in the table's character set, and this one has no ASCII, which it
/// takes the texts of numbers to be.
fn in_swe7(e: &mut AstExpr) {
    if let AstExpr::Literal(text @ Literal::String(_)) = e {
        *e = AstExpr::Introduced {
            charset: "swe7".to_owned(),
            value: text.clone(),
        };
        return;
    }
    for_each_operand(e, &mut in_swe7);
}

fn is_illegal_mix(e: &SqlError) -> bool {
    matches!(
        e.code,
        codes::CANT_AGGREGATE_2COLLATIONS
            | codes::CANT_AGGREGATE_3COLLATIONS
            | codes::CANT_AGGREGATE_NCOLLATIONS
    )
}

fn text_outside(e: &mut AstExpr, set: Charset) -> Option<String> {
    if let AstExpr::Literal(Literal::String(text)) = e {
        return (!holds(set, text)).then(|| text.clone());
    }
    let mut found = None;
    for_each_operand(e, &mut |operand| {
        if found.is_none() {
            found = text_outside(operand, set);
        }
    });
    found
}

/// A column's CHECK as text.
pub(super) fn column_check(
    e: &AstExpr,
    column: &str,
    table: Named<'_>,
    set: Charset,
) -> SqlResult<String> {
    text(e, Clause::Check, column, table, set)
}

/// A generated column's expression as text.
pub(super) fn generated(
    e: &AstExpr,
    column: &str,
    table: Named<'_>,
    set: Charset,
    env: &StatementEnv,
) -> SqlResult<String> {
    let mut e = e.clone();
    name_variables(&mut e, env)?;
    text(&e, Clause::Generated, column, table, set)
}

/// System variables must be there. GLOBAL is not said of those that are nothing else.
fn name_variables(e: &mut AstExpr, env: &StatementEnv) -> SqlResult<()> {
    if matches!(e, AstExpr::SystemVar(_)) {
        bind(e, &Scope::empty(env))?;
    }
    if let AstExpr::SystemVar(v) = e {
        let global = env.system_variable(VariableScope::Session, &v.name);
        if v.scope == Some(VarScope::Global)
            && global.is_err_and(|e| e.code == codes::INCORRECT_GLOBAL_LOCAL_VAR)
        {
            v.scope = None;
        }
    }
    let mut r = Ok(());
    for_each_operand(e, &mut |operand| {
        if r.is_ok() {
            r = name_variables(operand, env);
        }
    });
    r
}

/// A DEFAULT expression as text. `db`: where sequences are that are named without a database.
pub(super) fn default(
    e: &AstExpr,
    column: &str,
    table: Named<'_>,
    (db, set): (&str, Charset),
    env: &StatementEnv,
) -> SqlResult<String> {
    match unfit(e, Clause::Default, table) {
        Some(Unfit::Subquery) => Err(forbidden("select ...", Clause::Default, column)),
        Some(Unfit::Name(n)) => Err(forbidden(&n, Clause::Default, column)),
        None => {
            let mut e = unqualified(e);
            name_sequences(&mut e, db);
            name_charsets(&mut e, set);
            name_variables(&mut e, env)?;
            Ok(crate::expr::print_default(&e))
        }
    }
}

/// An expression's text. `set`: the connection's character set.
fn text(
    e: &AstExpr,
    clause: Clause,
    name: &str,
    table: Named<'_>,
    set: Charset,
) -> SqlResult<String> {
    Err(match (unfit(e, clause, table), clause) {
        (None, _) => {
            let mut e = unqualified(e);
            name_charsets(&mut e, set);
            return Ok(print(&e));
        }
        (Some(Unfit::Name(n)), _) => forbidden(&n, clause, name),
        (Some(Unfit::Subquery), Clause::Check) => not_in_check(),
        (Some(Unfit::Subquery), _) => forbidden("select ...", clause, name),
    })
}

/// The text of an expression, as [`text`] has made it, with other names of columns.
pub(super) fn with_new_names(text: &str, renamed: &[(&str, String)]) -> String {
    with_names(text, |name| {
        let found = renamed.iter().find(|(from, _)| from.same_name(name));
        found.map(|(_, to)| to.as_str())
    })
}

/// Expressions name the columns as the table does, in whatever case they were written.
fn as_the_table_names(def: &mut TableDef) {
    let names = def
        .columns
        .iter()
        .map(|c| (c.name.name_key(), c.name.clone()));
    let names: HashMap<String, String> = names.collect();
    let rename = |text: &mut String| {
        let named = with_names(text, |name| names.get(&name.name_key()).map(String::as_str));
        *text = named;
    };
    for c in &mut def.columns {
        c.check.iter_mut().for_each(rename);
        c.generated.iter_mut().for_each(|g| rename(&mut g.expr));
        if let DefaultDef::Expr(e) = &mut c.default {
            rename(e);
        }
    }
    for check in &mut def.checks {
        rename(&mut check.expr);
    }
}

/// An expression's text with the names that `new` gives for those of columns: they stand in backticks, without a point beside
/// them, which names of sequences have.
fn with_names<'n>(text: &str, new: impl Fn(&str) -> Option<&'n str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (before, quoted) = rest.split_at(at);
        let end = quoted_length(quoted);
        let (word, behind) = quoted.split_at(end);
        out.push_str(before);
        let name = word.trim_matches('`').replace("``", "`");
        let is_column = word.starts_with('`') && !out.ends_with('.') && !behind.starts_with('.');
        match new(&name).filter(|_| is_column) {
            Some(to) => out.push_str(&quote_ident(to)),
            None => out.push_str(word),
        }
        rest = behind;
    }
    out + rest
}

/// The CHECK constraints of a table whose columns go: one that is about such columns only goes with them.
///
/// # Errors
/// 1054 for one that is about others, too.
pub(super) fn without_columns(
    checks: &[CheckDef],
    old: &[CheckDef],
    goes: impl Fn(&str) -> bool,
) -> SqlResult<Vec<CheckDef>> {
    let mut kept = Vec::with_capacity(checks.len());
    for check in checks {
        let names = names_in(&check.expr);
        let gone = names
            .iter()
            .find(|n| goes(n))
            .filter(|_| old.contains(check));
        match gone {
            None => kept.push(check.clone()),
            Some(_) if names.iter().all(|n| goes(n)) => {}
            Some(n) => return Err(errors::BAD_FIELD_ERROR.with([n, &"CHECK"])),
        }
    }
    Ok(kept)
}

/// Error 1901: a CHECK is about a column that foreign keys change by themselves.
pub(super) fn check_cascades(def: &TableDef, keys: &[ForeignKeySpec]) -> SqlResult<()> {
    use narwal_engine::ForeignAction::{Cascade, SetNull};
    let changed = keys
        .iter()
        .filter(|k| matches!(k.on_update, Cascade | SetNull) || k.on_delete == SetNull)
        .flat_map(|k| &k.columns);
    let mut changed: Vec<&String> = changed.collect();
    if changed.is_empty() {
        return Ok(());
    }
    for c in &def.columns {
        let of = |g: &narwal_engine::GeneratedDef| {
            let read = names_in(&g.expr);
            read.iter().any(|n| changed.iter().any(|c| c.same_name(n)))
        };
        if c.generated.as_ref().is_some_and(of) {
            changed.push(&c.name);
        }
    }
    let of_period = def.period_check();
    let named = of_period.iter().chain(&def.checks);
    let named = named.map(|c| (c.name.as_str(), c.expr.as_str()));
    let own = (def.columns.iter()).filter_map(|c| Some((c.name.as_str(), c.check.as_deref()?)));
    for (name, text) in named.chain(own) {
        let mut read = names_in(text).into_iter();
        if let Some(c) = read.find(|n| changed.iter().any(|c| c.same_name(n))) {
            return Err(forbidden(&c, Clause::Check, name));
        }
    }
    Ok(())
}

/// The names in backticks of an expression's text.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let (word, behind) = rest[at..].split_at(quoted_length(&rest[at..]));
        if word.starts_with('`') {
            names.push(word.trim_matches('`').replace("``", "`"));
        }
        rest = behind;
    }
    names
}

/// Bytes of what begins with a quote, up to the quote that ends it.
fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let mut i = 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if quote != b'`' => i += 1,
            b if b == quote && bytes.get(i + 1) == Some(&quote) => i += 1,
            b if b == quote => return i + 1,
            _ => {}
        }
        i += 1;
    }
    text.len()
}

fn not_in_check() -> SqlError {
    errors::SUBQUERIES_NOT_SUPPORTED.text("CHECK does not support subqueries or stored functions")
}

fn forbidden(what: &str, clause: Clause, name: &str) -> SqlError {
    errors::GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED.with([
        &what,
        &clause.name(),
        &quote_ident(name),
    ])
}

/// The first thing in a parsed expression that no definition can contain, whatever it is bound to.
fn unfit(e: &Ast, clause: Clause, table: Named<'_>) -> Option<Unfit> {
    unfit_within(&mut e.clone(), clause, table)
}

fn unfit_within(e: &mut Ast, clause: Clause, table: Named<'_>) -> Option<Unfit> {
    match e {
        // Where a value may depend on the session is known when the expression is bound.
        Ast::UserVar(_) | Ast::SystemVar(_) if clause != Clause::Check => None,
        Ast::Subquery(_) | Ast::Exists(_) | Ast::InQuery { .. } | Ast::Quantified { .. } => {
            Some(Unfit::Subquery)
        }
        Ast::Values(_) => Some(Unfit::Name("value()".to_string())),
        Ast::UserVar(name) | Ast::Assign { name, .. } => Some(Unfit::Name(format!("@{name}"))),
        Ast::SystemVar(v) => Some(Unfit::Name(format!("@@{}", v.name))),
        Ast::Qualified(q) if q.table == table.1 && q.db.as_deref().is_none_or(|d| d == table.0) => {
            None
        }
        Ast::Qualified(q) => {
            let names = [q.db.as_deref(), Some(&q.table), Some(&q.column)];
            Some(Unfit::Name(
                names.into_iter().flatten().collect::<Vec<_>>().join("."),
            ))
        }
        e => {
            let mut found = over_rows(e).map(Unfit::Name);
            for_each_operand(e, &mut |operand| {
                if found.is_none() {
                    found = unfit_within(operand, clause, table);
                }
            });
            found
        }
    }
}

/// The name of a function that has its value from several rows: an aggregate or a window function.
fn over_rows(e: &Ast) -> Option<String> {
    let Ast::Call(call) = e else { return None };
    let over = call.clauses.as_deref().is_some_and(|c| c.over.is_some());
    let name = call.name.to_ascii_lowercase();
    let aggregate = call.db.is_none() && AggFunc::named(&name).is_some();
    if !aggregate && !over {
        return None;
    }
    let name = match name.as_str() {
        "stddev" | "stddev_pop" => "std",
        "var_pop" => "variance",
        "median" => "percentile_cont",
        n => n,
    };
    let distinct = call.distinct && matches!(name, "count" | "sum" | "avg" | "min" | "max");
    Some(match distinct {
        true => format!("{name}(distinct )"),
        false => format!("{name}()"),
    })
}

/// See [`unfit`].
enum Unfit {
    Subquery,
    /// A variable, a column of another table, or a function over rows.
    Name(String),
}

/// Binds every expression of a definition and checks what stands in it. Says which virtual columns are computed when they are
/// read.
pub(super) fn check_expressions(def: &mut TableDef, env: &StatementEnv) -> SqlResult<()> {
    as_the_table_names(def);
    let mut plain = def.clone();
    for g in plain
        .columns
        .iter_mut()
        .filter_map(|c| c.generated.as_mut())
    {
        // So that one of them stands for itself where another expression names it.
        g.late = false;
    }
    let checked = Checked {
        table: Table::made(plain)?,
        late: Vec::new(),
    };
    let late = (0..def.columns.len()).map(|i| checked.is_late(def, i));
    let late = late.collect::<SqlResult<Vec<bool>>>()?;
    let checked = Checked { late, ..checked };
    for (i, c) in def.columns.iter().enumerate() {
        if let DefaultDef::Expr(text) = &c.default {
            checked.expression(text, Clause::Default, &c.name, Some(i), false, env)?;
        }
        if let Some(g) = &c.generated {
            let kept = g.stored || is_indexed(def, i);
            checked.expression(&g.expr, Clause::Generated, &c.name, Some(i), kept, env)?;
            // MySQL takes it.
            let lenient = env.of_mysql || narwal_types::face::is_mysql();
            let modes = match kept && !lenient {
                true => checked.depends_on_modes(&g.expr, c, env)?,
                false => Vec::new(),
            };
            if !modes.is_empty() {
                for mode in modes {
                    let text = format!("Expression depends on the @@sql_mode value {mode}");
                    env.warn_behind(SqlError::new(codes::UNKNOWN_ERROR, b"HY000", text));
                }
                return Err(forbidden(&g.expr, Clause::Generated, &c.name));
            }
            if let Some(pk) = def.indexes.iter().find(|x| x.name == "PRIMARY")
                && pk.columns.iter().any(|p| p.column == i)
            {
                return Err(errors::PRIMARY_KEY_BASED_ON_GENERATED_COLUMN.plain());
            }
        }
        if let Some(text) = &c.check {
            checked.expression(text, Clause::Check, &c.name, None, true, env)?;
        }
    }
    for c in &def.checks {
        checked.expression(&c.expr, Clause::Check, &c.name, None, true, env)?;
    }
    for (c, late) in def.columns.iter_mut().zip(checked.late) {
        if let Some(g) = &mut c.generated {
            g.late = late;
        }
    }
    Ok(())
}

pub(super) fn is_indexed(def: &TableDef, column: usize) -> bool {
    let mut parts = def.indexes.iter().flat_map(|x| &x.columns);
    parts.any(|p| p.column == column)
}

/// A table whose expressions are checked.
struct Checked {
    /// All of its columns are those of its rows.
    table: Arc<Table>,
    /// For each column whether it is computed when it is read.
    late: Vec<bool>,
}

impl Checked {
    /// Whether a column is virtual and its value depends on the session or the time, or whether it was late already.
    fn is_late(&self, def: &TableDef, column: usize) -> SqlResult<bool> {
        let c = &def.columns[column];
        let Some(g) = c.generated.as_ref().filter(|g| !g.stored) else {
            return Ok(false);
        };
        let by_session = bind_text(&g.expr, &self.table)
            .is_ok_and(|e| not_allowed(&e, false).is_some() && not_allowed(&e, true).is_none());
        if is_indexed(def, column) {
            // The index would have values of their time: the column's own check refuses it.
            return match g.late && !by_session {
                true => Err(SqlError::unsupported(
                    "indexes on virtual columns that are computed when they are read",
                )),
                false => Ok(false),
            };
        }
        if by_session && !c.nullable {
            return Err(SqlError::unsupported(
                "NOT NULL of virtual columns that depend on the session or the time",
            ));
        }
        Ok(g.late || by_session)
    }

    /// The modes in `sql_mode` that the value of a generated column depends on.
    fn depends_on_modes(
        &self,
        text: &str,
        of: &ColumnDef,
        env: &StatementEnv,
    ) -> SqlResult<Vec<&'static str>> {
        let e = bind_text(text, &self.table)?;
        let known = (is_known(&e) && e.ty.ty.is_string())
            .then(|| e.eval(&EvalCtx::new(env, &[]), &NoRow).ok());
        let rounds = match known.flatten() {
            _ if e.ty.bits => false,
            Some(value) if value.is_null() => false,
            Some(value) => rounding::matters_to(&value.as_ref().to_text(), of),
            None => rounding::matters(&e, of),
        };
        let padded = padding::matters(&e, of, &self.table.def.columns);
        let modes = [
            (subtraction::matters(&e), "NO_UNSIGNED_SUBTRACTION"),
            (padded, "PAD_CHAR_TO_FULL_LENGTH"),
            (rounds, "TIME_ROUND_FRACTIONAL"),
        ];
        let matter = modes.into_iter().filter(|(matters, _)| *matters);
        Ok(matter.map(|(_, mode)| mode).collect())
    }

    /// `column`: the column whose value it gives. `kept`: its value is, so it must not depend on the session or the time.
    fn expression(
        &self,
        text: &str,
        clause: Clause,
        name: &str,
        column: Option<usize>,
        kept: bool,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        let table = &self.table;
        let e = bind_text(text, table).map_err(|e| {
            // That a function has no place here counts before what types it is used with.
            match matches!(
                e.code,
                codes::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION
                    | codes::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION
            )
            .then(|| forbidden_call(text, table, clause))
            {
                Some(Some(what)) => forbidden(&what, clause, name),
                _ => bind_error(e, clause, name),
            }
        })?;
        if table.def.collation.charset() == Charset::Swe7 {
            let mixed = bind_changed(text, table, in_swe7).err();
            if let Some(e) = mixed.filter(is_illegal_mix) {
                return Err(e);
            }
        }
        match sequence_function(&e) {
            Some(_) if clause == Clause::Check => return Err(not_in_check()),
            Some(f) if clause == Clause::Generated => return Err(forbidden(f, clause, name)),
            _ => {}
        }
        let by_session = clause == Clause::Default || (clause == Clause::Generated && !kept);
        if let Some(what) = not_allowed(&e, by_session) {
            return Err(forbidden(&what, clause, name));
        }
        let calls = |e: &Expr, f: &str| {
            e.any(&|e| matches!(&e.kind, ExprKind::Func { func, .. } if func.name() == f))
        };
        if clause == Clause::Generated && calls(&e, "random_bytes") {
            return Err(forbidden("random_bytes()", clause, name));
        }
        // Its order may be another one in a later version.
        if clause != Clause::Default && kept && calls(&e, "natural_sort_key") {
            return Err(forbidden("natural_sort_key()", clause, name));
        }
        if clause == Clause::Default
            && let Some(i) = column
        {
            self.constant_default(&e, i, env)?;
        }
        self.columns_of(&e, clause, name, column, kept)
    }

    /// Error 1067 for a DEFAULT that is made of literals alone, and whose value the column can't have.
    fn constant_default(&self, e: &Expr, column: usize, env: &StatementEnv) -> SqlResult<()> {
        // A SET takes what it can.
        if !is_known(e) || matches!(self.table.def.columns[column].ty.kind, TypeKind::Set(_)) {
            return Ok(());
        }
        let c = &self.table.def.columns[column];
        let value = match e.eval(&EvalCtx::new(env, &[]), &NoRow) {
            Ok(value) => value,
            Err(e) if e.code == codes::DATA_OUT_OF_RANGE => return Err(e),
            Err(_) => return Ok(()),
        };
        if value.is_null() && (c.nullable || matches!(e.kind, ExprKind::Literal(_))) {
            return Ok(());
        }
        let mut mode = store_mode(env, false, false);
        mode.strict = true;
        let target = store_target(&self.table, column);
        let text = value.as_ref().to_text();
        let stored = match is_too_long(&text, &c.ty) {
            true => Err(errors::DATA_TOO_LONG.with([&c.name, &1])),
            false => store(value.as_ref(), &target, 1, &mode, &mut NoWarnings),
        };
        match stored {
            Ok(_) => Ok(()),
            Err(e) => {
                warn_of_default(c, &text, e.code, env);
                Err(invalid_default(&c.name))
            }
        }
    }

    /// True for a virtual column that is made of an AUTO_INCREMENT column.
    fn has_number(&self, column: usize) -> SqlResult<bool> {
        let columns = &self.table.def.columns;
        let numbered = columns.iter().any(|c| c.auto_increment);
        let Some(g) = columns[column].generated.as_ref().filter(|_| numbered) else {
            return Ok(false);
        };
        let mut used = Vec::new();
        bind_text(&g.expr, &self.table)?.for_each_column(&mut |c| used.push(c));
        for c in used {
            if columns[c].auto_increment || (c < column && self.has_number(c)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks the columns that an expression names.
    fn columns_of(
        &self,
        e: &Expr,
        clause: Clause,
        name: &str,
        column: Option<usize>,
        kept: bool,
    ) -> SqlResult<()> {
        let columns = &self.table.def.columns;
        let mut used = Vec::new();
        e.for_each_column(&mut |c| used.push(c));
        for c in used {
            let other = &columns[c];
            // A VIRTUAL column gets its value when the number is known.
            if other.auto_increment && (kept || clause != Clause::Generated) {
                return Err(forbidden("AUTO_INCREMENT", clause, &other.name));
            }
            if kept && self.has_number(c)? {
                return Err(forbidden(&other.name, clause, name));
            }
            if let Some(own) = column
                && (c == own
                    || (c > own
                        && (other.generated.is_some()
                            || (clause == Clause::Default
                                && matches!(other.default, DefaultDef::Expr(_))))))
            {
                return Err(errors::EXPRESSION_REFERS_TO_UNINIT_FIELD
                    .with([&quote_ident(&columns[own].name), &quote_ident(&other.name)]));
            }
            if self.late[c] && kept {
                return Err(forbidden(&other.name, clause, name));
            }
            if self.late[c] {
                return Err(SqlError::unsupported(
                    "expressions of a table over virtual columns that are computed when they are read",
                ));
            }
        }
        Ok(())
    }
}

/// The first call without arguments in an expression that its definition must not contain.
fn forbidden_call(text: &str, table: &Arc<Table>, clause: Clause) -> Option<String> {
    text.match_indices("()").find_map(|(at, _)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = text[..at].trim_end_matches(is_name).len();
        let call = bind_text(&text[start..at + 2], table).ok()?;
        not_allowed(&call, clause == Clause::Default)
    })
}

/// An error of binding as it is called in a definition.
fn bind_error(e: SqlError, clause: Clause, name: &str) -> SqlError {
    let quoted = |m: &str| -> Option<String> {
        let from = m.find('\'')? + 1;
        let to = m[from..].find('\'')?;
        Some(m[from..from + to].to_string())
    };
    match e.code {
        codes::BAD_FIELD_ERROR => {
            let column = quoted(&e.message).unwrap_or_default();
            if column.contains('.') {
                return forbidden(&column, clause, name);
            }
            errors::BAD_FIELD_ERROR.with([&column, &clause.name()])
        }
        codes::INVALID_GROUP_FUNC_USE => forbidden("aggregate function", clause, name),
        codes::SP_DOES_NOT_EXIST => {
            let function = e
                .message
                .split_whitespace()
                .nth(1)
                .and_then(|w| w.rsplit('.').next())
                .unwrap_or_default();
            forbidden(&format!("`{function}`()"), clause, name)
        }
        _ => e,
    }
}

/// The first thing in an expression that a definition must not contain. `session`: what depends on the session or the time is
/// allowed.
fn not_allowed(e: &Expr, session: bool) -> Option<String> {
    let mut found = None;
    find(e, session, &mut found);
    found
}

fn find(e: &Expr, session: bool, found: &mut Option<String>) {
    if found.is_some() {
        return;
    }
    *found = match &e.kind {
        ExprKind::UserVariable(n, _) if !session => Some(format!("@{n}")),
        ExprKind::SetUserVariable(n, _) => Some(format!("@{n}")),
        ExprKind::InsertValue(_) => Some("value()".to_string()),
        ExprKind::Func { func, .. } if func.name() == "name_const" => {
            Some("name_const()".to_string())
        }
        ExprKind::SystemVariable { name, .. } if !session => Some(format!("@@{name}")),
        ExprKind::Func { func, args } => {
            let steady = func.steadiness(args.len()) == Steadiness::Constant;
            let bad = func.never_defined || !session && !steady;
            bad.then(|| format!("{}()", func.name()))
        }
        _ => None,
    };
    if found.is_none() {
        e.for_each_child(&mut |c| find(c, session, found));
    }
}

/// True for an expression whose value depends on the session, the time or the execution.
pub(super) fn depends_on_session(e: &Expr) -> bool {
    not_allowed(e, false).is_some() || sequence_function(e).is_some()
}

/// The first function of sequences in it, as messages call it.
fn sequence_function(e: &Expr) -> Option<&'static str> {
    let mut found = match &e.kind {
        ExprKind::Func { func, .. } => match func.name() {
            "nextval" => Some("nextval()"),
            "lastval" => Some("lastval()"),
            "setval" => Some("setval()"),
            _ => None,
        },
        _ => None,
    };
    e.for_each_child(&mut |c| found = found.or_else(|| sequence_function(c)));
    found
}

/// The value of a DEFAULT that is a hexadecimal or binary literal, as text: for numbers a number unless it is
/// `x'...'`, for strings characters in the column's character set unless the literal says one.
pub(super) fn literal_default(e: &AstExpr, ty: &ColumnType) -> Option<String> {
    let (l, set) = match e {
        Ast::Literal(l) => (l, None),
        Ast::Introduced { charset, value } if !ty.is_numeric() => {
            (value, Some(Charset::from_name(charset)?))
        }
        _ => return None,
    };
    let bytes = literal_bytes(l)?;
    // `x'31'` is the text 1 for a number too.
    if ty.is_numeric() && !matches!(l, Literal::HexText(_)) {
        let mut n = 0u64;
        for b in bytes {
            n = n.checked_mul(256)? + u64::from(b);
        }
        return Some(n.to_string());
    }
    let own = ty.has_charset().then(|| ty.collation.charset());
    match set.filter(|s| *s != Charset::Binary).or(own) {
        Some(set) if !set.stores_utf8() => Some(text_of_literal(&bytes, set)),
        _ => String::from_utf8(bytes).ok(),
    }
}

/// The characters that the bytes of a hexadecimal or binary literal are in a set. Zeros are put in front where the first
/// character is not whole.
pub(super) fn text_of_literal(bytes: &[u8], set: Charset) -> String {
    let width = set.min_width();
    let missing = bytes.len().next_multiple_of(width) - bytes.len();
    let whole = [&vec![0; missing], bytes].concat();
    set.decode(&whole).into_owned()
}
