//! SHOW of stored programs, and their rows in the virtual tables.

use super::compiled::ShownType;
use super::definition::{self, Definition, Stored};
use super::of_sys;
use super::rights;
use crate::acl::{self, Account, RoutineKind};
use crate::admin::{Filter, TableRef};
use crate::privileges::PrivilegeSet;
use crate::rows::{Grid, type_facts};
use crate::session::ClientSession;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{BlobSize, ColumnType, DateTime, SqlResult, TypeKind, Value, Zone};

/// Rows of a virtual table.
type Rows = Vec<Vec<Value>>;

fn text(s: &str) -> Value {
    Value::str(s)
}

fn time(micros: i64, digits: u8, zone: Zone) -> Value {
    DateTime::from_unix_micros(zone.local(micros), 6)
        .map_or(Value::Null, |t| Value::DateTime(t.truncate(digits)))
}

impl Definition {
    fn definer_text(&self) -> String {
        match &self.definer {
            (role, host) if host.is_empty() => role.clone(),
            (user, host) => format!("{user}@{host}"),
        }
    }

    fn security(&self) -> &'static str {
        if self.invoker { "INVOKER" } else { "DEFINER" }
    }

    fn charsets(&self) -> [Value; 3] {
        let (client, connection, database) = &self.charset;
        [text(client), text(connection), text(database)]
    }
}

/// The account may see that there is such a program.
fn sees(account: &Account, def: &Definition) -> bool {
    match &def.trigger {
        Some(t) => account
            .on_table(&def.db, &t.table)
            .has(PrivilegeSet::TRIGGER),
        None => {
            let uses = [
                PrivilegeSet::EXECUTE,
                PrivilegeSet::ALTER_ROUTINE,
                PrivilegeSet::CREATE_ROUTINE,
            ];
            uses.iter().any(|p| rights::may(account, def, *p)) || reads(account, def)
        }
    }
}

/// What a trigger does and who made it, for an account that has the privilege. One that may only write the table sees that
/// there is a trigger; for others it is `None`.
fn told_of(account: &Account, def: &Definition, table: &str) -> Option<(Value, Value)> {
    if sees(account, def) {
        return Some((text(&def.body), text(&def.definer_text())));
    }
    let writes = [
        PrivilegeSet::INSERT,
        PrivilegeSet::UPDATE,
        PrivilegeSet::DELETE,
    ];
    let may = account.about_table(&def.db, table);
    let may_write = writes.into_iter().any(|p| may.has(p));
    (may_write && !is_mysql()).then_some((Value::Null, Value::Null))
}

/// The account may see what it does: it is its own, or the account may read the table that holds all programs, as one that makes
/// dumps does.
fn reads(account: &Account, def: &Definition) -> bool {
    (&account.user, &account.host) == (&def.definer.0, &def.definer.1)
        || account.on_table("mysql", "proc").has(PrivilegeSet::SELECT)
}

impl ClientSession {
    fn show_db(&self, name: &TableRef) -> SqlResult<String> {
        match &name.db {
            Some(d) => Ok(d.clone()),
            None => Ok(self.env.require_db()?.to_string()),
        }
    }

    /// A definer is the role that is set, or one that this role has.
    fn has_role(&self, (role, host): &(String, String)) -> bool {
        let Some(set) = self.rights.role.as_deref().filter(|_| host.is_empty()) else {
            return false;
        };
        let acl = self.instance.acl();
        acl.with_granted(set).into_iter().any(|r| r.user == *role)
    }

