//! SELECT, INSERT, UPDATE, DELETE, REPLACE over the real engine.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{Conn, Out};
use narwal_types::Value;

fn sample() -> Conn {
    let mut c = Conn::new();
    c.ok("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, k INT DEFAULT 0 NOT NULL, c CHAR(20) NOT NULL DEFAULT '', n INT, PRIMARY KEY (id), KEY k_1 (k), UNIQUE KEY u (n))");
    for i in 1..=20 {
        c.ok(&format!(
            "INSERT INTO t (k, c, n) VALUES ({}, 'row{:02}', {})",
            i % 5,
            21 - i,
            if i % 4 == 0 {
                "NULL".to_string()
            } else {
                (i * 10).to_string()
            }
        ));
    }
    c
}

#[test]
fn point_and_range_reads() {
    let mut c = sample();
    assert_eq!(c.rows("SELECT c FROM t WHERE id=3"), "row18");
    assert_eq!(c.rows("SELECT c FROM t WHERE id='3'"), "row18");
    assert_eq!(c.rows("SELECT c FROM t WHERE id=3.5"), "");
    assert_eq!(c.rows("SELECT c FROM t WHERE id=99999999999"), "");
    assert_eq!(c.rows("SELECT id FROM t WHERE id BETWEEN 3 AND 5"), "3 4 5");
    assert_eq!(c.rows("SELECT id FROM t WHERE id > 18.5"), "19 20");
    assert_eq!(c.rows("SELECT id FROM t WHERE id < 3"), "1 2");
    assert_eq!(
        c.rows("SELECT id FROM t WHERE id IN (5, 1, 5, 77, 3)"),
        "1 3 5"
    );
    assert_eq!(
        c.rows("SELECT id FROM t WHERE id IN (5, NULL, 2) ORDER BY id DESC"),
        "5 2"
    );
    assert_eq!(
        c.rows("SELECT SUM(k), COUNT(*), MIN(id), MAX(id), AVG(k) FROM t WHERE id BETWEEN 1 AND 4"),
        "10|4|1|4|2.5000"
    );
    assert_eq!(
        c.rows("SELECT c FROM t WHERE id BETWEEN 3 AND 5 ORDER BY c"),
        "row16 row17 row18"
    );
    assert_eq!(
        c.rows("SELECT DISTINCT k FROM t WHERE id BETWEEN 1 AND 12 ORDER BY k"),
        "0 1 2 3 4"
    );
    assert_eq!(
        c.rows("SELECT id FROM t WHERE k=2 ORDER BY id"),
        "2 7 12 17"
    );
    assert_eq!(
        c.rows("SELECT id FROM t WHERE k IN (1,3) AND id < 8 ORDER BY id"),
        "1 3 6"
    );
    assert_eq!(
        c.rows("SELECT COUNT(k) FROM t WHERE k BETWEEN 0 AND 1 OR k BETWEEN 3 AND 3"),
        "12"
    );
    assert_eq!(c.rows("SELECT id FROM t WHERE n IS NULL"), "4 8 12 16 20");
    assert_eq!(c.rows("SELECT id FROM t WHERE n = 30"), "3");
    assert_eq!(
        c.rows("SELECT id FROM t WHERE n <=> NULL AND id > 10"),
        "12 16 20"
    );
    assert_eq!(
        c.rows("SELECT id FROM t WHERE n > 150 ORDER BY n DESC LIMIT 2"),
        "19 18"
    );
    assert_eq!(
        c.rows("SELECT id FROM t ORDER BY id DESC LIMIT 2, 3"),
        "18 17 16"
    );
    assert_eq!(
        c.rows("SELECT id FROM t ORDER BY k, id DESC LIMIT 3"),
        "20 15 10"
    );
    assert_eq!(c.rows("SELECT id FROM t ORDER BY c LIMIT 1 OFFSET 1"), "19");
    assert_eq!(
        c.rows("SELECT id FROM t WHERE id > 5 AND id <= 7 OR id = 9"),
        "6 7 9"
    );
    assert_eq!(c.rows("SELECT id FROM t WHERE NULL"), "");
    assert_eq!(c.rows("SELECT 1 + 1, 'x', NULL"), "2|x|NULL");
    assert_eq!(c.rows("SELECT 1 FROM DUAL WHERE 0"), "");
    assert_eq!(c.rows("SELECT id FROM t LIMIT 0"), "");
}

