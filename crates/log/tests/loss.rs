//! Files cut, damaged or removed by hand, full disks, crashes inside recovery, and the way on.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{
    Corruption, DirReader, DirRecords, Disk, FIRST_LSN, HEADER_LEN, Log, LogError, LogOptions,
    OpenError, OpenReport, RecordKind, Reserved, SEGMENT_HEADER_LEN, segment_name,
};

const DIR: &str = "/data/log";

fn sim(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 4096,
        grow_step: 4096,
        background: false,
        ..LogOptions::new(DIR)
    }
}

fn accepting(disk: &SimDisk) -> LogOptions {
    LogOptions {
        accept_lost_tail: true,
        ..sim(disk)
    }
}

type Bodies = Vec<Vec<u8>>;
type From = Option<(u64, u64)>;

fn open(opts: LogOptions, from: From) -> Result<(Log<()>, Bodies, OpenReport), LogError> {
    let mut found = Vec::new();
    let open = Log::<()>::open(opts, from, |r| {
        found.push(r.body.to_vec());
        Ok::<_, Infallible>(())
    })
    .map_err(|e| match e {
        OpenError::Log(e) => e,
        OpenError::Replay(never) => match never {},
    })?;
    let report = open.report.clone();
    Ok((open.start(())?, found, report))
}

fn refused(disk: &SimDisk, from: From) -> Corruption {
    let before: Vec<_> = disk.paths().iter().map(|p| disk.content(p)).collect();
    let c = match open(sim(disk), from) {
        Err(LogError::Corrupt(c)) => c,
        other => panic!("{other:?}"),
    };
    let after: Vec<_> = disk.paths().iter().map(|p| disk.content(p)).collect();
    assert!(before == after, "a refusal changes nothing");
    c
}

fn reserve(log: &Log<()>, kind: RecordKind, body: &[u8]) -> Result<Reserved, LogError> {
    let (t, ()) = log.reserve(kind, body.len(), |_, ()| ())?;
    let mut b = vec![0; HEADER_LEN];
    b.extend_from_slice(body);
    log.fill(&t, b);
    log.wait(&t)?;
    Ok(t.reserved())
}

fn put(log: &Log<()>, body: &[u8]) -> Reserved {
    reserve(log, RecordKind::Commit, body).unwrap()
}

fn starts(disk: &SimDisk) -> Vec<u64> {
    let mut s: Vec<_> = disk
        .paths()
        .iter()
        .filter_map(|p| narwal_log::parse_segment_name(p.file_name()?.to_str()?))
        .collect();
    s.sort_unstable();
    s
}

fn name(start: u64) -> PathBuf {
    Path::new(DIR).join(segment_name(start))
}

/// `n` commits of 1000 bytes each, and their places.
fn filled(disk: &SimDisk, n: u8) -> (Vec<Reserved>, Bodies) {
    let (log, ..) = open(sim(disk), None).unwrap();
    let bodies: Bodies = (0..n).map(|i| vec![i + 1; 1000]).collect();
    let places = bodies.iter().map(|b| put(&log, b)).collect();
    (places, bodies)
}

/// The last segment with records in it.
fn last_segment(disk: &SimDisk, places: &[Reserved]) -> u64 {
    let end = places[places.len() - 1].lsn;
    *starts(disk).iter().rfind(|&&s| s <= end).unwrap()
}

