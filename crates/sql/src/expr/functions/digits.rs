//! Digits of other bases, and the bytes behind characters.

use super::string::text_bytes;
use super::typing::bytes;
use crate::expr::node::{Call, Coercibility, Expr, ExprKind, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::expr::value::Warn;
use narwal_types::convert::{to_f64, to_integer};
use narwal_types::errors::codes;
use narwal_types::{Charset, SqlResult, TypeKind, Value, ValueRef};
use std::fmt::Write as _;

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "bin",
        "n",
        "The number in binary digits.",
        number_text,
        |c| Ok(converted(c, (10, 2))),
    ),
    &Function::new(
        "char",
        "n, ...",
        "The bytes of these numbers.",
        |t| Ok(bytes(t.args.len() as u64 * 4, t.nullable())),
        |c| c.string(bytes_from(c, 0)),
    )
    .takes_null()
    .takes_numbers(),
    &Function::new(
        " char_using",
        "set, n, ...",
        "CHAR(n, ... USING set): the characters of these numbers.",
        char_using_type,
        char_using,
    )
    .takes_null()
    .takes_numbers(),
    &Function::new(
        "chr",
        "n",
        "The character of this number.",
        |t| Ok(ExprType::text(4, t.nullable())),
        |c| text_in(c, bytes_of(c, 0), c.expr.ty.ty.collation.charset()),
    )
    .takes_numbers(),
    &Function::new(
        "conv",
        "digits, from, to",
        "Digits of one base as digits of another one.",
        number_text,
        conv,
    ),
    &Function::new(
        "hex",
        "value",
        "A number, or the bytes of a text, in hexadecimal digits.",
        hex_type,
        hex,
    ),
    &Function::new(
        "oct",
        "n",
        "The number in octal digits.",
        number_text,
        |c| Ok(converted(c, (10, 8))),
    ),
    &Function::new(
        "unhex",
        "digits",
        "The bytes that hexadecimal digits stand for; NULL if they are none.",
        |t| Ok(bytes(t.bytes(0).div_ceil(2), true)),
        unhex,
    ),
];

fn number_text(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::text(65, true))
}

/// Bytes in hexadecimal digits.
pub(super) fn hex_text(bytes: &[u8], upper: bool) -> String {
    let mut s = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        let _ = match upper {
            true => write!(s, "{b:02X}"),
            false => write!(s, "{b:02x}"),
        };
    }
    s
}

/// The bytes of an argument's number without zeros in front.
fn bytes_of(c: &Call<'_, '_>, i: usize) -> Vec<u8> {
    let n = to_integer(c.v(i), &mut c.told(i)) as u32;
    let skip = (n.leading_zeros() as usize / 8).min(3);
    n.to_be_bytes()[skip..].to_vec()
}

/// The bytes of all numbers from an argument on.
fn bytes_from(c: &Call<'_, '_>, from: usize) -> Vec<u8> {
    let given = (from..c.args.len()).filter(|i| !c.v(*i).is_null());
    given.flat_map(|i| bytes_of(c, i)).collect()
}

/// The same with each number's bytes filled up to whole units of a character set.
fn units_from(c: &Call<'_, '_>, from: usize, unit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for i in (from..c.args.len()).filter(|i| !c.v(*i).is_null()) {
        let bytes = bytes_of(c, i);
        let zeros = bytes.len().next_multiple_of(unit.max(1)) - bytes.len();
        out.resize(out.len() + zeros, 0);
        out.extend(bytes);
    }
    out
}

fn char_using_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    // Each number has up to four bytes.
    let bytes_given = (t.args.len() as u64 - 1) * 4;
    let nullable = t.args[1..].iter().any(|a| a.ty.nullable);
    Ok(match charset(t.args) {
        "binary" => bytes(bytes_given, nullable),
        name => {
            let set = crate::lower::charset(name)?;
            let chars = bytes_given / set.max_width() as u64;
            let c = set.default_collation();
            ExprType::string(chars, c, Coercibility::Coercible, nullable)
        }
    })
}

/// The character set that the parser put into the first argument.
fn charset(args: &[Expr]) -> &str {
    match args.first().map(|a| &a.kind) {
        Some(ExprKind::Literal(Value::Str(s))) if &**s == "utf8" => "utf8mb3",
        Some(ExprKind::Literal(Value::Str(s))) => s,
        _ => "",
    }
}

fn char_using<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    match c.text(0).as_str() {
        "binary" => Ok(Val::Owned(Value::bytes(bytes_from(c, 1)))),
        name => {
            let set = Charset::from_name(name).unwrap_or_default();
            text_in(c, units_from(c, 1, set.min_width()), set)
        }
    }
}

/// Bytes as text in a character set. Those that are none end it with warning 1300; in a strict mode it is NULL then.
fn text_in<'a>(c: &Call<'a, '_>, bytes: Vec<u8>, set: Charset) -> SqlResult<Val<'a>> {
    if set.stores_utf8() {
        return checked_text(c, bytes, set.name());
    }
    Ok(match set.text_of(&bytes) {
        Ok(t) => Val::text(t.into_owned()),
        Err(_) => {
            let good = set.well_formed(&bytes);
            let shown = hex_text(&bytes[good..bytes.len().min(good + 6)], true);
            let told = format!("Invalid {} character string: '{shown}'", set.name());
            c.ctx.env.warn(codes::INVALID_CHARACTER_STRING, told);
            match set.text_of(&bytes[..good]) {
                Ok(t) if !c.ctx.env.sql_mode.strict() => Val::text(t.into_owned()),
                _ => Val::NULL,
            }
        }
    })
}

