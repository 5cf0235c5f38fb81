//! The store on a simulated disk that loses, tears and reorders what was not synced, and fails calls.
//!
//! One seed is one story: random transactions (with savepoints, rollbacks, duplicates, checkpoints, DDL, mode switches),
//! a crash or a fault at a random changing call, recovery, and checks; then it goes on with the recovered store.
//! A power failure has more than one outcome: several are made of each, and each is recovered and checked. Recovery crashes too.
//! `NARWAL_SEEDS` sets the number of seeds, `NARWAL_SEED` runs one; a failure prints its seed. More: testkit's `stories.rs`;
//! the long form is `./torture --simulate`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_binlog::{Event, EventReader, RowsKind, VirtualConfig};
use narwal_engine::*;
use narwal_log::sim::{Call, SimDisk};
use narwal_log::{DirReader, DirRecords, RecordKind, RecordRef};
use narwal_testkit::stories;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// How many outcomes of each power failure are looked at, besides the one that the story goes on with.
static OUTCOMES: LazyLock<u64> = LazyLock::new(|| {
    let n = std::env::var("NARWAL_OUTCOMES").ok();
    n.and_then(|n| n.parse().ok()).unwrap_or(1)
});

type Rows = BTreeMap<i64, (Option<i64>, String)>;

/// All that a client can see: rows of both tables (`h` has no key: a sorted list) and the names of `t`'s indexes.
#[derive(Debug, Clone, PartialEq, Default)]
struct Model {
    t: Rows,
    h: Vec<(i64, Option<i64>, String)>,
    indexes: Vec<String>,
}

const DIR: &str = "/data";

