//! Parsing: our own statement grammar over sqlparser's tokens, with sqlparser's expression parser inside.
//!
//! The `n`-th `?` of a statement (from 0) appears in expressions as `Value::Placeholder("?n")`.

mod calls;
mod ddl;
mod dialect;
mod dml;
mod load;
mod query;
mod select;
mod subquery;
#[cfg(test)]
mod tests;

use crate::ast::{AstExpr, ExplainForm, Select, SelectItem, Stmt, TableName};
use crate::literal_rows::LiteralRows;
use crate::sql_mode::SqlMode;
use crate::text::{rewrite_quotes, unwrap_comments};
use narwal_types::{SqlError, SqlResult};
use sqlparser::ast::{Value as AstValue, ValueWithSpan};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Word};
use std::ops::Range;
use std::sync::Arc;

pub(crate) use ddl::{charset, collation, is_text, mismatched_collation, too_big};
pub(crate) use load::null;
pub(crate) use subquery::number as subquery_number;

/// What parsing depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseOptions {
    /// NO_BACKSLASH_ESCAPES, ANSI_QUOTES, PIPES_AS_CONCAT and REAL_AS_FLOAT matter.
    pub sql_mode: SqlMode,
}

/// Nested parentheses, CASE and so on, at most.
const MAX_NESTING: usize = 160;
/// Parentheses round a SELECT or a join, within each other, at most.
const MAX_SELECT_NESTING: usize = 32;
/// Tables of one SELECT's joins at most, as in MariaDB.
const MAX_TABLES: usize = 61;
/// Operators in one chain (`a OR b OR c ...`) at most: such a chain is a deep tree.
const MAX_CHAIN: usize = 1000;

static DIALECT: dialect::Narwal = dialect::Narwal {
    pipes_as_concat: false,
};
static CONCAT_DIALECT: dialect::Narwal = dialect::Narwal {
    pipes_as_concat: true,
};

fn dialect(sql_mode: SqlMode) -> &'static dialect::Narwal {
    if sql_mode.has(SqlMode::PIPES_AS_CONCAT) {
        &CONCAT_DIALECT
    } else {
        &DIALECT
    }
}

/// Parses one statement (without its semicolon). Statements that this crate does not run are error 1235,
/// anything else is a syntax error 1064.
pub fn parse_statement(text: &str, opts: &ParseOptions) -> SqlResult<Stmt> {
    with_parser(text, opts, |p| {
        let s = p.statement()?;
        p.end()?;
        p.no_into()?;
        Ok(s)
    })
}

/// Parses a lone expression, as in `SET x = <expr>`.
pub fn parse_expression(text: &str, opts: &ParseOptions) -> SqlResult<AstExpr> {
    with_parser(text, opts, |p| {
        let e = p.expr()?;
        p.end()?;
        Ok(e)
    })
}

/// The value of a string literal in its quotes, in a mode without NO_BACKSLASH_ESCAPES.
pub(crate) fn string_literal(text: &str) -> Option<String> {
    let tokens = Tokenizer::new(&DIALECT, text).tokenize().ok()?;
    match <[Token; 1]>::try_from(tokens).ok()? {
        [Token::SingleQuotedString(s) | Token::DoubleQuotedString(s)] => Some(s),
        _ => None,
    }
}

fn with_parser<T>(
    text: &str,
    opts: &ParseOptions,
    f: impl FnOnce(&mut P<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    let no_backslash = opts.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
    let ansi = opts.sql_mode.has(SqlMode::ANSI_QUOTES);
    let text = unwrap_comments(text, no_backslash);
    let text = if no_backslash || ansi {
        std::borrow::Cow::Owned(rewrite_quotes(&text, no_backslash, ansi))
    } else {
        text
    };
    // Tokens and trees take many times what the text does, and their maker asks nobody: the parser's callbacks do.
    narwal_memory::unwinding(|| f(&mut P::new(&text, opts.sql_mode)?))?
}

/// The parser of one statement.
pub(crate) struct P<'a> {
    p: Parser<'static>,
    text: &'a str,
    /// Byte offset of each line's start; empty when there is one line of ASCII, where a column is an offset.
    lines: Vec<usize>,
    params: usize,
    /// SELECTs in parentheses, taken out of the tokens.
    subqueries: Vec<subquery::Subquery>,
    /// Offset behind the last token.
    end: usize,
    /// Open parentheses round a SELECT or a join.
    depth: usize,
    /// INTO of the SELECT, whether it stands behind FROM, and its offset.
    into: Option<(crate::ast::Into, bool, usize)>,
    /// `REAL` is FLOAT.
    real_as_float: bool,
    /// Rows behind VALUES that are not among the tokens; a `?rows` stands for them.
    literal_rows: Option<Arc<LiteralRows>>,
}

