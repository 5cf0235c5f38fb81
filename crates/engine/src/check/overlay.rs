//! A disk whose writes stay apart: what is opened on it sees its own changes, and the files below stay as they are.
//!
//! Changed blocks stay in memory up to a limit, then in a scratch file without a name.

use narwal_log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BLOCK: u64 = 4096;

type Bytes = [u8; BLOCK as usize];

/// Where blocks go that memory is too small for.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Folder for the file; `None`: everything stays in memory.
    dir: Option<PathBuf>,
    state: Mutex<ScratchState>,
}

#[derive(Debug)]
struct ScratchState {
    /// Blocks that may still stay in memory.
    room: u64,
    file: Option<Arc<File>>,
    /// Blocks in the file.
    blocks: u64,
}

impl Scratch {
    /// Keeps up to `memory` bytes in memory, the rest in a file in `dir`, made when it is needed.
    pub(super) fn new(dir: Option<&Path>, memory: u64) -> Self {
        Scratch {
            dir: dir.map(Path::to_path_buf),
            state: Mutex::new(ScratchState {
                room: memory / BLOCK,
                file: None,
                blocks: 0,
            }),
        }
    }

    /// Room for one more block.
    fn block(&self) -> io::Result<Block> {
        let mut s = self.state.lock();
        let Some(dir) = self.dir.as_ref().filter(|_| s.room == 0) else {
            s.room = s.room.saturating_sub(1);
            return Ok(Block::Memory(Box::new([0; BLOCK as usize])));
        };
        let file = match &s.file {
            Some(f) => f.clone(),
            None => s.file.insert(Arc::new(unnamed(dir)?)).clone(),
        };
        s.blocks += 1;
        Ok(Block::File(file, (s.blocks - 1) * BLOCK))
    }
}

/// A file that nobody else can open and that goes with the process.
fn unnamed(dir: &Path) -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!("narwal-check-{}-{number}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// A changed block.
#[derive(Debug)]
enum Block {
    Memory(Box<Bytes>),
    File(Arc<File>, u64),
}

impl Block {
    fn read(&self, buf: &mut [u8], from: usize) -> io::Result<()> {
        match self {
            Block::Memory(b) => buf.copy_from_slice(&b[from..from + buf.len()]),
            Block::File(f, at) => f.read_exact_at(buf, at + from as u64)?,
        }
        Ok(())
    }

    fn write(&mut self, buf: &[u8], to: usize) -> io::Result<()> {
        match self {
            Block::Memory(b) => b[to..to + buf.len()].copy_from_slice(buf),
            Block::File(f, at) => f.write_all_at(buf, *at + to as u64)?,
        }
        Ok(())
    }
}

/// The disk. Locks are not taken: the caller holds the real one.
#[derive(Debug)]
pub(crate) struct Overlay {
    inner: Arc<dyn Disk>,
    files: Mutex<HashMap<PathBuf, Option<Arc<OverlayFile>>>>,
    hidden: HashSet<PathBuf>,
    scratch: Arc<Scratch>,
}

impl Overlay {
    /// A disk over `inner` that does not see the files in `hidden`.
    pub(super) fn new(
        inner: Arc<dyn Disk>,
        hidden: impl IntoIterator<Item = PathBuf>,
        scratch: Scratch,
    ) -> Self {
        Overlay {
            inner,
            files: Mutex::new(HashMap::new()),
            hidden: hidden.into_iter().collect(),
            scratch: Arc::new(scratch),
        }
    }

    fn below(&self, path: &Path) -> bool {
        !self.hidden.contains(path)
    }

    /// The file of a path as it is now.
    pub(super) fn file(&self, path: &Path) -> io::Result<Arc<OverlayFile>> {
        let mut files = self.files.lock();
        match files.get(path) {
            Some(Some(f)) => return Ok(f.clone()),
            Some(None) => return Err(io::ErrorKind::NotFound.into()),
            None => {}
        }
        if !self.below(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let base = self.inner.open_read(path)?;
        let len = base.len()?;
        let file = Arc::new(OverlayFile {
            base: Some(base),
            scratch: self.scratch.clone(),
            state: Mutex::new(Content {
                len,
                base_len: len,
                blocks: BTreeMap::new(),
            }),
        });
        files.insert(path.to_owned(), Some(file.clone()));
        Ok(file)
    }
}

impl Disk for Overlay {
    fn create_dir_all(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path)?)
    }

    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path)?)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = Arc::new(OverlayFile {
            base: None,
            scratch: self.scratch.clone(),
            state: Mutex::new(Content::default()),
        });
        self.files
            .lock()
            .insert(path.to_owned(), Some(file.clone()));
        Ok(file)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match self.files.lock().get(path) {
            Some(f) => Ok(f.is_some()),
            None if !self.below(path) => Ok(false),
            None => self.inner.exists(path),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.file(from)?;
        let mut files = self.files.lock();
        files.insert(from.to_owned(), None);
        files.insert(to.to_owned(), Some(file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if !self.exists(path)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.files.lock().insert(path.to_owned(), None);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names: HashSet<String> = match self.inner.list(dir) {
            Ok(names) => names.into_iter().collect(),
            // It may have been made here.
            Err(e) if e.kind() == io::ErrorKind::NotFound => HashSet::new(),
            Err(e) => return Err(e),
        };
        names.retain(|n| self.below(&dir.join(n)));
        for (path, file) in self.files.lock().iter() {
            let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
                continue;
            };
            if path.parent() == Some(dir) {
                match file {
                    Some(_) => names.insert(name.to_owned()),
                    None => names.remove(name),
                };
            }
        }
        Ok(names.into_iter().collect())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_space(&self, _dir: &Path) -> io::Result<u64> {
        Ok(u64::MAX / 4)
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }
}

/// A file of it.
#[derive(Debug)]
pub(crate) struct OverlayFile {
    base: Option<Arc<dyn DiskFile>>,
    scratch: Arc<Scratch>,
    state: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    len: u64,
    /// Up to here the file below shines through where no block covers it.
    base_len: u64,
    blocks: BTreeMap<u64, Block>,
}

impl OverlayFile {
    fn read_below(&self, state: &Content, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let have = state.base_len.saturating_sub(offset).min(buf.len() as u64) as usize;
        let (head, tail) = buf.split_at_mut(have);
        let mut got = 0;
        if let Some(base) = &self.base
            && !head.is_empty()
        {
            got = base.read_at(head, offset)?;
        }
        head[got..].fill(0);
        tail.fill(0);
        Ok(())
    }

    fn put(&self, state: &mut Content, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            let at = offset + done as u64;
            let (no, skip) = (at / BLOCK, (at % BLOCK) as usize);
            let n = (BLOCK as usize - skip).min(buf.len() - done);
            if let Some(block) = state.blocks.get_mut(&no) {
                block.write(&buf[done..done + n], skip)?;
            } else {
                let mut whole = [0; BLOCK as usize];
                if n < whole.len() {
                    self.read_below(state, &mut whole, no * BLOCK)?;
                }
                whole[skip..skip + n].copy_from_slice(&buf[done..done + n]);
                let mut block = self.scratch.block()?;
                block.write(&whole, 0)?;
                state.blocks.insert(no, block);
            }
            done += n;
        }
        state.len = state.len.max(offset + buf.len() as u64);
        Ok(())
    }
}

