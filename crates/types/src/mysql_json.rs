//! MySQL's binary form of JSON values, as its row events have them, made into text.
//!
//! ```text
//! value    u8 type | what the type says
//! object   count, size; for each key: where, u16 length; for each value: u8 type, where or the value; keys; values
//! array    count, size; for each value: u8 type, where or the value; values
//! string   length in bytes of 7 bits, lowest first; UTF-8
//! opaque   u8 column type | length | value
//! ```
//!
//! Counts, sizes and places have two bytes in small objects and arrays, four in large ones. Places count from the first byte
//! behind the object's or array's type. Facts: MySQL's documentation and what its servers send.

use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, Time};

/// Deepest nesting, as in MySQL.
const MAX_DEPTH: usize = 100;

/// The bytes are no JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

mod kind {
    pub(super) const SMALL_OBJECT: u8 = 0x00;
    pub(super) const LARGE_OBJECT: u8 = 0x01;
    pub(super) const SMALL_ARRAY: u8 = 0x02;
    pub(super) const LARGE_ARRAY: u8 = 0x03;
    pub(super) const LITERAL: u8 = 0x04;
    pub(super) const INT16: u8 = 0x05;
    pub(super) const UINT16: u8 = 0x06;
    pub(super) const INT32: u8 = 0x07;
    pub(super) const UINT32: u8 = 0x08;
    pub(super) const INT64: u8 = 0x09;
    pub(super) const UINT64: u8 = 0x0a;
    pub(super) const DOUBLE: u8 = 0x0b;
    pub(super) const STRING: u8 = 0x0c;
    pub(super) const OPAQUE: u8 = 0x0f;
}

/// Column types that MySQL keeps as they are in a JSON value.
mod column {
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const NEWDECIMAL: u8 = 246;
}

/// Appends the text of a value, as MySQL prints it: `{"a": 1, "b": [true, null]}`. `budget`: bytes that may be appended at
/// most; what refers to one part many times could be of any length.
///
/// # Errors
/// [`NotJson`] for bytes that are none, or whose text is longer.
pub fn write_text(value: &[u8], budget: usize, out: &mut Vec<u8>) -> Result<(), NotJson> {
    // An empty value is what a NOT NULL column holds that was never set.
    let Some((&kind, rest)) = value.split_first() else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    let mut writer = Writer {
        limit: out.len().saturating_add(budget),
        out,
    };
    writer.value(kind, rest, 0)
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    limit: usize,
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], NotJson> {
    bytes.first_chunk().copied().ok_or(NotJson)
}

/// A count, size or place.
fn number(bytes: &[u8], at: usize, large: bool) -> Result<usize, NotJson> {
    let rest = bytes.get(at..).ok_or(NotJson)?;
    Ok(match large {
        true => u32::from_le_bytes(fixed(rest)?) as usize,
        false => usize::from(u16::from_le_bytes(fixed(rest)?)),
    })
}

