//! Time zones of the tables `mysql.time_zone*`, as `mariadb-tzinfo-to-sql` and administrators fill them. Regions of the
//! IANA database have their own rules; other names are looked up there when a statement, CONVERT_TZ or an event needs
//! them.

use crate::system_schemas::MYSQL;
use crate::written_rows::Texts;
use narwal_engine::{Database, TxnOptions};
use narwal_sql::{NoVariables, ParseOptions, Prepared, StatementEnv, parse_statement};
use narwal_types::SqlResult;
use narwal_types::table_zone::{TableZone, read_zones_by};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More transitions than any zone of the IANA database has.
const MOST_TRANSITIONS: usize = 10_000;

/// From now on names of time zones mean those of this server's tables, too. `database`: as long as it runs.
pub(crate) fn serve(database: impl Fn() -> Option<Database> + Send + Sync + 'static) {
    read_zones_by(Box::new(move |name| {
        let found = read(&database()?, name);
        found.unwrap_or_else(|e| {
            tracing::warn!("time zone {name}: {}", e.message);
            None
        })
    }));
}

/// The rows of a SELECT of the server's own.
fn rows(db: &Database, text: &str) -> SqlResult<Vec<Vec<String>>> {
    let mut env = StatementEnv::new(Arc::new(NoVariables));
    let stmt = parse_statement(text, &ParseOptions::default())?;
    let plan = Prepared::new(&stmt, "", db, &db.catalog(), &env, None)?;
    let mut txn = db.begin(TxnOptions::default());
    txn.begin_statement(0, None);
    let mut rows = Texts::default();
    narwal_sql::execute(&plan, &[], &mut txn, db, &mut env, &mut rows)?;
    Ok(rows.0)
}

fn read(db: &Database, name: &str) -> SqlResult<Option<TableZone>> {
    let stored = |table: &str| db.catalog().table(MYSQL, table).is_some();
    let tables = [
        "time_zone_name",
        "time_zone_transition",
        "time_zone_transition_type",
    ];
    if !tables.into_iter().all(stored) {
        return Ok(None);
    }
    let hex: String = name.bytes().map(|b| format!("{b:02x}")).collect();
    let named = rows(
        db,
        &format!(
            "SELECT Name, Time_zone_id FROM {MYSQL}.time_zone_name WHERE Name = _utf8mb4 X'{hex}'"
        ),
    )?;
    let Some([name, id]) = named.first().map(Vec::as_slice) else {
        return Ok(None);
    };
    let types = rows(
        db,
        &format!(
            "SELECT Transition_type_id, `Offset`, Is_DST FROM {MYSQL}.time_zone_transition_type WHERE Time_zone_id = {id} ORDER BY 1"
        ),
    )?;
    let number = |text: &String| text.parse::<i64>().unwrap_or(0);
    let mut offsets: BTreeMap<i64, i32> = BTreeMap::new();
    let mut first = None;
    for row in &types {
        let [kind, offset, dst] = row.as_slice() else {
            continue;
        };
        // No clock is a day away from UTC.
        let Some(offset) = i32::try_from(number(offset))
            .ok()
            .filter(|o| o.abs() < 86_400)
        else {
            return Ok(None);
        };
        offsets.insert(number(kind), offset);
        // Before the first transition it is standard time.
        if dst == "0" {
            first.get_or_insert(offset);
        }
    }
    let Some(any) = offsets.values().next().copied() else {
        return Ok(None);
    };
    let found = rows(
        db,
        &format!(
            "SELECT Transition_time, Transition_type_id FROM {MYSQL}.time_zone_transition WHERE Time_zone_id = {id} ORDER BY 1 LIMIT {}",
            MOST_TRANSITIONS + 1
        ),
    )?;
    let transition = |row: &Vec<String>| match row.as_slice() {
        [at, kind] => Some((number(at), *offsets.get(&number(kind))?)),
        _ => None,
    };
    let transitions: Option<Vec<(i64, i32)>> = found.iter().map(transition).collect();
    Ok(transitions
        .filter(|t| t.len() <= MOST_TRANSITIONS)
        .map(|transitions| TableZone {
            name: name.clone(),
            first: first.unwrap_or(any),
            transitions,
        }))
}