/// The same of bytes in UTF-8.
fn checked_text<'a>(c: &Call<'a, '_>, b: Vec<u8>, charset: &str) -> SqlResult<Val<'a>> {
    Ok(match String::from_utf8(b) {
        Ok(s) => Val::text(s),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let mut bad = e.into_bytes();
            let shown = hex_text(&bad[at..bad.len().min(at + 6)], true);
            let told = format!("Invalid {charset} character string: '{shown}'");
            c.ctx.env.warn(codes::INVALID_CHARACTER_STRING, told);
            bad.truncate(at);
            match String::from_utf8(bad) {
                Ok(s) if !c.ctx.env.sql_mode.strict() => Val::text(s),
                _ => Val::NULL,
            }
        }
    })
}

fn conv<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    // Bases are numbers of 32 bits there.
    let base = |i| match c.number(i) {
        ValueRef::UInt(n) => i64::from(n as i32),
        _ => i64::from(c.int(i) as i32),
    };
    Ok(converted(c, (base(1), base(2))))
}

/// The first argument's text, read as digits of one base, as digits of another one. BIN() and OCT() are that as well.
fn converted<'a>(c: &Call<'_, '_>, (from, to): (i64, i64)) -> Val<'a> {
    let bases = 2..=36;
    if !bases.contains(&from.unsigned_abs()) || !bases.contains(&to.unsigned_abs()) {
        return Val::NULL;
    }
    let t = match c.v(0) {
        // Its number, not the bytes.
        ValueRef::Bits(b) => b.value.to_string(),
        _ => c.text(0),
    };
    if t.is_empty() {
        return Val::NULL;
    }
    let n = read_digits(t.trim(), from.unsigned_abs(), from < 0);
    let minus = to < 0 && (n as i64) < 0;
    let n = if minus { (n as i64).unsigned_abs() } else { n };
    let digits = digits_of(n, to.unsigned_abs());
    Val::text(match minus {
        true => format!("-{digits}"),
        false => digits,
    })
}

/// The number that digits of a base stand for, up to what is no digit. Too large ones are the largest, of a signed base the
/// largest with their sign.
fn read_digits(text: &str, base: u64, signed: bool) -> u64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = digits.chars().map_while(|c| c.to_digit(base as u32));
    let n = digits.fold(0u64, |n, d| n.saturating_mul(base).saturating_add(d.into()));
    match (negative, signed) {
        (true, true) => n.min(1 << 63).wrapping_neg(),
        (true, false) => n.wrapping_neg(),
        (false, true) => n.min(i64::MAX as u64),
        (false, false) => n,
    }
}

/// A number in digits of a base.
fn digits_of(mut n: u64, base: u64) -> String {
    let mut out = Vec::new();
    loop {
        let digit = char::from_digit((n % base) as u32, 36).unwrap_or('0');
        out.push(digit.to_ascii_uppercase());
        n /= base;
        if n == 0 {
            return out.iter().rev().collect();
        }
    }
}

fn hex_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let arg = t.arg(0);
    let counted = matches!(arg.ty.kind, TypeKind::Year | TypeKind::Bit(_))
        || arg.ty.is_integer() && arg.ty.unsigned
        || arg.ty.is_temporal();
    let chars = if arg.ty.is_member() {
        arg.chars() * u64::from(arg.ty.char_bytes()) * 2
    } else if counted && !arg.null {
        arg.chars() * 2
    } else if arg.ty.is_string() {
        arg.ty.max_bytes().unwrap_or(0) * 2
    } else if arg.ty.fixed().is_some() {
        arg.chars() * 2
    } else {
        16
    };
    Ok(ExprType::text(chars, t.nullable()))
}

fn hex<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if !c.may_be(2 * text_bytes(c, 0))? {
        return Ok(Val::NULL);
    }
    let env = c.ctx.env;
    Ok(Val::text(match c.v(0) {
        ValueRef::Bytes(s) => hex_text(s, true),
        ValueRef::Fixed(f) => hex_text(f.bytes(), true),
        ValueRef::Str(s) => hex_text(&c.charset(0).encode(s), true),
        ValueRef::Member(m) => hex_text(&c.charset(0).encode(m.text().as_bytes()), true),
        ValueRef::Date(_) | ValueRef::Time(_) | ValueRef::DateTime(_) => {
            hex_text(c.text(0).as_bytes(), true)
        }
        // Exact numbers too are read as doubles.
        v @ (ValueRef::Double(_) | ValueRef::Decimal(_)) => {
            let x = to_f64(v, &mut Warn(env)).round() as i128;
            match x > i64::MIN.into() && x < u64::MAX.into() {
                true => format!("{:X}", x as u64),
                false => format!("{:X}", u64::MAX),
            }
        }
        v => format!("{:X}", to_integer(v, &mut Warn(env)) as u64),
    }))
}

fn unhex<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let t = c.text(0);
    let t = if t.len() % 2 == 1 { format!("0{t}") } else { t };
    let byte = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).ok()?;
        let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u8::from_str_radix(digits, 16).ok().filter(|_| hex)
    };
    let bytes: Option<Vec<u8>> = t.as_bytes().chunks(2).map(byte).collect();
    Ok(bytes.map_or(Val::NULL, |b| Val::Owned(Value::bytes(b))))
}
