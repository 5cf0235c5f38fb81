//! INSERT, REPLACE, UPDATE, DELETE.

use super::{P, subquery};
use crate::ast::{
    Assignment, AstExpr, Delete, From, Insert, InsertSource, Limit, OrderItem, Select, SelectItem,
    SetValue, Stmt, TableName, Update, WriteJoin, WriteTargets,
};
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn insert(&mut self) -> SqlResult<Stmt> {
        let start = self.here();
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
                source = match self.literal_rows.take() {
                    Some(rows) => {
                        self.next();
                        InsertSource::Literals(rows)
                    }
                    None => InsertSource::Values(self.comma_separated(Self::row)?),
                };
            } else if subquery::begins(self.peek()) || *self.peek() == Token::LParen {
                source = InsertSource::Select(Box::new(self.select()?));
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
        let returning = self.returning()?;
        Ok(Stmt::Insert(Box::new(Insert {
            returning,
            replace,
            ignore,
            table,
            columns,
            source,
            on_duplicate,
            subqueries: self.subqueries_since(start),
            params: self.params,
        })))
    }

    /// `RETURNING items`: empty if it is not there.
    fn returning(&mut self) -> SqlResult<Vec<SelectItem>> {
        if !self.kw("RETURNING") {
            return Ok(Vec::new());
        }
        self.comma_separated(Self::select_item)
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
    pub(super) fn column_name(&mut self) -> SqlResult<(Option<String>, String)> {
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

    pub(super) fn assignment(&mut self) -> SqlResult<Assignment> {
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
        let start = self.here();
        let from = self.from(&mut 0)?;
        self.expect_kw("SET")?;
        let assignments = self.comma_separated(Self::assignment)?;
        let where_ = self.where_clause()?;
        let order_by = self.order_by()?;
        let limit = if self.kw("LIMIT") {
            Some(self.limit_value()?)
        } else {
            None
        };
        let table = match from {
            From::Table(t) => t,
            from => {
                let limit = limit.map(|count| Limit {
                    offset: None,
                    count,
                });
                let select = self.joined_select(start, from, where_, order_by, limit);
                return Ok(Stmt::WriteJoin(Box::new(WriteJoin {
                    ignore,
                    targets: WriteTargets::Update(assignments),
                    select,
                })));
            }
        };
        Ok(Stmt::Update(Box::new(Update {
            ignore,
            table,
            assignments,
            where_,
            order_by,
            limit,
            subqueries: self.subqueries_since(start),
            params: self.params,
        })))
    }

    fn where_clause(&mut self) -> SqlResult<Option<AstExpr>> {
        Ok(if self.kw("WHERE") {
            Some(self.expr()?)
        } else {
            None
        })
    }

    /// A SELECT without a select list, for UPDATE and DELETE of joins.
    fn joined_select(
        &mut self,
        start: usize,
        from: From,
        where_: Option<AstExpr>,
        order_by: Vec<OrderItem>,
        limit: Option<Limit>,
    ) -> Select {
        Select {
            where_,
            order_by,
            limit,
            subqueries: self.subqueries_since(start),
            params: self.params,
            ..Select::of(Vec::new(), from)
        }
    }

    pub(super) fn delete(&mut self) -> SqlResult<Stmt> {
        let start = self.here();
        self.expect_kw("DELETE")?;
        self.kw("LOW_PRIORITY");
        self.kw("QUICK");
        let ignore = self.kw("IGNORE");
        if !self.kw("FROM") {
            let targets = self.comma_separated(Self::delete_target)?;
            self.expect_kw("FROM")?;
            return self.delete_from_join(ignore, targets);
        }
        if self.using_follows() {
            let targets = self.comma_separated(Self::delete_target)?;
            self.expect_kw("USING")?;
            return self.delete_from_join(ignore, targets);
        }
        let table = self.table_ref()?;
        let where_ = self.where_clause()?;
        let order_by = self.order_by()?;
        let limit = if self.kw("LIMIT") {
            Some(self.limit_value()?)
        } else {
            None
        };
        let returning = self.returning()?;
        Ok(Stmt::Delete(Box::new(Delete {
            returning,
            ignore,
            table,
            where_,
            order_by,
            limit,
            subqueries: self.subqueries_since(start),
            params: self.params,
        })))
    }

    /// True for `DELETE FROM t, ... USING`.
    fn using_follows(&self) -> bool {
        for n in 0.. {
            match self.peek_nth(n) {
                t if Self::is_kw(t, "USING") => return true,
                t if ["WHERE", "ORDER", "LIMIT", "RETURNING", "PARTITION"]
                    .iter()
                    .any(|k| Self::is_kw(t, k)) =>
                {
                    return false;
                }
                Token::Word(_) | Token::Period | Token::Mul | Token::Comma => {}
                _ => return false,
            }
        }
        false
    }

    /// `[db.]t[.*]`
    fn delete_target(&mut self) -> SqlResult<TableName> {
        let mut name = self.ident()?;
        let mut db = None;
        while self.tok(&Token::Period) {
            if self.tok(&Token::Mul) {
                break;
            }
            if db.is_some() {
                return Err(self.error());
            }
            db = Some(std::mem::replace(&mut name, self.ident()?));
        }
        Ok(TableName { db, name })
    }

    fn delete_from_join(&mut self, ignore: bool, targets: Vec<TableName>) -> SqlResult<Stmt> {
        let start = self.here();
        let from = self.from(&mut 0)?;
        let where_ = self.where_clause()?;
        match from {
            From::Table(table)
                if targets.len() == 1
                    && targets[0].name == *table.alias.as_ref().unwrap_or(&table.name.name) =>
            {
                Ok(Stmt::Delete(Box::new(Delete {
                    ignore,
                    table,
                    where_,
                    order_by: Vec::new(),
                    limit: None,
                    returning: Vec::new(),
                    subqueries: self.subqueries_since(start),
                    params: self.params,
                })))
            }
            from => {
                let select = self.joined_select(start, from, where_, Vec::new(), None);
                Ok(Stmt::WriteJoin(Box::new(WriteJoin {
                    ignore,
                    targets: WriteTargets::Delete(targets),
                    select,
                })))
            }
        }
    }
}
