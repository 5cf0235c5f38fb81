//! Column definitions: attributes and defaults.

use super::{P, mismatched_collation};
use crate::ast::{AstExpr, ColumnSpec, IndexSpec, TableElements};
use narwal_engine::{ColumnDef, DefaultDef};
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, TypeKind};
use sqlparser::ast::{UnaryOperator, Value as AstValue, ValueWithSpan};
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
        let mut default = None;
        let mut check = None;
        let mut generated = None;
        if ty.serial {
            def.nullable = false;
            def.auto_increment = true;
        }
        loop {
            if generated.is_some()
                && !["UNIQUE", "COMMENT", "INVISIBLE"]
                    .iter()
                    .any(|k| self.peek_kw(k))
            {
                break;
            }
            if self.kw2("NOT", "NULL") {
                def.nullable = false;
                null_given = true;
            } else if self.kw("NULL") {
                null_given = true;
            } else if self.kw("DEFAULT") {
                let given = match def.ty.kind {
                    TypeKind::Bit(_) => self.bit_default()?,
                    _ => self.default_value()?,
                };
                match given {
                    Ok(d) => (def.default, default) = (d, None),
                    Err(e) => (def.default, default) = (DefaultDef::None, Some(e)),
                }
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
            } else if self.kw("COLLATE") {
                let c = super::types::collation(&self.option_word()?)?;
                let set = ty.collation.map(Collation::charset);
                if let Some(set) = set.filter(|s| *s != c.charset()) {
                    return Err(mismatched_collation(c, set));
                }
                collation = Some(c);
            } else if self.peek_kw("REFERENCES") {
                let mut key = self.references()?;
                key.columns.push(name.clone());
                t.foreign_keys.push(key);
                break;
            } else if self.kw("CHECK") {
                // Nothing but REFERENCES follows it.
                check = Some(self.in_parentheses()?);
                if !self.peek_kw("REFERENCES") {
                    break;
                }
            } else if !null_given
                && default.is_none()
                && def.default == DefaultDef::None
                && !(primary || unique || def.auto_increment)
                && (self.peek_kw("AS") || self.peek_kw("GENERATED"))
            {
                generated = Some(self.generated()?);
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
                if_not_exists: false,
                primary: true,
                unique: true,
                columns: vec![(name.clone(), None, false)],
                comment: String::new(),
            });
        }
        if unique {
            t.indexes.push(IndexSpec {
                name: None,
                if_not_exists: false,
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
            default,
            check,
            generated,
            bin: ty.bin,
            json: ty.json,
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
    fn bit_default(&mut self) -> SqlResult<Result<DefaultDef, AstExpr>> {
        let string = match self.peek() {
            Token::SingleQuotedString(s) => Some(s.clone().into_bytes()),
            _ => None,
        };
        let d = match self.default_value()? {
            Err(AstExpr::Value(ValueWithSpan {
                value: AstValue::SingleQuotedByteStringLiteral(bits),
                ..
            })) => Ok(DefaultDef::Text(
                u64::from_str_radix(&bits, 2).map_or(bits, |n| n.to_string()),
            )),
            d => d,
        };
        let Ok(DefaultDef::Text(t)) = d else {
            return Ok(d);
        };
        Ok(Ok(DefaultDef::Text(match (string, t.parse::<u64>()) {
            (Some(s), _) if s.len() <= 8 => {
                let v = s.iter().fold(0u64, |a, b| a << 8 | u64::from(*b));
                format!("b'{v:b}'")
            }
            (None, Ok(v)) => format!("b'{v:b}'"),
            // No value of any BIT column.
            _ => t,
        })))
    }

    /// What follows DEFAULT: a constant, or an expression that is none.
    pub(super) fn default_value(&mut self) -> SqlResult<Result<DefaultDef, AstExpr>> {
        if let Some(f) = self.current_timestamp()? {
            return Ok(Ok(DefaultDef::CurrentTimestamp(f)));
        }
        let e = if *self.peek() == Token::LParen && !self.peek_kw_nth(1, "SELECT") {
            self.in_parentheses()?
        } else {
            // One operand: a constant, a column, a call.
            self.operand()?
        };
        Ok(constant(e))
    }
}

/// Takes a constant for one, whatever parentheses are round it; else gives the expression back.
#[allow(clippy::result_large_err)] // No error: the other of two results, taken apart at once.
fn constant(e: AstExpr) -> Result<DefaultDef, AstExpr> {
    let number = |e: &AstExpr| match e {
        AstExpr::Value(v) => match &v.value {
            AstValue::Number(n, _) => Some(n.clone()),
            _ => None,
        },
        _ => None,
    };
    match e {
        AstExpr::Nested(e) => constant(*e),
        AstExpr::UnaryOp {
            op: op @ (UnaryOperator::Minus | UnaryOperator::Plus),
            expr,
        } => match number(&expr) {
            Some(n) if op == UnaryOperator::Minus => Ok(DefaultDef::Text(format!("-{n}"))),
            Some(n) => Ok(DefaultDef::Text(n)),
            None => Err(AstExpr::UnaryOp { op, expr }),
        },
        AstExpr::Value(v) => match v.value {
            AstValue::Null => Ok(DefaultDef::Null),
            AstValue::Boolean(b) => Ok(DefaultDef::Text(u8::from(b).to_string())),
            AstValue::Number(n, _) => Ok(DefaultDef::Text(n)),
            AstValue::SingleQuotedString(s) | AstValue::DoubleQuotedString(s) => {
                Ok(DefaultDef::Text(s))
            }
            value => Err(AstExpr::Value(ValueWithSpan {
                value,
                span: v.span,
            })),
        },
        AstExpr::TypedString(t) => match t.value.value {
            AstValue::SingleQuotedString(s) => Ok(DefaultDef::Text(s)),
            _ => Err(AstExpr::TypedString(t)),
        },
        e => Err(e),
    }
}
