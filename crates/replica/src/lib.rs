//! A replica: receives the binary log of a source server and applies it.
//!
//! | file | holds |
//! |---|---|
//! | `queue.rs` | what was received and is not applied yet |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod queue;
