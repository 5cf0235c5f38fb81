//! `check` finds and names every kind of damage, and finds none in a whole folder.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, CheckReport, Finding, check};
use narwal_engine::{Database, LockMode, LockWait, Options, TableBuilder, TxnOptions};
use narwal_log::RealDisk;
use narwal_types::{TypeKind, ValueRef};
use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Bytes = &'static [u8];

fn options() -> Options {
    Options {
        segment_size: 1 << 20,
        background: false,
        ..Options::default()
    }
}

/// A folder with two tables, some of it in the base and some in the log's tail only.
fn folder(tail: bool) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open_with(dir.path(), options()).unwrap();
    db.create_database("d").unwrap();
    let keyed = TableBuilder::new("d", "keyed")
        .column("id", TypeKind::Int, false)
        .column("name", TypeKind::VarChar(40), false)
        .column("n", TypeKind::BigInt, true)
        .primary_key(&["id"])
        .index("by_name", &["name"], false)
        .index("by_n", &["n"], true);
    db.create_table(keyed.build().unwrap()).unwrap();
    let keyless = TableBuilder::new("d", "keyless")
        .column("a", TypeKind::Int, true)
        .index("by_a", &["a"], false);
    db.create_table(keyless.build().unwrap()).unwrap();
    write(&db, 0..400);
    db.checkpoint().unwrap();
    if tail {
        write(&db, 400..500);
        change(&db);
        db.sync().unwrap();
        // As after a crash: no checkpoint at the end.
        let copy = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), copy.path());
        db.close().unwrap();
        return copy;
    }
    db.close().unwrap();
    dir
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for e in std::fs::read_dir(from).unwrap() {
        let e = e.unwrap();
        let target = to.join(e.file_name());
        if e.file_type().unwrap().is_dir() {
            copy_dir(&e.path(), &target);
        } else {
            std::fs::copy(e.path(), target).unwrap();
        }
    }
}

fn write(db: &Database, ids: std::ops::Range<i64>) {
    let catalog = db.catalog();
    let (keyed, keyless) = (
        catalog.table("d", "keyed").unwrap().clone(),
        catalog.table("d", "keyless").unwrap().clone(),
    );
    for id in ids {
        let mut txn = db.begin(TxnOptions::default());
        txn.begin_statement(1, None);
        let name = format!("name {:0>30}", id % 50);
        let n = if id % 7 == 0 {
            ValueRef::Null
        } else {
            ValueRef::Int(id)
        };
        let row = keyed
            .row(&[ValueRef::Int(id), ValueRef::Str(name.as_bytes()), n])
            .unwrap();
        txn.insert(&keyed, row).unwrap();
        txn.end_statement();
        txn.begin_statement(1, None);
        let row = keyless.row(&[ValueRef::Int(id % 3)]).unwrap();
        txn.insert(&keyless, row).unwrap();
        txn.end_statement();
        txn.commit().unwrap();
    }
}

fn change(db: &Database) {
    let keyed = db.catalog().table("d", "keyed").unwrap().clone();
    for id in (0..400).step_by(3) {
        let mut txn = db.begin(TxnOptions::default());
        txn.begin_statement(1, None);
        let pk = keyed.key(0, &[ValueRef::Int(id)]).unwrap();
        let old = txn
            .lock_row(&keyed, &pk, LockMode::Exclusive, LockWait::Wait)
            .unwrap()
            .unwrap();
        if id % 2 == 0 {
            txn.delete(&keyed, &pk, &old).unwrap();
        } else {
            let row = keyed
                .row(&[ValueRef::Int(id), ValueRef::Str(b"changed"), ValueRef::Null])
                .unwrap();
            txn.update(&keyed, &pk, &old, row).unwrap();
        }
        txn.end_statement();
        txn.commit().unwrap();
    }
}

#[derive(Default)]
struct Found(Vec<Finding>);

