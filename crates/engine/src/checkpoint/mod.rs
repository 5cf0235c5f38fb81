//! Checkpoints.

pub(crate) mod meta;
pub(crate) mod run;
pub(crate) mod scrub;
pub(crate) mod verify;
