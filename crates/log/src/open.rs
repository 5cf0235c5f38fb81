//! Opening: recovery scan, repair of the tail, start.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::Mutex;

use crate::Disk;
use crate::background::{Background, threads};
use crate::core::{Core, Progress};
use crate::disk::LockFile;
use crate::error::{Corruption, LogError, OpenError, is_no_space};
use crate::ferry::Ferry;
use crate::flight::{Flights, Lanes};
use crate::gate::GateState;
use crate::inner::Inner;
use crate::log::Log;
use crate::options::LogOptions;
use crate::order::Order;
use crate::overlap::Overlap;
use crate::purge::finish_purge;
use crate::record::RecordRef;
use crate::scan::{Cut, Scanner, TailEnd};
use crate::second::Second;
use crate::segment::{
    FIRST_LSN, SEGMENT_HEADER_LEN, START_LEN, Segment, SegmentHeader, list_segments,
    remove_half_made, segment_name, zero,
};
use crate::stats::Counters;
use crate::{Lsn, Seq};

/// What a crash left behind the last whole record, and where it was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The segment file.
    pub file: PathBuf,
    /// Byte offset in it from which it was zeroed.
    pub offset: u64,
    /// Bytes zeroed there.
    pub bytes: u64,
    /// Why the scan ended.
    pub why: String,
}

/// What [`LogOptions::accept_lost_tail`] gave up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostTail {
    /// The segment file in which the log ends now.
    pub file: PathBuf,
    /// Byte offset of the end in it.
    pub offset: u64,
    /// LSN of the end.
    pub lsn: Lsn,
    /// What was wrong.
    pub why: String,
    /// At least so many commits are lost: those of which a whole record was found, and those before them.
    pub commits: u64,
    /// Files that are no longer part of the log, or hold the former content of one that was cut. They are kept for
    /// people; Narwal does not read them again.
    pub kept: Vec<PathBuf>,
}

/// What opening found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReport {
    /// A new log was made.
    pub created: bool,
    /// The log ended with a shutdown record.
    pub clean_shutdown: bool,
    /// Where the replay started.
    pub from: Lsn,
    /// Where the next record goes.
    pub end_lsn: Lsn,
    /// Last commit in the log (the checkpoint's if none follows it).
    pub last_seq: Seq,
    /// Records replayed.
    pub records: u64,
    /// Commits among them.
    pub commits: u64,
    /// Bytes of log scanned.
    pub bytes: u64,
    /// What was cut off, if anything.
    pub torn: Option<TornTail>,
    /// What was given up, if the log had to be and was allowed to.
    pub lost: Option<LostTail>,
}

/// A log that has been replayed and repaired, and waits for the caller's order state.
pub struct OpenLog {
    /// What opening found.
    pub report: OpenReport,
    opts: LogOptions,
    log_id: u64,
    segments: BTreeMap<Lsn, Arc<Segment>>,
    current: Arc<Segment>,
    lock: Box<dyn Send + Sync>,
}

impl std::fmt::Debug for OpenLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenLog")
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<S: Send + 'static> Log<S> {
    /// Opens the log in `opts.dir`, or makes a new one, and calls `replay` for each of the caller's records from
    /// `from` on, in order. Then the tail is repaired. [`OpenLog::start`] makes the log usable.
    ///
    /// `from` is a checkpoint as [`Log::with_order_state`] gave it (the LSN of the next record and the last sequence
    /// number) at a moment up to which the log was durable; `None` replays everything.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] names the file and the byte offset if durable bytes do not verify; nothing is changed
    /// then. An error of `replay` is passed on.
    pub fn open<E>(
        opts: LogOptions,
        from: Option<(Lsn, Seq)>,
        replay: impl FnMut(&RecordRef<'_>) -> Result<(), E>,
    ) -> Result<OpenLog, OpenError<E>> {
        open(opts, from, replay)
    }
}

