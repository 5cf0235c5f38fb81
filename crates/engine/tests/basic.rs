//! The store without crashes: reads, writes, snapshots, locks, DDL, reopening.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use std::sync::Arc;
use std::time::Duration;

fn open(dir: &tempfile::TempDir) -> Database {
    Database::open(dir.path()).unwrap()
}

#[test]
fn rows_survive_reopening_and_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let want: Vec<_> = (0..100)
        .map(|i| (i, Some(i % 7), format!("c{i}")))
        .collect();
    {
        let db = open(&dir);
        create(&db, vec![table_def("t", true, true)]);
        let t = db.catalog().table("d", "t").unwrap().clone();
        for (id, k, c) in &want[..50] {
            insert(&db, &t, *id, *k, c);
        }
        db.checkpoint().unwrap();
        for (id, k, c) in &want[50..] {
            insert(&db, &t, *id, *k, c);
        }
        let mut x = begin(&db);
        assert_eq!(dump(&mut x, &t, 0, ReadView::Snapshot), want);
        check_indexes(&db, &t);
    }
    for _ in 0..2 {
        let db = open(&dir);
        let t = db.catalog().table("d", "t").unwrap().clone();
        let mut x = begin(&db);
        assert_eq!(dump(&mut x, &t, 0, ReadView::Snapshot), want);
        check_indexes(&db, &t);
    }
}

