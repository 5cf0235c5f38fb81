//! The interpreter: it walks the steps of a program.

use crate::code::{Block, Calc, Kind, Program, Repeat, SqlStep, Step, Target};
use crate::host::{Host, Rows};
use crate::literal::literal;
use crate::rewrite;
use narwal_sql::expr::{EvalCtx, NoRow, push_warning};
use narwal_sql::{WarningLevel, store_mode};
use narwal_syntax::ast::admin::{Admin, Prepared, SetItem, SetValue, Using};
use narwal_syntax::ast::program::ParameterMode;
use narwal_syntax::ast::{Expr, Statement};
use narwal_types::convert::{SqlWarning, StoreTarget, WarnWith, fits, store};
use narwal_types::{ColumnType, SqlError, SqlResult, Value, ValueRef, errors};

/// What a handler is dealing with.
#[derive(Debug, Clone)]
pub(crate) struct Caught {
    pub(crate) error: SqlError,
    pub(crate) level: WarningLevel,
}

/// What comes after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    /// The end of the block or loop of this number.
    Leave(usize),
    Iterate(usize),
    Return,
}

/// A cursor that is open: its rows, one after the other.
#[derive(Debug, Default)]
struct Cursor {
    open: bool,
    rows: Vec<Value>,
    width: usize,
    at: usize,
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
    result: Option<Value>,
}

/// What a program has left.
pub struct Finished {
    /// Values of all slots.
    pub values: Vec<Value>,
    /// A function's result.
    pub result: Option<Value>,
}

/// Runs a program. `values`: those of the first slots, and of slots that a trigger's row is in.
///
/// # Errors
/// What no handler has dealt with.
pub fn run(
    program: &Program,
    host: &mut dyn Host,
    arguments: Vec<(usize, Value)>,
) -> SqlResult<Finished> {
    let mut run = Run {
        program,
        host,
        values: vec![Value::Null; program.slots.len()],
        cursors: Vec::new(),
        handlers: Vec::new(),
        caught: Vec::new(),
        result: None,
    };
    run.cursors
        .resize_with(program.cursors.len(), Cursor::default);
    for (slot, v) in arguments {
        run.assign(slot, v)?;
    }
    let flow = run.step(&program.body)?;
    if program.kind == Kind::Function && flow != Flow::Return {
        return Err(errors::SP_NORETURNEND.with([&program.name]));
    }
    Ok(Finished {
        values: run.values,
        result: run.result,
    })
}

