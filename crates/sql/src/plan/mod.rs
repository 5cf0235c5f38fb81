//! Physical plans as data: what is read by which access path, joined, grouped, sorted and put out, or changed.
//!
//! Nothing here plans or runs anything. The planner (`planner/`) makes these, the executor (`exec/`) runs them, EXPLAIN
//! prints them.
//!
//! | file | holds |
//! |---|---|
//! | `query.rs` | the plan of a query: tables, joins, grouping, order, output |
//! | `dml.rs` | the plans of statements that change rows |
//! | `statement.rs` | the plan of a whole statement |
//! | `handler.rs` | the plan of HANDLER ... READ |
//! | `access.rs` | an access path, and its key ranges for given values |
//! | `sarg.rs`, `interval.rs`, `fit.rs` | conditions that an index can look up; the intervals they mean; constants as a column's values |
//! | `index_rows.rs` | rows made of the entries of an index |
//! | `made.rs` | made-up tables, whose images the rows of joins and derived tables are |
//! | `view_check.rs` | WITH CHECK OPTION |
//! | `print.rs` | plans as text, for tests |
//! | `explain.rs`, `json.rs` | plans as EXPLAIN and ANALYZE print them |
//! | `counts.rs` | what a running statement has read |
//! | `reads.rs` | what the status counters say of a plan |

pub mod access;
pub mod counts;
pub mod dml;
pub mod explain;
pub mod fit;
pub mod handler;
pub mod index_rows;
pub mod interval;
mod json;
pub mod made;
mod print;
pub mod query;
mod reads;
pub mod sarg;
pub mod statement;
pub mod view_check;
