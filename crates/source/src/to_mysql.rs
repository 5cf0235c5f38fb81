//! Definitions of this server's log in MySQL's words, for readers that are MySQL's: types, defaults, collations and options
//! that have another name there, or none. What has no words there at all goes out as it stands, and stops the reader.

use narwal_syntax::{Kw, SqlMode, Tok, Token, glance};
use narwal_types::Collation;

/// What stands for JSON. Values are text here, and row events have them so; a column of MySQL's JSON would refuse them.
const JSON: &str = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";

/// Types whose defaults are expressions there.
const TEXTS: [&str; 10] = [
    "JSON",
    "TINYTEXT",
    "TEXT",
    "MEDIUMTEXT",
    "LONGTEXT",
    "TINYBLOB",
    "BLOB",
    "MEDIUMBLOB",
    "LONGBLOB",
    "LONG",
];

/// Words behind DEFAULT that need no parentheses there.
const PLAIN_DEFAULTS: [&str; 7] = [
    "NULL",
    "TRUE",
    "FALSE",
    "CURRENT_TIMESTAMP",
    "NOW",
    "LOCALTIME",
    "LOCALTIMESTAMP",
];

/// The text of a statement as MySQL takes it; `None` where it is the same. `sql_mode` says how it is quoted.
///
/// `makes_rows`: the statement stands in one transaction with the rows of the table that it makes (CREATE TABLE ... SELECT).
pub(crate) fn to_mysql(sql: &str, sql_mode: SqlMode, makes_rows: bool) -> Option<String> {
    let [first, second, ..] = glance::first_words(sql.as_bytes(), sql_mode);
    if !matches!(first, Kw::CREATE | Kw::ALTER | Kw::DROP) {
        return None;
    }
    let tokens = glance::tokens(sql, sql_mode);
    let mut text = Text {
        sql,
        tokens: &tokens,
        edits: Vec::new(),
    };
    text.collations();
    match (first, second) {
        (Kw::ALTER, Kw::TABLE) => text.alter_table(),
        (Kw::CREATE, _) if text.name_of_created().is_some() => text.create_table(makes_rows),
        (_, Kw::INDEX | Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL) => text.index_statement(),
        _ => {}
    }
    text.edited()
}

/// A replacement of the bytes from one offset up to another.
struct Edit {
    from: usize,
    to: usize,
    words: String,
}

struct Text<'t> {
    sql: &'t str,
    tokens: &'t [Token],
    edits: Vec<Edit>,
}

/// One part of a list: its tokens from `from` up to and without `to`.
#[derive(Clone, Copy)]
struct Item {
    from: usize,
    to: usize,
}

