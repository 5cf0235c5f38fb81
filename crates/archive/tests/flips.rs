//! One bit is flipped, one run for each byte: in a data folder that was closed, in one whose server was killed while large
//! transactions stood in the log and in run files, in both encrypted, in the key file, in a full and an incremental
//! backup, in a sealed stream and in an archive. Whoever opens and reads it all gets the right rows or a clear error.
//!
//! `NARWAL_FLIPS=1` flips every byte, `NARWAL_FLIPS=k` every k-th; without it so many by chance (`NARWAL_SEED`) that a
//! minute or so will do. `NARWAL_FLIPS_ONLY=base` takes only those kinds of files whose name begins so. `./torture --flips`
//! runs this.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_archive::{Archive, Archiver};
use narwal_crypt::{Access, KeyFile, SealReader, SealWriter, open_folder};
use narwal_engine::backup::*;
use narwal_engine::{
    Database, EngineError, KeyRange, Options, ReadStart, ReadView, TableBuilder, TxnOptions,
};
use narwal_log::sim::SimDisk;
use narwal_log::{DirReader, Disk};
use narwal_types::{BlobSize, TypeKind, ValueRef};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DIR: &str = "/data";
/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn key_text() -> String {
    format!("1;{}\n", "5a".repeat(32))
}

fn through(disk: &SimDisk, dir: &Path, key: Option<&[u8]>) -> Result<Arc<dyn Disk>, String> {
    let disk = Arc::new(disk.clone());
    let Some(key) = key else {
        return Ok(disk);
    };
    let key = KeyFile::parse(Path::new("keys.txt"), key).map_err(|e| e.to_string())?;
    let opened = open_folder(disk, dir, Some(&key), Access::Serve);
    Ok(opened.map_err(|e| e.to_string())?.disk)
}

fn open(
    disk: &SimDisk,
    dir: &Path,
    key: Option<&[u8]>,
    background: bool,
) -> Result<Database, String> {
    let options = Options {
        segment_size: 16 << 10,
        max_binlog_size: 16 << 10,
        binlog_state_interval: 4 << 10,
        oob_threshold: 1500,
        spill_bytes: 3 << 10,
        memory_budget: 4 << 20,
        checkpoint_log_bytes: 1 << 30,
        background,
        disk: through(disk, dir, key)?,
        ..Options::default()
    };
    Database::open_with(dir, options).map_err(|e| e.to_string())
}

/// Everything that readers get, by name: rows of each index, rows one by one, events of the binary log, positions.
type Seen = BTreeMap<String, Result<Vec<Vec<u8>>, String>>;

fn rows(db: &Database, table: &str, index: usize) -> Result<Vec<Vec<u8>>, EngineError> {
    let catalog = db.catalog();
    let t = catalog.table("d", table).unwrap();
    let mut x = db.begin(TxnOptions::default());
    let mut s = x.scan(t, index, KeyRange::all(), false, ReadView::Snapshot, false)?;
    let mut out = Vec::new();
    while let Some(item) = s.next()? {
        out.push(item.row.to_vec());
    }
    Ok(out)
}

fn one_by_one(db: &Database, table: &str) -> Result<Vec<Vec<u8>>, EngineError> {
    let catalog = db.catalog();
    let t = catalog.table("d", table).unwrap();
    let mut x = db.begin(TxnOptions::default());
    let mut out = Vec::new();
    for id in 0..130 {
        let key = t.key(0, &[ValueRef::Int(id)])?;
        match x.get(t, &key)? {
            Some(row) => out.push(row.to_vec()),
            None => out.push(Vec::new()),
        }
    }
    Ok(out)
}

fn events(db: &Database) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut reader = db.binlog_reader(ReadStart::Oldest)?;
    let mut out = Vec::new();
    while reader.next_group()?.is_some() {
        while let Some(e) = reader.next_event()? {
            out.push(e.to_vec());
        }
    }
    Ok(out)
}

