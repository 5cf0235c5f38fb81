//! LIKE: `%` stands for any text, `_` for one character, and an escape character makes what follows it stand for itself.
//!
//! This is the only matcher: of the operator, of the prefixes that index ranges are made of, of JSON_SEARCH and of SHOW.
//!
//! What a pattern means where its escape character is `%` or `_` itself differs in MariaDB by collation, and so here. `%` is
//! never an escape character. `_` is one in the case-insensitive collations of UTF-8, but for behind a `%`, where each `_` stands
//! for a character.

use narwal_types::work::Work;
use narwal_types::{Charset, Collation};

/// The escape character of a LIKE: that of its ESCAPE clause. `given` is `None` for NULL; what is given is at most one character.
/// An empty text means the backslash too, but in binary strings, which have none then, and where a character is always one byte,
/// also in that text's character set.
pub fn escape_char(given: Option<&str>, set: Charset, collation: Collation) -> Option<char> {
    let bytes = |c: Charset| c.max_width() == 1;
    let none = collation == Collation::Binary || bytes(set) && bytes(collation.charset());
    match given.and_then(|s| s.chars().next()) {
        Some(c) => Some(c),
        None if given.is_some() && none => None,
        None => Some('\\'),
    }
}

/// What the next characters of a pattern stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// `%`
    Any,
    /// `_`
    One,
    /// A character that stands for itself.
    Char(u32),
}

/// Codes from here on are bytes that are no UTF-8: such a byte equals itself only.
const NO_CHARACTER: u32 = 0x11_0000;

/// How text and pattern are read.
#[derive(Clone, Copy)]
struct Reader {
    collation: Collation,
    escape: Option<u32>,
    /// Each byte is a character.
    bytes: bool,
    /// `_` stands for a character even if it is the escape character.
    one_first: bool,
}

impl Reader {
    fn new(escape: Option<char>, collation: Collation) -> Self {
        let wide = collation.charset().is_unicode();
        Reader {
            collation,
            escape: escape.map(u32::from).filter(|c| *c != u32::from('%')),
            bytes: collation == Collation::Binary,
            one_first: !wide || collation.is_bin(),
        }
    }

