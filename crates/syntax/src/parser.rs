//! The cursor that all of the grammar reads with.

use crate::ast::{Select, TableName};
use crate::keyword::Kw;
use crate::lexer::{self, ident_value, lex, string_value};
use crate::literal_rows::LiteralRows;
use crate::row_alias::RowAlias;
use crate::sql_mode::SqlMode;
use crate::token::{Tok, Token};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// How many levels a tree may have: parentheses, CASE and so on within each other, and operators in one chain
/// (`a OR b OR c ...`), which is a tree as deep as it is long. What recurses over trees needs this much stack.
pub const MAX_NESTING: usize = 1300;
/// How many of them may be functions and operators with values: MariaDB's stack has room for so many. Parentheses, NOT, AND and
/// OR take none of it.
const MAX_LEVELS: usize = 593;
/// SELECTs within each other, at most.
const MAX_SELECT_NESTING: usize = 63;
/// Characters of a name at most.
const MAX_NAME: usize = 64;
/// Bytes of the text that 1064 shows.
const NEAR: usize = 80;

/// Bytes of a name that 1300 shows, `\\x..` counted as four.
const SHOWN_NAME: usize = 64;

/// Error 1300 for a name with a character beyond U+FFFF: MariaDB has none, and a replica of its kind would stop at it.
fn check_characters(name: &str) -> SqlResult<()> {
    if name.bytes().all(|b| b < 0xF0) {
        return Ok(());
    }
    let mut shown = String::new();
    for c in name.chars() {
        match c.is_ascii() {
            true => shown.push(c),
            false => (c.encode_utf8(&mut [0; 4]).bytes())
                .for_each(|b| shown.push_str(&format!("\\x{b:02X}"))),
        }
    }
    if shown.len() > SHOWN_NAME {
        shown.truncate(SHOWN_NAME - 3);
        shown.push_str("...");
    }
    Err(errors::INVALID_CHARACTER_STRING.with([&"utf8mb4", &shown]))
}

/// What a column is called that a text names: as a name, it has no character beyond U+FFFF.
pub(crate) fn shown_name(text: String) -> String {
    if text.bytes().all(|b| b < 0xF0) {
        return text;
    }
    let known = |c: char| if c > '\u{FFFF}' { '?' } else { c };
    text.chars().map(known).collect()
}

/// What parsing depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseOptions {
    /// The modes that change what a text means: ANSI_QUOTES, NO_BACKSLASH_ESCAPES, PIPES_AS_CONCAT, HIGH_NOT_PRECEDENCE,
    /// IGNORE_SPACE and REAL_AS_FLOAT.
    pub sql_mode: SqlMode,
    /// `sql_if_exists`: DROP, RENAME and ALTER TABLE have an IF EXISTS of their own.
    pub if_exists: bool,
}

/// Levels of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Height {
    all: usize,
    /// Those that [`MAX_LEVELS`] is about.
    counted: usize,
}

impl Height {
    #[inline]
    pub(crate) fn max(self, other: Height) -> Height {
        Height {
            all: self.all.max(other.all),
            counted: self.counted.max(other.counted),
        }
    }
}

/// INTO of a SELECT.
pub(crate) struct FoundInto {
    pub(crate) into: crate::ast::Into,
    /// It stands behind FROM.
    pub(crate) late: bool,
    /// Offset of the word.
    pub(crate) at: usize,
}

/// The parser of one statement.
pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    tokens: Vec<Token>,
    pos: usize,
    pub(crate) mode: SqlMode,
    pub(crate) if_exists: bool,
    /// Number of `?` in the whole text.
    pub(crate) params: usize,
    /// Subqueries of the SELECT that is being read, so far.
    pub(crate) subqueries: Vec<(usize, Select)>,
    /// The number of the next one.
    pub(crate) next_subquery: usize,
    /// Levels of the highest tree that was read since this was last set to 0.
    pub(crate) height: Height,
    /// Tables of the FROM that is being read, so far.
    pub(crate) tables: usize,
    /// Where PROCEDURE of a SELECT stands.
    pub(crate) procedure_at: Option<usize>,
    /// Where the last UNION, INTERSECT or EXCEPT stands.
    pub(crate) set_operation_at: usize,
    /// The SELECT that is next stands behind UNION or the like.
    pub(crate) in_set: bool,
    /// Subqueries that are open.
    pub(crate) query_depth: usize,
    /// The text is a stored program's: names may be its variables.
    pub(crate) in_program: bool,
    /// The assignments of ON DUPLICATE KEY UPDATE are read, but no subquery in them.
    pub(crate) on_duplicate: bool,
    /// A type may have no length where it needs one elsewhere.
    pub(crate) default_lengths: bool,
    /// What the row to be inserted is called, in ON DUPLICATE KEY UPDATE.
    pub(crate) row_alias: Option<RowAlias>,
    depth: usize,
    select_depth: usize,
    pub(crate) into: Option<FoundInto>,
    /// Rows behind VALUES that are not among the tokens; a [`Tok::Rows`] stands for them.
    pub(crate) literal_rows: Option<Arc<LiteralRows>>,
}

