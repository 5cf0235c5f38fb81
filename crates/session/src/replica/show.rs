//! SHOW SLAVE STATUS and SHOW ALL SLAVES STATUS.

use super::{ConnectionStatus, IoRunning, Lag, Until, UseGtid, Which};
use crate::admin::Target;
use crate::gtids::{gtid_executed, gtid_position};
use crate::privileges::PrivilegeSet;
use crate::rows::{Grid, column};
use crate::session::ClientSession;
use crate::view::View;
use narwal_binlog::{GtidSet, gtid_uuid};
use narwal_types::face::is_mysql;
use narwal_types::{ColumnType, SqlResult, TypeKind, Value};
use std::collections::BTreeSet;

/// A column: name, kind and whether SHOW SLAVE STATUS has it too, not only SHOW ALL SLAVES STATUS.
struct Column(&'static str, Kind, In);

#[derive(Clone, Copy)]
enum Kind {
    /// Text of so many characters.
    Text(u16),
    Int(u32),
    Big(u32),
    Double,
}

#[derive(Clone, Copy, PartialEq)]
enum In {
    Both,
    All,
}

use In::{All, Both};
use Kind::{Big, Double, Int, Text};

/// The columns in MariaDB's order, and behind them Narwal's own.
const COLUMNS: &[Column] = &[
    Column("Connection_name", Text(192), All),
    Column("Slave_SQL_State", Text(30), All),
    Column("Slave_IO_State", Text(30), Both),
    Column("Master_Host", Text(766), Both),
    Column("Master_User", Text(385), Both),
    Column("Master_Port", Int(7), Both),
    Column("Connect_Retry", Int(10), Both),
    Column("Master_Log_File", Text(512), Both),
    Column("Read_Master_Log_Pos", Big(10), Both),
    Column("Relay_Log_File", Text(512), Both),
    Column("Relay_Log_Pos", Big(10), Both),
    Column("Relay_Master_Log_File", Text(512), Both),
    Column("Slave_IO_Running", Text(10), Both),
    Column("Slave_SQL_Running", Text(3), Both),
    Column("Replicate_Do_DB", Text(255), Both),
    Column("Replicate_Ignore_DB", Text(255), Both),
    Column("Replicate_Do_Table", Text(255), Both),
    Column("Replicate_Ignore_Table", Text(255), Both),
    Column("Replicate_Wild_Do_Table", Text(255), Both),
    Column("Replicate_Wild_Ignore_Table", Text(255), Both),
    Column("Last_Errno", Int(4), Both),
    Column("Last_Error", Text(512), Both),
    Column("Skip_Counter", Int(10), Both),
    Column("Exec_Master_Log_Pos", Big(10), Both),
    Column("Relay_Log_Space", Big(10), Both),
    Column("Until_Condition", Text(16), Both),
    Column("Until_Log_File", Text(512), Both),
    Column("Until_Log_Pos", Big(10), Both),
    Column("Master_SSL_Allowed", Text(7), Both),
    Column("Master_SSL_CA_File", Text(512), Both),
    Column("Master_SSL_CA_Path", Text(512), Both),
    Column("Master_SSL_Cert", Text(512), Both),
    Column("Master_SSL_Cipher", Text(512), Both),
    Column("Master_SSL_Key", Text(512), Both),
    Column("Seconds_Behind_Master", Big(10), Both),
    Column("Master_SSL_Verify_Server_Cert", Text(3), Both),
    Column("Last_IO_Errno", Int(4), Both),
    Column("Last_IO_Error", Text(512), Both),
    Column("Last_SQL_Errno", Int(4), Both),
    Column("Last_SQL_Error", Text(512), Both),
    Column("Replicate_Ignore_Server_Ids", Text(512), Both),
    Column("Master_Server_Id", Int(8), Both),
    Column("Master_SSL_Crl", Text(512), Both),
    Column("Master_SSL_Crlpath", Text(512), Both),
    Column("Using_Gtid", Text(11), Both),
    Column("Gtid_IO_Pos", Text(1024), Both),
    Column("Replicate_Do_Domain_Ids", Text(512), Both),
    Column("Replicate_Ignore_Domain_Ids", Text(512), Both),
    Column("Parallel_Mode", Text(12), Both),
    Column("SQL_Delay", Int(10), Both),
    Column("SQL_Remaining_Delay", Int(8), Both),
    Column("Slave_SQL_Running_State", Text(64), Both),
    Column("Slave_DDL_Groups", Big(20), Both),
    Column("Slave_Non_Transactional_Groups", Big(20), Both),
    Column("Slave_Transactional_Groups", Big(20), Both),
    Column("Replicate_Rewrite_DB", Text(1024), Both),
    Column("Retried_transactions", Int(10), All),
    Column("Max_relay_log_size", Big(10), All),
    Column("Executed_log_entries", Int(10), All),
    Column("Slave_received_heartbeats", Int(10), All),
    Column("Slave_heartbeat_period", Double, All),
    Column("Gtid_Slave_Pos", Text(1024), All),
    Column("Narwal_lag_bytes", Big(20), All),
    Column("Narwal_lag_transactions", Big(20), All),
    Column("Narwal_lag_milliseconds", Big(20), All),
    Column("Narwal_lag_beyond_delay_milliseconds", Big(20), All),
    Column("Narwal_queued_transactions", Big(20), All),
];

/// Columns of MySQL's SHOW REPLICA STATUS that MariaDB has none for.
const MYSQLS: &[(&str, Kind)] = &[
    ("Source_UUID", Text(36)),
    ("Source_Info_File", Text(512)),
    ("Source_Retry_Count", Big(20)),
    ("Source_Bind", Text(255)),
    ("Last_IO_Error_Timestamp", Text(20)),
    ("Last_SQL_Error_Timestamp", Text(20)),
    ("Retrieved_Gtid_Set", Text(1024)),
    ("Executed_Gtid_Set", Text(1024)),
    ("Auto_Position", Int(1)),
    ("Channel_Name", Text(64)),
    ("Source_TLS_Version", Text(64)),
    ("Source_public_key_path", Text(512)),
    ("Get_Source_public_key", Int(1)),
    ("Network_Namespace", Text(64)),
];

/// The columns in MySQL's order, by its names.
const MYSQLS_ORDER: &str = "Replica_IO_State Source_Host Source_User Source_Port Connect_Retry Source_Log_File \
    Read_Source_Log_Pos Relay_Log_File Relay_Log_Pos Relay_Source_Log_File Replica_IO_Running Replica_SQL_Running \
    Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table Replicate_Ignore_Table Replicate_Wild_Do_Table \
    Replicate_Wild_Ignore_Table Last_Errno Last_Error Skip_Counter Exec_Source_Log_Pos Relay_Log_Space Until_Condition \
    Until_Log_File Until_Log_Pos Source_SSL_Allowed Source_SSL_CA_File Source_SSL_CA_Path Source_SSL_Cert \
    Source_SSL_Cipher Source_SSL_Key Seconds_Behind_Source Source_SSL_Verify_Server_Cert Last_IO_Errno Last_IO_Error \
    Last_SQL_Errno Last_SQL_Error Replicate_Ignore_Server_Ids Source_Server_Id Source_UUID Source_Info_File SQL_Delay \
    SQL_Remaining_Delay Replica_SQL_Running_State Source_Retry_Count Source_Bind Last_IO_Error_Timestamp \
    Last_SQL_Error_Timestamp Source_SSL_Crl Source_SSL_Crlpath Retrieved_Gtid_Set Executed_Gtid_Set Auto_Position \
    Replicate_Rewrite_DB Channel_Name Source_TLS_Version Source_public_key_path Get_Source_public_key Network_Namespace";

/// MariaDB's name of a column of MySQL's.
fn mariadbs_name(mysqls: &str) -> String {
    mysqls
        .replace("Source", "Master")
        .replace("Replica_", "Slave_")
}

/// The columns of MySQL's SHOW REPLICA STATUS: name, kind, and MariaDB's name of it.
fn mysql_columns() -> impl Iterator<Item = (&'static str, Kind, String)> {
    MYSQLS_ORDER.split_ascii_whitespace().filter_map(|name| {
        let other = mariadbs_name(name);
        let own = MYSQLS.iter().find(|c| c.0 == name).map(|c| c.1);
        let shared = COLUMNS.iter().find(|c| c.0 == other).map(|c| c.1);
        Some((name, own.or(shared)?, other))
    })
}

/// `server_uuid` of a connection's source, if it is a Narwal; empty before there was a link.
pub(crate) fn source_uuid(s: &ConnectionStatus, domain: u32) -> String {
    match s.channel.master_server_id {
        0 => String::new(),
        server => gtid_uuid(domain, server).to_string(),
    }
}

/// What a connection has received, as MySQL names it.
pub(crate) fn received_set(s: &ConnectionStatus) -> GtidSet {
    let mut set = GtidSet::new();
    let received = gtid_position(&s.channel.gtid_io_pos).unwrap_or_default();
    for g in received.values() {
        set.add(gtid_uuid(g.domain, g.server), 1, g.seq);
    }
    set
}

/// The value of a column that only MySQL has.
fn mysql_value(name: &str, s: &ConnectionStatus, executed: &GtidSet, domain: u32) -> Value {
    let c = &s.config;
    match name {
        "Source_UUID" => Value::str(source_uuid(s, domain)),
        "Source_Info_File" => Value::str("the log"),
        "Source_Retry_Count" => Value::UInt(c.retry_count),
        "Retrieved_Gtid_Set" => Value::str(received_set(s).to_string()),
        "Executed_Gtid_Set" => Value::str(executed.to_string()),
        "Auto_Position" => Value::UInt(u64::from(c.use_gtid != UseGtid::No)),
        "Channel_Name" => Value::str(c.name.as_str()),
        "Get_Source_public_key" => Value::UInt(u64::from(c.server_key)),
        _ => Value::str(""),
    }
}

/// Columns that are NULL when there is nothing to be said.
const NULLABLE: [&str; 6] = [
    "Seconds_Behind_Master",
    "SQL_Remaining_Delay",
    "Narwal_lag_bytes",
    "Narwal_lag_transactions",
    "Narwal_lag_milliseconds",
    "Narwal_lag_beyond_delay_milliseconds",
];

fn columns(all: bool) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(move |c| all || c.2 == Both)
}

