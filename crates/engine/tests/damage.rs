//! Bits that flip in the base: found, harmless or refused, and never other rows.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_engine::backup::BackupOptions;
use narwal_engine::catalog::CatalogChange;
use narwal_engine::db::Ddl;
use narwal_engine::{
    Database, EngineError, KeyRange, LockMode, LockWait, Options, ReadView, TableBuilder,
    TxnOptions,
};
use narwal_types::{TypeKind, ValueRef};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> Options {
    Options {
        segment_size: 1 << 20,
        background: false,
        // As good as no memory for the base's pages.
        memory_budget: 1 << 20,
        ..Options::default()
    }
}

fn open(dir: &Path) -> Result<Database, EngineError> {
    Database::open_with(dir, options())
}

/// Two tables in the base; the rows of `bad` hold "bad row", those of `good` "good row".
fn folder(rows: i64) -> tempfile::TempDir {
    folder_of(rows, rows)
}

fn folder_of(bad: i64, good: i64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    db.create_database("d").unwrap();
    for (name, rows) in [("bad", bad), ("good", good)] {
        let table = TableBuilder::new("d", name)
            .column("id", TypeKind::Int, false)
            .column("name", TypeKind::VarChar(200), false)
            .primary_key(&["id"]);
        db.create_table(table.build().unwrap()).unwrap();
        write(&db, name, 0..rows, "first").unwrap();
    }
    db.close().unwrap();
    dir
}

fn text(table: &str, id: i64, word: &str) -> String {
    format!("{table} row {id} {word} {}", "x".repeat(120))
}

fn write(
    db: &Database,
    name: &str,
    ids: impl Iterator<Item = i64>,
    word: &str,
) -> Result<(), EngineError> {
    let table = db.catalog().table("d", name).unwrap().clone();
    let ids: Vec<i64> = ids.collect();
    for ids in ids.chunks(200) {
        let mut txn = db.begin(TxnOptions::default());
        txn.begin_statement(1, None);
        for &id in ids {
            let text = text(name, id, word);
            let row = table
                .row(&[ValueRef::Int(id), ValueRef::Str(text.as_bytes())])
                .unwrap();
            if word == "first" {
                txn.insert(&table, row)?;
                continue;
            }
            let pk = table.key(0, &[ValueRef::Int(id)]).unwrap();
            let old = txn
                .lock_row(&table, &pk, LockMode::Exclusive, LockWait::Wait)?
                .unwrap();
            txn.update(&table, &pk, &old, row)?;
        }
        txn.end_statement();
        txn.commit()?;
    }
    Ok(())
}

/// All rows by one scan.
fn scan(db: &Database, name: &str) -> Result<Rows, EngineError> {
    let table = db.catalog().table("d", name).unwrap().clone();
    let mut txn = db.begin(TxnOptions::default());
    let mut scan = txn.scan(&table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
    let mut rows = Rows::new();
    while let Some(item) = scan.next()? {
        rows.insert(item.pk.to_vec(), item.row.to_vec());
    }
    Ok(rows)
}

/// Each row by its key: those that can be read, and how many can't.
fn points(db: &Database, name: &str, rows: i64) -> (Rows, u64) {
    let table = db.catalog().table("d", name).unwrap().clone();
    let (mut got, mut failed) = (Rows::new(), 0);
    for id in 0..rows {
        let pk = table.key(0, &[ValueRef::Int(id)]).unwrap();
        match db.begin(TxnOptions::default()).get(&table, &pk) {
            Ok(Some(row)) => {
                got.insert(pk, row.to_vec());
            }
            Ok(None) => panic!("row {id} is gone"),
            Err(e) => {
                named(&e, name);
                failed += 1;
            }
        }
    }
    (got, failed)
}

/// The error is of damage, and says where.
#[track_caller]
fn named(e: &EngineError, table: &str) {
    let sql = e.to_sql();
    let text = sql.to_string();
    assert_eq!(sql.code, 1712, "{text}");
    for word in [&format!("d.{table}.PRIMARY"), "base.redb", "offset"] {
        assert!(text.contains(word), "{text}");
    }
}

fn base(dir: &Path) -> PathBuf {
    dir.join("base.redb")
}

fn flip(dir: &Path, at: u64, mask: u8) {
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(base(dir))
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ mask], at).unwrap();
}

