//! Committers that leave their records to whoever writes them: each is told once, nobody is forgotten.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{
    Durability, Gate, HEADER_LEN, Log, LogError, LogOptions, OnDone, RecordKind, Ticket,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const PATIENCE: Duration = Duration::from_secs(60);

fn open(opts: LogOptions) -> (Arc<Log<()>>, u64) {
    let mut last = 0;
    let open = Log::<()>::open(opts, None, |r| {
        last += 1;
        assert_eq!(r.seq, last);
        Ok::<_, Infallible>(())
    })
    .unwrap();
    (Arc::new(open.start(()).unwrap()), last)
}

fn reserve(log: &Log<()>) -> Ticket {
    log.reserve(RecordKind::Commit, 40, |_, ()| ()).unwrap().0
}

fn commit(log: &Log<()>) -> Ticket {
    let t = reserve(log);
    log.fill(&t, vec![7; HEADER_LEN + 40]);
    t
}

/// What a connection leaves behind: the number of the commit that it waits for, and where the answer goes.
#[derive(Debug)]
struct Answer {
    log: Arc<Log<()>>,
    seq: AtomicU64,
    tell: Mutex<Sender<Result<u64, LogError>>>,
}

impl Answer {
    fn new(log: &Arc<Log<()>>) -> (Arc<Answer>, Receiver<Result<u64, LogError>>) {
        let (tell, told) = channel();
        let answer = Answer {
            log: log.clone(),
            seq: AtomicU64::new(0),
            tell: Mutex::new(tell),
        };
        (Arc::new(answer), told)
    }
}

impl OnDone for Answer {
    fn done(&self, result: Result<(), LogError>) {
        let seq = self.seq.load(Ordering::SeqCst);
        // What a client is told of is there for everybody.
        assert!(result.is_err() || self.log.visible_seq() >= seq);
        self.tell
            .lock()
            .unwrap()
            .send(result.map(|()| seq))
            .unwrap();
    }
}

fn under_load(mode: Durability, change: bool) {
    load(mode, change, 400, None);
}

/// Syncs that are slow and end in any order, several at once.
fn under_load_together(change: bool) {
    let disk = SimDisk::new();
    disk.set_sync_time(Duration::from_micros(400));
    disk.set_sync_spread(Duration::from_micros(400));
    let overlapped = load(Durability::Synced, change, 150, Some(disk));
    assert!(change || overlapped > 0);
}

fn load(mode: Durability, change: bool, each: u64, disk: Option<SimDisk>) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let mut opts = LogOptions {
        segment_size: 256 << 10,
        initial_size: 16 << 10,
        grow_step: 64 << 10,
        durability: mode,
        flush_interval: Duration::from_millis(20),
        ..LogOptions::new(dir.path())
    };
    if let Some(disk) = disk {
        opts.disk = Arc::new(disk);
    }
    let (log, _) = open(opts.clone());
    let threads = 8;
    let stop = AtomicBool::new(false);
    std::thread::scope(|s| {
        let committers: Vec<_> = (0..threads)
            .map(|i| {
                let log = &log;
                s.spawn(move || {
                    let mut rng = SmallRng::seed_from_u64(i);
                    let (answer, told) = Answer::new(log);
                    let then: Arc<dyn OnDone> = answer.clone();
                    for _ in 0..each {
                        let t = commit(log);
                        answer.seq.store(t.seq(), Ordering::SeqCst);
                        if rng.random_bool(0.1) {
                            std::thread::yield_now();
                        }
                        if rng.random_bool(0.9) && log.leave(&t, &then) {
                            let seq = t.seq();
                            drop(t);
                            assert_eq!(told.recv_timeout(PATIENCE).unwrap().unwrap(), seq);
                        } else {
                            log.wait(&t).unwrap();
                            assert!(log.visible_seq() >= t.seq());
                        }
                        assert!(told.try_recv().is_err(), "told twice");
                    }
                })
            })
            .collect();
        if change {
            let (log, stop) = (&log, &stop);
            s.spawn(move || {
                let mut rng = SmallRng::seed_from_u64(7);
                let gates = [Gate::Open, Gate::Open, Gate::Answers, Gate::Visibility];
                let modes = [
                    Durability::Buffered,
                    Durability::Synced,
                    Durability::Written,
                ];
                while !stop.load(Ordering::SeqCst) {
                    log.set_gate(gates[rng.random_range(0..4)]);
                    if rng.random_bool(0.3) {
                        log.set_durability(modes[rng.random_range(0..3)]).unwrap();
                    }
                    if rng.random_bool(0.2) {
                        log.set_commit_wait(rng.random_range(0..5), 500);
                    }
                    std::thread::sleep(Duration::from_micros(rng.random_range(0..2000)));
                }
                log.set_gate(Gate::Open);
            });
        }
        for c in committers {
            let done = c.join();
            stop.store(true, Ordering::SeqCst);
            done.unwrap();
            log.set_gate(Gate::Open);
        }
    });
    assert_eq!(log.visible_seq(), threads * each);
    let overlapped = log.stats().overlapped;
    log.close().unwrap();
    drop(log);
    assert_eq!(open(opts).1, threads * each);
    overlapped
}

