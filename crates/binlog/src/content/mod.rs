//! What an event group changes, as a number that is the same on every server that has the group.
//!
//! A replica writes a group anew: with its own table ids, positions, times, checksums, thread ids, another splitting of
//! rows over events, other lengths before texts, a statement's text spaced and quoted in another way. [`ContentHasher`]
//! leaves all that out. What it takes in is
//!
//! - for rows: database, table, whether they are written, changed or deleted, which columns the images have, and the
//!   values, in the order of the log;
//! - for statements: default database and text, without comments and spacing (see `text.rs`).
//!
//! Two hashes come out. `content` is over all of that. `outline` leaves out columns and values: only which tables' rows
//! were written, changed and deleted, in which order, and statements. It serves where one of the two groups has row
//! images that are not complete (`binlog_row_image` MINIMAL, NOBLOB, FULL_NODUP): then `content` differs though the change
//! is the same, so only a different outline proves a difference. What can't be compared at all is a group that stands as
//! statements that change rows (`binlog_format` STATEMENT) on one side and as rows on the other.

mod text;

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use crate::column::{column_type as t, real_type};
use crate::compressed::{decompressed_body, uncompressed_type};
use crate::decode::{Event, QueryEvent, RawEvent};
use crate::error::BinlogError;
use crate::event::{event_flags, event_type};
use crate::gtid::Gtid;
use crate::rows::{RowsEvent, RowsKind};
use crate::table_map::TableMap;
use crate::value::{bit, value_len};

/// How much of a group's content a [`ContentHash`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Detail {
    /// All of it.
    Full,
    /// Row images lack columns, or have values in a form that not all servers write: other numbers do not prove another
    /// change, another outline does.
    Partial,
    /// Statements that change rows stand in it, or it was left out by a filter: only equality means anything.
    Statements,
}

/// What comparing two groups of one GTID says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SameContent {
    /// They do the same.
    Yes,
    /// They do not.
    No,
    /// It can't be told: their forms can't be compared.
    Unknown,
}

/// The content of an event group, hashed. As text: a version digit, a letter for [`Detail`], 48 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash {
    /// How much it stands for.
    pub detail: Detail,
    content: [u8; 16],
    outline: [u8; 8],
}

/// Version of what is hashed; other versions' hashes are not read.
const VERSION: char = '1';

impl ContentHash {
    /// Whether two groups do the same.
    #[must_use]
    pub fn same_as(&self, other: &ContentHash) -> SameContent {
        let detail = self.detail.max(other.detail);
        if self.content == other.content {
            SameContent::Yes
        } else if detail == Detail::Full
            || detail == Detail::Partial && self.outline != other.outline
        {
            SameContent::No
        } else {
            SameContent::Unknown
        }
    }

    /// The first 12 hex digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        hex(&self.content[..6])
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = match self.detail {
            Detail::Full => 'f',
            Detail::Partial => 'p',
            Detail::Statements => 's',
        };
        let (content, outline) = (hex(&self.content), hex(&self.outline));
        write!(f, "{VERSION}{detail}{content}{outline}")
    }
}

impl FromStr for ContentHash {
    type Err = BinlogError;

    fn from_str(text: &str) -> Result<Self, BinlogError> {
        let bad = || BinlogError::Invalid("content hash");
        let rest = text.strip_prefix(VERSION).ok_or_else(bad)?;
        let (detail, digits) = rest.split_at_checked(1).ok_or_else(bad)?;
        let detail = match detail {
            "f" => Detail::Full,
            "p" => Detail::Partial,
            "s" => Detail::Statements,
            _ => return Err(bad()),
        };
        if digits.len() != 48 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(bad());
        }
        let mut bytes = [0; 24];
        for (i, b) in bytes.iter_mut().enumerate() {
            *b = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).map_err(|_| bad())?;
        }
        let mut hash = ContentHash {
            detail,
            content: [0; 16],
            outline: [0; 8],
        };
        hash.content.copy_from_slice(&bytes[..16]);
        hash.outline.copy_from_slice(&bytes[16..]);
        Ok(hash)
    }
}

