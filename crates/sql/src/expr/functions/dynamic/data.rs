//! The data of one dynamic column: a value of one of nine kinds.

use super::packed::{Packed, little};
use narwal_types::charset::latin1_text;
use narwal_types::{Charset, Collation, Date, DateTime, Decimal, Time};

/// Values within each other that are still shown as JSON.
const MAX_DEPTH: usize = 64;

/// A value, by the number of its kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Int(i64),
    UInt(u64),
    Double(f64),
    /// Text in the character set of a collation.
    Text(Collation, Vec<u8>),
    /// With the fewest digits before its point that it is written with.
    Decimal(Decimal, u8),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    /// Dynamic columns again.
    Columns(Vec<u8>),
}

/// Seven bits a byte, the lowest first; all bytes but the last have the highest bit.
fn push_short(mut n: u64, out: &mut Vec<u8>) {
    while n > 0x7f {
        out.push(n as u8 & 0x7f | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn take_short(b: &mut &[u8]) -> Option<u64> {
    let mut n = 0u64;
    for shift in (0..63).step_by(7) {
        let (&first, rest) = b.split_first()?;
        *b = rest;
        n |= u64::from(first & 0x7f) << shift;
        if first < 0x80 {
            return Some(n);
        }
    }
    None
}

/// A number without the bytes above it that are 0.
fn push_bare(n: u64, out: &mut Vec<u8>) {
    let bytes = 8 - n.leading_zeros() as usize / 8;
    out.extend_from_slice(&n.to_le_bytes()[..bytes]);
}

fn date_bits(d: Date) -> u64 {
    u64::from(d.day) | u64::from(d.month) << 5 | u64::from(d.year) << 9
}

fn date_of(b: &[u8]) -> Option<Date> {
    let n = little(b);
    let d = Date::new((n >> 9) as u16, (n >> 5 & 15) as u8, (n & 31) as u8);
    (b.len() == 3 && d.month <= 12 && d.year <= 9999).then_some(d)
}

fn time_bits(t: Time) -> u64 {
    let micros = t.micros.unsigned_abs();
    let seconds = micros / 1_000_000;
    (micros % 1_000_000)
        | ((seconds % 60) << 20)
        | ((seconds / 60 % 60) << 26)
        | ((seconds / 3600) << 32)
        | (u64::from(t.micros < 0) << 42)
}

/// Appends a time: six bytes; beside named columns three without microseconds.
fn push_time(t: Time, named: bool, out: &mut Vec<u8>) {
    let bits = time_bits(t);
    match bits & 0xf_ffff {
        0 if named => out.extend_from_slice(&(bits >> 20).to_le_bytes()[..3]),
        _ => out.extend_from_slice(&bits.to_le_bytes()[..6]),
    }
}

/// Six bytes, or three without microseconds.
fn time_of(b: &[u8]) -> Option<Time> {
    let n = match b.len() {
        6 => little(b),
        3 => little(b) << 20,
        _ => return None,
    };
    let (seconds, minutes, hours) = (n >> 20 & 63, n >> 26 & 63, n >> 32 & 1023);
    let micros = n & 0xf_ffff;
    if seconds > 59 || minutes > 59 || hours > 838 || micros > 999_999 {
        return None;
    }
    let all = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros;
    let signed = if n >> 42 & 1 == 1 {
        -(all as i64)
    } else {
        all as i64
    };
    let fsp = if micros == 0 { 0 } else { 6 };
    Some(Time {
        micros: signed,
        fsp,
    })
}

impl Data {
    /// The number of its kind.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Data::Int(_) => 0,
            Data::UInt(_) => 1,
            Data::Double(_) => 2,
            Data::Text(..) => 3,
            Data::Decimal(..) => 4,
            Data::DateTime(_) => 5,
            Data::Date(_) => 6,
            Data::Time(_) => 7,
            Data::Columns(_) => 8,
        }
    }

    /// Its bytes. `named`: the columns beside it have names, no numbers.
    pub(super) fn encode(&self, named: bool) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            // The sign is the lowest bit, so that small numbers are short.
            Data::Int(n) => push_bare((n << 1 ^ n >> 63) as u64, &mut out),
            Data::UInt(n) => push_bare(*n, &mut out),
            Data::Double(f) => out.extend_from_slice(&f.to_le_bytes()),
            Data::Text(collation, text) => {
                push_short(collation.id().into(), &mut out);
                out.extend_from_slice(text);
            }
            Data::Decimal(d, _) if d.is_zero() => {}
            Data::Decimal(d, digits) => {
                let (whole, scale) = (d.int_digits().max(1).max(*digits), d.scale());
                push_short(whole.into(), &mut out);
                push_short(scale.into(), &mut out);
                d.encode_binary(whole + scale, scale, &mut out);
            }
            Data::DateTime(t) => {
                out.extend_from_slice(&date_bits(t.date).to_le_bytes()[..3]);
                let time = Time {
                    micros: t.micros as i64,
                    fsp: 6,
                };
                push_time(time, named, &mut out);
            }
            Data::Date(d) => out.extend_from_slice(&date_bits(*d).to_le_bytes()[..3]),
            Data::Time(t) => push_time(*t, named, &mut out),
            Data::Columns(b) => out.extend_from_slice(b),
        }
        out
    }

    /// The value of bytes; `None` if they are none of this kind.
    pub(super) fn decode(kind: u8, mut b: &[u8]) -> Option<Data> {
        Some(match kind {
            0 | 1 if b.len() > 8 => return None,
            0 => {
                let n = little(b);
                Data::Int((n >> 1) as i64 ^ -((n & 1) as i64))
            }
            1 => Data::UInt(little(b)),
            2 => Data::Double(f64::from_le_bytes(b.try_into().ok()?)),
            3 => {
                let id = u16::try_from(take_short(&mut b)?).ok()?;
                Data::Text(Collation::from_id(id)?, b.to_vec())
            }
            4 if b.is_empty() => Data::Decimal(Decimal::from_i128(0, 0), 1),
            4 => {
                let whole = u8::try_from(take_short(&mut b)?).ok()?;
                let scale = u8::try_from(take_short(&mut b)?).ok()?;
                let digits = whole.checked_add(scale).filter(|d| (1..=65).contains(d))?;
                if scale > 38 || b.len() < Decimal::binary_len(digits, scale) {
                    return None;
                }
                Data::Decimal(Decimal::decode_binary(b, digits, scale)?, whole)
            }
            5 => {
                let (date, time) = (date_of(b.get(..3)?)?, time_of(&b[3..])?);
                let micros = u64::try_from(time.micros).ok()?;
                Data::DateTime(DateTime::new(date, micros, time.fsp))
            }
            6 => Data::Date(date_of(b)?),
            7 => Data::Time(time_of(b)?),
            8 => Data::Columns(b.to_vec()),
            _ => return None,
        })
    }

    /// The value as UTF-8.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Data::Int(n) => return n.to_string().into_bytes(),
            Data::UInt(n) => return n.to_string().into_bytes(),
            Data::Double(f) => double_text(*f, &mut out),
            Data::Text(c, b) if c.charset() == Charset::Binary => {
                return latin1_text(b).into_bytes();
            }
            Data::Text(c, b) => return c.charset().decode(b).into_owned().into_bytes(),
            Data::Decimal(d, _) => d.write(&mut out),
            Data::DateTime(t) => t.write(&mut out),
            Data::Date(d) => d.write(&mut out),
            Data::Time(t) => t.write(&mut out),
            Data::Columns(b) => return b.clone(),
        }
        out
    }
}

