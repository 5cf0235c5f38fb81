//! Data types.

use crate::ast::ddl::{DataType, TypeAttribute, TypeName};
use crate::keyword::Kw;
use crate::lexer::string_value;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// Types whose names are no keywords.
const NAMED: &[&str] = &[
    "INET4",
    "INET6",
    "UUID",
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
];

/// Schemas that a type may be looked for in. Their case counts.
const SCHEMAS: &[&str] = &["mariadb_schema", "oracle_schema", "maxdb_schema"];

/// What may stand behind a type's name.
#[derive(Clone, Copy)]
enum Form {
    /// `[(n)]` and a sign.
    Int,
    /// `[(n [, m])]` and a sign.
    Decimal,
    /// `[(n, m)]` and a sign.
    Double,
    /// `[(n)]` alone.
    Length,
    /// Nothing.
    Bare,
    /// `[(n)]` and a character set.
    Char,
    /// `[(n)]` and BINARY.
    National,
    /// `(n)`, COMPRESSED and a character set.
    VarChar,
    /// `(n)` and BINARY.
    NationalVarChar,
    /// `(n)` and COMPRESSED.
    VarBinary,
    /// `[(n)]` and COMPRESSED.
    Blob,
    /// `[(n)]`, COMPRESSED and a character set.
    Text,
    /// Members and a character set.
    Members,
    /// `[(n [, m])]` and REF_SYSTEM_ID.
    Named,
}

