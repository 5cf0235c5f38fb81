//! Queries: SELECTs put together by UNION, INTERSECT and EXCEPT, VALUES as a table, and WITH.

use crate::ast::{
    Call, Cte, Expr, From, Limit, Literal, LockWait, Locking, OrderItem, Select, SelectInto,
    SelectItem, SelectOptions, SetKind, SetOp, Statement, TableName, UnaryOp, WindowSpec, With,
};
use crate::keyword::Kw;
use crate::parser::{MAX_NESTING, Parser, reserve_for, shown_name};
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{Name, SqlError, SqlResult};
use std::collections::HashSet;
use std::sync::Arc;

/// SELECTs within each other, at most, as in MariaDB.
const MAX_DEPTH: usize = 63;

/// A SELECT and those put together with it.
type Group = (Select, Vec<(SetOp, Select)>);

const UNION_ALL: SetOp = SetOp {
    kind: SetKind::Union,
    all: true,
};

/// Whether the last of SELECTs that are put together has a locking clause: one behind all of them goes there.
fn locks_last(all: &Select) -> bool {
    match &all.from {
        Some(From::Set { rest, .. }) => rest.last().is_some_and(|(_, s)| !s.locking.is_empty()),
        _ => false,
    }
}

impl Parser<'_> {
    /// A query as a statement.
    pub(crate) fn query_statement(&mut self) -> SqlResult<Statement> {
        let select = Box::new(self.query()?);
        Ok(match self.into.take() {
            Some(found) => Statement::SelectInto(Box::new(SelectInto {
                select,
                into: found.into,
                late: found.late,
            })),
            None => Statement::Select(select),
        })
    }

    /// A query: SELECTs in parentheses or not, put together or one alone, up to the end of its clauses.
    pub(crate) fn query(&mut self) -> SqlResult<Select> {
        let with = self.with_clause()?;
        let mut s = self.query_body()?;
        if with.is_some() {
            if s.with.is_some() {
                s = self.around(s, Vec::new());
            }
            s.with = with;
        }
        Ok(s)
    }

    fn query_body(&mut self) -> SqlResult<Select> {
        let (mut first, parenthesised) = self.select_term()?;
        let Some(op) = self.set_operation()? else {
            match parenthesised {
                true => return self.behind_parenthesis(first),
                false => self.select_tail(&mut first)?,
            }
            return Ok(first);
        };
        if self.into.is_some() && !parenthesised {
            return Err(self.error_at(self.set_operation_at));
        }
        let calc_found_rows = std::mem::take(&mut first.calc_found_rows);
        // INTERSECT binds tighter than the others, but for Oracle.
        let tighter = !self.oracle();
        let mut groups: Vec<(SetOp, Group)> = vec![(UNION_ALL, (first, Vec::new()))];
        let mut op = Some(op);
        let mut bracketed = false;
        while let Some(o) = op {
            self.in_set = true;
            let (term, parens) = self.select_term()?;
            self.in_set = false;
            bracketed = parens;
            options_belong_here(&term)?;
            match groups.last_mut() {
                Some((_, group)) if tighter && o.kind == SetKind::Intersect => {
                    group.1.push((o, term));
                }
                _ => groups.push((o, (term, Vec::new()))),
            }
            op = self.set_operation()?;
        }
        let mut groups = groups.into_iter();
        let (mut first, mut rest) = groups.next().map(|(_, g)| g).ok_or_else(|| self.error())?;
        for (op, (term, inner)) in groups {
            // INTERSECT stands beside no other kind: what comes before a change is one operand.
            let intersects = |o: &SetOp| o.kind == SetKind::Intersect;
            if rest
                .first()
                .is_some_and(|(o, _)| intersects(o) != intersects(&op))
            {
                first = self.around(first, std::mem::take(&mut rest));
            }
            let term = if inner.is_empty() {
                term
            } else {
                self.around(term, inner)
            };
            rest.push((op, term));
        }
        let mut all = self.around(first, rest);
        all.calc_found_rows = calc_found_rows;
        let locked = locks_last(&all);
        self.select_tail(&mut all)?;
        if bracketed && !locked && locks_last(&all) {
            return Err(errors::WRONG_USAGE.with([&"lock options", &"SELECT in brackets"]));
        }
        Ok(all)
    }

    /// Clauses behind the parenthesis belong to what is in it, where they do not disagree.
    fn behind_parenthesis(&mut self, mut first: Select) -> SqlResult<Select> {
        let order = self.at(Kw::ORDER);
        let limit = matches!(self.peek(), Tok::Word(Kw::LIMIT | Kw::OFFSET | Kw::FETCH));
        let other = matches!(
            self.peek(),
            Tok::Word(Kw::FOR | Kw::LOCK | Kw::INTO | Kw::PROCEDURE)
        );
        if !order && !limit && !other {
            return Ok(first);
        }
        let taken = first.limit.is_some() || !first.locking.is_empty();
        if (order || limit) && (taken || (order && !first.order_by.is_empty())) {
            first = self.around(first, Vec::new());
        }
        let before = (
            std::mem::take(&mut first.order_by),
            first.limit.take(),
            std::mem::take(&mut first.locking),
        );
        self.select_tail(&mut first)?;
        if first.order_by.is_empty() {
            first.order_by = before.0;
        }
        first.limit = first.limit.or(before.1);
        if first.locking.is_empty() {
            first.locking = before.2;
        }
        Ok(first)
    }

    /// `SELECT * FROM` SELECTs put together.
    fn around(&self, first: Select, rest: Vec<(SetOp, Select)>) -> Select {
        Select {
            params: self.params,
            ..Select::of(
                vec![SelectItem::Wildcard],
                From::Set {
                    first: Box::new(first),
                    rest,
                },
            )
        }
    }

    fn set_operation(&mut self) -> SqlResult<Option<SetOp>> {
        let kind = match self.peek() {
            Tok::Word(Kw::UNION) => SetKind::Union,
            Tok::Word(Kw::INTERSECT) => SetKind::Intersect,
            Tok::Word(Kw::EXCEPT) => SetKind::Except,
            Tok::Word(Kw::MINUS) if self.oracle() => SetKind::Except,
            _ => return Ok(None),
        };
        self.set_operation_at = self.here();
        self.bump();
        let all = self.eat(Kw::ALL);
        if !all {
            self.eat(Kw::DISTINCT);
        }
        Ok(Some(SetOp { kind, all }))
    }

    /// A query in parentheses (true), a SELECT up to HAVING, or VALUES.
    fn select_term(&mut self) -> SqlResult<(Select, bool)> {
        match self.peek() {
            Tok::LParen => {
                let mut s = self.query_in_parentheses(false)?;
                s.form.parenthesised = true;
                Ok((s, true))
            }
            Tok::Word(Kw::VALUES) => {
                self.bump();
                Ok((self.table_values()?, true))
            }
            _ => match self.whole_table()? {
                Some(all) => Ok((all, false)),
                None => Ok((self.simple_select()?, false)),
            },
        }
    }

    /// `(query)`. `with`: it may begin with WITH.
    pub(super) fn query_in_parentheses(&mut self, with: bool) -> SqlResult<Select> {
        let outer_into = self.into.take();
        self.expect_tok(Tok::LParen)?;
        if !with && self.at(Kw::WITH) {
            return Err(self.error());
        }
        let s = self.nested_select(Self::query)?;
        if with {
            options_belong_here(&s)?;
        }
        self.expect_tok(Tok::RParen)?;
        self.no_into()?;
        self.into = outer_into;
        Ok(s)
    }

    /// True if a query in parentheses begins `n` tokens behind the next one. `values`: VALUES begins one too.
    pub(crate) fn query_in_parens(&self, n: usize, values: bool) -> bool {
        if self.peek_at(n) != Tok::LParen {
            return false;
        }
        let mut open = 1;
        while self.peek_at(n + open) == Tok::LParen {
            open += 1;
            if open > MAX_NESTING {
                // Too deep for either. Each parenthesis would be counted again for the one in front of it.
                return false;
            }
        }
        match self.peek_at(n + open) {
            Tok::Word(Kw::SELECT | Kw::WITH) => {}
            Tok::Word(Kw::TABLE) if is_mysql() => {}
            Tok::Word(Kw::VALUES) if self.is_table_values(n + open, values) => {}
            _ => return false,
        }
        if open == 1 {
            return true;
        }
        // `((SELECT 1) + 2)` is an expression, `((SELECT 1) UNION ...)` a query: what stands behind the inner parenthesis?
        let mut level = open - 1;
        let mut at = n + open;
        // Whether a query goes on behind the innermost one, as far as anything stands there.
        let mut goes_on = None;
        while level > 0 {
            at += 1;
            match self.peek_at(at) {
                Tok::LParen => level += 1,
                Tok::RParen => level -= 1,
                Tok::End => return false,
                tok if level < open - 1 => {
                    goes_on.get_or_insert(continues_query(tok));
                }
                _ => {}
            }
        }
        match self.peek_at(at + 1) {
            // Where only a query can stand: `((SELECT 1))`.
            Tok::RParen => values && goes_on.unwrap_or(true),
            tok => continues_query(tok),
        }
    }

    /// True for the VALUES of a table, which is no call of the function VALUES. That one is there in ON DUPLICATE KEY UPDATE
    /// alone; MySQL has it everywhere: `(VALUES(a) + 1)` is an expression there, and `(VALUES (1))` is one value either way.
    fn is_table_values(&self, n: usize, values: bool) -> bool {
        if !is_mysql() {
            return !self.on_duplicate;
        }
        if values || self.peek_at(n + 1) == Tok::Word(Kw::ROW) {
            return true;
        }
        self.peek_at(n + 1) == Tok::LParen
            && !matches!(
                self.peek_at(n + 2),
                Tok::Word(_) | Tok::QuotedIdent | Tok::Dot
            )
    }

    /// The subquery in parentheses that is next: its number.
    pub(crate) fn subquery(&mut self) -> SqlResult<usize> {
        if self.query_depth > MAX_DEPTH {
            return Err(errors::TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT.with([&MAX_DEPTH]));
        }
        let n = self.next_subquery;
        self.next_subquery += 1;
        self.query_depth += 1;
        let outer = std::mem::replace(&mut self.on_duplicate, false);
        let select = self.apart(|p| p.query_in_parentheses(true));
        self.on_duplicate = outer;
        self.query_depth -= 1;
        self.subqueries.push((n, select?));
        Ok(n)
    }

    /// Runs a parser of clauses, and gives the subqueries that it met.
    pub(super) fn with_subqueries<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<(T, Vec<(usize, Select)>)> {
        let outer = std::mem::take(&mut self.subqueries);
        let r = f(self);
        let found = std::mem::replace(&mut self.subqueries, outer);
        Ok((r?, found))
    }

    /// Behind VALUES: rows, as SELECTs put together.
    fn table_values(&mut self) -> SqlResult<Select> {
        let mut rows = self.comma_separated(|p| {
            p.eat_row();
            p.expect_tok(Tok::LParen)?;
            if p.peek() == Tok::RParen {
                return Err(errors::EMPTY_ROW_IN_TVC.plain());
            }
            let (items, subqueries) = p.with_subqueries(|p| p.comma_separated(Self::row_item))?;
            p.expect_tok(Tok::RParen)?;
            p.no_columns(&items)?;
            Ok(Select {
                subqueries,
                params: p.params,
                row: true,
                ..Select::of(items, None)
            })
        })?;
        if is_mysql() {
            name_columns(&mut rows[0].items);
        }
        let width = rows[0].items.len();
        if rows.iter().any(|r| r.items.len() != width) {
            return Err(errors::WRONG_NUMBER_OF_VALUES_IN_TVC.plain());
        }
        narwal_memory::reserve((rows.len() * size_of::<(SetOp, Select)>()) as u64)?;
        let first = rows.remove(0);
        let mut all = self.around(first, rows.into_iter().map(|r| (UNION_ALL, r)).collect());
        all.form.values = true;
        Ok(all)
    }

    /// Error 4100 for a column among the values of a table. In a program it may be a variable.
    fn no_columns(&self, items: &[SelectItem]) -> SqlResult<()> {
        if self.in_program || is_mysql() {
            return Ok(());
        }
        let named = items.iter().find_map(|i| match i {
            SelectItem::Expr {
                expr: Expr::Column(_) | Expr::Qualified(_),
                text,
                ..
            } => Some(text),
            _ => None,
        });
        match named {
            Some(name) => Err(errors::FIELD_REFERENCE_IN_TVC.with([name])),
            None => Ok(()),
        }
    }

    /// A value of VALUES as a table.
    fn row_item(&mut self) -> SqlResult<SelectItem> {
        if self.at(Kw::DEFAULT) && self.peek_at(1) != Tok::LParen {
            return Err(errors::NOT_ALLOWED_IN_THIS_CONTEXT.with([&"default"]));
        }
        if self.at(Kw::IGNORE) {
            return Err(errors::NOT_ALLOWED_IN_THIS_CONTEXT.with([&"ignore"]));
        }
        let (expr, text) = self.named_expr()?;
        Ok(SelectItem::Expr {
            expr,
            alias: None,
            text,
        })
    }

    pub(super) fn with_clause(&mut self) -> SqlResult<Option<With>> {
        if !self.eat(Kw::WITH) {
            return Ok(None);
        }
        let recursive = self.eat(Kw::RECURSIVE);
        let ctes = self.comma_separated(|p| {
            let name = p.passing_ident()?;
            let mut columns = Vec::new();
            if p.peek() == Tok::LParen {
                columns = p.parenthesised(Self::ident)?;
            }
            p.expect(Kw::AS)?;
            let query = p.query_in_parentheses(true)?;
            let mut cycle = Vec::new();
            if recursive && p.eat(Kw::CYCLE) {
                cycle = p.comma_separated(Self::ident)?;
                p.expect(Kw::RESTRICT)?;
            }
            Ok(Arc::new(Cte {
                name,
                columns,
                query,
                cycle,
            }))
        })?;
        let mut names = HashSet::with_capacity(ctes.len());
        for c in &ctes {
            if !names.insert(c.name.name_key()) {
                return Err(errors::DUP_QUERY_NAME.with([&c.name]));
            }
        }
        Ok(Some(With { recursive, ctes }))
    }

    /// A SELECT up to WINDOW.
    fn simple_select(&mut self) -> SqlResult<Select> {
        let (mut s, subqueries) = self.with_subqueries(Self::select_clauses)?;
        s.subqueries = subqueries;
        s.params = self.params;
        Ok(s)
    }

    fn select_clauses(&mut self) -> SqlResult<Select> {
        let in_set = std::mem::take(&mut self.in_set);
        self.expect(Kw::SELECT)?;
        let mut s = Select::of(Vec::new(), None);
        self.select_options(&mut s)?;
        s.items = self.select_items()?;
        self.select_into(false)?;
        // Of SELECTs put together, INTO is the end.
        if in_set && self.into.is_some() && self.at(Kw::FROM) {
            return Err(self.error());
        }
        if self.eat(Kw::FROM) && !self.eat(Kw::DUAL) {
            s.from = Some(self.from()?);
        }
        s.where_ = self.where_clause()?;
        if self.eat(Kw::GROUP) {
            self.expect(Kw::BY)?;
            s.group_by = self.comma_separated(Self::order_item)?;
            if self.at(Kw::WITH) && self.at_word_nth(1, "CUBE") {
                return Err(SqlError::unsupported("CUBE"));
            }
            s.rollup = self.eat_all(&[Kw::WITH, Kw::ROLLUP]);
        }
        if self.eat(Kw::HAVING) {
            s.having = Some(self.expr()?);
        }
        if self.at(Kw::WINDOW) {
            self.bump();
            s.windows = self.comma_separated(Self::named_window)?;
        }
        Ok(s)
    }

    fn named_window(&mut self) -> SqlResult<(String, WindowSpec)> {
        let name = self.ident()?;
        self.expect(Kw::AS)?;
        Ok((name, self.window()?))
    }

    fn select_options(&mut self, s: &mut Select) -> SqlResult<()> {
        let wrong = |a: &str, b: &str| errors::WRONG_USAGE.with([&a, &b]);
        let mut o = SelectOptions::default();
        let mut all = false;
        while let Tok::Word(k) = self.peek() {
            match k {
                Kw::DISTINCT | Kw::DISTINCTROW => s.distinct = true,
                Kw::UNIQUE if self.oracle() => s.distinct = true,
                Kw::ALL => all = true,
                Kw::SQL_CALC_FOUND_ROWS => s.calc_found_rows = true,
                Kw::STRAIGHT_JOIN => s.straight = true,
                Kw::HIGH_PRIORITY => o.high_priority = true,
                Kw::SQL_SMALL_RESULT => o.small_result = true,
                Kw::SQL_BIG_RESULT => o.big_result = true,
                Kw::SQL_BUFFER_RESULT => o.buffer_result = true,
                Kw::SQL_CACHE | Kw::SQL_NO_CACHE => {
                    let cache = k == Kw::SQL_CACHE;
                    if o.cache == Some(!cache) {
                        return Err(match cache {
                            true => wrong("SQL_CACHE", "SQL_NO_CACHE"),
                            false => wrong("SQL_NO_CACHE", "SQL_CACHE"),
                        });
                    }
                    o.cache = Some(cache);
                }
                _ => break,
            }
            self.bump();
        }
        if all && s.distinct {
            return Err(wrong("ALL", "DISTINCT"));
        }
        s.options = o;
        Ok(())
    }

    /// The select list.
    fn select_items(&mut self) -> SqlResult<Vec<SelectItem>> {
        let mut items = Vec::with_capacity(4);
        // A lone star stands first or not at all.
        if self.eat_tok(Tok::Star) {
            items.push(SelectItem::Wildcard);
        } else {
            items.push(self.select_item()?);
        }
        while self.eat_tok(Tok::Comma) {
            reserve_for(&items)?;
            items.push(self.select_item()?);
        }
        Ok(items)
    }

    /// The list of RETURNING, if it is next.
    pub(super) fn returning(&mut self) -> SqlResult<Vec<SelectItem>> {
        match self.eat(Kw::RETURNING) {
            true => self.select_items(),
            false => Ok(Vec::new()),
        }
    }

    fn select_item(&mut self) -> SqlResult<SelectItem> {
        // t.* and db.t.*
        if self.peek_at(1) == Tok::Dot && self.at_name_token(0) {
            if self.peek_at(2) == Tok::Star {
                let name = self.passing_ident()?;
                self.bump();
                self.bump();
                return Ok(SelectItem::TableWildcard(TableName { db: None, name }));
            }
            if self.at_name_token(2) && self.peek_at(3) == Tok::Dot && self.peek_at(4) == Tok::Star
            {
                let db = Some(self.passing_ident()?);
                self.bump();
                let name = self.passing_ident()?;
                self.bump();
                self.bump();
                return Ok(SelectItem::TableWildcard(TableName { db, name }));
            }
        }
        let (expr, text) = self.named_expr()?;
        let alias = self.column_alias()?;
        Ok(SelectItem::Expr { expr, alias, text })
    }

    fn at_name_token(&self, n: usize) -> bool {
        matches!(self.peek_at(n), Tok::Word(_) | Tok::QuotedIdent)
    }

    /// An expression, and the name of its column if it gets no alias.
    fn named_expr(&mut self) -> SqlResult<(Expr, String)> {
        let first = self.peek_token();
        let expr = self.expr()?;
        let mut bare = &expr;
        let mut plus = false;
        loop {
            bare = match bare {
                Expr::Nested(inner) => inner,
                Expr::Unary {
                    op: UnaryOp::Plus,
                    expr,
                } => {
                    plus = true;
                    expr
                }
                _ => break,
            };
        }
        let text = match bare {
            // A plus sign changes nothing, not even the name.
            Expr::Literal(Literal::String(s) | Literal::Number(s)) if plus => s.clone(),
            Expr::Column(name) => name.clone(),
            Expr::Qualified(q) => q.column.clone(),
            Expr::Literal(Literal::String(s) | Literal::National(s))
                if matches!(first.tok, Tok::String | Tok::NString) =>
            {
                s.clone()
            }
            Expr::Introduced {
                value: Literal::String(s),
                ..
            } if first.tok == Tok::Introducer => s.clone(),
            Expr::Literal(Literal::NullText)
            | Expr::Introduced {
                value: Literal::NullText,
                ..
            } => "NULL".into(),
            // The brackets around a literal are not of its name.
            Expr::Literal(Literal::String(s) | Literal::Number(s))
                if matches!(first.tok, Tok::LParen | Tok::LBrace) =>
            {
                s.clone()
            }
            _ => self.written(first.start as usize, self.behind()),
        };
        Ok((expr, shown_name(text)))
    }

    /// `[AS] alias` of a column.
    pub(super) fn column_alias(&mut self) -> SqlResult<Option<String>> {
        let explicit = self.eat(Kw::AS);
        match self.peek() {
            Tok::String => Ok(Some(shown_name(self.string()?))),
            Tok::Word(Kw::SOUNDS) if !explicit => Ok(None),
            Tok::Word(Kw::MINUS) if !explicit && self.oracle() => Ok(None),
            Tok::Word(k) if !explicit && k.is_reserved() => Ok(None),
            Tok::Word(_) | Tok::QuotedIdent => Ok(Some(self.passing_ident()?)),
            _ if explicit => Err(self.error()),
            _ => Ok(None),
        }
    }

    /// ORDER BY, LIMIT and what follows.
    fn select_tail(&mut self, s: &mut Select) -> SqlResult<()> {
        match self.peek() {
            Tok::End | Tok::RParen | Tok::Semicolon => return Ok(()),
            _ => {}
        }
        let (order_by, subqueries) = self.with_subqueries(Self::order_by)?;
        s.order_by = order_by;
        s.subqueries.extend(subqueries);
        self.select_limit(s)?;
        if self.at(Kw::PROCEDURE) {
            let at = self.here();
            self.procedure_at = Some(at);
            self.bump();
            s.procedure = Some(Box::new(self.select_procedure()?));
            // A SELECT within another one has none.
            if self.peek() == Tok::RParen {
                return Err(self.error_at(at));
            }
            if matches!(s.from, Some(From::Set { .. })) {
                return Err(errors::CANT_USE_OPTION_HERE.with([&"PROCEDURE"]));
            }
        }
        self.select_into(true)?;
        s.locking = self.locking(s.from.as_ref())?;
        // Behind SELECTs that are put together it means the rows of the last one.
        if let (Some(From::Set { rest, .. }), false) = (&mut s.from, s.locking.is_empty())
            && let Some((_, last)) = rest.last_mut()
        {
            last.locking = std::mem::take(&mut s.locking);
        }
        self.select_into(true)
    }

    /// LIMIT with ROWS EXAMINED, or OFFSET and FETCH.
    fn select_limit(&mut self, s: &mut Select) -> SqlResult<()> {
        if self.at(Kw::LIMIT) && !self.at_nth(1, Kw::ROWS) {
            s.limit = self.simple_limit()?;
            if self.eat(Kw::ROWS) {
                self.expect(Kw::EXAMINED)?;
                s.rows_examined = Some(self.limit_value()?);
            }
            return Ok(());
        }
        if self.eat(Kw::LIMIT) {
            self.expect(Kw::ROWS)?;
            self.expect(Kw::EXAMINED)?;
            s.rows_examined = Some(self.limit_value()?);
            return Ok(());
        }
        let rows = |p: &mut Self| -> SqlResult<()> {
            match p.eat(Kw::ROW) || p.eat(Kw::ROWS) {
                true => Ok(()),
                false => Err(p.error()),
            }
        };
        let mut offset = None;
        if self.eat(Kw::OFFSET) {
            offset = Some(self.limit_value()?);
            rows(self)?;
        }
        let number = |n: &str| Expr::Literal(Literal::Number(n.into()));
        if self.eat(Kw::FETCH) {
            if !self.eat(Kw::FIRST) && !self.eat(Kw::NEXT) {
                return Err(self.error());
            }
            let count = match self.peek() {
                Tok::Word(Kw::ROW | Kw::ROWS) => number("1"),
                _ => self.limit_value()?,
            };
            rows(self)?;
            s.with_ties = self.eat_all(&[Kw::WITH, Kw::TIES]);
            if !s.with_ties {
                self.expect(Kw::ONLY)?;
            } else if s.order_by.is_empty() {
                return Err(errors::WITH_TIES_NEEDS_ORDER.plain());
            }
            s.limit = Some(Limit { offset, count });
        } else if let Some(offset) = offset {
            s.limit = Some(Limit {
                offset: Some(offset),
                count: number("18446744073709551615"),
            });
        }
        Ok(())
    }

    fn select_procedure(&mut self) -> SqlResult<Call> {
        let name = self.ident()?;
        match self.call(None, name)? {
            Expr::Call(c) => Ok(*c),
            _ => Err(self.error()),
        }
    }

    /// LIMIT's operand: an integer, `?`, or a variable of a stored program.
    pub(super) fn limit_value(&mut self) -> SqlResult<Expr> {
        match self.peek() {
            Tok::Int => Ok(self.number_literal()),
            Tok::Param(n) => {
                self.bump();
                Ok(Expr::Param(usize::from(n)))
            }
            Tok::Word(k) if self.in_program && !k.is_reserved() => self.name_or_call(),
            Tok::QuotedIdent if self.in_program => self.name_or_call(),
            // A variable, where there is none.
            _ if self.at_ident() => {
                let name = self.ident()?;
                Err(errors::SP_UNDECLARED_VAR.with([&name]))
            }
            _ => Err(self.error()),
        }
    }

    fn locking(&mut self, from: Option<&From>) -> SqlResult<Vec<Locking>> {
        let mut all = Vec::new();
        loop {
            let exclusive = if self.eat_all(&[Kw::FOR, Kw::UPDATE]) {
                true
            } else if is_mysql() && self.eat_all(&[Kw::FOR, Kw::SHARE]) {
                false
            } else if all.is_empty() && self.eat(Kw::LOCK) {
                self.expect(Kw::IN)?;
                self.expect(Kw::SHARE)?;
                self.expect(Kw::MODE)?;
                false
            } else {
                return Ok(all);
            };
            let of = self.locked_tables(from, &all)?;
            let wait = self.locking_wait()?;
            all.push(Locking {
                exclusive,
                wait,
                of,
            });
            if !is_mysql() {
                return Ok(all);
            }
        }
    }

    /// WAIT n, NOWAIT, SKIP LOCKED, if one is next.
    pub(crate) fn locking_wait(&mut self) -> SqlResult<LockWait> {
        self.may_wait()?;
        Ok(if self.eat(Kw::NOWAIT) {
            LockWait::NoWait
        } else if self.eat_all(&[Kw::SKIP, Kw::LOCKED]) {
            LockWait::SkipLocked
        } else if self.eat(Kw::WAIT) {
            LockWait::Seconds(self.uint()?)
        } else {
            LockWait::Default
        })
    }

    /// WHERE, if it is next.
    pub(super) fn where_clause(&mut self) -> SqlResult<Option<Expr>> {
        match self.eat(Kw::WHERE) {
            true => Ok(Some(self.expr()?)),
            false => Ok(None),
        }
    }

    /// ORDER BY and LIMIT of UPDATE and DELETE.
    pub(super) fn order_and_limit(&mut self) -> SqlResult<(Vec<OrderItem>, Option<Expr>)> {
        let order_by = self.order_by()?;
        let limit = match self.eat(Kw::LIMIT) {
            // ROWS EXAMINED is for SELECT alone.
            true if self.at(Kw::ROWS) => {
                self.bump();
                return Err(self.error());
            }
            true => Some(self.limit_value()?),
            false => None,
        };
        Ok((order_by, limit))
    }
}

