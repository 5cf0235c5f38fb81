//! The plans of statements that change rows, as data.

use crate::expr::node::Expr;
use crate::expr::value::date_rules;
use crate::file_format::FileFormat;
use crate::plan::query::{Out, SelectPlan, SortKey, SubPlan, TablePlan};
use crate::plan::view_check::ViewCheck;
use narwal_engine::Table;
use narwal_syntax::LiteralRows;
use narwal_types::convert::{StoreMode, StoreTarget};
use narwal_types::{Charset, ResultColumn, Value};
use std::sync::Arc;

/// What a column gets when no value is given.
#[derive(Debug, Clone)]
pub enum DefaultValue {
    /// A constant, already in the column's domain.
    Const(Value),
    /// CURRENT_TIMESTAMP with its digits.
    Now(u8),
    /// Nothing is defined: error 1364, or this in a lax mode.
    Missing(Value),
    /// AUTO_INCREMENT: generated.
    Generate,
    /// An expression over the other columns.
    Expr(Box<Expr>),
}

/// A value to store.
#[derive(Debug, Clone)]
pub enum StoreValue {
    /// An expression.
    Expr(Expr),
    /// The column's default.
    Default(DefaultValue),
    /// A value for a generated column: error or warning 1906 unless it is NULL.
    Ignored(Box<Expr>),
}

/// `column = value`.
#[derive(Debug, Clone)]
pub struct SetPlan {
    /// Column.
    pub column: usize,
    /// Value.
    pub value: StoreValue,
}

/// Where INSERT's rows come from.
pub enum RowSource {
    /// VALUES.
    Values(Vec<Vec<StoreValue>>),
    /// VALUES of a long statement with literals alone.
    Literals(Arc<LiteralRows>),
    /// SELECT.
    Select(Box<SelectPlan>),
}

/// A planned INSERT or REPLACE.
pub struct InsertPlan {
    /// Target.
    pub table: Arc<Table>,
    /// REPLACE.
    pub replace: bool,
    /// IGNORE.
    pub ignore: bool,
    /// For each column of the table: which given value it gets.
    pub given: Vec<Option<usize>>,
    /// The statement lists no columns.
    pub unlisted: bool,
    /// The order in which the columns get their values: first those that get none, then as the statement lists them.
    pub order: Vec<usize>,
    /// For each column of the table: what it gets if none is given.
    pub defaults: Vec<DefaultValue>,
    /// Rows.
    pub source: RowSource,
    /// Values of a SELECT's rows that go into binary columns, as the bytes of these character sets.
    pub encoded: Vec<(usize, Charset)>,
    /// Values of a SELECT in a set with codes of its own, and the sets of their columns.
    pub passed_on: Vec<(usize, (Charset, Charset))>,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<SetPlan>,
    /// How many of the last columns of the SELECT are for that alone.
    pub selected: usize,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that ON DUPLICATE KEY UPDATE does not set.
    pub on_update: Vec<(usize, u8)>,
    /// WITH CHECK OPTION of the view that is its target.
    pub check: Option<ViewCheck>,
    /// RETURNING.
    pub returning: Option<ReturningPlan>,
    /// The view that is its target does not show the AUTO_INCREMENT column: LAST_INSERT_ID() stays what it is.
    pub number_unseen: bool,
    /// The other tables behind a MERGE table, whose AUTO_INCREMENT values are not given again.
    pub numbered_with: Vec<Arc<Table>>,
    /// Subqueries of its expressions.
    pub subqueries: Vec<SubPlan>,
    /// Those of ON DUPLICATE KEY UPDATE or VALUES run for each row.
    pub row_wise: bool,
}

/// FOR PORTION OF: of a row only what lies between two points of time changes, and the rest stays as rows of its own.
pub struct PortionPlan {
    /// Column of the period's start.
    pub start: usize,
    /// Column of its end.
    pub end: usize,
    /// From here.
    pub from: Expr,
    /// To here.
    pub to: Expr,
    /// The pieces have the row's AUTO_INCREMENT value; otherwise each gets a new one.
    pub keeps_number: bool,
}

/// A planned UPDATE.
pub struct UpdatePlan {
    /// Target with access path and WHERE.
    pub target: TablePlan,
    /// FOR PORTION OF.
    pub portion: Option<PortionPlan>,
    /// SET.
    pub sets: Vec<SetPlan>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that SET does not set.
    pub on_update: Vec<(usize, u8)>,
    /// Sort needed.
    pub order: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// IGNORE.
    pub ignore: bool,
    /// SET changes columns of the index that is scanned: rows may move.
    pub moves: bool,
    /// It has an ORDER BY, though an index may give the order.
    pub ordered: bool,
    /// WITH CHECK OPTION of the view that is its target.
    pub check: Option<ViewCheck>,
    /// No index and no LIMIT, for `sql_safe_updates`.
    pub unsafe_: bool,
    /// The view without a whole key that it goes through with a LIMIT.
    pub without_key: Option<Box<str>>,
    /// Subqueries of its expressions.
    pub subqueries: Vec<SubPlan>,
    /// Those of SET run for each row.
    pub row_wise: bool,
    /// Subqueries read the table itself: all new rows are made before the first is written.
    pub reads_target: bool,
    /// The same for the other tables behind a MERGE table.
    pub behind: Vec<UpdatePlan>,
}

