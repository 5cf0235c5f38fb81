//! Errors as a MySQL client sees them: code, SQLSTATE, message.

/// The result of anything a statement does.
pub type SqlResult<T> = Result<T, SqlError>;

/// An error with MySQL's number and SQLSTATE.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ERROR {code} ({}): {message}", self.sqlstate_str())]
pub struct SqlError {
    /// MySQL/MariaDB error number.
    pub code: u16,
    /// Five characters.
    pub sqlstate: [u8; 5],
    /// Text for a person.
    pub message: Box<str>,
}

impl SqlError {
    /// An error by its parts.
    pub fn new(code: u16, sqlstate: &[u8; 5], message: impl Into<Box<str>>) -> Self {
        SqlError {
            code,
            sqlstate: *sqlstate,
            message: message.into(),
        }
    }

    /// SQLSTATE as text.
    pub fn sqlstate_str(&self) -> &str {
        std::str::from_utf8(&self.sqlstate).unwrap_or("HY000")
    }
}
