//! The state that all replicas share, and its three effects: the gate, what dumps ask for, the time limit.

use narwal_engine::{Database, Gate, GateStats};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// A replica has caught up when it lacks no more commits than this. Under load there are always some on their way, and
/// waiting for these is what semi-synchronous replication is about.
pub(super) const CAUGHT_UP: u64 = 256;

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

/// Which groups dumps ask an acknowledgement for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Asks {
    /// Semi-synchronous replication is not enabled.
    None = 0,
    /// It is on: those that are not acknowledged yet.
    Missing = 1,
    /// It is off, to be turned on when a replica has caught up: those near the end of the log.
    NearEnd = 2,
}

/// Why it is enabled and not on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Off {
    TimeOut,
    TooFewReplicas,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) settings: SemiSyncSettings,
    pub(super) off: Option<Off>,
    /// Replicas by number of attachment: one may have come back before its old connection is known to be dead.
    pub(super) attached: BTreeMap<u64, u32>,
    pub(super) next: u64,
    /// What each `server_id` has, those that have left included: what they had then they have.
    pub(super) has: BTreeMap<u32, u64>,
    /// Enough replicas have everything up to here.
    pub(super) quorum: u64,
    pub(super) counts: Counts,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) no_times: u64,
    /// Commits without acknowledgement that did not come to the gate.
    pub(super) no_tx: u64,
    /// While it is off: `Binlog_commits` when that began.
    pub(super) off_since: Option<u64>,
    /// What to take off the gate's own counters.
    pub(super) base: GateStats,
    pub(super) base_asked: u64,
    pub(super) base_received: u64,
}

impl State {
    pub(super) fn on(&self) -> bool {
        self.settings.enabled && self.off.is_none()
    }

    pub(super) fn clients(&self) -> usize {
        let mut ids: Vec<u32> = self.attached.values().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.len()
    }

    pub(super) fn enough(&self) -> bool {
        self.clients() >= self.settings.replicas as usize
    }

    /// The last commit that enough replicas have.
    pub(super) fn count_quorum(&self) -> u64 {
        let mut has: Vec<u64> = self.has.values().copied().collect();
        has.sort_unstable_by(|a, b| b.cmp(a));
        let nth = self.settings.replicas.max(1) as usize - 1;
        has.get(nth).copied().unwrap_or(0)
    }
}

pub(super) struct Shared {
    pub(super) db: Database,
    pub(super) state: Mutex<State>,
    /// [`Asks`] as a number, for every group that is sent.
    pub(super) asks: AtomicU8,
    /// While it is on: commits up to this one need no acknowledgement (any more).
    pub(super) settled: AtomicU64,
    pub(super) asked: AtomicU64,
    pub(super) received: AtomicU64,
}

impl Shared {
    pub(super) fn asks(&self) -> Asks {
        match self.asks.load(Ordering::Acquire) {
            1 => Asks::Missing,
            2 => Asks::NearEnd,
            _ => Asks::None,
        }
    }

    /// Lets the state have its effect.
    pub(super) fn apply(&self, s: &mut State) {
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

    pub(super) fn turn_off(&self, s: &mut State, why: Off) {
        if s.on() {
            s.counts.no_times += 1;
            s.off = Some(why);
            self.apply(s);
        }
    }

    /// A replica (or none) has come further: moves the gate.
    pub(super) fn count(&self, s: &mut State) {
        let quorum = s.count_quorum();
        if quorum <= s.quorum {
            return;
        }
        s.quorum = quorum;
        self.settled.fetch_max(quorum, Ordering::AcqRel);
        self.db.acknowledge(quorum);
    }

    /// A replica has said something: turns it on again if enough of them have caught up.
    pub(super) fn turn_on_again(&self, s: &mut State) {
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
    pub(super) fn has(&self, server_id: u32, seq: u64) {
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
    pub(super) fn check_time(&self) -> Option<Duration> {
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

impl Shared {
    pub(super) fn detach(&self, id: u64) {
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
