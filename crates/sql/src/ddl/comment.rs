//! Comments of definitions: how long they may be.

use crate::env::StatementEnv;
use narwal_types::SqlResult;
use narwal_types::errors::{self, ErrorKind};
use std::fmt::Display;

/// What a comment is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Commented {
    Database,
    Table,
    Column,
    Index,
}

impl Commented {
    /// Most characters, and what is said of more.
    fn limit(self) -> (usize, ErrorKind<2>) {
        match self {
            Commented::Database => (1024, errors::TOO_LONG_DATABASE_COMMENT),
            Commented::Table => (2048, errors::TOO_LONG_TABLE_COMMENT),
            Commented::Column => (1024, errors::TOO_LONG_FIELD_COMMENT),
            Commented::Index => (1024, errors::TOO_LONG_INDEX_COMMENT),
        }
    }
}

/// A comment as it is kept. One that is too long is an error in a strict mode, else it is cut, with a warning.
pub(super) fn comment(
    text: &str,
    of: Commented,
    name: &dyn Display,
    env: &StatementEnv,
) -> SqlResult<String> {
    let (most, error) = of.limit();
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Ok(text.to_string());
    };
    let e = error.with([&name, &most]);
    if env.sql_mode.strict() {
        return Err(e);
    }
    env.warn(e.code, e.message);
    Ok(text[..end].to_string())
}
