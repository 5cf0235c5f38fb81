//! The bound expression as data: its kinds, its type, the functions and aggregates that it calls, and what evaluation gets.
//!
//! These types name each other, so they stand in one file; what is done with them stands in the files above.

use crate::env::{StatementEnv, StoredFunction, VariableScope};
use crate::expr::date::IntervalUnit;
use crate::expr::value::Val;
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;

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
    /// Most characters of the value as text, where that is not its type's: `1 + 1` has three.
    pub width: u32,
    /// Digits of an integer, where that is not its type's.
    pub digits: u8,
    /// An integer that is never negative though its type has a sign: its text needs no room for one.
    pub natural: bool,
    /// A truth value: an integer everywhere but in JSON.
    pub boolean: bool,
    /// A YEAR of a column: its text has all of its digits, `0000`. One that is computed is a number.
    pub year_text: bool,
    /// A literal `0x..` or `b'..'`: bytes, and where a number is wanted, that number. `x'..'` is always bytes.
    pub bits: bool,
    /// The collation of a number as text, where that is not the connection's.
    pub as_text: Option<Collation>,
}

/// How strongly a string's collation is meant: the smaller wins in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coercibility {
    /// COLLATE.
    Explicit,
    /// Made of texts whose collations do not give way to each other.
    NoOne,
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
            Coercibility::NoOne => "NONE",
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

impl ArithOp {
    /// Its operands are 64 bits.
    pub fn is_bitwise(self) -> bool {
        matches!(
            self,
            ArithOp::BitAnd
                | ArithOp::BitOr
                | ArithOp::BitXor
                | ArithOp::ShiftLeft
                | ArithOp::ShiftRight
        )
    }
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
        /// Position of the table in `Scope::sources`.
        source: usize,
        /// Position of the column among those of all sources (`Source::base`).
        column: usize,
        /// Stored in another form than it is seen in: TIMESTAMP in UTC, text in latin1.
        timestamp: bool,
        /// The name for messages, `` `db`.`table`.`column` ``.
        name: Box<str>,
    },
    /// The n-th aggregate of the statement, and its text in messages.
    Aggregate(usize, Arc<str>),
    /// The n-th window function of the SELECT, while it is bound. A plan has its value behind those of aggregates.
    Window(usize),
    /// The n-th select item, named by another clause, while the statement is bound (`planner::rules::once`).
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
    /// `@x`; true: the statement gives it no value, so it stays what it is.
    UserVariable(Box<str>, bool),
    /// `@x := expr`.
    SetUserVariable(Box<str>, Box<Expr>),
    /// A call of a stored function.
    Stored(Box<StoredCall>),
}

/// What is asked of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubqueryUse {
    /// Its one value, or NULL.
    Value,
    /// That value of its one row, or NULL.
    Field(usize),
    /// Whether it has rows.
    Exists,
    /// A comparison that holds for a row: IN is `= ANY`.
    Any(CmpOp),
    /// A comparison that holds for all rows: NOT IN is `<> ALL`.
    All(CmpOp),
    /// A comparison with its one row of several columns.
    Row(CmpOp),
}

/// A subquery in an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct SubqueryExpr {
    /// What is asked.
    pub used: SubqueryUse,
    /// Its position among the subqueries of its SELECT or statement.
    pub index: usize,
    /// What its columns are compared with.
    pub left: Vec<Expr>,
    /// What it sees of the query around: [`ExprKind::Outer`] counts these.
    pub outer: Vec<Expr>,
    /// It must run while rows are read.
    pub each_row: bool,
    /// One column is compared, with values that have a key for it.
    pub keyed: bool,
    /// Collation of the comparison of the first column.
    pub collation: Collation,
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

/// Which aggregate it is: what the executor goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AggFunc {
    /// COUNT(*), or COUNT(x) with an argument.
    Count,
    Sum,
    Min,
    Max,
    Avg,
    /// GROUP_CONCAT with a separator.
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    /// STD, STDDEV, STDDEV_POP.
    StdPop,
    StdSamp,
    /// VARIANCE, VAR_POP.
    VarPop,
    VarSamp,
    JsonArray,
    JsonObject,
    /// All rows, for a stored aggregate function.
    Rows,
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
    /// In a subquery: what it sees of the query around.
    pub outer: &'a [Value],
    /// The subqueries of the SELECT or statement.
    pub subqueries: &'a dyn SubqueryValues,
}

impl<'a> EvalCtx<'a> {
    /// For expressions without subqueries.
    pub fn new(env: &'a StatementEnv, params: &'a [Value]) -> Self {
        EvalCtx {
            env,
            params,
            outer: &[],
            subqueries: &NoSubqueries,
        }
    }
}

/// Runs the subqueries of expressions: evaluation knows no more of them than this.
pub trait SubqueryValues {
    /// What a subquery, or a comparison with it, gives for a row.
    fn value(&self, e: &SubqueryExpr, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value>;
    /// The values of the n-th subquery, row by row, if it has run and they are in memory.
    fn known_values(&self, n: usize) -> Option<&[Value]>;
    /// How many rows the SELECT or statement has taken so far, for ROWNUM().
    fn rows_taken(&self) -> u64 {
        0
    }
    /// What a stored function gives.
    fn call(&self, f: &StoredFunction, args: Vec<Value>, env: &StatementEnv) -> SqlResult<Value> {
        env.call_function(f, args, None)
    }
}

/// A call of a stored function.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCall {
    /// Which.
    pub function: Arc<StoredFunction>,
    /// Arguments.
    pub args: Vec<Expr>,
}