/// A length in bytes of 7 bits each, and what follows it.
fn length(bytes: &[u8]) -> Result<(usize, &[u8]), NotJson> {
    let mut len = 0usize;
    for (i, b) in bytes.iter().enumerate().take(5) {
        len |= usize::from(b & 0x7f) << (7 * i);
        if b & 0x80 == 0 {
            return Ok((len, &bytes[i + 1..]));
        }
    }
    Err(NotJson)
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), NotJson> {
        if self.out.len() + bytes.len() > self.limit {
            return Err(NotJson);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn value(&mut self, kind: u8, b: &[u8], depth: usize) -> Result<(), NotJson> {
        match kind {
            kind::SMALL_OBJECT => self.container(b, depth, true, false),
            kind::LARGE_OBJECT => self.container(b, depth, true, true),
            kind::SMALL_ARRAY => self.container(b, depth, false, false),
            kind::LARGE_ARRAY => self.container(b, depth, false, true),
            kind::LITERAL => match b.first() {
                Some(0) => self.put(b"null"),
                Some(1) => self.put(b"true"),
                Some(2) => self.put(b"false"),
                _ => Err(NotJson),
            },
            kind::INT16 => self.integer(i16::from_le_bytes(fixed(b)?)),
            kind::UINT16 => self.integer(u16::from_le_bytes(fixed(b)?)),
            kind::INT32 => self.integer(i32::from_le_bytes(fixed(b)?)),
            kind::UINT32 => self.integer(u32::from_le_bytes(fixed(b)?)),
            kind::INT64 => self.integer(i64::from_le_bytes(fixed(b)?)),
            kind::UINT64 => self.integer(u64::from_le_bytes(fixed(b)?)),
            kind::DOUBLE => {
                let v = f64::from_le_bytes(fixed(b)?);
                match v.is_finite() {
                    true => self.put(format!("{v:?}").as_bytes()),
                    false => Err(NotJson),
                }
            }
            kind::STRING => {
                let (len, rest) = length(b)?;
                self.string(rest.get(..len).ok_or(NotJson)?)
            }
            kind::OPAQUE => {
                let (&of, rest) = b.split_first().ok_or(NotJson)?;
                let (len, rest) = length(rest)?;
                self.opaque(of, rest.get(..len).ok_or(NotJson)?)
            }
            _ => Err(NotJson),
        }
    }

    fn integer(&mut self, v: impl std::fmt::Display) -> Result<(), NotJson> {
        self.put(v.to_string().as_bytes())
    }

    fn container(
        &mut self,
        b: &[u8],
        depth: usize,
        object: bool,
        large: bool,
    ) -> Result<(), NotJson> {
        if depth >= MAX_DEPTH {
            return Err(NotJson);
        }
        let word = if large { 4 } else { 2 };
        let count = number(b, 0, large)?;
        let b = b.get(..number(b, word, large)?).ok_or(NotJson)?;
        let key_entry = if object { word + 2 } else { 0 };
        let values = 2 * word + count * key_entry;
        self.put(if object { b"{" } else { b"[" })?;
        for i in 0..count {
            if i > 0 {
                self.put(b", ")?;
            }
            if object {
                let entry = 2 * word + i * key_entry;
                let (at, len) = (number(b, entry, large)?, number(b, entry + word, false)?);
                self.string(b.get(at..at + len).ok_or(NotJson)?)?;
                self.put(b": ")?;
            }
            let entry = values + i * (1 + word);
            let kind = *b.get(entry).ok_or(NotJson)?;
            let inline = match kind {
                kind::LITERAL | kind::INT16 | kind::UINT16 => true,
                kind::INT32 | kind::UINT32 => large,
                _ => false,
            };
            let at = match inline {
                true => entry + 1,
                false => number(b, entry + 1, large)?,
            };
            self.value(kind, b.get(at..).ok_or(NotJson)?, depth + 1)?;
        }
        self.put(if object { b"}" } else { b"]" })
    }

    fn string(&mut self, text: &[u8]) -> Result<(), NotJson> {
        if std::str::from_utf8(text).is_err() {
            return Err(NotJson);
        }
        self.put(b"\"")?;
        for &c in text {
            match c {
                b'"' => self.put(b"\\\""),
                b'\\' => self.put(b"\\\\"),
                0x08 => self.put(b"\\b"),
                0x0c => self.put(b"\\f"),
                b'\n' => self.put(b"\\n"),
                b'\r' => self.put(b"\\r"),
                b'\t' => self.put(b"\\t"),
                0..=0x1f => self.put(format!("\\u{c:04x}").as_bytes()),
                c => self.put(&[c]),
            }?;
        }
        self.put(b"\"")
    }

    fn opaque(&mut self, of: u8, b: &[u8]) -> Result<(), NotJson> {
        let mut text = Vec::new();
        match of {
            column::NEWDECIMAL => {
                let &[precision, scale, ref digits @ ..] = b else {
                    return Err(NotJson);
                };
                if scale > precision || precision > 65 || scale > 38 {
                    return Err(NotJson);
                }
                Decimal::decode_binary(digits, precision, scale)
                    .ok_or(NotJson)?
                    .write(&mut text);
                return self.put(&text);
            }
            column::DATE => date_of(b)?.date.write(&mut text),
            column::DATETIME | column::TIMESTAMP => date_of(b)?.write(&mut text),
            column::TIME => time_of(b)?.write(&mut text),
            _ => {
                text = format!("base64:type{of}:").into_bytes();
                base64(b, &mut text);
            }
        }
        self.string(&text)
    }
}

/// Microseconds of a day or span out of hours, minutes, seconds, and a fraction in 24 bits.
fn micros(packed: u64) -> u64 {
    let (clock, fraction) = (packed >> 24, packed & 0xff_ffff);
    let (hours, minutes, seconds) = (clock >> 12, clock >> 6 & 63, clock & 63);
    ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction
}

/// A date and time of day in 64 bits: the year and month in thirteenths, day, and the time.
fn date_of(b: &[u8]) -> Result<DateTime, NotJson> {
    let packed = u64::from_le_bytes(fixed(b)?);
    let days = packed >> 41;
    let months = days >> 5;
    let (year, month) = (months / 13, months % 13);
    let micros = micros(packed & ((1 << 41) - 1));
    if year > 9999 || month > 12 || micros >= 86_400_000_000 {
        return Err(NotJson);
    }
    Ok(DateTime {
        date: Date {
            year: year as u16,
            month: month as u8,
            day: (days & 31) as u8,
        },
        micros,
        fsp: 6,
    })
}

fn time_of(b: &[u8]) -> Result<Time, NotJson> {
    let packed = i64::from_le_bytes(fixed(b)?);
    let span = micros(packed.unsigned_abs() & ((1 << 41) - 1));
    let span = i64::try_from(span).map_err(|_| NotJson)?;
    Ok(Time::from_micros(if packed < 0 { -span } else { span }, 6))
}

fn base64(b: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in b.chunks(3) {
        let word = (0..3).fold(0, |w, i| {
            w << 8 | u32::from(three.get(i).copied().unwrap_or(0))
        });
        for i in 0..4 {
            out.push(match i <= three.len() {
                true => DIGITS[(word >> (18 - 6 * i) & 63) as usize],
                false => b'=',
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        write_text(value, 1000, &mut out).ok()?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn scalars() {
        for (value, want) in [
            (&b""[..], "null"),
            (b"\x04\x00", "null"),
            (b"\x04\x01", "true"),
            (b"\x05\xff\xff", "-1"),
            (b"\x06\xff\xff", "65535"),
            (b"\x0b\0\0\0\0\0\0\xf0\x3f", "1.0"),
            (b"\x0c\x05a\"\n\x01z", "\"a\\\"\\n\\u0001z\""),
            (b"\x0f\xf6\x04\x03\x02\x81\x17", "1.23"),
            (b"\x0f\xfc\x02hi", "\"base64:type252:aGk=\""),
            (b"\x0f\xfc\x03\xff\xfe\xfd", "\"base64:type252://79\""),
        ] {
            assert_eq!(text(value).as_deref(), Some(want), "{value:x?}");
            for n in 1..value.len() {
                let _ = text(&value[..n]);
            }
        }
        assert_eq!(text(b"\x04\x07"), None);
        assert_eq!(text(b"\x0c\x01\xff"), None);
        assert_eq!(text(b"\x63"), None);
    }

    #[test]
    fn times_of_day_and_dates() {
        let opaque = |of: u8, packed: i64| {
            let mut value = vec![0x0f, of, 8];
            value.extend_from_slice(&packed.to_le_bytes());
            text(&value).unwrap()
        };
        let clock = 23 << 12 | 24 << 6 | 25;
        let day = (2015 * 13 + 1) << 5 | 15;
        assert_eq!(opaque(10, day << 41), "\"2015-01-15\"");
        assert_eq!(
            opaque(12, (day << 17 | clock) << 24 | 12),
            "\"2015-01-15 23:24:25.000012\""
        );
        assert_eq!(opaque(11, -(clock << 24)), "\"-23:24:25.000000\"");
    }

    /// `{"a": [1, null], "b": "x"}`, small.
    const OBJECT: &[u8] = b"\x00\x02\0\x23\0\x12\0\x01\0\x13\0\x01\0\x02\x14\0\x0c\x21\0ab\
        \x02\0\x0a\0\x05\x01\0\x04\0\0\0\0\0\x01x";

    #[test]
    fn objects_and_arrays() {
        assert_eq!(
            text(OBJECT).as_deref(),
            Some("{\"a\": [1, null], \"b\": \"x\"}")
        );
        for n in 1..OBJECT.len() {
            assert_eq!(text(&OBJECT[..n]), None, "{n}");
        }
        // Whatever its bytes are, it neither panics nor goes beyond its bounds.
        for i in 0..OBJECT.len() {
            for bits in [0x01, 0x80, 0xff] {
                let mut value = OBJECT.to_vec();
                value[i] ^= bits;
                let _ = text(&value);
            }
        }
    }

    #[test]
    fn what_refers_to_itself_ends() {
        // An array of 40 arrays, each of which is the array itself.
        let mut value = vec![0x02, 40, 0, 124, 0];
        for _ in 0..40 {
            value.extend_from_slice(&[0x02, 0, 0]);
        }
        assert_eq!(text(&value), None);
    }
}
