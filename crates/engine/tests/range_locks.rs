//! Transactions that lock the ranges and the rows that they read: whatever several of them do at once, it is as if they had run one
//! after the other in the order of their commits.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::*;
use narwal_engine::xa::{XaContext, Xid};
use narwal_engine::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Model = BTreeMap<i64, (i64, String)>;
type Found = Vec<(i64, i64, String)>;

/// What a transaction did, and what it saw.
#[derive(Debug, Clone)]
enum Op {
    /// Rows with these ids.
    Ids(i64, i64, Found),
    /// Rows with these values of `k`.
    Values(i64, i64, Found),
    Insert(i64, i64, String),
    Update(i64, i64, String),
    Delete(i64),
}

fn serializable() -> TxnOptions {
    TxnOptions {
        isolation: Isolation::Serializable,
        lock_wait_timeout: Some(Duration::from_secs(60)),
        ..TxnOptions::default()
    }
}

fn open() -> (tempfile::TempDir, Database, Arc<Table>, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(dir.path()).unwrap();
    let journal = table_def("journal", true, false);
    create(&db, vec![table_def("t", true, false), journal]);
    let table = |name: &str| db.catalog().table("d", name).unwrap().clone();
    let (t, j) = (table("t"), table("journal"));
    (dir, db, t, j)
}

/// The beginning of an entry of the index on `k`.
fn k_key(t: &Table, k: i64) -> Vec<u8> {
    let mut parts = Vec::new();
    t.secondary_parts(1, &row(t, 0, Some(k), ""), &mut parts)
        .unwrap();
    parts
}

fn range(t: &Table, index: usize, from: i64, to: i64) -> KeyRange {
    let of = |n: i64| match index {
        0 => key(n),
        _ => k_key(t, n),
    };
    KeyRange {
        start: Bound::Included(of(from)),
        end: Bound::Excluded(of(to + 1)),
    }
}

