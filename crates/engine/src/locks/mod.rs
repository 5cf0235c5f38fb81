//! Row, range and table locks.
#![allow(dead_code)]

pub(crate) mod asking;
pub(crate) mod ranges;
pub(crate) mod spill;
pub(crate) mod table;
pub(crate) mod types;
