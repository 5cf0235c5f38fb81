//! Collations: order and equality of strings, and their sort keys.
//!
//! Strings are UTF-8 wherever they are compared; a collation of another character set gives each character the weight of its
//! byte there.
//!
//! Sort keys are byte strings that compare as the collation does and are prefix-free (none is the beginning of another),
//! so that several can be joined to one index key.
//!
//! The PAD SPACE collations compare as if the shorter string went on with spaces. So the end of a string sorts between what
//! continues with a character below the space and what continues with one above it. Trailing spaces are dropped; every
//! other space is written as one of two symbols, which tell if the first character after its run of spaces is below or
//! above the space; the terminator sorts between these two.

use crate::charset::{CodeWeights, latin1_byte};
use chars::{REPLACEMENT, ascii_weight, split_char, trim_spaces};
use list::Rule;
use std::cmp::Ordering;
use std::sync::OnceLock;
use watched::Watched;

mod ascii_key;
mod case;
mod chars;
mod czech;
mod latin1;
mod list;
mod mysql;
mod mysql_names;
pub mod shown;
mod thai;
mod uca;
mod watched;

pub use list::Collation;

/// A space before something below the space.
const SPACE_LESS: u8 = 0x20;
/// The end of a string.
const END: u8 = 0x21;
/// A space before something above the space.
const SPACE_MORE: u8 = 0x22;

/// Weights of the BMP under utf8mb4_general_ci; made at the first use beyond ASCII (128 KiB).
fn weights() -> &'static [u16] {
    static TABLE: OnceLock<Box<[u16]>> = OnceLock::new();
    TABLE.get_or_init(|| (0..=0xffff).map(weight_of).collect())
}

/// The weight of a character is its capital's base letter: simple upper-casing as of Unicode 3, then Latin, Greek and Cyrillic
/// letters without their accents. Checked against MariaDB 10.11 for the whole BMP (see the test).
fn weight_of(c: u16) -> u16 {
    let unfolded = matches!(
        c,
        0x0500..=0x052f | 0x10d0..=0x10ff | 0x13f8..=0x13fd | 0x1c80..=0x1d8e | 0x2c00..=0xfeff
    ) || UNFOLDED.iter().any(|(a, b)| (*a..=*b).contains(&c));
    let upper = match char::from_u32(c as u32) {
        // The lunate sigma is a sigma.
        Some('\u{3f2}') => 0x03a3,
        Some(ch) if !unfolded => {
            let mut up = ch.to_uppercase();
            match (up.next(), up.next()) {
                // Capitals from here on are younger than the collation.
                (Some(u), None) if (u as u32) < 0x2c00 || c >= 0x2c00 => u as u32 as u16,
                _ => c,
            }
        }
        _ => c,
    };
    if upper < 0xc0 {
        return upper;
    }
    BASES
        .iter()
        .find(|g| g.chars().skip(1).any(|x| x as u32 == upper as u32))
        .and_then(|g| g.chars().next())
        .map_or(upper, |b| b as u32 as u16)
}

