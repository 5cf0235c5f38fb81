//! Whether the account, the transaction and the server allow a statement.

use crate::acl;
use crate::acl::Account;
use crate::open_transaction::NextTransaction;
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, is_virtual};
use crate::system_schemas::is_information_schema;
use narwal_sql::ast::WriteTargets;
use narwal_sql::{Needs, Privilege, StatementEnv, Stmt, view};
use narwal_types::errors::{self, codes};
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is needed but to read tables that are changed as well.
fn without_reads_of_targets(needs: &[Needs]) -> Vec<Needs> {
    let changed = |n: &Needs| {
        let same = |m: &Needs| (&m.db, &m.table, &m.through) == (&n.db, &n.table, &n.through);
        (needs.iter()).any(|m| same(m) && m.privilege != Privilege::Select)
    };
    let kept = needs
        .iter()
        .filter(|n| n.privilege != Privilege::Select || !changed(n));
    kept.cloned().collect()
}

impl ClientSession {
    pub(crate) fn check_sees_table(&mut self, db: &str, table: &str) -> SqlResult<()> {
        let host = self.client.host.clone();
        let account = self.account();
        if account.about_table(db, table).is_empty() {
            return Err(acl::table_denied("SELECT", &account, &host, db, table));
        }
        Ok(())
    }

    /// Error 1142 unless the account may read some of a table.
    pub(crate) fn check_reads(&mut self, db: &str, table: &str) -> SqlResult<()> {
        let account = self.account();
        match account.about_table(db, table).has(PrivilegeSet::SELECT) || is_virtual(db) {
            true => Ok(()),
            false => {
                let host = &self.client.host;
                Err(acl::table_denied("SELECT", &account, host, db, table))
            }
        }
    }

    /// Fails unless the account has what a statement needs, on whole tables.
    pub(crate) fn check_needs(&mut self, needs: &[Needs]) -> SqlResult<()> {
        match self.needs_columns(needs, false)? {
            Some(_) => Err(SqlError::unknown(
                "privileges on columns were not asked for",
            )),
            None => Ok(()),
        }
    }

    /// The same; privileges on single columns may do for what is missing on a table: true if they are to be looked at.
    pub(crate) fn missing_on_tables(&mut self, needs: &[Needs]) -> SqlResult<bool> {
        Ok(self.needs_columns(needs, true)?.is_some())
    }

    /// The same for a statement. What changes one table need not read it as a whole: each column that it reads is looked
    /// at. UPDATE of a join need not read the tables that it joins: any privilege on them will do, and each column is
    /// looked at.
    pub(crate) fn missing_for(&mut self, stmt: &Stmt, needs: &[Needs]) -> SqlResult<bool> {
        let missing = self.missing_on_tables(needs);
        let refusals = [codes::TABLEACCESS_DENIED_ERROR, codes::VIEW_INVALID];
        let denied = matches!(&missing, Err(e) if refusals.contains(&e.code));
        let stmt = match stmt {
            Stmt::Explain(inner, _) => inner,
            stmt => stmt,
        };
        match stmt {
            Stmt::Insert(_) | Stmt::Update(_) | Stmt::Delete(_) if denied => {
                let rest = without_reads_of_targets(needs);
                return self.missing_on_tables(&rest).map(|_| true);
            }
            Stmt::WriteJoin(w) if denied && matches!(w.targets, WriteTargets::Update(_)) => {}
            _ => return missing,
        }
        let account = self.account();
        let enough = |n: &Needs| {
            let about = account.about_table(&n.db, &n.table);
            match n.privilege {
                Privilege::Select => about.has_any(PrivilegeSet::ON_ROWS),
                p => about.has(PrivilegeSet::from(p)),
            }
        };
        let own = |n: &&Needs| n.through.is_none() && !is_virtual(&n.db);
        if needs.iter().filter(own).all(enough) {
            return Ok(true);
        }
        // Of a table that may neither be read nor changed it says the former alone.
        let neither = |n: &Needs| {
            let either = PrivilegeSet::SELECT.with(PrivilegeSet::UPDATE);
            !account.about_table(&n.db, &n.table).has_any(either)
        };
        let reads =
            |n: &&Needs| n.through.is_none() && n.privilege == Privilege::Select && neither(n);
        let reads: Vec<Needs> = needs.iter().filter(reads).cloned().collect();
        self.missing_on_tables(&reads)?;
        missing
    }