impl<'a> P<'a> {
    fn new(text: &'a str, sql_mode: SqlMode) -> SqlResult<Self> {
        let found = LiteralRows::find(text);
        let rows_at = found.as_ref().map(|(at, _)| at.clone());
        let mut tokens: Vec<TokenWithSpan> = match &rows_at {
            None => tokens_of(text, 0..text.len(), sql_mode)?,
            Some(rows) => {
                let mut head = tokens_of(text, 0..rows.start, sql_mode)?;
                head.extend(tokens_of(text, rows.end..text.len(), sql_mode)?);
                head
            }
        };
        let mut params = 0;
        // Operators so far in the current list element, for each open parenthesis.
        let mut chains = vec![0usize];
        let mut after_paren = false;
        let mut has_subquery = false;
        for t in &mut tokens {
            has_subquery |=
                after_paren && (subquery::begins(&t.token) || Self::is_kw(&t.token, "VALUES"));
            after_paren = match t.token {
                Token::LParen => true,
                Token::Whitespace(_) => after_paren,
                _ => false,
            };
            match &mut t.token {
                Token::Placeholder(s) => {
                    if s != "?" {
                        return Err(SqlError::syntax(format!("unexpected '{s}'")));
                    }
                    *s = format!("?{params}");
                    params += 1;
                }
                Token::LParen => chains.push(0),
                Token::RParen => {
                    if chains.len() > 1 {
                        chains.pop();
                    }
                }
                Token::Comma => {
                    if let Some(c) = chains.last_mut() {
                        *c = 0;
                    }
                }
                Token::Whitespace(_)
                | Token::Number(..)
                | Token::SingleQuotedString(_)
                | Token::DoubleQuotedString(_)
                | Token::Period => {}
                Token::Word(w)
                    if w.quote_style.is_some()
                        || !matches!(
                            w.keyword,
                            Keyword::AND
                                | Keyword::OR
                                | Keyword::XOR
                                | Keyword::NOT
                                | Keyword::DIV
                                | Keyword::COLLATE
                                | Keyword::IS
                                | Keyword::LIKE
                                | Keyword::BETWEEN
                                | Keyword::IN
                                | Keyword::BINARY
                        ) => {}
                _ => {
                    if let Some(c) = chains.last_mut() {
                        *c += 1;
                        if *c > MAX_CHAIN {
                            return Err(SqlError::new(
                                1436,
                                b"HY000",
                                "Thread stack overrun: the expression is too long; use IN (...) or split the statement",
                            ));
                        }
                    }
                }
            }
        }
        if params > 65535 {
            return Err(SqlError::new(
                1390,
                b"HY000",
                "Prepared statement contains too many placeholders",
            ));
        }
        if let Some(rows) = &rows_at {
            let at = location(text, rows.start);
            let behind = tokens.partition_point(|t| t.span.start < at);
            tokens.insert(
                behind,
                TokenWithSpan {
                    token: Token::Placeholder("?rows".into()),
                    span: Span::new(at, location(text, rows.end)),
                },
            );
        }
        let lines = line_starts(text);
        let mut subqueries = Vec::new();
        if has_subquery && !is_ddl(&tokens) {
            (tokens, subqueries) = subquery::take(text, &lines, tokens, params, sql_mode, 0)?;
        } else if has_subquery && let Some(at) = made_from(&tokens) {
            // Those within the SELECT of CREATE TABLE.
            let select = tokens.split_off(at);
            let (select, found) = subquery::take(text, &lines, select, params, sql_mode, 0)?;
            tokens.extend(select);
            subqueries = found;
        }
        let mut p = Self::of_tokens(text, lines, tokens, subqueries, params, sql_mode);
        p.literal_rows = found.map(|(_, rows)| Arc::new(rows));
        Ok(p)
    }

