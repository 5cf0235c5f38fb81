//! Purging, RESET MASTER and the GTID state: what goes, what stays and why, and what a restart finds.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use std::sync::Arc;

const DIR: &str = "/data";

fn options(disk: &SimDisk) -> Options {
    Options {
        segment_size: 16 << 10,
        max_binlog_size: 4096,
        binlog_state_interval: 4096,
        oob_threshold: 8192,
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

fn fill(db: &Database, ids: std::ops::Range<i64>) {
    let t = db.catalog().table("d", "t").unwrap().clone();
    for id in ids {
        insert(db, &t, id, None, "some text");
    }
}

fn gtids(mut reader: GroupReader<LiveRecords>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(h) = reader.next_group().unwrap() {
        all.push(h.gtid.to_string());
    }
    all
}

fn code(e: EngineError) -> u16 {
    e.to_sql().code
}

#[test]
fn the_gtid_state_outlives_a_purge_of_everything() {
    let (disk, db) = fresh();
    fill(&db, 0..200);
    db.set_gtid_domain_id(5);
    db.set_server_id(9);
    fill(&db, 200..210);
    let state = db.gtid_binlog_state();
    assert_eq!(state, "0-1-202,5-9-10");
    db.flush_binary_logs(&[]).unwrap();
    let files = db.binlog_files();
    let last = files.last().unwrap().clone();
    let before = db.binlog_stats().disk_use;
    db.checkpoint().unwrap();
    let report = db.purge_binary_logs_to(&last.name).unwrap();
    assert_eq!(
        (report.purged_files, report.notes.as_slice()),
        (files.len() - 1, &[][..])
    );
    assert!(db.binlog_stats().disk_use < before);
    let mut disk = disk.crash(3);
    for clean in [false, true] {
        if clean {
            open(&disk).close().unwrap();
        }
        let db = open(&disk);
        assert_eq!(db.gtid_binlog_state(), state);
        assert_eq!(db.binlog_files().len(), 1);
        assert_eq!(db.binlog_files()[0].name, last.name);
        assert!(gtids(db.binlog_reader(ReadStart::Oldest).unwrap()).is_empty());
        // Whoever has everything may go on, whoever has not is told.
        assert!(
            db.binlog_reader(ReadStart::Gtid("0-1-202,5-9-10".into()))
                .is_ok()
        );
        for gone in ["", "0-1-202", "0-1-100,5-9-10"] {
            let e = db.binlog_reader(ReadStart::Gtid(gone.into())).unwrap_err();
            assert_eq!(code(e), 1236, "{gone}");
        }
        drop(db);
        disk = disk.crash(4);
    }
    let db = open(&disk);
    fill(&db, 300..301);
    assert_eq!(db.gtid_binlog_state(), "0-1-203,5-9-10");
}

#[test]
fn a_slow_reader_keeps_what_it_needs() {
    let (_disk, db) = fresh();
    fill(&db, 0..300);
    let files = db.binlog_files();
    let hold = db.register_reader("replica 7", files[2].first_lsn);
    let mut reader = db.binlog_reader(ReadStart::Lsn(hold.lsn())).unwrap();
    let first = reader.next_group().unwrap().unwrap();
    db.checkpoint().unwrap();
    let report = db
        .purge_binary_logs_to(&files.last().unwrap().name)
        .unwrap();
    assert_eq!(report.purged_files, 2);
    assert!(
        report.notes.iter().any(|n| n.contains("replica 7")),
        "{report:?}"
    );
    assert_eq!(db.binlog_files()[0].name, files[2].name);
    let mut n = 1;
    while reader.next_group().unwrap().is_some() {
        n += 1;
    }
    assert_eq!(first.seq + n - 1, 302);
    hold.advance(files[4].first_lsn);
    assert_eq!(
        db.purge_binary_logs_to(&files[6].name)
            .unwrap()
            .purged_files,
        2
    );
    drop(hold);
    let report = db.purge_binary_logs_to(&files[6].name).unwrap();
    assert_eq!((report.purged_files, report.notes.len()), (2, 0));
}

#[test]
fn settings_purge_by_age_and_size_and_never_the_current_file() {
    let (_disk, db) = fresh();
    fill(&db, 0..300);
    let files = db.binlog_files();
    assert_eq!(db.purge_binary_logs_before(1).unwrap().purged_files, 0);
    db.set_binlog_expire_logs_seconds(1000);
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 0);
    let total: u64 = files.iter().map(|f| f.size).sum();
    db.set_max_binlog_total_size(total - 1);
    db.set_slave_connections_needed_for_purge(1);
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 0);
    let hold = db.register_reader("r", u64::MAX);
    assert_eq!(db.purge_expired_binary_logs().unwrap().purged_files, 1);
    drop(hold);
    assert_eq!(
        db.purge_binary_logs_before(u32::MAX).unwrap().purged_files,
        files.len() - 2
    );
    assert_eq!(db.binlog_files().len(), 1);
    assert_eq!(
        code(db.purge_binary_logs_to("narwal-bin.000001").unwrap_err()),
        1373
    );
    assert_eq!(code(db.purge_binary_logs_to("nothing").unwrap_err()), 1373);
}