    fn needs_columns(&mut self, needs: &[Needs], columns: bool) -> SqlResult<Option<()>> {
        if needs.is_empty() {
            return Ok(None);
        }
        let account = self.account();
        let mut by_column = None;
        // What is behind a view is nobody's concern who may not use the view.
        let (own, behind): (Vec<&Needs>, Vec<&Needs>) =
            needs.iter().partition(|n| n.through.is_none());
        for n in own.into_iter().chain(behind) {
            if is_virtual(&n.db) {
                // Nobody may do more with this schema than read it.
                if n.privilege != Privilege::Select && is_information_schema(&n.db) {
                    return Err(acl::database_denied(&account, &n.db));
                }
                continue;
            }
            let wanted = PrivilegeSet::from(n.privilege);
            if let Some(t) = &n.through {
                let (have, who) = self.behind_view(&account, n, t)?;
                if have.has(wanted) {
                    continue;
                }
                if columns && who.on_some_column(&n.db, &n.table).has(wanted) {
                    by_column = Some(());
                    continue;
                }
                return Err(view::invalid(&t.outermost.0, &t.outermost.1));
            }
            if account.global.has(wanted) {
                continue;
            }
            if n.table.is_empty() {
                if !account.on_database(&n.db).has(wanted) {
                    return Err(acl::database_denied(&account, &n.db));
                }
                continue;
            }
            let have = account.on_table(&n.db, &n.table);
            let enough =
                n.privilege == Privilege::References && have.has_any(PrivilegeSet::ON_ROWS);
            if enough || have.has(wanted) {
                continue;
            }
            let on_columns = match columns {
                true => account.on_some_column(&n.db, &n.table),
                false => PrivilegeSet::NONE,
            };
            if on_columns.has(wanted) {
                by_column = Some(());
                continue;
            }
            // All that is missing for this table, in MariaDB's order. A view that takes another one's place needs DROP, too,
            // which is asked for behind the other.
            let alone = |m: &&Needs| n.privilege != Privilege::CreateView || *m == n;
            let missing = needs
                .iter()
                .filter(alone)
                .filter(|m| m.db == n.db && m.table == n.table && m.through.is_none())
                .map(|m| PrivilegeSet::from(m.privilege))
                .filter(|p| !have.with(on_columns).has(*p))
                .fold(PrivilegeSet::NONE, PrivilegeSet::with);
            let missing = missing.names().join(", ");
            let host = &self.client.host;
            return Err(acl::table_denied(&missing, &account, host, &n.db, &n.table));
        }
        Ok(by_column)
    }

    /// Plans a statement once more to see which columns it uses, and checks each. Only accounts with privileges on single
    /// columns come here.
    pub(crate) fn check_columns(
        &mut self,
        plan: impl FnOnce(&mut Self) -> SqlResult<()>,
    ) -> SqlResult<()> {
        *self.env.column_uses.borrow_mut() = Some(Box::default());
        let planned = plan(self);
        let uses = self.env.column_uses.borrow_mut().take();
        planned?;
        let account = self.account();
        let catalog = self.instance.database().catalog();
        // Tables of which `*` has met a column that may be read.
        let mut met: Vec<(String, String)> = Vec::new();
        for u in uses.map(|u| u.list).unwrap_or_default() {
            if is_virtual(&u.db) {
                continue;
            }
            let wanted = PrivilegeSet::from(u.privilege);
            let who = match &u.through {
                None => Some(account.clone()),
                Some(t) => match &t.account {
                    Some((user, host)) => self.rights.acl.definer(user, host),
                    None => Some(account.clone()),
                },
            };
            let may = who.is_some_and(|a| {
                a.on_table(&u.db, &u.table).has(wanted)
                    || a.on_column(&u.db, &u.table, &u.column).has(wanted)
            });
            if may {
                if u.of_all {
                    met.push((u.db, u.table));
                }
                continue;
            }
            // `*` names the column that it fails at if that is the first one. INSERT without a list asks for each column of a
            // view, and for all of a table.
            let whole = match u.privilege {
                Privilege::Select => met.iter().any(|m| (&m.0, &m.1) == (&u.db, &u.table)),
                _ => catalog.view(&u.db, &u.table).is_none(),
            };
            return Err(match &u.through {
                Some(t) => view::invalid(&t.outermost.0, &t.outermost.1),
                None if u.of_all && whole => {
                    let command = wanted.names().join(", ");
                    let host = &self.client.host;
                    acl::table_denied(&command, &account, host, &u.db, &u.table)
                }
                None => {
                    let host = &self.client.host;
                    acl::column_denied(wanted, &account, host, &u.table, &u.column)
                }
            });
        }
        Ok(())
    }

    /// UPDATE and DELETE that read columns need SELECT too: else their effects would tell what may not be seen. True if
    /// privileges on single columns are to be looked at.
    pub(crate) fn check_columns_read(&mut self, stmt: &Stmt) -> SqlResult<bool> {
        if self.rights.account.global.has(PrivilegeSet::SELECT) {
            return Ok(false);
        }
        let Some(column) = crate::reads::column_read(stmt) else {
            return Ok(false);
        };
        let Some((db, table)) = first_table(stmt, &self.env) else {
            return Ok(false);
        };
        let account = self.account();
        if account.on_table(&db, &table).has(PrivilegeSet::SELECT) {
            return Ok(false);
        }
        if account
            .on_some_column(&db, &table)
            .has(PrivilegeSet::SELECT)
        {
            return Ok(true);
        }
        let host = &self.client.host;
        match column {
            Some(c) => {
                let denied = acl::column_denied(PrivilegeSet::SELECT, &account, host, &table, &c);
                Err(denied)
            }
            // Which one it is shows when the columns are looked at.
            None => Ok(true),
        }
    }