    /// A parser of tokens that were numbered and whose subqueries were taken out.
    fn of_tokens(
        text: &'a str,
        lines: Vec<usize>,
        tokens: Vec<TokenWithSpan>,
        subqueries: Vec<subquery::Subquery>,
        params: usize,
        sql_mode: SqlMode,
    ) -> Self {
        P {
            p: Parser::new(dialect(sql_mode))
                .with_recursion_limit(MAX_NESTING)
                .with_tokens_with_locations(tokens),
            text,
            lines,
            params,
            subqueries,
            end: text.len(),
            real_as_float: sql_mode.has(SqlMode::REAL_AS_FLOAT),
            depth: 0,
            into: None,
            literal_rows: None,
        }
    }

    fn offset(&self, l: Location) -> usize {
        offset_in(&self.lines, self.text, l)
    }

    /// Offset of the next token.
    fn here(&self) -> usize {
        let t = self.p.peek_token_ref();
        if t.token == Token::EOF {
            return self.end;
        }
        self.offset(t.span.start)
    }

    /// End of the last token that was consumed.
    fn behind(&self) -> usize {
        let mut at = self.p.get_current_index();
        loop {
            let t = self.p.token_at(at);
            if matches!(t.token, Token::Whitespace(_)) && at > 0 {
                at -= 1;
                continue;
            }
            return self.offset(t.span.end);
        }
    }

    fn peek(&self) -> &Token {
        &self.p.peek_token_ref().token
    }

    fn peek_nth(&self, n: usize) -> &Token {
        &self.p.peek_nth_token_ref(n).token
    }

    fn next(&mut self) -> Token {
        self.p.next_token().token
    }

    fn is_kw(t: &Token, k: &str) -> bool {
        matches!(t, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(k))
    }

    fn peek_kw(&self, k: &str) -> bool {
        Self::is_kw(self.peek(), k)
    }

    fn peek_kw_nth(&self, n: usize, k: &str) -> bool {
        Self::is_kw(self.peek_nth(n), k)
    }

    /// Consumes a keyword if it is next.
    fn kw(&mut self, k: &str) -> bool {
        let y = self.peek_kw(k);
        if y {
            self.p.advance_token();
        }
        y
    }

    /// Consumes two keywords if both are next.
    fn kw2(&mut self, a: &str, b: &str) -> bool {
        let y = self.peek_kw(a) && self.peek_kw_nth(1, b);
        if y {
            self.p.advance_token();
            self.p.advance_token();
        }
        y
    }

    fn expect_kw(&mut self, k: &str) -> SqlResult<()> {
        if self.kw(k) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    fn tok(&mut self, t: &Token) -> bool {
        self.p.consume_token(t)
    }

    fn expect_tok(&mut self, t: &Token) -> SqlResult<()> {
        if self.tok(t) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// 1064 at the next token.
    fn error(&self) -> SqlError {
        self.error_at(self.here())
    }

    fn error_at(&self, at: usize) -> SqlError {
        syntax_error(self.text, at)
    }

    fn map_err(&self, e: ParserError) -> SqlError {
        match e {
            ParserError::RecursionLimitExceeded => too_deep(),
            _ => self.error(),
        }
    }

    /// Parses what stands in a parenthesis; too many within each other are error 1436.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.depth >= MAX_SELECT_NESTING {
            return Err(too_deep());
        }
        self.depth += 1;
        let r = f(self);
        self.depth -= 1;
        r
    }

