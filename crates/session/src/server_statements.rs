//! FLUSH.

use crate::admin::{Flush, TableLock};
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use narwal_types::SqlResult;
use std::sync::atomic::Ordering;

impl ClientSession {
    /// FLUSH.
    pub(crate) fn flush(&mut self, items: &[Flush]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::RELOAD)?;
        for item in items {
            match item {
                Flush::Logs => {
                    self.instance.database().sync()?;
                    self.flush_binary_logs(&[])?;
                }
                Flush::EngineLogs => self.instance.database().sync()?,
                Flush::BinaryLogs(domains) => self.flush_binary_logs(domains)?,
                Flush::Status => {
                    let p = &self.process.counters;
                    p.add_to(&self.instance.retired);
                    p.reset();
                    self.instance
                        .status_since
                        .store(self.instance.processes.uptime_seconds(), Ordering::Relaxed);
                }
                Flush::ReadLock => {
                    self.take_global_read_lock()?;
                    self.rewind_handlers(&[]);
                }
                Flush::TablesReadLock(tables) => {
                    self.refuse_under_locks()?;
                    self.refuse_temporary(tables)?;
                    self.rewind_handlers(tables);
                    let locks: Vec<TableLock> = tables
                        .iter()
                        .map(|t| TableLock {
                            alias: None,
                            table: t.clone(),
                            write: false,
                            shared: false,
                        })
                        .collect();
                    self.lock_tables(&locks)?;
                }
                // Accounts are read from the catalog itself: only who is blocked is forgotten.
                Flush::UserResources => self.instance.resources.flush(),
                Flush::Privileges => {
                    self.check_grant_tables_locked("db")?;
                    self.instance.logins.forget_all();
                }
                // Tables have no files to be closed.
                Flush::Tables(tables) if !tables.is_empty() => {
                    self.check_locked_for_write(tables)?;
                    self.rewind_handlers(tables);
                    let catalog = self.instance.database().catalog();
                    for t in tables {
                        let db = t.db.as_deref().or(self.env.db.as_deref()).unwrap_or("");
                        if let Some(t) = catalog.table(db, &t.name) {
                            t.forget_numbers();
                        }
                    }
                }
                Flush::Tables(_) => {
                    self.check_all_for_write()?;
                    let catalog = self.instance.database().catalog();
                    for db in catalog.databases() {
                        let sequences = catalog.tables(&db.name).filter(|t| t.def.sequence);
                        sequences.for_each(|t| t.forget_numbers());
                    }
                }
                Flush::Nothing => {}
            }
        }
        Ok(())
    }
}
