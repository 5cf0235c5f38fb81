//! Random histories on the simulated disk, with a crash at any I/O call. `NARWAL_SEEDS` sets how many (default 300);
//! `NARWAL_SEED` runs just one. A failure prints its seed. More for the first of them: testkit's `stories.rs`; its long form is
//! `./torture --simulate`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use narwal_log::sim::{Call, SimDisk};
use narwal_log::{Durability, HEADER_LEN, Log, LogError, LogOptions, OpenError, RecordKind};
use narwal_testkit::stories;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const DIR: &str = "/data/log";

fn options(disk: &SimDisk, rng: &mut SmallRng) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: [8 << 10, 16 << 10, 64 << 10][rng.random_range(0..3)],
        initial_size: [4096, 64 << 10][rng.random_range(0..2)],
        grow_step: [4096, 32 << 10][rng.random_range(0..2)],
        background: false,
        chunk_queue: [500, 20_000][rng.random_range(0..2)],
        chunk_group: [300, 5000][rng.random_range(0..2)],
        ..LogOptions::new(DIR)
    }
}

/// The body of the commit with this number, or of a note (`salt` differs).
fn body(seed: u64, number: u64, salt: u64, len: usize) -> Vec<u8> {
    let mut rng = SmallRng::seed_from_u64(seed ^ number.wrapping_mul(0x9E37_79B9) ^ salt << 48);
    let mut b = vec![0u8; HEADER_LEN];
    // Zeros at the end now and then: the hardest thing to tell from nothing.
    let zeros = if rng.random_bool(0.2) { len / 2 } else { 0 };
    b.extend((0..len - zeros).map(|_| rng.random::<u8>()));
    b.resize(HEADER_LEN + len, 0);
    b
}

/// What should be in the log.
#[derive(Debug, Default, Clone)]
struct Model {
    /// Commits in order: body (with header room) by sequence number - 1.
    commits: Vec<Vec<u8>>,
    /// Chunks that commits count on: sequence number of the commit, LSN and body of the chunk.
    chunks: Vec<(u64, u64, Vec<u8>)>,
    /// Commits up to this one may not be lost.
    safe: u64,
}

struct Run {
    seed: u64,
    rng: SmallRng,
    model: Model,
    /// Where a checkpoint stands, and the durable commits before it.
    checkpoint: Option<(u64, u64)>,
    /// Chunks that no commit counts on yet.
    sent: Vec<(u64, Vec<u8>)>,
}

type Opened = Result<Log<u64>, OpenError<String>>;

impl Run {
    fn open(&mut self, disk: &SimDisk) -> Opened {
        let opts = options(disk, &mut self.rng);
        let from = if self.rng.random_bool(0.5) {
            self.checkpoint
        } else {
            None
        };
        // A purged log can only be read from a checkpoint or its oldest segment; both give sequence numbers.
        let mut expect: Option<u64> = from.map(|f| f.1);
        let model = &self.model;
        let open = Log::<u64>::open(opts, from, |r| {
            if !r.kind.is_commit() {
                return Ok(());
            }
            if let Some(e) = expect
                && r.seq != e + 1
            {
                return Err(format!("commit {} after {e}", r.seq));
            }
            expect = Some(r.seq);
            let want = model
                .commits
                .get(r.seq as usize - 1)
                .ok_or(format!("commit {} was never made", r.seq))?;
            if &want[HEADER_LEN..] != r.body {
                return Err(format!("commit {} has another body", r.seq));
            }
            Ok(())
        })?;
        let last = open.report.last_seq;
        assert!(
            last >= self.model.safe,
            "commit {} was acknowledged, the log ends at {last}",
            self.model.safe
        );
        assert!(last <= self.model.commits.len() as u64);
        // A prefix of the commit order: what is not in it never happened.
        self.model.commits.truncate(last as usize);
        // What recovery showed may never be lost again.
        self.model.safe = last;
        let log = open.start(last)?;
        self.sent.clear();
        self.model.chunks.retain(|(seq, ..)| *seq <= last);
        self.read_chunks(&log)?;
        Ok(log)
    }

