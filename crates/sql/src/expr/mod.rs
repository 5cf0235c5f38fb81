//! Bound expressions and their evaluation.
//!
//! [`bind`] turns a parsed expression into an [`Expr`] over column positions; [`Expr::eval`] computes it for one row. Types are
//! known when it is bound ([`Expr::ty`]) except those of parameters; evaluation goes by the values themselves.
//!
//! | file | holds |
//! |---|---|
//! | `bind.rs` | names to positions, operators to nodes |
//! | `types.rs` | result types, collations of results |
//! | `eval.rs` | evaluation of operators |
//! | `compare.rs` | comparison of values of different types |
//! | `func.rs` | functions that the binder makes calls of |
//! | `call.rs` | calls: their arguments evaluated |
//! | `functions/` | the registry of functions, by subject |
//! | `fixed.rs` | UUID, INET4, INET6: what they may meet |
//! | `date.rs` | intervals, DATE_FORMAT, STR_TO_DATE, weeks |
//! | `subquery.rs` | subqueries |
//! | `display.rs` | expressions as text, for messages |

mod bind;
mod call;
pub mod compare;
mod date;
mod display;
mod eval;
mod fixed;
pub mod func;
pub mod functions;
mod md5;
mod print;
pub mod subquery;
pub mod types;
mod walk;

#[cfg(test)]
mod operator_tests;
#[cfg(test)]
mod tests;

use crate::env::{StatementEnv, VariableScope};
use crate::show::quote_ident;
use functions::Function;
use narwal_engine::{ColumnDef, Table, ViewDef};
use narwal_types::{Collation, ColumnType, SqlResult, Value, ValueRef};
use std::cell::RefCell;
use std::sync::Arc;

pub use bind::bind;
use bind::{Binder, bool_ty, make};
pub(crate) use bind::{negate_literal, number};
pub use date::IntervalUnit;
pub use eval::{Val, push_warning};
pub(crate) use eval::{quotient_digits, satisfied};
pub use functions::aggregate::AggFunc;
pub(crate) use functions::json::{append_value as append_json, escape as escape_json};
pub use print::{print, print_default, print_with, quote};
pub use subquery::{OuterScope, Shared, SubPlan, SubqueryExpr, SubqueryRun, SubqueryUse};
use subquery::{Runner, SubqueryPlanner};
pub use walk::{for_each_leaf, for_each_operand, unqualified};

/// A view whose tables are sources of the statement that names it.
#[derive(Debug, Clone)]
pub struct MergedView {
    /// Its definition.
    pub def: Arc<ViewDef>,
    /// Its columns as expressions over other sources.
    pub columns: Vec<Expr>,
    /// WITH CHECK OPTION: what holds of each row that is written through it.
    pub check: Vec<Expr>,
}

impl MergedView {
    /// A column's position.
    pub fn column(&self, name: &str) -> Option<usize> {
        let mut all = self.def.columns.iter();
        all.position(|c| c.eq_ignore_ascii_case(name))
    }
}

/// A table that column names are looked up in.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its alias, or its name.
    pub name: String,
    /// The table.
    pub table: Arc<Table>,
    /// All its columns may be NULL (the inner side of an outer join).
    pub nullable: bool,
    /// Position of its first column among those of all sources: columns are numbered through.
    pub base: usize,
    /// Types of the columns as expressions see them, if the rows are stored otherwise (derived tables).
    pub types: Option<Arc<[ExprType]>>,
    /// Columns that only a qualified name finds: USING shows the other side's.
    pub hidden: Vec<usize>,
    /// For a view that was merged into the statement. It has no rows.
    pub view: Option<Arc<MergedView>>,
    /// A table under a merged view: names mean the view's columns, not its.
    pub inner: bool,
}

impl Source {
    /// A lone table.
    pub fn new(name: impl Into<String>, table: Arc<Table>) -> Self {
        Source {
            name: name.into(),
            table,
            nullable: false,
            base: 0,
            types: None,
            hidden: Vec::new(),
            view: None,
            inner: false,
        }
    }

