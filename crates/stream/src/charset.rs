//! Text of the character sets that columns may have, as UTF-8.

use std::borrow::Cow;

/// Families of character sets that this program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    Binary,
    Utf8,
    Latin1,
    Ascii,
    Utf16Be,
    Utf16Le,
    Utf32,
    /// One that `narwal_types` knows.
    Other(narwal_types::Charset),
    /// One whose bytes below 0x80 are ASCII, as in all but the UTF-16 and UTF-32 families.
    OtherAscii,
}

/// The character set of a collation id, as MariaDB and MySQL number them.
fn charset(collation: u16) -> Charset {
    match collation {
        63 => Charset::Binary,
        33 | 45 | 46 | 76 | 83 | 192..=247 | 255..=323 => Charset::Utf8,
        // MariaDB: the same without padding, and the UCA 14 families (utf8mb3, utf8mb4, ucs2, utf16, utf32).
        1057 | 1069 | 1070 | 1107 | 1216 | 1238 | 1248 | 1270 | 2048..=2559 => Charset::Utf8,
        5 | 8 | 15 | 31 | 47 | 48 | 49 | 94 => Charset::Latin1,
        1032 | 1071 => Charset::Latin1,
        11 | 65 | 1035 | 1089 => Charset::Ascii,
        35 | 54 | 55 | 90 | 101..=124 | 128..=151 | 159 => Charset::Utf16Be,
        1059 | 1078 | 1079 | 1114 | 1125 | 1147 | 1152 | 1174 | 2560..=3071 => Charset::Utf16Be,
        56 | 62 | 1080 | 1086 => Charset::Utf16Le,
        60 | 61 | 160..=183 | 1084 | 1085 | 1184 | 1206 | 3072..=3327 => Charset::Utf32,
        id => match narwal_types::Collation::from_id(id) {
            Some(c) => Charset::Other(c.charset()),
            None => Charset::OtherAscii,
        },
    }
}

/// Columns of this collation hold bytes, not text.
#[must_use]
pub fn is_binary(collation: Option<u16>) -> bool {
    collation.map(charset) == Some(Charset::Binary)
}

/// What MySQL's latin1, which is Windows-1252, has between 0x80 and 0x9f. The five bytes that Windows leaves open are the
/// control characters of their numbers.
const CP1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Cow<'_, str>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|b| unit(*b))).collect();
    text.ok().filter(|_| rest.is_empty()).map(Cow::Owned)
}

/// The text of a column with this collation; `None` if the bytes are no text of its character set, or are of a set that
/// this program does not read. An unknown collation counts as UTF-8.
#[must_use]
pub fn text(collation: Option<u16>, bytes: &[u8]) -> Option<Cow<'_, str>> {
    let utf8 = || std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
    let ascii = || utf8().filter(|_| bytes.is_ascii());
    match collation.map_or(Charset::Utf8, charset) {
        Charset::Binary => None,
        Charset::Utf8 => utf8(),
        Charset::Ascii | Charset::OtherAscii => ascii(),
        Charset::Other(set) => set.text_of(bytes).ok(),
        Charset::Latin1 => ascii().or_else(|| {
            let wide = |b: &u8| match *b {
                b @ 0x80..=0x9f => CP1252[usize::from(b - 0x80)],
                b => char::from(b),
            };
            Some(Cow::Owned(bytes.iter().map(wide).collect()))
        }),
        Charset::Utf16Be => utf16(bytes, u16::from_be_bytes),
        Charset::Utf16Le => utf16(bytes, u16::from_le_bytes),
        Charset::Utf32 => {
            let (quads, rest) = bytes.as_chunks::<4>();
            let text: Option<String> = quads
                .iter()
                .map(|b| char::from_u32(u32::from_be_bytes(*b)))
                .collect();
            text.filter(|_| rest.is_empty()).map(Cow::Owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        let of = |collation, bytes: &'static [u8]| text(Some(collation), bytes);
        assert_eq!(of(45, "ä€".as_bytes()).unwrap(), "ä€");
        assert_eq!(of(45, b"\xff"), None);
        assert_eq!(of(8, b"\xe4\x80\x81").unwrap(), "ä€\u{81}");
        assert_eq!(of(54, b"\x00a\xd8\x3d\xde\x00").unwrap(), "a😀");
        assert_eq!(of(54, b"\x00"), None);
        assert_eq!(of(56, b"a\x00").unwrap(), "a");
        assert_eq!(of(60, b"\x00\x00\x00a").unwrap(), "a");
        // latin2, sjis.
        assert_eq!(of(9, b"plain").unwrap(), "plain");
        assert_eq!(of(9, b"\xb1").unwrap(), "ą");
        assert_eq!(of(13, b"\x93\xfa").unwrap(), "日");
        assert_eq!(of(13, b"\x93"), None);
        assert_eq!(of(63, b"plain"), None);
        assert_eq!(text(None, "ä".as_bytes()).unwrap(), "ä");
        assert!(is_binary(Some(63)) && !is_binary(Some(45)) && !is_binary(None));
    }
}