/// The value of `@narwal_connect_hash`: `0-1-100:<hash>,1-1-7:<hash>`, the last group of each domain that a replica has.
#[must_use]
pub fn connect_hash_text<'a>(hashes: impl IntoIterator<Item = &'a (Gtid, ContentHash)>) -> String {
    let parts = hashes
        .into_iter()
        .map(|(gtid, hash)| format!("{gtid}:{hash}"));
    parts.collect::<Vec<_>>().join(",")
}

/// Reads [`connect_hash_text`]. What is no GTID with a hash of this version is passed over: it comes from anybody, and
/// says nothing then.
#[must_use]
pub fn parse_connect_hash(text: &str) -> Vec<(Gtid, ContentHash)> {
    let parts = text.split(',').filter_map(|part| {
        let (gtid, hash) = part.trim().split_once(':')?;
        Some((gtid.parse().ok()?, hash.parse().ok()?))
    });
    // A domain has one last group; servers have few domains.
    parts.take(1024).collect()
}

/// A table that rows events refer to.
struct Mapped {
    /// Database, NUL, table: neither has a NUL in it.
    name: Vec<u8>,
    types: Vec<(u8, Vec<u8>)>,
}

/// What rows that stand together have in common.
#[derive(PartialEq, Eq)]
struct Run {
    kind: RowsKind,
    name: Vec<u8>,
    present: Vec<u8>,
    present_after: Option<Vec<u8>>,
}

/// Takes a group's events, one after the other, and gives its [`ContentHash`]. Needs memory for one event.
#[derive(Default)]
pub struct ContentHasher {
    content: Sha256,
    outline: Sha256,
    tables: HashMap<u64, Mapped>,
    run: Option<Run>,
    /// Rows of the run at hand, for the outline.
    rows: u64,
    detail: Option<Detail>,
}

impl fmt::Debug for ContentHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentHasher").finish_non_exhaustive()
    }
}

/// A length and the bytes, so that no two lists of fields run together.
fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Marks of what follows.
const ROWS: &[u8] = b"R";
const STATEMENT: &[u8] = b"S";
const OTHER: &[u8] = b"?";
/// Stands for the length of NULL.
const NULL: [u8; 4] = u32::MAX.to_le_bytes();

