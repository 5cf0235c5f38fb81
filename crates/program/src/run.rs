//! The interpreter: it walks the steps of a program.

use crate::code::{
    Argument, Begin, Block, Calc, FunctionCall, Kind, KindCalc, ParameterCode, Program, Repeat,
    RowCalc, SqlStep, Step, Target, is_fatal,
};
use crate::compile::no_single;
use crate::host::{Host, PackageValues, Rows, TakeRows};
use crate::literal::literal;
use crate::rewrite;
use narwal_sql::expr::compare::dated;
use narwal_sql::expr::{EvalCtx, NoRow, push_warning};
use narwal_sql::{
    GroupRows, Scope, Stmt, WarningLevel, as_kept, bind_kept, kept_value, kinds_hold, seen,
    store_mode,
};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::admin::{Admin, Prepared, SetItem, SetValue, Using};
use narwal_syntax::ast::program::ParameterMode;
use narwal_syntax::ast::{CursorAttribute, Expr, Expression, Statement};
use narwal_types::convert::{self, SqlWarning, StoreTarget, WarnWith, fits, store};
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, TypeKind, Value, ValueRef, errors};
use std::sync::Arc;

/// How a turn of a loop ended.
enum Turn {
    /// Behind its last step.
    Whole,
    /// By ITERATE of the loop.
    Left,
    /// The loop ends with it.
    Last(Flow),
}

/// What a handler is dealing with.
#[derive(Debug, Clone)]
pub(crate) struct Caught {
    pub(crate) error: SqlError,
    pub(crate) level: WarningLevel,
    /// The exception of the program's own that it is.
    pub(crate) own: Option<usize>,
}

/// What comes after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// The end of the block or loop of this number.
    Leave(usize),
    Iterate(usize),
    /// To the label of this number, in a list of statements around.
    Goto(usize),
    Return,
}

/// A cursor that is open: its rows, one after the other.
#[derive(Debug, Default)]
struct Cursor {
    open: bool,
    rows: Vec<Value>,
    width: usize,
    at: usize,
    /// What the last FETCH found.
    found: Option<bool>,
    fetched: i64,
}

impl TakeRows for Cursor {
    fn columns(&mut self, n: usize) -> SqlResult<()> {
        self.width = n;
        Ok(())
    }

    fn row(&mut self, row: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows.extend(row.iter().map(ValueRef::to_value));
        Ok(())
    }
}

/// What SELECT ... INTO finds: a row of so many columns, or none.
struct OneRow {
    columns: usize,
    found: Option<Vec<Value>>,
}

impl TakeRows for OneRow {
    fn columns(&mut self, n: usize) -> SqlResult<()> {
        match n == self.columns {
            true => Ok(()),
            false => Err(errors::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.plain()),
        }
    }

    fn row(&mut self, row: &[ValueRef<'_>]) -> SqlResult<()> {
        match self.found {
            Some(_) => Err(errors::TOO_MANY_ROWS.plain()),
            None => {
                self.found = Some(row.iter().map(ValueRef::to_value).collect());
                Ok(())
            }
        }
    }
}

/// A program that runs.
pub(crate) struct Run<'p, 'h> {
    pub(crate) program: &'p Program,
    pub(crate) host: &'h mut dyn Host,
    pub(crate) values: Vec<Value>,
    cursors: Vec<Cursor>,
    /// Blocks with handlers that are being run, the innermost last.
    pub(crate) handlers: Vec<&'p Block>,
    /// What handlers are dealing with, the newest last.
    pub(crate) caught: Vec<Caught>,
    /// The exception of the program's own that is raised now.
    pub(crate) own: Option<usize>,
    /// The variables of its package.
    package: Option<PackageValues>,
    result: Option<Value>,
    /// The line of the statement that runs, or of the last one that is looked at in this way.
    line: usize,
    /// Of an aggregate function: the rows of its group.
    group: Option<Box<Group>>,
    /// Conditions, as told last.
    told: u64,
    /// The error under way comes out of a handler, and no handler around that one wants it.
    pub(crate) uncaught: bool,
    /// A handler has run for what the step under way has raised: what it has left is not raised again.
    pub(crate) dealt: bool,
}

/// The group of an aggregate function that runs.
struct Group {
    rows: GroupRows,
    /// The row that the parameters have.
    row: Vec<Value>,
    at: At,
}

/// How far an aggregate function has come in its group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// The parameters have the first row's values, but no FETCH has said so.
    Start,
    Row,
    /// A FETCH found no more rows.
    End,
}

/// The number of no block: what leaves it leaves the program.
const OUTSIDE: usize = usize::MAX - 1;

/// What a program has left.
pub struct Finished {
    /// Values of all slots but those of the package: parameters come first.
    pub values: Vec<Value>,
    /// A function's result.
    pub result: Option<Value>,
}

/// Runs a program. `arguments`: the values of slots; [`Program::arguments`] has those of parameters.
///
/// # Errors
/// What no handler has dealt with.
pub fn run(
    program: &Program,
    host: &mut dyn Host,
    arguments: Vec<(usize, Value)>,
) -> SqlResult<Finished> {
    run_with(program, host, arguments, None)
}

