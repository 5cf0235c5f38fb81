//! NARWAL_BINLOG_READERS: who reads the binary log, and how far behind.

use super::rows::Rows;
use super::tables::unix_time;
use crate::privileges::PrivilegeSet;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{SqlResult, Value};

/// One row for each replica or other reader that is attached: one's own, or all with PROCESS.
pub(super) fn rows(view: &View, env: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let all = view.account.global.has(PrivilegeSet::PROCESS);
    let yes = |b: bool| Value::str(if b { "YES" } else { "NO" });
    Ok(view
        .instance
        .source()
        .readers()
        .into_iter()
        .filter(|r| all || r.user == view.user)
        .map(|r| {
            vec![
                Value::UInt(u64::from(r.connection_id)),
                Value::str(r.user),
                Value::str(r.host),
                Value::UInt(u64::from(r.server_id)),
                unix_time(r.since, env.time_zone),
                yes(r.by_gtid),
                yes(r.semi_sync),
                Value::str(r.file),
                Value::UInt(r.at.pos),
                Value::str(r.at.gtid.to_string()),
                Value::UInt(r.groups),
                Value::UInt(r.events),
                Value::UInt(r.bytes),
                Value::UInt(r.lag_bytes),
                Value::UInt(r.lag_transactions),
                Value::UInt(r.lag_seconds),
            ]
        })
        .collect())
}
