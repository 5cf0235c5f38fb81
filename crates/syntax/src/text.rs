//! Texts of several statements.

use crate::lexer::lex;
use crate::sql_mode::SqlMode;
use crate::token::Tok;

/// Splits a text at its semicolons, outside of quotes and comments. Empty statements are left out.
pub fn split_statements(text: &str, mode: SqlMode) -> Vec<&str> {
    let mut out = Vec::with_capacity(1);
    let Ok(lexed) = lex(text, 0..text.len(), 0, mode) else { return vec![text] };
    let (mut start, mut any) = (0, false);
    for t in lexed.tokens {
        if !matches!(t.tok, Tok::Semicolon | Tok::End) {
            any = true;
            continue;
        }
        if std::mem::take(&mut any) {
            out.push(text[start..t.start as usize].trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0'));
        }
        start = t.end as usize;
    }
    out
}
