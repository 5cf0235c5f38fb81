//! The commit path: reserve a place, stamp, apply, hand over, release locks.
//!
//! Knows transactions, the log's order and the store. Does not know who waits for the commit, and how.
//!
//! | file | holds |
//! |---|---|
//! | `place.rs` | the place in all orders at once |
//! | `land.rs` | the steps |
//! | `reserved.rs` | what a commit gets |

pub(crate) mod land;
pub(crate) mod place;
pub(crate) mod reserved;
