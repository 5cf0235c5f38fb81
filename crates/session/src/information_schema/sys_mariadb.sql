-- The views of MariaDB 10.11's schema `sys`, and its table sys_config: names and types of their columns.
CREATE TABLE host_summary (`host` varchar(255) COLLATE utf8mb3_bin, `statements` decimal(64,0),
  `statement_latency` text, `statement_avg_latency` text, `table_scans` decimal(65,0), `file_ios` decimal(64,0),
  `file_io_latency` text, `current_connections` decimal(41,0), `total_connections` decimal(41,0),
  `unique_users` bigint(21) NOT NULL DEFAULT 0, `current_memory` text, `total_memory_allocated` text);
CREATE TABLE host_summary_by_file_io (`host` varchar(255) COLLATE utf8mb3_bin, `ios` decimal(42,0),
  `io_latency` text);
CREATE TABLE host_summary_by_file_io_type (`host` varchar(255) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `max_latency` text);
CREATE TABLE host_summary_by_stages (`host` varchar(255) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `avg_latency` text);
CREATE TABLE host_summary_by_statement_latency (`host` varchar(255) COLLATE utf8mb3_bin, `total` decimal(42,0),
  `total_latency` text, `max_latency` text, `lock_latency` text, `rows_sent` decimal(42,0),
  `rows_examined` decimal(42,0), `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE host_summary_by_statement_type (`host` varchar(255) COLLATE utf8mb3_bin, `statement` varchar(128),
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `max_latency` text, `lock_latency` text,
  `rows_sent` bigint(20) unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_affected` bigint(20) unsigned NOT NULL, `full_scans` bigint(21) unsigned NOT NULL DEFAULT 0);
CREATE TABLE innodb_buffer_stats_by_schema (`object_schema` text, `allocated` text, `data` text,
  `pages` bigint(21) NOT NULL DEFAULT 0, `pages_hashed` bigint(21) NOT NULL DEFAULT 0,
  `pages_old` bigint(21) NOT NULL DEFAULT 0, `rows_cached` decimal(44,0));
CREATE TABLE innodb_buffer_stats_by_table (`object_schema` text, `object_name` text, `allocated` text, `data` text,
  `pages` bigint(21) NOT NULL DEFAULT 0, `pages_hashed` bigint(21) NOT NULL DEFAULT 0,
  `pages_old` bigint(21) NOT NULL DEFAULT 0, `rows_cached` decimal(44,0));
CREATE TABLE innodb_lock_waits (`wait_started` datetime, `wait_age` time, `wait_age_secs` bigint(21),
  `locked_table` varchar(1024) NOT NULL, `locked_index` varchar(1024), `locked_type` enum('RECORD','TABLE') NOT NULL,
  `waiting_trx_id` bigint(21) unsigned NOT NULL, `waiting_trx_started` datetime NOT NULL,
  `waiting_trx_age` time, `waiting_trx_rows_locked` bigint(21) unsigned NOT NULL,
  `waiting_trx_rows_modified` bigint(21) unsigned NOT NULL, `waiting_pid` bigint(21) unsigned NOT NULL,
  `waiting_query` longtext, `waiting_lock_id` varchar(81) NOT NULL,
  `waiting_lock_mode` enum('S','S,GAP','X','X,GAP','IS','IS,GAP','IX','IX,GAP','AUTO_INC') NOT NULL,
  `blocking_trx_id` bigint(21) unsigned NOT NULL, `blocking_pid` bigint(21) unsigned NOT NULL,
  `blocking_query` longtext, `blocking_lock_id` varchar(81) NOT NULL,
  `blocking_lock_mode` enum('S','S,GAP','X','X,GAP','IS','IS,GAP','IX','IX,GAP','AUTO_INC') NOT NULL,
  `blocking_trx_started` datetime NOT NULL, `blocking_trx_age` time,
  `blocking_trx_rows_locked` bigint(21) unsigned NOT NULL, `blocking_trx_rows_modified` bigint(21) unsigned NOT NULL,
  `sql_kill_blocking_query` varchar(32), `sql_kill_blocking_connection` varchar(26));
CREATE TABLE io_by_thread_by_latency (`user` varchar(384), `total` decimal(42,0), `total_latency` text,
  `min_latency` text, `avg_latency` text, `max_latency` text, `thread_id` bigint(20) unsigned NOT NULL,
  `processlist_id` bigint(20) unsigned);
CREATE TABLE io_global_by_file_by_bytes (`file` varchar(512), `count_read` bigint(20) unsigned NOT NULL,
  `total_read` text, `avg_read` text, `count_write` bigint(20) unsigned NOT NULL, `total_written` text,
  `avg_write` text, `total` text, `write_pct` decimal(26,2) NOT NULL DEFAULT 0.00);
CREATE TABLE io_global_by_file_by_latency (`file` varchar(512), `total` bigint(20) unsigned NOT NULL,
  `total_latency` text, `count_read` bigint(20) unsigned NOT NULL, `read_latency` text,
  `count_write` bigint(20) unsigned NOT NULL, `write_latency` text, `count_misc` bigint(20) unsigned NOT NULL,
  `misc_latency` text);
CREATE TABLE io_global_by_wait_by_bytes (`event_name` varchar(128), `total` bigint(20) unsigned NOT NULL,
  `total_latency` text, `min_latency` text, `avg_latency` text, `max_latency` text,
  `count_read` bigint(20) unsigned NOT NULL, `total_read` text, `avg_read` text,
  `count_write` bigint(20) unsigned NOT NULL, `total_written` text, `avg_written` text, `total_requested` text);
