//! Where rows change: every INSERT, REPLACE, UPDATE, DELETE and LOAD DATA goes through these functions, so what
//! holds for each changed row (constraints, say) has its place here.

use crate::env::StatementEnv;
use crate::env::{RowEvent, TriggerRow};
use crate::status_counts::StatusCount;
use narwal_engine::{EngineError, Row, Table, Transaction};
use narwal_types::SqlResult;
use std::sync::Arc;

/// A unique key that a row's value is in already.
pub struct Taken {
    /// The index.
    pub index: usize,
    /// Clustered key of the row that has it.
    pub existing_pk: Vec<u8>,
}

fn taken(r: Result<(), EngineError>) -> SqlResult<Option<Taken>> {
    match r {
        Ok(()) => Ok(None),
        Err(EngineError::Duplicate { index, existing_pk }) => {
            Ok(Some(Taken { index, existing_pk }))
        }
        Err(e) => Err(e.into()),
    }
}

/// Inserts a row, or says which unique key forbids it.
#[inline]
pub fn insert_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    image: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<Option<Taken>> {
    env.status_counts.add(StatusCount::HandlerWrite, 1);
    let Some(p) = env.triggers(table, false, RowEvent::Insert) else {
        return taken(txn.insert(table, image));
    };
    let new = image.clone();
    let done = taken(txn.insert(table, image))?;
    if done.is_none() {
        p.fire(&after(table, RowEvent::Insert, None, Some(&new)), txn, env)?;
    }
    Ok(done)
}

/// Replaces a locked row by another one, or says which unique key forbids it.
#[inline]
pub fn change_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    new: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<Option<Taken>> {
    env.status_counts.add(StatusCount::HandlerUpdate, 1);
    let Some(p) = env.triggers(table, false, RowEvent::Update) else {
        // A BEFORE trigger may have undone the change.
        return match new[..] == old[..] {
            true => Ok(None),
            false => taken(txn.update(table, pk, old, new)),
        };
    };
    let image = new.clone();
    let done = match new[..] == old[..] {
        true => None,
        false => taken(txn.update(table, pk, old, new))?,
    };
    if done.is_none() {
        let row = after(table, RowEvent::Update, Some(old), Some(&image));
        p.fire(&row, txn, env)?;
    }
    Ok(done)
}

/// Work that comes between a change and the AFTER triggers of its row.
pub type Between<'a> = &'a mut dyn FnMut(&mut Transaction) -> SqlResult<()>;

/// As [`change_row`], with something between the change and its AFTER triggers.
pub fn change_row_and(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    new: Vec<u8>,
    env: &StatementEnv,
    between: Between<'_>,
) -> SqlResult<Option<Taken>> {
    env.status_counts.add(StatusCount::HandlerUpdate, 1);
    let image = new.clone();
    if new[..] != old[..]
        && let Some(taken) = taken(txn.update(table, pk, old, new))?
    {
        return Ok(Some(taken));
    }
    between(txn)?;
    if let Some(p) = env.triggers(table, false, RowEvent::Update) {
        let row = after(table, RowEvent::Update, Some(old), Some(&image));
        p.fire(&row, txn, env)?;
    }
    Ok(None)
}

/// Replaces a locked row that is deleted by a row that is inserted; only the new row's AFTER INSERT triggers run.
pub fn replace_by_piece(
    txn: &mut Transaction,
    table: &Arc<Table>,
    (pk, old): (&[u8], &Row),
    new: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<Option<Taken>> {
    env.status_counts.add(StatusCount::HandlerUpdate, 1);
    let inserted = env.triggers(table, false, RowEvent::Insert);
    let image = inserted.is_some().then(|| new.clone());
    let done = match new[..] == old[..] {
        true => None,
        false => taken(txn.update(table, pk, old, new))?,
    };
    if let (None, Some(p)) = (&done, inserted) {
        p.fire(
            &after(table, RowEvent::Insert, None, image.as_deref()),
            txn,
            env,
        )?;
    }
    Ok(done)
}

/// The triggers of a deleted row, around what takes it away.
#[inline]
pub fn delete_row_and(
    txn: &mut Transaction,
    table: &Arc<Table>,
    old: &Row,
    env: &StatementEnv,
    delete: impl FnOnce(&mut Transaction) -> SqlResult<()>,
) -> SqlResult<()> {
    if let Some(p) = env.triggers(table, true, RowEvent::Delete) {
        let row = TriggerRow {
            before: true,
            ..after(table, RowEvent::Delete, Some(old), None)
        };
        p.fire(&row, txn, env)?;
    }
    env.status_counts.add(StatusCount::HandlerDelete, 1);
    delete(txn)?;
    if let Some(p) = env.triggers(table, false, RowEvent::Delete) {
        p.fire(&after(table, RowEvent::Delete, Some(old), None), txn, env)?;
    }
    Ok(())
}

/// Deletes a locked row.
#[inline]
pub fn delete_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    env: &StatementEnv,
) -> SqlResult<()> {
    delete_row_and(txn, table, old, env, |txn| Ok(txn.delete(table, pk, old)?))
}

fn after<'a>(
    table: &'a Arc<Table>,
    event: RowEvent,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
) -> TriggerRow<'a> {
    TriggerRow {
        table,
        before: false,
        event,
        old,
        new,
    }
}
