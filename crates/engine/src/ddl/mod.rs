//! DDL.

pub(crate) mod fill;
pub(crate) mod run;
pub(crate) mod table_locks;
pub(crate) mod temporary;
