//! The progress of an applier: what others see of it while it works.

use narwal_binlog::Gtid;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A place in the source's log, behind a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupEnd {
    /// The group; `None` for a mere position.
    pub gtid: Option<Gtid>,
    /// The source's file.
    pub file: Arc<str>,
    /// Position behind the group.
    pub pos: u64,
    /// The group's time, seconds since 1970 by the source's clock; 0 for a mere position.
    pub timestamp: u32,
}

/// Why an applier stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressError {
    /// MySQL's number, `Last_SQL_Errno`.
    pub code: u16,
    /// `Last_SQL_Error`.
    pub text: String,
    /// The group that it happened to.
    pub gtid: Option<Gtid>,
    /// When.
    pub at: SystemTime,
}

#[derive(Debug, Default)]
struct Inside {
    begun: Option<GroupEnd>,
    reserved: Option<GroupEnd>,
    durable: Option<GroupEnd>,
    wanted: Option<GroupEnd>,
    error: Option<ProgressError>,
    state: &'static str,
}

/// Progress of one channel's applier; outlives the applier's runs.
#[derive(Debug, Default)]
pub struct Progress {
    inside: Mutex<Inside>,
    changed: Condvar,
    groups: AtomicU64,
    statements: AtomicU64,
    rows: AtomicU64,
    retries: AtomicU64,
}

/// What [`Progress`] says at one moment.
#[derive(Debug, Clone, Default)]
pub struct ProgressSnapshot {
    /// The group being applied (the oldest of them), `None` if nothing is.
    pub begun: Option<GroupEnd>,
    /// The last group that has its place in our log: `Exec_Master_Log_Pos`.
    pub reserved: Option<GroupEnd>,
    /// The last group that is durable and visible here.
    pub durable: Option<GroupEnd>,
    /// Why it stopped.
    pub error: Option<ProgressError>,
    /// As SHOW PROCESSLIST says it.
    pub state: &'static str,
    /// Groups committed.
    pub groups: u64,
    /// Of them, statements (DDL).
    pub statements: u64,
    /// Rows changed.
    pub rows: u64,
    /// Groups that were rolled back and tried again.
    pub retries: u64,
}

impl Progress {
    /// What it says now.
    pub fn snapshot(&self) -> ProgressSnapshot {
        let inside = self.inside.lock();
        let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
        ProgressSnapshot {
            begun: inside.begun.clone(),
            reserved: inside.reserved.clone(),
            durable: inside.durable.clone(),
            error: inside.error.clone(),
            state: inside.state,
            groups: count(&self.groups),
            statements: count(&self.statements),
            rows: count(&self.rows),
            retries: count(&self.retries),
        }
    }

    /// Why it stopped, if it did.
    pub fn error(&self) -> Option<ProgressError> {
        self.inside.lock().error.clone()
    }

    /// Forgets the error: a new start.
    pub fn clear_error(&self) {
        self.inside.lock().error = None;
    }

    /// Forgets all places: RESET SLAVE, CHANGE MASTER.
    pub fn reset(&self) {
        *self.inside.lock() = Inside::default();
    }

    /// Notes an error; the first one counts.
    pub fn fail(&self, code: u16, text: String, gtid: Option<Gtid>) {
        let mut inside = self.inside.lock();
        inside.error.get_or_insert(ProgressError {
            code,
            text,
            gtid,
            at: SystemTime::now(),
        });
        drop(inside);
        self.changed.notify_all();
    }

    /// A group begins to be applied.
    pub(super) fn begin(&self, place: GroupEnd) {
        self.inside.lock().begun = Some(place);
    }

    /// A group has its place in our log.
    pub(super) fn reserve(&self, place: GroupEnd) {
        let mut inside = self.inside.lock();
        if inside.begun.as_ref().is_some_and(|b| b.gtid == place.gtid) {
            inside.begun = None;
        }
        inside.reserved = Some(place);
    }

    /// So much was done.
    pub(super) fn count(&self, rows: u64, statement: bool) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.statements
            .fetch_add(u64::from(statement), Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    /// A group is tried again.
    pub(super) fn retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything up to these places is durable: the last group, the last place to be acknowledged.
    pub(super) fn durable(&self, place: Option<GroupEnd>, ack: Option<GroupEnd>) {
        let mut inside = self.inside.lock();
        if place.is_some() {
            inside.durable = place;
        }
        if ack.is_some() {
            inside.wanted = ack;
        }
        drop(inside);
        self.changed.notify_all();
    }

    /// What it does now, in MariaDB's words.
    pub(super) fn state(&self, state: &'static str) {
        self.inside.lock().state = state;
    }

    /// The applier has ended.
    pub(super) fn stopped(&self) {
        let mut inside = self.inside.lock();
        inside.begun = None;
        inside.state = "";
        drop(inside);
        self.changed.notify_all();
    }

    /// Waits until what it says may have changed.
    pub fn wait_change(&self, timeout: Duration) {
        let mut inside = self.inside.lock();
        self.changed.wait_for(&mut inside, timeout);
    }

    /// Waits until a group that its source wants acknowledged is durable, and is not `last`; `None` after `timeout`.
    pub fn wait_ack(&self, last: Option<&GroupEnd>, timeout: Duration) -> Option<GroupEnd> {
        let mut inside = self.inside.lock();
        if inside.wanted.as_ref() == last {
            self.changed.wait_for(&mut inside, timeout);
        }
        inside.wanted.clone().filter(|p| Some(p) != last)
    }
}
