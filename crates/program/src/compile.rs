//! From a body's tree to its compiled form.

use crate::code::{
    Begin, Block, Calc, Columns, CursorCode, FunctionCall, Handler, Kind, KindCalc, ParameterCode,
    Program, Repeat, RowCalc, SqlStep, Step, Target, Typed, Wanted,
};
use crate::host::Lookup;
use crate::names::{Names, RowNames};
use crate::rewrite;
use narwal_sql::expr::{ExprKind, for_each_operand};
use narwal_sql::{Programs, Scope, StatementEnv, Stmt, bind_kept};
use narwal_syntax::ast::ddl::TypeAttribute;
use narwal_syntax::ast::program::{
    Body, ConditionValue, CursorSource, Declaration, HandlerAction, Loop, LoopKind, Parameter,
    TriggerEvent, VariableType,
};
use narwal_syntax::ast::{
    BinaryOp, Expr, Expression, Literal, Select, SelectItem, Statement, TableName,
};
use narwal_syntax::{ParseOptions, SqlMode};
use narwal_types::errors::codes;
use narwal_types::{ColumnType, Name, SqlError, SqlResult, TypeKind, errors};
use parking_lot::Mutex;
use std::sync::Arc;

/// What is said of a program besides its body.
pub struct Head<'a> {
    /// What it is.
    pub kind: Kind,
    /// The line that its body begins in.
    pub line: usize,
    /// Its database.
    pub db: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Parameters.
    pub parameters: &'a [Parameter],
    /// A function's result.
    pub returns: Option<&'a VariableType>,
    /// Of a trigger.
    pub trigger: Option<TriggerHead>,
    /// What the body of its package declares.
    pub package: &'a [Declaration],
    /// AGGREGATE.
    pub aggregate: bool,
    /// The collation that its database had when it was defined: that of variables which name none. `None`: as the session has it.
    pub collation: Option<narwal_types::Collation>,
}

/// The type of a variable.
pub(crate) enum Declared {
    One(Typed),
    /// A row: its fields, `None` if they are not known now.
    Row(Option<Columns>),
}

/// What is said of a trigger.
pub struct TriggerHead {
    /// Columns of its table.
    pub columns: Columns,
    /// BEFORE.
    pub before: bool,
    /// What it waits for.
    pub event: TriggerEvent,
}

/// Compiles a body, in the environment that it will run in. `text`: what it was parsed from.
///
/// # Errors
/// What MariaDB says of it when it is defined, and 1235 for what is not supported.
pub fn compile(
    head: &Head<'_>,
    body: Body,
    text: &str,
    env: &StatementEnv,
    lookup: &dyn Lookup,
) -> SqlResult<Program> {
    let mut c = Compiler {
        kind: head.kind,
        names: Names::default(),
        text,
        env,
        lookup,
        options: ParseOptions {
            sql_mode: env.sql_mode,
            ..ParseOptions::default()
        },
        cursors: Vec::new(),
        calls: Vec::new(),
        has_statements: false,
        minds_warnings: false,
        has_handlers: false,
        has_return: false,
        fetches_group: false,
        aggregate: head.aggregate,
        collation: head.collation,
        late: !lookup.is_definition() && head.kind != Kind::Trigger,
        last_line: (0, 1),
    };
    c.names.oracle = env.sql_mode.has(SqlMode::ORACLE);
    c.names.trigger = head.trigger.as_ref().map(|t| RowNames {
        columns: t.columns.clone(),
        old: t.event != TriggerEvent::Insert,
        new: t.event != TriggerEvent::Delete,
        before: t.before,
        event: match t.event {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        },
    });
    c.names.enter();
    let shared = c.shared(head.package)?;
    let of_package = c.names.slots.len();
    c.names.enter();
    let parameters = c.parameters(head.parameters, of_package)?;
    let returns = head.returns.map(|t| c.variable_type(t)).transpose()?;
    let returns = returns.map(|t| t.ty);
    let traced = head.kind != Kind::Block || !matches!(body, Body::Statement(..));
    let mut body = c.body(body)?;
    if head.kind == Kind::Package {
        // What its variables begin as belongs to its first use.
        let begin = |b| match b {
            Begin::Null(_) => None,
            Begin::One(slot, calc) => Some(Step::Set(slot, calc)),
            Begin::Row(slots, calc) => Some(Step::SetRow(slots, calc)),
        };
        let variables = shared.variables.into_iter();
        let mut steps: Vec<Step> = variables.filter_map(begin).collect();
        steps.push(body);
        body = Step::Several(steps);
    }
    if head.kind == Kind::Function && !c.has_return {
        let name = format!("{}.{}", head.db, head.name);
        return Err(errors::SP_NORETURN.with([&name]));
    }
    if c.aggregate && !c.fetches_group {
        return Err(errors::INVALID_AGGREGATE_FUNCTION.plain());
    }
    if let Some(e) = c.names.error.take() {
        return Err(e);
    }
    for (cursor, attribute, slot) in &c.names.attributes {
        c.cursors[*cursor].attributes.push((*attribute, *slot));
    }
    Ok(Program {
        kind: head.kind,
        db: head.db.to_string(),
        name: head.name.to_string(),
        line: head.line,
        of_package,
        types: c.names.types(),
        parameters,
        returns,
        row: c.names.row,
        slots: c.names.slots,
        cursors: c.cursors,
        body,
        has_statements: c.has_statements,
        aggregate: c.aggregate,
        minds_warnings: c.minds_warnings,
        has_handlers: c.has_handlers,
        traced,
        oracle: c.names.oracle,
        caught: c.names.caught,
    })
}

