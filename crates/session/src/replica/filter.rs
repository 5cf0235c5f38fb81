//! Which changes of a source are applied: `replicate_do_db` and its kin, by MariaDB's rules.
//!
//! Row changes are judged by the table they change, whatever the default database was. Statements (DDL) are judged by
//! the session's default database first, and then by the tables they change. Names are compared with case.

use narwal_types::SqlResult;
use narwal_types::errors;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Filters of a connection. Empty lists filter nothing. Shared by its applier's threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaFilter {
    /// `replicate_do_db`.
    pub do_db: Vec<String>,
    /// `replicate_ignore_db`.
    pub ignore_db: Vec<String>,
    /// `replicate_do_table`: `database.table`.
    pub do_table: Vec<String>,
    /// `replicate_ignore_table`.
    pub ignore_table: Vec<String>,
    /// `replicate_wild_do_table`: patterns of `database.table` with `%`, `_` and `\`.
    pub wild_do_table: Vec<String>,
    /// `replicate_wild_ignore_table`.
    pub wild_ignore_table: Vec<String>,
}

/// The lists, each of which is a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterList {
    DoDb,
    DoTable,
    IgnoreDb,
    IgnoreTable,
    WildDoTable,
    WildIgnoreTable,
}

impl FilterList {
    /// Its names are `database.table`.
    fn is_of_tables(self) -> bool {
        !matches!(self, FilterList::DoDb | FilterList::IgnoreDb)
    }
}

/// Filters by the connection's name in lower case; the default connection's name is empty.
#[derive(Debug, Default)]
pub(crate) struct Filters(pub(super) RwLock<BTreeMap<String, Arc<ReplicaFilter>>>);

impl Filters {
    pub(crate) fn new(given: BTreeMap<String, ReplicaFilter>) -> Self {
        Filters(RwLock::new(
            given.into_iter().map(|(n, f)| (n, Arc::new(f))).collect(),
        ))
    }

    pub(crate) fn get(&self, connection: &str) -> Arc<ReplicaFilter> {
        let filters = self.0.read();
        filters
            .get(&connection.to_lowercase())
            .cloned()
            .unwrap_or_default()
    }
}

impl ReplicaFilter {
    /// True if nothing is filtered: callers need not ask further.
    pub fn is_empty(&self) -> bool {
        *self == ReplicaFilter::default()
    }

    /// True if row changes of this table are applied.
    pub fn wants_table(&self, db: &str, table: &str) -> bool {
        self.db_passes(db) && self.tables_pass(&[(db, table)])
    }

    /// True if a statement (DDL) about tables is applied: `default_db` is the session's default database (empty is none),
    /// `tables` are the tables it changes as (database, table), with the default database filled in. Statements about
    /// accounts have no tables.
    pub fn wants_statement(&self, default_db: &str, tables: &[(&str, &str)]) -> bool {
        self.db_passes(default_db) && (tables.is_empty() || self.tables_pass(tables))
    }

    /// True if CREATE, ALTER or DROP DATABASE of this database is applied.
    pub fn wants_database(&self, db: &str) -> bool {
        // Patterns see the database's name with the dot behind it.
        let name = format!("{db}.");
        self.db_passes(db)
            && (matches_any(&self.wild_do_table, &name)
                || (!matches_any(&self.wild_ignore_table, &name) && self.wild_do_table.is_empty()))
    }

    fn db_passes(&self, db: &str) -> bool {
        if self.do_db.is_empty() && self.ignore_db.is_empty() {
            return true;
        }
        // No database at all is none that was asked for.
        !db.is_empty()
            && if self.do_db.is_empty() {
                !self.ignore_db.iter().any(|d| d == db)
            } else {
                self.do_db.iter().any(|d| d == db)
            }
    }

    /// The first table that a rule is about decides.
    fn tables_pass(&self, tables: &[(&str, &str)]) -> bool {
        let rules = [
            &self.do_table,
            &self.ignore_table,
            &self.wild_do_table,
            &self.wild_ignore_table,
        ];
        if rules.iter().all(|r| r.is_empty()) {
            return true;
        }
        for (db, table) in tables {
            let name = format!("{db}.{table}");
            if self.do_table.contains(&name) {
                return true;
            }
            if self.ignore_table.contains(&name) {
                return false;
            }
            if matches_any(&self.wild_do_table, &name) {
                return true;
            }
            if matches_any(&self.wild_ignore_table, &name) {
                return false;
            }
        }
        self.do_table.is_empty() && self.wild_do_table.is_empty()
    }

    fn list(&self, list: FilterList) -> &Vec<String> {
        match list {
            FilterList::DoDb => &self.do_db,
            FilterList::DoTable => &self.do_table,
            FilterList::IgnoreDb => &self.ignore_db,
            FilterList::IgnoreTable => &self.ignore_table,
            FilterList::WildDoTable => &self.wild_do_table,
            FilterList::WildIgnoreTable => &self.wild_ignore_table,
        }
    }

    fn list_mut(&mut self, list: FilterList) -> &mut Vec<String> {
        match list {
            FilterList::DoDb => &mut self.do_db,
            FilterList::DoTable => &mut self.do_table,
            FilterList::IgnoreDb => &mut self.ignore_db,
            FilterList::IgnoreTable => &mut self.ignore_table,
            FilterList::WildDoTable => &mut self.wild_do_table,
            FilterList::WildIgnoreTable => &mut self.wild_ignore_table,
        }
    }

