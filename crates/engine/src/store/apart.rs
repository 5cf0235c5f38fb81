//! Damaged tables, which stand apart: the checkpoint leaves their part of the base alone.
//!
//! A checkpoint that can't read a page of an index can't merge what belongs there. It marks the table, begins again
//! without it, and puts the table's entries into run files, which become a layer of the store for as long as the table is there.
//! So the log goes on being let go, all other tables go on, and no acknowledged row is lost. From the mark on the table takes no
//! writes: what can be read of it stays as it is until it is repaired, dropped or truncated.

use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::error::Damage;
use crate::key::FullKey;
use crate::store::entry::Payload;
use crate::store::run::cache::RunCache;
use crate::store::run::reader::Run;
use crate::store::run::set::RunSet;
use crate::store::run::writer::RunMeta;
use crate::store::run_space::RunSpace;
use crate::store::spilled::Spilled;
use crate::store::state::Layer;
use crate::store::writeset::{OwnMap, SpillEnd, SpillPlace, WriteSet};
use crate::{EngineError, Result};
use narwal_log::Disk;
use narwal_types::errors;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// First id of the run files: above those of transactions, which are LSNs, and below those of new indexes.
const RUN_IDS: u64 = 1 << 61;

/// A table that stands apart.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ApartTable {
    pub(crate) id: u64,
    /// The damaged index. Without it (dropped, or the table was truncated) the table is as all others again.
    pub(crate) index: u32,
    /// Changes from this LSN on are not in the base.
    pub(crate) lsn: u64,
    /// Why.
    pub(crate) what: String,
    /// The run files can't be read: what the base has is too old to be shown.
    #[serde(default)]
    pub(crate) lost: bool,
}

impl ApartTable {
    fn is_of(&self, table: &Table) -> bool {
        table.indexes.iter().any(|i| i.id == self.index)
    }
}

/// A layer of such tables.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ApartLayer {
    seq: u64,
    tables: Vec<u64>,
    runs: Vec<RunMeta>,
}

/// What a checkpoint stores of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Apart {
    pub(crate) tables: Vec<ApartTable>,
    /// Newest first.
    layers: Vec<ApartLayer>,
}

impl Apart {
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.layers.is_empty()
    }

    /// Marks the tables of a catalog that was just read, and opens the layers, newest first.
    pub(crate) fn open(
        &mut self,
        catalog: &Catalog,
        disk: &Arc<dyn Disk>,
        dir: &Path,
        cache: &Arc<RunCache>,
    ) -> Vec<Layer> {
        let mut layers = Vec::new();
        for layer in &self.layers {
            let runs: Result<Vec<_>> = (layer.runs.iter())
                .map(|m| Run::open_as(disk, dir, m, cache))
                .collect();
            match runs {
                Ok(runs) => layers.push(Layer::Spilled(Arc::new(Spilled {
                    seq: layer.seq,
                    map: Arc::new(OwnMap::new()),
                    map_bytes: 0,
                    runs: RunSet { runs },
                    apart: layer.tables.clone(),
                }))),
                Err(e) => {
                    tracing::error!("{e}: damaged tables whose changes stood there can't be read");
                    for t in &mut self.tables {
                        t.lost |= layer.tables.contains(&t.id);
                    }
                }
            }
        }
        for t in &self.tables {
            if let Some(table) = catalog.table_by_id(t.id) {
                table.counters.apart.store(true, Ordering::Relaxed);
                tracing::error!(
                    "table {}.{} is damaged and takes no writes: {}",
                    table.def.db,
                    table.def.name,
                    t.what
                );
            }
        }
        layers
    }

    /// The indexes of which nothing may be read, with the reason.
    pub(crate) fn unreadable(&self, catalog: &Catalog, dir: &Path) -> Vec<(u32, Damage)> {
        let lost = self.tables.iter().filter(|t| t.lost);
        lost.filter_map(|t| catalog.table_by_id(t.id))
            .flat_map(|t| t.indexes.iter())
            .map(|ix| {
                let damage = Damage {
                    file: dir.to_owned(),
                    offset: 0,
                    what: "a run file with changes of the damaged table is damaged or missing",
                };
                (ix.id, damage)
            })
            .collect()
    }

    /// The indexes that a checkpoint leaves alone.
    pub(crate) fn indexes(&self, catalog: &Catalog) -> ahash::HashSet<u32> {
        (self.tables.iter())
            .filter_map(|t| catalog.table_by_id(t.id))
            .flat_map(|t| t.indexes.iter().map(|i| i.id))
            .collect()
    }

    /// Forgets tables whose damaged index is no more; which ones.
    pub(crate) fn forget(&mut self, catalog: &Catalog) -> Vec<u64> {
        let (stay, gone) = std::mem::take(&mut self.tables)
            .into_iter()
            .partition(|t| catalog.table_by_id(t.id).is_some_and(|now| t.is_of(now)));
        self.tables = stay;
        gone.into_iter().map(|t: ApartTable| t.id).collect()
    }

    /// Whether all layers of damaged tables among `layers` may stay as they are. If not, they are made anew.
    pub(crate) fn keeps(&self, layers: &[Layer]) -> bool {
        let apart = |id: &u64| self.tables.iter().any(|t| t.id == *id);
        layers.iter().all(|l| match l {
            Layer::Spilled(s) => s.apart.iter().all(apart),
            Layer::Memtable(_) => true,
        })
    }

    /// The layers that there are from now on, newest first.
    pub(crate) fn set_layers(&mut self, layers: &[Layer]) {
        self.layers = (layers.iter())
            .filter_map(|l| match l {
                Layer::Spilled(s) => Some(ApartLayer {
                    seq: s.seq,
                    tables: s.apart.clone(),
                    runs: s.runs.metas(),
                }),
                Layer::Memtable(_) => None,
            })
            .collect();
    }
}

