//! Out-of-band transactions under faults: full disks, crashes inside recovery, lost and damaged run files, rollbacks to
//! savepoints, transactions that end half-way. Each case has a number in docs/log-format.md.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, Finding, check};
use narwal_engine::*;
use narwal_log::sim::{Call, SimDisk};
use narwal_log::{DirReader, DirRecords, RecordKind};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const DIR: &str = "/data";

fn options(disk: &SimDisk) -> Options {
    Options {
        segment_size: 16 << 10,
        max_binlog_size: 1 << 20,
        oob_threshold: 1500,
        spill_bytes: 6000,
        background: false,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

/// All rows: of `t` by key, of `h` (no key) in order.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    t: BTreeMap<i64, (Option<i64>, String)>,
    h: Vec<(i64, Option<i64>, String)>,
}

fn read(db: &Database) -> Model {
    let cat = db.catalog();
    let (t, h) = (cat.table("d", "t").unwrap(), cat.table("d", "h").unwrap());
    check_indexes(db, t);
    check_indexes(db, h);
    seen(&mut begin(db), t, h)
}

fn seen(x: &mut Transaction, t: &Arc<Table>, h: &Arc<Table>) -> Model {
    let mut m = Model::default();
    for (id, k, c) in dump(x, t, 0, ReadView::Snapshot) {
        m.t.insert(id, (k, c));
    }
    m.h = dump(x, h, 0, ReadView::Snapshot);
    m.h.sort();
    m
}

/// A large transaction under way, and what it should have made.
struct Work {
    x: Transaction,
    t: Arc<Table>,
    h: Arc<Table>,
    m: Model,
    saves: Vec<(Savepoint, Model)>,
}

impl Work {
    fn new(db: &Database, m: &Model, log_bin: bool) -> Work {
        let cat = db.catalog();
        Work {
            x: db.begin(TxnOptions {
                log_bin,
                ..TxnOptions::default()
            }),
            t: cat.table("d", "t").unwrap().clone(),
            h: cat.table("d", "h").unwrap().clone(),
            m: m.clone(),
            saves: Vec::new(),
        }
    }

    fn change(&mut self, rng: &mut StdRng) -> Result<()> {
        let k = rng.random_bool(0.8).then(|| rng.random_range(-5..5i64));
        let c = "c".repeat(rng.random_range(1..20));
        let id = rng.random_range(0..400i64);
        if rng.random_bool(0.2) {
            self.x.insert(&self.h, row(&self.h, id, k, &c))?;
            self.m.h.push((id, k, c));
            self.m.h.sort();
            return Ok(());
        }
        let wait = LockWait::Wait;
        match self
            .x
            .lock_row(&self.t, &key(id), LockMode::Exclusive, wait)?
        {
            None => {
                self.x.insert(&self.t, row(&self.t, id, k, &c))?;
                self.m.t.insert(id, (k, c));
            }
            Some(old) if rng.random_bool(0.3) => {
                self.x.delete(&self.t, &key(id), &old)?;
                self.m.t.remove(&id);
            }
            Some(old) => {
                self.x
                    .update(&self.t, &key(id), &old, row(&self.t, id, k, &c))?;
                self.m.t.insert(id, (k, c));
            }
        }
        Ok(())
    }

    /// A statement of some row changes. If it fails it is undone, as SQL would have it.
    fn statement(&mut self, rng: &mut StdRng) -> Result<()> {
        let before = self.m.clone();
        self.x.begin_statement(7, None);
        for _ in 0..rng.random_range(1..40) {
            if let Err(e) = self.change(rng) {
                self.x.rollback_statement();
                self.m = before;
                return Err(e);
            }
        }
        self.x.end_statement();
        Ok(())
    }
}

fn stat(db: &Database, name: &str) -> u64 {
    let stats = db.stats();
    stats.values.iter().find(|v| v.0 == name).unwrap().1
}

fn spill_files(disk: &SimDisk) -> Vec<PathBuf> {
    let dir = Path::new(DIR).join("spill");
    let mut files = disk.paths();
    files.retain(|p| p.parent() == Some(&dir));
    files
}

/// A store with some rows in the base and some in the memtable.
fn fresh(rng: &mut StdRng) -> (SimDisk, Database, Model) {
    let disk = SimDisk::new();
    let db = Database::open_with(DIR, options(&disk)).unwrap();
    create(
        &db,
        vec![table_def("t", true, false), table_def("h", false, false)],
    );
    let mut m = Model::default();
    for round in 0..2 {
        let mut w = Work::new(&db, &m, true);
        w.statement(rng).unwrap();
        m = w.m;
        w.x.commit().unwrap();
        if round == 0 {
            db.checkpoint().unwrap();
        }
    }
    (disk, db, m)
}

#[derive(Default)]
struct Findings(Vec<String>);

impl CheckObserver for Findings {
    fn finding(&mut self, f: &Finding) {
        if f.damage {
            self.0.push(f.to_string());
        }
    }

    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

/// Reopens the disk, compares with the model, and checks log and tables against each other.
fn reopened(disk: &SimDisk, m: &Model) -> Database {
    let mut found = Findings::default();
    let options_of_check = CheckOptions {
        disk: Arc::new(disk.clone()),
        memory: 4 << 20,
        scratch: None,
        against_log: AgainstLog::Always,
    };
    check(Path::new(DIR), &options_of_check, &mut found).unwrap();
    assert!(found.0.is_empty(), "{:?}", found.0);
    let db = Database::open_with(DIR, options(disk)).unwrap();
    assert_eq!(read(&db), *m);
    db
}

/// C22: the disk is full at any call of a large transaction: in a chunk, in preallocation, in a run, in a chunk index, in
/// the commit record.
#[test]
fn c22_a_full_disk_at_any_call_of_a_large_transaction() {
    let (mut refused, mut committed, mut stopped, mut failed_statements) = (0, 0, 0, 0);
    let kinds = [Call::Write, Call::Allocate, Call::Create, Call::SetLen];
    for call in kinds {
        // The first that is never reached ends the search.
        for n in 1.. {
            let mut rng = StdRng::seed_from_u64(n * 10 + call as u64);
            let (disk, db, mut m) = fresh(&mut rng);
            // A second one runs all the time: the full disk does not harm it.
            let mut other = db.begin(TxnOptions::default());
            let small = db.catalog().table("d", "h").unwrap().clone();
            let before = disk.count(call);
            disk.fail_nth(call, n, libc::ENOSPC);
            let mut w = Work::new(&db, &m, n % 4 != 0);
            let mut failed = None;
            let gives_up = n % 3 == 0;
            for _ in 0..12 {
                if let Err(e) = w.statement(&mut rng) {
                    let of_log = db.failed().is_some();
                    failed = Some(e);
                    if gives_up || of_log {
                        break;
                    }
                    // Only the statement is undone: the transaction is as it was and goes on.
                    failed_statements += 1;
                    let Work { x, t, h, m, .. } = &mut w;
                    assert_eq!(seen(x, t, h), *m, "{call:?} {n}");
                }
            }
            let done = match failed {
                Some(e) if gives_up || db.failed().is_some() => {
                    w.x.rollback();
                    Err(e)
                }
                _ => w.x.commit().map(|_| m = w.m),
            };
            if disk.count(call) - before < n {
                break;
            }
            match done {
                Ok(()) => committed += 1,
                Err(e) if db.failed().is_none() => {
                    assert_eq!(e.to_sql().code, 1021, "{call:?} {n}: {e}");
                    refused += 1;
                }
                // Bytes that were free already could not be written: the log stops, as in C10.
                Err(_) => {
                    assert_eq!(call, Call::Write);
                    stopped += 1;
                    drop((other, db));
                    Database::open_with(DIR, options(&disk.crash(n))).unwrap();
                    continue;
                }
            }
            if stat(&db, "Narwal_oob_commits") == 0 {
                assert_eq!(spill_files(&disk), Vec::<PathBuf>::new(), "{call:?} {n}");
            }
            // Space is back, and everything goes on: the other one, and a large one.
            other.begin_statement(1, None);
            other
                .insert(&small, row(&small, 1000, None, "other"))
                .unwrap();
            other.commit().unwrap();
            m.h.push((1000, None, "other".into()));
            let mut w = Work::new(&db, &m, true);
            for _ in 0..12 {
                w.statement(&mut rng).unwrap();
            }
            m = w.m;
            w.x.commit().unwrap();
            assert_eq!(read(&db), m);
            if n % 2 == 0 {
                db.checkpoint().unwrap();
                assert_eq!(spill_files(&disk), Vec::<PathBuf>::new());
            }
            drop(db);
            let disk = disk.crash(n);
            drop(reopened(&disk, &m));
        }
    }
    assert!(
        refused > 10 && committed > 20 && failed_statements > 20 && stopped > 5,
        "{refused} {committed} {failed_statements} {stopped}"
    );
}

/// Out-of-band commits (one of them local) that no checkpoint has merged, and one that never committed, killed there.
fn unmerged(seed: u64) -> (SimDisk, Model) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (disk, db, mut m) = fresh(&mut rng);
    let mut dead = Work::new(&db, &m, true);
    let h = dead.h.clone();
    for i in 0..200 {
        dead.x.begin_statement(1, None);
        dead.x
            .insert(&h, row(&h, i, None, "never committed"))
            .unwrap();
        dead.x.end_statement();
    }
    for log_bin in [true, false, true] {
        let mut w = Work::new(&db, &m, log_bin);
        for _ in 0..8 {
            w.statement(&mut rng).unwrap();
        }
        m = w.m;
        w.x.commit().unwrap();
    }
    assert!(stat(&db, "Narwal_oob_commits") >= 3);
    assert!(stat(&db, "Narwal_spills") > 6);
    let killed = disk.kill();
    drop((dead, db));
    (killed, m)
}

/// C23: run files of a commit are missing, cut, of another transaction or damaged in head or top: its chunks say it all
/// again.
#[test]
fn c23_lost_and_damaged_runs_are_built_again_from_the_chunks() {
    let (disk, m) = unmerged(1);
    let files = spill_files(&disk);
    assert!(files.len() > 8);
    reopened(&disk.fork(), &m);
    type Harm<'a> = &'a dyn Fn(&SimDisk, usize);
    let harms: [Harm<'_>; 6] = [
        &|d, i| disk_of(d).remove(&files[i]).unwrap(),
        &|d, _| files.iter().for_each(|f| disk_of(d).remove(f).unwrap()),
        &|d, i| disk_of(d).open(&files[i]).unwrap().set_len(30).unwrap(),
        &|d, i| d.damage(&files[i], 3, |b| b[0] ^= 1),
        &|d, i| {
            let end = d.content(&files[i]).unwrap().len() as u64;
            d.damage(&files[i], end - 50, |b| b[0] ^= 1);
        },
        // A whole run file, but of another place.
        &|d, i| {
            let other = d.content(&files[(i + 1) % files.len()]).unwrap();
            let f = disk_of(d).create(&files[i]).unwrap();
            f.write_at(&other, 0).unwrap();
        },
    ];
    for harm in harms {
        for i in (0..files.len()).step_by(files.len() / 5) {
            let disk = disk.fork();
            harm(&disk, i);
            let db = reopened(&disk, &m);
            // Files that no commit names are gone, and those that recovery wrote go with the checkpoint.
            db.checkpoint().unwrap();
            assert_eq!(spill_files(&disk), Vec::<PathBuf>::new());
            assert_eq!(read(&db), m);
            drop(db);
            drop(reopened(&disk.crash(i as u64), &m));
        }
    }
}

/// C23: damage in the middle of a run file is met by the checkpoint, which removes the file; the next start builds it
/// again. With little memory the checkpoint has put a part of the rows into the base by then, in transactions of its own:
/// neither a kill nor an orderly end leaves anything of them.
#[test]
fn c23_a_damaged_block_of_a_run_costs_a_restart() {
    let (disk, m) = unmerged(4);
    let files = spill_files(&disk);
    let (mut met, mut cut) = (0, [0, 0]);
    for (i, file) in files.iter().enumerate() {
        let disk = disk.fork();
        disk.damage(file, 60, |b| b[0] ^= 8);
        let options = Options {
            memory_budget: [4 << 20, 16 << 10, 16 << 10][i % 3],
            ..options(&disk)
        };
        let db = Database::open_with(DIR, options).unwrap();
        // Files that no commit names are gone by now.
        if disk.content(file).is_none() {
            continue;
        }
        met += 1;
        let name = file.file_name().unwrap().to_str().unwrap();
        for _ in 0..2 {
            let e = db.checkpoint().unwrap_err().to_string();
            assert!(e.contains(name), "{e}");
        }
        assert!(disk.content(file).is_none());
        let in_parts = stat(&db, "Narwal_checkpoint_cuts") > 0;
        let disk = if i % 2 == 0 {
            let killed = disk.kill();
            drop(db);
            killed
        } else {
            drop(db);
            disk
        };
        cut[i % 2] += u32::from(in_parts);
        let db = reopened(&disk, &m);
        db.checkpoint().unwrap();
        assert_eq!(read(&db), m);
    }
    assert!(met > 6 && cut[0] > 1 && cut[1] > 1, "{met} {cut:?}");
}

fn disk_of(d: &SimDisk) -> &dyn narwal_log::Disk {
    d
}

/// C24: the power goes at any call of a recovery that opens runs, or builds them again; then again in the next one.
#[test]
fn c24_power_off_at_any_call_inside_recovery() {
    let mut calls = 0;
    for (seed, lost) in [(1, 0), (2, 1), (3, usize::MAX)] {
        let (disk, m) = unmerged(seed);
        for f in spill_files(&disk).iter().take(lost) {
            disk_of(&disk).remove(f).unwrap();
        }
        let mut again = disk.fork();
        for n in 1.. {
            // The first recovery of this disk is cut short ...
            let once = disk.fork();
            once.power_off_in(n);
            let cut = Database::open_with(DIR, options(&once));
            let done = !once.is_off();
            // The last calls only remove files: the start does not fail for them.
            drop(cut);
            let db = Database::open_with(DIR, options(&once.crash(n))).unwrap();
            assert_eq!(read(&db), m, "seed {seed}, call {n}");
            drop(db);
            // ... and one on a disk whose recoveries were all cut short.
            again.power_off_in(n);
            drop(Database::open_with(DIR, options(&again)));
            again = again.crash(seed * 1000 + n);
            calls = n;
            if done {
                break;
            }
        }
        let db = reopened(&again, &m);
        db.checkpoint().unwrap();
        assert_eq!(read(&db), m);
    }
    assert!(calls > 5, "{calls}");
}

/// C25: rollbacks to savepoints across the threshold: chunks and runs behind them are as if they had never been.
#[test]
fn c25_savepoints_across_the_threshold() {
    let (mut dead, mut back_to_nothing) = (0, 0);
    for seed in 0..60 {
        let mut rng = StdRng::seed_from_u64(seed);
        let (disk, db, mut m) = fresh(&mut rng);
        db.set_oob_threshold([500, 1500, 6000][seed as usize % 3]);
        for _ in 0..3 {
            let (chunks, spills) = (stat(&db, "Narwal_oob_chunks"), stat(&db, "Narwal_spills"));
            let mut w = Work::new(&db, &m, rng.random_bool(0.8));
            let mut rolled_back = false;
            for _ in 0..rng.random_range(5..30) {
                match rng.random_range(0..10) {
                    0..2 => {
                        let s = (w.x.savepoint(), w.m.clone());
                        w.saves.push(s);
                    }
                    2 if !w.saves.is_empty() => {
                        let i = rng.random_range(0..w.saves.len());
                        w.saves.truncate(i + 1);
                        let (s, then) = &w.saves[i];
                        w.x.rollback_to(s);
                        w.m = then.clone();
                        rolled_back = true;
                        back_to_nothing += u64::from(w.m == m);
                        // RELEASE SAVEPOINT: runs need not end there any more.
                        if rng.random_bool(0.3) {
                            w.saves.pop();
                        }
                    }
                    3 => {
                        let before = w.m.clone();
                        w.x.begin_statement(7, None);
                        for _ in 0..rng.random_range(1..60) {
                            w.change(&mut rng).unwrap();
                        }
                        w.x.rollback_statement();
                        w.m = before;
                    }
                    _ => w.statement(&mut rng).unwrap(),
                }
                let Work { x, t, h, m, .. } = &mut w;
                if rng.random_bool(0.2) {
                    x.begin_statement(7, None);
                    assert_eq!(seen(x, t, h), *m, "seed {seed}: the transaction's own view");
                    x.end_statement();
                }
            }
            let sent = stat(&db, "Narwal_oob_chunks") > chunks;
            dead += u64::from(rolled_back && sent && stat(&db, "Narwal_spills") > spills);
            m = w.m;
            w.x.commit().unwrap();
            assert_eq!(read(&db), m, "seed {seed}");
        }
        if seed % 2 == 0 {
            db.checkpoint().unwrap();
        }
        let disk = disk.crash(seed);
        drop(db);
        drop(reopened(&disk, &m));
    }
    assert!(dead > 20 && back_to_nothing > 5, "{dead} {back_to_nothing}");
}

/// C26: a large transaction that ends half-way (rollback, client gone, kill) leaves dead chunks only: no file, no hold on
/// the log; retention is free to take the chunks.
#[test]
fn c26_what_ends_half_way_leaves_nothing() {
    let mut rng = StdRng::seed_from_u64(5);
    let (disk, db, mut m) = fresh(&mut rng);
    let kill = Arc::new(AtomicBool::new(false));
    for how in 0..4 {
        let mut w = Work::new(&db, &m, true);
        w.x = db.begin(TxnOptions {
            interrupt: Some(kill.clone()),
            ..TxnOptions::default()
        });
        for _ in 0..12 {
            w.statement(&mut rng).unwrap();
        }
        assert!(!spill_files(&disk).is_empty());
        match how {
            0 => w.x.rollback(),
            // In the middle of a statement.
            1 => {
                w.x.begin_statement(1, None);
                w.change(&mut rng).unwrap();
                drop(w);
            }
            // KILL finds it waiting for a lock.
            2 => {
                let mut holder = Work::new(&db, &m, true);
                holder.x.begin_statement(1, None);
                let (t, exclusive, wait) = (&w.t, LockMode::Exclusive, LockWait::Wait);
                holder.x.lock_row(t, &key(900), exclusive, wait).unwrap();
                kill.store(true, Ordering::Relaxed);
                w.x.begin_statement(1, None);
                let e = w.x.lock_row(t, &key(900), exclusive, wait).unwrap_err();
                assert!(matches!(e, EngineError::Interrupted));
                kill.store(false, Ordering::Relaxed);
                w.x.rollback();
            }
            // Rolled back to its beginning, it commits something small.
            _ => {
                let mut w2 = Work::new(&db, &m, true);
                let h = w2.h.clone();
                let s = w2.x.savepoint();
                drop(w);
                for _ in 0..12 {
                    w2.statement(&mut rng).unwrap();
                }
                w2.x.rollback_to(&s);
                w2.x.insert(&h, row(&h, 1, None, "small")).unwrap();
                m.h.push((1, None, "small".into()));
                m.h.sort();
                w2.x.commit().unwrap();
            }
        }
        assert_eq!(spill_files(&disk), Vec::<PathBuf>::new(), "end {how}");
        assert_eq!(stat(&db, "Narwal_row_locks"), 0, "end {how}");
        assert_eq!(read(&db), m);
    }
    // Nothing is kept for them: after a checkpoint all but the last segments go.
    db.flush_binary_logs(&[]).unwrap();
    let last = db.binlog_files().last().unwrap().name.clone();
    db.checkpoint().unwrap();
    let before = db.binlog_stats().disk_use;
    let report = db.purge_binary_logs_to(&last).unwrap();
    assert!(report.notes.is_empty(), "{report:?}");
    assert!(db.binlog_stats().disk_use < before / 2);
    drop(db);
    let db = Database::open_with(DIR, options(&disk.crash(1))).unwrap();
    assert_eq!(read(&db), m);
}

/// C27: rows that recovery put into layers are changed, deleted and read while checkpoints merge the layers.
#[test]
fn c27_changes_while_recovered_layers_are_merged() {
    for seed in 0..4 {
        let (disk, m) = unmerged(10 + seed);
        if seed % 2 == 1 {
            for f in spill_files(&disk) {
                disk_of(&disk).remove(&f).unwrap();
            }
        }
        let db = Database::open_with(
            DIR,
            Options {
                background: true,
                ..options(&disk)
            },
        )
        .unwrap();
        let stop = AtomicBool::new(false);
        let m = std::thread::scope(|s| {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    db.checkpoint().unwrap();
                }
            });
            let mut rng = StdRng::seed_from_u64(seed);
            let mut m = m;
            for round in 0..60 {
                let mut w = Work::new(&db, &m, true);
                let statements = if round % 10 == 0 { 8 } else { 1 };
                for _ in 0..statements {
                    w.statement(&mut rng).unwrap();
                }
                m = w.m;
                w.x.commit().unwrap();
                let t = db.catalog().table("d", "t").unwrap().clone();
                let h = db.catalog().table("d", "h").unwrap().clone();
                assert_eq!(seen(&mut begin(&db), &t, &h), m, "seed {seed}");
            }
            stop.store(true, Ordering::Relaxed);
            m
        });
        assert_eq!(read(&db), m);
        let disk = disk.kill();
        drop(db);
        drop(reopened(&disk, &m));
    }
}

