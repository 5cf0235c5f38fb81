//! What an embedder sees.

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
