//! Groups, DISTINCT, SELECTs put together and hash joins beyond their memory: the same results from temporary files.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{Conn, Out};
use narwal_testkit::allocation::{Watch, Watched};
use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, Ordering};

/// What the process holds now, and the most it held since it was last asked.
static NOW: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

struct Held;

impl Watch for Held {
    fn took(bytes: usize) {
        let now = NOW.fetch_add(bytes as i64, Ordering::Relaxed) + bytes as i64;
        MOST.fetch_max(now, Ordering::Relaxed);
    }
    fn gave(bytes: usize) {
        NOW.fetch_sub(bytes as i64, Ordering::Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Watched<Held> = Watched::new();

/// Temporary files since this was asked last.
fn files_made(env: &narwal_sql::StatementEnv) -> u64 {
    let files = env
        .status_counts
        .get(narwal_sql::StatusCount::CreatedTmpFiles);
    env.status_counts.reset();
    files
}

/// Only one test at a time: they look at the memory of the process.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

fn large(c: &mut Conn) {
    c.env.table_memory = 64 << 20;
    c.env.join_memory = 256 << 10;
    c.env.sort_memory = 2 << 20;
}

fn tiny(c: &mut Conn) {
    c.env.table_memory = 2048;
    c.env.join_memory = 128;
    c.env.sort_memory = 1024;
}

/// Two tables of different values of all kinds of types.
fn sample() -> Conn {
    let mut c = Conn::new();
    for (t, rows) in [("a", 1500u64), ("b", 900)] {
        c.ok(&format!(
            "CREATE TABLE {t} (id INT PRIMARY KEY, few INT, many INT, ci VARCHAR(20) COLLATE utf8mb4_general_ci,
             bin VARBINARY(20), l CHAR(5) CHARACTER SET latin1, d DOUBLE, n DECIMAL(12,3), e ENUM('x','y','z'), b BIT(9),
             dt DATETIME(3), u UUID, tx VARCHAR(20), KEY tx (tx), KEY few (few), KEY many (many))"
        ));
        let mut x = 12345u64 + rows;
        let mut next = |n: u64| {
            x = x
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        let mut all = Vec::new();
        for id in 0..rows {
            let mut null = |v: String| if next(9) == 0 { "NULL".to_string() } else { v };
            let row = [
                id.to_string(),
                null((id * 7 % 5).to_string()),
                null((id * 7919 % 613).to_string()),
                null(format!(
                    "'{}{}'",
                    ["ab", "AB", "äb", "Ab ", "c"][(id % 5) as usize],
                    id * 31 % 40
                )),
                null(format!("'{}'", ["q", "Q", "q\\0", ""][(id % 4) as usize])),
                null(format!("'{}'", ["é", "E", "e", "zz"][(id % 4) as usize])),
                null(format!("{}", (id as f64).sin() * 100.0)),
                null(format!("{}.{:03}", id % 23, id % 3 * 500)),
                null(format!("'{}'", ["x", "y", "z"][(id % 3) as usize])),
                null((id % 300).to_string()),
                null(format!(
                    "'2024-01-{:02} 01:02:{:02}.5'",
                    id % 28 + 1,
                    id % 3
                )),
                null(format!(
                    "'123e4567-e89b-12d3-a456-4266141740{:02}'",
                    id % 50
                )),
                null(format!(
                    "'{}{}'",
                    ["t", "T"][(id % 2) as usize],
                    id * 31 % 300
                )),
            ];
            all.push(format!("({})", row.join(",")));
        }
        for rows in all.chunks(300) {
            c.ok(&format!("INSERT INTO {t} VALUES {}", rows.join(",")));
        }
    }
    c
}

fn rows(c: &mut Conn, sql: &str) -> Vec<Vec<String>> {
    match c.run(sql, &[]) {
        Ok(Out::Rows(r)) => r,
        other => panic!("{sql}: {other:?}"),
    }
}

/// The rows, or the error's number: some functions do not take some types.
fn result(c: &mut Conn, sql: &str) -> Result<Vec<Vec<String>>, u16> {
    match c.run(sql, &[]) {
        Ok(Out::Rows(r)) => Ok(r),
        Ok(other) => panic!("{sql}: {other:?}"),
        Err(e) => Err(e.code),
    }
}

/// Runs it with much memory and with little; the second time temporary files must have been made.
fn same(c: &mut Conn, sql: &str, ordered: bool) {
    large(c);
    let mut want = rows(c, sql);
    assert_eq!(files_made(&c.env), 0, "{sql}");
    tiny(c);
    let mut got = rows(c, sql);
    assert!(files_made(&c.env) > 0, "{sql}");
    if !ordered {
        want.sort();
        got.sort();
    }
    assert!(
        want == got,
        "{sql}\n{} rows, {} expected",
        got.len(),
        want.len()
    );
    assert!(!want.is_empty(), "{sql}");
}

#[test]
fn groups_and_sets_that_spill_are_the_same_in_the_same_order() {
    let _alone = alone();
    let mut c = sample();
    for sql in [
        "SELECT many, COUNT(*), SUM(n), AVG(d), MIN(ci), MAX(dt) FROM a GROUP BY many",
        "SELECT many + 1, COUNT(*) c FROM a GROUP BY many + 1 ORDER BY c DESC, 1",
        "SELECT many, few, SUM(d) FROM a GROUP BY many, few HAVING COUNT(*) > 1 ORDER BY 3 LIMIT 20",
        "SELECT SQL_CALC_FOUND_ROWS many, COUNT(*) FROM a IGNORE INDEX (many) GROUP BY many LIMIT 3",
        "SELECT ci, l, COUNT(*) FROM a GROUP BY ci, l LIMIT 100",
        "SELECT ci, GROUP_CONCAT(id), GROUP_CONCAT(DISTINCT l), GROUP_CONCAT(DISTINCT few ORDER BY few DESC SEPARATOR '-')
         FROM a GROUP BY ci",
        "SELECT few, COUNT(DISTINCT ci), COUNT(DISTINCT many, l), SUM(DISTINCT many), AVG(DISTINCT d), COUNT(*)
         FROM a GROUP BY few",
        "SELECT COUNT(DISTINCT id), COUNT(DISTINCT ci), SUM(DISTINCT n), GROUP_CONCAT(DISTINCT ci ORDER BY id DESC LIMIT 9),
         GROUP_CONCAT(id ORDER BY d), STD(d), MAX(DISTINCT d) FROM a",
        "SELECT JSON_ARRAYAGG(many), JSON_OBJECTAGG(id, ci), COUNT(n) FROM a",
        "SELECT few, many, e, COUNT(*), SUM(d), MAX(u) FROM a GROUP BY few, many, e WITH ROLLUP",
        "SELECT few, e, COUNT(DISTINCT many), GROUP_CONCAT(id ORDER BY id) FROM a GROUP BY few DESC, e WITH ROLLUP",
        "SELECT DISTINCT many, few FROM a",
        "SELECT DISTINCT ci, l, d FROM a LIMIT 30, 700",
        "SELECT DISTINCT e, b, dt, u, n, bin, l, d FROM a",
        "SELECT SQL_CALC_FOUND_ROWS DISTINCT many FROM a IGNORE INDEX (many) LIMIT 5",
        "SELECT DISTINCT COUNT(*), many % 50 FROM a GROUP BY many",
        "SELECT many, MIN(id), MAX(d) FROM a FORCE INDEX (many) GROUP BY many",
        "SELECT many, COUNT(DISTINCT ci), MAX(e) FROM a FORCE INDEX (many) GROUP BY many",
        "SELECT many, MAX(id) FROM a GROUP BY many ORDER BY 2 DESC",
        "SELECT tx, COUNT(*) FROM a GROUP BY tx",
        "SELECT tx, COUNT(DISTINCT id) FROM a GROUP BY tx LIMIT 9, 150",
        "SELECT DISTINCT tx FROM a",
        "SELECT many, ci FROM a UNION SELECT many, ci FROM b",
        "SELECT many, e FROM a UNION SELECT many, e FROM b UNION ALL SELECT few, e FROM b",
        "SELECT many FROM a INTERSECT SELECT many FROM b",
        "SELECT ci, l FROM a INTERSECT ALL SELECT ci, l FROM b",
        "SELECT ci, many FROM a EXCEPT SELECT ci, many FROM b",
        "SELECT many FROM a EXCEPT ALL SELECT many FROM b",
        "SELECT many FROM a UNION SELECT id FROM b EXCEPT SELECT many FROM b",
        "SELECT many FROM a UNION ALL SELECT id FROM b INTERSECT SELECT many FROM b",
        "WITH RECURSIVE r AS (SELECT 1 n UNION SELECT (n * 17 + 3) % 701 FROM r) SELECT n FROM r",
        "WITH RECURSIVE r AS (SELECT id % 40 n FROM a UNION SELECT (n * 3 + 1) % 977 FROM r) SELECT COUNT(*), SUM(n) FROM r",
        "WITH RECURSIVE r AS (SELECT id, 0 s FROM a UNION ALL SELECT id, s + 1 FROM r WHERE s < 3) SELECT COUNT(*), SUM(id) FROM r",
        "SELECT x.many, (SELECT COUNT(*) FROM b WHERE b.many = x.many) FROM (SELECT DISTINCT many FROM a) x",
    ] {
        same(&mut c, sql, true);
    }
}

#[test]
fn joins_that_spill_are_the_same() {
    let _alone = alone();
    let mut c = sample();
    for sql in [
        "SELECT a.id, b.id FROM a JOIN b ON a.ci = b.ci",
        "SELECT a.id, b.id FROM a LEFT JOIN b ON a.ci = b.ci AND b.d > a.d",
        "SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON a.ci = b.ci AND a.few > 2 LEFT JOIN b c ON c.l = b.l AND c.id < 30",
        "SELECT COUNT(*), SUM(b.id) FROM a JOIN b IGNORE INDEX (few) ON a.few = b.few",
        "SELECT COUNT(*), SUM(b.id) FROM a JOIN b IGNORE INDEX (few) ON a.few = b.few AND a.e = b.e JOIN a c IGNORE INDEX (many) ON c.ci = a.ci",
        "SELECT a.id, b.id FROM a JOIN b ON a.d > b.d WHERE a.id < 40",
        "SELECT a.id, x.id, x.cid FROM a LEFT JOIN (SELECT b.id, c.id cid, c.ci FROM b JOIN a c ON c.n = b.n) x ON x.ci = a.ci WHERE a.id < 200",
        "SELECT a.id, b.id, c.id FROM a LEFT JOIN (b JOIN a c ON c.n = b.n AND c.l = b.l) ON b.ci = a.ci WHERE a.id < 200",
        "SELECT COUNT(*) FROM a JOIN b ON a.u = b.u WHERE a.few IS NULL",
        "SELECT a.id, b.id FROM a RIGHT JOIN b ON a.bin = b.bin AND a.b = b.b",
        "SELECT a.id, b.id FROM a JOIN b ON a.ci = b.ci FOR UPDATE",
        "SELECT MIN(a.id), COUNT(*), COUNT(DISTINCT b.id) FROM a JOIN b ON a.ci = b.ci GROUP BY a.ci",
    ] {
        same(&mut c, sql, false);
    }
    // The rows that LIMIT takes are not determined, only their number.
    tiny(&mut c);
    assert_eq!(
        rows(&mut c, "SELECT a.id FROM a JOIN b ON a.ci = b.ci LIMIT 7").len(),
        7
    );
}

/// A random query of groups or a join.
fn query() -> impl Strategy<Value = (String, bool)> {
    let columns = [
        "few", "many", "ci", "bin", "l", "d", "n", "e", "b", "dt", "u",
    ];
    let column = prop::sample::select(columns.to_vec());
    let aggregate = (
        prop::sample::select(vec![
            "COUNT({})",
            "COUNT(DISTINCT {})",
            "SUM({})",
            "MIN({})",
            "MAX({})",
            "GROUP_CONCAT({})",
            "GROUP_CONCAT(DISTINCT {} ORDER BY {} DESC)",
            "SUM(DISTINCT {})",
            "BIT_XOR({})",
            "JSON_ARRAYAGG({})",
        ]),
        column.clone(),
    )
        .prop_map(|(f, c)| f.replace("{}", c));
    let keys = prop::collection::vec(column.clone(), 1..4);
    let grouped = (keys.clone(), prop::collection::vec(aggregate, 1..4), 0..4u8).prop_map(
        |(keys, aggregates, kind)| {
            let (k, a) = (keys.join(", "), aggregates.join(", "));
            let sql = match kind {
                0 => format!("SELECT {k}, {a} FROM a GROUP BY {k} WITH ROLLUP"),
                1 => format!("SELECT {a} FROM a GROUP BY {k} HAVING COUNT(*) > 2 ORDER BY 1, {k}"),
                2 => format!("SELECT DISTINCT {a} FROM a GROUP BY {k}"),
                _ => format!("SELECT {k}, {a} FROM a GROUP BY {k}"),
            };
            (sql, true)
        },
    );
    let sets = (
        keys.clone(),
        prop::sample::select(vec![
            "UNION",
            "INTERSECT",
            "EXCEPT",
            "INTERSECT ALL",
            "EXCEPT ALL",
        ]),
    )
        .prop_map(|(k, op)| {
            let k = k.join(", ");
            (format!("SELECT {k} FROM a {op} SELECT {k} FROM b"), true)
        });
    let joined = (
        keys,
        prop::sample::select(vec!["JOIN", "LEFT JOIN"]),
        prop::sample::select(vec!["JOIN", "LEFT JOIN"]),
        column,
    )
        .prop_map(|(k, one, two, c)| {
            let on: Vec<String> = k.iter().map(|c| format!("a.{c} = b.{c}")).collect();
            (
                format!(
                    "SELECT a.id, b.id, c.id FROM a {one} b IGNORE INDEX (few, many) ON {} AND b.id < 200 {two}
                     b c IGNORE INDEX (few, many) ON c.{c} = a.{c} AND c.id < 40 WHERE a.id < 300",
                    on.join(" AND ")
                ),
                false,
            )
        });
    prop_oneof![3 => grouped, 1 => sets, 2 => joined]
}

thread_local! {
    static SAMPLE: RefCell<Option<Conn>> = const { RefCell::new(None) };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_queries_give_the_same_with_little_memory((sql, ordered) in query(), memory in 512u64..40_000) {
        let _alone = alone();
        SAMPLE.with_borrow_mut(|c| {
            let c = c.get_or_insert_with(sample);
            large(c);
            let mut want = result(c, &sql);
            tiny(c);
            c.env.table_memory = memory;
            let mut got = result(c, &sql);
            if !ordered {
                let _ = want.as_mut().map(|r| r.sort());
                let _ = got.as_mut().map(|r| r.sort());
            }
            assert!(want == got, "{sql}\n{got:?}\nexpected:\n{want:?}");
        });
    }
}

/// A table of so many rows with different texts.
fn long_table(c: &mut Conn, rows: u64) {
    c.ok("CREATE TABLE big (id INT PRIMARY KEY, t VARCHAR(200))");
    for from in (0..rows).step_by(2000) {
        let all: Vec<String> = (from..from + 2000)
            .map(|i| format!("({i},'{:0>100}')", i * 7919 % rows))
            .collect();
        c.ok(&format!("INSERT INTO big VALUES {}", all.join(",")));
    }
}

#[test]
fn memory_stays_bounded_and_a_statement_can_be_killed() {
    let _alone = alone();
    let mut c = Conn::new();
    long_table(&mut c, 60_000);
    let queries = [
        "SELECT COUNT(*) FROM (SELECT t, COUNT(*) n, MAX(id) FROM big GROUP BY t) x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT t FROM big) x",
        "SELECT COUNT(DISTINCT t) FROM big",
        "SELECT COUNT(*) FROM (SELECT t FROM big UNION SELECT t FROM big) x",
        "SELECT COUNT(*) FROM (SELECT t FROM big INTERSECT SELECT t FROM big) x",
        "SELECT COUNT(*) FROM big a JOIN big b ON a.t = b.t",
        "SELECT LENGTH(GROUP_CONCAT(t ORDER BY t DESC)) > 1000 FROM big",
    ];
    c.env.table_memory = 256 << 10;
    c.env.sort_memory = 256 << 10;
    for sql in queries {
        // Once before, for what the store keeps.
        rows(&mut c, sql);
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        assert_ne!(rows(&mut c, sql)[0][0], "0", "{sql}");
        let more = MOST.load(Ordering::Relaxed) - before;
        // All rows would take more than 8 MB.
        assert!(more < 6 << 20, "{sql}: {more} bytes");
        assert!(files_made(&c.env) > 0, "{sql}");
    }
    for sql in queries {
        let interrupt = c.env.interrupt.clone();
        interrupt.store(false, Ordering::Relaxed);
        let timer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(3));
            interrupt.store(true, Ordering::Relaxed);
        });
        let error = c.run(sql, &[]).map(|_| ()).unwrap_err();
        timer.join().unwrap();
        assert_eq!(error.code, 1317, "{sql}");
    }
    c.env.interrupt.store(false, Ordering::Relaxed);
    c.env.tmp_dir = std::path::Path::new("/there/is/none").into();
    for sql in queries {
        let error = c.run(sql, &[]).map(|_| ()).unwrap_err();
        assert_eq!(error.code, 3, "{sql}: {error}");
    }
}

