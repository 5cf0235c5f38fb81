//! Errors as SHOW SLAVE STATUS shows them.

use super::Progress;
use crate::queue::GroupHead;
use narwal_session::apply::ApplyError;
use narwal_types::errors::codes;

/// What stands for an error without a number: the events are not what they should be (ER_SLAVE_CORRUPT_EVENT).
const CORRUPT: u16 = codes::SLAVE_CORRUPT_EVENT;

/// True if the group may succeed when it is tried again: lock wait timeout, deadlock, a row or table that has changed.
pub(super) fn is_temporary(e: &ApplyError) -> bool {
    matches!(
        e.code,
        codes::LOCK_WAIT_TIMEOUT
            | codes::LOCK_DEADLOCK
            | codes::CHECKREAD
            | codes::TABLE_DEF_CHANGED
    )
}

/// Tells of an error that ends the applier.
pub(super) fn tell(progress: &Progress, head: &GroupHead, e: &ApplyError) {
    let code = if e.code == 0 { CORRUPT } else { e.code };
    let place = format!(
        "the event's source log {}, end_log_pos {}, Gtid {}",
        head.file,
        head.end_pos,
        head.name()
    );
    let text = match (e.event, &e.table, &e.statement) {
        (Some(event), Some(table), _) => format!(
            "Could not execute {event} event on table {table}; {}, Error_code: {code}; {place}",
            e.message
        ),
        (_, _, Some(statement)) => format!(
            "Error '{}' on query. Query: '{}'; {place}",
            e.message,
            narwal_session::without_secrets(statement)
        ),
        _ if matches!(
            e.code,
            codes::NO_SUCH_TABLE | codes::BINLOG_ROW_WRONG_TABLE_DEF
        ) =>
        {
            format!("Error executing row event: '{}'; {place}", e.message)
        }
        _ => format!("{}; {place}", e.message),
    };
    tracing::error!("replication stops: {text}");
    progress.fail(code, text, Some(head.gtid));
}

/// The error of a group whose events do not make one.
pub(super) fn malformed(what: &str) -> ApplyError {
    ApplyError::malformed(what)
}
