//! Reading one run file: opening and point reads.

use crate::Result;
use crate::key::{FullRange, index_of};
use crate::store::entry::Payload;
use crate::store::run::block::{Block, IndexSpan, Page, Top};
use crate::store::run::bloom;
use crate::store::run::cache::RunCache;
use crate::store::run::format::{
    HEADER_LEN, KIND_BLOCK, KIND_PAGE, KIND_TOP, MAGIC, Place, TRAILER_LEN, VERSION, corrupt,
    io_err, le32, le64, read_frame,
};
use crate::store::run::writer::RunMeta;
use narwal_log::{Disk, DiskFile};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A run file that is complete. It is immutable; any number of threads may read it.
pub(crate) struct Run {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    cache: Arc<RunCache>,
    /// Names the run in the cache.
    number: u64,
    id: u64,
    bytes: u64,
    pub(super) top: Top,
    obsolete: AtomicBool,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Run({}, {} entries, {} bytes)",
            self.path.display(),
            self.top.entries,
            self.bytes
        )
    }
}

static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Run {
    /// Opens a run file: verifies header, trailer and top; blocks are verified when they are read.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        path: &Path,
        cache: &Arc<RunCache>,
    ) -> Result<Arc<Run>> {
        let io = |e: std::io::Error| io_err(path, &e);
        let file = disk.open_read(path).map_err(io)?;
        let bytes = file.len().map_err(io)?;
        if bytes < HEADER_LEN + TRAILER_LEN {
            return Err(corrupt(path, 0, "too short for a run file"));
        }
        let mut head = [0u8; HEADER_LEN as usize];
        let mut tail = [0u8; TRAILER_LEN as usize];
        let end = bytes - TRAILER_LEN;
        let (n, m) = (
            file.read_at(&mut head, 0).map_err(io)?,
            file.read_at(&mut tail, end).map_err(io)?,
        );
        if n < head.len() || m < tail.len() {
            return Err(corrupt(path, bytes, "the file became shorter"));
        }
        if head[..8] != *MAGIC {
            return Err(corrupt(path, 0, "this is not a run file"));
        }
        if le32(&tail, 36) != Some(crc32c::crc32c(&tail[..36])) {
            return Err(corrupt(path, end, "the trailer's checksum does not fit"));
        }
        if le32(&tail, 20) != Some(VERSION) {
            return Err(corrupt(path, end, "a run file of another version"));
        }
        let id = le64(&tail, 0).unwrap_or_default();
        if le64(&head, 8) != Some(id) {
            return Err(corrupt(
                path,
                8,
                "header and trailer are of different files",
            ));
        }
        if le64(&tail, 24) != Some(bytes) {
            return Err(corrupt(
                path,
                end,
                "the file's length does not fit its trailer",
            ));
        }
        let place = Place {
            offset: le64(&tail, 8).unwrap_or_default(),
            len: le32(&tail, 16).unwrap_or_default(),
        };
        if place.offset.checked_add(u64::from(place.len)) != Some(end) {
            return Err(corrupt(
                path,
                end,
                "the trailer's place of the top does not fit",
            ));
        }
        let frame = read_frame(&*file, path, id, place, KIND_TOP)?;
        let top = Top::parse(&frame)
            .ok_or_else(|| corrupt(path, place.offset, "the top is not valid"))?;
        Ok(Arc::new(Run {
            disk: disk.clone(),
            file,
            path: path.to_path_buf(),
            cache: cache.clone(),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            id,
            bytes,
            top,
            obsolete: AtomicBool::new(false),
        }))
    }

    /// As [`Run::open`], in directory `dir`, and checks that the file is the one that `meta` describes.
    pub(crate) fn open_as(
        disk: &Arc<dyn Disk>,
        dir: &Path,
        meta: &RunMeta,
        cache: &Arc<RunCache>,
    ) -> Result<Arc<Run>> {
        let path = dir.join(&meta.name);
        let run = Run::open(disk, &path, cache)?;
        if run.id != meta.id || run.bytes != meta.bytes || run.top.entries != meta.entries {
            return Err(corrupt(&path, 0, "not the run file that the log names"));
        }
        Ok(run)
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of entries, tombstones included.
    pub(crate) fn entries(&self) -> u64 {
        self.top.entries
    }

    /// Number of tombstones.
    pub(crate) fn tombstones(&self) -> u64 {
        self.top.tombstones
    }

    /// What an annex says about this run.
    pub(crate) fn meta(&self) -> RunMeta {
        RunMeta {
            name: self
                .path
                .file_name()
                .map(|n| n.to_string_lossy().into_owned())
                .unwrap_or_default(),
            id: self.id,
            bytes: self.bytes,
            entries: self.top.entries,
        }
    }

    /// The indexes that have keys here, by index id.
    pub(crate) fn indexes(&self) -> &[IndexSpan] {
        &self.top.indexes
    }

    /// The keys of one index.
    pub(crate) fn index(&self, index: u32) -> Option<&IndexSpan> {
        let i = self
            .top
            .indexes
            .binary_search_by_key(&index, |s| s.index)
            .ok()?;
        self.top.indexes.get(i)
    }

    /// Removes the file when the last reader has dropped the run.
    pub(crate) fn mark_obsolete(&self) {
        self.obsolete.store(true, Ordering::Relaxed);
    }

    /// True if a key lies between the first and the last key of its index.
    #[inline]
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        self.index(index_of(key))
            .is_some_and(|s| *s.first <= *key && *key <= *s.last)
    }

    /// True if some key of a range of one index may be here.
    pub(crate) fn overlaps(&self, range: &FullRange) -> bool {
        let start = match &range.start {
            Bound::Included(k) | Bound::Excluded(k) => k.as_slice(),
            Bound::Unbounded => &[],
        };
        let Some(s) = self.top.indexes.iter().find(|s| *s.last >= *start) else {
            return false;
        };
        match &range.end {
            Bound::Included(k) => *s.first <= **k,
            Bound::Excluded(k) => *s.first < **k,
            Bound::Unbounded => true,
        }
    }

    /// False if the key is certainly not here.
    pub(crate) fn may_contain(&self, key: &[u8]) -> Result<bool> {
        Ok(self.locate(key)?.is_some())
    }

    /// What the run says about a key; `None` if nothing.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Payload>> {
        let Some(place) = self.locate(key)? else {
            return Ok(None);
        };
        let block = self.block(place, true)?;
        let found = block
            .find(key)
            .ok_or_else(|| corrupt(&self.path, place.offset, "a block is not valid"))?;
        Ok(found.map(|e| e.to_payload()))
    }

    /// The block that holds the key if it is here.
    fn locate(&self, key: &[u8]) -> Result<Option<Place>> {
        if !self.covers(key) {
            return Ok(None);
        }
        let Some(n) = self.top.find(key) else {
            return Ok(None);
        };
        let page = self.page(n, true)?;
        Ok(page
            .find(key)
            .filter(|i| bloom::may_contain(page.filter(*i), bloom::hash(key)))
            .and_then(|i| page.place(i)))
    }

    /// Index page number `n`. Pages read for a long scan are not kept.
    pub(super) fn page(&self, n: usize, keep: bool) -> Result<Arc<Page>> {
        let Some((_, place)) = self.top.pages.get(n) else {
            return Err(corrupt(&self.path, 0, "no such index page"));
        };
        let key = (self.number, place.offset);
        if let Some(p) = self.cache.page(key) {
            return Ok(p);
        }
        let frame = read_frame(&*self.file, &self.path, self.id, *place, KIND_PAGE)?;
        let page = Page::parse(frame)
            .ok_or_else(|| corrupt(&self.path, place.offset, "an index page is not valid"))?;
        let page = Arc::new(page);
        if keep {
            self.cache.put_page(key, &page);
        }
        Ok(page)
    }

    /// The data block at `place`.
    pub(super) fn block(&self, place: Place, keep: bool) -> Result<Arc<Block>> {
        let key = (self.number, place.offset);
        if let Some(b) = self.cache.block(key) {
            return Ok(b);
        }
        let frame = read_frame(&*self.file, &self.path, self.id, place, KIND_BLOCK)?;
        let block = Block::parse(frame)
            .ok_or_else(|| corrupt(&self.path, place.offset, "a block is not valid"))?;
        let block = Arc::new(block);
        if keep {
            self.cache.put_block(key, &block);
        }
        Ok(block)
    }

    pub(super) fn damaged(&self, offset: u64) -> crate::EngineError {
        corrupt(&self.path, offset, "a block is not valid")
    }

    /// Reads the whole file: every checksum, key order, counts.
    pub(crate) fn verify(self: &Arc<Run>) -> Result<()> {
        let mut cursor = self.iter_all()?;
        let (mut entries, mut tombstones) = (0, 0);
        let mut last: Vec<u8> = Vec::new();
        while let Some(key) = cursor.peek_key() {
            if entries > 0 && key <= last.as_slice() {
                return Err(corrupt(&self.path, cursor.offset(), "keys out of order"));
            }
            if !self.covers(key) || !self.may_contain(key)? {
                return Err(corrupt(
                    &self.path,
                    cursor.offset(),
                    "a key that the index does not name",
                ));
            }
            entries += 1;
            tombstones +=
                u64::from(cursor.entry() == Some(crate::store::entry::RunEntry::Tombstone));
            last.clear();
            last.extend_from_slice(key);
            cursor.advance()?;
        }
        if entries != self.top.entries || tombstones != self.top.tombstones {
            return Err(corrupt(
                &self.path,
                self.bytes,
                "the number of entries does not fit",
            ));
        }
        Ok(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.cache.forget(self.number);
        if self.obsolete.load(Ordering::Relaxed)
            && let Err(e) = self.disk.remove(&self.path)
        {
            tracing::warn!(file = %self.path.display(), error = %e, "could not remove a run file");
        }
    }
}
