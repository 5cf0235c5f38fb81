//! The event group that an applier runs in a session.

use narwal_engine::{GtidChoice, Origin};
use std::sync::Arc;

/// Text of the statement that stands for a transaction which changed nothing here.
pub(crate) const EMPTY_TRANSACTION: &str = "DO 0 /* a transaction that changed nothing here */";

/// What the statements of a group that a session runs for an applier are logged with.
#[derive(Debug, Clone)]
pub(crate) struct Applying {
    pub(crate) gtid: GtidChoice,
    pub(crate) origin: Option<Arc<Origin>>,
}
