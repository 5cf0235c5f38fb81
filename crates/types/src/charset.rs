//! Character sets: one line for each, and conversion between their bytes and UTF-8.
//!
//! Text is UTF-8 while it is computed with and the bytes of its column's character set where it is stored or sent. A code that a
//! set has but that stands for no character of Unicode is a private one while it is UTF-8 (see `table.rs`), so that it comes
//! back as it went.

use std::borrow::Cow;
use std::fmt::Write as _;

mod table;
mod unicode;

pub(crate) use table::{CodeWeights, code_weights, push_code_weight};
use table::{Codec, private_code};

/// How text is written in a character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Utf8,
    /// What MySQL calls latin1: cp1252, with the five bytes that it leaves open standing for themselves.
    Latin1,
    Ascii,
    /// No text at all.
    Bytes,
    Ucs2,
    Utf16,
    Utf16Le,
    Utf32,
    /// By the tables of `data/charsets.bin`.
    Table,
}

/// What there is to know about a character set.
struct Info {
    description: &'static str,
    min_width: u8,
    max_width: u8,
    form: Form,
}

macro_rules! charsets {
    ($($id:ident $name:literal $default:literal $min:literal $max:literal $form:ident $description:literal;)*) => {
        /// A character set that columns may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        #[repr(u8)]
        pub enum Charset {
            $($id,)*
        }

        /// All of them, in the order of the enum.
        static ALL: &[Info] = &[$(Info {
            description: $description,
            min_width: $min,
            max_width: $max,
            form: Form::$form,
        },)*];

        impl Charset {
            /// All of them, in the order in which MariaDB lists them.
            pub const ALL: &[Charset] = &[$(Charset::$id,)*];

            /// The ids of their default collations.
            pub(crate) const DEFAULT_IDS: &[u16] = &[$($default,)*];

            /// Name, lower case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Charset::$id => $name,)*
                }
            }
        }
    };
}

charsets! {
    // Its name here and in SQL, the id of its default collation, fewest and most bytes of a character, form, description.
    Big5      "big5" 1 1 2 Table "Big5 Traditional Chinese";
    Dec8      "dec8" 3 1 1 Table "DEC West European";
    Cp850     "cp850" 4 1 1 Table "DOS West European";
    Hp8       "hp8" 6 1 1 Table "HP West European";
    Koi8r     "koi8r" 7 1 1 Table "KOI8-R Relcom Russian";
    Latin1    "latin1" 8 1 1 Latin1 "cp1252 West European";
    Latin2    "latin2" 9 1 1 Table "ISO 8859-2 Central European";
    Swe7      "swe7" 10 1 1 Table "7bit Swedish";
    Ascii     "ascii" 11 1 1 Ascii "US ASCII";
    Ujis      "ujis" 12 1 3 Table "EUC-JP Japanese";
    Sjis      "sjis" 13 1 2 Table "Shift-JIS Japanese";
    Hebrew    "hebrew" 16 1 1 Table "ISO 8859-8 Hebrew";
    Tis620    "tis620" 18 1 1 Table "TIS620 Thai";
    Euckr     "euckr" 19 1 2 Table "EUC-KR Korean";
    Koi8u     "koi8u" 22 1 1 Table "KOI8-U Ukrainian";
    Gb2312    "gb2312" 24 1 2 Table "GB2312 Simplified Chinese";
    Greek     "greek" 25 1 1 Table "ISO 8859-7 Greek";
    Cp1250    "cp1250" 26 1 1 Table "Windows Central European";
    Gbk       "gbk" 28 1 2 Table "GBK Simplified Chinese";
    Latin5    "latin5" 30 1 1 Table "ISO 8859-9 Turkish";
    Armscii8  "armscii8" 32 1 1 Table "ARMSCII-8 Armenian";
    Utf8mb3   "utf8mb3" 33 1 3 Utf8 "UTF-8 Unicode";
    Ucs2      "ucs2" 35 2 2 Ucs2 "UCS-2 Unicode";
    Cp866     "cp866" 36 1 1 Table "DOS Russian";
    Keybcs2   "keybcs2" 37 1 1 Table "DOS Kamenicky Czech-Slovak";
    Macce     "macce" 38 1 1 Table "Mac Central European";
    Macroman  "macroman" 39 1 1 Table "Mac West European";
    Cp852     "cp852" 40 1 1 Table "DOS Central European";
    Latin7    "latin7" 41 1 1 Table "ISO 8859-13 Baltic";
    Utf8mb4   "utf8mb4" 45 1 4 Utf8 "UTF-8 Unicode";
    Cp1251    "cp1251" 51 1 1 Table "Windows Cyrillic";
    Utf16     "utf16" 54 2 4 Utf16 "UTF-16 Unicode";
    Utf16le   "utf16le" 56 2 4 Utf16Le "UTF-16LE Unicode";
    Cp1256    "cp1256" 57 1 1 Table "Windows Arabic";
    Cp1257    "cp1257" 59 1 1 Table "Windows Baltic";
    Utf32     "utf32" 60 4 4 Utf32 "UTF-32 Unicode";
    Binary    "binary" 63 1 1 Bytes "Binary pseudo charset";
    Geostd8   "geostd8" 92 1 1 Table "GEOSTD8 Georgian";
    Cp932     "cp932" 95 1 2 Table "SJIS for Windows Japanese";
    Eucjpms   "eucjpms" 97 1 3 Table "UJIS for Windows Japanese";
}

