//! A sequence's row, and the numbers that were taken of it.

use crate::catalog::steps::Steps;
use narwal_types::ValueRef;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// INCREMENT BY; 0: as the server's AUTO_INCREMENT counts (`steps`).
    pub increment: i64,
    /// CACHE: so many numbers are taken at once; 0 as 1.
    pub cache: u64,
    /// CYCLE: it begins again when it is used up.
    pub cycle: bool,
    /// How often it has begun again.
    pub round: i64,
    /// How the server counts. Not stored.
    pub steps: Steps,
}

impl SequenceRow {
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
        self.has_valid_range() && (self.min - 1..=self.max + 1).contains(&self.next)
    }

    /// Whether INSERT may write it; otherwise error 4085. Its next number may be anywhere beyond the last one.
    pub(crate) fn may_be_written(&self) -> bool {
        let begins = match self.up() {
            true => self.next >= self.min,
            false => self.next <= self.max,
        };
        self.has_valid_range() && begins
    }

    fn has_valid_range(&self) -> bool {
        let step = self.step().unsigned_abs();
        self.max > self.min
            && self.min > i64::MIN
            && self.max < i64::MAX
            && (self.min..=self.max).contains(&self.start)
            && self.cache < (i64::MAX as u64 - step) / step
    }

    fn step(&self) -> i64 {
        match self.increment {
            0 => i64::try_from(self.steps.step).unwrap_or(i64::MAX).max(1),
            n => n,
        }
    }

    /// The first number from `n` on that is this server's: with INCREMENT BY 0 each server of several has its own.
    pub(crate) fn own_from(&self, n: i64) -> i64 {
        if self.increment != 0 {
            return n;
        }
        let until = self.steps.until_own(i128::from(n));
        i64::try_from(i128::from(n) + until).unwrap_or(i64::MAX)
    }

    /// Asks how the server counts, if the sequence does as well.
    pub(crate) fn count_by(&mut self, steps: &dyn Fn() -> Steps) {
        if self.increment == 0 {
            self.steps = steps();
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
    pub(crate) fn after(&self, from: i64, steps: u64) -> i64 {
        let to = i128::from(from) + i128::from(self.step()) * i128::from(steps);
        let inside = i128::from(self.min)..=i128::from(self.max);
        match i64::try_from(to) {
            Ok(n) if inside.contains(&to) => n,
            _ => self.beyond(),
        }
    }

    /// Whether `a` comes before `b`.
    pub(crate) fn before(&self, a: i64, b: i64) -> bool {
        if self.up() { a < b } else { a > b }
    }

    /// Takes as many numbers as the cache holds: the first of them, `None` if there is none left.
    pub(crate) fn take(&mut self) -> Option<i64> {
        let inside = self.min..=self.max;
        if !inside.contains(&self.next) || !inside.contains(&self.own_from(self.next)) {
            if !self.cycle {
                return None;
            }
            self.round += 1;
            self.next = if self.up() { self.min } else { self.max };
        }
        let first = self.own_from(self.next);
        self.next = self.after(self.next, self.cache.max(1));
        inside.contains(&first).then_some(first)
    }
}

/// Numbers that were taken and not handed out.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The next one to be handed out; the end if it is the row's.
    pub(crate) next: i64,
    /// The row as it is stored.
    pub(crate) row: SequenceRow,
    /// The commit that took them.
    pub(crate) seq: u64,
    /// What [`SequenceState::changes`] was.
    pub(crate) changes: u64,
}

/// A temporary sequence: it has no stored row. Its numbers go with the session.
#[derive(Debug)]
struct Own {
    row: SequenceRow,
    /// The next one to be handed out; the end of those that were taken if it is the row's.
    next: i64,
    /// The last one that was handed out.
    last: Option<i64>,
}

/// A sequence at run time.
#[derive(Debug, Default)]
pub(crate) struct SequenceState {
    pub(crate) taken: Mutex<Option<Taken>>,
    own: Mutex<Option<Own>>,
    /// Counts changes of the row by others: what was taken before is void.
    changes: AtomicU64,
}

impl SequenceState {
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// What was taken before is void: another change of the row, or of the table.
    pub(crate) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

impl SequenceState {
    /// A temporary sequence begins, or is altered: `row` says how it goes on.
    pub(crate) fn begin(&self, row: SequenceRow) {
        let mut own = self.own.lock();
        let last = own.as_ref().and_then(|o| o.last);
        let next = row.next;
        *own = Some(Own { row, next, last });
    }

    /// The row of a temporary sequence.
    pub(crate) fn row(&self) -> Option<SequenceRow> {
        self.own.lock().as_ref().map(|o| o.row)
    }

    /// The last number that a temporary sequence gave.
    pub(crate) fn last(&self) -> Option<i64> {
        self.own.lock().as_ref().and_then(|o| o.last)
    }

    /// NEXTVAL of a temporary sequence, on a server that counts so; `None` if it has run out.
    pub(crate) fn next(&self, steps: &dyn Fn() -> Steps) -> Option<i64> {
        let mut own = self.own.lock();
        let own = own.as_mut()?;
        own.row.count_by(steps);
        let next = own.row.own_from(own.next);
        let number = match own.row.before(next, own.row.next) {
            true => Some(next),
            false => own.row.take(),
        };
        own.last = number;
        own.next = own.row.after(number?, 1);
        number
    }

    /// SETVAL of a temporary sequence: true if it goes on from there, false if it is past it; `None` if it has run out.
    pub(crate) fn set(&self, (number, used, round): (i64, bool, i64)) -> Option<bool> {
        let mut own = self.own.lock();
        let own = own.as_mut()?;
        let next = if used {
            own.row.after(number, 1)
        } else {
            number
        };
        let row = &mut own.row;
        if round < row.round || (round == row.round && row.before(next, own.next)) {
            return Some(false);
        }
        if round > row.round && !row.cycle {
            return None;
        }
        // Among those that were taken the row stays.
        if round != row.round || row.before(row.next, next) {
            row.round = round;
            row.next = next;
        }
        own.next = next;
        Some(true)
    }
}
