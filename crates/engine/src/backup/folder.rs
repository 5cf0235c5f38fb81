//! Pieces into a folder: a whole backup, or what has changed since an earlier one.

use crate::backup::disk::make_empty;
use crate::backup::manifest::{FileEntry, Kept, MANIFEST, Manifest, Parent, block_of, sums_text};
use crate::backup::piece::{BackupEnd, Piece};
use crate::error::io_error;
use crate::{EngineError, Result};
use narwal_log::{Disk, DiskFile};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes written between two syncs: the disk is never busy with more of it at once.
const SYNC_BYTES: u64 = 8 << 20;

/// A file that is being written.
#[derive(Debug)]
struct Out {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    block: u64,
    /// Checksum of each block that has come whole.
    sums: BTreeMap<u64, u64>,
    /// Blocks of which only the beginning has come.
    parts: BTreeMap<u64, Vec<u8>>,
    size: u64,
    unsynced: u64,
    /// Against a parent: the slot of each block that is not the parent's.
    slots: Option<HashMap<u64, u64>>,
    free: Vec<u64>,
}

/// A folder that a backup is being written to. Dropped before [`finish`](Self::finish): what was written is removed.
#[derive(Debug)]
pub struct FolderSink {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    parent: Option<(Manifest, PathBuf)>,
    files: BTreeMap<String, Out>,
    /// Bytes that the folder has got.
    written: u64,
    done: bool,
}

impl FolderSink {
    /// Begins in `dir`, which must not be there yet or be empty. `parent`: the folder of the backup that this one is
    /// to be incremental to.
    ///
    /// # Errors
    /// The folder is not empty, the parent is no backup, errors of the disk.
    pub fn create(disk: Arc<dyn Disk>, dir: &Path, parent: Option<&Path>) -> Result<FolderSink> {
        let parent = match parent {
            Some(p) => Some((Manifest::read(&*disk, p)?, p.to_owned())),
            None => None,
        };
        make_empty(&*disk, dir, "a backup needs a folder of its own")?;
        let log = dir.join("log");
        disk.create_dir_all(&log)
            .map_err(|e| io_error("making", &log, &e))?;
        Ok(FolderSink {
            disk,
            dir: dir.to_owned(),
            parent,
            files: BTreeMap::new(),
            written: 0,
            done: false,
        })
    }

    /// For pieces that become a data folder at once: in `dir`, which [`crate::backup::restore::begin_folder`] has made.
    #[must_use]
    pub fn into_folder(disk: Arc<dyn Disk>, dir: &Path) -> FolderSink {
        FolderSink {
            disk,
            dir: dir.to_owned(),
            parent: None,
            files: BTreeMap::new(),
            written: 0,
            done: false,
        }
    }

