//! The gate of semi-synchronous replication: what is durable waits for acknowledgements, in one order, and nobody
//! hangs. `NARWAL_SEEDS` sets how many random histories (default 300); `NARWAL_SEED` runs just one.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{
    Durability, Gate, HEADER_LEN, Log, LogError, LogOptions, OpenError, RecordKind, Ticket,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const DIR: &str = "/data/log";

fn options(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 12 << 10,
        grow_step: 4096,
        background: false,
        ..LogOptions::new(DIR)
    }
}

/// Opens; returns the number of commits found too.
fn open(opts: LogOptions) -> (Log<()>, u64) {
    let mut last = 0;
    let open = Log::<()>::open(opts, None, |r| {
        if r.kind.is_commit() {
            last += 1;
            assert_eq!(r.seq, last);
        }
        Ok::<_, Infallible>(())
    })
    .map_err(|e| match e {
        OpenError::Log(e) => e,
        OpenError::Replay(never) => match never {},
    })
    .unwrap();
    (open.start(()).unwrap(), last)
}

fn start(log: &Log<()>, kind: RecordKind) -> Result<Ticket, LogError> {
    let (t, ()) = log.reserve(kind, 40, |_, ()| ())?;
    log.fill(&t, vec![7; HEADER_LEN + 40]);
    Ok(t)
}

fn commit(log: &Log<()>) -> Ticket {
    start(log, RecordKind::Commit).unwrap()
}

/// Brings it as far as it gets: whether it is through.
fn done(log: &Log<()>, t: &Ticket) -> bool {
    match log.wait_or(t, || true) {
        Ok(()) => true,
        Err(LogError::GivenUp) => false,
        Err(e) => panic!("{e}"),
    }
}

fn gated(gate: Gate) -> (SimDisk, Log<()>) {
    let disk = SimDisk::new();
    let (log, _) = open(options(&disk));
    log.set_gate(gate);
    assert_eq!(log.gate(), gate);
    (disk, log)
}

#[test]
fn a_durable_commit_is_invisible_until_it_is_acknowledged_and_later_ones_are_written_meanwhile() {
    let (disk, log) = gated(Gate::Visibility);
    let syncs = disk.count(Call::Sync);
    let tickets: Vec<_> = (0..3)
        .map(|i| {
            let t = commit(&log);
            assert!(!done(&log, &t));
            assert!(log.durable_lsn() >= t.reserved().end_lsn);
            assert_eq!(log.held().commits, i + 1);
            t
        })
        .collect();
    assert_eq!(disk.count(Call::Sync) - syncs, 3, "each in its own group");
    assert_eq!((log.visible_seq(), log.held().first.unwrap().0), (0, 1));
    log.acknowledge(2);
    assert_eq!((log.visible_seq(), log.held().commits), (2, 1));
    let through: Vec<_> = tickets.iter().map(|t| done(&log, t)).collect();
    assert_eq!(through, [true, true, false]);
    // A replica says less than it said before: nothing.
    log.acknowledge(1);
    assert_eq!(log.visible_seq(), 2);
    log.acknowledge(3);
    assert!(done(&log, &tickets[2]));
    let stats = log.gate_stats();
    assert_eq!((stats.acknowledged, stats.let_go, stats.waits), (3, 0, 3));
    assert_eq!(log.held(), narwal_log::Held::default());
}

#[test]
fn with_answers_held_readers_see_the_commit_at_once() {
    let (_disk, log) = gated(Gate::Answers);
    let t = commit(&log);
    assert!(!done(&log, &t));
    assert_eq!(log.visible_seq(), 1);
    log.acknowledge(1);
    assert!(done(&log, &t));
}

#[test]
fn an_acknowledgement_may_be_faster_than_the_leader() {
    let (_disk, log) = gated(Gate::Visibility);
    let t = commit(&log);
    log.acknowledge(1);
    assert!(done(&log, &t));
    let stats = log.gate_stats();
    assert_eq!((stats.acknowledged, stats.waits), (1, 0));
}

