//! Binding and planning: names to positions, conditions to access paths.

pub mod access;
pub mod dml;
pub mod estimate;
pub mod explain;
pub mod from;
pub mod group_index;
pub mod interval;
pub mod join_order;
pub mod once;
pub mod resolve;
pub mod sarg;
pub mod select;
pub mod semi_join;
pub mod set;
pub mod statistics;
pub mod view;
pub mod view_write;
pub mod write_join;
