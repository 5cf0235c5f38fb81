//! One statement, from its text to its result.

use crate::access::first_table;
use crate::admin::{AccountStatement, Admin, TransactionStatement};
pub(crate) use crate::clock::unix_micros;
use crate::information_schema::{self, InformationSchema};
use crate::lower::{self, Work};
use crate::open_transaction::Open;
use crate::process::{Command, Stage};
use crate::session::{ClientSession, is_virtual};
use crate::status;
use narwal_engine::Isolation;
use narwal_sql::ast::{AlterAction, DdlStmt, ExplainForm, TableElements};
use narwal_sql::{
    Condition, Needs, Outcome, ParseOptions, Prepared, Privilege, StatementEnv, Stmt,
    VariableSource, WarningLevel, view,
};
use narwal_syntax::Statement;
use narwal_syntax::ast::Select;
use narwal_syntax::ast::SelectItem;
use narwal_syntax::ast::program::{Body, Program};
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{OkInfo, ResultSink, SqlError, SqlResult, TypeKind, Value, errors};
use std::borrow::Cow;
use std::sync::atomic::Ordering;

impl ClientSession {
    /// Starts a statement: counts it, takes its time, clears what belongs to the one before.
    pub(crate) fn begin_statement(&mut self, counter: usize, keep_diagnostics: bool) {
        narwal_types::work::watch(&self.process.interrupt);
        let c = &self.process.counters;
        c.add(status::QUESTIONS, 1);
        c.add(counter, 1);
        self.env.end_use();
        if self.in_program == 0 {
            self.env.trace.borrow_mut().clear();
            self.env.more_errors.borrow_mut().clear();
        }
        if self.vars.changed_inside.load(Ordering::Relaxed) {
            self.vars.changed_inside.store(false, Ordering::Relaxed);
            self.follow_programs();
        }
        if keep_diagnostics {
            self.inherited = self.env.conditions().len();
            self.env.row_number.set(0);
        } else {
            self.inherited = 0;
            self.env.clear_conditions();
        }
        self.look_at_the_clock();
        self.vars
            .facts
            .now_micros
            .store(self.env.now_micros, Ordering::Relaxed);
        if self.internal {
            // Appliers have threads for many sessions' rows, and no commands that begin and end.
            narwal_memory::keep(0);
        }
        if self.settings.statement_time_micros > 0 && self.in_program == 0 {
            self.process.deadline.store(
                self.instance.processes.now() + self.settings.statement_time_micros,
                Ordering::Release,
            );
        }
    }

    /// Takes over what functions and triggers have set, and the temporary tables that they have made.
    fn follow_programs(&mut self) {
        self.text_plans.clear();
        self.refresh_settings();
        let role = self.vars.role_inside.lock().take();
        if let Some(role) = role {
            self.enable_role(role.as_deref());
        }
        if let Some(t) = self.programs.take_temporary() {
            self.env.temporary = Some(t);
            // It does not know of them.
            self.tx.reader = None;
        }
        if self.env.temporary.is_some() {
            // Names may mean other tables now.
            self.plan_generation += 1;
        }
    }

    /// A command begins, and others see its text.
    pub(crate) fn begin_command(&self, command: Command, text: &[u8]) {
        // Before the text is seen: a KILL of who has seen it is for this command.
        self.forget_old_kill();
        let now = self.instance.processes.now();
        self.process.begin(command, text, now);
    }

    /// A KILL QUERY that came when nothing ran is void, and so is the end of an earlier statement's time. A KILL CONNECTION is
    /// not, nor what stops an applier.
    pub(crate) fn forget_old_kill(&self) {
        if !self.internal
            && self.in_program == 0
            && self.process.interrupt.load(Ordering::Relaxed)
            && !self.process.killed.load(Ordering::Relaxed)
        {
            self.process.interrupt.store(false, Ordering::Relaxed);
            self.process.kill_flag.new_statement();
            self.process.timed_out.store(false, Ordering::Relaxed);
        }
    }

    /// Ends a failed statement: its error goes into the diagnostics area, its number may be changed.
    pub(crate) fn fail<T>(&mut self, mut e: SqlError) -> SqlResult<T> {
        // The statement may itself have changed max_statement_time: the deadline is what counts.
        if self.in_program == 0 {
            self.process.deadline.store(0, Ordering::Release);
        }
        if e.code == codes::QUERY_INTERRUPTED && self.process.killed.load(Ordering::Relaxed) {
            e = errors::CONNECTION_KILLED.plain();
        } else if e.code == codes::QUERY_INTERRUPTED
            && self.process.timed_out.swap(false, Ordering::SeqCst)
        {
            self.process.counters.add(status::STATEMENT_TIMEOUTS, 1);
            e = errors::STATEMENT_TIMEOUT.plain();
        }
        self.take_inherited();
        self.env
            .push_condition(WarningLevel::Error, e.code, e.message.clone());
        self.env.push_trace();
        self.give_up_name();
        self.env.row_count = -1;
        self.publish_results();
        Err(e)
    }