/// C16: the end of the last segment was cut off by hand, at any length.
#[test]
fn c16_a_last_segment_cut_by_hand_is_refused_and_can_be_accepted() {
    let disk = SimDisk::new();
    let (places, bodies) = filled(&disk, 21);
    let start = last_segment(&disk, &places);
    let len = disk.content(&name(start)).unwrap().len() as u64;
    let end = places[20].end_lsn - start + SEGMENT_HEADER_LEN;
    assert!(end < len);
    for cut in (SEGMENT_HEADER_LEN + 24..len)
        .step_by(97)
        .chain([end, len - 1])
    {
        let disk = disk.fork();
        disk.open(&name(start)).unwrap().set_len(cut).unwrap();
        let c = refused(&disk, None);
        assert_eq!((&c.file, c.offset), (&name(start), cut), "{c}");
        assert!(c.reason.contains(&format!("{len} bytes")), "{c}");
        let mut r = DirReader::open(Arc::new(disk.clone()), Path::new(DIR))
            .unwrap()
            .unwrap();
        while r.next().unwrap().is_some() {}
        assert!(matches!(r.end(), Err(LogError::Corrupt(_))));

        let kept = places
            .iter()
            .filter(|p| p.end_lsn - start.min(p.end_lsn) + SEGMENT_HEADER_LEN <= cut)
            .count();
        let (log, found, report) = open(accepting(&disk), None).unwrap();
        assert_eq!(found, bodies[..kept]);
        let lost = report.lost.unwrap();
        assert_eq!(lost.file, name(start));
        assert_eq!(lost.lsn, report.end_lsn);
        assert!(!report.clean_shutdown && report.torn.is_none());
        assert!(lost.kept.iter().all(|p| disk.content(p).is_some()));
        // Accepting once is enough, and service goes on.
        drop(log);
        let disk = disk.crash(cut);
        let (log, found, report) = open(sim(&disk), None).unwrap();
        assert_eq!((found.len(), report.lost), (kept, None));
        assert_eq!(put(&log, b"new").seq, kept as u64 + 1);
        for _ in 0..20 {
            put(&log, &[7; 1000]);
        }
        drop(log);
        let (_, found, _) = open(sim(&disk.crash(1)), None).unwrap();
        assert_eq!(found.len(), kept + 21);
    }
}

/// C16: nothing is lost by a crash at any moment while a segment grows: its length is never taken for a cut.
#[test]
fn c16_a_crash_while_a_segment_grows_is_no_cut() {
    for seed in 0..300 {
        let disk = SimDisk::new();
        let (log, ..) = open(sim(&disk), None).unwrap();
        disk.power_off_in(1 + seed % 100);
        let mut acked = 0;
        while reserve(&log, RecordKind::Commit, &[1; 700]).is_ok() {
            acked += 1;
        }
        drop(log);
        let (_, found, report) = open(sim(&disk.crash(seed)), None).unwrap();
        assert!(found.len() >= acked && report.lost.is_none());
    }
}

/// C17: a segment that was made ahead of its use is missing, or one that is in use.
#[test]
fn c17_a_missing_segment_matters_only_if_it_was_in_use() {
    let disk = SimDisk::new();
    let (log, ..) = open(sim(&disk), None).unwrap();
    let mut bodies = Vec::new();
    // The next segment exists when a record did not fit any more; then nothing was lost yet by its loss.
    while log.stats().segments < 4 {
        bodies.push(vec![bodies.len() as u8; 900]);
        put(&log, &bodies[bodies.len() - 1]);
    }
    drop(log);
    let all = starts(&disk);
    // In use: named, with the segment that names it.
    let gone = disk.fork();
    gone.remove(&name(all[2])).unwrap();
    let c = refused(&gone, None);
    assert_eq!(c.file, name(all[2]), "{c}");
    let (log, found, report) = open(accepting(&gone), None).unwrap();
    let lost = report.lost.unwrap();
    assert_eq!(lost.file, name(all[1]));
    assert_eq!(found[..], bodies[..found.len()]);
    // The one behind the missing one had a record, so at least those before it are known to be lost.
    assert!(lost.commits > 0 && found.len() as u64 + lost.commits <= bodies.len() as u64);
    assert_eq!(lost.kept.len(), 2, "{lost:?}");
    put(&log, b"on");
    drop(log);
    let again = gone.crash(5);
    assert_eq!(open(sim(&again), None).unwrap().1.len(), found.len() + 1);
    // Made ahead only.
    let ahead = SimDisk::new();
    let (log, ..) = open(sim(&ahead), None).unwrap();
    // A chunk leaves room for commits behind it, so the next segment is made before it is needed.
    while log.stats().segments < 2 {
        log.append_chunk(vec![0; 100], |_, ()| ()).unwrap();
    }
    log.sync_all().unwrap();
    let durable = log.durable_lsn();
    drop(log);
    let all = starts(&ahead);
    let unused: Vec<_> = all.iter().filter(|&&s| s >= durable).collect();
    assert_eq!(unused.len(), 1);
    for s in unused {
        ahead.remove(&name(*s)).unwrap();
    }
    let (log, found, report) = open(sim(&ahead), None).unwrap();
    assert_eq!((report.torn, report.lost), (None, None));
    for _ in 0..40 {
        put(&log, &[2; 1000]);
    }
    drop(log);
    assert_eq!(
        open(sim(&ahead.crash(2)), None).unwrap().1.len(),
        found.len() + 40
    );
}

