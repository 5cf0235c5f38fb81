//! What the protocol front calls of a session: queries, commands, what it is told.

use crate::charset;
use crate::client::ConnectOptions;
use crate::process::Command;
use crate::session::{ClientSession, access_denied, identity};
use crate::settings::SessionTimeouts;
use crate::statement::trim;
use crate::status;
use crate::xa_branch::Xa;
use narwal_sql::SqlMode;
use narwal_types::{Collation, ResultSink, SqlResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Server status flags of OK and EOF packets.
pub mod flags {
    /// A transaction is open.
    pub const IN_TRANS: u16 = 0x0001;
    /// Autocommit is on.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// NO_BACKSLASH_ESCAPES is in the SQL mode.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    /// The open transaction is READ ONLY.
    pub const IN_TRANS_READONLY: u16 = 0x2000;
    /// ANSI_QUOTES is in the SQL mode.
    pub const ANSI_QUOTES: u16 = 0x8000;
}

/// What may stand before and behind statements.
fn nothing(c: char) -> bool {
    c == ';' || trim(c.encode_utf8(&mut [0; 4])).is_empty()
}

impl ClientSession {
    /// Runs a query of one or more statements. Each result goes to `out`; an error ends the query.
    pub fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        self.begin_command(Command::Query, sql);
        let r = self.query_text(sql, out);
        self.command_ends();
        r
    }

    fn query_text(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        let text = self.client_text(sql)?;
        let text: &str = &text;
        if !text.contains(';') {
            return self.run_audited(trim(text), out, false);
        }
        let parts = narwal_syntax::split_statements(text, self.env.sql_mode);
        if parts.len() > 1 && !self.multi_statements {
            let second = parts[1].as_ptr() as usize - text.as_ptr() as usize;
            return self.fail(narwal_syntax::syntax_error(text, second));
        }
        if parts.is_empty() {
            return self.run_audited(text.trim_matches(nothing), out, false);
        }
        let last = parts.len() - 1;
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 && self.process.timed_out.load(Ordering::Relaxed) {
                // The time of the statement before has ended behind it.
                self.forget_old_kill();
            }
            self.run_audited(trim(part), out, i < last)?;
        }
        Ok(())
    }

    /// Runs a statement and leaves its line in the audit log.
    fn run_audited(&mut self, text: &str, out: &mut dyn ResultSink, more: bool) -> SqlResult<()> {
        let done = self.run_text(text, out, more);
        if self.instance.audit.wants_statements() {
            self.audit_statement(text, &done);
        }
        done
    }

    /// Changes the default database (COM_INIT_DB).
    pub fn init_db(&mut self, db: &str) -> SqlResult<()> {
        self.begin_command(Command::InitDb, db.as_bytes());
        self.begin_statement(status::ADMIN_COMMANDS, false);
        let r = self.rights.refuse_expired().and_then(|()| self.use_db(db));
        self.command_ends();
        match r {
            Ok(()) => Ok(()),
            Err(e) => self.fail(e),
        }
    }

    /// COM_RESET_CONNECTION: rolls back, forgets variables and prepared statements; keeps user and default database.
    pub fn reset(&mut self) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.begin_command(Command::ResetConnection, b"");
        self.forget();
        self.set_names(charset::from_handshake(self.client.collation));
        self.track.start(self.client.session_track);
        self.refresh_settings();
        self.command_ends();
        Ok(())
    }

    /// COM_CHANGE_USER: as a reset, then goes on as another, already authenticated user.
    pub fn change_user(&mut self, client: ConnectOptions) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.begin_command(Command::ChangeUser, b"");
        let asked = client.clone();
        let r = self.become_user(client);
        let failed = r.as_ref().err();
        self.instance.audit_client("change_user", &asked, failed);
        self.command_ends();
        r
    }

    fn become_user(&mut self, client: ConnectOptions) -> SqlResult<()> {
        self.forget();
        let acl = self.instance.acl();
        let Some(account) = acl.get(&client.account_user, &client.account_host).cloned() else {
            return Err(access_denied(&client, false));
        };
        self.rights.acl = acl;
        self.rights.account = account;
        self.multi_statements = client.multi_statements;
        self.client = ConnectOptions {
            killer: self.client.killer.clone(),
            ..client
        };
        *self.process.identity.lock() = identity(&self.client);
        self.start_as_client()
    }

    /// COM_SET_OPTION.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }

    /// The collation that results are sent under; `None` leaves text as its columns have it.
    pub fn results_collation(&self) -> Option<Collation> {
        self.results
    }

    /// Current server status flags ([`flags`]).
    pub fn status_flags(&self) -> u16 {
        let mut f = 0;
        if self.settings.autocommit {
            f |= flags::AUTOCOMMIT;
        }
        let open = self.tx.open.as_ref().map(|o| o.read_only);
        if let Some(read_only) = open.or_else(|| self.tx.xa.as_ref().map(Xa::read_only)) {
            f |= flags::IN_TRANS;
            if read_only {
                f |= flags::IN_TRANS_READONLY;
            }
        }
        if self.settings.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
            f |= flags::NO_BACKSLASH_ESCAPES;
        }
        if self.settings.sql_mode.has(SqlMode::ANSI_QUOTES) {
            f |= flags::ANSI_QUOTES;
        }
        f
    }

    /// True if the connection is to end after this statement (RELEASE, KILL).
    pub fn wants_to_end(&self) -> bool {
        self.release || self.process.killed.load(Ordering::Relaxed)
    }

    /// The network timeouts as they are now.
    pub fn timeouts(&self) -> SessionTimeouts {
        let mut t = self.settings.timeouts;
        if let Some(open) = &self.tx.open {
            t.idle = (t.in_transaction).of(!open.txn.is_read_only(), t.idle);
        }
        t
    }

    /// COM_STATISTICS: one line.
    pub fn statistics(&mut self) -> String {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        crate::show::status::statistics(&self.instance)
    }

    /// COM_PROCESS_KILL: as KILL CONNECTION.
    pub fn kill(&mut self, id: u32) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.kill_process(u64::from(id), false)
    }

    /// Ends the running statement from another thread, as KILL QUERY does; with `true` the connection, as KILL
    /// CONNECTION does.
    pub fn interrupt_handle(&self) -> impl Fn(bool) + Send + Sync + 'static {
        let p = self.process.clone();
        move |connection| p.stop(connection)
    }

    /// Set while the running statement is to end.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.process.interrupt.clone()
    }
}