    /// Now is what the clock says, or what `timestamp` was set to.
    pub(crate) fn look_at_the_clock(&mut self) {
        let fixed = self.vars.facts.fixed_micros.load(Ordering::Relaxed);
        self.env.now_micros = if fixed != 0 { fixed } else { unix_micros() };
    }

    /// Takes the conditions of the statement before out of the diagnostics area; the statement's own stay.
    pub(crate) fn take_inherited(&mut self) -> Vec<Condition> {
        let count = std::mem::take(&mut self.inherited);
        if count == 0 {
            return Vec::new();
        }
        let mut earlier = self.env.conditions().clone();
        self.clears = self.env.clears.get();
        self.env.clear_conditions();
        for c in earlier.split_off(count.min(earlier.len())) {
            self.env.push(c);
        }
        earlier
    }

    /// Puts conditions in front of those that there are, as if they had never gone. `clears`: what was counted with them.
    pub(crate) fn add_to(&mut self, earlier: Vec<Condition>, clears: u64) {
        if earlier.is_empty() {
            return;
        }
        let own = self.env.conditions().clone();
        self.env.clear_conditions();
        for c in earlier.into_iter().chain(own) {
            self.env.push(c);
        }
        self.env.clears.set(clears);
    }

    /// Puts them back, unless the statement has conditions of its own.
    pub(crate) fn leave_inherited(&mut self, earlier: Vec<Condition>) {
        if self.env.warning_count() == 0 {
            self.inherited = earlier.len();
            if !earlier.is_empty() {
                // As if they had never gone.
                self.env.clears.set(self.clears);
            }
            for c in earlier {
                self.env.push(c);
            }
        }
    }

    /// Conditions of this statement alone: what its OK or EOF packet reports.
    fn own_warnings(&self) -> u16 {
        if self.inherited > 0 {
            return 0;
        }
        u16::try_from(self.env.warning_count()).unwrap_or(u16::MAX)
    }

    /// Makes the statement's results visible to variables of the next one.
    pub(crate) fn publish_results(&mut self) {
        let warnings = self.env.warning_count();
        let errors = if warnings == 0 {
            0
        } else {
            self.env
                .conditions()
                .iter()
                .filter(|c| c.level == WarningLevel::Error)
                .count() as u64
        };
        self.vars.tell_conditions(warnings, errors);
        self.vars
            .facts
            .last_insert_id
            .store(self.env.last_insert_id, Ordering::Relaxed);
        self.vars
            .facts
            .in_transaction
            .store(self.tx.open.is_some(), Ordering::Relaxed);
    }

    pub(crate) fn end_success(&mut self) {
        if self.in_program == 0 && self.process.deadline.load(Ordering::Relaxed) != 0 {
            self.process.deadline.store(0, Ordering::Release);
        }
        self.publish_results();
    }

    /// Ends a statement without a result set.
    pub(crate) fn finish_ok(
        &mut self,
        affected: u64,
        last_insert_id: u64,
        info: String,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.env.row_count = affected as i64;
        self.end_success();
        if self.track.due {
            self.announce(out);
        }
        out.ok(
            &OkInfo {
                affected_rows: affected,
                last_insert_id,
                warnings: self.own_warnings(),
                info,
            },
            self.status_flags(),
            more,
        )
    }

    /// Ends a statement whose rows have been sent.
    pub(crate) fn finish_rows(
        &mut self,
        rows: u64,
        found_rows: u64,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.env.row_count = -1;
        self.env.found_rows = found_rows;
        let counters = &self.process.counters;
        counters.add(status::ROWS_SENT, rows);
        counters.add(status::EMPTY_QUERIES, u64::from(rows == 0));
        self.end_success();
        if self.track.due {
            self.track.sent_rows();
            self.announce(out);
        }
        out.end_rows(self.own_warnings(), self.status_flags(), more)
    }

