//! Dynamic columns: a BLOB that holds columns of its own, each with a name or number, a type and a value.
//!
//! | file | holds |
//! |---|---|
//! | `arguments.rs` | arguments as columns and names |
//! | `packed.rs` | the bytes of all columns |
//! | `data.rs` | the bytes of one value, and JSON |
//! | `get.rs` | COLUMN_GET: a value as one of a type that was asked for |

mod arguments;
mod data;
mod get;
mod packed;

use super::typing::{bytes, int, int_or_null};
use crate::expr::node::{Call, Coercibility, ExprKind, ExprType, Function};
use crate::expr::value::{Val, Warn};
use arguments::{columns_of, name, wrong_format};
use data::{Data, json};
use narwal_types::convert::{to_decimal, to_integer};
use narwal_types::{Collation, SqlResult, TypeKind, ValueRef, errors};
use packed::{Column, Name, Packed, Unpackable};

pub(crate) use get::kinds;

pub(super) static FUNCTIONS: &[&Function] = &[
    &CREATE,
    &ADD,
    &Function::new(
        "column_check",
        "columns",
        "Whether it is a value with dynamic columns.",
        int,
        |c| {
            let b = c.bytes(0);
            let whole = Packed::read(&b).is_some_and(|p| {
                (p.columns.iter()).all(|c| Data::decode(c.kind, &c.data).is_some())
            });
            Ok(Val::int(whole.into()))
        },
    )
    .predicate(),
    &Function::new(
        "column_delete",
        "columns, name, ...",
        "The dynamic columns without some of them.",
        long_bytes,
        delete,
    ),
    &Function::new(
        "column_exists",
        "columns, name",
        "Whether there is a dynamic column of this name.",
        int_or_null,
        |c| {
            let b = c.bytes(0);
            let packed = Packed::read(&b).ok_or_else(wrong_format)?;
            Ok(match name(c, 1) {
                Some(name) => Val::int(packed.find(&name).is_some().into()),
                None => Val::NULL,
            })
        },
    )
    .predicate(),
    &Function::new(
        "column_json",
        "columns",
        "The dynamic columns as a JSON object.",
        long_text,
        |c| {
            let b = c.bytes(0);
            let mut out = Vec::new();
            if !b.is_empty() {
                narwal_memory::reserve(8 * b.len() as u64)?;
                let packed = Packed::read(&b).ok_or_else(wrong_format)?;
                json(&packed, 0, &mut out).ok_or_else(wrong_format)?;
            }
            c.string(out)
        },
    ),
    &Function::new(
        "column_list",
        "columns",
        "The names of the dynamic columns, with commas between them.",
        long_text,
        list,
    ),
    &get::GET,
];

/// Bytes of a column's name.
const LONGEST_NAME: usize = 16_383;

/// COLUMN_CREATE: names, values, and of what kind each value is to be.
pub(crate) static CREATE: Function = Function::new(
    " column_create",
    "name, value, kind, ...",
    "Dynamic columns.",
    long_bytes,
    |c| put(c, 0),
)
.takes_null();

/// COLUMN_ADD: the same behind the columns that are there.
pub(crate) static ADD: Function = Function::new(
    " column_add",
    "columns, name, value, kind, ...",
    "The dynamic columns with others put to them.",
    long_bytes,
    |c| match c.v(0) {
        ValueRef::Null => Ok(Val::NULL),
        _ => put(c, 1),
    },
)
.takes_null();

fn long_bytes(_: &crate::expr::node::Typing<'_>) -> SqlResult<ExprType> {
    Ok(bytes(u32::MAX.into(), true))
}

fn long_text(_: &crate::expr::node::Typing<'_>) -> SqlResult<ExprType> {
    let c = narwal_types::Charset::Utf8mb4.default_collation();
    Ok(ExprType::string(
        u32::MAX.into(),
        c,
        Coercibility::Coercible,
        true,
    ))
}

fn written<'a>(c: &Call<'a, '_>, packed: Packed<'_>) -> SqlResult<Val<'a>> {
    let b = packed.write().map_err(|e| match e {
        Unpackable::Twice => errors::DYN_COL_DATA.plain(),
        Unpackable::TooMuch => errors::DYN_COL_IMPLEMENTATION_LIMIT.plain(),
    })?;
    c.string(b)
}

