//! The only place that touches real files: the [`Disk`] and [`DiskFile`] traits, and [`RealDisk`].
//!
//! Everything above goes through these traits, so that a simulated disk ([`crate::sim::SimDisk`]) can drop, tear and
//! reorder what was not synced and fail any call.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// An open file with positional access. Every call may run at the same time as every other.
pub trait DiskFile: Send + Sync + Debug {
    /// Reads up to `buf.len()` bytes at `offset`; fewer only at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `buf` at `offset`, growing the file if need be.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()>;
    /// Writes all of `bufs`, one behind the other, from `offset` on.
    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()>;
    /// Makes everything written to this file durable, and its length (fdatasync).
    fn sync_data(&self) -> io::Result<()>;
    /// Cuts or grows the file (with zeros).
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Makes `[offset, offset + len)` allocated blocks, keeping what they hold; grows the file. Fails with "no space"
    /// without harm to what is already allocated.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;
    /// As [`DiskFile::read_at`], but gives the bytes as they are kept below: encrypted, if this disk encrypts. What was
    /// written before the call is there as a whole; `offset` counts stored bytes.
    fn read_stored(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_at(buf, offset)
    }
    /// The length of what [`DiskFile::read_stored`] reads.
    fn stored_len(&self) -> io::Result<u64> {
        self.len()
    }
    /// The stored place of the byte at `offset`; places run on from there.
    fn stored_at(&self, offset: u64) -> u64 {
        offset
    }
}

/// A file system.
pub trait Disk: Send + Sync + Debug {
    /// Makes a directory and its parents.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens an existing file for reading only.
    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Makes an empty file (cut to nothing if it exists), for reading and writing.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Whether a file of this name exists.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Renames a file; an existing target is replaced in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The names (not paths) of the files in `dir`, in no order.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Makes creations, renames and removals in `dir` durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Bytes that an ordinary user may still write there.
    fn free_space(&self, dir: &Path) -> io::Result<u64>;
    /// Takes the exclusive lock file `path` (created if need be); `WouldBlock` if another process holds it. Released
    /// when the returned value is dropped.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>>;
    /// Makes `to` a copy of `from` that shares its blocks, in one step and at no cost in space, where the file system can;
    /// `false` (and no file `to`) where it can't.
    fn reflink(&self, _from: &Path, _to: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

/// The operating system's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

/// The kernel's limit of buffers in one vectored write (UIO_MAXIOV).
const MAX_IOVECS: usize = 1024;

impl DiskFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            match self.0.read_at(&mut buf[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(buf, offset)
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], mut offset: u64) -> io::Result<()> {
        if let [one] = bufs {
            return self.0.write_all_at(one, offset);
        }
        let mut slices: Vec<IoSlice<'_>> = Vec::with_capacity(bufs.len().min(MAX_IOVECS));
        for part in bufs.chunks(MAX_IOVECS) {
            slices.clear();
            slices.extend(part.iter().map(|b| IoSlice::new(b)));
            let mut rest = &mut slices[..];
            IoSlice::advance_slices(&mut rest, 0);
            while !rest.is_empty() {
                let at = libc::off_t::try_from(offset)
                    .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
                // SAFETY: IoSlice has the layout of iovec (documented in std); `rest` points to rest.len() <= 1024
                // of them, all borrowed for the length of the call, and the descriptor is open while &self lives.
                let n = unsafe {
                    libc::pwritev(
                        self.0.as_raw_fd(),
                        rest.as_ptr().cast::<libc::iovec>(),
                        rest.len() as libc::c_int,
                        at,
                    )
                };
                if n < 0 {
                    let e = io::Error::last_os_error();
                    if e.kind() == io::ErrorKind::Interrupted {
                        continue;
                    }
                    return Err(e);
                }
                if n == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                let n = n as usize;
                offset += n as u64;
                IoSlice::advance_slices(&mut rest, n);
            }
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let bad = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let (at, n) = (
            libc::off_t::try_from(offset).map_err(bad)?,
            libc::off_t::try_from(len).map_err(bad)?,
        );
        loop {
            // SAFETY: a plain system call on a descriptor that is open while &self lives; no memory is passed.
            let r = unsafe { libc::fallocate(self.0.as_raw_fd(), 0, at, n) };
            if r == 0 {
                return Ok(());
            }
            let e = io::Error::last_os_error();
            match e.raw_os_error() {
                Some(libc::EINTR) => {}
                // The file system can't: growing by writing zeros has to do.
                Some(libc::EOPNOTSUPP | libc::ENOSYS) => {
                    let end = offset + len;
                    if self.0.metadata()?.len() < end {
                        self.0.set_len(end)?;
                    }
                    return Ok(());
                }
                _ => return Err(e),
            }
        }
    }
}

impl Disk for RealDisk {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let f = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Arc::new(RealFile(f)))
    }

    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(File::open(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let f = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        Ok(Arc::new(RealFile(f)))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::CString::new(dir.as_os_str().as_bytes())
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut out = std::mem::MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: `path` is a NUL-terminated string and `out` a writable statvfs, both alive during the call; `out`
        // is read only when the call succeeded and so filled it.
        let out = unsafe {
            if libc::statvfs(path.as_ptr(), out.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            out.assume_init()
        };
        Ok(out.f_bavail.saturating_mul(out.f_frsize))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        let f = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match f.try_lock() {
            Ok(()) => Ok(Box::new(f)),
            Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(fs::TryLockError::Error(e)) => Err(e),
        }
    }

    fn reflink(&self, from: &Path, to: &Path) -> io::Result<bool> {
        let source = File::open(from)?;
        let target = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(to)?;
        // SAFETY: a system call on two descriptors that are open until it returns; no memory is passed.
        let r = unsafe { libc::ioctl(target.as_raw_fd(), libc::FICLONE, source.as_raw_fd()) };
        if r == 0 {
            return Ok(true);
        }
        let e = io::Error::last_os_error();
        drop(target);
        fs::remove_file(to)?;
        match e.raw_os_error() {
            // Another file system, or one that can't.
            Some(
                libc::EXDEV
                | libc::EOPNOTSUPP
                | libc::ENOTTY
                | libc::ENOSYS
                | libc::EINVAL
                | libc::EPERM,
            ) => Ok(false),
            _ => Err(e),
        }
    }
}

/// Keeps the lock file locked.
pub(crate) struct LockFile(
    #[expect(dead_code, reason = "held for its drop")] pub Box<dyn Send + Sync>,
);

impl std::fmt::Debug for LockFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockFile")
    }
}
