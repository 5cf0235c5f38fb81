//! COLUMN_GET: the value of a dynamic column as one of the type that was asked for.

use super::arguments::{columns_of, name, owned, wrong_format};
use super::data::Data;
use crate::expr::functions::typing::bytes;
use crate::expr::node::{Call, Coercibility, ExprType, Function, Typing};
use crate::expr::value::Val;
use narwal_types::convert::{NoWarnings, parse_f64_prefix};
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, Decimal, SqlResult, Time, TypeKind, Value, ValueRef};

/// What is asked for, as the numbers that the binder gives to the functions. Other types than these are made of text.
pub(crate) mod kinds {
    /// As the value is.
    pub(crate) const ANY: i64 = -1;
    pub(crate) const INT: i64 = 0;
    pub(crate) const UINT: i64 = 1;
    pub(crate) const DOUBLE: i64 = 2;
    pub(crate) const TEXT: i64 = 3;
    pub(crate) const DECIMAL: i64 = 4;
    pub(crate) const DATETIME: i64 = 5;
    pub(crate) const DATE: i64 = 6;
    pub(crate) const TIME: i64 = 7;
    pub(crate) const BINARY: i64 = 8;
}

/// The column's value: columns, name, kind.
pub(super) static GET: Function = Function::new(
    " column_get",
    "columns, name, kind",
    "The value of a dynamic column.",
    ty,
    get,
);

fn ty(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(match t.literal_int(2).unwrap_or(kinds::TEXT) {
        kinds::INT => ExprType::bigint(false, true),
        kinds::UINT => ExprType::bigint(true, true),
        kinds::DOUBLE => ExprType::double(true),
        kinds::DECIMAL => ExprType::of_column(ColumnType::new(TypeKind::Decimal(65, 38)), true),
        kinds::BINARY => bytes(u32::MAX.into(), true),
        _ => {
            let c = Collation::default();
            ExprType::string(u32::MAX.into(), c, Coercibility::Implicit, true)
        }
    })
}

fn get<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let b = c.bytes(0);
    let packed = columns_of(&b)?;
    let Some(column) = name(c, 1).and_then(|name| packed.find(&name)) else {
        return Ok(Val::NULL);
    };
    let data = Data::decode(column.kind, &column.data).ok_or_else(wrong_format)?;
    let kind = c.int(2);
    Ok(match (kind, &data) {
        (kinds::BINARY, Data::Text(_, b)) => owned(Value::bytes(b.clone())),
        (kinds::BINARY, _) => owned(Value::bytes(data.text())),
        (kinds::TEXT, _) => return c.string(data.text()),
        (_, Data::Columns(_)) => Val::NULL,
        (kinds::INT | kinds::UINT, _) => integer(c, &data, kind == kinds::UINT),
        (kinds::DOUBLE, _) => owned(Value::Double(double(c, &data))),
        (kinds::DECIMAL, _) => owned(Value::Decimal(decimal(c, &data))),
        // CAST makes dates and times of these.
        (_, Data::Int(n)) => Val::int(*n),
        (_, Data::UInt(n)) => Val::Ref(ValueRef::UInt(*n)),
        (_, Data::Double(f)) => Val::Ref(ValueRef::Double(*f)),
        (_, Data::Decimal(d, _)) => Val::Ref(ValueRef::Decimal(*d)),
        (_, Data::DateTime(t)) => Val::Ref(ValueRef::DateTime(*t)),
        (kinds::TIME, Data::Date(_)) => Val::Ref(ValueRef::Time(Time::default())),
        (_, Data::Date(d)) => Val::Ref(ValueRef::Date(*d)),
        (_, Data::Time(t)) => Val::Ref(ValueRef::Time(*t)),
        (_, Data::Text(..)) => return c.string(data.text()),
    })
}

/// Warning 1918.
fn bad(c: &Call<'_, '_>, text: &[u8], ty: &str) {
    let text = String::from_utf8_lossy(text);
    c.ctx.env.warn(
        codes::BAD_DATA,
        format!("Encountered illegal value '{text}' when converting to {ty}"),
    );
}

/// Date and time as one number.
fn moment(data: &Data) -> Option<Decimal> {
    let v = match data {
        Data::DateTime(t) => ValueRef::DateTime(*t),
        Data::Date(d) => ValueRef::Date(*d),
        Data::Time(t) => ValueRef::Time(*t),
        _ => return None,
    };
    Some(narwal_types::convert::to_decimal(v, &mut NoWarnings))
}

