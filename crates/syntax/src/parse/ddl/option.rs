//! Options of tables, databases, indexes and columns.

use crate::ast::TableName;
use crate::ast::ddl::{CharsetOption, OptionValue, TableOption};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::{Charset, Collation, SqlResult, errors};

/// What the value of an option may be.
#[derive(Clone, Copy)]
enum Value {
    Number,
    /// A number or DEFAULT.
    NumberOrDefault,
    /// A number from the first to the second, or DEFAULT.
    WithinOrDefault(u32, u32),
    Text,
    /// One of these.
    OneOf(&'static [Kw]),
}

/// Options with a value of one kind; `[=]` stands before it.
const OPTIONS: &[(Kw, Value)] = &[
    (Kw::MAX_ROWS, Value::Number),
    (Kw::MIN_ROWS, Value::Number),
    (Kw::AVG_ROW_LENGTH, Value::Number),
    (Kw::PASSWORD, Value::Text),
    (Kw::PACK_KEYS, Value::WithinOrDefault(0, 1)),
    (Kw::STATS_AUTO_RECALC, Value::WithinOrDefault(0, 1)),
    (Kw::STATS_PERSISTENT, Value::WithinOrDefault(0, 1)),
    (Kw::STATS_SAMPLE_PAGES, Value::WithinOrDefault(1, 65_535)),
    (Kw::CHECKSUM, Value::Number),
    (Kw::TABLE_CHECKSUM, Value::Number),
    (Kw::PAGE_CHECKSUM, Value::Number),
    (Kw::DELAY_KEY_WRITE, Value::Number),
    (
        Kw::ROW_FORMAT,
        Value::OneOf(&[
            Kw::DEFAULT,
            Kw::FIXED,
            Kw::DYNAMIC,
            Kw::COMPRESSED,
            Kw::REDUNDANT,
            Kw::COMPACT,
            Kw::PAGE,
        ]),
    ),
    (
        Kw::INSERT_METHOD,
        Value::OneOf(&[Kw::NO, Kw::FIRST, Kw::LAST]),
    ),
    (Kw::CONNECTION, Value::Text),
    (Kw::KEY_BLOCK_SIZE, Value::Number),
    (Kw::TRANSACTIONAL, Value::NumberOrDefault),
];

/// Error 1253 for a collation of another character set than the one in front of it. That is known before what follows is read, and
/// comes before errors of syntax there.
pub(super) fn fits_set(set: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
    let (Some(set), Some(collation)) = (set.and_then(Charset::from_name), collation) else {
        return Ok(());
    };
    let c = Collation::find(collation, set)?;
    if c.charset() == set {
        return Ok(());
    }
    Err(errors::COLLATION_CHARSET_MISMATCH.with([&c.name(), &set.name()]))
}

impl Parser<'_> {
    /// Table options, with commas between where there are any.
    pub(super) fn table_options(&mut self, options: &mut Vec<TableOption>) -> SqlResult<()> {
        let mut comma = false;
        loop {
            match self.table_option()? {
                Some(o) => options.push(o),
                None if comma => return Err(self.error()),
                None => return Ok(()),
            }
            comma = self.eat_tok(Tok::Comma);
        }
    }

    /// One table option, if one is next.
    pub(super) fn table_option(&mut self) -> SqlResult<Option<TableOption>> {
        let Tok::Word(word) = self.peek() else {
            return self.table_engine_option();
        };
        if let Some(c) = self.charset_option()? {
            return Ok(Some(TableOption::Charset(c)));
        }
        if let Some((_, value)) = OPTIONS.iter().find(|(k, _)| *k == word) {
            self.bump();
            self.equals();
            return Ok(Some(TableOption::Known(
                word.name(),
                self.option_value(*value)?,
            )));
        }
        match word {
            Kw::ENGINE | Kw::COMMENT | Kw::AUTO_INCREMENT | Kw::SEQUENCE | Kw::TABLESPACE => {
                self.bump();
                Ok(Some(self.valued_option(word)?))
            }
            // A SELECT may have one too.
            Kw::UNION if matches!(self.peek_at(1), Tok::Eq | Tok::LParen) => {
                self.bump();
                Ok(Some(TableOption::Union(self.union_tables()?)))
            }
            Kw::UNION => Ok(None),
            Kw::DATA | Kw::INDEX if self.at_nth(1, Kw::DIRECTORY) => {
                self.bump();
                self.bump();
                self.equals();
                let name = match word {
                    Kw::DATA => "DATA DIRECTORY",
                    _ => "INDEX DIRECTORY",
                };
                let path = OptionValue::Text(self.text()?);
                Ok(Some(TableOption::Known(name, path)))
            }
            Kw::STORAGE => {
                self.bump();
                let kind = self.option_value(Value::OneOf(&[Kw::DISK, Kw::MEMORY]))?;
                Ok(Some(TableOption::Known("STORAGE", kind)))
            }
            Kw::WITH if self.at_nth(1, Kw::SYSTEM) => {
                self.bump();
                self.bump();
                self.expect(Kw::VERSIONING)?;
                Ok(Some(TableOption::SystemVersioning))
            }
            _ => self.table_engine_option(),
        }
    }

