//! The stored programs of a session: found in the catalog, compiled once, kept until the catalog changes.

use super::definition::{self, Definition, Stored};
use super::of_sys;
use super::rights;
use super::store::Store;
use crate::session_vars::SessionVars;
use ahash::AHashMap;
use narwal_engine::{Table, TemporaryTables};
use narwal_program::{
    Columns, Head, Kind, Lookup, PackageValues, Program, TriggerHead, Typed, compile, within_stack,
};
use narwal_sql::ast::TableName;
use narwal_sql::{
    ParamType, ParseOptions, ProgramEnv, RowEvent, SqlMode, StatementEnv, Stmt, StoredFunction,
    VariableScope, WarningLevel,
};
use narwal_syntax::Statement;
use narwal_syntax::ast::program as ast;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, ResultColumn, SqlError, SqlResult, Value};
use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// A compiled program with its definition.
pub(crate) struct Unit {
    pub(crate) def: Definition,
    /// What its statements have from the definition.
    pub(crate) env: ProgramEnv,
    pub(crate) program: Arc<Program>,
    /// Its name among those that run.
    mark: Arc<str>,
    /// It has types of tables' columns (ROW TYPE OF): of the temporary tables that were there.
    of_tables: bool,
}

/// A package's variables in a session: the time of the definition that they are of, and their values.
pub(super) type Kept = (i64, PackageValues);

/// While it lives, names of routines mean those of this package first.
pub(super) struct Inside<'a> {
    programs: &'a SessionPrograms,
}

impl<'a> Inside<'a> {
    /// `name`: of the program that runs.
    pub(super) fn new(programs: &'a SessionPrograms, db: &str, name: &str) -> Self {
        let package = name
            .split_once('.')
            .map(|(package, _)| (db.to_string(), package.to_string()));
        programs.state.lock().inside.push(package);
        Inside { programs }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.programs.state.lock().inside.pop();
    }
}

/// Triggers of a table by when they run.
pub(super) struct Triggers {
    pub(super) list: Vec<(bool, RowEvent, Arc<Unit>)>,
    /// The kinds whose definers' rights have been looked at, a bit of [`kind_bit`] each.
    checked: AtomicU8,
}

impl Triggers {
    /// Looks at the rights of the definers of one kind, at its first use.
    pub(super) fn check(
        &self,
        store: &Store,
        (before, event): (bool, RowEvent),
        table: &Table,
        outer: &StatementEnv,
    ) -> SqlResult<()> {
        let bit = kind_bit(before, event);
        if self.checked.load(Ordering::Relaxed) & bit != 0 {
            return Ok(());
        }
        for (b, e, unit) in &self.list {
            if (*b, *e) == (before, event) {
                rights::check_trigger(store, &unit.def, &unit.program.row, table, outer)?;
            }
        }
        self.checked.fetch_or(bit, Ordering::Relaxed);
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct State {
    units: AHashMap<String, Arc<Unit>>,
    pub(super) functions: AHashMap<String, Arc<StoredFunction>>,
    pub(super) triggers: AHashMap<u64, Arc<Triggers>>,
    /// Which kinds of triggers the tables have that were asked for: a bit of [`kind_bit`] each.
    kinds: AHashMap<u64, u8>,
    /// Functions that were called, the last one in front.
    called: Vec<Arc<Unit>>,
    /// What is being compiled, and what functions run: none of them begins again.
    busy: Vec<Arc<str>>,
    /// Procedures that run, the innermost last.
    calls: Vec<String>,
    /// The package of each program that runs or is compiled, the innermost last.
    pub(super) inside: Vec<Option<(String, String)>>,
    /// Variables of packages.
    pub(super) packages: AHashMap<String, Kept>,
}

/// So many functions are found without a look at the hash table.
const CALLED: usize = 8;

/// A kind of triggers as a bit.
pub(super) fn kind_bit(before: bool, event: RowEvent) -> u8 {
    1 << (event as u8 * 2 + u8::from(before))
}

impl Unit {
    pub(super) fn new(def: Definition, env: ProgramEnv, program: Program) -> Unit {
        Unit {
            program: Arc::new(program),
            env,
            mark: def.key().into(),
            of_tables: false,
            def,
        }
    }
}

impl State {
    fn begin(&mut self, mark: &Arc<str>) -> SqlResult<()> {
        if self.busy.iter().any(|b| b == mark) {
            return Err(errors::SP_NO_RECURSION.plain());
        }
        self.busy.push(mark.clone());
        Ok(())
    }

    fn end(&mut self, mark: &str) {
        if let Some(at) = self.busy.iter().rposition(|b| **b == *mark) {
            self.busy.swap_remove(at);
        }
    }
}

/// A session's stored programs.
pub(crate) struct SessionPrograms {
    pub(crate) store: Store,
    /// The session's variables.
    pub(super) vars: Arc<SessionVars>,
    /// Temporary tables that a function or a trigger has made, the session's first ones.
    temporary: Mutex<Option<Arc<TemporaryTables>>>,
    pub(super) version: AtomicU64,
    pub(super) any: AtomicBool,
    pub(super) any_triggers: AtomicBool,
    pub(super) state: Mutex<State>,
}

/// Tables and queries as they are now.
pub(crate) struct Now<'a> {
    store: &'a Store,
    env: &'a StatementEnv,
    /// A program is being defined, maybe before its tables: what they are is not known.
    lenient: bool,
    /// It was asked what tables or queries have.
    asked: Cell<bool>,
}

impl<'a> Now<'a> {
    pub(crate) fn new(store: &'a Store, env: &'a StatementEnv, lenient: bool) -> Self {
        Now {
            store,
            env,
            lenient,
            asked: Cell::new(false),
        }
    }

