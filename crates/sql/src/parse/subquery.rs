//! SELECTs in parentheses: parsed apart, before the statement around them.
//!
//! sqlparser parses expressions, this crate SELECTs. So that one can stand in the other, `(SELECT ...)` becomes
//! `(?q<n>)`, and `EXISTS (SELECT ...)` becomes `?e<n>`: placeholders, which both take for values.

use super::P;
use crate::ast::Select;
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// SELECTs within each other, at most.
const MAX_DEPTH: usize = 32;

/// One that was taken out.
pub(super) struct Subquery {
    /// Offset of its first token.
    pub start: usize,
    /// `None` when its place was found.
    pub select: Option<Select>,
}

/// The number of a placeholder made by [`take`], and whether it is EXISTS.
pub(crate) fn number(placeholder: &str) -> Option<(usize, bool)> {
    let (n, exists) = match placeholder.strip_prefix("?q") {
        Some(n) => (n, false),
        None => (placeholder.strip_prefix("?e")?, true),
    };
    Some((n.parse().ok()?, exists))
}

fn is_space(t: &TokenWithSpan) -> bool {
    matches!(t.token, Token::Whitespace(_))
}

/// Takes the SELECTs in parentheses out of a statement's tokens.
pub(super) fn take(
    text: &str,
    lines: &[usize],
    tokens: Vec<TokenWithSpan>,
    params: usize,
    depth: usize,
) -> SqlResult<(Vec<TokenWithSpan>, Vec<Subquery>)> {
    if depth > MAX_DEPTH {
        return Err(SqlError::new(
            1473,
            b"HY000",
            format!("Too high level of nesting for select; at most {MAX_DEPTH} are possible"),
        ));
    }
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut found = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(t) = tokens.next() {
        let open = t.token == Token::LParen;
        out.push(t);
        if !open {
            continue;
        }
        while let Some(space) = tokens.next_if(is_space) {
            out.push(space);
        }
        if !tokens.peek().is_some_and(|t| P::is_kw(&t.token, "SELECT")) {
            continue;
        }
        let mut inside = Vec::new();
        let mut level = 0usize;
        let close = loop {
            let Some(t) = tokens.next() else { break None };
            match t.token {
                Token::LParen => level += 1,
                Token::RParen if level == 0 => break Some(t),
                Token::RParen => level -= 1,
                _ => {}
            }
            inside.push(t);
        };
        let Some(close) = close else {
            return Err(super::syntax_error(text, text.len()));
        };
        let first = inside.first().map_or(Span::empty(), |t| t.span);
        let offset = |l| super::offset_in(lines, text, l);
        let (inside, subqueries) = take(text, lines, inside, params, depth + 1)?;
        let mut p = P::of_tokens(text, lines.to_vec(), inside, subqueries, params);
        p.end = offset(close.span.start);
        let select = p.select()?;
        p.end()?;
        let n = found.len();
        found.push(Subquery {
            start: offset(first.start),
            select: Some(select),
        });
        let exists = {
            let mut before = out.iter().rposition(|t| !is_space(t)).unwrap_or(0);
            while before > 0 {
                before -= 1;
                if !is_space(&out[before]) {
                    break;
                }
            }
            P::is_kw(&out[before].token, "EXISTS").then_some(before)
        };
        if let Some(at) = exists {
            let span = Span::new(out[at].span.start, close.span.end);
            out.truncate(at);
            out.push(TokenWithSpan {
                token: Token::Placeholder(format!("?e{n}")),
                span,
            });
        } else {
            out.push(TokenWithSpan {
                token: Token::Placeholder(format!("?q{n}")),
                span: Span::new(first.start, close.span.start),
            });
            out.push(close);
        }
    }
    Ok((out, found))
}

impl P<'_> {
    /// The subqueries of expressions between an offset and the next token.
    pub(super) fn subqueries_since(&mut self, start: usize) -> Vec<(usize, Select)> {
        if self.subqueries.is_empty() {
            return Vec::new();
        }
        let end = self.here();
        self.subqueries
            .iter_mut()
            .enumerate()
            .filter(|(_, s)| (start..end).contains(&s.start))
            .filter_map(|(n, s)| Some((n, s.select.take()?)))
            .collect()
    }

    /// Consumes `(SELECT ...)` if it is next.
    pub(super) fn parenthesised_select(&mut self) -> SqlResult<Option<Select>> {
        let (Token::LParen, Token::Placeholder(p), Token::RParen) =
            (self.peek(), self.peek_nth(1), self.peek_nth(2))
        else {
            return Ok(None);
        };
        let Some((n, false)) = number(p) else {
            return Ok(None);
        };
        for _ in 0..3 {
            self.next();
        }
        Ok(self.subqueries.get_mut(n).and_then(|s| s.select.take()))
    }
}
