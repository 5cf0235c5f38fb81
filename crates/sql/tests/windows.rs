//! Statements over more rows than fit into the memory of a session: they read, lock and change them window by window.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{Conn, Out};
use narwal_engine::Isolation;

const ROWS: u64 = 20_000;

/// Rows 1 to ROWS with k = id % 7, v = 0, of which no statement may keep all keys in memory.
fn sample() -> Conn {
    let mut c = Conn::new();
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT NOT NULL, KEY (k))");
    c.begin();
    for from in (1..=ROWS).step_by(1000) {
        let rows: Vec<String> = (from..from + 1000)
            .map(|i| format!("({i},{},0)", i % 7))
            .collect();
        c.ok(&format!("INSERT INTO t VALUES {}", rows.join(",")));
    }
    c.commit();
    c.env.max_memory = 30_000;
    c
}

fn changed(out: Out) -> u64 {
    match out {
        Out::Done(n, ..) => n,
        Out::Rows(_) => panic!("rows"),
    }
}

fn count(c: &mut Conn, filter: &str) -> u64 {
    let sql = format!("SELECT COUNT(*) FROM t WHERE {filter}");
    c.rows(&sql).parse().unwrap()
}

/// A transaction with a snapshot: writes look for conflicts.
fn begin(c: &mut Conn) {
    c.begin();
    assert_eq!(count(c, "id = 1"), 1);
}

#[test]
fn update_and_delete_with_a_snapshot() {
    let mut c = sample();
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        c.isolation = isolation;
        begin(&mut c);
        assert_eq!(changed(c.run("UPDATE t SET v = v + 1", &[]).unwrap()), ROWS);
        assert_eq!(count(&mut c, "v = 1"), ROWS);
        // Own writes are in both views: each row once.
        assert_eq!(
            changed(c.run("UPDATE t SET v = v + 1 WHERE v = 1", &[]).unwrap()),
            ROWS
        );
        let n = changed(c.run("UPDATE t SET v = 9 WHERE k = 3", &[]).unwrap());
        assert_eq!(n, count(&mut c, "k = 3"));
        assert_eq!(count(&mut c, "v = 9"), n);
        assert_eq!(
            changed(
                c.run("UPDATE t SET v = 5 WHERE id > 100 LIMIT 12345", &[])
                    .unwrap()
            ),
            12345
        );
        assert_eq!(count(&mut c, "v = 5 AND id BETWEEN 101 AND 12445"), 12345);
        assert_eq!(
            changed(
                c.run(
                    "DELETE FROM t WHERE id > 1000 ORDER BY id DESC LIMIT 15000",
                    &[]
                )
                .unwrap()
            ),
            15_000
        );
        assert_eq!(count(&mut c, "id <= 5000"), 5000);
        assert_eq!(changed(c.run("DELETE FROM t", &[]).unwrap()), ROWS - 15_000);
        assert_eq!(count(&mut c, "id > 0"), 0);
        c.rollback();
        assert_eq!(count(&mut c, "v = 0"), ROWS);
    }
}

/// A row that matched in the snapshot and was changed since is a conflict, wherever it is and whatever it became.
#[test]
fn a_conflict_is_found_in_every_window() {
    let mut c = sample();
    let mut other = c.other();
    let statements = [
        "UPDATE t SET v = 1 WHERE v = 0",
        "UPDATE t FORCE INDEX (k) SET v = 1 WHERE v = 0 AND k >= 0",
        "DELETE FROM t WHERE v = 0",
        "DELETE FROM t WHERE v = 0 ORDER BY id DESC",
    ];
    for sql in statements {
        for id in [33, 9_999, ROWS] {
            for change in [
                "UPDATE t SET v = 7",
                "UPDATE t SET k = 100",
                "DELETE FROM t",
            ] {
                begin(&mut c);
                other.ok(&format!("{change} WHERE id = {id}"));
                assert_eq!(
                    c.run(sql, &[]).unwrap_err().code,
                    1020,
                    "{sql}: {change} of {id}"
                );
                c.txn = None;
                other.ok(&format!("REPLACE INTO t VALUES ({id}, {id} % 7, 0)"));
            }
        }
        // A new row that matches is one, too; one behind the last row wanted is none.
        begin(&mut c);
        other.ok(&format!("INSERT INTO t VALUES ({}, 1, 0)", ROWS + 1));
        assert_eq!(c.run(sql, &[]).unwrap_err().code, 1020);
        c.txn = None;
        other.ok(&format!("DELETE FROM t WHERE id > {ROWS}"));
    }
    begin(&mut c);
    other.ok("UPDATE t SET v = 7 WHERE id = 15000");
    let sql = "UPDATE t SET v = 1 WHERE v = 0 ORDER BY id LIMIT 14999";
    assert_eq!(changed(c.run(sql, &[]).unwrap()), 14_999);
    c.txn = None;
    // Without a snapshot there is no conflict.
    c.begin();
    assert_eq!(
        changed(c.run("UPDATE t SET v = 1 WHERE v = 0", &[]).unwrap()),
        ROWS - 1
    );
    c.rollback();
}

