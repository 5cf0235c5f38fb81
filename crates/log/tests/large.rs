//! Chunks, refusals under the order mutex, segment switches, retention.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{
    DirReader, Durability, FIRST_LSN, HEADER_LEN, Log, LogError, LogOptions, OpenError, RecordKind,
    ReserveError, Ticket, segment_name,
};

const DIR: &str = "/data/log";

fn sim(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 64 << 10,
        initial_size: 60 << 10,
        grow_step: 4096,
        chunk_queue: 8000,
        chunk_group: 4000,
        background: false,
        ..LogOptions::new(DIR)
    }
}

fn open(opts: LogOptions) -> Log<u64> {
    Log::<u64>::open(opts, None, |_| Ok::<_, Infallible>(()))
        .unwrap()
        .start(0)
        .unwrap()
}

fn buf(body: &[u8]) -> Vec<u8> {
    let mut b = vec![0; HEADER_LEN];
    b.extend_from_slice(body);
    b
}

fn start(log: &Log<u64>, body: &[u8]) -> Ticket {
    let (t, ()) = log
        .reserve(RecordKind::Commit, body.len(), |_, _| ())
        .unwrap();
    log.fill(&t, buf(body));
    t
}

fn put(log: &Log<u64>, body: &[u8]) -> Ticket {
    let t = start(log, body);
    log.wait(&t).unwrap();
    t
}

fn first_file() -> PathBuf {
    Path::new(DIR).join(segment_name(FIRST_LSN))
}

#[test]
fn a_refused_reservation_leaves_the_log_as_it_was() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    put(&log, b"a");
    let before = log.with_order_state(|n, at| (*n, at));
    let e = log
        .reserve_checked(
            RecordKind::Commit,
            // Would not fit this segment: nothing is switched either.
            63 << 10,
            |n| if *n == 0 { Err("out of order") } else { Ok(()) },
            |_, _| panic!("not reserved"),
        )
        .map(|_: (Ticket, ())| ())
        .unwrap_err();
    assert!(matches!(e, ReserveError::Refused("out of order")), "{e}");
    assert_eq!(before, log.with_order_state(|n, at| (*n, at)));
    // It runs once, even where room has to be made first.
    let mut runs = 0;
    let (t, got) = log
        .reserve_checked(
            RecordKind::Commit,
            200_000,
            |n| {
                runs += 1;
                *n = 7;
                Ok::<_, Infallible>(())
            },
            |at, n| (at.seq, *n),
        )
        .unwrap();
    assert_eq!((runs, got), (1, (2, 7)));
    log.fill(&t, vec![0; HEADER_LEN + 200_000]);
    log.wait(&t).unwrap();
    let e = log
        .reserve_checked(RecordKind::Mark, 0, |_| Ok::<_, Infallible>(()), |_, _| ())
        .unwrap_err();
    assert!(matches!(e, ReserveError::Log(LogError::Misuse(_))), "{e}");
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = log.reserve_checked(
            RecordKind::Commit,
            1,
            |_| -> Result<(), ()> { panic!("check") },
            |_, _| (),
        );
    }));
    assert!(r.is_err() && log.failed().is_some());
}

#[test]
fn the_first_record_of_each_segment_is_told_so() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    let mut first = Vec::new();
    for _ in 0..200 {
        let t = put(&log, &[1; 1000]).reserved();
        if t.new_segment {
            first.push(t.lsn);
        }
    }
    let starts: Vec<u64> = disk
        .paths()
        .iter()
        .filter_map(|p| narwal_log::parse_segment_name(p.file_name()?.to_str()?))
        .filter(|&s| s < log.durable_lsn())
        .collect();
    assert!(starts.len() > 2);
    assert_eq!(first, starts.iter().map(|s| s + 24).collect::<Vec<_>>());
    drop(log);
    let log = open(sim(&disk));
    assert!(!put(&log, b"x").reserved().new_segment);
    let at = log.switch_segment().unwrap();
    // A quiet log's mark is not the caller's.
    log.tick().unwrap();
    log.tick().unwrap();
    let t = put(&log, b"x").reserved();
    assert!(t.new_segment && t.lsn >= at);
    assert!(!put(&log, b"x").reserved().new_segment);
}

#[test]
fn a_switched_segment_can_be_purged_and_an_empty_one_is_kept() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    assert_eq!(log.switch_segment().unwrap(), FIRST_LSN);
    for i in 0..5u8 {
        put(&log, &[i]);
        let at = log.switch_segment().unwrap();
        assert_eq!(log.switch_segment().unwrap(), at, "nothing in it");
        let purged = log.purge_before(at).unwrap();
        assert_eq!(purged.segments, 1);
        assert_eq!(log.oldest_lsn(), at);
    }
    assert_eq!(log.stats().segments, 1);
    drop(log);
    let log = open(sim(&disk.crash(1)));
    assert_eq!(put(&log, b"x").seq(), 6);
}

