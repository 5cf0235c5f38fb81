//! The rows of `sys`: those of a server whose performance schema is off, so most views have none. Those of what is there without
//! being measured are made of `information_schema`, with what the account that asks may see of it.

use super::definitions::as_made;
use super::rows::{self, Rows};
use super::sys::CONFIG;
use super::tables::unix_time;
use super::{innodb, server, tables};
use crate::programs::events::show::events;
use crate::programs::show as programs;
use crate::system_schemas::{MYSQL, SYS};
use crate::view::View;
use narwal_engine::Table;
use narwal_sql::StatementEnv;
use narwal_sql::show::quote_ident;
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, Wanted};
use narwal_types::face::is_mysql;
use narwal_types::{Decimal, SqlResult, Time, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows of a view.
pub(super) fn rows(
    view: &View,
    env: &StatementEnv,
    wanted: &Wanted,
    table: &Table,
) -> SqlResult<Rows> {
    let name = table.def.name.as_str();
    Ok(match name.strip_prefix("x$").unwrap_or(name) {
        "version" => vec![vec![
            Value::str(if is_mysql() { "2.1.3" } else { "1.5.1" }),
            view.instance.global_value("version").to_value(),
        ]],
        "session" | "processlist" => {
            let lines = server::process_list(view, env, wanted)?;
            lines.iter().map(|l| session(table, l)).collect()
        }
        "memory_global_total" if !is_mysql() => vec![vec![Value::Null]],
        CONFIG => config(table),
        "metrics" => metrics(view, env)?,
        "innodb_lock_waits" => lock_waits(view, env, table)?,
        "schema_auto_increment_columns" => auto_increment_columns(view, env, table)?,
        "schema_object_overview" => object_overview(view, env)?,
        "schema_flattened_keys" => flattened_keys(view, env)?,
        "schema_redundant_indexes" => redundant_indexes(view, env)?,
        _ => Vec::new(),
    })
}

/// The settings that the schema's routines begin with.
const SETTINGS: [(&str, Option<&str>); 6] = [
    ("diagnostics.allow_i_s_tables", Some("OFF")),
    ("diagnostics.include_raw", Some("OFF")),
    ("ps_thread_trx_info.max_length", Some("65535")),
    ("statement_performance_analyzer.limit", Some("100")),
    ("statement_performance_analyzer.view", None),
    ("statement_truncate_len", Some("64")),
];

fn config(table: &Table) -> Rows {
    let row = |(variable, value): (&str, Option<&str>)| {
        rows::by_name(table, |column| match column {
            "variable" => Some(Value::str(variable)),
            "value" => Some(value.map_or(Value::Null, Value::str)),
            _ => None,
        })
    };
    SETTINGS.into_iter().map(row).collect()
}

/// A line of the process list as a row of `sys.session`.
fn session(table: &Table, line: &[Value]) -> Vec<Value> {
    rows::by_name(table, |column| {
        Some(match column {
            "thd_id" | "conn_id" => line[0].clone(),
            "user" => match (&line[1], &line[2]) {
                (Value::Str(user), Value::Str(host)) => {
                    let host = host.split(':').next().unwrap_or_default();
                    Value::str(format!("{user}@{host}"))
                }
                (user, _) => user.clone(),
            },
            "db" => line[3].clone(),
            "command" => line[4].clone(),
            "state" => line[6].clone(),
            "time" => line[5].clone(),
            "current_statement" => line[7].clone(),
            _ => return None,
        })
    })
}

/// A table of `information_schema`, whole.
struct Shown {
    table: Arc<Table>,
    rows: Rows,
}

impl Shown {
    fn of(view: &View, env: &StatementEnv, name: &'static str) -> SqlResult<Option<Shown>> {
        let Some(table) = as_made(name).cloned() else {
            return Ok(None);
        };
        let all = &Wanted::default();
        let rows = match name {
            "TABLES" => tables::tables(view, env, all),
            "COLUMNS" => tables::columns(view, env, all),
            "STATISTICS" => tables::statistics(view, env, all),
            "ROUTINES" => programs::routines(view, env),
            "TRIGGERS" => programs::triggers(view, env),
            "EVENTS" => events(view, env),
            "GLOBAL_STATUS" => server::global_status(view, env, all),
            "INNODB_TRX" => innodb::transactions(view, env, all),
            "INNODB_LOCKS" => innodb::locks(view, env, all),
            "INNODB_LOCK_WAITS" => innodb::lock_waits(view, env, all),
            _ => Ok(Rows::new()),
        }?;
        Ok(Some(Shown { table, rows }))
    }

    /// The lines, to be read by the names of columns.
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.rows.iter().map(|row| Line {
            table: &self.table,
            row,
        })
    }
}

#[derive(Clone, Copy)]
struct Line<'s> {
    table: &'s Table,
    row: &'s [Value],
}

