//! SHOW of events, and their rows in the virtual tables.

use crate::acl;
use crate::acl::Account;
use crate::admin::{Filter, TableRef};
use crate::privileges::PrivilegeSet;
use crate::programs::definition::{self, Definition, EventPart, Stored};
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_types::temporal::SECOND;
use narwal_types::{BlobSize, DateTime, SqlResult, TypeKind, Value, Zone, errors};

fn text(s: &str) -> Value {
    Value::str(s)
}

/// A time in seconds since 1970 as a zone's clocks show it.
fn time(seconds: Option<i64>, zone: Zone) -> Value {
    let local = seconds.map(|s| zone.local(s * SECOND));
    local
        .and_then(|t| DateTime::from_unix_micros(t, 0))
        .map_or(Value::Null, Value::DateTime)
}

fn sees(account: &Account, db: &str) -> bool {
    let wanted = PrivilegeSet::EVENT;
    account.global.has(wanted) || account.on_database(db).has(wanted)
}

/// How often, and of what.
fn interval(part: &EventPart) -> [Value; 2] {
    match &part.every {
        Some(e) => [text(&e.text()), text(&e.unit)],
        None => [Value::Null, Value::Null],
    }
}

fn check_unit(part: &EventPart) -> SqlResult<()> {
    part.every.as_ref().map_or(Ok(()), |e| e.check_unit())
}

fn kind(part: &EventPart) -> Value {
    text(if part.at.is_some() {
        "ONE TIME"
    } else {
        "RECURRING"
    })
}

fn charsets(def: &Definition) -> [Value; 3] {
    let (client, connection, database) = &def.charset;
    [text(client), text(connection), text(database)]
}

fn definer(def: &Definition) -> Value {
    text(&format!("{}@{}", def.definer.0, def.definer.1))
}

impl ClientSession {
    /// Error 1044 unless the account may see the events of a database.
    fn need_event(&mut self, db: &str) -> SqlResult<()> {
        let account = self.account();
        if self.internal || sees(&account, db) {
            return Ok(());
        }
        Err(acl::database_denied(&account, db))
    }

