//! The Unicode Collation Algorithm with the default tables of Unicode 4.0.0, 5.2.0 and 14.0.0, as the collations `unicode_ci`,
//! `unicode_520_ci` and `uca1400_*` have it, and what languages weigh otherwise.
//!
//! A string is a list of weights for each level: letters, then accents, then case. A character may have no weight, several, or
//! with its neighbours others than alone. Strings compare level by level; where one ends earlier, PAD SPACE goes on with the
//! weights of spaces, and so does NO PAD on all levels but the first. Tables: UTS #10; `data/uca.bin` is made by `scripts/uca_weights.py`, which describes it.
//!
//! In sort keys each weight has two bytes. Under PAD SPACE a space is one of two symbols and the end lies between them, as in
//! the other collations (see the module above).

use super::chars::{REPLACEMENT, split_char};
use super::watched::{Watched, both_long};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Read;
use std::sync::OnceLock;

/// Which of Unicode's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V400,
    V520,
    V1400,
}

/// The tables that `data/uca.bin` has.
const VERSIONS: [Version; 3] = [Version::V400, Version::V520, Version::V1400];

/// The tables before any language: those, and 5.2.0 with accents, which only a language has ([`Table::with_accents`]).
const BASES: usize = VERSIONS.len() + 1;

/// Languages that weigh some characters their own way with every table, in the order of the ids of their collations.
const SHARED: [&str; 20] = [
    "icelandic",
    "latvian",
    "romanian",
    "slovenian",
    "polish",
    "estonian",
    "spanish",
    "swedish",
    "turkish",
    "czech",
    "danish",
    "lithuanian",
    "slovak",
    "spanish2",
    "roman",
    "persian",
    "esperanto",
    "hungarian",
    "sinhala",
    "german2",
];

/// [`SHARED`] from place `at` on, and others behind them. What lies before has no name.
pub(super) const fn with_shared<const N: usize>(
    at: usize,
    others: &[&'static str],
) -> [&'static str; N] {
    assert!(N == at + SHARED.len() + others.len());
    let mut out = [""; N];
    let mut i = at;
    while i < N {
        let n = i - at;
        out[i] = if n < SHARED.len() {
            SHARED[n]
        } else {
            others[n - SHARED.len()]
        };
        i += 1;
    }
    out
}

/// The languages with 4.0.0, and one with 5.2.0.
const OLD: [&str; 24] = with_shared(
    0,
    &["croatian_mysql561", "vietnamese", "croatian", "myanmar"],
);

/// The languages with 14.0.0.
const NEW: [&str; 22] = with_shared(0, &["vietnamese", "croatian"]);

/// The language with the accents of 5.2.0.
const ACCENTED: [&str; 1] = ["thai"];

/// All languages, in the order of `data/tailorings.bin`.
const LANGUAGES: [&[&str]; 3] = [&OLD, &NEW, &ACCENTED];
const TABLES: usize = BASES + LANGUAGES[0].len() + LANGUAGES[1].len() + LANGUAGES[2].len();

/// A table and the levels that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uca {
    /// Its place among all tables.
    table: u8,
    /// Levels from 0, in order.
    levels: &'static [u8],
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Uca {
    /// Table 0, 1, 2 or 3 (5.2.0 with accents), the language (empty: none) and the levels that count.
    pub(super) const fn new(version: u8, language: &str, levels: &'static [u8]) -> Self {
        let mut table = version as usize;
        if !language.is_empty() {
            let wanted = version.saturating_sub(1) as usize;
            table = BASES;
            let mut before = 0;
            while before < wanted {
                table += LANGUAGES[before].len();
                before += 1;
            }
            let list = LANGUAGES[wanted];
            let mut at = 0;
            while !same(list[at].as_bytes(), language.as_bytes()) {
                at += 1;
            }
            table += at;
        }
        Uca {
            table: table as u8,
            levels,
        }
    }
}

/// Where the lists of weights of a character or sequence begin.
type Place = u32;

/// Its weights follow from the character.
const IMPLICIT: Place = u32::MAX;

/// Weight on the second level of a character without an accent.
const NO_ACCENT: u16 = 0x20;

/// One version's weights, or one language's.
#[derive(Clone)]
struct Table {
    version: Version,
    levels: usize,
    /// Block of each 256 characters; 0 has implicit weights only.
    pages: Vec<u16>,
    blocks: Vec<[Place; 256]>,
    /// Each place: for each level the number of weights, then all weights.
    lists: Vec<u16>,
    /// Sequences of two and three characters (the third is 0), and the characters that begin one.
    sequences: HashMap<[u32; 3], Place>,
    /// Sequences of more characters, which few languages have, and how many the longest one has.
    long: HashMap<Box<[u32]>, Place>,
    longest: usize,
    heads: Vec<u32>,
    /// Some sequences have ASCII behind their first character.
    ascii_sequences: bool,
    /// Weights of ASCII for each level; 0: none.
    ascii: Vec<[u16; 128]>,
    /// Weight of the space on each level.
    space: Vec<u16>,
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    /// The next `n` bytes as a little-endian number; 0 behind the end.
    fn number(&mut self, n: usize) -> u32 {
        let (head, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        head.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b))
    }
}

