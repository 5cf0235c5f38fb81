//! The log as a binary log: virtual files, positions, GTID state, retention.
//!
//! | file | holds |
//! |---|---|
//! | `part.rs` | the log as a part of the database |
//! | `types.rs` | what the calls of [`crate::Database`] give and take |
//! | `order.rs` | what advances in the log's order |
//! | `write.rs` | State records |
//! | `holds.rs`, `oob_holds.rs` | who keeps the log, from where on |
//! | `track.rs` | what advances with each group, under the log's order mutex |
//! | `index.rs` | files and points: LSN, commit number, position and GTIDs of one another |
//! | `store.rs` | the index in the base |
//! | `replay.rs` | recovery |
//! | `lookup.rs` | finding places, reading from them |
//! | `content.rs` | a group's content by its GTID |
//! | `admin.rs` | FLUSH, RESET MASTER, `gtid_binlog_state` |
//! | `retention.rs` | purging, and what keeps the log |
//! | `stretch.rs` | what an archive of the log needs to know |
//! | `visible.rs`, `applied_seen.rs` | what readers can see of it now |
//!
//! Locks: `admin`, then `index`, then the log's order mutex. A commit takes the last one only.

pub(crate) mod admin;
pub(crate) mod applied_seen;
pub(crate) mod content;
pub(crate) mod holds;
pub(crate) mod index;
pub(crate) mod lookup;
pub(crate) mod oob_holds;
pub(crate) mod order;
pub(crate) mod part;
pub(crate) mod replay;
pub(crate) mod retention;
pub(crate) mod store;
pub(crate) mod stretch;
pub(crate) mod track;
pub(crate) mod types;
pub(crate) mod visible;
pub(crate) mod write;
