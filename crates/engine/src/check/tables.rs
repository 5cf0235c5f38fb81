//! Rows and indexes against each other.
//!
//! A secondary key holds the clustered key, so a row has one entry in each index, and that entry names it. If every
//! entry's row is there and makes this very entry, and there are as many entries as rows, no entry is missing; only if
//! the numbers differ are the rows' entries looked up one by one.

use crate::catalog::table::Table;
use crate::check::finding::{Check, Finding, quietly};
use crate::db::database::Database;
use crate::key::{KeyRange, finish_secondary_key};
use crate::txn::options::TxnOptions;
use crate::txn::reads::ReadView;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_types::ValueRef;
use std::fmt::Write;
use std::ops::Bound;
use std::sync::Arc;

/// So many findings of a table are told one by one.
const MOST: u64 = 1000;
pub(crate) const TELL_EVERY: u64 = 4096;

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut s = String::with_capacity(2 + 2 * bytes.len());
    s.push_str("0x");
    for b in bytes {
        let _ = write!(s, "{b:02x}");
    }
    s
}

/// A row's key in words: the primary key's columns, or the hidden row id.
pub(crate) fn key_text(table: &Table, pk: &[u8], row: Option<&[u8]>) -> String {
    if table.hidden_pk {
        return match <[u8; 8]>::try_from(pk) {
            Ok(id) => format!("row id {}", u64::from_be_bytes(id)),
            Err(_) => hex(pk),
        };
    }
    let Some(row) = row else { return hex(pk) };
    let mut s = String::new();
    for part in &table.indexes[0].parts {
        if !s.is_empty() {
            s.push(',');
        }
        let value = match table.layout.column(row, part.column) {
            Ok(ValueRef::Null) => "NULL".to_owned(),
            Ok(v @ (ValueRef::Str(_) | ValueRef::Bytes(_))) => {
                let text = v.to_text();
                format!("'{}'", text.chars().take(60).collect::<String>())
            }
            Ok(v) => v.to_text(),
            Err(_) => return hex(pk),
        };
        let _ = write!(s, "{}={value}", table.def.columns[part.column].name);
    }
    s
}

/// The whole key of a row in a secondary index, the length of its parts, and whether one of them is NULL.
fn secondary_key(
    table: &Table,
    index: usize,
    row: &[u8],
    pk: &[u8],
) -> Result<(Vec<u8>, usize, bool)> {
    let mut key = Vec::with_capacity(32);
    let null = table.secondary_parts(index, row, &mut key)?;
    let parts = key.len();
    finish_secondary_key(&mut key, pk)?;
    Ok((key, parts, null))
}

pub(crate) fn snapshot(db: &Database) -> Transaction {
    let mut txn = db.begin(TxnOptions::default());
    txn.ensure_snapshot();
    txn
}

/// Where a finding in a table is.
struct At<'t> {
    table: &'t Table,
    index: usize,
    told: u64,
}

