//! Changes of a sequence's row.

use crate::catalog::sequence::SequenceRow;
use crate::catalog::table::Table;
use crate::key::full_key;
use crate::locks::types::LockMode;
use crate::store::entry::Payload;
use crate::txn::events::Change as RowChange;
use crate::txn::options::TxnOptions;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_types::errors;
use std::sync::Arc;

/// The clustered key of the only row.
pub(crate) const ROW_ID: u64 = 1;

impl Transaction {
    /// INSERT into a sequence: the row takes the place of the one that is there. It is not undone by a rollback, unless it
    /// comes from another server's log.
    ///
    /// # Errors
    /// 4085 for numbers that don't fit each other.
    pub(crate) fn insert_sequence_row(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
        if self.options.origin.is_some() {
            self.put_sequence_row(table, row)?;
            table.counters.sequence.forget();
        } else {
            if !SequenceRow::of(table, &row)?.may_be_written() {
                let def = &table.def;
                let e = errors::SEQUENCE_INVALID_DATA.with([&def.db, &def.name]);
                return Err(EngineError::Sql(e));
            }
            let options = TxnOptions {
                temporary: None,
                ..self.options.clone()
            };
            let mut own = Transaction::new(self.db.clone(), options);
            own.begin_statement(self.events.timestamp, None);
            own.put_sequence_row(table, row)?;
            if let Some(events) = &mut own.events.builder {
                events.mark_ddl();
            }
            // While its lock is held.
            table.counters.sequence.forget();
            own.commit()?;
        }
        Ok(())
    }

    pub(crate) fn put_sequence_row(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
        self.begin_write(table)?;
        let key = ROW_ID.to_be_bytes();
        let there = self
            .lock_newest(table, &key, LockMode::Exclusive)?
            .is_some();
        self.log_change(table, RowChange::Insert(&row), Some(ROW_ID))?;
        let delta = i8::from(!there);
        self.put(
            full_key(table.indexes[0].id, &key),
            Payload::Row(row.into()),
            delta,
        );
        Ok(())
    }
}