#[test]
fn insert_select_from_another_table() {
    let mut c = sample();
    c.env.max_memory = 300_000;
    c.ok("CREATE TABLE copy (n INT AUTO_INCREMENT PRIMARY KEY, id INT UNIQUE, k INT)");
    for (isolation, locking) in [
        (Isolation::RepeatableRead, false),
        (Isolation::ReadCommitted, false),
        (Isolation::Serializable, true),
    ] {
        c.isolation = isolation;
        c.env.locking_reads = locking;
        for source in [
            "SELECT id, k FROM t",
            "SELECT id, k FROM t ORDER BY id DESC",
            "SELECT id, k + 0 FROM t WHERE k >= 0 AND v = 0",
        ] {
            c.begin();
            let out = c
                .run(&format!("INSERT INTO copy (id, k) {source}"), &[])
                .unwrap();
            let info = format!("Records: {ROWS}  Duplicates: 0  Warnings: 0");
            assert_eq!(out, Out::Done(ROWS, out_id(&out), info), "{source}");
            let sums = "SELECT COUNT(*), SUM(id), SUM(k), MAX(n) - MIN(n) FROM copy";
            let ks: u64 = (1..=ROWS).map(|i| i % 7).sum();
            assert_eq!(
                c.rows(sums),
                format!("{ROWS}|{}|{ks}|{}", ROWS * (ROWS + 1) / 2, ROWS - 1)
            );
            c.rollback();
        }
    }
    c.isolation = Isolation::RepeatableRead;
    c.env.locking_reads = false;
    // LIMIT over several portions; IGNORE counts the rows that are there.
    let sql = "INSERT INTO copy (id, k) SELECT id, k FROM t ORDER BY id LIMIT 10, 5000";
    assert_eq!(changed(c.run(sql, &[]).unwrap()), 5000);
    assert_eq!(c.rows("SELECT MIN(id), MAX(id) FROM copy"), "11|5010");
    let out = c
        .run("INSERT IGNORE INTO copy (id, k) SELECT id, k FROM t", &[])
        .unwrap();
    let Out::Done(n, _, info) = out else { panic!() };
    assert_eq!(
        (n, info.starts_with("Records: 20000  Duplicates: 5000")),
        (ROWS - 5000, true),
        "{info}"
    );
    // An error in a later portion undoes all.
    c.ok("DELETE FROM copy WHERE id <> 15000");
    let e = c
        .run("INSERT INTO copy (id, k) SELECT id, k FROM t", &[])
        .unwrap_err();
    assert_eq!(e.code, 1062);
    assert_eq!(c.rows("SELECT id FROM copy"), "15000");
    let sql = "INSERT INTO copy (id, k) SELECT id, 1 FROM t ON DUPLICATE KEY UPDATE k = 77";
    assert_eq!(changed(c.run(sql, &[]).unwrap()), ROWS + 1);
    assert_eq!(c.rows("SELECT id FROM copy WHERE k = 77"), "15000");
}

fn out_id(out: &Out) -> u64 {
    match out {
        Out::Done(_, id, _) => *id,
        Out::Rows(_) => 0,
    }
}

/// The table itself is read to its end first.
#[test]
fn insert_select_from_the_same_table() {
    let mut c = sample();
    c.env.max_memory = 1 << 30;
    let sql = format!("INSERT INTO t SELECT id + {ROWS}, k, 3 FROM t");
    assert_eq!(changed(c.run(&sql, &[]).unwrap()), ROWS);
    assert_eq!(count(&mut c, "id > 0"), 2 * ROWS);
}
