//! The rows of a long `INSERT ... VALUES` that are made of plain literals alone, kept as their text and read one by one when
//! they are inserted. As tokens and expressions the rows of a dump take a hundred times the memory of their text.

use crate::ast::{Expr, Literal, SetValue, UnaryOp};
use crate::lexer::{end_of_string, is_word, string_value};
use std::borrow::Cow;
use std::ops::Range;

/// Shorter statements are parsed as any other: their plans are kept, and rows of expressions cost little.
pub(crate) const MIN_TEXT: usize = 16 << 10;

/// Rows of as many literals each: numbers, strings in quotes and NULL, with spaces between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralRows {
    text: Box<str>,
    rows: usize,
    columns: usize,
}

/// What a literal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    /// With its sign, if it is negative.
    Number,
    Text,
}

fn spaces(b: &[u8], mut i: usize) -> usize {
    while b.get(i).is_some_and(u8::is_ascii_whitespace) {
        i += 1;
    }
    i
}

/// Where the rows begin: behind the word VALUES of an INSERT or REPLACE that has only names before it.
fn behind_values(b: &[u8]) -> Option<usize> {
    let is = |at: &Range<usize>, words: &[&str]| {
        let word = &b[at.clone()];
        words
            .iter()
            .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
    };
    let mut i = spaces(b, 0);
    let mut depth = 0usize;
    let mut first = true;
    loop {
        match *b.get(i)? {
            b'`' => i += b[i + 1..].iter().position(|c| *c == b'`')? + 2,
            b'(' => (depth, i) = (depth + 1, i + 1),
            b')' => (depth, i) = (depth.checked_sub(1)?, i + 1),
            b'.' | b',' => i += 1,
            c if c.is_ascii_whitespace() => i += 1,
            c if is_word(c) => {
                let end = i + b[i..].iter().take_while(|c| is_word(**c)).count();
                let word = i..end;
                if std::mem::take(&mut first) {
                    if !is(&word, &["INSERT", "REPLACE"]) {
                        return None;
                    }
                } else if depth == 0 && is(&word, &["VALUES", "VALUE"]) {
                    let rows = spaces(b, end);
                    return (b.get(rows) == Some(&b'(')).then_some(rows);
                } else if is(&word, &["SELECT", "SET", "WITH"]) {
                    return None;
                }
                i = end;
            }
            _ => return None,
        }
    }
}

