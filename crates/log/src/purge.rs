//! Retention: takes whole segments away, oldest first, beside the commit path.
//!
//! A segment first loses its name (`wal.<start>` becomes `wal.<start>.gone`), then the folder is synced, then the bytes
//! go, in steps, once no reader of this process has the file open any more. No lock that a commit could want is held
//! while the disk works. A `.gone` file means that everything up to it is purged, in whatever order a crash kept the
//! renames. Opening a folder goes by that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Lsn;
use crate::core::Core;
use crate::disk::Disk;
use crate::error::LogError;
use crate::graves::Graves;
use crate::segment::{
    SEGMENT_HEADER_LEN, START_LEN, Segment, gone_name, list_gone, list_segments, segment_name,
};
use crate::stats::Counters;

/// Files are cut shorter by this much at a time.
const STEP: u64 = 16 << 20;
/// Between two steps the disk belongs to the commits.
const PAUSE: Duration = Duration::from_millis(2);

/// What [`crate::Log::purge_before`] took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// Segments that are no longer part of the log.
    pub segments: u64,
    /// Bytes of disk given back by this call.
    pub bytes: u64,
    /// Bytes that are given back later, because readers still have their files open.
    pub held: u64,
}

impl Core {
    /// See [`crate::Log::purge_before`].
    pub fn purge_before(&self, lsn: Lsn) -> Result<Purged, LogError> {
        let mut graves = self.graves.lock();
        let victims = self.victims(lsn);
        let mut purged = Purged::default();
        for victim in victims {
            let to = self.opts.dir.join(gone_name(victim.start));
            self.opts
                .disk
                .rename(&victim.path, &to)
                .map_err(|e| LogError::io("rename", &victim.path, e))?;
            self.segments.lock().remove(&victim.start);
            graves.unsynced = true;
            graves.gone.push(victim);
            Counters::add(&self.counters.segments_removed, 1);
            purged.segments += 1;
        }
        purged.bytes = self.reap(&mut graves, usize::MAX)?;
        purged.held = graves.gone.iter().map(|s| s.disk_bytes()).sum();
        Ok(purged)
    }

    /// The segments that nothing from `lsn` on is in.
    fn victims(&self, lsn: Lsn) -> Vec<Arc<Segment>> {
        let durable = self.durable.load(Ordering::Acquire);
        let segments = self.segments.lock();
        let mut victims = Vec::new();
        for (first, second) in segments.values().zip(segments.values().skip(1)) {
            // The next segment must have its start record on disk: it says where the numbers stand.
            if second.start > lsn || durable < second.start + START_LEN {
                break;
            }
            victims.push(first.clone());
        }
        victims
    }

    /// See [`crate::Log::purgeable`].
    pub fn purgeable(&self, lsn: Lsn) -> usize {
        self.victims(lsn).len()
    }

    /// Gives back the bytes of a few purged segments that nobody reads any more; how many.
    pub fn reap_idle(&self) -> Result<u64, LogError> {
        match self.graves.try_lock() {
            Some(mut graves) => self.reap(&mut graves, 8),
            None => Ok(0),
        }
    }

    /// Bytes of purged segments that are still there; none if somebody is at it.
    pub fn grave_bytes(&self) -> u64 {
        self.graves
            .try_lock()
            .map_or(0, |g| g.gone.iter().map(|s| s.disk_bytes()).sum())
    }

    fn reap(&self, graves: &mut Graves, most: usize) -> Result<u64, LogError> {
        if graves.gone.is_empty() {
            return Ok(0);
        }
        let (disk, dir) = (&*self.opts.disk, &self.opts.dir);
        if graves.unsynced {
            disk.sync_dir(dir)
                .map_err(|e| LogError::io("sync", dir, e))?;
            graves.unsynced = false;
        }
        let pause = if self.opts.background {
            PAUSE
        } else {
            Duration::ZERO
        };
        let mut bytes = 0;
        let (mut i, mut removed) = (0, 0);
        while i < graves.gone.len() && removed < most {
            let s = &graves.gone[i];
            // No new reader can come to it: it is not in the list of segments any more.
            if Arc::strong_count(s) > 1 || Arc::strong_count(&s.file) > 1 {
                i += 1;
                continue;
            }
            let gone = dir.join(gone_name(s.start));
            bytes += remove_in_steps(disk, &gone, pause)
                .map_err(|e| LogError::io("remove", &gone, e))?;
            graves.gone.remove(i);
            removed += 1;
        }
        Ok(bytes)
    }
}

/// Removes a file, cutting it shorter bit by bit first, so that the file system never has much to free at once.
fn remove_in_steps(disk: &dyn Disk, path: &Path, pause: Duration) -> std::io::Result<u64> {
    let file = match disk.open(path) {
        Ok(f) => f,
        // An earlier attempt got this far.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(e),
    };
    let bytes = file.len()?;
    let mut len = bytes;
    // The header stays to the end: a reader that opened the file just before must not take it for damaged.
    while len > STEP + SEGMENT_HEADER_LEN {
        len -= STEP;
        file.set_len(len)?;
        std::thread::sleep(pause);
    }
    drop(file);
    disk.remove(path)?;
    std::thread::sleep(pause);
    Ok(bytes)
}

/// Finishes what a purge had begun when the process ended. For the only user of the folder.
pub(crate) fn finish_purge(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    let gone = list_gone(disk, dir)?;
    let Some(&last) = gone.last() else {
        return Ok(());
    };
    let mut paths: BTreeMap<Lsn, PathBuf> =
        gone.iter().map(|&s| (s, dir.join(gone_name(s)))).collect();
    for start in list_segments(disk, dir, true)? {
        if start > last {
            break;
        }
        let (from, to) = (dir.join(segment_name(start)), dir.join(gone_name(start)));
        disk.rename(&from, &to)
            .map_err(|e| LogError::io("rename", &from, e))?;
        paths.insert(start, to);
    }
    disk.sync_dir(dir)
        .map_err(|e| LogError::io("sync", dir, e))?;
    // The one that speaks for the others goes last.
    for path in paths.values() {
        remove_in_steps(disk, path, Duration::ZERO).map_err(|e| LogError::io("remove", path, e))?;
    }
    Ok(())
}
