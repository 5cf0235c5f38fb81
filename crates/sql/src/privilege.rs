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
    Drop,
    Index,
    Alter,
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
}