impl Check<'_> {
    fn tell(&mut self, at: &mut At<'_>, key: Option<String>, what: impl Into<String>) {
        at.told += 1;
        if at.told > MOST {
            // They count, all the same.
            self.report.damages += 1;
            return;
        }
        let mut f = Finding::damage(what).in_file(self.dir.join("base.redb"));
        f.table = Some(format!("{}.{}", at.table.def.db, at.table.def.name));
        f.index = at.table.indexes.get(at.index).map(|i| i.name.clone());
        f.key = key;
        self.found(f);
    }

    /// Checks all tables.
    pub(super) fn check_tables(&mut self, db: &Database) {
        let catalog = db.catalog();
        let mut tables: Vec<Arc<Table>> = catalog
            .databases()
            .flat_map(|d| catalog.tables(&d.name))
            .cloned()
            .collect();
        tables.sort_by_key(|t| (t.def.db.clone(), t.def.name.clone()));
        let total = tables.len() as u64;
        for (n, table) in tables.iter().enumerate() {
            self.observer.progress("tables", n as u64, total);
            self.report.tables += 1;
            let mut at = At {
                table,
                index: 0,
                told: 0,
            };
            let rows = match quietly(|| self.check_rows(db, table, &mut at)) {
                Ok(Ok(rows)) => rows,
                other => {
                    self.unreadable(&mut at, other.map(|r| r.map(|_| ())));
                    continue;
                }
            };
            for index in 1..table.indexes.len() {
                at.index = index;
                let done = quietly(|| self.check_index(db, table, index, rows, &mut at));
                self.unreadable(&mut at, done);
            }
            if at.told > MOST {
                let mut note = Finding::note("there is more of this kind, which is only counted");
                note.table = Some(format!("{}.{}", table.def.db, table.def.name));
                self.found(note);
            }
        }
    }

    fn unreadable(&mut self, at: &mut At<'_>, done: std::result::Result<Result<()>, String>) {
        match done {
            Ok(Ok(())) => {}
            Ok(Err(e)) => self.tell(at, None, format!("it can't be read further: {e}")),
            Err(why) => self.tell(at, None, format!("it can't be read further ({why})")),
        }
    }

    /// Every row: its values, and its place. Gives their number.
    fn check_rows(&mut self, db: &Database, table: &Arc<Table>, at: &mut At<'_>) -> Result<u64> {
        let mut txn = snapshot(db);
        let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        let mut rows = 0u64;
        let mut pk = Vec::new();
        while let Some(item) = scan.next()? {
            rows += 1;
            if rows.is_multiple_of(TELL_EVERY) {
                self.observer.progress("tables", 0, 0);
            }
            if let Err(what) = check_values(table, item.row) {
                self.tell(at, Some(key_text(table, item.pk, None)), what);
                continue;
            }
            if table.hidden_pk {
                if item.pk.len() != 8 {
                    self.tell(at, Some(hex(item.pk)), "a hidden row id that is none");
                }
                continue;
            }
            pk.clear();
            match table.primary_key(item.row, &mut pk) {
                Ok(()) if pk == item.pk => {}
                Ok(()) => {
                    let what = format!(
                        "the row stands under this key, but its columns say {}",
                        key_text(table, &pk, Some(item.row))
                    );
                    self.tell(at, Some(hex(item.pk)), what);
                }
                Err(e) => self.tell(
                    at,
                    Some(hex(item.pk)),
                    format!("no key can be made of the row: {e}"),
                ),
            }
        }
        self.report.rows += rows;
        Ok(rows)
    }

    /// Every entry of a secondary index against its row; then, if some are missing, every row against its entry.
    fn check_index(
        &mut self,
        db: &Database,
        table: &Arc<Table>,
        index: usize,
        rows: u64,
        at: &mut At<'_>,
    ) -> Result<()> {
        let (mut scanning, mut reading) = (snapshot(db), snapshot(db));
        let mut scan = scanning.scan(
            table,
            index,
            KeyRange::all(),
            false,
            ReadView::Snapshot,
            true,
        )?;
        let unique = table.indexes[index].unique;
        let mut good = 0u64;
        let mut before: Vec<u8> = Vec::new();
        while let Some(item) = scan.next()? {
            self.report.index_entries += 1;
            let Some(row) = reading.get(table, item.pk)? else {
                let what = format!(
                    "the index has an entry without a row (clustered key {})",
                    key_text(table, item.pk, None)
                );
                self.tell(at, Some(hex(item.key)), what);
                continue;
            };
            let Ok((key, parts, null)) = secondary_key(table, index, &row, item.pk) else {
                // Told with the row.
                continue;
            };
            if key != item.key {
                self.tell(
                    at,
                    Some(key_text(table, item.pk, Some(&row))),
                    format!(
                        "the index has the entry {}, which the row does not make",
                        hex(item.key)
                    ),
                );
                continue;
            }
            good += 1;
            if unique && !null {
                if !before.is_empty() && before == key[..parts] {
                    self.tell(
                        at,
                        Some(key_text(table, item.pk, Some(&row))),
                        "two rows have this value in a unique index",
                    );
                }
                before.clear();
                before.extend_from_slice(&key[..parts]);
            }
        }
        drop(scan);
        if good == rows {
            return Ok(());
        }
        let mut scan =
            scanning.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        while let Some(item) = scan.next()? {
            let Ok((key, ..)) = secondary_key(table, index, item.row, item.pk) else {
                continue;
            };
            let one = KeyRange {
                start: Bound::Included(key.clone()),
                end: Bound::Included(key),
            };
            let there = reading
                .scan(table, index, one, false, ReadView::Snapshot, true)?
                .next()?
                .is_some();
            if !there {
                self.tell(
                    at,
                    Some(key_text(table, item.pk, Some(item.row))),
                    "the row has no entry in the index",
                );
            }
        }
        Ok(())
    }

    /// Compares every table of `db` with the same one rebuilt from the log.
    pub(super) fn compare(&mut self, db: &Database, rebuilt: &Database) {
        let (ours, theirs) = (db.catalog(), rebuilt.catalog());
        let names = |c: &crate::catalog::names::Catalog| -> Vec<(u64, String)> {
            let mut v: Vec<_> = c
                .databases()
                .flat_map(|d| c.tables(&d.name))
                .map(|t| (t.def.id, format!("{}.{}", t.def.db, t.def.name)))
                .collect();
            v.sort();
            v
        };
        let (mine, log) = (names(&ours), names(&theirs));
        for (id, name) in log.iter().filter(|t| !mine.contains(t)) {
            let mut f = Finding::damage(format!(
                "the log makes this table (id {id}), and it is not there"
            ));
            f.table = Some(name.clone());
            self.found(f);
        }
        for (n, (id, name)) in mine.iter().enumerate() {
            self.observer
                .progress("tables against the log", n as u64, mine.len() as u64);
            let (Some(a), Some(b)) = (ours.table_by_id(*id), theirs.table_by_id(*id)) else {
                let mut f = Finding::damage(format!("the log does not make this table (id {id})"));
                f.table = Some(name.clone());
                self.found(f);
                continue;
            };
            let mut at = At {
                table: a,
                index: 0,
                told: 0,
            };
            if a.def != b.def {
                self.tell(
                    &mut at,
                    None,
                    "its definition is not the one that the log makes",
                );
                continue;
            }
            let done = quietly(|| self.compare_table(db, rebuilt, a, b, &mut at));
            self.unreadable(&mut at, done);
        }
    }

    fn compare_table(
        &mut self,
        db: &Database,
        rebuilt: &Database,
        a: &Arc<Table>,
        b: &Arc<Table>,
        at: &mut At<'_>,
    ) -> Result<()> {
        let (mut one, mut other) = (snapshot(db), snapshot(rebuilt));
        let mut ours = one.scan(a, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        let mut logs = other.scan(b, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        type Held = Option<(Vec<u8>, Vec<u8>)>;
        fn take(scan: &mut crate::store::scan::Scan<'_>) -> Result<Held> {
            Ok(scan.next()?.map(|i| (i.pk.to_vec(), i.row.to_vec())))
        }
        let (mut x, mut y) = (take(&mut ours)?, take(&mut logs)?);
        loop {
            match (&x, &y) {
                (None, None) => return Ok(()),
                (Some((k, row)), y_now) if y_now.as_ref().is_none_or(|(l, _)| k < l) => {
                    let key = key_text(a, k, Some(row));
                    self.tell(at, Some(key), "the log does not make this row");
                    x = take(&mut ours)?;
                }
                (Some((k, row)), Some((l, logged))) if k == l => {
                    self.report.compared_rows += 1;
                    if row != logged {
                        let column = (0..a.def.columns.len())
                            .find(|&c| {
                                a.layout.column(row, c).ok() != b.layout.column(logged, c).ok()
                            })
                            .map_or("?", |c| a.def.columns[c].name.as_str());
                        let what =
                            format!("the log makes another row of it: column '{column}' differs");
                        self.tell(at, Some(key_text(a, k, Some(row))), what);
                    }
                    x = take(&mut ours)?;
                    y = take(&mut logs)?;
                }
                (_, Some((l, logged))) => {
                    let key = key_text(b, l, Some(logged));
                    self.tell(at, Some(key), "the log makes this row, and it is not there");
                    y = take(&mut logs)?;
                }
                (Some(_), None) => return Err(EngineError::Corrupt("rows out of order".into())),
            }
        }
    }
}

/// A row's values: they must fill it exactly and be of their columns' types.
fn check_values(table: &Table, row: &[u8]) -> std::result::Result<(), String> {
    let len = table
        .layout
        .row_len(row)
        .map_err(|_| "the row is cut short, or its lengths are wrong")?;
    if len != row.len() {
        return Err(format!("the row has {} bytes too many", row.len() - len));
    }
    for (i, c) in table.def.columns.iter().enumerate() {
        let value = table
            .layout
            .column(row, i)
            .map_err(|_| format!("column '{}' does not decode", c.name))?;
        match value {
            ValueRef::Null if !c.nullable => {
                return Err(format!("column '{}' is NULL and may not be", c.name));
            }
            ValueRef::Str(s) if std::str::from_utf8(s).is_err() => {
                return Err(format!("column '{}' is not UTF-8", c.name));
            }
            _ => {}
        }
    }
    Ok(())
}
