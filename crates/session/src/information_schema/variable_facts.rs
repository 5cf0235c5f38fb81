//! `information_schema.SYSTEM_VARIABLES`: what a variable is, and what MariaDB says of its C type and its option.

use super::rows::Rows;
use crate::variables::{Effect, Kind, Scope, VARIABLES, VarValue, VariableDef};
use crate::view::View;
use narwal_sql::virtual_tables::Wanted;
use narwal_sql::{StatementEnv, VariableScope};
use narwal_syntax::sql_mode::SQL_MODE_NAMES;
use narwal_types::{SqlResult, Value};

/// Numbers of 32 bits.
const INTS_WITHOUT_SIGN: &[&str] = &[
    "analyze_max_length",
    "column_compression_threshold",
    "column_compression_zlib_level",
    "default_password_lifetime",
    "eq_range_index_dive_limit",
    "extra_port",
    "group_concat_max_len",
    "gtid_cleanup_batch_size",
    "gtid_domain_id",
    "idle_readonly_transaction_timeout",
    "idle_transaction_timeout",
    "idle_write_transaction_timeout",
    "in_predicate_conversion_threshold",
    "innodb_autoextend_increment",
    "innodb_change_buffer_max_size",
    "innodb_compression_level",
    "innodb_default_encryption_key_id",
    "innodb_defragment_fill_factor_n_recs",
    "innodb_defragment_frequency",
    "innodb_defragment_n_pages",
    "innodb_defragment_stats_accuracy",
    "innodb_encryption_rotate_key_age",
    "innodb_encryption_rotation_iops",
    "innodb_encryption_threads",
    "innodb_fast_shutdown",
    "innodb_fill_factor",
    "innodb_flush_log_at_timeout",
    "innodb_lock_wait_timeout",
    "innodb_log_buffer_size",
    "innodb_log_spin_wait_delay",
    "innodb_log_write_ahead_size",
    "innodb_max_purge_lag_wait",
    "innodb_old_blocks_pct",
    "innodb_old_blocks_time",
    "innodb_purge_threads",
    "innodb_read_io_threads",
    "innodb_spin_wait_delay",
    "innodb_stats_persistent_sample_pages",
    "innodb_stats_transient_sample_pages",
    "innodb_undo_tablespaces",
    "innodb_write_io_threads",
    "large_page_size",
    "log_bin_compress_min_len",
    "lower_case_table_names",
    "max_digest_length",
    "max_password_errors",
    "max_prepared_stmt_count",
    "port",
    "protocol_version",
    "report_port",
    "rpl_semi_sync_slave_kill_conn_timeout",
    "slave_net_timeout",
    "sync_binlog",
    "sync_master_info",
    "sync_relay_log",
    "sync_relay_log_info",
    "table_open_cache_instances",
    "thread_pool_idle_timeout",
    "thread_pool_max_threads",
    "thread_pool_oversubscribe",
    "thread_pool_prio_kickup_timer",
    "thread_pool_size",
    "thread_pool_stall_limit",
    "wsrep_gtid_domain_id",
    "wsrep_ignore_apply_errors",
    "wsrep_sync_wait",
];
/// Numbers of 32 bits that may be negative.
const INTS: &[&str] = &[
    "max_user_connections",
    "tcp_keepalive_interval",
    "tcp_keepalive_probes",
    "tcp_keepalive_time",
];
/// No option of the command line has this name.
const WITHOUT_OPTION: &[&str] = &[
    "aria_used_for_temp_tables",
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_filesystem",
    "character_set_results",
    "character_set_server",
    "character_set_system",
    "check_constraint_checks",
    "collation_connection",
    "collation_database",
    "collation_server",
    "default_storage_engine",
    "default_tmp_storage_engine",
    "enforce_storage_engine",
    "foreign_key_checks",
    "gtid_pos_auto_engines",
    "have_ssl",
    "hostname",
    "innodb_lru_flush_size",
    "innodb_purge_rseg_truncate_frequency",
    "large_page_size",
    "lc_messages",
    "lc_time_names",
    "locked_in_memory",
    "max_insert_delayed_threads",
    "profiling",
    "relay_log_basename",
    "relay_log_index",
    "replicate_rewrite_db",
    "server_uid",
    "skip_external_locking",
    "slave_parallel_mode",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_if_exists",
    "sql_log_bin",
    "sql_log_off",
    "sql_notes",
    "sql_quote_show_create",
    "sql_select_limit",
    "sql_warnings",
    "storage_engine",
    "system_versioning_asof",
    "time_zone",
    "tx_isolation",
    "tx_read_only",
    "unique_checks",
    "wsrep_patch_version",
];
/// Options without a value.
const NEVER_GIVEN: &[&str] = &[
    "innodb_adaptive_flushing",
    "innodb_alter_copy_bulk",
    "innodb_deadlock_detect",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_sync",
    "innodb_numa_interleave",
    "innodb_optimize_fulltext_only",
    "innodb_random_read_ahead",
    "innodb_use_atomic_writes",
    "innodb_use_native_aio",
    "myisam_use_mmap",
];
/// Switches whose option needs a value.
const SWITCHES_WITH_VALUE: &[&str] = &[
    "aria_page_checksum",
    "binlog_optimize_thread_scheduling",
    "innodb_buffer_pool_dump_at_shutdown",
    "innodb_buffer_pool_dump_now",
    "innodb_buffer_pool_load_abort",
    "innodb_buffer_pool_load_at_startup",
    "innodb_buffer_pool_load_now",
    "innodb_defragment",
    "innodb_immediate_scrub_data_uncompressed",
    "innodb_stats_traditional",
];
/// Options whose value may be left out, beside switches.
const VALUE_MAY_BE_LEFT_OUT: &[&str] = &[
    "alter_algorithm",
    "aria_recover_options",
    "auto_increment_increment",
    "auto_increment_offset",
    "concurrent_insert",
    "delay_key_write",
    "event_scheduler",
    "innodb_adaptive_hash_index_parts",
    "innodb_compression_algorithm",
    "innodb_compression_failure_threshold_pct",
    "innodb_compression_pad_pct_max",
    "innodb_encrypt_tables",
    "innodb_fast_shutdown",
    "innodb_flush_log_at_timeout",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_neighbors",
    "innodb_ft_num_word_optimize",
    "innodb_ft_server_stopword_table",
    "innodb_ft_user_stopword_table",
    "innodb_log_spin_wait_delay",
    "innodb_max_undo_log_size",
    "innodb_page_size",
    "innodb_purge_batch_size",
    "innodb_purge_threads",
    "innodb_spin_wait_delay",
    "innodb_tmpdir",
    "log_bin_compress_min_len",
    "log_error",
    "log_warnings",
    "lower_case_table_names",
    "max_recursive_iterations",
    "max_sp_recursion_depth",
    "myisam_recover_options",
    "old_alter_table",
    "rpl_semi_sync_slave_kill_conn_timeout",
    "wsrep_osu_method",
    "wsrep_reject_queries",
    "wsrep_sync_wait",
];

