//! Which databases and tables are wanted.

use crate::{Error, Result};
use regex::Regex;

/// Databases that are left out unless a pattern names them exactly: they are the server's own.
const SYSTEM: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];

/// A name, a name with wildcards, or a regular expression.
#[derive(Debug, Clone)]
enum Pattern {
    Name(String),
    Regex(Regex),
}

impl Pattern {
    /// `*` stands for any characters and `?` for one, unless the text is in slashes: then it is a regular expression,
    /// which must fit the whole name.
    fn new(text: &str) -> Result<Self> {
        let regex = |body: String| {
            Regex::new(&format!("^(?s:{body})$"))
                .map(Pattern::Regex)
                .map_err(|e| Error::Usage(format!("{text:?} is no pattern: {e}")))
        };
        if let Some(body) = slashed(text) {
            return regex(body.to_owned());
        }
        if !text.contains(['*', '?']) {
            return Ok(Pattern::Name(text.to_owned()));
        }
        let mut body = String::new();
        for c in text.chars() {
            match c {
                '*' => body.push_str(".*"),
                '?' => body.push('.'),
                c => body.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        regex(body)
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Pattern::Name(n) => n == name,
            Pattern::Regex(r) => r.is_match(name),
        }
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self, Pattern::Name(n) if n == name)
    }
}

fn slashed(text: &str) -> Option<&str> {
    text.strip_prefix('/')
        .and_then(|t| t.strip_suffix('/'))
        .filter(|t| !t.is_empty())
}

/// A pattern for tables.
#[derive(Debug, Clone)]
enum TablePattern {
    /// In any database.
    Any(Pattern),
    /// Database and table.
    Both(Pattern, Pattern),
    /// A regular expression over `database.table`.
    Joined(Pattern),
}

impl TablePattern {
    fn new(text: &str) -> Result<Self> {
        Ok(if slashed(text).is_some() {
            TablePattern::Joined(Pattern::new(text)?)
        } else if let Some((db, table)) = text.split_once('.') {
            TablePattern::Both(Pattern::new(db)?, Pattern::new(table)?)
        } else {
            TablePattern::Any(Pattern::new(text)?)
        })
    }

    fn fits(&self, db: &str, table: &str) -> bool {
        match self {
            TablePattern::Any(t) => t.fits(table),
            TablePattern::Both(d, t) => d.fits(db) && t.fits(table),
            TablePattern::Joined(p) => p.fits(&format!("{db}.{table}")),
        }
    }

    fn names_db(&self, db: &str) -> bool {
        matches!(self, TablePattern::Both(d, _) if d.is_name(db))
    }
}

/// Selects databases and tables. Without patterns everything is wanted but the server's own databases.
///
/// A pattern is a name, a name with `*` and `?`, or a regular expression in slashes (`/shop_[0-9]+/`). Patterns for tables
/// are `TABLE`, `DATABASE.TABLE`, or a regular expression over `database.table`. Case counts.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    databases: Vec<Pattern>,
    no_databases: Vec<Pattern>,
    tables: Vec<TablePattern>,
    no_tables: Vec<TablePattern>,
}

impl Filter {
    /// Wants everything.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Of databases only those that fit one of these patterns.
    ///
    /// # Errors
    /// [`Error::Usage`] for a malformed pattern; so do the next three.
    pub fn database(mut self, pattern: &str) -> Result<Self> {
        self.databases.push(Pattern::new(pattern)?);
        Ok(self)
    }

    /// Not these databases.
    ///
    /// # Errors
    /// As [`database`](Self::database).
    pub fn exclude_database(mut self, pattern: &str) -> Result<Self> {
        self.no_databases.push(Pattern::new(pattern)?);
        Ok(self)
    }

    /// Of tables only those that fit one of these patterns.
    ///
    /// # Errors
    /// As [`database`](Self::database).
    pub fn table(mut self, pattern: &str) -> Result<Self> {
        self.tables.push(TablePattern::new(pattern)?);
        Ok(self)
    }

    /// Not these tables.
    ///
    /// # Errors
    /// As [`database`](Self::database).
    pub fn exclude_table(mut self, pattern: &str) -> Result<Self> {
        self.no_tables.push(TablePattern::new(pattern)?);
        Ok(self)
    }

    /// Something in this database may be wanted.
    #[must_use]
    pub fn wants_database(&self, db: &str) -> bool {
        let system = SYSTEM.contains(&db)
            && !self.databases.iter().any(|p| p.is_name(db))
            && !self.tables.iter().any(|p| p.names_db(db));
        !system
            && (self.databases.is_empty() || self.databases.iter().any(|p| p.fits(db)))
            && !self.no_databases.iter().any(|p| p.fits(db))
    }

    /// Changes of this table are wanted.
    #[must_use]
    pub fn wants_table(&self, db: &str, table: &str) -> bool {
        self.wants_database(db)
            && (self.tables.is_empty() || self.tables.iter().any(|p| p.fits(db, table)))
            && !self.no_tables.iter().any(|p| p.fits(db, table))
    }

    /// A statement about no table is wanted: with patterns for tables none is.
    #[must_use]
    pub fn wants_statement(&self, db: &str) -> bool {
        self.tables.is_empty() && self.wants_database(db)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_servers_own() {
        let f = Filter::all();
        assert!(f.wants_table("d", "t") && f.wants_statement("d") && f.wants_statement(""));
        assert!(!f.wants_table("mysql", "user") && !f.wants_database("sys"));
        let f = Filter::all().database("mysql").unwrap();
        assert!(f.wants_table("mysql", "user") && !f.wants_table("d", "t"));
        let f = Filter::all().table("mysql.user").unwrap();
        assert!(f.wants_table("mysql", "user") && !f.wants_table("mysql", "db"));
        assert!(!Filter::all().database("*").unwrap().wants_database("mysql"));
    }

    #[test]
    fn patterns() {
        let f = Filter::all()
            .database("shop*")
            .unwrap()
            .table("orders")
            .unwrap()
            .table("shop.o?")
            .unwrap()
            .exclude_database("shop_old")
            .unwrap();
        assert!(f.wants_table("shop", "orders") && f.wants_table("shop2", "orders"));
        assert!(f.wants_table("shop", "o1") && !f.wants_table("shop2", "o1"));
        assert!(!f.wants_table("shop", "o12") && !f.wants_table("shop_old", "orders"));
        assert!(!f.wants_table("Shop", "orders") && !f.wants_statement("shop"));
        let f = Filter::all().table("/shop_[0-9]+[.](a|b)/").unwrap();
        assert!(f.wants_table("shop_1", "a") && f.wants_table("shop_22", "b"));
        assert!(!f.wants_table("shop_1", "ab") && !f.wants_table("xshop_1", "a"));
        let f = Filter::all().exclude_table("*.log").unwrap();
        assert!(!f.wants_table("d", "log") && f.wants_table("d", "logs") && f.wants_statement("d"));
        // Characters that mean something in a regular expression mean themselves.
        let f = Filter::all().table("a+b*").unwrap();
        assert!(f.wants_table("d", "a+bc") && !f.wants_table("d", "aab"));
        assert!(Filter::all().table("/(/").is_err());
    }
}