/// Where no subqueries can run.
#[derive(Debug, Clone, Copy)]
pub struct NoSubqueries;

impl SubqueryValues for NoSubqueries {
    fn value(
        &self,
        _e: &SubqueryExpr,
        _ctx: &EvalCtx<'_>,
        _row: &dyn RowAccess,
    ) -> SqlResult<Value> {
        Err(SqlError::unsupported("subqueries in this place"))
    }

    fn known_values(&self, _n: usize) -> Option<&[Value]> {
        None
    }
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The name that it is printed by, in lower case. Names that start with a space are made by the parser and can't be called.
    pub(crate) name: &'static str,
    /// Other names that call it.
    pub aliases: &'static [&'static str],
    /// Its arguments, as documentation shows them: `text, from[, length]`; `...` stands for any number more.
    pub usage: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Fewest arguments.
    pub min: usize,
    /// Most arguments.
    pub max: usize,
    /// Behind so many arguments they come in pairs.
    pub pairs: Option<usize>,
    /// It gets a note (1287) wherever it is used.
    pub deprecated: bool,
    /// How its arguments are bound.
    pub takes: Takes,
    /// It computes with numbers as they are; others take what is shown of a quotient.
    pub computes: bool,
    /// The result is a JSON text, which JSON functions take in without quoting it.
    pub json: bool,
    /// The result is a truth value.
    pub predicate: bool,
    /// Which arguments can be the result.
    pub results: Option<Results>,
    /// No definition of a table may hold it.
    pub never_defined: bool,
    /// Whether it takes a UUID, INET4 or INET6.
    pub refuses_fixed: Refuses,
    pub(crate) nulls: Nulls,
    pub(crate) run: Run,
    /// Its readers and writers of texts can't return the accountant's refusal: they unwind.
    pub(crate) unwinds: bool,
    pub(crate) steadiness: Steadiness,
    /// With so many arguments and more it is constant whatever else is said.
    pub(crate) constant_from: usize,
    pub(crate) ty: TypeOf,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Function {}

impl std::hash::Hash for Function {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

/// Computes the type of a call's result.
pub(crate) type TypeOf = fn(&Typing<'_>) -> SqlResult<ExprType>;

/// Computes a call with its evaluated arguments.
pub(crate) type OfValues = for<'a, 'c> fn(&Call<'a, 'c>) -> SqlResult<Val<'a>>;

/// Computes a call that evaluates its arguments itself.
pub(crate) type OfOperands = for<'a, 'c> fn(&Operands<'a, 'c>) -> SqlResult<Val<'a>>;

/// How a call is computed.
#[derive(Debug)]
pub(crate) enum Run {
    /// Of its arguments' values.
    Values(OfValues),
    /// It evaluates some arguments only, or evaluates them more than once.
    Operands(OfOperands),
}

/// Which arguments of a function can't be a UUID, INET4 or INET6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// All can.
    Nothing,
    /// None can; errors call the function by this name.
    Each(&'static str),
    /// Neither of the two can; errors name both types.
    Pair,
    /// The first can't.
    First,
}

/// What NULL among the arguments means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The result is NULL.
    Result,
    /// The result is NULL if the first argument is.
    OfFirst,
    /// The function looks at NULLs itself.
    Seen,
}

/// How arguments are bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// As they are.
    Anything,
    /// As numbers: a hexadecimal literal is one, JSON_EXTRACT gives the value and not its JSON text.
    Numbers,
    /// As texts, whatever their types.
    Texts,
}

/// How steady a function's value is while its arguments stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// Always the same. Generated columns that are stored, indexes and CHECK may hold it, and replicas that execute it get the
    /// same value.
    Constant,
    /// The same for all rows of a statement. It differs by session or time, so that nothing that is stored may depend on it.
    Statement,
    /// It may differ from row to row, or evaluating it does something: it is evaluated as often as it is written to be.
    Row,
}

/// Arguments that can be the result.
#[derive(Clone, Copy)]
pub struct Results {
    /// Whether the i-th of n arguments can be the result.
    pub is_one: fn(usize, usize) -> bool,
    /// They become values of the result's type; otherwise they are only shown as such.
    pub converted: bool,
    /// Texts stay as they are.
    pub but_texts: bool,
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// A call whose arguments are not evaluated yet.
pub(crate) struct Operands<'a, 'c> {
    /// The call.
    pub expr: &'a Expr,
    /// Its arguments.
    pub args: &'a [Expr],
    /// The session, and the statement's values.
    pub ctx: &'c EvalCtx<'a>,
    /// The row.
    pub row: &'a dyn RowAccess,
    /// A quotient that it gives on keeps all its digits.
    pub raw: bool,
}

/// A call with its evaluated arguments.
pub(crate) struct Call<'a, 'c> {
    pub(crate) expr: &'a Expr,
    pub(crate) func: &'static Function,
    pub(crate) ctx: &'c EvalCtx<'a>,
    pub(crate) args: Vec<Val<'a>>,
    /// A quotient that it gives on keeps all its digits.
    pub(crate) raw: bool,
}

/// The arguments of a call as the result type sees them.
pub(crate) struct Typing<'e> {
    /// The function, for errors.
    pub name: &'static str,
    /// The bound arguments.
    pub args: &'e [Expr],
    /// `div_precision_increment`; only aggregates ask for it.
    pub div_precision: u8,
}

