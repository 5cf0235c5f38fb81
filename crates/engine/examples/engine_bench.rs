//! What the store does without SQL and network: point reads, range reads, commits per second.
//!
//! `cargo run --release -p narwal-engine --example engine_bench -- DIR [THREADS] [SECONDS] [ROWS] [MEMORY_MIB]`

use narwal_engine::{
    Database, EngineError, KeyRange, LockMode, LockWait, ReadView, Result, Table, TableBuilder,
    TxnOptions,
};
use narwal_types::{TypeKind, ValueRef};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn next(x: &mut u64) -> u64 {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    *x
}

fn run(
    name: &str,
    db: &Database,
    threads: u64,
    seconds: u64,
    f: impl Fn(&Database, &mut u64) -> Result<()> + Sync,
) {
    let (stop, n) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = db.stats();
    let started = Instant::now();
    std::thread::scope(|s| {
        for i in 0..threads {
            let (stop, n, f) = (&stop, &n, &f);
            s.spawn(move || {
                let mut x = 88172645463325252 ^ (i << 32);
                while !stop.load(Ordering::Relaxed) {
                    match f(db, &mut x) {
                        Ok(()) => {
                            n.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(EngineError::Deadlock) => {}
                        Err(e) => {
                            eprintln!("{e}");
                            return;
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Ordering::Relaxed);
    });
    let n = n.load(Ordering::Relaxed) as f64;
    let get =
        |s: &narwal_engine::Stats, k: &str| s.values.iter().find(|v| v.0 == k).map_or(0, |v| v.1);
    let after = db.stats();
    let syncs = get(&after, "Narwal_log_syncs") - get(&before, "Narwal_log_syncs");
    println!(
        "{name:<24} {threads:>3} threads {:>10.0}/s   {:.3} syncs each",
        n / started.elapsed().as_secs_f64(),
        syncs as f64 / n
    );
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, d: u64| args.get(i).and_then(|s| s.parse().ok()).unwrap_or(d);
    let dir = args
        .get(1)
        .cloned()
        .unwrap_or_else(|| "engine-bench-data".into());
    let (threads, seconds, rows) = (number(2, 8), number(3, 5), number(4, 100_000));
    let db = Database::open_with(
        &dir,
        narwal_engine::Options {
            memory_budget: number(5, 1024) << 20,
            ..Default::default()
        },
    )?;
    db.create_database("b")?;
    if db.catalog().table("b", "t").is_none() {
        db.create_table(
            TableBuilder::new("b", "t")
                .column("id", TypeKind::Int, false)
                .column("k", TypeKind::Int, false)
                .column("c", TypeKind::Char(120), false)
                .column("pad", TypeKind::Char(60), false)
                .primary_key(&["id"])
                .index("k_1", &["k"], false)
                .build()?,
        )?;
    }
    let catalog = db.catalog();
    let t: &Arc<Table> = catalog
        .table("b", "t")
        .ok_or_else(|| EngineError::Catalog("t".into()))?;
    let (c, pad) = ([b'c'; 119], [b'p'; 59]);
    let row = |id: i64, k: i64| {
        t.row(&[
            ValueRef::Int(id),
            ValueRef::Int(k),
            ValueRef::Str(&c),
            ValueRef::Str(&pad),
        ])
    };
    if db.table_rows(t) == 0 {
        for chunk in 0..rows / 1000 {
            let mut x = db.begin(TxnOptions::default());
            for i in 0..1000 {
                let id = (chunk * 1000 + i) as i64;
                x.insert(t, row(id, id * 7919 % rows as i64)?)?;
            }
            x.commit()?;
        }
        db.checkpoint()?;
    }
    for n in [1, threads] {
        run("point read", &db, n, seconds, |db, x| {
            let key = t.key(0, &[ValueRef::Int((next(x) % rows) as i64)])?;
            let mut txn = db.begin(TxnOptions::default());
            std::hint::black_box(txn.get(t, &key)?.map(|r| r.len()));
            Ok(())
        });
        run("range of 100", &db, n, seconds, |db, x| {
            let id = (next(x) % rows) as i64;
            let range = KeyRange {
                start: Bound::Included(t.key(0, &[ValueRef::Int(id)])?),
                end: Bound::Excluded(t.key(0, &[ValueRef::Int(id + 100)])?),
            };
            let mut txn = db.begin(TxnOptions::default());
            let mut scan = txn.scan(t, 0, range, false, ReadView::Snapshot, false)?;
            let mut sum = 0;
            while let Some(i) = scan.next()? {
                sum += i.row.len();
            }
            std::hint::black_box(sum);
            Ok(())
        });
        run("update, no index", &db, n, seconds, |db, x| {
            let id = (next(x) % rows) as i64;
            let key = t.key(0, &[ValueRef::Int(id)])?;
            let mut txn = db.begin(TxnOptions::default());
            txn.begin_statement(1, None);
            if let Some(old) = txn.lock_row(t, &key, LockMode::Exclusive, LockWait::Wait)? {
                let new = old.to_vec();
                txn.update(t, &key, &old, new)?;
            }
            txn.commit()?;
            Ok(())
        });
        run("update, index", &db, n, seconds, |db, x| {
            let id = (next(x) % rows) as i64;
            let key = t.key(0, &[ValueRef::Int(id)])?;
            let mut txn = db.begin(TxnOptions::default());
            txn.begin_statement(1, None);
            if let Some(old) = txn.lock_row(t, &key, LockMode::Exclusive, LockWait::Wait)? {
                txn.update(t, &key, &old, row(id, (next(x) % rows) as i64)?)?;
            }
            txn.commit()?;
            Ok(())
        });
        run("one hot row", &db, n, seconds, |db, _| {
            let key = t.key(0, &[ValueRef::Int(1)])?;
            let mut txn = db.begin(TxnOptions::default());
            txn.begin_statement(1, None);
            if let Some(old) = txn.lock_row(t, &key, LockMode::Exclusive, LockWait::Wait)? {
                let new = old.to_vec();
                txn.update(t, &key, &old, new)?;
            }
            txn.commit()?;
            Ok(())
        });
    }
    Ok(())
}
