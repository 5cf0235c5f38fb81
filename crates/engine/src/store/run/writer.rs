//! Writing a run file.

use crate::key::index_of;
use crate::store::entry::RunEntry;
use crate::store::run::bloom;
use crate::store::run::format::{
    FRAME_HEADER, HEADER_LEN, KIND_BLOCK, KIND_PAGE, KIND_TOP, MAGIC, Place, VERSION, frame_crc,
    io_err, put_bytes, put_varint,
};
use crate::{EngineError, Result};
use narwal_log::{Disk, DiskFile};
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a commit's annex says about a run, enough to find and identify it at recovery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunMeta {
    /// File name without directory.
    pub(crate) name: String,
    /// The id in the file's header.
    pub(crate) id: u64,
    /// Length of the file.
    pub(crate) bytes: u64,
    /// Number of entries, tombstones included.
    pub(crate) entries: u64,
}

/// Sizes that tests make small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunSizes {
    /// A data block is closed when it has this many bytes.
    pub(crate) block: usize,
    /// An index page is closed when it has this many bytes.
    pub(crate) page: usize,
    /// Bytes handed to the file system in one write.
    pub(crate) write: usize,
    /// Bytes between two syncs: what is dirty at most, so that others' syncs never wait for a large backlog.
    pub(crate) sync: u64,
}

impl Default for RunSizes {
    fn default() -> Self {
        RunSizes {
            block: 32 << 10,
            page: 32 << 10,
            write: 256 << 10,
            sync: 1 << 20,
        }
    }
}

/// An entry of the block being filled; the bytes are in `raw`.
struct Pending {
    key: (usize, usize),
    /// Where the row is, or a tag.
    value: std::result::Result<(usize, usize), u8>,
}

struct Span {
    index: u32,
    entries: u64,
    first: Box<[u8]>,
}

/// Writes one run file. Dropped without [`RunWriter::finish`], it removes the file.
pub(crate) struct RunWriter {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    id: u64,
    sizes: RunSizes,
    /// Bytes not written yet, and their place in the file.
    out: Vec<u8>,
    written: u64,
    synced: u64,
    raw: Vec<u8>,
    pending: Vec<Pending>,
    hashes: Vec<u64>,
    last_key: Vec<u8>,
    page: Vec<u8>,
    page_blocks: u32,
    page_first: Box<[u8]>,
    pages: Vec<(Box<[u8]>, Place)>,
    spans: Vec<(Span, Box<[u8]>)>,
    span: Option<Span>,
    entries: u64,
    tombstones: u64,
    finished: bool,
}

impl RunWriter {
    /// Starts a run file at `path`; an existing file is replaced.
    pub(crate) fn create(disk: &Arc<dyn Disk>, path: &Path) -> Result<RunWriter> {
        Self::with_sizes(disk, path, RunSizes::default())
    }

