//! FROM: tables, derived tables, JSON_TABLE, joins.

use crate::ast::{
    Expr, From, IndexHint, IndexHintKind, IndexHintScope, Join, JoinKind, JoinOn, JsonColumn,
    JsonResponse, JsonTable, Literal, SystemTime, TableName, TableRef, TimePoint,
};
use crate::keyword::Kw;
use crate::parse::level;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// Tables of one SELECT's joins at most, as in MariaDB.
const MAX_TABLES: usize = 61;

/// More joins than a statement can have, that wait for their ON: none of them is worth a look at all that follow.
const MAX_WAITING: usize = 1000;

impl Parser<'_> {
    /// FROM's tables, joined from left to right.
    pub(super) fn from(&mut self) -> SqlResult<From> {
        let outer = std::mem::replace(&mut self.tables, 0);
        let from = self.table_list();
        self.tables = outer;
        from
    }

    fn table_list(&mut self) -> SqlResult<From> {
        let mut left = self.joined()?;
        while self.eat_tok(Tok::Comma) {
            left = From::Join(Box::new(Join {
                left,
                right: self.joined()?,
                kind: JoinKind::Inner,
                on: JoinOn::Nothing,
                straight: false,
            }));
        }
        Ok(left)
    }

    fn joined(&mut self) -> SqlResult<From> {
        let mut left = self.table_item()?;
        while let Some((kind, natural, straight)) = self.join_words()? {
            let right = match !natural && self.joins_within() {
                true => self.nested_select(Self::joined)?,
                false => self.table_item()?,
            };
            let on = if natural {
                JoinOn::Natural
            } else {
                self.join_condition(kind)?
            };
            left = From::Join(Box::new(Join {
                left,
                right,
                kind,
                on,
                straight,
            }));
        }
        Ok(left)
    }

    /// The words of a join: its kind, NATURAL, STRAIGHT_JOIN.
    fn join_words(&mut self) -> SqlResult<Option<(JoinKind, bool, bool)>> {
        let natural = self.eat(Kw::NATURAL);
        let Tok::Word(k) = self.peek() else {
            return if natural { Err(self.error()) } else { Ok(None) };
        };
        let kind = match k {
            Kw::STRAIGHT_JOIN => {
                self.bump();
                return Ok(Some((JoinKind::Inner, natural, true)));
            }
            Kw::JOIN => JoinKind::Inner,
            Kw::INNER => {
                self.bump();
                JoinKind::Inner
            }
            Kw::CROSS if !natural => {
                self.bump();
                JoinKind::Inner
            }
            Kw::LEFT | Kw::RIGHT => {
                self.bump();
                self.eat(Kw::OUTER);
                if k == Kw::LEFT {
                    JoinKind::Left
                } else {
                    JoinKind::Right
                }
            }
            _ if natural => return Err(self.error()),
            _ => return Ok(None),
        };
        self.expect(Kw::JOIN)?;
        Ok(Some((kind, natural, false)))
    }

    fn join_condition(&mut self, kind: JoinKind) -> SqlResult<JoinOn> {
        Ok(if self.eat(Kw::ON) {
            JoinOn::On(self.expr()?)
        } else if self.eat(Kw::USING) {
            JoinOn::Using(self.parenthesised(Self::ident)?)
        } else if kind == JoinKind::Inner {
            JoinOn::Nothing
        } else {
            return Err(self.error());
        })
    }

    /// True if a join of its own is next, though without parentheses: `b JOIN c ON ... ON ...`, where the second ON belongs to
    /// the join in front of `b`.
    fn joins_within(&self) -> bool {
        // Joins that wait for their ON, the one in front first.
        let (mut open, mut seen, mut level) = (1, false, 0usize);
        let mut natural = false;
        let mut before = Tok::End;
        for n in 0.. {
            let t = self.peek_at(n);
            match t {
                Tok::End | Tok::Semicolon => return false,
                Tok::LParen | Tok::LBrace => level += 1,
                Tok::RParen | Tok::RBrace if level == 0 => return false,
                Tok::RParen | Tok::RBrace => level -= 1,
                Tok::Comma if level == 0 => return false,
                Tok::Word(k) if level == 0 => match k {
                    Kw::ON | Kw::USING => {
                        open -= 1;
                        if open == 0 {
                            return seen;
                        }
                    }
                    Kw::NATURAL => natural = true,
                    // It has no ON.
                    Kw::JOIN | Kw::STRAIGHT_JOIN if std::mem::take(&mut natural) => {}
                    Kw::JOIN if before == Tok::Word(Kw::FOR) => {}
                    Kw::JOIN | Kw::STRAIGHT_JOIN => {
                        open += 1;
                        seen = true;
                        if open > MAX_WAITING {
                            return false;
                        }
                    }
                    Kw::FOR if matches!(before, Tok::Word(Kw::INDEX | Kw::KEY)) => {}
                    Kw::FOR if self.at_nth(n + 1, Kw::SYSTEM_TIME) => {}
                    Kw::WHERE
                    | Kw::GROUP
                    | Kw::HAVING
                    | Kw::ORDER
                    | Kw::LIMIT
                    | Kw::UNION
                    | Kw::EXCEPT
                    | Kw::INTERSECT
                    | Kw::FOR
                    | Kw::SET => return false,
                    _ => {}
                },
                _ => {}
            }
            before = t;
        }
        false
    }

    /// A table, a derived table, or a join in parentheses.
    fn table_item(&mut self) -> SqlResult<From> {
        self.tables += 1;
        if self.tables > MAX_TABLES {
            return Err(errors::TOO_MANY_TABLES.with([&MAX_TABLES]));
        }
        let lateral = self.eat_lateral();
        if self.query_in_parens(0, true) {
            return self.derived_table(lateral);
        }
        if lateral {
            return Err(self.error());
        }
        if self.peek() == Tok::LBrace {
            // ODBC's way to mark outer joins; the word means nothing.
            self.bump();
            self.any_word()?;
            self.tables -= 1;
            let inner = self.nested_select(Self::joined)?;
            self.expect_tok(Tok::RBrace)?;
            return Ok(inner);
        }
        if self.peek() == Tok::LParen {
            self.bump();
            self.tables -= 1;
            let inner = self.nested_select(Self::table_list)?;
            self.expect_tok(Tok::RParen)?;
            return Ok(inner);
        }
        if self.at(Kw::JSON_TABLE) && self.peek_at(1) == Tok::LParen {
            return Ok(From::JsonTable(Box::new(self.json_table()?)));
        }
        Ok(From::Table(self.table_ref()?))
    }

    fn derived_table(&mut self, lateral: bool) -> SqlResult<From> {
        let mut query = self.query_in_parentheses(true)?;
        // A table of the past may be asked for of views and derived tables too.
        let time = self.system_time()?;
        if time.is_some() {
            return Err(SqlError::unsupported("FOR SYSTEM_TIME"));
        }
        self.eat(Kw::AS);
        let minus = self.oracle() && self.at(Kw::MINUS);
        let named =
            matches!(self.peek(), Tok::Word(k) if k != Kw::WINDOW) && self.at_ident() && !minus
                || self.peek() == Tok::QuotedIdent;
        // In sql_mode=ORACLE it needs no name; then it has one that nobody can write by chance.
        let alias = match named {
            true => self.passing_ident()?,
            false if self.oracle() => format!("__unnamed_derived_{}", self.behind()),
            false => return Err(self.error()),
        };
        self.derived_columns(&mut query)?;
        Ok(From::Query {
            query: Box::new(query),
            alias,
            columns: Vec::new(),
            lateral,
        })
    }

    /// `[AS] alias` of a table; `= alias`, too.
    fn table_alias(&mut self) -> SqlResult<Option<String>> {
        if self.eat(Kw::AS) || self.eat_tok(Tok::Eq) {
            if self.at(Kw::WINDOW) {
                return Err(self.error());
            }
            return Ok(Some(self.passing_ident()?));
        }
        match self.peek() {
            Tok::Word(Kw::WINDOW) => Ok(None),
            Tok::Word(Kw::MINUS) if self.oracle() => Ok(None),
            Tok::Word(k) if !k.is_reserved() => Ok(Some(self.passing_ident()?)),
            Tok::QuotedIdent => Ok(Some(self.passing_ident()?)),
            _ => Ok(None),
        }
    }

    /// PARTITION (...), if it is next.
    pub(super) fn partitions(&mut self) -> SqlResult<Vec<String>> {
        match self.eat(Kw::PARTITION) {
            true => self.parenthesised(Self::ident),
            false => Ok(Vec::new()),
        }
    }

    /// A table of a join, with its alias and index hints.
    pub(super) fn table_ref(&mut self) -> SqlResult<TableRef> {
        let name = self.table_name_in_query()?;
        let mut t = TableRef {
            name,
            alias: None,
            hints: Vec::new(),
            partitions: Vec::new(),
            system_time: None,
        };
        // Most tables have none of all that.
        if matches!(
            self.peek(),
            Tok::End | Tok::Comma | Tok::RParen | Tok::Word(Kw::WHERE | Kw::SET)
        ) {
            return Ok(t);
        }
        t.partitions = self.partitions()?;
        t.system_time = self.system_time()?;
        t.alias = self.table_alias()?;
        t.hints = self.index_hints()?;
        Ok(t)
    }

    /// `[db.]name` or `.name`
    pub(super) fn table_name_in_query(&mut self) -> SqlResult<TableName> {
        self.eat_tok(Tok::Dot);
        self.table_name()
    }

    fn index_hints(&mut self) -> SqlResult<Vec<IndexHint>> {
        let mut hints = Vec::new();
        loop {
            let kind = match self.peek() {
                Tok::Word(Kw::USE) => IndexHintKind::Use,
                Tok::Word(Kw::FORCE) => IndexHintKind::Force,
                Tok::Word(Kw::IGNORE) => IndexHintKind::Ignore,
                _ => return Ok(hints),
            };
            self.bump();
            if !self.eat(Kw::INDEX) && !self.eat(Kw::KEY) {
                return Err(self.error());
            }
            let scope = self.hint_scope()?;
            self.expect_tok(Tok::LParen)?;
            let mut indexes = Vec::new();
            if kind != IndexHintKind::Use || self.peek() != Tok::RParen {
                indexes = self.comma_separated(|p| match p.at(Kw::PRIMARY) {
                    true => p.any_word(),
                    false => p.ident(),
                })?;
            }
            self.expect_tok(Tok::RParen)?;
            hints.push(IndexHint {
                kind,
                scope,
                indexes,
            });
        }
    }

    fn hint_scope(&mut self) -> SqlResult<Option<IndexHintScope>> {
        if !self.eat(Kw::FOR) {
            return Ok(None);
        }
        if self.eat(Kw::JOIN) {
            return Ok(Some(IndexHintScope::Join));
        }
        let order = self.eat(Kw::ORDER);
        if !order {
            self.expect(Kw::GROUP)?;
        }
        self.expect(Kw::BY)?;
        Ok(Some(match order {
            true => IndexHintScope::OrderBy,
            false => IndexHintScope::GroupBy,
        }))
    }

    /// FOR SYSTEM_TIME, if it is next.
    fn system_time(&mut self) -> SqlResult<Option<SystemTime>> {
        if !self.eat_all(&[Kw::FOR, Kw::SYSTEM_TIME]) {
            return Ok(None);
        }
        Ok(Some(if self.eat(Kw::ALL) {
            SystemTime::All
        } else if self.eat(Kw::AS) {
            self.expect(Kw::OF)?;
            SystemTime::AsOf(self.time_point()?)
        } else if self.eat(Kw::BETWEEN) {
            let a = self.time_point()?;
            self.expect(Kw::AND)?;
            SystemTime::Between(a, self.time_point()?)
        } else {
            self.expect(Kw::FROM)?;
            let a = self.time_point()?;
            self.expect(Kw::TO)?;
            SystemTime::FromTo(a, self.time_point()?)
        }))
    }

    /// A point of a table's history.
    pub(crate) fn time_point(&mut self) -> SqlResult<TimePoint> {
        if self.at(Kw::TRANSACTION) {
            self.bump();
            return Ok(TimePoint::Transaction(self.operators(level::BIT_OR)?));
        }
        if self.at(Kw::TIMESTAMP) && !matches!(self.peek_at(1), Tok::String | Tok::LParen) {
            self.bump();
            return Ok(TimePoint::Time(self.operators(level::BIT_OR)?, true));
        }
        Ok(TimePoint::Time(self.operators(level::BIT_OR)?, false))
    }

    /// JSON_TABLE(document, path COLUMNS (...)) [AS] alias
    fn json_table(&mut self) -> SqlResult<JsonTable> {
        self.bump();
        self.bump();
        let document = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let path = self.string()?;
        let columns = self.json_columns()?;
        self.expect_tok(Tok::RParen)?;
        match self.table_alias()? {
            Some(alias) => Ok(JsonTable {
                document,
                path,
                columns,
                alias,
            }),
            None => Err(self.error()),
        }
    }

    fn json_columns(&mut self) -> SqlResult<Vec<JsonColumn>> {
        self.expect(Kw::COLUMNS)?;
        self.nested(|p| p.parenthesised(Self::json_column))
    }

    fn json_column(&mut self) -> SqlResult<JsonColumn> {
        if self.eat(Kw::NESTED) {
            self.eat(Kw::PATH);
            let path = self.string()?;
            return Ok(JsonColumn::Nested(path, self.json_columns()?));
        }
        let name = self.ident()?;
        if self.eat_all(&[Kw::FOR, Kw::ORDINALITY]) {
            return Ok(JsonColumn::Ordinality(name));
        }
        let start = self.here();
        self.skip_type()?;
        let ty = self.slice(start, self.behind()).to_string();
        let exists = self.eat(Kw::EXISTS);
        self.expect(Kw::PATH)?;
        let path = self.string()?;
        let (mut on_empty, mut on_error) = (None, None);
        while let Some(response) = self.json_response()? {
            self.expect(Kw::ON)?;
            match self.eat(Kw::EMPTY) {
                true => on_empty = Some(response),
                false => {
                    self.expect(Kw::ERROR)?;
                    on_error = Some(response);
                }
            }
        }
        Ok(JsonColumn::Value {
            name,
            ty,
            exists,
            path,
            on_empty,
            on_error,
        })
    }

    /// The tokens of a column's type and its attributes, up to PATH or EXISTS.
    fn skip_type(&mut self) -> SqlResult<()> {
        let mut level = 0usize;
        let start = self.here();
        loop {
            match self.peek() {
                Tok::Word(Kw::PATH | Kw::EXISTS) if level == 0 && self.here() > start => {
                    return Ok(());
                }
                Tok::LParen => level += 1,
                Tok::RParen if level > 0 => level -= 1,
                Tok::RParen | Tok::End => return Err(self.error()),
                Tok::Comma if level == 0 => return Err(self.error()),
                _ => {}
            }
            self.bump();
        }
    }

    fn json_response(&mut self) -> SqlResult<Option<JsonResponse>> {
        Ok(Some(match self.peek() {
            Tok::Word(Kw::ERROR) => {
                self.bump();
                JsonResponse::Error
            }
            Tok::Word(Kw::NULL) => {
                self.bump();
                JsonResponse::Null
            }
            Tok::Word(Kw::DEFAULT) => {
                self.bump();
                match self.expr()? {
                    Expr::Literal(l) => JsonResponse::Default(l),
                    Expr::Unary {
                        op: crate::ast::UnaryOp::Minus,
                        expr,
                    } => match *expr {
                        Expr::Literal(Literal::Number(n)) => {
                            JsonResponse::Default(Literal::Number(format!("-{n}")))
                        }
                        _ => return Err(self.error()),
                    },
                    _ => return Err(self.error()),
                }
            }
            _ => return Ok(None),
        }))
    }
}
