//! SET in all its forms.

use super::{Operand, UserName};

/// The scope of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Nothing said: the session's.
    Default,
    /// `@@name`: the same, and never a program's variable.
    Marked,
    /// SESSION, LOCAL.
    Session,
    /// GLOBAL.
    Global,
    /// MySQL's PERSIST: global, now and after the next starts.
    Persist,
    /// MySQL's PERSIST_ONLY: after the next start.
    PersistOnly,
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// DEFAULT.
    Default,
    /// A name that stands alone (ON, utf8mb4, SERIALIZABLE): for a system variable a word, not a column.
    Word(String),
    /// A string literal that stands alone.
    Str(String),
    /// Any other expression.
    Expr(Operand),
}

/// One part of a SET statement.
#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    /// A system variable.
    System {
        /// GLOBAL, SESSION.
        scope: Scope,
        /// In lower case, with the dots that it was written with.
        name: String,
        /// The value.
        value: SetValue,
    },
    /// `NEW.column` of a trigger, or a variable of a program: told apart only where it stands.
    User {
        /// The user variable.
        name: String,
        /// The value.
        value: Operand,
    },
    /// RESET PERSIST of MySQL: after the next start the value is not kept any more.
    Forget {
        /// Of which variable; `None` for all.
        name: Option<String>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// NAMES; `None` is DEFAULT.
    Names {
        /// The character set.
        charset: Option<String>,
        /// COLLATE.
        collation: Option<String>,
    },
    /// CHARACTER SET; `None` is DEFAULT.
    Charset(Option<String>),
    /// PASSWORD, as one of several.
    Password(SetPassword),
    /// ROLE, as one of several; `None` is NONE.
    Role(Option<String>),
    /// DEFAULT ROLE, as one of several.
    DefaultRole(Option<String>, Option<UserName>),
}

/// SET of variables and character sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// One after the other.
    pub items: Vec<SetItem>,
}

/// An isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// SET TRANSACTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTransaction {
    /// For the next transaction, the session, or new sessions.
    pub scope: Scope,
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// READ ONLY (true) or READ WRITE.
    pub read_only: Option<bool>,
}

/// SET PASSWORD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetPassword {
    /// FOR.
    pub user: UserName,
    /// The stored hash, or `Err(plain text)` for PASSWORD('...').
    pub password: Result<String, String>,
    /// OLD_PASSWORD('...') was written.
    pub old: bool,
}
