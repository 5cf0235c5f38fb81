//! Applying row events that another server wrote: table maps and rows in, changes of a [`Transaction`] out.
//!
//! Rows are found by the before image (the primary key if the image has it, else an index whose columns it has, else a
//! scan) and changed through the same calls that SQL uses, so that indexes, row locks, counters and the log follow.
//! Images may be partial (`binlog_row_image` MINIMAL and NOBLOB): what the after image does not say comes from the row
//! that was found, or, for an insert, from the column's default.

use crate::catalog::{Catalog, DefaultDef};
use crate::table::Table;
use crate::txn::{KeyRange, LockMode, LockWait, ReadView, Row, Transaction};
use crate::{EngineError, Result};
use narwal_binlog::{RowsEvent, RowsKind, TableMap, value_len};
use narwal_types::convert::{NoWarnings, StoreMode, StoreTarget, implicit_default, store};
use narwal_types::{Collation, DateTime, RowLayout, SqlError, TypeKind, Value, ValueRef};
use smallvec::SmallVec;
use std::sync::Arc;

/// Column type codes of table maps that are named here.
mod code {
    pub(super) const VARCHAR: u8 = 0x0f;
    pub(super) const BLOB: u8 = 0xfc;
    pub(super) const STRING: u8 = 0xfe;
}

fn err(code: u16, state: &[u8; 5], text: impl Into<Box<str>>) -> EngineError {
    EngineError::Sql(SqlError::new(code, state, text))
}

fn bad_event(table: &Table, what: impl std::fmt::Display) -> EngineError {
    EngineError::Corrupt(format!(
        "row event of {}.{}: {what}",
        table.def.db, table.def.name
    ))
}

/// `slave_type_conversions`: what may be done to values of a column whose type is another one here. With neither only
/// the same type is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TypeConversions {
    /// `ALL_NON_LOSSY`: to a type that holds all values of the other.
    pub non_lossy: bool,
    /// `ALL_LOSSY`: values are cut or moved to the nearest where they do not fit.
    pub lossy: bool,
}

/// What has to be done to a value of the event before it is a value of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    /// The bytes are the same.
    Same,
    /// As `Same`, but they must be UTF-8.
    Text { prefix: u8 },
    /// BINARY comes without its trailing zero bytes.
    Pad { prefix: u8, width: u16 },
    /// A string under another length prefix.
    Prefix {
        from: u8,
        to: u8,
        max: u64,
        text: bool,
    },
}

#[derive(Debug, Clone)]
struct Source {
    type_code: u8,
    meta: SmallVec<[u8; 2]>,
    conversion: Conversion,
}

/// A table as the source's table map describes it, matched with ours.
#[derive(Debug)]
struct Mapped {
    id: u64,
    /// `None`: its rows are to be left out.
    table: Option<Arc<Table>>,
    columns: Vec<Source>,
    /// The types of our stored rows, in the words of table maps.
    own: Vec<(u8, SmallVec<[u8; 2]>)>,
}

/// One column's value in a row, in the encoding of our row images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell<'a> {
    /// The image does not have the column.
    Absent,
    Null,
    Bytes(&'a [u8]),
    /// A range of the scratch buffer: a value that was converted.
    Scratch(usize, usize),
}

/// What applying a rows event did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowsApplied {
    /// Rows inserted, changed or deleted.
    pub rows: u64,
    /// Rows of tables that are left out.
    pub skipped: u64,
}

/// Applies row events. Keeps the table maps of the statement that is running.
#[derive(Debug, Default)]
pub struct RowApplier {
    maps: Vec<Mapped>,
    compare: bool,
    scratch: Vec<u8>,
}

impl RowApplier {
    /// An applier without table maps. With `compare`, every column of a before image is compared with the row that was
    /// found, and a difference is an error (1032): the log and the tables have come apart. Without it only the key
    /// counts, as on a MariaDB replica.
    #[must_use]
    pub fn new(compare: bool) -> Self {
        RowApplier {
            maps: Vec::new(),
            compare,
            scratch: Vec::new(),
        }
    }

