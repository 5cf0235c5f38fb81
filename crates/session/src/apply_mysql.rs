//! Statements of a MySQL source in the words of this server: what a replica of MySQL runs, and writes into its own log.
//!
//! Names of collations that only MySQL has become those of the same order here, what stands in comments for MySQL's versions
//! is taken out of them, and clauses that concern the source's files alone go.

use narwal_syntax::{Kw, SqlMode, Tok, Token, glance};
use narwal_types::Collation;
use narwal_types::face::is_mysql;
use std::borrow::Cow;
use std::ops::Range;

/// What of a statement's settings its text depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MysqlSettings {
    /// How strings and names are quoted.
    pub(crate) sql_mode: SqlMode,
    /// `default_collation_for_utf8mb4`: what `CHARACTER SET utf8mb4` means without a collation.
    pub(crate) utf8mb4: Option<u16>,
    /// `collation_server`: what a database gets that names none.
    pub(crate) server: Option<u16>,
}

/// Versions in executable comments that are MySQL's; those of 10 and above are MariaDB's.
const MYSQL_VERSIONS: Range<u32> = 0..100_000;

/// Clauses that say nothing about rows: `NAME [=] value`.
const LEFT_OUT: [&str; 8] = [
    "ENCRYPTION",
    "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "ENGINE_ATTRIBUTE",
    "AUTOEXTEND_SIZE",
    "TABLESPACE",
    "COLUMN_FORMAT",
    "SRID",
];

/// The statement's text as this server takes it.
pub(crate) fn from_mysql<'t>(sql: &'t str, settings: &MysqlSettings) -> Cow<'t, str> {
    let bare = without_version_comments(sql, settings.sql_mode);
    let tokens = glance::tokens(&bare, settings.sql_mode);
    let edits = Edits::of(&bare, &tokens, settings);
    if edits.is_empty() {
        return bare;
    }
    let mut out = String::with_capacity(bare.len() + 64);
    let mut at = 0;
    for (range, text) in edits {
        if range.start < at {
            continue;
        }
        out.push_str(&bare[at..range.start]);
        out.push_str(&text);
        at = range.end;
    }
    out.push_str(&bare[at..]);
    out.into()
}

/// Statements about things that are the source's alone: accounts, files, loadable code.
pub(crate) fn is_sources_own(sql: &str, words: &[&str]) -> bool {
    let histogram = || {
        let tokens = glance::tokens(sql, SqlMode::DEFAULT);
        tokens
            .iter()
            .any(|t| t.of(sql).eq_ignore_ascii_case("HISTOGRAM"))
    };
    glance::is_about_accounts(sql.as_bytes(), SqlMode::DEFAULT)
        || words.first() == Some(&"ANALYZE") && histogram()
        || matches!(
            words,
            [
                "CREATE" | "ALTER" | "DROP",
                "TABLESPACE" | "UNDO" | "LOGFILE" | "RESOURCE" | "SERVER" | "INSTANCE",
                ..
            ] | ["CREATE" | "DROP", "SPATIAL", "REFERENCE", ..]
                | ["CREATE", "OR", "REPLACE", "SPATIAL"]
                | ["INSTALL" | "UNINSTALL", ..]
        )
}

/// CREATE INDEX on an expression, which MariaDB's grammar does not have: rows are found without.
pub(crate) fn makes_expression_index(sql: &str) -> bool {
    if is_mysql() {
        return false;
    }
    let tokens = glance::tokens(sql, SqlMode::DEFAULT);
    let tok = |n: usize| tokens.get(n).map_or(Tok::End, |t| t.tok);
    let kind = usize::from(matches!(
        tok(1),
        Tok::Word(Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL)
    ));
    tok(0) == Tok::Word(Kw::CREATE)
        && tok(1 + kind) == Tok::Word(Kw::INDEX)
        && (0..tokens.len())
            .any(|n| matches!(tok(n), Tok::LParen | Tok::Comma) && tok(n + 1) == Tok::LParen)
}

