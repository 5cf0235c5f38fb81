//! The tables of the statement at hand, and the rows of its events.

use super::select::Selection;
use super::values::Cell;
use super::{Trouble, damaged};
use narwal_binlog::{
    ColumnMeta, Event, EventReader, RawEvent, RowsEvent, RowsKind, TableMap, event_type,
};
use narwal_engine::GroupHead;
use narwal_stream::cell;
use std::collections::HashMap;

/// A table that the statement's rows events may refer to.
#[derive(Debug)]
pub struct Mapped {
    /// The TABLE_MAP event.
    pub event: Vec<u8>,
    /// Database name.
    pub db: String,
    /// Table name.
    pub table: String,
    /// Columns, with names if the log has them.
    pub columns: Vec<ColumnMeta>,
    /// The primary key's columns; empty if there is none or the log does not tell.
    pub primary_key: Vec<usize>,
    /// Its changes are wanted.
    pub wanted: bool,
}

/// A row's values before and after, column by column; `None` for columns that the image lacks.
pub struct Change<'a> {
    /// As it was.
    pub before: Option<Vec<Option<Cell<'a>>>>,
    /// As it is.
    pub after: Option<Vec<Option<Cell<'a>>>>,
}

/// Reads the one event in `bytes`, whose record has been verified.
pub fn one<'a>(head: &GroupHead, bytes: &'a [u8]) -> Result<RawEvent<'a>, Trouble> {
    EventReader::new(bytes)
        .trusting_checksums()
        .next()
        .ok_or_else(|| damaged(head, "an empty event"))?
        .map_err(|e| damaged(head, e))
}

/// Takes an event's body apart.
pub fn decode<'a>(head: &GroupHead, event: &RawEvent<'a>) -> Result<Event<'a>, Trouble> {
    event.decode().map_err(|e| damaged(head, e))
}

/// Whether an event is one of rows.
pub fn is_rows(code: u8) -> bool {
    matches!(
        code,
        event_type::WRITE_ROWS_V1..=event_type::DELETE_ROWS_V1
            | event_type::WRITE_ROWS_V2..=event_type::DELETE_ROWS_V2
    )
}

/// The tables of the statement at hand, by id.
#[derive(Debug, Default)]
pub struct Tables {
    mapped: HashMap<u64, Mapped>,
}

impl Tables {
    /// Notes a table.
    pub fn map(
        &mut self,
        head: &GroupHead,
        event: &[u8],
        map: &TableMap<'_>,
        selection: &Selection,
    ) -> Result<&Mapped, Trouble> {
        let columns = map.columns().map_err(|e| damaged(head, e))?;
        let key = map.primary_key().map_err(|e| damaged(head, e))?;
        let mapped = Mapped {
            event: event.to_vec(),
            db: map.db.to_owned(),
            table: map.table.to_owned(),
            wanted: selection.wants_table(map.db, map.table),
            columns,
            primary_key: key.into_iter().map(|(column, _)| column).collect(),
        };
        self.mapped.insert(map.table_id, mapped);
        Ok(&self.mapped[&map.table_id])
    }

    /// The table that a rows event is about.
    pub fn of(&self, head: &GroupHead, rows: &RowsEvent<'_>) -> Result<&Mapped, Trouble> {
        self.mapped.get(&rows.table_id).ok_or_else(|| {
            damaged(
                head,
                "rows of a table that the statement has no table map of",
            )
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&u64, &Mapped)> {
        self.mapped.iter()
    }

    /// The statement has ended.
    pub fn clear(&mut self) {
        self.mapped.clear();
    }
}

/// Calls `f` with every row of an event.
pub fn each_row(
    head: &GroupHead,
    rows: &RowsEvent<'_>,
    mapped: &Mapped,
    mut f: impl FnMut(Change<'_>) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let event = one(head, &mapped.event)?;
    let Event::TableMap(map) = decode(head, &event)? else {
        return Err(damaged(head, "no table map"));
    };
    for change in rows.rows(&map).map_err(|e| damaged(head, e))? {
        let change = change.map_err(|e| damaged(head, e))?;
        let before = match rows.kind {
            RowsKind::Write => None,
            _ => change.before,
        };
        let values = |image: Option<_>, present| {
            let cells = |bytes| cell::image(&mapped.columns, present, bytes);
            let found = image.map(cells).transpose();
            found
                .map(|image| image.map(|(cells, _)| cells))
                .map_err(|e| damaged(head, e))
        };
        let before = values(before, rows.present)?;
        // Updates have a bitmap of their own for the second image.
        let after = values(change.after, rows.present_after.unwrap_or(rows.present))?;
        f(Change { before, after })?;
    }
    Ok(())
}
