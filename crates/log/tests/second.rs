//! The second stage of a commit: one leader at a time, everything in order, nobody left behind.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_log::sim::SimDisk;
use narwal_log::{
    DirReader, Durability, HEADER_LEN, Log, LogError, LogOptions, RecordKind, RecordRef, SecondLog,
    Seq,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Notes what it gets, slowly.
#[derive(Debug, Default)]
struct Notes {
    busy: AtomicBool,
    seqs: Mutex<Vec<Seq>>,
    groups: AtomicU64,
    fails: AtomicBool,
}

impl SecondLog for Notes {
    fn append(
        &self,
        group: &[RecordRef<'_>],
        durable: &dyn Fn() -> Result<(), LogError>,
    ) -> Result<(), String> {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "one leader");
        durable().unwrap();
        std::thread::sleep(Duration::from_micros(300));
        let commits = group.iter().filter(|r| r.kind.is_commit());
        self.seqs.lock().unwrap().extend(commits.map(|r| r.seq));
        self.groups.fetch_add(1, Ordering::SeqCst);
        self.busy.store(false, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) {
            return Err("the second log is full".into());
        }
        Ok(())
    }
}

fn open(disk: &SimDisk, mode: Durability, notes: &Arc<Notes>) -> Log<()> {
    let mut options = LogOptions::new("/log");
    options.disk = Arc::new(disk.clone());
    options.background = false;
    options.durability = mode;
    let opened = Log::<()>::open(options, None, |_| Ok::<_, LogError>(())).unwrap();
    let log = opened.start(()).unwrap();
    log.set_second(notes.clone());
    log
}

fn commit(log: &Log<()>) -> Result<Seq, LogError> {
    let (ticket, ()) = log.reserve(RecordKind::Commit, 100, |_, _| ())?;
    log.fill(&ticket, vec![7; HEADER_LEN + 100]);
    log.wait(&ticket)?;
    Ok(ticket.seq())
}

#[test]
fn every_commit_is_in_the_second_log_before_it_is_answered() {
    for mode in [
        Durability::Synced,
        Durability::Written,
        Durability::Buffered,
    ] {
        let (disk, notes) = (SimDisk::new(), Arc::new(Notes::default()));
        let log = open(&disk, mode, &notes);
        std::thread::scope(|s| {
            for k in 0..12 {
                let (log, notes) = (&log, &notes);
                s.spawn(move || {
                    for n in 0..60 {
                        if (n + k) % 13 == 0 {
                            // Nobody waits for it.
                            let (ticket, ()) =
                                log.reserve(RecordKind::State, 10, |_, _| ()).unwrap();
                            log.fill(&ticket, vec![1; HEADER_LEN + 10]);
                        }
                        let seq = commit(log).unwrap();
                        assert!(notes.seqs.lock().unwrap().len() as u64 >= seq);
                        assert!(log.visible_seq() >= seq);
                    }
                });
            }
        });
        let expected: Vec<Seq> = (1..=720).collect();
        assert_eq!(*notes.seqs.lock().unwrap(), expected, "each once, in order");
        assert!(
            notes.groups.load(Ordering::SeqCst) < 400,
            "they go in groups"
        );
        log.close().unwrap();
        drop(log);
        // The log says up to where, and nothing stands behind its end.
        let mut marked = 0;
        let mut reader = DirReader::open(Arc::new(disk), Path::new("/log"))
            .unwrap()
            .unwrap();
        while let Some(r) = reader.next().unwrap() {
            if r.kind == RecordKind::CommitMark {
                let seq = Seq::from_le_bytes(r.body.try_into().unwrap());
                assert!(seq >= marked && seq <= r.seq);
                marked = seq;
            }
        }
        assert!(marked > 0);
    }
}

#[test]
fn a_second_log_that_fails_stops_the_log_for_everybody() {
    let (disk, notes) = (SimDisk::new(), Arc::new(Notes::default()));
    let log = open(&disk, Durability::Synced, &notes);
    let done: Vec<u64> = std::thread::scope(|s| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                s.spawn(|| {
                    let mut done = 0;
                    while commit(&log).is_ok() {
                        done += 1;
                        if done == 20 {
                            notes.fails.store(true, Ordering::SeqCst);
                        }
                    }
                    done
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(done.iter().sum::<u64>() >= 20);
    assert!(log.failed().unwrap().contains("the second log is full"));
    assert!(log.visible_seq() < notes.seqs.lock().unwrap().len() as u64);
}

#[test]
fn a_lone_committer_syncs_once_and_marks_do_not() {
    let (disk, notes) = (SimDisk::new(), Arc::new(Notes::default()));
    let log = open(&disk, Durability::Synced, &notes);
    commit(&log).unwrap();
    let before = log.stats().syncs;
    for _ in 0..10 {
        commit(&log).unwrap();
    }
    assert_eq!(log.stats().syncs - before, 10);
    // A quiet log writes its mark, and with it the last commit mark, without a sync.
    for _ in 0..4 {
        log.tick().unwrap();
    }
    assert_eq!(log.stats().syncs - before, 10);
}
