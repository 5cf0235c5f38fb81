//! The plan of HANDLER ... READ.

use crate::expr::node::Expr;
use crate::plan::query::{LimitPlan, Out};
use narwal_engine::Table;
use narwal_types::{ResultColumn, Value};
use std::sync::Arc;

/// Where it goes.
pub enum Step {
    /// To one end: the first entry, or, `true`, the last one.
    End(bool),
    /// On from where it is: forwards or, `true`, backwards.
    On(bool),
    /// To a key: its first parts, compared so.
    Key(KeyComparison, Vec<KeyValue>),
}

/// A part of the key of READ.
pub enum KeyValue {
    /// An expression.
    Expr(Expr),
    /// The column's default.
    Default(Value),
}

/// How READ compares a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum KeyComparison {
    Equal,
    AtLeast,
    Greater,
    AtMost,
    Less,
}

/// A planned HANDLER ... READ.
pub struct HandlerPlan {
    /// The handler.
    pub name: String,
    /// Its table.
    pub table: Arc<Table>,
    /// The index's position. Rows are in the order of the first one.
    pub index: usize,
    /// No index was named.
    pub scan: bool,
    /// Where it goes.
    pub step: Step,
    /// WHERE.
    pub filter: Option<Expr>,
    /// LIMIT.
    pub limit: Option<LimitPlan>,
    /// Output.
    pub items: Vec<Out>,
    /// Output columns.
    pub columns: Arc<[ResultColumn]>,
}
