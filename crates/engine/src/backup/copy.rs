//! A copy of a running database, piece by piece.

use crate::backup::piece::{BASE, BackupEnd, BackupOptions, BackupProgress, Piece};
use crate::binlog::holds::ReaderHold;
use crate::binlog::types::BinlogPosition;
use crate::checkpoint::meta::read_meta;
use crate::checkpoint::run::Checkpoints;
use crate::error::io_error;
use crate::options::virtual_config;
use crate::parts::Parts;
use crate::store::dirty::{BLOCK, Dirty};
use crate::{EngineError, Result};
use narwal_log::{DiskFile, Lsn, SEGMENT_HEADER_LEN, SegmentFile, segment_name};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest piece, bytes; a multiple of [`BLOCK`].
const PIECE: u64 = 1 << 20;
/// The rounds over the base end when so little was written to it since it was copied.
const FEW: u64 = 8 << 20;
/// They end then in any case.
const ROUNDS: u32 = 12;
/// The last round's blocks wait in memory up to this size, else in a file.
const IN_MEMORY: u64 = 64 << 20;

/// Where a piece came from, so that it can be given once more.
#[derive(Debug, Clone)]
struct Given {
    file: Option<Lsn>,
    offset: u64,
    len: u64,
    end: bool,
}

#[derive(Debug)]
enum Phase {
    /// Copying the base's blocks from `from` on; so many there were to be copied in this round.
    Round {
        from: u64,
        blocks: u64,
    },
    /// Giving what was read under the checkpoint's lock.
    Spooled,
    /// Copying the log.
    Log,
    Done,
}

/// A running backup: gives [`Piece`]s until there are no more. Dropped: it is over, and nothing is held any more.
pub struct Backup {
    db: Arc<Parts>,
    checkpoints: Arc<Checkpoints>,
    options: BackupOptions,
    base: Arc<dyn DiskFile>,
    base_name: Arc<str>,
    dirty: Arc<Dirty>,
    hold: ReaderHold,
    phase: Phase,
    spool: Spool,
    base_size: u64,
    /// Sequence number and LSN of the base's checkpoint, once it is copied.
    base_at: (u64, Lsn),
    base_gtids: String,
    /// The next log byte to copy: segment and offset in stored bytes.
    log_at: Option<(Lsn, u64)>,
    log_start: Lsn,
    end: Option<BackupEnd>,
    redo: Vec<Given>,
    given: Vec<Given>,
    done: u64,
    rounds: u32,
    /// Blocks of the base that do not have their checksums, in use or not.
    damaged: Vec<crate::error::Damage>,
    /// The checkpoint's lock is held.
    locked: bool,
}

impl std::fmt::Debug for Backup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backup")
            .field("phase", &self.phase)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

impl Backup {
    pub(crate) fn begin(
        db: &Arc<Parts>,
        checkpoints: &Arc<Checkpoints>,
        options: BackupOptions,
    ) -> Result<Backup> {
        if !db.folder.is_open() {
            return Err(EngineError::LogFailed("the database is closed".into()));
        }
        if let Some(t) = db.store.apart.lock().tables.first() {
            return Err(EngineError::Corrupt(format!(
                "{}; no backup is made of a damaged table: repair, truncate or drop it first",
                t.what
            )));
        }
        // Everything is held until it is known what is needed.
        let hold = db.binlog.register_reader(&options.name, 0, false);
        let path = db.folder.dir.join(BASE);
        let base = db
            .folder
            .disk
            .open_read(&path)
            .map_err(|e| io_error("opening", &path, &e))?;
        let dirty = Arc::new(Dirty::new(base.stored_at(0)));
        db.store.base.room.watch(&dirty);
        let base_size = base
            .stored_len()
            .map_err(|e| io_error("reading", &path, &e))?;
        dirty.mark_stored(0, base_size);
        let recovery = db
            .binlog
            .checkpoint_lsn
            .load(std::sync::atomic::Ordering::Acquire)
            .min(db.binlog.oob.oldest().unwrap_or(Lsn::MAX));
        let log_start = if options.with_log {
            recovery.min(db.binlog.start())
        } else {
            recovery
        };
        hold.advance(log_start);
        let blocks = dirty.len();
        Ok(Backup {
            db: db.clone(),
            checkpoints: checkpoints.clone(),
            options,
            base,
            base_name: BASE.into(),
            dirty,
            hold,
            phase: Phase::Round { from: 0, blocks },
            spool: Spool::default(),
            base_size,
            base_at: (0, 0),
            base_gtids: String::new(),
            log_at: None,
            log_start,
            end: None,
            redo: Vec::new(),
            given: Vec::new(),
            done: 0,
            rounds: 0,
            damaged: Vec::new(),
            locked: false,
        })
    }

