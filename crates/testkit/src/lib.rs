//! What tests and fuzzers of several crates share. Only they depend on it; it depends on nothing.
//!
//! | module | holds |
//! |---|---|
//! | `allocation.rs` | a global allocator that tells what is taken and given back |
//! | `fuzz.rs` | the command line of the fuzzers, and a count of panics |
//! | `sources.rs` | the text of source files |
//! | `sql.rs` | words that hurt parsers |
//! | `stories.rs` | many seeds on all processors, until enough crashes have come |

pub mod allocation;
pub mod fuzz;
pub mod sources;
pub mod sql;
pub mod stories;
