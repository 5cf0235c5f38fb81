//! What an embedder sees: [`Database`], and the calls of it that the folders below serve.
//!
//! Knows everything below; nothing below knows it, but for the check, which opens folders as an embedder does.
//!
//! | file | holds |
//! |---|---|
//! | `database.rs` | [`Database`]: beginning transactions, DDL, settings, counters |
//! | `open.rs` | opening a folder |
//! | `engine.rs` | what stands above transactions; threads; closing |
//! | `builder.rs` | tables, rows and keys for programs without SQL |
//! | others | the calls, by what they are about |

mod backup;
mod binlog;
mod builder;
pub(crate) mod database;
mod engine;
mod estimate;
mod open;
mod scrub;
mod sequence;
mod stretch;
mod tables;
mod temporary;
mod verify;
mod xa;

pub use crate::catalog::change::Ddl;
pub use builder::TableBuilder;
pub use database::{Database, Stats};
pub use sequence::SetValue;
