//! CREATE, DROP, TRUNCATE, ALTER.

use super::P;
use crate::ast::{AlterAction, ColumnSpec, CreateTable, DdlStmt, IndexSpec};
use narwal_engine::{ColumnDef, DefaultDef};
use narwal_types::{BlobSize, Collation, ColumnType, SqlError, SqlResult, TypeKind};
use sqlparser::tokenizer::Token;

/// A type as written: kind, sign, and what decides its collation.
struct ParsedType {
    kind: TypeKind,
    unsigned: bool,
    collation: Option<Collation>,
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    serial: bool,
    /// Display width of an integer, if one was given.
    width: Option<u8>,
}

fn too_big(column: &str, max: u32) -> SqlError {
    SqlError::new(
        1074,
        b"42000",
        format!(
            "Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead"
        ),
    )
}

impl P<'_> {
    pub(super) fn ddl(&mut self) -> SqlResult<DdlStmt> {
        if self.kw("CREATE") {
            if self.kw2("OR", "REPLACE") {
                return self.unsupported("CREATE OR REPLACE");
            }
            if self.kw("TABLE") {
                return self.create_table();
            }
            if self.kw("DATABASE") || self.kw("SCHEMA") {
                return self.create_database();
            }
            if self.kw("INDEX") {
                return self.create_index(false);
            }
            if self.kw2("UNIQUE", "INDEX") {
                return self.create_index(true);
            }
            let what = self.word_for_message();
            return self.unsupported(&format!("CREATE {what}"));
        }
        if self.kw("DROP") {
            let temporary = self.kw("TEMPORARY");
            if self.kw("TABLE") || self.kw("TABLES") {
                let if_exists = self.if_exists()?;
                let tables = self.comma_separated(Self::table_name)?;
                let _ = self.kw("RESTRICT") || self.kw("CASCADE");
                if self.peek_kw("WAIT") || self.peek_kw("NOWAIT") {
                    return self.unsupported("DROP TABLE ... WAIT");
                }
                return Ok(DdlStmt::DropTable {
                    if_exists,
                    temporary,
                    tables,
                });
            }
            if self.kw("DATABASE") || self.kw("SCHEMA") {
                let if_exists = self.if_exists()?;
                return Ok(DdlStmt::DropDatabase {
                    if_exists,
                    name: self.ident()?,
                });
            }
            if self.kw("INDEX") {
                let if_exists = self.if_exists()?;
                let index = self.index_name_or_primary()?;
                self.expect_kw("ON")?;
                let table = self.table_name()?;
                self.algorithm_and_lock()?;
                return Ok(DdlStmt::DropIndex {
                    if_exists,
                    table,
                    index,
                });
            }
            let what = self.word_for_message();
            return self.unsupported(&format!("DROP {what}"));
        }
        if self.kw("TRUNCATE") {
            self.kw("TABLE");
            return Ok(DdlStmt::Truncate(self.table_name()?));
        }
        self.expect_kw("ALTER")?;
        if self.kw("DATABASE") || self.kw("SCHEMA") {
            let name = match self.peek() {
                Token::Word(w)
                    if w.quote_style.is_some()
                        || !["DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "COMMENT"]
                            .iter()
                            .any(|k| w.value.eq_ignore_ascii_case(k)) =>
                {
                    Some(self.ident()?)
                }
                _ => None,
            };
            let (collation, comment) = self.database_options()?;
            return Ok(DdlStmt::AlterDatabase {
                name,
                collation,
                comment,
            });
        }
        let _ = self.kw("ONLINE");
        let _ = self.kw("IGNORE");
        if self.kw("TABLE") {
            let table = self.table_name()?;
            let actions = self.comma_separated(Self::alter_action)?;
            return Ok(DdlStmt::AlterTable { table, actions });
        }
        let what = self.word_for_message();
        self.unsupported(&format!("ALTER {what}"))
    }

    fn word_for_message(&self) -> String {
        match self.peek() {
            Token::Word(w) => w.value.to_ascii_uppercase(),
            _ => "...".to_string(),
        }
    }

    fn if_exists(&mut self) -> SqlResult<bool> {
        if self.kw("IF") {
            self.expect_kw("EXISTS")?;
            return Ok(true);
        }
        Ok(false)
    }

    fn if_not_exists(&mut self) -> SqlResult<bool> {
        if self.kw("IF") {
            self.expect_kw("NOT")?;
            self.expect_kw("EXISTS")?;
            return Ok(true);
        }
        Ok(false)
    }

    fn create_database(&mut self) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.ident()?;
        let (collation, comment) = self.database_options()?;
        Ok(DdlStmt::CreateDatabase {
            if_not_exists,
            name,
            collation,
            comment,
        })
    }

    fn database_options(&mut self) -> SqlResult<(Option<Collation>, Option<String>)> {
        let mut collation = None;
        let mut comment = None;
        loop {
            self.kw("DEFAULT");
            if let Some(c) = self.charset_or_collate()? {
                collation = Some(c);
            } else if self.kw("COMMENT") {
                self.tok(&Token::Eq);
                comment = Some(self.string()?);
            } else {
                return Ok((collation, comment));
            }
        }
    }

    /// `CHARACTER SET [=] x`, `CHARSET [=] x` or `COLLATE [=] x`, if one is next.
    fn charset_or_collate(&mut self) -> SqlResult<Option<Collation>> {
        if self.kw2("CHARACTER", "SET") || self.kw("CHARSET") || self.kw2("CHAR", "SET") {
            self.tok(&Token::Eq);
            let name = self.option_word()?;
            return charset(&name).map(Some);
        }
        if self.kw("COLLATE") {
            self.tok(&Token::Eq);
            let name = self.option_word()?;
            return collation(&name).map(Some);
        }
        Ok(None)
    }

    /// A name, string or number given as an option's value, as text.
    fn option_word(&mut self) -> SqlResult<String> {
        let at = self.here();
        match self.next() {
            Token::Word(w) => Ok(w.value),
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Ok(s),
            Token::Number(n, _) => Ok(n),
            _ => Err(self.error_at(at)),
        }
    }

    fn create_table(&mut self) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        let table = self.table_name()?;
        if self.peek_kw("LIKE") {
            return self.unsupported("CREATE TABLE ... LIKE");
        }
        if self.peek_kw("AS") || self.peek_kw("SELECT") {
            return self.unsupported("CREATE TABLE ... SELECT");
        }
        self.expect_tok(&Token::LParen)?;
        if self.peek_kw("LIKE") {
            return self.unsupported("CREATE TABLE ... LIKE");
        }
        let mut t = CreateTable {
            if_not_exists,
            table,
            columns: Vec::new(),
            indexes: Vec::new(),
            engine: None,
            collation: None,
            comment: String::new(),
            auto_increment: 0,
        };
        loop {
            self.create_element(&mut t)?;
            if !self.tok(&Token::Comma) {
                break;
            }
        }
        self.expect_tok(&Token::RParen)?;
        self.table_options(&mut t)?;
        if self.peek_kw("AS") || self.peek_kw("SELECT") || *self.peek() == Token::LParen {
            return self.unsupported("CREATE TABLE ... SELECT");
        }
        Ok(DdlStmt::CreateTable(t))
    }

    fn create_element(&mut self, t: &mut CreateTable) -> SqlResult<()> {
        if self.peek_kw("FOREIGN") {
            return self.unsupported("FOREIGN KEY");
        }
        if self.peek_kw("CHECK") && *self.peek_nth(1) == Token::LParen {
            return self.unsupported("CHECK");
        }
        if self.peek_kw("FULLTEXT") || self.peek_kw("SPATIAL") {
            return self.unsupported("FULLTEXT and SPATIAL indexes");
        }
        if self.peek_kw("PERIOD") && self.peek_kw_nth(1, "FOR") {
            return self.unsupported("PERIOD FOR");
        }
        if self.is_index_start() {
            let spec = self.index_spec()?;
            t.indexes.push(spec);
            return Ok(());
        }
        self.column(t)
    }

    fn is_index_start(&self) -> bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "INDEX"]
            .iter()
            .any(|k| self.peek_kw(k))
    }

    /// `[CONSTRAINT [name]] PRIMARY KEY | UNIQUE [KEY|INDEX] [name] | KEY|INDEX [name]` with columns and options.
    fn index_spec(&mut self) -> SqlResult<IndexSpec> {
        let mut constraint = None;
        if self.kw("CONSTRAINT") {
            if !(self.peek_kw("PRIMARY")
                || self.peek_kw("UNIQUE")
                || self.peek_kw("FOREIGN")
                || self.peek_kw("CHECK"))
            {
                constraint = Some(self.ident()?);
            }
            if self.peek_kw("FOREIGN") {
                return self.unsupported("FOREIGN KEY");
            }
            if self.peek_kw("CHECK") {
                return self.unsupported("CHECK");
            }
        }
        let mut spec = IndexSpec {
            name: None,
            primary: false,
            unique: false,
            columns: Vec::new(),
            comment: String::new(),
        };
        if self.kw("PRIMARY") {
            self.expect_kw("KEY")?;
            spec.primary = true;
            spec.unique = true;
            constraint = None;
        } else if self.kw("UNIQUE") {
            spec.unique = true;
            let _ = self.kw("KEY") || self.kw("INDEX");
        } else if !(self.kw("KEY") || self.kw("INDEX")) {
            return Err(self.error());
        }
        if self.peek_kw("IF") {
            return self.unsupported("ADD INDEX IF NOT EXISTS");
        }
        if *self.peek() != Token::LParen && !self.peek_kw("USING") {
            let name = self.ident()?;
            if !spec.primary {
                spec.name = Some(name);
            }
        }
        if spec.name.is_none() {
            spec.name = constraint;
        }
        self.index_tail(&mut spec)?;
        Ok(spec)
    }

    /// `[USING BTREE] (columns) options`.
    fn index_tail(&mut self, spec: &mut IndexSpec) -> SqlResult<()> {
        self.index_type()?;
        self.expect_tok(&Token::LParen)?;
        spec.columns = self.comma_separated(|p| {
            let name = p.ident()?;
            let mut prefix = None;
            if p.tok(&Token::LParen) {
                prefix = Some(u32::try_from(p.uint()?).unwrap_or(u32::MAX));
                p.expect_tok(&Token::RParen)?;
            }
            let desc = p.kw("DESC");
            if !desc {
                p.kw("ASC");
            }
            Ok((name, prefix, desc))
        })?;
        self.expect_tok(&Token::RParen)?;
        loop {
            if self.kw("COMMENT") {
                self.tok(&Token::Eq);
                spec.comment = self.string()?;
            } else if self.kw("KEY_BLOCK_SIZE") {
                self.tok(&Token::Eq);
                self.uint()?;
            } else if self.peek_kw("USING") || self.peek_kw("TYPE") {
                self.index_type()?;
            } else if self.kw("NOT") {
                self.expect_kw("IGNORED")?;
            } else if self.peek_kw("IGNORED") || self.peek_kw("WITH") || self.peek_kw("INVISIBLE") {
                return self.unsupported("IGNORED indexes and WITH PARSER");
            } else if !self.kw("VISIBLE") {
                return Ok(());
            }
        }
    }

    fn index_type(&mut self) -> SqlResult<()> {
        if self.kw("USING") || self.kw("TYPE") {
            // HASH is built as BTREE by InnoDB too.
            if !self.kw("BTREE") && !self.kw("HASH") {
                return self.unsupported("index types other than BTREE");
            }
        }
        Ok(())
    }

    fn index_name_or_primary(&mut self) -> SqlResult<String> {
        if self.kw("PRIMARY") {
            return Ok("PRIMARY".to_string());
        }
        self.ident()
    }

    fn create_index(&mut self, unique: bool) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        let mut spec = IndexSpec {
            name: Some(self.ident()?),
            primary: false,
            unique,
            columns: Vec::new(),
            comment: String::new(),
        };
        self.index_type()?;
        self.expect_kw("ON")?;
        let table = self.table_name()?;
        self.index_tail(&mut spec)?;
        self.algorithm_and_lock()?;
        Ok(DdlStmt::CreateIndex {
            if_not_exists,
            table,
            index: spec,
        })
    }

    /// `ALGORITHM = DEFAULT|INPLACE|COPY...` and `LOCK = DEFAULT|SHARED...`: what Narwal does fits all but LOCK=NONE.
    fn algorithm_and_lock(&mut self) -> SqlResult<()> {
        loop {
            if self.kw("ALGORITHM") {
                self.tok(&Token::Eq);
                self.option_word()?;
            } else if self.kw("LOCK") {
                self.tok(&Token::Eq);
                if self.option_word()?.eq_ignore_ascii_case("NONE") {
                    return self.unsupported("LOCK=NONE");
                }
            } else if self.peek_kw("WAIT") || self.peek_kw("NOWAIT") {
                return self.unsupported("WAIT and NOWAIT in DDL");
            } else {
                return Ok(());
            }
        }
    }

    fn alter_action(&mut self) -> SqlResult<AlterAction> {
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

    fn table_options(&mut self, t: &mut CreateTable) -> SqlResult<()> {
        loop {
            self.tok(&Token::Comma);
            self.kw("DEFAULT");
            if self.kw("ENGINE") {
                self.tok(&Token::Eq);
                t.engine = Some(self.option_word()?);
            } else if let Some(c) = self.charset_or_collate()? {
                t.collation = Some(c);
            } else if self.kw("COMMENT") {
                self.tok(&Token::Eq);
                t.comment = self.string()?;
            } else if self.kw("AUTO_INCREMENT") {
                self.tok(&Token::Eq);
                t.auto_increment = self.uint()?;
            } else if self.kw("ROW_FORMAT")
                || self.kw("KEY_BLOCK_SIZE")
                || self.kw("MAX_ROWS")
                || self.kw("MIN_ROWS")
                || self.kw("AVG_ROW_LENGTH")
                || self.kw("PACK_KEYS")
                || self.kw("STATS_PERSISTENT")
                || self.kw("STATS_AUTO_RECALC")
                || self.kw("STATS_SAMPLE_PAGES")
                || self.kw("CHECKSUM")
                || self.kw("DELAY_KEY_WRITE")
            {
                // Hints about another engine's files: they change nothing a client can see.
                self.tok(&Token::Eq);
                self.option_word()?;
            } else if self.peek_kw("PARTITION") {
                return self.unsupported("PARTITION BY");
            } else if self.peek_kw("WITH")
                || self.peek_kw("DATA")
                || self.peek_kw("INDEX")
                || self.peek_kw("UNION")
                || self.peek_kw("CONNECTION")
                || self.peek_kw("PAGE_COMPRESSED")
                || self.peek_kw("ENCRYPTED")
            {
                let what = self.word_for_message();
                return self.unsupported(&format!("table option {what}"));
            } else {
                return Ok(());
            }
        }
    }

    fn column(&mut self, t: &mut CreateTable) -> SqlResult<()> {
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
                def.default = self.default_value()?;
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

    fn opt_len(&mut self) -> SqlResult<Option<u64>> {
        if self.tok(&Token::LParen) {
            let n = self.uint()?;
            self.expect_tok(&Token::RParen)?;
            return Ok(Some(n));
        }
        Ok(None)
    }

    fn data_type(&mut self, column: &str) -> SqlResult<ParsedType> {
        let at = self.here();
        let word = match self.next() {
            Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
            _ => return Err(self.error_at(at)),
        };
        let mut unsigned = false;
        let mut collation = None;
        let mut serial = false;
        let mut width = None;
        let kind = match word.as_str() {
            "TINYINT" | "INT1" => self.int(TypeKind::TinyInt, column, &mut width)?,
            "SMALLINT" | "INT2" => self.int(TypeKind::SmallInt, column, &mut width)?,
            "MEDIUMINT" | "INT3" | "MIDDLEINT" => {
                self.int(TypeKind::MediumInt, column, &mut width)?
            }
            "INT" | "INTEGER" | "INT4" => self.int(TypeKind::Int, column, &mut width)?,
            "BIGINT" | "INT8" => self.int(TypeKind::BigInt, column, &mut width)?,
            "BOOL" | "BOOLEAN" => {
                width = Some(1);
                TypeKind::TinyInt
            }
            "SERIAL" => {
                unsigned = true;
                serial = true;
                TypeKind::BigInt
            }
            "DECIMAL" | "NUMERIC" | "DEC" | "FIXED" => {
                let (mut p, mut s) = (10, 0);
                if self.tok(&Token::LParen) {
                    p = self.uint()?;
                    if self.tok(&Token::Comma) {
                        s = self.uint()?;
                    }
                    self.expect_tok(&Token::RParen)?;
                }
                if p == 0 {
                    p = 10;
                }
                if p > 65 {
                    return Err(SqlError::new(
                        1426,
                        b"42000",
                        format!("Too big precision specified for '{column}'. Maximum is 65"),
                    ));
                }
                if s > 38 {
                    return Err(SqlError::new(
                        1425,
                        b"42000",
                        format!("Too big scale specified for '{column}'. Maximum is 38"),
                    ));
                }
                if s > p {
                    return Err(SqlError::new(
                        1427,
                        b"42000",
                        format!(
                            "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{column}')"
                        ),
                    ));
                }
                TypeKind::Decimal(p as u8, s as u8)
            }
            "FLOAT" => {
                if self.tok(&Token::LParen) {
                    let p = self.uint()?;
                    if self.peek() == &Token::Comma {
                        return self.unsupported("FLOAT(M,D)");
                    }
                    self.expect_tok(&Token::RParen)?;
                    match p {
                        0..=24 => TypeKind::Float,
                        25..=53 => TypeKind::Double,
                        _ => {
                            return Err(SqlError::new(
                                1063,
                                b"42000",
                                format!("Incorrect column specifier for column '{column}'"),
                            ));
                        }
                    }
                } else {
                    TypeKind::Float
                }
            }
            "FLOAT4" => TypeKind::Float,
            "DOUBLE" | "REAL" | "FLOAT8" => {
                if word == "DOUBLE" {
                    self.kw("PRECISION");
                }
                if *self.peek() == Token::LParen {
                    return self.unsupported("DOUBLE(M,D)");
                }
                TypeKind::Double
            }
            "CHAR" | "CHARACTER" | "NCHAR" if self.kw("VARYING") => self.varchar(column)?,
            "CHAR" | "CHARACTER" | "NCHAR" => {
                let n = self.opt_len()?.unwrap_or(1);
                if n > 255 {
                    return Err(too_big(column, 255));
                }
                TypeKind::Char(n as u16)
            }
            "VARCHAR" | "NVARCHAR" | "VARCHARACTER" => self.varchar(column)?,
            "BINARY" => {
                let n = self.opt_len()?.unwrap_or(1);
                if n > 255 {
                    return Err(too_big(column, 255));
                }
                TypeKind::Binary(n as u16)
            }
            "VARBINARY" => {
                let at = self.here();
                let n = self.opt_len()?.ok_or_else(|| self.error_at(at))?;
                if n > 65532 {
                    return Err(too_big(column, 65532));
                }
                TypeKind::VarBinary(n as u16)
            }
            "TINYTEXT" => TypeKind::Text(BlobSize::Tiny),
            "TEXT" => TypeKind::Text(sized(self.opt_len()?, 4)),
            "MEDIUMTEXT" => TypeKind::Text(BlobSize::Medium),
            "LONGTEXT" => TypeKind::Text(BlobSize::Long),
            "LONG" => {
                if self.kw("VARBINARY") {
                    TypeKind::Blob(BlobSize::Medium)
                } else {
                    self.kw("VARCHAR");
                    TypeKind::Text(BlobSize::Medium)
                }
            }
            "TINYBLOB" => TypeKind::Blob(BlobSize::Tiny),
            "BLOB" => TypeKind::Blob(sized(self.opt_len()?, 1)),
            "MEDIUMBLOB" => TypeKind::Blob(BlobSize::Medium),
            "LONGBLOB" => TypeKind::Blob(BlobSize::Long),
            "DATE" => TypeKind::Date,
            "TIME" => TypeKind::Time(self.opt_fsp(column)?),
            "DATETIME" => TypeKind::DateTime(self.opt_fsp(column)?),
            "TIMESTAMP" => TypeKind::Timestamp(self.opt_fsp(column)?),
            "YEAR" => {
                if self.opt_len()? == Some(2) {
                    return self.unsupported("YEAR(2)");
                }
                TypeKind::Year
            }
            "ENUM" | "SET" | "BIT" | "JSON" | "GEOMETRY" | "POINT" | "LINESTRING" | "POLYGON"
            | "MULTIPOINT" | "UUID" | "INET4" | "INET6" => {
                return self.unsupported(&format!("type {word}"));
            }
            _ => return Err(self.error_at(at)),
        };
        loop {
            if is_number(kind) && self.kw("UNSIGNED") {
                unsigned = true;
            } else if is_number(kind) && self.kw("SIGNED") {
                // The default.
            } else if is_number(kind) && self.peek_kw("ZEROFILL") {
                return self.unsupported("ZEROFILL");
            } else if is_text(kind) && self.kw("BINARY") {
                collation = Some(Collation::Utf8mb4Bin);
            } else if is_text(kind) && self.kw("UNICODE") {
                return self.unsupported("character set ucs2");
            } else if is_text(kind) && self.peek_kw("ASCII") {
                return self.unsupported("character set latin1");
            } else {
                break;
            }
        }
        Ok(ParsedType {
            kind,
            unsigned,
            collation,
            serial,
            width,
        })
    }

    fn int(&mut self, kind: TypeKind, column: &str, width: &mut Option<u8>) -> SqlResult<TypeKind> {
        // It is kept to be shown: drivers take tinyint(1) for a boolean.
        match self.opt_len()? {
            Some(n) if n > 255 => Err(SqlError::new(
                1439,
                b"42000",
                format!("Display width out of range for '{column}' (max = 255)"),
            )),
            n => {
                *width = n.filter(|n| *n > 0).map(|n| n as u8);
                Ok(kind)
            }
        }
    }

    fn varchar(&mut self, column: &str) -> SqlResult<TypeKind> {
        let at = self.here();
        let n = self.opt_len()?.ok_or_else(|| self.error_at(at))?;
        if n > 16383 {
            return Err(too_big(column, 16383));
        }
        Ok(TypeKind::VarChar(n as u16))
    }

    fn opt_fsp(&mut self, column: &str) -> SqlResult<u8> {
        match self.opt_len()? {
            None => Ok(0),
            Some(n) if n <= 6 => Ok(n as u8),
            Some(_) => Err(SqlError::new(
                1426,
                b"42000",
                format!("Too big precision specified for '{column}'. Maximum is 6"),
            )),
        }
    }
}

fn is_number(k: TypeKind) -> bool {
    matches!(
        k,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Decimal(..)
    )
}

pub(crate) fn is_text(k: TypeKind) -> bool {
    matches!(
        k,
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
    )
}

/// `TEXT(n)`, `BLOB(n)`: the smallest that holds n.
fn sized(n: Option<u64>, bytes_per_char: u64) -> BlobSize {
    match n.map(|n| n.saturating_mul(bytes_per_char)) {
        None => BlobSize::Normal,
        Some(0..=255) => BlobSize::Tiny,
        Some(256..=65_535) => BlobSize::Normal,
        Some(65_536..=16_777_215) => BlobSize::Medium,
        Some(_) => BlobSize::Long,
    }
}

/// A character set's default collation, or why not.
pub(crate) fn charset(name: &str) -> SqlResult<Collation> {
    match name.to_ascii_lowercase().as_str() {
        "utf8mb4" => Ok(Collation::Utf8mb4GeneralCi),
        "binary" => Ok(Collation::Binary),
        "utf8" | "utf8mb3" | "latin1" | "latin2" | "ascii" | "ucs2" | "utf16" | "utf32"
        | "cp1250" | "cp1251" | "cp1252" | "cp1256" | "cp1257" | "koi8r" | "koi8u" | "sjis"
        | "ujis" | "gbk" | "gb2312" | "big5" | "euckr" | "latin5" | "latin7" | "greek"
        | "hebrew" | "swe7" | "dec8" | "hp8" | "cp850" | "cp852" | "cp866" | "macce"
        | "macroman" | "tis620" | "armscii8" | "keybcs2" | "geostd8" | "cp932" | "eucjpms"
        | "utf16le" => Err(SqlError::unsupported(format!("character set {name}"))),
        _ => Err(SqlError::new(
            1115,
            b"42000",
            format!("Unknown character set: '{name}'"),
        )),
    }
}

/// A collation by name, or why not.
pub(crate) fn collation(name: &str) -> SqlResult<Collation> {
    match name.to_ascii_lowercase().as_str() {
        "utf8mb4_general_ci" => Ok(Collation::Utf8mb4GeneralCi),
        "utf8mb4_bin" => Ok(Collation::Utf8mb4Bin),
        "binary" => Ok(Collation::Binary),
        n if n.split('_').next().is_some_and(|c| {
            matches!(
                c,
                "utf8mb4"
                    | "utf8mb3"
                    | "utf8"
                    | "latin1"
                    | "ascii"
                    | "ucs2"
                    | "utf16"
                    | "utf32"
                    | "uca1400"
            )
        }) =>
        {
            Err(SqlError::unsupported(format!("collation {name}")))
        }
        _ => Err(SqlError::new(
            1273,
            b"HY000",
            format!("Unknown collation: '{name}'"),
        )),
    }
}
