//! One encrypted file.
//!
//! Content sector `n` (512 bytes) lies at byte `4096 + 512 n`, encrypted by itself with `n` as tweak. The content's
//! length may end inside a sector; the file holds that sector whole, and its own length says how much of it counts:
//!
//! ```text
//! content of 512 q bytes           file of 4096 + 512 q bytes
//! content of 512 q + r, 0 < r      file of 4096 + 512 (q + 1) + r bytes, the last r of them without meaning
//! ```
//!
//! So the length is as durable and as atomic as the plain file's.

use crate::edges::Edges;
use crate::header::{HEAD_LEN, physical};
use crate::xts::{SECTOR, Xts};
use narwal_log::DiskFile;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::io;
use std::sync::Arc;

const S: u64 = SECTOR as u64;
/// Largest piece that is read or written at once.
const PIECE: usize = 1 << 20;

/// What all handles of one file share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub xts: Xts,
    edges: Edges,
    /// Held while the file is made longer or shorter.
    resize: Mutex<()>,
}

impl Shared {
    pub fn new(xts: Xts) -> Shared {
        Shared {
            xts,
            edges: Edges::default(),
            resize: Mutex::new(()),
        }
    }
}

/// An open encrypted file.
#[derive(Debug)]
pub(crate) struct CryptFile {
    inner: Arc<dyn DiskFile>,
    /// `None`: a file without its first page, opened for reading. It is empty.
    shared: Option<Arc<Shared>>,
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with this thread's buffer, whose first `len` bytes hold anything.
fn with_scratch<T>(len: usize, f: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut buf = SCRATCH.with(|s| std::mem::take(&mut *s.borrow_mut()));
    if buf.len() < len {
        buf.resize(len, 0);
    }
    let out = f(&mut buf[..len]);
    SCRATCH.with(|s| *s.borrow_mut() = buf);
    out
}

/// Content length from the file's length.
pub(crate) fn content_len(physical: u64) -> u64 {
    let n = physical.saturating_sub(HEAD_LEN);
    if n.is_multiple_of(S) {
        n
    } else {
        n.saturating_sub(S)
    }
}

/// File length for a content length.
fn physical_len(content: u64) -> u64 {
    physical(content.div_ceil(S)) + content % S
}

/// The bytes of several buffers, one behind the other.
struct Source<'a> {
    bufs: &'a [&'a [u8]],
    at: usize,
}

impl Source<'_> {
    fn take(&mut self, mut out: &mut [u8]) {
        while !out.is_empty()
            && let Some(first) = self.bufs.first()
        {
            let rest = &first[self.at..];
            let n = rest.len().min(out.len());
            let (to, later) = out.split_at_mut(n);
            to.copy_from_slice(&rest[..n]);
            out = later;
            self.at += n;
            if self.at == first.len() {
                self.bufs = &self.bufs[1..];
                self.at = 0;
            }
        }
    }
}

impl CryptFile {
    pub fn new(inner: Arc<dyn DiskFile>, shared: Option<Arc<Shared>>) -> CryptFile {
        CryptFile { inner, shared }
    }

    fn shared(&self) -> io::Result<&Arc<Shared>> {
        self.shared
            .as_ref()
            .ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }

    /// Reads and decrypts one sector; what lies behind the file's end is zeros.
    fn read_sector(&self, shared: &Shared, sector: u64, out: &mut [u8]) -> io::Result<()> {
        let n = self.inner.read_at(out, physical(sector))?;
        out[n..].fill(0);
        shared.xts.decrypt(out, sector);
        Ok(())
    }

    /// Before the content grows from `len`: what lies behind it in its last sector, left by a cut or a crash, becomes
    /// zeros, as it must read from now on.
    fn clean_end(&self, shared: &Shared, len: u64) -> io::Result<()> {
        let (sector, used) = (len / S, (len % S) as usize);
        if used == 0 {
            return Ok(());
        }
        let _edge = shared.edges.lock([Some(sector), None], true);
        let mut buf = [0; SECTOR];
        self.read_sector(shared, sector, &mut buf)?;
        if buf[used..].iter().any(|b| *b != 0) {
            buf[used..].fill(0);
            shared.xts.encrypt(&mut buf, sector);
            self.inner.write_at(&buf, physical(sector))?;
        }
        // The bytes that only tell the length.
        self.inner
            .write_at(&[0; SECTOR][..used], physical(sector + 1))
    }

