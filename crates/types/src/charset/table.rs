//! Character sets by table, and the weights of their codes: `data/charsets.bin`, which `scripts/charset_tables.py` makes and
//! describes. Each set's table is built at its first use.
//!
//! A code that is well formed but stands for no character of Unicode, or for one whose code is another, is, as UTF-8, the private
//! character U+100000 with the code's last 16 bits, so that it comes back as it went. (Codes of three bytes have their eighth bit
//! cleared, which keeps them apart from those of two.)

use std::io::Read;
use std::sync::OnceLock;

/// Marks in the tables of characters: no code at all, and a code without a character.
const NO_CODE: u16 = 0xfffe;
const NO_CHAR: u16 = 0xffff;

/// The private character that stands for a code.
pub(super) fn private(code: u16) -> char {
    char::from_u32(0x10_0000 + u32::from(code)).unwrap_or('?')
}

/// The code that a private character stands for.
pub(super) fn private_code(c: char) -> Option<u16> {
    (c as u32).checked_sub(0x10_0000).map(|code| code as u16)
}

/// A code in 16 bits, as private characters have it.
fn short(code: u32) -> u16 {
    match code {
        0..=0xffff => code as u16,
        _ => code as u16 & 0xff7f,
    }
}

/// Numbers from the data, little-endian; 0 behind the end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        head
    }

    fn number(&mut self, n: usize) -> u32 {
        let head = self.take(n);
        head.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b))
    }

    fn name(&mut self) -> &'a [u8] {
        let n = self.number(1);
        self.take(n as usize)
    }
}

/// One collation's part of the data.
struct Weighed<'a> {
    collation: &'a [u8],
    /// A weight for each code.
    plain: &'a [u8],
    /// Codes with several weights.
    several: &'a [u8],
}

/// Where a set's parts lie in the data.
struct Section<'a> {
    name: &'a [u8],
    /// The set that its characters are written as differences to.
    base: &'a [u8],
    codes: Vec<u32>,
    chars: &'a [u8],
    /// Characters whose code is another than the first that stands for them.
    odd: &'a [u8],
    weights: Vec<Weighed<'a>>,
}

fn sections() -> &'static [Section<'static>] {
    static DATA: OnceLock<Vec<u8>> = OnceLock::new();
    static SECTIONS: OnceLock<Vec<Section<'static>>> = OnceLock::new();
    SECTIONS.get_or_init(|| {
        let data = DATA.get_or_init(|| {
            let mut data = Vec::new();
            let packed: &[u8] = include_bytes!("../../data/charsets.bin");
            // A part of the program: the tests read all of it.
            let _ = flate2::read::ZlibDecoder::new(packed).read_to_end(&mut data);
            data
        });
        let mut r = Reader(data);
        (0..r.number(2)).map(|_| section(&mut r)).collect()
    })
}

fn section<'a>(r: &mut Reader<'a>) -> Section<'a> {
    let name = r.name();
    let _ascii = r.number(1);
    let base = r.name();
    let mut codes = Vec::new();
    for _ in 0..r.number(4) {
        let first = r.number(3);
        codes.extend(first..first + r.number(2));
    }
    let chars = r.take(2 * codes.len());
    let n = r.number(4) as usize;
    let odd = r.take(5 * n);
    let mut weights = Vec::new();
    for _ in 0..r.number(2) {
        let collation = r.name();
        let plain = r.take(2 * codes.len());
        let n = r.number(2);
        let rest = r.0;
        for _ in 0..n {
            r.take(3);
            let each = r.number(1);
            r.take(2 * each as usize);
        }
        weights.push(Weighed {
            collation,
            plain,
            several: &rest[..rest.len() - r.0.len()],
        });
    }
    Section {
        name,
        base,
        codes,
        chars,
        odd,
        weights,
    }
}