impl Table {
    fn read(b: &mut Bytes<'_>, version: Version, levels: usize) -> Self {
        let mut t = Table {
            version,
            levels,
            pages: vec![0; 0x1100],
            blocks: vec![[IMPLICIT; 256]],
            lists: Vec::new(),
            sequences: HashMap::new(),
            long: HashMap::new(),
            longest: 3,
            heads: Vec::new(),
            ascii_sequences: false,
            ascii: Vec::new(),
            space: Vec::new(),
        };
        t.add(b);
        t
    }

    /// Takes entries and sequences from the data, in place of those that it has.
    fn add(&mut self, b: &mut Bytes<'_>) {
        for _ in 0..b.number(4) {
            let c = b.number(3);
            let place = self.take_lists(b);
            let Some(page) = self.pages.get_mut((c >> 8) as usize) else {
                continue;
            };
            if *page == 0 {
                *page = self.blocks.len() as u16;
                self.blocks.push([IMPLICIT; 256]);
            }
            self.blocks[usize::from(*page)][(c & 0xff) as usize] = place;
        }
        for _ in 0..b.number(4) {
            let all: Vec<u32> = (0..b.number(1)).map(|_| b.number(3)).collect();
            let place = self.take_lists(b);
            let [head, behind @ ..] = all.as_slice() else {
                continue;
            };
            self.ascii_sequences |= behind.iter().any(|c| *c < 0x80);
            self.heads.push(*head);
            let mut s = [0; 3];
            match s.get_mut(..all.len()) {
                Some(s) => s.copy_from_slice(&all),
                None => {
                    self.longest = self.longest.max(all.len());
                    self.long.insert(all.into(), place);
                    continue;
                }
            }
            self.sequences.insert(s, place);
        }
        self.heads.sort_unstable();
        self.heads.dedup();
        self.space.clear();
        self.ascii.clear();
        for level in 0..self.levels {
            let one = |c| match self.own(self.place(c), level) {
                [w] => *w,
                _ => 0,
            };
            let ascii: [u16; 128] = std::array::from_fn(|c| one(c as u32));
            self.space.push(ascii[0x20]);
            self.ascii.push(ascii);
        }
    }

    /// A table of one level with a second one: an accent of no consequence for each weight.
    fn with_accents(&self) -> Self {
        let mut t = Table {
            levels: 2,
            lists: Vec::with_capacity(self.lists.len() * 2),
            ..self.clone()
        };
        let place = |lists: &mut Vec<u16>, old: Place| {
            let (new, own) = (lists.len(), self.own(old, 0));
            lists.extend([own.len() as u16, own.len() as u16]);
            lists.extend_from_slice(own);
            lists.resize(lists.len() + own.len(), NO_ACCENT);
            new as Place
        };
        for p in t.blocks.iter_mut().flatten().filter(|p| **p != IMPLICIT) {
            *p = place(&mut t.lists, *p);
        }
        for p in t.sequences.values_mut().chain(t.long.values_mut()) {
            *p = place(&mut t.lists, *p);
        }
        t
    }

    fn take_lists(&mut self, b: &mut Bytes<'_>) -> Place {
        let place = self.lists.len();
        let mut weights = Vec::new();
        for _ in 0..self.levels {
            let n = b.number(1);
            self.lists.push(n as u16);
            weights.extend((0..n).map(|_| b.number(2) as u16));
        }
        self.lists.extend(weights);
        place as Place
    }

    #[inline]
    fn place(&self, c: u32) -> Place {
        let page = self.pages.get((c >> 8) as usize).copied().unwrap_or(0);
        self.blocks[usize::from(page)][(c & 0xff) as usize]
    }

