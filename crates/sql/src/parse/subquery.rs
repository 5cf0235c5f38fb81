//! SELECTs in parentheses: parsed apart, before the statement around them.
//!
//! sqlparser parses expressions, this crate SELECTs. So that one can stand in the other, `(SELECT ...)` becomes
//! `(?q<n>)`, and `EXISTS (SELECT ...)` becomes `?e<n>`: placeholders, which both take for values.

use super::P;
use crate::ast::Select;
use crate::sql_mode::SqlMode;
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

/// True for a word that a query begins with.
pub(super) fn begins(t: &Token) -> bool {
    P::is_kw(t, "SELECT") || P::is_kw(t, "WITH")
}

/// What stands before the parenthesis that was opened last.
fn before_parenthesis(out: &[TokenWithSpan]) -> Option<&Token> {
    let mut words = out.iter().rev().filter(|t| !is_space(t));
    words.next();
    words.next().map(|t| &t.token)
}

/// True if a query begins at a token: SELECT, or a SELECT in parentheses that has UNION or such behind it.
fn query_begins(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens.iter().filter(|t| !is_space(t)).map(|t| &t.token);
    let mut open = 0;
    let first = loop {
        match words.next() {
            Some(Token::LParen) => open += 1,
            t => break t,
        }
    };
    if !first.is_some_and(begins) {
        return false;
    }
    // Behind the parenthesis that opened first.
    let mut level = open;
    while level > 0 {
        match words.next() {
            Some(Token::LParen) => level += 1,
            Some(Token::RParen) => level -= 1,
            Some(_) => {}
            None => return false,
        }
    }
    open == 0
        || words.next().is_some_and(|t| {
            ["UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT"]
                .iter()
                .any(|k| P::is_kw(t, k))
        })
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
    sql_mode: SqlMode,
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
    let mut at = 0;
    while let Some(t) = tokens.get(at) {
        at += 1;
        let open = t.token == Token::LParen;
        out.push(t.clone());
        if !open {
            continue;
        }
        while let Some(space) = tokens.get(at).filter(|t| is_space(t)) {
            out.push(space.clone());
            at += 1;
        }
        let values = tokens.get(at).is_some_and(|t| P::is_kw(&t.token, "VALUES"))
            && before_parenthesis(&out).is_some_and(|t| P::is_kw(t, "IN"));
        if !values && !query_begins(&tokens[at..]) {
            continue;
        }
        let mut inside = Vec::new();
        let mut level = 0usize;
        let close = loop {
            let Some(t) = tokens.get(at) else { break None };
            at += 1;
            match t.token {
                Token::LParen => level += 1,
                Token::RParen if level == 0 => break Some(t.clone()),
                Token::RParen => level -= 1,
                _ => {}
            }
            inside.push(t.clone());
        };
        let Some(close) = close else {
            return Err(super::syntax_error(text, text.len()));
        };
        let first = inside.first().map_or(Span::empty(), |t| t.span);
        let offset = |l| super::offset_in(lines, text, l);
        let (inside, subqueries) = take(text, lines, inside, params, sql_mode, depth + 1)?;
        let mut p = P::of_tokens(text, lines.to_vec(), inside, subqueries, params, sql_mode);
        p.end = offset(close.span.start);
        let select = p.select()?;
        p.end()?;
        p.no_into()?;
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
