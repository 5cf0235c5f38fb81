//! From statements to plans: names are bound, a FROM becomes a logical plan, rules change it, and physical plans come out.
//!
//! | file | holds |
//! |---|---|
//! | `resolve.rs` | names to tables, and the privileges that they need |
//! | `logical.rs` | the logical plan: what a SELECT says, with all names known |
//! | `from.rs`, `set.rs`, `view.rs` | FROM, UNION and WITH, merged views |
//! | `with_order.rs`, `recursive.rs` | which tables of WITH name which; those that name themselves or each other |
//! | `select.rs` | SELECT: from its names over the rules to its plan |
//! | `bind_select.rs`, `subqueries.rs` | the clauses of a SELECT bound, and the subqueries in it |
//! | `full_group_by.rs`, `of_groups.rs` | ONLY_FULL_GROUP_BY; what columns of groups are |
//! | `window.rs` | the sorts that window functions need |
//! | `rules/` | what makes a plan better, one file each |
//! | `physical.rs` | from the logical plan to the physical one |
//! | `dml.rs`, `write_join.rs`, `view_write.rs`, `returning.rs`, `load.rs` | statements that change rows |
//! | `portion.rs` | FOR PORTION OF |
//! | `handler.rs` | HANDLER ... READ |
//! | `auto_is_null.rs` | `id IS NULL` finds the row that was inserted last |
//! | `zero_date.rs` | `date_column IS NULL` finds the zero date |
//! | `condition.rs` | conditions and their conjuncts |
//! | `estimate.rs`, `statistics.rs` | sizes of tables and ranges; ANALYZE |

mod auto_is_null;
pub mod bind_select;
pub mod condition;
pub mod dml;
pub mod estimate;
pub mod from;
mod full_group_by;
mod handler;
pub mod load;
pub mod logical;
pub mod merge;
mod of_groups;
pub mod physical;
mod portion;
mod recursive;
pub mod resolve;
pub mod returning;
pub mod rules;
pub mod select;
pub(crate) mod sequence_table;
pub mod set;
pub mod statistics;
pub mod subqueries;
pub mod view;
mod view_columns;
pub mod view_write;
pub mod window;
mod with_order;
pub mod write_join;
mod zero_date;

#[cfg(test)]
mod tests;
