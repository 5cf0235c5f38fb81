//! Statements that the session runs itself: the table from their kinds to the parts that run them.

use crate::admin::{Admin, BinlogStatement, Filter, Maintenance, Show, TransactionStatement};
use crate::maintenance::maintenance_grid;
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::status;
use crate::words::XaStatement;
use narwal_types::{ResultColumn, ResultSink, SqlError, SqlResult};

/// What an administrative statement gives.
pub(crate) enum Answer {
    Done,
    /// So many rows are changed.
    Changed(u64),
    Rows(Grid),
}

impl From<()> for Answer {
    fn from((): ()) -> Answer {
        Answer::Done
    }
}

impl From<Grid> for Answer {
    fn from(grid: Grid) -> Answer {
        Answer::Rows(grid)
    }
}

impl From<Option<Grid>> for Answer {
    fn from(grid: Option<Grid>) -> Answer {
        grid.map_or(Answer::Done, Answer::Rows)
    }
}

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
        let counter = status::counter(admin.counter());
        // A program's handlers look at what its last statement left.
        let keeps = self.in_program == 0 && admin.keeps_diagnostics();
        self.begin_statement(counter, keeps || admin.reads_diagnostics());
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
        let is_commit = matches!(
            admin,
            Admin::Transaction(TransactionStatement::Commit { .. })
        );
        self.late.next_is_last(!more && is_commit);
        let earlier = match keeps {
            true => self.take_inherited(),
            false => Vec::new(),
        };
        if admin.is_logged()
            && let Some(answer) = self.passed_over(admin.commits_implicitly(), out, more)
        {
            return answer;
        }
        let answer = self.answer(admin);
        if answer.is_ok() {
            self.leave_inherited(earlier);
        }
        self.late.next_is_last(false);
        match answer {
            Ok(Answer::Done) => self.finish_ok(0, 0, String::new(), out, more),
            Ok(Answer::Changed(n)) => self.finish_ok(n, 0, String::new(), out, more),
            Ok(Answer::Rows(grid)) => {
                grid.send(out)?;
                let n = grid.rows.len() as u64;
                if admin.leaves_found_rows() {
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
                Answer::Done | Answer::Changed(_) => Vec::new(),
            },
            Admin::ExplainConnection(e) => e.columns(),
            Admin::Maintain { .. } | Admin::CacheIndex { .. } => maintenance_grid().columns,
            Admin::Xa(XaStatement::Recover(as_sql)) => crate::xa::recover_columns(*as_sql).columns,
            Admin::Binlog(BinlogStatement::Flashback(_)) => crate::flashback::columns().columns,
            Admin::Backup(words) => Self::backup_columns(words).columns,
            _ => Vec::new(),
        })
    }

    /// The one table from kinds of statements to the part that runs them.
    fn answer(&mut self, admin: &Admin) -> SqlResult<Answer> {
        if admin.commits_implicitly() {
            self.check_named_commit()?;
            self.commit_open()?;
        }
        Ok(match admin {
            Admin::Transaction(t) => self.transaction_statement(t)?.into(),
            Admin::Xa(statement) => self.xa(statement)?.into(),
            Admin::Set(items) => self.set_variables(items)?.into(),
            Admin::Use(db) => self.use_db(db)?.into(),
            Admin::Show(show) => self.show(show)?.into(),
            Admin::Describe { table, like } => self
                .show(&Show::Columns {
                    full: false,
                    table: table.clone(),
                    filter: like.clone().map_or(Filter::None, Filter::Like),
                })?
                .into(),
            Admin::ExplainConnection(e) => self.explain_connection(e)?.into(),
            Admin::Account(a) => self.account_statement(a)?.into(),
            Admin::Kill { query, target } => self.kill_statement(target, *query)?,
            Admin::Flush(items) => self.flush(items)?.into(),
            Admin::Maintain {
                op,
                persistent,
                tables,
            } => self.maintain(*op, persistent.as_ref(), tables)?.into(),
            Admin::CacheIndex { cache, tables } => {
                self.instance.key_caches.must_be(cache)?;
                self.maintain(Maintenance::AssignToKeycache, None, tables)?
                    .into()
            }
            Admin::Binlog(b) => self.binlog_statement(b)?.into(),
            Admin::Replica(r) => self.replica_statement(r)?.into(),
            Admin::BackupLock(b) => self.backup_lock(b)?.into(),
            Admin::LockTables(tables) => self.lock_tables(tables)?.into(),
            Admin::UnlockTables => self.unlock_tables()?.into(),
            Admin::HandlerOpen { table, alias } => {
                self.open_handler(table, alias.as_deref())?.into()
            }
            Admin::HandlerClose(name) => self.close_handler(name)?.into(),
            Admin::Plugin(words) => self.plugin(words)?.into(),
            Admin::Server(s) => Answer::Changed(self.server_statement(s)?),
            Admin::Shutdown => self.shutdown()?.into(),
            // These run in `run_admin`.
            Admin::Backup(_) | Admin::Prepared(_) => {
                return Err(SqlError::unsupported("this statement here"));
            }
        })
    }

    fn shutdown(&mut self) -> SqlResult<()> {
        self.need_any(PrivilegeSet::SHUTDOWN)?;
        self.instance.shutdown()
    }
}
