//! NARWAL_BINLOG_READERS: who reads the binary log, and how far behind.

use super::{Rows, View};
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::SqlResult;

/// One row for each replica or reader that is attached.
pub(super) fn rows(_view: &View, _env: &StatementEnv, _wanted: &Wanted) -> SqlResult<Rows> {
    Ok(Vec::new())
}
