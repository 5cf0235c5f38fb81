//! Where functions and triggers run: inside of a statement, in its transaction. They give no result sets and commit nothing.

use super::compiled::{Deeper, Inside, SessionPrograms, Unit, find_procedure, no_procedure};
use super::definition::Stored;
use super::rights;
use super::settings::{self, Before};
use super::sinks::Taken;
use crate::privileges::PrivilegeSet;
use crate::roles;
use crate::session::is_virtual;
use crate::statement::keeps_diagnostics;
use narwal_engine::{Savepoint, Transaction, TxnOptions};
use narwal_program::{Host, PackageValues, Program, Rows, SqlStep};
use narwal_sql::ast::DdlStmt;
use narwal_sql::{
    Needs, Outcome, ParamType, ParseOptions, Prepared, Privilege, Programs, StatementEnv, Stmt,
    StoredFunction,
};
use narwal_syntax::Statement;
use narwal_syntax::ast::admin::{Admin, Scope, SetItem, SetValue};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The host of a function or a trigger.
pub(crate) struct Nested<'a> {
    programs: &'a SessionPrograms,
    unit: &'a Unit,
    pub(crate) env: StatementEnv,
    txn: Option<&'a mut Transaction>,
    /// Its savepoints, which end with it.
    savepoints: Vec<(String, Savepoint)>,
    /// What SET STATEMENT has to put back, the innermost last.
    settings: Vec<Before>,
}

impl<'a> Nested<'a> {
    pub(crate) fn new(
        programs: &'a SessionPrograms,
        unit: &'a Unit,
        mut env: StatementEnv,
        txn: Option<&'a mut Transaction>,
    ) -> Self {
        programs.give_temporary(&mut env);
        Nested {
            programs,
            unit,
            env,
            txn,
            savepoints: Vec::new(),
            settings: Vec::new(),
        }
    }

    /// SAVEPOINT, ROLLBACK TO and RELEASE SAVEPOINT.
    fn savepoint(&mut self, statement: &Admin) -> SqlResult<()> {
        let Some(txn) = &mut self.txn else {
            return Err(no_transaction());
        };
        let (name, release) = match statement {
            Admin::Savepoint(name) => {
                self.savepoints
                    .retain(|(n, _)| !n.eq_ignore_ascii_case(name));
                self.savepoints.push((name.clone(), txn.savepoint()));
                return Ok(());
            }
            Admin::ReleaseSavepoint(name) => (name, true),
            Admin::RollbackTo(name) => (name, false),
            _ => return Ok(()),
        };
        let mut all = self.savepoints.iter();
        let Some(at) = all.rposition(|(n, _)| n.eq_ignore_ascii_case(name)) else {
            return Err(errors::SP_DOES_NOT_EXIST.with([&"SAVEPOINT", name]));
        };
        match release {
            true => self.savepoints.truncate(at),
            false => {
                txn.rollback_to(&self.savepoints[at].1);
                self.savepoints.truncate(at + 1);
            }
        }
        Ok(())
    }

