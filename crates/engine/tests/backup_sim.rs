//! Backups on the simulated disk: random transactions (large ones too), checkpoints, purges and resets between any two
//! pieces of the copy, links that break and are resumed, plain and encrypted folders, with the log and without.
//!
//! What is restored has every commit up to the place that the backup names, and none behind.
//! `NARWAL_SEEDS` sets the number of seeds, `NARWAL_SEED` runs one; a failure prints its seed.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::backup::*;
use narwal_engine::*;
use narwal_log::Disk;
use narwal_log::sim::SimDisk;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/data";
const TO: &str = "/restored";

type Rows = BTreeMap<i64, (Option<i64>, String)>;

fn seeds() -> Vec<u64> {
    if let Ok(one) = std::env::var("NARWAL_SEED") {
        return vec![one.parse().unwrap()];
    }
    let n = std::env::var("NARWAL_SEEDS").map_or(40, |n| n.parse().unwrap());
    (0..n).collect()
}

/// The folder's disk as the store sees it.
fn through(disk: &SimDisk, dir: &str, encrypted: bool) -> Arc<dyn Disk> {
    let disk = Arc::new(disk.clone());
    if !encrypted {
        return disk;
    }
    let key = format!("1;{}", "5a".repeat(32));
    let key = narwal_crypt::KeyFile::parse(Path::new("keys"), key.as_bytes()).unwrap();
    let access = narwal_crypt::Access::Serve;
    narwal_crypt::open_folder(disk, Path::new(dir), Some(&key), access)
        .unwrap()
        .disk
}

fn open(disk: &SimDisk, dir: &str, encrypted: bool) -> Database {
    let options = Options {
        background: false,
        segment_size: 64 << 10,
        oob_threshold: 4096,
        spill_bytes: 16 << 10,
        binlog_state_interval: 4096,
        max_binlog_size: 32 << 10,
        memory_budget: 32 << 20,
        disk: through(disk, dir, encrypted),
        ..Options::default()
    };
    Database::open_with(dir, options).unwrap()
}

struct Story {
    db: Database,
    rng: StdRng,
    rows: Rows,
    /// What the rows were after each commit.
    history: BTreeMap<u64, Rows>,
}

impl Story {
    fn table(&self) -> Arc<Table> {
        self.db.catalog().table("d", "t").unwrap().clone()
    }

    fn note(&mut self) {
        self.history.insert(self.db.log_end().1, self.rows.clone());
    }

    /// A transaction of up to `most` changes.
    fn transaction(&mut self, most: usize) {
        let t = self.table();
        let mut x = begin(&self.db);
        let mut rows = self.rows.clone();
        for _ in 0..self.rng.random_range(1..=most) {
            let id = self.rng.random_range(0..2000);
            let (k, c) = (
                Some(self.rng.random_range(0..50)),
                format!("v{}", self.rng.random::<u16>()),
            );
            if rows.remove(&id).is_some() {
                let locked = x.lock_row(&t, &key(id), LockMode::Exclusive, LockWait::NoWait);
                let found = locked.unwrap().unwrap();
                if self.rng.random_bool(0.3) {
                    x.delete(&t, &key(id), &found).unwrap();
                    continue;
                }
                x.update(&t, &key(id), &found, row(&t, id, k, &c)).unwrap();
            } else {
                x.insert(&t, row(&t, id, k, &c)).unwrap();
            }
            rows.insert(id, (k, c));
        }
        if self.rng.random_bool(0.1) {
            x.rollback();
            return;
        }
        x.commit().unwrap();
        self.rows = rows;
        self.note();
    }

    fn something(&mut self) {
        match self.rng.random_range(0..20) {
            0..=9 => self.transaction(5),
            10..=12 => self.transaction(400),
            13..=15 => self.db.checkpoint().unwrap(),
            16 => {
                self.db.flush_binary_logs(&[]).unwrap();
            }
            17 => {
                let files = self.db.binlog_files();
                let i = self.rng.random_range(0..files.len());
                self.db.purge_binary_logs_to(&files[i].name).unwrap();
            }
            18 => self.db.sync().unwrap(),
            _ => {}
        }
    }
}

