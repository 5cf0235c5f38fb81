//! ANALYZE TABLE ... PERSISTENT FOR: what the rows of a table are like, in `mysql.table_stats`, `column_stats` and
//! `index_stats`, as MariaDB's statistics that do not depend on the engine. The planner has its own and does not ask them.
//!
//! Each column is read once, its values in groups and in order. Rows of these tables belong to this server: they are not in
//! the binary log, and replicas that are to have them analyze their tables themselves.

mod histogram;
mod kept;
mod rows;

use crate::admin::Persistent;
use crate::session::ClientSession;
use histogram::{Histogram, Place};
use narwal_engine::{Database, Table, TxnOptions};
use narwal_sql::{NoVariables, ParseOptions, Prepared, StatementEnv, parse_statement};
use narwal_types::temporal::fraction_bytes;
use narwal_types::{ColumnType, Decimal, SqlResult, TypeKind};
pub(crate) use rows::{Each, hex};
use std::sync::Arc;

/// Most bytes of a value that the tables keep.
const KEPT: usize = 255;

/// Why nothing was collected.
pub(crate) enum Refused {
    /// A column or an index of the statement is not there.
    Unknown,
    Sql(narwal_types::SqlError),
}

impl From<narwal_types::SqlError> for Refused {
    fn from(e: narwal_types::SqlError) -> Self {
        Refused::Sql(e)
    }
}

/// A SELECT over the tables as they are now, whatever locks the session has.
fn each(db: &Database, text: &str, f: impl FnMut(&[Option<Vec<u8>>])) -> SqlResult<()> {
    let mut env = StatementEnv::new(Arc::new(NoVariables));
    let stmt = parse_statement(text, &ParseOptions::default())?;
    let plan = Prepared::new(&stmt, "", db, &db.catalog(), &env, None)?;
    let mut txn = db.begin(TxnOptions::default());
    txn.begin_statement(0, None);
    narwal_sql::execute(&plan, &[], &mut txn, db, &mut env, &mut Each(f))?;
    Ok(())
}

/// The numbers of a SELECT of one row.
fn numbers(db: &Database, text: &str) -> SqlResult<Vec<u64>> {
    let mut found = Vec::new();
    each(db, text, |row| {
        found = row.iter().map(|v| number(v.as_deref())).collect()
    })?;
    Ok(found)
}

fn number(v: Option<&[u8]>) -> u64 {
    let text = v.and_then(|v| std::str::from_utf8(v).ok());
    text.and_then(|t| t.parse().ok()).unwrap_or(0)
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// How many rows share a value; NULL if there is none.
fn per_value(rows: u64, values: u64) -> String {
    match values {
        0 => "NULL".into(),
        _ => format!("{rows}/{values}"),
    }
}

fn is_long(ty: &ColumnType) -> bool {
    matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
}

/// Bytes that a value of a type has wherever it is; `None` if they differ.
fn own_length(ty: &ColumnType) -> Option<usize> {
    Some(match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Decimal(p, s) => Decimal::binary_len(p, s),
        TypeKind::Time(f) => 3 + fraction_bytes(f),
        TypeKind::Timestamp(f) => 4 + fraction_bytes(f),
        TypeKind::DateTime(f) => 5 + fraction_bytes(f),
        TypeKind::Enum(m) => usize::from(m.enum_bytes()),
        TypeKind::Set(m) => usize::from(m.set_bytes()),
        TypeKind::Bit(n) => usize::from(n).div_ceil(8),
        TypeKind::Binary(n) => n as usize,
        TypeKind::Fixed(k) => k.bytes(),
        _ => return None,
    })
}

/// What a column's values are asked for: as they are kept, and where they stand between others.
fn asked(name: &str, ty: &ColumnType) -> (String, String) {
    match ty.kind {
        TypeKind::Bit(_) => (format!("{name}+0"), format!("{name}+0")),
        TypeKind::Fixed(_) => (
            format!("CAST({name} AS CHAR)"),
            format!("CAST({name} AS BINARY)"),
        ),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => (name.into(), name.into()),
        TypeKind::Char(_) | TypeKind::VarChar(_) => (
            format!("CAST({name} AS BINARY)"),
            format!("WEIGHT_STRING({name})"),
        ),
        _ => (format!("CAST({name} AS BINARY)"), format!("{name}+0")),
    }
}

