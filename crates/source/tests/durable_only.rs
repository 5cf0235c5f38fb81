//! A replica can never be ahead of its recovered source: whatever a dump has sent is still there after a crash that
//! loses, tears and reorders all that was not synced, in every mode of `innodb_flush_log_at_trx_commit`.
//!
//! One seed is one story: writers commit, dumps run, the power goes at a random changing call of the disk. `NARWAL_SEEDS`
//! sets the number of seeds for each mode.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../engine/tests/common/mod.rs"]
mod common;

use common::*;
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use narwal_source::{
    Checksum, Client, ClientVars, DumpIo, DumpRequest, Ready, Source, State, Wake,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const DIR: &str = "/data";
const WRITERS: i64 = 3;
const READERS: usize = 2;
/// Long enough for any story.
const ROWS: i64 = 100_000;

fn options(disk: &SimDisk, mode: u8) -> Options {
    Options {
        flush_log_at_trx_commit: mode,
        segment_size: 32 << 10,
        max_binlog_size: 4096,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

/// Groups by GTID, each with its bytes.
type Groups = BTreeMap<String, Vec<u8>>;

/// A reader that notes what it is sent. The last group may be incomplete.
#[derive(Default)]
struct Reader {
    left: Groups,
    last: String,
}

impl DumpIo for Reader {
    fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let packet = parts.concat();
        let Some(event) = packet.strip_prefix(&[0]) else {
            return Ok(()); // the EOF packet
        };
        match event[4] {
            162 => {
                let word = |at: usize| u32::from_le_bytes(event[at..at + 4].try_into().unwrap());
                self.last = format!("{}-{}-{}", word(27), word(5), word(19));
            }
            4 | 15 | 27 | 163 => return Ok(()), // made for the stream
            _ => {}
        }
        let group = self.left.entry(self.last.clone()).or_default();
        group.extend_from_slice(event);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reset_sequence(&mut self) {}

    fn wait(&mut self, wake: BorrowedFd<'_>, timeout: Option<Duration>) -> io::Result<Ready> {
        let timeout = timeout.map(|t| Timespec::try_from(t).unwrap());
        let mut fds = [PollFd::from_borrowed_fd(wake, PollFlags::IN)];
        let n = poll(&mut fds, timeout.as_ref())?;
        Ok(Ready {
            readable: false,
            woken: n > 0,
        })
    }

    fn read_packet(&mut self, _: &mut Vec<u8>) -> io::Result<bool> {
        Ok(false)
    }
}

struct Stop(Arc<AtomicBool>);

impl Client for Stop {
    fn killed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
    fn state(&self, _: State) {}
}

/// Everything in the log.
fn groups(db: &Database) -> Groups {
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    let mut all = Groups::new();
    while let Some(head) = reader.next_group().unwrap() {
        let mut bytes = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            bytes.extend_from_slice(event);
        }
        all.insert(head.gtid.to_string(), bytes);
    }
    all
}

/// One story: commits that were lost, and groups that had left.
fn story(mode: u8, seed: u64) -> (usize, usize) {
    let disk = SimDisk::new();
    let db = Database::open_with(DIR, options(&disk, mode)).unwrap();
    create(&db, vec![table_def("t", true, false)]);
    let source = Source::new(db.clone(), "10.11.0-MariaDB-test");
    let stop = Arc::new(AtomicBool::new(false));
    let wakes: Vec<Wake> = (0..READERS).map(|_| Wake::new().unwrap()).collect();
    let mut committed = Vec::new();
    let mut left = Vec::new();
    std::thread::scope(|threads| {
        let dumps: Vec<_> = (0..READERS)
            .map(|n| {
                let (source, stop, wake) = (&source, Stop(stop.clone()), &wakes[n]);
                threads.spawn(move || {
                    let request = DumpRequest {
                        server_id: 10 + n as u32,
                        ..DumpRequest::default()
                    };
                    let vars = ClientVars {
                        checksum: Checksum::Crc32,
                        capability: 4,
                        connect_state: Some(String::new()),
                        ..ClientVars::default()
                    };
                    let mut reader = Reader::default();
                    let _ = source.dump(&request, &vars, &stop, wake, &mut reader);
                    reader.left
                })
            })
            .collect();
        disk.power_off_in(20 + seed * 37 % 400);
        let writers: Vec<_> = (0..WRITERS)
            .map(|w| {
                let db = &db;
                threads.spawn(move || {
                    let t = db.catalog().table("d", "t").unwrap().clone();
                    let mut done = Vec::new();
                    for n in 0..ROWS {
                        let mut x = begin(db);
                        let id = n * WRITERS + w;
                        let text = "x".repeat(1 + (id % 17) as usize);
                        if x.insert(&t, row(&t, id, None, &text)).is_err() {
                            break;
                        }
                        match x.commit() {
                            Ok(info) => done.push(info.gtid.to_string()),
                            Err(_) => break,
                        }
                        // So that readers catch up now and then, whatever the mode.
                        if n % 8 == seed as i64 % 8 {
                            std::thread::yield_now();
                        }
                    }
                    done
                })
            })
            .collect();
        for w in writers {
            committed.extend(w.join().unwrap());
        }
        assert!(disk.is_off(), "the power should have gone");
        stop.store(true, Ordering::SeqCst);
        wakes.iter().for_each(Wake::wake);
        left.extend(dumps.into_iter().map(|d| d.join().unwrap()));
    });
    drop(source);
    drop(db);
    let disk = disk.crash(seed);
    let db = Database::open_with(DIR, options(&disk, mode)).unwrap();
    let recovered = groups(&db);
    let mut sent = 0;
    for reader in &left {
        sent = sent.max(reader.len());
        for (gtid, bytes) in reader {
            let there = recovered.get(gtid);
            let what = format!("mode {mode}, seed {seed}: {gtid} has left");
            assert!(there.is_some_and(|g| g.starts_with(bytes)), "{what}");
        }
    }
    if mode == 1 {
        for gtid in &committed {
            assert!(
                recovered.contains_key(gtid),
                "seed {seed}: {gtid} was acknowledged"
            );
        }
    }
    let lost = committed
        .iter()
        .filter(|g| !recovered.contains_key(*g))
        .count();
    db.close().unwrap();
    (lost, sent)
}

fn stories(mode: u8) {
    let seeds = std::env::var("NARWAL_SEEDS").ok();
    let seeds = seeds.and_then(|s| s.parse().ok()).unwrap_or(60);
    let (mut lost, mut sent) = (0, 0);
    for seed in 0..seeds {
        let (l, s) = story(mode, seed);
        lost += l;
        sent += s;
    }
    println!("mode {mode}: {sent} groups had left, {lost} commits were lost");
    assert!(sent > 0, "nothing was read");
    // Otherwise the crash took nothing, and the test proves nothing.
    assert!(mode == 1 || lost > 0, "nothing was lost");
}

#[test]
fn what_has_left_survives_in_mode_0() {
    stories(0);
}

#[test]
fn what_has_left_survives_in_mode_1() {
    stories(1);
}

#[test]
fn what_has_left_survives_in_mode_2() {
    stories(2);
}
