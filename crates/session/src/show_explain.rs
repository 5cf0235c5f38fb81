//! SHOW EXPLAIN, SHOW ANALYZE and EXPLAIN FOR CONNECTION: the plan of what another connection runs.
//!
//! The statement's text is planned once more, in the other connection's database. So the other connection need not stop
//! for the question, and a statement does not keep its plan for others to see.

use crate::acl;
use crate::information_schema::InformationSchema;
use crate::lower::{self, Work};
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::words::ExplainConnection;
use narwal_sql::Stmt;
use narwal_syntax::Expr;
use narwal_syntax::ast::ExplainForm;
use narwal_syntax::ast::admin::Operand;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlResult, Value};
use std::sync::Arc;

/// True for an expression whose value is known without a session.
fn is_constant(e: &Expr) -> bool {
    match e {
        Expr::Literal(_) | Expr::Param(_) => true,
        Expr::Nested(e) | Expr::Unary { expr: e, .. } => is_constant(e),
        Expr::Binary { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}

impl ClientSession {
    /// Shows the plan.
    ///
    /// # Errors
    /// 1204 if the number is no constant, 1094 if there is no such connection, 1227 if it is another account's, 1933 if it
    /// runs nothing that has a plan.
    pub(crate) fn explain_connection(&mut self, what: &ExplainConnection) -> SqlResult<Grid> {
        let id = self.connection_number(&what.connection)?;
        let unknown = || errors::NO_SUCH_THREAD.with([&id]);
        let id32 = u32::try_from(id).map_err(|_| unknown())?;
        let target = self.instance.processes.get(id32).ok_or_else(unknown)?;
        let identity = target.identity.lock().clone();
        let account = self.account();
        if identity.user != self.client.user && !account.global.has(PrivilegeSet::PROCESS) {
            return Err(acl::privilege_needed(PrivilegeSet::PROCESS));
        }
        let not_now = || errors::TARGET_NOT_EXPLAINABLE.plain();
        if id32 == self.client.id {
            return Err(not_now());
        }
        let text = target.running_text().ok_or_else(not_now)?;
        let stmt = self.explainable(&text).ok_or_else(not_now)?;
        let rows = self.rows_for_connection(&stmt, what.form(), identity.db);
        let rows = rows.ok_or_else(not_now)?;
        self.env.note(codes::YES, text);
        Ok(Grid {
            columns: what.columns(),
            rows,
            condition: None,
        })
    }

    /// The number as MariaDB reads it.
    fn connection_number(&mut self, operand: &Operand) -> SqlResult<u64> {
        if !operand.value.subqueries.is_empty() || !is_constant(&operand.value.expr) {
            return Err(errors::SET_CONSTANTS_ONLY.plain());
        }
        let value = self.evaluate(operand)?;
        let mut warnings = narwal_types::convert::NoWarnings;
        let n = narwal_types::convert::to_integer(value.as_ref(), &mut warnings);
        if let Value::Str(s) = &value
            && s.trim().parse::<i64>().is_err()
        {
            let message = format!("Truncated incorrect INTEGER value: '{s}'");
            self.env.warn(codes::TRUNCATED_WRONG_VALUE, message);
        }
        Ok(u64::try_from(n).unwrap_or(0))
    }

    /// A text as a statement that has a plan.
    fn explainable(&self, text: &str) -> Option<Stmt> {
        let options = self.parse_options();
        let statement = narwal_syntax::parse_text(text, &options).ok()?;
        let Work::Sql(stmt) = lower::work(statement, &options).ok()? else {
            return None;
        };
        match stmt {
            Stmt::Select(_)
            | Stmt::Insert(_)
            | Stmt::Update(_)
            | Stmt::Delete(_)
            | Stmt::WriteJoin(_) => Some(stmt),
            Stmt::SelectInto(s) => Some(Stmt::Select(s.select)),
            // What ANALYZE runs has a plan like any other statement.
            Stmt::Explain(inner, form) if form.runs() => Some(*inner),
            _ => None,
        }
    }

    /// Plans it in a database.
    fn rows_for_connection(
        &mut self,
        stmt: &Stmt,
        form: ExplainForm,
        db: Option<Arc<str>>,
    ) -> Option<Vec<Vec<Value>>> {
        let catalog = self.instance.database().catalog();
        let own = std::mem::replace(&mut self.env.db, db);
        let tables = InformationSchema(self);
        let database = self.instance.database();
        let rows = narwal_sql::explain(stmt, form, database, &catalog, &self.env, Some(&tables));
        self.env.db = own;
        rows.ok()
    }
}