/// Takes a backup into folder `dir` of `to` while things go on, over a link that breaks now and then.
fn take(s: &mut Story, disk: &SimDisk, to: &SimDisk, dir: &str, parent: Option<&str>) -> Manifest {
    let encrypted = disk.content(&Path::new(DIR).join("keys"));
    let with_log = s.rng.random_bool(0.7);
    let to: Arc<dyn Disk> = Arc::new(to.clone());
    let mut sink = FolderSink::create(to, Path::new(dir), parent.map(Path::new)).unwrap();
    let mut backup =
        s.db.begin_backup(BackupOptions {
            with_log,
            ..BackupOptions::default()
        })
        .unwrap();
    let mut received = 0;
    let mut breaks = s.rng.random_range(0..4);
    loop {
        if s.rng.random_bool(0.7) {
            s.something();
        }
        let piece = backup.next_piece().unwrap();
        let lost = breaks > 0 && s.rng.random_bool(0.1);
        match piece {
            Some(piece) if !lost => {
                if let Piece::Data { file, bytes, .. } = &piece
                    && encrypted.is_some()
                {
                    // Not a byte of what is in an encrypted folder.
                    let shown = bytes
                        .windows(8)
                        .any(|w| w == b"NARWALSG" || w == b"redb\x1A\x0A\xA9\x0D");
                    assert!(!shown, "{file} is in the clear");
                }
                sink.put(&piece).unwrap();
                received += 1;
            }
            None if !lost => break,
            // This one and some before it did not arrive for all that the sender knows.
            _ => {
                breaks -= 1;
                received = s.rng.random_range(0..=received);
                backup.resume_after(received);
            }
        }
    }
    if let Some(keys) = encrypted {
        sink.put_file("keys", &keys).unwrap();
    }
    let end = backup.end().unwrap().clone();
    sink.finish("test", end).unwrap()
}

fn story(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let encrypted = rng.random_bool(0.5);
    let disk = SimDisk::new();
    let db = open(&disk, DIR, encrypted);
    create(&db, vec![table_def("t", true, false)]);
    let mut s = Story {
        db,
        rng,
        rows: Rows::new(),
        history: BTreeMap::new(),
    };
    s.note();
    for _ in 0..s.rng.random_range(0..60) {
        s.something();
    }
    let copy = SimDisk::new();
    let mut m = take(&mut s, &disk, &copy, "/b0", None);
    let mut last = "/b0".to_owned();
    for i in 1..=s.rng.random_range(0..3) {
        for _ in 0..s.rng.random_range(0..20) {
            s.something();
        }
        let dir = format!("/b{i}");
        m = take(&mut s, &disk, &copy, &dir, Some(&last));
        last = dir;
    }
    let to: Arc<dyn Disk> = Arc::new(copy.clone());
    let chain = Chain::open(to.clone(), Path::new(&last), &[]).unwrap();
    assert_eq!(chain.manifest().files, m.files);
    assert_eq!(chain.verify(|_| Ok(())).unwrap(), []);
    begin_folder(&*to, Path::new(TO)).unwrap();
    restore_files(&chain, &to, Path::new(TO), |_| Ok(())).unwrap();
    let refused = Database::open_with(
        TO,
        Options {
            background: false,
            disk: to.clone(),
            ..Options::default()
        },
    );
    assert!(refused.is_err(), "a folder that is not whole was opened");
    let end = m.end;
    let through = through(&copy, TO, encrypted);
    narwal_log::cut_behind(&*through, &Path::new(TO).join("log"), end.log_end).unwrap();
    end_folder(&*to, Path::new(TO)).unwrap();
    drop(through);
    let restored = open(&copy, TO, encrypted);
    assert_eq!(restored.log_end().1, end.seq);
    assert_eq!(restored.gtid_binlog_state(), end.gtid_binlog_state);
    if end.with_log {
        let p = restored.binlog_position();
        assert_eq!((p.file, p.offset), (end.binlog_file, end.binlog_pos));
    }
    assert_eq!(
        &rows_of(&restored),
        s.history.range(..=end.seq).next_back().unwrap().1
    );
    let t = restored.catalog().table("d", "t").unwrap().clone();
    check_indexes(&restored, &t);
    // It goes on.
    insert(&restored, &t, 1_000_000, None, "after");
    restored.checkpoint().unwrap();
    restored.close().unwrap();
}