#[test]
fn chunks_wait_while_too_many_are_queued_and_commits_between_them_do_not() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    let syncs = || disk.count(Call::Sync);
    put(&log, b"first");
    let before = syncs();
    for i in 0..8u8 {
        let (at, n) = log.append_chunk(buf(&[i; 984]), |_, n| *n).unwrap();
        assert_eq!((at.end_lsn - at.lsn, at.seq, n), (1000, 1, 0));
    }
    assert_eq!(syncs(), before, "they fit the queue");
    // The ninth waits until the others are on disk: 4000 bytes with one sync.
    log.append_chunk(buf(&[9; 984]), |_, _| ()).unwrap();
    assert_eq!(syncs(), before + 2);
    assert_eq!(log.stats().chunk_bytes, 8000);
    // A commit takes what lies before it along.
    put(&log, b"second");
    assert_eq!(syncs(), before + 3);
    assert_eq!(log.stats().chunk_bytes, 9000);
    // One that is larger than the whole queue goes alone.
    log.append_chunk(buf(&[9; 9000]), |_, _| ()).unwrap();
    log.append_chunk(buf(&[9; 100]), |_, _| ()).unwrap();
    assert_eq!(syncs(), before + 4);
    let e = log.append_chunk(vec![0; 3], |_, _| ()).unwrap_err();
    assert!(matches!(e, LogError::Misuse(_)), "{e}");
    drop(log);
    let mut kinds = Vec::new();
    Log::<u64>::open(sim(&disk), None, |r| {
        kinds.push((r.kind, r.seq));
        Ok::<_, Infallible>(())
    })
    .unwrap();
    let chunks = kinds.iter().filter(|k| k.0 == RecordKind::Chunk).count();
    assert_eq!(chunks, 10, "the last one was never asked for");
}

#[test]
fn chunk_streams_and_commits_run_together_in_every_mode_with_a_bounded_queue() {
    for mode in [
        Durability::Synced,
        Durability::Written,
        Durability::Buffered,
    ] {
        let dir = tempfile::tempdir().unwrap();
        let opts = LogOptions {
            durability: mode,
            segment_size: 1 << 20,
            chunk_queue: 128 << 10,
            chunk_group: 64 << 10,
            ..LogOptions::new(dir.path())
        };
        let log = open(opts.clone());
        let (stop, chunks) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..200 {
                        log.append_chunk(vec![3; HEADER_LEN + 20_000], |at, n| {
                            // The order state sees what is reserved and not written.
                            let waiting = at.end_lsn - log.stats().written_lsn.min(at.end_lsn);
                            *n = (*n).max(waiting);
                        })
                        .unwrap();
                        chunks.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            let writers: Vec<_> = (0..3)
                .map(|_| s.spawn(|| (0..100).for_each(|_| drop(put(&log, &[1; 300])))))
                .collect();
            for w in writers {
                w.join().unwrap();
            }
            stop.store(true, Ordering::SeqCst);
        });
        log.sync_all().unwrap();
        let stats = log.stats();
        assert_eq!(stats.chunk_bytes, 600 * 20_016, "{mode:?}");
        assert_eq!(
            stats.commits,
            if mode == Durability::Buffered {
                stats.commits
            } else {
                300
            }
        );
        log.close().unwrap();
        drop(log);
        let mut n = (0, 0);
        Log::<u64>::open(opts, None, |r| {
            match r.kind {
                RecordKind::Chunk => n.0 += 1,
                _ => n.1 += 1,
            }
            Ok::<_, Infallible>(())
        })
        .unwrap();
        assert_eq!(n, (600, 300));
    }
}

#[test]
fn a_chunk_that_nobody_waits_for_is_written_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        // Not by the flush once per interval.
        flush_interval: std::time::Duration::from_secs(3600),
        ..LogOptions::new(dir.path())
    };
    let log = open(opts);
    for _ in 0..3 {
        let (at, ()) = log.append_chunk(buf(&[1; 5000]), |_, _| ()).unwrap();
        while log.durable_lsn() < at.end_lsn {
            log.wait_durable(log.durable_lsn(), std::time::Duration::from_secs(60))
                .unwrap();
        }
    }
}

