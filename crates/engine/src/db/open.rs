//! Opening: lock the folder, read what the last checkpoint stored, replay the log, put the parts together.

use crate::bell::Bell;
use crate::binlog::index::Index;
use crate::binlog::oob_holds::OobRegistry;
use crate::binlog::order::Order;
use crate::binlog::part::{Binlog, Logs};
use crate::binlog::replay::Replay;
use crate::binlog::track::Track;
use crate::binlog::{admin, retention, store};
use crate::catalog::names::Catalog;
use crate::catalog::shared::Catalogs;
use crate::checkpoint::meta::{from_hex, read_meta};
use crate::checkpoint::run::Checkpoints;
use crate::checkpoint::scrub::Scrub;
use crate::classic::files::{check_folder, index_path, not_offered};
use crate::classic::flat::FlatBinlog;
use crate::classic::recover::Reconcile;
use crate::classic::tail::Tail;
use crate::counters::Counters;
use crate::db::engine::Engine;
use crate::folder::Folder;
use crate::locks::table::LockTable;
use crate::options::{Options, Settings, durability, spill_bytes, virtual_config};
use crate::parts::Parts;
use crate::pressure::admit::Pressure;
use crate::record::replica::ReplicaState;
use crate::record::xa::{PreparedList, from_stored};
use crate::recovery::{Recovery, RecoverySpill};
use crate::store::apart::Apart;
use crate::store::base::{Base, BaseGen};
use crate::store::base_trait::ReadBase;
use crate::store::part::Store;
use crate::store::run::RunCache;
use crate::store::run_space::RunSpace;
use crate::store::snapshots::SnapshotRegistry;
use crate::store::state::{Layer, State};
use crate::{EngineError, Result};
use arc_swap::ArcSwap;
use narwal_binlog::{GtidState, VirtualConfig, VirtualFiles};
use narwal_log::{Disk, FIRST_LSN, Log, LogOptions, Lsn, OpenError, OpenLog, OpenReport, Seq};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Why a folder did not open.
enum OpenFailure {
    Engine(EngineError),
    /// The commit at this LSN has lost its chunks, and the caller accepts losses.
    LostAt(u64, EngineError),
    /// What was prepared and not committed was taken out of the log: once more.
    RolledBack,
}

impl From<EngineError> for OpenFailure {
    fn from(e: EngineError) -> Self {
        OpenFailure::Engine(e)
    }
}

/// Opens or creates the database in a folder.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Engine> {
    let mut cut = None;
    loop {
        match open_cut(path, options.clone(), cut) {
            Ok(engine) => return Ok(engine),
            Err(OpenFailure::RolledBack) => {}
            Err(OpenFailure::LostAt(lsn, why)) if cut != Some(lsn) => {
                tracing::warn!("{why}; the log is cut there");
                cut = Some(lsn);
            }
            Err(OpenFailure::LostAt(_, e) | OpenFailure::Engine(e)) => return Err(e),
        }
    }
}

