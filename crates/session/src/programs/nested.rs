//! Where functions and triggers run: inside of a statement, in its transaction. They give no result sets and commit nothing.

use super::compiled::{Deeper, Inside, SessionPrograms, Unit, find_procedure, no_procedure};
use super::definition::Stored;
use super::rights;
use super::sinks::Taken;
use narwal_engine::{Savepoint, Transaction};
use narwal_program::{Host, PackageValues, Program, Rows, SqlStep};
use narwal_sql::{Outcome, Prepared, Privilege, Programs, StatementEnv, StoredFunction};
use narwal_syntax::Statement;
use narwal_syntax::ast::admin::{Admin, SetItem};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};
use std::sync::Arc;

/// The host of a function or a trigger.
pub(crate) struct Nested<'a> {
    programs: &'a SessionPrograms,
    unit: &'a Unit,
    pub(crate) env: StatementEnv,
    txn: Option<&'a mut Transaction>,
    /// Its savepoints, which end with it.
    savepoints: Vec<(String, Savepoint)>,
}

impl<'a> Nested<'a> {
    pub(crate) fn new(
        programs: &'a SessionPrograms,
        unit: &'a Unit,
        env: StatementEnv,
        txn: Option<&'a mut Transaction>,
    ) -> Self {
        Nested {
            programs,
            unit,
            env,
            txn,
            savepoints: Vec::new(),
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

    fn plan(&self, program: &Program, step: &SqlStep) -> SqlResult<Arc<Prepared>> {
        let db = self.programs.store.database();
        let mut kept = step.plan.lock();
        if let Some((plan, _)) = &*kept
            && plan.catalog_version() == db.catalog_version()
            && !plan.is_worn(db)
        {
            return Ok(plan.clone());
        }
        let store = &self.programs.store;
        let plan = store.plan_program(&step.stmt, &program.types, &self.env)?;
        let uses = || {
            *self.env.column_uses.borrow_mut() = Some(Box::default());
            let planned = store.plan_program(&step.stmt, &program.types, &self.env);
            let uses = self.env.column_uses.borrow_mut().take();
            planned.map(|_| uses.map(|u| u.list).unwrap_or_default())
        };
        rights::check_nested(store, &self.unit.def, plan.needs(), &self.env, uses)?;
        let plan = Arc::new(plan);
        *kept = Some((plan.clone(), 0));
        Ok(plan)
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
        let Some(txn) = &mut self.txn else {
            return Err(no_transaction());
        };
        self.env.clear_conditions();
        let savepoint = program.has_handlers.then(|| txn.savepoint());
        let mut refuse = |_: &[narwal_types::ValueRef<'_>]| -> SqlResult<()> {
            Err(errors::SP_NO_RETSET.with([&self.unit.def.kind.word().to_lowercase()]))
        };
        let mut sink = Taken(match rows {
            Rows::Take(f) => f,
            Rows::Client => &mut refuse,
        });
        let db = self.programs.store.database();
        let done = narwal_sql::execute(&plan, values, txn, db, &mut self.env, &mut sink);
        match done {
            Ok(Outcome::Done {
                affected,
                last_insert_id,
                ..
            }) => {
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

    fn other(&mut self, _: &Program, statement: Statement, _: &str, _: &[Value]) -> SqlResult<()> {
        let Statement::Admin(a) = &statement else {
            return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain());
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
            | Admin::Maintain(_)
            | Admin::Checksum { .. } => {
                let kind = self.unit.def.kind.word().to_lowercase();
                return Err(errors::SP_NO_RETSET.with([&kind]));
            }
            Admin::Set(_) => {
                return Err(SqlError::unsupported(
                    "SET of system variables in functions and triggers",
                ));
            }
            _ => return Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain()),
        };
        Err(errors::STMT_NOT_ALLOWED_IN_SF_OR_TRG.with([&refused]))
    }

    fn begin_settings(&mut self, _: &[Vec<SetItem>]) -> SqlResult<()> {
        Err(SqlError::unsupported(
            "SET STATEMENT in functions and triggers",
        ))
    }

    fn end_settings(&mut self) {}

    fn set_variable(&mut self, name: &str, value: Option<Value>) -> SqlResult<()> {
        let variables = self.env.variables.clone();
        variables.assign(name, value.as_ref())?;
        variables.refresh(&mut self.env);
        Ok(())
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
        rights::check_execute(&self.programs.store, &unit.def, &self.env)?;
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
        let done = narwal_program::run(&unit.program, &mut host, arguments)?;
        Ok(done.values)
    }
}

/// 1235: rows are being read, so that nothing else can be done in their transaction.
fn no_transaction() -> SqlError {
    SqlError::unsupported("a stored function that runs statements in this place")
}