    /// What the parser must know.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            sql_mode: self.env.sql_mode,
            if_exists: self.settings.if_exists,
        }
    }

    /// Parses a statement of those that narwal-sql runs.
    pub(crate) fn parse(&self, text: &str) -> SqlResult<Stmt> {
        narwal_sql::parse_statement(text, &self.parse_options())
    }

    /// Binds, plans and checks privileges.
    pub(crate) fn plan(&mut self, stmt: &Stmt, text: &str) -> SqlResult<Prepared> {
        let catalog = self.instance.database().catalog();
        // Virtual tables show what the account may see now.
        self.account();
        let db = self.instance.database();
        (self.programs.store).see_tables(|| information_schema::of_programs(self.view()));
        let virtual_tables = InformationSchema(self);
        let plan = Prepared::new(stmt, text, db, &catalog, &self.env, Some(&virtual_tables));
        let plan = match plan {
            Ok(p) => p,
            Err(e) => {
                if self.stores_system_table(stmt, &e)? {
                    return self.plan(stmt, text);
                }
                if let Some(refused) = self.writes_measured(stmt, &e) {
                    return Err(refused);
                }
                // Who may not read a view is not told what is wrong with it.
                if e.code == codes::VIEW_INVALID
                    && let Stmt::Select(_) = stmt
                    && let Some((db, view)) = first_table(stmt, &self.env)
                {
                    self.check_reads(&db, &view)?;
                }
                // An account that may not see a table is not told whether it exists.
                if matches!(
                    e.code,
                    codes::NO_SUCH_TABLE | codes::BAD_FIELD_ERROR | codes::BAD_DB_ERROR
                ) && let Some((db, table)) = first_table(stmt, &self.env)
                {
                    if is_virtual(&db) {
                        return Err(e);
                    }
                    self.check_sees_table(&db, &table)?;
                }
                return Err(e);
            }
        };
        if let Stmt::Explain(..) = stmt {
            self.check_explainable(plan.needs())?;
        }
        let by_column = self.missing_for(stmt, plan.needs())? | self.check_columns_read(stmt)?;
        if by_column {
            self.check_columns(|s| {
                let db = s.instance.database();
                let virtual_tables = InformationSchema(s);
                Prepared::new(stmt, text, db, &catalog, &s.env, Some(&virtual_tables)).map(drop)
            })?;
        }
        Ok(plan)
    }

    pub(crate) fn run_text(
        &mut self,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        if let Err(e) = self.rights.count_query() {
            return self.refuse(e);
        }
        if self.rights.must_change_password {
            if let Err(e) = self.check_sandbox(text) {
                return self.refuse(e);
            }
        } else if let Some(r) = self.run_by_shape(text, out, more) {
            return r;
        }
        if let Err(e) = self.names_are_text(text) {
            return self.refuse(e);
        }
        match narwal_syntax::parse_text(text, &self.parse_options()) {
            Ok(statement) => self.dispatch(statement, text, out, more),
            // Comments alone, and what is only for newer servers, are nothing to do; no text at all is an error.
            Err(e) if e.code == codes::EMPTY_QUERY && !text.is_empty() => {
                self.begin_statement(status::ADMIN_COMMANDS, false);
                self.finish_ok(0, 0, String::new(), out, more)
            }
            Err(e) => self.refuse(e),
        }
    }

    /// The answer to a text that does not run.
    fn refuse(&mut self, e: SqlError) -> SqlResult<()> {
        self.begin_statement(status::ADMIN_COMMANDS, false);
        self.env.row_number.set(1);
        self.fail(e)
    }

    /// Runs a statement: the one table from what the parser gives to those who do it.
    pub(crate) fn dispatch(
        &mut self,
        statement: Statement,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        if self.calls_out_functions(&statement) {
            let body = Body::Statement(Box::new(statement), 0..text.len());
            return self.run_program(Program::Compound(body), text, out, more);
        }
        let work = match lower::work(statement, &self.parse_options()) {
            Ok(w) => w,
            Err(e) => return self.refuse(e),
        };
        match work {
            Work::Settings {
                settings,
                statement,
                text: own,
            } => {
                let text = if own.is_empty() { text } else { &own };
                self.run_with_settings(&settings, *statement, text, out, more)
            }
            Work::Admin(admin) => self.run_admin(&admin, out, more),
            Work::Program(p) => self.run_program(*p, text, out, more),
            Work::DropProgram(kind, d) => self.drop_program(kind, &d, text, out, more),
            Work::AlterRoutine(a) => self.alter_routine(&a, text, out, more),
            Work::Sql(stmt) => self.run_stmt(&stmt, text, out, more),
        }
    }

    /// Runs a statement of narwal-sql's.
    fn run_stmt(
        &mut self,
        stmt: &Stmt,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let counter = status::counter(stmt.counter());
        self.begin_statement(counter, keeps_diagnostics(stmt));
        if let Stmt::Ddl(d) = stmt {
            return self.run_ddl(d, text, out, more);
        }
        if let Stmt::SelectInto(s) = stmt {
            return self.select_into(s, text, out, more);
        }
        let plan = match self.plan(stmt, text) {
            Ok(p) => p,
            Err(e) => {
                if self.changes_nothing_measured(stmt, &e) {
                    return self.finish_ok(0, 0, String::new(), out, more);
                }
                return match self.writes_grants(stmt, &e) {
                    Some(table) => self.write_grants(table, stmt, text, out, more),
                    None => self.fail(e),
                };
            }
        };
        if plan.calls_stored() {
            // As if they opened tables.
            self.take_inherited();
        }
        if let Stmt::Explain(inner, ExplainForm::Extended) = stmt {
            self.note_in_full(inner);
        }
        if let Stmt::LoadData(l) = stmt {
            match self.load_input(l, out) {
                Ok(input) => *self.env.input.borrow_mut() = input,
                Err(e) => return self.fail(e),
            }
        }
        let from = Source::Text(stmt);
        self.run_plan(&plan, from, stmt.writes(), text, &[], out, more)
    }

    /// EXPLAIN EXTENDED: a note tells the SELECT with all its names in full.
    fn note_in_full(&mut self, stmt: &Stmt) {
        let Stmt::Select(select) = stmt else { return };
        let db = self.instance.database();
        let tables = InformationSchema(self);
        let catalog = db.catalog();
        let text = view::select_in_full(select, db, &catalog, &self.env, Some(&tables));
        if let Ok(text) = text {
            self.env.note(codes::YES, text);
        }
    }

    /// Of a session whose password has expired: SET may run, and SET PASSWORD for itself. Text that is not a statement is
    /// told so first.
    pub(crate) fn check_sandbox(&mut self, text: &str) -> SqlResult<()> {
        if trim(text).is_empty() {
            return Ok(());
        }
        let options = self.parse_options();
        let statement = narwal_syntax::parse_statement(text, &options)?;
        let Work::Admin(admin) = lower::work(statement, &options)? else {
            return self.rights.refuse_expired();
        };
        match *admin {
            Admin::Set(_) | Admin::Transaction(TransactionStatement::Set { .. }) => Ok(()),
            Admin::Account(AccountStatement::SetPassword { user, .. })
                if self.names_own_account(&user) =>
            {
                Ok(())
            }
            _ => self.rights.refuse_expired(),
        }
    }

    /// Plans a statement again whose table changed between its plan and its first touch.
    fn plan_again(&mut self, from: &Source<'_>, text: &str) -> SqlResult<Prepared> {
        match from {
            Source::Text(stmt) => self.plan(stmt, text),
            Source::Shape(stmt, values) => self.plan_with_slots(stmt, text, values),
            Source::Handle(handle) => self.plan_slot(*handle, text),
            Source::Typed(stmt, types) => {
                let stmt = narwal_program::with_params(stmt, types.len());
                self.plan_typed(&stmt, text, types)
            }
        }
    }

    /// Runs a planned statement in the open transaction, or in one of its own.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn run_plan(
        &mut self,
        plan: &Prepared,
        from: Source<'_>,
        writes: bool,
        text: &str,
        params: &[Value],
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.process.stage(Stage::Executing);
        if plan.writes_stored()
            && let Some(answer) = self.passed_over(false, out, more)
        {
            return answer;
        }
        if let Err(e) = self.may_run(plan, writes) {
            return self.fail(e);
        }
        self.process.stage(Stage::Executing);
        let opens = !plan.is_tableless();
        // What a function writes goes with the statement, if that fails.
        let tableless = !opens && !plan.calls_stored();
        let mut earlier = self.take_inherited();
        if opens {
            earlier.clear();
        }
        let mut kept = self.tx.open.is_some() || (!self.settings.autocommit && opens);
        // Of all options only those matter to it that stay the same as long as the session lives.
        let only_reads = !kept && plan.is_read_only() && self.tx.next.is_as_usual();
        let mut open = match self.tx.open.take() {
            Some(o) => o,
            None => match self.tx.reader.take_if(|_| only_reads) {
                Some(o) => o,
                None => self.begin_transaction(None),
            },
        };
        // A SELECT that is a transaction of its own reads a snapshot, as in InnoDB: that is serializable.
        self.env.locking_reads = (kept || writes) && open.isolation == Isolation::Serializable;
        if !tableless {
            let annotate = (writes && self.settings.annotate).then_some(text.as_bytes());
            open.txn.begin_statement(self.env.timestamp(), annotate);
        }
        let mut r = narwal_sql::execute(
            plan,
            params,
            &mut open.txn,
            self.instance.database(),
            &mut self.env,
            out,
        );
        if matches!(&r, Err(e) if e.code == codes::TABLE_DEF_CHANGED) && !plan.consumes_input() {
            r = self.run_again(&from, writes, text, params, &mut open, out);
        }
        if self.logs_statements() && plan.writes_stored() {
            r = r.and_then(|done| self.log_statement(text, &mut open.txn, done));
        }
        // Without tables only a function can have written: what it wrote waits for COMMIT as well.
        kept |= !self.settings.autocommit && !open.txn.is_read_only();
        if kept && !tableless {
            // The transaction stays open: readers that lock ranges see what it wrote.
            r = r.and_then(|done| Ok(open.txn.settle_writes().map(|()| done)?));
        }
        let outcome = match r {
            // SLEEP() ends early when its statement is killed; the statement fails all the same.
            Ok(_) if self.process.interrupt.load(Ordering::Relaxed) => {
                if !tableless {
                    open.txn.rollback_statement();
                }
                if kept {
                    self.tx.open = Some(open);
                }
                return self.fail(errors::QUERY_INTERRUPTED.plain());
            }
            Ok(outcome) => {
                if !tableless {
                    open.txn.end_statement();
                }
                outcome
            }
            Err(e) => return self.statement_failed(e, open, kept, tableless),
        };
        if kept {
            self.tx.open = Some(open);
            if self.track.due && !tableless {
                self.track.touched(plan.reads_tables(), writes);
            }
        } else if !open.txn.is_read_only() || open.txn.changed_temporary() {
            self.process.stage(Stage::Commit);
            self.late
                .next_is_last(!more && matches!(outcome, Outcome::Done { .. }));
            if let Err(e) = self.commit_transaction(open.txn) {
                return self.fail(e);
            }
        } else {
            self.has_read(open, only_reads, !tableless && plan.reads_tables());
        }
        self.leave_inherited(earlier);
        self.finish_plan(outcome, out, more)
    }

    /// A transaction of its own that has only read comes to its end, which nobody waits for. `again`: the next statement may have
    /// it. `tables`: it has read some.
    #[inline]
    fn has_read(&mut self, mut open: Box<Open>, again: bool, tables: bool) {
        self.process.counters.add(status::COMMITS, tables.into());
        if again && open.txn.renew() {
            self.tx.reader = Some(open);
        }
    }

    /// What keeps a planned statement from running: read-only servers and transactions, LOCK TABLES, an XA branch behind
    /// its end.
    #[inline]
    fn may_run(&mut self, plan: &Prepared, writes: bool) -> SqlResult<()> {
        if let Some(open) = &mut self.tx.open {
            open.txn.set_lock_wait(self.settings.lock_wait_timeout);
        }
        if self.logs_statements() {
            self.check_repeatable(plan)?;
        }
        if plan.writes_stored() {
            self.check_writable()?;
            self.wait_for_read_lock()?;
        }
        if plan.locks_for_update() {
            self.refuse_in_stages()?;
            self.refuse_under_read_only()?;
        }
        if plan.reads_handler() {
            self.refuse_handler_under_locks()?;
        }
        match plan.table_patience() {
            None => self.check_table_locks(plan.needs())?,
            Some(own) => {
                let timeout = std::mem::replace(&mut self.settings.table_lock_timeout, own);
                let free = self.check_table_locks(plan.needs());
                self.settings.table_lock_timeout = timeout;
                free?;
            }
        }
        if self.locks.tables.is_some() {
            self.check_locked_for_update(plan)?;
        }
        if self.tx.xa.is_some() && !plan.needs().is_empty() {
            self.refuse_behind_xa_end()?;
        }
        match writes {
            true => self.rights.count_update(),
            false => Ok(()),
        }
    }

    /// Runs a statement anew: a DDL statement came between its plan and the table's definition lock. The lock is held now,
    /// so the newest definition stays. Nothing was written or sent yet.
    #[cold]
    fn run_again(
        &mut self,
        from: &Source<'_>,
        writes: bool,
        text: &str,
        params: &[Value],
        open: &mut Open,
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let mut tries = 0;
        loop {
            tries += 1;
            open.txn.rollback_statement();
            let fresh = self.plan_again(from, text)?;
            let annotate = (writes && self.settings.annotate).then_some(text.as_bytes());
            open.txn.begin_statement(self.env.timestamp(), annotate);
            let r = narwal_sql::execute(
                &fresh,
                params,
                &mut open.txn,
                self.instance.database(),
                &mut self.env,
                out,
            );
            if tries == 3 || !matches!(&r, Err(e) if e.code == codes::TABLE_DEF_CHANGED) {
                return r;
            }
        }
    }

    /// Ends a planned statement that failed. What was `kept` open stays so, unless the error ends the whole transaction.
    #[cold]
    fn statement_failed(
        &mut self,
        e: SqlError,
        mut open: Box<Open>,
        kept: bool,
        tableless: bool,
    ) -> SqlResult<()> {
        self.process.stage(Stage::Rollback);
        if rolls_back_transaction(e.code) {
            // A deadlock's victim and the loser of a write conflict lose the whole transaction.
            open.txn.rollback();
            self.tx.explicit = false;
            self.process.counters.add(status::ROLLBACKS, 1);
            self.xa_lost(e.code);
        } else {
            if !tableless {
                open.txn.rollback_statement();
            }
            if kept {
                self.tx.open = Some(open);
            }
        }
        self.fail(e)
    }

    /// Answers a planned statement that has done its work.
    #[inline]
    fn finish_plan(
        &mut self,
        outcome: Outcome,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let set = self.env.last_insert_id_set.take();
        self.env.fresh_insert_id.settle(outcome.given_id());
        match outcome {
            Outcome::Rows { rows, found_rows } => {
                if let Some(id) = set {
                    self.env.last_insert_id = id;
                }
                self.finish_rows(rows, found_rows, out, more)
            }
            Outcome::Returned {
                rows,
                last_insert_id,
            } => {
                if last_insert_id != 0 {
                    self.env.last_insert_id = last_insert_id;
                } else if let Some(id) = set {
                    self.env.last_insert_id = id;
                }
                rows.send(out)?;
                self.finish_rows(rows.rows(), rows.rows(), out, more)
            }
            Outcome::Done {
                affected,
                last_insert_id,
                info,
            } => {
                let mut reported = last_insert_id;
                if last_insert_id != 0 {
                    self.env.last_insert_id = last_insert_id;
                } else if let Some(id) = set {
                    self.env.last_insert_id = id;
                    reported = id;
                } else {
                    // A value that the statement gave itself is reported, but LAST_INSERT_ID() does not see it.
                    reported = self.env.explicit_insert_id.get();
                }
                if let Some(n) = self.env.selected_rows.take() {
                    self.env.found_rows = n;
                }
                self.finish_ok(affected, reported, info, out, more)
            }
        }
    }

    /// Plans the SELECT of a CREATE TABLE, all of whose rows go into the table whatever `sql_select_limit` says.
    fn plan_whole(&mut self, select: Box<Select>, text: &str) -> SqlResult<Prepared> {
        let limit = std::mem::replace(&mut self.env.select_limit, u64::MAX);
        let plan = self.plan(&Stmt::Select(select), text);
        self.env.select_limit = limit;
        plan
    }

    pub(crate) fn run_ddl(
        &mut self,
        ddl: &DdlStmt,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        if let Some(answer) = self.passed_over(true, out, more) {
            return answer;
        }
        let earlier = self.take_inherited();
        let follow = self.before_definition(ddl);
        let done = self
            .rights
            .count_update()
            .and_then(|()| self.ddl(ddl, text));
        if done.is_ok() {
            self.leave_inherited(earlier);
            if let Some(f) = follow {
                self.after_definition(&f);
            }
        }
        match done {
            Ok(Outcome::Done { affected, info, .. }) => {
                if let DdlStmt::DropTable { .. } = ddl {
                    self.release_locks_of_dropped();
                }
                if !self.env.handlers.is_empty() {
                    self.close_handlers_of(ddl);
                }
                if let Some(n) = self.env.selected_rows.take() {
                    self.env.found_rows = n;
                }
                self.finish_ok(affected, 0, info, out, more)
            }
            Ok(Outcome::Rows { rows, found_rows }) => self.finish_rows(rows, found_rows, out, more),
            Ok(Outcome::Returned { rows, .. }) => {
                rows.send(out)?;
                self.finish_rows(rows.rows(), rows.rows(), out, more)
            }
            Err(e) => self.fail(e),
        }
    }

    pub(crate) fn ddl(&mut self, ddl: &DdlStmt, text: &str) -> SqlResult<Outcome> {
        let mut needs = narwal_sql::ddl_needs(ddl, &self.env)?;
        self.check_needs(&needs)?;
        if let Some(done) = self.define_measured(ddl, &needs)? {
            return Ok(done);
        }
        let settled;
        let ddl = match ddl {
            DdlStmt::CreateView(v) => {
                let (v, reads) = self.settle_view(v)?;
                needs.extend(reads);
                settled = DdlStmt::CreateView(Box::new(v));
                &settled
            }
            d => d,
        };
        let select = match ddl {
            DdlStmt::CreateTable(c) => c.select.clone(),
            _ => None,
        };
        let select = select.map(|s| self.plan_whole(s, text)).transpose()?;
        let temporary = narwal_sql::is_temporary_ddl(ddl, &self.env);
        if ddl.keeps_transaction() {
            self.enter_temporary()?;
        } else {
            self.implicit_commit()?;
        }
        if let Some(s) = &select {
            self.check_table_locks(s.needs())?;
        }
        if self.locks.tables.is_some() {
            self.may_define_under_locks(ddl)?;
        }
        let instance = self.instance.clone();
        let _permits = if temporary {
            // They are the session's own, but their definitions count as the others' do.
            self.refuse_in_read_only_session()?;
            None
        } else {
            self.check_ddl_writable()?;
            // LOCK TABLES need not name what a table is to be called.
            let old_name =
                |n: &&Needs| !matches!(n.privilege, Privilege::Create | Privilege::Insert);
            let old = match ddl {
                DdlStmt::AlterTable { .. } => {
                    Cow::Owned(needs.iter().filter(old_name).cloned().collect())
                }
                _ => Cow::Borrowed(&needs[..]),
            };
            self.check_table_locks(&old)?;
            self.refuse_under_read_lock()?;
            let changed = changed_names(&needs, &self.env)?;
            let defining = self.enter_definition(&instance, changed)?;
            Some((defining, instance.read_lock.enter(true, &self.patience())?))
        };
        self.process.stage(Stage::Ddl);
        let defined = match temporary {
            true => Vec::new(),
            false => self.bring_out(ddl, &needs)?,
        };
        let mut options = self.txn_options(self.settings.isolation, false);
        if self.says_moments(ddl) {
            options.time_zone = Some(self.session_text("time_zone").into());
        }
        self.env.locking_reads =
            select.is_some() && self.settings.isolation == Isolation::Serializable;
        let outcome = narwal_sql::execute_ddl_with(
            ddl,
            text,
            self.instance.database(),
            &options,
            &self.env,
            select.as_ref(),
            self.tx.open.as_mut().map(|o| &mut o.txn),
        );
        if self.env.temporary.is_some() {
            // Names mean other tables now.
            self.plan_generation += 1;
            self.programs.temporary_changed();
        }
        let written = self.env.gtid_written.take();
        self.note_gtid(written.unwrap_or_default());
        let taken = self.settle_defined(&defined);
        let outcome = outcome?;
        taken?;
        if let DdlStmt::DropDatabase { name, .. }
        | DdlStmt::CreateDatabase {
            or_replace: true,
            name,
            ..
        } = ddl
            && self.env.db.as_deref() == Some(name.as_str())
        {
            self.set_db(None);
        }
        Ok(outcome)
    }
}

