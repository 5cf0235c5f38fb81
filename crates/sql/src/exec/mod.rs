//! Running statements.

pub mod aggregate;
pub mod dml;
pub mod group_index;
pub mod grouping;
pub mod index_rows;
pub mod join;
pub mod key_table;
pub mod order;
mod prefilter;
pub mod rows;
pub mod rules;
pub mod select;
pub mod set;
pub mod spill;
pub mod view_check;
pub mod write;
pub mod write_join;
