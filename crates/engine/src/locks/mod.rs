//! Row, range and table locks: who has them, who waits, who is the victim of a deadlock.
//!
//! Knows keys and owners, which are numbers. Knows no transaction, no table and no log.
//!
//! | file | holds |
//! |---|---|
//! | `types.rs` | names of locks, modes, waits |
//! | `table.rs` | the lock table, deadlock detection |
//! | `ranges.rs`, `asking.rs` | ranges, and asking those who have them |
//! | `waits.rs` | how many waits there were, and how long |
//! | `spill.rs` | locks of huge transactions on disk |
#![allow(dead_code)]

pub(crate) mod asking;
pub(crate) mod ranges;
pub(crate) mod spill;
pub(crate) mod table;
pub(crate) mod types;
pub(crate) mod waits;
