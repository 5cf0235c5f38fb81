//! The system variables: names, scopes, types, defaults, and what setting them does. MariaDB's names wherever MariaDB
//! has the thing.

use crate::privileges::PrivilegeSet;
use narwal_sql::SqlMode;
use narwal_types::{SqlError, SqlResult, Value};
use std::sync::Arc;

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// A global value that new sessions start with, and a session value.
    Both,
    /// Session only.
    Session,
}

/// A variable's type and range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// An unsigned integer from the first to the second bound, rounded down to a multiple of the third.
    UInt(u64, u64, u64),
    /// A floating-point number within bounds.
    Double(f64, f64),
    /// One of these names.
    Enum(&'static [&'static str]),
    /// Any of these names.
    Set(&'static [&'static str]),
    /// Free text.
    Text,
    /// A set of SQL modes.
    SqlMode,
    /// A character set's name.
    Charset,
    /// A collation's name.
    Collation,
    /// A time zone: `SYSTEM` or an offset.
    TimeZone,
    /// A storage engine's name.
    Engine,
}

/// What a variable does in Narwal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Has its effect, at run time.
    Live,
    /// Has its effect when given at start (or states a fact); can't be changed at run time (error 1238).
    Startup,
    /// Can't be set at all; its value is made when asked for.
    Computed,
    /// Session state that can be set (`timestamp`, `last_insert_id`).
    State,
    /// Accepted for compatibility; a change has no effect and gives a warning that says so.
    Inert,
    /// Only its default can be set: another value would ask for something that Narwal does not have (error 1235).
    Fixed,
}

/// A system variable.
#[derive(Debug, Clone, Copy)]
pub struct VariableDef {
    /// Name in lower case.
    pub name: &'static str,
    /// Scope.
    pub scope: Scope,
    /// Type.
    pub kind: Kind,
    /// Default as text.
    pub default: &'static str,
    /// What it does.
    pub effect: Effect,
    /// One of these privileges (or SUPER) is needed to set the global value.
    pub needs: PrivilegeSet,
    /// One of these privileges is needed to set the session value; none if empty.
    pub session_needs: PrivilegeSet,
}

const fn def(
    name: &'static str,
    scope: Scope,
    kind: Kind,
    default: &'static str,
    effect: Effect,
) -> VariableDef {
    VariableDef {
        name,
        scope,
        kind,
        default,
        effect,
        needs: PrivilegeSet::SUPER,
        session_needs: PrivilegeSet::NONE,
    }
}

impl VariableDef {
    const fn needs(mut self, p: PrivilegeSet) -> Self {
        self.needs = PrivilegeSet::SUPER.with(p);
        self
    }

    /// SUPER does not do.
    const fn needs_exactly(mut self, p: PrivilegeSet) -> Self {
        self.needs = p;
        self
    }

    const fn session_needs(mut self, p: PrivilegeSet) -> Self {
        self.session_needs = PrivilegeSet::SUPER.with(p);
        self
    }

    /// True if there is a global value.
    pub fn has_global(&self) -> bool {
        self.scope != Scope::Session
    }

    /// True if there is a session value.
    pub fn has_session(&self) -> bool {
        self.scope != Scope::Global
    }
}

const MAX: u64 = u64::MAX;
const M: &[&str] = &[
    "READ-UNCOMMITTED",
    "READ-COMMITTED",
    "REPEATABLE-READ",
    "SERIALIZABLE",
];
const YEAR: u64 = 31_536_000;

use Effect::{Computed, Fixed, Inert, Live, Startup, State};
use Kind::{Bool, Double, Enum, Text, UInt};
use Scope::{Both, Global, Session};