    /// The next piece; `None` when all is given, and [`Self::end`] says of what.
    ///
    /// # Errors
    /// Errors of reading the files; the database was closed. The backup can't be finished then.
    pub fn next_piece(&mut self) -> Result<Option<Piece>> {
        if !self.db.folder.is_open() {
            return Err(EngineError::LogFailed("the database was closed".into()));
        }
        loop {
            if let Some(again) = self.redo.pop() {
                return self.again(again).map(Some);
            }
            match self.phase {
                Phase::Round { from, blocks } => match self.dirty.take(from, PIECE / BLOCK) {
                    Some((first, n)) => {
                        self.phase = Phase::Round {
                            from: first + n,
                            blocks,
                        };
                        if let Some(piece) = self.base_piece(first, n)? {
                            return Ok(Some(piece));
                        }
                    }
                    None => self.end_round(blocks)?,
                },
                Phase::Spooled => match self.spool.next()? {
                    Some((offset, bytes)) => return Ok(Some(self.give(None, offset, bytes))),
                    None => {
                        self.phase = Phase::Log;
                        return Ok(Some(self.give_end(None, self.base_size)));
                    }
                },
                Phase::Log => {
                    if let Some(piece) = self.log_piece()? {
                        return Ok(Some(piece));
                    }
                }
                Phase::Done => return Ok(None),
            }
        }
    }

    /// What was copied; `None` before the last piece was given.
    #[must_use]
    pub fn end(&self) -> Option<&BackupEnd> {
        match self.phase {
            Phase::Done if self.redo.is_empty() => self.end.as_ref(),
            _ => None,
        }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> BackupProgress {
        let dirty = self.dirty.len() * BLOCK;
        let log = match (&self.phase, self.log_at) {
            (Phase::Done, _) => 0,
            (_, Some((start, _))) => self.db.binlog.log_bytes_from(start),
            (_, None) => self.db.binlog.log_bytes_from(self.log_start),
        };
        let base = match self.phase {
            Phase::Round { .. } => dirty,
            Phase::Spooled => self.spool.left(),
            _ => 0,
        };
        BackupProgress {
            done: self.done,
            total: self.done + base + log,
            rounds: self.rounds,
        }
    }

    /// How many pieces were given.
    #[must_use]
    pub fn pieces(&self) -> u64 {
        self.given.len() as u64
    }

    /// The receiver has only the first `pieces` of them. The others are given again, or what has come in their place.
    pub fn resume_after(&mut self, pieces: u64) {
        let from = usize::try_from(pieces).unwrap_or(usize::MAX);
        if from >= self.given.len() {
            return;
        }
        let lost = self.given.split_off(from);
        let mut base = false;
        for g in &lost {
            if g.file.is_none() {
                base = true;
                self.dirty.mark_stored(g.offset, g.len);
            }
        }
        // Segments do not change: the same again, whenever. In order, since `redo` is taken from its end.
        let log = lost.into_iter().filter(|g| g.file.is_some());
        self.redo = log.rev().collect();
        if let Phase::Round { .. } = self.phase {
            self.phase = Phase::Round {
                from: 0,
                blocks: self.dirty.len(),
            };
        } else if base || matches!(self.phase, Phase::Spooled) {
            // The base that was copied is not that of any one checkpoint any more.
            for (offset, len) in self.spool.forget() {
                self.dirty.mark_stored(offset, len);
            }
            self.end = None;
            // The last segment goes on; pieces begin at whole blocks.
            if let Some((_, at)) = &mut self.log_at {
                *at -= *at % PIECE;
            }
            self.phase = Phase::Round {
                from: 0,
                blocks: self.dirty.len(),
            };
        }
    }

    fn note(&mut self, given: Given) {
        self.done += given.len;
        self.given.push(given);
    }

    fn name(&self, file: Option<Lsn>) -> Arc<str> {
        match file {
            None => self.base_name.clone(),
            Some(start) => format!("log/{}", segment_name(start)).into(),
        }
    }

    fn give(&mut self, file: Option<Lsn>, offset: u64, bytes: Vec<u8>) -> Piece {
        self.note(Given {
            file,
            offset,
            len: bytes.len() as u64,
            end: false,
        });
        Piece::Data {
            file: self.name(file),
            offset,
            bytes,
        }
    }

    fn give_end(&mut self, file: Option<Lsn>, size: u64) -> Piece {
        self.note(Given {
            file,
            offset: size,
            len: 0,
            end: true,
        });
        Piece::End {
            file: self.name(file),
            size,
        }
    }

    /// A piece of the log once more.
    fn again(&mut self, g: Given) -> Result<Piece> {
        if g.end {
            return Ok(self.give_end(g.file, g.offset));
        }
        let start = g.file.unwrap_or_default();
        let segment = self.segment(start)?;
        let bytes = self.segment_bytes(&segment, g.offset, g.len)?;
        Ok(self.give(g.file, g.offset, bytes))
    }

    // ---- the base ----

    fn read_base(&mut self, first: u64, blocks: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (blocks * BLOCK) as usize];
        let n = self
            .base
            .read_stored(&mut bytes, first * BLOCK)
            .map_err(|e| io_error("reading", &self.db.folder.dir.join(BASE), &e))?;
        bytes.truncate(n);
        self.verify_base(first * BLOCK, n as u64)?;
        Ok(bytes)
    }

