//! ALTER TABLE that writes every row anew.

use crate::ast::Duplicates;
use crate::bind::table_rules::{check_failed, given_value, rules};
use crate::ddl::constraint::is_indexed;
use crate::ddl::run::Run;
use crate::exec::order::SortBuffer;
use crate::exec::storer::{duplicate_entry, stored_now};
use crate::expr::compare::dated;
use crate::expr::node::{EvalCtx, Expr, ImageRow, RowAccess};
use crate::plan::dml::{store_mode, store_target};
use crate::plan::query::SortKey;
use narwal_engine::{
    CatalogChange, ColumnDef, DefaultDef, EngineError, FillRows, KeyRange, ReadView, Steps, Table,
    TableDef, TableFill, Transaction, auto_number,
};
use narwal_syntax::SqlMode;
use narwal_types::convert::{StoreMode, WarnWith, implicit_default, store};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ColumnType, Decimal, SqlError, SqlResult, TypeKind, Value, ValueRef, Zone};
use std::sync::Arc;

enum Cell<'a> {
    Ref(ValueRef<'a>),
    Own(Value),
}

/// The row that is being made.
struct SoFar<'a>(&'a [Cell<'a>]);

impl RowAccess for SoFar<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        Ok(match self.0.get(column) {
            Some(Cell::Ref(v)) => *v,
            Some(Cell::Own(v)) => v.as_ref(),
            None => ValueRef::Null,
        })
    }
}

/// How a column's values are made.
enum Maker {
    /// The old column's, as they are.
    Keep(usize),
    /// The old column's, converted.
    Convert(usize),
    /// The same of a column that becomes AUTO_INCREMENT: NULL and 0 get numbers.
    Renumber(usize),
    /// All the same.
    Const(Value),
    /// Numbered.
    Number,
    /// There is none that the mode allows.
    Refuse(SqlError),
    /// By an expression, when the other columns are known.
    Later,
    /// The same, though the query has a value for it.
    Ignored(usize),
}

/// Makes the rows of a new table.
pub(super) struct Copy<'a> {
    run: &'a Run<'a>,
    /// The table that they come from, if it is one.
    old: Option<&'a Table>,
    new: Arc<Table>,
    makers: Vec<Maker>,
    mode: StoreMode,
    checked: Vec<usize>,
    duplicate: Duplicates,
    pub(super) rows: u64,
    pub(super) duplicates: u64,
    /// Rows that a CHECK constraint does not allow, left out by IGNORE.
    pub(super) skipped: u64,
    /// Looks for the parents that new foreign keys want, and keeps them locked.
    verifier: Option<&'a mut Transaction>,
    /// CHECK constraints are asked.
    asks_checks: bool,
    /// MariaDB would copy the rows, and so compute all virtual columns.
    computes: bool,
}

/// What is looked at while rows are copied.
#[derive(Clone, Copy)]
pub(super) struct Looks<'a> {
    /// The rows that new foreign keys want.
    pub(super) parents: bool,
    /// CHECK constraints.
    pub(super) checks: bool,
    /// What is wrong with the values of virtual columns, which MariaDB computes where it copies rows.
    pub(super) computes: bool,
    /// By what the old rows are sorted: nothing leaves them as they lie.
    pub(super) order: &'a [SortKey],
}

