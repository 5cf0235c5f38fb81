//! SHOW statements about the binary log: where it stands, its files, its events.

use crate::admin::Filter;
use crate::gtids::gtid_executed;
use crate::privileges::PrivilegeSet;
use crate::rows::{Grid, column};
use crate::session::ClientSession;
use crate::view::View;
use narwal_binlog::gtid_uuid;
use narwal_source::ReaderInfo;
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, TypeKind, Value};

impl ClientSession {
    /// SHOW MASTER STATUS, SHOW BINLOG STATUS.
    pub(super) fn show_master_status(&mut self, mysql: bool) -> SqlResult<Grid> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::BINLOG_MONITOR))?;
        let db = self.instance.database();
        let at = db.durable_binlog_position()?;
        let filter = &db.options().binlog_filter;
        let mut g = Grid::new();
        g.text("File", 512)
            .uint("Position", false)
            .text("Binlog_Do_DB", 255)
            .text("Binlog_Ignore_DB", 255);
        let mut row = vec![
            Value::str(at.file),
            Value::UInt(at.offset),
            Value::str(filter.do_db.join(",")),
            Value::str(filter.ignore_db.join(",")),
        ];
        if mysql {
            g.text("Executed_Gtid_Set", 1024);
            row.push(Value::str(gtid_executed(db).to_string()));
        }
        g.row(row);
        Ok(g)
    }

    /// SHOW BINARY LOGS.
    pub(super) fn show_binary_logs(&mut self) -> SqlResult<Grid> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::BINLOG_MONITOR))?;
        let mut g = Grid::new();
        g.text("Log_name", 255).uint("File_size", false);
        for f in self.instance.database().binlog_files() {
            g.row(vec![Value::str(f.name), Value::UInt(f.size)]);
        }
        Ok(g)
    }

    /// SHOW REPLICA HOSTS: replicas that have registered and are connected.
    pub(super) fn show_replica_hosts(&mut self) -> SqlResult<Grid> {
        self.need_any(PrivilegeSet::REPLICATION_MASTER_ADMIN)?;
        let mysql = is_mysql();
        let mut g = Grid::new();
        g.columns.push(column(
            if mysql { "Server_Id" } else { "Server_id" },
            TypeKind::Int,
            true,
            10,
            false,
        ));
        g.text("Host", 20);
        g.columns
            .push(column("Port", TypeKind::Int, true, 7, false));
        g.columns.push(column(
            if mysql { "Source_Id" } else { "Master_id" },
            TypeKind::Int,
            true,
            10,
            false,
        ));
        if mysql {
            g.text("Replica_UUID", 36);
        }
        let me = self.instance.global_value("server_id").as_u64();
        let domain = self.instance.global_value("gtid_domain_id").as_u32();
        for r in self.instance.source().replicas() {
            let mut row = vec![
                Value::UInt(u64::from(r.server_id)),
                Value::str(r.host),
                Value::UInt(u64::from(r.port)),
                Value::UInt(me),
            ];
            if mysql {
                row.push(Value::str(gtid_uuid(domain, r.server_id).to_string()));
            }
            g.row(row);
        }
        Ok(g)
    }
}

/// Lines of SHOW STATUS about semi-synchronous replication.
pub(super) fn semi_sync_status(view: &View, pairs: &mut Vec<(String, String)>) {
    let s = view.instance.source().semi_sync().status();
    let average = s.tx_wait_micros.checked_div(s.tx_waits).unwrap_or(0);
    // MySQL's names beside MariaDB's; a tool that looks for either takes two for two.
    let sides: &[&str] = match is_mysql() {
        true => &["source"],
        false => &["master", "source"],
    };
    let mut pair = |name: &str, value: String| {
        for side in sides {
            pairs.push((format!("Rpl_semi_sync_{side}_{name}"), value.clone()));
        }
    };
    for (name, v) in [
        ("clients", s.clients),
        ("get_ack", s.received),
        // MariaDB counts no time for these two, either.
        ("net_avg_wait_time", 0),
        ("net_wait_time", 0),
        ("net_waits", s.asked),
        ("no_times", s.no_times),
        ("no_tx", s.no_tx),
        ("request_ack", s.requested),
        ("timefunc_failures", 0),
        ("tx_avg_wait_time", average),
        ("tx_wait_time", s.tx_wait_micros),
        ("tx_waits", s.tx_waits),
        // Commits wait in the order of the log.
        ("wait_pos_backtraverse", 0),
        ("wait_sessions", s.wait_sessions),
        ("yes_tx", s.yes_tx),
    ] {
        pair(name, v.to_string());
    }
    pair("status", if s.on { "ON" } else { "OFF" }.into());
}

