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

pub use reader::{GroupEnd, SemiSyncReader};

use clock::Clock;
use narwal_engine::{Database, Gate, GateStats};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// A replica has caught up when it lacks no more commits than this. Under load there are always some on their way, and
/// waiting for these is what semi-synchronous replication is about.
const CAUGHT_UP: u64 = 256;

/// What a commit waits for (`rpl_semi_sync_master_wait_point`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitPoint {
    /// Until replicas have it nobody sees it.
    AfterSync,
    /// Others see it at once; only its session waits.
    #[default]
    AfterCommit,
}

/// The settings; MariaDB's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemiSyncSettings {
    /// `rpl_semi_sync_master_enabled`.
    pub enabled: bool,
    /// `rpl_semi_sync_master_timeout`: how long a commit waits at most, until everything goes on without replicas.
    pub timeout: Duration,
    /// `rpl_semi_sync_master_wait_point`.
    pub wait_point: WaitPoint,
    /// `rpl_semi_sync_master_wait_no_slave`: commits wait even while too few replicas are attached.
    pub wait_no_replica: bool,
    /// `rpl_semi_sync_master_wait_for_slave_count`: so many different replicas must have it, at least 1.
    pub replicas: u32,
}

impl Default for SemiSyncSettings {
    fn default() -> Self {
        SemiSyncSettings {
            enabled: false,
            timeout: Duration::from_secs(10),
            wait_point: WaitPoint::default(),
            wait_no_replica: true,
            replicas: 1,
        }
    }
}

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

/// Which groups dumps ask an acknowledgement for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Asks {
    /// Semi-synchronous replication is not enabled.
    None = 0,
    /// It is on: those that are not acknowledged yet.
    Missing = 1,
    /// It is off, to be turned on when a replica has caught up: those near the end of the log.
    NearEnd = 2,
}

/// Why it is enabled and not on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Off {
    TimeOut,
    TooFewReplicas,
}

#[derive(Debug)]
struct State {
    settings: SemiSyncSettings,
    off: Option<Off>,
    /// Replicas by number of attachment: one may have come back before its old connection is known to be dead.
    attached: BTreeMap<u64, u32>,
    next: u64,
    /// What each `server_id` has, those that have left included: what they had then they have.
    has: BTreeMap<u32, u64>,
    /// Enough replicas have everything up to here.
    quorum: u64,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    no_times: u64,
    /// Commits without acknowledgement that did not come to the gate.
    no_tx: u64,
    /// While it is off: `Binlog_commits` when that began.
    off_since: Option<u64>,
    /// What to take off the gate's own counters.
    base: GateStats,
    base_asked: u64,
    base_received: u64,
}

impl State {
    fn on(&self) -> bool {
        self.settings.enabled && self.off.is_none()
    }

    fn clients(&self) -> usize {
        let mut ids: Vec<u32> = self.attached.values().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }

    fn enough(&self) -> bool {
        self.clients() >= self.settings.replicas as usize
    }

    /// The last commit that enough replicas have.
    fn count_quorum(&self) -> u64 {
        let mut has: Vec<u64> = self.has.values().copied().collect();
        has.sort_unstable_by(|a, b| b.cmp(a));
        let nth = self.settings.replicas.max(1) as usize - 1;
        has.get(nth).copied().unwrap_or(0)
    }
}

struct Shared {
    db: Database,
    state: Mutex<State>,
    /// [`Asks`] as a number, for every group that is sent.
    asks: AtomicU8,
    /// While it is on: commits up to this one need no acknowledgement (any more).
    settled: AtomicU64,
    asked: AtomicU64,
    received: AtomicU64,
}

impl Shared {
    fn asks(&self) -> Asks {
        match self.asks.load(Ordering::Acquire) {
            1 => Asks::Missing,
            2 => Asks::NearEnd,
            _ => Asks::None,
        }
    }

