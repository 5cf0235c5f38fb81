//! Row locks of huge transactions, out of memory: sorted files of lock names.
//!
//! A *segment* is one immutable file: pages of 4 KiB, each with up to 255 names (16 bytes, little-endian) in ascending
//! order, zeros, and in the last eight bytes the number of names and the CRC32C of all before it and of the page's
//! number. In memory a segment has the first half of each page's first name, and a Bloom filter. A transaction's
//! segments are merged, [`FAN_IN`] of about the same size at a time, so that there are few of them.
//!
//! The files are worth nothing after a restart: they are not synced, and opening the database removes them.

use crate::locks::types::{LockName, LockOwner};
use crate::{EngineError, Result};
use arc_swap::ArcSwap;
use narwal_log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names of lock files start with this.
pub(crate) const LOCK_FILE_PREFIX: &str = "locks-";
const PAGE: usize = 4096;
const NAMES: usize = 255;
const TAIL: usize = PAGE - 8;
/// Pages handed to the file system in one call.
const IO_PAGES: usize = 32;
/// So many segments of a size become one.
const FAN_IN: usize = 8;
const BITS_PER_NAME: u64 = 10;
/// Larger filters do not grow with the segment; they let more names pass to the file.
const MAX_FILTER_BITS: u64 = 128 << 20;

/// Where files go.
pub(crate) struct SpillPlace {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: PathBuf,
    next: AtomicU64,
}

impl SpillPlace {
    pub(super) fn new(disk: Arc<dyn Disk>, dir: PathBuf) -> Self {
        SpillPlace {
            disk,
            dir,
            next: AtomicU64::new(1),
        }
    }
}

fn io_err(path: &Path, e: &io::Error) -> EngineError {
    if matches!(e.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
        || e.kind() == io::ErrorKind::StorageFull
    {
        return EngineError::DiskFull(format!("{}: {e}", path.display()));
    }
    EngineError::Io(format!("{}: {e}", path.display()))
}

/// A Bloom filter over lock names, which are hashes already.
struct Filter {
    words: Box<[u64]>,
    probes: u32,
}

impl Filter {
    fn new(names: u64, max_bits: u64) -> Self {
        let bits = (names * BITS_PER_NAME)
            .min(max_bits)
            .next_multiple_of(64)
            .max(64);
        // ln 2 * bits per name is the best number of probes.
        let probes = (bits * 7 / 10 / names.max(1)).clamp(1, 7) as u32;
        Filter {
            words: vec![0; (bits / 64) as usize].into_boxed_slice(),
            probes,
        }
    }

    fn bits(&self, name: LockName) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (h, step) = (name as u64, (name >> 64) as u64 | 1);
        let n = self.words.len() as u64 * 64;
        (0..u64::from(self.probes)).map(move |i| {
            let bit = h.wrapping_add(step.wrapping_mul(i)) % n;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    fn add(&mut self, name: LockName) {
        for (w, m) in self.bits(name) {
            self.words[w] |= m;
        }
    }

    fn may_contain(&self, name: LockName) -> bool {
        self.bits(name).all(|(w, m)| self.words[w] & m != 0)
    }
}

/// One file. Dropping it removes the file.
pub(crate) struct Segment {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    names: u64,
    /// First half of the first name of each page.
    fences: Vec<u64>,
    filter: Filter,
    /// How many times its names have been merged.
    level: u32,
}

impl Drop for Segment {
    fn drop(&mut self) {
        // What stays is removed at the next start.
        let _ = self.disk.remove(&self.path);
    }
}

fn high(name: LockName) -> u64 {
    (name >> 64) as u64
}

fn page_crc(page: &[u8], number: u64) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&number.to_le_bytes()), &page[..TAIL + 4])
}

impl Segment {
    /// Reads pages from number `from` on into `buf`; checks them.
    fn read_pages(&self, from: usize, buf: &mut [u8]) -> Result<()> {
        let n = self
            .file
            .read_at(buf, from as u64 * PAGE as u64)
            .map_err(|e| io_err(&self.path, &e))?;
        for (i, page) in buf.chunks_exact(PAGE).enumerate() {
            let crc = u32::from_le_bytes([
                page[PAGE - 4],
                page[PAGE - 3],
                page[PAGE - 2],
                page[PAGE - 1],
            ]);
            if (i + 1) * PAGE > n || crc != page_crc(page, (from + i) as u64) {
                return Err(EngineError::Corrupt(format!(
                    "{}: page {} of a lock file is damaged",
                    self.path.display(),
                    from + i
                )));
            }
        }
        Ok(())
    }