impl Parser<'_> {
    /// A data type. `serial`: SERIAL is one.
    pub(in crate::parse) fn data_type(&mut self, serial: bool) -> SqlResult<DataType> {
        let mut schema = None;
        if self.peek_at(1) == Tok::Dot && self.at_ident() {
            let name = self.ident()?;
            self.bump();
            if !SCHEMAS.contains(&name.as_str()) {
                let t = self.bump();
                return Err(unknown_type(&format!("{name}.{}", self.name_of(t))));
            }
            // Types of variables have none.
            if !serial {
                return Err(unknown_type(&name));
            }
            schema = Some(name);
        }
        let at = self.here();
        let t = self.bump();
        let (name, form) = match t.tok {
            Tok::Word(word) => match word {
                // Behind a dot no word is a keyword.
                Kw::Plain if schema.is_some() => {
                    self.type_of_word(Kw::of(self.token_text(t)), schema.as_deref())?
                }
                _ => self.type_of_word(word, schema.as_deref())?,
            },
            Tok::QuotedIdent => (TypeName::Named, Form::Named),
            _ => return Err(self.error_at(at)),
        };
        let mut ty = DataType {
            name,
            word: self.name_of(t),
            length: None,
            scale: None,
            members: Vec::new(),
            member_bytes: Vec::new(),
            attributes: Vec::new(),
        };
        if name == TypeName::Serial && !serial {
            return Err(self.error_at(at));
        }
        if name == TypeName::Named {
            let quoted = t.tok == Tok::QuotedIdent;
            match t.tok {
                // They might be schemas of types.
                Tok::Word(Kw::CLOB | Kw::NUMBER | Kw::RAW | Kw::VARCHAR2) => {
                    return Err(self.error());
                }
                Tok::Word(k) if never_a_type(k) => return Err(self.error_at(at)),
                _ => {}
            }
            let known = NAMED.iter().any(|n| n.eq_ignore_ascii_case(&ty.word));
            if !known {
                self.precision(&mut ty, false)?;
                return Err(unknown_type(&ty.word));
            }
            ty.word = if quoted {
                ty.word
            } else {
                ty.word.to_ascii_uppercase()
            };
        } else {
            ty.word.make_ascii_uppercase();
        }
        self.type_tail(&mut ty, form)?;
        Ok(ty)
    }

    /// A word that stands where a type does, and names none.
    pub(in crate::parse) fn is_unknown_type(&mut self, word: Kw) -> SqlResult<bool> {
        Ok(!never_a_type(word) && self.type_of_word(word, None)?.0 == TypeName::Named)
    }

    /// What type a keyword names, its further words taken.
    /// `schema`: whose type it is, where that is said.
    fn type_of_word(&mut self, word: Kw, schema: Option<&str>) -> SqlResult<(TypeName, Form)> {
        use TypeName as N;
        let oracle = match schema {
            None => self.mode.has(SqlMode::ORACLE),
            Some(s) => s == "oracle_schema",
        };
        if word == Kw::TIMESTAMP && schema == Some("maxdb_schema") {
            return Ok((N::DateTime, Form::Length));
        }
        if oracle && let Some(found) = self.oracle_type(word) {
            return Ok(found);
        }
        Ok(match word {
            Kw::TINYINT | Kw::INT1 => (N::TinyInt, Form::Int),
            Kw::SMALLINT | Kw::INT2 => (N::SmallInt, Form::Int),
            Kw::MEDIUMINT | Kw::INT3 | Kw::MIDDLEINT => (N::MediumInt, Form::Int),
            Kw::INT | Kw::INTEGER | Kw::INT4 => (N::Int, Form::Int),
            Kw::BIGINT | Kw::INT8 => (N::BigInt, Form::Int),
            Kw::FLOAT | Kw::FLOAT4 => (N::Float, Form::Decimal),
            Kw::REAL => (N::Real, Form::Double),
            Kw::DOUBLE => {
                self.eat(Kw::PRECISION);
                (N::Double, Form::Double)
            }
            Kw::FLOAT8 => (N::Double, Form::Double),
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED => (N::Decimal, Form::Decimal),
            Kw::BIT => (N::Bit, Form::Length),
            Kw::BOOL | Kw::BOOLEAN => (N::Bool, Form::Bare),
            Kw::CHAR | Kw::CHARACTER => match self.eat(Kw::VARYING) {
                true => (N::VarChar, Form::VarChar),
                false => (N::Char, Form::Char),
            },
            Kw::VARCHAR | Kw::VARCHARACTER => (N::VarChar, Form::VarChar),
            Kw::NCHAR => match self.eat(Kw::VARYING) || self.eat_varchar() {
                true => (N::NationalVarChar, Form::NationalVarChar),
                false => (N::NationalChar, Form::National),
            },
            Kw::NVARCHAR => (N::NationalVarChar, Form::NationalVarChar),
            Kw::NATIONAL => self.national()?,
            Kw::BINARY => (N::Binary, Form::Length),
            Kw::VARBINARY => (N::VarBinary, Form::VarBinary),
            Kw::YEAR => (N::Year, Form::Int),
            Kw::SQL_TSI_YEAR => (N::Year, Form::Int),
            Kw::DATE => (N::Date, Form::Bare),
            Kw::TIME => (N::Time, Form::Length),
            Kw::DATETIME => (N::DateTime, Form::Length),
            Kw::TIMESTAMP => (N::Timestamp, Form::Length),
            Kw::TINYBLOB => (N::TinyBlob, Form::Blob),
            Kw::BLOB => (N::Blob, Form::Blob),
            Kw::MEDIUMBLOB => (N::MediumBlob, Form::Blob),
            Kw::LONGBLOB => (N::LongBlob, Form::Blob),
            Kw::TINYTEXT => (N::TinyText, Form::Text),
            Kw::TEXT => (N::Text, Form::Text),
            Kw::MEDIUMTEXT => (N::MediumText, Form::Text),
            Kw::LONGTEXT => (N::LongText, Form::Text),
            Kw::LONG if self.eat(Kw::VARBINARY) => (N::LongVarBinary, Form::Blob),
            Kw::LONG => {
                let _ = self.eat_varchar()
                    || ((self.eat(Kw::CHAR) || self.eat(Kw::CHARACTER)) && {
                        self.expect(Kw::VARYING)?;
                        true
                    });
                (N::LongVarChar, Form::Text)
            }
            Kw::ENUM => (N::Enum, Form::Members),
            Kw::SET => (N::Set, Form::Members),
            Kw::JSON => (N::Json, Form::Bare),
            Kw::SERIAL => (N::Serial, Form::Bare),
            _ => (N::Named, Form::Named),
        })
    }

    /// Types that mean something else in sql_mode=ORACLE, or are there alone.
    fn oracle_type(&mut self, word: Kw) -> Option<(TypeName, Form)> {
        use TypeName as N;
        Some(match word {
            Kw::VARCHAR2 => (N::VarChar, Form::VarChar),
            Kw::NUMBER if self.peek() == Tok::LParen => (N::Decimal, Form::Decimal),
            Kw::NUMBER => (N::Double, Form::Double),
            Kw::CLOB => (N::LongText, Form::Text),
            Kw::RAW => (N::VarBinary, Form::VarBinary),
            Kw::BLOB if self.peek() == Tok::LParen => return None,
            Kw::BLOB => (N::LongBlob, Form::Blob),
            Kw::DATE => (N::DateTime, Form::Bare),
            _ => return None,
        })
    }

    fn eat_varchar(&mut self) -> bool {
        self.eat(Kw::VARCHAR) || self.eat(Kw::VARCHARACTER)
    }

    /// Behind NATIONAL.
    fn national(&mut self) -> SqlResult<(TypeName, Form)> {
        if self.eat_varchar() {
            return Ok((TypeName::NationalVarChar, Form::NationalVarChar));
        }
        if !self.eat(Kw::CHAR) && !self.eat(Kw::CHARACTER) {
            return Err(self.error());
        }
        Ok(match self.eat(Kw::VARYING) {
            true => (TypeName::NationalVarChar, Form::NationalVarChar),
            false => (TypeName::NationalChar, Form::National),
        })
    }

    /// Lengths, members, signs and character sets.
    fn type_tail(&mut self, ty: &mut DataType, form: Form) -> SqlResult<()> {
        match form {
            Form::Bare => {}
            Form::Int => {
                self.type_length(ty, false)?;
                self.sign(ty);
            }
            Form::Decimal => {
                self.precision(ty, false)?;
                self.sign(ty);
            }
            Form::Double => {
                self.precision(ty, true)?;
                self.sign(ty);
            }
            Form::Length => self.type_length(ty, false)?,
            Form::Char => {
                self.type_length(ty, false)?;
                self.type_charset(ty)?;
            }
            Form::National | Form::NationalVarChar => {
                let varying = matches!(form, Form::NationalVarChar);
                self.type_length(ty, varying)?;
                if varying {
                    self.type_compressed(ty)?;
                }
                if self.eat(Kw::BINARY) {
                    ty.attributes.push(TypeAttribute::Binary);
                }
            }
            Form::VarChar => {
                self.type_length(ty, true)?;
                self.type_compressed(ty)?;
                self.type_charset(ty)?;
            }
            Form::VarBinary => {
                self.type_length(ty, true)?;
                self.type_compressed(ty)?;
            }
            Form::Blob => {
                self.type_length(ty, false)?;
                self.type_compressed(ty)?;
            }
            Form::Text => {
                self.type_length(ty, false)?;
                self.type_compressed(ty)?;
                self.type_charset(ty)?;
            }
            Form::Members => {
                for (i, member) in self.parenthesised(Self::member)?.into_iter().enumerate() {
                    ty.members.push(match member {
                        Member::Text(text) => text,
                        Member::Bytes(bytes) => {
                            let text = String::from_utf8_lossy(&bytes).into_owned();
                            ty.member_bytes.push((i, bytes));
                            text
                        }
                    });
                }
                self.type_charset(ty)?;
            }
            Form::Named => {
                self.precision(ty, false)?;
                if self.eat(Kw::REF_SYSTEM_ID) {
                    self.expect_tok(Tok::Eq)?;
                    ty.attributes.push(TypeAttribute::RefSystemId(self.uint()?));
                }
            }
        }
        Ok(())
    }

    /// `(n)`
    fn type_length(&mut self, ty: &mut DataType, must: bool) -> SqlResult<()> {
        if self.default_lengths && self.peek() != Tok::LParen {
            if let Some((name, length)) = default_length(ty.name) {
                ty.name = name;
                ty.length = Some(length);
                ty.attributes.push(TypeAttribute::AnyLength);
            }
            return Ok(());
        }
        if !must && self.peek() != Tok::LParen {
            return Ok(());
        }
        self.expect_tok(Tok::LParen)?;
        ty.length = Some(self.type_number()?);
        self.expect_tok(Tok::RParen)
    }

    /// `(n [, m])`
    fn precision(&mut self, ty: &mut DataType, both: bool) -> SqlResult<()> {
        if !self.eat_tok(Tok::LParen) {
            return Ok(());
        }
        if both {
            ty.length = Some(self.few_digits()?);
            self.expect_tok(Tok::Comma)?;
            ty.scale = Some(self.few_digits()?);
        } else {
            ty.length = Some(self.length_or_digits()?);
            if self.eat_tok(Tok::Comma) {
                ty.scale = Some(self.few_digits()?);
            }
        }
        self.expect_tok(Tok::RParen)
    }

    /// A length, or the number of digits before a comma.
    pub(crate) fn length_or_digits(&mut self) -> SqlResult<u64> {
        match self.peek_at(1) {
            Tok::Comma => self.few_digits(),
            _ => self.type_number(),
        }
    }

    /// A number of digits of which there are two: it fits into 31 bits.
    pub(crate) fn few_digits(&mut self) -> SqlResult<u64> {
        let n = self.token_text(self.peek_token()).parse::<i32>();
        match n {
            Ok(_) if self.peek() == Tok::Int => self.type_number(),
            _ => Err(self.error()),
        }
    }

    /// A length: one that no number holds is as good as the largest. What stands behind a point does not count.
    pub(crate) fn type_number(&mut self) -> SqlResult<u64> {
        if !matches!(self.peek(), Tok::Int | Tok::Decimal) {
            return Err(self.error());
        }
        let t = self.bump();
        let digits = self.token_text(t).split('.').next().unwrap_or_default();
        Ok(digits.parse().unwrap_or(u64::MAX))
    }

    /// UNSIGNED and ZEROFILL in either order, or SIGNED.
    fn sign(&mut self, ty: &mut DataType) {
        if self.eat(Kw::SIGNED) {
            ty.attributes.push(TypeAttribute::Signed);
        } else if self.eat(Kw::UNSIGNED) {
            ty.attributes.push(TypeAttribute::Unsigned);
            if self.eat(Kw::ZEROFILL) {
                ty.attributes.push(TypeAttribute::Zerofill);
            }
        } else if self.eat(Kw::ZEROFILL) {
            ty.attributes.push(TypeAttribute::Zerofill);
            if self.eat(Kw::UNSIGNED) {
                ty.attributes.push(TypeAttribute::Unsigned);
            }
        }
    }

    fn type_compressed(&mut self, ty: &mut DataType) -> SqlResult<()> {
        if self.at(Kw::COMPRESSED) {
            ty.attributes
                .push(TypeAttribute::Compressed(self.compressed()?));
        }
        Ok(())
    }

    /// A character set and BINARY in either order, or BYTE.
    fn type_charset(&mut self, ty: &mut DataType) -> SqlResult<()> {
        if self.eat(Kw::BYTE) {
            ty.attributes.push(TypeAttribute::Byte);
            return Ok(());
        }
        let first = self.eat(Kw::BINARY);
        if first {
            ty.attributes.push(TypeAttribute::Binary);
        }
        if self.eat(Kw::ASCII) {
            ty.attributes.push(TypeAttribute::Ascii);
        } else if self.eat(Kw::UNICODE) {
            ty.attributes.push(TypeAttribute::Unicode);
        } else if self.eat_charset_words() {
            ty.attributes
                .push(TypeAttribute::Charset(self.known_charset()?));
        } else {
            return Ok(());
        }
        if !first && self.eat(Kw::BINARY) {
            ty.attributes.push(TypeAttribute::Binary);
        }
        Ok(())
    }

    fn member(&mut self) -> SqlResult<Member> {
        let bytes = match self.peek() {
            Tok::Hex | Tok::Bit => literal_bytes(self.token_text(self.peek_token())),
            _ => return Ok(Member::Text(self.text()?)),
        };
        self.bump();
        Ok(Member::Bytes(bytes.to_vec()))
    }

    /// The text of a COMMENT. Definitions are kept in utf8mb3, which has no characters of four bytes.
    pub(in crate::parse) fn comment(&mut self) -> SqlResult<String> {
        let fits = |c: char| if c > '\u{ffff}' { '?' } else { c };
        Ok(self.text()?.chars().map(fits).collect())
    }

    /// One string: those beside it are not part of it.
    pub(in crate::parse) fn text(&mut self) -> SqlResult<String> {
        if self.peek() != Tok::String {
            return Err(self.error());
        }
        let t = self.bump();
        let no_backslash = self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        Ok(string_value(self.token_text(t), no_backslash))
    }
}

