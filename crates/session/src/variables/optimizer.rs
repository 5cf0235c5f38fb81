//! Variables: plans, and the memory and time that statements may take.

use super::def::Effect::{Inert, Live, Startup};
use super::def::Kind::{Bool, Double, Enum, Flags, UInt};
use super::def::Scope::{Both, Global};
use super::def::{VariableDef, inert, row};
use narwal_types::errors;

/// The switches of MariaDB's optimizer.
const OPTIMIZER_SWITCHES: &[&str] = &[
    "index_merge",
    "index_merge_union",
    "index_merge_sort_union",
    "index_merge_intersection",
    "index_merge_sort_intersection",
    "engine_condition_pushdown",
    "index_condition_pushdown",
    "derived_merge",
    "derived_with_keys",
    "firstmatch",
    "loosescan",
    "materialization",
    "in_to_exists",
    "semijoin",
    "partial_match_rowid_merge",
    "partial_match_table_scan",
    "subquery_cache",
    "mrr",
    "mrr_cost_based",
    "mrr_sort_keys",
    "outer_join_with_cache",
    "semijoin_with_cache",
    "join_cache_incremental",
    "join_cache_hashed",
    "join_cache_bka",
    "optimize_join_buffer_size",
    "table_elimination",
    "extended_keys",
    "exists_to_in",
    "orderby_uses_equalities",
    "condition_pushdown_for_derived",
    "split_materialized",
    "condition_pushdown_for_subquery",
    "rowid_filter",
    "condition_pushdown_from_having",
    "not_null_range_scan",
    "hash_join_cardinality",
    "cset_narrowing",
];

