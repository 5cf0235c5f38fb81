//! Each call of the disk fails once, one run for each: a story of statements, large transactions, DDL, XA, checkpoints,
//! purges, backups, a restore, orderly ends and kills is told again and again, and in each telling another call fails.
//!
//! Whatever the call was: what was acknowledged is there afterwards, what failed has not happened (or, if the log has
//! stopped, may have happened as a whole), reads give the right rows or an error, and the folder opens on a healthy disk.
//! `NARWAL_FAULTS=all` runs every call with every error, plain and encrypted; else each kind of call is sampled. It also takes
//! kinds of calls and folders, as in `NARWAL_FAULTS=Write,Sync,encrypted`.
//! `NARWAL_TABLE=1` prints what came of it, place by place; docs/faults.md explains the rows.
#![allow(clippy::unwrap_used, clippy::type_complexity, missing_docs)]

mod common;
use common::*;
use narwal_engine::backup::*;
use narwal_engine::xa::{XaContext, Xid};
use narwal_engine::*;
use narwal_log::Disk;
use narwal_log::sim::{Call, SimDisk};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const DIR: &str = "/data";

type Values = (i64, Option<i64>, String);

/// All that a client can see.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    /// Rows of the tables that there are, in order.
    tables: BTreeMap<String, Vec<Values>>,
    /// Names of their indexes.
    indexes: BTreeMap<String, Vec<String>>,
    /// Prepared XA transactions.
    prepared: usize,
}

impl Model {
    fn insert(&mut self, table: &str, row: Values) {
        let rows = self.tables.get_mut(table).unwrap();
        rows.push(row);
        rows.sort();
    }
}

struct Run {
    disk: SimDisk,
    encrypted: bool,
    db: Option<Database>,
    /// How many folders were made, so that each has another name.
    folders: u32,
    last_backup: Option<PathBuf>,
}

