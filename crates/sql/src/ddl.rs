//! DDL statements as catalog changes.

use crate::ast::DdlStmt;
use crate::env::StatementEnv;
use crate::prepared::Outcome;
use crate::privilege::Needs;
use narwal_engine::{Database, TxnOptions};
use narwal_types::SqlResult;

/// Privileges that a DDL statement needs.
pub fn ddl_needs(_stmt: &DdlStmt, _env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    todo!()
}

/// Runs a DDL statement. `text`: the statement as written, for the log. The session has committed its transaction.
pub fn execute_ddl(
    _stmt: &DdlStmt,
    _text: &str,
    _db: &Database,
    _options: &TxnOptions,
    _env: &StatementEnv,
) -> SqlResult<Outcome> {
    todo!()
}
