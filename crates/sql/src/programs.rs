//! Stored functions and triggers as statements meet them. Who has their definitions and runs them is the session:
//! [`Programs`].

use crate::env::StatementEnv;
use crate::expr::{EvalCtx, Expr, RowAccess};
use crate::zone::seen;
use narwal_engine::{CatalogChange, Table, Transaction};
use narwal_types::charset::latin1_text;
use narwal_types::{ColumnType, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;

/// A stored function as expressions see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFunction {
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// Number of parameters.
    pub parameters: usize,
    /// Type of the result.
    pub returns: ColumnType,
    /// It runs statements, which need a transaction.
    pub statements: bool,
    /// The catalog version that it was found in.
    pub version: u64,
}

/// A call of a stored function.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCall {
    /// Which.
    pub function: Arc<StoredFunction>,
    /// Arguments.
    pub args: Vec<Expr>,
}

impl StoredCall {
    /// The result for a row.
    pub(crate) fn eval(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        let args = self.args.iter().map(|a| a.eval(ctx, row));
        let args = args.collect::<SqlResult<Vec<Value>>>()?;
        match ctx.runner {
            Some(r) if self.function.statements => r.call(&self.function, args, ctx.env),
            _ => call(&self.function, args, None, ctx.env),
        }
    }
}

/// Calls a stored function.
pub(crate) fn call(
    function: &StoredFunction,
    args: Vec<Value>,
    txn: Option<&mut Transaction>,
    env: &StatementEnv,
) -> SqlResult<Value> {
    match &env.programs {
        Some(p) => p.call(function, args, txn, env),
        None => Err(SqlError::unsupported("stored functions here")),
    }
}

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RowEvent {
    Insert,
    Update,
    Delete,
}

/// The row that a trigger is about, in the images that the engine has.
#[derive(Clone, Copy)]
pub struct TriggerRow<'a> {
    /// Its table.
    pub table: &'a Arc<Table>,
    /// BEFORE.
    pub before: bool,
    /// What happens.
    pub event: RowEvent,
    /// The row that was there.
    pub old: Option<&'a [u8]>,
    /// The row that will be there.
    pub new: Option<&'a [u8]>,
}

impl TriggerRow<'_> {
    /// A column's value, as statements see it.
    pub fn value(&self, new: bool, column: usize, env: &StatementEnv) -> SqlResult<Value> {
        let Some(image) = (if new { self.new } else { self.old }) else {
            return Ok(Value::Null);
        };
        Ok(match self.table.layout.column(image, column)? {
            ValueRef::Latin1(s) => Value::Str(latin1_text(s).into()),
            v => seen(v, env.time_zone).to_value(),
        })
    }
}

/// Stored functions and triggers, as the session has them.
pub trait Programs: Send + Sync {
    /// A function by its name.
    fn function(
        &self,
        db: Option<&str>,
        name: &str,
        env: &StatementEnv,
    ) -> SqlResult<Option<Arc<StoredFunction>>>;
    /// Calls it. `txn`: the transaction of the statement around, if its rows are not being read.
    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<Value>;
    /// There is a stored program.
    fn any(&self) -> bool;
    /// What becomes of stored programs with a change of the catalog: triggers go with their table, and keep it under its
    /// new name.
    fn follow(&self, change: &CatalogChange) -> SqlResult<Vec<CatalogChange>>;
    /// Some table has triggers.
    fn any_triggers(&self) -> bool;
    /// A table has triggers of this kind.
    fn has_triggers(&self, table: &Table, before: bool, event: RowEvent) -> bool;
    /// Runs the triggers for a row; gives the columns of the new row that they have set.
    fn fire(
        &self,
        row: &TriggerRow<'_>,
        txn: &mut Transaction,
        env: &StatementEnv,
    ) -> SqlResult<Vec<(usize, Value)>>;
}

impl StatementEnv {
    /// Who has a table's triggers of this kind, if there are such.
    #[inline]
    pub(crate) fn triggers(
        &self,
        table: &Table,
        before: bool,
        event: RowEvent,
    ) -> Option<&dyn Programs> {
        let p = self.programs.as_deref()?;
        (p.any_triggers() && p.has_triggers(table, before, event)).then_some(p)
    }
}