impl CheckObserver for Found {
    fn finding(&mut self, finding: &Finding) {
        self.0.push(finding.clone());
    }
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

fn run(dir: &Path, deep: bool) -> (CheckReport, Vec<Finding>) {
    let mut found = Found::default();
    let options = CheckOptions {
        disk: Arc::new(RealDisk),
        memory: 64 << 20,
        scratch: None,
        against_log: if deep {
            AgainstLog::Always
        } else {
            AgainstLog::Never
        },
    };
    let before = digest(dir);
    let report = check(dir, &options, &mut found).unwrap();
    assert!(digest(dir) == before, "the check changed the folder");
    let damages = found.0.iter().filter(|f| f.damage).count() as u64;
    assert_eq!(damages, report.damages, "{:#?}", found.0);
    (report, found.0)
}

/// All files' contents.
fn digest(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for e in std::fs::read_dir(dir).unwrap() {
        let path = e.unwrap().path();
        if path.is_dir() {
            all.extend(digest(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            all.push((path, bytes));
        }
    }
    all.sort();
    all
}

/// Changes an index in the base behind everybody's back.
fn in_base(dir: &Path, index: u32, work: impl FnOnce(&mut redb::Table<'_, Bytes, Bytes>)) {
    let db = narwal_engine::open_base(&dir.join("base.redb")).unwrap();
    let txn = db.begin_write().unwrap();
    {
        let name = format!("i{index}");
        let mut table = txn
            .open_table(TableDefinition::<Bytes, Bytes>::new(&name))
            .unwrap();
        work(&mut table);
    }
    txn.commit().unwrap();
}

fn index_id(dir: &Path, table: &str, index: usize) -> u32 {
    let db = Database::open_with(dir, options()).unwrap();
    db.catalog().table("d", table).unwrap().indexes[index].id
}

fn nth_key(table: &redb::Table<'_, Bytes, Bytes>, n: usize) -> (Vec<u8>, Vec<u8>) {
    let (k, v) = table.iter().unwrap().nth(n).unwrap().unwrap();
    (k.value().to_vec(), v.value().to_vec())
}

#[track_caller]
fn only(findings: &[Finding]) -> &Finding {
    let damages: Vec<_> = findings.iter().filter(|f| f.damage).collect();
    assert_eq!(damages.len(), 1, "{findings:#?}");
    damages[0]
}

#[test]
fn a_whole_folder_has_no_damage() {
    for tail in [false, true] {
        let dir = folder(tail);
        let (report, findings) = run(dir.path(), true);
        assert_eq!(report.damages, 0, "{findings:#?}");
        let rows = if tail { 1000 - 67 } else { 800 };
        assert_eq!((report.tables, report.rows), (2, rows), "{findings:#?}");
        assert_eq!(report.compared_rows, rows);
        let keyed = rows - if tail { 500 } else { 400 };
        assert_eq!(report.index_entries, 2 * keyed + (rows - keyed));
        assert!(report.groups > 400 && report.events > 4 * 400);
        assert_eq!(report.gtid_pos, format!("0-1-{}", report.last_seq));
    }
}

#[test]
fn a_missing_index_entry() {
    let dir = folder(false);
    let id = index_id(dir.path(), "keyed", 1);
    in_base(dir.path(), id, |t| {
        let (key, _) = nth_key(t, 17);
        t.remove(key.as_slice()).unwrap();
    });
    let (_, findings) = run(dir.path(), false);
    let f = only(&findings);
    assert_eq!(f.table.as_deref(), Some("d.keyed"));
    assert_eq!(f.index.as_deref(), Some("by_name"));
    // The 18th by name: names repeat every 50, so id 100.
    assert!(f.key.as_deref().unwrap().starts_with("id="), "{f}");
    assert!(f.what.contains("no entry"), "{f}");
    assert!(f.to_string().contains("base.redb"), "{f}");
}

#[test]
fn an_entry_without_its_row_and_one_of_another_value() {
    let dir = folder(false);
    let clustered = index_id(dir.path(), "keyed", 0);
    let by_n = index_id(dir.path(), "keyed", 2);
    in_base(dir.path(), clustered, |t| {
        let (key, _) = nth_key(t, 5);
        t.remove(key.as_slice()).unwrap();
    });
    in_base(dir.path(), by_n, |t| {
        // The value's last byte lies before the 4 bytes of the clustered key and the 2 of its length.
        let (key, _) = nth_key(t, 300);
        let mut other = key.clone();
        let at = other.len() - 7;
        other[at] ^= 0x40;
        t.remove(key.as_slice()).unwrap();
        t.insert(other.as_slice(), [].as_slice()).unwrap();
    });
    let (report, findings) = run(dir.path(), true);
    let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let count = |words: &str| told.iter().filter(|t| t.contains(words)).count();
    assert_eq!(count("entry without a row"), 2, "{told:#?}");
    assert_eq!(count("which the row does not make"), 1, "{told:#?}");
    assert_eq!(count("the row has no entry in the index"), 1, "{told:#?}");
    assert_eq!(
        count("the log makes this row, and it is not there"),
        1,
        "{told:#?}"
    );
    assert_eq!(report.damages, 5, "{told:#?}");
}

#[test]
fn a_changed_value_that_no_index_has() {
    let dir = folder(false);
    let id = index_id(dir.path(), "keyless", 0);
    let keyed = index_id(dir.path(), "keyed", 0);
    // Another version of the row with the same indexed columns: only the log knows.
    in_base(dir.path(), keyed, |t| {
        let (key, mut value) = nth_key(t, 3);
        let at = value.len() - 1 - 8;
        // The name's last digit.
        value[at] = b'x';
        t.insert(key.as_slice(), value.as_slice()).unwrap();
    });
    in_base(dir.path(), id, |t| {
        let (key, mut value) = nth_key(t, 2);
        value.push(0);
        t.insert(key.as_slice(), value.as_slice()).unwrap();
    });
    let (_, findings) = run(dir.path(), true);
    let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let has = |words: &[&str]| told.iter().any(|t| words.iter().all(|w| t.contains(w)));
    assert!(
        has(&["d.keyless", "row id 3", "1 bytes too many"]),
        "{told:#?}"
    );
    assert!(has(&["d.keyed", "by_name", "id=3"]), "{told:#?}");
    assert!(
        has(&["d.keyed", "id=3", "column 'name' differs"]),
        "{told:#?}"
    );
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut v: Vec<PathBuf> = std::fs::read_dir(dir.join("log"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some() && !p.ends_with("wal.lock"))
        .collect();
    v.sort();
    v
}

fn flip(file: &Path, at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[at] ^= 0x10;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn two_flipped_bytes_in_the_log() {
    let dir = folder(true);
    let segment = segments(dir.path()).remove(0);
    flip(&segment, 20_000);
    flip(&segment, 40_000);
    let (report, findings) = run(dir.path(), false);
    let spots: Vec<&Finding> = findings
        .iter()
        .filter(|f| f.damage && f.file.as_deref() == Some(&segment))
        .collect();
    assert_eq!(spots.len(), 2, "{findings:#?}");
    for (spot, at) in spots.iter().zip([20_000u64, 40_000]) {
        let offset = spot.offset.unwrap();
        assert!((offset..offset + 1000).contains(&at), "{spot}");
    }
    // Both lie before the checkpoint: the tables are whole all the same.
    assert_eq!(report.damages, 2, "{findings:#?}");
    assert!(report.rows > 0);
}

#[test]
fn a_flipped_byte_in_the_base() {
    let (mut found, mut named, mut all) = (0, 0, 0);
    let whole = folder(false);
    let db = narwal_engine::open_base(&whole.path().join("base.redb")).unwrap();
    let txn = db.begin_read().unwrap();
    drop(txn);
    drop(db);
    let bytes = std::fs::read(whole.path().join("base.redb")).unwrap();
    let name = b"name 0000";
    // In rows and index entries of pages that are in use; old versions of pages hold the same words.
    let places: Vec<usize> = (0..bytes.len() - name.len())
        .filter(|&i| &bytes[i..i + name.len()] == name)
        .collect();
    for at in places.iter().step_by(places.len() / 12) {
        let dir = tempfile::tempdir().unwrap();
        copy_dir(whole.path(), dir.path());
        flip(&dir.path().join("base.redb"), at + 3);
        let (report, findings) = run(dir.path(), false);
        all += 1;
        if report.damages == 0 {
            continue;
        }
        found += 1;
        eprintln!(
            "at {at}: {}",
            findings
                .iter()
                .map(|f| f.to_string())
                .collect::<Vec<_>>()
                .join(" // ")
        );
        named += usize::from(findings.iter().any(|f| {
            f.offset
                .is_some_and(|o| (o..o + 65_536).contains(&(*at as u64)))
                && f.table.as_deref() == Some("d.keyed")
        }));
    }
    assert!(found >= all / 3, "{found} of {all}");
    assert!(named == found, "{named} of {found} named");
}

#[test]
fn a_missing_segment_and_a_folder_in_use() {
    let dir = folder(true);
    let files = segments(dir.path());
    let last = files.last().unwrap();
    if files.len() > 1 {
        std::fs::remove_file(&files[files.len() / 2]).unwrap();
        let (report, findings) = run(dir.path(), false);
        assert!(report.damages > 0, "{findings:#?}");
    }
    let _ = last;
    let dir = folder(false);
    let db = Database::open_with(dir.path(), options()).unwrap();
    let options = CheckOptions {
        disk: Arc::new(RealDisk),
        memory: 64 << 20,
        scratch: None,
        against_log: AgainstLog::Never,
    };
    let refused = check(dir.path(), &options, &mut Found::default());
    assert!(refused.unwrap_err().to_string().contains("in use"));
    db.close().unwrap();
}

/// A stopped folder whose log has several virtual files, purged and reset ones before them and numbers that were passed over, and large
/// transactions of which one was rolled back; the last is not in the base.
fn varied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        segment_size: 64 << 10,
        max_binlog_size: 16 << 10,
        oob_threshold: 2000,
        spill_bytes: 20_000,
        binlog_state_interval: 4096,
        background: false,
        ..Options::default()
    };
    let db = Database::open_with(dir.path(), options).unwrap();
    db.create_database("d").unwrap();
    let t = TableBuilder::new("d", "t")
        .column("id", TypeKind::Int, false)
        .column("text", TypeKind::VarChar(200), false)
        .primary_key(&["id"])
        .index("by_text", &["text"], false);
    db.create_table(t.build().unwrap()).unwrap();
    let t = db.catalog().table("d", "t").unwrap().clone();
    let mut next = 0;
    let mut some = |rows: i64, commit: bool| {
        let mut txn = db.begin(TxnOptions::default());
        txn.begin_statement(1, None);
        for id in next..next + rows {
            let text = format!("{id:0>100}");
            let row = t
                .row(&[ValueRef::Int(id), ValueRef::Str(text.as_bytes())])
                .unwrap();
            txn.insert(&t, row).unwrap();
        }
        txn.end_statement();
        if commit {
            txn.commit().unwrap();
            next += rows;
        } else {
            txn.rollback();
        }
    };
    for _ in 0..200 {
        some(1, true);
    }
    db.reset_master(None).unwrap();
    for _ in 0..300 {
        some(1, true);
    }
    some(400, true);
    some(300, false);
    db.checkpoint().unwrap();
    db.flush_binary_logs(&[]).unwrap();
    db.purge_binary_logs_to("narwal-bin.000003").unwrap();
    for _ in 0..100 {
        some(2, true);
    }
    db.checkpoint().unwrap();
    some(5, true);
    // As a replica does, whose source is there already.
    db.follow_file(500).unwrap();
    some(2000, true);
    db.sync().unwrap();
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), copy.path());
    db.close().unwrap();
    copy
}

#[test]
fn large_transactions_resets_and_purges_are_no_damage() {
    let dir = varied();
    let (report, findings) = run(dir.path(), true);
    assert_eq!(report.damages, 0, "{findings:#?}");
    assert!(report.chunks > 20 && report.runs > 3, "{report:?}");
    assert!(
        report.dead_chunks > 2 && report.dead_chunks < report.chunks / 2,
        "{report:?}"
    );
    assert!(report.states > 10 && report.index_points > 10, "{report:?}");
    // The head of the log is gone, which is told.
    let told = |what: &str| findings.iter().any(|f| f.what.contains(what));
    assert!(
        told("the tables were not compared with the log"),
        "{findings:#?}"
    );
    assert!(
        !told("the index over the log was not compared"),
        "{findings:#?}"
    );
}

/// The oldest segment that is left begins with the end of a purged file: a commit whose chunks stood in segments that are gone.
#[test]
fn a_group_of_a_purged_file_without_its_chunks_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        segment_size: 64 << 10,
        oob_threshold: 2000,
        background: false,
        ..Options::default()
    };
    let db = Database::open_with(dir.path(), options).unwrap();
    db.create_database("d").unwrap();
    let t = TableBuilder::new("d", "t")
        .column("id", TypeKind::Int, false)
        .column("text", TypeKind::VarChar(200), false)
        .primary_key(&["id"]);
    db.create_table(t.build().unwrap()).unwrap();
    let t = db.catalog().table("d", "t").unwrap().clone();
    let insert = |rows: std::ops::Range<i64>| {
        let mut txn = db.begin(TxnOptions::default());
        txn.begin_statement(1, None);
        for id in rows {
            let text = format!("{id:0>190}");
            let row = t
                .row(&[ValueRef::Int(id), ValueRef::Str(text.as_bytes())])
                .unwrap();
            txn.insert(&t, row).unwrap();
        }
        txn.end_statement();
        txn.commit().unwrap();
    };
    insert(0..3000);
    db.flush_binary_logs(&[]).unwrap();
    insert(3000..3001);
    db.checkpoint().unwrap();
    db.purge_binary_logs_to("narwal-bin.000002").unwrap();
    db.checkpoint().unwrap();
    insert(3001..3002);
    db.sync().unwrap();
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), copy.path());
    db.close().unwrap();
    let (report, findings) = run(copy.path(), true);
    assert_eq!(report.damages, 0, "{findings:#?}");
    // It is there, with some of its chunks at most.
    assert!(
        segments(copy.path()).len() < 4 && report.groups == 3,
        "{report:?}"
    );
}