impl Run<'_> {
    /// Replaces a table by one of another definition with its rows; gives their number. `sources`: the old column that each
    /// new one has its values from, `None` for a new one.
    pub(super) fn rebuild(
        &self,
        table: &Arc<Table>,
        (def, mut changes): (TableDef, Vec<CatalogChange>),
        sources: &[Option<usize>],
        ignore: bool,
        looks: Looks<'_>,
    ) -> SqlResult<u64> {
        let from = self.copied_from(table, &def)?;
        let mut verifier = (looks.parents).then(|| self.db.begin(self.options.clone()));
        let (db, name) = (def.db.clone(), def.name.clone());
        changes.push(CatalogChange::RebuildTable {
            db: table.def.db.clone(),
            name: table.def.name.clone(),
            was: Box::new(table.def.clone()),
            def,
        });
        let (mut rows, mut duplicates) = (0, 0);
        let ddl = self.ddl_of(self.default_db(), self.logged_alter(), changes, false);
        let mut fill = |fill: &mut TableFill<'_>| -> Result<(), EngineError> {
            let old = fill.old(&table.def.db, &table.def.name)?;
            let mut copy = Copy::new(self, &old, fill.new_table(&db, &name)?, sources, ignore)?;
            copy.verifier = verifier.as_mut();
            copy.asks_checks = looks.checks;
            copy.computes = looks.computes;
            match looks.order {
                [] => {
                    for source in &from {
                        fill.each_row(source, &mut |fill, row| {
                            copy.row(fill, &|i| old.layout.column(row, i))
                        })?;
                    }
                }
                order => copy.sorted(fill, &from, order, &old)?,
            }
            let had = copy.rows - copy.skipped;
            (rows, duplicates) = (had - copy.duplicates, copy.duplicates);
            Ok(())
        };
        self.submit_filled(ddl, FillRows::Local, &mut fill)?;
        self.copied.set((rows, duplicates));
        Ok(rows + duplicates)
    }

    /// The largest value of a table's AUTO_INCREMENT column, 0 if there is none.
    pub(super) fn largest(&self, table: &Arc<Table>, column: usize) -> SqlResult<u64> {
        let leads = |ix: &narwal_engine::Index| {
            (ix.parts.first()).is_some_and(|p| p.column == column && !p.desc)
        };
        let Some(index) = table.indexes.iter().position(leads) else {
            return Ok(0);
        };
        let mut txn = self.db.begin(self.options.clone());
        let mut scan = txn.scan(
            table,
            index,
            KeyRange::all(),
            true,
            ReadView::Current,
            false,
        )?;
        Ok(match scan.next()? {
            Some(item) => auto_number(table.layout.column(item.row, column)?),
            None => 0,
        })
    }
}

/// The indexes whose keys are looked for row by row. A clustered key always is; what it overlaps is another question.
fn looked_into(table: &Table) -> std::ops::Range<usize> {
    let first = usize::from(!table.indexes[0].without_overlaps);
    first..table.indexes.len()
}

impl<'a> Copy<'a> {
    /// Copies the rows of the tables in an order.
    fn sorted(
        &mut self,
        fill: &mut TableFill<'_>,
        from: &[Arc<Table>],
        order: &[SortKey],
        old: &Table,
    ) -> Result<(), EngineError> {
        let ctx = EvalCtx::new(self.run.env, &[]);
        let layout = &old.layout;
        let mut rows = SortBuffer::new(order, usize::MAX / 16, self.run.env);
        for source in from {
            fill.each_row(source, &mut |_, row| {
                let pushed = rows.push(&[], row, &ImageRow { layout, row }, &ctx);
                pushed.map_err(EngineError::Sql)
            })?;
        }
        let copied = rows.drain(&ctx, &mut |_, row, _| {
            self.row(fill, &|i| layout.column(row, i))?;
            Ok(true)
        });
        copied.map_err(EngineError::Sql)
    }

