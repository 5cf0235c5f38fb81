//! INSERT, UPDATE, DELETE and LOAD DATA of the grant tables in the schema `mysql`, as older tools write them, and of `proc`
//! and `event`; and row events of a source for them. What is stored are the accounts (`acl.rs`) and the programs'
//! definitions; these tables are made of them. So a statement, or a row event, works on a copy of its table, and what it
//! has changed there is then changed in those, in one commit. It holds at once, without FLUSH PRIVILEGES.

use crate::acl::{Account, Lifetime, RoutineKind, TlsNeed};
use crate::drafts::Drafts;
use crate::information_schema::{privilege_of_column, system_rows, system_table};
use crate::privileges::PrivilegeSet;
use crate::programs::written;
use crate::session::ClientSession;
use crate::system_schemas::{Home, MYSQL, fault, home};
use crate::written_rows::{Row, Texts, insert_text, literal, without};
use narwal_engine::{CatalogChange, Table, TemporaryTables, TxnOptions};
use narwal_sql::ast::{TableName, TableRef};
use narwal_sql::{Needs, Outcome, Privilege, SqlMode, Stmt};
use narwal_syntax::{Tok, glance};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Name, ResultSink, SqlError, SqlResult, Value, Zone};
use std::sync::Arc;

/// The grant tables that may be written to.
const GRANT_TABLES: [&str; 8] = [
    "user",
    "global_priv",
    "db",
    "tables_priv",
    "columns_priv",
    "procs_priv",
    "roles_mapping",
    "proxies_priv",
];

/// The name of the copy.
const COPY: &str = "#grants";

/// A table of accounts or programs, copied for the row events of a source.
pub(crate) struct Copied {
    table: &'static Arc<Table>,
    before: Texts,
    /// Where the rows go.
    pub(crate) copy: Arc<Table>,
    /// What a transaction needs to write there.
    pub(crate) tables: Arc<TemporaryTables>,
}

/// What a statement writes to, with the privilege that this needs.
fn target(stmt: &Stmt) -> Option<(&TableName, Privilege)> {
    match stmt {
        Stmt::Insert(i) => Some((&i.table, Privilege::Insert)),
        Stmt::Update(u) => Some((&u.table.name, Privilege::Update)),
        Stmt::Delete(d) => Some((&d.table.name, Privilege::Delete)),
        Stmt::LoadData(l) => Some((&l.table, Privilege::Insert)),
        _ => None,
    }
}

/// The same statement for the copy.
fn on_copy(stmt: &Stmt) -> Stmt {
    let copy = TableName {
        db: Some(MYSQL.into()),
        name: COPY.into(),
    };
    let named = |t: &mut TableRef, copy: TableName| {
        let name = std::mem::replace(&mut t.name, copy).name;
        t.alias.get_or_insert(name);
    };
    let mut stmt = stmt.clone();
    match &mut stmt {
        Stmt::Insert(i) => i.table = copy,
        Stmt::LoadData(l) => l.table = copy,
        Stmt::Update(u) => named(&mut u.table, copy),
        Stmt::Delete(d) => named(&mut d.table, copy),
        _ => {}
    }
    stmt
}

/// What a row of a grant table says.
trait Grants {
    /// The privileges that a SET lists.
    fn listed(&self, column: &str) -> PrivilegeSet;
    /// The privileges whose columns say Y.
    fn by_column(&self) -> PrivilegeSet;
    /// Its database and table.
    fn key(&self) -> (String, String);
}

impl Grants for Row<'_> {
    fn listed(&self, column: &str) -> PrivilegeSet {
        let names = self.get(column).split(',').map(|n| match n {
            "Grant" => "GRANT OPTION".to_string(),
            n => n.to_ascii_uppercase(),
        });
        PrivilegeSet::from_names(&names.collect::<Vec<_>>())
    }

    fn by_column(&self) -> PrivilegeSet {
        let columns = self.table.def.columns.iter().zip(self.values);
        columns
            .filter(|(_, v)| *v == "Y")
            .filter_map(|(c, _)| privilege_of_column(&c.name))
            .fold(PrivilegeSet::NONE, PrivilegeSet::with)
    }

    fn key(&self) -> (String, String) {
        (self.get("Db").into(), self.get("Table_name").into())
    }
}