/// The numbers of the performance schema that are worked out if they are negative; those that end so are not.
const SIZES: &str = "performance_schema_";
const NO_SIZES: [&str; 4] = ["_classes", "_statement_stack", "_file_handles", "_length"];
/// Other numbers of 64 bits with a sign.
const BIGINTS: [&str; 3] = [
    "innodb_autoinc_lock_mode",
    "performance_schema_max_digest_length",
    "performance_schema_max_sql_text_length",
];

/// How a variable's values look.
#[derive(Default)]
struct Shape {
    kind: &'static str,
    /// Smallest and largest.
    ends: Option<(String, String)>,
    step: Option<String>,
    members: Option<String>,
}

fn shape(d: &VariableDef) -> Shape {
    let listed = |kind, members: &[&str]| Shape {
        kind,
        members: Some(members.join(",")),
        ..Shape::default()
    };
    let plain = |kind| Shape {
        kind,
        ..Shape::default()
    };
    match d.kind {
        Kind::Bool => listed("BOOLEAN", &["OFF", "ON"]),
        Kind::UInt(least, most, step) => {
            let kind = number(d.name);
            let least = match d.name == "max_user_connections" || is_size(d.name) {
                true => "-1".into(),
                false => least.to_string(),
            };
            // InnoDB tells no step where any number will do.
            let step = if d.name.starts_with("innodb_") && step == 1 {
                0
            } else {
                step
            };
            Shape {
                kind,
                ends: Some((least, most.to_string())),
                step: Some(step.to_string()),
                members: None,
            }
        }
        Kind::Double(least, most) => Shape {
            kind: "DOUBLE",
            ends: Some((least.to_string(), most.to_string())),
            ..Shape::default()
        },
        Kind::Enum(names) => listed("ENUM", names),
        Kind::Flags(names) => listed("FLAGSET", &[names, &["default"]].concat()),
        Kind::Set(names) => listed("SET", names),
        Kind::SqlMode => listed("SET", &SQL_MODE_NAMES),
        Kind::Charset | Kind::Collation | Kind::Locale => plain("ENUM"),
        Kind::TimeZone | Kind::Engine | Kind::Text => plain("VARCHAR"),
    }
}