/// Letters that share the weight of a base letter: first the base, then what counts as it (beside their lower-case forms).
const BASES: &[&str] = &[
    "AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ",
    "BḂḄḆ",
    "CÇĆĈĊČḈ",
    "DĎḊḌḎḐḒ",
    "EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ",
    "FḞ",
    "GĜĞĠĢǦǴḠ",
    "HĤȞḢḤḦḨḪẖ",
    "IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ",
    "JĴǰ",
    "KĶǨḰḲḴ",
    "LĹĻĽḶḸḺḼ",
    "MḾṀṂ",
    "NÑŃŅŇǸṄṆṈṊ",
    "OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ",
    "PṔṖ",
    "RŔŖŘȐȒṘṚṜṞ",
    "SßŚŜŞŠȘṠṢṤṦṨ",
    "TŢŤȚṪṬṮṰẗ",
    "UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ",
    "VṼṾ",
    "WŴẀẂẄẆẈẘ",
    "XẊẌ",
    "YÝŶŸȲẎẙỲỴỶỸ",
    "ZŹŻŽẐẒẔ",
    "ÆǢǼ",
    "ØǾ",
    "ƷǮ",
    "ΑΆἈἉἊἋἌἍἎἏᾀᾁᾂᾃᾄᾅᾆᾇᾈᾉᾊᾋᾌᾍᾎᾏᾲᾳᾴᾶᾷᾸᾹᾺᾼ",
    "ΕΈἘἙἚἛἜἝῈ",
    "ΗΉἨἩἪἫἬἭἮἯᾐᾑᾒᾓᾔᾕᾖᾗᾘᾙᾚᾛᾜᾝᾞᾟῂῃῄῆῇῊῌ",
    "ΙΊΐΪἸἹἺἻἼἽἾἿῒῖῗῘῙῚ",
    "ΟΌὈὉὊὋὌὍῸ",
    "ΡῤῬ",
    "ΥΎΫΰὐὒὔὖὙὛὝὟῢῦῧῨῩῪ",
    "ΩΏὨὩὪὫὬὭὮὯᾠᾡᾢᾣᾤᾥᾦᾧᾨᾩᾪᾫᾬᾭᾮᾯῲῳῴῶῷῺῼ",
    "ϒϓϔ",
    "ІЇ",
    "АӐӒ",
    "ГЃ",
    "ЕЀЁӖ",
    "ЖӁӜ",
    "ЗӞ",
    "ИЍӢӤ",
    "КЌ",
    "ОӦ",
    "УЎӮӰӲ",
    "ЧӴ",
    "ЫӸ",
    "ЭӬ",
    "ѴѶ",
    "ӘӚ",
    "ӨӪ",
];
/// Lower-case letters below U+2C00 that keep a weight of their own: their capitals are younger than the collation.
const UNFOLDED: &[(u16, u16)] = &[
    (0x0180, 0x0180),
    (0x019a, 0x019a),
    (0x019e, 0x019e),
    (0x023c, 0x023c),
    (0x023f, 0x0240),
    (0x0242, 0x0242),
    (0x0247, 0x0247),
    (0x0249, 0x0249),
    (0x024b, 0x024b),
    (0x024d, 0x024d),
    (0x024f, 0x0252),
    (0x025c, 0x025c),
    (0x0261, 0x0261),
    (0x0265, 0x0266),
    (0x026a, 0x026c),
    (0x0271, 0x0271),
    (0x027d, 0x027d),
    (0x0282, 0x0282),
    (0x0287, 0x0287),
    (0x0289, 0x0289),
    (0x028c, 0x028c),
    (0x029d, 0x029e),
    (0x0371, 0x0371),
    (0x0373, 0x0373),
    (0x0377, 0x0377),
    (0x037b, 0x037d),
    (0x03d7, 0x03d7),
    (0x03d9, 0x03d9),
    (0x03f3, 0x03f3),
    (0x03f5, 0x03f5),
    (0x03f8, 0x03f8),
    (0x03fb, 0x03fb),
    (0x048b, 0x048b),
    (0x04c6, 0x04c6),
    (0x04ca, 0x04ca),
    (0x04ce, 0x04cf),
    (0x04f7, 0x04f7),
    (0x04fb, 0x04fb),
    (0x04fd, 0x04fd),
    (0x04ff, 0x04ff),
    (0x1efb, 0x1efb),
    (0x1efd, 0x1efd),
    (0x1eff, 0x1eff),
    (0x214e, 0x214e),
    (0x2184, 0x2184),
];

