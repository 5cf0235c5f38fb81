//! ALTER TABLE.

use super::ddl;
use super::option::fits_set;
use crate::ast::ddl::{
    AlterAction, AlterPartitioning, AlterTable, ChangeOptions, CharsetOption, ColumnPlace, Ddl,
    DropKind, TableElement,
};
use crate::ast::{Statement, TableName};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::face::is_mysql;

impl Parser<'_> {
    /// `[ONLINE] [IGNORE] TABLE ...`
    pub(super) fn alter_table(&mut self) -> SqlResult<Statement> {
        let (mut online, mut ignore) = (false, false);
        loop {
            if !online && self.eat(Kw::ONLINE) {
                online = true;
            } else if !ignore && self.eat(Kw::IGNORE) {
                ignore = true;
            } else {
                break;
            }
        }
        self.expect(Kw::TABLE)?;
        let mut t = AlterTable {
            ignore,
            online,
            if_exists: self.may_miss()?,
            table: self.table_name()?,
            wait: self.metadata_wait()?,
            actions: Vec::new(),
            partitioning: None,
        };
        self.alter_actions(&mut t)?;
        Ok(ddl(Ddl::AlterTable(t)))
    }

    fn alter_actions(&mut self, t: &mut AlterTable) -> SqlResult<()> {
        if let Some(alone) = self.alter_alone()? {
            t.actions.push(alone);
            return Ok(());
        }
        if !matches!(self.peek(), Tok::End | Tok::Semicolon) && !self.at_partitioning() {
            loop {
                let action = self.alter_action(&t.table)?;
                let order = matches!(action, AlterAction::OrderBy(_));
                t.actions.push(action);
                if order || !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        if self.at(Kw::PARTITION) {
            t.partitioning = Some(AlterPartitioning::By(Box::new(self.partition_by()?)));
        } else if self.eat(Kw::REMOVE) {
            self.expect(Kw::PARTITIONING)?;
            t.partitioning = Some(AlterPartitioning::Remove);
        }
        Ok(())
    }

    fn at_partitioning(&self) -> bool {
        self.at(Kw::PARTITION) || (self.at(Kw::REMOVE) && self.at_nth(1, Kw::PARTITIONING))
    }

    /// An action that no other may stand beside, if it is next.
    fn alter_alone(&mut self) -> SqlResult<Option<AlterAction>> {
        if self.at_nth(1, Kw::TABLESPACE) && (self.at(Kw::DISCARD) || self.at(Kw::IMPORT)) {
            let discard = self.bump().tok == Tok::Word(Kw::DISCARD);
            self.bump();
            return Ok(Some(AlterAction::DiscardTablespace(discard)));
        }
        Ok(self.partition_action()?.map(AlterAction::Partition))
    }

    fn alter_action(&mut self, table: &TableName) -> SqlResult<AlterAction> {
        let Tok::Word(word) = self.peek() else {
            return self.alter_options();
        };
        match word {
            Kw::ADD => {
                self.bump();
                self.alter_add(table)
            }
            Kw::DROP => {
                self.bump();
                self.alter_drop(table)
            }
            Kw::MODIFY | Kw::CHANGE => self.alter_change(table),
            Kw::RENAME => {
                self.bump();
                self.alter_rename()
            }
            Kw::ALTER => {
                self.bump();
                self.alter_alter(table)
            }
            Kw::CONVERT => {
                self.bump();
                self.convert_to()
            }
            Kw::ORDER => {
                self.bump();
                self.expect(Kw::BY)?;
                self.alter_order()
            }
            Kw::DISCARD | Kw::IMPORT => {
                if !self.at_nth(1, Kw::TABLESPACE) {
                    self.bump();
                }
                Err(self.error())
            }
            Kw::FORCE => {
                self.bump();
                Ok(AlterAction::Force)
            }
            Kw::DISABLE | Kw::ENABLE => {
                self.bump();
                self.expect(Kw::KEYS)?;
                Ok(AlterAction::DisableKeys(word == Kw::DISABLE))
            }
            Kw::ALGORITHM | Kw::LOCK => {
                let mut how = ChangeOptions::default();
                self.change_option(&mut how)?;
                Ok(AlterAction::How(how))
            }
            _ => self.alter_options(),
        }
    }

    /// Table options without commas between.
    fn alter_options(&mut self) -> SqlResult<AlterAction> {
        let mut options = Vec::new();
        while let Some(o) = self.table_option()? {
            options.push(o);
        }
        match options.is_empty() {
            true => Err(self.error()),
            false => Ok(AlterAction::Options(options)),
        }
    }

    /// Behind ADD.
    fn alter_add(&mut self, table: &TableName) -> SqlResult<AlterAction> {
        if self.eat_all(&[Kw::SYSTEM, Kw::VERSIONING]) {
            return Ok(AlterAction::SystemVersioning(true));
        }
        let add = |elements, place, if_not_exists| AlterAction::Add {
            elements,
            place,
            if_not_exists,
        };
        let column = self.eat(Kw::COLUMN);
        if !column {
            if self.at(Kw::PERIOD) && (self.at_nth(1, Kw::IF) || self.at_nth(1, Kw::FOR)) {
                self.bump();
                let if_not_exists = self.if_not_exists()?;
                self.expect(Kw::FOR)?;
                let period = TableElement::Period(self.period(if_not_exists)?);
                return Ok(add(vec![period], None, false));
            }
            if let Some(e) = self.element_but_column(false)? {
                return Ok(add(vec![e], None, false));
            }
        }
        let if_not_exists = self.if_not_exists()?;
        if self.eat_tok(Tok::LParen) {
            let elements = self.comma_separated(|p| p.table_element(table, false))?;
            self.expect_tok(Tok::RParen)?;
            return Ok(add(elements, None, if_not_exists));
        }
        let c = TableElement::Column(self.column(table, true)?);
        let place = self.column_place()?;
        Ok(add(vec![c], place, if_not_exists))
    }

    /// Behind DROP.
    fn alter_drop(&mut self, table: &TableName) -> SqlResult<AlterAction> {
        if self.eat_all(&[Kw::SYSTEM, Kw::VERSIONING]) {
            return Ok(AlterAction::SystemVersioning(false));
        }
        if self.at(Kw::PRIMARY) {
            return self.drop_primary();
        }
        if self.at(Kw::PERIOD) && (self.at_nth(1, Kw::IF) || self.at_nth(1, Kw::FOR)) {
            self.bump();
            let if_exists = self.if_exists()?;
            self.expect(Kw::FOR)?;
            let name = self.ident()?;
            return Ok(AlterAction::Drop {
                kind: DropKind::Period,
                name,
                if_exists,
            });
        }
        if is_mysql() && self.eat(Kw::CHECK) {
            return Ok(AlterAction::Drop {
                kind: DropKind::Check,
                name: self.ident()?,
                if_exists: false,
            });
        }
        let kind = if self.eat(Kw::FOREIGN) {
            self.expect(Kw::KEY)?;
            DropKind::ForeignKey
        } else if self.eat(Kw::CONSTRAINT) {
            if self.at(Kw::PRIMARY) {
                return self.drop_primary();
            }
            DropKind::Constraint
        } else if self.eat(Kw::INDEX) || self.eat(Kw::KEY) {
            DropKind::Index
        } else {
            self.eat(Kw::COLUMN);
            DropKind::Column
        };
        let if_exists = self.if_exists()?;
        if kind == DropKind::Column {
            let name = self.field_name(table)?;
            self.restrict();
            return Ok(AlterAction::Drop {
                kind,
                name,
                if_exists,
            });
        }
        let name = self.ident()?;
        Ok(AlterAction::Drop {
            kind,
            name,
            if_exists,
        })
    }

    /// `PRIMARY KEY`
    fn drop_primary(&mut self) -> SqlResult<AlterAction> {
        self.expect(Kw::PRIMARY)?;
        self.expect(Kw::KEY)?;
        Ok(AlterAction::Drop {
            kind: DropKind::Index,
            name: "PRIMARY".to_string(),
            if_exists: false,
        })
    }

    /// MODIFY and CHANGE.
    fn alter_change(&mut self, table: &TableName) -> SqlResult<AlterAction> {
        let change = self.bump().tok == Tok::Word(Kw::CHANGE);
        self.eat(Kw::COLUMN);
        let if_exists = self.if_exists()?;
        let named = if change {
            Some(self.field_name(table)?)
        } else {
            None
        };
        let to = self.column(table, false)?;
        let place = self.column_place()?;
        let column = named.unwrap_or_else(|| to.name.clone());
        Ok(AlterAction::Change {
            column,
            to,
            place,
            if_exists,
        })
    }

    fn column_place(&mut self) -> SqlResult<Option<ColumnPlace>> {
        if self.eat(Kw::FIRST) {
            return Ok(Some(ColumnPlace::First));
        }
        if self.eat(Kw::AFTER) {
            return Ok(Some(ColumnPlace::After(self.ident()?)));
        }
        Ok(None)
    }

    /// Behind RENAME.
    fn alter_rename(&mut self) -> SqlResult<AlterAction> {
        let column = self.eat(Kw::COLUMN);
        if column || self.eat(Kw::INDEX) || self.eat(Kw::KEY) {
            let if_exists = self.if_exists()?;
            let from = self.ident()?;
            self.expect(Kw::TO)?;
            let to = self.ident()?;
            return Ok(match column {
                true => AlterAction::RenameColumn {
                    from,
                    to,
                    if_exists,
                },
                false => AlterAction::RenameIndex {
                    from,
                    to,
                    if_exists,
                },
            });
        }
        let _ = self.eat(Kw::TO) || self.eat(Kw::AS) || self.eat_tok(Tok::Eq);
        Ok(AlterAction::RenameTo(self.table_name()?))
    }

    /// Behind ALTER: a column's default, or whether an index is ignored.
    fn alter_alter(&mut self, table: &TableName) -> SqlResult<AlterAction> {
        if let Some(action) = self.enforce_check()? {
            return Ok(action);
        }
        if self.eat(Kw::INDEX) || self.eat(Kw::KEY) {
            let if_exists = self.if_exists()?;
            let index = self.ident()?;
            let ignored = self.ignored()?;
            return Ok(AlterAction::IgnoreIndex {
                index,
                ignored,
                if_exists,
            });
        }
        self.eat(Kw::COLUMN);
        let if_exists = self.if_exists()?;
        let column = self.field_name(table)?;
        let default = if self.eat(Kw::DROP) {
            self.expect(Kw::DEFAULT)?;
            None
        } else {
            self.expect(Kw::SET)?;
            self.expect(Kw::DEFAULT)?;
            Some(self.column_default()?)
        };
        Ok(AlterAction::SetDefault {
            column,
            default,
            if_exists,
        })
    }

    /// Behind CONVERT.
    fn convert_to(&mut self) -> SqlResult<AlterAction> {
        self.expect(Kw::TO)?;
        if !self.eat_charset_words() {
            return Err(self.error());
        }
        let charset = match self.eat(Kw::DEFAULT) {
            true => None,
            false => Some(self.known_charset()?),
        };
        let mut options = vec![CharsetOption::Charset(charset.clone())];
        if self.eat(Kw::COLLATE) {
            let collation = self.collation_or_default()?;
            fits_set(charset.as_deref(), collation.as_deref())?;
            options.push(CharsetOption::Collate(collation));
        }
        Ok(AlterAction::ConvertTo(options))
    }

    /// Columns behind ORDER BY; more of them behind commas are not actions.
    fn alter_order(&mut self) -> SqlResult<AlterAction> {
        let columns = self.comma_separated(|p| {
            let mut column = p.ident()?;
            while p.eat_tok(Tok::Dot) {
                column.push('.');
                column.push_str(&p.ident()?);
            }
            let desc = p.eat(Kw::DESC);
            if !desc {
                p.eat(Kw::ASC);
            }
            Ok((column, desc))
        })?;
        Ok(AlterAction::OrderBy(columns))
    }
}