fn rows_of(db: &Database) -> Rows {
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut x = begin(db);
    dump(&mut x, &t, 0, ReadView::Snapshot)
        .into_iter()
        .map(|(id, k, c)| (id, (k, c)))
        .collect()
}

/// A database with some rows on a new disk.
fn some_rows(seed: u64) -> (SimDisk, Story) {
    let disk = SimDisk::new();
    let db = open(&disk, DIR, false);
    create(&db, vec![table_def("t", true, false)]);
    let mut s = Story {
        db,
        rng: StdRng::seed_from_u64(seed),
        rows: Rows::new(),
        history: BTreeMap::new(),
    };
    for _ in 0..30 {
        s.transaction(20);
    }
    s.db.checkpoint().unwrap();
    (disk, s)
}

/// Bytes that one checksum covers in a file of a backup.
fn block_of(path: &Path) -> u64 {
    match path.to_str().unwrap().contains("base.redb") {
        true => BLOCK,
        false => LARGE_BLOCK,
    }
}

/// Flips `bit` of the byte `at` of every block that is so long, in each file; which blocks those were.
fn flip(disk: &SimDisk, files: &[&PathBuf], at: u64, bit: u8) -> BTreeSet<(PathBuf, u64)> {
    let mut flipped = BTreeSet::new();
    for path in files {
        let block = block_of(path);
        let len = disk.content(path).unwrap().len() as u64;
        for begin in (0..len).step_by(block as usize) {
            if at < block && begin + at < len {
                disk.damage(path, begin + at, |b| b[0] ^= bit);
                flipped.insert(((*path).clone(), begin));
            }
        }
    }
    flipped
}

