//! Placeholder for `expr/`: exactly what the planner and the executor use of it. To be replaced by `expr/mod.rs`
//! (then remove the `#[path]` in lib.rs).

use crate::ast::AstExpr;
use crate::env::StatementEnv;
use narwal_engine::Table;
use narwal_types::{ColumnType, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;

/// One table in scope.
pub struct ScopeTable<'a> {
    /// Database, for `db.t.c`.
    pub db: &'a str,
    /// Alias or name, for `t.c`.
    pub alias: &'a str,
    /// The table.
    pub table: &'a Arc<Table>,
}

/// What names mean in an expression.
pub struct Scope<'a> {
    /// Tables; a column is (position here, position in the table).
    pub tables: &'a [ScopeTable<'a>],
    /// Select aliases, looked up after columns (HAVING, ORDER BY, GROUP BY); bound in place.
    pub aliases: &'a [(String, AstExpr)],
    /// For error 1054: `field list`, `where clause`, `having clause`, `order clause`, `group statement`.
    pub clause: &'static str,
    /// False: an aggregate function is error 1111.
    pub aggregates_allowed: bool,
    /// VALUES(col) means the row to insert (ON DUPLICATE KEY UPDATE); else it is NULL.
    pub insert_row: bool,
    /// For types and constants that depend on the session.
    pub env: &'a StatementEnv,
}

/// Aggregate functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AggregateKind {
    /// COUNT(*): no argument.
    CountAll,
    Count,
    Sum,
    Avg,
    Min,
    Max,
    /// GROUP_CONCAT without ORDER BY, with its separator in [`Aggregate::separator`].
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
}

/// One aggregate of a SELECT: computed by the executor, read by [`Expr::Aggregate`].
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Function.
    pub kind: AggregateKind,
    /// COUNT(DISTINCT ...) and so on.
    pub distinct: bool,
    /// Arguments: one, or several for COUNT(DISTINCT a, b).
    pub args: Vec<Expr>,
    /// Result type.
    pub ty: ExprType,
    /// GROUP_CONCAT's SEPARATOR.
    pub separator: String,
}

/// Static type of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExprType {
    /// Type of the values.
    pub ty: ColumnType,
    /// NULL may occur.
    pub nullable: bool,
    /// Digits after the point, 39 = not fixed.
    pub decimals: u8,
}

/// What evaluation needs besides the row.
pub struct EvalCtx<'a> {
    /// The session.
    pub env: &'a StatementEnv,
    /// Values of `?`.
    pub params: &'a [Value],
    /// Values of the aggregates of the current group.
    pub aggregates: &'a [Value],
}

/// The current row(s).
pub trait RowAccess {
    /// A column's value; TIMESTAMP already in the session's time zone.
    fn column(&self, table: usize, column: usize) -> SqlResult<ValueRef<'_>>;
    /// VALUES(col).
    fn inserted(&self, _column: usize) -> SqlResult<ValueRef<'_>> {
        Ok(ValueRef::Null)
    }
}

/// No row: constants and parameters only.
pub struct NoRow;

impl RowAccess for NoRow {
    fn column(&self, _table: usize, _column: usize) -> SqlResult<ValueRef<'_>> {
        Err(SqlError::unknown("no row"))
    }
}

/// A bound expression. The executor matches on these variants, the others are private to evaluation.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A constant.
    Literal(Value),
    /// `?`
    Param(usize),
    /// A column.
    Column {
        /// Position in [`Scope::tables`].
        table: usize,
        /// Position in the table.
        column: usize,
        /// Its type.
        ty: ExprType,
    },
    /// A computed aggregate: position in the list given to [`bind`].
    Aggregate(usize, ExprType),
}

/// Binds an expression. Aggregates found are appended to `aggregates` (equal ones may be shared).
pub fn bind(ast: &AstExpr, scope: &Scope<'_>, aggregates: &mut Vec<Aggregate>) -> SqlResult<Expr> {
    let _ = (ast, scope, aggregates);
    todo!()
}

impl Expr {
    /// Evaluates.
    pub fn eval(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        let _ = (ctx, row);
        todo!()
    }

    /// Evaluates as a condition: NULL is `None`.
    pub fn eval_bool(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Option<bool>> {
        let _ = (ctx, row);
        todo!()
    }

    /// Static type.
    pub fn ty(&self) -> ExprType {
        todo!()
    }

    /// True if it has no column, no aggregate and no VALUES(): one value for a whole execution.
    pub fn is_constant(&self) -> bool {
        todo!()
    }

    /// Calls `f` for each column it reads (table, column), and for each aggregate's arguments not.
    pub fn for_each_column(&self, f: &mut dyn FnMut(usize, usize)) {
        let _ = f;
        todo!()
    }
}

/// Three-way comparison of two values of the same expression, NULL first; strings by `ty`'s collation.
pub fn compare_values(a: ValueRef<'_>, b: ValueRef<'_>, ty: &ColumnType) -> std::cmp::Ordering {
    let _ = (a, b, ty);
    todo!()
}
