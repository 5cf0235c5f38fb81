//! The binary log at size: makes a long log quickly, and measures what a start and a replica's connect cost on it.
//!
//! ```text
//! cargo run --release -p narwal-engine --example binlog_bench -- build DIR BYTES [FILE_BYTES]
//! cargo run --release -p narwal-engine --example binlog_bench -- connect DIR [CONNECTS]
//! ```
//! `build` updates the same few rows again and again, so the table store stays small. It neither syncs nor writes zeros
//! ahead: its log is whole when it ends, but would not survive a power loss before. `connect` prints one line of JSON.

use narwal_engine::{
    Database, EngineError, GtidChoice, LockMode, LockWait, Options, ReadStart, Result, Table,
    TableBuilder, TxnOptions,
};
use narwal_log::{Disk, DiskFile, RealDisk};
use narwal_types::{TypeKind, ValueRef};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Bytes of one row; an update logs it twice.
const ROW: usize = 12_000;
const THREADS: u64 = 2;
const ROWS: u64 = 64;

/// A disk that is in no hurry: for making test data only.
#[derive(Debug)]
struct Lazy;

#[derive(Debug)]
struct LazyFile {
    file: Arc<dyn DiskFile>,
    log: bool,
}

impl Lazy {
    fn wrap(path: &Path, file: io::Result<Arc<dyn DiskFile>>) -> io::Result<Arc<dyn DiskFile>> {
        let log = path.parent().is_some_and(|p| p.ends_with("log"));
        Ok(Arc::new(LazyFile { file: file?, log }))
    }
}

impl DiskFile for LazyFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        // Zeros ahead of the log's writer: the blocks are allocated, and read as zeros.
        if self.log && buf.len() >= 64 << 10 && buf.iter().all(|b| *b == 0) {
            return Ok(());
        }
        self.file.write_at(buf, offset)
    }
    fn write_vectored_at(&self, bufs: &[&[u8]], offset: u64) -> io::Result<()> {
        self.file.write_vectored_at(bufs, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.file.allocate(offset, len)
    }
}

impl Disk for Lazy {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        RealDisk.create_dir_all(dir)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Self::wrap(path, RealDisk.open(path))
    }
    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Self::wrap(path, RealDisk.open_read(path))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Self::wrap(path, RealDisk.create(path))
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        RealDisk.exists(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(dir)
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        RealDisk.free_space(dir)
    }
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        RealDisk.lock(path)
    }
}

fn next(x: &mut u64) -> u64 {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    *x
}

fn row(t: &Table, id: i64, text: &[u8]) -> Result<Vec<u8>> {
    t.row(&[ValueRef::Int(id), ValueRef::Bytes(text)])
}

