//! A database's log in an archive that is a folder: what comes back is what went there, after every kind of restart.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_archive::{Archive, Archiver, FolderKeys, HistoryName};
use narwal_crypt::{Access, KeyFile, open_folder};
use narwal_engine::{Database, Options, ReadStart, TableBuilder, TxnOptions};
use narwal_log::{Disk, RealDisk};
use narwal_types::{TypeKind, ValueRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Fixture {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn url(&self) -> String {
        format!("file://{}", self.path("archive").display())
    }

    fn open(&self) -> Database {
        open(&self.path("data"), Arc::new(RealDisk))
    }

    fn archive(&self, db: &Database, timeout: Option<Duration>) -> Archiver {
        Archiver::start(db.clone(), &self.url(), None, timeout).unwrap()
    }

    fn read(&self) -> (Archive, HistoryName) {
        let archive = Archive::open(&self.url()).unwrap();
        let last = *archive.histories().unwrap().last().unwrap();
        (archive, last)
    }

    /// Objects of a history, by name.
    fn objects(&self, history: HistoryName) -> Vec<String> {
        let dir = self.path("archive").join(history.to_string());
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn open(path: &Path, disk: Arc<dyn Disk>) -> Database {
    let options = Options {
        segment_size: 64 << 10,
        checkpoint_log_bytes: 128 << 10,
        binlog_state_interval: 16 << 10,
        hold_log: true,
        disk,
        ..Options::default()
    };
    let db = Database::open_with(path, options).unwrap();
    if db.catalog().table("d", "t").is_none() {
        db.create_database("d").unwrap();
        let table = TableBuilder::new("d", "t")
            .column("id", TypeKind::BigInt, false)
            .column("text", TypeKind::VarChar(400), false)
            .primary_key(&["id"]);
        db.create_table(table.build().unwrap()).unwrap();
    }
    db
}

/// Commits `rows` transactions of about 400 bytes.
fn write(db: &Database, rows: std::ops::Range<i64>) {
    let catalog = db.catalog();
    let t = catalog.table("d", "t").unwrap();
    let text = [b'x'; 300];
    for id in rows {
        let mut x = db.begin(TxnOptions::default());
        let row = t.row(&[ValueRef::Int(id), ValueRef::Str(&text)]).unwrap();
        x.insert(t, row).unwrap();
        x.commit().unwrap();
    }
}

fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn all_shipped(archiver: &Archiver) {
    wait("all is shipped", || {
        archiver.status().history.is_some() && archiver.status().lag_bytes == 0
    });
}

/// GTIDs of all groups in a log folder.
fn groups(db: &Database) -> Vec<String> {
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    let mut all = Vec::new();
    while let Some(head) = reader.next_group().unwrap() {
        all.push(head.gtid.to_string());
    }
    all
}

/// Puts the archive's whole log into a new data folder, opens that and compares it.
fn same_from_archive(f: &Fixture, db: &Database, name: &str) {
    let (archive, history) = f.read();
    let to = f.path(name);
    let start = archive.history(history).unwrap().start;
    let entries = archive.entries_from(history, start).unwrap();
    archive
        .fetch(
            history,
            &entries,
            None,
            &RealDisk,
            &to.join("log"),
            &mut |_| {},
        )
        .unwrap();
    let mut log = narwal_log::DirReader::open(Arc::new(RealDisk), &to.join("log"))
        .unwrap()
        .unwrap();
    let mut records = 0;
    while log.next().unwrap().is_some() {
        records += 1;
    }
    let end = log.end().unwrap();
    assert!(end.torn.is_none(), "{end:?}");
    assert!(records > 0);
    let last = entries.last().unwrap();
    assert_eq!(end.end_lsn, last.next.unwrap_or(last.end).max(last.end));
    assert_eq!(
        last.gtids_after.as_deref(),
        Some(db.gtid_binlog_state().as_str())
    );
}

#[test]
fn full_segments_go_at_once_and_parts_after_the_timeout() {
    let f = Fixture::new();
    let db = f.open();
    let archiver = f.archive(&db, None);
    write(&db, 0..1000);
    wait("segments are shipped", || archiver.status().segments >= 5);
    let (archive, history) = f.read();
    let full = archive.list(history).unwrap();
    assert!(full.iter().all(|l| l.part_end.is_none()));
    // Unchanged: byte for byte the files of the data folder.
    for l in &full[full.len() - 2..] {
        let name = l.object();
        let there = std::fs::read(f.path("archive").join(history.to_string()).join(&name)).unwrap();
        if let Ok(here) = std::fs::read(f.path("data").join("log").join(&name)) {
            assert_eq!(there, here, "{name}");
        }
    }
    assert!(archiver.status().lag_bytes > 0);

    // With a timeout the rest comes, too, and again when there is more; the replaced part goes.
    archiver.set_timeout(Some(Duration::from_millis(1)));
    wait("the part is shipped", || archiver.status().lag_bytes == 0);
    write(&db, 1000..1003);
    wait("the longer part is shipped", || {
        archiver.status().lag_bytes == 0
            && archiver.status().last.unwrap().gtids_after == Some(db.gtid_binlog_state())
    });
    let parts = |names: &[String]| names.iter().filter(|n| n.ends_with(".part")).count();
    assert!(parts(&f.objects(history)) <= 1);
    assert!(archiver.stop(PATIENCE));
    same_from_archive(&f, &db, "restored");
    assert_eq!(
        archive.verify(history, None, &mut |_| {}).unwrap(),
        Vec::new()
    );
    assert_eq!(groups(&db).len(), 1005);
}

#[test]
fn a_restart_goes_on_without_gap_and_nothing_goes_that_is_not_shipped() {
    let f = Fixture::new();
    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 0..500);
    wait("something is shipped", || archiver.status().segments > 1);
    assert!(archiver.stop(PATIENCE));
    write(&db, 500..900);
    drop(archiver);
    drop(db);

    // Not archiving, but asked to hold: a purge of everything takes nothing that is not shipped.
    let db = f.open();
    write(&db, 900..1000);
    db.flush_binary_logs(&[]).unwrap();
    db.checkpoint().unwrap();
    let newest = db.binlog_files().last().unwrap().name.clone();
    let report = db.purge_binary_logs_to(&newest).unwrap();
    assert_eq!(report.purged_files, 0, "{report:?}");
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    all_shipped(&archiver);
    // Now it may go.
    wait("the files go", || {
        db.purge_binary_logs_to(&newest).unwrap();
        db.binlog_files().len() == 1
    });
    assert!(archiver.stop(PATIENCE));
    drop(archiver);
    let (archive, history) = f.read();
    assert_eq!(history.number, 1);
    assert_eq!(
        archive.verify(history, None, &mut |_| {}).unwrap(),
        Vec::new()
    );
    same_from_archive(&f, &db, "restored");

    // The log begins where the archive ends: still the same history.
    drop(db);
    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 1000..1100);
    all_shipped(&archiver);
    assert!(archiver.stop(PATIENCE));
    assert_eq!(f.read().1.number, 1);
}

#[test]
fn a_copy_of_the_server_gets_a_history_of_its_own() {
    let f = Fixture::new();
    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 0..300);
    all_shipped(&archiver);
    assert!(archiver.stop(PATIENCE));
    drop(archiver);
    db.close().unwrap();
    drop(db);
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .args([f.path("data"), f.path("copy")])
        .status();
    assert!(copied.unwrap().success());

    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 300..700);
    all_shipped(&archiver);
    let copy = open(&f.path("copy"), Arc::new(RealDisk));
    write(&copy, 5000..5700);
    let other = f.archive(&copy, Some(Duration::from_millis(1)));
    wait("the copy's log is shipped", || {
        other.status().history.is_some() && other.status().lag_bytes == 0
    });
    assert_eq!(other.status().history.unwrap().number, 2);
    assert_eq!(archiver.status().history.unwrap().number, 1);
    assert!(other.stop(PATIENCE) && archiver.stop(PATIENCE));
    let archive = Archive::open(&f.url()).unwrap();
    for h in archive.histories().unwrap() {
        assert_eq!(archive.verify(h, None, &mut |_| {}).unwrap(), Vec::new());
    }
    assert!(archive.choose(None).is_err());
    let about = archive.history(other.status().history.unwrap()).unwrap();
    assert!(about.because.is_some());
}

