//! Where event groups come from.

pub mod database;
pub mod folder;
pub mod network;

use crate::{Place, Result};
use narwal_binlog::Gtid;
use std::sync::Arc;
use std::time::Duration;

/// Where a stream begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At the oldest transaction that the log still has.
    Beginning,
    /// Behind the newest one.
    Now,
    /// Behind this place.
    Place(Place),
    /// At an offset of a binary log file, between two transactions.
    File {
        /// Name of the file.
        name: String,
        /// Offset, bytes; anything before the first transaction means that.
        offset: u64,
    },
}

/// The head of an event group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventGroup {
    /// Its transaction.
    pub gtid: Gtid,
    /// Bits of [`narwal_binlog::gtid_flags`].
    pub flags2: u8,
    /// Binary log file that it is in.
    pub file: Arc<str>,
    /// Offset of its first event there.
    pub pos: u64,
    /// Seconds since 1970, of its first event.
    pub timestamp: u32,
}

/// What a source has next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A group, whose events come next.
    Group(EventGroup),
    /// Nothing yet: the end of the log, as far as it is now.
    Idle,
    /// Nothing more: the log was closed, or only what it had was asked for.
    End,
}

/// A reader of a log, group by group. Gives durable groups only, as far as it can know.
pub trait Source {
    /// Goes to the next group, also if events of the present one were not read. Waits at most `wait` for one; must not be
    /// woken by looking again and again where that can be helped.
    ///
    /// # Errors
    /// [`crate::Error::Lost`] where [`reopen`](Self::reopen) may help; others are final.
    fn next_group(&mut self, wait: Duration) -> Result<Step>;

    /// The next event of the present group, whole, behind its GTID event; `None` behind the last one.
    ///
    /// # Errors
    /// As [`next_group`](Self::next_group).
    fn next_event(&mut self) -> Result<Option<&[u8]>>;

    /// Events end in checksums.
    fn checksums(&self) -> bool {
        true
    }

    /// The place before the present group if one was begun, else before the next one; `None` if that is not known before
    /// the first group.
    fn place(&self) -> Option<Place>;

    /// Goes on behind `place` after [`crate::Error::Lost`]; `None`: where it began.
    ///
    /// # Errors
    /// As [`next_group`](Self::next_group).
    fn reopen(&mut self, place: Option<&Place>) -> Result<()>;
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next_group(&mut self, wait: Duration) -> Result<Step> {
        (**self).next_group(wait)
    }

    fn next_event(&mut self) -> Result<Option<&[u8]>> {
        (**self).next_event()
    }

    fn checksums(&self) -> bool {
        (**self).checksums()
    }

    fn place(&self) -> Option<Place> {
        (**self).place()
    }

    fn reopen(&mut self, place: Option<&Place>) -> Result<()> {
        (**self).reopen(place)
    }
}
