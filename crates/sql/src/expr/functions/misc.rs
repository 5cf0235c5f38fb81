//! Control flow, information, and dates that `date_core.rs` does not have.

use super::{ANY, Call, ExprType, Function, Typing, Val, kind};
use crate::expr::compare::compare;
use crate::expr::date::Interval;
use crate::expr::{Coercibility, Expr, ExprKind, types};
use narwal_types::convert::{NoWarnings, store};
use narwal_types::{
    Collation, ColumnType, Date, DateTime, SqlError, SqlResult, StoreMode, StoreTarget, TypeKind,
    Value, ValueRef, Zone,
};
use std::cmp::Ordering;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("add_months", (2, 2), add_months_type, add_months),
    Function::new("convert_tz", (3, 3), convert_tz_type, convert_tz),
    Function::new(
        "current_role",
        (0, 0),
        |_| {
            Ok(ExprType {
                coercibility: Coercibility::SysConst,
                ..ExprType::text(128, true)
            })
        },
        |_| Ok(Val::NULL),
    ),
    Function::new("decode_oracle", (3, ANY), decode_type, decode)
        .takes_null()
        .results(is_result),
    Function::new(
        " get_format",
        (2, 2),
        |_| Ok(ExprType::text(17, true)),
        get_format,
    ),
    Function::new(
        "last_value",
        (1, ANY),
        |t| Ok(t.arg(t.args.len() - 1)),
        |c| Ok(c.args[c.args.len() - 1].clone()),
    )
    .takes_null(),
    Function::new("name_const", (2, 2), name_const_type, |c| {
        Ok(c.args[1].clone())
    })
    .takes_null(),
    Function::new("nvl2", (3, 3), nvl2_type, |c| {
        Ok(c.args[if c.v(0).is_null() { 2 } else { 1 }].clone())
    })
    .takes_null(),
    Function::new(
        "sys_guid",
        (0, 0),
        |_| Ok(ExprType::text(32, true)),
        |c| Ok(Val::text(format!("{:016x}{:016x}", c.random(), c.random()))),
    )
    .volatile(),
    Function::new(
        " year_of",
        (1, 1),
        |t| Ok(t.arg(0)),
        |c| Ok(year_of(c.v(0)).map_or_else(|| c.args[0].clone(), Val::int)),
    ),
    Function::new(
        "uuid_short",
        (0, 0),
        |_| Ok(ExprType::bigint(true, false)),
        uuid_short,
    )
    .volatile(),
];

/// The year that a constant beside a YEAR column stands for; none where storing it would fail.
pub(in crate::expr) fn year_of(v: ValueRef<'_>) -> Option<i64> {
    let ty = ColumnType::new(TypeKind::Year);
    let target = StoreTarget {
        db: "",
        table: "",
        column: "",
        ty: &ty,
        nullable: true,
    };
    let mode = StoreMode {
        strict: true,
        ..StoreMode::default()
    };
    match store(v, &target, 1, &mode, &mut NoWarnings) {
        Ok(Value::Int(year)) => Some(year),
        _ => None,
    }
}

fn nvl2_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    types::unify(t.args.iter().skip(1).map(|a| &a.ty), "nvl2")
}

/// The results stand behind each searched value, the default at the end.
fn is_result(i: usize, n: usize) -> bool {
    i >= 2 && (i.is_multiple_of(2) || n.is_multiple_of(2) && i == n - 1)
}

fn decode_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let n = t.args.len();
    let results = t.args.iter().enumerate().filter(|(i, _)| is_result(*i, n));
    let ty = types::unify(results.map(|(_, a)| &a.ty), "decode_oracle")?;
    // Without a default the value may be NULL.
    Ok(ty.with_nullable(ty.nullable || t.args.len() % 2 == 1))
}

/// DECODE of Oracle: NULLs are equal.
fn decode<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = c.args.len();
    let mut i = 1;
    while i + 1 < n {
        let equal = match (c.v(0).is_null(), c.v(i).is_null()) {
            (true, true) => true,
            (false, false) => {
                compare(c.v(0), c.v(i), Collation::default(), c.ctx.env) == Some(Ordering::Equal)
            }
            _ => false,
        };
        if equal {
            return Ok(c.args[i + 1].clone());
        }
        i += 2;
    }
    if n.is_multiple_of(2) {
        Ok(c.args[n - 1].clone())
    } else {
        Ok(Val::NULL)
    }
}

