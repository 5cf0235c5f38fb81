//! A simulated disk in memory for crash tests: what was not synced may be kept, dropped, torn at 512-byte sectors or
//! reordered when the power goes; names that were not synced with their directory may be missing; any call can fail.
//!
//! Everything random comes from the seed given to [`SimDisk::crash`], so a failure can be repeated.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::disk::{Disk, DiskFile};

/// Bytes that a disk writes as one piece.
pub const SECTOR: u64 = 512;

/// Stands for a panic where an error number is expected.
const PANIC: i32 = i32::MIN;

/// The kinds of calls that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// `read_at`.
    Read,
    /// `write_at`, `write_vectored_at`.
    Write,
    /// `sync_data`.
    Sync,
    /// `set_len`.
    SetLen,
    /// `allocate`.
    Allocate,
    /// `open`, `open_read`.
    Open,
    /// `create`.
    Create,
    /// `rename`.
    Rename,
    /// `remove`.
    Remove,
    /// `sync_dir`.
    SyncDir,
    /// `list`.
    List,
    /// `exists`.
    Exists,
    /// `len`.
    Len,
    /// `create_dir_all`.
    CreateDir,
    /// `lock`.
    Lock,
    /// `free_space`.
    FreeSpace,
}

/// What a call is about.
#[derive(Clone, Copy)]
enum On<'a> {
    Inode(u64),
    Path(&'a Path),
}

impl Call {
    /// Every kind that changes something.
    pub const CHANGING: [Call; 8] = [
        Call::Write,
        Call::Sync,
        Call::SetLen,
        Call::Allocate,
        Call::Create,
        Call::Rename,
        Call::Remove,
        Call::SyncDir,
    ];

    /// Every kind.
    pub const ALL: [Call; 16] = [
        Call::Read,
        Call::Write,
        Call::Sync,
        Call::SetLen,
        Call::Allocate,
        Call::Open,
        Call::Create,
        Call::Rename,
        Call::Remove,
        Call::SyncDir,
        Call::List,
        Call::Exists,
        Call::Len,
        Call::CreateDir,
        Call::Lock,
        Call::FreeSpace,
    ];
}

/// The names of files: by their bytes, since comparing paths part by part is a good part of a story's time.
type Names = BTreeMap<Arc<OsStr>, u64>;

fn name(path: &Path) -> Arc<OsStr> {
    path.as_os_str().into()
}

/// Whether a name is one of a folder's.
fn is_inside(name: &OsStr, dir: &Path) -> bool {
    let (name, dir) = (name.as_bytes(), dir.as_os_str().as_bytes());
    let rest = name.strip_prefix(dir).and_then(|r| r.strip_prefix(b"/"));
    rest.is_some_and(|r| !r.contains(&b'/'))
}

/// Bytes that copies of a file share until one of them writes there.
const CHUNK: usize = 16 << 10;

/// A file's bytes. Copies share them, chunk by chunk, until one of them writes.
#[derive(Debug, Clone, Default)]
struct Bytes {
    chunks: Vec<Arc<[u8; CHUNK]>>,
    /// What is behind it in the last chunk is zero.
    len: usize,
}

impl Bytes {
    fn resize(&mut self, len: usize) {
        if len < self.len {
            self.chunks.truncate(len.div_ceil(CHUNK));
            if let Some(last) = self
                .chunks
                .last_mut()
                .filter(|_| !len.is_multiple_of(CHUNK))
            {
                Arc::make_mut(last)[len % CHUNK..].fill(0);
            }
        } else if len.div_ceil(CHUNK) > self.chunks.len() {
            // All of them the same one, until they are written to.
            let zeros = Arc::new([0; CHUNK]);
            self.chunks.resize(len.div_ceil(CHUNK), zeros);
        }
        self.len = len;
    }

