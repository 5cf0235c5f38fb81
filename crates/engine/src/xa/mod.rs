//! XA transactions: branches by name, and those that are prepared. See docs/xa.md.
//!
//! A prepared transaction's record in the log is an ordinary commit record, with everything that its commit needs, whose
//! annex says that it only prepares. Its rows stay in its write set and its locks are held. The record that ends it names the
//! first one by its LSN, and replay reads the rows there. Which transactions are prepared is part of what the order
//! of the log decides (`PreparedList`); a checkpoint stores it as it was at exactly its sequence number, and the log is kept
//! from the oldest one on. A start takes the rows and the locks again (`resume`) before anybody is served.

pub(crate) mod branch;
pub(crate) mod resume;

pub use branch::{XaBranch, XaContext};
pub use narwal_binlog::Xid;
