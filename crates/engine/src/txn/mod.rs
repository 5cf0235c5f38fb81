//! Transactions.

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
