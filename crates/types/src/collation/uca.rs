//! The Unicode Collation Algorithm with the default tables of Unicode 4.0.0, 5.2.0 and 14.0.0, as the collations `unicode_ci`,
//! `unicode_520_ci` and `uca1400_*` have it.
//!
//! A string is a list of weights for each level: letters, then accents, then case. A character may have no weight, several, or
//! with its neighbours others than alone. Strings compare level by level; where one ends earlier, PAD SPACE goes on with the
//! weights of spaces, and so does NO PAD on all levels but the first. Tables: UTS #10; `data/uca.bin` is made by `scripts/uca_weights.py`, which describes it.
//!
//! In sort keys each weight has two bytes. Under PAD SPACE a space is one of two symbols and the end lies between them, as in
//! the other collations (see the module above).

use super::chars::{REPLACEMENT, split_char};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Read;
use std::sync::OnceLock;

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V400,
    V520,
    V1400,
}

/// A table and the levels that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uca {
    pub(super) version: Version,
    /// Levels from 0, in order.
    pub(super) levels: &'static [u8],
}

/// Where the lists of weights of a character or sequence begin.
type Place = u32;

/// Its weights follow from the character.
const IMPLICIT: Place = u32::MAX;

/// One version's weights.
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
    heads: Vec<u32>,
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
            heads: Vec::new(),
            ascii: Vec::new(),
            space: Vec::new(),
        };
        for _ in 0..b.number(4) {
            let c = b.number(3);
            let place = t.take_lists(b);
            let Some(page) = t.pages.get_mut((c >> 8) as usize) else {
                continue;
            };
            if *page == 0 {
                *page = t.blocks.len() as u16;
                t.blocks.push([IMPLICIT; 256]);
            }
            t.blocks[usize::from(*page)][(c & 0xff) as usize] = place;
        }
        for _ in 0..b.number(4) {
            let n = b.number(1);
            let mut s = [0; 3];
            for c in s.iter_mut().take(n as usize) {
                *c = b.number(3);
            }
            let place = t.take_lists(b);
            t.heads.push(s[0]);
            t.sequences.insert(s, place);
        }
        t.heads.sort_unstable();
        t.heads.dedup();
        for level in 0..levels {
            let one = |c| match t.own(t.place(c), level) {
                [w] => *w,
                _ => 0,
            };
            let ascii: [u16; 128] = std::array::from_fn(|c| one(c as u32));
            t.space.push(ascii[0x20]);
            t.ascii.push(ascii);
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
            1 => ([0x20, 0], 1),
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

    /// The longest sequence with weights of its own that a string begins with, after its first character: its place and the bytes
    /// behind that character.
    fn sequence(&self, head: u32, rest: &[u8]) -> Option<(Place, usize)> {
        if rest.first().is_none_or(u8::is_ascii) || self.heads.binary_search(&head).is_err() {
            return None;
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

fn tables() -> &'static [Table; 3] {
    static TABLES: OnceLock<[Table; 3]> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut data = Vec::new();
        let packed: &[u8] = include_bytes!("../../data/uca.bin");
        // A part of the program: the test reads all of it.
        let _ = flate2::read::ZlibDecoder::new(packed).read_to_end(&mut data);
        let mut b = Bytes(&data);
        [
            Table::read(&mut b, Version::V400, 1),
            Table::read(&mut b, Version::V520, 1),
            Table::read(&mut b, Version::V1400, 3),
        ]
    })
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
                // No sequence has ASCII behind its first character.
                [a @ 0..=0x7f] | [a @ 0..=0x7f, 0..=0x7f, ..] => {
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

impl Uca {
    fn table(self) -> &'static Table {
        &tables()[self.version as usize]
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
            let (mut x, mut y) = (self.weights(a, *level), self.weights(b, *level));
            loop {
                let (v, w) = match (x.next(), y.next()) {
                    (None, None) => break,
                    (Some(v), Some(w)) => (v, w),
                    (Some(v), None) if pad => (v, space),
                    (None, Some(w)) if pad => (space, w),
                    (v, _) => {
                        return if v.is_some() {
                            Ordering::Greater
                        } else {
                            Ordering::Less
                        };
                    }
                };
                if v != w {
                    return v.cmp(&w);
                }
            }
        }
        Ordering::Equal
    }

    pub(super) fn weight_string(self, s: &[u8], out: &mut Vec<u8>) {
        for level in self.levels {
            out.extend(self.weights(s, *level).flat_map(u16::to_be_bytes));
        }
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
                version,
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