    /// A commit that is there has all its chunks, unless they were purged.
    fn read_chunks(&self, log: &Log<u64>) -> Result<(), LogError> {
        let (records, oldest) = (log.records(), log.oldest_lsn());
        let mut buf = Vec::new();
        for (seq, lsn, b) in self.model.chunks.iter().filter(|c| c.1 >= oldest) {
            let r = records.read_at(*lsn, &mut buf)?;
            assert_eq!(r.kind, RecordKind::Chunk, "of commit {seq}");
            assert_eq!(buf, b[HEADER_LEN..], "chunk {lsn} of commit {seq}");
        }
        Ok(())
    }

    /// Random operations until something fails; returns the error.
    fn work(&mut self, log: &Log<u64>, steps: u32) -> Result<(), LogError> {
        for _ in 0..steps {
            let mode = log.durability();
            match self.rng.random_range(0..100) {
                0..66 => self.commit_some(log, mode)?,
                66..70 => {
                    for _ in 0..self.rng.random_range(1..8) {
                        let n = self.rng.random_range(0..900);
                        let b = body(self.seed, n as u64, 2, n);
                        let (at, ()) = log.append_chunk(b.clone(), |_, _| ())?;
                        self.sent.push((at.lsn, b));
                    }
                }
                70..76 => {
                    let modes = [
                        Durability::Synced,
                        Durability::Written,
                        Durability::Buffered,
                    ];
                    let all = self.model.commits.len() as u64;
                    let to = modes[self.rng.random_range(0..3)];
                    log.set_durability(to)?;
                    if to == Durability::Synced {
                        self.model.safe = all;
                    }
                }
                76..82 => log.tick()?,
                82..87 => {
                    let all = self.model.commits.len() as u64;
                    log.sync_all()?;
                    self.model.safe = all;
                }
                87..92 => {
                    let cp = log.with_order_state(|_, at| (at.lsn, at.seq));
                    log.sync_all()?;
                    self.model.safe = self.model.commits.len() as u64;
                    self.checkpoint = Some(cp);
                }
                92..95 => {
                    if let Some((lsn, _)) = self.checkpoint {
                        log.purge_before(lsn)?;
                    }
                }
                95..97 => self.read_back(log)?,
                97 => {
                    let all = self.model.commits.len() as u64;
                    log.switch_segment()?;
                    self.model.safe = all;
                }
                // A rollback: its chunks are dead.
                98 => self.sent.clear(),
                _ => {
                    let n = self.rng.random_range(0..100);
                    let (t, ()) = log.reserve(RecordKind::Note, n, |_, _| ())?;
                    log.fill(&t, body(self.seed, n as u64, 1, n));
                }
            }
        }
        Ok(())
    }

    /// One group: a few reservations, filled in any order, then waited for.
    fn commit_some(&mut self, log: &Log<u64>, mode: Durability) -> Result<(), LogError> {
        let mut tickets = Vec::new();
        for _ in 0..self.rng.random_range(1..6) {
            let len = match self.rng.random_range(0..20) {
                0 => self.rng.random_range(0..20_000),
                1 => 0,
                _ => self.rng.random_range(0..800),
            };
            const KINDS: [RecordKind; 4] = [
                RecordKind::Commit,
                RecordKind::LocalCommit,
                RecordKind::AnnexCommit,
                RecordKind::PackedCommit,
            ];
            let kind = KINDS[self.rng.random_range(0..4)];
            match log.reserve(kind, len, |at, counter| {
                *counter += 1;
                assert_eq!(*counter, at.seq);
                at.seq
            }) {
                Ok((t, seq)) => {
                    let b = body(self.seed, seq, 0, len);
                    assert_eq!(self.model.commits.len() as u64 + 1, seq);
                    self.model.commits.push(b.clone());
                    if kind != RecordKind::Commit && self.rng.random_bool(0.3) {
                        let chunks = self.sent.drain(..);
                        self.model
                            .chunks
                            .extend(chunks.map(|(lsn, b)| (seq, lsn, b)));
                    }
                    tickets.push((t, b));
                }
                Err(e) => {
                    // Those before it have to be handed over all the same.
                    for (t, b) in tickets {
                        log.fill(&t, b);
                    }
                    return Err(e);
                }
            }
        }
        let mut order: Vec<_> = tickets.into_iter().collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        let mut filled = Vec::new();
        for (t, b) in order {
            log.fill(&t, b);
            filled.push(t);
        }
        for t in &filled {
            log.wait(t)?;
            assert!(log.visible_seq() >= t.seq());
            if mode == Durability::Synced {
                self.model.safe = self.model.safe.max(t.seq());
                assert!(log.durable_lsn() >= t.reserved().end_lsn);
            }
        }
        Ok(())
    }

