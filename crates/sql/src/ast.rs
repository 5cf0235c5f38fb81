//! Parsed statements. Expressions are sqlparser's; everything round them is our own, because MySQL's statement forms
//! are many and we want exactly those.

use crate::file_format::FileFormat;
use crate::literal_rows::LiteralRows;
use narwal_engine::{ColumnDef, ForeignAction};
pub use sqlparser::ast::Expr as AstExpr;
use std::sync::Arc;

/// A statement of the kinds that this crate runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// SELECT.
    Select(Box<Select>),
    /// INSERT and REPLACE.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// UPDATE and DELETE of joins.
    WriteJoin(Box<WriteJoin>),
    /// LOAD DATA: its text is [`crate::StatementEnv::input`].
    LoadData(Box<LoadData>),
    /// SELECT ... INTO: the session runs the SELECT and keeps its rows.
    SelectInto(Box<SelectInto>),
    /// DO expr, ...: a SELECT without FROM whose row nobody gets.
    Do(Box<Select>),
    /// CHECKSUM TABLE t, ...
    ChecksumTable(Vec<TableName>),
    /// EXPLAIN of one of the above.
    Explain(Box<Stmt>, ExplainForm),
    /// A statement that changes the catalog: run by [`crate::execute_ddl`].
    Ddl(Box<DdlStmt>),
}

/// How EXPLAIN answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainForm {
    /// A row for each table.
    Table,
    /// FORMAT=JSON.
    Json,
}

impl Stmt {
    /// True for DDL: commits the connection's transaction, and is run by [`crate::execute_ddl`].
    pub fn is_ddl(&self) -> bool {
        matches!(self, Stmt::Ddl(_))
    }

    /// True if the statement may write rows.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Stmt::Insert(_)
                | Stmt::Update(_)
                | Stmt::Delete(_)
                | Stmt::WriteJoin(_)
                | Stmt::LoadData(_)
        )
    }

    /// The name of the status counter, e.g. `Com_select`.
    pub fn counter(&self) -> &'static str {
        match self {
            Stmt::Select(_) => "Com_select",
            Stmt::Insert(i) if i.replace => {
                if i.select().is_some() {
                    "Com_replace_select"
                } else {
                    "Com_replace"
                }
            }
            Stmt::Insert(i) => {
                if i.select().is_some() {
                    "Com_insert_select"
                } else {
                    "Com_insert"
                }
            }
            Stmt::Update(_) => "Com_update",
            Stmt::Delete(_) => "Com_delete",
            Stmt::LoadData(_) => "Com_load",
            Stmt::SelectInto(_) => "Com_select",
            Stmt::WriteJoin(w) => match w.targets {
                WriteTargets::Update(_) => "Com_update_multi",
                WriteTargets::Delete(_) => "Com_delete_multi",
            },
            Stmt::Do(_) => "Com_do",
            Stmt::ChecksumTable(_) => "Com_checksum",
            Stmt::Explain(..) => "Com_explain_other",
            Stmt::Ddl(d) => match **d {
                DdlStmt::CreateTable(_) => "Com_create_table",
                DdlStmt::DropTable { .. } => "Com_drop_table",
                DdlStmt::Truncate(_) => "Com_truncate",
                DdlStmt::CreateDatabase { .. } => "Com_create_db",
                DdlStmt::AlterDatabase { .. } => "Com_alter_db",
                DdlStmt::DropDatabase { .. } => "Com_drop_db",
                DdlStmt::CreateIndex { .. } => "Com_create_index",
                DdlStmt::DropIndex { .. } => "Com_drop_index",
                DdlStmt::AlterTable { .. } => "Com_alter_table",
                DdlStmt::RenameTable { .. } => "Com_rename_table",
                DdlStmt::CreateView(_) => "Com_create_view",
                DdlStmt::DropView { .. } => "Com_drop_view",
                DdlStmt::CreateSequence { .. } => "Com_create_sequence",
                DdlStmt::AlterSequence { .. } => "Com_alter_sequence",
                DdlStmt::DropSequence { .. } => "Com_drop_sequence",
            },
        }
    }
}

/// A possibly qualified table name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Database, if given.
    pub db: Option<String>,
    /// Table.
    pub name: String,
}

/// A table in FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRef {
    /// Which table.
    pub name: TableName,
    /// Alias.
    pub alias: Option<String>,
    /// USE / FORCE / IGNORE INDEX.
    pub hints: Vec<IndexHint>,
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
        expr: AstExpr,
        /// Alias.
        alias: Option<String>,
        /// The expression as written: its column name if there is no alias.
        text: String,
    },
}

