//! ALTER TABLE.

use super::P;
use crate::ast::AlterAction;
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn alter_action(&mut self) -> SqlResult<AlterAction> {
        if self.kw("ADD") {
            if self.is_index_start() {
                return Ok(AlterAction::AddIndex(self.index_spec()?));
            }
            return self.unsupported("ALTER TABLE ... ADD COLUMN");
        }
        if self.kw("DROP") {
            if self.kw("INDEX") || self.kw("KEY") {
                if self.peek_kw("IF") {
                    return self.unsupported("DROP INDEX IF EXISTS in ALTER TABLE");
                }
                return Ok(AlterAction::DropIndex(self.index_name_or_primary()?));
            }
            if self.kw2("PRIMARY", "KEY") {
                return Ok(AlterAction::DropIndex("PRIMARY".to_string()));
            }
            return self.unsupported("ALTER TABLE ... DROP COLUMN");
        }
        if self.kw("ENGINE") {
            self.tok(&Token::Eq);
            return Ok(AlterAction::Engine(self.option_word()?));
        }
        if self.kw2("DISABLE", "KEYS") || self.kw2("ENABLE", "KEYS") {
            return Ok(AlterAction::KeysNoOp);
        }
        let what = self.word_for_message();
        self.unsupported(&format!("ALTER TABLE ... {what}"))
    }
}
