//! SELECT.

use super::{P, is_reserved_word};
use crate::ast::{
    AstExpr, IndexHint, IndexHintKind, Limit, Locking, OrderItem, Select, SelectItem, Stmt,
    TableName, TableRef,
};
use narwal_engine::LockWait;
use narwal_types::SqlResult;
use sqlparser::ast::Value as AstValue;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn select_statement(&mut self) -> SqlResult<Stmt> {
        Ok(Stmt::Select(Box::new(self.select()?)))
    }

    /// A SELECT, in parentheses or not, up to the end of its clauses.
    pub(super) fn select(&mut self) -> SqlResult<Select> {
        if self.tok(&Token::LParen) {
            let s = self.select()?;
            self.expect_tok(&Token::RParen)?;
            if self.peek_kw("ORDER") || self.peek_kw("LIMIT") {
                return self.unsupported("ORDER BY or LIMIT behind a SELECT in parentheses");
            }
            self.no_set_operation()?;
            return Ok(s);
        }
        self.expect_kw("SELECT")?;
        let mut distinct = false;
        let mut calc_found_rows = false;
        loop {
            if self.kw("DISTINCT") || self.kw("DISTINCTROW") {
                distinct = true;
            } else if self.kw("SQL_CALC_FOUND_ROWS") {
                calc_found_rows = true;
            } else if !(self.kw("ALL")
                || self.kw("HIGH_PRIORITY")
                || self.kw("STRAIGHT_JOIN")
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
        if self.peek_kw("INTO") {
            return self.unsupported("SELECT ... INTO");
        }
        let mut from = None;
        if self.kw("FROM") && !self.kw("DUAL") {
            from = Some(self.table_ref()?);
            self.no_join()?;
        }
        let where_ = if self.kw("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        let mut group_by = Vec::new();
        if self.kw("GROUP") {
            self.expect_kw("BY")?;
            group_by = self.comma_separated(Self::order_item)?;
            if self.peek_kw("WITH") {
                return self.unsupported("WITH ROLLUP");
            }
        }
        let having = if self.kw("HAVING") {
            Some(self.expr()?)
        } else {
            None
        };
        if self.peek_kw("WINDOW") {
            return self.unsupported("window functions");
        }
        let order_by = self.order_by()?;
        let limit = if self.kw("LIMIT") {
            let first = self.limit_value()?;
            if self.tok(&Token::Comma) {
                Some(Limit {
                    offset: Some(first),
                    count: self.limit_value()?,
                })
            } else if self.kw("OFFSET") {
                Some(Limit {
                    offset: Some(self.limit_value()?),
                    count: first,
                })
            } else {
                Some(Limit {
                    offset: None,
                    count: first,
                })
            }
        } else {
            None
        };
        if self.peek_kw("PROCEDURE") || self.peek_kw("INTO") {
            return self.unsupported("SELECT ... INTO and PROCEDURE");
        }
        if self.peek_kw("OFFSET") || self.peek_kw("FETCH") {
            return self.unsupported("OFFSET ... FETCH");
        }
        let locking = self.locking()?;
        if self.peek_kw("INTO") {
            return self.unsupported("SELECT ... INTO");
        }
        self.no_set_operation()?;
        Ok(Select {
            distinct,
            calc_found_rows,
            items,
            from,
            where_,
            group_by,
            having,
            order_by,
            limit,
            locking,
            params: self.params,
        })
    }

    fn no_set_operation(&self) -> SqlResult<()> {
        if self.peek_kw("UNION") || self.peek_kw("EXCEPT") || self.peek_kw("INTERSECT") {
            return self.unsupported("UNION, EXCEPT and INTERSECT");
        }
        Ok(())
    }

    pub(super) fn no_join(&self) -> SqlResult<()> {
        const JOINS: [&str; 8] = [
            "JOIN",
            "INNER",
            "LEFT",
            "RIGHT",
            "CROSS",
            "NATURAL",
            "STRAIGHT_JOIN",
            "FULL",
        ];
        if *self.peek() == Token::Comma || JOINS.iter().any(|j| self.peek_kw(j)) {
            return self.unsupported("joins");
        }
        if self.peek_kw("PARTITION") {
            return self.unsupported("PARTITION");
        }
        Ok(())
    }

    fn select_item(&mut self) -> SqlResult<SelectItem> {
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
            if self.kw("FOR") {
                return self.unsupported("index hints FOR JOIN, ORDER BY or GROUP BY");
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
            hints.push(IndexHint { kind, indexes });
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
            if self.uint()? != 0 {
                return self.unsupported("FOR UPDATE WAIT n");
            }
            LockWait::NoWait
        } else {
            LockWait::Wait
        };
        Ok(Some(Locking { exclusive, wait }))
    }
}
