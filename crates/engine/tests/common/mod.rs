//! Shared by the engine's tests: a small table and helpers.
#![allow(dead_code)]

use narwal_engine::*;
use narwal_types::key::{KeyPart, encode_value};
use narwal_types::{Collation, ColumnType, TypeKind, ValueRef};
use std::sync::Arc;

pub fn int() -> ColumnType {
    ColumnType {
        kind: TypeKind::Int,
        unsigned: false,
        collation: Collation::Binary,
        form: narwal_types::NumberForm::NONE,
    }
}

pub fn varchar(n: u16) -> ColumnType {
    ColumnType {
        kind: TypeKind::VarChar(n),
        unsigned: false,
        collation: Collation::Utf8mb4GeneralCi,
        form: narwal_types::NumberForm::NONE,
    }
}

pub fn column(name: &str, ty: ColumnType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, ty, nullable)
}

pub fn index(name: &str, unique: bool, columns: &[usize]) -> IndexDef {
    IndexDef {
        id: 0,
        name: name.into(),
        unique,
        columns: columns
            .iter()
            .map(|&column| IndexColumn {
                column,
                prefix: None,
                desc: false,
            })
            .collect(),
        comment: String::new(),
        implied: false,
        hashed: false,
        ignored: false,
        method: None,
        key_block_size: 0,
        without_overlaps: false,
    }
}

/// `t(id INT [PRIMARY KEY], k INT NULL, c VARCHAR(20))`, an index on k, a unique one on c.
pub fn table_def(name: &str, pk: bool, unique_c: bool) -> TableDef {
    let mut indexes = Vec::new();
    if pk {
        indexes.push(index("PRIMARY", true, &[0]));
    }
    indexes.push(index("k", false, &[1]));
    if unique_c {
        indexes.push(index("c", true, &[2]));
    }
    TableDef {
        id: 0,
        db: "d".into(),
        name: name.into(),
        columns: vec![
            column("id", int(), false),
            column("k", int(), true),
            column("c", varchar(20), false),
        ],
        indexes,
        hidden_index_id: 0,
        collation: Collation::Utf8mb4GeneralCi,
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
    }
}

pub fn ddl(db: &Database, sql: &str, changes: Vec<CatalogChange>) -> Result<CommitInfo> {
    db.ddl(
        Ddl {
            sql: sql.into(),
            db: "d".into(),
            changes,
            timestamp: 1,
            ..Ddl::default()
        },
        &TxnOptions::default(),
    )
}

pub fn create(db: &Database, defs: Vec<TableDef>) {
    let d = DatabaseDef {
        name: "d".into(),
        collation: Collation::Utf8mb4GeneralCi,
        comment: String::new(),
    };
    ddl(db, "CREATE DATABASE d", vec![CatalogChange::PutDatabase(d)]).unwrap();
    for t in defs {
        ddl(db, "CREATE TABLE ...", vec![CatalogChange::CreateTable(t)]).unwrap();
    }
}

pub fn row(t: &Table, id: i64, k: Option<i64>, c: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let k = k.map_or(ValueRef::Null, ValueRef::Int);
    t.layout
        .encode(
            &[ValueRef::Int(id), k, ValueRef::Str(c.as_bytes())],
            &mut out,
        )
        .unwrap();
    out
}

pub fn key(id: i64) -> Vec<u8> {
    let mut out = Vec::new();
    encode_value(
        ValueRef::Int(id),
        &int(),
        &KeyPart::column(0, false),
        &mut out,
    )
    .unwrap();
    out
}

pub fn decode(t: &Table, row: &[u8]) -> (i64, Option<i64>, String) {
    let mut v = Vec::new();
    t.layout.decode_into(row, &mut v).unwrap();
    let int = |v: &ValueRef<'_>| match v {
        ValueRef::Int(i) => Some(*i),
        _ => None,
    };
    let ValueRef::Str(c) = v[2] else {
        panic!("{v:?}")
    };
    (
        int(&v[0]).unwrap(),
        int(&v[1]),
        String::from_utf8(c.to_vec()).unwrap(),
    )
}

/// Begins a transaction with an open statement.
pub fn begin(db: &Database) -> Transaction {
    let mut t = db.begin(TxnOptions::default());
    t.begin_statement(1, None);
    t
}

pub fn insert(db: &Database, t: &Arc<Table>, id: i64, k: Option<i64>, c: &str) {
    let mut x = begin(db);
    x.insert(t, row(t, id, k, c)).unwrap();
    x.commit().unwrap();
}

/// All rows of an index in its order.
pub fn dump(
    x: &mut Transaction,
    t: &Arc<Table>,
    index: usize,
    view: ReadView,
) -> Vec<(i64, Option<i64>, String)> {
    let mut out = Vec::new();
    let mut s = x
        .scan(t, index, KeyRange::all(), false, view, false)
        .unwrap();
    while let Some(i) = s.next().unwrap() {
        out.push(decode(t, i.row));
    }
    out
}

/// Checks that every secondary index holds exactly the rows of the clustered one.
pub fn check_indexes(db: &Database, t: &Arc<Table>) {
    let mut x = begin(db);
    let mut all = dump(&mut x, t, 0, ReadView::Snapshot);
    all.sort();
    for i in 1..t.indexes.len() {
        let mut v = dump(&mut x, t, i, ReadView::Snapshot);
        v.sort();
        assert_eq!(all, v, "index {}", t.indexes[i].name);
    }
    assert_eq!(db.table_rows(t), all.len() as u64);
}
