//! Rows events, split into row images.

use crate::error::BinlogError;
use crate::event::{event_type, rows_flags};
use crate::lenenc::Reader;
use crate::table_map::TableMap;
use crate::value::{bit, value_len};

/// What a rows event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowsKind {
    /// Rows are inserted.
    Write,
    /// Rows are changed; each has two images.
    Update,
    /// Rows are deleted.
    Delete,
}

/// A rows event, version 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    /// What it does.
    pub kind: RowsKind,
    /// Id of the table map before it.
    pub table_id: u64,
    /// Bits of [`rows_flags`].
    pub flags: u16,
    /// Columns of the table.
    pub column_count: usize,
    /// Columns in the (first) image: bit `i % 8` of byte `i / 8`.
    pub present: &'a [u8],
    /// The same for an update's second image.
    pub present_after: Option<&'a [u8]>,
    /// The row images.
    pub data: &'a [u8],
}

/// One row's images; each is a null bitmap over the present columns, then values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowChange<'a> {
    /// The row as it was: updates and deletes.
    pub before: Option<&'a [u8]>,
    /// The row as it is: writes and updates.
    pub after: Option<&'a [u8]>,
}

/// Passes over the extra data of an event of version 2. Its length counts itself.
pub(crate) fn skip_extra(reader: &mut Reader<'_>) -> Result<(), BinlogError> {
    let extra = usize::from(reader.u16()?)
        .checked_sub(2)
        .ok_or(BinlogError::Invalid(
            "extra data of a rows event shorter than its length",
        ))?;
    reader.bytes(extra).map(drop)
}

impl<'a> RowsEvent<'a> {
    pub(crate) fn parse(code: u8, body: &'a [u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(body, "a rows event");
        let kind = match code {
            event_type::WRITE_ROWS_V1 | event_type::WRITE_ROWS_V2 => RowsKind::Write,
            event_type::UPDATE_ROWS_V1 | event_type::UPDATE_ROWS_V2 => RowsKind::Update,
            _ => RowsKind::Delete,
        };
        let table_id = reader.uint(6)?;
        let flags = reader.u16()?;
        if code >= event_type::WRITE_ROWS_V2 {
            skip_extra(&mut reader)?;
        }
        let columns = reader.lenenc()?;
        let bitmap_len = usize::try_from(columns.div_ceil(8))
            .map_err(|_| BinlogError::Truncated("a rows event"))?;
        let present = reader.bytes(bitmap_len)?;
        let present_after = match kind {
            RowsKind::Update => Some(reader.bytes(bitmap_len)?),
            _ => None,
        };
        Ok(Self {
            kind,
            table_id,
            flags,
            column_count: columns as usize,
            present,
            present_after,
            data: reader.rest(),
        })
    }

    /// It is the last of its statement.
    #[must_use]
    pub fn is_statement_end(&self) -> bool {
        self.flags & rows_flags::STMT_END != 0
    }

    /// The session that made it had `foreign_key_checks` on, so cascades are not in the log.
    #[must_use]
    pub fn has_foreign_key_checks(&self) -> bool {
        self.flags & rows_flags::NO_FOREIGN_KEY_CHECKS == 0
    }

    /// Column `i` is in the (first) image.
    #[must_use]
    pub fn has_column(&self, i: usize) -> bool {
        bit(self.present, i)
    }

    /// Column `i` is in an update's second image, or in an insert's only one; a delete has none.
    #[must_use]
    pub fn has_column_after(&self, i: usize) -> bool {
        match (self.kind, self.present_after) {
            (RowsKind::Update, Some(after)) => bit(after, i),
            (RowsKind::Write, _) => bit(self.present, i),
            _ => false,
        }
    }

    /// Both images have all columns.
    #[must_use]
    pub fn is_full_image(&self) -> bool {
        let full = |bitmap: &[u8]| (0..self.column_count).all(|i| bit(bitmap, i));
        full(self.present) && self.present_after.is_none_or(full)
    }

    /// The rows, told apart by the column types of `map`, which must be the table map of this event's table.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] if `map` is for another table or another number of columns.
    pub fn rows<'m>(&self, map: &'m TableMap<'m>) -> Result<RowIter<'a, 'm>, BinlogError> {
        if map.table_id != self.table_id || map.column_count() != self.column_count {
            return Err(BinlogError::Invalid(
                "rows event that does not fit its table map",
            ));
        }
        Ok(RowIter {
            event: *self,
            map,
            rest: self.data,
        })
    }
}

/// Iterates over the rows of an event. After an error it yields nothing more.
#[derive(Debug, Clone)]
pub struct RowIter<'a, 'm> {
    event: RowsEvent<'a>,
    map: &'m TableMap<'m>,
    rest: &'a [u8],
}

impl<'a> RowIter<'a, '_> {
    fn image(&mut self, present: &[u8]) -> Result<&'a [u8], BinlogError> {
        let columns = self.event.column_count;
        let count = (0..columns).filter(|&i| bit(present, i)).count();
        if count == 0 {
            // Its images would be empty: rows without end.
            return Err(BinlogError::Invalid("rows event without columns"));
        }
        let image = self.rest;
        let mut at = count.div_ceil(8);
        let nulls = image
            .get(..at)
            .ok_or(BinlogError::Truncated("a row's null bitmap"))?;
        for (nth, column) in (0..columns).filter(|&i| bit(present, i)).enumerate() {
            if !bit(nulls, nth) {
                let (code, meta) = self.map.column_type(column);
                at += value_len(code, meta, &image[at..])?;
            }
        }
        let (image, rest) = image.split_at(at);
        self.rest = rest;
        Ok(image)
    }

    fn change(&mut self) -> Result<RowChange<'a>, BinlogError> {
        let first = self.image(self.event.present)?;
        let (before, after) = match (self.event.kind, self.event.present_after) {
            (RowsKind::Write, _) => (None, Some(first)),
            (RowsKind::Update, Some(present)) => (Some(first), Some(self.image(present)?)),
            (RowsKind::Update | RowsKind::Delete, _) => (Some(first), None),
        };
        Ok(RowChange { before, after })
    }
}

impl<'a> Iterator for RowIter<'a, '_> {
    type Item = Result<RowChange<'a>, BinlogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let change = self.change();
        if change.is_err() {
            self.rest = &[];
        }
        Some(change)
    }
}
