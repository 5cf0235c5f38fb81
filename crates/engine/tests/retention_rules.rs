//! Retention: one rule, one test. What keeps the log, from when on a file's age counts, how far look-ups read.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use narwal_log::{DirReader, Disk, RecordKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DIR: &str = "/data";

fn options(disk: &SimDisk) -> Options {
    Options {
        segment_size: 16 << 10,
        binlog_state_interval: 4096,
        oob_threshold: 4096,
        background: false,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

fn open(disk: &SimDisk) -> Database {
    Database::open_with(DIR, options(disk)).unwrap()
}

fn fresh() -> (SimDisk, Database) {
    let disk = SimDisk::new();
    let db = open(&disk);
    create(&db, vec![table_def("t", true, false)]);
    (disk, db)
}

fn table(db: &Database) -> Arc<Table> {
    db.catalog().table("d", "t").unwrap().clone()
}

fn fill(db: &Database, ids: std::ops::Range<i64>) {
    let t = table(db);
    for id in ids {
        insert(db, &t, id, None, "some text");
    }
}

/// Begins a transaction that sends chunks: 400 rows and 5 or so chunks.
fn large(db: &Database, ids: std::ops::Range<i64>) -> Transaction {
    let mut x = db.begin(TxnOptions::default());
    grow(db, &mut x, ids);
    x
}

fn grow(db: &Database, x: &mut Transaction, ids: std::ops::Range<i64>) {
    let t = table(db);
    for id in ids {
        if id % 50 == 0 {
            x.end_statement();
            x.begin_statement(1, None);
        }
        x.insert(&t, row(&t, id, None, "a row of a large one"))
            .unwrap();
    }
    x.end_statement();
}

fn last_file(db: &Database) -> BinlogFile {
    db.binlog_files().pop().unwrap()
}

fn purge_all(db: &Database) -> PurgeReport {
    db.purge_binary_logs_to(&last_file(db).name).unwrap()
}

/// All groups, each read to its end: commit number, lowest LSN, bytes.
fn read_all(mut reader: GroupReader<LiveRecords>) -> Vec<(u64, u64, u64)> {
    let mut all = Vec::new();
    while let Some(h) = reader.next_group().unwrap() {
        let mut bytes = 0;
        while let Some(e) = reader.next_event().unwrap() {
            bytes += e.len() as u64;
        }
        assert_eq!(bytes, h.len);
        all.push((h.seq, h.first_lsn, h.len));
    }
    all
}

fn segments(db: &Database) -> usize {
    let names = db.options().disk.list(&db.path().join("log")).unwrap();
    names.iter().filter(|n| n.starts_with("wal.0")).count()
}

fn clock() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs() as u32
}

#[test]
fn chunks_of_a_running_transaction_outlive_a_purge_and_its_commit_is_recovered() {
    let (disk, db) = fresh();
    fill(&db, 0..50);
    let mut x = large(&db, 1000..1400);
    for n in 0..4 {
        fill(&db, 100 * (n + 1)..100 * (n + 1) + 60);
        db.flush_binary_logs(&[]).unwrap();
    }
    db.checkpoint().unwrap();
    let before = segments(&db);
    assert!(before >= 4, "{before} segments");
    let report = purge_all(&db);
    assert_eq!(report.purged_files, 4);
    assert!(
        report.notes.iter().any(|n| n.contains("running")),
        "{report:?}"
    );
    // What stands before its first chunk may go, the rest not.
    let kept = segments(&db);
    assert!(kept >= 3, "{kept} of {before} segments");
    grow(&db, &mut x, 1400..1800);
    x.commit().unwrap();
    // Chunks and commit stand in different segments and on both sides of the oldest file's start.
    let first = db.binlog_files()[0].first_lsn;
    let check = |db: &Database| {
        let groups = read_all(db.binlog_reader(ReadStart::Oldest).unwrap());
        assert_eq!(groups.len(), 1);
        assert!(groups[0].1 < first && groups[0].2 > 20 << 10, "{groups:?}");
        assert_eq!(db.table_rows(&table(db)), 50 + 4 * 60 + 800);
    };
    check(&db);
    // The commit is in no checkpoint: recovery needs the chunks, and so does the file.
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 0);
    let disk = disk.crash(3);
    check(&open(&disk));
    let db = open(&disk);
    db.checkpoint().unwrap();
    purge_all(&db);
    check(&db);
    let disk = disk.crash(4);
    let db = open(&disk);
    check(&db);
    // With its file they go.
    db.flush_binary_logs(&[]).unwrap();
    db.checkpoint().unwrap();
    assert_eq!(purge_all(&db).notes, [""; 0]);
    assert_eq!(segments(&db), 1);
}