/// C18: the power goes again and again while a start repairs what the last loss of power left.
#[test]
fn c18_recovery_that_is_cut_short_again_and_again_ends_well() {
    for seed in 0..60 {
        let disk = SimDisk::new();
        let (places, bodies) = filled(&disk, 15);
        let (log, ..) = open(sim(&disk), None).unwrap();
        log.set_durability(narwal_log::Durability::Written).unwrap();
        let mut all = bodies.clone();
        for i in 0..30 {
            all.push(vec![100 + i; 700]);
            put(&log, &all[all.len() - 1]);
        }
        drop(log);
        let mut disk = disk.crash(seed);
        let mut shown = places.len();
        for n in 1.. {
            disk.power_off_in(n);
            let opened = open(sim(&disk), None);
            let done = !disk.is_off();
            match opened {
                Ok((log, found, _)) => {
                    assert_eq!(found[..], all[..found.len()]);
                    assert!(found.len() >= shown, "what a start has shown stays");
                    shown = found.len();
                    drop(log);
                }
                Err(e) => assert!(disk.is_off(), "{e}"),
            }
            if done {
                break;
            }
            disk = disk.crash(seed * 1000 + n);
        }
    }
}

/// C19: the disk is full in a chunk, in a commit record, in preallocation: at any such call.
#[test]
fn c19_no_space_at_any_call_loses_nothing() {
    for call in [Call::Allocate, Call::Write, Call::Create] {
        for n in 1..60 {
            let disk = SimDisk::new();
            let (log, ..) = open(sim(&disk), None).unwrap();
            disk.fail_nth(call, n, libc::ENOSPC);
            let (mut acked, mut refusals) = (Vec::new(), 0);
            for i in 0..40u8 {
                let body = vec![i; 500 + usize::from(i) * 20];
                let done = if i % 3 == 0 {
                    let mut b = vec![0; HEADER_LEN];
                    b.extend_from_slice(&body);
                    log.append_chunk(b, |_, ()| ()).map(|(at, ())| at)
                } else {
                    reserve(&log, RecordKind::Commit, &body)
                };
                match done {
                    Ok(_) => acked.push(body),
                    Err(LogError::NoSpace(_)) => refusals += 1,
                    // Only where bytes that should have been free already could not be written.
                    Err(LogError::Failed(_)) => {
                        assert_eq!(call, Call::Write);
                        break;
                    }
                    Err(e) => panic!("{e}"),
                }
            }
            assert!(refusals <= 1, "one call failed, so one record was refused");
            // The last chunk may meet the full disk only here.
            if log.sync_all().is_ok() {
                assert_eq!(acked.len() + refusals, 40);
            }
            let stopped = log.failed().is_some();
            drop(log);
            let (log, found, _) = open(sim(&disk.crash(n)), None).unwrap();
            if stopped {
                // Chunks before the stop were promised to nobody.
                let last = acked
                    .iter()
                    .rposition(|b| b[0] % 3 != 0)
                    .map_or(0, |i| i + 1);
                assert!(found.len() >= last && found[..last] == acked[..last]);
            } else {
                assert_eq!(found, acked);
            }
            put(&log, b"service resumes");
        }
    }
}

/// C20: damage in the middle is accepted: everything behind it goes, and is kept aside.
#[test]
fn c20_accepted_damage_cuts_in_front_of_it_and_keeps_a_copy() {
    let disk = SimDisk::new();
    let (places, bodies) = filled(&disk, 40);
    let all = starts(&disk);
    let (first, hit) = (FIRST_LSN, places[5]);
    let offset = hit.lsn - first + SEGMENT_HEADER_LEN;
    disk.damage(&name(first), offset + 50, |b| b[0] ^= 4);
    let damaged = disk.content(&name(first)).unwrap();
    let c = refused(&disk, None);
    assert_eq!((&c.file, c.offset), (&name(first), offset));
    let (log, found, report) = open(accepting(&disk), None).unwrap();
    assert_eq!(found, bodies[..5]);
    let lost = report.lost.unwrap();
    assert_eq!((lost.lsn, lost.offset, lost.commits), (hit.lsn, offset, 35));
    assert!(lost.why.contains("checksum"), "{}", lost.why);
    assert_eq!(lost.kept.len(), all.len());
    assert_eq!(disk.content(&lost.kept[0]).unwrap(), damaged);
    assert_eq!(put(&log, b"new").lsn, hit.lsn);
    log.close().unwrap();
    drop(log);
    let (log, found, report) = open(sim(&disk.crash(3)), None).unwrap();
    assert_eq!(found.len(), 6);
    assert!(report.clean_shutdown && report.lost.is_none());
    drop(log);
    // The option does nothing to a log that is whole, nor to one of a newer program.
    let disk = SimDisk::new();
    filled(&disk, 10);
    let (_, found, report) = open(accepting(&disk), None).unwrap();
    assert_eq!((found.len(), report.lost), (10, None));
    disk.damage(&name(FIRST_LSN), 0, |page| {
        page[8] = 9;
        let crc = crc32c::crc32c_append(crc32c::crc32c(&page[..40]), &page[44..4096]);
        page[40..44].copy_from_slice(&crc.to_le_bytes());
    });
    let e = open(accepting(&disk), None).unwrap_err();
    assert!(matches!(e, LogError::Newer(_)), "{e}");
}

