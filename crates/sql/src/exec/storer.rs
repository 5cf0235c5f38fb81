//! What a row is made of on its way into a table: values in the domains of their columns, the work of BEFORE triggers,
//! generated columns, constraints, AUTO_INCREMENT values, and the errors that all of these have.

use crate::WarningLevel;
use crate::bind::table_rules::{Rules, check_failed, given_value, rules};
use crate::env::{RowEvent, StatementEnv, TriggerRow};
use crate::exec::context::RunCtx;
use crate::expr::compare::dated;
use crate::expr::node::{Expr, ExprKind, ImageRow, NoRow, RowAccess};
use crate::plan::dml::{DefaultValue, SetPlan, StoreValue, store_target};
use narwal_engine::{Table, Transaction};
use narwal_syntax::SqlMode;
use narwal_types::convert::{SqlWarning, StoreMode, WarnWith, fits, implicit_default, store};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{
    ColumnType, DateTime, RowLayout, SqlError, SqlResult, TypeKind, Value, ValueRef,
};
use smallvec::SmallVec;
use std::sync::Arc;

fn warn(env: &StatementEnv, w: SqlWarning) {
    let level = if w.note {
        WarningLevel::Note
    } else {
        WarningLevel::Warning
    };
    env.push_condition(level, w.code, w.message);
}

/// A value on its way into a row: borrowed where it needs no conversion.
pub(super) enum Cell<'a> {
    Ref(ValueRef<'a>),
    Own(Value),
}

impl Cell<'_> {
    pub(super) fn into_value(self) -> Value {
        match self {
            Cell::Ref(v) => v.to_value(),
            Cell::Own(v) => v,
        }
    }

    pub(super) fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Cell::Ref(v) => *v,
            Cell::Own(v) => v.as_ref(),
        }
    }
}

/// A value of a CHAR has no spaces at its end, also before it is stored: the values behind it in the row see it so.
fn unpadded<'v>(v: Cell<'v>, ty: &ColumnType) -> Cell<'v> {
    if !matches!(ty.kind, TypeKind::Char(_)) {
        return v;
    }
    let kept = |s: &[u8]| s.len() - s.iter().rev().take_while(|b| **b == b' ').count();
    match v {
        Cell::Ref(ValueRef::Str(s)) => Cell::Ref(ValueRef::Str(&s[..kept(s)])),
        Cell::Own(Value::Str(s)) if s.ends_with(' ') => {
            Cell::Own(Value::str(s.trim_end_matches(' ')))
        }
        v => v,
    }
}

/// CURRENT_TIMESTAMP for a column, as it is stored: TIMESTAMP in UTC, DATETIME in the session's time zone.
pub(crate) fn stored_now(table: &Table, column: usize, fsp: u8, env: &StatementEnv) -> Value {
    let ty = &table.def.columns[column].ty;
    let now = match ty.kind {
        TypeKind::Timestamp(_) => env.now_micros,
        _ => env.time_zone.local(env.now_micros),
    };
    DateTime::from_unix_micros(now, 6).map_or(Value::Null, |t| {
        let t = t.truncate(fsp);
        match ty.kind {
            TypeKind::Date => Value::Date(t.date),
            _ => Value::DateTime(t),
        }
    })
}

/// Makes a row accessible to expressions and calls back with it.
pub(super) type WithRow<'w> =
    dyn Fn(&[u8], &mut dyn FnMut(&dyn RowAccess) -> SqlResult<()>) -> SqlResult<()> + 'w;

pub(super) struct Storer<'a> {
    pub table: &'a Arc<Table>,
    pub ctx: &'a RunCtx<'a>,
    pub mode: StoreMode,
    pub row_no: u64,
    /// BEFORE triggers will see the row: until they have run, NULL may stand in any column.
    pub triggered: bool,
}