#[test]
fn reset_master_empties_the_log_at_once_and_running_transactions_survive() {
    let (disk, db) = fresh();
    let t = db.catalog().table("d", "t").unwrap().clone();
    fill(&db, 0..200);
    let mut x = begin(&db);
    for id in 1000..2000 {
        x.insert(&t, row(&t, id, None, "a row of a large one"))
            .unwrap();
        if id % 100 == 0 {
            x.end_statement();
            x.begin_statement(1, None);
        }
    }
    x.end_statement();
    assert!(db.binlog_stats().oob_chunks > 0);
    db.reset_master(Some(7)).unwrap();
    assert_eq!(db.gtid_binlog_state(), "");
    let at = db.binlog_position();
    assert_eq!((at.file.as_str(), at.offset), ("narwal-bin.000007", 285));
    assert!(gtids(db.binlog_reader(ReadStart::Oldest).unwrap()).is_empty());
    // Neither a checkpoint nor a purge takes the chunks away.
    db.checkpoint().unwrap();
    let report = db.purge_expired_binary_logs().unwrap();
    assert!(
        report.notes.iter().any(|n| n.contains("running")),
        "{report:?}"
    );
    x.commit().unwrap();
    db.checkpoint().unwrap();
    let disk = disk.crash(5);
    for clean in [false, true] {
        if clean {
            open(&disk).close().unwrap();
        }
        let db = open(&disk);
        assert_eq!(db.gtid_binlog_state(), "0-1-1");
        let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
        let head = reader.next_group().unwrap().unwrap();
        assert_eq!((head.file_no, head.start_pos), (7, 285));
        let mut bytes = 0;
        while let Some(e) = reader.next_event().unwrap() {
            bytes += e.len() as u64;
        }
        assert_eq!(bytes, head.len);
        assert_eq!(db.table_rows(db.catalog().table("d", "t").unwrap()), 1200);
    }
}

#[test]
fn gtid_state_can_be_set_on_an_empty_log_only() {
    let (disk, db) = fresh();
    assert_eq!(code(db.set_gtid_binlog_state("0-1-5").unwrap_err()), 1956);
    db.reset_master(None).unwrap();
    assert_eq!(code(db.set_gtid_binlog_state("0-1").unwrap_err()), 1941);
    db.set_gtid_binlog_state("0-1-5,0-2-3,7-1-7").unwrap();
    assert_eq!(code(db.set_gtid_binlog_state("0-1-9").unwrap_err()), 1956);
    let at = db.binlog_position();
    assert_eq!(
        (at.file.as_str(), at.offset),
        ("narwal-bin.000001", 256 + 27 + 48)
    );
    assert_eq!(at.gtid_pos, "0-2-3,7-1-7");
    let db = open(&disk.crash(1));
    assert_eq!(db.gtid_binlog_state(), "0-1-5,0-2-3,7-1-7");
    fill(&db, 0..1);
    assert_eq!(db.gtid_binlog_state(), "0-2-3,0-1-6,7-1-7");
    // Nobody can follow from before the state that was set.
    assert_eq!(
        code(db.binlog_reader(ReadStart::Gtid("".into())).unwrap_err()),
        1236
    );
    let next = gtids(
        db.binlog_reader(ReadStart::Gtid("0-2-3,7-1-7".into()))
            .unwrap(),
    );
    assert_eq!(next, ["0-1-6"]);
    // The domain that was set and never written may go; the other one not.
    assert_eq!(code(db.flush_binary_logs(&[0]).unwrap_err()), 1076);
    assert!(db.flush_binary_logs(&[7]).unwrap().is_empty());
    assert_eq!(db.flush_binary_logs(&[7]).unwrap().len(), 1);
    assert_eq!(db.gtid_binlog_state(), "0-2-3,0-1-6");
}

#[test]
fn strict_mode_refuses_a_gtid_that_goes_back() {
    let (_disk, db) = fresh();
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut x = db.begin(TxnOptions {
        gtid: GtidChoice {
            seq_no: Some(2),
            strict: true,
            ..GtidChoice::default()
        },
        ..TxnOptions::default()
    });
    x.begin_statement(1, None);
    x.insert(&t, row(&t, 1, None, "x")).unwrap();
    assert_eq!(code(x.commit().unwrap_err()), 1950);
    assert_eq!(db.gtid_binlog_state(), "0-1-2");
    fill(&db, 1..2);
    assert_eq!(db.gtid_binlog_state(), "0-1-3");
}
