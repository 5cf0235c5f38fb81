//! Two logs instead of one (`binlog_storage_engine=FILE`) on a simulated disk that loses, tears and reorders what was not
//! synced: after any crash tables and binary log files hold the same transactions, and everything acknowledged.
//! `NARWAL_SEEDS` sets the number of seeds, `NARWAL_SEED` runs one; a failure prints its seed.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_binlog::{Event, EventReader};
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const DIR: &str = "/data";

fn options(disk: &SimDisk, flush: u8, sync_binlog: u32) -> Options {
    Options {
        classic_log: true,
        sync_binlog,
        flush_log_at_trx_commit: flush,
        oob_threshold: 700,
        segment_size: 32 << 10,
        max_binlog_size: 4096,
        binlog_state_interval: 4096,
        background: false,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

/// The ids in a table.
fn ids(db: &Database, table: &str) -> BTreeSet<i64> {
    let cat = db.catalog();
    let Some(t) = cat.table("d", table) else {
        return BTreeSet::new();
    };
    let rows = dump(&mut begin(db), t, 0, ReadView::Snapshot);
    rows.iter().map(|r| r.0).collect()
}

/// What the binary log files hold: the ids of the rows inserted, and the GTIDs' numbers in order. Every file must be whole.
fn flat(disk: &SimDisk) -> (BTreeSet<i64>, Vec<u64>) {
    let mut paths: Vec<_> = (disk.paths().into_iter())
        .filter(|p| {
            let name = p.file_name().unwrap().to_str().unwrap();
            name.starts_with("narwal-bin.0") && p.parent() == Some(Path::new(DIR))
        })
        .collect();
    paths.sort();
    let index = disk
        .content(&Path::new(DIR).join("narwal-bin.index"))
        .unwrap();
    let listed: Vec<String> = String::from_utf8(index)
        .unwrap()
        .lines()
        .map(|l| l.replace("./", "/data/"))
        .collect();
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    assert_eq!(listed, names, "the index names the files");
    let (mut ids, mut gtids) = (BTreeSet::new(), Vec::new());
    for path in paths {
        let bytes = disk.content(&path).unwrap();
        let mut map = None;
        let mut at = 4;
        for event in EventReader::file(&bytes).unwrap() {
            let event = event.unwrap_or_else(|e| panic!("{} at {at}: {e}", path.display()));
            at += event.header.event_size;
            assert_eq!(
                event.header.end_log_pos, at,
                "positions are those of the file"
            );
            match event.decode().unwrap() {
                Event::Gtid(g) => gtids.push(g.gtid.seq),
                Event::TableMap(m) => map = Some(m),
                Event::Rows(rows) => {
                    for change in rows.rows(map.as_ref().unwrap()).unwrap() {
                        let image = change.unwrap().after.unwrap();
                        let id = i32::from_le_bytes(image[1..5].try_into().unwrap());
                        assert!(
                            ids.insert(i64::from(id)),
                            "transaction {id} stands there twice"
                        );
                    }
                }
                _ => {}
            }
        }
    }
    assert!(
        gtids.is_sorted_by(|a, b| a < b),
        "no GTID is given twice: {gtids:?}"
    );
    (ids, gtids)
}

/// One transaction with rows `first..first + n`, in the binary log unless `local`.
fn insert(db: &Database, first: i64, n: i64, local: bool) -> Result<CommitInfo> {
    let cat = db.catalog();
    let t = cat.table("d", if local { "l" } else { "t" }).unwrap();
    let mut x = db.begin(TxnOptions {
        log_bin: !local,
        ..TxnOptions::default()
    });
    for id in first..first + n {
        x.begin_statement(7, None);
        x.insert(t, row(t, id, Some(id % 5), "0123456789"))?;
        x.end_statement();
    }
    x.commit()
}

fn tables(db: &Database) {
    create(
        db,
        vec![table_def("t", true, false), table_def("l", true, false)],
    );
}

/// Opens after a crash, with more crashes in the middle of recoveries.
fn reopen(mut disk: SimDisk, rng: &mut StdRng, flush: u8, sync: u32) -> (SimDisk, Database) {
    loop {
        if rng.random_bool(0.4) {
            disk.power_off_in(rng.random_range(1..60));
        }
        match Database::open_with(DIR, options(&disk, flush, sync)) {
            Ok(db) if !disk.is_off() => {
                disk.power_off_in(u64::MAX >> 1);
                return (disk, db);
            }
            Err(e) if !disk.is_off() => panic!("does not open: {e}"),
            _ => disk = disk.crash(rng.random()),
        }
    }
}

/// One story; whether the logs have drifted apart in it.
fn story(seed: u64, strict: bool) -> bool {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut flush, mut sync) = (1, 1);
    let mut disk = SimDisk::new();
    let mut db = Database::open_with(DIR, options(&disk, flush, sync)).unwrap();
    tables(&db);
    let (mut next, mut drifted) = (1, false);
    let (mut acked, mut acked_local) = (BTreeSet::new(), BTreeSet::new());
    let mut purged = BTreeSet::new();
    for _ in 0..5 {
        if !strict {
            flush = [0, 1, 2][rng.random_range(0..3)];
            sync = [0, 1, 3][rng.random_range(0..3)];
            db.set_flush_log_at_trx_commit(flush);
            db.set_sync_binlog(sync);
        }
        disk.power_off_in(rng.random_range(1..300));
        for _ in 0..rng.random_range(1..60) {
            let r = match rng.random_range(0..40) {
                0 => db.checkpoint(),
                1 => db.flush_binary_logs(&[]).map(|_| ()),
                2 => db.sync(),
                3 if !disk.is_off() => {
                    purged.extend(flat(&disk).0);
                    let file = db.durable_binlog_position().unwrap().file;
                    db.purge_binary_logs_to(&file).map(|_| ())
                }
                _ => {
                    let n = if rng.random_bool(0.1) { 40 } else { 1 };
                    let local = rng.random_bool(0.2);
                    let first = next;
                    next += n;
                    insert(&db, first, n, local).map(|_| {
                        if local { &mut acked_local } else { &mut acked }.extend(first..first + n);
                    })
                }
            };
            if r.is_err() {
                break;
            }
        }
        let dead = disk.is_off() || rng.random_bool(0.6);
        let after = if dead {
            disk.crash(rng.random())
        } else {
            disk.kill()
        };
        drop(db);
        (disk, db) = reopen(after, &mut rng, flush, sync);
        let (tables, local, (files, gtids)) = (ids(&db, "t"), ids(&db, "l"), flat(&disk));
        let lost: Vec<_> = tables
            .difference(&files)
            .filter(|i| !purged.contains(*i))
            .collect();
        let ahead: Vec<_> = files.difference(&tables).collect();
        drifted |= !lost.is_empty() || !ahead.is_empty();
        if strict {
            assert!(
                lost.is_empty() && ahead.is_empty(),
                "not in files: {lost:?}, not in tables: {ahead:?}"
            );
            assert!(
                acked.is_subset(&tables) && acked_local.is_subset(&local),
                "acknowledged and lost"
            );
        }
        if let Some(last) = gtids.last() {
            let given = insert(&db, next, 1, false).unwrap().gtid;
            let seq: u64 = given.rsplit('-').next().unwrap().parse().unwrap();
            assert!(seq > *last, "{given} is given again");
            next += 1;
        }
        // What was found stays.
        acked = ids(&db, "t");
        acked_local = local;
    }
    db.close().unwrap();
    drifted
}

fn seeds(default: u64) -> Vec<u64> {
    let var = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    match var("NARWAL_SEED") {
        Some(one) => vec![one],
        None => (0..var("NARWAL_SEEDS").unwrap_or(default)).collect(),
    }
}

#[test]
fn any_crash_leaves_the_same_transactions_in_both_logs() {
    for seed in seeds(60) {
        let r = std::panic::catch_unwind(|| story(seed, true));
        assert!(
            r.is_ok_and(|drifted| !drifted),
            "failed with NARWAL_SEED={seed}"
        );
    }
}

#[test]
fn with_fewer_syncs_the_logs_drift_apart_and_gtids_go_on() {
    let seeds = seeds(60);
    let mut drifted = 0;
    for &seed in &seeds {
        let r = std::panic::catch_unwind(|| story(seed, false));
        drifted += u64::from(r.unwrap_or_else(|_| panic!("failed with NARWAL_SEED={seed}")));
    }
    assert!(seeds.len() == 1 || drifted > 0, "no story met a drift");
}

#[test]
fn a_crash_in_group_commit_leaves_the_same_transactions() {
    for seed in seeds(12) {
        let mut rng = StdRng::seed_from_u64(seed);
        let disk = SimDisk::new();
        let db = Database::open_with(DIR, options(&disk, 1, 1)).unwrap();
        tables(&db);
        let next = AtomicI64::new(1);
        disk.power_off_in(rng.random_range(50..400));
        let acked: BTreeSet<i64> = std::thread::scope(|s| {
            let work = |_| {
                s.spawn(|| {
                    let mut acked = Vec::new();
                    loop {
                        let id = next.fetch_add(1, Ordering::Relaxed);
                        match insert(&db, id, 1, false) {
                            Ok(_) => acked.push(id),
                            Err(_) => return acked,
                        }
                    }
                })
            };
            let threads: Vec<_> = (0..6).map(work).collect();
            threads
                .into_iter()
                .flat_map(|t| t.join().unwrap())
                .collect()
        });
        let after = disk.crash(seed);
        drop(db);
        let (disk, db) = reopen(after, &mut rng, 1, 1);
        let tables = ids(&db, "t");
        assert_eq!(tables, flat(&disk).0, "NARWAL_SEED={seed}");
        assert!(acked.is_subset(&tables), "NARWAL_SEED={seed}");
    }
}

#[test]
fn a_folder_stays_what_it_was_made_as() {
    for classic in [false, true] {
        let disk = SimDisk::new();
        let with = |classic_log| Options {
            classic_log,
            ..options(&disk, 1, 1)
        };
        let db = Database::open_with(DIR, with(classic)).unwrap();
        tables(&db);
        drop(db);
        let refused = Database::open_with(DIR, with(!classic)).err().unwrap();
        assert!(
            refused.to_string().contains("binlog_storage_engine=FILE"),
            "{refused}"
        );
        let db = Database::open_with(DIR, with(classic)).unwrap();
        assert!(db.catalog().table("d", "t").is_some());
        assert_eq!(db.is_classic(), classic);
        if classic {
            for refused in [
                db.reset_master(None),
                db.set_gtid_binlog_state("0-1-5"),
                db.binlog_reader(ReadStart::Oldest).map(|_| ()),
                db.binlog_gtid_pos("", 4).map(|_| ()),
            ] {
                assert_eq!(refused.unwrap_err().to_sql().code, 1235);
            }
        }
    }
}

#[test]
fn a_lone_commit_is_two_syncs() {
    let disk = SimDisk::new();
    // A rotation syncs, too.
    let options = Options {
        max_binlog_size: 1 << 20,
        ..options(&disk, 1, 1)
    };
    let db = Database::open_with(DIR, options).unwrap();
    tables(&db);
    let count = |name: &str| db.stats().values.iter().find(|v| v.0 == name).unwrap().1;
    let names = ["Narwal_log_syncs", "Narwal_binlog_file_syncs"];
    let mut before = names.map(count);
    let mut expect = |more: [u64; 2]| {
        let now = names.map(count);
        assert_eq!([now[0] - before[0], now[1] - before[1]], more);
        before = now;
    };
    for id in 0..10 {
        insert(&db, id, 1, false).unwrap();
    }
    expect([10, 10]);
    // It is for one log only.
    insert(&db, 10, 1, true).unwrap();
    expect([1, 0]);
    db.set_sync_binlog(3);
    for id in 11..20 {
        insert(&db, id, 1, false).unwrap();
    }
    expect([9, 3]);
    db.set_sync_binlog(0);
    db.set_flush_log_at_trx_commit(2);
    insert(&db, 20, 1, false).unwrap();
    expect([0, 0]);
}