    /// Database and name of a view.
    fn view(&self, name: &TableName) -> Option<(String, String)> {
        let db = name.db.as_deref().or(self.env.db.as_deref())?;
        let catalog = self.store.database().catalog();
        let hidden = self.env.temporary_table(db, &name.name).is_some();
        let is_view = !hidden && catalog.view(db, &name.name).is_some();
        is_view.then(|| (db.to_string(), name.name.clone()))
    }

    fn found(&self, name: &TableName) -> SqlResult<Arc<Table>> {
        let catalog = self.store.database().catalog();
        let db = match &name.db {
            Some(d) => d.as_str(),
            None => self.env.require_db()?,
        };
        match self.env.temporary_table(db, &name.name) {
            Some(t) => Ok(t),
            None => catalog
                .table(db, &name.name)
                .cloned()
                .ok_or_else(|| errors::NO_SUCH_TABLE.with([&db, &name.name])),
        }
    }

    /// The columns of a view.
    fn view_columns(&self, db: &str, name: &str) -> SqlResult<Columns> {
        let quoted = narwal_sql::show::quote_ident;
        let text = format!("SELECT * FROM {}.{}", quoted(db), quoted(name));
        let stmt = narwal_sql::parse_statement(&text, &ParseOptions::default())?;
        Ok(self.query(&stmt, &[])?.unwrap_or_default())
    }

    /// The columns of a table or a view.
    pub(crate) fn columns(&self, name: &TableName) -> SqlResult<Columns> {
        self.asked.set(true);
        if let Some((db, name)) = self.view(name) {
            return self.view_columns(&db, &name);
        }
        let table = self.found(name)?;
        let columns = table.def.columns.iter();
        Ok(columns
            .map(|c| {
                let ty = Typed::with_width(c.ty, c.display_width);
                (c.name.clone(), ty)
            })
            .collect())
    }
}

impl Lookup for Now<'_> {
    fn is_definition(&self) -> bool {
        self.lenient
    }

    fn table(&self, name: &TableName) -> SqlResult<Option<Columns>> {
        match self.lenient {
            true => Ok(None),
            false => self.columns(name).map(Some),
        }
    }

    fn may_read(&self, table: &TableName, column: Option<&str>) -> SqlResult<()> {
        match self.lenient {
            true => Ok(()),
            false if self.view(table).is_some() => Ok(()),
            false => rights::check_type_of(self.store, &*self.found(table)?, column, self.env),
        }
    }

    fn query(&self, stmt: &Stmt, types: &[ParamType]) -> SqlResult<Option<Columns>> {
        if self.lenient {
            return Ok(None);
        }
        self.asked.set(true);
        let plan = self.store.plan_program(stmt, types, self.env)?;
        let columns = plan.columns().iter();
        let column = |c: &ResultColumn| (c.name.clone(), Typed::from(c.ty));
        Ok(Some(columns.map(column).collect()))
    }
}