    fn read_back(&mut self, log: &Log<u64>) -> Result<(), LogError> {
        let mut reader = log.read_from(log.oldest_lsn())?;
        let mut last = None;
        while let Some(r) = reader.next()? {
            if r.kind.is_commit() {
                assert!(last.is_none_or(|l| l + 1 == r.seq));
                last = Some(r.seq);
                assert_eq!(
                    self.model.commits[r.seq as usize - 1][HEADER_LEN..],
                    *r.body
                );
            }
        }
        Ok(())
    }
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

/// The power goes (or the process dies) in the middle of any call, again and again.
fn crashes(seed: u64) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut disk = SimDisk::new();
    let rounds = rng.random_range(1..6);
    let mut run = Run {
        seed,
        rng,
        model: Model::default(),
        checkpoint: None,
        sent: Vec::new(),
    };
    for _ in 0..rounds {
        let n = if run.rng.random_bool(0.3) {
            run.rng.random_range(1..30)
        } else {
            run.rng.random_range(1..400)
        };
        disk.power_off_in(n);
        match run.open(&disk) {
            Ok(log) => {
                let steps = run.rng.random_range(1..60);
                let r = run.work(&log, steps);
                match r {
                    Ok(()) if run.rng.random_bool(0.3) => {
                        let all = run.model.commits.len() as u64;
                        if log.close().is_ok() {
                            run.model.safe = all;
                        }
                    }
                    Ok(()) => {}
                    Err(e) => assert!(disk.is_off(), "{e}"),
                }
            }
            Err(e) => assert!(disk.is_off(), "{e}"),
        }
        let off = disk.is_off();
        stories::crashed();
        disk = if !off && run.rng.random_bool(0.3) {
            disk.kill()
        } else {
            disk.crash(run.rng.random())
        };
    }
    let log = run.open(&disk).unwrap();
    run.work(&log, 20).unwrap();
}

/// C1, C7: the power goes (or the process dies) in the middle of any call, again and again.
#[test]
fn c1_crash_at_any_call_keeps_what_was_acknowledged_and_a_prefix_of_the_rest() {
    stories::tell(300, crashes, || ());
}

/// C1 with several threads and the background threads: not repeatable by its seed alone, but sees races.
#[test]
fn c1_crash_under_threads_keeps_what_was_acknowledged() {
    for seed in 0..seeds().end.clamp(1, 300) / 3 {
        let name = Name(seed);
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x7EAD);
        let mut disk = SimDisk::new();
        let acked = AtomicU64::new(0);
        for _ in 0..3 {
            let mut last = 0;
            let opts = LogOptions {
                background: true,
                flush_interval: std::time::Duration::from_millis(1),
                ..options(&disk, &mut rng)
            };
            let open = Log::<u64>::open(opts, None, |r| {
                last += 1;
                assert_eq!(r.seq, last);
                assert_eq!(r.body[..8], last.to_le_bytes());
                Ok::<_, String>(())
            })
            .unwrap();
            assert!(last >= acked.load(Ordering::SeqCst), "{last} {acked:?}");
            let log = open.start(last).unwrap();
            disk.power_off_in(rng.random_range(1..300));
            let pads: Vec<usize> = (0..4).map(|_| rng.random_range(0..2000)).collect();
            std::thread::scope(|s| {
                for pad in pads {
                    let (log, acked) = (&log, &acked);
                    s.spawn(move || {
                        loop {
                            let Ok((t, n)) = log.reserve(RecordKind::Commit, 8 + pad, |at, n| {
                                *n += 1;
                                assert_eq!(*n, at.seq);
                                *n
                            }) else {
                                return;
                            };
                            let mut b = vec![0; HEADER_LEN];
                            b.extend_from_slice(&n.to_le_bytes());
                            b.resize(HEADER_LEN + 8 + pad, 1);
                            log.fill(&t, b);
                            if log.wait(&t).is_err() {
                                return;
                            }
                            assert!(log.visible_seq() >= n && log.durable_lsn() > t.lsn());
                            acked.fetch_max(n, Ordering::SeqCst);
                        }
                    });
                }
            });
            assert!(disk.is_off());
            drop(log);
            disk = disk.crash(rng.random());
        }
        drop(name);
    }
}

