//! PREPARE, EXECUTE and DEALLOCATE PREPARE in SQL text, over the session's prepared statements. A statement with
//! parameters is planned anew for each EXECUTE, with their values as constants: result columns have their types.

use crate::admin::Operand;
use crate::session::ClientSession;
use crate::slots::{Execution, SlotKind};
use crate::status;
use crate::words::{SqlPrepared, Using};
use narwal_sql::VariableSource;
use narwal_syntax::ast::Expr;
use narwal_types::errors;
use narwal_types::{ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::sync::atomic::Ordering;

/// Error 1295.
pub(crate) fn not_preparable() -> SqlError {
    errors::UNSUPPORTED_PS.plain()
}

fn unknown(name: &str, verb: &str) -> SqlError {
    errors::UNKNOWN_STMT_HANDLER.with([&name, &verb])
}

impl ClientSession {
    /// Runs one.
    pub(crate) fn run_sql_prepared(
        &mut self,
        statement: &SqlPrepared,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let counter = status::counter(statement.counter());
        // A program's handlers look at what its last statement left.
        self.begin_statement(counter, self.in_program == 0);
        match statement {
            SqlPrepared::Prepare { name, from } => {
                self.drop_named(name);
                let earlier = self.take_inherited();
                match self.prepare_from(from) {
                    Ok(handle) => {
                        // One that has looked at tables has opened them.
                        let opened = matches!(
                            self.prepared.get(handle).map(|s| &s.kind),
                            Some(SlotKind::Sql {
                                keeps_diagnostics: false,
                                ..
                            })
                        );
                        if !opened {
                            self.leave_inherited(earlier);
                        }
                        self.prepared.set_name(name, handle);
                        self.track.state_changed();
                        self.finish_ok(0, 0, "Statement prepared".to_string(), out, more)
                    }
                    Err(e) => self.fail(e),
                }
            }
            SqlPrepared::Execute { name, using } => match self.prepared.by_name(name) {
                Some(handle) => self.execute_using(handle, using, out, more),
                None => self.fail(unknown(name, "EXECUTE")),
            },
            SqlPrepared::Immediate { from, using } => match self.prepare_from(from) {
                Ok(handle) => {
                    let r = self.execute_using(handle, using, out, more);
                    self.forget_handle(handle);
                    r
                }
                Err(e) => self.fail(e),
            },
            SqlPrepared::Deallocate(name) => {
                if !self.drop_named(name) {
                    return self.fail(unknown(name, "DEALLOCATE PREPARE"));
                }
                self.track.state_changed();
                self.finish_ok(0, 0, String::new(), out, more)
            }
        }
    }

    /// Prepares the statement whose text an expression gives.
    fn prepare_from(&mut self, expr: &Operand) -> SqlResult<u32> {
        let text = match self.evaluate(expr)? {
            Value::Null => b"NULL".to_vec(),
            Value::Str(s) => s.as_bytes().to_vec(),
            // Bytes are text of the client, as if it had sent them.
            Value::Bytes(b) => match self.of_client(&b) {
                Some(text) => text.into_bytes(),
                None => b.to_vec(),
            },
            v => {
                let mut text = Vec::new();
                v.as_ref().write_text(&mut text);
                text
            }
        };
        Ok(self.prepare_text(&text)?.handle)
    }

    fn execute_using(
        &mut self,
        handle: u32,
        using: &[Using],
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let values = using
            .iter()
            .map(|u| match u {
                Using::Value(e) => self.evaluate(e),
                Using::LeftOut(_) => Ok(Value::Null),
            })
            .collect::<SqlResult<Vec<Value>>>();
        let values = match values {
            Ok(v) => v,
            Err(e) => return self.fail(e),
        };
        let Some(slot) = self.prepared.get(handle) else {
            return self.fail(SqlError::unknown("the statement is gone"));
        };
        let text = slot.text.clone();
        let wanted = match &slot.kind {
            SlotKind::Sql { plan, .. } => plan.params(),
            SlotKind::Program(_, wanted) | SlotKind::Other(_, wanted) => *wanted,
            _ => 0,
        };
        if wanted != values.len() {
            return self.fail(errors::WRONG_ARGUMENTS.with([&"EXECUTE"]));
        }
        self.out_values.clear();
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        *self.env.bound_params.borrow_mut() = values.clone();
        *self.env.param_defaults.borrow_mut() = using
            .iter()
            .map(|u| match u {
                Using::Value(_) => None,
                Using::LeftOut(d) => Some(*d),
            })
            .collect();
        let r = self.execute_slot(Execution {
            handle,
            text: &text,
            params: &refs,
            out,
            more,
        });
        if self.instance.audit.wants_statements() {
            self.audit_statement(&text, &r);
        }
        self.env.bound_params.borrow_mut().clear();
        self.env.param_defaults.borrow_mut().clear();
        for (u, v) in using.iter().zip(&self.out_values) {
            if let (Using::Value(o), Some(v)) = (u, v)
                && let Expr::UserVar(name) = &o.value.expr
            {
                self.vars.set_user(name, v.clone());
            }
        }
        r
    }

    /// Forgets a statement by its name; false if there is none.
    fn drop_named(&mut self, name: &str) -> bool {
        match self.prepared.take_name(name) {
            Some(handle) => {
                self.forget_handle(handle);
                true
            }
            None => false,
        }
    }

    fn forget_handle(&mut self, handle: u32) {
        if self.prepared.remove(handle) {
            self.instance
                .prepared_statements
                .fetch_sub(1, Ordering::Relaxed);
        }
    }
}