impl<'a> Storer<'a> {
    pub(super) fn default(&self, column: usize, d: &'a DefaultValue) -> SqlResult<Cell<'a>> {
        Ok(match d {
            DefaultValue::Const(v) => Cell::Ref(v.as_ref()),
            DefaultValue::Now(f) => Cell::Own(stored_now(self.table, column, *f, self.ctx.env)),
            // Expressions come when the other columns are known.
            DefaultValue::Generate | DefaultValue::Expr(_) => Cell::Ref(ValueRef::Null),
            // A trigger may yet give it a value.
            DefaultValue::Missing(_) if self.triggered => Cell::Ref(ValueRef::Null),
            DefaultValue::Missing(_) => self.missing(column, d)?,
        })
    }

    /// The default of a column that no row of an INSERT has. That there is none is said of all rows together.
    pub(super) fn left_out(&self, column: usize, d: &'a DefaultValue) -> SqlResult<Cell<'a>> {
        match d {
            DefaultValue::Missing(v) if self.row_no > 1 && !self.mode.strict && !self.triggered => {
                Ok(Cell::Ref(v.as_ref()))
            }
            d => self.inserted_default(column, d),
        }
    }

    /// The default of a column of a new row. Error 1978: a date that the session's mode does not allow any more.
    pub(super) fn inserted_default(
        &self,
        column: usize,
        d: &'a DefaultValue,
    ) -> SqlResult<Cell<'a>> {
        let rules = &self.mode.dates;
        let allowed = match d {
            DefaultValue::Const(Value::Date(d)) => rules.allows(d),
            DefaultValue::Const(Value::DateTime(t)) => rules.allows_moment(t),
            _ => true,
        };
        if !allowed {
            self.refused_default(column, d)?;
        }
        self.default(column, d)
    }

    #[cold]
    fn refused_default(&self, column: usize, d: &DefaultValue) -> SqlResult<()> {
        let DefaultValue::Const(v) = d else {
            return Ok(());
        };
        let name = &self.table.def.columns[column].name;
        let e = errors::INVALID_DEFAULT_VALUE_FOR_FIELD.with([&v.to_text(), name]);
        if self.mode.strict {
            return Err(e);
        }
        // Of all rows together.
        if self.row_no <= 1 {
            self.ctx.env.warn_error(&e);
        }
        Ok(())
    }

    /// What a column gets that has no default. Error 1364.
    pub(super) fn missing(&self, column: usize, d: &'a DefaultValue) -> SqlResult<Cell<'a>> {
        Ok(match d {
            DefaultValue::Missing(v) => {
                let name = &self.table.def.columns[column].name;
                let text = format!("Field '{name}' doesn't have a default value");
                if self.mode.strict {
                    return Err(errors::NO_DEFAULT_FOR_FIELD.text(text));
                }
                self.ctx.env.warn(codes::NO_DEFAULT_FOR_FIELD, text);
                Cell::Ref(v.as_ref())
            }
            d => self.default(column, d)?,
        })
    }

    /// Converts a value to the column's domain.
    pub(super) fn convert<'v>(&self, column: usize, v: Cell<'v>) -> SqlResult<Cell<'v>> {
        if self.triggered && v.as_ref().is_null() {
            return Ok(v);
        }
        self.convert_with(column, v, true)
    }