impl Line<'_> {
    fn field(&self, column: &str) -> Value {
        let columns = self.table.columns();
        let at = columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(column));
        at.and_then(|n| self.row.get(n))
            .cloned()
            .unwrap_or_default()
    }

    fn text(&self, column: &str) -> String {
        match self.field(column) {
            Value::Str(s) => s.to_string(),
            Value::Int(n) => n.to_string(),
            Value::UInt(n) => n.to_string(),
            _ => String::new(),
        }
    }

    fn number(&self, column: &str) -> Option<u64> {
        match self.field(column) {
            Value::Int(n) => u64::try_from(n).ok(),
            Value::UInt(n) => Some(n),
            _ => None,
        }
    }
}

/// The status variables, and the time.
fn metrics(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let mut all = Rows::new();
    let yes = || Value::str("YES");
    if let Some(status) = Shown::of(view, env, "GLOBAL_STATUS")? {
        all.extend(status.lines().map(|l| {
            let name = l.text("VARIABLE_NAME").to_lowercase();
            let kind = Value::str("Global Status");
            vec![Value::str(name), l.field("VARIABLE_VALUE"), kind, yes()]
        }));
    }
    let time = Value::str("System Time");
    let seconds = env.timestamp();
    if let Value::DateTime(now) = unix_time(u64::from(seconds), env.time_zone) {
        all.push(vec![
            Value::str("NOW()"),
            Value::str(now.to_string()),
            time.clone(),
            yes(),
        ]);
    }
    let seconds = Value::str(seconds.to_string());
    all.push(vec![Value::str("UNIX_TIMESTAMP()"), seconds, time, yes()]);
    Ok(all)
}

/// How many objects of each kind a schema has. An index counts once for each of its columns, as in MariaDB.
fn object_overview(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let mut counts: BTreeMap<(String, String), i64> = BTreeMap::new();
    let sources = [
        ("TABLES", "TABLE_SCHEMA"),
        ("STATISTICS", "TABLE_SCHEMA"),
        ("ROUTINES", "ROUTINE_SCHEMA"),
        ("TRIGGERS", "TRIGGER_SCHEMA"),
        ("EVENTS", "EVENT_SCHEMA"),
    ];
    for (name, schema) in sources {
        let Some(shown) = Shown::of(view, env, name)? else {
            continue;
        };
        for line in shown.lines() {
            let kind = match name {
                "TABLES" => line.text("TABLE_TYPE"),
                "STATISTICS" => format!("INDEX ({})", line.text("INDEX_TYPE")),
                "ROUTINES" => line.text("ROUTINE_TYPE"),
                "TRIGGERS" => "TRIGGER".into(),
                _ => "EVENT".into(),
            };
            *counts.entry((line.text(schema), kind)).or_default() += 1;
        }
    }
    let row = |((db, kind), n): ((String, String), i64)| {
        vec![Value::str(db), Value::str(kind), Value::Int(n)]
    };
    Ok(counts.into_iter().map(row).collect())
}

/// True for the schemas whose tables are not the users'.
fn is_system(db: &str) -> bool {
    [MYSQL, SYS, PERFORMANCE_SCHEMA, INFORMATION_SCHEMA]
        .iter()
        .any(|s| s.eq_ignore_ascii_case(db))
}

