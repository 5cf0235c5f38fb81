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
        let mut branches = self.engine.branches.lock();
        if branches.contains_key(xid) {
            return Err(EngineError::Sql(errors::XAER_DUPID.plain()));
        }
        branches.insert(xid.clone(), Branch::Owned { prepared: false });
        Ok(XaBranch {
            db: self.parts.clone(),
            branches: self.engine.branches.clone(),
            xid: xid.clone(),
            prepared: None,
        })
    }

    /// Takes a prepared branch that nobody has.
    ///
    /// # Errors
    /// 1397 if there is none; 1402 if it ended with its connection, since it had written nothing.
    pub fn xa_take(&self, xid: &Xid) -> Result<XaBranch> {
        let mut branches = self.engine.branches.lock();
        match branches.remove(xid) {
            Some(Branch::Free(prepared)) => {
                branches.insert(xid.clone(), Branch::Owned { prepared: true });
                Ok(XaBranch {
                    db: self.parts.clone(),
                    branches: self.engine.branches.clone(),
                    xid: xid.clone(),
                    prepared: Some(prepared),
                })
            }
            Some(Branch::RolledBack) => Err(EngineError::Sql(errors::XA_RBROLLBACK.plain())),
            Some(owned) => {
                branches.insert(xid.clone(), owned);
                Err(unknown())
            }
            None => Err(unknown()),
        }
    }

    /// The names of all prepared branches.
    #[must_use]
    pub fn xa_prepared(&self) -> Vec<Xid> {
        let branches = self.engine.branches.lock();
        (branches.iter())
            .filter(|(_, b)| !matches!(b, Branch::Owned { prepared: false }))
            .map(|(xid, _)| xid.clone())
            .collect()
    }
}
