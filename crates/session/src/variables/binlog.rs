//! Variables: the log: what goes into it, how it is synced, how long it is kept.

use super::def::Effect::{Computed, Fixed, Inert, Live, Startup};
use super::def::Kind::{Bool, Double, Enum, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{AtStart, VariableDef, inert, row};
use super::parts::ServerParts;
use super::rules::outside_transaction;
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use narwal_engine::{Compression, Options, RowImage, RowMetadata};
use narwal_types::errors::{self, codes};

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "binlog_alter_two_phase",
        Both,
        Bool,
        "OFF",
        Inert,
        "MariaDB's ALTER TABLE in two events; here it is one.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "binlog_annotate_row_events",
        Both,
        Bool,
        "ON",
        Live,
        "Writes the statement's text into the log before its row events.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN)
    .session(|s, v| s.annotate = v.as_bool()),
    inert(
        "binlog_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "32768",
        "MariaDB's memory for a transaction's events before they go to a file; see \
         `narwal_transaction_memory`.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "binlog_checksum",
        Global,
        Enum(&["NONE", "CRC32"]),
        "CRC32",
        Fixed,
        "Checksum of each event; only CRC32.",
    ),
    row(
        "binlog_commit_wait_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Live,
        "Commits that end the wait of `binlog_commit_wait_usec`; 0 for no wait.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .options(wait_options)
    .global(set_commit_wait),
    row(
        "binlog_commit_wait_usec",
        Global,
        UInt(0, 4_294_967_295, 1),
        "100000",
        Live,
        "Microseconds that a group commit waits for more commits, at most.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .global(set_commit_wait),
    inert(
        "binlog_direct_non_transactional_updates",
        Both,
        Bool,
        "OFF",
        "About tables without transactions, of which there are none.",
    )
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_DIRECT),
    row(
        "binlog_do_db",
        Global,
        Text,
        "",
        Startup,
        "Database whose changes go into the binary log; given once for each.",
    )
    .at_start(AtStart::Names(|f| &mut f.do_db)),
    row(
        "binlog_do_table",
        Global,
        Text,
        "",
        Startup,
        "Table (`database.table`) whose changes go into the binary log; given once for \
         each.",
    )
    .at_start(AtStart::Names(|f| &mut f.do_table)),
    row(
        "binlog_expire_logs_seconds",
        Global,
        UInt(0, 8_553_600, 1),
        "0",
        Live,
        "Seconds after which a binary log file may be removed; 0 keeps it.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .twin(|v| {
        let days = v.as_u64() as f64 / 86_400.0;
        Ok(("expire_logs_days", VarValue::Double(days)))
    })
    .global_from_start(|s, v| s.database().set_binlog_expire_logs_seconds(v.as_u64())),
    inert(
        "binlog_file_cache_size",
        Global,
        UInt(8192, MAX, 4096),
        "16384",
        "MariaDB's memory for reading and writing log files.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "binlog_format",
        Both,
        Enum(&["MIXED", "STATEMENT", "ROW"]),
        "ROW",
        Live,
        "Form of changes in the binary log: `ROW`, and `MIXED` likewise; with `STATEMENT` readers get the statements, while the rows are logged for recovery only.",
    )
    .session(|s, v| s.statements = v.as_str() == "STATEMENT")
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_FORMAT)
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN)
    .allowed(|s, global| {
        outside_transaction(
            s,
            global,
            codes::INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_FORMAT,
            "binlog_format",
        )
    }),
    row(
        "binlog_group_commit_sync_delay",
        Global,
        UInt(0, 1_000_000, 1),
        "0",
        Live,
        "MySQL's name for a wait of a group commit, in microseconds; it wins over \
         `binlog_commit_wait_usec`.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .global(set_commit_wait),
    row(
        "binlog_group_commit_sync_no_delay_count",
        Global,
        UInt(0, 100_000, 1),
        "0",
        Live,
        "Commits that end the wait of `binlog_group_commit_sync_delay`; 0 for the whole \
         wait.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .global(set_commit_wait),
    row(
        "binlog_ignore_db",
        Global,
        Text,
        "",
        Startup,
        "Database whose changes stay out of the binary log; given once for each.",
    )
    .at_start(AtStart::Names(|f| &mut f.ignore_db)),
    row(
        "binlog_ignore_table",
        Global,
        Text,
        "",
        Startup,
        "Table (`database.table`) whose changes stay out of the binary log; given once for \
         each.",
    )
    .at_start(AtStart::Names(|f| &mut f.ignore_table)),
    row(
        "binlog_oob_threshold",
        Global,
        UInt(16_384, 134_217_728, 1),
        "1048576",
        Live,
        "Bytes of events from which a transaction is written to the log in parts, before \
         its commit.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.oob_threshold = v.as_u64())
    .global(|s, v| s.database().set_oob_threshold(v.as_u64())),
    row(
        "binlog_optimize_thread_scheduling",
        Global,
        Bool,
        "ON",
        Startup,
        "MariaDB's order of threads in a group commit.",
    ),
    row(
        "binlog_row_event_max_size",
        Global,
        UInt(256, 4_294_967_040, 256),
        "8192",
        Startup,
        "Bytes of one row event, about.",
    )
    .option(|o, v| o.binlog_row_event_max_size = v.as_u32()),
    row(
        "binlog_row_image",
        Both,
        Enum(&["MINIMAL", "NOBLOB", "FULL", "FULL_NODUP"]),
        "FULL",
        Live,
        "Columns that row events hold: all, or those that a replica needs.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN)
    .session(|s, v| s.row_image = row_image(v.as_str())),
    row(
        "binlog_row_metadata",
        Global,
        Enum(&["NO_LOG", "MINIMAL", "FULL"]),
        "FULL",
        Live,
        "What table map events say of columns: names and keys, little, or nothing.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.binlog_row_metadata = row_metadata(v.as_str()))
    .global(|s, v| {
        s.database()
            .set_binlog_row_metadata(row_metadata(v.as_str()))
    }),
    row(
        "binlog_space_limit",
        Global,
        UInt(0, MAX, 1),
        "0",
        Live,
        "MariaDB's other name of `max_binlog_total_size`.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .is("max_binlog_total_size"),
    row(
        "binlog_state_interval",
        Global,
        UInt(4096, MAX, 1),
        "2097152",
        Live,
        "Bytes of log between two records of its state, which bound how far a reader looks \
         back.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.binlog_state_interval = v.as_u64())
    .global(|s, v| s.database().set_binlog_state_interval(v.as_u64())),
    inert(
        "binlog_stmt_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "32768",
        "MariaDB's memory for the events of tables without transactions.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "binlog_storage_engine",
        Global,
        Enum(&["InnoDB", "Narwal", "FILE"]),
        "InnoDB",
        Startup,
        "Where the binary log is: in the one log, or in files beside an engine log \
         (`FILE`).",
    )
    .option(|o, v| o.classic_log = v.as_str() == "FILE"),
    row(
        "encrypt_binlog",
        Global,
        Bool,
        "OFF",
        Startup,
        "Whether the log is encrypted; the whole data folder is, or nothing.",
    ),
    row(
        "expire_logs_days",
        Global,
        Double(0.0, 99.0),
        "0",
        Live,
        "`binlog_expire_logs_seconds` in days.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .twin(|v| {
        // Less than a second is none, as in MariaDB; what binlog_expire_logs_seconds itself gave comes out as it was.
        let seconds = (v.as_f64() * 86_400.0 + 1e-6) as u64;
        Ok(("binlog_expire_logs_seconds", VarValue::UInt(seconds)))
    }),
    row(
        "log_bin",
        Global,
        Bool,
        "ON",
        Computed,
        "The log is the binary log: always on.",
    )
    .at_start(AtStart::Ignored(
        "log-bin has no effect: Narwal's log is its binary log, always on, with names \
         of its own",
    )),
    row(
        "log_bin_basename",
        Global,
        Text,
        "",
        Computed,
        "Folder of the log and its files' names without their numbers.",
    )
    .read(|s| log_name(s, "")),
    row(
        "log_bin_compress",
        Global,
        Bool,
        "OFF",
        Fixed,
        "MariaDB's compression of events; only OFF, see `narwal_log_compression`.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    inert(
        "log_bin_compress_min_len",
        Global,
        UInt(10, 1024, 1),
        "256",
        "MariaDB's compression of events.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "log_bin_index",
        Global,
        Text,
        "",
        Computed,
        "List of log files, for tools that ask.",
    )
    .read(|s| log_name(s, ".index")),
    row(
        "max_binlog_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "18446744073709547520",
        Live,
        "Most bytes that a transaction may have in the log.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.max_binlog_cache_size = v.as_u64())
    .global(|s, v| s.database().set_max_binlog_cache_size(v.as_u64())),
    row(
        "max_binlog_size",
        Global,
        UInt(4096, 1_073_741_824, 4096),
        "1073741824",
        Live,
        "Bytes at which a new binary log file begins.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.max_binlog_size = v.as_u32())
    .global(|s, v| s.database().set_max_binlog_size(v.as_u32())),
    inert(
        "max_binlog_stmt_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "18446744073709547520",
        "MariaDB's limit for tables without transactions.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    row(
        "max_binlog_total_size",
        Global,
        UInt(0, MAX, 1),
        "0",
        Live,
        "Bytes of all binary log files before the oldest may be removed; 0 for no limit.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .global_from_start(|s, v| s.database().set_max_binlog_total_size(v.as_u64())),
    row(
        "narwal_archive_timeout",
        Global,
        UInt(0, 86_400, 1),
        "60",
        Live,
        "Seconds after which a part of the log is shipped to the archive, full or not.",
    )
    .global(|s, v| s.set_archive_timeout(v.as_u64())),
    row(
        "narwal_archive_url",
        Global,
        Text,
        "",
        Startup,
        "Folder or bucket that the log is shipped to; empty for none.",
    ),
    row(
        "narwal_group_commit_auto_wait",
        Global,
        Bool,
        "ON",
        Live,
        "Lets a group commit wait for commits that are about to come, if that has paid \
         lately.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.commit_wait_auto = v.as_bool())
    .global(|s, v| s.database().set_commit_wait_auto(v.as_bool())),
    row(
        "narwal_log_compression",
        Global,
        Enum(&["none", "zstd"]),
        "none",
        Startup,
        "Compresses what goes into the log.",
    )
    .options(|o, get| o.compression = compression(get)),
    row(
        "narwal_log_compression_level",
        Global,
        UInt(1, 19, 1),
        "1",
        Startup,
        "Level of zstd for the log.",
    ),
    row(
        "narwal_log_compression_min_length",
        Global,
        UInt(64, 268_435_456, 1),
        "256",
        Startup,
        "Bytes from which a part of the log is compressed.",
    ),
    row(
        "narwal_log_parallel_syncs",
        Global,
        UInt(1, 16, 1),
        "8",
        Startup,
        "Syncs of the log that may run at the same time.",
    )
    .option(|o, v| o.parallel_syncs = v.as_u32()),
    row(
        "slave_connections_needed_for_purge",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Live,
        "Replicas that must be attached before binary log files are removed.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .global_from_start(|s, v| {
        s.database()
            .set_slave_connections_needed_for_purge(v.as_u32())
    }),
    row(
        "sql_log_bin",
        Session,
        Bool,
        "ON",
        Live,
        "Writes the session's changes into the binary log.",
    )
    .session_needs(PrivilegeSet::BINLOG_ADMIN)
    .session(|s, v| s.log_bin = v.as_bool())
    .not_inside(errors::STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN)
    .allowed(|s, global| {
        outside_transaction(
            s,
            global,
            codes::INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN,
            "sql_log_bin",
        )
    })
    .global_is_1238(),
    inert(
        "sync_binlog",
        Global,
        UInt(0, 4_294_967_295, 1),
        "1",
        "With `binlog_storage_engine=FILE`: commits between two syncs of the binary log.",
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .option(|o, v| o.sync_binlog = v.as_u32())
    .global(|s, v| s.database().set_sync_binlog(v.as_u32()))
    .works_if(|db| db.is_classic())
    .inert(
        "sync_binlog has no effect: there is one log, and \
         innodb_flush_log_at_trx_commit rules its syncs",
    ),
];

const MAX: u64 = u64::MAX;

/// `binlog_row_metadata` by name.
fn row_metadata(name: &str) -> RowMetadata {
    match name {
        "NO_LOG" => RowMetadata::NoLog,
        "MINIMAL" => RowMetadata::Minimal,
        _ => RowMetadata::Full,
    }
}

/// `binlog_row_image` by name.
fn row_image(name: &str) -> RowImage {
    match name {
        "MINIMAL" => RowImage::Minimal,
        "NOBLOB" => RowImage::Noblob,
        "FULL_NODUP" => RowImage::FullNodup,
        _ => RowImage::Full,
    }
}

fn compression(get: &dyn Fn(&str) -> VarValue) -> Option<Compression> {
    (get("narwal_log_compression").as_str() == "zstd").then(|| Compression {
        level: get("narwal_log_compression_level").as_u64() as i32,
        min_len: get("narwal_log_compression_min_length").as_u64() as usize,
    })
}

/// Group commit waits from MariaDB's pair of variables or, if its delay is set, MySQL's (where a count of 0 means that
/// the delay always passes).
fn commit_wait(get: &dyn Fn(&str) -> VarValue) -> (u32, u32) {
    let get = |name: &str| get(name).as_u32();
    match get("binlog_group_commit_sync_delay") {
        0 => (
            get("binlog_commit_wait_count"),
            get("binlog_commit_wait_usec"),
        ),
        delay => match get("binlog_group_commit_sync_no_delay_count") {
            0 => (u32::MAX, delay),
            count => (count, delay),
        },
    }
}

fn wait_options(o: &mut Options, get: &dyn Fn(&str) -> VarValue) {
    (o.commit_wait_count, o.commit_wait_usec) = commit_wait(get);
}

fn set_commit_wait(s: &dyn ServerParts, _: &VarValue) {
    let (count, usec) = commit_wait(&|name| s.value(name));
    s.database().set_commit_wait(count, usec);
}

/// The log's folder and its files' names without their numbers.
fn log_name(s: &dyn ServerParts, end: &str) -> VarValue {
    let file = s.database().binlog_position().file;
    let stem = file.rsplit_once('.').map_or(file.as_str(), |(s, _)| s);
    let dir = s.value("datadir").show();
    VarValue::text(format!("{dir}{stem}{end}"))
}