/// All system variables, sorted by name.
pub static VARIABLES: &[VariableDef] = &[
    def(
        "auto_increment_increment",
        Both,
        UInt(1, 65535, 1),
        "1",
        Fixed,
    ),
    def("auto_increment_offset", Both, UInt(1, 65535, 1), "1", Fixed),
    def("autocommit", Both, Bool, "ON", Live),
    def("back_log", Global, UInt(0, 65535, 1), "80", Startup),
    def("basedir", Global, Text, "/usr/", Startup),
    def("big_tables", Both, Bool, "OFF", Inert),
    def("bind_address", Global, Text, "127.0.0.1", Startup),
    def("binlog_alter_two_phase", Both, Bool, "OFF", Fixed)
        .needs(PrivilegeSet::BINLOG_ADMIN)
        .session_needs(PrivilegeSet::BINLOG_ADMIN),
    def("binlog_annotate_row_events", Both, Bool, "ON", Live)
        .needs(PrivilegeSet::BINLOG_ADMIN)
        .session_needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "32768",
        Inert,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_checksum",
        Global,
        Enum(&["NONE", "CRC32"]),
        "CRC32",
        Fixed,
    ),
    def(
        "binlog_commit_wait_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_commit_wait_usec",
        Global,
        UInt(0, 4_294_967_295, 1),
        "100000",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_direct_non_transactional_updates",
        Both,
        Bool,
        "OFF",
        Inert,
    ),
    def("binlog_do_db", Global, Text, "", Startup),
    def("binlog_do_table", Global, Text, "", Startup),
    def(
        "binlog_expire_logs_seconds",
        Global,
        UInt(0, 8_553_600, 1),
        "0",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_file_cache_size",
        Global,
        UInt(8192, MAX, 4096),
        "16384",
        Inert,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_format",
        Both,
        Enum(&["MIXED", "STATEMENT", "ROW"]),
        "ROW",
        Fixed,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_group_commit_sync_delay",
        Global,
        UInt(0, 1_000_000, 1),
        "0",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_group_commit_sync_no_delay_count",
        Global,
        UInt(0, 100_000, 1),
        "0",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def("binlog_ignore_db", Global, Text, "", Startup),
    def("binlog_ignore_table", Global, Text, "", Startup),
    def(
        "binlog_oob_threshold",
        Global,
        UInt(16_384, 134_217_728, 1),
        "1048576",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_optimize_thread_scheduling",
        Global,
        Bool,
        "ON",
        Inert,
    ),
    def(
        "binlog_row_event_max_size",
        Global,
        UInt(256, 4_294_967_040, 256),
        "8192",
        Startup,
    ),
    def(
        "binlog_row_image",
        Both,
        Enum(&["MINIMAL", "NOBLOB", "FULL", "FULL_NODUP"]),
        "FULL",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN)
    .session_needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_row_metadata",
        Global,
        Enum(&["NO_LOG", "MINIMAL", "FULL"]),
        "FULL",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def("binlog_space_limit", Global, UInt(0, MAX, 1), "0", Live).needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_state_interval",
        Global,
        UInt(4096, MAX, 1),
        "2097152",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_stmt_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "32768",
        Inert,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "binlog_storage_engine",
        Global,
        Enum(&["InnoDB", "Narwal", "FILE"]),
        "InnoDB",
        Startup,
    ),
    def(
        "bulk_insert_buffer_size",
        Both,
        UInt(0, MAX, 1),
        "8388608",
        Inert,
    ),
    def("character_set_client", Both, Kind::Charset, "utf8mb4", Live),
    def(
        "character_set_connection",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
    ),
    def(
        "character_set_database",
        Both,
        Kind::Charset,
        "utf8mb4",
        Computed,
    ),
    def(
        "character_set_filesystem",
        Both,
        Kind::Charset,
        "binary",
        Inert,
    ),
    def(
        "character_set_results",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
    ),
    def(
        "character_set_server",
        Both,
        Kind::Charset,
        "utf8mb4",
        Fixed,
    ),
    def(
        "character_set_system",
        Global,
        Kind::Charset,
        "utf8mb3",
        Startup,
    ),
    def("character_sets_dir", Global, Text, "", Startup),
    def("check_constraint_checks", Both, Bool, "ON", Live),
    def(
        "collation_connection",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Live,
    ),
    def(
        "collation_database",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Computed,
    ),
    def(
        "collation_server",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Fixed,
    ),
    def(
        "completion_type",
        Both,
        Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]),
        "NO_CHAIN",
        Live,
    ),
    def(
        "concurrent_insert",
        Global,
        Enum(&["NEVER", "AUTO", "ALWAYS"]),
        "AUTO",
        Inert,
    ),
    def("connect_timeout", Global, UInt(2, YEAR, 1), "10", Live)
        .needs(PrivilegeSet::CONNECTION_ADMIN),
    def(
        "connection_control_failed_connections_threshold",
        Global,
        UInt(0, 2147483647, 1),
        "3",
        Live,
    ),
    def(
        "connection_control_max_connection_delay",
        Global,
        UInt(1000, 2147483647, 1),
        "10000",
        Live,
    ),
    def(
        "connection_control_min_connection_delay",
        Global,
        UInt(1000, 2147483647, 1),
        "1000",
        Live,
    ),
    def("core_file", Global, Bool, "OFF", Startup),
    def("datadir", Global, Text, "", Startup),
    def("date_format", Global, Text, "%Y-%m-%d", Startup),
    def(
        "datetime_format",
        Global,
        Text,
        "%Y-%m-%d %H:%i:%s",
        Startup,
    ),
    def(
        "deadlock_timeout_long",
        Both,
        UInt(0, 4_294_967_295, 1),
        "50000000",
        Inert,
    ),
    def("default_master_connection", Session, Text, "", Live),
    def(
        "default_password_lifetime",
        Global,
        UInt(0, 4294967295, 1),
        "0",
        Live,
    ),
    def("default_storage_engine", Both, Kind::Engine, "InnoDB", Live),
    def("default_tmp_storage_engine", Both, Text, "", Inert),
    def("default_week_format", Both, UInt(0, 7, 1), "0", Fixed),
    def("disconnect_on_expired_password", Global, Bool, "OFF", Live),
    def("div_precision_increment", Both, UInt(0, 38, 1), "4", Fixed),
    def("encrypt_binlog", Global, Bool, "OFF", Startup),
    def(
        "eq_range_index_dive_limit",
        Both,
        UInt(0, 4_294_967_295, 1),
        "200",
        Inert,
    ),
    def("error_count", Session, UInt(0, MAX, 1), "0", Computed),
    def(
        "event_scheduler",
        Global,
        Enum(&["OFF", "ON", "DISABLED"]),
        "OFF",
        Fixed,
    ),
    def("expire_logs_days", Global, Double(0.0, 99.0), "0", Live).needs(PrivilegeSet::BINLOG_ADMIN),
    def("explicit_defaults_for_timestamp", Both, Bool, "ON", Fixed),
    def("external_user", Session, Text, "", Computed),
    def("extra_port", Global, UInt(0, 65535, 1), "0", Startup),
    def("file_key_management_filename", Global, Text, "", Startup),
    def("flush", Global, Bool, "OFF", Inert),
    def("foreign_key_checks", Both, Bool, "ON", Live),
    def("ft_min_word_len", Global, UInt(1, 84, 1), "4", Startup),
    def("general_log", Global, Bool, "OFF", Fixed),
    def("general_log_file", Global, Text, "", Inert),
    def(
        "group_concat_max_len",
        Both,
        UInt(4, 1_073_741_824, 1),
        "1048576",
        Live,
    ),
    def("gtid_binlog_pos", Global, Text, "", Computed),
    def("gtid_binlog_state", Global, Text, "", State).needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "gtid_cleanup_batch_size",
        Global,
        UInt(0, 2_147_483_647, 1),
        "64",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("gtid_current_pos", Global, Text, "", Computed),
    def("gtid_domain_id", Both, UInt(0, 4_294_967_295, 1), "0", Live)
        .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
        .session_needs(PrivilegeSet::BINLOG_REPLAY),
    def("gtid_ignore_duplicates", Global, Bool, "OFF", Fixed)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("gtid_pos_auto_engines", Global, Text, "", Inert)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("gtid_seq_no", Session, UInt(0, MAX, 1), "0", State)
        .session_needs(PrivilegeSet::BINLOG_REPLAY),
    def("gtid_slave_pos", Global, Text, "", State).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("gtid_strict_mode", Global, Bool, "ON", Live).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("have_compress", Global, Text, "NO", Computed),
    def("have_crypt", Global, Text, "NO", Computed),
    def("have_dynamic_loading", Global, Text, "NO", Computed),
    def("have_geometry", Global, Text, "NO", Computed),
    def("have_openssl", Global, Text, "NO", Computed),
    def("have_profiling", Global, Text, "NO", Computed),
    def("have_query_cache", Global, Text, "NO", Computed),
    def("have_rtree_keys", Global, Text, "NO", Computed),
    def("have_ssl", Global, Text, "YES", Startup),
    def("have_symlink", Global, Text, "DISABLED", Computed),
    def("host_cache_size", Global, UInt(0, 65536, 1), "0", Inert),
    def("hostname", Global, Text, "", Startup),
    def("identity", Session, UInt(0, MAX, 1), "0", State),
    def(
        "idle_readonly_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Fixed,
    ),
    def(
        "idle_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Fixed,
    ),
    def(
        "idle_write_transaction_timeout",
        Both,
        UInt(0, YEAR, 1),
        "0",
        Fixed,
    ),
    def("in_transaction", Session, UInt(0, 1, 1), "0", Computed),
    def("init_connect", Global, Text, "", Fixed).needs(PrivilegeSet::CONNECTION_ADMIN),
    def("init_file", Global, Text, "", Startup),
    def("init_slave", Global, Text, "", Fixed).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("innodb_adaptive_hash_index", Global, Bool, "OFF", Inert),
    def(
        "innodb_autoinc_lock_mode",
        Global,
        UInt(0, 2, 1),
        "2",
        Startup,
    ),
    def(
        "innodb_buffer_pool_instances",
        Global,
        UInt(0, 64, 1),
        "1",
        Startup,
    ),
    def(
        "innodb_buffer_pool_size",
        Global,
        UInt(2_097_152, MAX, 1_048_576),
        "268435456",
        Startup,
    ),
    def("innodb_deadlock_detect", Global, Bool, "ON", Fixed),
    def(
        "innodb_default_row_format",
        Global,
        Enum(&["redundant", "compact", "dynamic"]),
        "dynamic",
        Inert,
    ),
    def("innodb_doublewrite", Global, Bool, "OFF", Startup),
    def("innodb_encrypt_log", Global, Bool, "OFF", Startup),
    def(
        "innodb_encrypt_tables",
        Global,
        Enum(&["OFF", "ON", "FORCE"]),
        "OFF",
        Startup,
    ),
    def("innodb_fast_shutdown", Global, UInt(0, 3, 1), "1", Inert),
    def("innodb_file_per_table", Global, Bool, "OFF", Inert),
    def(
        "innodb_flush_log_at_timeout",
        Global,
        UInt(0, 2700, 1),
        "1",
        Inert,
    ),
    def(
        "innodb_flush_log_at_trx_commit",
        Global,
        UInt(0, 2, 1),
        "1",
        Live,
    ),
    def(
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
    ),
    def("innodb_flush_neighbors", Global, UInt(0, 2, 1), "0", Inert),
    def(
        "innodb_io_capacity",
        Global,
        UInt(100, 4_294_967_295, 1),
        "200",
        Inert,
    ),
    def(
        "innodb_io_capacity_max",
        Global,
        UInt(100, 4_294_967_295, 1),
        "2000",
        Inert,
    ),
    def(
        "innodb_lock_wait_timeout",
        Both,
        UInt(0, 100_000_000, 1),
        "50",
        Live,
    ),
    def(
        "innodb_log_buffer_size",
        Global,
        UInt(2_097_152, MAX, 1),
        "16777216",
        Startup,
    ),
    def(
        "innodb_log_file_size",
        Global,
        UInt(1_048_576, MAX, 4096),
        "33554432",
        Startup,
    ),
    def(
        "innodb_log_files_in_group",
        Global,
        UInt(1, 100, 1),
        "1",
        Startup,
    ),
    def("innodb_open_files", Global, UInt(0, MAX, 1), "0", Startup),
    def(
        "innodb_page_size",
        Global,
        UInt(4096, 65536, 1),
        "4096",
        Startup,
    ),
    def("innodb_print_all_deadlocks", Global, Bool, "OFF", Inert),
    def("innodb_purge_threads", Global, UInt(1, 32, 1), "1", Inert),
    def("innodb_read_io_threads", Global, UInt(1, 64, 1), "4", Inert),
    def("innodb_read_only", Global, Bool, "OFF", Startup),
    def("innodb_rollback_on_timeout", Global, Bool, "OFF", Startup),
    def("innodb_snapshot_isolation", Both, Bool, "ON", Live),
    def("innodb_stats_on_metadata", Global, Bool, "OFF", Inert),
    def("innodb_stats_persistent", Global, Bool, "OFF", Inert),
    def("innodb_strict_mode", Both, Bool, "ON", Inert),
    def(
        "innodb_thread_concurrency",
        Global,
        UInt(0, 1000, 1),
        "0",
        Inert,
    ),
    def("innodb_version", Global, Text, "", Computed),
    def(
        "innodb_write_io_threads",
        Global,
        UInt(1, 64, 1),
        "4",
        Inert,
    ),
    def("insert_id", Session, UInt(0, MAX, 1), "0", Fixed),
    def("interactive_timeout", Both, UInt(1, YEAR, 1), "28800", Live),
    def(
        "join_buffer_size",
        Both,
        UInt(128, MAX, 128),
        "262144",
        Live,
    ),
    def("key_buffer_size", Global, UInt(0, MAX, 1), "0", Inert),
    def("large_files_support", Global, Bool, "ON", Computed),
    def("last_gtid", Session, Text, "", Computed),
    def("last_insert_id", Session, UInt(0, MAX, 1), "0", State),
    def("lc_messages", Both, Enum(&["en_US"]), "en_US", Live),
    def("lc_time_names", Both, Enum(&["en_US"]), "en_US", Live),
    def("license", Global, Text, "Apache-2.0", Computed),
    def("local_infile", Global, Bool, "ON", Live),
    def("lock_wait_timeout", Both, UInt(0, YEAR, 1), "86400", Live),
    def("log_bin", Global, Bool, "ON", Computed),
    def("log_bin_basename", Global, Text, "", Computed),
    def("log_bin_compress", Global, Bool, "OFF", Fixed).needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "log_bin_compress_min_len",
        Global,
        UInt(10, 1024, 1),
        "256",
        Inert,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def("log_bin_index", Global, Text, "", Computed),
    def("log_bin_trust_function_creators", Global, Bool, "ON", Inert),
    def("log_error", Global, Text, "", Startup),
    def("log_output", Global, Text, "FILE", Inert),
    def("log_queries_not_using_indexes", Both, Bool, "OFF", Fixed),
    def("log_slave_updates", Global, Bool, "ON", Startup),
    def("log_slow_slave_statements", Global, Bool, "ON", Inert)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("log_warnings", Both, UInt(0, 4_294_967_295, 1), "2", Inert),
    def(
        "long_query_time",
        Both,
        Double(0.0, 31_536_000.0),
        "10",
        Inert,
    ),
    def("low_priority_updates", Both, Bool, "OFF", Inert),
    def("lower_case_file_system", Global, Bool, "OFF", Computed),
    def("lower_case_table_names", Global, UInt(0, 2, 1), "0", Fixed),
    def(
        "master_retry_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "100000",
        Startup,
    ),
    def(
        "max_allowed_packet",
        Both,
        UInt(1024, 1_073_741_824, 1024),
        "16777216",
        Live,
    ),
    def(
        "max_binlog_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "18446744073709547520",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "max_binlog_size",
        Global,
        UInt(4096, 1_073_741_824, 4096),
        "1073741824",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "max_binlog_stmt_cache_size",
        Global,
        UInt(4096, MAX, 4096),
        "18446744073709547520",
        Inert,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def("max_binlog_total_size", Global, UInt(0, MAX, 1), "0", Live)
        .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "max_connect_errors",
        Global,
        UInt(1, 4_294_967_295, 1),
        "100",
        Inert,
    )
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    def("max_connections", Global, UInt(10, 100_000, 1), "151", Live)
        .needs(PrivilegeSet::CONNECTION_ADMIN),
    def("max_error_count", Both, UInt(0, 65535, 1), "64", Live),
    def(
        "max_heap_table_size",
        Both,
        UInt(16384, MAX, 1024),
        "67108864",
        Live,
    ),
    def(
        "max_join_size",
        Both,
        UInt(1, MAX, 1),
        "18446744073709551615",
        Inert,
    ),
    def(
        "max_length_for_sort_data",
        Both,
        UInt(4, 8_388_608, 1),
        "1024",
        Inert,
    ),
    def(
        "max_password_errors",
        Global,
        UInt(1, 4294967295, 1),
        "4294967295",
        Live,
    ),
    def(
        "max_prepared_stmt_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "16382",
        Live,
    ),
    def(
        "max_recursive_iterations",
        Both,
        UInt(0, 4_294_967_295, 1),
        "1000",
        Live,
    ),
    def(
        "max_relay_log_size",
        Both,
        UInt(0, 1_073_741_824, 4096),
        "1073741824",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "max_session_mem_used",
        Both,
        UInt(8192, MAX, 1),
        "9223372036854775807",
        Live,
    ),
    def(
        "max_sort_length",
        Both,
        UInt(64, 8_388_608, 1),
        "1024",
        Inert,
    ),
    def(
        "max_statement_time",
        Both,
        Double(0.0, 31_536_000.0),
        "0",
        Live,
    ),
    def(
        "max_tmp_session_space_usage",
        Both,
        UInt(0, MAX, 65536),
        "1099511627776",
        Live,
    ),
    def(
        "max_user_connections",
        Both,
        UInt(0, 2_147_483_647, 1),
        "0",
        Fixed,
    ),
    def(
        "min_examined_row_limit",
        Both,
        UInt(0, 4_294_967_295, 1),
        "0",
        Inert,
    ),
    def(
        "myisam_sort_buffer_size",
        Both,
        UInt(4096, MAX, 1),
        "134217728",
        Inert,
    ),
    def(
        "narwal_archive_timeout",
        Global,
        UInt(0, 86_400, 1),
        "60",
        Live,
    ),
    def("narwal_archive_url", Global, Text, "", Startup),
    def("narwal_client_affinity", Global, Bool, "ON", Startup),
    def("narwal_group_commit_auto_wait", Global, Bool, "ON", Live)
        .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "narwal_gtid_gaps",
        Global,
        Enum(&["STOP", "WARN"]),
        "STOP",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "narwal_log_compression",
        Global,
        Enum(&["none", "zstd"]),
        "none",
        Startup,
    ),
    def(
        "narwal_log_compression_level",
        Global,
        UInt(1, 19, 1),
        "1",
        Startup,
    ),
    def(
        "narwal_log_compression_min_length",
        Global,
        UInt(64, 268_435_456, 1),
        "256",
        Startup,
    ),
    def(
        "narwal_log_parallel_syncs",
        Global,
        UInt(1, 16, 1),
        "8",
        Startup,
    ),
    def("narwal_memory", Global, UInt(0, MAX, 1), "0", Startup),
    def(
        "narwal_replica_queue_bytes",
        Global,
        UInt(65_536, MAX, 1),
        "67108864",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "narwal_scrub_rate",
        Global,
        UInt(0, 1 << 40, 1),
        "1048576",
        Live,
    ),
    def(
        "narwal_text_plan_cache_size",
        Both,
        UInt(0, 65_536, 1),
        "128",
        Live,
    ),
    def(
        "narwal_time_slice",
        Global,
        UInt(0, 100_000, 1),
        "100",
        Startup,
    ),
    def(
        "narwal_transaction_memory",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
    ),
    def(
        "net_buffer_length",
        Both,
        UInt(1024, 1_048_576, 1024),
        "16384",
        Inert,
    ),
    def("net_read_timeout", Both, UInt(1, YEAR, 1), "30", Live),
    def(
        "net_retry_count",
        Both,
        UInt(1, 4_294_967_295, 1),
        "10",
        Inert,
    ),
    def("net_write_timeout", Both, UInt(1, YEAR, 1), "60", Live),
    def("old_mode", Both, Text, "", Inert),
    def("old_passwords", Both, Bool, "OFF", Fixed),
    def(
        "open_files_limit",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Startup,
    ),
    def("optimizer_prune_level", Both, UInt(0, 2, 1), "2", Inert),
    def("optimizer_search_depth", Both, UInt(0, 62, 1), "62", Inert),
    def("optimizer_switch", Both, Text, "", Inert),
    def("performance_schema", Global, Bool, "OFF", Startup),
    def("pid_file", Global, Text, "", Startup),
    def("plugin_dir", Global, Text, "", Startup),
    def("plugin_load", Global, Text, "", Startup),
    def("plugin_load_add", Global, Text, "", Startup),
    def("port", Global, UInt(0, 65535, 1), "3306", Startup),
    def(
        "preload_buffer_size",
        Both,
        UInt(1024, 1_073_741_824, 1),
        "32768",
        Inert,
    ),
    def("profiling", Both, Bool, "OFF", Fixed),
    def("protocol_version", Global, UInt(0, 255, 1), "10", Computed),
    def("proxy_user", Session, Text, "", Computed),
    def("pseudo_slave_mode", Session, Bool, "OFF", Inert)
        .session_needs(PrivilegeSet::BINLOG_REPLAY),
    def("pseudo_thread_id", Session, UInt(0, MAX, 1), "0", Computed),
    def(
        "query_alloc_block_size",
        Both,
        UInt(1024, 4_294_967_295, 1024),
        "32768",
        Inert,
    ),
    def(
        "query_cache_limit",
        Global,
        UInt(0, 4_294_967_295, 1),
        "1048576",
        Inert,
    ),
    def("query_cache_size", Global, UInt(0, MAX, 1024), "0", Fixed),
    def(
        "query_cache_type",
        Both,
        Enum(&["OFF", "ON", "DEMAND"]),
        "OFF",
        Fixed,
    ),
    def(
        "query_prealloc_size",
        Both,
        UInt(1024, 4_294_967_295, 1024),
        "32768",
        Inert,
    ),
    def("rand_seed1", Session, UInt(0, MAX, 1), "0", Inert),
    def("rand_seed2", Session, UInt(0, MAX, 1), "0", Inert),
    def(
        "read_binlog_speed_limit",
        Global,
        UInt(0, MAX, 1),
        "0",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "read_buffer_size",
        Both,
        UInt(8192, 2_147_483_647, 4096),
        "131072",
        Inert,
    ),
    def("read_only", Global, Bool, "OFF", Live).needs_exactly(PrivilegeSet::READ_ONLY_ADMIN),
    def(
        "read_rnd_buffer_size",
        Both,
        UInt(1, 2_147_483_647, 1),
        "262144",
        Inert,
    ),
    def("relay_log", Global, Text, "", Startup),
    def("relay_log_basename", Global, Text, "", Startup),
    def("relay_log_index", Global, Text, "", Startup),
    def("relay_log_info_file", Global, Text, "", Startup),
    def("relay_log_purge", Global, Bool, "ON", Inert).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("relay_log_recovery", Global, Bool, "OFF", Inert)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "relay_log_space_limit",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
    ),
    def("replicate_do_db", Global, Text, "", State).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_do_table", Global, Text, "", State).needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "replicate_events_marked_for_skip",
        Global,
        Enum(&["REPLICATE", "FILTER_ON_SLAVE", "FILTER_ON_MASTER"]),
        "REPLICATE",
        Fixed,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_ignore_db", Global, Text, "", State)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_ignore_table", Global, Text, "", State)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_rewrite_db", Global, Text, "", Fixed)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_wild_do_table", Global, Text, "", State)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("replicate_wild_ignore_table", Global, Text, "", State)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("report_host", Global, Text, "", Startup),
    def("report_password", Global, Text, "", Startup),
    def("report_port", Global, UInt(0, 65535, 1), "0", Startup),
    def("report_user", Global, Text, "", Startup),
    def("require_secure_transport", Global, Bool, "OFF", Live),
    def("rpl_semi_sync_master_enabled", Global, Bool, "OFF", Live)
        .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_master_timeout",
        Global,
        UInt(0, MAX, 1),
        "10000",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_master_trace_level",
        Global,
        UInt(0, MAX, 1),
        "32",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_master_wait_for_slave_count",
        Global,
        UInt(1, 65535, 1),
        "1",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_master_wait_no_slave",
        Global,
        Bool,
        "ON",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_master_wait_point",
        Global,
        Enum(&["AFTER_SYNC", "AFTER_COMMIT"]),
        "AFTER_COMMIT",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN),
    def(
        "rpl_semi_sync_slave_delay_master",
        Global,
        Bool,
        "OFF",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("rpl_semi_sync_slave_enabled", Global, Bool, "OFF", Live)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "rpl_semi_sync_slave_kill_conn_timeout",
        Global,
        UInt(0, 4_294_967_295, 1),
        "5",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "rpl_semi_sync_slave_trace_level",
        Global,
        UInt(0, MAX, 1),
        "32",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("secure_auth", Global, Bool, "ON", Fixed),
    def("secure_file_priv", Global, Text, "", Startup),
    def(
        "server_audit_events",
        Global,
        Kind::Set(crate::audit::EVENTS),
        "",
        Live,
    ),
    def("server_audit_excl_users", Global, Text, "", Live),
    def(
        "server_audit_file_path",
        Global,
        Text,
        "server_audit.log",
        Live,
    ),
    def("server_audit_file_rotate_now", Global, Bool, "OFF", Live),
    def(
        "server_audit_file_rotate_size",
        Global,
        UInt(100, 9_223_372_036_854_775_807, 1),
        "1000000",
        Live,
    ),
    def(
        "server_audit_file_rotations",
        Global,
        UInt(0, 999, 1),
        "9",
        Live,
    ),
    def("server_audit_incl_users", Global, Text, "", Live),
    def("server_audit_logging", Global, Bool, "OFF", Live),
    def(
        "server_audit_output_type",
        Global,
        Enum(&["file"]),
        "file",
        Live,
    ),
    def(
        "server_audit_query_log_limit",
        Global,
        UInt(0, 2_147_483_647, 1),
        "1024",
        Live,
    ),
    def("server_id", Both, UInt(1, 4_294_967_295, 1), "1", Live)
        .needs(PrivilegeSet::REPLICATION_MASTER_ADMIN)
        .session_needs(PrivilegeSet::BINLOG_REPLAY),
    def("session_track_schema", Both, Bool, "ON", Live),
    def("session_track_state_change", Both, Bool, "OFF", Live),
    def(
        "session_track_system_variables",
        Both,
        Text,
        "autocommit,character_set_client,character_set_connection,character_set_results,time_zone",
        Live,
    ),
    def(
        "session_track_transaction_info",
        Both,
        Enum(&["OFF", "STATE", "CHARACTERISTICS"]),
        "OFF",
        Live,
    ),
    def(
        "simple_password_check_digits",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
    ),
    def(
        "simple_password_check_letters_same_case",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
    ),
    def(
        "simple_password_check_minimal_length",
        Global,
        UInt(0, 1000, 1),
        "8",
        Live,
    ),
    def(
        "simple_password_check_other_characters",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
    ),
    def("skip_external_locking", Global, Bool, "ON", Startup),
    def("skip_name_resolve", Global, Bool, "ON", Startup),
    def("skip_networking", Global, Bool, "OFF", Startup),
    def("skip_parallel_replication", Session, Bool, "OFF", Inert),
    def("skip_replication", Session, Bool, "OFF", Fixed).session_needs(PrivilegeSet::SUPER),
    def("skip_show_database", Global, Bool, "OFF", Startup),
    def("skip_slave_start", Global, Bool, "OFF", Startup),
    def("slave_compressed_protocol", Global, Bool, "OFF", Fixed)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_connections_needed_for_purge",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Live,
    )
    .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "slave_ddl_exec_mode",
        Global,
        Enum(&["STRICT", "IDEMPOTENT"]),
        "STRICT",
        Fixed,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_domain_parallel_threads",
        Global,
        UInt(0, 16_383, 1),
        "0",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_exec_mode",
        Global,
        Enum(&["STRICT", "IDEMPOTENT"]),
        "STRICT",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("slave_load_tmpdir", Global, Text, "/tmp", Startup),
    def(
        "slave_max_allowed_packet",
        Global,
        UInt(1024, 1_073_741_824, 1024),
        "1073741824",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_max_statement_time",
        Global,
        Double(0.0, 31_536_000.0),
        "0",
        Fixed,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("slave_net_timeout", Global, UInt(1, YEAR, 1), "60", Live)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_parallel_max_queued",
        Global,
        UInt(0, 2_147_483_647, 1),
        "131072",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
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
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_parallel_threads",
        Global,
        UInt(0, 16_383, 1),
        "4",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_parallel_workers",
        Global,
        UInt(0, 16_383, 1),
        "4",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_run_triggers_for_rbr",
        Global,
        Enum(&["NO", "YES", "LOGGING", "ENFORCE"]),
        "NO",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("slave_skip_errors", Global, Text, "OFF", Startup),
    def("slave_sql_verify_checksum", Global, Bool, "ON", Inert)
        .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_transaction_retries",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_transaction_retry_errors",
        Global,
        Text,
        "1205,1213",
        Startup,
    ),
    def(
        "slave_transaction_retry_interval",
        Global,
        UInt(0, 3600, 1),
        "0",
        Fixed,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "slave_type_conversions",
        Global,
        Kind::Set(&["ALL_LOSSY", "ALL_NON_LOSSY"]),
        "",
        Live,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("slow_launch_time", Global, UInt(0, YEAR, 1), "2", Inert),
    def("slow_query_log", Both, Bool, "OFF", Fixed),
    def("slow_query_log_file", Global, Text, "", Inert),
    def("socket", Global, Text, "", Startup),
    def(
        "sort_buffer_size",
        Both,
        UInt(1024, MAX, 1),
        "2097152",
        Live,
    ),
    def("sql_auto_is_null", Both, Bool, "OFF", Fixed),
    def("sql_big_selects", Both, Bool, "ON", Inert),
    def("sql_buffer_result", Both, Bool, "OFF", Inert),
    def("sql_log_bin", Session, Bool, "ON", Live).session_needs(PrivilegeSet::BINLOG_ADMIN),
    def("sql_log_off", Both, Bool, "OFF", Inert).session_needs(PrivilegeSet::SUPER),
    def(
        "sql_mode",
        Both,
        Kind::SqlMode,
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
        Live,
    ),
    def("sql_notes", Both, Bool, "ON", Inert),
    def("sql_quote_show_create", Both, Bool, "ON", Fixed),
    def("sql_safe_updates", Both, Bool, "OFF", Live),
    def(
        "sql_select_limit",
        Both,
        UInt(0, MAX, 1),
        "18446744073709551615",
        Live,
    ),
    def(
        "sql_slave_skip_counter",
        Both,
        UInt(0, 4_294_967_295, 1),
        "0",
        State,
    )
    .session_needs(PrivilegeSet::SUPER),
    def("sql_warnings", Both, Bool, "OFF", Inert),
    def("ssl_ca", Global, Text, "", Startup),
    def("ssl_capath", Global, Text, "", Fixed),
    def("ssl_cert", Global, Text, "", Startup),
    def("ssl_cipher", Global, Text, "", Fixed),
    def("ssl_crl", Global, Text, "", Startup),
    def("ssl_crlpath", Global, Text, "", Fixed),
    def("ssl_key", Global, Text, "", Startup),
    def("standard_compliant_cte", Both, Bool, "ON", Inert),
    def("storage_engine", Both, Kind::Engine, "InnoDB", Live),
    def("strict_password_validation", Global, Bool, "ON", Live),
    def("sync_binlog", Global, UInt(0, 4_294_967_295, 1), "1", Inert)
        .needs(PrivilegeSet::BINLOG_ADMIN),
    def(
        "sync_master_info",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "sync_relay_log",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def(
        "sync_relay_log_info",
        Global,
        UInt(0, 4_294_967_295, 1),
        "10000",
        Inert,
    )
    .needs(PrivilegeSet::REPLICATION_SLAVE_ADMIN),
    def("system_time_zone", Global, Text, "UTC", Computed),
    def(
        "table_definition_cache",
        Global,
        UInt(400, 2_097_152, 1),
        "400",
        Inert,
    ),
    def(
        "table_open_cache",
        Global,
        UInt(10, 1_048_576, 1),
        "2000",
        Inert,
    ),
    def(
        "table_open_cache_instances",
        Global,
        UInt(1, 64, 1),
        "1",
        Startup,
    ),
    def("tcp_nodelay", Both, Bool, "ON", Fixed),
    def("thread_cache_size", Global, UInt(0, 16384, 1), "0", Inert),
    def(
        "thread_handling",
        Global,
        Enum(&["one-thread-per-connection", "no-threads", "pool-of-threads"]),
        "one-thread-per-connection",
        Startup,
    ),
    def(
        "thread_stack",
        Global,
        UInt(131_072, MAX, 1024),
        "8388608",
        Inert,
    ),
    def("time_format", Global, Text, "%H:%i:%s", Startup),
    def("time_zone", Both, Kind::TimeZone, "SYSTEM", Live),
    def(
        "timestamp",
        Session,
        Double(0.0, 4_294_967_295.0),
        "0",
        State,
    ),
    def("tls_version", Global, Text, "TLSv1.2,TLSv1.3", Startup),
    def("tmp_table_size", Both, UInt(0, MAX, 1), "67108864", Live),
    def("tmpdir", Global, Text, "/tmp", Startup),
    def(
        "transaction_alloc_block_size",
        Both,
        UInt(1024, 134_217_728, 1024),
        "8192",
        Inert,
    ),
    def(
        "transaction_isolation",
        Both,
        Enum(M),
        "REPEATABLE-READ",
        Live,
    ),
    def(
        "transaction_prealloc_size",
        Both,
        UInt(1024, 134_217_728, 1024),
        "4096",
        Inert,
    ),
    def("transaction_read_only", Both, Bool, "OFF", Live),
    def("tx_isolation", Both, Enum(M), "REPEATABLE-READ", Live),
    def("tx_read_only", Both, Bool, "OFF", Live),
    def("unique_checks", Both, Bool, "ON", Inert),
    def(
        "updatable_views_with_limit",
        Both,
        Enum(&["NO", "YES"]),
        "YES",
        Inert,
    ),
    def("version", Global, Text, "", Computed),
    def(
        "version_comment",
        Global,
        Text,
        "Narwal: one log for data and replication",
        Computed,
    ),
    def("version_compile_machine", Global, Text, "", Computed),
    def("version_compile_os", Global, Text, "", Computed),
    def("version_malloc_library", Global, Text, "system", Computed),
    def("version_source_revision", Global, Text, "", Computed),
    def("version_ssl_library", Global, Text, "rustls", Computed),
    def("wait_timeout", Both, UInt(1, YEAR, 1), "28800", Live),
    def("warning_count", Session, UInt(0, MAX, 1), "0", Computed),
];

/// Names that share another variable's value.
fn canonical(name: &str) -> &str {
    match name {
        "transaction_isolation" => "tx_isolation",
        "transaction_read_only" => "tx_read_only",
        "storage_engine" => "default_storage_engine",
        "binlog_space_limit" => "max_binlog_total_size",
        // MySQL's names.
        "rpl_semi_sync_source_enabled" => "rpl_semi_sync_master_enabled",
        "rpl_semi_sync_source_timeout" => "rpl_semi_sync_master_timeout",
        "rpl_semi_sync_source_trace_level" => "rpl_semi_sync_master_trace_level",
        "rpl_semi_sync_source_wait_for_replica_count" => {
            "rpl_semi_sync_master_wait_for_slave_count"
        }
        "rpl_semi_sync_source_wait_no_replica" => "rpl_semi_sync_master_wait_no_slave",
        "rpl_semi_sync_source_wait_point" => "rpl_semi_sync_master_wait_point",
        n => n,
    }
}

/// Position in [`VARIABLES`] of a variable by name, in any case. Aliases lead to the entry that holds the value.
pub fn index(name: &str) -> Option<usize> {
    let mut buf = [0u8; 64];
    let name = name.as_bytes();
    let lower = buf.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = canonical(std::str::from_utf8(lower).ok()?);
    VARIABLES.binary_search_by(|d| d.name.cmp(name)).ok()
}

/// A variable by name, in any case; `-` and `_` are different here (option names are folded before).
pub fn lookup(name: &str) -> Option<&'static VariableDef> {
    index(name).map(|i| &VARIABLES[i])
}