type Step = (&'static str, fn(&mut Run, &mut Model) -> Result<()>);

fn through(disk: &SimDisk, dir: &Path, encrypted: bool) -> Result<Arc<dyn Disk>> {
    let disk = Arc::new(disk.clone());
    if !encrypted {
        return Ok(disk);
    }
    let key = format!("1;{}", "5a".repeat(32));
    let key = narwal_crypt::KeyFile::parse(Path::new("keys"), key.as_bytes()).unwrap();
    let opened = narwal_crypt::open_folder(disk, dir, Some(&key), narwal_crypt::Access::Serve);
    Ok(opened.map_err(|e| EngineError::Io(e.to_string()))?.disk)
}

fn open(disk: &SimDisk, dir: &Path, encrypted: bool) -> Result<Database> {
    let options = Options {
        segment_size: 16 << 10,
        max_binlog_size: 8 << 10,
        binlog_state_interval: 4096,
        oob_threshold: 1500,
        spill_bytes: 6000,
        background: false,
        memory_budget: 4 << 20,
        disk: through(disk, dir, encrypted)?,
        ..Options::default()
    };
    Database::open_with(dir, options)
}

/// What clients see; an error if a read fails.
fn read(db: &Database) -> Result<Model> {
    let mut m = Model {
        prepared: db.xa_prepared().len(),
        ..Model::default()
    };
    let catalog = db.catalog();
    for name in ["t", "h", "u"] {
        let Some(t) = catalog.table("d", name) else {
            continue;
        };
        for i in 0..t.indexes.len().max(1) {
            let mut rows = Vec::new();
            let mut x = begin(db);
            let mut s = x.scan(t, i, KeyRange::all(), false, ReadView::Snapshot, false)?;
            while let Some(item) = s.next()? {
                rows.push(decode(t, item.row));
            }
            drop(s);
            rows.sort();
            let first = m.tables.entry(name.into()).or_insert_with(|| rows.clone());
            assert_eq!(*first, rows, "{name}: index {i} and the first one differ");
        }
        // One by one, too.
        if name == "t" {
            let mut x = begin(db);
            for (id, k, c) in m.tables[name].clone() {
                let row = x.get(t, &key(id))?.unwrap();
                assert_eq!(decode(t, &row), (id, k, c));
            }
        }
        let names = t.indexes.iter().map(|i| i.name.clone());
        let names = names.filter(|n| !n.is_empty()).collect();
        m.indexes.insert(name.into(), names);
    }
    Ok(m)
}

fn put_table(r: &mut Run, m: &mut Model, def: TableDef) -> Result<()> {
    let (name, indexes) = (def.name.clone(), &def.indexes);
    let names = indexes.iter().map(|i| i.name.clone()).collect();
    m.tables.insert(name.clone(), Vec::new());
    m.indexes.insert(name, names);
    ddl(
        r.db(),
        "CREATE TABLE ...",
        vec![CatalogChange::CreateTable(def)],
    )?;
    Ok(())
}

/// A transaction that inserts rows `ids` into a table, five of them a statement, and commits; with a savepoint that is
/// rolled back to in the middle.
fn insert_rows(r: &Run, m: &mut Model, table: &str, ids: std::ops::Range<i64>) -> Result<()> {
    let db = r.db();
    let catalog = db.catalog();
    let t = catalog.table("d", table).unwrap();
    let mut x = db.begin(TxnOptions::default());
    let ids: Vec<i64> = ids.collect();
    for (i, statement) in ids.chunks(5).enumerate() {
        if i == 2 {
            let save = x.savepoint();
            x.begin_statement(1, None);
            for id in 5000..5030 {
                x.insert(t, row(t, id, None, &format!("u{id}")))?;
            }
            x.end_statement();
            x.rollback_to(&save);
        }
        x.begin_statement(1, None);
        for id in statement {
            let values = (*id, (id % 3 > 0).then_some(id % 7), format!("c{id}"));
            x.insert(t, row(t, values.0, values.1, &values.2))?;
            m.insert(table, values);
        }
        x.end_statement();
    }
    x.commit()?;
    Ok(())
}

impl Run {
    fn db(&self) -> &Database {
        self.db.as_ref().unwrap()
    }

    fn open(&mut self) -> Result<()> {
        self.db = Some(open(&self.disk, Path::new(DIR), self.encrypted)?);
        Ok(())
    }

    fn folder(&mut self, what: &str) -> PathBuf {
        self.folders += 1;
        format!("/{what}{}", self.folders).into()
    }

    fn backup(&mut self, incremental: bool) -> Result<()> {
        let to: Arc<dyn Disk> = Arc::new(self.disk.clone());
        let dir = self.folder("backup");
        let parent = self.last_backup.clone().filter(|_| incremental);
        let mut sink = FolderSink::create(to.clone(), &dir, parent.as_deref())?;
        let mut backup = self.db().begin_backup(BackupOptions::default())?;
        while let Some(piece) = backup.next_piece()? {
            sink.put(&piece)?;
        }
        if let Some(keys) = self.disk.content(&Path::new(DIR).join("keys")) {
            sink.put_file("keys", &keys)?;
        }
        sink.finish("test", backup.end().unwrap().clone())?;
        self.last_backup = Some(dir.clone());
        Ok(())
    }

    fn verify(&mut self) -> Result<()> {
        let to: Arc<dyn Disk> = Arc::new(self.disk.clone());
        let chain = Chain::open(to, self.last_backup.as_ref().unwrap(), &[])?;
        let found = chain.verify(|_| Ok(()))?;
        match found.first() {
            // A file that can't be read is named as damaged; the next look must find nothing.
            Some(d) if d.what.contains("os error") => Err(EngineError::Io(d.to_string())),
            _ => {
                assert_eq!(found, []);
                Ok(())
            }
        }
    }

    /// Restores the last backup; what was opened of it.
    fn restore(&mut self) -> Result<Database> {
        let dir = self.folder("restored");
        let to: Arc<dyn Disk> = Arc::new(self.disk.clone());
        let whole = (|| {
            let chain = Chain::open(to.clone(), self.last_backup.as_ref().unwrap(), &[])?;
            let end = chain.manifest().end.clone();
            begin_folder(&*to, &dir)?;
            restore_files(&chain, &to, &dir, |_| Ok(()))?;
            let through = through(&self.disk, &dir, self.encrypted)?;
            narwal_log::cut_behind(&*through, &dir.join("log"), end.log_end)?;
            end_folder(&*to, &dir)
        })();
        let opened = open(&self.disk, &dir, self.encrypted);
        if let Err(e) = whole {
            let begun = self
                .disk
                .paths()
                .iter()
                .any(|p| p.starts_with(&dir) && !p.ends_with("lock"));
            let empty = opened
                .as_ref()
                .is_ok_and(|db| db.catalog().table("d", "t").is_none());
            assert!(
                opened.is_err() || (!begun || empty) || read(opened.as_ref().unwrap()).is_ok(),
                "{e}"
            );
            return Err(e);
        }
        opened
    }
}

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

fn xid() -> Xid {
    Xid::new(1, b"branch", b"q").unwrap()
}

const STEPS: &[Step] = &[
    ("open", |r, _| r.open()),
    ("create database", |r, _| {
        let d = DatabaseDef {
            name: "d".into(),
            collation: narwal_types::Collation::Utf8mb4GeneralCi,
            comment: String::new(),
        };
        ddl(
            r.db(),
            "CREATE DATABASE d",
            vec![CatalogChange::PutDatabase(d)],
        )?;
        Ok(())
    }),
    ("create table", |r, m| {
        put_table(r, m, table_def("t", true, true))
    }),
    ("create table", |r, m| {
        put_table(r, m, table_def("h", false, false))
    }),
    ("insert", |r, m| insert_rows(r, m, "t", 0..20)),
    ("insert", |r, m| insert_rows(r, m, "h", 0..20)),
    ("checkpoint", |r, _| r.db().checkpoint()),
    ("large transaction", |r, m| insert_rows(r, m, "t", 100..400)),
    ("select", |r, m| {
        assert_eq!(read(r.db())?, *m);
        Ok(())
    }),
    ("large rollback", |r, _| {
        let db = r.db();
        let t = db.catalog().table("d", "t").unwrap().clone();
        let mut x = db.begin(TxnOptions::default());
        x.begin_statement(1, None);
        for id in 1000..1200 {
            x.insert(&t, row(&t, id, None, &format!("c{id}")))?;
        }
        x.end_statement();
        x.rollback();
        Ok(())
    }),
    ("add index", |r, m| {
        let change = CatalogChange::CreateIndex {
            db: "d".into(),
            table: "t".into(),
            index: index("extra", false, &[2, 1]),
        };
        m.indexes.get_mut("t").unwrap().push("extra".into());
        ddl(r.db(), "CREATE INDEX extra ON t (c, k)", vec![change])?;
        Ok(())
    }),
    ("alter table, copy", |r, _| rebuild(r.db(), "t")),
    ("checkpoint", |r, _| r.db().checkpoint()),
    ("select", |r, m| {
        assert_eq!(read(r.db())?, *m);
        Ok(())
    }),
    ("xa prepare", |r, m| {
        let db = r.db();
        let h = db.catalog().table("d", "h").unwrap().clone();
        let mut b = db.xa_begin(&xid())?;
        let mut x = db.begin(TxnOptions::default());
        x.begin_statement(1, None);
        x.insert(&h, row(&h, 7000, None, "xa"))?;
        x.end_statement();
        m.prepared = 1;
        let reserved = b.prepare(x, &XaContext::default())?;
        db.wait_committed(&reserved)
    }),
    ("close", |r, _| {
        let closed = r.db().close();
        r.db = None;
        closed
    }),
    ("open", |r, _| r.open()),
    ("xa commit", |r, m| {
        let db = r.db();
        m.prepared = 0;
        m.insert("h", (7000, None, "xa".into()));
        let mut b = db.xa_take(&xid())?;
        let reserved = b.end(true, &XaContext::default(), GtidChoice::default(), None)?;
        db.wait_committed(&reserved)
    }),
    ("update and delete", |r, m| {
        let db = r.db();
        let t = db.catalog().table("d", "t").unwrap().clone();
        let mut x = db.begin(TxnOptions::default());
        x.begin_statement(1, None);
        for id in 100..130 {
            let old = x.lock_row(&t, &key(id), LockMode::Exclusive, LockWait::Wait)?;
            let old = old.unwrap();
            let rows = m.tables.get_mut("t").unwrap();
            let at = rows.iter().position(|v| v.0 == id).unwrap();
            if id % 2 == 0 {
                x.delete(&t, &key(id), &old)?;
                rows.remove(at);
            } else {
                x.update(&t, &key(id), &old, row(&t, id, Some(99), &format!("n{id}")))?;
                rows[at] = (id, Some(99), format!("n{id}"));
            }
        }
        x.end_statement();
        x.commit()?;
        Ok(())
    }),
    ("flush binary logs", |r, _| {
        r.db().flush_binary_logs(&[]).map(|_| ())
    }),
    ("checkpoint", |r, _| r.db().checkpoint()),
    ("purge binary logs", |r, _| {
        let last = r.db().binlog_files().pop().unwrap();
        r.db().purge_binary_logs_to(&last.name).map(|_| ())
    }),
    ("create table", |r, m| {
        put_table(r, m, table_def("u", true, false))
    }),
    ("insert", |r, m| insert_rows(r, m, "u", 0..20)),
    ("truncate table", |r, m| {
        let change = CatalogChange::TruncateTable {
            db: "d".into(),
            name: "u".into(),
        };
        m.tables.get_mut("u").unwrap().clear();
        ddl(r.db(), "TRUNCATE TABLE u", vec![change])?;
        Ok(())
    }),
    ("backup", |r, _| r.backup(false)),
    ("verify backup", |r, _| r.verify()),
    ("drop table", |r, m| {
        let change = CatalogChange::DropTable {
            db: "d".into(),
            name: "u".into(),
        };
        m.tables.remove("u");
        m.indexes.remove("u");
        ddl(r.db(), "DROP TABLE u", vec![change])?;
        Ok(())
    }),
    ("insert", |r, m| insert_rows(r, m, "t", 20..30)),
    ("incremental backup", |r, _| r.backup(true)),
    ("restore", |r, m| {
        let restored = r.restore()?;
        assert_eq!(read(&restored)?, *m);
        Ok(())
    }),
    ("large transaction", |r, m| insert_rows(r, m, "h", 400..700)),
    ("kill", |r, _| {
        // The database goes with the disk that it has written to.
        let disk = r.disk.kill();
        r.db = None;
        r.disk = disk;
        Ok(())
    }),
    ("open after a kill", |r, _| r.open()),
    ("select", |r, m| {
        assert_eq!(read(r.db())?, *m);
        Ok(())
    }),
    ("read the binary log", |r, _| {
        let mut reader = r.db().binlog_reader(ReadStart::Oldest)?;
        while reader.next_group()?.is_some() {
            while reader.next_event()?.is_some() {}
        }
        Ok(())
    }),
    ("reset master", |r, _| r.db().reset_master(None)),
    ("checkpoint", |r, _| r.db().checkpoint()),
    ("insert", |r, m| insert_rows(r, m, "t", 30..40)),
    ("close", |r, _| {
        let closed = r.db().close();
        r.db = None;
        closed
    }),
    ("open", |r, _| r.open()),
    ("select", |r, m| {
        assert_eq!(read(r.db())?, *m);
        Ok(())
    }),
];

/// What happened to a call that failed.
#[derive(Debug, Default)]
struct Seen {
    /// Not reached: the story has fewer such calls.
    over: bool,
    place: String,
    /// The step, what it answered, and what came of a second try.
    what: Vec<String>,
}

fn place(path: &Path) -> String {
    let text = path.to_string_lossy();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of = |s: &str| text.starts_with(s);
    if of("/backup") {
        "backup".into()
    } else if of("/restored") {
        "restored folder".into()
    } else if of("/data/spill") {
        "spill".into()
    } else if of("/data/log") {
        "log".into()
    } else if name.contains("base.redb") {
        "base".into()
    } else if name == "keys" {
        "keys".into()
    } else if text == "/data" {
        "data folder".into()
    } else if text.is_empty() {
        "removed file".into()
    } else {
        name.into_owned()
    }
}

fn code(e: &EngineError) -> String {
    e.to_sql().code.to_string()
}

/// Where a story may begin: no database is open, so the disk is all that there is.
struct Start {
    /// The first step.
    step: usize,
    disk: SimDisk,
    model: Model,
    folders: u32,
    last_backup: Option<PathBuf>,
}

/// Tells the story with the `n`-th call of a kind failing, from the last place on where that call is still to come.
fn story(call: Call, n: u64, errno: i32, encrypted: bool, starts: &[Start]) -> Seen {
    let start = starts.iter().rfind(|s| s.disk.count(call) < n).unwrap();
    let disk = start.disk.fork();
    disk.fail_nth(call, n - disk.count(call), errno);
    let mut faulty = disk.clone();
    let mut r = Run {
        disk,
        encrypted,
        db: None,
        folders: start.folders,
        last_backup: start.last_backup.clone(),
    };
    let mut seen = Seen::default();
    let mut m = start.model.clone();
    let mut or = None;
    'steps: for (name, step) in &STEPS[start.step..] {
        if *name == "kill" && faulty.hits().is_empty() {
            // The number goes on counting on the disk that goes on.
            let mut after = m.clone();
            step(&mut r, &mut after).unwrap();
            let now = r.disk.count(call);
            if n > now {
                r.disk.fail_nth(call, n - now, errno);
            }
            faulty = r.disk.clone();
            continue;
        }
        let mut after = m.clone();
        if let Err(e) = step(&mut r, &mut after) {
            let first = code(&e);
            assert!(!faulty.hits().is_empty(), "{name}: {e}");
            let stopped = r.db.as_ref().and_then(Database::failed);
            if let Some(why) = stopped {
                seen.what.push(format!("{name}: {first}, the log stops"));
                // It says so to everybody, and reads go on.
                let t = r.db().catalog().table("d", "t").cloned();
                if let Some(t) = t {
                    let mut x = begin(r.db());
                    let again = x.insert(&t, row(&t, 9999, None, "z")).map(|_| ());
                    let again = again.and_then(|()| x.commit().map(|_| ()));
                    let e = again.expect_err("a stopped log took a commit");
                    assert_eq!(e.to_sql().code, 1598, "{why}: {e}");
                    assert_eq!(read(r.db()).unwrap(), m, "{name}: reads of a stopped log");
                }
                or = Some(after);
                break 'steps;
            }
            if let Some(db) = &r.db {
                match read(db) {
                    Ok(now) => assert_eq!(now, m, "{name} failed ({e}), and something was done"),
                    Err(e) => seen.what.push(format!("reads fail then: {}", code(&e))),
                }
            }
            let mut again = m.clone();
            if *name == "close" && r.db.is_none() {
                // What it would have done, the next start does.
                seen.what.push(format!("{name}: {first}"));
                continue;
            }
            match step(&mut r, &mut again) {
                Ok(()) => {
                    seen.what.push(format!("{name}: {first}, then done"));
                    m = again;
                }
                Err(e) => {
                    seen.what
                        .push(format!("{name}: {first}, again {}, restart", code(&e)));
                    or = Some(again);
                    break 'steps;
                }
            }
            continue;
        }
        m = after;
        // Before the fault all is as in the story without one.
        if let Some(db) = r.db.as_ref().filter(|_| !faulty.hits().is_empty()) {
            match read(db) {
                Ok(now) => assert_eq!(now, m, "after {name}"),
                Err(e) => {
                    let first = code(&e);
                    assert!(!faulty.hits().is_empty(), "{e}");
                    match read(db) {
                        Ok(now) => {
                            assert_eq!(now, m, "after {name}");
                            seen.what.push(format!("read: {first}, then right"));
                        }
                        Err(e) => {
                            seen.what
                                .push(format!("read: {first}, again {}, restart", code(&e)));
                            break 'steps;
                        }
                    }
                }
            }
        }
    }
    let hits = faulty.hits();
    seen.over = hits.is_empty();
    seen.place = hits.first().map(|h| place(&h.1)).unwrap_or_default();
    // A healthy disk, after a kill or with the power gone.
    let healthy = match n % 2 {
        0 => r.disk.kill(),
        _ => r.disk.crash(n),
    };
    healthy.heal();
    r.db = None;
    let db = open(&healthy, Path::new(DIR), encrypted)
        .unwrap_or_else(|e| panic!("a healthy disk is refused after {:?}: {e}", seen.what));
    let now = read(&db).unwrap();
    assert!(
        now == m || Some(&now) == or.as_ref(),
        "after a restart: {:?}\n{now:?}\n{m:?}",
        seen.what
    );
    db.checkpoint().unwrap();
    assert_eq!(read(&db).unwrap(), now);
    let left: Vec<_> = healthy
        .paths()
        .into_iter()
        .filter(|p| p.starts_with("/data/spill"))
        .collect();
    if now.prepared == 0 {
        assert_eq!(
            left,
            Vec::<PathBuf>::new(),
            "files of large transactions are left: {:?}",
            seen.what
        );
    }
    db.close().unwrap();
    drop(db);
    let db = open(&healthy, Path::new(DIR), encrypted).unwrap();
    assert_eq!(read(&db).unwrap(), now);
    if seen.what.is_empty() {
        seen.what.push("nobody notices".into());
    }
    seen
}

