//! A statement bound and planned once, and its execution.

use crate::ast::{ExplainForm, Stmt};
use crate::bind::bind;
use crate::bind::scope::Scope;
use crate::env::{STORED_FUNCTIONS, StatementEnv, VariableSource};
use crate::exec::context::{RunCtx, Running, Shared};
use crate::exec::outcome::Outcome;
use crate::exec::returning::Returned;
use crate::exec::select::{Sent, limit_of};
use crate::exec::value_list::ValueList;
use crate::expr::node::{EvalCtx, Expr, ExprType, NoRow};
use crate::merge_table::tables_behind;
use crate::plan::counts::Counts;
use crate::plan::dml::{ReturningPlan, RowSource};
use crate::plan::explain;
use crate::plan::query::{GroupPlan, Rows, SelectPlan, TablePlan};
use crate::plan::statement::{Analyzed, Plan};
use crate::planner::estimate::Basis;
use crate::planner::resolve::{Resolver, no_such_table};
use crate::privilege::{Needs, Privilege};
use crate::user_kind::{UserKind, as_kept};
use crate::virtual_tables::VirtualTables;
use crate::year_text::{YearText, has_year};
use narwal_engine::{
    Catalog, Database, ForeignKeyMode, KeyRange, LockMode, LockWait, ReadView, Table, Transaction,
};
use narwal_syntax::ast::{Expr as AstExpr, TableRef};
use narwal_types::Name;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{
    Collation, ColumnType, OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, Value, ValueRef,
};
use std::sync::Arc;
use std::time::Duration;

/// A statement bound and planned against one catalog version and one default database. Not for DDL.
pub struct Prepared {
    version: u64,
    params: usize,
    typed: bool,
    columns: Arc<[ResultColumn]>,
    needs: Arc<[Needs]>,
    writes_stored: bool,
    unrepeatable: Option<&'static str>,
    plan: Plan,
    basis: Basis,
    /// A SELECT that takes row locks.
    locks: bool,
    /// Its rows have YEAR columns.
    has_year: bool,
    /// LIMIT ROWS EXAMINED.
    rows_examined: Option<Expr>,
    /// User variables of it, and what they were when it was planned.
    user_kinds: Box<[(Box<str>, UserKind)]>,
}

/// Error 4091 for a sequence that is not there is that of a statement without tables. Others open it as one of theirs.
fn unknown_sequence(stmt: &Stmt, e: SqlError, env: &StatementEnv) -> SqlError {
    let used = env.sequences_used.borrow();
    let Some(s) = used.last().filter(|_| e.code == codes::UNKNOWN_SEQUENCES) else {
        return e;
    };
    let missing = no_such_table(&s.db, &s.table);
    let alone = match stmt {
        Stmt::Select(select) => select.from.is_none(),
        stmt => matches!(stmt, Stmt::Do(_)),
    };
    match alone {
        false => missing,
        true => {
            env.error_behind(missing);
            e
        }
    }
}

impl Prepared {
    /// Binds and plans. `virtual_tables` serves `information_schema` and the like, if there is such.
    pub fn new(
        stmt: &Stmt,
        _text: &str,
        db: &Database,
        catalog: &Arc<Catalog>,
        env: &StatementEnv,
        virtual_tables: Option<&dyn VirtualTables>,
    ) -> SqlResult<Prepared> {
        let mut r = Resolver::new(db, catalog, env, virtual_tables);
        let mut planned = plan_anew(stmt, &mut r, env);
        if reads_what_it_assigns(env) {
            env.variables_change.set(true);
            r = Resolver::new(db, catalog, env, virtual_tables);
            // What there is to be told was told by the first plan.
            planned = env.quietly(|| plan_anew(stmt, &mut r, env));
            env.variables_change.set(false);
        }
        let (plan, params) = planned.map_err(|e| unknown_sequence(stmt, e, env))?;
        for used in env.sequences_used.borrow_mut().drain(..) {
            let mut needs = r.needs.borrow_mut();
            if !needs.contains(&used) {
                needs.push(used);
            }
        }
        let rows_examined = r.rows_examined.take();
        let needs = r.needs.into_inner();
        let basis = r.estimates.basis();
        let columns = match &plan {
            Plan::Select(s) => s.columns.clone(),
            Plan::Insert(i) => of_returning(i.returning.as_ref()),
            Plan::Delete(d) => of_returning(d.returning.as_ref()),
            Plan::Handler(h) => h.columns.clone(),
            Plan::Explain(form, _) => explain::columns(*form).into(),
            Plan::Analyze(a) => a.columns.clone(),
            Plan::Checksum(_) => [
                explain::plain_column("Table", explain::text_type(128), true),
                explain::plain_column("Checksum", explain::bigint(), true),
            ]
            .into(),
            _ => [].into(),
        };
        Ok(Prepared {
            locks: plan.as_select().is_some_and(SelectPlan::locks),
            has_year: has_year(&columns, computes_at_once(&plan)),
            version: catalog.version,
            params,
            typed: env.params_typed.get(),
            unrepeatable: env.unrepeatable.get(),
            columns,
            writes_stored: needs.iter().any(|n| n.privilege != Privilege::Select),
            needs: needs.into(),
            rows_examined,
            user_kinds: env.user_kinds.take().into(),
            plan,
            basis,
        })
    }

