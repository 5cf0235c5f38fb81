//! The locks that backup tools of MariaDB's and MySQL's take: BACKUP STAGE, BACKUP LOCK, LOCK INSTANCE FOR BACKUP.
//!
//! Narwal's own backup needs none of them. Tools that copy by SQL do: while they read, definitions stay as they are.

use crate::read_lock::{GlobalReadLock, Patience, SLICE};
use narwal_types::SqlResult;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::HashMap;

/// A table: its database and name.
pub(crate) type Name = (String, String);

/// About what a name of common length takes in the list of uses, whose growth holds it twice for a moment.
const NAME_BYTES: usize = 300;

/// The backup locks of all sessions.
#[derive(Debug, Default)]
pub(crate) struct BackupLocks {
    /// Closed by BACKUP STAGE BLOCK_DDL and by LOCK INSTANCE: statements that change definitions go through it.
    pub(crate) definitions: GlobalReadLock,
    /// Closed by LOCK INSTANCE: statements that change accounts go through it.
    pub(crate) accounts: GlobalReadLock,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// A session is between BACKUP STAGE START and END.
    stage: bool,
    tables: HashMap<Name, Uses>,
}

/// Who uses a table's name.
#[derive(Debug, Default)]
struct Uses {
    /// Sessions that hold BACKUP LOCK.
    locks: usize,
    /// Statements under way that change its definition.
    changes: usize,
}

/// A statement changes these tables' definitions: BACKUP LOCK waits for its end.
pub(crate) struct Changing<'a> {
    all: &'a BackupLocks,
    names: Vec<Name>,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut state = self.all.state.lock();
        for name in &self.names {
            state.less(name, |uses| &mut uses.changes);
        }
        self.all.changed.notify_all();
    }
}

impl State {
    fn less(&mut self, name: &Name, of: fn(&mut Uses) -> &mut usize) {
        if let Some(uses) = self.tables.get_mut(name) {
            let count = of(uses);
            *count = count.saturating_sub(1);
            if uses.locks == 0 && uses.changes == 0 {
                self.tables.remove(name);
            }
        }
    }

    /// Whether one of the names, or a table of one of the databases (an empty table's name), is locked.
    fn is_locked(&self, names: &[Name]) -> bool {
        let locked = self.tables.iter().filter(|(_, uses)| uses.locks > 0);
        let mut locked = locked.map(|(name, _)| name);
        locked
            .any(|(db, table)| (names.iter()).any(|(d, t)| d == db && (t.is_empty() || t == table)))
    }
}

impl BackupLocks {
    fn wait_until(
        &self,
        patience: &Patience<'_>,
        ready: impl Fn(&State) -> bool,
    ) -> SqlResult<MutexGuard<'_, State>> {
        let mut state = self.state.lock();
        while !ready(&state) {
            patience.check()?;
            self.changed.wait_for(&mut state, SLICE);
        }
        Ok(state)
    }

    /// BACKUP STAGE START: waits for another session's END.
    pub(crate) fn begin_stages(&self, patience: &Patience<'_>) -> SqlResult<()> {
        self.wait_until(patience, |s| !s.stage)?.stage = true;
        Ok(())
    }

    /// BACKUP STAGE END.
    pub(crate) fn end_stages(&self) {
        self.state.lock().stage = false;
        self.changed.notify_all();
    }

    /// BACKUP LOCK: waits for what changes the table's definition just now.
    pub(crate) fn lock(&self, name: &Name, patience: &Patience<'_>) -> SqlResult<()> {
        let free = |s: &State| s.tables.get(name).is_none_or(|uses| uses.changes == 0);
        let mut state = self.wait_until(patience, free)?;
        state.tables.entry(name.clone()).or_default().locks += 1;
        Ok(())
    }

    /// BACKUP UNLOCK.
    pub(crate) fn unlock(&self, name: &Name) {
        self.state.lock().less(name, |uses| &mut uses.locks);
        self.changed.notify_all();
    }

    /// A statement changes definitions: waits while one of the tables is locked. A name without a table is a database.
    pub(crate) fn change(
        &self,
        names: Vec<Name>,
        patience: &Patience<'_>,
    ) -> SqlResult<Changing<'_>> {
        narwal_memory::reserve((names.len() * NAME_BYTES) as u64)?;
        let mut state = self.wait_until(patience, |s| !s.is_locked(&names))?;
        for name in &names {
            state.tables.entry(name.clone()).or_default().changes += 1;
        }
        Ok(Changing { all: self, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    fn patience(interrupt: &AtomicBool) -> Patience<'_> {
        Patience {
            interrupt,
            until: Instant::now() + Duration::from_millis(1),
            inside: false,
            process: None,
        }
    }

    #[test]
    fn a_locked_table_keeps_its_definition() {
        let all = BackupLocks::default();
        let no = AtomicBool::new(false);
        let name = |t: &str| ("d".to_owned(), t.to_owned());
        let change = |t: &str| all.change(vec![name(t)], &patience(&no));
        all.lock(&name("t"), &patience(&no)).unwrap();
        all.lock(&name("t"), &patience(&no)).unwrap();
        assert!(change("u").is_ok());
        assert_eq!(change("t").err().map(|e| e.code), Some(1205));
        // The whole database.
        assert_eq!(change("").err().map(|e| e.code), Some(1205));
        all.unlock(&name("t"));
        assert!(change("t").is_err());
        all.unlock(&name("t"));
        let changing = change("t").unwrap();
        assert_eq!(all.lock(&name("t"), &patience(&no)).unwrap_err().code, 1205);
        drop(changing);
        all.lock(&name("t"), &patience(&no)).unwrap();
        all.unlock(&name("t"));
        assert!(all.state.lock().tables.is_empty());
    }

    #[test]
    fn one_session_goes_through_the_stages() {
        let all = BackupLocks::default();
        let no = AtomicBool::new(false);
        all.begin_stages(&patience(&no)).unwrap();
        assert_eq!(all.begin_stages(&patience(&no)).unwrap_err().code, 1205);
        all.end_stages();
        all.begin_stages(&patience(&no)).unwrap();
    }
}