thread_local! {
    /// Whether this story's folder is encrypted.
    static ENCRYPTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether its commits are compressed, and how many such records were read.
    static COMPRESSED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static PACKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The disk as the store sees it.
fn through(disk: &SimDisk) -> Arc<dyn narwal_log::Disk> {
    let disk = Arc::new(disk.clone());
    if !ENCRYPTED.get() {
        return disk;
    }
    let key = format!("1;{}", "5a".repeat(32));
    let key = narwal_crypt::KeyFile::parse(Path::new("keys"), key.as_bytes()).unwrap();
    narwal_crypt::open_folder(
        disk,
        Path::new(DIR),
        Some(&key),
        narwal_crypt::Access::Serve,
    )
    .unwrap()
    .disk
}

thread_local! {
    /// This story's `binlog_oob_threshold` and memory of a write set: small, so that transactions are sent out of band
    /// and spill rows and locks after a few rows, or (0) as usual.
    static OOB: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    static SPILL: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// Its memory budget: also one so small that a checkpoint is cut into several transactions of the base.
    static MEMORY: std::cell::Cell<u64> = const { std::cell::Cell::new(4 << 20) };
    /// What the stories met: out-of-band commits, spills, local commits, checkpoints that were cut.
    static MET: std::cell::Cell<[u64; 4]> = const { std::cell::Cell::new([0; 4]) };
}

fn stat(db: &Database, name: &str) -> u64 {
    let stats = db.stats();
    stats.values.iter().find(|v| v.0 == name).unwrap().1
}

fn met(what: usize, n: u64) {
    let mut all = MET.get();
    all[what] += n;
    MET.set(all);
}

fn options(disk: &SimDisk, mode: u8) -> Options {
    Options {
        oob_threshold: match OOB.get() {
            0 => 1 << 20,
            n => n,
        },
        spill_bytes: SPILL.get(),
        flush_log_at_trx_commit: mode,
        segment_size: 32 << 10,
        max_binlog_size: 4096,
        background: false,
        disk: through(disk),
        compression: COMPRESSED.get().then_some(Compression {
            level: 1,
            // Chunks too, where they are tiny.
            min_len: if OOB.get() > 0 { 60 } else { 200 },
        }),
        memory_budget: MEMORY.get(),
        ..Options::default()
    }
}

fn read_model(db: &Database) -> Model {
    let cat = db.catalog();
    let mut m = Model::default();
    if let Some(t) = cat.table("d", "t") {
        let mut x = begin(db);
        for (id, k, c) in dump(&mut x, t, 0, ReadView::Snapshot) {
            m.t.insert(id, (k, c));
        }
        check_indexes(db, t);
        m.indexes = t.indexes.iter().map(|i| i.name.clone()).collect();
    }
    if let Some(h) = cat.table("d", "h") {
        m.h = dump(&mut begin(db), h, 0, ReadView::Snapshot);
        m.h.sort();
        check_indexes(db, h);
    }
    m
}

/// One random transaction. Returns the model after it if it committed; `Err` if the store failed.
fn transaction(db: &Database, rng: &mut StdRng, before: &Model) -> Result<Option<Model>> {
    let cat = db.catalog();
    let t = cat.table("d", "t").unwrap();
    let h = cat.table("d", "h").unwrap();
    let mut m = before.clone();
    let mut x = db.begin(TxnOptions {
        log_bin: rng.random_bool(0.85),
        ..TxnOptions::default()
    });
    let mut saves: Vec<(Savepoint, Model)> = Vec::new();
    let statements = match rng.random_range(0..20) {
        0 => rng.random_range(20..80),
        _ => rng.random_range(1..6),
    };
    for _ in 0..statements {
        match rng.random_range(0..20) {
            0 => saves.push((x.savepoint(), m.clone())),
            1 if !saves.is_empty() => {
                saves.truncate(rng.random_range(1..=saves.len()));
                let (s, then) = &saves[saves.len() - 1];
                x.rollback_to(s);
                m = then.clone();
                m.indexes = before.indexes.clone();
                if rng.random_bool(0.5) {
                    saves.pop();
                }
            }
            _ => {}
        }
        x.begin_statement(7, rng.random_bool(0.3).then_some(b"annotated"));
        let undo = m.clone();
        let id = rng.random_range(0..25i64);
        let k = rng.random_bool(0.8).then(|| rng.random_range(-3..3i64));
        let c = if rng.random_bool(0.1) {
            "x".repeat(rng.random_range(1..20))
        } else {
            format!("c{id}-{}", rng.random_range(0..1000))
        };
        if rng.random_bool(0.25) {
            if m.h.is_empty() || rng.random_bool(0.6) {
                x.insert(h, row(h, id, k, &c))?;
                m.h.push((id, k, c));
            } else {
                let n = rng.random_range(0..m.h.len());
                let (pk, old) = {
                    let mut s = x.scan(h, 0, KeyRange::all(), false, ReadView::Current, false)?;
                    for _ in 0..n {
                        s.next()?;
                    }
                    let i = s.next()?.unwrap();
                    (i.pk.to_vec(), decode(h, i.row))
                };
                let r = x
                    .lock_row(h, &pk, LockMode::Exclusive, LockWait::Wait)?
                    .unwrap();
                m.h.remove(m.h.iter().position(|v| *v == old).unwrap());
                if rng.random_bool(0.5) {
                    x.delete(h, &pk, &r)?;
                } else {
                    x.update(h, &pk, &r, row(h, id, k, &c))?;
                    m.h.push((id, k, c));
                }
            }
        } else {
            match x.lock_row(t, &key(id), LockMode::Exclusive, LockWait::Wait)? {
                None => {
                    x.insert(t, row(t, id, k, &c))?;
                    m.t.insert(id, (k, c));
                }
                Some(r) if rng.random_bool(0.3) => {
                    x.delete(t, &key(id), &r)?;
                    m.t.remove(&id);
                }
                Some(r) => {
                    let to = if rng.random_bool(0.2) {
                        rng.random_range(0..25)
                    } else {
                        id
                    };
                    match x.update(t, &key(id), &r, row(t, to, k, &c)) {
                        Ok(()) => {
                            m.t.remove(&id);
                            m.t.insert(to, (k, c));
                        }
                        Err(EngineError::Duplicate { .. }) => {
                            assert!(to != id && m.t.contains_key(&to))
                        }
                        Err(e) => return Err(e),
                    }
                }
            }
        }
        if rng.random_bool(0.1) {
            x.rollback_statement();
            m = undo;
        } else {
            x.end_statement();
        }
    }
    if rng.random_bool(0.1) {
        x.rollback();
        return Ok(None);
    }
    m.h.sort();
    // Without a write there is no commit.
    let info = x.commit()?;
    met(2, u64::from(info.seq != 0 && info.gtid.is_empty()));
    Ok((info.seq != 0).then_some(m))
}

/// ALTER TABLE that writes every row anew.
fn rebuild(db: &Database, name: &str) -> Result<()> {
    let def = db.catalog().table("d", name).unwrap().def.clone();
    let change = CatalogChange::RebuildTable {
        db: "d".into(),
        name: name.into(),
        was: Box::new(def.clone()),
        def,
    };
    let statement = Ddl {
        sql: format!("ALTER TABLE {name} FORCE"),
        db: "d".into(),
        changes: vec![change],
        ..Ddl::default()
    };
    let mut fill = |fill: &mut TableFill<'_>| {
        let (old, new) = (fill.old("d", name)?, fill.new_table("d", name)?);
        fill.each_row(&old, &mut |fill, row| fill.insert(&new, row, &[1]))
    };
    db.ddl_filled(
        statement,
        &TxnOptions::default(),
        FillRows::Local,
        &mut fill,
    )?;
    Ok(())
}

