//! Many threads on a real folder, in every mode.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use narwal_log::{Durability, HEADER_LEN, Log, LogOptions, RecordKind};

fn options(dir: &std::path::Path) -> LogOptions {
    LogOptions {
        segment_size: 256 << 10,
        initial_size: 16 << 10,
        grow_step: 64 << 10,
        flush_interval: std::time::Duration::from_millis(20),
        ..LogOptions::new(dir)
    }
}

/// Commits one record whose body is the counter that the order state gave it, padded.
fn commit(log: &Log<u64>, pad: usize) -> u64 {
    let (ticket, number) = log
        .reserve(RecordKind::Commit, 8 + pad, |at, counter| {
            *counter += 1;
            assert_eq!(*counter, at.seq);
            *counter
        })
        .unwrap();
    let mut buf = vec![0u8; HEADER_LEN];
    buf.extend_from_slice(&number.to_le_bytes());
    buf.resize(HEADER_LEN + 8 + pad, number as u8);
    log.fill(&ticket, buf);
    log.wait(&ticket).unwrap();
    assert!(log.visible_seq() >= number);
    number
}

fn replay(opts: LogOptions) -> (Log<u64>, u64, bool) {
    let mut last = 0u64;
    let open = Log::<u64>::open(opts, None, |r| {
        assert_eq!(r.kind, RecordKind::Commit);
        let n = u64::from_le_bytes(r.body[..8].try_into().unwrap());
        assert_eq!(n, last + 1);
        assert_eq!(n, r.seq);
        assert!(r.body[8..].iter().all(|&b| b == n as u8));
        last = n;
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    let clean = open.report.clean_shutdown;
    assert_eq!(open.report.last_seq, last);
    (open.start(last).unwrap(), last, clean)
}

fn run(mode: Durability, threads: u64, each: u64) {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        durability: mode,
        ..options(dir.path())
    };
    let (log, last, _) = replay(opts.clone());
    assert_eq!(last, 0);
    let log = Arc::new(log);
    let acked = Arc::new(Mutex::new(Vec::new()));
    std::thread::scope(|s| {
        for t in 0..threads {
            let (log, acked) = (log.clone(), acked.clone());
            s.spawn(move || {
                for i in 0..each {
                    let n = commit(&log, ((t * 131 + i * 17) % 700) as usize);
                    acked.lock().unwrap().push(n);
                }
            });
        }
    });
    let mut acked = Arc::into_inner(acked).unwrap().into_inner().unwrap();
    acked.sort_unstable();
    assert!(acked.iter().copied().eq(1..=threads * each));
    assert_eq!(log.visible_seq(), threads * each);
    let stats = log.stats();
    if mode == Durability::Synced {
        assert_eq!(stats.commits, threads * each);
        assert!(stats.syncs >= stats.groups);
    }
    log.close().unwrap();
    drop(log);
    let (log, last, clean) = replay(opts);
    assert_eq!(last, threads * each);
    assert!(clean);
    drop(log);
}

#[test]
fn synced_threads_keep_every_commit_in_order() {
    run(Durability::Synced, 16, 200);
}

#[test]
fn written_threads_keep_every_commit_in_order() {
    run(Durability::Written, 16, 500);
}

#[test]
fn buffered_threads_keep_every_commit_in_order() {
    run(Durability::Buffered, 16, 500);
}

/// Whoever asks for a sync while a record before it is unfinished sleeps; in mode 0 nobody leads when that is handed over.
#[test]
fn a_sync_behind_an_unfinished_record_of_mode_0_goes_on_when_that_is_handed_over() {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        durability: Durability::Buffered,
        background: false,
        ..options(dir.path())
    };
    let (log, _, _) = replay(opts);
    let log = Arc::new(log);
    for _ in 0..20 {
        let (ticket, number) = log
            .reserve(RecordKind::Commit, 8, |_, counter| {
                *counter += 1;
                *counter
            })
            .unwrap();
        let (told, synced) = std::sync::mpsc::channel();
        let l = log.clone();
        let syncer = std::thread::spawn(move || told.send(l.sync_all().map(drop)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(synced.try_recv().is_err());
        let mut buf = vec![0u8; HEADER_LEN];
        buf.extend_from_slice(&number.to_le_bytes());
        log.fill(&ticket, buf);
        log.wait(&ticket).unwrap();
        synced
            .recv_timeout(std::time::Duration::from_secs(30))
            .expect("the sync goes on")
            .unwrap();
        syncer.join().unwrap();
    }
    Arc::into_inner(log).unwrap().close().unwrap();
}

#[test]
fn modes_may_change_under_load_and_a_reader_sees_everything_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _, _) = replay(options(dir.path()));
    let log = Arc::new(log);
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let total = 8 * 400;
    std::thread::scope(|s| {
        for t in 0..8u64 {
            let (log, done) = (&log, &done);
            s.spawn(move || {
                for i in 0..400 {
                    commit(log, ((t + i) % 300) as usize);
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let (l, st) = (&log, &stop);
        s.spawn(move || {
            let modes = [
                Durability::Buffered,
                Durability::Synced,
                Durability::Written,
            ];
            for i in 0.. {
                if st.load(Ordering::SeqCst) {
                    break;
                }
                l.set_durability(modes[i % 3]).unwrap();
                l.set_commit_wait((i % 5) as u32, (i % 3) as u32 * 200);
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
        let mut reader = log.read_from(log.oldest_lsn()).unwrap();
        let mut next = 1;
        while next <= total {
            match reader.next().unwrap() {
                Some(r) => {
                    assert_eq!(r.seq, next);
                    assert_eq!(r.body[..8], next.to_le_bytes());
                    next += 1;
                }
                None => {
                    let at = reader.lsn();
                    log.wait_durable(at, std::time::Duration::from_millis(50))
                        .unwrap();
                }
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(done.load(Ordering::SeqCst), total);
    // No clean shutdown: the next start must find everything that was made durable.
    log.sync_all().unwrap();
    drop(log);
    let (_, last, _) = replay(options(dir.path()));
    assert_eq!(last, total);
}