/// DROP INDEX that does not mind if there is none.
pub(crate) fn dropping_if_exists(sql: &str) -> String {
    let tokens = glance::tokens(sql, SqlMode::DEFAULT);
    let mut out = String::with_capacity(sql.len() + 16);
    let mut copied = 0;
    for pair in tokens.windows(2) {
        if pair[0].tok == Tok::Word(Kw::DROP)
            && matches!(pair[1].tok, Tok::Word(Kw::INDEX | Kw::KEY))
        {
            out.push_str(&sql[copied..pair[1].end as usize]);
            out.push_str(" IF EXISTS");
            copied = pair[1].end as usize;
        }
    }
    out.push_str(&sql[copied..]);
    out
}

/// Takes what executable comments of MySQL hold out of them. Blanks stand in their marks' places; comments for MariaDB go.
fn without_version_comments(sql: &str, mode: SqlMode) -> Cow<'_, str> {
    if !sql.contains("/*!") && !sql.contains("/*M!") {
        return sql.into();
    }
    let b = sql.as_bytes();
    let mut out = b.to_vec();
    let mut inside = false;
    let mut at = 0;
    while at < b.len() {
        let rest = &b[at..];
        let end = match b[at] {
            q @ (b'\'' | b'"' | b'`') => at + quoted(rest, q, mode),
            b'#' => at + line(rest),
            b'-' if rest.starts_with(b"-- ") => at + line(rest),
            b'/' if rest.starts_with(b"/*!") => {
                // Fewer digits are part of the statement.
                let digits = match rest[3..].iter().take_while(|c| c.is_ascii_digit()).count() {
                    0..5 => 0,
                    n => n.min(6),
                };
                let version = sql[at + 3..at + 3 + digits].parse().unwrap_or(0);
                match MYSQL_VERSIONS.contains(&version) {
                    true => {
                        inside = true;
                        out[at..at + 3 + digits].fill(b' ');
                        at + 3 + digits
                    }
                    false => blank(&mut out, at, comment(rest)),
                }
            }
            b'/' if rest.starts_with(b"/*M!") => blank(&mut out, at, comment(rest)),
            b'/' if rest.starts_with(b"/*") => at + comment(rest),
            b'*' if inside && rest.starts_with(b"*/") => {
                inside = false;
                blank(&mut out, at, 2)
            }
            _ => at + 1,
        };
        at = end;
    }
    // Only whole characters were replaced, by ASCII.
    String::from_utf8(out).map_or(Cow::Borrowed(sql), Cow::Owned)
}

/// Blanks `len` bytes at `at`; where they end.
fn blank(out: &mut [u8], at: usize, len: usize) -> usize {
    out[at..at + len].fill(b' ');
    at + len
}

/// Bytes up to the end of a line.
fn line(rest: &[u8]) -> usize {
    rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len())
}

/// Bytes of the comment at the front.
fn comment(rest: &[u8]) -> usize {
    rest[2..]
        .windows(2)
        .position(|w| w == b"*/")
        .map_or(rest.len(), |n| n + 4)
}

/// Bytes of what is quoted at the front.
fn quoted(rest: &[u8], quote: u8, mode: SqlMode) -> usize {
    let escapes = quote != b'`' && !mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' if escapes => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Replacements, in the text's order.
type Edit = (Range<usize>, String);

struct Edits<'t> {
    sql: &'t str,
    tokens: &'t [Token],
    settings: &'t MysqlSettings,
    edits: Vec<Edit>,
}

impl<'t> Edits<'t> {
    fn of(sql: &'t str, tokens: &'t [Token], settings: &'t MysqlSettings) -> Vec<Edit> {
        let mut this = Edits {
            sql,
            tokens,
            settings,
            edits: Vec::new(),
        };
        for n in 0..tokens.len() {
            this.collation(n);
        }
        let word = |n: usize| this.word(n);
        let second = match word(1).as_str() {
            "TEMPORARY" => word(2),
            second => second.to_owned(),
        };
        match (word(0).as_str(), second.as_str()) {
            ("CREATE" | "ALTER", "TABLE") => this.table(),
            ("CREATE", "DATABASE" | "SCHEMA") => this.database(),
            ("ALTER", "DATABASE" | "SCHEMA") => this.options(),
            ("CREATE", "INDEX" | "UNIQUE" | "FULLTEXT" | "SPATIAL") if !is_mysql() => {
                this.index_visibility(0);
            }
            _ => {}
        }
        this.edits.sort_by_key(|e| e.0.start);
        this.edits
    }

    fn tok(&self, n: usize) -> Tok {
        self.tokens.get(n).map_or(Tok::End, |t| t.tok)
    }

