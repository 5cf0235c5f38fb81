//! Where result sets go: implemented by the wire protocol and by tests.

use crate::errors;
use crate::{Collation, ColumnType, SqlResult, ValueRef};
use std::sync::Arc;

/// A column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultColumn {
    /// Database of the column's table, or empty.
    pub db: String,
    /// Table alias, or empty.
    pub table: String,
    /// Real table name, or empty.
    pub org_table: String,
    /// Column name or alias as the client sees it.
    pub name: String,
    /// Real column name, or empty.
    pub org_name: String,
    /// Type the values are sent as.
    pub ty: ColumnType,
    /// False only when NULL can't occur.
    pub nullable: bool,
    /// Display length in characters, 0 to derive it from the type.
    pub length: u32,
    /// Digits after the point (39 = not fixed, for floating point).
    pub decimals: u8,
    /// Column flags: primary key.
    pub primary_key: bool,
    /// Column flags: part of a unique key.
    pub unique_key: bool,
    /// Column flags: part of a non-unique key.
    pub multiple_key: bool,
    /// Column flags: AUTO_INCREMENT.
    pub auto_increment: bool,
    /// Column flags: NOT NULL without a default.
    pub no_default: bool,
    /// Column flags: a TIMESTAMP that CURRENT_TIMESTAMP is the default of, or that becomes it.
    pub set_by_time: bool,
    /// Column flags: ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// True for the NULL literal's column (protocol type MYSQL_TYPE_NULL).
    pub null_type: bool,
    /// True for text that is known to be JSON (MARIADB_CLIENT_EXTENDED_METADATA).
    pub json: bool,
}

/// What an OK packet says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OkInfo {
    /// Rows changed (or found, with CLIENT_FOUND_ROWS).
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value, or 0.
    pub last_insert_id: u64,
    /// Number of warnings.
    pub warnings: u16,
    /// Human-readable information, e.g. `Records: 3  Duplicates: 0  Warnings: 0`.
    pub info: String,
}

/// What has changed in a session: told to a client that tracks it (CLIENT_SESSION_TRACK).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// A system variable was set: its name, and its value as text.
    Variable(&'static str, String),
    /// The default database, empty if there is none.
    Schema(String),
    /// Something that another session would not have: variables, prepared statements, temporary tables.
    State,
    /// Eight marks that say what the open transaction is and did.
    Transaction([u8; 8]),
    /// The statements that would begin such a transaction again.
    Characteristics(String),
}

/// Sends the answer to a commit that the connection's thread has not waited for.
pub trait LateAnswer: Send + Sync + std::fmt::Debug {
    /// The commit is done, or has failed with this error. Called once a commit, by a thread that does the same for other
    /// connections: it must not block.
    fn send(&self, outcome: SqlResult<()>);
}

/// Receives the results of statements, one after another. For each statement that succeeds exactly one of
/// `ok` or (`begin_rows`, `row`*, `end_rows`) is called. The implementation asks the session for its status flags.
pub trait ResultSink {
    /// Starts a result set.
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()>;
    /// As `begin_rows`, with columns that belong to a plan: as long as they are the same, so are those of its next run.
    fn begin_plan_rows(&mut self, columns: &Arc<[ResultColumn]>) -> SqlResult<()> {
        self.begin_rows(columns)
    }
    /// One row: as many values as columns. An error means that the client is gone: stop.
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()>;
    /// Ends a result set. `more`: another result follows in this command. `status`: server status flags (SERVER_STATUS_*).
    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()>;
    /// A statement without rows succeeded.
    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()>;
    /// Whether another result may follow one of rows. A client that does not know of several takes the first for the last.
    fn takes_several(&self) -> bool {
        true
    }
    /// What the client is to be told with the `ok` or `end_rows` that follows.
    fn session_changes(&mut self, _changes: &[SessionChange]) {}
    /// `character_set_results` is another from here on: the collation that stands for it, `None` for text as it is stored.
    fn set_results(&mut self, _collation: Option<Collation>) {}
    /// LOAD DATA LOCAL: asks the client for one of its files.
    ///
    /// # Errors
    /// 4166 if the client sends none, or this sink has no client.
    fn open_local_file(&mut self, _name: &str) -> SqlResult<()> {
        Err(no_local_files())
    }
    /// Appends the next piece of that file; false at its end.
    ///
    /// # Errors
    /// The client is gone.
    fn read_local_file(&mut self, _into: &mut Vec<u8>) -> SqlResult<bool> {
        Ok(false)
    }
    /// Sends what was given so far: a row that somebody is waiting for while the next one takes time.
    fn flush(&mut self) -> SqlResult<()> {
        Ok(())
    }
}

/// Takes results that nobody wants.
#[derive(Debug)]
pub struct Discard;

impl ResultSink for Discard {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, _: &[ValueRef<'_>]) -> SqlResult<()> {
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

/// Error 4166.
pub fn no_local_files() -> crate::SqlError {
    errors::LOAD_INFILE_CAPABILITY_DISABLED.plain()
}
