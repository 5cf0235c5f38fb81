//! What the engine writes into records of the log.

pub(crate) mod annex;
pub(crate) mod chunk;
pub(crate) mod packed;
pub(crate) mod redo;
pub(crate) mod replica;
pub(crate) mod state;
pub(crate) mod xa;