/// The name nearest to a misspelt one, if any is near.
pub fn nearest(name: &str) -> Option<&'static str> {
    let name = name.replace('-', "_").to_ascii_lowercase();
    VARIABLES
        .iter()
        .map(|d| (strsim::damerau_levenshtein(d.name, &name), d.name))
        .min()
        .filter(|(distance, n)| *distance <= 2.max(n.len() / 4))
        .map(|(_, n)| n)
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq)]
pub enum VarValue {
    /// ON or OFF.
    Bool(bool),
    /// An integer.
    UInt(u64),
    /// A floating-point number.
    Double(f64),
    /// Anything else.
    Text(Arc<str>),
    /// NULL (`character_set_results` only).
    Null,
}

impl VarValue {
    /// As an expression sees it: ON and OFF are 1 and 0.
    pub fn to_value(&self) -> Value {
        match self {
            VarValue::Bool(b) => Value::Int(i64::from(*b)),
            VarValue::UInt(u) => Value::UInt(*u),
            VarValue::Double(d) => Value::Double(*d),
            VarValue::Text(t) => Value::str(&**t),
            VarValue::Null => Value::Null,
        }
    }

    /// As SHOW VARIABLES prints it.
    pub fn show(&self) -> String {
        match self {
            VarValue::Bool(b) => if *b { "ON" } else { "OFF" }.into(),
            VarValue::UInt(u) => u.to_string(),
            VarValue::Double(d) => format!("{d:.6}"),
            VarValue::Text(t) => t.to_string(),
            VarValue::Null => String::new(),
        }
    }