    /// The catalog version that it was planned for.
    pub fn catalog_version(&self) -> u64 {
        self.version
    }

    /// To be asked at each use: true if the plan had better be made anew, since tables have become much larger or smaller,
    /// since it was made by the values of a use long ago, or since user variables have become of other types.
    pub fn is_worn(&self, db: &Database, variables: &dyn VariableSource) -> bool {
        let changed = |name: &str, was: UserKind| variables.user_kind(name) != was;
        self.basis.is_worn(db)
            || self
                .user_kinds
                .iter()
                .any(|(name, was)| changed(name, *was))
    }

    /// True if it might be another plan had values of parameters been known ([`StatementEnv::peeked`]).
    pub fn wants_values(&self) -> bool {
        self.basis.wants_values
    }

    /// Number of `?`.
    pub fn params(&self) -> usize {
        self.params
    }

    /// True if columns of the result have types that depend on those of parameters
    /// ([`StatementEnv::param_types`]).
    pub fn depends_on_param_types(&self) -> bool {
        self.typed
    }

    /// Columns of the result set; empty if there is none.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// True if MariaDB keeps its rows in a table: those of several SELECTs, but for UNION ALL that sorts nothing, and of a
    /// derived table of such, or without tables.
    pub(crate) fn keeps_rows(&self) -> bool {
        let set = |p: &SelectPlan| {
            let rows = p.table.as_ref().map(|t| &t.rows);
            matches!(rows, Some(Rows::Set(_)))
        };
        let kept = |p: &SelectPlan, t: &TablePlan| match &t.rows {
            Rows::Set(s) => !s.appends() || !p.sort.is_empty() || !p.fallback_sort.is_empty(),
            Rows::Query(q) => q.table.is_none() || set(q),
            _ => false,
        };
        matches!(&self.plan, Plan::Select(p) if p.table.as_ref().is_some_and(|t| kept(p, t)))
    }

    /// False for a SELECT whose rows MariaDB does not count for FOUND_ROWS() when they go into a table: it reads no table, or
    /// appends rows.
    pub(crate) fn finds_rows(&self) -> bool {
        self.plan.as_select().is_some_and(SelectPlan::finds_rows)
    }

    /// True if it never writes and takes no row locks.
    pub fn is_read_only(&self) -> bool {
        self.plan.only_reads() && !self.locks
    }

    /// True if it touches no table at all (`SELECT 1`).
    pub fn is_tableless(&self) -> bool {
        self.plan.is_tableless()
    }

    /// True if it shows or copies rows of tables.
    pub fn reads_tables(&self) -> bool {
        match &self.plan {
            Plan::Select(_) | Plan::Do(_) => !self.is_tableless(),
            Plan::Insert(i) => matches!(i.source, RowSource::Select(_)),
            _ => false,
        }
    }

    /// True for HANDLER ... READ.
    pub fn reads_handler(&self) -> bool {
        matches!(&self.plan, Plan::Handler(_))
    }

    /// True for LOAD DATA: it can't begin again.
    pub fn consumes_input(&self) -> bool {
        matches!(&self.plan, Plan::Load(_))
    }

