//! Definitions of databases, tables and views, tables at run time, and the catalog that names them.
//!
//! Knows types and keys. Knows no rows, no log and no transaction: it says what a change of the catalog makes of it, and
//! others log and publish that.
//!
//! | file | holds |
//! |---|---|
//! | `def.rs`, `view.rs`, `sequence.rs`, `foreign.rs` | definitions |
//! | `table.rs`, `index.rs`, `image.rs`, `counters.rs` | a table at run time |
//! | `steps.rs` | which numbers are the server's own |
//! | `names.rs` | the catalog, one immutable version |
//! | `change.rs`, `resolve.rs` | changes, and what they make |
//! | `shared.rs` | the versions that count now |
//! | `filter.rs` | what goes into the binary log |

pub(crate) mod change;
pub(crate) mod counters;
pub(crate) mod def;
pub(crate) mod filter;
pub(crate) mod foreign;
pub(crate) mod image;
pub(crate) mod index;
pub(crate) mod names;
pub(crate) mod resolve;
pub(crate) mod sequence;
pub(crate) mod shared;
pub(crate) mod steps;
pub(crate) mod table;
pub(crate) mod view;

pub use change::CatalogChange;