#[test]
fn rows_that_wait_and_sets_of_subqueries_spill() {
    let _alone = alone();
    let mut c = sample();
    for sql in [
        "SELECT * FROM a ORDER BY d DESC, id FOR UPDATE",
        "SELECT id, ci, l, n, e, b, dt, u FROM a WHERE few > 1 LOCK IN SHARE MODE",
        "SELECT id FROM a WHERE many IN (SELECT many FROM b WHERE id < 500)",
        "SELECT id FROM a WHERE ci IN (SELECT ci FROM b WHERE few < 2 UNION SELECT tx FROM b)",
        "SELECT id, many IN (SELECT many FROM b), many NOT IN (SELECT many FROM b WHERE many IS NOT NULL) FROM a",
        "SELECT id, tx NOT IN (SELECT tx FROM b WHERE tx IS NOT NULL AND id < 200) FROM a",
        "SELECT id, (many, ci) IN (SELECT many, ci FROM b), (few, e) NOT IN (SELECT few, e FROM b WHERE e < 'z') FROM a",
        "SELECT id, (many, few) IN (SELECT many, few FROM b WHERE few IS NOT NULL AND many IS NOT NULL) FROM a",
        "SELECT id, d IN (SELECT n FROM b), ci IN (SELECT id FROM b), n IN (SELECT many FROM b) FROM a WHERE id < 200",
        "SELECT id, d < ANY (SELECT n * 3 FROM b), d >= ALL (SELECT n FROM b WHERE n IS NOT NULL) FROM a WHERE id < 200",
        "SELECT id, d = ALL (SELECT n FROM b), d <> ANY (SELECT n FROM b) FROM a WHERE id < 200",
        "SELECT COUNT(*) FROM a WHERE id IN (SELECT id FROM b) AND many IN (SELECT many FROM b WHERE id + 0 <> a.id)",
    ] {
        same(&mut c, sql, true);
    }
    // Of these only the ends are kept.
    let ends = "SELECT id, many > ALL (SELECT many FROM b WHERE many IS NOT NULL), many > ALL (SELECT many FROM b),
        many <= ANY (SELECT many FROM b), ci < ALL (SELECT tx FROM b), n <> ANY (SELECT n FROM b), n = ALL (SELECT n FROM b),
        many > ANY (SELECT many FROM b WHERE many IS NULL), many < ANY (SELECT many FROM b WHERE id < 0) FROM a";
    tiny(&mut c);
    c.env.sort_memory = 64 << 20;
    let got = rows(&mut c, ends);
    assert_eq!(files_made(&c.env), 0);
    // By all their values, which are of another type.
    let each = ends
        .replace("(SELECT many", "(SELECT many + 0e0")
        .replace("(SELECT n ", "(SELECT n + 0e0 ");
    large(&mut c);
    assert!(got == rows(&mut c, &each));
    let alone = "SELECT (SELECT many FROM b WHERE id < 800)";
    assert_eq!(c.run(alone, &[]).unwrap_err().code, 1242);
}

