//! Recovery: open the base, then apply every record of the log after the checkpoint.
//!
//! A record's row events go through the same steps as at commit: row images into the clustered index, keys derived
//! from them into the others. The binlog position and the GTID counters are read back from the events.

use crate::binlog::oob_holds::{OobHold, OobRegistry};
use crate::binlog::replay::Replay;
use crate::catalog::change::LoggedChange;
use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::classic::recover::Reconcile;
use crate::key::{finish_secondary_key, full_key};
use crate::record::annex::{Annex, Spill, split_record};
use crate::record::chunk::Oob;
use crate::record::redo;
use crate::record::replica::ReplicaState;
use crate::record::xa::{PreparedAt, PreparedList, XaStep};
use crate::store::base::BaseGen;
use crate::store::entry::Payload;
use crate::store::index_build::IndexBuild;
use crate::store::memtable::Memtable;
use crate::store::row::{Row, RowInner};
use crate::store::run::reader::Run;
use crate::store::run_space::RunSpace;
use crate::store::snapshots::SnapshotRegistry;
use crate::store::spilled::Spilled;
use crate::store::state::{Layer, State};
use crate::store::writeset::{SpillEnd, WriteSet};
use crate::{EngineError, Result};
use narwal_log::{DirRecords, Lsn, RecordKind, RecordRef};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What recovery needs for transactions that were sent out of band.
pub(crate) struct RecoverySpill {
    pub(crate) runs: RunSpace,
    pub(crate) log_dir: PathBuf,
    pub(crate) registry: Arc<OobRegistry>,
}

/// What the log's records have made.
pub(crate) struct Replayed {
    pub(crate) state: Arc<State>,
    pub(crate) catalog: Catalog,
    pub(crate) binlog: Replay,
    pub(crate) replica: ReplicaState,
    /// XA transactions that are prepared and not ended.
    pub(crate) prepared: PreparedList,
}

/// What else is left of recovery.
pub(crate) struct Rest {
    pub(crate) runs: RunSpace,
    pub(crate) registry: Arc<OobRegistry>,
    /// Out-of-band commits whose chunks must stay until a checkpoint covers them.
    pub(crate) holds: Vec<(u64, OobHold)>,
    pub(crate) reconcile: Option<Reconcile>,
}

/// Where a transaction's rows go.
struct Target {
    seq: u64,
    /// The write set of a large transaction; otherwise they go into the memtable.
    set: Option<WriteSet>,
    /// Row changes that are there already.
    skip: u64,
}

/// The store while it is being rebuilt.
pub(crate) struct Recovery {
    pub(crate) state: Arc<State>,
    pub(crate) catalog: Catalog,
    pub(crate) binlog: Replay,
    pub(crate) replica: ReplicaState,
    /// XA transactions that are prepared and not ended.
    pub(crate) prepared: PreparedList,
    pub(crate) commits: u64,
    registry: SnapshotRegistry,
    spill: RecoverySpill,
    /// With a second log: which prepared transactions were committed.
    pub(crate) reconcile: Option<Reconcile>,
    /// The commit record whose chunks could not be read.
    pub(crate) lost: Option<Lsn>,
    /// Out-of-band commits whose chunks must stay until a checkpoint covers them.
    holds: Vec<(u64, OobHold)>,
}

impl Recovery {
    pub(crate) fn new(
        base: Arc<BaseGen>,
        catalog: Catalog,
        binlog: Replay,
        replica: ReplicaState,
        prepared: PreparedList,
        spill: RecoverySpill,
        apart: Vec<Layer>,
    ) -> Self {
        Recovery {
            state: Arc::new(State {
                active: Arc::new(Memtable::new()),
                older: apart.into(),
                base,
            }),
            catalog,
            binlog,
            replica,
            prepared,
            commits: 0,
            registry: SnapshotRegistry::new(),
            spill,
            reconcile: None,
            lost: None,
            holds: Vec::new(),
        }
    }

    /// What has come of it.
    pub(crate) fn finish(self) -> (Replayed, Rest) {
        let replayed = Replayed {
            state: self.state,
            catalog: self.catalog,
            binlog: self.binlog,
            replica: self.replica,
            prepared: self.prepared,
        };
        let rest = Rest {
            runs: self.spill.runs,
            registry: self.spill.registry,
            holds: self.holds,
            reconcile: self.reconcile,
        };
        (replayed, rest)
    }