/// A double with as few digits as tell it; small ones without an exponent.
fn double_text(f: f64, out: &mut Vec<u8>) {
    if f != 0.0 && f.abs() < 1e-4 && f.abs() > 1e-15 {
        out.extend_from_slice(f.to_string().as_bytes());
    } else {
        narwal_types::ValueRef::Double(f).write_text(out);
    }
}

/// Dynamic columns as a JSON object; `None` if they are none, or too deep within each other.
pub(super) fn json(packed: &Packed<'_>, depth: usize, out: &mut Vec<u8>) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    out.push(b'{');
    for (i, c) in packed.columns.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.push(b'"');
        // As MariaDB: what is in names is not escaped.
        out.extend_from_slice(&c.name.shown());
        out.extend_from_slice(b"\":");
        let data = Data::decode(c.kind, &c.data)?;
        match &data {
            Data::Int(_) | Data::UInt(_) | Data::Double(_) | Data::Decimal(..) => {
                out.extend_from_slice(&data.text());
            }
            Data::Columns(b) => json(&Packed::read(b)?, depth + 1, out)?,
            _ => {
                out.push(b'"');
                escape(&data.text(), out);
                out.push(b'"');
            }
        }
    }
    out.push(b'}');
    Some(())
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &b in text {
        match b {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', b]),
            0..=31 => out.extend_from_slice(format!("\\u{b:04X}").as_bytes()),
            _ => out.push(b),
        }
    }
}