fn change_schema(db: &Database, rng: &mut StdRng, before: &Model) -> Result<Model> {
    let mut m = before.clone();
    let (d, t) = ("d".to_owned(), "t".to_owned());
    if rng.random_bool(0.4) {
        rebuild(db, if rng.random_bool(0.5) { "t" } else { "h" })?;
        return Ok(m);
    }
    if rng.random_bool(0.2) {
        ddl(
            db,
            "TRUNCATE TABLE t",
            vec![CatalogChange::TruncateTable { db: d, name: t }],
        )?;
        m.t.clear();
    } else if m.indexes.iter().any(|i| i == "extra") {
        ddl(
            db,
            "DROP INDEX extra ON t",
            vec![CatalogChange::DropIndex {
                db: d,
                table: t,
                index: "extra".into(),
            }],
        )?;
        m.indexes.retain(|i| i != "extra");
    } else {
        let change = CatalogChange::CreateIndex {
            db: d,
            table: t,
            index: index("extra", false, &[2, 1]),
        };
        ddl(db, "CREATE INDEX extra ON t (c, k)", vec![change])?;
        m.indexes.push("extra".into());
    }
    Ok(m)
}

/// A closed log folder, in order and by place.
struct Folder {
    reader: DirReader,
    random: DirRecords,
}

impl Records for Folder {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        let record = self.reader.next()?;
        let packed = record.is_some_and(|r| r.kind == RecordKind::PackedCommit);
        PACKED.set(PACKED.get() + u64::from(packed));
        Ok(record)
    }

    fn read_at(&mut self, lsn: u64, buf: &mut Vec<u8>) -> Result<RecordKind> {
        Ok(self.random.read_at(lsn, buf)?.kind)
    }
}