/// C28: a transaction of very many chunks over very many segments, so that its commit names chunk index records.
#[test]
fn c28_a_transaction_across_many_segments() {
    let mut rng = StdRng::seed_from_u64(6);
    let (disk, db, mut m) = fresh(&mut rng);
    db.set_oob_threshold(100);
    let mut w = Work::new(&db, &m, true);
    for _ in 0..150 {
        w.statement(&mut rng).unwrap();
    }
    // Retention and other commits meanwhile: its chunks stay.
    insert(&db, &w.h.clone(), 5000, None, "between");
    db.checkpoint().unwrap();
    db.flush_binary_logs(&[]).unwrap();
    let last = db.binlog_files().last().unwrap().name.clone();
    let report = db.purge_binary_logs_to(&last).unwrap();
    assert!(
        report.notes.iter().any(|n| n.contains("running")),
        "{report:?}"
    );
    m = w.m;
    m.h.push((5000, None, "between".into()));
    m.h.sort();
    w.x.commit().unwrap();
    assert!(stat(&db, "Narwal_oob_chunks") > 128);
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    let (mut chunks, mut bytes) = (0, 0);
    while let Some(head) = reader.next_group().unwrap() {
        chunks = chunks.max(head.chunks);
        let mut n = 0;
        while let Some(e) = reader.next_event().unwrap() {
            n += e.len() as u64;
        }
        assert_eq!(n, head.len);
        bytes += n;
    }
    assert_eq!(chunks, u64::MAX, "the commit names index records");
    assert!(bytes > 4 * (16 << 10), "{bytes}");
    let mut disk = disk.crash(3);
    drop(db);
    for i in 0..2 {
        let db = Database::open_with(DIR, options(&disk)).unwrap();
        assert_eq!(read(&db), m);
        disk = disk.crash(i);
    }
    let db = Database::open_with(DIR, options(&disk)).unwrap();
    db.checkpoint().unwrap();
    assert_eq!(read(&db), m);
}

