//! The system variables that may stand among the options.

use narwal_session::variables::{Kind, VARIABLES, lookup};

/// What the option parser needs to know of a system variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// ON/OFF: needs no value.
    pub boolean: bool,
}

/// The system variable of a name (with `_`).
pub fn variable(name: &str) -> Option<Variable> {
    // `connection.variable`
    let name = name.rsplit_once('.').map_or(name, |(_, base)| base);
    lookup(name).map(|v| Variable {
        boolean: v.kind == Kind::Bool,
    })
}

/// All system variables' names.
pub fn variable_names() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|v| v.name)
}
