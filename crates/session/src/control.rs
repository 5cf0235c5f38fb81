//! Running administrative statements: dispatch, transaction control, KILL, FLUSH, table maintenance.

use crate::acl;
use crate::admin::{Admin, Flush, Maintenance, Operand, SetScope, Show, TableLock, TableRef};
use crate::information_schema::Definitions;
use crate::open_transaction::NextTransaction;
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::settings::Completion;
use crate::status;
use crate::variables::VarValue;
use narwal_engine::{Isolation, Table, Transaction, ViewDef};
use narwal_sql::ast::{Select, SelectItem};
use narwal_sql::{VirtualTables, view};
use narwal_syntax::{Expr, Statement};
use narwal_types::errors::codes;
use narwal_types::{
    OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, TypeKind, Value, ValueRef, errors,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What an administrative statement gives.
enum Answer {
    Done { affected: u64 },
    Rows(Grid),
}

const DONE: Answer = Answer::Done { affected: 0 };

impl ClientSession {
    /// Runs an administrative statement.
    pub(crate) fn run_admin(
        &mut self,
        admin: &Admin,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        if let Admin::Prepared(p) = admin {
            return self.run_sql_prepared(p, out, more);
        }
        let counter = status::index(admin.counter()).unwrap_or(status::ADMIN_COMMANDS);
        self.begin_statement(counter, admin.keeps_diagnostics());
        if let Admin::Show(Show::BinlogEvents(range)) = admin {
            // May be long: not made in memory.
            return match self.show_binlog_events(range, out) {
                Ok(rows) => self.finish_rows(rows, rows, out, more),
                Err(e) => self.fail(e),
            };
        }
        if let Admin::Backup(words) = admin {
            return match self.backup(words, out) {
                Ok(rows) => self.finish_rows(rows, rows, out, more),
                Err(e) => self.fail(e),
            };
        }
        self.late
            .next_is_last(!more && matches!(admin, Admin::Commit { .. }));
        let answer = self.answer(admin);
        self.late.next_is_last(false);
        match answer {
            Ok(Answer::Done { affected }) => self.finish_ok(affected, 0, String::new(), out, more),
            Ok(Answer::Rows(grid)) => {
                grid.send(out)?;
                let n = grid.rows.len() as u64;
                if admin.keeps_diagnostics() {
                    // SHOW WARNINGS leaves FOUND_ROWS() and the counts alone.
                    let found = self.env.found_rows;
                    return self.finish_rows(n, found, out, more);
                }
                self.finish_rows(n, n, out, more)
            }
            Err(e) => self.fail(e),
        }
    }

    /// Columns of a statement's result set, for PREPARE.
    pub(crate) fn admin_columns(&mut self, admin: &Admin) -> SqlResult<Vec<ResultColumn>> {
        Ok(match admin {
            Admin::Show(Show::BinlogEvents(_)) => crate::show::events::events_grid().columns,
            Admin::Show(_) | Admin::Describe { .. } => match self.answer(admin)? {
                Answer::Rows(g) => g.columns,
                Answer::Done { .. } => Vec::new(),
            },
            Admin::Maintain { .. } => maintenance_grid().columns,
            Admin::Xa(crate::words::XaStatement::Recover(as_sql)) => {
                crate::xa::recover_columns(*as_sql).columns
            }
            Admin::Flashback(_) => crate::flashback::columns().columns,
            Admin::Backup(words) => Self::backup_columns(words).columns,
            _ => Vec::new(),
        })
    }

    /// The one table from statements to those who do them: an arm each.
    fn answer(&mut self, admin: &Admin) -> SqlResult<Answer> {
        if matches!(admin, Admin::Rollback { .. }) {
            self.refuse_in_xa()?;
        }
        if admin.commits_implicitly() {
            self.commit_open()?;
        }
        if admin.changes_accounts() {
            self.check_ddl_writable()?;
        }
        match admin {
            Admin::Begin {
                read_only,
                snapshot,
            } => {
                if *read_only == Some(false) {
                    self.refuse_under_read_only()?;
                }
                self.start_transaction(*read_only, *snapshot);
                Ok(DONE)
            }
            Admin::Commit { chain, release } => {
                let setup = self.transaction_setup();
                self.commit_open()?;
                self.complete(*chain, *release, setup);
                Ok(DONE)
            }
            Admin::Rollback { chain, release } => {
                let setup = self.transaction_setup();
                self.rollback_open();
                self.complete(*chain, *release, setup);
                Ok(DONE)
            }
            Admin::Savepoint(name) => {
                self.refuse_behind_xa_end()?;
                self.savepoint(name);
                Ok(DONE)
            }
            Admin::RollbackTo(name) => {
                self.rollback_to(name)?;
                Ok(DONE)
            }
            Admin::ReleaseSavepoint(name) => {
                self.release_savepoint(name)?;
                Ok(DONE)
            }
            Admin::SetTransaction {
                scope,
                isolation,
                isolation_name,
                read_only,
            } => {
                self.set_transaction(*scope, *isolation, *isolation_name, *read_only)?;
                Ok(DONE)
            }
            Admin::Set(items) => {
                self.set_variables(items)?;
                Ok(DONE)
            }
            Admin::SetPassword { user, password } => {
                self.set_password(user, password)?;
                Ok(DONE)
            }
            Admin::Use(db) => {
                self.use_db(db)?;
                Ok(DONE)
            }
            // These run in `run_admin`.
            Admin::Backup(_) | Admin::Prepared(_) => {
                Err(SqlError::unsupported("this statement here"))
            }
            Admin::Show(show) => Ok(Answer::Rows(self.show(show)?)),
            Admin::Describe { table, like } => {
                let filter = like
                    .clone()
                    .map_or(crate::admin::Filter::None, crate::admin::Filter::Like);
                Ok(Answer::Rows(self.show(&Show::Columns {
                    full: false,
                    table: table.clone(),
                    filter,
                })?))
            }
            Admin::CreateUser {
                or_replace,
                if_not_exists,
                users,
                options,
            } => {
                self.create_user(*or_replace, *if_not_exists, users, options)?;
                Ok(DONE)
            }
            Admin::AlterUser {
                if_exists,
                users,
                options,
            } => {
                self.alter_user(*if_exists, users, options)?;
                Ok(DONE)
            }
            Admin::DropUser { if_exists, users } => {
                self.drop_user(*if_exists, users)?;
                Ok(DONE)
            }
            Admin::RenameUser(pairs) => {
                self.rename_user(pairs)?;
                Ok(DONE)
            }
            Admin::Grant {
                privileges,
                level,
                users,
                options,
                grant_option,
            } => {
                self.grant(privileges, level, users, options, *grant_option)?;
                Ok(DONE)
            }
            Admin::Revoke {
                privileges,
                level,
                users,
            } => {
                self.revoke(privileges, level, users)?;
                Ok(DONE)
            }
            Admin::RevokeEverything(users) => {
                self.revoke_everything(users)?;
                Ok(DONE)
            }
            Admin::Role(statement) => {
                self.role_statement(statement)?;
                Ok(DONE)
            }
            Admin::Proxy { of, users, grant } => {
                self.proxy(of, users, *grant)?;
                Ok(DONE)
            }
            Admin::Kill { query, id } => {
                let id = match self.evaluate_query(id)? {
                    Value::Int(i) => i as u64,
                    Value::UInt(u) => u,
                    _ => 0,
                };
                self.kill_process(id, *query)?;
                Ok(DONE)
            }
            Admin::Flush(items) => {
                self.flush(items)?;
                Ok(DONE)
            }
            Admin::PurgeTo(file) => {
                self.purge_to(file)?;
                Ok(DONE)
            }
            Admin::PurgeBefore(time) => {
                self.purge_before(time)?;
                Ok(DONE)
            }
            Admin::ResetMaster(first) => {
                self.reset_master(*first)?;
                Ok(DONE)
            }
            Admin::ChangeMaster { target, change } => {
                self.change_master(target, change)?;
                Ok(DONE)
            }
            Admin::StartReplica { target, what } => {
                self.start_replica(target, what)?;
                Ok(DONE)
            }
            Admin::StopReplica { target, threads } => {
                self.stop_replica(target, *threads)?;
                Ok(DONE)
            }
            Admin::ResetReplica { target, all } => {
                self.reset_replica(target, *all)?;
                Ok(DONE)
            }
            Admin::Flashback(list) => Ok(Answer::Rows(self.flashback(list)?)),
            Admin::Maintain {
                op,
                persistent,
                tables,
            } => Ok(Answer::Rows(self.maintain(*op, *persistent, tables)?)),
            Admin::LockTables(tables) => {
                self.lock_tables(tables)?;
                Ok(DONE)
            }
            Admin::UnlockTables => {
                self.unlock_tables()?;
                Ok(DONE)
            }
            Admin::Xa(statement) => Ok(match self.xa(statement)? {
                Some(grid) => Answer::Rows(grid),
                None => DONE,
            }),
            Admin::Plugin(words) => {
                self.plugin(words)?;
                Ok(DONE)
            }
            Admin::Shutdown => {
                self.need_any(PrivilegeSet::SHUTDOWN)?;
                self.instance.shutdown()?;
                Ok(DONE)
            }
        }
    }

    /// Evaluates an expression without tables.
    pub(crate) fn evaluate(&self, operand: &Operand) -> SqlResult<Value> {
        self.evaluate_expr(&operand.value.expr)
    }

    pub(crate) fn evaluate_expr(&self, expr: &Expr) -> SqlResult<Value> {
        narwal_sql::evaluate(expr, &self.env)
    }

    /// Evaluates an expression that may hold subqueries, as in `SET @x = (SELECT ...)`.
    pub(crate) fn evaluate_query(&mut self, operand: &Operand) -> SqlResult<Value> {
        if operand.value.subqueries.is_empty() {
            return self.evaluate(operand);
        }
        let item = SelectItem::Expr {
            expr: operand.value.expr.clone(),
            alias: None,
            text: operand.text.clone(),
        };
        let mut select = Select::of(vec![item], None);
        select.subqueries = operand.value.subqueries.clone();
        let text = format!("SELECT {}", operand.text);
        let statement = Statement::Select(Box::new(select));
        let stmt = narwal_sql::lower(statement, &self.parse_options())?;
        let plan = self.plan(&stmt, &text)?;
        self.check_table_locks(plan.needs())?;
        if !plan.needs().is_empty() {
            self.refuse_behind_xa_end()?;
        }
        let tableless = plan.is_tableless();
        let kept = self.open.is_some();
        let mut open = match self.open.take() {
            Some(o) => o,
            None => self.begin_transaction(None),
        };
        self.env.locking_reads = kept && open.isolation == Isolation::Serializable;
        if !tableless {
            open.txn.begin_statement(self.env.timestamp(), None);
        }
        let mut value = OneValue::default();
        let db = self.instance.database();
        let r = narwal_sql::execute(&plan, &[], &mut open.txn, db, &mut self.env, &mut value);
        if !tableless {
            match &r {
                Ok(_) => open.txn.end_statement(),
                Err(_) => open.txn.rollback_statement(),
            }
        }
        if kept {
            self.open = Some(open);
        }
        r.map(|_| value.0)
    }

    // ---- transactions ----

    fn start_transaction(&mut self, read_only: Option<bool>, snapshot: bool) {
        // A transaction ends LOCK TABLES, but not the global read lock.
        self.release_table_locks();
        let mut open = self.begin_transaction(read_only);
        if snapshot && open.isolation != Isolation::ReadCommitted {
            open.txn.ensure_snapshot();
        }
        open.snapshot = snapshot;
        self.open = Some(open);
        self.explicit = true;
        self.track.begin();
        self.track.touched(snapshot, false);
    }

    /// Isolation and access mode of the open transaction, and what was said of them, for AND CHAIN.
    fn transaction_setup(&self) -> Option<(Isolation, bool, NextTransaction)> {
        self.open
            .as_ref()
            .map(|o| (o.isolation, o.read_only, o.said))
    }

    fn complete(
        &mut self,
        chain: Option<bool>,
        release: Option<bool>,
        setup: Option<(Isolation, bool, NextTransaction)>,
    ) {
        let by_default = self.settings.completion;
        let release = release.unwrap_or(by_default == Completion::Release && chain.is_none());
        let chain = chain.unwrap_or(by_default == Completion::Chain) && !release;
        if release {
            self.release = true;
        } else if chain {
            if let Some((isolation, read_only, _)) = setup {
                self.next.isolation = Some(isolation);
                self.next.read_only = Some(read_only);
            }
            self.start_transaction(None, false);
            if let (Some(open), Some((_, _, said))) = (&mut self.open, setup) {
                open.said = said;
            }
        }
    }

    fn savepoint(&mut self, name: &str) {
        self.process.counters.add(status::SAVEPOINTS, 1);
        if self.open.is_none() {
            if self.settings.autocommit {
                // Outside of a transaction a savepoint is gone with its statement.
                return;
            }
            let open = self.begin_transaction(None);
            self.open = Some(open);
        }
        if let Some(o) = &mut self.open {
            o.savepoints.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
            let s = o.txn.savepoint();
            o.savepoints.push((name.to_string(), s));
        }
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        self.open
            .as_ref()
            .and_then(|o| {
                o.savepoints
                    .iter()
                    .position(|(n, _)| n.eq_ignore_ascii_case(name))
            })
            .ok_or_else(|| errors::SP_DOES_NOT_EXIST.with([&"SAVEPOINT", &name]))
    }

    fn rollback_to(&mut self, name: &str) -> SqlResult<()> {
        let i = self.find_savepoint(name)?;
        if let Some(o) = &mut self.open {
            o.txn.rollback_to(&o.savepoints[i].1);
            o.savepoints.truncate(i + 1);
        }
        self.process.counters.add(status::SAVEPOINT_ROLLBACKS, 1);
        Ok(())
    }

    fn release_savepoint(&mut self, name: &str) -> SqlResult<()> {
        let i = self.find_savepoint(name)?;
        if let Some(o) = &mut self.open {
            o.savepoints.truncate(i);
        }
        Ok(())
    }

    fn set_transaction(
        &mut self,
        scope: SetScope,
        isolation: Option<Isolation>,
        name: Option<&'static str>,
        read_only: Option<bool>,
    ) -> SqlResult<()> {
        match scope {
            SetScope::Default => {
                if self.open.is_some() || self.xa.is_some() {
                    return Err(errors::CANT_CHANGE_TX_CHARACTERISTICS.plain());
                }
                if isolation.is_some() {
                    self.next.isolation = isolation;
                }
                if read_only.is_some() {
                    self.next.read_only = read_only;
                }
                self.track.characteristics();
            }
            SetScope::Session => {
                if let Some(n) = name {
                    self.vars.set_by_name("tx_isolation", VarValue::text(n));
                    self.track.variable_named("tx_isolation");
                }
                if let Some(r) = read_only {
                    self.vars.set_by_name("tx_read_only", VarValue::Bool(r));
                    self.track.variable_named("tx_read_only");
                }
                self.refresh_settings();
            }
            SetScope::Global => {
                self.need_any(PrivilegeSet::SUPER)?;
                let set = |n: &str, v: VarValue| {
                    if let Some(i) = crate::variables::index(n) {
                        self.instance.set_global(i, v);
                    }
                };
                if let Some(n) = name {
                    set("tx_isolation", VarValue::text(n));
                }
                if let Some(r) = read_only {
                    set("tx_read_only", VarValue::Bool(r));
                }
            }
        }
        Ok(())
    }

    // ---- KILL, FLUSH ----

    /// KILL [QUERY].
    pub(crate) fn kill_process(&mut self, id: u64, query: bool) -> SqlResult<()> {
        let unknown = || errors::NO_SUCH_THREAD.with([&id]);
        let id32 = u32::try_from(id).map_err(|_| unknown())?;
        let account = self.account();
        let target = self.instance.processes.get(id32).ok_or_else(unknown)?;
        let may = account
            .global
            .has_any(PrivilegeSet::SUPER.with(PrivilegeSet::CONNECTION_ADMIN))
            || target.identity.lock().user == self.client.user;
        if !may {
            return Err(if account.global.has(PrivilegeSet::PROCESS) {
                errors::KILL_DENIED_ERROR.with([&id])
            } else {
                // Who can't see the process list learns nothing from KILL.
                unknown()
            });
        }
        if id32 == self.client.id {
            if query {
                return Err(errors::QUERY_INTERRUPTED.plain());
            }
            self.process.killed.store(true, Ordering::SeqCst);
            self.release = true;
            return Err(errors::CONNECTION_KILLED.plain());
        }
        target.kill(!query);
        Ok(())
    }

    fn flush(&mut self, items: &[Flush]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::RELOAD)?;
        for item in items {
            match item {
                Flush::Logs => {
                    self.instance.database().sync()?;
                    self.flush_binary_logs(&[])?;
                }
                Flush::EngineLogs => self.instance.database().sync()?,
                Flush::BinaryLogs(domains) => self.flush_binary_logs(domains)?,
                Flush::Status => {
                    let p = &self.process.counters;
                    p.add_to(&self.instance.retired);
                    p.reset();
                    self.instance
                        .status_since
                        .store(self.instance.processes.uptime_seconds(), Ordering::Relaxed);
                }
                Flush::ReadLock => self.take_global_read_lock()?,
                Flush::TablesReadLock(tables) => {
                    let locks: Vec<TableLock> = tables
                        .iter()
                        .map(|t| TableLock {
                            table: t.clone(),
                            write: false,
                        })
                        .collect();
                    self.lock_tables(&locks)?;
                }
                // Accounts are read from the catalog itself: only who is blocked is forgotten.
                Flush::UserResources => self.instance.resources.flush(),
                Flush::Privileges => self.instance.logins.forget_all(),
                // Tables have no files to be closed.
                Flush::Tables | Flush::Nothing => {}
            }
        }
        Ok(())
    }

    // ---- table maintenance ----

    fn maintain(
        &mut self,
        op: Maintenance,
        persistent: bool,
        tables: &[TableRef],
    ) -> SqlResult<Grid> {
        let name = match op {
            Maintenance::Check => "check",
            Maintenance::Analyze => "analyze",
            Maintenance::Optimize => "optimize",
            Maintenance::Repair => "repair",
        };
        let mut g = maintenance_grid();
        for t in tables {
            let db = match &t.db {
                Some(d) => d.clone(),
                None => self.env.require_db()?.to_string(),
            };
            let temporary = self.env.temporary_table(&db, &t.name);
            if op != Maintenance::Check && temporary.is_none() {
                self.refuse_under_read_only()?;
            }
            let account = self.account();
            let have = account.on_table(&db, &t.name);
            let wanted = if op == Maintenance::Check {
                PrivilegeSet::SELECT
            } else {
                PrivilegeSet::SELECT.with(PrivilegeSet::INSERT)
            };
            let missing = wanted.without(have);
            if !missing.is_empty() && temporary.is_none() {
                return Err(acl::table_denied(
                    &missing.names().join(", "),
                    &account,
                    &self.client.host,
                    &db,
                    &t.name,
                ));
            }
            let full = format!("{db}.{}", t.name);
            let mut line = |kind: &str, text: &str| {
                g.row(vec![
                    Value::str(full.as_str()),
                    Value::str(name),
                    Value::str(kind),
                    Value::str(text),
                ]);
            };
            let stored = || {
                let catalog = self.instance.database().catalog();
                catalog.table(&db, &t.name).cloned()
            };
            if temporary.is_none()
                && let Some(v) = self.instance.database().catalog().view(&db, &t.name)
            {
                self.maintain_view(op, v, &mut line);
                continue;
            }
            let Some(table) = temporary.or_else(stored) else {
                line("Error", &format!("Table '{full}' doesn't exist"));
                line("status", "Operation failed");
                continue;
            };
            match op {
                Maintenance::Check => match self.check_table(&table) {
                    Ok(problems) if problems.is_empty() => line("status", "OK"),
                    Ok(problems) => {
                        for p in problems {
                            line("error", &p);
                        }
                        line("error", "Corrupt");
                    }
                    // Damage that the reading met.
                    Err(e) if e.code == codes::INDEX_CORRUPT => {
                        line("error", &e.message);
                        line("error", "Corrupt");
                    }
                    Err(e) => {
                        line("Error", &e.message);
                        line("status", "Operation failed");
                    }
                },
                Maintenance::Analyze => match self.analyze_table(&table) {
                    Ok(()) => {
                        if persistent {
                            line("status", "Engine-independent statistics collected");
                        }
                        line("status", "OK");
                    }
                    Err(e) => {
                        line("Error", &e.message);
                        line("status", "Operation failed");
                    }
                },
                Maintenance::Optimize => {
                    line(
                        "note",
                        "Table does not need optimize: the checkpoint reuses free pages",
                    );
                    line("status", "OK");
                }
                Maintenance::Repair => line(
                    "note",
                    "The storage engine for the table doesn't support repair",
                ),
            }
        }
        Ok(g)
    }

    /// The same of a view: it can be read, and that is all there is to it.
    fn maintain_view(&self, op: Maintenance, v: &ViewDef, line: &mut dyn FnMut(&str, &str)) {
        let db = self.instance.database();
        if op != Maintenance::Check {
            let e = view::wrong_kind(&v.db, &v.name, "BASE TABLE");
            line("Error", &e.message);
            line("status", "Operation failed");
            return;
        }
        let tables = Some(&Definitions as &dyn VirtualTables);
        match view::describe(v, db, &db.catalog(), &self.env, tables) {
            Ok(_) => line("status", "OK"),
            Err(e) => {
                line("Error", &e.message);
                line("error", "Corrupt");
            }
        }
    }

    /// A transaction that reads the tables as they are now.
    fn snapshot(&self) -> Transaction {
        let mut txn = self
            .instance
            .database()
            .begin(self.txn_options(Isolation::RepeatableRead, true));
        txn.begin_statement(self.env.timestamp(), None);
        txn.ensure_snapshot();
        txn
    }

    /// Counts the different values of a table's indexes, in one snapshot.
    fn analyze_table(&mut self, table: &Arc<Table>) -> SqlResult<()> {
        let mut txn = self.snapshot();
        let stats = narwal_sql::analyze(&mut txn, table, &self.env)?;
        table.set_stats(stats);
        Ok(())
    }

    /// Reads all of the table from the disk, then compares every secondary index with the rows, in one snapshot.
    fn check_table(&mut self, table: &Arc<Table>) -> SqlResult<Vec<String>> {
        use narwal_engine::{EngineError, KeyRange, ReadView};
        let env = &self.env;
        let go_on = || env.check_interrupt().map_err(EngineError::from);
        let damaged = (self.instance.database()).verify_table(table, go_on)?;
        if !damaged.is_empty() {
            return Ok(damaged.iter().map(|e| e.to_sql().message.into()).collect());
        }
        let mut txn = self.snapshot();
        let mut rows = 0u64;
        // Sum over (index number, key, clustered key) hashes, as the rows say they must be.
        let mut expected = vec![0u64; table.indexes.len()];
        let hash = |key: &[u8], pk: &[u8]| {
            use std::hash::{BuildHasher, Hash, Hasher};
            let mut h = ahash::RandomState::with_seeds(1, 2, 3, 4).build_hasher();
            key.hash(&mut h);
            pk.hash(&mut h);
            h.finish()
        };
        let mut key = Vec::new();
        let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        while let Some(item) = scan.next()? {
            rows += 1;
            if rows.is_multiple_of(1024) {
                self.env.check_interrupt()?;
            }
            for (i, index) in table.indexes.iter().enumerate().skip(1) {
                key.clear();
                narwal_types::key::encode_from_row(
                    &table.layout,
                    item.row,
                    &index.parts,
                    &mut key,
                )?;
                // The clustered key and its length complete a secondary key.
                key.extend_from_slice(item.pk);
                key.extend_from_slice(&(item.pk.len() as u16).to_be_bytes());
                expected[i] = expected[i].wrapping_add(hash(&key, item.pk));
            }
        }
        drop(scan);
        let mut problems = Vec::new();
        for (i, index) in table.indexes.iter().enumerate().skip(1) {
            let (mut n, mut sum) = (0u64, 0u64);
            let mut scan = txn.scan(table, i, KeyRange::all(), false, ReadView::Snapshot, true)?;
            while let Some(item) = scan.next()? {
                n += 1;
                if n.is_multiple_of(1024) {
                    self.env.check_interrupt()?;
                }
                sum = sum.wrapping_add(hash(item.key, item.pk));
            }
            drop(scan);
            if n != rows {
                problems.push(format!(
                    "Index '{}' has {n} entries for {rows} rows",
                    index.name
                ));
            } else if sum != expected[i] {
                problems.push(format!(
                    "Index '{}' does not agree with the rows",
                    index.name
                ));
            }
        }
        Ok(problems)
    }
}

fn maintenance_grid() -> Grid {
    let mut g = Grid::new();
    g.text_null("Table", 387)
        .text_null("Op", 10)
        .text_null("Msg_type", 10)
        .any(
            "Msg_text",
            TypeKind::Text(narwal_types::BlobSize::Medium),
            true,
        );
    g
}

/// Takes the first value of a result.
#[derive(Default)]
struct OneValue(Value);

impl ResultSink for OneValue {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0 = values.first().map(ValueRef::to_value).unwrap_or_default();
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}
