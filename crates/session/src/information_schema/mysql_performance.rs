//! The schema `performance_schema` under MySQL's face: variables, status and what replicas do. Nothing is measured for it.

use super::mysql;
use super::rows::{self, Rows};
use super::server;
use crate::gtids::gtid_executed;
use crate::privileges::PrivilegeSet;
use crate::replica::show::{received_set, source_uuid};
use crate::replica::{ConnectionStatus, IoRunning, ReplicaError, UseGtid, Which};
use crate::variables::{Kind, VARIABLES};
use crate::view::View;
use narwal_engine::Table;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::{PERFORMANCE_SCHEMA, Wanted};
use narwal_types::{Collation, DateTime, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The tables by name.
fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: OnceLock<BTreeMap<String, Arc<Table>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let text = include_str!("mysql_performance.sql");
        mysql::made(
            PERFORMANCE_SCHEMA,
            PERFORMANCE_SCHEMA,
            Collation::Utf8mb4GeneralCi,
            text,
        )
    })
}

/// A table's definition, by a name in any case.
pub(super) fn definition(name: &str) -> Option<&'static Arc<Table>> {
    definitions().get(name.to_ascii_lowercase().as_str())
}

/// All definitions by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

/// The rows of a table.
pub(super) fn rows(
    view: &View,
    env: &StatementEnv,
    wanted: &Wanted,
    table: &Table,
) -> SqlResult<Rows> {
    Ok(match table.def.name.as_str() {
        "global_variables" => lower_names(server::global_variables(view, env, wanted)?),
        "session_variables" => lower_names(server::session_variables(view, env, wanted)?),
        "global_status" => server::status_as_shown(view, true)?,
        "session_status" => server::status_as_shown(view, false)?,
        "processlist" => process_list(server::process_list(view, env, wanted)?),
        "threads" => {
            let lines = server::process_list(view, env, wanted)?;
            lines.iter().map(|l| thread(table, l)).collect()
        }
        "variables_info" => variables_info(view),
        "persisted_variables" => persisted_variables(view),
        "log_status" => log_status(view)?,
        "replication_connection_configuration"
        | "replication_connection_status"
        | "replication_applier_configuration"
        | "replication_applier_status"
        | "replication_applier_status_by_coordinator"
        | "replication_applier_status_by_worker" => replication(view, table)?,
        // Of what Narwal has none.
        _ => Vec::new(),
    })
}

/// The schema's names are in lower case.
fn lower_names(mut rows: Rows) -> Rows {
    for row in &mut rows {
        if let Value::Str(name) = &row[0] {
            row[0] = Value::str(name.to_ascii_lowercase());
        }
    }
    rows
}

/// PROCESSLIST without what only MariaDB's has.
fn process_list(rows: Rows) -> Rows {
    let shorter = |mut row: Vec<Value>| {
        row.truncate(8);
        row.push(Value::str("PRIMARY"));
        row
    };
    rows.into_iter().map(shorter).collect()
}

/// A line of the process list as a thread: of the others nothing is told.
fn thread(table: &Table, line: &[Value]) -> Vec<Value> {
    rows::by_name(table, |column| {
        Some(match column {
            "THREAD_ID" | "PROCESSLIST_ID" => line[0].clone(),
            "NAME" => Value::str("thread/sql/one_connection"),
            "TYPE" => Value::str("FOREGROUND"),
            "PROCESSLIST_USER" => line[1].clone(),
            "PROCESSLIST_HOST" => match &line[2] {
                Value::Str(h) => Value::str(h.split(':').next().unwrap_or_default()),
                v => v.clone(),
            },
            "PROCESSLIST_DB" => line[3].clone(),
            "PROCESSLIST_COMMAND" => line[4].clone(),
            "PROCESSLIST_TIME" => line[5].clone(),
            "PROCESSLIST_STATE" => line[6].clone(),
            "PROCESSLIST_INFO" => line[7].clone(),
            "INSTRUMENTED" | "HISTORY" => Value::str("NO"),
            "CONNECTION_TYPE" => Value::str("TCP/IP"),
            "EXECUTION_ENGINE" => Value::str("PRIMARY"),
            _ => return None,
        })
    })
}

fn variables_info(view: &View) -> Rows {
    let persisted = view.instance.persisted.list();
    let source = |name| match persisted.iter().any(|p| p.0 == name) {
        true => "PERSISTED",
        false => "COMPILED",
    };
    let row = |d: &crate::variables::VariableDef| {
        let (least, most) = match d.kind {
            Kind::UInt(least, most, _) => (least.to_string(), most.to_string()),
            _ => ("0".to_string(), "0".to_string()),
        };
        vec![
            Value::str(d.name),
            Value::str(source(d.name)),
            Value::str(""),
            Value::str(least),
            Value::str(most),
            Value::Null,
            Value::Null,
            Value::Null,
        ]
    };
    VARIABLES.iter().map(row).collect()
}

fn persisted_variables(view: &View) -> Rows {
    let pairs = view.instance.persisted.list().into_iter();
    pairs
        .map(|(name, value)| vec![Value::str(name), Value::str(value)])
        .collect()
}