/// C21: the log is lost from before the checkpoint on.
#[test]
fn c21_a_log_lost_before_its_checkpoint_begins_again_there() {
    let disk = SimDisk::new();
    let (places, _) = filled(&disk, 30);
    let at = places[25];
    let from = Some((at.lsn, at.seq - 1));
    let all = starts(&disk);
    let holds = *all.iter().rfind(|&&s| s <= at.lsn).unwrap();
    let harms: [&dyn Fn(&SimDisk); 4] = [
        &|d| all.iter().for_each(|&s| d.remove(&name(s)).unwrap()),
        &|d| {
            all.iter()
                .filter(|&&s| s <= at.lsn)
                .for_each(|&s| d.remove(&name(s)).unwrap())
        },
        &|d| {
            d.open(&name(holds))
                .unwrap()
                .set_len(SEGMENT_HEADER_LEN + 30)
                .unwrap();
            all.iter()
                .filter(|&&s| s > at.lsn)
                .for_each(|&s| d.remove(&name(s)).unwrap());
        },
        &|d| d.damage(&name(holds), 20, |b| b[0] ^= 1),
    ];
    for (i, harm) in harms.iter().enumerate() {
        let disk = disk.fork();
        harm(&disk);
        assert!(open(sim(&disk), from).unwrap_err().is_loss());
        let segments = starts(&disk).len();
        let (log, found, report) = open(accepting(&disk), from).unwrap();
        let lost = report.lost.unwrap();
        assert_eq!(
            (found.len(), lost.lsn, report.last_seq),
            (0, at.lsn, at.seq - 1)
        );
        assert_eq!(lost.kept.len(), segments, "harm {i}");
        assert_eq!(put(&log, b"new").seq, at.seq);
        for _ in 0..30 {
            put(&log, &[1; 1000]);
        }
        drop(log);
        let disk = disk.crash(i as u64);
        let (_, found, report) = open(sim(&disk), from).unwrap();
        assert_eq!((found.len(), report.lost), (31, None));
        assert_eq!(open(sim(&disk), None).unwrap().1.len(), 31);
    }
}

/// C20, C21: a crash at any step while a loss is accepted: accepting again, or what is left, gives the same log.
#[test]
fn c20_a_crash_while_a_loss_is_accepted_changes_nothing_of_its_end() {
    for (from_checkpoint, good) in [(false, 5), (true, 0)] {
        for step in 1..60 {
            let disk = SimDisk::new();
            let (places, bodies) = filled(&disk, 40);
            let at = places[20];
            let from = from_checkpoint.then_some((at.lsn, at.seq - 1));
            if from_checkpoint {
                for s in starts(&disk).into_iter().filter(|&s| s <= at.lsn) {
                    disk.remove(&name(s)).unwrap();
                }
            } else {
                let offset = places[5].lsn - FIRST_LSN + SEGMENT_HEADER_LEN;
                disk.damage(&name(FIRST_LSN), offset + 50, |b| b[0] ^= 4);
            }
            disk.sync_dir(Path::new(DIR)).unwrap();
            disk.power_off_in(step);
            let r = open(accepting(&disk), from);
            assert_eq!(r.is_err(), disk.is_off());
            let finished = r.is_ok();
            drop(r);
            let disk = disk.crash(step);
            let (_, found, _) = open(accepting(&disk), from).unwrap();
            assert_eq!(found, bodies[..good]);
            if finished {
                break;
            }
            assert!(step < 59, "never finished");
        }
    }
}

