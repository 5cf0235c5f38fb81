//! Storing a value into a column.
