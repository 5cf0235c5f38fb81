//! Variables that only MySQL has, so that its clients and tools find them. Those that would change what statements or
//! the log do have MySQL's default and no other value; those that tune MySQL's insides are kept without effect.
//!
//! MySQL's names of variables that MariaDB has too stand in those rows (`VariableDef::mysql`).

use super::def::Effect::{Computed, Fixed, Inert, Startup};
use super::def::Kind::{Bool, Collation, Enum, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{VariableDef, row, rows};

const MAX: u64 = u64::MAX;

/// The rows.
#[rustfmt::skip]
pub(super) static ROWS: &[VariableDef] = rows![
    "binlog_error_action" Global Enum(&["IGNORE_ERROR", "ABORT_SERVER"]), "ABORT_SERVER" Fixed
        "What a failed write of the log does; a server that can't write its log ends.";
    "binlog_expire_logs_auto_purge" Global Bool, "ON" Fixed
        "Whether old files of the binary log are removed by themselves.";
    "binlog_gtid_simple_recovery" Global Bool, "ON" Fixed
        "How GTIDs are found at start; they are part of the log's own state here.";
    "binlog_order_commits" Global Bool, "ON" Fixed
        "Commits become visible in the order of the log.";
    "binlog_row_value_options" Both Text, "" Fixed
        "Partial images of JSON values; there are none.";
    "binlog_rows_query_log_events" Both Bool, "OFF" Fixed
        "MySQL's event with a statement's text; `binlog_annotate_row_events` is Narwal's.";
    "binlog_transaction_compression" Both Bool, "OFF" Fixed
        "Compresses transactions in the log; `narwal_log_compression` is Narwal's.";
    "binlog_transaction_dependency_history_size" Global UInt(1, 1000000, 1), "25000" Inert
        "How many rows MySQL remembers for parallel replicas.";
    "block_encryption_mode" Both Text, "aes-128-ecb" Fixed
        "How AES_ENCRYPT() works.";
    "check_proxy_users" Global Bool, "OFF" Fixed
        "Whether accounts may stand for others.";
    "connection_memory_limit" Both UInt(2097152, MAX, 1), "18446744073709551615" Fixed
        "Most memory for a connection; `max_session_mem_used` is Narwal's.";
    "cte_max_recursion_depth" Both UInt(0, 4294967295, 1), "1000" Inert
        "Most rounds of a recursive query; `max_recursive_iterations` is Narwal's.";
    "default_collation_for_utf8mb4" Both Collation, "utf8mb4_uca1400_nopad_ai_ci" Fixed
        "Collation of what names only the character set utf8mb4, under MySQL's face."
        .mysql_default("utf8mb4_0900_ai_ci");
    "default_table_encryption" Both Bool, "OFF" Fixed
        "Whether new tables are encrypted; the whole data folder is or is not.";
    "disabled_storage_engines" Global Text, "" Fixed
        "Engines that no table can have.";
    "end_markers_in_json" Both Bool, "OFF" Fixed
        "Comments in EXPLAIN FORMAT=JSON.";
    "explain_format" Both Enum(&["TRADITIONAL", "JSON", "TREE"]), "TRADITIONAL" Fixed
        "Form of EXPLAIN that names none.";
    "generated_random_password_length" Both UInt(5, 255, 1), "20" Inert
        "Length of passwords that MySQL makes up.";
    "global_connection_memory_tracking" Both Bool, "OFF" Fixed
        "Counts the memory of all connections; `narwal_memory` is always kept.";
    "have_statement_timeout" Global Text, "YES" Computed
        "Whether statements have a time limit.";
    "immediate_server_version" Session UInt(0, 999999, 1), "999999" Inert
        "The version of the server whose log is played back, as mysqlbinlog says it.";
    "information_schema_stats_expiry" Both UInt(0, 31536000, 1), "86400" Inert
        "Seconds for which MySQL keeps the statistics of tables.";
    "innodb_dedicated_server" Global Bool, "OFF" Fixed
        "Sizes chosen by the machine's memory.";
    "innodb_ddl_buffer_size" Both UInt(65536, 4294967295, 1), "1048576" Inert
        "MySQL's memory for building indexes.";
    "innodb_ddl_threads" Both UInt(1, 64, 1), "4" Inert
        "MySQL's threads for building indexes.";
    "innodb_directories" Global Text, "" Inert
        "Folders in which MySQL looks for tablespaces.";
    "innodb_doublewrite_dir" Global Text, "" Inert
        "Folder of MySQL's doublewrite files.";
    "innodb_doublewrite_files" Global UInt(1, 256, 1), "2" Inert
        "Number of MySQL's doublewrite files.";
    "innodb_extend_and_initialize" Global Bool, "ON" Inert
        "How MySQL makes files longer.";
    "innodb_log_checksums" Global Bool, "ON" Fixed
        "Checksums of the log; always on.";
    "innodb_log_writer_threads" Global Bool, "ON" Inert
        "MySQL's threads that write the log.";
    "innodb_page_cleaners" Global UInt(1, 64, 1), "1" Inert
        "MySQL's threads that write pages.";
    "innodb_parallel_read_threads" Both UInt(1, 256, 1), "4" Inert
        "MySQL's threads for counting rows.";
    "innodb_print_ddl_logs" Global Bool, "OFF" Inert
        "Says more of DDL in MySQL's error log.";
    "innodb_redo_log_capacity" Global UInt(8388608, 549755813888, 1), "104857600" Inert
        "Size of MySQL's redo log; the log here is the binary log.";
    "innodb_redo_log_encrypt" Global Bool, "OFF" Fixed
        "Encrypts MySQL's redo log; the whole data folder is or is not.";
    "innodb_rollback_segments" Global UInt(1, 128, 1), "128" Inert
        "Segments of MySQL's undo log.";
    "innodb_temp_tablespaces_dir" Global Text, "./#innodb_temp/" Inert
        "Folder of MySQL's temporary tablespaces.";
    "innodb_undo_log_encrypt" Global Bool, "OFF" Fixed
        "Encrypts MySQL's undo log; the whole data folder is or is not.";
    "innodb_use_fdatasync" Global Bool, "ON" Inert
        "How MySQL syncs its files.";
    "internal_tmp_mem_storage_engine" Both Text, "TempTable" Inert
        "MySQL's engine for results in memory.";
    "keyring_operations" Global Bool, "ON" Fixed
        "Whether keyrings can be changed.";
    "log_error_services" Global Text, "log_filter_internal; log_sink_internal" Fixed
        "Parts of MySQL's error log.";
    "log_error_suppression_list" Global Text, "" Inert
        "Messages that MySQL's error log leaves out.";
    "log_error_verbosity" Global UInt(1, 3, 1), "2" Inert
        "How much stands in MySQL's error log; `--log-level` is Narwal's.";
    "log_raw" Global Bool, "OFF" Fixed
        "Writes statements with their passwords; never done here.";
    "log_slow_extra" Global Bool, "OFF" Inert
        "More fields in MySQL's slow log.";
    "log_statements_unsafe_for_binlog" Global Bool, "ON" Inert
        "Warns in MySQL's error log of statements that replicas may run otherwise.";
    "log_throttle_queries_not_using_indexes" Global UInt(0, MAX, 1), "0" Inert
        "Most lines a minute in MySQL's slow log.";
    "log_timestamps" Global Text, "UTC" Inert
        "Time zone in MySQL's error log.";
    "mandatory_roles" Global Text, "" Fixed
        "Roles that everyone has; only none.";
    "max_execution_time" Both UInt(0, MAX, 1), "0" Fixed
        "Milliseconds that a SELECT may take; `max_statement_time` is Narwal's.";
    "ngram_token_size" Global UInt(1, 10, 1), "2" Inert
        "MySQL's full-text parser.";
    "offline_mode" Global Bool, "OFF" Fixed
        "Lets no ordinary client in; only OFF.";
    "optimizer_max_subgraph_pairs" Both UInt(1, 2147483647, 1), "100000" Inert
        "Bounds MySQL's search for plans.";
    "original_commit_timestamp" Session UInt(0, 36028797018963968, 1), "36028797018963968" Inert
        "When the source committed, as mysqlbinlog says it; the log has the transaction's own time.";
    "original_server_version" Session UInt(0, 999999, 1), "999999" Inert
        "The version of the server where a transaction began, as mysqlbinlog says it.";
    "parser_max_mem_size" Both UInt(10000000, MAX, 1), "18446744073709551615" Inert
        "Memory for reading a statement; `max_session_mem_used` is Narwal's.";
    "partial_revokes" Global Bool, "OFF" Fixed
        "Lets REVOKE take a schema out of a global privilege.";
    "password_history" Global UInt(0, 4294967295, 1), "0" Fixed
        "How many earlier passwords can't be taken again.";
    "password_require_current" Global Bool, "OFF" Fixed
        "Whether a new password needs the current one.";
    "password_reuse_interval" Global UInt(0, 4294967295, 1), "0" Fixed
        "Days for which an earlier password can't be taken again.";
    "persisted_globals_load" Global Bool, "ON" Startup
        "Reads settings that SET PERSIST has kept; there are none.";
    "print_identified_with_as_hex" Both Bool, "OFF" Fixed
        "Shows passwords' hashes as hexadecimal numbers.";
    "protocol_compression_algorithms" Global Text, "zlib,zstd,uncompressed" Fixed
        "How connections may be compressed.";
    "pseudo_replica_mode" Session Bool, "OFF" Inert
        "Says that MySQL's own log is played back.";
    "range_optimizer_max_mem_size" Both UInt(0, MAX, 1), "8388608" Inert
        "Memory for MySQL's ranges of keys.";
    "regexp_stack_limit" Global UInt(0, 2147483647, 1), "8000000" Inert
        "Memory of MySQL's regular expressions.";
    "regexp_time_limit" Global UInt(0, 2147483647, 1), "32" Inert
        "Time of MySQL's regular expressions.";
    "replica_preserve_commit_order" Global Bool, "ON" Fixed
        "Commits of a replica come in the source's order.";
    "replica_parallel_type" Global Text, "LOGICAL_CLOCK" Fixed
        "How a replica finds what can be applied at the same time.";
    "replica_pending_jobs_size_max" Global UInt(1024, 18446744073709550592, 1), "134217728" Inert
        "Memory for events that wait in MySQL's replica.";
    "replication_optimize_for_static_plugin_config" Global Bool, "OFF" Inert
        "Locks of MySQL's semi-synchronous plugins.";
    "replication_sender_observe_commit_only" Global Bool, "OFF" Inert
        "Callbacks of MySQL's semi-synchronous plugins.";
    "require_row_format" Session Bool, "OFF" Fixed
        "Refuses statements in the log that BINLOG replays.";
    "restrict_fk_on_non_standard_key" Both Bool, "ON" Inert
        "Refuses foreign keys to keys that are not unique; they are always refused.";
    "resultset_metadata" Session Enum(&["NONE", "FULL"]), "FULL" Fixed
        "Whether results have descriptions of columns.";
    "rpl_read_size" Global UInt(8192, 18446744073709547520, 1), "8192" Inert
        "Bytes that MySQL reads of a log at once.";
    "rpl_stop_replica_timeout" Global UInt(2, 31536000, 1), "31536000" Inert
        "Seconds after which STOP REPLICA gives up waiting.";
    "schema_definition_cache" Global UInt(256, 524288, 1), "256" Inert
        "Schemas whose definitions MySQL keeps.";
    "select_into_buffer_size" Both UInt(8192, 2147479552, 1), "131072" Inert
        "Memory for SELECT INTO OUTFILE.";
    "select_into_disk_sync" Both Bool, "OFF" Inert
        "Syncs the file of SELECT INTO OUTFILE.";
    "server_id_bits" Global UInt(0, 32, 1), "32" Fixed
        "Bits of `server_id` that count.";
    "session_track_gtids" Both Enum(&["OFF", "OWN_GTID", "ALL_GTIDS"]), "OFF" Fixed
        "Tells clients the GTIDs of their transactions; only OFF.";
    "show_create_table_verbosity" Both Bool, "OFF" Inert
        "Shows the row format that nobody has named.";
    "show_gipk_in_create_table_and_information_schema" Both Bool, "ON" Fixed
        "Shows primary keys that were made by themselves.";
    "sql_generate_invisible_primary_key" Both Bool, "OFF" Fixed
        "Gives tables without a primary key an invisible one; only OFF.";
    "sql_require_primary_key" Both Bool, "OFF" Fixed
        "Refuses tables without a primary key; only OFF.";
    "ssl_fips_mode" Global Text, "OFF" Fixed
        "Restricts the methods of TLS; only OFF.";
    "ssl_session_cache_mode" Global Bool, "ON" Inert
        "Lets clients go on with an earlier TLS session.";
    "stored_program_cache" Global UInt(0, 524288, 1), "256" Inert
        "Programs that MySQL keeps for a session.";
    "stored_program_definition_cache" Global UInt(256, 524288, 1), "256" Inert
        "Programs whose definitions MySQL keeps.";
    "table_encryption_privilege_check" Global Bool, "OFF" Fixed
        "Asks for a privilege to change encryption.";
    "tablespace_definition_cache" Global UInt(256, 524288, 1), "256" Inert
        "Tablespaces whose definitions MySQL keeps.";
    "temptable_max_mmap" Global UInt(0, MAX, 1), "0" Inert
        "Files that MySQL maps for temporary results.";
    "temptable_max_ram" Global UInt(2097152, MAX, 1), "1073741824" Inert
        "Memory for MySQL's temporary results.";
    "temptable_use_mmap" Global Bool, "OFF" Inert
        "Whether MySQL maps files for temporary results.";
    "terminology_use_previous" Both Text, "NONE" Fixed
        "Shows replicas by MySQL's earlier words.";
    "tls_ciphersuites" Global Text, "" Inert
        "Methods of TLS 1.3.";
    "version_compile_zlib" Global Text, "1.3.1" Computed
        "Version of zlib.";
    "windowing_use_high_precision" Both Bool, "ON" Fixed
        "Precision of sums in windows.";
    "xa_detach_on_prepare" Both Bool, "ON" Fixed
        "Lets other connections end a transaction that is prepared.";
];