    /// Compares what was just read with the base's checksums: no copy of damage is made. What is being written meanwhile will
    /// be copied again.
    fn verify_base(&mut self, stored: u64, len: u64) -> Result<()> {
        let shift = self.base.stored_at(0);
        let (from, to) = (
            stored.saturating_sub(shift),
            stored + len - shift.min(stored + len),
        );
        let from = from - from % crate::store::file::BLOCK;
        let to = to.next_multiple_of(crate::store::file::BLOCK);
        let found = self
            .db
            .store
            .base
            .file
            .verify(from, to)
            .map_err(crate::store::base::io_err)?;
        self.damaged.extend(found);
        if self.locked || self.damaged.is_empty() {
            return Ok(());
        }
        let found = std::mem::take(&mut self.damaged);
        let pending = self.checkpoints.pending.lock();
        let owned = crate::store::damage::in_use(&self.db.store.base.redb, found)?;
        drop(pending);
        self.refuse(owned)
    }

    fn refuse(&self, owned: Vec<crate::store::damage::Owned>) -> Result<()> {
        match crate::checkpoint::verify::name(&self.db, owned)
            .into_iter()
            .next()
        {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    fn base_piece(&mut self, first: u64, blocks: u64) -> Result<Option<Piece>> {
        let bytes = self.read_base(first, blocks)?;
        Ok((!bytes.is_empty()).then(|| self.give(None, first * BLOCK, bytes)))
    }

    /// Once over all blocks: what was written meanwhile is to be copied again. `blocks`: how many were to be copied.
    fn end_round(&mut self, blocks: u64) -> Result<()> {
        self.rounds += 1;
        let left = self.dirty.len();
        // A round that leaves nearly as much as it had found will not be the last but one either.
        let enough = left * BLOCK <= FEW || self.rounds >= ROUNDS || left * 4 > blocks * 3;
        if !enough {
            self.phase = Phase::Round {
                from: 0,
                blocks: left,
            };
            return Ok(());
        }
        self.spool = Spool::new(&self.db);
        let checkpoints = self.checkpoints.clone();
        let pending = checkpoints.pending.lock();
        if !self.db.folder.is_open() {
            return Err(EngineError::LogFailed("the database was closed".into()));
        }
        // Of blocks that no commit needs memory may know more than the file.
        (self.db.store.base.file.write_sums()).map_err(crate::store::base::io_err)?;
        // Nobody writes the base now.
        let path = self.db.folder.dir.join(BASE);
        self.base_size = self
            .base
            .stored_len()
            .map_err(|e| io_error("reading", &path, &e))?;
        let mut from = 0;
        self.locked = true;
        while let Some((first, n)) = self.dirty.take(from, PIECE / BLOCK) {
            from = first + n;
            let bytes = self.read_base(first, n)?;
            if !bytes.is_empty() {
                self.spool.put(first * BLOCK, bytes)?;
            }
        }
        self.locked = false;
        let found = std::mem::take(&mut self.damaged);
        if !found.is_empty() {
            self.refuse(crate::store::damage::in_use(
                &self.db.store.base.redb,
                found,
            )?)?;
        }
        let meta = read_meta(&self.db.store.base.redb)?
            .ok_or_else(|| EngineError::Corrupt("the base has no checkpoint".into()))?;
        self.base_at = (meta.seq, meta.lsn);
        let oldest_chunk = self.db.binlog.oob.oldest().unwrap_or(Lsn::MAX);
        drop(pending);
        self.spool.seal()?;
        if !self.options.with_log && self.log_at.is_none() {
            self.log_start = meta.lsn.min(oldest_chunk).max(self.log_start);
            self.hold.advance(self.log_start);
        }
        self.base_gtids = meta.gtids(virtual_config(&self.db.options))?;
        self.phase = Phase::Spooled;
        Ok(())
    }

    /// Makes `to` on `disk` a copy of the base that shares its blocks, if the file system can: then no piece gives the
    /// base but its end. For the beginning of a backup.
    ///
    /// # Errors
    /// Errors of the disk other than that it can't.
    pub fn reflink_base(&mut self, disk: &dyn narwal_log::Disk, to: &Path) -> Result<bool> {
        let path = self.db.folder.dir.join(BASE);
        let pending = self.checkpoints.pending.lock();
        if !self.db.folder.is_open() {
            return Err(EngineError::LogFailed("the database was closed".into()));
        }
        (self.db.store.base.file.write_sums()).map_err(crate::store::base::io_err)?;
        if !disk
            .reflink(&path, to)
            .map_err(|e| io_error("copying the base to", to, &e))?
        {
            return Ok(false);
        }
        self.base_size = self
            .base
            .stored_len()
            .map_err(|e| io_error("reading", &path, &e))?;
        while self.dirty.take(0, u64::MAX).is_some() {}
        let meta = read_meta(&self.db.store.base.redb)?
            .ok_or_else(|| EngineError::Corrupt("the base has no checkpoint".into()))?;
        self.base_at = (meta.seq, meta.lsn);
        let oldest_chunk = self.db.binlog.oob.oldest().unwrap_or(Lsn::MAX);
        drop(pending);
        if !self.options.with_log {
            self.log_start = meta.lsn.min(oldest_chunk).max(self.log_start);
            self.hold.advance(self.log_start);
        }
        self.base_gtids = meta.gtids(virtual_config(&self.db.options))?;
        // The copy shares its blocks with what is read here.
        match crate::checkpoint::verify::verify(&self.db, &self.checkpoints.pending, 0, u64::MAX)?
            .into_iter()
            .next()
        {
            Some(e) => return Err(e),
            None => self.done += self.base_size,
        }
        self.phase = Phase::Spooled;
        Ok(true)
    }

    // ---- the log ----

    fn segment(&self, start: Lsn) -> Result<SegmentFile> {
        let mut all = self.db.binlog.log.segment_files().into_iter();
        all.find(|s| s.start == start)
            .ok_or_else(|| EngineError::Io(format!("log segment {start:x} is gone")))
    }

    /// Bytes of a segment, of which its header page is a moment's.
    fn segment_bytes(&self, segment: &SegmentFile, offset: u64, len: u64) -> Result<Vec<u8>> {
        let path = PathBuf::from(segment_name(segment.start));
        let mut bytes = vec![0; len as usize];
        let n = segment
            .file
            .read_stored(&mut bytes, offset)
            .map_err(|e| io_error("reading", &path, &e))?;
        if n as u64 != len {
            return Err(EngineError::Io(format!(
                "{}: {n} bytes instead of {len} at offset {offset}",
                path.display()
            )));
        }
        if offset == 0 {
            let page = segment.stored_header()?;
            let n = page.len().min(bytes.len());
            bytes[..n].copy_from_slice(&page[..n]);
        }
        Ok(bytes)
    }

    /// Compares every record of a segment with its checksum, before the segment is copied.
    fn verify_segment(&self, start: Lsn) -> Result<()> {
        let log = self.db.binlog.log.records();
        if let Some(span) = log.spans(start).first().filter(|s| s.start == start) {
            log.copy_segment(span)?;
        }
        Ok(())
    }

    fn log_piece(&mut self) -> Result<Option<Piece>> {
        let segments = self.db.binlog.log.segment_files();
        let (start, offset) = match self.log_at {
            Some(at) => at,
            None => {
                let below = segments.partition_point(|s| s.start <= self.log_start);
                let first = segments
                    .get(below.saturating_sub(1))
                    .ok_or_else(|| EngineError::Io("the log has no segments".into()))?;
                (first.start, 0)
            }
        };
        let at = segments
            .iter()
            .position(|s| s.start == start)
            .ok_or_else(|| EngineError::Io(format!("log segment {start:x} is gone")))?;
        let segment = &segments[at];
        let next = segments.get(at + 1).map_or(Lsn::MAX, |s| s.start);
        if next > self.log_end_now() {
            // The last one: where does it end?
            self.settle_end()?;
        }
        let end = self.end.as_ref().map_or(Lsn::MAX, |e| e.log_end);
        let file = &segment.file;
        let path = PathBuf::from(segment_name(start));
        let len =
            |f: &Arc<dyn DiskFile>| f.stored_len().map_err(|e| io_error("reading", &path, &e));
        if offset == 0 {
            self.verify_segment(start)?;
        }
        // The header page first: it says how long the file has been.
        let header = (offset == 0).then(|| segment.stored_header()).transpose()?;
        let size = len(file)?;
        let used = if next > end {
            // A record that is being written behind the end must not be seen.
            file.stored_at(SEGMENT_HEADER_LEN + end.saturating_sub(start))
        } else {
            size
        };
        let mut at = offset;
        while at < used {
            let n = PIECE.min(used - at);
            let mut bytes = vec![0; n as usize];
            // An encrypted sector is a whole one.
            let whole = self.whole_sectors(file, at, n, size);
            bytes.resize(whole as usize, 0);
            let got = file
                .read_stored(&mut bytes, at)
                .map_err(|e| io_error("reading", &path, &e))?;
            bytes.truncate(got);
            if let Some(page) = header.as_ref().filter(|_| at == 0) {
                let n = page.len().min(bytes.len());
                bytes[..n].copy_from_slice(&page[..n]);
            }
            let from = at;
            at += n;
            self.log_at = Some((start, at));
            if bytes.iter().any(|b| *b != 0) {
                return Ok(Some(self.give(Some(start), from, bytes)));
            }
        }
        self.log_at = Some((start, at));
        if next > end {
            self.phase = Phase::Done;
        } else {
            self.log_at = Some((next, 0));
        }
        Ok(Some(self.give_end(Some(start), size)))
    }

    /// How many bytes to read so that an encrypted file's last sector is whole.
    fn whole_sectors(&self, file: &Arc<dyn DiskFile>, at: u64, n: u64, size: u64) -> u64 {
        if file.stored_at(0) == 0 {
            return n;
        }
        (at + n).next_multiple_of(512).min(size) - at
    }

    /// Where the log ends now, or does in the backup.
    fn log_end_now(&self) -> Lsn {
        match &self.end {
            Some(end) => end.log_end,
            None => self.db.binlog.log.with_order_state(|_, at| at.lsn),
        }
    }

    /// Fixes the end, and waits until everything before it is durable.
    fn settle_end(&mut self) -> Result<()> {
        if self.end.is_some() {
            return Ok(());
        }
        let log = &self.db.binlog.log;
        let (position, state, seq, lsn) = log.with_order_state(|o, at| {
            let position: BinlogPosition = crate::binlog::lookup::position(&o.binlog);
            (position, o.binlog.gtids().to_string(), at.seq, at.lsn)
        });
        log.sync_all()?;
        let options = &self.db.options;
        self.end = Some(BackupEnd {
            base_seq: self.base_at.0,
            base_lsn: self.base_at.1,
            log_start: self.log_start,
            log_end: lsn,
            seq,
            binlog_file: position.file,
            binlog_pos: position.offset,
            gtid_binlog_pos: position.gtid_pos,
            gtid_binlog_state: state,
            base_gtid_state: self.base_gtids.clone(),
            log_id: log.log_id(),
            server_id: options.server_id,
            gtid_domain_id: options.gtid_domain_id,
            with_log: self.options.with_log,
        });
        Ok(())
    }
}

/// What was read under the checkpoint's lock and is still to be given: in memory, or in a file if it is much.
#[derive(Debug, Default)]
struct Spool {
    /// Place and length of each part.
    parts: std::collections::VecDeque<(u64, u64)>,
    memory: std::collections::VecDeque<Vec<u8>>,
    bytes: u64,
    file: Option<SpoolFile>,
    dir: PathBuf,
    disk: Option<Arc<dyn narwal_log::Disk>>,
}

#[derive(Debug)]
struct SpoolFile {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    disk: Arc<dyn narwal_log::Disk>,
    written: u64,
    read: u64,
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        if let Err(e) = self.disk.remove(&self.path) {
            tracing::warn!("removing {}: {e}", self.path.display());
        }
    }
}

impl Spool {
    fn new(db: &Parts) -> Spool {
        Spool {
            dir: db.store.runs.dir.clone(),
            disk: Some(db.folder.disk.clone()),
            ..Spool::default()
        }
    }