/// Where the file holds `text`, in all versions of a page that are there.
fn find(dir: &Path, text: &str) -> Vec<u64> {
    let bytes = std::fs::read(base(dir)).unwrap();
    memmem(&bytes, text.as_bytes())
}

fn memmem(bytes: &[u8], what: &[u8]) -> Vec<u64> {
    (0..bytes.len().saturating_sub(what.len()))
        .filter(|&i| bytes[i] == what[0] && &bytes[i..i + what.len()] == what)
        .map(|i| i as u64)
        .collect()
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

/// Damages all copies of a row of `bad`.
fn damage(dir: &Path, id: i64) -> usize {
    let places = find(dir, &text("bad", id, "first"));
    for at in &places {
        flip(dir, at + 20, 1);
    }
    assert!(!places.is_empty());
    places.len()
}

#[test]
fn no_flip_shows_other_rows() {
    let whole = folder(150);
    let want = {
        let copy = tempfile::tempdir().unwrap();
        copy_dir(whole.path(), copy.path());
        let db = open(copy.path()).unwrap();
        let want = ["bad", "good"].map(|t| scan(&db, t).unwrap());
        assert!(db.scrub().unwrap().is_empty());
        want
    };
    let len = std::fs::metadata(base(whole.path())).unwrap().len();
    // Places with something in them, and some without.
    let bytes = std::fs::read(base(whole.path())).unwrap();
    let mut places: Vec<u64> = (0..len).filter(|i| bytes[*i as usize] != 0).collect();
    let step = (places.len() / 110).max(1);
    places = places.into_iter().step_by(step).collect();
    // The heads and the first checksums, more densely.
    places.extend((0..400).step_by(17).chain((4096..4500).step_by(31)));
    places.extend((8192..8700).step_by(23));
    let (mut refused, mut found, mut harmless) = (0, 0, 0);
    for (n, at) in places.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        copy_dir(whole.path(), dir.path());
        flip(dir.path(), at, 1 << (n % 8));
        let db = match open(dir.path()) {
            Ok(db) => db,
            Err(e) => {
                let text = e.to_string();
                assert!(
                    text.contains("base.redb") && text.contains("offset"),
                    "{text}"
                );
                eprintln!("byte {at}: {text}");
                refused += 1;
                continue;
            }
        };
        let scrubbed = db.scrub().unwrap();
        let mut seen = !scrubbed.is_empty();
        for (name, want) in ["bad", "good"].iter().zip(&want) {
            match scan(&db, name) {
                Ok(rows) => assert!(rows == *want, "byte {at}: other rows of {name}"),
                Err(e) => {
                    named(&e, name);
                    // What a statement meets the scrub finds, too.
                    assert!(!scrubbed.is_empty(), "byte {at}: {e}");
                    seen = true;
                }
            }
        }
        if seen {
            found += 1;
        } else {
            harmless += 1;
        }
        db.close().unwrap();
    }
    eprintln!("refused {refused}, found {found}, harmless {harmless}");
    assert!(found > 20 && harmless > 10);
}

#[test]
fn damage_of_a_running_folder_is_of_its_page_only() {
    let rows = 2000;
    let dir = folder_of(rows, 30_000);
    let db = open(dir.path()).unwrap();
    let want = scan(&db, "bad").unwrap();
    damage(dir.path(), 700);
    // Where a page is in memory it is shown as it was read; then it leaves memory.
    for _ in 0..2 {
        match scan(&db, "bad") {
            Ok(rows) => assert!(rows == want),
            Err(e) => named(&e, "bad"),
        }
        scan(&db, "good").unwrap();
    }
    for _ in 0..2 {
        named(&scan(&db, "bad").unwrap_err(), "bad");
        let (got, failed) = points(&db, "bad", rows);
        assert!((1..200).contains(&failed), "{failed}");
        assert!(got.iter().all(|(k, v)| want[k] == *v));
        assert_eq!(scan(&db, "good").unwrap().len(), 30_000);
        assert_eq!(points(&db, "good", rows).1, 0);
    }
    // Writes go on as well, and so do checkpoints: what they change is not in the damaged page.
    write(&db, "good", (0..rows).step_by(3), "second").unwrap();
    write(&db, "bad", 1900..1950, "second").unwrap();
    db.checkpoint().unwrap();
    assert_eq!(db.scrub().unwrap().len(), 1);
    named(&db.scrub().unwrap()[0], "bad");
}