    /// An expression.
    fn expr(&mut self) -> SqlResult<AstExpr> {
        // Lone literals (rows of INSERT) need not go through the operator parser.
        if matches!(self.peek_nth(1), Token::Comma | Token::RParen | Token::EOF) {
            let literal = match self.peek() {
                Token::Number(n, _) => Some(AstValue::Number(n.clone(), false)),
                Token::SingleQuotedString(s) => Some(AstValue::SingleQuotedString(s.clone())),
                Token::Placeholder(s) => Some(AstValue::Placeholder(s.clone())),
                Token::Word(w) if w.quote_style.is_none() && w.keyword == Keyword::NULL => {
                    Some(AstValue::Null)
                }
                _ => None,
            };
            if let Some(value) = literal {
                self.p.advance_token();
                return Ok(AstExpr::Value(ValueWithSpan {
                    value,
                    span: Span::empty(),
                }));
            }
        }
        // sqlparser would take these for column names.
        if let Token::Word(w) = self.peek()
            && w.quote_style.is_none()
            && matches!(
                w.keyword,
                Keyword::FROM
                    | Keyword::WHERE
                    | Keyword::GROUP
                    | Keyword::HAVING
                    | Keyword::ORDER
                    | Keyword::LIMIT
                    | Keyword::UNION
                    | Keyword::INTO
                    | Keyword::AS
                    | Keyword::ON
                    | Keyword::SET
                    | Keyword::AND
                    | Keyword::OR
                    | Keyword::IN
                    | Keyword::LIKE
                    | Keyword::BETWEEN
                    | Keyword::BY
                    | Keyword::TABLE
                    | Keyword::JOIN
                    | Keyword::UPDATE
                    | Keyword::DELETE
                    | Keyword::KEY
                    | Keyword::INDEX
                    | Keyword::USE
                    | Keyword::USING
                    | Keyword::FOR
                    | Keyword::ASC
                    | Keyword::DESC
            )
        {
            return Err(self.error());
        }
        self.p.parse_expr().map_err(|e| self.map_err(e))
    }

    /// An expression without operators at its outside.
    fn operand(&mut self) -> SqlResult<AstExpr> {
        self.p.parse_subexpr(u8::MAX).map_err(|e| self.map_err(e))
    }

    fn comma_separated<T>(
        &mut self,
        mut f: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut v = vec![f(self)?];
        while self.tok(&Token::Comma) {
            v.push(f(self)?);
        }
        Ok(v)
    }

    /// A name: quoted or not.
    fn ident(&mut self) -> SqlResult<String> {
        let at = self.here();
        match self.next() {
            Token::Word(w) if !w.value.starts_with('@') || w.quote_style.is_some() => {
                if w.quote_style.is_none() && is_reserved(&w) {
                    return Err(self.error_at(at));
                }
                let w = w.value;
                if w.is_empty() || w.ends_with(' ') || w.chars().count() > 64 {
                    return Err(if w.chars().count() > 64 {
                        SqlError::new(1059, b"42000", format!("Identifier name '{w}' is too long"))
                    } else {
                        self.error_at(at)
                    });
                }
                Ok(w)
            }
            _ => Err(self.error_at(at)),
        }
    }

    /// `[db.]name`
    fn table_name(&mut self) -> SqlResult<TableName> {
        let a = self.ident()?;
        if self.tok(&Token::Period) {
            // Behind a point reserved words are names.
            let at = self.here();
            return match self.next() {
                Token::Word(w) => Ok(TableName {
                    db: Some(a),
                    name: w.value,
                }),
                _ => Err(self.error_at(at)),
            };
        }
        Ok(TableName { db: None, name: a })
    }

    fn uint(&mut self) -> SqlResult<u64> {
        let at = self.here();
        match self.next() {
            Token::Number(n, _) => n.parse().map_err(|_| self.error_at(at)),
            _ => Err(self.error_at(at)),
        }
    }

    fn string(&mut self) -> SqlResult<String> {
        let at = self.here();
        match self.next() {
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Ok(s),
            _ => Err(self.error_at(at)),
        }
    }

    fn end(&mut self) -> SqlResult<()> {
        while self.tok(&Token::SemiColon) {}
        if *self.peek() == Token::EOF {
            return Ok(());
        }
        Err(self.error())
    }

    fn unsupported<T>(&self, what: &str) -> SqlResult<T> {
        Err(SqlError::unsupported(what))
    }