#[test]
fn changes_whose_rows_spill_are_the_same() {
    let _alone = alone();
    let mut c = sample();
    for sql in [
        "UPDATE a FORCE INDEX (many) SET many = many + 1 WHERE many >= 0",
        "UPDATE a SET id = id + 5000 WHERE id < 1400",
        "UPDATE a SET many = (SELECT MAX(x.many) FROM a x WHERE x.few = a.few) WHERE few > 0",
        "UPDATE IGNORE a SET id = 7, few = (SELECT COUNT(*) FROM a x) WHERE id IN (3, 8, 2000) OR many > 10",
        "UPDATE a SET ci = 'x' ORDER BY d LIMIT 900",
        "DELETE FROM a WHERE many < (SELECT AVG(many) FROM a) ORDER BY d LIMIT 600",
        "DELETE FROM a WHERE many IN (SELECT many FROM b) RETURNING id, ci, dt, u, e",
        "DELETE FROM a RETURNING *",
        "INSERT INTO a SELECT id + 2000, few, many, ci, bin, l, d, n, e, b, dt, u, tx FROM a",
        "INSERT INTO a SELECT id + 2000, few, many, ci, bin, l, d, n, e, b, dt, u, tx FROM b ORDER BY d",
        "INSERT INTO a SELECT id, few, many, ci, bin, l, d, n, e, b, dt, u, tx FROM b ORDER BY d, id ON DUPLICATE KEY UPDATE
         ci = CONCAT(a.ci, VALUES(ci)), few = a.id",
        "REPLACE INTO a SELECT * FROM b ORDER BY d, id RETURNING id, few, tx, b",
        "UPDATE a JOIN b ON a.many = b.many SET a.ci = b.tx, a.few = b.id, a.dt = b.dt WHERE b.id > 3",
        "UPDATE a JOIN b ON a.ci = b.ci SET a.few = 9, b.l = 'z', b.many = a.many + 1",
        "DELETE a, b FROM a JOIN b ON a.ci = b.ci WHERE a.few < 4",
    ] {
        let mut results = Vec::new();
        for conflicts in [false, true] {
            for little in [false, true] {
                c.begin();
                if conflicts {
                    // A snapshot, in which the rows are looked for too.
                    rows(&mut c, "SELECT 1 FROM b LIMIT 1");
                }
                large(&mut c);
                if little {
                    tiny(&mut c);
                    // The sources of a join stay in memory, so that rows come in one order.
                    c.env.join_memory = 64 << 20;
                }
                let out = c.run(sql, &[]).unwrap();
                assert_eq!(files_made(&c.env) > 0, little, "{sql}");
                large(&mut c);
                let all = ["a", "b"].map(|t| rows(&mut c, &format!("SELECT * FROM {t} ORDER BY id")));
                results.push((out, all));
                c.rollback();
            }
        }
        assert!(results.iter().all(|r| *r == results[0]), "{sql}");
    }
}