    /// Forgets all table maps: at the end of a statement or group.
    pub fn clear(&mut self) {
        self.maps.clear();
    }

    /// Takes a table map whose rows are to be left out.
    pub fn skip_table(&mut self, map: &TableMap<'_>) {
        self.maps.retain(|m| m.id != map.table_id);
        self.maps.push(Mapped {
            id: map.table_id,
            table: None,
            columns: Vec::new(),
            own: Vec::new(),
        });
    }

    /// Takes a table map and matches it with the table of that name.
    ///
    /// # Errors
    /// 1146 if there is no such table, 1677 if a column's type is not the table's (with both types named), 1235 for a
    /// type that Narwal does not have.
    pub fn table_map(&mut self, catalog: &Catalog, map: &TableMap<'_>) -> Result<()> {
        let table = catalog
            .table(map.db, map.table)
            .ok_or_else(|| {
                err(
                    1146,
                    b"42S02",
                    format!("Table '{}.{}' doesn't exist", map.db, map.table),
                )
            })?
            .clone();
        let count = map.column_count();
        let ours = table.def.columns.len();
        if count != ours {
            return Err(err(
                1535,
                b"HY000",
                format!(
                    "Table definition on source and here does not match: {}.{} has {count} columns in the event and {ours} here",
                    map.db, map.table
                ),
            ));
        }
        let metas = map.columns().map_err(|e| bad_event(&table, e))?;
        let mut columns = Vec::with_capacity(count);
        let mut own = Vec::with_capacity(count);
        for (i, def) in table.def.columns.iter().enumerate() {
            let (type_code, meta) = map.column_type(i);
            let (own_code, own_meta) = def.ty.binlog_type();
            let conversion = conversion(type_code, meta, metas[i].collation, &def.ty)
                .ok_or_else(|| mismatch(&table, i, type_code, meta, metas[i].collation))?;
            columns.push(Source {
                type_code,
                meta: SmallVec::from_slice(meta),
                conversion,
            });
            own.push((own_code, own_meta));
        }
        self.maps.retain(|m| m.id != map.table_id);
        self.maps.push(Mapped {
            id: map.table_id,
            table: Some(table),
            columns,
            own,
        });
        Ok(())
    }

    /// Applies the rows of an event to `txn`, whose statement the caller has begun. `timestamp`: of the event, in
    /// seconds since 1970, for columns that default to it.
    ///
    /// # Errors
    /// 1032 if a row to change is not there (or differs, see [`RowApplier::new`]), 1062 if a row to insert is there
    /// already; [`EngineError::Corrupt`] for events that are not what they should be; and whatever writing gives. The
    /// transaction then holds a part of the event's rows and must be rolled back.
    pub fn rows(
        &mut self,
        txn: &mut Transaction,
        event: &RowsEvent<'_>,
        timestamp: u32,
    ) -> Result<RowsApplied> {
        let at = self
            .maps
            .iter()
            .position(|m| m.id == event.table_id)
            .ok_or_else(|| {
                EngineError::Corrupt(format!(
                    "row event of table id {}, which no table map before it names",
                    event.table_id
                ))
            })?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = apply(
            &self.maps[at],
            txn,
            event,
            timestamp,
            self.compare,
            &mut scratch,
        );
        self.scratch = scratch;
        result
    }

    /// Name of the table of a table id, if a map told it and it is not left out.
    #[must_use]
    pub fn table(&self, id: u64) -> Option<&Arc<Table>> {
        self.maps.iter().find(|m| m.id == id)?.table.as_ref()
    }
}

fn prefix_of(max: u64) -> u8 {
    if max < 256 { 1 } else { 2 }
}