    /// True for ON.
    pub fn as_bool(&self) -> bool {
        matches!(self, VarValue::Bool(true))
    }

    /// The integer, 0 for other kinds.
    pub fn as_u64(&self) -> u64 {
        match self {
            VarValue::UInt(u) => *u,
            _ => 0,
        }
    }

    /// The number, 0 for other kinds.
    pub fn as_f64(&self) -> f64 {
        match self {
            VarValue::Double(d) => *d,
            VarValue::UInt(u) => *u as f64,
            _ => 0.0,
        }
    }

    /// The text, empty for other kinds.
    pub fn as_str(&self) -> &str {
        match self {
            VarValue::Text(t) => t,
            _ => "",
        }
    }

    /// Text.
    pub fn text(s: impl Into<Arc<str>>) -> Self {
        VarValue::Text(s.into())
    }
}

/// A value that was accepted, with the warning that it was changed to fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The value.
    pub value: VarValue,
    /// Warning text (code 1292), if the given value was out of range.
    pub truncated: Option<String>,
}

fn ok(value: VarValue) -> SqlResult<Accepted> {
    Ok(Accepted {
        value,
        truncated: None,
    })
}

/// Error 1231.
pub(crate) fn wrong_value(name: &str, value: &str) -> SqlError {
    SqlError::new(
        1231,
        b"42000",
        format!("Variable '{name}' can't be set to the value of '{value}'"),
    )
}