/// The literal at `i`; `None` if there is none of these kinds.
fn literal(b: &[u8], start: usize) -> Option<(Range<usize>, Kind)> {
    let digits = |i: usize| b[i..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut i = start;
    let kind = match *b.get(i)? {
        b'\'' | b'"' => {
            i = end_of_string(b, i, b[i], false)?;
            Kind::Text
        }
        b'n' | b'N' if b.get(i..i + 4)?.eq_ignore_ascii_case(b"NULL") => {
            i += 4;
            Kind::Null
        }
        c if c.is_ascii_digit() || c == b'-' => {
            i += usize::from(c == b'-');
            let whole = digits(i);
            // `0x41` and `0b1` are strings.
            if whole == 0 || whole > 65 {
                return None;
            }
            i += whole;
            if b.get(i) == Some(&b'.') {
                let scale = digits(i + 1);
                if scale == 0 || whole + scale > 65 {
                    return None;
                }
                i += 1 + scale;
            }
            if matches!(b.get(i), Some(b'e' | b'E')) {
                i += 1;
                i += usize::from(matches!(b.get(i), Some(b'+' | b'-')));
                let exponent = digits(i);
                if exponent == 0 {
                    return None;
                }
                i += exponent;
            }
            Kind::Number
        }
        _ => return None,
    };
    let ends = b.get(i).is_none_or(|c| !is_word(*c) && *c != b'.');
    ends.then_some((start..i, kind))
}

/// Reads the row that begins at `i` with its parenthesis, and gives its end.
fn row(b: &[u8], i: usize, mut each: impl FnMut(Range<usize>, Kind)) -> Option<usize> {
    if b.get(i) != Some(&b'(') {
        return None;
    }
    let mut i = i + 1;
    loop {
        let (at, kind) = literal(b, spaces(b, i))?;
        i = spaces(b, at.end);
        each(at, kind);
        match b.get(i)? {
            b',' => i += 1,
            b')' => return Some(i + 1),
            _ => return None,
        }
    }
}

impl LiteralRows {
    /// The rows behind VALUES of an INSERT or REPLACE, and where they stand in its text. `None` for other statements, for
    /// short ones, and for rows that have more than plain literals, or not all as many.
    pub(crate) fn find(text: &str) -> Option<(Range<usize>, LiteralRows)> {
        if text.len() < MIN_TEXT {
            return None;
        }
        let b = text.as_bytes();
        let start = behind_values(b)?;
        let (mut rows, mut columns) = (0, 0);
        let mut i = start;
        let end = loop {
            let mut n = 0;
            let end = row(b, i, |_, _| n += 1)?;
            if rows == 0 {
                columns = n;
            } else if n != columns {
                return None;
            }
            rows += 1;
            let next = spaces(b, end);
            if b.get(next) != Some(&b',') {
                break end;
            }
            i = spaces(b, next + 1);
        };
        let found = LiteralRows {
            text: text[start..end].into(),
            rows,
            columns,
        };
        Some((start..end, found))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Never: there is a row at least.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many values each row has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// True if all characters are ASCII.
    pub fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn each_row<E>(
        &self,
        mut each: impl FnMut(&[(Range<usize>, Kind)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let b = self.text.as_bytes();
        let mut i = 0;
        let mut values = Vec::with_capacity(self.columns);
        while i < b.len() {
            values.clear();
            let Some(end) = row(b, i, |at, kind| values.push((at, kind))) else {
                break;
            };
            each(&values)?;
            // The comma, which `find` has seen.
            i = spaces(b, spaces(b, end) + 1);
        }
        Ok(())
    }

    /// Hands the rows over one by one.
    ///
    /// # Errors
    /// Those of `each`, which end it.
    pub fn rows<E>(
        &self,
        mut each: impl FnMut(&mut dyn Iterator<Item = LiteralRef<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_row(|row| {
            each(&mut row.iter().map(|(at, kind)| {
                let text = &self.text[at.clone()];
                match kind {
                    Kind::Null => LiteralRef::Null,
                    Kind::Text => LiteralRef::Text(text_of(text)),
                    Kind::Number => match text.strip_prefix('-') {
                        Some(digits) => LiteralRef::Number {
                            digits,
                            negative: true,
                        },
                        None => LiteralRef::Number {
                            digits: text,
                            negative: false,
                        },
                    },
                }
            }))
        })
    }

    /// The rows as expressions, as if they had been parsed like others.
    pub fn expressions(&self) -> Vec<Vec<SetValue>> {
        let mut out = Vec::with_capacity(self.rows);
        let _ = self.rows(|row| {
            out.push(row.map(|l| SetValue::Expr(l.expr())).collect());
            Ok::<(), ()>(())
        });
        out
    }
}

/// A literal of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiteralRef<'a> {
    /// NULL.
    Null,
    /// A number, and whether a minus stands before it.
    Number {
        /// Without the sign.
        digits: &'a str,
        /// `-`
        negative: bool,
    },
    /// A string's value.
    Text(Cow<'a, str>),
}

impl LiteralRef<'_> {
    fn expr(self) -> Expr {
        match self {
            LiteralRef::Null => Expr::Literal(Literal::Null),
            LiteralRef::Text(s) => Expr::Literal(Literal::String(s.into_owned())),
            LiteralRef::Number { digits, negative } => {
                let number = Expr::Literal(Literal::Number(digits.into()));
                match negative {
                    true => Expr::Unary {
                        op: UnaryOp::Minus,
                        expr: Box::new(number),
                    },
                    false => number,
                }
            }
        }
    }
}

/// The value of a string in its quotes, with backslash escapes.
fn text_of(token: &str) -> Cow<'_, str> {
    let inner = &token[1..token.len() - 1];
    let quote = token.as_bytes()[0];
    match memchr::memchr2(quote, b'\\', inner.as_bytes()) {
        None => Cow::Borrowed(inner),
        Some(_) => Cow::Owned(string_value(token, false)),
    }
}
