//! Functions and triggers: called inside of the statement that needs them.

use super::compiled::{Inside, SessionPrograms, Unit, definer_names, kind_bit};
use super::definition::{self, Definition, Stored};
use super::nested::Nested;
use narwal_engine::{CatalogChange, Table, Transaction};
use narwal_program::{ParameterCode, Program};
use narwal_sql::{
    FunctionParameter, GroupRows, ProgramEnv, Programs, RowEvent, StatementEnv, StatusCount,
    StoredFunction, TriggerRow,
};
use narwal_syntax::ast::program::ParameterMode;
use narwal_types::errors;
use narwal_types::{ColumnType, SqlError, SqlResult, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Warnings of a program become those of the statement around it, and so does what SIGNAL said of the error that it fails with.
fn hand_over(from: &StatementEnv, to: &StatementEnv) {
    if let Some(raised) = from.raised.take() {
        to.raised.replace(Some(raised));
    }
    to.trace.borrow_mut().extend(from.trace.take());
    to.add_rows_of(from);
    if from.warning_count() == 0 {
        return;
    }
    for c in from.conditions().iter() {
        to.push(c.clone());
    }
}

/// The first parameter that gives something back, counted from 1.
fn out_parameter(parameters: &[ParameterCode]) -> Option<usize> {
    let first = parameters
        .iter()
        .position(|p| p.mode != ParameterMode::In)?;
    Some(first + 1)
}

/// A function's parameters as expressions see them.
fn parameters(program: &Program) -> Vec<FunctionParameter> {
    let list = program.parameters.iter();
    let one = |p: &ParameterCode| FunctionParameter {
        name: p.name.clone(),
        ty: program.slots.get(program.of_package + p.at).map(|s| s.ty),
        fields: p.fields,
        takes: p.mode != ParameterMode::Out,
        gives: p.mode != ParameterMode::In,
    };
    list.map(one).collect()
}

impl SessionPrograms {
    /// A function of the package that runs, or of one that stands in front of the name.
    fn function_of_package(
        &self,
        db: Option<&str>,
        name: &str,
        env: &StatementEnv,
    ) -> SqlResult<Option<Arc<StoredFunction>>> {
        let (db, full) = match db {
            None => match self.inside() {
                Some((db, package)) => (db, format!("{package}.{name}")),
                None => return Ok(None),
            },
            Some(db) if name.contains('.') => (db.to_string(), name.to_string()),
            Some(package) => match &env.db {
                Some(own) => (own.to_string(), format!("{package}.{name}")),
                None => return Ok(None),
            },
        };
        if !self.any() {
            return Ok(None);
        }
        let Some(unit) = self.unit(Stored::Function, &db, &full, env)? else {
            return Ok(None);
        };
        self.described(&unit, env).map(Some)
    }

    /// A function as expressions see it.
    ///
    /// # Errors
    /// 1370 if who calls it there may not.
    fn described(&self, unit: &Unit, env: &StatementEnv) -> SqlResult<Arc<StoredFunction>> {
        let caller = env.reads_as();
        super::rights::check_execute(&self.store, &unit.def, caller.as_ref(), env)?;
        Ok(Arc::new(StoredFunction {
            db: unit.def.db.clone(),
            name: unit.def.name.clone(),
            parameters: parameters(&unit.program),
            out: out_parameter(&unit.program.parameters),
            returns: unit.program.returns.unwrap_or_else(ColumnType::bigint),
            // The first use of a package may run statements.
            statements: unit.program.has_statements || unit.program.is_of_package(),
            aggregate: unit.program.aggregate,
            deterministic: unit.def.deterministic,
            version: self.version.load(Ordering::Relaxed),
            caller,
        }))
    }
}

impl Programs for SessionPrograms {
    fn function(
        &self,
        db: Option<&str>,
        name: &str,
        env: &StatementEnv,
    ) -> SqlResult<Option<Arc<StoredFunction>>> {
        if let Some(f) = self.function_of_package(db, name, env)? {
            return Ok(Some(f));
        }
        let Some(db) = db.or(env.db.as_deref()) else {
            return Ok(None);
        };
        self.refresh();
        let key = definition::key(Stored::Function, db, name);
        // Those kept are the session's own: others may be called as who made a view.
        let own = env.reads_as().is_none();
        if own && let Some(f) = self.state.lock().functions.get(&key) {
            return Ok(Some(f.clone()));
        }
        let Some(unit) = self.unit(Stored::Function, db, name, env)? else {
            return Ok(None);
        };
        let f = self.described(&unit, env)?;
        if own {
            self.state.lock().functions.insert(key, f.clone());
        }
        Ok(Some(f))
    }

    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<Value> {
        self.call_with_values(function, args, txn, env).map(|r| r.0)
    }

    fn call_with_values(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<(Value, Vec<Value>)> {
        if function.aggregate && args.first().is_none_or(Value::is_null) {
            // A group without rows: the function does not begin.
            return Ok((Value::Null, Vec::new()));
        }
        let unit = self.enter(function, env)?;
        if unit.program.has_statements && txn.is_none() {
            self.returned(&unit);
            return Err(SqlError::unsupported(
                "a stored function that runs statements in this place",
            ));
        }
        let inner = match &function.caller {
            Some(caller) if unit.env.account.is_none() => env.within(&ProgramEnv {
                account: Some(definer_names(caller)),
                ..unit.env.clone()
            }),
            _ => env.within(&unit.env),
        };
        let mut host = Nested::new(self, &unit, inner, txn);
        let _inside = Inside::new(self, &unit.def.db, &unit.def.name);
        let program = &*unit.program;
        let r = match program.aggregate {
            true => {
                let rows = args.into_iter().next().unwrap_or_default();
                let width = program.parameters.iter().map(ParameterCode::width).sum();
                narwal_program::run_aggregate(program, &mut host, GroupRows::new(rows, width))
            }
            false => narwal_program::run(program, &mut host, program.arguments(args)),
        };
        self.returned(&unit);
        hand_over(&host.env, env);
        let done = r?;
        Ok((done.result.unwrap_or_default(), done.values))
    }

    fn any(&self) -> bool {
        self.refresh();
        self.any.load(Ordering::Relaxed)
    }

    fn follow(&self, change: &CatalogChange) -> Vec<CatalogChange> {
        if !self.any() {
            return Vec::new();
        }
        let catalog = self.store.database().catalog();
        match change {
            CatalogChange::DropTable { db, name } => {
                let gone = definition::triggers_of(&catalog, db, name);
                gone.iter().map(Definition::delete).collect()
            }
            CatalogChange::DropDatabase(db) => {
                let kinds = [
                    Stored::Procedure,
                    Stored::Function,
                    Stored::Trigger,
                    Stored::Event,
                    Stored::Package,
                    Stored::PackageBody,
                ];
                let all = kinds.iter().flat_map(|k| definition::all(&catalog, *k));
                let gone = all.filter(|d| d.db == *db);
                gone.map(|d| d.delete()).collect()
            }
            CatalogChange::AlterTable { db, name, def, .. }
            | CatalogChange::RebuildTable { db, name, def, .. }
                if (db, name) != (&def.db, &def.name) =>
            {
                let mut changes = Vec::new();
                for mut d in definition::triggers_of(&catalog, db, name) {
                    changes.push(d.delete());
                    d.rename_table(&def.db, &def.name);
                    changes.extend(d.put());
                }
                changes
            }
            _ => Vec::new(),
        }
    }

    fn may_move(&self, db: &str, table: &str) -> SqlResult<()> {
        let catalog = self.store.database().catalog();
        match definition::triggers_of(&catalog, db, table).is_empty() {
            true => Ok(()),
            false => Err(errors::TRG_IN_WRONG_SCHEMA.plain()),
        }
    }

    fn any_triggers(&self) -> bool {
        self.refresh();
        self.any_triggers.load(Ordering::Relaxed)
    }

    fn has_triggers(&self, table: &Table, before: bool, event: RowEvent) -> bool {
        // A temporary table may hide one that has triggers.
        !table.temporary && self.trigger_kinds(table) & kind_bit(before, event) != 0
    }

    fn fire(
        &self,
        row: &TriggerRow<'_>,
        txn: &mut Transaction,
        env: &StatementEnv,
    ) -> SqlResult<Vec<(usize, Value)>> {
        let list = self.triggers(row.table, env)?;
        list.check(&self.store, (row.before, row.event), row.table, env)?;
        let mut set: Vec<(usize, Value)> = Vec::new();
        let wanted = (list.list)
            .iter()
            .filter(|(b, e, _)| *b == row.before && *e == row.event);
        for (_, _, unit) in wanted {
            env.status_counts.add(StatusCount::ExecutedTriggers, 1);
            let mut args = Vec::with_capacity(unit.program.row.len());
            for r in &unit.program.row {
                let changed = set.iter().find(|(c, _)| r.new && *c == r.column);
                let v = match changed {
                    Some((_, v)) => v.clone(),
                    None => narwal_sql::trigger_value(row, r.new, r.column, env)?,
                };
                args.push((r.slot, v));
            }
            let _inside = Inside::new(self, &unit.def.db, "");
            let mut host = Nested::new(self, unit, env.within(&unit.env), Some(&mut *txn));
            let r = narwal_program::run(&unit.program, &mut host, args);
            // As in MariaDB, what a trigger changes is not counted as changed by a CALL around it, but what it finds is.
            host.env.inner_changed.set(0);
            // What a trigger warns of stays its own, unless it fails.
            if r.is_ok() {
                host.env.clear_conditions();
            }
            hand_over(&host.env, env);
            let done = r?;
            for r in unit.program.row.iter().filter(|r| r.written) {
                let v = done.values[r.slot].clone();
                match set.iter_mut().find(|(c, _)| *c == r.column) {
                    Some(x) => x.1 = v,
                    None => set.push((r.column, v)),
                }
            }
        }
        Ok(set)
    }
}
