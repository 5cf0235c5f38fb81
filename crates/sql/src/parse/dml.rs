//! INSERT, REPLACE, UPDATE, DELETE.

use super::P;
use crate::ast::{Assignment, Delete, Insert, InsertSource, SetValue, Stmt, Update};
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn insert(&mut self) -> SqlResult<Stmt> {
        let replace = !self.kw("INSERT");
        if replace {
            self.expect_kw("REPLACE")?;
        }
        while self.kw("LOW_PRIORITY") || self.kw("HIGH_PRIORITY") || self.kw("DELAYED") {}
        let ignore = !replace && self.kw("IGNORE");
        self.kw("INTO");
        let table = self.table_name()?;
        if self.peek_kw("PARTITION") {
            return self.unsupported("PARTITION");
        }
        let mut columns = None;
        let source;
        if self.kw("SET") {
            let set = self.comma_separated(Self::assignment)?;
            columns = Some(set.iter().map(|a| a.column.clone()).collect());
            source = InsertSource::Values(vec![set.into_iter().map(|a| a.value).collect()]);
        } else {
            if *self.peek() == Token::LParen
                && !matches!(self.peek_nth(1), Token::Placeholder(_))
                && *self.peek_nth(1) != Token::LParen
            {
                self.next();
                let mut names = Vec::new();
                if !self.tok(&Token::RParen) {
                    names = self.comma_separated(|p| Ok(p.column_name()?.1))?;
                    self.expect_tok(&Token::RParen)?;
                }
                columns = Some(names);
            }
            if self.kw("VALUES") || self.kw("VALUE") {
                source = InsertSource::Values(self.comma_separated(Self::row)?);
            } else if self.peek_kw("SELECT") || *self.peek() == Token::LParen {
                source = InsertSource::Select(Box::new(self.select()?));
            } else if self.peek_kw("WITH") {
                return self.unsupported("WITH (common table expressions)");
            } else {
                return Err(self.error());
            }
        }
        let mut on_duplicate = Vec::new();
        if self.peek_kw("ON") && !replace {
            self.next();
            self.expect_kw("DUPLICATE")?;
            self.expect_kw("KEY")?;
            self.expect_kw("UPDATE")?;
            on_duplicate = self.comma_separated(Self::assignment)?;
        }
        self.no_returning()?;
        Ok(Stmt::Insert(Box::new(Insert {
            replace,
            ignore,
            table,
            columns,
            source,
            on_duplicate,
            params: self.params,
        })))
    }

    fn no_returning(&self) -> SqlResult<()> {
        if self.peek_kw("RETURNING") {
            return self.unsupported("RETURNING");
        }
        Ok(())
    }

    fn row(&mut self) -> SqlResult<Vec<SetValue>> {
        self.expect_tok(&Token::LParen)?;
        if self.tok(&Token::RParen) {
            return Ok(Vec::new());
        }
        let v = self.comma_separated(Self::set_value)?;
        self.expect_tok(&Token::RParen)?;
        Ok(v)
    }

    fn set_value(&mut self) -> SqlResult<SetValue> {
        if self.peek_kw("DEFAULT") && *self.peek_nth(1) != Token::LParen {
            self.next();
            return Ok(SetValue::Default);
        }
        Ok(SetValue::Expr(self.expr()?))
    }

    /// `[[db.]table.]column`: table, column.
    fn column_name(&mut self) -> SqlResult<(Option<String>, String)> {
        let mut parts = vec![self.ident()?];
        while parts.len() < 3 && self.tok(&Token::Period) {
            let at = self.here();
            match self.next() {
                Token::Word(w) => parts.push(w.value),
                _ => return Err(self.error_at(at)),
            }
        }
        let column = parts.pop().unwrap_or_default();
        Ok((parts.pop(), column))
    }

    fn assignment(&mut self) -> SqlResult<Assignment> {
        let (table, column) = self.column_name()?;
        if !self.tok(&Token::Assignment) {
            self.expect_tok(&Token::Eq)?;
        }
        Ok(Assignment {
            table,
            column,
            value: self.set_value()?,
        })
    }

    pub(super) fn update(&mut self) -> SqlResult<Stmt> {
        self.expect_kw("UPDATE")?;
        self.kw("LOW_PRIORITY");
        let ignore = self.kw("IGNORE");
        let table = self.table_ref()?;
        self.no_join()?;
        self.expect_kw("SET")?;
        let assignments = self.comma_separated(Self::assignment)?;
        let where_ = if self.kw("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        let order_by = self.order_by()?;
        let limit = if self.kw("LIMIT") {
            Some(self.limit_value()?)
        } else {
            None
        };
        self.no_returning()?;
        Ok(Stmt::Update(Box::new(Update {
            ignore,
            table,
            assignments,
            where_,
            order_by,
            limit,
            params: self.params,
        })))
    }

    pub(super) fn delete(&mut self) -> SqlResult<Stmt> {
        self.expect_kw("DELETE")?;
        self.kw("LOW_PRIORITY");
        self.kw("QUICK");
        let ignore = self.kw("IGNORE");
        if !self.kw("FROM") {
            return self.unsupported("DELETE of several tables");
        }
        let table = self.table_ref()?;
        if self.peek_kw("USING") {
            return self.unsupported("DELETE of several tables");
        }
        self.no_join()?;
        let where_ = if self.kw("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        let order_by = self.order_by()?;
        let limit = if self.kw("LIMIT") {
            Some(self.limit_value()?)
        } else {
            None
        };
        self.no_returning()?;
        Ok(Stmt::Delete(Box::new(Delete {
            ignore,
            table,
            where_,
            order_by,
            limit,
            params: self.params,
        })))
    }
}
