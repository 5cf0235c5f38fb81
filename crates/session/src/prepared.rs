//! Prepared statements.

use crate::admin::Admin;
use crate::admin_parse;
use crate::lex::LexOptions;
use crate::process::Command;
use crate::session::ClientSession;
use crate::statement::{Source, empty_query, keeps_diagnostics, trim, unwrap, utf8};
use crate::status;
use narwal_sql::ast::DdlStmt;
use narwal_sql::{Prepared, SqlMode, Stmt};
use narwal_types::{ResultColumn, ResultSink, SqlError, SqlResult, ValueRef};
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
}

/// A prepared statement.
pub(crate) struct Slot {
    pub(crate) text: Arc<str>,
    /// Default database when it was prepared.
    pub(crate) db: Option<Arc<str>>,
    pub(crate) kind: SlotKind,
}

pub(crate) enum SlotKind {
    Sql {
        stmt: Arc<Stmt>,
        plan: Arc<Prepared>,
        counter: usize,
        writes: bool,
        keeps_diagnostics: bool,
        /// `plan_generation` of the session when it was planned.
        generation: u64,
    },
    Ddl(Arc<DdlStmt>, usize),
    Admin(Arc<Admin>),
}

impl ClientSession {
    /// Parses and plans a statement.
    pub fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let now = self.instance.processes.now();
        self.process.begin(Command::Prepare, sql, now);
        self.begin_statement(status::STMT_PREPARE, false);
        let r = self.prepare_text(sql);
        self.process.end(self.instance.processes.now());
        match r {
            Ok(i) => Ok(i),
            Err(e) => self.fail(e),
        }
    }

    pub(crate) fn prepare_text(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let max = self
            .instance
            .global_value("max_prepared_stmt_count")
            .as_u64();
        if self.instance.prepared_statements.load(Ordering::Relaxed) >= max {
            return Err(SqlError::new(
                1461,
                b"42000",
                format!(
                    "Can't create more than max_prepared_stmt_count statements (current value: {max})"
                ),
            ));
        }
        let text = utf8(sql, self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES))?;
        let text = trim(trim(&text).trim_end_matches(';'));
        if text.is_empty() {
            return Err(empty_query());
        }
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        if text.contains(';') && narwal_sql::split_statements(text, no_backslash).len() > 1 {
            return Err(crate::lex::syntax_near(text, text.find(';').unwrap_or(0)));
        }
        let code = unwrap(text, no_backslash);
        let (kind, params, columns) = if admin_parse::is_admin(&code) {
            if has_placeholder(&code, self.lex_options()) {
                return Err(SqlError::unsupported(
                    "parameters in statements other than SELECT, INSERT, REPLACE, UPDATE, DELETE and DO",
                ));
            }
            let admin = admin_parse::parse(&code, self.lex_options())?;
            if matches!(admin, Admin::Prepared(_)) {
                return Err(crate::sql_prepared::not_preparable());
            }
            let columns = self.admin_columns(&admin)?;
            (SlotKind::Admin(Arc::new(admin)), 0, columns)
        } else {
            let stmt = self.parse(&code)?;
            if matches!(stmt, Stmt::LoadData(_)) {
                return Err(SqlError::unsupported("LOAD DATA as a prepared statement"));
            }
            let counter = status::index(stmt.counter()).unwrap_or(status::ADMIN_COMMANDS);
            if let Stmt::Ddl(d) = stmt {
                (SlotKind::Ddl(Arc::new(*d), counter), 0, Vec::new())
            } else {
                let plan = self.plan(&stmt, text)?;
                let (params, columns) = (plan.params(), plan.columns().to_vec());
                (
                    SlotKind::Sql {
                        counter,
                        writes: stmt.writes(),
                        keeps_diagnostics: keeps_diagnostics(&stmt),
                        generation: self.plan_generation,
                        stmt: Arc::new(stmt),
                        plan: Arc::new(plan),
                    },
                    params,
                    columns,
                )
            }
        };
        let params = u16::try_from(params).map_err(|_| {
            SqlError::new(
                1390,
                b"HY000",
                "Prepared statement contains too many placeholders",
            )
        })?;
        self.last_handle = self.last_handle.wrapping_add(1).max(1);
        self.instance
            .prepared_statements
            .fetch_add(1, Ordering::Relaxed);
        self.prepared.insert(
            self.last_handle,
            Slot {
                text: text.into(),
                db: self.env.db.clone(),
                kind,
            },
        );
        Ok(PreparedInfo {
            handle: self.last_handle,
            params,
            columns,
        })
    }

    /// Runs a prepared statement with as many parameters as it has.
    pub fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let Some(slot) = self.prepared.get(&handle) else {
            return Err(SqlError::new(
                1243,
                b"HY000",
                format!(
                    "Unknown prepared statement handler ({handle}) given to mysqld_stmt_execute"
                ),
            ));
        };
        let text = slot.text.clone();
        let now = self.instance.processes.now();
        self.process.begin(Command::Execute, text.as_bytes(), now);
        self.process.counters.add(status::STMT_EXECUTE, 1);
        let r = self.execute_slot(handle, &text, params, out, false);
        self.process.end(self.instance.processes.now());
        r
    }

    pub(crate) fn execute_slot(
        &mut self,
        handle: u32,
        text: &str,
        params: &[ValueRef<'_>],
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let Some(slot) = self.prepared.get(&handle) else {
            return Err(SqlError::unknown("the statement is gone"));
        };
        match &slot.kind {
            SlotKind::Admin(a) => {
                let a = a.clone();
                self.run_admin(&a, text, out, more)
            }
            SlotKind::Ddl(d, counter) => {
                let (d, counter) = (d.clone(), *counter);
                self.begin_statement(counter, false);
                self.run_ddl(&d, text, out, more)
            }
            SlotKind::Sql {
                stmt,
                plan,
                counter,
                writes,
                keeps_diagnostics,
                generation,
            } => {
                let (counter, writes, keep) = (*counter, *writes, *keeps_diagnostics);
                let mut plan = plan.clone();
                let bound = !self.env.bound_params.borrow().is_empty();
                let stale = bound
                    || *generation != self.plan_generation
                    || plan.catalog_version() != self.instance.database().catalog_version();
                let stmt = stale.then(|| (stmt.clone(), slot.db.clone()));
                self.begin_statement(counter, keep);
                if let Some((stmt, db)) = stmt {
                    // The plan keeps the default database of its preparation.
                    let current = std::mem::replace(&mut self.env.db, db);
                    let fresh = self.plan(&stmt, text);
                    self.env.db = current;
                    match fresh {
                        Ok(p) => plan = Arc::new(p),
                        Err(e) => return self.fail(e),
                    }
                    if !bound {
                        self.process.counters.add(status::STMT_REPREPARE, 1);
                    }
                    let current_generation = self.plan_generation;
                    if !bound
                        && let Some(Slot {
                            kind:
                                SlotKind::Sql {
                                    plan: p,
                                    generation,
                                    ..
                                },
                            ..
                        }) = self.prepared.get_mut(&handle)
                    {
                        *p = plan.clone();
                        *generation = current_generation;
                    }
                }
                if params.len() != plan.params() {
                    return self.fail(SqlError::new(
                        1210,
                        b"HY000",
                        "Incorrect arguments to mysqld_stmt_execute",
                    ));
                }
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                values.extend(params.iter().map(ValueRef::to_value));
                let r = self.run_plan(
                    &plan,
                    Source::Handle(handle),
                    writes,
                    text,
                    &values,
                    out,
                    more,
                );
                self.values = values;
                r
            }
        }
    }

    /// Forgets a prepared statement.
    pub fn close_statement(&mut self, handle: u32) {
        if self.prepared.remove(&handle).is_some() {
            self.process.counters.add(status::STMT_CLOSE, 1);
            self.instance
                .prepared_statements
                .fetch_sub(1, Ordering::Relaxed);
        }
    }
}

pub(crate) fn has_placeholder(code: &str, opts: LexOptions) -> bool {
    crate::lex::tokens(code, opts).is_ok_and(|t| {
        t.iter()
            .any(|t| matches!(t.tok, crate::lex::Tok::Punct(b'?')))
    })
}