    /// The first character of a text that is not empty, and its length.
    #[inline]
    fn character(self, s: &[u8]) -> (u32, usize) {
        let b = s[0];
        if self.bytes || b < 0x80 {
            return (b.into(), 1);
        }
        let n = match b {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        let text = s.get(..n).and_then(|c| std::str::from_utf8(c).ok());
        match text.and_then(|c| c.chars().next()) {
            Some(c) => (c.into(), n),
            None => (NO_CHARACTER + u32::from(b), 1),
        }
    }

    /// The first token of a pattern that is not empty, and its length.
    #[inline]
    fn token(self, pattern: &[u8]) -> (Token, usize) {
        let (c, n) = self.character(pattern);
        if c == u32::from('%') {
            return (Token::Any, n);
        }
        let is_one = c == u32::from('_');
        if is_one && self.one_first {
            return (Token::One, n);
        }
        // An escape character at the end stands for itself.
        if Some(c) == self.escape && n < pattern.len() {
            let (c, m) = self.character(&pattern[n..]);
            return (Token::Char(c), n + m);
        }
        (if is_one { Token::One } else { Token::Char(c) }, n)
    }

    #[inline]
    fn same(self, a: u32, b: u32) -> bool {
        a == b || a.max(b) < NO_CHARACTER && self.collation.chars_equal(a, b)
    }

    /// Where a text goes on behind its first character; `None` at its end.
    #[inline]
    fn behind_one(self, text: &[u8], at: usize) -> Option<usize> {
        let rest = text.get(at..).filter(|t| !t.is_empty())?;
        Some(at + self.character(rest).1)
    }

    /// Reads a run of `%` and `_` at `p`: where text and pattern go on; `None` if the text is too short for it.
    fn run(
        self,
        (text, mut t): (&[u8], usize),
        (pattern, mut p): (&[u8], usize),
    ) -> Option<(usize, usize)> {
        while let Some(c @ (b'%' | b'_')) = pattern.get(p) {
            if *c == b'_' {
                t = self.behind_one(text, t)?;
            }
            p += 1;
        }
        Some((t, p))
    }
}

/// True if `text` matches `pattern`.
pub fn like(text: &[u8], pattern: &[u8], escape: Option<char>, collation: Collation) -> bool {
    let read = Reader::new(escape, collation);
    let (mut t, mut p) = (0, 0);
    // Behind the last `%`: where to try again, one character further in the text.
    let mut back: Option<(usize, usize)> = None;
    let mut work = Work::default();
    loop {
        if work.stops(1) {
            return false;
        }
        let matched = if p == pattern.len() {
            if t == text.len() {
                return true;
            }
            false
        } else {
            let (token, n) = read.token(&pattern[p..]);
            if token == Token::Any {
                let Some(on) = read.run((text, t), (pattern, p)) else {
                    return false;
                };
                (t, p) = on;
                if p == pattern.len() {
                    return true;
                }
                back = Some((t, p));
                continue;
            }
            match text.get(t..).filter(|rest| !rest.is_empty()) {
                None => false,
                Some(rest) => {
                    let (c, m) = read.character(rest);
                    let fits = match token {
                        Token::Char(wanted) => read.same(c, wanted),
                        _ => true,
                    };
                    if fits {
                        t += m;
                        p += n;
                    }
                    fits
                }
            }
        };
        if matched {
            continue;
        }
        let Some((from, on)) = back else {
            return false;
        };
        let Some(next) = read.behind_one(text, from) else {
            return false;
        };
        (t, p) = (next, on);
        back = Some((next, on));
    }
}

/// What each text begins with that matches a pattern: the characters up to its first `%` or `_`.
pub fn literal_prefix(pattern: &[u8], escape: Option<char>, collation: Collation) -> Vec<u8> {
    let read = Reader::new(escape, collation);
    let mut out = Vec::new();
    let mut p = 0;
    while p < pattern.len() {
        let (Token::Char(c), n) = read.token(&pattern[p..]) else {
            break;
        };
        let own = match char::from_u32(c) {
            Some(c) if !read.bytes => c.len_utf8(),
            _ => 1,
        };
        out.extend_from_slice(&pattern[p + n - own..p + n]);
        p += n;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            ("é", "E", true),
            ("abc ", "abc", false),
            ("aaab", "%a%b", true),
            ("x", "x\\", false),
            ("x\\", "x\\", true),
            ("abc", "%_%_%_%", true),
            ("ab", "%_%_%_%", false),
            ("abc", "%_c", true),
        ] {
            assert_eq!(ci(t, p), want, "{t} like {p}");
        }
        assert!(!like(b"ABC", b"ab%", None, Collation::Utf8mb4Bin));
        assert!(!like("é".as_bytes(), b"_", None, Collation::Binary));
        assert!(like("é".as_bytes(), b"__", None, Collation::Binary));
    }

    #[test]
    fn escape_characters_as_in_mariadb() {
        let ci = Collation::Utf8mb4GeneralCi;
        assert_eq!(escape_char(Some("|"), Charset::Utf8mb4, ci), Some('|'));
        assert_eq!(escape_char(Some(""), Charset::Utf8mb4, ci), Some('\\'));
        assert_eq!(escape_char(None, Charset::Utf8mb4, ci), Some('\\'));
        assert_eq!(
            escape_char(Some(""), Charset::Utf8mb4, Collation::Latin1SwedishCi),
            Some('\\')
        );
        let latin1 = Collation::Latin1SwedishCi;
        assert_eq!(escape_char(Some(""), Charset::Latin1, latin1), None);
        assert_eq!(escape_char(None, Charset::Latin1, latin1), Some('\\'));
        assert_eq!(
            escape_char(Some(""), Charset::Utf8mb4, Collation::Binary),
            None
        );
        assert_eq!(
            escape_char(None, Charset::Utf8mb4, Collation::Binary),
            Some('\\')
        );
        let of = |t: &str, p: &str, e: char, c| like(t.as_bytes(), p.as_bytes(), Some(e), c);
        // `%` is never one.
        assert!(of("axyz", "a%%", '%', ci));
        // `_` is one where case is not looked at, but for behind `%`.
        assert!(of("a_b", "a__b", '_', ci));
        assert!(!of("axb", "a__b", '_', ci));
        assert!(of("axyb", "a__b", '_', Collation::Utf8mb4Bin));
        assert!(of("axyb", "a%__b", '_', ci));
        // As a character it is compared by its code.
        assert!(!of("A%", "aX%", 'x', Collation::Utf8mb4Bin));
        assert!(of("a%", "aé%", 'é', ci));
        assert!(of("a😀b", "a😀😀b", '😀', ci));
    }