/// A member of ENUM or SET: a string, or the bytes of a hexadecimal or bit literal.
enum Member {
    Text(String),
    Bytes(Vec<u8>),
}

/// The type and the length of a parameter or a result whose type names no length, in sql_mode=ORACLE: nothing is padded.
fn default_length(name: TypeName) -> Option<(TypeName, u64)> {
    use TypeName as N;
    match name {
        N::VarChar | N::NationalVarChar | N::VarBinary => Some((name, 4000)),
        N::Char => Some((N::VarChar, 2000)),
        N::NationalChar => Some((N::NationalVarChar, 2000)),
        N::Binary => Some((N::VarBinary, 2000)),
        _ => None,
    }
}

/// Bytes of `x'41'`, `0x41`, `b'1'` and `0b1`.
fn literal_bytes(text: &str) -> Vec<u8> {
    let bits = text.starts_with(['b', 'B']) || text.starts_with("0b");
    let digits: String = text[1..]
        .trim_start_matches(['x', 'X', 'b'])
        .replace('\'', "");
    let (radix, width) = if bits { (2, 8) } else { (16, 2) };
    let padding = (width - digits.len() % width) % width;
    let digits = "0".repeat(padding) + &digits;
    digits
        .as_bytes()
        .chunks(width)
        .filter_map(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, radix).ok())
        .collect()
}

/// Keywords that no grammar takes where a type stands; other words are unknown types.
fn never_a_type(k: Kw) -> bool {
    matches!(
        k,
        Kw::COLUMN
            | Kw::CONDITION
            | Kw::CURSOR
            | Kw::DELAYED
            | Kw::EXIT
            | Kw::FOR
            | Kw::FORCE
            | Kw::HIGH_PRIORITY
            | Kw::MASTER_DEMOTE_TO_REPLICA
            | Kw::MASTER_DEMOTE_TO_SLAVE
            | Kw::SQL_CALC_FOUND_ROWS
            | Kw::UNSIGNED
            | Kw::WRITE
            | Kw::SIGNED
            | Kw::WINDOW
            | Kw::FUNCTION
            | Kw::MEDIUM
            | Kw::ROW
    )
}

/// 4161: a type by a name that no type has.
fn unknown_type(name: &str) -> SqlError {
    errors::UNKNOWN_DATA_TYPE.with([&name])
}