fn name_const_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let constant = |e: &Expr| {
        matches!(e.kind, ExprKind::Literal(_))
            || matches!(&e.kind, ExprKind::Neg(x) | ExprKind::Collate(x) if matches!(x.kind, ExprKind::Literal(_)))
    };
    if t.args.iter().all(constant) {
        return Ok(t.arg(1));
    }
    Err(SqlError::new(
        1210,
        b"HY000",
        "Incorrect arguments to NAME_CONST",
    ))
}

/// Server, start and a counter in one number.
fn uuid_short<'a>(_: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        AtomicU64::new((1 << 56) | (now & 0xffff_ffff) << 24)
    });
    Ok(Val::Ref(ValueRef::UInt(
        NEXT.fetch_add(1, Ordering::Relaxed),
    )))
}

/// The kind of value is the hidden first argument.
fn get_format<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let which = c.text(1).to_ascii_lowercase();
    let time_only = c.text(0);
    let formats = match time_only.as_str() {
        "date" => ["%m.%d.%Y", "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"],
        "time" => ["%h:%i:%s %p", "%H:%i:%s", "%H:%i:%s", "%H.%i.%s", "%H%i%s"],
        _ => [
            "%Y-%m-%d %H.%i.%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H.%i.%s",
            "%Y%m%d%H%i%s",
        ],
    };
    let at = ["usa", "jis", "iso", "eur", "internal"]
        .iter()
        .position(|n| *n == which);
    Ok(at.map_or(Val::NULL, |i| Val::text(formats[i].to_string())))
}

fn convert_tz_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(kind(TypeKind::DateTime(match t.arg(0).ty.kind {
        TypeKind::DateTime(f) | TypeKind::Timestamp(f) | TypeKind::Time(f) => f,
        TypeKind::Date => 0,
        // A literal shows how many digits it has.
        _ => match t.args.first().map(|a| &a.kind) {
            Some(ExprKind::Literal(Value::Str(s))) => {
                s.rsplit_once('.').map_or(0, |(_, f)| f.len().min(6) as u8)
            }
            _ => 6,
        },
    })))
}

/// Beyond what a TIMESTAMP can hold nothing is converted.
fn convert_tz<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let zone = |i: usize| Zone::parse(&c.v(i).to_text()).map(|z| z.0);
    let (Some(t), Some(from), Some(to)) = (c.datetime(0), zone(1), zone(2)) else {
        return Ok(Val::NULL);
    };
    if t.date.month == 0 || t.date.day == 0 {
        let text = c.v(0).to_text();
        let told = format!("Incorrect datetime value: '{text}'");
        c.ctx.env.warn(1292, told);
        return Ok(Val::NULL);
    }
    let (utc, _) = from.utc(t.unix_micros());
    if !(1_000_000..=(i64::from(i32::MAX)) * 1_000_000 + 999_999).contains(&utc) {
        return Ok(Val::Owned(Value::DateTime(t)));
    }
    let fsp = match c.expr.ty.ty.kind {
        TypeKind::DateTime(f) => f,
        _ => 6,
    };
    Ok(DateTime::from_unix_micros(to.local(utc), fsp)
        .map_or(Val::NULL, |t| Val::Owned(Value::DateTime(t))))
}

fn add_months_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(match t.arg(0).ty.kind {
        TypeKind::Date => kind(TypeKind::Date),
        TypeKind::DateTime(f) | TypeKind::Timestamp(f) => kind(TypeKind::DateTime(f)),
        TypeKind::Time(f) => kind(TypeKind::DateTime(f)),
        _ => ExprType::text(19, true),
    })
}

fn add_months<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(t) = c.datetime(0) else {
        return Ok(Val::NULL);
    };
    let months = Interval {
        months: c.int(1).clamp(-1_000_000, 1_000_000),
        micros: 0,
    };
    let Some(sum) = months.add_to(t) else {
        c.ctx
            .env
            .warn(1441, "Datetime function: datetime field overflow");
        return Ok(Val::NULL);
    };
    let only_date = match c.v(0) {
        ValueRef::Date(_) => true,
        ValueRef::DateTime(_) => false,
        v => {
            let text = v.to_text();
            narwal_types::temporal_parse::parse_datetime(text.as_bytes(), c.rules())
                .is_some_and(|p| !p.has_time)
        }
    };
    let out = if only_date {
        Value::Date(Date { ..sum.date })
    } else {
        Value::DateTime(sum)
    };
    Ok(if c.expr.ty.ty.is_string() {
        Val::text(out.as_ref().to_text())
    } else {
        Val::Owned(out)
    })
}
