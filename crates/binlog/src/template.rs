//! TABLE_MAP events, encoded once per table version.

use crate::column::ColumnMeta;
use crate::column::column_type as t;
use crate::error::BinlogError;
use crate::event::{CHECKSUM_LEN, EventHeader, HEADER_LEN, MAX_EVENT_LEN, event_type};
use crate::lenenc::{Reader, put_lenenc, put_lenenc_str};
use crate::value::metadata_len;

/// Bytes of a rows event between header and columns-present bitmap, the column count excluded.
const ROWS_POST_HEADER: usize = 8;

/// How much a TABLE_MAP tells of a table beyond its column types (`binlog_row_metadata`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RowMetadata {
    /// Nothing.
    NoLog,
    /// Signs of numbers, collations of strings, geometry types.
    Minimal,
    /// Also column names, members of ENUM and SET with their collations, the primary key.
    #[default]
    Full,
}

impl RowMetadata {
    /// By the variable's number: 0 NO_LOG, 1 MINIMAL, 2 FULL; `None` for others.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Self> {
        [Self::NoLog, Self::Minimal, Self::Full]
            .get(usize::from(n))
            .copied()
    }
}

/// Everything about one version of a table that its events need, encoded once: the TABLE_MAP event with FULL
/// optional metadata, and the fixed head of its rows events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMapTemplate {
    table_id: u64,
    columns: usize,
    // Whole event with zero timestamp, server id, size, position and checksum.
    event: Vec<u8>,
    // Where the event's optional metadata begins.
    optional_at: usize,
    // Header (type and sizes unset), table id, flags, column count, one columns-present bitmap.
    rows_head: Vec<u8>,
    // The second bitmap of update events.
    present: Vec<u8>,
}

/// Optional metadata fields, in the order they are written.
pub(crate) mod field {
    pub(crate) const SIGNEDNESS: u8 = 1;
    pub(crate) const DEFAULT_CHARSET: u8 = 2;
    pub(crate) const COLUMN_CHARSET: u8 = 3;
    pub(crate) const COLUMN_NAME: u8 = 4;
    pub(crate) const SET_STR_VALUE: u8 = 5;
    pub(crate) const ENUM_STR_VALUE: u8 = 6;
    pub(crate) const GEOMETRY_TYPE: u8 = 7;
    pub(crate) const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub(crate) const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub(crate) const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub(crate) const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
}

impl TableMapTemplate {
    /// Encodes a table. `table_id` is at most 48 bits and need only be unique among the tables of a
    /// statement; `db` and `table` have at most 255 bytes; `pk` lists the primary key's columns by index, each
    /// with its prefix length in characters (0 for the whole column), and is empty without a primary key.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] for names, ids, indexes or metadata outside those bounds,
    /// [`BinlogError::TooLarge`] if the event would be too large.
    pub fn new(
        table_id: u64,
        db: &str,
        table: &str,
        columns: &[ColumnMeta],
        pk: &[(usize, u32)],
    ) -> Result<Self, BinlogError> {
        if table_id >> 48 != 0 {
            return Err(BinlogError::Invalid("table id of more than 48 bits"));
        }
        if columns.is_empty() {
            return Err(BinlogError::Invalid("table without columns"));
        }
        if pk.iter().any(|&(column, _)| column >= columns.len()) {
            return Err(BinlogError::Invalid(
                "primary key column that the table does not have",
            ));
        }
        let header = EventHeader {
            timestamp: 0,
            event_type: event_type::TABLE_MAP,
            server_id: 0,
            event_size: 0,
            end_log_pos: 0,
            flags: 0,
        };
        let mut event = header.to_bytes().to_vec();
        event.extend_from_slice(&table_id.to_le_bytes()[..6]);
        event.extend_from_slice(&1u16.to_le_bytes());
        put_name(&mut event, db)?;
        put_name(&mut event, table)?;
        put_lenenc(&mut event, columns.len() as u64);
        event.extend(columns.iter().map(|c| c.type_code));
        let mut meta = Vec::new();
        for column in columns {
            if column.meta.len() != metadata_len(column.type_code)? {
                return Err(BinlogError::Invalid(
                    "metadata of the wrong length for its column type",
                ));
            }
            meta.extend_from_slice(&column.meta);
        }
        put_lenenc_str(&mut event, &meta);
        event.extend(bitmap_lsb(columns.iter().map(|c| c.nullable)));
        let optional_at = event.len();
        put_optional(&mut event, columns, pk);
        event.extend_from_slice(&[0; CHECKSUM_LEN]);
        if event.len() > MAX_EVENT_LEN {
            return Err(BinlogError::TooLarge {
                what: "table map",
                size: event.len() as u64,
                limit: MAX_EVENT_LEN as u64,
            });
        }

        let mut rows_head = vec![0; HEADER_LEN];
        rows_head.extend_from_slice(&table_id.to_le_bytes()[..6]);
        rows_head.extend_from_slice(&0u16.to_le_bytes());
        debug_assert_eq!(rows_head.len(), HEADER_LEN + ROWS_POST_HEADER);
        put_lenenc(&mut rows_head, columns.len() as u64);
        let mut present = vec![0xff; columns.len().div_ceil(8)];
        if let (Some(last), used @ 1..) = (present.last_mut(), columns.len() % 8) {
            *last = 0xff >> (8 - used);
        }
        rows_head.extend_from_slice(&present);
        Ok(Self {
            table_id,
            columns: columns.len(),
            event,
            optional_at,
            rows_head,
            present,
        })
    }

