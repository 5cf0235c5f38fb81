//! How fast writers may go, and when a checkpoint is due.
//!
//! Knows the store's size and the log's end. Does not know checkpoints: it rings a bell.

pub(crate) mod admit;
pub(crate) mod pace;
