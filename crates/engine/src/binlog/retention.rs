//! Retention: what may go, what keeps it, and making it go. Nothing here runs in a commit.
//!
//! A purge first moves the *logical* start of the binary log, a State record tells it to the next start, and then whole
//! segments go that nothing needs: no file that is left (its groups' chunks included), no recovery, no reader, no
//! running transaction.

use super::api::PurgeReport;
use super::index::{FileEntry, Index};
use super::lookup::unknown_file;
use super::state_record::StateReason;
use super::{Binlog, now, view, write_state};
use crate::Result;
use crate::db::Inner;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Keeps the log from some LSN on while a reader needs it. Dropped: released.
#[derive(Debug)]
pub struct ReaderHold {
    holds: Arc<Holds>,
    id: u64,
}

impl ReaderHold {
    /// The reader needs nothing below `lsn` any more.
    pub fn advance(&self, lsn: u64) {
        if let Some((_, at)) = self.holds.map.lock().get_mut(&self.id) {
            *at = (*at).max(lsn);
        }
    }

    /// From where on the log is kept.
    #[must_use]
    pub fn lsn(&self) -> u64 {
        self.holds.map.lock().get(&self.id).map_or(0, |h| h.1)
    }
}

impl Drop for ReaderHold {
    fn drop(&mut self) {
        self.holds.map.lock().remove(&self.id);
        self.holds.released.store(true, Ordering::Relaxed);
    }
}

/// All readers by a number: name and LSN.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    map: Mutex<BTreeMap<u64, (String, u64)>>,
    next: AtomicU64,
    released: AtomicBool,
}

impl Holds {
    pub(crate) fn register(self: &Arc<Self>, name: &str, lsn: u64) -> ReaderHold {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.map.lock().insert(id, (name.to_owned(), lsn));
        ReaderHold {
            holds: self.clone(),
            id,
        }
    }

    fn len(&self) -> usize {
        self.map.lock().len()
    }

    /// The reader that is furthest behind.
    fn last(&self) -> Option<(String, u64)> {
        self.map.lock().values().min_by_key(|h| h.1).cloned()
    }
}

/// What the options say, and the background's memory.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) expire_seconds: AtomicU64,
    pub(crate) total_size: AtomicU64,
    pub(crate) connections_needed: AtomicU32,
    /// Something has changed that may let files go.
    pub(crate) look: AtomicBool,
    /// When the background has looked last, seconds.
    looked: AtomicU32,
    /// The old log of a RESET MASTER: needed from here on while a reader is below there.
    kept: Mutex<Option<(u64, u64)>>,
}

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

/// Seconds between two looks at the age of files.
const LOOK_EVERY: u32 = 10;

impl Binlog {
    pub(crate) fn register_reader(&self, name: &str, lsn: u64) -> ReaderHold {
        self.holds.register(name, lsn)
    }

    /// Before a reset: what readers need of the old log stays until they are through.
    pub(super) fn keep_for_readers(&self, db: &Inner, index: &Index) {
        if let Some((_, lsn)) = self.holds.last() {
            let end = db.log.with_order_state(|_, at| at.lsn);
            let floor = needed_from(index, lsn).min(lsn);
            let mut kept = self.settings.kept.lock();
            let floor = kept.map_or(floor, |k| k.0.min(floor));
            *kept = Some((floor, end));
        }
    }
}

/// Lowest LSN that the files need in which `lsn` and what follows stand.
fn needed_from(index: &Index, lsn: u64) -> u64 {
    let n = index.files.partition_point(|f| f.first_lsn <= lsn);
    index
        .files
        .range(n.saturating_sub(1)..)
        .map(|f| f.needed_lsn)
        .min()
        .unwrap_or(u64::MAX)
}

/// Purges. An error if the file of [`Target::To`] is not there.
pub(crate) fn purge(db: &Arc<Inner>, target: Target, name: &str) -> Result<PurgeReport> {
    let _admin = db.binlog.admin.lock();
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
        Target::Auto => by_settings(db, &index, &current),
    };
    if keep > oldest
        && let Some((reader, lsn)) = db.binlog.holds.last()
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
            |o, _| o.track.oldest = (keep, lsn),
        )?;
        report.purged_files = index.drop_before(keep, lsn);
        drop(index);
        // Only when it is known for good that they are gone may their segments go.
        db.log.wait(&ticket)?;
    } else {
        drop(index);
    }
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

fn by_settings(db: &Inner, index: &Index, current: &FileEntry) -> u32 {
    let s = &db.binlog.settings;
    let oldest = index.files.front().unwrap_or(current).number;
    let needed = s.connections_needed.load(Ordering::Relaxed) as usize;
    if db.binlog.holds.len() < needed {
        return oldest;
    }
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
    keep
}

/// Removes the segments that nothing needs; `notes`: what keeps others that no file needs.
fn free(db: &Inner, notes: &mut Vec<String>) -> Result<()> {
    // A running transaction commits first and lets go then: looked at in this order none is missed.
    let running = db.oob.oldest();
    let (index, current) = view(db);
    let files = index
        .files
        .iter()
        .chain([&current])
        .map(|f| f.first_lsn.min(f.needed_lsn))
        .min()
        .unwrap_or(0);
    drop(index);
    let mut floor = files;
    let mut bound = |lsn: u64, why: &dyn Fn() -> String| {
        if lsn < floor {
            floor = lsn;
            notes.push(why());
        }
    };
    bound(db.checkpoint_lsn.load(Ordering::Relaxed), &|| {
        "recovery needs part of the purged log until the next checkpoint; it goes then".into()
    });
    if let Some(lsn) = running {
        bound(lsn, &|| {
            "a running transaction has events in the purged log; it goes when that is over".into()
        });
    }
    if let Some((reader, lsn)) = db.binlog.holds.last() {
        let mut kept = db.binlog.settings.kept.lock();
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
        *db.binlog.settings.kept.lock() = None;
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

/// After a checkpoint: what only recovery needed may go.
pub(crate) fn after_checkpoint(db: &Inner) {
    if let Err(e) = free(db, &mut Vec::new()) {
        tracing::warn!("removing log segments: {e}");
    }
}

/// What the background does now and then.
pub(crate) fn tick(db: &Arc<Inner>) {
    let s = &db.binlog.settings;
    let time = now();
    let asked = s.look.swap(false, Ordering::Relaxed)
        | db.binlog.holds.released.swap(false, Ordering::Relaxed);
    let timed = time.wrapping_sub(s.looked.load(Ordering::Relaxed)) >= LOOK_EVERY;
    if !asked && !timed {
        return;
    }
    s.looked.store(time, Ordering::Relaxed);
    match purge(db, Target::Auto, "") {
        Ok(report) if report.purged_files > 0 => {
            tracing::info!("purged {} binary log files", report.purged_files);
        }
        Ok(_) => {}
        Err(e) => tracing::warn!("purging the binary log: {e}"),
    }
}
