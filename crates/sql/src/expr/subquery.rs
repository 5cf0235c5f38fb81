//! Subqueries in expressions: how they are planned, run and compared.
//!
//! A subquery is planned when the expression around it is bound. Columns of outer queries that it names become
//! [`ExprKind::Outer`] inside of it: positions in a list of expressions of the query around ([`SubqueryExpr::outer`]), whose
//! values each run gets. One that needs no row of the query around runs once, before the rows are read; others run for
//! each row, and what they gave is kept by the values that they got.

use super::compare::compare;
use super::{Binder, CmpOp, EvalCtx, Expr, ExprKind, ExprType, RowAccess, Scope, bool_ty, make};
use crate::ast::Select;
use crate::env::StatementEnv;
use crate::exec::order::push_key;
pub use crate::exec::subquery_rows::SubqueryRows;
use crate::exec::subquery_rows::SubqueryTaker;
use crate::plan::select::SelectPlan;
use crate::programs::{self, StoredFunction};
use ahash::AHashMap;
use narwal_engine::Transaction;
use narwal_syntax::ast::Expr as Ast;
use narwal_types::{Collation, SqlError, SqlResult, Value};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

/// Bytes of results that one subquery may keep.
const MAX_KEPT: usize = 16 << 20;

/// What is asked of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubqueryUse {
    /// Its one value, or NULL.
    Value,
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
    /// Its position in [`EvalCtx::subqueries`].
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

/// A planned subquery.
pub struct SubPlan {
    /// The SELECT.
    pub plan: SelectPlan,
    /// What is asked.
    pub used: SubqueryUse,
    /// Its number in the placeholders.
    pub number: usize,
    /// What it sees of the query around.
    pub outer: Vec<Expr>,
    /// It depends on the row of the query around, or each run gives something else.
    pub each_row: bool,
    /// Each run may give something else.
    pub volatile: bool,
    /// Collations of the comparison with each column.
    pub collations: Vec<Collation>,
    /// Equal values have equal keys.
    pub by_key: bool,
}

/// Rows by the values that a subquery got, and bytes held.
type Kept = (AHashMap<Vec<u8>, Rc<SubqueryRows>>, usize);

/// A subquery in one run of the query around it.
pub struct SubqueryRun<'a> {
    plan: &'a SubPlan,
    /// Its rows, if it runs once.
    once: Option<Rc<SubqueryRows>>,
    /// Rows by the outer values, and bytes held.
    kept: RefCell<Kept>,
}

/// Results of subqueries that see nothing of the queries around them: the same for the whole statement.
pub type Shared = RefCell<Vec<(usize, Rc<SubqueryRows>)>>;

/// Who can run a subquery while an expression is evaluated.
pub trait Runner {
    /// Runs it with the values of [`SubPlan::outer`].
    fn run(&self, plan: &SubPlan, outer: &[Value], ctx: &EvalCtx<'_>) -> SqlResult<SubqueryRows>;
    /// Calls a stored function that runs statements.
    fn call(&self, f: &StoredFunction, args: Vec<Value>, env: &StatementEnv) -> SqlResult<Value>;
}

struct TxnRunner<'t>(RefCell<&'t mut Transaction>);

impl Runner for TxnRunner<'_> {
    fn run(&self, plan: &SubPlan, outer: &[Value], ctx: &EvalCtx<'_>) -> SqlResult<SubqueryRows> {
        let mut txn = self
            .0
            .try_borrow_mut()
            .map_err(|_| SqlError::unknown("a subquery within the read of another"))?;
        plan.run(&mut txn, outer, ctx)
    }

    fn call(&self, f: &StoredFunction, args: Vec<Value>, env: &StatementEnv) -> SqlResult<Value> {
        let mut txn = self
            .0
            .try_borrow_mut()
            .map_err(|_| SqlError::unknown("a stored function within the read of a subquery"))?;
        programs::call(f, args, Some(&mut txn), env)
    }
}

impl<'a> EvalCtx<'a> {
    /// For a statement whose subqueries did not run yet.
    pub fn new(env: &'a crate::StatementEnv, params: &'a [Value], shared: &'a Shared) -> Self {
        EvalCtx {
            env,
            params,
            subqueries: &[],
            outer: &[],
            runner: None,
            working: None,
            shared,
        }
    }

