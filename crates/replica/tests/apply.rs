//! Applying: in parallel as one by one, for readers in order, with conversions, idempotently, and what stops it.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_binlog::{Event, EventReader, event_type};
use narwal_engine::apply::{RowKeys, TouchedKeys};
use narwal_engine::{Database, LockMode, LockWait, TxnOptions};
use narwal_log::sim::SimDisk;
use narwal_replica::apply::{ApplySettings, Ended, Progress};
use narwal_session::Instance;
use narwal_session::apply::TypeConversions;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn history(rng: &mut StdRng, transactions: usize, ddl: bool) -> History {
    History {
        transactions,
        ddl,
        large: true,
        domains: rng.random_bool(0.3),
        keys: [4, 20, 300][rng.random_range(0..3)],
    }
}

fn run(
    replica: &Arc<Instance>,
    settings: &ApplySettings,
    groups: &[Group],
    rng: &mut StdRng,
) -> (Ended, Progress) {
    apply(replica, settings, groups, rng, &Arc::default())
}

#[test]
fn readers_see_the_sources_states_in_their_order() {
    for seed in 0..8 {
        let mut rng = StdRng::seed_from_u64(seed);
        let h = history(&mut rng, 150, false);
        let source = Source::new(1, &mut rng, &h);
        // A table's rows and the catalog are no one snapshot: the tables come first.
        let (tables, rest) = source.groups.split_at(3);
        for threads in [1, 2, 4] {
            let replica = open(&SimDisk::new(), 9);
            let db = replica.database();
            let settings = settings(1, threads);
            assert_eq!(run(&replica, &settings, tables, &mut rng).0, Ended::Until);
            let over = AtomicBool::new(false);
            let seen = std::thread::scope(|s| {
                let reader = s.spawn(|| {
                    let (mut at, mut seen) = (3, 0);
                    loop {
                        let last = over.load(Ordering::SeqCst);
                        let now = dump(db, &source.schema);
                        let found = source.states[at..].iter().position(|s| *s == now);
                        let found = found.expect("a state that the source had, and no earlier one");
                        seen += usize::from(found > 0);
                        at += found;
                        if last {
                            return seen;
                        }
                    }
                });
                let (ended, progress) = run(&replica, &settings, rest, &mut rng);
                db.wait_visible(db.reserved_seq()).unwrap();
                over.store(true, Ordering::SeqCst);
                assert_eq!(ended, Ended::Until, "{:?}", progress.error());
                reader.join().unwrap()
            });
            assert!(seen > 0, "seed {seed}, {threads} threads");
            assert_eq!(dump(db, &source.schema), *source.states.last().unwrap());
        }
    }
}

/// What a group's rows touch; `None` for a statement.
fn touches(db: &Database, g: &Group) -> Option<TouchedKeys> {
    let mut keys = RowKeys::new(TypeConversions::default());
    let mut out = TouchedKeys::default();
    for e in EventReader::new(&g.events).without_checksums() {
        let e = e.unwrap();
        match e.decode().unwrap() {
            Event::TableMap(map) => keys.table_map(&db.catalog(), &map, e.body).unwrap(),
            Event::Rows(rows) => assert!(rows.data.is_empty() || keys.rows(&rows, &mut out)),
            Event::Query(_) => return None,
            _ => assert!(matches!(
                e.header.event_type,
                event_type::XID | event_type::ANNOTATE_ROWS
            )),
        }
    }
    Some(out)
}

fn independent(a: &TouchedKeys, b: &TouchedKeys) -> bool {
    let keys: HashSet<u64> = a.keys.iter().copied().collect();
    let whole = |x: &TouchedKeys, y: &TouchedKeys| {
        (x.tables.iter()).any(|(id, whole)| *whole && y.tables.iter().any(|(i, _)| i == id))
    };
    !b.keys.iter().any(|k| keys.contains(k)) && !whole(a, b) && !whole(b, a)
}

