//! CREATE, ALTER and DROP of stored programs: each is one commit, with its statement in the log.

use super::compiled::{Now, compile_definition, env_of, shown_type};
use super::definition::{
    self, Definition, Stored, TriggerPart, WrittenHead, apply, body_text, take_written,
};
use super::package;
use super::rights;
use crate::acl::{self, Account};
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, unknown_database};
use crate::status;
use crate::system_schemas::{MYSQL, is_information_schema};
use narwal_engine::{CatalogChange, Ddl};
use narwal_sql::VariableSource;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_syntax::ast::TableName;
use narwal_syntax::ast::ddl::{AlterRoutine, Creation, Definer, DropObject, ProgramKind};
use narwal_syntax::ast::program::{CreatePackage, CreateRoutine, CreateTrigger, TriggerEvent};
use narwal_types::errors;
use narwal_types::{Name, ResultSink, SqlResult, Value};

pub(super) fn verb(creation: Creation) -> &'static str {
    match creation.or_replace {
        true => "CREATE OR REPLACE",
        false => "CREATE",
    }
}

/// Whether a MariaDB has such a procedure from its installation on: a replica's own one is replaced.
fn is_installed(def: &Definition) -> bool {
    let installed = ["AddGeometryColumn", "DropGeometryColumn"];
    def.kind == Stored::Procedure
        && def.db == MYSQL
        && (installed.iter()).any(|n| n.same_name(&def.name))
}

impl ClientSession {
    /// Runs a statement that changes definitions, under its counter.
    pub(super) fn define(
        &mut self,
        counter: &str,
        out: &mut dyn ResultSink,
        more: bool,
        change: impl FnOnce(&mut Self) -> SqlResult<()>,
    ) -> SqlResult<()> {
        // All but triggers are made without a look at a table.
        let keeps = counter != "Com_create_trigger";
        self.begin_statement(status::counter(counter), keeps);
        if let Some(answer) = self.passed_over(true, out, more) {
            return answer;
        }
        let earlier = self.take_inherited();
        let instance = self.instance.clone();
        // Before the lock of the accounts, which routines take: who waits for a backup keeps nobody else waiting.
        let changed = match self.enter_definition(&instance, Vec::new()) {
            Ok(_defining) => change(self),
            Err(e) => Err(e),
        };
        match changed {
            Ok(()) => {
                self.leave_inherited(earlier);
                self.finish_ok(0, 0, String::new(), out, more)
            }
            Err(e) => self.fail(e),
        }
    }

    /// CREATE PROCEDURE and CREATE FUNCTION.
    pub(super) fn create_routine(&mut self, r: &CreateRoutine, text: &str) -> SqlResult<()> {
        let kind = match r.returns.is_some() {
            true => Stored::Function,
            false => Stored::Procedure,
        };
        let db = self.program_db(&r.name)?;
        self.need_on_database(&db, PrivilegeSet::CREATE_ROUTINE)?;
        let mut def = self.definition(kind, db, &r.name.name, r.definer.as_ref())?;
        take_written(&mut def, r, text);
        self.refuse_locked_tables()?;
        let env = self.env.within(&env_of(&def));
        let now = Now::new(&self.programs.store, &env, true);
        let program = compile_definition(&def, &env, &now, None)?;
        if let Some(ty) = program.returns {
            let written = r
                .returns
                .as_ref()
                .map(|t| shown_type(&def, t))
                .transpose()?;
            def.returns = match written {
                Some((name, Some(_))) => name,
                _ => ty.sql_name(),
            };
            if ty.has_charset() {
                let c = ty.collation;
                let more = format!(" CHARSET {} COLLATE {}", c.charset().name(), c.name());
                def.returns.push_str(&more);
            }
        }
        self.commit_open()?;
        let catalog = self.instance.database().catalog();
        let old = definition::find(&catalog, kind, &def.db, &def.name)?;
        if let Some(old) = &old
            && !self.may_replace(old, &r.name.name, r.creation)?
        {
            return Ok(());
        }
        let log = def.create(match is_installed(&def) {
            true => "CREATE OR REPLACE",
            false => verb(r.creation),
        });
        let mut changes = vec![def.put()?];
        // The accounts stay as they are until these are stored.
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        changes.extend(self.automatic_grant(&def));
        self.store_program(log, def.db, changes)
    }

