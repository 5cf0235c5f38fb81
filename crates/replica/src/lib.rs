//! A replica: receives the binary log of a source server and applies it.
//!
//! | file | holds |
//! |---|---|
//! | `manager.rs` | all connections of a server: what the statements do |
//! | `channel.rs` | one named connection: its receiver's and its applier's thread, their starts and stops |
//! | `shared.rs` | what the threads of one connection share |
//! | `attach.rs` | connecting to a source, and what is said before its log comes |
//! | `receive.rs` | the receiver: links to the source, one after the other |
//! | `assemble.rs` | from a source's packets to groups, checked, without I/O |
//! | `queue.rs` | what was received and is not applied yet |
//! | `apply/` | the applier: groups of the queue into the database, in parallel, in the source's order |
//! | `semisync.rs` | acknowledgements to a semi-synchronous source |
//! | `status.rs`, `lag.rs` | what is shown of a connection, and how far it is behind |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod apply;
pub mod assemble;
mod attach;
mod channel;
mod lag;
mod manager;
pub mod queue;
mod receive;
mod semisync;
mod shared;
mod status;

pub use channel::{Channel, DEFAULT_QUEUE_BYTES};
pub use manager::Manager;
