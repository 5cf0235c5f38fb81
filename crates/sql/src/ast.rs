//! Statements as this crate runs them. Expressions, queries and DML are the trees of `narwal_syntax`; DDL has the engine's types.

use crate::charset_words::CharsetWords;
use narwal_engine::{ColumnDef, ForeignAction};
pub use narwal_syntax::ast::admin::{HandlerCursor, HandlerRead, Using};
pub use narwal_syntax::ast::{
    Assignment, Call, CastType, Cte, Delete, ExplainForm, Expr as AstExpr, FileClauses, From,
    IndexHint, IndexHintKind, IndexHintScope, Insert, InsertSource, Into, IntoVariable, Join,
    JoinKind, JoinOn, Limit, Literal, LoadData, LoadField, LockWait, Locking, OrderItem, Qualified,
    Select, SelectInto, SelectItem, SetKind, SetOp, SetValue, TableName, TableRef, Update, With,
    WriteJoin, WriteTargets,
};
use narwal_types::SqlError;
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
    /// HANDLER ... READ: the handler's name, and where it goes.
    HandlerRead(String, Box<HandlerRead>),
    /// EXPLAIN or ANALYZE of one of the above.
    Explain(Box<Stmt>, ExplainForm),
    /// A statement that changes the catalog: run by [`crate::execute_ddl`].
    Ddl(Box<DdlStmt>),
}

impl Stmt {
    /// True for DDL: commits the connection's transaction, and is run by [`crate::execute_ddl`].
    pub fn is_ddl(&self) -> bool {
        matches!(self, Stmt::Ddl(_))
    }

    /// True if the statement may write rows.
    pub fn writes(&self) -> bool {
        match self {
            Stmt::Insert(_)
            | Stmt::Update(_)
            | Stmt::Delete(_)
            | Stmt::WriteJoin(_)
            | Stmt::LoadData(_) => true,
            Stmt::Explain(inner, form) => form.runs() && inner.writes(),
            _ => false,
        }
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
            Stmt::HandlerRead(..) => "Com_ha_read",
            Stmt::Explain(inner, form) if form.runs() => inner.counter(),
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
    /// Expressions in place of columns, by their place in `columns`, whose name is empty there.
    pub functional: Vec<(usize, AstExpr)>,
    /// COMMENT.
    pub comment: String,
    /// IGNORED.
    pub ignored: bool,
    /// USING.
    pub method: Option<narwal_engine::IndexMethod>,
    /// KEY_BLOCK_SIZE; 0 if none.
    pub key_block_size: u64,
    /// The period that is WITHOUT OVERLAPS.
    pub without_overlaps: Option<String>,
    /// Warnings of options that change nothing.
    pub in_vain: Vec<SqlError>,
}

/// PERIOD FOR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodSpec {
    /// The period, with its columns as they were written.
    pub def: narwal_engine::PeriodDef,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

impl IndexSpec {
    /// Neither the primary key nor unique.
    pub fn is_plain(&self) -> bool {
        !self.primary && !self.unique
    }
}

/// A column in CREATE TABLE. In `def.ty` a character type without its own collation has
/// [`narwal_types::Collation::Utf8mb4GeneralCi`] and `collation` is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The definition so far.
    pub def: ColumnDef,
    /// COLLATE, CHARACTER SET and BINARY of the column.
    pub collation: CharsetWords,
    /// A DEFAULT that is not a plain constant.
    pub default: Option<AstExpr>,
    /// CHECK.
    pub check: Option<AstExpr>,
    /// GENERATED ALWAYS AS, and whether it is STORED.
    pub generated: Option<(AstExpr, bool)>,
    /// The length of a VARCHAR or VARBINARY that may become a TEXT or BLOB, since no strict mode is set and it is too long; that of
    /// a TEXT.
    pub length: Option<u64>,
    /// JSON: its text has to be valid unless a CHECK of its own says something else.
    pub json: bool,
    /// Neither NULL nor AS is said: of a TIMESTAMP, `explicit_defaults_for_timestamp` says what that means.
    pub implicit: bool,
    /// Members that are bytes in the column's character set, by their place.
    pub member_bytes: Vec<(usize, Vec<u8>)>,
    /// The database that stands in front of its name.
    pub said_db: Option<String>,
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
    /// Periods in order.
    pub periods: Vec<PeriodSpec>,
    /// Warnings of columns' options that change nothing.
    pub in_vain: Vec<SqlError>,
}

