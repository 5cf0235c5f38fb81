//! Queries.

use super::expr::{Call, Expr, Limit, Literal, OrderItem, WindowSpec};
use super::file::FileClauses;
use super::name::TableName;

/// A table in FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRef {
    /// Which table.
    pub name: TableName,
    /// Alias.
    pub alias: Option<String>,
    /// USE / FORCE / IGNORE INDEX.
    pub hints: Vec<IndexHint>,
    /// PARTITION (...)
    pub partitions: Vec<String>,
    /// FOR SYSTEM_TIME.
    pub system_time: Option<SystemTime>,
}

/// USE, FORCE or IGNORE INDEX (...).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    /// Kind.
    pub kind: IndexHintKind,
    /// What it is for; `None` for all.
    pub scope: Option<IndexHintScope>,
    /// Index names.
    pub indexes: Vec<String>,
}

/// What an index hint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexHintScope {
    Join,
    OrderBy,
    GroupBy,
}

/// Kind of an index hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// An item of a select list.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Most items are expressions.
pub enum SelectItem {
    /// `*`
    Wildcard,
    /// `t.*` or `db.t.*`
    TableWildcard(TableName),
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// Alias.
        alias: Option<String>,
        /// The expression as written: its column name if there is no alias.
        text: String,
    },
}

/// FOR UPDATE / LOCK IN SHARE MODE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locking {
    /// True for FOR UPDATE.
    pub exclusive: bool,
    /// WAIT, NOWAIT, SKIP LOCKED.
    pub wait: LockWait,
    /// OF: the tables, by the names that FROM gives them; empty for all.
    pub of: Vec<String>,
}

/// What a locking clause does about rows that others have locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Nothing was said: the lock wait timeout.
    #[default]
    Default,
    /// WAIT n: so many seconds.
    Seconds(u64),
    /// NOWAIT.
    NoWait,
    /// SKIP LOCKED.
    SkipLocked,
}

/// What FROM reads.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Most are tables.
pub enum From {
    /// A table.
    Table(TableRef),
    /// A derived table: `(SELECT ...) AS alias`.
    Query {
        /// The SELECT.
        query: Box<Select>,
        /// Its name.
        alias: String,
        /// Names of its columns, if they are given.
        columns: Vec<String>,
        /// LATERAL: it is read anew for each row of the tables before it, whose columns it may name.
        lateral: bool,
    },
    /// SELECTs put together; the SELECT around them carries ORDER BY and LIMIT.
    Set {
        /// The first.
        first: Box<Select>,
        /// The others, from left to right; none for a SELECT in parentheses with clauses of its own.
        rest: Vec<(SetOp, Select)>,
    },
    /// A join.
    Join(Box<Join>),
    /// JSON_TABLE(...)
    JsonTable(Box<JsonTable>),
}

impl From {
    /// Names under which its tables and derived tables are known.
    pub fn names<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            From::Table(t) => out.push(t.alias.as_deref().unwrap_or(&t.name.name)),
            From::Query { alias, .. } => out.push(alias),
            From::Join(j) => {
                j.left.names(out);
                j.right.names(out);
            }
            From::Set { .. } | From::JsonTable(_) => {}
        }
    }

    /// True if a LATERAL derived table is among its tables.
    pub fn has_lateral(&self) -> bool {
        match self {
            From::Query { lateral, .. } => *lateral,
            From::Join(j) => j.left.has_lateral() || j.right.has_lateral(),
            From::Table(_) | From::Set { .. } | From::JsonTable(_) => false,
        }
    }

    /// The first table by its place in the text, if there is one.
    pub fn first_table(&self) -> Option<&TableRef> {
        match self {
            From::Table(t) => Some(t),
            From::Query { query, .. } => query.from.as_ref()?.first_table(),
            From::Set { first, .. } => first.from.as_ref()?.first_table(),
            From::Join(j) => j.left.first_table().or_else(|| j.right.first_table()),
            From::JsonTable(_) => None,
        }
    }
}

/// UNION, INTERSECT or EXCEPT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOp {
    /// Which.
    pub kind: SetKind,
    /// ALL: equal rows count each.
    pub all: bool,
}

/// Which rows of two SELECTs stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// All.
    Union,
    /// Those of both.
    Intersect,
    /// Those of the left one only.
    Except,
}

/// WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct With {
    /// RECURSIVE.
    pub recursive: bool,
    /// Its tables.
    pub ctes: Vec<std::sync::Arc<Cte>>,
}

/// A common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Cte {
    /// Name.
    pub name: String,
    /// Names of its columns, if they are given.
    pub columns: Vec<String>,
    /// What it stands for.
    pub query: Select,
    /// CYCLE ... RESTRICT.
    pub cycle: Vec<String>,
}

/// Two sides of a FROM and how they are joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Left side.
    pub left: From,
    /// Right side.
    pub right: From,
    /// Kind.
    pub kind: JoinKind,
    /// Condition.
    pub on: JoinOn,
    /// STRAIGHT_JOIN: the left side is read first.
    pub straight: bool,
}

impl From {
    /// True if a STRAIGHT_JOIN is among its joins.
    pub fn is_straight(&self) -> bool {
        match self {
            From::Join(j) => j.straight || j.left.is_straight() || j.right.is_straight(),
            _ => false,
        }
    }
}

