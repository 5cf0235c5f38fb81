//! Runs SQL against a database in a temporary folder and gives results as text.
#![allow(dead_code)]

use narwal_engine::{Database, Isolation, Transaction, TxnOptions};
use narwal_sql::*;
use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;
use std::time::Duration;

/// Collects rows as text.
#[derive(Default)]
pub struct Sink {
    pub columns: Vec<ResultColumn>,
    pub rows: Vec<Vec<String>>,
}

impl ResultSink for Sink {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows.push(
            values
                .iter()
                .map(|v| {
                    if v.is_null() {
                        "NULL".to_string()
                    } else {
                        v.to_text()
                    }
                })
                .collect(),
        );
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

/// A result: rows as text, or affected rows, insert id and info.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out {
    Rows(Vec<Vec<String>>),
    Done(u64, u64, String),
}

/// A connection: autocommit unless `begin` was called.
pub struct Conn {
    pub db: Database,
    pub env: StatementEnv,
    pub txn: Option<Transaction>,
    pub isolation: Isolation,
    pub columns: Vec<ResultColumn>,
    dir: Option<Arc<tempfile::TempDir>>,
}

impl Conn {
    pub fn new() -> Conn {
        let dir = tempfile::tempdir().unwrap();
        let db = Database::open(dir.path()).unwrap();
        let mut c = Conn {
            db,
            env: StatementEnv::new(Arc::new(NoVariables)),
            txn: None,
            isolation: Isolation::RepeatableRead,
            columns: Vec::new(),
            dir: Some(Arc::new(dir)),
        };
        c.env.now_micros = 1_700_000_000_123_456;
        c.ok("CREATE DATABASE test");
        c.env.db = Some("test".into());
        c
    }

    /// Another connection to the same database.
    pub fn other(&self) -> Conn {
        let mut env = StatementEnv::new(Arc::new(NoVariables));
        env.db = self.env.db.clone();
        env.now_micros = self.env.now_micros;
        Conn {
            db: self.db.clone(),
            env,
            txn: None,
            isolation: self.isolation,
            columns: Vec::new(),
            dir: self.dir.clone(),
        }
    }

    fn options(&self) -> TxnOptions {
        TxnOptions {
            isolation: self.isolation,
            lock_wait_timeout: Some(Duration::from_millis(300)),
            ..TxnOptions::default()
        }
    }

    pub fn begin(&mut self) {
        self.txn = Some(self.db.begin(self.options()));
    }

    pub fn commit(&mut self) {
        self.txn.take().unwrap().commit().unwrap();
    }

    pub fn rollback(&mut self) {
        self.txn.take().unwrap().rollback();
    }

    pub fn run(&mut self, sql: &str, params: &[Value]) -> Result<Out, SqlError> {
        self.env.clear_conditions();
        let stmt = parse_statement(
            sql,
            &ParseOptions {
                sql_mode: self.env.sql_mode,
                ..ParseOptions::default()
            },
        )?;
        if let Stmt::Ddl(d) = &stmt {
            ddl_needs(d, &self.env)?;
            return match execute_ddl(d, sql, &self.db, &self.options(), &self.env)? {
                Outcome::Done { affected, info, .. } => Ok(Out::Done(affected, 0, info)),
                Outcome::Rows { .. } | Outcome::Returned { .. } => unreachable!(),
            };
        }
        let catalog = self.db.catalog();
        let p = Prepared::new(&stmt, sql, &self.db, &catalog, &self.env, None)?;
        self.execute(&p, params)
    }

    pub fn prepare(&mut self, sql: &str) -> Prepared {
        let stmt = parse_statement(sql, &ParseOptions::default()).unwrap();
        Prepared::new(&stmt, sql, &self.db, &self.db.catalog(), &self.env, None).unwrap()
    }

    pub fn execute(&mut self, p: &Prepared, params: &[Value]) -> Result<Out, SqlError> {
        let auto = self.txn.is_none();
        let mut txn = match self.txn.take() {
            Some(t) => t,
            None => self.db.begin(self.options()),
        };
        let mut sink = Sink::default();
        txn.begin_statement(self.env.timestamp(), None);
        let r = execute(p, params, &mut txn, &self.db, &mut self.env, &mut sink);
        match &r {
            Ok(_) => txn.end_statement(),
            Err(_) => txn.rollback_statement(),
        }
        if auto {
            if r.is_ok() {
                txn.commit()?;
            } else {
                txn.rollback();
            }
        } else {
            self.txn = Some(txn);
        }
        let out = match r? {
            Outcome::Rows { found_rows, .. } => {
                self.env.found_rows = found_rows;
                Out::Rows(sink.rows)
            }
            Outcome::Returned { rows, .. } => {
                rows.send(&mut sink)?;
                Out::Rows(sink.rows)
            }
            Outcome::Done {
                affected,
                last_insert_id,
                info,
            } => {
                if last_insert_id != 0 {
                    self.env.last_insert_id = last_insert_id;
                }
                Out::Done(affected, last_insert_id, info)
            }
        };
        self.columns = sink.columns;
        Ok(out)
    }

    /// Runs a statement that must succeed.
    pub fn ok(&mut self, sql: &str) -> Out {
        self.run(sql, &[]).unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Affected rows.
    pub fn affected(&mut self, sql: &str) -> u64 {
        match self.ok(sql) {
            Out::Done(n, ..) => n,
            o => panic!("{sql}: {o:?}"),
        }
    }

    /// Rows, columns joined by `|`, rows by a space.
    pub fn rows(&mut self, sql: &str) -> String {
        match self.ok(sql) {
            Out::Rows(r) => r.iter().map(|r| r.join("|")).collect::<Vec<_>>().join(" "),
            o => panic!("{sql}: {o:?}"),
        }
    }

    /// Error number and text.
    pub fn err(&mut self, sql: &str) -> (u16, String) {
        match self.run(sql, &[]) {
            Err(e) => (e.code, e.message.to_string()),
            Ok(o) => panic!("{sql}: {o:?}"),
        }
    }

    /// Conditions of the last statement.
    pub fn warnings(&self) -> Vec<(u16, String)> {
        self.env
            .conditions()
            .iter()
            .map(|c| (c.code, c.message.to_string()))
            .collect()
    }

    /// The access path: type, key, Extra.
    pub fn explain(&mut self, sql: &str) -> String {
        match self.ok(&format!("EXPLAIN {sql}")) {
            Out::Rows(r) => format!("{} {} {}", r[0][3], r[0][5], r[0][9])
                .trim()
                .to_string(),
            o => panic!("{o:?}"),
        }
    }
}