#[test]
fn a_rolled_back_transaction_lets_its_chunks_go() {
    let (_disk, db) = fresh();
    let x = large(&db, 1000..1800);
    db.flush_binary_logs(&[]).unwrap();
    db.checkpoint().unwrap();
    purge_all(&db);
    assert!(segments(&db) > 1);
    drop(x);
    assert_eq!(purge_all(&db).notes, [""; 0]);
    assert_eq!(segments(&db), 1);
}

#[test]
fn a_reader_inside_the_file_that_a_reset_ends_keeps_that_files_chunks() {
    let (_disk, db) = fresh();
    let x = large(&db, 1000..1800);
    for n in 0..3 {
        fill(&db, 100 * n..100 * n + 60);
        db.flush_binary_logs(&[]).unwrap();
    }
    x.commit().unwrap();
    let current = last_file(&db);
    let hold = db.register_reader("replica 7", current.first_lsn);
    let reader = db
        .binlog_reader(ReadStart::File {
            name: current.name,
            offset: 4,
        })
        .unwrap();
    db.reset_master(None).unwrap();
    db.checkpoint().unwrap();
    let report = db.purge_expired_binary_logs().unwrap();
    assert!(
        report.notes.iter().any(|n| n.contains("replica 7")),
        "{report:?}"
    );
    let groups = read_all(reader);
    assert_eq!(groups.len(), 1);
    assert!(groups[0].1 < current.first_lsn);
    hold.advance(last_file(&db).first_lsn);
    assert_eq!(
        db.purge_expired_binary_logs().unwrap().notes,
        [""; 0],
        "the reader is through with the old log"
    );
    assert_eq!(segments(&db), 1);
}

#[test]
fn a_quiet_file_does_not_vanish_on_rotation_and_goes_when_that_is_long_ago() {
    let (disk, db) = fresh();
    fill(&db, 0..3);
    let quiet = clock();
    while clock() < quiet + 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let rotation = clock();
    db.flush_binary_logs(&[]).unwrap();
    // Its last event is the ROTATE.
    assert!(db.binlog_files()[0].last_event_time >= rotation);
    assert_eq!(
        db.purge_binary_logs_before(rotation).unwrap().purged_files,
        0
    );
    fill(&db, 3..4);
    let files = db.binlog_files();
    let db = open(&disk.crash(1));
    let found = db.binlog_files();
    assert_eq!(found[0], files[0], "its time too");
    assert!((rotation..=files[1].last_event_time).contains(&found[1].last_event_time));
    let next = clock() + 1;
    assert_eq!(db.purge_binary_logs_before(next).unwrap().purged_files, 1);
    assert_eq!(db.binlog_files().len(), 1);
}

#[test]
fn expiry_looks_at_the_last_event_and_stops_at_the_first_file_that_is_young() {
    let (_disk, db) = fresh();
    fill(&db, 0..3);
    db.flush_binary_logs(&[]).unwrap();
    db.flush_binary_logs(&[]).unwrap();
    db.set_binlog_expire_logs_seconds(3600);
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 0);
    let old = clock();
    while clock() < old + 3 {
        std::thread::sleep(Duration::from_millis(20));
    }
    db.flush_binary_logs(&[]).unwrap();
    db.set_binlog_expire_logs_seconds(1);
    // Two files ended three seconds ago; the third one now.
    let purged = db.purge_expired_binary_logs().unwrap().purged_files;
    assert!(purged >= 2, "{purged}");
    assert!(!db.binlog_files().is_empty());
}

