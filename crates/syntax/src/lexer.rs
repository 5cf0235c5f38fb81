//! Text to tokens, as `sql_mode` asks for.

use crate::keyword::{self, Kw};
use crate::sql_mode::SqlMode;
use crate::token::{Tok, Token};
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{SqlError, SqlResult};

/// Our version as executable comments compare it: `/*!NNNNN` runs on servers of at least that version.
const EXECUTABLE_VERSION: u32 = 101_100;
/// The same under MySQL's face.
const MYSQLS_VERSION: u32 = 80_400;
/// Versions of MySQL that MariaDB does not take for its own.
const OTHERS_VERSIONS: std::ops::RangeInclusive<u32> = 50_700..=99_999;
/// `?` of one statement at most.
const MAX_PARAMS: usize = 65_535;
/// Longer texts have no offsets in a token.
const MAX_TEXT: usize = u32::MAX as usize;

/// The character sets that `_name` introduces a literal with, sorted.
const CHARSETS: [&str; 41] = [
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb2312", "gbk", "geostd8", "greek",
    "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce",
    "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8",
    "utf8mb3", "utf8mb4",
];

/// What the lexer found in a text.
pub(crate) struct Lexed {
    /// The tokens; the last is [`Tok::End`].
    pub(crate) tokens: Vec<Token>,
    /// How many `?` there are.
    pub(crate) params: usize,
}

/// A byte of a name without quotes.
#[inline]
pub fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | 9..=13)
}

struct Lexer<'a> {
    b: &'a [u8],
    at: usize,
    ansi_quotes: bool,
    no_backslash: bool,
    /// sql_mode=ORACLE: `:name` is a parameter.
    oracle: bool,
    /// Executable comments that are open here.
    open: u32,
    /// A word that stands here belongs to the name before the dot.
    behind_dot: bool,
    params: usize,
    tokens: Vec<Token>,
}

/// Cuts a part of a text into tokens. Offsets are those of the whole text, and `params` are in front of the part.
pub(crate) fn lex(
    text: &str,
    part: std::ops::Range<usize>,
    params: usize,
    mode: SqlMode,
) -> SqlResult<Lexed> {
    if text.len() >= MAX_TEXT {
        return Err(SqlError::syntax("the statement is too long"));
    }
    let mut lexer = Lexer {
        b: &text.as_bytes()[..part.end],
        at: part.start,
        ansi_quotes: mode.has(SqlMode::ANSI_QUOTES),
        no_backslash: mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
        oracle: mode.has(SqlMode::ORACLE),
        open: 0,
        behind_dot: false,
        params,
        tokens: Vec::with_capacity(part.len() / 4 + 4),
    };
    lexer.run()?;
    if lexer.params > MAX_PARAMS {
        return Err(errors::PS_MANY_PARAM.plain());
    }
    Ok(Lexed {
        tokens: lexer.tokens,
        params: lexer.params,
    })
}

/// The first `most` tokens of a text that need not be UTF-8.
pub(crate) fn lex_bytes(sql: &[u8], mode: SqlMode, most: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    for_each_token(sql, mode, |t| {
        tokens.push(t);
        tokens.len() < most
    });
    tokens
}

/// Calls `f` with each token until it says false; none is kept.
pub(crate) fn for_each_token(sql: &[u8], mode: SqlMode, mut f: impl FnMut(Token) -> bool) {
    let mut lexer = Lexer {
        b: &sql[..sql.len().min(MAX_TEXT)],
        at: 0,
        ansi_quotes: mode.has(SqlMode::ANSI_QUOTES),
        no_backslash: mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
        oracle: mode.has(SqlMode::ORACLE),
        open: 0,
        behind_dot: false,
        params: 0,
        tokens: Vec::new(),
    };
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let Some(&first) = lexer.b.get(start) else {
            return;
        };
        let behind_dot = std::mem::take(&mut lexer.behind_dot);
        let tok = lexer.token(first, behind_dot);
        // A point looks at the token in front of it.
        lexer.tokens.clear();
        lexer.push(tok, start);
        if !lexer.tokens.last().is_some_and(|t| f(*t)) {
            return;
        }
    }
}

