//! Values as the text protocol shows them.

use crate::{Value, ValueRef};

/// Appends an unsigned integer in decimal.
#[inline]
pub fn write_u64(v: u64, out: &mut Vec<u8>) {
    const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
        2021222324252627282930313233343536373839\
        4041424344454647484950515253545556575859\
        6061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899";
    let mut b = [0u8; 20];
    let mut i = 20;
    let mut v = v;
    while v >= 100 {
        let p = (v % 100) as usize * 2;
        v /= 100;
        i -= 2;
        b[i..i + 2].copy_from_slice(&PAIRS[p..p + 2]);
    }
    if v >= 10 {
        let p = v as usize * 2;
        i -= 2;
        b[i..i + 2].copy_from_slice(&PAIRS[p..p + 2]);
    } else {
        i -= 1;
        b[i] = b'0' + v as u8;
    }
    out.extend_from_slice(&b[i..]);
}

/// Appends a signed integer in decimal.
#[inline]
pub fn write_i64(v: i64, out: &mut Vec<u8>) {
    if v < 0 {
        out.push(b'-');
    }
    write_u64(v.unsigned_abs(), out);
}

/// Appends digits `d` (no leading or trailing zeros) of a number 0.d * 10^point as MySQL lays them out: without exponent
/// while the number has at most 15 digits before the point or at most 14 zeros after it.
fn write_digits(d: &[u8], point: i32, out: &mut Vec<u8>) {
    let n = d.len() as i32;
    if (-14..=15).contains(&point) || (point > 0 && n > point) {
        if point <= 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + -point as usize, b'0');
            out.extend_from_slice(d);
        } else if n > point {
            out.extend_from_slice(&d[..point as usize]);
            out.push(b'.');
            out.extend_from_slice(&d[point as usize..]);
        } else {
            out.extend_from_slice(d);
            out.resize(out.len() + (point - n) as usize, b'0');
        }
        return;
    }
    out.push(d[0]);
    if n > 1 {
        out.push(b'.');
        out.extend_from_slice(&d[1..]);
    }
    out.push(b'e');
    write_i64(point as i64 - 1, out);
}

/// Splits Rust's `d.ddde±x` and writes it MySQL's way.
fn write_scientific(s: &str, out: &mut Vec<u8>) {
    let s = match s.strip_prefix('-') {
        Some(rest) => {
            out.push(b'-');
            rest
        }
        None => s,
    };
    let (mantissa, exp) = s.split_once('e').unwrap_or((s, "0"));
    let mut d: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while d.len() > 1 && d.last() == Some(&b'0') {
        d.pop();
    }
    if d == b"0" {
        out.push(b'0');
        return;
    }
    write_digits(&d, exp.parse::<i32>().unwrap_or(0) + 1, out);
}

/// Appends a DOUBLE: the shortest text that reads back as the same number.
pub fn write_f64(v: f64, out: &mut Vec<u8>) {
    if v.fract() == 0.0 && v.abs() < 1e15 {
        if v.is_sign_negative() && v == 0.0 {
            out.push(b'-');
        }
        return write_i64(v as i64, out);
    }
    if !v.is_finite() {
        // What lies beyond all doubles has no digits. MariaDB shows it so.
        return out.push(b'0');
    }
    write_scientific(&format!("{v:e}"), out);
}

/// Appends a FLOAT: six significant digits.
pub fn write_f32(v: f32, out: &mut Vec<u8>) {
    if !v.is_finite() {
        return write_f64(v as f64, out);
    }
    write_scientific(&format!("{v:.5e}"), out);
}

impl ValueRef<'_> {
    /// Appends the value's text; nothing for NULL.
    pub fn write_text(&self, out: &mut Vec<u8>) {
        match self {
            ValueRef::Null => {}
            ValueRef::Int(v) => write_i64(*v, out),
            ValueRef::UInt(v) => write_u64(*v, out),
            ValueRef::Float(v) => write_f32(*v, out),
            ValueRef::Double(v) => write_f64(*v, out),
            ValueRef::Decimal(d) => d.write(out),
            ValueRef::Str(b) | ValueRef::Bytes(b) => out.extend_from_slice(b),
            ValueRef::Date(d) => d.write(out),
            ValueRef::Member(m) => m.write(out),
            ValueRef::Bits(b) => b.write(out),
            ValueRef::Fixed(f) => f.write(out),
            ValueRef::Coded(set, s) => out.extend_from_slice(set.decode(s).as_bytes()),
            ValueRef::Time(t) => t.write(out),
            ValueRef::DateTime(t) => t.write(out),
        }
    }

    /// The value's text; bytes that are not UTF-8 are replaced. Empty for NULL.
    pub fn to_text(&self) -> String {
        if let ValueRef::Str(b) | ValueRef::Bytes(b) = self {
            return String::from_utf8_lossy(b).into_owned();
        }
        let mut out = Vec::with_capacity(24);
        self.write_text(&mut out);
        String::from_utf8(out)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }
}

impl Value {
    /// The value's text; bytes that are not UTF-8 are replaced. Empty for NULL.
    pub fn to_text(&self) -> String {
        self.as_ref().to_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_as_mariadb_prints_them() {
        for (v, want) in [
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e17"),
            (0.0001, "0.0001"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.2345678901234567e-14, "0.000000000000012345678901234567"),
            (1_000_000_000_000_000.5, "1000000000000000.5"),
            (12_345_678_901_234.56, "12345678901234.56"),
            (-1.5e300, "-1.5e300"),
            (0.1 + 0.2, "0.30000000000000004"),
            (3.0, "3"),
            (0.0, "0"),
        ] {
            let mut out = Vec::new();
            write_f64(v, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
        for (v, want) in [
            (1_234_567f32, "1234570"),
            (123_456.7, "123457"),
            (1e15, "1e15"),
            (1.234_567_9e-4, "0.000123457"),
            (3.4e38, "3.4e38"),
            (0.1, "0.1"),
            (99_999.95, "100000"),
            (0.0, "0"),
        ] {
            let mut out = Vec::new();
            write_f32(v, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn integers() {
        for v in [0, 1, 9, 10, 99, 100, 12345, -1, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_i64(v, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), v.to_string());
        }
    }
}
