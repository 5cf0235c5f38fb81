//! Pieces of the lexer for those who look at bytes themselves, where tokens would cost too much.

pub use crate::lexer::is_word;
use crate::lexer::{end_of_string, string_value};

/// The end of the string in quotes that begins at `start`, with backslash escapes.
pub fn end_of_quoted(b: &[u8], start: usize) -> Option<usize> {
    end_of_string(b, start, b[start], false)
}

/// The value of a string literal in its quotes, with backslash escapes.
pub fn string_literal(text: &str) -> Option<String> {
    let quote = text.bytes().next().filter(|q| matches!(q, b'\'' | b'"'))?;
    let end = end_of_string(text.as_bytes(), 0, quote, false)?;
    (end == text.len()).then(|| string_value(text, false))
}