// The variants come out of a table, where none can be marked.
#[allow(clippy::derivable_impls)]
impl Default for Charset {
    fn default() -> Self {
        Charset::Utf8mb4
    }
}

impl Charset {
    #[inline]
    fn info(self) -> &'static Info {
        &ALL[self as usize]
    }

    /// What it is called in words.
    pub fn description(self) -> &'static str {
        self.info().description
    }

    /// Most bytes of one character.
    pub fn max_width(self) -> usize {
        usize::from(self.info().max_width)
    }

    /// Fewest bytes of one character: the bytes of a text are a multiple of it.
    pub fn min_width(self) -> usize {
        usize::from(self.info().min_width)
    }

    /// A character set by name, in any case (`utf8` is utf8mb3); `None` if there is no such set.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        Charset::ALL
            .iter()
            .copied()
            .find(|c| c.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of the longest character.
    #[inline]
    pub fn char_bytes(self) -> u32 {
        u32::from(self.info().max_width)
    }

    /// It has the characters of Unicode, or at least those of the BMP.
    pub fn is_unicode(self) -> bool {
        use Form::{Ucs2, Utf8, Utf16, Utf16Le, Utf32};
        matches!(self.info().form, Utf8 | Ucs2 | Utf16 | Utf16Le | Utf32)
    }

    /// Its text is stored as UTF-8, or as bytes.
    #[inline]
    pub fn stores_utf8(self) -> bool {
        matches!(self.info().form, Form::Utf8 | Form::Ascii | Form::Bytes)
    }

    /// ASCII is itself in this set, both ways.
    #[inline]
    pub fn keeps_ascii(self) -> bool {
        !matches!(
            self,
            Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32 | Charset::Swe7
        )
    }

    /// A client may speak in it: statements can't be read in sets where a character of ASCII is not one byte.
    pub fn for_clients(self) -> bool {
        self.min_width() == 1
    }

    fn codec(self) -> &'static Codec {
        Codec::of(self.name())
    }

    /// The set has this character.
    #[inline]
    pub fn has(self, c: char) -> bool {
        match self.info().form {
            Form::Utf8 if self == Charset::Utf8mb3 => c <= '\u{ffff}',
            Form::Ucs2 => unicode::in_ucs2(c),
            Form::Utf16 | Form::Utf16Le => !unicode::is_half(c),
            Form::Utf8 | Form::Bytes | Form::Utf32 => true,
            Form::Latin1 => latin1_byte(c as u32).is_some(),
            Form::Ascii => c.is_ascii(),
            Form::Table => self.codec().code(c).is_some(),
        }
    }

    /// Bytes of the longest beginning of a UTF-8 string that has no character beyond the set.
    pub fn fitting(self, s: &[u8]) -> usize {
        if matches!(self, Charset::Utf8mb4 | Charset::Binary)
            || (self.keeps_ascii() && s.is_ascii())
        {
            return s.len();
        }
        let Ok(text) = std::str::from_utf8(s) else {
            return 0;
        };
        text.char_indices()
            .find(|(_, c)| !self.has(*c))
            .map_or(s.len(), |(i, _)| i)
    }

    /// UTF-8 with a question mark for each character beyond the set.
    pub fn replaced(self, s: &str) -> Cow<'_, str> {
        if self.fitting(s.as_bytes()) == s.len() {
            return Cow::Borrowed(s);
        }
        s.chars()
            .map(|c| if self.has(c) { c } else { '?' })
            .collect::<String>()
            .into()
    }

    /// The same with as many question marks for a character as it has bytes: it came as bytes, not as text.
    pub(crate) fn replaced_bytes(self, s: &str) -> String {
        let mut out = String::with_capacity(s.len());
        for c in s.chars() {
            match self.has(c) {
                true => out.push(c),
                false => out.extend(std::iter::repeat_n('?', c.len_utf8())),
            }
        }
        out
    }

    /// UTF-8 of text that a client sent in this character set: a question mark for what is no character of it. What is not
    /// UTF-8 in a set that is stays as it is.
    pub fn from_client(self, s: &[u8]) -> Cow<'_, [u8]> {
        match self.info().form {
            Form::Utf8 | Form::Bytes => Cow::Borrowed(s),
            Form::Ascii if s.is_ascii() => Cow::Borrowed(s),
            Form::Ascii => Cow::Owned(
                s.iter()
                    .map(|b| if b.is_ascii() { *b } else { b'?' })
                    .collect(),
            ),
            _ => match self.decode(s) {
                Cow::Borrowed(t) => Cow::Borrowed(t.as_bytes()),
                Cow::Owned(t) => Cow::Owned(t.into_bytes()),
            },
        }
    }

    /// UTF-8 as a client that wants this character set gets it: a question mark for each character beyond the set.
    pub fn to_client(self, s: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Charset::Ascii | Charset::Utf8mb3 => match std::str::from_utf8(s) {
                Ok(text) => match self.replaced(text) {
                    Cow::Borrowed(t) => Cow::Borrowed(t.as_bytes()),
                    Cow::Owned(t) => Cow::Owned(t.into_bytes()),
                },
                Err(_) => Cow::Borrowed(s),
            },
            Charset::Utf8mb4 | Charset::Binary => Cow::Borrowed(s),
            _ => self.encode(s),
        }
    }

    /// The bytes of UTF-8 text in this character set; a question mark for what it does not have. Sets that store UTF-8 take it
    /// as it is.
    pub fn encode(self, s: &[u8]) -> Cow<'_, [u8]> {
        if self.stores_utf8() || (self.keeps_ascii() && s.is_ascii()) {
            return Cow::Borrowed(s);
        }
        let mut out = Vec::with_capacity(s.len() * self.min_width());
        if self == Charset::Latin1 {
            push_latin1(s, &mut out);
        } else {
            for c in String::from_utf8_lossy(s).chars() {
                self.push_char(c, &mut out);
            }
        }
        Cow::Owned(out)
    }

    /// Appends a character in this set; a question mark if the set does not have it.
    pub fn push_char(self, c: char, out: &mut Vec<u8>) {
        let c = if self.has(c) { c } else { '?' };
        match self.info().form {
            Form::Table => {
                let codec = self.codec();
                codec.push(c, out);
            }
            Form::Latin1 => out.push(latin1_byte(c as u32).unwrap_or(b'?')),
            Form::Ucs2 | Form::Utf16 => unicode::push_utf16(c, out),
            Form::Utf16Le => {
                let at = out.len();
                unicode::push_utf16(c, out);
                for pair in out[at..].chunks_exact_mut(2) {
                    pair.swap(0, 1);
                }
            }
            Form::Utf32 => out.extend_from_slice(&unicode::code_point(c).to_be_bytes()),
            Form::Utf8 | Form::Ascii | Form::Bytes => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    /// Bytes of UTF-8 text in this set.
    pub fn encoded_len(self, s: &[u8]) -> usize {
        match self.encode(s) {
            Cow::Borrowed(s) => s.len(),
            Cow::Owned(s) => s.len(),
        }
    }

    /// The first character of bytes in this set that are not empty, and its length; `None` if there is none, which is one byte:
    /// the next character may begin behind it, also where all have two or four.
    fn first(self, s: &[u8]) -> (Option<char>, usize) {
        match self.info().form {
            Form::Table => self.codec().first(s),
            Form::Latin1 => (Some(latin1_char(s[0])), 1),
            Form::Ucs2 => unicode::first_ucs2(s),
            Form::Utf16 => unicode::first_utf16(s, u16::from_be_bytes),
            Form::Utf16Le => unicode::first_utf16(s, u16::from_le_bytes),
            Form::Utf32 => unicode::first_utf32(s),
            Form::Utf8 | Form::Ascii | Form::Bytes => unicode::first_utf8(s, self.max_width()),
        }
    }

    /// Bytes in this set as UTF-8; a question mark for what is no character of it.
    pub fn decode(self, s: &[u8]) -> Cow<'_, str> {
        if self.keeps_ascii()
            && s.is_ascii()
            && let Ok(t) = std::str::from_utf8(s)
        {
            return Cow::Borrowed(t);
        }
        let mut rest = s;
        let mut out = String::with_capacity(s.len() * 2);
        while !rest.is_empty() {
            let (c, n) = self.first(rest);
            out.push(c.unwrap_or('?'));
            rest = rest.get(n..).unwrap_or_default();
        }
        Cow::Owned(out)
    }

    /// Bytes of the longest beginning that is text in this set.
    pub fn well_formed(self, s: &[u8]) -> usize {
        if self == Charset::Binary || (self.keeps_ascii() && s.is_ascii()) {
            return s.len();
        }
        let mut at = 0;
        while at < s.len() {
            let (c, n) = self.first(&s[at..]);
            if c.is_none() || (self == Charset::Ascii && s[at] > 0x7f) {
                return at;
            }
            at += n;
        }
        s.len()
    }

    /// Bytes that are to be text in this set, with zeros in front if they are no whole number of characters.
    pub fn aligned(self, s: &[u8]) -> Cow<'_, [u8]> {
        let over = s.len() % self.min_width();
        if over == 0 {
            return Cow::Borrowed(s);
        }
        let mut out = vec![0; self.min_width() - over];
        out.extend_from_slice(s);
        Cow::Owned(out)
    }

    /// Bytes that are to be text in this set, as UTF-8; how messages show the first of them that are none.
    pub fn text_of(self, s: &[u8]) -> Result<Cow<'_, str>, String> {
        let aligned = self.aligned(s);
        let good = self.well_formed(&aligned);
        if good < aligned.len() {
            return Err(shown(&aligned[good..]));
        }
        Ok(match aligned {
            Cow::Borrowed(s) => self.decode(s),
            Cow::Owned(s) => Cow::Owned(self.decode(&s).into_owned()),
        })
    }

    /// Text of this set as others see it: what its private characters stand for, or a question mark.
    pub fn unveiled(self, s: &str) -> Cow<'_, str> {
        self.without_private(s, |c| self.unveiled_char(c))
    }

    /// Text of this set on its way into another: what its private characters stand for. Those that stand for no character stay,
    /// which no other set has.
    pub fn passed_on(self, s: &str) -> Cow<'_, str> {
        self.without_private(s, |c| self.seen(c).unwrap_or(c))
    }

    /// A text that [`Charset::passed_on`] has made holds a code that stands for no character.
    pub fn has_unknown(self, s: &str) -> bool {
        self.may_have_private(s) && s.chars().any(|c| self.seen(c).is_none())
    }

    /// Such a text as bytes that are no UTF-8: of each of these codes there is the first byte that can't begin a character of
    /// ASCII.
    pub(crate) fn ill_formed(self, s: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(s.len());
        for c in s.chars() {
            if self.seen(c).is_some() {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            let mut code = Vec::new();
            self.push_char(c, &mut code);
            out.push(code.into_iter().find(|b| *b >= 0x80).unwrap_or(0xff));
        }
        out
    }

    fn without_private(self, s: &str, seen: impl Fn(char) -> char) -> Cow<'_, str> {
        match self.may_have_private(s) {
            true => s.chars().map(seen).collect::<String>().into(),
            false => Cow::Borrowed(s),
        }
    }

    /// Private characters begin with F4 80 to F4 8F.
    fn may_have_private(self, s: &str) -> bool {
        !self.stores_utf8() && s.as_bytes().contains(&0xf4)
    }

    /// Some of its codes are private characters in UTF-8.
    pub fn has_private(self) -> bool {
        !self.stores_utf8() && self.info().form != Form::Latin1
    }

    /// One character as [`Charset::unveiled`] has it.
    pub fn unveiled_char(self, c: char) -> char {
        self.seen(c).unwrap_or('?')
    }

    /// What others see of a character; `None` for a code that stands for none.
    fn seen(self, c: char) -> Option<char> {
        match self.info().form {
            Form::Table => self.codec().unveiled(c),
            _ if self.stores_utf8() => Some(c),
            _ => match private_code(c) {
                Some(0xd800..=0xdfff) => None,
                _ => Some(c),
            },
        }
    }
}

/// Bytes as messages show them: at most six, those beyond ASCII in hexadecimal digits.
pub fn shown(bad: &[u8]) -> String {
    let mut out = String::new();
    for b in bad.iter().take(6) {
        match b {
            0x20..=0x7e => out.push(char::from(*b)),
            // Writing to a String does not fail.
            b => drop(write!(out, "\\x{b:02X}")),
        }
    }
    if bad.len() > 6 {
        out.push_str("...");
    }
    out
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