fn open<E>(
    opts: LogOptions,
    from: Option<(Lsn, Seq)>,
    mut replay: impl FnMut(&RecordRef<'_>) -> Result<(), E>,
) -> Result<OpenLog, OpenError<E>> {
    let (disk, dir) = (opts.disk.clone(), opts.dir.clone());
    disk.create_dir_all(&dir)
        .map_err(|e| LogError::io("create", &dir, e))?;
    let lock_path = dir.join("wal.lock");
    let lock = disk
        .lock(&lock_path)
        .map_err(|e| LogError::io("lock (is another server running?)", &lock_path, e))?;
    remove_half_made(&*disk, &dir)?;
    finish_purge(&*disk, &dir)?;
    let accept = opts.accept_lost_tail;
    let mut scan = match Scanner::new(disk.clone(), &dir, from) {
        Ok(Some(scan)) => scan,
        Ok(None) if accept && from.is_some() => {
            let why = "there is no log here, but a checkpoint stands in one".into();
            return Ok(begin_again(opts, from, lock, why)?);
        }
        Ok(None) => return Ok(create(opts, from, lock)?),
        Err(e) if accept && from.is_some() && e.is_loss() => {
            return Ok(begin_again(opts, from, lock, e.to_string())?);
        }
        Err(e) => return Err(e.into()),
    };
    let begin = scan.lsn;
    let replayed = replay_all(&mut scan, &opts, &mut replay)?;
    let (tail, lost) = end_of_log(&mut scan, &opts, replayed.cut)?;
    let (current, torn) = repair(&opts, &scan, &tail)?;
    let torn = torn.filter(|_| lost.is_none());
    let mut segments = closed_segments(&*disk, &dir, &scan, current.start)?;
    let current = Arc::new(current);
    segments.insert(current.start, current.clone());
    Ok(OpenLog {
        report: OpenReport {
            created: false,
            clean_shutdown: scan.clean_shutdown && torn.is_none() && lost.is_none(),
            from: begin,
            end_lsn: tail.end,
            last_seq: scan.seq,
            records: replayed.records,
            commits: replayed.commits,
            bytes: tail.end - begin,
            torn,
            lost,
        },
        log_id: scan.log_id,
        opts,
        segments,
        current,
        lock,
    })
}

/// What the replay has seen.
struct Replayed {
    records: u64,
    commits: u64,
    /// Where the log was cut because of a loss that is accepted.
    cut: Option<Cut>,
}

/// Gives the caller's records to `replay`, up to the end of what is whole.
fn replay_all<E>(
    scan: &mut Scanner,
    opts: &LogOptions,
    replay: &mut impl FnMut(&RecordRef<'_>) -> Result<(), E>,
) -> Result<Replayed, OpenError<E>> {
    let accept = opts.accept_lost_tail;
    let mut done = Replayed {
        records: 0,
        commits: 0,
        cut: None,
    };
    loop {
        let r = match scan.step() {
            Ok(Some(r)) => r,
            Ok(None) => break,
            Err(e) if accept && e.is_loss() => {
                done.cut = Some(scan.cut(e.to_string())?);
                break;
            }
            Err(e) => return Err(e.into()),
        };
        if r.kind.is_internal() {
            continue;
        }
        if accept && opts.cut_at == Some(r.lsn) {
            scan.step_back(r.lsn, r.kind);
            let why = "what this record refers to is lost".into();
            done.cut = Some(scan.cut(why)?);
            break;
        }
        done.records += 1;
        done.commits += u64::from(r.kind.is_commit());
        replay(&RecordRef {
            lsn: r.lsn,
            end_lsn: r.end,
            kind: r.kind,
            seq: r.seq,
            body: scan.source.body(r.body),
        })
        .map_err(OpenError::Replay)?;
    }
    Ok(done)
}

/// Where the log ends. If that is a cut, what lies behind it is set aside here and described.
fn end_of_log(
    scan: &mut Scanner,
    opts: &LogOptions,
    cut: Option<Cut>,
) -> Result<(TailEnd, Option<LostTail>), LogError> {
    let cut = match cut {
        Some(cut) => cut,
        None => match scan.tail() {
            Ok(tail) => return Ok((tail, None)),
            Err(e) if opts.accept_lost_tail && e.is_loss() => scan.cut(e.to_string())?,
            Err(e) => return Err(e),
        },
    };
    let kept = set_aside(opts, scan, &cut.tail)?;
    let lost = LostTail {
        file: scan.source.path.clone(),
        offset: scan.source.offset_of(cut.tail.end),
        lsn: cut.tail.end,
        why: cut.tail.why.clone(),
        commits: cut.last_seen - scan.seq,
        kept,
    };
    let tail = TailEnd {
        // Set aside already.
        later: Vec::new(),
        later_dirty: false,
        ..cut.tail
    };
    Ok((tail, Some(lost)))
}

/// The segments before the one that is written to, open for reading.
fn closed_segments(
    disk: &dyn Disk,
    dir: &Path,
    scan: &Scanner,
    current: Lsn,
) -> Result<BTreeMap<Lsn, Arc<Segment>>, LogError> {
    let mut segments = BTreeMap::new();
    for &start in scan.segments.iter().filter(|&&s| s < current) {
        let path = dir.join(segment_name(start));
        let file = disk
            .open_read(&path)
            .map_err(|e| LogError::io("open", &path, e))?;
        let len = file.len().map_err(|e| LogError::io("stat", &path, e))?;
        segments.insert(start, Arc::new(closed_segment(start, path, file, len)));
    }
    Ok(segments)
}

fn closed_segment(start: Lsn, path: PathBuf, file: Arc<dyn crate::DiskFile>, len: u64) -> Segment {
    Segment {
        start,
        path,
        file,
        cap_end: AtomicU64::new(start),
        ready_end: AtomicU64::new(start + len.saturating_sub(SEGMENT_HEADER_LEN)),
        header: None,
        first_seq: AtomicU64::new(0),
    }
}

fn create(
    opts: LogOptions,
    from: Option<(Lsn, Seq)>,
    lock: Box<dyn Send + Sync>,
) -> Result<OpenLog, LogError> {
    if let Some((lsn, _)) = from {
        return Err(LogError::Corrupt(Corruption {
            file: opts.dir.clone(),
            offset: 0,
            lsn,
            reason: "there is no log here, but a checkpoint stands in one".into(),
        }));
    }
    fresh(opts, FIRST_LSN, 0, lock)
}

/// Makes a log whose first record is at `start`, behind commit `seq`.
fn fresh(
    opts: LogOptions,
    start: Lsn,
    seq: Seq,
    lock: Box<dyn Send + Sync>,
) -> Result<OpenLog, LogError> {
    let log_id = rand::random();
    let cap = opts.segment_cap();
    let header = SegmentHeader {
        log_id,
        start,
        durable: start,
        allocated: 0,
    };
    let ready = opts.initial_ready(cap, 0);
    let current = Arc::new(Segment::create(&*opts.disk, &opts.dir, header, cap, ready)?);
    Ok(OpenLog {
        report: OpenReport {
            created: true,
            clean_shutdown: true,
            from: start,
            end_lsn: start,
            last_seq: seq,
            records: 0,
            commits: 0,
            bytes: 0,
            torn: None,
            lost: None,
        },
        opts,
        log_id,
        segments: BTreeMap::from([(start, current.clone())]),
        current,
        lock,
    })
}

/// The log is lost from before the checkpoint on: begins a new one where the checkpoint stands.
fn begin_again(
    opts: LogOptions,
    from: Option<(Lsn, Seq)>,
    lock: Box<dyn Send + Sync>,
    why: String,
) -> Result<OpenLog, LogError> {
    let (lsn, seq) = from.unwrap_or((FIRST_LSN, 0));
    let (disk, dir) = (&*opts.disk, &opts.dir);
    let mut kept = Vec::new();
    for start in list_segments(disk, dir, true)? {
        kept.push(rename_lost(disk, dir, start)?);
    }
    disk.sync_dir(dir)
        .map_err(|e| LogError::io("sync", dir, e))?;
    let mut open = fresh(opts, lsn, seq, lock)?;
    open.report.created = false;
    open.report.clean_shutdown = false;
    open.report.lost = Some(LostTail {
        file: open.current.path.clone(),
        offset: SEGMENT_HEADER_LEN,
        lsn,
        why,
        commits: 0,
        kept,
    });
    Ok(open)
}

/// Gives a segment that is lost to the log a name that is no segment's.
fn rename_lost(disk: &dyn Disk, dir: &Path, start: Lsn) -> Result<PathBuf, LogError> {
    let (from, to) = (dir.join(segment_name(start)), lost_name(disk, dir, start)?);
    disk.rename(&from, &to)
        .map_err(|e| LogError::io("rename", &from, e))?;
    Ok(to)
}

/// A name for what is lost of a segment. LSNs behind a cut are used again, so there may be others like it.
fn lost_name(disk: &dyn Disk, dir: &Path, start: Lsn) -> Result<PathBuf, LogError> {
    for n in 0u32.. {
        let suffix = if n == 0 {
            String::new()
        } else {
            format!(".{n}")
        };
        let path = dir.join(format!("{}.lost{suffix}", segment_name(start)));
        let taken = disk
            .exists(&path)
            .map_err(|e| LogError::io("look for", &path, e))?;
        if !taken {
            return Ok(path);
        }
    }
    Err(LogError::Misuse("no free name for a lost segment"))
}

/// Before a cut: takes later segments out of the log, last one first, and keeps a copy of the one that is cut.
fn set_aside(opts: &LogOptions, scan: &Scanner, tail: &TailEnd) -> Result<Vec<PathBuf>, LogError> {
    let (disk, dir) = (&*opts.disk, &opts.dir);
    let mut kept = Vec::new();
    for &start in tail.later.iter().rev() {
        kept.push(rename_lost(disk, dir, start)?);
        disk.sync_dir(dir)
            .map_err(|e| LogError::io("sync", dir, e))?;
    }
    if tail.dirty_end > tail.end {
        let copy = lost_name(disk, dir, scan.source.start)?;
        match copy_file(disk, &*scan.source.file, &copy) {
            Ok(()) => kept.push(copy),
            // Room for service matters more than room for a copy.
            Err(e) if is_no_space(&e) => {
                let _ = disk.remove(&copy);
            }
            Err(e) => return Err(LogError::io("write", &copy, e)),
        }
    }
    kept.reverse();
    Ok(kept)
}

fn copy_file(disk: &dyn Disk, from: &dyn crate::DiskFile, to: &Path) -> std::io::Result<()> {
    let to = disk.create(to)?;
    let mut buf = vec![0; 1 << 20];
    let mut at = 0;
    loop {
        let n = from.read_at(&mut buf, at)?;
        if n == 0 {
            return to.sync_data();
        }
        to.write_at(&buf[..n], at)?;
        at += n as u64;
    }
}

/// Writes the bytes `[from, to)` of a file over themselves, so that a sync has something to write.
///
/// What was read after a kill may exist in the page cache only, and after a failed sync the kernel takes such pages for
/// clean: another sync would succeed without writing them.
fn write_again(file: &dyn crate::DiskFile, from: u64, to: u64) -> std::io::Result<()> {
    let mut buf = vec![0; (1 << 20).min(to.saturating_sub(from) as usize)];
    let mut at = from;
    while at < to {
        let n = buf.len().min((to - at) as usize);
        let n = file.read_at(&mut buf[..n], at)?;
        if n == 0 {
            break;
        }
        file.write_at(&buf[..n], at)?;
        at += n as u64;
    }
    Ok(())
}

/// Zeroes what lies behind the end, removes later segments, and makes everything that was read durable: after a kill
/// it may have come from the page cache.
fn repair(
    opts: &LogOptions,
    scan: &Scanner,
    tail: &TailEnd,
) -> Result<(Segment, Option<TornTail>), LogError> {
    let (disk, dir) = (&*opts.disk, &opts.dir);
    for &start in tail.later.iter().rev() {
        let path = dir.join(segment_name(start));
        disk.remove(&path)
            .map_err(|e| LogError::io("remove", &path, e))?;
        disk.sync_dir(dir)
            .map_err(|e| LogError::io("sync", dir, e))?;
    }
    // The segments that were full before the current one and may not be durable to their ends.
    let unproven = scan.segments.partition_point(|&s| s <= scan.proven);
    for &start in scan.segments[..scan.index]
        .iter()
        .skip(unproven.saturating_sub(1))
    {
        let path = dir.join(segment_name(start));
        disk.open(&path)
            .and_then(|f| {
                let len = f.len()?;
                let at = SEGMENT_HEADER_LEN + scan.proven.saturating_sub(start);
                write_again(&*f, at.min(len), len)?;
                f.sync_data()
            })
            .map_err(|e| LogError::io("write again and sync", &path, e))?;
    }
    let (path, start) = (scan.source.path.clone(), scan.source.start);
    let file = disk
        .open(&path)
        .map_err(|e| LogError::io("open", &path, e))?;
    let offset = SEGMENT_HEADER_LEN + (tail.end - start);
    write_again(
        &*file,
        SEGMENT_HEADER_LEN + scan.proven.clamp(start, tail.end) - start,
        offset,
    )
    .map_err(|e| LogError::io("write again", &path, e))?;
    let dirty = tail.dirty_end - tail.end;
    zero(&*file, offset, dirty).map_err(|e| LogError::io("zero the tail of", &path, e))?;
    let len = file.len().map_err(|e| LogError::io("stat", &path, e))?;
    let header = Segment::read_header(&*file, &path)?;
    // A crash while the file grew may have left unallocated blocks. And what the header does not vouch for may be long in
    // the page cache only, see `write_again`: so it is written before it is noted.
    let mut ready_end = start + (len - SEGMENT_HEADER_LEN);
    let mut sure = len;
    let vouched = header.allocated.clamp(offset.min(len), len);
    let grown = match len.checked_sub(offset).filter(|n| *n > 0) {
        Some(n) => file
            .allocate(offset, n)
            .and_then(|()| zero(&*file, vouched, len - vouched)),
        None => Ok(()),
    };
    if let Err(e) = grown {
        if !is_no_space(&e) {
            return Err(LogError::io("allocate", &path, e));
        }
        ready_end = tail.end;
        sure = header.allocated.min(len);
    }
    file.sync_data()
        .map_err(|e| LogError::io("sync", &path, e))?;
    let cap = opts.segment_cap().max(len - SEGMENT_HEADER_LEN);
    let torn = (dirty > 0 || tail.later_dirty).then(|| TornTail {
        file: path.clone(),
        offset,
        bytes: dirty,
        why: tail.why.clone(),
    });
    let segment = Segment {
        start,
        path,
        file,
        cap_end: AtomicU64::new(start + cap),
        ready_end: AtomicU64::new(ready_end),
        header: Some(header),
        first_seq: AtomicU64::new(0),
    };
    if header.allocated != sure {
        segment.note_length(sure);
    }
    if header.allocated > len {
        // It was cut and that was accepted: once is enough.
        segment
            .file
            .sync_data()
            .map_err(|e| LogError::io("sync", &segment.path, e))?;
    }
    Ok((segment, torn))
}

impl OpenLog {
    /// Makes the log usable, with the caller's order state as it stands after the replay.
    pub fn start<S: Send + 'static>(self, state: S) -> Result<Log<S>, LogError> {
        let r = &self.report;
        let with_threads = self.opts.background;
        let core = Arc::new(Core {
            log_id: self.log_id,
            mode: AtomicU8::new(self.opts.durability as u8),
            wait_count: AtomicU32::new(self.opts.commit_wait_count),
            wait_usec: AtomicU32::new(self.opts.commit_wait_usec),
            ferry: Ferry::new(self.opts.commit_wait_auto),
            overlap: Overlap::new(self.opts.parallel_syncs),
            written: AtomicU64::new(r.end_lsn),
            durable: AtomicU64::new(r.end_lsn),
            visible: AtomicU64::new(r.last_seq),
            failed: OnceLock::new(),
            closed: AtomicBool::new(false),
            segments: Mutex::new(self.segments),
            maintenance: Mutex::new(()),
            graves: Mutex::default(),
            counters: Counters::default(),
            gate: GateState::default(),
            second: Second::default(),
            progress: Progress::default(),
            _lock: LockFile(self.lock),
            opts: self.opts,
        });
        let inner = Arc::new(Inner {
            order: Mutex::new(Order {
                state,
                next_lsn: r.end_lsn,
                last_seq: r.last_seq,
                queue: VecDeque::new(),
                published: 0,
                segment: self.current.clone(),
                next_segment: None,
                last_real_end: r.end_lsn,
                marked: r.clean_shutdown,
                since: Instant::now(),
                busy: false,
                fresh_segment: r.end_lsn <= self.current.start + START_LEN,
            }),
            core,
            leading: AtomicBool::new(false),
            flights: Flights::default(),
            lanes: Mutex::new(Lanes::new(self.current)),
            gathered: AtomicU32::new(0),
            gather_target: AtomicU32::new(0),
            gatherer: Mutex::new(None),
            chunk_bytes: AtomicU64::new(0),
            aside: Mutex::new(()),
            background: Background::default(),
        });
        let threads = if with_threads {
            threads::start(&inner)?
        } else {
            Vec::new()
        };
        Ok(Log {
            inner,
            threads: Mutex::new(threads),
        })
    }
}

/// Whether `dir` holds a log.
pub fn log_exists(opts: &LogOptions) -> Result<bool, LogError> {
    let there = opts
        .disk
        .exists(&opts.dir)
        .map_err(|e| LogError::io("look for", &opts.dir, e))?;
    Ok(there && !list_segments(&*opts.disk, &opts.dir, false)?.is_empty())
}
