//! How fast writers may go, and when a checkpoint is due.

pub(crate) mod admit;
pub(crate) mod pace;