    fn statement(&mut self) -> SqlResult<Stmt> {
        let word = match self.peek() {
            Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
            Token::LParen => return self.select_statement(),
            _ => return Err(self.error()),
        };
        match word.as_str() {
            "SELECT" => self.select_statement(),
            "INSERT" | "REPLACE" => self.insert(),
            "UPDATE" => self.update(),
            "DELETE" => self.delete(),
            "LOAD" => self.load_data(),
            "DO" => {
                self.next();
                let start = self.here();
                let items = self
                    .comma_separated(Self::expr)?
                    .into_iter()
                    .map(|expr| SelectItem::Expr {
                        expr,
                        alias: None,
                        text: String::new(),
                    })
                    .collect();
                let mut select = Select::of(items, None);
                select.subqueries = self.subqueries_since(start);
                select.params = self.params;
                Ok(Stmt::Do(Box::new(select)))
            }
            "CHECKSUM" => {
                self.next();
                if !self.kw("TABLE") && !self.kw("TABLES") {
                    return Err(self.error());
                }
                let t = self.comma_separated(Self::table_name)?;
                let _ = self.kw("EXTENDED") || self.kw("QUICK");
                Ok(Stmt::ChecksumTable(t))
            }
            "EXPLAIN" | "DESCRIBE" | "DESC" => {
                self.next();
                let _ = self.kw("EXTENDED") || self.kw("PARTITIONS");
                let mut form = ExplainForm::Table;
                if self.kw("FORMAT") {
                    self.expect_tok(&Token::Eq)?;
                    if self.kw("JSON") {
                        form = ExplainForm::Json;
                    } else if !self.kw("TRADITIONAL") {
                        return Err(self.error());
                    }
                }
                let inner = self.statement()?;
                match inner {
                    Stmt::Select(_) | Stmt::Insert(_) | Stmt::Update(_) | Stmt::Delete(_) => {
                        Ok(Stmt::Explain(Box::new(inner), form))
                    }
                    _ => Err(self.error_at(0)),
                }
            }
            "CREATE" | "DROP" | "TRUNCATE" | "ALTER" | "RENAME" => {
                self.ddl().map(|d| Stmt::Ddl(Box::new(d)))
            }
            "WITH" | "VALUES" => self.select_statement(),
            "TABLE" => self.unsupported(&format!("{word} statement")),
            "CALL" | "HANDLER" | "PREPARE" | "EXECUTE" | "DEALLOCATE" | "XA" | "ANALYZE"
            | "OPTIMIZE" | "REPAIR" | "CHECK" | "LOCK" | "UNLOCK" | "INSTALL" | "UNINSTALL"
            | "HELP" | "SIGNAL" | "RESIGNAL" | "GET" | "CACHE" | "BINLOG" | "PURGE" | "CHANGE"
            | "START" | "STOP" | "RESET" | "BACKUP" | "SHUTDOWN" => self.unsupported(&word),
            _ => Err(self.error()),
        }
    }
}

fn too_deep() -> SqlError {
    SqlError::new(
        1436,
        b"HY000",
        "Thread stack overrun: the expression is nested too deeply",
    )
}

/// CREATE and ALTER have their own grammar for a SELECT in parentheses.
fn is_ddl(tokens: &[TokenWithSpan]) -> bool {
    let mut words = tokens
        .iter()
        .filter(|t| !matches!(t.token, Token::Whitespace(_)))
        .map(|t| &t.token);
    words
        .next()
        .is_some_and(|t| P::is_kw(t, "CREATE") || P::is_kw(t, "ALTER"))
        && !names_view(words)
}

/// Where the SELECT of a CREATE TABLE begins.
fn made_from(tokens: &[TokenWithSpan]) -> Option<usize> {
    let create = tokens
        .iter()
        .find(|t| !matches!(t.token, Token::Whitespace(_)))?;
    if !P::is_kw(&create.token, "CREATE") {
        return None;
    }
    tokens.iter().position(|t| subquery::begins(&t.token))
}

/// True behind CREATE or ALTER if the statement is about a view.
fn names_view<'t>(words: impl Iterator<Item = &'t Token>) -> bool {
    let head = words.take_while(|t| !["TABLE", "AS", "SELECT"].iter().any(|k| P::is_kw(t, k)));
    head.into_iter().any(|t| P::is_kw(t, "VIEW"))
}