/// How values of a source column become values of ours; `None` if they can't.
fn conversion(
    type_code: u8,
    meta: &[u8],
    collation: Option<u16>,
    ty: &narwal_types::ColumnType,
) -> Option<Conversion> {
    let (own_code, own_meta) = ty.binlog_type();
    let exact = type_code == own_code && meta == &own_meta[..];
    // Where the map tells the character set it must be UTF-8 or a part of it, or bytes where we have bytes.
    if let Some(id) = collation
        && ty.is_string()
    {
        let binary = id == Collation::Binary.id();
        if binary != ty.is_binary_string() || (!binary && !is_utf8(id)) {
            return None;
        }
    }
    if exact {
        let max = ty.max_bytes().unwrap_or(0);
        return Some(match ty.kind {
            TypeKind::Binary(width) => Conversion::Pad {
                prefix: prefix_of(max),
                width,
            },
            TypeKind::Char(_) | TypeKind::VarChar(_) => Conversion::Text {
                prefix: prefix_of(max),
            },
            TypeKind::Text(size) => Conversion::Text { prefix: size as u8 },
            _ => Conversion::Same,
        });
    }
    // Another length of the same family is only taken on the word of the map's optional metadata: a length in bytes
    // alone does not tell a shorter column from one in another character set.
    collation?;
    let max = ty.max_bytes()?;
    let text = ty.is_character();
    match (type_code, ty.kind) {
        (code::VARCHAR, TypeKind::VarChar(_) | TypeKind::VarBinary(_)) => {
            Some(Conversion::Prefix {
                from: prefix_of(u64::from(u16::from_le_bytes([
                    *meta.first()?,
                    *meta.get(1)?,
                ]))),
                to: prefix_of(max),
                max,
                text,
            })
        }
        (code::STRING, TypeKind::Char(_)) => {
            let (kind, low) = (*meta.first()?, *meta.get(1)?);
            if matches!(kind, 0xf7 | 0xf8) {
                return None;
            }
            let len = (u64::from(kind) & 0x30 ^ 0x30) << 4 | u64::from(low);
            Some(Conversion::Prefix {
                from: prefix_of(len),
                to: prefix_of(max),
                max,
                text,
            })
        }
        (code::BLOB, TypeKind::Text(size) | TypeKind::Blob(size)) => Some(Conversion::Prefix {
            from: *meta.first()?,
            to: size as u8,
            max,
            text,
        }),
        _ => None,
    }
}

/// Collations of utf8mb4, utf8mb3 and ascii, by their ids in MariaDB and MySQL.
fn is_utf8(id: u16) -> bool {
    matches!(id,
        11 | 65 | 33 | 83 | 45 | 46 | 76 | 192..=215 | 223..=247 | 255..=323
        | 576..=578 | 608..=610 | 1057 | 1069 | 1070 | 1107 | 1216 | 1238 | 2048..=2559)
}

/// A column type of a table map in words.
fn type_name(type_code: u8, meta: &[u8]) -> String {
    let m = |i: usize| meta.get(i).copied().unwrap_or(0);
    match type_code {
        0x01 => "tinyint".into(),
        0x02 => "smallint".into(),
        0x09 => "mediumint".into(),
        0x03 => "int".into(),
        0x08 => "bigint".into(),
        0x04 => "float".into(),
        0x05 => "double".into(),
        0xf6 => format!("decimal({},{})", m(0), m(1)),
        0x0d => "year".into(),
        0x0a | 0x0e => "date".into(),
        0x07 => "timestamp in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x0b => "time in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x0c => "datetime in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x11 => format!("timestamp({})", m(0)),
        0x12 => format!("datetime({})", m(0)),
        0x13 => format!("time({})", m(0)),
        0x10 => format!("bit({})", u32::from(m(1)) * 8 + u32::from(m(0))),
        0x0f | 0xfd => format!(
            "varchar or varbinary of {} bytes",
            u16::from_le_bytes([m(0), m(1)])
        ),
        0xfe => match m(0) {
            0xf7 => "enum".into(),
            0xf8 => "set".into(),
            kind => format!(
                "char or binary of {} bytes",
                (u32::from(kind) & 0x30 ^ 0x30) << 4 | u32::from(m(1))
            ),
        },
        0xfc => format!(
            "{}text or blob",
            match m(0) {
                1 => "tiny",
                3 => "medium",
                4 => "long",
                _ => "",
            }
        ),
        0xf5 => "json in MySQL's binary format".into(),
        0xf2 => "vector".into(),
        0xff => "geometry".into(),
        0x8c | 0x8d => "compressed column".into(),
        other => format!("type code {other:#04x}"),
    }
}