#[test]
fn grouping() {
    let mut c = sample();
    assert_eq!(
        c.rows("SELECT k, COUNT(*), SUM(id) FROM t GROUP BY k"),
        "0|4|50 1|4|34 2|4|38 3|4|42 4|4|46"
    );
    assert_eq!(
        c.rows("SELECT k, COUNT(*) n FROM t WHERE id<7 GROUP BY k HAVING n > 1"),
        "1|2"
    );
    assert_eq!(
        c.rows("SELECT k, MAX(c) m FROM t GROUP BY k ORDER BY m DESC LIMIT 2"),
        "1|row20 2|row19"
    );
    assert_eq!(
        c.rows("SELECT COUNT(*), SUM(k), MIN(k) FROM t WHERE id > 100"),
        "0|NULL|NULL"
    );
    assert_eq!(
        c.rows("SELECT COUNT(DISTINCT k), COUNT(n), COUNT(*) FROM t"),
        "5|15|20"
    );
    assert_eq!(c.rows("SELECT MIN(id), MAX(n) FROM t"), "1|190");
    assert_eq!(c.rows("SELECT MAX(id) FROM t"), "20");
    assert_eq!(c.rows("SELECT MIN(n) FROM t"), "10");
    assert_eq!(
        c.rows("SELECT k+1 AS kk, COUNT(*) FROM t GROUP BY kk ORDER BY 1 DESC LIMIT 1"),
        "5|4"
    );
    assert_eq!(c.rows("SELECT id FROM t WHERE k=1 GROUP BY k"), "1");
    assert_eq!(c.err("SELECT COUNT(*) FROM t WHERE COUNT(*) > 1").0, 1111);
}

#[test]
fn inserts() {
    let mut c = sample();
    assert_eq!(
        c.ok("INSERT INTO t (k) VALUES (7),(8),(9)"),
        Out::Done(3, 21, "Records: 3  Duplicates: 0  Warnings: 0".into())
    );
    assert_eq!(
        c.rows("SELECT id, k FROM t WHERE id > 20"),
        "21|7 22|8 23|9"
    );
    assert_eq!(c.rows("SELECT LAST_INSERT_ID()"), "21");
    assert_eq!(
        c.err("INSERT INTO t (id) VALUES (3)"),
        (1062, "Duplicate entry '3' for key 'PRIMARY'".into())
    );
    assert_eq!(
        c.err("INSERT INTO t (n) VALUES (30)"),
        (1062, "Duplicate entry '30' for key 'u'".into())
    );
    // A failed statement leaves no trace.
    assert_eq!(c.err("INSERT INTO t (id) VALUES (100),(3)").0, 1062);
    assert_eq!(c.rows("SELECT COUNT(*) FROM t WHERE id=100"), "0");
    assert_eq!(
        c.ok("INSERT IGNORE INTO t (id) VALUES (100),(3),(101)"),
        Out::Done(2, 0, "Records: 3  Duplicates: 1  Warnings: 1".into())
    );
    assert_eq!(
        c.warnings(),
        [(1062, "Duplicate entry '3' for key 'PRIMARY'".to_string())]
    );
    assert_eq!(
        c.affected("INSERT INTO t (id, k) VALUES (100, 1) ON DUPLICATE KEY UPDATE k=VALUES(k)+k"),
        2
    );
    assert_eq!(c.rows("SELECT k FROM t WHERE id=100"), "1");
    assert_eq!(
        c.affected("INSERT INTO t (id, k) VALUES (100, 1) ON DUPLICATE KEY UPDATE k=1"),
        0
    );
    assert_eq!(
        c.affected("INSERT INTO t (id, k) VALUES (102, 1) ON DUPLICATE KEY UPDATE k=1"),
        1
    );
    assert_eq!(c.affected("REPLACE INTO t (id, k) VALUES (100, 5)"), 2);
    assert_eq!(c.affected("REPLACE INTO t SET id=200, k=5"), 1);
    assert_eq!(c.affected("REPLACE INTO t (id, n) VALUES (1, 20)"), 3);
    assert_eq!(c.rows("SELECT id FROM t WHERE id <= 2"), "1");
    assert_eq!(c.err("INSERT INTO t (id, k) VALUES (300)").0, 1136);
    assert_eq!(c.err("INSERT INTO t (nope) VALUES (300)").0, 1054);
    assert_eq!(c.err("INSERT INTO t (k, k) VALUES (1,2)").0, 1110);
    assert_eq!(c.err("INSERT INTO t (k) VALUES (NULL)").0, 1048);
    assert_eq!(c.err("INSERT INTO t (k) VALUES (99999999999)").0, 1264);
    assert_eq!(c.err("INSERT INTO t (k) VALUES ('abc')").0, 1366);
    assert_eq!(
        c.err("INSERT INTO t (c) VALUES ('123456789012345678901')")
            .0,
        1406
    );
    assert_eq!(
        c.err("INSERT INTO nope VALUES (1)"),
        (1146, "Table 'test.nope' doesn't exist".into())
    );
    c.ok("CREATE TABLE u (a INT NOT NULL, b VARCHAR(5) DEFAULT 'dd', d DATETIME DEFAULT CURRENT_TIMESTAMP)");
    assert_eq!(
        c.err("INSERT INTO u (b) VALUES ('x')"),
        (1364, "Field 'a' doesn't have a default value".into())
    );
    c.ok("INSERT INTO u (a) VALUES (1)");
    c.ok("INSERT INTO u VALUES (2, DEFAULT, '2020-02-29 10:00:00')");
    assert_eq!(
        c.rows("SELECT * FROM u"),
        "1|dd|2023-11-14 22:13:20 2|dd|2020-02-29 10:00:00"
    );
    assert_eq!(
        c.affected("INSERT INTO u (a, b) SELECT id, c FROM t WHERE id IN (5,6)"),
        2
    );
    assert_eq!(c.rows("SELECT a, b FROM u WHERE a > 2"), "5|row16 6|row15");
    assert_eq!(c.affected("INSERT INTO u (a) SELECT a+10 FROM u"), 4);
    assert_eq!(c.rows("SELECT COUNT(*) FROM u"), "8");
}

