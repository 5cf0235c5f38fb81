//! Numbers: signs, roundings, logarithms, angles, chance.

use super::typing::{double, int};
use crate::expr::arith::{Num, by_zero, num};
use crate::expr::call::unit_interval;
use crate::expr::node::{Call, Expr, ExprKind, ExprType, Function, NOT_FIXED, Typing};
use crate::expr::types::Class;
use crate::expr::value::Val;
use crate::seeded::Seeded;
use narwal_types::decimal::{MAX_PRECISION, MAX_SCALE};
use narwal_types::errors;
use narwal_types::{ColumnType, DateTime, Decimal, Time, TypeKind};
use narwal_types::{SqlResult, ValueRef};

pub(in crate::expr) static CEILING: Function = Function::new(
    "ceiling",
    "n",
    "The least integer that is not less.",
    whole_type,
    |c| whole(c, Rounding::Up),
)
.or(&["ceil"])
.takes_numbers()
.computes()
.no_fixed();

/// What a number with a fixed number of digits behind the point is compared as.
pub(crate) static NEAR: Function = Function::new(
    " near",
    "a, b, digits",
    "The second number if the first one differs from it by less than half of the last digit.",
    |t| Ok(ExprType::double(t.nullable())),
    |c| {
        if c.v(0).is_null() {
            return Ok(Val::NULL);
        }
        let (a, b) = (c.f64(0), c.f64(1));
        if c.v(1).is_null() {
            return c.double(a);
        }
        let half = 5.0 * 10f64.powi(-1 - c.int(2) as i32);
        c.double(if (a - b).abs() < half { b } else { a })
    },
)
.takes_null();

