//! CALL and compound statements: programs as a client runs them, statement by statement, each as if it had come alone.

use super::compiled::{Deeper, Inside, Now, Unit, definer_names, find_procedure, no_procedure};
use super::definition::{Definition, Stored};
use super::rights;
use super::sinks::{Forward, Taken};
use crate::acl::Account;
use crate::process::Command;
use crate::session::{Away, ClientSession};
use crate::session_vars::SaidCollation;
use crate::set_statement::Before;
use crate::statement::{Source, keeps_diagnostics};
use crate::status;
use crate::variables::{self, VarValue};
use narwal_engine::Table;
use narwal_program::{Head, Host, Kind, PackageValues, Program, Rows, SqlStep, compile};
use narwal_sql::{Prepared, Programs, SqlMode, StatementEnv, StoredFunction, WarningLevel};
use narwal_syntax::Statement;
use narwal_syntax::ast::admin::SetItem;
use narwal_syntax::ast::ddl::Ddl;
use narwal_syntax::ast::program as ast;
use narwal_types::{Charset, Collation, ResultSink, SqlError, SqlResult, Value};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The variable that a program's definition has its own value of.
const CLIENT: &str = "character_set_client";

/// Those that are as they were behind a program, whatever it has set.
const RESTORED: [&str; 2] = [CLIENT, "collation_connection"];

/// The host of procedures and compound statements: the session itself.
struct AtSession<'a> {
    session: &'a mut ClientSession,
    out: &'a mut dyn ResultSink,
    /// What variables were before SET STATEMENT.
    settings: Vec<Before>,
}

impl<'a> AtSession<'a> {
    fn new(session: &'a mut ClientSession, out: &'a mut dyn ResultSink) -> Self {
        AtSession {
            session,
            out,
            settings: Vec::new(),
        }
    }
}

/// What a procedure's surroundings were before it.
struct Around {
    /// The default database.
    away: Away,
    /// `sql_select_limit`, which is for a client's own statements.
    select_limit: u64,
    mode: SqlMode,
    collation: Collation,
    charsets: Charsets,
    /// Who ran it, if another account does now.
    account: Option<Rights>,
}

/// What a session says of character sets, and a program's definition says otherwise.
struct Charsets {
    /// The session's own values of [`RESTORED`].
    own: [Option<VarValue>; 2],
    /// `SET collation_database`.
    database: SaidCollation,
}

/// The account that statements run with.
struct Rights {
    account: Arc<Account>,
    user: (String, String),
    current_user: Arc<str>,
    role: Option<Arc<str>>,
}

