//! Estimates of rows, and plans that depend on them.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_types::Value;

/// A table `n` with the numbers 0 to 99.
fn conn() -> Conn {
    let mut c = Conn::new();
    c.ok("CREATE TABLE n (n INT PRIMARY KEY)");
    let numbers: Vec<String> = (0..100).map(|n| format!("({n})")).collect();
    c.ok(&format!("INSERT INTO n VALUES {}", numbers.join(",")));
    c
}

/// (table, type, rows) of each line of EXPLAIN.
fn plan(c: &mut Conn, sql: &str) -> Vec<(String, String, u64)> {
    match c.ok(&format!("EXPLAIN {sql}")) {
        Out::Rows(r) => r
            .iter()
            .map(|r| (r[2].clone(), r[3].clone(), r[8].parse().unwrap()))
            .collect(),
        o => panic!("{o:?}"),
    }
}

fn rows(c: &mut Conn, sql: &str) -> u64 {
    plan(c, sql)[0].2
}

#[track_caller]
fn about(found: u64, right: u64) {
    assert!(
        found * 2 >= right && found <= right * 2,
        "{found} instead of {right}"
    );
}

/// 20000 rows: `id` without gaps, `few` with 10 values, `k` with 100, `many` with 5000.
fn with_table() -> Conn {
    let mut c = conn();
    c.ok(
        "CREATE TABLE t (id INT PRIMARY KEY, few INT, k INT, many INT, s VARCHAR(20), v INT,
        KEY (few, many), KEY (k), KEY (many), KEY (s))",
    );
    for part in 0..2 {
        c.ok(&format!(
            "INSERT INTO t SELECT id, id % 10, id % 100, id % 5000, CONCAT('name', id % 5000), id
             FROM (SELECT {part} * 10000 + a.n * 100 + b.n AS id FROM n a, n b) AS x"
        ));
    }
    c
}

#[test]
fn equal_values_are_sampled() {
    let mut c = with_table();
    for checkpoint in [false, true] {
        if checkpoint {
            c.db.checkpoint().unwrap();
        }
        about(
            rows(&mut c, "SELECT v FROM t FORCE INDEX (few) WHERE few = 3"),
            2000,
        );
        about(
            rows(
                &mut c,
                "SELECT v FROM t FORCE INDEX (few) WHERE few = 3 AND many = 4003",
            ),
            4,
        );
        about(rows(&mut c, "SELECT v FROM t WHERE k = 5"), 200);
        about(rows(&mut c, "SELECT v FROM t WHERE many = 77"), 4);
        about(rows(&mut c, "SELECT v FROM t WHERE s = 'name17'"), 4);
        about(rows(&mut c, "SELECT v FROM t WHERE many IN (1, 2, 3)"), 12);
        assert_eq!(rows(&mut c, "SELECT v FROM t WHERE id = 7"), 1);
    }
}

#[test]
fn ranges_are_looked_at() {
    let mut c = with_table();
    assert_eq!(
        rows(&mut c, "SELECT v FROM t WHERE id BETWEEN 100 AND 149"),
        50
    );
    assert_eq!(
        rows(&mut c, "SELECT v FROM t WHERE id >= 100 AND id < 120"),
        20
    );
    assert_eq!(rows(&mut c, "SELECT v FROM t WHERE id > 30000"), 1);
    about(rows(&mut c, "SELECT v FROM t WHERE id > 15000"), 5000);
    about(
        rows(&mut c, "SELECT v FROM t WHERE id BETWEEN 100 AND 3099"),
        3000,
    );
    assert_eq!(
        rows(
            &mut c,
            "SELECT v FROM t WHERE few = 3 AND many BETWEEN 100 AND 199"
        ),
        40
    );
    // One value far away from the others.
    c.ok("INSERT INTO t VALUES (2147483647, 0, 0, 0, '', 0)");
    about(rows(&mut c, "SELECT v FROM t WHERE id < 10000"), 10000);
    about(rows(&mut c, "SELECT v FROM t WHERE id > 10000"), 12000);
    // Deleted ones are not counted.
    c.ok("DELETE FROM t WHERE id < 900");
    assert_eq!(rows(&mut c, "SELECT v FROM t WHERE id < 920"), 20);
}

