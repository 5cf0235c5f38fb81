//! LIKE patterns: `%` any string, `_` one character.

use narwal_types::Collation;
use narwal_types::work::Work;

/// One character (or byte, for binary strings) split off a string: it, and its length.
fn next(s: &[u8], bytes: bool) -> (u32, usize) {
    let b = s[0];
    if bytes || b < 0x80 {
        return (b as u32, 1);
    }
    let n = match b {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    match s
        .get(..n)
        .and_then(|c| std::str::from_utf8(c).ok())
        .and_then(|c| c.chars().next())
    {
        Some(c) => (c as u32, n),
        // Not UTF-8: a byte by itself, unequal to all characters.
        None => (0x11_0000 + b as u32, 1),
    }
}

/// True if `text` matches `pattern`. `escape` makes the next character of the pattern literal.
pub fn like(text: &[u8], pattern: &[u8], escape: Option<char>, collation: Collation) -> bool {
    let bytes = collation == Collation::Binary;
    let esc = escape.map(|c| c as u32);
    let same =
        |a: u32, b: u32| a == b || a < 0x11_0000 && b < 0x11_0000 && collation.chars_equal(a, b);
    let (mut t, mut p) = (0, 0);
    // After the last `%`: where to go back to.
    let mut back: Option<(usize, usize)> = None;
    let mut work = Work::default();
    loop {
        if work.stops(1) {
            return false;
        }
        let mut matched = false;
        if p < pattern.len() {
            let (c, n) = next(&pattern[p..], bytes);
            let is_escape = Some(c) == esc && p + n < pattern.len();
            if !is_escape && c == '%' as u32 {
                p += n;
                if p == pattern.len() {
                    return true;
                }
                back = Some((t, p));
                continue;
            }
            if t < text.len() {
                let (x, m) = next(&text[t..], bytes);
                if !is_escape && c == '_' as u32 {
                    t += m;
                    p += n;
                    matched = true;
                } else {
                    let (c, n) = if is_escape {
                        let (c, k) = next(&pattern[p + n..], bytes);
                        (c, n + k)
                    } else {
                        (c, n)
                    };
                    if same(x, c) {
                        t += m;
                        p += n;
                        matched = true;
                    }
                }
            }
        } else if t == text.len() {
            return true;
        }
        if matched {
            continue;
        }
        match back {
            Some((bt, bp)) if bt < text.len() => {
                let (_, m) = next(&text[bt..], bytes);
                t = bt + m;
                p = bp;
                back = Some((t, bp));
            }
            _ => return false,
        }
    }
}

/// The literal beginning of a pattern (up to the first wildcard), and whether the pattern is nothing else.
pub fn literal_prefix(pattern: &str, escape: Option<char>) -> (String, bool) {
    let mut out = String::new();
    let mut it = pattern.chars();
    while let Some(c) = it.next() {
        if Some(c) == escape {
            match it.next() {
                Some(n) => out.push(n),
                None => out.push(c),
            }
        } else if c == '%' || c == '_' {
            return (out, false);
        } else {
            out.push(c);
        }
    }
    (out, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let ci = |t: &str, p: &str| {
            like(
                t.as_bytes(),
                p.as_bytes(),
                Some('\\'),
                Collation::Utf8mb4GeneralCi,
            )
        };
        for (t, p, want) in [
            ("abc", "AB%", true),
            ("Hello", "h_llo", true),
            ("Hello", "h_lo", false),
            ("", "%", true),
            ("", "_", false),
            ("a%b", "a\\%b", true),
            ("axb", "a\\%b", false),
            ("a\\b", "a\\\\b", true),
            ("abcabcabd", "%abd", true),
            ("abcabcab", "%abd%", false),
            ("é", "_", true),
            ("abc ", "abc", false),
            ("aaab", "%a%b", true),
            ("x", "x\\", false),
        ] {
            assert_eq!(ci(t, p), want, "{t} like {p}");
        }
        assert!(!like(b"ABC", b"ab%", None, Collation::Utf8mb4Bin));
        assert!(!like("é".as_bytes(), b"_", None, Collation::Binary));
        assert_eq!(
            literal_prefix("ab\\%c%", Some('\\')),
            ("ab%c".into(), false)
        );
    }

    #[test]
    fn many_wildcards_stay_fast() {
        let t = "a".repeat(20_000);
        let p = "%a".repeat(30) + "%b";
        assert!(!like(t.as_bytes(), p.as_bytes(), None, Collation::Binary));
    }
}
