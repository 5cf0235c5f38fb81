//! Stored programs: procedures, functions and triggers.
//!
//! | file | holds |
//! |---|---|
//! | `definition.rs` | definitions in the catalog |
//! | `define.rs` | CREATE, ALTER and DROP |
//! | `runtime.rs` | programs compiled and kept; functions and triggers called |
//! | `nested.rs` | where functions and triggers run |
//! | `call.rs` | where procedures and compound statements run: CALL |
//! | `rights.rs` | with whose privileges |
//! | `show.rs` | SHOW and the virtual tables |

mod call;
mod define;
pub(crate) mod definition;
mod nested;
mod rights;
mod runtime;
pub(crate) mod show;

pub(crate) use runtime::SessionPrograms;

use crate::session_vars::SessionVars;
use definition::Stored;
use narwal_program::Program;
use narwal_sql::{StatementEnv, VariableScope, VariableSource};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};
use runtime::Unit;
use std::sync::Arc;

/// Error 1305.
fn no_procedure(db: &str, name: &str) -> SqlError {
    let full = format!("{db}.{name}");
    errors::SP_DOES_NOT_EXIST.with([&"PROCEDURE", &full])
}

/// A procedure by the name that CALL has.
fn find_procedure(
    programs: &SessionPrograms,
    name: &[String],
    env: &StatementEnv,
) -> SqlResult<Arc<Unit>> {
    let (db, name) = match name {
        [name] => (env.require_db()?.to_string(), name),
        [db, name] => (db.clone(), name),
        _ => return Err(SqlError::unsupported("packages")),
    };
    programs
        .unit(Stored::Procedure, &db, name, env)?
        .ok_or_else(|| no_procedure(&db, name))
}

/// A call that is one deeper, until it is dropped.
struct Deeper {
    vars: Arc<SessionVars>,
}

impl Deeper {
    /// Error 1456 beyond `max_sp_recursion_depth`.
    fn new(vars: &Arc<SessionVars>, program: &Program) -> SqlResult<Deeper> {
        let limit = vars.system(VariableScope::Session, "max_sp_recursion_depth")?;
        let limit = match limit {
            Value::Int(n) => n,
            Value::UInt(n) => i64::try_from(n).unwrap_or(0),
            _ => 0,
        };
        let mut calls = vars.calls.lock();
        let me = (program.db.clone(), program.name.to_lowercase());
        let depth = calls.iter().filter(|c| **c == me).count();
        if depth as i64 > limit {
            return Err(errors::SP_RECURSION_LIMIT.with([&limit, &program.name]));
        }
        calls.push(me);
        drop(calls);
        Ok(Deeper { vars: vars.clone() })
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        self.vars.calls.lock().pop();
    }
}