/// Error 1232.
fn wrong_type(name: &str) -> SqlError {
    SqlError::new(
        1232,
        b"42000",
        format!("Incorrect argument type to variable '{name}'"),
    )
}

/// Error 1193.
pub fn unknown(name: &str) -> SqlError {
    SqlError::new(1193, b"HY000", format!("Unknown system variable '{name}'"))
}

fn fit(d: &VariableDef, given: &str, v: u64, clipped: bool) -> Accepted {
    let Kind::UInt(min, max, block) = d.kind else {
        return Accepted {
            value: VarValue::UInt(v),
            truncated: None,
        };
    };
    let fitted = v.clamp(min, max) / block * block;
    Accepted {
        value: VarValue::UInt(fitted.max(min)),
        truncated: (clipped || fitted.max(min) != v)
            .then(|| format!("Truncated incorrect {} value: '{given}'", d.name)),
    }
}

impl VariableDef {
    /// The default value.
    pub fn default_value(&self) -> VarValue {
        match self.kind {
            Kind::Bool => VarValue::Bool(self.default == "ON"),
            Kind::UInt(..) => VarValue::UInt(self.default.parse().unwrap_or(0)),
            Kind::Double(..) => VarValue::Double(self.default.parse().unwrap_or(0.0)),
            _ => VarValue::text(self.default),
        }
    }