/// C29: the disk is full at any write of a checkpoint: it waits, reads go on, writers that need its room are told, and
/// it ends when there is room.
#[test]
fn c29_a_checkpoint_waits_for_room() {
    let base = Path::new(DIR).join("base.redb");
    for call in [Call::Write, Call::SetLen] {
        for n in 1.. {
            let mut rng = StdRng::seed_from_u64(n);
            let (disk, db, mut m) = fresh(&mut rng);
            drop(db);
            let db = Database::open_with(
                DIR,
                Options {
                    background: true,
                    ..options(&disk)
                },
            )
            .unwrap();
            for _ in 0..2 {
                let mut w = Work::new(&db, &m, true);
                for _ in 0..6 {
                    w.statement(&mut rng).unwrap();
                }
                m = w.m;
                w.x.commit().unwrap();
            }
            // Whatever the background has begun is through.
            db.checkpoint().unwrap();
            let mut w = Work::new(&db, &m, true);
            w.statement(&mut rng).unwrap();
            m = w.m;
            w.x.commit().unwrap();
            db.sync().unwrap();
            let before = disk.count(call);
            disk.fail_nth(call, n, libc::ENOSPC);
            db.checkpoint().unwrap();
            let reached = disk.count(call) - before >= n;
            assert!(disk.content(&base).is_some());
            assert_eq!(read(&db), m);
            db.close().unwrap();
            drop(db);
            drop(reopened(&disk.crash(n), &m));
            if !reached {
                assert!(n > 3 || call == Call::SetLen, "{call:?} {n}");
                break;
            }
        }
    }
}

