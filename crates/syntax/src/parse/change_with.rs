//! WITH in front of UPDATE and DELETE, as MySQL has it: its tables are put where they are named.

use crate::ast::{From, Select, SelectItem, Statement, With};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::face::is_mysql;
use narwal_types::{Name, SqlResult};

impl Parser<'_> {
    /// WITH is next, and behind its tables an UPDATE or DELETE.
    pub(super) fn at_change_behind_with(&self) -> bool {
        if !is_mysql() {
            return false;
        }
        let mut depth = 0usize;
        for n in 0.. {
            match self.peek_at(n) {
                Tok::LParen => depth += 1,
                Tok::RParen => depth = depth.saturating_sub(1),
                Tok::Word(Kw::UPDATE | Kw::DELETE) if depth == 0 => return true,
                Tok::Word(Kw::SELECT | Kw::VALUES | Kw::TABLE) if depth == 0 => return false,
                Tok::End => return false,
                _ => {}
            }
        }
        false
    }

    /// `WITH ... UPDATE` and `WITH ... DELETE`.
    pub(super) fn change_with(&mut self) -> SqlResult<Statement> {
        let with = self.with_clause()?;
        let mut statement = match self.at(Kw::UPDATE) {
            true => self.update()?,
            false => self.delete()?,
        };
        let Some(with) = with else {
            return Ok(statement);
        };
        let subqueries = match &mut statement {
            Statement::Update(u) => &mut u.subqueries,
            Statement::Delete(d) => &mut d.subqueries,
            Statement::WriteJoin(w) => {
                if let Some(from) = &mut w.select.from {
                    put_tables(from, &with, self.params);
                }
                &mut w.select.subqueries
            }
            _ => return Err(self.error()),
        };
        for (_, query) in subqueries {
            put_with(query, &with);
        }
        Ok(statement)
    }
}

/// Puts tables of WITH where a FROM names them.
fn put_tables(from: &mut From, with: &With, params: usize) {
    match from {
        From::Table(t) => {
            let is_it = |n: &str| n.same_name(&t.name.name);
            if t.name.db.is_some() || !with.ctes.iter().any(|c| is_it(&c.name)) {
                return;
            }
            let mut table = t.clone();
            let alias = table.alias.take().unwrap_or_else(|| t.name.name.clone());
            let query = Select {
                with: Some(with.clone()),
                params,
                ..Select::of(vec![SelectItem::Wildcard], From::Table(table))
            };
            *from = From::Query {
                query: Box::new(query),
                alias,
                columns: Vec::new(),
                lateral: false,
            };
        }
        From::Join(j) => {
            put_tables(&mut j.left, with, params);
            put_tables(&mut j.right, with, params);
        }
        From::Query { query, .. } => put_with(query, with),
        From::Set { .. } | From::JsonTable(_) => {}
    }
}

/// Lets a query inside see the tables of a WITH around it, behind which its own come.
fn put_with(query: &mut Select, with: &With) {
    let mut all = with.clone();
    if let Some(own) = query.with.take() {
        let is_own = |name: &str| own.ctes.iter().any(|c| c.name.same_name(name));
        all.ctes.retain(|c| !is_own(&c.name));
        all.ctes.extend(own.ctes);
        all.recursive |= own.recursive;
    }
    query.with = Some(all);
}