    /// Number of columns that it has in the rows of a join.
    pub fn width(&self) -> usize {
        match self.view {
            Some(_) => 0,
            None => self.table.columns().len(),
        }
    }

    /// Type of a column.
    pub fn column_type(&self, column: usize) -> ExprType {
        let c = &self.table.columns()[column];
        let t = match &self.types {
            Some(t) => t[column],
            None => ExprType {
                json: holds_json(c),
                ..ExprType::of_column(c.ty, c.nullable)
            },
        };
        t.with_nullable(t.nullable || self.nullable)
    }

    /// True if `name` means this source.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// True if `db` is where its table is.
    pub fn is_in(&self, db: &str) -> bool {
        self.table.def.db == db || (self.is_virtual() && self.table.def.db.eq_ignore_ascii_case(db))
    }

    /// True for a table of `information_schema`.
    pub fn is_virtual(&self) -> bool {
        self.table.def.db == crate::virtual_tables::INFORMATION_SCHEMA
    }
}

/// True for a column of type JSON: one whose CHECK wants JSON, alone or beside other things.
fn holds_json(c: &ColumnDef) -> bool {
    let Some(check) = &c.check else { return false };
    let valid = format!("json_valid({})", quote_ident(&c.name));
    check.split(" and ").any(|part| part == valid)
}

/// Which clause an expression stands in: named in errors, and decides how aliases are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Clause {
    #[default]
    FieldList,
    Where,
    On,
    /// Columns hide aliases.
    GroupBy,
    /// Aliases hide columns, and are hidden by those that groups are made by.
    Having,
    /// Aliases hide columns.
    OrderBy,
}

impl Clause {
    /// As in error 1054.
    pub fn name(self) -> &'static str {
        match self {
            Clause::FieldList => "SELECT",
            Clause::Where => "WHERE",
            Clause::On => "ON",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::OrderBy => "ORDER BY",
        }
    }
}

/// What an expression may refer to.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Tables; a column reference is (position here, position in the table).
    pub sources: &'a [Source],
    /// Sources before this one are not seen.
    pub first: usize,
    /// Names of select items, with their bound expressions: seen in GROUP BY, HAVING and ORDER BY.
    pub aliases: &'a [(String, Expr)],
    /// Columns of the select list by their names, where several tables are: they settle which one a later clause means.
    pub items: &'a [(String, Expr)],
    /// Columns that are keys of GROUP BY: in HAVING they hide aliases.
    pub grouped: &'a [(usize, usize)],
    /// Where the expression stands.
    pub clause: Clause,
    /// Collects aggregate calls; without it they are error 1111.
    pub aggregates: Option<&'a RefCell<Vec<Aggregate>>>,
    /// It is the argument of an aggregate.
    pub in_aggregate: bool,
    /// VALUES(col) is allowed (ON DUPLICATE KEY UPDATE).
    pub insert_values: bool,
    /// Plans the subqueries that stand in it.
    pub planner: Option<&'a dyn SubqueryPlanner>,
    /// The query around, if this is a subquery's scope.
    pub outer: Option<&'a OuterScope<'a>>,
    /// The session: modes, default database, variables.
    pub env: &'a StatementEnv,
}

impl<'a> Scope<'a> {
    /// The sources that names may mean, with their positions.
    pub fn visible(&self) -> impl Iterator<Item = (usize, &'a Source)> + use<'a> {
        self.sources
            .iter()
            .enumerate()
            .skip(self.first)
            .filter(|(_, s)| !s.inner)
    }

    /// True if aggregates can stand here.
    fn takes_aggregates(&self) -> bool {
        self.aggregates.is_some()
    }

    /// The scopes around, from the inside, and how many expressions are seen of each so far.
    fn frames(&self) -> Vec<(&'a OuterScope<'a>, usize)> {
        let around = std::iter::successors(self.outer, |o| o.scope.outer);
        around.map(|o| (o, o.frame.borrow().len())).collect()
    }

    /// A scope without tables.
    pub fn empty(env: &'a StatementEnv) -> Self {
        Scope {
            sources: &[],
            first: 0,
            aliases: &[],
            items: &[],
            grouped: &[],
            clause: Clause::FieldList,
            aggregates: None,
            in_aggregate: false,
            insert_values: false,
            planner: None,
            outer: None,
            env,
        }
    }
}

/// ORDER BY, LIMIT and the greatest length of an aggregate that makes a text of all values.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOptions {
    /// For each sort key, whether it descends. The keys are the last arguments of the aggregate.
    pub order: Vec<bool>,
    /// Rows to leave out, and at most to take.
    pub limit: Option<(u64, u64)>,
    /// `group_concat_max_len`, bytes.
    pub max_len: usize,
}

