//! Statements that are not UTF-8: in another character set, or because raw bytes stand in their string literals, as
//! `mariadb-dump` writes values of binary columns: such a literal becomes a hexadecimal one, which says the same.

use narwal_syntax::{SqlMode, Tok, Token, glance};
use narwal_types::Charset;
use std::borrow::Cow;
use std::fmt::Write;

/// The statement with its raw literals in hexadecimal; `None` if it is no UTF-8 elsewhere too, or a literal does not end.
pub(crate) fn to_hex(sql: &[u8], no_backslash: bool) -> Option<String> {
    let text = |s| std::str::from_utf8(s).ok().map(Cow::Borrowed);
    convert(sql, no_backslash, &text, Charset::Binary)
}

/// True if a literal or a comment of the statement does not end.
pub(crate) fn is_open(sql: &[u8], no_backslash: bool) -> bool {
    glance::byte_tokens(sql, mode(no_backslash))
        .iter()
        .any(is_endless)
}

fn is_endless(t: &Token) -> bool {
    t.tok == Tok::Bad && t.end - t.start > 1
}

fn mode(no_backslash: bool) -> SqlMode {
    match no_backslash {
        true => SqlMode::NO_BACKSLASH_ESCAPES,
        false => SqlMode::DEFAULT,
    }
}

/// A statement in a client's character set as UTF-8. Literals behind an introducer (`_binary '...'`) are not text of that
/// set: they keep their bytes, in hexadecimal.
pub(crate) fn decoded(sql: &[u8], from: Charset, no_backslash: bool) -> Option<String> {
    // The second byte of a character of some of these may look like a backslash or a quote.
    if has_pairs(from) {
        let whole = marked(sql, from);
        let text = |s| std::str::from_utf8(s).ok().map(Cow::Borrowed);
        return convert(whole.as_bytes(), no_backslash, &text, from);
    }
    let text = |s| {
        Some(match from.from_client(s) {
            Cow::Borrowed(s) => String::from_utf8_lossy(s),
            Cow::Owned(s) => String::from_utf8(s).ok()?.into(),
        })
    };
    convert(sql, no_backslash, &text, Charset::Binary)
}

/// True for a character set whose characters have two bytes or more, some of which follow no other.
fn has_pairs(set: Charset) -> bool {
    use Charset as C;
    matches!(
        set,
        C::Big5 | C::Cp932 | C::Eucjpms | C::Euckr | C::Gb2312 | C::Gbk | C::Sjis | C::Ujis
    )
}

/// True for a statement with bytes that are no text of a set with pairs.
pub(crate) fn is_ill_formed(sql: &[u8], set: Charset) -> bool {
    has_pairs(set) && set.well_formed(sql) < sql.len()
}

/// Stands for a byte that is no text of its set, until it is known whether it is in a literal: no set has a character for it.
const MARK: u32 = 0x10_FF00;

fn is_mark(c: char) -> bool {
    u32::from(c) >= MARK
}

/// A text with a mark for each byte that is none.
fn marked(s: &[u8], set: Charset) -> String {
    let mut out = String::with_capacity(s.len() + s.len() / 2);
    let mut rest = s;
    while let Some((bad, after)) = {
        let (good, bad) = rest.split_at(set.well_formed(rest));
        out.push_str(&set.decode(good));
        bad.split_first()
    } {
        out.extend(char::from_u32(MARK + u32::from(*bad)));
        rest = after;
    }
    out
}

/// What a client sent of a literal's value.
fn sent_bytes(value: &[u8], sent: Charset) -> Vec<u8> {
    let text = match std::str::from_utf8(value) {
        Ok(text) if sent != Charset::Binary => text,
        _ => return value.to_vec(),
    };
    let mut out = Vec::with_capacity(value.len());
    for part in text.split_inclusive(is_mark) {
        let (good, bad) = match part.char_indices().next_back() {
            Some((at, c)) if is_mark(c) => (&part[..at], Some((u32::from(c) - MARK) as u8)),
            _ => (part, None),
        };
        out.extend_from_slice(&sent.encode(good.as_bytes()));
        out.extend(bad);
    }
    out
}