#[test]
fn groups_without_a_common_key_can_change_places() {
    let mut swapped = 0;
    for seed in 100..112 {
        let mut rng = StdRng::seed_from_u64(seed);
        let h = history(&mut rng, 80, false);
        let source = Source::new(1, &mut rng, &h);
        let replica = open(&SimDisk::new(), 9);
        let mut s = settings(1, 0);
        s.options.strict = false;
        let (tables, rest) = source.groups.split_at(3);
        assert_eq!(run(&replica, &s, tables, &mut rng).0, Ended::Until);
        let mut groups = rest.to_vec();
        // The hashes are those of one reader only, so each pair is read by one.
        let db = replica.database();
        for _ in 0..3 {
            for i in 1..groups.len() {
                let mut keys = RowKeysOf::new(db);
                let (Some(a), Some(b)) = (keys.of(&groups[i - 1]), keys.of(&groups[i])) else {
                    continue;
                };
                if independent(&a, &b) {
                    groups.swap(i - 1, i);
                    swapped += 1;
                }
            }
        }
        let (ended, progress) = run(&replica, &s, &groups, &mut rng);
        assert_eq!(ended, Ended::Until, "seed {seed}: {:?}", progress.error());
        assert_eq!(dump(db, &source.schema), *source.states.last().unwrap());
    }
    assert!(swapped > 1000, "{swapped}");
}

/// One reader of keys for more than one group.
struct RowKeysOf<'a> {
    db: &'a Database,
    keys: RowKeys,
}

impl<'a> RowKeysOf<'a> {
    fn new(db: &'a Database) -> Self {
        RowKeysOf {
            db,
            keys: RowKeys::new(TypeConversions::default()),
        }
    }

    fn of(&mut self, g: &Group) -> Option<TouchedKeys> {
        let mut out = TouchedKeys::default();
        self.keys.clear();
        for e in EventReader::new(&g.events).without_checksums() {
            let e = e.unwrap();
            match e.decode().unwrap() {
                Event::TableMap(map) => {
                    let catalog = self.db.catalog();
                    self.keys.table_map(&catalog, &map, e.body).unwrap();
                }
                Event::Rows(rows) => {
                    assert!(rows.data.is_empty() || self.keys.rows(&rows, &mut out));
                }
                Event::Query(_) => return None,
                _ => {}
            }
        }
        Some(out)
    }
}

/// A source that has run these statements, each a group.
fn source(statements: &[&str]) -> (Arc<Instance>, Vec<Group>) {
    let instance = open(&SimDisk::new(), 1);
    let mut c = connect(&instance);
    for s in statements {
        c.run(s);
    }
    drop(c);
    let all = groups(instance.database());
    (instance, all)
}

/// A replica that has run these statements for itself.
fn replica(statements: &[&str]) -> Arc<Instance> {
    let instance = open(&SimDisk::new(), 9);
    let mut c = connect(&instance);
    c.run("set session sql_log_bin = 0");
    for s in statements {
        c.run(s);
    }
    drop(c);
    instance
}

#[test]
fn equal_values_by_collation_are_one_key_and_nulls_are_none() {
    let (s, all) = source(&[
        "create database d",
        "create table d.t (id int primary key, u varchar(9) unique, c int)",
        "insert into d.t values (1, 'a', 1)",
        "insert into d.t values (2, null, 1)",
        "insert into d.t values (3, null, 1)",
        "update d.t set u = null where id = 1",
        "insert into d.t values (4, 'A', 1)",
        "update d.t set c = 2 where id = 2",
        "update d.t set c = 2 where id = 3",
    ]);
    let mut keys = RowKeysOf::new(s.database());
    let mut of = |i: usize| keys.of(&all[i]).unwrap();
    assert!(!independent(&of(2), &of(5)), "the row");
    assert!(!independent(&of(5), &of(6)), "'a' goes, 'A' comes");
    assert!(independent(&of(3), &of(4)), "NULLs");
    assert!(!independent(&of(3), &of(7)), "the row again");
    assert!(independent(&of(7), &of(8)));
    assert_eq!(touches(s.database(), &all[6]).unwrap().keys.len(), 2);
    assert!(touches(s.database(), &all[1]).is_none());
}

const TABLE: &str = "create table d.t (id int primary key, u int unique, c varchar(9))";