/// Parses and compiles a definition in the environment that it runs in.
pub(crate) fn compile_definition(
    def: &Definition,
    env: &StatementEnv,
    lookup: &dyn Lookup,
    columns: Option<Columns>,
) -> SqlResult<Program> {
    let text = match def.kind {
        // Its times don't matter to its body, which is a procedure's.
        Stored::Event => {
            let name = narwal_sql::show::quote_ident(&def.name);
            match def.mode().has(SqlMode::ORACLE) {
                true => format!("CREATE PROCEDURE {name} AS BEGIN\n{};\nEND", def.body),
                false => format!("CREATE PROCEDURE {name}()\n{}", def.body),
            }
        }
        _ => def.create("CREATE"),
    };
    let options = ParseOptions {
        sql_mode: def.mode(),
        ..ParseOptions::default()
    };
    let parsed = narwal_syntax::parse_statement(&text, &options)?;
    let Statement::Program(parsed) = parsed else {
        return Err(SqlError::unknown("a stored program's definition"));
    };
    let mut head = Head {
        kind: match def.kind {
            Stored::Procedure | Stored::Event | Stored::Package | Stored::PackageBody => {
                Kind::Procedure
            }
            Stored::Function => Kind::Function,
            Stored::Trigger => Kind::Trigger,
        },
        db: &def.db,
        name: &def.name,
        parameters: &[],
        returns: None,
        trigger: None,
        package: &[],
        aggregate: def.aggregate,
        line: 1,
        collation: Collation::from_name(&def.charset.2),
    };
    match *parsed {
        ast::Program::Routine(r) => {
            head.parameters = &r.parameters;
            head.returns = r.returns.as_ref();
            let before = text.get(..r.body_at.start).unwrap_or_default();
            head.line = 1 + before.bytes().filter(|b| *b == b'\n').count();
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

/// Names with points between them.
fn quoted(names: &[Option<&str>]) -> String {
    let names = names.iter().flatten();
    let list: Vec<String> = names.map(|n| narwal_sql::show::quote_ident(n)).collect();
    list.join(".")
}

/// A type as lists show it: its text, and what it is if the text says that.
pub(crate) type ShownType = (String, Option<ColumnType>);

/// A parameter as lists show it: how it is passed, its name and its type.
pub(crate) type ShownParameter = (&'static str, String, ShownType);

/// A routine's result, if it is a function's, and its parameters: how each is passed, its name and its type.
pub(crate) fn parameters_of(
    def: &Definition,
) -> SqlResult<(Option<ShownType>, Vec<ShownParameter>)> {
    let text = def.create("CREATE");
    let options = ParseOptions {
        sql_mode: def.mode(),
        ..ParseOptions::default()
    };
    let Statement::Program(parsed) = narwal_syntax::parse_statement(&text, &options)? else {
        return Ok((None, Vec::new()));
    };
    let ast::Program::Routine(r) = *parsed else {
        return Ok((None, Vec::new()));
    };
    let returns = r.returns.as_ref().map(|t| shown_type(def, t)).transpose()?;
    let mut list = Vec::new();
    for p in r.parameters {
        let mode = match p.mode {
            _ if def.kind == Stored::Function => "IN",
            ast::ParameterMode::In => "IN",
            ast::ParameterMode::Out => "OUT",
            ast::ParameterMode::InOut => "INOUT",
        };
        let ty = shown_type(def, &p.ty)?;
        list.push((mode, p.name, ty));
    }
    Ok((returns, list))
}

/// A type as it is written in the language of its program.
pub(super) fn shown_type(def: &Definition, ty: &ast::VariableType) -> SqlResult<ShownType> {
    let oracle = def.mode().has(SqlMode::ORACLE);
    let of = |names: &[Option<&str>], word: &str, percent: &str| match oracle {
        true => format!("{}%{percent}", quoted(names).replace('`', "\"")),
        false => format!("{word} {}", quoted(names)),
    };
    Ok(match ty {
        ast::VariableType::Data(ty, c) => {
            let default = Collation::from_name(&def.charset.2).unwrap_or_default();
            let (ty, width) =
                narwal_sql::lower::variable_type(ty, c.as_deref(), default, def.mode())?;
            (ty.name_with_width(width), Some(ty))
        }
        ast::VariableType::Row(_) => ("ROW".into(), None),
        ast::VariableType::RowTypeOf(t) => {
            let names = [t.db.as_deref(), Some(t.name.as_str())];
            (of(&names, "ROW TYPE OF", "ROWTYPE"), None)
        }
        ast::VariableType::TypeOf(names) => {
            let names: Vec<_> = names.iter().map(|n| Some(n.as_str())).collect();
            (of(&names, "TYPE OF", "TYPE"), None)
        }
    })
}

/// What CURRENT_USER() and CURRENT_ROLE() say inside of a program of this definer's.
pub(crate) fn definer_names((user, host): &(String, String)) -> (Arc<str>, Option<Arc<str>>) {
    match host.is_empty() {
        true => ("@".into(), Some(user.as_str().into())),
        false => (format!("{user}@{host}").into(), None),
    }
}

/// What a program's statements have from its definition.
pub(crate) fn env_of(def: &Definition) -> ProgramEnv {
    ProgramEnv {
        db: def.db.as_str().into(),
        sql_mode: def.mode(),
        collation: Collation::from_name(&def.charset.1),
        account: (!def.invoker).then(|| definer_names(&def.definer)),
    }
}

/// Error 1457 for a routine whose definition is no program of the language: somebody has written it into `mysql.proc`.
/// The reason stands before it among the conditions.
fn load_error(def: &Definition, env: &StatementEnv, e: SqlError) -> SqlError {
    let no_program = matches!(
        e.code,
        codes::PARSE_ERROR
            | codes::SP_NORETURN
            | codes::SP_BADRETURN
            | codes::SP_NO_RETSET
            | codes::SP_BADSTATEMENT
            | codes::SP_LILABEL_MISMATCH
    );
    if def.kind.routine().is_none() || !no_program {
        return e;
    }
    let name = format!("{}.{}", def.db, def.name);
    env.push_condition(WarningLevel::Error, e.code, e.message);
    // MariaDB's number for a body that it can't parse.
    errors::SP_PROC_TABLE_CORRUPT.with([&name, &-6])
}

impl SessionPrograms {
    pub(crate) fn new(db: narwal_engine::Database, vars: Arc<SessionVars>) -> Self {
        SessionPrograms {
            store: Store::new(db),
            vars,
            temporary: Mutex::default(),
            version: AtomicU64::new(u64::MAX),
            any: AtomicBool::new(false),
            any_triggers: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// The session's temporary tables, for a program that makes one or drops one.
    pub(super) fn own_temporary(&self, env: &mut StatementEnv) -> Arc<TemporaryTables> {
        self.vars.changed_inside.store(true, Ordering::Relaxed);
        if let Some(t) = &env.temporary {
            return t.clone();
        }
        let first = self.temporary.lock().get_or_insert_default().clone();
        env.temporary = Some(first.clone());
        first
    }

    /// Shows a program the temporary tables that others have made since the statement began.
    pub(super) fn give_temporary(&self, env: &mut StatementEnv) {
        if env.temporary.is_none()
            && self.vars.changed_inside.load(Ordering::Relaxed)
            && let Some(t) = &*self.temporary.lock()
        {
            env.temporary = Some(t.clone());
        }
    }

    /// The temporary tables that programs have made, for the session, which had none.
    pub(crate) fn take_temporary(&self) -> Option<Arc<TemporaryTables>> {
        self.temporary.lock().take()
    }

    /// Names mean other tables now: what was compiled for the columns that they had is forgotten.
    pub(crate) fn temporary_changed(&self) {
        if self.state.lock().units.values().any(|u| u.of_tables) {
            self.version.store(u64::MAX, Ordering::Relaxed);
        }
    }

    /// Forgets what was compiled for another catalog.
    pub(super) fn refresh(&self) {
        let version = self.store.database().catalog_version();
        if self.version.load(Ordering::Relaxed) == version {
            return;
        }
        let catalog = self.store.database().catalog();
        let mut state = self.state.lock();
        state.units.clear();
        state.functions.clear();
        state.triggers.clear();
        state.kinds.clear();
        state.called.clear();
        let any = definition::any(&catalog, Stored::Trigger);
        self.any_triggers.store(any, Ordering::Relaxed);
        let routines = [
            Stored::Procedure,
            Stored::Function,
            Stored::Event,
            Stored::PackageBody,
        ];
        let any = any
            || of_sys::are_there(&catalog)
            || routines.iter().any(|k| definition::any(&catalog, *k));
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
        let kept = self.state.lock().units.get(&key).cloned();
        if name.contains('.') {
            // What is kept may be private.
            let unit = match kept {
                Some(u) if self.routine_of_package(kind, db, name)?.is_some() => Some(u),
                Some(_) => None,
                None => self.package_unit(kind, db, name, outer)?,
            };
            if let Some(u) = &unit {
                self.state.lock().units.insert(key, u.clone());
            }
            return Ok(unit);
        }
        if let Some(u) = kept {
            return Ok(Some(u));
        }
        let catalog = self.store.database().catalog();
        let Some(def) = of_sys::find(&catalog, kind, db, name)? else {
            return Ok(None);
        };
        let unit = self.compiled(def, &key, outer)?;
        self.state.lock().units.insert(key, unit.clone());
        Ok(Some(unit))
    }

    /// Compiles an event, which is not kept.
    pub(super) fn event(&self, def: Definition, outer: &StatementEnv) -> SqlResult<Arc<Unit>> {
        let key = def.key();
        self.compiled(def, &key, outer)
    }

    fn compiled(&self, def: Definition, key: &str, outer: &StatementEnv) -> SqlResult<Arc<Unit>> {
        // It may be the function that an expression of another program calls, and so on.
        let _within = within_stack()?;
        let mark: Arc<str> = format!("compile {key}").into();
        self.begin(&mark)?;
        let of = env_of(&def);
        let env = outer.within(&of);
        let now = Now::new(&self.store, &env, false);
        let _inside = Inside::new(self, &def.db, &def.name);
        let columns = match &def.trigger {
            Some(t) => now.table(&TableName {
                db: Some(def.db.clone()),
                name: t.table.clone(),
            }),
            None => Ok(None),
        };
        // No trigger is on a temporary table.
        now.asked.set(false);
        let program = columns.and_then(|c| compile_definition(&def, &env, &now, c));
        let program = program.map_err(|e| load_error(&def, outer, e));
        self.end(&mark);
        Ok(Arc::new(Unit {
            program: Arc::new(program?),
            env: of,
            mark: key.into(),
            of_tables: now.asked.get(),
            def,
        }))
    }

    /// Error 1424 if it is at it already.
    pub(super) fn begin(&self, mark: &Arc<str>) -> SqlResult<()> {
        self.state.lock().begin(mark)
    }

    pub(super) fn end(&self, mark: &str) {
        self.state.lock().end(mark);
    }

    /// A function that is to run; error 1424 if it runs already. [`SessionPrograms::returned`] says that it has ended.
    pub(super) fn enter(
        &self,
        function: &StoredFunction,
        outer: &StatementEnv,
    ) -> SqlResult<Arc<Unit>> {
        self.refresh();
        let (db, name) = (&function.db, &function.name);
        {
            let mut state = self.state.lock();
            let named = |u: &Arc<Unit>| u.def.name == *name && u.def.db == *db;
            if let Some(at) = state.called.iter().position(named) {
                let unit = state.called[at].clone();
                state.begin(&unit.mark)?;
                return Ok(unit);
            }
        }
        let unit = self
            .unit(Stored::Function, db, name, outer)?
            .ok_or_else(|| {
                let full = format!("{db}.{name}");
                errors::SP_DOES_NOT_EXIST.with([&"FUNCTION", &full])
            })?;
        let mut state = self.state.lock();
        state.called.insert(0, unit.clone());
        state.called.truncate(CALLED);
        state.begin(&unit.mark)?;
        Ok(unit)
    }

    /// A function has ended.
    pub(super) fn returned(&self, unit: &Unit) {
        self.end(&unit.mark);
    }

    /// Which kinds of triggers a table has, as bits.
    pub(super) fn trigger_kinds(&self, table: &Table) -> u8 {
        if let Some(kinds) = self.state.lock().kinds.get(&table.def.id) {
            return *kinds;
        }
        let catalog = self.store.database().catalog();
        let kinds = definition::triggers_of(&catalog, &table.def.db, &table.def.name)
            .iter()
            .filter_map(|d| d.trigger.as_ref())
            .fold(0, |all, t| all | kind_bit(t.before, t.event()));
        self.state.lock().kinds.insert(table.def.id, kinds);
        kinds
    }

    pub(super) fn triggers(&self, table: &Table, outer: &StatementEnv) -> SqlResult<Arc<Triggers>> {
        self.refresh();
        if let Some(t) = self.state.lock().triggers.get(&table.def.id) {
            return Ok(t.clone());
        }
        let catalog = self.store.database().catalog();
        let mut list = Vec::new();
        for def in definition::triggers_of(&catalog, &table.def.db, &table.def.name) {
            let Some(part) = def.trigger.clone() else {
                continue;
            };
            let key = definition::key(Stored::Trigger, &def.db, &def.name);
            let unit = self.compiled(def, &key, outer)?;
            list.push((part.before, part.event(), unit));
        }
        let list = Arc::new(Triggers {
            list,
            checked: AtomicU8::new(0),
        });
        self.state
            .lock()
            .triggers
            .insert(table.def.id, list.clone());
        Ok(list)
    }
}

/// Error 1305.
pub(super) fn no_procedure(db: &str, name: &str) -> SqlError {
    let full = format!("{db}.{name}");
    errors::SP_DOES_NOT_EXIST.with([&"PROCEDURE", &full])
}

/// A procedure by the name that CALL has.
pub(super) fn find_procedure(
    programs: &SessionPrograms,
    name: &[String],
    env: &StatementEnv,
) -> SqlResult<Arc<Unit>> {
    let in_package = |db: &str, package: &str, name: &str| {
        let full = format!("{package}.{name}");
        programs.unit(Stored::Procedure, db, &full, env)
    };
    let (db, name) = match name {
        [name] => {
            if let Some((db, package)) = programs.inside()
                && let Some(unit) = in_package(&db, &package, name)?
            {
                return Ok(unit);
            }
            (env.require_db()?.to_string(), name.clone())
        }
        [db, name] => {
            if let Some(own) = &env.db
                && let Some(unit) = in_package(own, db, name)?
            {
                return Ok(unit);
            }
            // A package that is there takes the name, whatever it has.
            let catalog = programs.store.database().catalog();
            match &env.db {
                Some(own) if definition::find(&catalog, Stored::Package, own, db)?.is_some() => {
                    (own.to_string(), format!("{db}.{name}"))
                }
                _ => (db.clone(), name.clone()),
            }
        }
        [db, package, name] => (db.clone(), format!("{package}.{name}")),
        _ => return Err(SqlError::unknown("a name of so many parts")),
    };
    let name = &name;
    programs
        .unit(Stored::Procedure, &db, name, env)?
        .ok_or_else(|| no_procedure(&db, name))
}

/// A call that is one deeper, until it is dropped.
pub(super) struct Deeper<'a> {
    programs: &'a SessionPrograms,
}

impl<'a> Deeper<'a> {
    /// Error 1456 beyond `max_sp_recursion_depth`.
    pub(super) fn new(
        programs: &'a SessionPrograms,
        program: &Program,
        env: &StatementEnv,
    ) -> SqlResult<Deeper<'a>> {
        let scope = VariableScope::Session;
        let limit = env.variables.system(scope, "max_sp_recursion_depth")?;
        let limit = match limit {
            Value::Int(n) => usize::try_from(n).unwrap_or(0),
            Value::UInt(n) => usize::try_from(n).unwrap_or(0),
            _ => 0,
        };
        let me = definition::key(Stored::Procedure, &program.db, &program.name);
        let mut state = programs.state.lock();
        if state.calls.iter().filter(|c| **c == me).count() > limit {
            return Err(errors::SP_RECURSION_LIMIT.with([&limit, &program.name]));
        }
        state.calls.push(me);
        drop(state);
        Ok(Deeper { programs })
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.programs.state.lock().calls.pop();
    }
}