/// Visits the direct operands of an expression's kind: shared and mutable alike.
macro_rules! operands {
    ($kind:expr, $iter:ident, $f:expr) => {
        match $kind {
            ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Slot(_)
            | ExprKind::Column { .. }
            | ExprKind::Aggregate(..)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_)
            | ExprKind::SystemVariable { .. }
            | ExprKind::Outer(_)
            | ExprKind::UserVariable(..) => {}
            ExprKind::And(v) | ExprKind::Or(v) => v.$iter().for_each($f),
            ExprKind::Func { args, .. } => args.$iter().for_each($f),
            ExprKind::Stored(c) => c.args.$iter().for_each($f),
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

/// [`ExprType::decimals`] of floating point values.
pub const NOT_FIXED: u8 = 39;

/// A cast without a length.
pub const NO_LENGTH: u16 = u16::MAX;

pub(crate) fn make(kind: ExprKind, ty: ExprType) -> Expr {
    Expr { kind, ty }
}

impl Expr {
    /// Type of the value.
    pub fn ty(&self) -> ExprType {
        self.ty
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

    /// True if more than so many expressions stand within each other.
    pub fn is_deeper_than(&self, levels: usize) -> bool {
        let mut deeper = false;
        self.for_each_child(&mut |e| deeper |= levels == 0 || e.is_deeper_than(levels - 1));
        deeper
    }

    /// Its value is another one for each row, or that of a stored function: nothing is known of it beforehand.
    pub fn is_of_rows(&self) -> bool {
        self.any(&|e| match &e.kind {
            ExprKind::Column { .. }
            | ExprKind::Aggregate(..)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_)
            | ExprKind::Stored(_) => true,
            ExprKind::Subquery(s) => s.each_row,
            _ => false,
        })
    }

    /// True if the value is the same for all rows of one execution: no columns, aggregates, RAND() and such.
    pub fn is_const(&self) -> bool {
        !self.any(&|e| e.varies() || matches!(e.kind, ExprKind::UserVariable(..)))
    }

    /// The same of what an index is asked for: what the statement does not change is such a value, too.
    pub fn is_steady(&self) -> bool {
        !self.any(&|e| match &e.kind {
            ExprKind::UserVariable(_, stays) => !stays,
            // That of the statement before.
            ExprKind::Func { func, args } if func.name() == "last_insert_id" => !args.is_empty(),
            ExprKind::Stored(c) => !c.function.deterministic || c.function.statements,
            _ => e.varies(),
        })
    }

    /// `@x`, or an assignment to it.
    pub(crate) fn is_user_variable(&self) -> bool {
        matches!(
            self.kind,
            ExprKind::UserVariable(..) | ExprKind::SetUserVariable(..)
        )
    }

    /// It may have another value for each row, whatever its operands are.
    fn varies(&self) -> bool {
        match &self.kind {
            ExprKind::Column { .. }
            | ExprKind::Aggregate(..)
            | ExprKind::Window(_)
            | ExprKind::InsertValue(_)
            | ExprKind::Stored(_)
            | ExprKind::SetUserVariable(..) => true,
            ExprKind::Func { func, .. } => func.is_volatile(),
            ExprKind::Subquery(s) => s.each_row,
            _ => false,
        }
    }

    /// True if an aggregate is inside.
    pub fn has_aggregate(&self) -> bool {
        self.any(&|e| matches!(e.kind, ExprKind::Aggregate(..)))
    }

    /// True if a column or VALUES(col) is inside.
    pub fn has_column(&self) -> bool {
        self.any(&|e| matches!(e.kind, ExprKind::Column { .. } | ExprKind::InsertValue(_)))
    }

    /// True if a subquery or a stored function inside must run while rows are read.
    pub fn runs_each_row(&self) -> bool {
        self.any(&|e| match &e.kind {
            ExprKind::Subquery(s) => s.each_row,
            ExprKind::Stored(c) => c.function.statements,
            _ => false,
        })
    }
}

impl Expr {
    /// True if a number of a row is in it: ROWNUM().
    pub fn numbers_rows(&self) -> bool {
        self.any(&|e| matches!(&e.kind, ExprKind::Func { func, .. } if func.name() == "rownum"))
    }

    /// True if each evaluation may give something else, whatever its operands.
    pub fn changes(&self) -> bool {
        match &self.kind {
            ExprKind::SetUserVariable(..) | ExprKind::Stored(_) => true,
            ExprKind::Func { func, .. } => func.is_volatile(),
            _ => false,
        }
    }
}