impl Text<'_> {
    fn tok(&self, n: usize) -> Tok {
        self.tokens.get(n).map_or(Tok::End, |t| t.tok)
    }

    fn is(&self, n: usize, kw: Kw) -> bool {
        self.tok(n) == Tok::Word(kw)
    }

    /// The word at a token in upper case; empty where there is none.
    fn word(&self, n: usize) -> String {
        match self.tok(n) {
            Tok::Word(_) => self.tokens[n].of(self.sql).to_ascii_uppercase(),
            _ => String::new(),
        }
    }

    /// Replaces the tokens from `from` up to and without `to`.
    fn replace(&mut self, from: usize, to: usize, words: &str) {
        self.edits.push(Edit {
            from: self.tokens[from].start as usize,
            to: self.tokens[to - 1].end as usize,
            words: words.to_owned(),
        });
    }

    /// Puts the tokens from `from` up to and without `to` between two texts.
    fn surround(&mut self, from: usize, to: usize, before: &str, behind: &str) {
        let (start, end) = (
            self.tokens[from].start as usize,
            self.tokens[to - 1].end as usize,
        );
        for (at, words) in [(start, before), (end, behind)] {
            self.edits.push(Edit {
                from: at,
                to: at,
                words: words.to_owned(),
            });
        }
    }

    fn parenthesize(&mut self, from: usize, to: usize) {
        self.surround(from, to, "(", ")");
    }

    /// The text with all replacements; `None` without any.
    fn edited(mut self) -> Option<String> {
        if self.edits.is_empty() {
            return None;
        }
        self.edits.sort_by_key(|e| (e.from, e.to));
        let mut out = String::with_capacity(self.sql.len() + 64);
        let mut copied = 0;
        for edit in &self.edits {
            if edit.from < copied {
                continue;
            }
            out.push_str(&self.sql[copied..edit.from]);
            out.push_str(&edit.words);
            copied = edit.to;
        }
        out.push_str(&self.sql[copied..]);
        Some(out)
    }

    /// Names of collations, behind COLLATE.
    fn collations(&mut self) {
        for n in 0..self.tokens.len() {
            if !self.is(n, Kw::COLLATE) {
                continue;
            }
            let at = n + 1 + usize::from(self.tok(n + 1) == Tok::Eq);
            let name = match self.tok(at) {
                Tok::Word(_) | Tok::String | Tok::QuotedIdent => {
                    glance::value(self.sql, self.tokens[at])
                }
                _ => continue,
            };
            if let Some(theirs) = Collation::from_name(&name).and_then(Collation::mysql_name) {
                self.replace(at, at + 1, &theirs);
            }
        }
    }

    /// Where the name begins that CREATE TABLE makes a table of; `None` for other statements.
    fn name_of_created(&self) -> Option<usize> {
        let mut n = 1;
        if self.is(n, Kw::OR) {
            n += 2;
        }
        n += usize::from(self.is(n, Kw::TEMPORARY));
        self.is(n, Kw::TABLE).then(|| n + 1 + self.condition(n + 1))
    }

    /// How many tokens `IF [NOT] EXISTS` at `n` has.
    fn condition(&self, n: usize) -> usize {
        match (self.is(n, Kw::IF), self.is(n + 1, Kw::NOT)) {
            (true, true) if self.is(n + 2, Kw::EXISTS) => 3,
            (true, false) if self.is(n + 1, Kw::EXISTS) => 2,
            _ => 0,
        }
    }

    /// Behind a name with or without its database.
    fn behind_name(&self, n: usize) -> usize {
        n + if self.tok(n + 1) == Tok::Dot { 3 } else { 1 }
    }

    /// The parts of a list between commas, from `from` on, up to a closing parenthesis or the end; and where it ends.
    fn items(&self, from: usize) -> (Vec<Item>, usize) {
        let mut items = Vec::new();
        let mut depth = 0usize;
        let mut begin = from;
        let mut n = from;
        loop {
            match self.tok(n) {
                Tok::LParen => depth += 1,
                Tok::RParen if depth > 0 => depth -= 1,
                Tok::Comma if depth == 0 => {
                    items.push(Item { from: begin, to: n });
                    begin = n + 1;
                }
                Tok::RParen | Tok::Semicolon | Tok::End => {
                    items.push(Item { from: begin, to: n });
                    return (items, n);
                }
                _ => {}
            }
            n += 1;
        }
    }

    fn create_table(&mut self, makes_rows: bool) {
        let Some(name) = self.name_of_created() else {
            return;
        };
        let open = self.behind_name(name);
        if self.tok(open) == Tok::LParen {
            self.definitions(open + 1);
        }
        // Rows may come with a table there only if it says so; the commit makes both.
        if makes_rows && let Some(last) = self.tokens.iter().rposition(|t| t.tok != Tok::End) {
            let end = self.tokens[last].end as usize;
            self.edits.push(Edit {
                from: end,
                to: end,
                words: " START TRANSACTION".to_owned(),
            });
        }
    }

    /// Columns and indexes in parentheses.
    fn definitions(&mut self, from: usize) {
        for item in self.items(from).0 {
            match self.word(item.from).as_str() {
                "KEY" | "INDEX" | "PRIMARY" | "UNIQUE" | "FULLTEXT" | "SPATIAL" | "CONSTRAINT" => {
                    self.index(item);
                }
                "CHECK" | "FOREIGN" => {}
                _ => self.column(item.from + 1, item.to),
            }
        }
    }

    fn alter_table(&mut self) {
        let condition = self.condition(2);
        if condition > 0 {
            self.replace(2, 2 + condition, "");
        }
        let first = self.behind_name(2 + condition);
        for item in self.items(first).0 {
            self.change(item);
        }
    }

    /// One change of ALTER TABLE.
    fn change(&mut self, item: Item) {
        let what = self.word(item.from);
        let of_column = self.is(item.from + 1, Kw::COLUMN);
        let mut n = item.from + 1 + usize::from(of_column);
        let kind = self.word(n);
        let index = matches!(
            kind.as_str(),
            "KEY" | "INDEX" | "PRIMARY" | "UNIQUE" | "FULLTEXT" | "SPATIAL" | "CONSTRAINT"
        ) && !of_column;
        // What is made or dropped only under a condition was so here: it is the same without.
        for at in n..item.to {
            let condition = self.condition(at);
            if condition > 0 {
                self.replace(at, at + condition, "");
                break;
            }
        }
        match what.as_str() {
            "ADD" | "ALTER" if index => self.index(Item {
                from: n,
                to: item.to,
            }),
            "ADD" | "MODIFY" | "CHANGE"
                if !matches!(kind.as_str(), "CHECK" | "FOREIGN") || of_column =>
            {
                n += self.condition(n);
                if what == "ADD" && self.tok(n) == Tok::LParen {
                    return self.definitions(n + 1);
                }
                n += usize::from(what == "CHANGE");
                self.column(n + 1, item.to);
            }
            "ALTER" => self.new_default(n, item.to),
            _ => {}
        }
    }

    /// ALTER COLUMN ... SET DEFAULT: a text has to be an expression where the column is a TEXT, and may be one elsewhere.
    /// In this statement MySQL takes a literal in parentheses for a literal.
    fn new_default(&mut self, from: usize, to: usize) {
        let found = (from..to).find(|n| self.is(*n, Kw::DEFAULT));
        if let Some(n) = found.filter(|n| self.tok(n + 1) == Tok::String) {
            self.surround(n + 1, n + 2, "(CONCAT(", "))");
        }
    }

    /// A column's type, at `at`, and what stands behind it.
    fn column(&mut self, at: usize, to: usize) {
        let kind = self.word(at);
        let has_charset = (at + 1..to).any(|n| {
            matches!(self.tok(n), Tok::Word(Kw::COLLATE | Kw::CHARSET))
                || self.is(n, Kw::CHARACTER) && self.is(n + 1, Kw::SET)
        });
        if kind == "JSON" {
            self.replace(at, at + 1, if has_charset { "LONGTEXT" } else { JSON });
        }
        let mut depth = 0usize;
        for n in at + 1..to {
            match self.tok(n) {
                Tok::LParen => depth += 1,
                Tok::RParen => depth = depth.saturating_sub(1),
                Tok::Word(Kw::DEFAULT) if depth == 0 => {
                    self.default(n + 1, to, TEXTS.contains(&kind.as_str()));
                }
                Tok::Word(Kw::PERSISTENT) if depth == 0 => self.replace(n, n + 1, "STORED"),
                _ => {}
            }
        }
    }

    /// The value behind DEFAULT.
    fn default(&mut self, at: usize, to: usize, of_text: bool) {
        match self.tok(at) {
            Tok::String | Tok::Hex | Tok::Bit | Tok::NString if of_text => {
                self.parenthesize(at, at + 1);
            }
            Tok::Introducer if of_text => self.parenthesize(at, at + 2),
            Tok::Word(_) if !PLAIN_DEFAULTS.contains(&self.word(at).as_str()) => {
                let end = match self.tok(at + 1) {
                    Tok::LParen => self.items(at + 2).1 + 1,
                    _ => at + 1,
                };
                if end <= to {
                    self.parenthesize(at, end);
                }
            }
            _ => {}
        }
    }

    /// An index: whether the planner sees it.
    fn index(&mut self, item: Item) {
        let mut depth = 0usize;
        for n in item.from..item.to {
            match self.tok(n) {
                Tok::LParen => depth += 1,
                Tok::RParen => depth = depth.saturating_sub(1),
                // Names of indexes stand right behind the first word or in front of the parts.
                Tok::Word(Kw::IGNORED)
                    if depth == 0 && n > item.from + 1 && self.tok(n + 1) != Tok::LParen =>
                {
                    match self.is(n - 1, Kw::NOT) {
                        true => self.replace(n - 1, n + 1, "VISIBLE"),
                        false => self.replace(n, n + 1, "INVISIBLE"),
                    }
                }
                _ => {}
            }
        }
    }

    /// CREATE INDEX and DROP INDEX.
    fn index_statement(&mut self) {
        let word = (0..self.tokens.len()).find(|n| self.is(*n, Kw::INDEX));
        let Some(name) = word.map(|n| n + 1) else {
            return;
        };
        let condition = self.condition(name);
        if condition > 0 {
            self.replace(name, name + condition, "");
        }
        self.index(Item {
            from: name,
            to: self.tokens.len(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mysql(sql: &str) -> Option<String> {
        to_mysql(sql, SqlMode::DEFAULT, false)
    }

    #[test]
    fn json_is_a_text_there() {
        for (sql, want) in [
            (
                "CREATE TABLE t (a INT, json JSON NOT NULL DEFAULT '{}', `b` json, c TEXT)",
                format!(
                    "CREATE TABLE t (a INT, json {JSON} NOT NULL DEFAULT ('{{}}'), `b` {JSON}, c TEXT)"
                ),
            ),
            (
                "create temporary table if not exists `d`.`json` (json json check (json_valid(json) and json <> ''), key json (json(9)))",
                format!(
                    "create temporary table if not exists `d`.`json` (json {JSON} check (json_valid(json) and json <> ''), key json (json(9)))"
                ),
            ),
            (
                "ALTER TABLE t ADD COLUMN json JSON, ADD json INT, CHANGE a json JSON, RENAME COLUMN json TO j, MODIFY json json AFTER json",
                format!(
                    "ALTER TABLE t ADD COLUMN json {JSON}, ADD json INT, CHANGE a json {JSON}, RENAME COLUMN json TO j, MODIFY json {JSON} AFTER json"
                ),
            ),
            (
                "ALTER TABLE json ADD (json INT, b JSON)",
                format!("ALTER TABLE json ADD (json INT, b {JSON})"),
            ),
            (
                "CREATE TABLE t (j JSON CHARACTER SET utf8mb4)",
                "CREATE TABLE t (j LONGTEXT CHARACTER SET utf8mb4)".to_owned(),
            ),
        ] {
            assert_eq!(mysql(sql), Some(want), "{sql}");
        }
    }

    #[test]
    fn what_mysql_says_otherwise() {
        for (sql, want) in [
            (
                "CREATE TABLE t (a CHAR(3) COLLATE utf8mb4_uca1400_nopad_as_cs, KEY k (a) IGNORED) COLLATE='uca1400_german2_ai_ci'",
                "CREATE TABLE t (a CHAR(3) COLLATE utf8mb4_0900_as_cs, KEY k (a) INVISIBLE) COLLATE=utf8mb4_de_pb_0900_ai_ci",
            ),
            (
                "CREATE DATABASE d COLLATE utf8mb4_nopad_bin",
                "CREATE DATABASE d COLLATE utf8mb4_0900_bin",
            ),
            (
                "ALTER TABLE t ALTER INDEX k NOT IGNORED, ADD KEY l (ignored) IGNORED",
                "ALTER TABLE t ALTER INDEX k VISIBLE, ADD KEY l (ignored) INVISIBLE",
            ),
            (
                "CREATE INDEX IF NOT EXISTS k ON t (a) IGNORED",
                "CREATE INDEX  k ON t (a) INVISIBLE",
            ),
            ("DROP INDEX IF EXISTS k ON t", "DROP INDEX  k ON t"),
            (
                "ALTER TABLE IF EXISTS t ADD COLUMN IF NOT EXISTS a TEXT DEFAULT 'x', DROP INDEX IF EXISTS k",
                "ALTER TABLE  t ADD COLUMN  a TEXT DEFAULT ('x'), DROP INDEX  k",
            ),
            (
                "CREATE TABLE t (a DATE DEFAULT curdate() COMMENT 'c', b CHAR(36) DEFAULT uuid(), c DATETIME DEFAULT now() ON UPDATE now(), d INT AS (b) PERSISTENT, e CHAR(9) DEFAULT 'x')",
                "CREATE TABLE t (a DATE DEFAULT (curdate()) COMMENT 'c', b CHAR(36) DEFAULT (uuid()), c DATETIME DEFAULT now() ON UPDATE now(), d INT AS (b) STORED, e CHAR(9) DEFAULT 'x')",
            ),
            (
                "ALTER TABLE t ALTER a SET DEFAULT 'x'",
                "ALTER TABLE t ALTER a SET DEFAULT (CONCAT('x'))",
            ),
        ] {
            assert_eq!(mysql(sql).as_deref(), Some(want), "{sql}");
        }
    }

    #[test]
    fn most_is_the_same() {
        for sql in [
            "CREATE TABLE t (a INT, b CHAR(4) DEFAULT 'json' COMMENT 'json JSON', ignored INT)",
            "CREATE TABLE t LIKE json",
            "CREATE TABLE t (a INT DEFAULT NULL, b TEXT DEFAULT ('x'), c TIMESTAMP DEFAULT current_timestamp(), UNIQUE json (a))",
            "ALTER TABLE t RENAME json, ALTER json DROP DEFAULT, DROP json, ADD CONSTRAINT c CHECK (json > 1)",
            "CREATE VIEW v AS SELECT json FROM t",
            "DROP TABLE IF EXISTS json",
            "INSERT INTO t VALUES ('JSON')",
            "CREATE TABLE",
            "ALTER TABLE t ADD",
            "",
        ] {
            assert_eq!(mysql(sql), None, "{sql}");
        }
    }

    #[test]
    fn a_table_with_rows_is_made_in_a_transaction() {
        assert_eq!(
            to_mysql("CREATE TABLE t (a INT)", SqlMode::DEFAULT, true).as_deref(),
            Some("CREATE TABLE t (a INT) START TRANSACTION")
        );
    }

    #[test]
    fn a_text_that_is_cut_off_is_no_trouble() {
        let sql = "ALTER TABLE IF EXISTS a.b ADD COLUMN IF NOT EXISTS (j JSON DEFAULT '{}', k TEXT DEFAULT uuid()), ADD KEY (k) NOT IGNORED, CHANGE COLUMN a b JSON COLLATE = uca1400_ai_ci";
        for n in 0..sql.len() {
            let _ = mysql(&sql[..n]);
            let _ = mysql(&sql[..n].replace("ALTER", "CREATE"));
        }
    }
}
