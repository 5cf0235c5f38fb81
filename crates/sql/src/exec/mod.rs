//! Running statements.

pub mod aggregate;
pub mod dml;
pub mod join;
pub mod order;
pub mod rows;
pub mod rules;
pub mod select;
pub mod set;
pub mod write;
pub mod write_join;
