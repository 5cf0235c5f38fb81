//! Transactions: what one sees, holds and has written.
//!
//! Knows the store, the locks, the catalog, and the log as a place for chunks. Does not know how a commit gets its place.
//!
//! | file | holds |
//! |---|---|
//! | `transaction.rs` | [`crate::Transaction`]: reads, locks, writes, savepoints |
//! | `options.rs`, `savepoint.rs` | how it begins, where it can go back to |
//! | `local.rs`, `local_redo.rs`, `image.rs` | logging of row changes |
//! | `oob.rs`, `sent.rs` | what outgrows memory |
//! | `foreign.rs`, `sequence.rs` | foreign keys, sequences |
//! | `temporary.rs`, `temporary_rows.rs` | temporary tables |

pub(crate) mod foreign;
pub(crate) mod image;
pub(crate) mod local;
pub(crate) mod local_redo;
pub(crate) mod oob;
pub(crate) mod options;
pub(crate) mod savepoint;
pub(crate) mod sent;
pub(crate) mod sequence;
pub(crate) mod temporary;
pub(crate) mod temporary_rows;
pub(crate) mod transaction;
