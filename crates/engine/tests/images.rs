//! Row images, binlog filters and `sql_log_bin=0` on a simulated disk that crashes.
//!
//! One seed is one story: random tables, random transactions under changing row images, crashes, recoveries. After each
//! recovery the rows and all indexes must be those of some commit not before the last acknowledged one, and a naive
//! reader that applies the events to nothing must come to the same rows; `check` finds no damage in what the crash left.
//! Some stories compress the log, some send transactions out of band, most roll back to savepoints. `NARWAL_SEEDS` sets
//! the number of seeds, `NARWAL_SEED` runs one.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{column, index, int};
use narwal_binlog::{Event, EventReader, GtidEvent, RowsKind, TableMap, VirtualConfig, value_len};
use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, Finding, check};
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use narwal_log::{DirReader, RecordKind};
use narwal_types::{
    BlobSize, Collation, ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value, ValueRef,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/data";
const IMAGES: [RowImage; 4] = [
    RowImage::Minimal,
    RowImage::Noblob,
    RowImage::Full,
    RowImage::FullNodup,
];

/// Sorted full row images of each table.
type Model = Vec<Vec<Vec<u8>>>;

/// What a seed decides about its whole story.
struct Plan {
    tables: Vec<TableDef>,
    filter: BinlogFilter,
    /// Some transactions have sql_log_bin=0: readers don't see everything.
    unlogged: bool,
    /// `binlog_row_event_max_size`.
    row_event: u32,
    /// `binlog_oob_threshold`.
    oob: u64,
    compression: Option<Compression>,
}

impl Plan {
    fn new(rng: &mut StdRng) -> Plan {
        let n = rng.random_range(1..4);
        let filtered = rng.random_bool(0.4);
        let tables = (0..n)
            .map(|i| {
                let db = if filtered && rng.random_bool(0.5) {
                    "ig"
                } else {
                    "d"
                };
                random_table(rng, db, &format!("t{i}"))
            })
            .collect();
        let mut filter = BinlogFilter::default();
        if filtered {
            match rng.random_range(0..4) {
                0 => filter.do_db = vec!["d".into()],
                1 => filter.ignore_table = vec!["d.t0".into(), "ig.t1".into()],
                2 => filter.do_table = vec!["d.t0".into(), "ig.t1".into(), "ig.t2".into()],
                _ => filter.ignore_db = vec!["ig".into()],
            }
        }
        Plan {
            tables,
            filter,
            unlogged: rng.random_bool(0.3),
            row_event: [8192, 256][rng.random_range(0..2)],
            oob: [1 << 20, 300][rng.random_range(0..2)],
            compression: rng.random_bool(0.4).then_some(Compression {
                level: 1,
                min_len: 100,
            }),
        }
    }

    fn options(&self, disk: &SimDisk) -> Options {
        Options {
            segment_size: 32 << 10,
            max_binlog_size: 4096,
            background: false,
            disk: Arc::new(disk.clone()),
            memory_budget: 4 << 20,
            binlog_filter: self.filter.clone(),
            binlog_row_event_max_size: self.row_event,
            oob_threshold: self.oob,
            compression: self.compression,
            spill_bytes: if self.oob < 1000 { 2000 } else { 0 },
            ..Options::default()
        }
    }
}

fn ty(kind: TypeKind, collation: Collation) -> ColumnType {
    ColumnType {
        kind,
        unsigned: false,
        collation,
        form: narwal_types::NumberForm::NONE,
    }
}

fn random_table(rng: &mut StdRng, db: &str, name: &str) -> TableDef {
    let text = Collation::Utf8mb4GeneralCi;
    let columns: Vec<ColumnDef> = (0..rng.random_range(2..12))
        .map(|i| {
            let other = [
                TypeKind::SmallInt,
                TypeKind::MediumInt,
                TypeKind::BigInt,
                TypeKind::Float,
                TypeKind::Double,
                TypeKind::Decimal(20, 7),
                TypeKind::Binary(8),
                TypeKind::VarBinary(300),
                TypeKind::Date,
                TypeKind::Time(3),
                TypeKind::DateTime(6),
                TypeKind::Timestamp(0),
                TypeKind::Year,
            ];
            let ty = match rng.random_range(0..9) {
                0 | 1 => int(),
                2 => ty(TypeKind::TinyInt, Collation::Binary),
                3 => ty(TypeKind::VarChar(20), text),
                4 => ty(TypeKind::Text(BlobSize::Normal), text),
                5 => ty(TypeKind::Blob(BlobSize::Medium), Collation::Binary),
                6 => ty(TypeKind::Char(8), text),
                _ => ColumnType::new(other[rng.random_range(0..other.len())]),
            };
            column(&format!("c{i}"), ty, rng.random_bool(0.5))
        })
        .collect();
    let mut def = TableDef {
        id: 0,
        db: db.into(),
        name: name.into(),
        columns,
        indexes: Vec::new(),
        hidden_index_id: 0,
        collation: text,
        comment: String::new(),
        auto_increment_start: 0,
        engine: "InnoDB".into(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    };
    let mut add = |rng: &mut StdRng, name: &str, unique: bool, not_null: bool| {
        let all: Vec<usize> = (0..def.columns.len()).collect();
        let first = all[rng.random_range(0..all.len())];
        let second = all[rng.random_range(0..all.len())];
        let mut columns = vec![first];
        if second != first && rng.random_bool(0.4) {
            columns.push(second);
        }
        let mut ix = index(name, unique, &columns);
        for c in &mut ix.columns {
            if matches!(
                def.columns[c.column].ty.kind,
                TypeKind::Text(_) | TypeKind::Blob(_)
            ) {
                c.prefix = Some(3);
            }
            if not_null {
                def.columns[c.column].nullable = false;
            }
        }
        def.indexes.push(ix);
    };
    if rng.random_bool(0.5) {
        add(rng, "PRIMARY", true, true);
    }
    if rng.random_bool(0.5) {
        let not_null = rng.random_bool(0.7);
        add(rng, "u", true, not_null);
    }
    if rng.random_bool(0.7) {
        add(rng, "k", false, false);
    }
    def
}

fn random_value(rng: &mut StdRng, c: &ColumnDef) -> Value {
    if c.nullable && rng.random_bool(0.3) {
        return Value::Null;
    }
    match c.ty.kind {
        TypeKind::Int => Value::Int(rng.random_range(-20..20)),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::BigInt => {
            Value::Int(rng.random_range(0..3))
        }
        TypeKind::Float => Value::Float(rng.random_range(-2..2) as f32),
        TypeKind::Double => Value::Double(f64::from(rng.random_range(-2..2)) / 4.0),
        TypeKind::Decimal(..) => Value::Decimal(Decimal::from_i128(rng.random_range(-300..300), 2)),
        TypeKind::Date => Value::Date(random_date(rng)),
        TypeKind::Time(fsp) => Value::Time(Time {
            micros: rng.random_range(-9..9) * 1_234_000,
            fsp,
        }),
        TypeKind::DateTime(fsp) | TypeKind::Timestamp(fsp) => Value::DateTime(DateTime {
            date: random_date(rng),
            micros: rng.random_range(0..3) * 1_000_000 + if fsp == 6 { 5 } else { 0 },
            fsp,
        }),
        TypeKind::Year => Value::Int(rng.random_range(2020..2024)),
        _ => {
            let long =
                matches!(c.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) && rng.random_bool(0.3);
            let n = if long {
                rng.random_range(0..400)
            } else {
                rng.random_range(0..6)
            };
            let s: String = (0..n)
                .map(|_| b"abAB"[rng.random_range(0..4usize)] as char)
                .collect();
            Value::str(s)
        }
    }
}

fn random_date(rng: &mut StdRng) -> Date {
    Date {
        year: 2024,
        month: 2,
        day: rng.random_range(1..5),
    }
}

/// Changes a row's columns at random, or makes one from nothing.
fn random_row(rng: &mut StdRng, t: &Table, old: Option<&[u8]>) -> Vec<u8> {
    let mut values: Vec<Value> = match old {
        Some(row) => {
            let mut v = Vec::new();
            t.layout.decode_into(row, &mut v).unwrap();
            v.iter().map(ValueRef::to_value).collect()
        }
        None => t.columns().iter().map(|c| random_value(rng, c)).collect(),
    };
    if old.is_some() {
        for (v, c) in values.iter_mut().zip(t.columns()) {
            if rng.random_bool(0.25) {
                *v = random_value(rng, c);
            }
        }
    }
    let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
    let mut row = Vec::new();
    t.layout.encode(&refs, &mut row).unwrap();
    row
}

fn rows_of(db: &Database, t: &Arc<Table>, index: usize) -> Vec<Vec<u8>> {
    let mut x = common::begin(db);
    let mut out = Vec::new();
    let mut s = x
        .scan(t, index, KeyRange::all(), false, ReadView::Snapshot, false)
        .unwrap();
    while let Some(i) = s.next().unwrap() {
        out.push(i.row.to_vec());
    }
    out.sort();
    out
}

fn read_model(db: &Database, plan: &Plan) -> Model {
    let catalog = db.catalog();
    let tables = plan.tables.iter();
    tables
        .map(|def| match catalog.table(&def.db, &def.name) {
            Some(t) => {
                let rows = rows_of(db, t, 0);
                for i in 1..t.indexes.len() {
                    assert_eq!(rows, rows_of(db, t, i), "index {}", t.indexes[i].name);
                }
                assert_eq!(db.table_rows(t), rows.len() as u64);
                rows
            }
            None => Vec::new(),
        })
        .collect()
}

fn transaction(
    db: &Database,
    rng: &mut StdRng,
    plan: &Plan,
    before: &Model,
) -> Result<Option<Model>> {
    let catalog = db.catalog();
    let mut m = before.clone();
    let mut x = db.begin(TxnOptions {
        log_bin: !(plan.unlogged && rng.random_bool(0.3)),
        row_image: IMAGES[rng.random_range(0..4)],
        ..TxnOptions::default()
    });
    let mut savepoint = None;
    for _ in 0..rng.random_range(1..8) {
        match (rng.random_range(0..8), &savepoint) {
            (0 | 1, _) => savepoint = Some((x.savepoint(), m.clone())),
            (2, Some((at, then))) => {
                x.rollback_to(at);
                m.clone_from(then);
            }
            _ => {}
        }
        if rng.random_bool(0.3) {
            x.set_row_image(IMAGES[rng.random_range(0..4)]);
        }
        x.begin_statement(7, rng.random_bool(0.3).then_some(b"annotated"));
        let undo = m.clone();
        for _ in 0..rng.random_range(1..8) {
            let at = rng.random_range(0..plan.tables.len());
            let def = &plan.tables[at];
            let t = catalog.table(&def.db, &def.name).unwrap();
            let rows = &mut m[at];
            if rows.is_empty() || rng.random_bool(0.35) {
                let row = random_row(rng, t, None);
                match x.insert(t, row.clone()) {
                    Ok(()) => rows.push(row),
                    Err(EngineError::Duplicate { .. }) => {}
                    Err(e) => return Err(e),
                }
                continue;
            }
            let n = rng.random_range(0..rows.len());
            let pk = {
                let mut s = x.scan(t, 0, KeyRange::all(), false, ReadView::Current, false)?;
                for _ in 0..n {
                    s.next()?;
                }
                s.next()?.unwrap().pk.to_vec()
            };
            let old = x
                .lock_row(t, &pk, LockMode::Exclusive, LockWait::Wait)?
                .unwrap();
            let mut gone = || {
                let i = rows.iter().position(|r| **r == *old).unwrap();
                rows.remove(i);
            };
            if rng.random_bool(0.25) {
                x.delete(t, &pk, &old)?;
                gone();
            } else {
                let row = random_row(rng, t, Some(&old));
                match x.update(t, &pk, &old, row.clone()) {
                    Ok(()) => {
                        gone();
                        rows.push(row);
                    }
                    Err(EngineError::Duplicate { .. }) => {}
                    Err(e) => return Err(e),
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
    for rows in &mut m {
        rows.sort();
    }
    Ok((x.commit()?.seq != 0).then_some(m))
}

/// A row as the naive reader has it: each column's bytes.
type Columns = Vec<Option<Vec<u8>>>;

/// Reads an image with only the table map's types to go by. Columns that are not in it are `None`.
fn read_image(map: &TableMap<'_>, present: &[u8], image: &[u8]) -> Vec<Option<Option<Vec<u8>>>> {
    let bit = |b: &[u8], i: usize| b[i / 8] >> (i % 8) & 1 == 1;
    let n = map.column_count();
    let count = (0..n).filter(|&i| bit(present, i)).count();
    let mut at = count.div_ceil(8);
    let mut nth = 0;
    let row = (0..n)
        .map(|i| {
            bit(present, i).then(|| {
                let null = bit(image, nth);
                nth += 1;
                (!null).then(|| {
                    let (code, meta) = map.column_type(i);
                    let len = value_len(code, meta, &image[at..]).unwrap();
                    at += len;
                    image[at - len..at].to_vec()
                })
            })
        })
        .collect();
    assert_eq!(at, image.len());
    row
}

/// What the log tells a reader.
#[derive(Default)]
struct Seen {
    /// Rows of each table of the plan, sorted.
    tables: Vec<Vec<Columns>>,
    gtids: u64,
    /// Groups with chunks.
    oob: u64,
    /// Rows events with partial images.
    partial: u64,
}

fn replay_events(disk: &SimDisk, plan: &Plan) -> Seen {
    let mut seen = Seen {
        tables: vec![Vec::new(); plan.tables.len()],
        ..Seen::default()
    };
    let dir = Path::new(DIR).join("log");
    let records = FolderRecords::open(Arc::new(disk.clone()), &dir)
        .unwrap()
        .unwrap();
    let mut reader = GroupReader::new(records, VirtualConfig::default(), None).with_local();
    while let Some(head) = reader.next_group().unwrap() {
        let mut group = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            group.extend_from_slice(event);
        }
        if head.kind == GroupKind::Local {
            continue;
        }
        seen.oob += u64::from(head.chunks > 0);
        let mut map: Option<TableMap<'_>> = None;
        for e in EventReader::new(&group) {
            match e.unwrap().decode().unwrap() {
                Event::Gtid(GtidEvent { gtid, .. }) => {
                    seen.gtids += 1;
                    assert_eq!(gtid.seq, seen.gtids, "GTIDs without gap");
                }
                Event::TableMap(m) => {
                    assert!(plan.filter.logs_rows(m.db, m.table), "a filtered table");
                    map = Some(m);
                }
                Event::Rows(rows) => {
                    let map = map.as_ref().unwrap();
                    let at = plan
                        .tables
                        .iter()
                        .position(|d| d.db == map.db && d.name == map.table)
                        .unwrap();
                    seen.partial += u64::from(!rows.is_full_image());
                    if plan.unlogged {
                        assert!(rows.rows(map).unwrap().all(|r| r.is_ok()));
                        continue;
                    }
                    let table = &mut seen.tables[at];
                    for change in rows.rows(map).unwrap() {
                        let change = change.unwrap();
                        let mut row: Columns = vec![None; rows.column_count];
                        if let Some(b) = change.before {
                            let before = read_image(map, rows.present, b);
                            let matches = |row: &Columns| {
                                row.iter()
                                    .zip(&before)
                                    .all(|(have, want)| want.as_ref().is_none_or(|w| w == have))
                            };
                            let mut hits = (0..table.len()).filter(|&i| matches(&table[i]));
                            let hit = hits.next().expect("the before image is of a row");
                            let others: Vec<usize> = hits.collect();
                            assert!(
                                others.iter().all(|&i| table[i] == table[hit]),
                                "the before image tells which row"
                            );
                            row = table.remove(hit);
                        }
                        if let Some(a) = change.after {
                            let present = rows.present_after.unwrap_or(rows.present);
                            for (have, new) in row.iter_mut().zip(read_image(map, present, a)) {
                                if let Some(v) = new {
                                    *have = v;
                                } else {
                                    assert_ne!(rows.kind, RowsKind::Write, "inserts are whole");
                                }
                            }
                            table.push(row);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    reader.records_mut().end().unwrap();
    for t in &mut seen.tables {
        t.sort();
    }
    seen
}

/// Commits that readers don't see, filtered DDL among them.
fn local_commits(disk: &SimDisk) -> usize {
    let mut reader = DirReader::open(Arc::new(disk.clone()), &Path::new(DIR).join("log"))
        .unwrap()
        .unwrap();
    let mut n = 0;
    while let Some(r) = reader.next().unwrap() {
        n += usize::from(r.kind == RecordKind::LocalCommit);
    }
    n
}

/// The model's rows as the naive reader sees them.
fn columns_of(db: &Database, def: &TableDef, rows: &[Vec<u8>]) -> Vec<Columns> {
    let catalog = db.catalog();
    let t = catalog.table(&def.db, &def.name).unwrap();
    let mut out: Vec<Columns> = rows
        .iter()
        .map(|row| {
            (0..t.columns().len())
                .map(|i| {
                    let mut one = vec![0; t.layout.bitmap_len()];
                    narwal_types::row::partial::set_bit(&mut one, i);
                    let mut cut = Vec::new();
                    t.layout.cut(row, &one, &mut cut).unwrap();
                    (cut[0] & 1 == 0).then(|| cut[1..].to_vec())
                })
                .collect()
        })
        .collect();
    out.sort();
    out
}

struct Damages(Vec<String>);

impl CheckObserver for Damages {
    fn finding(&mut self, f: &Finding) {
        if f.damage {
            self.0.push(f.to_string());
        }
    }
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

/// What a crash leaves is no damage.
fn check_whole(disk: &SimDisk, seed: u64) {
    let mut found = Damages(Vec::new());
    let options = CheckOptions {
        disk: Arc::new(disk.clone()),
        memory: 4 << 20,
        scratch: None,
        against_log: AgainstLog::Always,
    };
    check(Path::new(DIR), &options, &mut found).unwrap();
    assert!(found.0.is_empty(), "seed {seed}: {:#?}", found.0);
}

/// Runs a story; returns how many partial rows events, groups with chunks and local commits it had at the end.
fn story(seed: u64) -> [u64; 3] {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut disk = SimDisk::new();
    let plan = Plan::new(&mut rng);
    let mut d = Database::open_with(DIR, plan.options(&disk)).unwrap();
    for name in ["d", "ig"] {
        let def = DatabaseDef {
            name: name.into(),
            collation: Collation::Utf8mb4GeneralCi,
            comment: String::new(),
        };
        common::ddl(&d, "CREATE DATABASE", vec![CatalogChange::PutDatabase(def)]).unwrap();
    }
    for t in &plan.tables {
        common::ddl(
            &d,
            "CREATE TABLE",
            vec![CatalogChange::CreateTable(t.clone())],
        )
        .unwrap();
    }
    let start = 2 + plan.tables.len();
    let mut history: Vec<Model> = vec![vec![Vec::new(); plan.tables.len()]; start + 1];
    let mut last = [0; 3];
    for round in 0..4 {
        let mut acked = history.len() - 1;
        disk.power_off_in(rng.random_range(20..300));
        for _ in 0..rng.random_range(5..40) {
            let base = history.last().unwrap().clone();
            let r = match rng.random_range(0..20) {
                0 => d.checkpoint().map(|()| None),
                1 => {
                    d.set_binlog_row_metadata(
                        RowMetadata::from_u8(rng.random_range(0..3)).unwrap(),
                    );
                    Ok(None)
                }
                _ => transaction(&d, &mut rng, &plan, &base),
            };
            match r {
                Ok(Some(m)) => {
                    history.push(m);
                    acked = history.len() - 1;
                }
                Ok(None) => {}
                Err(_) => break,
            }
        }
        let next = if rng.random_bool(0.7) || disk.is_off() {
            disk.crash(seed ^ round)
        } else {
            disk.kill()
        };
        drop(d);
        disk = next;
        check_whole(&disk, seed);
        d = match Database::open_with(DIR, plan.options(&disk)) {
            Ok(d) => d,
            Err(e) => panic!("seed {seed} round {round}: does not open: {e}"),
        };
        let found = read_model(&d, &plan);
        let commits = d
            .stats()
            .values
            .iter()
            .find(|v| v.0 == "Narwal_visible_seq")
            .unwrap()
            .1 as usize;
        assert!(
            commits >= acked,
            "seed {seed} round {round}: acknowledged {acked}, found {commits}"
        );
        if commits < history.len() {
            assert_eq!(
                found, history[commits],
                "seed {seed} round {round}: not the state after commit {commits}"
            );
            history.truncate(commits + 1);
        } else {
            assert_eq!(commits, history.len(), "seed {seed} round {round}");
            history.push(found.clone());
        }
        let seen = replay_events(&disk, &plan);
        assert_eq!(
            seen.gtids as usize + local_commits(&disk),
            commits,
            "seed {seed} round {round}"
        );
        for (at, def) in plan.tables.iter().enumerate() {
            let want = if plan.unlogged || !plan.filter.logs_rows(&def.db, &def.name) {
                Vec::new()
            } else {
                columns_of(&d, def, &found[at])
            };
            assert_eq!(
                seen.tables[at], want,
                "seed {seed} round {round}: events of {}.{}",
                def.db, def.name
            );
        }
        last = [seen.partial, seen.oob, local_commits(&disk) as u64];
    }
    last
}

#[test]
fn recovery_is_exact_under_every_image_and_filter() {
    if let Some(seed) = std::env::var("NARWAL_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
    {
        story(seed);
        return;
    }
    let n: u64 = std::env::var("NARWAL_SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(60);
    let mut total = [0; 3];
    for seed in 0..n {
        for (t, n) in total.iter_mut().zip(story(seed)) {
            *t += n;
        }
    }
    assert!(
        total.iter().all(|n| *n > 0),
        "the stories are about something: {total:?}"
    );
}