fn double(c: &Call<'_, '_>, data: &Data) -> f64 {
    match data {
        Data::Int(n) => *n as f64,
        Data::UInt(n) => *n as f64,
        Data::Double(f) => *f,
        Data::Decimal(d, _) => d.to_f64(),
        Data::Text(..) => {
            let text = data.text();
            let (f, used) = parse_f64_prefix(&text);
            if used < text.trim_ascii_end().len() || used == 0 {
                bad(c, &text, "DOUBLE");
            }
            f
        }
        _ => moment(data).map_or(0.0, |d| d.to_f64()),
    }
}

fn decimal(c: &Call<'_, '_>, data: &Data) -> Decimal {
    match data {
        Data::Int(n) => Decimal::from_i128((*n).into(), 0),
        Data::UInt(n) => Decimal::from_i128((*n).into(), 0),
        Data::Double(f) => Decimal::from_f64(*f),
        Data::Decimal(d, _) => *d,
        Data::Text(..) => {
            let text = data.text();
            let (d, used) = Decimal::parse_prefix(&text);
            if used < text.trim_ascii_end().len() || used == 0 {
                bad(c, &text, "DECIMAL");
            }
            d
        }
        _ => moment(data).unwrap_or_else(|| Decimal::from_i128(0, 0)),
    }
}

fn integer<'a>(c: &Call<'a, '_>, data: &Data, unsigned: bool) -> Val<'a> {
    let ty = if unsigned { "UNSIGNED INT" } else { "INT" };
    match data {
        Data::Int(n) => bits(c, (*n).into(), unsigned),
        Data::UInt(n) => bits(c, (*n).into(), unsigned),
        Data::Text(..) => {
            let text = data.text();
            let (n, whole) = leading_integer(&text);
            if !whole {
                bad(c, &text, ty);
            }
            bits(c, n, unsigned)
        }
        Data::Double(f) => {
            // Beyond the range, `as` takes its end.
            let (rounded, low) = (
                f.round_ties_even() as i128,
                if unsigned { 0 } else { i64::MIN.into() },
            );
            clamped(c, rounded, low, unsigned, data)
        }
        Data::Decimal(d, _) => {
            let end = if d.is_negative() {
                i128::MIN
            } else {
                i128::MAX
            };
            let low = if unsigned { 0 } else { i64::MIN.into() };
            clamped(c, d.round(0).to_i128().unwrap_or(end), low, unsigned, data)
        }
        _ => {
            let n = moment(data).and_then(|d| d.truncate(0).to_i128());
            bits(c, n.unwrap_or(0), unsigned)
        }
    }
}

/// An integer of the wrong sign, or too large for it, keeps its bits.
fn bits<'a>(c: &Call<'a, '_>, n: i128, unsigned: bool) -> Val<'a> {
    let note = |text| c.ctx.env.note(codes::UNKNOWN_ERROR, text);
    match unsigned {
        true => {
            if n < 0 {
                note("Cast to unsigned converted negative integer to it's positive complement");
            }
            Val::Ref(ValueRef::UInt(n as u64))
        }
        false => {
            if n > i64::MAX.into() {
                note(
                    "Cast to signed converted positive out-of-range integer to it's negative complement",
                );
            }
            Val::int(n as u64 as i64)
        }
    }
}

/// A number that is no integer becomes the end of the range, with warning 1916, if it lies beyond it.
fn clamped<'a>(c: &Call<'a, '_>, n: i128, low: i128, unsigned: bool, data: &Data) -> Val<'a> {
    let high = if unsigned {
        u64::MAX.into()
    } else {
        i64::MAX.into()
    };
    if n < low || n > high {
        let text = String::from_utf8_lossy(&data.text()).into_owned();
        let ty = if unsigned { "UNSIGNED INT" } else { "INT" };
        c.ctx.env.warn(
            codes::DATA_OVERFLOW,
            format!("Got overflow when converting '{text}' to {ty}. Value truncated"),
        );
    }
    let n = n.clamp(low, high);
    match unsigned {
        true => Val::Ref(ValueRef::UInt(n as u64)),
        false => Val::int(n as i64),
    }
}

/// The integer that a text begins with, and whether it is all of the text. One too large becomes the largest.
fn leading_integer(text: &[u8]) -> (i128, bool) {
    let t = text.trim_ascii();
    let (negative, digits) = match t.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, t),
    };
    let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut n: i128 = 0;
    let mut fits = true;
    for d in &digits[..len] {
        n = n * 10 + i128::from(d - b'0');
        if n > u64::MAX.into() {
            (n, fits) = (u64::MAX.into(), false);
            break;
        }
    }
    if negative {
        fits &= n <= -i128::from(i64::MIN);
        n = -n.min(-i128::from(i64::MIN));
    }
    (n, fits && len > 0 && len == digits.len())
}
