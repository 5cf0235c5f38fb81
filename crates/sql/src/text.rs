//! Statement text before parsing: splitting, executable comments.

use std::borrow::Cow;

/// Our version as executable comments compare it: `/*!NNNNN` runs on servers of at least that version.
const EXECUTABLE_VERSION: u32 = 101_100;

/// Where a lexical element that is not plain text ends. `b[i]` starts it.
enum Element {
    /// A quoted string or name, or a line comment: up to (not including) this offset.
    Skip(usize),
    /// `/* ... */`: end of the comment.
    Comment(usize),
    /// An ordinary byte.
    Plain,
}

fn element(b: &[u8], i: usize, no_backslash: bool) -> Element {
    match b[i] {
        q @ (b'\'' | b'"' | b'`') => {
            let mut j = i + 1;
            while j < b.len() {
                if b[j] == b'\\' && q != b'`' && !no_backslash {
                    j += 2;
                } else if b[j] == q {
                    // A doubled quote starts a new quoted element right away: the same to us.
                    return Element::Skip(j + 1);
                } else {
                    j += 1;
                }
            }
            Element::Skip(b.len())
        }
        b'#' => Element::Skip(line_end(b, i)),
        b'-' if b.get(i + 1) == Some(&b'-')
            && b.get(i + 2)
                .is_none_or(|c| c.is_ascii_whitespace() || c.is_ascii_control()) =>
        {
            Element::Skip(line_end(b, i))
        }
        b'/' if b.get(i + 1) == Some(&b'*') => {
            let mut j = i + 2;
            while j + 1 < b.len() {
                if b[j] == b'*' && b[j + 1] == b'/' {
                    return Element::Comment(j + 2);
                }
                j += 1;
            }
            Element::Comment(b.len())
        }
        _ => Element::Plain,
    }
}

fn line_end(b: &[u8], i: usize) -> usize {
    b[i..]
        .iter()
        .position(|c| *c == b'\n')
        .map_or(b.len(), |p| i + p)
}

/// Splits a text at its semicolons, outside of quotes and comments. Empty statements are left out.
/// `no_backslash`: NO_BACKSLASH_ESCAPES.
pub fn split_statements(text: &str, no_backslash: bool) -> Vec<&str> {
    let b = text.as_bytes();
    let mut out = Vec::with_capacity(1);
    let mut start = 0;
    let mut i = 0;
    if !b.contains(&b';') {
        i = b.len();
    }
    let mut push = |s: usize, e: usize| {
        let t = text[s..e].trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
        if !is_blank(t, no_backslash) {
            out.push(t);
        }
    };
    while i < b.len() {
        if b[i] == b';' {
            push(start, i);
            i += 1;
            start = i;
            continue;
        }
        match element(b, i, no_backslash) {
            Element::Skip(e) | Element::Comment(e) => i = e.min(b.len()),
            Element::Plain => i += 1,
        }
    }
    push(start, b.len());
    out
}

/// True for a statement of white space and ordinary comments only.
fn is_blank(t: &str, no_backslash: bool) -> bool {
    let b = t.as_bytes();
    let mut i = 0;
    while i < b.len() {
        if b[i].is_ascii_whitespace() {
            i += 1;
            continue;
        }
        match element(b, i, no_backslash) {
            Element::Comment(e) if !is_executable(&b[i..]) => i = e,
            Element::Skip(e) if matches!(b[i], b'#' | b'-') => i = e,
            _ => return false,
        }
    }
    true
}

fn is_executable(b: &[u8]) -> bool {
    b.starts_with(b"/*!") || b.starts_with(b"/*M!")
}

/// Replaces `/*! ... */`, `/*!NNNNN ... */` and `/*M! ... */` by their contents (if the version is at most ours, 10.11),
/// and other block comments by a space. Borrowed if there is nothing to do.
pub fn unwrap_comments(text: &str, no_backslash: bool) -> Cow<'_, str> {
    if !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let b = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    let mut copied = 0;
    // Depth of unwrapped comments whose `*/` is still to come.
    let mut open = 0usize;
    while i < b.len() {
        if open > 0 && b[i] == b'*' && b.get(i + 1) == Some(&b'/') {
            out.push_str(&text[copied..i]);
            out.push(' ');
            i += 2;
            copied = i;
            open -= 1;
            continue;
        }
        match element(b, i, no_backslash) {
            Element::Skip(e) => i = e.min(b.len()),
            Element::Plain => i += 1,
            Element::Comment(e) => {
                out.push_str(&text[copied..i]);
                out.push(' ');
                if is_executable(&b[i..]) {
                    let mut j = i + if b[i + 2] == b'M' { 4 } else { 3 };
                    let d = j;
                    while j < b.len() && b[j].is_ascii_digit() && j - d < 6 {
                        j += 1;
                    }
                    // Versions have five or six digits; fewer are part of the statement.
                    let version = match j - d {
                        5 | 6 => text[d..j].parse::<u32>().ok(),
                        _ => None,
                    };
                    // MySQL 5.7.x and 8.x versions (50700..=99999) are not ours, as in MariaDB.
                    let run = version.is_none_or(|v| {
                        v <= EXECUTABLE_VERSION
                            && (b[i + 2] == b'M' || !(50_700..=99_999).contains(&v))
                    });
                    if run {
                        open += 1;
                        i = if version.is_some() { j } else { d };
                    } else {
                        i = e;
                    }
                } else {
                    i = e;
                }
                copied = i;
            }
        }
    }
    out.push_str(&text[copied.min(text.len())..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_outside_quotes_and_comments() {
        assert_eq!(
            split_statements(
                "select 1; select ';' ; -- a;b\n ;select `a;b` # x;\n; /* ; */",
                false
            ),
            ["select 1", "select ';'", "select `a;b` # x;"]
        );
        assert_eq!(
            split_statements(r"select 'a\';b'; x", false),
            [r"select 'a\';b'", "x"]
        );
        assert_eq!(
            split_statements(r"select 'a\';b'; x", true),
            [r"select 'a\'", "b'; x"]
        );
        assert!(split_statements("  ; /* only */ ;", false).is_empty());
    }

    #[test]
    fn unwraps_executable_comments() {
        assert_eq!(
            unwrap_comments("CREATE TABLE t (a int) /*! ENGINE = innodb */ x", false),
            "CREATE TABLE t (a int)   ENGINE = innodb   x"
        );
        assert_eq!(
            unwrap_comments("/*!40101 SET a=1 */", false).trim(),
            "SET a=1"
        );
        assert_eq!(unwrap_comments("/*M!100616 a */", false).trim(), "a");
        assert_eq!(unwrap_comments("/*!999999 a */b", false).trim(), "b");
        assert_eq!(unwrap_comments("/*!80000 a */b", false).trim(), "b");
        assert_eq!(
            unwrap_comments("'/*! x */' /* c */ y", false),
            "'/*! x */'   y"
        );
        assert_eq!(unwrap_comments("select 1", false), "select 1");
        assert_eq!(unwrap_comments("/* never ends", false).trim(), "");
    }
}
