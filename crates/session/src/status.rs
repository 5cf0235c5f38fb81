//! Status counters: one set for each session, written by its thread only, and the sum of all for the server.

use narwal_sql::{StatusCount, StatusCounts};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names of the counters, sorted.
pub(crate) const NAMES: &[&str] = &[
    "Access_denied_errors",
    "Bytes_received",
    "Bytes_sent",
    "Com_admin_commands",
    "Com_alter_db",
    "Com_alter_event",
    "Com_alter_function",
    "Com_alter_procedure",
    "Com_alter_sequence",
    "Com_alter_server",
    "Com_alter_table",
    "Com_alter_user",
    "Com_analyze",
    "Com_assign_to_keycache",
    "Com_backup",
    "Com_backup_table",
    "Com_begin",
    "Com_binlog",
    "Com_call_procedure",
    "Com_change_db",
    "Com_change_master",
    "Com_check",
    "Com_checksum",
    "Com_commit",
    "Com_compound_sql",
    "Com_create_db",
    "Com_create_event",
    "Com_create_function",
    "Com_create_index",
    "Com_create_package",
    "Com_create_package_body",
    "Com_create_procedure",
    "Com_create_role",
    "Com_create_sequence",
    "Com_create_server",
    "Com_create_table",
    "Com_create_trigger",
    "Com_create_user",
    "Com_create_view",
    "Com_dealloc_sql",
    "Com_delete",
    "Com_delete_multi",
    "Com_do",
    "Com_drop_db",
    "Com_drop_event",
    "Com_drop_function",
    "Com_drop_index",
    "Com_drop_package",
    "Com_drop_package_body",
    "Com_drop_procedure",
    "Com_drop_role",
    "Com_drop_sequence",
    "Com_drop_server",
    "Com_drop_table",
    "Com_drop_trigger",
    "Com_drop_user",
    "Com_drop_view",
    "Com_execute_immediate",
    "Com_execute_sql",
    "Com_explain_other",
    "Com_flush",
    "Com_get_diagnostics",
    "Com_grant",
    "Com_grant_role",
    "Com_ha_close",
    "Com_ha_open",
    "Com_ha_read",
    "Com_insert",
    "Com_insert_select",
    "Com_install_plugin",
    "Com_kill",
    "Com_load",
    "Com_lock_instance",
    "Com_lock_tables",
    "Com_optimize",
    "Com_preload_keys",
    "Com_prepare_sql",
    "Com_purge",
    "Com_purge_before_date",
    "Com_release_savepoint",
    "Com_rename_table",
    "Com_rename_user",
    "Com_repair",
    "Com_replace",
    "Com_replace_select",
    "Com_reset",
    "Com_resignal",
    "Com_revoke",
    "Com_revoke_all",
    "Com_revoke_role",
    "Com_rollback",
    "Com_rollback_to_savepoint",
    "Com_savepoint",
    "Com_select",
    "Com_set_option",
    "Com_show_binlog_events",
    "Com_show_binlog_status",
    "Com_show_binlogs",
    "Com_show_charsets",
    "Com_show_collations",
    "Com_show_create_db",
    "Com_show_create_event",
    "Com_show_create_func",
    "Com_show_create_package",
    "Com_show_create_package_body",
    "Com_show_create_proc",
    "Com_show_create_table",
    "Com_show_create_trigger",
    "Com_show_create_user",
    "Com_show_databases",
    "Com_show_engine_mutex",
    "Com_show_engine_status",
    "Com_show_errors",
    "Com_show_events",
    "Com_show_explain",
    "Com_show_fields",
    "Com_show_function_status",
    "Com_show_generic",
    "Com_show_grants",
    "Com_show_keys",
    "Com_show_package_body_status",
    "Com_show_package_status",
    "Com_show_plugins",
    "Com_show_privileges",
    "Com_show_procedure_status",
    "Com_show_processlist",
    "Com_show_slave_hosts",
    "Com_show_slave_status",
    "Com_show_status",
    "Com_show_storage_engines",
    "Com_show_table_status",
    "Com_show_tables",
    "Com_show_triggers",
    "Com_show_variables",
    "Com_show_warnings",
    "Com_shutdown",
    "Com_signal",
    "Com_start_all_slaves",
    "Com_start_slave",
    "Com_stmt_close",
    "Com_stmt_execute",
    "Com_stmt_prepare",
    "Com_stmt_reprepare",
    "Com_stmt_reset",
    "Com_stop_all_slaves",
    "Com_stop_slave",
    "Com_truncate",
    "Com_uninstall_plugin",
    "Com_unlock_instance",
    "Com_unlock_tables",
    "Com_update",
    "Com_update_multi",
    "Com_xa_commit",
    "Com_xa_end",
    "Com_xa_prepare",
    "Com_xa_recover",
    "Com_xa_rollback",
    "Com_xa_start",
    "Empty_queries",
    "Executed_events",
    "Handler_commit",
    "Handler_rollback",
    "Handler_savepoint",
    "Handler_savepoint_rollback",
    "Max_statement_time_exceeded",
    "Narwal_text_plan_cache_hits",
    "Narwal_text_plan_cache_misses",
    "Questions",
    "Rows_sent",
];