    /// The weights at a place, which is not [`IMPLICIT`].
    fn own(&self, place: Place, level: usize) -> &[u16] {
        let at = place as usize;
        let Some(counts) = self.lists.get(at..at + self.levels) else {
            return &[];
        };
        let before: usize = counts[..level].iter().map(|n| usize::from(*n)).sum();
        let from = at + self.levels + before;
        &self.lists[from..from + usize::from(counts[level])]
    }

    /// Weights of a character that has none of its own: at most two.
    fn implicit(&self, c: u32, level: usize) -> ([u16; 2], usize) {
        match level {
            0 if self.version == Version::V400 && c > 0xffff => ([REPLACEMENT, 0], 1),
            0 => {
                let base = self.base(c) + (c >> 15) as u16;
                ([base, (c & 0x7fff) as u16 | 0x8000], 2)
            }
            1 => ([NO_ACCENT, 0], 1),
            _ => ([0x02, 0], 1),
        }
    }

    /// UTS #10: ideographs of the core block and of extensions sort before all that is not assigned.
    fn base(&self, c: u32) -> u16 {
        let new = self.version == Version::V1400;
        match c {
            0x4e00..=0x9fa5
            | 0xfa0e..=0xfa0f
            | 0xfa11
            | 0xfa13..=0xfa14
            | 0xfa1f
            | 0xfa21
            | 0xfa23..=0xfa24
            | 0xfa27..=0xfa29 => 0xfb40,
            0x9fa6..=0x9fff if new => 0xfb40,
            0x3400..=0x4db5 => 0xfb80,
            0x4db6..=0x4dbf
            | 0x2_0000..=0x2_a6df
            | 0x2_a700..=0x2_b738
            | 0x2_b740..=0x2_b81d
            | 0x2_b820..=0x2_cea1
            | 0x2_ceb0..=0x2_ebe0
            | 0x3_0000..=0x3_134a
                if new =>
            {
                0xfb80
            }
            _ => 0xfbc0,
        }
    }

    /// The same of more than three characters.
    fn long_sequence(&self, head: u32, rest: &[u8]) -> Option<(Place, usize)> {
        if self.longest <= 3 {
            return None;
        }
        let mut chars = vec![head];
        let mut ends = vec![0];
        while chars.len() < self.longest && ends[chars.len() - 1] < rest.len() {
            let at = ends[chars.len() - 1];
            let (c, n) = split_char(&rest[at..]);
            chars.push(c);
            ends.push(at + n);
        }
        let mut lengths = (4..=chars.len()).rev();
        lengths.find_map(|n| Some((*self.long.get(&chars[..n])?, ends[n - 1])))
    }

    /// The longest sequence with weights of its own that a string begins with, after its first character: its place and the bytes
    /// behind that character.
    fn sequence(&self, head: u32, rest: &[u8]) -> Option<(Place, usize)> {
        let next = rest.first()?;
        if next.is_ascii() && !self.ascii_sequences || self.heads.binary_search(&head).is_err() {
            return None;
        }
        if let Some(found) = self.long_sequence(head, rest) {
            return Some(found);
        }
        let (second, n) = split_char(rest);
        if n < rest.len() {
            let (third, m) = split_char(&rest[n..]);
            if let Some(p) = self.sequences.get(&[head, second, third]) {
                return Some((*p, n + m));
            }
        }
        Some((*self.sequences.get(&[head, second, 0])?, n))
    }
}

fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    // A part of the program: the tests read all of it.
    let _ = flate2::read::ZlibDecoder::new(packed).read_to_end(&mut data);
    data
}

fn versions() -> &'static [Table; VERSIONS.len()] {
    static TABLES: OnceLock<[Table; VERSIONS.len()]> = OnceLock::new();
    TABLES.get_or_init(|| {
        let data = inflated(include_bytes!("../../data/uca.bin"));
        let mut b = Bytes(&data);
        VERSIONS.map(|v| Table::read(&mut b, v, if v == Version::V1400 { 3 } else { 1 }))
    })
}

/// 5.2.0 with accents, before any language.
fn accented() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| versions()[1].with_accents())
}