#[test]
fn a_short_range_joins_by_lookups_however_large_the_tables_are() {
    let mut c = conn();
    c.ok(
        "CREATE TABLE order_line (w SMALLINT, d TINYINT, o INT, l TINYINT, i INT, PRIMARY KEY (w, d, o, l))",
    );
    c.ok("CREATE TABLE stock (w SMALLINT, i INT, q INT, PRIMARY KEY (w, i))");
    c.ok("INSERT INTO stock SELECT w.n + 1, a.n * 100 + b.n, b.n FROM n w, n a, n b WHERE w.n < 2 AND a.n < 20");
    for d in 1..=10 {
        for part in 0..2 {
            c.ok(&format!(
                "INSERT INTO order_line SELECT w.n + 1, {d}, {part} * 100 + o.n, l.n, (o.n * 7 + l.n * 131) % 2000
                 FROM n w, n o, n l WHERE w.n < 2 AND l.n < 10"
            ));
        }
    }
    let level = "SELECT COUNT(DISTINCT s.i) FROM order_line AS ol, stock AS s
        WHERE ol.w = 1 AND ol.d = 3 AND ol.o < 100 AND ol.o >= 80 AND s.w = 1 AND s.i = ol.i AND s.q < 50";
    for analyzed in [false, true] {
        if analyzed {
            for t in ["order_line", "stock"] {
                let table = c.db.catalog().table("test", t).unwrap().clone();
                let mut txn = c.db.begin(narwal_engine::TxnOptions::default());
                let stats = narwal_sql::analyze(&mut txn, &table, &c.env).unwrap();
                table.set_stats(stats);
            }
        }
        let found = plan(&mut c, level);
        assert_eq!(
            found,
            [
                ("ol".to_string(), "range".to_string(), 200),
                ("s".to_string(), "eq_ref".to_string(), 1)
            ]
        );
        assert_eq!(rows(&mut c, "SELECT q FROM stock WHERE w = 2"), 2000);
    }
}

#[test]
fn a_plan_is_worn_when_tables_have_grown() {
    let mut c = conn();
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, KEY (k))");
    let by_key = c.prepare("SELECT id FROM t WHERE k = ?");
    assert!(!by_key.is_worn(&c.db, &narwal_sql::NoVariables));
    c.ok("INSERT INTO t SELECT a.n * 100 + b.n, b.n FROM n a, n b WHERE a.n < 15");
    assert!(
        !by_key.is_worn(&c.db, &narwal_sql::NoVariables),
        "small tables are all alike"
    );
    c.ok("INSERT INTO t SELECT a.n * 100 + b.n, b.n FROM n a, n b WHERE a.n >= 15");
    assert!(by_key.is_worn(&c.db, &narwal_sql::NoVariables));
    let again = c.prepare("SELECT id FROM t WHERE k = ?");
    assert!(!again.is_worn(&c.db, &narwal_sql::NoVariables) && !again.wants_values());
    c.ok("DELETE FROM t WHERE id > 4000");
    assert!(again.is_worn(&c.db, &narwal_sql::NoVariables));
}

#[test]
fn a_plan_of_ranges_wants_values_and_is_worn_by_use() {
    let mut c = with_table();
    let sql = "SELECT v FROM t WHERE id BETWEEN ? AND ?";
    assert!(c.prepare(sql).wants_values());
    c.env.peeked.replace(vec![Value::Int(5), Value::Int(9)]);
    let p = c.prepare(sql);
    c.env.peeked.borrow_mut().clear();
    assert!(!p.wants_values());
    assert!((0..200).all(|_| !p.is_worn(&c.db, &narwal_sql::NoVariables)));
    assert!((0..100).any(|_| p.is_worn(&c.db, &narwal_sql::NoVariables)));
    let point = c.prepare("SELECT v FROM t WHERE id = ?");
    assert!((0..1000).all(|_| !point.is_worn(&c.db, &narwal_sql::NoVariables)));
}