/// How many calls of each kind a story without faults makes, and where one with a fault may begin.
fn counts(encrypted: bool) -> (BTreeMap<Call, u64>, Vec<Start>) {
    let mut r = Run {
        disk: SimDisk::new(),
        encrypted,
        db: None,
        folders: 0,
        last_backup: None,
    };
    let mut m = Model::default();
    let mut starts = Vec::new();
    for (i, (name, step)) in STEPS.iter().enumerate() {
        if r.db.is_none() {
            starts.push(Start {
                step: i,
                disk: r.disk.fork(),
                model: m.clone(),
                folders: r.folders,
                last_backup: r.last_backup.clone(),
            });
        }
        let done = step(&mut r, &mut m);
        done.unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let counts = Call::ALL.into_iter().map(|c| (c, r.disk.count(c)));
    (counts.collect(), starts)
}

#[test]
fn every_call_of_the_disk_fails_once() {
    let wanted = std::env::var("NARWAL_FAULTS").unwrap_or_default();
    let all = !wanted.is_empty();
    let has = |word: &str| wanted == "all" || wanted.split(',').any(|w| w == word);
    let mut cases = Vec::new();
    let [plain, sealed] = [false, true].map(counts);
    for (encrypted, counts) in [(false, &plain.0), (true, &sealed.0)] {
        let folder = if encrypted { "encrypted" } else { "plain" };
        let any = !["encrypted", "plain"].map(has).contains(&true);
        if all && !any && !has(folder) {
            continue;
        }
        for (&call, &calls) in counts {
            let named = Call::ALL.iter().any(|c| has(&format!("{c:?}")));
            if all && named && !has(&format!("{call:?}")) {
                continue;
            }
            println!(
                "{call:?}: {calls} calls{}",
                if encrypted { ", encrypted" } else { "" }
            );
            let step = match (all, encrypted) {
                (true, _) => 1,
                (false, false) => calls.div_ceil(15).max(1),
                (false, true) => calls.div_ceil(4).max(1),
            };
            for errno in [libc::EIO, libc::ENOSPC] {
                let takes_room = matches!(
                    call,
                    Call::Write
                        | Call::SetLen
                        | Call::Allocate
                        | Call::Create
                        | Call::CreateDir
                        | Call::Rename
                        | Call::Sync
                        | Call::SyncDir
                );
                if errno == libc::ENOSPC && !takes_room {
                    continue;
                }
                let offset = if errno == libc::EIO { 0 } else { step / 2 };
                let ns = (1 + offset..=calls).step_by(step as usize);
                cases.extend(ns.map(|n| (call, n, errno, encrypted)));
            }
        }
    }
    let began = Instant::now();
    let next = AtomicUsize::new(0);
    let table: Mutex<BTreeMap<(String, Call, &str), BTreeMap<String, u64>>> = Mutex::default();
    let failures = Mutex::new(Vec::new());
    let unreached = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            s.spawn(|| {
                while let Some(&(call, n, errno, encrypted)) =
                    cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let error = if errno == libc::EIO { "EIO" } else { "ENOSPC" };
                    let case = format!(
                        "{call:?} {n} {error}{}",
                        if encrypted { " encrypted" } else { "" }
                    );
                    let begin = Instant::now();
                    let starts = if encrypted { &sealed.1 } else { &plain.1 };
                    let told = catch_unwind(AssertUnwindSafe(|| {
                        story(call, n, errno, encrypted, starts)
                    }));
                    if std::env::var_os("NARWAL_TABLE").is_some() {
                        let seconds = begin.elapsed().as_secs_f64();
                        println!(
                            "{case}: {seconds:.1} s {}",
                            if told.is_err() { "FAILED" } else { "" }
                        );
                    }
                    match told {
                        Ok(seen) if seen.over => {
                            unreached.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(seen) => {
                            let mut table = table.lock().unwrap();
                            let row = table.entry((seen.place, call, error)).or_default();
                            for what in seen.what {
                                *row.entry(what).or_default() += 1;
                            }
                        }
                        Err(p) => {
                            let text = p.downcast_ref::<String>().cloned();
                            let text =
                                text.or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                            failures
                                .lock()
                                .unwrap()
                                .push(format!("{case}: {}", text.unwrap_or_default()));
                        }
                    }
                }
            });
        }
    });
    if std::env::var_os("NARWAL_TABLE").is_some() {
        for ((place, call, error), row) in &*table.lock().unwrap() {
            println!("{place} | {call:?} | {error}");
            for (what, n) in row {
                println!("    {n:5} {what}");
            }
        }
    }
    println!(
        "{} faults in {:.0} s, {} never reached",
        cases.len(),
        began.elapsed().as_secs_f64(),
        unreached.load(Ordering::Relaxed)
    );
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
