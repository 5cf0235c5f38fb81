//! Definitions of databases, tables and views, tables at run time, and the catalog that names them.

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
pub(crate) mod table;
pub(crate) mod view;

pub use change::CatalogChange;
