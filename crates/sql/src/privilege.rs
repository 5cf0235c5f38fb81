//! Which privileges a statement needs, for the session to check.

/// A table privilege.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    CreateTemporary,
    Drop,
    Index,
    Alter,
    CreateView,
}

/// One needed privilege.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Database.
    pub db: String,
    /// Table; empty for a privilege on the database itself (CREATE/DROP DATABASE).
    pub table: String,
    /// The privilege.
    pub privilege: Privilege,
    /// For a table under a view: the view that is open.
    pub through: Option<Box<Through>>,
}

/// The view that a privilege is needed through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    /// The account whose privilege it is, name and host; `None`: the session's (SQL SECURITY INVOKER).
    pub account: Option<(String, String)>,
    /// The view's database.
    pub db: String,
    /// The view.
    pub view: String,
}
