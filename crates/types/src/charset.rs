//! Character sets: names, widths, and latin1's bytes.

use std::borrow::Cow;

/// A character set that columns may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Charset {
    Utf8mb4,
    /// UTF-8 of the BMP only.
    Utf8mb3,
    /// What MySQL calls so: cp1252, with the five bytes that it leaves open standing for themselves.
    Latin1,
    Ascii,
    /// Bytes.
    Binary,
}

impl Charset {
    /// All of them.
    pub const ALL: [Charset; 5] = [
        Charset::Ascii,
        Charset::Binary,
        Charset::Latin1,
        Charset::Utf8mb3,
        Charset::Utf8mb4,
    ];

    /// Name, lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// Most bytes of one character.
    pub fn max_width(self) -> usize {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            Charset::Latin1 | Charset::Ascii | Charset::Binary => 1,
        }
    }

    /// A character set by name, in any case (`utf8` is utf8mb3); `None` for one that Narwal doesn't have.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        Charset::ALL
            .into_iter()
            .find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of the longest character.
    #[inline]
    pub const fn char_bytes(self) -> u32 {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            _ => 1,
        }
    }

    /// True for utf8mb4 and utf8mb3.
    pub const fn is_unicode(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Bytes of the longest beginning of a UTF-8 string that has no character beyond the set.
    pub fn fitting(self, s: &[u8]) -> usize {
        if matches!(self, Charset::Utf8mb4 | Charset::Binary) || s.is_ascii() {
            return s.len();
        }
        let Ok(text) = std::str::from_utf8(s) else {
            return 0;
        };
        text.char_indices()
            .find(|(_, c)| match self {
                Charset::Utf8mb3 => *c > '\u{ffff}',
                Charset::Latin1 => latin1_byte(*c as u32).is_none(),
                _ => !c.is_ascii(),
            })
            .map_or(s.len(), |(i, _)| i)
    }

    /// UTF-8 with a question mark for each character beyond the set.
    pub fn replaced(self, s: &str) -> Cow<'_, str> {
        if self.fitting(s.as_bytes()) == s.len() {
            return Cow::Borrowed(s);
        }
        let mut b = [0; 4];
        s.chars()
            .map(|c| {
                let c8 = c.encode_utf8(&mut b);
                if self.fitting(c8.as_bytes()) == c8.len() {
                    c
                } else {
                    '?'
                }
            })
            .collect::<String>()
            .into()
    }

    /// UTF-8 of text that a client sent in this character set: a question mark for what is no character of it. What is not
    /// UTF-8 in a set that is stays as it is.
    pub fn from_client(self, s: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Charset::Latin1 if !s.is_ascii() => Cow::Owned(latin1_text(s).into_bytes()),
            Charset::Ascii if !s.is_ascii() => Cow::Owned(
                s.iter()
                    .map(|b| if b.is_ascii() { *b } else { b'?' })
                    .collect(),
            ),
            _ => Cow::Borrowed(s),
        }
    }

    /// UTF-8 as a client that wants this character set gets it: a question mark for each character beyond the set.
    pub fn to_client(self, s: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Charset::Latin1 => self.encode(s),
            Charset::Ascii | Charset::Utf8mb3 => match std::str::from_utf8(s) {
                Ok(text) => match self.replaced(text) {
                    Cow::Borrowed(t) => Cow::Borrowed(t.as_bytes()),
                    Cow::Owned(t) => Cow::Owned(t.into_bytes()),
                },
                Err(_) => Cow::Borrowed(s),
            },
            Charset::Utf8mb4 | Charset::Binary => Cow::Borrowed(s),
        }
    }

    /// The bytes of UTF-8 text in this character set; a question mark for what it does not have.
    pub fn encode(self, s: &[u8]) -> Cow<'_, [u8]> {
        if self != Charset::Latin1 || s.is_ascii() {
            return Cow::Borrowed(s);
        }
        let mut out = Vec::with_capacity(s.len());
        push_latin1(s, &mut out);
        Cow::Owned(out)
    }
}

/// The characters of latin1's bytes 0x80 to 0x9f.
const HIGH: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2c6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The character of a byte of latin1.
#[inline]
pub fn latin1_char(b: u8) -> char {
    match b {
        0x80..=0x9f => HIGH[usize::from(b - 0x80)],
        b => char::from(b),
    }
}

/// The byte of a character in latin1.
#[inline]
pub fn latin1_byte(cp: u32) -> Option<u8> {
    match cp {
        0..0x80 | 0xa0..=0xff => Some(cp as u8),
        _ => HIGH
            .iter()
            .position(|h| *h as u32 == cp)
            .map(|i| i as u8 + 0x80),
    }
}

/// Text in latin1 as UTF-8.
pub fn latin1_text(s: &[u8]) -> String {
    s.iter().map(|b| latin1_char(*b)).collect()
}

/// Appends UTF-8 text in latin1, with a question mark for what it does not have.
pub fn push_latin1(s: &[u8], out: &mut Vec<u8>) {
    for c in String::from_utf8_lossy(s).chars() {
        out.push(latin1_byte(c as u32).unwrap_or(b'?'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_is_cp1252() {
        for b in 0..=255u8 {
            assert_eq!(latin1_byte(latin1_char(b) as u32), Some(b));
        }
        assert_eq!(latin1_text(&[0x80, 0xe9, b'a']), "€éa");
        assert_eq!(&*Charset::Latin1.encode("€éЖ".as_bytes()), b"\x80\xe9?");
        assert_eq!(latin1_byte(0x80), None);
    }

    #[test]
    fn what_fits() {
        let f = |c: Charset, s: &str| c.fitting(s.as_bytes());
        assert_eq!(f(Charset::Latin1, "aéЖ"), 3);
        assert_eq!(f(Charset::Utf8mb3, "aé😀b"), 3);
        assert_eq!(f(Charset::Ascii, "aé"), 1);
        assert_eq!(f(Charset::Utf8mb4, "a😀"), 5);
        assert_eq!(Charset::Ascii.replaced("aé😀"), "a??");
    }

    #[test]
    fn to_clients_and_back() {
        let to = |c: Charset, s: &'static str| c.to_client(s.as_bytes()).into_owned();
        assert_eq!(to(Charset::Latin1, "é€Ж"), b"\xe9\x80?");
        assert_eq!(to(Charset::Ascii, "aé😀"), b"a??");
        assert_eq!(to(Charset::Utf8mb3, "é😀"), "é?".as_bytes());
        assert_eq!(&*Charset::Latin1.from_client(b"\xe9\x80"), "é€".as_bytes());
        assert_eq!(&*Charset::Ascii.from_client(b"a\xe9"), b"a?");
        assert_eq!(&*Charset::Binary.from_client(b"\xe9"), b"\xe9");
    }
}