    /// SET ROLE: for what the program has still to do, and for the session from its next statement on, if the program runs
    /// with its account.
    fn set_role(&mut self, role: Option<&str>) -> SqlResult<()> {
        let role = role.filter(|r| !r.eq_ignore_ascii_case("NONE"));
        if let Some(role) = role {
            let name = self.env.current_user.clone();
            let account = name.rsplit_once('@').unwrap_or((&name, ""));
            let acl = self.programs.store.acl();
            let may_know = || {
                let a = acl.effective(account.0, account.1, None);
                a.is_some_and(|a| {
                    a.on_table("mysql", "roles_mapping")
                        .has(PrivilegeSet::SELECT)
                })
            };
            roles::check_has_role(&acl, account, role, may_know)?;
        }
        let role: Option<Arc<str>> = role.map(Into::into);
        self.env.current_role = role.clone();
        if !self.env.other_account {
            let vars = &self.programs.vars;
            *vars.role_inside.lock() = Some(role);
            vars.changed_inside.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn plan(&self, program: &Program, step: &SqlStep) -> SqlResult<Arc<Prepared>> {
        let db = self.programs.store.database();
        let generation = self.generation();
        let mut kept = step.plan.lock();
        if let Some((plan, made)) = &*kept
            && *made == generation
            && plan.catalog_version() == db.catalog_version()
            && !plan.is_worn(db, &*self.env.variables)
        {
            return Ok(plan.clone());
        }
        let store = &self.programs.store;
        // In functions and triggers a delayed INSERT is none.
        let at_once;
        let stmt = match &step.stmt {
            Stmt::Insert(i) if i.priority.is_some() => {
                let mut i = i.clone();
                i.priority = None;
                at_once = Stmt::Insert(i);
                &at_once
            }
            stmt => stmt,
        };
        let plan = store.plan_program(stmt, &program.types, &self.env)?;
        let uses = || {
            *self.env.column_uses.borrow_mut() = Some(Box::default());
            let planned = store.plan_program(stmt, &program.types, &self.env);
            let uses = self.env.column_uses.borrow_mut().take();
            planned.map(|_| uses.map(|u| u.list).unwrap_or_default())
        };
        rights::check_nested(store, &self.unit.def, plan.needs(), &self.env, uses)?;
        let plan = Arc::new(plan);
        *kept = Some((plan.clone(), generation));
        Ok(plan)
    }

    /// What a plan depends on beside the catalog: modes, the collation of literals, and temporary tables.
    fn generation(&self) -> u64 {
        let temporary = self.env.temporary.as_ref().map_or(0, |t| t.changes());
        let of_program = self.env.sql_mode.0 ^ (u64::from(self.env.collation.id()) << 40);
        of_program ^ temporary.rotate_right(8)
    }

    /// 1100 and 1099: LOCK TABLES does not name the table, or not for writing.
    fn check_locked(&self, plan: &Prepared) -> SqlResult<()> {
        for n in plan.needs().iter().filter(|n| !is_virtual(&n.db)) {
            let write = n.privilege != Privilege::Select;
            self.programs.vars.check_locked(&n.db, &n.table, write)?;
        }
        Ok(())
    }

    /// 1442: the statement around uses the table.
    fn check_in_use(&self, plan: &Prepared) -> SqlResult<()> {
        for n in plan.needs() {
            let writes = matches!(
                n.privilege,
                Privilege::Insert | Privilege::Update | Privilege::Delete
            );
            if writes && self.env.is_used_around(&n.db, &n.table) {
                return Err(errors::CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG.with([&n.table]));
            }
        }
        Ok(())
    }
}

impl Host for Nested<'_> {
    fn env(&self) -> &StatementEnv {
        &self.env
    }

    fn sql(
        &mut self,
        program: &Program,
        step: &SqlStep,
        values: &[Value],
        rows: Rows<'_>,
    ) -> SqlResult<()> {
        let plan = self.plan(program, step)?;
        self.check_in_use(&plan)?;
        if self.unit.def.kind.routine().is_some() {
            self.check_locked(&plan)?;
        }
        let Some(txn) = &mut self.txn else {
            return Err(no_transaction());
        };
        if !matches!(rows, Rows::Value(_)) && !keeps_diagnostics(&step.stmt) {
            self.env.clear_conditions();
        }
        let savepoint = program.has_handlers.then(|| txn.savepoint());
        let mut refuse = |_: &[narwal_types::ValueRef<'_>]| -> SqlResult<()> {
            Err(errors::SP_NO_RETSET.with([&self.unit.def.kind.word().to_lowercase()]))
        };
        let mut sink = Taken(match rows {
            Rows::Take(f) | Rows::Value(f) => f,
            Rows::Client => &mut refuse,
        });
        let db = self.programs.store.database();
        let changed = self.env.inner_changed.get();
        let done = narwal_sql::execute(&plan, values, txn, db, &mut self.env, &mut sink);
        match done {
            Ok(Outcome::Done {
                affected,
                last_insert_id,
                ..
            }) => {
                // What its own functions and triggers change is not told apart.
                if step.stmt.writes() {
                    self.env.inner_changed.set(changed + affected);
                }
                self.env.row_count = affected as i64;
                if last_insert_id != 0 {
                    self.env.last_insert_id = last_insert_id;
                }
            }
            Ok(Outcome::Rows { rows, found_rows }) => {
                self.env.row_count = -1;
                self.env.found_rows = found_rows;
                let _ = rows;
            }
            Ok(Outcome::Returned { .. }) => self.env.row_count = -1,
            Err(e) => {
                if let Some(s) = savepoint {
                    txn.rollback_to(&s);
                }
                return Err(e);
            }
        }
        Ok(())
    }

    fn other(
        &mut self,
        program: &Program,
        statement: Statement,
        text: &str,
        values: &[Value],
    ) -> SqlResult<()> {
        let a = match &statement {
            Statement::Admin(a) => a,
            Statement::Ddl(_) => return self.temporary_ddl(program, statement, text, values),
            _ => return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain()),
        };
        let refused = match &**a {
            a @ (Admin::Savepoint(_) | Admin::RollbackTo(_) | Admin::ReleaseSavepoint(_)) => {
                return self.savepoint(a);
            }
            // Of procedures that it calls.
            Admin::Flush(_) => "FLUSH",
            Admin::Reset(_) => "RESET",
            Admin::Prepared(_) => "Dynamic SQL",
            Admin::Show(_)
            | Admin::Describe { .. }
            | Admin::ExplainConnection { .. }
            | Admin::Maintain(_)
            | Admin::Checksum { .. } => {
                let kind = self.unit.def.kind.word().to_lowercase();
                return Err(errors::SP_NO_RETSET.with([&kind]));
            }
            Admin::SetRole(role) => return self.set_role(role.as_deref()),
            Admin::Set(set) => {
                return set.items.iter().try_for_each(|i| self.set_item(i));
            }
            Admin::SetTransaction(t) => {
                return settings::set_transaction(&self.programs.vars, &mut self.env, t);
            }
            _ => return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain()),
        };
        Err(errors::STMT_NOT_ALLOWED_IN_SF_OR_TRG.with([&refused]))
    }

    fn begin_settings(&mut self, settings: &[Vec<SetItem>]) -> SqlResult<()> {
        // Of settings inside settings only the innermost hold; the others are checked.
        for (i, items) in settings.iter().enumerate() {
            let mut before = Before::new(&self.env);
            let done = items.iter().try_for_each(|item| {
                if let SetItem::System { name, .. } = item {
                    before.keep(&self.programs.vars, &mut self.env, name)?;
                }
                self.set_item(item)
            });
            if done.is_err() || i + 1 < settings.len() {
                before.put_back(&self.programs.vars, &mut self.env);
                done?;
            } else {
                self.settings.push(before);
            }
        }
        Ok(())
    }

    fn end_settings(&mut self) {
        if let Some(before) = self.settings.pop() {
            before.put_back(&self.programs.vars, &mut self.env);
        }
    }

    fn set_variable(&mut self, scope: Scope, name: &str, value: Option<Value>) -> SqlResult<()> {
        settings::set(
            &self.programs.vars,
            &mut self.env,
            scope,
            name,
            value.as_ref(),
        )
    }

    fn package(&mut self, program: &Program) -> SqlResult<Option<PackageValues>> {
        let (db, name) = (&program.db, &program.name);
        let (values, first) = self.programs.package_values(db, name, &self.env)?;
        if let Some(unit) = first {
            let env = self.env.within(&unit.env);
            let _inside = Inside::new(self.programs, db, &format!("{}.", unit.def.name));
            let mut host = Nested::new(self.programs, &unit, env, self.txn.as_deref_mut());
            if let Err(e) = narwal_program::run(&unit.program, &mut host, Vec::new()) {
                self.programs.forget_package(&unit.def);
                return Err(e);
            }
        }
        Ok(Some(values))
    }

    fn found_row(&mut self) {
        let found = &self.env.inner_found;
        found.set(found.get() + 1);
    }

    fn function(
        &mut self,
        function: &StoredFunction,
        arguments: Vec<Value>,
    ) -> SqlResult<(Value, Vec<Value>)> {
        self.programs
            .call_with_values(function, arguments, self.txn.as_deref_mut(), &self.env)
    }

    fn procedure(&mut self, name: &[String]) -> SqlResult<Arc<Program>> {
        let unit = find_procedure(self.programs, name, &self.env)?;
        rights::check_execute(&self.programs.store, &unit.def, None, &self.env)?;
        Ok(unit.program.clone())
    }

    fn call(&mut self, program: &Arc<Program>, arguments: Vec<Value>) -> SqlResult<Vec<Value>> {
        let (db, name) = (&program.db, &program.name);
        let unit = self
            .programs
            .unit(Stored::Procedure, db, name, &self.env)?
            .ok_or_else(|| no_procedure(db, name))?;
        let env = self.env.within(&unit.env);
        let _deeper = Deeper::new(self.programs, program, &self.env)?;
        let mut host = Nested::new(self.programs, &unit, env, self.txn.as_deref_mut());
        let arguments = unit.program.arguments(arguments);
        let _inside = Inside::new(self.programs, &unit.def.db, &unit.def.name);
        let done = narwal_program::run(&unit.program, &mut host, arguments);
        let inner = host.env;
        self.env.add_rows_of(&inner);
        let done = done?;
        Ok(done.values)
    }
}

