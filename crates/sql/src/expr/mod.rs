//! Bound expressions and their evaluation.
//!
//! An [`Expr`] stands over column positions; [`Expr::eval`] computes it for one row. Types are known when it is bound
//! ([`Expr::ty`]) except those of parameters; evaluation goes by the values themselves. Nothing here knows of plans:
//! subqueries are reached by the [`SubqueryValues`] that evaluation is given.
//!
//! | file | holds |
//! |---|---|
//! | `node.rs` | the expression as data, and what evaluation gets |
//! | `value.rs` | a computed value |
//! | `types.rs` | result types, collations of results |
//! | `eval.rs` | evaluation: the value for a row |
//! | `operators.rs` | AND, OR, comparisons, CASE |
//! | `arith.rs` | arithmetic |
//! | `cast.rs` | CAST |
//! | `date_add.rs` | dates and intervals |
//! | `compare.rs` | comparison of values of different types |
//! | `func.rs` | functions that the binder makes calls of |
//! | `call.rs` | calls: their arguments evaluated |
//! | `functions/` | the registry of functions, by subject |
//! | `fixed.rs` | UUID, INET4, INET6: what they may meet |
//! | `date.rs` | intervals, DATE_FORMAT, STR_TO_DATE, weeks |
//! | `window.rs` | calls of window functions |
//! | `literal.rs` | numbers as they are written |
//! | `display.rs` | expressions as text, for messages |

pub(crate) mod arith;
pub(crate) mod call;
mod cast;
pub mod compare;
pub(crate) mod date;
mod date_add;
mod display;
pub(crate) mod eval;
pub(crate) mod fixed;
pub mod func;
pub mod functions;
pub mod locale;
mod md5;
mod named;
pub(crate) mod node;
mod operators;
mod print;
pub mod types;
pub(crate) mod value;
mod walk;
pub mod window;

#[cfg(test)]
mod operator_tests;
#[cfg(test)]
mod tests;

pub use date::{Interval, IntervalUnit};
pub(crate) use functions::json::escape as escape_json;
pub use node::{
    AggFunc, Aggregate, ArithOp, CmpOp, Coercibility, EvalCtx, Expr, ExprKind, ExprType, ImageRow,
    ListOptions, NoRow, NoSubqueries, RowAccess, SubqueryExpr, SubqueryUse, SubqueryValues,
};
pub(crate) use print::literal_bytes;
pub use print::{print, print_condition, print_default, print_mysql, print_with, quote};
pub use value::{Val, push_warning};
pub use walk::{
    for_each_leaf, for_each_operand, for_each_sequence, name_charsets, name_sequences, unqualified,
};
