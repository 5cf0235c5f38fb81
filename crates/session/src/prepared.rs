//! Prepared statements.

use crate::admin::Admin;
use crate::lower::{self, Work};
use crate::process::Command;
use crate::session::{Away, ClientSession};
use crate::slots::{Execution, RETYPED, Slot, SlotKind};
use crate::statement::{Source, empty_query, keeps_diagnostics, table_changed, trim, utf8};
use crate::status;
use narwal_sql::{ParamType, Prepared, SqlMode, Stmt};
use narwal_syntax::ast::ddl::Ddl;
use narwal_syntax::ast::program::Program;
use narwal_syntax::{Statement, Tok, glance};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ResultColumn, ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a prepared statement looks like to the client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreparedInfo {
    /// The session's name for it.
    pub handle: u32,
    /// Number of `?`.
    pub params: u16,
    /// Columns of its result set, empty if there is none.
    pub columns: Vec<ResultColumn>,
    /// Its rows may be kept for a cursor.
    pub cursor: bool,
    /// [`ClientSession::execute_bulk`] may run it.
    pub bulk: bool,
}

impl ClientSession {
    /// Parses and plans a statement.
    pub fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        self.begin_command(Command::Prepare, sql);
        self.begin_statement(status::STMT_PREPARE, false);
        let r = self
            .client_text(sql)
            .and_then(|text| self.prepare_text(text.as_bytes()));
        self.command_ends();
        match r {
            Ok(i) => Ok(i),
            Err(e) => self.fail(e),
        }
    }

    pub(crate) fn prepare_text(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        if self.rights.must_change_password {
            self.check_sandbox(&String::from_utf8_lossy(sql))?;
        }
        let before = narwal_memory::held();
        let max = self
            .instance
            .global_value("max_prepared_stmt_count")
            .as_u64();
        if self.instance.prepared_statements.load(Ordering::Relaxed) >= max {
            return Err(errors::MAX_PREPARED_STMT_COUNT_REACHED.with([&max]));
        }
        let text = utf8(sql, self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES))?;
        self.env
            .raw_literals
            .set(matches!(text, std::borrow::Cow::Owned(_)));
        let text = trim(trim(&text).trim_end_matches(';'));
        if text.is_empty() {
            return Err(empty_query());
        }
        let (kind, mut info) = self.slot_kind(text)?;
        self.instance
            .prepared_statements
            .fetch_add(1, Ordering::Relaxed);
        let bytes = narwal_memory::held() - before;
        info.handle = self.prepared.keep(Slot {
            text: text.into(),
            db: self.env.db.clone(),
            kind,
            bytes,
        });
        Ok(info)
    }

    /// What is kept of a statement, and what is told of it.
    fn slot_kind(&mut self, text: &str) -> SqlResult<(SlotKind, PreparedInfo)> {
        self.names_are_text(text)?;
        let options = self.parse_options();
        let statement = narwal_syntax::parse_statement(text, &options)?;
        let whole = match &statement {
            Statement::SetStatement(_)
            | Statement::Program(_)
            | Statement::Ddl(_)
            | Statement::SelectInto(_)
            | Statement::LoadData(_) => Some(statement.clone()),
            _ => None,
        };
        let stmt = match lower::work(statement, &options)? {
            Work::Settings { .. } | Work::DropProgram(..) | Work::AlterRoutine(_) => {
                return self.other_slot(whole, text);
            }
            Work::Program(p) if !matches!(*p, Program::Call(_) | Program::Compound(_)) => {
                return self.other_slot(whole, text);
            }
            Work::Admin(admin) => return self.admin_slot(admin, text),
            Work::Program(p) => return Self::program_slot(p, text, self.env.sql_mode),
            Work::Sql(stmt) => stmt,
        };
        if let Stmt::SelectInto(s) = &stmt
            && let Some(whole) = whole.clone()
        {
            let count = s.select.params;
            let info = PreparedInfo {
                params: u16::try_from(count).map_err(|_| errors::PS_MANY_PARAM.plain())?,
                ..PreparedInfo::default()
            };
            return Ok((SlotKind::Other(Arc::new(whole), count), info));
        }
        if matches!(stmt, Stmt::LoadData(_)) {
            return self.other_slot(whole, text);
        }
        let counter = status::counter(stmt.counter());
        if let Stmt::Ddl(d) = stmt {
            // The values are bound where its SELECT is planned.
            if let (Some(whole), (count @ 1.., info)) = (whole, self.params_in(text)?) {
                return Ok((SlotKind::Other(Arc::new(whole), count), info));
            }
            let kind = SlotKind::Ddl(Arc::new(*d), counter);
            return Ok((kind, PreparedInfo::default()));
        }
        let mut plan = match self.plan(&stmt, text) {
            Err(e) if self.writes_grants(&stmt, &e).is_some() => {
                let whole = narwal_syntax::parse_statement(text, &options)?;
                let (count, info) = self.params_in(text)?;
                return Ok((SlotKind::Other(Arc::new(whole), count), info));
            }
            plan => plan?,
        };
        if plan.writes_stored() {
            self.refuse_in_read_only_transaction()?;
        }
        let mut types = Vec::new();
        if plan.depends_on_param_types() {
            // What is told of it now is what it would be with NULLs.
            types = vec![ParamType::Null; plan.params()];
            plan = self.plan_typed(&stmt, text, &types)?;
        }
        let params = u16::try_from(plan.params()).map_err(|_| errors::PS_MANY_PARAM.plain())?;
        let info = PreparedInfo {
            handle: 0,
            params,
            columns: plan.columns().to_vec(),
            cursor: matches!(stmt, Stmt::Select(_)),
            bulk: crate::bulk::is_bulk(&stmt),
        };
        let kind = SlotKind::Sql {
            counter,
            writes: stmt.writes(),
            keeps_diagnostics: keeps_diagnostics(&stmt),
            generation: self.plan_generation,
            types,
            stmt: Arc::new(stmt),
            plan: Arc::new(plan),
        };
        Ok((kind, info))
    }

    /// How many `?` a text has, and what is told of a statement that has them and no result.
    fn params_in(&self, text: &str) -> SqlResult<(usize, PreparedInfo)> {
        let tokens = glance::tokens(text, self.env.sql_mode);
        let is_param = |t: &&narwal_syntax::Token| matches!(t.tok, Tok::Param(_));
        let count = tokens.iter().filter(is_param).count();
        let info = PreparedInfo {
            params: u16::try_from(count).map_err(|_| errors::PS_MANY_PARAM.plain())?,
            ..PreparedInfo::default()
        };
        Ok((count, info))
    }

    /// As [`Self::slot_kind`], for a statement of the session's own.
    fn admin_slot(&mut self, admin: Box<Admin>, text: &str) -> SqlResult<(SlotKind, PreparedInfo)> {
        if matches!(*admin, Admin::Prepared(_)) {
            return Err(crate::sql_prepared::not_preparable());
        }
        if glance::first_param(text, self.env.sql_mode).is_some() {
            // Its expressions are bound when it runs.
            let whole = narwal_syntax::parse_statement(text, &self.parse_options())?;
            let (count, mut info) = self.params_in(text)?;
            info.columns = self.admin_columns(&admin)?;
            return Ok((SlotKind::Other(Arc::new(whole), count), info));
        }
        let info = PreparedInfo {
            columns: self.admin_columns(&admin)?,
            cursor: matches!(*admin, Admin::Show(_)),
            ..PreparedInfo::default()
        };
        Ok((SlotKind::Admin(Arc::from(admin)), info))
    }

    /// As [`Self::slot_kind`], for statements that are kept as they are.
    fn other_slot(
        &self,
        statement: Option<Statement>,
        text: &str,
    ) -> SqlResult<(SlotKind, PreparedInfo)> {
        let Some(statement) = statement else {
            return Err(crate::sql_prepared::not_preparable());
        };
        if glance::first_param(text, self.env.sql_mode).is_some() {
            return Err(SqlError::unsupported(
                "parameters in statements other than SELECT, INSERT, REPLACE, UPDATE, DELETE and DO",
            ));
        }
        let kind = SlotKind::Other(Arc::new(statement), 0);
        Ok((kind, PreparedInfo::default()))
    }

    /// As [`Self::slot_kind`], for CALL and the like.
    fn program_slot(
        p: Box<Program>,
        text: &str,
        mode: SqlMode,
    ) -> SqlResult<(SlotKind, PreparedInfo)> {
        use Program as P;
        if !matches!(*p, P::Call(_)) && glance::first_param(text, mode).is_some() {
            return Err(SqlError::unsupported("parameters in compound statements"));
        }
        let params = match &*p {
            P::Call(c) => narwal_program::count_params(&c.arguments),
            _ => 0,
        };
        let info = PreparedInfo {
            params: u16::try_from(params).map_err(|_| errors::PS_MANY_PARAM.plain())?,
            ..PreparedInfo::default()
        };
        Ok((SlotKind::Program(Arc::from(p), params), info))
    }

    /// Plans a statement whose parameters have these types.
    pub(crate) fn plan_typed(
        &mut self,
        stmt: &Stmt,
        text: &str,
        types: &[ParamType],
    ) -> SqlResult<Prepared> {
        *self.env.param_types.borrow_mut() = types.to_vec();
        let plan = self.plan(stmt, text);
        self.env.param_types.borrow_mut().clear();
        plan
    }

    /// Plans a prepared statement anew.
    pub(crate) fn plan_slot(&mut self, handle: u32, text: &str) -> SqlResult<Prepared> {
        let Some(Slot {
            kind: SlotKind::Sql { stmt, types, .. },
            ..
        }) = self.prepared.get(handle)
        else {
            return Err(table_changed());
        };
        let (stmt, types) = (stmt.clone(), types.clone());
        self.plan_typed(&stmt, text, &types)
    }

    /// Runs a prepared statement with as many parameters as it has. `wire_types`: the protocol's types (MYSQL_TYPE_*) and
    /// flags that they were bound with.
    pub fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        wire_types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let Some(slot) = self.prepared.get_mut(handle) else {
            return Err(errors::UNKNOWN_STMT_HANDLER.with([&handle, &"mysqld_stmt_execute"]));
        };
        slot.retype(params, wire_types);
        let text = slot.text.clone();
        self.begin_command(Command::Execute, text.as_bytes());
        self.process.counters.add(status::STMT_EXECUTE, 1);
        self.by_protocol = true;
        let run = Execution {
            handle,
            text: &text,
            params,
            out,
            more: false,
        };
        let r = self.execute_converted(run, wire_types);
        self.by_protocol = false;
        if self.instance.audit.wants_statements() {
            self.audit_statement(&text, &r);
        }
        self.command_ends();
        r
    }

    /// Runs a prepared statement with parameters in the client's character set.
    pub(crate) fn execute_converted(
        &mut self,
        run: Execution<'_>,
        wire_types: &[(u8, u8)],
    ) -> SqlResult<()> {
        match self.client_params(run.params, wire_types) {
            None => self.execute_slot(run),
            Some(values) => {
                let params: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
                self.execute_slot(Execution {
                    handle: run.handle,
                    text: run.text,
                    params: &params,
                    out: run.out,
                    more: run.more,
                })
            }
        }
    }

    /// Runs a prepared statement. Error 1444 if it runs already.
    pub(crate) fn execute_slot(&mut self, run: Execution<'_>) -> SqlResult<()> {
        if self.executing.contains(&run.handle) {
            return self.fail(errors::PS_NO_RECURSION.plain());
        }
        self.executing.push(run.handle);
        let away = self.go_to_db_of(run.handle);
        let r = self.run_slot(run);
        if let Some(away) = away {
            self.come_back(away);
        }
        self.executing.pop();
        r
    }

    /// A prepared statement runs in the default database of its preparation, whatever USE has said since.
    #[inline]
    fn go_to_db_of(&mut self, handle: u32) -> Option<Away> {
        let of = &self.prepared.get(handle)?.db;
        if *of == self.env.db {
            return None;
        }
        let of = of.clone();
        let database = self.instance.database();
        let catalog = database.catalog();
        // One that is gone is none.
        let of = of.filter(|db| {
            catalog.database(db).is_some()
                || crate::system_schemas::system_schema(&catalog, db).is_some()
        });
        Some(self.stand_in(of))
    }

    fn run_slot(&mut self, run: Execution<'_>) -> SqlResult<()> {
        let Some(slot) = self.prepared.get(run.handle) else {
            return Err(SqlError::unknown("the statement is gone"));
        };
        let Execution {
            text, params, more, ..
        } = run;
        match &slot.kind {
            SlotKind::Admin(a) => {
                let a = a.clone();
                self.run_admin(&a, run.out, more)
            }
            SlotKind::Program(p, wanted) => {
                let mut p = (**p).clone();
                if params.len() != *wanted {
                    return self.fail(errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_execute"]));
                }
                if let Program::Call(c) = &mut p {
                    let values: Vec<Value> = params.iter().map(ValueRef::to_value).collect();
                    self.bind_arguments(c, &values);
                }
                self.run_program(p, text, run.out, more)
            }
            SlotKind::Other(s, wanted) => {
                let s = Statement::clone(s);
                if params.len() != *wanted {
                    return self.fail(errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_execute"]));
                }
                if params.is_empty() {
                    return self.dispatch(s, text, run.out, more);
                }
                let values: Vec<Value> = params.iter().map(ValueRef::to_value).collect();
                let left_out = self.env.param_defaults.borrow().iter().any(Option::is_some);
                if keeps_values(&s) && !left_out {
                    let text = written_out(text, &values, self.env.sql_mode);
                    return match narwal_syntax::parse_statement(&text, &self.parse_options()) {
                        Ok(s) => self.dispatch(s, &text, run.out, more),
                        Err(e) => self.fail(e),
                    };
                }
                let before = self.env.bound_params.replace(values);
                let done = self.dispatch(s, text, run.out, more);
                self.env.bound_params.replace(before);
                done
            }
            SlotKind::Ddl(d, counter) => {
                let (d, counter) = (d.clone(), *counter);
                self.begin_statement(counter, false);
                self.run_ddl(&d, text, run.out, more)
            }
            SlotKind::Sql { .. } => self.run_planned_slot(run),
        }
    }

    /// Runs a prepared SELECT, INSERT and the like: by its plan, or by a new one where that is out of date.
    #[inline]
    fn run_planned_slot(&mut self, run: Execution<'_>) -> SqlResult<()> {
        let Execution {
            handle,
            text,
            params,
            out,
            more,
        } = run;
        let Some(Slot {
            kind:
                SlotKind::Sql {
                    plan,
                    counter,
                    writes,
                    keeps_diagnostics,
                    generation,
                    ..
                },
            ..
        }) = self.prepared.get(handle)
        else {
            return Err(SqlError::unknown("the statement is gone"));
        };
        let (counter, writes, keep) = (*counter, *writes, *keeps_diagnostics);
        let mut plan = plan.clone();
        let bound = !self.env.bound_params.borrow().is_empty()
            || !self.env.param_defaults.borrow().is_empty();
        let db = self.instance.database();
        let stale = bound
            || *generation != self.plan_generation
            || plan.catalog_version() != db.catalog_version();
        let retyped = *generation == RETYPED;
        let better = !stale
            && (plan.is_worn(db, &*self.vars) || (plan.wants_values() && !params.is_empty()));
        self.begin_statement(counter, keep);
        if stale || better {
            let made = self.renew_plan(handle, text, params, bound);
            // Tables that are there and have not the columns any more are other tables, too.
            let counts = |e: &SqlError| {
                [codes::BAD_FIELD_ERROR, codes::WRONG_VALUE_COUNT_ON_ROW].contains(&e.code)
            };
            if stale && !bound && !retyped && made.as_ref().err().is_none_or(counts) {
                self.process.counters.add(status::STMT_REPREPARE, 1);
            }
            match made {
                Ok(p) => plan = p,
                Err(e) => return self.fail(e),
            }
        }
        if params.len() != plan.params() {
            return self.fail(errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_execute"]));
        }
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        values.extend(params.iter().map(ValueRef::to_value));
        let from = Source::Handle(handle);
        let r = self.run_plan(&plan, from, writes, text, &values, out, more);
        self.values = values;
        r
    }

    /// Plans a prepared statement anew, by the values that it is about to run with. The new plan is kept, unless it holds
    /// values of this run (`bound`).
    #[cold]
    fn renew_plan(
        &mut self,
        handle: u32,
        text: &str,
        params: &[ValueRef<'_>],
        bound: bool,
    ) -> SqlResult<Arc<Prepared>> {
        *self.env.peeked.borrow_mut() = params.iter().map(ValueRef::to_value).collect();
        self.env.was_prepared.set(true);
        let fresh = self.plan_slot(handle, text);
        self.env.was_prepared.set(false);
        self.env.peeked.borrow_mut().clear();
        let fresh = Arc::new(fresh?);
        let now = self.plan_generation;
        if !bound
            && let Some(Slot {
                kind: SlotKind::Sql {
                    plan, generation, ..
                },
                ..
            }) = self.prepared.get_mut(handle)
        {
            *plan = fresh.clone();
            *generation = now;
        }
        Ok(fresh)
    }

    /// Forgets a prepared statement.
    pub fn close_statement(&mut self, handle: u32) {
        if self.prepared.remove(handle) {
            self.process.counters.add(status::STMT_CLOSE, 1);
            self.instance
                .prepared_statements
                .fetch_sub(1, Ordering::Relaxed);
        }
    }
}
/// A definition that keeps the values of its `?`, in a DEFAULT say. The log has it with the values.
fn keeps_values(s: &Statement) -> bool {
    match s {
        Statement::Ddl(d) => match &**d {
            Ddl::CreateTable(c) => c.select.is_none(),
            Ddl::AlterTable(_) => true,
            _ => false,
        },
        _ => false,
    }
}

/// A statement's text with values in place of its `?`.
fn written_out(text: &str, values: &[Value], mode: SqlMode) -> String {
    let mut out = String::with_capacity(text.len() + 16 * values.len());
    let mut from = 0;
    for token in glance::tokens(text, mode) {
        let Tok::Param(n) = token.tok else {
            continue;
        };
        out.push_str(&text[from..token.start as usize]);
        out.push_str(&literal(values.get(usize::from(n)), mode));
        from = token.end as usize;
    }
    out.push_str(&text[from..]);
    out
}

/// A value as it is written in a statement.
fn literal(value: Option<&Value>, mode: SqlMode) -> String {
    let Some(v) = value.filter(|v| !matches!(v, Value::Null)) else {
        return "NULL".to_string();
    };
    let mut bytes = Vec::new();
    v.as_ref().write_text(&mut bytes);
    match v {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => {
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Value::Double(_) | Value::Float(_) => {
            let digits = String::from_utf8_lossy(&bytes);
            match digits.contains('e') {
                true => digits.into_owned(),
                false => format!("{digits}e0"),
            }
        }
        Value::Bytes(b) => {
            let digits: String = b.iter().map(|b| format!("{b:02X}")).collect();
            format!("x'{digits}'")
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes).replace('\'', "''");
            match mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
                true => format!("'{text}'"),
                false => format!("'{}'", text.replace('\\', "\\\\")),
            }
        }
    }
}