fn mismatch(
    table: &Table,
    column: usize,
    type_code: u8,
    meta: &[u8],
    collation: Option<u16>,
) -> EngineError {
    let hint = match type_code {
        0x07 | 0x0b | 0x0c => {
            "; on the source, ALTER TABLE ... FORCE with mysql56_temporal_format=ON rewrites it"
        }
        _ => "",
    };
    let of = collation
        .filter(|_| table.def.columns[column].ty.is_string())
        .map_or(String::new(), |id| format!(" with collation id {id}"));
    err(
        1677,
        b"HY000",
        format!(
            "Column {column} ('{}') of table '{}.{}' cannot be converted from type '{}'{of} to type '{}'{hint}",
            table.def.columns[column].name,
            table.def.db,
            table.def.name,
            type_name(type_code, meta),
            table.def.columns[column].type_name(),
        ),
    )
}

fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}

impl Mapped {
    /// Cuts one image off `data`, converting values as needed.
    fn image<'a>(
        &self,
        table: &Table,
        present: &[u8],
        data: &mut &'a [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<SmallVec<[Cell<'a>; 16]>> {
        let columns = self.columns.len();
        let count = (0..columns).filter(|i| bit(present, *i)).count();
        if count == 0 {
            return Err(bad_event(table, "an image without columns"));
        }
        let short = || bad_event(table, "a row image is cut short");
        let (nulls, mut rest) = data.split_at_checked(count.div_ceil(8)).ok_or_else(short)?;
        let mut cells = SmallVec::with_capacity(columns);
        let mut nth = 0;
        for (i, source) in self.columns.iter().enumerate() {
            if !bit(present, i) {
                cells.push(Cell::Absent);
                continue;
            }
            let null = bit(nulls, nth);
            nth += 1;
            if null {
                cells.push(Cell::Null);
                continue;
            }
            let len =
                value_len(source.type_code, &source.meta, rest).map_err(|e| bad_event(table, e))?;
            let (value, after) = rest.split_at_checked(len).ok_or_else(short)?;
            rest = after;
            cells.push(self.convert(table, i, value, scratch)?);
        }
        *data = rest;
        Ok(cells)
    }

    fn convert<'a>(
        &self,
        table: &Table,
        i: usize,
        value: &'a [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<Cell<'a>> {
        let too_long = || {
            err(
                1406,
                b"22001",
                format!("Data too long for column '{}'", table.def.columns[i].name),
            )
        };
        let not_text = || {
            err(
                1366,
                b"22007",
                format!(
                    "Column '{}' of table '{}.{}' holds bytes that are not UTF-8: its character set on the source is another one",
                    table.def.columns[i].name, table.def.db, table.def.name
                ),
            )
        };
        Ok(match self.columns[i].conversion {
            Conversion::Same => Cell::Bytes(value),
            Conversion::Text { prefix } => {
                let text = value.get(usize::from(prefix)..).unwrap_or_default();
                if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                    return Err(not_text());
                }
                Cell::Bytes(value)
            }
            Conversion::Pad { prefix, width } => {
                let bytes = value.get(usize::from(prefix)..).unwrap_or_default();
                let width = usize::from(width);
                if bytes.len() == width {
                    return Ok(Cell::Bytes(value));
                }
                if bytes.len() > width {
                    return Err(too_long());
                }
                let start = scratch.len();
                scratch.extend_from_slice(&(width as u64).to_le_bytes()[..usize::from(prefix)]);
                scratch.extend_from_slice(bytes);
                scratch.resize(start + usize::from(prefix) + width, 0);
                Cell::Scratch(start, scratch.len())
            }
            Conversion::Prefix {
                from,
                to,
                max,
                text,
            } => {
                let bytes = value.get(usize::from(from)..).unwrap_or_default();
                if bytes.len() as u64 > max {
                    return Err(too_long());
                }
                if text && std::str::from_utf8(bytes).is_err() {
                    return Err(not_text());
                }
                let start = scratch.len();
                scratch.extend_from_slice(&(bytes.len() as u64).to_le_bytes()[..usize::from(to)]);
                scratch.extend_from_slice(bytes);
                Cell::Scratch(start, scratch.len())
            }
        })
    }

    /// The cells of one of our own rows.
    fn own_cells<'a>(&self, table: &Table, row: &'a [u8]) -> Result<SmallVec<[Cell<'a>; 16]>> {
        let short = || EngineError::Corrupt(format!("a row of {} is cut short", table.def.name));
        let (nulls, mut rest) = row
            .split_at_checked(self.own.len().div_ceil(8))
            .ok_or_else(short)?;
        let mut cells = SmallVec::with_capacity(self.own.len());
        for (i, (code, meta)) in self.own.iter().enumerate() {
            if bit(nulls, i) {
                cells.push(Cell::Null);
                continue;
            }
            let len = value_len(*code, meta, rest).map_err(|e| bad_event(table, e))?;
            let (value, after) = rest.split_at_checked(len).ok_or_else(short)?;
            cells.push(Cell::Bytes(value));
            rest = after;
        }
        Ok(cells)
    }
}