    /// Evaluates expressions whose subqueries may run.
    pub fn with_txn<T>(
        &self,
        txn: &mut Transaction,
        f: impl FnOnce(&EvalCtx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let runner = TxnRunner(RefCell::new(txn));
        f(&EvalCtx {
            runner: Some(&runner),
            ..*self
        })
    }
}

impl SubPlan {
    /// Runs it.
    pub fn run(
        &self,
        txn: &mut Transaction,
        outer: &[Value],
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<SubqueryRows> {
        let ctx = EvalCtx {
            outer,
            subqueries: &[],
            runner: None,
            ..*ctx
        };
        let mut rows = SubqueryTaker::new(self.used, &self.collations, self.by_key);
        self.plan
            .run(txn, &ctx, &mut |values| rows.push(values, ctx.env))?;
        rows.finish(ctx.env)
    }

    /// Runs those that need no row of the query around.
    pub fn run_all<'p>(
        plans: &'p [SubPlan],
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<Vec<SubqueryRun<'p>>> {
        plans
            .iter()
            .map(|plan| {
                let once = if plan.each_row {
                    None
                } else {
                    let at = std::ptr::from_ref(plan) as usize;
                    let free = plan.outer.is_empty() && ctx.working.is_none();
                    let known = || {
                        let all = ctx.shared.borrow();
                        let found = all.iter().find(|(k, _)| *k == at);
                        found.map(|(_, rows)| rows.clone())
                    };
                    match free.then(known).flatten() {
                        Some(rows) => Some(rows),
                        None => {
                            let outer = plan
                                .outer
                                .iter()
                                .map(|e| e.eval(ctx, &super::NoRow))
                                .collect::<SqlResult<Vec<_>>>()?;
                            let rows = Rc::new(plan.run(txn, &outer, ctx)?);
                            if free {
                                ctx.shared.borrow_mut().push((at, rows.clone()));
                            }
                            Some(rows)
                        }
                    }
                };
                Ok(SubqueryRun {
                    plan,
                    once,
                    kept: RefCell::default(),
                })
            })
            .collect()
    }
}

impl SubqueryRun<'_> {
    /// Its rows, if it has run.
    pub fn once(&self) -> Option<&SubqueryRows> {
        self.once.as_deref()
    }

    fn rows(
        &self,
        e: &SubqueryExpr,
        ctx: &EvalCtx<'_>,
        row: &dyn RowAccess,
    ) -> SqlResult<Rc<SubqueryRows>> {
        if let Some(rows) = &self.once {
            return Ok(rows.clone());
        }
        let runner = ctx
            .runner
            .ok_or_else(|| SqlError::unsupported("subqueries that depend on the outer row here"))?;
        let mut outer = Vec::with_capacity(e.outer.len());
        let mut key = Vec::new();
        for o in &e.outer {
            let v = o.eval(ctx, row)?;
            // Values that are equal but not the same (by collation, or digits) may give different rows.
            push_key(v.as_ref(), Collation::Binary, &mut key);
            outer.push(v);
        }
        let keep = !self.plan.volatile;
        if keep && let Some(rows) = self.kept.borrow().0.get(&key) {
            return Ok(rows.clone());
        }
        let rows = Rc::new(runner.run(self.plan, &outer, ctx)?);
        if keep && let Some(values) = rows.values() {
            let mut kept = self.kept.borrow_mut();
            let size = key.len() + 128 + values.len() * 64;
            if kept.1 + size > MAX_KEPT {
                *kept = Default::default();
            }
            if size < MAX_KEPT / 4 {
                kept.1 += size;
                kept.0.insert(key, rows.clone());
            }
        }
        Ok(rows)
    }
}