/// Rebuilds the rows from the log's events alone, and checks GTIDs and positions on the way.
fn replay_events(disk: &SimDisk) -> (Model, u64) {
    let mut t: Rows = BTreeMap::new();
    let mut h: Vec<(i64, Option<i64>, String)> = Vec::new();
    let (mut next, mut commits) = (1, 0);
    let mut position = 0;
    let dir = Path::new(DIR).join("log");
    let records = Folder {
        reader: DirReader::open(through(disk), &dir).unwrap().unwrap(),
        random: DirRecords::open(through(disk), &dir),
    };
    let mut reader = GroupReader::new(records, VirtualConfig::default(), None).with_local();
    while let Some(r) = reader.next_group().unwrap() {
        commits += 1;
        assert_eq!(r.seq, commits, "one order");
        // Events of out-of-band transactions too, stamped by the reader.
        let mut group = Vec::new();
        while let Some(e) = reader.next_event().unwrap() {
            group.extend_from_slice(e);
        }
        assert_eq!(group.len() as u64, r.len);
        let local = r.kind == GroupKind::Local;
        let mut table = String::new();
        let mut map = None;
        for e in EventReader::new(&group) {
            let e = e.unwrap();
            let start = e.header.end_log_pos.saturating_sub(e.header.event_size);
            match e.decode().unwrap() {
                Event::Gtid(g) => {
                    assert_eq!(g.gtid.seq, next, "GTIDs without gap");
                    next += 1;
                    assert!(
                        position == 0 || start <= position,
                        "positions are contiguous or begin a file"
                    );
                }
                Event::TableMap(m) => {
                    table = m.table.to_owned();
                    map = Some(m);
                }
                Event::Query(q) if q.sql.starts_with(b"TRUNCATE") => t.clear(),
                Event::Rows(rows) => {
                    for change in rows.rows(map.as_ref().unwrap()).unwrap() {
                        let change = change.unwrap();
                        // The test's own reading of the image: int, nullable int, varchar(20).
                        let read = |b: &[u8]| {
                            let mut at = 1;
                            let mut int = |null: bool| {
                                if null {
                                    return None;
                                }
                                at += 4;
                                Some(i64::from(i32::from_le_bytes(
                                    b[at - 4..at].try_into().unwrap(),
                                )))
                            };
                            let id = int(false).unwrap();
                            let k = int(b[0] & 2 != 0);
                            let n = usize::from(b[at]);
                            (
                                id,
                                k,
                                String::from_utf8(b[at + 1..at + 1 + n].to_vec()).unwrap(),
                            )
                        };
                        let (before, after) = (change.before.map(read), change.after.map(read));
                        assert_eq!(after.is_some(), rows.kind != RowsKind::Delete);
                        if let Some(b) = before {
                            if table == "t" {
                                assert_eq!(
                                    t.remove(&b.0),
                                    Some((b.1, b.2)),
                                    "the before image is the row"
                                );
                            } else {
                                h.remove(
                                    h.iter()
                                        .position(|v| *v == b)
                                        .expect("the before image is a row"),
                                );
                            }
                        }
                        if let Some(a) = after {
                            if table == "t" {
                                assert_eq!(t.insert(a.0, (a.1, a.2)), None, "a written row is new");
                            } else {
                                h.push(a);
                            }
                        }
                    }
                }
                _ => {}
            }
            if !local {
                position = e.header.end_log_pos;
            }
        }
    }
    reader.records_after_gap().reader.end().unwrap();
    h.sort();
    (
        Model {
            t,
            h,
            indexes: Vec::new(),
        },
        commits,
    )
}

fn story(seed: u64) {
    ENCRYPTED.set(seed % 2 == 1);
    COMPRESSED.set(seed % 3 == 1);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut disk = SimDisk::new();
    // history[n] = the state after commit n of this story; the first two are DDL.
    let mut history: Vec<Model> = vec![Model::default()];
    let mut mode = [1, 1, 2, 0][rng.random_range(0..4)];
    MEMORY.set([4 << 20, 64 << 10, 16 << 10][rng.random_range(0..3)]);
    let small = !(seed / 2).is_multiple_of(3);
    OOB.set(if small { rng.random_range(1..1500) } else { 0 });
    SPILL.set(if small { rng.random_range(1..4000) } else { 0 });
    let mut db = Some(Database::open_with(DIR, options(&disk, mode)).unwrap());
    create(
        db.as_ref().unwrap(),
        vec![table_def("t", true, false), table_def("h", false, false)],
    );
    db.as_ref().unwrap().sync().unwrap();
    for _ in 0..3 {
        history.push(read_model(db.as_ref().unwrap()));
    }
    for round in 0..4 {
        let d = db.take().unwrap();
        let mut acked = history.len() - 1;
        // What breaks: the power, or one call.
        let fault = rng.random_range(0..3);
        if fault < 2 {
            disk.power_off_in(rng.random_range(1..400));
        } else {
            let call = Call::CHANGING[rng.random_range(0..Call::CHANGING.len())];
            let errno = if rng.random_bool(0.5) {
                libc::ENOSPC
            } else {
                libc::EIO
            };
            disk.fail_nth(call, rng.random_range(1..60), errno);
        }
        // A commit that failed may or may not survive: at most the last ones in log order.
        let mut maybe: Vec<Model> = Vec::new();
        for _ in 0..rng.random_range(5..60) {
            let base = maybe.last().or(history.last()).unwrap().clone();
            if rng.random_bool(0.05) {
                mode = [0, 1, 2][rng.random_range(0..3)];
                d.set_flush_log_at_trx_commit(mode);
            }
            let r = match rng.random_range(0..40) {
                0 => d.checkpoint().map(|()| None),
                1 => d.sync().map(|()| {
                    acked = history.len() - 1;
                    None
                }),
                2 => change_schema(&d, &mut rng, &base).map(Some),
                _ => transaction(&d, &mut rng, &base),
            };
            match r {
                Ok(Some(m)) => {
                    history.push(m);
                    if mode == 1 {
                        acked = history.len() - 1;
                    }
                }
                Ok(None) => {}
                // Refused cleanly: nothing happened. The store goes on or not.
                Err(EngineError::DiskFull(_)) if d.failed().is_none() && !disk.is_off() => {}
                Err(_) => {
                    maybe.clear();
                    break;
                }
            }
        }
        // The process dies, or the machine.
        let dead = rng.random_bool(0.7) || disk.is_off();
        let mut after = After {
            seed,
            round,
            mode,
            acked,
            history: &mut history,
        };
        let next = if dead {
            for n in 1..=*OUTCOMES {
                let image = disk.crash(seed ^ round ^ n << 32);
                after.recover(image, &mut rng, false);
            }
            disk.crash(seed ^ round)
        } else {
            disk.kill()
        };
        met(0, stat(&d, "Narwal_oob_commits"));
        met(1, stat(&d, "Narwal_spills"));
        met(3, stat(&d, "Narwal_checkpoint_cuts"));
        drop(d);
        let (now, d) = after.recover(next, &mut rng, true);
        disk = now;
        db = Some(d);
    }
}

