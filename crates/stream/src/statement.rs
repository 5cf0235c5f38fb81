//! What a logged statement is about, as far as a stream must know: its kind and the tables it names.

use narwal_syntax::{SqlMode, Tok, Token, glance};

/// A statement of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// TRUNCATE TABLE: database, if it names one, and table.
    Truncate(Option<String>, String),
    /// A change of the schema.
    Schema(SchemaChange),
    /// Begin, end and savepoints of transactions: nothing by itself.
    Transaction,
    /// Accounts and rights, which may hold proofs of passwords; maintenance of tables.
    Other,
    /// A change of rows that is logged as a statement.
    Rows,
}

/// A statement that changes the schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaChange {
    /// CREATE, ALTER, DROP or RENAME.
    pub verb: &'static str,
    /// The tables it names, each with its database if that is named too. Empty if it is about something else.
    pub tables: Vec<(Option<String>, String)>,
    /// The database that CREATE, ALTER or DROP DATABASE names.
    pub database: Option<String>,
}

/// Reads tokens with a look ahead. The statements of other servers need not be any of ours: of what is not known, the
/// words still tell what it is about.
struct Parser<'a> {
    sql: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser<'_> {
    fn word(&mut self, word: &str) -> bool {
        let sql = self.sql;
        let here =
            |t: &Token| matches!(t.tok, Tok::Word(_)) && t.of(sql).eq_ignore_ascii_case(word);
        self.tokens.next_if(here).is_some()
    }

    fn mark(&mut self, mark: Tok) -> bool {
        self.tokens.next_if(|t| t.tok == mark).is_some()
    }

    fn name(&mut self) -> Option<String> {
        let named = |t: &Token| matches!(t.tok, Tok::Word(_) | Tok::QuotedIdent | Tok::String);
        let token = self.tokens.next_if(named)?;
        Some(glance::value(self.sql, token))
    }

    fn table(&mut self) -> Option<(Option<String>, String)> {
        let first = self.name()?;
        if self.mark(Tok::Dot) {
            return Some((Some(first), self.name()?));
        }
        Some((None, first))
    }

    fn if_exists(&mut self) {
        if self.word("if") {
            self.word("not");
            self.word("exists");
        }
    }

    /// Skips to the word; false at the end.
    fn find(&mut self, word: &str) -> bool {
        loop {
            if self.word(word) {
                return true;
            }
            if self.tokens.next().is_none() {
                return false;
            }
        }
    }
}

/// Words of accounts and rights behind CREATE, ALTER, DROP and RENAME.
const ACCOUNTS: [&str; 2] = ["user", "role"];

/// Reads a statement.
#[must_use]
pub fn parse(sql: &str) -> Statement {
    let mut tokens = glance::tokens(sql, SqlMode::DEFAULT);
    // The end of the text is no token here.
    tokens.pop();
    let mut p = Parser {
        sql,
        tokens: tokens.into_iter().peekable(),
    };
    // SET STATEMENT x = y FOR ...
    if p.word("set") && (!p.word("statement") || !p.find("for")) {
        return Statement::Other;
    }
    let Some(verb) = p.tokens.next() else {
        return Statement::Other;
    };
    match verb.of(sql).to_ascii_lowercase().as_str() {
        "truncate" => {
            p.word("table");
            match p.table() {
                Some((db, table)) => Statement::Truncate(db, table),
                None => Statement::Other,
            }
        }
        "begin" | "start" | "commit" | "rollback" | "savepoint" | "release" | "xa" => {
            Statement::Transaction
        }
        "insert" | "update" | "delete" | "replace" | "load" | "call" => Statement::Rows,
        "create" => schema(p, "CREATE"),
        "alter" => schema(p, "ALTER"),
        "drop" => schema(p, "DROP"),
        "rename" => schema(p, "RENAME"),
        _ => Statement::Other,
    }
}

