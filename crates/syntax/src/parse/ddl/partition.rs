//! PARTITION BY and the partitions.

use crate::ast::Expression;
use crate::ast::ddl::{
    OptionValue, Partition, PartitionBy, PartitionValues, Partitions, TableOption,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

impl Parser<'_> {
    /// `PARTITION BY ...`
    pub(super) fn partition_by(&mut self) -> SqlResult<Partitions> {
        self.expect(Kw::PARTITION)?;
        self.expect(Kw::BY)?;
        let mut p = Partitions {
            by: self.partition_kind()?,
            count: None,
            sub: None,
            sub_count: None,
            list: Vec::new(),
        };
        if self.eat(Kw::PARTITIONS) {
            p.count = Some(self.uint()?);
        }
        if self.eat(Kw::SUBPARTITION) {
            self.expect(Kw::BY)?;
            p.sub = Some(self.hash_or_key(true)?);
            if self.eat(Kw::SUBPARTITIONS) {
                p.sub_count = Some(self.uint()?);
            }
        }
        if self.peek() == Tok::LParen && !self.query_behind_parenthesis() {
            p.list = self.partition_definitions()?;
        }
        Ok(p)
    }

    fn partition_kind(&mut self) -> SqlResult<PartitionBy> {
        if self.eat(Kw::RANGE) {
            return Ok(match self.eat(Kw::COLUMNS) {
                true => PartitionBy::RangeColumns(self.name_list()?),
                false => PartitionBy::Range(self.in_parentheses()?),
            });
        }
        if self.eat(Kw::LIST) {
            return Ok(match self.eat(Kw::COLUMNS) {
                true => PartitionBy::ListColumns(self.name_list()?),
                false => PartitionBy::List(self.in_parentheses()?),
            });
        }
        if self.eat(Kw::SYSTEM_TIME) {
            return self.by_system_time();
        }
        self.hash_or_key(false)
    }

    fn hash_or_key(&mut self, sub: bool) -> SqlResult<PartitionBy> {
        let linear = self.eat(Kw::LINEAR);
        if self.eat(Kw::HASH) {
            return Ok(PartitionBy::Hash {
                linear,
                expr: self.in_parentheses()?,
            });
        }
        self.expect(Kw::KEY)?;
        let mut algorithm = None;
        if self.eat(Kw::ALGORITHM) {
            self.expect_tok(Tok::Eq)?;
            algorithm = Some(self.uint()?);
        }
        self.expect_tok(Tok::LParen)?;
        let mut columns = Vec::new();
        if sub || self.peek() != Tok::RParen {
            columns = self.comma_separated(Self::ident)?;
        }
        self.expect_tok(Tok::RParen)?;
        Ok(PartitionBy::Key {
            linear,
            algorithm,
            columns,
        })
    }

    /// Behind SYSTEM_TIME.
    fn by_system_time(&mut self) -> SqlResult<PartitionBy> {
        let (mut interval, mut starts, mut auto, mut limit) = (None, None, false, None);
        if self.eat(Kw::INTERVAL) {
            interval = Some(self.amount_and_unit()?);
            if self.eat(Kw::STARTS) {
                starts = Some(self.expression()?);
            }
            auto = self.eat(Kw::AUTO);
        } else if self.eat(Kw::LIMIT) {
            limit = Some(self.uint()?);
            auto = self.eat(Kw::AUTO);
        }
        Ok(PartitionBy::SystemTime {
            interval,
            starts,
            auto,
            limit,
        })
    }

    /// An expression and a unit of time.
    pub(in crate::parse) fn amount_and_unit(&mut self) -> SqlResult<(Expression, String)> {
        let amount = self.expression()?;
        let unit = self.unit()?;
        Ok((amount, unit.name().to_string()))
    }

    /// `(PARTITION ..., ...)`
    pub(super) fn partition_definitions(&mut self) -> SqlResult<Vec<Partition>> {
        self.parenthesised(|p| {
            p.expect(Kw::PARTITION)?;
            p.partition(false)
        })
    }

    /// A partition behind the word, or a subpartition.
    pub(super) fn partition(&mut self, sub: bool) -> SqlResult<Partition> {
        let name = match sub {
            true => self.text_or_ident()?,
            false => self.ident()?,
        };
        let values = match sub {
            true => PartitionValues::None,
            false => self.partition_values()?,
        };
        let mut options = Vec::new();
        while let Some(o) = self.partition_option()? {
            options.push(o);
        }
        let mut subs = Vec::new();
        if !sub && self.peek() == Tok::LParen {
            subs = self.parenthesised(|p| {
                p.expect(Kw::SUBPARTITION)?;
                p.partition(true)
            })?;
        }
        Ok(Partition {
            name,
            values,
            options,
            sub: subs,
        })
    }

    fn partition_values(&mut self) -> SqlResult<PartitionValues> {
        if self.eat(Kw::DEFAULT) {
            return Ok(PartitionValues::Default);
        }
        if self.eat(Kw::HISTORY) {
            return Ok(PartitionValues::History);
        }
        if self.eat(Kw::CURRENT) {
            return Ok(PartitionValues::Current);
        }
        if !self.eat(Kw::VALUES) {
            return Ok(PartitionValues::None);
        }
        if self.eat(Kw::LESS) {
            self.expect(Kw::THAN)?;
            if self.eat(Kw::MAXVALUE) {
                return Ok(PartitionValues::LessThan(vec![None]));
            }
            return Ok(PartitionValues::LessThan(
                self.parenthesised(Self::partition_value)?,
            ));
        }
        self.expect(Kw::IN)?;
        let rows = self.parenthesised(|p| {
            // A row of values, or an expression that begins with a parenthesis.
            let mark = p.mark();
            if p.peek() == Tok::LParen {
                let row = p.parenthesised(Self::partition_value)?;
                if matches!(p.peek(), Tok::Comma | Tok::RParen) {
                    return Ok(row);
                }
                p.rewind(mark);
            }
            Ok(vec![p.partition_value()?])
        })?;
        Ok(PartitionValues::In(rows))
    }

    fn partition_value(&mut self) -> SqlResult<Option<Expression>> {
        match self.eat(Kw::MAXVALUE) {
            true => Ok(None),
            false => Ok(Some(self.expression()?)),
        }
    }

    /// An option of a partition, if one is next.
    fn partition_option(&mut self) -> SqlResult<Option<TableOption>> {
        if self.eat(Kw::STORAGE) {
            self.expect(Kw::ENGINE)?;
            self.equals();
            return Ok(Some(TableOption::Engine(self.text_or_ident()?)));
        }
        if self.eat(Kw::NODEGROUP) {
            self.equals();
            let n = self.uint()?.to_string();
            return Ok(Some(TableOption::Known(
                "NODEGROUP",
                OptionValue::Number(n),
            )));
        }
        if self.eat(Kw::TABLESPACE) {
            self.equals();
            return Ok(Some(TableOption::Known(
                "TABLESPACE",
                OptionValue::Word(self.ident()?),
            )));
        }
        let own = [
            Kw::ENGINE,
            Kw::MAX_ROWS,
            Kw::MIN_ROWS,
            Kw::DATA,
            Kw::INDEX,
            Kw::COMMENT,
        ];
        match self.peek() {
            Tok::Word(k) if own.contains(&k) || k == Kw::Plain => self.table_option(),
            Tok::QuotedIdent => self.table_option(),
            _ => Ok(None),
        }
    }
}
