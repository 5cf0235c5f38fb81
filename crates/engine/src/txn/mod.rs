//! Transactions: what one sees, holds and has written.
//!
//! Knows the store, the locks, the catalog, and the log as a place for chunks. Does not know how a commit gets its place.
//!
//! | file | holds |
//! |---|---|
//! | `transaction.rs` | [`crate::Transaction`]: statements, savepoints, the end |
//! | `options.rs`, `savepoint.rs` | how it begins, where it can go back to |
//! | `view.rs`, `reads.rs` | what it sees |
//! | `held.rs`, `locking.rs` | what it holds |
//! | `writes.rs` | changing rows |
//! | `events.rs`, `local.rs`, `image.rs` | logging of row changes |
//! | `oob.rs` | what outgrows memory |
//! | `foreign.rs`, `following.rs`, `overlaps.rs`, `sequence.rs` | foreign keys, keys WITHOUT OVERLAPS, sequences |
//! | `temporary.rs`, `temporary_rows.rs` | temporary tables |

pub(crate) mod events;
pub(crate) mod following;
pub(crate) mod foreign;
pub(crate) mod held;
pub(crate) mod image;
pub(crate) mod local;
pub(crate) mod locking;
pub(crate) mod oob;
pub(crate) mod options;
pub(crate) mod overlaps;
pub(crate) mod reads;
pub(crate) mod savepoint;
pub(crate) mod sequence;
pub(crate) mod temporary;
pub(crate) mod temporary_rows;
pub(crate) mod transaction;
pub(crate) mod view;
pub(crate) mod writes;
