//! Statements that define things: what was written, nothing resolved.

mod alter;
mod column;
mod constraint;
mod creation;
mod index;
mod option;
mod partition;
mod routine;
mod sequence;
mod table;
mod view;

pub use alter::*;
pub use column::*;
pub use constraint::*;
pub use creation::*;
pub use index::*;
pub use option::*;
pub use partition::*;
pub use routine::*;
pub use sequence::*;
pub use table::*;
pub use view::*;

use super::{Expression, Select, TableName};

/// A statement that defines, changes or drops something.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // It is boxed where it is kept.
pub enum Ddl {
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// ALTER TABLE.
    AlterTable(AlterTable),
    /// DROP TABLE.
    DropTable(DropTables),
    /// RENAME TABLE.
    RenameTable(RenameTables),
    /// TRUNCATE TABLE.
    Truncate(Truncate),
    /// CREATE INDEX.
    CreateIndex(CreateIndex),
    /// DROP INDEX.
    DropIndex(DropIndex),
    /// CREATE DATABASE.
    CreateDatabase(CreateDatabase),
    /// ALTER DATABASE.
    AlterDatabase(AlterDatabase),
    /// DROP DATABASE.
    DropDatabase(DropObject<String>),
    /// CREATE VIEW and ALTER VIEW.
    CreateView(CreateView),
    /// DROP VIEW.
    DropView(DropTables),
    /// CREATE SEQUENCE.
    CreateSequence(CreateSequence),
    /// ALTER SEQUENCE.
    AlterSequence(AlterSequence),
    /// DROP SEQUENCE.
    DropSequence(DropTables),
    /// CREATE SERVER.
    CreateServer(CreateServer),
    /// ALTER SERVER.
    AlterServer(String, Vec<ServerOption>),
    /// DROP SERVER.
    DropServer(DropObject<String>),
    /// ALTER PROCEDURE and ALTER FUNCTION.
    AlterRoutine(AlterRoutine),
    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE, PACKAGE BODY.
    DropProgram(ProgramKind, DropObject<TableName>),
}

impl Ddl {
    /// Takes out WAIT or NOWAIT.
    pub fn take_wait(&mut self) -> Option<MetadataWait> {
        match self {
            Ddl::AlterTable(a) => a.wait.take(),
            Ddl::DropTable(d) => d.wait.take(),
            Ddl::RenameTable(r) => r.wait.take(),
            Ddl::Truncate(t) => t.wait.take(),
            Ddl::CreateIndex(c) => c.how.wait.take(),
            Ddl::DropIndex(d) => d.how.wait.take(),
            _ => None,
        }
    }

    /// The words that say what kind of statement it is, e.g. `CREATE TABLE`.
    pub fn name(&self) -> &'static str {
        match self {
            Ddl::CreateTable(_) => "CREATE TABLE",
            Ddl::AlterTable(_) => "ALTER TABLE",
            Ddl::DropTable(_) => "DROP TABLE",
            Ddl::RenameTable(_) => "RENAME TABLE",
            Ddl::Truncate(_) => "TRUNCATE TABLE",
            Ddl::CreateIndex(_) => "CREATE INDEX",
            Ddl::DropIndex(_) => "DROP INDEX",
            Ddl::CreateDatabase(_) => "CREATE DATABASE",
            Ddl::AlterDatabase(_) => "ALTER DATABASE",
            Ddl::DropDatabase(_) => "DROP DATABASE",
            Ddl::CreateView(v) if v.creation == ViewCreation::Alter => "ALTER VIEW",
            Ddl::CreateView(_) => "CREATE VIEW",
            Ddl::DropView(_) => "DROP VIEW",
            Ddl::CreateSequence(_) => "CREATE SEQUENCE",
            Ddl::AlterSequence(_) => "ALTER SEQUENCE",
            Ddl::DropSequence(_) => "DROP SEQUENCE",
            Ddl::CreateServer(_) => "CREATE SERVER",
            Ddl::AlterServer(..) => "ALTER SERVER",
            Ddl::DropServer(_) => "DROP SERVER",
            Ddl::AlterRoutine(a) if a.function => "ALTER FUNCTION",
            Ddl::AlterRoutine(_) => "ALTER PROCEDURE",
            Ddl::DropProgram(kind, _) => kind.dropped(),
        }
    }
}

/// DROP of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropObject<N> {
    /// IF EXISTS.
    pub if_exists: bool,
    /// Its name.
    pub name: N,
}

/// DROP of tables, views or sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropTables {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Their names.
    pub names: Vec<TableName>,
    /// WAIT or NOWAIT.
    pub wait: Option<MetadataWait>,
}

/// RENAME TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameTables {
    /// IF EXISTS.
    pub if_exists: bool,
    /// From, to, one after the other.
    pub pairs: Vec<(TableName, TableName)>,
    /// WAIT or NOWAIT of any of them.
    pub wait: Option<MetadataWait>,
}

/// TRUNCATE TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncate {
    /// Table.
    pub table: TableName,
    /// WAIT or NOWAIT.
    pub wait: Option<MetadataWait>,
}

/// CREATE DATABASE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateDatabase {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// Name.
    pub name: String,
    /// Options in order.
    pub options: Vec<TableOption>,
}

/// ALTER DATABASE.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterDatabase {
    /// Name; `None` for the default database.
    pub name: Option<String>,
    /// Options in order.
    pub options: Vec<TableOption>,
    /// UPGRADE DATA DIRECTORY NAME.
    pub upgrade: bool,
}

/// CREATE SERVER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateServer {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// Name.
    pub name: String,
    /// FOREIGN DATA WRAPPER.
    pub wrapper: String,
    /// OPTIONS.
    pub options: Vec<ServerOption>,
}

/// An option of a server: its name and its value, a number as its digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOption {
    /// In upper case.
    pub name: &'static str,
    /// As text.
    pub value: String,
}

/// A kind of stored program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ProgramKind {
    Procedure,
    Function,
    Trigger,
    Event,
    Package,
    PackageBody,
}

impl ProgramKind {
    fn dropped(self) -> &'static str {
        match self {
            ProgramKind::Procedure => "DROP PROCEDURE",
            ProgramKind::Function => "DROP FUNCTION",
            ProgramKind::Trigger => "DROP TRIGGER",
            ProgramKind::Event => "DROP EVENT",
            ProgramKind::Package => "DROP PACKAGE",
            ProgramKind::PackageBody => "DROP PACKAGE BODY",
        }
    }
}
