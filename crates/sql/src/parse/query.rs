//! Query expressions: SELECTs put together by UNION, INTERSECT and EXCEPT, VALUES as a table, and WITH.

use super::P;
use crate::ast::{Cte, From, Select, SelectItem, SetKind, SetOp, With};
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::Token;
use std::sync::Arc;

/// A SELECT and those put together with it.
type Group = (Select, Vec<(SetOp, Select)>);

const UNION_ALL: SetOp = SetOp {
    kind: SetKind::Union,
    all: true,
};

impl P<'_> {
    /// A query: SELECTs in parentheses or not, put together or one alone, up to the end of its clauses.
    pub(super) fn select(&mut self) -> SqlResult<Select> {
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
            if parenthesised {
                let order = self.peek_kw("ORDER");
                if order || self.peek_kw("LIMIT") {
                    // Clauses behind the parenthesis belong to what is in it, where they do not disagree.
                    if first.limit.is_some()
                        || first.locking.is_some()
                        || (order && !first.order_by.is_empty())
                    {
                        first = self.around(first, Vec::new());
                    }
                    let order_by = std::mem::take(&mut first.order_by);
                    self.select_tail(&mut first)?;
                    if first.order_by.is_empty() {
                        first.order_by = order_by;
                    }
                }
                return Ok(first);
            }
            self.select_tail(&mut first)?;
            return Ok(first);
        };
        let calc_found_rows = std::mem::take(&mut first.calc_found_rows);
        // INTERSECT binds tighter than the others.
        let mut groups: Vec<(SetOp, Group)> = vec![(UNION_ALL, (first, Vec::new()))];
        let mut op = Some(op);
        while let Some(o) = op {
            let term = self.select_term()?.0;
            match groups.last_mut() {
                Some((_, group)) if o.kind == SetKind::Intersect => group.1.push((o, term)),
                _ => groups.push((o, (term, Vec::new()))),
            }
            op = self.set_operation()?;
        }
        let mut groups = groups.into_iter();
        let (first, mut rest) = groups.next().map(|(_, g)| g).ok_or_else(|| self.error())?;
        let mut first = first;
        for (op, (term, inner)) in groups {
            if rest.iter().any(|(o, _)| o.kind == SetKind::Intersect) {
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
        self.select_tail(&mut all)?;
        Ok(all)
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
        let kind = if self.kw("UNION") {
            SetKind::Union
        } else if self.kw("INTERSECT") {
            SetKind::Intersect
        } else if self.kw("EXCEPT") {
            SetKind::Except
        } else {
            return Ok(None);
        };
        let all = self.kw("ALL");
        if !all {
            self.kw("DISTINCT");
        }
        Ok(Some(SetOp { kind, all }))
    }

    /// A query in parentheses (true), a SELECT up to HAVING, or VALUES.
    fn select_term(&mut self) -> SqlResult<(Select, bool)> {
        if let Some(s) = self.query_in_parentheses()? {
            return Ok((s, true));
        }
        if self.kw("VALUES") {
            return Ok((self.table_values()?, true));
        }
        Ok((self.simple_select()?, false))
    }

    fn query_in_parentheses(&mut self) -> SqlResult<Option<Select>> {
        if let Some(s) = self.parenthesised_select()? {
            return Ok(Some(s));
        }
        if !self.tok(&Token::LParen) {
            return Ok(None);
        }
        let s = self.nested(Self::select)?;
        self.expect_tok(&Token::RParen)?;
        Ok(Some(s))
    }

    /// The query of a derived table, if one is next.
    pub(super) fn derived_query(&mut self) -> SqlResult<Option<Select>> {
        if *self.peek() == Token::LParen && Self::is_kw(self.peek_nth(1), "VALUES") {
            return self.query_in_parentheses();
        }
        self.parenthesised_select()
    }

    /// Behind VALUES: rows, as SELECTs put together.
    fn table_values(&mut self) -> SqlResult<Select> {
        let mut rows = self.comma_separated(|p| {
            p.expect_tok(&Token::LParen)?;
            let start = p.here();
            let items = p.comma_separated(Self::select_item)?;
            p.expect_tok(&Token::RParen)?;
            Ok(Select {
                subqueries: p.subqueries_since(start),
                params: p.params,
                ..Select::of(items, None)
            })
        })?;
        let width = rows[0].items.len();
        if rows.iter().any(|r| r.items.len() != width) {
            return Err(SqlError::new(
                4099,
                b"HY000",
                "The used table value constructor has a different number of values",
            ));
        }
        let first = rows.remove(0);
        Ok(self.around(first, rows.into_iter().map(|r| (UNION_ALL, r)).collect()))
    }

    fn with_clause(&mut self) -> SqlResult<Option<With>> {
        if !self.kw("WITH") {
            return Ok(None);
        }
        let recursive = self.kw("RECURSIVE");
        let ctes = self.comma_separated(|p| {
            let name = p.ident()?;
            let mut columns = Vec::new();
            if *p.peek() == Token::LParen {
                p.next();
                columns = p.comma_separated(Self::ident)?;
                p.expect_tok(&Token::RParen)?;
            }
            p.expect_kw("AS")?;
            let query = p.query_in_parentheses()?.ok_or_else(|| p.error())?;
            if p.peek_kw("CYCLE") {
                return p.unsupported("CYCLE");
            }
            Ok(Arc::new(Cte {
                name,
                columns,
                query,
            }))
        })?;
        for (i, c) in ctes.iter().enumerate() {
            if ctes[..i]
                .iter()
                .any(|o| o.name.eq_ignore_ascii_case(&c.name))
            {
                return Err(SqlError::new(
                    4004,
                    b"HY000",
                    format!("Duplicate query name `{}` in WITH clause", c.name),
                ));
            }
        }
        Ok(Some(With { recursive, ctes }))
    }
}