    /// Error 1192 under LOCK TABLES.
    pub(super) fn refuse_locked_tables(&self) -> SqlResult<()> {
        match self.locks.tables {
            Some(_) => Err(errors::LOCK_OR_ACTIVE_TRANSACTION.plain()),
            None => Ok(()),
        }
    }

    /// `automatic_sp_privileges`: the account that makes a routine may run, change and drop it.
    fn automatic_grant(&mut self, def: &Definition) -> Vec<CatalogChange> {
        let wanted = PrivilegeSet::ALL_ROUTINE;
        let account = self.account();
        let Some(kind) = def.kind.routine().filter(|_| !self.internal) else {
            return Vec::new();
        };
        let automatic = self
            .instance
            .global_value("automatic_sp_privileges")
            .as_bool();
        if !automatic || account.on_routine(kind, &def.db, &def.name).has(wanted) {
            return Vec::new();
        }
        let acl = self.instance.acl();
        let (user, host) = (&self.client.account_user, &self.client.account_host);
        let Some(own) = acl.get(user, host) else {
            return Vec::new();
        };
        let mut own = Account::clone(own);
        let key = (kind, def.db.clone(), def.name.name_key());
        let have = own.routines.entry(key).or_default();
        *have = have.with(wanted);
        acl.with_built_in(vec![own.put()])
    }

    /// What is to be done about a program of that name: whether it is replaced. Error 1304.
    pub(super) fn may_replace(
        &mut self,
        old: &Definition,
        name: &str,
        creation: Creation,
    ) -> SqlResult<bool> {
        if creation.or_replace {
            if old.kind != Stored::Event {
                self.need_alter_routine(old, "alter routine")?;
            }
            return Ok(true);
        }
        let e = match old.kind {
            Stored::Trigger => {
                let full = format!("{}.{}", old.db, old.name);
                errors::TRG_ALREADY_EXISTS.with([&full])
            }
            Stored::Event => errors::EVENT_ALREADY_EXISTS.with([&name]),
            kind => errors::SP_ALREADY_EXISTS.with([&kind.word(), &name]),
        };
        if creation.if_not_exists {
            self.env.note(e.code, e.message);
            return Ok(false);
        }
        Err(e)
    }