/// Runs an aggregate function over the rows of a group.
///
/// # Errors
/// What no handler has dealt with.
pub fn run_aggregate(
    program: &Program,
    host: &mut dyn Host,
    mut rows: GroupRows,
) -> SqlResult<Finished> {
    let row = rows.next_row()?.unwrap_or_default();
    let arguments = program.arguments(row.clone());
    let at = At::Start;
    run_with(
        program,
        host,
        arguments,
        Some(Box::new(Group { rows, row, at })),
    )
}

/// Room on the stack for one more program: to be compiled or run, perhaps by an expression of another one. It is the caller's
/// until it is dropped.
///
/// # Errors
/// 1436.
pub fn within_stack() -> SqlResult<narwal_memory::InProgram> {
    let deep = "stored programs call each other too deeply";
    narwal_memory::InProgram::begin().ok_or_else(|| errors::STACK_OVERRUN_NEED_MORE.with([&deep]))
}

fn run_with(
    program: &Program,
    host: &mut dyn Host,
    arguments: Vec<(usize, Value)>,
    group: Option<Box<Group>>,
) -> SqlResult<Finished> {
    let _within = within_stack()?;
    let mut run = Run {
        program,
        host,
        values: vec![Value::Null; program.slots.len()],
        cursors: Vec::new(),
        handlers: Vec::new(),
        caught: Vec::new(),
        own: None,
        package: None,
        result: None,
        line: program.line,
        group,
        told: 0,
        uncaught: false,
        dealt: false,
    };
    if program.is_of_package() {
        run.package = run.host.package(program)?;
        run.load_package();
    }
    run.cursors
        .resize_with(program.cursors.len(), Cursor::default);
    for (slot, v) in arguments {
        run.take_argument(slot, v)?;
    }
    for cursor in 0..program.cursors.len() {
        run.tell(cursor);
    }
    run.tell_caught();
    let flow = run.step(&program.body);
    run.store_package();
    if let Err(e) = &flow {
        run.trace(e);
    }
    let flow = flow?;
    if program.kind == Kind::Function && flow != Flow::Return && run.result.is_none() {
        return Err(errors::SP_NORETURNEND.with([&program.name]));
    }
    let mut values = run.values;
    values.drain(..program.of_package);
    Ok(Finished {
        values,
        result: run.result,
    })
}

