//! Sequences: tables of one row that hand out numbers.
//!
//! The row says from where on no number has been handed out. Who finds none left in memory moves that place by the cache's
//! size, in a commit of its own, and numbers are handed out when it is durable: a crash loses those that were left and gives
//! none out twice. Replicas get the new row as MariaDB's do, as an inserted row: for a sequence that replaces the row.

use crate::db::Database;
use crate::local::Change as RowChange;
use crate::memtable::{Payload, full_key};
use crate::table::Table;
use crate::txn::{LockMode, Reserved, Transaction, TxnOptions};
use crate::{EngineError, Result};
use narwal_types::ValueRef;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The clustered key of the only row.
const ROW_ID: u64 = 1;

/// The row of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceRow {
    /// The first number that nobody has, or one beyond the range if it is used up.
    pub next: i64,
    /// MINVALUE.
    pub min: i64,
    /// MAXVALUE.
    pub max: i64,
    /// START WITH.
    pub start: i64,
    /// INCREMENT BY; 0 counts as 1.
    pub increment: i64,
    /// CACHE: so many numbers are taken at once; 0 as 1.
    pub cache: u64,
    /// CYCLE: it begins again when it is used up.
    pub cycle: bool,
    /// How often it has begun again.
    pub round: i64,
}

impl SequenceRow {
    /// Out of a row image of a sequence's table.
    pub fn of(table: &Table, row: &[u8]) -> Result<SequenceRow> {
        let int = |i: usize| -> Result<i64> {
            Ok(match table.layout.column(row, i)? {
                ValueRef::Int(v) => v,
                ValueRef::UInt(v) => i64::try_from(v).unwrap_or(i64::MAX),
                _ => 0,
            })
        };
        Ok(SequenceRow {
            next: int(0)?,
            min: int(1)?,
            max: int(2)?,
            start: int(3)?,
            increment: int(4)?,
            cache: int(5)?.unsigned_abs(),
            cycle: int(6)? != 0,
            round: int(7)?,
        })
    }

    /// The values of its columns.
    #[must_use]
    pub fn values(&self) -> [ValueRef<'static>; 8] {
        [
            ValueRef::Int(self.next),
            ValueRef::Int(self.min),
            ValueRef::Int(self.max),
            ValueRef::Int(self.start),
            ValueRef::Int(self.increment),
            ValueRef::UInt(self.cache),
            ValueRef::UInt(u64::from(self.cycle)),
            ValueRef::Int(self.round),
        ]
    }

    /// Whether the numbers fit each other; otherwise error 4085.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let step = self.step().unsigned_abs();
        self.max > self.min
            && self.min > i64::MIN
            && self.max < i64::MAX
            && (self.min..=self.max).contains(&self.start)
            && self.cache < (i64::MAX as u64 - step) / step
            && (self.min - 1..=self.max + 1).contains(&self.next)
    }

    fn step(&self) -> i64 {
        if self.increment == 0 {
            1
        } else {
            self.increment
        }
    }

    fn up(&self) -> bool {
        self.step() > 0
    }

    /// What stands for "used up".
    fn beyond(&self) -> i64 {
        if self.up() {
            self.max + 1
        } else {
            self.min - 1
        }
    }

    /// The number `steps` steps behind `from`, or that beyond the range.
    fn after(&self, from: i64, steps: u64) -> i64 {
        let to = i128::from(from) + i128::from(self.step()) * i128::from(steps);
        let inside = i128::from(self.min)..=i128::from(self.max);
        match i64::try_from(to) {
            Ok(n) if inside.contains(&to) => n,
            _ => self.beyond(),
        }
    }

    /// Whether `a` comes before `b`.
    fn before(&self, a: i64, b: i64) -> bool {
        if self.up() { a < b } else { a > b }
    }

    /// Takes as many numbers as the cache holds: the first of them, `None` if there is none left.
    fn take(&mut self) -> Option<i64> {
        if !(self.min..=self.max).contains(&self.next) {
            if !self.cycle {
                return None;
            }
            self.round += 1;
            self.next = if self.up() { self.min } else { self.max };
        }
        let first = self.next;
        self.next = self.after(first, self.cache.max(1));
        Some(first)
    }
}

/// Numbers that were taken and not handed out.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The next one to be handed out; the end if it is the row's.
    next: i64,
    /// The row as it is stored.
    row: SequenceRow,
    /// The commit that took them.
    seq: u64,
    /// What [`SequenceState::changes`] was.
    changes: u64,
}

/// A sequence at run time.
#[derive(Debug, Default)]
pub(crate) struct SequenceState {
    taken: Mutex<Option<Taken>>,
    /// Counts changes of the row by others: what was taken before is void.
    changes: AtomicU64,
}

impl SequenceState {
    fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// What was taken before is void: another change of the row, or of the table.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

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
    /// the session.
    ///
    /// # Errors
    /// Those of a commit; 1412 if the sequence was changed meanwhile.
    pub fn next_value(
        &self,
        table: &Arc<Table>,
        options: &TxnOptions,
        timestamp: u32,
    ) -> Result<Option<i64>> {
        let state = &table.counters.sequence;
        // Held while numbers are taken, which others have to wait for, but not while that is made durable.
        let mut taken = state.taken.lock();
        if let Some(t) = &mut *taken
            && t.changes == state.changes()
            && t.row.before(t.next, t.row.next)
        {
            let number = t.next;
            t.next = t.row.after(number, 1);
            let seq = t.seq;
            drop(taken);
            // Whoever took them may still be on the way to the disk.
            self.wait_visible(seq)?;
            return Ok(Some(number));
        }
        let mut change = Change::begin(self, table, options, timestamp)?;
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
    ) -> Result<SetValue> {
        let state = &table.counters.sequence;
        let mut taken = state.taken.lock();
        let mut change = Change::begin(self, table, options, timestamp)?;
        let row = &mut change.row;
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

impl Transaction {
    /// INSERT into a sequence: the row takes the place of the one that is there. It is not undone by a rollback, unless it
    /// comes from another server's log.
    pub(crate) fn insert_sequence_row(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
        if self.options.origin.is_some() {
            self.put_sequence_row(table, row)?;
            table.counters.sequence.forget();
        } else {
            let options = TxnOptions {
                temporary: None,
                ..self.options.clone()
            };
            let mut own = Transaction::new(self.db.clone(), options);
            own.begin_statement(self.timestamp, None);
            own.put_sequence_row(table, row)?;
            // While its lock is held.
            table.counters.sequence.forget();
            own.commit()?;
        }
        Ok(())
    }

    fn put_sequence_row(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
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

/// Error 1031: a sequence's row is replaced, never updated nor deleted.
#[must_use]
pub fn not_for_sequences(table: &Table) -> EngineError {
    EngineError::Sql(narwal_types::SqlError::new(
        1031,
        b"HY000",
        format!(
            "Storage engine SEQUENCE of the table `{}`.`{}` doesn't have this option",
            table.def.db, table.def.name
        ),
    ))
}
