//! Finding the rows that events mean, and changing them.

use crate::apply::cell::Cell;
use crate::apply::error::bad_event;
use crate::apply::map::{Mapped, build, cell_bytes};
use crate::catalog::counters::auto_number;
use crate::catalog::def::DefaultDef;
use crate::catalog::steps::Steps;
use crate::catalog::table::CompleteRow;
use crate::catalog::table::Table;
use crate::key::KeyRange;
use crate::locks::types::{LockMode, LockWait};
use crate::store::row::Row;
use crate::store::scan::Scan;
use crate::txn::reads::ReadView;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{RowsEvent, RowsKind};
use narwal_types::convert::{
    NoWarnings, StoreMode, StoreTarget, default_input, implicit_default, store,
};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{DateTime, Value, Zone};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What applying a rows event did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowsApplied {
    /// Rows inserted, changed or deleted.
    pub rows: u64,
    /// Rows of tables that are left out.
    pub skipped: u64,
}

/// How rows are changed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    pub(crate) compare: bool,
    pub(crate) idempotent: bool,
    pub(crate) complete: Option<CompleteRow>,
}

/// Where a row was last found by going through a whole table. Events come in the order that the source found its rows in, so
/// the next one is mostly just behind it. A hint only: a search that begins there comes to all rows.
#[derive(Debug, Default)]
pub(super) struct Place {
    table: u64,
    key: Vec<u8>,
}

impl Place {
    /// The parts of the table in the order to look through them.
    fn parts(&self, table: &Table) -> Vec<KeyRange> {
        if self.table != table.def.id || self.key.is_empty() {
            return vec![KeyRange::all()];
        }
        let behind = KeyRange {
            start: Bound::Included(self.key.clone()),
            end: Bound::Unbounded,
        };
        let before = KeyRange {
            start: Bound::Unbounded,
            end: Bound::Excluded(self.key.clone()),
        };
        vec![behind, before]
    }
}