fn grid(all: bool) -> Grid {
    made_grid(columns(all).map(|Column(name, kind, _)| (*name, *kind, NULLABLE.contains(name))))
}

fn made_grid(columns: impl Iterator<Item = (&'static str, Kind, bool)>) -> Grid {
    let mut g = Grid::new();
    for (name, kind, nullable) in columns {
        let c = match kind {
            Text(len) => column(
                name,
                TypeKind::VarChar(len),
                false,
                u32::from(len),
                nullable,
            ),
            Int(len) => column(name, TypeKind::Int, true, len, nullable),
            Big(len) => column(name, TypeKind::BigInt, true, len, nullable),
            Double => {
                let mut c = column(name, TypeKind::Double, false, 10, nullable);
                c.decimals = 3;
                c
            }
        };
        g.columns.push(c);
    }
    g
}

/// The columns of SHOW ALL SLAVES STATUS as those of a table: name, type, whether it may be NULL.
pub(crate) fn table_columns() -> impl Iterator<Item = (&'static str, ColumnType, bool)> {
    columns(true).map(|Column(name, kind, _)| {
        let ty = match *kind {
            Text(len) => ColumnType::varchar(len),
            Int(_) => ColumnType::unsigned(TypeKind::Int),
            Big(_) => ColumnType::unsigned(TypeKind::BigInt),
            Double => ColumnType::new(TypeKind::Double),
        };
        (*name, ty, NULLABLE.contains(name))
    })
}

/// NARWAL_REPLICA_STATUS: the rows of SHOW ALL SLAVES STATUS, for those who may ask for that.
pub(crate) fn table_rows(view: &View) -> SqlResult<Vec<Vec<Value>>> {
    let may = PrivilegeSet::SUPER.with(PrivilegeSet::SLAVE_MONITOR);
    let control = view.instance.replica_control();
    let Some(control) = control.filter(|_| view.account.global.has_any(may)) else {
        return Ok(Vec::new());
    };
    let found = control.status(Which::All)?;
    let row = |s| columns(true).map(|c| value(c.0, s)).collect();
    Ok(found.iter().map(row).collect())
}

fn yes(b: bool) -> Value {
    Value::str(if b { "Yes" } else { "No" })
}

fn opt(v: Option<u64>) -> Value {
    v.map_or(Value::Null, Value::UInt)
}

fn ids(set: &BTreeSet<u32>) -> String {
    let all: Vec<String> = set.iter().map(u32::to_string).collect();
    all.join(", ")
}

/// The value of a column.
fn value(name: &str, s: &ConnectionStatus) -> Value {
    let (c, ch, f) = (&s.config, &s.channel, &s.filter);
    let text = |t: &str| Value::str(t);
    let code = |e: &super::ReplicaError| Value::UInt(u64::from(e.code));
    match name {
        "Connection_name" => text(&c.name),
        "Slave_SQL_State" | "Slave_SQL_Running_State" => text(ch.sql_state),
        "Slave_IO_State" => text(ch.io_state),
        "Master_Host" => text(&c.host),
        "Master_User" => text(&c.user),
        "Master_Port" => Value::UInt(u64::from(c.port)),
        "Connect_Retry" => Value::UInt(u64::from(c.connect_retry)),
        "Master_Log_File" => text(&ch.read_file),
        "Read_Master_Log_Pos" => Value::UInt(ch.read_pos.max(4)),
        // There is no relay log: what is received and not applied is in memory.
        "Relay_Log_File" => text(""),
        "Relay_Log_Pos" => Value::UInt(4),
        "Relay_Master_Log_File" => text(&ch.exec_file),
        "Slave_IO_Running" => text(ch.io_running.name()),
        "Slave_SQL_Running" => yes(ch.sql_running),
        "Replicate_Do_DB" => Value::str(f.do_db.join(",")),
        "Replicate_Ignore_DB" => Value::str(f.ignore_db.join(",")),
        "Replicate_Do_Table" => Value::str(f.do_table.join(",")),
        "Replicate_Ignore_Table" => Value::str(f.ignore_table.join(",")),
        "Replicate_Wild_Do_Table" => Value::str(f.wild_do_table.join(",")),
        "Replicate_Wild_Ignore_Table" => Value::str(f.wild_ignore_table.join(",")),
        "Last_Errno" | "Last_SQL_Errno" => code(&ch.last_sql_error),
        "Last_Error" | "Last_SQL_Error" => text(&ch.last_sql_error.text),
        "Skip_Counter" => Value::UInt(s.skip_counter),
        "Exec_Master_Log_Pos" => Value::UInt(ch.exec_pos),
        "Relay_Log_Space" => Value::UInt(ch.queued_bytes),
        "Until_Condition" => text(match ch.until {
            None => "None",
            Some(Until::MasterPos { .. }) => "Master",
            Some(Until::Gtid(_)) => "Gtid",
            Some(Until::BeforeGtids(_)) => "SQL_BEFORE_GTIDS",
            Some(Until::AfterGtids(_)) => "SQL_AFTER_GTIDS",
        }),
        "Until_Log_File" => text(match &ch.until {
            Some(Until::MasterPos { file, .. }) => file,
            _ => "",
        }),
        "Until_Log_Pos" => Value::UInt(match &ch.until {
            Some(Until::MasterPos { pos, .. }) => *pos,
            _ => 0,
        }),
        "Master_SSL_Allowed" => yes(c.ssl.on),
        "Master_SSL_CA_File" => text(&c.ssl.ca),
        "Master_SSL_CA_Path" => text(&c.ssl.capath),
        "Master_SSL_Cert" => text(&c.ssl.cert),
        "Master_SSL_Cipher" => text(&c.ssl.cipher),
        "Master_SSL_Key" => text(&c.ssl.key),
        "Seconds_Behind_Master" => opt(ch.seconds_behind),
        "Master_SSL_Verify_Server_Cert" => yes(c.ssl.verify),
        "Last_IO_Errno" => code(&ch.last_io_error),
        "Last_IO_Error" => text(&ch.last_io_error.text),
        "Replicate_Ignore_Server_Ids" => Value::str(ids(&c.ignore_server_ids)),
        "Master_Server_Id" => Value::UInt(u64::from(ch.master_server_id)),
        "Master_SSL_Crl" => text(&c.ssl.crl),
        "Master_SSL_Crlpath" => text(&c.ssl.crlpath),
        "Using_Gtid" => text(c.use_gtid.name()),
        "Gtid_IO_Pos" => text(&ch.gtid_io_pos),
        "Replicate_Do_Domain_Ids" => Value::str(ids(&c.do_domain_ids)),
        "Replicate_Ignore_Domain_Ids" => Value::str(ids(&c.ignore_domain_ids)),
        "Parallel_Mode" => text(&s.parallel_mode),
        "SQL_Delay" => Value::UInt(u64::from(c.delay)),
        "SQL_Remaining_Delay" => opt(ch.remaining_delay),
        "Slave_DDL_Groups" => Value::UInt(ch.ddl_groups),
        "Slave_Non_Transactional_Groups" => Value::UInt(ch.non_transactional_groups),
        "Slave_Transactional_Groups" => Value::UInt(ch.transactional_groups),
        "Replicate_Rewrite_DB" => text(""),
        "Retried_transactions" => Value::UInt(ch.retried),
        "Max_relay_log_size" => Value::UInt(1 << 30),
        "Executed_log_entries" => Value::UInt(ch.executed_events),
        "Slave_received_heartbeats" => Value::UInt(ch.received_heartbeats),
        "Slave_heartbeat_period" => Value::Double(c.heartbeat_millis as f64 / 1000.0),
        "Gtid_Slave_Pos" => text(&s.gtid_slave_pos),
        "Narwal_lag_bytes" => opt(ch.lag.bytes),
        "Narwal_lag_transactions" => opt(ch.lag.transactions),
        "Narwal_lag_milliseconds" => opt(ch.lag.millis),
        "Narwal_lag_beyond_delay_milliseconds" => opt(ch.lag.beyond_delay_millis),
        "Narwal_queued_transactions" => Value::UInt(ch.queued_groups),
        _ => Value::Null,
    }
}

impl ClientSession {
    /// SHOW SLAVE STATUS, SHOW ALL SLAVES STATUS.
    pub(crate) fn show_replica_status(&mut self, target: &Target) -> SqlResult<Grid> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::SLAVE_MONITOR))?;
        let name = self.target_name(target);
        let all = name.is_none();
        let which = name.as_deref().map_or(Which::All, Which::Named);
        let found = match (self.instance.replica_control(), &name) {
            (Some(c), _) => c.status(which)?,
            (None, Some(n)) if !n.is_empty() => return Err(super::no_connection(n)),
            (None, _) => Vec::new(),
        };
        if is_mysql() && !all {
            return Ok(self.mysql_replica_status(&found));
        }
        let mut g = grid(all);
        for s in &found {
            g.row(columns(all).map(|c| value(c.0, s)).collect());
        }
        Ok(g)
    }

    /// SHOW REPLICA STATUS in MySQL's words. A connection that has no source is none there.
    fn mysql_replica_status(&self, found: &[ConnectionStatus]) -> Grid {
        let mut g = made_grid(
            mysql_columns()
                .map(|(name, kind, other)| (name, kind, NULLABLE.contains(&other.as_str()))),
        );
        let executed = gtid_executed(self.instance.database());
        let domain = self.instance.global_value("gtid_domain_id").as_u32();
        for s in found.iter().filter(|s| !s.config.host.is_empty()) {
            let row =
                mysql_columns().map(
                    |(name, _, other)| match MYSQLS.iter().any(|c| c.0 == name) {
                        true => mysql_value(name, s, &executed, domain),
                        false => value(&other, s),
                    },
                );
            g.row(row.collect());
        }
        g
    }
}

