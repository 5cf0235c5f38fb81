//! Checkpoints.

pub(crate) mod meta;
pub(crate) mod run;
pub(crate) mod scrub;
mod scrubbing;
pub(crate) mod verify;