    /// The word at a token in upper case; empty where there is none.
    fn word(&self, n: usize) -> String {
        match self.tok(n) {
            Tok::Word(_) => self.tokens[n].of(self.sql).to_ascii_uppercase(),
            _ => String::new(),
        }
    }

    fn is(&self, n: usize, kw: Kw) -> bool {
        self.tok(n) == Tok::Word(kw)
    }

    /// Replaces tokens from `from` up to and without `to`.
    fn replace(&mut self, from: usize, to: usize, text: &str) {
        let range = self.tokens[from].start as usize..self.tokens[to - 1].end as usize;
        self.edits.push((range, text.to_owned()));
    }

    /// A collation that has another name here.
    fn collation(&mut self, n: usize) {
        let of_collate = || {
            let before = match self.tok(n.wrapping_sub(1)) {
                Tok::Eq => n.wrapping_sub(2),
                _ => n.wrapping_sub(1),
            };
            self.is(before, Kw::COLLATE)
        };
        let name = match self.tok(n) {
            Tok::Word(_) => self.tokens[n].of(self.sql).to_owned(),
            Tok::String | Tok::QuotedIdent if of_collate() => {
                glance::value(self.sql, self.tokens[n])
            }
            _ => return,
        };
        if let Some(ours) = Collation::of_mysql_name(&name) {
            self.replace(n, n + 1, ours.name());
        }
    }

    /// CREATE TABLE and ALTER TABLE.
    fn table(&mut self) {
        self.options();
        // With MySQL's face they are to be had.
        if !is_mysql() {
            self.expression_indexes();
            self.index_visibility(0);
        }
        let last = self.tokens.len() - 1;
        if last > 2 && self.is(last - 2, Kw::START) && self.is(last - 1, Kw::TRANSACTION) {
            self.replace(last - 2, last, "");
        }
        // Inside CAST and CONVERT a character set has no collation.
        let mut casts = Vec::new();
        for n in 0..last {
            match self.tok(n) {
                Tok::LParen => {
                    let of = self.word(n.wrapping_sub(1));
                    casts.push(matches!(of.as_str(), "CAST" | "CONVERT"));
                }
                Tok::RParen => drop(casts.pop()),
                _ if casts.last() != Some(&true) => self.charset(n),
                _ => {}
            }
        }
    }

    /// `CHARACTER SET utf8mb4` without a collation gets the source's.
    fn charset(&mut self, n: usize) {
        let mut at = match self.tok(n) {
            Tok::Word(Kw::CHARSET) => n + 1,
            Tok::Word(Kw::CHARACTER | Kw::CHAR) if self.is(n + 1, Kw::SET) => n + 2,
            _ => return,
        };
        if self.tok(at) == Tok::Eq {
            at += 1;
        }
        let name = match self.tok(at) {
            Tok::Word(_) | Tok::String | Tok::QuotedIdent => {
                glance::value(self.sql, self.tokens[at])
            }
            _ => return,
        };
        let ours = self.settings.utf8mb4.and_then(Collation::from_id);
        if let Some(ours) = ours.filter(|_| name.eq_ignore_ascii_case("utf8mb4"))
            && !self.has_collate(at + 1)
        {
            let end = self.tokens[at].end as usize;
            self.edits
                .push((end..end, format!(" COLLATE {}", ours.name())));
        }
    }

    /// A COLLATE comes before the item ends.
    fn has_collate(&self, from: usize) -> bool {
        let mut depth = 0usize;
        for n in from..self.tokens.len() {
            match self.tok(n) {
                Tok::LParen => depth += 1,
                Tok::RParen if depth == 0 => return false,
                Tok::RParen => depth -= 1,
                Tok::Comma if depth == 0 => return false,
                Tok::Word(Kw::COLLATE) if depth == 0 => return true,
                _ => {}
            }
        }
        false
    }

    /// CREATE DATABASE: what nothing is said about is what the source's settings said.
    fn database(&mut self) {
        self.options();
        let last = self.tokens.len() - 1;
        let named = |n: usize| matches!(self.tok(n), Tok::Word(Kw::CHARSET | Kw::CHARACTER));
        let collated = |n: usize| self.is(n, Kw::COLLATE);
        if (0..last).any(collated) {
            return;
        }
        if (0..last).any(named) {
            (0..last).for_each(|n| self.charset(n));
            return;
        }
        if let Some(ours) = self.settings.server.and_then(Collation::from_id) {
            let end = self.tokens[last - 1].end as usize;
            self.edits
                .push((end..end, format!(" COLLATE {}", ours.name())));
        }
    }

