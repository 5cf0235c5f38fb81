//! What is said about procedures and functions besides their bodies.

use super::TableName;

/// A characteristic of a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Characteristic {
    /// COMMENT.
    Comment(String),
    /// LANGUAGE SQL.
    LanguageSql,
    /// DETERMINISTIC (true) or NOT DETERMINISTIC.
    Deterministic(bool),
    /// CONTAINS SQL, NO SQL, READS SQL DATA, MODIFIES SQL DATA.
    DataAccess(DataAccess),
    /// SQL SECURITY INVOKER (true) or DEFINER.
    Invoker(bool),
}

/// What a routine does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DataAccess {
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
}

/// ALTER PROCEDURE and ALTER FUNCTION.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterRoutine {
    /// A function.
    pub function: bool,
    /// Name.
    pub name: TableName,
    /// What changes, in order.
    pub characteristics: Vec<Characteristic>,
}