impl ContentHasher {
    /// For a group of which nothing was seen.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lower(&mut self, detail: Detail) {
        self.detail = Some(self.detail.unwrap_or(Detail::Full).max(detail));
    }

    /// Takes the group's next event. Its GTID event may be among them or not.
    ///
    /// # Errors
    /// The event is not what its header says; the hash is then of no use.
    pub fn event(&mut self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        match decompressed_body(event)? {
            None => self.plain(event),
            Some(body) => {
                let mut header = event.header;
                header.event_type =
                    uncompressed_type(header.event_type).unwrap_or(header.event_type);
                self.plain(&RawEvent {
                    header,
                    bytes: &[],
                    body: &body,
                })
            }
        }
    }

    fn plain(&mut self, event: &RawEvent<'_>) -> Result<(), BinlogError> {
        match event.decode()? {
            Event::TableMap(map) => self.map(&map),
            Event::Rows(rows) => {
                self.rows(&rows)?;
                if rows.is_statement_end() {
                    self.tables.clear();
                }
            }
            Event::Query(query) => self.query(event, &query),
            Event::Unknown(code) => {
                if event.header.flags & event_flags::IGNORABLE == 0 {
                    self.other(code, event.body);
                }
            }
            Event::Gtid(_)
            | Event::Annotate(_)
            | Event::Xid(_)
            | Event::FormatDescription { .. }
            | Event::GtidList { .. }
            | Event::Rotate { .. }
            | Event::Heartbeat(_)
            | Event::Stop => {}
        }
        Ok(())
    }

    /// An event of a type that this crate does not read: parts of statements (INTVAR, RAND, USER_VAR), loading.
    fn other(&mut self, code: u8, body: &[u8]) {
        // A transaction that is prepared here changes what it would change; its name stands in the GTID event.
        if matches!(code, event_type::BINLOG_CHECKPOINT | event_type::XA_PREPARE) {
            return;
        }
        self.end_run();
        self.lower(Detail::Statements);
        self.content.update(OTHER);
        self.content.update([code]);
        field(&mut self.content, body);
    }

    fn map(&mut self, map: &TableMap<'_>) {
        let types = (0..map.column_count()).map(|i| {
            let (code, meta) = map.column_type(i);
            (code, meta.to_vec())
        });
        let mapped = Mapped {
            name: [map.db.as_bytes(), b"\0", map.table.as_bytes()].concat(),
            types: types.collect(),
        };
        self.tables.insert(map.table_id, mapped);
    }

    fn query(&mut self, event: &RawEvent<'_>, query: &QueryEvent<'_>) {
        let said = text::normal(query.sql);
        let verb = text::verb(&said);
        if matches!(
            verb,
            b"begin" | b"commit" | b"rollback" | b"savepoint" | b"release" | b"start" | b""
        ) || verb == b"xa" && !text::ends_xa(&said)
        {
            return;
        }
        self.end_run();
        if matches!(
            verb,
            b"insert"
                | b"update"
                | b"delete"
                | b"replace"
                | b"load"
                | b"call"
                | b"do"
                | b"select"
                | b"set"
        ) {
            self.lower(Detail::Statements);
        }
        // What depends on no default database has one on some servers and none on others.
        let db = match event.header.flags & event_flags::SUPPRESS_USE {
            0 => query.db,
            _ => b"",
        };
        for hash in [&mut self.content, &mut self.outline] {
            hash.update(STATEMENT);
            field(hash, db);
            field(hash, &said);
        }
    }

    fn rows(&mut self, rows: &RowsEvent<'_>) -> Result<(), BinlogError> {
        let table = self.tables.get(&rows.table_id).ok_or(BinlogError::Invalid(
            "rows of a table that the group has no table map of",
        ))?;
        if table.types.len() != rows.column_count {
            return Err(BinlogError::Invalid(
                "rows event that does not fit its table map",
            ));
        }
        if rows.data.is_empty() {
            return Ok(());
        }
        let name = table.name.clone();
        let bitmap = |bits: &[u8]| masked(bits, rows.column_count);
        let run = Run {
            kind: rows.kind,
            name,
            present: bitmap(rows.present),
            present_after: rows.present_after.map(bitmap),
        };
        if self.run.as_ref() != Some(&run) {
            self.end_run();
            self.begin_run(run, rows.is_full_image());
        }
        let table = &self.tables[&rows.table_id];
        let images = [Some(rows.present), rows.present_after];
        let mut rest = rows.data;
        let mut old_form = false;
        while !rest.is_empty() {
            for present in images.iter().flatten() {
                rest = image(&mut self.content, table, present, rest, &mut old_form)?;
            }
            self.rows += 1;
        }
        if old_form {
            self.lower(Detail::Partial);
        }
        Ok(())
    }

    fn begin_run(&mut self, run: Run, full: bool) {
        if !full {
            self.lower(Detail::Partial);
        }
        let kind = match run.kind {
            RowsKind::Write => b"w",
            RowsKind::Update => b"u",
            RowsKind::Delete => b"d",
        };
        for hash in [&mut self.content, &mut self.outline] {
            hash.update(ROWS);
            hash.update(kind);
            field(hash, &run.name);
        }
        field(&mut self.content, &run.present);
        field(
            &mut self.content,
            run.present_after.as_deref().unwrap_or_default(),
        );
        self.run = Some(run);
    }

    fn end_run(&mut self) {
        if self.run.take().is_some() {
            // Counted at the end, since a run may come in any number of events.
            self.content.update(self.rows.to_le_bytes());
            self.outline.update(self.rows.to_le_bytes());
            self.rows = 0;
        }
    }

    /// The group's hash.
    #[must_use]
    pub fn finish(mut self) -> ContentHash {
        self.end_run();
        let mut hash = ContentHash {
            detail: self.detail.unwrap_or(Detail::Full),
            content: [0; 16],
            outline: [0; 8],
        };
        let (content, outline) = (self.content.finalize(), self.outline.finalize());
        hash.content.copy_from_slice(&content[..16]);
        hash.outline.copy_from_slice(&outline[..8]);
        hash
    }
}