/// C29: a stop while the checkpoint waits for room does not wait for it; reads go on until then.
#[test]
fn c29_a_stop_does_not_wait_for_room() {
    let mut rng = StdRng::seed_from_u64(9);
    let (disk, db, m) = fresh(&mut rng);
    drop(db);
    let mut now = options(&disk);
    now.background = true;
    let db = Database::open_with(DIR, now).unwrap();
    db.checkpoint().unwrap();
    let mut w = Work::new(&db, &m, true);
    w.statement(&mut rng).unwrap();
    let m = w.m;
    w.x.commit().unwrap();
    db.sync().unwrap();
    let before = disk.count(Call::Write);
    // Room for one write, then none for minutes.
    for n in 2..3000 {
        disk.fail_nth(Call::Write, n, libc::ENOSPC);
    }
    std::thread::scope(|s| {
        let waiting = s.spawn(|| db.checkpoint());
        while disk.count(Call::Write) < before + 4 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(!waiting.is_finished());
        assert_eq!(read(&db), m);
        // Its last word in the log may not find room either.
        let _ = db.close();
        assert!(waiting.join().unwrap().is_err());
    });
    let disk = disk.kill();
    drop(db);
    drop(reopened(&disk, &m));
}

/// C32: a chunk from before the checkpoint, of a commit behind it, is damaged or gone: named, unless runs have it all.
#[test]
fn c32_a_lost_chunk_is_named_unless_runs_have_it() {
    let (mut named, mut opened) = (0, 0);
    for seed in 0..8 {
        let mut rng = StdRng::seed_from_u64(seed);
        let (disk, db, m) = fresh(&mut rng);
        let mut w = Work::new(&db, &m, true);
        for _ in 0..8 {
            w.statement(&mut rng).unwrap();
        }
        db.flush_binary_logs(&[]).unwrap();
        db.checkpoint().unwrap();
        // Its last chunk is not in a run: a savepoint holds nothing back, but a few rows stay in memory.
        for _ in 0..2 {
            w.statement(&mut rng).unwrap();
        }
        let (without, m) = (m, w.m);
        w.x.commit().unwrap();
        let lost = disk.kill();
        drop(db);
        let log = Path::new(DIR).join("log");
        let all = |d: &SimDisk| {
            let mut files = d.paths();
            files.retain(|p| p.parent() == Some(&log) && p.to_str().unwrap().contains("wal.0"));
            files
        };
        let first = {
            let (random, mut reader) = (
                DirRecords::open(Arc::new(lost.clone()), &log),
                DirReader::open(Arc::new(lost.clone()), &log)
                    .unwrap()
                    .unwrap(),
            );
            let mut first = 0;
            // The transaction's last chunk: its head says where the first is.
            while let Some(r) = reader.next().unwrap() {
                if r.kind == RecordKind::Chunk {
                    let chunk = narwal_engine::groups::Chunk::parse(r.body).unwrap();
                    first = if chunk.first == 0 { r.lsn } else { chunk.first };
                }
            }
            let mut buf = Vec::new();
            assert_eq!(
                random.read_at(first, &mut buf).unwrap().kind,
                RecordKind::Chunk
            );
            first
        };
        let start = |p: &PathBuf| u64::from_str_radix(&p.to_str().unwrap()[14..], 16).unwrap();
        let holds = all(&lost).into_iter().rfind(|p| start(p) <= first).unwrap();
        lost.damage(&holds, 4096 + first - start(&holds) + 40, |b| b[0] ^= 1);
        // With the runs: what is in them needs no chunk.
        match Database::open_with(DIR, options(&lost.fork())) {
            Ok(db) => {
                assert_eq!(read(&db), m);
                opened += 1;
            }
            Err(e) => {
                assert!(matches!(e, EngineError::Corrupt(_)), "{e}");
                named += 1;
            }
        }
        for f in spill_files(&lost) {
            disk_of(&lost).remove(&f).unwrap();
        }
        let before = all(&lost);
        let e = Database::open_with(DIR, options(&lost)).err().unwrap();
        let text = e.to_string();
        assert!(matches!(e, EngineError::Corrupt(_)), "{text}");
        assert!(text.contains(&format!("LSN {first}")), "{text}");
        assert!(
            text.contains(holds.file_name().unwrap().to_str().unwrap()),
            "{text}"
        );
        assert!(text.contains("When a start is refused"), "{text}");
        assert_eq!(all(&lost), before, "nothing was changed");
        // Accepted: the log ends in front of that commit, once and for all.
        let db = Database::open_with(
            DIR,
            Options {
                accept_log_loss: true,
                ..options(&lost)
            },
        )
        .unwrap();
        assert_eq!(read(&db), without);
        insert(
            &db,
            &db.catalog().table("d", "h").unwrap().clone(),
            7,
            None,
            "on",
        );
        let lost = lost.kill();
        drop(db);
        let db = Database::open_with(DIR, options(&lost)).unwrap();
        assert_eq!(read(&db).h.len(), without.h.len() + 1);
    }
    assert!(opened > 0, "{named} {opened}");
}
