//! A session's open transaction, and what was said of the next.

use narwal_engine::{Isolation, Savepoint, Transaction};

/// The open transaction.
pub(crate) struct Open {
    pub txn: Transaction,
    pub read_only: bool,
    pub isolation: Isolation,
    /// What was said of it when it began.
    pub said: NextTransaction,
    /// WITH CONSISTENT SNAPSHOT.
    pub snapshot: bool,
    pub savepoints: Vec<(String, Savepoint)>,
}

/// SET TRANSACTION without a scope: for the next transaction only.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NextTransaction {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
}

impl NextTransaction {
    /// Nothing was said.
    pub(crate) fn is_as_usual(self) -> bool {
        self.isolation.is_none() && self.read_only.is_none()
    }
}
