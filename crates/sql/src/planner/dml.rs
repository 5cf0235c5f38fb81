//! Binding and planning INSERT, REPLACE, UPDATE and DELETE.

use crate::bind::param::left_out;
use crate::bind::scope::{Clause, Scope, SelectedColumns, Source};
use crate::bind::sequence_rights::note_used;
use crate::bind::table_rules::rules;
use crate::bind::{bind, bind_condition};
use crate::expr::for_each_operand;
use crate::expr::functions::passed_on::into_column;
use crate::expr::node::{AggFunc, Expr, ExprKind, ExprType};
use crate::param_type::ParamDefault;
use crate::plan::access::{Access, Lookup};
use crate::plan::dml::{
    DefaultValue, DeletePlan, InsertPlan, ReturningPlan, RowSource, SetPlan, StoreValue,
    UpdatePlan, runs_each_row, store_mode, store_target,
};
use crate::plan::query::Digits;
use crate::plan::query::{Out, Rows, SelectPlan, TablePlan};
use crate::plan::query::{SortKey, SubPlan};
use crate::planner::auto_is_null::what_null_finds;
use crate::planner::bind_select::has_subquery;
use crate::planner::condition::all_of;
use crate::planner::condition::split_late;
use crate::planner::condition::{in_clause, unknown_column};
use crate::planner::portion::{reads_no_portion, sets_no_period, with_portion};
use crate::planner::resolve::Resolver;
use crate::planner::rules::alternatives::alternatives;
use crate::planner::rules::functional::HiddenColumns;
use crate::planner::subqueries::Subqueries;
use crate::planner::view_write::{Verb, Written, full_name};
use crate::privilege::Privilege;
use crate::query_walk::for_each_table;
use narwal_engine::{DefaultDef, Table};
use narwal_syntax::ast::{
    Assignment, Delete, Expr as AstExpr, From, Insert, InsertSource, OrderItem, Priority, Select,
    SelectItem, SetValue, TableRef, Update,
};
use narwal_syntax::{LiteralRows, SqlMode};
use narwal_types::convert::{NoWarnings, StoreMode, default_input, fits, implicit_default, store};
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::temporal_parse::DateRules;
use narwal_types::{
    Charset, ColumnType, Decimal, Member, SqlError, SqlResult, TypeKind, Value, Zone,
};
use std::sync::Arc;

/// An account as messages show it.
fn quoted_account(account: &str) -> String {
    let (user, host) = account.rsplit_once('@').unwrap_or((account, ""));
    format!("'{user}'@'{host}'")
}

/// Error 1093, and 1443 where a view stands between: a subquery reads the table that the statement changes. With `aliases`
/// a table under another name is another table.
pub(super) fn apart_from(
    table: &Table,
    plans: &[SubPlan],
    asts: &[(usize, Select)],
    verb: &str,
    aliases: bool,
) -> SqlResult<()> {
    if !plans.iter().any(|s| s.plan.reads_table(table)) {
        return Ok(());
    }
    let name = &table.def.name;
    let (mut direct, mut renamed, mut view) = (false, false, None);
    for (_, s) in asts {
        for_each_table(&mut s.clone(), &mut |t| match t.name.name == *name {
            true if aliases && t.alias.is_some() => renamed = true,
            true => direct = true,
            false => view = Some(t.name.name.clone()),
        });
    }
    match view {
        _ if direct => Err(errors::UPDATE_TABLE_USED.with([name, &verb])),
        _ if renamed => Ok(()),
        Some(view) => Err(errors::VIEW_PREVENT_UPDATE.with([&view, &verb, name])),
        None => Ok(()),
    }
}

/// The order in which INSERT gives columns their values.
fn order_of(given: &[Option<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..given.len()).collect();
    order.sort_by_key(|c| given[*c].map_or(0, |n| n + 1));
    order
}

/// An expression on its way into a column. `0x41`, `b'1'` and choices among such are numbers there if the column is one;
/// `x'41'` is a text.
fn stored(e: Expr, to: &ColumnType) -> Expr {
    let bits = e.are_bits();
    let long = matches!(&e.kind, ExprKind::Literal(Value::Bytes(b)) if b.len() > 8);
    let of_bits = matches!(to.kind, TypeKind::Bit(_));
    match bits && (to.is_numeric() || long && of_bits) {
        // Beyond every integer.
        true if long && (to.is_integer() || of_bits) => {
            Expr::literal(Value::Decimal(Decimal::from_i128(1 << 64, 0)))
        }
        true => e.bits_as_number(),
        false => into_column(e.as_stored(to), to),
    }
}