    fn write(&mut self, at: u64, mut bytes: &[u8]) {
        let mut at = at as usize;
        if self.len < at + bytes.len() {
            self.resize(at + bytes.len());
        }
        while !bytes.is_empty() {
            let from = at % CHUNK;
            let n = bytes.len().min(CHUNK - from);
            Arc::make_mut(&mut self.chunks[at / CHUNK])[from..from + n]
                .copy_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            at += n;
        }
    }

    /// As many bytes as there are.
    fn read(&self, at: u64, buf: &mut [u8]) -> usize {
        let mut at = usize::try_from(at).unwrap_or(usize::MAX).min(self.len);
        let wanted = buf.len().min(self.len - at);
        let mut rest = &mut buf[..wanted];
        while !rest.is_empty() {
            let from = at % CHUNK;
            let n = rest.len().min(CHUNK - from);
            let (piece, more) = rest.split_at_mut(n);
            piece.copy_from_slice(&self.chunks[at / CHUNK][from..from + n]);
            rest = more;
            at += n;
        }
        wanted
    }

    fn to_vec(&self) -> Vec<u8> {
        let mut all = vec![0; self.len];
        self.read(0, &mut all);
        all
    }
}

#[derive(Debug, Clone)]
enum Pending {
    Write(u64, Arc<[u8]>),
    SetLen(u64),
}

#[derive(Debug, Clone, Default)]
struct SimInode {
    /// What reads see.
    now: Bytes,
    /// What is on the platter.
    durable: Bytes,
    pending: Vec<Pending>,
    /// How many were pending before those.
    settled: u64,
    /// Syncs that have failed.
    losses: u64,
    /// Bytes that were read since [`SimDisk::trace_reads`].
    read: Option<Vec<bool>>,
}

#[derive(Debug, Clone)]
enum DirOp {
    Link(Arc<OsStr>, u64),
    Rename(Arc<OsStr>, Arc<OsStr>, u64),
    Unlink(Arc<OsStr>),
}

#[derive(Debug, Clone, Default)]
struct State {
    inodes: HashMap<u64, SimInode>,
    next_inode: u64,
    names: Names,
    durable_names: Names,
    dir_ops: Vec<DirOp>,
    /// The names at [`SimDisk::trace_reads`].
    traced_names: Names,
    /// Calls that change something, so far.
    changes: u64,
    /// The change after which nothing works any more.
    power_off_at: Option<u64>,
    sync_time: Duration,
    sync_spread: Duration,
    off: bool,
    counts: BTreeMap<Call, u64>,
    /// (kind, number of that call, errno).
    faults: Vec<(Call, u64, i32)>,
    /// Where those struck.
    hits: Vec<(Call, PathBuf)>,
    capacity: Option<u64>,
    rng: Option<SmallRng>,
}

/// The simulated disk. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: u64,
    /// Of how many failed syncs this handle knows.
    told: AtomicU64,
}

fn power_lost() -> io::Error {
    io::Error::other("simulated power loss")
}

fn not_found() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

