//! A server in a temporary folder and sessions whose results are kept in memory.
#![allow(dead_code)]

use narwal_engine::Database;
use narwal_session::{ClientSession, ConnectOptions, Instance, Startup};
use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, ValueRef};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One result of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub ok: Option<OkInfo>,
    pub warnings: u16,
    pub status: u16,
    pub more: bool,
}

/// Keeps all results of a query.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<Answer>);

fn text(v: &ValueRef<'_>) -> String {
    match v {
        ValueRef::Null => "NULL".into(),
        ValueRef::Int(i) => i.to_string(),
        ValueRef::UInt(u) => u.to_string(),
        ValueRef::Double(d) => d.to_string(),
        ValueRef::Decimal(d) => d.to_string(),
        ValueRef::Str(s) | ValueRef::Bytes(s) => String::from_utf8_lossy(s).into_owned(),
        other => format!("{other:?}"),
    }
}

impl ResultSink for Memory {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.0.push(Answer {
            columns: columns.iter().map(|c| c.name.clone()).collect(),
            ..Answer::default()
        });
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let a = self.0.last_mut().unwrap();
        assert_eq!(a.columns.len(), values.len());
        a.rows.push(values.iter().map(text).collect());
        Ok(())
    }
    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()> {
        let a = self.0.last_mut().unwrap();
        (a.warnings, a.status, a.more) = (warnings, status, more);
        Ok(())
    }
    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()> {
        self.0.push(Answer {
            ok: Some(info.clone()),
            warnings: info.warnings,
            status,
            more,
            ..Answer::default()
        });
        Ok(())
    }
}

pub struct Server {
    pub instance: Arc<Instance>,
    ids: AtomicU32,
    pub dir: tempfile::TempDir,
}

impl Server {
    pub fn start() -> Server {
        let dir = tempfile::tempdir().unwrap();
        Server::start_in(dir)
    }

    pub fn start_in(dir: tempfile::TempDir) -> Server {
        let mut startup = Startup::new();
        startup.set("innodb_log_file_size", Some("2M")).unwrap();
        let db = Database::open_with(dir.path(), startup.engine_options()).unwrap();
        Server {
            instance: Instance::new(db, startup),
            ids: AtomicU32::new(0),
            dir,
        }
    }

    pub fn restart(self) -> Server {
        let Server { instance, dir, .. } = self;
        instance.database().close().unwrap();
        drop(instance);
        Server::start_in(dir)
    }

    pub fn root(&self) -> Conn {
        let id = self.ids.fetch_add(1, Ordering::SeqCst) + 1;
        Conn(self.instance.connect(ConnectOptions::local(id)).unwrap())
    }

    pub fn user(&self, user: &str) -> Result<Conn, SqlError> {
        let id = self.ids.fetch_add(1, Ordering::SeqCst) + 1;
        let account = self.instance.account(user, "localhost", None).unwrap();
        let o = ConnectOptions {
            user: user.into(),
            account_user: account.user.clone(),
            account_host: account.host.clone(),
            ..ConnectOptions::local(id)
        };
        self.instance.connect(o).map(Conn)
    }
}

pub struct Conn(pub ClientSession);

impl Conn {
    pub fn all(&mut self, sql: &str) -> Result<Vec<Answer>, SqlError> {
        let mut m = Memory::default();
        self.0.query(sql.as_bytes(), &mut m)?;
        Ok(m.0)
    }

    /// Runs a statement that must succeed, and returns its last result.
    pub fn run(&mut self, sql: &str) -> Answer {
        match self.all(sql) {
            Ok(mut a) => a.pop().unwrap(),
            Err(e) => panic!("{sql}: {e}"),
        }
    }

    /// Rows as text: columns joined by `|`.
    pub fn rows(&mut self, sql: &str) -> Vec<String> {
        self.run(sql).rows.iter().map(|r| r.join("|")).collect()
    }

    /// The only value.
    pub fn one(&mut self, sql: &str) -> String {
        let a = self.run(sql);
        assert_eq!((a.rows.len(), a.columns.len()), (1, 1), "{sql}: {a:?}");
        a.rows[0][0].clone()
    }

    pub fn err(&mut self, sql: &str) -> SqlError {
        match self.all(sql) {
            Err(e) => e,
            Ok(a) => panic!("{sql} gave {a:?}"),
        }
    }

    /// The error's code and SQLSTATE.
    pub fn code(&mut self, sql: &str) -> (u16, String) {
        let e = self.err(sql);
        (e.code, e.sqlstate_str().to_string())
    }
}