/// A read as the SQL layer makes it: the range, then every row in it.
fn read(x: &mut Transaction, t: &Arc<Table>, index: usize, from: i64, to: i64) -> Result<Found> {
    let r = range(t, index, from, to);
    x.lock_range(t, index, &r, LockMode::Shared, LockWait::Wait)?;
    let mut keys = Vec::new();
    let mut scan = x.scan(t, index, r, false, ReadView::Current, true)?;
    while let Some(item) = scan.next()? {
        keys.push(item.pk.to_vec());
    }
    drop(scan);
    let mut found = Found::new();
    for pk in keys {
        std::thread::yield_now();
        if let Some(image) = x.lock_row(t, &pk, LockMode::Shared, LockWait::Wait)? {
            let (id, k, c) = decode(t, &image);
            let k = k.unwrap();
            let by = if index == 0 { id } else { k };
            if (from..=to).contains(&by) {
                found.push((id, k, c));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `None`: nothing was done.
fn step(x: &mut Transaction, t: &Arc<Table>, rng: &mut StdRng, n: i64) -> Result<Option<Op>> {
    let id = rng.random_range(0..24i64);
    let k = rng.random_range(0..12i64);
    let len = rng.random_range(0..6i64);
    let text = format!("c{n}");
    let pk = key(id);
    Ok(match rng.random_range(0..8) {
        0 | 1 => Some(Op::Ids(id, id + len, read(x, t, 0, id, id + len)?)),
        2 | 3 => Some(Op::Values(k, k + len, read(x, t, 1, k, k + len)?)),
        4 | 5 => match x.insert(t, row(t, id, Some(k), &text)) {
            Ok(()) => Some(Op::Insert(id, k, text)),
            Err(EngineError::Duplicate { .. }) => None,
            Err(e) => return Err(e),
        },
        kind => match x.lock_row(t, &pk, LockMode::Exclusive, LockWait::Wait)? {
            Some(old) if kind == 6 => {
                x.update(t, &pk, &old, row(t, id, Some(k), &text))?;
                Some(Op::Update(id, k, text))
            }
            Some(old) => {
                x.delete(t, &pk, &old)?;
                Some(Op::Delete(id))
            }
            None => None,
        },
    })
}

/// Runs the transactions one after the other.
fn replay(history: &[(u64, Vec<Op>)]) {
    let mut model = Model::new();
    for (seq, ops) in history {
        for op in ops {
            let found = |within: &dyn Fn(i64, i64) -> bool| -> Found {
                (model.iter())
                    .filter(|(id, (k, _))| within(**id, *k))
                    .map(|(id, (k, c))| (*id, *k, c.clone()))
                    .collect()
            };
            match op {
                Op::Ids(from, to, seen) => {
                    let now = found(&|id, _| (*from..=*to).contains(&id));
                    assert_eq!(&now, seen, "commit {seq}: {op:?} of {ops:?}");
                }
                Op::Values(from, to, seen) => {
                    let now = found(&|_, k| (*from..=*to).contains(&k));
                    assert_eq!(&now, seen, "commit {seq}: {op:?} of {ops:?}");
                }
                Op::Insert(id, k, c) | Op::Update(id, k, c) => {
                    model.insert(*id, (*k, c.clone()));
                }
                Op::Delete(id) => {
                    model.remove(id);
                }
            }
        }
    }
}

/// Committed transactions, each with its place in the order of commits.
type History = Vec<(u64, Vec<Op>)>;

#[test]
fn histories_are_serial() {
    let (_dir, db, t, journal) = open();
    let history: Arc<Mutex<History>> = Arc::default();
    let numbers = Arc::new(AtomicI64::new(0));
    let end = Instant::now() + Duration::from_secs(6);
    let threads: Vec<_> = (0..5u64)
        .map(|thread| {
            let (db, t, journal) = (db.clone(), t.clone(), journal.clone());
            let (history, numbers) = (history.clone(), numbers.clone());
            std::thread::spawn(move || {
                let mut rng = StdRng::seed_from_u64(thread);
                let (mut deadlocks, mut commits) = (0, 0);
                'txn: while Instant::now() < end {
                    let n = numbers.fetch_add(1, Ordering::Relaxed);
                    let mut x = db.begin(serializable());
                    let mut ops = Vec::new();
                    // Some are one statement, whose keys nobody sees before its commit.
                    let statements = rng.random_range(1..5);
                    for _ in 0..statements {
                        x.begin_statement(1, None);
                        let done = step(&mut x, &t, &mut rng, n).and_then(|op| {
                            ops.extend(op);
                            x.end_statement();
                            std::thread::yield_now();
                            match statements {
                                1 => Ok(()),
                                _ => x.settle_writes(),
                            }
                        });
                        match done {
                            Ok(()) => {}
                            Err(EngineError::Deadlock) => {
                                deadlocks += 1;
                                continue 'txn;
                            }
                            Err(e) => panic!("{e}"),
                        }
                        if rng.random_range(0..20) == 0 {
                            continue 'txn; // rolled back
                        }
                    }
                    // So that each has a place in the order of commits.
                    x.begin_statement(1, None);
                    x.insert(&journal, row(&journal, n, None, "")).unwrap();
                    match x.commit() {
                        Ok(info) => {
                            commits += 1;
                            history.lock().unwrap().push((info.seq, ops));
                        }
                        Err(EngineError::Deadlock) => deadlocks += 1,
                        Err(e) => panic!("{e}"),
                    }
                }
                (commits, deadlocks)
            })
        })
        .collect();
    let done: Vec<(u32, u32)> = threads.into_iter().map(|h| h.join().unwrap()).collect();
    let commits: u32 = done.iter().map(|d| d.0).sum();
    let deadlocks: u32 = done.iter().map(|d| d.1).sum();
    println!("{commits} commits, {deadlocks} deadlocks");
    assert!(commits > 20, "{commits}");
    let mut history = history.lock().unwrap();
    history.sort_by_key(|(seq, _)| *seq);
    replay(&history);
    check_indexes(&db, &t);
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_commit_of_keys_that_nobody_saw_waits_for_the_reader() {
    let (_dir, db, t, _) = open();
    let mut writer = begin(&db);
    writer.insert(&t, row(&t, 5, Some(1), "w")).unwrap();
    let mut reader = db.begin(serializable());
    assert!(read(&mut reader, &t, 0, 0, 9).unwrap().is_empty());
    let committed = std::thread::spawn(move || writer.commit().unwrap());
    wait_until("it waits", || db.lock_waits().len() == 1);
    assert!(matches!(db.lock_waits()[0].of, Locked::Gap(_)));
    assert!(read(&mut reader, &t, 0, 0, 9).unwrap().is_empty());
    reader.commit().unwrap();
    committed.join().unwrap();
    let mut reader = db.begin(serializable());
    assert_eq!(read(&mut reader, &t, 0, 0, 9).unwrap().len(), 1);
}

#[test]
fn a_reader_waits_for_keys_that_were_announced_also_if_they_are_spilled() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        spill_bytes: 8 << 10,
        oob_threshold: 4 << 10,
        ..Options::default()
    };
    let db = Database::open_with(dir.path(), options).unwrap();
    create(&db, vec![table_def("t", true, false)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut writer = begin(&db);
    for id in 0..3000 {
        writer
            .insert(&t, row(&t, id, Some(id), "some more text"))
            .unwrap();
    }
    writer.settle_writes().unwrap();
    let t2 = t.clone();
    let db2 = db.clone();
    let reader = std::thread::spawn(move || {
        let mut reader = db2.begin(serializable());
        // Beside it: at once.
        assert!(read(&mut reader, &t2, 0, 5000, 6000).unwrap().is_empty());
        read(&mut reader, &t2, 0, 0, 9).unwrap().len()
    });
    wait_until("it waits", || db.lock_waits().len() == 1);
    writer.commit().unwrap();
    assert_eq!(reader.join().unwrap(), 10);
}

#[test]
fn what_is_prepared_keeps_its_keys_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let xid = Xid::new(1, b"a", b"").unwrap();
    {
        let db = Database::open(dir.path()).unwrap();
        create(&db, vec![table_def("t", true, false)]);
        let t = db.catalog().table("d", "t").unwrap().clone();
        let mut writer = begin(&db);
        writer.insert(&t, row(&t, 5, Some(1), "w")).unwrap();
        let mut branch = db.xa_begin(&xid).unwrap();
        let prepared = branch.prepare(writer, &XaContext::default()).unwrap();
        db.wait_committed(&prepared).unwrap();
    }
    let db = Database::open(dir.path()).unwrap();
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut reader = db.begin(TxnOptions {
        lock_wait_timeout: Some(Duration::from_millis(50)),
        ..serializable()
    });
    assert!(matches!(
        read(&mut reader, &t, 1, 0, 3),
        Err(EngineError::LockWaitTimeout)
    ));
    drop(reader);
    let mut branch = db.xa_take(&xid).unwrap();
    let ended = branch
        .end(true, &XaContext::default(), GtidChoice::default(), None)
        .unwrap();
    db.wait_committed(&ended).unwrap();
    let mut reader = db.begin(serializable());
    assert_eq!(read(&mut reader, &t, 1, 0, 3).unwrap().len(), 1);
}
