//! SHOW STATUS: what the server counts, under the names that MariaDB has for it.

use crate::acl::{Acl, RoutineKind};
use crate::admin::Filter;
use crate::instance::Instance;
use crate::status::{self, Counters};
use crate::view::View;
use narwal_types::SqlResult;
use std::sync::atomic::Ordering;

/// Sum of all sessions' counters.
fn totals(instance: &Instance) -> Counters {
    let sum = Counters::default();
    instance.retired.add_to(&sum);
    for p in instance.processes.all() {
        p.counters.add_to(&sum);
    }
    sum
}

/// Names that tools read of InnoDB, and the store's counters that mean the same.
const INNODB_NAMES: [(&str, &str); 9] = [
    ("Innodb_buffer_pool_bytes_dirty", "Narwal_memtable_bytes"),
    ("Innodb_data_fsyncs", "Narwal_log_syncs"),
    ("Innodb_log_write_requests", "Narwal_commits"),
    ("Innodb_log_writes", "Narwal_log_writes"),
    ("Innodb_lsn_current", "Narwal_durable_lsn"),
    ("Innodb_lsn_flushed", "Narwal_durable_lsn"),
    ("Innodb_lsn_last_checkpoint", "Narwal_checkpoint_lsn"),
    ("Innodb_os_log_fsyncs", "Narwal_log_syncs"),
    ("Innodb_os_log_written", "Narwal_log_bytes_written"),
];

/// Size in bytes of the pages that `innodb_page_size` tells of.
const PAGE: u64 = 16 << 10;