/// The names that MySQL gives the columns of VALUES.
fn name_columns(items: &mut [SelectItem]) {
    for (n, item) in items.iter_mut().enumerate() {
        if let SelectItem::Expr { alias, .. } = item {
            *alias = Some(format!("column_{n}"));
        }
    }
}

/// True for what goes on with a query behind a parenthesis.
fn continues_query(tok: Tok) -> bool {
    matches!(
        tok,
        Tok::Word(
            Kw::UNION | Kw::INTERSECT | Kw::EXCEPT | Kw::ORDER | Kw::LIMIT | Kw::OFFSET | Kw::FETCH
        )
    )
}

/// Error 1234: only the first SELECT of a statement may have options that are about the whole of it.
fn options_belong_here(s: &Select) -> SqlResult<()> {
    let o = &s.options;
    let misplaced = [
        (s.calc_found_rows, "SQL_CALC_FOUND_ROWS"),
        (o.cache == Some(true), "SQL_CACHE"),
        (o.cache == Some(false), "SQL_NO_CACHE"),
        (o.high_priority, "HIGH_PRIORITY"),
        (o.buffer_result, "SQL_BUFFER_RESULT"),
    ];
    if let Some((_, name)) = misplaced.iter().find(|(there, _)| *there) {
        return Err(errors::CANT_USE_OPTION_HERE.with([name]));
    }
    match &s.from {
        Some(From::Set { first, .. }) => options_belong_here(first),
        _ => Ok(()),
    }
}
