//! A session inside this process, for commands that open a data folder and speak SQL to it.

use crate::Failure;
use narwal_session::ClientSession;
use narwal_types::{Discard, OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, ValueRef};

/// A session with all privileges, whatever the accounts are.
pub struct Local(ClientSession);

/// A row's values as text; `None` is NULL.
pub type TextRow = Vec<Option<String>>;

impl Local {
    /// Takes a session.
    pub fn new(session: ClientSession) -> Self {
        Local(session)
    }

    /// Runs one statement. Gives its rows.
    pub fn run(&mut self, sql: &str) -> SqlResult<Vec<TextRow>> {
        let mut rows = Gather(Vec::new());
        self.0.query(sql.as_bytes(), &mut rows)?;
        Ok(rows.0)
    }

    /// Runs statements up to one that fails. Their rows are read and forgotten.
    pub fn run_all(&mut self, statements: &[u8]) -> SqlResult<()> {
        self.0.query(statements, &mut Discard)
    }

    /// As [`Local::run`]; the failure names the statement's first word.
    pub fn query(&mut self, sql: &str) -> Result<Vec<TextRow>, Failure> {
        self.run(sql).map_err(|e| {
            let words: Vec<&str> = sql.split_whitespace().take(3).collect();
            Failure::run(words.join(" "), text(&e))
        })
    }

    /// The first value of a statement's result; empty if there is none, or NULL.
    pub fn value(&mut self, sql: &str) -> Result<String, Failure> {
        let rows = self.query(sql)?;
        let value = rows.into_iter().next().and_then(|r| r.into_iter().next());
        Ok(value.flatten().unwrap_or_default())
    }

    /// Prepares a statement without result.
    pub fn prepare(&mut self, sql: &str) -> SqlResult<u32> {
        self.0.prepare(sql.as_bytes()).map(|p| p.handle)
    }

    /// Executes it.
    pub fn execute(&mut self, handle: u32, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0.execute(handle, values, &[], &mut Gather(Vec::new()))
    }

    /// Forgets it.
    pub fn close_statement(&mut self, handle: u32) {
        self.0.close_statement(handle);
    }
}

/// An error as clients show it.
pub fn text(e: &SqlError) -> String {
    format!("error {} ({})", e.code, e.message)
}

struct Gather(Vec<TextRow>);

impl ResultSink for Gather {
    fn begin_rows(&mut self, _columns: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let text = |v: &ValueRef<'_>| (!matches!(v, ValueRef::Null)).then(|| v.to_text());
        self.0.push(values.iter().map(text).collect());
        Ok(())
    }
    fn end_rows(&mut self, _warnings: u16, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _info: &OkInfo, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }
}
