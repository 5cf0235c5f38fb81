//! Column values of row images: taken apart, and written as pseudo SQL, as JSON and as SQL literals.

use narwal_binlog::{ColumnMeta, column_type as t};
pub use narwal_stream::cell::{Cell, string_len};
use narwal_stream::cell::{members, real_type, signed};
use narwal_stream::json::number;
pub use narwal_stream::json::string as json_string;
use std::fmt::Write as _;
use std::io::Write as _;

fn big(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// `%.*g` of C.
fn general(v: f64, precision: usize) -> String {
    if !v.is_finite() {
        return if v.is_nan() {
            "nan".into()
        } else if v > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let text = format!("{v:.*e}", precision - 1);
    let (digits, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    let trim = |s: &str| match s.contains('.') {
        true => s.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => s.to_owned(),
    };
    if exp < -4 || exp >= precision as i32 {
        let sign = if exp < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), exp.abs());
    }
    let places = usize::try_from(precision as i32 - 1 - exp).unwrap_or(0);
    trim(&format!("{v:.places$}"))
}

fn put_timestamp(out: &mut Vec<u8>, secs: u32, micros: u32, digits: u8) {
    let _ = write!(out, "{secs}");
    put_fraction(out, micros, digits);
}

fn put_fraction(out: &mut Vec<u8>, micros: u32, digits: u8) {
    if digits > 0 {
        let text = format!("{micros:06}");
        out.push(b'.');
        out.extend_from_slice(&text.as_bytes()[..usize::from(digits.min(6))]);
    }
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'\'');
    write(out);
    out.push(b'\'');
}

/// The value as in the commented pseudo SQL of `mariadb-binlog -v`.
pub fn pseudo(cell: &Cell<'_>, out: &mut Vec<u8>) {
    match *cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Int(bits, width) => {
            let v = signed(bits, width);
            let _ = write!(out, "{v}");
            if v < 0 {
                let _ = write!(out, " ({bits})");
            }
        }
        Cell::Float(v) => {
            let _ = write!(out, "{:<20}", general(f64::from(v), 6));
        }
        Cell::Double(v) => out.extend_from_slice(general(v, 20).as_bytes()),
        Cell::Decimal(d) => d.write(out),
        Cell::Bytes(b) | Cell::Raw(b) => quoted(out, |out| {
            for &c in b {
                if c > 0x1f {
                    out.push(c);
                } else {
                    let _ = write!(out, "\\x{c:02x}");
                }
            }
        }),
        Cell::Bit(bytes, bits) => {
            out.extend_from_slice(b"b'");
            put_bits(out, bytes, bits);
            out.push(b'\'');
        }
        Cell::Enum(n) => {
            let _ = write!(out, "{n}");
        }
        Cell::Set(bits, width) => {
            out.extend_from_slice(b"b'");
            let bytes = bits.to_be_bytes();
            put_bits(
                out,
                &bytes[8 - usize::from(width.clamp(1, 8))..],
                u16::from(width) * 8,
            );
            out.push(b'\'');
        }
        Cell::Year(y) => {
            let _ = write!(out, "{y:04}");
        }
        Cell::Date(d) => {
            let _ = write!(out, "'{:04}:{:02}:{:02}'", d.year, d.month, d.day);
        }
        Cell::Time(v) => quoted(out, |out| v.write(out)),
        Cell::DateTime(v) => quoted(out, |out| v.write(out)),
        Cell::Timestamp(secs, micros, digits) => put_timestamp(out, secs, micros, digits),
    }
}

fn put_bits(out: &mut Vec<u8>, bytes: &[u8], bits: u16) {
    let all = bytes.len() * 8;
    for i in all.saturating_sub(usize::from(bits))..all {
        out.push(b'0' + (bytes[i / 8] >> (7 - i % 8) & 1));
    }
}

