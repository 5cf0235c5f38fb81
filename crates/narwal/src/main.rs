//! The `narwal` command.
fn main() {}
