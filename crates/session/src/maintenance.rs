//! CHECK, ANALYZE, OPTIMIZE and REPAIR TABLE.

use crate::acl;
use crate::admin::{Maintenance, TableRef};
use crate::information_schema::Definitions;
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use narwal_engine::{Isolation, Table, Transaction, ViewDef};
use narwal_sql::{VirtualTables, view};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, TypeKind, Value};
use std::sync::Arc;

impl ClientSession {
    /// CHECK, ANALYZE, OPTIMIZE, REPAIR TABLE.
    pub(crate) fn maintain(
        &mut self,
        op: Maintenance,
        persistent: bool,
        tables: &[TableRef],
    ) -> SqlResult<Grid> {
        let name = match op {
            Maintenance::Check => "check",
            Maintenance::Analyze => "analyze",
            Maintenance::Optimize => "optimize",
            Maintenance::Repair => "repair",
        };
        let mut g = maintenance_grid();
        for t in tables {
            let db = match &t.db {
                Some(d) => d.clone(),
                None => self.env.require_db()?.to_string(),
            };
            let temporary = self.env.temporary_table(&db, &t.name);
            if op != Maintenance::Check && temporary.is_none() {
                self.refuse_under_read_only()?;
            }
            let account = self.account();
            let have = account.on_table(&db, &t.name);
            let wanted = if op == Maintenance::Check {
                PrivilegeSet::SELECT
            } else {
                PrivilegeSet::SELECT.with(PrivilegeSet::INSERT)
            };
            let missing = wanted.without(have);
            if !missing.is_empty() && temporary.is_none() {
                return Err(acl::table_denied(
                    &missing.names().join(", "),
                    &account,
                    &self.client.host,
                    &db,
                    &t.name,
                ));
            }
            let full = format!("{db}.{}", t.name);
            let mut line = |kind: &str, text: &str| {
                g.row(vec![
                    Value::str(full.as_str()),
                    Value::str(name),
                    Value::str(kind),
                    Value::str(text),
                ]);
            };
            let stored = || {
                let catalog = self.instance.database().catalog();
                catalog.table(&db, &t.name).cloned()
            };
            if temporary.is_none()
                && let Some(v) = self.instance.database().catalog().view(&db, &t.name)
            {
                self.maintain_view(op, v, &mut line);
                continue;
            }
            let Some(table) = temporary.or_else(stored) else {
                line("Error", &format!("Table '{full}' doesn't exist"));
                line("status", "Operation failed");
                continue;
            };
            match op {
                Maintenance::Check => match self.check_table(&table) {
                    Ok(problems) if problems.is_empty() => line("status", "OK"),
                    Ok(problems) => {
                        for p in problems {
                            line("error", &p);
                        }
                        line("error", "Corrupt");
                    }
                    // Damage that the reading met.
                    Err(e) if e.code == codes::INDEX_CORRUPT => {
                        line("error", &e.message);
                        line("error", "Corrupt");
                    }
                    Err(e) => {
                        line("Error", &e.message);
                        line("status", "Operation failed");
                    }
                },
                Maintenance::Analyze => match self.analyze_table(&table) {
                    Ok(()) => {
                        if persistent {
                            line("status", "Engine-independent statistics collected");
                        }
                        line("status", "OK");
                    }
                    Err(e) => {
                        line("Error", &e.message);
                        line("status", "Operation failed");
                    }
                },
                Maintenance::Optimize => {
                    line(
                        "note",
                        "Table does not need optimize: the checkpoint reuses free pages",
                    );
                    line("status", "OK");
                }
                Maintenance::Repair => line(
                    "note",
                    "The storage engine for the table doesn't support repair",
                ),
            }
        }
        Ok(g)
    }

