//! Checkpoints: the one writer of the base. And the scrub, which reads it when nobody writes.
//!
//! Knows the parts. Knows no transaction: what it merges are layers of the store.
//!
//! | file | holds |
//! |---|---|
//! | `run.rs` | freeze, merge, swap; the thread |
//! | `meta.rs` | what the base says about itself |
//! | `scrub.rs`, `scrubbing.rs`, `verify.rs` | looking for damage |

pub(crate) mod meta;
pub(crate) mod run;
pub(crate) mod scrub;
mod scrubbing;
pub(crate) mod verify;
