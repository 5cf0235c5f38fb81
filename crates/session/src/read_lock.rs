//! FLUSH TABLES WITH READ LOCK: while it is held nothing commits.
//!
//! Every commit of changes and every DDL statement goes through [`GlobalReadLock::enter`]. The lock is granted when all
//! of them have left, so that no commit is under way. Until then those who come wait, with one exception: a DDL statement
//! inside may wait for a transaction that has written its table, and that transaction must be able to end. A session that
//! has locked tables for writing stays inside until it unlocks them, as in MariaDB.

use crate::process::{Process, Stage};
use narwal_types::SqlResult;
use narwal_types::errors;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a waiter looks whether it was killed.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// How long a statement waits, and what ends the wait.
pub(crate) struct Patience<'a> {
    pub interrupt: &'a AtomicBool,
    pub until: Instant,
    /// Its session stays inside ([`Permit::stay`]): whoever wants the lock waits for it, so it must not wait for them.
    pub inside: bool,
    /// Shows in SHOW PROCESSLIST what it waits for.
    pub process: Option<&'a Process>,
}

impl Patience<'_> {
    fn show(&self, stage: Stage) {
        if let Some(p) = self.process {
            p.stage(stage);
        }
    }

    /// Error 1317 after a KILL, 1205 when the time is over.
    pub(crate) fn check(&self) -> SqlResult<()> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(errors::QUERY_INTERRUPTED.plain());
        }
        if Instant::now() >= self.until {
            return Err(errors::LOCK_WAIT_TIMEOUT.plain());
        }
        Ok(())
    }
}

/// The lock.
#[derive(Debug, Default)]
pub(crate) struct GlobalReadLock {
    /// Somebody holds it or waits for it.
    closed: AtomicBool,
    /// Commits and DDL statements under way.
    active: AtomicUsize,
    /// Of them DDL statements.
    ddl: AtomicUsize,
    holders: Mutex<Holders>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Holders {
    /// Sessions that hold it or wait for it.
    count: usize,
    /// Somebody holds it.
    granted: bool,
}

/// A commit or a DDL statement is under way.
pub(crate) struct Permit<'a> {
    lock: &'a GlobalReadLock,
    ddl: bool,
}

impl Permit<'_> {
    /// Stays inside, until [`GlobalReadLock::leave_at_last`].
    pub(crate) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.ddl {
            self.lock.ddl.fetch_sub(1, Ordering::SeqCst);
        }
        self.lock.leave();
    }
}

impl GlobalReadLock {
    fn leave(&self) {
        let last = self.active.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && self.closed.load(Ordering::SeqCst) {
            // Under the mutex: who is about to wait has not yet looked, or waits already.
            let _holders = self.holders.lock();
            self.changed.notify_all();
        }
    }

    /// Ends a stay of [`Permit::stay`]. Its permit was one for DDL.
    pub(crate) fn leave_at_last(&self) {
        drop(Permit {
            lock: self,
            ddl: true,
        });
    }

    fn permit(&self, ddl: bool) -> Permit<'_> {
        if ddl {
            self.ddl.fetch_add(1, Ordering::SeqCst);
        }
        Permit { lock: self, ddl }
    }

    /// Nobody holds the lock or waits for it.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !self.closed.load(Ordering::SeqCst)
    }

    /// Begins a commit (or a DDL statement), unless somebody holds the lock or waits for it.
    #[inline]
    pub(crate) fn try_enter(&self, ddl: bool) -> Option<Permit<'_>> {
        self.active.fetch_add(1, Ordering::SeqCst);
        if self.is_open() {
            return Some(self.permit(ddl));
        }
        self.leave();
        None
    }

    /// Begins a commit (or a DDL statement); waits while the lock is held.
    pub(crate) fn enter(&self, ddl: bool, patience: &Patience<'_>) -> SqlResult<Permit<'_>> {
        if let Some(permit) = self.try_enter(ddl) {
            return Ok(permit);
        }
        if patience.inside {
            self.active.fetch_add(1, Ordering::SeqCst);
            return Ok(self.permit(ddl));
        }
        patience.show(Stage::WaitingForReadLock);
        let mut holders = self.holders.lock();
        loop {
            let ddl_waits = !ddl && self.ddl.load(Ordering::SeqCst) > 0;
            if holders.count == 0 || (!holders.granted && ddl_waits) {
                self.active.fetch_add(1, Ordering::SeqCst);
                patience.show(Stage::Executing);
                return Ok(self.permit(ddl));
            }
            patience.check()?;
            self.changed.wait_for(&mut holders, SLICE);
        }
    }

    /// Takes the lock, when all that is under way has ended.
    pub(crate) fn close(&self, patience: &Patience<'_>) -> SqlResult<()> {
        let mut holders = self.holders.lock();
        holders.count += 1;
        self.closed.store(true, Ordering::SeqCst);
        while self.active.load(Ordering::SeqCst) > 0 {
            if let Err(e) = patience.check() {
                self.release(&mut holders);
                return Err(e);
            }
            self.changed.wait_for(&mut holders, SLICE);
        }
        holders.granted = true;
        Ok(())
    }

    /// Gives it back.
    pub(crate) fn open(&self) {
        self.release(&mut self.holders.lock());
    }

    fn release(&self, holders: &mut Holders) {
        holders.count = holders.count.saturating_sub(1);
        if holders.count == 0 {
            holders.granted = false;
            self.closed.store(false, Ordering::SeqCst);
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn patience(interrupt: &AtomicBool, ms: u64) -> Patience<'_> {
        Patience {
            interrupt,
            until: Instant::now() + Duration::from_millis(ms),
            inside: false,
            process: None,
        }
    }

    #[test]
    fn nothing_enters_while_it_is_held() {
        let lock = GlobalReadLock::default();
        let no = AtomicBool::new(false);
        drop(lock.enter(false, &patience(&no, 0)).unwrap());
        lock.close(&patience(&no, 1000)).unwrap();
        lock.close(&patience(&no, 1000)).unwrap();
        let code = |r: SqlResult<Permit<'_>>| r.err().map(|e| e.code);
        assert_eq!(code(lock.enter(false, &patience(&no, 1))), Some(1205));
        lock.open();
        assert_eq!(code(lock.enter(true, &patience(&no, 1))), Some(1205));
        let yes = AtomicBool::new(true);
        assert_eq!(code(lock.enter(true, &patience(&yes, 1000))), Some(1317));
        lock.open();
        assert_eq!(code(lock.enter(true, &patience(&no, 0))), None);
    }

    #[test]
    fn it_waits_for_what_is_under_way_and_lets_go_what_ddl_waits_for() {
        let lock = GlobalReadLock::default();
        let no = AtomicBool::new(false);
        let ddl = lock.enter(true, &patience(&no, 0)).unwrap();
        assert_eq!(lock.close(&patience(&no, 1)).unwrap_err().code, 1205);
        let lock = &lock;
        std::thread::scope(|s| {
            let flag = Arc::new(AtomicBool::new(false));
            let f = flag.clone();
            let closer = s.spawn(move || {
                let no = AtomicBool::new(false);
                lock.close(&patience(&no, 60_000)).unwrap();
                f.store(true, Ordering::SeqCst);
            });
            while !lock.closed.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            // The commit that the DDL statement waits for.
            drop(lock.enter(false, &patience(&no, 60_000)).unwrap());
            assert!(!flag.load(Ordering::SeqCst));
            drop(ddl);
            closer.join().unwrap();
            assert!(flag.load(Ordering::SeqCst));
        });
        assert!(lock.enter(false, &patience(&no, 1)).is_err());
        lock.open();
    }
}