    /// Checks the value of a SET statement. `value` is what the expression gave; a bare word comes as a string.
    pub fn accept(&self, value: &Value) -> SqlResult<Accepted> {
        if value.is_null() {
            return if self.name == "character_set_results" {
                ok(VarValue::Null)
            } else if matches!(self.kind, Kind::UInt(..) | Kind::Double(..)) {
                Err(wrong_type(self.name))
            } else {
                Err(wrong_value(self.name, "NULL"))
            };
        }
        match self.kind {
            Kind::Bool => match value {
                Value::Int(0) | Value::UInt(0) => ok(VarValue::Bool(false)),
                Value::Int(1) | Value::UInt(1) => ok(VarValue::Bool(true)),
                Value::Int(n) => Err(wrong_value(self.name, &n.to_string())),
                Value::UInt(n) => Err(wrong_value(self.name, &n.to_string())),
                Value::Str(s) if s.eq_ignore_ascii_case("on") || s.eq_ignore_ascii_case("true") => {
                    ok(VarValue::Bool(true))
                }
                Value::Str(s)
                    if s.eq_ignore_ascii_case("off") || s.eq_ignore_ascii_case("false") =>
                {
                    ok(VarValue::Bool(false))
                }
                Value::Str(s) => Err(wrong_value(self.name, s)),
                _ => Err(wrong_type(self.name)),
            },
            Kind::UInt(..) => match value {
                Value::Int(n) => Ok(fit(
                    self,
                    &n.to_string(),
                    u64::try_from(*n).unwrap_or(0),
                    *n < 0,
                )),
                Value::UInt(n) => Ok(fit(self, &n.to_string(), *n, false)),
                _ => Err(wrong_type(self.name)),
            },
            Kind::Double(min, max) => {
                let v = match value {
                    Value::Int(n) => *n as f64,
                    Value::UInt(n) => *n as f64,
                    Value::Double(d) => *d,
                    Value::Float(d) => f64::from(*d),
                    Value::Decimal(d) => d.to_string().parse().unwrap_or(0.0),
                    _ => return Err(wrong_type(self.name)),
                };
                let fitted = v.clamp(min, max);
                Ok(Accepted {
                    value: VarValue::Double(fitted),
                    truncated: (fitted != v)
                        .then(|| format!("Truncated incorrect {} value: '{v}'", self.name)),
                })
            }
            Kind::Enum(names) => match value {
                Value::Str(s) => names
                    .iter()
                    .find(|n| n.eq_ignore_ascii_case(s.trim()))
                    .map_or_else(
                        || Err(wrong_value(self.name, s)),
                        |n| ok(VarValue::text(*n)),
                    ),
                Value::Int(_) | Value::UInt(_) => {
                    let i = match value {
                        Value::Int(i) => usize::try_from(*i).ok(),
                        Value::UInt(i) => usize::try_from(*i).ok(),
                        _ => None,
                    };
                    i.and_then(|i| names.get(i)).map_or_else(
                        || Err(wrong_value(self.name, &show_value(value))),
                        |n| ok(VarValue::text(*n)),
                    )
                }
                _ => Err(wrong_type(self.name)),
            },
            Kind::SqlMode => {
                let mode = match value {
                    Value::Str(s) => {
                        SqlMode::parse(s).map_err(|bad| wrong_value(self.name, &bad))?
                    }
                    Value::Int(i) if *i >= 0 && *i < 1 << 35 => SqlMode(*i as u64),
                    Value::UInt(i) if *i < 1 << 35 => SqlMode(*i),
                    Value::Int(_) | Value::UInt(_) => {
                        return Err(wrong_value(self.name, &show_value(value)));
                    }
                    _ => return Err(wrong_type(self.name)),
                };
                if let Some(name) = unsupported_mode(mode) {
                    return Err(SqlError::unsupported(format!("sql_mode={name}")));
                }
                ok(VarValue::text(mode.names()))
            }
            Kind::Charset => match value {
                Value::Str(s) => ok(VarValue::text(crate::charset::charset(s)?.name())),
                _ => Err(wrong_type(self.name)),
            },
            Kind::Collation => match value {
                Value::Str(s) => ok(VarValue::text(crate::charset::collation(s)?.name())),
                _ => Err(wrong_type(self.name)),
            },
            Kind::TimeZone => match value {
                Value::Str(s) => {
                    let name = narwal_types::Zone::parse(s)
                        .ok_or_else(|| {
                            SqlError::new(
                                1298,
                                b"HY000",
                                format!("Unknown or incorrect time zone: '{s}'"),
                            )
                        })?
                        .1;
                    ok(VarValue::text(name))
                }
                _ => Err(wrong_type(self.name)),
            },
            Kind::Engine => match value {
                Value::Str(s) if s.eq_ignore_ascii_case("innodb") => ok(VarValue::text("InnoDB")),
                Value::Str(s) if s.eq_ignore_ascii_case("narwal") => ok(VarValue::text("Narwal")),
                Value::Str(s) => Err(SqlError::new(
                    1286,
                    b"42000",
                    format!("Unknown storage engine '{s}'"),
                )),
                _ => Err(wrong_type(self.name)),
            },
            Kind::Set(names) => {
                let given = match value {
                    Value::Str(s) => s.to_string(),
                    Value::Int(_) | Value::UInt(_) => show_value(value),
                    _ => return Err(wrong_type(self.name)),
                };
                set_of(names, &given)
                    .map(|v| Accepted {
                        value: VarValue::text(v),
                        truncated: None,
                    })
                    .ok_or_else(|| wrong_value(self.name, &given))
            }
            Kind::Text => match value {
                Value::Str(s) => ok(VarValue::text(&**s)),
                _ => Err(wrong_type(self.name)),
            },
        }
    }

