//! What the log promises, one case at a time.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{
    DirReader, Disk, Durability, FIRST_LSN, HEADER_LEN, Log, LogError, LogOptions, OpenError,
    OpenReport, RealDisk, RecordKind, SEGMENT_HEADER_LEN, Ticket, segment_name,
};

const DIR: &str = "/data/log";

fn sim(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 12 << 10,
        grow_step: 4096,
        background: false,
        ..LogOptions::new(DIR)
    }
}

type Records = Vec<(RecordKind, u64, Vec<u8>)>;

fn open(
    opts: LogOptions,
    from: Option<(u64, u64)>,
) -> Result<(Log<u64>, Records, OpenReport), LogError> {
    let mut found = Vec::new();
    let open = Log::<u64>::open(opts, from, |r| {
        found.push((r.kind, r.seq, r.body.to_vec()));
        Ok::<_, Infallible>(())
    })
    .map_err(|e| match e {
        OpenError::Log(e) => e,
        OpenError::Replay(never) => match never {},
    })?;
    let report = open.report.clone();
    Ok((open.start(0)?, found, report))
}

fn buf(body: &[u8]) -> Vec<u8> {
    let mut b = vec![0; HEADER_LEN];
    b.extend_from_slice(body);
    b
}

fn start<S: Send>(log: &Log<S>, kind: RecordKind, body: &[u8]) -> Ticket {
    let (t, ()) = log.reserve(kind, body.len(), |_, _| ()).unwrap();
    log.fill(&t, buf(body));
    t
}

fn put<S: Send>(log: &Log<S>, body: &[u8]) -> Ticket {
    let t = start(log, RecordKind::Commit, body);
    log.wait(&t).unwrap();
    t
}

fn first_file() -> PathBuf {
    Path::new(DIR).join(segment_name(FIRST_LSN))
}

fn offset(lsn: u64) -> u64 {
    lsn - FIRST_LSN + SEGMENT_HEADER_LEN
}

fn bodies(records: &Records) -> Vec<&[u8]> {
    records.iter().map(|r| &r.2[..]).collect()
}

/// C2: half a record at the end.
#[test]
fn c2_a_torn_tail_is_cut_off_and_reported() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    put(&log, b"one");
    let last = put(&log, &[9; 500]).reserved();
    drop(log);
    // Only the last record: nothing behind it can prove that it was durable.
    disk.damage(&first_file(), offset(last.lsn) + 300, |b| {
        b[..216].fill(0);
    });
    let (log, found, report) = open(sim(&disk), None).unwrap();
    assert_eq!(bodies(&found), [b"one"]);
    assert_eq!(report.end_lsn, last.lsn);
    assert_eq!(report.last_seq, 1);
    let torn = report.torn.unwrap();
    assert_eq!((torn.file, torn.offset), (first_file(), offset(last.lsn)));
    assert_eq!(torn.bytes, 300);
    let again = put(&log, b"two");
    assert_eq!((again.lsn(), again.seq()), (last.lsn, 2));
    drop(log);
    let (_, found, report) = open(sim(&disk.crash(1)), None).unwrap();
    assert_eq!(bodies(&found), [&b"one"[..], b"two"]);
    assert_eq!(report.torn, None);
}

/// C5: a durable sector came back as zeros, and durable records follow it.
#[test]
fn c5_a_hole_in_durable_records_is_damage_and_nothing_is_changed() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let places: Vec<_> = (0..10)
        .map(|i| put(&log, &[i + 1; 700]).reserved())
        .collect();
    drop(log);
    disk.damage(&first_file(), offset(places[4].lsn), |b| b[..512].fill(0));
    let before = disk.content(&first_file());
    for _ in 0..2 {
        match open(sim(&disk), None) {
            Err(LogError::Corrupt(c)) => {
                assert_eq!((c.file, c.offset), (first_file(), offset(places[4].lsn)));
                assert_eq!(c.lsn, places[4].lsn);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(disk.content(&first_file()), before);
    }
    // A checkpoint behind the hole does not need it.
    let from = Some((places[6].end_lsn, 7));
    let (_, found, report) = open(sim(&disk), from).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(report.last_seq, 10);
}

/// C5: the only proof is the header of a segment that was made ahead.
#[test]
fn c5_the_next_segment_proves_what_was_durable_when_it_was_made() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let mut places = Vec::new();
    while log.stats().segments == 1 {
        places.push(put(&log, &[1; 900]).reserved());
    }
    drop(log);
    // The last record went to the new segment: wipe that, and all behind the middle of the record before it.
    let (last, hit) = (places[places.len() - 1], places[places.len() - 2]);
    let second = last.lsn - 24;
    disk.damage(
        &Path::new(DIR).join(segment_name(second)),
        SEGMENT_HEADER_LEN,
        |b| b.fill(0),
    );
    disk.damage(&first_file(), offset(hit.lsn) + 100, |b| b.fill(0));
    match open(sim(&disk), None) {
        Err(LogError::Corrupt(c)) => {
            assert_eq!((c.file, c.offset), (first_file(), offset(hit.lsn)));
            assert!(c.reason.contains(&segment_name(second)), "{}", c.reason);
        }
        other => panic!("{other:?}"),
    }
}

