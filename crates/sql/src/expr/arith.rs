//! Arithmetic, by the kinds of its operands: integers, exact numbers, doubles, bits.

use crate::env::StatementEnv;
use crate::expr::node::{ArithOp, EvalCtx};
use crate::expr::value::{Val, Warn};
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::convert::{exact_to_integer, to_decimal, to_f64, to_integer};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{DateTime, Decimal, SqlError, SqlResult, Time, ValueRef};

/// A number as arithmetic sees it.
pub(crate) enum Num {
    /// An integer with its sign; whether it was unsigned is told apart.
    Int(i128),
    /// An exact number.
    Dec(Decimal),
    /// A double.
    Real(f64),
}

/// A value as a number; `None` for NULL. Strings are doubles.
pub(crate) fn num(v: ValueRef<'_>, env: &StatementEnv) -> Option<Num> {
    Some(match v {
        ValueRef::Null => return None,
        ValueRef::Int(v) => Num::Int(v as i128),
        ValueRef::UInt(v) => Num::Int(v as i128),
        ValueRef::Decimal(d) => Num::Dec(d),
        ValueRef::Float(f) => Num::Real(f as f64),
        ValueRef::Double(f) => Num::Real(f),
        ValueRef::Str(_) | ValueRef::Bytes(_) => Num::Real(to_f64(v, &mut Warn(env))),
        ValueRef::Date(d) => Num::Int(d.to_number() as i128),
        // Bit 63 of a SET is a sign here.
        ValueRef::Member(m) => Num::Int(m.number as i64 as i128),
        ValueRef::Bits(b) => Num::Int(b.value as i128),
        ValueRef::Time(Time { fsp: 0, .. }) | ValueRef::DateTime(DateTime { fsp: 0, .. }) => {
            Num::Int(to_integer(v, &mut Warn(env)))
        }
        v => Num::Dec(to_decimal(v, &mut Warn(env))),
    })
}

impl Num {
    fn real(&self) -> f64 {
        match self {
            Num::Int(v) => *v as f64,
            Num::Dec(d) => d.to_f64(),
            Num::Real(f) => *f,
        }
    }

    fn decimal(&self) -> Decimal {
        match self {
            Num::Int(v) => Decimal::from_i128(*v, 0),
            Num::Dec(d) => *d,
            Num::Real(f) => Decimal::from_f64(*f),
        }
    }
}

/// Error 1690; the place for the expression is empty.
#[cold]
pub(crate) fn out_of_range(ty: &str) -> SqlError {
    errors::DATA_OUT_OF_RANGE.text(format!("{ty} value is out of range in ''"))
}

/// Operand of a bit operator.
pub(crate) fn bits(v: ValueRef<'_>, env: &StatementEnv) -> u64 {
    match v {
        ValueRef::Int(v) => v as u64,
        ValueRef::UInt(v) => v,
        // Strings and doubles count as exact numbers here.
        ValueRef::Decimal(_)
        | ValueRef::Double(_)
        | ValueRef::Float(_)
        | ValueRef::Str(_)
        | ValueRef::Bytes(_) => {
            let d = to_decimal(v, &mut Warn(env));
            exact_to_integer(&d, !d.is_negative(), &mut Warn(env)) as u64
        }
        v => to_integer(v, &mut Warn(env)) as u64,
    }
}

/// Division by zero, or the logarithm of what has none: a warning where the mode asks for it, NULL.
pub(crate) fn by_zero<'a>(ctx: &EvalCtx<'_>) -> Val<'a> {
    if ctx.env.sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        ctx.env.warn(codes::DIVISION_BY_ZERO, "Division by 0");
    }
    Val::NULL
}

/// An integer, if it has one of the two types.
fn int_result<'a>(v: i128, unsigned: bool) -> SqlResult<Val<'a>> {
    if unsigned {
        u64::try_from(v)
            .map(|v| Val::Ref(ValueRef::UInt(v)))
            .map_err(|_| out_of_range("BIGINT UNSIGNED"))
    } else {
        i64::try_from(v)
            .map(Val::int)
            .map_err(|_| out_of_range("BIGINT"))
    }
}

/// A double that is a number.
fn real_result<'a>(v: f64) -> SqlResult<Val<'a>> {
    if v.is_finite() {
        // Zero has no sign.
        Ok(Val::Ref(ValueRef::Double(v + 0.0)))
    } else {
        Err(out_of_range("DOUBLE"))
    }
}

/// How many digits behind the point a quotient of exact numbers is computed to: digits come in groups of nine, and what is
/// beyond the last group is cut.
pub(crate) fn quotient_digits(dividend: u8, divisor: u8, increment: u8) -> u8 {
    let up = |n: u8| n.div_ceil(9) * 9;
    let gained = up(dividend) - dividend + up(divisor) - divisor;
    let more = increment.saturating_sub(gained);
    up(up(dividend) + up(divisor) + more).min(38)
}

/// An exact number, if it has not too many digits.
fn exact_result<'a>(d: Option<Decimal>) -> SqlResult<Val<'a>> {
    d.map(|d| Val::Ref(ValueRef::Decimal(d)))
        .ok_or_else(|| out_of_range("DECIMAL"))
}