/// The code of cp932's base, eucjpms, that stands at the place of this code; the same code in other sets.
fn same_place(set: &[u8], code: u32) -> u32 {
    if set != b"cp932" || code < 0x100 {
        return code;
    }
    let (a, b) = (code >> 8, code & 0xff);
    let lead = if a < 0xe0 { 0x81 } else { 0xc1 };
    let row = a.wrapping_sub(lead).wrapping_mul(2) + u32::from(b >= 0x9f);
    let cell = match b {
        0x9f.. => b - 0x9f,
        _ => b.wrapping_sub(0x40).wrapping_sub(u32::from(b > 0x7f)),
    };
    (row.wrapping_add(0xa1) << 8 | cell.wrapping_add(0xa1)) & 0xffff
}

impl Section<'_> {
    fn named(name: &[u8]) -> Option<&'static Section<'static>> {
        sections().iter().find(|s| s.name == name)
    }

    /// The character of each code.
    fn characters(&self) -> Vec<u16> {
        let mut r = Reader(self.chars);
        let base = Section::named(self.base).map(|b| (b, b.characters()));
        let mut before = 0u16;
        let one = |code: &u32| {
            let n = r.number(2) as u16;
            match &base {
                Some((base, chars)) => {
                    let at = base.codes.binary_search(&same_place(self.name, *code));
                    n ^ at.ok().and_then(|i| chars.get(i)).copied().unwrap_or(0)
                }
                None => {
                    before = before.wrapping_add(n);
                    before
                }
            }
        };
        self.codes.iter().map(one).collect()
    }
}

/// One set's codes and characters.
pub(super) struct Codec {
    single: [u16; 256],
    /// From 0x8000; empty if no code has two bytes.
    double: Vec<u16>,
    /// Behind 0x8f: rows of 94 from 0xa1; empty if no code has three bytes.
    triple: Vec<u16>,
    /// Private characters of codes that stand for a character whose code is another, with that character.
    veiled: Vec<(u16, u16)>,
    /// Codes of the BMP, in blocks of 256; block 0 has none. 0 is no code.
    pages: [u16; 256],
    blocks: Vec<[u32; 256]>,
}

/// The place of a code 8F xx yy in the table; none for bytes below 0xa1.
fn triple_place(code: u32) -> Option<usize> {
    let place = |b: u32| (0xa1..0xff).contains(&b).then(|| b as usize - 0xa1);
    Some(place(code >> 8 & 0xff)? * 94 + place(code & 0xff)?)
}

