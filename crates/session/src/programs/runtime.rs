//! The stored programs of a session: found in the catalog, compiled once, kept until the catalog changes. Functions and
//! triggers run by it inside of the statement that needs them.

use super::definition::{self, Definition, Stored};
use super::nested::Nested;
use crate::instance::Instance;
use crate::session_vars::SessionVars;
use ahash::AHashMap;
use narwal_engine::{CatalogChange, Table, Transaction};
use narwal_program::{Head, Kind, Lookup, Program, TriggerHead, compile};
use narwal_sql::ast::TableName;
use narwal_sql::{
    ParamType, ParseOptions, Prepared, Programs, RowEvent, StatementEnv, Stmt, StoredFunction,
    TriggerRow,
};
use narwal_syntax::Statement;
use narwal_syntax::ast::program as ast;
use narwal_types::errors;
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, TypeKind, Value};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A compiled program with its definition.
pub(crate) struct Unit {
    pub(crate) def: Definition,
    pub(crate) program: Arc<Program>,
}

/// Triggers of a table by when they run.
type Triggers = Vec<(bool, RowEvent, Arc<Unit>)>;

#[derive(Default)]
struct State {
    units: AHashMap<String, Arc<Unit>>,
    functions: AHashMap<String, Arc<StoredFunction>>,
    triggers: AHashMap<u64, Arc<Triggers>>,
    /// What is being compiled, and what functions and triggers run: none of them begins again.
    busy: Vec<String>,
}

/// A session's stored programs.
pub(crate) struct SessionPrograms {
    pub(crate) instance: Arc<Instance>,
    pub(crate) vars: Arc<SessionVars>,
    version: AtomicU64,
    any: AtomicBool,
    any_triggers: AtomicBool,
    state: Mutex<State>,
}

/// Columns as programs see them: a TIMESTAMP in the session's time zone.
fn variable_type(ty: ColumnType) -> ColumnType {
    match ty.kind {
        TypeKind::Timestamp(n) => ColumnType::new(TypeKind::DateTime(n)),
        _ => ty,
    }
}

/// Tables and queries as they are now.
pub(crate) struct Now<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) env: &'a StatementEnv,
    /// What can't be found is not known: a program may be made before its tables.
    pub(crate) lenient: bool,
}

impl Now<'_> {
    fn found<T>(&self, r: SqlResult<T>) -> SqlResult<Option<T>> {
        match r {
            Ok(t) => Ok(Some(t)),
            Err(_) if self.lenient => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn columns(&self, name: &TableName) -> SqlResult<Vec<(String, ColumnType)>> {
        let catalog = self.instance.database().catalog();
        let db = match &name.db {
            Some(d) => d.as_str(),
            None => self.env.require_db()?,
        };
        let table = match self.env.temporary_table(db, &name.name) {
            Some(t) => t,
            None => catalog
                .table(db, &name.name)
                .cloned()
                .ok_or_else(|| errors::NO_SUCH_TABLE.with([&db, &name.name]))?,
        };
        let columns = table.def.columns.iter();
        Ok(columns
            .map(|c| (c.name.clone(), variable_type(c.ty)))
            .collect())
    }
}

impl Lookup for Now<'_> {
    fn table(&self, name: &TableName) -> SqlResult<Option<Vec<(String, ColumnType)>>> {
        let r = self.columns(name);
        self.found(r)
    }

    fn query(
        &self,
        stmt: &Stmt,
        types: &[ParamType],
    ) -> SqlResult<Option<Vec<(String, ColumnType)>>> {
        let plan = self.instance.plan_program(stmt, types, self.env);
        let columns = |p: Prepared| {
            let columns = p.columns().iter();
            columns
                .map(|c| (c.name.clone(), variable_type(c.ty)))
                .collect()
        };
        self.found(plan.map(columns))
    }
}

impl Instance {
    /// Plans a program's statement.
    pub(crate) fn plan_program(
        &self,
        stmt: &Stmt,
        types: &[ParamType],
        env: &StatementEnv,
    ) -> SqlResult<Prepared> {
        let stmt = narwal_program::with_params(stmt, types.len());
        let db = self.database();
        *env.param_types.borrow_mut() = types.to_vec();
        let definitions = crate::information_schema::Definitions;
        let plan = Prepared::new(&stmt, "", db, &db.catalog(), env, Some(&definitions));
        env.param_types.borrow_mut().clear();
        plan
    }
}