impl ClientSession {
    /// What a definition says of moments depends on the time zone: the constants that are a TIMESTAMP's DEFAULT, and the rows of
    /// an ALTER TABLE that gives a TIMESTAMP another type, or another column that one.
    fn says_moments(&self, ddl: &DdlStmt) -> bool {
        let is = |kind: TypeKind| matches!(kind, TypeKind::Timestamp(_));
        let any = |e: &TableElements| e.columns.iter().any(|c| is(c.def.ty.kind));
        let (table, actions) = match ddl {
            DdlStmt::CreateTable(c) => return any(&c.elements),
            DdlStmt::AlterTable { table, actions, .. } => (table, actions),
            _ => return false,
        };
        let catalog = self.instance.database().catalog();
        let db = table.db.as_deref().or(self.env.db.as_deref());
        let old = db.and_then(|db| catalog.table(db, &table.name));
        let was = |column: &str| {
            let column = old.and_then(|t| Some(&t.columns()[t.column(column)?]));
            column.is_some_and(|c| is(c.ty.kind))
        };
        actions.iter().any(|a| match a {
            AlterAction::Add { elements, .. } => any(elements),
            AlterAction::Change {
                column, elements, ..
            } => was(column) || any(elements),
            AlterAction::SetDefault { column, .. } => was(column),
            _ => false,
        })
    }