fn read_all(db: &Database) -> Seen {
    let mut seen = Seen::new();
    let mut put = |name: String, r: Result<Vec<Vec<u8>>, EngineError>| {
        seen.insert(name, r.map_err(|e| e.to_string()));
    };
    let catalog = db.catalog();
    for name in ["t", "blobs", "h"] {
        match catalog.table("d", name) {
            None => put(name.into(), Ok(vec![b"no table".to_vec()])),
            Some(t) => {
                let mut damage = None;
                for i in 0..t.indexes.len().max(1) {
                    let read = rows(db, name, i);
                    damage = damage.or_else(|| read.as_ref().err().map(ToString::to_string));
                    put(format!("{name}.{i}"), read);
                }
                // An estimate, which a table that can't be read does not have.
                let counted = db.table_rows(t).to_string().into_bytes();
                put(
                    format!("{name} counted"),
                    match damage {
                        None => Ok(vec![counted]),
                        Some(why) => Err(EngineError::Corrupt(why)),
                    },
                );
            }
        }
    }
    if catalog.table("d", "t").is_some() {
        put("t one by one".into(), one_by_one(db, "t"));
    }
    put("events".into(), events(db));
    put(
        "gtids".into(),
        Ok(vec![db.gtid_binlog_state().into_bytes()]),
    );
    let p = db.binlog_position();
    put(
        "position".into(),
        Ok(vec![format!("{} {}", p.file, p.offset).into_bytes()]),
    );
    seen
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Harmless,
    /// Harmless, since nobody reads the place.
    Unread,
    /// The last record of a killed server looks like a torn tail.
    Torn,
    /// The start, or the tool, says what is wrong.
    Refused(String),
    /// Some read fails, and all that do not are right.
    Found(String),
    Other(String),
    Panic(String),
}

/// Compares what was read with what should have been.
fn judge(expected: &Seen, seen: &Seen, when: &str) -> Option<Outcome> {
    let mut found = None;
    for (name, right) in expected {
        match seen.get(name) {
            Some(Err(e)) => found = Some(Outcome::Found(format!("{name}: {e}"))),
            Some(now) if now == right => {}
            now => {
                let n = now.and_then(|r| r.as_ref().ok()).map_or(0, Vec::len);
                let (right_n, at) = (right.as_ref().unwrap(), now.and_then(|r| r.as_ref().ok()));
                let first = at.and_then(|v| v.iter().zip(right_n).position(|(a, b)| a != b));
                return Some(Outcome::Other(format!(
                    "{name} {when}: {n} rows instead of {}, the first other one is {first:?}",
                    right_n.len()
                )));
            }
        }
    }
    found
}

/// Opens a folder, reads it all, makes a checkpoint, reads it all again after another start.
fn try_folder(
    disk: &SimDisk,
    dir: &Path,
    key: Option<&[u8]>,
    expected: &Seen,
    before_last: Option<&Seen>,
) -> Outcome {
    let (mut found, mut torn, mut expected) = (None, None, expected);
    for round in ["at first", "after a checkpoint"] {
        let db = match open(disk, dir, key, false) {
            Ok(db) => db,
            Err(e) => return found.unwrap_or(Outcome::Refused(e)),
        };
        let seen = read_all(&db);
        let mut judged = judge(expected, &seen, round);
        if let (Some(Outcome::Other(_)), Some(before)) = (&judged, before_last)
            && !matches!(judge(before, &seen, round), Some(Outcome::Other(_)))
        {
            (expected, torn, judged) = (before, Some(Outcome::Torn), None);
        }
        match judged {
            Some(bad @ Outcome::Other(_)) => return bad,
            Some(f) => found = Some(f),
            None => {}
        }
        // It may well fail on what it meets: what counts is what is read then.
        if let Err(e) = db.checkpoint() {
            found.get_or_insert(Outcome::Found(format!("checkpoint: {e}")));
        }
        match judge(expected, &read_all(&db), "behind a checkpoint") {
            Some(bad @ Outcome::Other(_)) => return bad,
            Some(f) => found = Some(f),
            None => {}
        }
    }
    torn.or(found).unwrap_or(Outcome::Harmless)
}

