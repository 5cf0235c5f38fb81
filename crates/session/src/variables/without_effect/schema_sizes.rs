//! Variables: sizes in the performance schema, which Narwal does not have.

use super::super::def::Effect::Startup;
use super::super::def::Kind::UInt;
use super::super::def::Scope::Global;
use super::super::def::{VariableDef, row, rows};

/// The rows.
pub(in super::super) static ROWS: &[VariableDef] = rows![
    "performance_schema_accounts_size" Global UInt(0, 1_048_576, 1), "0" Startup "Performance schema: accounts size.";
    "performance_schema_digests_size" Global UInt(0, 1_048_576, 1), "0" Startup "Performance schema: digests size.";
    "performance_schema_events_stages_history_long_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: events stages history long size.";
    "performance_schema_events_stages_history_size" Global UInt(0, 1024, 1), "0" Startup
        "Performance schema: events stages history size.";
    "performance_schema_events_statements_history_long_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: events statements history long size.";
    "performance_schema_events_statements_history_size" Global UInt(0, 1024, 1), "0" Startup
        "Performance schema: events statements history size.";
    "performance_schema_events_transactions_history_long_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: events transactions history long size.";
    "performance_schema_events_transactions_history_size" Global UInt(0, 1024, 1), "0" Startup
        "Performance schema: events transactions history size.";
    "performance_schema_events_waits_history_long_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: events waits history long size.";
    "performance_schema_events_waits_history_size" Global UInt(0, 1024, 1), "0" Startup
        "Performance schema: events waits history size.";
    "performance_schema_hosts_size" Global UInt(0, 1_048_576, 1), "0" Startup "Performance schema: hosts size.";
    "performance_schema_max_cond_classes" Global UInt(0, 256, 1), "90" Startup
        "Performance schema: maximal cond classes.";
    "performance_schema_max_cond_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal cond instances.";
    "performance_schema_max_digest_length" Global UInt(0, 1_048_576, 1), "1024" Startup
        "Performance schema: maximal digest length.";
    "performance_schema_max_file_classes" Global UInt(0, 256, 1), "80" Startup
        "Performance schema: maximal file classes.";
    "performance_schema_max_file_handles" Global UInt(0, 1_048_576, 1), "32768" Startup
        "Performance schema: maximal file handles.";
    "performance_schema_max_file_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal file instances.";
    "performance_schema_max_index_stat" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal index stat.";
    "performance_schema_max_memory_classes" Global UInt(0, 1024, 1), "320" Startup
        "Performance schema: maximal memory classes.";
    "performance_schema_max_metadata_locks" Global UInt(0, 104_857_600, 1), "0" Startup
        "Performance schema: maximal metadata locks.";
    "performance_schema_max_mutex_classes" Global UInt(0, 256, 1), "210" Startup
        "Performance schema: maximal mutex classes.";
    "performance_schema_max_mutex_instances" Global UInt(0, 104_857_600, 1), "0" Startup
        "Performance schema: maximal mutex instances.";
    "performance_schema_max_prepared_statements_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal prepared statements instances.";
    "performance_schema_max_program_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal program instances.";
    "performance_schema_max_rwlock_classes" Global UInt(0, 256, 1), "50" Startup
        "Performance schema: maximal rwlock classes.";
    "performance_schema_max_rwlock_instances" Global UInt(0, 104_857_600, 1), "0" Startup
        "Performance schema: maximal rwlock instances.";
    "performance_schema_max_socket_classes" Global UInt(0, 256, 1), "10" Startup
        "Performance schema: maximal socket classes.";
    "performance_schema_max_socket_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal socket instances.";
    "performance_schema_max_sql_text_length" Global UInt(0, 1_048_576, 1), "1024" Startup
        "Performance schema: maximal sql text length.";
    "performance_schema_max_stage_classes" Global UInt(0, 256, 1), "160" Startup
        "Performance schema: maximal stage classes.";
    "performance_schema_max_statement_classes" Global UInt(0, 256, 1), "222" Startup
        "Performance schema: maximal statement classes.";
    "performance_schema_max_statement_stack" Global UInt(1, 256, 1), "10" Startup
        "Performance schema: maximal statement stack.";
    "performance_schema_max_table_handles" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal table handles.";
    "performance_schema_max_table_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal table instances.";
    "performance_schema_max_table_lock_stat" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal table lock stat.";
    "performance_schema_max_thread_classes" Global UInt(0, 256, 1), "50" Startup
        "Performance schema: maximal thread classes.";
    "performance_schema_max_thread_instances" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: maximal thread instances.";
    "performance_schema_session_connect_attrs_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: session connect attrs size.";
    "performance_schema_setup_actors_size" Global UInt(0, 1024, 1), "0" Startup
        "Performance schema: setup actors size.";
    "performance_schema_setup_objects_size" Global UInt(0, 1_048_576, 1), "0" Startup
        "Performance schema: setup objects size.";
    "performance_schema_users_size" Global UInt(0, 1_048_576, 1), "0" Startup "Performance schema: users size.";
];
