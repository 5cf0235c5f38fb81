//! Damaged statements give errors, never panics.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::Conn;
use narwal_syntax::SqlMode;
use narwal_testkit::sql::BITS;
use proptest::prelude::*;

const SEEDS: &[&str] = &[
    "SELECT DISTINCT a, b+1 AS x, t.*, COUNT(*) n FROM t AS t USE INDEX (k) WHERE a=1 AND b IN (1,2,NULL) OR s LIKE 'x%' GROUP BY a HAVING n>1 ORDER BY 1 DESC, b LIMIT 2, 5 FOR UPDATE SKIP LOCKED",
    "SELECT CASE WHEN a BETWEEN -1 AND 1.5e3 THEN 'x''y' ELSE CONCAT(s, 0x41, b'101') END, CAST(a AS DECIMAL(10,2)), DATE_ADD(d, INTERVAL 1 DAY), !a, ~b, a DIV 2 MOD 3 FROM test.t WHERE d > '2020-01-01' XOR a <=> NULL",
    "INSERT IGNORE INTO t (id, a, s) VALUES (10, DEFAULT, 'q'), (NULL, 2+3, NULL) ON DUPLICATE KEY UPDATE a=VALUES(a)+1, s=DEFAULT",
    "INSERT INTO t SELECT id+100, a, b, s, d FROM t WHERE id < 3 ORDER BY id LIMIT 1",
    "REPLACE INTO t SET id=3, s=REPEAT('ab', 3)",
    "UPDATE t SET a=a+1, s=UPPER(s) WHERE id IN (1,2) AND d IS NOT NULL ORDER BY b DESC LIMIT 3",
    "DELETE FROM t WHERE a BETWEEN 1 AND 2 OR s='abc' ORDER BY id LIMIT 1",
    "CREATE TABLE IF NOT EXISTS z (id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'c', v VARCHAR(10) COLLATE utf8mb4_bin DEFAULT 'd', n DECIMAL(5,2), ts TIMESTAMP(3) NULL ON UPDATE CURRENT_TIMESTAMP(3), PRIMARY KEY (id), UNIQUE KEY u (v(3) DESC, n)) ENGINE=InnoDB AUTO_INCREMENT=5 /*!40100 DEFAULT CHARSET=utf8mb4 */",
    "ALTER TABLE t ADD INDEX q (s(2), a), DROP INDEX q2",
    "EXPLAIN SELECT * FROM t WHERE a=1 ORDER BY id",
    "CREATE UNIQUE INDEX uu ON t (s)",
    "WITH RECURSIVE r (n, m) AS (SELECT 1, 'x' UNION ALL SELECT n+1, m FROM r WHERE n < 5), q AS (SELECT a FROM t) SELECT r.n, q.a FROM r JOIN q ON q.a = r.n ORDER BY 1 LIMIT 3",
    "(SELECT a, b FROM t WHERE a IN (SELECT b FROM t x WHERE x.id = t.id) LIMIT 2) UNION ALL ((SELECT 1, 2) EXCEPT (SELECT 3, 4)) INTERSECT SELECT 5, 6 ORDER BY 1",
    "SELECT (SELECT MAX(b) FROM t y WHERE y.a = t.a) m, EXISTS (SELECT 1 FROM t z WHERE z.id > t.id) FROM t LEFT JOIN (SELECT id FROM t) d USING (id) WHERE (a, b) > ANY (SELECT 1, 2) OR (a, b) = (SELECT 1, 2) HAVING m > 1",
    "SELECT a, b, SUM(id) FROM t WHERE NOT EXISTS (SELECT 1 FROM t u WHERE u.a = t.b) GROUP BY a, b WITH ROLLUP HAVING a IS NULL LIMIT 4",
    "UPDATE t SET a = (SELECT COUNT(*) FROM t x WHERE x.id < t.id), s = (SELECT 'q') WHERE id IN (VALUES (1), (2)) ORDER BY id LIMIT 1",
    "EXPLAIN FORMAT=JSON SELECT t.id FROM t JOIN t u ON u.id = t.a NATURAL LEFT JOIN t v WHERE t.b = 1",
];

fn damage(s: &str, edits: &[(u16, u8, u8)]) -> String {
    let mut c: Vec<char> = s.chars().collect();
    for (at, kind, what) in edits {
        let at = usize::from(*at) % (c.len() + 1);
        match kind % 4 {
            0 => {
                let end = (at + usize::from(*what % 9)).min(c.len());
                c.drain(at..end);
            }
            1 => {
                let bit = BITS[usize::from(*what) % BITS.len()];
                c.splice(at..at, bit.chars());
            }
            2 => {
                let end = (at + usize::from(*what % 30)).min(c.len());
                let copy: Vec<char> = c[at..end].to_vec();
                c.splice(at..at, copy);
            }
            _ => {
                if at < c.len() {
                    c[at] = char::from(what % 128);
                }
            }
        }
    }
    c.into_iter().collect()
}

#[test]
fn damaged_statements() {
    let mut c = Conn::new();
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT UNSIGNED NOT NULL DEFAULT 0, s VARCHAR(20), d DATETIME(3), KEY k (a, s), KEY (s(3)), UNIQUE KEY (d))");
    c.ok("INSERT INTO t VALUES (1, 1, 1, 'abc', '2020-01-02'), (2, NULL, 18446744073709551615, NULL, NULL), (3, -5, 3, '', '1999-12-31 23:59:59.999')");
    let config = ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let conn = std::cell::RefCell::new(c);
    let worked = std::cell::Cell::new(0);
    let strategy = (
        0..SEEDS.len(),
        proptest::collection::vec((any::<u16>(), any::<u8>(), any::<u8>()), 0..5),
    );
    runner
        .run(&strategy, |(seed, edits)| {
            let sql = damage(SEEDS[seed], &edits);
            for part in narwal_syntax::split_statements(&sql, SqlMode::DEFAULT) {
                let mut c = conn.borrow_mut();
                c.begin();
                let dropped = part.to_ascii_uppercase().contains("DROP");
                if !dropped && c.run(part, &[]).is_ok() {
                    worked.set(worked.get() + 1);
                }
                if c.txn.is_some() {
                    c.rollback();
                }
            }
            Ok(())
        })
        .unwrap();
    // The damage is mild enough to get behind the parser.
    assert!(worked.get() > 1000, "{} statements ran", worked.get());
}