    /// Checks a value of the command line or an option file. Sizes may end in K, M, G or T. The error is a sentence
    /// for the person at the terminal.
    pub fn accept_option(&self, text: Option<&str>) -> Result<Accepted, String> {
        let bad = |what: &str| {
            format!(
                "--{}: {what}, but the value is '{}'",
                self.name.replace('_', "-"),
                text.unwrap_or_default()
            )
        };
        let value = match (self.kind, text) {
            (Kind::Bool, None) => Value::Int(1),
            (Kind::Bool, Some(t)) => match t.to_ascii_lowercase().as_str() {
                "1" | "on" | "true" | "yes" => Value::Int(1),
                "0" | "off" | "false" | "no" => Value::Int(0),
                _ => return Err(bad("it must be ON or OFF")),
            },
            (_, None) => return Err(format!("--{} needs a value", self.name.replace('_', "-"))),
            (Kind::UInt(min, max, _), Some(t)) => {
                let n = parse_size(t).ok_or_else(|| bad("it must be a number"))?;
                if n < min || n > max {
                    return Err(bad(&format!("it must be {min} to {max}")));
                }
                Value::UInt(n)
            }
            (Kind::Double(..), Some(t)) => {
                Value::Double(t.trim().parse().map_err(|_| bad("it must be a number"))?)
            }
            (Kind::Enum(_) | Kind::SqlMode, Some(t)) if t.parse::<u32>().is_ok() => {
                Value::Int(t.parse().unwrap_or(0))
            }
            (_, Some(t)) => Value::str(t),
        };
        self.accept(&value).map_err(|e| e.message.to_string())
    }
}

/// Members of a set by their names (with commas between) or as a bit mask, in the set's order.
fn set_of(names: &[&str], given: &str) -> Option<String> {
    let mut mask = 0u64;
    if let Ok(bits) = given.parse::<u64>() {
        mask = bits;
    } else {
        for part in given.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            mask |= 1 << names.iter().position(|n| n.eq_ignore_ascii_case(part))?;
        }
    }
    if mask >> names.len() != 0 {
        return None;
    }
    let members: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(i, _)| mask >> i & 1 == 1)
        .map(|(_, n)| *n)
        .collect();
    Some(members.join(","))
}

