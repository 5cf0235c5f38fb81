//! Stored programs: procedures, functions and triggers.
//!
//! | file | holds |
//! |---|---|
//! | `every.rs` | how often events run |
//! | `definition.rs` | definitions in the catalog |
//! | `define.rs` | CREATE, ALTER and DROP |
//! | `compiled.rs` | programs compiled and kept |
//! | `runtime.rs` | functions and triggers called |
//! | `store.rs` | the database and the accounts, as programs need them |
//! | `sinks.rs` | where results of statements inside of programs go |
//! | `nested.rs` | where functions and triggers run |
//! | `call.rs` | where procedures and compound statements run: CALL |
//! | `package.rs` | packages: routines that share variables |
//! | `settings.rs` | SET inside of functions and triggers |
//! | `of_sys.rs`, `sys.sql` | the routines of the schema `sys` |
//! | `out.rs` | what a prepared CALL gives to its `?` |
//! | `rights.rs` | with whose privileges |
//! | `show.rs` | SHOW and the virtual tables |
//! | `written.rs` | programs out of rows of `mysql.proc` and `mysql.event` that somebody has written |
//! | `events/` | events: their statements, and what runs them |

mod call;
mod compiled;
mod define;
pub(crate) mod definition;
pub(crate) mod events;
mod every;
mod nested;
mod of_sys;
mod out;
mod package;
mod rights;
mod runtime;
mod settings;
pub(crate) mod show;
mod sinks;
mod store;
pub(crate) mod written;

pub(crate) use compiled::SessionPrograms;
pub(crate) use of_sys::routine_exists;
pub(crate) use store::TablesOf;
