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
use std::collections::BTreeMap;
use std::path::Path;
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

fn write(disk: &SimDisk, path: &Path, offset: u64, bytes: &[u8]) {
    disk.create_dir_all(path.parent().unwrap()).unwrap();
    let f = match disk.exists(path).unwrap() {
        true => disk.open(path).unwrap(),
        false => disk.create(path).unwrap(),
    };
    f.write_at(bytes, offset).unwrap();
}

fn story(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let encrypted = rng.random_bool(0.5);
    let with_log = rng.random_bool(0.7);
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
    let mut backup =
        s.db.begin_backup(BackupOptions {
            with_log,
            ..BackupOptions::default()
        })
        .unwrap();
    let mut received = 0;
    let mut breaks = s.rng.random_range(0..4);
    let mut pieces: Vec<Piece> = Vec::new();
    loop {
        if s.rng.random_bool(0.7) {
            s.something();
        }
        let piece = backup.next_piece().unwrap();
        let lost = breaks > 0 && s.rng.random_bool(0.1);
        match piece {
            Some(piece) if !lost => {
                pieces.push(piece);
                received += 1;
            }
            None if !lost => break,
            // This one and some before it did not arrive.
            _ => {
                breaks -= 1;
                received = s.rng.random_range(0..=received);
                pieces.truncate(received);
                backup.resume_after(received as u64);
            }
        }
    }
    let end = backup.end().unwrap().clone();
    drop(backup);
    let copy = SimDisk::new();
    if encrypted {
        let keys = disk.content(&Path::new(DIR).join("keys")).unwrap();
        write(&copy, &Path::new(TO).join("keys"), 0, &keys);
    }
    for piece in &pieces {
        match piece {
            Piece::Data {
                file,
                offset,
                bytes,
            } => {
                write(&copy, &Path::new(TO).join(&**file), *offset, bytes);
            }
            Piece::End { file, size } => {
                let path = Path::new(TO).join(&**file);
                write(&copy, &path, 0, &[]);
                copy.open(&path).unwrap().set_len(*size).unwrap();
            }
        }
    }
    // Not a byte of what is in an encrypted folder.
    if encrypted {
        for piece in &pieces {
            if let Piece::Data { file, bytes, .. } = piece {
                let shown = bytes
                    .windows(8)
                    .any(|w| w == b"NARWALSG" || w == b"redb\x1A\x0A\xA9\x0D");
                assert!(!shown, "{file} is in the clear");
            }
        }
    }
    let through = through(&copy, TO, encrypted);
    narwal_log::cut_behind(&*through, &Path::new(TO).join("log"), end.log_end).unwrap();
    drop(through);
    let restored = open(&copy, TO, encrypted);
    assert_eq!(restored.log_end().1, end.seq);
    assert_eq!(restored.gtid_binlog_state(), end.gtid_binlog_state);
    if with_log {
        let p = restored.binlog_position();
        assert_eq!((p.file, p.offset), (end.binlog_file, end.binlog_pos));
    }
    let t = restored.catalog().table("d", "t").unwrap().clone();
    let mut x = begin(&restored);
    let got: Rows = dump(&mut x, &t, 0, ReadView::Snapshot)
        .into_iter()
        .map(|(id, k, c)| (id, (k, c)))
        .collect();
    drop(x);
    let want = s.history.range(..=end.seq).next_back().unwrap().1;
    assert_eq!(&got, want);
    check_indexes(&restored, &t);
    if with_log {
        // The binary log is there as far back as the backup's begin says.
        assert!(
            restored
                .binlog_files()
                .iter()
                .all(|f| f.first_lsn >= end.log_start)
        );
    }
    // It goes on.
    insert(&restored, &t, 1_000_000, None, "after");
    restored.checkpoint().unwrap();
    restored.close().unwrap();
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
