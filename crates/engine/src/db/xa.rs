//! XA transactions by name.

use crate::db::database::Database;
use crate::xa::branch::{Branch, XaBranch, unknown};
use crate::{EngineError, Result};
use narwal_binlog::Xid;
use narwal_types::errors;

impl Database {
    /// Begins a branch: takes its name.
    ///
    /// # Errors
    /// 1440 if the name is taken; 1235 where there are two logs.
    pub fn xa_begin(&self, xid: &Xid) -> Result<XaBranch> {
        self.parts.binlog.one_log("XA")?;
        let branches = &mut self.engine.branches.lock().branches;
        if branches.contains_key(xid) {
            return Err(EngineError::Sql(errors::XAER_DUPID.plain()));
        }
        branches.insert(xid.clone(), Branch::Owned { prepared: None });
        Ok(XaBranch {
            db: self.parts.clone(),
            branches: self.engine.branches.clone(),
            xid: xid.clone(),
            prepared: None,
            ended: None,
        })
    }

    /// Takes a prepared branch that nobody has.
    ///
    /// # Errors
    /// 1397 if there is none; 1402 if it ended with its connection, since it had written nothing; 1598 if the log has stopped
    /// and it is not known whether the record of its end is on the disk.
    pub fn xa_take(&self, xid: &Xid) -> Result<XaBranch> {
        let log = &self.parts.binlog.log;
        let mut names = self.engine.branches.lock();
        match names.branches.remove(xid) {
            Some(Branch::Free(prepared)) => {
                let owned = Branch::Owned {
                    prepared: Some(prepared.seq),
                };
                names.branches.insert(xid.clone(), owned);
                Ok(XaBranch {
                    db: self.parts.clone(),
                    branches: self.engine.branches.clone(),
                    xid: xid.clone(),
                    prepared: Some(prepared),
                    ended: None,
                })
            }
            Some(Branch::RolledBack) => Err(EngineError::Sql(errors::XA_RBROLLBACK.plain())),
            Some(owned) => {
                names.branches.insert(xid.clone(), owned);
                Err(unknown())
            }
            // "Unknown" would say that it has ended for sure.
            None => Err(match log.failed() {
                Some(why) if names.is_ending(xid, log.visible_seq()) => EngineError::LogFailed(why),
                _ => unknown(),
            }),
        }
    }

    /// The names of all prepared branches, in order: as of the last commit that readers may see.
    #[must_use]
    pub fn xa_prepared(&self) -> Vec<Xid> {
        let mut names = self.engine.branches.lock();
        // Under the lock: what it does not cover yet comes behind.
        names.prepared(self.parts.binlog.log.visible_seq())
    }
}