struct Folder {
    disk: SimDisk,
    encrypted: bool,
    expected: Seen,
    /// What a run without a flip reads. A flip anywhere else can't change anything: the run is the same, call by call.
    read: BTreeMap<PathBuf, Vec<bool>>,
    /// What was there before the last commit, if nothing proves that one durable.
    before_last: Option<Seen>,
}

fn fill(db: &Database, ids: std::ops::Range<i64>) {
    let catalog = db.catalog();
    let mut x = db.begin(TxnOptions::default());
    for id in ids {
        let text = format!("text {id} {}", "y".repeat((id % 40) as usize));
        for name in ["t", "h"] {
            let t = catalog.table("d", name).unwrap();
            x.begin_statement(1, None);
            let k = if id % 5 == 0 {
                ValueRef::Null
            } else {
                ValueRef::Int(id % 17)
            };
            let row = t.row(&[ValueRef::Int(id), k, ValueRef::Str(text.as_bytes())]);
            x.insert(t, row.unwrap()).unwrap();
            x.end_statement();
        }
        if id % 30 == 0 {
            let blob: Vec<u8> = (0..3000 + id).map(|i| (i * (id + 7) % 251) as u8).collect();
            let t = catalog.table("d", "blobs").unwrap();
            x.begin_statement(1, None);
            let row = t.row(&[ValueRef::Int(id), ValueRef::Bytes(&blob)]).unwrap();
            x.insert(t, row).unwrap();
            x.end_statement();
        }
    }
    x.commit().unwrap();
}

/// A folder whose base has some of the rows and whose log the rest; killed some time after the last commit, or closed.
fn make(encrypted: bool, killed: bool) -> Folder {
    let disk = SimDisk::new();
    let key = key_text();
    let key = encrypted.then_some(key.as_bytes());
    let db = open(&disk, Path::new(DIR), key, false).unwrap();
    db.create_database("d").unwrap();
    for name in ["t", "h"] {
        let mut def = TableBuilder::new("d", name)
            .column("id", TypeKind::BigInt, false)
            .column("k", TypeKind::Int, true)
            .column("c", TypeKind::VarChar(100), false)
            .index("k", &["k"], false);
        if name == "t" {
            def = def.primary_key(&["id"]).index("c", &["c"], true);
        }
        db.create_table(def.build().unwrap()).unwrap();
    }
    let def = TableBuilder::new("d", "blobs")
        .column("id", TypeKind::BigInt, false)
        .column("b", TypeKind::Blob(BlobSize::Medium), false)
        .primary_key(&["id"]);
    db.create_table(def.build().unwrap()).unwrap();
    for i in 0..5 {
        fill(&db, i * 10..(i + 1) * 10);
    }
    db.checkpoint().unwrap();
    fill(&db, 50..53);
    // Out of band, with runs.
    fill(&db, 53..110);
    let before_last = killed.then(|| read_all(&db));
    fill(&db, 110..111);
    let expected = read_all(&db);
    assert!(expected.values().all(Result::is_ok), "{expected:?}");
    let disk = if killed {
        let disk = disk.kill();
        let runs = disk
            .paths()
            .iter()
            .filter(|p| kind_of(p) == "spill")
            .count();
        assert!(runs > 2, "no runs are left to be flipped");
        disk
    } else {
        db.close().unwrap();
        disk
    };
    drop(db);
    let traced = disk.fork();
    traced.trace_reads();
    let outcome = try_folder(
        &traced,
        Path::new(DIR),
        key,
        &expected,
        before_last.as_ref(),
    );
    assert_eq!(
        outcome,
        Outcome::Harmless,
        "without a flip all is as it was"
    );
    Folder {
        disk,
        encrypted,
        expected,
        read: traced.reads(),
        before_last,
    }
}

/// A kind of file, a file of it, and how to try one flip in it.
struct Target<'a> {
    kind: String,
    name: String,
    len: u64,
    try_flip: Box<dyn Fn(u64, u8) -> Outcome + Send + Sync + 'a>,
    /// Places that say more than others: what is read, or where the file is not zero.
    used: Vec<u64>,
}