/// Opens; `cut`: where the log ends, because a commit there has lost its chunks and that is accepted.
fn open_cut(
    path: &Path,
    options: Options,
    cut: Option<u64>,
) -> std::result::Result<Engine, OpenFailure> {
    let at = Opening::new(path, options);
    let lock = at.lock()?;
    let base_path = at.dir.join("base.redb");
    let exists = (at.disk.exists(&base_path)).map_err(|e| at.io("looking into", &e))?;
    at.check_classic(exists)?;
    let base = at.base(&base_path, exists)?;
    let mut stored = at.stored(&base)?;
    let from = stored.from;
    let known = stored.binlog.clone();
    let mut recovery = at.recovery(&base, &mut stored)?;
    let started = Instant::now();
    let opened = at.replay(&mut recovery, from, cut)?;
    tell(&opened.report, recovery.commits, started);
    let (replayed, rest) = recovery.finish();
    remove_dead_runs(&at.disk, &at.spill_dir, &replayed.state);
    let (flat, rotate) = at.flat(rest.reconcile, &replayed.binlog.files, &known, from)?;
    let prepared = replayed.prepared.clone();
    let report = (opened.report.records, opened.report.bytes);
    let Replay {
        files,
        mut track,
        mut index,
    } = replayed.binlog;
    at.begin_track(&mut track, &mut index);
    let order = Order {
        binlog: files,
        track,
        active: replayed.state.active.clone(),
        replica: replayed.replica,
        prepared: replayed.prepared,
    };
    let log = opened.start(order).map_err(EngineError::from)?;
    if let Some(flat) = &flat {
        flat.set_log(log.records());
        log.set_second(flat.clone());
    }
    let logs = Logs {
        log,
        flat,
        oob: rest.registry,
        oob_committed: rest.holds,
    };
    let store = Store {
        base,
        state: ArcSwap::new(replayed.state),
        registry: SnapshotRegistry::new(),
        apart: Mutex::new(stored.apart),
        runs: rest.runs,
    };
    let scrub = Scrub::new(at.options.scrub_rate);
    scrub.begin_at(stored.scrubbed);
    let parts = at.parts(lock, logs, index, store, replayed.catalog, from);
    let counters = &parts.counters;
    counters.recovery_records.store(report.0, Ordering::Relaxed);
    counters.recovery_bytes.store(report.1, Ordering::Relaxed);
    Ok(begin(parts, scrub, &prepared, from.is_none(), rotate)?)
}

/// What is left to be done once all parts are there. `new`: the folder was empty; `rotate`: the number of the binary log
/// file that begins, and the GTIDs before it.
fn begin(
    parts: Parts,
    scrub: Scrub,
    prepared: &PreparedList,
    new: bool,
    rotate: Option<(u32, GtidState)>,
) -> Result<Engine> {
    let parts = Arc::new(parts);
    let weak = Arc::downgrade(&parts);
    parts
        .store
        .registry
        .set_source(move || weak.upgrade().map_or(0, |db| db.binlog.log.visible_seq()));
    let engine = Engine::new(parts.clone(), Checkpoints::new(scrub));
    crate::xa::resume::resume(&parts, &engine.branches, prepared)?;
    if new {
        // The first checkpoint fixes where replay starts: a log that lost its head is noticed.
        engine.checkpoints.run(&parts)?;
    }
    match rotate {
        // A file of its own for each run of the server, as in MariaDB: what a crash did to the last one is over.
        Some((number, gtids)) => admin::begin_file_behind(&parts.binlog, number, &gtids)?,
        None if parts.binlog.flat.is_some() => {}
        None => retention::drop_missing(&parts.binlog)?,
    }
    if parts.options.hold_log {
        parts.binlog.hold_from_start();
    }
    if parts.options.background {
        engine.start()?;
    }
    Ok(engine)
}

/// A folder that is being opened.
struct Opening {
    dir: PathBuf,
    log_dir: PathBuf,
    spill_dir: PathBuf,
    disk: Arc<dyn Disk>,
    config: VirtualConfig,
    options: Options,
}

/// What the last checkpoint stored.
struct Stored {
    /// Its place in the log; `None`: there was none yet.
    from: Option<(Lsn, Seq)>,
    catalog: Catalog,
    binlog: VirtualFiles,
    replica: ReplicaState,
    prepared: PreparedList,
    apart: Apart,
    scrubbed: u64,
}

impl Opening {
    fn new(path: &Path, options: Options) -> Self {
        Opening {
            dir: path.to_owned(),
            log_dir: path.join("log"),
            spill_dir: path.join("spill"),
            disk: options.disk.clone(),
            config: virtual_config(&options),
            options,
        }
    }

