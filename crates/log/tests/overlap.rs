//! Groups whose syncs run at the same time, on a disk whose syncs take long and end in any order.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{HEADER_LEN, Log, LogError, LogOptions, RecordKind};

fn options(disk: &SimDisk, parallel_syncs: u32) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 8 << 10,
        grow_step: 8 << 10,
        flush_interval: Duration::from_secs(3600),
        parallel_syncs,
        ..LogOptions::new("/data/log")
    }
}

fn open(disk: &SimDisk, parallel_syncs: u32) -> Log<()> {
    let open = Log::<()>::open(options(disk, parallel_syncs), None, |_| {
        Ok::<_, Infallible>(())
    });
    open.unwrap().start(()).unwrap()
}

fn commit(log: &Log<()>) -> Result<u64, LogError> {
    let (t, ()) = log.reserve(RecordKind::Commit, 100, |_, ()| ())?;
    let mut buf = vec![0; HEADER_LEN + 100];
    buf[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&t.seq().to_le_bytes());
    log.fill(&t, buf);
    log.wait(&t)?;
    assert!(log.visible_seq() >= t.seq());
    assert!(log.durable_lsn() >= t.reserved().end_lsn);
    Ok(t.seq())
}

/// Commits of several clients, until `stop` or an error; `acked` gets those that were acknowledged.
fn clients(log: &Log<()>, n: usize, stop: &AtomicBool, acked: &Mutex<BTreeSet<u64>>) {
    std::thread::scope(|s| {
        for _ in 0..n {
            s.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    match commit(log) {
                        Ok(seq) => assert!(acked.lock().unwrap().insert(seq)),
                        Err(_) => return,
                    }
                }
            });
        }
    });
}

/// What a log on this disk holds; it must be a run from 1 on.
fn recovered(disk: &SimDisk) -> u64 {
    let mut last = 0;
    Log::<()>::open(options(disk, 1), None, |r| {
        if r.kind == RecordKind::Commit {
            last += 1;
            assert_eq!(r.seq, last);
            assert_eq!(r.body[..8], last.to_le_bytes());
        }
        Ok::<_, Infallible>(())
    })
    .unwrap();
    last
}

/// Overlaps from now on, for some time at least.
fn warm(log: &Log<()>, disk: &SimDisk) -> u64 {
    disk.set_sync_time(Duration::from_millis(1));
    let mut last = 0;
    for _ in 0..20 {
        last = commit(log).unwrap();
    }
    last
}

#[test]
fn a_group_need_not_wait_for_the_sync_before_it() {
    for (most, expected) in [(1, false), (8, true)] {
        let disk = SimDisk::new();
        let log = open(&disk, most);
        warm(&log, &disk);
        assert_eq!(log.stats().overlapped, 0, "a lone client");
        disk.set_sync_time(Duration::from_millis(20));
        let (stop, acked) = (AtomicBool::new(false), Mutex::new(BTreeSet::new()));
        std::thread::scope(|s| {
            s.spawn(|| {
                while acked.lock().unwrap().len() < 100 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                stop.store(true, Ordering::SeqCst);
            });
            clients(&log, 6, &stop, &acked);
        });
        let stats = log.stats();
        assert_eq!(stats.overlapped > 0, expected, "{stats:?}");
        log.close().unwrap();
        drop(log);
        assert_eq!(recovered(&disk), stats.commits);
    }
}

/// In whatever order syncs end: what was acknowledged before the power went is there afterwards.
#[test]
fn acknowledged_commits_survive_power_loss() {
    let mut overlapped = 0;
    for seed in 0..12 {
        let disk = SimDisk::new();
        let log = open(&disk, 8);
        let before = warm(&log, &disk);
        disk.set_sync_spread(Duration::from_millis(3));
        let (stop, acked) = (AtomicBool::new(false), Mutex::new(BTreeSet::new()));
        let crashed = std::thread::scope(|s| {
            let crash = s.spawn(|| {
                std::thread::sleep(Duration::from_millis(20 + seed * 7));
                let known: BTreeSet<u64> = acked.lock().unwrap().clone();
                let crashed = disk.crash(seed);
                stop.store(true, Ordering::SeqCst);
                (known, crashed)
            });
            clients(&log, 6, &stop, &acked);
            crash.join().unwrap()
        });
        overlapped += log.stats().overlapped;
        let (known, disk) = crashed;
        let last = recovered(&disk);
        assert!(last >= before);
        let lost: Vec<_> = known.range(last + 1..).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?} of {last}");
    }
    assert!(overlapped > 0);
}

/// A sync fails, and with it what was not durable is lost in part, while later ones succeed: nothing behind it is
/// acknowledged.
#[test]
fn nothing_is_acknowledged_behind_a_sync_that_failed() {
    let mut overlapped = 0;
    for seed in 0..24 {
        let disk = SimDisk::new();
        let log = open(&disk, 8);
        warm(&log, &disk);
        disk.set_sync_spread(Duration::from_millis(3));
        let (stop, acked) = (AtomicBool::new(false), Mutex::new(BTreeSet::new()));
        let nth = disk.count(Call::Sync) + 10 + seed;
        disk.fail_nth(Call::Sync, nth, libc::EIO);
        std::thread::scope(|s| {
            s.spawn(|| {
                // That may have been the sync of a segment in the making, which is tried again.
                while log.failed().is_none() {
                    std::thread::sleep(Duration::from_millis(20));
                    let next = disk.count(Call::Sync) + 3;
                    disk.fail_nth(Call::Sync, next, libc::EIO);
                }
            });
            clients(&log, 6, &stop, &acked);
        });
        assert!(log.failed().is_some());
        overlapped += log.stats().overlapped;
        drop(log);
        let last = recovered(&disk.crash(seed));
        let acked = acked.lock().unwrap();
        let lost: Vec<_> = acked.range(last + 1..).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?} of {last}");
    }
    assert!(overlapped > 0);
}

/// Whoever came while the only sync ran, and sleeps, is led when it has ended, though nobody else comes.
#[test]
fn who_came_during_a_sync_is_not_forgotten() {
    let disk = SimDisk::new();
    let log = Arc::new(open(&disk, 1));
    log.set_commit_wait_auto(false);
    disk.set_sync_time(Duration::from_millis(50));
    let (done, told) = std::sync::mpsc::channel();
    for n in 0..3 {
        let (log, done) = (log.clone(), done.clone());
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10 * n));
            commit(&log).unwrap();
            done.send(()).unwrap();
        });
    }
    for _ in 0..3 {
        told.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}