/// From so many entries on, a list asks for memory before it grows.
const LONG_LIST: usize = 4096;

impl<'a> Parser<'a> {
    /// A parser at the beginning of a text.
    pub(crate) fn new(text: &'a str, opts: &ParseOptions) -> SqlResult<Self> {
        let mode = opts.sql_mode;
        // Their reader takes double quotes for strings and backslashes for escapes.
        let other =
            |m: SqlMode, byte: u8| mode.has(m) && memchr::memchr(byte, text.as_bytes()).is_some();
        let found = match text.len() < crate::literal_rows::MIN_TEXT
            || mode.has(SqlMode::EMPTY_STRING_IS_NULL)
            || other(SqlMode::ANSI_QUOTES, b'"')
            || other(SqlMode::NO_BACKSLASH_ESCAPES, b'\\')
        {
            true => None,
            false => LiteralRows::find(text),
        };
        let mut lexed;
        match &found {
            None => lexed = lex(text, 0..text.len(), 0, mode)?,
            Some((rows, _)) => {
                lexed = lex(text, 0..rows.start, 0, mode)?;
                lexed.tokens.pop();
                lexed.tokens.push(Token {
                    tok: Tok::Rows,
                    start: rows.start as u32,
                    end: rows.end as u32,
                });
                let rest = lex(text, rows.end..text.len(), lexed.params, mode)?;
                lexed.tokens.extend(rest.tokens);
                lexed.params = rest.params;
            }
        }
        Ok(Parser {
            text,
            tokens: lexed.tokens,
            pos: 0,
            mode,
            if_exists: opts.if_exists,
            params: lexed.params,
            subqueries: Vec::new(),
            next_subquery: 0,
            height: Height::default(),
            tables: 0,
            procedure_at: None,
            set_operation_at: 0,
            in_set: false,
            query_depth: 0,
            in_program: false,
            on_duplicate: false,
            default_lengths: false,
            row_alias: None,
            depth: 0,
            select_depth: 0,
            into: None,
            literal_rows: found.map(|(_, rows)| Arc::new(rows)),
        })
    }

    /// Makes every `?` a syntax error where it stands.
    pub(crate) fn refuse_params(&mut self) {
        if self.params == 0 {
            return;
        }
        for t in &mut self.tokens {
            if matches!(t.tok, Tok::Param(_)) {
                t.tok = Tok::Bad;
            }
        }
    }

    /// The next token.
    #[inline]
    pub(crate) fn peek_token(&self) -> Token {
        self.tokens[self.pos]
    }

    /// The next token's kind.
    #[inline]
    pub(crate) fn peek(&self) -> Tok {
        self.tokens[self.pos].tok
    }

    /// The kind of the token that is `n` behind the next one.
    #[inline]
    pub(crate) fn peek_at(&self, n: usize) -> Tok {
        self.tokens.get(self.pos + n).map_or(Tok::End, |t| t.tok)
    }

    /// The token that is `n` behind the next one; the last one from there on.
    pub(crate) fn token_at(&self, n: usize) -> Token {
        self.tokens[(self.pos + n).min(self.tokens.len() - 1)]
    }

    /// Takes the next token. [`Tok::End`] stays.
    #[inline]
    pub(crate) fn bump(&mut self) -> Token {
        let t = self.tokens[self.pos];
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        t
    }

    /// Where the cursor stands, for [`Self::rewind`].
    pub(crate) fn mark(&self) -> usize {
        self.pos
    }

