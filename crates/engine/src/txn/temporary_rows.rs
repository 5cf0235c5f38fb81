//! The rows of a session's temporary tables.

use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::key::slot_of;
use crate::store::writeset::WriteSet;
use crate::{EngineError, Result};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The temporary tables of a session: give it to the session's transactions with [`crate::TxnOptions::temporary`].
#[derive(Debug, Default)]
pub struct TemporaryTables {
    /// Definitions; its databases are not filled in.
    pub(crate) catalog: RwLock<Catalog>,
    /// `None` while a transaction has them.
    pub(crate) rows: Mutex<Option<Box<TemporaryRows>>>,
    /// Number of tables made so far.
    pub(crate) made: Mutex<u32>,
    /// Number of changes of definitions.
    pub(crate) changes: AtomicU64,
}

pub(crate) fn in_use() -> EngineError {
    EngineError::Catalog("the temporary table is not at hand here".into())
}

/// The rows of a session's temporary tables.
#[derive(Debug, Default)]
pub(crate) struct TemporaryRows {
    /// By number.
    pub(crate) tables: BTreeMap<u32, TemporaryTable>,
}

#[derive(Debug)]
pub(crate) struct TemporaryTable {
    pub(crate) table: Arc<Table>,
    pub(crate) rows: WriteSet,
    /// What is before this place belongs to no open transaction.
    pub(crate) settled: u64,
}

impl TemporaryRows {
    pub(crate) fn of(table: &Arc<Table>) -> Self {
        let t = TemporaryTable {
            table: table.clone(),
            rows: WriteSet::default(),
            settled: 0,
        };
        TemporaryRows {
            tables: BTreeMap::from([(slot_of(table.def.hidden_index_id), t)]),
        }
    }

    pub(crate) fn table_mut(&mut self, index: u32) -> Result<&mut TemporaryTable> {
        self.tables.get_mut(&slot_of(index)).ok_or_else(in_use)
    }

    /// Where each table's rows are now, by number.
    pub(crate) fn places(&self) -> Vec<(u32, u64)> {
        let place = |(slot, t): (&u32, &TemporaryTable)| (*slot, t.rows.position());
        self.tables.iter().map(place).collect()
    }

    /// Undoes what came behind such places; a table that was made since loses what the transaction did to it.
    pub(crate) fn rollback_to(&mut self, places: &[(u32, u64)]) {
        for (slot, t) in &mut self.tables {
            let known = places.iter().find(|(s, _)| s == slot);
            let to = known.map_or(t.settled, |(_, p)| (*p).max(t.settled));
            if t.rows.position() == to {
                continue;
            }
            t.rows.rollback_to(to);
            let rows = t.rows.row_deltas();
            let rows = rows.get(&t.table.indexes[0].id).copied().unwrap_or(0);
            t.table.counters.rows.store(rows, Ordering::Relaxed);
        }
    }

    pub(crate) fn settle(&mut self) {
        for t in self.tables.values_mut() {
            t.rows.settle();
            t.settled = t.rows.position();
        }
    }
}