    /// An error of the disk.
    fn io(&self, what: &str, e: &std::io::Error) -> EngineError {
        let text = format!("{what} {}: {e}", self.dir.display());
        match narwal_log::is_no_space(e) {
            true => EngineError::DiskFull(text),
            false => EngineError::Io(text),
        }
    }

    /// Makes the folder if it is not there, and takes it for this process.
    fn lock(&self) -> Result<Box<dyn Send + Sync>> {
        let dir = &self.dir;
        (self.disk.create_dir_all(dir)).map_err(|e| self.io("making", &e))?;
        let lock = self.disk.lock(&dir.join("narwal.lock")).map_err(|e| {
            EngineError::Io(format!(
                "{} is in use by another process, or can't be locked ({e}); stop that server first or choose another folder",
                dir.display()
            ))
        })?;
        crate::backup::restore::refuse_unfinished(&*self.disk, dir)?;
        Ok(lock)
    }

    /// Whether the folder is of the kind that is asked for: with flat files beside the log, or without.
    fn check_classic(&self, exists: bool) -> Result<()> {
        let classic = self.options.classic_log;
        check_folder(&*self.disk, &self.dir, &self.config, classic, exists)?;
        if !classic {
            return Ok(());
        }
        if self.options.compression.is_some() {
            return Err(not_offered("narwal_log_compression"));
        }
        let index = index_path(&self.dir, &self.config);
        if !(self.disk.exists(&index)).map_err(|e| self.io("looking into", &e))? {
            let files = VirtualFiles::new(self.config.clone());
            FlatBinlog::create(&self.disk, &self.dir, &files)?;
        }
        Ok(())
    }

    /// Opens the base, or makes it: a new one gets its name when it is whole, for it is made in several steps.
    fn base(&self, path: &Path, exists: bool) -> Result<Base> {
        let disk = &self.disk;
        let new_path = self.dir.join("base.redb.new");
        let file = if exists {
            disk.open(path)
        } else {
            match disk.remove(&new_path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
                _ => disk.create(&new_path),
            }
        }
        .map_err(|e| self.io("opening the base in", &e))?;
        // A 64th of the memory for the checksums of 16 times as much data.
        let sums = (self.options.memory_budget / 64).max(1 << 20);
        let base = Base::open(file, path, self.options.base_cache_bytes(), sums)?;
        if !exists {
            disk.rename(&new_path, path)
                .and_then(|()| disk.sync_dir(&self.dir))
                .map_err(|e| self.io("making the base in", &e))?;
        }
        Ok(base)
    }

    fn stored(&self, base: &Base) -> Result<Stored> {
        let Some(m) = read_meta(&base.redb)? else {
            return Ok(Stored {
                from: None,
                catalog: Catalog::new(),
                binlog: VirtualFiles::new(self.config.clone()),
                replica: ReplicaState::default(),
                prepared: PreparedList::default(),
                apart: Apart::default(),
                scrubbed: 0,
            });
        };
        let binlog = from_hex(&m.binlog)
            .ok_or_else(|| EngineError::Corrupt("binlog state in the base".into()))?;
        let binlog = VirtualFiles::from_bytes(self.config.clone(), &binlog)
            .map_err(|e| EngineError::Corrupt(e.to_string()))?;
        Ok(Stored {
            from: Some((m.lsn, m.seq)),
            catalog: Catalog::from_stored(m.catalog)?,
            binlog,
            replica: ReplicaState::from_stored(&m.replica, m.seq)?,
            prepared: from_stored(&m.prepared)?,
            apart: m.apart,
            scrubbed: m.scrubbed,
        })
    }