/// Parses and compiles a definition in the environment that it runs in.
pub(crate) fn compile_definition(
    def: &Definition,
    env: &StatementEnv,
    lookup: &dyn Lookup,
    columns: Option<Vec<(String, ColumnType)>>,
) -> SqlResult<Program> {
    let text = def.create("CREATE");
    let options = ParseOptions {
        sql_mode: def.mode(),
    };
    let parsed = narwal_syntax::parse_statement(&text, &options)?;
    let Statement::Program(parsed) = parsed else {
        return Err(SqlError::unknown("a stored program's definition"));
    };
    let mut head = Head {
        kind: match def.kind {
            Stored::Procedure => Kind::Procedure,
            Stored::Function => Kind::Function,
            Stored::Trigger => Kind::Trigger,
        },
        db: &def.db,
        name: &def.name,
        parameters: &[],
        returns: None,
        trigger: None,
    };
    match *parsed {
        ast::Program::Routine(r) => {
            head.parameters = &r.parameters;
            head.returns = r.returns.as_ref();
            compile(&head, r.body, &text, env, lookup)
        }
        ast::Program::Trigger(t) => {
            head.trigger = Some(TriggerHead {
                columns: columns.unwrap_or_default(),
                before: t.before,
                event: t.event,
            });
            compile(&head, t.body, &text, env, lookup)
        }
        _ => Err(SqlError::unknown("a stored program's definition")),
    }
}

/// A routine's parameters: how each is passed, its name and its type.
pub(crate) fn parameters_of(def: &Definition) -> SqlResult<Vec<(&'static str, String, String)>> {
    let text = def.create("CREATE");
    let options = ParseOptions {
        sql_mode: def.mode(),
    };
    let Statement::Program(parsed) = narwal_syntax::parse_statement(&text, &options)? else {
        return Ok(Vec::new());
    };
    let ast::Program::Routine(r) = *parsed else {
        return Ok(Vec::new());
    };
    let mut list = Vec::new();
    for p in r.parameters {
        let mode = match p.mode {
            _ if def.kind == Stored::Function => "IN",
            ast::ParameterMode::In => "IN",
            ast::ParameterMode::Out => "OUT",
            ast::ParameterMode::InOut => "INOUT",
        };
        let ty = match &p.ty {
            ast::VariableType::Data(ty, c) => {
                let default = Collation::from_name(&def.charset.2).unwrap_or_default();
                narwal_sql::lower::variable_type(ty, c.as_deref(), default, def.mode())?.sql_name()
            }
            _ => String::new(),
        };
        list.push((mode, p.name, ty));
    }
    Ok(list)
}

/// The environment of a program, made of that of the statement that needs it.
pub(crate) fn environment(outer: &StatementEnv, def: &Definition) -> StatementEnv {
    let mut env = outer.within();
    env.db = Some(def.db.as_str().into());
    env.sql_mode = def.mode();
    if let Some(c) = Collation::from_name(&def.charset.1) {
        env.collation = c;
    }
    if !def.invoker {
        env.current_user = format!("{}@{}", def.definer.0, def.definer.1).into();
    }
    env
}