    /// The session's account as it is now. Of an account that was dropped while its session lives the global privileges
    /// stay with the session until its end, as in MariaDB; what it had on databases and below is gone.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        let version = self.instance.database().catalog_version();
        if self.rights.acl.version != version && !self.internal {
            self.rights.acl = self.instance.acl();
            let role = self.rights.role.clone();
            self.rights.account = self
                .rights
                .acl
                .effective_at(
                    (&self.client.account_user, &self.client.account_host),
                    (&self.client.host, self.client.ip.as_deref()),
                    role.as_deref(),
                )
                .unwrap_or_else(|| Arc::new(self.rights.account.without_its_grants()));
        }
        self.rights.account.clone()
    }

    /// What the account may do has changed.
    pub(crate) fn forget_account(&mut self) {
        if !self.internal {
            self.rights.acl = Arc::new(acl::Acl::of_no_catalog());
            self.account();
        }
    }

    /// Error 1227 unless the account has at least one of the global privileges.
    pub(crate) fn need_any(&mut self, any_of: PrivilegeSet) -> SqlResult<()> {
        if self.account().global.has_any(any_of) {
            Ok(())
        } else {
            Err(acl::privilege_needed(any_of))
        }
    }

    /// Errors 1792 and 1290.
    pub(crate) fn check_writable(&mut self) -> SqlResult<()> {
        self.refuse_in_read_only_transaction()?;
        self.refuse_under_read_only()
    }

    /// Error 1792 in a READ ONLY transaction, or before one.
    pub(crate) fn refuse_in_read_only_transaction(&self) -> SqlResult<()> {
        let read_only = match &self.tx.open {
            Some(o) => o.read_only,
            None => self.tx.next.read_only.unwrap_or(self.settings.read_only),
        };
        match read_only {
            true => Err(read_only_transaction()),
            false => Ok(()),
        }
    }

    /// The same for statements that commit first: an open READ ONLY transaction, or one that SET TRANSACTION announced,
    /// is over then; only the session's own setting counts.
    pub(crate) fn check_ddl_writable(&mut self) -> SqlResult<()> {
        self.tx.next = NextTransaction::default();
        self.refuse_in_read_only_session()?;
        self.refuse_under_read_only()
    }

    /// Error 1792 in a session whose transactions are READ ONLY.
    pub(crate) fn refuse_in_read_only_session(&self) -> SqlResult<()> {
        match self.settings.read_only {
            true => Err(read_only_transaction()),
            false => Ok(()),
        }
    }

    /// The same for a lock, if it is one for writing.
    pub(crate) fn refuse_lock_in_read_only_session(&self, write: bool) -> SqlResult<()> {
        match write {
            true => self.refuse_in_read_only_session(),
            false => Ok(()),
        }
    }

    /// Error 1290: `read_only` is on, and the account is not above it; or `super_read_only`, which none is above but
    /// the server itself. Appliers are.
    pub(crate) fn refuse_under_read_only(&mut self) -> SqlResult<()> {
        let switches = &self.instance.switches;
        if !switches.read_only.load(Ordering::Relaxed) {
            return Ok(());
        }
        if switches.super_read_only.load(Ordering::Relaxed) && !self.internal {
            return Err(errors::OPTION_PREVENTS_STATEMENT.with([&"--super-read-only"]));
        }
        match self.account().global.has(PrivilegeSet::READ_ONLY_ADMIN) {
            true => Ok(()),
            false => Err(errors::OPTION_PREVENTS_STATEMENT.with([&"--read-only"])),
        }
    }
}

/// Error 1792.
pub(crate) fn read_only_transaction() -> SqlError {
    errors::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.plain()
}

/// Database and table that a statement is about, unless it is a temporary one.
pub(crate) fn first_table(stmt: &Stmt, env: &StatementEnv) -> Option<(String, String)> {
    let name = match stmt {
        Stmt::Select(s) => &s.from.as_ref()?.first_table()?.name,
        Stmt::Insert(i) => &i.table,
        Stmt::Update(u) => &u.table.name,
        Stmt::Delete(d) => &d.table.name,
        Stmt::LoadData(l) => &l.table,
        Stmt::SelectInto(s) => &s.select.from.as_ref()?.first_table()?.name,
        Stmt::WriteJoin(w) => &w.select.from.as_ref()?.first_table()?.name,
        Stmt::Explain(inner, _) => return first_table(inner, env),
        Stmt::HandlerRead(name, _) => {
            let (db, table) = env.handlers.table(name).ok()?;
            return Some((db, table));
        }
        Stmt::ChecksumTable(_) | Stmt::Do(_) | Stmt::Ddl(_) => return None,
    };
    let db = name
        .db
        .clone()
        .or_else(|| env.db.as_deref().map(String::from))?;
    if env.temporary_table(&db, &name.name).is_some() {
        return None;
    }
    Some((db, name.name.clone()))
}