impl DiskFile for OverlayFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock();
        let n = state.len.saturating_sub(offset).min(buf.len() as u64) as usize;
        let buf = &mut buf[..n];
        if n == 0 {
            return Ok(0);
        }
        self.read_below(&state, buf, offset)?;
        let end = offset + n as u64;
        for (no, block) in state.blocks.range(offset / BLOCK..end.div_ceil(BLOCK)) {
            let start = no * BLOCK;
            let (from, to) = (start.max(offset), (start + BLOCK).min(end));
            let part = &mut buf[(from - offset) as usize..(to - offset) as usize];
            block.read(part, (from - start) as usize)?;
        }
        Ok(n)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.put(&mut self.state.lock(), buf, offset)
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], mut offset: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        for b in bufs {
            self.put(&mut state, b, offset)?;
            offset += b.len() as u64;
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        if len < state.len {
            state.base_len = state.base_len.min(len);
            let kept = len.div_ceil(BLOCK);
            state.blocks.split_off(&kept);
            if let Some(block) = state.blocks.get_mut(&(len / BLOCK)) {
                let kept = (len % BLOCK) as usize;
                block.write(&[0; BLOCK as usize][kept..], kept)?;
            }
        }
        state.len = len;
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state.lock().len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        state.len = state.len.max(offset + len);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_log::RealDisk;

    #[test]
    fn changes_stay_above() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let original: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
        std::fs::write(&a, &original).unwrap();
        // One block in memory, others in the scratch file.
        let scratch = Scratch::new(Some(dir.path()), BLOCK);
        let disk = Overlay::new(Arc::new(RealDisk), [], scratch);
        let f = disk.open(&a).unwrap();
        let mut model = original.clone();
        let mut rng = 7u64;
        let mut next = |n: u64| {
            rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (rng >> 33) % n
        };
        for _ in 0..500 {
            let at = next(12_000) as usize;
            let len = next(6_000) as usize;
            match next(4) {
                0 => {
                    let bytes = vec![next(256) as u8; len];
                    f.write_at(&bytes, at as u64).unwrap();
                    if !bytes.is_empty() {
                        model.resize(model.len().max(at + len), 0);
                        model[at..at + len].copy_from_slice(&bytes);
                    }
                }
                1 => {
                    f.set_len(at as u64).unwrap();
                    model.resize(at, 0);
                }
                _ => {
                    let mut got = vec![0xee; len];
                    let n = f.read_at(&mut got, at as u64).unwrap();
                    let want = model.get(at..).unwrap_or_default();
                    assert_eq!(got[..n], want[..len.min(want.len())]);
                }
            }
            assert_eq!(f.len().unwrap(), model.len() as u64);
        }
        disk.rename(&a, &b).unwrap();
        disk.create(&dir.path().join("c")).unwrap();
        let mut names = disk.list(dir.path()).unwrap();
        names.sort();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(std::fs::read(&a).unwrap(), original);
        let hiding = Overlay::new(Arc::new(RealDisk), [a.clone()], Scratch::new(None, 0));
        assert!(!hiding.exists(&a).unwrap() && hiding.open(&a).is_err());
        assert!(hiding.list(dir.path()).unwrap().is_empty());
    }
}
