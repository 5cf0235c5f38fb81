//! ALTER TABLE's actions about partitions.

use crate::ast::ddl::{PartitionAction, PartitionNames};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

impl Parser<'_> {
    /// An action about partitions, if one is next.
    pub(super) fn partition_action(&mut self) -> SqlResult<Option<PartitionAction>> {
        let Tok::Word(word) = self.peek() else {
            return Ok(None);
        };
        let convert_table = word == Kw::CONVERT && self.at_nth(1, Kw::TABLE);
        if !convert_table && !self.at_nth(1, Kw::PARTITION) {
            return Ok(None);
        }
        let own = [
            Kw::ADD,
            Kw::DROP,
            Kw::REBUILD,
            Kw::OPTIMIZE,
            Kw::ANALYZE,
            Kw::CHECK,
            Kw::REPAIR,
            Kw::TRUNCATE,
            Kw::COALESCE,
            Kw::REORGANIZE,
            Kw::EXCHANGE,
            Kw::CONVERT,
        ];
        if !own.contains(&word) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        Ok(Some(match word {
            Kw::ADD => self.add_partition()?,
            Kw::DROP => PartitionAction::Drop {
                if_exists: self.if_exists()?,
                names: self.comma_separated(Self::ident)?,
            },
            Kw::COALESCE => {
                self.no_write_to_binlog();
                PartitionAction::Coalesce(self.uint()?)
            }
            Kw::REORGANIZE => self.reorganize_partition()?,
            Kw::EXCHANGE => {
                let partition = self.ident()?;
                self.expect(Kw::WITH)?;
                self.expect(Kw::TABLE)?;
                PartitionAction::Exchange {
                    partition,
                    table: self.table_name()?,
                }
            }
            Kw::CONVERT if convert_table => {
                let table = self.table_name()?;
                self.expect(Kw::TO)?;
                self.expect(Kw::PARTITION)?;
                PartitionAction::FromTable {
                    table,
                    partition: self.partition(false)?,
                }
            }
            Kw::CONVERT => {
                let partition = self.ident()?;
                self.expect(Kw::TO)?;
                self.expect(Kw::TABLE)?;
                PartitionAction::ToTable {
                    partition,
                    table: self.table_name()?,
                }
            }
            _ => self.maintain_partition(word)?,
        }))
    }

    fn no_write_to_binlog(&mut self) {
        let _ = self.eat(Kw::NO_WRITE_TO_BINLOG) || self.eat(Kw::LOCAL);
    }

    fn add_partition(&mut self) -> SqlResult<PartitionAction> {
        let if_not_exists = self.if_not_exists()?;
        self.no_write_to_binlog();
        let (mut count, mut list) = (None, Vec::new());
        if self.eat(Kw::PARTITIONS) {
            count = Some(self.uint()?);
        } else {
            list = self.partition_definitions()?;
        }
        Ok(PartitionAction::Add {
            if_not_exists,
            count,
            list,
        })
    }

    fn reorganize_partition(&mut self) -> SqlResult<PartitionAction> {
        self.no_write_to_binlog();
        let (mut names, mut into) = (Vec::new(), Vec::new());
        if self.at_ident() {
            names = self.comma_separated(Self::ident)?;
            self.expect(Kw::INTO)?;
            into = self.partition_definitions()?;
        }
        Ok(PartitionAction::Reorganize { names, into })
    }

    /// What is done to partitions as to whole tables, with the options of that.
    fn maintain_partition(&mut self, word: Kw) -> SqlResult<PartitionAction> {
        self.no_write_to_binlog();
        let names = match self.eat(Kw::ALL) {
            true => PartitionNames::All,
            false => PartitionNames::Named(self.comma_separated(Self::ident)?),
        };
        let options: &[Kw] = match word {
            Kw::CHECK => &[Kw::QUICK, Kw::FAST, Kw::MEDIUM, Kw::EXTENDED, Kw::CHANGED],
            Kw::REPAIR => &[Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM],
            Kw::OPTIMIZE => &[Kw::NO_WRITE_TO_BINLOG],
            _ => &[],
        };
        while options.iter().any(|k| self.eat(*k))
            || (word == Kw::CHECK && self.eat_all(&[Kw::FOR, Kw::UPGRADE]))
        {}
        Ok(PartitionAction::Maintain(word.name(), names))
    }
}
