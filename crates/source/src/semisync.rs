//! Semi-synchronous replication: commits wait until replicas have them.
//!
//! The waiting itself is the log's: its gate ([`Gate`]) holds back what replicas have not acknowledged, in the order of
//! the log, while later groups are written. Here is who moves it: replicas ([`SemiSyncReader`]) say how far they have
//! come, the last commit that enough of them have opens the gate up to there, and a clock opens it altogether when
//! the answer takes too long.
//!
//! It is *enabled* by a setting, and *on* while commits really wait. A time-out turns it off, a replica that has caught
//! up turns it on again. So there are three states, and what dumps ask replicas for follows from them ([`Asks`]).

mod clock;
mod reader;
mod state;

pub use reader::{GroupEnd, SemiSyncReader};
pub use state::{SemiSyncSettings, WaitPoint};

use clock::Clock;
use narwal_engine::{Database, Gate};
use parking_lot::Mutex;
use state::{Asks, Counts, Off, Shared, State};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What `Rpl_semi_sync_master_...` tell. Counters count from the start of the server or the last RESET MASTER.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SemiSyncStatus {
    /// Commits wait now.
    pub on: bool,
    /// Replicas attached that acknowledge, by `server_id`.
    pub clients: u64,
    /// Commits that replicas have acknowledged.
    pub yes_tx: u64,
    /// Commits, while enabled, that went on without.
    pub no_tx: u64,
    /// How often it was turned off.
    pub no_times: u64,
    /// Commits that wait at this moment.
    pub wait_sessions: u64,
    /// Acknowledgements that replicas were asked for.
    pub asked: u64,
    /// Acknowledgements that came.
    pub received: u64,
    /// Commits that came to the gate while it was closed.
    pub requested: u64,
    /// Commits that had to wait there.
    pub tx_waits: u64,
    /// Microseconds that they waited.
    pub tx_wait_micros: u64,
}

/// Semi-synchronous replication of a server.
pub struct SemiSync {
    shared: Arc<Shared>,
    clock: Clock,
}

impl std::fmt::Debug for SemiSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SemiSync").finish_non_exhaustive()
    }
}

impl SemiSync {
    /// For an open database; not enabled.
    #[must_use]
    pub fn new(db: Database) -> Self {
        SemiSync {
            shared: Arc::new(Shared {
                db,
                state: Mutex::new(State {
                    settings: SemiSyncSettings::default(),
                    off: None,
                    attached: BTreeMap::new(),
                    next: 1,
                    has: BTreeMap::new(),
                    quorum: 0,
                    counts: Counts::default(),
                }),
                asks: AtomicU8::new(Asks::None as u8),
                settled: AtomicU64::new(0),
                asked: AtomicU64::new(0),
                received: AtomicU64::new(0),
            }),
            clock: Clock::default(),
        }
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> SemiSyncSettings {
        self.shared.state.lock().settings
    }

    /// Changes settings. Commits that need not wait any more go on.
    pub fn set(&self, change: impl FnOnce(&mut SemiSyncSettings)) {
        let sh = &self.shared;
        let mut s = sh.state.lock();
        let before = s.settings;
        change(&mut s.settings);
        s.settings.replicas = s.settings.replicas.max(1);
        let now = s.settings;
        let lonely = !now.wait_no_replica && !s.enough();
        if before.enabled != now.enabled {
            if !now.enabled && s.off.is_none() {
                s.counts.no_times += 1;
            }
            s.off = (now.enabled && lonely).then_some(Off::TooFewReplicas);
            tracing::info!(
                on = s.on(),
                replicas = s.clients(),
                "semi-synchronous replication is {}",
                if now.enabled { "enabled" } else { "disabled" }
            );
        } else if now.enabled && lonely && s.off.is_none() {
            s.counts.no_times += 1;
            s.off = Some(Off::TooFewReplicas);
        } else if !lonely && now.wait_no_replica && s.off == Some(Off::TooFewReplicas) {
            s.off = None;
        }
        sh.apply(&mut s);
        sh.count(&mut s);
        drop(s);
        if now.enabled {
            self.clock.start(sh);
        }
    }

    /// A replica that acknowledges has attached. What it has is known when it says so, or when it asks for nothing
    /// before some place.
    #[must_use]
    pub fn attach(&self, server_id: u32) -> SemiSyncReader {
        let mut s = self.shared.state.lock();
        let id = s.next;
        s.next += 1;
        s.attached.insert(id, server_id);
        // It may have been set up anew.
        s.has.insert(server_id, 0);
        drop(s);
        SemiSyncReader::new(self.shared.clone(), id, server_id)
    }

    /// RESET MASTER: everybody goes on, the counters begin anew.
    pub fn reset(&self) {
        let sh = &self.shared;
        let mut s = sh.state.lock();
        sh.db.set_gate(Gate::Open);
        s.counts = Counts {
            base: sh.db.gate_stats(),
            base_asked: sh.asked.load(Ordering::Relaxed),
            base_received: sh.received.load(Ordering::Relaxed),
            ..Counts::default()
        };
        sh.apply(&mut s);
    }

    /// What it does and has done.
    #[must_use]
    pub fn status(&self) -> SemiSyncStatus {
        let sh = &self.shared;
        let s = sh.state.lock();
        let (c, base) = (&s.counts, &s.counts.base);
        let gate = sh.db.gate_stats();
        let held = sh.db.held().commits;
        let while_off = c
            .off_since
            .map_or(0, |since| sh.db.binlog_commits().saturating_sub(since));
        let yes_tx = gate.acknowledged - base.acknowledged;
        let let_go = gate.let_go - base.let_go;
        SemiSyncStatus {
            on: s.on(),
            clients: s.clients() as u64,
            yes_tx,
            no_tx: let_go + c.no_tx + while_off,
            no_times: c.no_times,
            wait_sessions: held,
            asked: sh.asked.load(Ordering::Relaxed) - c.base_asked,
            received: sh.received.load(Ordering::Relaxed) - c.base_received,
            requested: yes_tx + let_go + held,
            tx_waits: gate.waits - base.waits,
            tx_wait_micros: gate.wait_micros - base.wait_micros,
        }
    }
}
