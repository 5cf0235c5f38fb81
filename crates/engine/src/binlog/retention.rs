//! Retention: what may go, what keeps it, and making it go. Nothing here runs in a commit.
//!
//! A purge first moves the *logical* start of the binary log, a State record tells it to the next start, and then whole
//! segments go that nothing needs: no file that is left (its groups' chunks included), no recovery, no reader, no
//! running transaction.

use crate::Result;
use crate::binlog::holds::ReaderHold;
use crate::binlog::index::{FileEntry, Index};
use crate::binlog::lookup::unknown_file;
use crate::binlog::part::Binlog;
use crate::binlog::types::PurgeReport;
use crate::binlog::write::{view, write_state};
use crate::clock::now;
use crate::record::state::StateReason;
use std::sync::atomic::Ordering;

/// What should go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Files before this number.
    To(u32),
    /// Files whose last event is older than this time, from the oldest on.
    Before(u32),
    /// What the settings say.
    Auto,
}

const RECOVERY: &str =
    "recovery needs part of the purged log until the next checkpoint; it goes then";

impl Binlog {
    pub(crate) fn register_reader(&self, name: &str, lsn: u64, replica: bool) -> ReaderHold {
        self.holds.register(name, lsn, replica)
    }

    /// Something has changed that may let files go: the background should look.
    pub(crate) fn look(&self) {
        self.holds.wake.look();
    }

    /// Before a reset: what readers need of the old log stays until they are through.
    pub(super) fn keep_for_readers(&self, index: &Index, current: &FileEntry) {
        if let Some((_, lsn)) = self.holds.last() {
            let end = self.log.with_order_state(|_, at| at.lsn);
            let floor = needed_from(index, current, lsn).min(lsn);
            let mut kept = self.settings.kept.lock();
            let floor = kept.map_or(floor, |k| k.0.min(floor));
            *kept = Some((floor, end));
        }
    }
}

/// Lowest LSN that the files need in which `lsn` and what follows stand.
fn needed_from(index: &Index, current: &FileEntry, lsn: u64) -> u64 {
    let n = index.files.partition_point(|f| f.first_lsn <= lsn);
    index
        .files
        .range(n.saturating_sub(1)..)
        .chain([current])
        .map(|f| f.needed_lsn)
        .min()
        .unwrap_or(u64::MAX)
}

/// Purges. An error if the file of [`Target::To`] is not there.
pub(crate) fn purge(db: &Binlog, target: Target, name: &str) -> Result<PurgeReport> {
    let admin = db.admin.lock();
    let mut report = PurgeReport::default();
    let (mut index, current) = view(db);
    let entry = |number: u32| -> Option<&FileEntry> {
        index
            .files
            .iter()
            .chain([&current])
            .find(|f| f.number == number)
    };
    let oldest = index.files.front().unwrap_or(&current).number;
    let mut keep = match target {
        Target::To(number) => entry(number).ok_or_else(|| unknown_file(name))?.number,
        Target::Before(time) => older(&index, &current, |f| f.last_time < time),
        Target::Auto => by_settings(db, &index, &current, &mut report.notes),
    };
    if keep > oldest
        && let Some((reader, lsn)) = db.holds.last()
    {
        let at = index.files.partition_point(|f| f.first_lsn <= lsn);
        let reading = match at {
            0 => oldest,
            _ if current.first_lsn <= lsn => current.number,
            n => index.files[n - 1].number,
        };
        if reading < keep {
            let file = db.log.with_order_state(|o, _| o.binlog.file_name(reading));
            report.notes.push(format!(
                "file {file} and those behind it were not purged: '{reader}' is reading it"
            ));
            keep = reading;
        }
    }
    if keep > oldest
        && let Some(lsn) = entry(keep).map(|f| f.first_lsn)
    {
        let ticket = write_state(
            db,
            StateReason::Purge,
            0,
            |_| Ok(()),
            |o, at| {
                o.track.oldest = (keep, lsn);
                db.start_moved.store(at.lsn, Ordering::Relaxed);
            },
        )?;
        report.purged_files = index.drop_before(keep, lsn);
        drop(index);
        db.log.wait(&ticket)?;
    } else {
        drop(index);
    }
    // FLUSH and RESET need not wait for the disk.
    drop(admin);
    free(db, &mut report.notes)?;
    Ok(report)
}

/// Number of the first file that is not to go, if files go from the oldest on while `goes`; never the current one.
fn older(index: &Index, current: &FileEntry, goes: impl Fn(&FileEntry) -> bool) -> u32 {
    index
        .files
        .iter()
        .find(|f| !goes(f))
        .unwrap_or(current)
        .number
}

fn by_settings(db: &Binlog, index: &Index, current: &FileEntry, notes: &mut Vec<String>) -> u32 {
    let s = &db.settings;
    let oldest = index.files.front().unwrap_or(current).number;
    let mut keep = oldest;
    let expire = s.expire_seconds.load(Ordering::Relaxed);
    if expire > 0 {
        let limit = u64::from(now()).saturating_sub(expire);
        keep = keep.max(older(index, current, |f| u64::from(f.last_time) < limit));
    }
    let total = s.total_size.load(Ordering::Relaxed);
    if total > 0 {
        let mut size = current.size + index.files.iter().map(|f| f.size).sum::<u64>();
        let mut over = oldest;
        for (i, f) in index.files.iter().enumerate() {
            if size <= total {
                break;
            }
            size -= f.size;
            over = index.files.get(i + 1).unwrap_or(current).number;
        }
        keep = keep.max(over);
    }
    let needed = s.connections_needed.load(Ordering::Relaxed) as usize;
    let connected = db.holds.replicas();
    if keep > oldest && connected < needed {
        notes.push(format!(
            "binary log files that could go stay: {connected} replicas are connected, slave_connections_needed_for_purge is {needed}"
        ));
        return oldest;
    }
    keep
}

