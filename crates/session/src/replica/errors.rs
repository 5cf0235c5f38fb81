//! Errors and notes about connections, as MariaDB gives them.

use narwal_sql::{Condition, WarningLevel};
use narwal_types::SqlError;

/// Error 1617: there is no such connection.
pub fn no_connection(name: &str) -> SqlError {
    SqlError::new(1617, b"HY000", no_connection_text(name))
}

/// The text of error 1617.
pub(crate) fn no_connection_text(name: &str) -> String {
    format!("There is no master connection '{name}'")
}

/// Error 1198: the connection has to be stopped first.
pub fn must_stop(name: &str) -> SqlError {
    SqlError::new(
        1198,
        b"HY000",
        format!(
            "This operation cannot be performed as you have a running slave '{name}'; run STOP SLAVE '{name}' first"
        ),
    )
}

/// Error 1200: the connection has no host, or there is none.
pub fn not_configured() -> SqlError {
    SqlError::new(
        1200,
        b"HY000",
        "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO",
    )
}

/// Error 1192.
pub(crate) fn locked_or_in_transaction() -> SqlError {
    SqlError::new(
        1192,
        b"HY000",
        "Can't execute the given command because you have active locked tables or an active transaction",
    )
}

/// A note.
pub fn note(code: u16, text: impl Into<String>) -> Condition {
    Condition {
        level: WarningLevel::Note,
        code,
        message: text.into().into(),
    }
}

/// A warning.
pub fn warning(code: u16, text: impl Into<String>) -> Condition {
    Condition {
        level: WarningLevel::Warning,
        code,
        message: text.into().into(),
    }
}