impl State {
    /// Counts a call and says whether it fails. `Ok(true)`: the power goes in the middle of it, so it may leave a
    /// part of its effect, and must return an error.
    fn enter(&mut self, call: Call, on: On<'_>) -> io::Result<bool> {
        if self.off {
            return Err(power_lost());
        }
        let n = self.counts.entry(call).or_default();
        *n += 1;
        let n = *n;
        if let Some(i) = self.faults.iter().position(|f| f.0 == call && f.1 == n) {
            let errno = self.faults.swap_remove(i).2;
            assert_ne!(errno, PANIC, "simulated panic");
            let path = match on {
                On::Path(path) => Some(path.to_path_buf()),
                On::Inode(id) => (self.names.iter())
                    .find(|(_, i)| **i == id)
                    .map(|(name, _)| PathBuf::from(&**name)),
            };
            self.hits.push((call, path.unwrap_or_default()));
            return Err(io::Error::from_raw_os_error(errno));
        }
        if Call::CHANGING.contains(&call) {
            self.changes += 1;
            if self.power_off_at.is_some_and(|at| self.changes >= at) {
                self.off = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn inode(&mut self, id: u64) -> &mut SimInode {
        self.inodes.entry(id).or_default()
    }

    /// How much longer than the others a sync takes.
    fn spread(&mut self) -> Duration {
        if self.sync_spread.is_zero() {
            return Duration::ZERO;
        }
        let most = self.sync_spread.as_nanos() as u64;
        let rng = (self.rng).get_or_insert_with(|| SmallRng::seed_from_u64(most));
        Duration::from_nanos(rng.random_range(0..most))
    }

    fn room(&self, id: u64, new_len: u64) -> io::Result<()> {
        let Some(capacity) = self.capacity else {
            return Ok(());
        };
        let used: u64 = self
            .names
            .values()
            .map(|i| self.inodes.get(i).map_or(0, |f| f.now.len as u64))
            .sum();
        let old = self.inodes.get(&id).map_or(0, |f| f.now.len as u64);
        if new_len > old && used + (new_len - old) > capacity {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        Ok(())
    }
}

impl SimInode {
    /// The number of the next change.
    fn next(&self) -> u64 {
        self.settled + self.pending.len() as u64
    }

    /// Makes the changes before the one with number `end` durable.
    fn sync(&mut self, end: u64) {
        let n = end.saturating_sub(self.settled) as usize;
        self.settled += n as u64;
        for p in self.pending.drain(..n) {
            match p {
                Pending::Write(at, bytes) => self.durable.write(at, &bytes),
                Pending::SetLen(len) => self.durable.resize(len as usize),
            }
        }
    }

    /// Lets an arbitrary part of what was not synced reach the platter and forgets the rest.
    fn lose(&mut self, rng: &mut SmallRng) {
        let policy = rng.random_range(0..5);
        self.settled = self.next();
        let ops = std::mem::take(&mut self.pending);
        let keep = match policy {
            0 => ops.len(),
            1 => 0,
            // In order, up to somewhere in the middle of one.
            2 => rng.random_range(0..=ops.len()),
            // Any sector may have come through and any other not.
            _ => ops.len(),
        };
        let share = if policy >= 3 {
            rng.random_range(0.05..0.95)
        } else {
            1.0
        };
        for (i, op) in ops.into_iter().enumerate() {
            let torn = i == keep && policy == 2;
            if i >= keep && !torn {
                break;
            }
            match op {
                Pending::SetLen(len) => {
                    if share >= 1.0 || rng.random_bool(share) {
                        self.durable.resize(len as usize);
                    }
                }
                Pending::Write(at, bytes) => {
                    let mut from = 0usize;
                    let stop = if torn {
                        rng.random_range(0..=bytes.len())
                    } else {
                        bytes.len()
                    };
                    while from < bytes.len() {
                        let pos = at + from as u64;
                        let n = ((SECTOR - pos % SECTOR) as usize).min(bytes.len() - from);
                        if torn && from + n > stop {
                            break;
                        }
                        if share >= 1.0 || rng.random_bool(share) {
                            self.durable.write(pos, &bytes[from..from + n]);
                        }
                        from += n;
                    }
                }
            }
        }
    }
}

impl SimDisk {
    /// An empty disk that never fails by itself.
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// Makes each sync take this long, as a slow disk does. Default zero.
    pub fn set_sync_time(&self, time: Duration) {
        self.0.lock().sync_time = time;
    }

    /// Makes each sync take up to so much longer than that, so that they end in any order. Default zero.
    pub fn set_sync_spread(&self, spread: Duration) {
        self.0.lock().sync_spread = spread;
    }

    /// How many calls that change something were made so far.
    pub fn changes(&self) -> u64 {
        self.0.lock().changes
    }

    /// How many calls of this kind were made so far.
    pub fn count(&self, call: Call) -> u64 {
        self.0.lock().counts.get(&call).copied().unwrap_or(0)
    }

    /// The power goes in the middle of the `n`-th changing call from now (1: the next).
    pub fn power_off_in(&self, n: u64) {
        let mut s = self.0.lock();
        s.power_off_at = Some(s.changes + n);
    }

    /// Takes [`SimDisk::power_off_in`] back, if it has not come.
    pub fn power_stays(&self) {
        self.0.lock().power_off_at = None;
    }

    /// The `n`th call of this kind from now on panics.
    pub fn panic_nth(&self, call: Call, n: u64) {
        self.fail_nth(call, n, PANIC);
    }

    /// The `n`-th call of this kind from now (1: the next) fails with `errno`. A failed sync may have written any part
    /// of what it should have, and what it has not written is forgotten by the disk.
    pub fn fail_nth(&self, call: Call, n: u64, errno: i32) {
        let mut s = self.0.lock();
        let at = s.counts.get(&call).copied().unwrap_or(0) + n;
        s.faults.push((call, at, errno));
    }

    /// From the `n`-th call of this kind from now on (1: the next) all fail with `errno`, `times` of them.
    pub fn fail_from(&self, call: Call, n: u64, times: u64, errno: i32) {
        for i in 0..times {
            self.fail_nth(call, n + i, errno);
        }
    }

    /// The calls that were made to fail so far, and the file or folder of each.
    pub fn hits(&self) -> Vec<(Call, PathBuf)> {
        self.0.lock().hits.clone()
    }

    /// Takes back all faults that were set and have not come.
    pub fn heal(&self) {
        self.0.lock().faults.clear();
    }

    /// Limits the sum of all file lengths; `None` for no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.0.lock().capacity = bytes;
    }

    /// Bytes of all files.
    pub fn used(&self) -> u64 {
        let s = self.0.lock();
        s.names
            .values()
            .map(|i| s.inodes.get(i).map_or(0, |f| f.now.len as u64))
            .sum()
    }

    /// Whether the simulated power has gone.
    pub fn is_off(&self) -> bool {
        self.0.lock().off
    }

    /// Takes the power away and returns the disk as it comes up again; this one is dead. The seed decides what of the
    /// unsynced survives.
    pub fn crash(&self, seed: u64) -> SimDisk {
        let mut old = self.0.lock();
        let mut s = old.clone();
        old.off = true;
        let mut rng = SmallRng::seed_from_u64(seed);
        let keep = match rng.random_range(0..4) {
            0 => s.dir_ops.len(),
            1 => 0,
            _ => rng.random_range(0..=s.dir_ops.len()),
        };
        let mut names = std::mem::take(&mut s.durable_names);
        for op in s.dir_ops.drain(..).take(keep) {
            apply(&mut names, op);
        }
        // In a fixed order, or the same seed would not do the same again.
        let mut ids: Vec<u64> = s.inodes.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            let f = s.inode(id);
            f.lose(&mut rng);
            f.now = f.durable.clone();
        }
        s.inodes.retain(|id, _| names.values().any(|n| n == id));
        SimDisk::revive(s, names)
    }

    /// Kills the process but not the machine: everything written is there, what was not synced is still not durable.
    /// This disk is dead.
    pub fn kill(&self) -> SimDisk {
        let copy = self.fork();
        self.0.lock().off = true;
        copy
    }

    /// An independent copy of the disk as it is, without the faults that were set.
    pub fn fork(&self) -> SimDisk {
        let mut s = self.0.lock().clone();
        s.off = false;
        s.power_off_at = None;
        s.faults.clear();
        SimDisk(Arc::new(Mutex::new(s)))
    }

    fn revive(mut s: State, names: Names) -> SimDisk {
        s.names = names.clone();
        s.durable_names = names;
        s.off = false;
        s.power_off_at = None;
        s.faults.clear();
        s.counts.clear();
        s.changes = 0;
        SimDisk(Arc::new(Mutex::new(s)))
    }

    /// The content of a file.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let s = self.0.lock();
        let id = s.names.get(path.as_os_str())?;
        s.inodes.get(id).map(|f| f.now.to_vec())
    }

    /// Changes bytes of a file, durably: damage.
    pub fn damage(&self, path: &Path, offset: u64, change: impl FnOnce(&mut [u8])) {
        let mut s = self.0.lock();
        if let Some(&id) = s.names.get(path.as_os_str()) {
            let f = s.inode(id);
            f.sync(f.next());
            let mut rest = vec![0; f.now.len - offset as usize];
            f.now.read(offset, &mut rest);
            let before = rest.clone();
            change(&mut rest);
            let changed = rest.iter().zip(&before).rposition(|(a, b)| a != b);
            f.now.write(offset, &rest[..changed.map_or(0, |n| n + 1)]);
            f.durable = f.now.clone();
        }
    }

    /// From now on it is kept which bytes of the files that are there are read.
    pub fn trace_reads(&self) {
        let mut s = self.0.lock();
        for f in s.inodes.values_mut() {
            f.read = Some(vec![false; f.now.len]);
        }
        s.traced_names = s.names.clone();
    }

    /// Those bytes, of the files that were there, by the names that the files had.
    pub fn reads(&self) -> BTreeMap<PathBuf, Vec<bool>> {
        let s = self.0.lock();
        let read = |id: &u64| s.inodes.get(id)?.read.clone();
        (s.traced_names.iter())
            .filter_map(|(path, id)| Some((PathBuf::from(&**path), read(id)?)))
            .collect()
    }

    /// All file paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        let s = self.0.lock();
        s.names.keys().map(|n| PathBuf::from(&**n)).collect()
    }

