//! Variables: the server as a replica.

use super::def::Effect::{Fixed, Inert, Live, Startup, State};
use super::def::Kind::{Bool, Double, Enum, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{AtStart, Kind, VariableDef, inert, row};
use super::parts::ServerParts;
use super::rules::while_replicas_stand;
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use crate::replica::filter::FilterList;
use narwal_types::errors;

/// A list of names that a replica's filter has: of the connection without a name, as the global value.
const fn filter(
    name: &'static str,
    list: FilterList,
    read: fn(&dyn ServerParts) -> VarValue,
    doc: &'static str,
) -> VariableDef {
    row(name, Global, Text, "", State, doc)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
        .filter(list)
        .read(read)
        .allowed(while_replicas_stand)
}

fn list(s: &dyn ServerParts, list: FilterList) -> VarValue {
    VarValue::text(s.replica_filter("").get(list))
}

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "default_master_connection",
        Session,
        Text,
        "",
        Live,
        "Connection that statements about replication mean if they name none.",
    ),
    row(
        "init_slave",
        Global,
        Text,
        "",
        Inert,
        "Statements that MariaDB's applier runs first.",
    )
    .mysql("init_replica")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "log_slave_updates",
        Global,
        Bool,
        "ON",
        Startup,
        "What a replica applies is in its log; only ON.",
    )
    .mysql("log_replica_updates")
    .at_start(AtStart::Refused(
        "what a replica applies is in its log, which is also where it is stored; \
         there is no second one",
    )),
    inert(
        "log_slow_slave_statements",
        Both,
        Bool,
        "ON",
        "Slow log of what a replica applies.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "master_retry_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "100000",
        Startup,
        "Attempts to connect to a source before a replica gives up; 0 for no end.",
    ),
    inert(
        "max_relay_log_size",
        Both,
        UInt(4096, 1_073_741_824, 4096),
        "1073741824",
        "MariaDB's relay log, which Narwal does not have.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "narwal_replica_queue_bytes",
        Global,
        UInt(65_536, MAX, 1),
        "67108864",
        Live,
        "Bytes of events that a replica holds between its receiver and its applier.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "pseudo_slave_mode",
        Session,
        Bool,
        "OFF",
        "Set by mariadb-binlog before its output.",
    )
    .session_needs(PrivilegeSet::BINLOG_REPLAY),
    inert(
        "read_binlog_speed_limit",
        Global,
        UInt(0, MAX, 1),
        "0",
        "MariaDB's limit of what a replica reads a second.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "relay_log",
        Global,
        Text,
        "",
        Startup,
        "MariaDB's relay log, which Narwal does not have.",
    ),
    row(
        "relay_log_basename",
        Global,
        Text,
        "",
        Startup,
        "MariaDB's relay log, which Narwal does not have.",
    ),
    row(
        "relay_log_index",
        Global,
        Text,
        "",
        Startup,
        "MariaDB's relay log, which Narwal does not have.",
    ),
    row(
        "relay_log_info_file",
        Global,
        Text,
        "",
        Startup,
        "MariaDB's relay log, which Narwal does not have.",
    ),
    inert(
        "relay_log_purge",
        Global,
        Bool,
        "ON",
        "MariaDB's relay log, which Narwal does not have.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "relay_log_recovery",
        Global,
        Bool,
        "OFF",
        "MariaDB's relay log, which Narwal does not have.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "relay_log_space_limit",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
        "MariaDB's relay log, which Narwal does not have.",
    ),
    filter(
        "replicate_do_db",
        FilterList::DoDb,
        |s| list(s, FilterList::DoDb),
        "Databases whose changes a replica applies.",
    ),
    filter(
        "replicate_do_table",
        FilterList::DoTable,
        |s| list(s, FilterList::DoTable),
        "Tables (`database.table`) whose changes a replica applies.",
    ),
    row(
        "replicate_events_marked_for_skip",
        Global,
        Enum(&["REPLICATE", "FILTER_ON_SLAVE", "FILTER_ON_MASTER"]),
        "REPLICATE",
        Fixed,
        "What a replica does with events of `skip_replication`; only REPLICATE.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    filter(
        "replicate_ignore_db",
        FilterList::IgnoreDb,
        |s| list(s, FilterList::IgnoreDb),
        "Databases whose changes a replica leaves out.",
    ),
    filter(
        "replicate_ignore_table",
        FilterList::IgnoreTable,
        |s| list(s, FilterList::IgnoreTable),
        "Tables (`database.table`) whose changes a replica leaves out.",
    ),
    row(
        "replicate_rewrite_db",
        Global,
        Text,
        "",
        Fixed,
        "Databases that have another name on the replica; only none.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    filter(
        "replicate_wild_do_table",
        FilterList::WildDoTable,
        |s| list(s, FilterList::WildDoTable),
        "Patterns of tables whose changes a replica applies.",
    ),
    filter(
        "replicate_wild_ignore_table",
        FilterList::WildIgnoreTable,
        |s| list(s, FilterList::WildIgnoreTable),
        "Patterns of tables whose changes a replica leaves out.",
    ),
    row(
        "report_host",
        Global,
        Text,
        "",
        Startup,
        "Host that a replica gives its source for SHOW SLAVE HOSTS.",
    ),
    row(
        "report_password",
        Global,
        Text,
        "",
        Startup,
        "Password that a replica gives its source for SHOW SLAVE HOSTS.",
    ),
    row(
        "report_port",
        Global,
        UInt(0, 65535, 1),
        "0",
        Startup,
        "Port that a replica gives its source for SHOW SLAVE HOSTS; 0 for its own.",
    ),
    row(
        "report_user",
        Global,
        Text,
        "",
        Startup,
        "User that a replica gives its source for SHOW SLAVE HOSTS.",
    ),
    inert(
        "skip_parallel_replication",
        Session,
        Bool,
        "OFF",
        "Marks transactions that a replica should not apply beside others.",
    ),
    row(
        "skip_replication",
        Session,
        Bool,
        "OFF",
        Fixed,
        "Marks transactions that a replica may leave out; only OFF.",
    )
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_SKIP_REPLICATION)
    .session_needs(PrivilegeSet::SUPER)
    .not_for_one_statement(),
    row(
        "skip_slave_start",
        Global,
        Bool,
        "OFF",
        Startup,
        "Connections to sources do not start with the server.",
    )
    .mysql("skip_replica_start"),
    row(
        "slave_compressed_protocol",
        Global,
        Bool,
        "OFF",
        Inert,
        "Compresses what a source sends.",
    )
    .mysql("replica_compressed_protocol")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_ddl_exec_mode",
        Global,
        Enum(&["STRICT", "IDEMPOTENT"]),
        "IDEMPOTENT",
        Live,
        "Replaces tables that are to be made and are there; forgives DROP of tables that are missing (`IDEMPOTENT`).",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "slave_domain_parallel_threads",
        Global,
        UInt(0, 16_383, 1),
        "0",
        "MariaDB's limit of applier threads for each domain.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .allowed(while_replicas_stand),
    row(
        "slave_exec_mode",
        Global,
        Enum(&["STRICT", "IDEMPOTENT"]),
        "STRICT",
        Live,
        "Forgives rows that are there already or missing (`IDEMPOTENT`).",
    )
    .mysql("replica_exec_mode")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "slave_max_allowed_packet",
        Global,
        UInt(1024, 1_073_741_824, 1024),
        "1073741824",
        "MariaDB's longest event of a source.",
    )
    .mysql("replica_max_allowed_packet")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_max_statement_time",
        Global,
        Double(0.0, 31_536_000.0),
        "0",
        Fixed,
        "Seconds after which what a replica applies is ended; only 0.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_net_timeout",
        Global,
        UInt(1, YEAR, 1),
        "60",
        Live,
        "Seconds without a sign of its source after which a replica connects anew.",
    )
    .mysql("replica_net_timeout")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "slave_parallel_max_queued",
        Global,
        UInt(0, 2_147_483_647, 1),
        "131072",
        "MariaDB's memory for events that wait for an applier thread; see \
         `narwal_replica_queue_bytes`.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_parallel_mode",
        Global,
        Enum(&[
            "none",
            "minimal",
            "conservative",
            "optimistic",
            "aggressive",
        ]),
        "optimistic",
        Live,
        "How a replica applies transactions beside each other.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .allowed(while_replicas_stand),
    row(
        "slave_parallel_threads",
        Global,
        UInt(0, 16_383, 1),
        "4",
        Live,
        "Threads that apply transactions, of each connection.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .twin(|v| Ok(("slave_parallel_workers", v.clone())))
    .allowed(while_replicas_stand),
    row(
        "slave_parallel_workers",
        Global,
        UInt(0, 16_383, 1),
        "4",
        Live,
        "MySQL's name of `slave_parallel_threads`.",
    )
    .mysql("replica_parallel_workers")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN)
    .twin(|v| Ok(("slave_parallel_threads", v.clone())))
    .allowed(while_replicas_stand),
    inert(
        "slave_run_triggers_for_rbr",
        Global,
        Enum(&["NO", "YES", "LOGGING", "ENFORCE"]),
        "NO",
        "About triggers, of which there are none.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_skip_errors",
        Global,
        Text,
        "OFF",
        Startup,
        "Errors that a replica passes over; only OFF.",
    )
    .mysql("replica_skip_errors")
    .at_start(AtStart::Refused(
        "a replica that passes over errors has other data than its source from \
         then on. slave_exec_mode=IDEMPOTENT forgives rows that are there or \
 missing already, sql_slave_skip_counter and gtid_slave_pos leave out \
 single transactions",
    )),
    inert(
        "slave_sql_verify_checksum",
        Global,
        Bool,
        "ON",
        "Checks the checksums of events; always done.",
    )
    .mysql("replica_sql_verify_checksum")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_transaction_retries",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10",
        Live,
        "Attempts to apply a transaction that met a deadlock or a lock wait.",
    )
    .mysql("replica_transaction_retries")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_transaction_retry_errors",
        Global,
        Text,
        "1205,1213",
        Startup,
        "Errors after which a transaction is applied again.",
    ),
    row(
        "slave_transaction_retry_interval",
        Global,
        UInt(0, 3600, 1),
        "0",
        Fixed,
        "Seconds between such attempts; only 0.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "slave_type_conversions",
        Global,
        Kind::Set(&["ALL_LOSSY", "ALL_NON_LOSSY"]),
        "",
        Live,
        "Which other types a replica's columns may have than the source's.",
    )
    .mysql("replica_type_conversions")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    row(
        "sql_slave_skip_counter",
        Both,
        UInt(0, 4_294_967_295, 1),
        "0",
        State,
        "Event groups that the default connection's applier is to leave out yet.",
    )
    .mysql("sql_replica_skip_counter")
    .session_needs(PrivilegeSet::SUPER)
    .read_in_any_scope(|s| {
        let connection = s.value("default_master_connection").show();
        VarValue::UInt(s.server().skip_counter(&connection))
    })
    .check(|s, _| s.need_connection(&s.value("default_master_connection").show()))
    .assign(|s, v| {
        let connection = s.value("default_master_connection").show();
        s.server()
            .set_skip_counter(&connection, v.map_or(0, VarValue::as_u64))
    }),
    inert(
        "sync_master_info",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        "MariaDB's files of a replica's position.",
    )
    .mysql("sync_source_info")
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "sync_relay_log",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        "MariaDB's relay log, which Narwal does not have.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    inert(
        "sync_relay_log_info",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        "MariaDB's files of a replica's position.",
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
];

const MAX: u64 = u64::MAX;
/// Seconds.
const YEAR: u64 = 31_536_000;
