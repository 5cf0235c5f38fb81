//! Temporary tables: rows without log, snapshots and locks, which transactions undo all the same.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{decode, dump, key, row, table_def};
use narwal_engine::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::Arc;

type Model = BTreeMap<i64, (Option<i64>, String)>;

fn agrees(x: &mut Transaction, t: &Arc<Table>, model: &Model, db: &Database) {
    let rows: Vec<_> = (model.iter())
        .map(|(id, (k, c))| (*id, *k, c.clone()))
        .collect();
    assert_eq!(dump(x, t, 0, ReadView::Snapshot), rows);
    for i in 1..t.indexes.len() {
        let mut found = dump(x, t, i, ReadView::Current);
        found.sort();
        assert_eq!(found, rows, "index {}", t.indexes[i].name);
    }
    assert_eq!(db.table_rows(t), rows.len() as u64);
}

/// Random changes with savepoints, failed statements, commits and rollbacks, in so little memory that rows are spilled.
#[test]
fn rows_are_what_transactions_leave() {
    let mut spills = 0;
    for seed in 0..6 {
        let mut rng = StdRng::seed_from_u64(seed);
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            spill_bytes: 24 << 10,
            ..Options::default()
        };
        let db = Database::open_with(dir.path(), options).unwrap();
        let home = Arc::new(TemporaryTables::default());
        let create = vec![CatalogChange::CreateTable(table_def("t", true, true))];
        let options = TxnOptions {
            temporary: Some(home.clone()),
            ..TxnOptions::default()
        };
        let before = db.binlog_position();
        home.ddl(&db, create, &options, None).unwrap();
        let t = home.table("d", "t").unwrap();
        let mut committed = Model::new();
        for _ in 0..40 {
            let mut x = db.begin(options.clone());
            let mut now = committed.clone();
            let mut saved: Vec<(Savepoint, Model)> = Vec::new();
            for _ in 0..rng.random_range(1..5) {
                x.begin_statement(1, None);
                let at_start = now.clone();
                for _ in 0..rng.random_range(1..30) {
                    let id = rng.random_range(0..300i64);
                    let k = rng.random_bool(0.8).then(|| rng.random_range(0..20));
                    let c = format!("c{id}-{}", rng.random_range(0..3));
                    let old = x
                        .lock_row(&t, &key(id), LockMode::Exclusive, LockWait::Wait)
                        .unwrap();
                    assert_eq!(old.is_some(), now.contains_key(&id));
                    match old {
                        Some(old) if rng.random_bool(0.3) => {
                            assert_eq!(decode(&t, &old).2, now[&id].1);
                            x.delete(&t, &key(id), &old).unwrap();
                            now.remove(&id);
                        }
                        Some(old) => {
                            let new = row(&t, id, k, &c);
                            x.update(&t, &key(id), &old, new).unwrap();
                            now.insert(id, (k, c));
                        }
                        None => {
                            x.insert(&t, row(&t, id, k, &c)).unwrap();
                            now.insert(id, (k, c.clone()));
                            let again = x.insert(&t, row(&t, id + 1000, k, &c));
                            assert!(matches!(
                                again,
                                Err(EngineError::Duplicate { index: 2, .. })
                            ));
                        }
                    }
                }
                if rng.random_bool(0.2) {
                    x.rollback_statement();
                    now = at_start;
                }
                x.end_statement();
                match rng.random_range(0..4) {
                    0 => saved.push((x.savepoint(), now.clone())),
                    1 if !saved.is_empty() => {
                        saved.truncate(rng.random_range(0..saved.len()) + 1);
                        let (at, model) = saved.last().unwrap();
                        x.rollback_to(at);
                        now = model.clone();
                    }
                    _ => {}
                }
            }
            x.begin_statement(1, None);
            agrees(&mut x, &t, &now, &db);
            if rng.random_bool(0.6) {
                x.commit().unwrap();
                committed = now;
            } else {
                x.rollback();
            }
        }
        let mut x = db.begin(options.clone());
        agrees(&mut x, &t, &committed, &db);
        drop(x);
        assert_eq!(db.binlog_position(), before, "something was logged");
        let stats = db.stats().values;
        let spilled = stats.iter().find(|(n, _)| *n == "Narwal_spills");
        spills += spilled.unwrap().1;
        drop(home);
        drop(options);
        let left = std::fs::read_dir(dir.path().join("spill")).unwrap().count();
        assert_eq!(left, 0, "run files are left over");
    }
    assert!(
        spills > 20,
        "{spills} spills: the test misses what it is for"
    );
}

/// A table made or dropped inside a transaction stays so; what the transaction did to other rows is undone.
#[test]
fn tables_outlive_the_transaction_that_made_them() {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(dir.path()).unwrap();
    let home = Arc::new(TemporaryTables::default());
    let options = TxnOptions::default();
    let mut x = db.begin(options.clone());
    x.begin_statement(1, None);
    x.set_temporary(&home);
    x.lend_temporary();
    let create = |name: &str| CatalogChange::CreateTable(table_def(name, false, false));
    home.ddl(&db, vec![create("a"), create("b")], &options, None)
        .unwrap();
    let (a, b) = (home.table("d", "a").unwrap(), home.table("d", "b").unwrap());
    assert!(x.get(&a, &key(1)).is_err(), "the rows are lent");
    x.begin_statement(1, None);
    x.insert(&a, row(&a, 1, None, "x")).unwrap();
    x.insert(&b, row(&b, 1, None, "x")).unwrap();
    x.end_statement();
    let s = x.savepoint();
    x.begin_statement(1, None);
    x.insert(&a, row(&a, 2, None, "y")).unwrap();
    x.lend_temporary();
    let drop_b = CatalogChange::DropTable {
        db: "d".into(),
        name: "b".into(),
    };
    home.ddl(&db, vec![drop_b], &options, None).unwrap();
    x.rollback_to(&s);
    x.begin_statement(1, None);
    assert_eq!(dump(&mut x, &a, 0, ReadView::Current).len(), 1);
    x.rollback();
    assert!(home.table("d", "b").is_none());
    let mut x = db.begin(TxnOptions {
        temporary: Some(home.clone()),
        ..options
    });
    assert!(dump(&mut x, &a, 0, ReadView::Current).is_empty());
}