    /// SHOW CREATE EVENT.
    pub(crate) fn show_create_event(&mut self, name: &TableRef) -> SqlResult<Grid> {
        let db = match &name.db {
            Some(d) => d.clone(),
            None => self.env.require_db()?.to_string(),
        };
        self.need_event(&db)?;
        let catalog = self.instance.database().catalog();
        let found = definition::find(&catalog, Stored::Event, &db, &name.name)?;
        let unknown = || errors::EVENT_DOES_NOT_EXIST.with([&name.name]);
        let def = found.ok_or_else(unknown)?;
        let part = def.event.as_ref().ok_or_else(unknown)?;
        check_unit(part)?;
        let mut g = Grid::new();
        g.text("Event", 64)
            .text("sql_mode", 1024)
            .text("time_zone", 64)
            .any("Create Event", TypeKind::Text(BlobSize::Medium), false)
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64);
        let [a, b, c] = charsets(&def);
        g.row(vec![
            text(&def.name),
            text(&def.mode().names()),
            text(&part.time_zone),
            text(&def.create("CREATE")),
            a,
            b,
            c,
        ]);
        Ok(g)
    }

    /// SHOW EVENTS.
    pub(crate) fn show_events(&mut self, db: Option<&str>, filter: &Filter) -> SqlResult<Grid> {
        let db = match db {
            Some(d) => d.to_string(),
            None => self.env.require_db()?.to_string(),
        };
        self.need_event(&db)?;
        let catalog = self.instance.database().catalog();
        let mut g = Grid::new();
        g.text("Db", 64)
            .text("Name", 64)
            .text("Definer", 384)
            .text("Time zone", 64)
            .text("Type", 9)
            .any("Execute at", TypeKind::DateTime(0), true)
            .any("Interval value", TypeKind::VarChar(256), true)
            .any("Interval field", TypeKind::VarChar(18), true)
            .any("Starts", TypeKind::DateTime(0), true)
            .any("Ends", TypeKind::DateTime(0), true)
            .text("Status", 18)
            .any("Originator", TypeKind::BigInt, false)
            .text("character_set_client", 32)
            .text("collation_connection", 64)
            .text("Database Collation", 64);
        definition::check_table(&catalog, Stored::Event)?;
        for def in definition::all(&catalog, Stored::Event) {
            let Some(part) = &def.event else { continue };
            if def.db != db || !filter.may_match(&def.name) {
                continue;
            }
            check_unit(part)?;
            let zone = part.zone();
            let [amount, unit] = interval(part);
            let [a, b, c] = charsets(&def);
            g.row(vec![
                text(&def.db),
                text(&def.name),
                definer(&def),
                text(&part.time_zone),
                kind(part),
                time(part.at, zone),
                amount,
                unit,
                time(part.starts, zone),
                time(part.ends, zone),
                text(part.status.name()),
                Value::Int(i64::from(part.originator)),
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

/// When an event ran last, which the catalog may not have yet.
fn last_executed(view: &View, def: &Definition, part: &EventPart) -> Option<i64> {
    view.instance
        .events
        .last(&def.key())
        .max(part.last_executed)
}

/// information_schema.EVENTS.
pub(crate) fn events(view: &View, env: &StatementEnv) -> SqlResult<Vec<Vec<Value>>> {
    let catalog = view.instance.database().catalog();
    definition::check_table(&catalog, Stored::Event)?;
    let mut rows = Vec::new();
    for def in definition::all(&catalog, Stored::Event) {
        let Some(part) = &def.event else { continue };
        if !sees(&view.account, &def.db) {
            continue;
        }
        check_unit(part)?;
        let zone = part.zone();
        let here = |micros: i64| time(Some(micros.div_euclid(SECOND)), env.time_zone);
        let [amount, unit] = interval(part);
        let [a, b, c] = charsets(&def);
        let completion = if part.preserve {
            "PRESERVE"
        } else {
            "NOT PRESERVE"
        };
        rows.push(vec![
            text("def"),
            text(&def.db),
            text(&def.name),
            definer(&def),
            text(&part.time_zone),
            text("SQL"),
            text(&def.body),
            kind(part),
            time(part.at, zone),
            amount,
            unit,
            text(&def.mode().names()),
            time(part.starts, zone),
            time(part.ends, zone),
            text(part.status.name()),
            text(completion),
            here(def.created),
            here(def.modified),
            time(last_executed(view, &def, part), zone),
            text(&def.comment),
            Value::Int(i64::from(part.originator)),
            a,
            b,
            c,
        ]);
    }
    Ok(rows)
}

/// The events that mysql.event lists, each with when it ran last.
pub(crate) fn event_rows(view: &View) -> Vec<(Definition, Option<i64>)> {
    let catalog = view.instance.database().catalog();
    definition::all(&catalog, Stored::Event)
        .into_iter()
        .map(|d| {
            let last = d.event.as_ref().and_then(|p| last_executed(view, &d, p));
            (d, last)
        })
        .collect()
}

/// A column of mysql.event, whose times are in UTC.
pub(crate) fn event_column(def: &Definition, last: Option<i64>, column: &str) -> Value {
    let Some(part) = &def.event else {
        return Value::Null;
    };
    let [client, connection, database] = charsets(def);
    let utc = |t: Option<i64>| time(t, Zone::UTC);
    match column {
        "db" => text(&def.db),
        "name" => text(&def.name),
        "body" | "body_utf8" => Value::bytes(def.body.as_bytes()),
        "definer" => definer(def),
        "execute_at" => utc(part.at),
        "interval_value" => part
            .every
            .as_ref()
            .map_or(Value::Null, |e| Value::Int(e.amount)),
        "interval_field" => part.every.as_ref().map_or(Value::Null, |e| text(&e.unit)),
        "created" => utc(Some(def.created.div_euclid(SECOND))),
        "modified" => utc(Some(def.modified.div_euclid(SECOND))),
        "last_executed" => utc(last),
        "starts" => utc(part.starts),
        "ends" => utc(part.ends),
        "status" => text(part.status.name()),
        "on_completion" => text(if part.preserve { "PRESERVE" } else { "DROP" }),
        "sql_mode" => text(&def.mode_in_tables()),
        "comment" => text(&def.comment),
        "originator" => Value::Int(i64::from(part.originator)),
        "time_zone" => text(&part.time_zone),
        "character_set_client" => client,
        "collation_connection" => connection,
        "db_collation" => database,
        _ => Value::Null,
    }
}
