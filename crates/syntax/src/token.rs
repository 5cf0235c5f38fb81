//! Tokens: what kind of thing stands where in a text.

use crate::keyword::Kw;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The operators need no words.
pub enum Tok {
    /// A word without quotes. A word beside a dot is never a keyword.
    Word(Kw),
    /// A name in backticks, or in double quotes under ANSI_QUOTES.
    QuotedIdent,
    /// `'...'`, or `"..."` without ANSI_QUOTES.
    String,
    /// `N'...'`
    NString,
    /// Digits alone.
    Int,
    /// Digits with a point.
    Decimal,
    /// A number with an exponent.
    Float,
    /// `0x41` and `x'41'`.
    Hex,
    /// `0b101` and `b'101'`.
    Bit,
    /// The `?` of this number, from 0 on.
    Param(u16),
    /// `_utf8mb4` and the like in front of a literal.
    Introducer,
    /// `@name`, with the name: bare (also a host name), in quotes or in backticks.
    UserVar,
    /// `@@`; the name follows.
    AtAt,
    LParen,
    RParen,
    LBrace,
    RBrace,
    Comma,
    Dot,
    DotDot,
    Semicolon,
    Colon,
    Eq,
    ColonEq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    AmpAmp,
    Pipe,
    PipePipe,
    Caret,
    Tilde,
    Bang,
    Shl,
    Shr,
    /// `->`, under MySQL's face; as the next.
    Arrow,
    /// `->>`
    LongArrow,
    /// Rows of literals behind VALUES of a long INSERT, which are kept as text.
    Rows,
    /// What belongs to no token: a string without its end, a byte that no statement has.
    Bad,
    /// Behind the last token.
    End,
}

/// A token and its place: offsets in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub tok: Tok,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset behind its last byte.
    pub end: u32,
}

impl Token {
    /// The token's text in the text that it is of.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}