    /// Goes back to where the cursor stood. Nothing but tokens may have been read since.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.pos = mark;
    }

    /// True if a keyword is next.
    #[inline]
    pub(crate) fn at(&self, k: Kw) -> bool {
        self.peek() == Tok::Word(k)
    }

    /// True if a keyword stands `n` tokens behind the next one.
    #[inline]
    pub(crate) fn at_nth(&self, n: usize, k: Kw) -> bool {
        self.peek_at(n) == Tok::Word(k)
    }

    /// True if the next word is this one, which need not be a keyword.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Word(_))
            && self
                .token_text(self.peek_token())
                .eq_ignore_ascii_case(word)
    }

    /// True if the word `n` tokens behind the next one is this one, which need not be a keyword.
    pub(crate) fn at_word_nth(&self, n: usize, word: &str) -> bool {
        matches!(self.peek_at(n), Tok::Word(_))
            && self.token_text(self.token_at(n)).eq_ignore_ascii_case(word)
    }

    /// Takes a keyword if it is next.
    #[inline]
    pub(crate) fn eat(&mut self, k: Kw) -> bool {
        let found = self.at(k);
        if found {
            self.pos += 1;
        }
        found
    }

    /// Takes keywords if all of them are next, in this order.
    pub(crate) fn eat_all(&mut self, ks: &[Kw]) -> bool {
        let found = ks.iter().enumerate().all(|(n, k)| self.at_nth(n, *k));
        if found {
            self.pos += ks.len();
        }
        found
    }

    /// Takes a word that need not be a keyword, if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.pos += 1;
        }
        found
    }

    /// Takes a keyword, which must be next.
    pub(crate) fn expect(&mut self, k: Kw) -> SqlResult<()> {
        match self.eat(k) {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    /// Takes a token of this kind if it is next; not for [`Tok::End`].
    #[inline]
    pub(crate) fn eat_tok(&mut self, t: Tok) -> bool {
        let found = self.peek() == t;
        if found {
            self.bump();
        }
        found
    }

    /// Takes a token of this kind, which must be next.
    pub(crate) fn expect_tok(&mut self, t: Tok) -> SqlResult<()> {
        match self.eat_tok(t) {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    /// Offset of the next token.
    pub(crate) fn here(&self) -> usize {
        self.tokens[self.pos].start as usize
    }

    /// End of the last token that was taken.
    pub(crate) fn behind(&self) -> usize {
        match self.pos {
            0 => 0,
            n => self.tokens[n - 1].end as usize,
        }
    }

    /// True if nothing stands between the last token that was taken and the next one.
    pub(crate) fn adjacent(&self) -> bool {
        self.behind() == self.here()
    }

    /// A part of the text.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to.max(from)).unwrap_or("")
    }

    /// A token's text.
    pub(crate) fn token_text(&self, t: Token) -> &'a str {
        &self.text[t.start as usize..t.end as usize]
    }

    /// A part of the text as columns are named after it: comments stay, but for the marks of executable ones.
    pub(crate) fn written(&self, from: usize, to: usize) -> String {
        let text = self.slice(from, to);
        // Either mark may stand outside of the part.
        let marked = |mark: &[u8]| memchr::memmem::find(text.as_bytes(), mark).is_some();
        match marked(b"/*") || marked(b"*/") {
            false => text.to_string(),
            true => self.without_marks(from, to),
        }
    }

    #[cold]
    fn without_marks(&self, from: usize, to: usize) -> String {
        let mut out = String::new();
        let mut at = from;
        for t in &self.tokens {
            let (start, end) = (t.start as usize, t.end as usize);
            if start >= to {
                break;
            }
            if start >= from {
                lexer::between_tokens(&self.text[at..start], &mut out);
                out.push_str(&self.text[start..end]);
                at = end;
            }
        }
        out
    }

    /// 1064 at the next token.
    #[cold]
    pub(crate) fn error(&self) -> SqlError {
        let t = self.peek_token();
        // MariaDB shows what stands behind a comma.
        let at = if t.tok == Tok::Comma { t.end } else { t.start };
        self.error_at(at as usize)
    }

    /// 1064 at an offset.
    #[cold]
    pub(crate) fn error_at(&self, at: usize) -> SqlError {
        syntax_error(self.text, at)
    }

    /// 1064 at the next token, with words of its own.
    #[cold]
    pub(crate) fn error_saying(&self, words: &str) -> SqlError {
        let near = near(self.text, self.here());
        errors::PARSE_ERROR.text(format!("{words} {near}"))
    }

    /// The value of a name's token.
    pub(crate) fn name_of(&self, t: Token) -> String {
        let text = self.token_text(t);
        match t.tok {
            Tok::QuotedIdent => ident_value(text),
            _ => text.to_string(),
        }
    }

    /// A name: in quotes, or no reserved word. 1059 if it is too long.
    pub(crate) fn ident(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Word(k) if k.is_reserved() || self.is_function(k) => Err(self.error()),
            Tok::Word(Kw::SYSDATE | Kw::MINUS | Kw::ROWNUM) if self.oracle() => Err(self.error()),
            Tok::Word(_) | Tok::QuotedIdent => self.any_word(),
            _ => Err(self.error()),
        }
    }

    /// A name that no definition keeps: an alias, or one that is looked up. It may be of any length.
    pub(crate) fn passing_ident(&mut self) -> SqlResult<String> {
        let token = self.peek_token();
        match token.tok {
            Tok::Word(k) if k.is_reserved() || self.is_function(k) => Err(self.error()),
            Tok::Word(Kw::ROWNUM) if self.oracle() => Err(self.error()),
            Tok::Word(_) | Tok::QuotedIdent => {
                let name = self.name_of(token);
                check_characters(&name)?;
                self.bump();
                Ok(name)
            }
            _ => Err(self.error()),
        }
    }

    /// Error 1059 for a name that is too long.
    pub(crate) fn check_length(name: &str) -> SqlResult<()> {
        match name.len() > MAX_NAME && name.chars().count() > MAX_NAME {
            true => Err(errors::TOO_LONG_IDENT.with([&name])),
            false => Ok(()),
        }
    }

    /// True if the word that is next is a function, which its parenthesis makes it: no name.
    fn is_function(&self, k: Kw) -> bool {
        if k == Kw::Plain || self.peek_at(1) != Tok::LParen || !crate::builtin::is_no_name(k) {
            return false;
        }
        let (word, parenthesis) = (self.tokens[self.pos], self.tokens[self.pos + 1]);
        word.end == parenthesis.start || self.mode.has(SqlMode::IGNORE_SPACE)
    }

    /// True if a name is next.
    pub(crate) fn at_ident(&self) -> bool {
        match self.peek() {
            Tok::Word(k) => !k.is_reserved(),
            t => t == Tok::QuotedIdent,
        }
    }

    /// A label of a stored program.
    pub(crate) fn label_ident(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::Word(k) if !k.is_label() => Err(self.error()),
            _ => self.ident(),
        }
    }

    /// A name that may be a reserved word.
    pub(crate) fn any_word(&mut self) -> SqlResult<String> {
        let t = self.peek_token();
        if !matches!(t.tok, Tok::Word(_) | Tok::QuotedIdent) {
            return Err(self.error());
        }
        let name = self.name_of(t);
        check_characters(&name)?;
        Self::check_length(&name)?;
        self.bump();
        Ok(name)
    }

    /// The name of a trigger or an event: error 1059 if it is too long.
    pub(crate) fn program_name(&mut self) -> SqlResult<TableName> {
        let mark = self.mark();
        self.table_name().map_err(|e| {
            if e.code != codes::WRONG_TABLE_NAME {
                return e;
            }
            self.rewind(mark);
            let mut name = self.any_word();
            if name.is_ok() && self.eat_tok(Tok::Dot) {
                name = self.any_word();
            }
            name.err().unwrap_or(e)
        })
    }

    /// The name of a database: error 1102 if it is too long.
    pub(crate) fn db_ident(&mut self) -> SqlResult<String> {
        self.ident_or(|name| errors::WRONG_DB_NAME.with([&name]))
    }

    /// The name of a database that is looked at: error 1102 if none can have it.
    pub(crate) fn known_db(&mut self) -> SqlResult<String> {
        let db = self.db_ident()?;
        match is_no_db(&db) {
            true => Err(errors::WRONG_DB_NAME.with([&db])),
            false => Ok(db),
        }
    }

    /// The database of USE: no name at all is none that is selected.
    pub(crate) fn used_db(&mut self) -> SqlResult<String> {
        let db = self.db_ident()?;
        // An `@` stands for no letter there: that is a name which might be one.
        match !db.is_empty() && !db.contains('@') && is_no_db(&db) {
            true => Err(errors::WRONG_DB_NAME.with([&db])),
            false => Ok(db),
        }
    }

    /// A name, with an error of its own if it is too long.
    fn ident_or(&mut self, too_long: impl Fn(&str) -> SqlError) -> SqlResult<String> {
        let token = self.peek_token();
        self.ident().map_err(|e| match e.code {
            codes::TOO_LONG_IDENT => too_long(&self.name_of(token)),
            _ => e,
        })
    }

    /// `[db.]name`
    pub(crate) fn table_name(&mut self) -> SqlResult<TableName> {
        // Behind a dot alone it is of the default database.
        self.eat_tok(Tok::Dot);
        let table = |name: &str| errors::WRONG_TABLE_NAME.with([&name]);
        let t = match self.peek_at(1) == Tok::Dot {
            true => {
                let db = self.ident_or(|name| errors::WRONG_DB_NAME.with([&name]))?;
                self.bump();
                TableName {
                    db: Some(db),
                    name: self.ident_or(table)?,
                }
            }
            false => TableName {
                db: None,
                name: self.ident_or(table)?,
            },
        };
        match &t.db {
            Some(db) if bad_name(db) => Err(errors::WRONG_DB_NAME.with([&db])),
            _ if bad_name(&t.name) => Err(errors::WRONG_TABLE_NAME.with([&t.name])),
            _ => Ok(t),
        }
    }

    /// The value of a string; strings side by side are one.
    pub(crate) fn string(&mut self) -> SqlResult<String> {
        if self.peek() != Tok::String {
            return Err(self.error());
        }
        let no_backslash = self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let t = self.bump();
        let mut value = string_value(self.token_text(t), no_backslash);
        while self.peek() == Tok::String {
            let t = self.bump();
            value.push_str(&string_value(self.token_text(t), no_backslash));
        }
        Ok(value)
    }

    /// A name or a string, without the rule of side by side.
    pub(crate) fn text_or_ident(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::String => {
                let t = self.bump();
                Ok(string_value(
                    self.token_text(t),
                    self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
                ))
            }
            _ => self.ident(),
        }
    }

    /// The name of the `@name` that is next.
    pub(crate) fn at_name(&mut self) -> SqlResult<String> {
        if self.peek() != Tok::UserVar {
            return Err(self.error());
        }
        let t = self.bump();
        let name = &self.token_text(t)[1..];
        Ok(match name.as_bytes().first() {
            Some(b'`') => ident_value(name),
            Some(b'\'' | b'"') => string_value(name, self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES)),
            _ => name.to_string(),
        })
    }

    /// The same where it is a variable's, which is never empty.
    pub(crate) fn named_at(&mut self) -> SqlResult<String> {
        let name = self.at_name()?;
        match name.is_empty() {
            true => Err(self.error()),
            false => Ok(name),
        }
    }

    /// An integer without sign.
    pub(crate) fn uint(&mut self) -> SqlResult<u64> {
        if self.peek() != Tok::Int {
            return Err(self.error());
        }
        let n = self
            .token_text(self.peek_token())
            .parse()
            .map_err(|_| self.error())?;
        self.bump();
        Ok(n)
    }

    /// One or more, with commas between.
    pub(crate) fn comma_separated<T>(
        &mut self,
        mut f: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut v = vec![f(self)?];
        while self.eat_tok(Tok::Comma) {
            reserve_for(&v)?;
            v.push(f(self)?);
        }
        Ok(v)
    }

    /// `(` one or more, with commas between `)`.
    pub(crate) fn parenthesised<T>(
        &mut self,
        f: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        self.expect_tok(Tok::LParen)?;
        let v = self.comma_separated(f)?;
        self.expect_tok(Tok::RParen)?;
        Ok(v)
    }

    /// Reads what stands within something of its own kind; too many within each other are error 1436.
    pub(crate) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.within(true, f)
    }

    /// As [`Self::nested`], for what MariaDB keeps no level for.
    pub(crate) fn grouped<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        self.within(false, f)
    }

    fn within<T>(
        &mut self,
        counted: bool,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.depth >= MAX_NESTING {
            return Err(too_deep());
        }
        self.depth += 1;
        let beside = std::mem::take(&mut self.height);
        let r = f(self);
        self.depth -= 1;
        let grown = self.one_higher(counted);
        self.height = self.height.max(beside);
        let r = r?;
        grown?;
        Ok(r)
    }

    /// Another level is put on top of what was read last.
    #[inline]
    pub(crate) fn one_higher(&mut self, counted: bool) -> SqlResult<()> {
        self.height.all += 1;
        self.height.counted += usize::from(counted);
        match self.height.all > MAX_NESTING || self.height.counted > MAX_LEVELS {
            true => Err(too_deep()),
            false => Ok(()),
        }
    }

    /// As [`Self::nested`], for SELECTs and joins, of which there may be fewer.
    pub(crate) fn nested_select<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.select_depth >= MAX_SELECT_NESTING {
            return Err(too_deep());
        }
        self.select_depth += 1;
        let r = self.nested(f);
        self.select_depth -= 1;
        r
    }

    /// Reads a query whose parentheses do not count among those around it.
    pub(crate) fn apart<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.select_depth, 0);
        let r = f(self);
        self.select_depth = outer;
        r
    }

    /// Nothing may follow but semicolons.
    pub(crate) fn end(&mut self) -> SqlResult<()> {
        while self.eat_tok(Tok::Semicolon) {}
        match self.peek() {
            Tok::End => Ok(()),
            _ => Err(self.error()),
        }
    }

    /// 1064 if an INTO was met where the statement has no place for it.
    pub(crate) fn no_into(&self) -> SqlResult<()> {
        match &self.into {
            Some(found) => Err(self.error_at(found.at)),
            None => Ok(()),
        }
    }
}