    /// SHOW CREATE PROCEDURE, FUNCTION, PACKAGE and PACKAGE BODY.
    pub(crate) fn show_create_routine(
        &mut self,
        kind: RoutineKind,
        name: &TableRef,
    ) -> SqlResult<Grid> {
        let word = match kind {
            RoutineKind::Function => "Function",
            RoutineKind::Procedure => "Procedure",
            RoutineKind::Package => "Package",
            RoutineKind::PackageBody => "Package body",
        };
        let kind = Stored::of(kind);
        let db = self.show_db(name)?;
        let catalog = self.instance.database().catalog();
        let found = of_sys::find(&catalog, kind, &db, &name.name)?;
        let account = self.account();
        let Some(def) = found.filter(|d| sees(&account, d)) else {
            return Err(errors::SP_DOES_NOT_EXIST.with([&kind.word(), &name.name]));
        };
        let mut g = Grid::new();
        g.text(word, 64)
            .text("sql_mode", 1024)
            .any(
                &format!("Create {word}"),
                TypeKind::Text(BlobSize::Medium),
                true,
            )
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64);
        // It is shown by the name that was asked for, in its letters.
        let shown = Definition {
            name: name.name.clone(),
            ..def.clone()
        };
        let create = match reads(&account, &def) || self.has_role(&def.definer) {
            true => text(&shown.create("CREATE")),
            false => Value::Null,
        };
        let [a, b, c] = def.charsets();
        g.row(vec![
            text(&shown.name),
            text(&def.mode().names()),
            create,
            a,
            b,
            c,
        ]);
        Ok(g)
    }

    /// SHOW CREATE TRIGGER.
    pub(crate) fn show_create_trigger(&mut self, name: &TableRef) -> SqlResult<Grid> {
        let db = self.show_db(name)?;
        let catalog = self.instance.database().catalog();
        let found = definition::find(&catalog, Stored::Trigger, &db, &name.name)?;
        let account = self.account();
        let Some(def) = found else {
            return Err(errors::TRG_DOES_NOT_EXIST.plain());
        };
        if !sees(&account, &def) {
            return Err(acl::privilege_needed(PrivilegeSet::TRIGGER));
        }
        let mut g = Grid::new();
        g.text("Trigger", 64)
            .text("sql_mode", 1024)
            .any(
                "SQL Original Statement",
                TypeKind::Text(BlobSize::Medium),
                false,
            )
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64)
            .any("Created", TypeKind::DateTime(2), true);
        let [a, b, c] = def.charsets();
        g.row(vec![
            text(&def.name),
            text(&def.mode().names()),
            text(&def.create("CREATE")),
            a,
            b,
            c,
            time(def.created, 2, self.env.time_zone),
        ]);
        Ok(g)
    }

    /// SHOW PROCEDURE STATUS and SHOW FUNCTION STATUS.
    pub(crate) fn show_routine_status(
        &mut self,
        kind: RoutineKind,
        filter: &Filter,
    ) -> SqlResult<Grid> {
        let kind = Stored::of(kind);
        let account = self.account();
        let catalog = self.instance.database().catalog();
        let mut g = Grid::new();
        g.text("Db", 64)
            .text("Name", 64)
            .text("Type", 9)
            .text("Definer", 384)
            .any("Modified", TypeKind::DateTime(0), false)
            .any("Created", TypeKind::DateTime(0), false)
            .text("Security_type", 7)
            .text("Comment", 1024)
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64);
        let zone = self.env.time_zone;
        definition::check_table(&catalog, kind)?;
        for def in of_sys::all(&catalog, kind) {
            if !sees(&account, &def) || !filter.may_match(&def.name) {
                continue;
            }
            let [a, b, c] = def.charsets();
            g.row(vec![
                text(&def.db),
                text(&def.name),
                text(kind.word()),
                text(&def.definer_text()),
                time(def.modified, 0, zone),
                time(def.created, 0, zone),
                text(def.security()),
                text(&def.comment),
                a,
                b,
                c,
            ]);
        }
        if filter.is_where() {
            filter.apply(&mut g)?;
        }
        Ok(g)
    }

    /// SHOW TRIGGERS. LIKE is about the table's name.
    pub(crate) fn show_triggers(&mut self, db: Option<&str>, filter: &Filter) -> SqlResult<Grid> {
        let db = self.database_named(db)?;
        let account = self.account();
        let catalog = self.instance.database().catalog();
        let mut g = Grid::new();
        g.text("Trigger", 64)
            .text("Event", 6)
            .text("Table", 64)
            .any("Statement", TypeKind::Text(BlobSize::Medium), true)
            .text("Timing", 6)
            .any("Created", TypeKind::DateTime(2), true)
            .text("sql_mode", 8192)
            .text_null("Definer", 384)
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64);
        let zone = self.env.time_zone;
        for def in sorted_triggers(definition::all(&catalog, Stored::Trigger)) {
            let Some(t) = &def.trigger else { continue };
            if def.db != db || !filter.may_match_table(&t.table) {
                continue;
            }
            let Some((body, definer)) = told_of(&account, &def, &t.table) else {
                continue;
            };
            let [a, b, c] = def.charsets();
            g.row(vec![
                text(&def.name),
                text(&t.event),
                text(&t.table),
                body,
                text(t.timing()),
                time(def.created, 2, zone),
                text(&def.mode().names()),
                definer,
                a,
                b,
                c,
            ]);
        }
        if filter.is_where() {
            filter.apply(&mut g)?;
        }
        Ok(g)
    }
}

