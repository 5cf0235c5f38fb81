//! Sequences: tables of one row that hand out numbers.
//!
//! The row says from where on no number has been handed out. When memory has none left, the session that wants one moves
//! that place by the cache's size, in a commit of its own. The numbers are handed out when it is durable, so a crash loses
//! those that were left and gives none out twice. Replicas get the new row as MariaDB's do, as an inserted row: for a sequence that replaces the row.

use crate::catalog::sequence::{SequenceRow, Taken};
use crate::catalog::steps::Steps;
use crate::catalog::table::Table;
use crate::commit::reserved::Reserved;
use crate::db::database::Database;
use crate::locks::types::LockMode;
use crate::txn::options::TxnOptions;
use crate::txn::sequence::ROW_ID;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use std::sync::Arc;

/// How SETVAL ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetValue {
    /// The sequence goes on from there.
    Set,
    /// It is past that number already.
    Past,
    /// It may not begin again.
    RunOut,
}

impl Database {
    /// NEXTVAL: the next number of a sequence; `None` if it has run out. Not part of any transaction. `options`: those of
    /// the session; `steps`: how the server counts, for INCREMENT BY 0.
    ///
    /// # Errors
    /// Those of a commit; 1412 if the sequence was changed meanwhile.
    pub fn next_value(
        &self,
        table: &Arc<Table>,
        options: &TxnOptions,
        timestamp: u32,
        steps: &dyn Fn() -> Steps,
    ) -> Result<Option<i64>> {
        let state = &table.counters.sequence;
        // Held while numbers are taken, which others have to wait for, but not while that is made durable.
        let mut taken = state.taken.lock();
        if let Some(t) = &mut *taken
            && t.changes == state.changes()
        {
            t.row.count_by(steps);
            let number = t.row.own_from(t.next);
            if t.row.before(number, t.row.next) {
                t.next = t.row.after(number, 1);
                let seq = t.seq;
                drop(taken);
                // The commit that took them may still be on its way to the disk.
                self.wait_visible(seq)?;
                return Ok(Some(number));
            }
        }
        let mut change = Change::begin(self, table, options, timestamp)?;
        change.row.count_by(steps);
        let Some(first) = change.row.take() else {
            return Ok(None);
        };
        let next = change.row.after(first, 1);
        let reserved = change.commit(&mut taken, next)?;
        drop(taken);
        self.wait_committed(&reserved)?;
        Ok(Some(first))
    }

    /// SETVAL: the sequence goes on behind `number` (or, unless `used`, with it) in the given round, or is past it.
    ///
    /// # Errors
    /// As [`Database::next_value`].
    pub fn set_value(
        &self,
        table: &Arc<Table>,
        (number, used, round): (i64, bool, i64),
        options: &TxnOptions,
        timestamp: u32,
        steps: &dyn Fn() -> Steps,
    ) -> Result<SetValue> {
        let state = &table.counters.sequence;
        let mut taken = state.taken.lock();
        let mut change = Change::begin(self, table, options, timestamp)?;
        let row = &mut change.row;
        row.count_by(steps);
        taken.take_if(|t| t.changes != change.changes);
        let now = taken.as_ref().map_or(row.next, |t| t.next);
        let next = if used { row.after(number, 1) } else { number };
        if round < row.round || (round == row.round && row.before(next, now)) {
            return Ok(SetValue::Past);
        }
        if round > row.round && !row.cycle {
            return Ok(SetValue::RunOut);
        }
        if round == row.round
            && !row.before(row.next, next)
            && let Some(t) = &mut *taken
        {
            // Among those that were taken.
            t.next = next;
            return Ok(SetValue::Set);
        }
        row.round = round;
        row.next = next;
        let reserved = change.commit(&mut taken, next)?;
        drop(taken);
        self.wait_committed(&reserved)?;
        Ok(SetValue::Set)
    }
}

/// A change of a sequence's row, in a commit of its own.
struct Change<'a> {
    table: &'a Arc<Table>,
    txn: Transaction,
    row: SequenceRow,
    changes: u64,
}

impl<'a> Change<'a> {
    fn begin(
        db: &Database,
        table: &'a Arc<Table>,
        options: &TxnOptions,
        timestamp: u32,
    ) -> Result<Self> {
        let mut txn = db.begin(TxnOptions {
            temporary: None,
            ..options.clone()
        });
        txn.begin_statement(timestamp, None);
        txn.lock_table(table)?;
        let row = txn
            .lock_newest(table, &ROW_ID.to_be_bytes(), LockMode::Exclusive)?
            .ok_or_else(|| {
                EngineError::Corrupt(format!("sequence {} has no row", table.def.name))
            })?;
        let row = SequenceRow::of(table, &row)?;
        // Others change it under the row's lock only.
        let changes = table.counters.sequence.changes();
        Ok(Change {
            table,
            txn,
            row,
            changes,
        })
    }

    fn commit(mut self, taken: &mut Option<Taken>, next: i64) -> Result<Reserved> {
        let image = self.table.row(&self.row.values())?;
        self.txn.put_sequence_row(self.table, image)?;
        self.txn.end_statement();
        let reserved = self.txn.commit_reserved()?;
        *taken = Some(Taken {
            next,
            row: self.row,
            seq: reserved.seq,
            changes: self.changes,
        });
        Ok(reserved)
    }
}