/// Puts a row together. `missing` gives the columns that the image does not have.
fn build(
    cells: &[Cell<'_>],
    scratch: &[u8],
    mut missing: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<Vec<u8>> {
    let bitmap = cells.len().div_ceil(8);
    let mut row = Vec::with_capacity(bitmap + 64);
    row.resize(bitmap, 0xff);
    for (i, cell) in cells.iter().enumerate() {
        let there = match *cell {
            Cell::Null => false,
            Cell::Bytes(b) => {
                row.extend_from_slice(b);
                true
            }
            Cell::Scratch(from, to) => {
                row.extend_from_slice(scratch.get(from..to).unwrap_or_default());
                true
            }
            Cell::Absent => missing(i, &mut row)?,
        };
        if there {
            row[i / 8] &= !(1 << (i % 8));
        }
    }
    Ok(row)
}

fn cell_bytes<'a>(cell: Cell<'a>, scratch: &'a [u8]) -> Option<&'a [u8]> {
    match cell {
        Cell::Bytes(b) => Some(b),
        Cell::Scratch(from, to) => scratch.get(from..to),
        Cell::Null | Cell::Absent => None,
    }
}

fn apply(
    mapped: &Mapped,
    txn: &mut Transaction,
    event: &RowsEvent<'_>,
    timestamp: u32,
    compare: bool,
    scratch: &mut Vec<u8>,
) -> Result<RowsApplied> {
    let mut done = RowsApplied::default();
    let Some(table) = &mapped.table else {
        done.skipped = 1;
        return Ok(done);
    };
    if event.column_count != mapped.columns.len() {
        return Err(bad_event(table, "it does not fit its table map"));
    }
    let mut data = event.data;
    while !data.is_empty() {
        scratch.clear();
        let first = mapped.image(table, event.present, &mut data, scratch)?;
        match event.kind {
            RowsKind::Write => insert(mapped, table, txn, &first, scratch, timestamp)?,
            RowsKind::Delete => {
                let (pk, old) = find(mapped, table, txn, &first, scratch, compare)?;
                txn.delete(table, &pk, &old)?;
            }
            RowsKind::Update => {
                let present = event.present_after.unwrap_or(event.present);
                let second = mapped.image(table, present, &mut data, scratch)?;
                let (pk, old) = find(mapped, table, txn, &first, scratch, compare)?;
                let cells = mapped.own_cells(table, &old)?;
                let new = build(&second, scratch, |i, row| {
                    Ok(match cells.get(i) {
                        Some(Cell::Bytes(b)) => {
                            row.extend_from_slice(b);
                            true
                        }
                        _ => false,
                    })
                })?;
                txn.update(table, &pk, &old, new)
                    .map_err(|e| duplicate(table, e))?;
            }
        }
        done.rows += 1;
    }
    Ok(done)
}

fn duplicate(table: &Table, e: EngineError) -> EngineError {
    let EngineError::Duplicate { index, .. } = e else {
        return e;
    };
    let name = table.indexes.get(index).map_or("", |i| i.name.as_str());
    err(
        1062,
        b"23000",
        format!(
            "Duplicate entry for key '{name}' of table '{}.{}'",
            table.def.db, table.def.name
        ),
    )
}

fn insert(
    mapped: &Mapped,
    table: &Arc<Table>,
    txn: &mut Transaction,
    cells: &[Cell<'_>],
    scratch: &[u8],
    timestamp: u32,
) -> Result<()> {
    debug_assert_eq!(cells.len(), mapped.columns.len());
    let row = build(cells, scratch, |i, row| {
        let value = default_value(table, i, timestamp)?;
        if value.is_null() {
            return Ok(false);
        }
        let layout = RowLayout::new(&[table.def.columns[i].ty]);
        let mut one = Vec::new();
        layout.encode(&[value.as_ref()], &mut one)?;
        row.extend_from_slice(&one[1..]);
        Ok(true)
    })?;
    let generated = match table.auto_increment {
        Some(c) => match table.layout.column(&row, c)? {
            ValueRef::Int(v) => u64::try_from(v).ok(),
            ValueRef::UInt(v) => Some(v),
            _ => None,
        },
        None => None,
    };
    txn.insert(table, row).map_err(|e| duplicate(table, e))?;
    if let Some(v) = generated {
        txn.observe_auto_increment(table, v);
    }
    Ok(())
}

/// What a column gets that the image of an inserted row leaves out.
fn default_value(table: &Table, i: usize, timestamp: u32) -> Result<Value> {
    let c = &table.def.columns[i];
    let text = match &c.default {
        DefaultDef::None if c.nullable => return Ok(Value::Null),
        DefaultDef::Null => return Ok(Value::Null),
        DefaultDef::None => return Ok(implicit_default(&c.ty)),
        DefaultDef::CurrentTimestamp(_) => {
            let now = DateTime::from_unix_micros(i64::from(timestamp) * 1_000_000, 0);
            return Ok(now.map_or(Value::Null, Value::DateTime));
        }
        DefaultDef::Text(t) => t,
        DefaultDef::Expr(_) => {
            return Err(err(
                1235,
                b"42000",
                format!(
                    "column '{}' is left out of the row image and has an expression as DEFAULT",
                    c.name
                ),
            ));
        }
    };
    let target = StoreTarget {
        ty: &c.ty,
        nullable: c.nullable,
        db: &table.def.db,
        table: &table.def.name,
        column: &c.name,
    };
    Ok(store(
        ValueRef::Str(text.as_bytes()),
        &target,
        1,
        &StoreMode::default(),
        &mut NoWarnings,
    )?)
}

/// Finds and locks the row that a before image means. Gives its clustered key and its newest version.
fn find(
    mapped: &Mapped,
    table: &Arc<Table>,
    txn: &mut Transaction,
    cells: &[Cell<'_>],
    scratch: &[u8],
    compare: bool,
) -> Result<(Vec<u8>, Row)> {
    let missing = || {
        err(
            1032,
            b"HY000",
            format!(
                "Can't find record in '{}': the row that the event changes is not there",
                table.def.name
            ),
        )
    };
    // Good for making keys of the columns that the image has.
    let image = build(cells, scratch, |_, _| Ok(false))?;
    let has = |index: usize| {
        table.indexes[index]
            .parts
            .iter()
            .all(|p| cells.get(p.column).is_some_and(|c| *c != Cell::Absent))
    };
    let mut pk = Vec::with_capacity(16);
    if !table.hidden_pk && has(0) {
        table.primary_key(&image, &mut pk)?;
    } else {
        pk = scan(mapped, table, txn, cells, scratch, &image, &has)?.ok_or_else(missing)?;
    }
    let old = txn
        .lock_row(table, &pk, LockMode::Exclusive, LockWait::Wait)?
        .ok_or_else(missing)?;
    if compare && let Some(column) = difference(mapped, table, &old, cells, scratch)? {
        return Err(err(
            1032,
            b"HY000",
            format!(
                "Record in '{}' differs from the event's before image in column '{}': log and tables have come apart",
                table.def.name, table.def.columns[column].name
            ),
        ));
    }
    Ok((pk, old))
}

/// The first column of the image that is not what the row holds.
fn difference(
    mapped: &Mapped,
    table: &Table,
    row: &[u8],
    cells: &[Cell<'_>],
    scratch: &[u8],
) -> Result<Option<usize>> {
    let own = mapped.own_cells(table, row)?;
    Ok((0..own.len()).find(|&i| {
        let Some(cell) = cells.get(i) else {
            return false;
        };
        *cell != Cell::Absent && cell_bytes(*cell, scratch) != cell_bytes(own[i], &[])
    }))
}

/// Looks for a row without its primary key: by an index whose columns the image has, or through all rows.
fn scan(
    mapped: &Mapped,
    table: &Arc<Table>,
    txn: &mut Transaction,
    cells: &[Cell<'_>],
    scratch: &[u8],
    image: &[u8],
    has: &dyn Fn(usize) -> bool,
) -> Result<Option<Vec<u8>>> {
    // A unique index first: it can't name more than one row, unless there is a NULL in it.
    let index = (1..table.indexes.len())
        .filter(|&i| has(i))
        .max_by_key(|&i| table.indexes[i].unique)
        .unwrap_or(0);
    let range = if index == 0 {
        KeyRange::all()
    } else {
        let mut prefix = Vec::with_capacity(32);
        table.secondary_parts(index, image, &mut prefix)?;
        KeyRange::prefix(prefix)
    };
    let mut scan = txn.scan(table, index, range, false, ReadView::Current, false)?;
    while let Some(item) = scan.next()? {
        if difference(mapped, table, item.row, cells, scratch)?.is_none() {
            return Ok(Some(item.pk.to_vec()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_types::{BlobSize, ColumnType};

    #[test]
    fn columns_are_taken_only_where_the_bytes_mean_the_same() {
        let varchar = ColumnType::varchar(20);
        let exact = conversion(0x0f, &[80, 0], None, &varchar);
        assert_eq!(exact, Some(Conversion::Text { prefix: 1 }));
        // 20 bytes: latin1, or a shorter column. Without metadata nobody knows.
        assert_eq!(conversion(0x0f, &[20, 0], None, &varchar), None);
        // latin1 by its collation.
        assert_eq!(conversion(0x0f, &[20, 0], Some(8), &varchar), None);
        // utf8mb3 is a part of utf8mb4.
        assert!(matches!(
            conversion(0x0f, &[60, 0], Some(33), &varchar),
            Some(Conversion::Prefix { from: 1, to: 1, .. })
        ));
        assert_eq!(conversion(0x0f, &[80, 0], Some(63), &varchar), None);
        assert_eq!(
            conversion(
                0xfe,
                &[0xfe, 5],
                None,
                &ColumnType::new(TypeKind::Binary(5))
            ),
            Some(Conversion::Pad {
                prefix: 1,
                width: 5
            })
        );
        // ENUM hides in STRING.
        assert_eq!(
            conversion(0xfe, &[0xf7, 1], Some(45), &ColumnType::char(1)),
            None
        );
        // Old DATETIME against new.
        assert_eq!(conversion(0x0c, &[], None, &ColumnType::datetime(0)), None);
        assert_eq!(
            conversion(
                0xfc,
                &[2],
                None,
                &ColumnType::new(TypeKind::Blob(BlobSize::Normal))
            ),
            Some(Conversion::Same)
        );
        assert_eq!(
            conversion(0x03, &[], None, &ColumnType::new(TypeKind::BigInt)),
            None
        );
    }
}
