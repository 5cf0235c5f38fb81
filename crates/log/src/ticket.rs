//! The right to hand over one record.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::record::Reserved;
use crate::slot::Slot;
use crate::{Lsn, Seq};

/// The right to hand over one record, from [`crate::Log::reserve`].
///
/// Dropping it before [`crate::Log::fill`] leaves a hole in the log that nothing can close, so that stops the log for good
/// (every later call fails) instead of hanging everyone behind the hole.
#[derive(Debug)]
pub struct Ticket {
    pub(crate) slot: Arc<Slot>,
    pub(crate) home: Arc<dyn Home>,
    pub(crate) waited: Cell<bool>,
    /// Only one thread at a time may wait on it.
    pub(crate) _not_sync: PhantomData<Cell<()>>,
}

impl Ticket {
    /// The place of the record.
    pub fn reserved(&self) -> Reserved {
        self.slot.at
    }

    /// Where the record starts.
    pub fn lsn(&self) -> Lsn {
        self.slot.at.lsn
    }

    /// Its commit sequence number (see [`Reserved::seq`]).
    pub fn seq(&self) -> Seq {
        self.slot.at.seq
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.slot.ready() {
            self.home.abandoned(self.slot.at.lsn);
        } else if !self.waited.get() {
            self.home.unwaited();
        }
    }
}

/// What a dropped ticket needs of its log.
pub(crate) trait Home: Send + Sync + std::fmt::Debug {
    fn abandoned(&self, lsn: Lsn);
    fn unwaited(&self);
}