    /// The store as the checkpoint left it, ready to take the log's records.
    fn recovery(&self, base: &Base, stored: &mut Stored) -> Result<Recovery> {
        let tail = (self.options.classic_log)
            .then(|| Tail::read(&self.disk, &self.dir, &stored.binlog))
            .transpose()?;
        (self.disk.create_dir_all(&self.spill_dir)).map_err(|e| self.io("making", &e))?;
        let cache = (self.options.store_budget() / 16).clamp(1 << 20, 64 << 20);
        let runs = RunSpace {
            disk: self.disk.clone(),
            dir: self.spill_dir.clone(),
            cache: RunCache::new(cache as usize),
            limit: spill_bytes(&self.options),
        };
        let (apart, catalog) = (&mut stored.apart, std::mem::take(&mut stored.catalog));
        let layers = apart.open(&catalog, &self.disk, &self.spill_dir, &runs.cache);
        let unreadable = apart.unreadable(&catalog, &self.spill_dir);
        let (lsn, seq) = stored.from.unwrap_or((FIRST_LSN, 0));
        let generation = BaseGen::open(&base.redb, seq, &catalog, unreadable)?;
        for t in catalog.by_id.values() {
            // A damaged table's number is the stored one.
            if let Ok(rows) = generation.len(t.indexes[0].id)
                && !t.counters.apart.load(Ordering::Relaxed)
            {
                let rows = i64::try_from(rows).unwrap_or(i64::MAX);
                t.counters.rows.store(rows, Ordering::Relaxed);
            }
        }
        let files = stored.binlog.clone();
        let binlog = match store::load(&base.redb)? {
            None if stored.from.is_some() => {
                Replay::rebuild(files, lsn, seq, self.disk.clone(), &self.log_dir)
            }
            index => Replay::new(files, lsn, seq, index),
        };
        let spill = RecoverySpill {
            runs,
            log_dir: self.log_dir.clone(),
            registry: Arc::new(OobRegistry::default()),
        };
        let replica = std::mem::take(&mut stored.replica);
        let prepared = std::mem::take(&mut stored.prepared);
        let mut recovery = Recovery::new(
            generation, catalog, binlog, replica, prepared, spill, layers,
        );
        recovery.reconcile = tail.map(Reconcile::new);
        Ok(recovery)
    }

    fn log_options(&self, cut: Option<u64>) -> LogOptions {
        let options = &self.options;
        let mut log = LogOptions::new(self.log_dir.clone());
        log.disk = self.disk.clone();
        log.segment_size = options.segment_size;
        log.durability = durability(options.flush_log_at_trx_commit);
        log.commit_wait_count = options.commit_wait_count;
        log.commit_wait_usec = options.commit_wait_usec;
        log.commit_wait_auto = options.commit_wait_auto;
        log.parallel_syncs = options.parallel_syncs;
        log.background = options.background;
        // Small chunks are asked for to save memory: then few of them wait in memory, too.
        log.chunk_queue = log.chunk_queue.min(options.oob_threshold.max(1));
        log.accept_lost_tail = options.accept_log_loss;
        log.cut_at = cut;
        log
    }

    /// Reads the log from the checkpoint on.
    fn replay(
        &self,
        recovery: &mut Recovery,
        from: Option<(Lsn, Seq)>,
        cut: Option<u64>,
    ) -> std::result::Result<OpenLog, OpenFailure> {
        let opened = Log::<Order>::open(self.log_options(cut), from, |r| recovery.apply(r));
        opened.map_err(|e| self.failure(e, recovery))
    }

    fn failure(&self, e: OpenError<EngineError>, recovery: &Recovery) -> OpenFailure {
        let refused = |e: String| {
            EngineError::Corrupt(format!(
                "{e}. How to go on: docs/log-format.md, \"When a start is refused\""
            ))
        };
        if let (OpenError::Replay(_), Some(end)) =
            (&e, recovery.reconcile.as_ref().and_then(|r| r.roll_back))
        {
            return match end.cut(&*self.disk, &self.log_dir) {
                Ok(()) => OpenFailure::RolledBack,
                Err(e) => e.into(),
            };
        }
        match (e, recovery.lost) {
            (OpenError::Replay(e), Some(lsn)) if self.options.accept_log_loss => {
                OpenFailure::LostAt(lsn, e)
            }
            (OpenError::Replay(EngineError::Corrupt(e)), Some(_)) => refused(e).into(),
            (OpenError::Replay(e), _) => e.into(),
            (OpenError::Log(e), _) if e.is_loss() => refused(e.to_string()).into(),
            (OpenError::Log(e), _) => EngineError::from(e).into(),
        }
    }