#[test]
fn updates_and_deletes() {
    let mut c = sample();
    assert_eq!(
        c.ok("UPDATE t SET k=k+1 WHERE id=3"),
        Out::Done(1, 0, "Rows matched: 1  Changed: 1  Warnings: 0".into())
    );
    assert_eq!(c.rows("SELECT k FROM t WHERE id=3"), "4");
    assert_eq!(
        c.ok("UPDATE t SET k=4 WHERE id=3"),
        Out::Done(0, 0, "Rows matched: 1  Changed: 0  Warnings: 0".into())
    );
    c.env.client_found_rows = true;
    assert_eq!(c.affected("UPDATE t SET k=4 WHERE id=3"), 1);
    c.env.client_found_rows = false;
    // Later assignments see earlier ones.
    c.ok("UPDATE t SET k=10, n=k+1 WHERE id=1");
    assert_eq!(c.rows("SELECT k, n FROM t WHERE id=1"), "10|11");
    // Rows that move along the scanned index are changed once.
    assert_eq!(c.affected("UPDATE t SET k=k+1 WHERE k >= 0"), 20);
    assert_eq!(c.rows("SELECT k FROM t WHERE id=1"), "11");
    assert_eq!(c.affected("UPDATE t SET id=id+100 WHERE id > 15"), 5);
    assert_eq!(
        c.rows("SELECT id FROM t WHERE id > 100"),
        "116 117 118 119 120"
    );
    assert_eq!(c.err("UPDATE t SET id=1 WHERE id=2").0, 1062);
    assert_eq!(c.affected("UPDATE t SET k=77 ORDER BY id DESC LIMIT 2"), 2);
    assert_eq!(c.rows("SELECT id FROM t WHERE k=77 ORDER BY id"), "119 120");
    assert_eq!(c.affected("UPDATE t SET c='zz' ORDER BY c LIMIT 1"), 1);
    assert_eq!(c.rows("SELECT id FROM t WHERE c='ZZ'"), "120");
    assert_eq!(c.affected("DELETE FROM t WHERE id=1"), 1);
    assert_eq!(c.affected("DELETE FROM t WHERE id=1"), 0);
    assert_eq!(c.affected("DELETE FROM t WHERE k=77"), 2);
    assert_eq!(c.affected("DELETE FROM t ORDER BY id LIMIT 3"), 3);
    assert_eq!(c.rows("SELECT MIN(id), COUNT(*) FROM t"), "5|14");
    assert_eq!(c.affected("DELETE FROM t"), 14);
    assert_eq!(c.rows("SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn on_update_current_timestamp() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT, ts TIMESTAMP(3) NOT NULL DEFAULT '2000-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP(3))");
    c.env.time_zone = narwal_types::Zone::Offset(3600);
    c.ok("INSERT INTO t (id, v) VALUES (1, 1)");
    c.ok("UPDATE t SET v=1");
    assert_eq!(c.rows("SELECT v FROM t WHERE ts < '2001-01-01'"), "1");
    c.ok("UPDATE t SET v=2");
    assert_eq!(c.rows("SELECT ts FROM t"), "2023-11-14 23:13:20.123");
    c.env.time_zone = narwal_types::Zone::UTC;
    assert_eq!(c.rows("SELECT ts FROM t"), "2023-11-14 22:13:20.123");
    assert_eq!(
        c.rows("SELECT id FROM t WHERE ts='2023-11-14 22:13:20.123'"),
        "1"
    );
}

#[test]
fn prepared_plans_are_reused() {
    let mut c = sample();
    let get = c.prepare("SELECT c FROM t WHERE id=?");
    let upd = c.prepare("UPDATE t SET k=k+?, c=? WHERE id=?");
    let range = c.prepare("SELECT id FROM t WHERE id BETWEEN ? AND ? LIMIT ?");
    assert_eq!(get.params(), 1);
    assert_eq!(upd.params(), 3);
    assert!(get.is_read_only() && !upd.is_read_only());
    for i in 1..=3i64 {
        assert_eq!(
            c.execute(&get, &[Value::Int(i)]).unwrap(),
            Out::Rows(vec![vec![format!("row{:02}", 21 - i)]])
        );
    }
    assert_eq!(c.execute(&get, &[Value::Null]).unwrap(), Out::Rows(vec![]));
    assert_eq!(
        c.execute(&get, &[Value::str("2")]).unwrap(),
        Out::Rows(vec![vec!["row19".into()]])
    );
    assert_eq!(
        c.execute(&get, &[Value::str("2x")]).unwrap(),
        Out::Rows(vec![vec!["row19".into()]])
    );
    c.execute(&upd, &[Value::Int(5), Value::str("new"), Value::Int(2)])
        .unwrap();
    assert_eq!(c.rows("SELECT k, c FROM t WHERE id=2"), "7|new");
    assert_eq!(
        c.execute(&range, &[Value::Int(5), Value::Int(9), Value::Int(2)])
            .unwrap(),
        Out::Rows(vec![vec!["5".into()], vec!["6".into()]])
    );
    assert!(c.execute(&range, &[]).is_err());
}

#[test]
fn order_does_not_trust_unusable_values() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE v (id INT PRIMARY KEY, s VARCHAR(10), KEY (s))");
    c.ok("INSERT INTO v VALUES (1,'0z'),(2,'0a'),(3,'0'),(4,'1')");
    assert_eq!(c.rows("SELECT id FROM v WHERE s=0 ORDER BY id"), "1 2 3");
    let p = c.prepare("SELECT id FROM v WHERE s=? ORDER BY id");
    let out = |r: &[&str]| Out::Rows(r.iter().map(|x| vec![x.to_string()]).collect());
    assert_eq!(
        c.execute(&p, &[Value::Int(0)]).unwrap(),
        out(&["1", "2", "3"])
    );
    assert_eq!(c.execute(&p, &[Value::str("0A")]).unwrap(), out(&["2"]));
    let d = c.prepare("DELETE IGNORE FROM v WHERE s=? ORDER BY id LIMIT 2");
    c.execute(&d, &[Value::Int(1)]).unwrap();
    assert_eq!(c.rows("SELECT id FROM v ORDER BY id"), "1 2 3");
}