impl TableElements {
    /// Warnings of options that change nothing, those of indexes included.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &SqlError> {
        let of_indexes = self.indexes.iter().flat_map(|i| &i.in_vain);
        self.in_vain.iter().chain(of_indexes)
    }
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
    /// False for NOT ENFORCED.
    pub enforced: bool,
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
    /// How many indexes of the statement that are not unique stand before it: the one that is made for it comes behind these.
    pub keys_before: usize,
}

impl ForeignKeySpec {
    /// The same behind these indexes as well.
    pub fn behind(mut self, indexes: &[IndexSpec]) -> Self {
        self.keys_before += indexes.iter().filter(|i| i.is_plain()).count();
        self
    }
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

/// What the SELECT of a CREATE VIEW came to where it was planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// [`narwal_engine::ViewDef::select`].
    pub select: String,
    /// [`narwal_engine::ViewDef::columns`].
    pub columns: Vec<String>,
    /// [`narwal_engine::ViewDef::updatable`].
    pub updatable: bool,
    /// It can be merged into the statements that read it.
    pub mergeable: bool,
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
    /// CURRENT_ROLE.
    CurrentRole,
    /// An account: name and host. An empty host: none was said, it may be a role.
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
    pub select: Arc<Select>,
    /// The SELECT as written, with the CHECK OPTION.
    pub source: String,
    /// WITH CHECK OPTION.
    pub check: narwal_engine::CheckOption,
    /// What the SELECT came to where it was planned (`view::settle`).
    pub settled: Option<Settled>,
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
    pub collation: CharsetWords,
    /// COMMENT=.
    pub comment: Option<String>,
    /// AUTO_INCREMENT=.
    pub auto_increment: Option<u64>,
    /// UNION=.
    pub union: Option<Vec<TableName>>,
    /// SEQUENCE=.
    pub sequence: Option<bool>,
    /// INSERT_METHOD=.
    pub insert_method: Option<narwal_engine::MergeInsert>,
    /// Options that are only kept, as they were said: names in upper case and their values, `None` for one that says what
    /// is so without it.
    pub kept: Vec<(String, Option<String>)>,
    /// Warnings of options that change nothing and are not kept.
    pub in_vain: Vec<SqlError>,
    /// DATA DIRECTORY.
    pub data_folder: Option<String>,
    /// INDEX DIRECTORY.
    pub index_folder: Option<String>,
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
    /// CHECK (MySQL).
    Check,
    /// PERIOD FOR.
    Period,
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
    /// ALTER INDEX ... \[NOT\] IGNORED.
    IgnoreIndex {
        /// The index.
        name: String,
        /// IGNORED, or NOT IGNORED.
        ignored: bool,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER CHECK and ALTER CONSTRAINT ... \[NOT\] ENFORCED.
    EnforceCheck {
        /// The constraint.
        name: String,
        /// ENFORCED, or NOT ENFORCED.
        enforced: bool,
        /// CHECK was written, and not CONSTRAINT.
        check: bool,
    },
    /// RENAME \[TO\].
    RenameTo(TableName),
    /// Table options.
    Options(TableOptions),
    /// CONVERT TO CHARACTER SET.
    ConvertTo(CharsetWords),
    /// ORDER BY. The columns, with dots behind what stands before their names, and whether it is DESC.
    OrderBy(Vec<(String, bool)>),
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
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Name.
        name: String,
        /// Default collation.
        collation: CharsetWords,
        /// COMMENT.
        comment: Option<String>,
    },
    /// ALTER DATABASE.
    AlterDatabase {
        /// Name, or the default database.
        name: Option<String>,
        /// New default collation.
        collation: CharsetWords,
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
        /// OR REPLACE.
        or_replace: bool,
        /// Table.
        table: TableName,
        /// Index.
        index: IndexSpec,
        /// ALGORITHM and LOCK.
        ways: Vec<AlterAction>,
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
        /// TEMPORARY.
        temporary: bool,
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
        /// TEMPORARY.
        temporary: bool,
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
            DdlStmt::DropTable { temporary, .. }
            | DdlStmt::CreateSequence { temporary, .. }
            | DdlStmt::DropSequence { temporary, .. } => *temporary,
            _ => false,
        }
    }
}
