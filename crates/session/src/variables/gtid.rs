//! Variables: GTIDs and the server's number.

use super::def::Effect::{Computed, Fixed, Live, State};
use super::def::Kind::{Bool, Enum, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{VariableDef, inert, row};
use super::parts::SessionParts;
use super::rules::while_replicas_stand;
use super::value::VarValue;
use crate::gtid_names::{AUTOMATIC, Next, gtid_next};
use crate::gtids::{gtid_executed, gtid_inside_transaction};
use crate::privileges::PrivilegeSet;
use narwal_binlog::{GtidSet, MysqlGtid, gtid_uuid};
use narwal_engine::{CatalogChange, Database, Ddl, TxnOptions};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::sync::atomic::Ordering;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "enforce_gtid_consistency",
        Global,
        Enum(&["OFF", "ON", "WARN"]),
        "ON",
        Fixed,
        "Refuses what can't have a GTID of MySQL's; only ON, since everything has one here.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    row(
        "gtid_binlog_pos",
        Global,
        Text,
        "",
        Computed,
        "Last GTID of each domain in the binary log.",
    )
    .read(|s| VarValue::text(s.database().binlog_position().gtid_pos)),
    row(
        "gtid_binlog_state",
        Global,
        Text,
        "",
        State,
        "Last GTID of each domain and server in the binary log; set in an empty log only.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .not_for_one_statement()
    .read(|s| VarValue::text(s.database().gtid_binlog_state()))
    .no_default()
    .assign(|s, v| {
        let text = v.map_or("", VarValue::as_str);
        Ok(s.server().database().set_gtid_binlog_state(text)?)
    })
    .allowed(|s, _| match s.in_transaction() {
        true => Err(in_transaction()),
        false => Ok(()),
    }),
    inert(
        "gtid_cleanup_batch_size",
        Global,
        UInt(0, 2_147_483_647, 1),
        "64",
        "MariaDB's table of positions, which Narwal has no rows in.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "gtid_current_pos",
        Global,
        Text,
        "",
        Computed,
        "`gtid_slave_pos`, and what this server wrote itself where that is newer.",
    )
    .read(|s| VarValue::text(s.gtid_current_pos())),
    row(
        "gtid_domain_id",
        Both,
        UInt(0, 4_294_967_295, 1),
        "0",
        Live,
        "Domain of the GTIDs of new transactions.",
    )
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO)
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_REPLAY)
    .session(|s, v| s.gtid_domain_id = v.as_u32())
    .option(|o, v| o.gtid_domain_id = v.as_u32())
    .global(|s, v| s.database().set_gtid_domain_id(v.as_u32()))
    .allowed(gtid_outside_transaction),
    row(
        "gtid_executed",
        Global,
        Text,
        "",
        Computed,
        "The transactions in the binary log, those that were purged, and those of MySQLs that were applied, as MySQL names them (`uuid:1-5`).",
    )
    .read(|s| VarValue::text(gtid_executed(s.database()).to_string())),
    row(
        "gtid_ignore_duplicates",
        Global,
        Bool,
        "OFF",
        Fixed,
        "Lets several connections bring the same GTIDs; only OFF.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .allowed(while_replicas_stand),
    row(
        "gtid_mode",
        Global,
        Enum(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]),
        "ON",
        Fixed,
        "Gives transactions GTIDs for MySQL's readers; only ON.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    row(
        "gtid_owned",
        Both,
        Text,
        "",
        Computed,
        "The names that `gtid_next` has given to transactions that have not ended; globally with the connections behind `#`.",
    )
    .read(|s| VarValue::text(s.held_names().text()))
    .read_session(|s| {
        let held = s.facts().gtid_next.held();
        VarValue::text(held.map_or_else(String::new, |gtid| gtid.to_string()))
    }),
    row(
        "gtid_next",
        Session,
        Text,
        AUTOMATIC,
        State,
        "The GTID of the next transaction in MySQL's form (`uuid:number`), AUTOMATIC: the server gives one, AUTOMATIC:tag: one with this tag. A transaction that the server has already is passed over.",
    )
    .session_needs(PrivilegeSet::BINLOG_REPLAY)
    .not_for_one_statement()
    .read_session(|s| VarValue::text(s.facts().gtid_next.text()))
    .check(|_, v| gtid_next(v.as_str()).map(drop))
    .assign(|s, v| {
        let next = v.map_or(Ok(Next::Automatic), |v| gtid_next(v.as_str()))?;
        let server = s.server();
        let is_known = |gtid: &MysqlGtid| server.database().has_mysql_gtid(gtid);
        let facts = s.facts();
        let names = server.held_names();
        facts
            .gtid_next
            .say(next, names, facts.connection_id, &is_known)
    })
    .allowed(|s, _| match s.in_transaction() {
        true => Err(errors::VARIABLE_NOT_SETTABLE_IN_TRANSACTION.with([&"gtid_next"])),
        false => Ok(()),
    }),
    inert(
        "gtid_pos_auto_engines",
        Global,
        Text,
        "",
        "MariaDB's table of positions, one for each engine.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "gtid_purged",
        Global,
        Text,
        "",
        State,
        "The transactions before the oldest file of the binary log, as MySQL names them. Set, it says which transactions of a MySQL count as applied: `+set` adds to them, and an empty set forgets them.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .read(|s| VarValue::text(gtid_purged(s.database()).to_string()))
    .no_default()
    .check(|_, v| mysql_set(v.as_str()).map(drop))
    .assign(|s, v| match v {
        Some(v) => set_applied(s.server().database(), v.as_str()),
        None => Ok(()),
    })
    .allowed(while_replicas_stand),
    row(
        "gtid_seq_no",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "Sequence number of the next transaction's GTID; 0 for the next in order.",
    )
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO)
    .session_needs(PrivilegeSet::BINLOG_REPLAY)
    .read_session(|s| VarValue::UInt(s.facts().gtid_seq_no.load(Ordering::Relaxed)))
    .check(|s, v| s.check_gtid_seq_no(v.as_u64()))
    .assign(|s, v| {
        s.facts()
            .gtid_seq_no
            .store(v.map_or(0, VarValue::as_u64), Ordering::Relaxed);
        Ok(())
    })
    .kept(
        |s| s.facts().gtid_seq_no.load(Ordering::Relaxed),
        |s, v| s.facts().gtid_seq_no.store(v, Ordering::Relaxed),
    )
    .allowed(gtid_outside_transaction),
    row(
        "gtid_slave_pos",
        Global,
        Text,
        "",
        State,
        "Last GTID of each domain that was applied from a source.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .read(|s| VarValue::text(s.gtid_slave_pos_text()))
    .no_default()
    .check(|s, v| s.check_gtid_slave_pos(v.as_str()))
    .assign(|s, v| match v {
        Some(v) => s.server().set_gtid_slave_pos(v.show()),
        None => Ok(()),
    })
    .allowed(while_replicas_stand),
    row(
        "gtid_strict_mode",
        Global,
        Bool,
        "ON",
        Live,
        "Refuses GTIDs that are out of order.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .global_from_start(|s, v| {
        s.switches()
            .gtid_strict
            .store(v.as_bool(), Ordering::SeqCst)
    }),
    row(
        "last_gtid",
        Session,
        Text,
        "",
        Computed,
        "GTID of the session's last transaction in the log.",
    )
    .read_session(|s| VarValue::text(s.facts().last_gtid.lock().to_string())),
    row(
        "narwal_gtid_gaps",
        Global,
        Enum(&["STOP", "WARN"]),
        "STOP",
        Live,
        "What a replica does when its source leaves out a sequence number: stop, or warn.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "server_id",
        Both,
        UInt(1, 4_294_967_295, 1),
        "1",
        Live,
        "Number of this server, which is in its GTIDs and events.",
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_REPLAY)
    .session(|s, v| s.server_id = v.as_u32())
    .option(|o, v| o.server_id = v.as_u32())
    .global(|s, v| s.database().set_server_id(v.as_u32())),
    row(
        "server_uuid",
        Global,
        Text,
        "",
        Computed,
        "UUID in MySQL's form of the GTIDs that this server gives; follows from `server_id` and `gtid_domain_id`.",
    )
    .read(|s| {
        let number = |name| s.value(name).as_u32();
        let uuid = gtid_uuid(number("gtid_domain_id"), number("server_id"));
        VarValue::text(uuid.to_string())
    }),
];

