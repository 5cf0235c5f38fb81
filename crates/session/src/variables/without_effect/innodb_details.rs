//! Variables: details of InnoDB that Narwal's store does not have.

use super::super::def::Effect::{Inert, Startup};
use super::super::def::Kind::{Bool, Double, Enum, Text, UInt};
use super::super::def::Scope::{Both, Global};
use super::super::def::{AtStart, VariableDef, row, rows};
use super::super::parts::SessionParts;
use super::super::value::VarValue;
use narwal_types::{SqlResult, errors};

/// The name of a table for full text, which there can't be.
fn no_table(_: &dyn SessionParts, v: &VarValue) -> SqlResult<()> {
    match v {
        VarValue::Null => Ok(()),
        given => Err(errors::WRONG_VALUE_FOR_VAR.with([&"innodb_ft_table", &given.show()])),
    }
}

/// The rows.
pub(in super::super) static ROWS: &[VariableDef] = rows![
    "ignore_builtin_innodb" Global Bool, "OFF" Startup "MariaDB's ignore builtin innodb.";
    "innodb_adaptive_flushing" Global Bool, "ON" Inert "InnoDB: adaptive flushing.";
    "innodb_adaptive_flushing_lwm" Global Double(0.0, 70.0), "10" Inert "InnoDB: adaptive flushing low-water mark.";
    "innodb_adaptive_hash_index_parts" Global UInt(1, 512, 1), "8" Startup "InnoDB: adaptive hash index parts.";
    "innodb_alter_copy_bulk" Global Bool, "ON" Inert "InnoDB: alter copy bulk.";
    "innodb_autoextend_increment" Global UInt(1, 1000, 1), "64" Inert "InnoDB: autoextend increment.";
    "innodb_buffer_pool_chunk_size" Global UInt(0, MAX, 1048576), "0" Startup "InnoDB: buffer pool chunk size.";
    "innodb_buffer_pool_dump_at_shutdown" Global Bool, "ON" Inert "InnoDB: buffer pool dump at shutdown.";
    "innodb_buffer_pool_dump_now" Global Bool, "OFF" Inert "InnoDB: buffer pool dump now.";
    "innodb_buffer_pool_dump_pct" Global UInt(1, 100, 1), "25" Inert "InnoDB: buffer pool dump per cent.";
    "innodb_buffer_pool_filename" Global Text, "ib_buffer_pool" Startup "InnoDB: buffer pool filename.";
    "innodb_buffer_pool_in_core_dump" Global Bool, "OFF" Inert "InnoDB: buffer pool in core dump.";
    "innodb_buffer_pool_load_abort" Global Bool, "OFF" Inert "InnoDB: buffer pool load abort.";
    "innodb_buffer_pool_load_at_startup" Global Bool, "ON" Startup "InnoDB: buffer pool load at startup.";
    "innodb_buffer_pool_load_now" Global Bool, "OFF" Inert "InnoDB: buffer pool load now.";
    "innodb_buffer_pool_size_auto_min" Global UInt(0, 18_446_744_073_701_163_008, 8388608), "8796093022208" Inert
        "InnoDB: buffer pool size auto minimal.";
    "innodb_buffer_pool_size_max" Global UInt(8_388_608, 18_446_744_073_701_163_008, 8388608), "8796093022208" Startup
        "InnoDB: buffer pool size maximal.";
    "innodb_buf_dump_status_frequency" Global UInt(0, 100, 1), "0" Inert "InnoDB: buffer dump status frequency.";
    "innodb_change_buffering" Global Enum(&["none", "inserts", "deletes", "changes", "purges", "all"]), "none" Inert
        "InnoDB: change buffering.";
    "innodb_change_buffer_max_size" Global UInt(0, 50, 1), "25" Inert "InnoDB: change buffer maximal size.";
    "innodb_checksum_algorithm" Global Enum(&["crc32", "strict_crc32", "full_crc32", "strict_full_crc32"]),
        "full_crc32" Inert
        "InnoDB: checksum algorithm.";
    "innodb_cmp_per_index_enabled" Global Bool, "OFF" Inert "InnoDB: compression per index enabled.";
    "innodb_compression_algorithm" Global Enum(&["none", "zlib", "lz4", "lzo", "lzma", "bzip2", "snappy"]),
        "zlib" Inert
        "InnoDB: compression algorithm.";
    "innodb_compression_default" Both Bool, "OFF" Inert "InnoDB: compression default.";
    "innodb_compression_failure_threshold_pct" Global UInt(0, 100, 1), "5" Inert
        "InnoDB: compression failure threshold per cent.";
    "innodb_compression_level" Global UInt(0, 9, 1), "6" Inert "InnoDB: compression level.";
    "innodb_compression_pad_pct_max" Global UInt(0, 75, 1), "50" Inert "InnoDB: compression pad per cent maximal.";
    "innodb_data_file_path" Global Text, "ibdata1:12M:autoextend" Startup "InnoDB: data file path.";
    "innodb_data_home_dir" Global Text, "" Startup "InnoDB: data home folder." .null();
    "innodb_deadlock_report" Global Enum(&["off", "basic", "full"]), "full" Inert "InnoDB: deadlock report.";
    "innodb_default_encryption_key_id" Both UInt(1, 4_294_967_295, 1), "1" Inert "InnoDB: default encryption key id.";
    "innodb_defragment" Global Bool, "OFF" Inert "InnoDB: defragment.";
    "innodb_defragment_fill_factor" Global Double(0.7, 1.0), "0.9" Inert "InnoDB: defragment fill factor.";
    "innodb_defragment_fill_factor_n_recs" Global UInt(1, 100, 1), "20" Inert
        "InnoDB: defragment fill factor n records.";
    "innodb_defragment_frequency" Global UInt(1, 1000, 1), "40" Inert "InnoDB: defragment frequency.";
    "innodb_defragment_n_pages" Global UInt(2, 32, 1), "7" Inert "InnoDB: defragment n pages.";
    "innodb_defragment_stats_accuracy" Global UInt(0, 4_294_967_295, 1), "0" Inert
        "InnoDB: defragment stats accuracy.";
    "innodb_disable_sort_file_cache" Global Bool, "OFF" Inert "InnoDB: disable sort file cache.";
    "innodb_encryption_rotate_key_age" Global UInt(0, 4_294_967_295, 1), "1" Inert
        "InnoDB: encryption rotate key age.";
    "innodb_encryption_rotation_iops" Global UInt(0, 4_294_967_295, 1), "100" Inert
        "InnoDB: encryption rotation IO operations.";
    "innodb_encryption_threads" Global UInt(0, 255, 1), "0" Inert "InnoDB: encryption threads.";
    "innodb_encrypt_temporary_tables" Global Bool, "OFF" Startup "InnoDB: encrypt temporary tables.";
    "innodb_fatal_semaphore_wait_threshold" Global UInt(1, 4_294_967_295, 1), "600" Startup
        "InnoDB: fatal semaphore wait threshold.";
    "innodb_fill_factor" Global UInt(10, 100, 1), "100" Inert "InnoDB: fill factor.";
    "innodb_flushing_avg_loops" Global UInt(1, 1000, 1), "30" Inert "InnoDB: flushing avg loops.";
    "innodb_flush_sync" Global Bool, "ON" Inert "InnoDB: flush sync.";
    "innodb_force_recovery" Global UInt(0, 6, 1), "0" Startup "InnoDB: force recovery."
        .at_start(AtStart::Refused("narwal repair is for damaged folders"));
    "innodb_ft_aux_table" Global Text, "" Inert "InnoDB: full text aux table." .null() .check(no_table);
    "innodb_ft_cache_size" Global UInt(1_600_000, 1_099_511_627_776, 1), "8000000" Inert
        "InnoDB: full text cache size.";
    "innodb_ft_enable_diag_print" Global Bool, "OFF" Inert "InnoDB: full text enable diag print.";
    "innodb_ft_enable_stopword" Both Bool, "ON" Inert "InnoDB: full text enable stopword.";
    "innodb_ft_max_token_size" Global UInt(10, 84, 1), "84" Startup "InnoDB: full text maximal token size.";
    "innodb_ft_min_token_size" Global UInt(1, 16, 1), "3" Startup "InnoDB: full text minimal token size.";
    "innodb_ft_num_word_optimize" Global UInt(1000, 10_000, 1), "2000" Inert "InnoDB: full text num word optimize.";
    "innodb_ft_result_cache_limit" Global UInt(1_000_000, MAX, 1), "2000000000" Inert
        "InnoDB: full text result cache limit.";
    "innodb_ft_server_stopword_table" Global Text, "" Inert "InnoDB: full text server stopword table." .null() .check(no_table);
    "innodb_ft_sort_pll_degree" Global UInt(1, 16, 1), "2" Startup "InnoDB: full text sort parallel degree.";
    "innodb_ft_total_cache_size" Global UInt(32_000_000, 1_099_511_627_776, 1), "640000000" Inert
        "InnoDB: full text total cache size.";
    "innodb_ft_user_stopword_table" Both Text, "" Inert "InnoDB: full text user stopword table." .null() .check(no_table);
    "innodb_immediate_scrub_data_uncompressed" Global Bool, "OFF" Inert "InnoDB: immediate scrub data uncompressed.";
    "innodb_linux_aio" Global Enum(&["auto", "io_uring", "aio"]), "auto" Startup "InnoDB: linux AIO.";
    "innodb_log_checkpoint_now" Global Bool, "OFF" Inert "InnoDB: log checkpoint now.";
    "innodb_log_file_buffering" Global Bool, "OFF" Inert "InnoDB: log file buffering.";
    "innodb_log_file_mmap" Global Bool, "ON" Startup "InnoDB: log file mmap.";
    "innodb_log_group_home_dir" Global Text, "" Startup "InnoDB: log group home folder.";
    "innodb_log_spin_wait_delay" Global UInt(0, 6000, 1), "0" Inert "InnoDB: log spin wait delay.";
    "innodb_log_write_ahead_size" Global UInt(512, 4096, 1), "512" Startup "InnoDB: log write ahead size.";
    "innodb_lru_flush_size" Global UInt(1, MAX, 1), "1" Inert "InnoDB: LRU flush size.";
    "innodb_lru_scan_depth" Global UInt(100, MAX, 1), "1536" Inert "InnoDB: LRU scan depth.";
    "innodb_max_dirty_pages_pct" Global Double(0.0, 99.999), "90" Inert "InnoDB: maximal dirty pages per cent.";
    "innodb_max_dirty_pages_pct_lwm" Global Double(0.0, 99.999), "0" Inert
        "InnoDB: maximal dirty pages per cent low-water mark.";
    "innodb_max_purge_lag" Global UInt(0, MAX, 1), "0" Inert "InnoDB: maximal purge lag.";
    "innodb_max_purge_lag_delay" Global UInt(0, 10_000_000, 1), "0" Inert "InnoDB: maximal purge lag delay.";
    "innodb_max_purge_lag_wait" Global UInt(0, 4_294_967_295, 1), "4294967295" Inert
        "InnoDB: maximal purge lag wait.";
    "innodb_max_undo_log_size" Global UInt(10_485_760, 281_474_976_710_656, 1), "10485760" Inert
        "InnoDB: maximal undo log size.";
    "innodb_monitor_disable" Global Text, "" Inert "InnoDB: monitor disable.";
    "innodb_monitor_enable" Global Text, "" Inert "InnoDB: monitor enable.";
    "innodb_monitor_reset" Global Text, "" Inert "InnoDB: monitor reset.";
    "innodb_monitor_reset_all" Global Text, "" Inert "InnoDB: monitor reset all.";
    "innodb_numa_interleave" Global Bool, "OFF" Startup "InnoDB: NUMA interleave.";
    "innodb_old_blocks_pct" Global UInt(5, 95, 1), "37" Inert "InnoDB: old blocks per cent.";
    "innodb_old_blocks_time" Global UInt(0, 4_294_967_295, 1), "1000" Inert "InnoDB: old blocks time.";
    "innodb_online_alter_log_max_size" Global UInt(65_536, MAX, 1), "134217728" Inert
        "InnoDB: online alter log maximal size.";
    "innodb_optimize_fulltext_only" Global Bool, "OFF" Inert "InnoDB: optimize fulltext only.";
    "innodb_prefix_index_cluster_optimization" Global Bool, "ON" Inert "InnoDB: prefix index cluster optimization.";
    "innodb_purge_batch_size" Global UInt(1, 5000, 1), "127" Inert "InnoDB: purge batch size.";
    "innodb_purge_rseg_truncate_frequency" Global UInt(1, 128, 1), "128" Inert
        "InnoDB: purge rollback segment truncate frequency.";
    "innodb_random_read_ahead" Global Bool, "OFF" Inert "InnoDB: random read ahead.";
    "innodb_read_ahead_threshold" Global UInt(0, 64, 1), "56" Inert "InnoDB: read ahead threshold.";
    "innodb_read_only_compressed" Global Bool, "OFF" Inert "InnoDB: read only compressed.";
    "innodb_sort_buffer_size" Global UInt(65_536, 67_108_864, 1), "1048576" Startup "InnoDB: sort buffer size.";
    "innodb_spin_wait_delay" Global UInt(0, 6000, 1), "4" Inert "InnoDB: spin wait delay.";
    "innodb_stats_auto_recalc" Global Bool, "ON" Inert "InnoDB: stats auto recalc.";
    "innodb_stats_include_delete_marked" Global Bool, "OFF" Inert "InnoDB: stats include delete marked.";
    "innodb_stats_method" Global Enum(&["nulls_equal", "nulls_unequal", "nulls_ignored"]), "nulls_equal" Inert
        "InnoDB: stats method.";
    "innodb_stats_modified_counter" Global UInt(0, MAX, 1), "0" Inert "InnoDB: stats modified counter.";
    "innodb_stats_persistent_sample_pages" Global UInt(1, 4_294_967_295, 1), "20" Inert
        "InnoDB: stats persistent sample pages.";
    "innodb_stats_traditional" Global Bool, "ON" Inert "InnoDB: stats traditional.";
    "innodb_stats_transient_sample_pages" Global UInt(1, 4_294_967_295, 1), "8" Inert
        "InnoDB: stats transient sample pages.";
    "innodb_status_output" Global Bool, "OFF" Inert "InnoDB: status output.";
    "innodb_status_output_locks" Global Bool, "OFF" Inert "InnoDB: status output locks.";
    "innodb_sync_spin_loops" Global UInt(0, MAX, 1), "30" Inert "InnoDB: sync spin loops.";
    "innodb_table_locks" Both Bool, "ON" Inert "InnoDB: table locks.";
    "innodb_temp_data_file_path" Global Text, "ibtmp1:12M:autoextend" Startup "InnoDB: temp data file path.";
    "innodb_tmpdir" Both Text, "" Inert "InnoDB: tmpdir." .null();
    "innodb_undo_directory" Global Text, "" Startup "InnoDB: undo directory.";
    "innodb_undo_log_truncate" Global Bool, "OFF" Inert "InnoDB: undo log truncate.";
    "innodb_undo_tablespaces" Global UInt(0, 127, 1), "0" Startup "InnoDB: undo tablespaces.";
    "innodb_use_atomic_writes" Global Bool, "ON" Startup "InnoDB: use atomic writes.";
    "innodb_use_native_aio" Global Bool, "ON" Startup "InnoDB: use native AIO.";
];

const MAX: u64 = u64::MAX;