fn build(dir: &str, bytes: u64, file: u64) -> Result<()> {
    let options = Options {
        flush_log_at_trx_commit: 0,
        max_binlog_size: u32::try_from(file).unwrap_or(u32::MAX),
        disk: Arc::new(Lazy),
        ..Options::default()
    };
    let db = Database::open_with(dir, options)?;
    db.create_database("b")?;
    db.create_table(
        TableBuilder::new("b", "t")
            .column("id", TypeKind::BigInt, false)
            .column("c", TypeKind::VarBinary(ROW as u16), false)
            .primary_key(&["id"])
            .build()?,
    )?;
    let catalog = db.catalog();
    let t = catalog
        .table("b", "t")
        .ok_or_else(|| EngineError::Catalog("t".into()))?;
    let mut x = db.begin(TxnOptions::default());
    for id in 0..(ROWS * THREADS) as i64 {
        x.begin_statement(1, None);
        x.insert(t, row(t, id, &[b'x'; ROW])?)?;
    }
    x.commit()?;
    let written = AtomicU64::new(0);
    std::thread::scope(|s| {
        let work = |n: u64| -> Result<()> {
            let mut seed = 88_172_645_463_325_252 ^ (n << 32);
            let mut text = [0u8; ROW];
            for b in text.chunks_mut(8) {
                b.copy_from_slice(&next(&mut seed).to_le_bytes()[..b.len()]);
            }
            while written.load(Ordering::Relaxed) < bytes {
                let id = (n * ROWS + next(&mut seed) % ROWS) as i64;
                text[..8].copy_from_slice(&next(&mut seed).to_le_bytes());
                // Two domains, three servers.
                let mut x = db.begin(TxnOptions {
                    gtid: GtidChoice {
                        domain_id: Some(n as u32 % 2),
                        server_id: Some(1 + (next(&mut seed) % 2) as u32),
                        ..GtidChoice::default()
                    },
                    ..TxnOptions::default()
                });
                x.begin_statement(1, None);
                let pk = t.key(0, &[ValueRef::Int(id)])?;
                let old = x
                    .lock_row(t, &pk, LockMode::Exclusive, LockWait::Wait)?
                    .ok_or_else(|| EngineError::Catalog("a row is missing".into()))?;
                x.update(t, &pk, &old, row(t, id, &text)?)?;
                x.commit()?;
                written.fetch_add(2 * ROW as u64, Ordering::Relaxed);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|n| s.spawn(move || work(n))).collect();
        for thread in threads {
            thread
                .join()
                .map_err(|_| EngineError::Io("a writer panicked".into()))??;
        }
        Ok::<(), EngineError>(())
    })?;
    db.close()
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn connect(dir: &str, connects: u64) -> Result<()> {
    let started = Instant::now();
    let db = Database::open(dir)?;
    let open_ms = milliseconds(started);
    let files = db.binlog_files();
    let bytes: u64 = files.iter().map(|f| f.size).sum();
    let commits = db
        .stats()
        .values
        .iter()
        .find(|v| v.0 == "Narwal_visible_seq")
        .map_or(1, |v| v.1);
    let mut seed = 88_172_645_463_325_252;
    let mut times = Vec::new();
    let mut most = 0;
    for n in 0..connects {
        // From the oldest to the newest, and anywhere between.
        let seq = match n {
            0 => 3,
            1 => commits,
            _ => 3 + next(&mut seed) % (commits - 3),
        };
        let have = db.position_at_seq(seq)?.gtid_pos;
        let before = db.binlog_stats().lookup_records;
        let started = Instant::now();
        let mut reader = db.binlog_reader(ReadStart::Gtid(have))?;
        let found = reader.next_group()?;
        if found.is_some() {
            reader.next_event()?;
        }
        times.push(milliseconds(started));
        most = most.max(db.binlog_stats().lookup_records - before);
        if found.map_or(commits + 1, |h| h.seq) != seq + 1 {
            return Err(EngineError::Corrupt(format!(
                "behind commit {seq}: {found:?}"
            )));
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let stats = db.binlog_stats();
    println!(
        "{}",
        serde_json::json!({
            "log_bytes": stats.disk_use, "files": files.len(), "file_bytes": bytes, "commits": commits,
            "open_ms": open_ms, "recovery_records": stats.recovery_records, "recovery_bytes": stats.recovery_bytes,
            "connects": connects, "connect_median_ms": at(0.5), "connect_p99_ms": at(0.99), "connect_max_ms": at(1.0),
            "records_scanned_most": most,
        })
    );
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |s: &str| s.parse().map_err(|e| EngineError::Io(format!("{s}: {e}")));
    match args[..] {
        ["build", dir, bytes] => build(dir, number(bytes)?, 1 << 30),
        ["build", dir, bytes, file] => build(dir, number(bytes)?, number(file)?),
        ["connect", dir] => connect(dir, 300),
        ["connect", dir, n] => connect(dir, number(n)?),
        _ => Err(EngineError::Io(
            "usage: binlog_bench build DIR BYTES [FILE_BYTES] | connect DIR [CONNECTS]".into(),
        )),
    }
}
