//! One JSON object a line for every change.

use super::rows::{Tables, decode, each_row, one};
use super::select::Selection;
use super::values::{Cell, json, json_string};
use super::{Events, Output, Trouble};
use narwal_binlog::{ColumnMeta, Event, RowsKind};
use narwal_engine::GroupHead;
use std::io::{self, Write};

/// Writes JSON lines.
pub struct Json<W: Write> {
    out: W,
    base_name: String,
    line: Vec<u8>,
}

impl<W: Write> Json<W> {
    /// Writes to `out`.
    pub fn new(out: W, base_name: String) -> Self {
        Json {
            out,
            base_name,
            line: Vec::new(),
        }
    }

    fn end(&mut self, head: &GroupHead, timestamp: u32, position: u64) -> io::Result<()> {
        write!(
            self.line,
            ",\"gtid\":\"{}\",\"timestamp\":{timestamp},\"file\":",
            head.gtid
        )?;
        json_string(
            &format!("{}.{:06}", self.base_name, head.file_no),
            &mut self.line,
        );
        writeln!(self.line, ",\"position\":{position}}}")?;
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// Appends an image as an object; columns that it lacks are left out.
fn image(line: &mut Vec<u8>, columns: &[ColumnMeta], cells: Option<&[Option<Cell<'_>>]>) {
    let Some(cells) = cells else {
        line.extend_from_slice(b"null");
        return;
    };
    line.push(b'{');
    let mut first = true;
    for (i, cell) in cells.iter().enumerate() {
        let (Some(cell), Some(column)) = (cell, columns.get(i)) else {
            continue;
        };
        if !std::mem::take(&mut first) {
            line.push(b',');
        }
        if column.name.is_empty() {
            json_string(&format!("@{}", i + 1), line);
        } else {
            json_string(&column.name, line);
        }
        line.push(b':');
        json(cell, column, line);
    }
    line.push(b'}');
}

impl<W: Write> Output for Json<W> {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        let mut tables = Tables::default();
        let mut position = head.start_pos;
        while let Some(bytes) = events.next_event()? {
            let event = one(head, bytes)?;
            let timestamp = event.header.timestamp;
            match decode(head, &event)? {
                Event::TableMap(map) => {
                    tables.map(head, bytes, &map, selection)?;
                }
                Event::Rows(rows) => {
                    let table = tables.of(head, &rows)?;
                    if table.wanted {
                        let operation = match rows.kind {
                            RowsKind::Write => "insert",
                            RowsKind::Update => "update",
                            RowsKind::Delete => "delete",
                        };
                        each_row(head, &rows, table, |change| {
                            self.line.extend_from_slice(b"{\"database\":");
                            json_string(&table.db, &mut self.line);
                            self.line.extend_from_slice(b",\"table\":");
                            json_string(&table.table, &mut self.line);
                            write!(self.line, ",\"operation\":\"{operation}\",\"before\":")?;
                            image(&mut self.line, &table.columns, change.before.as_deref());
                            self.line.extend_from_slice(b",\"after\":");
                            image(&mut self.line, &table.columns, change.after.as_deref());
                            Ok(self.end(head, timestamp, position)?)
                        })?;
                    }
                    if rows.is_statement_end() {
                        tables.clear();
                    }
                }
                Event::Query(query) if selection.wants_statement(query.db) => {
                    self.line.extend_from_slice(b"{\"database\":");
                    json_string(&String::from_utf8_lossy(query.db), &mut self.line);
                    self.line
                        .extend_from_slice(b",\"table\":null,\"operation\":\"statement\",\"sql\":");
                    json_string(&String::from_utf8_lossy(query.sql), &mut self.line);
                    self.end(head, timestamp, position)?;
                }
                _ => {}
            }
            position += bytes.len() as u64;
        }
        Ok(())
    }

    fn abandon(&mut self, _: &GroupHead) -> Result<(), Trouble> {
        self.line.clear();
        Ok(())
    }

    fn finish(&mut self, _: bool) -> Result<(), Trouble> {
        Ok(self.out.flush()?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
