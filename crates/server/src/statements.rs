//! Prepared statements as the client knows them: COM_STMT_PREPARE's answer, COM_STMT_EXECUTE, COM_STMT_FETCH,
//! COM_STMT_BULK_EXECUTE.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Prepared Statements"; MariaDB knowledge base,
//! "COM_STMT_BULK_EXECUTE", "COM_STMT_FETCH".

use crate::backend::{PreparedInfo, Session, status};
use crate::codec::Cursor;
use crate::definition::{put_column, put_parameter};
use crate::params::{Statement, wrong_arguments};
use crate::result::WireSink;
use narwal_types::errors;
use narwal_types::{BulkValue, SqlError, SqlResult, ValueRef};
use smallvec::SmallVec;
use std::collections::HashMap;

/// MariaDB's name for "the statement prepared last", so that a client need not wait for its id.
const LAST_STATEMENT: u32 = u32::MAX;

/// Error 1243.
pub(crate) fn unknown(id: u32, command: &str) -> SqlError {
    errors::UNKNOWN_STMT_HANDLER.with([&id, &command])
}

/// Prepared statements by the ids that the client knows.
#[derive(Default)]
pub(crate) struct Statements {
    by_id: HashMap<u32, Statement, std::hash::BuildHasherDefault<IdHasher>>,
    /// The last id given out. Ids are not used twice, as long as there are new ones.
    last: u32,
    /// False if the last COM_STMT_PREPARE failed: "the last statement" then means none.
    last_valid: bool,
}

/// Statement ids are small distinct numbers; they need no mixing.
#[derive(Default)]
struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0 << 8 | u64::from(b);
        }
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = u64::from(n);
    }
}

impl Statements {
    fn add(&mut self, statement: Statement) -> u32 {
        loop {
            self.last = if self.last >= LAST_STATEMENT - 1 {
                1
            } else {
                self.last + 1
            };
            if !self.by_id.contains_key(&self.last) {
                break;
            }
        }
        self.last_valid = true;
        self.by_id.insert(self.last, statement);
        self.last
    }

    #[inline]
    pub(crate) fn get(&mut self, id: u32) -> Option<&mut Statement> {
        let id = self.resolve(id)?;
        self.by_id.get_mut(&id)
    }

    /// Takes a statement out.
    pub(crate) fn remove(&mut self, id: u32) -> Option<Statement> {
        let id = self.resolve(id)?;
        self.by_id.remove(&id)
    }

    /// COM_STMT_PREPARE begins: there is no last statement until it succeeds.
    pub(crate) fn forget_last(&mut self) {
        self.last_valid = false;
    }

    fn resolve(&self, id: u32) -> Option<u32> {
        match id {
            LAST_STATEMENT => self.last_valid.then_some(self.last),
            id => Some(id),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_id.clear();
        self.last_valid = false;
    }
}

/// Answers COM_STMT_PREPARE.
pub(crate) fn prepared(
    session: &dyn Session,
    statements: &mut Statements,
    info: &PreparedInfo,
    sink: &mut WireSink<'_>,
) {
    let mut statement = Statement::new(info.handle, info.params);
    statement.definitions = sink.state.definitions(&info.columns);
    statement.may_hold = info.cursor;
    statement.bulk = info.bulk;
    let id = statements.add(statement);
    let status = session.status_flags();
    let out = sink.writer.begin();
    out.push(0);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&(info.columns.len() as u16).to_le_bytes());
    out.extend_from_slice(&info.params.to_le_bytes());
    out.extend_from_slice(&[0; 3]);
    sink.writer.finish();
    if info.params > 0 {
        for _ in 0..info.params {
            put_parameter(sink.writer.begin(), sink.state.form);
            sink.writer.finish();
        }
        sink.definitions_end(0, status);
    }
    if !info.columns.is_empty() {
        for column in &info.columns {
            put_column(sink.writer.begin(), column, sink.state.form);
            sink.writer.finish();
        }
        sink.definitions_end(0, status);
    }
}

/// CURSOR_TYPE_READ_ONLY of COM_STMT_EXECUTE.
const READ_ONLY_CURSOR: u8 = 1;