    /// Leaves out what says nothing about rows.
    fn options(&mut self) {
        let mut n = 3;
        while n < self.tokens.len() {
            let word = self.word(n);
            if !LEFT_OUT.contains(&word.as_str()) {
                n += 1;
                continue;
            }
            let value = n + 1 + usize::from(self.tok(n + 1) == Tok::Eq);
            let known = match self.tok(value) {
                Tok::String | Tok::Int | Tok::QuotedIdent => true,
                Tok::Word(_) => word != "ENCRYPTION",
                _ => false,
            };
            // A column of that name has a type behind it, which is no value of the clause but for words.
            if !known || matches!(self.tok(n - 1), Tok::LParen | Tok::Comma) && word != "ENCRYPTION"
            {
                n += 1;
                continue;
            }
            let from = n - usize::from(self.is(n - 1, Kw::DEFAULT));
            self.replace(from, value + 1, "");
            n = value + 1;
        }
    }

    /// `INVISIBLE` of an index is IGNORED here; of a column it is the same.
    fn index_visibility(&mut self, from: usize) {
        let mut depth = 0usize;
        let mut index = self.is(0, Kw::CREATE) && !self.is(1, Kw::TABLE);
        let body = self.is(0, Kw::CREATE);
        let item = usize::from(body && !index);
        for n in from..self.tokens.len() {
            match self.tok(n) {
                Tok::LParen => {
                    depth += 1;
                    if depth == item && item == 1 {
                        index = self.begins_index(n + 1);
                    }
                }
                Tok::RParen => depth = depth.saturating_sub(1),
                Tok::Comma if depth == item => index = self.begins_index(n + 1),
                Tok::Word(Kw::ADD | Kw::ALTER) if depth == 0 && n > 2 => {
                    index = self.begins_index(n + 1);
                }
                Tok::Word(Kw::INVISIBLE) if index && depth == item => {
                    self.replace(n, n + 1, "IGNORED");
                }
                Tok::Word(Kw::VISIBLE) if depth == item => {
                    let alters = index && self.is(n.wrapping_sub(3), Kw::ALTER);
                    self.replace(n, n + 1, if alters { "NOT IGNORED" } else { "" });
                }
                _ => {}
            }
        }
    }

    /// Indexes on expressions, which are not to be had here, go: rows are found without them. An ALTER TABLE that does
    /// nothing else becomes one that does nothing.
    fn expression_indexes(&mut self) {
        let creates = self.is(0, Kw::CREATE);
        let item_depth = usize::from(creates);
        let last = self.tokens.len() - 1;
        let mut depth = 0usize;
        let mut from = None;
        let mut left_out = false;
        for n in 0..=last {
            let ends = match self.tok(n) {
                Tok::End | Tok::Semicolon => true,
                Tok::Comma if depth == item_depth + 1 && self.tok(n + 1) == Tok::LParen => {
                    left_out |= from.is_some_and(|from| self.begins_index(from));
                    false
                }
                Tok::Comma => depth == item_depth,
                Tok::RParen => {
                    depth = depth.saturating_sub(1);
                    creates && depth == 0
                }
                Tok::LParen => {
                    depth += 1;
                    if creates && depth == 1 && from.is_none() {
                        from = Some(n + 1);
                    } else if self.tok(n + 1) == Tok::LParen && depth == item_depth + 1 {
                        left_out |= from.is_some_and(|from| self.begins_index(from));
                    }
                    false
                }
                Tok::Word(Kw::ADD) if !creates && depth == 0 && from.is_none() => {
                    from = Some(n);
                    false
                }
                _ => false,
            };
            if ends {
                if let Some(from) = from.filter(|_| std::mem::take(&mut left_out)) {
                    self.leave_out_item(from, n, creates);
                }
                from = (self.tok(n) == Tok::Comma).then_some(n + 1);
                if creates && depth == 0 && n > 3 && self.tok(n) == Tok::RParen {
                    return;
                }
            }
        }
    }