/// Splits the first character off: its weight and its length in bytes. `s` is not empty and starts beyond ASCII.
fn general_weight(s: &[u8], table: &[u16]) -> (u16, usize) {
    let cont = |i: usize| {
        s.get(i)
            .filter(|b| **b & 0xc0 == 0x80)
            .map(|b| *b as u32 & 0x3f)
    };
    let cp = match s[0] {
        0xc2..=0xdf => cont(1).map(|a| ((s[0] as u32 & 0x1f) << 6 | a, 2)),
        0xe0..=0xef => cont(1)
            .zip(cont(2))
            .map(|(a, b)| ((s[0] as u32 & 0xf) << 12 | a << 6 | b, 3)),
        0xf0..=0xf4 => cont(1)
            .zip(cont(2))
            .zip(cont(3))
            .map(|_| (REPLACEMENT as u32, 4)),
        _ => None,
    };
    match cp {
        Some((cp, n)) => (table[(cp & 0xffff) as usize], n),
        None => (REPLACEMENT, 1),
    }
}

/// Weights of a string, one per character.
struct GeneralWeights<'a> {
    s: &'a [u8],
}

impl Iterator for GeneralWeights<'_> {
    type Item = u16;
    #[inline]
    fn next(&mut self) -> Option<u16> {
        let b = *self.s.first()?;
        if b < 0x80 {
            self.s = &self.s[1..];
            return Some(ascii_weight(b) as u16);
        }
        let (w, n) = general_weight(self.s, weights());
        self.s = &self.s[n..];
        Some(w)
    }
}

/// Compares weights where one string may end earlier and goes on with spaces.
fn cmp_padded(mut a: impl Iterator<Item = u16>, mut b: impl Iterator<Item = u16>) -> Ordering {
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() {
            return Ordering::Equal;
        }
        match x.unwrap_or(0x20).cmp(&y.unwrap_or(0x20)) {
            Ordering::Equal => {}
            o => return o,
        }
    }
}

/// Compares two texts by the weights that `weights` gives of each.
fn compare_weights<'a, I: Iterator<Item = u16>>(
    a: &'a [u8],
    b: &'a [u8],
    weights: impl Fn(&'a [u8]) -> I,
    pad: bool,
) -> Ordering {
    match (watched::both_long(a, b), pad) {
        (false, true) => cmp_padded(weights(a), weights(b)),
        (false, false) => weights(a).cmp(weights(b)),
        (true, true) => cmp_padded(Watched::new(weights(a)), Watched::new(weights(b))),
        (true, false) => Watched::new(weights(a)).cmp(Watched::new(weights(b))),
    }
}

impl Collation {
    /// Weight of one character; those that don't distinguish characters by their code points have the same for several.
    pub fn char_weight(self, cp: u32) -> u16 {
        match (self.info().rule, cp) {
            (Rule::General | Rule::Ascii, 0..0x80) => ascii_weight(cp as u8) as u16,
            (Rule::General, 0x80..0x1_0000) => weights()[cp as usize],
            (Rule::General, _) => REPLACEMENT,
            (Rule::General500, 0xdf) => 0xdf,
            (Rule::General500, _) => Collation::Utf8mb4GeneralCi.char_weight(cp),
            (Rule::Latin1(table), _) => latin1_weight(table, cp),
            (Rule::Table(weights), _) => weights().of(cp).0,
            _ => cp as u16,
        }
    }

    /// True if the collation holds two characters equal.
    pub fn chars_equal(self, a: u32, b: u32) -> bool {
        a == b
            || match self.info().rule {
                Rule::Bytes | Rule::Czech(_) => false,
                Rule::Thai => {
                    u8::try_from(a).is_ok_and(|a| a.eq_ignore_ascii_case(&(b as u8))) && b < 0x80
                }
                Rule::Uca(u) => u.chars_equal(a, b),
                Rule::Table(weights) => weights().of(a) == weights().of(b),
                _ => self.char_weight(a) == self.char_weight(b),
            }
    }

    /// Weights of a string do not come character by character: one may have several, and several together others than alone.
    pub fn expands(self) -> bool {
        matches!(self.info().rule, Rule::Uca(_) | Rule::Czech(_) | Rule::Thai)
            || self == Collation::Latin1German2Ci
    }