    fn write(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        let shared = self.shared()?;
        let total: usize = bufs.iter().map(|b| b.len()).sum();
        if total == 0 {
            return Ok(());
        }
        let end = offset
            .checked_add(total as u64)
            .filter(|e| *e < u64::MAX - 2 * HEAD_LEN)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mut resize = None;
        if end > self.len()? {
            resize = Some(shared.resize.lock());
            let len = self.len()?;
            if end > len {
                self.clean_end(shared, len)?;
                let to = physical_len(end);
                if !end.is_multiple_of(S) || content_len_is_odd(len, self.inner.len()?, to) {
                    self.inner.set_len(to)?;
                }
            }
        }
        let (first, last) = (offset / S, (end - 1) / S);
        let head = (!offset.is_multiple_of(S)).then_some(first);
        let tail = (!end.is_multiple_of(S)).then_some(last);
        let _edges = shared.edges.lock([head, tail], true);
        let mut source = Source { bufs, at: 0 };
        let mut sector = first;
        while sector <= last {
            let n = (last - sector + 1).min((PIECE / SECTOR) as u64);
            with_scratch(n as usize * SECTOR, |buf| {
                let begin = sector * S;
                let from = offset.saturating_sub(begin) as usize;
                let to = (end - begin).min(n * S) as usize;
                if from > 0 {
                    self.read_sector(shared, sector, &mut buf[..SECTOR])?;
                }
                let last_of_piece = (n as usize - 1) * SECTOR;
                if to < buf.len() && (from == 0 || last_of_piece > 0) {
                    self.read_sector(shared, sector + n - 1, &mut buf[last_of_piece..])?;
                }
                source.take(&mut buf[from..to]);
                shared.xts.encrypt(buf, sector);
                self.inner.write_at(buf, physical(sector))
            })?;
            sector += n;
        }
        drop(resize);
        Ok(())
    }
}

/// Whether the file is longer than whole sectors up to its new end: it said so of its old one.
fn content_len_is_odd(len: u64, now: u64, to: u64) -> bool {
    !len.is_multiple_of(S) && now > to
}

impl DiskFile for CryptFile {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let Some(shared) = &self.shared else {
            return Ok(0);
        };
        let left = self.len()?.saturating_sub(offset);
        let total = (out.len() as u64).min(left) as usize;
        if total == 0 {
            return Ok(0);
        }
        let out = &mut out[..total];
        let end = offset + total as u64;
        let (first, last) = (offset / S, (end - 1) / S);
        let head = (!offset.is_multiple_of(S)).then_some(first);
        let tail = (!end.is_multiple_of(S)).then_some(last);
        let _edges = shared.edges.lock([head, tail], false);
        if head.is_none() && tail.is_none() {
            let n = self.inner.read_at(out, physical(first))? / SECTOR * SECTOR;
            shared.xts.decrypt(&mut out[..n], first);
            return Ok(n);
        }
        let mut done = 0;
        let mut sector = first;
        while sector <= last {
            let n = (last - sector + 1).min((PIECE / SECTOR) as u64);
            let whole = with_scratch(n as usize * SECTOR, |buf| -> io::Result<bool> {
                let read = self.inner.read_at(buf, physical(sector))? / SECTOR * SECTOR;
                shared.xts.decrypt(&mut buf[..read], sector);
                let from = offset.saturating_sub(sector * S) as usize;
                let to = ((end - sector * S) as usize).min(read);
                if from < to {
                    out[done..done + to - from].copy_from_slice(&buf[from..to]);
                    done += to - from;
                }
                Ok(read == buf.len())
            })?;
            if !whole {
                break;
            }
            sector += n;
        }
        Ok(done)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.write(&[buf], offset)
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        self.write(bufs, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let shared = self.shared()?;
        let _resize = shared.resize.lock();
        let old = self.len()?;
        if len > old {
            self.clean_end(shared, old)?;
        }
        self.inner.set_len(physical_len(len))
    }

    fn len(&self) -> io::Result<u64> {
        match &self.shared {
            Some(_) => Ok(content_len(self.inner.len()?)),
            None => Ok(0),
        }
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let shared = self.shared()?;
        let end = offset.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?;
        let _resize = shared.resize.lock();
        let old = self.len()?;
        if end > old {
            self.clean_end(shared, old)?;
        }
        let (from, to) = (physical(offset / S), physical(end.div_ceil(S)));
        self.inner.allocate(from, to - from)?;
        if end > old && self.inner.len()? != physical_len(end) {
            self.inner.set_len(physical_len(end))?;
        }
        Ok(())
    }

    fn read_stored(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let Some(shared) = &self.shared else {
            return self.inner.read_at(buf, offset);
        };
        if buf.is_empty() {
            return Ok(0);
        }
        // A sector that is being written in part, at either end of what is read, must not be seen half new.
        let sector = |at: u64| at.checked_sub(HEAD_LEN).map(|n| n / S);
        let last = sector(offset + buf.len() as u64 - 1);
        let _edges = shared.edges.lock([sector(offset), last], false);
        self.inner.read_at(buf, offset)
    }

    fn stored_len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn stored_at(&self, offset: u64) -> u64 {
        HEAD_LEN + offset
    }
}
