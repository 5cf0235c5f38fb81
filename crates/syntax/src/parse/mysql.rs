//! What only MySQL's grammar has. It is read under MySQL's face; otherwise it is the error that MariaDB gives.

use crate::ast::admin::{Admin, Backup};
use crate::ast::ddl::{AlterAction, Check, ColumnAttribute};
use crate::ast::{Call, CastType, Expr, Expression, From, Locking, Select, SelectItem};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::row_alias::RowAlias;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{SqlError, SqlResult};

impl Parser<'_> {
    /// The alias of an INSERT's row, if there is one. `columns`: those that the rows are for.
    pub(super) fn row_alias(&mut self, columns: Option<&[String]>) -> SqlResult<Option<RowAlias>> {
        if !is_mysql() || !self.eat(Kw::AS) {
            return Ok(None);
        }
        let table = self.ident()?;
        let mut names = Vec::new();
        if self.peek() == Tok::LParen {
            names = self.parenthesised(Self::ident)?;
        }
        let own = match columns {
            Some(own) if own.len() == names.len() => own,
            _ if names.is_empty() => &[],
            _ => {
                return Err(SqlError::unsupported(
                    "an alias of the row with other columns than INSERT names",
                ));
            }
        };
        let columns = names.into_iter().zip(own.iter().cloned()).collect();
        Ok(Some(RowAlias { table, columns }))
    }

    /// VALUES(column), if a name means the row to be inserted by its alias.
    pub(super) fn of_row_alias(&self, table: Option<&str>, name: &str) -> Option<Expr> {
        let column = self.row_alias.as_ref()?.column(table, name)?;
        Some(Expr::Values(Box::new(Expr::Column(column))))
    }

    /// `column->'path'` and `column->>'path'`.
    pub(super) fn json_path(&mut self, e: Expr) -> SqlResult<Expr> {
        if !matches!(e, Expr::Column(_) | Expr::Qualified(_)) {
            return Ok(e);
        }
        let unquoted = match self.peek() {
            Tok::Arrow => false,
            Tok::LongArrow => true,
            _ => return Ok(e),
        };
        self.bump();
        let path = Expr::Literal(crate::ast::Literal::String(self.string()?));
        let extract = call("json_extract", vec![e, path]);
        Ok(match unquoted {
            true => call("json_unquote", vec![extract]),
            false => extract,
        })
    }

    /// `TABLE name`, the query of all its rows, if it is next.
    pub(super) fn whole_table(&mut self) -> SqlResult<Option<Select>> {
        if !is_mysql() || !self.eat(Kw::TABLE) {
            return Ok(None);
        }
        let from = From::Table(self.table_ref()?);
        Ok(Some(Select {
            params: self.params,
            ..Select::of(vec![SelectItem::Wildcard], from)
        }))
    }

    /// ROW in front of a row of VALUES.
    pub(super) fn eat_row(&mut self) {
        if is_mysql() && self.peek_at(1) == Tok::LParen {
            self.eat(Kw::ROW);
        }
    }

    /// `(columns)` behind a derived table's alias: the names of its columns.
    pub(super) fn derived_columns(&mut self, query: &mut Select) -> SqlResult<()> {
        if !is_mysql() || self.peek() != Tok::LParen {
            return Ok(());
        }
        let names = self.parenthesised(Self::ident)?;
        // The first of queries that are put together names the columns.
        let mut first = query;
        while let [SelectItem::Wildcard] = first.items[..]
            && let Some(From::Set { first: inner, .. }) = &mut first.from
        {
            first = inner;
        }
        let plain = |i: &SelectItem| matches!(i, SelectItem::Expr { .. });
        if !first.items.iter().all(plain) {
            return Err(SqlError::unsupported(
                "names of columns for a derived table with *",
            ));
        }
        if first.items.len() != names.len() {
            return Err(errors::VIEW_WRONG_LIST.plain());
        }
        for (item, name) in first.items.iter_mut().zip(names) {
            if let SelectItem::Expr { alias, .. } = item {
                *alias = Some(name);
            }
        }
        Ok(())
    }

    /// `[DEFAULT] ENCRYPTION [=] 'N'` of a database: true if it was there. The whole folder is encrypted, or nothing is.
    pub(super) fn no_encryption(&mut self) -> SqlResult<bool> {
        let before = self.mark();
        self.eat(Kw::DEFAULT);
        if !is_mysql() || !self.eat_word("ENCRYPTION") {
            self.rewind(before);
            return Ok(false);
        }
        self.equals();
        match self.text()?.eq_ignore_ascii_case("N") {
            true => Ok(true),
            false => Err(SqlError::unsupported("ENCRYPTION='Y'")),
        }
    }

    /// `MEMBER OF` is next, which is an operator.
    pub(super) fn at_member_of(&self) -> bool {
        is_mysql() && self.at_nth(1, Kw::OF) && self.at_word("MEMBER")
    }

    /// Behind `value MEMBER`: `OF (array)`.
    pub(super) fn member_of(&mut self, value: Expr) -> SqlResult<Expr> {
        self.expect(Kw::OF)?;
        self.expect_tok(Tok::LParen)?;
        let array = self.nested(Self::expr)?;
        self.expect_tok(Tok::RParen)?;
        Ok(call("member of", vec![value, array]))
    }

    /// `CAST(value AS JSON)`, of which the value was read and the type is next.
    pub(super) fn cast_json(&mut self, value: &Expr) -> Option<Expr> {
        (is_mysql() && self.eat_word("JSON")).then(|| call("cast_as_json", vec![value.clone()]))
    }

    /// `RETURNING type` behind the arguments of JSON_VALUE: its value as of that type.
    pub(super) fn json_returning(&mut self, call: &Call) -> SqlResult<Option<CastType>> {
        let here = is_mysql() && call.name.eq_ignore_ascii_case("json_value");
        match here && self.eat(Kw::RETURNING) {
            true => self.cast_type().map(Some),
            false => Ok(None),
        }
    }

    /// `OF table, ...` of a locking clause behind the clauses `before`; empty if it speaks of all tables.
    ///
    /// # Errors
    /// 3568 for a table that FROM does not have, 3569 for one of which a clause before speaks.
    pub(super) fn locked_tables(
        &mut self,
        from: Option<&From>,
        before: &[Locking],
    ) -> SqlResult<Vec<String>> {
        let named = match is_mysql() && self.eat(Kw::OF) {
            true => self.comma_separated(Self::ident)?,
            false => Vec::new(),
        };
        let mut all = Vec::new();
        if let Some(from) = from {
            from.names(&mut all);
        }
        let is = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        if let Some(name) = named.iter().find(|n| !all.iter().any(|a| is(a, n))) {
            return Err(errors::UNRESOLVED_TABLE_LOCK.with([name]));
        }
        let of: Vec<&str> = match named.is_empty() {
            true => all,
            false => named.iter().map(String::as_str).collect(),
        };
        let spoken_of = |n: &&&str| {
            let has = |l: &Locking| l.of.is_empty() || l.of.iter().any(|o| is(o, n));
            before.iter().any(has)
        };
        match of.iter().find(spoken_of) {
            Some(name) if named.is_empty() => {
                let text = format!("Table {name} appears in multiple locking clauses.");
                Err(errors::DUPLICATE_TABLE_LOCK.text(text))
            }
            Some(name) => Err(errors::DUPLICATE_TABLE_LOCK.with([name])),
            None => Ok(named),
        }
    }

    /// 1235 if this is next, which MySQL's grammar goes on with here.
    pub(super) fn refuse_in_mysql(&self, next: Tok, what: &str) -> SqlResult<()> {
        match is_mysql() && self.peek() == next {
            true => Err(SqlError::unsupported(what)),
            false => Ok(()),
        }
    }

    /// `[NOT] ENFORCED` behind a CHECK, if it is next.
    pub(super) fn enforced(&mut self) -> Option<bool> {
        if !is_mysql() {
            return None;
        }
        let not = self.at(Kw::NOT) && self.at_word_nth(1, "ENFORCED");
        if not {
            self.bump();
        }
        self.eat_word("ENFORCED").then_some(!not)
    }

    /// `CHECK | CONSTRAINT name [NOT] ENFORCED` behind ALTER, if it is next.
    pub(super) fn enforce_check(&mut self) -> SqlResult<Option<AlterAction>> {
        if !is_mysql() {
            return Ok(None);
        }
        let check = self.eat(Kw::CHECK);
        if !check && !self.eat(Kw::CONSTRAINT) {
            return Ok(None);
        }
        let name = self.ident()?;
        match self.enforced() {
            Some(enforced) => Ok(Some(AlterAction::EnforceCheck {
                name,
                enforced,
                check,
            })),
            None => Err(self.error()),
        }
    }

    /// `[CONSTRAINT [name]] CHECK (...)` among a column's attributes, if it is next.
    pub(super) fn column_check(&mut self) -> SqlResult<Option<Check>> {
        if !is_mysql() {
            return Ok(None);
        }
        if self.at(Kw::CHECK) {
            return self.check(None).map(Some);
        }
        if !self.at(Kw::CONSTRAINT) {
            return Ok(None);
        }
        let before = self.mark();
        self.bump();
        let named = !self.at(Kw::CHECK) && self.at_ident();
        let name = named.then(|| self.ident()).transpose()?;
        match self.at(Kw::CHECK) {
            true => self.check(name).map(Some),
            false => {
                self.rewind(before);
                Ok(None)
            }
        }
    }

    /// `(expression)` in place of an index's column, if it is next.
    pub(super) fn index_expression(&mut self) -> SqlResult<Option<Expression>> {
        match is_mysql() && self.peek() == Tok::LParen {
            true if self.query_behind_parenthesis() => {
                self.bump();
                Err(self.error())
            }
            true => self.in_parentheses().map(Some),
            false => Ok(None),
        }
    }

    /// `[NOT] NULL` of a generated column, which MariaDB's have not.
    pub(super) fn generated_null(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        if !is_mysql() {
            return Ok(None);
        }
        if self.eat(Kw::NULL) {
            return Ok(Some(ColumnAttribute::Null));
        }
        if self.eat(Kw::NOT) {
            self.expect(Kw::NULL)?;
            return Ok(Some(ColumnAttribute::NotNull));
        }
        Ok(None)
    }

    /// `LOCK INSTANCE FOR BACKUP` is next, or `UNLOCK INSTANCE`.
    pub(super) fn at_instance(&self) -> bool {
        is_mysql() && self.at_word_nth(1, "INSTANCE")
    }

    /// That statement.
    pub(super) fn instance_lock(&mut self) -> SqlResult<Admin> {
        let locks = self.eat(Kw::LOCK) || !self.eat(Kw::UNLOCK);
        self.bump();
        if locks {
            self.expect(Kw::FOR)?;
            self.expect(Kw::BACKUP)?;
        }
        Ok(Admin::Backup(Backup::Instance(locks)))
    }

    /// LATERAL in front of a derived table, if it is next.
    pub(super) fn eat_lateral(&mut self) -> bool {
        is_mysql() && self.peek_at(1) == Tok::LParen && self.eat_word("LATERAL")
    }
}

/// A call of a built-in function.
fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Call(Box::new(Call {
        db: None,
        name: name.into(),
        args,
        arg_names: Vec::new(),
        parens: true,
        spaced: false,
        star: false,
        distinct: false,
        clauses: None,
    }))
}
