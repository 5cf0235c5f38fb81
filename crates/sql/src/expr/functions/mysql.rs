//! Functions that only MySQL has: UUIDs as 16 bytes.

use super::typing::{bytes, int};
use crate::expr::node::{Call, ExprType, Function};
use crate::expr::value::Val;
use narwal_types::{SqlResult, Value, errors};

pub(super) static FUNCTIONS: &[&Function] = &[
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