/// C12: the log was cut shorter than the checkpoint, or is gone altogether.
#[test]
fn c12_a_checkpoint_without_its_log_is_damage() {
    let disk = SimDisk::new();
    let e = open(sim(&disk), Some((5000, 3))).unwrap_err();
    assert!(matches!(e, LogError::Corrupt(_)), "{e}");
    let (log, ..) = open(sim(&disk), None).unwrap();
    let end = put(&log, &[1; 5000]).reserved().end_lsn;
    drop(log);
    disk.open(&first_file())
        .unwrap()
        .set_len(SEGMENT_HEADER_LEN + 100)
        .unwrap();
    let e = open(sim(&disk), Some((end, 1))).unwrap_err();
    assert!(
        matches!(&e, LogError::Corrupt(c) if c.file == first_file()),
        "{e}"
    );
    let e = open(sim(&disk), Some((100, 0))).unwrap_err();
    assert!(matches!(e, LogError::Purged { .. }), "{e}");
}

/// C13: a clean shutdown leaves no doubt.
#[test]
fn c13_a_clean_shutdown_is_known_and_protects_the_last_record() {
    let disk = SimDisk::new();
    let (log, _, report) = open(sim(&disk), None).unwrap();
    assert!(report.created);
    let last = put(&log, b"last").reserved();
    log.close().unwrap();
    log.close().unwrap();
    assert!(matches!(
        log.reserve(RecordKind::Commit, 1, |_, _| ()),
        Err(LogError::Closed)
    ));
    drop(log);
    let disk = disk.crash(3);
    let (log, found, report) = open(sim(&disk), None).unwrap();
    assert!(report.clean_shutdown && !report.created);
    assert_eq!(bodies(&found), [b"last"]);
    drop(log);
    disk.damage(&first_file(), offset(last.lsn) + 17, |b| b[0] ^= 8);
    let e = open(sim(&disk), None).unwrap_err();
    assert!(matches!(e, LogError::Corrupt(_)), "{e}");
}

#[test]
fn a_lone_committer_pays_one_write_and_one_sync_a_commit() {
    let disk = SimDisk::new();
    let opts = LogOptions {
        segment_size: 1 << 20,
        initial_size: 1 << 20,
        ..sim(&disk)
    };
    let (log, ..) = open(opts, None).unwrap();
    let (writes, syncs) = (disk.count(Call::Write), disk.count(Call::Sync));
    for _ in 0..50 {
        put(&log, &[1; 400]);
    }
    assert_eq!(disk.count(Call::Write) - writes, 50);
    assert_eq!(disk.count(Call::Sync) - syncs, 50);
    let stats = log.stats();
    assert_eq!((stats.syncs, stats.commits, stats.groups), (50, 50, 50));
    assert_eq!(stats.body_bytes, 50 * 400);
    assert!(stats.bytes_written * 100 <= stats.body_bytes * 105);
}

#[test]
fn a_record_larger_than_a_segment_gets_one_of_its_own_size() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let mut want = Vec::new();
    for (i, n) in [100_000usize, 3, 70_000, 12_000, 0, 200_000]
        .into_iter()
        .enumerate()
    {
        let body = vec![i as u8 + 1; n];
        put(&log, &body);
        want.push(body);
    }
    let mut reader = log.read_from(log.oldest_lsn()).unwrap();
    for w in &want {
        assert_eq!(reader.next().unwrap().unwrap().body, &w[..]);
    }
    assert!(reader.next().unwrap().is_none());
    drop(log);
    let (log, found, _) = open(sim(&disk.crash(5)), None).unwrap();
    assert_eq!(bodies(&found), want);
    let e = log
        .reserve(RecordKind::Commit, 1 << 28, |_, _| ())
        .unwrap_err();
    assert!(matches!(e, LogError::RecordTooLarge { .. }));
    let e = log.reserve(RecordKind::Mark, 0, |_, _| ()).unwrap_err();
    assert!(matches!(e, LogError::Misuse(_)));
}

