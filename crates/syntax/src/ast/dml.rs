//! INSERT, REPLACE, UPDATE, DELETE, LOAD.

use super::expr::{Expr, OrderItem, SetValue};
use super::file::FileClauses;
use super::name::TableName;
use super::query::{Select, SelectItem, TableRef, TimePoint};
use crate::literal_rows::LiteralRows;
use std::sync::Arc;

/// How urgent INSERT is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Priority {
    Low,
    High,
    Delayed,
}

/// How LOAD stands beside those who read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LoadPriority {
    Low,
    Concurrent,
}

/// FOR PORTION OF period FROM a TO b.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portion {
    /// The period.
    pub period: String,
    /// Its part from here.
    pub from: Expr,
    /// To here.
    pub to: Expr,
}

/// `col = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Table part of the column name, if given.
    pub table: Option<String>,
    /// Column.
    pub column: String,
    /// Value.
    pub value: SetValue,
}

/// Where INSERT's rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// VALUES, and SET as one row.
    Values(Vec<Vec<SetValue>>),
    /// VALUES of a long statement with literals alone.
    Literals(Arc<LiteralRows>),
    /// A SELECT.
    Select(Box<Select>),
}

/// INSERT and REPLACE.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// LOW_PRIORITY, HIGH_PRIORITY, DELAYED.
    pub priority: Option<Priority>,
    /// Target.
    pub table: TableName,
    /// PARTITION (...)
    pub partitions: Vec<String>,
    /// Column list; `None` for all columns.
    pub columns: Option<Vec<String>>,
    /// Rows.
    pub source: InsertSource,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<Assignment>,
    /// RETURNING.
    pub returning: Vec<SelectItem>,
    /// Subqueries of its expressions, see [`Select::subqueries`].
    pub subqueries: Vec<(usize, Select)>,
    /// Number of `?`.
    pub params: usize,
}

impl Insert {
    /// The SELECT that rows come from, if any.
    pub fn select(&self) -> Option<&Select> {
        match &self.source {
            InsertSource::Select(s) => Some(s),
            InsertSource::Values(_) | InsertSource::Literals(_) => None,
        }
    }
}

/// UPDATE of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// IGNORE.
    pub ignore: bool,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// Target.
    pub table: TableRef,
    /// FOR PORTION OF.
    pub portion: Option<Portion>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub where_: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// Subqueries of its expressions, see [`Select::subqueries`].
    pub subqueries: Vec<(usize, Select)>,
    /// Number of `?`.
    pub params: usize,
}

/// DELETE from one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// IGNORE.
    pub ignore: bool,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// QUICK.
    pub quick: bool,
    /// HISTORY: rows that are no more, before a point of time.
    pub history: Option<Option<TimePoint>>,
    /// Target.
    pub table: TableRef,
    /// FOR PORTION OF.
    pub portion: Option<Portion>,
    /// WHERE.
    pub where_: Option<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<SelectItem>,
    /// Subqueries of its expressions, see [`Select::subqueries`].
    pub subqueries: Vec<(usize, Select)>,
    /// Number of `?`.
    pub params: usize,
}

/// UPDATE or DELETE of tables of a join.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteJoin {
    /// IGNORE.
    pub ignore: bool,
    /// What is done to which of its tables.
    pub targets: WriteTargets,
    /// The join with its conditions, order and limit; no select list.
    pub select: Select,
}

/// LOAD DATA.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// XML: the word behind ROWS IDENTIFIED BY, if any.
    pub xml: Option<Option<String>>,
    /// LOW_PRIORITY or CONCURRENT.
    pub priority: Option<LoadPriority>,
    /// LOCAL: the client has the file.
    pub local: bool,
    /// INFILE.
    pub file: String,
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// Target.
    pub table: TableName,
    /// PARTITION (...)
    pub partitions: Vec<String>,
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// FIELDS and LINES.
    pub format: FileClauses,
    /// IGNORE n LINES.
    pub skip: u64,
    /// Where the fields go; `None` for all columns in their order.
    pub fields: Option<Vec<LoadField>>,
    /// SET.
    pub set: Vec<Assignment>,
    /// Subqueries of SET, as in [`Select::subqueries`].
    pub subqueries: Vec<(usize, Select)>,
}

/// Where a field of LOAD DATA goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadField {
    /// A column.
    Column(String),
    /// A user variable.
    Variable(String),
}

/// What a [`WriteJoin`] does.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteTargets {
    /// SET.
    Update(Vec<Assignment>),
    /// Deletes rows of these tables, named as in the join.
    Delete(Vec<TableName>),
}
