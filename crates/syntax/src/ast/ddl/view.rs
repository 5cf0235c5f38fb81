//! Views.

use super::{Select, TableName};

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

/// ALGORITHM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    TempTable,
}

/// DEFINER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definer {
    /// CURRENT_USER.
    CurrentUser,
    /// CURRENT_ROLE.
    CurrentRole,
    /// An account or a role: its name, and its host if one was given.
    Account(String, Option<String>),
}

/// WITH CHECK OPTION.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CheckOption {
    #[default]
    None,
    Local,
    Cascaded,
}

/// CREATE VIEW and ALTER VIEW.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// What if there is one.
    pub creation: ViewCreation,
    /// ALGORITHM.
    pub algorithm: Option<ViewAlgorithm>,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// SQL SECURITY INVOKER (true) or DEFINER.
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
    pub check: CheckOption,
}