/// The beginning of a value that is kept: whole characters of UTF-8.
fn shortened(value: &[u8], ty: &ColumnType) -> Vec<u8> {
    let mut n = value.len().min(KEPT);
    let chars = ty.is_character() && ty.collation.charset().is_unicode();
    while chars && n > 0 && n < value.len() && value[n] & 0xc0 == 0x80 {
        n -= 1;
    }
    value[..n].to_vec()
}

/// What a column's values are like.
#[derive(Default)]
struct Values {
    distinct: u64,
    bytes: u64,
    first: Option<Vec<u8>>,
    last: Option<Vec<u8>>,
}

impl ClientSession {
    /// Statistics are collected without PERSISTENT FOR too.
    pub(crate) fn always_collects(&self) -> bool {
        let when = self.vars.value("use_stat_tables").show();
        ["COMPLEMENTARY", "PREFERABLY"].contains(&when.as_str())
    }

    /// Collects statistics of a table. Returns the columns that are too long for it.
    pub(crate) fn collect_statistics(
        &self,
        table: &Table,
        wanted: &Persistent,
    ) -> Result<Vec<String>, Refused> {
        let def = &table.def;
        let columns = wanted.columns_of(def).ok_or(Refused::Unknown)?;
        let indexes = wanted.indexes_of(def).ok_or(Refused::Unknown)?;
        let db = self.instance.database();
        let from = format!("{}.{}", quoted(&def.db), quoted(&def.name));
        let of = format!("{}, {}", hex(def.db.as_bytes()), hex(def.name.as_bytes()));
        let rows = numbers(db, &format!("SELECT COUNT(*) FROM {from}"))?;
        let rows = rows.first().copied().unwrap_or(0);
        let mut writes = vec![format!(
            "REPLACE INTO mysql.table_stats VALUES ({of}, {rows})"
        )];
        let (mut of_columns, mut of_indexes) = (Vec::new(), Vec::new());
        let mut too_long = Vec::new();
        for column in columns {
            let c = &def.columns[column];
            if is_long(&c.ty) {
                if wanted.all_columns() {
                    too_long.push(c.name.clone());
                }
                continue;
            }
            let values = self.column_statistics(table, column, &from, rows)?;
            of_columns.push(format!("({of}, {}, {values})", hex(c.name.as_bytes())));
        }
        let switch = self.vars.value("optimizer_switch").show();
        let extended = !switch.contains("extended_keys=off") && def.declared.is_none();
        for index in indexes {
            let name = hex(def.indexes[index].name.as_bytes());
            for (arity, frequency) in index_statistics(db, table, index, &from, extended)? {
                of_indexes.push(format!("({of}, {name}, {arity}, {frequency})"));
            }
        }
        for (kept_in, rows) in [("column_stats", of_columns), ("index_stats", of_indexes)] {
            if !rows.is_empty() {
                writes.push(format!(
                    "REPLACE INTO mysql.{kept_in} VALUES {}",
                    rows.join(", ")
                ));
            }
        }
        self.write_statistics(&writes)?;
        Ok(too_long)
    }

