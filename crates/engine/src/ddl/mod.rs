//! DDL as one commit; rows for the tables that it makes.
//!
//! Knows transactions and commits. Does not know SQL: it is told what changes.
//!
//! | file | holds |
//! |---|---|
//! | `run.rs` | the steps of a statement |
//! | `fill.rs` | rows of new tables |
//! | `table_locks.rs` | locks that outlive transactions |
//! | `temporary.rs` | the same for temporary tables |

pub(crate) mod fill;
pub(crate) mod run;
pub(crate) mod table_locks;
pub(crate) mod temporary;