#[test]
fn what_replicas_never_see_waits_for_its_place_only() {
    let (_disk, log) = gated(Gate::Visibility);
    let local = || start(&log, RecordKind::LocalCommit).unwrap();
    let first = local();
    assert!(done(&log, &first));
    let logged = commit(&log);
    let second = local();
    assert!(!done(&log, &second) && !done(&log, &logged));
    assert_eq!((log.visible_seq(), log.held().commits), (1, 1));
    log.acknowledge(2);
    assert!(done(&log, &second) && done(&log, &logged));
    assert_eq!(log.visible_seq(), 3);
    log.set_gate(Gate::Answers);
    let logged = commit(&log);
    let third = local();
    assert!(done(&log, &third) && !done(&log, &logged));
    assert_eq!(log.visible_seq(), 5);
}

#[test]
fn only_commits_wait() {
    let (_disk, log) = gated(Gate::Visibility);
    let held = commit(&log);
    assert!(!done(&log, &held));
    for kind in [RecordKind::State, RecordKind::Note, RecordKind::Chunk] {
        log.wait(&start(&log, kind).unwrap()).unwrap();
    }
    // Behind a commit that nobody has flushed yet, too.
    let behind = commit(&log);
    let state = start(&log, RecordKind::State).unwrap();
    log.wait(&state).unwrap();
    let end = log.sync_all().unwrap();
    assert!(log.durable_lsn() >= end);
    log.append_chunk(vec![1; HEADER_LEN + 100], |_, ()| ())
        .unwrap();
    log.switch_segment().unwrap();
    log.tick().unwrap();
    log.set_durability(Durability::Written).unwrap();
    log.set_durability(Durability::Synced).unwrap();
    assert!(!done(&log, &held) && !done(&log, &behind));
    assert_eq!((log.visible_seq(), log.held().commits), (0, 2));
}

#[test]
fn letting_go_loses_and_hangs_nobody() {
    for how in 0..3 {
        let (_disk, log) = gated(Gate::Visibility);
        let mut tickets: Vec<_> = (0..5).map(|_| commit(&log)).collect();
        assert!(!done(&log, &tickets[4]));
        std::thread::scope(|s| {
            for t in tickets.drain(..) {
                let log = &log;
                s.spawn(move || log.wait(&t).unwrap());
            }
            let reader = s.spawn(|| log.wait_visible(5));
            match how {
                0 => log.set_gate(Gate::Open),
                1 => log.shut_gate(),
                _ => log.close().unwrap(),
            }
            reader.join().unwrap().unwrap();
        });
        assert_eq!(log.visible_seq(), 5);
        assert_eq!(log.gate_stats().let_go, 5);
        if how > 0 {
            log.set_gate(Gate::Visibility);
            assert_eq!(log.gate(), Gate::Open, "shut for good");
        }
    }
}

#[test]
fn going_over_to_the_other_gate_keeps_the_promise_of_each() {
    let (_disk, log) = gated(Gate::Visibility);
    let a = commit(&log);
    assert!(!done(&log, &a));
    log.set_gate(Gate::Answers);
    assert_eq!(log.visible_seq(), 1);
    let b = commit(&log);
    assert!(!done(&log, &a) && !done(&log, &b));
    assert_eq!(log.visible_seq(), 2);
    log.set_gate(Gate::Visibility);
    let c = commit(&log);
    assert!(!done(&log, &c));
    assert_eq!(log.visible_seq(), 2);
    log.acknowledge(1);
    assert!(done(&log, &a) && !done(&log, &b));
    assert_eq!(log.visible_seq(), 2);
    log.acknowledge(3);
    assert!(done(&log, &b) && done(&log, &c));
}