/// A comparison of two rows: `None` for NULL.
fn compare_rows(
    op: CmpOp,
    left: &[Value],
    right: &[Value],
    collations: &[Collation],
    ctx: &EvalCtx<'_>,
) -> Option<bool> {
    let pairs = left.iter().zip(right).zip(collations);
    match op {
        CmpOp::Eq | CmpOp::Ne | CmpOp::NullSafeEq => {
            let mut equal = Some(true);
            for ((l, r), c) in pairs {
                if op == CmpOp::NullSafeEq && (l.is_null() || r.is_null()) {
                    if l.is_null() != r.is_null() {
                        return Some(false);
                    }
                    continue;
                }
                match compare(l.as_ref(), r.as_ref(), *c, ctx.env) {
                    Some(Ordering::Equal) => {}
                    Some(_) => return Some(op == CmpOp::Ne),
                    None => equal = None,
                }
            }
            equal.map(|e| e != (op == CmpOp::Ne))
        }
        _ => {
            for ((l, r), c) in pairs {
                match compare(l.as_ref(), r.as_ref(), *c, ctx.env) {
                    Some(Ordering::Equal) => {}
                    Some(o) => return Some(super::eval::satisfied(op, o)),
                    None => return None,
                }
            }
            Some(matches!(op, CmpOp::Le | CmpOp::Ge))
        }
    }
}

fn several_rows() -> SqlError {
    SqlError::new(1242, b"21000", "Subquery returns more than 1 row")
}

impl SubqueryExpr {
    /// The value for a row.
    pub(super) fn eval(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        let Some(run) = ctx.subqueries.get(self.index) else {
            return Err(SqlError::unsupported("subqueries in this place"));
        };
        let rows = run.rows(self, ctx, row)?;
        let plan = run.plan;
        let truth = |b: Option<bool>| b.map_or(Value::Null, |b| Value::Int(b as i64));
        let left = || {
            self.left
                .iter()
                .map(|e| e.eval(ctx, row))
                .collect::<SqlResult<Vec<_>>>()
        };
        let width = self.left.len().max(1);
        let each = |op: CmpOp, left: &[Value], stop: bool| -> SqlResult<Option<bool>> {
            let mut found = Some(!stop);
            let mut n = 0u32;
            rows.each(width, &mut |r| {
                n = n.wrapping_add(1);
                if n & 0xfff == 0 {
                    ctx.env.check_interrupt()?;
                }
                match compare_rows(op, left, r, &plan.collations, ctx) {
                    Some(b) if b == stop => {
                        found = Some(stop);
                        return Ok(false);
                    }
                    Some(_) => {}
                    None => found = None,
                }
                Ok(true)
            })?;
            Ok(found)
        };
        let first = || rows.values().unwrap_or_default();
        Ok(match self.used {
            SubqueryUse::Exists => Value::Int(i64::from(!rows.is_empty())),
            SubqueryUse::Value => match rows.len() {
                0 => Value::Null,
                1 => first().first().cloned().unwrap_or_default(),
                _ => return Err(several_rows()),
            },
            SubqueryUse::Row(op) => match rows.len() {
                0 if op == CmpOp::NullSafeEq => truth(Some(left()?.iter().all(Value::is_null))),
                0 => Value::Null,
                1 => truth(compare_rows(op, &left()?, first(), &plan.collations, ctx)),
                _ => return Err(several_rows()),
            },
            SubqueryUse::Any(_) if rows.is_empty() => Value::Int(0),
            SubqueryUse::All(_) if rows.is_empty() => Value::Int(1),
            SubqueryUse::Any(op @ CmpOp::Eq) | SubqueryUse::All(op @ CmpOp::Ne) => {
                let any = op == CmpOp::Eq;
                let left = left()?;
                let null = left.iter().any(Value::is_null);
                let found = if plan.by_key && !null && (width == 1 || !rows.has_null()) {
                    let mut key = Vec::new();
                    for (v, c) in left.iter().zip(&plan.collations) {
                        push_key(v.as_ref(), *c, &mut key);
                    }
                    match rows.has_key(&key)? {
                        false if rows.has_null() => None,
                        f => Some(f),
                    }
                } else if width == 1 && null {
                    None
                } else {
                    each(CmpOp::Eq, &left, true)?
                };
                truth(found.map(|f| f == any))
            }
            SubqueryUse::Any(op) => truth(each(op, &left()?, true)?),
            SubqueryUse::All(op) => truth(each(op, &left()?, false)?),
        })
    }
}

