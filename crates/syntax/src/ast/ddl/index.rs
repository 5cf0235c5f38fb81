//! Indexes.

use super::{Creation, MetadataWait, OptionValue, TableName};
use crate::ast::Expression;

/// What kind an index is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexKind {
    #[default]
    Plain,
    Unique,
    Primary,
    Fulltext,
    Spatial,
}

/// USING.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IndexMethod {
    BTree,
    RTree,
    Hash,
}

/// A column of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexPart {
    /// Column; empty if it is an expression.
    pub column: String,
    /// An expression in place of the column (MySQL).
    pub expr: Option<Expression>,
    /// Length of the prefix.
    pub prefix: Option<u64>,
    /// DESC.
    pub desc: bool,
}

/// An option of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexOption {
    /// USING.
    Using(IndexMethod),
    /// COMMENT.
    Comment(String),
    /// KEY_BLOCK_SIZE.
    KeyBlockSize(u64),
    /// WITH PARSER.
    Parser(String),
    /// IGNORED (true) or NOT IGNORED.
    Ignored(bool),
    /// VISIBLE, which changes nothing.
    Visible,
    /// One that a storage engine may know, CLUSTERING for example.
    Engines(String, OptionValue),
}

/// An index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Index {
    /// Kind.
    pub kind: IndexKind,
    /// Name behind CONSTRAINT.
    pub constraint: Option<String>,
    /// Name of the index.
    pub name: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Columns.
    pub parts: Vec<IndexPart>,
    /// The period that is WITHOUT OVERLAPS.
    pub without_overlaps: Option<String>,
    /// Options in order, USING before the columns included.
    pub options: Vec<IndexOption>,
}

/// ALGORITHM, LOCK, WAIT: how a change is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeOptions {
    /// ALGORITHM, as written.
    pub algorithm: Option<String>,
    /// LOCK, as written.
    pub lock: Option<String>,
    /// WAIT or NOWAIT.
    pub wait: Option<MetadataWait>,
}

/// CREATE INDEX.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// Table.
    pub table: TableName,
    /// Index.
    pub index: Index,
    /// How.
    pub how: ChangeOptions,
}

/// DROP INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropIndex {
    /// IF EXISTS.
    pub if_exists: bool,
    /// Table.
    pub table: TableName,
    /// Index.
    pub index: String,
    /// How.
    pub how: ChangeOptions,
}