/// The tokens of a part of a statement, with their places in the whole.
fn tokens_of(text: &str, part: Range<usize>, sql_mode: SqlMode) -> SqlResult<Vec<TokenWithSpan>> {
    let begin = location(text, part.start);
    let moved = |l: Location| match l.line {
        0 | 1 => Location::new(begin.line, l.column + begin.column - 1),
        line => Location::new(line + begin.line - 1, l.column),
    };
    let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(part.len() / 4 + 4);
    Tokenizer::new(dialect(sql_mode), &text[part.clone()])
        .tokenize_with_location_into_buf_with_mapper(&mut tokens, |t| {
            narwal_memory::check_or_unwind();
            t
        })
        .map_err(|e| {
            let at = offset_in(&line_starts(text), text, moved(e.location));
            syntax_error(text, at)
        })?;
    if part.start > 0 {
        for t in &mut tokens {
            t.span = Span::new(moved(t.span.start), moved(t.span.end));
        }
    }
    Ok(tokens)
}

/// The place of an offset, as tokens have it: lines and characters from 1 on.
fn location(text: &str, at: usize) -> Location {
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |i| i + 1);
    let lines = before.bytes().filter(|b| *b == b'\n').count();
    let column = before[line..].chars().count();
    Location::new(lines as u64 + 1, column as u64 + 1)
}

/// Offsets of the lines; empty for one line of ASCII, where a column is an offset.
fn line_starts(text: &str) -> Vec<usize> {
    if text.is_ascii() && !text.contains('\n') {
        return Vec::new();
    }
    std::iter::once(0)
        .chain(text.match_indices('\n').map(|(i, _)| i + 1))
        .collect()
}

fn offset_in(lines: &[usize], text: &str, l: Location) -> usize {
    let column = (l.column.max(1) - 1) as usize;
    if lines.is_empty() {
        return column.min(text.len());
    }
    let start = lines
        .get((l.line.max(1) - 1) as usize)
        .copied()
        .unwrap_or(text.len());
    text[start..]
        .char_indices()
        .nth(column)
        .map_or(text.len(), |(i, _)| start + i)
}

/// 1064 near an offset.
fn syntax_error(text: &str, at: usize) -> SqlError {
    let line = text[..at].matches('\n').count() + 1;
    let mut end = (at + 80).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    SqlError::syntax(format!(
        "check the manual that corresponds to your MariaDB server version for the right syntax to use near '{}' at line {line}",
        &text[at..end]
    ))
}

/// Words that can't be names without backticks (MariaDB's reserved words, the common part).
fn is_reserved(w: &Word) -> bool {
    w.keyword != Keyword::NoKeyword && is_reserved_word(&w.value)
}

pub(crate) fn is_reserved_word(word: &str) -> bool {
    let mut buf = [0u8; 24];
    let b = word.as_bytes();
    if b.len() > buf.len() {
        return false;
    }
    for (d, s) in buf.iter_mut().zip(b) {
        *d = s.to_ascii_uppercase();
    }
    RESERVED
        .binary_search_by(|r| r.as_bytes().cmp(&buf[..b.len()]))
        .is_ok()
}

