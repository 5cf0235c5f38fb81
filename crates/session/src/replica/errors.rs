//! Errors and notes about connections, as MariaDB gives them.

use narwal_sql::{Condition, WarningLevel};
use narwal_types::SqlError;
use narwal_types::errors;

/// Error 1617: there is no such connection.
pub fn no_connection(name: &str) -> SqlError {
    errors::WARN_NO_MASTER_INFO.text(no_connection_text(name))
}

/// The text of error 1617.
pub(crate) fn no_connection_text(name: &str) -> String {
    format!("There is no master connection '{name}'")
}

/// Error 1198: the connection has to be stopped first.
pub fn must_stop(name: &str) -> SqlError {
    errors::SLAVE_MUST_STOP.with([&name, &name])
}

/// Error 1200: the connection has no host, or there is none.
pub fn not_configured() -> SqlError {
    errors::BAD_SLAVE.text(
        "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO",
    )
}

/// Error 1192.
pub(crate) fn locked_or_in_transaction() -> SqlError {
    errors::LOCK_OR_ACTIVE_TRANSACTION.plain()
}

/// A note.
pub fn note(code: u16, text: impl Into<String>) -> Condition {
    Condition {
        level: WarningLevel::Note,
        code,
        message: text.into().into(),
        row: 0,
        raised: None,
    }
}

/// A warning.
pub fn warning(code: u16, text: impl Into<String>) -> Condition {
    Condition {
        level: WarningLevel::Warning,
        code,
        message: text.into().into(),
        row: 0,
        raised: None,
    }
}