impl Lexer<'_> {
    fn run(&mut self) -> SqlResult<()> {
        loop {
            self.skip_blank();
            let start = self.at;
            let Some(&first) = self.b.get(start) else {
                // An executable comment without its end.
                let tok = if self.open > 0 { Tok::Bad } else { Tok::End };
                self.push(tok, start);
                if self.open > 0 {
                    self.push(Tok::End, start);
                }
                return Ok(());
            };
            if self.tokens.len() & 63 == 63 {
                narwal_memory::check()?;
            }
            let behind_dot = std::mem::take(&mut self.behind_dot);
            let tok = self.token(first, behind_dot);
            self.push(tok, start);
        }
    }

    #[inline]
    fn push(&mut self, tok: Tok, start: usize) {
        // The text is shorter than 4 GiB, see `lex`.
        self.tokens.push(Token {
            tok,
            start: start as u32,
            end: self.at as u32,
        });
    }

    fn peek(&self, n: usize) -> u8 {
        self.b.get(self.at + n).copied().unwrap_or(0)
    }

    /// Skips white space and comments.
    #[inline]
    fn skip_blank(&mut self) {
        loop {
            match self.peek(0) {
                b' ' | 9..=13 => self.at += 1,
                b'#' | b'-' | b'/' | b'*' => {
                    if !self.skip_comment() {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips a comment, the beginning of an executable one, or its end.
    fn skip_comment(&mut self) -> bool {
        match (self.peek(0), self.peek(1)) {
            (b'#', _) => self.skip_line(),
            (b'-', b'-') => {
                let end = self.at + 2 >= self.b.len();
                if !end && !is_space(self.peek(2)) && !self.peek(2).is_ascii_control() {
                    return false;
                }
                self.skip_line();
            }
            (b'*', b'/') if self.open > 0 => {
                self.open -= 1;
                self.at += 2;
            }
            (b'/', b'*') => return self.block_comment(),
            _ => return false,
        }
        true
    }

    fn skip_line(&mut self) {
        let rest = &self.b[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// False if the comment has no end: the token is bad then.
    fn block_comment(&mut self) -> bool {
        let marked = mark(&self.b[self.at..]);
        if marked > 0
            && let Some(len) = executable(&self.b[self.at..], marked)
        {
            self.open += 1;
            self.at += len;
            return true;
        }
        // A comment that is not run may have one more within it.
        match end_of_comment(self.b, self.at + 2, marked > 0) {
            Some(end) => {
                self.at = end;
                true
            }
            None => false,
        }
    }

    fn token(&mut self, first: u8, behind_dot: bool) -> Tok {
        match first {
            b'0'..=b'9' if !behind_dot => self.number(),
            b'.' if self.peek(1).is_ascii_digit() && !self.behind_name() => self.fraction(),
            b'.' if self.peek(1) == b'.' => {
                self.at += 2;
                Tok::DotDot
            }
            b'.' => {
                self.at += 1;
                self.behind_dot = is_word(self.peek(0));
                Tok::Dot
            }
            b'\'' => self.quoted(b'\'', Tok::String),
            b'"' if self.ansi_quotes => self.quoted_ident(b'"'),
            b'"' => self.quoted(b'"', Tok::String),
            b'`' => self.quoted_ident(b'`'),
            b'x' | b'X' if self.peek(1) == b'\'' => {
                self.coded(Tok::Hex, |b| b.is_ascii_hexdigit(), 2)
            }
            b'b' | b'B' if self.peek(1) == b'\'' => {
                self.coded(Tok::Bit, |b| matches!(b, b'0' | b'1'), 1)
            }
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'', Tok::NString)
            }
            b'@' => self.at_sign(),
            b'?' => {
                self.at += 1;
                self.param()
            }
            b':' if self.oracle && self.named_param() => self.param(),
            b'\\' if self.peek(1) == b'N' => {
                self.at += 2;
                Tok::Word(Kw::NULL)
            }
            b if is_word(b) => self.word(behind_dot),
            b => self.operator(b),
        }
    }

    fn param(&mut self) -> Tok {
        self.params += 1;
        Tok::Param((self.params - 1).min(MAX_PARAMS) as u16)
    }

    /// Takes `:name`, `:1` and `:"name"`, but not the row of a trigger: `:NEW.column`.
    fn named_param(&mut self) -> bool {
        let start = self.at + 1;
        if self.peek(1) == b'"' {
            let end = end_of_string(self.b, start, b'"', true);
            self.at = end.unwrap_or(self.at);
            return end.is_some();
        }
        let len = self.b[start..].iter().take_while(|b| is_word(**b)).count();
        let word = &self.b[start..start + len];
        let of_row = word.eq_ignore_ascii_case(b"NEW") || word.eq_ignore_ascii_case(b"OLD");
        if len == 0 || (of_row && self.b.get(start + len) == Some(&b'.')) {
            return false;
        }
        self.at = start + len;
        true
    }

    /// True if the token in front ends here and is a name, so that a point belongs to it.
    fn behind_name(&self) -> bool {
        self.tokens.last().is_some_and(|t| {
            t.end as usize == self.at && matches!(t.tok, Tok::Word(_) | Tok::QuotedIdent)
        })
    }

    fn word(&mut self, behind_dot: bool) -> Tok {
        let start = self.at;
        let mut hash = 0;
        let mut end = start;
        while let Some(&b) = self.b.get(end)
            && is_word(b)
        {
            hash = keyword::step(hash, b);
            end += 1;
        }
        self.at = end;
        let before_dot = self.peek(0) == b'.' && is_word(self.peek(1));
        if behind_dot || before_dot {
            return Tok::Word(Kw::Plain);
        }
        let word = &self.b[start..end];
        if word[0] == b'_' && is_charset(&word[1..]) {
            return Tok::Introducer;
        }
        Tok::Word(keyword::lookup(word, hash))
    }

    fn digits(&self, from: usize) -> usize {
        self.b[from.min(self.b.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    }

    /// The length of an exponent at an offset, 0 if there is none.
    fn exponent(&self, at: usize) -> usize {
        if !matches!(self.b.get(at), Some(b'e' | b'E')) {
            return 0;
        }
        let sign = usize::from(matches!(self.b.get(at + 1), Some(b'+' | b'-')));
        match self.digits(at + 1 + sign) {
            0 => 0,
            n => 1 + sign + n,
        }
    }

    /// A number, or a name that begins with a digit.
    fn number(&mut self) -> Tok {
        if self.peek(0) == b'0' {
            let (tok, is): (Tok, fn(u8) -> bool) = match self.peek(1) {
                b'x' => (Tok::Hex, |b| b.is_ascii_hexdigit()),
                b'b' => (Tok::Bit, |b| matches!(b, b'0' | b'1')),
                _ => (Tok::Bad, |_| false),
            };
            let n = self.b[self.at..]
                .iter()
                .skip(2)
                .take_while(|b| is(**b))
                .count();
            if n > 0 && !is_word(self.peek(2 + n)) {
                self.at += 2 + n;
                return tok;
            }
        }
        let end = self.at + self.digits(self.at);
        match self.b.get(end) {
            Some(b'.') if self.b.get(end + 1) != Some(&b'.') => {
                self.at = end;
                self.fraction()
            }
            Some(&b) if is_word(b) => match self.exponent(end) {
                0 => self.word(false),
                n => {
                    self.at = end + n;
                    Tok::Float
                }
            },
            _ => {
                self.at = end;
                Tok::Int
            }
        }
    }

    /// The point of a number and what follows.
    fn fraction(&mut self) -> Tok {
        self.at += 1;
        self.at += self.digits(self.at);
        match self.exponent(self.at) {
            0 => Tok::Decimal,
            n => {
                self.at += n;
                Tok::Float
            }
        }
    }

    /// A string up to its end.
    fn quoted(&mut self, quote: u8, tok: Tok) -> Tok {
        match end_of_string(self.b, self.at, quote, self.no_backslash) {
            Some(end) => {
                self.at = end;
                tok
            }
            None => {
                self.at = self.b.len();
                Tok::Bad
            }
        }
    }

    fn quoted_ident(&mut self, quote: u8) -> Tok {
        match end_of_string(self.b, self.at, quote, true) {
            Some(end) => {
                self.at = end;
                Tok::QuotedIdent
            }
            None => {
                self.at = self.b.len();
                Tok::Bad
            }
        }
    }

    /// `x'..'` and `b'..'`: a multiple of so many digits.
    fn coded(&mut self, tok: Tok, is: fn(u8) -> bool, by: usize) -> Tok {
        let n = self.b[self.at + 2..].iter().take_while(|b| is(**b)).count();
        if self.peek(2 + n) == b'\'' && n % by == 0 {
            self.at += 3 + n;
            tok
        } else {
            // All of it up to the quote that ends it.
            self.at = end_of_string(self.b, self.at + 1, b'\'', true).unwrap_or(self.b.len());
            Tok::Bad
        }
    }

    fn at_sign(&mut self) -> Tok {
        self.at += 1;
        match self.peek(0) {
            b'@' => {
                self.at += 1;
                Tok::AtAt
            }
            b'`' => match self.quoted_ident(b'`') {
                Tok::QuotedIdent => Tok::UserVar,
                bad => bad,
            },
            q @ (b'\'' | b'"') => match self.quoted(q, Tok::String) {
                Tok::String => Tok::UserVar,
                bad => bad,
            },
            _ => {
                let n = self.b[self.at..]
                    .iter()
                    .take_while(|b| is_word(**b) || **b == b'.')
                    .count();
                self.at += n;
                Tok::UserVar
            }
        }
    }

    fn operator(&mut self, first: u8) -> Tok {
        let (tok, len) = match (first, self.peek(1), self.peek(2)) {
            (b'<', b'=', b'>') => (Tok::NullSafeEq, 3),
            (b'-', b'>', b'>') if is_mysql() => (Tok::LongArrow, 3),
            (b'-', b'>', _) if is_mysql() => (Tok::Arrow, 2),
            (b'<', b'=', _) => (Tok::Le, 2),
            (b'<', b'>', _) | (b'!', b'=', _) => (Tok::Ne, 2),
            (b'<', b'<', _) => (Tok::Shl, 2),
            (b'>', b'=', _) => (Tok::Ge, 2),
            (b'>', b'>', _) => (Tok::Shr, 2),
            (b'|', b'|', _) => (Tok::PipePipe, 2),
            (b'&', b'&', _) => (Tok::AmpAmp, 2),
            (b':', b'=', _) => (Tok::ColonEq, 2),
            (b'(', ..) => (Tok::LParen, 1),
            (b')', ..) => (Tok::RParen, 1),
            (b'{', ..) => (Tok::LBrace, 1),
            (b'}', ..) => (Tok::RBrace, 1),
            (b',', ..) => (Tok::Comma, 1),
            (b';', ..) => (Tok::Semicolon, 1),
            (b':', ..) => (Tok::Colon, 1),
            (b'=', ..) => (Tok::Eq, 1),
            (b'<', ..) => (Tok::Lt, 1),
            (b'>', ..) => (Tok::Gt, 1),
            (b'+', ..) => (Tok::Plus, 1),
            (b'-', ..) => (Tok::Minus, 1),
            (b'*', ..) => (Tok::Star, 1),
            // A comment without its end.
            (b'/', b'*', _) => (Tok::Bad, self.b.len() - self.at),
            (b'/', ..) => (Tok::Slash, 1),
            (b'%', ..) => (Tok::Percent, 1),
            (b'&', ..) => (Tok::Amp, 1),
            (b'|', ..) => (Tok::Pipe, 1),
            (b'^', ..) => (Tok::Caret, 1),
            (b'~', ..) => (Tok::Tilde, 1),
            (b'!', ..) => (Tok::Bang, 1),
            _ => (Tok::Bad, 1),
        };
        self.at += len;
        tok
    }
}

/// The length of an executable comment's mark without its version, 0 for other comments.
fn mark(comment: &[u8]) -> usize {
    match comment {
        [b'/', b'*', b'!', ..] => 3,
        [b'/', b'*', b'M', b'!', ..] if !is_mysql() => 4,
        _ => 0,
    }
}

/// The length of a mark with its version, if what the comment holds is run.
fn executable(comment: &[u8], mark: usize) -> Option<usize> {
    let digits = comment[mark..]
        .iter()
        .take(6)
        .take_while(|c| c.is_ascii_digit())
        .count();
    // Fewer digits are part of the statement.
    if digits < 5 {
        return Some(mark);
    }
    let version = comment[mark..][..digits]
        .iter()
        .fold(0u32, |v, d| v * 10 + u32::from(d - b'0'));
    let runs = match is_mysql() {
        true => version <= MYSQLS_VERSION,
        false => {
            version <= EXECUTABLE_VERSION && (mark == 4 || !OTHERS_VERSIONS.contains(&version))
        }
    };
    runs.then_some(mark + digits)
}

/// Appends what stands between two tokens, without the marks of executable comments and without those that are not run.
pub(crate) fn between_tokens(gap: &str, out: &mut String) {
    let b = gap.as_bytes();
    let (mut i, mut copied) = (0, 0);
    while i < b.len() {
        let marked = mark(&b[i..]);
        let skip = match (b[i], b.get(i + 1)) {
            (b'/', Some(b'*')) if marked > 0 => match executable(&b[i..], marked) {
                Some(len) => len,
                None => end_of_comment(b, i + 2, true).unwrap_or(b.len()) - i,
            },
            (b'/', Some(b'*')) => {
                i = end_of_comment(b, i + 2, false).unwrap_or(b.len());
                continue;
            }
            (b'*', Some(b'/')) => 2,
            _ => {
                i += 1;
                continue;
            }
        };
        out.push_str(&gap[copied..i]);
        i += skip;
        copied = i;
    }
    out.push_str(&gap[copied..]);
}

fn is_charset(name: &[u8]) -> bool {
    let mut lower = [0u8; 8];
    if name.len() > lower.len() {
        return false;
    }
    for (to, from) in lower.iter_mut().zip(name) {
        *to = from.to_ascii_lowercase();
    }
    CHARSETS
        .binary_search_by(|c| c.as_bytes().cmp(&lower[..name.len()]))
        .is_ok()
}

/// The end of the string or name in quotes that begins at an offset.
pub(crate) fn end_of_string(
    b: &[u8],
    start: usize,
    quote: u8,
    no_backslash: bool,
) -> Option<usize> {
    let mut i = start + 1;
    loop {
        let rest = b.get(i..)?;
        i += match no_backslash {
            true => memchr::memchr(quote, rest)?,
            false => memchr::memchr2(quote, b'\\', rest)?,
        };
        if b[i] == quote && b.get(i + 1) != Some(&quote) {
            return Some(i + 1);
        }
        i += 2;
    }
}

/// The end of a comment's rest. `nested`: comments within it are skipped with theirs.
fn end_of_comment(b: &[u8], mut i: usize, nested: bool) -> Option<usize> {
    loop {
        i += memchr::memchr2(b'*', b'/', b.get(i..)?)?;
        match (b[i], b.get(i + 1)) {
            (b'*', Some(b'/')) => return Some(i + 2),
            (b'/', Some(b'*')) if nested => i = end_of_comment(b, i + 2, false)?,
            _ => i += 1,
        }
    }
}

/// The value of a string token: what its quotes hold, without escapes.
pub(crate) fn string_value(token: &str, no_backslash: bool) -> String {
    let token = token.strip_prefix(['n', 'N']).unwrap_or(token);
    let quote = token.as_bytes()[0];
    let inner = &token[1..token.len() - 1];
    let special = match no_backslash {
        true => memchr::memchr(quote, inner.as_bytes()),
        false => memchr::memchr2(quote, b'\\', inner.as_bytes()),
    };
    if special.is_none() {
        return inner.to_string();
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !no_backslash {
            match chars.next() {
                Some('0') => out.push('\0'),
                Some('b') => out.push('\u{8}'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some('Z') => out.push('\u{1a}'),
                // LIKE has its own meaning of them.
                Some(c @ ('%' | '_')) => out.extend(['\\', c]),
                Some(c) => out.push(c),
                None => {}
            }
        } else {
            if c as u32 == u32::from(quote) {
                chars.next();
            }
            out.push(c);
        }
    }
    out
}

/// The name in backticks or double quotes.
pub(crate) fn ident_value(token: &str) -> String {
    let quote = &token[..1];
    let inner = &token[1..token.len() - 1];
    if memchr::memchr(quote.as_bytes()[0], inner.as_bytes()).is_none() {
        return inner.to_string();
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find(quote) {
        out.push_str(&rest[..=at]);
        rest = &rest[(at + 2).min(rest.len())..];
    }
    out.push_str(rest);
    out
}