#[test]
fn too_few_replicas_keep_what_would_go_by_itself_and_the_note_says_so() {
    let (_disk, db) = fresh();
    fill(&db, 0..3);
    db.flush_binary_logs(&[]).unwrap();
    db.set_max_binlog_total_size(1);
    db.set_slave_connections_needed_for_purge(2);
    let _one = db.register_reader("one", u64::MAX);
    let _other = db.hold_log("no replica", u64::MAX);
    let report = db.purge_expired_binary_logs().unwrap();
    assert_eq!(report.purged_files, 0);
    assert!(
        report.notes[0].contains("1 replicas are connected") && report.notes[0].contains("is 2"),
        "{report:?}"
    );
    let two = db.register_reader("two", u64::MAX);
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 1);
    drop(two);
    // Whoever asks by hand is not held back.
    fill(&db, 3..6);
    db.flush_binary_logs(&[]).unwrap();
    assert_eq!(purge_all(&db).purged_files, 1);
}

/// Longest run of records between two State records, those not counted.
fn longest_run(disk: &SimDisk) -> u64 {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut log = DirReader::open(disk, &Path::new(DIR).join("log"))
        .unwrap()
        .unwrap();
    let (mut longest, mut run) = (0, 0);
    while let Some(r) = log.next().unwrap() {
        run = if r.kind == RecordKind::State {
            0
        } else {
            run + 1
        };
        longest = longest.max(run);
    }
    longest
}

#[test]
fn a_start_and_a_connect_read_at_most_one_interval() {
    let (mut disk, mut db) = fresh();
    let mut written = 0;
    for round in 1..=3 {
        let total = 700 * round;
        fill(&db, written..total);
        written = total;
        // A replica that is anywhere behind; places by offset and commit number too.
        let interval = longest_run(&disk);
        assert!((5..60).contains(&interval), "{interval}");
        let mut lookups = 0;
        for n in (2..total + 2).step_by(97) {
            let have = ReadStart::Gtid(format!("0-1-{n}"));
            let before = db.binlog_stats();
            let mut reader = db.binlog_reader(have).unwrap();
            let after = db.binlog_stats();
            let read = after.lookup_records - before.lookup_records;
            // The last record is the one that is searched; a State record may stand on either side.
            assert!(read <= interval + 3, "{read} of {interval}, {n} of {total}");
            lookups += after.lookups - before.lookups;
            let head = reader.next_group().unwrap();
            assert_eq!(head.map(|h| h.gtid.seq), Some(n as u64 + 1));
            let position = db.position_at_seq(n as u64).unwrap();
            db.binlog_reader(ReadStart::File {
                name: position.file,
                offset: position.offset,
            })
            .unwrap();
            let all = db.binlog_stats();
            let read = all.lookup_records - after.lookup_records;
            assert!(read <= 2 * (interval + 3), "{read} of 2 x {interval}");
        }
        assert!(lookups > 5);
        // After a clean end nothing is read; after a crash what came behind the checkpoint, however long the log is.
        db.close().unwrap();
        db = open(&disk);
        assert_eq!(db.binlog_stats().recovery_records, 0);
        db.checkpoint().unwrap();
        fill(&db, written..written + 10);
        written += 10;
        let files = db.binlog_files();
        disk = disk.crash(9);
        db = open(&disk);
        let stats = db.binlog_stats();
        assert!(
            (10..=12).contains(&stats.recovery_records),
            "{}",
            stats.recovery_records
        );
        assert_eq!(db.binlog_files().len(), files.len());
        assert_eq!(stats.lookup_records, 0);
    }
}