    pub(super) fn program_db(&self, name: &TableName) -> SqlResult<String> {
        let db = match &name.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        if is_information_schema(&db) || db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) {
            return Err(acl::database_denied(&self.rights.account, &db));
        }
        // Programs may stand in the schema `mysql` like any other.
        if db != MYSQL && self.instance.database().catalog().database(&db).is_none() {
            return Err(unknown_database(&db));
        }
        Ok(db)
    }

    pub(super) fn need_on_database(&mut self, db: &str, wanted: PrivilegeSet) -> SqlResult<()> {
        let account = self.account();
        if self.internal || account.global.has(wanted) || account.on_database(db).has(wanted) {
            return Ok(());
        }
        Err(acl::database_denied(&account, db))
    }

    fn need_alter_routine(&mut self, def: &Definition, verb: &str) -> SqlResult<()> {
        let account = self.account();
        if self.internal || rights::may(&account, def, PrivilegeSet::ALTER_ROUTINE) {
            return Ok(());
        }
        Err(rights::denied(&account, def, verb))
    }

    /// A definition with what the session gives it.
    pub(super) fn definition(
        &mut self,
        kind: Stored,
        db: String,
        name: &str,
        definer: Option<&Definer>,
    ) -> SqlResult<Definition> {
        let definer = self.definer(definer)?;
        let catalog = self.instance.database().catalog();
        let collation = catalog.database(&db).map(|d| d.collation);
        Ok(Definition {
            kind,
            name: name.to_string(),
            parameters: String::new(),
            returns: String::new(),
            aggregate: false,
            body: String::new(),
            definer,
            invoker: false,
            deterministic: false,
            access: "CONTAINS SQL".into(),
            comment: String::new(),
            sql_mode: self.env.sql_mode.0,
            charset: (
                self.session_text("character_set_client"),
                self.session_text("collation_connection"),
                collation.unwrap_or_default().name().to_string(),
            ),
            created: self.env.now_micros,
            modified: self.env.now_micros,
            trigger: None,
            event: None,
            db,
        })
    }

    /// A session variable that is a text.
    pub(crate) fn session_text(&self, name: &str) -> String {
        match self.vars.system(narwal_sql::VariableScope::Session, name) {
            Ok(Value::Str(s)) => s.to_string(),
            _ => String::new(),
        }
    }

    fn definer(&mut self, given: Option<&Definer>) -> SqlResult<(String, String)> {
        let account = self.account();
        let own = (account.user.clone(), account.host.clone());
        match given {
            None | Some(Definer::CurrentUser) => Ok(own),
            Some(Definer::CurrentRole) => Ok((self.current_role()?, String::new())),
            Some(Definer::Account(user, host)) => {
                let definer = self.instance.acl().definer_named(user, host.as_deref())?;
                let own_role = self.is_own_role(&definer);
                if definer != own && !own_role && !self.internal {
                    self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::SET_USER))?;
                    if self.instance.acl().get(&definer.0, &definer.1).is_none() {
                        let e = errors::NO_SUCH_USER.with([&definer.0, &definer.1]);
                        self.env.note(e.code, e.message);
                    }
                }
                Ok(definer)
            }
        }
    }

    /// The role that is set: it may be a definer without further rights.
    pub(crate) fn is_own_role(&self, (role, host): &(String, String)) -> bool {
        host.is_empty() && self.rights.role.as_deref() == Some(role)
    }

    /// Commits changes of programs. `db`: the default database that replicas run the statement with.
    pub(super) fn store_program(
        &mut self,
        sql: String,
        db: String,
        changes: Vec<CatalogChange>,
    ) -> SqlResult<()> {
        self.check_ddl_writable()?;
        self.refuse_under_read_lock()?;
        let instance = self.instance.clone();
        let _permit = instance.read_lock.enter(true, &self.patience())?;
        let ddl = Ddl {
            sql,
            db,
            changes,
            sql_mode: self.env.sql_mode.0,
            thread_id: self.client.id,
            timestamp: self.env.timestamp(),
            suppress_use: false,
            implicit_timestamps: false,
            if_exists: self.env.if_exists,
        };
        let mut options = self.txn_options(self.settings.isolation, false);
        if ddl.changes.iter().any(definition::makes_event) {
            options.time_zone = Some(self.session_text("time_zone").into());
        }
        let done = self.instance.database().ddl(ddl, &options)?;
        // As in MariaDB, whose cache of programs begins anew: variables of packages go with it.
        self.programs.state.lock().packages.clear();
        self.note_gtid(done.gtid);
        Ok(())
    }

    /// CREATE PACKAGE and CREATE PACKAGE BODY.
    pub(super) fn create_package(&mut self, p: &CreatePackage, text: &str) -> SqlResult<()> {
        let kind = match p.body {
            true => Stored::PackageBody,
            false => Stored::Package,
        };
        let db = self.program_db(&p.name)?;
        self.need_on_database(&db, PrivilegeSet::CREATE_ROUTINE)?;
        let mut def = self.definition(kind, db, &p.name.name, p.definer.as_ref())?;
        def.body = text
            .get(p.at.clone())
            .unwrap_or_default()
            .trim()
            .to_string();
        apply(&mut def, &p.characteristics);
        self.refuse_locked_tables()?;
        let catalog = self.instance.database().catalog();
        if p.body {
            let spec = definition::find(&catalog, Stored::Package, &def.db, &def.name)?;
            let Some(spec) = spec else {
                let full = format!("{}.{}", def.db, def.name);
                return Err(errors::SP_DOES_NOT_EXIST.with([&"PACKAGE", &full]));
            };
            let env = self.env.within(&env_of(&def));
            let now = Now::new(&self.programs.store, &env, true);
            package::compile_all(&def, &env, &now)?;
            package::check_body(&def.db, &package::parsed(&spec)?.0, p)?;
        }
        self.commit_open()?;
        let catalog = self.instance.database().catalog();
        let old = definition::find(&catalog, kind, &def.db, &def.name)?;
        if let Some(old) = &old
            && !self.may_replace(old, &p.name.name, p.creation)?
        {
            return Ok(());
        }
        let log = def.create(verb(p.creation));
        let mut changes = vec![def.put()?];
        if !p.body {
            // The body is one of another specification.
            let body = definition::find(&catalog, Stored::PackageBody, &def.db, &def.name)?;
            changes.extend(body.map(|b| b.delete()));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        changes.extend(self.automatic_grant(&def));
        self.store_program(log, def.db, changes)
    }

    /// CREATE TRIGGER.
    pub(super) fn create_trigger(&mut self, t: &CreateTrigger, text: &str) -> SqlResult<()> {
        let db = self.program_db(&t.table)?;
        if db == MYSQL {
            return Err(errors::NO_TRIGGERS_ON_SYSTEM_SCHEMA.plain());
        }
        // MariaDB has a file for each, and the prefix is that of names of old files.
        if t.name.name.starts_with("#mysql50#") {
            return Err(errors::SP_WRONG_NAME.with([&t.name.name]));
        }
        let table = &t.table.name;
        let own = t.name.db.as_deref().or(self.env.db.as_deref());
        if let Some(d) = own.filter(|d| *d != db) {
            // The trigger's database is looked at first.
            let there = |d: &str| self.instance.database().catalog().has(d, table);
            return Err(match t.table.db.is_none() && !there(d) {
                true => errors::NO_SUCH_TABLE.with([&d, &table]),
                false => errors::TRG_IN_WRONG_SCHEMA.plain(),
            });
        }
        self.need_trigger(&db, table)?;
        self.check_locked_for_write(std::slice::from_ref(&t.table))?;
        let catalog = self.instance.database().catalog();
        let stored = catalog.table(&db, table).filter(|t| !t.def.sequence);
        if stored.is_none() || self.env.temporary_table(&db, table).is_some() {
            if self.env.temporary_table(&db, table).is_none() && catalog.view(&db, table).is_some()
            {
                return Err(errors::WRONG_OBJECT.with([&db, table, &"BASE TABLE"]));
            }
            if catalog.has(&db, table) || self.env.temporary_table(&db, table).is_some() {
                return Err(errors::TRG_ON_VIEW_OR_TEMP_TABLE.with([table]));
            }
            return Err(errors::NO_SUCH_TABLE.with([&db, table]));
        }
        if stored.is_some_and(|t| t.def.merge.is_some()) {
            return Err(narwal_types::SqlError::unsupported(
                "triggers of MERGE tables",
            ));
        }
        let instance = self.instance.clone();
        let _changing = self.enter_change(&instance, vec![(db.clone(), table.clone())])?;
        let mut def = self.definition(Stored::Trigger, db, &t.name.name, t.definer.as_ref())?;
        def.body = body_text(text, &t.body_at);
        def.trigger = Some(TriggerPart {
            table: table.clone(),
            before: t.before,
            event: match t.event {
                TriggerEvent::Insert => "INSERT",
                TriggerEvent::Update => "UPDATE",
                TriggerEvent::Delete => "DELETE",
            }
            .into(),
            order: 0,
            written: WrittenHead::of(text, t.head_at, t.body_at.start),
        });
        let env = self.env.within(&env_of(&def));
        let now = Now::new(&self.programs.store, &env, true);
        let columns = now.columns(&TableName {
            db: Some(def.db.clone()),
            name: table.clone(),
        })?;
        compile_definition(&def, &env, &now, Some(columns))?;
        self.commit_open()?;
        let catalog = self.instance.database().catalog();
        let old = definition::find(&catalog, Stored::Trigger, &def.db, &def.name)?;
        if let Some(old) = &old
            && !self.may_replace(old, &t.name.name, t.creation)?
        {
            return Ok(());
        }
        let changes = placed(&mut def, t, &catalog)?;
        let log = log_text(&def, t);
        self.store_program(log, def.db, changes)?;
        self.close_handlers_on(&t.table);
        Ok(())
    }

    fn need_trigger(&mut self, db: &str, table: &str) -> SqlResult<()> {
        let host = self.client.host.clone();
        let account = self.account();
        let wanted = PrivilegeSet::TRIGGER;
        if self.internal || account.on_table(db, table).has(wanted) {
            return Ok(());
        }
        Err(acl::table_denied("TRIGGER", &account, &host, db, table))
    }

    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
    pub(crate) fn drop_program(
        &mut self,
        kind: ProgramKind,
        d: &DropObject<TableName>,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let (kind, counter) = match kind {
            ProgramKind::Procedure => (Stored::Procedure, "Com_drop_procedure"),
            ProgramKind::Function => (Stored::Function, "Com_drop_function"),
            ProgramKind::Event => (Stored::Event, "Com_drop_event"),
            ProgramKind::Package => (Stored::Package, "Com_drop_package"),
            ProgramKind::PackageBody => (Stored::PackageBody, "Com_drop_package_body"),
            _ => (Stored::Trigger, "Com_drop_trigger"),
        };
        self.define(counter, out, more, |s| s.drop_stored(kind, d, text))
    }

    fn drop_stored(
        &mut self,
        kind: Stored,
        d: &DropObject<TableName>,
        text: &str,
    ) -> SqlResult<()> {
        if kind != Stored::Trigger {
            self.refuse_locked_tables()?;
        }
        self.commit_open()?;
        self.refuse_in_read_only_session()?;
        let db = match &d.name.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        if kind == Stored::Event {
            self.need_on_database(&db, PrivilegeSet::EVENT)?;
        }
        let instance = self.instance.clone();
        let _writer = (kind == Stored::Event).then(|| instance.events.writer());
        let catalog = self.instance.database().catalog();
        let Some(def) = definition::find(&catalog, kind, &db, &d.name.name)? else {
            if let Some(routine) = kind.routine() {
                // Who may not drop it is not told that there is none.
                let account = self.account();
                let have = account.on_routine(routine, &db, &d.name.name);
                if !have.has(PrivilegeSet::ALTER_ROUTINE) && !self.internal {
                    let full = format!("{db}.{}", d.name.name);
                    let (user, host) = (&account.user, &account.host);
                    return Err(errors::PROCACCESS_DENIED_ERROR.with([
                        &"alter routine",
                        user,
                        host,
                        &full,
                    ]));
                }
            }
            let e = match kind {
                Stored::Trigger => errors::TRG_DOES_NOT_EXIST.plain(),
                // The note is that of routines, the error an own one.
                Stored::Event if d.if_exists => {
                    errors::SP_DOES_NOT_EXIST.with([&"Event", &d.name.name])
                }
                Stored::Event => errors::EVENT_DOES_NOT_EXIST.with([&d.name.name]),
                kind => {
                    let full = format!("{db}.{}", d.name.name);
                    errors::SP_DOES_NOT_EXIST.with([&kind.word(), &full])
                }
            };
            if !d.if_exists {
                return Err(e);
            }
            self.env.note(e.code, e.message);
            return Ok(());
        };
        match &def.trigger {
            Some(t) => {
                self.need_trigger(&db, &t.table)?;
                self.check_locked_for_write(&[TableName {
                    db: Some(db.clone()),
                    name: t.table.clone(),
                }])?;
            }
            None if kind == Stored::Event => {}
            None => self.need_alter_routine(&def, "alter routine")?,
        }
        if let Some(t) = &def.trigger {
            self.close_handlers_on(&TableName {
                db: Some(db.clone()),
                name: t.table.clone(),
            });
        }
        let mut changes = vec![def.delete()];
        if kind == Stored::Package {
            let body = definition::find(&catalog, Stored::PackageBody, &db, &d.name.name)?;
            changes.extend(body.map(|b| b.delete()));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        if let Some(kind) = def.kind.routine() {
            // Privileges on a routine end with it.
            let key = (kind, def.db.clone(), def.name.name_key());
            for a in instance.acl().accounts() {
                if a.routines.contains_key(&key) {
                    let mut a = Account::clone(a);
                    a.routines.remove(&key);
                    changes.push(a.put());
                }
            }
        }
        let default = self.env.db.as_deref().unwrap_or("").to_string();
        self.store_program(text.to_string(), default, changes)
    }

    /// ALTER PROCEDURE and ALTER FUNCTION.
    pub(crate) fn alter_routine(
        &mut self,
        a: &AlterRoutine,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let counter = match a.function {
            true => "Com_alter_function",
            false => "Com_alter_procedure",
        };
        self.define(counter, out, more, |s| s.alter_stored(a, text))
    }

    fn alter_stored(&mut self, a: &AlterRoutine, text: &str) -> SqlResult<()> {
        self.refuse_locked_tables()?;
        self.commit_open()?;
        let kind = match a.function {
            true => Stored::Function,
            false => Stored::Procedure,
        };
        let db = self.program_db(&a.name)?;
        let catalog = self.instance.database().catalog();
        let Some(mut def) = definition::find(&catalog, kind, &db, &a.name.name)? else {
            let full = format!("{db}.{}", a.name.name);
            return Err(errors::SP_DOES_NOT_EXIST.with([&kind.word(), &full]));
        };
        self.need_alter_routine(&def, "alter routine")?;
        apply(&mut def, &a.characteristics);
        def.modified = self.env.now_micros;
        let change = def.put()?;
        let default = self.env.db.as_deref().unwrap_or("").to_string();
        self.store_program(text.to_string(), default, vec![change])
    }
}

/// Gives a trigger its place among those of its kind; the changes that store it and those that move.
fn placed(
    def: &mut Definition,
    t: &CreateTrigger,
    catalog: &narwal_engine::Catalog,
) -> SqlResult<Vec<CatalogChange>> {
    let same_kind = |d: &Definition| match (&d.trigger, &def.trigger) {
        (Some(a), Some(b)) => a.before == b.before && a.event == b.event && d.name != def.name,
        _ => false,
    };
    let table = &t.table.name;
    let mut list: Vec<Definition> = definition::triggers_of(catalog, &def.db, table)
        .into_iter()
        .filter(same_kind)
        .collect();
    let at = match &t.order {
        None => list.len(),
        Some((follows, other)) => {
            let found = list.iter().position(|d| d.name == *other);
            let found = found.ok_or_else(|| errors::REFERENCED_TRG_DOES_NOT_EXIST.with([other]))?;
            found + usize::from(*follows)
        }
    };
    list.insert(at, def.clone());
    let mut changes = Vec::new();
    for (i, d) in list.iter_mut().enumerate() {
        let order = u32::try_from(i + 1).unwrap_or(u32::MAX);
        let moved = d.trigger.as_ref().is_some_and(|p| p.order != order);
        if let Some(p) = &mut d.trigger {
            p.order = order;
        }
        if moved || d.name == def.name {
            changes.push(d.put()?);
        }
    }
    Ok(changes)
}

/// CREATE TRIGGER as replicas run it.
fn log_text(def: &Definition, t: &CreateTrigger) -> String {
    let order = t.order.as_ref().map(|(follows, other)| {
        let word = if *follows { "FOLLOWS" } else { "PRECEDES" };
        format!("{word} {}", narwal_sql::show::quote_ident(other))
    });
    def.create_in_order(verb(t.creation), order.as_deref())
}