/// Every byte of a full backup and of one that is incremental to it is flipped, one of each block at a time: each flipped
/// block is named, and nothing else. With NARWAL_SEEDS=0 at every place of a block, else at so many by chance; of the manifests
/// always every byte.
#[test]
fn every_flipped_byte_of_a_backup_is_found_and_named() {
    let (disk, mut s) = some_rows(1);
    for _ in 0..8 {
        s.transaction(400);
    }
    let copy = SimDisk::new();
    take(&mut s, &disk, &copy, "/b0", None);
    s.transaction(300);
    s.db.checkpoint().unwrap();
    take(&mut s, &disk, &copy, "/b1", Some("/b0"));
    let to: Arc<dyn Disk> = Arc::new(copy.clone());
    let paths: Vec<_> = copy
        .paths()
        .into_iter()
        .filter(|p| p.starts_with("/b0") || p.starts_with("/b1"))
        .collect();
    let (manifests, files): (Vec<_>, Vec<_>) = paths.iter().partition(|p| p.ends_with(MANIFEST));
    assert!(files.iter().any(|p| p.ends_with("base.redb.blocks")));
    assert_eq!(manifests.len(), 2);
    let len = |p: &Path| copy.content(p).unwrap().len() as u64;
    for path in manifests {
        for at in 0..len(path) {
            copy.damage(path, at, |b| b[0] ^= 1 << (at % 8));
            let opened = Chain::open(to.clone(), Path::new("/b1"), &[]);
            assert!(opened.is_err(), "{} byte {at}", path.display());
            copy.damage(path, at, |b| b[0] ^= 1 << (at % 8));
        }
    }
    let longest = files.iter().map(|p| len(p).min(block_of(p))).max().unwrap();
    let places: Vec<u64> = match std::env::var("NARWAL_SEEDS").ok().as_deref() {
        Some("0") => (0..longest).collect(),
        n => {
            let n: usize = n.map_or(25, |n| n.parse().unwrap());
            (0..n).map(|_| s.rng.random_range(0..BLOCK)).collect()
        }
    };
    let chain = Chain::open(to.clone(), Path::new("/b1"), &[]).unwrap();
    let damaged = || -> BTreeSet<(PathBuf, u64)> {
        let found = chain.verify(|_| Ok(())).unwrap();
        found.into_iter().map(|d| (d.path, d.offset)).collect()
    };
    let (mut bytes, whole) = (0, files.iter().map(|p| len(p)).sum::<u64>());
    for (i, &at) in places.iter().enumerate() {
        let bit = 1u8 << s.rng.random_range(0..8);
        let flipped = flip(&copy, &files, at, bit);
        bytes += flipped.len() as u64;
        assert_eq!(damaged(), flipped, "byte {at} of the blocks");
        // Whoever restores without looking first is told as well, and nothing can be opened.
        if i % (places.len() / 25).max(1) == 0 {
            let dir = format!("/r{at}");
            begin_folder(&*to, Path::new(&dir)).unwrap();
            let r = restore_files(&chain, &to, Path::new(&dir), |_| Ok(()));
            assert!(matches!(r, Err(EngineError::Corrupt(_))), "{r:?}");
        }
        assert_eq!(flip(&copy, &files, at, bit), flipped);
    }
    if places.len() as u64 == longest {
        assert_eq!(bytes, whole);
    }
    println!("{bytes} of {whole} bytes flipped, each found");
    assert_eq!(damaged(), BTreeSet::new());

    // A file that is gone, cut, longer, or that nobody knows; files and blocks that have changed places.
    let segments: Vec<_> = files.iter().filter(|p| p.starts_with("/b0/log")).collect();
    let (segment, other) = (segments[0], segments[1]);
    let base = files.iter().find(|p| p.ends_with("/b0/base.redb")).unwrap();
    let write = |path: &Path, bytes: &[u8]| {
        let file = to.create(path).unwrap();
        file.write_at(bytes, 0).unwrap();
    };
    let was: Vec<_> = [*segment, *other, *base]
        .map(|p| copy.content(p).unwrap())
        .into();
    for change in [
        "gone",
        "cut",
        "longer",
        "unknown",
        "swapped",
        "blocks swapped",
    ] {
        let file = to.open(segment).unwrap();
        let unknown = PathBuf::from("/b0/log/x");
        let expected: Vec<&PathBuf> = match change {
            "gone" => {
                to.remove(segment).unwrap();
                vec![segment]
            }
            "cut" => {
                file.set_len(was[0].len() as u64 - 1).unwrap();
                vec![segment]
            }
            "longer" => {
                file.set_len(was[0].len() as u64 + 1).unwrap();
                vec![segment]
            }
            "unknown" => {
                write(&unknown, b"");
                vec![&unknown]
            }
            "swapped" => {
                write(segment, &was[1]);
                write(other, &was[0]);
                vec![segment, other]
            }
            _ => {
                let mut bytes = was[2].clone();
                let (first, rest) = bytes.split_at_mut(BLOCK as usize);
                first.swap_with_slice(&mut rest[..BLOCK as usize]);
                write(base, &bytes);
                vec![base]
            }
        };
        let found: BTreeSet<_> = damaged().into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, expected.into_iter().cloned().collect(), "{change}");
        write(segment, &was[0]);
        write(other, &was[1]);
        write(base, &was[2]);
        let _ = to.remove(&unknown);
    }
    assert_eq!(damaged(), BTreeSet::new());
    to.remove(Path::new("/b0/backup.json")).unwrap();
    assert!(Chain::open(to, Path::new("/b1"), &[]).is_err());
}

/// The power goes, or the disk is full, at any moment of a backup: there is a whole backup, or there is none.
#[test]
fn a_backup_that_was_cut_off_is_none() {
    let seeds = std::env::var("NARWAL_SEEDS").map_or(30, |n| n.parse().unwrap());
    let (mut none, mut whole) = (0, 0);
    for seed in 0..seeds {
        let (_, mut s) = some_rows(seed);
        let copy = SimDisk::new();
        let full = s.rng.random_bool(0.3);
        if full {
            copy.set_capacity(Some(s.rng.random_range(0..3 << 20)));
        } else {
            copy.power_off_in(s.rng.random_range(0..80));
        }
        let to: Arc<dyn Disk> = Arc::new(copy.clone());
        let made = || -> Result<Manifest> {
            let mut sink = FolderSink::create(to.clone(), Path::new("/b"), None)?;
            let mut backup = s.db.begin_backup(BackupOptions::default())?;
            while let Some(piece) = backup.next_piece()? {
                sink.put(&piece)?;
            }
            sink.finish("test", backup.end().unwrap().clone())
        }();
        if full && let Err(e) = &made {
            assert!(matches!(e, EngineError::DiskFull(_)), "{e}");
            assert!(
                copy.paths().iter().all(|p| !p.starts_with("/b")),
                "{:?}",
                copy.paths()
            );
            // With more room the same folder will do.
            copy.set_capacity(None);
            drop(FolderSink::create(to.clone(), Path::new("/b"), None).unwrap());
        }
        let after: Arc<dyn Disk> = Arc::new(if full { copy } else { copy.crash(seed) });
        match Chain::open(after, Path::new("/b"), &[]) {
            Ok(chain) => {
                assert_eq!(chain.verify(|_| Ok(())).unwrap(), [], "seed {seed}");
                whole += 1;
            }
            Err(_) => {
                assert!(made.is_err(), "seed {seed}: a finished backup is gone");
                none += 1;
            }
        }
    }
    assert!(none > 0 && (seeds < 30 || whole > 0), "{none} {whole}");
}