/// Changes the index over the log in the base.
fn in_binlog_index(dir: &Path, work: impl FnOnce(&mut redb::Table<'_, Bytes, Bytes>)) {
    let db = narwal_engine::open_base(&dir.join("base.redb")).unwrap();
    let txn = db.begin_write().unwrap();
    work(
        &mut txn
            .open_table(TableDefinition::<Bytes, Bytes>::new("binlog_index"))
            .unwrap(),
    );
    txn.commit().unwrap();
}

/// The last but one entry whose key begins with `kind`.
fn late_entry(table: &redb::Table<'_, Bytes, Bytes>, kind: u8) -> (Vec<u8>, Vec<u8>) {
    let entries: Vec<_> = table
        .iter()
        .unwrap()
        .map(|e| e.unwrap())
        .map(|(k, v)| (k.value().to_vec(), v.value().to_vec()))
        .filter(|e| e.0[0] == kind)
        .collect();
    entries[entries.len() - 2].clone()
}

#[test]
fn an_index_that_differs_from_the_log() {
    type Harm = fn(&mut redb::Table<'_, Bytes, Bytes>);
    let harms: [(Harm, &str); 6] = [
        // A file's size.
        (
            |t| {
                let (k, mut v) = late_entry(t, b'f');
                v[32] ^= 1;
                t.insert(&k[..], &v[..]).unwrap();
            },
            "size",
        ),
        // A GTID before it.
        (
            |t| {
                let (k, mut v) = late_entry(t, b'f');
                *v.last_mut().unwrap() ^= 1;
                t.insert(&k[..], &v[..]).unwrap();
            },
            "GTIDs before it",
        ),
        (
            |t| {
                let k = late_entry(t, b'f').0;
                t.remove(&k[..]).unwrap();
            },
            "is not in the index",
        ),
        (
            |t| {
                let k = late_entry(t, b'p').0;
                t.remove(&k[..]).unwrap();
            },
            "not in the index",
        ),
        (
            |t| {
                let (mut k, v) = late_entry(t, b'p');
                *k.last_mut().unwrap() += 1;
                t.insert(&k[..], &v[..]).unwrap();
            },
            "the log has none",
        ),
        // A point's offset.
        (
            |t| {
                let (k, mut v) = late_entry(t, b'p');
                v[20] ^= 1;
                t.insert(&k[..], &v[..]).unwrap();
            },
            "the index says commit",
        ),
    ];
    let whole = varied();
    for (harm, what) in harms {
        let dir = tempfile::tempdir().unwrap();
        copy_dir(whole.path(), dir.path());
        in_binlog_index(dir.path(), harm);
        let (_, findings) = run(dir.path(), false);
        let f = only(&findings);
        assert!(f.what.contains(what), "{what}: {findings:#?}");
        assert!(f.lsn.is_some() && f.file.as_deref() == Some(&dir.path().join("base.redb")));
    }
}

#[test]
fn damaged_chunks_and_run_files() {
    let whole = varied();
    // A run file: in a block, which nobody reads at start.
    let runs = std::fs::read_dir(whole.path().join("spill")).unwrap();
    let mut runs: Vec<PathBuf> = runs.map(|e| e.unwrap().path()).collect();
    runs.sort();
    let dir = tempfile::tempdir().unwrap();
    copy_dir(whole.path(), dir.path());
    let run_file = dir.path().join("spill").join(runs[1].file_name().unwrap());
    flip(&run_file, 3000);
    let (_, findings) = run(dir.path(), false);
    let of_file = |f: &&Finding| f.damage && f.file.as_deref() == Some(&run_file);
    let f = findings.iter().find(of_file).unwrap();
    assert!(f.lsn.is_some() && f.what.contains("at offset"), "{f}");
    // Without it the start builds the rows again.
    std::fs::remove_file(&run_file).unwrap();
    let (report, findings) = run(dir.path(), false);
    assert_eq!(report.damages, 0, "{findings:#?}");
    assert!(findings.iter().any(|f| f.what.contains("can't be used")));
    // A chunk: text of one of the last large transaction's rows.
    let text = format!("{:0>100}", 2500);
    for segment in segments(whole.path()) {
        let bytes = std::fs::read(&segment).unwrap();
        let Some(at) = bytes.windows(100).position(|w| w == text.as_bytes()) else {
            continue;
        };
        let dir = tempfile::tempdir().unwrap();
        copy_dir(whole.path(), dir.path());
        let segment = dir.path().join("log").join(segment.file_name().unwrap());
        flip(&segment, at + 50);
        let (_, findings) = run(dir.path(), false);
        let spot = findings.iter().find(|f| f.damage).unwrap();
        assert_eq!(spot.file.as_deref(), Some(&*segment), "{findings:#?}");
        let offset = spot.offset.unwrap();
        assert!((offset..offset + 10_000).contains(&(at as u64)), "{spot}");
        return;
    }
    panic!("the row is in no segment");
}
