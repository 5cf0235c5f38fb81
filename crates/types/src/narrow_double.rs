//! A double in fewer characters than its shortest text: a text column takes as many digits as it has room for.

/// How many digits of a double, and of a float, are worth printing.
pub const DOUBLE_DIGITS: usize = 15;
/// See [`DOUBLE_DIGITS`].
pub const FLOAT_DIGITS: usize = 6;

/// The best text of `v` in `width` characters, for a value whose full text does not fit. `false` beside a text that was
/// cut: not even one digit has room.
pub fn narrow(v: f64, digits: usize, width: usize) -> (String, bool) {
    let sign = usize::from(v.is_sign_negative());
    // The digits as far as the width could hold them, and where the point stands among them.
    let rounded = format!("{:.*e}", digits.min(width).max(1) - 1, v.abs());
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let count = mantissa.trim_end_matches('0').trim_end_matches('.');
    let count = count.bytes().filter(u8::is_ascii_digit).count();
    let point = exponent + 1;
    let before = usize::try_from(point).unwrap_or(0);
    if point > 0 && sign + before <= width {
        let places = width.saturating_sub(sign + before + 1);
        return (fixed(v, places), true);
    }
    let whole = sign + 2 + usize::try_from(-point).unwrap_or(0) + count;
    // `1e-3` tells more than the `0.00` that has as much room.
    let tight = point == -2 && width == sign + 4 && whole > width;
    if point <= 0 && (point > -3 && !tight || whole <= width) {
        let room = width.checked_sub(sign + 2);
        return match room {
            Some(places) => (fixed(v, places), true),
            None => (cut(&fixed(v, 0), width), false),
        };
    }
    let tail = 1 + exponent.to_string().len();
    let room = match count {
        1 => (width >= sign + 1 + tail).then_some(1),
        _ => width.checked_sub(sign + tail + 1).filter(|n| *n > 0),
    };
    match room {
        Some(n) => (scientific(v, n), true),
        None => (cut(&scientific(v, 1), width), false),
    }
}

fn cut(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

fn fixed(v: f64, places: usize) -> String {
    let text = format!("{v:.places$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match text {
        "-0" => "0".into(),
        t => t.into(),
    }
}

fn scientific(v: f64, digits: usize) -> String {
    let text = format!("{v:.*e}", digits - 1);
    match text.split_once('e') {
        Some((m, e)) if m.contains('.') => {
            let m = m.trim_end_matches('0').trim_end_matches('.');
            format!("{m}e{e}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What MariaDB keeps in VARCHAR(1), VARCHAR(2), ...; `!` where it warns.
    #[test]
    fn as_many_digits_as_there_is_room_for() {
        let cases: [(f64, &[&str]); 10] = [
            (0.0012345, &["0!", "0", "0", "1e-3!", "0.001", "0.0012"]),
            (1234.0, &["1!", "1e!", "1e3!"]),
            (
                12345678.0,
                &["1!", "1e!", "1e7!", "1e7", "1.2e7", "1.23e7", "1.235e7"],
            ),
            (
                -1.5e-10,
                &["-!", "-1!", "-1e!", "-1e-!", "-1e-1!", "-1e-10!", "-1e-10"],
            ),
            (
                0.00012345,
                &["1!", "1e!", "1e-!", "1e-4!", "1e-4", "1.2e-4", "1.23e-4"],
            ),
            (
                0.012345,
                &["0!", "0", "0", "0.01", "0.012", "0.0123", "0.01235"],
            ),
            (
                -123456.789,
                &[
                    "-!", "-1!", "-1e!", "-1e5!", "-1e5", "-1.2e5", "-123457", "-123457",
                ],
            ),
            (1.5, &["2", "2"]),
            (99999.0, &["1!", "1e!", "1e5", "1e5"]),
            (123.456, &["1!", "1e!", "123", "123", "123.5", "123.46"]),
        ];
        for (v, texts) in cases {
            for (i, text) in texts.iter().enumerate() {
                let (got, fits) = narrow(v, DOUBLE_DIGITS, i + 1);
                let got = if fits { got } else { format!("{got}!") };
                assert_eq!(got, *text, "{v} in {}", i + 1);
            }
        }
    }
}