#[test]
fn a_bit_that_comes_back_is_read_again() {
    let dir = folder_of(2000, 30_000);
    let db = open(dir.path()).unwrap();
    let want = scan(&db, "bad").unwrap();
    scan(&db, "good").unwrap();
    scan(&db, "good").unwrap();
    let places = find(dir.path(), &text("bad", 700, "first"));
    places.iter().for_each(|at| flip(dir.path(), at + 20, 1));
    scan(&db, "bad").unwrap_err();
    places.iter().for_each(|at| flip(dir.path(), at + 20, 1));
    assert!(scan(&db, "bad").unwrap() == want);
}

fn stat(db: &Database, name: &str) -> u64 {
    let stats = db.stats();
    let mut all = stats.values.iter();
    all.find(|(n, _)| *n == name).unwrap().1
}

fn drop_table(db: &Database, name: &str) {
    let (db_name, name) = ("d".to_owned(), name.to_owned());
    let text = format!("DROP TABLE {name}");
    change(db, &text, CatalogChange::DropTable { db: db_name, name });
}

fn change(db: &Database, sql: &str, change: CatalogChange) {
    let ddl = Ddl {
        sql: sql.to_owned(),
        db: "d".into(),
        changes: vec![change],
        ..Ddl::default()
    };
    db.ddl(ddl, &TxnOptions::default()).unwrap();
}

fn backup(db: &Database) -> Result<(), EngineError> {
    let mut backup = db.begin_backup(BackupOptions::default())?;
    while backup.next_piece()?.is_some() {}
    Ok(())
}

#[test]
fn a_checkpoint_leaves_a_damaged_table_alone() {
    let rows = 300;
    let dir = folder_of(rows, 30_000);
    let open = |dir: &Path| {
        let options = Options {
            memory_budget: 4 << 20,
            ..options()
        };
        Database::open_with(dir, options)
    };
    let db = open(dir.path()).unwrap();
    let old = scan(&db, "bad").unwrap();
    write(&db, "bad", 0..rows, "second").unwrap();
    write(&db, "good", 0..rows, "second").unwrap();
    damage(dir.path(), 150);
    // What was in memory leaves it.
    let want = scan(&db, "good").unwrap();
    let before = stat(&db, "Narwal_checkpoint_lsn");
    db.checkpoint().unwrap();
    assert!(stat(&db, "Narwal_checkpoint_lsn") > before);
    assert_eq!(stat(&db, "Narwal_damaged_tables"), 1);
    let holds = |db: &Database| {
        // No acknowledged row is lost, and no old one shows.
        let (got, _) = points(db, "bad", rows);
        assert_eq!(got.len(), rows as usize, "all of them were changed");
        assert!(got.iter().all(|(k, v)| old[k] != *v));
        let e = write(db, "bad", 0..1, "third").unwrap_err();
        assert_eq!(e.to_sql().code, 1712);
        assert!(e.to_string().contains("takes no writes"), "{e}");
        assert!(scan(db, "good").unwrap() == want);
        write(db, "good", 0..10, "second").unwrap();
    };
    holds(&db);
    // Later checkpoints do not know of it any less.
    db.checkpoint().unwrap();
    holds(&db);
    named(&backup(&db).unwrap_err(), "bad");
    db.close().unwrap();
    drop(db);
    let db = open(dir.path()).unwrap();
    holds(&db);
    db.sync().unwrap();
    // As after a crash.
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), copy.path());
    drop(db);
    let dir = copy;
    let db = open(dir.path()).unwrap();
    holds(&db);
    drop_table(&db, "bad");
    db.checkpoint().unwrap();
    assert_eq!(stat(&db, "Narwal_damaged_tables"), 0);
    assert!(db.scrub().unwrap().is_empty());
    backup(&db).unwrap();
    let left = std::fs::read_dir(dir.path().join("spill")).unwrap().count();
    assert_eq!(left, 0, "run files of a table that is gone");
    db.close().unwrap();
    drop(db);
    let db = open(dir.path()).unwrap();
    assert!(scan(&db, "good").unwrap() == want);
    write(&db, "good", 0..10, "third").unwrap();
    db.checkpoint().unwrap();
}