    /// True for SELECT ... FOR UPDATE.
    pub fn locks_for_update(&self) -> bool {
        let select = self.plan.as_select();
        select.is_some_and(|s| s.lock.is_some_and(|l| l.mode == LockMode::Exclusive))
    }

    /// How long WAIT n and NOWAIT of a query wait for tables that others have locked.
    pub fn table_patience(&self) -> Option<Duration> {
        match self.plan.as_select()?.lock?.wait {
            LockWait::NoWait => Some(Duration::ZERO),
            LockWait::UpTo(time) => Some(time),
            LockWait::Wait | LockWait::SkipLocked => None,
        }
    }

    /// The tables whose rows SELECT ... FOR UPDATE locks, also that of a subquery or of an INSERT.
    pub fn for_update(&self) -> Vec<&Arc<Table>> {
        let mut out = Vec::new();
        match &self.plan {
            Plan::Insert(i) => {
                if let RowSource::Select(s) = &i.source {
                    s.for_update(&mut out);
                }
            }
            p => {
                if let Some(s) = p.as_select() {
                    s.for_update(&mut out);
                }
            }
        }
        out
    }

    /// True if it changes rows of tables that are not temporary, or takes numbers from sequences.
    pub fn writes_stored(&self) -> bool {
        self.writes_stored
    }

    /// What keeps another server from getting the same rows when it runs the statement's text: a function, a variable, a
    /// parameter, a temporary table, a file. `None`: nothing.
    pub fn unrepeatable(&self) -> Option<&'static str> {
        match self.plan {
            Plan::Load(_) => Some("LOAD DATA"),
            _ => self.unrepeatable,
        }
    }

    /// It calls a stored function, which may write.
    pub fn calls_stored(&self) -> bool {
        self.unrepeatable == Some(STORED_FUNCTIONS)
    }

    /// Privileges that it needs.
    pub fn needs(&self) -> &[Needs] {
        &self.needs
    }
}

fn of_returning(r: Option<&ReturningPlan>) -> Arc<[ResultColumn]> {
    r.map_or_else(|| [].into(), |r| r.columns.clone())
}

impl Prepared {
    /// What counts the rows that it reads, if ANALYZE or LIMIT ROWS EXAMINED asks for that.
    fn counts(
        &self,
        env: &StatementEnv,
        params: &[Value],
        shared: &Shared,
    ) -> SqlResult<Option<Counts>> {
        Ok(match (&self.rows_examined, &self.plan) {
            (None, Plan::Analyze(_)) => Some(Counts::new(u64::MAX)),
            (None, _) => None,
            (Some(most), _) => {
                let run = Running::new(shared);
                let most = limit_of(most, &RunCtx::new(env, params, &run))?;
                Some(Counts::new(most))
            }
        })
    }