/// The bitmap without the bits behind the last column, which servers fill differently.
fn masked(bits: &[u8], columns: usize) -> Vec<u8> {
    let mut out = bits.to_vec();
    if let Some(last) = out.last_mut()
        && !columns.is_multiple_of(8)
    {
        *last &= (1 << (columns % 8)) - 1;
    }
    out
}

/// Hashes the image at the front of `bytes`; what is behind it.
fn image<'a>(
    hash: &mut Sha256,
    table: &Mapped,
    present: &[u8],
    bytes: &'a [u8],
    old_form: &mut bool,
) -> Result<&'a [u8], BinlogError> {
    let columns = || (0..table.types.len()).filter(|&i| bit(present, i));
    let count = columns().count();
    if count == 0 {
        return Err(BinlogError::Invalid("rows event without columns"));
    }
    let mut at = count.div_ceil(8);
    let nulls = bytes
        .get(..at)
        .ok_or(BinlogError::Truncated("a row's null bitmap"))?;
    for (nth, column) in columns().enumerate() {
        if bit(nulls, nth) {
            hash.update(NULL);
            continue;
        }
        let (code, meta) = &table.types[column];
        let len = value_len(*code, meta, &bytes[at..])?;
        let value = &bytes[at..at + len];
        let prefix = match real_type(*code, meta) {
            t::TIMESTAMP | t::TIME | t::DATETIME | t::NEWDATE => {
                *old_form = true;
                0
            }
            t::VARCHAR | t::VARCHAR_COMPRESSED | t::VAR_STRING | t::STRING => {
                length_prefix(*code, meta)
            }
            t::BLOB | t::BLOB_COMPRESSED | t::GEOMETRY | t::JSON => {
                usize::from(meta.first().copied().unwrap_or(0))
            }
            _ => 0,
        };
        if matches!(*code, t::VARCHAR_COMPRESSED | t::BLOB_COMPRESSED)
            && let [0, plain @ ..] = &value[prefix.min(value.len())..]
        {
            // Not compressed: as a column that is not COMPRESSED has it.
            hash_value(hash, plain);
            at += len;
            continue;
        }
        // How long a length may be depends on the column; the value does not.
        let mut value = value.get(prefix..).unwrap_or_default();
        if *code == t::STRING && prefix > 0 {
            // CHAR and BINARY are filled up, and not all servers write what they are filled with.
            let padding = |b: &u8| matches!(b, 0 | b' ');
            value = &value[..value.iter().rposition(|b| !padding(b)).map_or(0, |i| i + 1)];
        }
        hash_value(hash, value);
        at += len;
    }
    Ok(&bytes[at..])
}

fn hash_value(hash: &mut Sha256, value: &[u8]) {
    hash.update((value.len() as u32).to_le_bytes());
    hash.update(value);
}

/// Bytes of the length before a CHAR's or VARCHAR's value.
fn length_prefix(code: u8, meta: &[u8]) -> usize {
    let &[a, b] = meta else { return 0 };
    let max = match code {
        t::STRING => ((u16::from(a) & 0x30) ^ 0x30) << 4 | u16::from(b),
        _ => u16::from_le_bytes([a, b]),
    };
    if max < 256 { 1 } else { 2 }
}

#[cfg(test)]
mod tests;