pub(crate) struct Compiler<'a> {
    pub(crate) kind: Kind,
    pub(crate) names: Names,
    text: &'a str,
    pub(crate) env: &'a StatementEnv,
    lookup: &'a dyn Lookup,
    options: ParseOptions,
    cursors: Vec<CursorCode>,
    /// Calls that were taken out of the expression that is being compiled.
    calls: Vec<FunctionCall>,
    pub(crate) has_statements: bool,
    minds_warnings: bool,
    has_handlers: bool,
    has_return: bool,
    /// It has FETCH GROUP NEXT ROW.
    fetches_group: bool,
    aggregate: bool,
    collation: Option<narwal_types::Collation>,
    /// What does not fit the tables of today is an error of its statement, when that is reached.
    late: bool,
    /// A place in the text, and its line.
    last_line: (usize, usize),
}

/// Statements that take their time and may fail: where they stand is kept.
fn is_traced(s: &Step) -> bool {
    matches!(
        s,
        Step::Sql(_)
            | Step::Into(..)
            | Step::Other(..)
            | Step::Call(..)
            | Step::Signal(_)
            | Step::Broken(_)
            | Step::Under(..)
    )
}

/// What comes of tables and rows that are not as the program has them.
fn is_of_shape(code: u16) -> bool {
    matches!(
        code,
        codes::OPERAND_COLUMNS
            | codes::BAD_FIELD_ERROR
            | codes::ROW_VARIABLE_DOES_NOT_HAVE_FIELD
            | codes::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION
    )
}

/// Error 1193 for `@@name` where there is no such variable.
fn known_variable(e: &Expr, env: &StatementEnv) -> SqlResult<()> {
    let Expr::SystemVar(v) = e else {
        return Ok(());
    };
    let known = env
        .variables
        .system(narwal_sql::VariableScope::Session, &v.name);
    match known {
        Err(e) if v.base.is_none() && e.code == codes::UNKNOWN_SYSTEM_VARIABLE => Err(e),
        _ => Ok(()),
    }
}

/// The type of a parameter: one that names no length under sql_mode=ORACLE takes the longest text that any variable takes.
fn of_any_length(p: &Parameter, mut t: Typed) -> Typed {
    const MOST: u16 = 65_532;
    if let VariableType::Data(data, _) = &p.ty
        && data.attributes.contains(&TypeAttribute::AnyLength)
    {
        t.ty.kind = match t.ty.kind {
            TypeKind::VarChar(_) => {
                TypeKind::VarChar(MOST / t.ty.collation.charset().max_width() as u16)
            }
            TypeKind::VarBinary(_) => TypeKind::VarBinary(MOST),
            kind => kind,
        };
    }
    t
}