impl Binlog {
    /// The lowest LSN that the oldest binary log file, or a later one, needs.
    pub(crate) fn start(&self) -> u64 {
        let (index, current) = view(self);
        needed(&index, &current)
    }
}

fn needed(index: &Index, current: &FileEntry) -> u64 {
    let files = index.files.iter().chain([current]);
    files
        .map(|f| f.first_lsn.min(f.needed_lsn))
        .min()
        .unwrap_or(0)
}

/// Removes the segments that nothing needs; `notes`: what keeps others that no file needs.
fn free(db: &Binlog, notes: &mut Vec<String>) -> Result<()> {
    // The order of the next three looks counts. A chunk below the checkpoint was held before that was made, so its
    // transaction is seen in the second look if it still runs; and if it has let go since, by a commit that a later
    // checkpoint covers, its group is in the third.
    let checkpoint = db.checkpoint_lsn.load(Ordering::Acquire);
    let running = db.oob.oldest();
    let (index, current) = view(db);
    // The flat files need nothing of the log.
    let files = match db.flat {
        Some(_) => checkpoint,
        None => needed(&index, &current),
    };
    drop(index);
    let mut floor = files;
    let mut bound = |lsn: u64, why: &dyn Fn() -> String| {
        // Worth a word only if it keeps a segment that would go otherwise.
        if db.log.purgeable(lsn) < db.log.purgeable(files) {
            notes.push(why());
        }
        floor = floor.min(lsn);
    };
    bound(checkpoint, &|| RECOVERY.into());
    if files.saturating_sub(checkpoint) > db.segment_size {
        db.bell.want();
    }
    if let Some(lsn) = running {
        bound(lsn, &|| {
            "a running transaction has events in the purged log; it goes when that is over".into()
        });
    }
    if let Some((reader, lsn)) = db.holds.last() {
        let mut kept = db.settings.kept.lock();
        let lsn = match *kept {
            Some((need, end)) if lsn < end => lsn.min(need),
            Some(_) => {
                *kept = None;
                lsn
            }
            None => lsn,
        };
        drop(kept);
        bound(lsn, &|| {
            format!("'{reader}' is reading the purged log; it goes when that is over")
        });
    } else {
        *db.settings.kept.lock() = None;
    }
    // Only when it is known for good that files are gone may their segments go, whatever the commits' durability.
    if db.log.durable_lsn() <= db.start_moved.load(Ordering::Relaxed) {
        db.log.sync_all()?;
    }
    let purged = db.log.purge_before(floor)?;
    if purged.held > 0 {
        notes.push(format!(
            "{} MiB on disk are given back when those who are reading them are through",
            purged.held.div_ceil(1 << 20)
        ));
    }
    Ok(())
}

/// After a checkpoint: what only recovery needed may go. The checkpoint does not wait for it.
pub(crate) fn after_checkpoint(db: &Binlog) {
    if db.background {
        db.look();
    } else if let Err(e) = free(db, &mut Vec::new()) {
        tracing::warn!("removing log segments: {e}");
    }
}

/// At the start: files whose log is gone (given up, or removed by hand) are not listed any more.
pub(crate) fn drop_missing(db: &Binlog) -> Result<()> {
    let start = db.log.oldest_lsn();
    let whole = |f: &FileEntry| f.first_lsn >= start && !(1..start).contains(&f.needed_lsn);
    let (index, current) = view(db);
    if index.files.iter().chain([&current]).all(whole) {
        return Ok(());
    }
    let first = index
        .files
        .iter()
        .rposition(|f| !whole(f))
        .map_or(&current, |i| index.files.get(i + 1).unwrap_or(&current));
    let mut number = first.number;
    drop(index);
    if !whole(&current) {
        crate::binlog::admin::flush(db, &[])?;
        number = view(db).1.number;
    }
    let report = purge(db, Target::To(number), "")?;
    tracing::warn!(
        "{} binary log files are not listed any more: the log before LSN {start} is gone",
        report.purged_files
    );
    Ok(())
}

/// Ends that thread after what it is doing.
pub(crate) fn stop(db: &Binlog) {
    db.holds.wake.stop();
    let thread = db.settings.thread.lock().take();
    if let Some(t) = thread
        && t.thread().id() != std::thread::current().id()
    {
        let _ = t.join();
    }
}

/// One look of the background's.
pub(crate) fn tick(db: &Binlog) {
    if db.log.failed().is_some() {
        return;
    }
    let report = match purge(db, Target::Auto, "") {
        Ok(report) => report,
        Err(e) => {
            tracing::warn!("purging the binary log: {e}");
            return;
        }
    };
    if report.purged_files > 0 {
        tracing::info!("purged {} binary log files", report.purged_files);
    }
    let mut said = db.settings.said.lock();
    for note in report.notes.iter().filter(|n| !said.contains(n)) {
        if note == RECOVERY {
            continue; // in the nature of things
        }
        tracing::info!("retention of the binary log: {note}");
    }
    *said = report.notes;
}