#[test]
fn strict_expressions() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE e (id INT PRIMARY KEY, a INT, s VARCHAR(10))");
    c.ok("INSERT INTO e VALUES (1, id + 1, CONCAT('x', a))");
    assert_eq!(c.rows("SELECT * FROM e"), "1|2|x2");
    assert_eq!(c.err("UPDATE e SET a=1/0").0, 1365);
    assert_eq!(c.err("UPDATE e SET a=3 WHERE s=0").0, 1292);
    // Not so DELETE, as in MariaDB.
    assert_eq!(c.affected("DELETE FROM e WHERE s=7"), 0);
    assert_eq!(c.warnings()[0].0, 1292);
    assert_eq!(c.rows("SELECT 1/0"), "NULL");
    assert_eq!(
        c.rows("SELECT 7 MOD 4, !5, 1 XOR 1 AND 0, 2 ^ 3 * 2, 1 || 0"),
        "3|0|1|2|1"
    );
    assert_eq!(c.affected("UPDATE IGNORE e SET a=1/0"), 1);
}

#[test]
fn access_paths() {
    let mut c = sample();
    assert_eq!(c.explain("SELECT c FROM t WHERE id=5"), "const PRIMARY");
    assert_eq!(c.explain("SELECT c FROM t WHERE n=5"), "const u");
    assert_eq!(
        c.explain("SELECT c FROM t WHERE id BETWEEN 1 AND 5"),
        "range PRIMARY Using where"
    );
    assert_eq!(
        c.explain("SELECT c FROM t WHERE id IN (1,2,3)"),
        "range PRIMARY Using where"
    );
    assert_eq!(
        c.explain("SELECT c FROM t WHERE k=5"),
        "ref k_1 Using where"
    );
    assert_eq!(
        c.explain("SELECT c FROM t WHERE c='x'"),
        "ALL NULL Using where"
    );
    assert_eq!(
        c.explain("SELECT c FROM t ORDER BY c"),
        "ALL NULL Using filesort"
    );
    assert_eq!(c.explain("SELECT c FROM t ORDER BY k LIMIT 3"), "index k_1");
    assert_eq!(
        c.explain("SELECT c FROM t USE INDEX () WHERE k=5"),
        "ALL NULL Using where"
    );
    assert_eq!(
        c.explain("UPDATE t SET k=1 WHERE id=5"),
        "range PRIMARY Using where"
    );
    assert_eq!(c.err("SELECT c FROM t USE INDEX (nope)").0, 1176);
    assert_eq!(c.explain("SELECT 1"), "NULL NULL No tables used");
}