fn kind_of(path: &Path) -> &'static str {
    let text = path.to_string_lossy();
    if text.contains("/log/") {
        "log"
    } else if text.contains("/spill/") {
        "spill"
    } else if text.contains("base.redb") {
        "base"
    } else if text.ends_with("/keys") {
        "keys"
    } else if text.ends_with(MANIFEST) {
        "manifest"
    } else {
        "other file"
    }
}

fn used(bytes: &[u8]) -> Vec<u64> {
    (0..bytes.len() as u64)
        .filter(|&i| bytes[i as usize] != 0)
        .collect()
}

fn folder_targets<'a>(name: &str, f: &'a Folder, out: &mut Vec<Target<'a>>) {
    for path in f.disk.paths() {
        let bytes = f.disk.content(&path).unwrap();
        let key = key_text();
        let at = path.clone();
        out.push(Target {
            kind: format!("{}, {name}", kind_of(&path)),
            name: path.display().to_string(),
            len: bytes.len() as u64,
            used: (0..bytes.len() as u64)
                .filter(|&i| f.read.get(&path).is_some_and(|r| r[i as usize]))
                .collect(),
            try_flip: Box::new(move |offset, bit| {
                let read = f.read.get(&at).and_then(|r| r.get(offset as usize));
                if !read.is_some_and(|r| *r) {
                    return Outcome::Unread;
                }
                let disk = f.disk.fork();
                disk.damage(&at, offset, |b| b[0] ^= bit);
                let key = f.encrypted.then_some(key.as_bytes());
                try_folder(
                    &disk,
                    Path::new(DIR),
                    key,
                    &f.expected,
                    f.before_last.as_ref(),
                )
            }),
        });
    }
    if f.encrypted {
        let key = key_text().into_bytes();
        out.push(Target {
            kind: format!("key file, {name}"),
            name: "keys.txt".into(),
            len: key.len() as u64,
            used: used(&key),
            try_flip: Box::new(move |offset, bit| {
                let mut key = key_text().into_bytes();
                key[offset as usize] ^= bit;
                try_folder(
                    &f.disk.fork(),
                    Path::new(DIR),
                    Some(&key),
                    &f.expected,
                    f.before_last.as_ref(),
                )
            }),
        });
    }
}

/// A full backup in /b0 and one that is incremental to it in /b1.
fn make_backups() -> (SimDisk, Seen) {
    let f = make(false, false);
    let db = open(&f.disk, Path::new(DIR), None, false).unwrap();
    let copy = SimDisk::new();
    for (dir, parent) in [("/b0", None), ("/b1", Some(Path::new("/b0")))] {
        let to: Arc<dyn Disk> = Arc::new(copy.clone());
        let mut sink = FolderSink::create(to, Path::new(dir), parent).unwrap();
        let mut backup = db.begin_backup(BackupOptions::default()).unwrap();
        while let Some(piece) = backup.next_piece().unwrap() {
            sink.put(&piece).unwrap();
        }
        sink.finish("test", backup.end().unwrap().clone()).unwrap();
        if parent.is_none() {
            fill(&db, 120..124);
            db.checkpoint().unwrap();
        }
    }
    let expected = read_all(&db);
    (copy, expected)
}

fn restore(copy: &SimDisk) -> Result<(), EngineError> {
    let to: Arc<dyn Disk> = Arc::new(copy.clone());
    let dir = Path::new("/restored");
    let chain = Chain::open(to.clone(), Path::new("/b1"), &[])?;
    begin_folder(&*to, dir)?;
    restore_files(&chain, &to, dir, |_| Ok(()))?;
    narwal_log::cut_behind(&*to, &dir.join("log"), chain.manifest().end.log_end)?;
    end_folder(&*to, dir)
}