#[test]
fn a_store_that_fails_is_tried_again_and_the_log_is_kept() {
    let f = Fixture::new();
    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 0..50);
    all_shipped(&archiver);
    // A file where the folder was.
    let (root, aside) = (f.path("archive"), f.path("aside"));
    std::fs::rename(&root, &aside).unwrap();
    std::fs::write(&root, "in the way").unwrap();
    write(&db, 50..600);
    wait("it fails", || archiver.status().failures >= 2);
    assert!(archiver.status().error.is_some());
    assert!(archiver.status().lag_bytes > 0);
    std::fs::remove_file(&root).unwrap();
    std::fs::rename(&aside, &root).unwrap();
    wait("it goes on", || archiver.status().lag_bytes == 0);
    assert!(archiver.stop(PATIENCE));
    assert_eq!(archiver.status().error, None);
    let (archive, history) = f.read();
    assert_eq!(history.number, 1);
    assert_eq!(
        archive.verify(history, None, &mut |_| {}).unwrap(),
        Vec::new()
    );
    same_from_archive(&f, &db, "restored");
}

#[test]
fn every_damage_and_every_gap_is_found() {
    let f = Fixture::new();
    let db = f.open();
    let archiver = f.archive(&db, Some(Duration::from_millis(1)));
    write(&db, 0..600);
    all_shipped(&archiver);
    assert!(archiver.stop(PATIENCE));
    let (archive, history) = f.read();
    let entries = archive.entries_from(history, 4096).unwrap();
    let dir = f.path("archive").join(history.to_string());
    for (i, entry) in entries.iter().enumerate() {
        let path = dir.join(&entry.object);
        let whole = std::fs::read(&path).unwrap();
        for at in [0, 30, 4100, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (i % 8);
            std::fs::write(&path, &bytes).unwrap();
            let e = archive.read(history, entry, None).unwrap_err();
            assert!(e.to_string().contains(&entry.object), "{e}");
            assert_eq!(
                archive.verify(history, None, &mut |_| {}).unwrap().len(),
                1,
                "{at}"
            );
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(archive.read(history, entry, None).is_err());
        std::fs::write(&path, &whole).unwrap();
    }
    // A segment in the middle is gone, by its bytes or by its marker.
    let middle = &entries[entries.len() / 2];
    for name in [middle.object.clone(), middle.object.clone() + ".json"] {
        let (path, aside) = (dir.join(&name), f.path("aside"));
        std::fs::rename(&path, &aside).unwrap();
        let e = archive.entries_from(history, 4096).unwrap_err();
        assert!(e.to_string().contains("has no log from LSN"), "{e}");
        assert_eq!(archive.verify(history, None, &mut |_| {}).unwrap().len(), 1);
        // What lies behind the gap can still be had.
        archive.entries_from(history, middle.end + 100).unwrap_err();
        archive.entries_from(history, middle.next.unwrap()).unwrap();
        std::fs::rename(&aside, &path).unwrap();
    }
    archive.entries_from(history, u64::MAX / 2).unwrap_err();
    archive.entries_from(history, 1).unwrap_err();
}

#[test]
fn an_encrypted_folder_stays_encrypted_in_the_archive() {
    let f = Fixture::new();
    let text = format!("1;{}\n", "ab".repeat(32));
    let keys = || KeyFile::parse(Path::new("keys"), text.as_bytes()).unwrap();
    let data = f.path("data");
    let folder = open_folder(Arc::new(RealDisk), &data, Some(&keys()), Access::Serve).unwrap();
    let db = open(&data, folder.disk);
    let archiver = Archiver::start(
        db.clone(),
        &f.url(),
        Some(FolderKeys {
            datadir: data,
            key_file: keys(),
        }),
        Some(Duration::from_millis(1)),
    )
    .unwrap();
    write(&db, 0..400);
    all_shipped(&archiver);
    assert!(archiver.stop(PATIENCE));
    let (archive, history) = f.read();
    for name in f.objects(history) {
        let bytes = std::fs::read(f.path("archive").join(history.to_string()).join(&name)).unwrap();
        assert!(!bytes.windows(20).any(|w| w == [b'x'; 20]), "{name}");
    }
    let entries = archive.entries_from(history, 4096).unwrap();
    assert!(entries.iter().all(|e| e.keys.is_some()));
    assert!(archive.read(history, &entries[0], None).is_err());
    for with in [None, Some(keys())] {
        let found = archive.verify(history, with.as_ref(), &mut |_| {});
        assert_eq!(found.unwrap(), Vec::new());
    }
    let copy = archive.read(history, &entries[0], Some(&keys())).unwrap();
    assert!(copy.bytes.windows(20).any(|w| w == [b'x'; 20]));
}