    /// Before CREATE and DROP TEMPORARY TABLE: an open transaction goes on, and lends its rows of temporary tables.
    fn enter_temporary(&mut self) -> SqlResult<()> {
        if self.tx.open.as_ref().is_some_and(|o| o.read_only) {
            return Err(crate::access::read_only_transaction());
        }
        let tables = self.env.temporary.get_or_insert_with(|| {
            // It does not know of them.
            self.tx.reader = None;
            Default::default()
        });
        if let Some(o) = &mut self.tx.open {
            o.txn.set_temporary(tables);
            o.txn.lend_temporary();
        }
        Ok(())
    }
}

/// The tables whose definitions a DDL statement changes; a database has no table's name.
fn changed_names(needs: &[Needs], env: &StatementEnv) -> SqlResult<Vec<(String, String)>> {
    let mut names: Vec<(String, String)> = Vec::new();
    for n in needs.iter().filter(|n| n.privilege != Privilege::Select) {
        // What is needed on one table mostly stands together.
        if (names.last()).is_none_or(|(db, table)| (db, table) != (&n.db, &n.table)) {
            env.check_interrupt()?;
            names.push((n.db.clone(), n.table.clone()));
        }
    }
    Ok(names)
}

/// Where a plan comes from, to make it anew.
pub(crate) enum Source<'a> {
    /// Statement text.
    Text(&'a Stmt),
    /// Statement text without the literals that are slots, and their values.
    Shape(&'a Stmt, &'a [Value]),
    /// A prepared statement.
    Handle(u32),
    /// A statement of a stored program, whose parameters have these types.
    Typed(&'a Stmt, &'a [narwal_sql::ParamType]),
}

