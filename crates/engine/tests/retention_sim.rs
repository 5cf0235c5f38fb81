//! Retention on the simulated disk: purge, FLUSH, RESET MASTER, deleted domains, a GTID state that is set, checkpoints,
//! large transactions and slow readers in random order, cut off by a crash or a failing call anywhere (in the State
//! record, between it and the removal of segments, in the middle of that, in a checkpoint, in the next start).
//!
//! A plain model knows files, groups, GTID state and rows. Whatever was acknowledged is found again, exactly; whatever
//! was under way has happened or not; every group that is listed can be read with all its events; a reader that
//! holds its place reads on without a gap.
//! `NARWAL_SEEDS` sets the number of seeds, `NARWAL_SEED` runs one; a failure prints its seed.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_binlog::{EventReader, Gtid, GtidState};
use narwal_engine::*;
use narwal_log::Disk;
use narwal_log::sim::{Call, SimDisk};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DIR: &str = "/data";
const MAX_FILE: u64 = 4096;
const ROTATE: u64 = 31 + 17;

/// How often the stories met what they are for.
#[derive(Default)]
struct Seen {
    /// Groups read with chunks that stand before the file's first LSN, of those: before the oldest file's.
    across: AtomicU64,
    /// Purges that took files away, and that were kept from it.
    purged: AtomicU64,
    kept: AtomicU64,
    /// In-flight operations that were found done, and not done.
    done: AtomicU64,
    undone: AtomicU64,
    /// Groups that a slow reader read of files that had been reset.
    old: AtomicU64,
    segments: AtomicU64,
}

static SEEN: Seen = Seen {
    across: AtomicU64::new(0),
    purged: AtomicU64::new(0),
    kept: AtomicU64::new(0),
    done: AtomicU64::new(0),
    undone: AtomicU64::new(0),
    old: AtomicU64::new(0),
    segments: AtomicU64::new(0),
};

fn count(n: &AtomicU64) {
    n.fetch_add(1, Ordering::Relaxed);
}

#[derive(Debug, Clone, PartialEq)]
struct Group {
    seq: u64,
    gtid: Gtid,
    file: u32,
    start: u64,
    len: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct File {
    number: u32,
    head: u64,
    size: u64,
    gtids: GtidState,
}

/// What the binary log and the table hold.
#[derive(Debug, Clone, PartialEq)]
struct Model {
    files: Vec<File>,
    groups: Vec<Group>,
    gtids: GtidState,
    seq: u64,
    rows: BTreeMap<i64, String>,
    /// Groups since the story began, for a reader: never cut by a purge or reset.
    stream: Vec<Group>,
}

impl Model {
    fn new() -> Model {
        let mut m = Model {
            files: Vec::new(),
            groups: Vec::new(),
            gtids: GtidState::new(),
            seq: 0,
            rows: BTreeMap::new(),
            stream: Vec::new(),
        };
        m.begin_file(1);
        m
    }

    fn current(&mut self) -> &mut File {
        self.files.last_mut().unwrap()
    }

    fn begin_file(&mut self, number: u32) {
        let list = match self.gtids.len() {
            0 => 29,
            n => 27 + 16 * n as u64,
        };
        let head = 4 + 252 + list;
        self.files.push(File {
            number,
            head,
            size: head,
            gtids: self.gtids.clone(),
        });
    }

    fn rotate(&mut self) {
        self.current().size += ROTATE;
        let next = self.current().number + 1;
        self.begin_file(next);
    }

    fn reset(&mut self, number: u32) {
        self.files.clear();
        self.groups.clear();
        self.gtids = GtidState::new();
        self.begin_file(number);
    }

    fn purge(&mut self, oldest: u32) {
        self.files.retain(|f| f.number >= oldest);
        self.groups.retain(|g| g.file >= oldest);
    }

    fn next_gtid(&self, domain: u32, server: u32, seq_no: Option<u64>) -> Gtid {
        Gtid {
            domain,
            server,
            seq: seq_no.unwrap_or_else(|| self.gtids.next_seq(domain)),
        }
    }