    fn handle(&self, inode: u64) -> Arc<dyn DiskFile> {
        let losses = self.0.lock().inode(inode).losses;
        Arc::new(SimFile {
            disk: self.clone(),
            inode,
            told: AtomicU64::new(losses),
        })
    }
}

fn apply(names: &mut Names, op: DirOp) {
    match op {
        DirOp::Link(p, id) => {
            names.insert(p, id);
        }
        DirOp::Rename(from, to, id) => {
            names.remove(&from);
            names.insert(to, id);
        }
        DirOp::Unlink(p) => {
            names.remove(&p);
        }
    }
}

impl SimFile {
    fn write(&self, bytes: Arc<[u8]>, offset: u64) -> io::Result<()> {
        let mut s = self.disk.0.lock();
        let off = match s.enter(Call::Write, On::Inode(self.inode)) {
            Ok(off) => off,
            Err(e) => {
                // What fails may have been done in part.
                let part: Arc<[u8]> = bytes[..bytes.len() / 2].into();
                if !s.off && s.room(self.inode, offset + part.len() as u64).is_ok() {
                    let f = s.inode(self.inode);
                    f.now.write(offset, &part);
                    f.pending.push(Pending::Write(offset, part));
                }
                return Err(e);
            }
        };
        s.room(self.inode, offset + bytes.len() as u64)?;
        let f = s.inode(self.inode);
        f.now.write(offset, &bytes);
        f.pending.push(Pending::Write(offset, bytes));
        if off { Err(power_lost()) } else { Ok(()) }
    }

