//! Commits that wait for a replica (`Database::set_gate`): nothing else of the database may hang on them, and nobody
//! sees or is told of what they did before they pass.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// A database with table t (row 1), its gate closed.
fn gated(gate: Gate) -> (tempfile::TempDir, Database, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open_with(
        dir.path(),
        Options {
            oob_threshold: 4096,
            ..Options::default()
        },
    )
    .unwrap();
    create(&db, vec![table_def("t", true, true)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    insert(&db, &t, 1, Some(1), "one");
    db.set_gate(gate);
    (dir, db, t)
}

fn count(db: &Database, t: &Arc<Table>) -> usize {
    let mut x = begin(db);
    dump(&mut x, t, 0, ReadView::Snapshot).len()
}

/// Until so many commits are held.
fn until_held(db: &Database, n: u64) {
    while db.held().commits < n {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Lets everything pass that was committed so far.
fn acknowledge(db: &Database) {
    while db.held().commits > 0 {
        db.acknowledge(db.visible_seq() + db.held().commits);
    }
}

fn inserting<'s>(
    s: &'s Scope<'s, '_>,
    db: &'s Database,
    t: &'s Arc<Table>,
    id: i64,
    c: &'s str,
) -> ScopedJoinHandle<'s, ()> {
    s.spawn(move || insert(db, t, id, Some(id), c))
}

#[test]
fn nobody_sees_a_commit_before_it_passes() {
    let (_dir, db, t) = gated(Gate::Visibility);
    std::thread::scope(|s| {
        let writer = inserting(s, &db, &t, 2, "two");
        until_held(&db, 1);
        assert_eq!(count(&db, &t), 1);
        assert!(!writer.is_finished());
        acknowledge(&db);
        writer.join().unwrap();
    });
    assert_eq!(count(&db, &t), 2);
}

#[test]
fn after_commit_only_the_answer_waits() {
    let (_dir, db, t) = gated(Gate::Answers);
    std::thread::scope(|s| {
        let writer = inserting(s, &db, &t, 2, "two");
        until_held(&db, 1);
        assert_eq!(count(&db, &t), 2);
        assert!(!writer.is_finished());
        acknowledge(&db);
    });
}

/// Locks are freed before a commit is visible: who has taken a row over from it must not get a snapshot without it.
#[test]
fn a_snapshot_has_the_commits_that_its_transaction_builds_on() {
    for deleted in [false, true] {
        let (_dir, db, t) = gated(Gate::Visibility);
        std::thread::scope(|s| {
            let writer = s.spawn(|| {
                let mut x = begin(&db);
                let row1 = x
                    .lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
                    .unwrap()
                    .unwrap();
                if deleted {
                    x.delete(&t, &key(1), &row1).unwrap();
                } else {
                    x.update(&t, &key(1), &row1, row(&t, 1, Some(10), "ten"))
                        .unwrap();
                }
                x.insert(&t, row(&t, 2, None, "two")).unwrap();
                x.commit().unwrap();
            });
            until_held(&db, 1);
            let reader = s.spawn(|| {
                let mut x = begin(&db);
                if deleted {
                    x.insert(&t, row(&t, 1, Some(11), "eleven")).unwrap();
                } else {
                    let row1 = x
                        .lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
                        .unwrap()
                        .unwrap();
                    x.update(&t, &key(1), &row1, row(&t, 1, Some(10), "eleven"))
                        .unwrap();
                }
                let seen = x.get(&t, &key(2)).unwrap().is_some();
                let indexed = dump(&mut x, &t, 1, ReadView::Snapshot).len();
                (seen, indexed)
            });
            std::thread::sleep(Duration::from_millis(50));
            assert!(!reader.is_finished());
            acknowledge(&db);
            assert_eq!(reader.join().unwrap(), (true, 2));
            writer.join().unwrap();
        });
    }
}

#[test]
fn what_depends_on_a_held_commit_is_told_when_it_has_passed() {
    let (_dir, db, t) = gated(Gate::Visibility);
    let mut old = begin(&db);
    old.ensure_snapshot();
    std::thread::scope(|s| {
        let writer = s.spawn(|| {
            let mut x = begin(&db);
            let row1 = x
                .lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
                .unwrap()
                .unwrap();
            x.update(&t, &key(1), &row1, row(&t, 1, Some(10), "ten"))
                .unwrap();
            x.insert(&t, row(&t, 2, None, "two")).unwrap();
            x.commit().unwrap();
        });
        until_held(&db, 1);
        // Its locks are free already (early lock release).
        let locking = s.spawn(|| {
            let mut x = begin(&db);
            let r = x
                .lock_row(&t, &key(1), LockMode::Shared, LockWait::Wait)
                .unwrap()
                .unwrap();
            x.wait_reads_durable().unwrap();
            (decode(&t, &r).1, db.visible_seq())
        });
        let duplicate = s.spawn(|| {
            let mut x = begin(&db);
            let e = x.insert(&t, row(&t, 2, None, "zwei")).unwrap_err();
            assert!(matches!(e, EngineError::Duplicate { index: 0, .. }));
            x.wait_reads_durable().unwrap();
            db.visible_seq()
        });
        let duplicate_value = s.spawn(|| {
            let mut x = begin(&db);
            let e = x.insert(&t, row(&t, 3, None, "two")).unwrap_err();
            assert!(matches!(e, EngineError::Duplicate { index: 2, .. }));
            x.wait_reads_durable().unwrap();
            db.visible_seq()
        });
        let conflict = s.spawn(|| {
            let mut old = old;
            let e = old
                .lock_row(&t, &key(1), LockMode::Exclusive, LockWait::Wait)
                .unwrap_err();
            assert!(matches!(e, EngineError::WriteConflict));
            db.visible_seq()
        });
        std::thread::sleep(Duration::from_millis(100));
        let held = db.visible_seq() + 1;
        for waits in [&duplicate, &duplicate_value, &conflict] {
            assert!(!waits.is_finished());
        }
        assert!(!locking.is_finished() && !writer.is_finished());
        acknowledge(&db);
        let (k, seen) = locking.join().unwrap();
        assert_eq!(k, Some(10));
        for at in [
            seen,
            duplicate.join().unwrap(),
            duplicate_value.join().unwrap(),
            conflict.join().unwrap(),
        ] {
            assert!(at >= held);
        }
    });
}

#[test]
fn a_writer_behind_a_held_one_waits_for_its_own_place() {
    let (_dir, db, t) = gated(Gate::Visibility);
    std::thread::scope(|s| {
        for (id, c) in [(2, "two"), (3, "three"), (4, "four")] {
            inserting(s, &db, &t, id, c);
            until_held(&db, id as u64 - 1);
        }
        let first = db.visible_seq() + 1;
        db.acknowledge(first + 1);
        while db.held().commits > 1 {
            std::thread::yield_now();
        }
        assert_eq!(count(&db, &t), 3);
        acknowledge(&db);
    });
    assert_eq!(count(&db, &t), 4);
}

#[test]
fn administration_goes_on_while_commits_are_held() {
    let (_dir, db, t) = gated(Gate::Visibility);
    std::thread::scope(|s| {
        inserting(s, &db, &t, 2, "two");
        until_held(&db, 1);
        db.sync().unwrap();
        db.flush_binary_logs(&[]).unwrap();
        let file = db.binlog_files().last().unwrap().name.clone();
        db.purge_binary_logs_to(&file).unwrap();
        db.purge_expired_binary_logs().unwrap();
        db.set_flush_log_at_trx_commit(2);
        db.set_flush_log_at_trx_commit(1);
        db.reset_master(None).unwrap();
        db.durable_binlog_position().unwrap();
        assert_eq!((db.held().commits, count(&db, &t)), (1, 1));
        // A large transaction fills chunks and runs, and waits at its end only.
        let large = s.spawn(|| {
            let mut x = begin(&db);
            for id in 100..400 {
                x.insert(&t, row(&t, id, None, &format!("c{id}"))).unwrap();
                x.end_statement();
                x.begin_statement(1, None);
            }
            x.commit().unwrap();
        });
        until_held(&db, 2);
        let stats = db.stats().values;
        assert!(stats.iter().any(|v| v.0 == "Narwal_oob_chunks" && v.1 > 0));
        assert!(!large.is_finished());
        assert_eq!(count(&db, &t), 1);
        acknowledge(&db);
    });
    assert_eq!(count(&db, &t), 302);
}

#[test]
fn a_checkpoint_waits_and_goes_on() {
    let (_dir, db, t) = gated(Gate::Visibility);
    std::thread::scope(|s| {
        inserting(s, &db, &t, 2, "two");
        until_held(&db, 1);
        let checkpoint = s.spawn(|| db.checkpoint().unwrap());
        // What comes behind the freeze is held and passes with the rest.
        inserting(s, &db, &t, 3, "three");
        until_held(&db, 2);
        assert!(!checkpoint.is_finished());
        assert_eq!(count(&db, &t), 1);
        acknowledge(&db);
    });
    assert_eq!(count(&db, &t), 3);
    check_indexes(&db, &t);
}

#[test]
fn ddl_waits_like_every_commit() {
    for gate in [Gate::Visibility, Gate::Answers] {
        let (_dir, db, t) = gated(gate);
        std::thread::scope(|s| {
            let add = s.spawn(|| {
                ddl(
                    &db,
                    "CREATE TABLE u",
                    vec![CatalogChange::CreateTable(table_def("u", true, false))],
                )
                .unwrap();
            });
            until_held(&db, 1);
            assert!(db.catalog().table("d", "u").is_none());
            // Other tables are free meanwhile.
            inserting(s, &db, &t, 2, "two");
            until_held(&db, 2);
            acknowledge(&db);
            add.join().unwrap();
            assert!(db.catalog().table("d", "u").is_some());
        });
    }
}

/// Options of a connection that the flag kills.
fn killable() -> (Arc<KillFlag>, TxnOptions) {
    let kill = Arc::new(KillFlag::default());
    let options = TxnOptions {
        kill: Some(kill.clone()),
        ..TxnOptions::default()
    };
    (kill, options)
}

fn insert_with(db: &Database, t: &Arc<Table>, options: TxnOptions, id: i64) -> Result<CommitInfo> {
    let mut x = db.begin(options);
    x.begin_statement(1, None);
    x.insert(t, row(t, id, None, &format!("c{id}"))).unwrap();
    x.commit()
}

#[test]
fn kill_ends_the_wait_and_takes_nothing_back() {
    let (_dir, db, t) = gated(Gate::Visibility);
    let (kill, options) = killable();
    std::thread::scope(|s| {
        let writer = s.spawn(|| insert_with(&db, &t, options.clone(), 2));
        until_held(&db, 1);
        // The statement can't be killed: the session would go on without its own row.
        kill.set(false);
        std::thread::sleep(Duration::from_millis(120));
        assert!(!writer.is_finished());
        kill.set(true);
        assert!(matches!(
            writer.join().unwrap(),
            Err(EngineError::KilledInCommit)
        ));
    });
    assert_eq!((db.held().commits, count(&db, &t)), (1, 1));
    acknowledge(&db);
    assert_eq!(count(&db, &t), 2);

    // After the commit its statement may be killed: its work is done and seen.
    db.set_gate(Gate::Answers);
    let (kill, options) = killable();
    std::thread::scope(|s| {
        let writer = s.spawn(|| insert_with(&db, &t, options.clone(), 3));
        until_held(&db, 1);
        kill.set(false);
        writer.join().unwrap().unwrap();
    });
    assert_eq!((db.held().commits, count(&db, &t)), (1, 3));
}

#[test]
fn a_killed_ddl_has_its_effect_when_it_passes() {
    let (_dir, db, t) = gated(Gate::Visibility);
    let (kill, options) = killable();
    std::thread::scope(|s| {
        let drop_index = s.spawn(|| {
            db.ddl(
                Ddl {
                    sql: "TRUNCATE".into(),
                    db: "d".into(),
                    changes: vec![CatalogChange::TruncateTable {
                        db: "d".into(),
                        name: "t".into(),
                    }],
                    timestamp: 1,
                    ..Ddl::default()
                },
                &options,
            )
        });
        until_held(&db, 1);
        kill.set(true);
        assert!(matches!(
            drop_index.join().unwrap(),
            Err(EngineError::KilledInCommit)
        ));
    });
    assert_eq!(count(&db, &t), 1);
    acknowledge(&db);
    // The table's lock goes with the effect.
    let t = loop {
        let now = db.catalog().table("d", "t").unwrap().clone();
        if !Arc::ptr_eq(&now, &t) {
            break now;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    db.set_gate(Gate::Open);
    insert(&db, &t, 9, None, "nine");
    assert_eq!(count(&db, &t), 1);
}

#[test]
fn closing_hangs_nobody_and_loses_nothing() {
    let (dir, db, t) = gated(Gate::Visibility);
    let closed = AtomicBool::new(false);
    std::thread::scope(|s| {
        inserting(s, &db, &t, 2, "two");
        until_held(&db, 1);
        let checkpoint = s.spawn(|| db.checkpoint());
        std::thread::sleep(Duration::from_millis(20));
        db.close().unwrap();
        closed.store(true, Ordering::SeqCst);
        checkpoint.join().unwrap().unwrap();
    });
    drop(db);
    let db = Database::open(dir.path()).unwrap();
    let t = db.catalog().table("d", "t").unwrap().clone();
    assert_eq!(count(&db, &t), 2);
}