CREATE TABLE io_global_by_wait_by_latency (`event_name` varchar(128), `total` bigint(20) unsigned NOT NULL,
  `total_latency` text, `avg_latency` text, `max_latency` text, `read_latency` text, `write_latency` text,
  `misc_latency` text, `count_read` bigint(20) unsigned NOT NULL, `total_read` text, `avg_read` text,
  `count_write` bigint(20) unsigned NOT NULL, `total_written` text, `avg_written` text);
CREATE TABLE latest_file_io (`thread` varchar(214), `file` varchar(512), `latency` text,
  `operation` varchar(32) NOT NULL, `requested` text);
CREATE TABLE memory_by_host_by_current_bytes (`host` varchar(60) COLLATE utf8mb3_bin,
  `current_count_used` decimal(41,0), `current_allocated` text, `current_avg_alloc` text, `current_max_alloc` text,
  `total_allocated` text);
CREATE TABLE memory_by_thread_by_current_bytes (`thread_id` bigint(20) unsigned NOT NULL, `user` varchar(384),
  `current_count_used` decimal(41,0), `current_allocated` text, `current_avg_alloc` text, `current_max_alloc` text,
  `total_allocated` text);
CREATE TABLE memory_by_user_by_current_bytes (`user` varchar(32) COLLATE utf8mb3_bin,
  `current_count_used` decimal(41,0), `current_allocated` text, `current_avg_alloc` text, `current_max_alloc` text,
  `total_allocated` text);
CREATE TABLE memory_global_by_current_bytes (`event_name` varchar(128) NOT NULL, `current_count` bigint(20) NOT NULL,
  `current_alloc` text, `current_avg_alloc` text, `high_count` bigint(20) NOT NULL, `high_alloc` text,
  `high_avg_alloc` text);
CREATE TABLE memory_global_total (`total_allocated` text);
CREATE TABLE metrics (`Variable_name` varchar(193), `Variable_value` varchar(4096), `Type` varchar(210),
  `Enabled` varchar(3) NOT NULL DEFAULT '');
CREATE TABLE processlist (`thd_id` bigint(20) unsigned NOT NULL, `conn_id` bigint(20) unsigned, `user` varchar(384),
  `db` varchar(64), `command` varchar(16), `state` varchar(64), `time` bigint(20), `current_statement` longtext,
  `statement_latency` mediumtext, `progress` decimal(26,2), `lock_latency` text, `rows_examined` bigint(20) unsigned,
  `rows_sent` bigint(20) unsigned, `rows_affected` bigint(20) unsigned, `tmp_tables` bigint(20) unsigned,
  `tmp_disk_tables` bigint(20) unsigned, `full_scan` varchar(3), `last_statement` longtext,
  `last_statement_latency` mediumtext, `current_memory` text, `last_wait` varchar(128), `last_wait_latency` mediumtext,
  `source` varchar(64), `trx_latency` text, `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK'),
  `trx_autocommit` enum('YES','NO'), `pid` varchar(1024) COLLATE utf8mb3_bin,
  `program_name` varchar(1024) COLLATE utf8mb3_bin);
CREATE TABLE ps_check_lost_instrumentation (`variable_name` varchar(64) NOT NULL, `variable_value` varchar(4096));
CREATE TABLE schema_auto_increment_columns (`table_schema` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL,
  `column_name` varchar(64) NOT NULL, `data_type` varchar(64) NOT NULL, `column_type` longtext NOT NULL,
  `is_signed` int(1) NOT NULL DEFAULT 0, `is_unsigned` int(1) NOT NULL DEFAULT 0, `max_value` bigint(21) unsigned,
  `auto_increment` bigint(21) unsigned, `auto_increment_ratio` decimal(25,4) unsigned);
CREATE TABLE schema_index_statistics (`table_schema` varchar(64), `table_name` varchar(64), `index_name` varchar(64),
  `rows_selected` bigint(20) unsigned NOT NULL, `select_latency` text, `rows_inserted` bigint(20) unsigned NOT NULL,
  `insert_latency` text, `rows_updated` bigint(20) unsigned NOT NULL, `update_latency` text,
  `rows_deleted` bigint(20) unsigned NOT NULL, `delete_latency` text);
CREATE TABLE schema_object_overview (`db` varchar(64) NOT NULL DEFAULT '', `object_type` varchar(64),
  `count` bigint(21) NOT NULL DEFAULT 0);
CREATE TABLE schema_redundant_indexes (`table_schema` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL,
  `redundant_index_name` varchar(64) NOT NULL, `redundant_index_columns` mediumtext,
  `redundant_index_non_unique` bigint(1), `dominant_index_name` varchar(64) NOT NULL,
  `dominant_index_columns` mediumtext, `dominant_index_non_unique` bigint(1), `subpart_exists` int(2),
  `sql_drop_index` varchar(223));
CREATE TABLE schema_table_lock_waits (`object_schema` varchar(64), `object_name` varchar(64),
  `waiting_thread_id` bigint(20) unsigned NOT NULL, `waiting_pid` bigint(20) unsigned, `waiting_account` text,
  `waiting_lock_type` varchar(32) NOT NULL, `waiting_lock_duration` varchar(32) NOT NULL, `waiting_query` longtext,
  `waiting_query_secs` bigint(20), `waiting_query_rows_affected` bigint(20) unsigned,
  `waiting_query_rows_examined` bigint(20) unsigned, `blocking_thread_id` bigint(20) unsigned NOT NULL,
  `blocking_pid` bigint(20) unsigned, `blocking_account` text, `blocking_lock_type` varchar(32) NOT NULL,
  `blocking_lock_duration` varchar(32) NOT NULL, `sql_kill_blocking_query` varchar(31),
  `sql_kill_blocking_connection` varchar(25));
CREATE TABLE schema_table_statistics (`table_schema` varchar(64), `table_name` varchar(64), `total_latency` text,
  `rows_fetched` bigint(20) unsigned NOT NULL, `fetch_latency` text, `rows_inserted` bigint(20) unsigned NOT NULL,
  `insert_latency` text, `rows_updated` bigint(20) unsigned NOT NULL, `update_latency` text,
  `rows_deleted` bigint(20) unsigned NOT NULL, `delete_latency` text, `io_read_requests` decimal(42,0), `io_read` text,
  `io_read_latency` text, `io_write_requests` decimal(42,0), `io_write` text, `io_write_latency` text,
  `io_misc_requests` decimal(42,0), `io_misc_latency` text);
CREATE TABLE schema_table_statistics_with_buffer (`table_schema` varchar(64), `table_name` varchar(64),
  `rows_fetched` bigint(20) unsigned NOT NULL, `fetch_latency` text, `rows_inserted` bigint(20) unsigned NOT NULL,
  `insert_latency` text, `rows_updated` bigint(20) unsigned NOT NULL, `update_latency` text,
  `rows_deleted` bigint(20) unsigned NOT NULL, `delete_latency` text, `io_read_requests` decimal(42,0), `io_read` text,
  `io_read_latency` text, `io_write_requests` decimal(42,0), `io_write` text, `io_write_latency` text,
  `io_misc_requests` decimal(42,0), `io_misc_latency` text, `innodb_buffer_allocated` text, `innodb_buffer_data` text,
  `innodb_buffer_free` text, `innodb_buffer_pages` bigint(21) DEFAULT 0,
  `innodb_buffer_pages_hashed` bigint(21) DEFAULT 0, `innodb_buffer_pages_old` bigint(21) DEFAULT 0,
  `innodb_buffer_rows_cached` decimal(44,0) DEFAULT 0);
CREATE TABLE schema_tables_with_full_table_scans (`object_schema` varchar(64), `object_name` varchar(64),
  `rows_full_scanned` bigint(20) unsigned NOT NULL, `latency` text);
CREATE TABLE schema_unused_indexes (`object_schema` varchar(64), `object_name` varchar(64), `index_name` varchar(64));
CREATE TABLE session (`thd_id` bigint(20) unsigned NOT NULL, `conn_id` bigint(20) unsigned, `user` varchar(384),
  `db` varchar(64), `command` varchar(16), `state` varchar(64), `time` bigint(20), `current_statement` longtext,
  `statement_latency` mediumtext, `progress` decimal(26,2), `lock_latency` text, `rows_examined` bigint(20) unsigned,
  `rows_sent` bigint(20) unsigned, `rows_affected` bigint(20) unsigned, `tmp_tables` bigint(20) unsigned,
  `tmp_disk_tables` bigint(20) unsigned, `full_scan` varchar(3), `last_statement` longtext,
  `last_statement_latency` mediumtext, `current_memory` text, `last_wait` varchar(128), `last_wait_latency` mediumtext,
  `source` varchar(64), `trx_latency` text, `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK'),
  `trx_autocommit` enum('YES','NO'), `pid` varchar(1024) COLLATE utf8mb3_bin,
  `program_name` varchar(1024) COLLATE utf8mb3_bin);
