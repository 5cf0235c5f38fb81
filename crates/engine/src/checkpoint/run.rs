//! Checkpoints: the one writer of the base.
//!
//! 1. **Freeze**, under the log's order mutex: every commit up to sequence number S is (or will be) in the memtable
//!    that is now frozen, every later one goes to a new one. The log's next LSN at this moment is where replay starts.
//! 2. Wait until everything before that LSN is durable and published: the base must never be ahead of the log.
//! 3. **Merge** the newest version of every frozen key into the B-trees, and store the [`CheckpointMeta`], in one durable
//!    commit (`merge.rs`).
//! 4. **Swap**: new snapshots read the new base; the frozen memtable goes when its last snapshot goes.
//!
//! Damage of the base in step 3 sets its table apart (`apart.rs`), and the step is done again.
//! A checkpoint that fails (disk full) leaves the frozen memtable in place and is tried again from step 3.

use crate::bell::Woken;
use crate::binlog::index::IndexDelta;
use crate::binlog::order::Order;
use crate::binlog::{retention, store};
use crate::catalog::names::Catalog;
use crate::checkpoint::meta::{CheckpointMeta, to_hex};
use crate::checkpoint::scrub::Scrub;
use crate::key::full_key;
use crate::parts::Parts;
use crate::store::apart;
use crate::store::apart::{Apart, Keeper};
use crate::store::base::BaseGen;
use crate::store::entry::Payload;
use crate::store::memtable::Memtable;
use crate::store::merge::Merger;
use crate::store::merge::Progress;
use crate::store::state::{Layer, State};
use crate::{EngineError, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A freeze that has not been merged yet.
pub(crate) struct Frozen {
    /// Everything above the base at the moment of the freeze, newest first.
    layers: Vec<Layer>,
    meta: CheckpointMeta,
    catalog: Arc<Catalog>,
    index: IndexDelta,
    /// Its run files were looked through for damage.
    looked: bool,
}

/// The checkpoints as a part of the database.
pub(crate) struct Checkpoints {
    /// A thread that writes the base holds this, and one that must know that nobody does.
    pub(crate) pending: Mutex<Option<Frozen>>,
    /// When the last one ended, or the database was opened.
    ended: Mutex<Instant>,
    pub(crate) scrub: Scrub,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Checkpoints {
    pub(crate) fn new(scrub: Scrub) -> Self {
        Checkpoints {
            pending: Mutex::new(None),
            ended: Mutex::new(Instant::now()),
            scrub,
            thread: Mutex::new(None),
        }
    }

    /// Seconds since the last one.
    pub(crate) fn age(&self) -> u64 {
        self.ended.lock().elapsed().as_secs()
    }

    /// Runs one now, or goes on with one that failed.
    pub(crate) fn run(&self, db: &Parts) -> Result<()> {
        let mut pending = self.pending.lock();
        db.folder.check_open()?;
        // Progress from here on asks for the next one.
        db.pressure.bell.begins();
        let done = run(db, &self.scrub, &mut pending);
        drop(pending);
        match done {
            Ok(()) => *self.ended.lock() = Instant::now(),
            Err(_) => {
                let errors = &db.counters.checkpoint_errors;
                errors.fetch_add(1, Ordering::Relaxed);
            }
        }
        db.pressure.checkpointed(&done);
        if done.is_ok() {
            retention::after_checkpoint(&db.binlog);
        }
        done
    }

    /// Starts the thread that runs them when the bell asks.
    pub(crate) fn start(self: &Arc<Self>, db: &Arc<Parts>) -> std::io::Result<()> {
        let (own, weak) = (self.clone(), Arc::downgrade(db));
        let thread = std::thread::Builder::new()
            .name("narwal-ckpt".into())
            .spawn(move || own.background(&weak))?;
        *self.thread.lock() = Some(thread);
        Ok(())
    }

    fn background(&self, weak: &Weak<Parts>) {
        let mut retry = false;
        loop {
            let Some(db) = weak.upgrade() else { return };
            match db.pressure.bell.wait(retry) {
                Woken::Stop => return,
                Woken::Nothing => continue,
                Woken::Run => {}
            }
            retry = self.run(&db).is_err() && db.binlog.log.failed().is_none();
            if retry {
                db.pressure.bell.pause();
            }
        }
    }

    /// Ends the thread, behind the checkpoint that it runs.
    pub(crate) fn stop(&self, db: &Parts) {
        db.pressure.bell.stop();
        let thread = self.thread.lock().take();
        if let Some(t) = thread
            && t.thread().id() != std::thread::current().id()
        {
            let _ = t.join();
        }
    }
}

/// A merge tells writers how far it is, so that they keep pace.
impl Progress for Parts {
    fn merged(&self, entries: u64) {
        self.pressure.pace.advance(entries);
    }

    fn cut(&self) {
        let cuts = &self.counters.checkpoint_cuts;
        cuts.fetch_add(1, Ordering::Relaxed);
    }

    fn has_time(&self) -> bool {
        self.pressure.has_time(&self.store)
    }
}

/// Runs one checkpoint. The caller holds the checkpoint mutex, which keeps `pending` across failures.
fn run(db: &Parts, scrub: &Scrub, pending: &mut Option<Frozen>) -> Result<()> {
    let started = Instant::now();
    if pending.is_none() {
        *pending = Some(freeze(db));
    }
    let Some(frozen) = pending.as_mut() else {
        return Ok(());
    };
    db.binlog.log.sync_all()?;
    db.binlog.log.wait_visible(frozen.meta.seq)?;
    // The base must never be ahead of the log.
    assert!(
        db.binlog.log.visible_seq() >= frozen.meta.seq,
        "a checkpoint of what is not visible"
    );
    debug_assert!(db.binlog.log.durable_lsn() >= frozen.meta.lsn);
    for layer in &frozen.layers {
        if let Layer::Memtable(m) = layer {
            m.seal();
        }
    }
    check_space(db, &frozen.layers)?;
    let kept = loop {
        match merge(db, scrub, frozen) {
            Ok(kept) => break kept,
            // Again without the damaged table.
            Err(e @ EngineError::Damaged { .. }) if stands_apart(db, frozen, &e) => {}
            Err(e) => {
                if matches!(e, EngineError::Corrupt(_)) && !frozen.looked {
                    frozen.looked = true;
                    remove_damaged_runs(db, &frozen.layers);
                }
                return Err(e);
            }
        }
    };
    let seq = frozen.meta.seq;
    let unreadable = (frozen.meta.apart).unreadable(&frozen.catalog, &db.store.runs.dir);
    let base = BaseGen::open(&db.store.base.redb, seq, &frozen.catalog, unreadable)?;
    assert!(
        db.store.state.load().base.seq <= base.seq,
        "the base went back to an older commit"
    );
    db.store.state.rcu(|s| State {
        active: s.active.clone(),
        // Layers only ever come on top.
        older: (s.older[..s.older.len().saturating_sub(frozen.layers.len())].iter())
            .chain(&kept)
            .cloned()
            .collect(),
        base: base.clone(),
    });
    for layer in &frozen.layers {
        if let Layer::Spilled(s) = layer
            && !kept.iter().any(|k| k.is(layer))
        {
            s.runs.mark_obsolete();
        }
    }
    for id in db.store.apart.lock().forget(&frozen.catalog) {
        if let Some(t) = db.catalogs.latest.lock().table_by_id(id) {
            t.counters.apart.store(false, Ordering::Relaxed);
        }
    }
    db.binlog.oob_committed.lock().retain(|(s, _)| *s > seq);
    db.binlog.index.lock().saved(&frozen.index);
    db.binlog.checkpointed(frozen.meta.lsn);
    db.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
    tracing::debug!(
        seq,
        layers = frozen.layers.len(),
        ms = started.elapsed().as_millis() as u64,
        "checkpoint done"
    );
    *pending = None;
    Ok(())
}

/// Marks the table of a damaged index. Once: what fails again fails for another reason.
fn stands_apart(db: &Parts, frozen: &Frozen, e: &EngineError) -> bool {
    let EngineError::Damaged { id, .. } = e else {
        return false;
    };
    apart::set_apart(&db.store.apart, &frozen.catalog, *id, frozen.meta.lsn, e)
}

fn freeze(db: &Parts) -> Frozen {
    // The latest catalog must be the one of the last DDL at or before S: DDL reserves under this mutex too.
    let latest = db.catalogs.latest.lock();
    let fresh = Arc::new(Memtable::new());
    let mut index = db.binlog.index.lock();
    let (layers, seq, lsn, binlog, current, replica, prepared) =
        db.binlog.log.with_order_state(|order: &mut Order, at| {
            order.active = fresh.clone();
            // Still under the order mutex: a reader that sees a later sequence number published sees this state too.
            db.store.state.rcu(|s| s.covered(fresh.clone(), None));
            let layers = db.store.state.load().older.to_vec();
            order.track.drain(&mut index);
            let current = order.track.current.clone();
            let replica = order.replica.clone();
            (
                layers,
                at.seq,
                at.lsn,
                order.binlog.to_bytes(),
                current,
                replica,
                crate::record::xa::to_stored(&order.prepared),
            )
        });
    let meta = CheckpointMeta {
        format: 1,
        seq,
        lsn,
        binlog: to_hex(&binlog),
        catalog: latest.to_stored(),
        replica: replica.to_stored(),
        prepared,
        apart: Apart::default(),
        scrubbed: 0,
    };
    Frozen {
        layers,
        meta,
        catalog: latest.clone(),
        index: index.delta(&current),
        looked: false,
    }
}

/// A run is verified as a whole only when it is merged, which may be long after recovery opened it. The log still has all
/// that was in it: without the file the next start builds it again.
fn remove_damaged_runs(db: &Parts, layers: &[Layer]) {
    for layer in layers {
        let Layer::Spilled(s) = layer else { continue };
        for run in &s.runs.runs {
            let Err(damage @ EngineError::Corrupt(_)) = run.verify() else {
                continue;
            };
            match db.folder.disk.remove(run.path()) {
                Ok(()) => tracing::error!(
                    "{damage}; the file was removed: restart the server, it builds the file's content again from the log"
                ),
                Err(e) => tracing::error!("{damage}; it can't be removed: {e}"),
            }
        }
    }
}

/// A base that runs out of space in the middle of a write can't be used any more until reopened; so look first.
fn check_space(db: &Parts, layers: &[Layer]) -> Result<()> {
    let need = layers
        .iter()
        .map(|l| match l {
            Layer::Memtable(m) => m.bytes().saturating_mul(3),
            Layer::Spilled(s) => s.map_bytes * 3 + s.runs.bytes() * 2,
        })
        .sum::<u64>()
        + (8 << 20);
    match db.folder.disk.free_space(&db.folder.dir) {
        Ok(free) if free < need => Err(EngineError::DiskFull(format!(
            "{}: a checkpoint needs {} MiB, {} MiB are free",
            db.folder.dir.display(),
            need >> 20,
            free >> 20
        ))),
        Ok(_) => Ok(()),
        Err(e) => Err(EngineError::Io(format!(
            "free space of {}: {e}",
            db.folder.dir.display()
        ))),
    }
}

fn merge(db: &Parts, scrub: &Scrub, frozen: &mut Frozen) -> Result<Vec<Layer>> {
    db.pressure
        .pace
        .begin(frozen.layers.iter().map(Layer::entries).sum());
    let done = merge_layers(db, scrub, frozen);
    db.pressure.pace.end();
    done
}

/// Gives the layers that stay on top of the base: those of damaged tables, newest first.
fn merge_layers(db: &Parts, scrub: &Scrub, frozen: &mut Frozen) -> Result<Vec<Layer>> {
    let mut merger = Merger::new(&db.store, db, &frozen.catalog)?;
    let mut apart = db.store.apart.lock().clone();
    apart.forget(&frozen.catalog);
    let indexes = apart.indexes(&frozen.catalog);
    let stay = apart.keeps(&frozen.layers);
    let mut keeper = Keeper::new(&db.store.runs, frozen.meta.seq, frozen.meta.lsn);
    let mut put = |index: u32, key: &[u8], seq: u64, payload: Payload| {
        if !indexes.is_empty() && indexes.contains(&index) {
            return keeper.put(full_key(index, key), payload);
        }
        merger.put(index, key, seq, payload)
    };
    // Oldest first: what is newer replaces it. A shard holds its keys by index id.
    for layer in frozen.layers.iter().rev() {
        match layer {
            Layer::Memtable(m) => {
                m.for_each_newest(|index, key, seq, p| put(index, key, seq, p.clone()))?;
            }
            Layer::Spilled(s) if stay && !s.apart.is_empty() => {}
            Layer::Spilled(s) => {
                s.for_each_newest(|index, key, e| put(index, key, s.seq, e.to_payload()))?;
            }
        }
    }
    let new = keeper.finish(&db.store.runs, &apart)?;
    let old = (frozen.layers.iter())
        .filter(|l| stay && matches!(l, Layer::Spilled(s) if !s.apart.is_empty()))
        .cloned();
    let layers: Vec<Layer> = new.iter().cloned().chain(old).collect();
    apart.set_layers(&layers);
    frozen.meta.apart = apart;
    frozen.meta.scrubbed = scrub.at();
    let meta = serde_json::to_vec(&frozen.meta)
        .map_err(|e| EngineError::Io(format!("checkpoint: {e}")))?;
    let done = merger.finish(&meta, |base| store::save(base, &frozen.index));
    if let (Err(_), Some(Layer::Spilled(s))) = (&done, &new) {
        // They are made again with the next try.
        s.runs.mark_obsolete();
    }
    done.map(|()| layers)
}