/// What a SELECT computes for numeric columns: literals of bits are numbers there, unless rows are kept on the way.
fn numbered(mut plan: SelectPlan, columns: &[usize], table: &Table) -> SelectPlan {
    if plan.distinct || plan.computes_over_rows() {
        return plan;
    }
    for (item, c) in plan.items.iter_mut().zip(columns) {
        let to = &table.def.columns[*c].ty;
        if let Out::Expr(e) = item
            && e.are_bits()
            && to.is_numeric()
        {
            *e = stored(e.clone(), to);
        }
    }
    plan
}

/// The values of a SELECT that go into binary columns, and the character sets whose bytes they are there.
fn encoded(rows: &RowSource, columns: &[usize], table: &Table) -> Vec<(usize, Charset)> {
    let RowSource::Select(plan) = rows else {
        return Vec::new();
    };
    let set = |(at, c): (usize, &usize)| {
        let set = plan.columns[at].ty.bytes_for(&table.def.columns[*c].ty)?;
        Some((at, set))
    };
    columns.iter().enumerate().filter_map(set).collect()
}

/// The values of a SELECT that come from another character set than their column's, if it has codes of its own: both sets.
fn passed_on(
    rows: &RowSource,
    columns: &[usize],
    table: &Table,
) -> Vec<(usize, (Charset, Charset))> {
    let RowSource::Select(plan) = rows else {
        return Vec::new();
    };
    let sets = |(at, c): (usize, &usize)| {
        let sets = plan.columns[at]
            .ty
            .passed_on_to(&table.def.columns[*c].ty)?;
        Some((at, sets))
    };
    columns.iter().enumerate().filter_map(sets).collect()
}

/// True if the select list has an aggregate: its rows are no rows of tables then.
fn aggregates(s: &Select) -> bool {
    fn inside(e: &mut AstExpr) -> bool {
        let mut found =
            matches!(e, AstExpr::Call(c) if AggFunc::named(&c.name.to_ascii_lowercase()).is_some());
        for_each_operand(e, &mut |e| found |= inside(e));
        found
    }
    (s.items.iter()).any(|i| match i {
        SelectItem::Expr { expr, .. } => inside(&mut expr.clone()),
        _ => false,
    })
}

/// Error 1136 for a row of VALUES, counted from 1.
/// A column's name as it was written.
fn written_name(column: &AstExpr) -> String {
    match column {
        AstExpr::Column(name) => name.clone(),
        AstExpr::Qualified(q) => {
            let parts = [q.db.as_deref(), Some(&*q.table), Some(&*q.column)];
            parts.into_iter().flatten().collect::<Vec<_>>().join(".")
        }
        _ => String::new(),
    }
}

fn count_error(row: usize) -> SqlError {
    errors::WRONG_VALUE_COUNT_ON_ROW.with([&row])
}

fn check_count(values: usize, columns: usize, row: usize) -> SqlResult<()> {
    match values == columns {
        true => Ok(()),
        false => Err(count_error(row)),
    }
}

/// Error 1616: INSERT DELAYED into a table whose engine, as declared, has none in MariaDB. Others are written at once.
fn may_be_delayed(i: &Insert, table: &Table) -> SqlResult<()> {
    let delayed = i.priority == Some(Priority::Delayed)
        && !matches!(i.source, InsertSource::Select(_))
        && !is_mysql();
    let declared = table.def.declared.as_deref();
    let has_it = declared.is_some_and(|e| !e.eq_ignore_ascii_case("Aria"));
    match delayed && !table.temporary && !has_it {
        true => Err(errors::DELAYED_NOT_SUPPORTED.with([&table.def.name])),
        false => Ok(()),
    }
}

/// As MariaDB: a column that ON DUPLICATE KEY UPDATE sets needs no default.
fn need_no_default(sets: &[SetPlan], given: &[Option<usize>], defaults: &mut [DefaultValue]) {
    for set in sets {
        if let (None, DefaultValue::Missing(v)) = (given[set.column], &defaults[set.column]) {
            defaults[set.column] = DefaultValue::Const(v.clone());
        }
    }
}

