//! Scans over the transaction's own writes, memtables and the base, in both directions, by ranges, whole and in part: they give
//! what a map gives.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

type Model = BTreeMap<i64, (Option<i64>, String)>;

/// Changes some rows in a transaction and in the model.
fn change(x: &mut Transaction, t: &Arc<Table>, model: &mut Model, ids: &[i64], rng: &mut StdRng) {
    for id in ids {
        let new = (
            Some(rng.random_range(0..50)),
            format!("c{}", rng.random::<u16>()),
        );
        let image = row(t, *id, new.0, &new.1);
        let pk = key(*id);
        match model.contains_key(id) {
            false => {
                x.insert(t, image).unwrap();
                model.insert(*id, new);
            }
            true => {
                let old = x.lock_row(t, &pk, LockMode::Exclusive, LockWait::Wait);
                let old = old.unwrap().unwrap();
                if rng.random_bool(0.5) {
                    x.update(t, &pk, &old, image).unwrap();
                    model.insert(*id, new);
                } else {
                    x.delete(t, &pk, &old).unwrap();
                    model.remove(id);
                }
            }
        }
    }
}

fn some_ids(rng: &mut StdRng, max: i64) -> Vec<i64> {
    let n = rng.random_range(1..40);
    if rng.random_bool(0.5) {
        let from = rng.random_range(0..max);
        return (from..from + n).collect();
    }
    let mut ids: Vec<i64> = (0..n).map(|_| rng.random_range(0..max)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn bound(rng: &mut StdRng, max: i64) -> Bound<i64> {
    let at = rng.random_range(-5..max + 5);
    match rng.random_range(0..3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(at),
        _ => Bound::Excluded(at),
    }
}

/// Compares scans of one snapshot with the model.
fn compare(x: &mut Transaction, t: &Arc<Table>, model: &Model, rng: &mut StdRng, max: i64) {
    let (mut start, mut end) = (bound(rng, max), bound(rng, max));
    if rng.random_bool(0.3) {
        (start, end) = (Bound::Unbounded, Bound::Unbounded);
    }
    let reverse = rng.random_bool(0.3);
    let stop = match rng.random_bool(0.3) {
        true => rng.random_range(1..max as usize),
        false => usize::MAX,
    };
    let of = rng.random_range(1..40);
    let encoded = |b: Bound<i64>| b.map(key);
    let range = KeyRange {
        start: encoded(start),
        end: encoded(end),
    };
    let within = |id: &i64| {
        let above = match start {
            Bound::Unbounded => true,
            Bound::Included(s) => *id >= s,
            Bound::Excluded(s) => *id > s,
        };
        let below = match end {
            Bound::Unbounded => true,
            Bound::Included(e) => *id <= e,
            Bound::Excluded(e) => *id < e,
        };
        above && below
    };
    let mut rows: Vec<_> = (model.iter().filter(|(id, _)| within(id)))
        .map(|(id, (k, c))| (*id, *k, c.clone()))
        .collect();
    if reverse {
        rows.reverse();
    }
    let all: Vec<_> = rows.iter().take(stop).cloned().collect();
    let what = format!("{range:?} reverse {reverse} stop {stop}");
    macro_rules! scan {
        ($keys_only:expr) => {
            x.scan(t, 0, range.clone(), reverse, ReadView::Snapshot, $keys_only)
                .unwrap()
        };
    }

    let mut got = Vec::new();
    scan!(false)
        .each(|item| {
            assert_eq!(item.key, item.pk);
            got.push(decode(t, item.row));
            Ok::<_, EngineError>(got.len() < stop)
        })
        .unwrap();
    assert!(got == all, "{what}");

    let mut keys = Vec::new();
    scan!(true)
        .each(|item| {
            keys.push(item.pk.to_vec());
            Ok::<_, EngineError>(keys.len() < stop)
        })
        .unwrap();
    assert!(
        keys == all.iter().map(|r| key(r.0)).collect::<Vec<_>>(),
        "{what}"
    );

    let mut got = Vec::new();
    let mut one_by_one = scan!(false);
    while got.len() < stop
        && let Some(item) = one_by_one.next().unwrap()
    {
        got.push(decode(t, item.row));
    }
    drop(one_by_one);
    assert!(got == all, "{what}");

    // Rows that the consumer does nothing with may be left out, no others.
    let wanted = |r: &(i64, Option<i64>, String)| r.1.is_some_and(|k| k % of == 0);
    let mut got = Vec::new();
    let keep = |row: &[u8]| wanted(&decode(t, row));
    scan!(false)
        .each_kept(Some(&keep), |item| {
            let r = decode(t, item.row);
            if wanted(&r) {
                got.push(r);
            }
            Ok::<_, EngineError>(got.len() < stop)
        })
        .unwrap();
    let want: Vec<_> = rows.into_iter().filter(wanted).take(stop).collect();
    assert!(got == want, "{what} of {of}: {} {}", got.len(), want.len());
}

fn run(seed: u64, max: i64, first: i64, rounds: usize) {
    let mut rng = StdRng::seed_from_u64(seed);
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(dir.path()).unwrap();
    create(&db, vec![table_def("t", true, false)]);
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut model = Model::new();
    let mut x = begin(&db);
    for id in 0..first {
        let k = rng.random_range(0..50);
        x.insert(&t, row(&t, id, Some(k), "first")).unwrap();
        model.insert(id, (Some(k), "first".into()));
    }
    x.commit().unwrap();
    for _ in 0..rounds {
        for _ in 0..rng.random_range(0..5) {
            let ids = some_ids(&mut rng, max);
            let mut x = begin(&db);
            change(&mut x, &t, &mut model, &ids, &mut rng);
            x.commit().unwrap();
        }
        if rng.random_bool(0.4) {
            db.checkpoint().unwrap();
        }
        let mut x = begin(&db);
        let mut own = model.clone();
        if rng.random_bool(0.4) {
            let ids = some_ids(&mut rng, max);
            change(&mut x, &t, &mut own, &ids, &mut rng);
        }
        for _ in 0..8 {
            compare(&mut x, &t, &own, &mut rng, max);
        }
    }
}

#[test]
fn scans_of_small_tables() {
    for seed in 0..30 {
        run(seed, 1500, (seed as i64 % 4) * 400, 8);
    }
}

/// So many rows that a second thread helps.
#[test]
fn scans_of_larger_tables() {
    for seed in 0..3 {
        run(seed, 30_000, 30_000, 8);
    }
}
