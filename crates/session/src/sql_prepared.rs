//! PREPARE, EXECUTE and DEALLOCATE PREPARE in SQL text, over the session's prepared statements. A statement with
//! parameters is planned anew for each EXECUTE, with their values as constants: result columns have their types.

use crate::lex::Cursor;
use crate::prepared::SlotKind;
use crate::session::ClientSession;
use crate::status;
use narwal_sql::ParamDefault;
use narwal_types::errors;
use narwal_types::{ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::sync::atomic::Ordering;

/// What stands behind USING.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Using {
    /// An expression.
    Value(String),
    /// DEFAULT or IGNORE.
    LeftOut(ParamDefault),
}

/// One of these statements. Texts of expressions stand as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SqlPrepared {
    /// PREPARE name FROM expression.
    Prepare { name: String, from: String },
    /// EXECUTE name USING ...
    Execute { name: String, using: Vec<Using> },
    /// EXECUTE IMMEDIATE expression USING ...
    Immediate { from: String, using: Vec<Using> },
    /// DEALLOCATE PREPARE, DROP PREPARE.
    Deallocate(String),
}

impl SqlPrepared {
    /// Its status counter.
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            SqlPrepared::Prepare { .. } => "Com_prepare_sql",
            SqlPrepared::Execute { .. } => "Com_execute_sql",
            SqlPrepared::Immediate { .. } => "Com_execute_immediate",
            SqlPrepared::Deallocate(_) => "Com_dealloc_sql",
        }
    }
}

/// Parses what stands behind PREPARE.
pub(crate) fn prepare(c: &mut Cursor<'_>) -> SqlResult<SqlPrepared> {
    let name = c.ident()?;
    c.expect_kw("FROM")?;
    Ok(SqlPrepared::Prepare {
        name,
        from: c.expression_text()?.to_string(),
    })
}

/// Parses what stands behind EXECUTE.
pub(crate) fn execute(c: &mut Cursor<'_>) -> SqlResult<SqlPrepared> {
    if c.eat_kw("IMMEDIATE") {
        let from = c.expression_text_before("USING")?.to_string();
        return Ok(SqlPrepared::Immediate {
            from,
            using: using(c)?,
        });
    }
    Ok(SqlPrepared::Execute {
        name: c.ident()?,
        using: using(c)?,
    })
}

fn using(c: &mut Cursor<'_>) -> SqlResult<Vec<Using>> {
    let mut out = Vec::new();
    if c.eat_kw("USING") {
        loop {
            let text = c.expression_text()?;
            out.push(match text.to_ascii_uppercase().as_str() {
                "DEFAULT" => Using::LeftOut(ParamDefault::Default),
                "IGNORE" => Using::LeftOut(ParamDefault::Ignore),
                _ => Using::Value(text.to_string()),
            });
            if !c.eat_punct(b',') {
                break;
            }
        }
    }
    Ok(out)
}

/// Parses what stands behind DEALLOCATE or DROP.
pub(crate) fn deallocate(c: &mut Cursor<'_>) -> SqlResult<SqlPrepared> {
    c.expect_kw("PREPARE")?;
    Ok(SqlPrepared::Deallocate(c.ident()?))
}

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
        let counter = status::index(statement.counter()).unwrap_or(status::ADMIN_COMMANDS);
        self.begin_statement(counter, false);
        match statement {
            SqlPrepared::Prepare { name, from } => {
                self.drop_named(name);
                match self.prepare_from(from) {
                    Ok(handle) => {
                        self.named.insert(name.to_lowercase(), handle);
                        self.track.state_changed();
                        self.finish_ok(0, 0, "Statement prepared".to_string(), out, more)
                    }
                    Err(e) => self.fail(e),
                }
            }
            SqlPrepared::Execute { name, using } => match self.named.get(&name.to_lowercase()) {
                Some(handle) => self.execute_using(*handle, using, out, more),
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
    fn prepare_from(&mut self, expr: &str) -> SqlResult<u32> {
        let text = match self.evaluate(expr)? {
            Value::Null => b"NULL".to_vec(),
            Value::Str(s) => s.as_bytes().to_vec(),
            Value::Bytes(b) => b.to_vec(),
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
        let Some(slot) = self.prepared.get(&handle) else {
            return self.fail(SqlError::unknown("the statement is gone"));
        };
        let text = slot.text.clone();
        let wanted = match &slot.kind {
            SlotKind::Sql { plan, .. } => plan.params(),
            _ => 0,
        };
        if wanted != values.len() {
            return self.fail(errors::WRONG_ARGUMENTS.with([&"EXECUTE"]));
        }
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        *self.env.bound_params.borrow_mut() = values.clone();
        *self.env.param_defaults.borrow_mut() = using
            .iter()
            .map(|u| match u {
                Using::Value(_) => None,
                Using::LeftOut(d) => Some(*d),
            })
            .collect();
        let r = self.execute_slot(handle, &text, &refs, out, more);
        if self.instance.audit.wants_statements() {
            self.audit_statement(&text, &r);
        }
        self.env.bound_params.borrow_mut().clear();
        self.env.param_defaults.borrow_mut().clear();
        r
    }

    /// Forgets a statement by its name; false if there is none.
    fn drop_named(&mut self, name: &str) -> bool {
        match self.named.remove(&name.to_lowercase()) {
            Some(handle) => {
                self.forget_handle(handle);
                true
            }
            None => false,
        }
    }

    fn forget_handle(&mut self, handle: u32) {
        if let Some(slot) = self.prepared.remove(&handle) {
            self.prepared_bytes -= slot.bytes;
            self.instance
                .prepared_statements
                .fetch_sub(1, Ordering::Relaxed);
        }
    }
}
