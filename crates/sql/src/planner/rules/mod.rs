//! The rules of the planner, one file each.
//!
//! | file | does |
//! |---|---|
//! | `having.rs` | HAVING without groups is another WHERE |
//! | `rollup.rs` | WITH ROLLUP reads keys where groups put them |
//! | `semi_join.rs` | IN and EXISTS become sources that are looked up |
//! | `alternatives.rs` | what all branches of an OR say of one table is said beside it |
//! | `functional.rs` | an expression that an index is of is read from it |
//! | `once.rs` | what is written several times is computed once |
//! | `join_order.rs` | the order in which sources are read |
//! | `access_path.rs` | which index a table is read by |
//! | `group_index.rs` | GROUP BY, MIN and MAX along an index |

pub mod access_path;
pub mod alternatives;
pub mod functional;
pub mod group_index;
pub mod having;
pub mod join_order;
pub mod once;
pub mod rollup;
pub mod semi_join;