    fn resize(&self, call: Call, len: u64, only_grow: bool) -> io::Result<()> {
        let mut s = self.disk.0.lock();
        let off = s.enter(call, On::Inode(self.inode))?;
        s.room(self.inode, len)?;
        let f = s.inode(self.inode);
        if !(only_grow && f.now.len as u64 >= len) {
            f.now.resize(len as usize);
            f.pending.push(Pending::SetLen(len));
        }
        if off { Err(power_lost()) } else { Ok(()) }
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut s = self.disk.0.lock();
        s.enter(Call::Read, On::Inode(self.inode))?;
        let f = s.inode(self.inode);
        let n = f.now.read(offset, buf);
        if let Some(read) = f.read.as_mut().filter(|_| n > 0) {
            let end = offset as usize + n;
            read.resize(read.len().max(end), false);
            read[offset as usize..end].fill(true);
        }
        Ok(n)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.write(buf.into(), offset)
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        self.write(bufs.concat().into(), offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        // What is written meanwhile is left out. What a sync that fails loses is lost to those that run beside it, too, and
        // each handle that was open then is told once, as by Linux.
        let (time, before, result) = {
            let mut s = self.disk.0.lock();
            let result = s.enter(Call::Sync, On::Inode(self.inode));
            if result.is_err() && !s.off {
                let seed = s.changes;
                let mut rng = s
                    .rng
                    .take()
                    .unwrap_or_else(|| SmallRng::seed_from_u64(seed));
                s.inode(self.inode).lose(&mut rng);
                s.inode(self.inode).losses += 1;
                s.rng = Some(rng);
                self.told.fetch_add(1, Ordering::SeqCst);
            }
            let time = s.sync_time + s.spread();
            (time, s.inode(self.inode).next(), result)
        };
        if !time.is_zero() {
            std::thread::sleep(time);
        }
        let mut s = self.disk.0.lock();
        if result? || s.off {
            return Err(power_lost());
        }
        let losses = s.inode(self.inode).losses;
        if self.told.swap(losses, Ordering::SeqCst) < losses {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        s.inode(self.inode).sync(before);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.resize(Call::SetLen, len, false)
    }

    fn len(&self) -> io::Result<u64> {
        let mut s = self.disk.0.lock();
        s.enter(Call::Len, On::Inode(self.inode))?;
        Ok(s.inode(self.inode).now.len as u64)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.resize(Call::Allocate, offset + len, true)
    }
}

impl Disk for SimDisk {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let entered = self.0.lock().enter(Call::CreateDir, On::Path(dir));
        entered.map(|_| ())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let id = {
            let mut s = self.0.lock();
            s.enter(Call::Open, On::Path(path))?;
            s.names
                .get(path.as_os_str())
                .copied()
                .ok_or_else(not_found)?
        };
        Ok(self.handle(id))
    }

    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let id = {
            let mut s = self.0.lock();
            let off = s.enter(Call::Create, On::Path(path))?;
            let id = match s.names.get(path.as_os_str()) {
                Some(&id) => {
                    let f = s.inode(id);
                    f.now = Bytes::default();
                    f.pending.push(Pending::SetLen(0));
                    id
                }
                None => {
                    s.next_inode += 1;
                    let id = s.next_inode;
                    s.inodes.insert(id, SimInode::default());
                    s.names.insert(name(path), id);
                    s.dir_ops.push(DirOp::Link(name(path), id));
                    id
                }
            };
            if off {
                return Err(power_lost());
            }
            id
        };
        Ok(self.handle(id))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let mut s = self.0.lock();
        s.enter(Call::Exists, On::Path(path))?;
        Ok(s.names.contains_key(path.as_os_str()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut s = self.0.lock();
        let off = s.enter(Call::Rename, On::Path(from))?;
        let id = s.names.remove(from.as_os_str()).ok_or_else(not_found)?;
        s.names.insert(name(to), id);
        s.dir_ops.push(DirOp::Rename(name(from), name(to), id));
        if off { Err(power_lost()) } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut s = self.0.lock();
        let off = s.enter(Call::Remove, On::Path(path))?;
        s.names.remove(path.as_os_str()).ok_or_else(not_found)?;
        s.dir_ops.push(DirOp::Unlink(name(path)));
        if off { Err(power_lost()) } else { Ok(()) }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut s = self.0.lock();
        s.enter(Call::List, On::Path(dir))?;
        Ok(s.names
            .keys()
            .filter(|n| is_inside(n, dir))
            .filter_map(|n| Path::new(n).file_name()?.to_str().map(str::to_owned))
            .collect())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut s = self.0.lock();
        if s.enter(Call::SyncDir, On::Path(dir))? {
            return Err(power_lost());
        }
        let State {
            dir_ops,
            durable_names,
            ..
        } = &mut *s;
        let inside = |n: &OsStr| is_inside(n, dir);
        dir_ops.retain(|op| {
            let here = match op {
                DirOp::Link(p, _) | DirOp::Unlink(p) => inside(p),
                DirOp::Rename(_, to, _) => inside(to),
            };
            if here {
                apply(durable_names, op.clone());
            }
            !here
        });
        Ok(())
    }

    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        self.0.lock().enter(Call::FreeSpace, On::Path(dir))?;
        let used = self.used();
        Ok(self
            .0
            .lock()
            .capacity
            .map_or(u64::MAX / 2, |c| c.saturating_sub(used)))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        self.0.lock().enter(Call::Lock, On::Path(path))?;
        Ok(Box::new(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synced_bytes_and_names_survive_every_crash_and_unsynced_ones_not_always() {
        let (mut lost_bytes, mut lost_name, mut torn) = (0, 0, 0);
        for seed in 0..200 {
            let disk = SimDisk::new();
            let dir = Path::new("/d");
            let f = disk.create(&dir.join("a")).unwrap();
            f.write_at(&[1; 2000], 0).unwrap();
            f.sync_data().unwrap();
            disk.sync_dir(dir).unwrap();
            f.write_at(&[2; 2000], 1000).unwrap();
            disk.create(&dir.join("b")).unwrap();
            let disk = disk.crash(seed);
            assert!(f.write_at(&[3], 0).is_err(), "the old disk is dead");
            let a = disk.content(&dir.join("a")).unwrap();
            assert!(a[..1000].iter().all(|&b| b == 1));
            let new = a[1000..].iter().filter(|&&b| b == 2).count();
            lost_bytes += usize::from(new == 0);
            torn += usize::from(new > 0 && new < 2000);
            lost_name += usize::from(disk.content(&dir.join("b")).is_none());
        }
        assert!(lost_bytes > 10 && torn > 10 && lost_name > 10);
    }

    #[test]
    fn a_killed_process_keeps_what_it_wrote_until_the_power_goes() {
        let disk = SimDisk::new();
        let dir = Path::new("/d");
        let f = disk.create(&dir.join("a")).unwrap();
        disk.sync_dir(dir).unwrap();
        f.write_at(&[7; 600], 0).unwrap();
        let disk = disk.kill();
        assert_eq!(disk.content(&dir.join("a")).unwrap(), vec![7; 600]);
        assert!((0..50).any(|seed| {
            let d = disk.fork().crash(seed);
            d.content(&dir.join("a")).unwrap().is_empty()
        }));
    }

    #[test]
    fn bytes_are_those_of_a_plain_list() {
        let mut rng = SmallRng::seed_from_u64(5);
        let (mut bytes, mut plain) = (Bytes::default(), Vec::new());
        let mut copies = Vec::new();
        for i in 0..2000u32 {
            let at = rng.random_range(0..3 * CHUNK);
            match rng.random_range(0..4) {
                0 => {
                    bytes.resize(at);
                    plain.resize(at, 0);
                }
                1 => copies.push((bytes.clone(), plain.clone())),
                _ => {
                    let piece = vec![i as u8; rng.random_range(0..CHUNK + 10)];
                    bytes.write(at as u64, &piece);
                    plain.resize(plain.len().max(at + piece.len()), 0);
                    plain[at..at + piece.len()].copy_from_slice(&piece);
                }
            }
            let mut buf = vec![9; 100];
            let n = bytes.read(at as u64, &mut buf);
            assert_eq!(
                &buf[..n],
                plain.get(at..plain.len().min(at + 100)).unwrap_or_default()
            );
        }
        copies.push((bytes, plain));
        assert!(copies.iter().all(|(b, p)| b.to_vec() == *p));
    }
}