#[test]
fn a_gate_lets_nothing_through_that_is_not_durable() {
    for mode in [Durability::Buffered, Durability::Written] {
        let disk = SimDisk::new();
        let (log, _) = open(LogOptions {
            durability: mode,
            ..options(&disk)
        });
        let early = commit(&log);
        log.wait(&early).unwrap();
        assert_eq!(log.visible_seq(), 1);
        log.set_gate(Gate::Visibility);
        assert_eq!(log.durability(), mode);
        let t = commit(&log);
        log.acknowledge(2);
        assert!(done(&log, &t));
        assert!(log.durable_lsn() >= t.reserved().end_lsn);
        let held = commit(&log);
        assert!(!done(&log, &held));
        assert!(log.durable_lsn() >= held.reserved().end_lsn);
        log.set_gate(Gate::Open);
        assert!(done(&log, &held));
        let syncs = disk.count(Call::Sync);
        log.wait(&commit(&log)).unwrap();
        assert_eq!(disk.count(Call::Sync), syncs, "as before");
        assert_eq!(log.visible_seq(), 4);
    }
}

#[test]
fn a_waiter_may_give_up_and_its_commit_stays_held() {
    let (_disk, log) = gated(Gate::Visibility);
    let killed = AtomicBool::new(false);
    std::thread::scope(|s| {
        let waiter = s.spawn(|| {
            let t = commit(&log);
            log.wait_or(&t, || killed.load(Ordering::SeqCst))
        });
        let reader = s.spawn(|| log.wait_visible_or(1, || killed.load(Ordering::SeqCst)));
        while log.held().commits == 0 {
            std::thread::yield_now();
        }
        killed.store(true, Ordering::SeqCst);
        assert!(matches!(waiter.join().unwrap(), Err(LogError::GivenUp)));
        assert!(matches!(reader.join().unwrap(), Err(LogError::GivenUp)));
    });
    assert_eq!((log.visible_seq(), log.held().commits), (0, 1));
    log.acknowledge(1);
    assert_eq!(log.visible_seq(), 1);
}

#[test]
fn what_is_held_survives_the_failure_of_the_log() {
    let (disk, log) = gated(Gate::Visibility);
    let held = commit(&log);
    assert!(!done(&log, &held));
    disk.fail_nth(Call::Sync, 1, libc::EIO);
    let lost = commit(&log);
    assert!(matches!(log.wait(&lost), Err(LogError::Failed(_))));
    assert!(!done(&log, &held));
    log.acknowledge(1);
    assert!(done(&log, &held));
    assert_eq!(log.visible_seq(), 1);
    let (_log, found) = open(options(&disk.crash(1)));
    assert!(found >= 1);
}

#[test]
fn a_crash_makes_what_was_held_visible() {
    let (disk, log) = gated(Gate::Visibility);
    let held = commit(&log);
    assert!(!done(&log, &held));
    let (log, found) = open(options(&disk.crash(5)));
    assert_eq!((found, log.visible_seq(), log.gate()), (1, 1, Gate::Open));
}

fn seeds() -> std::ops::Range<u64> {
    if let Ok(one) = std::env::var("NARWAL_SEED") {
        let one: u64 = one.parse().unwrap();
        return one..one + 1;
    }
    let n = std::env::var("NARWAL_SEEDS").map_or(300, |n| n.parse().unwrap());
    0..n
}

struct Name(u64);
impl Drop for Name {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failing seed: NARWAL_SEED={}", self.0);
        }
    }
}

/// What the gate may let through, worked out from the calls alone.
struct Model {
    gate: Gate,
    acked: u64,
    /// Which commits want an acknowledgement, by sequence number - 1.
    logged: Vec<bool>,
    /// Commits up to this one are no matter of the gate in force, as far as readers go.
    free: u64,
    /// Commits behind this one met no open gate: who made them is told nothing before the acknowledgement.
    closed_since: u64,
    /// Answered while the log was to be durable.
    safe: u64,
    visible: u64,
}

impl Model {
    /// No commit behind this one may be visible.
    fn limit(&self) -> u64 {
        let all = self.logged.len() as u64;
        if self.gate != Gate::Visibility {
            return all;
        }
        let from = self.free.max(self.acked).min(all);
        (from..all)
            .find(|&i| self.logged[i as usize])
            .unwrap_or(all)
    }