fn schema(mut p: Parser<'_>, verb: &'static str) -> Statement {
    let mut change = SchemaChange {
        verb,
        ..SchemaChange::default()
    };
    // CREATE OR REPLACE, and words between the verb and what it is about: TEMPORARY, UNIQUE, ONLINE, DEFINER=...
    for _ in 0..64 {
        if ACCOUNTS.iter().any(|w| p.word(w)) {
            return Statement::Other;
        }
        if p.word("database") || p.word("schema") {
            p.if_exists();
            change.database = p.name();
            return Statement::Schema(change);
        }
        if p.word("table") || p.word("tables") || p.word("view") || p.word("sequence") {
            p.if_exists();
            while let Some(table) = p.table() {
                change.tables.push(table);
                // RENAME TABLE a TO b, c TO d.
                if verb == "RENAME" && p.word("to") {
                    change.tables.extend(p.table());
                }
                if matches!(verb, "CREATE" | "ALTER") || !p.mark(Tok::Comma) {
                    break;
                }
            }
            if verb == "ALTER" {
                rename_in(&mut p, &mut change);
            }
            return Statement::Schema(change);
        }
        if p.word("index") || p.word("trigger") {
            p.if_exists();
            if p.find("on") {
                change.tables.extend(p.table());
            }
            return Statement::Schema(change);
        }
        if p.word("procedure") || p.word("function") || p.word("event") || p.word("package") {
            return Statement::Schema(change);
        }
        if p.tokens.next().is_none() {
            break;
        }
    }
    Statement::Schema(change)
}

/// ALTER TABLE a ..., RENAME [TO] b.
fn rename_in(p: &mut Parser<'_>, change: &mut SchemaChange) {
    while p.find("rename") {
        if p.word("column") || p.word("index") || p.word("key") {
            continue;
        }
        let _ = p.word("to") || p.word("as") || p.mark(Tok::Eq);
        change.tables.extend(p.table());
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tables(sql: &str) -> String {
        match parse(sql) {
            Statement::Schema(c) => {
                let name = |(d, t): &(Option<String>, String)| match d {
                    Some(d) => format!("{d}.{t}"),
                    None => t.clone(),
                };
                let names: Vec<_> = c.tables.iter().map(name).collect();
                let db = c.database.map_or(String::new(), |d| format!(" db {d}"));
                format!("{} {}{db}", c.verb, names.join(","))
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn tables_are_found() {
        for (sql, expected) in [
            ("create table t (a int)", "CREATE t"),
            (
                "CREATE TABLE IF NOT EXISTS `d`.`a``b` (a int)",
                "CREATE d.a`b",
            ),
            ("create or replace table d . t select 1", "CREATE d.t"),
            (
                "/* x */ CREATE /*!50000 TEMPORARY */ TABLE t(a int)",
                "CREATE t",
            ),
            (
                "DROP TABLE IF EXISTS `a`,d.b /* generated by server */",
                "DROP a,d.b",
            ),
            ("drop tables a", "DROP a"),
            ("rename table a to d.b, c to e", "RENAME a,d.b,c,e"),
            (
                "alter table t add column rename_me int, rename to u",
                "ALTER t,u",
            ),
            ("alter table t rename column a to b", "ALTER t"),
            ("alter ignore table t add key (a)", "ALTER t"),
            ("create unique index i on d.t (a)", "CREATE d.t"),
            ("drop index `on` on t", "DROP t"),
            ("create database d2 charset utf8", "CREATE  db d2"),
            ("drop schema if exists `d`", "DROP  db d"),
            (
                "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` AS select 1",
                "CREATE v",
            ),
            (
                "CREATE DEFINER=`user`@`table` TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @a=1",
                "CREATE t",
            ),
            (
                "set statement max_statement_time=1 for drop table t",
                "DROP t",
            ),
            ("create function f() returns int return 1", "CREATE "),
            ("-- c\n# d\ndrop table t", "DROP t"),
        ] {
            assert_eq!(tables(sql), expected, "{sql}");
        }
    }

    #[test]
    fn kinds() {
        assert_eq!(
            parse("truncate d.t"),
            Statement::Truncate(Some("d".into()), "t".into())
        );
        assert_eq!(
            parse("TRUNCATE TABLE `t`"),
            Statement::Truncate(None, "t".into())
        );
        for sql in [
            "create user a identified by 'x'",
            "drop role r",
            "grant all on *.* to a",
            "analyze table t",
        ] {
            assert_eq!(parse(sql), Statement::Other, "{sql}");
        }
        assert_eq!(parse("COMMIT"), Statement::Transaction);
        assert_eq!(parse("XA END X'01'"), Statement::Transaction);
        assert_eq!(parse("insert into t values (1)"), Statement::Rows);
        assert_eq!(parse(""), Statement::Other);
    }

    proptest! {
        #[test]
        fn hostile_text_never_panics(sql in "\\PC{0,60}", verb in 0usize..5) {
            let verb = ["create ", "drop table ", "alter table ", "/*!", "truncate "][verb];
            let _ = parse(&sql);
            let _ = parse(&format!("{verb}{sql}"));
        }
    }
}
