//! Running statements.

pub mod aggregate;
mod aggregate_spill;
mod byte_sorter;
mod distinct;
pub mod dml;
pub mod group_index;
mod group_spill;
pub mod grouping;
pub mod index_rows;
pub mod join;
mod join_spill;
pub mod key_table;
pub mod order;
mod partition;
mod prefilter;
mod row_list;
pub mod rows;
pub mod rules;
pub mod select;
pub mod set;
mod set_spill;
pub mod spill;
mod value_bytes;
pub mod view_check;
pub mod write;
pub mod write_join;