/// A planned DELETE.
pub struct DeletePlan {
    /// Target with access path and WHERE.
    pub target: TablePlan,
    /// FOR PORTION OF.
    pub portion: Option<PortionPlan>,
    /// Sort needed.
    pub order: Vec<SortKey>,
    /// LIMIT.
    pub limit: Option<Expr>,
    /// IGNORE.
    pub ignore: bool,
    /// No index and no LIMIT, for `sql_safe_updates`.
    pub unsafe_: bool,
    /// The view without a whole key that it goes through with a LIMIT.
    pub without_key: Option<Box<str>>,
    /// RETURNING.
    pub returning: Option<ReturningPlan>,
    /// Subqueries of its expressions.
    pub subqueries: Vec<SubPlan>,
    /// Subqueries read the table itself: all rows are found before the first is deleted.
    pub reads_target: bool,
    /// The same for the other tables behind a MERGE table.
    pub behind: Vec<DeletePlan>,
}

/// A value whose subqueries run for each row.
pub(crate) fn runs_each_row(v: &StoreValue) -> bool {
    matches!(v, StoreValue::Expr(e) if e.runs_each_row())
}

/// How values are stored in this session.
pub fn store_mode(env: &crate::StatementEnv, ignore: bool, many: bool) -> StoreMode {
    let m = env.sql_mode;
    let strict = m.strict() && !ignore;
    StoreMode {
        strict,
        null_to_default: !strict && (ignore || many),
        dates: date_rules(env),
        time_zone: env.time_zone,
    }
}

/// A column as a target, for messages.
pub fn store_target(table: &Table, column: usize) -> StoreTarget<'_> {
    let c = &table.def.columns[column];
    StoreTarget {
        ty: &c.ty,
        nullable: c.nullable,
        db: &table.def.db,
        table: &table.def.name,
        column: &c.name,
    }
}

/// A planned UPDATE or DELETE of a join.
pub struct WriteJoinPlan {
    /// Gives the new values, then the clustered key of a row of each target (NULL if it has none).
    pub query: SelectPlan,
    /// Number of new values.
    pub values: usize,
    /// The tables to change, in the order of their keys in the rows of `query`.
    pub targets: Vec<Target>,
    /// The same for the other tables behind a MERGE table.
    pub behind: Vec<WriteJoinPlan>,
    /// DELETE.
    pub delete: bool,
    /// IGNORE.
    pub ignore: bool,
}

/// A table of the join that is changed.
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// SET: column, value.
    pub sets: Vec<(usize, NewValue)>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that SET does not set.
    pub on_update: Vec<(usize, u8)>,
    /// WITH CHECK OPTION of the view that it is changed through.
    pub check: Option<ViewCheck>,
}

/// What a column is set to.
pub enum NewValue {
    /// A value of the query's row.
    Given(usize),
    /// The column's default.
    Default(DefaultValue),
}

/// What a statement returns of each row that it wrote or deleted.
pub struct ReturningPlan {
    pub(crate) items: Vec<Out>,
    /// Columns of the answer.
    pub columns: Arc<[ResultColumn]>,
    /// Subqueries of the items.
    pub(crate) subqueries: Vec<SubPlan>,
    /// Some of them run for each row.
    pub(crate) row_wise: bool,
}

/// A planned LOAD DATA.
pub struct LoadPlan {
    pub(crate) insert: InsertPlan,
    pub(crate) format: FileFormat,
    /// Bytes of each field, if the format is fixed.
    pub(crate) widths: Vec<usize>,
    /// LOAD XML: the name of the element that is a row.
    pub(crate) xml: Option<Vec<u8>>,
    pub(crate) skip: u64,
    pub(crate) fields: Vec<Field>,
    /// The character set of the file, if it is not UTF-8.
    pub(crate) set: Option<Charset>,
    pub(crate) binary: bool,
    /// IGNORE, or LOCAL without REPLACE: nobody could repeat that, so errors in values are warnings.
    pub ignore: bool,
}

/// Where a field of the text goes.
pub(crate) enum Field {
    /// The n-th value of a row, and that column of the table.
    Value {
        column: usize,
        /// The column as the statement names it.
        name: String,
    },
    Variable(String),
}