/// Error 1327 if there is a name among what `each` goes through: it is no variable's.
pub(crate) fn no_names(each: impl FnOnce(rewrite::Each<'_>)) -> SqlResult<()> {
    fn name(e: &Expr) -> Option<&String> {
        match e {
            Expr::Column(name) => Some(name),
            Expr::Qualified(q) => Some(q.db.as_ref().unwrap_or(&q.table)),
            Expr::Default(of) | Expr::Values(of) => name(of),
            _ => None,
        }
    }
    let mut unknown: Option<String> = None;
    each(&mut |e| unknown = unknown.take().or_else(|| name(e).cloned()));
    match unknown {
        Some(name) => Err(errors::SP_UNDECLARED_VAR.with([&name])),
        None => Ok(()),
    }
}

/// Error 4078: a row where one value is wanted.
pub(crate) fn no_single(ty: ColumnType, name: &str) -> SqlError {
    SqlError::no_row(&ty.family_name(), name)
}

impl<'a> Compiler<'a> {
    /// The variables that the routines of a package share: they have the same slots in each.
    fn shared(&mut self, declarations: &[Declaration]) -> SqlResult<Block> {
        let mut block = Block {
            id: usize::MAX,
            variables: Vec::new(),
            cursors: Vec::new(),
            handlers: Vec::new(),
            steps: Vec::new(),
        };
        for d in declarations {
            self.declaration(d.clone(), &mut block)?;
        }
        Ok(block)
    }

    fn parameters(&mut self, list: &[Parameter], from: usize) -> SqlResult<Vec<ParameterCode>> {
        let mut out = Vec::new();
        for p in list {
            let at = self.names.slots.len() - from;
            let fields = match self.declared(&p.ty)? {
                Declared::One(ty) => {
                    self.names.declare(&p.name, of_any_length(p, ty), true)?;
                    None
                }
                Declared::Row(columns) => {
                    let slots = self.names.declare_row(&p.name, columns.as_deref(), true)?;
                    Some(slots.len())
                }
            };
            out.push(ParameterCode {
                mode: p.mode,
                name: p.name.clone(),
                at,
                fields,
            });
        }
        Ok(out)
    }

    /// The type of a variable that is no row.
    fn variable_type(&mut self, ty: &VariableType) -> SqlResult<Typed> {
        match self.declared(ty)? {
            Declared::One(ty) => Ok(ty),
            Declared::Row(_) => Err(SqlError::unsupported("ROW here")),
        }
    }

    /// The type of a variable.
    fn declared(&mut self, ty: &VariableType) -> SqlResult<Declared> {
        let collation = self.database_collation();
        let mode = self.env.sql_mode;
        Ok(match ty {
            VariableType::Data(ty, of) => {
                let of = of.as_deref();
                let (ty, width) = narwal_sql::lower::variable_type(ty, of, collation, mode)?;
                Declared::One(Typed::with_width(ty, width))
            }
            VariableType::TypeOf(names) => match names.as_slice() {
                [name] => match self.names.row_columns(name) {
                    Some(columns) => Declared::Row(columns),
                    None => Declared::One(self.type_of(names)?),
                },
                _ => Declared::One(self.type_of(names)?),
            },
            VariableType::RowTypeOf(table) => {
                let cursor = table
                    .db
                    .is_none()
                    .then(|| self.names.find_cursor(&table.name));
                Declared::Row(match cursor.flatten() {
                    Some(c) => {
                        let select = &self.cursors[c].select.stmt;
                        self.lookup.query(select, &self.names.types())?
                    }
                    None => {
                        let columns = self.lookup.table(table)?;
                        self.lookup.may_read(table, None)?;
                        columns
                    }
                })
            }
            VariableType::Row(fields) => {
                let one = |(n, t, of): &(String, _, Option<String>)| {
                    let of = of.as_deref();
                    let (ty, width) = narwal_sql::lower::variable_type(t, of, collation, mode)?;
                    Ok((n.clone(), Typed::with_width(ty, width)))
                };
                Declared::Row(Some(fields.iter().map(one).collect::<SqlResult<_>>()?))
            }
        })
    }

    fn database_collation(&self) -> narwal_types::Collation {
        if let Some(c) = self.collation {
            return c;
        }
        let scope = narwal_sql::VariableScope::Session;
        let name = self.env.variables.system(scope, "collation_database");
        match name {
            Ok(narwal_types::Value::Str(s)) => {
                narwal_types::Collation::from_name(&s).unwrap_or_default()
            }
            _ => narwal_types::Collation::default(),
        }
    }

    fn type_of(&mut self, names: &[String]) -> SqlResult<Typed> {
        let (table, column) = match names {
            [variable] => {
                let slot = self.names.slot(variable);
                let slot = slot.ok_or_else(|| errors::SP_UNDECLARED_VAR.with([variable]))?;
                return Ok(self.names.slots[slot].typed());
            }
            [table, column] => ((None, table), column),
            [db, table, column] => ((Some(db.clone()), table), column),
            _ => return Err(SqlError::unsupported("TYPE OF here")),
        };
        let table = TableName {
            db: table.0,
            name: table.1.clone(),
        };
        let unknown = ColumnType::new(TypeKind::VarChar(255));
        let Some(columns) = self.lookup.table(&table)? else {
            return Ok(unknown.into());
        };
        let found = columns.iter().find(|(n, _)| n.same_name(column));
        let found = found.map(|(_, ty)| *ty);
        let ty = found.ok_or_else(|| errors::BAD_FIELD_ERROR.with([column, &table.name]))?;
        self.lookup.may_read(&table, Some(column))?;
        Ok(ty)
    }

    /// Puts parameters in the place of variables.
    pub(crate) fn expression(&mut self, e: &mut Expression) -> SqlResult<()> {
        let (names, env) = (&mut self.names, self.env);
        rewrite::expression(e, &mut |e| {
            names.replace(e);
            if let Err(unknown) = known_variable(e, env) {
                names.error.get_or_insert(unknown);
            }
        });
        self.names.error.take().map_or(Ok(()), Err)?;
        e.subqueries.iter().try_for_each(|(_, s)| self.limits(s))
    }

    /// A value that is computed.
    pub(crate) fn calc(&mut self, mut e: Expression) -> SqlResult<Calc> {
        self.take_calls(&mut e)?;
        self.expression(&mut e)?;
        self.undeclared(&mut e)?;
        Ok(self.calc_of(e))
    }

    /// The same, of which nobody asks yet whether all its names mean something.
    pub(crate) fn calc_unchecked(&mut self, mut e: Expression) -> SqlResult<Calc> {
        self.take_calls(&mut e)?;
        self.expression(&mut e)?;
        Ok(self.calc_of(e))
    }

    /// Error 1327 for a name that is no variable's where no table is read.
    fn undeclared(&mut self, e: &mut Expression) -> SqlResult<()> {
        no_names(|note| rewrite::without_tables(e, note))
    }

    /// A value that is computed, of an expression whose names are replaced.
    pub(crate) fn calc_of(&mut self, e: Expression) -> Calc {
        let open = std::mem::take(&mut self.names.open);
        let calls = std::mem::take(&mut self.calls);
        let calc = self.bound(e);
        let calc = match open.is_empty() {
            true => calc,
            false => Calc::Open(open, Box::new(calc)),
        };
        match calls.is_empty() {
            true => calc,
            false => Calc::Calls(calls, Box::new(calc)),
        }
    }

    /// Takes calls of functions with OUT parameters out of an expression: only programs can call them, for they have
    /// places for what comes back.
    fn take_calls(&mut self, e: &mut Expression) -> SqlResult<()> {
        let programs = self.env.programs.clone();
        match programs.filter(|p| !self.lookup.is_definition() && p.any()) {
            Some(p) => self.take_calls_of(&mut e.expr, &e.subqueries, &*p),
            None => Ok(()),
        }
    }

    /// DO of expressions that call functions with OUT parameters: each is computed for a variable that nobody can name.
    pub(crate) fn do_with_calls(&mut self, s: &Select) -> SqlResult<Option<Step>> {
        let value = |item: &SelectItem| match item {
            SelectItem::Expr { expr, .. } => Some(Expression {
                expr: expr.clone(),
                subqueries: s.subqueries.clone(),
            }),
            _ => None,
        };
        let Some(values) = s.items.iter().map(value).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        for e in &values {
            self.take_calls(&mut e.clone())?;
        }
        if std::mem::take(&mut self.calls).is_empty() {
            return Ok(None);
        }
        let step = |e| Ok(Step::SetUser("\u{1}do".into(), self.calc_unchecked(e)?));
        let steps = values.into_iter().map(step).collect::<SqlResult<_>>()?;
        Ok(Some(Step::Several(steps)))
    }

    fn take_calls_of(
        &mut self,
        e: &mut Expr,
        subqueries: &[(usize, Select)],
        programs: &dyn Programs,
    ) -> SqlResult<()> {
        let mut done = Ok(());
        for_each_operand(e, &mut |inner| {
            if done.is_ok() {
                done = self.take_calls_of(inner, subqueries, programs);
            }
        });
        done?;
        let Expr::Call(c) = e else {
            return Ok(());
        };
        if c.clauses.is_some()
            || narwal_sql::expr::functions::lookup(&c.name.to_ascii_lowercase()).is_some()
        {
            return Ok(());
        }
        let found = programs.function(c.db.as_deref(), &c.name, self.env);
        let Ok(Some(function)) = found else {
            return Ok(());
        };
        if function.out.is_none() || function.parameters.len() != c.args.len() {
            return Ok(());
        }
        let expression = |expr| Expression {
            expr,
            subqueries: subqueries.to_vec(),
        };
        let given = std::mem::take(&mut c.args).into_iter().map(expression);
        let outer = std::mem::take(&mut self.calls);
        let arguments = self.call_arguments(given.collect())?;
        self.calls = outer;
        let result = self.names.hidden("call", function.returns);
        self.has_statements |= function.statements;
        self.calls.push(FunctionCall {
            function,
            arguments,
            result,
        });
        *e = Expr::Param(result);
        Ok(())
    }

    fn bound(&mut self, e: Expression) -> Calc {
        let mut broken = None;
        if e.subqueries.is_empty() {
            // Lent, not copied: a body may have as many variables as it has expressions.
            self.env.param_types.swap(&self.names.types);
            let bound = bind_kept(&e.expr, &Scope::empty(self.env));
            self.env.param_types.swap(&self.names.types);
            match bound {
                Ok((x, kinds)) if !x.any(&|x| matches!(x.kind, ExprKind::Stored(_))) => {
                    return match kinds.is_empty() {
                        true => Calc::Plain(Box::new(x)),
                        false => Calc::Kinds(Box::new(KindCalc {
                            ast: e.expr,
                            ty: x.ty.ty,
                            kept: Mutex::new((Arc::new(x), kinds)),
                        })),
                    };
                }
                // It may run statements, for which a transaction is needed.
                Ok(_) => {}
                Err(e) => broken = Some(e),
            }
        }
        if let Some(e) = broken {
            return Calc::Broken(e);
        }
        let item = SelectItem::Expr {
            expr: e.expr,
            alias: None,
            text: String::new(),
        };
        let mut select = Select::of(vec![item], None);
        select.subqueries = e.subqueries;
        self.has_statements = true;
        match self.lowered(Statement::Select(Box::new(select))) {
            Ok(step) => Calc::Query(Box::new(step)),
            Err(e) => Calc::Broken(e),
        }
    }

    /// A statement of narwal-sql's with its names replaced.
    pub(crate) fn sql(&mut self, mut s: Statement) -> SqlResult<SqlStep> {
        let (names, env) = (&mut self.names, self.env);
        rewrite::statement(&mut s, &mut |e| {
            names.replace(e);
            if let Err(unknown) = known_variable(e, env) {
                names.error.get_or_insert(unknown);
            }
        });
        if let Statement::Select(q) | Statement::Do(q) = &s {
            self.limits(q)?;
        }
        if let Some(e) = self.names.error.take() {
            return Err(e);
        }
        self.has_statements = true;
        let open = std::mem::take(&mut self.names.open);
        let mut step = self.lowered(s)?;
        step.open = open;
        Ok(step)
    }

    /// Error 1691 for variables in LIMIT that are no integers.
    fn limits(&self, q: &Select) -> SqlResult<()> {
        for (_, inner) in &q.subqueries {
            self.limits(inner)?;
        }
        let parts = q.limit.iter();
        for e in parts.flat_map(|l| std::iter::once(&l.count).chain(&l.offset)) {
            match e {
                Expr::Param(slot) if !is_integer(self.names.slots[*slot].ty.kind) => {
                    return Err(errors::WRONG_SPVAR_TYPE_IN_LIMIT.plain());
                }
                Expr::Row(_) => return Err(errors::WRONG_SPVAR_TYPE_IN_LIMIT.plain()),
                Expr::Column(name) => return Err(errors::SP_UNDECLARED_VAR.with([name])),
                _ => {}
            }
        }
        Ok(())
    }

    fn lowered(&self, s: Statement) -> SqlResult<SqlStep> {
        Ok(SqlStep {
            stmt: narwal_sql::lower(s, &self.options)?,
            text: "".into(),
            open: Vec::new(),
            plan: Mutex::default(),
        })
    }

    pub(crate) fn list(&mut self, list: Vec<Body>) -> SqlResult<Vec<Step>> {
        let mut labels = Vec::new();
        for b in &list {
            let mut b = b;
            while let Body::Labelled(name, inner) = b {
                labels.push(name.as_str());
                b = inner;
            }
        }
        if labels.is_empty() {
            return list.into_iter().map(|b| self.body(b)).collect();
        }
        self.names.push_places(&labels)?;
        let mut steps = Vec::new();
        for mut b in list {
            while let Body::Labelled(name, inner) = b {
                steps.push(Step::Label(self.names.place(&name)?));
                b = *inner;
            }
            steps.push(self.body(b)?);
        }
        self.names.pop_places();
        Ok(steps)
    }

    pub(crate) fn body(&mut self, body: Body) -> SqlResult<Step> {
        narwal_memory::check()?;
        let leaf = matches!(
            body,
            Body::Statement(..) | Body::Return(_) | Body::Fetch(..) | Body::Open(..)
        );
        let line = match &body {
            // The line that it ends in, as in MariaDB.
            Body::Statement(_, at) => self.line(at.end),
            _ => 0,
        };
        match self.step_of(body) {
            Ok(step) if line > 0 && is_traced(&step) => Ok(Step::At(line, Box::new(step))),
            Err(e) if leaf && self.late && is_of_shape(e.code) => {
                self.names.error = None;
                self.names.open.clear();
                Ok(Step::Broken(e))
            }
            step => step,
        }
    }

    /// The line of a place in the text, from 1 on. Counted from the last place that was asked for: statements are compiled
    /// in the order of the text, and counting each from the beginning would take the square of its length.
    fn line(&mut self, at: usize) -> usize {
        let (from, line) = match self.last_line {
            last if last.0 <= at => last,
            _ => (0, 1),
        };
        let between = self.text.as_bytes().get(from..at).unwrap_or_default();
        let line = line + between.iter().filter(|b| **b == b'\n').count();
        self.last_line = (at, line);
        line
    }

    fn step_of(&mut self, body: Body) -> SqlResult<Step> {
        Ok(match body {
            Body::Block(b) => self.block(b)?,
            Body::If {
                branches,
                otherwise,
            } => {
                let branches = self.branches(branches)?;
                let otherwise = otherwise.map(|l| self.list(l)).transpose()?;
                Step::If(branches, otherwise)
            }
            Body::Case {
                operand,
                branches,
                otherwise,
            } => self.case(operand, branches, otherwise)?,
            Body::Loop(l) => self.loop_of(l)?,
            Body::Leave(label) => Step::Leave(self.names.label(&label, false)?),
            Body::Iterate(label) => Step::Iterate(self.names.label(&label, true)?),
            Body::Return(e) => {
                let value = self.single(e, None)?;
                if self.kind != Kind::Function {
                    return Err(errors::SP_BADRETURN.plain());
                }
                self.has_return = true;
                Step::Return(value)
            }
            Body::Open(name, arguments) => {
                let cursor = self.names.cursor(&name)?;
                Step::Open(cursor, self.arguments(cursor, &name, arguments)?)
            }
            Body::Close(name) => Step::Close(self.names.cursor(&name)?),
            Body::Fetch(name, into) => {
                let cursor = self.names.cursor(&name)?;
                Step::Fetch(cursor, self.fetch_targets(into)?)
            }
            Body::Nothing => Step::Several(Vec::new()),
            Body::Finish => match self.kind {
                Kind::Function => return Err(errors::SP_BADRETURN.plain()),
                _ => Step::Finish,
            },
            Body::Goto(label) => Step::Goto(self.names.place(&label)?),
            Body::Labelled(..) => Step::Several(self.list(vec![body])?),
            Body::FetchGroupNextRow => {
                if !self.aggregate {
                    return Err(errors::NOT_AGGREGATE_FUNCTION.plain());
                }
                self.fetches_group = true;
                Step::FetchGroup
            }
            Body::Statement(s, at) => {
                let text = self.text.get(at).unwrap_or_default();
                self.statement(*s, text)?
            }
        })
    }

    fn arguments(
        &mut self,
        cursor: usize,
        name: &str,
        arguments: Vec<Expression>,
    ) -> SqlResult<Vec<Calc>> {
        let wanted = self.cursors[cursor].parameters.len();
        if wanted != arguments.len() {
            return Err(errors::WRONG_PARAMCOUNT_TO_CURSOR.with([&name]));
        }
        arguments.into_iter().map(|a| self.calc(a)).collect()
    }

    fn fetch_targets(&mut self, into: Vec<String>) -> SqlResult<Vec<Target>> {
        if let [row] = into.as_slice()
            && let Some(slots) = self.names.row_slots(row)
        {
            return Ok(slots.into_iter().map(Target::Slot).collect());
        }
        into.iter().map(|n| self.target_of_list(n)).collect()
    }

    /// One of several targets: a row among them takes no value.
    pub(crate) fn target_of_list(&mut self, name: &str) -> SqlResult<Target> {
        match self.names.row_slots(name) {
            Some(slots) => Ok(Target::Row(slots.len())),
            None => self.target(name),
        }
    }

    /// A variable by its name as written: `x`, `row.field`, `NEW.x`, `@x`.
    pub(crate) fn target(&mut self, name: &str) -> SqlResult<Target> {
        if let Some(user) = name.strip_prefix('@') {
            return Ok(Target::User(user.to_string()));
        }
        let slot = match name.split_once('.') {
            Some((row, field)) => match self.names.row_column(row, field, true) {
                Some(r) => Some(r?),
                None => match self.names.field(row, field) {
                    None if self.names.row_slots(row).is_some() => {
                        return Err(errors::ROW_VARIABLE_DOES_NOT_HAVE_FIELD.with([&row, &field]));
                    }
                    slot => slot,
                },
            },
            None => self.names.slot(name),
        };
        slot.map(Target::Slot)
            .ok_or_else(|| errors::SP_UNDECLARED_VAR.with([&name]))
    }

    fn branches(
        &mut self,
        branches: Vec<(Expression, Vec<Body>)>,
    ) -> SqlResult<Vec<(Calc, Vec<Step>)>> {
        let one = |(when, list)| Ok((self.calc(when)?, self.list(list)?));
        branches.into_iter().map(one).collect()
    }

    fn case(
        &mut self,
        operand: Option<Expression>,
        branches: Vec<(Expression, Vec<Body>)>,
        otherwise: Option<Vec<Body>>,
    ) -> SqlResult<Step> {
        let Some(operand) = operand else {
            let branches = self.branches(branches)?;
            let otherwise = otherwise.map(|l| self.list(l)).transpose()?;
            return Ok(Step::Case {
                operand: None,
                branches,
                otherwise,
            });
        };
        let operand = self.calc(operand)?;
        let ty = match &operand {
            Calc::Plain(e) => e.ty.ty,
            Calc::Kinds(k) => k.ty,
            _ => ColumnType::new(TypeKind::VarChar(u16::MAX)),
        };
        let slot = self.names.hidden("case", ty);
        let mut list = Vec::new();
        for (mut when, steps) in branches {
            self.expression(&mut when)?;
            let equal = Expression {
                expr: Expr::Binary {
                    left: Box::new(Expr::Param(slot)),
                    op: BinaryOp::Eq,
                    right: Box::new(Expr::Nested(Box::new(when.expr))),
                },
                subqueries: when.subqueries,
            };
            list.push((self.calc_of(equal), self.list(steps)?));
        }
        Ok(Step::Case {
            operand: Some((slot, operand)),
            branches: list,
            otherwise: otherwise.map(|l| self.list(l)).transpose()?,
        })
    }

    fn loop_of(&mut self, l: Loop) -> SqlResult<Step> {
        let id = self.names.push_label(l.label.as_deref(), true)?;
        self.names.enter();
        let (repeat, steps) = match l.kind {
            LoopKind::Endless => (Repeat::Endless, self.list(l.statements)?),
            LoopKind::While(e) => (Repeat::While(self.calc(e)?), self.list(l.statements)?),
            LoopKind::Repeat(e) => {
                let steps = self.list(l.statements)?;
                (Repeat::Until(self.calc(e)?), steps)
            }
            LoopKind::Range {
                variable,
                reverse,
                from,
                to,
            } => {
                let bound = Some((ColumnType::bigint(), ""));
                let (from, to) = (self.single(from, bound)?, self.single(to, bound)?);
                let slot = self.names.declare(&variable, ColumnType::bigint(), false)?;
                let last = self.names.hidden("last", ColumnType::bigint());
                let repeat = Repeat::Range {
                    slot,
                    last,
                    reverse,
                    from,
                    to,
                };
                (repeat, self.list(l.statements)?)
            }
            LoopKind::Cursor { variable, rows } => {
                let repeat = self.for_rows(&variable, rows)?;
                (repeat, self.list(l.statements)?)
            }
        };
        self.names.leave();
        self.names.pop_label();
        Ok(Step::Loop(id, Box::new(repeat), steps))
    }

    fn for_rows(&mut self, variable: &str, rows: CursorSource) -> SqlResult<Repeat> {
        let (cursor, arguments) = match rows {
            CursorSource::Named(name, arguments) => {
                let cursor = self.names.cursor(&name)?;
                (cursor, self.arguments(cursor, &name, arguments)?)
            }
            CursorSource::Query(q) => {
                let select = self.sql(Statement::Select(q))?;
                self.cursors.push(CursorCode {
                    parameters: Vec::new(),
                    select,
                    attributes: Vec::new(),
                });
                (self.cursors.len() - 1, Vec::new())
            }
        };
        let select = &self.cursors[cursor].select.stmt;
        let columns = self.lookup.query(select, &self.names.types())?;
        let fields = self
            .names
            .declare_row(variable, columns.as_deref(), false)?;
        Ok(Repeat::Rows {
            cursor,
            arguments,
            fields,
        })
    }

    fn block(&mut self, b: narwal_syntax::ast::program::Block) -> SqlResult<Step> {
        let id = self.names.push_label(b.label.as_deref(), false)?;
        self.names.enter();
        let mut block = Block {
            id,
            variables: Vec::new(),
            cursors: Vec::new(),
            handlers: Vec::new(),
            steps: Vec::new(),
        };
        for d in b.declarations {
            self.declaration(d, &mut block)?;
        }
        block.steps = self.list(b.statements)?;
        self.names.leave();
        self.names.pop_label();
        Ok(Step::Block(Box::new(block)))
    }

    fn declaration(&mut self, d: Declaration, block: &mut Block) -> SqlResult<()> {
        let behind = !block.cursors.is_empty() || !block.handlers.is_empty();
        let late = behind && !self.names.oracle;
        match d {
            Declaration::Variables { .. } | Declaration::Condition(..) if late => {
                return Err(errors::SP_VARCOND_AFTER_CURSHNDLR.plain());
            }
            Declaration::Variables { names, ty, default } => {
                self.variables(&names, &ty, default, block)?;
            }
            Declaration::Exception(name) => self.names.exception(&name)?,
            Declaration::Condition(name, value) => {
                let wanted = self.wanted(&value)?;
                self.names.condition(&name, wanted)?;
            }
            Declaration::Cursor(..) if !block.handlers.is_empty() && !self.names.oracle => {
                return Err(errors::SP_CURSOR_AFTER_HANDLER.plain());
            }
            Declaration::Cursor(name, parameters, select) => {
                self.names.enter();
                let mut slots = Vec::new();
                for (name, ty) in &parameters {
                    let ty = self.variable_type(ty)?;
                    slots.push(self.names.declare(name, ty, true)?);
                }
                let select = self.sql(Statement::Select(select));
                self.names.leave();
                let number = self.cursors.len();
                self.cursors.push(CursorCode {
                    parameters: slots,
                    select: select?,
                    attributes: Vec::new(),
                });
                self.names.declare_cursor(&name, number)?;
                block.cursors.push(number);
            }
            Declaration::Handler {
                action,
                conditions,
                body,
            } => {
                let handler = self.handler(action, &conditions, *body, &block.handlers)?;
                block.handlers.push(handler);
            }
        }
        Ok(())
    }

    fn variables(
        &mut self,
        names: &[String],
        ty: &VariableType,
        default: Option<Expression>,
        block: &mut Block,
    ) -> SqlResult<()> {
        let ty = match self.declared(ty)? {
            Declared::One(ty) => ty,
            Declared::Row(columns) => {
                for name in names {
                    let begin = default.clone().map(|d| self.row_calc(d)).transpose()?;
                    let slots = self.names.declare_row(name, columns.as_deref(), false)?;
                    match begin {
                        Some(calc) => block.variables.push(Begin::Row(slots, calc)),
                        None => block.variables.extend(slots.into_iter().map(Begin::Null)),
                    }
                }
                return Ok(());
            }
        };
        for name in names {
            let Some(mut d) = default.clone() else {
                let slot = self.names.declare(name, ty, false)?;
                block.variables.push(Begin::Null(slot));
                continue;
            };
            // It does not see the variable itself.
            let calc = self.single(d.clone(), Some((ty.ty, name)))?;
            self.expression(&mut d)?;
            let slot = self.names.declare(name, ty, false)?;
            self.names.keep_default(slot, d);
            block.variables.push(Begin::One(slot, calc));
        }
        Ok(())
    }

    /// A value for one variable, of this type and name: error 4078 for a row, when it is computed.
    pub(crate) fn single(
        &mut self,
        mut e: Expression,
        to: Option<(ColumnType, &str)>,
    ) -> SqlResult<Calc> {
        self.take_calls(&mut e)?;
        self.expression(&mut e)?;
        match e.expr {
            Expr::Row(_) => {
                let (ty, name) = to.unwrap_or((ColumnType::bigint(), ""));
                Ok(Calc::Broken(no_single(ty, name)))
            }
            // `0x41` and `b'1'` are numbers where one is wanted.
            bits @ Expr::Literal(Literal::Hex(_) | Literal::Bit(_))
                if to.is_some_and(|(ty, _)| ty.is_numeric()) =>
            {
                e.expr = Expr::Binary {
                    op: BinaryOp::Add,
                    left: Box::new(bits),
                    right: Box::new(Expr::Literal(Literal::Number("0".into()))),
                };
                self.calc(e)
            }
            expr => self.calc(Expression { expr, ..e }),
        }
    }

    /// The values of a row's fields: of `ROW(...)`, of another row, of a query, or NULL. Others have one value, which a row
    /// does not take.
    pub(crate) fn row_calc(&mut self, mut e: Expression) -> SqlResult<RowCalc> {
        self.expression(&mut e)?;
        let mut subqueries = e.subqueries;
        let values = match e.expr {
            Expr::Row(items) => items,
            Expr::Literal(Literal::Null) => return Ok(RowCalc::Null),
            Expr::Subquery(n) => {
                let at = subqueries.iter().position(|(number, _)| *number == n);
                let Some(at) = at else {
                    return Ok(RowCalc::Single);
                };
                let select = subqueries.swap_remove(at).1;
                self.has_statements = true;
                let step = self.lowered(Statement::Select(Box::new(select)))?;
                return Ok(RowCalc::Query(Box::new(step)));
            }
            expr => {
                // It may have names that are no variables.
                self.calc(Expression { expr, subqueries })?;
                return Ok(RowCalc::Single);
            }
        };
        let calc = |expr| {
            let subqueries = subqueries.clone();
            self.calc(Expression { expr, subqueries })
        };
        let fields = values.into_iter().map(calc).collect::<SqlResult<_>>()?;
        Ok(RowCalc::Fields(fields))
    }

    pub(crate) fn wanted(&self, value: &ConditionValue) -> SqlResult<Wanted> {
        Ok(match value {
            ConditionValue::Error(n) => match u16::try_from(*n) {
                Ok(n) if n > 0 => Wanted::Code(n),
                _ => {
                    return Err(errors::WRONG_VALUE.with([&"CONDITION", n]));
                }
            },
            ConditionValue::State(s) => Wanted::State(*s),
            ConditionValue::Named(name) => self.names.wanted(name)?,
            ConditionValue::Warning => Wanted::Warning,
            ConditionValue::NotFound => Wanted::NotFound,
            ConditionValue::Exception => Wanted::Exception,
            ConditionValue::Others => Wanted::Others,
        })
    }

    fn handler(
        &mut self,
        action: HandlerAction,
        conditions: &[ConditionValue],
        body: Body,
        others: &[Handler],
    ) -> SqlResult<Handler> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for c in conditions {
            let w = self.wanted(c)?;
            if wanted.contains(&w) || others.iter().any(|h| h.wanted.contains(&w)) {
                return Err(errors::SP_DUP_HANDLER.plain());
            }
            self.minds_warnings |= matches!(
                w,
                Wanted::Warning | Wanted::Code(_) | Wanted::State(_) | Wanted::Others
            );
            wanted.push(w);
        }
        self.has_handlers = true;
        self.names.push_border();
        let body = self.body(body);
        self.names.pop_label();
        Ok(Handler {
            wanted,
            exit: action == HandlerAction::Exit,
            body: body?,
        })
    }
}

/// True for the statements that narwal-sql plans.
pub(crate) fn is_planned(stmt: &Stmt) -> bool {
    !matches!(stmt, Stmt::Ddl(_) | Stmt::SelectInto(_) | Stmt::LoadData(_))
}

fn is_integer(kind: TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Year
            | TypeKind::Bit(_)
    )
}