/// COM_STMT_EXECUTE.
pub(crate) fn execute(
    session: &mut dyn Session,
    statements: &mut Statements,
    payload: &[u8],
    sink: &mut WireSink<'_>,
) -> SqlResult<()> {
    let mut c = Cursor::new(payload);
    let id = c.u32()?;
    let cursor = c.u8()?;
    let iterations = c.u32()?;
    let Some(s) = statements.get(id) else {
        return Err(unknown(id, "mysqld_stmt_execute"));
    };
    if iterations != 1 {
        return Err(wrong_arguments());
    }
    if cursor != 0 || s.rows.is_some() {
        s.rows = None;
        sink.holds = cursor & READ_ONLY_CURSOR != 0 && s.may_hold;
    }
    sink.definitions = s.definitions.take();
    let result = bind_and_execute(session, s, c.rest(), sink);
    s.definitions = sink.definitions.take();
    if sink.holds {
        s.rows = sink.opened.take();
    }
    if s.has_long_data() {
        s.reset();
    }
    result
}

fn bind_and_execute(
    session: &mut dyn Session,
    s: &mut Statement,
    body: &[u8],
    sink: &mut WireSink<'_>,
) -> SqlResult<()> {
    let (nulls, values) = s.bind(body)?;
    let mut params: SmallVec<[ValueRef<'_>; 8]> = SmallVec::new();
    s.values(nulls, values, &mut params)?;
    session.execute(s.handle, &params, s.types(), sink)
}

/// COM_STMT_FETCH: the next rows of an open cursor.
pub(crate) fn fetch(
    session: &dyn Session,
    statements: &mut Statements,
    payload: &[u8],
    sink: &mut WireSink<'_>,
) -> SqlResult<()> {
    let mut c = Cursor::new(payload);
    let id = c.u32()?;
    let Some(s) = statements.get(id) else {
        return Err(unknown(id, "mysqld_stmt_fetch"));
    };
    let Some(rows) = &mut s.rows else {
        let text = format!("The statement ({id}) has no open cursor");
        return Err(errors::STMT_HAS_NO_OPEN_CURSOR.text(text));
    };
    let mut left = c.u32()?;
    let mut ended = false;
    while left > 0 && !ended {
        ended = !sink.held_row(rows)?;
        left -= 1;
    }
    let state = if ended {
        s.rows = None;
        status::LAST_ROW_SENT
    } else {
        status::CURSOR_EXISTS
    };
    sink.eof(0, session.status_flags() | state);
    Ok(())
}

/// Flags of COM_STMT_BULK_EXECUTE: the types of the parameters are there.
const BULK_TYPES: u16 = 128;

fn wrong_bulk_arguments() -> SqlError {
    errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_bulk_execute"])
}

/// COM_STMT_BULK_EXECUTE: a statement for many sets of parameters.
pub(crate) fn bulk_execute(
    session: &mut dyn Session,
    statements: &mut Statements,
    payload: &[u8],
    sink: &mut WireSink<'_>,
) -> SqlResult<()> {
    let mut c = Cursor::new(payload);
    let id = c.u32()?;
    let flags = c.u16()?;
    let Some(s) = statements.get(id) else {
        return Err(unknown(id, "mysqld_stmt_execute"));
    };
    if s.params == 0 || !s.bulk || flags & !BULK_TYPES != 0 {
        return Err(errors::UNSUPPORTED_PS.plain());
    }
    s.rows = None;
    if flags & BULK_TYPES != 0 {
        s.bind_types(&mut c).map_err(|_| wrong_bulk_arguments())?;
    }
    if c.is_empty() || s.types().len() != usize::from(s.params) {
        return Err(wrong_bulk_arguments());
    }
    let mut values: Vec<BulkValue<'_>> = Vec::new();
    while !c.is_empty() {
        for i in 0..usize::from(s.params) {
            values.push(
                s.bulk_value(i, &mut c)
                    .map_err(|_| wrong_bulk_arguments())?,
            );
        }
    }
    session.execute_bulk(s.handle, &values, s.types(), sink)
}