    /// Compares two strings.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let info = self.info();
        match info.rule {
            Rule::Bytes if !info.pad => a.cmp(b),
            Rule::Uca(u) => u.compare(a, b, info.pad),
            Rule::Czech(_) => self.key(a).cmp(&self.key(b)),
            Rule::Thai => {
                let weights = |s| thai::weights(s).into_iter().map(u16::from);
                compare_weights(a, b, weights, info.pad)
            }
            Rule::Latin1(_) | Rule::Ascii | Rule::Table(_) | Rule::General500 => {
                let weights = |s| Weights::new(s, info.rule);
                compare_weights(a, b, weights, info.pad)
            }
            Rule::General if !info.pad => compare_weights(a, b, |s| GeneralWeights { s }, false),
            Rule::Bytes => {
                let n = a.len().min(b.len());
                match a[..n].cmp(&b[..n]) {
                    Ordering::Equal => {
                        let pad = |s: &[u8]| {
                            s[n..]
                                .iter()
                                .find(|c| **c != b' ')
                                .map_or(Ordering::Equal, |c| c.cmp(&b' '))
                        };
                        if a.len() > n {
                            pad(a)
                        } else {
                            pad(b).reverse()
                        }
                    }
                    o => o,
                }
            }
            Rule::General => {
                // Equal bytes have equal weights; skip them fast, back to the start of a character.
                let mut n = a.iter().zip(b).take_while(|(x, y)| x == y).count();
                if n == a.len() && n == b.len() {
                    return Ordering::Equal;
                }
                // Mostly two characters of ASCII that differ in more than their case.
                if let (Some(&x), Some(&y)) = (a.get(n), b.get(n))
                    && x.is_ascii()
                    && y.is_ascii()
                    && ascii_weight(x) != ascii_weight(y)
                {
                    return ascii_weight(x).cmp(&ascii_weight(y));
                }
                while n > 0
                    && [a, b]
                        .iter()
                        .any(|s| s.get(n).is_some_and(|c| *c & 0xc0 == 0x80))
                {
                    n -= 1;
                }
                compare_weights(&a[n..], &b[n..], |s| GeneralWeights { s }, true)
            }
        }
    }

    /// True if the collation holds two strings equal.
    pub fn equal(self, a: &[u8], b: &[u8]) -> bool {
        a == b || self.compare(a, b) == Ordering::Equal
    }

    fn key(self, s: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        self.sort_key(s, &mut out);
        out
    }

    /// Appends the sort key: equal for equal strings, ordered as the strings, prefix-free.
    pub fn sort_key(self, s: &[u8], out: &mut Vec<u8>) {
        let info = self.info();
        match info.rule {
            Rule::Uca(u) => u.sort_key(s, info.pad, out),
            Rule::Czech(c) => c.sort_key(s, out),
            Rule::Thai => {
                let weights = thai::weights(s).into_iter().map(u16::from);
                match info.pad {
                    true => padded_key(weights, out),
                    false => nopad_key(weights, out),
                }
            }
            Rule::General if info.pad => general_padded_key(trim_spaces(s), out),
            Rule::General => general_nopad_key(s, out),
            Rule::Latin1(_) | Rule::Ascii | Rule::Table(_) | Rule::General500 if info.pad => {
                padded_key(Weights::new(trim_spaces(s), info.rule), out);
            }
            Rule::Latin1(_) | Rule::Ascii | Rule::Table(_) | Rule::General500 => {
                nopad_key(Weights::new(s, info.rule), out);
            }
            Rule::Bytes if !info.pad => {
                for b in s {
                    out.push(*b);
                    if *b == 0 {
                        out.push(0xff);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
            Rule::Bytes => {
                let s = trim_spaces(s);
                let mut i = 0;
                while i < s.len() {
                    match s[i] {
                        b' ' => {
                            let run = s[i..].iter().take_while(|b| **b == b' ').count();
                            let next = s.get(i + run).copied().unwrap_or(b'!');
                            let sym = if next < b' ' { SPACE_LESS } else { SPACE_MORE };
                            out.resize(out.len() + run, sym);
                            i += run;
                            continue;
                        }
                        b @ 0..0x20 => out.push(b),
                        // Not in UTF-8, but never let two different strings collide with the escape.
                        b @ 0xfd.. => out.extend_from_slice(&[0xff, b]),
                        b => out.push(b + 2),
                    }
                    i += 1;
                }
                out.push(END);
            }
        }
    }
}

/// The sort key under utf8mb4_general_ci; spaces at the end are gone already.
fn general_padded_key(s: &[u8], out: &mut Vec<u8>) {
    let mut spaces = 0;
    by_pieces(s, out, ascii_key::padded, |w, out| {
        push_padded(w, &mut spaces, out);
        spaces == 0
    });
    out.push(END);
}

/// The sort key under utf8mb4_general_nopad_ci.
fn general_nopad_key(s: &[u8], out: &mut Vec<u8>) {
    by_pieces(s, out, ascii_key::unpadded, |w, out| {
        push_nopad(w, out);
        true
    });
    out.push(0);
}

/// Appends the sort key of a string under utf8mb4_general_ci but for its end: what is plain by `plain`, the rest character by
/// character by `push`, which says whether what it has is written.
#[inline]
fn by_pieces(
    s: &[u8],
    out: &mut Vec<u8>,
    plain: impl Fn(&[u8], &mut Vec<u8>) -> usize,
    mut push: impl FnMut(u16, &mut Vec<u8>) -> bool,
) {
    out.reserve(s.len() + 1);
    let mut weights = GeneralWeights { s };
    while !weights.s.is_empty() {
        let n = plain(weights.s, out);
        weights.s = &weights.s[n..];
        let left = weights.s.len().saturating_sub(ascii_key::AT_ONCE);
        let mut written = true;
        while weights.s.len() > left || !written {
            let Some(w) = weights.next() else {
                break;
            };
            written = push(w, out);
        }
    }
}

/// The sort key of weights under PAD SPACE; spaces at the end are gone already.
#[inline]
fn padded_key(weights: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    let mut spaces = 0;
    for w in weights {
        push_padded(w, &mut spaces, out);
    }
    out.push(END);
}

/// Appends a weight under PAD SPACE; `spaces` are those in front of it.
#[inline]
fn push_padded(w: u16, spaces: &mut usize, out: &mut Vec<u8>) {
    if w == 0x20 {
        *spaces += 1;
        return;
    }
    if *spaces > 0 {
        let sym = if w < 0x20 { SPACE_LESS } else { SPACE_MORE };
        out.resize(out.len() + *spaces, sym);
        *spaces = 0;
    }
    // 1 byte for ASCII, 2 below 0x7d00, else 3; each form sorts above the one before.
    match w {
        0..0x20 => out.push(w as u8),
        0x20..0x80 => out.push(w as u8 + 2),
        0x80..0x7d00 => out.extend_from_slice(&[0x82 + (w >> 8) as u8, w as u8]),
        _ => out.extend_from_slice(&[0xff, (w >> 8) as u8, w as u8]),
    }
}

/// The sort key of weights under NO PAD: 0 ends it.
fn nopad_key(weights: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    for w in weights {
        push_nopad(w, out);
    }
    out.push(0);
}

#[inline]
fn push_nopad(w: u16, out: &mut Vec<u8>) {
    match w {
        0..0x80 => out.push(w as u8 + 1),
        0x80..0x7d00 => out.extend_from_slice(&[0x82 + (w >> 8) as u8, w as u8]),
        _ => out.extend_from_slice(&[0xff, (w >> 8) as u8, w as u8]),
    }
}

/// Weight of a character under a table of latin1. What latin1 does not have sorts behind all that it has.
fn latin1_weight(table: &[u8; 256], cp: u32) -> u16 {
    match latin1_byte(cp) {
        Some(b) => table[b as usize] as u16,
        None => (cp as u16).max(0x100),
    }
}

/// Weights of the characters of UTF-8 under the rules with small tables.
struct Weights<'a> {
    s: &'a [u8],
    rule: Rule,
    table: Option<&'static CodeWeights>,
    /// The second weight of the character that was read last; 0: none.
    second: u16,
}

impl<'a> Weights<'a> {
    fn new(s: &'a [u8], rule: Rule) -> Self {
        Weights {
            s,
            rule,
            table: match rule {
                Rule::Table(weights) => Some(weights()),
                _ => None,
            },
            second: 0,
        }
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;
    fn next(&mut self) -> Option<u16> {
        if self.second != 0 {
            return Some(std::mem::take(&mut self.second));
        }
        self.s.first()?;
        let (cp, n) = split_char(self.s);
        self.s = &self.s[n..];
        if let Some(table) = self.table {
            let (first, second) = table.of(cp);
            self.second = second;
            return Some(first);
        }
        Some(match self.rule {
            Rule::Latin1(table) => latin1_weight(table, cp),
            _ if cp < 0x80 => ascii_weight(cp as u8) as u16,
            Rule::General500 => Collation::Utf8mb3GeneralMysql500Ci.char_weight(cp),
            _ => cp as u16,
        })
    }
}

/// Bytes of the first `n` characters of a UTF-8 string (all of it if it is shorter).
pub fn char_prefix(s: &[u8], n: usize) -> &[u8] {
    if s.len() <= n {
        return s;
    }
    let mut seen = 0;
    for (i, b) in s.iter().enumerate() {
        if *b & 0xc0 != 0x80 {
            if seen == n {
                return &s[..i];
            }
            seen += 1;
        }
    }
    s
}

/// Number of characters of a UTF-8 string.
pub fn char_count(s: &[u8]) -> usize {
    s.iter().filter(|b| **b & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CI: Collation = Collation::Utf8mb4GeneralCi;

    /// FNV-1a over the big-endian weights of all code points of the BMP but surrogates, as WEIGHT_STRING() of MariaDB 10.11.19
    /// gave them.
    #[test]
    fn all_weights_are_those_of_mariadb() {
        let mut h = 0xcbf2_9ce4_8422_2325u64;
        for c in (0..=0xffff).filter(|c| !(0xd800..=0xdfff).contains(c)) {
            for b in CI.char_weight(c).to_be_bytes() {
                h = (h ^ b as u64).wrapping_mul(0x100_0000_01b3);
            }
        }
        assert_eq!(h, 0xb13c_8f4d_8b5c_6ec2);
    }

    #[test]
    fn equal_strings() {
        for (a, b) in [
            ("abc", "ABC"),
            ("é", "E"),
            ("ß", "s"),
            ("a", "a   "),
            ("ǅ", "Ǆ"),
            ("😀", "😁"),
            ("", "  "),
        ] {
            assert!(CI.equal(a.as_bytes(), b.as_bytes()), "{a} = {b}");
        }
        for (a, b) in [("a", "b"), ("a", " a"), ("a", "a\t"), ("й", "и")] {
            assert!(!CI.equal(a.as_bytes(), b.as_bytes()), "{a} <> {b}");
        }
        assert!(Collation::Utf8mb4Bin.equal(b"a", b"a "));
        assert!(!Collation::Utf8mb4Bin.equal(b"a", b"A"));
        assert!(!Collation::Binary.equal(b"a", b"a "));
        // What is below the space sorts before the end of the string.
        assert_eq!(CI.compare(b"a\t", b"a"), Ordering::Less);
        assert_eq!(Collation::Utf8mb4Bin.compare(b"a\t", b"a"), Ordering::Less);
        assert_eq!(Collation::Binary.compare(b"a\t", b"a"), Ordering::Greater);
    }

    #[test]
    fn latin1_collations() {
        let c = Collation::Latin1SwedishCi;
        for (a, b) in [("é", "E"), ("ü", "y"), ("Å", "å"), ("a", "A  ")] {
            assert!(c.equal(a.as_bytes(), b.as_bytes()), "{a} = {b}");
        }
        assert_eq!(c.compare("å".as_bytes(), b"z"), Ordering::Greater);
        assert_eq!(c.compare("ß".as_bytes(), b"s"), Ordering::Greater);
        assert!(Collation::Latin1German1Ci.equal("ß".as_bytes(), b"s"));
        // The euro sign is byte 0x80.
        let bin = Collation::Latin1Bin;
        assert_eq!(bin.compare("€".as_bytes(), "é".as_bytes()), Ordering::Less);
        assert_eq!(bin.compare("é".as_bytes(), "Ж".as_bytes()), Ordering::Less);
        assert!(!Collation::Latin1SwedishNopadCi.equal(b"a", b"a "));
    }

    #[test]
    fn names() {
        for c in Collation::all() {
            let stored = serde_json::to_string(&c).unwrap();
            assert_eq!(serde_json::from_str::<Collation>(&stored).unwrap(), c);
            assert_eq!(Collation::from_name(&c.name().to_uppercase()), Some(c));
            assert_eq!(Collation::from_id(c.id()), Some(c));
        }
        assert_eq!(
            Collation::from_name("utf8_bin"),
            Some(Collation::Utf8mb3Bin)
        );
        assert_eq!(
            Collation::from_name("uca1400_as_CS"),
            Collation::from_id(2307)
        );
        assert_eq!(
            Collation::from_name("utf8mb4_danish_ci").map(Collation::id),
            Some(235)
        );
        assert_eq!(
            Collation::from_name("utf8mb4_thai_520_w2").map(Collation::id),
            Some(610)
        );
    }

    /// Short strings over few characters, so that equal ones and common beginnings occur.
    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(
            prop_oneof![
                Just(' '),
                Just('\t'),
                Just('a'),
                Just('A'),
                Just('b'),
                Just('é'),
                Just('ÿ'),
                Just('\u{ffff}'),
                Just('\u{7d00}'),
                Just('😀'),
                Just('\0'),
                Just('\u{7f}'),
                Just('ß'),
                Just('\u{301}'),
                Just('l'),
                Just('·'),
                Just('\u{2fa1d}'),
                any::<char>()
            ],
            0..6,
        )
        .prop_map(|v| v.into_iter().collect())
    }

    fn key(c: Collation, s: &[u8]) -> Vec<u8> {
        let mut k = Vec::new();
        c.sort_key(s, &mut k);
        k
    }

    /// Long enough for whole pieces of ASCII, with spaces and others among it.
    fn long_text() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-zA-Z0-9-]{1,40}".prop_map(String::into_bytes),
            " {1,20}".prop_map(String::into_bytes),
            "[\\x00-\\x7f]{1,20}".prop_map(String::into_bytes),
            text().prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 1..4),
        ];
        proptest::collection::vec(part, 0..6).prop_map(|v| v.concat())
    }

    proptest! {
        #[test]
        fn keys_by_pieces_are_those_by_characters(s in long_text()) {
            let mut k = Vec::new();
            padded_key(GeneralWeights { s: trim_spaces(&s) }, &mut k);
            prop_assert_eq!(key(CI, &s), k);
            let mut k = Vec::new();
            nopad_key(GeneralWeights { s: &s }, &mut k);
            prop_assert_eq!(key(Collation::Utf8mb4GeneralNopadCi, &s), k);
        }

        #[test]
        fn keys_sort_as_strings(a in text(), b in text()) {
            for c in Collation::all() {
                let (x, y) = (key(c, a.as_bytes()), key(c, b.as_bytes()));
                prop_assert_eq!(x.cmp(&y), c.compare(a.as_bytes(), b.as_bytes()), "{:?}", c);
                prop_assert!(x == y || !y.starts_with(&x), "prefix-free {:?}", c);
            }
        }

        #[test]
        fn bytes_that_are_no_text_do_not_panic(a in any::<Vec<u8>>(), b in any::<Vec<u8>>()) {
            for c in Collation::all() {
                let (x, y) = (key(c, &a), key(c, &b));
                let _ = c.compare(&a, &b);
                prop_assert!(x == y || !y.starts_with(&x));
            }
        }
    }
}