/// What planning says of a subquery.
pub struct Planned {
    /// Its position.
    pub index: usize,
    /// Types of its columns.
    pub columns: Vec<ExprType>,
    /// See [`SubqueryExpr::outer`].
    pub outer: Vec<Expr>,
    /// See [`SubqueryExpr::each_row`].
    pub each_row: bool,
}

/// Plans the subqueries of a statement's or a SELECT's expressions.
pub trait SubqueryPlanner {
    /// Plans number `n` of the placeholders, seen from a scope.
    fn plan(&self, n: usize, used: SubqueryUse, scope: &Scope<'_>) -> SqlResult<Planned>;
    /// Plans a query that is none of them. `number`: one that none of them has.
    fn plan_query(
        &self,
        query: &Select,
        number: usize,
        used: SubqueryUse,
        scope: &Scope<'_>,
    ) -> SqlResult<Planned>;
    /// Says how its columns are compared.
    fn compared(&self, index: usize, collations: Vec<Collation>, by_key: bool);
}

/// The query around a subquery, as its names see it.
pub struct OuterScope<'a> {
    /// What names mean there.
    pub scope: &'a Scope<'a>,
    /// What the subquery sees of it so far.
    pub frame: RefCell<Vec<Expr>>,
}

impl OuterScope<'_> {
    /// An expression of the outer query as the subquery sees it.
    pub(super) fn add(&self, e: Expr) -> Expr {
        let ty = e.ty;
        let mut frame = self.frame.borrow_mut();
        let at = match frame.iter().position(|x| *x == e) {
            Some(at) => at,
            None => {
                frame.push(e);
                frame.len() - 1
            }
        };
        make(ExprKind::Outer(at), ty)
    }
}

pub(super) fn wrong_columns(n: usize) -> SqlError {
    SqlError::new(
        1241,
        b"21000",
        format!("Operand should contain {n} column(s)"),
    )
}

/// The operands of `(a, b)` and `ROW(a, b)`.
pub(super) fn row_items(ast: &Ast) -> Option<Vec<&Ast>> {
    match ast {
        Ast::Row(list) => Some(list.iter().collect()),
        Ast::Nested(e) => row_items(e),
        _ => None,
    }
}

/// Error 4078: one side (`None`) is a row, the other is not.
pub(super) fn not_a_row(left: Option<&Expr>, right: Option<&Expr>, op: &str) -> SqlError {
    let name = |e: Option<&Expr>| match e {
        None => "row".to_string(),
        Some(e) => {
            let name = e.ty.ty.sql_name();
            name.split(['(', ' '])
                .next()
                .unwrap_or_default()
                .to_string()
        }
    };
    SqlError::new(
        4078,
        b"HY000",
        format!(
            "Illegal parameter data types {} and {} for operation '{op}'",
            name(left),
            name(right)
        ),
    )
}

/// Values of the two types are equal exactly if their keys are.
fn keys_compare(a: &Expr, b: &ExprType) -> bool {
    use narwal_types::TypeKind as K;
    if a.ty.null || b.null || matches!(a.kind, ExprKind::Param(_) | ExprKind::UserVariable(_)) {
        return false;
    }
    let (x, y) = (&a.ty.ty, &b.ty);
    let exact = |t: &narwal_types::ColumnType| t.is_integer() || matches!(t.kind, K::Decimal(..));
    (x.is_character() && y.is_character())
        || (exact(x) && exact(y))
        || matches!(
            (x.kind, y.kind),
            (K::Date, K::Date) | (K::DateTime(_), K::DateTime(_)) | (K::Time(_), K::Time(_))
        )
}

/// How operands are compared with a subquery's columns: collations, and whether by keys.
pub fn comparison_of(
    left: &[Expr],
    columns: &[ExprType],
    op: &str,
) -> SqlResult<(Vec<Collation>, bool)> {
    let collations = left
        .iter()
        .zip(columns)
        .map(|(l, t)| {
            let strings = [&l.ty, t].into_iter().filter(|t| t.is_string());
            Ok(super::types::collation_of(strings.collect::<Vec<_>>(), op)?.0)
        })
        .collect::<SqlResult<Vec<_>>>()?;
    let by_key = left.iter().zip(columns).all(|(l, t)| keys_compare(l, t));
    Ok((collations, by_key))
}

