//! Keys WITHOUT OVERLAPS against a list of rows in which each pair is compared, and after the database was opened again.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::*;
use narwal_engine::*;
use narwal_types::ValueRef;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// `t(id INT PRIMARY KEY, g INT NULL, s INT, e INT, UNIQUE (g, p WITHOUT OVERLAPS))`, or with that as primary key.
fn definition(primary: bool) -> TableDef {
    let mut key = index("u", true, &[1, 3, 2]);
    key.without_overlaps = true;
    let indexes = if primary {
        key.name = "PRIMARY".into();
        vec![key]
    } else {
        vec![index("PRIMARY", true, &[0]), key]
    };
    TableDef {
        columns: vec![
            column("id", int(), false),
            column("g", int(), !primary),
            column("s", int(), false),
            column("e", int(), false),
        ],
        indexes,
        period: Some(PeriodDef {
            name: "p".into(),
            start: "s".into(),
            end: "e".into(),
        }),
        ..table_def("t", false, false)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    id: i64,
    group: Option<i64>,
    start: i64,
    end: i64,
}

impl Held {
    fn overlaps(&self, other: &Held) -> bool {
        self.group.is_some()
            && self.group == other.group
            && self.start < other.end
            && other.start < self.end
    }

    fn image(&self, t: &Table) -> Vec<u8> {
        let group = self.group.map_or(ValueRef::Null, ValueRef::Int);
        let values = [self.id, self.start, self.end].map(ValueRef::Int);
        t.row(&[values[0], group, values[1], values[2]]).unwrap()
    }

    fn key(&self, t: &Table) -> Vec<u8> {
        let mut key = Vec::new();
        t.primary_key(&self.image(t), &mut key).unwrap();
        key
    }
}

fn random(rng: &mut StdRng, id: i64, primary: bool) -> Held {
    let start = rng.random_range(0..60);
    let group = rng.random_range(if primary { 1..4 } else { 0..4 });
    Held {
        id,
        group: (group > 0).then_some(group),
        start,
        end: start + rng.random_range(1..6),
    }
}

fn change(db: &Database, t: &Arc<Table>, old: Option<&Held>, new: Option<&Held>) -> bool {
    let mut txn = db.begin(TxnOptions::default());
    let mut run = || match (old, new) {
        (None, Some(new)) => txn.insert(t, new.image(t)),
        (Some(old), new) => {
            let key = old.key(t);
            let row = txn
                .lock_row(t, &key, LockMode::Exclusive, LockWait::Wait)?
                .unwrap();
            match new {
                Some(new) => txn.update(t, &key, &row, new.image(t)),
                None => txn.delete(t, &key, &row),
            }
        }
        (None, None) => Ok(()),
    };
    match run() {
        Ok(()) => {
            txn.commit().unwrap();
            true
        }
        Err(EngineError::Duplicate { .. }) => false,
        Err(e) => panic!("{e}"),
    }
}

fn agrees_with_pairs(primary: bool) {
    let dir = tempfile::tempdir().unwrap();
    let mut db = Database::open(dir.path()).unwrap();
    create(&db, vec![definition(primary)]);
    let mut t = db.catalog().table("d", "t").unwrap().clone();
    let mut rng = StdRng::seed_from_u64(7);
    let mut rows: Vec<Held> = Vec::new();
    let (mut taken, mut refused) = (0, 0);
    for id in 0..1500 {
        if id % 500 == 250 {
            drop(db);
            db = Database::open(dir.path()).unwrap();
            t = db.catalog().table("d", "t").unwrap().clone();
            assert_eq!(t.def.period, definition(primary).period);
        }
        let at = (!rows.is_empty()).then(|| rng.random_range(0..rows.len()));
        match (rng.random_range(0..4), at) {
            (0, Some(at)) => {
                let old = rows.swap_remove(at);
                assert!(change(&db, &t, Some(&old), None));
            }
            (1, Some(at)) => {
                let old = rows[at];
                let new = random(&mut rng, old.id, primary);
                let free = !rows.iter().any(|r| r.id != old.id && r.overlaps(&new));
                assert_eq!(
                    change(&db, &t, Some(&old), Some(&new)),
                    free,
                    "{old:?} {new:?}"
                );
                if free {
                    rows[at] = new;
                }
            }
            _ => {
                let new = random(&mut rng, id, primary);
                let free = !rows.iter().any(|r| r.overlaps(&new));
                assert_eq!(change(&db, &t, None, Some(&new)), free, "{new:?}");
                if free {
                    rows.push(new);
                    taken += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} {refused}");
}

#[test]
fn a_unique_key_refuses_what_overlaps_and_nothing_else() {
    agrees_with_pairs(false);
}

#[test]
fn a_primary_key_refuses_what_overlaps_and_nothing_else() {
    agrees_with_pairs(true);
}

#[test]
fn the_check_of_a_period_has_a_free_name() {
    let check = |name: &str| CheckDef {
        name: name.into(),
        expr: "1".into(),
        not_enforced: false,
    };
    let mut def = definition(false);
    assert_eq!(def.period_check().unwrap().name, "p");
    assert_eq!(def.period_check().unwrap().expr, "`s` < `e`");
    def.checks = vec![check("P"), check("p_1")];
    assert_eq!(def.period_check().unwrap().name, "p_2");
    def.period = None;
    assert_eq!(def.period_check(), None);
}