    fn left(&self) -> u64 {
        self.parts.iter().map(|p| p.1).sum()
    }

    fn put(&mut self, offset: u64, bytes: Vec<u8>) -> Result<()> {
        let len = bytes.len() as u64;
        self.parts.push_back((offset, len));
        if self.file.is_none() && self.bytes + len <= IN_MEMORY {
            self.bytes += len;
            self.memory.push_back(bytes);
            return Ok(());
        }
        if self.file.is_none() {
            let Some(disk) = self.disk.clone() else {
                return Err(EngineError::Io("no place for the base's blocks".into()));
            };
            static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
            let n = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = self.dir.join(format!("backup-{n}.tmp"));
            let file = disk
                .create(&path)
                .map_err(|e| io_error("making", &path, &e))?;
            self.file = Some(SpoolFile {
                path,
                file,
                disk,
                written: 0,
                read: 0,
            });
        }
        if let Some(f) = &mut self.file {
            f.file
                .write_at(&bytes, f.written)
                .map_err(|e| io_error("writing", &f.path, &e))?;
            f.written += len;
        }
        Ok(())
    }

    /// All is in.
    fn seal(&mut self) -> Result<()> {
        self.disk = None;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let Some((offset, len)) = self.parts.pop_front() else {
            self.file = None;
            return Ok(None);
        };
        if let Some(bytes) = self.memory.pop_front() {
            return Ok(Some((offset, bytes)));
        }
        let Some(f) = &mut self.file else {
            return Ok(None);
        };
        let mut bytes = vec![0; len as usize];
        let n = f
            .file
            .read_at(&mut bytes, f.read)
            .map_err(|e| io_error("reading", &f.path, &e))?;
        if n as u64 != len {
            return Err(EngineError::Io(format!(
                "{}: cut short by somebody",
                f.path.display()
            )));
        }
        f.read += len;
        Ok(Some((offset, bytes)))
    }

    /// Drops everything; which blocks that were.
    fn forget(&mut self) -> Vec<(u64, u64)> {
        self.memory.clear();
        self.file = None;
        self.bytes = 0;
        std::mem::take(&mut self.parts).into()
    }
}
