//! Texts of several statements.

use crate::keyword::Kw;
use crate::lexer::for_each_token;
use crate::parse::statement_length;
use crate::parser::ParseOptions;
use crate::sql_mode::SqlMode;
use crate::token::Tok;

/// Splits a text at its semicolons, outside of quotes, comments and stored programs. Empty statements are left out.
pub fn split_statements(text: &str, mode: SqlMode) -> Vec<&str> {
    let mut split = Split {
        text,
        mode,
        parts: Vec::with_capacity(1),
        start: 0,
        words: 0,
        program: false,
        until: 0,
    };
    // Tokens are not kept: the text may be long, and all of it one string.
    for_each_token(text.as_bytes(), mode, |t| {
        match t.tok {
            Tok::Semicolon => split.semicolon(t.start as usize, t.end as usize),
            tok => split.token(tok),
        }
        true
    });
    split.part(text.len());
    split.parts
}

struct Split<'a> {
    text: &'a str,
    mode: SqlMode,
    parts: Vec<&'a str>,
    /// Where the part at hand begins, and how many tokens it has so far.
    start: usize,
    words: usize,
    /// It may be a stored program, which has semicolons of its own.
    program: bool,
    /// Semicolons up to here belong to one.
    until: usize,
}

impl Split<'_> {
    fn token(&mut self, tok: Tok) {
        self.program |= match (self.words, tok) {
            (0, Tok::Word(k)) => {
                matches!(
                    k,
                    Kw::IF | Kw::CASE | Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR | Kw::DECLARE
                ) || k == Kw::BEGIN && self.mode.has(SqlMode::ORACLE)
            }
            // Oracle's label.
            (0, Tok::Shl) => self.mode.has(SqlMode::ORACLE),
            // BEGIN NOT ATOMIC, and a label.
            (1, Tok::Word(Kw::NOT) | Tok::Colon) => true,
            // The same behind SET STATEMENT ... FOR.
            (3.., Tok::Word(Kw::ATOMIC)) => true,
            (1.., Tok::Word(k)) => {
                matches!(
                    k,
                    Kw::PROCEDURE | Kw::FUNCTION | Kw::TRIGGER | Kw::EVENT | Kw::PACKAGE
                )
            }
            _ => false,
        };
        self.words += 1;
    }

    fn semicolon(&mut self, start: usize, end: usize) {
        if start < self.until {
            return;
        }
        if self.program {
            let options = ParseOptions {
                sql_mode: self.mode,
                ..ParseOptions::default()
            };
            // What does not parse is an error, behind which nothing runs.
            let length = statement_length(&self.text[self.start..], &options);
            self.until = length.map_or(self.text.len(), |n| self.start + n);
            self.program = false;
            if start < self.until {
                return;
            }
        }
        self.part(start);
        self.start = end;
    }

    /// The part at hand ends.
    fn part(&mut self, end: usize) {
        if self.words > 0 {
            let part = &self.text[self.start..end];
            self.parts
                .push(part.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0'));
        }
        (self.words, self.program) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_outside_quotes_and_comments() {
        let split = |text| split_statements(text, SqlMode::DEFAULT);
        assert_eq!(
            split("select 1; select ';' ; -- a;b\n ;select `a;b` # x;\n; /* ; */"),
            ["select 1", "select ';'", "select `a;b` # x;"]
        );
        assert_eq!(split(r"select 'a\';b'; x"), [r"select 'a\';b'", "x"]);
        assert_eq!(
            split_statements(r"select 'a\';b'; x", SqlMode::NO_BACKSLASH_ESCAPES),
            [r"select 'a\'", "b'; x"]
        );
        assert!(split("  ; /* only */ ;").is_empty());
    }

    #[test]
    fn programs_are_one_statement() {
        let split = |text| split_statements(text, SqlMode::DEFAULT);
        assert_eq!(
            split("create procedure p() begin select 1; select 2; end; select 3"),
            [
                "create procedure p() begin select 1; select 2; end",
                "select 3"
            ]
        );
        assert_eq!(
            split("begin not atomic select 1; end; x"),
            ["begin not atomic select 1; end", "x"]
        );
        assert_eq!(
            split("begin; select 1; commit"),
            ["begin", "select 1", "commit"]
        );
        assert_eq!(
            split("drop procedure p; select 1"),
            ["drop procedure p", "select 1"]
        );
        assert_eq!(split("create procedure p() nonsense; select 1").len(), 1);
        let oracle = |text| split_statements(text, SqlMode::ORACLE);
        assert_eq!(
            oracle("begin select 1; end; select 2"),
            ["begin select 1; end", "select 2"]
        );
        // No statement begins with a label: the error shows all of it.
        assert_eq!(oracle("<<l>> begin select 1; end l").len(), 1);
    }
}