/// Two values that are not NULL.
pub(crate) fn arith<'a>(
    op: ArithOp,
    a: ValueRef<'_>,
    b: ValueRef<'_>,
    raw: bool,
    ctx: &EvalCtx<'_>,
) -> SqlResult<Val<'a>> {
    // k + 1 and the like.
    if let (ValueRef::Int(x), ValueRef::Int(y)) = (a, b) {
        let r = match op {
            ArithOp::Add => x.checked_add(y),
            ArithOp::Sub => x.checked_sub(y),
            ArithOp::Mul => x.checked_mul(y),
            _ => None,
        };
        if let Some(v) = r {
            return Ok(Val::int(v));
        }
    }
    if op.is_bitwise() {
        let (a, b) = (bits(a, ctx.env), bits(b, ctx.env));
        return Ok(Val::Ref(ValueRef::UInt(bitwise(op, a, b))));
    }
    let is_unsigned = |v| matches!(v, ValueRef::UInt(_) | ValueRef::Bits(_));
    let a_unsigned = is_unsigned(a);
    let unsigned = a_unsigned || is_unsigned(b);
    let (Some(x), Some(y)) = (num(a, ctx.env), num(b, ctx.env)) else {
        return Ok(Val::NULL);
    };
    match op {
        ArithOp::Div => divide(&x, &y, raw, ctx),
        ArithOp::IntDiv => whole_quotient(&x, &y, unsigned, ctx),
        ArithOp::Mod => remainder(&x, &y, a_unsigned, ctx),
        _ => combine(op, &x, &y, unsigned, ctx.env),
    }
}

fn bitwise(op: ArithOp, x: u64, y: u64) -> u64 {
    match op {
        ArithOp::BitAnd => x & y,
        ArithOp::BitOr => x | y,
        ArithOp::BitXor => x ^ y,
        _ if y > 63 => 0,
        ArithOp::ShiftLeft => x << y,
        _ => x >> y,
    }
}

/// Whether two numbers are computed with as doubles.
fn either_real(x: &Num, y: &Num) -> bool {
    matches!(x, Num::Real(_)) || matches!(y, Num::Real(_))
}

/// `x / y`. A quotient of exact numbers has all computed digits if it is wanted `raw`.
fn divide<'a>(x: &Num, y: &Num, raw: bool, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
    if either_real(x, y) {
        let d = y.real();
        if d == 0.0 {
            return Ok(by_zero(ctx));
        }
        return real_result(x.real() / d);
    }
    let (x, y) = (x.decimal(), y.decimal());
    if y.is_zero() {
        return Ok(by_zero(ctx));
    }
    if raw && x.is_zero() {
        // As it is stored in a text.
        return exact_result(Some(Decimal::ZERO));
    }
    let increment = ctx.env.div_precision;
    let digits = quotient_digits(x.scale(), y.scale(), increment);
    let scale = (x.scale() + increment).min(38);
    let q = x
        .checked_div(&y, digits.max(scale))
        .ok_or_else(|| out_of_range("DECIMAL"))?;
    exact_result(Some(if raw { q } else { q.round(scale) }))
}

/// `x DIV y`
fn whole_quotient<'a>(x: &Num, y: &Num, unsigned: bool, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
    if let (Num::Int(x), Num::Int(y)) = (x, y) {
        return match y {
            0 => Ok(by_zero(ctx)),
            y => int_result(x / y, unsigned),
        };
    }
    let (x, y) = (x.decimal(), y.decimal());
    if y.is_zero() {
        return Ok(by_zero(ctx));
    }
    let q = x
        .checked_int_div(&y)
        .and_then(|q| q.to_i128())
        .ok_or_else(|| out_of_range("BIGINT"))?;
    int_result(q, unsigned)
}

/// `x % y`: it has the sign of `x`, and its type.
fn remainder<'a>(x: &Num, y: &Num, unsigned: bool, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
    if let (Num::Int(x), Num::Int(y)) = (x, y) {
        return match y {
            0 => Ok(by_zero(ctx)),
            y => int_result(x % y, unsigned),
        };
    }
    if either_real(x, y) {
        let d = y.real();
        if d == 0.0 {
            return Ok(by_zero(ctx));
        }
        return real_result(x.real() % d);
    }
    let y = y.decimal();
    if y.is_zero() {
        return Ok(by_zero(ctx));
    }
    exact_result(x.decimal().checked_rem(&y))
}

/// Sum, difference and product.
fn combine<'a>(
    op: ArithOp,
    x: &Num,
    y: &Num,
    unsigned: bool,
    env: &StatementEnv,
) -> SqlResult<Val<'a>> {
    if let (Num::Int(x), Num::Int(y)) = (x, y) {
        let r = match op {
            ArithOp::Add => Some(x + y),
            ArithOp::Sub => Some(x - y),
            _ => x.checked_mul(*y),
        };
        let signed = op == ArithOp::Sub && env.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION);
        return int_result(r.unwrap_or(i128::MAX), unsigned && !signed);
    }
    if either_real(x, y) {
        let (x, y) = (x.real(), y.real());
        return real_result(match op {
            ArithOp::Add => x + y,
            ArithOp::Sub => x - y,
            _ => x * y,
        });
    }
    let (x, y) = (x.decimal(), y.decimal());
    exact_result(match op {
        ArithOp::Add => x.checked_add(&y),
        ArithOp::Sub => x.checked_sub(&y),
        _ => x.checked_mul(&y),
    })
}
