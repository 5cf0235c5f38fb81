//! What transactions did, for people: a line for each change, and counts.

use crate::binlog::rows::{Tables, decode, each_row, one};
use crate::binlog::values::{Cell, json};
use crate::binlog::{
    Events, Output, Trouble,
    flashback::{frames, is_without_effect},
    localtime,
    select::Selection,
};
use narwal_binlog::{ColumnMeta, Event, Gtid, RowsKind};
use narwal_engine::GroupHead;
use std::collections::BTreeMap;
use std::io;

/// What a transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub gtid: Gtid,
    /// Rows inserted, changed and deleted, by table.
    pub tables: BTreeMap<String, [u64; 3]>,
    /// Statements that are logged as text.
    pub statements: Vec<String>,
    /// Why it can't be undone from the log.
    pub not_undoable: Option<String>,
}

/// Collects lines and summaries.
pub struct Show {
    /// Lines that may still come.
    left: u64,
    /// Changes that were left out for it.
    pub more: u64,
    pub lines: Vec<u8>,
    pub summaries: Vec<Summary>,
}

impl Show {
    /// With lines for so many changes at most.
    pub fn new(changes: u64) -> Self {
        Show {
            left: changes,
            more: 0,
            lines: Vec::new(),
            summaries: Vec::new(),
        }
    }

    /// Room for a line.
    fn room(&mut self) -> bool {
        let room = self.left > 0;
        if room {
            self.left -= 1;
        } else {
            self.more += 1;
        }
        room
    }
}

/// Longest value shown, in bytes.
const LONGEST: usize = 120;

fn put_value(line: &mut Vec<u8>, cell: &Cell<'_>, column: &ColumnMeta) {
    let at = line.len();
    json(cell, column, line);
    let mut end = at + LONGEST;
    if line.len() > end {
        while end > at && line[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        line.truncate(end);
        line.extend_from_slice("…".as_bytes());
    }
}

fn put_name(line: &mut Vec<u8>, column: &ColumnMeta, i: usize) {
    if column.name.is_empty() {
        line.extend_from_slice(format!("@{}", i + 1).as_bytes());
    } else {
        line.extend_from_slice(column.name.as_bytes());
    }
    line.push(b'=');
}

type Image<'a> = [Option<Cell<'a>>];

/// The columns that `wanted` names: `a=1 b="x"`.
fn put_image(
    line: &mut Vec<u8>,
    columns: &[ColumnMeta],
    image: &Image<'_>,
    wanted: impl Fn(usize) -> bool,
) {
    for (i, (cell, column)) in image.iter().zip(columns).enumerate() {
        if let (Some(cell), true) = (cell, wanted(i)) {
            line.push(b' ');
            put_name(line, column, i);
            put_value(line, cell, column);
        }
    }
}

fn text(cell: &Cell<'_>, column: &ColumnMeta) -> Vec<u8> {
    let mut out = Vec::new();
    json(cell, column, &mut out);
    out
}

/// What is not the same: ` b="x"→"y"`.
fn put_changed(line: &mut Vec<u8>, columns: &[ColumnMeta], before: &Image<'_>, after: &Image<'_>) {
    for (i, (cell, column)) in after.iter().zip(columns).enumerate() {
        let Some(cell) = cell else { continue };
        let old = before.get(i).and_then(Option::as_ref);
        if old.is_some_and(|old| text(old, column) == text(cell, column)) {
            continue;
        }
        line.push(b' ');
        put_name(line, column, i);
        if let Some(old) = old {
            put_value(line, old, column);
            line.extend_from_slice("→".as_bytes());
        }
        put_value(line, cell, column);
    }
}

impl Output for Show {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        let mut summary = Summary {
            gtid: head.gtid,
            tables: BTreeMap::new(),
            statements: Vec::new(),
            not_undoable: None,
        };
        let (y, m, d, h, i, s) = localtime::fields(head.timestamp);
        let title = format!("  {}  {y}-{m:02}-{d:02} {h:02}:{i:02}:{s:02}\n", head.gtid);
        if self.left > 0 {
            self.lines.extend_from_slice(title.as_bytes());
        }
        let mut tables = Tables::default();
        while let Some(bytes) = events.next_event()? {
            let event = one(head, bytes)?;
            match decode(head, &event)? {
                Event::TableMap(map) => {
                    tables.map(head, bytes, &map, selection)?;
                }
                Event::Rows(rows) => {
                    let table = tables.of(head, &rows)?;
                    let name = format!("{}.{}", table.db, table.table);
                    let complete = rows.kind == RowsKind::Update && {
                        (0..rows.column_count).all(|i| rows.has_column(i))
                    } || rows.is_full_image();
                    if !complete {
                        summary.not_undoable.get_or_insert_with(|| {
                            format!("row images of {name} are not complete (binlog_row_image was not FULL)")
                        });
                    }
                    let count = summary.tables.entry(name.clone()).or_default();
                    let (word, n) = match rows.kind {
                        RowsKind::Write => ("insert", 0),
                        RowsKind::Update => ("update", 1),
                        RowsKind::Delete => ("delete", 2),
                    };
                    each_row(head, &rows, table, |change| {
                        count[n] += 1;
                        if !self.room() {
                            return Ok(());
                        }
                        let line = &mut self.lines;
                        line.extend_from_slice(format!("    {word} {name}:").as_bytes());
                        let (before, after) = (
                            change.before.unwrap_or_default(),
                            change.after.unwrap_or_default(),
                        );
                        match rows.kind {
                            RowsKind::Write => put_image(line, &table.columns, &after, |_| true),
                            RowsKind::Delete => put_image(line, &table.columns, &before, |_| true),
                            RowsKind::Update => {
                                let key = &table.primary_key;
                                put_image(line, &table.columns, &before, |i| {
                                    key.is_empty() || key.contains(&i)
                                });
                                line.extend_from_slice(b" |");
                                put_changed(line, &table.columns, &before, &after);
                            }
                        }
                        line.push(b'\n');
                        Ok(())
                    })?;
                    if rows.is_statement_end() {
                        tables.clear();
                    }
                }
                Event::Query(query) if !frames(query.sql) => {
                    let sql = String::from_utf8_lossy(query.sql).into_owned();
                    if self.room() {
                        let db = String::from_utf8_lossy(query.db);
                        self.lines.extend_from_slice(
                            format!("    statement in {db:?}: {sql}\n").as_bytes(),
                        );
                    }
                    // What says itself that it does nothing needs no undoing.
                    if !is_without_effect(query.sql) {
                        let shown: String = sql.chars().take(80).collect();
                        summary
                            .not_undoable
                            .get_or_insert_with(|| format!("statements can't be undone: {shown}"));
                    }
                    summary.statements.push(sql);
                }
                _ => {}
            }
        }
        self.summaries.push(summary);
        Ok(())
    }

    fn abandon(&mut self, _: &GroupHead) -> Result<(), Trouble> {
        Ok(())
    }

    fn finish(&mut self, _: bool) -> Result<(), Trouble> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