#[test]
fn sequence_numbers_count_commits_only_and_kinds_come_back() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let kinds = [
        (RecordKind::Note, 0),
        (RecordKind::Commit, 1),
        (RecordKind::Chunk, 1),
        (RecordKind::LocalCommit, 2),
        (RecordKind::State, 2),
        (RecordKind::Commit, 3),
    ];
    for (kind, seq) in kinds {
        let t = start(&log, kind, b"x");
        assert_eq!(t.seq(), seq);
        log.wait(&t).unwrap();
    }
    log.with_order_state(|_, at| assert_eq!(at.seq, 3));
    assert_eq!(log.visible_seq(), 3);
    drop(log);
    let (_, found, report) = open(sim(&disk), None).unwrap();
    let got: Vec<_> = found.iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(got, kinds);
    assert_eq!((report.records, report.commits), (6, 3));
}

#[test]
fn replay_starts_at_the_checkpoint_and_its_error_is_passed_on() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    for i in 0..30 {
        put(&log, &[i; 1000]);
    }
    let cp = log.with_order_state(|_, at| (at.lsn, at.seq));
    for i in 30..50 {
        put(&log, &[i; 1000]);
    }
    // From any record, in any segment, the numbers are right.
    let mut at = Vec::new();
    let mut reader = log.read_from(FIRST_LSN).unwrap();
    while let Some(r) = reader.next().unwrap() {
        at.push((r.lsn, r.seq));
    }
    assert!(at.iter().map(|a| a.1).eq(1..=50));
    for &(lsn, seq) in &at {
        let mut reader = log.read_from(lsn).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().seq, seq);
    }
    let purged = log.purge_before(cp.0).unwrap();
    assert!(purged.segments > 0 && purged.bytes > 0 && purged.held == 0);
    assert!(matches!(
        log.read_from(FIRST_LSN),
        Err(LogError::Purged { .. })
    ));
    drop(log);
    let disk = disk.crash(9);
    let (log, found, _) = open(sim(&disk), Some(cp)).unwrap();
    assert_eq!(
        found.iter().map(|r| r.1).collect::<Vec<_>>(),
        (31..=50).collect::<Vec<_>>()
    );
    drop(log);
    // Without a checkpoint the oldest segment says where the numbers stand.
    let (log, found, _) = open(sim(&disk), None).unwrap();
    assert_eq!(found.last().map(|r| r.1), Some(50));
    assert!(found.len() < 50 && found.len() > 20);
    drop(log);
    let e = Log::<u64>::open(sim(&disk), Some(cp), |r| {
        if r.seq == 40 { Err("no") } else { Ok(()) }
    })
    .unwrap_err();
    assert!(matches!(e, OpenError::Replay("no")));
}

#[test]
fn a_reader_inside_a_purged_segment_finishes_it() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    put(&log, &[0; 100]);
    let mut reader = log.read_from(FIRST_LSN).unwrap();
    reader.next().unwrap().unwrap();
    for i in 1..40 {
        put(&log, &[i; 1000]);
    }
    log.purge_before(log.durable_lsn()).unwrap();
    let mut got = 0;
    let e = loop {
        match reader.next() {
            Ok(Some(_)) => got += 1,
            Ok(None) => panic!("the end came too early"),
            Err(e) => break e,
        }
    };
    assert!(got >= 9, "{got}");
    assert!(matches!(e, LogError::Purged { .. }));
    let end = log.durable_lsn();
    assert!(matches!(
        log.read_from(end + 1),
        Err(LogError::BehindEnd { .. })
    ));
    assert!(log.read_from(end).unwrap().next().unwrap().is_none());
}