/// The type of a number.
fn number(name: &str) -> &'static str {
    match name {
        n if INTS_WITHOUT_SIGN.contains(&n) => "INT UNSIGNED",
        n if INTS.contains(&n) => "INT",
        n if BIGINTS.contains(&n) || is_size(n) => "BIGINT",
        _ => "BIGINT UNSIGNED",
    }
}

fn is_size(name: &str) -> bool {
    name.starts_with(SIZES) && !NO_SIZES.iter().any(|end| name.ends_with(end))
}

/// What an option of the command line wants: REQUIRED, OPTIONAL or NONE; no word if there is no option.
fn argument(d: &VariableDef) -> Option<&'static str> {
    let no_option = d.scope == Scope::Session
        || matches!(d.effect, Effect::Computed | Effect::State)
        || WITHOUT_OPTION.contains(&d.name);
    let switch = matches!(d.kind, Kind::Bool) && !SWITCHES_WITH_VALUE.contains(&d.name);
    match d.name {
        _ if no_option => None,
        n if NEVER_GIVEN.contains(&n) => Some("NONE"),
        n if switch || VALUE_MAY_BE_LEFT_OUT.contains(&n) => Some("OPTIONAL"),
        _ => Some("REQUIRED"),
    }
}

pub(super) fn system_variables(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let shown = |scope: VariableScope, i: usize, has: bool| -> SqlResult<Value> {
        if !has {
            return Ok(Value::Null);
        }
        Ok(match view.vars.read(scope, i)? {
            VarValue::Null => Value::Null,
            v => Value::str(v.show()),
        })
    };
    let row = |(i, d): (usize, &VariableDef)| -> SqlResult<Vec<Value>> {
        let Shape {
            kind,
            ends,
            step,
            members,
        } = shape(d);
        let (least, most) = ends.unzip();
        let opt = |s: Option<String>| s.map_or(Value::Null, Value::str);
        let changeable = !matches!(d.effect, Effect::Startup | Effect::Computed);
        Ok(vec![
            Value::str(d.name.to_ascii_uppercase()),
            shown(VariableScope::Session, i, d.has_session())?,
            shown(VariableScope::Global, i, d.has_global())?,
            Value::str("COMPILE-TIME"),
            Value::str(d.default_value().show()),
            Value::str(match d.scope {
                Scope::Global => "GLOBAL",
                Scope::Both => "SESSION",
                Scope::Session => "SESSION ONLY",
            }),
            Value::str(kind),
            Value::str(d.doc),
            opt(least),
            opt(most),
            opt(step),
            opt(members),
            Value::str(if changeable { "NO" } else { "YES" }),
            argument(d).map_or(Value::Null, Value::str),
            Value::Null,
        ])
    };
    VARIABLES.iter().enumerate().map(row).collect()
}