    fn contains(&self, name: LockName) -> Result<bool> {
        if !self.filter.may_contain(name) {
            return Ok(false);
        }
        let h = high(name);
        // The last page that starts below the name, and those that start with the same half.
        let mut page = self.fences.partition_point(|f| *f < h).saturating_sub(1);
        let mut buf = [0u8; PAGE];
        while self.fences.get(page).is_some_and(|f| *f <= h) {
            self.read_pages(page, &mut buf)?;
            if page_names(&buf).any(|n| n == name) {
                return Ok(true);
            }
            page += 1;
        }
        Ok(false)
    }
}

fn page_names(page: &[u8]) -> impl Iterator<Item = LockName> + '_ {
    let n = u32::from_le_bytes([page[TAIL], page[TAIL + 1], page[TAIL + 2], page[TAIL + 3]]);
    page.chunks_exact(16)
        .take((n as usize).min(NAMES))
        .map(|c| {
            let mut b = [0; 16];
            b.copy_from_slice(c);
            u128::from_le_bytes(b)
        })
}

/// Writes a segment. Dropped unfinished, it removes its file.
struct Writer {
    segment: Segment,
    page: Vec<LockName>,
    out: Vec<u8>,
    pages: u64,
}

impl Writer {
    /// `names`: how many will come, at most.
    fn create(place: &SpillPlace, owner: LockOwner, names: u64, level: u32) -> Result<Writer> {
        let number = place.next.fetch_add(1, Ordering::Relaxed);
        let path = place
            .dir
            .join(format!("{LOCK_FILE_PREFIX}{owner}-{number}"));
        let file = place.disk.create(&path).map_err(|e| io_err(&path, &e))?;
        Ok(Writer {
            segment: Segment {
                disk: place.disk.clone(),
                file,
                path,
                names: 0,
                fences: Vec::with_capacity(names as usize / NAMES + 1),
                filter: Filter::new(names, MAX_FILTER_BITS),
                level,
            },
            page: Vec::with_capacity(NAMES),
            out: Vec::with_capacity(PAGE * IO_PAGES),
            pages: 0,
        })
    }

    /// Adds a name; they come in ascending order.
    fn push(&mut self, name: LockName) -> Result<()> {
        if self.page.is_empty() {
            self.segment.fences.push(high(name));
        }
        self.segment.filter.add(name);
        self.segment.names += 1;
        self.page.push(name);
        if self.page.len() == NAMES {
            self.close_page()?;
        }
        Ok(())
    }

    fn close_page(&mut self) -> Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let at = self.out.len();
        for n in &self.page {
            self.out.extend_from_slice(&n.to_le_bytes());
        }
        self.out.resize(at + TAIL, 0);
        self.out
            .extend_from_slice(&(self.page.len() as u32).to_le_bytes());
        let crc = page_crc(&self.out[at..], self.pages);
        self.out.extend_from_slice(&crc.to_le_bytes());
        self.pages += 1;
        self.page.clear();
        if self.out.len() >= PAGE * IO_PAGES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let at = self.pages * PAGE as u64 - self.out.len() as u64;
        self.segment
            .file
            .write_at(&self.out, at)
            .map_err(|e| io_err(&self.segment.path, &e))?;
        self.out.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Arc<Segment>> {
        self.close_page()?;
        self.flush()?;
        Ok(Arc::new(self.segment))
    }
}

/// Reads a segment's names in order.
struct Reader {
    segment: Arc<Segment>,
    next_page: usize,
    names: std::vec::IntoIter<LockName>,
}

impl Reader {
    fn new(segment: Arc<Segment>) -> Self {
        Reader {
            segment,
            next_page: 0,
            names: Vec::new().into_iter(),
        }
    }

    fn next(&mut self) -> Result<Option<LockName>> {
        if let Some(n) = self.names.next() {
            return Ok(Some(n));
        }
        let pages = (self.segment.fences.len() - self.next_page).min(IO_PAGES);
        if pages == 0 {
            return Ok(None);
        }
        let mut buf = vec![0; pages * PAGE];
        self.segment.read_pages(self.next_page, &mut buf)?;
        self.next_page += pages;
        let names: Vec<LockName> = buf.chunks_exact(PAGE).flat_map(page_names).collect();
        self.names = names.into_iter();
        Ok(self.names.next())
    }
}

/// What a transaction has spilled.
pub(crate) struct OwnerSpill {
    pub(super) owner: LockOwner,
    segments: ArcSwap<Vec<Arc<Segment>>>,
    /// Spilled names that others asked for and that are therefore in memory again; `None`: all is released.
    pub(super) back: Mutex<Option<Vec<LockName>>>,
}

impl OwnerSpill {
    pub(super) fn new(owner: LockOwner) -> Self {
        OwnerSpill {
            owner,
            segments: ArcSwap::default(),
            back: Mutex::new(Some(Vec::new())),
        }
    }

