//! Names between backticks.

/// `name` in backticks, backticks inside doubled.
pub fn quote_ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