impl<'p> Run<'p, '_> {
    /// Notes where an error came up that leaves the program.
    fn trace(&self, e: &SqlError) {
        let p = self.program;
        if !p.traced || is_fatal(e.code) {
            return;
        }
        let place = match p.kind {
            Kind::Block => "anonymous block".to_string(),
            _ => format!("{}.{}", p.db, p.name),
        };
        let note = errors::SP_STACK_TRACE.with([&self.line, &place]);
        self.host.env().trace.borrow_mut().push(note);
    }

    /// Takes the variables of the package as others have left them.
    fn load_package(&mut self) {
        if let Some(p) = &self.package {
            let kept = p.lock();
            for (to, from) in self.values.iter_mut().zip(kept.iter()) {
                to.clone_from(from);
            }
        }
    }

    /// Leaves the variables of the package to others.
    fn store_package(&mut self) {
        if let Some(p) = &self.package {
            let mut kept = p.lock();
            kept.clear();
            kept.extend_from_slice(&self.values[..self.program.of_package]);
        }
    }

    /// Converts a value to a type, as into a column.
    fn converted(&self, v: Value, ty: &ColumnType, name: &str) -> SqlResult<Value> {
        let strict = self.host.env().sql_mode.strict();
        self.converted_as(v, ty, name, strict, 0)
    }

    /// The same. `strict`: what does not fit is an error. `row`: what errors say.
    fn converted_as(
        &self,
        v: Value,
        ty: &ColumnType,
        name: &str,
        strict: bool,
        row: u64,
    ) -> SqlResult<Value> {
        // A TIMESTAMP holds moments of some years only, but is kept as it is seen.
        let moment = matches!(ty.kind, TypeKind::Timestamp(_));
        if !moment && fits(v.as_ref(), ty, true) {
            return Ok(v);
        }
        let env = self.host.env();
        let target = StoreTarget {
            ty,
            nullable: true,
            db: "",
            table: "",
            column: name,
        };
        let mut mode = store_mode(env, false, false);
        mode.strict = strict;
        let mut warn = WarnWith(|w: SqlWarning| push_warning(env, w));
        let stored = store(
            dated(v.as_ref(), ty.kind, env),
            &target,
            row,
            &mode,
            &mut warn,
        )?;
        Ok(match moment {
            true => seen(stored.as_ref(), env.time_zone).to_value(),
            false => stored,
        })
    }

    /// Puts an argument in its place: what fits is a question of the caller's sql_mode.
    fn take_argument(&mut self, slot: usize, v: Value) -> SqlResult<()> {
        let s = &self.program.slots[slot];
        let strict = self.host.env().caller_mode.strict();
        let row = u64::from(self.program.kind == Kind::Function);
        self.values[slot] = self.converted_as(v, &s.ty, &s.name, strict, row)?;
        Ok(())
    }

    /// The value of an expression as a variable takes it, if their character sets differ.
    fn stored_for(&mut self, c: &Calc, ty: &ColumnType) -> SqlResult<Value> {
        let v = self.stored(c)?;
        self.passed_on(v, c, ty)
    }

    /// A value that an expression has given, as this type takes it.
    fn passed_on(&self, v: Value, c: &Calc, ty: &ColumnType) -> SqlResult<Value> {
        let from = match c {
            Calc::Plain(e) => e.ty.ty.collation.charset(),
            Calc::Kinds(k) => self.fitting(k)?.ty.ty.collation.charset(),
            _ => return Ok(v),
        };
        let to = ty.collation.charset();
        let other = match &v {
            Value::Str(s) if from.has_private() => convert::passed_on(s, from, to),
            _ => None,
        };
        Ok(other.unwrap_or(v))
    }

    fn assign(&mut self, slot: usize, v: Value) -> SqlResult<()> {
        let s = &self.program.slots[slot];
        let v = self.converted(v, &s.ty, &s.name)?;
        self.values[slot] = v;
        Ok(())
    }

    pub(crate) fn put(&mut self, target: &Target, v: Value) -> SqlResult<()> {
        match target {
            Target::Slot(slot) => self.assign(*slot, v),
            Target::User(name) => {
                self.host.env().variables.set_user(name, v);
                Ok(())
            }
            Target::Row(width) => Err(errors::OPERAND_COLUMNS.with([width])),
        }
    }

    /// The values of a row's fields as they are now; error 1241 for another number of them.
    fn row(&mut self, c: &RowCalc, width: usize) -> SqlResult<Vec<Value>> {
        let wrong = || errors::OPERAND_COLUMNS.with([&width]);
        match c {
            RowCalc::Null => Ok(vec![Value::Null; width]),
            RowCalc::Single => Err(wrong()),
            RowCalc::Fields(list) if list.len() != width => Err(wrong()),
            RowCalc::Fields(list) => list.iter().map(|c| self.stored(c)).collect(),
            RowCalc::Query(step) => {
                let mut found: Option<Vec<Value>> = None;
                let mut take = |row: &[ValueRef<'_>]| {
                    if row.len() != width {
                        return Err(wrong());
                    }
                    if found.is_some() {
                        return Err(errors::SUBQUERY_NO_1_ROW.plain());
                    }
                    found = Some(row.iter().map(ValueRef::to_value).collect());
                    Ok(())
                };
                self.planned(step, Rows::Value(&mut take))?;
                Ok(found.unwrap_or_else(|| vec![Value::Null; width]))
            }
        }
    }

    /// Assigns a row. Its fields are computed one by one, and each sees those before it: `SET r = ROW(1, r.a)`.
    fn set_row(&mut self, slots: &[usize], c: &RowCalc) -> SqlResult<()> {
        if let RowCalc::Fields(list) = c
            && list.len() == slots.len()
        {
            for (slot, c) in slots.iter().zip(list) {
                let v = self.stored_for(c, &self.program.slots[*slot].ty)?;
                self.assign(*slot, v)?;
            }
            return Ok(());
        }
        let values = self.row(c, slots.len())?;
        for (slot, v) in slots.iter().zip(values) {
            self.assign(*slot, v)?;
        }
        Ok(())
    }

    /// A value as it is now.
    pub(crate) fn calc(&mut self, c: &Calc) -> SqlResult<Value> {
        match c {
            Calc::Plain(e) => {
                let ctx = EvalCtx::new(self.host.env(), &self.values);
                e.eval(&ctx, &NoRow)
            }
            Calc::Kinds(k) => {
                let e = self.fitting(k)?;
                e.eval(&EvalCtx::new(self.host.env(), &self.values), &NoRow)
            }
            Calc::Query(step) => self.one_value(step),
            Calc::Open(cursors, calc) => {
                self.must_be_open(cursors)?;
                self.calc(calc)
            }
            Calc::Calls(calls, calc) => {
                for c in calls {
                    self.call_function(c)?;
                }
                self.calc(calc)
            }
            Calc::Broken(e) => Err(e.clone()),
        }
    }

    /// A value for a user variable.
    fn kept(&mut self, c: &Calc) -> SqlResult<(Value, Collation)> {
        match c {
            Calc::Plain(e) => kept_value(e, &EvalCtx::new(self.host.env(), &self.values)),
            Calc::Kinds(k) => {
                let e = self.fitting(k)?;
                kept_value(&e, &EvalCtx::new(self.host.env(), &self.values))
            }
            c => Ok((as_kept(self.calc(c)?), Collation::default())),
        }
    }

    /// An expression as it is bound by what its user variables are now.
    fn fitting(&self, k: &KindCalc) -> SqlResult<Arc<narwal_sql::expr::Expr>> {
        let env = self.host.env();
        let mut kept = k.kept.lock();
        if !kinds_hold(&kept.1, env) {
            let others = env.param_types.replace(self.program.types.clone());
            let bound = bind_kept(&k.ast, &Scope::empty(env));
            env.param_types.replace(others);
            let (e, kinds) = bound?;
            *kept = (Arc::new(e), kinds);
        }
        Ok(kept.0.clone())
    }

    /// Calls a function with OUT parameters and keeps its result.
    fn call_function(&mut self, c: &FunctionCall) -> SqlResult<()> {
        let full = format!("{}.{}", c.function.db, c.function.name);
        let mut values = Vec::new();
        let mut parameters = Vec::new();
        for (i, (p, argument)) in c.function.parameters.iter().zip(&c.arguments).enumerate() {
            if p.gives && !has_place(argument) {
                return Err(errors::SP_NOT_VAR_ARG.with([&(i + 1), &full]));
            }
            let parameter = ParameterCode {
                mode: match (p.takes, p.gives) {
                    (_, false) => ParameterMode::In,
                    (false, true) => ParameterMode::Out,
                    (true, true) => ParameterMode::InOut,
                },
                name: p.name.clone(),
                at: values.len(),
                fields: p.fields,
            };
            let ty = p.ty.unwrap_or_else(ColumnType::bigint);
            self.argument(&parameter, ty, argument, &mut values)?;
            parameters.push(parameter);
        }
        self.store_package();
        let done = self.host.function(&c.function, values);
        self.load_package();
        let (result, after) = done?;
        for (parameter, argument) in parameters.iter().zip(&c.arguments) {
            if parameter.mode != ParameterMode::In {
                let back = &after[parameter.at..parameter.at + parameter.width()];
                self.give_back(parameter, argument, back)?;
            }
        }
        self.values[c.result] = result;
        Ok(())
    }

    /// A value that is about to be stored: under a strict sql_mode its warnings are errors.
    fn stored(&mut self, c: &Calc) -> SqlResult<Value> {
        match c {
            Calc::Plain(e) => {
                let env = self.host.env();
                let ctx = EvalCtx::new(env, &self.values);
                env.strictly(|| e.eval(&ctx, &NoRow))
            }
            Calc::Kinds(k) => {
                let e = self.fitting(k)?;
                let env = self.host.env();
                let ctx = EvalCtx::new(env, &self.values);
                env.strictly(|| e.eval(&ctx, &NoRow))
            }
            Calc::Query(_) => {
                let before = self.host.env().warning_count();
                let v = self.calc(c)?;
                match self.host.env().warning_count() > before {
                    true => self.host.env().refuse_last_warning().map(|()| v),
                    false => Ok(v),
                }
            }
            c => self.calc(c),
        }
    }

    /// Error 1326 if one of these cursors is closed.
    fn must_be_open(&self, cursors: &[usize]) -> SqlResult<()> {
        match cursors.iter().all(|c| self.cursors[*c].open) {
            true => Ok(()),
            false => Err(errors::SP_CURSOR_NOT_OPEN.plain()),
        }
    }

    /// Puts what a cursor tells of itself where it is looked for.
    fn tell(&mut self, cursor: usize) {
        let c = &self.cursors[cursor];
        let flag = |b: Option<bool>| b.map_or(Value::Null, |b| Value::Int(i64::from(b)));
        for (attribute, slot) in &self.program.cursors[cursor].attributes {
            self.values[*slot] = match attribute {
                CursorAttribute::IsOpen => flag(Some(c.open)),
                CursorAttribute::Found => flag(c.found),
                CursorAttribute::NotFound => flag(c.found.map(|f| !f)),
                CursorAttribute::RowCount => Value::Int(c.fetched),
            };
        }
    }

    fn close(&mut self, cursor: usize) {
        self.cursors[cursor] = Cursor::default();
        self.tell(cursor);
    }

    /// Runs a planned statement with the variables as they are now.
    fn planned(&mut self, step: &SqlStep, rows: Rows<'_>) -> SqlResult<()> {
        self.must_be_open(&step.open)?;
        self.store_package();
        let done = self.host.sql(self.program, step, &self.values, rows);
        self.load_package();
        done
    }

    fn one_value(&mut self, step: &SqlStep) -> SqlResult<Value> {
        let mut value = Value::Null;
        let mut take = |row: &[ValueRef<'_>]| {
            value = row.first().map_or(Value::Null, ValueRef::to_value);
            Ok(())
        };
        let rows = Rows::Value(&mut take);
        self.planned(step, rows)?;
        Ok(value)
    }

    fn truth(&mut self, c: &Calc) -> SqlResult<bool> {
        match c {
            Calc::Plain(e) => {
                let ctx = EvalCtx::new(self.host.env(), &self.values);
                Ok(e.eval_bool(&ctx, &NoRow)? == Some(true))
            }
            c => {
                let v = self.calc(c)?;
                let env = self.host.env();
                let mut warn = WarnWith(|w: SqlWarning| push_warning(env, w));
                Ok(narwal_types::convert::to_bool(v.as_ref(), &mut warn) == Some(true))
            }
        }
    }

    fn steps(&mut self, list: &'p [Step]) -> SqlResult<Flow> {
        let mut at = 0;
        while let Some(s) = list.get(at) {
            at = match self.step(s)? {
                Flow::Next => at + 1,
                Flow::Goto(label) => {
                    let is_it = |s: &Step| matches!(s, Step::Label(l) if *l == label);
                    let Some(found) = list.iter().position(is_it) else {
                        return Ok(Flow::Goto(label));
                    };
                    self.host.env().check_interrupt()?;
                    found + 1
                }
                flow => return Ok(flow),
            };
        }
        Ok(Flow::Next)
    }

    /// SET STATEMENT.
    fn under(&mut self, settings: &[Vec<SetItem>], step: &'p Step) -> SqlResult<Flow> {
        let mut settings = settings.to_vec();
        for item in settings.iter_mut().flatten() {
            self.fill_setting(item);
        }
        if let Err(e) = self.host.begin_settings(&settings) {
            return self.catch(e);
        }
        // Its errors are dealt with under the settings that were there before.
        let done = self.leaf_or_step(step);
        self.host.end_settings();
        match done {
            Ok(flow) => Ok(flow),
            Err(e) => self.catch(e),
        }
    }

    fn leaf_or_step(&mut self, step: &'p Step) -> SqlResult<Flow> {
        match step {
            Step::Sql(_) | Step::Into(..) | Step::Other(..) | Step::Call(..) => self.leaf(step),
            step => self.step(step),
        }
    }

    /// Runs a step; an error that a handler has dealt with is none.
    pub(crate) fn step(&mut self, s: &'p Step) -> SqlResult<Flow> {
        match s {
            Step::Block(b) => self.block(b),
            Step::If(branches, otherwise) => {
                for (when, list) in branches {
                    match self.truth(when) {
                        Ok(true) => return self.steps(list),
                        Ok(false) => {}
                        Err(e) => return self.catch(e),
                    }
                }
                self.steps(otherwise.as_deref().unwrap_or_default())
            }
            Step::Case {
                operand,
                branches,
                otherwise,
            } => {
                if let Some((slot, c)) = operand {
                    match self.calc(c) {
                        Ok(v) => self.values[*slot] = v,
                        Err(e) => return self.catch(e),
                    }
                }
                for (when, list) in branches {
                    match self.truth(when) {
                        Ok(true) => return self.steps(list),
                        Ok(false) => {}
                        Err(e) => return self.catch(e),
                    }
                }
                match otherwise {
                    Some(list) => self.steps(list),
                    None => {
                        self.host.env().clear_conditions();
                        self.catch(errors::SP_CASE_NOT_FOUND.plain())
                    }
                }
            }
            Step::Loop(id, repeat, list) => self.repeat(*id, repeat, list),
            Step::Leave(id) => Ok(Flow::Leave(*id)),
            Step::Iterate(id) => Ok(Flow::Iterate(*id)),
            Step::Several(list) => self.steps(list),
            Step::Under(settings, step) => self.under(settings, step),
            Step::Finish => Ok(Flow::Return),
            Step::Goto(label) => Ok(Flow::Goto(*label)),
            Step::Label(_) => Ok(Flow::Next),
            Step::At(line, step) => {
                self.line = *line;
                self.step(step)
            }
            leaf => {
                // Statements clear the conditions of what was before them, the others add to them.
                let before = match adds_conditions(leaf) {
                    true => self.host.env().warning_count(),
                    false => 0,
                };
                self.dealt = false;
                let done = self.leaf(leaf);
                self.tell_conditions();
                match done {
                    Ok(Flow::Next)
                        if self.program.minds_warnings
                            && !self.dealt
                            && self.host.env().warning_count() > before =>
                    {
                        self.after_warnings()
                    }
                    Ok(flow) => Ok(flow),
                    Err(e) => self.catch(e),
                }
            }
        }
    }

    /// Puts the number of conditions where `@@warning_count` and `@@error_count` look for it.
    fn tell_conditions(&mut self) {
        let env = self.host.env();
        let count = env.warning_count();
        if count == self.told {
            return;
        }
        let conditions = env.conditions();
        let errors = conditions.iter().filter(|c| c.level == WarningLevel::Error);
        env.variables.tell_conditions(count, errors.count() as u64);
        drop(conditions);
        self.told = count;
    }

    fn leaf(&mut self, s: &'p Step) -> SqlResult<Flow> {
        match s {
            Step::Set(slot, c) => {
                let v = self.stored_for(c, &self.program.slots[*slot].ty)?;
                self.assign(*slot, v)?;
            }
            Step::SetRow(slots, calc) => self.set_row(slots, calc)?,
            Step::Broken(e) => return Err(e.clone()),
            Step::SetUser(name, c) => {
                let (v, collation) = self.kept(c)?;
                let variables = &self.host.env().variables;
                variables.set_user_text(name, v, collation);
            }
            Step::Setting(scope, name, c) => {
                let v = match c {
                    Some(c) => Some(self.calc(c)?),
                    None => None,
                };
                self.host.set_variable(*scope, name, v)?;
            }
            Step::Return(c) => {
                self.last_of_group()?;
                if !self.host.env().sql_mode.has(SqlMode::ORACLE) {
                    // As in MariaDB, a function's earlier warnings end with it.
                    self.host.env().clear_conditions();
                }
                // If a handler deals with an error of its value, the result is NULL, as in MariaDB.
                self.result.get_or_insert(Value::Null);
                let v = match &self.program.returns {
                    Some(ty) => {
                        let v = self.stored_for(c, ty)?;
                        let name = format!("{}()", self.program.name);
                        self.converted(v, ty, &name)?
                    }
                    None => self.stored(c)?,
                };
                self.result = Some(v);
                return Ok(Flow::Return);
            }
            Step::Sql(step) => {
                self.planned(step, Rows::Client)?;
            }
            Step::Into(step, targets) => return self.select_into(step, targets),
            Step::Other(statement, text) => self.other(statement, text)?,
            Step::Open(cursor, arguments) => self.open(*cursor, arguments)?,
            Step::Fetch(cursor, targets) => self.fetch(*cursor, targets)?,
            Step::Close(cursor) => {
                if !self.cursors[*cursor].open {
                    self.host.env().clear_conditions();
                    return Err(errors::SP_CURSOR_NOT_OPEN.plain());
                }
                self.close(*cursor);
            }
            Step::FetchGroup => return self.fetch_group(),
            Step::Call(name, arguments) => self.call(name, arguments)?,
            Step::Signal(s) => return self.signal(s),
            Step::Diagnostics(condition, items) => self.diagnostics(condition.as_ref(), items)?,
            // The others are no leaves.
            _ => {}
        }
        Ok(Flow::Next)
    }

    fn block(&mut self, b: &'p Block) -> SqlResult<Flow> {
        let handlers = !b.handlers.is_empty();
        if handlers {
            self.handlers.push(b);
        }
        let flow = self.within_block(b);
        if handlers {
            self.handlers.pop();
        }
        for c in &b.cursors {
            if self.cursors[*c].open {
                self.close(*c);
            }
        }
        match flow? {
            Flow::Leave(id) if id == b.id => Ok(Flow::Next),
            flow => Ok(flow),
        }
    }

    fn within_block(&mut self, b: &'p Block) -> SqlResult<Flow> {
        for begin in &b.variables {
            let set = match begin {
                Begin::Null(slot) => {
                    self.values[*slot] = Value::Null;
                    continue;
                }
                Begin::One(slot, c) => self
                    .stored_for(c, &self.program.slots[*slot].ty)
                    .and_then(|v| self.assign(*slot, v)),
                Begin::Row(slots, c) => self.set_row(slots, c),
            };
            if let Err(e) = set {
                match self.catch(e)? {
                    Flow::Next => {}
                    flow => return Ok(flow),
                }
            }
        }
        self.steps(&b.steps)
    }

    /// The steps of a turn: what ends the loop, or whether the turn was left by ITERATE.
    fn turn(&mut self, id: usize, list: &'p [Step]) -> SqlResult<Turn> {
        self.host.env().check_interrupt()?;
        Ok(match self.steps(list)? {
            Flow::Next => Turn::Whole,
            Flow::Iterate(at) if at == id => Turn::Left,
            Flow::Leave(at) if at == id => Turn::Last(Flow::Next),
            flow => Turn::Last(flow),
        })
    }

    fn repeat(&mut self, id: usize, repeat: &'p Repeat, list: &'p [Step]) -> SqlResult<Flow> {
        match repeat {
            Repeat::Endless => loop {
                if let Turn::Last(flow) = self.turn(id, list)? {
                    return Ok(flow);
                }
            },
            Repeat::While(c) => loop {
                match self.truth(c) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Flow::Next),
                    Err(e) => return self.catch(e),
                }
                if let Turn::Last(flow) = self.turn(id, list)? {
                    return Ok(flow);
                }
            },
            Repeat::Until(c) => loop {
                match self.turn(id, list)? {
                    Turn::Last(flow) => return Ok(flow),
                    // ITERATE goes to the first step, not to the condition behind the last one.
                    Turn::Left => continue,
                    Turn::Whole => {}
                }
                match self.truth(c) {
                    Ok(false) => {}
                    Ok(true) => return Ok(Flow::Next),
                    Err(e) => return self.catch(e),
                }
            },
            Repeat::Range {
                slot,
                last,
                reverse,
                from,
                to,
            } => {
                let (first, end) = if *reverse { (to, from) } else { (from, to) };
                let begin = self.calc(first).and_then(|v| self.assign(*slot, v));
                let end = begin.and_then(|()| self.calc(end));
                if let Err(e) = end.and_then(|v| self.assign(*last, v)) {
                    return self.catch(e);
                }
                self.range(id, (*slot, *last, *reverse), list)
            }
            Repeat::Rows {
                cursor,
                arguments,
                fields,
            } => {
                if let Err(e) = self.open(*cursor, arguments) {
                    return self.catch(e);
                }
                let flow = self.rows(id, *cursor, fields, list);
                self.close(*cursor);
                flow
            }
        }
    }

    fn range(
        &mut self,
        id: usize,
        (slot, last, reverse): (usize, usize, bool),
        list: &'p [Step],
    ) -> SqlResult<Flow> {
        loop {
            let (Value::Int(at), Value::Int(end)) = (&self.values[slot], &self.values[last]) else {
                return Ok(Flow::Next);
            };
            if (reverse && at < end) || (!reverse && at > end) {
                return Ok(Flow::Next);
            }
            if let Turn::Last(flow) = self.turn(id, list)? {
                return Ok(flow);
            }
            if let Value::Int(at) = self.values[slot] {
                let step = if reverse { -1 } else { 1 };
                self.values[slot] = at.checked_add(step).map_or(Value::Null, Value::Int);
            }
        }
    }

    fn rows(
        &mut self,
        id: usize,
        cursor: usize,
        fields: &'p [usize],
        list: &'p [Step],
    ) -> SqlResult<Flow> {
        while let Some(row) = self.next_row(cursor) {
            for (slot, v) in fields.iter().zip(row) {
                self.assign(*slot, v)?;
            }
            self.tell(cursor);
            if let Turn::Last(flow) = self.turn(id, list)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn next_row(&mut self, cursor: usize) -> Option<Vec<Value>> {
        let c = &mut self.cursors[cursor];
        let end = c.at + c.width;
        if c.width == 0 || end > c.rows.len() {
            c.found = Some(false);
            return None;
        }
        c.found = Some(true);
        c.fetched += 1;
        let row = c.rows[c.at..end].iter_mut().map(std::mem::take).collect();
        c.at = end;
        Some(row)
    }

    fn open(&mut self, cursor: usize, arguments: &[Calc]) -> SqlResult<()> {
        self.host.env().clear_conditions();
        if self.cursors[cursor].open {
            return Err(errors::SP_CURSOR_ALREADY_OPEN.plain());
        }
        let code = &self.program.cursors[cursor];
        for (slot, c) in code.parameters.iter().zip(arguments) {
            let v = self.calc(c)?;
            self.assign(*slot, v)?;
        }
        let mut open = Cursor {
            open: true,
            ..Cursor::default()
        };
        self.planned(&code.select, Rows::Take(&mut open))?;
        self.cursors[cursor] = open;
        self.tell(cursor);
        Ok(())
    }

    fn fetch(&mut self, cursor: usize, targets: &[Target]) -> SqlResult<()> {
        let c = &self.cursors[cursor];
        if !c.open {
            self.host.env().clear_conditions();
            return Err(errors::SP_CURSOR_NOT_OPEN.plain());
        }
        if c.width != targets.len() {
            return Err(errors::SP_WRONG_NO_OF_FETCH_ARGS.plain());
        }
        let row = self.next_row(cursor);
        self.tell(cursor);
        let Some(row) = row else {
            // Oracle's programs ask the cursor.
            if self.program.oracle {
                return Ok(());
            }
            self.host.env().clear_conditions();
            return Err(no_data());
        };
        for (t, v) in targets.iter().zip(row) {
            self.put(t, v)?;
        }
        Ok(())
    }

    /// FETCH GROUP NEXT ROW: the parameters get the values of the next row. The first one has them already. Behind the last
    /// row they get its values once more, whatever the function has made of them, as in MariaDB.
    fn fetch_group(&mut self) -> SqlResult<Flow> {
        let Some(group) = &mut self.group else {
            return Err(errors::NOT_AGGREGATE_FUNCTION.plain());
        };
        match group.at {
            At::Start => {
                group.at = At::Row;
                return Ok(Flow::Next);
            }
            // The group is over, and the function did not return.
            At::End => return Ok(Flow::Leave(OUTSIDE)),
            At::Row => {}
        }
        self.host.env().check_interrupt()?;
        let next = group.rows.next_row()?;
        let more = next.is_some();
        match next {
            Some(row) => group.row = row,
            None => group.at = At::End,
        }
        let row = group.row.clone();
        for (slot, v) in self.program.arguments(row) {
            self.assign(slot, v)?;
        }
        match more {
            true => Ok(Flow::Next),
            false => Err(no_data()),
        }
    }

    /// A function that returns before the end of its group goes on behind its last FETCH with each row: what it returns of
    /// the last row counts.
    fn last_of_group(&mut self) -> SqlResult<()> {
        let Some(group) = &mut self.group else {
            return Ok(());
        };
        let mut last = None;
        while let Some(row) = group.rows.next_row()? {
            self.host.env().check_interrupt()?;
            last = Some(row);
        }
        for (slot, v) in self.program.arguments(last.unwrap_or_default()) {
            self.assign(slot, v)?;
        }
        Ok(())
    }

    fn select_into(&mut self, step: &SqlStep, targets: &[Target]) -> SqlResult<Flow> {
        let mut one = OneRow {
            columns: targets.len(),
            found: None,
        };
        let done = self.planned(step, Rows::Take(&mut one));
        let found = one.found;
        if let Err(e) = done {
            // The first of several rows counts.
            if e.code == codes::TOO_MANY_ROWS {
                self.put_row(targets, found)?;
            }
            return Err(e);
        }
        if targets.iter().any(|t| !matches!(t, Target::User(_))) {
            // What goes into variables of the program is stored.
            self.host.env().refuse_last_warning()?;
        }
        match found {
            Some(row) => {
                self.host.found_row();
                self.put_row(targets, Some(row))?;
                Ok(Flow::Next)
            }
            None => self.warn(&no_data()),
        }
    }

    fn put_row(&mut self, targets: &[Target], row: Option<Vec<Value>>) -> SqlResult<()> {
        for (t, v) in targets.iter().zip(row.into_iter().flatten()) {
            self.put(t, v)?;
        }
        Ok(())
    }

    /// Puts the values of variables in their places.
    fn fill(&self, e: &mut Expression) {
        let values = &self.values;
        rewrite::expression(e, &mut |e| {
            if let Expr::Param(n) = e {
                let v = values.get(*n).cloned().unwrap_or_default();
                *e = literal(&v);
            }
        });
    }

    fn fill_setting(&self, item: &mut SetItem) {
        if let SetItem::System {
            value: SetValue::Expr(o),
            ..
        } = item
        {
            self.fill(&mut o.value);
        }
    }

    /// Fills EXECUTE; gives where its OUT parameters go.
    fn fill_using(&self, using: &mut [Using]) -> Vec<Option<Target>> {
        let mut targets = Vec::new();
        for u in using {
            let Using::Value(o) = u else {
                targets.push(None);
                continue;
            };
            targets.push(match &o.value.expr {
                Expr::Param(slot) => Some(Target::Slot(*slot)),
                Expr::UserVar(name) => Some(Target::User(name.clone())),
                _ => None,
            });
            self.fill(&mut o.value);
        }
        targets
    }

    fn other(&mut self, statement: &Statement, text: &str) -> SqlResult<()> {
        let mut s = statement.clone();
        let mut targets = Vec::new();
        if let Statement::Admin(a) = &mut s {
            match &mut **a {
                Admin::Set(set) => {
                    for item in &mut set.items {
                        self.fill_setting(item);
                    }
                }
                Admin::Prepared(Prepared::Prepare { from, .. }) => self.fill(&mut from.value),
                Admin::Prepared(Prepared::Execute { using, .. }) => {
                    targets = self.fill_using(using);
                }
                Admin::Prepared(Prepared::Immediate { from, using }) => {
                    self.fill(&mut from.value);
                    targets = self.fill_using(using);
                }
                _ => {}
            }
        }
        self.store_package();
        let done = self.host.other(self.program, s, text, &self.values);
        self.load_package();
        done?;
        if !targets.is_empty() {
            let values = self.host.take_out_values();
            for (target, v) in targets.iter().zip(values) {
                if let (Some(t), Some(v)) = (target, v) {
                    self.put(t, v)?;
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, name: &[String], arguments: &[Argument]) -> SqlResult<()> {
        let callee = self.host.procedure(name)?;
        let full = format!("{}.{}", callee.db, callee.name);
        if callee.parameters.len() != arguments.len() {
            let (wanted, given) = (callee.parameters.len(), arguments.len());
            return Err(errors::SP_WRONG_NO_OF_ARGS.with([&"PROCEDURE", &full, &wanted, &given]));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (i, (parameter, argument)) in callee.parameters.iter().zip(arguments).enumerate() {
            if parameter.mode != ParameterMode::In && !has_place(argument) {
                return Err(errors::SP_NOT_VAR_ARG.with([&(i + 1), &full]));
            }
            let ty = callee.slots[callee.of_package + parameter.at].ty;
            self.argument(parameter, ty, argument, &mut values)?;
        }
        self.store_package();
        let after = self.host.call(&callee, values);
        self.load_package();
        let after = after?;
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            if parameter.mode != ParameterMode::In {
                let back = &after[parameter.at..parameter.at + parameter.width()];
                self.give_back(parameter, argument, back)?;
            }
        }
        Ok(())
    }

    /// Puts the values of an argument behind those of the ones before it.
    fn argument(
        &mut self,
        parameter: &ParameterCode,
        ty: ColumnType,
        argument: &Argument,
        values: &mut Vec<Value>,
    ) -> SqlResult<()> {
        if parameter.mode == ParameterMode::Out {
            values.extend(std::iter::repeat_n(Value::Null, parameter.width()));
            return Ok(());
        }
        match (parameter.fields, argument) {
            (None, Argument::One(c, _) | Argument::Null(c)) => {
                let v = self.calc(c)?;
                values.push(self.passed_on(v, c, &ty)?);
            }
            (None, Argument::Row(..)) => return Err(no_single(ty, &parameter.name)),
            (Some(n), Argument::Row(c, _)) => values.extend(self.row(c, n)?),
            (Some(n), Argument::Null(_)) => values.extend(std::iter::repeat_n(Value::Null, n)),
            (Some(_), Argument::One(_, Some(Target::User(name)))) if name.starts_with('\u{1}') => {
                let what = "EXECUTE ... USING ?";
                return Err(errors::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION.with([&"row", &what]));
            }
            (Some(n), Argument::One(..)) => return Err(errors::OPERAND_COLUMNS.with([&n])),
        }
        Ok(())
    }

    /// Puts what a procedure has left in a parameter where it belongs.
    fn give_back(
        &mut self,
        parameter: &ParameterCode,
        argument: &Argument,
        back: &[Value],
    ) -> SqlResult<()> {
        match (parameter.fields, argument, back) {
            (None, Argument::One(_, Some(target)), [v]) => self.put(target, v.clone()),
            (_, Argument::Row(_, Some(slots)), _) => {
                if parameter.fields != Some(slots.len()) {
                    return Err(errors::OPERAND_COLUMNS.with([&slots.len()]));
                }
                for (slot, v) in slots.iter().zip(back) {
                    self.assign(*slot, v.clone())?;
                }
                Ok(())
            }
            (Some(_), Argument::One(_, Some(Target::Slot(slot))), _) => {
                let s = &self.program.slots[*slot];
                Err(no_single(s.ty, &s.name))
            }
            _ => Err(errors::OPERAND_COLUMNS.with([&1])),
        }
    }
}

/// True for a step that adds its conditions to those that are there. A SELECT without a table is one, as in MariaDB.
fn adds_conditions(s: &Step) -> bool {
    match s {
        Step::Set(..) | Step::SetRow(..) | Step::SetUser(..) => true,
        Step::Fetch(..) | Step::Close(..) | Step::Diagnostics(..) | Step::Return(..) => true,
        Step::Sql(step) | Step::Into(step, _) => match &step.stmt {
            Stmt::Select(s) | Stmt::Do(s) => s.from.is_none(),
            _ => false,
        },
        _ => false,
    }
}

/// Something can be put where the argument comes from.
fn has_place(a: &Argument) -> bool {
    matches!(a, Argument::One(_, Some(_)) | Argument::Row(_, Some(_)))
}

/// 1329.
pub(crate) fn no_data() -> SqlError {
    errors::SP_FETCH_NO_DATA.text("No data - zero rows fetched, selected, or processed")
}