    /// As [`create`](Self::create), on this machine's file system.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn on_this_host(dir: &Path, parent: Option<&Path>) -> Result<FolderSink> {
        Self::create(Arc::new(narwal_log::RealDisk), dir, parent)
    }

    /// Has `backup` put its base here in one step, if the file system can share blocks and this is no incremental backup;
    /// whether it could. Before its first piece is taken.
    ///
    /// # Errors
    /// Errors of the disk, and those of `go_on`, which is asked while the checksums are made.
    pub fn share_base(
        &mut self,
        backup: &mut crate::backup::copy::Backup,
        go_on: impl FnMut(u64) -> Result<()>,
    ) -> Result<bool> {
        let path = self.path(crate::backup::piece::BASE);
        if self.is_incremental() || !backup.reflink_base(&*self.disk, &path)? {
            return Ok(false);
        }
        self.adopt(crate::backup::piece::BASE, go_on)?;
        Ok(true)
    }

    /// Path of a file of the data folder in the backup.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Whether it is incremental.
    #[must_use]
    pub fn is_incremental(&self) -> bool {
        self.parent.is_some()
    }

    /// Bytes written so far.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    fn out(&mut self, name: &str) -> Result<&mut Out> {
        if !self.files.contains_key(name) {
            let against = self
                .parent
                .as_ref()
                .and_then(|(m, _)| m.file(name))
                .is_some_and(|f| name == crate::backup::piece::BASE && f.block == block_of(name));
            let stored = if against {
                format!("{name}.blocks")
            } else {
                name.to_owned()
            };
            let path = self.dir.join(stored);
            let file = self
                .disk
                .create(&path)
                .map_err(|e| io_error("making", &path, &e))?;
            let out = Out::new(file, path, block_of(name), against.then(HashMap::new));
            self.files.insert(name.to_owned(), out);
        }
        self.files
            .get_mut(name)
            .ok_or_else(|| EngineError::Io(name.to_owned()))
    }

    /// Takes a piece.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn put(&mut self, piece: &Piece) -> Result<()> {
        match piece {
            Piece::Data {
                file,
                offset,
                bytes,
            } => self.put_bytes(file, *offset, bytes),
            Piece::End { file, size } => self.put_end(file, *size),
        }
    }

    fn put_bytes(&mut self, name: &str, offset: u64, bytes: &[u8]) -> Result<()> {
        if !offset.is_multiple_of(block_of(name)) {
            return Err(EngineError::Io(format!(
                "a piece of {name} at {offset} does not begin with a block"
            )));
        }
        let parent = self
            .parent
            .as_ref()
            .and_then(|(m, _)| m.file(name))
            .cloned();
        let out = self.out(name)?;
        let written = match out.slots {
            None => out.put(offset, bytes)?,
            Some(_) => out.put_changed(offset, bytes, parent.as_ref())?,
        };
        self.written += written;
        Ok(())
    }

    fn put_end(&mut self, name: &str, size: u64) -> Result<()> {
        self.out(name)?.size = size;
        Ok(())
    }

    /// Takes a whole small file.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn put_file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.put_bytes(name, 0, bytes)?;
        self.put_end(name, bytes.len() as u64)
    }

    /// Takes over a file that was put at [`path`](Self::path) without the sink: reads what it has.
    fn adopt(&mut self, name: &str, mut go_on: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let path = self.path(name);
        let file = self
            .disk
            .open(&path)
            .map_err(|e| io_error("opening", &path, &e))?;
        let mut out = Out::new(file, path, block_of(name), None);
        let io = |e: std::io::Error| io_error("reading", &self.dir.join(name), &e);
        let size = out.file.len().map_err(io)?;
        let mut buf = vec![0; 1 << 20];
        let mut at = 0;
        while at < size {
            let n = out.file.read_at(&mut buf, at).map_err(io)?;
            if n == 0 {
                break;
            }
            out.note(at, &buf[..n]);
            at += n as u64;
            go_on(n as u64)?;
        }
        out.size = size;
        self.written += size;
        self.files.insert(name.to_owned(), out);
        Ok(())
    }

    /// Syncs the files, without making a backup of them; what they are.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn finish_files(mut self) -> Result<Vec<FileEntry>> {
        let files = self.seal()?;
        self.done = true;
        Ok(files)
    }

    fn seal(&mut self) -> Result<Vec<FileEntry>> {
        let names: Vec<String> = self.files.keys().cloned().collect();
        let mut entries = Vec::new();
        for name in names {
            let before = self
                .parent
                .as_ref()
                .and_then(|(m, _)| m.file(&name))
                .cloned();
            let Some(out) = self.files.get_mut(&name) else {
                continue;
            };
            let mut entry = out.finish(&name, before.as_ref())?;
            // A segment that was full then is the same now.
            if let Some(b) = &before
                && entry.kept == Kept::Whole
                && (b.size, b.block, &b.sums) == (entry.size, entry.block, &entry.sums)
            {
                let path = out.path.clone();
                self.disk
                    .remove(&path)
                    .map_err(|e| io_error("removing", &path, &e))?;
                entry.kept = Kept::Parent;
            }
            entries.push(entry);
        }
        for dir in [&self.dir.join("log"), &self.dir] {
            self.disk
                .sync_dir(dir)
                .map_err(|e| io_error("syncing", dir, &e))?;
        }
        Ok(entries)
    }

    /// Makes a backup of what was put: all synced, then the manifest.
    ///
    /// # Errors
    /// Errors of the disk; then there is no backup.
    pub fn finish(mut self, version: &str, end: BackupEnd) -> Result<Manifest> {
        let parent = self.parent.as_ref().map(|(m, path)| Parent {
            id: m.id.clone(),
            path: path.clone(),
        });
        if let Some((p, path)) = &self.parent
            && p.end.log_id != end.log_id
        {
            return Err(EngineError::Io(format!(
                "{} is the backup of another server's data: an incremental backup needs one of the same",
                path.display()
            )));
        }
        let encrypted = self.files.contains_key("keys");
        let mut manifest = Manifest::new(version, encrypted, end, parent);
        manifest.files = self.seal()?;
        manifest.write(&self.disk, &self.dir)?;
        self.done = true;
        // The folder's own name; a parent folder of somebody else's is not ours to sync.
        if let Some(up) = self.dir.parent().filter(|p| !p.as_os_str().is_empty()) {
            let _ = self.disk.sync_dir(up);
        }
        Ok(manifest)
    }
}

