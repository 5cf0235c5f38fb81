//! Errors of the registry that many places make. They are not in `error.rs`, since the registry stands above that.

use crate::{SqlError, errors};

impl From<narwal_memory::Refused> for SqlError {
    #[cold]
    fn from(e: narwal_memory::Refused) -> Self {
        match e {
            narwal_memory::Refused::Session(limit) => errors::OPTION_PREVENTS_STATEMENT
                .with([&format_args!("--max-session-mem-used={limit}")]),
            narwal_memory::Refused::Server => errors::OUT_OF_RESOURCES.plain(),
        }
    }
}

impl SqlError {
    /// Error 4078: no value of such a type (`from`) becomes one of the column's (`to`).
    pub fn cannot_cast(from: &str, to: &str, db: &str, table: &str, column: &str) -> Self {
        errors::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION.text(format!(
            "Cannot cast '{from}' as '{to}' in assignment of `{db}`.`{table}`.`{column}`"
        ))
    }

    /// Error 4078: a row where a variable takes one value, of this type (`to`).
    pub fn no_row(to: &str, variable: &str) -> Self {
        errors::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION.text(format!(
            "Cannot cast 'row' as '{to}' in assignment of `{variable}`"
        ))
    }

    /// 1235: a feature Narwal does not have yet.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        errors::NOT_SUPPORTED_YET.with([&what])
    }

    /// 1064: a syntax error.
    pub fn syntax(what: impl std::fmt::Display) -> Self {
        errors::PARSE_ERROR.with([&what])
    }

    /// 1105: an error that has no number of its own.
    pub fn unknown(what: impl std::fmt::Display) -> Self {
        errors::UNKNOWN_ERROR.text(what.to_string())
    }
}