/// Which rows without a partner stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// None: JOIN, INNER JOIN, CROSS JOIN, comma.
    Inner,
    /// Those of the left side.
    Left,
    /// Those of the right side.
    Right,
}

/// A join's condition.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Most are ON.
pub enum JoinOn {
    /// None.
    Nothing,
    /// ON.
    On(Expr),
    /// USING (columns).
    Using(Vec<String>),
    /// NATURAL: USING with all columns that both sides have.
    Natural,
}

/// Words behind SELECT that change no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct SelectOptions {
    pub high_priority: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
    /// SQL_CACHE (true) or SQL_NO_CACHE.
    pub cache: Option<bool>,
}

/// FOR SYSTEM_TIME, and a point of time in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SystemTime {
    All,
    AsOf(TimePoint),
    Between(TimePoint, TimePoint),
    FromTo(TimePoint, TimePoint),
}

/// A point in a table's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimePoint {
    /// A time; true behind the word TIMESTAMP.
    Time(Expr, bool),
    /// TRANSACTION n
    Transaction(Expr),
}

/// JSON_TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonTable {
    /// The document.
    pub document: Expr,
    /// The rows' path.
    pub path: String,
    /// COLUMNS.
    pub columns: Vec<JsonColumn>,
    /// Its name.
    pub alias: String,
}

/// A column of JSON_TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonColumn {
    /// FOR ORDINALITY.
    Ordinality(String),
    /// A value, or whether there is one.
    Value {
        /// Name.
        name: String,
        /// Type as written, with its attributes.
        ty: String,
        /// EXISTS.
        exists: bool,
        /// PATH.
        path: String,
        /// ON EMPTY.
        on_empty: Option<JsonResponse>,
        /// ON ERROR.
        on_error: Option<JsonResponse>,
    },
    /// NESTED PATH.
    Nested(String, Vec<JsonColumn>),
}

/// What a column of JSON_TABLE is if there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonResponse {
    /// ERROR.
    Error,
    /// NULL.
    Null,
    /// DEFAULT.
    Default(Literal),
}

/// A SELECT.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// WITH.
    pub with: Option<With>,
    /// DISTINCT.
    pub distinct: bool,
    /// It is a row of VALUES.
    pub row: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// What else stands behind SELECT.
    pub options: SelectOptions,
    /// STRAIGHT_JOIN: tables are read in the order of the text.
    pub straight: bool,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// FROM; `None` without or with DUAL.
    pub from: Option<From>,
    /// WHERE.
    pub where_: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<OrderItem>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<(String, WindowSpec)>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT, OFFSET and FETCH.
    pub limit: Option<Limit>,
    /// FETCH ... WITH TIES.
    pub with_ties: bool,
    /// LIMIT ROWS EXAMINED.
    pub rows_examined: Option<Expr>,
    /// PROCEDURE.
    pub procedure: Option<Box<Call>>,
    /// Locking clauses. Several, in MySQL, if each says of which tables.
    pub locking: Vec<Locking>,
    /// Subqueries of its expressions by number.
    pub subqueries: Vec<(usize, Select)>,
    /// Number of `?` in the whole statement.
    pub params: usize,
    /// How it was written.
    pub form: QueryForm,
}

/// What a text of a query shows, and its rows do not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryForm {
    /// It was in parentheses.
    pub parenthesised: bool,
    /// It was VALUES, which is run as SELECTs put together.
    pub values: bool,
}

impl Select {
    /// A plain SELECT of items from something.
    pub fn of(items: Vec<SelectItem>, from: impl std::convert::Into<Option<From>>) -> Select {
        Select {
            with: None,
            distinct: false,
            row: false,
            calc_found_rows: false,
            options: SelectOptions::default(),
            straight: false,
            items,
            from: from.into(),
            where_: None,
            group_by: Vec::new(),
            rollup: false,
            having: None,
            windows: Vec::new(),
            order_by: Vec::new(),
            limit: None,
            with_ties: false,
            rows_examined: None,
            procedure: None,
            locking: Vec::new(),
            subqueries: Vec::new(),
            params: 0,
            form: QueryForm::default(),
        }
    }
}

/// SELECT ... INTO.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectInto {
    /// The SELECT.
    pub select: Box<Select>,
    /// Where its rows go.
    pub into: Into,
    /// INTO stands behind FROM: a deprecated place, if there is a FROM.
    pub late: bool,
}

/// A variable that a value goes into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntoVariable {
    /// `@name`
    User(String),
    /// A variable of a stored program, or a field of one that is a row.
    Local(String, Option<String>),
}

/// Where the rows of a SELECT go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Into {
    /// Variables, of one row.
    Variables(Vec<IntoVariable>),
    /// A file of rows.
    Outfile {
        /// Its name.
        file: String,
        /// CHARACTER SET.
        charset: Option<String>,
        /// FIELDS and LINES.
        format: FileClauses,
    },
    /// A file of bare values.
    Dumpfile(String),
}

/// An expression that stands for itself, with its subqueries.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The expression.
    pub expr: Expr,
    /// Its subqueries by number.
    pub subqueries: Vec<(usize, Select)>,
}