#[test]
fn modes_without_a_sync_a_commit_do_not_let_dirty_chunks_pile_up() {
    let disk = SimDisk::new();
    let opts = LogOptions {
        durability: Durability::Written,
        segment_size: 64 << 20,
        initial_size: 64 << 20,
        chunk_queue: 2 << 20,
        chunk_group: 1 << 20,
        ..sim(&disk)
    };
    let log = open(opts);
    for _ in 0..40 {
        log.append_chunk(vec![0; 1 << 20], |_, _| ()).unwrap();
        let s = log.stats();
        assert!(s.written_lsn - s.durable_lsn <= 10 << 20);
    }
    assert!(log.stats().syncs >= 3);
    // Its failure is as final as any other.
    disk.fail_nth(Call::Sync, 1, libc::EIO);
    let e = (0..20)
        .find_map(|_| log.append_chunk(vec![0; 1 << 20], |_, _| ()).err())
        .unwrap();
    assert!(matches!(e, LogError::Failed(_)), "{e}");
}

#[test]
fn group_commit_is_counted_as_mariadb_counts_it() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    let local = |log: &Log<u64>| {
        let (t, ()) = log.reserve(RecordKind::LocalCommit, 1, |_, _| ()).unwrap();
        log.fill(&t, buf(b"l"));
        t
    };
    log.wait(&local(&log)).unwrap();
    put(&log, b"a");
    let (b, c, l) = (start(&log, b"b"), start(&log, b"c"), local(&log));
    for t in [b, c, l] {
        log.wait(&t).unwrap();
    }
    let s = log.stats();
    assert_eq!((s.commits, s.groups), (5, 3));
    assert_eq!((s.binlog_commits, s.binlog_groups), (3, 2));
    assert_eq!((s.trigger_count, s.trigger_timeout), (0, 0));
    log.set_commit_wait(2, u32::MAX);
    let (d, e) = (start(&log, b"d"), start(&log, b"e"));
    log.wait(&d).unwrap();
    log.wait(&e).unwrap();
    log.set_commit_wait(2, 10);
    put(&log, b"f");
    let s = log.stats();
    assert_eq!((s.trigger_count, s.trigger_timeout), (1, 1));
    assert_eq!(s.trigger_lock_wait, 0);
    assert_eq!(s.disk_bytes, disk.used());
}

#[test]
fn a_purge_waits_for_readers_with_the_bytes_and_not_with_the_name() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    for i in 0..300u64 {
        put(&log, &vec![i as u8; 1000]);
    }
    let mut slow = log.read_from(FIRST_LSN).unwrap();
    slow.next().unwrap().unwrap();
    let used = disk.used();
    let purged = log.purge_before(log.durable_lsn()).unwrap();
    assert!(purged.segments >= 4 && purged.held > 0 && purged.bytes > 0);
    assert!(!disk.paths().contains(&first_file()));
    assert_eq!(disk.used(), used - purged.bytes);
    assert_eq!(log.stats().disk_bytes, disk.used());
    // The reader goes on to the end of its segment.
    let mut read = 1;
    let e = loop {
        match slow.next() {
            Ok(Some(r)) => {
                assert_eq!(r.body, vec![read as u8; 1000]);
                read += 1;
            }
            Ok(None) => panic!("this is not the end"),
            Err(e) => break e,
        }
    };
    assert!(
        read > 50 && matches!(e, LogError::Purged { .. }),
        "{read} {e}"
    );
    drop(slow);
    log.tick().unwrap();
    assert_eq!(disk.used(), used - purged.bytes - purged.held);
    assert_eq!(log.stats().disk_bytes, disk.used());
}

#[test]
fn nothing_that_commits_need_is_locked_while_a_purge_works() {
    /// A disk whose removals wait until they are let go.
    #[derive(Debug)]
    struct Slow(SimDisk, Arc<AtomicBool>, Arc<AtomicBool>);
    impl narwal_log::Disk for Slow {
        fn create_dir_all(&self, d: &Path) -> std::io::Result<()> {
            self.0.create_dir_all(d)
        }
        fn open(&self, p: &Path) -> std::io::Result<Arc<dyn narwal_log::DiskFile>> {
            self.0.open(p)
        }
        fn open_read(&self, p: &Path) -> std::io::Result<Arc<dyn narwal_log::DiskFile>> {
            self.0.open_read(p)
        }
        fn create(&self, p: &Path) -> std::io::Result<Arc<dyn narwal_log::DiskFile>> {
            self.0.create(p)
        }
        fn exists(&self, p: &Path) -> std::io::Result<bool> {
            self.0.exists(p)
        }
        fn rename(&self, a: &Path, b: &Path) -> std::io::Result<()> {
            self.0.rename(a, b)
        }
        fn remove(&self, p: &Path) -> std::io::Result<()> {
            self.1.store(true, Ordering::SeqCst);
            while !self.2.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            self.0.remove(p)
        }
        fn list(&self, d: &Path) -> std::io::Result<Vec<String>> {
            self.0.list(d)
        }
        fn sync_dir(&self, d: &Path) -> std::io::Result<()> {
            self.0.sync_dir(d)
        }
        fn free_space(&self, d: &Path) -> std::io::Result<u64> {
            self.0.free_space(d)
        }
        fn lock(&self, p: &Path) -> std::io::Result<Box<dyn Send + Sync>> {
            self.0.lock(p)
        }
    }
    let disk = SimDisk::new();
    let (inside, go) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let opts = LogOptions {
        disk: Arc::new(Slow(disk.clone(), inside.clone(), Arc::clone(&go))),
        ..sim(&disk)
    };
    let log = open(opts);
    for _ in 0..200 {
        put(&log, &[1; 1000]);
    }
    let segments = log.stats().segments;
    std::thread::scope(|s| {
        let purge = s.spawn(|| log.purge_before(log.durable_lsn()));
        while !inside.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // Would hang if the purge held anything: commits, new segments, readers, statistics.
        for _ in 0..200 {
            put(&log, &[2; 1000]);
        }
        let mut r = log.read_from(log.oldest_lsn()).unwrap();
        while r.next().unwrap().is_some() {}
        assert!(log.stats().segments_made > segments);
        assert!(!purge.is_finished());
        go.store(true, Ordering::SeqCst);
        assert!(purge.join().unwrap().unwrap().segments >= segments - 2);
    });
}