impl SessionPrograms {
    pub(crate) fn new(instance: Arc<Instance>, vars: Arc<SessionVars>) -> Self {
        SessionPrograms {
            instance,
            vars,
            version: AtomicU64::new(u64::MAX),
            any: AtomicBool::new(false),
            any_triggers: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Forgets what was compiled for another catalog.
    fn refresh(&self) {
        let version = self.instance.database().catalog_version();
        if self.version.load(Ordering::Relaxed) == version {
            return;
        }
        let catalog = self.instance.database().catalog();
        let mut state = self.state.lock();
        state.units.clear();
        state.functions.clear();
        state.triggers.clear();
        let any = definition::any(&catalog, Stored::Trigger);
        self.any_triggers.store(any, Ordering::Relaxed);
        let routines = [Stored::Procedure, Stored::Function];
        let any = any || routines.iter().any(|k| definition::any(&catalog, *k));
        self.any.store(any, Ordering::Relaxed);
        self.version.store(catalog.version, Ordering::Relaxed);
    }

    /// A program, compiled.
    pub(crate) fn unit(
        &self,
        kind: Stored,
        db: &str,
        name: &str,
        outer: &StatementEnv,
    ) -> SqlResult<Option<Arc<Unit>>> {
        self.refresh();
        let key = definition::key(kind, db, name);
        if let Some(u) = self.state.lock().units.get(&key) {
            return Ok(Some(u.clone()));
        }
        let catalog = self.instance.database().catalog();
        let Some(def) = definition::find(&catalog, kind, db, name)? else {
            return Ok(None);
        };
        let unit = self.compiled(def, &key, outer)?;
        self.state.lock().units.insert(key, unit.clone());
        Ok(Some(unit))
    }

    fn compiled(&self, def: Definition, key: &str, outer: &StatementEnv) -> SqlResult<Arc<Unit>> {
        let mark = format!("compile {key}");
        self.begin(&mark)?;
        let env = environment(outer, &def);
        let now = Now {
            instance: &self.instance,
            env: &env,
            lenient: false,
        };
        let columns = match &def.trigger {
            Some(t) => now.table(&TableName {
                db: Some(def.db.clone()),
                name: t.table.clone(),
            }),
            None => Ok(None),
        };
        let program = columns.and_then(|c| compile_definition(&def, &env, &now, c));
        self.end(&mark);
        Ok(Arc::new(Unit {
            program: Arc::new(program?),
            def,
        }))
    }

    /// Error 1424 if it is at it already.
    fn begin(&self, mark: &str) -> SqlResult<()> {
        let mut state = self.state.lock();
        if state.busy.iter().any(|b| b == mark) {
            return Err(errors::SP_NO_RECURSION.plain());
        }
        state.busy.push(mark.to_string());
        Ok(())
    }

    fn end(&self, mark: &str) {
        let mut state = self.state.lock();
        if let Some(at) = state.busy.iter().rposition(|b| b == mark) {
            state.busy.swap_remove(at);
        }
    }

    fn triggers(&self, table: &Table, outer: &StatementEnv) -> SqlResult<Arc<Triggers>> {
        self.refresh();
        if let Some(t) = self.state.lock().triggers.get(&table.def.id) {
            return Ok(t.clone());
        }
        let catalog = self.instance.database().catalog();
        let mut list = Triggers::new();
        for def in definition::triggers_of(&catalog, &table.def.db, &table.def.name) {
            let Some(part) = def.trigger.clone() else {
                continue;
            };
            let key = definition::key(Stored::Trigger, &def.db, &def.name);
            let unit = self.compiled(def, &key, outer)?;
            list.push((part.before, part.event(), unit));
        }
        let list = Arc::new(list);
        self.state
            .lock()
            .triggers
            .insert(table.def.id, list.clone());
        Ok(list)
    }
}

/// Warnings of a program become those of the statement around it.
fn hand_over(from: &StatementEnv, to: &StatementEnv) {
    if from.warning_count() == 0 {
        return;
    }
    for c in from.conditions().iter() {
        to.push_condition(c.level, c.code, c.message.clone());
    }
}

impl Programs for SessionPrograms {
    fn function(
        &self,
        db: Option<&str>,
        name: &str,
        env: &StatementEnv,
    ) -> SqlResult<Option<Arc<StoredFunction>>> {
        let Some(db) = db.or(env.db.as_deref()) else {
            return Ok(None);
        };
        self.refresh();
        let key = definition::key(Stored::Function, db, name);
        if let Some(f) = self.state.lock().functions.get(&key) {
            return Ok(Some(f.clone()));
        }
        let Some(unit) = self.unit(Stored::Function, db, name, env)? else {
            return Ok(None);
        };
        super::rights::check_execute(&self.instance, &unit.def, env)?;
        let f = Arc::new(StoredFunction {
            db: unit.def.db.clone(),
            name: unit.def.name.clone(),
            parameters: unit.program.parameters.len(),
            returns: unit.program.returns.unwrap_or_else(ColumnType::bigint),
            statements: unit.program.has_statements,
            version: self.version.load(Ordering::Relaxed),
        });
        self.state.lock().functions.insert(key, f.clone());
        Ok(Some(f))
    }

    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<Value> {
        let (db, name) = (&function.db, &function.name);
        let unit = self.unit(Stored::Function, db, name, env)?.ok_or_else(|| {
            let full = format!("{db}.{name}");
            errors::SP_DOES_NOT_EXIST.with([&"FUNCTION", &full])
        })?;
        if unit.program.has_statements && txn.is_none() {
            return Err(SqlError::unsupported(
                "a stored function that runs statements in this place",
            ));
        }
        let mark = format!("{db}.{name}");
        self.begin(&mark)?;
        let mut host = Nested::new(self, &unit, environment(env, &unit.def), txn);
        let args = args.into_iter().enumerate().collect();
        let r = narwal_program::run(&unit.program, &mut host, args);
        self.end(&mark);
        hand_over(&host.env, env);
        Ok(r?.result.unwrap_or_default())
    }

    fn any(&self) -> bool {
        self.refresh();
        self.any.load(Ordering::Relaxed)
    }

    fn follow(&self, change: &CatalogChange) -> SqlResult<Vec<CatalogChange>> {
        if !self.any() {
            return Ok(Vec::new());
        }
        let catalog = self.instance.database().catalog();
        match change {
            CatalogChange::DropTable { db, name } => {
                let gone = definition::triggers_of(&catalog, db, name);
                Ok(gone.iter().map(Definition::delete).collect())
            }
            CatalogChange::DropDatabase(db) => {
                let kinds = [Stored::Procedure, Stored::Function, Stored::Trigger];
                let all = kinds.iter().flat_map(|k| definition::all(&catalog, *k));
                let gone = all.filter(|d| d.db == *db);
                Ok(gone.map(|d| d.delete()).collect())
            }
            CatalogChange::AlterTable { db, name, def, .. }
            | CatalogChange::RebuildTable { db, name, def, .. }
                if (db, name) != (&def.db, &def.name) =>
            {
                let mut moved = definition::triggers_of(&catalog, db, name);
                if !moved.is_empty() && *db != def.db {
                    return Err(errors::TRG_IN_WRONG_SCHEMA.plain());
                }
                for t in moved.iter_mut().filter_map(|d| d.trigger.as_mut()) {
                    t.table.clone_from(&def.name);
                }
                moved.iter().map(Definition::put).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    fn any_triggers(&self) -> bool {
        self.refresh();
        self.any_triggers.load(Ordering::Relaxed)
    }

    fn has_triggers(&self, table: &Table, before: bool, event: RowEvent) -> bool {
        if let Some(t) = self.state.lock().triggers.get(&table.def.id) {
            return t.iter().any(|(b, e, _)| *b == before && *e == event);
        }
        let catalog = self.instance.database().catalog();
        definition::triggers_of(&catalog, &table.def.db, &table.def.name)
            .iter()
            .filter_map(|d| d.trigger.as_ref())
            .any(|t| t.before == before && t.event() == event)
    }

    fn fire(
        &self,
        row: &TriggerRow<'_>,
        txn: &mut Transaction,
        env: &StatementEnv,
    ) -> SqlResult<Vec<(usize, Value)>> {
        let list = self.triggers(row.table, env)?;
        let mut set: Vec<(usize, Value)> = Vec::new();
        let wanted = list
            .iter()
            .filter(|(b, e, _)| *b == row.before && *e == row.event);
        for (_, _, unit) in wanted {
            let mut args = Vec::with_capacity(unit.program.row.len());
            for r in &unit.program.row {
                let changed = set.iter().find(|(c, _)| r.new && *c == r.column);
                let v = match changed {
                    Some((_, v)) => v.clone(),
                    None => row.value(r.new, r.column, env)?,
                };
                args.push((r.slot, v));
            }
            let mut host = Nested::new(self, unit, environment(env, &unit.def), Some(&mut *txn));
            let r = narwal_program::run(&unit.program, &mut host, args);
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
