//! Stored programs: their compiled form, and what runs it. It knows syntax and SQL expressions, but neither sessions nor
//! transactions: whoever runs a program is its [`Host`].
//!
//! | file | holds |
//! |---|---|
//! | `code.rs` | [`Program`]: the compiled form |
//! | `names.rs` | what names mean where: variables, conditions, cursors, labels |
//! | `rewrite.rs` | the expressions of a statement, to put parameters in the place of variables |
//! | `compile.rs`, `statement.rs` | from a body's tree to its compiled form |
//! | `host.rs` | [`Host`]: what a program needs of its surroundings |
//! | `run.rs` | the interpreter |
//! | `raise.rs` | conditions and their handlers; SIGNAL, GET DIAGNOSTICS |
//! | `literal.rs` | values as literals, for statements that take no parameters |

mod code;
mod compile;
mod definitions;
mod host;
mod literal;
mod names;
mod raise;
pub mod rewrite;
mod run;
mod statement;

pub use code::{Calc, Columns, Kind, ParameterCode, Program, RowSlot, Slot, SqlStep, Typed};
pub use compile::{Head, TriggerHead, compile};
pub use host::{Host, Lookup, PackageValues, Rows, TakeRows};
pub use literal::{count_params, fill_params, with_params};
pub use run::{Finished, run, run_aggregate, within_stack};