    /// The columns of `column_stats` behind the names.
    fn column_statistics(
        &self,
        table: &Table,
        column: usize,
        from: &str,
        rows: u64,
    ) -> SqlResult<String> {
        let db = self.instance.database();
        let c = &table.def.columns[column];
        let name = quoted(&c.name);
        let filled = numbers(db, &format!("SELECT COUNT({name}) FROM {from}"))?;
        let filled = filled.first().copied().unwrap_or(0);
        let size = self.vars.value("histogram_size").as_u64();
        // A value for each row: there is nothing to say of their frequencies.
        let unique = table.def.indexes.iter().any(|i| {
            i.unique && i.columns.len() == 1 && i.columns[0].column == column && !c.nullable
        });
        let kind = self.vars.value("histogram_type").show();
        let mut histogram = (size > 0 && !unique).then(|| Histogram::new(&kind, size, filled));
        let none = if unique {
            "NULL, NULL, NULL"
        } else {
            "0, NULL, NULL"
        };
        if rows == 0 {
            let shown = histogram.map_or(none.into(), |_| format!("{size}, NULL, ''"));
            return Ok(format!("NULL, NULL, NULL, NULL, NULL, {shown}"));
        }
        let (value, place) = asked(&name, &c.ty);
        let mut v = Values::default();
        let text = format!(
            "SELECT {value}, {place}, COUNT(*), SUM(LENGTH({value})) FROM {from} WHERE {name} IS NOT NULL GROUP BY {name} ORDER BY {name}"
        );
        let by_bytes = c.ty.is_character()
            || c.ty.is_binary_string()
            || matches!(c.ty.kind, TypeKind::Fixed(_));
        each(db, &text, |row| {
            let [Some(value), place, count, bytes] = row else {
                return;
            };
            let count = number(count.as_deref());
            v.distinct += 1;
            v.bytes += number(bytes.as_deref());
            if let Some(h) = &mut histogram {
                let place = place.as_deref().unwrap_or_default();
                h.add(value, Place::new(place, !by_bytes), count);
            }
            v.first.get_or_insert_with(|| shortened(value, &c.ty));
            v.last = Some(shortened(value, &c.ty));
        })?;
        let kept = |v: &Option<Vec<u8>>| v.as_deref().map_or("NULL".into(), hex);
        let length = match own_length(&c.ty) {
            Some(n) if filled > 0 => n.to_string(),
            _ => per_value(v.bytes, filled),
        };
        Ok(format!(
            "{}, {}, {}/{rows}, {length}, {}, {}",
            kept(&v.first),
            kept(&v.last),
            rows - filled.min(rows),
            per_value(filled, v.distinct),
            histogram.map_or(none.into(), |h| h.finish(&self.now_text()))
        ))
    }

    fn now_text(&self) -> String {
        let db = self.instance.database();
        let mut now = String::new();
        let asked = each(
            db,
            &format!("SELECT FROM_UNIXTIME({})", self.env.timestamp()),
            |row| {
                now = String::from_utf8_lossy(row[0].as_deref().unwrap_or_default()).into_owned();
            },
        );
        asked.map_or_else(|_| String::new(), |()| now)
    }
}

/// For each beginning of an index: how many rows share its values, of those that have all of them.
fn index_statistics(
    db: &Database,
    table: &Table,
    index: usize,
    from: &str,
    extended: bool,
) -> SqlResult<Vec<(usize, String)>> {
    let def = &table.def;
    let i = &def.indexes[index];
    let is_primary = |name: &str| name == "PRIMARY";
    let mut parts: Vec<usize> = i.columns.iter().map(|c| c.column).collect();
    let whole = i.columns.iter().all(|c| c.prefix.is_none());
    let own = parts.len();
    // The primary key stands behind the columns of an index that is not unique, as InnoDB has it.
    if whole
        && !i.unique
        && extended
        && let Some(primary) = def.indexes.iter().find(|i| is_primary(&i.name))
    {
        let more = primary.columns.iter().map(|c| c.column);
        parts.extend(more.filter(|c| !i.columns.iter().any(|own| own.column == *c)));
    }
    let mut out = Vec::new();
    for arity in 1..=parts.len() {
        if i.columns
            .iter()
            .take(arity.min(own))
            .any(|c| c.prefix.is_some())
        {
            out.push((arity, "NULL".to_string()));
            continue;
        }
        let names: Vec<String> = parts[..arity]
            .iter()
            .map(|c| quoted(&def.columns[*c].name))
            .collect();
        let filled: Vec<String> = names.iter().map(|n| format!("{n} IS NOT NULL")).collect();
        let groups = numbers(
            db,
            &format!(
                "SELECT IFNULL(SUM(n), 0), COUNT(*) FROM (SELECT COUNT(*) n FROM {from} WHERE {} GROUP BY {}) g",
                filled.join(" AND "),
                names.join(", ")
            ),
        )?;
        let [rows, values] = groups[..] else {
            continue;
        };
        let filled = |c: &usize| !def.columns[*c].nullable;
        if i.unique && arity == own && parts.iter().all(filled) {
            out.push((arity, "1.0000".to_string()));
            continue;
        }
        out.push((arity, per_value(rows, values)));
    }
    Ok(out)
}
