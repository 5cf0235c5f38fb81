//! Which changes go into the binary log: `binlog_do_db`, `binlog_ignore_db` and their table forms.
//!
//! A row's own table decides (row format), a DDL statement's default database decides (as for MariaDB, which logs DDL as
//! statements). What is filtered out is still redo: it goes into the log's records where readers do not look.

use crate::catalog::change::{CatalogChange, Ddl};

/// Lists of names; all empty: everything is logged. Names are compared exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BinlogFilter {
    /// Only these databases are logged (`binlog_do_db`); if given, `ignore_db` is not looked at.
    pub do_db: Vec<String>,
    /// These databases are not logged (`binlog_ignore_db`).
    pub ignore_db: Vec<String>,
    /// Of the databases that are logged only these tables, as `database.table` (`binlog_do_table`).
    pub do_table: Vec<String>,
    /// These tables are not logged, as `database.table` (`binlog_ignore_table`); not looked at for those in `do_table`.
    pub ignore_table: Vec<String>,
}

impl BinlogFilter {
    /// True if nothing is filtered.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.do_db.is_empty()
            && self.ignore_db.is_empty()
            && self.do_table.is_empty()
            && self.ignore_table.is_empty()
    }

    /// Changes of a database are logged. An empty name (no default database) is none of those listed: not logged if there is a
    /// `do_db`.
    pub fn logs_db(&self, db: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|d| d == db);
        if self.do_db.is_empty() {
            !listed(&self.ignore_db)
        } else {
            listed(&self.do_db)
        }
    }

    fn logs_table_name(&self, db: &str, table: &str) -> bool {
        let listed = |list: &[String]| {
            list.iter().any(|name| {
                name.strip_prefix(db)
                    .and_then(|rest| rest.strip_prefix('.'))
                    .is_some_and(|t| t == table)
            })
        };
        if !self.do_table.is_empty() {
            return listed(&self.do_table);
        }
        !listed(&self.ignore_table)
    }

    /// Row changes of a table are logged.
    #[inline]
    pub fn logs_rows(&self, db: &str, table: &str) -> bool {
        self.is_empty() || self.logs_db(db) && self.logs_table_name(db, table)
    }

    /// A DDL statement is logged: by its default database (CREATE and DROP DATABASE: by the one that they name), and
    /// if it is about tables, by whether one of them is.
    pub(crate) fn logs_ddl(&self, ddl: &Ddl) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut db = ddl.db.as_str();
        let mut tables = 0;
        let mut logged = 0;
        for change in &ddl.changes {
            let (of, name) = match change {
                CatalogChange::PutDatabase(d) | CatalogChange::AlterDatabase(d) => {
                    db = &d.name;
                    continue;
                }
                CatalogChange::DropDatabase(name) => {
                    db = name;
                    continue;
                }
                CatalogChange::CreateTable(def) => (&def.db, &def.name),
                CatalogChange::PutView(v) => (&v.db, &v.name),
                CatalogChange::DropTable { db, name }
                | CatalogChange::DropView { db, name }
                | CatalogChange::TruncateTable { db, name } => (db, name),
                CatalogChange::CreateIndex { db, table, .. }
                | CatalogChange::DropIndex { db, table, .. } => (db, table),
                CatalogChange::AlterTable { db, name, .. }
                | CatalogChange::RebuildTable { db, name, .. }
                | CatalogChange::SetAutoIncrement { db, name, .. } => (db, name),
                _ => continue,
            };
            tables += 1;
            logged += usize::from(self.logs_table_name(of, name));
        }
        self.logs_db(db) && (tables == 0 || logged > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn databases() {
        let all = BinlogFilter::default();
        assert!(all.logs_db("") && all.logs_rows("a", "t"));
        let only = BinlogFilter {
            do_db: list(&["a", "b"]),
            ignore_db: list(&["a"]),
            ..BinlogFilter::default()
        };
        assert!(only.logs_rows("a", "t") && only.logs_db("b"));
        assert!(!only.logs_db("c") && !only.logs_db("") && !only.logs_db("A"));
        let but = BinlogFilter {
            ignore_db: list(&["a"]),
            ..BinlogFilter::default()
        };
        assert!(!but.logs_rows("a", "t") && but.logs_db("b") && but.logs_db(""));
    }

    #[test]
    fn tables() {
        let but = BinlogFilter {
            ignore_table: list(&["a.t", "a.b.c"]),
            ..BinlogFilter::default()
        };
        assert!(!but.logs_rows("a", "t") && but.logs_rows("a", "u") && but.logs_rows("b", "t"));
        assert!(!but.logs_rows("a", "b.c") && !but.logs_rows("a.b", "c"));
        let only = BinlogFilter {
            ignore_db: list(&["b"]),
            do_table: list(&["a.t", "b.t"]),
            ..BinlogFilter::default()
        };
        assert!(only.logs_rows("a", "t") && !only.logs_rows("a", "u") && !only.logs_rows("b", "t"));
        let drop = |db: &str, tables: &[&str]| Ddl {
            db: db.into(),
            changes: tables
                .iter()
                .map(|t| CatalogChange::DropTable {
                    db: "a".into(),
                    name: (*t).to_owned(),
                })
                .collect(),
            ..Ddl::default()
        };
        assert!(only.logs_ddl(&drop("a", &["t", "u"])));
        assert!(!only.logs_ddl(&drop("a", &["u"])));
        assert!(
            !only.logs_ddl(&drop("b", &["t"])),
            "the default database decides"
        );
        let gone = Ddl {
            db: "a".into(),
            changes: vec![CatalogChange::DropDatabase("b".into())],
            ..Ddl::default()
        };
        assert!(!only.logs_ddl(&gone), "the named database decides");
    }
}