    fn commit(&mut self, gtid: Gtid, len: u64) {
        if self.current().size >= MAX_FILE && self.current().size > self.current().head {
            self.rotate();
        }
        self.seq += 1;
        let f = self.current();
        let group = Group {
            seq: 0,
            gtid,
            file: f.number,
            start: f.size,
            len,
        };
        f.size += len;
        let group = Group {
            seq: self.seq,
            ..group
        };
        self.gtids.observe(gtid);
        self.groups.push(group.clone());
        self.stream.push(group);
    }

    /// As reading a database shows it: everything but the stream, and the GTIDs before each file.
    fn shown(&self) -> Shown {
        Shown {
            files: self.files.iter().map(|f| (f.number, f.size)).collect(),
            groups: self.groups.clone(),
            gtids: self.gtids.to_string(),
            seq: self.seq,
            rows: self.rows.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Shown {
    files: Vec<(u32, u64)>,
    groups: Vec<Group>,
    gtids: String,
    seq: u64,
    rows: BTreeMap<i64, String>,
}

fn stat(db: &Database, name: &str) -> u64 {
    let all = db.stats().values;
    all.iter().find(|v| v.0 == name).unwrap().1
}

/// Reads the present group's events to the end and checks that they are whole.
fn whole_group<R: Records>(reader: &mut GroupReader<R>, head: &GroupHead) -> Group {
    let mut bytes = Vec::new();
    while let Some(e) = reader.next_event().unwrap() {
        bytes.extend_from_slice(e);
    }
    assert_eq!(bytes.len() as u64, head.len);
    assert!(EventReader::new(&bytes).all(|e| e.is_ok()));
    Group {
        seq: head.seq,
        gtid: head.gtid,
        file: head.file_no,
        start: head.start_pos,
        len: head.len,
    }
}

fn show(db: &Database) -> Shown {
    let files = db.binlog_files();
    let first = files[0].first_lsn;
    let mut groups = Vec::new();
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    while let Some(head) = reader.next_group().unwrap() {
        if head.first_lsn < first {
            count(&SEEN.across);
        }
        groups.push(whole_group(&mut reader, &head));
    }
    let t = db.catalog().table("d", "t").unwrap().clone();
    let rows = dump(&mut begin(db), &t, 0, ReadView::Snapshot);
    Shown {
        files: files.iter().map(|f| (f.number, f.size)).collect(),
        groups,
        gtids: db.gtid_binlog_state(),
        seq: stat(db, "Narwal_visible_seq"),
        rows: rows.into_iter().map(|(id, _, c)| (id, c)).collect(),
    }
}

/// A few random look-ups.
fn check_places(db: &Database, m: &Model, rng: &mut StdRng) {
    for _ in 0..4 {
        let Some(i) = (!m.groups.is_empty()).then(|| rng.random_range(0..m.groups.len())) else {
            return;
        };
        let g = &m.groups[i];
        let name = format!("narwal-bin.{:06}", g.file);
        let at = |offset| {
            let name = name.clone();
            let start = ReadStart::File { name, offset };
            let mut reader = db.binlog_reader(start).unwrap();
            reader.next_group().unwrap().map(|h| h.seq)
        };
        assert_eq!(at(g.start), Some(g.seq));
        assert_eq!(at(g.start + g.len), m.groups.get(i + 1).map(|g| g.seq));
        let behind = db.position_at_seq(g.seq).unwrap();
        assert!((behind.file, behind.offset) >= (name, g.start + g.len));
    }
}

thread_local! {
    /// Whether this story's folder is encrypted.
    static ENCRYPTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The disk as the store sees it; the plain one if the power goes while the folder is being opened.
fn through(disk: &SimDisk) -> Arc<dyn Disk> {
    let disk = Arc::new(disk.clone());
    if !ENCRYPTED.get() {
        return disk;
    }
    let key = format!("1;{}", "5a".repeat(32));
    let key = narwal_crypt::KeyFile::parse(Path::new("keys"), key.as_bytes()).unwrap();
    let folder = Path::new(DIR);
    match narwal_crypt::open_folder(
        disk.clone(),
        folder,
        Some(&key),
        narwal_crypt::Access::Serve,
    ) {
        Ok(opened) => opened.disk,
        Err(e) => {
            assert!(disk.is_off(), "{e}");
            disk
        }
    }
}

fn options(disk: &SimDisk, mode: u8, packed: bool) -> Options {
    Options {
        flush_log_at_trx_commit: mode,
        segment_size: 8 << 10,
        max_binlog_size: MAX_FILE as u32,
        binlog_state_interval: 4096,
        oob_threshold: 600,
        spill_bytes: 3000,
        background: false,
        disk: through(disk),
        memory_budget: 4 << 20,
        compression: packed.then_some(Compression {
            level: 1,
            min_len: 200,
        }),
        ..Options::default()
    }
}

/// A reader that holds its place, and the number of the group in the stream that it has to read next.
struct Reader {
    hold: ReaderHold,
    groups: GroupReader<LiveRecords>,
    next: usize,
    /// File of what it read last; 0: of a life before the last reset.
    file: u32,
}

/// A large transaction under way.
struct Running {
    txn: Transaction,
    domain: u32,
    rows: Vec<(i64, String)>,
}

struct Story {
    rng: StdRng,
    db: Database,
    m: Model,
    next_id: i64,
    running: Option<Running>,
    reader: Option<Reader>,
    disk: SimDisk,
}

type Step = std::result::Result<(), (EngineError, Vec<Model>)>;

impl Story {
    fn gtid(&mut self) -> (Gtid, GtidChoice) {
        let rng = &mut self.rng;
        let domain = [0, 0, 1, 7][rng.random_range(0..4)];
        let server = rng.random_range(1..3);
        let next = self.m.gtids.next_seq(domain);
        let seq_no = rng
            .random_bool(0.1)
            .then(|| next + rng.random_range(0..5u64));
        let choice = GtidChoice {
            domain_id: Some(domain),
            server_id: Some(server),
            seq_no,
            strict: rng.random_bool(0.5),
        };
        (self.m.next_gtid(domain, server, seq_no), choice)
    }

    /// The length of the group that was just written; of an empty log's start too.
    fn last_len(&self) -> u64 {
        let f = self.db.binlog_files();
        let f = f.last().unwrap();
        let m = self.m.files.last().unwrap();
        if f.number == m.number {
            f.size - m.size
        } else {
            // It began a file, whose head has the GTIDs before it.
            f.size - (4 + 252 + 27 + 16 * self.m.gtids.len() as u64)
        }
    }

    /// Commits `txn` whose effect on the rows is `rows`.
    fn commit(
        &mut self,
        txn: Transaction,
        gtid: Option<Gtid>,
        rows: BTreeMap<i64, String>,
    ) -> Step {
        let before = self.m.clone();
        match txn.commit() {
            Ok(info) => {
                match gtid {
                    Some(gtid) => {
                        assert_eq!(info.gtid, gtid.to_string());
                        let len = self.last_len();
                        self.m.commit(gtid, len);
                    }
                    None => self.m.seq += 1,
                }
                assert_eq!(info.seq, self.m.seq);
                self.m.rows = rows;
                Ok(())
            }
            Err(e) => {
                // Its length is not known; 0 stands for any.
                let mut after = before;
                match gtid {
                    Some(gtid) => after.commit(gtid, 0),
                    None => after.seq += 1,
                }
                after.rows = rows;
                Err((e, vec![after]))
            }
        }
    }

    fn small(&mut self) -> Step {
        let t = self.db.catalog().table("d", "t").unwrap().clone();
        let local = self.rng.random_bool(0.1);
        let (gtid, choice) = self.gtid();
        let mut x = self.db.begin(TxnOptions {
            gtid: choice,
            log_bin: !local,
            ..TxnOptions::default()
        });
        x.begin_statement(1, None);
        let mut rows = self.m.rows.clone();
        let most = if self.rng.random_bool(0.2) { 60 } else { 8 };
        let work = |s: &mut Story, x: &mut Transaction, rows: &mut BTreeMap<_, _>| -> Result<()> {
            for _ in 0..s.rng.random_range(1..most) {
                let old = rows.keys().nth(s.rng.random_range(0..=rows.len())).copied();
                match old.filter(|_| s.rng.random_bool(0.4)) {
                    Some(id) => {
                        let r = x.lock_row(&t, &key(id), LockMode::Exclusive, LockWait::Wait)?;
                        x.delete(&t, &key(id), &r.unwrap())?;
                        rows.remove(&id);
                    }
                    None => {
                        s.next_id += 1;
                        let c = format!("c{}", s.next_id);
                        x.insert(&t, row(&t, s.next_id, None, &c))?;
                        rows.insert(s.next_id, c);
                    }
                }
                if s.rng.random_bool(0.2) {
                    x.end_statement();
                    x.begin_statement(1, None);
                }
            }
            Ok(())
        };
        if let Err(e) = work(self, &mut x, &mut rows) {
            return Err((e, vec![]));
        }
        self.commit(x, (!local).then_some(gtid), rows)
    }

    fn grow(&mut self) -> Step {
        let t = self.db.catalog().table("d", "t").unwrap().clone();
        let (_, choice) = self.gtid();
        let db = &self.db;
        let run = self.running.get_or_insert_with(|| Running {
            txn: db.begin(TxnOptions {
                gtid: GtidChoice {
                    // The number is not known yet.
                    seq_no: None,
                    strict: false,
                    server_id: Some(1),
                    ..choice
                },
                ..TxnOptions::default()
            }),
            domain: choice.domain_id.unwrap(),
            rows: Vec::new(),
        });
        run.txn.begin_statement(1, None);
        for _ in 0..self.rng.random_range(10..40) {
            self.next_id += 1;
            let c = format!("large {}", self.next_id);
            if let Err(e) = run.txn.insert(&t, row(&t, self.next_id, None, &c)) {
                return Err((e, vec![]));
            }
            run.rows.push((self.next_id, c));
        }
        run.txn.end_statement();
        Ok(())
    }

    fn finish(&mut self) -> Step {
        let Some(run) = self.running.take() else {
            return Ok(());
        };
        if self.rng.random_bool(0.2) {
            run.txn.rollback();
            return Ok(());
        }
        let gtid = self.m.next_gtid(run.domain, 1, None);
        let mut rows = self.m.rows.clone();
        rows.extend(run.rows);
        self.commit(run.txn, Some(gtid), rows)
    }

    /// Runs `f`; if it fails, `after` is what it may have done nevertheless.
    fn admin<T>(
        &mut self,
        after: Model,
        f: impl FnOnce(&Database) -> Result<T>,
    ) -> std::result::Result<T, (EngineError, Vec<Model>)> {
        match f(&self.db) {
            Ok(v) => {
                self.m = after;
                Ok(v)
            }
            Err(e) => Err((e, vec![after])),
        }
    }

    fn flush(&mut self) -> Step {
        let mut after = self.m.clone();
        after.rotate();
        self.admin(after, |db| db.flush_binary_logs(&[]))
            .map(|_| ())
    }

    fn delete_domain(&mut self) -> Step {
        let domain = [0, 1, 7][self.rng.random_range(0..3)];
        let of = |s: &GtidState| s.iter().filter(|g| g.domain == domain).collect::<Vec<_>>();
        let now = of(&self.m.gtids);
        if now.is_empty() {
            assert_eq!(self.db.flush_binary_logs(&[domain]).unwrap().len(), 1);
            return Ok(());
        }
        if now != of(&self.m.files[0].gtids) {
            let e = self.db.flush_binary_logs(&[domain]).unwrap_err();
            return refused(e, 1076);
        }
        let mut after = self.m.clone();
        after.gtids.remove_domain(domain);
        after.rotate();
        self.admin(after, |db| db.flush_binary_logs(&[domain]))
            .map(|_| ())
    }

    fn set_gtids(&mut self) -> Step {
        let text = ["0-1-5", "0-1-5,0-2-9,1-1-3", "7-2-100"][self.rng.random_range(0..3)];
        if !self.m.gtids.is_empty() {
            let e = self.db.set_gtid_binlog_state(text).unwrap_err();
            return refused(e, 1956);
        }
        let mut after = self.m.clone();
        after.gtids = text.parse().unwrap();
        let file = after.files.pop().unwrap();
        assert_eq!(file.size, file.head);
        after.begin_file(file.number);
        self.admin(after, |db| db.set_gtid_binlog_state(text))
    }

    fn reset(&mut self) -> Step {
        let to = self.rng.random_range(1..9);
        let mut after = self.m.clone();
        after.reset(to);
        if let Some(r) = &mut self.reader {
            r.file = 0;
        }
        self.admin(after, |db| db.reset_master(Some(to)))
    }

    fn purge(&mut self) -> Step {
        let m = &self.m;
        let to = m.files[self.rng.random_range(0..m.files.len())].number;
        let name = format!("narwal-bin.{to:06}");
        let segments = self.segments();
        match self.db.purge_binary_logs_to(&name) {
            Ok(report) => {
                let oldest = self.db.binlog_files()[0].number;
                let before = m.files[0].number;
                assert_eq!(report.purged_files as u32, oldest - before);
                assert!(oldest <= to);
                if oldest < to {
                    // Only a reader may keep it, and not more than it needs.
                    let r = self.reader.as_ref().unwrap();
                    assert!(
                        report.notes.iter().any(|n| n.contains("slow one")),
                        "{report:?}"
                    );
                    assert!(oldest >= r.file.min(to).max(before), "{oldest} {to}");
                    count(&SEEN.kept);
                }
                if oldest > before {
                    count(&SEEN.purged);
                }
                if self.segments() < segments {
                    count(&SEEN.segments);
                }
                self.m.purge(oldest);
                Ok(())
            }
            Err(e) => {
                let after = (m.files.iter().map(|f| f.number).filter(|n| *n <= to))
                    .map(|n| {
                        let mut after = m.clone();
                        after.purge(n);
                        after
                    })
                    .collect();
                Err((e, after))
            }
        }
    }

    fn segments(&self) -> usize {
        let disk = &self.db.options().disk;
        // Nothing if the power is off.
        let names = disk.list(&self.db.path().join("log")).unwrap_or_default();
        names.iter().filter(|n| n.starts_with("wal.0")).count()
    }

    fn read(&mut self) {
        // What was not synced can't be read before it is.
        if self.db.sync().is_err() || self.disk.is_off() {
            return;
        }
        if self.reader.is_none() {
            let hold = self.db.register_reader("slow one", 0);
            let groups = self.db.binlog_reader(ReadStart::Oldest).unwrap();
            hold.advance(groups.records().lsn());
            self.reader = Some(Reader {
                hold,
                groups,
                next: self.m.stream.len() - self.m.groups.len(),
                file: self.m.files[0].number,
            });
        }
        if self.rng.random_bool(0.15) {
            self.reader = None;
            return;
        }
        for _ in 0..self.rng.random_range(0..12) {
            let Some(r) = &mut self.reader else { return };
            let Some(head) = r.groups.next_group().unwrap() else {
                assert_eq!(r.next, self.m.stream.len(), "a gap at the end");
                return;
            };
            assert_eq!(whole_group(&mut r.groups, &head), self.m.stream[r.next]);
            let old = !self.m.groups.contains(&self.m.stream[r.next]);
            if old {
                count(&SEEN.old);
            }
            r.file = if old { 0 } else { head.file_no };
            r.next += 1;
            r.hold.advance(head.end_lsn);
        }
    }

    fn step(&mut self) -> Step {
        match self.rng.random_range(0..100) {
            0..45 => self.small(),
            45..60 => self.grow(),
            60..64 => self.finish(),
            64..70 => self.flush(),
            70..80 => self.purge(),
            80..83 => self.reset(),
            83..86 => self.delete_domain(),
            86..88 => self.set_gtids(),
            88..92 => self.db.checkpoint().map_err(|e| (e, vec![])),
            92..94 => self
                .db
                .purge_expired_binary_logs()
                .map(|_| ())
                .map_err(|e| (e, vec![])),
            _ => {
                self.read();
                Ok(())
            }
        }
    }
}

/// What should be refused was, or the disk was faster.
fn refused(e: EngineError, code: u16) -> Step {
    use EngineError::{DiskFull, Io, LogFailed};
    match e {
        Io(_) | DiskFull(_) | LogFailed(_) => Err((e, vec![])),
        e => {
            assert_eq!(e.to_sql().code, code, "{e}");
            Ok(())
        }
    }
}

fn same(found: &Shown, m: &Model) -> bool {
    let want = m.shown();
    if want == *found {
        return true;
    }
    // A commit that failed: its length was not known.
    let Some(g) = want.groups.last().filter(|g| g.len == 0) else {
        return false;
    };
    let Some(len) = found.groups.last().map(|g| g.len) else {
        return false;
    };
    let gtid = g.gtid;
    let mut m = m.clone();
    m.groups.pop();
    m.groups.push(Group { len, ..g.clone() });
    m.stream.pop();
    m.current().size += len;
    m.shown() == *found && m.gtids.last(gtid.domain).is_some()
}

fn story(seed: u64) {
    ENCRYPTED.set(seed % 5 == 3);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut disk = SimDisk::new();
    let packed = seed % 3 == 1;
    let mut m = Model::new();
    let mut next_id = 0;
    {
        let db = Database::open_with(DIR, options(&disk, 1, packed)).unwrap();
        create(&db, vec![table_def("t", true, false)]);
        let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
        while let Some(h) = reader.next_group().unwrap() {
            m.commit(h.gtid, h.len);
        }
        assert_eq!(show(&db), m.shown());
        if seed.is_multiple_of(2) {
            db.close().unwrap();
        } else {
            disk = disk.crash(seed);
        }
    }
    for round in 0..4 {
        let mode = [1, 1, 1, 2, 0][rng.random_range(0..5)];
        let mut s = Story {
            db: Database::open_with(DIR, options(&disk, mode, packed)).unwrap(),
            rng: StdRng::seed_from_u64(rng.random()),
            m,
            next_id,
            running: None,
            reader: None,
            disk: disk.clone(),
        };
        let what = format!("seed {seed} round {round}");
        assert_eq!(show(&s.db), s.m.shown(), "{what}: at the start");
        match rng.random_range(0..4) {
            0..2 => disk.power_off_in(rng.random_range(1..700)),
            2 => {
                let call = Call::CHANGING[rng.random_range(0..Call::CHANGING.len())];
                let errno = [libc::ENOSPC, libc::EIO][rng.random_range(0..2)];
                disk.fail_nth(call, rng.random_range(1..200), errno);
            }
            // Nothing breaks by itself.
            _ => {}
        }
        // What may be found afterwards; in mode 1 every acknowledged step leaves one possibility.
        let mut possible = vec![s.m.clone()];
        for _ in 0..rng.random_range(20..90) {
            match s.step() {
                Ok(()) => {
                    if mode == 1 {
                        possible.clear();
                    }
                    possible.push(s.m.clone());
                    if s.rng.random_bool(0.05) {
                        if mode != 1 && s.db.sync().is_ok() {
                            possible = vec![s.m.clone()];
                        }
                        // Chunks that nobody waits for may still be on their way: reading must not meet the crash.
                        if (mode != 1 || s.db.sync().is_ok())
                            && !disk.is_off()
                            && (mode == 1 || possible.len() == 1)
                        {
                            assert_eq!(show(&s.db), s.m.shown(), "{what}: while running");
                            check_places(&s.db, &s.m, &mut rng);
                        }
                    }
                }
                // Refused cleanly, before anything happened.
                Err((EngineError::DiskFull(_), after))
                    if after.is_empty() && s.db.failed().is_none() && !disk.is_off() => {}
                Err((_, after)) => {
                    possible.extend(after);
                    break;
                }
            }
        }
        next_id = s.next_id + 1;
        let under_way = possible.len() > 1;
        let last = s.m.clone();
        let clean = !disk.is_off() && s.db.failed().is_none() && rng.random_bool(0.2);
        s.running = None;
        s.reader = None;
        if clean && possible.len() == 1 {
            s.db.close().unwrap_or_default();
        }
        let mut next = if rng.random_bool(0.7) || disk.is_off() {
            disk.crash(rng.random())
        } else {
            disk.kill()
        };
        drop(s);
        // The next start may be cut off too, more than once.
        while rng.random_bool(0.4) {
            next.power_off_in(rng.random_range(1..60));
            let _ = Database::open_with(DIR, options(&next, 1, packed));
            next = next.crash(rng.random());
        }
        disk = next;
        let db = match Database::open_with(DIR, options(&disk, 1, packed)) {
            Ok(db) => db,
            Err(e) => panic!("{what}: does not open: {e}"),
        };
        let found = show(&db);
        let Some(mut is) = possible.iter().rev().find(|m| same(&found, m)).cloned() else {
            panic!(
                "{what}: found {found:#?}\n\nexpected {:#?}\n\nor one of {} others",
                possible.last().unwrap().shown(),
                possible.len() - 1
            );
        };
        if under_way {
            count(if is.seq == last.seq && is.shown() == last.shown() {
                &SEEN.undone
            } else {
                &SEEN.done
            });
        }
        if let Some(g) = is.groups.last().filter(|g| g.len == 0).cloned() {
            let len = found.groups.last().unwrap().len;
            for list in [&mut is.groups, &mut is.stream] {
                *list.last_mut().unwrap() = Group { len, ..g.clone() };
            }
            is.current().size += len;
        }
        check_places(&db, &is, &mut rng);
        // What is not needed any more can go: everything but the last file.
        if rng.random_bool(0.3) {
            db.flush_binary_logs(&[]).unwrap();
            is.rotate();
            db.checkpoint().unwrap();
            let to = is.files.last().unwrap().number;
            let report = db
                .purge_binary_logs_to(&format!("narwal-bin.{to:06}"))
                .unwrap();
            assert_eq!(report.notes, [""; 0], "{what}");
            is.purge(to);
            assert!(
                db.binlog_stats().disk_use <= 3 * (8 << 10),
                "{what}: {report:?}"
            );
            assert_eq!(show(&db), is.shown(), "{what}: purged of everything");
        }
        m = is;
        if rng.random_bool(0.5) {
            db.close().unwrap();
        } else {
            disk = disk.crash(rng.random());
        }
    }
}

#[test]
fn files_gtids_and_groups_outlive_any_crash_in_a_purge_flush_or_reset() {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse().ok());
    let one: Option<u64> = number("NARWAL_SEED");
    let n = number("NARWAL_SEEDS").unwrap_or(60);
    let seeds: Vec<u64> = one.map_or_else(|| (0..n).collect(), |s| vec![s]);
    for seed in seeds {
        let r = std::panic::catch_unwind(|| story(seed));
        assert!(r.is_ok(), "failed with NARWAL_SEED={seed}");
    }
    let seen = [
        ("chunks before the oldest file", &SEEN.across),
        ("purges", &SEEN.purged),
        ("purges kept back by a reader", &SEEN.kept),
        ("purges that removed segments", &SEEN.segments),
        ("steps found done", &SEEN.done),
        ("steps found undone", &SEEN.undone),
        ("groups read behind a reset", &SEEN.old),
    ];
    for (what, n) in seen {
        let n = n.load(Ordering::Relaxed);
        eprintln!("{what}: {n}");
        assert!(one.is_some() || n > 0, "{what}: never met");
    }
}
