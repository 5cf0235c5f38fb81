//! ALTER TABLE, RENAME TABLE.

use super::P;
use crate::ast::{
    AlterAction, ColumnPlace, DdlStmt, DropKind, TableElements, TableName, TableOptions,
};
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// Behind ALTER \[ONLINE\] \[IGNORE\] TABLE.
    pub(super) fn alter_table(&mut self, ignore: bool) -> SqlResult<DdlStmt> {
        let if_exists = self.if_exists()?;
        let table = self.table_name()?;
        self.no_wait()?;
        let mut actions = Vec::new();
        if !matches!(self.peek(), Token::EOF | Token::SemiColon) {
            actions = self.comma_separated(Self::alter_action)?;
        }
        Ok(DdlStmt::AlterTable {
            ignore,
            if_exists,
            table,
            actions,
        })
    }

    /// Behind RENAME TABLE.
    pub(super) fn rename_table(&mut self) -> SqlResult<DdlStmt> {
        let if_exists = self.if_exists()?;
        let pairs = self.comma_separated(|p| {
            let from = p.table_name()?;
            p.no_wait()?;
            p.expect_kw("TO")?;
            Ok((from, p.table_name()?))
        })?;
        Ok(DdlStmt::RenameTable { if_exists, pairs })
    }

    /// `WAIT n` and `NOWAIT` are not offered.
    pub(super) fn no_wait(&mut self) -> SqlResult<()> {
        if self.peek_kw("WAIT") || self.peek_kw("NOWAIT") {
            return self.unsupported("WAIT and NOWAIT in DDL");
        }
        Ok(())
    }

    fn alter_action(&mut self) -> SqlResult<AlterAction> {
        if self.kw("ADD") {
            return self.alter_add();
        }
        if self.kw("DROP") {
            return self.alter_drop();
        }
        if self.kw("MODIFY") {
            self.kw("COLUMN");
            let if_exists = self.if_exists()?;
            return self.alter_change(None, if_exists);
        }
        if self.kw("CHANGE") {
            self.kw("COLUMN");
            let if_exists = self.if_exists()?;
            let column = self.ident()?;
            return self.alter_change(Some(column), if_exists);
        }
        if self.kw("RENAME") {
            return self.alter_rename();
        }
        if self.kw("ALTER") {
            if self.peek_kw("INDEX") || self.peek_kw("KEY") {
                return self.unsupported("IGNORED indexes");
            }
            self.kw("COLUMN");
            let if_exists = self.if_exists()?;
            let column = self.ident()?;
            let default = if self.kw("DROP") {
                self.expect_kw("DEFAULT")?;
                None
            } else {
                self.expect_kw("SET")?;
                self.expect_kw("DEFAULT")?;
                Some(self.default_value()?)
            };
            return Ok(AlterAction::SetDefault {
                column,
                default,
                if_exists,
            });
        }
        if self.kw("CONVERT") {
            self.expect_kw("TO")?;
            let mut collation = None;
            while self.charset_options(&mut collation)? {}
            let Some(collation) = collation else {
                return Err(self.error());
            };
            return Ok(AlterAction::ConvertTo(collation));
        }
        if self.kw2("ORDER", "BY") {
            // The rest of the statement: more columns behind commas are columns of it.
            loop {
                self.ident()?;
                let _ = self.kw("ASC") || self.kw("DESC");
                if *self.peek() != Token::Comma {
                    return Ok(AlterAction::OrderBy);
                }
                self.next();
            }
        }
        if self.kw("FORCE") {
            return Ok(AlterAction::Force);
        }
        if self.kw2("DISABLE", "KEYS") || self.kw2("ENABLE", "KEYS") {
            return Ok(AlterAction::KeysNoOp);
        }
        if self.kw("ALGORITHM") {
            self.tok(&Token::Eq);
            return Ok(AlterAction::Algorithm(
                self.option_word()?.to_ascii_uppercase(),
            ));
        }
        if self.kw("LOCK") {
            self.tok(&Token::Eq);
            return Ok(AlterAction::Lock(self.option_word()?.to_ascii_uppercase()));
        }
        let mut options = TableOptions::default();
        if self.table_option(&mut options)? {
            while self.table_option(&mut options)? {}
            return Ok(AlterAction::Options(options));
        }
        for what in [
            "PARTITION",
            "REORGANIZE",
            "COALESCE",
            "TRUNCATE",
            "DISCARD",
            "IMPORT",
            "ANALYZE",
            "CHECK",
            "OPTIMIZE",
            "REBUILD",
            "REPAIR",
            "EXCHANGE",
            "REMOVE",
        ] {
            if self.peek_kw(what) {
                return self.unsupported(&format!("ALTER TABLE ... {what}"));
            }
        }
        Err(self.error())
    }

    fn alter_add(&mut self) -> SqlResult<AlterAction> {
        let mut elements = TableElements::default();
        if self.peek_kw("PARTITION") || self.peek_kw("SYSTEM") {
            let what = self.word_for_message();
            return self.unsupported(&format!("ALTER TABLE ... ADD {what}"));
        }
        if !self.kw("COLUMN") && self.is_element_of_table() {
            self.create_element(&mut elements)?;
            return Ok(AlterAction::Add {
                elements,
                place: None,
                if_not_exists: false,
            });
        }
        let if_not_exists = self.if_not_exists()?;
        if self.tok(&Token::LParen) {
            loop {
                self.create_element(&mut elements)?;
                if !self.tok(&Token::Comma) {
                    break;
                }
            }
            self.expect_tok(&Token::RParen)?;
            return Ok(AlterAction::Add {
                elements,
                place: None,
                if_not_exists,
            });
        }
        self.column(&mut elements)?;
        let place = self.column_place()?;
        Ok(AlterAction::Add {
            elements,
            place,
            if_not_exists,
        })
    }

    fn alter_drop(&mut self) -> SqlResult<AlterAction> {
        if self.peek_kw("PARTITION") || self.peek_kw("SYSTEM") {
            let what = self.word_for_message();
            return self.unsupported(&format!("ALTER TABLE ... DROP {what}"));
        }
        if self.kw2("PRIMARY", "KEY") {
            return Ok(AlterAction::Drop {
                kind: DropKind::Index,
                name: "PRIMARY".to_string(),
                if_exists: false,
            });
        }
        let kind = if self.kw2("FOREIGN", "KEY") {
            DropKind::ForeignKey
        } else if self.kw("CONSTRAINT") {
            DropKind::Constraint
        } else if self.kw("INDEX") || self.kw("KEY") {
            DropKind::Index
        } else {
            self.kw("COLUMN");
            DropKind::Column
        };
        let if_exists = self.if_exists()?;
        let name = if kind == DropKind::Index {
            self.index_name_or_primary()?
        } else {
            self.ident()?
        };
        if kind == DropKind::Column {
            let _ = self.kw("RESTRICT") || self.kw("CASCADE");
        }
        Ok(AlterAction::Drop {
            kind,
            name,
            if_exists,
        })
    }

    /// The new definition of a column; `None`: it says the name itself (MODIFY).
    fn alter_change(&mut self, column: Option<String>, if_exists: bool) -> SqlResult<AlterAction> {
        let mut elements = TableElements::default();
        self.column(&mut elements)?;
        let place = self.column_place()?;
        let column = match (column, elements.columns.first()) {
            (Some(c), _) => c,
            (None, Some(c)) => c.def.name.clone(),
            (None, None) => return Err(self.error()),
        };
        Ok(AlterAction::Change {
            column,
            elements,
            place,
            if_exists,
        })
    }

    fn column_place(&mut self) -> SqlResult<Option<ColumnPlace>> {
        if self.kw("FIRST") {
            return Ok(Some(ColumnPlace::First));
        }
        if self.kw("AFTER") {
            return Ok(Some(ColumnPlace::After(self.ident()?)));
        }
        Ok(None)
    }

    fn alter_rename(&mut self) -> SqlResult<AlterAction> {
        let column = self.kw("COLUMN");
        if column || self.kw("INDEX") || self.kw("KEY") {
            let if_exists = self.if_exists()?;
            let from = self.ident()?;
            self.expect_kw("TO")?;
            let to = self.ident()?;
            return Ok(if column {
                AlterAction::RenameColumn {
                    from,
                    to,
                    if_exists,
                }
            } else {
                AlterAction::RenameIndex {
                    from,
                    to,
                    if_exists,
                }
            });
        }
        let _ = self.kw("TO") || self.kw("AS") || self.tok(&Token::Eq);
        let to: TableName = self.table_name()?;
        Ok(AlterAction::RenameTo(to))
    }
}
