//! SELECT.

use super::{MAX_TABLES, P, is_reserved_word};
use crate::ast::{
    AstExpr, From, IndexHint, IndexHintKind, IndexHintScope, Join, JoinKind, JoinOn, Limit,
    Locking, OrderItem, Select, SelectInto, SelectItem, Stmt, TableName, TableRef,
};
use narwal_engine::LockWait;
use narwal_types::{SqlError, SqlResult};
use sqlparser::ast::Value as AstValue;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn select_statement(&mut self) -> SqlResult<Stmt> {
        let select = Box::new(self.select()?);
        Ok(match self.into.take() {
            Some((into, late, _)) => Stmt::SelectInto(Box::new(SelectInto { late, select, into })),
            None => Stmt::Select(select),
        })
    }

    /// A SELECT up to HAVING.
    pub(super) fn simple_select(&mut self) -> SqlResult<Select> {
        let start = self.here();
        self.expect_kw("SELECT")?;
        let mut distinct = false;
        let mut calc_found_rows = false;
        let mut straight = false;
        loop {
            if self.kw("DISTINCT") || self.kw("DISTINCTROW") {
                distinct = true;
            } else if self.kw("SQL_CALC_FOUND_ROWS") {
                calc_found_rows = true;
            } else if self.kw("STRAIGHT_JOIN") {
                straight = true;
            } else if !(self.kw("ALL")
                || self.kw("HIGH_PRIORITY")
                || self.kw("SQL_SMALL_RESULT")
                || self.kw("SQL_BIG_RESULT")
                || self.kw("SQL_BUFFER_RESULT")
                || self.kw("SQL_CACHE")
                || self.kw("SQL_NO_CACHE"))
            {
                break;
            }
        }
        let items = self.comma_separated(Self::select_item)?;
        let before = self.into.is_some();
        self.select_into(false)?;
        if !before
            && self.into.is_some()
            && ["UNION", "EXCEPT", "INTERSECT"]
                .iter()
                .any(|k| self.peek_kw(k))
        {
            return Err(self.error());
        }
        let mut from = None;
        if self.kw("FROM") && !self.kw("DUAL") {
            from = Some(self.from(&mut 0)?);
        }
        let where_ = if self.kw("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        let mut group_by = Vec::new();
        let mut rollup = false;
        if self.kw("GROUP") {
            self.expect_kw("BY")?;
            group_by = self.comma_separated(Self::order_item)?;
            rollup = self.kw2("WITH", "ROLLUP");
        }
        let having = if self.kw("HAVING") {
            Some(self.expr()?)
        } else {
            None
        };
        if self.peek_kw("WINDOW") {
            return self.unsupported("window functions");
        }
        Ok(Select {
            with: None,
            distinct,
            calc_found_rows,
            straight,
            items,
            from,
            where_,
            group_by,
            rollup,
            having,
            order_by: Vec::new(),
            limit: None,
            locking: None,
            subqueries: self.subqueries_since(start),
            params: self.params,
        })
    }

    /// ORDER BY, LIMIT and what follows.
    pub(super) fn select_tail(&mut self, s: &mut Select) -> SqlResult<()> {
        let start = self.here();
        s.order_by = self.order_by()?;
        s.limit = self.limit()?;
        if self.peek_kw("PROCEDURE") {
            return self.unsupported("PROCEDURE");
        }
        self.select_into(true)?;
        if self.peek_kw("OFFSET") || self.peek_kw("FETCH") {
            return self.unsupported("OFFSET ... FETCH");
        }
        s.locking = self.locking()?;
        self.select_into(true)?;
        s.subqueries.extend(self.subqueries_since(start));
        Ok(())
    }

    fn limit(&mut self) -> SqlResult<Option<Limit>> {
        if !self.kw("LIMIT") {
            return Ok(None);
        }
        let first = self.limit_value()?;
        Ok(Some(if self.tok(&Token::Comma) {
            Limit {
                offset: Some(first),
                count: self.limit_value()?,
            }
        } else if self.kw("OFFSET") {
            Limit {
                offset: Some(self.limit_value()?),
                count: first,
            }
        } else {
            Limit {
                offset: None,
                count: first,
            }
        }))
    }

    /// FROM's tables, joined from left to right. `tables` counts them.
    pub(super) fn from(&mut self, tables: &mut usize) -> SqlResult<From> {
        let mut left = self.joined(tables)?;
        while self.tok(&Token::Comma) {
            left = From::Join(Box::new(Join {
                left,
                right: self.joined(tables)?,
                kind: JoinKind::Inner,
                on: JoinOn::Nothing,
                straight: false,
            }));
        }
        Ok(left)
    }

    fn joined(&mut self, tables: &mut usize) -> SqlResult<From> {
        let mut left = self.table_item(tables)?;
        loop {
            let natural = self.kw("NATURAL");
            let outer = |p: &mut Self, kind| -> SqlResult<JoinKind> {
                p.kw("OUTER");
                p.expect_kw("JOIN")?;
                Ok(kind)
            };
            let straight = !natural && self.kw("STRAIGHT_JOIN");
            let kind = if straight || self.kw("JOIN") {
                JoinKind::Inner
            } else if self.kw("INNER") || self.kw("CROSS") {
                self.expect_kw("JOIN")?;
                JoinKind::Inner
            } else if self.kw("LEFT") {
                outer(self, JoinKind::Left)?
            } else if self.kw("RIGHT") {
                outer(self, JoinKind::Right)?
            } else if natural {
                return Err(self.error());
            } else if self.peek_kw("FULL") {
                return self.unsupported("FULL JOIN");
            } else {
                return Ok(left);
            };
            let right = if !natural && self.joins_within() {
                self.nested(|p| p.joined(tables))?
            } else {
                self.table_item(tables)?
            };
            let on = if natural {
                JoinOn::Natural
            } else if self.kw("ON") {
                JoinOn::On(self.expr()?)
            } else if self.kw("USING") {
                self.expect_tok(&Token::LParen)?;
                let columns = self.comma_separated(Self::ident)?;
                self.expect_tok(&Token::RParen)?;
                JoinOn::Using(columns)
            } else if kind == JoinKind::Inner {
                JoinOn::Nothing
            } else {
                return Err(self.error());
            };
            left = From::Join(Box::new(Join {
                left,
                right,
                kind,
                on,
                straight,
            }));
        }
    }

    /// True if a join of its own is next, though without parentheses: `b JOIN c ON ... ON ...`, where the second ON belongs to
    /// the join in front of `b`.
    fn joins_within(&self) -> bool {
        const ENDS: [&str; 10] = [
            "WHERE",
            "GROUP",
            "HAVING",
            "ORDER",
            "LIMIT",
            "UNION",
            "EXCEPT",
            "INTERSECT",
            "FOR",
            "SET",
        ];
        // Joins that wait for their ON, the one in front first.
        let (mut open, mut seen, mut level) = (1, false, 0usize);
        let mut natural = false;
        let mut before: Option<&Token> = None;
        for at in self.p.index().. {
            let t = &self.p.token_at(at).token;
            let word = |k: &str| Self::is_kw(t, k);
            let behind = |k: &str| before.is_some_and(|b| Self::is_kw(b, k));
            match t {
                Token::EOF | Token::SemiColon => return false,
                Token::Whitespace(_) => continue,
                Token::LParen => level += 1,
                Token::RParen if level == 0 => return false,
                Token::RParen => level -= 1,
                Token::Comma if level == 0 => return false,
                Token::Word(_) if level == 0 => {
                    if word("ON") || word("USING") {
                        open -= 1;
                        if open == 0 {
                            return seen;
                        }
                    } else if word("NATURAL") {
                        natural = true;
                    } else if word("JOIN") && std::mem::take(&mut natural) {
                        // It has no ON.
                    } else if word("STRAIGHT_JOIN") || word("JOIN") && !behind("FOR") {
                        open += 1;
                        seen = true;
                    } else if ENDS.iter().any(|k| word(k))
                        && !(word("FOR") && (behind("INDEX") || behind("KEY")))
                    {
                        return false;
                    }
                }
                _ => {}
            }
            before = Some(t);
        }
        false
    }

    /// A table, a derived table, or a join in parentheses.
    fn table_item(&mut self, tables: &mut usize) -> SqlResult<From> {
        *tables += 1;
        if *tables > MAX_TABLES {
            return Err(SqlError::new(
                1116,
                b"HY000",
                format!("Too many tables; MariaDB can only use {MAX_TABLES} tables in a join"),
            ));
        }
        if let Some(query) = self.derived_query()? {
            self.kw("AS");
            let alias = match self.peek() {
                Token::Word(w) if w.quote_style.is_some() || !is_reserved_word(&w.value) => {
                    self.ident()?
                }
                _ => {
                    return Err(SqlError::new(
                        1248,
                        b"42000",
                        "Every derived table must have its own alias",
                    ));
                }
            };
            return Ok(From::Query {
                query: Box::new(query),
                alias,
                columns: Vec::new(),
            });
        }
        if self.tok(&Token::LParen) {
            *tables -= 1;
            let inner = self.nested(|p| p.from(tables))?;
            self.expect_tok(&Token::RParen)?;
            return Ok(inner);
        }
        Ok(From::Table(self.table_ref()?))
    }

    pub(super) fn select_item(&mut self) -> SqlResult<SelectItem> {
        if self.tok(&Token::Mul) {
            return Ok(SelectItem::Wildcard);
        }
        // t.* and db.t.*
        if let (Token::Word(a), Token::Period) = (self.peek(), self.peek_nth(1)) {
            match (self.peek_nth(2), self.peek_nth(3), self.peek_nth(4)) {
                (Token::Mul, _, _) => {
                    let name = a.value.clone();
                    for _ in 0..3 {
                        self.next();
                    }
                    return Ok(SelectItem::TableWildcard(TableName { db: None, name }));
                }
                (Token::Word(b), Token::Period, Token::Mul) => {
                    let (db, name) = (Some(a.value.clone()), b.value.clone());
                    for _ in 0..5 {
                        self.next();
                    }
                    return Ok(SelectItem::TableWildcard(TableName { db, name }));
                }
                _ => {}
            }
        }
        let start = self.here();
        let single = matches!(
            self.peek(),
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_)
        );
        let expr = self.expr()?;
        let end = self.behind();
        let text = match &expr {
            AstExpr::Identifier(i) if !i.value.starts_with('@') => i.value.clone(),
            AstExpr::CompoundIdentifier(v)
                if v.first().is_some_and(|i| !i.value.starts_with('@')) =>
            {
                v.last().map(|i| i.value.clone()).unwrap_or_default()
            }
            AstExpr::Value(v) if single => match &v.value {
                AstValue::SingleQuotedString(s) | AstValue::DoubleQuotedString(s) => s.clone(),
                _ => self.text[start..end].to_string(),
            },
            _ => self.text[start..end.max(start)].trim().to_string(),
        };
        let alias = self.column_alias()?;
        Ok(SelectItem::Expr { expr, alias, text })
    }

    fn column_alias(&mut self) -> SqlResult<Option<String>> {
        let explicit = self.kw("AS");
        match self.peek() {
            Token::SingleQuotedString(_) | Token::DoubleQuotedString(_) => Ok(Some(self.string()?)),
            Token::Word(w)
                if explicit || w.quote_style.is_some() || !is_reserved_word(&w.value) =>
            {
                Ok(Some(self.ident()?))
            }
            _ if explicit => Err(self.error()),
            _ => Ok(None),
        }
    }

    /// A table with alias and index hints.
    pub(super) fn table_ref(&mut self) -> SqlResult<TableRef> {
        if *self.peek() == Token::LParen {
            return self.unsupported("derived tables");
        }
        let name = self.table_name()?;
        if self.peek_kw("PARTITION") {
            return self.unsupported("PARTITION");
        }
        if self.peek_kw("FOR") && self.peek_kw_nth(1, "SYSTEM_TIME") {
            return self.unsupported("FOR SYSTEM_TIME");
        }
        let alias = if self.kw("AS") {
            Some(self.ident()?)
        } else {
            match self.peek() {
                Token::Word(w)
                    if w.quote_style.is_some()
                        || !(is_reserved_word(&w.value)
                            || w.value.eq_ignore_ascii_case("FULL")) =>
                {
                    Some(self.ident()?)
                }
                _ => None,
            }
        };
        let mut hints = Vec::new();
        loop {
            let kind = if self.kw("USE") {
                IndexHintKind::Use
            } else if self.kw("FORCE") {
                IndexHintKind::Force
            } else if self.kw("IGNORE") {
                IndexHintKind::Ignore
            } else {
                break;
            };
            if !self.kw("INDEX") && !self.kw("KEY") {
                return Err(self.error());
            }
            let mut scope = None;
            if self.kw("FOR") {
                scope = Some(if self.kw("JOIN") {
                    IndexHintScope::Join
                } else {
                    let order = self.kw("ORDER");
                    if !order {
                        self.expect_kw("GROUP")?;
                    }
                    self.expect_kw("BY")?;
                    match order {
                        true => IndexHintScope::OrderBy,
                        false => IndexHintScope::GroupBy,
                    }
                });
            }
            self.expect_tok(&Token::LParen)?;
            let mut indexes = Vec::new();
            if !self.tok(&Token::RParen) {
                indexes = self.comma_separated(|p| {
                    if p.kw("PRIMARY") {
                        Ok("PRIMARY".to_string())
                    } else {
                        p.ident()
                    }
                })?;
                self.expect_tok(&Token::RParen)?;
            }
            hints.push(IndexHint {
                kind,
                scope,
                indexes,
            });
            let _ = self.peek() == &Token::Comma
                && (self.peek_kw_nth(1, "USE")
                    || self.peek_kw_nth(1, "FORCE")
                    || self.peek_kw_nth(1, "IGNORE"))
                && self.tok(&Token::Comma);
        }
        Ok(TableRef { name, alias, hints })
    }

    pub(super) fn order_by(&mut self) -> SqlResult<Vec<OrderItem>> {
        if !self.kw("ORDER") {
            return Ok(Vec::new());
        }
        self.expect_kw("BY")?;
        self.comma_separated(Self::order_item)
    }

    fn order_item(&mut self) -> SqlResult<OrderItem> {
        let expr = self.expr()?;
        let desc = self.kw("DESC");
        if !desc {
            self.kw("ASC");
        }
        Ok(OrderItem { expr, desc })
    }

    /// LIMIT's operand: an integer or `?`.
    pub(super) fn limit_value(&mut self) -> SqlResult<AstExpr> {
        let at = self.here();
        match self.peek() {
            Token::Number(n, _) if n.bytes().all(|b| b.is_ascii_digit()) => self.lone_value(),
            Token::Placeholder(_) => self.lone_value(),
            _ => Err(self.error_at(at)),
        }
    }

    fn lone_value(&mut self) -> SqlResult<AstExpr> {
        let value = match self.next() {
            Token::Number(n, _) => AstValue::Number(n, false),
            Token::Placeholder(s) => AstValue::Placeholder(s),
            _ => return Err(self.error()),
        };
        Ok(AstExpr::Value(value.into()))
    }

    fn locking(&mut self) -> SqlResult<Option<Locking>> {
        let exclusive = if self.kw2("FOR", "UPDATE") {
            true
        } else if self.kw2("FOR", "SHARE") {
            false
        } else if self.kw("LOCK") {
            self.expect_kw("IN")?;
            self.expect_kw("SHARE")?;
            self.expect_kw("MODE")?;
            false
        } else {
            return Ok(None);
        };
        if self.peek_kw("OF") {
            return self.unsupported("FOR UPDATE OF");
        }
        let wait = if self.kw("NOWAIT") {
            LockWait::NoWait
        } else if self.kw2("SKIP", "LOCKED") {
            LockWait::SkipLocked
        } else if self.kw("WAIT") {
            match self.uint()? {
                0 => LockWait::NoWait,
                n => LockWait::UpTo(std::time::Duration::from_secs(n)),
            }
        } else {
            LockWait::Wait
        };
        Ok(Some(Locking { exclusive, wait }))
    }
}