/// Values under InnoDB's names, made of the store's.
fn innodb(inst: &Instance, store: &[(&'static str, u64)], put: &mut dyn FnMut(&str, u64)) {
    let of = |name: &str| {
        let found = store.iter().find(|(n, _)| *n == name);
        found.map_or(0, |(_, v)| *v)
    };
    for (theirs, ours) in INNODB_NAMES {
        put(theirs, of(ours));
    }
    let age = of("Narwal_durable_lsn").saturating_sub(of("Narwal_checkpoint_lsn"));
    put("Innodb_checkpoint_age", age);
    let pool = inst.global_value("innodb_buffer_pool_size").as_u64();
    put("Innodb_buffer_pool_pages_total", pool / PAGE);
    let dirty = of("Narwal_memtable_bytes").div_ceil(PAGE);
    put("Innodb_buffer_pool_pages_dirty", dirty);
    put("Innodb_page_size", PAGE);
    // Read one after the other: a wait may have begun in between.
    let (all, now) = (
        of("Innodb_row_lock_waits"),
        of("Innodb_row_lock_current_waits"),
    );
    let waits = all.saturating_sub(now);
    let average = of("Innodb_row_lock_time").checked_div(waits);
    put("Innodb_row_lock_time_avg", average.unwrap_or(0));
}

/// Tables that there are definitions of: all are open.
fn number_of_tables(inst: &Instance) -> u64 {
    let c = inst.database().catalog();
    let tables = c.databases().map(|d| c.tables(&d.name).count());
    tables.sum::<usize>() as u64
}

fn tables(inst: &Instance, put: &mut dyn FnMut(&str, u64)) {
    // Files and sockets of the process; a system that does not tell has 0.
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    put("Open_files", files as u64);
    let all = number_of_tables(inst);
    for name in [
        "Open_table_definitions",
        "Open_tables",
        "Opened_table_definitions",
        "Opened_tables",
    ] {
        put(name, all);
    }
}

/// How much the accounts were granted, by kind.
fn grants(acl: &Acl) -> [(&'static str, u64); 11] {
    let accounts = acl.accounts();
    let sum = |of: &dyn Fn(&crate::acl::Account) -> usize| -> u64 {
        accounts.iter().map(|a| of(a) as u64).sum()
    };
    let routines =
        |kind: RoutineKind| sum(&|a| a.routines.keys().filter(|(k, ..)| *k == kind).count());
    [
        ("Acl_column_grants", sum(&|a| a.columns.len())),
        ("Acl_database_grants", sum(&|a| a.databases.len())),
        ("Acl_function_grants", routines(RoutineKind::Function)),
        (
            "Acl_package_body_grants",
            routines(RoutineKind::PackageBody),
        ),
        ("Acl_package_spec_grants", routines(RoutineKind::Package)),
        ("Acl_procedure_grants", routines(RoutineKind::Procedure)),
        ("Acl_proxy_users", sum(&|a| a.proxies.len())),
        ("Acl_role_grants", sum(&|a| a.roles.len())),
        ("Acl_roles", sum(&|a| a.is_role.into())),
        ("Acl_table_grants", sum(&|a| a.tables.len())),
        ("Acl_users", sum(&|a| (!a.is_role).into())),
    ]
}

/// Names that tools ask for and that stand for what there is not here: their value never changes.
const OF_NOTHING: &[(&[&str], &str)] = &[
    // Keys of MyISAM, pages and the log of Aria.
    (
        &[
            "Aria_pagecache_blocks_not_flushed",
            "Aria_pagecache_blocks_unused",
            "Aria_pagecache_blocks_used",
            "Aria_pagecache_read_requests",
            "Aria_pagecache_reads",
            "Aria_pagecache_write_requests",
            "Aria_pagecache_writes",
            "Aria_transaction_log_syncs",
            "Key_blocks_not_flushed",
            "Key_blocks_unused",
            "Key_blocks_used",
            "Key_blocks_warm",
            "Key_read_requests",
            "Key_reads",
            "Key_write_requests",
            "Key_writes",
        ],
        "0",
    ),
    // INSERT DELAYED, the query cache, a coordinator of several engines' commits, a pool of threads.
    (
        &[
            "Delayed_errors",
            "Delayed_insert_threads",
            "Delayed_writes",
            "Not_flushed_delayed_rows",
            "Qcache_free_blocks",
            "Qcache_free_memory",
            "Qcache_hits",
            "Qcache_inserts",
            "Qcache_lowmem_prunes",
            "Qcache_not_cached",
            "Qcache_queries_in_cache",
            "Qcache_total_blocks",
            "Rpl_transactions_multi_engine",
            "Slow_launch_threads",
            "Tc_log_max_pages_used",
            "Tc_log_page_size",
            "Tc_log_page_waits",
            "Threadpool_idle_threads",
            "Threadpool_threads",
            "Transactions_gtid_foreign_engine",
            "Transactions_multi_engine",
        ],
        "0",
    ),
    // Ways of an engine that this one does not go, and tables of statements that are no engine's.
    (
        &[
            "Handler_discover",
            "Handler_external_lock",
            "Handler_icp_attempts",
            "Handler_icp_match",
            "Handler_mrr_init",
            "Handler_mrr_key_refills",
            "Handler_mrr_rowid_refills",
            "Handler_prepare",
            "Handler_read_retry",
            "Handler_read_rnd_deleted",
            "Handler_tmp_delete",
            "Handler_tmp_update",
            "Handler_tmp_write",
            "Rows_tmp_read",
            "Select_range_check",
            "Subquery_cache_hit",
            "Subquery_cache_miss",
            "Table_locks_immediate",
            "Table_locks_waited",
            "Table_open_cache_active_instances",
            "Table_open_cache_hits",
            "Table_open_cache_misses",
            "Table_open_cache_overflows",
        ],
        "0",
    ),
    // Pages and undo logs of InnoDB.
    (
        &[
            "Innodb_buffer_pool_pages_misc",
            "Innodb_buffer_pool_wait_free",
            "Innodb_dblwr_pages_written",
            "Innodb_dblwr_writes",
            "Innodb_history_list_length",
            "Innodb_log_waits",
        ],
        "0",
    ),
    // The performance schema measures nothing, so it loses nothing.
    (
        &[
            "Performance_schema_accounts_lost",
            "Performance_schema_digest_lost",
            "Performance_schema_hosts_lost",
            "Performance_schema_memory_classes_lost",
            "Performance_schema_metadata_lock_lost",
            "Performance_schema_prepared_statements_lost",
            "Performance_schema_session_connect_attrs_lost",
            "Performance_schema_statement_classes_lost",
            "Performance_schema_table_instances_lost",
            "Performance_schema_thread_instances_lost",
            "Performance_schema_users_lost",
        ],
        "0",
    ),
    (&["Rpl_status"], "AUTH_MASTER"),
    (&["Last_query_cost"], "0.000000"),
];

/// SHOW STATUS: names and values in order. `filter` may leave out what it does not want.
pub(crate) fn status_pairs(
    view: &View,
    global: bool,
    filter: &Filter,
) -> SqlResult<Vec<(String, String)>> {
    let inst = &view.instance;
    let mut pairs: Vec<(String, String)> = Vec::new();
    {
        let sum;
        let counters = if global {
            sum = totals(inst);
            &sum
        } else {
            &view.process.counters
        };
        for (name, value) in counters.pairs() {
            pairs.push((name.to_string(), value.to_string()));
        }
    }
    let mut put = |n: &str, v: u64| pairs.push((n.to_string(), v.to_string()));
    let load = |a: &std::sync::atomic::AtomicU64| a.load(Ordering::Relaxed);
    let running = inst
        .processes
        .all()
        .iter()
        .filter(|p| p.is_running())
        .count();
    let up = inst.processes.uptime_seconds();
    put("Aborted_clients", load(&inst.aborted_clients));
    put("Aborted_connects", load(&inst.aborted_connects));
    put("Connections", load(&inst.connections));
    let memory = match global {
        true => narwal_memory::total(),
        false => view.process.memory.used(),
    };
    put("Max_used_connections", inst.processes.max());
    put("Memory_used", memory.max(0) as u64);
    put("Prepared_stmt_count", load(&inst.prepared_statements));
    put("Queries", totals(inst).get(status::QUESTIONS));
    put("Threads_cached", 0);
    put("Threads_connected", inst.processes.len() as u64);
    put("Threads_created", load(&inst.connections));
    put("Threads_running", running as u64);
    put("Uptime", up);
    put(
        "Uptime_since_flush_status",
        up.saturating_sub(load(&inst.status_since)),
    );
    put("Slow_queries", 0);
    for (name, n) in grants(&inst.acl()) {
        put(name, n);
    }
    let stats = inst.database().stats();
    for (n, v) in &stats.values {
        put(n, *v);
    }
    innodb(inst, &stats.values, &mut put);
    tables(inst, &mut put);
    for (names, value) in OF_NOTHING {
        let named = names
            .iter()
            .map(|n| ((*n).to_string(), (*value).to_string()));
        pairs.extend(named);
    }
    super::binlog::binlog_status(view, filter, &mut pairs)?;
    super::binlog::semi_sync_status(view, &mut pairs);
    crate::replica::replica_status(view, &mut pairs);
    if let Some(archive) = inst.archive_control() {
        for (name, value) in archive.status() {
            pairs.push((format!("Narwal_archive_{name}"), value));
        }
    }
    pairs.extend(inst.audit.status());
    let delayed = load(&inst.logins.delayed);
    pairs.push((
        "Connection_control_delay_generated".into(),
        delayed.to_string(),
    ));
    pairs.push(("Ssl_cipher".into(), view.tls.1.clone()));
    pairs.push(("Ssl_version".into(), view.tls.0.clone()));
    let compressed = if view.compressed { "ON" } else { "OFF" };
    pairs.push(("Compression".into(), compressed.into()));
    pairs.sort();
    pairs.dedup_by(|a, b| a.0 == b.0);
    pairs.retain(|(n, _)| filter.may_match(n));
    Ok(pairs)
}

/// COM_STATISTICS.
pub(crate) fn statistics(instance: &Instance) -> String {
    let up = instance.processes.uptime_seconds();
    let questions = totals(instance).get(status::QUESTIONS);
    let tables = number_of_tables(instance);
    format!(
        "Uptime: {up}  Threads: {}  Questions: {questions}  Slow queries: 0  Opens: 0  Open tables: {tables}  Queries per second avg: {:.3}",
        instance.processes.len(),
        questions as f64 / up.max(1) as f64
    )
}
