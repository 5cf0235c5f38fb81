//! Functions that only MySQL has.

use super::typing::{bytes, int};
use crate::expr::node::{Call, ExprType, Function};
use crate::expr::value::Val;
use narwal_types::{SqlResult, Value, errors};

/// GROUPING. The rule of WITH ROLLUP makes it [`GROUPING_AT`]; where it stays, there are no groups of several groups.
pub(crate) static GROUPING: Function = Function::new(
    "grouping",
    "key, ...",
    "Whether a row of WITH ROLLUP is of all values of a key of GROUP BY; of several keys, a bit each.",
    int,
    |_| Err(errors::INVALID_GROUP_FUNC_USE.plain()),
)
.takes_null();

/// GROUPING of the keys at these places, in a group of so many keys.
pub(crate) static GROUPING_AT: Function = Function::new(
    " grouping_at",
    "keys, place, ...",
    "A bit for each place that the group has no key for.",
    int,
    |c| {
        let keys = c.int(0);
        let bit = |bits: i64, i: usize| bits << 1 | i64::from(c.int(i) >= keys);
        Ok(Val::int((1..c.exprs().len()).fold(0, bit)))
    },
);

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "any_value",
        "value",
        "The value in one of the rows of a group, whichever.",
        |t| Ok(t.arg(0)),
        |c| Ok(Val::Owned(c.v(0).to_value())),
    ),
    &GROUPING,
    &Function::new(
        "format_bytes",
        "bytes",
        "Bytes as KiB, MiB, and so on.",
        |t| Ok(ExprType::text(16, t.nullable())),
        |c| Ok(Val::text(format_bytes(c.f64(0)))),
    ),
    &Function::new(
        "format_pico_time",
        "picoseconds",
        "A time as ns, us, ms, s, min, h or d.",
        |t| Ok(ExprType::text(16, t.nullable())),
        |c| Ok(Val::text(format_pico_time(c.f64(0)))),
    ),
    &Function::new(
        "bin_to_uuid",
        "bytes[, swapped]",
        "The text of a UUID of 16 bytes; with 1, of one whose time stands in front.",
        |_| Ok(ExprType::text(36, true)),
        bin_to_uuid,
    ),
    &Function::new(
        "is_uuid",
        "text",
        "Whether a text is a UUID, with or without dashes or in braces.",
        int,
        |c| Ok(Val::int(parse(&c.text(0)).is_some().into())),
    ),
    &Function::new(
        "uuid_to_bin",
        "text[, swapped]",
        "The 16 bytes of a UUID; with 1 those of its time in front, in their order.",
        |_| Ok(bytes(16, true)),
        uuid_to_bin,
    ),
];

/// The bytes of a UUID's text.
fn parse(text: &str) -> Option<[u8; 16]> {
    let braces = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let plain = match text.len() {
        32 => text.to_string(),
        36 | 38 => {
            let t = if text.len() == 38 { braces? } else { text };
            let dashes = [8, 13, 18, 23].iter().all(|i| t.as_bytes()[*i] == b'-');
            let digits: String = t.chars().filter(|c| *c != '-').collect();
            Some(digits).filter(|_| dashes)?
        }
        _ => return None,
    };
    let hex = plain.len() == 32 && plain.bytes().all(|b| b.is_ascii_hexdigit());
    let number = u128::from_str_radix(&plain, 16).ok().filter(|_| hex)?;
    Some(number.to_be_bytes())
}

/// Time high, time mid and time low in the order of their weight, or back.
fn swap(b: [u8; 16], to_bytes: bool) -> [u8; 16] {
    let mut out = b;
    match to_bytes {
        true => {
            out[..2].copy_from_slice(&b[6..8]);
            out[2..4].copy_from_slice(&b[4..6]);
            out[4..8].copy_from_slice(&b[..4]);
        }
        false => {
            out[..4].copy_from_slice(&b[4..8]);
            out[4..6].copy_from_slice(&b[2..4]);
            out[6..8].copy_from_slice(&b[..2]);
        }
    }
    out
}

fn swapped(c: &Call<'_, '_>) -> bool {
    c.exprs().len() > 1 && c.int(1) != 0
}

fn uuid_to_bin<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let Some(b) = parse(&text) else {
        return Err(errors::WRONG_VALUE_FOR_TYPE.with([&"string", &text, &"uuid_to_bin"]));
    };
    let b = if swapped(c) { swap(b, true) } else { b };
    Ok(Val::Owned(Value::bytes(b)))
}

fn bin_to_uuid<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut given = Vec::new();
    c.v(0).write_text(&mut given);
    let Ok(b) = <[u8; 16]>::try_from(given.as_slice()) else {
        let shown = String::from_utf8_lossy(&given);
        return Err(errors::WRONG_VALUE_FOR_TYPE.with([&"string", &shown, &"bin_to_uuid"]));
    };
    let b = if swapped(c) { swap(b, false) } else { b };
    let hex = format!("{:032x}", u128::from_be_bytes(b));
    Ok(Val::text(format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )))
}

/// A number in the largest of these units of which it has one, with two decimals.
fn in_units(n: f64, units: &[(f64, &str)]) -> Option<String> {
    let found = units.iter().find(|(size, _)| n.abs() >= *size);
    found.map(|(size, name)| format!("{:.2} {name}", n / size))
}

fn format_bytes(n: f64) -> String {
    const K: f64 = 1024.0;
    let units = [
        (K.powi(6), "EiB"),
        (K.powi(5), "PiB"),
        (K.powi(4), "TiB"),
        (K.powi(3), "GiB"),
        (K.powi(2), "MiB"),
        (K, "KiB"),
    ];
    in_units(n, &units).unwrap_or_else(|| format!("{n:>4.0} bytes"))
}

fn format_pico_time(n: f64) -> String {
    let units = [
        (86_400e12, "d"),
        (3600e12, "h"),
        (60e12, "min"),
        (1e12, "s"),
        (1e9, "ms"),
        (1e6, "us"),
        (1e3, "ns"),
    ];
    in_units(n, &units).unwrap_or_else(|| format!("{n:>3.0} ps"))
}