#[test]
fn idempotent_mode_makes_rows_as_the_source_has_them() {
    let (s, all) = source(&[
        "create database d",
        TABLE,
        "insert into d.t values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
        "update d.t set c = 'z' where id = 2",
        "delete from d.t where id = 3",
        "insert into d.t values (5, 5, 'e')",
    ]);
    let prepare = [
        "create database d",
        TABLE,
        "insert into d.t values (1, 7, 'own'), (8, 2, 'own'), (5, 9, 'own'), (6, 5, 'own')",
    ];
    let mut rng = StdRng::seed_from_u64(1);
    for threads in [0, 2] {
        // As it is by default: it stops.
        let r = replica(&prepare);
        let (ended, progress) = run(&r, &settings(1, threads), &all[2..], &mut rng);
        assert_eq!(ended, Ended::Failed);
        let e = progress.error().unwrap();
        assert_eq!((e.code, e.gtid), (1062, Some(all[2].head.gtid)), "{e:?}");
        assert!(
            e.text.contains("Write_rows_v1 event on table d.t") && e.text.contains("Gtid 0-1-3"),
            "{}",
            e.text
        );
        assert!(r.database().replica_state().slave_pos.is_empty());
        let mut s9 = settings(1, threads);
        s9.options.idempotent = true;
        let (ended, progress) = run(&r, &s9, &all[2..], &mut rng);
        assert_eq!(ended, Ended::Until, "{:?}", progress.error());
        assert_eq!(dump(r.database(), "d"), dump(s.database(), "d"));
        // And once more, rows that are there or gone already.
        let mut again = settings(1, threads);
        again.options.idempotent = true;
        again.options.strict = false;
        assert_eq!(run(&r, &again, &all[2..], &mut rng).0, Ended::Until);
        assert_eq!(dump(r.database(), "d"), dump(s.database(), "d"));
    }
}

#[test]
fn a_row_that_is_not_there_stops_it_behind_everything_before() {
    let (_, all) = source(&[
        "create database d",
        TABLE,
        "insert into d.t values (1, 1, 'a')",
        "insert into d.t values (2, 2, 'b')",
        "update d.t set c = 'z' where id = 2",
        "insert into d.t values (3, 3, 'c')",
    ]);
    let mut rng = StdRng::seed_from_u64(1);
    for threads in [0, 1, 3] {
        let r = replica(&[]);
        assert_eq!(
            run(&r, &settings(1, threads), &all[..4], &mut rng).0,
            Ended::Until
        );
        let mut c = connect(&r);
        c.run("set session sql_log_bin = 0");
        c.run("delete from d.t where id = 2");
        let (ended, progress) = run(&r, &settings(1, threads), &all[4..], &mut rng);
        let e = progress.error().unwrap();
        assert_eq!((ended, e.code), (Ended::Failed, 1032));
        let state = r.database().replica_state();
        assert_eq!(state.slave_pos_text(), "0-1-4");
        c.run("insert into d.t values (2, 2, 'b')");
        drop(c);
        assert_eq!(
            run(&r, &settings(1, threads), &all[4..], &mut rng).0,
            Ended::Until
        );
        assert_eq!(r.database().replica_state().slave_pos_text(), "0-1-6");
    }
}

#[test]
fn types_are_converted_as_allowed() {
    let mut rng = StdRng::seed_from_u64(1);
    let non_lossy = TypeConversions {
        non_lossy: true,
        ..TypeConversions::default()
    };
    let lossy = TypeConversions {
        lossy: true,
        ..TypeConversions::default()
    };
    // Type there, value, type here, allowed by, value here.
    for (there, value, here, by, becomes) in [
        ("int", "-5", "bigint", non_lossy, "-5"),
        ("tinyint", "7", "int", non_lossy, "7"),
        ("bigint", "3000000000", "int", lossy, "2147483647"),
        ("int", "-5", "smallint", lossy, "-5"),
        ("float", "1.5", "double", non_lossy, "1.5"),
        ("decimal(6,2)", "12.34", "decimal(10,4)", non_lossy, "12.34"),
        ("decimal(6,2)", "12.34", "decimal(6,0)", lossy, "12"),
        ("varchar(5)", "'abc'", "varchar(20)", non_lossy, "'abc'"),
        (
            "varchar(20)",
            "'abcdefghij'",
            "varchar(5)",
            lossy,
            "'abcde'",
        ),
        ("char(5)", "'abc'", "text", non_lossy, "'abc'"),
        ("varbinary(5)", "'abc'", "blob", non_lossy, "'abc'"),
        (
            "datetime(3)",
            "'2020-01-02 03:04:05.678'",
            "datetime(6)",
            non_lossy,
            "'2020-01-02 03:04:05.678'",
        ),
        // As MariaDB 10.11 takes them.
        (
            "date",
            "'2020-01-02'",
            "datetime(3)",
            non_lossy,
            "'2020-01-02'",
        ),
        (
            "datetime",
            "'2020-01-02 03:04:05'",
            "date",
            lossy,
            "'2020-01-02'",
        ),
    ] {
        let insert = format!("insert into d.t values (1, {value}), (2, null)");
        let (_, all) = source(&[
            "create database d",
            &format!("create table d.t (id int primary key, v {there})"),
            &insert,
            "delete from d.t where id = 2",
        ]);
        let prepare = [
            "create database d",
            &format!("create table d.t (id int primary key, v {here})"),
        ];
        let should = replica(&prepare);
        connect(&should).run(&format!("insert into d.t values (1, {becomes})"));
        for (allowed, code) in [(TypeConversions::default(), 1677), (by, 0)] {
            let r = replica(&prepare);
            let mut s = settings(1, 0);
            s.options.conversions = allowed;
            let (_, progress) = run(&r, &s, &all[2..], &mut rng);
            let e = progress.error();
            assert_eq!(
                e.as_ref().map_or(0, |e| e.code),
                code,
                "{there} to {here}: {e:?}"
            );
            if code == 0 {
                assert_eq!(
                    dump(r.database(), "d"),
                    dump(should.database(), "d"),
                    "{there} to {here}"
                );
            }
        }
    }
}

