//! Values of expressions in statements of the session: SET, KILL, PURGE.

use crate::admin::Operand;
use crate::session::ClientSession;
use narwal_engine::{Isolation, Transaction};
use narwal_sql::ast::{Select, SelectItem};
use narwal_sql::expr::ExprKind;
use narwal_sql::{Prepared, StatementEnv};
use narwal_syntax::{Expr, Statement};
use narwal_types::{
    Collation, ColumnType, OkInfo, ResultColumn, ResultSink, SqlResult, Value, ValueRef,
};

impl ClientSession {
    /// Evaluates an expression without tables.
    pub(crate) fn evaluate(&self, operand: &Operand) -> SqlResult<Value> {
        self.evaluate_expr(&operand.value.expr)
    }

    pub(crate) fn evaluate_expr(&self, expr: &Expr) -> SqlResult<Value> {
        narwal_sql::evaluate(expr, &self.env)
    }

    /// True for an expression that calls a stored function, which may need a transaction.
    fn calls_stored(&self, expr: &Expr) -> bool {
        if !self.env.programs.as_ref().is_some_and(|p| p.any()) {
            return false;
        }
        let bound = narwal_sql::bind(expr, &narwal_sql::Scope::empty(&self.env));
        let stored = |e: &narwal_sql::expr::Expr| matches!(e.kind, ExprKind::Stored(_));
        bound.is_ok_and(|e| e.any(&stored))
    }

    /// Runs something as one statement of the open transaction, or of one of its own.
    pub(crate) fn in_transaction<T>(
        &mut self,
        run: impl FnOnce(&mut Transaction, &StatementEnv) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut kept = self.tx.open.is_some();
        let mut open = match self.tx.open.take() {
            Some(o) => o,
            None => self.begin_transaction(None),
        };
        self.env.locking_reads = kept && open.isolation == Isolation::Serializable;
        open.txn.begin_statement(self.env.timestamp(), None);
        let r = run(&mut open.txn, &self.env);
        match &r {
            Ok(_) => open.txn.end_statement(),
            Err(_) => open.txn.rollback_statement(),
        }
        // What a function has written waits for COMMIT, if nothing else has it written.
        kept |= r.is_ok() && !self.settings.autocommit && !open.txn.is_read_only();
        if kept {
            self.tx.open = Some(open);
        } else if r.is_ok() && !open.txn.is_read_only() {
            self.commit_transaction(open.txn)?;
        }
        r
    }

    /// Evaluates an expression that may hold subqueries, as in `KILL (SELECT ...)`.
    pub(crate) fn evaluate_query(&mut self, operand: &Operand) -> SqlResult<Value> {
        if operand.value.subqueries.is_empty() && !self.calls_stored(&operand.value.expr) {
            return self.evaluate(operand);
        }
        self.evaluate_as_select(operand).map(|(value, _)| value)
    }

    /// The value of `SET @x = ...`, and the collation that it has if it is a text.
    pub(crate) fn evaluate_kept(&mut self, operand: &Operand) -> SqlResult<(Value, Collation)> {
        if operand.value.subqueries.is_empty() && !self.calls_stored(&operand.value.expr) {
            return narwal_sql::evaluate_typed(&operand.value.expr, &self.env);
        }
        let (value, ty) = self.evaluate_as_select(operand)?;
        let collation = narwal_sql::kept_collation(&ty);
        Ok((narwal_sql::as_kept(value), collation))
    }

    /// Evaluates an expression as the only one of a SELECT.
    fn evaluate_as_select(&mut self, operand: &Operand) -> SqlResult<(Value, ColumnType)> {
        let item = SelectItem::Expr {
            expr: operand.value.expr.clone(),
            alias: None,
            text: operand.text.clone(),
        };
        let mut select = Select::of(vec![item], None);
        select.subqueries = operand.value.subqueries.clone();
        let text = format!("SELECT {}", operand.text);
        let statement = Statement::Select(Box::new(select));
        let stmt = narwal_sql::lower(statement, &self.parse_options())?;
        let plan = self.plan(&stmt, &text)?;
        if self.logs_statements() {
            self.check_repeatable(&plan)?;
        }
        self.check_table_locks(plan.needs())?;
        if !plan.needs().is_empty() {
            self.refuse_behind_xa_end()?;
        }
        let mut value = OneValue::default();
        let r = self.run_query(&plan, &mut value);
        let ty = (plan.columns().first()).map_or(ColumnType::int(), |c| c.ty);
        r.map(|()| (value.0, ty))
    }

    /// Runs a planned SELECT in the open transaction, or in one of its own.
    pub(crate) fn run_query(&mut self, plan: &Prepared, out: &mut dyn ResultSink) -> SqlResult<()> {
        let tableless = plan.is_tableless() && !plan.calls_stored();
        let mut kept = self.tx.open.is_some();
        let mut open = match self.tx.open.take() {
            Some(o) => o,
            None => self.begin_transaction(None),
        };
        self.env.locking_reads = kept && open.isolation == Isolation::Serializable;
        if !tableless {
            open.txn.begin_statement(self.env.timestamp(), None);
        }
        let db = self.instance.database();
        let r = narwal_sql::execute(plan, &[], &mut open.txn, db, &mut self.env, out);
        if !tableless {
            match &r {
                Ok(_) => open.txn.end_statement(),
                Err(_) => open.txn.rollback_statement(),
            }
        }
        // What a function has written waits for COMMIT, if nothing else has it written.
        kept |= r.is_ok() && !self.settings.autocommit && !open.txn.is_read_only();
        if kept {
            self.tx.open = Some(open);
        } else if r.is_ok() && !open.txn.is_read_only() {
            // A function has written.
            self.commit_transaction(open.txn)?;
        }
        r.map(drop)
    }
}

/// Takes the first value of a result.
#[derive(Default)]
struct OneValue(Value);

impl ResultSink for OneValue {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0 = values.first().map(ValueRef::to_value).unwrap_or_default();
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}
