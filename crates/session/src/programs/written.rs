//! Programs out of rows of `mysql.proc` and `mysql.event` that somebody has written: those tables are made of the
//! definitions in the catalog, so what has become of their rows becomes changes of definitions. A row may say what no
//! statement would: whoever calls such a program is told (1457).

use super::definition::{self, Definition, EventPart, EventStatus, Stored, key};
use super::every::Every;
use crate::written_rows::{Row, Texts, without};
use narwal_engine::{Catalog, CatalogChange, Table};
use narwal_sql::SqlMode;
use narwal_types::temporal::SECOND;
use narwal_types::{SqlResult, temporal_parse};

/// The names of sql_mode in one order: what a row shows has its own.
fn modes_in_order(table: &Table, rows: &Texts) -> Texts {
    let at = table.def.columns.iter().position(|c| c.name == "sql_mode");
    let mut rows = Texts(rows.0.clone());
    for row in &mut rows.0 {
        if let Some(modes) = at.and_then(|at| row.get_mut(at)) {
            let mut names: Vec<&str> = modes.split(',').collect();
            names.sort_unstable();
            *modes = names.join(",");
        }
    }
    rows
}

/// Changes of definitions for what has become of a table's rows. A row that stayed the same keeps its definition.
///
/// # Errors
/// 1146 and others where the catalog's definitions can't be read.
pub(crate) fn changes(
    catalog: &Catalog,
    table: &Table,
    before: &Texts,
    after: &Texts,
) -> SqlResult<Vec<CatalogChange>> {
    let (before, after) = (modes_in_order(table, before), modes_in_order(table, after));
    let mut changes = Vec::new();
    for values in without(&before, &after) {
        let row = Row {
            table,
            values: &values,
        };
        let (kind, db, name) = named(&row);
        changes.push(CatalogChange::DeleteObject {
            key: key(kind, db, name),
        });
    }
    for values in without(&after, &before) {
        let row = Row {
            table,
            values: &values,
        };
        let (kind, db, name) = named(&row);
        let old = definition::read_object(catalog, kind, db, name)?;
        changes.push(of_row(&row, old)?.put()?);
    }
    Ok(changes)
}

/// What a row is of.
fn named<'a>(row: &'a Row<'_>) -> (Stored, &'a str, &'a str) {
    let kind = match row.get("type") {
        _ if row.table.def.name == "event" => Stored::Event,
        "FUNCTION" => Stored::Function,
        "PACKAGE" => Stored::Package,
        "PACKAGE BODY" => Stored::PackageBody,
        _ => Stored::Procedure,
    };
    (kind, row.get("db"), row.get("name"))
}

/// Microseconds since 1970 of a time in UTC; 0 for a day that is none.
fn micros(text: &str) -> i64 {
    let time = temporal_parse::parse_datetime(text.as_bytes(), Default::default());
    time.map_or(0, |t| match t.value.is_zero() {
        true => 0,
        false => t.value.unix_micros(),
    })
}

/// Seconds since 1970 of a time in UTC; nothing where the column is NULL.
fn seconds(text: &str) -> Option<i64> {
    (!text.is_empty()).then(|| micros(text).div_euclid(SECOND))
}

/// The definition that a row describes. `old`: what the table had under this name.
fn of_row(row: &Row<'_>, old: Option<Definition>) -> SqlResult<Definition> {
    let text = |column: &str| row.get(column).to_string();
    let (kind, db, name) = named(row);
    let definer = match row.get("definer").rsplit_once('@') {
        Some((user, host)) => (user.to_string(), host.to_string()),
        None => (text("definer"), String::new()),
    };
    Ok(Definition {
        kind,
        db: db.into(),
        name: name.into(),
        parameters: text("param_list"),
        returns: text("returns"),
        body: text("body"),
        definer,
        invoker: row.get("security_type") == "INVOKER",
        deterministic: row.get("is_deterministic") == "YES",
        access: match row.get("sql_data_access") {
            "" => "CONTAINS SQL".into(),
            access => access.replace('_', " "),
        },
        comment: text("comment"),
        sql_mode: SqlMode::parse(row.get("sql_mode")).map_or(0, |m| m.0),
        charset: (
            text("character_set_client"),
            text("collation_connection"),
            text("db_collation"),
        ),
        created: micros(row.get("created")),
        modified: micros(row.get("modified")),
        trigger: None,
        aggregate: row.get("aggregate") == "GROUP",
        event: (kind == Stored::Event).then(|| event_of_row(row, old.and_then(|o| o.event))),
    })
}

/// What a row of `mysql.event` says of its times. An event that has run at its one time stays done unless that changes.
fn event_of_row(row: &Row<'_>, old: Option<EventPart>) -> EventPart {
    let at = seconds(row.get("execute_at"));
    let amount = row.get("interval_value").parse();
    EventPart {
        at,
        every: amount.ok().map(|amount| Every {
            amount,
            unit: row.get("interval_field").into(),
        }),
        starts: seconds(row.get("starts")),
        ends: seconds(row.get("ends")),
        time_zone: row.get("time_zone").into(),
        status: match row.get("status") {
            "DISABLED" => EventStatus::Disabled,
            "SLAVESIDE_DISABLED" => EventStatus::ReplicaDisabled,
            _ => EventStatus::Enabled,
        },
        preserve: row.get("on_completion") == "PRESERVE",
        originator: row.get("originator").parse().unwrap_or(0),
        last_executed: seconds(row.get("last_executed")),
        done: old.is_some_and(|o| o.done && o.at == at),
    }
}
