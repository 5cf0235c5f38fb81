//! What a session keeps of its transactions.

use crate::open_transaction::{NextTransaction, Open};
use crate::xa_branch::Xa;
use narwal_engine::Isolation;
use narwal_types::{Name, SqlResult, errors};

/// The open transaction, the XA branch, and what was said of the next transaction.
#[derive(Default)]
pub(crate) struct SessionTransaction {
    pub open: Option<Box<Open>>,
    /// The XA branch that the session works on, or has prepared.
    pub xa: Option<Xa>,
    /// A transaction of its own for each SELECT outside of others: the last one's, as good as new.
    pub reader: Option<Box<Open>>,
    /// BEGIN was said (as opposed to autocommit=0).
    pub explicit: bool,
    pub next: NextTransaction,
}

/// Isolation and access mode of a transaction, and what was said of them: AND CHAIN begins the next one with them.
pub(crate) struct Setup {
    pub isolation: Isolation,
    pub read_only: bool,
    pub said: NextTransaction,
}

impl SessionTransaction {
    /// How the open transaction was begun.
    pub(crate) fn setup(&self) -> Option<Setup> {
        self.open.as_ref().map(|o| Setup {
            isolation: o.isolation,
            read_only: o.read_only,
            said: o.said,
        })
    }

    /// A savepoint of the open transaction. An older one of that name, in any case of its letters, is gone.
    pub(crate) fn savepoint(&mut self, name: &str) {
        if let Some(o) = &mut self.open {
            o.savepoints.retain(|(n, _)| !n.same_name(name));
            let s = o.txn.savepoint();
            o.savepoints.push((name.to_string(), s));
        }
    }

    /// Undoes what came behind a savepoint, which stays. Error 1305.
    pub(crate) fn rollback_to(&mut self, name: &str) -> SqlResult<()> {
        let (o, at) = self.find_savepoint(name)?;
        o.txn.rollback_to(&o.savepoints[at].1);
        o.savepoints.truncate(at + 1);
        Ok(())
    }

    /// Forgets a savepoint and those behind it. Error 1305.
    pub(crate) fn release_savepoint(&mut self, name: &str) -> SqlResult<()> {
        let (o, at) = self.find_savepoint(name)?;
        o.savepoints.truncate(at);
        Ok(())
    }

    fn find_savepoint(&mut self, name: &str) -> SqlResult<(&mut Open, usize)> {
        let unknown = || errors::SP_DOES_NOT_EXIST.with([&"SAVEPOINT", &name]);
        let o = self.open.as_deref_mut().ok_or_else(unknown)?;
        let is_it = |(n, _): &(String, _)| n.same_name(name);
        let at = o.savepoints.iter().position(is_it).ok_or_else(unknown)?;
        Ok((o, at))
    }
}