/// C10, C14: an error of any single call at any place: either the call is harmless or the log stops, and nothing that was
/// acknowledged is lost.
#[test]
fn c10_eio_at_any_call_stops_the_log_and_loses_nothing() {
    for seed in seeds() {
        let name = Name(seed);
        let rng = SmallRng::seed_from_u64(seed ^ 0xE10);
        let disk = SimDisk::new();
        let mut run = Run {
            seed,
            rng,
            model: Model::default(),
            checkpoint: None,
            sent: Vec::new(),
        };
        let call = Call::CHANGING[run.rng.random_range(0..8)];
        let n = run.rng.random_range(1..40);
        disk.fail_nth(call, n, libc::EIO);
        if let Ok(log) = run.open(&disk) {
            let steps = run.rng.random_range(1..60);
            if run.work(&log, steps).is_err() && log.failed().is_some() {
                let e = log.reserve(RecordKind::Commit, 1, |_, _| ()).unwrap_err();
                assert!(matches!(e, LogError::Failed(_)), "{e}");
                assert!(matches!(log.sync_all(), Err(LogError::Failed(_))));
            }
        }
        // The process restarts on a page cache that may hold what the disk never got; what it then shows must stay.
        let disk = if run.rng.random_bool(0.5) {
            let disk = disk.kill();
            run.open(&disk).unwrap();
            disk
        } else {
            disk
        };
        let disk = disk.crash(seed);
        run.open(&disk).unwrap();
        drop(name);
    }
}

fn small(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 4096,
        grow_step: 4096,
        background: false,
        ..LogOptions::new(DIR)
    }
}

type Bodies = Vec<Vec<u8>>;

fn open_all(disk: &SimDisk) -> Result<(Log<()>, Bodies), OpenError<String>> {
    let mut bodies = Vec::new();
    let open = Log::<()>::open(small(disk), None, |r| {
        bodies.push(r.body.to_vec());
        Ok(())
    })?;
    Ok((open.start(())?, bodies))
}

fn put(log: &Log<()>, text: &[u8]) -> u64 {
    let (t, ()) = log
        .reserve(RecordKind::Commit, text.len(), |_, ()| ())
        .unwrap();
    let mut b = vec![0; HEADER_LEN];
    b.extend_from_slice(text);
    log.fill(&t, b);
    log.wait(&t).unwrap();
    t.lsn()
}

fn first_segment() -> std::path::PathBuf {
    Path::new(DIR).join(narwal_log::segment_name(narwal_log::FIRST_LSN))
}

/// C3: a flipped byte anywhere in a durable record that something durable follows.
#[test]
fn c3_a_flipped_byte_in_a_durable_record_is_named_by_file_and_offset() {
    let disk = SimDisk::new();
    let (log, _) = open_all(&disk).unwrap();
    let lsns: Vec<u64> = (0..20).map(|i| put(&log, &[i as u8 + 1; 100])).collect();
    // The last record is covered by the mark of the quiet log.
    log.tick().unwrap();
    log.tick().unwrap();
    let end = log.durable_lsn();
    drop(log);
    let offset_of = |lsn: u64| lsn - narwal_log::FIRST_LSN + narwal_log::SEGMENT_HEADER_LEN;
    for at in narwal_log::FIRST_LSN..end {
        let damaged = disk.fork();
        damaged.damage(&first_segment(), offset_of(at), |b| b[0] ^= 0x40);
        let record = lsns
            .iter()
            .rposition(|&l| l <= at)
            .map_or(narwal_log::FIRST_LSN, |i| lsns[i]);
        match open_all(&damaged) {
            Err(OpenError::Log(LogError::Corrupt(c))) => {
                assert_eq!(c.file, first_segment());
                assert_eq!(c.offset, offset_of(record), "flip at LSN {at}: {c}");
            }
            other => panic!("flip at LSN {at}: {other:?}"),
        }
    }
}

/// C4: a flipped byte in a segment's header page.
#[test]
fn c4_a_damaged_segment_header_is_named() {
    let disk = SimDisk::new();
    let (log, _) = open_all(&disk).unwrap();
    put(&log, b"x");
    drop(log);
    for at in [0, 9, 20, 28, 33, 42, 100, 4095] {
        let damaged = disk.fork();
        damaged.damage(&first_segment(), at, |b| b[0] ^= 1);
        let e = open_all(&damaged).unwrap_err();
        assert!(
            matches!(&e, OpenError::Log(LogError::Corrupt(c)) if c.offset == 0),
            "{e}"
        );
    }
}