    /// As `convert`, but NULL stays for the AUTO_INCREMENT column: its number is drawn later.
    pub(super) fn convert_unless_drawn<'v>(
        &self,
        (column, auto): (usize, bool),
        v: Cell<'v>,
    ) -> SqlResult<Cell<'v>> {
        match auto && v.as_ref().is_null() {
            true => Ok(v),
            false => self.convert(column, v),
        }
    }

    /// As `convert`, with or without notes.
    fn convert_with<'v>(&self, column: usize, v: Cell<'v>, notes: bool) -> SqlResult<Cell<'v>> {
        let def = &self.table.def.columns[column];
        if fits(v.as_ref(), &def.ty, def.nullable) {
            return Ok(unpadded(v, &def.ty));
        }
        // NULL for a TIMESTAMP that can't be NULL stands for now.
        if let (ValueRef::Null, TypeKind::Timestamp(digits)) = (v.as_ref(), def.ty.kind) {
            return Ok(Cell::Own(stored_now(
                self.table,
                column,
                digits,
                self.ctx.env,
            )));
        }
        let stored = store(
            dated(v.as_ref(), def.ty.kind, self.ctx.env),
            &store_target(self.table, column),
            self.row_no,
            &self.mode,
            &mut WarnWith(|w: SqlWarning| {
                if notes || !w.note {
                    warn(self.ctx.env, w);
                }
            }),
        )?;
        Ok(unpadded(Cell::Own(stored), &def.ty))
    }

    pub(super) fn eval<'v>(&self, e: &'v Expr, row: &dyn RowAccess) -> SqlResult<Cell<'v>>
    where
        'a: 'v,
    {
        Ok(match &e.kind {
            ExprKind::Literal(v) => Cell::Ref(v.as_ref()),
            ExprKind::Param(i) | ExprKind::Slot(i) => match self.ctx.params.get(*i) {
                Some(v) => Cell::Ref(v.as_ref()),
                None => Cell::Ref(ValueRef::Null),
            },
            _ => {
                let v = e.eval_unrounded(self.ctx, row)?.into_value();
                self.ctx.env.check_refused()?;
                Cell::Own(v)
            }
        })
    }

    /// A value was given for a generated column: only NULL passes, and in MySQL none.
    pub(super) fn ignored(&self, column: usize, v: &ValueRef<'_>) -> SqlResult<Cell<'a>> {
        let mysql = narwal_types::face::is_mysql();
        if !v.is_null() || mysql {
            let e = given_value(self.table, column);
            if self.mode.strict || mysql {
                return Err(e);
            }
            self.ctx.env.warn_error(&e);
        }
        let def = &self.table.def.columns[column];
        Ok(match def.nullable {
            true => Cell::Ref(ValueRef::Null),
            false => Cell::Own(implicit_default(&def.ty)),
        })
    }

    /// The default of a column in a row that is there.
    pub(super) fn default_in(
        &self,
        column: usize,
        d: &'a DefaultValue,
        row: &dyn RowAccess,
    ) -> SqlResult<Cell<'a>> {
        match d {
            DefaultValue::Expr(e) => {
                let v = e.eval_unrounded(self.ctx, row)?.into_value();
                self.ctx.env.check_refused()?;
                Ok(Cell::Own(self.convert(column, Cell::Own(v))?.into_value()))
            }
            d => self.default(column, d),
        }
    }

    /// Runs the BEFORE triggers of a row that comes or changes, gives it the values of its generated columns, and checks its
    /// constraints.
    pub(super) fn finish_row(
        &self,
        txn: &mut Transaction,
        old: Option<&[u8]>,
        image: Vec<u8>,
    ) -> SqlResult<Vec<u8>> {
        let image = self.before(txn, old, image, false)?;
        let image = self.settle(image, None, |_| None)?;
        self.finish(image)
    }

    /// After the BEFORE triggers NULL is NULL: error 1048, or 1364 for a column that was not given (`missing`). The column
    /// `numbered` gets its value later.
    pub(super) fn settle(
        &self,
        image: Vec<u8>,
        numbered: Option<usize>,
        missing: impl Fn(usize) -> Option<&'a DefaultValue>,
    ) -> SqlResult<Vec<u8>> {
        if !self.triggered {
            return Ok(image);
        }
        let layout = &self.table.layout;
        let mut changes = Vec::new();
        let row = ImageRow {
            layout,
            row: &image,
        };
        for (c, def) in self.table.def.columns.iter().enumerate() {
            let later = numbered == Some(c) || def.generated.is_some();
            if def.nullable || later || !row.column(0, c)?.is_null() {
                continue;
            }
            let cell = match missing(c) {
                Some(d) => self.missing(c, d)?,
                None => self.convert_with(c, Cell::Ref(ValueRef::Null), true)?,
            };
            changes.push((c, cell));
        }
        if changes.is_empty() {
            return Ok(image);
        }
        patched(layout, &image, &changes)
    }

    /// Runs the BEFORE triggers. They see generated columns as the row came, and their own changes only later. `lenient`: as
    /// for [`Self::complete`].
    pub(super) fn before(
        &self,
        txn: &mut Transaction,
        old: Option<&[u8]>,
        image: Vec<u8>,
        lenient: bool,
    ) -> SqlResult<Vec<u8>> {
        let env = self.ctx.env;
        let event = match old {
            Some(_) => RowEvent::Update,
            None => RowEvent::Insert,
        };
        let Some(p) = env.triggers(self.table, true, event) else {
            return Ok(image);
        };
        let image = match rules(self.table)?.filter(|r| !r.generated.is_empty()) {
            Some(rules) if lenient => self.generate_leniently(rules, image)?,
            Some(rules) => self.generate(rules, image, true)?,
            None => image,
        };
        let row = TriggerRow {
            table: self.table,
            before: true,
            event,
            old,
            new: Some(&image),
        };
        let set = p.fire(&row, txn, env)?;
        if set.is_empty() {
            return Ok(image);
        }
        let mut changes = Vec::with_capacity(set.len());
        for (column, v) in set {
            changes.push((column, self.convert(column, Cell::Own(v))?));
        }
        patched(&self.table.layout, &image, &changes)
    }

    /// Gives a row the values of its generated columns and checks its constraints.
    pub(super) fn finish(&self, image: Vec<u8>) -> SqlResult<Vec<u8>> {
        self.complete(image, false, true)
    }

    /// As [`Self::finish`]. `lenient`: as MariaDB, generated columns of an INSERT without a list of columns take what does not
    /// fit, with a warning. `check`: not if its constraints have been checked.
    pub(super) fn complete(
        &self,
        image: Vec<u8>,
        lenient: bool,
        check: bool,
    ) -> SqlResult<Vec<u8>> {
        let Some(rules) = rules(self.table)? else {
            return Ok(image);
        };
        let image = match lenient {
            true => self.generate_leniently(rules, image)?,
            false => {
                let all = !rules.unseen.contains(&true) || self.has_triggers();
                self.generate(rules, image, all)?
            }
        };
        if check {
            self.check(rules, &image)?;
        }
        Ok(image)
    }

    /// The table has constraints that rows are checked for.
    pub(super) fn has_checks(&self) -> SqlResult<bool> {
        Ok(self.ctx.env.check_constraints
            && rules(self.table)?.is_some_and(|r| !r.checks.is_empty()))
    }

    fn generate_leniently(&self, rules: &Rules, image: Vec<u8>) -> SqlResult<Vec<u8>> {
        let env = self.ctx.env;
        let lenient = Storer {
            mode: StoreMode {
                strict: false,
                ..self.mode
            },
            ..*self
        };
        env.leniently(|| lenient.generate(rules, image, true))
    }

    /// Gives a row the values of its generated columns. `all`: what is wrong with those that nothing needs yet counts as well.
    fn generate(&self, rules: &Rules, mut image: Vec<u8>, all: bool) -> SqlResult<Vec<u8>> {
        let layout = &self.table.layout;
        for (column, e) in &rules.generated {
            let unseen = !all && rules.unseen[*column];
            let v = {
                let row = ImageRow {
                    layout,
                    row: &image,
                };
                if unseen {
                    self.unseen_value(*column, e, &row)?
                } else {
                    let v = e.eval_unrounded(self.ctx, &row)?.into_value();
                    self.ctx.env.check_refused()?;
                    // Nobody has written a value that could be noted.
                    self.convert_with(*column, Cell::Own(v), false)?
                }
            };
            image = patched(layout, &image, &[(*column, v)])?;
        }
        Ok(image)
    }

    /// Triggers of the table may look at its generated columns.
    fn has_triggers(&self) -> bool {
        let env = self.ctx.env;
        [RowEvent::Insert, RowEvent::Update]
            .into_iter()
            .any(|event| {
                let has = |before| env.triggers(self.table, before, event).is_some();
                has(true) || has(false)
            })
    }

    /// The value of a column that is computed when it is read: what is wrong with it is nothing to who writes the row.
    fn unseen_value(&self, column: usize, e: &Expr, row: &dyn RowAccess) -> SqlResult<Cell<'a>> {
        let env = self.ctx.env;
        let lenient = Storer {
            mode: StoreMode {
                strict: false,
                ..self.mode
            },
            ..*self
        };
        env.leniently(|| {
            env.quietly(|| {
                let v = e.eval_unrounded(self.ctx, row)?.into_value();
                lenient.convert_with(column, Cell::Own(v), false)
            })
        })
    }

    /// Checks a row's constraints.
    fn check(&self, rules: &Rules, image: &[u8]) -> SqlResult<()> {
        if self.ctx.env.check_constraints {
            let row = ImageRow {
                layout: &self.table.layout,
                row: image,
            };
            for c in &rules.checks {
                if c.expr.eval_bool(self.ctx, &row)? == Some(false) {
                    return Err(check_failed(self.table, &c.name));
                }
            }
            // What a strict mode refuses in them is refused now.
            self.ctx.env.check_refused()?;
        }
        Ok(())
    }

    /// The image of `old` after SET. Later assignments see earlier ones.
    pub(super) fn apply(
        &self,
        sets: &'a [SetPlan],
        old: &[u8],
        access: &WithRow<'_>,
    ) -> SqlResult<Vec<u8>> {
        let layout = &self.table.layout;
        let mut changes: SmallVec<[(usize, Cell<'a>); 4]> = SmallVec::new();
        // The row with the assignments so far, made only when a later expression may look at it.
        let mut current: Option<Vec<u8>> = None;
        let simultaneous = self.ctx.env.sql_mode.has(SqlMode::SIMULTANEOUS_ASSIGNMENT);
        for s in sets {
            let cell = match &s.value {
                StoreValue::Default(DefaultValue::Expr(e)) | StoreValue::Ignored(e) => {
                    if !changes.is_empty() && !simultaneous {
                        current = Some(patched(layout, old, &changes)?);
                    }
                    let mut cell = Cell::Ref(ValueRef::Null);
                    access(current.as_deref().unwrap_or(old), &mut |row| {
                        let v = Cell::Own(e.eval_unrounded(self.ctx, row)?.into_value());
                        self.ctx.env.check_refused()?;
                        cell = match &s.value {
                            StoreValue::Ignored(_) => self.ignored(s.column, &v.as_ref())?,
                            _ => Cell::Own(self.convert(s.column, v)?.into_value()),
                        };
                        Ok(())
                    })?;
                    if matches!(s.value, StoreValue::Ignored(_)) {
                        continue;
                    }
                    cell
                }
                // A generated column keeps its value until the row is finished.
                StoreValue::Default(_) if self.table.def.columns[s.column].generated.is_some() => {
                    continue;
                }
                StoreValue::Default(d) => self.default(s.column, d)?,
                StoreValue::Expr(e) => match &e.kind {
                    ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Slot(_) => {
                        self.convert(s.column, self.eval(e, &NoRow)?)?
                    }
                    _ => {
                        if !changes.is_empty() && !simultaneous {
                            current = Some(patched(layout, old, &changes)?);
                        }
                        let mut cell = Cell::Ref(ValueRef::Null);
                        access(current.as_deref().unwrap_or(old), &mut |row| {
                            let v = Cell::Own(e.eval_unrounded(self.ctx, row)?.into_value());
                            self.ctx.env.check_refused()?;
                            cell = match self.convert(s.column, v)? {
                                Cell::Own(v) => Cell::Own(v),
                                Cell::Ref(v) => Cell::Own(v.to_value()),
                            };
                            Ok(())
                        })?;
                        cell
                    }
                },
            };
            match changes.iter_mut().find(|(c, _)| *c == s.column) {
                Some(x) => x.1 = cell,
                None => changes.push((s.column, cell)),
            }
        }
        patched(layout, old, &changes)
    }
}

pub(super) fn patched(
    layout: &RowLayout,
    old: &[u8],
    changes: &[(usize, Cell<'_>)],
) -> SqlResult<Vec<u8>> {
    let refs: SmallVec<[(usize, ValueRef<'_>); 4]> =
        changes.iter().map(|(c, v)| (*c, v.as_ref())).collect();
    let mut out = Vec::with_capacity(old.len() + 16);
    layout.patch(old, &refs, &mut out)?;
    Ok(out)
}

/// Sets ON UPDATE CURRENT_TIMESTAMP columns of a changed row.
pub(super) fn touch(
    table: &Table,
    on_update: &[(usize, u8)],
    image: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<Vec<u8>> {
    if on_update.is_empty() {
        return Ok(image);
    }
    let changes: SmallVec<[(usize, Cell<'_>); 4]> = on_update
        .iter()
        .map(|(c, f)| (*c, Cell::Own(stored_now(table, *c, *f, env))))
        .collect();
    patched(&table.layout, &image, &changes)
}

/// 1062 for an index of a table.
pub(super) fn duplicate(table: &Table, index: usize, row: &[u8], env: &StatementEnv) -> SqlError {
    let ix = &table.indexes[index];
    let parts = ix.parts.iter().map(|p| (p.column, p.prefix));
    duplicate_entry(table, &ix.name, parts, row, env)
}

/// Bytes as messages show them: what can't be printed as `\x0F`.
fn push_bytes(s: &[u8], text: &mut Vec<u8>) {
    for b in s {
        if b.is_ascii_graphic() || *b == b' ' {
            text.push(*b);
        } else {
            text.extend_from_slice(format!("\\x{b:02X}").as_bytes());
        }
    }
}

/// 1062, with the values of the key as MariaDB prints them. `parts`: columns with prefix lengths.
pub fn duplicate_entry(
    table: &Table,
    name: &str,
    parts: impl Iterator<Item = (usize, Option<u16>)>,
    row: &[u8],
    env: &StatementEnv,
) -> SqlError {
    let mut text = Vec::new();
    for (i, (column, prefix)) in parts.enumerate() {
        if i > 0 {
            text.push(b'-');
        }
        let ty = &table.def.columns[column].ty;
        match table.layout.column(row, column) {
            Ok(ValueRef::Null) | Err(_) => text.extend_from_slice(b"NULL"),
            Ok(ValueRef::Str(s)) => {
                let s = prefix.map_or(s, |n| narwal_types::collation::char_prefix(s, n as usize));
                text.extend_from_slice(s);
            }
            Ok(ValueRef::Bytes(s)) => {
                let s = prefix.map_or(s, |n| &s[..s.len().min(n as usize)]);
                push_bytes(s, &mut text);
            }
            Ok(ValueRef::Bits(b)) => {
                let mut bytes = Vec::with_capacity(8);
                b.write(&mut bytes);
                push_bytes(&bytes, &mut text);
            }
            Ok(v) => {
                let v = match ty.kind {
                    TypeKind::Timestamp(_) => crate::zone::seen(v, env.time_zone),
                    _ => v,
                };
                v.write_text(&mut text);
            }
        }
    }
    let text = String::from_utf8_lossy(&text);
    match narwal_types::face::is_mysql() {
        true => errors::DUP_ENTRY.with([&text, &format_args!("{}.{name}", table.def.name)]),
        false => errors::DUP_ENTRY.with([&text, &name]),
    }
}

/// Errors that IGNORE turns into warnings: those of the row's values, not of the transaction.
pub(super) fn ignorable(e: &SqlError) -> bool {
    matches!(
        e.code,
        codes::BAD_NULL_ERROR
            | codes::DUP_ENTRY
            | codes::WARN_DATA_OUT_OF_RANGE
            | codes::WARN_DATA_TRUNCATED
            | codes::TRUNCATED_WRONG_VALUE
            | codes::NO_DEFAULT_FOR_FIELD
            | codes::TRUNCATED_WRONG_VALUE_FOR_FIELD
            | codes::VIEW_CHECK_FAILED
            | codes::DATA_TOO_LONG
            | codes::WRONG_VALUE_FOR_TYPE
            | codes::ROW_IS_REFERENCED_2
            | codes::NO_REFERENCED_ROW_2
            | codes::AUTOINC_ERANGE
            | codes::NO_PARTITION_FOR_GIVEN_VALUE
            | codes::CONSTRAINT_FAILED
            | codes::CHECK_CONSTRAINT_VIOLATED
    )
}

/// Whether an AUTO_INCREMENT column takes NULL (`AUTO_INCREMENT NULL`): NULL then draws a number and stays NULL.
pub(super) fn keeps_null(table: &Table, column: usize) -> bool {
    table.def.columns[column].nullable
}

/// An AUTO_INCREMENT value as the column holds it.
pub(super) fn number_value(table: &Table, column: usize, n: u64, row_no: u64) -> SqlResult<Value> {
    // The last number is never given: behind it there is none to note.
    if n == u64::MAX {
        return Err(errors::AUTOINC_READ_FAILED.plain());
    }
    let def = &table.def.columns[column];
    let ty = &def.ty;
    let top = ty.int_range().map_or(i128::from(u64::MAX), |(_, hi)| hi);
    if i128::from(n) > top {
        return Err(errors::AUTOINC_ERANGE.with([&def.name, &row_no]));
    }
    Ok(match ty.kind {
        TypeKind::Float => Value::Float(n as f32),
        TypeKind::Double => Value::Double(n as f64),
        _ if ty.unsigned => Value::UInt(n),
        _ => Value::Int(n as i64),
    })
}