    /// Lets the state have its effect.
    fn apply(&self, s: &mut State) {
        let (gate, asks) = match (s.settings.enabled, s.off, s.settings.wait_point) {
            (false, ..) => (Gate::Open, Asks::None),
            (true, Some(_), _) => (Gate::Open, Asks::NearEnd),
            (true, None, WaitPoint::AfterSync) => (Gate::Visibility, Asks::Missing),
            (true, None, WaitPoint::AfterCommit) => (Gate::Answers, Asks::Missing),
        };
        if asks == Asks::Missing && self.asks() != asks {
            // What is visible before the gate closes does not wait.
            self.settled
                .fetch_max(self.db.visible_seq(), Ordering::AcqRel);
        }
        self.asks.store(asks as u8, Ordering::Release);
        self.db.set_gate(gate);
        let c = &mut s.counts;
        if asks == Asks::NearEnd {
            c.off_since.get_or_insert_with(|| self.db.binlog_commits());
        } else if let Some(since) = c.off_since.take() {
            c.no_tx += self.db.binlog_commits() - since;
        }
    }

    fn turn_off(&self, s: &mut State, why: Off) {
        if s.on() {
            s.counts.no_times += 1;
            s.off = Some(why);
            self.apply(s);
        }
    }

    /// A replica (or none) has come further: moves the gate.
    fn count(&self, s: &mut State) {
        let quorum = s.count_quorum();
        if quorum <= s.quorum {
            return;
        }
        s.quorum = quorum;
        self.settled.fetch_max(quorum, Ordering::AcqRel);
        self.db.acknowledge(quorum);
    }

    /// A replica has said something: turns it on again if enough of them have caught up.
    fn turn_on_again(&self, s: &mut State) {
        if !s.settings.enabled || s.off.is_none() || !s.enough() {
            return;
        }
        if s.quorum.saturating_add(CAUGHT_UP) < self.db.visible_seq() {
            return;
        }
        s.off = None;
        self.apply(s);
        tracing::info!(
            replicas = s.clients(),
            commit = s.quorum,
            "semi-synchronous replication is on: enough replicas have caught up"
        );
    }

    /// Replica `server_id` has every commit up to `seq`.
    fn has(&self, server_id: u32, seq: u64) {
        let mut s = self.state.lock();
        let has = s.has.entry(server_id).or_default();
        if seq > *has {
            *has = seq;
            self.count(&mut s);
        }
        self.turn_on_again(&mut s);
    }

    /// Turns it off if the first commit that is held has waited too long. Otherwise the time until then; `None` if
    /// nothing is waiting.
    fn check_time(&self) -> Option<Duration> {
        let (held, timeout) = {
            let mut s = self.state.lock();
            if !s.on() {
                return None;
            }
            let held = self.db.held();
            let (_, since) = held.first?;
            let timeout = s.settings.timeout;
            let waited = since.elapsed();
            if waited < timeout {
                return Some(timeout - waited);
            }
            self.turn_off(&mut s, Off::TimeOut);
            (held, timeout)
        };
        let at = held.first.and_then(|(seq, _)| {
            let at = self.db.position_at_seq(seq).ok()?;
            Some(format!("{} {} (GTIDs {})", at.file, at.offset, at.gtid_pos))
        });
        tracing::warn!(
            waiting = held.commits,
            milliseconds = timeout.as_millis() as u64,
            first = at.unwrap_or_default(),
            "semi-synchronous replication is off: no acknowledgement in time. Commits go on without replicas until enough of them have caught up"
        );
        None
    }
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

impl Shared {
    fn detach(&self, id: u64) {
        let mut s = self.state.lock();
        s.attached.remove(&id);
        if s.on() && !s.settings.wait_no_replica && !s.enough() {
            self.turn_off(&mut s, Off::TooFewReplicas);
            tracing::warn!(
                replicas = s.clients(),
                "semi-synchronous replication is off: too few replicas are attached"
            );
        }
    }
}
