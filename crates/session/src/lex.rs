//! A small lexer for administrative statements. It keeps byte positions, so that parts (expressions in SET) can be
//! handed on as text and syntax errors can quote what they stumbled over.

use crate::secrets;
use narwal_types::{SqlError, SqlResult};

/// A token's kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tok {
    /// A keyword or plain identifier, as written.
    Word(String),
    /// An identifier in backticks (or in double quotes under ANSI_QUOTES).
    Quoted(String),
    /// A string literal, unescaped.
    Str(String),
    /// A number as written.
    Num(String),
    /// `@`
    At,
    /// `@@`
    AtAt,
    /// `:=`
    Assign,
    /// Any other single character.
    Punct(u8),
    /// End of the statement.
    End,
}

/// A token with its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub tok: Tok,
    pub start: usize,
    pub end: usize,
}

/// What the lexer must know of `sql_mode`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LexOptions {
    pub no_backslash_escapes: bool,
    pub ansi_quotes: bool,
}

fn is_ident(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// The first two words of a statement in upper case (empty if missing), without making tokens: decides who parses it.
pub(crate) fn leading_words(text: &str) -> ([u8; 16], usize, [u8; 16], usize) {
    let b = text.as_bytes();
    let mut i = 0;
    let mut out = ([0u8; 16], 0usize, [0u8; 16], 0usize);
    for n in 0..2 {
        i = skip_space(b, i);
        let start = i;
        while i < b.len() && is_ident(b[i]) {
            i += 1;
        }
        let mut len = i - start;
        if len > 16 {
            len = 16;
        }
        let target = if n == 0 { &mut out.0 } else { &mut out.2 };
        for k in 0..len {
            target[k] = b[start + k].to_ascii_uppercase();
        }
        if n == 0 {
            out.1 = len;
        } else {
            out.3 = len;
        }
    }
    out
}

/// Skips white space and comments.
fn skip_space(b: &[u8], mut i: usize) -> usize {
    loop {
        match b.get(i) {
            Some(c) if c.is_ascii_whitespace() || *c == 0x0b => i += 1,
            Some(b'#') => {
                while i < b.len() && b[i] != b'\n' {
                    i += 1;
                }
            }
            Some(b'-')
                if b.get(i + 1) == Some(&b'-')
                    && b.get(i + 2).is_none_or(|c| c.is_ascii_whitespace()) =>
            {
                while i < b.len() && b[i] != b'\n' {
                    i += 1;
                }
            }
            Some(b'/') if b.get(i + 1) == Some(&b'*') => {
                i += 2;
                while i < b.len() && !(b[i] == b'*' && b.get(i + 1) == Some(&b'/')) {
                    i += 1;
                }
                i = (i + 2).min(b.len());
            }
            _ => return i,
        }
    }
}

/// Cuts a statement into tokens; the last one is `End`.
pub(crate) fn tokens(text: &str, opts: LexOptions) -> SqlResult<Vec<Token>> {
    tokens_before(text, opts, None)
}

/// As [`tokens`], but what comes from the keyword `stop` on, outside parentheses, is not looked at: `End` is there.
fn tokens_before(text: &str, opts: LexOptions, stop: Option<&str>) -> SqlResult<Vec<Token>> {
    let b = text.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    let mut depth = 0usize;
    loop {
        narwal_memory::check()?;
        i = skip_space(b, i);
        let start = i;
        let Some(&c) = b.get(i) else {
            out.push(Token {
                tok: Tok::End,
                start,
                end: start,
            });
            return Ok(out);
        };
        let tok = match c {
            b'\'' | b'"' | b'`' => {
                let (s, end) = quoted(text, i, opts)?;
                i = end;
                if c == b'`' || (c == b'"' && opts.ansi_quotes) {
                    Tok::Quoted(s)
                } else {
                    Tok::Str(s)
                }
            }
            b'@' if b.get(i + 1) == Some(&b'@') => {
                i += 2;
                Tok::AtAt
            }
            b'@' => {
                i += 1;
                Tok::At
            }
            b':' if b.get(i + 1) == Some(&b'=') => {
                i += 2;
                Tok::Assign
            }
            b'0'..=b'9' => {
                while i < b.len() && b[i].is_ascii_digit() {
                    i += 1;
                }
                let exponent = |i: usize| {
                    matches!(b.get(i), Some(b'e' | b'E'))
                        && (b.get(i + 1).is_some_and(u8::is_ascii_digit)
                            || (matches!(b.get(i + 1), Some(b'+' | b'-'))
                                && b.get(i + 2).is_some_and(u8::is_ascii_digit)))
                };
                if b.get(i) == Some(&b'.') {
                    i += 1;
                    while i < b.len() && b[i].is_ascii_digit() {
                        i += 1;
                    }
                }
                if exponent(i) {
                    i += 2;
                    while i < b.len() && b[i].is_ascii_digit() {
                        i += 1;
                    }
                    Tok::Num(text[start..i].to_string())
                } else if i < b.len() && is_ident(b[i]) && !text[start..i].contains('.') {
                    while i < b.len() && is_ident(b[i]) {
                        i += 1;
                    }
                    Tok::Word(text[start..i].to_string())
                } else {
                    Tok::Num(text[start..i].to_string())
                }
            }
            c if is_ident(c) => {
                while i < b.len() && is_ident(b[i]) {
                    i += 1;
                }
                Tok::Word(text[start..i].to_string())
            }
            c => {
                i += 1;
                match c {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                Tok::Punct(c)
            }
        };
        if depth == 0
            && let (Some(stop), Tok::Word(w)) = (stop, &tok)
            && w.eq_ignore_ascii_case(stop)
        {
            out.push(Token {
                tok: Tok::End,
                start,
                end: start,
            });
            return Ok(out);
        }
        out.push(Token { tok, start, end: i });
    }
}

/// Reads the quoted text that starts at `i`; returns it without quotes and escapes, and the position after it.
fn quoted(text: &str, i: usize, opts: LexOptions) -> SqlResult<(String, usize)> {
    let b = text.as_bytes();
    let quote = b[i];
    let mut out: Vec<u8> = Vec::new();
    let mut j = i + 1;
    loop {
        let Some(&c) = b.get(j) else {
            return Err(syntax_near(text, i));
        };
        if c == quote {
            if b.get(j + 1) == Some(&quote) {
                out.push(quote);
                j += 2;
                continue;
            }
            return Ok((String::from_utf8_lossy(&out).into_owned(), j + 1));
        }
        if c == b'\\' && quote != b'`' && !opts.no_backslash_escapes {
            let Some(&e) = b.get(j + 1) else {
                return Err(syntax_near(text, i));
            };
            match e {
                b'n' => out.push(b'\n'),
                b't' => out.push(b'\t'),
                b'r' => out.push(b'\r'),
                b'b' => out.push(8),
                b'0' => out.push(0),
                b'Z' => out.push(26),
                // LIKE needs to see these escapes.
                b'%' | b'_' => out.extend_from_slice(&[b'\\', e]),
                _ => out.push(e),
            }
            j += 2;
            continue;
        }
        out.push(c);
        j += 1;
    }
}

/// Error 1064 that quotes the text from byte `at` on.
pub(crate) fn syntax_near(text: &str, at: usize) -> SqlError {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let near: String = secrets::mask_from(text, at).chars().take(80).collect();
    let line = text.as_bytes()[..at]
        .iter()
        .filter(|b| **b == b'\n')
        .count()
        + 1;
    SqlError::syntax(format!(
        "check the manual that corresponds to your MariaDB server version for the right syntax to use near '{near}' at line {line}"
    ))
}

/// A position in a statement's tokens.
pub(crate) struct Cursor<'a> {
    pub text: &'a str,
    toks: Vec<Token>,
    pos: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, opts: LexOptions) -> SqlResult<Self> {
        Ok(Cursor {
            text,
            toks: tokens(text, opts)?,
            pos: 0,
        })
    }

    /// A cursor that ends at the keyword `stop` (outside parentheses) if there is one.
    pub(crate) fn before(text: &'a str, opts: LexOptions, stop: &str) -> SqlResult<Self> {
        Ok(Cursor {
            text,
            toks: tokens_before(text, opts, Some(stop))?,
            pos: 0,
        })
    }

    pub(crate) fn peek(&self) -> &Tok {
        &self.toks[self.pos].tok
    }

    pub(crate) fn peek_at(&self, n: usize) -> &Tok {
        let i = (self.pos + n).min(self.toks.len() - 1);
        &self.toks[i].tok
    }

    /// Byte position of the current token.
    pub(crate) fn offset(&self) -> usize {
        self.toks[self.pos].start
    }

    /// Byte position after the last consumed token.
    pub(crate) fn last_end(&self) -> usize {
        if self.pos == 0 {
            0
        } else {
            self.toks[self.pos - 1].end
        }
    }

    pub(crate) fn advance(&mut self) -> Tok {
        let t = self.toks[self.pos].tok.clone();
        if self.pos + 1 < self.toks.len() {
            self.pos += 1;
        }
        t
    }

    /// Error 1064 at the current token.
    pub(crate) fn error(&self) -> SqlError {
        syntax_near(self.text, self.offset())
    }

    pub(crate) fn at_end(&self) -> bool {
        matches!(self.peek(), Tok::End)
    }

    pub(crate) fn expect_end(&self) -> SqlResult<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    fn word_is(tok: &Tok, kw: &str) -> bool {
        matches!(tok, Tok::Word(w) if w.eq_ignore_ascii_case(kw))
    }

    pub(crate) fn is_kw(&self, kw: &str) -> bool {
        Self::word_is(self.peek(), kw)
    }

    pub(crate) fn is_kw_at(&self, n: usize, kw: &str) -> bool {
        Self::word_is(self.peek_at(n), kw)
    }

    pub(crate) fn eat_kw(&mut self, kw: &str) -> bool {
        let yes = self.is_kw(kw);
        if yes {
            self.advance();
        }
        yes
    }

    /// Consumes the keywords if all of them come next, in order.
    pub(crate) fn eat_kws(&mut self, kws: &[&str]) -> bool {
        let yes = kws.iter().enumerate().all(|(i, k)| self.is_kw_at(i, k));
        if yes {
            for _ in kws {
                self.advance();
            }
        }
        yes
    }

    pub(crate) fn expect_kw(&mut self, kw: &str) -> SqlResult<()> {
        if self.eat_kw(kw) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    pub(crate) fn is_punct(&self, c: u8) -> bool {
        matches!(self.peek(), Tok::Punct(p) if *p == c)
    }

    pub(crate) fn eat_punct(&mut self, c: u8) -> bool {
        let yes = self.is_punct(c);
        if yes {
            self.advance();
        }
        yes
    }

    pub(crate) fn expect_punct(&mut self, c: u8) -> SqlResult<()> {
        if self.eat_punct(c) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// An identifier, plain or quoted.
    pub(crate) fn ident(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Word(_) | Tok::Quoted(_) => match self.advance() {
                Tok::Word(w) | Tok::Quoted(w) => Ok(w),
                _ => Err(self.error()),
            },
            _ => Err(self.error()),
        }
    }

    /// A string literal.
    pub(crate) fn string(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Str(_) => match self.advance() {
                Tok::Str(s) => Ok(s),
                _ => Err(self.error()),
            },
            _ => Err(self.error()),
        }
    }

    /// An identifier or a string literal.
    pub(crate) fn ident_or_string(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Str(_) => self.string(),
            _ => self.ident(),
        }
    }

    /// The host part of an account after `@`: a string, a quoted name, or bare characters of host names and addresses.
    pub(crate) fn host(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Str(_) | Tok::Quoted(_) => match self.advance() {
                Tok::Str(s) | Tok::Quoted(s) => Ok(s),
                _ => Err(self.error()),
            },
            _ => {
                let start = self.offset();
                let b = self.text.as_bytes();
                let mut end = start;
                while end < b.len() && (is_ident(b[end]) || matches!(b[end], b'.' | b'-' | b':')) {
                    end += 1;
                }
                if end == start {
                    return Err(self.error());
                }
                let host = self.text[start..end].to_string();
                while self.toks[self.pos].start < end && !self.at_end() {
                    self.pos += 1;
                }
                Ok(host)
            }
        }
    }

    /// The text of an expression up to a comma at the outer level or the end of the statement.
    pub(crate) fn expression_text(&mut self) -> SqlResult<&'a str> {
        self.expression_text_before("")
    }

    /// The same, up to a keyword at the outer level.
    pub(crate) fn expression_text_before(&mut self, stop: &str) -> SqlResult<&'a str> {
        let start = self.offset();
        let mut depth = 0i32;
        let mut any = false;
        loop {
            match self.peek() {
                Tok::End => break,
                Tok::Punct(b',') if depth == 0 => break,
                Tok::Word(w) if depth == 0 && w.eq_ignore_ascii_case(stop) => break,
                Tok::Punct(b'(') => depth += 1,
                Tok::Punct(b')') => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return Err(self.error());
            }
            any = true;
            self.advance();
        }
        if !any {
            return Err(self.error());
        }
        Ok(&self.text[start..self.last_end()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_mixed_statement() {
        let t = tokens(
            "SET @a:='it''s\\n', @@GLOBAL.x = 1e3 -- rest",
            LexOptions::default(),
        )
        .unwrap();
        let kinds: Vec<_> = t.into_iter().map(|t| t.tok).collect();
        assert_eq!(
            kinds,
            vec![
                Tok::Word("SET".into()),
                Tok::At,
                Tok::Word("a".into()),
                Tok::Assign,
                Tok::Str("it's\n".into()),
                Tok::Punct(b','),
                Tok::AtAt,
                Tok::Word("GLOBAL".into()),
                Tok::Punct(b'.'),
                Tok::Word("x".into()),
                Tok::Punct(b'='),
                Tok::Num("1e3".into()),
                Tok::End
            ]
        );
        assert!(tokens("select 'open", LexOptions::default()).is_err());
    }

    #[test]
    fn hosts_without_quotes() {
        let mut c = Cursor::new("u@db-1.example.com, v", LexOptions::default()).unwrap();
        assert_eq!(c.ident().unwrap(), "u");
        assert_eq!(c.advance(), Tok::At);
        assert_eq!(c.host().unwrap(), "db-1.example.com");
        assert!(c.eat_punct(b','));
        assert_eq!(c.ident().unwrap(), "v");
        let mut c = Cursor::new("127.0.0.1 x", LexOptions::default()).unwrap();
        assert_eq!(c.host().unwrap(), "127.0.0.1");
        assert!(c.eat_kw("x"));
    }

    #[test]
    fn leading_words_skip_comments() {
        let (a, n, b, m) = leading_words("/* x */ -- y\n  create\tUser u");
        assert_eq!((&a[..n], &b[..m]), (&b"CREATE"[..], &b"USER"[..]));
    }

    #[test]
    fn expression_text_stops_at_outer_comma() {
        let mut c = Cursor::new("concat(1,2) + 3 , b", LexOptions::default()).unwrap();
        assert_eq!(c.expression_text().unwrap(), "concat(1,2) + 3");
    }
}