/// By table, by event and timing, in the order that they run in.
fn sorted_triggers(mut list: Vec<Definition>) -> Vec<Definition> {
    list.sort_by_key(|d| {
        let t = d.trigger.as_ref();
        let event = match t.map(|t| t.event.as_str()) {
            Some("INSERT") => 0,
            Some("UPDATE") => 1,
            _ => 2,
        };
        (
            d.db.clone(),
            t.map(|t| t.table.clone()),
            event,
            t.map(|t| !t.before),
            t.map(|t| t.order),
        )
    });
    list
}

/// information_schema.TRIGGERS.
pub(crate) fn triggers(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let catalog = view.instance.database().catalog();
    let mut rows = Rows::new();
    for def in sorted_triggers(definition::all(&catalog, Stored::Trigger)) {
        let Some(t) = &def.trigger else { continue };
        let Some((body, definer)) = told_of(&view.account, &def, &t.table) else {
            continue;
        };
        let [a, b, c] = def.charsets();
        rows.push(vec![
            text("def"),
            text(&def.db),
            text(&def.name),
            text(&t.event),
            text("def"),
            text(&def.db),
            text(&t.table),
            Value::Int(i64::from(t.order)),
            Value::Null,
            body,
            text("ROW"),
            text(t.timing()),
            Value::Null,
            Value::Null,
            text("OLD"),
            text("NEW"),
            time(def.created, 2, env.time_zone),
            text(&def.mode().names()),
            definer,
            a,
            b,
            c,
        ]);
    }
    Ok(rows)
}

fn routines_of(view: &View) -> SqlResult<Vec<Definition>> {
    let catalog = view.instance.database().catalog();
    definition::check_table(&catalog, Stored::Procedure)?;
    let kinds = [
        Stored::Function,
        Stored::Procedure,
        Stored::Package,
        Stored::PackageBody,
    ];
    Ok(kinds
        .into_iter()
        .flat_map(|k| of_sys::all(&catalog, k))
        .filter(|d| sees(&view.account, d))
        .collect())
}

/// The word that a type begins with.
fn data_type(ty: &str) -> String {
    // Rows have a type of their own, in capitals as in MariaDB.
    for row in ["ROW TYPE OF", "TYPE OF", "ROW"] {
        if ty.starts_with(row) {
            return row.to_string();
        }
    }
    match ty.rsplit_once('%') {
        Some((_, "ROWTYPE")) => return "ROW TYPE OF".into(),
        Some((_, "TYPE")) => return "TYPE OF".into(),
        _ => {}
    }
    let word = ty.split(['(', ' ']).next().unwrap_or_default();
    word.to_lowercase()
}