/// The statement as `text` has it. Literals that it has nothing for, or that have an introducer and bytes beyond ASCII,
/// become hexadecimal: the bytes that they have in the character set `sent`.
fn convert<'s>(
    sql: &'s [u8],
    no_backslash: bool,
    text: &dyn Fn(&'s [u8]) -> Option<Cow<'s, str>>,
    sent: Charset,
) -> Option<String> {
    let mode = mode(no_backslash);
    let mut out = String::with_capacity(sql.len() + sql.len() / 4);
    // What is copied as it is begins here.
    let mut copied = 0;
    let mut introducer = None;
    for t in glance::byte_tokens(sql, mode) {
        let (start, end) = (t.start as usize, t.end as usize);
        let introduced = introducer.take();
        match t.tok {
            _ if is_endless(&t) => return None,
            Tok::Introducer => introducer = Some(start),
            Tok::String | Tok::NString => {
                let raw = match text(&sql[start..end]) {
                    None => true,
                    // Changed by the conversion, and not to be.
                    Some(t) => {
                        let changed = t.as_bytes() != &sql[start..end];
                        let ill = sent != Charset::Binary && t.contains(is_mark);
                        ill || introduced.is_some()
                            && (changed || !sent.stores_utf8() && !t.is_ascii())
                    }
                };
                if !raw {
                    continue;
                }
                // What follows `_binary` is binary anyway.
                let binary = introduced.filter(|at| {
                    let word = sql[*at..start].trim_ascii_end();
                    word.eq_ignore_ascii_case(b"_binary")
                });
                push(
                    &mut out,
                    &text(&sql[copied..binary.unwrap_or(start)])?,
                    sent,
                );
                if out.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    out.push(' ');
                }
                out.push_str("x'");
                for byte in sent_bytes(&literal(&sql[start..end], no_backslash), sent) {
                    let _ = write!(out, "{byte:02x}");
                }
                out.push('\'');
                copied = end;
            }
            _ => {}
        }
    }
    push(&mut out, &text(&sql[copied..])?, sent);
    Some(out)
}

/// A text outside of literals: what is none of its set is a question mark.
fn push(out: &mut String, text: &str, sent: Charset) {
    match sent != Charset::Binary && text.contains(is_mark) {
        true => out.extend(text.chars().map(|c| if is_mark(c) { '?' } else { c })),
        false => out.push_str(text),
    }
}

/// The value of a string literal.
fn literal(token: &[u8], no_backslash: bool) -> Vec<u8> {
    let at = usize::from(!matches!(token[0], b'\'' | b'"'));
    let quote = token[at];
    let mut value = Vec::with_capacity(token.len());
    let mut rest = token[at + 1..token.len() - 1].iter().copied();
    while let Some(b) = rest.next() {
        if b == quote {
            rest.next();
        }
        if b != b'\\' || no_backslash {
            value.push(b);
            continue;
        }
        match rest.next() {
            Some(b'0') => value.push(0),
            Some(b'b') => value.push(8),
            Some(b'n') => value.push(b'\n'),
            Some(b'r') => value.push(b'\r'),
            Some(b't') => value.push(b'\t'),
            Some(b'Z') => value.push(26),
            Some(c @ (b'%' | b'_')) => value.extend([b'\\', c]),
            Some(c) => value.push(c),
            None => {}
        }
    }
    value
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
    fn bytes_that_are_no_text_stay_in_literals() {
        let f = |sql: &[u8], set| decoded(sql, set, false).unwrap();
        for set in [
            Charset::Gbk,
            Charset::Sjis,
            Charset::Big5,
            Charset::Euckr,
            Charset::Ujis,
        ] {
            let told = f(b"INSERT INTO t VALUES ('\x22\xff','a\\'\xff\xff','b')", set);
            assert_eq!(
                told, "INSERT INTO t VALUES (x'22ff',x'6127ffff','b')",
                "{set:?}"
            );
            // Elsewhere they are no text at all.
            assert_eq!(f(b"SELECT \xff, 'a'", set), "SELECT ?, 'a'", "{set:?}");
            assert!(is_ill_formed(b"\xff", set));
        }
        let told = f(b"SELECT '\xc4\xe3\x80', '\xc4\xe3'", Charset::Gbk);
        assert_eq!(told, "SELECT x'c4e380', '\u{4f60}'");
        assert!(!is_ill_formed(b"\xc4\xe3", Charset::Gbk));
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