/// A round's end: what is known when the disk comes up again.
struct After<'a> {
    seed: u64,
    round: u64,
    mode: u8,
    /// So many commits must be there.
    acked: usize,
    history: &'a mut Vec<Model>,
}

impl After<'_> {
    /// Starts on what a crash has left, checks what is found, and takes it for the history from now on if it goes on.
    fn recover(&mut self, disk: SimDisk, rng: &mut StdRng, goes_on: bool) -> (SimDisk, Database) {
        let at = format!("seed {} round {}", self.seed, self.round);
        stories::crashed();
        let (disk, d) = self.open(disk, rng, &at);
        let damaged = d.scrub().unwrap();
        assert!(damaged.is_empty(), "{at}: {damaged:?}");
        let found = read_model(&d);
        let commits = stat(&d, "Narwal_visible_seq") as usize;
        let acked = self.acked;
        assert!(
            commits >= acked,
            "{at}: acknowledged {acked}, found {commits} commits"
        );
        if let Some(then) = self.history.get(commits) {
            assert_eq!(found, *then, "{at}: not the state after commit {commits}");
        } else {
            // One that was in flight when the store failed reached the disk.
            assert_eq!(commits, self.history.len(), "{at}");
        }
        let (events, n) = replay_events(&disk);
        assert_eq!(n as usize, commits, "{at}: commits in the log");
        assert_eq!(
            (&events.t, &events.h),
            (&found.t, &found.h),
            "{at}: events and tables differ"
        );
        if goes_on {
            self.history.truncate(commits);
            self.history.push(found);
        }
        (disk, d)
    }

    /// A start, which the power may fail as well.
    fn open(&self, mut disk: SimDisk, rng: &mut StdRng, at: &str) -> (SimDisk, Database) {
        loop {
            if rng.random_bool(0.25) {
                disk.power_off_in(rng.random_range(1..40));
            }
            match Database::open_with(DIR, options(&disk, self.mode)) {
                Ok(d) if !disk.is_off() => {
                    disk.power_stays();
                    return (disk, d);
                }
                // It may have been at its end, and clean up.
                _ if disk.is_off() => {
                    stories::crashed();
                    disk = disk.crash(rng.random());
                }
                Err(e) => panic!("{at}: does not open: {e}"),
                Ok(_) => unreachable!(),
            }
        }
    }
}

#[test]
fn any_crash_leaves_a_prefix_with_everything_acknowledged() {
    static PACKED_OF_ALL: AtomicU64 = AtomicU64::new(0);
    static MET_BY_ALL: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    let told = stories::tell(60, story, || {
        PACKED_OF_ALL.fetch_add(PACKED.take(), Relaxed);
        for (all, n) in MET_BY_ALL.iter().zip(MET.take()) {
            all.fetch_add(n, Relaxed);
        }
    });
    let met = MET_BY_ALL.each_ref().map(|n| n.load(Relaxed));
    assert!(
        told.one || PACKED_OF_ALL.load(Relaxed) > 0 && met.iter().all(|n| *n > 20),
        "compressed records were met, out-of-band commits, spills and local commits: {met:?}"
    );
}