    /// As [`RunWriter::create`] with other sizes.
    pub(crate) fn with_sizes(
        disk: &Arc<dyn Disk>,
        path: &Path,
        sizes: RunSizes,
    ) -> Result<RunWriter> {
        let file = disk.create(path).map_err(|e| io_err(path, &e))?;
        // Random seeds: the id tells this file from a former one of the same name.
        let mut h = ahash::RandomState::new().build_hasher();
        h.write_u32(std::process::id());
        let id = h.finish();
        let mut out = Vec::with_capacity(sizes.write + sizes.block * 2);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&id.to_le_bytes());
        Ok(RunWriter {
            disk: disk.clone(),
            file,
            path: path.to_path_buf(),
            id,
            sizes,
            out,
            written: 0,
            synced: 0,
            raw: Vec::with_capacity(sizes.block + 1024),
            pending: Vec::new(),
            hashes: Vec::new(),
            last_key: Vec::new(),
            page: Vec::new(),
            page_blocks: 0,
            page_first: Box::default(),
            pages: Vec::new(),
            spans: Vec::new(),
            span: None,
            entries: 0,
            tombstones: 0,
            finished: false,
        })
    }

    /// Adds an entry. `key` is a full key (index id, 4 bytes big-endian, and the index's key), greater than the last.
    pub(crate) fn add(&mut self, key: &[u8], entry: RunEntry<'_>) -> Result<()> {
        if key.len() < 4 || (self.entries > 0 && key <= self.last_key.as_slice()) {
            return Err(EngineError::Io(format!(
                "{}: keys of a run must come in ascending order",
                self.path.display()
            )));
        }
        let index = index_of(key);
        match &mut self.span {
            Some(s) if s.index == index => s.entries += 1,
            _ => {
                self.close_span();
                self.span = Some(Span {
                    index,
                    entries: 1,
                    first: key.into(),
                });
            }
        }
        let row = match entry {
            RunEntry::Row(r) => r,
            _ => &[],
        };
        // A long row gets a block of its own: reads of its neighbours need not read it.
        if !self.pending.is_empty() && self.raw.len() + key.len() + row.len() > 2 * self.sizes.block
        {
            self.close_block()?;
        }
        let at = self.raw.len();
        self.raw.extend_from_slice(key);
        let key_end = self.raw.len();
        self.raw.extend_from_slice(row);
        self.pending.push(Pending {
            key: (at, key_end),
            value: match entry {
                RunEntry::Tombstone => Err(0),
                RunEntry::Present => Err(1),
                RunEntry::Row(_) => Ok((key_end, self.raw.len())),
            },
        });
        self.hashes.push(bloom::hash(key));
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
        self.tombstones += u64::from(entry == RunEntry::Tombstone);
        if self.raw.len() >= self.sizes.block {
            self.close_block()?;
        }
        Ok(())
    }

    /// Bytes that the file has so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.offset() + self.raw.len() as u64
    }

    /// Number of entries so far.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Writes the rest and syncs the file. Its name becomes durable when the caller syncs the directory.
    pub(crate) fn finish(mut self) -> Result<RunMeta> {
        self.close_block()?;
        self.close_page()?;
        self.close_span();
        let mut top = vec![KIND_TOP];
        top.extend_from_slice(&self.entries.to_le_bytes());
        top.extend_from_slice(&self.tombstones.to_le_bytes());
        top.extend_from_slice(&(self.pages.len() as u32).to_le_bytes());
        for (first, place) in &self.pages {
            put_bytes(&mut top, first);
            put_varint(&mut top, place.offset);
            put_varint(&mut top, u64::from(place.len));
        }
        top.extend_from_slice(&(self.spans.len() as u32).to_le_bytes());
        for (s, last) in &self.spans {
            top.extend_from_slice(&s.index.to_be_bytes());
            put_varint(&mut top, s.entries);
            put_bytes(&mut top, &s.first);
            put_bytes(&mut top, last);
        }
        let place = self.frame(&top)?;
        let bytes = self.offset() + crate::store::run::format::TRAILER_LEN;
        let start = self.out.len();
        self.out.extend_from_slice(&self.id.to_le_bytes());
        self.out.extend_from_slice(&place.offset.to_le_bytes());
        self.out.extend_from_slice(&place.len.to_le_bytes());
        self.out.extend_from_slice(&VERSION.to_le_bytes());
        self.out.extend_from_slice(&bytes.to_le_bytes());
        self.out.extend_from_slice(&0u32.to_le_bytes());
        let crc = crc32c::crc32c(&self.out[start..]);
        self.out.extend_from_slice(&crc.to_le_bytes());
        self.flush()?;
        self.sync()?;
        self.finished = true;
        Ok(RunMeta {
            name: self
                .path
                .file_name()
                .map(|n| n.to_string_lossy().into_owned())
                .unwrap_or_default(),
            id: self.id,
            bytes,
            entries: self.entries,
        })
    }

    fn offset(&self) -> u64 {
        self.written + self.out.len() as u64
    }

    fn close_span(&mut self) {
        if let Some(s) = self.span.take() {
            self.spans.push((s, self.last_key.as_slice().into()));
        }
    }

    fn close_block(&mut self) -> Result<()> {
        let (Some(first), Some(last)) = (self.pending.first(), self.pending.last()) else {
            return Ok(());
        };
        let first_key = &self.raw[first.key.0..first.key.1];
        let last_key = &self.raw[last.key.0..last.key.1];
        let prefix = first_key
            .iter()
            .zip(last_key)
            .take_while(|(a, b)| a == b)
            .count();
        let mut body = Vec::with_capacity(self.raw.len() + self.pending.len() * 8 + 64);
        body.push(KIND_BLOCK);
        put_bytes(&mut body, &first_key[..prefix]);
        let mut offsets = Vec::with_capacity(self.pending.len() * 4);
        for p in &self.pending {
            offsets.extend_from_slice(&(body.len() as u32).to_le_bytes());
            put_bytes(&mut body, &self.raw[p.key.0 + prefix..p.key.1]);
            match p.value {
                Err(tag) => body.push(tag),
                Ok((from, to)) => {
                    put_varint(&mut body, (to - from) as u64 + 2);
                    body.extend_from_slice(&self.raw[from..to]);
                }
            }
        }
        body.extend_from_slice(&offsets);
        body.extend_from_slice(&(self.pending.len() as u32).to_le_bytes());
        let first_key: Box<[u8]> = first_key.into();
        let place = self.frame(&body)?;
        if self.page_blocks == 0 {
            self.page_first = first_key.clone();
        }
        self.page_blocks += 1;
        put_bytes(&mut self.page, &first_key);
        put_varint(&mut self.page, place.offset);
        put_varint(&mut self.page, u64::from(place.len));
        put_bytes(&mut self.page, &bloom::build(&self.hashes));
        self.raw.clear();
        self.pending.clear();
        self.hashes.clear();
        if self.page.len() >= self.sizes.page {
            self.close_page()?;
        }
        Ok(())
    }

    fn close_page(&mut self) -> Result<()> {
        if self.page_blocks == 0 {
            return Ok(());
        }
        let mut body = Vec::with_capacity(self.page.len() + 8);
        body.push(KIND_PAGE);
        body.extend_from_slice(&self.page_blocks.to_le_bytes());
        body.append(&mut self.page);
        let place = self.frame(&body)?;
        self.pages
            .push((std::mem::take(&mut self.page_first), place));
        self.page_blocks = 0;
        Ok(())
    }

    fn frame(&mut self, body: &[u8]) -> Result<Place> {
        let offset = self.offset();
        let too_long = |_| EngineError::Io(format!("{}: a row is too long", self.path.display()));
        let body_len = u32::try_from(body.len()).map_err(too_long)?;
        let len = u32::try_from(body.len() + FRAME_HEADER).map_err(too_long)?;
        self.out.extend_from_slice(&body_len.to_le_bytes());
        self.out
            .extend_from_slice(&frame_crc(self.id, offset, body).to_le_bytes());
        self.out.extend_from_slice(body);
        if self.out.len() >= self.sizes.write {
            self.flush()?;
            if self.written - self.synced >= self.sizes.sync {
                self.sync()?;
            }
        }
        Ok(Place { offset, len })
    }

    fn flush(&mut self) -> Result<()> {
        self.file
            .write_at(&self.out, self.written)
            .map_err(|e| io_err(&self.path, &e))?;
        self.written += self.out.len() as u64;
        self.out.clear();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|e| io_err(&self.path, &e))?;
        self.synced = self.written;
        Ok(())
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.finished
            && let Err(e) = self.disk.remove(&self.path)
        {
            tracing::warn!(file = %self.path.display(), error = %e, "could not remove an unfinished run file");
        }
    }
}

const _: () = assert!(HEADER_LEN == MAGIC.len() as u64 + 8);