#[test]
fn files_whose_log_was_given_up_are_not_listed() {
    let (disk, db) = fresh();
    fill(&db, 0..40);
    db.flush_binary_logs(&[]).unwrap();
    fill(&db, 40..80);
    let state = db.gtid_binlog_state();
    db.close().unwrap();
    let dir = Path::new(DIR).join("log");
    for name in disk.list(&dir).unwrap() {
        if name.starts_with("wal.0") {
            disk.remove(&dir.join(name)).unwrap();
        }
    }
    disk.sync_dir(&dir).unwrap();
    assert!(Database::open_with(DIR, options(&disk)).is_err());
    let mut accept = options(&disk);
    accept.accept_log_loss = true;
    let db = Database::open_with(DIR, accept).unwrap();
    let files = db.binlog_files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(files[0].name, "narwal-bin.000003");
    assert_eq!(db.gtid_binlog_state(), state);
    assert!(read_all(db.binlog_reader(ReadStart::Oldest).unwrap()).is_empty());
    fill(&db, 80..90);
    let db = open(&disk.crash(2));
    assert_eq!(
        read_all(db.binlog_reader(ReadStart::Oldest).unwrap()).len(),
        10
    );
    assert_eq!(db.table_rows(&table(&db)), 90);
    let gone = ReadStart::Gtid("0-1-40".into());
    assert_eq!(db.binlog_reader(gone).unwrap_err().to_sql().code, 1236);
}

#[test]
fn flush_and_purge_under_load_with_a_slow_reader() {
    let dir = std::env::temp_dir().join(format!("narwal-retention-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let db = Database::open_with(
        &dir,
        Options {
            segment_size: 32 << 10,
            max_binlog_size: 16 << 10,
            binlog_state_interval: 4096,
            oob_threshold: 4096,
            checkpoint_log_bytes: 64 << 10,
            flush_log_at_trx_commit: 2,
            memory_budget: 16 << 20,
            ..Options::default()
        },
    )
    .unwrap();
    create(&db, vec![table_def("t", true, false)]);
    let (writers, each) = (4, 400);
    let end = 2 + writers * each;
    let hold = db.register_reader("slow one", 0);
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    let stop = AtomicBool::new(false);
    let (mut purged, mut kept) = (0, 0);
    std::thread::scope(|s| {
        for w in 0..writers {
            let db = db.clone();
            s.spawn(move || {
                let t = table(&db);
                for i in 0..each {
                    let id = (w * each + i) as i64 * 200;
                    // One in forty is large.
                    let rows = if i % 40 == 7 { 150 } else { 2 };
                    let mut x = begin(&db);
                    for n in 0..rows {
                        if n % 50 == 49 {
                            x.end_statement();
                            x.begin_statement(1, None);
                        }
                        x.insert(&t, row(&t, id + n, None, "text of a row"))
                            .unwrap();
                    }
                    x.commit().unwrap();
                }
            });
        }
        let admin = s.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                db.flush_binary_logs(&[]).unwrap();
                let report = purge_all(&db);
                purged += report.purged_files;
                kept += usize::from(report.notes.iter().any(|n| n.contains("slow one")));
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        // Every group once, in order, whole, however far behind this is.
        let mut next = 1;
        while next <= end as u64 {
            let Some(head) = reader.next_group().unwrap() else {
                db.sync().unwrap();
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            assert_eq!(head.seq, next);
            let mut bytes = 0;
            while let Some(e) = reader.next_event().unwrap() {
                bytes += e.len() as u64;
            }
            assert_eq!(bytes, head.len);
            if next % 16 == 0 {
                hold.advance(head.end_lsn);
                std::thread::sleep(Duration::from_millis(2));
            }
            next += 1;
        }
        stop.store(true, Ordering::Relaxed);
        admin.join().unwrap();
    });
    assert!(purged > 3 && kept > 0, "{purged} purged, kept {kept} times");
    drop(hold);
    drop(reader);
    let state = db.gtid_binlog_state();
    assert_eq!(state, format!("0-1-{end}"));
    db.flush_binary_logs(&[]).unwrap();
    db.checkpoint().unwrap();
    assert_eq!(purge_all(&db).notes, [""; 0]);
    let rows = db.table_rows(&table(&db));
    assert_eq!(
        rows,
        (writers * 10 * 150 + writers * (each - 10) * 2) as u64
    );
    db.close().unwrap();
    drop(db);
    let db = Database::open(&dir).unwrap();
    assert_eq!(db.gtid_binlog_state(), state);
    assert_eq!(db.table_rows(&table(&db)), rows);
    assert!(db.binlog_stats().disk_use < 4 * (32 << 10) + (2 << 20));
    drop(db);
    std::fs::remove_dir_all(&dir).unwrap();
}