impl Resolver<'_> {
    pub(super) fn default_value(
        &self,
        table: &Arc<Table>,
        column: usize,
    ) -> SqlResult<DefaultValue> {
        let c = &table.def.columns[column];
        if c.auto_increment {
            return Ok(DefaultValue::Generate);
        }
        if c.generated.is_some() && !c.nullable {
            // Something, until the expression has its value.
            return Ok(DefaultValue::Const(implicit_default(&c.ty)));
        }
        Ok(match &c.default {
            DefaultDef::None if c.nullable => DefaultValue::Const(Value::Null),
            DefaultDef::Null => DefaultValue::Const(Value::Null),
            DefaultDef::None => DefaultValue::Missing(implicit_default(&c.ty)),
            DefaultDef::CurrentTimestamp(f) => DefaultValue::Now(*f),
            DefaultDef::Moment(_) => {
                let utc = c.default_moment(Zone::UTC);
                DefaultValue::Const(utc.map_or(Value::Null, Value::DateTime))
            }
            DefaultDef::Text(t) => {
                let v = default_input(t, &c.ty);
                if fits(v, &c.ty, c.nullable) {
                    DefaultValue::Const(v.to_value())
                } else {
                    // What the session's mode says of dates is asked of each row.
                    let mode = StoreMode {
                        dates: DateRules::default(),
                        ..store_mode(self.env, true, true)
                    };
                    let target = store_target(table, column);
                    DefaultValue::Const(store(v, &target, 1, &mode, &mut NoWarnings)?)
                }
            }
            DefaultDef::Expr(_) => match rules(table)?.and_then(|r| r.defaults[column].clone()) {
                Some(e) if e.are_bits() => DefaultValue::Expr(Box::new(stored(e, &c.ty))),
                Some(e) => DefaultValue::Expr(Box::new(e)),
                None => DefaultValue::Const(Value::Null),
            },
        })
    }

    /// A default that draws from a sequence needs a right on it.
    fn use_default(&self, d: &DefaultValue) {
        if let DefaultValue::Expr(e) = d {
            note_used(self.env, e);
        }
    }

    /// DEFAULT or IGNORE in place of a parameter's value.
    fn left_out(&self, v: &SetValue) -> Option<ParamDefault> {
        match v {
            SetValue::Default => None,
            SetValue::Ignore => Some(ParamDefault::Ignore),
            SetValue::Expr(e) => left_out(self.env, e),
        }
    }

    /// What `SET column = DEFAULT` of an UPDATE gives. Error 1364 if there is none, whatever the mode, and though no row may match.
    pub(super) fn default_in_update(
        &self,
        table: &Arc<Table>,
        column: usize,
    ) -> SqlResult<DefaultValue> {
        let def = &table.def.columns[column];
        match self.default_value(table, column)? {
            DefaultValue::Missing(_) => Err(errors::NO_DEFAULT_FOR_FIELD.with([&def.name])),
            DefaultValue::Generate => Ok(DefaultValue::Const(implicit_default(&def.ty))),
            d => Ok(d),
        }
    }

    fn set_plans(
        &self,
        list: &[Assignment],
        written: &Written,
        insert_values: bool,
        selected: Option<&SelectedColumns>,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<Vec<SetPlan>> {
        let table = written.table();
        let scope = Scope {
            sources: &written.sources,
            insert_values,
            selected,
            planner: Some(subqueries),
            ..Scope::empty(self.env)
        };
        list.iter()
            .map(|a| {
                let full = || full_name(a);
                let clause = if insert_values { "UPDATE" } else { "SET" };
                if a.table.as_ref().is_some_and(|t| t != written.name()) {
                    return Err(unknown_column(&full(), clause));
                }
                let column = written
                    .column(&a.column)?
                    .ok_or_else(|| unknown_column(&full(), clause))?;
                self.note_written(written, &a.column, Privilege::Update, false);
                if insert_values {
                    // As MariaDB, whatever the new value is.
                    self.note_written(written, &a.column, Privilege::Select, false);
                }
                let left_out = self.left_out(&a.value);
                let value = match (&a.value, left_out) {
                    (_, Some(ParamDefault::Ignore)) if !insert_values => {
                        let same = Expr::column(&scope, 0, column)
                            .ok_or_else(|| unknown_column(&full(), clause))?;
                        StoreValue::Expr(same)
                    }
                    (SetValue::Default | SetValue::Ignore, _) | (_, Some(_)) => {
                        let default = match insert_values {
                            false => self.default_in_update(table, column)?,
                            true => match self.default_value(table, column)? {
                                DefaultValue::Generate => DefaultValue::Missing(implicit_default(
                                    &table.def.columns[column].ty,
                                )),
                                d => d,
                            },
                        };
                        self.use_default(&default);
                        StoreValue::Default(default)
                    }
                    (SetValue::Expr(ast), None) => {
                        let e = bind(ast, &scope).map_err(|e| {
                            in_clause(e, if insert_values { "SELECT" } else { "SET" })
                        })?;
                        let def = &table.def.columns[column];
                        match def.generated {
                            None => StoreValue::Expr(stored(e, &def.ty)),
                            Some(_) => StoreValue::Ignored(Box::new(e)),
                        }
                    }
                };
                Ok(SetPlan { column, value })
            })
            .collect::<SqlResult<Vec<_>>>()
            .and_then(|sets| self.once_each(written, sets))
    }

    /// Assignments that all see the row as it was set a column once: error 4140.
    fn once_each(&self, written: &Written, sets: Vec<SetPlan>) -> SqlResult<Vec<SetPlan>> {
        if self.env.sql_mode.has(SqlMode::SIMULTANEOUS_ASSIGNMENT)
            && let Some((_, twice)) = (sets.iter().enumerate())
                .find(|(i, s)| sets[..*i].iter().any(|earlier| earlier.column == s.column))
        {
            let def = &written.table().def;
            return Err(
                errors::UPDATED_COLUMN_ONLY_ONCE.with([&def.name, &def.columns[twice.column].name])
            );
        }
        Ok(sets)
    }

    pub(super) fn on_update(table: &Table, sets: &[SetPlan]) -> Vec<(usize, u8)> {
        table
            .columns()
            .iter()
            .enumerate()
            .filter(|(i, _)| !sets.iter().any(|s| s.column == *i))
            .filter_map(|(i, c)| c.on_update.map(|f| (i, f)))
            .collect()
    }

    /// The table that a statement writes.
    fn target(
        &self,
        t: &TableRef,
        verb: Verb,
        columns: Option<&[String]>,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<Written> {
        let db = self.db_of(&t.name)?.to_string();
        if db.eq_ignore_ascii_case("information_schema") {
            return Err(errors::DBACCESS_DENIED_ERROR.text(format!(
                "Access denied for user {} to database 'information_schema'",
                quoted_account(&self.env.current_user)
            )));
        }
        if let Some(def) = self.view_named(t) {
            return self.written_view(&def, t, verb, columns, subqueries);
        }
        let name = t.alias.as_deref().unwrap_or(&t.name.name);
        let table = self.stored_as(&db, &t.name.name, Some(name), verb.privilege())?;
        if table.own_numbers().is_some() {
            return Err(match verb {
                Verb::Insert => SqlError::unsupported("INSERT into a temporary sequence"),
                _ => narwal_engine::not_for_sequences(&table).to_sql(),
            });
        }
        if table.def.merge.is_some() {
            let (table, others) = self.table_written(&table, verb)?;
            return Ok(Written {
                others,
                ..Written::table_only(Source::new(name, table))
            });
        }
        Ok(Written::table_only(Source::new(name, table)))
    }

    /// Plans INSERT and REPLACE.
    pub fn insert(&self, i: &Insert) -> SqlResult<InsertPlan> {
        let subqueries = Subqueries::new(self, &i.subqueries);
        let target = TableRef {
            name: i.table.clone(),
            alias: None,
            hints: Vec::new(),
            partitions: Vec::new(),
            system_time: None,
        };
        // `()` lists nothing.
        let listed = i.columns.as_deref().filter(|c| !c.is_empty());
        let written = self.target(&target, Verb::Insert, listed, &subqueries)?;
        let table = written.table().clone();
        self.may_resolve(i, &target, &written)?;
        let unknown = |name: &str| unknown_column(name, "INSERT INTO");
        let mut columns = written.inserted(listed, unknown)?;
        self.note_inserted(i, listed, &written, &columns);
        let mut defaults = self.insert_defaults(&table)?;
        if self.env.sql_mode.strict() && !i.ignore {
            let missing = |c: usize| matches!(defaults[c], DefaultValue::Missing(_));
            written.hidden_without_default(missing)?;
        }
        let mut selected = None;
        let parsed;
        let source = match &i.source {
            InsertSource::Literals(rows) if !self.stored_as_read(rows) => {
                parsed = InsertSource::Values(rows.expressions());
                &parsed
            }
            source => source,
        };
        let rows = match source {
            InsertSource::Literals(rows) => {
                check_count(rows.columns(), columns.len(), 1)?;
                RowSource::Literals(rows.clone())
            }
            InsertSource::Values(rows) => {
                // `INSERT INTO t VALUES ()`: all defaults.
                if rows.iter().all(Vec::is_empty) {
                    if !columns.is_empty() && listed.is_some() {
                        return Err(count_error(1));
                    }
                    columns.clear();
                }
                // A value may refer to columns given before it.
                let scope = Scope {
                    sources: &written.sources,
                    planner: Some(&subqueries),
                    ..Scope::empty(self.env)
                };
                RowSource::Values(self.insert_values(rows, &columns, &defaults, &scope, &table)?)
            }
            InsertSource::Select(s) => {
                let (plan, of) = self.inserted_rows(s, i, &written)?;
                let more = of.as_ref().map_or(0, |c| c.names().len());
                check_count(plan.columns.len() - more, columns.len(), 1)?;
                selected = of;
                RowSource::Select(Box::new(numbered(plan, &columns, &table)))
            }
        };
        let returning = self.inserted_returning(i, &target, &table)?;
        let mut given: Vec<Option<usize>> = vec![None; table.def.columns.len()];
        for (at, c) in columns.iter().enumerate() {
            given[*c] = Some(at);
        }
        // Whether they are stored or not, as in MariaDB.
        defaults.iter().for_each(|d| self.use_default(d));
        let on_duplicate = self.set_plans(
            &i.on_duplicate,
            &written,
            true,
            selected.as_ref(),
            &subqueries,
        )?;
        let on_update = Self::on_update(&table, &on_duplicate);
        need_no_default(&on_duplicate, &given, &mut defaults);
        let values_run =
            matches!(&rows, RowSource::Values(v) if v.iter().flatten().any(runs_each_row));
        Ok(InsertPlan {
            replace: i.replace,
            unlisted: listed.is_none(),
            ignore: i.ignore,
            order: order_of(&given),
            given,
            defaults,
            encoded: encoded(&rows, &columns, &table),
            passed_on: passed_on(&rows, &columns, &table),
            source: rows,
            row_wise: values_run || on_duplicate.iter().any(|s| runs_each_row(&s.value)),
            on_duplicate,
            selected: selected.map_or(0, |c| c.names().len()),
            on_update,
            subqueries: subqueries.into_plans(),
            number_unseen: table.auto_increment.is_some_and(|c| !written.shows(c)),
            numbered_with: (table.auto_increment).map_or_else(Vec::new, |_| written.others),
            table,
            check: written.check,
            returning,
        })
    }

    /// Whether REPLACE and ON DUPLICATE KEY UPDATE may do what they do to rows that are there.
    fn may_resolve(&self, i: &Insert, target: &TableRef, written: &Written) -> SqlResult<()> {
        may_be_delayed(i, written.table())?;
        let resolves = i.replace || !i.on_duplicate.is_empty();
        if resolves && (written.table().indexes.iter()).any(|i| i.without_overlaps) {
            // As MariaDB.
            return Err(SqlError::unsupported("WITHOUT OVERLAPS"));
        }
        if i.replace {
            self.need_too(target, written, Privilege::Delete)?;
        }
        if !i.on_duplicate.is_empty() {
            self.need_too(target, written, Privilege::Update)?;
        }
        Ok(())
    }

    /// RETURNING of INSERT and REPLACE. Beside VALUES its subqueries read other tables (1093).
    fn inserted_returning(
        &self,
        i: &Insert,
        target: &TableRef,
        table: &Table,
    ) -> SqlResult<Option<ReturningPlan>> {
        let returning = self.returning(&i.returning, target, &i.subqueries)?;
        if i.select().is_none()
            && let Some(r) = &returning
        {
            apart_from(table, &r.subqueries, &i.subqueries, "INSERT", true)?;
        }
        Ok(returning)
    }

    /// Notes the privileges that the columns of the list need.
    fn note_inserted(
        &self,
        i: &Insert,
        listed: Option<&[String]>,
        written: &Written,
        columns: &[usize],
    ) {
        for (n, c) in columns.iter().enumerate() {
            let name = match (listed, written.name_of(n)) {
                (Some(names), _) => &names[n],
                (None, Some(of_view)) => of_view,
                (None, None) => &written.table().def.columns[*c].name,
            };
            self.note_written(written, name, Privilege::Insert, listed.is_none());
            if !i.on_duplicate.is_empty() {
                // MariaDB asks for both on all columns of the list.
                self.note_written(written, name, Privilege::Update, listed.is_none());
            }
        }
    }

    /// What each column gets that is given no value.
    fn insert_defaults(&self, table: &Arc<Table>) -> SqlResult<Vec<DefaultValue>> {
        let default = |c: usize| {
            Ok(
                match (self.default_value(table, c)?, table.columns()[c].ty.kind) {
                    // An ENUM's first member is its default.
                    (DefaultValue::Missing(_), TypeKind::Enum(of)) => DefaultValue::Const(
                        Member::of_enum(of, 1).map_or(Value::Null, Value::Member),
                    ),
                    (d, _) => d,
                },
            )
        };
        (0..table.def.columns.len()).map(default).collect()
    }

    /// The rows of VALUES.
    fn insert_values(
        &self,
        rows: &[Vec<SetValue>],
        columns: &[usize],
        defaults: &[DefaultValue],
        scope: &Scope<'_>,
        table: &Table,
    ) -> SqlResult<Vec<Vec<StoreValue>>> {
        let value = |(v, c): (&SetValue, &usize)| {
            let ast = match v {
                SetValue::Expr(ast) if self.left_out(v).is_none() => ast,
                _ => return Ok(StoreValue::Default(defaults[*c].clone())),
            };
            let e = bind(ast, scope).map_err(|e| in_clause(e, "VALUES"))?;
            let to = &table.def.columns[*c];
            Ok(match to.generated {
                None => StoreValue::Expr(stored(e, &to.ty)),
                Some(_) => StoreValue::Ignored(Box::new(e)),
            })
        };
        let mut out = Vec::with_capacity(rows.len());
        for (r, row) in rows.iter().enumerate() {
            // What comes up is about this row.
            self.env.row_number.set(r as u64 + 1);
            check_count(row.len(), columns.len(), r + 1)?;
            let row = row.iter().zip(columns).map(value);
            out.push(row.collect::<SqlResult<Vec<_>>>()?);
        }
        self.env.row_number.set(0);
        Ok(out)
    }

    /// The rows of INSERT ... SELECT, and which columns of theirs ON DUPLICATE KEY UPDATE has besides: the last ones.
    fn inserted_rows(
        &self,
        s: &Select,
        i: &Insert,
        written: &Written,
    ) -> SqlResult<(SelectPlan, Option<SelectedColumns>)> {
        // What comes up before there are rows is about the first one.
        self.env.row_number.set(1);
        let table = written.table();
        let (mut plan, selected) = match self.columns_besides(i, written)? {
            None => (self.select(s)?, None),
            Some(columns) => {
                let (plan, columns) = self.select_with(s, columns)?;
                (plan, Some(columns))
            }
        };
        // Of the table itself the rows are kept first, as they would be shown, unless it is one that its key selects.
        let one = |t: &TablePlan| {
            matches!(t.access.lookup, Lookup::Point(_)) && matches!(t.rows, Rows::Stored)
        };
        plan.digits = match plan.reads_table(table) {
            _ if plan.distinct || plan.computes_over_rows() => Digits::Shown,
            true if !plan.table.as_ref().is_some_and(one) => Digits::OfConstants,
            _ => Digits::All,
        };
        Ok((plan, selected))
    }

    /// The columns that ON DUPLICATE KEY UPDATE names and the table does not have.
    fn columns_besides(&self, i: &Insert, written: &Written) -> SqlResult<Option<SelectedColumns>> {
        if i.on_duplicate.is_empty() {
            return Ok(None);
        }
        let sources = self.sources_besides(i)?;
        let columns = SelectedColumns::collecting(written.table().def.columns.len(), sources);
        let subqueries = Subqueries::new(self, &i.subqueries);
        self.set_plans(&i.on_duplicate, written, true, Some(&columns), &subqueries)?;
        Ok((!columns.names().is_empty()).then_some(columns))
    }

    /// What INSERT ... SELECT reads, as far as ON DUPLICATE KEY UPDATE sees it: nothing of groups.
    fn sources_besides(&self, i: &Insert) -> SqlResult<Vec<Source>> {
        let Some(s) = i.select() else {
            return Ok(Vec::new());
        };
        let set = matches!(s.from, Some(From::Set { .. }));
        if s.from.is_none() || set || s.with.is_some() || !s.group_by.is_empty() || aggregates(s) {
            return Ok(Vec::new());
        }
        let subqueries = Subqueries::new(self, &s.subqueries);
        Ok(self.from(s.from.as_ref(), &subqueries, None)?.sources)
    }

    /// A SELECT with further columns behind its own. Groups and UNION have no row that these could be of (1054).
    fn select_with(
        &self,
        s: &Select,
        columns: SelectedColumns,
    ) -> SqlResult<(SelectPlan, SelectedColumns)> {
        let names = columns.names();
        let mut wider = s.clone();
        let more = names.iter().map(|name| SelectItem::Expr {
            expr: name.clone(),
            alias: None,
            text: String::new(),
        });
        wider.items.extend(more);
        let unknown = || unknown_column(&written_name(&names[0]), "UPDATE");
        if matches!(s.from, None | Some(From::Set { .. })) || !s.group_by.is_empty() {
            return Err(unknown());
        }
        let plan = self.select(&wider).map_err(|e| in_clause(e, "UPDATE"))?;
        if plan.group.is_some() {
            return Err(unknown());
        }
        let own = plan.columns.len() - names.len();
        let types = (plan.columns.iter().skip(own))
            .map(|c| ExprType::of_column(c.ty, true))
            .collect();
        Ok((plan, columns.with_types(types)))
    }

    /// True if the connection's character set changes nothing of the rows' strings.
    fn stored_as_read(&self, rows: &LiteralRows) -> bool {
        self.env.collation.charset() == Charset::Utf8mb4 || rows.is_ascii()
    }

    fn filtered(
        &self,
        written: &Written,
        t: &TableRef,
        where_: Option<&narwal_syntax::ast::Expr>,
        order: &[OrderItem],
        limited: bool,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<(TablePlan, Vec<SortKey>)> {
        let table = written.table();
        let scope = Scope {
            sources: &written.sources,
            clause: Clause::Where,
            planner: Some(subqueries),
            ..Scope::empty(self.env)
        };
        let filter = where_.map(|w| bind_condition(w, &scope)).transpose()?;
        let mut filter = filter.map(|f| what_null_finds(f, &written.sources, self.env));
        if !table.temporary
            && filter
                .as_ref()
                .is_some_and(crate::expr::node::Expr::has_column)
        {
            self.need(self.db_of(&t.name)?, &t.name.name, Privilege::Select);
        }
        if !written.filter.is_empty() {
            filter = all_of(written.filter.iter().cloned().chain(filter).collect());
        }
        let scope = Scope {
            clause: Clause::OrderBy,
            ..scope
        };
        let mut order = order
            .iter()
            // There is no list that a position could count in.
            .map(|o| self.order_item(&o.expr, o.desc, &[], &scope))
            .collect::<SqlResult<Vec<_>>>()?;
        order.retain(|k| !k.expr.is_const() || has_subquery(&k.expr));
        let hidden = HiddenColumns::of(&scope)?;
        filter.iter_mut().for_each(|f| hidden.read_in(f));
        order.iter_mut().for_each(|k| hidden.read_in(&mut k.expr));
        if order.iter().any(|k| k.expr.runs_each_row()) {
            return Err(SqlError::unsupported(
                "ORDER BY a subquery of the row in UPDATE and DELETE",
            ));
        }
        let (filter, late) = split_late(alternatives(filter, scope.sources));
        if !limited {
            // Without LIMIT all rows are changed: the order matters only for which row fails first.
            order.retain(|k| k.expr.has_column() || has_subquery(&k.expr));
        }
        let wanted: Option<Vec<(usize, bool)>> = order
            .iter()
            .map(|k| k.expr.as_column().map(|(_, c)| (c, k.desc)))
            .collect();
        let access = Access::choose(
            table,
            filter.as_ref(),
            wanted.as_deref().unwrap_or(&[]),
            None,
            &t.hints,
            &self.estimates,
        )?;
        if access.ordered && wanted.is_some() && !access.order_by_values {
            order.clear();
        }
        Ok((
            TablePlan {
                table: table.clone(),
                access,
                filter,
                late,
                rows: Rows::Stored,
                cover: None,
            },
            order,
        ))
    }

    /// Plans UPDATE.
    pub fn update(&self, u: &Update) -> SqlResult<UpdatePlan> {
        let subqueries = Subqueries::new(self, &u.subqueries);
        self.portion_of_table(u.portion.as_ref(), &u.table)?;
        let written = self.target(&u.table, Verb::Update, None, &subqueries)?;
        let table = written.table();
        let portion = match &u.portion {
            Some(p) => Some(self.portion(p, &written, &subqueries)?),
            None => None,
        };
        if portion.is_some() {
            reads_no_portion(&subqueries, table)?;
        }
        let sets = self.set_plans(&u.assignments, &written, false, None, &subqueries)?;
        let mut where_ = u.where_.clone();
        if let (Some(p), Some(plan)) = (&u.portion, &portion) {
            sets_no_period(plan, &sets, table, &p.period)?;
            where_ = Some(with_portion(
                p,
                plan,
                table,
                written.name(),
                where_.as_ref(),
            ));
        }
        let (target, order) = self.filtered(
            &written,
            &u.table,
            where_.as_ref(),
            &u.order_by,
            u.limit.is_some(),
            &subqueries,
        )?;
        let on_update = Self::on_update(table, &sets);
        let cut = |c: usize| (portion.as_ref()).is_some_and(|p| [p.start, p.end].contains(&c));
        let changed = |c: usize| {
            sets.iter().any(|s| s.column == c) || on_update.iter().any(|o| o.0 == c) || cut(c)
        };
        // A new clustered key moves the row in every index.
        let moves = [target.access.index, 0]
            .iter()
            .any(|i| table.indexes[*i].parts.iter().any(|p| changed(p.column)));
        let limit = u.limit.as_ref().map(|l| self.limit_value(l)).transpose()?;
        Ok(UpdatePlan {
            without_key: written.limited(u.limit.is_some()),
            unsafe_: limit.is_none() && matches!(target.access.lookup, Lookup::Full),
            target,
            on_update,
            order,
            limit,
            ignore: u.ignore,
            moves,
            ordered: !u.order_by.is_empty(),
            portion,
            row_wise: sets.iter().any(|s| runs_each_row(&s.value)),
            reads_target: subqueries.read(table),
            check: written.check,
            sets,
            subqueries: subqueries.into_plans(),
            behind: Vec::new(),
        })
    }

    /// Plans DELETE.
    pub fn delete(&self, d: &Delete) -> SqlResult<DeletePlan> {
        let subqueries = Subqueries::new(self, &d.subqueries);
        let written = self.target(&d.table, Verb::Delete, None, &subqueries)?;
        self.portion_of_table(d.portion.as_ref(), &d.table)?;
        let portion = match &d.portion {
            Some(p) => Some(self.portion(p, &written, &subqueries)?),
            None => None,
        };
        let mut where_ = d.where_.clone();
        if let (Some(p), Some(plan)) = (&d.portion, &portion) {
            let table = written.table();
            where_ = Some(with_portion(
                p,
                plan,
                table,
                written.name(),
                where_.as_ref(),
            ));
        }
        let (target, order) = self.filtered(
            &written,
            &d.table,
            where_.as_ref(),
            &d.order_by,
            d.limit.is_some(),
            &subqueries,
        )?;
        let limit = d.limit.as_ref().map(|l| self.limit_value(l)).transpose()?;
        Ok(DeletePlan {
            without_key: written.limited(d.limit.is_some()),
            // A LIMIT alone is not enough here, as it is for UPDATE.
            unsafe_: (limit.is_none() || d.where_.is_none())
                && matches!(target.access.lookup, Lookup::Full),
            target,
            order,
            limit,
            portion,
            ignore: d.ignore,
            returning: self.returning(&d.returning, &d.table, &d.subqueries)?,
            reads_target: subqueries.read(written.table()),
            subqueries: subqueries.into_plans(),
            behind: Vec::new(),
        })
    }
}