    /// The value of an option that has a form of its own, behind its word.
    fn valued_option(&mut self, word: Kw) -> SqlResult<TableOption> {
        if word != Kw::TABLESPACE {
            self.equals();
        }
        Ok(match word {
            Kw::ENGINE => TableOption::Engine(self.text_or_ident()?),
            Kw::COMMENT => TableOption::Comment(self.comment()?),
            Kw::SEQUENCE if self.eat(Kw::DEFAULT) => TableOption::Sequence(false),
            Kw::SEQUENCE => TableOption::Sequence(self.number()? != 0),
            Kw::TABLESPACE => TableOption::Known("TABLESPACE", OptionValue::Word(self.ident()?)),
            _ => match self.option_value(Value::Number)? {
                OptionValue::Number(n) => TableOption::AutoIncrement(n),
                _ => return Err(self.error()),
            },
        })
    }

    /// `[=] (table, ...)`, perhaps none.
    fn union_tables(&mut self) -> SqlResult<Vec<TableName>> {
        self.equals();
        self.expect_tok(Tok::LParen)?;
        let mut tables = Vec::new();
        if self.peek() != Tok::RParen {
            tables = self.comma_separated(Self::table_name)?;
        }
        self.expect_tok(Tok::RParen)?;
        Ok(tables)
    }

    fn table_engine_option(&mut self) -> SqlResult<Option<TableOption>> {
        Ok(self
            .engine_option()?
            .map(|(name, value)| TableOption::Engines(name, value)))
    }

    /// `name = value`: an option of no kind that the grammar knows, if one is next.
    pub(super) fn engine_option(&mut self) -> SqlResult<Option<(String, OptionValue)>> {
        let plain = matches!(self.peek(), Tok::Word(Kw::Plain) | Tok::QuotedIdent);
        if !plain {
            return Ok(None);
        }
        let name = self.ident()?;
        self.expect_tok(Tok::Eq)?;
        let value = match self.peek() {
            Tok::String => OptionValue::Text(self.text()?),
            Tok::Int => self.option_value(Value::Number)?,
            Tok::Word(Kw::DEFAULT) => {
                self.bump();
                OptionValue::Default
            }
            _ => OptionValue::Word(self.ident()?),
        };
        Ok(Some((name, value)))
    }

    fn option_value(&mut self, kind: Value) -> SqlResult<OptionValue> {
        match kind {
            Value::NumberOrDefault | Value::WithinOrDefault(..) if self.eat(Kw::DEFAULT) => {
                Ok(OptionValue::Default)
            }
            Value::WithinOrDefault(least, most) => {
                let at = self.here();
                let n = self.number()?;
                if !(u64::from(least)..=u64::from(most)).contains(&n) {
                    return Err(self.error_at(at));
                }
                Ok(OptionValue::Number(n.to_string()))
            }
            Value::Number | Value::NumberOrDefault => {
                Ok(OptionValue::Number(self.number()?.to_string()))
            }
            Value::Text => Ok(OptionValue::Text(self.text()?)),
            Value::OneOf(words) => match words.iter().find(|k| self.at(**k)) {
                Some(k) => {
                    self.bump();
                    Ok(OptionValue::Word(k.name().to_string()))
                }
                None => Err(self.error()),
            },
        }
    }

    /// `[DEFAULT] CHARACTER SET [=] x`, `[DEFAULT] COLLATE [=] x`, if one is next.
    pub(super) fn charset_option(&mut self) -> SqlResult<Option<CharsetOption>> {
        let n = usize::from(self.at(Kw::DEFAULT));
        let charset = self.at_nth(n, Kw::CHARSET)
            || ((self.at_nth(n, Kw::CHARACTER) || self.at_nth(n, Kw::CHAR))
                && self.at_nth(n + 1, Kw::SET));
        if !charset && !self.at_nth(n, Kw::COLLATE) {
            return Ok(None);
        }
        self.eat(Kw::DEFAULT);
        if charset {
            self.eat_charset_words();
        } else {
            self.bump();
        }
        self.equals();
        let name = match self.eat(Kw::DEFAULT) {
            true => None,
            false if charset => Some(self.known_charset()?),
            false => Some(self.collation_name()?),
        };
        Ok(Some(match charset {
            true => CharsetOption::Charset(name),
            false => CharsetOption::Collate(name),
        }))
    }

    /// `CHARACTER SET`, `CHAR SET` or `CHARSET`
    pub(in crate::parse) fn eat_charset_words(&mut self) -> bool {
        self.eat(Kw::CHARSET)
            || self.eat_all(&[Kw::CHARACTER, Kw::SET])
            || self.eat_all(&[Kw::CHAR, Kw::SET])
    }

    /// A collation's name, or DEFAULT.
    pub(in crate::parse) fn collation_or_default(&mut self) -> SqlResult<Option<String>> {
        match self.eat(Kw::DEFAULT) {
            true => Ok(None),
            false => Ok(Some(self.collation_name()?)),
        }
    }

    /// A collation's name; error 1273 for one that nobody knows comes before those of what follows.
    pub(in crate::parse) fn collation_name(&mut self) -> SqlResult<String> {
        let name = self.charset_name()?;
        match Collation::of_charset(&name, Charset::Utf8mb4) {
            Some(_) => Ok(name),
            None => Err(errors::UNKNOWN_COLLATION.with([&name])),
        }
    }

    /// A character set's name, or error 1115.
    pub(in crate::parse) fn known_charset(&mut self) -> SqlResult<String> {
        let name = self.charset_name()?;
        match Charset::from_name(&name) {
            Some(_) => Ok(name),
            None => Err(errors::UNKNOWN_CHARACTER_SET.with([&name])),
        }
    }
}