fn backup_targets<'a>(copy: &'a SimDisk, expected: &'a Seen, out: &mut Vec<Target<'a>>) {
    for path in copy.paths() {
        let bytes = copy.content(&path).unwrap();
        let level = if path.starts_with("/b0") {
            "full backup"
        } else {
            "incremental backup"
        };
        let at = path.clone();
        out.push(Target {
            kind: format!("{}, {level}", kind_of(&path)),
            name: path.display().to_string(),
            len: bytes.len() as u64,
            used: used(&bytes),
            try_flip: Box::new(move |offset, bit| {
                let disk = copy.fork();
                disk.damage(&at, offset, |b| b[0] ^= bit);
                match restore(&disk) {
                    Err(e) => Outcome::Refused(e.to_string()),
                    Ok(()) => try_folder(&disk, Path::new("/restored"), None, expected, None),
                }
            }),
        });
    }
}

/// The records of a log, and that its end is as it should be.
fn records(disk: &SimDisk, dir: &Path) -> Result<Vec<Vec<u8>>, String> {
    let opened = DirReader::open(Arc::new(disk.clone()), dir).map_err(|e| e.to_string())?;
    let Some(mut reader) = opened else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    while let Some(r) = reader.next().map_err(|e| e.to_string())? {
        out.push(r.body.to_vec());
    }
    reader.end().map_err(|e| e.to_string())?;
    Ok(out)
}

fn fetch(url: &str) -> Result<Vec<Vec<u8>>, String> {
    let text = |e: narwal_archive::ArchiveError| e.to_string();
    let archive = Archive::open(url).map_err(text)?;
    let history = archive.choose(None).map_err(text)?;
    let start = archive.history(history).map_err(text)?.start;
    let entries = archive.entries_from(history, start).map_err(text)?;
    let (disk, dir) = (SimDisk::new(), Path::new("/log"));
    archive
        .fetch(history, &entries, None, &disk, dir, &mut |_| {})
        .map_err(text)?;
    records(&disk, dir)
}

fn make_archive(folder: &Path) -> (String, Vec<PathBuf>) {
    let url = format!("file://{}", folder.display());
    let f = make(false, false);
    let db = open(&f.disk, Path::new(DIR), None, true).unwrap();
    let archiver = Archiver::start(db.clone(), &url, None, Some(Duration::ZERO)).unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while archiver.status().history.is_none() || archiver.status().lag_bytes > 0 {
        assert!(Instant::now() < end, "{:?}", archiver.status());
        std::thread::sleep(Duration::from_millis(20));
    }
    archiver.stop(Duration::from_secs(10));
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(dir) = folders.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    (url, files)
}

fn archive_targets<'a>(
    folder: &'a Path,
    files: &[PathBuf],
    right: &'a [Vec<u8>],
    out: &mut Vec<Target<'a>>,
) {
    // Where what is read lies: copies of the archive, one a thread.
    let copies: &'static Mutex<Vec<tempfile::TempDir>> = Box::leak(Box::default());
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let inside = path.strip_prefix(folder).unwrap().to_owned();
        let segment = inside.extension().is_none_or(|e| e != "json");
        let all = files.to_vec();
        out.push(Target {
            kind: format!("{}, archive", if segment { "segment" } else { "marker" }),
            name: inside.display().to_string(),
            len: bytes.len() as u64,
            used: used(&bytes),
            try_flip: Box::new(move |offset, bit| {
                let copy = copies.lock().unwrap().pop().unwrap_or_else(|| {
                    let to = tempfile::tempdir().unwrap();
                    for file in &all {
                        let path = to.path().join(file.strip_prefix(folder).unwrap());
                        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                        std::fs::copy(file, path).unwrap();
                    }
                    to
                });
                let path = copy.path().join(&inside);
                let flip = || {
                    use std::os::unix::fs::FileExt;
                    let file = std::fs::OpenOptions::new()
                        .read(true)
                        .write(true)
                        .open(&path)
                        .unwrap();
                    let mut b = [0];
                    file.read_exact_at(&mut b, offset).unwrap();
                    file.write_all_at(&[b[0] ^ bit], offset).unwrap();
                };
                flip();
                let fetched = fetch(&format!("file://{}", copy.path().display()));
                flip();
                copies.lock().unwrap().push(copy);
                match fetched {
                    Err(e) => Outcome::Refused(e),
                    Ok(now) if now == right => Outcome::Harmless,
                    Ok(now) => {
                        Outcome::Other(format!("{} records instead of {}", now.len(), right.len()))
                    }
                }
            }),
        });
    }
}