    /// A list as text.
    pub(crate) fn get(&self, list: FilterList) -> String {
        self.list(list).join(",")
    }

    /// Sets a list from names with commas between. Error 1210 if a table's name has no database.
    pub(crate) fn set(&mut self, list: FilterList, text: &str) -> SqlResult<()> {
        *self.list_mut(list) = split(list, text)?;
        Ok(())
    }

    /// Adds to a list what an option of the command line says.
    pub(crate) fn add(&mut self, list: FilterList, text: &str) -> SqlResult<()> {
        let names = split(list, text)?;
        self.list_mut(list).extend(names);
        Ok(())
    }
}

fn split(list: FilterList, text: &str) -> SqlResult<Vec<String>> {
    let names: Vec<String> = text
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(String::from)
        .collect();
    if list.is_of_tables() && names.iter().any(|n| !n.contains('.')) {
        return Err(errors::WRONG_ARGUMENTS.with([&"SET"]));
    }
    Ok(names)
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|p| wild(p.as_bytes(), name.as_bytes()))
}

/// LIKE with `%`, `_` and `\`, by bytes save that `_` is a character. Linear in memory, and in time but for patterns
/// with many `%`.
fn wild(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        let fits = match pattern.get(p) {
            Some(b'%') => {
                back = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(b'_') if n < name.len() => {
                n += 1;
                while n < name.len() && name[n] & 0xC0 == 0x80 {
                    n += 1;
                }
                p += 1;
                true
            }
            Some(b'\\') if p + 1 < pattern.len() => {
                let fits = name.get(n) == pattern.get(p + 1);
                p += 2;
                n += 1;
                fits
            }
            Some(c) => {
                let fits = name.get(n) == Some(c);
                p += 1;
                n += 1;
                fits
            }
            None if n == name.len() => return true,
            None => false,
        };
        if !fits {
            match back {
                Some((bp, bn)) if bn < name.len() => {
                    back = Some((bp, bn + 1));
                    (p, n) = (bp, bn + 1);
                }
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(rules: &[(FilterList, &str)]) -> ReplicaFilter {
        let mut f = ReplicaFilter::default();
        for (v, text) in rules {
            f.set(*v, text).unwrap();
        }
        f
    }

    #[test]
    fn patterns() {
        for (p, n, want) in [
            ("a.b", "a.b", true),
            ("a%.b_", "abc.bx", true),
            ("a%.b_", "abc.b", false),
            ("%", "", true),
            ("%.t", "d.t.t", true),
            ("d\\_x.%", "d_x.t", true),
            ("d\\_x.%", "dax.t", false),
            ("d.%x%y", "d.1x2x3y", true),
            ("d.%x%y", "d.1x2x3", false),
            ("_.t", "ä.t", true),
            ("", "a", false),
            ("a%", "b", false),
        ] {
            assert_eq!(wild(p.as_bytes(), n.as_bytes()), want, "{p} {n}");
        }
    }

    #[test]
    fn databases() {
        let f = filter(&[(FilterList::DoDb, "a, b,,c")]);
        assert_eq!(f.get(FilterList::DoDb), "a,b,c");
        assert!(f.wants_table("b", "t") && !f.wants_table("d", "t"));
        assert!(
            f.wants_statement("a", &[("d", "t")]),
            "the default database counts"
        );
        assert!(!f.wants_statement("d", &[("a", "t")]) && !f.wants_statement("", &[]));
        assert!(f.wants_database("a") && !f.wants_database("d"));
        let f = filter(&[(FilterList::IgnoreDb, "a")]);
        assert!(!f.wants_table("a", "t") && f.wants_table("b", "t"));
        assert!(!f.wants_statement("", &[]));
        // Where both are given, the ones to be applied count alone.
        let f = filter(&[(FilterList::IgnoreDb, "a"), (FilterList::DoDb, "a")]);
        assert!(f.wants_table("a", "t") && !f.wants_table("b", "t"));
        assert!(ReplicaFilter::default().wants_statement("", &[]));
    }

    #[test]
    fn tables() {
        let f = filter(&[(FilterList::DoTable, "a.t,b.u")]);
        assert!(f.wants_table("a", "t") && !f.wants_table("a", "u"));
        assert!(f.wants_statement("", &[("a", "x"), ("b", "u")]));
        assert!(f.wants_statement("", &[]) && f.wants_database("z"));
        let f = filter(&[
            (FilterList::IgnoreTable, "a.t"),
            (FilterList::WildDoTable, "a.%"),
        ]);
        assert!(!f.wants_table("a", "t") && f.wants_table("a", "u") && !f.wants_table("b", "u"));
        assert!(f.wants_database("a") && !f.wants_database("b"));
        let f = filter(&[(FilterList::WildIgnoreTable, "tmp%.%")]);
        assert!(!f.wants_table("tmp1", "x") && f.wants_table("a", "x"));
        assert!(!f.wants_database("tmp1") && f.wants_database("a"));
        assert_eq!(
            ReplicaFilter::default()
                .set(FilterList::DoTable, "a")
                .unwrap_err()
                .code,
            1210
        );
    }
}