/// information_schema.ROUTINES.
pub(crate) fn routines(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let zone = env.time_zone;
    let mut rows = Rows::new();
    for def in routines_of(view)? {
        let function = def.kind == Stored::Function;
        let returns = match function {
            true => text(def.returns.split(" CHARSET ").next().unwrap_or_default()),
            false => Value::Null,
        };
        let body = match reads(&view.account, &def) {
            true => text(&def.body),
            false => Value::Null,
        };
        let [a, b, c] = def.charsets();
        let result = match function {
            true => super::compiled::parameters_of(&def)?.0,
            false => None,
        };
        let mut row = vec![
            text(&def.name),
            text("def"),
            text(&def.db),
            text(&def.name),
            text(def.kind.word()),
            text(&data_type(if function { &def.returns } else { "" })),
        ];
        row.extend(facts(result.and_then(|r| r.1)));
        row.extend([
            returns,
            text("SQL"),
            body,
            Value::Null,
            Value::Null,
            text("SQL"),
            text(if def.deterministic { "YES" } else { "NO" }),
            text(&def.access),
            Value::Null,
            text(def.security()),
            time(def.created, 0, zone),
            time(def.modified, 0, zone),
            text(&def.mode().names()),
            text(&def.comment),
            text(&def.definer_text()),
            a,
            b,
            c,
        ]);
        rows.push(row);
    }
    Ok(rows)
}

/// What there is to say of a type; nothing of one that is not known.
fn facts(ty: Option<ColumnType>) -> [Value; 7] {
    match ty {
        Some(ty) => type_facts(&ty),
        None => std::array::from_fn(|_| Value::Null),
    }
}

/// information_schema.PARAMETERS: a function's result is its parameter 0.
pub(crate) fn parameters(view: &View, _: &StatementEnv) -> SqlResult<Rows> {
    let mut rows = Rows::new();
    for def in routines_of(view)? {
        if !matches!(def.kind, Stored::Function | Stored::Procedure) {
            continue;
        }
        let (returns, list) = super::compiled::parameters_of(&def)?;
        let mut one =
            |n: usize, mode: Option<&str>, name: Option<&str>, (ty, known): &ShownType| {
                let nullable = |s: Option<&str>| s.map_or(Value::Null, text);
                let mut row = vec![
                    text("def"),
                    text(&def.db),
                    text(&def.name),
                    Value::Int(n as i64),
                    nullable(mode),
                    nullable(name),
                    text(&data_type(ty)),
                ];
                row.extend(facts(*known));
                row.push(text(ty));
                row.push(text(def.kind.word()));
                rows.push(row);
            };
        if let Some(returns) = &returns {
            one(0, None, None, returns);
        }
        for (i, (mode, name, ty)) in list.iter().enumerate() {
            one(i + 1, Some(mode), Some(name), ty);
        }
    }
    Ok(rows)
}

/// A column of mysql.proc.
pub(crate) fn proc_column(def: &Definition, column: &str, zone: Zone) -> Value {
    let [client, connection, database] = def.charsets();
    let bytes = |s: &str| Value::bytes(s.as_bytes());
    match column {
        "db" => text(&def.db),
        "name" | "specific_name" => text(&def.name),
        "type" => text(def.kind.word()),
        "language" => text("SQL"),
        "sql_data_access" => text(&def.access.replace(' ', "_")),
        "is_deterministic" => text(if def.deterministic { "YES" } else { "NO" }),
        "security_type" => text(def.security()),
        "param_list" => bytes(&def.parameters),
        "returns" => bytes(&def.returns),
        "body" | "body_utf8" => bytes(&def.body),
        "definer" => text(&def.definer_text()),
        "created" => time(def.created, 0, zone),
        "modified" => time(def.modified, 0, zone),
        "sql_mode" => text(&def.mode_in_tables()),
        "comment" => text(&def.comment),
        "character_set_client" => client,
        "collation_connection" => connection,
        "db_collation" => database,
        "aggregate" => text(if def.aggregate { "GROUP" } else { "NONE" }),
        _ => Value::Null,
    }
}

/// The routines that mysql.proc lists.
pub(crate) fn proc_rows(view: &View) -> Vec<Definition> {
    let catalog = view.instance.database().catalog();
    let kinds = [
        Stored::Function,
        Stored::Procedure,
        Stored::Package,
        Stored::PackageBody,
    ];
    kinds
        .into_iter()
        .flat_map(|k| definition::all(&catalog, k))
        .collect()
}