#[test]
fn no_backup_copies_damage() {
    let dir = folder(500);
    let db = open(dir.path()).unwrap();
    backup(&db).unwrap();
    damage(dir.path(), 100);
    named(&backup(&db).unwrap_err(), "bad");
}

#[test]
fn either_head_may_be_damaged() {
    let dir = folder(200);
    for (place, page) in [(70, 0), (4096 + 70, 4096)] {
        flip(dir.path(), place, 4);
        let db = open(dir.path()).unwrap();
        scan(&db, "bad").unwrap();
        write(&db, "good", 0..1, "second").unwrap();
        db.checkpoint().unwrap();
        db.close().unwrap();
        drop(db);
        // It was written again.
        let bytes = std::fs::read(base(dir.path())).unwrap();
        assert_eq!(&bytes[page..page + 8], b"NARWALBA");
        let other = 4096 - page;
        assert_eq!(bytes[page..page + 4096], bytes[other..other + 4096]);
    }
    flip(dir.path(), 70, 4);
    flip(dir.path(), 4096 + 70, 4);
    let e = open(dir.path()).err().unwrap().to_string();
    assert!(e.contains("base.redb") && e.contains("heads"), "{e}");
}

#[test]
fn a_base_without_checksums_is_refused() {
    let dir = folder(10);
    std::fs::remove_file(base(dir.path())).unwrap();
    drop(redb::Database::create(base(dir.path())).unwrap());
    let e = open(dir.path()).err().unwrap().to_string();
    assert!(e.contains("older version"), "{e}");
}

#[test]
fn without_its_damaged_index_a_table_is_as_all_others() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        memory_budget: 32 << 20,
        ..options()
    };
    let open = || Database::open_with(dir.path(), options.clone()).unwrap();
    let db = open();
    db.create_database("d").unwrap();
    let table = TableBuilder::new("d", "bad")
        .column("id", TypeKind::Int, false)
        .column("name", TypeKind::VarChar(200), false)
        .primary_key(&["id"])
        .index("by_name", &["name"], false);
    db.create_table(table.build().unwrap()).unwrap();
    let rows = 3000;
    write(&db, "bad", 0..rows, "first").unwrap();
    db.close().unwrap();
    drop(db);
    // The first block that is one of the index.
    let db = open();
    let len = std::fs::metadata(base(dir.path())).unwrap().len();
    let block = (3..len / 4096).map(|b| b * 4096 + 99).find(|&at| {
        flip(dir.path(), at, 1);
        let found = db.scrub().unwrap();
        let hit = found
            .iter()
            .any(|e| e.to_string().contains("d.bad.by_name"));
        if !hit {
            flip(dir.path(), at, 1);
        }
        hit
    });
    assert!(block.is_some());
    drop(db);
    let db = open();
    write(&db, "bad", 0..rows, "second").unwrap();
    db.checkpoint().unwrap();
    assert_eq!(stat(&db, "Narwal_damaged_tables"), 1);
    write(&db, "bad", 0..1, "third").unwrap_err();
    let want = scan(&db, "bad").unwrap();
    change(
        &db,
        "DROP INDEX by_name ON bad",
        CatalogChange::DropIndex {
            db: "d".into(),
            table: "bad".into(),
            index: "by_name".into(),
        },
    );
    // At once, and the changes that stood apart come together with the others.
    write(&db, "bad", 0..1, "third").unwrap();
    db.checkpoint().unwrap();
    assert_eq!(stat(&db, "Narwal_damaged_tables"), 0);
    let now = scan(&db, "bad").unwrap();
    assert_eq!(now.len(), want.len());
    let differ = now.iter().filter(|(k, v)| want[*k] != **v).count();
    assert_eq!(differ, 1);
    db.close().unwrap();
    drop(db);
    let db = open();
    assert!(scan(&db, "bad").unwrap() == now);
    backup(&db).unwrap();
}
