//! What can be told of a text by a glance, without parsing it.

use crate::keyword::Kw;
use crate::lexer::{ident_value, lex, lex_bytes, string_value};
use crate::sql_mode::SqlMode;
use crate::token::{Tok, Token};

/// What a text of several statements at most has as its first words.
const HEAD: usize = 4;

/// The first words of a text that are keywords, up to the first token that is none; [`Kw::Plain`] stands for any other
/// word. It need not be UTF-8.
pub fn first_words(sql: &[u8], mode: SqlMode) -> [Kw; HEAD] {
    let mut words = [Kw::Plain; HEAD];
    let tokens = lex_bytes(sql, mode, HEAD);
    for (word, t) in words.iter_mut().zip(&tokens) {
        match t.tok {
            Tok::Word(k) => *word = k,
            _ => break,
        }
    }
    words
}

/// The first `most` tokens of a text that need not be UTF-8.
pub fn first_tokens(sql: &[u8], mode: SqlMode, most: usize) -> Vec<Token> {
    lex_bytes(sql, mode, most)
}

/// True if a text begins as statements about accounts and sources of replication do.
pub(crate) fn begins_with_account(sql: &[u8]) -> bool {
    let [first, ..] = first_words(sql, SqlMode::DEFAULT);
    matches!(
        first,
        Kw::CREATE | Kw::ALTER | Kw::SET | Kw::GRANT | Kw::CHANGE
    )
}

/// True for a statement about accounts and roles, whatever stands in it. It need not be UTF-8.
pub fn is_about_accounts(sql: &[u8], mode: SqlMode) -> bool {
    let sql = std::str::from_utf8(sql).map_or(sql, |text| behind_settings(text, mode).as_bytes());
    matches!(
        first_words(sql, mode),
        [Kw::GRANT | Kw::REVOKE, ..]
            | [
                Kw::CREATE | Kw::ALTER | Kw::DROP | Kw::RENAME,
                Kw::USER | Kw::ROLE,
                ..
            ]
            | [Kw::CREATE, Kw::OR, Kw::REPLACE, Kw::USER | Kw::ROLE]
            | [Kw::SET, Kw::PASSWORD, ..]
            | [Kw::SET, Kw::DEFAULT, Kw::ROLE, _]
    )
}

/// A text without the SET STATEMENT ... FOR that it may begin with.
pub fn behind_settings(text: &str, mode: SqlMode) -> &str {
    let [Kw::SET, Kw::STATEMENT, ..] = first_words(text.as_bytes(), mode) else {
        return text;
    };
    let tokens = tokens(text, mode);
    let at = |n: usize| tokens.get(n).map_or(Tok::End, |t| t.tok);
    let (mut n, mut rest) = (0, text);
    while at(n) == Tok::Word(Kw::SET) && at(n + 1) == Tok::Word(Kw::STATEMENT) {
        let mut depth = 0usize;
        let is_for = |t: &Token| {
            match t.tok {
                Tok::LParen => depth += 1,
                Tok::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && t.tok == Tok::Word(Kw::FOR)
        };
        let Some(found) = tokens[n..].iter().position(is_for) else {
            break;
        };
        n += found + 1;
        rest = &text[tokens[n - 1].end as usize..];
    }
    rest
}

/// Where the first `?` of a text stands.
pub fn first_param(text: &str, mode: SqlMode) -> Option<usize> {
    let found = tokens(text, mode)
        .into_iter()
        .find(|t| matches!(t.tok, Tok::Param(_)));
    found.map(|t| t.start as usize)
}

/// The tokens of a text, as far as it can be cut: [`Tok::Bad`] stands for what is none.
pub fn tokens(text: &str, mode: SqlMode) -> Vec<Token> {
    lex(text, 0..text.len(), 0, mode).map_or_else(|_| Vec::new(), |l| l.tokens)
}

/// What a word, a name in quotes or a string stands for.
pub fn value(text: &str, token: Token) -> String {
    let written = token.of(text);
    match token.tok {
        Tok::QuotedIdent => ident_value(written),
        Tok::String => string_value(written, false),
        _ => written.to_string(),
    }
}

/// The tokens of a text that need not be UTF-8.
pub fn byte_tokens(sql: &[u8], mode: SqlMode) -> Vec<Token> {
    lex_bytes(sql, mode, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_behind_comments() {
        let words = |sql: &str| first_words(sql.as_bytes(), SqlMode::DEFAULT);
        assert_eq!(
            words("/* x */ -- y\n create\tUser u")[..3],
            [Kw::CREATE, Kw::USER, Kw::Plain]
        );
        assert_eq!(words("/*!50000 load */ data")[..2], [Kw::LOAD, Kw::DATA]);
        assert_eq!(words(""), [Kw::Plain; HEAD]);
        assert_eq!(words("(select 1)"), [Kw::Plain; HEAD]);
        assert_eq!(first_words(b"LOAD \xff", SqlMode::DEFAULT)[0], Kw::LOAD);
    }

    #[test]
    fn settings_end_at_for() {
        let rest = |sql| behind_settings(sql, SqlMode::DEFAULT);
        assert_eq!(
            rest("set statement a=(select 1 for update), b=2 for set statement c=1 for select 1"),
            " select 1"
        );
        for text in ["set a=1", "set statement a=1", "select 1"] {
            assert_eq!(rest(text), text);
        }
    }

    #[test]
    fn placeholders_are_no_text() {
        assert_eq!(first_param("select '?', ?", SqlMode::DEFAULT), Some(12));
        assert_eq!(first_param("select '?' /* ? */", SqlMode::DEFAULT), None);
    }

    #[test]
    fn statements_about_accounts_are_told_by_their_words() {
        let told = |sql: &str| is_about_accounts(sql.as_bytes(), SqlMode::DEFAULT);
        for sql in [
            "GRANT SELECT ON *.* TO u",
            " create  USER u",
            "CREATE/* a */USER u",
            "/* a */ CREATE OR REPLACE ROLE r",
            "DROP ROLE r",
            "SET\nPASSWORD FOR u = ''",
            "SET STATEMENT max_statement_time = 1 FOR ALTER USER u ACCOUNT LOCK",
        ] {
            assert!(told(sql), "{sql}");
        }
        for sql in [
            "CREATE TABLE user (a INT)",
            "DROP TABLE t",
            "GRANTED",
            "CREATE",
            "",
            "SET @a = 1",
            "CREATE `USER` (a INT)",
        ] {
            assert!(!told(sql), "{sql}");
        }
    }
}