/// ORDER BY / GROUP BY element.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// Expression, alias or position.
    pub expr: AstExpr,
    /// DESC.
    pub desc: bool,
}

/// LIMIT \[offset,\] count: integers or `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Rows to skip.
    pub offset: Option<AstExpr>,
    /// Rows to return.
    pub count: AstExpr,
}

/// FOR UPDATE / LOCK IN SHARE MODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locking {
    /// True for FOR UPDATE.
    pub exclusive: bool,
    /// NOWAIT, SKIP LOCKED, or `WAIT 0`.
    pub wait: narwal_engine::LockWait,
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
}

impl From {
    /// The first table by its place in the text, if there is one.
    pub fn first_table(&self) -> Option<&TableRef> {
        match self {
            From::Table(t) => Some(t),
            From::Query { query, .. } => query.from.as_ref()?.first_table(),
            From::Set { first, .. } => first.from.as_ref()?.first_table(),
            From::Join(j) => j.left.first_table().or_else(|| j.right.first_table()),
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
    On(AstExpr),
    /// USING (columns).
    Using(Vec<String>),
    /// NATURAL: USING with all columns that both sides have.
    Natural,
}

/// A SELECT.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// WITH.
    pub with: Option<With>,
    /// DISTINCT.
    pub distinct: bool,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// STRAIGHT_JOIN: tables are read in the order of the text.
    pub straight: bool,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// FROM; `None` without or with DUAL.
    pub from: Option<From>,
    /// WHERE.
    pub where_: Option<AstExpr>,
    /// GROUP BY.
    pub group_by: Vec<OrderItem>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// HAVING.
    pub having: Option<AstExpr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// Locking clause.
    pub locking: Option<Locking>,
    /// Subqueries of its expressions. Number `n` stands there as the placeholder `?q<n>` (its rows or its one value) or
    /// `?e<n>` (EXISTS).
    pub subqueries: Vec<(usize, Select)>,
    /// Number of `?` in the whole statement.
    pub params: usize,
}

impl Select {
    /// A plain SELECT of items from something.
    pub fn of(items: Vec<SelectItem>, from: impl std::convert::Into<Option<From>>) -> Select {
        Select {
            with: None,
            distinct: false,
            calc_found_rows: false,
            straight: false,
            items,
            from: from.into(),
            where_: None,
            group_by: Vec::new(),
            rollup: false,
            having: None,
            order_by: Vec::new(),
            limit: None,
            locking: None,
            subqueries: Vec::new(),
            params: 0,
        }
    }
}

/// One value of INSERT or SET.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Most values are expressions.
pub enum SetValue {
    /// DEFAULT.
    Default,
    /// An expression.
    Expr(AstExpr),
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
    /// Target.
    pub table: TableName,
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
    /// Target.
    pub table: TableRef,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub where_: Option<AstExpr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<AstExpr>,
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
    /// Target.
    pub table: TableRef,
    /// WHERE.
    pub where_: Option<AstExpr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<AstExpr>,
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
    /// CHARACTER SET.
    pub charset: Option<String>,
    /// FIELDS and LINES.
    pub format: FileFormat,
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

/// Where the rows of a SELECT go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Into {
    /// User variables, of one row.
    Variables(Vec<String>),
    /// A file of rows.
    Outfile {
        /// Its name.
        file: String,
        /// CHARACTER SET.
        charset: Option<String>,
        /// FIELDS and LINES.
        format: FileFormat,
    },
    /// A file of bare values.
    Dumpfile(String),
}

/// What a [`WriteJoin`] does.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteTargets {
    /// SET.
    Update(Vec<Assignment>),
    /// Deletes rows of these tables, named as in the join.
    Delete(Vec<TableName>),
}

/// An index in DDL, columns by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Name, if given.
    pub name: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// PRIMARY KEY.
    pub primary: bool,
    /// UNIQUE.
    pub unique: bool,
    /// Columns: name, prefix length, DESC.
    pub columns: Vec<(String, Option<u32>, bool)>,
    /// COMMENT.
    pub comment: String,
}

/// A column in CREATE TABLE. In `def.ty` a character type without its own collation has
/// [`narwal_types::Collation::Utf8mb4GeneralCi`] and `collation` is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The definition so far.
    pub def: ColumnDef,
    /// True if NULL or NOT NULL was written.
    pub null_given: bool,
    /// COLLATE or CHARACTER SET of the column.
    pub collation: Option<narwal_types::Collation>,
    /// A DEFAULT that is no plain constant.
    pub default: Option<AstExpr>,
    /// CHECK.
    pub check: Option<AstExpr>,
    /// GENERATED ALWAYS AS, and whether it is STORED.
    pub generated: Option<(AstExpr, bool)>,
    /// BINARY: the collation by code points of the column's character set.
    pub bin: bool,
    /// JSON: its text has to be valid unless a CHECK of its own says something else.
    pub json: bool,
}

