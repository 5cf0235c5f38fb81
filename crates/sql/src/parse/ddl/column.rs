//! Column definitions: attributes and defaults.

use super::P;
use crate::ast::{ColumnSpec, IndexSpec, TableElements};
use narwal_engine::{ColumnDef, DefaultDef};
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, TypeKind};
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// A column: its name, type and attributes. Indexes and so on that attributes ask for go into the same list.
    pub(super) fn column(&mut self, t: &mut TableElements) -> SqlResult<()> {
        let name = self.ident()?;
        let ty = self.data_type(&name)?;
        let mut def = ColumnDef {
            name: name.clone(),
            ty: ColumnType {
                kind: ty.kind,
                unsigned: ty.unsigned,
                collation: Collation::Binary,
            },
            nullable: true,
            default: DefaultDef::None,
            auto_increment: false,
            on_update: None,
            comment: String::new(),
            display_width: ty.width,
            generated: None,
            check: None,
        };
        let mut collation = ty.collation;
        let mut null_given = false;
        let mut primary = false;
        let mut unique = ty.serial;
        if ty.serial {
            def.nullable = false;
            def.auto_increment = true;
        }
        loop {
            if self.kw2("NOT", "NULL") {
                def.nullable = false;
                null_given = true;
            } else if self.kw("NULL") {
                null_given = true;
            } else if self.kw("DEFAULT") {
                def.default = match def.ty.kind {
                    TypeKind::Bit(_) => self.bit_default()?,
                    _ => self.default_value()?,
                };
            } else if self.kw2("ON", "UPDATE") {
                match self.current_timestamp()? {
                    Some(f) => def.on_update = Some(f),
                    None => return Err(self.error()),
                }
            } else if self.kw("AUTO_INCREMENT") {
                def.auto_increment = true;
                def.nullable = false;
            } else if self.kw2("PRIMARY", "KEY") || (self.peek_kw("KEY") && self.kw("KEY")) {
                primary = true;
            } else if self.kw("UNIQUE") {
                self.kw("KEY");
                unique = true;
            } else if self.kw("COMMENT") {
                def.comment = self.string()?;
            } else if let Some(c) = self.charset_or_collate()? {
                collation = Some(c);
            } else if self.peek_kw("REFERENCES") {
                return self.unsupported("REFERENCES");
            } else if self.peek_kw("CHECK") || self.peek_kw("CONSTRAINT") {
                return self.unsupported("CHECK");
            } else if self.peek_kw("AS") || self.peek_kw("GENERATED") {
                return self.unsupported("generated columns");
            } else if self.peek_kw("INVISIBLE")
                || self.peek_kw("WITHOUT")
                || self.peek_kw("WITH")
                || self.peek_kw("COMPRESSED")
                || self.peek_kw("REF_SYSTEM_ID")
            {
                let what = self.word_for_message();
                return self.unsupported(&format!("column attribute {what}"));
            } else if self.kw("COLUMN_FORMAT") || self.kw("STORAGE") {
                self.option_word()?;
            } else {
                break;
            }
        }
        if let Some(f) = def.on_update {
            let fsp = match def.ty.kind {
                TypeKind::Timestamp(p) | TypeKind::DateTime(p) => Some(p),
                _ => None,
            };
            if fsp != Some(f) {
                return Err(SqlError::new(
                    1294,
                    b"HY000",
                    format!("Invalid ON UPDATE clause for '{name}' column"),
                ));
            }
        }
        if primary {
            t.indexes.push(IndexSpec {
                name: None,
                primary: true,
                unique: true,
                columns: vec![(name.clone(), None, false)],
                comment: String::new(),
            });
        }
        if unique {
            t.indexes.push(IndexSpec {
                name: None,
                primary: false,
                unique: true,
                columns: vec![(name, None, false)],
                comment: String::new(),
            });
        }
        t.columns.push(ColumnSpec {
            def,
            null_given,
            collation,
        });
        Ok(())
    }

    /// CURRENT_TIMESTAMP and its synonyms, with digits; `None` if something else is next.
    fn current_timestamp(&mut self) -> SqlResult<Option<u8>> {
        if !(self.kw("CURRENT_TIMESTAMP")
            || self.kw("LOCALTIME")
            || self.kw("LOCALTIMESTAMP")
            || (self.peek_kw("NOW") && *self.peek_nth(1) == Token::LParen && self.kw("NOW")))
        {
            return Ok(None);
        }
        let mut digits = 0;
        if self.tok(&Token::LParen) && !self.tok(&Token::RParen) {
            digits = self.fsp()?;
            self.expect_tok(&Token::RParen)?;
        }
        Ok(Some(digits))
    }

    fn fsp(&mut self) -> SqlResult<u8> {
        let n = self.uint()?;
        if n > 6 {
            return Err(SqlError::new(
                1426,
                b"42000",
                format!("Too big precision specified for 'current_timestamp'. Maximum is 6 ({n})"),
            ));
        }
        Ok(n as u8)
    }

    /// The DEFAULT of a BIT column, kept as SHOW prints it: `b'101'`. A string stands for its bytes there.
    fn bit_default(&mut self) -> SqlResult<DefaultDef> {
        let string = match self.peek() {
            Token::SingleQuotedString(s) => Some(s.clone().into_bytes()),
            _ => None,
        };
        let d = self.default_value()?;
        let DefaultDef::Text(t) = d else {
            return Ok(d);
        };
        Ok(DefaultDef::Text(match (string, t.parse::<u64>()) {
            (Some(s), _) if s.len() <= 8 => {
                let v = s.iter().fold(0u64, |a, b| a << 8 | u64::from(*b));
                format!("b'{v:b}'")
            }
            (None, Ok(v)) => format!("b'{v:b}'"),
            // No value of any BIT column.
            _ => t,
        }))
    }

    fn default_value(&mut self) -> SqlResult<DefaultDef> {
        if self.kw("NULL") {
            return Ok(DefaultDef::Null);
        }
        if self.kw("TRUE") {
            return Ok(DefaultDef::Text("1".to_string()));
        }
        if self.kw("FALSE") {
            return Ok(DefaultDef::Text("0".to_string()));
        }
        if let Some(f) = self.current_timestamp()? {
            return Ok(DefaultDef::CurrentTimestamp(f));
        }
        if *self.peek() == Token::LParen {
            let start = self.here();
            self.next();
            // A lone constant in parentheses is a constant.
            if matches!(
                self.peek(),
                Token::Number(..) | Token::SingleQuotedString(_)
            ) && *self.peek_nth(1) == Token::RParen
            {
                let d = self.default_value()?;
                self.expect_tok(&Token::RParen)?;
                return Ok(d);
            }
            let _ = start;
            return self.unsupported("expressions as DEFAULT");
        }
        let at = self.here();
        let negative = self.tok(&Token::Minus);
        if !negative {
            self.tok(&Token::Plus);
        }
        let text = match self.next() {
            Token::Number(n, _) => {
                if negative {
                    format!("-{n}")
                } else {
                    n
                }
            }
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) if !negative => s,
            Token::SingleQuotedByteStringLiteral(s) if !negative => u64::from_str_radix(&s, 2)
                .map_err(|_| self.error_at(at))?
                .to_string(),
            Token::HexStringLiteral(_) => return self.unsupported("hexadecimal DEFAULT"),
            Token::Word(w) if w.quote_style.is_none() => {
                let _ = w;
                return self.unsupported("expressions as DEFAULT");
            }
            _ => return Err(self.error_at(at)),
        };
        Ok(DefaultDef::Text(text))
    }
}