/// The table of a language: its version's with what the language has of its own.
fn tailored(number: usize) -> Table {
    let data = inflated(include_bytes!("../../data/tailorings.bin"));
    let mut b = Bytes(&data);
    let mut last = None;
    for _ in 0..b.number(2).min(number as u32 + 1) {
        let name = b.number(1) as usize;
        b.0 = b.0.get(name..).unwrap_or_default();
        let version = b.number(1) as usize;
        // Entries of other languages must be read to know where they end.
        let base = match version == VERSIONS.len() {
            true => accented(),
            false => versions().get(version).unwrap_or(&versions()[0]),
        };
        let mut t = Table {
            blocks: vec![[IMPLICIT; 256]],
            pages: vec![0; 0x1100],
            lists: Vec::new(),
            sequences: HashMap::new(),
            long: HashMap::new(),
            longest: 3,
            heads: Vec::new(),
            ..base.clone()
        };
        let from = b.0;
        t.add(&mut b);
        last = Some((base, from));
    }
    let (base, from) = last.unwrap_or((&versions()[0], &[]));
    let mut t = base.clone();
    t.add(&mut Bytes(from));
    t
}

fn table(number: u8) -> &'static Table {
    static TAILORED: [OnceLock<Table>; TABLES] = [const { OnceLock::new() }; TABLES];
    let number = usize::from(number);
    match number.checked_sub(BASES) {
        None if number == VERSIONS.len() => accented(),
        None => &versions()[number],
        Some(language) => TAILORED[number].get_or_init(|| tailored(language)),
    }
}

/// Weights of a string on one level.
struct Weights<'a> {
    s: &'a [u8],
    table: &'static Table,
    level: usize,
    /// Further weights of the character that was read last.
    pending: &'static [u16],
    /// The second implicit weight; 0: none.
    second: u16,
}

impl Iterator for Weights<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let [w, rest @ ..] = self.pending {
                self.pending = rest;
                return Some(*w);
            }
            if self.second != 0 {
                return Some(std::mem::take(&mut self.second));
            }
            match self.s {
                [] => return None,
                // Unicode's own tables have no sequence with ASCII behind its first character.
                [a @ 0..=0x7f] | [a @ 0..=0x7f, 0..=0x7f, ..]
                    if !self.table.ascii_sequences || self.s.len() == 1 =>
                {
                    let w = self.table.ascii[self.level][usize::from(*a)];
                    self.s = &self.s[1..];
                    if w != 0 {
                        return Some(w);
                    }
                    continue;
                }
                _ => {}
            }
            let (c, n) = split_char(self.s);
            self.s = &self.s[n..];
            let place = match self.table.sequence(c, self.s) {
                Some((place, n)) => {
                    self.s = &self.s[n..];
                    place
                }
                None => self.table.place(c),
            };
            if place != IMPLICIT {
                self.pending = self.table.own(place, self.level);
                continue;
            }
            let ([first, second], n) = self.table.implicit(c, self.level);
            if n == 2 {
                self.second = second;
            }
            return Some(first);
        }
    }
}

/// Compares the weights of one level. `pad`: the weight of a space, if the shorter text goes on with spaces.
fn compare_level(
    mut x: impl Iterator<Item = u16>,
    mut y: impl Iterator<Item = u16>,
    pad: Option<u16>,
) -> Ordering {
    loop {
        let (v, w) = match (x.next(), y.next(), pad) {
            (None, None, _) => return Ordering::Equal,
            (Some(v), Some(w), _) => (v, w),
            (Some(v), None, Some(space)) => (v, space),
            (None, Some(w), Some(space)) => (space, w),
            (Some(_), None, None) => return Ordering::Greater,
            (None, Some(_), None) => return Ordering::Less,
        };
        if v != w {
            return v.cmp(&w);
        }
    }
}