    fn new(
        run: &'a Run<'a>,
        old: &'a Table,
        new: Arc<Table>,
        sources: &[Option<usize>],
        ignore: bool,
    ) -> SqlResult<Copy<'a>> {
        let mode = store_mode(run.env, ignore, true);
        let mut makers = Vec::with_capacity(sources.len());
        for (i, s) in sources.iter().enumerate() {
            let c = &new.def.columns[i];
            makers.push(match s {
                _ if c.generated.is_some() => Maker::Later,
                Some(f) => {
                    let o = &old.def.columns[*f];
                    if c.auto_increment && !o.auto_increment {
                        Maker::Renumber(*f)
                    } else if o.ty == c.ty && (c.nullable || !o.nullable) {
                        Maker::Keep(*f)
                    } else {
                        Maker::Convert(*f)
                    }
                }
                None if matches!(c.default, DefaultDef::Expr(_)) => Maker::Later,
                None if c.auto_increment && new.numbered_in.is_some() => {
                    return Err(SqlError::unsupported(
                        "a new AUTO_INCREMENT column that counts in groups of rows",
                    ));
                }
                None if c.auto_increment && !c.nullable => Maker::Number,
                None => match first_value(run, &new, i, &mode) {
                    Ok(v) => Maker::Const(v),
                    Err(e) => Maker::Refuse(e),
                },
            });
        }
        // A unique index that was there stays unique if its values stay.
        let inherited = |i: &narwal_engine::Index| {
            let part = |column: usize, prefix| match makers[column] {
                Maker::Keep(f) => Some((f, prefix)),
                _ => None,
            };
            let parts: Option<Vec<_>> = i.parts.iter().map(|p| part(p.column, p.prefix)).collect();
            parts.is_some_and(|parts| {
                old.indexes.iter().any(|o| {
                    o.unique
                        && o.without_overlaps == i.without_overlaps
                        && o.parts.len() == parts.len()
                        && (o.parts.iter().zip(&parts))
                            .all(|(a, b)| (a.column, a.prefix) == (b.0, b.1))
                })
            })
        };
        let checked = (looked_into(&new))
            .filter(|i| new.indexes[*i].unique && !inherited(&new.indexes[*i]))
            .collect();
        Ok(Copy {
            run,
            old: Some(old),
            makers,
            mode,
            checked,
            duplicate: match ignore {
                true => Duplicates::Ignore,
                false => Duplicates::Refuse,
            },
            rows: 0,
            duplicates: 0,
            skipped: 0,
            verifier: None,
            asks_checks: true,
            computes: true,
            new,
        })
    }

    /// For the rows of a SELECT. `sources`: the SELECT's column that each column has its values from.
    pub(super) fn of_select(
        run: &'a Run<'a>,
        new: Arc<Table>,
        sources: &[Option<usize>],
        duplicate: Duplicates,
    ) -> SqlResult<Copy<'a>> {
        let mode = store_mode(run.env, duplicate == Duplicates::Ignore, true);
        let mut makers = Vec::with_capacity(sources.len());
        for (i, s) in sources.iter().enumerate() {
            let c = &new.def.columns[i];
            makers.push(match s {
                Some(f) if c.generated.is_some() => Maker::Ignored(*f),
                None if c.generated.is_some() => Maker::Later,
                Some(f) => Maker::Convert(*f),
                None if matches!(c.default, DefaultDef::Expr(_)) => Maker::Later,
                None if c.auto_increment && !c.nullable => Maker::Number,
                None if has_no_default(c) && mode.strict => Maker::Refuse(no_default(&c.name)),
                None => match first_value(run, &new, i, &mode) {
                    Ok(v) => Maker::Const(v),
                    Err(e) => Maker::Refuse(e),
                },
            });
        }
        Ok(Copy {
            run,
            old: None,
            makers,
            mode,
            checked: looked_into(&new).collect(),
            duplicate,
            rows: 0,
            duplicates: 0,
            skipped: 0,
            new,
            verifier: None,
            asks_checks: true,
            computes: false,
        })
    }

    /// A value that a query has for a generated column. Error or warning 1906 unless it is NULL.
    fn ignored(&self, column: usize, v: ValueRef<'_>) -> SqlResult<Cell<'static>> {
        if !v.is_null() {
            let e = given_value(&self.new, column);
            if self.mode.strict {
                return Err(e);
            }
            self.run.env.warn_error(&e);
        }
        Ok(Cell::Ref(ValueRef::Null))
    }

    /// Makes and inserts a row from the values of the one that it comes from.
    pub(super) fn row<'v>(
        &mut self,
        fill: &mut TableFill<'_>,
        value: &dyn Fn(usize) -> SqlResult<ValueRef<'v>>,
    ) -> Result<(), EngineError> {
        self.rows += 1;
        self.run.env.row_number.set(self.rows);
        if self.rows & 0xff == 0 {
            self.run.env.check_interrupt()?;
        }
        let mut cells: Vec<Cell<'_>> = Vec::with_capacity(self.makers.len());
        for (i, m) in self.makers.iter().enumerate() {
            cells.push(match m {
                Maker::Keep(f) => Cell::Ref(value(*f)?),
                Maker::Convert(f) => Cell::Own(self.convert(i, *f, value(*f)?)?),
                Maker::Const(v) => Cell::Ref(v.as_ref()),
                Maker::Refuse(e) => return Err(e.clone().into()),
                Maker::Later => Cell::Ref(ValueRef::Null),
                Maker::Ignored(f) => self.ignored(i, value(*f)?)?,
                Maker::Number => Cell::Own(self.number(fill, i)?),
                Maker::Renumber(f) => {
                    let v = value(*f)?;
                    let kept = match v {
                        ValueRef::Null => None,
                        v => Some(self.convert(i, *f, v)?),
                    };
                    let zero_stays = self.run.env.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
                    match kept.filter(|v| zero_stays || !is_zero(v.as_ref())) {
                        Some(v) => Cell::Own(v),
                        None => Cell::Own(self.number(fill, i)?),
                    }
                }
            });
        }
        if !self.follow_rules(&mut cells)? {
            self.skipped += 1;
            return Ok(());
        }
        let values: Vec<ValueRef<'_>> = cells
            .iter()
            .map(|c| match c {
                Cell::Ref(v) => *v,
                Cell::Own(v) => v.as_ref(),
            })
            .collect();
        if let Some(c) = self.new.auto_increment {
            let number = auto_number(values[c]);
            fill.observe_auto_increment(&self.new, number, Steps::default());
        }
        let image = self.new.row(&values)?;
        if let Some(v) = &mut self.verifier {
            v.check_foreign_keys(&self.new, &image)?;
        }
        loop {
            let (index, pk) = match fill.insert(&self.new, &image, &self.checked) {
                Err(EngineError::Duplicate { index, existing_pk }) => (index, existing_pk),
                done => return done,
            };
            let env = self.run.env;
            let entry = || {
                let ix = &self.new.indexes[index];
                let parts = ix.parts.iter().map(|p| (p.column, p.prefix));
                let mut e = duplicate_entry(&self.new, &ix.name, parts, &image, env);
                if self.renumbers(index) {
                    let text = e.message.replacen("Duplicate", "duplicate", 1);
                    let because = "ALTER TABLE causes auto_increment resequencing, resulting in ";
                    e.message = format!("{because}{text}").into();
                }
                e
            };
            match self.duplicate {
                Duplicates::Refuse => return Err(entry().into()),
                // As MariaDB, whose REPLACE looks for a row with this very key.
                Duplicates::Replace if self.new.indexes[index].without_overlaps => {
                    return Err(errors::KEY_NOT_FOUND.with([&self.new.def.name]).into());
                }
                Duplicates::Replace => fill.remove(&self.new, &pk)?,
                Duplicates::Ignore => {
                    if self.old.is_none() {
                        env.warn_error(&entry());
                    }
                    self.duplicates += 1;
                    return Ok(());
                }
            }
            self.duplicates += 1;
        }
    }

    /// DEFAULT expressions of new columns, generated columns, CHECK constraints. False for a row that ALTER IGNORE leaves out.
    fn follow_rules(&self, cells: &mut [Cell<'_>]) -> SqlResult<bool> {
        let Some(rules) = rules(&self.new)? else {
            return Ok(true);
        };
        let ctx = EvalCtx::new(self.run.env, &[]);
        let defaults = rules.defaults.iter().enumerate();
        let defaults = defaults.filter_map(|(i, e)| e.as_ref().map(|e| (i, e)));
        let generated = rules.generated.iter().map(|(i, e)| (*i, e));
        for (i, e) in defaults.chain(generated) {
            if !matches!(self.makers[i], Maker::Later | Maker::Ignored(_)) {
                continue;
            }
            cells[i] = Cell::Own(self.computed(i, e, cells)?);
        }
        if self.asks_checks && self.run.env.check_constraints {
            for c in &rules.checks {
                if c.expr.eval_bool(&ctx, &SoFar(cells))? == Some(false) {
                    let e = check_failed(&self.new, &c.name);
                    if self.duplicate != Duplicates::Ignore {
                        return Err(e);
                    }
                    self.run.env.warn_error(&e);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The value of an expression for a column. What is wrong with it counts where it is kept, in rows or in an index, or computed
    /// at all.
    fn computed(&self, column: usize, e: &Expr, cells: &[Cell<'_>]) -> SqlResult<Value> {
        let env = self.run.env;
        let def = &self.new.def;
        let kept = def.columns[column]
            .generated
            .as_ref()
            .is_none_or(|g| g.stored)
            || is_indexed(def, column)
            || self.computes;
        let mode = StoreMode {
            strict: self.mode.strict && kept,
            ..self.mode
        };
        let run = || {
            let v = e.eval(&EvalCtx::new(env, &[]), &SoFar(cells))?;
            let mut warn = WarnWith(|w| {
                if kept {
                    env.warn(w.code, w.message);
                }
            });
            let target = store_target(&self.new, column);
            store(v.as_ref(), &target, self.rows, &mode, &mut warn)
        };
        match def.columns[column].generated.is_some() && kept && mode.strict {
            true => env.strictly(run),
            false => run(),
        }
    }

    /// The next AUTO_INCREMENT value, for a column.
    fn number(&self, fill: &mut TableFill<'_>, column: usize) -> Result<Value, EngineError> {
        let n = Value::UInt(fill.next_auto_increment(&self.new, self.run.env.auto_increment)?);
        let target = store_target(&self.new, column);
        let mut quiet = WarnWith(|_| ());
        Ok(store(
            n.as_ref(),
            &target,
            self.rows,
            &self.mode,
            &mut quiet,
        )?)
    }

    /// An index begins with a column that is numbered anew.
    fn renumbers(&self, index: usize) -> bool {
        let first = self.new.indexes[index].parts.first();
        first.is_some_and(|p| matches!(self.makers.get(p.column), Some(Maker::Renumber(_))))
    }

    fn convert(&self, column: usize, from: usize, v: ValueRef<'_>) -> SqlResult<Value> {
        let env = self.run.env;
        let def = &self.new.def.columns[column];
        let target = store_target(&self.new, column);
        let mut warn = WarnWith(|w| {
            let level = if w.note {
                crate::WarningLevel::Note
            } else {
                crate::WarningLevel::Warning
            };
            env.push_condition(level, w.code, w.message);
        });
        let v = dated(v, def.ty.kind, env);
        let Some(old) = self.old else {
            return store(v, &target, self.rows, &self.mode, &mut warn);
        };
        let old = &old.def.columns[from];
        if v == ValueRef::Null && !def.nullable {
            if matches!(def.ty.kind, TypeKind::Timestamp(_)) {
                // As older versions took NULL for the current time.
                return Ok(stored_now(&self.new, column, 6, env));
            }
            let text = format!(
                "Data truncated for column '{}' at row {}",
                def.name, self.rows
            );
            if self.mode.strict {
                return Err(errors::WARN_DATA_TRUNCATED.text(text));
            }
            env.warn(codes::WARN_DATA_TRUNCATED, text);
            return Ok(implicit_default(&def.ty));
        }
        let bytes = match (old.ty.bytes_for(&def.ty), v) {
            (Some(set), ValueRef::Str(s)) => Some(set.encode(s).into_owned()),
            (Some(set), ValueRef::Member(m)) => Some(set.encode(m.text().as_bytes()).into_owned()),
            _ => None,
        };
        let v = match (&bytes, v) {
            (Some(b), _) => ValueRef::Bytes(b),
            (None, ValueRef::Coded(_, b)) if def.ty.is_binary_string() => ValueRef::Bytes(b),
            (None, v) => v,
        };
        // From column to column a number with a point goes as its text.
        let text = matches!(v, ValueRef::Float(_) | ValueRef::Double(_))
            .then(|| def.ty.is_temporal().then(|| v.to_text()))
            .flatten();
        let v = text.as_ref().map_or(v, |t| ValueRef::Str(t.as_bytes()));
        let utc = |k| matches!(k, TypeKind::Timestamp(_));
        let mut mode = self.mode;
        let v = match (utc(old.ty.kind), utc(def.ty.kind)) {
            (true, true) => {
                mode.time_zone = narwal_types::Zone::UTC;
                v
            }
            (true, false) => crate::zone::seen(v, env.time_zone),
            _ => v,
        };
        if let (true, ValueRef::Str(s)) = (def.ty.is_integer(), v) {
            // Digits are taken up to what is none: 1e3 is 1.
            let digits = integer_prefix(s);
            if digits.len() < s.trim_ascii_end().len() {
                let e = truncated("INTEGER", s);
                if mode.strict {
                    return Err(e);
                }
                env.warn(e.code, e.message);
            }
            let digits = if digits.is_empty() { b"0" } else { digits };
            return store(ValueRef::Str(digits), &target, self.rows, &mode, &mut warn);
        }
        // A double becomes the moment that its digits show, not the one that it is nearest to.
        let v = match v {
            ValueRef::Double(f) if def.ty.is_temporal() => ValueRef::Decimal(Decimal::from_f64(f)),
            v => v,
        };
        store(v, &target, self.rows, &mode, &mut warn)
            .map_err(|e| as_copied(e, v, &old.ty, &def.ty, &def.name, self.rows))
    }
}

fn is_zero(v: ValueRef<'_>) -> bool {
    match v {
        ValueRef::Int(n) => n == 0,
        ValueRef::UInt(n) => n == 0,
        ValueRef::Float(f) => f == 0.0,
        ValueRef::Double(f) => f == 0.0,
        _ => false,
    }
}

/// The value of a new column in rows that are there.
/// A column that must be given a value.
fn has_no_default(c: &ColumnDef) -> bool {
    !c.nullable && matches!(c.default, DefaultDef::None | DefaultDef::Null)
}

fn no_default(column: &str) -> SqlError {
    errors::NO_DEFAULT_FOR_FIELD.text(format!("Field '{column}' doesn't have a default value"))
}

fn first_value(run: &Run<'_>, table: &Table, column: usize, mode: &StoreMode) -> SqlResult<Value> {
    let c = &table.def.columns[column];
    Ok(match &c.default {
        DefaultDef::None | DefaultDef::Null if c.nullable => Value::Null,
        DefaultDef::None | DefaultDef::Null => {
            let zero = implicit_default(&c.ty);
            if mode.dates.no_zero_date
                && matches!(
                    c.ty.kind,
                    TypeKind::Date | TypeKind::DateTime(_) | TypeKind::Timestamp(_)
                )
            {
                // 0000-00-00 has to be a value that may be stored.
                let text = zero.as_ref().to_text();
                let target = store_target(table, column);
                let v = ValueRef::Str(text.as_bytes());
                let strictly = StoreMode {
                    strict: true,
                    ..*mode
                };
                return store(v, &target, 1, &strictly, &mut WarnWith(|_| ()));
            }
            zero
        }
        DefaultDef::CurrentTimestamp(fsp) => stored_now(table, column, *fsp, run.env),
        DefaultDef::Moment(_) => (table.def.columns[column].default_moment(Zone::UTC))
            .map_or(Value::Null, Value::DateTime),
        DefaultDef::Text(t) => store(
            ValueRef::Str(t.as_bytes()),
            &store_target(table, column),
            1,
            mode,
            &mut WarnWith(|_| ()),
        )?,
        DefaultDef::Expr(_) => return Err(SqlError::unsupported("expressions as DEFAULT")),
    })
}

/// Space, a sign and digits at the start of a text.
fn integer_prefix(s: &[u8]) -> &[u8] {
    let blank = s.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let sign = usize::from(matches!(s.get(blank), Some(b'-' | b'+')));
    let from = blank + sign;
    let digits = s[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        &[]
    } else {
        &s[..from + digits]
    }
}

fn truncated(what: &str, s: &[u8]) -> SqlError {
    errors::TRUNCATED_WRONG_VALUE.with([&what, &(String::from_utf8_lossy(s))])
}

/// A conversion's error as ALTER TABLE tells it, which moves fields where INSERT stores values.
fn as_copied(
    e: SqlError,
    v: ValueRef<'_>,
    from: &ColumnType,
    to: &ColumnType,
    column: &str,
    row: u64,
) -> SqlError {
    let (ValueRef::Str(s) | ValueRef::Bytes(s)) = v else {
        return e;
    };
    match (e.code, to.kind) {
        (
            codes::TRUNCATED_WRONG_VALUE_FOR_FIELD | codes::WARN_DATA_TRUNCATED,
            TypeKind::Decimal(..),
        ) => truncated("DECIMAL", s),
        (
            codes::TRUNCATED_WRONG_VALUE_FOR_FIELD | codes::WARN_DATA_TRUNCATED,
            TypeKind::Float | TypeKind::Double,
        ) => truncated("DOUBLE", s),
        (codes::DATA_TOO_LONG, _)
            if !matches!(from.kind, TypeKind::Text(_) | TypeKind::Blob(_)) =>
        {
            errors::WARN_DATA_TRUNCATED.with([&column, &row])
        }
        _ => e,
    }
}