    /// Runs a SELECT and calls back with each row: its values go into a table.
    pub(crate) fn each_row(
        &self,
        txn: &mut Transaction,
        env: &StatementEnv,
        each: &mut dyn FnMut(&[ValueRef<'_>]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Plan::Select(s) = &self.plan else {
            return Err(SqlError::unsupported(
                "rows of another statement than SELECT",
            ));
        };
        let shared = Shared::default();
        let values = env.param_values.borrow();
        let counts = self.counts(env, &values, &shared)?;
        let run = Running {
            counts: counts.as_ref(),
            ..Running::new(&shared)
        };
        let ctx = RunCtx::new(env, &values, &run);
        strictly(env, false, || {
            s.run(txn, &ctx, &mut |row| {
                each(row)?;
                // A row that is written counts too.
                counts.as_ref().map_or(Ok(()), Counts::examines)
            })
            .or_else(|e| cut(&ctx, e, 0))?;
            Ok(Outcome::Done {
                affected: 0,
                last_insert_id: 0,
                info: String::new(),
            })
        })
        .map(drop)
    }
}

/// Plans a statement of which nothing has been noted so far.
fn plan_anew(stmt: &Stmt, r: &mut Resolver<'_>, env: &StatementEnv) -> SqlResult<(Plan, usize)> {
    env.params_typed.set(false);
    env.numbers_rows.set(false);
    env.user_kinds.borrow_mut().clear();
    env.user_assigned.borrow_mut().clear();
    env.unrepeatable.set(None);
    env.sequences_used.borrow_mut().clear();
    let planned = plan(stmt, r);
    env.user_texts.borrow_mut().clear();
    planned
}

/// Some user variable that the statement reads gets a value by it: it can't be looked up by its first value.
fn reads_what_it_assigns(env: &StatementEnv) -> bool {
    let assigned = env.user_assigned.borrow();
    let kinds = env.user_kinds.borrow();
    (assigned.iter()).any(|a| kinds.iter().any(|(read, _)| a.same_name(read)))
}

fn plan(stmt: &Stmt, r: &mut Resolver<'_>) -> SqlResult<(Plan, usize)> {
    Ok(match stmt {
        Stmt::Select(s) => {
            r.whole.set(true);
            (Plan::Select(Box::new(r.select(s)?)), s.params)
        }
        Stmt::Insert(i) => (Plan::Insert(Box::new(r.insert(i)?)), i.params),
        Stmt::Update(u) => match r.update_of_join_view(u)? {
            Some(w) => (Plan::WriteJoin(Box::new(r.write_join(&w)?)), u.params),
            None => (Plan::Update(Box::new(r.update_each(u)?)), u.params),
        },
        Stmt::Delete(d) => (Plan::Delete(Box::new(r.delete_each(d)?)), d.params),
        Stmt::LoadData(l) => (Plan::Load(Box::new(r.load_data(l)?)), 0),
        Stmt::SelectInto(_) => return Err(SqlError::unsupported("SELECT ... INTO here")),
        Stmt::WriteJoin(w) => (
            Plan::WriteJoin(Box::new(r.write_join_each(w)?)),
            w.select.params,
        ),
        Stmt::Do(s) => {
            let plan = r.select(s)?;
            if plan.windows.is_some() {
                return Err(crate::bind::window::not_here());
            }
            if plan.computes_over_rows() {
                return Err(errors::INVALID_GROUP_FUNC_USE.plain());
            }
            (Plan::Do(Box::new(plan)), s.params)
        }
        Stmt::HandlerRead(name, read) => (
            Plan::Handler(Box::new(r.handler_read(name, read)?)),
            read.params,
        ),
        Stmt::ChecksumTable(tables) => {
            let mut out = Vec::new();
            for t in tables {
                r.env.check_interrupt()?;
                let db = r.db_of(t)?.to_string();
                let table = r.stored(&db, &t.name, Privilege::Select);
                let table = table.and_then(|t| match t.def.merge {
                    Some(_) => tables_behind(&t, r.catalog, r.env),
                    None => Ok(vec![t]),
                });
                out.push((format!("{db}.{}", t.name), table));
            }
            (Plan::Checksum(out), 0)
        }
        Stmt::Explain(inner, form) => {
            let (p, n) = plan(inner, r)?;
            let alias = target_name(inner, &p, r);
            if form.runs() {
                let run = Analyzed::new(p, alias, *form);
                return Ok((Plan::Analyze(Box::new(run)), n));
            }
            let explained = p
                .explained(&alias, None)
                .ok_or_else(|| SqlError::unsupported("EXPLAIN of this statement"))?;
            (Plan::Explain(*form, explained.rows(*form)), n)
        }
        Stmt::Ddl(_) => return Err(SqlError::unsupported("DDL as a prepared plan")),
    })
}

/// The plan of a statement as EXPLAIN shows it, though it is another session's. What a plan of ANALYZE would count is NULL.
///
/// # Errors
/// Those of planning.
pub fn explain(
    stmt: &Stmt,
    form: ExplainForm,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut r = Resolver::new(db, catalog, env, virtual_tables);
    let (p, _) = plan(stmt, &mut r)?;
    let explained = p.explained(&target_name(stmt, &p, &r), None);
    Ok(explained.map(|e| e.rows(form)).unwrap_or_default())
}

/// What EXPLAIN calls the table that a statement changes.
fn target_name(stmt: &Stmt, plan: &Plan, r: &Resolver<'_>) -> String {
    let written = |t: &TableRef| match (plan, r.view_named(t)) {
        // The table under a view.
        (Plan::Update(u), Some(_)) => u.target.table.def.name.clone(),
        (Plan::Delete(d), Some(_)) => d.target.table.def.name.clone(),
        _ => t.alias.clone().unwrap_or(t.name.name.clone()),
    };
    match stmt {
        Stmt::Update(u) => written(&u.table),
        Stmt::Delete(d) => written(&d.table),
        Stmt::Insert(i) => i.table.name.clone(),
        _ => String::new(),
    }
}

/// Runs a prepared statement. The session has called `txn.begin_statement` and will call `end_statement` or
/// `rollback_statement`. `params` must be as many as [`Prepared::params`] says.
pub fn execute(
    prepared: &Prepared,
    params: &[Value],
    txn: &mut Transaction,
    _db: &Database,
    env: &mut StatementEnv,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if params.len() != prepared.params {
        return Err(errors::WRONG_ARGUMENTS.text("Incorrect arguments to EXECUTE"));
    }
    env.explicit_insert_id.set(0);
    env.seeded.borrow_mut().clear();
    txn.regenerate_by(crate::with_generated_columns);
    txn.set_foreign_keys(if env.foreign_key_checks {
        ForeignKeyMode::Check
    } else {
        ForeignKeyMode::Off
    });
    let env: &StatementEnv = env;
    if env.programs.as_ref().is_some_and(|p| p.any()) {
        env.begin_use(&prepared.needs);
    }
    let shared = Shared::default();
    let counts = prepared.counts(env, params, &shared)?;
    let run = Running {
        counts: counts.as_ref(),
        ..Running::new(&shared)
    };
    let ctx = RunCtx::new(env, params, &run);
    run_plan(&prepared.plan, prepared, txn, &ctx, sink)
}

/// True if MariaDB computes the rows as it sends them: they come from no table of its own, of groups, DISTINCT or a union.
fn computes_at_once(plan: &Plan) -> bool {
    plan.as_select().is_some_and(|s| {
        let grouped = |g: &GroupPlan| !g.keys.is_empty() && g.by_index.is_none();
        let set = s
            .table
            .as_ref()
            .is_some_and(|t| matches!(t.rows, Rows::Set(_)));
        !s.distinct && !s.group.as_ref().is_some_and(grouped) && !set
    })
}

/// Runs the plan of a statement, or that of one that ANALYZE runs.
fn run_plan(
    plan: &Plan,
    prepared: &Prepared,
    txn: &mut Transaction,
    ctx: &RunCtx<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let env = ctx.env;
    plan.count_reads(&env.status_counts);
    match plan {
        Plan::Select(s) if prepared.has_year => {
            let mut sink = YearText::new(sink, computes_at_once(plan));
            select(s, prepared.locks, txn, ctx, &mut sink)
        }
        Plan::Select(s) => select(s, prepared.locks, txn, ctx, sink),
        Plan::Insert(p) => ignoring(env, p.ignore, || {
            strictly(env, p.ignore, || p.run(txn, ctx))
        }),
        Plan::Update(p) => ignoring(env, p.ignore, || {
            strictly(env, p.ignore, || p.run(txn, ctx))
        }),
        // Nothing is stored by DELETE.
        Plan::Delete(p) => ignoring(env, p.ignore, || p.run(txn, ctx)),
        Plan::WriteJoin(p) => ignoring(env, p.ignore, || {
            strictly(env, p.ignore || p.delete, || p.run(txn, ctx))
        }),
        Plan::Load(p) => strictly(env, p.ignore, || p.run(txn, ctx, sink)),
        Plan::Do(s) => run_do(s, txn, ctx),
        Plan::Handler(h) if prepared.has_year => h.run(txn, ctx, &mut YearText::new(sink, false)),
        Plan::Handler(h) => h.run(txn, ctx, sink),
        Plan::Explain(_, rows) => send_all(&prepared.columns, rows, sink),
        Plan::Analyze(a) => analyze(a, prepared, txn, ctx),
        Plan::Checksum(tables) => {
            let mut rows = Vec::new();
            for (name, table) in tables {
                let sum = match table {
                    Ok(tables) => {
                        let mut sum = 0u32;
                        for t in tables {
                            sum = sum.wrapping_add(checksum(txn, t, ctx)?);
                        }
                        Value::Int(i64::from(sum))
                    }
                    Err(e) => {
                        let error = crate::WarningLevel::Error;
                        env.push_condition(error, e.code, e.message.clone());
                        Value::Null
                    }
                };
                rows.push(vec![Value::str(name.as_str()), sum]);
            }
            send_all(&prepared.columns, &rows, sink)
        }
    }
}

/// Runs DO.
fn run_do(s: &SelectPlan, txn: &mut Transaction, ctx: &RunCtx<'_>) -> SqlResult<Outcome> {
    let env = ctx.env;
    let savepoint = ctx.env.programs.as_ref().map(|_| txn.savepoint());
    match s.run(txn, ctx, &mut |_| Ok(())) {
        // Whatever its values are, it has done its work: what failed is undone and told.
        Err(e)
            if !matches!(
                e.code,
                codes::QUERY_INTERRUPTED
                    | codes::CONNECTION_KILLED
                    | codes::STATEMENT_TIMEOUT
                    | codes::OUT_OF_RESOURCES
                    | codes::OPTION_PREVENTS_STATEMENT
                    | codes::LOCK_DEADLOCK
                    | codes::CHECKREAD
            ) =>
        {
            if let Some(s) = &savepoint {
                txn.rollback_to(s);
            }
            let error = crate::WarningLevel::Error;
            env.push_condition(error, e.code, e.message);
            env.push_trace();
        }
        done => drop(done?),
    }
    Ok(Outcome::Done {
        affected: 0,
        last_insert_id: 0,
        info: String::new(),
    })
}

/// Runs a statement for ANALYZE, and answers what it has read.
fn analyze(
    a: &Analyzed,
    prepared: &Prepared,
    txn: &mut Transaction,
    ctx: &RunCtx<'_>,
) -> SqlResult<Outcome> {
    let last_insert_id = match run_plan(&a.plan, prepared, txn, ctx, &mut Nowhere)? {
        Outcome::Rows { .. } => 0,
        Outcome::Returned { last_insert_id, .. } | Outcome::Done { last_insert_id, .. } => {
            last_insert_id
        }
    };
    let explained = a
        .plan
        .explained(&a.alias, ctx.run.counts)
        .ok_or_else(|| SqlError::unsupported("ANALYZE of this statement"))?;
    let rows = Returned::of(&a.columns, &explained.rows(a.form), ctx.env)?;
    Ok(Outcome::Returned {
        rows,
        last_insert_id,
    })
}

/// Takes the rows of a statement that ANALYZE runs.
struct Nowhere;

impl ResultSink for Nowhere {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, _: &[ValueRef<'_>]) -> SqlResult<()> {
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

/// Runs a statement that changes rows, perhaps with IGNORE.
fn ignoring(
    env: &StatementEnv,
    ignore: bool,
    run: impl FnOnce() -> SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    let around = env.ignores.replace(ignore);
    let r = run();
    env.ignores.set(around);
    r
}

/// Runs a statement that changes rows: in strict mode warnings about values in its expressions are errors.
fn strictly(
    env: &StatementEnv,
    ignore: bool,
    run: impl FnOnce() -> SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    env.strict_expressions.set(env.sql_mode.strict() && !ignore);
    let r = run().and_then(|o| env.check_refused().map(|()| o));
    // Drop one that came with another error.
    let _ = env.check_refused();
    env.strict_expressions.set(false);
    r
}

fn select(
    s: &SelectPlan,
    locks: bool,
    txn: &mut Transaction,
    ctx: &RunCtx<'_>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if locks || (ctx.env.locking_reads && s.reads_stored()) {
        // What locking reads saw may not be durable yet: rows go out when it is.
        let mut rows = ValueList::default();
        let sent = s
            .run(txn, ctx, &mut |row| rows.push(row.iter().copied(), ctx.env))
            .or_else(|e| cut(ctx, e, rows.count()))?;
        rows.finish()?;
        txn.wait_reads_durable()?;
        sink.begin_plan_rows(&s.columns)?;
        rows.each(&mut |row| {
            sink.row(row)?;
            Ok(true)
        })?;
        return Ok(Outcome::Rows {
            rows: sent.rows,
            found_rows: sent.found,
        });
    }
    // The header goes out with the first row, so that an error before it is a plain error.
    let mut rows = 0;
    let sent = s
        .run(txn, ctx, &mut |row| {
            if rows == 0 {
                sink.begin_plan_rows(&s.columns)?;
            }
            rows += 1;
            sink.row(row)
        })
        .or_else(|e| cut(ctx, e, rows))?;
    if rows == 0 {
        sink.begin_plan_rows(&s.columns)?;
    }
    // Those that OFFSET has passed over count, but for a UNION ALL, whose rows go out as they come, and the one row that
    // there is without a table.
    let sent_alone = !s.calc_found_rows && (s.appends() || s.table.is_none());
    Ok(Outcome::Rows {
        rows: sent.rows,
        found_rows: if sent_alone { sent.rows } else { sent.found },
    })
}

/// LIMIT ROWS EXAMINED ended a SELECT behind so many rows: that is a warning. Other errors stay.
#[cold]
fn cut(ctx: &RunCtx<'_>, e: SqlError, rows: u64) -> SqlResult<Sent> {
    if !ctx.run.counts.is_some_and(|c| c.is_exceeded(&e)) {
        return Err(e);
    }
    ctx.env.warn(e.code, e.message);
    Ok(Sent { rows, found: rows })
}

fn send_all(
    columns: &Arc<[ResultColumn]>,
    rows: &[Vec<Value>],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    sink.begin_plan_rows(columns)?;
    for row in rows {
        let refs: Vec<ValueRef<'_>> = row.iter().map(Value::as_ref).collect();
        sink.row(&refs)?;
    }
    Ok(Outcome::Rows {
        rows: rows.len() as u64,
        found_rows: rows.len() as u64,
    })
}

/// CHECKSUM TABLE: the sum (modulo 2^32) of the CRC-32 of each row image. Equal tables have equal checksums whatever
/// their indexes and history; it is not the number that MariaDB computes, whose row format it depends on.
fn checksum(txn: &mut Transaction, table: &Arc<Table>, ctx: &RunCtx<'_>) -> SqlResult<u32> {
    let mut sum = 0u32;
    let mut n = 0u32;
    let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
    while let Some(item) = scan.next()? {
        n = n.wrapping_add(1);
        if n & 0xff == 0 {
            ctx.env.check_interrupt()?;
        }
        sum = sum.wrapping_add(crc32fast::hash(item.row));
    }
    Ok(sum)
}

/// Evaluates a lone expression without tables, as in `SET x = <expr>`.
pub fn evaluate(expr: &AstExpr, env: &StatementEnv) -> SqlResult<Value> {
    bound_value(expr, env, |e, ctx| e.eval(ctx, &NoRow)).map(|(v, _)| v)
}

/// The same, with the collation that the value has if it is a text.
pub fn evaluate_typed(expr: &AstExpr, env: &StatementEnv) -> SqlResult<(Value, Collation)> {
    // With all digits that a quotient has.
    let all = |e: &Expr, ctx: &RunCtx<'_>| Ok(e.eval_unrounded(ctx, &NoRow)?.into_value());
    let (value, ty) = bound_value(expr, env, all)?;
    Ok((as_kept(value), kept_collation(&ty.ty)))
}

/// What a user variable keeps of a bound expression's value: all digits of a quotient, and the collation of a text.
///
/// # Errors
/// Those of evaluation.
pub fn kept_value(e: &Expr, ctx: &EvalCtx<'_>) -> SqlResult<(Value, Collation)> {
    let value = e.eval_unrounded(ctx, &NoRow)?.into_value();
    Ok((as_kept(value), kept_collation(&e.ty.ty)))
}

/// The collation of a value of a type as a user variable keeps it.
pub fn kept_collation(ty: &ColumnType) -> Collation {
    match ty.is_temporal() || ty.fixed().is_some() {
        true => Collation::Latin1SwedishCi,
        false => ty.collation,
    }
}

fn bound_value(
    expr: &AstExpr,
    env: &StatementEnv,
    eval: impl FnOnce(&Expr, &RunCtx<'_>) -> SqlResult<Value>,
) -> SqlResult<(Value, ExprType)> {
    let e = bind(expr, &Scope::empty(env))?;
    let shared = Shared::default();
    let run = Running::new(&shared);
    let ctx = RunCtx::new(env, &[], &run);
    Ok((eval(&e, &ctx)?, e.ty))
}