/// C6: frames that an earlier, lost continuation left on the disk never come back to life.
#[test]
fn c6_a_stale_frame_is_never_taken_for_a_continuation() {
    for seed in 0..200u64 {
        let disk = SimDisk::new();
        // All the space at once: growing would sync.
        let opts = LogOptions {
            initial_size: 16 << 10,
            ..small(&disk)
        };
        let open = Log::<()>::open(opts, None, |_| Ok::<_, String>(())).unwrap();
        let log = open.start(()).unwrap();
        put(&log, b"kept");
        log.set_durability(Durability::Written).unwrap();
        for _ in 0..15 {
            // All the same length, so that a stale frame would fit exactly behind a new one.
            put(&log, &[b'o'; 600]);
        }
        drop(log);
        let disk = disk.crash(seed);
        let (log, found) = open_all(&disk).unwrap();
        let kept = found.len();
        put(&log, &[b'n'; 600]);
        drop(log);
        let (_, found) = open_all(&disk.crash(seed + 1)).unwrap();
        assert_eq!(found.len(), kept + 1, "seed {seed}");
        assert_eq!(found[kept], vec![b'n'; 600]);
    }
}

/// C8: a segment in the middle is missing.
#[test]
fn c8_a_missing_segment_is_named() {
    let disk = SimDisk::new();
    let (log, _) = open_all(&disk).unwrap();
    for _ in 0..60 {
        put(&log, &[1; 1000]);
    }
    assert!(log.stats().segments > 3);
    drop(log);
    let mut segments: Vec<_> = disk
        .paths()
        .into_iter()
        .filter(|p| {
            narwal_log::parse_segment_name(p.file_name().unwrap().to_str().unwrap()).is_some()
        })
        .collect();
    segments.sort();
    use narwal_log::Disk;
    disk.remove(&segments[1]).unwrap();
    let e = open_all(&disk).unwrap_err();
    assert!(
        matches!(&e, OpenError::Log(LogError::Corrupt(c)) if c.file == segments[1]),
        "{e}"
    );
}

/// C9: the disk is full: reservations fail and reserve nothing, what fits still goes in, service resumes.
#[test]
fn c9_a_full_disk_loses_nothing_and_service_resumes() {
    let disk = SimDisk::new();
    let (log, _) = open_all(&disk).unwrap();
    let mut written = Vec::new();
    for round in 0..10u64 {
        disk.set_capacity(Some(disk.used() + round * 3000));
        let mut refused = 0;
        while refused < 3 {
            let n = 300 + refused * 400;
            let before = log.with_order_state(|(), at| at);
            match log.reserve(RecordKind::Commit, n, |_, ()| ()) {
                Ok((t, ())) => {
                    let mut b = vec![0; HEADER_LEN];
                    b.resize(HEADER_LEN + n, round as u8);
                    written.push(b[HEADER_LEN..].to_vec());
                    log.fill(&t, b);
                    log.wait(&t).unwrap();
                }
                Err(LogError::NoSpace(_)) => {
                    assert_eq!(before, log.with_order_state(|(), at| at));
                    refused += 1;
                }
                Err(e) => panic!("{e}"),
            }
        }
        assert!(log.failed().is_none());
        disk.set_capacity(None);
        put(&log, b"again");
        written.push(b"again".to_vec());
    }
    log.close().unwrap();
    let (_, found) = open_all(&disk.crash(1)).unwrap();
    assert_eq!(found, written);
}

/// C11: a ticket that was dropped stops the log instead of hanging it.
#[test]
fn c11_an_abandoned_reservation_stops_the_log() {
    let disk = SimDisk::new();
    let (log, _) = open_all(&disk).unwrap();
    put(&log, b"before");
    let (lost, ()) = log.reserve(RecordKind::Commit, 4, |_, ()| ()).unwrap();
    let (behind, ()) = log.reserve(RecordKind::Commit, 4, |_, ()| ()).unwrap();
    log.fill(&behind, vec![0; HEADER_LEN + 4]);
    std::thread::scope(|s| {
        let log = &log;
        let waiter = s.spawn(move || log.wait(&behind));
        drop(lost);
        assert!(matches!(waiter.join().unwrap(), Err(LogError::Failed(_))));
    });
}
