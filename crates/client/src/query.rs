//! Statements and their answers.

use crate::channel::server_error;
use crate::connection::{Connection, Done, done};
use crate::rows::{Column, ResultSet, Rows, columns};
use crate::{Error, Result};
use narwal_wire::codec::Cursor;
use narwal_wire::protocol::command;

/// How an answer begins.
enum Answer {
    Done(Done),
    Rows(Vec<Column>),
}

impl Connection {
    fn answer(&mut self) -> Result<Answer> {
        let payload = self.channel.read()?;
        let count = match payload.split_first() {
            Some((0x00, rest)) => return done(rest).map(Answer::Done),
            Some((0xFF, rest)) => return Err(server_error(rest)),
            Some((0xFB, _)) => return Err(Error::Protocol("it asks for a file of the client's")),
            _ => Cursor::new(payload).lenenc()?,
        };
        columns(&mut self.channel, count).map(Answer::Rows)
    }

    /// Runs a statement and gives its rows one by one; a statement without rows gives none.
    ///
    /// # Errors
    /// [`Error::Server`] if the statement failed, and all others.
    pub fn rows(&mut self, sql: &str) -> Result<Rows<'_>> {
        self.send(command::QUERY, |p| p.extend_from_slice(sql.as_bytes()))?;
        let answer = self.answer();
        match self.judged(answer)? {
            Answer::Done(done) => Ok(Rows::none(self, done)),
            Answer::Rows(columns) => Ok(Rows::some(self, columns)),
        }
    }

    /// Runs a statement and gathers its rows.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn query(&mut self, sql: &str) -> Result<ResultSet> {
        self.rows(sql)?.gather()
    }

    /// Runs a statement, of whose rows nothing is kept.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn execute(&mut self, sql: &str) -> Result<Done> {
        let mut rows = self.rows(sql)?;
        while rows.next()?.is_some() {}
        Ok(rows.done())
    }

    /// The value in the first column of the first row; `None` for NULL or no row.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn value(&mut self, sql: &str) -> Result<Option<String>> {
        Ok(self.query(sql)?.text(0, 0))
    }
}