pub(crate) fn table_changed() -> SqlError {
    errors::TABLE_DEF_CHANGED.plain()
}

pub(crate) fn empty_query() -> SqlError {
    errors::EMPTY_QUERY.plain()
}

/// Errors after which the whole transaction is gone.
pub(crate) fn rolls_back_transaction(code: u16) -> bool {
    matches!(code, codes::LOCK_DEADLOCK | codes::CHECKREAD)
}

/// True for statements that open no table, such as a SELECT without FROM: unless one has conditions of its own, those of the statement before stay, so that
/// `SELECT @@warning_count` can see them.
pub(crate) fn keeps_diagnostics(stmt: &Stmt) -> bool {
    // In MySQL every statement begins with none.
    match stmt {
        Stmt::Select(s) if is_mysql() => s.from.is_none() && counts_conditions(s),
        _ if is_mysql() => false,
        Stmt::Select(s) | Stmt::Do(s) => s.from.is_none(),
        Stmt::Explain(inner, _) => keeps_diagnostics(inner),
        Stmt::Ddl(d) => matches!(
            **d,
            DdlStmt::CreateDatabase { .. } | DdlStmt::DropDatabase { .. }
        ),
        _ => false,
    }
}

/// True if a SELECT asks how many conditions the statement before had.
fn counts_conditions(s: &narwal_syntax::ast::Select) -> bool {
    let counts = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.contains("warning_count") || name.contains("error_count")
    };
    let item = |i: &SelectItem| matches!(i, SelectItem::Expr { text, .. } if counts(text));
    s.items.iter().any(item)
}

pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0' || c == '\u{b}')
}

/// A statement's text. Raw bytes in string literals become hexadecimal, elsewhere they are error 1300.
pub(crate) fn utf8(sql: &[u8], no_backslash: bool) -> SqlResult<Cow<'_, str>> {
    let e = match std::str::from_utf8(sql) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(e) => e,
    };
    if let Some(text) = crate::raw_literals::to_hex(sql, no_backslash) {
        return Ok(Cow::Owned(text));
    }
    // A literal that does not end is an error of its syntax, which is told where the text is parsed.
    if crate::raw_literals::is_open(sql, no_backslash) {
        return Ok(String::from_utf8_lossy(sql));
    }
    let bad = &sql[e.valid_up_to()..];
    let shown: String = bad.iter().take(6).map(|b| format!("\\x{b:02X}")).collect();
    Err(errors::INVALID_CHARACTER_STRING.with([&"utf8mb4", &shown]))
}
