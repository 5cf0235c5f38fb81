//! CHECK, FOREIGN KEY and GENERATED ALWAYS AS.

use super::P;
use crate::ast::{AstExpr, CheckSpec, ForeignKeySpec, TableElements};
use narwal_engine::ForeignAction;
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// True if CHECK or FOREIGN KEY is next, perhaps behind CONSTRAINT and a name.
    pub(super) fn is_constraint_start(&self) -> bool {
        let at = |n: usize| {
            self.peek_kw_nth(n, "FOREIGN")
                || (self.peek_kw_nth(n, "CHECK") && *self.peek_nth(n + 1) == Token::LParen)
        };
        if !self.peek_kw("CONSTRAINT") {
            return at(0);
        }
        if self.peek_kw_nth(1, "IF") {
            return at(5);
        }
        at(1) || at(2)
    }

    /// `[CONSTRAINT [IF NOT EXISTS] [name]] CHECK (...)` or `... FOREIGN KEY ...`.
    pub(super) fn constraint(&mut self, t: &mut TableElements) -> SqlResult<()> {
        let mut name = None;
        let mut if_not_exists = false;
        if self.kw("CONSTRAINT") {
            if_not_exists = self.if_not_exists()?;
            if !(self.peek_kw("FOREIGN")
                || (self.peek_kw("CHECK") && *self.peek_nth(1) == Token::LParen))
            {
                name = Some(self.ident()?);
            }
        }
        if self.kw("CHECK") {
            let expr = self.in_parentheses()?;
            t.checks.push(CheckSpec {
                name,
                if_not_exists,
                expr,
            });
            return Ok(());
        }
        self.expect_kw("FOREIGN")?;
        self.expect_kw("KEY")?;
        if_not_exists |= self.if_not_exists()?;
        let index = match self.peek() {
            Token::LParen => None,
            _ => Some(self.ident()?),
        };
        let columns = self.column_names()?;
        let mut key = self.references()?;
        key.name = name;
        key.index = index;
        key.if_not_exists = if_not_exists;
        key.columns = columns;
        t.foreign_keys.push(key);
        Ok(())
    }

    fn column_names(&mut self) -> SqlResult<Vec<String>> {
        self.expect_tok(&Token::LParen)?;
        let names = self.comma_separated(Self::ident)?;
        self.expect_tok(&Token::RParen)?;
        Ok(names)
    }

    /// `REFERENCES table (columns) [MATCH ...] [ON DELETE ...] [ON UPDATE ...]`.
    pub(super) fn references(&mut self) -> SqlResult<ForeignKeySpec> {
        self.expect_kw("REFERENCES")?;
        let parent = self.table_name()?;
        let parent_columns = if *self.peek() == Token::LParen {
            self.column_names()?
        } else {
            Vec::new()
        };
        if self.kw("MATCH") && !(self.kw("FULL") || self.kw("PARTIAL") || self.kw("SIMPLE")) {
            return Err(self.error());
        }
        let mut on_delete = None;
        let mut on_update = None;
        while self.peek_kw("ON") {
            let slot = if self.kw2("ON", "DELETE") {
                &mut on_delete
            } else if self.kw2("ON", "UPDATE") {
                &mut on_update
            } else {
                return Err(self.error());
            };
            if slot.is_some() {
                return Err(self.error());
            }
            *slot = Some(self.foreign_action()?);
        }
        Ok(ForeignKeySpec {
            name: None,
            index: None,
            if_not_exists: false,
            columns: Vec::new(),
            parent,
            parent_columns,
            on_delete: on_delete.unwrap_or_default(),
            on_update: on_update.unwrap_or_default(),
        })
    }

    fn foreign_action(&mut self) -> SqlResult<ForeignAction> {
        Ok(if self.kw("RESTRICT") {
            ForeignAction::Restrict
        } else if self.kw("CASCADE") {
            ForeignAction::Cascade
        } else if self.kw2("SET", "NULL") {
            ForeignAction::SetNull
        } else if self.kw2("NO", "ACTION") {
            ForeignAction::NoAction
        } else if self.kw2("SET", "DEFAULT") {
            return self.unsupported("ON DELETE SET DEFAULT");
        } else {
            return Err(self.error());
        })
    }

    /// `(expression)`
    pub(super) fn in_parentheses(&mut self) -> SqlResult<AstExpr> {
        self.expect_tok(&Token::LParen)?;
        let e = self.expr()?;
        self.expect_tok(&Token::RParen)?;
        Ok(e)
    }

    /// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED | PERSISTENT]`, whose first word is next. The expression, and
    /// whether it is stored.
    pub(super) fn generated(&mut self) -> SqlResult<(AstExpr, bool)> {
        if self.kw("GENERATED") {
            self.expect_kw("ALWAYS")?;
        }
        self.expect_kw("AS")?;
        if self.kw("ROW") {
            return self.unsupported("GENERATED ALWAYS AS ROW");
        }
        let e = self.in_parentheses()?;
        let stored = self.kw("STORED") || self.kw("PERSISTENT");
        if !stored {
            self.kw("VIRTUAL");
        }
        Ok((e, stored))
    }
}