    /// Whether a name was spilled.
    pub(super) fn contains(&self, name: LockName) -> Result<bool> {
        for s in self.segments.load().iter() {
            if s.contains(name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Number of spilled names.
    pub(super) fn len(&self) -> u64 {
        self.segments.load().iter().map(|s| s.names).sum()
    }

    #[cfg(test)]
    pub(super) fn segments(&self) -> usize {
        self.segments.load().len()
    }

    /// Writes names to a file and publishes it. Only the owner calls this. `names` are sorted.
    pub(super) fn add(&self, place: &SpillPlace, names: &[LockName]) -> Result<()> {
        let mut w = Writer::create(place, self.owner, names.len() as u64, 0)?;
        for &n in names {
            w.push(n)?;
        }
        let mut segments = self.segments.load().as_ref().clone();
        segments.push(w.finish()?);
        self.segments.store(Arc::new(segments));
        Ok(())
    }

    /// Merges segments as long as there are [`FAN_IN`] of a level. What others see does not change.
    pub(super) fn merge(&self, place: &SpillPlace) -> Result<()> {
        loop {
            let segments = self.segments.load().as_ref().clone();
            let Some(level) = segments.last().map(|s| s.level) else {
                return Ok(());
            };
            // Levels fall from the first to the last.
            let from = segments.partition_point(|s| s.level > level);
            let mut rest = segments;
            let merged = rest.split_off(from);
            if merged.len() < FAN_IN {
                return Ok(());
            }
            let total = merged.iter().map(|s| s.names).sum();
            let mut w = Writer::create(place, self.owner, total, level + 1)?;
            let mut readers = Vec::with_capacity(merged.len());
            for s in merged {
                let mut r = Reader::new(s);
                if let Some(n) = r.next()? {
                    readers.push((n, r));
                }
            }
            let mut last = None;
            while let Some(i) = (0..readers.len()).min_by_key(|i| readers[*i].0) {
                let (name, r) = &mut readers[i];
                if last.replace(*name) != Some(*name) {
                    w.push(*name)?;
                }
                match r.next()? {
                    Some(n) => *name = n,
                    None => {
                        readers.swap_remove(i);
                    }
                }
            }
            rest.push(w.finish()?);
            self.segments.store(Arc::new(rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_log::sim::SimDisk;
    use rand::{Rng, SeedableRng};

    #[test]
    fn a_filter_that_may_not_grow_still_misses_no_name() {
        let mut rng = rand::rngs::StdRng::seed_from_u64(4);
        let names: Vec<LockName> = (0..2000).map(|_| rng.random()).collect();
        for max in [64, 2000, 8000, u64::MAX] {
            let mut f = Filter::new(names.len() as u64, max);
            names.iter().for_each(|n| f.add(*n));
            assert!(names.iter().all(|n| f.may_contain(*n)));
            let hits = (0..2000).filter(|_| f.may_contain(rng.random())).count();
            assert!(max < 10_000 || hits < 80, "{hits} of 2000 at {max} bits");
        }
    }

    #[test]
    fn names_are_found_in_merged_files_and_damage_is_noticed() {
        let sim = SimDisk::new();
        let disk: Arc<dyn Disk> = Arc::new(sim);
        let dir = Path::new("/s");
        disk.create_dir_all(dir).unwrap();
        let place = SpillPlace::new(disk.clone(), dir.into());
        let spill = OwnerSpill::new(9);
        let mut rng = rand::rngs::StdRng::seed_from_u64(5);
        let mut all = Vec::new();
        for round in 0..FAN_IN * FAN_IN + 3 {
            // Names with equal halves, too, over more than one page.
            let mut names: Vec<LockName> = (0..300u128)
                .map(|i| (7 << 64) | (i * 1000 + round as u128))
                .chain((0..300).map(|_| rng.random()))
                .collect();
            names.sort_unstable();
            spill.add(&place, &names).unwrap();
            spill.merge(&place).unwrap();
            all.extend(names);
        }
        assert_eq!(spill.segments(), 4);
        assert_eq!(disk.list(dir).unwrap().len(), 4);
        assert_eq!(spill.len(), all.len() as u64);
        assert!(all.iter().all(|n| spill.contains(*n).unwrap()));
        assert!((0..3000).all(|_| !spill.contains(rng.random()).unwrap()));
        assert!(!spill.contains((7 << 64) | 999).unwrap());
        for name in disk.list(dir).unwrap() {
            let f = disk.open(&dir.join(name)).unwrap();
            f.write_at(&[0xff; 3], 17).unwrap();
        }
        let damaged = |n: &&LockName| matches!(spill.contains(**n), Err(EngineError::Corrupt(_)));
        assert!(all.iter().filter(damaged).count() >= 255);
        drop(spill);
        assert!(disk.list(dir).unwrap().is_empty());
    }
}