/// What was written before the oldest file.
fn gtid_purged(db: &Database) -> GtidSet {
    let files = db.binlog_files();
    let before = files.first().and_then(|f| db.gtids_before_file(f.number));
    before.map_or_else(GtidSet::new, |gtids| GtidSet::of_state(&gtids))
}

/// A set of MySQL's GTIDs, and whether it is to be added (`+` in front).
fn mysql_set(text: &str) -> SqlResult<(GtidSet, bool)> {
    let text = text.trim();
    let (set, adds) = match text.strip_prefix('+') {
        Some(set) => (set, true),
        None => (text, false),
    };
    let set = set
        .parse()
        .map_err(|_| errors::MALFORMED_GTID_SET_SPECIFICATION.with([&text]))?;
    Ok((set, adds))
}

/// Says which transactions of MySQLs count as applied. As in MySQL, what counts already stays, but for an empty set.
fn set_applied(db: &Database, text: &str) -> SqlResult<()> {
    let (mut set, adds) = mysql_set(text)?;
    if adds || !set.is_empty() {
        set.merge(&db.replica_state().mysql);
    }
    store_applied(db, None, &set)
}

/// Nothing counts as applied any more, of whatever source.
pub(crate) fn forget_applied(db: &Database) -> SqlResult<()> {
    store_applied(db, Some(String::new()), &GtidSet::new())
}

fn store_applied(db: &Database, slave_pos: Option<String>, set: &GtidSet) -> SqlResult<()> {
    let ddl = Ddl {
        changes: vec![CatalogChange::SetReplicaState {
            slave_pos,
            channel: None,
            mysql: Some(set.to_string()),
        }],
        ..Ddl::default()
    };
    let options = TxnOptions {
        log_bin: false,
        ..TxnOptions::default()
    };
    db.ddl(ddl, &options)?;
    Ok(())
}

const MAX: u64 = u64::MAX;

fn gtid_outside_transaction(s: &dyn SessionParts, global: bool) -> SqlResult<()> {
    match s.in_transaction() && !global {
        true => Err(gtid_inside_transaction()),
        false => Ok(()),
    }
}

fn in_transaction() -> SqlError {
    errors::CANT_DO_THIS_DURING_AN_TRANSACTION.plain()
}