/// Lines of SHOW STATUS about the binary log.
pub(super) fn binlog_status(
    view: &View,
    filter: &Filter,
    pairs: &mut Vec<(String, String)>,
) -> SqlResult<()> {
    let db = view.instance.database();
    let s = db.binlog_stats();
    for (name, v) in [
        ("Binlog_bytes_written", s.bytes_written),
        ("Binlog_cache_disk_use", s.cache_disk_use),
        ("Binlog_cache_use", s.cache_use),
        ("Binlog_commits", s.commits),
        ("Binlog_disk_use", s.disk_use),
        ("Binlog_group_commit_trigger_count", s.trigger_count),
        ("Binlog_group_commit_trigger_lock_wait", s.trigger_lock_wait),
        ("Binlog_group_commit_trigger_timeout", s.trigger_timeout),
        ("Binlog_group_commits", s.group_commits),
        // There are no non-transactional tables, which is what this cache is for.
        ("Binlog_stmt_cache_disk_use", 0),
        ("Binlog_stmt_cache_use", 0),
        ("Narwal_checkpoint_age", s.checkpoint_age),
        ("Narwal_checkpoint_lsn", s.checkpoint_lsn),
        ("Narwal_group_commit_auto_count", s.auto_count),
        ("Narwal_group_commit_auto_timeout", s.auto_timeout),
        ("Narwal_log_syncs_overlapped", s.overlapped_syncs),
        ("Narwal_base_bytes_written", s.base_bytes_written),
        ("Narwal_log_state_records", s.state_records),
        ("Narwal_log_syncs", s.fsyncs),
        ("Narwal_oob_chunks", s.oob_chunks),
    ] {
        pairs.push((name.into(), v.to_string()));
    }
    let source = view.instance.source();
    let readers = source.readers();
    let most = |lag: fn(&ReaderInfo) -> u64| readers.iter().map(lag).max().unwrap_or(0);
    for (name, v) in [
        ("Narwal_binlog_readers", readers.len() as u64),
        ("Narwal_binlog_readers_lag_bytes", most(|r| r.lag_bytes)),
        ("Narwal_binlog_readers_lag_seconds", most(|r| r.lag_seconds)),
        (
            "Narwal_binlog_readers_lag_transactions",
            most(|r| r.lag_transactions),
        ),
        ("Slaves_connected", source.replicas().len() as u64),
    ] {
        pairs.push((name.into(), v.to_string()));
    }
    for (name, permille) in [
        ("Narwal_log_amplification", s.amplification_permille),
        ("Narwal_write_amplification", s.write_amplification_permille),
    ] {
        let text = format!("{}.{:03}", permille / 1000, permille % 1000);
        pairs.push((name.into(), text));
    }
    let names = [
        "Binlog_snapshot_file",
        "Binlog_snapshot_gtid_executed",
        "Binlog_snapshot_position",
    ];
    if names.iter().any(|n| filter.may_match(n)) {
        // A dump must find the position behind exactly the transactions that its snapshot shows.
        let at = match view.snapshot {
            Some(seq) => db.position_at_seq(seq),
            None => db.durable_binlog_position(),
        };
        let at = match at {
            Ok(at) => at,
            // A log that has failed must not keep the other values from SHOW STATUS.
            Err(_) if matches!(filter, Filter::None) => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        let [file, gtids, position] = names.map(String::from);
        pairs.push((file, at.file));
        pairs.push((gtids, at.gtid_pos));
        pairs.push((position, at.offset.to_string()));
    }
    Ok(())
}
