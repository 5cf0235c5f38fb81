//! Applying row events that another server wrote: table maps and rows in, changes of a [`crate::Transaction`] out.
//!
//! | file | holds |
//! |---|---|
//! | `applier.rs` | [`RowApplier`] |
//! | `map.rs` | a table as the source describes it, matched with ours; images of rows |
//! | `convert.rs` | how a column's values become ours |
//! | `change.rs` | finding rows and changing them |
//! | `behind.rs` | rows of MERGE tables |
//! | `keys.rs` | the keys that row events touch, without applying them |
//!
//! Rows are found by the before image (the primary key if the image has it, else an index whose columns it has, else a
//! scan) and changed through the same calls that SQL uses, so that indexes, row locks, counters and the log follow.
//! Images may be partial (`binlog_row_image` MINIMAL and NOBLOB): what the after image does not say comes from the row
//! that was found, or, for an insert, from the column's default. Where the source's columns are ours, images are taken
//! as they are.

pub(crate) mod applier;
mod behind;
mod cell;
mod change;
mod convert;
mod error;
mod keys;
mod map;

pub use applier::RowApplier;
pub use change::RowsApplied;
pub use convert::TypeConversions;
pub use keys::{RowKeys, TouchedKeys};
