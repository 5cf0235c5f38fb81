//! Variables: transactions, locks and constraints.

use super::def::Effect::{Computed, Fixed, Live, Startup};
use super::def::Kind::{Bool, Enum, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{VariableDef, inert, row};
use super::parts::SessionParts;
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use crate::replica::errors::locked_or_in_transaction;
use crate::settings::Completion;
use narwal_engine::Isolation;
use narwal_types::SqlResult;
use std::sync::atomic::Ordering;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "autocommit",
        Both,
        Bool,
        "ON",
        Live,
        "Commits each statement by itself unless a transaction was begun; turning it on \
         commits what is open.",
    )
    .session(|s, v| s.autocommit = v.as_bool())
    .before(|s, v| match v.as_bool() && !s.autocommit() {
        true => s.commit_open(),
        false => Ok(()),
    })
    .no_plan()
    .not_for_one_statement(),
    row(
        "check_constraint_checks",
        Both,
        Bool,
        "ON",
        Live,
        "Checks CHECK constraints.",
    )
    .session(|s, v| s.check_constraints = v.as_bool()),
    row(
        "sql_if_exists",
        Both,
        Bool,
        "OFF",
        Live,
        "DROP, RENAME and ALTER TABLE have an IF EXISTS of their own.",
    )
    .session(|s, v| s.if_exists = v.as_bool()),
    row(
        "completion_type",
        Both,
        Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]),
        "NO_CHAIN",
        Live,
        "What COMMIT and ROLLBACK do besides: nothing, begin again, or end the connection.",
    )
    .session(|s, v| s.completion = completion(v.as_str())),
    inert(
        "deadlock_timeout_long",
        Both,
        UInt(0, 4_294_967_295, 1),
        "50000000",
        "Aria's search for deadlocks.",
    ),
    row(
        "foreign_key_checks",
        Both,
        Bool,
        "ON",
        Live,
        "Checks foreign keys.",
    )
    .session(|s, v| s.foreign_key_checks = v.as_bool()),
    row(
        "idle_readonly_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Live,
        "Seconds after which a connection is closed whose open transaction only reads and is idle; 0: as `idle_transaction_timeout`.",
    )
    .session(|s, v| s.timeouts.in_transaction.reading = v.seconds()),
    row(
        "idle_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Live,
        "Seconds after which a connection is closed whose open transaction is idle; 0: `wait_timeout` holds.",
    )
    .session(|s, v| s.timeouts.in_transaction.any = v.seconds()),
    row(
        "idle_write_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Live,
        "Seconds after which a connection is closed whose open transaction has written and is idle; 0: as `idle_transaction_timeout`.",
    )
    .session(|s, v| s.timeouts.in_transaction.writing = v.seconds()),
    row(
        "in_transaction",
        Session,
        UInt(0, 1, 1),
        "0",
        Computed,
        "1 in a transaction.",
    )
    .read_session(|s| VarValue::UInt(u64::from(s.facts().in_transaction.load(Ordering::Relaxed)))),
    row(
        "innodb_deadlock_detect",
        Global,
        Bool,
        "ON",
        Fixed,
        "Finds deadlocks at once; only ON.",
    ),
    row(
        "innodb_lock_wait_timeout",
        Both,
        UInt(0, 100_000_000, 1),
        "50",
        Live,
        "Seconds that a statement waits for a row lock.",
    )
    .session(|s, v| s.lock_wait_timeout = v.seconds()),
    row(
        "innodb_rollback_on_timeout",
        Global,
        Bool,
        "OFF",
        Startup,
        "InnoDB's choice to roll back the transaction, not the statement, when a lock wait \
         times out.",
    ),
    row(
        "innodb_snapshot_isolation",
        Both,
        Bool,
        "ON",
        Live,
        "Refuses to change a row that was changed since the snapshot (error 1020), instead \
         of changing its newest version.",
    )
    .session(|s, v| s.newest_rows = !v.as_bool()),
    row(
        "lock_wait_timeout",
        Both,
        UInt(0, YEAR, 1),
        "86400",
        Live,
        "Seconds that a statement waits for a lock of a whole table.",
    )
    .session(|s, v| s.table_lock_timeout = v.seconds()),
    inert(
        "low_priority_updates",
        Both,
        Bool,
        "OFF",
        "MyISAM's order of reads and writes.",
    ),
    row(
        "read_only",
        Global,
        Bool,
        "OFF",
        Live,
        "Refuses writes of clients without READ_ONLY ADMIN.",
    )
    .needs_exactly(PrivilegeSet::READ_ONLY_ADMIN)
    .global_from_start(|s, v| s.switches().read_only.store(v.as_bool(), Ordering::SeqCst))
    // Nobody is refused more than that who is above it.
    .twin(|v| match v.as_bool() {
        true => Ok(("read_only", v.clone())),
        false => Ok(("super_read_only", v.clone())),
    })
    .allowed(read_only_may_change),
    row(
        "super_read_only",
        Global,
        Bool,
        "OFF",
        Live,
        "Refuses writes of all clients; sets `read_only` with it. MySQL's.",
    )
    .needs_exactly(PrivilegeSet::READ_ONLY_ADMIN)
    .global_from_start(|s, v| {
        let switches = s.switches();
        switches.super_read_only.store(v.as_bool(), Ordering::SeqCst);
    })
    .twin(|v| match v.as_bool() {
        true => Ok(("read_only", v.clone())),
        false => Ok(("super_read_only", v.clone())),
    })
    .allowed(read_only_may_change),
    inert(
        "transaction_alloc_block_size",
        Both,
        UInt(1024, 134_217_728, 1024),
        "8192",
        "MariaDB's memory for transactions.",
    ),
    row(
        "transaction_isolation",
        Both,
        Enum(ISOLATION),
        "REPEATABLE-READ",
        Live,
        "Other name of `tx_isolation`.",
    )
    .is("tx_isolation"),
    inert(
        "transaction_prealloc_size",
        Both,
        UInt(1024, 134_217_728, 1024),
        "4096",
        "MariaDB's memory for transactions.",
    ),
    row(
        "transaction_read_only",
        Both,
        Bool,
        "OFF",
        Live,
        "Other name of `tx_read_only`.",
    )
    .is("tx_read_only"),
    row(
        "tx_isolation",
        Both,
        Enum(ISOLATION),
        "REPEATABLE-READ",
        Live,
        "Isolation level of new transactions.",
    )
    .session(|s, v| s.isolation = isolation(v.as_str()))
    .no_plan()
    .not_for_one_statement(),
    row(
        "tx_read_only",
        Both,
        Bool,
        "OFF",
        Live,
        "New transactions only read.",
    )
    .session(|s, v| s.read_only = v.as_bool())
    .no_plan(),
    inert(
        "unique_checks",
        Both,
        Bool,
        "ON",
        "InnoDB's checks of secondary unique indexes; always done.",
    ),
];

const ISOLATION: &[&str] = &[
    "READ-UNCOMMITTED",
    "READ-COMMITTED",
    "REPEATABLE-READ",
    "SERIALIZABLE",
];

fn read_only_may_change(s: &dyn SessionParts, _global: bool) -> SqlResult<()> {
    match s.in_transaction() || s.has_locked_tables() {
        true => Err(locked_or_in_transaction()),
        false => Ok(()),
    }
}
/// Seconds.
const YEAR: u64 = 31_536_000;

fn isolation(name: &str) -> Isolation {
    match name {
        "READ-UNCOMMITTED" | "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

fn completion(name: &str) -> Completion {
    match name {
        "CHAIN" => Completion::Chain,
        "RELEASE" => Completion::Release,
        _ => Completion::NoChain,
    }
}
