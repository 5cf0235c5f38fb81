//! The statements that OLTP loads are made of, over one table of 100,000 rows in a temporary folder, one thread,
//! without syncs: what a statement costs above the engine. Run: `cargo bench -p narwal-sql`.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_engine::{Database, Options, TxnOptions};
use narwal_sql::*;
use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlResult, Value, ValueRef};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Count(u64);

impl ResultSink for Count {
    fn begin_rows(&mut self, c: &[ResultColumn]) -> SqlResult<()> {
        black_box(c);
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        black_box(values);
        self.0 += 1;
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

const ROWS: i64 = 100_000;

struct Bench {
    db: Database,
    env: StatementEnv,
    seed: u64,
}

impl Bench {
    fn rand(&mut self) -> i64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.seed >> 33) as i64 % (ROWS - 200) + 1
    }

    fn prepare(&self, sql: &str) -> Prepared {
        let stmt = parse_statement(sql, &ParseOptions::default()).unwrap();
        Prepared::new(&stmt, sql, &self.db, &self.db.catalog(), &self.env, None).unwrap()
    }

    fn execute(&mut self, p: &Prepared, params: &[Value]) {
        let mut txn = self.db.begin(TxnOptions::default());
        txn.begin_statement(1_700_000_000, None);
        let mut sink = Count(0);
        black_box(execute(p, params, &mut txn, &self.db, &mut self.env, &mut sink).unwrap());
        txn.end_statement();
        txn.commit().unwrap();
    }

    fn time(&mut self, name: &str, mut f: impl FnMut(&mut Self)) {
        for _ in 0..200 {
            f(self);
        }
        let start = Instant::now();
        let mut n = 0u32;
        while start.elapsed() < Duration::from_millis(700) {
            for _ in 0..100 {
                f(self);
            }
            n += 100;
        }
        let each = start.elapsed() / n;
        println!("{name:<42} {:>9.2} us", each.as_nanos() as f64 / 1000.0);
    }
}

fn ddl(b: &Bench, sql: &str) {
    let Stmt::Ddl(d) = parse_statement(sql, &ParseOptions::default()).unwrap() else {
        panic!("{sql}")
    };
    execute_ddl(&d, sql, &b.db, &TxnOptions::default(), &b.env).unwrap();
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        flush_log_at_trx_commit: 0,
        ..Options::default()
    };
    let mut b = Bench {
        db: Database::open_with(dir.path(), options).unwrap(),
        env: StatementEnv::new(Arc::new(NoVariables)),
        seed: 42,
    };
    b.env.db = Some("test".into());
    ddl(&b, "CREATE DATABASE test");
    ddl(
        &b,
        "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, k INT DEFAULT 0 NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))",
    );
    let text = |n: i64, groups: usize| {
        (0..groups)
            .map(|g| format!("{:011}", (n * 7919 + g as i64 * 104_729) % 99_999_999_999))
            .collect::<Vec<_>>()
            .join("-")
    };
    for chunk in 0..ROWS / 1000 {
        let rows: Vec<String> = (1..=1000)
            .map(|i| {
                let n = chunk * 1000 + i;
                format!("({}, '{}', '{}')", n % ROWS, text(n, 10), text(n, 5))
            })
            .collect();
        let p = b.prepare(&format!(
            "INSERT INTO t (k, c, pad) VALUES {}",
            rows.join(",")
        ));
        b.execute(&p, &[]);
    }
    ddl(&b, "CREATE INDEX k_1 ON t (k)");
    b.db.checkpoint().unwrap();

    let p = b.prepare("SELECT c FROM t WHERE id=?");
    b.time("point select", |b| {
        let id = b.rand();
        b.execute(&p, &[Value::Int(id)]);
    });
    b.time("begin and commit only", |b| {
        let txn = b.db.begin(TxnOptions::default());
        txn.commit().unwrap();
    });
    b.time("parse and plan: point select", |b| {
        black_box(b.prepare("SELECT c FROM t WHERE id=4711"));
    });
    b.time("point select as text", |b| {
        let id = b.rand();
        let p = b.prepare(&format!("SELECT c FROM t WHERE id={id}"));
        b.execute(&p, &[]);
    });
    for (name, sql) in [
        ("range of 100", "SELECT c FROM t WHERE id BETWEEN ? AND ?"),
        (
            "range of 100, SUM",
            "SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?",
        ),
        (
            "range of 100, ORDER BY",
            "SELECT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c",
        ),
        (
            "range of 100, DISTINCT",
            "SELECT DISTINCT c FROM t WHERE id BETWEEN ? AND ? ORDER BY c",
        ),
        (
            "range of 100, index only",
            "SELECT COUNT(k) FROM t WHERE k BETWEEN ? AND ?",
        ),
    ] {
        let p = b.prepare(sql);
        b.time(name, |b| {
            let id = b.rand();
            b.execute(&p, &[Value::Int(id), Value::Int(id + 99)]);
        });
    }
    let p = b.prepare("UPDATE t SET k=k+1 WHERE id=?");
    b.time("update, index", |b| {
        let id = b.rand();
        b.execute(&p, &[Value::Int(id)]);
    });
    let p = b.prepare("UPDATE t SET c=? WHERE id=?");
    let mut n = 0;
    b.time("update, no index", |b| {
        let id = b.rand();
        n += 1;
        let c = text(n, 10);
        b.execute(&p, &[Value::str(c), Value::Int(id)]);
    });
    let d = b.prepare("DELETE FROM t WHERE id=?");
    let i = b.prepare("INSERT INTO t (id, k, c, pad) VALUES (?, ?, ?, ?)");
    b.time("delete and insert", |b| {
        let id = b.rand();
        b.execute(&d, &[Value::Int(id)]);
        b.execute(
            &i,
            &[
                Value::Int(id),
                Value::Int(id),
                Value::str(text(id, 10)),
                Value::str(text(id, 5)),
            ],
        );
    });
}