    #[test]
    fn prefixes() {
        let of = |p: &str, e| {
            let prefix = literal_prefix(p.as_bytes(), e, Collation::Utf8mb4GeneralCi);
            String::from_utf8(prefix).unwrap()
        };
        assert_eq!(of("ab\\%c%", Some('\\')), "ab%c");
        assert_eq!(of("a😀é%", Some('\\')), "a😀é");
        assert_eq!(of("aéé%", Some('é')), "aé");
        assert_eq!(of("%a", None), "");
        assert_eq!(of("a\\", Some('\\')), "a\\");
    }

    #[test]
    fn many_wildcards_stay_fast() {
        let t = "a".repeat(20_000);
        let p = "%a".repeat(30) + "%b";
        assert!(!like(t.as_bytes(), p.as_bytes(), None, Collation::Binary));
    }

    /// LIKE as its definition says it, by trying all: `None` is `%`, `Some(None)` is `_`.
    fn naive(text: &[char], pattern: &[Option<Option<char>>], ci: bool) -> bool {
        let Some((first, rest)) = pattern.split_first() else {
            return text.is_empty();
        };
        match first {
            None => (0..=text.len()).any(|n| naive(&text[n..], rest, ci)),
            Some(wanted) => text.split_first().is_some_and(|(c, text)| {
                let fits = wanted.is_none_or(|w| match ci {
                    true => w.to_lowercase().eq(c.to_lowercase()),
                    false => w == *c,
                });
                fits && naive(text, rest, ci)
            }),
        }
    }

    /// The pattern in characters and wildcards, by the rules at the head of this file.
    fn read(pattern: &[char], escape: Option<char>, ci: bool) -> Vec<Option<Option<char>>> {
        let mut out = Vec::new();
        let mut it = pattern.iter().copied().peekable();
        let mut behind_any = false;
        while let Some(c) = it.next() {
            behind_any = c == '%' || behind_any && c == '_';
            let escapes = Some(c) == escape && c != '%' && (c != '_' || ci && !behind_any);
            out.push(match it.peek() {
                Some(next) if escapes => {
                    let next = *next;
                    it.next();
                    Some(Some(next))
                }
                _ if c == '%' => None,
                _ if c == '_' => Some(None),
                _ => Some(Some(c)),
            });
        }
        out
    }

    const LETTERS: [char; 8] = ['a', 'A', 'b', '%', '_', '|', 'ж', '😀'];

    fn word(most: usize) -> impl Strategy<Value = Vec<char>> {
        proptest::collection::vec(proptest::sample::select(&LETTERS[..]), 0..=most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn as_the_definition_says(
            text in word(7),
            pattern in word(7),
            escape in proptest::option::of(proptest::sample::select(&LETTERS[..])),
            which in 0..3usize,
        ) {
            let collation = [
                Collation::Utf8mb4GeneralCi,
                Collation::Utf8mb4Bin,
                Collation::Binary,
            ][which];
            let (t, p): (String, String) = (text.iter().collect(), pattern.iter().collect());
            let found = like(t.as_bytes(), p.as_bytes(), escape, collation);
            // Bytes as the characters of the same codes.
            let bytes = |s: &str| -> Vec<char> { s.bytes().map(char::from).collect() };
            let (text, pattern) = match collation {
                Collation::Binary => (bytes(&t), bytes(&p)),
                _ => (text, pattern),
            };
            let ci = collation == Collation::Utf8mb4GeneralCi;
            let tokens = read(&pattern, escape, ci);
            prop_assert_eq!(found, naive(&text, &tokens, ci), "{} like {}", t, p);
            let prefix = literal_prefix(p.as_bytes(), escape, collation);
            let literal = tokens.iter().map_while(|t| t.flatten());
            match collation {
                Collation::Binary => {
                    let wanted: Vec<u8> = literal.map(|c| c as u32 as u8).collect();
                    prop_assert_eq!(prefix, wanted);
                }
                _ => prop_assert_eq!(prefix, literal.collect::<String>().into_bytes()),
            }
        }
    }
}