#[test]
fn own_writes_are_seen_and_rolled_back_by_statement_and_savepoint() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    create(&db, vec![table_def("t", true, true)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    insert(&db, &t, 1, Some(1), "a");
    let mut x = db.begin(TxnOptions::default());
    x.begin_statement(1, Some(b"INSERT ..."));
    x.insert(&t, row(&t, 2, None, "b")).unwrap();
    x.end_statement();
    let s = x.savepoint();
    x.begin_statement(1, None);
    let old = x
        .lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
        .unwrap()
        .unwrap();
    x.update(&t, &key(1), &old, row(&t, 10, Some(9), "z"))
        .unwrap();
    x.end_statement();
    assert_eq!(
        dump(&mut x, &t, 0, ReadView::Snapshot),
        vec![(2, None, "b".into()), (10, Some(9), "z".into())]
    );
    x.begin_statement(1, None);
    x.insert(&t, row(&t, 3, None, "y")).unwrap();
    assert!(matches!(
        x.insert(&t, row(&t, 4, None, "Y")),
        Err(EngineError::Duplicate { index: 2, .. })
    ));
    x.rollback_statement();
    assert_eq!(dump(&mut x, &t, 1, ReadView::Snapshot).len(), 2);
    x.rollback_to(&s);
    assert_eq!(
        dump(&mut x, &t, 0, ReadView::Snapshot),
        vec![(1, Some(1), "a".into()), (2, None, "b".into())]
    );
    x.commit().unwrap();
    check_indexes(&db, &t);
    assert_eq!(db.table_rows(&t), 2);
}

#[test]
fn snapshots_stay_while_commits_and_checkpoints_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    create(&db, vec![table_def("t", true, false)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    for i in 0..20 {
        insert(&db, &t, i, Some(0), "x");
    }
    let mut old = begin(&db);
    old.ensure_snapshot();
    let before = dump(&mut old, &t, 0, ReadView::Snapshot);
    for round in 1..6 {
        for i in 0..20 {
            let mut x = begin(&db);
            let r = x
                .lock_row(&t, &key(i), LockMode::Exclusive, LockWait::Wait)
                .unwrap();
            match (r, i % 5) {
                (Some(r), 0) => x.delete(&t, &key(i), &r).unwrap(),
                (Some(r), _) => x
                    .update(&t, &key(i), &r, row(&t, i, Some(round), "y"))
                    .unwrap(),
                (None, _) => x.insert(&t, row(&t, i, Some(round), "n")).unwrap(),
            }
            x.commit().unwrap();
        }
        if round % 2 == 0 {
            db.checkpoint().unwrap();
        }
        assert_eq!(dump(&mut old, &t, 0, ReadView::Snapshot), before);
        assert_eq!(dump(&mut old, &t, 1, ReadView::Snapshot).len(), 20);
        check_indexes(&db, &t);
    }
    // The first updater wins.
    assert!(matches!(
        old.lock_row(&t, &key(3), LockMode::Exclusive, LockWait::Wait),
        Err(EngineError::WriteConflict)
    ));
}

#[test]
fn locks_conflict_wait_and_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    create(&db, vec![table_def("t", true, true)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    insert(&db, &t, 1, None, "a");
    let mut a = begin(&db);
    a.lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
        .unwrap()
        .unwrap();
    a.insert(&t, row(&t, 2, None, "b")).unwrap();
    let mut b = db.begin(TxnOptions {
        lock_wait_timeout: Some(Duration::from_millis(20)),
        ..TxnOptions::default()
    });
    b.begin_statement(1, None);
    assert!(matches!(
        b.lock_row(&t, &key(1), LockMode::Shared, LockWait::NoWait),
        Err(EngineError::LockNotAvailable)
    ));
    assert!(
        b.lock_row(&t, &key(1), LockMode::Shared, LockWait::SkipLocked)
            .unwrap()
            .is_none()
    );
    assert!(matches!(
        b.lock_row(&t, &key(1), LockMode::Shared, LockWait::Wait),
        Err(EngineError::LockWaitTimeout)
    ));
    // The uncommitted unique value holds others up too.
    assert!(matches!(
        b.insert(&t, row(&t, 3, None, "B")),
        Err(EngineError::LockWaitTimeout)
    ));
    a.rollback();
    b.insert(&t, row(&t, 3, None, "B")).unwrap();
    b.commit().unwrap();
    assert_eq!(
        db.stats()
            .values
            .iter()
            .find(|v| v.0 == "Narwal_row_locks")
            .unwrap()
            .1,
        0
    );
}

#[test]
fn ddl_is_seen_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    {
        let db = open(&dir);
        create(
            &db,
            vec![
                table_def("t", true, false),
                table_def("h", false, false),
                table_def("gone", true, false),
            ],
        );
        let t = db.catalog().table("d", "t").unwrap().clone();
        let h = db.catalog().table("d", "h").unwrap().clone();
        for i in 0..10 {
            insert(&db, &t, i, Some(i / 2), &format!("v{}", i / 2));
            insert(&db, &h, i % 3, Some(i), "same");
        }
        let dup = CatalogChange::CreateIndex {
            db: "d".into(),
            table: "t".into(),
            index: index("u", true, &[2]),
        };
        assert!(matches!(
            ddl(&db, "CREATE UNIQUE INDEX", vec![dup]),
            Err(EngineError::Duplicate { .. })
        ));
        let ix = CatalogChange::CreateIndex {
            db: "d".into(),
            table: "t".into(),
            index: index("c", false, &[2]),
        };
        ddl(&db, "CREATE INDEX", vec![ix]).unwrap();
        // The old version of the table is refused for writing.
        assert!(begin(&db).insert(&t, row(&t, 99, None, "x")).is_err());
        ddl(
            &db,
            "DROP TABLE",
            vec![CatalogChange::DropTable {
                db: "d".into(),
                name: "gone".into(),
            }],
        )
        .unwrap();
        let t = db.catalog().table("d", "t").unwrap().clone();
        check_indexes(&db, &t);
        let mut x = begin(&db);
        let (pk, first) = {
            let mut s = x
                .scan(&h, 0, KeyRange::all(), false, ReadView::Current, false)
                .unwrap();
            let i = s.next().unwrap().unwrap();
            (i.pk.to_vec(), decode(&h, i.row))
        };
        let r = x
            .lock_row(&h, &pk, LockMode::Exclusive, LockWait::Wait)
            .unwrap()
            .unwrap();
        assert_eq!(decode(&h, &r), first);
        x.delete(&h, &pk, &r).unwrap();
        x.commit().unwrap();
        check_indexes(&db, &h);
    }
    let db = open(&dir);
    assert!(db.catalog().table("d", "gone").is_none());
    let h = db.catalog().table("d", "h").unwrap().clone();
    check_indexes(&db, &h);
    assert_eq!(db.table_rows(&h), 9);
    let t = db.catalog().table("d", "t").unwrap().clone();
    assert_eq!(t.indexes.len(), 3);
    check_indexes(&db, &t);
    ddl(
        &db,
        "TRUNCATE",
        vec![CatalogChange::TruncateTable {
            db: "d".into(),
            name: "t".into(),
        }],
    )
    .unwrap();
    let t = db.catalog().table("d", "t").unwrap().clone();
    assert_eq!(dump(&mut begin(&db), &t, 0, ReadView::Snapshot), vec![]);
    insert(&db, &t, 1, None, "again");
    db.checkpoint().unwrap();
    check_indexes(&db, &t);
}

#[test]
fn many_writers_keep_a_constant_total_under_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    create(&db, vec![table_def("t", true, false)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    for i in 0..10 {
        insert(&db, &t, i, Some(100), "acc");
    }
    std::thread::scope(|s| {
        for w in 0..6i64 {
            let (db, t) = (db.clone(), t.clone());
            s.spawn(move || {
                let mut done = 0;
                let mut n = w;
                while done < 60 {
                    n += 1;
                    let (a, b) = ((n * 7 + w) % 10, (n * 3 + 1) % 10);
                    if a == b {
                        continue;
                    }
                    let mut x = begin(&db);
                    let r: Result<()> = (|| {
                        for (id, d) in [(a, -1), (b, 1)] {
                            let r = x
                                .lock_row(&t, &key(id), LockMode::Exclusive, LockWait::Wait)?
                                .unwrap();
                            let (_, k, c) = decode(&t, &r);
                            x.update(&t, &key(id), &r, row(&t, id, Some(k.unwrap() + d), &c))?;
                        }
                        Ok(())
                    })();
                    match r {
                        Ok(()) => {
                            x.commit().unwrap();
                            done += 1;
                        }
                        Err(EngineError::Deadlock) => {}
                        Err(e) => panic!("{e}"),
                    }
                }
            });
        }
        let (db, t) = (db.clone(), t.clone());
        s.spawn(move || {
            for _ in 0..15 {
                let mut x = begin(&db);
                let sum: i64 = dump(&mut x, &t, 0, ReadView::Snapshot)
                    .iter()
                    .map(|r| r.1.unwrap())
                    .sum();
                assert_eq!(sum, 1000);
                let by_k: i64 = dump(&mut x, &t, 1, ReadView::Snapshot)
                    .iter()
                    .map(|r| r.1.unwrap())
                    .sum();
                assert_eq!(by_k, 1000);
                db.checkpoint().unwrap();
            }
        });
    });
    check_indexes(&db, &t);
    drop(t);
    drop(db);
    let db = open(&dir);
    let t = db.catalog().table("d", "t").unwrap().clone();
    check_indexes(&db, &t);
    let sum: i64 = dump(&mut begin(&db), &t, 0, ReadView::Snapshot)
        .iter()
        .map(|r| r.1.unwrap())
        .sum();
    assert_eq!(sum, 1000);
}

#[test]
fn a_transaction_that_only_read_is_as_good_as_new() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    create(&db, vec![table_def("t", true, true)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut x = db.begin(TxnOptions::default());
    for id in 1..=3 {
        insert(&db, &t, id, None, &format!("c{id}"));
        x.begin_statement(1, None);
        assert!(x.get(&t, &key(id)).unwrap().is_some());
        assert!(x.get(&t, &key(id + 1)).unwrap().is_none());
        x.end_statement();
        assert!(x.renew());
        assert_eq!(x.snapshot_seq(), None);
    }
    // A lock, a savepoint or a write is more than reading.
    x.begin_statement(1, None);
    x.lock_row(&t, &key(1), LockMode::Shared, LockWait::Wait)
        .unwrap();
    x.end_statement();
    assert!(!x.renew());
    let mut x = db.begin(TxnOptions::default());
    let s = x.savepoint();
    assert!(!x.renew());
    drop(s);
    let mut x = db.begin(TxnOptions::default());
    x.begin_statement(1, None);
    x.insert(&t, row(&t, 9, None, "z")).unwrap();
    x.end_statement();
    assert!(!x.renew());
    assert!(x.get(&t, &key(9)).unwrap().is_some());
}

/// A new index whose keys outgrow memory is made through run files: NULLs are no duplicates, duplicates far apart are found, a
/// refused one leaves no file, and recovery makes it again.
#[test]
fn an_index_of_many_rows_goes_through_run_files() {
    let disk = SimDisk::new();
    let open = |disk: &SimDisk| {
        let options = Options {
            spill_bytes: 500,
            background: false,
            disk: Arc::new(disk.clone()),
            ..Options::default()
        };
        Database::open_with("/data", options).unwrap()
    };
    let files = |disk: &SimDisk| {
        let paths = disk.paths();
        paths
            .iter()
            .filter(|p| p.starts_with("/data/spill"))
            .count()
    };
    let unique = |db: &Database| {
        let change = CatalogChange::CreateIndex {
            db: "d".into(),
            table: "t".into(),
            index: index("u", true, &[1]),
        };
        ddl(db, "CREATE UNIQUE INDEX u ON t (k)", vec![change])
    };
    let db = open(&disk);
    create(&db, vec![table_def("t", true, false)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    for i in 0..300 {
        let k = (i % 3 != 0).then_some((i * 7919) % 1000);
        insert(&db, &t, i, k, "v");
    }
    insert(&db, &t, 1000, Some(7919 % 1000), "twice");
    let Err(EngineError::Duplicate { existing_pk, .. }) = unique(&db) else {
        panic!("two rows of one value");
    };
    assert_eq!(existing_pk, key(1000));
    assert_eq!(files(&disk), 0);
    let mut x = begin(&db);
    let r = x
        .lock_row(&t, &key(1000), LockMode::Exclusive, LockWait::Wait)
        .unwrap()
        .unwrap();
    x.delete(&t, &key(1000), &r).unwrap();
    x.commit().unwrap();
    unique(&db).unwrap();
    assert!(files(&disk) > 5);
    let t = db.catalog().table("d", "t").unwrap().clone();
    check_indexes(&db, &t);
    // What is written to it goes above the layer.
    insert(&db, &t, 1001, Some(-5), "more");
    check_indexes(&db, &t);
    // No checkpoint at the end: recovery has all of it to do.
    let killed = disk.kill();
    drop(db);
    let db = open(&killed);
    let t = db.catalog().table("d", "t").unwrap().clone();
    assert!(files(&killed) > 5);
    check_indexes(&db, &t);
    assert_eq!(db.table_rows(&t), 301);
    db.checkpoint().unwrap();
    check_indexes(&db, &t);
    assert_eq!(files(&killed), 0);
}

/// Sessions look at the catalog before they wait for their turn: what they saw may be gone then.
#[test]
fn a_database_is_made_once_and_altered_while_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(&dir);
    let def = |collation| DatabaseDef {
        name: "e".into(),
        collation,
        comment: String::new(),
    };
    let first = def(narwal_types::Collation::Utf8mb4GeneralCi);
    let make = || {
        ddl(
            &db,
            "CREATE DATABASE e",
            vec![CatalogChange::PutDatabase(first.clone())],
        )
    };
    let made: Vec<bool> = std::thread::scope(|s| {
        let all: Vec<_> = (0..8).map(|_| s.spawn(|| make().is_ok())).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|m| **m).count(), 1);
    let second = def(narwal_types::Collation::Binary);
    let alter = || {
        ddl(
            &db,
            "ALTER DATABASE e",
            vec![CatalogChange::AlterDatabase(second.clone())],
        )
    };
    alter().unwrap();
    assert_eq!(
        db.catalog().database("e").unwrap().collation,
        second.collation
    );
    ddl(
        &db,
        "DROP DATABASE e",
        vec![CatalogChange::DropDatabase("e".into())],
    )
    .unwrap();
    assert!(matches!(alter(), Err(EngineError::Catalog(_))));
    assert!(db.catalog().database("e").is_none());
}
