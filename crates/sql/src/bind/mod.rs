//! From parsed expressions to bound ones: names to positions, operators to nodes.
//!
//! The binder knows no plans. A subquery is planned by the [`SubqueryPlanner`] of the scope that it stands in.
//!
//! | file | holds |
//! |---|---|
//! | `scope.rs` | what names may mean where an expression stands |
//! | `binder.rs` | names to positions, operators to nodes, constants to values |
//! | `bits.rs` | hexadecimal literals as numbers |
//! | `predicate.rs` | BETWEEN, IN, LIKE and their like |
//! | `default_of.rs` | DEFAULT(column) |
//! | `short_year.rs` | YEAR(2) by its two digits |
//! | `dynamic.rs` | calls about dynamic columns |
//! | `aggregate.rs` | calls of aggregates |
//! | `operand.rs` | rows and subqueries among operands |
//! | `subquery.rs` | subqueries and comparisons with them |
//! | `windows.rs`, `window.rs` | the calls of window functions of a SELECT; their arguments and windows |
//! | `param.rs` | parameters |
//! | `user_variable.rs` | types of user variables |
//! | `table_rules.rs` | the expressions that a table's rows obey |
//! | `sequence_rights.rs` | the rights that their DEFAULTs need |

mod aggregate;
pub mod binder;
mod bits;
mod default_of;
mod dynamic;
mod late;
mod meet;
pub mod operand;
pub mod param;
pub(crate) mod predicate;
pub mod scope;
pub(crate) mod sequence_rights;
mod short_year;
pub mod subquery;
pub mod table_rules;
mod user_variable;
pub mod window;
pub mod windows;

pub use binder::{bind, bind_condition};