/// The columns with AUTO_INCREMENT, and how far they have come; the fullest first.
fn auto_increment_columns(view: &View, env: &StatementEnv, table: &Table) -> SqlResult<Rows> {
    let next: BTreeMap<(String, String), Option<u64>> = Shown::of(view, env, "TABLES")?
        .iter()
        .flat_map(Shown::lines)
        .map(|l| {
            (
                (l.text("TABLE_SCHEMA"), l.text("TABLE_NAME")),
                l.number("AUTO_INCREMENT"),
            )
        })
        .collect();
    let mut found = Vec::new();
    for line in Shown::of(view, env, "COLUMNS")?
        .iter()
        .flat_map(Shown::lines)
    {
        let of = (line.text("TABLE_SCHEMA"), line.text("TABLE_NAME"));
        if is_system(&of.0) || !line.text("EXTRA").contains("auto_increment") {
            continue;
        }
        let unsigned = line.text("COLUMN_TYPE").contains("unsigned");
        let most = most_of(&line.text("DATA_TYPE"), unsigned);
        let next = next.get(&of).copied().flatten();
        let ratio = match (next, most) {
            (Some(next), Some(most)) => Some(next as f64 / most as f64),
            _ => None,
        };
        let row = rows::by_name(table, |column| {
            Some(match column {
                "is_signed" => Value::Int(i64::from(!unsigned)),
                "is_unsigned" => Value::Int(i64::from(unsigned)),
                "max_value" => most.map_or(Value::Null, Value::UInt),
                "auto_increment" => next.map_or(Value::Null, Value::UInt),
                "auto_increment_ratio" => ratio_value(ratio),
                name => line.field(name),
            })
        });
        found.push((ratio.unwrap_or_default(), most, row));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(found.into_iter().map(|f| f.2).collect())
}

fn ratio_value(ratio: Option<f64>) -> Value {
    let decimal = ratio.and_then(|r| Decimal::parse(&format!("{r:.4}")));
    decimal.map_or(Value::Null, Value::Decimal)
}

/// The greatest value of an integer type.
fn most_of(data_type: &str, unsigned: bool) -> Option<u64> {
    let bits = match data_type {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        "int" => 32,
        "bigint" => 64,
        _ => return None,
    };
    Some(u64::MAX >> (64 - bits + u32::from(!unsigned)))
}

/// An index with its columns in their order.
struct Index {
    schema: String,
    table: String,
    name: String,
    non_unique: bool,
    /// A column's first characters only.
    has_part: bool,
    columns: Vec<String>,
}

impl Index {
    fn columns(&self) -> String {
        self.columns.join(",")
    }

    /// Where it stands among indexes of the same columns: the primary key first.
    fn rank(&self) -> (bool, &str) {
        match self.name.as_str() {
            "PRIMARY" => (self.non_unique, ""),
            name => (self.non_unique, name),
        }
    }

    /// `other` does all that this one does.
    fn is_redundant_to(&self, other: &Index) -> bool {
        if (&self.schema, &self.table) != (&other.schema, &other.table) || self.name == other.name {
            return false;
        }
        let shorter = |a: &Index, b: &Index| {
            a.columns.len() < b.columns.len() && b.columns.starts_with(&a.columns)
        };
        if self.columns == other.columns {
            return self.rank() > other.rank();
        }
        shorter(self, other) && self.non_unique || shorter(other, self) && !other.non_unique
    }
}

/// The users' ordered indexes.
fn indexes(view: &View, env: &StatementEnv) -> SqlResult<Vec<Index>> {
    let mut all: Vec<Index> = Vec::new();
    for line in Shown::of(view, env, "STATISTICS")?
        .iter()
        .flat_map(Shown::lines)
    {
        let (schema, table, name) = (
            line.text("TABLE_SCHEMA"),
            line.text("TABLE_NAME"),
            line.text("INDEX_NAME"),
        );
        if is_system(&schema) || line.text("INDEX_TYPE") != "BTREE" {
            continue;
        }
        let same = |i: &Index| (&i.schema, &i.table, &i.name) == (&schema, &table, &name);
        let has_part = line.number("SUB_PART").is_some();
        let column = line.text("COLUMN_NAME");
        match all.last_mut().filter(|i| same(i)) {
            Some(index) => {
                index.has_part |= has_part;
                index.columns.push(column);
            }
            None => all.push(Index {
                schema,
                table,
                name,
                non_unique: line.number("NON_UNIQUE") == Some(1),
                has_part,
                columns: vec![column],
            }),
        }
    }
    all.sort_by(|a, b| (&a.schema, &a.table, &a.name).cmp(&(&b.schema, &b.table, &b.name)));
    Ok(all)
}

/// Each index in a line.
fn flattened_keys(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let row = |i: Index| {
        let columns = i.columns();
        vec![
            Value::str(i.schema),
            Value::str(i.table),
            Value::str(i.name),
            Value::Int(i64::from(i.non_unique)),
            Value::Int(i64::from(i.has_part)),
            Value::str(columns),
        ]
    };
    Ok(indexes(view, env)?.into_iter().map(row).collect())
}

/// Indexes that another one of the table makes superfluous.
fn redundant_indexes(view: &View, env: &StatementEnv) -> SqlResult<Rows> {
    let all = indexes(view, env)?;
    let row = |r: &Index, d: &Index| {
        let drop = format!(
            "ALTER TABLE {}.{} DROP INDEX {}",
            quote_ident(&r.schema),
            quote_ident(&r.table),
            quote_ident(&r.name)
        );
        vec![
            Value::str(&*r.schema),
            Value::str(&*r.table),
            Value::str(&*r.name),
            Value::str(r.columns()),
            Value::Int(i64::from(r.non_unique)),
            Value::str(&*d.name),
            Value::str(d.columns()),
            Value::Int(i64::from(d.non_unique)),
            Value::Int(i64::from(r.has_part || d.has_part)),
            Value::str(drop),
        ]
    };
    let pairs = all.iter().flat_map(|r| {
        let better = all.iter().filter(|d| r.is_redundant_to(d));
        better.map(|d| row(r, d))
    });
    Ok(pairs.collect())
}

/// The statement that ends a connection or its statement.
fn kill(what: &str, connection: &Value) -> Option<Value> {
    match connection {
        Value::UInt(id) => Some(Value::str(format!("{what} {id}"))),
        _ => None,
    }
}

/// Microseconds that have gone by since a moment of the session's time zone.
fn since(moment: &Value, env: &StatementEnv) -> Option<i64> {
    let Value::DateTime(then) = moment else {
        return None;
    };
    match unix_time(u64::from(env.timestamp()), env.time_zone) {
        Value::DateTime(now) => Some((now.unix_micros() - then.unix_micros()).max(0)),
        _ => None,
    }
}

fn age(moment: Option<Value>, env: &StatementEnv) -> Option<Value> {
    Some(Value::Time(Time::from_micros(since(&moment?, env)?, 0)))
}

/// Who waits for whose lock.
fn lock_waits(view: &View, env: &StatementEnv, table: &Table) -> SqlResult<Rows> {
    let (Some(waits), Some(locks), Some(transactions)) = (
        Shown::of(view, env, "INNODB_LOCK_WAITS")?,
        Shown::of(view, env, "INNODB_LOCKS")?,
        Shown::of(view, env, "INNODB_TRX")?,
    ) else {
        return Ok(Rows::new());
    };
    let find = |of: &'_ Shown, column: &str, value: &Value| {
        of.lines()
            .find(|l| l.field(column) == *value)
            .map(|l| l.row.to_vec())
    };
    let mut all = Rows::new();
    for wait in waits.lines() {
        let row_of = |shown: &Shown, column: &str, value: Value| find(shown, column, &value);
        let waiting = row_of(&transactions, "trx_id", wait.field("requesting_trx_id"));
        let blocking = row_of(&transactions, "trx_id", wait.field("blocking_trx_id"));
        let lock = row_of(&locks, "lock_id", wait.field("requested_lock_id"));
        let other = row_of(&locks, "lock_id", wait.field("blocking_lock_id"));
        let (Some(waiting), Some(lock)) = (waiting, lock) else {
            continue;
        };
        let trx = |row: &Option<Vec<Value>>, column: &str| {
            let line = row.as_ref().map(|row| Line {
                table: &transactions.table,
                row,
            });
            line.map(|l| l.field(column))
        };
        let of_lock = |row: &Option<Vec<Value>>, column: &str| {
            let line = row.as_ref().map(|row| Line {
                table: &locks.table,
                row,
            });
            line.map(|l| l.field(column))
        };
        let (waiting, lock) = (Some(waiting), Some(lock));
        all.push(rows::by_name(table, |column| match column {
            "wait_started" => trx(&waiting, "trx_wait_started"),
            "wait_age" => age(trx(&waiting, "trx_wait_started"), env),
            "wait_age_secs" => trx(&waiting, "trx_wait_started")
                .and_then(|m| since(&m, env))
                .map(|micros| Value::Int(micros / 1_000_000)),
            "waiting_trx_age" => age(trx(&waiting, "trx_started"), env),
            "blocking_trx_age" => age(trx(&blocking, "trx_started"), env),
            "locked_table" => of_lock(&lock, "lock_table"),
            "locked_index" => of_lock(&lock, "lock_index"),
            "locked_type" => of_lock(&lock, "lock_type"),
            "waiting_trx_id" => Some(wait.field("requesting_trx_id")),
            "waiting_trx_started" => trx(&waiting, "trx_started"),
            "waiting_trx_rows_locked" => trx(&waiting, "trx_rows_locked"),
            "waiting_trx_rows_modified" => trx(&waiting, "trx_rows_modified"),
            "waiting_pid" => trx(&waiting, "trx_mysql_thread_id"),
            "waiting_query" => trx(&waiting, "trx_query"),
            "waiting_lock_id" => Some(wait.field("requested_lock_id")),
            "waiting_lock_mode" => of_lock(&lock, "lock_mode"),
            "blocking_trx_id" => Some(wait.field("blocking_trx_id")),
            "blocking_pid" => trx(&blocking, "trx_mysql_thread_id"),
            "blocking_query" => trx(&blocking, "trx_query"),
            "blocking_lock_id" => Some(wait.field("blocking_lock_id")),
            "blocking_lock_mode" => of_lock(&other, "lock_mode"),
            "blocking_trx_started" => trx(&blocking, "trx_started"),
            "blocking_trx_rows_locked" => trx(&blocking, "trx_rows_locked"),
            "blocking_trx_rows_modified" => trx(&blocking, "trx_rows_modified"),
            "sql_kill_blocking_query" => {
                trx(&blocking, "trx_mysql_thread_id").and_then(|id| kill("KILL QUERY", &id))
            }
            "sql_kill_blocking_connection" => {
                trx(&blocking, "trx_mysql_thread_id").and_then(|id| kill("KILL", &id))
            }
            _ => None,
        }));
    }
    Ok(all)
}
