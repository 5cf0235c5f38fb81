//! LOAD DATA, and INTO of SELECT.

use super::P;
use crate::ast::{AstExpr, Into, LoadData, LoadField, Stmt};
use crate::file_format::FileFormat;
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn load_data(&mut self) -> SqlResult<Stmt> {
        self.expect_kw("LOAD")?;
        if self.peek_kw("XML") || self.peek_kw("INDEX") {
            return self.unsupported("LOAD other than LOAD DATA");
        }
        self.expect_kw("DATA")?;
        let _ = self.kw("LOW_PRIORITY") || self.kw("CONCURRENT");
        let local = self.kw("LOCAL");
        self.expect_kw("INFILE")?;
        let file = self.string()?;
        let replace = self.kw("REPLACE");
        let ignore = !replace && self.kw("IGNORE");
        self.expect_kw("INTO")?;
        self.expect_kw("TABLE")?;
        let table = self.table_name()?;
        if self.peek_kw("PARTITION") {
            return self.unsupported("PARTITION");
        }
        let charset = self.file_charset()?;
        let format = self.file_format()?;
        let mut skip = 0;
        if self.kw("IGNORE") {
            skip = self.uint()?;
            if !self.kw("LINES") && !self.kw("ROWS") {
                return Err(self.error());
            }
        }
        let mut fields = None;
        if self.tok(&Token::LParen) {
            fields = Some(if *self.peek() == Token::RParen {
                Vec::new()
            } else {
                self.comma_separated(|p| {
                    Ok(match p.user_variable() {
                        Some(name) => LoadField::Variable(name),
                        None => LoadField::Column(p.column_name()?.1),
                    })
                })?
            });
            self.expect_tok(&Token::RParen)?;
        }
        let start = self.here();
        let set = if self.kw("SET") {
            self.comma_separated(Self::assignment)?
        } else {
            Vec::new()
        };
        Ok(Stmt::LoadData(Box::new(LoadData {
            local,
            file,
            replace,
            ignore,
            table,
            charset,
            format,
            skip,
            fields: fields.filter(|f| !f.is_empty()),
            set,
            subqueries: self.subqueries_since(start),
        })))
    }

    /// `@name`
    fn user_variable(&mut self) -> Option<String> {
        match self.peek() {
            Token::Word(w) if w.value.starts_with('@') && !w.value.starts_with("@@") => {
                let name = w.value[1..].to_string();
                self.next();
                Some(name)
            }
            _ => None,
        }
    }

    fn file_charset(&mut self) -> SqlResult<Option<String>> {
        if self.kw2("CHARACTER", "SET") || self.kw("CHARSET") {
            return Ok(Some(match self.peek() {
                Token::Word(_) => self.ident()?,
                _ => self.string()?,
            }));
        }
        Ok(None)
    }

    fn file_format(&mut self) -> SqlResult<FileFormat> {
        let mut f = FileFormat::default();
        if self.kw("FIELDS") || self.kw("COLUMNS") {
            let mut any = false;
            loop {
                if self.kw2("TERMINATED", "BY") {
                    f.separator = self.string()?.into_bytes();
                } else if self.kw("ENCLOSED") {
                    self.expect_kw("BY")?;
                    f.quote = self.one_byte()?;
                } else if self.kw2("OPTIONALLY", "ENCLOSED") {
                    self.expect_kw("BY")?;
                    f.quote = self.one_byte()?;
                    f.optionally = true;
                } else if self.kw2("ESCAPED", "BY") {
                    f.escape = self.one_byte()?;
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        if self.kw("LINES") {
            let mut any = false;
            loop {
                if self.kw2("TERMINATED", "BY") {
                    f.end = self.string()?.into_bytes();
                } else if self.kw2("STARTING", "BY") {
                    f.start = self.string()?.into_bytes();
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        Ok(f)
    }

    /// A string of at most one byte.
    fn one_byte(&mut self) -> SqlResult<Option<u8>> {
        let s = self.string()?;
        match s.as_bytes() {
            [] => Ok(None),
            [b] => Ok(Some(*b)),
            _ => Err(SqlError::new(
                1083,
                b"42000",
                "Field separator argument is not what is expected; check the manual",
            )),
        }
    }

    /// INTO of a SELECT, if it is next. `late`: behind FROM, which is a deprecated place.
    pub(super) fn select_into(&mut self, late: bool) -> SqlResult<()> {
        let at = self.here();
        if !self.kw("INTO") {
            return Ok(());
        }
        if self.into.is_some() {
            return Err(self.error_at(at));
        }
        let into = if self.kw("OUTFILE") {
            let file = self.string()?;
            let charset = self.file_charset()?;
            Into::Outfile {
                file,
                charset,
                format: self.file_format()?,
            }
        } else if self.kw("DUMPFILE") {
            Into::Dumpfile(self.string()?)
        } else {
            Into::Variables(self.comma_separated(|p| match p.user_variable() {
                Some(name) => Ok(name),
                // Without stored programs there are no other variables.
                None => match p.peek() {
                    Token::Word(w) => Err(SqlError::new(
                        1327,
                        b"42000",
                        format!("Undeclared variable: {}", w.value),
                    )),
                    _ => Err(p.error()),
                },
            })?)
        };
        self.into = Some((into, late, at));
        Ok(())
    }

    /// 1064 if an INTO was met inside of a statement.
    pub(super) fn no_into(&self) -> SqlResult<()> {
        match &self.into {
            Some((_, _, at)) => Err(self.error_at(*at)),
            None => Ok(()),
        }
    }
}

/// NULL, for values that come from elsewhere.
pub(crate) fn null() -> AstExpr {
    AstExpr::Value(sqlparser::ast::Value::Null.with_empty_span())
}
