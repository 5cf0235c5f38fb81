//! A replica: receives the binary log of a source server and applies it.
//!
//! | file | holds |
//! |---|---|
//! | `apply/` | the applier: groups of the queue into the database, in parallel, in the source's order |
//! | `queue.rs` | what was received and is not applied yet |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod apply;
pub mod queue;