/// The number of the subquery that an operand is, parentheses round it taken off.
pub(super) fn as_subquery(ast: &Ast) -> Option<usize> {
    match ast {
        Ast::Nested(e) => as_subquery(e),
        Ast::Subquery(n) => Some(*n),
        _ => None,
    }
}

impl Binder<'_> {
    fn plan_subquery(
        &self,
        n: usize,
        used: SubqueryUse,
    ) -> SqlResult<(&dyn SubqueryPlanner, Planned)> {
        let planner = self
            .scope
            .planner
            .ok_or_else(|| SqlError::unsupported("subqueries in this place"))?;
        Ok((planner, planner.plan(n, used, self.scope)?))
    }

    /// A lone subquery, or EXISTS.
    pub(super) fn lone_subquery(&self, n: usize, exists: bool) -> SqlResult<Expr> {
        let used = if exists {
            SubqueryUse::Exists
        } else {
            SubqueryUse::Value
        };
        let (_, p) = self.plan_subquery(n, used)?;
        let ty = match (exists, p.columns.as_slice()) {
            (true, _) => bool_ty(false),
            (false, [t]) => t.with_nullable(true),
            _ => return Err(wrong_columns(1)),
        };
        Ok(make(
            ExprKind::Subquery(Box::new(SubqueryExpr {
                used,
                index: p.index,
                left: Vec::new(),
                outer: p.outer,
                each_row: p.each_row,
                keyed: false,
                collation: Collation::default(),
            })),
            ty,
        ))
    }

    /// A comparison of an operand, perhaps a row, with a subquery.
    pub(super) fn compared_subquery(
        &self,
        left: &Ast,
        n: usize,
        used: SubqueryUse,
    ) -> SqlResult<Expr> {
        let left: Vec<Expr> = match row_items(left) {
            Some(list) => list
                .into_iter()
                .map(|e| self.expr(e))
                .collect::<SqlResult<_>>()?,
            None => vec![self.expr(left)?],
        };
        if left.len() > 1
            && let SubqueryUse::Any(op) | SubqueryUse::All(op) = used
            && !matches!(
                (used, op),
                (SubqueryUse::Any(_), CmpOp::Eq) | (SubqueryUse::All(_), CmpOp::Ne)
            )
        {
            return Err(wrong_columns(1));
        }
        let (planner, p) = self.plan_subquery(n, used)?;
        if p.columns.len() != left.len() {
            return Err(wrong_columns(left.len()));
        }
        let op = match used {
            SubqueryUse::Any(op) | SubqueryUse::All(op) | SubqueryUse::Row(op) => op.symbol(),
            _ => "in",
        };
        let (collations, by_key) = comparison_of(&left, &p.columns, op)?;
        let collation = collations.first().copied().unwrap_or_default();
        planner.compared(p.index, collations, by_key);
        let nullable = left.iter().any(|e| e.ty.nullable)
            || p.columns.iter().any(|t| t.nullable)
            || matches!(used, SubqueryUse::Row(_));
        Ok(make(
            ExprKind::Subquery(Box::new(SubqueryExpr {
                used,
                index: p.index,
                left,
                outer: p.outer,
                each_row: p.each_row,
                keyed: by_key,
                collation,
            })),
            bool_ty(nullable),
        ))
    }

    /// `[NOT]` IN (subquery).
    pub(super) fn in_subquery(&self, left: &Ast, n: usize, negated: bool) -> SqlResult<Expr> {
        self.compared_subquery(
            left,
            n,
            if negated {
                SubqueryUse::All(CmpOp::Ne)
            } else {
                SubqueryUse::Any(CmpOp::Eq)
            },
        )
    }
}

impl Expr {
    /// True if a subquery or a stored function inside must run while rows are read.
    pub fn runs_each_row(&self) -> bool {
        self.any(&|e| match &e.kind {
            ExprKind::Subquery(s) => s.each_row,
            ExprKind::Stored(c) => c.function.statements,
            _ => false,
        })
    }
}
