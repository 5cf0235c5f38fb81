//! Variables: tuning of MariaDB that has no counterpart in Narwal.

use super::super::def::Effect::{Fixed, Inert, Startup};
use super::super::def::Kind::{Bool, Double, Enum, Flags, Set, Text, UInt};
use super::super::def::Scope::{Both, Global};
use super::super::def::{AtStart, VariableDef, row, rows};

/// The rows.
pub(in super::super) static ROWS: &[VariableDef] = rows![
    "allow_suspicious_udfs" Global Bool, "OFF" Startup "MariaDB's allow suspicious udfs.";
    "debug_no_thread_alarm" Global Bool, "OFF" Startup "MariaDB's debug no thread alarm.";
    "encrypt_tmp_disk_tables" Global Bool, "OFF" Fixed "MariaDB's encrypt tmp disk tables.";
    "encrypt_tmp_files" Global Bool, "OFF" Startup "MariaDB's encrypt tmp files.";
    "expensive_subquery_limit" Both UInt(0, MAX, 1), "100" Inert "MariaDB's expensive subquery limit.";
    "extra_max_connections" Global UInt(1, 100_000, 1), "1" Inert "MariaDB's extra maximal connections.";
    "ignore_db_dirs" Global Text, "" Startup "MariaDB's ignore database folders."
        .at_start(AtStart::Refused("databases are no folders"));
    "in_predicate_conversion_threshold" Both UInt(0, 4_294_967_295, 1), "1000" Inert
        "MariaDB's in predicate conversion threshold.";
    "join_buffer_space_limit" Both UInt(2048, MAX, 2048), "2097152" Inert "MariaDB's join buffer space limit.";
    "join_cache_level" Both UInt(0, 8, 1), "2" Inert "MariaDB's join cache level.";
    "large_pages" Global Bool, "OFF" Startup "MariaDB's large pages."
        .at_start(AtStart::Refused("memory comes in pages of the usual size"));
    "large_page_size" Global UInt(0, 4_294_967_295, 1), "0" Startup "MariaDB's large page size.";
    "lc_messages_dir" Global Text, "" Startup "MariaDB's lc messages folder." .null();
    "locked_in_memory" Global Bool, "OFF" Startup "MariaDB's locked in memory.";
    "log_disabled_statements" Both Set(&["slave", "sp"]), "sp" Inert "MariaDB's log disabled statements.";
    "log_slow_admin_statements" Both Bool, "ON" Inert "MariaDB's log slow admin statements.";
    "log_slow_disabled_statements" Both Set(&["admin", "call", "slave", "sp"]), "sp" Inert
        "MariaDB's log slow disabled statements.";
    "log_slow_filter" Both Set(&["admin", "filesort", "filesort_on_disk", "filesort_priority_queue", "full_join",
        "full_scan", "not_using_index", "query_cache", "query_cache_miss", "tmp_table", "tmp_table_on_disk"]),
        "admin,filesort,filesort_on_disk,filesort_priority_queue,full_join,full_scan,query_cache,query_cache_miss,tmp_table,\
        tmp_table_on_disk" Inert
        "MariaDB's log slow filter.";
    "log_slow_max_warnings" Both UInt(0, 1000, 1), "10" Inert "MariaDB's log slow maximal warnings.";
    "log_slow_min_examined_row_limit" Both UInt(0, 4_294_967_295, 1), "0" Inert
        "Other name of `min_examined_row_limit`."
        .is("min_examined_row_limit");
    "log_slow_query" Both Bool, "OFF" Inert "Other name of `slow_query_log`." .is("slow_query_log");
    "log_slow_query_file" Global Text, "vm-slow.log" Inert "Other name of `slow_query_log_file`."
        .is("slow_query_log_file");
    "log_slow_query_time" Both Double(0.0, 31_536_000.0), "10" Inert "Other name of `long_query_time`."
        .is("long_query_time");
    "log_slow_rate_limit" Both UInt(1, 4_294_967_295, 1), "1" Inert "MariaDB's log slow rate limit.";
    "log_slow_verbosity" Both Set(&["innodb", "query_plan", "explain", "engine", "warnings", "full"]), "" Inert
        "MariaDB's log slow verbosity.";
    "log_tc_size" Global UInt(12_288, MAX, 4096), "24576" Startup "MariaDB's log tc size.";
    "master_verify_checksum" Global Bool, "OFF" Inert "MariaDB's master verify checksum."
        .mysql("source_verify_checksum");
    "max_digest_length" Global UInt(0, 1_048_576, 1), "1024" Startup "MariaDB's maximal digest length.";
    "max_rowid_filter_size" Both UInt(1024, MAX, 1), "131072" Inert "MariaDB's maximal rowid filter size.";
    "max_seeks_for_key" Both UInt(1, 4_294_967_295, 1), "4294967295" Inert "MariaDB's maximal seeks for key.";
    "max_tmp_tables" Both UInt(1, 4_294_967_295, 1), "32" Inert "MariaDB's maximal tmp tables.";
    "max_write_lock_count" Global UInt(1, 4_294_967_295, 1), "4294967295" Inert "MariaDB's maximal write lock count.";
    "metadata_locks_cache_size" Global UInt(1, 1_048_576, 1), "1024" Startup "MariaDB's metadata locks cache size.";
    "metadata_locks_hash_instances" Global UInt(1, 1024, 1), "8" Startup "MariaDB's metadata locks hash instances.";
    "mrr_buffer_size" Both UInt(8192, 2_147_483_647, 1), "262144" Inert "MariaDB's MRR buffer size.";
    "mysql56_temporal_format" Global Bool, "ON" Inert "MariaDB's mysql56 temporal format.";
    "note_verbosity" Both Set(&["basic", "unusable_keys", "explain"]), "basic,explain" Inert
        "MariaDB's note verbosity.";
    "old" Both Bool, "OFF" Inert "MariaDB's old.";
    "old_alter_table" Both Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]), "DEFAULT" Inert
        "MariaDB's old alter table.";
    "optimizer_adjust_secondary_key_costs" Both Set(&["adjust_secondary_key_cost", "disable_max_seek",
        "disable_forced_index_in_group_by", "fix_innodb_cardinality", "fix_reuse_range_for_ref",
        "fix_card_multiplier", "fix_derived_table_read_cost", "fix_order_by_index_choice"]),
        "fix_reuse_range_for_ref,fix_card_multiplier" Inert
        "MariaDB's optimizer adjust secondary key costs.";
    "optimizer_extra_pruning_depth" Both UInt(0, 62, 1), "8" Inert "MariaDB's optimizer extra pruning depth.";
    "optimizer_join_limit_pref_ratio" Both UInt(0, 4_294_967_295, 1), "0" Inert
        "MariaDB's optimizer join limit pref ratio.";
    "optimizer_max_sel_args" Both UInt(0, 4_294_967_295, 1), "16000" Inert
        "MariaDB's optimizer maximal range arguments.";
    "optimizer_max_sel_arg_weight" Both UInt(0, 4_294_967_295, 1), "32000" Inert
        "MariaDB's optimizer maximal range argument weight.";
    "optimizer_selectivity_sampling_limit" Both UInt(10, 4_294_967_295, 1), "100" Inert
        "MariaDB's optimizer selectivity sampling limit.";
    "optimizer_trace" Both Flags(&["enabled"]), "enabled=off" Inert "MariaDB's optimizer trace.";
    "optimizer_trace_max_mem_size" Both UInt(0, MAX, 1), "1048576" Inert
        "MariaDB's optimizer trace maximal mem size.";
    "optimizer_use_condition_selectivity" Both UInt(1, 5, 1), "4" Inert
        "MariaDB's optimizer use condition selectivity.";
    "plugin_maturity" Global Enum(&["unknown", "experimental", "alpha", "beta", "gamma", "stable"]), "gamma" Startup
        "MariaDB's plugin maturity.";
    "profiling_history_size" Both UInt(0, 100, 1), "15" Inert "MariaDB's profiling history size.";
    "progress_report_time" Both UInt(0, 4_294_967_295, 1), "5" Inert "MariaDB's progress report time.";
    "proxy_protocol_networks" Global Text, "" Inert "MariaDB's proxy protocol networks.";
    "query_cache_min_res_unit" Global UInt(512, 4_294_967_295, 8), "4096" Inert
        "MariaDB's query cache minimal res unit.";
    "query_cache_strip_comments" Both Bool, "OFF" Inert "MariaDB's query cache strip comments.";
    "query_cache_wlock_invalidate" Both Bool, "OFF" Inert "MariaDB's query cache wlock invalidate.";
    "range_alloc_block_size" Both UInt(4096, 4_294_967_295, 1024), "4096" Inert "MariaDB's range alloc block size.";
    "replicate_annotate_row_events" Global Bool, "ON" Startup "MariaDB's replicate annotate row events.";
    "rowid_merge_buff_size" Both UInt(0, 9_223_372_036_854_775_807, 1), "8388608" Inert
        "MariaDB's rowid merge buff size.";
    "secure_timestamp" Global Enum(&["NO", "SUPER", "REPLICATION", "YES"]), "NO" Startup "MariaDB's secure timestamp."
        .at_start(AtStart::Refused("sessions may set their timestamp"));
    "server_uid" Global Text, "Y0pt3zJJHiTt0djujU7Ws8tBoiU=" Startup "MariaDB's server uid.";
    "skip_grant_tables" Global Bool, "OFF" Startup "MariaDB's skip grant tables."
        .at_start(AtStart::Refused("accounts always count"));
    "system_versioning_alter_history" Both Enum(&["ERROR", "KEEP"]), "ERROR" Fixed
        "MariaDB's system versioning alter history.";
    "system_versioning_asof" Both Text, "DEFAULT" Fixed "MariaDB's system versioning asof.";
    "system_versioning_insert_history" Both Bool, "OFF" Fixed "MariaDB's system versioning insert history.";
    "tcp_keepalive_interval" Global UInt(0, 2_147_483, 1), "0" Inert "MariaDB's TCP keepalive interval.";
    "tcp_keepalive_probes" Global UInt(0, 2_147_483, 1), "0" Inert "MariaDB's TCP keepalive probes.";
    "tcp_keepalive_time" Global UInt(0, 2_147_483, 1), "0" Inert "MariaDB's TCP keepalive time.";
    "thread_pool_dedicated_listener" Global Bool, "OFF" Inert "MariaDB's thread pool dedicated listener.";
    "thread_pool_exact_stats" Global Bool, "OFF" Inert "MariaDB's thread pool exact stats.";
    "thread_pool_idle_timeout" Global UInt(1, 4_294_967_295, 1), "60" Inert "MariaDB's thread pool idle timeout.";
    "thread_pool_max_threads" Global UInt(1, 65_536, 1), "65536" Inert "MariaDB's thread pool maximal threads.";
    "thread_pool_oversubscribe" Global UInt(1, 1000, 1), "3" Inert "MariaDB's thread pool oversubscribe.";
    "thread_pool_priority" Both Enum(&["high", "low", "auto"]), "auto" Inert "MariaDB's thread pool priority.";
    "thread_pool_prio_kickup_timer" Global UInt(0, 4_294_967_295, 1), "1000" Inert
        "MariaDB's thread pool priority kickup timer.";
    "thread_pool_size" Global UInt(1, 100_000, 1), "8" Inert "MariaDB's thread pool size.";
    "thread_pool_stall_limit" Global UInt(1, 4_294_967_295, 1), "500" Inert "MariaDB's thread pool stall limit.";
    "tmp_disk_table_size" Both UInt(1024, MAX, 1), "18446744073709551615" Inert "MariaDB's tmp disk table size.";
    "tmp_memory_table_size" Both UInt(0, MAX, 16384), "16777216" Inert "Other name of `tmp_table_size`."
        .is("tmp_table_size");
    "userstat" Global Bool, "OFF" Inert "MariaDB's userstat.";
];

const MAX: u64 = u64::MAX;