/// One aggregate call of a statement. Equal calls are collected once.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Function.
    pub func: AggFunc,
    /// DISTINCT.
    pub distinct: bool,
    /// Arguments: none for COUNT(*), several only for COUNT(DISTINCT a, b) and GROUP_CONCAT.
    pub args: Vec<Expr>,
    /// Separator of GROUP_CONCAT.
    pub separator: Box<str>,
    /// For those that make a text of all values.
    pub list: Option<Box<ListOptions>>,
    /// Type of the result.
    pub ty: ExprType,
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExprType {
    /// Type as a column.
    pub ty: ColumnType,
    /// NULL can occur.
    pub nullable: bool,
    /// Digits after the point; 39 (31 on the wire in old versions) = not fixed, for DOUBLE, FLOAT and their results.
    pub decimals: u8,
    /// The NULL literal's type (MYSQL_TYPE_NULL).
    pub null: bool,
    /// How strongly the collation of a string is meant.
    pub coercibility: Coercibility,
    /// Text that is known to be JSON.
    pub json: bool,
}

/// How strongly a string's collation is meant: the smaller wins in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercibility {
    /// COLLATE.
    Explicit,
    /// A column.
    Implicit,
    /// USER(), VERSION() and the like.
    SysConst,
    /// A literal or parameter.
    Coercible,
    /// A number or a temporal value shown as text.
    Numeric,
    /// NULL.
    Ignorable,
}

impl Coercibility {
    /// As error 1267 names it.
    pub fn name(self) -> &'static str {
        match self {
            Coercibility::Explicit => "EXPLICIT",
            Coercibility::Implicit => "IMPLICIT",
            Coercibility::SysConst => "SYSCONST",
            Coercibility::Coercible => "COERCIBLE",
            Coercibility::Numeric => "NUMERIC",
            Coercibility::Ignorable => "IGNORABLE",
        }
    }
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CmpOp {
    Eq,
    /// `<=>`
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CmpOp {
    /// The operator with its sides exchanged.
    pub fn flip(self) -> Self {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            o => o,
        }
    }
}

/// Arithmetic and bit operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
    Div,
    IntDiv,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// A bound expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it does.
    pub kind: ExprKind,
    /// Type of its value.
    pub ty: ExprType,
}

