//! Variables: the store, under the names that InnoDB's settings have.

use super::def::Effect::{Computed, Live, Startup};
use super::def::Kind::{Bool, Enum, Text, UInt};
use super::def::Scope::{Both, Global};
use super::def::{VariableDef, inert, row};
use super::parts::SessionParts;
use super::value::VarValue;
use narwal_types::{SqlResult, errors};

/// There is one sync for a commit, which is what 3 asks for and 1 too.
fn flush_mode(v: &VarValue) -> u8 {
    match v.as_u64() {
        3 => 1,
        mode => mode as u8,
    }
}

/// Error 1231, as a MariaDB without a plugin for encryption has it: `narwal encrypt` and `narwal decrypt` change the folder.
fn as_the_folder_is(s: &dyn SessionParts, v: &VarValue) -> SqlResult<()> {
    let name = "innodb_encrypt_tables";
    match s.server().value(name) == *v {
        true => Ok(()),
        false => Err(errors::WRONG_VALUE_FOR_VAR.with([&name, &v.show()])),
    }
}

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    inert(
        "flush",
        Global,
        Bool,
        "OFF",
        "MyISAM's sync after each statement.",
    ),
    inert(
        "innodb_adaptive_hash_index",
        Global,
        Bool,
        "OFF",
        "InnoDB's hash index.",
    ),
    row(
        "innodb_autoinc_lock_mode",
        Global,
        UInt(0, 2, 1),
        "2",
        Startup,
        "How AUTO_INCREMENT values are handed out: without a lock.",
    ),
    row(
        "innodb_buffer_pool_instances",
        Global,
        UInt(0, 64, 1),
        "1",
        Startup,
        "InnoDB's parts of its memory.",
    ),
    row(
        "innodb_buffer_pool_size",
        Global,
        UInt(2_097_152, MAX, 1_048_576),
        "268435456",
        Startup,
        "Bytes of memory for tables.",
    )
    .option(|o, v| o.memory_budget = v.as_u64()),
    inert(
        "innodb_default_row_format",
        Global,
        Enum(&["redundant", "compact", "dynamic"]),
        "dynamic",
        "InnoDB's format of rows.",
    ),
    row(
        "innodb_doublewrite",
        Global,
        Bool,
        "OFF",
        Startup,
        "InnoDB's second copy of pages, which Narwal needs none of.",
    ),
    row(
        "innodb_encrypt_log",
        Global,
        Bool,
        "OFF",
        Startup,
        "Whether the log is encrypted; the whole data folder is, or nothing.",
    ),
    row(
        "innodb_encrypt_tables",
        Global,
        Enum(&["OFF", "ON", "FORCE"]),
        "OFF",
        Live,
        "Whether tables are encrypted; the whole data folder is, or nothing.",
    )
    .check(as_the_folder_is),
    inert(
        "innodb_fast_shutdown",
        Global,
        UInt(0, 3, 1),
        "1",
        "InnoDB's work at shutdown.",
    ),
    inert(
        "innodb_file_per_table",
        Global,
        Bool,
        "OFF",
        "InnoDB's file for each table.",
    ),
    inert(
        "innodb_flush_log_at_timeout",
        Global,
        UInt(0, 2700, 1),
        "1",
        "InnoDB's seconds between syncs.",
    ),
    row(
        "innodb_flush_log_at_trx_commit",
        Global,
        UInt(0, 3, 1),
        "1",
        Live,
        "Whether a commit waits for its sync (1, 3), its write (2) or neither (0).",
    )
    .option(|o, v| o.flush_log_at_trx_commit = flush_mode(v))
    .global(|s, v| s.database().set_flush_log_at_trx_commit(flush_mode(v))),
    row(
        "innodb_flush_method",
        Global,
        Enum(&[
            "fsync",
            "O_DSYNC",
            "littlesync",
            "nosync",
            "O_DIRECT",
            "O_DIRECT_NO_FSYNC",
        ]),
        "fsync",
        Startup,
        "InnoDB's way to sync its files.",
    ),
    inert(
        "innodb_flush_neighbors",
        Global,
        UInt(0, 2, 1),
        "0",
        "InnoDB's writes of neighbouring pages.",
    ),
    row(
        "innodb_force_primary_key",
        Global,
        Bool,
        "OFF",
        Live,
        "Refuses tables without a primary key, or a unique one of columns that are not NULL.",
    ),
    row(
        "innodb_instant_alter_column_allowed",
        Global,
        Enum(&["never", "add_last", "add_drop_reorder"]),
        "add_drop_reorder",
        Live,
        "Which changes of columns ALTER TABLE takes with ALGORITHM=INSTANT and NOCOPY.",
    ),
    inert(
        "innodb_io_capacity",
        Global,
        UInt(100, 4_294_967_295, 1),
        "200",
        "InnoDB's writes in the background.",
    ),
    inert(
        "innodb_io_capacity_max",
        Global,
        UInt(100, 4_294_967_295, 1),
        "2000",
        "InnoDB's writes in the background, at most.",
    ),
    row(
        "innodb_log_buffer_size",
        Global,
        UInt(2_097_152, MAX, 1),
        "16777216",
        Startup,
        "InnoDB's memory for its log.",
    ),
    row(
        "innodb_log_file_size",
        Global,
        UInt(1_048_576, MAX, 4096),
        "33554432",
        Startup,
        "Bytes of one file of the log.",
    )
    .option(|o, v| o.segment_size = v.as_u64()),
    row(
        "innodb_log_files_in_group",
        Global,
        UInt(1, 100, 1),
        "1",
        Startup,
        "InnoDB's number of log files.",
    ),
    row(
        "innodb_open_files",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
        "InnoDB's open files.",
    ),
    row(
        "innodb_page_size",
        Global,
        UInt(4096, 65536, 1),
        "4096",
        Startup,
        "Bytes of a page, for tools that ask.",
    ),
    inert(
        "innodb_print_all_deadlocks",
        Global,
        Bool,
        "OFF",
        "InnoDB's log of deadlocks.",
    ),
    inert(
        "innodb_purge_threads",
        Global,
        UInt(1, 32, 1),
        "1",
        "InnoDB's threads that remove old versions.",
    ),
    inert(
        "innodb_read_io_threads",
        Global,
        UInt(1, 64, 1),
        "4",
        "InnoDB's threads that read.",
    ),
    row(
        "innodb_read_only",
        Global,
        Bool,
        "OFF",
        Startup,
        "InnoDB without writes; see `read_only`.",
    ),
    inert(
        "innodb_stats_on_metadata",
        Global,
        Bool,
        "OFF",
        "InnoDB's statistics.",
    ),
    inert(
        "innodb_stats_persistent",
        Global,
        Bool,
        "OFF",
        "InnoDB's statistics.",
    ),
    row(
        "innodb_strict_mode",
        Both,
        Bool,
        "ON",
        Live,
        "Tables with rows that are too large for InnoDB's pages are errors; OFF: warnings.",
    )
    .session(|s, v| s.innodb_strict = v.as_bool()),
    inert(
        "innodb_thread_concurrency",
        Global,
        UInt(0, 1000, 1),
        "0",
        "InnoDB's limit of threads.",
    ),
    row(
        "innodb_version",
        Global,
        Text,
        "",
        Computed,
        "Narwal's own version.",
    ),
    inert(
        "innodb_write_io_threads",
        Global,
        UInt(1, 64, 1),
        "4",
        "InnoDB's threads that write.",
    ),
    row(
        "narwal_scrub_rate",
        Global,
        UInt(0, 1 << 40, 1),
        "1048576",
        Live,
        "Bytes of tables that are read and checked a second in the background; 0 for none.",
    )
    .option(|o, v| o.scrub_rate = v.as_u64())
    .global(|s, v| s.database().set_scrub_rate(v.as_u64())),
    row(
        "narwal_transaction_memory",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
        "Bytes of changes that a transaction holds in memory before they go to a file; 0 to \
         work it out.",
    )
    .option(|o, v| o.spill_bytes = v.as_u64()),
];

const MAX: u64 = u64::MAX;