    /// Applies one record.
    pub(crate) fn apply(&mut self, record: &RecordRef<'_>) -> Result<()> {
        if record.kind == RecordKind::State {
            return self.binlog.state(record);
        }
        if !record.kind.is_commit() {
            return Ok(());
        }
        let place =
            |e: String| EngineError::Corrupt(format!("log record at LSN {}: {e}", record.lsn));
        let (kind, body) = crate::record::packed::unpack(record.kind, record.body)
            .map_err(|e| place(e.to_string()))?;
        let parts = split_record(kind, &body).map_err(|e| place(e.to_string()))?;
        let annex = parts.annex;
        let mut gtid = None;
        if kind != RecordKind::LocalCommit {
            let sent = annex
                .oob
                .as_ref()
                .map_or((0, 0), |o| (o.events_len, o.first));
            let len = parts.events.len() as u64 + sent.0;
            let group = self.binlog.commit(record, parts.events, len, sent.1)?;
            gtid = Some(group);
            if let Some(second) = &mut self.reconcile {
                let (disk, log) = (&self.spill.runs.disk, &self.spill.log_dir);
                if !second.committed(record, &self.binlog.files, group, disk, log)? {
                    return Err(place("it was prepared and never committed".into()));
                }
            }
        }
        if let Some((origin, local)) = annex.origin()? {
            self.replica.advance(record.seq, gtid.or(local), &origin);
        }
        for change in &annex.changes {
            if change.is_replica_state() {
                self.replica.change(record.seq, change);
                continue;
            }
            self.catalog.apply(change)?;
            if let LoggedChange::BuildIndex { table, index } = change {
                self.build_index(*table, *index, record.seq)?;
            }
        }
        if annex.changes.iter().any(|c| !c.is_replica_state()) {
            self.catalog.version += 1;
        }
        let xa = annex.xa.as_ref().map(XaStep::parse).transpose()?;
        match xa {
            // Its rows come with what ends it.
            Some(XaStep::Prepared(xid)) => {
                let needed = annex.oob.as_ref().map_or(record.lsn, |o| o.first);
                let at = PreparedAt {
                    lsn: record.lsn,
                    needed: needed.min(record.lsn),
                };
                self.prepared.insert(xid, at);
                self.commits += 1;
                return Ok(());
            }
            Some(XaStep::Ended { xid, at, commit }) => {
                if let Some(at) = self.prepared.remove(&xid) {
                    // Until a checkpoint knows of the end, what was prepared may be needed again.
                    let hold = self.spill.registry.hold(at.needed);
                    self.holds.push((record.seq, hold));
                }
                if !commit {
                    self.commits += 1;
                    return Ok(());
                }
                let log = DirRecords::open(self.spill.runs.disk.clone(), &self.spill.log_dir);
                let (kind, body) = redo::record(&log, at).map_err(|e| place(e.to_string()))?;
                let prepared = split_record(kind, &body)?;
                return self.apply_changes(
                    record,
                    prepared.annex,
                    annex.spill.as_ref(),
                    [prepared.events, prepared.local],
                );
            }
            None => {}
        }
        let spill = annex.spill.clone();
        self.apply_changes(record, annex, spill.as_ref(), [parts.events, parts.local])
    }

    /// Applies the row changes that `record` makes good: `annex` and events (those for readers, local ones) are of the record
    /// that has them.
    fn apply_changes(
        &mut self,
        record: &RecordRef<'_>,
        annex: Annex,
        spill: Option<&Spill>,
        [events, local]: [&[u8]; 2],
    ) -> Result<()> {
        let place =
            |e: String| EngineError::Corrupt(format!("log record at LSN {}: {e}", record.lsn));
        let mut target = Target {
            seq: record.seq,
            set: None,
            skip: 0,
        };
        if let Some(oob) = annex.oob.as_ref().or(annex.local_oob.as_ref()) {
            self.apply_oob(oob, spill, &mut target).map_err(|e| {
                if matches!(e, EngineError::Corrupt(_)) {
                    self.lost = Some(record.lsn);
                }
                place(e.to_string())
            })?;
        }
        for (events, row_ids) in [(events, annex.row_ids), (local, annex.local_row_ids)] {
            self.apply_events(events, &mut row_ids.into_iter(), &mut target)
                .map_err(|e| place(e.to_string()))?;
        }
        if let Some(mut set) = target.set {
            let layer = Layer::Spilled(Arc::new(Spilled::new(record.seq, &mut set)));
            self.state = Arc::new(self.state.covered(Arc::new(Memtable::new()), Some(layer)));
        }
        self.commits += 1;
        Ok(())
    }

    /// Brings back the part of a transaction that was sent out of band: opens its runs and replays the chunks that are
    /// not in them.
    fn apply_oob(&mut self, oob: &Oob, spill: Option<&Spill>, target: &mut Target) -> Result<()> {
        self.holds
            .push((target.seq, self.spill.registry.hold(oob.first)));
        let mut covered = 0;
        if let Some(spill) = spill {
            let mut set = WriteSet::default();
            match self.open_runs(spill) {
                Ok(runs) => {
                    set.adopt(runs);
                    covered = spill.events;
                    target.skip = spill.skip;
                    for t in self.catalog.by_id.values() {
                        if let Some((_, n)) =
                            spill.rows.iter().find(|(id, _)| *id == t.indexes[0].id)
                        {
                            t.counters.rows.fetch_add(*n, Ordering::Relaxed);
                        }
                    }
                    for (table, auto_increment, row_id) in &spill.counters {
                        if let Some(t) = self.catalog.table_by_id(*table) {
                            let c = &t.counters;
                            c.auto_increment
                                .fetch_max(*auto_increment, Ordering::Relaxed);
                            c.row_id.fetch_max(*row_id, Ordering::Relaxed);
                        }
                    }
                }
                Err(e) => tracing::warn!(
                    "{e}; the transaction with sequence number {} is built again from its chunks",
                    target.seq
                ),
            }
            target.set = Some(set);
        }
        let records = DirRecords::open(self.spill.runs.disk.clone(), &self.spill.log_dir);
        redo::chunks(&records, oob, covered, |events, row_ids| {
            self.apply_events(events, row_ids, target)?;
            if let Some(set) = &mut target.set
                && set.bytes() > self.spill.runs.limit
            {
                let place = self.spill.runs.place(oob.first, &None);
                set.spill(&place, &[], SpillEnd::default())?;
            }
            Ok(())
        })
    }