/// Gives an account what a row says, or takes it away.
fn change(a: &mut Account, row: &Row<'_>, added: bool) {
    match row.table.def.name.as_str() {
        "db" => {
            a.databases.remove(row.get("Db"));
            if added {
                a.databases.insert(row.get("Db").into(), row.by_column());
            }
        }
        "tables_priv" => {
            a.tables.remove(&row.key());
            if added {
                a.tables.insert(row.key(), row.listed("Table_priv"));
            }
        }
        "columns_priv" => {
            let list = a.columns.entry(row.key()).or_default();
            list.remove(row.get("Column_name"));
            if added {
                list.insert(row.get("Column_name").into(), row.listed("Column_priv"));
            }
            a.columns.retain(|_, list| !list.is_empty());
        }
        "procs_priv" => {
            let word = row.get("Routine_type");
            let Some(kind) = RoutineKind::ALL.into_iter().find(|k| k.word() == word) else {
                return;
            };
            let name = row.get("Routine_name").name_key();
            let key = (kind, row.get("Db").to_string(), name);
            a.routines.remove(&key);
            if added {
                a.routines.insert(key, row.listed("Proc_priv"));
            }
        }
        "roles_mapping" => {
            a.roles.remove(row.get("Role"));
            if added {
                let admin = row.get("Admin_option") == "Y";
                a.roles.insert(row.get("Role").into(), admin);
            }
        }
        _ => {
            let (user, host) = (row.get("Proxied_user"), row.get("Proxied_host"));
            let anybody = user.is_empty() && host.is_empty();
            let key = (user.into(), if anybody { "%" } else { host }.into());
            a.proxies.remove(&key);
            if added {
                a.proxies.insert(key, row.get("With_grant") != "0");
            }
        }
    }
}

/// What the JSON of `global_priv` makes of an account. What it does not name is as for a new one.
fn described(a: &mut Account, json: &str) -> SqlResult<()> {
    let wrong = || errors::CONSTRAINT_FAILED.with([&"global_priv.Priv", &MYSQL, &"global_priv"]);
    let all: serde_json::Value = serde_json::from_str(json).map_err(|_| wrong())?;
    let text = |name: &str| all[name].as_str().unwrap_or_default().to_string();
    let number = |name: &str| all[name].as_u64().unwrap_or(0);
    let fresh = Account::new(&a.user, &a.host);
    a.global = PrivilegeSet::from_access(number("access"));
    a.is_role = all["is_role"].as_bool().unwrap_or(false);
    a.plugin = match text("plugin") {
        p if a.is_role || !p.is_empty() => p,
        _ => fresh.plugin,
    };
    a.auth = text("authentication_string");
    a.locked = all["account_locked"].as_bool().unwrap_or(false);
    a.default_role = text("default_role");
    let changed = all["password_last_changed"].as_i64();
    a.expired = changed == Some(0);
    a.password_changed = changed.unwrap_or(0);
    a.lifetime = match all["password_lifetime"].as_i64() {
        Some(0) => Lifetime::Never,
        Some(days) => u32::try_from(days).map_or(Lifetime::Default, Lifetime::Days),
        None => Lifetime::Default,
    };
    a.tls = match number("ssl_type") {
        0 => TlsNeed::None,
        1 => TlsNeed::Any,
        2 => TlsNeed::X509,
        _ => TlsNeed::Specified {
            issuer: text("x509_issuer"),
            subject: text("x509_subject"),
            cipher: Some(text("ssl_cipher")).filter(|c| !c.is_empty()),
        },
    };
    a.limits.queries = number("max_questions");
    a.limits.updates = number("max_updates");
    a.limits.connections = number("max_connections");
    a.limits.user_connections = all["max_user_connections"].as_i64().unwrap_or(0);
    let seconds = all["max_statement_time"].as_f64().unwrap_or(0.0);
    a.limits.statement_micros = (seconds * 1e6) as u64;
    Ok(())
}

/// Drops the account that a row was of.
fn drop_account(drafts: &mut Drafts, user: &str, host: &str) {
    match drafts.get(user, host) {
        Some(a) if a.is_role => drafts.drop_role(user),
        Some(_) => drafts.drop(user, host),
        None => {}
    }
}

/// The rows of a statement on a table, and what has become of them, as changes of accounts.
fn follow(drafts: &mut Drafts, table: &Table, before: &Texts, after: &Texts) -> SqlResult<()> {
    let removed = without(before, after);
    let added = without(after, before);
    let of_accounts = matches!(table.def.name.as_str(), "user" | "global_priv");
    let row = |values| Row { table, values };
    let same =
        |a: &Row<'_>, b: &Row<'_>| (a.get("User"), a.get("Host")) == (b.get("User"), b.get("Host"));
    for values in &removed {
        let row = row(values.as_slice());
        let (user, host) = (row.get("User"), row.get("Host"));
        if of_accounts {
            let stays = |v: &Vec<String>| same(&row, &Row { table, values: v });
            if !added.iter().any(stays) {
                drop_account(drafts, user, host);
            }
        } else if let Some(mut a) = drafts.get(user, host) {
            change(&mut a, &row, false);
            drafts.put(a);
        }
    }
    for values in &added {
        let row = row(values.as_slice());
        let (user, host) = (row.get("User"), row.get("Host"));
        let known = drafts.get(user, host);
        let mut a = match (known, of_accounts) {
            (Some(a), _) => a,
            (None, true) => Account::new(user, host),
            (None, false) => {
                let what = format!("a grant to '{user}'@'{host}', who is no account");
                return Err(SqlError::unsupported(what));
            }
        };
        match of_accounts {
            true => described(&mut a, row.get("Priv"))?,
            false => change(&mut a, &row, true),
        }
        drafts.put(a);
    }
    Ok(())
}