/// Position of the counter of a kind of statements; what has none of its own counts as an administrative command.
pub(crate) fn counter(name: &str) -> usize {
    NAMES.binary_search(&name).unwrap_or(ADMIN_COMMANDS)
}

/// Position of a counter of ours; does not compile for an unknown name.
const fn position(name: &str) -> usize {
    let mut i = 0;
    while i < NAMES.len() {
        let (a, b) = (NAMES[i].as_bytes(), name.as_bytes());
        if a.len() == b.len() {
            let mut k = 0;
            while k < a.len() && a[k] == b[k] {
                k += 1;
            }
            if k == a.len() {
                return i;
            }
        }
        i += 1;
    }
    panic!("no such counter")
}

macro_rules! positions {
    ($($id:ident = $name:literal),* $(,)?) => {
        $(pub(crate) const $id: usize = position($name);)*
    };
}

positions! {
    ACCESS_DENIED = "Access_denied_errors",
    BYTES_RECEIVED = "Bytes_received",
    BYTES_SENT = "Bytes_sent",
    ADMIN_COMMANDS = "Com_admin_commands",
    STMT_CLOSE = "Com_stmt_close",
    STMT_EXECUTE = "Com_stmt_execute",
    STMT_PREPARE = "Com_stmt_prepare",
    STMT_REPREPARE = "Com_stmt_reprepare",
    EMPTY_QUERIES = "Empty_queries",
    EXECUTED_EVENTS = "Executed_events",
    COMMITS = "Handler_commit",
    ROLLBACKS = "Handler_rollback",
    SAVEPOINTS = "Handler_savepoint",
    SAVEPOINT_ROLLBACKS = "Handler_savepoint_rollback",
    STATEMENT_TIMEOUTS = "Max_statement_time_exceeded",
    TEXT_PLAN_HITS = "Narwal_text_plan_cache_hits",
    TEXT_PLAN_MISSES = "Narwal_text_plan_cache_misses",
    QUESTIONS = "Questions",
    ROWS_SENT = "Rows_sent",
}

/// A set of counters: those of [`NAMES`], and what statements do with rows.
#[derive(Debug)]
pub(crate) struct Counters {
    named: Box<[AtomicU64]>,
    /// Statements count here by themselves.
    pub(crate) rows: Arc<StatusCounts>,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            named: NAMES.iter().map(|_| AtomicU64::new(0)).collect(),
            rows: Arc::default(),
        }
    }
}

impl Counters {
    /// Adds to a counter that only the calling thread writes: no locked instruction.
    #[inline]
    pub(crate) fn add(&self, i: usize, n: u64) {
        let c = &self.named[i];
        c.store(c.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Adds to a counter that several threads write.
    pub(crate) fn add_shared(&self, i: usize, n: u64) {
        self.named[i].fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, i: usize) -> u64 {
        self.named[i].load(Ordering::Relaxed)
    }

    /// Names and values.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let named = NAMES.iter().enumerate().map(|(i, n)| (*n, self.get(i)));
        let rows = StatusCount::ALL.iter();
        named.chain(rows.map(|c| (c.name(), self.rows.get(*c))))
    }

    /// Adds all of these counters to others that several threads write.
    pub(crate) fn add_to(&self, sum: &Counters) {
        for (i, c) in self.named.iter().enumerate() {
            let n = c.load(Ordering::Relaxed);
            if n != 0 {
                sum.add_shared(i, n);
            }
        }
        self.rows.add_to(&sum.rows);
    }

    pub(crate) fn reset(&self) {
        for c in &self.named {
            c.store(0, Ordering::Relaxed);
        }
        self.rows.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        for w in NAMES.windows(2) {
            assert!(w[0] < w[1], "{} < {}", w[0], w[1]);
        }
        assert_eq!(NAMES[QUESTIONS], "Questions");
        assert_eq!(NAMES[COMMITS], "Handler_commit");
        assert_eq!(counter("nope"), ADMIN_COMMANDS);
    }

    /// A statement whose counter is missing would count as an administrative command.
    #[test]
    fn every_kind_of_statements_has_its_counter() {
        let mut named = 0;
        for part in ["session", "sql"] {
            let folder = format!("{}/../{part}/src", env!("CARGO_MANIFEST_DIR"));
            for text in narwal_testkit::sources::sources(folder.as_ref()).unwrap() {
                for (at, _) in text.match_indices("\"Com_") {
                    let name = text[at + 1..].split('"').next().unwrap();
                    assert!(NAMES.contains(&name) || name.ends_with('_'), "{name}");
                    named += 1;
                }
            }
        }
        assert!(named > 200, "{named}");
    }

    #[test]
    fn sums() {
        let (a, b) = (Counters::default(), Counters::default());
        a.add(QUESTIONS, 2);
        a.add_to(&b);
        a.add_to(&b);
        assert_eq!(b.get(QUESTIONS), 4);
        b.reset();
        assert_eq!(b.get(QUESTIONS), 0);
    }
}
