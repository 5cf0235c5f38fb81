//! What the threads of one connection to a source share.

use crate::apply::Progress;
use crate::assemble::SourcePosition;
use crate::lag::{Arrivals, At};
use crate::queue::Queue;
use crate::semisync::Acks;
use narwal_binlog::Gtid;
use narwal_client::Hangup;
use narwal_session::Instance;
use narwal_session::replica::{
    ConnectionConfig, IoRunning, ReplicaError, ReplicaFilter, Until, UseGtid,
};
use narwal_session::variables::VarValue;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What was received, and when that counts.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Epoch of the queue ([`Queue::epoch`]) in which it was; 0: nothing.
    pub(crate) epoch: u64,
    pub(crate) place: SourcePosition,
}

/// The receiver, as others see it.
#[derive(Debug, Default)]
pub(crate) struct Io {
    pub(crate) running: IoRunning,
    pub(crate) state: &'static str,
    pub(crate) error: ReplicaError,
    pub(crate) hangup: Option<Hangup>,
    pub(crate) server_id: u32,
    pub(crate) clock_ahead: i64,
    pub(crate) narwal: bool,
    pub(crate) mysql: bool,
    pub(crate) semi_sync: bool,
    pub(crate) received: Received,
    pub(crate) arrivals: Arrivals,
    /// The source had nothing more to send when it was looked at last.
    pub(crate) drained: bool,
    /// The last GTIDs in the source's log, and when it said so.
    pub(crate) source: Option<(Instant, BTreeMap<u32, Gtid>)>,
}

/// The applier, as others see it.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    pub(crate) running: bool,
    pub(crate) until: Option<Until>,
    /// Local time, seconds since 1970, until which `MASTER_DELAY` holds the next group back.
    pub(crate) delayed_until: Option<i64>,
}

/// What the statements say.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Arc<ConnectionConfig>,
    pub(crate) filter: Arc<ReplicaFilter>,
    /// START SLAVE's.
    pub(crate) credentials: Option<(String, String)>,
}

/// What a connection's threads share.
pub(crate) struct Shared {
    pub(crate) instance: Arc<Instance>,
    pub(crate) queue: Queue,
    pub(crate) progress: Progress,
    pub(crate) settings: Mutex<Settings>,
    pub(crate) io: Mutex<Io>,
    pub(crate) sql: Mutex<Sql>,
    /// `sql_slave_skip_counter`.
    pub(crate) skip: AtomicU64,
    pub(crate) heartbeats: AtomicU64,
    pub(crate) links: AtomicU64,
    pub(crate) acks: Acks,
    /// Wakes a receiver that waits for its next attempt.
    pub(crate) nap: (Mutex<()>, Condvar),
}

impl Shared {
    pub(crate) fn config(&self) -> Arc<ConnectionConfig> {
        self.settings.lock().config.clone()
    }

    /// A global variable that is a number; `default` where there is none of the name.
    pub(crate) fn number(&self, name: &str, default: u64) -> u64 {
        match self.instance.global_value(name) {
            VarValue::Null => default,
            v => v.as_u64(),
        }
    }

    pub(crate) fn switch(&self, name: &str) -> bool {
        self.instance.global_value(name).as_bool()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.instance.global_value(name).as_str().to_owned()
    }

    /// Sleeps for `time`, or until [`Shared::rouse`].
    pub(crate) fn nap(&self, time: Duration, stop: &AtomicBool) {
        let deadline = Instant::now() + time;
        let mut guard = self.nap.0.lock();
        while !stop.load(Ordering::SeqCst) {
            if self.nap.1.wait_until(&mut guard, deadline).timed_out() {
                return;
            }
        }
    }

    /// The queue was emptied: the receiver, if it runs, begins anew.
    pub(crate) fn refetch(&self) {
        if let Some(hangup) = self.io.lock().hangup.take() {
            hangup.hang_up();
        }
    }

    pub(crate) fn rouse(&self) {
        let _guard = self.nap.0.lock();
        self.nap.1.notify_all();
    }

    /// The connection for log lines.
    pub(crate) fn name(&self) -> String {
        self.config().name.clone()
    }

    /// Where the receiver begins: behind what was received, if that is still in the queue or applied; else behind what is
    /// applied.
    pub(crate) fn start_place(&self, epoch: u64) -> SourcePosition {
        let config = self.config();
        {
            let io = self.io.lock();
            if io.received.epoch == epoch {
                return io.received.place.clone();
            }
        }
        let applied = self.instance.database().replica_state();
        let gtids: BTreeMap<u32, Gtid> = match config.use_gtid {
            UseGtid::SlavePos => applied.slave_pos.clone(),
            UseGtid::CurrentPos => {
                parse_gtids(&self.text("gtid_current_pos")).unwrap_or(applied.slave_pos.clone())
            }
            // The file's own order counts.
            UseGtid::No => BTreeMap::new(),
        };
        let (file, pos) = match applied.channels.get(&config.id) {
            Some((file, pos)) => (file.clone(), *pos),
            None => (Arc::from(config.log_file.as_str()), config.log_pos.max(4)),
        };
        let place = SourcePosition {
            gtids,
            mysql: applied.mysql,
            file,
            pos,
        };
        let mut io = self.io.lock();
        io.received = Received {
            epoch,
            place: place.clone(),
        };
        io.arrivals.clear();
        place
    }

    /// Up to where groups are applied.
    pub(crate) fn applied(&self) -> At {
        if let Some(p) = self.progress.snapshot().reserved {
            return At {
                file: p.file,
                pos: p.pos,
            };
        }
        let config = self.config();
        let state = self.instance.database().replica_state();
        match state.channels.get(&config.id) {
            Some((file, pos)) => At {
                file: file.clone(),
                pos: *pos,
            },
            None => At {
                file: config.log_file.as_str().into(),
                pos: config.log_pos,
            },
        }
    }
}

/// A list of GTIDs by their domains.
pub(crate) fn parse_gtids(list: &str) -> Option<BTreeMap<u32, Gtid>> {
    list.split(',')
        .map(str::trim)
        .filter(|g| !g.is_empty())
        .map(|g| g.parse::<Gtid>().ok().map(|g| (g.domain, g)))
        .collect()
}
