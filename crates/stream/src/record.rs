//! What a stream gives: typed records that borrow from the event they came in.

use crate::cell::Image;
use narwal_binlog::{BinlogError, ColumnMeta, Gtid, TableMap};

/// A table as the log tells it, at the time of the change.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// Columns; their names are empty if the log does not have them (`binlog_row_metadata` less than FULL).
    pub columns: Vec<ColumnMeta>,
    /// The primary key's columns; empty if there is none or the log does not tell.
    pub primary_key: Vec<usize>,
    /// Its changes are wanted.
    pub wanted: bool,
}

impl Table {
    pub(crate) fn new(map: &TableMap<'_>, wanted: bool) -> Result<Self, BinlogError> {
        let key = map.primary_key()?;
        Ok(Table {
            db: map.db.to_owned(),
            name: map.table.to_owned(),
            columns: map.columns()?,
            primary_key: key.into_iter().map(|(column, _)| column).collect(),
            wanted,
        })
    }

    /// Name of column `i`: what the log says, or `@1` and so on.
    #[must_use]
    pub fn column_name(&self, i: usize) -> std::borrow::Cow<'_, str> {
        match self.columns.get(i) {
            Some(c) if !c.name.is_empty() => c.name.as_str().into(),
            _ => format!("@{}", i + 1).into(),
        }
    }
}

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// It was inserted.
    Create,
    /// It was changed.
    Update,
    /// It was deleted.
    Delete,
    /// It was there when the stream began: a row of the snapshot.
    Read,
}

/// Whether a row is one of the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SnapshotMark {
    /// No.
    #[default]
    No,
    /// Yes.
    Row,
    /// Yes, and it is the last one.
    Last,
}

/// Where a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The transaction; `None` in a snapshot.
    pub gtid: Option<Gtid>,
    /// Server that committed it first; 0 in a snapshot.
    pub server_id: u32,
    /// Binary log file.
    pub file: &'a str,
    /// Where the change's event begins there; in a snapshot, where the stream goes on.
    pub pos: u64,
    /// The row's number in its event, from 0.
    pub row: u64,
    /// When the statement began (in a snapshot: when it was taken), milliseconds since 1970.
    pub millis: u64,
    /// Connection that ran it, where the log tells.
    pub thread: Option<u32>,
    /// Text of the statement, where the log has it.
    pub query: Option<&'a [u8]>,
    /// The change's number in its transaction, from 1, counted over all tables and before any selection.
    pub order: u64,
    /// Its number among those of its table.
    pub table_order: u64,
    /// It is a row of the snapshot.
    pub snapshot: SnapshotMark,
}

/// A change of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowChange<'a> {
    /// What happened.
    pub op: Op,
    /// Its table.
    pub table: &'a Table,
    /// The row as it was: updates and deletes.
    pub before: Option<Image<'a>>,
    /// The row as it is: all but deletes.
    pub after: Option<Image<'a>>,
    /// Where it comes from.
    pub origin: Origin<'a>,
}

/// A statement that changed the schema, or emptied a table.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementChange<'a> {
    /// Default database; may be empty.
    pub db: &'a str,
    /// CREATE, ALTER, DROP, RENAME or TRUNCATE.
    pub verb: &'static str,
    /// The tables it is about, with their databases.
    pub tables: Vec<(String, String)>,
    /// Its text.
    pub sql: &'a str,
    /// Where it comes from.
    pub origin: Origin<'a>,
}

/// One item of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Record<'a> {
    /// A row.
    Row(RowChange<'a>),
    /// All rows of a table went at once (TRUNCATE TABLE).
    Truncate(StatementChange<'a>),
    /// The schema changed.
    Schema(StatementChange<'a>),
}

impl Record<'_> {
    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin<'_> {
        match self {
            Record::Row(r) => &r.origin,
            Record::Truncate(s) | Record::Schema(s) => &s.origin,
        }
    }
}