impl Codec {
    /// The codec of a set that has a table.
    pub(super) fn of(name: &'static str) -> &'static Codec {
        static CODECS: [OnceLock<Codec>; 64] = [const { OnceLock::new() }; 64];
        static EMPTY: OnceLock<Codec> = OnceLock::new();
        let at = sections().iter().position(|s| s.name == name.as_bytes());
        let slot = at.and_then(|i| CODECS.get(i)).unwrap_or(&EMPTY);
        slot.get_or_init(|| Codec::build(at.map(|i| &sections()[i])))
    }

    fn build(section: Option<&Section<'_>>) -> Codec {
        let mut c = Codec {
            single: [NO_CODE; 256],
            double: Vec::new(),
            triple: Vec::new(),
            veiled: Vec::new(),
            pages: [0; 256],
            blocks: vec![[0; 256]],
        };
        let Some(section) = section else {
            return c;
        };
        for (code, ch) in section.codes.iter().zip(section.characters()) {
            if let Some(place) = c.place(*code) {
                *place = ch;
            }
            if ch != NO_CHAR && c.back(ch) == 0 {
                c.set_back(ch, *code);
            }
        }
        let mut odd = Reader(section.odd);
        while !odd.0.is_empty() {
            let ch = odd.number(2) as u16;
            let code = odd.number(3);
            // In sjis the backslash goes to a wide one. Here it stays what literals and patterns escape with.
            if ch >= 0x80 || c.back(ch) != u32::from(ch) {
                c.set_back(ch, if code == 0xff_ffff { 0 } else { code });
            }
        }
        c.veil(section);
        c
    }

    /// Makes a private character of each code that would come back as another one.
    fn veil(&mut self, section: &Section<'_>) {
        for (code, ch) in section.codes.iter().zip(section.characters()) {
            if ch == NO_CHAR || ch == 0 || self.back(ch) == *code {
                continue;
            }
            self.veiled.push((short(*code), ch));
            if let Some(place) = self.place(*code) {
                *place = NO_CHAR;
            }
        }
        self.veiled.sort_unstable();
    }

    /// What others see of a character: for a private one the character that its code stands for, if there is one.
    pub(super) fn unveiled(&self, c: char) -> Option<char> {
        let Some(code) = private_code(c) else {
            return Some(c);
        };
        let at = self.veiled.binary_search_by_key(&code, |v| v.0);
        let found = at.ok().map(|i| u32::from(self.veiled[i].1));
        found.and_then(char::from_u32)
    }

    /// Where a code's character stands, while the tables are built.
    fn place(&mut self, code: u32) -> Option<&mut u16> {
        match code {
            0..=0xff => self.single.get_mut(code as usize),
            0x100..=0xffff => {
                self.double.resize(0x8000, NO_CODE);
                self.double.get_mut((code as usize).checked_sub(0x8000)?)
            }
            _ => {
                self.triple.resize(94 * 94, NO_CODE);
                self.triple.get_mut(triple_place(code)?)
            }
        }
    }

    fn back(&self, c: u16) -> u32 {
        self.blocks[usize::from(self.pages[usize::from(c >> 8)])][usize::from(c & 0xff)]
    }

    fn set_back(&mut self, c: u16, code: u32) {
        let page = &mut self.pages[usize::from(c >> 8)];
        if *page == 0 {
            *page = self.blocks.len() as u16;
            self.blocks.push([0; 256]);
        }
        self.blocks[usize::from(*page)][usize::from(c & 0xff)] = code;
    }

    /// The code of a character.
    pub(super) fn code(&self, c: char) -> Option<u32> {
        if let Some(code) = private_code(c) {
            return self.code_without_character(code);
        }
        match u16::try_from(c as u32).map(|c| self.back(c)) {
            Ok(0) if c == '\0' => Some(0),
            Ok(0) | Err(_) => None,
            Ok(code) => Some(code),
        }
    }

    /// The code that a private character stands for, if this set has it.
    fn code_without_character(&self, code: u16) -> Option<u32> {
        let free = |place: Option<&u16>| place == Some(&NO_CHAR);
        let at = usize::from(code);
        if code < 0x100 && free(self.single.get(at)) {
            return Some(u32::from(code));
        }
        if at >= 0x8000 && free(self.double.get(at - 0x8000)) {
            return Some(u32::from(code));
        }
        let three = 0x8f_0080 | u32::from(code);
        let is_short = code & 0x80 == 0;
        (is_short && free(self.triple.get(triple_place(three)?))).then_some(three)
    }

    /// Appends a character; nothing if the set does not have it.
    pub(super) fn push(&self, c: char, out: &mut Vec<u8>) {
        let Some(code) = self.code(c) else {
            return;
        };
        out.extend_from_slice(&code.to_be_bytes()[4 - width(code)..]);
    }

    /// The character of a code.
    fn character(&self, code: u32) -> Option<char> {
        self.first(&code.to_be_bytes()[4 - width(code)..]).0
    }

    /// The first character of bytes that are not empty, and its length.
    pub(super) fn first(&self, s: &[u8]) -> (Option<char>, usize) {
        let found = |ch: Option<&u16>, code: u32| match ch {
            None | Some(&NO_CODE) => None,
            Some(&NO_CHAR) => Some(private(short(code))),
            Some(c) => char::from_u32(u32::from(*c)),
        };
        let one = u32::from(s[0]);
        if let (0x80.., Some(b)) = (s[0], s.get(1)) {
            let two = one << 8 | u32::from(*b);
            if let Some(c) = found(self.double.get(two as usize - 0x8000), two) {
                return (Some(c), 2);
            }
            if let (0x8f, Some(last)) = (s[0], s.get(2)) {
                let three = two << 8 | u32::from(*last);
                let ch = triple_place(three).and_then(|i| self.triple.get(i));
                if let Some(c) = found(ch, three) {
                    return (Some(c), 3);
                }
            }
        }
        (found(self.single.get(usize::from(s[0])), one), 1)
    }
}

/// Bytes of a code.
fn width(code: u32) -> usize {
    match code {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}

/// Weights of a set's characters under one of its collations.
pub(crate) struct CodeWeights {
    pages: [u16; 256],
    blocks: Vec<[u16; 256]>,
    /// Private characters, by their codes.
    private: Vec<(u16, u16)>,
    /// Characters with two weights.
    pairs: Vec<(u32, [u16; 2])>,
    /// The weight that the space had, and those below it, before they were moved.
    space: u16,
    below: Vec<u16>,
}

/// The highest weight below that of the space.
const LAST_BELOW: usize = 0x1f;

/// What the set does not have sorts behind all that it has.
const BEHIND_ALL: u16 = 0xffff;

/// A code's weight by its bytes: orders codes as their bytes do.
fn own_weight(code: u32) -> u16 {
    match code {
        0..0x80 => code as u16,
        0x80..0x100 => (code as u16) << 8,
        0x100..=0xffff => code as u16,
        _ => 0x200 + triple_place(code).unwrap_or(0) as u16,
    }
}

/// Half-width kana of ujis and eucjpms, whose codes begin with 8E, come before the codes of three bytes, which begin with 8F: so
/// their weights have the place between single bytes and those.
const KANA: std::ops::RangeInclusive<u16> = 0x8ea1..=0x8edf;
/// The first weight of [`KANA`].
const KANA_WEIGHTS: u16 = 0x100;

/// Appends the bytes of a weight that orders codes as their bytes do: as many as the code has that it is made of.
/// `width`: bytes of the set's longest code.
pub(crate) fn push_code_weight(w: u16, width: usize, out: &mut Vec<u8>) {
    let [high, low] = w.to_be_bytes();
    match w {
        0..0x100 => out.push(low),
        _ if low == 0 && width == 1 => out.push(high),
        KANA_WEIGHTS..0x200 if width == 3 => {
            out.extend_from_slice(&(w - KANA_WEIGHTS + KANA.start()).to_be_bytes());
        }
        0x200.. if width == 3 && w < 0x8000 => {
            let place = w - 0x200;
            out.extend_from_slice(&[0x8f, 0xa1 + (place / 94) as u8, 0xa1 + (place % 94) as u8]);
        }
        _ => out.extend_from_slice(&[high, low]),
    }
}

/// The weights of the collation of this name; none at all for a name that the data does not have.
pub(crate) fn code_weights(collation: &str) -> CodeWeights {
    let mut w = CodeWeights {
        pages: [0; 256],
        blocks: vec![[BEHIND_ALL; 256]],
        private: Vec::new(),
        pairs: Vec::new(),
        space: 0x20,
        below: Vec::new(),
    };
    let named = |s: &'static Section<'static>| {
        let is = |w: &&Weighed<'_>| w.collation == collation.as_bytes();
        s.weights.iter().find(is).map(|found| (s, found))
    };
    let Some((section, weighed)) = sections().iter().find_map(named) else {
        return w;
    };
    let mut plain = Reader(weighed.plain);
    let codec = Codec::build(Some(section));
    let has_triples = section.codes.iter().any(|c| *c > 0xffff);
    for code in &section.codes {
        let weight = match plain.number(2) as u16 ^ own_weight(*code) {
            kana if has_triples && KANA.contains(&kana) => kana - KANA.start() + KANA_WEIGHTS,
            weight => weight,
        };
        match codec.character(*code) {
            Some(c) => match private_code(c) {
                Some(code) => w.private.push((code, weight)),
                None => w.set(c as u16, weight),
            },
            None => continue,
        }
    }
    w.private.sort_unstable();
    let mut several = Reader(weighed.several);
    while !several.0.is_empty() {
        let code = several.number(3);
        let n = several.number(1);
        let all: Vec<u16> = (0..n).map(|_| several.number(2) as u16).collect();
        if let (Some(c), [a, b]) = (codec.character(code), &all[..]) {
            w.pairs.push((u32::from(c), [*a, *b]));
        }
    }
    w.with_space_at_0x20();
    w
}

impl CodeWeights {
    /// Moves the weights so that the space has 0x20, which is what strings are padded with: what is below it counts from 0, the
    /// rest moves with it.
    fn with_space_at_0x20(&mut self) {
        let space = self.of(0x20).0;
        if space == 0x20 || space == BEHIND_ALL {
            return;
        }
        let mut below: Vec<u16> = self.blocks.as_flattened().to_vec();
        below.retain(|w| *w < space);
        below.sort_unstable();
        below.dedup();
        for page in 0..=0xffu16 {
            let block = self.pages[usize::from(page)];
            if block == 0 {
                continue;
            }
            for low in 0..=0xffu16 {
                let w = &mut self.blocks[usize::from(block)][usize::from(low)];
                *w = match below.binary_search(w) {
                    Ok(n @ 0..LAST_BELOW) => n as u16,
                    // There are more below the space than have room: the last of them get a second weight.
                    Ok(n) => {
                        let second = 0x21 + (n - LAST_BELOW) as u16;
                        let c = u32::from(page << 8 | low);
                        self.pairs.push((c, [LAST_BELOW as u16, second]));
                        LAST_BELOW as u16
                    }
                    Err(_) if *w == BEHIND_ALL => BEHIND_ALL,
                    Err(_) => *w - space + 0x20,
                };
            }
        }
        (self.space, self.below) = (space, below);
    }

    /// The weights of a character as they were before that of the space was moved.
    pub(crate) fn shown(&self, cp: u32) -> impl Iterator<Item = u16> + use<> {
        let back = |w: u16| match w {
            _ if self.below.is_empty() || w == BEHIND_ALL => w,
            0..0x20 => self.below.get(usize::from(w)).copied().unwrap_or(w),
            _ => w - 0x20 + self.space,
        };
        let (first, second) = self.of(cp);
        let all = match (usize::from(first), usize::from(second)) {
            (LAST_BELOW, 0x21..) if self.below.len() > LAST_BELOW => {
                let at = LAST_BELOW + usize::from(second) - 0x21;
                [self.below.get(at).copied(), None]
            }
            (_, 0) => [Some(back(first)), None],
            _ => [Some(back(first)), Some(back(second))],
        };
        all.into_iter().flatten()
    }

    fn set(&mut self, c: u16, weight: u16) {
        let page = &mut self.pages[usize::from(c >> 8)];
        if *page == 0 {
            *page = self.blocks.len() as u16;
            self.blocks.push([BEHIND_ALL; 256]);
        }
        self.blocks[usize::from(*page)][usize::from(c & 0xff)] = weight;
    }

    /// A character's weight, and its second one; 0 if there is none.
    #[inline]
    pub(crate) fn of(&self, cp: u32) -> (u16, u16) {
        let Ok(c) = u16::try_from(cp) else {
            let code = cp.wrapping_sub(0x10_0000) as u16;
            let at = self.private.binary_search_by_key(&code, |p| p.0);
            return (at.map_or(BEHIND_ALL, |i| self.private[i].1), 0);
        };
        if let Some((_, [a, b])) = self.pairs.iter().find(|p| p.0 == cp) {
            return (*a, *b);
        }
        let page = self.pages[usize::from(c >> 8)];
        (self.blocks[usize::from(page)][usize::from(c & 0xff)], 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_come_back() {
        for s in sections() {
            let codec = Codec::build(Some(s));
            for code in &s.codes {
                let n = width(*code);
                let (c, len) = codec.first(&code.to_be_bytes()[4 - n..]);
                let c = c.unwrap_or_else(|| panic!("{:?} {code:x}", s.name));
                assert_eq!(len, n, "{code:x}");
                assert_eq!(codec.code(c), Some(*code), "{:?} {code:x}", s.name);
            }
        }
    }

    #[test]
    fn all_collations_have_weights() {
        for s in sections() {
            for w in &s.weights {
                let name = std::str::from_utf8(w.collation).unwrap();
                let weights = code_weights(name);
                assert_eq!(weights.of(0x20), (0x20, 0), "{name}");
            }
        }
    }
}
