//! Variables: semi-synchronous replication.

use super::def::Effect::Live;
use super::def::Kind::{Bool, Enum, UInt};
use super::def::Scope::Global;
use super::def::{VariableDef, inert, row};
use super::parts::ServerParts;
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use narwal_source::{SemiSyncSettings, WaitPoint};
use std::time::Duration;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "rpl_semi_sync_master_enabled",
        Global,
        Bool,
        "OFF",
        Live,
        "Lets a commit wait until replicas have received it.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_enabled")
    .global_from_start(apply)
    .check(|s, v| {
        if v.as_bool() {
            s.server()
                .database()
                .one_log("rpl_semi_sync_master_enabled")?;
        }
        Ok(())
    }),
    row(
        "rpl_semi_sync_master_timeout",
        Global,
        UInt(0, MAX, 1),
        "10000",
        Live,
        "Milliseconds that a commit waits for replicas before the server goes on without.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_timeout")
    .global_from_start(apply),
    inert(
        "rpl_semi_sync_master_trace_level",
        Global,
        UInt(0, MAX, 1),
        "32",
        "MariaDB's log of semi-synchronous replication.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_trace_level"),
    row(
        "rpl_semi_sync_master_wait_for_slave_count",
        Global,
        UInt(1, 65535, 1),
        "1",
        Live,
        "Replicas that must have received a commit.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_wait_for_replica_count")
    .global_from_start(apply),
    row(
        "rpl_semi_sync_master_wait_no_slave",
        Global,
        Bool,
        "ON",
        Live,
        "Waits even if too few replicas are attached.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_wait_no_replica")
    .global_from_start(apply),
    row(
        "rpl_semi_sync_master_wait_point",
        Global,
        Enum(&["AFTER_SYNC", "AFTER_COMMIT"]),
        "AFTER_COMMIT",
        Live,
        "Whether others see a commit before or after replicas have received it.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .mysql("rpl_semi_sync_source_wait_point")
    .mysql_default("AFTER_SYNC")
    .global_from_start(apply),
    inert(
        "rpl_semi_sync_slave_delay_master",
        Global,
        Bool,
        "OFF",
        "MariaDB's replica that lets its source wait.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "rpl_semi_sync_slave_enabled",
        Global,
        Bool,
        "OFF",
        Live,
        "Tells a source what this replica has received.",
    )
    .mysql("rpl_semi_sync_replica_enabled")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "rpl_semi_sync_slave_kill_conn_timeout",
        Global,
        UInt(0, 4_294_967_295, 1),
        "5",
        "MariaDB's end of a semi-synchronous connection.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "rpl_semi_sync_slave_trace_level",
        Global,
        UInt(0, MAX, 1),
        "32",
        "MariaDB's log of semi-synchronous replication.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
];

const MAX: u64 = u64::MAX;

/// Lets all these variables have their effect.
fn apply(s: &dyn ServerParts, _: &VarValue) {
    let get = |name: &str| s.value(&format!("rpl_semi_sync_master_{name}"));
    s.source().semi_sync().set(|set| {
        *set = SemiSyncSettings {
            enabled: get("enabled").as_bool(),
            timeout: Duration::from_millis(get("timeout").as_u64()),
            wait_point: match get("wait_point").as_str() {
                "AFTER_SYNC" => WaitPoint::AfterSync,
                _ => WaitPoint::AfterCommit,
            },
            wait_no_replica: get("wait_no_slave").as_bool(),
            replicas: get("wait_for_slave_count").as_u32(),
        };
    });
}