fn show_value(v: &Value) -> String {
    match v {
        Value::Int(i) => i.to_string(),
        Value::UInt(i) => i.to_string(),
        Value::Str(s) => s.to_string(),
        _ => String::new(),
    }
}

/// A number with an optional K, M, G or T.
pub fn parse_size(text: &str) -> Option<u64> {
    let t = text.trim();
    let (digits, unit) = match t.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&t[..t.len() - 1], 1 << 10),
        b'm' => (&t[..t.len() - 1], 1 << 20),
        b'g' => (&t[..t.len() - 1], 1 << 30),
        b't' => (&t[..t.len() - 1], 1u64 << 40),
        _ => (t, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The table of `docs/variables.md`.
#[cfg(test)]
fn markdown() -> String {
    let mut s = String::from(
        "| Variable | Scope | Values | Default | Setting it |\n|---|---|---|---|---|\n",
    );
    for d in VARIABLES {
        let scope = match d.scope {
            Scope::Global => "global",
            Scope::Both => "both",
            Scope::Session => "session",
        };
        let values = match d.kind {
            Kind::Bool => "ON, OFF".to_string(),
            Kind::UInt(min, u64::MAX, _) => format!("{min} and up"),
            Kind::UInt(min, max, _) => format!("{min} to {max}"),
            Kind::Double(min, max) => format!("{min} to {max}, with fractions"),
            Kind::Enum(names) => names.join(", "),
            Kind::Set(names) => format!("any of {}", names.join(", ")),
            Kind::Text => "text".into(),
            Kind::SqlMode => "SQL modes".into(),
            Kind::Charset => "character set".into(),
            Kind::Collation => "collation".into(),
            Kind::TimeZone => {
                "`SYSTEM` (UTC), `-12:59` to `+13:00`, names such as `Europe/Berlin`".into()
            }
            Kind::Engine => "InnoDB, Narwal".into(),
        };
        let effect = match d.effect {
            Effect::Live => "takes effect",
            Effect::Startup => "at start only",
            Effect::Computed => "read only",
            Effect::State => "takes effect",
            Effect::Inert => "no effect, with a warning",
            Effect::Fixed => "default only",
        };
        let default = if d.default.is_empty() {
            String::new()
        } else {
            format!("`{}`", d.default)
        };
        s.push_str(&format!(
            "| `{}` | {scope} | {values} | {default} | {effect} |\n",
            d.name
        ));
    }
    s
}

/// SQL modes that would change what statements mean and that Narwal does not have.
fn unsupported_mode(mode: SqlMode) -> Option<&'static str> {
    const CHANGES_MEANING: [&str; 11] = [
        "POSTGRESQL",
        "ORACLE",
        "MSSQL",
        "DB2",
        "MAXDB",
        "MYSQL323",
        "MYSQL40",
        "HIGH_NOT_PRECEDENCE",
        "EMPTY_STRING_IS_NULL",
        "SIMULTANEOUS_ASSIGNMENT",
        "TIME_ROUND_FRACTIONAL",
    ];
    narwal_sql::sql_mode::SQL_MODE_NAMES
        .iter()
        .enumerate()
        .find(|(i, n)| mode.0 >> i & 1 == 1 && CHANGES_MEANING.contains(*n))
        .map(|(_, n)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_within_the_lookup_buffer() {
        for w in VARIABLES.windows(2) {
            assert!(w[0].name < w[1].name, "{} < {}", w[0].name, w[1].name);
        }
        for d in VARIABLES {
            assert!(d.name.len() <= 64);
            assert!(lookup(d.name).is_some());
        }
        assert_eq!(lookup("AutoCommit").unwrap().name, "autocommit");
        assert_eq!(
            lookup("transaction_isolation").unwrap().name,
            "tx_isolation"
        );
        assert!(lookup("nope").is_none());
        assert!(lookup(&"x".repeat(100)).is_none());
    }

    /// With NARWAL_BLESS=1 in the environment it writes the table instead.
    #[test]
    fn the_documentation_lists_every_variable() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/variables.md");
        let doc = std::fs::read_to_string(path).unwrap();
        let start = doc.find("| Variable |").unwrap();
        if std::env::var_os("NARWAL_BLESS").is_some() {
            std::fs::write(path, format!("{}{}", &doc[..start], markdown())).unwrap();
            return;
        }
        assert_eq!(
            &doc[start..],
            markdown(),
            "run this test with NARWAL_BLESS=1"
        );
    }

    #[test]
    fn defaults_are_acceptable_to_their_own_type() {
        for d in VARIABLES {
            if matches!(d.kind, Kind::Text) || d.effect == Computed {
                continue;
            }
            let v = d.default_value();
            let given = match (&v, d.kind) {
                (VarValue::Bool(b), _) => Value::Int(i64::from(*b)),
                _ => v.to_value(),
            };
            assert_eq!(d.accept(&given).unwrap().value, v, "{}", d.name);
        }
    }

    #[test]
    fn wrong_values_get_mariadbs_errors() {
        let code = |name: &str, v: Value| lookup(name).unwrap().accept(&v).unwrap_err().code;
        assert_eq!(code("autocommit", Value::str("abc")), 1231);
        assert_eq!(code("autocommit", Value::Int(2)), 1231);
        assert_eq!(code("autocommit", Value::Double(1.5)), 1232);
        assert_eq!(code("max_allowed_packet", Value::str("abc")), 1232);
        assert_eq!(code("binlog_format", Value::str("foo")), 1231);
        assert_eq!(code("tx_isolation", Value::str("foo")), 1231);
        assert_eq!(code("sql_mode", Value::str("foo")), 1231);
        assert_eq!(code("sql_mode", Value::str("oracle")), 1235);
        assert_eq!(code("time_zone", Value::str("+15:00")), 1298);
        assert_eq!(code("character_set_client", Value::Null), 1231);
        assert_eq!(code("collation_connection", Value::str("foo")), 1273);
        assert_eq!(code("default_storage_engine", Value::str("foo")), 1286);
    }

    #[test]
    fn integers_out_of_range_are_clipped_with_a_warning() {
        let a = lookup("innodb_flush_log_at_trx_commit")
            .unwrap()
            .accept(&Value::Int(7))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(2));
        assert_eq!(
            a.truncated.as_deref(),
            Some("Truncated incorrect innodb_flush_log_at_trx_commit value: '7'")
        );
        let a = lookup("max_allowed_packet")
            .unwrap()
            .accept(&Value::Int(5000))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(4096));
        assert!(a.truncated.is_some());
        let a = lookup("wait_timeout")
            .unwrap()
            .accept(&Value::Int(-5))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(1));
    }

    #[test]
    fn options_take_sizes_and_suggest() {
        let d = lookup("innodb_buffer_pool_size").unwrap();
        assert_eq!(
            d.accept_option(Some("128M")).unwrap().value,
            VarValue::UInt(128 << 20)
        );
        assert!(d.accept_option(Some("lots")).is_err());
        assert!(d.accept_option(Some("1")).is_err());
        assert_eq!(
            lookup("skip_name_resolve")
                .unwrap()
                .accept_option(None)
                .unwrap()
                .value,
            VarValue::Bool(true)
        );
        assert_eq!(nearest("max-conections"), Some("max_connections"));
        assert_eq!(nearest("zzzzzzzz"), None);
        assert_eq!(parse_size("1G"), Some(1 << 30));
        assert_eq!(parse_size("99999999999T"), None);
    }
}