#[test]
fn a_panic_of_the_leader_stops_the_log_and_hangs_nobody() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    disk.panic_nth(Call::Sync, 1);
    std::thread::scope(|s| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                s.spawn(|| {
                    let t = match log.reserve(RecordKind::Commit, 1, |_, _| ()) {
                        Ok((t, ())) => t,
                        Err(e) => return Err(e),
                    };
                    log.fill(&t, buf(b"x"));
                    log.wait(&t)
                })
            })
            .collect();
        let results: Vec<_> = workers.into_iter().map(|w| w.join()).collect();
        assert!(results.iter().any(|r| r.is_err()), "the leader panicked");
        for r in results.into_iter().flatten() {
            assert!(matches!(r, Err(LogError::Failed(_))), "{r:?}");
        }
    });
    assert!(log.failed().unwrap().contains("panicked"));
}

#[test]
fn a_failed_sync_is_final() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    put(&log, b"kept");
    disk.fail_nth(Call::Sync, 1, libc::EIO);
    let t = start(&log, RecordKind::Commit, b"lost");
    assert!(matches!(log.wait(&t), Err(LogError::Failed(_))));
    assert_eq!(log.visible_seq(), 1);
    let why = log.failed().unwrap();
    assert!(
        why.contains("sync") && why.contains(&segment_name(FIRST_LSN)),
        "{why}"
    );
    let syncs = disk.count(Call::Sync);
    assert!(log.reserve(RecordKind::Commit, 1, |_, _| ()).is_err());
    assert!(log.sync_all().is_err() && log.wait_visible(2).is_err());
    assert!(
        log.wait_durable(log.durable_lsn(), Duration::from_secs(1))
            .is_err()
    );
    assert!(log.close().is_err());
    assert_eq!(disk.count(Call::Sync), syncs, "never retried");
}

#[test]
fn a_dependent_reader_waits_until_the_commit_is_visible() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let t = start(&log, RecordKind::Commit, b"x");
    assert_eq!(log.visible_seq(), 0);
    std::thread::scope(|s| {
        let reader = s.spawn(|| log.wait_visible(1).map(|()| log.visible_seq()));
        log.wait(&t).unwrap();
        assert_eq!(reader.join().unwrap().unwrap(), 1);
    });
}

#[test]
fn a_group_is_held_back_until_enough_commits_are_queued() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    // The time limit is far beyond the test's patience: only the count can end the wait.
    log.set_commit_wait(4, u32::MAX);
    assert_eq!(log.commit_wait(), (4, u32::MAX));
    let syncs = log.stats().syncs;
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| put(&log, b"x"));
        }
    });
    assert_eq!(log.stats().syncs - syncs, 1);
    assert_eq!(log.stats().largest_group, 4);
    // And a short limit ends it too.
    log.set_commit_wait(1000, 1000);
    put(&log, b"y");
}

#[test]
fn mode_0_publishes_without_a_write_and_mode_2_without_a_sync() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    log.set_durability(Durability::Buffered).unwrap();
    let (writes, syncs) = (disk.count(Call::Write), disk.count(Call::Sync));
    put(&log, b"a");
    put(&log, b"b");
    assert_eq!(log.visible_seq(), 2);
    assert_eq!(disk.count(Call::Write), writes);
    log.set_durability(Durability::Written).unwrap();
    put(&log, b"c");
    assert_eq!(log.visible_seq(), 3);
    assert_eq!(disk.count(Call::Write), writes + 1);
    assert_eq!(disk.count(Call::Sync), syncs);
    let before = log.durable_lsn();
    log.tick().unwrap();
    assert!(log.durable_lsn() > before);
    assert_eq!(disk.count(Call::Sync), syncs + 1);
    // Quiet: one mark, then nothing.
    log.tick().unwrap();
    let quiet = (disk.count(Call::Write), disk.count(Call::Sync));
    assert_eq!(quiet, (writes + 2, syncs + 1));
    for _ in 0..3 {
        log.tick().unwrap();
    }
    assert_eq!(quiet, (disk.count(Call::Write), disk.count(Call::Sync)));
    // Switching to 1 makes everything before durable.
    put(&log, b"d");
    log.set_durability(Durability::Synced).unwrap();
    let (_, found, _) = open(sim(&disk.crash(4)), None).unwrap();
    assert_eq!(found.len(), 4);
}

