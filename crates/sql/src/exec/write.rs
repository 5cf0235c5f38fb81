//! Where rows change: every INSERT, REPLACE, UPDATE, DELETE and LOAD DATA goes through these three functions, so what
//! holds for each changed row (constraints, say) has its place here.

use crate::env::StatementEnv;
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
    _env: &StatementEnv,
) -> SqlResult<Option<Taken>> {
    taken(txn.insert(table, image))
}

/// Replaces a locked row by another one, or says which unique key forbids it.
#[inline]
pub fn change_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    new: Vec<u8>,
    _env: &StatementEnv,
) -> SqlResult<Option<Taken>> {
    taken(txn.update(table, pk, old, new))
}

/// Deletes a locked row.
#[inline]
pub fn delete_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    _env: &StatementEnv,
) -> SqlResult<()> {
    Ok(txn.delete(table, pk, old)?)
}