    /// The same table with less metadata; a level above this template's own gives what there is.
    #[must_use]
    pub fn with_metadata(&self, level: RowMetadata) -> Self {
        let mut other = self.clone();
        if level == RowMetadata::Full {
            return other;
        }
        other.event.truncate(self.optional_at);
        if level == RowMetadata::Minimal {
            let optional = &self.event[self.optional_at..self.event.len() - CHECKSUM_LEN];
            let mut reader = Reader::new(optional, "a table map's optional metadata");
            while let (Ok(field), Ok(value)) = (reader.u8(), reader.lenenc_str()) {
                if matches!(
                    field,
                    field::SIGNEDNESS
                        | field::DEFAULT_CHARSET
                        | field::COLUMN_CHARSET
                        | field::GEOMETRY_TYPE
                ) {
                    put_field(&mut other.event, field, value);
                }
            }
        }
        other.event.extend_from_slice(&[0; CHECKSUM_LEN]);
        other
    }

    /// The id that ties rows events to this map.
    #[must_use]
    pub fn table_id(&self) -> u64 {
        self.table_id
    }

    /// Number of columns.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// Bytes of the TABLE_MAP event.
    #[must_use]
    pub fn event_len(&self) -> usize {
        self.event.len()
    }

    pub(crate) fn event(&self) -> &[u8] {
        &self.event
    }

    pub(crate) fn rows_head(&self) -> &[u8] {
        &self.rows_head
    }

    pub(crate) fn present(&self) -> &[u8] {
        &self.present
    }
}

fn put_name(buf: &mut Vec<u8>, name: &str) -> Result<(), BinlogError> {
    let len = u8::try_from(name.len())
        .map_err(|_| BinlogError::Invalid("database or table name of more than 255 bytes"))?;
    buf.push(len);
    buf.extend_from_slice(name.as_bytes());
    buf.push(0);
    Ok(())
}

/// Bits in order of significance within each byte, lowest first; unused bits are 0.
fn bitmap_lsb(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, bit) in bits.enumerate() {
        if i % 8 == 0 {
            bytes.push(0);
        }
        bytes[i / 8] |= u8::from(bit) << (i % 8);
    }
    bytes
}

/// Bits in order of significance within each byte, highest first; unused bits are 0.
fn bitmap_msb(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = bitmap_lsb(bits);
    for byte in &mut bytes {
        *byte = byte.reverse_bits();
    }
    bytes
}

fn put_field(buf: &mut Vec<u8>, field: u8, value: &[u8]) {
    if !value.is_empty() {
        buf.push(field);
        put_lenenc_str(buf, value);
    }
}

fn put_optional(buf: &mut Vec<u8>, columns: &[ColumnMeta], pk: &[(usize, u32)]) {
    let signedness = bitmap_msb(columns.iter().filter(|c| c.numeric).map(|c| c.unsigned));
    put_field(buf, field::SIGNEDNESS, &signedness);

    put_charsets(
        buf,
        columns.iter().filter(|c| !c.is_enum_or_set()),
        (field::DEFAULT_CHARSET, field::COLUMN_CHARSET),
    );

    let mut names = Vec::new();
    for column in columns {
        put_lenenc_str(&mut names, column.name.as_bytes());
    }
    put_field(buf, field::COLUMN_NAME, &names);

    for (real, field) in [
        (t::SET, field::SET_STR_VALUE),
        (t::ENUM, field::ENUM_STR_VALUE),
    ] {
        let mut value = Vec::new();
        for column in columns.iter().filter(|c| c.real_type() == real) {
            put_lenenc(&mut value, column.labels.len() as u64);
            for label in &column.labels {
                put_lenenc_str(&mut value, label);
            }
        }
        put_field(buf, field, &value);
    }

    // Only the general type GEOMETRY (0): a column's subtype is not known here.
    let geometries = columns
        .iter()
        .filter(|c| c.type_code == t::GEOMETRY)
        .count();
    put_field(buf, field::GEOMETRY_TYPE, &vec![0; geometries]);

    let mut key = Vec::new();
    let prefixes = pk.iter().any(|&(_, prefix)| prefix != 0);
    for &(column, prefix) in pk {
        put_lenenc(&mut key, column as u64);
        if prefixes {
            put_lenenc(&mut key, u64::from(prefix));
        }
    }
    let key_field = if prefixes {
        field::PRIMARY_KEY_WITH_PREFIX
    } else {
        field::SIMPLE_PRIMARY_KEY
    };
    put_field(buf, key_field, &key);

    put_charsets(
        buf,
        columns.iter().filter(|c| c.is_enum_or_set()),
        (
            field::ENUM_AND_SET_DEFAULT_CHARSET,
            field::ENUM_AND_SET_COLUMN_CHARSET,
        ),
    );
}

/// Collations in whichever of the two forms is shorter: the commonest with its exceptions, or all.
fn put_charsets<'a>(
    buf: &mut Vec<u8>,
    columns: impl Iterator<Item = &'a ColumnMeta>,
    (default_field, column_field): (u8, u8),
) {
    let collations: Vec<u16> = columns.filter_map(|c| c.collation).collect();
    let count_of = |id: u16| collations.iter().filter(|&&c| c == id).count();
    // The first of the commonest, so that the choice does not depend on ids.
    let Some(default) = collations
        .iter()
        .copied()
        .rev()
        .max_by_key(|&id| count_of(id))
    else {
        return;
    };
    let mut short = Vec::new();
    put_lenenc(&mut short, u64::from(default));
    let mut long = Vec::new();
    for (i, &id) in collations.iter().enumerate() {
        put_lenenc(&mut long, u64::from(id));
        if id != default {
            put_lenenc(&mut short, i as u64);
            put_lenenc(&mut short, u64::from(id));
        }
    }
    if long.len() < short.len() {
        put_field(buf, column_field, &long);
    } else {
        put_field(buf, default_field, &short);
    }
}