/// SET and temporary tables.
impl Nested<'_> {
    /// One part of SET.
    fn set_item(&mut self, item: &SetItem) -> SqlResult<()> {
        let vars = self.programs.vars.clone();
        match item {
            SetItem::System { scope, name, value } => {
                let given = match value {
                    SetValue::Default => None,
                    SetValue::Word(s) | SetValue::Str(s) => Some(Value::str(s.as_str())),
                    SetValue::Expr(o) if o.value.subqueries.is_empty() => {
                        Some(narwal_sql::evaluate(&o.value.expr, &self.env)?)
                    }
                    SetValue::Expr(_) => {
                        return Err(SqlError::unsupported("subqueries in this SET"));
                    }
                };
                settings::set(&vars, &mut self.env, *scope, name, given.as_ref())
            }
            SetItem::Names { charset, collation } => {
                let charset = charset.clone().unwrap_or_else(|| vars.default_charset());
                let c = crate::set::names(&charset, collation.as_deref())?;
                settings::set_names(&vars, &mut self.env, c, c)
            }
            SetItem::Charset(name) => {
                let name = name.clone().unwrap_or_else(|| vars.default_charset());
                let results = crate::charset::charset(&name)?.default_collation();
                let literals = vars.database_collation();
                settings::set_names(&vars, &mut self.env, results, literals)
            }
            _ => Err(SqlError::unsupported("this SET in functions and triggers")),
        }
    }

    /// CREATE and DROP TEMPORARY TABLE.
    fn temporary_ddl(
        &mut self,
        program: &Program,
        statement: Statement,
        text: &str,
        values: &[Value],
    ) -> SqlResult<()> {
        let options = ParseOptions {
            sql_mode: self.env.sql_mode,
            ..ParseOptions::default()
        };
        let Stmt::Ddl(ddl) = narwal_sql::lower(statement, &options)? else {
            return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain());
        };
        if !ddl.keeps_transaction() {
            return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain());
        }
        let Some(txn) = self.txn.as_deref_mut() else {
            return Err(no_transaction());
        };
        let store = &self.programs.store;
        let needs = narwal_sql::ddl_needs(&ddl, &self.env)?;
        rights::check_nested(store, &self.unit.def, &needs, &self.env, || Ok(Vec::new()))?;
        // What a statement around reads can't go away.
        let used = |n: &&Needs| {
            self.env.temporary_table(&n.db, &n.table).is_some()
                && self.env.is_used_around(&n.db, &n.table)
        };
        if let Some(n) = needs.iter().find(used) {
            return Err(errors::CANT_REOPEN_TABLE.with([&n.table]));
        }
        self.env.param_types.replace(program.types.clone());
        self.env.param_values.replace(values.to_vec());
        let done = make_temporary(
            self.programs,
            &ddl,
            text,
            &program.types,
            txn,
            &mut self.env,
        );
        self.env.param_types.take();
        self.env.param_values.take();
        done
    }
}

