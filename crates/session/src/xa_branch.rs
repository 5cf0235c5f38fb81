//! The XA branch of a session: its states, and what is refused in each.

use crate::open_transaction::Open;
use narwal_engine::xa::{XaBranch, Xid};
use narwal_types::SqlError;
use narwal_types::errors;
use narwal_types::errors::codes;

/// Where the session's branch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its transaction is the session's open one.
    Active,
    Idle,
    Prepared,
    /// A deadlock or a conflict has rolled it back.
    RollbackOnly,
}

/// The session's branch.
pub(crate) struct Xa {
    pub(crate) branch: XaBranch,
    pub(crate) state: State,
    /// Of an idle branch.
    pub(crate) open: Option<Box<Open>>,
    pub(crate) read_only: bool,
    /// Why it was rolled back: an error number.
    pub(crate) lost: Option<u16>,
}

pub(crate) fn invalid() -> SqlError {
    errors::XAER_INVAL.plain()
}

pub(crate) fn unknown() -> SqlError {
    errors::XAER_NOTA.with([&"Unknown XID"])
}

pub(crate) fn outside() -> SqlError {
    errors::XAER_OUTSIDE.plain()
}

pub(crate) fn rolled_back(why: Option<u16>) -> SqlError {
    match why {
        Some(codes::LOCK_DEADLOCK) => errors::XA_RBDEADLOCK.plain(),
        _ => errors::XA_RBROLLBACK.plain(),
    }
}

pub(crate) fn wrong_state(name: &str) -> SqlError {
    errors::XAER_RMFAIL.with([&name])
}

impl Xa {
    pub(crate) fn wrong_state(&self) -> SqlError {
        wrong_state(match self.state {
            State::Active => "ACTIVE",
            State::Idle => "IDLE",
            State::Prepared => "PREPARED",
            State::RollbackOnly => "ROLLBACK ONLY",
        })
    }

    /// What an OK packet says of the transaction: it is there, and it is READ ONLY.
    pub(crate) fn read_only(&self) -> bool {
        self.read_only
    }

    pub(crate) fn is(&self, xid: &Option<Xid>) -> bool {
        xid.as_ref() == Some(self.branch.xid())
    }
}
