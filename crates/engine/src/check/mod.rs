//! Checking a data folder that no server uses, without changing it.
//!
//! | file | holds |
//! |---|---|
//! | `run.rs` | the steps |
//! | `finding.rs` | what is found |
//! | `log.rs` | every record, chunk, group and event of the log |
//! | `recount.rs` | positions, GTIDs and the index counted again from the groups |
//! | `base.rs` | the pages and the checkpoint of the base file, the index in it |
//! | `spill.rs` | the run files of large transactions |
//! | `tables.rs` | rows and indexes against each other, and one store against another |
//! | `children.rs` | child rows of foreign keys without their parents |
//! | `overlay.rs` | the disk on which all this runs: writes stay in memory |
//!
//! The tables are checked as a start would find them: the database is opened on an overlay of the folder, so recovery
//! runs with everything it does, and nothing of it reaches the folder.

mod base;
mod children;
mod finding;
mod log;
mod overlay;
mod recount;
mod run;
mod spill;
mod tables;

pub use finding::{AgainstLog, CheckObserver, CheckOptions, CheckReport, Finding};
pub use run::check;