/// A purge is cut short at each of its steps, and so is each start after it.
#[test]
fn a_crash_at_any_step_of_a_purge_leaves_a_whole_log() {
    for step in 1..30 {
        for seed in 0..8 {
            let disk = SimDisk::new();
            let log = open(sim(&disk));
            for i in 0..300u64 {
                put(&log, &i.to_le_bytes().repeat(125));
            }
            let at = log.with_order_state(|_, at| (at.lsn, at.seq));
            log.sync_all().unwrap();
            disk.power_off_in(step);
            let purged = log.purge_before(at.0);
            assert_eq!(purged.is_err(), disk.is_off());
            drop(log);
            let mut disk = disk.crash(seed);
            // Each start gets a little further before the power goes again.
            for again in 1.. {
                let try_disk = disk.fork();
                try_disk.power_off_in(again);
                let opened = Log::<u64>::open(sim(&try_disk), Some(at), |_| Ok::<_, String>(()));
                let done = opened.is_ok();
                match opened {
                    Ok(o) => assert_eq!(o.report.last_seq, 300),
                    Err(OpenError::Log(LogError::Io { .. })) => assert!(try_disk.is_off()),
                    Err(e) => panic!("{e}"),
                }
                disk = if done {
                    try_disk
                } else {
                    try_disk.crash(seed + again)
                };
                // A reader never meets a hole, in whatever state the folder is.
                let mut r = DirReader::open(Arc::new(disk.clone()), Path::new(DIR))
                    .unwrap()
                    .unwrap();
                let mut last = None;
                while let Some(rec) = r.next().unwrap() {
                    assert!(last.is_none_or(|l| l + 1 == rec.seq));
                    assert_eq!(rec.body, (rec.seq - 1).to_le_bytes().repeat(125));
                    last = Some(rec.seq);
                }
                assert_eq!(last, Some(300));
                r.end().unwrap();
                if done {
                    break;
                }
            }
            let left = disk.paths();
            assert!(
                left.iter()
                    .all(|p| p.extension().is_none_or(|e| e != "gone")),
                "{left:?}"
            );
        }
    }
}

/// The renames of a purge reached the disk in another order than they were made.
#[test]
fn a_gone_segment_speaks_for_all_before_it() {
    let disk = SimDisk::new();
    let log = open(sim(&disk));
    for _ in 0..300 {
        put(&log, &[1; 1000]);
    }
    let at = log.with_order_state(|_, at| (at.lsn, at.seq));
    log.sync_all().unwrap();
    drop(log);
    use narwal_log::Disk;
    let mut starts: Vec<u64> = disk
        .paths()
        .iter()
        .filter_map(|p| narwal_log::parse_segment_name(p.file_name()?.to_str()?))
        .collect();
    starts.sort_unstable();
    let name = |s: u64| Path::new(DIR).join(segment_name(s));
    disk.rename(
        &name(starts[2]),
        &name(starts[2]).with_extension(format!("{:016x}.gone", starts[2])),
    )
    .unwrap();
    let mut r = DirReader::open(Arc::new(disk.clone()), Path::new(DIR))
        .unwrap()
        .unwrap();
    assert_eq!(r.lsn(), starts[3]);
    while r.next().unwrap().is_some() {}
    let log = Log::<u64>::open(sim(&disk), Some(at), |_| Ok::<_, Infallible>(()))
        .unwrap()
        .start(0)
        .unwrap();
    assert_eq!(log.oldest_lsn(), starts[3]);
    assert!(
        disk.paths()
            .iter()
            .all(|p| *p >= name(starts[3]) || p.ends_with("wal.lock"))
    );
}