/// Asks for memory before a long list grows.
#[inline]
pub(crate) fn reserve_for<T>(list: &Vec<T>) -> SqlResult<()> {
    if list.len() == list.capacity() && list.len() >= LONG_LIST {
        // Twice as many, while the old ones are still there.
        narwal_memory::reserve((2 * list.len() * size_of::<T>()) as u64)?;
    }
    Ok(())
}

/// True for a name that nothing kept may have.
fn bad_name(name: &str) -> bool {
    name.is_empty() || name.ends_with(' ') || is_of_old(name)
}

/// True for a name that no database has.
fn is_no_db(name: &str) -> bool {
    bad_name(name) || name.starts_with(MYSQL50) && name.contains(['.', '/', '\\'])
}

/// The prefix of names of files that are named as MySQL before 5.1 did.
const MYSQL50: &str = "#mysql50#";

/// A name with that prefix whose rest a file has as it is: that is a name of today's. Any other one is a name of old, which
/// no table has here.
pub(crate) fn is_of_old(name: &str) -> bool {
    let as_it_is = |n: &str| {
        n.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_@".contains(&b))
    };
    (name.strip_prefix(MYSQL50)).is_some_and(|n| !n.is_empty() && as_it_is(n))
}

/// 1436: a tree of such a depth would need more stack than there is.
#[cold]
pub(crate) fn too_deep() -> SqlError {
    errors::STACK_OVERRUN_NEED_MORE.with([&"the expression is nested too deeply"])
}

/// 1064 near an offset.
#[cold]
pub fn syntax_error(text: &str, at: usize) -> SqlError {
    let server = match narwal_types::face::is_mysql() {
        true => "MySQL",
        false => "MariaDB",
    };
    let near = near(text, at);
    SqlError::syntax(format!(
        "check the manual that corresponds to your {server} server version for the right syntax to use {near}"
    ))
}

/// Where an error of syntax is, as messages say it. The text is shown without its secrets.
fn near(text: &str, at: usize) -> String {
    let at = text.floor_char_boundary(at);
    let line = text.as_bytes()[..at]
        .iter()
        .filter(|b| **b == b'\n')
        .count()
        + 1;
    let near = crate::secrets::mask_from(text, at);
    let near = match narwal_types::face::is_mysql() {
        true => near.chars().take(NEAR).collect(),
        false => errors::abridged(near, NEAR),
    };
    format!("near '{near}' at line {line}")
}

/// True for a byte of a name without quotes.
pub fn is_word_byte(b: u8) -> bool {
    lexer::is_word(b)
}