impl ClientSession {
    /// Runs a statement that defines a program; gives others back.
    fn run_definition(
        &mut self,
        p: ast::Program,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> ControlFlow<SqlResult<()>, ast::Program> {
        ControlFlow::Break(match p {
            ast::Program::Routine(r) => {
                let counter = match r.returns {
                    Some(_) => "Com_create_function",
                    None => "Com_create_procedure",
                };
                self.define(counter, out, more, |s| s.create_routine(&r, text))
            }
            ast::Program::Trigger(t) => self.define("Com_create_trigger", out, more, |s| {
                s.create_trigger(&t, text)
            }),
            ast::Program::Event(e) => {
                self.define("Com_create_event", out, more, |s| s.create_event(&e, text))
            }
            ast::Program::AlterEvent(e) => {
                self.define("Com_alter_event", out, more, |s| s.alter_event(&e, text))
            }
            ast::Program::Package(p) => {
                let counter = match p.body {
                    true => "Com_create_package_body",
                    false => "Com_create_package",
                };
                self.define(counter, out, more, |s| s.create_package(&p, text))
            }
            p => return ControlFlow::Continue(p),
        })
    }

    /// Runs a statement of the language of stored programs.
    pub(crate) fn run_program(
        &mut self,
        p: ast::Program,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let p = match self.run_definition(p, text, out, more) {
            ControlFlow::Break(done) => return done,
            ControlFlow::Continue(p) => p,
        };
        let (counter, keeps) = match &p {
            ast::Program::Call(_) => ("Com_call_procedure", true),
            ast::Program::Compound(_) => ("Com_compound_sql", true),
            ast::Program::Signal(s) if s.again => ("Com_resignal", true),
            ast::Program::Signal(_) => ("Com_signal", false),
            ast::Program::GetDiagnostics(_) => ("Com_get_diagnostics", true),
            other => {
                let e = SqlError::unsupported(other.name());
                self.begin_statement(status::ADMIN_COMMANDS, false);
                return self.fail(e);
            }
        };
        let counter = status::counter(counter);
        let row_count = self.env.row_count;
        self.begin_statement(counter, keeps);
        let diagnostics = matches!(p, ast::Program::GetDiagnostics(_));
        let is_set = matches!(&p, ast::Program::Compound(ast::Body::Statement(s, _)) if matches!(**s, Statement::Admin(_)));
        let runs = matches!(p, ast::Program::Call(_) | ast::Program::Compound(_));
        let body = match p {
            ast::Program::Compound(body) => body,
            p => {
                let statement = Statement::Program(Box::new(p));
                ast::Body::Statement(Box::new(statement), 0..text.len())
            }
        };
        let params = self.call_params.take();
        let called = match &body {
            ast::Body::Statement(s, _) => called(s),
            _ => None,
        };
        let rows_before = std::mem::take(&mut self.program_rows);
        let inner = |s: &Self| s.env.inner_changed.take() + s.env.inner_found.take();
        inner(self);
        let earlier = self.env.conditions().len();
        let clears = self.env.clears.get();
        self.in_program += 1;
        let mut done = self.run_body(body, text, out);
        self.in_program -= 1;
        if let (Some(params), Some(name), Ok(())) = (params, called, &done) {
            done = self.give_back(&params, &name, out);
        }
        if !is_set {
            self.program_rows += inner(self);
        }
        let affected = std::mem::replace(&mut self.program_rows, rows_before);
        if runs {
            // The list of before is there if nothing has looked at a table.
            self.inherited = match self.env.clears.get() == clears {
                true => earlier,
                false => 0,
            };
        }
        match done {
            Ok(()) => {
                let done = self.finish_ok(affected, 0, String::new(), out, more);
                if diagnostics {
                    // It asks for the number, and leaves it for whoever asks next.
                    self.env.row_count = row_count;
                }
                done
            }
            Err(e) => {
                if diagnostics {
                    // Its error joins the conditions that it asked about.
                    self.inherited = 0;
                }
                self.fail_once(e)
            }
        }
    }

    /// Fails with an error that may be in the diagnostics area already.
    fn fail_once(&mut self, e: SqlError) -> SqlResult<()> {
        let last = {
            let all = self.env.conditions();
            all.last().is_some_and(|c| {
                // RESIGNAL with another SQLSTATE is a condition on top of the one before.
                let same_state = (c.raised.as_ref()).is_none_or(|r| r.sqlstate == e.sqlstate);
                let same = c.code == e.code && c.message == e.message && same_state;
                c.level == WarningLevel::Error && same
            })
        };
        if last {
            let mut all = self.env.conditions().clone();
            self.env.clear_conditions();
            let own = all.pop();
            all.into_iter().for_each(|c| self.env.push(c));
            // The row that it is about.
            self.env.row_number.set(own.map_or(0, |c| c.row));
        }
        self.fail(e)
    }

    fn run_body(&mut self, body: ast::Body, text: &str, out: &mut dyn ResultSink) -> SqlResult<()> {
        let db = self.env.db.as_deref().unwrap_or("").to_string();
        let head = Head {
            kind: Kind::Block,
            db: &db,
            name: "",
            parameters: &[],
            returns: None,
            trigger: None,
            package: &[],
            aggregate: false,
            line: 1,
            collation: None,
        };
        let now = Now::new(&self.programs.store, &self.env, false);
        if !matches!(body, ast::Body::Statement(..)) {
            // What is wrong with it as it stands is told before any of it runs.
            let definition = Now::new(&self.programs.store, &self.env, true);
            compile(&head, body.clone(), text, &self.env, &definition)?;
        }
        let program = compile(&head, body, text, &self.env, &now)?;
        let mut host = AtSession::new(self, out);
        narwal_program::run(&program, &mut host, Vec::new()).map(drop)
    }

    /// Runs an event in a session of its definer's; rows that it gives go nowhere.
    pub(super) fn run_event(&mut self, def: Definition) -> SqlResult<()> {
        if let Some(part) = &def.event {
            let zone = VarValue::text(part.time_zone.as_str());
            self.vars.set_by_name("time_zone", zone);
            self.refresh_settings();
        }
        let info = def.body.clone();
        self.process.begin(
            Command::Connect,
            info.as_bytes(),
            self.instance.processes.now(),
        );
        self.begin_statement(status::ADMIN_COMMANDS, false);
        let unit = self.programs.clone().event(def, &self.env)?;
        let around = self.enter_program(&unit)?;
        self.in_program += 1;
        let mut nowhere = Taken(&mut |_: &[narwal_types::ValueRef<'_>]| Ok(()));
        let mut host = AtSession::new(self, &mut nowhere);
        let done = narwal_program::run(&unit.program, &mut host, Vec::new());
        self.in_program -= 1;
        self.leave_program(around);
        done.map(drop)
    }

    /// Puts the warnings of an event into the server's log.
    pub(super) fn tell_warnings(&self, who: &str) {
        for c in self
            .env
            .conditions()
            .iter()
            .filter(|c| c.level == WarningLevel::Warning)
        {
            tracing::warn!("event scheduler: {who} {}", c.message);
        }
    }

    /// Goes into a procedure: its database, its modes, its account.
    fn enter_program(&mut self, unit: &Unit) -> SqlResult<Around> {
        let def = &unit.def;
        let account = self.become_definer(def)?;
        let around = Around {
            away: self.stand_in(Some(def.db.as_str().into())),
            select_limit: self.settings.select_limit,
            mode: self.env.sql_mode,
            collation: self.env.collation,
            charsets: self.take_charsets(def),
            account,
        };
        self.limit_selects(u64::MAX);
        self.env.caller_mode = self.env.sql_mode;
        if self.env.sql_mode != def.mode() {
            self.change_mode(def.mode());
        }
        if let Some(c) = Collation::from_name(&def.charset.1) {
            self.env.collation = c;
        }
        Ok(around)
    }

    /// Takes the client's character set and the database's collation from a definition, and gives those that were. The database's is for
    /// the default database, which the program's is by now.
    fn take_charsets(&self, def: &Definition) -> Charsets {
        let (client, _, database) = &def.charset;
        let before = Charsets {
            own: RESTORED.map(|name| variables::index(name).and_then(|i| self.vars.own(i))),
            database: self.vars.said_database_collation(),
        };
        if Charset::from_name(client).is_some() && self.vars.value(CLIENT).as_str() != client {
            self.vars
                .set_by_name(CLIENT, VarValue::text(client.as_str()));
        }
        if let Some(c) = Collation::from_name(database) {
            self.vars.say_database_collation(c);
        }
        before
    }

    fn put_charsets(&mut self, before: Charsets) {
        self.vars.restore_database_collation(before.database);
        let mut changed = false;
        for (name, own) in RESTORED.into_iter().zip(before.own) {
            if let Some(i) = variables::index(name)
                && self.vars.own(i) != own
            {
                self.vars.restore(i, own);
                changed = true;
            }
        }
        if changed {
            self.refresh_settings();
        }
    }

    /// Takes a program's definer for the account that statements run with, and gives the one that was. `None`: it stays.
    fn become_definer(&mut self, def: &Definition) -> SqlResult<Option<Rights>> {
        if def.invoker || self.internal || self.is_definer(def) {
            return Ok(None);
        }
        let Some(account) = rights::account_of(&self.programs.store, def, &self.env)? else {
            return Err(rights::no_definer(def));
        };
        let before = Rights {
            user: (
                self.client.account_user.clone(),
                self.client.account_host.clone(),
            ),
            account: self.account(),
            current_user: self.env.current_user.clone(),
            role: self.rights.role.clone(),
        };
        self.client.account_user.clone_from(&account.user);
        self.client.account_host.clone_from(&account.host);
        (self.env.current_user, self.rights.role) = definer_names(&def.definer);
        self.env.current_role = self.rights.role.clone();
        self.rights.account = account;
        Ok(Some(before))
    }

    fn leave_program(&mut self, around: Around) {
        // It may have set another one.
        if self.env.sql_mode != around.mode {
            self.change_mode(around.mode);
        }
        self.limit_selects(around.select_limit);
        self.come_back(around.away);
        self.env.collation = around.collation;
        self.put_charsets(around.charsets);
        if let Some(before) = around.account {
            (self.client.account_user, self.client.account_host) = before.user;
            self.env.current_user = before.current_user;
            self.env.current_role = before.role.clone();
            self.rights.role = before.role;
            self.rights.account = before.account;
        }
    }

    /// The account is a program's definer: it keeps its role there, and one that the program sets stays.
    fn is_definer(&self, def: &Definition) -> bool {
        let (user, host) = &def.definer;
        !host.is_empty() && (user, host) == (&self.client.account_user, &self.client.account_host)
    }

    /// Sets `sql_select_limit`.
    fn limit_selects(&mut self, rows: u64) {
        if self.settings.select_limit != rows {
            (self.vars).set_by_name("sql_select_limit", VarValue::UInt(rows));
            self.refresh_settings();
        }
    }

    fn change_mode(&mut self, mode: SqlMode) {
        let value = VarValue::text(mode.names());
        self.vars.set_by_name("sql_mode", value);
        self.refresh_settings();
    }
}

impl AtSession<'_> {
    /// What a statement has changed counts for the program.
    fn count_rows(&mut self) {
        let rows = u64::try_from(self.session.env.row_count).unwrap_or(0);
        self.session.program_rows += rows;
    }

    /// A statement that writes to a grant table. Replicas get its text, in which no variable may be.
    fn write_grants(
        &mut self,
        program: &Program,
        table: &'static Arc<Table>,
        step: &SqlStep,
    ) -> SqlResult<()> {
        let s = &mut *self.session;
        let alone = narwal_sql::parse_statement(&step.text, &s.parse_options());
        if alone.as_ref() != Ok(&step.stmt) {
            let what = "a program's variable in a statement that writes to grant tables";
            return s.fail(SqlError::unsupported(what));
        }
        let mut sink = Forward(&mut *self.out, program);
        s.write_grants(table, &step.stmt, &step.text, &mut sink, true)?;
        s.inherited = 0;
        self.count_rows();
        Ok(())
    }

    fn plan(&mut self, program: &Program, step: &SqlStep) -> SqlResult<Arc<Prepared>> {
        let s = &mut *self.session;
        let generation = s.plan_generation;
        {
            let kept = step.plan.lock();
            let db = s.instance.database();
            if let Some((plan, made)) = &*kept
                && *made == generation
                && plan.catalog_version() == db.catalog_version()
                && !plan.is_worn(db, &*s.vars)
            {
                return Ok(plan.clone());
            }
        }
        let stmt = narwal_program::with_params(&step.stmt, program.types.len());
        let plan = Arc::new(s.plan_typed(&stmt, &step.text, &program.types)?);
        *step.plan.lock() = Some((plan.clone(), generation));
        Ok(plan)
    }
}

impl Host for AtSession<'_> {
    fn env(&self) -> &StatementEnv {
        &self.session.env
    }

    fn sql(
        &mut self,
        program: &Program,
        step: &SqlStep,
        values: &[Value],
        rows: Rows<'_>,
    ) -> SqlResult<()> {
        let stmt = &step.stmt;
        let counter = status::counter(stmt.counter());
        // A value belongs to the statement that reads it, and adds to its conditions.
        let earlier = match rows {
            Rows::Value(_) => self.session.env.conditions().clone(),
            _ => Vec::new(),
        };
        let clears = self.session.env.clears.get();
        let keeps = !earlier.is_empty() || keeps_diagnostics(stmt);
        self.session.begin_statement(counter, keeps);
        let plan = match self.plan(program, step) {
            Ok(p) => p,
            Err(e) => {
                return match self.session.writes_grants(stmt, &e) {
                    Some(table) => self.write_grants(program, table, step),
                    None => self.session.fail(e),
                };
            }
        };
        let (mut forward, mut taken);
        let sink: &mut dyn ResultSink = match rows {
            Rows::Client => {
                forward = Forward(&mut *self.out, program);
                &mut forward
            }
            Rows::Take(f) | Rows::Value(f) => {
                taken = Taken(f);
                &mut taken
            }
        };
        let from = Source::Typed(stmt, &program.types);
        let writes = stmt.writes();
        self.session
            .run_plan(&plan, from, writes, &step.text, values, sink, true)?;
        self.session.add_to(earlier, clears);
        // What it has left of earlier conditions is the program's now, and what follows happens later.
        self.session.inherited = 0;
        self.session.look_at_the_clock();
        self.count_rows();
        Ok(())
    }

    fn begin_settings(&mut self, settings: &[Vec<SetItem>]) -> SqlResult<()> {
        let before = self.session.begin_settings(settings)?;
        self.settings.push(before);
        Ok(())
    }

    fn end_settings(&mut self) {
        if let Some(before) = self.settings.pop() {
            self.session.put_back(before);
        }
    }

    fn take_out_values(&mut self) -> Vec<Option<Value>> {
        std::mem::take(&mut self.session.out_values)
    }

    fn package(&mut self, program: &Program) -> SqlResult<Option<PackageValues>> {
        let programs = self.session.programs.clone();
        let (db, name) = (&program.db, &program.name);
        let (values, first) = programs.package_values(db, name, &self.session.env)?;
        if let Some(unit) = first {
            let around = self.session.enter_program(&unit)?;
            let _inside = Inside::new(&programs, db, &format!("{}.", unit.def.name));
            let mut host = AtSession::new(&mut *self.session, &mut *self.out);
            let done = narwal_program::run(&unit.program, &mut host, Vec::new());
            self.session.leave_program(around);
            if let Err(e) = done {
                programs.forget_package(&unit.def);
                return Err(e);
            }
        }
        Ok(Some(values))
    }

    fn found_row(&mut self) {
        self.session.program_rows += 1;
    }

    fn other(
        &mut self,
        program: &Program,
        statement: Statement,
        text: &str,
        values: &[Value],
    ) -> SqlResult<()> {
        let mut sink = Forward(&mut *self.out, program);
        let reads = match &statement {
            Statement::Ddl(d) => matches!(&**d, Ddl::CreateTable(c) if c.select.is_some()),
            _ => false,
        };
        if reads {
            // Its SELECT sees the program's variables.
            self.session.env.param_types.replace(program.types.clone());
            self.session.env.param_values.replace(values.to_vec());
        }
        let done = self.session.dispatch(statement, text, &mut sink, true);
        if reads {
            self.session.env.param_types.take();
            self.session.env.param_values.take();
        }
        self.session.inherited = 0;
        done?;
        self.count_rows();
        Ok(())
    }

    fn function(
        &mut self,
        function: &StoredFunction,
        arguments: Vec<Value>,
    ) -> SqlResult<(Value, Vec<Value>)> {
        let programs = self.session.programs.clone();
        if !function.statements {
            return programs.call_with_values(function, arguments, None, &self.session.env);
        }
        self.session.in_transaction(|txn, env| {
            programs.call_with_values(function, arguments, Some(txn), env)
        })
    }

    fn procedure(&mut self, name: &[String]) -> SqlResult<Arc<Program>> {
        let s = &mut *self.session;
        let programs = s.programs.clone();
        let unit = find_procedure(&programs, name, &s.env)?;
        rights::check_execute(&programs.store, &unit.def, None, &s.env)?;
        Ok(unit.program.clone())
    }

    fn call(&mut self, program: &Arc<Program>, arguments: Vec<Value>) -> SqlResult<Vec<Value>> {
        let programs = self.session.programs.clone();
        let (db, name) = (&program.db, &program.name);
        let unit = programs
            .unit(Stored::Procedure, db, name, &self.session.env)?
            .ok_or_else(|| no_procedure(db, name))?;
        let _deeper = Deeper::new(&programs, program, &self.session.env)?;
        let around = self.session.enter_program(&unit)?;
        let arguments = unit.program.arguments(arguments);
        let _inside = Inside::new(&programs, &unit.def.db, &unit.def.name);
        let mut host = AtSession::new(&mut *self.session, &mut *self.out);
        let done = narwal_program::run(&unit.program, &mut host, arguments);
        self.session.leave_program(around);
        Ok(done?.values)
    }
}

/// The name of the procedure that a statement calls.
fn called(s: &Statement) -> Option<Vec<String>> {
    match s {
        Statement::Program(p) => match &**p {
            ast::Program::Call(c) => Some(c.name.clone()),
            _ => None,
        },
        _ => None,
    }
}
