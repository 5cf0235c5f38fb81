//! Statements that are not UTF-8: in another character set, or because raw bytes stand in their string literals, as
//! `mariadb-dump` writes values of binary columns: such a literal becomes a hexadecimal one, which says the same.

use narwal_types::Charset;
use std::borrow::Cow;
use std::fmt::Write;

/// The statement with its raw literals in hexadecimal; `None` if it is no UTF-8 elsewhere too, or a literal does not end.
pub(crate) fn to_hex(sql: &[u8], no_backslash: bool) -> Option<String> {
    convert(sql, no_backslash, &|s| {
        std::str::from_utf8(s).ok().map(Cow::Borrowed)
    })
}

/// A statement in a client's character set as UTF-8. Literals behind an introducer (`_binary '...'`) are not text of that
/// set: they keep their bytes, in hexadecimal.
pub(crate) fn decoded(sql: &[u8], from: Charset, no_backslash: bool) -> Option<String> {
    convert(sql, no_backslash, &|s| {
        Some(match from.from_client(s) {
            Cow::Borrowed(s) => String::from_utf8_lossy(s),
            Cow::Owned(s) => String::from_utf8(s).ok()?.into(),
        })
    })
}

/// The statement as `text` has it. Literals that it has nothing for, or that have an introducer and bytes beyond ASCII,
/// become hexadecimal.
fn convert<'s>(
    sql: &'s [u8],
    no_backslash: bool,
    text: &dyn Fn(&'s [u8]) -> Option<Cow<'s, str>>,
) -> Option<String> {
    let mut out = String::with_capacity(sql.len() + sql.len() / 4);
    let mut at = 0;
    // What is copied as it is begins here.
    let mut copied = 0;
    while let Some(&b) = sql.get(at) {
        let rest = &sql[at..];
        match b {
            b'\'' | b'"' => {
                let (end, value) = literal(sql, at, no_backslash)?;
                let raw = match text(&sql[at..end]) {
                    None => true,
                    // Changed by the conversion, and not to be.
                    Some(t) => t.as_bytes() != &sql[at..end] && has_introducer(&sql[..at]),
                };
                if raw {
                    out.push_str(&text(&sql[copied..at])?);
                    drop_introducer(&mut out);
                    if out.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                        out.push(' ');
                    }
                    out.push_str("x'");
                    for byte in value {
                        let _ = write!(out, "{byte:02x}");
                    }
                    out.push('\'');
                    copied = end;
                }
                at = end;
            }
            b'`' => at += 1 + rest[1..].iter().position(|c| *c == b'`')? + 1,
            b'#' => at += line(rest),
            b'-' if rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace) => {
                at += line(rest);
            }
            // The text of an executable comment is code.
            b'/' if rest.starts_with(b"/*")
                && !rest.starts_with(b"/*!")
                && !rest.starts_with(b"/*M!") =>
            {
                at += 4 + rest[2..].windows(2).position(|w| w == b"*/")?;
            }
            _ => at += 1,
        }
    }
    out.push_str(&text(&sql[copied..])?);
    Some(out)
}

fn line(rest: &[u8]) -> usize {
    rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len())
}

/// The end of the string literal that begins at `start`, and its value.
fn literal(sql: &[u8], start: usize, no_backslash: bool) -> Option<(usize, Vec<u8>)> {
    let quote = sql[start];
    let mut value = Vec::new();
    let mut at = start + 1;
    loop {
        let b = *sql.get(at)?;
        at += 1;
        match b {
            b'\\' if !no_backslash => {
                let c = *sql.get(at)?;
                at += 1;
                match c {
                    b'0' => value.push(0),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    b'r' => value.push(b'\r'),
                    b't' => value.push(b'\t'),
                    b'Z' => value.push(26),
                    b'%' | b'_' => value.extend([b'\\', c]),
                    c => value.push(c),
                }
            }
            b if b == quote => {
                if sql.get(at) != Some(&quote) {
                    return Some((at, value));
                }
                at += 1;
                value.push(quote);
            }
            b => value.push(b),
        }
    }
}

/// True if what ends here is `_` and a name: the introducer of the literal that follows.
fn has_introducer(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let word = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    let word = &before[before.len() - word..];
    word.strip_prefix(b"_")
        .is_some_and(|name| name.eq_ignore_ascii_case(b"binary") || charset_name(name))
}

fn charset_name(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|n| Charset::from_name(n).is_some())
}

/// Takes a `_binary` off the end: what follows is binary anyway.
fn drop_introducer(out: &mut String) {
    const WORD: &str = "_binary";
    let end = out.trim_end().len();
    let Some(start) = end.checked_sub(WORD.len()) else {
        return;
    };
    if out.as_bytes()[start..end].eq_ignore_ascii_case(WORD.as_bytes()) {
        out.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(sql: &[u8]) -> Option<String> {
        to_hex(sql, false)
    }

    #[test]
    fn raw_literals_become_hexadecimal() {
        assert_eq!(
            hex(b"INSERT INTO t VALUES (1,_binary '\xff\\0\\'',\"\xfe\"\"\",'\xc3\xbc')")
                .as_deref(),
            Some("INSERT INTO t VALUES (1,x'ff0027',x'fe22','\u{fc}')")
        );
        assert_eq!(
            hex(b"a -- it's\n, `it's`, /* ' */ /*! '\xff' */ # '\n").as_deref(),
            Some("a -- it's\n, `it's`, /* ' */ /*! x'ff' */ # '\n")
        );
        assert_eq!(to_hex(b"'\xff\\'", true).as_deref(), Some("x'ff5c'"));
    }

    #[test]
    fn other_character_sets() {
        let f = |sql: &[u8], set| decoded(sql, set, false).unwrap();
        assert_eq!(
            f(b"SELECT '\xe9\x80', `\xe9`, _binary '\xe9', _latin1'\xe9', _utf8mb4\"a\", x_binary'\xe9' -- \xe9", Charset::Latin1),
            "SELECT 'é€', `é`, x'e9', _latin1 x'e9', _utf8mb4\"a\", x_binary'é' -- é"
        );
        assert_eq!(f(b"SELECT '\xe9'", Charset::Ascii), "SELECT '?'");
    }

    #[test]
    fn what_is_wrong_elsewhere_stays_wrong() {
        assert_eq!(hex(b"SELECT \xff"), None);
        assert_eq!(hex(b"SELECT '\xff"), None);
        assert_eq!(hex(b"SELECT `\xff` FROM t"), None);
        assert_eq!(hex(b"SELECT 1 /* \xff"), None);
    }
}
