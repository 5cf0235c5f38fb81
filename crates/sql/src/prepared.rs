//! A statement bound and planned once, and its execution.

use crate::ast::{AstExpr, Stmt};
use crate::env::StatementEnv;
use crate::privilege::Needs;
use crate::virtual_tables::VirtualTables;
use narwal_engine::{Catalog, Database, Transaction};
use narwal_types::{ResultColumn, ResultSink, SqlResult, Value};
use std::sync::Arc;

/// A statement bound and planned against one catalog version and one default database. Not for DDL.
pub struct Prepared {}

/// What a statement did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A result set: `begin_rows` and the rows went to the sink; `end_rows` is the session's.
    Rows {
        /// Rows sent.
        rows: u64,
        /// FOUND_ROWS() for the next statement.
        found_rows: u64,
    },
    /// No result set.
    Done {
        /// Affected rows, for the OK packet and ROW_COUNT().
        affected: u64,
        /// First generated AUTO_INCREMENT value, for the OK packet and LAST_INSERT_ID(); 0 = none, keep the old one.
        last_insert_id: u64,
        /// The OK packet's text.
        info: String,
    },
}

impl Prepared {
    /// Binds and plans. `virtual_tables` serves `information_schema` and the like, if there is such.
    pub fn new(
        _stmt: &Stmt,
        _text: &str,
        _db: &Database,
        _catalog: &Arc<Catalog>,
        _env: &StatementEnv,
        _virtual_tables: Option<&dyn VirtualTables>,
    ) -> SqlResult<Prepared> {
        todo!()
    }

    /// The catalog version that it was planned for.
    pub fn catalog_version(&self) -> u64 {
        todo!()
    }

    /// Number of `?`.
    pub fn params(&self) -> usize {
        todo!()
    }

    /// Columns of the result set; empty if there is none.
    pub fn columns(&self) -> &[ResultColumn] {
        todo!()
    }

    /// True if it never writes and takes no row locks.
    pub fn is_read_only(&self) -> bool {
        todo!()
    }

    /// True if it touches no table at all (`SELECT 1`).
    pub fn is_tableless(&self) -> bool {
        todo!()
    }

    /// Privileges that it needs.
    pub fn needs(&self) -> &[Needs] {
        todo!()
    }
}

/// Runs a prepared statement. The session has called `txn.begin_statement` and will call `end_statement` or
/// `rollback_statement`. `params` must be as many as [`Prepared::params`] says.
pub fn execute(
    _prepared: &Prepared,
    _params: &[Value],
    _txn: &mut Transaction,
    _db: &Database,
    _env: &mut StatementEnv,
    _sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    todo!()
}

/// Evaluates a lone expression without tables, as in `SET x = <expr>`.
pub fn evaluate(_expr: &AstExpr, _env: &StatementEnv) -> SqlResult<Value> {
    todo!()
}
