//! INSERT, REPLACE, UPDATE, DELETE.

use crate::ast::{
    Assignment, Delete, Expr, From, Insert, InsertSource, Limit, OrderItem, Portion, Priority,
    Select, SetValue, Statement, TableName, TableRef, Update, WriteJoin, WriteTargets,
};
use crate::keyword::Kw;
use crate::parse::level;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::face::is_mysql;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> SqlResult<Statement> {
        let (mut insert, subqueries) = self.with_subqueries(Self::insert_clauses)?;
        insert.subqueries = subqueries;
        insert.params = self.params;
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn insert_clauses(&mut self) -> SqlResult<Insert> {
        let replace = self.at(Kw::REPLACE);
        self.bump();
        let priority = match self.peek() {
            Tok::Word(Kw::LOW_PRIORITY) => Some(Priority::Low),
            Tok::Word(Kw::DELAYED) => Some(Priority::Delayed),
            Tok::Word(Kw::HIGH_PRIORITY) if !replace => Some(Priority::High),
            _ => None,
        };
        if priority.is_some() {
            self.bump();
        }
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.eat(Kw::INTO);
        let table = self.table_name_in_query()?;
        let partitions = self.partitions()?;
        let (columns, source) = self.insert_source()?;
        let mut on_duplicate = Vec::new();
        let alias = match replace {
            true => None,
            false => self.row_alias(columns.as_deref())?,
        };
        if !replace && self.eat(Kw::ON) {
            self.expect(Kw::DUPLICATE)?;
            self.expect(Kw::KEY)?;
            self.expect(Kw::UPDATE)?;
            self.row_alias = alias;
            let outer = std::mem::replace(&mut self.on_duplicate, true);
            let assignments = self.comma_separated(Self::column_assignment);
            self.on_duplicate = outer;
            on_duplicate = assignments?;
            self.row_alias = None;
        }
        Ok(Insert {
            replace,
            ignore,
            priority,
            table,
            partitions,
            columns,
            source,
            on_duplicate,
            returning: self.returning()?,
            subqueries: Vec::new(),
            params: 0,
        })
    }

    /// The list of columns, and where the rows come from.
    fn insert_source(&mut self) -> SqlResult<(Option<Vec<String>>, InsertSource)> {
        if self.eat(Kw::SET) {
            let set = self.comma_separated(Self::column_assignment)?;
            let columns = Some(set.iter().map(|a| a.column.clone()).collect());
            return Ok((
                columns,
                InsertSource::Values(vec![set.into_iter().map(|a| a.value).collect()]),
            ));
        }
        let mut columns = None;
        if self.peek() == Tok::LParen
            && !matches!(
                self.peek_at(1),
                Tok::LParen | Tok::Word(Kw::SELECT | Kw::WITH | Kw::VALUES)
            )
        {
            self.bump();
            let mut names = Vec::new();
            if self.peek() != Tok::RParen {
                names = self.comma_separated(|p| Ok(p.column_name()?.1))?;
            }
            self.expect_tok(Tok::RParen)?;
            // An empty list leaves none out, but in MySQL.
            columns = (!names.is_empty() || is_mysql()).then_some(names);
        }
        let source = match self.peek() {
            Tok::Word(Kw::VALUES | Kw::VALUE) => {
                self.bump();
                match self.peek() == Tok::Rows {
                    true => {
                        self.bump();
                        InsertSource::Literals(
                            self.literal_rows.take().ok_or_else(|| self.error())?,
                        )
                    }
                    false => self.rows()?,
                }
            }
            Tok::Word(Kw::TABLE) if is_mysql() => InsertSource::Select(Box::new(self.query()?)),
            Tok::LParen | Tok::Word(Kw::SELECT | Kw::WITH) => {
                InsertSource::Select(Box::new(self.query()?))
            }
            _ => return Err(self.error()),
        };
        Ok((columns, source))
    }

    /// The rows of VALUES, which may be the first of a UNION.
    fn rows(&mut self) -> SqlResult<InsertSource> {
        let before = self.mark();
        let rows = self.comma_separated(Self::row)?;
        if matches!(
            self.peek(),
            Tok::Word(Kw::UNION | Kw::EXCEPT | Kw::INTERSECT)
        ) {
            self.rewind(before - 1);
            self.subqueries.clear();
            return Ok(InsertSource::Select(Box::new(self.query()?)));
        }
        Ok(InsertSource::Values(rows))
    }

    fn row(&mut self) -> SqlResult<Vec<SetValue>> {
        self.eat_row();
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let v = self.comma_separated(Self::column_value)?;
        self.expect_tok(Tok::RParen)?;
        Ok(v)
    }

    fn column_value(&mut self) -> SqlResult<SetValue> {
        if self.at(Kw::DEFAULT) && self.peek_at(1) != Tok::LParen {
            self.bump();
            return Ok(SetValue::Default);
        }
        if self.eat(Kw::IGNORE) {
            return Ok(SetValue::Ignore);
        }
        Ok(SetValue::Expr(self.expr()?))
    }

    /// `[[db.]table.]column`: table, column.
    pub(super) fn column_name(&mut self) -> SqlResult<(Option<String>, String)> {
        let mut column = self.passing_ident()?;
        let mut table = None;
        for _ in 0..2 {
            if !self.eat_tok(Tok::Dot) {
                break;
            }
            table = Some(std::mem::replace(&mut column, self.passing_ident()?));
        }
        Ok((table, column))
    }

    pub(super) fn column_assignment(&mut self) -> SqlResult<Assignment> {
        let (table, column) = self.column_name()?;
        if !self.eat_tok(Tok::ColonEq) {
            self.expect_tok(Tok::Eq)?;
        }
        Ok(Assignment {
            table,
            column,
            value: self.column_value()?,
        })
    }

    /// FOR PORTION OF period FROM a TO b, if it is next.
    fn portion(&mut self) -> SqlResult<Option<Portion>> {
        if !self.eat_all(&[Kw::FOR, Kw::PORTION]) {
            return Ok(None);
        }
        if self.at_nth(1, Kw::SYSTEM_TIME) {
            return Err(self.error());
        }
        self.expect(Kw::OF)?;
        let period = self.ident()?;
        self.expect(Kw::FROM)?;
        let from = self.operators(level::BIT_OR)?;
        self.expect(Kw::TO)?;
        let to = self.operators(level::BIT_OR)?;
        Ok(Some(Portion { period, from, to }))
    }

    pub(super) fn update(&mut self) -> SqlResult<Statement> {
        let (statement, subqueries) = self.with_subqueries(Self::update_clauses)?;
        Ok(self.with_its_subqueries(statement, subqueries))
    }

    /// A statement whose expressions have these subqueries.
    fn with_its_subqueries(&self, mut s: Statement, subqueries: Vec<(usize, Select)>) -> Statement {
        match &mut s {
            Statement::Update(u) => (u.subqueries, u.params) = (subqueries, self.params),
            Statement::Delete(d) => (d.subqueries, d.params) = (subqueries, self.params),
            Statement::WriteJoin(w) => {
                (w.select.subqueries, w.select.params) = (subqueries, self.params)
            }
            _ => {}
        }
        s
    }

    fn update_clauses(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::UPDATE)?;
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let ignore = self.eat(Kw::IGNORE);
        let (from, portion) = self.update_tables()?;
        self.expect(Kw::SET)?;
        let assignments = self.comma_separated(Self::column_assignment)?;
        let where_ = self.where_clause()?;
        let (order_by, limit) = self.order_and_limit()?;
        Ok(match from {
            From::Table(table) => Statement::Update(Box::new(Update {
                ignore,
                low_priority,
                table,
                portion,
                assignments,
                where_,
                order_by,
                limit,
                subqueries: Vec::new(),
                params: 0,
            })),
            from => {
                let limit = limit.map(|count| Limit {
                    offset: None,
                    count,
                });
                Statement::WriteJoin(Box::new(WriteJoin {
                    ignore,
                    targets: WriteTargets::Update(assignments),
                    select: joined_select(from, where_, order_by, limit),
                }))
            }
        })
    }

    /// The tables of UPDATE: a join, or one table of which a portion may change.
    fn update_tables(&mut self) -> SqlResult<(From, Option<Portion>)> {
        let before = self.mark();
        let behind = if self.peek_at(1) == Tok::Dot { 3 } else { 1 };
        let portion = self.at_nth(behind, Kw::FOR) && self.at_nth(behind + 1, Kw::PORTION);
        if portion || self.at_nth(behind, Kw::PARTITION) {
            let name = self.table_name()?;
            let partitions = self.partitions()?;
            if let Some(portion) = self.portion()? {
                let mut t = TableRef {
                    name,
                    alias: None,
                    hints: Vec::new(),
                    partitions,
                    system_time: None,
                };
                if self.eat(Kw::AS) || self.at_ident() {
                    t.alias = Some(self.passing_ident()?);
                }
                return Ok((From::Table(t), Some(portion)));
            }
            self.rewind(before);
        }
        Ok((self.from()?, None))
    }

    pub(super) fn delete(&mut self) -> SqlResult<Statement> {
        let (statement, subqueries) = self.with_subqueries(Self::delete_clauses)?;
        Ok(self.with_its_subqueries(statement, subqueries))
    }

    fn delete_clauses(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::DELETE)?;
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        loop {
            match self.peek() {
                Tok::Word(Kw::LOW_PRIORITY) => low_priority = true,
                Tok::Word(Kw::QUICK) if self.is_delete_option() => quick = true,
                Tok::Word(Kw::IGNORE) => ignore = true,
                _ => break,
            }
            self.bump();
        }
        let history = self.at(Kw::HISTORY) && self.at_nth(1, Kw::FROM);
        if history {
            self.bump();
        }
        if !self.eat(Kw::FROM) {
            let targets = self.comma_separated(Self::delete_target)?;
            self.expect(Kw::FROM)?;
            return self.delete_from_join(ignore, targets);
        }
        if self.using_follows() {
            let targets = self.comma_separated(Self::delete_target)?;
            self.expect(Kw::USING)?;
            return self.delete_from_join(ignore, targets);
        }
        let name = self.table_name_in_query()?;
        let partitions = self.partitions()?;
        let mut d = Delete {
            ignore,
            low_priority,
            quick,
            history: None,
            table: TableRef {
                name,
                alias: None,
                hints: Vec::new(),
                partitions,
                system_time: None,
            },
            portion: self.portion()?,
            where_: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
            subqueries: Vec::new(),
            params: 0,
        };
        if history {
            let before = self.eat_all(&[Kw::BEFORE, Kw::SYSTEM_TIME]);
            d.history = Some(if before {
                Some(self.time_point()?)
            } else {
                None
            });
            return Ok(Statement::Delete(Box::new(d)));
        }
        d.where_ = self.where_clause()?;
        (d.order_by, d.limit) = self.order_and_limit()?;
        d.returning = self.returning()?;
        Ok(Statement::Delete(Box::new(d)))
    }

    /// QUICK may also be the name of a table.
    fn is_delete_option(&self) -> bool {
        !matches!(self.peek_at(1), Tok::Comma | Tok::Dot | Tok::End)
    }

    /// True for `DELETE FROM t, ... USING`.
    fn using_follows(&self) -> bool {
        for n in 0.. {
            match self.peek_at(n) {
                Tok::Word(Kw::USING) => return true,
                Tok::Word(
                    Kw::WHERE
                    | Kw::ORDER
                    | Kw::LIMIT
                    | Kw::RETURNING
                    | Kw::PARTITION
                    | Kw::FOR
                    | Kw::BEFORE,
                ) => {
                    return false;
                }
                Tok::Word(_) | Tok::QuotedIdent | Tok::Dot | Tok::Star | Tok::Comma => {}
                _ => return false,
            }
        }
        false
    }

    /// `[db.]t[.*]`
    fn delete_target(&mut self) -> SqlResult<TableName> {
        let mut name = self.passing_ident()?;
        let mut db = None;
        while self.eat_tok(Tok::Dot) {
            if self.eat_tok(Tok::Star) {
                break;
            }
            if db.is_some() {
                return Err(self.error());
            }
            db = Some(std::mem::replace(&mut name, self.passing_ident()?));
        }
        Ok(TableName { db, name })
    }

    fn delete_from_join(&mut self, ignore: bool, targets: Vec<TableName>) -> SqlResult<Statement> {
        let from = self.from()?;
        let where_ = self.where_clause()?;
        match from {
            // An unqualified table needs a database as its target does, so nothing is left to ask of the target.
            From::Table(table)
                if targets.len() == 1
                    && targets[0].db.is_none()
                    && table.name.db.is_none()
                    && targets[0].name == *table.alias.as_ref().unwrap_or(&table.name.name) =>
            {
                Ok(Statement::Delete(Box::new(Delete {
                    ignore,
                    low_priority: false,
                    quick: false,
                    history: None,
                    table,
                    portion: None,
                    where_,
                    order_by: Vec::new(),
                    limit: None,
                    returning: Vec::new(),
                    subqueries: Vec::new(),
                    params: 0,
                })))
            }
            from => Ok(Statement::WriteJoin(Box::new(WriteJoin {
                ignore,
                targets: WriteTargets::Delete(targets),
                select: joined_select(from, where_, Vec::new(), None),
            }))),
        }
    }
}

/// A SELECT without a select list, for UPDATE and DELETE of joins.
fn joined_select(
    from: From,
    where_: Option<Expr>,
    order_by: Vec<OrderItem>,
    limit: Option<Limit>,
) -> Select {
    Select {
        where_,
        order_by,
        limit,
        ..Select::of(Vec::new(), from)
    }
}