    /// The same of a view: it can be read, and that is all there is to it.
    fn maintain_view(&self, op: Maintenance, v: &ViewDef, line: &mut dyn FnMut(&str, &str)) {
        let db = self.instance.database();
        if op != Maintenance::Check {
            let e = view::wrong_kind(&v.db, &v.name, "BASE TABLE");
            line("Error", &e.message);
            line("status", "Operation failed");
            return;
        }
        let tables = Some(&Definitions as &dyn VirtualTables);
        match view::describe(v, db, &db.catalog(), &self.env, tables) {
            Ok(_) => line("status", "OK"),
            Err(e) => {
                line("Error", &e.message);
                line("error", "Corrupt");
            }
        }
    }

    /// A transaction that reads the tables as they are now.
    fn snapshot(&self) -> Transaction {
        let mut txn = self
            .instance
            .database()
            .begin(self.txn_options(Isolation::RepeatableRead, true));
        txn.begin_statement(self.env.timestamp(), None);
        txn.ensure_snapshot();
        txn
    }

    /// Counts the different values of a table's indexes, in one snapshot.
    fn analyze_table(&mut self, table: &Arc<Table>) -> SqlResult<()> {
        let mut txn = self.snapshot();
        let stats = narwal_sql::analyze(&mut txn, table, &self.env)?;
        table.set_stats(stats);
        Ok(())
    }

    /// Reads all of the table from the disk, then compares every secondary index with the rows, in one snapshot.
    fn check_table(&mut self, table: &Arc<Table>) -> SqlResult<Vec<String>> {
        use narwal_engine::{EngineError, KeyRange, ReadView};
        let env = &self.env;
        let go_on = || env.check_interrupt().map_err(EngineError::from);
        let damaged = (self.instance.database()).verify_table(table, go_on)?;
        if !damaged.is_empty() {
            return Ok(damaged.iter().map(|e| e.to_sql().message.into()).collect());
        }
        let mut txn = self.snapshot();
        let mut rows = 0u64;
        // Sum over (index number, key, clustered key) hashes, as the rows say they must be.
        let mut expected = vec![0u64; table.indexes.len()];
        let hash = |key: &[u8], pk: &[u8]| {
            use std::hash::{BuildHasher, Hash, Hasher};
            let mut h = ahash::RandomState::with_seeds(1, 2, 3, 4).build_hasher();
            key.hash(&mut h);
            pk.hash(&mut h);
            h.finish()
        };
        let mut key = Vec::new();
        let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        while let Some(item) = scan.next()? {
            rows += 1;
            if rows.is_multiple_of(1024) {
                self.env.check_interrupt()?;
            }
            for (i, index) in table.indexes.iter().enumerate().skip(1) {
                key.clear();
                narwal_types::key::encode_from_row(
                    &table.layout,
                    item.row,
                    &index.parts,
                    &mut key,
                )?;
                // The clustered key and its length complete a secondary key.
                key.extend_from_slice(item.pk);
                key.extend_from_slice(&(item.pk.len() as u16).to_be_bytes());
                expected[i] = expected[i].wrapping_add(hash(&key, item.pk));
            }
        }
        drop(scan);
        let mut problems = Vec::new();
        for (i, index) in table.indexes.iter().enumerate().skip(1) {
            let (mut n, mut sum) = (0u64, 0u64);
            let mut scan = txn.scan(table, i, KeyRange::all(), false, ReadView::Snapshot, true)?;
            while let Some(item) = scan.next()? {
                n += 1;
                if n.is_multiple_of(1024) {
                    self.env.check_interrupt()?;
                }
                sum = sum.wrapping_add(hash(item.key, item.pk));
            }
            drop(scan);
            if n != rows {
                problems.push(format!(
                    "Index '{}' has {n} entries for {rows} rows",
                    index.name
                ));
            } else if sum != expected[i] {
                problems.push(format!(
                    "Index '{}' does not agree with the rows",
                    index.name
                ));
            }
        }
        Ok(problems)
    }
}

/// The columns of the answer.
pub(crate) fn maintenance_grid() -> Grid {
    let mut g = Grid::new();
    g.text_null("Table", 387)
        .text_null("Op", 10)
        .text_null("Msg_type", 10)
        .any(
            "Msg_text",
            TypeKind::Text(narwal_types::BlobSize::Medium),
            true,
        );
    g
}