    fn check(&mut self, log: &Log<()>) {
        let visible = log.visible_seq();
        assert!(visible >= self.visible, "visible went back");
        assert!(visible <= self.limit(), "{visible} > {}", self.limit());
        self.visible = visible;
    }

    fn set_gate(&mut self, log: &Log<()>, gate: Gate) {
        log.set_gate(gate);
        let all = self.logged.len() as u64;
        if gate == Gate::Open || self.gate == Gate::Open {
            self.closed_since = all;
        }
        if gate != self.gate {
            self.free = all;
        }
        self.gate = gate;
    }
}

/// Random calls, acknowledgements, time-outs (letting go), changes of mode, and a crash at any call of the disk.
#[test]
fn random_histories() {
    for seed in seeds() {
        let name = Name(seed);
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x6A7E);
        let disk = SimDisk::new();
        let (log, _) = open(LogOptions {
            segment_size: [8 << 10, 64 << 10][rng.random_range(0..2)],
            ..options(&disk)
        });
        let mut m = Model {
            gate: Gate::Open,
            acked: 0,
            logged: Vec::new(),
            free: 0,
            closed_since: 0,
            safe: 0,
            visible: 0,
        };
        if rng.random_bool(0.7) {
            disk.power_off_in(rng.random_range(1..120));
        }
        let mut open_tickets: Vec<(Ticket, RecordKind)> = Vec::new();
        let mut work = || -> Result<(), LogError> {
            for _ in 0..rng.random_range(10..120) {
                let all = m.logged.len() as u64;
                match rng.random_range(0..100) {
                    0..45 => {
                        let kind = match rng.random_range(0..10) {
                            0..7 => RecordKind::Commit,
                            7..9 => RecordKind::LocalCommit,
                            _ => RecordKind::State,
                        };
                        let t = start(&log, kind)?;
                        if kind.is_commit() {
                            m.logged.push(!kind.is_local());
                            assert_eq!(t.seq(), m.logged.len() as u64);
                        }
                        if rng.random_bool(0.9) {
                            open_tickets.push((t, kind));
                        }
                    }
                    45..70 if !open_tickets.is_empty() => {
                        let i = rng.random_range(0..open_tickets.len());
                        let (t, kind) = &open_tickets[i];
                        let (seq, logged) = (t.seq(), *kind == RecordKind::Commit);
                        match log.wait_or(t, || true) {
                            Ok(()) => {
                                if logged && m.gate != Gate::Open && seq > m.closed_since {
                                    assert!(seq <= m.acked);
                                }
                                if kind.is_commit() {
                                    assert!(log.visible_seq() >= seq);
                                    if log.durable_lsn() >= t.reserved().end_lsn {
                                        m.safe = m.safe.max(seq);
                                    }
                                }
                                open_tickets.swap_remove(i);
                            }
                            Err(LogError::GivenUp) => {
                                assert_ne!(m.gate, Gate::Open);
                                assert!(kind.is_commit() && seq > m.acked.min(m.limit()));
                            }
                            Err(e) => return Err(e),
                        }
                    }
                    70..85 if all > 0 => {
                        let seq = rng.random_range(1..=all);
                        log.acknowledge(seq);
                        m.acked = m.acked.max(seq);
                    }
                    85..93 => {
                        let gates = [Gate::Open, Gate::Answers, Gate::Visibility];
                        let gate = gates[rng.random_range(0..3)];
                        m.set_gate(&log, gate);
                    }
                    93..96 => {
                        let modes = [
                            Durability::Synced,
                            Durability::Written,
                            Durability::Buffered,
                        ];
                        log.set_durability(modes[rng.random_range(0..3)])?;
                    }
                    96..98 => {
                        log.sync_all()?;
                    }
                    _ => log.tick()?,
                }
                m.check(&log);
            }
            Ok(())
        };
        let worked = work();
        if let Err(e) = &worked {
            assert!(disk.is_off(), "{e}");
        }
        let closed = worked.is_ok() && rng.random_bool(0.3) && {
            let all = m.logged.len() as u64;
            let ok = log.close().is_ok();
            if ok {
                m.safe = all;
                assert_eq!(log.visible_seq(), all);
                for (t, _) in &open_tickets {
                    log.wait(t).unwrap();
                }
            }
            ok
        };
        if worked.is_ok() && !closed && !disk.is_off() {
            // Nobody hangs once everything is acknowledged.
            log.acknowledge(m.logged.len() as u64);
            for (t, _) in &open_tickets {
                if log.wait(t).is_err() {
                    assert!(disk.is_off());
                    break;
                }
            }
        }
        drop(open_tickets);
        drop(log);
        let (_, found) = open(options(&disk.crash(seed)));
        assert!(found >= m.safe, "{found} < {}", m.safe);
        drop(name);
    }
}