impl ClientSession {
    /// The grant table that a statement writes to.
    pub(crate) fn grant_table(&self, stmt: &Stmt) -> Option<&'static Arc<Table>> {
        let (name, _) = target(stmt)?;
        let db = name.db.as_deref().or(self.env.db.as_deref())?;
        if db != MYSQL {
            return None;
        }
        self.made_table(&name.name)
    }

    /// The table of accounts or programs that row events of a source name.
    pub(crate) fn made_table(&self, name: &str) -> Option<&'static Arc<Table>> {
        let table = system_table(name)?;
        let writable = match home(name) {
            Home::Shown => GRANT_TABLES.contains(&name),
            Home::Programs => fault(&self.instance.database().catalog(), name).is_none(),
            Home::Stored => false,
        };
        writable.then_some(table)
    }

    /// The grant table that a statement writes to, where planning it has failed with `e` because it is no table of the store's.
    pub(crate) fn writes_grants(&self, stmt: &Stmt, e: &SqlError) -> Option<&'static Arc<Table>> {
        match e.code {
            codes::NO_SUCH_TABLE | codes::TABLEACCESS_DENIED_ERROR => self.grant_table(stmt),
            _ => None,
        }
    }

    /// The text with the values of a prepared statement in the place of its `?`, for replicas.
    fn with_values(&self, text: &str) -> String {
        let values = self.env.bound_params.borrow();
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for t in glance::tokens(text, self.env.sql_mode) {
            if let Tok::Param(n) = t.tok
                && let Some(v) = values.get(usize::from(n))
            {
                out.push_str(&text[done..t.start as usize]);
                out.push_str(&literal(v));
                done = t.end as usize;
            }
        }
        out.push_str(&text[done..]);
        out
    }

    /// Runs a statement that writes to a grant table.
    pub(crate) fn write_grants(
        &mut self,
        table: &'static Arc<Table>,
        stmt: &Stmt,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        match self.change_grants(table, stmt, text) {
            Ok((affected, info)) => self.finish_ok(affected, 0, info, out, more),
            Err(e) => self.fail(e),
        }
    }

    fn change_grants(
        &mut self,
        table: &'static Arc<Table>,
        stmt: &Stmt,
        text: &str,
    ) -> SqlResult<(u64, String)> {
        let Some((_, privilege)) = target(stmt) else {
            return Err(SqlError::unknown("a statement that writes no rows"));
        };
        self.refuse_under_read_only()?;
        self.check_needs(&[Needs {
            db: MYSQL.into(),
            table: table.def.name.clone(),
            privilege,
            through: None,
            alias: None,
        }])?;
        // `user` is a view there, of which only rows can go.
        if table.def.name == "user" && privilege != Privilege::Delete {
            return Err(errors::VIEW_INVALID.with([&MYSQL, &"user"]));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let _events = instance.events.writer();
        if let Some(o) = &mut self.tx.open {
            o.txn.lend_temporary();
        }
        // The statement may read the session's own.
        let tables = self.env.temporary.clone().unwrap_or_default();
        let (before, after, outcome) = self.with_temporary(&tables, |s, options| {
            let done = s.change_copy(table, stmt, &tables, options);
            let gone = CatalogChange::DropTable {
                db: MYSQL.into(),
                name: COPY.into(),
            };
            let dropped = tables.ddl(instance.database(), vec![gone], options, None);
            let done = done?;
            dropped?;
            Ok::<_, SqlError>(done)
        })?;
        self.follow_copy(table, (&before, &after), self.with_values(text))?;
        match outcome {
            Outcome::Done { affected, info, .. } => Ok((affected, info)),
            _ => Err(SqlError::unsupported("RETURNING of grant tables")),
        }
    }

    /// What has become of a table's rows, `before` and `after`, becomes so. `text`: what replicas of this server run.
    fn follow_copy(
        &mut self,
        table: &'static Arc<Table>,
        (before, after): (&Texts, &Texts),
        text: String,
    ) -> SqlResult<()> {
        let instance = self.instance.clone();
        let changes = match home(&table.def.name) {
            Home::Programs => {
                let catalog = instance.database().catalog();
                written::changes(&catalog, table, before, after)?
            }
            _ => {
                let mut drafts = Drafts::new(instance.acl());
                follow(&mut drafts, table, before, after)?;
                drafts.changes()
            }
        };
        self.store(text, changes)?;
        instance.events.ring();
        Ok(())
    }

    /// Makes the copy and runs the statement on it: the rows before and after it, and what it answers.
    fn change_copy(
        &mut self,
        table: &Table,
        stmt: &Stmt,
        tables: &Arc<TemporaryTables>,
        options: &TxnOptions,
    ) -> SqlResult<(Texts, Texts, Outcome)> {
        let before = self.make_copy(table, tables, options)?;
        let outcome = self.run_on_copy(&on_copy(stmt), options, &mut Texts::default())?;
        let after = self.rows_of_copy(options)?;
        Ok((before, after, outcome))
    }

    /// Makes the copy; its rows.
    fn make_copy(
        &mut self,
        table: &Table,
        tables: &Arc<TemporaryTables>,
        options: &TxnOptions,
    ) -> SqlResult<Texts> {
        let mut def = table.def.clone();
        def.name = COPY.into();
        let make = vec![CatalogChange::CreateTable(def)];
        tables.ddl(self.instance.database(), make, options, None)?;
        let rows = system_rows(&self.view(), table)?;
        if !rows.is_empty() {
            let fill =
                narwal_sql::parse_statement(&insert_text(COPY, &rows), &self.parse_options())?;
            self.as_stored(|s| s.run_on_copy(&fill, options, &mut Texts::default()))?;
            self.env.clear_conditions();
        }
        self.rows_of_copy(options)
    }

    fn rows_of_copy(&mut self, options: &TxnOptions) -> SqlResult<Texts> {
        let all = format!("SELECT * FROM `{MYSQL}`.`{COPY}`");
        let all = narwal_sql::parse_statement(&all, &self.parse_options())?;
        let mut rows = Texts::default();
        self.as_stored(|s| s.run_on_copy(&all, options, &mut rows))?;
        Ok(rows)
    }

    /// Runs with these temporary tables as the session's.
    fn with_temporary<T>(
        &mut self,
        tables: &Arc<TemporaryTables>,
        run: impl FnOnce(&mut Self, &TxnOptions) -> T,
    ) -> T {
        let kept = self.env.temporary.replace(tables.clone());
        let options = TxnOptions {
            temporary: Some(tables.clone()),
            ..TxnOptions::default()
        };
        let done = run(self, &options);
        self.env.temporary = kept;
        self.plan_generation += 1;
        done
    }

    /// A copy of a table of accounts or programs for the row events of a source.
    pub(crate) fn copy_for_rows(&mut self, table: &'static Arc<Table>) -> SqlResult<Copied> {
        let tables: Arc<TemporaryTables> = Arc::default();
        self.with_temporary(&tables, |s, options| {
            let before = s.make_copy(table, &tables, options)?;
            let copy = s.env.temporary_table(MYSQL, COPY);
            let copy = copy.ok_or_else(|| SqlError::unknown("a copy that is not there"))?;
            Ok(Copied {
                table,
                copy,
                before,
                tables: tables.clone(),
            })
        })
    }

    /// What row events have made of a copy becomes so. `text`: what replicas of this server run.
    pub(crate) fn take_copy(&mut self, copied: &Copied, text: String) -> SqlResult<()> {
        let after = self.with_temporary(&copied.tables, |s, options| s.rows_of_copy(options))?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let _events = instance.events.writer();
        self.follow_copy(copied.table, (&copied.before, &after), text)
    }

    /// Runs what reads or writes rows of a system table as they are: some have no date, and their times are in UTC.
    pub(crate) fn as_stored<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let mode = std::mem::replace(&mut self.env.sql_mode, SqlMode(0));
        let zone = std::mem::replace(&mut self.env.time_zone, Zone::UTC);
        let done = run(self);
        self.env.sql_mode = mode;
        self.env.time_zone = zone;
        done
    }

    fn run_on_copy(
        &mut self,
        stmt: &Stmt,
        options: &TxnOptions,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let plan = self.plan(stmt, "")?;
        self.check_needs(plan.needs())?;
        let db = self.instance.database().clone();
        let mut txn = db.begin(options.clone());
        txn.begin_statement(self.env.timestamp(), None);
        // What a prepared statement was given is part of the plan.
        let values = vec![Value::Null; plan.params()];
        let outcome = narwal_sql::execute(&plan, &values, &mut txn, &db, &mut self.env, sink)?;
        txn.end_statement();
        txn.commit()?;
        Ok(outcome)
    }
}