/// Where the log stands, all of it at one moment.
fn log_status(view: &View) -> SqlResult<Rows> {
    if !view.account.global.has(PrivilegeSet::BINLOG_MONITOR) {
        return Ok(Vec::new());
    }
    let db = view.instance.database();
    let at = db.durable_binlog_position()?;
    let executed = gtid_executed(db).to_string();
    let local = serde_json::json!({
        "gtid_executed": executed,
        "binary_log_file": at.file,
        "binary_log_position": at.offset,
    });
    Ok(vec![vec![
        Value::str(view.instance.global_value("server_uuid").show()),
        Value::str(local.to_string()),
        Value::str("{\"channels\": []}"),
        Value::str("{}"),
    ]])
}

/// A table about connections to sources, for those who may ask for that.
fn replication(view: &View, table: &Table) -> SqlResult<Rows> {
    let may = PrivilegeSet::SUPER.with(PrivilegeSet::SLAVE_MONITOR);
    let control = view.instance.replica_control();
    let Some(control) = control.filter(|_| view.account.global.has_any(may)) else {
        return Ok(Vec::new());
    };
    let domain = view.instance.global_value("gtid_domain_id").as_u32();
    let found = control.status(Which::All)?;
    let connected = found.iter().filter(|s| !s.config.host.is_empty());
    let row = |s: &ConnectionStatus| {
        let value = |c: &narwal_engine::ColumnDef| column(&table.def.name, &c.name, s, domain);
        table.columns().iter().map(value).collect()
    };
    Ok(connected.map(row).collect())
}

/// The value of a column about a connection.
fn column(table: &str, name: &str, s: &ConnectionStatus, domain: u32) -> Value {
    let (c, ch) = (&s.config, &s.channel);
    let yes = |b: bool| Value::str(if b { "YES" } else { "NO" });
    let on = |b: bool| Value::str(if b { "ON" } else { "OFF" });
    let receives = table == "replication_connection_status";
    let error: &ReplicaError = match receives {
        true => &ch.last_io_error,
        false => &ch.last_sql_error,
    };
    match name {
        "CHANNEL_NAME" => Value::str(c.name.as_str()),
        "HOST" => Value::str(c.host.as_str()),
        "PORT" => Value::Int(i64::from(c.port)),
        "USER" => Value::str(c.user.as_str()),
        "AUTO_POSITION" => Value::str(if c.use_gtid == UseGtid::No { "0" } else { "1" }),
        "SSL_ALLOWED" => yes(c.ssl.on),
        "SSL_CA_FILE" => Value::str(c.ssl.ca.as_str()),
        "SSL_CA_PATH" => Value::str(c.ssl.capath.as_str()),
        "SSL_CERTIFICATE" => Value::str(c.ssl.cert.as_str()),
        "SSL_CIPHER" => Value::str(c.ssl.cipher.as_str()),
        "SSL_KEY" => Value::str(c.ssl.key.as_str()),
        "SSL_VERIFY_SERVER_CERTIFICATE" => yes(c.ssl.verify),
        "SSL_CRL_FILE" => Value::str(c.ssl.crl.as_str()),
        "SSL_CRL_PATH" => Value::str(c.ssl.crlpath.as_str()),
        "CONNECTION_RETRY_INTERVAL" => Value::Int(i64::from(c.connect_retry)),
        "CONNECTION_RETRY_COUNT" => Value::UInt(c.retry_count),
        "HEARTBEAT_INTERVAL" => Value::Double(c.heartbeat_millis as f64 / 1000.0),
        "GET_PUBLIC_KEY" => yes(c.server_key),
        "COMPRESSION_ALGORITHM" => Value::str("uncompressed"),
        "ZSTD_COMPRESSION_LEVEL" => Value::Int(3),
        "SOURCE_CONNECTION_AUTO_FAILOVER" | "GTID_ONLY" => Value::str("0"),
        "SOURCE_UUID" => Value::str(source_uuid(s, domain)),
        "SERVICE_STATE" if receives => Value::str(match ch.io_running {
            IoRunning::No => "OFF",
            IoRunning::Connecting => "CONNECTING",
            IoRunning::Preparing | IoRunning::Yes => "ON",
        }),
        "SERVICE_STATE" => on(ch.sql_running),
        "COUNT_RECEIVED_HEARTBEATS" => Value::UInt(ch.received_heartbeats),
        "RECEIVED_TRANSACTION_SET" => Value::str(received_set(s).to_string()),
        "LAST_ERROR_NUMBER" => Value::Int(i64::from(error.code)),
        "LAST_ERROR_MESSAGE" => Value::str(error.text.as_str()),
        "LAST_ERROR_TIMESTAMP" => Value::DateTime(DateTime::default()),
        "DESIRED_DELAY" => Value::Int(i64::from(c.delay)),
        "REQUIRE_ROW_FORMAT" => Value::str("NO"),
        "REQUIRE_TABLE_PRIMARY_KEY_CHECK" => Value::str("STREAM"),
        "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE" => Value::str("OFF"),
        "REMAINING_DELAY" => ch.remaining_delay.map_or(Value::Null, Value::UInt),
        "COUNT_TRANSACTIONS_RETRIES" => Value::UInt(ch.retried),
        "WORKER_ID" => Value::UInt(0),
        "NETWORK_INTERFACE" | "NETWORK_NAMESPACE" | "TLS_VERSION" | "PUBLIC_KEY_PATH"
        | "GROUP_NAME" => Value::str(""),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        let text = include_str!("mysql_performance.sql");
        assert_eq!(definitions().len(), text.matches("CREATE TABLE").count());
    }
}