impl Uca {
    fn table(self) -> &'static Table {
        table(self.table)
    }

    /// Version of the table: 0 for 4.0.0, 1 for 5.2.0, 2 for 14.0.0.
    pub(super) const fn version(self) -> u8 {
        // Myanmar is the one old language with 5.2.0.
        const MYANMAR: u8 = (BASES + OLD.len() - 1) as u8;
        const NEW_FROM: u8 = (BASES + OLD.len()) as u8;
        const THAI: u8 = (TABLES - 1) as u8;
        match self.table {
            0 => 0,
            1 | 3 | MYANMAR | THAI => 1,
            2 | NEW_FROM.. => 2,
            _ => 0,
        }
    }

    fn weights(self, s: &[u8], level: u8) -> Weights<'_> {
        Weights {
            s,
            table: self.table(),
            level: usize::from(level),
            pending: &[],
            second: 0,
        }
    }

    pub(super) fn compare(self, a: &[u8], b: &[u8], pad: bool) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        for level in self.levels {
            let pad = pad || *level > 0;
            let space = self.table().space[usize::from(*level)];
            let (x, y) = (self.weights(a, *level), self.weights(b, *level));
            let pad = pad.then_some(space);
            let order = if both_long(a, b) {
                compare_level(Watched::new(x), Watched::new(y), pad)
            } else {
                compare_level(x, y, pad)
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    pub(super) fn several_levels(self) -> bool {
        self.levels.len() > 1
    }

    /// The weights of each level, big-endian; with `n` so many of each (see [`super::Collation::weight_levels`]).
    pub(super) fn weight_levels(self, s: &[u8], n: Option<usize>, pad: bool) -> Vec<Vec<u8>> {
        let one = |level: &u8| {
            let mut out: Vec<u8> = self
                .weights(s, *level)
                .take(n.unwrap_or(usize::MAX))
                .flat_map(u16::to_be_bytes)
                .collect();
            let [high, low] = self.table().space[usize::from(*level)].to_be_bytes();
            // Of what NO PAD fills the first level with, MariaDB writes the first byte only.
            let space = [high, if pad || *level > 0 { low } else { 0 }];
            while n.is_some_and(|n| out.len() < 2 * n) {
                out.extend_from_slice(&space);
            }
            out
        };
        self.levels.iter().map(one).collect()
    }

    /// Two characters have the same weights of their own, each alone.
    pub(super) fn chars_equal(self, a: u32, b: u32) -> bool {
        let t = self.table();
        let (p, q) = (t.place(a), t.place(b));
        p != IMPLICIT
            && q != IMPLICIT
            && self.levels.iter().all(|l| {
                let l = usize::from(*l);
                t.own(p, l) == t.own(q, l)
            })
    }

    pub(super) fn sort_key(self, s: &[u8], pad: bool, out: &mut Vec<u8>) {
        for level in self.levels {
            let weights = self.weights(s, *level);
            if !pad && *level == 0 {
                for w in weights {
                    out.extend_from_slice(&w.to_be_bytes());
                }
                out.extend_from_slice(&[0, 0]);
                continue;
            }
            let space = self.table().space[usize::from(*level)];
            let (less, end, more) = (space, space + 1, space + 2);
            let mut spaces = 0;
            for w in weights {
                if w == space {
                    spaces += 1;
                    continue;
                }
                let symbol = if w < space { less } else { more };
                for _ in 0..std::mem::take(&mut spaces) {
                    out.extend_from_slice(&symbol.to_be_bytes());
                }
                match w {
                    w if w < space => out.extend_from_slice(&w.to_be_bytes()),
                    0xfffd.. => out.extend_from_slice(&[0xff, 0xff, (w >> 8) as u8, w as u8]),
                    w => out.extend_from_slice(&(w + 2).to_be_bytes()),
                }
            }
            out.extend_from_slice(&end.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a over the weights of all characters, level after level, as WEIGHT_STRING() of MariaDB 10.11.19 gave them, big-endian.
    #[test]
    fn all_weights_are_those_of_mariadb() {
        for (version, level, want) in [
            (Version::V400, 0, HASHES[0]),
            (Version::V520, 0, HASHES[1]),
            (Version::V1400, 0, HASHES[2]),
            (Version::V1400, 1, HASHES[3]),
            (Version::V1400, 2, HASHES[4]),
        ] {
            let uca = Uca {
                table: version as u8,
                levels: &[0],
            };
            let mut h = 0xcbf2_9ce4_8422_2325u64;
            let mut buf = [0; 4];
            for c in (0..=0x10_ffff).filter_map(char::from_u32) {
                for w in uca.weights(c.encode_utf8(&mut buf).as_bytes(), level) {
                    for b in w.to_be_bytes() {
                        h = (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
                    }
                }
            }
            assert_eq!(h, want, "{version:?} {level}");
        }
    }

    const HASHES: [u64; 5] = [
        0xc1f1_f6a7_7464_308c,
        0xf7fb_0ad5_192e_fece,
        0x0a99_c23e_d265_0c55,
        0xf664_61fe_b7e7_89b9,
        0xe319_ef3a_cb44_3e79,
    ];
}