/// The kinds of expressions. Planners look into these.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The n-th `?`, from 0.
    Param(usize),
    /// The n-th slot, from 0: a literal whose type the plan knows, and whose value comes with each execution.
    Slot(usize),
    /// A column.
    Column {
        /// Position of the table in [`Scope::sources`].
        source: usize,
        /// Position of the column among those of all sources ([`Source::base`]).
        column: usize,
        /// Stored in another form than it is seen in: TIMESTAMP in UTC, text in latin1.
        timestamp: bool,
        /// The name for messages, `` `db`.`table`.`column` ``.
        name: Box<str>,
    },
    /// The n-th aggregate of the statement.
    Aggregate(usize),
    /// The n-th select item, named by another clause, while the statement is bound (`plan::once`).
    Item(usize, Box<Expr>),
    /// VALUES(col) of INSERT ... ON DUPLICATE KEY UPDATE.
    InsertValue(usize),
    /// All of them.
    And(Vec<Expr>),
    /// Any of them.
    Or(Vec<Expr>),
    /// XOR.
    Xor(Box<Expr>, Box<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// A comparison.
    Compare {
        /// Operator.
        op: CmpOp,
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
        /// Collation if both are strings.
        collation: Collation,
    },
    /// `[NOT]` BETWEEN.
    Between {
        /// Tested value.
        expr: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// NOT.
        negated: bool,
        /// Collation for strings.
        collation: Collation,
    },
    /// `[NOT]` IN (list).
    InList {
        /// Tested value.
        expr: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// NOT.
        negated: bool,
        /// Collation for strings.
        collation: Collation,
    },
    /// A subquery, or a comparison with one.
    Subquery(Box<SubqueryExpr>),
    /// In a subquery: the n-th value that it sees of the query around ([`SubqueryExpr::outer`]).
    Outer(usize),
    /// IS `[NOT]` NULL.
    IsNull {
        /// Tested value.
        expr: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// IS `[NOT]` TRUE / FALSE.
    IsBool {
        /// Tested value.
        expr: Box<Expr>,
        /// TRUE or FALSE.
        value: bool,
        /// NOT.
        negated: bool,
    },
    /// `[NOT]` LIKE.
    Like {
        /// Tested string.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// Escape character, if any.
        escape: Option<char>,
        /// NOT.
        negated: bool,
        /// Collation.
        collation: Collation,
    },
    /// Arithmetic.
    Arith {
        /// Operator.
        op: ArithOp,
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
    },
    /// Unary minus.
    Neg(Box<Expr>),
    /// `~`
    BitNot(Box<Expr>),
    /// CASE.
    Case {
        /// CASE operand WHEN.
        operand: Option<Box<Expr>>,
        /// WHEN and THEN.
        whens: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
        /// Collation for comparing with the operand.
        collation: Collation,
    },
    /// CAST and CONVERT: to [`ExprType::ty`]; lengths of 65535 mean none was given.
    Cast(Box<Expr>),
    /// COLLATE, and BINARY: only changes the type.
    Collate(Box<Expr>),
    /// date + INTERVAL n unit (DATE_ADD, ADDDATE).
    DateAdd {
        /// A date, a datetime, a time or a string.
        date: Box<Expr>,
        /// How many units.
        amount: Box<Expr>,
        /// The unit.
        unit: IntervalUnit,
        /// DATE_SUB.
        negated: bool,
    },
    /// A function call.
    Func {
        /// Which.
        func: &'static Function,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `@@x`.
    SystemVariable {
        /// Scope.
        scope: VariableScope,
        /// Name.
        name: Box<str>,
    },
    /// `@x`.
    UserVariable(Box<str>),
    /// `@x := expr`.
    SetUserVariable(Box<str>, Box<Expr>),
}

/// The row that an expression is evaluated for.
pub trait RowAccess {
    /// A column's value (TIMESTAMP in UTC).
    fn column(&self, source: usize, column: usize) -> SqlResult<ValueRef<'_>>;
    /// An integer column's value, if that is quick to say and not NULL.
    #[inline]
    fn int(&self, _source: usize, _column: usize) -> Option<i64> {
        None
    }
    /// A DECIMAL column's value times 10^scale, and the scale, if that is quick to say and not NULL.
    #[inline]
    fn units(&self, _source: usize, _column: usize) -> Option<(i64, u8)> {
        None
    }
    /// Appends a key by which a column's values can be sorted. False if there is no quick one: for all rows, or for none.
    #[inline]
    fn order_key(&self, _source: usize, _column: usize, _out: &mut Vec<u8>) -> SqlResult<bool> {
        Ok(false)
    }
    /// The value of the n-th aggregate.
    fn aggregate(&self, _n: usize) -> ValueRef<'_> {
        ValueRef::Null
    }
    /// The value that INSERT wanted to store in a column (TIMESTAMP in UTC).
    fn insert_value(&self, _column: usize) -> SqlResult<ValueRef<'_>> {
        Ok(ValueRef::Null)
    }
}

/// No row: for expressions without columns.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRow;

impl RowAccess for NoRow {
    fn column(&self, _source: usize, _column: usize) -> SqlResult<ValueRef<'_>> {
        Ok(ValueRef::Null)
    }
}

