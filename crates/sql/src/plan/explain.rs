//! EXPLAIN: an access path in MariaDB's words.

use super::access::{Access, Lookup};
use super::select::SelectPlan;
use crate::exec::rows::{Rows, TablePlan};
use crate::plan::interval::key_len;
use narwal_engine::Table;
use narwal_types::{BlobSize, Collation, ColumnType, ResultColumn, TypeKind, Value};

/// A result column without a table.
pub fn plain_column(name: &str, ty: ColumnType, nullable: bool) -> ResultColumn {
    ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty,
        nullable,
        length: 0,
        decimals: 0,
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        null_type: false,
    }
}

/// A text type for made-up result columns.
pub fn text_type(chars: u16) -> ColumnType {
    ColumnType {
        kind: TypeKind::VarChar(chars),
        unsigned: false,
        collation: Collation::Utf8mb4GeneralCi,
    }
}

/// BIGINT.
pub fn bigint() -> ColumnType {
    ColumnType {
        kind: TypeKind::BigInt,
        unsigned: false,
        collation: Collation::Binary,
    }
}

/// EXPLAIN's columns.
pub fn columns() -> Vec<ResultColumn> {
    let t = |n: &str, len: u16, null: bool| plain_column(n, text_type(len), null);
    vec![
        plain_column("id", bigint(), true),
        t("select_type", 19, false),
        t("table", 64, true),
        t("type", 10, true),
        t("possible_keys", 4096, true),
        t("key", 64, true),
        t("key_len", 4096, true),
        t("ref", 2048, true),
        plain_column("rows", bigint(), true),
        t("Extra", 255, false),
    ]
}

fn type_key_len(ty: &ColumnType, prefix: Option<u16>) -> usize {
    let char_len = |n: usize| n * ty.char_bytes() as usize;
    match (ty.kind, prefix) {
        (TypeKind::Char(_) | TypeKind::Binary(_), Some(p)) => char_len(p as usize),
        (
            TypeKind::VarChar(_) | TypeKind::VarBinary(_) | TypeKind::Text(_) | TypeKind::Blob(_),
            Some(p),
        ) => char_len(p as usize) + 2,
        (TypeKind::Char(n) | TypeKind::Binary(n), None) => char_len(n as usize),
        (TypeKind::VarChar(n) | TypeKind::VarBinary(n), None) => char_len(n as usize) + 2,
        (TypeKind::Text(b) | TypeKind::Blob(b), None) => {
            b as usize + if b == BlobSize::Tiny { 255 } else { 0 }
        }
        _ => key_len(ty),
    }
}

fn used_parts(a: &Access) -> usize {
    match &a.lookup {
        Lookup::Full => 0,
        Lookup::Point(v) => v.len(),
        Lookup::Ranges(v) => v.len(),
    }
}

/// Length in bytes of the first `n` parts of an index, as MariaDB counts it.
fn index_key_len(table: &Table, index: usize, n: usize) -> usize {
    table.indexes[index]
        .parts
        .iter()
        .take(n)
        .map(|p| type_key_len(&table.def.columns[p.column].ty, p.prefix) + usize::from(p.nullable))
        .sum()
}

/// One row of EXPLAIN for a table.
fn table_row(t: &TablePlan, alias: &str, select: bool, extra: &[&str]) -> Vec<Value> {
    let a = &t.access;
    let names = |list: &[usize]| {
        list.iter()
            .map(|i| t.table.indexes[*i].name.as_str())
            .collect::<Vec<_>>()
            .join(",")
    };
    let n = used_parts(a);
    let text = |s: &str| Value::str(s);
    let (kind, key, len, reference) = match &a.lookup {
        Lookup::Point(_) if select => ("const", true, n, vec!["const"; n].join(",")),
        Lookup::Point(_) => ("range", true, n, String::new()),
        Lookup::Ranges(c) if c.iter().all(|c| c.is_single()) && select => {
            ("ref", true, n, vec!["const"; n].join(","))
        }
        Lookup::Ranges(_) => ("range", true, n, String::new()),
        Lookup::Full if a.index != 0 || (a.ordered && !t.table.hidden_pk) => (
            "index",
            true,
            t.table.indexes[a.index].parts.len(),
            String::new(),
        ),
        Lookup::Full => ("ALL", false, 0, String::new()),
    };
    vec![
        Value::Int(1),
        text("SIMPLE"),
        text(alias),
        text(kind),
        if a.possible.is_empty() {
            Value::Null
        } else {
            text(&names(&a.possible))
        },
        if key {
            text(&t.table.indexes[a.index].name)
        } else {
            Value::Null
        },
        if key {
            text(&index_key_len(&t.table, a.index, len).to_string())
        } else {
            Value::Null
        },
        if reference.is_empty() {
            Value::Null
        } else {
            text(&reference)
        },
        Value::Int(a.rows.max(1) as i64),
        text(&extra.join("; ")),
    ]
}

/// EXPLAIN SELECT.
pub fn select(p: &SelectPlan, alias: &str) -> Vec<Vec<Value>> {
    let Some(t) = &p.table else {
        let mut row = vec![Value::Int(1), Value::str("SIMPLE")];
        row.resize(9, Value::Null);
        row.push(Value::str("No tables used"));
        return vec![row];
    };
    if let Rows::Join(join) = &t.rows {
        // One row for each table, in the order of the text, by its own name.
        return join
            .leaves
            .iter()
            .map(|l| {
                let extra: &[&str] = match l.plan.filter {
                    Some(_) => &["Using where"],
                    None => &[],
                };
                table_row(&l.plan, &l.plan.table.def.name, true, extra)
            })
            .collect();
    }
    let mut extra = Vec::new();
    if t.filter.is_some() && !matches!(t.access.lookup, Lookup::Point(_)) {
        extra.push("Using where");
    }
    if p.group
        .as_ref()
        .is_some_and(|g| g.counts_only && g.keys.is_empty())
        && (t.filter.is_none() || t.access.covers_filter)
    {
        extra.push("Using index");
    }
    if p.group.as_ref().is_some_and(|g| !g.keys.is_empty()) || (p.distinct && !p.distinct_by_sort) {
        extra.push("Using temporary");
    }
    if !p.sort.is_empty() {
        extra.push("Using filesort");
    }
    vec![table_row(t, alias, true, &extra)]
}

/// EXPLAIN UPDATE and DELETE.
pub fn write(t: &TablePlan, alias: &str, sorts: bool) -> Vec<Vec<Value>> {
    let mut extra = Vec::new();
    if t.filter.is_some() {
        extra.push("Using where");
    }
    if sorts {
        extra.push("Using filesort");
    }
    vec![table_row(t, alias, false, &extra)]
}

/// EXPLAIN INSERT.
pub fn insert(alias: &str) -> Vec<Vec<Value>> {
    let mut row = vec![
        Value::Int(1),
        Value::str("INSERT"),
        Value::str(alias),
        Value::str("ALL"),
    ];
    row.resize(9, Value::Null);
    row.push(Value::str(""));
    vec![row]
}