    /// The flat files, if there are any, and the number of the file that begins with this start with the GTIDs before it:
    /// those of both logs.
    #[allow(clippy::type_complexity)]
    fn flat(
        &self,
        reconcile: Option<Reconcile>,
        files: &VirtualFiles,
        known: &VirtualFiles,
        from: Option<(Lsn, Seq)>,
    ) -> Result<(Option<Arc<FlatBinlog>>, Option<(u32, GtidState)>)> {
        let Some(second) = reconcile else {
            return Ok((None, None));
        };
        let gtids = second.finish(&*self.disk, &self.dir, files, known.gtids())?;
        let tail = &second.tail;
        let rotate = (from.is_some() || tail.number > files.file_no())
            .then(|| (tail.number.max(files.file_no()) + 1, gtids));
        let every = self.options.sync_binlog;
        let flat = FlatBinlog::open(self.disk.clone(), &self.dir, files.clone(), tail, every)?;
        Ok((Some(Arc::new(flat)), rotate))
    }

    fn begin_track(&self, track: &mut Track, index: &mut Index) {
        track.drain(index);
        track.set_interval(self.options.binlog_state_interval);
    }

    fn parts(
        self,
        lock: Box<dyn Send + Sync>,
        logs: Logs,
        index: Index,
        store: Store,
        catalog: Catalog,
        from: Option<(Lsn, Seq)>,
    ) -> Parts {
        let locks = LockTable::new();
        locks.set_spill_dir(self.disk.clone(), self.spill_dir);
        if self.options.background {
            locks.free_aside();
        }
        let bell = Arc::new(Bell::default());
        let start = from.map_or(0, |f| f.0);
        Parts {
            folder: Folder::new(self.dir, self.disk, lock),
            settings: Settings::new(&self.options),
            store,
            locks,
            catalogs: Catalogs::new(catalog),
            binlog: Binlog::new(logs, index, start, bell.clone(), &self.options),
            pressure: Pressure::new(&self.options, bell),
            counters: Counters::default(),
            next_txn: AtomicU64::new(1),
            options: self.options,
        }
    }
}

/// Says what a start found.
fn tell(report: &OpenReport, commits: u64, started: Instant) {
    if let Some(lost) = &report.lost {
        tracing::warn!(
            end = format!(
                "{}, byte {} (LSN {})",
                lost.file.display(),
                lost.offset,
                lost.lsn
            ),
            reason = %lost.why,
            transactions = format!("{} or more", lost.commits),
            kept = ?lost.kept,
            "a part of the log was lost and given up"
        );
    }
    if commits > 0 {
        tracing::info!(
            "recovered {commits} transactions from the log in {} ms",
            started.elapsed().as_millis()
        );
    }
}

/// Removes run files that no recovered commit names: of transactions that never committed, or that are in the base.
pub(crate) fn remove_dead_runs(disk: &Arc<dyn Disk>, dir: &Path, state: &State) {
    let mut live = ahash::HashSet::default();
    for layer in &state.older {
        if let Layer::Spilled(s) = layer {
            live.extend(s.runs.metas().into_iter().map(|m| m.name));
        }
    }
    match disk.list(dir) {
        Ok(names) => {
            for name in names.iter().filter(|n| !live.contains(*n)) {
                if let Err(e) = disk.remove(&dir.join(name)) {
                    tracing::warn!("removing {}: {e}", dir.join(name).display());
                }
            }
        }
        Err(e) => tracing::warn!("looking into {}: {e}", dir.display()),
    }
}