/// Writers, a replica that reads durable records and acknowledges them late and in lumps, a reader: with AFTER_SYNC
/// nobody ever sees, or is told of, a commit that the replica does not have; and the power goes at any call.
#[test]
fn lossless_under_threads_and_crashes() {
    for seed in 0..seeds().end.clamp(1, 300) / 5 {
        let name = Name(seed);
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x10_55);
        let disk = SimDisk::new();
        let (log, _) = open(LogOptions {
            background: true,
            flush_interval: Duration::from_millis(1),
            durability: [
                Durability::Synced,
                Durability::Written,
                Durability::Buffered,
            ][rng.random_range(0..3)],
            ..options(&disk)
        });
        log.set_gate(Gate::Visibility);
        // What the replica has, and whether everybody else has gone.
        let (replica, answered) = (AtomicU64::new(0), AtomicU64::new(0));
        let gone = AtomicBool::new(false);
        // The machine is off: nothing is read either, and nobody gets answers.
        let off = AtomicBool::new(false);
        disk.power_off_in(rng.random_range(20..400));
        let lumps = rng.random_range(1..20);
        std::thread::scope(|s| {
            let writers: Vec<_> = (0..6)
                .map(|i| {
                    let (log, answered, replica) = (&log, &answered, &replica);
                    let off = &off;
                    s.spawn(move || {
                        for n in 0.. {
                            let kind = if i == 0 && n % 2 == 0 {
                                RecordKind::LocalCommit
                            } else {
                                RecordKind::Commit
                            };
                            let Ok(t) = start(log, kind) else { return };
                            if log.wait_or(&t, || off.load(Ordering::SeqCst)).is_err() {
                                return;
                            }
                            assert!(log.visible_seq() >= t.seq());
                            if !kind.is_local() {
                                assert!(t.seq() <= replica.load(Ordering::SeqCst));
                            }
                            answered.fetch_max(t.seq(), Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            let (l, r, g, off) = (&log, &replica, &gone, &off);
            s.spawn(move || {
                let mut reader = l.read_from(l.oldest_lsn()).unwrap();
                let mut pending = 0;
                loop {
                    let Ok(next) = reader.next() else {
                        off.store(true, Ordering::SeqCst);
                        return;
                    };
                    match next {
                        Some(record) => {
                            if record.kind.is_commit() {
                                pending += 1;
                                r.store(record.seq, Ordering::SeqCst);
                            }
                            if pending >= lumps {
                                l.acknowledge(r.load(Ordering::SeqCst));
                                pending = 0;
                            }
                        }
                        None => {
                            l.acknowledge(r.load(Ordering::SeqCst));
                            pending = 0;
                            if g.load(Ordering::SeqCst) {
                                return;
                            }
                            // Fails when the power is off: what is durable was read.
                            let _ = l.wait_durable(reader.lsn(), Duration::from_millis(2));
                        }
                    }
                }
            });
            s.spawn(move || {
                while !g.load(Ordering::SeqCst) {
                    let seen = l.visible_seq();
                    // The replica's number may grow before this look, never shrink. A local commit goes through behind it.
                    let has = r.load(Ordering::SeqCst);
                    assert!(seen <= has + 1, "{seen} is visible, the replica has {has}");
                    std::thread::yield_now();
                }
            });
            for w in writers {
                w.join().unwrap();
            }
            gone.store(true, Ordering::SeqCst);
        });
        assert!(disk.is_off());
        drop(log);
        let (_, found) = open(options(&disk.crash(seed)));
        assert!(found >= answered.load(Ordering::SeqCst));
        drop(name);
    }
}

/// Everything changes all the time, on a real folder: nobody hangs, nothing is lost, one order.
#[test]
fn gates_modes_and_acknowledgements_change_under_load() {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        segment_size: 256 << 10,
        initial_size: 16 << 10,
        grow_step: 64 << 10,
        flush_interval: Duration::from_millis(20),
        ..LogOptions::new(dir.path())
    };
    let (log, _) = open(opts.clone());
    let (stop, left) = (AtomicBool::new(false), AtomicU64::new(8));
    let each = 400;
    // On a busy machine all commits may be over before the thread that changes gates has run.
    log.set_gate(Gate::Visibility);
    std::thread::scope(|s| {
        for i in 0..8u64 {
            let (log, left) = (&log, &left);
            s.spawn(move || {
                let mut rng = SmallRng::seed_from_u64(i);
                for _ in 0..each {
                    let kind = if rng.random_bool(0.1) {
                        RecordKind::LocalCommit
                    } else {
                        RecordKind::Commit
                    };
                    let t = start(log, kind).unwrap();
                    if rng.random_bool(0.2) {
                        let patience = rng.random_range(0..3);
                        let mut asked = 0;
                        let waited = log.wait_or(&t, || {
                            asked += 1;
                            asked > patience
                        });
                        assert!(matches!(waited, Ok(()) | Err(LogError::GivenUp)));
                    } else {
                        log.wait(&t).unwrap();
                        assert!(log.visible_seq() >= t.seq());
                    }
                }
                left.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let (l, st) = (&log, &stop);
        s.spawn(move || {
            let mut rng = SmallRng::seed_from_u64(99);
            while !st.load(Ordering::SeqCst) {
                l.acknowledge(l.with_order_state(|(), at| at.seq.saturating_sub(3)));
                std::thread::sleep(Duration::from_micros(rng.random_range(0..400)));
            }
        });
        s.spawn(move || {
            let mut rng = SmallRng::seed_from_u64(7);
            let gates = [
                Gate::Open,
                Gate::Answers,
                Gate::Visibility,
                Gate::Visibility,
            ];
            let modes = [
                Durability::Buffered,
                Durability::Synced,
                Durability::Written,
            ];
            let waited = || {
                let stats = l.gate_stats();
                stats.acknowledged > 0 && stats.waits > 0
            };
            while !st.load(Ordering::SeqCst) && !waited() {
                std::thread::sleep(Duration::from_micros(200));
            }
            while !st.load(Ordering::SeqCst) {
                l.set_gate(gates[rng.random_range(0..4)]);
                if rng.random_bool(0.3) {
                    l.set_durability(modes[rng.random_range(0..3)]).unwrap();
                }
                std::thread::sleep(Duration::from_micros(rng.random_range(0..3000)));
            }
            // The last few are never acknowledged: as after a time-out.
            l.set_gate(Gate::Open);
        });
        // Behind the last commits comes no acknowledgement (see the 3 above): letting go must do.
        while left.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
            if log.with_order_state(|(), at| at.seq) == 8 * each {
                stop.store(true, Ordering::SeqCst);
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(log.visible_seq(), 8 * each);
    let stats = log.gate_stats();
    assert!(stats.acknowledged > 0 && stats.waits > 0, "{stats:?}");
    log.close().unwrap();
    drop(log);
    assert_eq!(open(opts).1, 8 * each);
}