/// Readers of every kind over many segments while retention takes them away and commits go on.
#[test]
fn readers_of_every_kind_go_on_while_segments_are_purged() {
    let dir = tempfile::tempdir().unwrap();
    let opts = LogOptions {
        segment_size: 64 << 10,
        durability: narwal_log::Durability::Written,
        ..LogOptions::new(dir.path())
    };
    let (log, ..) = open(opts, None).unwrap();
    let total = 6000u64;
    let body = |seq: u64| seq.to_le_bytes().repeat(30 + seq as usize % 60);
    let (stop, floor) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|s| {
        let writer = s.spawn(|| {
            for seq in 1..=total {
                assert_eq!(put(&log, &body(seq)).seq, seq);
            }
            log.sync_all().unwrap();
        });
        s.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                let purged = log.purge_before(floor.load(Ordering::SeqCst)).unwrap();
                if purged.segments == 0 {
                    std::thread::yield_now();
                }
            }
        });
        // One that holds retention back sees everything.
        let held = s.spawn(|| {
            let mut r = log.read_from(FIRST_LSN).unwrap();
            let (mut next, mut out) = (1, Vec::new());
            while next <= total {
                let at = match r.next().unwrap() {
                    Some(rec) => {
                        assert_eq!((rec.seq, rec.body), (next, &body(next)[..]));
                        rec.lsn
                    }
                    None => {
                        let at = r.lsn();
                        let _ = log.sync_all();
                        log.wait_durable(at, std::time::Duration::from_millis(20))
                            .unwrap();
                        continue;
                    }
                };
                if next.is_multiple_of(7) {
                    assert_eq!(log.read_at(at, &mut out).unwrap().seq, next);
                    assert_eq!(out, body(next));
                }
                floor.store(at, Ordering::SeqCst);
                next += 1;
            }
        });
        // Those that hold nothing back may be told that something is gone, and nothing else.
        let free: Vec<_> = (0..2)
            .map(|kind| {
                let (stop, floor, log) = (&stop, &floor, &log);
                let path = dir.path();
                s.spawn(move || {
                    let records = DirRecords::open(Arc::new(narwal_log::RealDisk), path);
                    let mut out = Vec::new();
                    while !stop.load(Ordering::SeqCst) {
                        let from = log.oldest_lsn();
                        let mut check = |rec: narwal_log::RecordRef<'_>| {
                            assert_eq!(rec.body, &body(rec.seq)[..]);
                            if rec.seq.is_multiple_of(11) {
                                match records.read_at(rec.lsn, &mut out) {
                                    Ok(at) => assert_eq!((at.seq, &out[..]), (rec.seq, rec.body)),
                                    Err(LogError::Purged { .. }) => {}
                                    Err(e) => panic!("{e}"),
                                }
                            }
                        };
                        let end = if kind == 0 {
                            let mut r = match log.read_from(from) {
                                Ok(r) => r,
                                Err(LogError::Purged { .. }) => continue,
                                Err(e) => panic!("{e}"),
                            };
                            loop {
                                match r.next() {
                                    Ok(Some(rec)) => check(rec),
                                    Ok(None) => break None,
                                    Err(e) => break Some(e),
                                }
                            }
                        } else {
                            match DirReader::open(Arc::new(narwal_log::RealDisk), path) {
                                Ok(r) => {
                                    let mut r = r.unwrap();
                                    loop {
                                        match r.next() {
                                            Ok(Some(rec)) => check(rec),
                                            Ok(None) => break r.end().err(),
                                            Err(e) => break Some(e),
                                        }
                                    }
                                }
                                Err(e) => Some(e),
                            }
                        };
                        match end {
                            None | Some(LogError::Purged { .. }) => {}
                            Some(e) => panic!("kind {kind}, floor {floor:?}: {e}"),
                        }
                    }
                })
            })
            .collect();
        writer.join().unwrap();
        held.join().unwrap();
        stop.store(true, Ordering::SeqCst);
        for f in free {
            f.join().unwrap();
        }
    });
    assert!(log.stats().segments_removed > 5);
    // What readers had open then.
    log.purge_before(0).unwrap();
    assert_eq!(
        std::fs::read_dir(dir.path())
            .unwrap()
            .filter(|f| {
                f.as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .ends_with(".gone")
            })
            .count(),
        0
    );
}