#[test]
fn a_reader_that_waits_makes_durable_what_it_waits_for() {
    for mode in [
        Durability::Synced,
        Durability::Written,
        Durability::Buffered,
    ] {
        let disk = SimDisk::new();
        let (log, ..) = open(sim(&disk), None).unwrap();
        log.set_durability(mode).unwrap();
        let long = Duration::from_secs(60);
        for n in 0..3 {
            let before = log.durable_lsn();
            std::thread::scope(|s| {
                let waiting = s.spawn(|| log.wait_readable(before, long).unwrap());
                if n > 0 {
                    std::thread::sleep(Duration::from_millis(20));
                }
                let lsn = put(&log, b"a").lsn();
                let mut at = waiting.join().unwrap();
                while at <= lsn {
                    at = log.wait_readable(at, long).unwrap();
                }
            });
            // Nothing new: the time passes, and nothing is synced.
            let (at, syncs) = (log.durable_lsn(), disk.count(Call::Sync));
            let short = Duration::from_millis(5);
            assert_eq!(log.wait_readable(at, short).unwrap(), at);
            assert_eq!(disk.count(Call::Sync), syncs, "{mode:?}");
        }
    }
}

#[test]
fn mode_0_writes_itself_when_much_is_buffered() {
    let disk = SimDisk::new();
    let opts = LogOptions {
        durability: Durability::Buffered,
        buffer_limit: 10_000,
        segment_size: 1 << 20,
        ..sim(&disk)
    };
    let (log, ..) = open(opts, None).unwrap();
    for _ in 0..100 {
        put(&log, &[1; 1000]);
        let s = log.stats();
        let next = log.with_order_state(|_, at| at.lsn);
        assert!(next - s.written_lsn <= 12_100);
    }
    assert_eq!(log.stats().syncs, 0);
}

#[test]
fn a_panic_in_the_stamp_stops_the_log() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    put(&log, b"a");
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        log.reserve(RecordKind::Commit, 1, |_, _| panic!("stamp"))
            .map(|(_, ())| ())
    }));
    assert!(r.is_err());
    assert!(matches!(
        log.reserve(RecordKind::Commit, 1, |_, _| ()),
        Err(LogError::Failed(_))
    ));
}

#[test]
fn a_buffer_of_the_wrong_length_stops_the_log() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let (t, ()) = log.reserve(RecordKind::Commit, 5, |_, _| ()).unwrap();
    log.fill(&t, buf(b"four"));
    assert!(matches!(log.wait(&t), Err(LogError::Failed(_))));
}

#[test]
fn an_unwaited_record_does_not_hold_up_those_behind_it() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    for _ in 0..200 {
        let (chunk, ()) = log.reserve(RecordKind::Chunk, 1, |_, _| ()).unwrap();
        let (t, ()) = log.reserve(RecordKind::Commit, 1, |_, _| ()).unwrap();
        std::thread::scope(|s| {
            let log = &log;
            s.spawn(move || {
                log.fill(&t, buf(b"t"));
                log.wait(&t).unwrap();
            });
            log.fill(&chunk, buf(b"c"));
            drop(chunk);
        });
    }
}

#[test]
fn a_closed_directory_can_be_verified() {
    let disk = SimDisk::new();
    let dir = Path::new(DIR);
    let arc: Arc<dyn Disk> = Arc::new(disk.clone());
    assert!(DirReader::open(arc.clone(), dir).unwrap().is_none());
    let (log, ..) = open(sim(&disk), None).unwrap();
    let mut last = put(&log, &[7; 1000]).reserved();
    for _ in 0..30 {
        last = put(&log, &[7; 1000]).reserved();
    }
    log.close().unwrap();
    drop(log);
    let verify = |disk: &SimDisk| -> Result<(u64, narwal_log::DirEnd), LogError> {
        let mut r = DirReader::open(Arc::new(disk.clone()), dir)?.unwrap();
        let mut n = 0;
        while let Some(rec) = r.next()? {
            n += 1;
            assert_eq!((rec.seq, rec.body), (n, &[7; 1000][..]));
        }
        Ok((n, r.end()?))
    };
    let (n, end) = verify(&disk).unwrap();
    assert_eq!((n, end.last_seq, end.clean_shutdown), (31, 31, true));
    assert_eq!(end.torn, None);
    let torn = disk.fork();
    torn.damage(&end.file, end.offset, |b| b[..20].fill(0xAA));
    let (n, end2) = verify(&torn).unwrap();
    assert_eq!(
        (n, end2.end_lsn, end2.clean_shutdown),
        (31, end.end_lsn, false)
    );
    assert!(end2.torn.is_some());
    let damaged = disk.fork();
    let at = end.offset - (end.end_lsn - last.lsn) + 20;
    damaged.damage(&end.file, at, |b| b[0] ^= 1);
    assert!(matches!(verify(&damaged), Err(LogError::Corrupt(c)) if c.file == end.file));
}

