//! What SHOW SLAVE STATUS says of a connection's threads.

use crate::attach::unix_now;
use crate::channel::Channel;
use crate::lag::Backlog;
use crate::shared::Io;
use narwal_binlog::Gtid;
use narwal_session::replica::{ChannelStatus, ConnectionConfig, IoRunning, Lag, ReplicaError};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What an applier that has nothing to do says, by MariaDB's name.
const ALL_READ: &str = "Slave has read all relay log; waiting for more updates";
const DELAYED: &str = "Waiting until MASTER_DELAY seconds after master executed event";

/// How long the source's word of how far it is counts.
const FRESH: Duration = Duration::from_secs(5);

/// Groups that the source has and that have not been received, by their sequence numbers.
fn unsent(
    source: &BTreeMap<u32, Gtid>,
    received: &BTreeMap<u32, Gtid>,
    config: &ConnectionConfig,
) -> u64 {
    source
        .values()
        .filter(|g| config.wants_domain(g.domain))
        .filter_map(|g| Some(g.seq.saturating_sub(received.get(&g.domain)?.seq)))
        .sum()
}

/// How far the applier is behind. `behind`: seconds by the source's clock, 0 if there is nothing to apply.
fn lag(io: &Io, config: &ConnectionConfig, backlog: Option<Backlog>, behind: u64) -> Lag {
    let unsent = match &io.source {
        Some((said, gtids)) if !io.drained && said.elapsed() < FRESH => {
            unsent(gtids, &io.received.place.gtids, config)
        }
        _ => 0,
    };
    if io.running != IoRunning::Yes {
        return Lag::default();
    }
    let b = backlog.unwrap_or_default();
    // Timestamps are whole seconds: a commit of second n happened before n + 1.
    let by_clock = behind.saturating_sub(1).saturating_mul(1000);
    let millis = by_clock.max(u64::try_from(b.age.as_millis()).unwrap_or(u64::MAX));
    Lag {
        bytes: Some(b.bytes + unsent * io.arrivals.usual()),
        transactions: Some(b.groups + unsent),
        millis: Some(millis),
        beyond_delay_millis: Some(millis.saturating_sub(u64::from(config.delay) * 1000)),
    }
}

impl Channel {
    /// What its threads say of themselves now.
    #[must_use]
    pub fn status(&self) -> ChannelStatus {
        let s = self.shared();
        let progress = s.progress.snapshot();
        let applied = s.applied();
        let config = s.config();
        let fill = s.queue.fill();
        let now = unix_now();
        let (sql_running, until, delayed_until) = {
            let sql = s.sql.lock();
            (sql.running, sql.until.clone(), sql.delayed_until)
        };
        let mut io = s.io.lock();
        let backlog = io.arrivals.backlog(&applied, Instant::now());
        let linked = io.running == IoRunning::Yes;
        let at_source = now - io.clock_ahead;
        let behind = |timestamp: u32| u64::try_from(at_source - i64::from(timestamp)).unwrap_or(0);
        // A large group is applied before it has arrived.
        let oldest = match (&backlog, &progress.begun) {
            (Some(b), _) => Some(b.timestamp),
            (None, Some(begun)) if begun.timestamp > 0 => Some(begun.timestamp),
            (None, _) => None,
        };
        let seconds_behind = match (linked && sql_running, oldest) {
            (false, _) => None,
            (true, None) => Some(0),
            (true, Some(timestamp)) => Some(behind(timestamp)),
        };
        let lag = lag(&io, &config, backlog, oldest.map_or(0, behind));
        let remaining = delayed_until.map(|due| u64::try_from(due - now).unwrap_or(0));
        let sql_state = match (sql_running, remaining, progress.state) {
            (false, ..) => "",
            (true, Some(_), _) => DELAYED,
            (true, None, "") => ALL_READ,
            (true, None, state) => state,
        };
        let sql_error = progress
            .error
            .map_or_else(ReplicaError::default, |e| ReplicaError {
                code: e.code,
                text: e.text,
            });
        ChannelStatus {
            io_running: io.running,
            io_state: io.state,
            sql_running,
            sql_state,
            master_server_id: io.server_id,
            read_file: match io.received.epoch {
                0 => applied.file.to_string(),
                _ => io.received.place.file.to_string(),
            },
            read_pos: match io.received.epoch {
                0 => applied.pos,
                _ => io.received.place.pos,
            },
            exec_file: applied.file.to_string(),
            exec_pos: applied.pos,
            gtid_io_pos: match io.received.epoch {
                0 => s.instance.database().replica_state().slave_pos_text(),
                _ => io.received.place.gtid_text(),
            },
            last_io_error: io.error.clone(),
            last_sql_error: sql_error,
            seconds_behind,
            remaining_delay: remaining,
            until,
            queued_bytes: fill.bytes,
            queued_groups: fill.groups,
            ddl_groups: progress.statements,
            transactional_groups: progress.groups.saturating_sub(progress.statements),
            retried: progress.retries,
            received_heartbeats: s.heartbeats.load(Ordering::Relaxed),
            links: s.links.load(Ordering::Relaxed),
            semi_sync: io.semi_sync,
            acks_sent: s.acks.sent.load(Ordering::Relaxed),
            lag,
            ..ChannelStatus::default()
        }
    }
}