fn stream_target<'a>(out: &mut Vec<Target<'a>>) {
    let key = KeyFile::parse(Path::new("keys.txt"), key_text().as_bytes()).unwrap();
    let plain: Vec<u8> = (0..150_000u64).map(|i| (i * i % 253) as u8).collect();
    let mut writer = SealWriter::new(Vec::new(), &key).unwrap();
    writer.write_all(&plain).unwrap();
    let sealed = writer.finish().unwrap();
    out.push(Target {
        kind: "sealed stream".into(),
        name: "stream".into(),
        len: sealed.len() as u64,
        used: used(&sealed),
        try_flip: Box::new(move |offset, bit| {
            let mut bytes = sealed.clone();
            bytes[offset as usize] ^= bit;
            let mut got = Vec::new();
            let read = SealReader::new(&bytes[..], &key).and_then(|mut r| r.read_to_end(&mut got));
            match read {
                _ if !plain.starts_with(&got) => Outcome::Other("other bytes".into()),
                Err(e) => Outcome::Refused(e.to_string()),
                Ok(_) if got == plain => Outcome::Harmless,
                Ok(_) => Outcome::Other(format!("{} bytes of {}", got.len(), plain.len())),
            }
        }),
    });
}

/// A number by chance: the same for the same seed.
fn chance(seed: u64, i: u64) -> u64 {
    let mut x = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Which flips to try: target, offset, bit.
fn flips(targets: &[Target<'_>]) -> Vec<(usize, u64, u8)> {
    let seed = std::env::var("NARWAL_SEED").map_or(0, |n| n.parse().unwrap());
    let only = std::env::var("NARWAL_FLIPS_ONLY").unwrap_or_default();
    let step: Option<u64> = std::env::var("NARWAL_FLIPS")
        .ok()
        .map(|n| n.parse().unwrap());
    println!("NARWAL_SEED={seed}");
    let mut out = Vec::new();
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, t) in targets
        .iter()
        .enumerate()
        .filter(|(_, t)| t.kind.starts_with(&only))
    {
        kinds.entry(&t.kind).or_default().push(i);
    }
    for members in kinds.into_values() {
        let bit = |i: usize, at: u64| 1u8 << (chance(seed, at * 31 + i as u64) % 8);
        if let Some(step) = step {
            for i in members {
                let first = chance(seed, i as u64) % step;
                out.extend(
                    (first..targets[i].len)
                        .step_by(step as usize)
                        .map(|at| (i, at, bit(i, at))),
                );
            }
            continue;
        }
        for n in 0..20u64 {
            let i = members[n as usize % members.len()];
            let (t, r) = (&targets[i], chance(seed, n + 1000 * i as u64));
            let at = match t.used.get((r % t.used.len().max(1) as u64) as usize) {
                // Two of three where there is something.
                Some(&at) if n % 3 != 0 => at,
                _ if t.len == 0 => continue,
                _ => r % t.len,
            };
            out.push((i, at, bit(i, at)));
        }
    }
    out
}

#[test]
fn a_flipped_bit_is_found_or_harmless() {
    let began = Instant::now();
    let folders: Vec<(&str, Folder)> = vec![
        ("closed folder", make(false, false)),
        ("killed folder", make(false, true)),
        ("closed encrypted folder", make(true, false)),
        ("killed encrypted folder", make(true, true)),
    ];
    let (copy, backed_up) = make_backups();
    let archive = tempfile::tempdir().unwrap();
    let (url, files) = make_archive(archive.path());
    let archived = fetch(&url).unwrap();
    let mut targets = Vec::new();
    for (name, f) in &folders {
        folder_targets(name, f, &mut targets);
    }
    backup_targets(&copy, &backed_up, &mut targets);
    archive_targets(archive.path(), &files, &archived, &mut targets);
    stream_target(&mut targets);

    let flips = flips(&targets);
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<&str, BTreeMap<&str, u64>>> = Mutex::default();
    let bad = Mutex::new(Vec::new());
    let running: Mutex<BTreeMap<usize, Instant>> = Mutex::default();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|s| {
        let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
        let left = Arc::new(AtomicUsize::new(workers));
        for _ in 0..workers {
            let left = left.clone();
            let (targets, flips, next, results, bad, running) =
                (&targets, &flips, &next, &results, &bad, &running);
            s.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(i, at, bit)) = flips.get(n) else {
                        break;
                    };
                    running.lock().unwrap().insert(n, Instant::now());
                    if n.is_multiple_of(100_000) && n > 0 {
                        println!(
                            "{n} of {} flips, {:.0} s",
                            flips.len(),
                            began.elapsed().as_secs_f64()
                        );
                    }
                    let t = &targets[i];
                    let outcome = catch_unwind(AssertUnwindSafe(|| (t.try_flip)(at, bit)));
                    let outcome = outcome.unwrap_or_else(|p| {
                        let text = p.downcast_ref::<String>().cloned();
                        Outcome::Panic(
                            text.or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                                .unwrap_or_default(),
                        )
                    });
                    running.lock().unwrap().remove(&n);
                    let (column, text) = match outcome {
                        Outcome::Harmless => ("harmless", String::new()),
                        Outcome::Unread => ("unread", String::new()),
                        Outcome::Torn => ("torn", String::new()),
                        Outcome::Refused(e) => ("refused", e),
                        Outcome::Found(e) => ("found", e),
                        Outcome::Other(e) => ("OTHER", e),
                        Outcome::Panic(e) => ("PANIC", e),
                    };
                    if std::env::var_os("NARWAL_TABLE").is_some() && !text.is_empty() {
                        println!("{} byte {at} bit {bit}: {column}: {text}", t.name);
                    }
                    // Whoever is told must know where to look.
                    let file = Path::new(&t.name).file_name().unwrap_or_default();
                    let stem = file.to_string_lossy();
                    let stem = stem.trim_end_matches(".json");
                    let named =
                        text.contains(stem) || text.contains("file") || text.contains("stream");
                    let text = (matches!(column, "OTHER" | "PANIC")
                        || (!text.is_empty() && !named))
                        .then_some(text);
                    if let Some(e) = text {
                        bad.lock().unwrap().push((
                            t.kind.clone(),
                            format!("{} byte {at} bit {bit}: {column}: {e}", t.name),
                        ));
                    }
                    let mut results = results.lock().unwrap();
                    let row = results.entry(&t.kind).or_default();
                    *row.entry(column).or_default() += 1;
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while left.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(100));
            let slow = running
                .lock()
                .unwrap()
                .iter()
                .find(|r| r.1.elapsed() > PATIENCE)
                .map(|r| flips[*r.0]);
            if let Some((i, at, bit)) = slow {
                println!(
                    "HANG: {} {} byte {at} bit {bit}",
                    targets[i].kind, targets[i].name
                );
                std::process::exit(1);
            }
        }
    });
    std::panic::set_hook(hook);
    const COLUMNS: [&str; 7] = [
        "unread", "harmless", "torn", "found", "refused", "OTHER", "PANIC",
    ];
    println!(
        "{:44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "bytes", "flips", "unread", "harmless", "torn", "found", "refused", "OTHER", "PANIC"
    );
    for (kind, row) in &*results.lock().unwrap() {
        let bytes: u64 = targets
            .iter()
            .filter(|t| t.kind == *kind)
            .map(|t| t.len)
            .sum();
        let flips: u64 = row.values().sum();
        let cells: String = COLUMNS
            .iter()
            .map(|c| format!(" {:8}", row.get(c).copied().unwrap_or(0)))
            .collect();
        println!("{kind:44} {bytes:8} {flips:8}{cells}");
    }
    println!(
        "{} flips in {:.0} s",
        flips.len(),
        began.elapsed().as_secs_f64()
    );
    let bad = bad.into_inner().unwrap();
    for (kind, what) in &bad {
        println!("{kind}: {what}");
    }
    assert!(
        bad.is_empty(),
        "{} flips gave other rows, a panic, or an error that names no file",
        bad.len()
    );
}