/// The comment behind a value in `mariadb-binlog -vv`, without the parts that depend on the value.
pub fn type_text(code: u8, meta: &[u8]) -> String {
    let m = |i: usize| u32::from(meta.get(i).copied().unwrap_or(0));
    let (little, big) = (m(0) | m(1) << 8, m(0) << 8 | m(1));
    let fraction = |name: &str| (format!("{name}({})", m(0)), m(0));
    let (name, meta) = match real_type(code, meta) {
        t::TINY => ("TINYINT".into(), 0),
        t::SHORT => ("SHORTINT".into(), 0),
        t::INT24 => ("MEDIUMINT".into(), 0),
        t::LONG => ("INT".into(), 0),
        t::LONGLONG => ("LONGINT".into(), 0),
        t::FLOAT => ("FLOAT".into(), m(0)),
        t::DOUBLE => ("DOUBLE".into(), m(0)),
        t::NEWDECIMAL => (format!("DECIMAL({},{})", m(0), m(1)), big),
        t::YEAR => ("YEAR".into(), 0),
        t::DATE | t::NEWDATE => ("DATE".into(), 0),
        t::TIME => ("TIME".into(), 0),
        t::DATETIME => ("DATETIME".into(), 0),
        t::TIMESTAMP => ("TIMESTAMP".into(), 0),
        t::TIME2 => fraction("TIME"),
        t::DATETIME2 => fraction("DATETIME"),
        t::TIMESTAMP2 => fraction("TIMESTAMP"),
        t::BIT => (format!("BIT({})", m(1) * 8 + m(0)), little),
        t::ENUM => (
            format!("ENUM({} byte{})", m(1), if m(1) > 1 { "s" } else { "" }),
            big,
        ),
        t::SET => (format!("SET({} bytes)", m(1)), big),
        t::VARCHAR | t::VAR_STRING => (format!("VARSTRING({little})"), little),
        t::VARCHAR_COMPRESSED => (format!("VARSTRING({little}) COMPRESSED"), little),
        t::STRING => (format!("STRING({})", string_len(meta)), big),
        t::BLOB | t::BLOB_COMPRESSED => {
            let size = match m(0) {
                1 => "TINYBLOB/TINYTEXT",
                2 => "BLOB/TEXT",
                3 => "MEDIUMBLOB/MEDIUMTEXT",
                _ => "LONGBLOB/LONGTEXT",
            };
            (size.into(), m(0))
        }
        t::GEOMETRY => ("GEOMETRY".into(), m(0)),
        other => (format!("type {other}"), little),
    };
    let mut out = name;
    let _ = write!(out, " meta={meta}");
    out
}

fn utc(secs: u32, micros: u32, digits: u8) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(v) = narwal_stream::cell::utc(secs, micros, digits) {
        v.write(&mut out);
    }
    out
}

/// The value as JSON; docs/reading-the-log.md tells the mapping.
pub fn json(cell: &Cell<'_>, column: &ColumnMeta, out: &mut Vec<u8>) {
    let text = |out: &mut Vec<u8>, bytes: &[u8], binary: bool| match std::str::from_utf8(bytes) {
        Ok(s) if !binary => json_string(s, out),
        _ => {
            out.extend_from_slice(b"{\"base64\":\"");
            out.extend_from_slice(base64(bytes).as_bytes());
            out.extend_from_slice(b"\"}");
        }
    };
    let ascii = |out: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)| {
        out.push(b'"');
        write(out);
        out.push(b'"');
    };
    match *cell {
        Cell::Null => out.extend_from_slice(b"null"),
        Cell::Int(bits, _) if column.unsigned => {
            let _ = write!(out, "{bits}");
        }
        Cell::Int(bits, width) => {
            let _ = write!(out, "{}", signed(bits, width));
        }
        Cell::Float(v) if v.is_finite() => {
            let _ = write!(out, "{}", number(&format!("{v:e}")));
        }
        Cell::Double(v) if v.is_finite() => {
            let _ = write!(out, "{}", number(&format!("{v:e}")));
        }
        Cell::Float(_) | Cell::Double(_) => out.extend_from_slice(b"null"),
        Cell::Decimal(d) => ascii(out, &|out| d.write(out)),
        Cell::Bytes(b) => text(out, b, column.collation == Some(63)),
        Cell::Raw(b) => text(out, b, true),
        Cell::Bit(bytes, _) => {
            let _ = write!(out, "{}", big(bytes));
        }
        Cell::Enum(n) => match usize::try_from(n).ok().and_then(|n| n.checked_sub(1)) {
            None => out.extend_from_slice(b"\"\""),
            Some(i) => match column.labels.get(i) {
                Some(label) => text(out, label, false),
                None => {
                    let _ = write!(out, "{n}");
                }
            },
        },
        Cell::Set(bits, _) => match members(bits, &column.labels) {
            Some(names) => text(out, &names, false),
            None => {
                let _ = write!(out, "{bits}");
            }
        },
        Cell::Year(y) => {
            let _ = write!(out, "{y}");
        }
        Cell::Date(d) => ascii(out, &|out| d.write(out)),
        Cell::Time(v) => ascii(out, &|out| v.write(out)),
        Cell::DateTime(v) => ascii(out, &|out| v.write(out)),
        Cell::Timestamp(secs, micros, digits) => ascii(out, &|out| {
            out.extend_from_slice(&utc(secs, micros, digits));
        }),
    }
}

