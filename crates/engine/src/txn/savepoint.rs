//! Places to roll back to.

use crate::txn::events::LocalMark;
use narwal_binlog::Mark;
use std::sync::{Arc, Weak};

/// A place to roll back to. While a copy of it lives, the transaction keeps what it takes to come back here.
#[derive(Debug, Clone)]
pub struct Savepoint(pub(crate) Arc<SavepointAt>);

/// Where a savepoint is in everything that a rollback undoes.
#[derive(Debug)]
pub(crate) struct SavepointAt {
    /// Position in the write set.
    pub(crate) writes: u64,
    /// Hidden row ids logged so far.
    pub(crate) row_ids: u64,
    /// Place in the event group; `None`: there was none yet.
    pub(crate) mark: Option<Mark>,
    pub(crate) local: Option<LocalMark>,
    /// Positions in the rows of temporary tables, by their numbers.
    pub(crate) temporary: Vec<(u32, u64)>,
}

/// Where a rollback of the running statement leads to.
#[derive(Debug, Default)]
pub(crate) enum StatementStart {
    /// No statement runs.
    #[default]
    None,
    /// It has written nothing yet.
    Here,
    /// The place before its first write.
    At(Savepoint),
}

/// What a transaction can go back to.
#[derive(Default)]
pub(crate) struct Undo {
    /// Savepoints that may still be used.
    pub(crate) savepoints: Vec<Weak<SavepointAt>>,
    pub(crate) statement: StatementStart,
}
