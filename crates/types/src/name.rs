//! Names of columns, indexes, constraints, aliases and variables: which of them are the same.
//!
//! They are the same in whatever case they are written, in all alphabets: the cases are those of Unicode 3.0, as MariaDB's names
//! have them. Accents count. Names of databases, tables and table aliases are other matter: their case counts.

use crate::Collation;

/// What two names have in common that are the same.
pub trait Name {
    /// Whether this name is that one.
    fn same_name(&self, other: &str) -> bool;

    /// What all forms of this name share: a key for maps. Not to be shown.
    fn name_key(&self) -> String;
}

fn fold(c: char) -> char {
    Collation::Utf8mb4GeneralCi.in_case(c, false)
}

impl Name for str {
    fn same_name(&self, other: &str) -> bool {
        self.eq_ignore_ascii_case(other)
            || !(self.is_ascii() && other.is_ascii())
                && self.chars().map(fold).eq(other.chars().map(fold))
    }

    fn name_key(&self) -> String {
        match self.is_ascii() {
            true => self.to_ascii_lowercase(),
            false => self.chars().map(fold).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair was made as two columns of one table on MariaDB 10.11.19: 1060 or not.
    #[test]
    fn names_are_the_same_as_in_mariadb() {
        for (a, b, same) in [
            ("größe", "GRÖßE", true),
            ("größe", "GRÖSSE", false),
            ("größe", "grosse", false),
            ("É", "é", true),
            ("é", "e", false),
            ("Ж", "ж", true),
            ("Σ", "σ", true),
            ("Σ", "ς", false),
            ("ǅ", "ǆ", true),
            ("İx", "ix", true),
            ("Ⅷ", "ⅷ", true),
            ("Ａ", "ａ", true),
            ("ẞ", "ß", false),
            ("Ⴀ", "ⴀ", false),
            ("Ⱥ", "ⱥ", false),
            ("ab", "aB", true),
            ("ab", "abc", false),
            ("", "", true),
        ] {
            assert_eq!(a.same_name(b), same, "{a} {b}");
            assert_eq!(b.same_name(a), same, "{b} {a}");
            assert_eq!(a.name_key() == b.name_key(), same, "keys of {a} {b}");
        }
    }
}