/// Restored to each commit in turn, the rows are those of that moment.
#[test]
fn any_moment_behind_the_base_can_be_had() {
    let (disk, mut s) = some_rows(3);
    let copy = SimDisk::new();
    let to: Arc<dyn Disk> = Arc::new(copy.clone());
    let mut sink = FolderSink::create(to.clone(), Path::new("/b"), None).unwrap();
    let mut backup = s.db.begin_backup(BackupOptions::default()).unwrap();
    let mut moments = Vec::new();
    loop {
        // Behind the base's last round the log is copied.
        s.transaction(if moments.len() % 5 == 4 { 300 } else { 5 });
        let p = s.db.binlog_position();
        moments.push((s.db.gtid_binlog_state(), p.file, p.offset, s.rows.clone()));
        match backup.next_piece().unwrap() {
            Some(piece) => sink.put(&piece).unwrap(),
            None => break,
        }
    }
    let m = sink.finish("test", backup.end().unwrap().clone()).unwrap();
    let _ = disk;
    let chain = Chain::open(to.clone(), Path::new("/b"), &[]).unwrap();
    let config = narwal_binlog::VirtualConfig {
        max_binlog_size: 32 << 10,
        ..Default::default()
    };
    let base = (
        m.end.base_seq,
        m.end.base_lsn,
        m.end.base_gtid_state.as_str(),
    );
    let (mut had, mut early, mut late) = (0, 0, 0);
    for (i, (gtids, file, offset, rows)) in moments.iter().enumerate() {
        let dir = format!("/r{i}");
        let dir = Path::new(&dir);
        begin_folder(&*to, dir).unwrap();
        restore_files(&chain, &to, dir, |_| Ok(())).unwrap();
        let log = dir.join("log");
        narwal_log::cut_behind(&*to, &log, m.end.log_end).unwrap();
        let point = match i % 2 {
            0 => Point::Gtid(gtids.clone()),
            _ => Point::Position {
                file: file.clone(),
                offset: *offset,
            },
        };
        let cut = match find_cut(to.clone(), &log, &config, base, &point) {
            Ok(cut) => cut,
            Err(e) if e.to_string().contains("before this backup's base") => {
                early += 1;
                continue;
            }
            Err(e) if e.to_string().contains("--archive") => {
                late += 1;
                continue;
            }
            Err(e) => panic!("{point:?}: {e}"),
        };
        assert_eq!(&cut.gtids, gtids);
        narwal_log::cut_behind(&*to, &log, cut.lsn).unwrap();
        end_folder(&*to, dir).unwrap();
        let db = open(&copy, dir.to_str().unwrap(), false);
        assert_eq!(&rows_of(&db), rows, "{point:?}");
        assert_eq!(&db.gtid_binlog_state(), gtids);
        db.close().unwrap();
        had += 1;
    }
    assert!(had >= 3, "had {had}, early {early}, late {late}");
    for wrong in ["0-1-999999", "7-7-7"] {
        let log = Path::new("/r0/log");
        let e = find_cut(to.clone(), log, &config, base, &Point::Gtid(wrong.into()));
        assert!(e.is_err(), "{wrong}");
    }
}

#[test]
fn a_backup_is_the_database_at_its_place() {
    for seed in seeds() {
        let r = std::panic::catch_unwind(|| story(seed));
        if let Err(e) = r {
            eprintln!("NARWAL_SEED={seed}");
            std::panic::resume_unwind(e);
        }
    }
}