/// Lines of SHOW STATUS about connections to sources. MariaDB's names without a connection's are those of
/// `default_master_connection`.
pub(crate) fn replica_status(view: &View, pairs: &mut Vec<(String, String)>) {
    let all = view
        .instance
        .replica_control()
        .and_then(|c| c.status(Which::All).ok())
        .unwrap_or_default();
    let name = view.vars.value("default_master_connection").show();
    let mine = all
        .iter()
        .find(|s| s.config.name.to_lowercase() == name.to_lowercase());
    let of = |f: fn(&ConnectionStatus) -> u64| mine.map_or(0, f);
    let sum = |f: fn(&ConnectionStatus) -> u64| all.iter().map(f).sum::<u64>();
    for (name, v) in [
        ("Rpl_semi_sync_slave_send_ack", sum(|s| s.channel.acks_sent)),
        ("Slave_open_temp_tables", 0),
        (
            "Slave_received_heartbeats",
            of(|s| s.channel.received_heartbeats),
        ),
        ("Slave_retried_transactions", sum(|s| s.channel.retried)),
        ("Slave_skipped_errors", sum(|s| s.channel.skipped_errors)),
        ("Slaves_running", sum(|s| u64::from(s.channel.sql_running))),
        (
            "Narwal_replica_queued_bytes",
            sum(|s| s.channel.queued_bytes),
        ),
        (
            "Narwal_replica_queued_transactions",
            sum(|s| s.channel.queued_groups),
        ),
    ] {
        pairs.push((name.into(), v.to_string()));
    }
    let on = |b: bool| String::from(if b { "ON" } else { "OFF" });
    let runs =
        |s: &ConnectionStatus| s.channel.sql_running && s.channel.io_running == IoRunning::Yes;
    pairs.push(("Slave_running".into(), on(mine.is_some_and(runs))));
    pairs.push((
        "Rpl_semi_sync_slave_status".into(),
        on(all.iter().any(|s| s.channel.semi_sync)),
    ));
    pairs.push((
        "Rpl_semi_sync_replica_status".into(),
        on(all.iter().any(|s| s.channel.semi_sync)),
    ));
    let millis = of(|s| s.config.heartbeat_millis);
    pairs.push((
        "Slave_heartbeat_period".into(),
        format!("{}.{:03}", millis / 1000, millis % 1000),
    ));
    // The connection that is farthest behind; empty if it is not known how far one is.
    for (name, lag) in [
        (
            "Narwal_replica_lag_bytes",
            (|l| l.bytes) as fn(&Lag) -> Option<u64>,
        ),
        ("Narwal_replica_lag_milliseconds", |l| l.millis),
        ("Narwal_replica_lag_transactions", |l| l.transactions),
    ] {
        let most = all
            .iter()
            .try_fold(0, |most, s| lag(&s.channel.lag).map(|l| most.max(l)));
        let text = most.map_or_else(String::new, |l| l.to_string());
        pairs.push((name.into(), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replica::{ChannelStatus, ConnectionConfig};

    /// Each column has a value of its own: none falls through to NULL but those that may.
    #[test]
    fn every_column_has_a_value() {
        let s = ConnectionStatus {
            config: ConnectionConfig::default().into(),
            filter: Default::default(),
            channel: ChannelStatus::default(),
            skip_counter: 0,
            parallel_mode: "optimistic".into(),
            gtid_slave_pos: String::new(),
        };
        for c in columns(true) {
            let null = matches!(value(c.0, &s), Value::Null);
            assert_eq!(null, NULLABLE.contains(&c.0), "{}", c.0);
        }
        assert_eq!(
            columns(true).filter(|c| !c.0.starts_with("Narwal")).count(),
            62
        );
        assert_eq!(columns(false).count(), 54);
    }
}
