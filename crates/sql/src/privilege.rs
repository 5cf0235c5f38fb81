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
    /// A foreign key to the table: any right to its rows will do as well.
    References,
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
    /// What the statement itself calls the table, where it names it: LOCK TABLES locks names.
    pub alias: Option<String>,
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
    /// The view that the statement itself names, its database first.
    pub outermost: (String, String),
}

/// A use of a column that is checked where an account has privileges on single columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse {
    /// Database.
    pub db: String,
    /// Table or view.
    pub table: String,
    /// Column.
    pub column: String,
    /// The privilege.
    pub privilege: Privilege,
    /// As in [`Needs`].
    pub through: Option<Box<Through>>,
    /// It was not named: the statement uses all columns of the table.
    pub of_all: bool,
}

/// The columns that a statement uses, noted while it is planned.
#[derive(Debug, Default)]
pub struct ColumnUses {
    /// In the order in which they were found.
    pub list: Vec<ColumnUse>,
    /// The view that is open.
    pub(crate) through: Option<Box<Through>>,
    /// What is found now stands in `*`, or in no list at all.
    pub(crate) of_all: bool,
    /// Views that are read as derived tables: database, alias, name.
    pub(crate) derived: Vec<(String, String, String)>,
}

impl ColumnUses {
    /// Notes one.
    pub(crate) fn note(&mut self, db: &str, table: &str, column: &str, privilege: Privilege) {
        let view = self.derived.iter().find(|(d, a, _)| d == db && a == table);
        let used = ColumnUse {
            db: db.to_string(),
            table: view.map_or(table, |v| &v.2).to_string(),
            column: column.to_string(),
            privilege,
            through: self.through.clone(),
            of_all: self.of_all,
        };
        if !self.list.contains(&used) {
            self.list.push(used);
        }
    }
}