#[test]
fn on_a_real_folder_the_threads_mark_flush_and_prepare() {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        durability: Durability::Written,
        flush_interval: Duration::from_millis(5),
        segment_size: 64 << 10,
        initial_size: 8 << 10,
        grow_step: 16 << 10,
        ..LogOptions::new(dir.path().join("log"))
    };
    let (log, _, report) = open(opts.clone(), None).unwrap();
    assert!(report.created);
    let e = open(opts.clone(), None).unwrap_err();
    assert!(
        matches!(&e, LogError::Io { source, .. } if source.kind() == std::io::ErrorKind::WouldBlock)
    );
    let size: u64 = std::fs::read_dir(dir.path().join("log"))
        .unwrap()
        .map(|f| f.unwrap().metadata().unwrap().len())
        .sum();
    assert!(size < 1 << 20);
    for i in 0..200 {
        put(&log, &[i as u8; 1000]);
    }
    let end = log.with_order_state(|_, at| at.lsn);
    // The flush thread makes it durable and then marks the quiet log.
    while log.durable_lsn() < end {
        log.wait_durable(log.durable_lsn(), Duration::from_secs(10))
            .unwrap();
    }
    while log.stats().written_lsn == end {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(log.stats().written_lsn - end, HEADER_LEN as u64);
    drop(log);
    let (log, found, report) = open(opts, None).unwrap();
    assert_eq!(found.len(), 200);
    assert!(!report.clean_shutdown && report.torn.is_none());
    drop(log);
}

#[test]
fn the_real_disk_writes_many_pieces_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let f = RealDisk.create(&path).unwrap();
    f.allocate(0, 100_000).unwrap();
    let pieces: Vec<Vec<u8>> = (0..5000usize).map(|i| vec![i as u8; i % 37]).collect();
    let refs: Vec<&[u8]> = pieces.iter().map(|p| &p[..]).collect();
    f.write_vectored_at(&refs, 777).unwrap();
    f.write_vectored_at(&[b"", b""], 0).unwrap();
    f.write_vectored_at(&[], 0).unwrap();
    f.sync_data().unwrap();
    let want = pieces.concat();
    let mut got = vec![0; want.len()];
    assert_eq!(f.read_at(&mut got, 777).unwrap(), want.len());
    assert_eq!(got, want);
    assert_eq!(f.len().unwrap(), 100_000);
    assert_eq!(f.read_at(&mut got, 200_000).unwrap(), 0);
    assert!(RealDisk.free_space(dir.path()).unwrap() > 0);
    assert!(RealDisk.list(dir.path()).unwrap() == ["f"]);
}

/// Committers of every kind in tight succession: a lost wake-up would hang here.
#[test]
fn no_wake_up_is_lost_when_nothing_else_happens_afterwards() {
    let disk = SimDisk::new();
    let opts = LogOptions {
        segment_size: 64 << 10,
        ..sim(&disk)
    };
    let (log, ..) = open(opts, None).unwrap();
    let (rounds, arrived) = (AtomicU64::new(0), AtomicUsize::new(0));
    let threads = 6;
    std::thread::scope(|s| {
        for t in 0..threads {
            let (log, rounds, arrived) = (&log, &rounds, &arrived);
            s.spawn(move || {
                for round in 0..2000u64 {
                    let ticket = start(log, RecordKind::Commit, &[t as u8]);
                    log.wait(&ticket).unwrap();
                    // All meet here: between rounds nobody is left who could wake a forgotten sleeper.
                    if arrived.fetch_add(1, Ordering::SeqCst) + 1 == threads {
                        arrived.store(0, Ordering::SeqCst);
                        let mode = [
                            Durability::Synced,
                            Durability::Written,
                            Durability::Buffered,
                        ][(round / 5 % 3) as usize];
                        log.set_durability(mode).unwrap();
                        rounds.fetch_add(1, Ordering::SeqCst);
                    }
                    while rounds.load(Ordering::SeqCst) <= round {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(log.visible_seq(), threads as u64 * 2000);
}