impl<'p> Run<'p, '_> {
    /// Converts a value to a type, as into a column.
    fn converted(&self, v: Value, ty: &ColumnType, name: &str) -> SqlResult<Value> {
        if fits(v.as_ref(), ty, true) {
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
        let mode = store_mode(env, false, false);
        let mut warn = WarnWith(|w: SqlWarning| push_warning(env, w));
        store(v.as_ref(), &target, 0, &mode, &mut warn)
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
        }
    }

    /// A value as it is now.
    pub(crate) fn calc(&mut self, c: &Calc) -> SqlResult<Value> {
        match c {
            Calc::Plain(e) => {
                let ctx = EvalCtx::new(self.host.env(), &self.values);
                e.eval(&ctx, &NoRow)
            }
            Calc::Query(step) => self.one_value(step),
            Calc::Broken(e) => Err(e.clone()),
        }
    }

    fn one_value(&mut self, step: &SqlStep) -> SqlResult<Value> {
        let mut value = Value::Null;
        let mut take = |row: &[ValueRef<'_>]| {
            value = row.first().map_or(Value::Null, ValueRef::to_value);
            Ok(())
        };
        let rows = Rows::Take(&mut take);
        self.host.sql(self.program, step, &self.values, rows)?;
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
        for s in list {
            match self.step(s)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
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
                    None => self.catch(errors::SP_CASE_NOT_FOUND.plain()),
                }
            }
            Step::Loop(id, repeat, list) => self.repeat(*id, repeat, list),
            Step::Leave(id) => Ok(Flow::Leave(*id)),
            Step::Iterate(id) => Ok(Flow::Iterate(*id)),
            Step::Several(list) => self.steps(list),
            leaf => {
                // Statements clear the conditions of what was before them, the others add to them.
                let before = match leaf {
                    Step::Set(..) | Step::SetUser(..) | Step::Fetch(..) => {
                        self.host.env().warning_count()
                    }
                    _ => 0,
                };
                match self.leaf(leaf) {
                    Ok(Flow::Next)
                        if self.program.minds_warnings
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

    fn leaf(&mut self, s: &'p Step) -> SqlResult<Flow> {
        match s {
            Step::Set(slot, c) => {
                let v = self.calc(c)?;
                self.assign(*slot, v)?;
            }
            Step::SetUser(name, c) => {
                let v = self.calc(c)?;
                self.host.env().variables.set_user(name, v);
            }
            Step::Return(c) => {
                let v = self.calc(c)?;
                let v = match &self.program.returns {
                    Some(ty) => {
                        let name = format!("{}()", self.program.name);
                        self.converted(v, ty, &name)?
                    }
                    None => v,
                };
                self.result = Some(v);
                return Ok(Flow::Return);
            }
            Step::Sql(step) => {
                self.host
                    .sql(self.program, step, &self.values, Rows::Client)?;
            }
            Step::Into(step, targets) => return self.select_into(step, targets),
            Step::Other(statement, text) => self.other(statement, text)?,
            Step::Open(cursor, arguments) => self.open(*cursor, arguments)?,
            Step::Fetch(cursor, targets) => self.fetch(*cursor, targets)?,
            Step::Close(cursor) => {
                if !self.cursors[*cursor].open {
                    return Err(errors::SP_CURSOR_NOT_OPEN.plain());
                }
                self.cursors[*cursor] = Cursor::default();
            }
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
                self.cursors[*c] = Cursor::default();
            }
        }
        match flow? {
            Flow::Leave(id) if id == b.id => Ok(Flow::Next),
            flow => Ok(flow),
        }
    }

    fn within_block(&mut self, b: &'p Block) -> SqlResult<Flow> {
        for (slot, default) in &b.variables {
            let set = match default {
                None => {
                    self.values[*slot] = Value::Null;
                    continue;
                }
                Some(c) => self.calc(c).and_then(|v| self.assign(*slot, v)),
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

    /// The steps of a turn: whether there is another one, or what ends the loop.
    fn turn(&mut self, id: usize, list: &'p [Step]) -> SqlResult<Option<Flow>> {
        self.host.env().check_interrupt()?;
        Ok(match self.steps(list)? {
            Flow::Next => None,
            Flow::Iterate(at) if at == id => None,
            Flow::Leave(at) if at == id => Some(Flow::Next),
            flow => Some(flow),
        })
    }

    fn repeat(&mut self, id: usize, repeat: &'p Repeat, list: &'p [Step]) -> SqlResult<Flow> {
        match repeat {
            Repeat::Endless => loop {
                if let Some(flow) = self.turn(id, list)? {
                    return Ok(flow);
                }
            },
            Repeat::While(c) => loop {
                match self.truth(c) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Flow::Next),
                    Err(e) => return self.catch(e),
                }
                if let Some(flow) = self.turn(id, list)? {
                    return Ok(flow);
                }
            },
            Repeat::Until(c) => loop {
                if let Some(flow) = self.turn(id, list)? {
                    return Ok(flow);
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
                self.cursors[*cursor] = Cursor::default();
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
            if let Some(flow) = self.turn(id, list)? {
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
            if let Some(flow) = self.turn(id, list)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn next_row(&mut self, cursor: usize) -> Option<Vec<Value>> {
        let c = &mut self.cursors[cursor];
        let end = c.at + c.width;
        if c.width == 0 || end > c.rows.len() {
            return None;
        }
        let row = c.rows[c.at..end].iter_mut().map(std::mem::take).collect();
        c.at = end;
        Some(row)
    }

    fn open(&mut self, cursor: usize, arguments: &[Calc]) -> SqlResult<()> {
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
        let mut take = |row: &[ValueRef<'_>]| {
            open.width = row.len();
            open.rows.extend(row.iter().map(ValueRef::to_value));
            Ok(())
        };
        let rows = Rows::Take(&mut take);
        self.host
            .sql(self.program, &code.select, &self.values, rows)?;
        self.cursors[cursor] = open;
        Ok(())
    }

    fn fetch(&mut self, cursor: usize, targets: &[Target]) -> SqlResult<()> {
        let c = &self.cursors[cursor];
        if !c.open {
            return Err(errors::SP_CURSOR_NOT_OPEN.plain());
        }
        if c.width != 0 && c.width != targets.len() {
            return Err(errors::SP_WRONG_NO_OF_FETCH_ARGS.plain());
        }
        let Some(row) = self.next_row(cursor) else {
            return Err(no_data());
        };
        for (t, v) in targets.iter().zip(row) {
            self.put(t, v)?;
        }
        Ok(())
    }

    fn select_into(&mut self, step: &SqlStep, targets: &[Target]) -> SqlResult<Flow> {
        let mut found: Option<Vec<Value>> = None;
        let mut take = |row: &[ValueRef<'_>]| {
            if row.len() != targets.len() {
                return Err(errors::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.plain());
            }
            if found.is_some() {
                return Err(errors::TOO_MANY_ROWS.plain());
            }
            found = Some(row.iter().map(ValueRef::to_value).collect());
            Ok(())
        };
        let rows = Rows::Take(&mut take);
        self.host.sql(self.program, step, &self.values, rows)?;
        match found {
            Some(row) => {
                self.host.found_row();
                for (t, v) in targets.iter().zip(row) {
                    self.put(t, v)?;
                }
                Ok(Flow::Next)
            }
            None => self.warn(&no_data()),
        }
    }

    fn other(&mut self, statement: &Statement, text: &str) -> SqlResult<()> {
        let mut s = statement.clone();
        let values = &self.values;
        let mut fill = |e: &mut Expr| {
            if let Expr::Param(n) = e {
                let v = values.get(*n).cloned().unwrap_or_default();
                *e = literal(&v);
            }
        };
        if let Statement::Admin(a) = &mut s {
            let fill = &mut fill;
            match &mut **a {
                Admin::Set(set) => {
                    for item in &mut set.items {
                        if let SetItem::System {
                            value: SetValue::Expr(o),
                            ..
                        } = item
                        {
                            rewrite::expression(&mut o.value, fill);
                        }
                    }
                }
                Admin::Prepared(p) => {
                    let (from, using) = match p {
                        Prepared::Prepare { from, .. } => (Some(from), None),
                        Prepared::Execute { using, .. } => (None, Some(using)),
                        Prepared::Immediate { from, using } => (Some(from), Some(using)),
                        Prepared::Deallocate(_) => (None, None),
                    };
                    if let Some(o) = from {
                        rewrite::expression(&mut o.value, fill);
                    }
                    for u in using.into_iter().flatten() {
                        if let Using::Value(o) = u {
                            rewrite::expression(&mut o.value, fill);
                        }
                    }
                }
                _ => {}
            }
        }
        self.host.other(s, text)
    }

    fn call(&mut self, name: &[String], arguments: &[(Calc, Option<Target>)]) -> SqlResult<()> {
        let callee = self.host.procedure(name)?;
        let full = format!("{}.{}", callee.db, callee.name);
        if callee.parameters.len() != arguments.len() {
            let (wanted, given) = (callee.parameters.len(), arguments.len());
            return Err(errors::SP_WRONG_NO_OF_ARGS.with([&"PROCEDURE", &full, &wanted, &given]));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for (i, (mode, (calc, target))) in callee.parameters.iter().zip(arguments).enumerate() {
            if *mode != ParameterMode::In && target.is_none() {
                return Err(errors::SP_NOT_VAR_ARG.with([&(i + 1), &full]));
            }
            values.push(match mode {
                ParameterMode::Out => Value::Null,
                _ => self.calc(calc)?,
            });
        }
        let after = self.host.call(&callee, values)?;
        let back = callee.parameters.iter().zip(arguments).zip(after);
        for ((mode, (_, target)), v) in back {
            if let (ParameterMode::Out | ParameterMode::InOut, Some(t)) = (mode, target) {
                self.put(t, v)?;
            }
        }
        Ok(())
    }
}

/// 1329.
pub(crate) fn no_data() -> SqlError {
    errors::SP_FETCH_NO_DATA.text("No data - zero rows fetched, selected, or processed")
}