#[test]
fn more_or_fewer_columns() {
    let (_, all) = source(&[
        "create database d",
        "create table d.t (id int primary key, a int, b int)",
        "insert into d.t values (1, 2, 3), (2, 3, 4), (3, 4, 5)",
        "update d.t set a = 9, b = 9 where id = 2",
        "delete from d.t where id = 3",
    ]);
    let mut rng = StdRng::seed_from_u64(1);
    for (table, rows) in [
        ("(id int primary key, a int)", "(1, 2), (2, 9)"),
        (
            "(id int primary key, a int, b int, c varchar(9) default 'x', e int)",
            "(1, 2, 3, 'x', null), (2, 9, 9, 'x', null)",
        ),
    ] {
        let prepare = ["create database d", &format!("create table d.t {table}")];
        let (r, should) = (replica(&prepare), replica(&prepare));
        connect(&should).run(&format!("insert into d.t values {rows}"));
        for threads in [0, 2] {
            let r2 = if threads == 0 {
                r.clone()
            } else {
                replica(&prepare)
            };
            let (ended, progress) = run(&r2, &settings(1, threads), &all[2..], &mut rng);
            assert_eq!(ended, Ended::Until, "{:?}", progress.error());
            assert_eq!(dump(r2.database(), "d"), dump(should.database(), "d"));
        }
    }
}

#[test]
fn a_local_lock_is_waited_for() {
    let (s, all) = source(&[
        "create database d",
        TABLE,
        "insert into d.t values (1, 1, 'a'), (2, 2, 'b')",
        "update d.t set c = 'x' where id = 1",
        "update d.t set c = 'y' where id = 2",
        "update d.t set c = 'z' where id = 1",
    ]);
    let mut rng = StdRng::seed_from_u64(1);
    for threads in [0, 2] {
        let r = replica(&[]);
        assert_eq!(
            run(&r, &settings(1, threads), &all[..3], &mut rng).0,
            Ended::Until
        );
        let db = r.database().clone();
        let table = db.catalog().table("d", "t").unwrap().clone();
        let mut x = db.begin(TxnOptions::default());
        let mut pk = Vec::new();
        table.primary_key(&dump(&db, "d")["t"][0], &mut pk).unwrap();
        x.lock_row(&table, &pk, LockMode::Exclusive, LockWait::Wait)
            .unwrap();
        let (ended, progress) = std::thread::scope(|scope| {
            let applier = scope.spawn(|| {
                let mut rng = StdRng::seed_from_u64(2);
                run(&r, &settings(1, threads), &all[3..], &mut rng)
            });
            std::thread::sleep(std::time::Duration::from_millis(120));
            assert_eq!(db.replica_state().slave_pos_text(), "0-1-3");
            x.rollback();
            applier.join().unwrap()
        });
        assert_eq!(ended, Ended::Until, "{:?}", progress.error());
        assert_eq!(progress.snapshot().retries > 0, threads > 1);
        assert_eq!(dump(&db, "d"), dump(s.database(), "d"));
    }
}