/// What stands between the parentheses of CREATE TABLE, and behind ADD and MODIFY in ALTER TABLE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableElements {
    /// Columns in order.
    pub columns: Vec<ColumnSpec>,
    /// Indexes in order, those of column attributes included.
    pub indexes: Vec<IndexSpec>,
    /// CHECK constraints in order.
    pub checks: Vec<CheckSpec>,
    /// Foreign keys in order, those of column attributes included.
    pub foreign_keys: Vec<ForeignKeySpec>,
}

/// A CHECK constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSpec {
    /// Name, if given.
    pub name: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The condition.
    pub expr: AstExpr,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeySpec {
    /// Name of the constraint, if given.
    pub name: Option<String>,
    /// Name of the index to make for it, if given.
    pub index: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Columns of this table.
    pub columns: Vec<String>,
    /// The referenced table.
    pub parent: TableName,
    /// Its columns.
    pub parent_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ForeignAction,
    /// ON UPDATE.
    pub on_update: ForeignAction,
}

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// TEMPORARY.
    pub temporary: bool,
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Name.
    pub table: TableName,
    /// Columns and indexes.
    pub elements: TableElements,
    /// Options.
    pub options: TableOptions,
    /// LIKE: the table to be like.
    pub like: Option<TableName>,
    /// What becomes of a SELECT's row whose key is taken.
    pub duplicates: Duplicates,
    /// AS: the SELECT that the rows come from.
    pub select: Option<Box<Select>>,
}

/// What CREATE VIEW does about a view of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewCreation {
    /// Fails.
    New,
    /// OR REPLACE.
    OrReplace,
    /// IF NOT EXISTS.
    IfNotExists,
    /// ALTER VIEW: there must be one.
    Alter,
}

/// Who the definer of a view is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definer {
    /// CURRENT_USER, or nothing was said.
    CurrentUser,
    /// An account: name and host.
    Account(String, String),
}

/// CREATE VIEW and ALTER VIEW.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// What if there is one.
    pub creation: ViewCreation,
    /// ALGORITHM, if given.
    pub algorithm: Option<narwal_engine::ViewAlgorithm>,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// SQL SECURITY INVOKER (true) or DEFINER, if given.
    pub invoker: Option<bool>,
    /// Name.
    pub view: TableName,
    /// Names of its columns, if given.
    pub columns: Vec<String>,
    /// The SELECT.
    pub select: Box<Select>,
    /// The SELECT as written, with the CHECK OPTION.
    pub source: String,
    /// WITH CHECK OPTION.
    pub check: narwal_engine::CheckOption,
    /// What the SELECT came to where it was planned ([`crate::view::settle`]).
    pub settled: Option<crate::view::Settled>,
}

/// What CREATE TABLE ... SELECT does about rows with the same key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// It fails.
    #[default]
    Refuse,
    /// IGNORE: the first one stays, with a warning.
    Ignore,
    /// REPLACE: the last one stays.
    Replace,
}

/// Table options, those that were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// ENGINE=.
    pub engine: Option<String>,
    /// Default collation.
    pub collation: Option<narwal_types::Collation>,
    /// COMMENT=.
    pub comment: Option<String>,
    /// AUTO_INCREMENT=.
    pub auto_increment: Option<u64>,
}

/// Where ALTER TABLE puts a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPlace {
    /// FIRST.
    First,
    /// AFTER.
    After(String),
}

/// What DROP in ALTER TABLE names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    /// COLUMN.
    Column,
    /// INDEX, KEY and PRIMARY KEY.
    Index,
    /// CONSTRAINT: CHECK, FOREIGN KEY, UNIQUE, PRIMARY KEY.
    Constraint,
    /// FOREIGN KEY.
    ForeignKey,
}