pub(in crate::expr) static FLOOR: Function = Function::new(
    "floor",
    "n",
    "The greatest integer that is not greater.",
    whole_type,
    |c| whole(c, Rounding::Down),
)
.takes_numbers()
.computes()
.no_fixed();

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new("abs", "n", "The number without its sign.", abs_type, abs)
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("acos", "x", "Arc cosine.", double, |c| c.double(c.f64(0).acos()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("asin", "x", "Arc sine.", double, |c| c.double(c.f64(0).asin()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new(
        "atan",
        "y[, x]",
        "Arc tangent, of y / x if there are two.",
        double,
        |c| match c.args.len() {
            1 => c.double(c.f64(0).atan()),
            _ => c.double(c.f64(0).atan2(c.f64(1))),
        },
    )
    .or(&["atan2"])
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("bit_count", "n", "How many bits are 1.", int, |c| {
        let bits = crate::expr::arith::bits(c.number(0), c.ctx.env);
        Ok(Val::int(i64::from(bits.count_ones())))
    })
    .no_fixed(),
    &CEILING,
    &Function::new("cos", "x", "Cosine.", double, |c| c.double(c.f64(0).cos()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("cot", "x", "Cotangent.", double, |c| {
        c.double(1.0 / c.f64(0).tan())
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("degrees", "x", "An angle in degrees.", double, |c| {
        c.double(c.f64(0).to_degrees())
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("exp", "x", "e to the power of x.", double, |c| {
        c.double(c.f64(0).exp())
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &FLOOR,
    &Function::new("ln", "x", "Natural logarithm.", double, |c| {
        logarithm(c, f64::ln)
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new(
        "log",
        "[base, ]x",
        "Logarithm, the natural one if no base is given.",
        double,
        |c| match c.args.len() {
            1 => logarithm(c, f64::ln),
            _ => logarithm_of_base(c),
        },
    )
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("log10", "x", "Logarithm of base 10.", double, |c| {
        logarithm(c, f64::log10)
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("log2", "x", "Logarithm of base 2.", double, |c| {
        logarithm(c, f64::log2)
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new(
        "pi",
        "",
        "The circle's number.",
        |_| {
            Ok(ExprType {
                decimals: 6,
                width: 8,
                ..ExprType::double(false)
            })
        },
        // Shown with six digits, computed with all.
        |_| Ok(Val::Ref(ValueRef::Double(std::f64::consts::PI))),
    ),
    &Function::new("pow", "x, y", "x to the power of y.", double, |c| {
        // No number at all is out of range too.
        let r = c.f64(0).powf(c.f64(1));
        c.double(if r.is_nan() { f64::INFINITY } else { r })
    })
    .or(&["power"])
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new("radians", "x", "An angle in radians.", |t| Ok(ExprType::double(t.nullable())), |c| {
        c.double(c.f64(0).to_radians())
    })
    .takes_numbers()
    .computes()
    .no_fixed(),
    &Function::new(
        "rand",
        "[seed]",
        "A number at random, at least 0 and less than 1; a seed begins a series that is always the same.",
        |t| Ok(ExprType::double_with(NOT_FIXED, t.nullable())),
        |c| match c.args.is_empty() {
            true => c.double(c.in_series().unwrap_or_else(|| unit_interval(c.random()))),
            false => seeded_random(c),
        },
    )
    .takes_null()
    .volatile(),
    &Function::new(
        "round",
        "n[, places]",
        "The nearest number with so many digits behind the point, 0 if not given.",
        |t| places_type(t, true),
        |c| rounded(c, Rounding::Nearest),
    )
    .takes_numbers()
    .computes()
    .no_fixed_first(),
    &Function::new("sign", "n", "-1, 0 or 1: the number's sign.", int, sign)
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("sin", "x", "Sine.", double, |c| c.double(c.f64(0).sin()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("sqrt", "x", "Square root.", double, |c| c.double(c.f64(0).sqrt()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new("tan", "x", "Tangent.", double, |c| c.double(c.f64(0).tan()))
        .takes_numbers()
        .computes()
        .no_fixed(),
    &Function::new(
        "truncate",
        "n, places",
        "The number cut off behind so many digits.",
        |t| places_type(t, false),
        |c| rounded(c, Rounding::TowardsZero),
    )
    .takes_numbers()
    .computes()
    .no_fixed_first(),
];

/// Which way digits go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Up,
    Down,
    Nearest,
    TowardsZero,
}

/// The type of a TIME or DATETIME with at most so many digits behind the point; `None` for other values. A datetime may be
/// rounded to none.
fn moment_type(t: ExprType, nullable: bool, digits: impl Fn(u8) -> u8) -> Option<ExprType> {
    let (kind, nullable) = match t.ty.kind {
        TypeKind::Time(f) => (TypeKind::Time(digits(f)), nullable),
        TypeKind::DateTime(f) | TypeKind::Timestamp(f) => (TypeKind::DateTime(digits(f)), true),
        _ => return None,
    };
    Some(ExprType::of_column(ColumnType::new(kind), nullable))
}

fn abs_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let (arg, nullable) = (t.arg(0), t.nullable());
    Ok(match arg.class() {
        Class::Double => ExprType {
            decimals: arg.decimals,
            ..ExprType::double(nullable)
        },
        _ if arg.ty.is_temporal() => {
            // Of its characters the sign counts for none, nor does the point.
            let scale = arg.scale();
            let left_out = 1 + u32::from(scale > 0) + scale;
            ExprType::decimal(
                (arg.chars() as u32).saturating_sub(left_out),
                scale,
                nullable,
            )
        }
        Class::Int => ExprType::bigint(arg.counts_unsigned(), nullable)
            .with_digits(arg.int_digits())
            .with_width(arg.chars() as u32),
        Class::Decimal => {
            ExprType::decimal(arg.int_digits(), arg.scale(), nullable).with_sign_of(&arg)
        }
    })
}

/// The integer that something counts as: what has no sign keeps none.
fn whole_of(arg: ExprType, nullable: bool) -> ExprType {
    if arg.ty.is_integer() {
        return arg.with_nullable(nullable).as_int();
    }
    let digits = match arg.ty.kind {
        // Digits of the largest number of so many bits.
        TypeKind::Bit(bits) => (u64::MAX >> (64 - u32::from(bits.clamp(1, 64)))).ilog10() + 1,
        TypeKind::Enum(_) | TypeKind::Set(_) => 5,
        _ => arg.int_digits(),
    };
    let small = match arg.ty.kind {
        TypeKind::Bit(bits) => bits <= 32,
        _ => digits < 10,
    };
    let ty = ColumnType::unsigned(match small {
        true => TypeKind::Int,
        false => TypeKind::BigInt,
    });
    ExprType::of_column(ty, nullable).with_chars(digits, false)
}

/// CEILING and FLOOR.
fn whole_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let (arg, nullable) = (t.arg(0), t.nullable());
    if let Some(moment) = moment_type(arg, nullable, |_| 0) {
        return Ok(moment);
    }
    Ok(match arg.class() {
        Class::Double => ExprType {
            decimals: 0,
            ..ExprType::double(nullable)
        },
        Class::Int => whole_of(arg, nullable),
        Class::Decimal => {
            // What is behind the point may carry into one digit more, away from zero.
            let carries = arg.scale() > 0 && (!arg.ty.unsigned || t.name == CEILING.name);
            let digits = (arg.int_digits() + u32::from(carries)).max(1);
            let ty = match digits {
                0..10 => ExprType::int(nullable),
                10..19 => ExprType::bigint(false, nullable),
                _ => return Ok(ExprType::decimal(digits, 0, nullable).with_sign_of(&arg)),
            };
            ty.with_sign_of(&arg).with_digits(digits)
        }
    })
}

/// ROUND and TRUNCATE.
fn places_type(t: &Typing<'_>, carries: bool) -> SqlResult<ExprType> {
    let (arg, nullable) = (t.arg(0), t.nullable());
    let (given, literal) = (t.args.len() > 1, t.literal_int(1));
    let moment = moment_type(arg, nullable, |f| match literal {
        Some(d) => d.clamp(0, 6) as u8,
        None if given => f,
        None => 0,
    });
    if let Some(moment) = moment {
        return Ok(moment);
    }
    let by_null = given && t.arg(1).null;
    Ok(match arg.class() {
        Class::Int if by_null => whole_of(arg, nullable).with_chars(arg.chars() as u32, false),
        Class::Double | Class::Decimal if by_null => ExprType::double(nullable),
        Class::Double => ExprType {
            decimals: match literal {
                Some(31..) => NOT_FIXED,
                Some(d) => d.max(0) as u8,
                None if given => arg.decimals,
                None => 0,
            },
            ..ExprType::double(nullable)
        },
        // It may carry into one digit more.
        Class::Int if literal.is_some_and(|d| d >= 0) || !given => whole_of(arg, nullable),
        Class::Int => {
            let ty = whole_of(arg, nullable);
            let digits = arg.int_digits() + 1;
            let carried = match ty.with_digits(digits).width {
                ..10 => ExprType::int(nullable)
                    .with_sign_of(&ty)
                    .with_digits(digits),
                _ => ExprType::bigint(ty.ty.unsigned, nullable).with_digits(digits),
            };
            match digits {
                // More than any integer has.
                20.. => {
                    let digits = arg.chars() as u32 + u32::from(ty.ty.unsigned);
                    ExprType::decimal(digits, 0, nullable).with_sign_of(&ty)
                }
                _ if carried.width < 10 => carried.with_width(arg.chars() as u32 + 1),
                _ => carried,
            }
        }
        Class::Decimal => {
            let scale = match literal {
                Some(d) => d.clamp(0, MAX_SCALE as i64) as u32,
                None if given => arg.scale(),
                None => 0,
            };
            // Only what cuts digits off can carry into one more.
            let more = u32::from(carries && scale < arg.scale());
            let digits = arg.int_digits() + more;
            // More places than it has are zeros, where there is room for them.
            let room = u32::from(MAX_PRECISION).saturating_sub(digits);
            let scale = scale.min(room.max(arg.scale()));
            ExprType::decimal(digits, scale, nullable).with_sign_of(&arg)
        }
    })
}

fn abs<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    match num(c.v(0), c.ctx.env) {
        Some(Num::Int(v)) => {
            let a = v.unsigned_abs();
            if c.expr.ty.ty.unsigned || matches!(c.v(0), ValueRef::UInt(_)) {
                return Ok(Val::Ref(ValueRef::UInt(a as u64)));
            }
            i64::try_from(a).map(Val::int).map_err(|_| {
                let told = format!("BIGINT value is out of range in '{}'", c.said());
                errors::DATA_OUT_OF_RANGE.text(told)
            })
        }
        Some(Num::Dec(d)) => Ok(Val::Ref(ValueRef::Decimal(d.abs()))),
        Some(Num::Real(f)) => c.double(f.abs()),
        None => Ok(Val::NULL),
    }
}

fn sign<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    Ok(Val::int(match num(c.v(0), c.ctx.env) {
        Some(Num::Int(v)) => v.signum() as i64,
        Some(Num::Dec(d)) if d.is_zero() => 0,
        Some(Num::Dec(d)) => 1 - 2 * i64::from(d.is_negative()),
        Some(Num::Real(0.0)) => 0,
        Some(Num::Real(f)) => f.signum() as i64,
        None => return Ok(Val::NULL),
    }))
}

/// CEILING and FLOOR.
fn whole<'a>(c: &Call<'a, '_>, way: Rounding) -> SqlResult<Val<'a>> {
    if let Some(v) = rounded_moment(c, way) {
        return Ok(v);
    }
    match num(c.v(0), c.ctx.env) {
        Some(Num::Int(_)) => Ok(integer_arg(c)),
        Some(Num::Dec(d)) => {
            let r = match way {
                Rounding::Up => d.ceil(),
                _ => d.floor(),
            };
            Ok(match r.to_i64() {
                Some(v) if c.expr.ty.ty.is_integer() => Val::int(v),
                _ => Val::Ref(ValueRef::Decimal(r)),
            })
        }
        Some(Num::Real(f)) => c.double(match way {
            Rounding::Up => f.ceil(),
            _ => f.floor(),
        }),
        None => Ok(Val::NULL),
    }
}

/// ROUND and TRUNCATE.
fn rounded<'a>(c: &Call<'a, '_>, way: Rounding) -> SqlResult<Val<'a>> {
    if let Some(v) = rounded_moment(c, way) {
        return Ok(v);
    }
    let Some(n) = num(c.v(0), c.ctx.env) else {
        return Ok(Val::NULL);
    };
    let places = if c.args.len() > 1 { c.int(1) } else { 0 };
    let cut = way == Rounding::TowardsZero;
    match n {
        Num::Int(_) if places >= 0 => Ok(integer_arg(c)),
        Num::Int(v) => {
            let d = Decimal::from_i128(v, 0).round_places(places, cut);
            Ok(match (d.to_i64(), d.to_u64()) {
                (Some(v), _) => match c.v(0) {
                    ValueRef::UInt(_) => Val::Ref(ValueRef::UInt(v as u64)),
                    _ => Val::int(v),
                },
                (_, Some(v)) => Val::Ref(ValueRef::UInt(v)),
                _ => Val::Ref(ValueRef::Decimal(d)),
            })
        }
        Num::Dec(d) => {
            let r = d.round_places(places, cut);
            // More places than it has are zeros, where there is room for them.
            let scale = match c.expr.ty.ty.kind {
                TypeKind::Decimal(_, s) => {
                    let room = MAX_PRECISION.saturating_sub(r.int_digits());
                    s.min(room).max(r.scale())
                }
                _ => r.scale(),
            };
            Ok(Val::Ref(ValueRef::Decimal(r.round(scale))))
        }
        Num::Real(f) => c.double(round_real(f, places, cut)),
    }
}

/// A TIME or DATETIME with fewer digits behind the point, which stays one; `None` for other values.
fn rounded_moment<'a>(c: &Call<'a, '_>, way: Rounding) -> Option<Val<'a>> {
    let shown = match c.expr.ty.ty.kind {
        TypeKind::Time(f) | TypeKind::DateTime(f) => f,
        _ => return None,
    };
    let digits = if c.args.len() > 1 { c.int(1) } else { 0 }.clamp(0, 6) as u8;
    let v = match c.v(0) {
        ValueRef::Time(t) => {
            let cut = t.truncate(digits);
            let up = |sign: i64| Time::from_micros(t.micros + sign * 500_000, 6).round(0);
            let r = match way {
                Rounding::Nearest => t.round(digits),
                Rounding::Up if t.micros > cut.micros => up(1).truncate(0),
                Rounding::Down if t.micros < cut.micros => up(-1).truncate(0),
                _ => cut,
            };
            ValueRef::Time(Time { fsp: shown, ..r })
        }
        ValueRef::DateTime(t) => {
            let cut = t.truncate(digits);
            let r = match way {
                Rounding::Nearest => t.round(digits),
                Rounding::Up if t.micros > cut.micros => DateTime {
                    micros: cut.micros + 500_000,
                    ..t
                }
                .round(0),
                _ => Some(cut),
            };
            // Behind the last moment there is none.
            let r = r.or((t.date.year == 9999).then_some(cut));
            match r {
                Some(r) => ValueRef::DateTime(DateTime { fsp: shown, ..r }),
                None => return Some(Val::NULL),
            }
        }
        _ => return None,
    };
    Some(Val::Ref(v))
}

/// The first argument as the integer that it is.
fn integer_arg<'a>(c: &Call<'a, '_>) -> Val<'a> {
    match c.v(0) {
        ValueRef::UInt(v) => Val::Ref(ValueRef::UInt(v)),
        _ => Val::int(c.int(0)),
    }
}

/// A logarithm. Of what has none it is NULL, as a quotient by zero is.
fn logarithm<'a>(c: &Call<'a, '_>, of: fn(f64) -> f64) -> SqlResult<Val<'a>> {
    match c.f64(0) {
        x if x <= 0.0 => Ok(by_zero(c.ctx)),
        x => c.double(of(x)),
    }
}

fn logarithm_of_base<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (b, x) = (c.f64(0), c.f64(1));
    if b <= 0.0 || x <= 0.0 || b == 1.0 {
        return Ok(by_zero(c.ctx));
    }
    c.double(x.ln() / b.ln())
}

/// ROUND and TRUNCATE of doubles: by multiplication with a power of ten, half to even.
pub(super) fn round_real(f: f64, places: i64, cut: bool) -> f64 {
    let p = 10f64.powi(places.unsigned_abs().min(400) as i32);
    let op = |x: f64| if cut { x.trunc() } else { x.round_ties_even() };
    if places < 0 {
        if p.is_infinite() {
            return 0.0;
        }
        op(f / p) * p
    } else {
        let x = f * p;
        if !x.is_finite() {
            return f;
        }
        op(x) / p
    }
}

/// `RAND(seed)`. A seed that is the same for all rows begins a series, of which each row gets the next number.
fn seeded_random<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let seed = || match c.v(0).is_null() {
        true => 0,
        false => c.int(0) as u32,
    };
    let of_row = |e: &Expr| match &e.kind {
        ExprKind::UserVariable(..) => false,
        ExprKind::Func { func, .. } => func.is_volatile(),
        kind => matches!(
            kind,
            ExprKind::Column { .. }
                | ExprKind::Aggregate(..)
                | ExprKind::Window(_)
                | ExprKind::InsertValue(_)
                | ExprKind::SetUserVariable(..)
        ),
    };
    if c.exprs().first().is_none_or(|e| e.any(&of_row)) {
        return c.double(Seeded::new(seed()).next());
    }
    let site = std::ptr::from_ref(c.expr) as usize;
    let mut series = c.ctx.env.seeded.borrow_mut();
    if let Some((_, s)) = series.iter_mut().find(|(at, _)| *at == site) {
        return c.double(s.next());
    }
    let mut s = Seeded::new(seed());
    let first = s.next();
    series.push((site, s));
    c.double(first)
}
