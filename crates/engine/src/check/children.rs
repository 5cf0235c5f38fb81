//! Child rows of foreign keys whose parent row is not there. That is no damage: with `foreign_key_checks=0` it is allowed, and
//! so it can come from a source.

use crate::catalog::foreign::{index_on, positions};
use crate::catalog::table::Table;
use crate::check::finding::{Check, Finding, quietly};
use crate::check::tables::{TELL_EVERY, key_text, snapshot};
use crate::db::database::Database;
use crate::key::KeyRange;
use crate::txn::foreign::prefix;
use crate::txn::reads::ReadView;
use crate::{EngineError, Result};
use narwal_types::key::successor;
use std::ops::Bound;
use std::sync::Arc;

/// So many children of a foreign key are told one by one.
const MOST: u64 = 100;

impl Check<'_> {
    /// Looks for the parent row of every child row.
    pub(super) fn check_children(&mut self, db: &Database) {
        let catalog = db.catalog();
        let with_keys: Vec<Arc<Table>> = (catalog.databases())
            .flat_map(|d| catalog.tables(&d.name))
            .filter(|t| !t.def.foreign_keys.is_empty())
            .cloned()
            .collect();
        for (n, table) in with_keys.iter().enumerate() {
            self.observer
                .progress("foreign keys", n as u64, with_keys.len() as u64);
            for number in 0..table.def.foreign_keys.len() {
                match quietly(|| self.check_key(db, table, number)) {
                    Ok(Ok(())) => {}
                    // Damage is told where rows and indexes are looked at.
                    Ok(Err(e)) => self.of_key(table, number, format!("not checked: {e}")),
                    Err(why) => self.of_key(table, number, format!("not checked: {why}")),
                }
            }
        }
    }

    fn of_key(&mut self, table: &Table, number: usize, what: String) {
        let name = &table.def.foreign_keys[number].name;
        let mut f = Finding::note(format!("foreign key {name}: {what}"));
        f.table = Some(format!("{}.{}", table.def.db, table.def.name));
        self.found(f);
    }

    fn check_key(&mut self, db: &Database, table: &Arc<Table>, number: usize) -> Result<()> {
        let (def, key) = (&table.def.foreign_keys[number], &table.foreign[number]);
        let catalog = db.catalog();
        let Some(parent) = catalog.table(&def.parent_db, &def.parent) else {
            let what = format!("its parent {}.{} is not there", def.parent_db, def.parent);
            self.of_key(table, number, what);
            return Ok(());
        };
        let index = positions(&parent.def, &def.parent_columns)
            .and_then(|columns| index_on(&parent.indexes, &columns))
            .ok_or_else(|| EngineError::Catalog("the parent has no index for it".into()))?;
        let (mut scanning, mut reading) = (snapshot(db), snapshot(db));
        let (rows, view) = (KeyRange::all(), ReadView::Snapshot);
        let mut scan = scanning.scan(table, 0, rows, false, view, false)?;
        let (mut read, mut lone) = (0u64, 0u64);
        // Neighbours often have one parent.
        let mut found: Vec<u8> = Vec::new();
        while let Some(item) = scan.next()? {
            read += 1;
            if read.is_multiple_of(TELL_EVERY) {
                self.observer.progress("foreign keys", 0, 0);
            }
            let Some(parts) = prefix(table, item.row, &key.columns, parent, index)? else {
                continue;
            };
            if parts == found {
                continue;
            }
            let range = KeyRange {
                end: successor(&parts).map_or(Bound::Unbounded, Bound::Excluded),
                start: Bound::Included(parts.clone()),
            };
            let there = (reading.scan(parent, index, range, false, view, true)?)
                .next()?
                .is_some();
            if there {
                found = parts;
                continue;
            }
            lone += 1;
            if lone <= MOST {
                let name = &def.name;
                let mut f = Finding::note(format!(
                    "foreign key {name}: the row has no parent in {}.{} (which foreign_key_checks=0 allows)",
                    def.parent_db, def.parent
                ));
                f.table = Some(format!("{}.{}", table.def.db, table.def.name));
                f.key = Some(key_text(table, item.pk, Some(item.row)));
                self.found(f);
            }
        }
        if lone > MOST {
            self.of_key(table, number, format!("{lone} rows have no parent"));
        }
        Ok(())
    }
}