CREATE TABLE session_ssl_status (`thread_id` bigint(20) unsigned NOT NULL, `ssl_version` varchar(4096),
  `ssl_cipher` varchar(4096), `ssl_sessions_reused` varchar(4096));
CREATE TABLE statement_analysis (`query` longtext, `db` varchar(64), `full_scan` varchar(1) NOT NULL DEFAULT '',
  `exec_count` bigint(20) unsigned NOT NULL, `err_count` bigint(20) unsigned NOT NULL,
  `warn_count` bigint(20) unsigned NOT NULL, `total_latency` text, `max_latency` text, `avg_latency` text,
  `lock_latency` text, `rows_sent` bigint(20) unsigned NOT NULL, `rows_sent_avg` decimal(21,0) NOT NULL DEFAULT 0,
  `rows_examined` bigint(20) unsigned NOT NULL, `rows_examined_avg` decimal(21,0) NOT NULL DEFAULT 0,
  `rows_affected` bigint(20) unsigned NOT NULL, `rows_affected_avg` decimal(21,0) NOT NULL DEFAULT 0,
  `tmp_tables` bigint(20) unsigned NOT NULL, `tmp_disk_tables` bigint(20) unsigned NOT NULL,
  `rows_sorted` bigint(20) unsigned NOT NULL, `sort_merge_passes` bigint(20) unsigned NOT NULL, `digest` varchar(32),
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00');
CREATE TABLE statements_with_errors_or_warnings (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `errors` bigint(20) unsigned NOT NULL,
  `error_pct` decimal(27,4) NOT NULL DEFAULT 0.0000, `warnings` bigint(20) unsigned NOT NULL,
  `warning_pct` decimal(27,4) NOT NULL DEFAULT 0.0000, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE statements_with_full_table_scans (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `total_latency` text, `no_index_used_count` bigint(20) unsigned NOT NULL,
  `no_good_index_used_count` bigint(20) unsigned NOT NULL, `no_index_used_pct` decimal(24,0) NOT NULL DEFAULT 0,
  `rows_sent` bigint(20) unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_sent_avg` decimal(21,0) unsigned, `rows_examined_avg` decimal(21,0) unsigned,
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE statements_with_runtimes_in_95th_percentile (`query` longtext, `db` varchar(64),
  `full_scan` varchar(1) NOT NULL DEFAULT '', `exec_count` bigint(20) unsigned NOT NULL,
  `err_count` bigint(20) unsigned NOT NULL, `warn_count` bigint(20) unsigned NOT NULL, `total_latency` text,
  `max_latency` text, `avg_latency` text, `rows_sent` bigint(20) unsigned NOT NULL,
  `rows_sent_avg` decimal(21,0) NOT NULL DEFAULT 0, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_examined_avg` decimal(21,0) NOT NULL DEFAULT 0, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE statements_with_sorting (`query` longtext, `db` varchar(64), `exec_count` bigint(20) unsigned NOT NULL,
  `total_latency` text, `sort_merge_passes` bigint(20) unsigned NOT NULL,
  `avg_sort_merges` decimal(21,0) NOT NULL DEFAULT 0, `sorts_using_scans` bigint(20) unsigned NOT NULL,
  `sort_using_range` bigint(20) unsigned NOT NULL, `rows_sorted` bigint(20) unsigned NOT NULL,
  `avg_rows_sorted` decimal(21,0) NOT NULL DEFAULT 0, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE statements_with_temp_tables (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `total_latency` text, `memory_tmp_tables` bigint(20) unsigned NOT NULL,
  `disk_tmp_tables` bigint(20) unsigned NOT NULL, `avg_tmp_tables_per_query` decimal(21,0) NOT NULL DEFAULT 0,
  `tmp_tables_to_disk_pct` decimal(24,0) NOT NULL DEFAULT 0,
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE sys_config (`variable` varchar(128) NOT NULL PRIMARY KEY, `value` varchar(128),
  `set_time` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), `set_by` varchar(128));
CREATE TABLE user_summary (`user` varchar(128) COLLATE utf8mb3_bin, `statements` decimal(64,0),
  `statement_latency` text, `statement_avg_latency` text, `table_scans` decimal(65,0), `file_ios` decimal(64,0),
  `file_io_latency` text, `current_connections` decimal(41,0), `total_connections` decimal(41,0),
  `unique_hosts` bigint(21) NOT NULL DEFAULT 0, `current_memory` text, `total_memory_allocated` text);
CREATE TABLE user_summary_by_file_io (`user` varchar(128) COLLATE utf8mb3_bin, `ios` decimal(42,0),
  `io_latency` text);
CREATE TABLE user_summary_by_file_io_type (`user` varchar(128) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `latency` text, `max_latency` text);
CREATE TABLE user_summary_by_stages (`user` varchar(128) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `avg_latency` text);
CREATE TABLE user_summary_by_statement_latency (`user` varchar(128) COLLATE utf8mb3_bin, `total` decimal(42,0),
  `total_latency` text, `max_latency` text, `lock_latency` text, `rows_sent` decimal(42,0),
  `rows_examined` decimal(42,0), `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE user_summary_by_statement_type (`user` varchar(128) COLLATE utf8mb3_bin, `statement` varchar(128),
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `max_latency` text, `lock_latency` text,
  `rows_sent` bigint(20) unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_affected` bigint(20) unsigned NOT NULL, `full_scans` bigint(21) unsigned NOT NULL DEFAULT 0);
CREATE TABLE version (`sys_version` varchar(5) NOT NULL DEFAULT '', `mysql_version` varchar(26) NOT NULL DEFAULT '');
CREATE TABLE wait_classes_global_by_avg_latency (`event_class` varchar(128), `total` decimal(42,0),
  `total_latency` text, `min_latency` text, `avg_latency` text, `max_latency` text);
CREATE TABLE wait_classes_global_by_latency (`event_class` varchar(128), `total` decimal(42,0), `total_latency` text,
  `min_latency` text, `avg_latency` text, `max_latency` text);
CREATE TABLE waits_by_host_by_latency (`host` varchar(255) COLLATE utf8mb3_bin, `event` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `avg_latency` text, `max_latency` text);
CREATE TABLE waits_by_user_by_latency (`user` varchar(128) COLLATE utf8mb3_bin, `event` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` text, `avg_latency` text, `max_latency` text);
CREATE TABLE waits_global_by_latency (`events` varchar(128) NOT NULL, `total` bigint(20) unsigned NOT NULL,
  `total_latency` text, `avg_latency` text, `max_latency` text);
CREATE TABLE `x$host_summary` (`host` varchar(255) COLLATE utf8mb3_bin, `statements` decimal(64,0),
  `statement_latency` decimal(64,0), `statement_avg_latency` decimal(65,4), `table_scans` decimal(65,0),
  `file_ios` decimal(64,0), `file_io_latency` decimal(64,0), `current_connections` decimal(41,0),
  `total_connections` decimal(41,0), `unique_users` bigint(21) NOT NULL DEFAULT 0, `current_memory` decimal(63,0),
  `total_memory_allocated` decimal(64,0));
CREATE TABLE `x$host_summary_by_file_io` (`host` varchar(255) COLLATE utf8mb3_bin, `ios` decimal(42,0),
  `io_latency` decimal(42,0));
CREATE TABLE `x$host_summary_by_file_io_type` (`host` varchar(255) COLLATE utf8mb3_bin,
  `event_name` varchar(128) NOT NULL, `total` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `max_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$host_summary_by_stages` (`host` varchar(255) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$host_summary_by_statement_latency` (`host` varchar(255) COLLATE utf8mb3_bin, `total` decimal(42,0),
  `total_latency` decimal(42,0), `max_latency` bigint(20) unsigned, `lock_latency` decimal(42,0),
  `rows_sent` decimal(42,0), `rows_examined` decimal(42,0), `rows_affected` decimal(42,0),
  `full_scans` decimal(43,0));
CREATE TABLE `x$host_summary_by_statement_type` (`host` varchar(255) COLLATE utf8mb3_bin, `statement` varchar(128),
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL, `lock_latency` bigint(20) unsigned NOT NULL,
  `rows_sent` bigint(20) unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_affected` bigint(20) unsigned NOT NULL, `full_scans` bigint(21) unsigned NOT NULL DEFAULT 0);
CREATE TABLE `x$innodb_buffer_stats_by_schema` (`object_schema` text, `allocated` decimal(43,0), `data` decimal(43,0),
  `pages` bigint(21) NOT NULL DEFAULT 0, `pages_hashed` bigint(21) NOT NULL DEFAULT 0,
  `pages_old` bigint(21) NOT NULL DEFAULT 0, `rows_cached` decimal(44,0) NOT NULL DEFAULT 0);
CREATE TABLE `x$innodb_buffer_stats_by_table` (`object_schema` text, `object_name` text, `allocated` decimal(43,0),
  `data` decimal(43,0), `pages` bigint(21) NOT NULL DEFAULT 0, `pages_hashed` bigint(21) NOT NULL DEFAULT 0,
  `pages_old` bigint(21) NOT NULL DEFAULT 0, `rows_cached` decimal(44,0) NOT NULL DEFAULT 0);
CREATE TABLE `x$innodb_lock_waits` (`wait_started` datetime, `wait_age` time,
  `wait_age_secs` bigint(21), `locked_table` varchar(1024) NOT NULL, `locked_index` varchar(1024),
  `locked_type` enum('RECORD','TABLE') NOT NULL, `waiting_trx_id` bigint(21) unsigned NOT NULL,
  `waiting_trx_started` datetime NOT NULL, `waiting_trx_age` time,
  `waiting_trx_rows_locked` bigint(21) unsigned NOT NULL, `waiting_trx_rows_modified` bigint(21) unsigned NOT NULL,
  `waiting_pid` bigint(21) unsigned NOT NULL, `waiting_query` varchar(1024), `waiting_lock_id` varchar(81) NOT NULL,
  `waiting_lock_mode` enum('S','S,GAP','X','X,GAP','IS','IS,GAP','IX','IX,GAP','AUTO_INC') NOT NULL,
  `blocking_trx_id` bigint(21) unsigned NOT NULL, `blocking_pid` bigint(21) unsigned NOT NULL,
  `blocking_query` varchar(1024), `blocking_lock_id` varchar(81) NOT NULL,
  `blocking_lock_mode` enum('S','S,GAP','X','X,GAP','IS','IS,GAP','IX','IX,GAP','AUTO_INC') NOT NULL,
  `blocking_trx_started` datetime NOT NULL, `blocking_trx_age` time,
  `blocking_trx_rows_locked` bigint(21) unsigned NOT NULL, `blocking_trx_rows_modified` bigint(21) unsigned NOT NULL,
  `sql_kill_blocking_query` varchar(32), `sql_kill_blocking_connection` varchar(26));
CREATE TABLE `x$io_by_thread_by_latency` (`user` varchar(384), `total` decimal(42,0), `total_latency` decimal(42,0),
  `min_latency` bigint(20) unsigned, `avg_latency` decimal(24,4), `max_latency` bigint(20) unsigned,
  `thread_id` bigint(20) unsigned NOT NULL, `processlist_id` bigint(20) unsigned);
CREATE TABLE `x$io_global_by_file_by_bytes` (`file` varchar(512) NOT NULL, `count_read` bigint(20) unsigned NOT NULL,
  `total_read` bigint(20) NOT NULL, `avg_read` decimal(23,4) NOT NULL DEFAULT 0.0000,
  `count_write` bigint(20) unsigned NOT NULL, `total_written` bigint(20) NOT NULL,
  `avg_write` decimal(23,4) NOT NULL DEFAULT 0.0000, `total` bigint(21) NOT NULL DEFAULT 0,
  `write_pct` decimal(26,2) NOT NULL DEFAULT 0.00);
CREATE TABLE `x$io_global_by_file_by_latency` (`file` varchar(512) NOT NULL, `total` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `count_read` bigint(20) unsigned NOT NULL,
  `read_latency` bigint(20) unsigned NOT NULL, `count_write` bigint(20) unsigned NOT NULL,
  `write_latency` bigint(20) unsigned NOT NULL, `count_misc` bigint(20) unsigned NOT NULL,
  `misc_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$io_global_by_wait_by_bytes` (`event_name` varchar(128), `total` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `min_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL, `max_latency` bigint(20) unsigned NOT NULL,
  `count_read` bigint(20) unsigned NOT NULL, `total_read` bigint(20) NOT NULL,
  `avg_read` decimal(23,4) NOT NULL DEFAULT 0.0000, `count_write` bigint(20) unsigned NOT NULL,
  `total_written` bigint(20) NOT NULL, `avg_written` decimal(23,4) NOT NULL DEFAULT 0.0000,
  `total_requested` bigint(21) NOT NULL DEFAULT 0);
CREATE TABLE `x$io_global_by_wait_by_latency` (`event_name` varchar(128), `total` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `avg_latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL, `read_latency` bigint(20) unsigned NOT NULL,
  `write_latency` bigint(20) unsigned NOT NULL, `misc_latency` bigint(20) unsigned NOT NULL,
  `count_read` bigint(20) unsigned NOT NULL, `total_read` bigint(20) NOT NULL,
  `avg_read` decimal(23,4) NOT NULL DEFAULT 0.0000, `count_write` bigint(20) unsigned NOT NULL,
  `total_written` bigint(20) NOT NULL, `avg_written` decimal(23,4) NOT NULL DEFAULT 0.0000);
CREATE TABLE `x$latest_file_io` (`thread` varchar(214), `file` varchar(512), `latency` bigint(20) unsigned,
  `operation` varchar(32) NOT NULL, `requested` bigint(20));
CREATE TABLE `x$memory_by_host_by_current_bytes` (`host` varchar(60) COLLATE utf8mb3_bin,
  `current_count_used` decimal(41,0), `current_allocated` decimal(41,0),
  `current_avg_alloc` decimal(45,4) NOT NULL DEFAULT 0.0000, `current_max_alloc` bigint(20),
  `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_by_thread_by_current_bytes` (`thread_id` bigint(20) unsigned NOT NULL, `user` varchar(384),
  `current_count_used` decimal(41,0), `current_allocated` decimal(41,0),
  `current_avg_alloc` decimal(45,4) NOT NULL DEFAULT 0.0000, `current_max_alloc` bigint(20),
  `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_by_user_by_current_bytes` (`user` varchar(32) COLLATE utf8mb3_bin,
  `current_count_used` decimal(41,0), `current_allocated` decimal(41,0),
  `current_avg_alloc` decimal(45,4) NOT NULL DEFAULT 0.0000, `current_max_alloc` bigint(20),
  `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_global_by_current_bytes` (`event_name` varchar(128) NOT NULL,
  `current_count` bigint(20) NOT NULL, `current_alloc` bigint(20) NOT NULL,
  `current_avg_alloc` decimal(23,4) NOT NULL DEFAULT 0.0000, `high_count` bigint(20) NOT NULL,
  `high_alloc` bigint(20) NOT NULL, `high_avg_alloc` decimal(23,4) NOT NULL DEFAULT 0.0000);
CREATE TABLE `x$memory_global_total` (`total_allocated` decimal(41,0));
CREATE TABLE `x$processlist` (`thd_id` bigint(20) unsigned NOT NULL, `conn_id` bigint(20) unsigned,
  `user` varchar(384), `db` varchar(64), `command` varchar(16), `state` varchar(64), `time` bigint(20),
  `current_statement` longtext, `statement_latency` bigint(20) unsigned, `progress` decimal(26,2),
  `lock_latency` bigint(20) unsigned, `rows_examined` bigint(20) unsigned, `rows_sent` bigint(20) unsigned,
  `rows_affected` bigint(20) unsigned, `tmp_tables` bigint(20) unsigned, `tmp_disk_tables` bigint(20) unsigned,
  `full_scan` varchar(3), `last_statement` longtext, `last_statement_latency` bigint(20) unsigned,
  `current_memory` decimal(41,0), `last_wait` varchar(128), `last_wait_latency` varchar(20), `source` varchar(64),
  `trx_latency` bigint(20) unsigned, `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK'),
  `trx_autocommit` enum('YES','NO'), `pid` varchar(1024) COLLATE utf8mb3_bin,
  `program_name` varchar(1024) COLLATE utf8mb3_bin);
CREATE TABLE `x$ps_digest_95th_percentile_by_avg_us` (`avg_us` decimal(21,0),
  `percentile` decimal(46,4) NOT NULL DEFAULT 0.0000);
CREATE TABLE `x$ps_digest_avg_latency_distribution` (`cnt` bigint(21) NOT NULL DEFAULT 0, `avg_us` decimal(21,0));
CREATE TABLE `x$ps_schema_table_statistics_io` (`table_schema` varchar(64), `table_name` varchar(64),
  `count_read` decimal(42,0), `sum_number_of_bytes_read` decimal(41,0), `sum_timer_read` decimal(42,0),
  `count_write` decimal(42,0), `sum_number_of_bytes_write` decimal(41,0), `sum_timer_write` decimal(42,0),
  `count_misc` decimal(42,0), `sum_timer_misc` decimal(42,0));
CREATE TABLE `x$schema_flattened_keys` (`table_schema` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL,
  `index_name` varchar(64) NOT NULL, `non_unique` bigint(1), `subpart_exists` bigint(2), `index_columns` mediumtext);
CREATE TABLE `x$schema_index_statistics` (`table_schema` varchar(64), `table_name` varchar(64),
  `index_name` varchar(64), `rows_selected` bigint(20) unsigned NOT NULL,
  `select_latency` bigint(20) unsigned NOT NULL, `rows_inserted` bigint(20) unsigned NOT NULL,
  `insert_latency` bigint(20) unsigned NOT NULL, `rows_updated` bigint(20) unsigned NOT NULL,
  `update_latency` bigint(20) unsigned NOT NULL, `rows_deleted` bigint(20) unsigned NOT NULL,
  `delete_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$schema_table_lock_waits` (`object_schema` varchar(64), `object_name` varchar(64),
  `waiting_thread_id` bigint(20) unsigned NOT NULL, `waiting_pid` bigint(20) unsigned, `waiting_account` text,
  `waiting_lock_type` varchar(32) NOT NULL, `waiting_lock_duration` varchar(32) NOT NULL, `waiting_query` longtext,
  `waiting_query_secs` bigint(20), `waiting_query_rows_affected` bigint(20) unsigned,
  `waiting_query_rows_examined` bigint(20) unsigned, `blocking_thread_id` bigint(20) unsigned NOT NULL,
  `blocking_pid` bigint(20) unsigned, `blocking_account` text, `blocking_lock_type` varchar(32) NOT NULL,
  `blocking_lock_duration` varchar(32) NOT NULL, `sql_kill_blocking_query` varchar(31),
  `sql_kill_blocking_connection` varchar(25));
CREATE TABLE `x$schema_table_statistics` (`table_schema` varchar(64), `table_name` varchar(64),
  `total_latency` bigint(20) unsigned NOT NULL, `rows_fetched` bigint(20) unsigned NOT NULL,
  `fetch_latency` bigint(20) unsigned NOT NULL, `rows_inserted` bigint(20) unsigned NOT NULL,
  `insert_latency` bigint(20) unsigned NOT NULL, `rows_updated` bigint(20) unsigned NOT NULL,
  `update_latency` bigint(20) unsigned NOT NULL, `rows_deleted` bigint(20) unsigned NOT NULL,
  `delete_latency` bigint(20) unsigned NOT NULL, `io_read_requests` decimal(42,0), `io_read` decimal(41,0),
  `io_read_latency` decimal(42,0), `io_write_requests` decimal(42,0), `io_write` decimal(41,0),
  `io_write_latency` decimal(42,0), `io_misc_requests` decimal(42,0), `io_misc_latency` decimal(42,0));
CREATE TABLE `x$schema_table_statistics_with_buffer` (`table_schema` varchar(64), `table_name` varchar(64),
  `rows_fetched` bigint(20) unsigned NOT NULL, `fetch_latency` bigint(20) unsigned NOT NULL,
  `rows_inserted` bigint(20) unsigned NOT NULL, `insert_latency` bigint(20) unsigned NOT NULL,
  `rows_updated` bigint(20) unsigned NOT NULL, `update_latency` bigint(20) unsigned NOT NULL,
  `rows_deleted` bigint(20) unsigned NOT NULL, `delete_latency` bigint(20) unsigned NOT NULL,
  `io_read_requests` decimal(42,0), `io_read` decimal(41,0), `io_read_latency` decimal(42,0),
  `io_write_requests` decimal(42,0), `io_write` decimal(41,0), `io_write_latency` decimal(42,0),
  `io_misc_requests` decimal(42,0), `io_misc_latency` decimal(42,0), `innodb_buffer_allocated` decimal(43,0),
  `innodb_buffer_data` decimal(43,0), `innodb_buffer_free` decimal(44,0), `innodb_buffer_pages` bigint(21) DEFAULT 0,
  `innodb_buffer_pages_hashed` bigint(21) DEFAULT 0, `innodb_buffer_pages_old` bigint(21) DEFAULT 0,
  `innodb_buffer_rows_cached` decimal(44,0) DEFAULT 0);
CREATE TABLE `x$schema_tables_with_full_table_scans` (`object_schema` varchar(64), `object_name` varchar(64),
  `rows_full_scanned` bigint(20) unsigned NOT NULL, `latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$session` (`thd_id` bigint(20) unsigned NOT NULL, `conn_id` bigint(20) unsigned, `user` varchar(384),
  `db` varchar(64), `command` varchar(16), `state` varchar(64), `time` bigint(20), `current_statement` longtext,
  `statement_latency` bigint(20) unsigned, `progress` decimal(26,2), `lock_latency` bigint(20) unsigned,
  `rows_examined` bigint(20) unsigned, `rows_sent` bigint(20) unsigned, `rows_affected` bigint(20) unsigned,
  `tmp_tables` bigint(20) unsigned, `tmp_disk_tables` bigint(20) unsigned, `full_scan` varchar(3),
  `last_statement` longtext, `last_statement_latency` bigint(20) unsigned, `current_memory` decimal(41,0),
  `last_wait` varchar(128), `last_wait_latency` varchar(20), `source` varchar(64), `trx_latency` bigint(20) unsigned,
  `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK'), `trx_autocommit` enum('YES','NO'),
  `pid` varchar(1024) COLLATE utf8mb3_bin, `program_name` varchar(1024) COLLATE utf8mb3_bin);
CREATE TABLE `x$statement_analysis` (`query` longtext, `db` varchar(64), `full_scan` varchar(1) NOT NULL DEFAULT '',
  `exec_count` bigint(20) unsigned NOT NULL, `err_count` bigint(20) unsigned NOT NULL,
  `warn_count` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL, `avg_latency` bigint(20) unsigned NOT NULL,
  `lock_latency` bigint(20) unsigned NOT NULL, `rows_sent` bigint(20) unsigned NOT NULL,
  `rows_sent_avg` decimal(21,0) NOT NULL DEFAULT 0, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_examined_avg` decimal(21,0) NOT NULL DEFAULT 0, `rows_affected` bigint(20) unsigned NOT NULL,
  `rows_affected_avg` decimal(21,0) NOT NULL DEFAULT 0, `tmp_tables` bigint(20) unsigned NOT NULL,
  `tmp_disk_tables` bigint(20) unsigned NOT NULL, `rows_sorted` bigint(20) unsigned NOT NULL,
  `sort_merge_passes` bigint(20) unsigned NOT NULL, `digest` varchar(32),
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00');
CREATE TABLE `x$statements_with_errors_or_warnings` (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `errors` bigint(20) unsigned NOT NULL,
  `error_pct` decimal(27,4) NOT NULL DEFAULT 0.0000, `warnings` bigint(20) unsigned NOT NULL,
  `warning_pct` decimal(27,4) NOT NULL DEFAULT 0.0000, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE `x$statements_with_full_table_scans` (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `no_index_used_count` bigint(20) unsigned NOT NULL, `no_good_index_used_count` bigint(20) unsigned NOT NULL,
  `no_index_used_pct` decimal(24,0) NOT NULL DEFAULT 0, `rows_sent` bigint(20) unsigned NOT NULL,
  `rows_examined` bigint(20) unsigned NOT NULL, `rows_sent_avg` decimal(21,0) unsigned,
  `rows_examined_avg` decimal(21,0) unsigned, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE `x$statements_with_runtimes_in_95th_percentile` (`query` longtext, `db` varchar(64),
  `full_scan` varchar(1) NOT NULL DEFAULT '', `exec_count` bigint(20) unsigned NOT NULL,
  `err_count` bigint(20) unsigned NOT NULL, `warn_count` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `max_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL, `rows_sent` bigint(20) unsigned NOT NULL,
  `rows_sent_avg` decimal(21,0) NOT NULL DEFAULT 0, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_examined_avg` decimal(21,0) NOT NULL DEFAULT 0, `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE `x$statements_with_sorting` (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `sort_merge_passes` bigint(20) unsigned NOT NULL, `avg_sort_merges` decimal(21,0) NOT NULL DEFAULT 0,
  `sorts_using_scans` bigint(20) unsigned NOT NULL, `sort_using_range` bigint(20) unsigned NOT NULL,
  `rows_sorted` bigint(20) unsigned NOT NULL, `avg_rows_sorted` decimal(21,0) NOT NULL DEFAULT 0,
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE `x$statements_with_temp_tables` (`query` longtext, `db` varchar(64),
  `exec_count` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `memory_tmp_tables` bigint(20) unsigned NOT NULL, `disk_tmp_tables` bigint(20) unsigned NOT NULL,
  `avg_tmp_tables_per_query` decimal(21,0) NOT NULL DEFAULT 0,
  `tmp_tables_to_disk_pct` decimal(24,0) NOT NULL DEFAULT 0,
  `first_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00',
  `last_seen` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `digest` varchar(32));
CREATE TABLE `x$user_summary` (`user` varchar(128) COLLATE utf8mb3_bin, `statements` decimal(64,0),
  `statement_latency` decimal(64,0), `statement_avg_latency` decimal(65,4) NOT NULL DEFAULT 0.0000,
  `table_scans` decimal(65,0), `file_ios` decimal(64,0), `file_io_latency` decimal(64,0),
  `current_connections` decimal(41,0), `total_connections` decimal(41,0), `unique_hosts` bigint(21) NOT NULL DEFAULT 0,
  `current_memory` decimal(63,0), `total_memory_allocated` decimal(64,0));
CREATE TABLE `x$user_summary_by_file_io` (`user` varchar(128) COLLATE utf8mb3_bin, `ios` decimal(42,0),
  `io_latency` decimal(42,0));
CREATE TABLE `x$user_summary_by_file_io_type` (`user` varchar(128) COLLATE utf8mb3_bin,
  `event_name` varchar(128) NOT NULL, `total` bigint(20) unsigned NOT NULL, `latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$user_summary_by_stages` (`user` varchar(128) COLLATE utf8mb3_bin, `event_name` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$user_summary_by_statement_latency` (`user` varchar(128) COLLATE utf8mb3_bin, `total` decimal(42,0),
  `total_latency` decimal(42,0), `max_latency` decimal(42,0), `lock_latency` decimal(42,0), `rows_sent` decimal(42,0),
  `rows_examined` decimal(42,0), `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE `x$user_summary_by_statement_type` (`user` varchar(128) COLLATE utf8mb3_bin, `statement` varchar(128),
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL, `lock_latency` bigint(20) unsigned NOT NULL,
  `rows_sent` bigint(20) unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL,
  `rows_affected` bigint(20) unsigned NOT NULL, `full_scans` bigint(21) unsigned NOT NULL DEFAULT 0);
CREATE TABLE `x$wait_classes_global_by_avg_latency` (`event_class` varchar(128), `total` decimal(42,0),
  `total_latency` decimal(42,0), `min_latency` bigint(20) unsigned,
  `avg_latency` decimal(46,4) NOT NULL DEFAULT 0.0000, `max_latency` bigint(20) unsigned);
CREATE TABLE `x$wait_classes_global_by_latency` (`event_class` varchar(128), `total` decimal(42,0),
  `total_latency` decimal(42,0), `min_latency` bigint(20) unsigned,
  `avg_latency` decimal(46,4) NOT NULL DEFAULT 0.0000, `max_latency` bigint(20) unsigned);
CREATE TABLE `x$waits_by_host_by_latency` (`host` varchar(255) COLLATE utf8mb3_bin, `event` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL, `max_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$waits_by_user_by_latency` (`user` varchar(128) COLLATE utf8mb3_bin, `event` varchar(128) NOT NULL,
  `total` bigint(20) unsigned NOT NULL, `total_latency` bigint(20) unsigned NOT NULL,
  `avg_latency` bigint(20) unsigned NOT NULL, `max_latency` bigint(20) unsigned NOT NULL);
CREATE TABLE `x$waits_global_by_latency` (`events` varchar(128) NOT NULL, `total` bigint(20) unsigned NOT NULL,
  `total_latency` bigint(20) unsigned NOT NULL, `avg_latency` bigint(20) unsigned NOT NULL,
  `max_latency` bigint(20) unsigned NOT NULL);