/// How they stand at first.
const OPTIMIZER_SWITCH: &str = "index_merge=on,index_merge_union=on,index_merge_sort_union=on,index_merge_intersection=on,\
    index_merge_sort_intersection=off,engine_condition_pushdown=off,index_condition_pushdown=on,\
    derived_merge=on,derived_with_keys=on,firstmatch=on,loosescan=on,materialization=on,\
    in_to_exists=on,semijoin=on,partial_match_rowid_merge=on,partial_match_table_scan=on,\
    subquery_cache=on,mrr=off,mrr_cost_based=off,mrr_sort_keys=off,outer_join_with_cache=on,\
    semijoin_with_cache=on,join_cache_incremental=on,join_cache_hashed=on,join_cache_bka=on,\
    optimize_join_buffer_size=on,table_elimination=on,extended_keys=on,exists_to_in=on,\
    orderby_uses_equalities=on,condition_pushdown_for_derived=on,split_materialized=on,\
    condition_pushdown_for_subquery=on,rowid_filter=on,condition_pushdown_from_having=on,\
    not_null_range_scan=off,hash_join_cardinality=off,cset_narrowing=off";

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    inert(
        "big_tables",
        Both,
        Bool,
        "OFF",
        "MariaDB's switch for temporary tables on disk; Narwal decides by their size.",
    ),
    inert(
        "bulk_insert_buffer_size",
        Both,
        UInt(0, MAX, 1),
        "8388608",
        "MyISAM's memory for bulk inserts.",
    ),
    inert(
        "concurrent_insert",
        Global,
        Enum(&["NEVER", "AUTO", "ALWAYS"]),
        "AUTO",
        "MyISAM's inserts beside readers.",
    ),
    inert(
        "eq_range_index_dive_limit",
        Both,
        UInt(0, 4_294_967_295, 1),
        "200",
        "MariaDB's limit of estimates for IN lists.",
    ),
    row(
        "join_buffer_size",
        Both,
        UInt(128, MAX, 128),
        "262144",
        Live,
        "Bytes that a join may hold in memory before it goes to temporary files.",
    )
    .session(|s, v| s.join_memory = v.as_u64()),
    inert(
        "key_buffer_size",
        Global,
        UInt(0, MAX, 4096),
        "134217728",
        "MyISAM's cache of indexes.",
    )
    .check(|_, v| match v.as_u64() {
        0 => Err(errors::CANT_DROP_DEFAULT_KEYCACHE.plain()),
        _ => Ok(()),
    }),
    row(
        "max_heap_table_size",
        Both,
        UInt(16384, MAX, 1024),
        "67108864",
        Live,
        "Bytes that a temporary table may hold in memory, together with `tmp_table_size`.",
    )
    .session(|s, v| s.heap_table_memory = v.as_u64()),
    inert(
        "max_join_size",
        Both,
        UInt(1, MAX, 1),
        "18446744073709551615",
        "MariaDB's limit of rows that a SELECT may look at.",
    ),
    inert(
        "max_length_for_sort_data",
        Both,
        UInt(4, 8_388_608, 1),
        "1024",
        "MariaDB's choice between two ways to sort.",
    ),
    row(
        "max_prepared_stmt_count",
        Global,
        UInt(0, 4_294_967_295, 1),
        "16382",
        Live,
        "Prepared statements of all sessions.",
    ),
    row(
        "max_recursive_iterations",
        Both,
        UInt(0, 4_294_967_295, 1),
        "1000",
        Live,
        "Rounds of a recursive common table expression.",
    ),
    row(
        "max_session_mem_used",
        Both,
        UInt(8192, MAX, 1),
        "9223372036854775807",
        Live,
        "Bytes of memory that a session may take.",
    )
    .session(|s, v| s.memory = v.as_u64()),
    inert(
        "max_sort_length",
        Both,
        UInt(64, 8_388_608, 1),
        "1024",
        "MariaDB's bytes of a value that sorting looks at.",
    ),
    row(
        "max_statement_time",
        Both,
        Double(0.0, 31_536_000.0),
        "0",
        Live,
        "Seconds after which a statement is ended; 0 for never.",
    )
    .session(|s, v| s.statement_time_micros = (v.as_f64() * 1e6) as u64),
    row(
        "max_tmp_session_space_usage",
        Both,
        UInt(0, MAX, 65536),
        "1099511627776",
        Live,
        "Bytes of temporary files that a session may have.",
    )
    .session(|s, v| s.spill = v.as_u64()),
    inert(
        "myisam_sort_buffer_size",
        Both,
        UInt(4096, MAX >> 4, 1),
        "134217728",
        "MyISAM's memory for making indexes.",
    ),
    row(
        "narwal_memory",
        Global,
        UInt(0, MAX, 1),
        "0",
        Startup,
        "Bytes that the whole server may take; 0 to work it out.",
    ),
    row(
        "narwal_text_plan_cache_size",
        Both,
        UInt(0, 65_536, 1),
        "128",
        Live,
        "Plans that a session keeps of statements that come as text.",
    )
    .session(|s, v| s.text_plans = v.as_u64() as usize),
    row(
        "open_files_limit",
        Global,
        UInt(0, 4_294_967_295, 1),
        "0",
        Startup,
        "Files that the server may open; 0: as many as the system lets it.",
    ),
    inert(
        "optimizer_prune_level",
        Both,
        UInt(0, 2, 1),
        "2",
        "MariaDB's search for join orders.",
    ),
    row(
        "histogram_size",
        Both,
        UInt(0, 255, 1),
        "254",
        Live,
        "Bytes of the histograms that ANALYZE TABLE keeps; 0: none. The planner asks none.",
    ),
    row(
        "histogram_type",
        Both,
        Enum(&["SINGLE_PREC_HB", "DOUBLE_PREC_HB", "JSON_HB"]),
        "DOUBLE_PREC_HB",
        Live,
        "Kind of the histograms that ANALYZE TABLE keeps.",
    ),
    inert(
        "optimizer_search_depth",
        Both,
        UInt(0, 62, 1),
        "62",
        "MariaDB's search for join orders.",
    ),
    inert(
        "optimizer_switch",
        Both,
        Flags(OPTIMIZER_SWITCHES),
        OPTIMIZER_SWITCH,
        "MariaDB's switches of its optimizer.",
    )
    .check(|_, v| {
        let shown = v.show();
        let off = |switch: &str| shown.split(',').any(|s| s == switch);
        match off("in_to_exists=off") && off("materialization=off") {
            true => Err(errors::ILLEGAL_SUBQUERY_OPTIMIZER_SWITCHES.plain()),
            false => Ok(()),
        }
    }),
    row(
        "use_stat_tables",
        Both,
        Enum(&[
            "NEVER",
            "COMPLEMENTARY",
            "PREFERABLY",
            "COMPLEMENTARY_FOR_QUERIES",
            "PREFERABLY_FOR_QUERIES",
        ]),
        "PREFERABLY_FOR_QUERIES",
        Live,
        "COMPLEMENTARY, PREFERABLY: ANALYZE TABLE keeps statistics without PERSISTENT FOR too. The planner asks none.",
    ),
    inert(
        "preload_buffer_size",
        Both,
        UInt(1024, 1_073_741_824, 1),
        "32768",
        "MyISAM's LOAD INDEX.",
    ),
    inert(
        "query_alloc_block_size",
        Both,
        UInt(1024, 4_294_967_295, 1024),
        "32768",
        "MariaDB's memory for statements.",
    ),
    inert(
        "query_cache_limit",
        Global,
        UInt(0, 4_294_967_295, 1),
        "1048576",
        "MariaDB's query cache.",
    ),
    inert(
        "query_cache_size",
        Global,
        UInt(0, MAX, 1024),
        "0",
        "MariaDB's query cache.",
    ),
    row(
        "query_cache_type",
        Both,
        Enum(&["OFF", "ON", "DEMAND"]),
        "OFF",
        Inert,
        "MariaDB's query cache.",
    )
    .before(|s, v| {
        let off = s.server().value("query_cache_type").as_str() == "OFF";
        match off && v.as_str() != "OFF" {
            true => Err(errors::QUERY_CACHE_IS_GLOBALY_DISABLED.plain()),
            false => Ok(()),
        }
    })
    .not_for_one_statement(),
    inert(
        "query_prealloc_size",
        Both,
        UInt(1024, 4_294_967_295, 1024),
        "32768",
        "MariaDB's memory for statements.",
    ),
    inert(
        "read_buffer_size",
        Both,
        UInt(8192, 2_147_483_647, 4096),
        "131072",
        "MariaDB's memory for reading tables.",
    ),
    inert(
        "read_rnd_buffer_size",
        Both,
        UInt(1, 2_147_483_647, 1),
        "262144",
        "MariaDB's memory for reading sorted rows.",
    ),
    row(
        "sort_buffer_size",
        Both,
        UInt(1024, MAX, 1),
        "2097152",
        Live,
        "Bytes that a sort may hold in memory before it goes to temporary files.",
    )
    .session(|s, v| s.sort_memory = v.as_u64()),
    inert(
        "sql_big_selects",
        Both,
        Bool,
        "ON",
        "MariaDB's limit of rows that a SELECT may look at.",
    ),
    inert(
        "sql_buffer_result",
        Both,
        Bool,
        "OFF",
        "MariaDB's temporary table for each result.",
    ),
    row(
        "standard_compliant_cte",
        Both,
        Bool,
        "ON",
        Live,
        "Whether a recursive common table expression is refused that looks at more than one row of itself at once.",
    ),
    inert(
        "table_definition_cache",
        Global,
        UInt(400, 2_097_152, 1),
        "400",
        "MariaDB's cache of table definitions.",
    ),
    inert(
        "table_open_cache",
        Global,
        UInt(10, 1_048_576, 1),
        "2000",
        "MariaDB's cache of open tables.",
    ),
    row(
        "table_open_cache_instances",
        Global,
        UInt(1, 64, 1),
        "1",
        Startup,
        "MariaDB's cache of open tables.",
    ),
    row(
        "tmp_table_size",
        Both,
        UInt(0, MAX, 1),
        "67108864",
        Live,
        "Bytes that a temporary table may hold in memory before it goes to a file.",
    )
    .session(|s, v| s.table_memory = v.as_u64()),
];

const MAX: u64 = u64::MAX;