    fn open_runs(&self, spill: &Spill) -> Result<Vec<Arc<Run>>> {
        let s = &self.spill.runs;
        spill
            .runs
            .iter()
            .map(|m| Run::open_as(&s.disk, &s.dir, m, &s.cache))
            .collect()
    }

    /// Applies the row changes of a transaction's events.
    fn apply_events(
        &self,
        events: &[u8],
        row_ids: &mut dyn Iterator<Item = u64>,
        target: &mut Target,
    ) -> Result<()> {
        let mut replay = RowsInto {
            recovery: self,
            target,
        };
        redo::events(events, row_ids, &mut replay)
    }

    /// Makes an index of a statement's, whose keys no record holds.
    fn build_index(&mut self, table: u64, index: u32, seq: u64) -> Result<()> {
        let table = self.catalog.table_by_id(table).ok_or_else(|| {
            EngineError::Corrupt(format!("an index is made on the unknown table id {table}"))
        })?;
        let mut build = IndexBuild::new(self.spill.runs.place(0, &None), self.spill.runs.limit);
        build.add(&self.state, table, index)?;
        if let Some(set) = build.layer()? {
            let layer = Layer::Spilled(Arc::new(Spilled::new(seq, set)));
            self.state = Arc::new(self.state.covered(Arc::new(Memtable::new()), Some(layer)));
        } else {
            build.put_into(&self.state.active, seq, &self.registry);
        }
        Ok(())
    }
}

/// Rows on their way into the store that is being rebuilt.
struct RowsInto<'a> {
    recovery: &'a Recovery,
    target: &'a mut Target,
}

impl redo::Rows for RowsInto<'_> {
    fn table(&self, id: u64) -> Option<Arc<Table>> {
        self.recovery.catalog.table_by_id(id).cloned()
    }

    fn skip(&mut self) -> bool {
        let skip = self.target.skip > 0;
        self.target.skip = self.target.skip.saturating_sub(1);
        skip
    }

    fn newest(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<Option<Row>> {
        let index = table.indexes[0].id;
        let key = full_key(index, pk);
        let own = match &self.target.set {
            Some(set) => set.get(&key)?,
            None => None,
        };
        Ok(match own {
            Some(Payload::Row(r)) => Some(Row(RowInner::Memory(r))),
            Some(_) => None,
            None => {
                let found = self.recovery.state.get(index, &key, u64::MAX)?;
                found.and_then(|(_, r)| r)
            }
        })
    }

    fn change(
        &mut self,
        table: &Arc<Table>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        row_id: Option<u64>,
    ) -> Result<()> {
        let (recovery, target) = (self.recovery, &mut *self.target);
        let pk_of = |row: &[u8]| redo::clustered_key(table, row, row_id);
        let memtable = &recovery.state.active;
        let mut put = |index: u32, key: &[u8], p: Payload| match &mut target.set {
            Some(set) => set.put(full_key(index, key), p, 0),
            None => memtable.put(&full_key(index, key), target.seq, p, &recovery.registry),
        };
        let old = before
            .map(|row| pk_of(row).map(|pk| (row, pk)))
            .transpose()?;
        let new = after
            .map(|row| pk_of(row).map(|pk| (row, pk)))
            .transpose()?;
        // Removals first: a key that stays is put again.
        if let Some((row, pk)) = &old {
            table.counters.rows.fetch_sub(1, Ordering::Relaxed);
            put(table.indexes[0].id, pk, Payload::Tombstone);
            for i in 1..table.indexes.len() {
                let mut key = Vec::new();
                table.secondary_parts(i, row, &mut key)?;
                finish_secondary_key(&mut key, pk)?;
                put(table.indexes[i].id, &key, Payload::Tombstone);
            }
        }
        if let Some((row, pk)) = &new {
            if table.def.sequence {
                // The row takes the place of the one that is there.
                table.counters.rows.store(1, Ordering::Relaxed);
            } else {
                table.counters.rows.fetch_add(1, Ordering::Relaxed);
            }
            put(table.indexes[0].id, pk, Payload::Row(Arc::from(*row)));
            for i in 1..table.indexes.len() {
                let mut key = Vec::new();
                table.secondary_parts(i, row, &mut key)?;
                finish_secondary_key(&mut key, pk)?;
                put(table.indexes[i].id, &key, Payload::Present);
            }
            if before.is_none() {
                redo::observe_auto_increment(table, row)?;
            }
        }
        Ok(())
    }
}