/// One action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // They are few and short-lived.
pub enum AlterAction {
    /// ADD of columns, indexes and constraints.
    Add {
        /// What.
        elements: TableElements,
        /// FIRST or AFTER, of the only column.
        place: Option<ColumnPlace>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP.
    Drop {
        /// What kind of thing.
        kind: DropKind,
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CHANGE and MODIFY.
    Change {
        /// The column.
        column: String,
        /// Its new definition, and indexes that its attributes ask for.
        elements: TableElements,
        /// FIRST or AFTER.
        place: Option<ColumnPlace>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// From.
        from: String,
        /// To.
        to: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN ... SET DEFAULT, or DROP DEFAULT (`None`).
    SetDefault {
        /// Column.
        column: String,
        /// Its new default: a constant, or an expression that is none.
        default: Option<Result<narwal_engine::DefaultDef, AstExpr>>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME INDEX.
    RenameIndex {
        /// From.
        from: String,
        /// To.
        to: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME \[TO\].
    RenameTo(TableName),
    /// Table options.
    Options(TableOptions),
    /// CONVERT TO CHARACTER SET.
    ConvertTo(narwal_types::Collation),
    /// ORDER BY: without effect, as in InnoDB.
    OrderBy,
    /// FORCE.
    Force,
    /// DISABLE KEYS / ENABLE KEYS: notes only, as InnoDB does.
    KeysNoOp,
    /// ALGORITHM=, in upper case.
    Algorithm(String),
    /// LOCK=, in upper case.
    Lock(String),
}

/// DDL.
#[derive(Debug, Clone, PartialEq)]
pub enum DdlStmt {
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// DROP TABLE.
    DropTable {
        /// IF EXISTS.
        if_exists: bool,
        /// TEMPORARY was written: others are not meant.
        temporary: bool,
        /// Tables.
        tables: Vec<TableName>,
    },
    /// TRUNCATE TABLE.
    Truncate(TableName),
    /// CREATE DATABASE.
    CreateDatabase {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// OR REPLACE is not supported; name.
        name: String,
        /// Default collation.
        collation: Option<narwal_types::Collation>,
        /// COMMENT.
        comment: Option<String>,
    },
    /// ALTER DATABASE.
    AlterDatabase {
        /// Name, or the default database.
        name: Option<String>,
        /// New default collation.
        collation: Option<narwal_types::Collation>,
        /// COMMENT.
        comment: Option<String>,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// IF EXISTS.
        if_exists: bool,
        /// Name.
        name: String,
    },
    /// CREATE INDEX.
    CreateIndex {
        /// Table.
        table: TableName,
        /// Index.
        index: IndexSpec,
        /// LOCK=NONE: writers must not wait.
        lock_none: bool,
    },
    /// DROP INDEX.
    DropIndex {
        /// IF EXISTS.
        if_exists: bool,
        /// Table.
        table: TableName,
        /// Index name.
        index: String,
    },
    /// RENAME TABLE: from, to.
    RenameTable {
        /// IF EXISTS.
        if_exists: bool,
        /// The renames, one after the other.
        pairs: Vec<(TableName, TableName)>,
    },
    /// CREATE VIEW and ALTER VIEW.
    CreateView(Box<CreateView>),
    /// DROP VIEW.
    DropView {
        /// IF EXISTS.
        if_exists: bool,
        /// Views.
        views: Vec<TableName>,
    },
    /// ALTER TABLE.
    AlterTable {
        /// IGNORE: rows that can't be kept go, values are made to fit.
        ignore: bool,
        /// IF EXISTS.
        if_exists: bool,
        /// Table.
        table: TableName,
        /// Actions.
        actions: Vec<AlterAction>,
    },
    /// CREATE SEQUENCE.
    CreateSequence {
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Name.
        name: TableName,
        /// What was said about it.
        options: SequenceOptions,
    },
    /// ALTER SEQUENCE.
    AlterSequence {
        /// IF EXISTS.
        if_exists: bool,
        /// Name.
        name: TableName,
        /// What changes.
        options: SequenceOptions,
    },
    /// DROP SEQUENCE.
    DropSequence {
        /// IF EXISTS.
        if_exists: bool,
        /// Sequences.
        names: Vec<TableName>,
    },
}

/// Options of a sequence, those that were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SequenceOptions {
    /// START WITH.
    pub start: Option<i64>,
    /// INCREMENT BY.
    pub increment: Option<i64>,
    /// MINVALUE; NO MINVALUE is `Some(None)`.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; NO MAXVALUE is `Some(None)`.
    pub max: Option<Option<i64>>,
    /// CACHE; NOCACHE is 0.
    pub cache: Option<i64>,
    /// CYCLE or NOCYCLE.
    pub cycle: Option<bool>,
    /// RESTART \[WITH\].
    pub restart: Option<Option<i64>>,
    /// COMMENT and ENGINE.
    pub table: TableOptions,
}

impl DdlStmt {
    /// It does not commit the open transaction: TEMPORARY is written in it.
    #[must_use]
    pub fn keeps_transaction(&self) -> bool {
        match self {
            DdlStmt::CreateTable(c) => c.temporary,
            DdlStmt::DropTable { temporary, .. } => *temporary,
            _ => false,
        }
    }
}