    /// Takes an item of a list out, with the comma before it, or behind it if it is the first.
    fn leave_out_item(&mut self, from: usize, to: usize, creates: bool) {
        if self.tok(from - 1) == Tok::Comma {
            self.replace(from - 1, to, "");
        } else if self.tok(to) == Tok::Comma {
            self.replace(from, to + 1, "");
        } else if !creates {
            self.replace(from, to, "FORCE");
        }
    }

    fn begins_index(&self, n: usize) -> bool {
        let n = n + usize::from(matches!(self.tok(n), Tok::Word(Kw::ADD | Kw::ALTER)));
        matches!(
            self.tok(n),
            Tok::Word(
                Kw::KEY
                    | Kw::INDEX
                    | Kw::UNIQUE
                    | Kw::FULLTEXT
                    | Kw::SPATIAL
                    | Kw::PRIMARY
                    | Kw::CONSTRAINT
            )
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> MysqlSettings {
        MysqlSettings {
            sql_mode: SqlMode::DEFAULT,
            utf8mb4: Some(255),
            server: Some(255),
        }
    }

    #[test]
    fn statements_that_both_have_stay_as_they_are() {
        for sql in [
            "CREATE TABLE t (a INT, b VARCHAR(9) CHARACTER SET latin1)",
            "DROP TABLE t /* gone */",
            "ALTER TABLE t ADD c INT INVISIBLE",
            "CREATE TABLE t (srid INT, encryption TEXT, tablespace INT)",
        ] {
            assert!(
                matches!(from_mysql(sql, &settings()), Cow::Borrowed(same) if same == sql),
                "{sql}"
            );
        }
    }

    #[test]
    fn collations_get_our_names() {
        for (sql, want) in [
            (
                "CREATE TABLE t (a CHAR(1) COLLATE utf8mb4_0900_as_cs, b TEXT COLLATE `utf8mb4_0900_bin`) COLLATE='utf8mb4_de_pb_0900_ai_ci'",
                "CREATE TABLE t (a CHAR(1) COLLATE utf8mb4_uca1400_nopad_as_cs, b TEXT COLLATE utf8mb4_nopad_bin) \
                 COLLATE=utf8mb4_uca1400_german2_nopad_ai_ci",
            ),
            (
                "CREATE TABLE t (a CHAR(1) CHARACTER SET utf8mb4 NOT NULL, b INT) DEFAULT CHARSET=utf8mb4 ENGINE=InnoDB",
                "CREATE TABLE t (a CHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci NOT NULL, b INT) \
                 DEFAULT CHARSET=utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci ENGINE=InnoDB",
            ),
            (
                "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
                "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci",
            ),
            (
                "CREATE TABLE t (a CHAR(9) CHARSET utf8mb4 NOT NULL COLLATE utf8mb4_bin, b TEXT AS (CAST(a AS CHAR CHARACTER SET utf8mb4)))",
                "CREATE TABLE t (a CHAR(9) CHARSET utf8mb4 NOT NULL COLLATE utf8mb4_bin, b TEXT AS (CAST(a AS CHAR CHARACTER SET utf8mb4)))",
            ),
            (
                "create database d",
                "create database d COLLATE utf8mb4_uca1400_nopad_ai_ci",
            ),
            (
                "CREATE DATABASE d CHARACTER SET utf8mb4",
                "CREATE DATABASE d CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci",
            ),
            (
                "CREATE DATABASE d CHARACTER SET latin1",
                "CREATE DATABASE d CHARACTER SET latin1",
            ),
        ] {
            assert_eq!(from_mysql(sql, &settings()), want);
        }
    }

    #[test]
    fn comments_of_mysqls_versions_are_taken_out() {
        for (sql, want) in [
            (
                "CREATE TABLE t (a INT /*!80023 INVISIBLE */, b CHAR(9) DEFAULT '/*!80000 x */')",
                "CREATE TABLE t (a INT          INVISIBLE   , b CHAR(9) DEFAULT '/*!80000 x */')",
            ),
            (
                "DROP /* !x */ TABLE /*!100301 y */t",
                "DROP /* !x */ TABLE               t",
            ),
            (
                "/*!80013 DROP*/ TABLE t -- /*!1",
                "         DROP   TABLE t -- /*!1",
            ),
        ] {
            assert_eq!(from_mysql(sql, &settings()), want);
        }
        for sql in ["/*!", "/*!8 '", "x /*", "/*!50000", "'", "/*M!", "-- "] {
            let _ = from_mysql(sql, &settings());
        }
    }

    #[test]
    fn clauses_about_files_go() {
        for (sql, want) in [
            (
                "CREATE DATABASE d COLLATE utf8mb4_bin DEFAULT ENCRYPTION='N'",
                "CREATE DATABASE d COLLATE utf8mb4_bin ",
            ),
            (
                "CREATE TABLE t (a INT COLUMN_FORMAT DYNAMIC, g GEOMETRY NOT NULL SRID 4326) TABLESPACE = x ENCRYPTION 'N'",
                "CREATE TABLE t (a INT , g GEOMETRY NOT NULL )  ",
            ),
            (
                "CREATE TABLE t (a INT, KEY k (a) INVISIBLE, KEY l (a) VISIBLE, b INT INVISIBLE)",
                "CREATE TABLE t (a INT, KEY k (a) IGNORED, KEY l (a) , b INT INVISIBLE)",
            ),
            (
                "ALTER TABLE t ALTER INDEX k INVISIBLE, ALTER INDEX l VISIBLE, ADD COLUMN c INT INVISIBLE",
                "ALTER TABLE t ALTER INDEX k IGNORED, ALTER INDEX l NOT IGNORED, ADD COLUMN c INT INVISIBLE",
            ),
            (
                "CREATE INDEX k ON t (a) INVISIBLE",
                "CREATE INDEX k ON t (a) IGNORED",
            ),
            (
                "CREATE TABLE t (`a` int NOT NULL) START TRANSACTION",
                "CREATE TABLE t (`a` int NOT NULL) ",
            ),
        ] {
            assert_eq!(from_mysql(sql, &settings()), want);
        }
    }

    #[test]
    fn indexes_on_expressions_are_left_out() {
        for (sql, want) in [
            (
                "CREATE TABLE t (a INT, KEY k ((a + 1)), UNIQUE KEY l (a), KEY m (a, (b(a))), b INT) ENGINE=x",
                "CREATE TABLE t (a INT, UNIQUE KEY l (a), b INT) ENGINE=x",
            ),
            (
                "CREATE TABLE t (a INT DEFAULT ((1)), b INT AS ((a)), CHECK ((a)))",
                "CREATE TABLE t (a INT DEFAULT ((1)), b INT AS ((a)), CHECK ((a)))",
            ),
            (
                "ALTER TABLE t ADD INDEX i ((a * 2)), ADD COLUMN c INT DEFAULT ((1)), ADD KEY j ((a))",
                "ALTER TABLE t  ADD COLUMN c INT DEFAULT ((1))",
            ),
            ("ALTER TABLE t ADD UNIQUE ((a))", "ALTER TABLE t FORCE"),
        ] {
            assert_eq!(from_mysql(sql, &settings()), want);
        }
        assert_eq!(
            dropping_if_exists("ALTER TABLE t DROP INDEX f, DROP KEY g, DROP COLUMN c"),
            "ALTER TABLE t DROP INDEX IF EXISTS f, DROP KEY IF EXISTS g, DROP COLUMN c"
        );
        assert!(makes_expression_index(
            "CREATE UNIQUE INDEX i ON t (a, (b))"
        ));
        assert!(!makes_expression_index("CREATE INDEX i ON t (a, b(3))"));
        assert!(!makes_expression_index(
            "CREATE TABLE i (a INT CHECK ((a)))"
        ));
    }

    #[test]
    fn what_is_the_sources_own() {
        for (sql, words) in [
            ("CREATE USER u", &["CREATE", "USER", "U"][..]),
            (
                "DROP UNDO TABLESPACE x",
                &["DROP", "UNDO", "TABLESPACE", "X"],
            ),
            ("INSTALL COMPONENT 'x'", &["INSTALL", "COMPONENT"]),
            (
                "ANALYZE TABLE t UPDATE HISTOGRAM ON c",
                &["ANALYZE", "TABLE", "T"],
            ),
        ] {
            assert!(is_sources_own(sql, words), "{sql}");
        }
        assert!(!is_sources_own(
            "ANALYZE TABLE t",
            &["ANALYZE", "TABLE", "T"]
        ));
        assert!(!is_sources_own(
            "CREATE TABLE user (a INT)",
            &["CREATE", "TABLE", "USER"]
        ));
    }
}