/// Runs CREATE or DROP TEMPORARY TABLE in the transaction of the statement around, which lends its rows of such tables.
fn make_temporary(
    programs: &SessionPrograms,
    ddl: &DdlStmt,
    text: &str,
    types: &[ParamType],
    txn: &mut Transaction,
    env: &mut StatementEnv,
) -> SqlResult<()> {
    let store = &programs.store;
    let select = match ddl {
        DdlStmt::CreateTable(c) => c.select.clone(),
        _ => None,
    };
    let select = select
        .map(|s| store.plan_program(&Stmt::Select(s), types, env))
        .transpose()?;
    let tables = programs.own_temporary(env);
    txn.set_temporary(&tables);
    txn.lend_temporary();
    let options = TxnOptions {
        temporary: Some(tables.clone()),
        ..TxnOptions::default()
    };
    let db = store.database();
    let done = narwal_sql::execute_ddl_with(
        ddl,
        text,
        db,
        &options,
        env,
        select.as_ref(),
        Some(&mut *txn),
    );
    txn.set_temporary(&tables);
    programs.temporary_changed();
    done.map(drop)
}

/// 1235: rows are being read, so that nothing else can be done in their transaction.
fn no_transaction() -> SqlError {
    SqlError::unsupported("a stored function that runs statements in this place")
}