impl Drop for FolderSink {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let _ = self.disk.remove(&self.dir.join("backup.json.tmp"));
        let _ = self.disk.remove(&self.dir.join(MANIFEST));
        for out in self.files.values() {
            let _ = self.disk.remove(&out.path);
        }
    }
}

impl Out {
    fn new(
        file: Arc<dyn DiskFile>,
        path: PathBuf,
        block: u64,
        slots: Option<HashMap<u64, u64>>,
    ) -> Out {
        Out {
            file,
            path,
            block,
            sums: BTreeMap::new(),
            parts: BTreeMap::new(),
            size: 0,
            unsynced: 0,
            slots,
            free: Vec::new(),
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.file
            .write_at(bytes, at)
            .map_err(|e| io_error("writing", &self.path, &e))?;
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= SYNC_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.unsynced = 0;
        self.file
            .sync_data()
            .map_err(|e| io_error("syncing", &self.path, &e))
    }

    /// Notes the checksums of what is at `offset` from now on.
    fn note(&mut self, offset: u64, bytes: &[u8]) {
        for (i, b) in (offset / self.block..).zip(bytes.chunks(self.block as usize)) {
            if b.len() as u64 == self.block {
                self.parts.remove(&i);
                self.sums.insert(i, xxh3_64(b));
            } else {
                self.sums.remove(&i);
                self.parts.insert(i, b.to_vec());
            }
        }
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<u64> {
        self.note(offset, bytes);
        self.write(offset, bytes)?;
        Ok(bytes.len() as u64)
    }

    /// As [`Self::put`], but only blocks that are not the parent's are kept.
    fn put_changed(
        &mut self,
        offset: u64,
        bytes: &[u8],
        parent: Option<&FileEntry>,
    ) -> Result<u64> {
        self.note(offset, bytes);
        let mut written = 0;
        for (i, b) in (offset / self.block..).zip(bytes.chunks(self.block as usize)) {
            if b.len() as u64 == self.block {
                written += self.keep(i, b, parent)?;
            } else {
                // Decided at the end, when it is known how long it is.
                self.let_go(i);
            }
        }
        Ok(written)
    }

    /// Keeps a whole block, filled up with zeros, if it is not the parent's.
    fn keep(&mut self, i: u64, bytes: &[u8], parent: Option<&FileEntry>) -> Result<u64> {
        let same = parent.is_some_and(|p| {
            p.block_len(i) == bytes.len() as u64 && p.sum(i) == Some(xxh3_64(bytes))
        });
        if same {
            self.let_go(i);
            return Ok(0);
        }
        let Some(slots) = &mut self.slots else {
            return Ok(0);
        };
        let next = slots.len() as u64 + self.free.len() as u64;
        let slot = match slots.get(&i) {
            Some(s) => *s,
            None => {
                let s = self.free.pop().unwrap_or(next);
                slots.insert(i, s);
                s
            }
        };
        let mut whole = bytes.to_vec();
        whole.resize(self.block as usize, 0);
        self.write(slot * self.block, &whole)?;
        Ok(self.block)
    }

    /// The block is the parent's after all.
    fn let_go(&mut self, i: u64) {
        if let Some(slot) = self.slots.as_mut().and_then(|s| s.remove(&i)) {
            self.free.push(slot);
        }
    }

    fn finish(&mut self, name: &str, parent: Option<&FileEntry>) -> Result<FileEntry> {
        let blocks = self.size.div_ceil(self.block);
        let len_of = |i: u64, size: u64, block: u64| (size - i * block).min(block) as usize;
        // What lies behind the end does not count.
        self.sums.retain(|i, _| *i < blocks);
        self.parts.retain(|i, _| *i < blocks);
        let beyond: Vec<u64> = match &self.slots {
            Some(s) => s.keys().copied().filter(|i| *i >= blocks).collect(),
            None => Vec::new(),
        };
        for i in beyond {
            self.let_go(i);
        }
        let zeros = vec![0u8; self.block as usize];
        let no_bytes = xxh3_64(&zeros);
        let mut sums = Vec::with_capacity(blocks as usize);
        for i in 0..blocks {
            let len = len_of(i, self.size, self.block);
            let sum = match (self.sums.get(&i), self.parts.get(&i)) {
                (Some(sum), _) if len as u64 == self.block => *sum,
                (Some(_), _) => {
                    return Err(EngineError::Io(format!(
                        "{name} has become shorter inside a block that was copied"
                    )));
                }
                (None, Some(part)) => {
                    let mut whole = part.clone();
                    whole.resize(len, 0);
                    if self.slots.is_some() {
                        self.keep(i, &whole, parent)?;
                    }
                    xxh3_64(&whole)
                }
                (None, None) => {
                    if self.slots.is_some() {
                        self.keep(i, &zeros[..len], parent)?;
                    }
                    match len as u64 == self.block {
                        true => no_bytes,
                        false => xxh3_64(&zeros[..len]),
                    }
                }
            };
            sums.push(sum);
        }
        let kept = match &self.slots {
            None => {
                self.set_len(self.size)?;
                Kept::Whole
            }
            Some(_) => Kept::Blocks(self.close_gaps()?),
        };
        self.sync()?;
        Ok(FileEntry {
            name: name.to_owned(),
            size: self.size,
            kept,
            block: self.block,
            sums: sums_text(sums.into_iter()),
        })
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        self.file
            .set_len(len)
            .map_err(|e| io_error("setting the length of", &self.path, &e))
    }

    /// Moves blocks from the end into slots that are free. The blocks in the order of their slots.
    fn close_gaps(&mut self) -> Result<Vec<u64>> {
        let slots = self.slots.take().unwrap_or_default();
        let mut order: BTreeMap<u64, u64> = slots.into_iter().map(|(b, s)| (s, b)).collect();
        self.free.sort_unstable();
        for free in std::mem::take(&mut self.free) {
            let Some((&last, &block)) = order.last_key_value() else {
                break;
            };
            if last < free {
                break;
            }
            let mut buf = vec![0; self.block as usize];
            self.file
                .read_at(&mut buf, last * self.block)
                .map_err(|e| io_error("reading", &self.path, &e))?;
            self.write(free * self.block, &buf)?;
            order.remove(&last);
            order.insert(free, block);
        }
        self.set_len(order.len() as u64 * self.block)?;
        Ok(order.into_values().collect())
    }
}