/// The value as an SQL literal that means exactly it, in a session with UTF-8 text, UTC and backslash escapes.
pub fn literal(cell: &Cell<'_>, column: &ColumnMeta, out: &mut Vec<u8>) {
    match *cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Int(..) | Cell::Year(_) => {
            if let (Cell::Int(bits, width), false) = (*cell, column.unsigned) {
                let _ = write!(out, "{}", signed(bits, width));
            } else if let Cell::Int(bits, _) = *cell {
                let _ = write!(out, "{bits}");
            } else if let Cell::Year(y) = *cell {
                let _ = write!(out, "{y}");
            }
        }
        // A FLOAT is compared as the DOUBLE that it is.
        Cell::Float(v) => {
            let _ = write!(out, "{:e}", f64::from(v));
        }
        Cell::Double(v) => {
            let _ = write!(out, "{v:e}");
        }
        Cell::Decimal(d) => d.write(out),
        Cell::Bytes(b) | Cell::Raw(b) => match std::str::from_utf8(b) {
            Ok(_) if column.collation != Some(63) => {
                out.push(b'\'');
                for &c in b {
                    match c {
                        b'\'' => out.extend_from_slice(b"\\'"),
                        b'\\' => out.extend_from_slice(b"\\\\"),
                        0 => out.extend_from_slice(b"\\0"),
                        b'\n' => out.extend_from_slice(b"\\n"),
                        b'\r' => out.extend_from_slice(b"\\r"),
                        0x1a => out.extend_from_slice(b"\\Z"),
                        c => out.push(c),
                    }
                }
                out.push(b'\'');
            }
            _ if b.is_empty() => out.extend_from_slice(b"''"),
            _ => {
                out.extend_from_slice(b"x'");
                for c in b {
                    let _ = write!(out, "{c:02x}");
                }
                out.push(b'\'');
            }
        },
        Cell::Bit(bytes, bits) => {
            out.extend_from_slice(b"b'");
            put_bits(out, bytes, bits);
            out.push(b'\'');
        }
        Cell::Enum(n) | Cell::Set(n, _) => {
            let _ = write!(out, "{n}");
        }
        Cell::Date(d) => quoted(out, |out| d.write(out)),
        Cell::Time(v) => quoted(out, |out| v.write(out)),
        Cell::DateTime(v) => quoted(out, |out| v.write(out)),
        Cell::Timestamp(secs, micros, digits) => {
            quoted(out, |out| out.extend_from_slice(&utc(secs, micros, digits)));
        }
    }
}

/// A name in backquotes.
pub fn identifier(name: &str, out: &mut Vec<u8>) {
    out.push(b'`');
    out.extend_from_slice(name.replace('`', "``").as_bytes());
    out.push(b'`');
}

/// Base 64 in one line.
pub(crate) fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_print_as_in_c() {
        for (v, expected) in [
            (-1e100, "-1.0000000000000000159e+100"),
            (0.1, "0.10000000000000000555"),
            (123456789.125, "123456789.125"),
            (0.0, "0"),
        ] {
            assert_eq!(general(v, 20), expected);
        }
        assert_eq!(general(f64::from(1e30f32), 6), "1e+30");
        assert_eq!(general(123_456.789, 6), "123457");
        assert_eq!(general(0.00001, 6), "1e-05");
        assert_eq!(
            text(|o| pseudo(&Cell::Float(1.5), o)),
            "1.5                 "
        );
        assert_eq!(
            text(|o| pseudo(&Cell::Int(0x80_0000, 3), o)),
            "-8388608 (8388608)"
        );
        assert_eq!(text(|o| pseudo(&Cell::Int(5, 1), o)), "5");
    }

    #[test]
    fn json_numbers_are_exact() {
        let json_of = |cell, unsigned| {
            let column = ColumnMeta {
                unsigned,
                ..ColumnMeta::default()
            };
            text(|o| json(&cell, &column, o))
        };
        assert_eq!(
            json_of(Cell::Int(u64::MAX, 8), true),
            "18446744073709551615"
        );
        assert_eq!(json_of(Cell::Int(u64::MAX, 8), false), "-1");
        for v in [
            0.1, -1e100, 1e-7, 123456.789, 5.0, -0.0, 1e15, 1.5e300, 0.000012,
        ] {
            let shown = json_of(Cell::Double(v), false);
            assert_eq!(
                shown.parse::<f64>().unwrap().to_bits(),
                v.to_bits(),
                "{shown}"
            );
        }
        assert_eq!(json_of(Cell::Float(0.1), false), "0.1");
        assert_eq!(json_of(Cell::Bytes(b"a\"\x01"), false), "\"a\\\"\\u0001\"");
        assert_eq!(
            json_of(Cell::Bytes(b"\xff"), false),
            "{\"base64\":\"/w==\"}"
        );
        assert_eq!(
            json_of(Cell::Timestamp(0, 0, 0), false),
            "\"0000-00-00 00:00:00\""
        );
        assert_eq!(
            json_of(Cell::Timestamp(1, 500_000, 1), false),
            "\"1970-01-01 00:00:01.5\""
        );
    }
}