#[test]
fn locking_reads() {
    let mut a = sample();
    let mut b = a.other();
    a.begin();
    assert_eq!(a.rows("SELECT k FROM t WHERE id=1 FOR UPDATE"), "1");
    b.begin();
    assert_eq!(b.rows("SELECT k FROM t WHERE id=1"), "1");
    assert_eq!(
        b.err("SELECT k FROM t WHERE id=1 FOR UPDATE NOWAIT").0,
        1205
    );
    assert_eq!(
        b.rows("SELECT id FROM t WHERE id < 4 FOR UPDATE SKIP LOCKED"),
        "2 3"
    );
    assert_eq!(b.err("UPDATE t SET k=9 WHERE id=1").0, 1205);
    a.commit();
    assert_eq!(b.rows("SELECT k FROM t WHERE id=1 LOCK IN SHARE MODE"), "1");
    b.commit();
}

#[test]
fn strings_follow_the_collation() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE s (id INT PRIMARY KEY, a VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin, x VARBINARY(10), KEY (a), KEY (b(2)), KEY (x))");
    c.ok("INSERT INTO s VALUES (1,'Abc','Abc','Abc'),(2,'abd','abd','abd'),(3,'\u{e4}bc','\u{e4}bc',NULL),(4,'abc  ','abc','ab'),(5,NULL,NULL,'')");
    assert_eq!(
        c.rows("SELECT id FROM s WHERE a='ABC' ORDER BY id"),
        "1 3 4"
    );
    assert_eq!(c.rows("SELECT id FROM s WHERE b='abc'"), "4");
    assert_eq!(
        c.rows("SELECT id FROM s WHERE b LIKE 'ab%' ORDER BY id"),
        "2 4"
    );
    assert_eq!(
        c.rows("SELECT id FROM s WHERE a LIKE 'aB%' ORDER BY id"),
        "1 2 3 4"
    );
    assert_eq!(c.rows("SELECT id FROM s WHERE a > 'abc' ORDER BY id"), "2");
    assert_eq!(c.rows("SELECT id FROM s WHERE x='ab'"), "4");
    assert_eq!(c.rows("SELECT id FROM s WHERE x >= 'ab' ORDER BY x"), "4 2");
    assert_eq!(c.rows("SELECT id FROM s ORDER BY a DESC, id"), "2 1 3 4 5");
    assert_eq!(
        c.rows("SELECT DISTINCT a FROM s WHERE id IN (1,3,4)"),
        "Abc"
    );
    assert_eq!(c.rows("SELECT COUNT(*) FROM s GROUP BY a"), "1 3 1");
}

#[test]
fn tables_without_a_primary_key() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE h (a INT, b INT, KEY (a))");
    c.ok("INSERT INTO h VALUES (1,1),(1,1),(2,NULL)");
    assert_eq!(c.affected("UPDATE h SET b=5 WHERE a=1"), 2);
    assert_eq!(c.rows("SELECT * FROM h ORDER BY a"), "1|5 1|5 2|NULL");
    assert_eq!(c.affected("DELETE FROM h WHERE a=1 LIMIT 1"), 1);
    assert_eq!(c.rows("SELECT COUNT(*) FROM h"), "2");
}
