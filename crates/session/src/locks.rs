//! Table locks of all sessions, and those that one session holds.

use crate::backup_locks::Name;
use crate::read_lock::{Patience, SLICE};
use narwal_engine::TableLocks;
use narwal_syntax::ast::admin::BackupStage;
use narwal_types::SqlResult;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Weak};

/// The table locks of all sessions.
#[derive(Default)]
pub(crate) struct LockedTables {
    /// READ locks, by table id.
    pub(crate) read: Mutex<HashMap<u64, Weak<TableLocks>>>,
    /// Number of sessions' READ locks.
    pub(crate) reads: AtomicUsize,
    /// WRITE locks: table id to connection.
    pub(crate) write: Mutex<HashMap<u64, u32>>,
    /// Number of WRITE locks.
    pub(crate) writes: AtomicUsize,
    pub(crate) changed: Condvar,
    /// The same for READ locks.
    pub(crate) changed_reads: Condvar,
}

impl LockedTables {
    /// Waits until no other session has a table locked with WRITE.
    pub(crate) fn wait_for_readable(
        &self,
        id: u64,
        me: u32,
        patience: &Patience<'_>,
    ) -> SqlResult<()> {
        let mut write = self.write.lock();
        while write.get(&id).is_some_and(|c| *c != me) {
            patience.check()?;
            self.changed.wait_for(&mut write, SLICE);
        }
        Ok(())
    }

    /// Waits until no session has a table locked with READ.
    pub(crate) fn wait_for_writable(&self, id: u64, patience: &Patience<'_>) -> SqlResult<()> {
        let mut read = self.read.lock();
        while read.get(&id).is_some_and(|l| l.strong_count() > 0) {
            patience.check()?;
            self.changed_reads.wait_for(&mut read, SLICE);
        }
        Ok(())
    }
}

/// What one session has locked.
#[derive(Default)]
pub(crate) struct SessionLocks {
    /// LOCK TABLES.
    pub(crate) tables: Option<Locked>,
    /// LOCK TABLES ... WRITE: FLUSH TABLES WITH READ LOCK of others waits for its end.
    pub(crate) inside: bool,
    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) global_read: bool,
    pub(crate) backup: HeldForBackup,
}

/// What a session has locked for a backup.
#[derive(Default)]
pub(crate) struct HeldForBackup {
    /// BACKUP STAGE: the last one.
    pub(crate) stage: Option<BackupStage>,
    /// Of the stages: definitions are kept.
    pub(crate) definitions: bool,
    /// Of the stages: nothing commits.
    pub(crate) commits: bool,
    /// BACKUP LOCK.
    pub(crate) table: Option<Name>,
    /// LOCK INSTANCE FOR BACKUP.
    pub(crate) instance: bool,
}

impl SessionLocks {
    /// Whether it holds any of them.
    pub(crate) fn any(&self) -> bool {
        self.tables.is_some() || self.global_read
    }
}

/// The tables that a session has locked.
pub(crate) struct Locked {
    /// Database, name, id, and whether it is for writing.
    pub(crate) tables: Vec<(String, String, u64, bool)>,
    /// Views: database, name, and whether for writing.
    pub(crate) views: Vec<(String, String, bool)>,
    /// What statements may call a table: database, name, alias, and whether for writing.
    pub(crate) aliases: Vec<(String, String, String, bool)>,
    /// Ids of those that this session alone may write.
    pub held: Arc<[u64]>,
    /// Ids of those that others may write, too: nobody may change their definitions.
    pub(crate) shared: Vec<u64>,
    /// Ids of all: locks of rows that this session's statements take do not wait for its own table locks.
    pub(crate) all: Arc<[u64]>,
    pub(crate) _write: Option<TableLocks>,
    pub(crate) _shared: Option<TableLocks>,
    pub(crate) _read: Vec<Arc<TableLocks>>,
}
