//! What runs a plan: the context of expressions, and what stands around them. [`Running`] is what expressions see of the
//! executor.

use super::row_list::RowList;
use super::subquery_rows::SubqueryRows;
use crate::env::{StatementEnv, StoredFunction};
use crate::expr::EvalCtx;
use crate::plan::counts::Counts;
use crate::plan::query::SubPlan;
use ahash::AHashMap;
use narwal_engine::Transaction;
use narwal_types::{SqlError, SqlResult, Value};
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

/// The rows that the steps of recursive tables see.
pub struct Working<'a> {
    /// Those of each table, by what steps know it by.
    pub(super) tables: &'a [(usize, &'a RowList)],
    /// Those of the tables around.
    pub(super) around: Option<&'a Working<'a>>,
}

impl<'a> Working<'a> {
    /// The rows of a table.
    pub fn rows(&self, id: usize) -> Option<&'a RowList> {
        let own = self.tables.iter().find(|t| t.0 == id);
        match own {
            Some((_, rows)) => Some(rows),
            None => self.around.and_then(|w| w.rows(id)),
        }
    }
}

/// Rows by the values that a subquery got, and bytes held.
type Kept = (AHashMap<Vec<u8>, Rc<SubqueryRows>>, usize);

/// A subquery in one run of the query around it.
pub struct SubqueryRun<'a> {
    pub(super) plan: &'a SubPlan,
    /// Its rows, if it runs once.
    pub(super) once: Option<Rc<SubqueryRows>>,
    /// Rows by the outer values, and bytes held.
    pub(super) kept: RefCell<Kept>,
    /// IGNORE has told of its several rows.
    pub(super) told: Cell<bool>,
}

/// Results of subqueries that see nothing of the queries around them: the same for the whole statement.
pub type Shared = RefCell<Vec<(usize, Rc<SubqueryRows>)>>;

/// Runs subqueries while an expression is evaluated.
pub trait Runner {
    /// Runs it with the values of [`SubPlan::outer`].
    fn run(&self, plan: &SubPlan, outer: &[Value], ctx: &RunCtx<'_>) -> SqlResult<SubqueryRows>;
    /// Calls a stored function that runs statements.
    fn call(&self, f: &StoredFunction, args: Vec<Value>, env: &StatementEnv) -> SqlResult<Value>;
}

struct TxnRunner<'t>(RefCell<&'t mut Transaction>);

impl Runner for TxnRunner<'_> {
    fn run(&self, plan: &SubPlan, outer: &[Value], ctx: &RunCtx<'_>) -> SqlResult<SubqueryRows> {
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
        env.call_function(f, args, Some(&mut txn))
    }
}

/// What stands around the expressions of a plan that runs.
#[derive(Clone, Copy)]
pub struct Running<'a> {
    /// The subqueries of the SELECT or statement.
    pub subqueries: &'a [SubqueryRun<'a>],
    /// Runs subqueries; `None` where rows are being read.
    pub runner: Option<&'a dyn Runner>,
    /// In a step of a recursive table: the rows of the step before.
    pub working: Option<&'a Working<'a>>,
    /// Results that serve the whole statement.
    pub shared: &'a Shared,
    /// Counts what is read, if somebody wants to know.
    pub counts: Option<&'a Counts>,
    /// Counts the rows that the SELECT or statement has taken, for ROWNUM().
    pub taken: Option<&'a Cell<u64>>,
}

impl<'a> Running<'a> {
    /// For a statement whose subqueries did not run yet.
    pub fn new(shared: &'a Shared) -> Self {
        Running {
            subqueries: &[],
            runner: None,
            working: None,
            shared,
            counts: None,
            taken: None,
        }
    }
}

/// The context of a plan that runs: what its expressions get, and what stands around them.
#[derive(Clone, Copy)]
pub struct RunCtx<'a> {
    /// What expressions get.
    pub eval: EvalCtx<'a>,
    /// What stands around them: `eval.subqueries` is the same.
    pub run: &'a Running<'a>,
}

impl<'a> Deref for RunCtx<'a> {
    type Target = EvalCtx<'a>;

    #[inline]
    fn deref(&self) -> &EvalCtx<'a> {
        &self.eval
    }
}

impl<'a> RunCtx<'a> {
    /// For a statement with these values of `?`.
    pub fn new(env: &'a StatementEnv, params: &'a [Value], run: &'a Running<'a>) -> Self {
        RunCtx {
            eval: EvalCtx {
                subqueries: run,
                ..EvalCtx::new(env, params)
            },
            run,
        }
    }

    /// The same with something else around its expressions.
    pub fn around<'b>(&self, run: &'b Running<'b>) -> RunCtx<'b>
    where
        'a: 'b,
    {
        RunCtx {
            eval: EvalCtx {
                subqueries: run,
                ..self.eval
            },
            run,
        }
    }

    /// Evaluates expressions whose subqueries may run.
    pub fn with_txn<T>(
        &self,
        txn: &mut Transaction,
        f: impl FnOnce(&RunCtx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let runner = TxnRunner(RefCell::new(txn));
        f(&self.around(&Running {
            runner: Some(&runner),
            ..*self.run
        }))
    }
}
