//! Why an event could not be applied.

use narwal_engine::EngineError;
use narwal_types::SqlError;
use narwal_types::errors::codes;

/// Why an event could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", if *.code == 0 { String::new() } else { format!(" (error {})", .code) })]
pub struct ApplyError {
    /// MySQL's number of the error, 0 if it has none.
    pub code: u16,
    /// What happened.
    pub message: String,
    /// The table that it happened to, `database.table`.
    pub table: Option<String>,
    /// The statement that it happened to, cut after some hundred bytes.
    pub statement: Option<String>,
    /// The kind of rows event that it happened in, as MariaDB names it.
    pub event: Option<&'static str>,
}

impl ApplyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ApplyError {
            code: 0,
            message: message.into(),
            table: None,
            statement: None,
            event: None,
        }
    }

    /// The events of a group do not make one.
    pub fn malformed(what: &str) -> Self {
        ApplyError::new(what)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        ApplyError {
            code: codes::NOT_SUPPORTED_YET,
            ..ApplyError::new(message)
        }
    }

    pub(crate) fn on(mut self, table: impl Into<String>) -> Self {
        self.table = Some(table.into());
        self
    }

    pub(crate) fn of(mut self, statement: &str) -> Self {
        let end = statement.floor_char_boundary(300);
        let more = if end < statement.len() { "..." } else { "" };
        self.statement = Some(format!("{}{more}", &statement[..end]));
        self
    }
}

impl From<SqlError> for ApplyError {
    fn from(e: SqlError) -> Self {
        ApplyError {
            code: e.code,
            ..ApplyError::new(e.message)
        }
    }
}

impl From<EngineError> for ApplyError {
    fn from(e: EngineError) -> Self {
        e.to_sql().into()
    }
}

impl From<narwal_binlog::BinlogError> for ApplyError {
    fn from(e: narwal_binlog::BinlogError) -> Self {
        ApplyError::new(e.to_string())
    }
}
