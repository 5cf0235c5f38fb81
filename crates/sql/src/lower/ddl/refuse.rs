//! What the grammar knows and this server does not do yet: error 1235, by name.

use narwal_syntax::ast::ddl as syntax;
use narwal_types::{SqlError, SqlResult};

/// 1235 for something that MariaDB has and Narwal has not.
pub(super) fn unsupported<T>(what: impl Into<String>) -> SqlResult<T> {
    Err(SqlError::unsupported(what.into()))
}

/// 1235 if WAIT or NOWAIT was said.
pub(super) fn no_wait(wait: Option<syntax::MetadataWait>) -> SqlResult<()> {
    match wait {
        Some(_) => unsupported("WAIT and NOWAIT in DDL"),
        None => Ok(()),
    }
}