/// COLUMN_CREATE and COLUMN_ADD: the arguments from `first` on are names, values and kinds.
fn put<'a>(c: &Call<'a, '_>, first: usize) -> SqlResult<Val<'a>> {
    let before = c.bytes(0);
    let mut packed = match first {
        0 => Packed::default(),
        _ => columns_of(&before)?,
    };
    let mut added = Vec::new();
    let mut named = packed.named;
    for i in (first..c.args.len()).step_by(3) {
        if c.v(i).is_null() {
            return Ok(Val::NULL);
        }
        let name = kept_name(c, i)?;
        let data = data_of(c, i + 1)?;
        named |= !matches!(name, Name::Number(_)) || matches!(data, Some(Data::Columns(_)));
        added.push((name, data));
    }
    if named {
        packed.name_columns();
        for (name, _) in &mut added {
            *name = std::mem::replace(name, Name::Number(0)).into_text();
        }
    }
    let mut names: Vec<&Name> = added.iter().map(|(name, _)| name).collect();
    names.sort_by_key(|n| n.shown());
    if names.windows(2).any(|w| w[0] == w[1]) {
        return Err(errors::DYN_COL_DATA.plain());
    }
    let replaced: std::collections::HashSet<Vec<u8>> = names.iter().map(|n| n.shown()).collect();
    (packed.columns).retain(|old| !replaced.contains(&old.name.shown()));
    for (name, data) in added {
        if let Some(d) = data {
            packed.columns.push(Column {
                name,
                kind: d.kind(),
                data: d.encode(packed.named).into(),
            });
        }
    }
    written(c, packed)
}

/// A name that a column can have, or error 1921.
fn kept_name(c: &Call<'_, '_>, i: usize) -> SqlResult<Name> {
    match name(c, i) {
        Some(Name::Text(t)) if t.len() > LONGEST_NAME => Err(errors::DYN_COL_DATA.plain()),
        Some(name) => Ok(name),
        None => Err(errors::DYN_COL_DATA.plain()),
    }
}

fn delete<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let before = c.bytes(0);
    let mut names = Vec::new();
    for i in 1..c.args.len() {
        names.push(kept_name(c, i)?);
    }
    if before.is_empty() {
        return c.string(Vec::new());
    }
    let mut packed = columns_of(&before)?;
    if names.iter().any(|n| matches!(n, Name::Text(_))) {
        packed.name_columns();
    }
    let gone: std::collections::HashSet<Vec<u8>> = names.iter().map(Name::shown).collect();
    packed.columns.retain(|c| !gone.contains(&c.name.shown()));
    written(c, packed)
}

/// The value of a column to be written, by the kind that the argument behind it says; `None`: NULL, the column goes away.
fn data_of(c: &Call<'_, '_>, i: usize) -> SqlResult<Option<Data>> {
    let v = c.v(i);
    if v.is_null() {
        return Ok(None);
    }
    let ty = c.exprs().get(i).map_or_else(ExprType::null, |e| e.ty);
    Ok(Some(match c.int(i + 1) {
        kinds::DECIMAL => Data::Decimal(to_decimal(v, &mut Warn(c.ctx.env)), 1),
        kinds::UINT => Data::UInt(to_integer(v, &mut Warn(c.ctx.env)) as u64),
        // What is no moment is the zero of its type, with a warning.
        kinds::DATETIME => Data::DateTime(c.datetime(i).unwrap_or_default()),
        kinds::DATE => Data::Date(c.datetime(i).unwrap_or_default().date),
        kinds::TIME => Data::Time(c.time(i).unwrap_or_default()),
        _ => match v {
            ValueRef::Int(n) if ty.ty.unsigned => Data::UInt(n as u64),
            ValueRef::Int(n) if ty.ty.kind == TypeKind::Year => Data::UInt(n as u64),
            ValueRef::Int(n) => Data::Int(n),
            ValueRef::UInt(n) => Data::UInt(n),
            ValueRef::Float(f) => Data::Double(f.into()),
            ValueRef::Double(f) => Data::Double(f),
            // A column's value is written with all digits of the column.
            ValueRef::Decimal(d) => Data::Decimal(
                d,
                match (c.exprs().get(i), ty.ty.kind) {
                    (Some(e), TypeKind::Decimal(p, s)) if e.as_column().is_some() => p - s,
                    _ => 1,
                },
            ),
            ValueRef::Date(d) => Data::Date(d),
            ValueRef::Time(t) => Data::Time(t),
            ValueRef::DateTime(t) => Data::DateTime(t),
            ValueRef::Bits(_) => Data::UInt(c.bits(i)),
            ValueRef::Bytes(b) if makes_columns(c, i) => Data::Columns(b.to_vec()),
            ValueRef::Bytes(b) => Data::Text(Collation::Binary, b.to_vec()),
            _ => {
                let collation = ty.ty.collation;
                let text = c.text(i).into_bytes();
                Data::Text(collation, collation.charset().encode(&text).into_owned())
            }
        },
    }))
}

/// True if an argument is COLUMN_CREATE or COLUMN_ADD itself: columns within columns.
fn makes_columns(c: &Call<'_, '_>, i: usize) -> bool {
    (c.exprs().get(i)).is_some_and(|e| match e.kind {
        ExprKind::Func { func, .. } => *func == CREATE || *func == ADD,
        _ => false,
    })
}

fn list<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let b = c.bytes(0);
    let packed = columns_of(&b)?;
    let mut out = Vec::new();
    for column in &packed.columns {
        if !out.is_empty() {
            out.push(b',');
        }
        out.push(b'`');
        for b in column.name.shown() {
            out.push(b);
            if b == b'`' {
                out.push(b);
            }
        }
        out.push(b'`');
    }
    c.string(out)
}
