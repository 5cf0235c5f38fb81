//! What the engine writes into records of the log, byte for byte.
//!
//! Knows definitions and rows as bytes. Knows no place in the log and nobody who waits for one.
//!
//! | file | holds |
//! |---|---|
//! | `annex.rs` | what the events can't say |
//! | `chunk.rs` | events that were sent before their commit |
//! | `packed.rs` | compressed records |
//! | `state.rs` | State records |
//! | `xa.rs` | prepared transactions |
//! | `replica.rs` | what was applied of other servers' logs, and up to where |
//! | `redo.rs` | rows out of events again |

pub(crate) mod annex;
pub(crate) mod chunk;
pub(crate) mod packed;
pub(crate) mod redo;
pub(crate) mod replica;
pub(crate) mod state;
pub(crate) mod xa;
