//! LOCK TABLES, UNLOCK TABLES and FLUSH TABLES ... WITH READ LOCK.
//!
//! Writers are kept away by the store's own locks on table definitions; a READ lock of several sessions is one such lock
//! that they share. Readers of a table that another session has locked with WRITE wait before their statement begins.

use crate::acl;
use crate::admin::{TableLock, TableRef};
use crate::locks::Locked;
use crate::privileges::PrivilegeSet;
use crate::process::Stage;
use crate::programs::definition::triggers_of;
use crate::read_lock::{Patience, Permit, SLICE};
use crate::session::{ClientSession, is_virtual};
use crate::session_vars::LockedName;
use crate::system_schemas::{MYSQL, is_shown};
use narwal_engine::{Catalog, Isolation, TableLocks, TxnOptions, ViewDef};
use narwal_sql::ast::DdlStmt;
use narwal_sql::merge_table::tables_behind;
use narwal_sql::{Needs, Prepared, Privilege};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

impl ClientSession {
    /// How long this session waits for table locks: `lock_wait_timeout`.
    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience {
            interrupt: &self.process.interrupt,
            until: Instant::now() + self.settings.table_lock_timeout,
            inside: self.locks.inside,
            process: Some(&self.process),
        }
    }

    /// Errors 1223 and 4145: the session itself holds the global read lock, or is in the middle of a backup.
    pub(crate) fn refuse_under_read_lock(&self) -> SqlResult<()> {
        if self.locks.global_read {
            return Err(errors::CANT_UPDATE_WITH_READLOCK.plain());
        }
        self.refuse_in_backup()
    }

    /// Before a statement that writes: waits while another session holds the global read lock.
    pub(crate) fn wait_for_read_lock(&self) -> SqlResult<()> {
        self.refuse_under_read_lock()?;
        let lock = &self.instance.read_lock;
        // How long to wait is asked for only where there is something to wait for.
        match lock.is_open() {
            true => Ok(()),
            false => lock.enter(false, &self.patience()).map(drop),
        }
    }

    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) fn take_global_read_lock(&mut self) -> SqlResult<()> {
        if self.locks.tables.is_some() {
            return Err(active_locks());
        }
        self.refuse_in_stages()?;
        if self.locks.global_read {
            return Ok(());
        }
        self.process.stage(Stage::WaitingForReadLock);
        self.instance.read_lock.close(&self.patience())?;
        self.locks.global_read = true;
        // An applier's commits have their places before they are visible.
        let db = self.instance.database();
        db.wait_visible(db.reserved_seq())?;
        Ok(())
    }

    /// 1192: FLUSH TABLES ... WITH READ LOCK takes locks that LOCK TABLES has to be ended for.
    pub(crate) fn refuse_under_locks(&self) -> SqlResult<()> {
        match self.locks.tables {
            Some(_) => Err(active_locks()),
            None => Ok(()),
        }
    }

    /// 1146: FLUSH TABLES ... WITH READ LOCK is about tables that others see, too.
    pub(crate) fn refuse_temporary(&self, tables: &[TableRef]) -> SqlResult<()> {
        let catalog = self.instance.database().catalog();
        for t in tables {
            let db = t.db.as_deref().or(self.env.db.as_deref()).unwrap_or("");
            if self.env.temporary_table(db, &t.name).is_some()
                && catalog.table(db, &t.name).is_none()
            {
                return Err(errors::NO_SUCH_TABLE.with([&db, &t.name]));
            }
        }
        Ok(())
    }

    /// UNLOCK TABLES.
    pub(crate) fn unlock_tables(&mut self) -> SqlResult<()> {
        if self.locks.tables.is_some() {
            self.commit_open()?;
        }
        self.release_table_locks();
        self.release_global_read_lock();
        Ok(())
    }

    pub(crate) fn release_global_read_lock(&mut self) {
        if std::mem::take(&mut self.locks.global_read) {
            self.instance.read_lock.open();
        }
    }

    /// Gives back what LOCK TABLES took.
    pub(crate) fn release_table_locks(&mut self) {
        let Some(locked) = self.locks.tables.take() else {
            return;
        };
        self.tx.reader = None;
        *self.vars.held_tables.lock() = None;
        *self.vars.locked_names.lock() = None;
        let all = &self.instance.locked_tables;
        let mut write = all.write.lock();
        for id in locked.held.iter() {
            write.remove(id);
            all.writes.fetch_sub(1, Ordering::SeqCst);
        }
        drop(write);
        all.reads.fetch_sub(locked.reads(), Ordering::SeqCst);
        // The store's locks first: who waits for the table finds them gone.
        drop(locked);
        all.changed.notify_all();
        all.changed_reads.notify_all();
        if std::mem::take(&mut self.locks.inside) {
            self.instance.read_lock.leave_at_last();
        }
    }

    /// LOCK TABLES ends with the last of its tables.
    pub(crate) fn release_locks_of_dropped(&mut self) {
        let Some(locked) = &self.locks.tables else {
            return;
        };
        let catalog = self.instance.database().catalog();
        let there = |(db, name, ..): &(String, String, u64, bool)| catalog.has(db, name);
        if !locked.tables.iter().any(there) {
            self.release_table_locks();
        }
    }

    /// LOCK TABLES: first gives back what was locked before.
    pub(crate) fn lock_tables(&mut self, tables: &[TableLock]) -> SqlResult<()> {
        self.release_table_locks();
        self.refuse_in_stages()?;
        let instance = self.instance.clone();
        let mut permit = None;
        if tables.iter().any(|t| t.write) {
            self.refuse_under_read_only()?;
            self.refuse_under_read_lock()?;
            self.wait_for_backup()?;
            permit = Some(instance.read_lock.enter(true, &self.patience())?);
        }
        self.process.stage(Stage::WaitingForTableLock);
        let until = self.patience().until;
        let mut names: Vec<(String, String, bool)> = Vec::new();
        let mut views = Vec::new();
        let mut aliases = Vec::new();
        let mut of_system = 0;
        let mut shared = SharedNames::default();
        for t in tables {
            self.env.check_interrupt()?;
            let db = t.table.db.as_deref().or(self.env.db.as_deref());
            if db.is_some_and(|db| self.env.temporary_table(db, &t.table.name).is_some()) {
                // Nobody else has it.
                continue;
            }
            self.refuse_lock_in_read_only_session(t.write)?;
            let (db, name) = self.lockable(&t.table)?;
            if self.locks_measured(&db, &name)? {
                of_system += usize::from(t.write);
                continue;
            }
            let alias = t.alias.as_ref().unwrap_or(&name).clone();
            aliases.push((db.clone(), name.clone(), alias, t.write));
            let catalog = self.instance.database().catalog();
            if db == MYSQL
                && crate::information_schema::system_table(&name).is_some()
                && is_shown(&catalog, MYSQL, &name)
            {
                // It shows what the server has: there is nothing to lock.
                of_system += usize::from(t.write);
                continue;
            }
            if let Some(v) = catalog.view(&db, &name) {
                self.check_definers(v, &catalog)?;
                for (db, name) in narwal_sql::view::base_tables(v, &catalog) {
                    note(&mut names, &db, &name, t.write);
                }
                views.push((db, name, t.write));
                continue;
            }
            note(&mut names, &db, &name, t.write);
            shared.note(t, &db, &name);
            if let Some(merge) = catalog.table(&db, &name).filter(|t| t.def.merge.is_some()) {
                for behind in tables_behind(merge, &catalog, &self.env)? {
                    note(&mut names, &behind.def.db, &behind.def.name, t.write);
                }
            }
        }
        if of_system > 0 && of_system < tables.len() {
            return Err(errors::WRONG_LOCK_OF_SYSTEM_TABLE.plain());
        }
        loop {
            let ids = self.ids_of(&names)?;
            let mut locked = self.lock_ids(ids, &shared, until)?;
            // A table may have been dropped and made anew while this waited.
            let now = self.ids_of(&names)?;
            let same = now.len() == locked.tables.len()
                && now.iter().all(|t| locked.tables.iter().any(|l| l.2 == t.2));
            if !same {
                continue;
            }
            let all = &self.instance.locked_tables;
            let mut write = all.write.lock();
            for id in locked.held.iter() {
                write.insert(*id, self.client.id);
                all.writes.fetch_add(1, Ordering::SeqCst);
            }
            drop(write);
            all.reads.fetch_add(locked.reads(), Ordering::SeqCst);
            locked.views = views;
            locked.aliases = aliases;
            *self.vars.held_tables.lock() = Some(locked.all.clone());
            *self.vars.locked_names.lock() = self.all_locked(&locked);
            self.locks.tables = Some(locked);
            self.locks.inside = permit.map(Permit::stay).is_some();
            // It does not know what is held now, and would wait for it.
            self.tx.reader = None;
            return Ok(());
        }
    }

    /// The names of what is locked, if that is all: views and triggers bring more tables with them.
    fn all_locked(&self, locked: &Locked) -> Option<Arc<[LockedName]>> {
        let catalog = self.instance.database().catalog();
        let triggered =
            |t: &(String, String, u64, bool)| t.3 && !triggers_of(&catalog, &t.0, &t.1).is_empty();
        if !locked.views.is_empty() || locked.tables.iter().any(triggered) {
            return None;
        }
        let names = locked.tables.iter().map(|(db, name, _, write)| LockedName {
            db: db.clone(),
            name: name.clone(),
            write: *write,
        });
        Some(names.collect())
    }

    /// Error 1449 for a view, or one under it, whose definer is gone.
    pub(crate) fn check_definers(&self, v: &ViewDef, catalog: &Catalog) -> SqlResult<()> {
        // A server without accounts takes any definer.
        if self.vars.value("skip_grant_tables").as_bool() {
            return Ok(());
        }
        let (user, host) = &v.definer;
        if !v.invoker && self.instance.acl().definer(user, host).is_none() {
            return Err(errors::NO_SUCH_USER.with([user, host]));
        }
        for under in narwal_sql::view::views_under(v, catalog) {
            self.check_definers(under, catalog)?;
        }
        Ok(())
    }

    /// Database and name of a table that the account may lock.
    fn lockable(&mut self, t: &TableRef) -> SqlResult<(String, String)> {
        let db = match &t.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        let account = self.account();
        let host = self.client.host.clone();
        let have = account.on_table(&db, &t.name);
        if is_virtual(&db) || !have.has(PrivilegeSet::LOCK_TABLES) {
            return Err(acl::database_denied(&account, &db));
        }
        if !account.about_table(&db, &t.name).has(PrivilegeSet::SELECT) {
            return Err(acl::table_denied("SELECT", &account, &host, &db, &t.name));
        }
        Ok((db, t.name.clone()))
    }

    /// The tables with their ids, in the order of ids.
    fn ids_of(
        &self,
        names: &[(String, String, bool)],
    ) -> SqlResult<Vec<(String, String, u64, bool)>> {
        let catalog = self.instance.database().catalog();
        let mut tables = names
            .iter()
            .map(|(db, name, write)| {
                let t = catalog
                    .table(db, name)
                    .ok_or_else(|| errors::NO_SUCH_TABLE.with([&db, &name]))?;
                Ok((db.clone(), name.clone(), t.def.id, *write))
            })
            .collect::<SqlResult<Vec<_>>>()?;
        tables.sort_by_key(|t| t.2);
        Ok(tables)
    }

    fn lock_ids(
        &self,
        tables: Vec<(String, String, u64, bool)>,
        shared: &SharedNames,
        until: Instant,
    ) -> SqlResult<Locked> {
        let options = |timeout: Duration| TxnOptions {
            lock_wait_timeout: Some(timeout),
            ..self.txn_options(Isolation::RepeatableRead, false)
        };
        let db = self.instance.database();
        let mut read = Vec::new();
        for t in tables.iter().filter(|t| !t.3) {
            read.push(self.read_lock(t.2, until)?);
        }
        let all: Arc<[u64]> = tables.iter().map(|t| t.2).collect();
        let written = tables.iter().filter(|t| t.3);
        let (common, alone): (Vec<_>, Vec<_>) = written.partition(|t| shared.has(&t.0, &t.1));
        let held: Arc<[u64]> = alone.iter().map(|t| t.2).collect();
        let shared: Vec<u64> = common.iter().map(|t| t.2).collect();
        let left = || options(until.saturating_duration_since(Instant::now()));
        let write = match held.is_empty() {
            true => None,
            false => Some(db.lock_tables(&held, &left())?),
        };
        let common = match shared.is_empty() {
            true => None,
            false => Some(db.share_tables(&shared, &left())?),
        };
        Ok(Locked {
            views: Vec::new(),
            aliases: Vec::new(),
            tables,
            held,
            shared,
            all,
            _write: write,
            _shared: common,
            _read: read,
        })
    }

    /// A READ lock, shared with other sessions that have one.
    fn read_lock(&self, id: u64, until: Instant) -> SqlResult<Arc<TableLocks>> {
        let all = &self.instance.locked_tables;
        let patience = Patience {
            until,
            ..self.patience()
        };
        loop {
            if let Some(lock) = all.read.lock().get(&id).and_then(Weak::upgrade) {
                return Ok(lock);
            }
            let options = TxnOptions {
                lock_wait_timeout: Some(SLICE),
                ..self.txn_options(Isolation::RepeatableRead, false)
            };
            match self.instance.database().lock_tables(&[id], &options) {
                Ok(lock) => {
                    let lock = Arc::new(lock);
                    let mut read = all.read.lock();
                    read.retain(|_, l| l.strong_count() > 0);
                    read.insert(id, Arc::downgrade(&lock));
                    return Ok(lock);
                }
                Err(e) => {
                    let e = SqlError::from(e);
                    if e.code != codes::LOCK_WAIT_TIMEOUT {
                        return Err(e);
                    }
                    patience.check()?;
                }
            }
        }
    }

    /// 1099: FOR UPDATE of a table that is locked with READ.
    pub(crate) fn check_locked_for_update(&self, plan: &Prepared) -> SqlResult<()> {
        let Some(locked) = &self.locks.tables else {
            return Ok(());
        };
        let only_read = |id: u64| locked.tables.iter().any(|l| l.2 == id && !l.3);
        match plan.for_update().iter().find(|t| only_read(t.def.id)) {
            Some(t) => Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&t.def.name])),
            None => Ok(()),
        }
    }

    /// Error 1192 for what LOCK TABLES has no place for, 1100 for a table that another is to be like.
    pub(crate) fn may_define_under_locks(&self, ddl: &DdlStmt) -> SqlResult<()> {
        match ddl {
            DdlStmt::DropView { .. } | DdlStmt::RenameTable { .. } => Err(active_locks()),
            DdlStmt::CreateTable(c) => match &c.like {
                Some(t) => {
                    let db = t.db.as_deref().or(self.env.db.as_deref());
                    self.check_locked(db.unwrap_or(""), &t.name)
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// FLUSH TABLES is all tables' business: 1099 if one is locked with READ.
    pub(crate) fn check_all_for_write(&self) -> SqlResult<()> {
        let tables = self.locks.tables.iter().flat_map(|l| &l.tables);
        match tables.into_iter().find(|t| !t.3) {
            Some(t) => Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&t.1])),
            None => Ok(()),
        }
    }

    /// 1100: LOCK TABLES leaves no way to a table that it did not name, not even to its definition.
    pub(crate) fn check_locked(&self, db: &str, name: &str) -> SqlResult<()> {
        let Some(locked) = &self.locks.tables else {
            return Ok(());
        };
        let tables = locked.tables.iter().map(|t| (&t.0, &t.1));
        let views = locked.views.iter().map(|v| (&v.0, &v.1));
        let mut all = tables.chain(views);
        match all.any(|(d, t)| *d == db && *t == name) || is_virtual(db) {
            true => Ok(()),
            false => Err(errors::TABLE_NOT_LOCKED.with([&name])),
        }
    }

    /// 1100: statements of accounts change tables of `mysql`, which LOCK TABLES would have to name.
    pub(crate) fn check_grant_tables_locked(&self, table: &str) -> SqlResult<()> {
        match self.locks.tables {
            Some(_) => Err(errors::TABLE_NOT_LOCKED.with([&table])),
            None => Ok(()),
        }
    }

    /// Under LOCK TABLES a table that it has locked with READ can't be flushed (1099).
    pub(crate) fn check_locked_for_write(&self, tables: &[TableRef]) -> SqlResult<()> {
        let Some(locked) = &self.locks.tables else {
            return Ok(());
        };
        for t in tables {
            let db = t.db.as_deref().or(self.env.db.as_deref()).unwrap_or("");
            let found = locked.tables.iter().find(|l| *l.0 == *db && *l.1 == t.name);
            match found {
                Some((.., true)) => {}
                Some(_) => return Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&t.name])),
                None => return Err(errors::TABLE_NOT_LOCKED.with([&t.name])),
            }
        }
        Ok(())
    }

    /// Before a statement touches tables: under LOCK TABLES only those that were locked, and only so; else it waits for
    /// those that other sessions have locked with WRITE.
    pub(crate) fn check_table_locks(&self, needs: &[Needs]) -> SqlResult<()> {
        if let Some(locked) = &self.locks.tables {
            for n in needs.iter().filter(|n| !is_virtual(&n.db)) {
                // Views and whole databases are not for who has locked tables.
                if n.table.is_empty() || n.privilege == Privilege::CreateView {
                    return Err(active_locks());
                }
                // A table that came with a view has its own name.
                let with_view = |alias: &str| {
                    let named = |l: &(String, String, String, bool)| l.0 == n.db && l.1 == n.table;
                    alias == n.table && !locked.aliases.iter().any(named)
                };
                if let Some(alias) = n.alias.as_ref().filter(|a| !with_view(a)) {
                    locked.check_alias(n, alias)?;
                    // What INSERT writes to and reads from are two, and need two names.
                    let read = |o: &Needs| {
                        o.privilege == Privilege::Select
                            && (&o.db, &o.table, &o.alias) == (&n.db, &n.table, &n.alias)
                    };
                    if n.privilege == Privilege::Insert && needs.iter().any(read) {
                        return Err(errors::TABLE_NOT_LOCKED.with([alias]));
                    }
                    continue;
                }
                let of_table = locked.tables.iter().map(|(d, t, _, write)| (d, t, *write));
                let of_view = locked.views.iter().map(|(d, v, write)| (d, v, *write));
                let found = (of_table.chain(of_view)).find(|t| *t.0 == n.db && *t.1 == n.table);
                match found {
                    None => {
                        return Err(errors::TABLE_NOT_LOCKED.with([&n.table]));
                    }
                    Some((.., false)) if n.privilege != Privilege::Select => {
                        return Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&n.table]));
                    }
                    Some(_) if is_of_definition(n.privilege) && locked.shares(n) => {
                        return Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&n.table]));
                    }
                    Some(_) => {}
                }
            }
            return Ok(());
        }
        let all = &self.instance.locked_tables;
        if all.reads.load(Ordering::SeqCst) > 0 {
            self.wait_for_writable(needs)?;
        }
        if all.writes.load(Ordering::SeqCst) == 0 || self.reads_snapshot(needs) {
            return Ok(());
        }
        let catalog = self.instance.database().catalog();
        for n in needs {
            if let Some(t) = catalog.table(&n.db, &n.table) {
                self.process.stage(Stage::WaitingForTableLock);
                all.wait_for_readable(t.def.id, self.client.id, &self.patience())?;
                for (db, name) in t.def.merge.iter().flat_map(|m| &m.tables) {
                    if let Some(t) = catalog.table(db, name) {
                        all.wait_for_readable(t.def.id, self.client.id, &self.patience())?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl ClientSession {
    /// Waits for READ locks on what a statement writes, as long as `lock_wait_timeout` says: the store's locks would be waited
    /// for as rows are, and only for rows that are found. A transaction that has written the table is what the lock waits for.
    fn wait_for_writable(&self, needs: &[Needs]) -> SqlResult<()> {
        let written =
            |p: Privilege| matches!(p, Privilege::Insert | Privilege::Update | Privilege::Delete);
        // CREATE TABLE ... SELECT writes to a table that is not there yet.
        let created = needs.iter().filter(|n| n.privilege == Privilege::Create);
        let made: HashSet<(&str, &str)> = created.map(|n| (&*n.db, &*n.table)).collect();
        let made = |n: &Needs| made.contains(&(&*n.db, &*n.table));
        let catalog = self.instance.database().catalog();
        for n in needs.iter().filter(|n| written(n.privilege) && !made(n)) {
            if let Some(t) = catalog.table(&n.db, &n.table) {
                self.process.stage(Stage::WaitingForTableLock);
                let all = &self.instance.locked_tables;
                all.wait_for_writable(t.def.id, &self.patience())?;
            }
        }
        Ok(())
    }

    /// A statement that only reads, in a transaction whose rows are those of an earlier time: in MariaDB the WRITE lock is
    /// waiting for this transaction, which goes on.
    fn reads_snapshot(&self, needs: &[Needs]) -> bool {
        let Some(open) = &self.tx.open else {
            return false;
        };
        open.isolation == Isolation::RepeatableRead
            && open.txn.snapshot_seq().is_some()
            && needs.iter().all(|n| n.privilege == Privilege::Select)
    }
}

impl Locked {
    /// How many tables it holds READ locks on.
    fn reads(&self) -> usize {
        self._read.len()
    }

    /// True if it holds WRITE CONCURRENT on a table.
    fn shares(&self, n: &Needs) -> bool {
        let same = |t: &&(String, String, u64, bool)| t.0 == n.db && t.1 == n.table;
        let found = self.tables.iter().find(same);
        found.is_some_and(|t| self.shared.contains(&t.2))
    }

    /// Errors 1100 and 1099: a statement may call a table only as LOCK TABLES did, and do only that.
    fn check_alias(&self, n: &Needs, alias: &str) -> SqlResult<()> {
        let called = |l: &&(String, String, String, bool)| {
            l.0 == n.db && l.1 == n.table && l.2.eq_ignore_ascii_case(alias)
        };
        let mut found = self.aliases.iter().filter(called).peekable();
        if found.peek().is_none() {
            return Err(errors::TABLE_NOT_LOCKED.with([&alias]));
        }
        match n.privilege == Privilege::Select || found.any(|l| l.3) {
            true => Ok(()),
            false => Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&alias])),
        }
    }
}

/// Error 1192.
fn active_locks() -> SqlError {
    errors::LOCK_OR_ACTIVE_TRANSACTION.plain()
}

/// Adds a table that is to be locked. Under two aliases, once is enough, with the stronger of both.
fn note(names: &mut Vec<(String, String, bool)>, db: &str, name: &str, write: bool) {
    match names.iter_mut().find(|(d, n, _)| d == db && n == name) {
        Some(known) => known.2 |= write,
        None => names.push((db.to_string(), name.to_string(), write)),
    }
}

/// The tables that a LOCK TABLES names with WRITE CONCURRENT and nowhere with WRITE.
#[derive(Default)]
struct SharedNames {
    shared: HashSet<(String, String)>,
    alone: HashSet<(String, String)>,
}

impl SharedNames {
    fn note(&mut self, t: &TableLock, db: &str, name: &str) {
        let name = (db.to_string(), name.to_string());
        match (t.write, t.shared) {
            (true, true) => self.shared.insert(name),
            (true, false) => self.alone.insert(name),
            (false, _) => return,
        };
    }

    fn has(&self, db: &str, name: &str) -> bool {
        let name = (db.to_string(), name.to_string());
        self.shared.contains(&name) && !self.alone.contains(&name)
    }
}

/// What a change of rows does not need.
fn is_of_definition(p: Privilege) -> bool {
    use Privilege as P;
    !matches!(p, P::Select | P::Insert | P::Update | P::Delete)
}
