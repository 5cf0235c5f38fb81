//! Numbers as text, written straight into the output buffer.
//!
//! Floating point follows what MariaDB prints: the shortest digits that read back as the same number (six significant
//! ones for FLOAT), without an exponent while the decimal point stands within 15 digits of the first one.

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Writes the decimal digits of `n` to the end of `buf`; returns where they start.
#[inline]
fn digits(mut n: u64, buf: &mut [u8; 20]) -> usize {
    let mut at = buf.len();
    while n >= 100 {
        let pair = (n % 100) as usize * 2;
        n /= 100;
        at -= 2;
        buf[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if n >= 10 {
        let pair = n as usize * 2;
        at -= 2;
        buf[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        buf[at] = b'0' + n as u8;
    }
    at
}

/// Appends an unsigned integer.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, n: u64) {
    let mut buf = [0; 20];
    let at = digits(n, &mut buf);
    out.extend_from_slice(&buf[at..]);
}

/// Appends a signed integer.
#[inline]
pub fn put_i64(out: &mut Vec<u8>, n: i64) {
    if n < 0 {
        out.push(b'-');
    }
    put_u64(out, n.unsigned_abs());
}

/// Appends a DOUBLE; `decimals` from 1 to 30 fixes the digits after the point, anything else does not.
pub fn put_f64(out: &mut Vec<u8>, x: f64, decimals: u8) {
    if (1..=30).contains(&decimals) && x.is_finite() {
        let mut text = format_args_buf();
        let _ = text.fixed(x, usize::from(decimals));
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let mut text = format_args_buf();
    let _ = text.scientific(x);
    put_shortest(out, text.as_bytes(), x);
}

/// Appends a FLOAT: at most six significant digits.
pub fn put_f32(out: &mut Vec<u8>, x: f32, decimals: u8) {
    if (1..=30).contains(&decimals) {
        return put_f64(out, f64::from(x), decimals);
    }
    let mut text = format_args_buf();
    let _ = text.scientific_digits(x, 5);
    put_shortest(out, text.as_bytes(), f64::from(x));
}

/// `sci` is `[-]d[.ddd]e[-]xx`; writes it the way MariaDB lays it out.
fn put_shortest(out: &mut Vec<u8>, sci: &[u8], x: f64) {
    if !x.is_finite() {
        // SQL has neither infinities nor NaN; whoever produced one gets a zero, as a column would store.
        out.push(b'0');
        return;
    }
    let (negative, sci) = match sci.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, sci),
    };
    let e_at = sci.iter().position(|&b| b == b'e').unwrap_or(sci.len());
    let exponent: i32 = std::str::from_utf8(sci.get(e_at + 1..).unwrap_or_default())
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(0);
    let mut digits = [0u8; 32];
    let mut n = 0;
    for &b in &sci[..e_at] {
        if b != b'.' && n < digits.len() {
            digits[n] = b;
            n += 1;
        }
    }
    while n > 1 && digits[n - 1] == b'0' {
        n -= 1;
    }
    let digits = &digits[..n];
    if digits == b"0" {
        // "-0" is what MariaDB prints for a negative zero.
        out.extend_from_slice(if negative { b"-0" } else { b"0" });
        return;
    }
    if negative {
        out.push(b'-');
    }
    let point = exponent + 1;
    if (-13..=0).contains(&point) {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-point) as usize));
        out.extend_from_slice(digits);
    } else if (1..=15).contains(&point) {
        let point = point as usize;
        if n <= point {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', point - n));
        } else {
            out.extend_from_slice(&digits[..point]);
            out.push(b'.');
            out.extend_from_slice(&digits[point..]);
        }
    } else {
        out.push(digits[0]);
        if n > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        put_i64(out, i64::from(exponent));
    }
}

/// A number's text on the stack.
struct Text {
    buf: [u8; 384],
    len: usize,
}

fn format_args_buf() -> Text {
    Text {
        buf: [0; 384],
        len: 0,
    }
}

impl Text {
    fn as_bytes(&self) -> &[u8] {
        &self.buf[..self.len]
    }
    fn fixed(&mut self, x: f64, decimals: usize) -> std::fmt::Result {
        use std::fmt::Write;
        write!(self, "{x:.decimals$}")
    }
    fn scientific(&mut self, x: f64) -> std::fmt::Result {
        use std::fmt::Write;
        write!(self, "{x:e}")
    }
    fn scientific_digits(&mut self, x: f32, digits: usize) -> std::fmt::Result {
        use std::fmt::Write;
        write!(self, "{x:.digits$e}")
    }
}

impl std::fmt::Write for Text {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let end = self.len + s.len();
        let room = self.buf.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn integers_as_rust_prints_them(n in any::<i64>(), shift in 0u32..64) {
            let n = n >> shift;
            prop_assert_eq!(text(|o| put_i64(o, n)), n.to_string());
            prop_assert_eq!(text(|o| put_u64(o, n as u64)), (n as u64).to_string());
        }

        #[test]
        fn doubles_read_back(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(text(|o| put_f64(o, x, 39)).parse::<f64>().unwrap(), x);
        }
    }

    #[test]
    fn doubles_as_mariadb_lays_them_out() {
        // Taken from MariaDB 10.11's own answers to SELECT 1e0*...
        for (x, want) in [
            (0.0, "0"),
            (0.1, "0.1"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (123456.789, "123456.789"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e15, "1.5e15"),
            (1e-5, "0.00001"),
            (1e-14, "0.00000000000001"),
            (1e-15, "1e-15"),
            (1.25e300, "1.25e300"),
            (1.0 / 3.0, "0.3333333333333333"),
        ] {
            assert_eq!(text(|o| put_f64(o, x, 39)), want);
        }
        assert_eq!(text(|o| put_f64(o, 1.5, 2)), "1.50");
        assert_eq!(text(|o| put_f64(o, f64::MAX, 30)).len(), 309 + 31);
        assert_eq!(text(|o| put_f32(o, 0.1, 39)), "0.1");
        assert_eq!(text(|o| put_f32(o, 16777216.0, 39)), "16777200");
        assert_eq!(text(|o| put_f32(o, 3.4e38, 39)), "3.4e38");
    }
}