/// Sorted by bytes.
const RESERVED: &[&str] = &[
    "ACCESSIBLE",
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "ASENSITIVE",
    "BEFORE",
    "BETWEEN",
    "BIGINT",
    "BINARY",
    "BLOB",
    "BOTH",
    "BY",
    "CALL",
    "CASCADE",
    "CASE",
    "CHANGE",
    "CHAR",
    "CHARACTER",
    "CHECK",
    "COLLATE",
    "COLUMN",
    "CONDITION",
    "CONSTRAINT",
    "CONTINUE",
    "CONVERT",
    "CREATE",
    "CROSS",
    "CURRENT_DATE",
    "CURRENT_ROLE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "CURSOR",
    "DATABASE",
    "DATABASES",
    "DAY_HOUR",
    "DAY_MICROSECOND",
    "DAY_MINUTE",
    "DAY_SECOND",
    "DEC",
    "DECIMAL",
    "DECLARE",
    "DEFAULT",
    "DELAYED",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DETERMINISTIC",
    "DISTINCT",
    "DISTINCTROW",
    "DIV",
    "DOUBLE",
    "DROP",
    "DUAL",
    "EACH",
    "ELSE",
    "ELSEIF",
    "ENCLOSED",
    "ESCAPED",
    "EXCEPT",
    "EXISTS",
    "EXIT",
    "EXPLAIN",
    "FALSE",
    "FETCH",
    "FLOAT",
    "FLOAT4",
    "FLOAT8",
    "FOR",
    "FORCE",
    "FOREIGN",
    "FROM",
    "FULLTEXT",
    "GRANT",
    "GROUP",
    "HAVING",
    "HIGH_PRIORITY",
    "HOUR_MICROSECOND",
    "HOUR_MINUTE",
    "HOUR_SECOND",
    "IF",
    "IGNORE",
    "IN",
    "INDEX",
    "INFILE",
    "INNER",
    "INOUT",
    "INSENSITIVE",
    "INSERT",
    "INT",
    "INT1",
    "INT2",
    "INT3",
    "INT4",
    "INT8",
    "INTEGER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "ITERATE",
    "JOIN",
    "KEY",
    "KEYS",
    "KILL",
    "LEADING",
    "LEAVE",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LINEAR",
    "LINES",
    "LOAD",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "LOCK",
    "LONG",
    "LONGBLOB",
    "LONGTEXT",
    "LOOP",
    "LOW_PRIORITY",
    "MATCH",
    "MAXVALUE",
    "MEDIUMBLOB",
    "MEDIUMINT",
    "MEDIUMTEXT",
    "MIDDLEINT",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "MOD",
    "MODIFIES",
    "NATURAL",
    "NOT",
    "NO_WRITE_TO_BINLOG",
    "NULL",
    "NUMERIC",
    "OFFSET",
    "ON",
    "OPTIMIZE",
    "OPTION",
    "OPTIONALLY",
    "OR",
    "ORDER",
    "OUT",
    "OUTER",
    "OUTFILE",
    "OVER",
    "PARTITION",
    "PRECISION",
    "PRIMARY",
    "PROCEDURE",
    "PURGE",
    "RANGE",
    "READ",
    "READS",
    "READ_WRITE",
    "REAL",
    "RECURSIVE",
    "REFERENCES",
    "REGEXP",
    "RELEASE",
    "RENAME",
    "REPEAT",
    "REPLACE",
    "REQUIRE",
    "RESIGNAL",
    "RESTRICT",
    "RETURN",
    "RETURNING",
    "REVOKE",
    "RIGHT",
    "RLIKE",
    "ROWS",
    "ROW_NUMBER",
    "SCHEMA",
    "SCHEMAS",
    "SECOND_MICROSECOND",
    "SELECT",
    "SENSITIVE",
    "SEPARATOR",
    "SET",
    "SHOW",
    "SIGNAL",
    "SMALLINT",
    "SPATIAL",
    "SPECIFIC",
    "SQL",
    "SQLEXCEPTION",
    "SQLSTATE",
    "SQLWARNING",
    "SQL_BIG_RESULT",
    "SQL_CALC_FOUND_ROWS",
    "SQL_SMALL_RESULT",
    "SSL",
    "STARTING",
    "STRAIGHT_JOIN",
    "TABLE",
    "TERMINATED",
    "THEN",
    "TINYBLOB",
    "TINYINT",
    "TINYTEXT",
    "TO",
    "TRAILING",
    "TRIGGER",
    "TRUE",
    "UNDO",
    "UNION",
    "UNIQUE",
    "UNLOCK",
    "UNSIGNED",
    "UPDATE",
    "USAGE",
    "USE",
    "USING",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
    "VALUES",
    "VARBINARY",
    "VARCHAR",
    "VARCHARACTER",
    "VARYING",
    "WHEN",
    "WHERE",
    "WHILE",
    "WINDOW",
    "WITH",
    "WRITE",
    "XOR",
    "YEAR_MONTH",
    "ZEROFILL",
];