/// A row image of one table.
#[derive(Debug, Clone, Copy)]
pub struct ImageRow<'a> {
    /// The table's layout.
    pub layout: &'a narwal_types::RowLayout,
    /// The row.
    pub row: &'a [u8],
}

impl RowAccess for ImageRow<'_> {
    #[inline]
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        self.layout.column(self.row, column)
    }

    #[inline]
    fn int(&self, _source: usize, column: usize) -> Option<i64> {
        self.layout.int(self.row, column)
    }

    #[inline]
    fn units(&self, _source: usize, column: usize) -> Option<(i64, u8)> {
        self.layout.units(self.row, column)
    }

    #[inline]
    fn order_key(&self, _source: usize, column: usize, out: &mut Vec<u8>) -> SqlResult<bool> {
        self.layout.order_key(self.row, column, out)
    }
}

/// What evaluation needs besides the row.
#[derive(Clone, Copy)]
pub struct EvalCtx<'a> {
    /// The session.
    pub env: &'a StatementEnv,
    /// Values of `?`.
    pub params: &'a [Value],
    /// The subqueries of the SELECT or statement.
    pub subqueries: &'a [SubqueryRun<'a>],
    /// In a subquery: what it sees of the query around.
    pub outer: &'a [Value],
    /// Runs subqueries; `None` where rows are being read.
    pub runner: Option<&'a dyn Runner>,
    /// In a step of a recursive table: the rows of the step before.
    pub working: Option<&'a crate::exec::set::Working<'a>>,
    /// Results that serve the whole statement.
    pub shared: &'a Shared,
}

/// Visits the direct operands of an expression's kind: shared and mutable alike.
macro_rules! operands {
    ($kind:expr, $iter:ident, $f:expr) => {
        match $kind {
            ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Slot(_)
            | ExprKind::Column { .. }
            | ExprKind::Aggregate(_)
            | ExprKind::InsertValue(_)
            | ExprKind::SystemVariable { .. }
            | ExprKind::Outer(_)
            | ExprKind::UserVariable(_) => {}
            ExprKind::And(v) | ExprKind::Or(v) => v.$iter().for_each($f),
            ExprKind::Func { args, .. } => args.$iter().for_each($f),
            ExprKind::Subquery(s) => {
                s.left.$iter().for_each(&mut *$f);
                s.outer.$iter().for_each($f);
            }
            ExprKind::Xor(a, b) => {
                $f(a);
                $f(b);
            }
            ExprKind::Compare { left, right, .. } | ExprKind::Arith { left, right, .. } => {
                $f(left);
                $f(right);
            }
            ExprKind::Not(e)
            | ExprKind::Neg(e)
            | ExprKind::BitNot(e)
            | ExprKind::Cast(e)
            | ExprKind::Collate(e)
            | ExprKind::SetUserVariable(_, e)
            | ExprKind::Item(_, e)
            | ExprKind::IsNull { expr: e, .. }
            | ExprKind::IsBool { expr: e, .. } => $f(e),
            ExprKind::Between {
                expr, low, high, ..
            } => {
                $f(expr);
                $f(low);
                $f(high);
            }
            ExprKind::InList { expr, list, .. } => {
                $f(expr);
                list.$iter().for_each($f);
            }
            ExprKind::Like { expr, pattern, .. } => {
                $f(expr);
                $f(pattern);
            }
            ExprKind::Case {
                operand,
                whens,
                otherwise,
                ..
            } => {
                if let Some(o) = operand {
                    $f(o);
                }
                for (w, t) in whens {
                    $f(w);
                    $f(t);
                }
                if let Some(o) = otherwise {
                    $f(o);
                }
            }
            ExprKind::DateAdd { date, amount, .. } => {
                $f(date);
                $f(amount);
            }
        }
    };
}

impl Expr {
    /// Type of the value.
    pub fn ty(&self) -> ExprType {
        self.ty
    }

    /// The value for a row, owned.
    pub fn eval(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        Ok(self.eval_ref(ctx, row)?.into_value())
    }