#[test]
fn each_is_told_once_and_after_its_commit_is_visible() {
    under_load(Durability::Synced, false);
    under_load(Durability::Written, false);
}

#[test]
fn gates_and_modes_change_under_those_who_have_left() {
    under_load(Durability::Synced, true);
}

#[test]
fn nobody_is_forgotten_while_syncs_run_together() {
    under_load_together(false);
    under_load_together(true);
}

/// Whoever leads waits for two more commits.
fn gathering() -> (SimDisk, Arc<Log<()>>) {
    let disk = SimDisk::new();
    let opts = LogOptions {
        disk: Arc::new(disk.clone()),
        commit_wait_count: 3,
        commit_wait_usec: 60_000_000,
        // Nothing to be made ahead: every sync is a commit's.
        segment_size: 64 << 10,
        initial_size: 64 << 10,
        ..LogOptions::new("/log")
    };
    let log = open(opts).0;
    (disk, log)
}

/// Commits one that leads and waits for two more, then `then` while it does.
fn while_one_leads(log: &Arc<Log<()>>, then: impl FnOnce()) -> Result<(), LogError> {
    std::thread::scope(|s| {
        let first = s.spawn(|| log.wait(&commit(log)));
        while !log.is_leading() {
            std::thread::yield_now();
        }
        then();
        first.join().unwrap()
    })
}

#[test]
fn nobody_leaves_when_nobody_would_write() {
    let (_, log) = gathering();
    log.set_commit_wait(0, 0);
    let (answer, told) = Answer::new(&log);
    let then: Arc<dyn OnDone> = answer;
    let t = commit(&log);
    assert!(!log.leave(&t, &then), "nobody leads");
    log.wait(&t).unwrap();
    assert!(!log.leave(&t, &then), "it is done");
    log.set_gate(Gate::Answers);
    let t = commit(&log);
    assert!(!log.leave(&t, &then), "there is a gate");
    log.set_gate(Gate::Open);
    log.wait(&t).unwrap();
    assert!(told.try_recv().is_err());
}

#[test]
fn a_record_that_was_left_is_written_though_nobody_waits_for_anything() {
    let (_, log) = gathering();
    let (answer, told) = Answer::new(&log);
    let then: Arc<dyn OnDone> = answer.clone();
    let mut hold = None;
    while_one_leads(&log, || {
        // It is behind a record that is not handed over yet: this group ends in front of it.
        hold = Some(reserve(&log));
        let t = commit(&log);
        answer.seq.store(t.seq(), Ordering::SeqCst);
        assert!(log.leave(&t, &then));
        log.set_commit_wait(0, 0);
        drop(commit(&log));
    })
    .unwrap();
    assert!(told.try_recv().is_err());
    let hold = hold.unwrap();
    log.fill(&hold, vec![7; HEADER_LEN + 40]);
    // Its owner goes away without a wait.
    drop(hold);
    assert_eq!(told.recv_timeout(PATIENCE).unwrap().unwrap(), 3);
}

#[test]
fn those_who_left_are_told_that_the_log_has_failed() {
    let (disk, log) = gathering();
    let (answer, told) = Answer::new(&log);
    let then: Arc<dyn OnDone> = answer;
    disk.fail_nth(Call::Sync, 1, libc::EIO);
    let first = while_one_leads(&log, || {
        assert!(log.leave(&commit(&log), &then));
        drop(commit(&log));
    });
    assert!(matches!(first, Err(LogError::Failed(_))));
    let told = told.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Err(LogError::Failed(_))));
}