/// The row that an image made, with its hidden columns.
fn completed(
    table: &Arc<Table>,
    cells: &[Cell<'_>],
    row: Vec<u8>,
    manner: Manner,
) -> Result<Vec<u8>> {
    let hidden = (table.def.columns.iter().enumerate().rev())
        .take_while(|(_, c)| c.is_hidden())
        .any(|(i, _)| cells.get(i).is_none_or(|c| *c == Cell::Absent));
    match manner.complete {
        Some(complete) if hidden => Ok(complete(table, row)?),
        _ => Ok(row),
    }
}

pub(crate) fn apply(
    mapped: &Mapped,
    txn: &mut Transaction,
    event: &RowsEvent<'_>,
    timestamp: u32,
    manner: Manner,
    scratch: &mut Vec<u8>,
    place: &mut Place,
) -> Result<RowsApplied> {
    let mut done = RowsApplied::default();
    let Some(table) = &mapped.table else {
        done.skipped = 1;
        return Ok(done);
    };
    if event.column_count != mapped.columns.len() {
        return Err(bad_event(table, "it does not fit its table map"));
    }
    let plain = mapped.is_plain(event.present)
        && event.present_after.is_none_or(|p| mapped.is_plain(p))
        && (event.kind == RowsKind::Write || (!table.hidden_pk && !manner.compare));
    let mut data = event.data;
    let mut pk = Vec::new();
    while !data.is_empty() {
        if plain {
            let first = mapped.plain_image(table, &mut data)?;
            if event.kind == RowsKind::Write {
                insert(table, txn, mapped.plain_row(first), manner)?;
                done.rows += 1;
                continue;
            }
            pk.clear();
            table.primary_key(first, &mut pk)?;
            let old = txn.lock_row(table, &pk, LockMode::Exclusive, LockWait::Wait)?;
            let new = match event.kind {
                RowsKind::Update => Some(mapped.plain_image(table, &mut data)?),
                _ => None,
            };
            let Some(old) = old else {
                if manner.idempotent {
                    continue;
                }
                return Err(missing(table));
            };
            match new {
                Some(new) => update(table, txn, &pk, &old, mapped.plain_row(new), manner)?,
                None => txn.delete(table, &pk, &old)?,
            }
            done.rows += 1;
            continue;
        }
        scratch.clear();
        let first = mapped.image(table, event.present, &mut data, scratch)?;
        if event.kind == RowsKind::Write {
            let row = build(&first, scratch, |i, row| default(table, i, timestamp, row))?;
            let row = completed(table, &first, row, manner)?;
            insert(table, txn, row, manner)?;
            done.rows += 1;
            continue;
        }
        let second = match event.kind {
            RowsKind::Update => {
                let present = event.present_after.unwrap_or(event.present);
                Some(mapped.image(table, present, &mut data, scratch)?)
            }
            _ => None,
        };
        let found = match find(mapped, table, txn, &first, scratch, (manner.compare, place)) {
            Err(EngineError::Sql(e)) if e.code == codes::KEY_NOT_FOUND && manner.idempotent => {
                continue;
            }
            r => r?,
        };
        let (pk, old) = found;
        match second {
            None => txn.delete(table, &pk, &old)?,
            Some(second) => {
                let cells = mapped.own_cells(table, &old)?;
                let new = build(&second, scratch, |i, row| {
                    if i >= table.def.columns.len() {
                        return Ok(table.layout.push_hash(i, 0, row)?);
                    }
                    Ok(match cells.get(i) {
                        Some(Cell::Bytes(b)) => {
                            row.extend_from_slice(b);
                            true
                        }
                        _ => false,
                    })
                })?;
                let new = completed(table, &second, new, manner)?;
                update(table, txn, &pk, &old, new, manner)?;
            }
        }
        done.rows += 1;
    }
    Ok(done)
}

fn missing(table: &Table) -> EngineError {
    EngineError::Sql(errors::KEY_NOT_FOUND.text(format!(
        "Can't find record in '{}': the row that the event changes is not there",
        table.def.name
    )))
}

fn update(
    table: &Arc<Table>,
    txn: &mut Transaction,
    pk: &[u8],
    old: &Row,
    new: Vec<u8>,
    manner: Manner,
) -> Result<()> {
    match txn.update(table, pk, old, new) {
        Err(EngineError::Duplicate { .. }) if manner.idempotent => Ok(()),
        r => r.map_err(|e| duplicate(table, e)),
    }
}

/// Inserts a row; the idempotent way takes what is in its place away.
fn insert(table: &Arc<Table>, txn: &mut Transaction, row: Vec<u8>, manner: Manner) -> Result<()> {
    let generated = match table.auto_increment {
        Some(c) => Some(auto_number(table.layout.column(&row, c)?)),
        None => None,
    };
    if manner.idempotent {
        replace(table, txn, row)?;
    } else {
        txn.insert(table, row).map_err(|e| duplicate(table, e))?;
    }
    if let Some(v) = generated {
        txn.observe_auto_increment(table, v, Steps::default());
    }
    Ok(())
}

fn replace(table: &Arc<Table>, txn: &mut Transaction, row: Vec<u8>) -> Result<()> {
    loop {
        let existing = match txn.insert(table, row.clone()) {
            Err(EngineError::Duplicate { existing_pk, .. }) => existing_pk,
            r => return r,
        };
        // Nobody can have taken it away meanwhile but for who held its lock; then the insert is tried again.
        if let Some(old) = txn.lock_row(table, &existing, LockMode::Exclusive, LockWait::Wait)? {
            let mut pk = Vec::with_capacity(existing.len());
            if !table.hidden_pk {
                table.primary_key(&row, &mut pk)?;
            }
            if pk == existing {
                match txn.update(table, &existing, &old, row.clone()) {
                    // Another row has a unique value of it.
                    Err(EngineError::Duplicate { existing_pk, .. }) => {
                        if let Some(other) =
                            txn.lock_row(table, &existing_pk, LockMode::Exclusive, LockWait::Wait)?
                        {
                            txn.delete(table, &existing_pk, &other)?;
                        }
                    }
                    r => return r,
                }
            } else {
                txn.delete(table, &existing, &old)?;
            }
        }
    }
}

/// Appends the value of a column that an inserted row's image leaves out; false for NULL.
fn default(table: &Table, i: usize, timestamp: u32, row: &mut Vec<u8>) -> Result<bool> {
    if i >= table.def.columns.len() {
        return Ok(table.layout.push_hash(i, 0, row)?);
    }
    let value = default_value(table, i, timestamp)?;
    if value.is_null() {
        return Ok(false);
    }
    let mut one = Vec::new();
    table.def.columns[i]
        .layout()
        .encode(&[value.as_ref()], &mut one)?;
    row.extend_from_slice(&one[1..]);
    Ok(true)
}

fn duplicate(table: &Table, e: EngineError) -> EngineError {
    let EngineError::Duplicate { index, .. } = e else {
        return e;
    };
    let name = table.indexes.get(index).map_or("", |i| i.name.as_str());
    EngineError::Sql(errors::DUP_ENTRY.text(format!(
        "Duplicate entry for key '{name}' of table '{}.{}'",
        table.def.db, table.def.name
    )))
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
        DefaultDef::Moment(_) => {
            return Ok((c.default_moment(Zone::UTC)).map_or(Value::Null, Value::DateTime));
        }
        DefaultDef::Expr(_) => {
            return Err(EngineError::Sql(errors::NOT_SUPPORTED_YET.text(format!(
                "column '{}' is left out of the row image and has an expression as DEFAULT",
                c.name
            ))));
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
        default_input(text, &c.ty),
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
    (compare, place): (bool, &mut Place),
) -> Result<(Vec<u8>, Row)> {
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
        let (index, parts) = where_to_look(table, &image, &has, place)?;
        let mut found = None;
        for range in parts {
            let mut scan = txn.scan(table, index, range, false, ReadView::Current, false)?;
            found = first_equal(&mut scan, mapped, table, cells, scratch)?;
            if found.is_some() {
                break;
            }
        }
        pk = found.ok_or_else(|| missing(table))?;
        if index == 0 {
            place.table = table.def.id;
            place.key.clone_from(&pk);
        }
    }
    let old = txn
        .lock_row(table, &pk, LockMode::Exclusive, LockWait::Wait)?
        .ok_or_else(|| missing(table))?;
    if compare && let Some(column) = difference(mapped, table, &old, cells, scratch)? {
        return Err(EngineError::Sql(errors::KEY_NOT_FOUND.text(format!(
                "Record in '{}' differs from the event's before image in column '{}': log and tables have come apart",
                table.def.name, table.def.columns[column].name
            ))));
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

/// Where to look for a row without its primary key: in an index whose columns the image has, or among all rows.
fn where_to_look(
    table: &Table,
    image: &[u8],
    has: &dyn Fn(usize) -> bool,
    place: &Place,
) -> Result<(usize, Vec<KeyRange>)> {
    // A unique index first: it can't name more than one row, unless there is a NULL in it.
    let index = (1..table.indexes.len())
        .filter(|&i| has(i))
        .max_by_key(|&i| table.indexes[i].unique)
        .unwrap_or(0);
    if index == 0 {
        if !table.counters.scan_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "rows of table {}.{} are looked for one by one: it has no key that its row events have; give it a primary key",
                table.def.db,
                table.def.name
            );
        }
        return Ok((0, place.parts(table)));
    }
    let mut prefix = Vec::with_capacity(32);
    table.secondary_parts(index, image, &mut prefix)?;
    Ok((index, vec![KeyRange::prefix(prefix)]))
}

/// The clustered key of the first row that is what the image says.
fn first_equal(
    scan: &mut Scan<'_>,
    mapped: &Mapped,
    table: &Table,
    cells: &[Cell<'_>],
    scratch: &[u8],
) -> Result<Option<Vec<u8>>> {
    while let Some(item) = scan.next()? {
        if difference(mapped, table, item.row, cells, scratch)?.is_none() {
            return Ok(Some(item.pk.to_vec()));
        }
    }
    Ok(None)
}