/// Marks the table of an index; false if it is marked already, or nobody's.
pub(crate) fn set_apart(
    apart: &Mutex<Apart>,
    catalog: &Catalog,
    index: u32,
    lsn: u64,
    damage: &EngineError,
) -> bool {
    let of = |t: &&Arc<Table>| t.indexes.iter().any(|i| i.id == index);
    let Some(table) = catalog.by_id.values().find(of) else {
        return false;
    };
    let mut apart = apart.lock();
    if apart.tables.iter().any(|t| t.id == table.def.id) {
        return false;
    }
    tracing::error!(
        "table {}.{} takes no more writes, and checkpoints leave it alone: {damage}",
        table.def.db,
        table.def.name
    );
    apart.tables.push(ApartTable {
        id: table.def.id,
        index,
        lsn,
        what: damage.to_string(),
        lost: false,
    });
    table.counters.apart.store(true, Ordering::Relaxed);
    true
}

/// What a write of a table that stands apart gets; it may go on if the table has lost its damaged index.
#[cold]
pub(crate) fn refuse(apart: &Mutex<Apart>, table: &Table) -> Result<()> {
    let apart = apart.lock();
    let mut marks = apart.tables.iter();
    let Some(mark) = marks.find(|t| t.id == table.def.id && t.is_of(table)) else {
        return Ok(());
    };
    Err(EngineError::Sql(errors::INDEX_CORRUPT.text(format!(
            "{}. Table {}.{} takes no writes until it is repaired (narwal repair), truncated or dropped; what can be read of it can be read",
            mark.what, table.def.db, table.def.name
        ))))
}

/// Collects entries of such tables for a layer.
pub(crate) struct Keeper {
    place: SpillPlace,
    limit: u64,
    set: WriteSet,
    seq: u64,
}

impl Keeper {
    pub(crate) fn new(runs: &RunSpace, seq: u64, lsn: u64) -> Keeper {
        Keeper {
            place: runs.place(RUN_IDS + lsn, &None),
            limit: runs.limit,
            set: WriteSet::default(),
            seq,
        }
    }

    /// Adds an entry; a later one of the same key replaces it.
    pub(crate) fn put(&mut self, key: FullKey, payload: Payload) -> Result<()> {
        self.set.put(key, payload, 0);
        if self.set.bytes() > self.limit {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.set
            .spill(&self.place, &[], SpillEnd::default())
            .map(drop)
    }

    /// The layer, durable; none if there was nothing to keep.
    pub(crate) fn finish(mut self, runs: &RunSpace, apart: &Apart) -> Result<Option<Layer>> {
        self.spill()?;
        if !self.set.has_runs() {
            return Ok(None);
        }
        (runs.disk.sync_dir(&runs.dir))
            .map_err(|e| EngineError::Io(format!("{}: {e}", runs.dir.display())))?;
        let mut layer = Spilled::new(self.seq, &mut self.set);
        layer.apart = apart.tables.iter().map(|t| t.id).collect();
        Ok(Some(Layer::Spilled(Arc::new(layer))))
    }
}