    /// True, false, or `None` for NULL.
    pub fn eval_bool(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Option<bool>> {
        if let Some(b) = self.compare_ints(ctx, row) {
            return Ok(Some(b));
        }
        eval::truth(self.eval_unrounded(ctx, row)?.as_ref(), ctx)
    }

    /// What a comparison of an integer column with given integers says, without a detour over values.
    #[inline]
    fn compare_ints(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> Option<bool> {
        let column = |e: &Expr| match e.kind {
            ExprKind::Column { source, column, .. } => row.int(source, column),
            _ => None,
        };
        let given = |e: &Expr| {
            let v = match &e.kind {
                ExprKind::Literal(v) => v,
                ExprKind::Param(n) | ExprKind::Slot(n) => ctx.params.get(*n)?,
                _ => return None,
            };
            match v {
                narwal_types::Value::Int(i) => Some(*i),
                _ => None,
            }
        };
        match &self.kind {
            ExprKind::Compare {
                op, left, right, ..
            } => {
                let k = given(right)?;
                Some(eval::satisfied(*op, column(left)?.cmp(&k)))
            }
            ExprKind::Between {
                expr,
                low,
                high,
                negated,
                ..
            } => {
                let (low, high) = (given(low)?, given(high)?);
                let v = column(expr)?;
                Some((low <= v && v <= high) != *negated)
            }
            _ => None,
        }
    }

    /// True if the value is TRUE: how WHERE, HAVING and ON use a condition.
    pub fn matches(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<bool> {
        let ExprKind::And(list) = &self.kind else {
            return Ok(self.eval_bool(ctx, row)? == Some(true));
        };
        let mut all = true;
        for e in list {
            match e.eval_bool(ctx, row)? {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => all = false,
            }
        }
        Ok(all)
    }

    /// The column that this expression is, as (source, column).
    pub fn as_column(&self) -> Option<(usize, usize)> {
        match self.kind {
            ExprKind::Column { source, column, .. } => Some((source, column)),
            _ => None,
        }
    }

    /// Calls `f` for each direct operand.
    pub fn for_each_child<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        operands!(&self.kind, iter, f)
    }

    /// Calls `f` for each direct operand.
    pub fn for_each_child_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        operands!(&mut self.kind, iter_mut, f)
    }

    /// Replaces every column for which `f` gives something else.
    pub fn replace_columns(&mut self, f: &mut dyn FnMut(usize) -> Option<ExprKind>) {
        if let ExprKind::Column { column, .. } = self.kind {
            if let Some(kind) = f(column) {
                self.kind = kind;
            }
        } else {
            self.for_each_child_mut(&mut |e| e.replace_columns(f));
        }
    }

    /// Calls `f` with each column inside.
    pub fn for_each_column(&self, f: &mut dyn FnMut(usize)) {
        if let ExprKind::Column { column, .. } = self.kind {
            f(column);
        } else {
            self.for_each_child(&mut |e| e.for_each_column(f));
        }
    }

    /// True if `test` holds for this expression or one inside of it.
    pub fn any(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        if test(self) {
            return true;
        }
        let mut found = false;
        self.for_each_child(&mut |e| found |= e.any(test));
        found
    }

    /// True if the value is the same for all rows of one execution: no columns, aggregates, RAND() and such.
    pub fn is_const(&self) -> bool {
        !self.any(&|e| match &e.kind {
            ExprKind::Column { .. }
            | ExprKind::Aggregate(_)
            | ExprKind::InsertValue(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SetUserVariable(..) => true,
            ExprKind::Func { func, .. } => func.is_volatile(),
            ExprKind::Subquery(s) => s.each_row,
            _ => false,
        })
    }

    /// True if an aggregate is inside.
    pub fn has_aggregate(&self) -> bool {
        self.any(&|e| matches!(e.kind, ExprKind::Aggregate(_)))
    }

    /// True if a column or VALUES(col) is inside.
    pub fn has_column(&self) -> bool {
        self.any(&|e| matches!(e.kind, ExprKind::Column { .. } | ExprKind::InsertValue(_)))
    }
}
