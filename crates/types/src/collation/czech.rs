//! `latin2_czech_cs` and `cp1250_czech_cs`: several levels, and `ch` is a letter. The weights are `data/czech.bin`, which
//! `scripts/czech_weights.py` makes and describes.
//!
//! By cp1250 all weights of the first level come first, then those of the second, with nothing between. By latin2 each word has
//! its first and its second level; then come the third and the fourth of the whole text. There the fourth alone knows marks of
//! punctuation and how many spaces stand together.

use super::chars::trim_spaces;
use crate::charset::Charset;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Czech {
    Latin2,
    Cp1250,
}

/// A space between words, the end of a level, the end of the last.
const WORD: u8 = 2;
const LEVEL: u8 = 1;
const END: u8 = 0;

static DATA: &[u8] = include_bytes!("../../data/czech.bin");

/// How the two weigh codes.
struct Table {
    levels: usize,
    /// Each code's weights on all levels; 0: none.
    codes: &'static [u8],
    /// Two codes that are one letter, with its weights.
    pairs: &'static [u8],
}

/// The table of so many levels that the data begins with, and what lies behind.
fn table_at(data: &'static [u8], levels: usize) -> (Table, &'static [u8]) {
    let (codes, rest) = data.split_at((256 * levels).min(data.len()));
    let (count, rest) = rest.split_first().unwrap_or((&0, &[]));
    let (pairs, rest) = rest.split_at((usize::from(*count) * (2 + levels)).min(rest.len()));
    let table = Table {
        levels,
        codes,
        pairs,
    };
    (table, rest)
}

impl Table {
    /// The weights of the letter that `s` begins with, and its codes; `s` is not empty.
    fn letter(&self, s: &[u8]) -> (&'static [u8], usize) {
        let pair = |p: &&'static [u8]| s.starts_with(&p[..2]);
        if let Some(p) = self.pairs.chunks_exact(2 + self.levels).find(pair) {
            return (&p[2..], 2);
        }
        let at = usize::from(s[0]) * self.levels;
        (self.codes.get(at..at + self.levels).unwrap_or(&[]), 1)
    }

    /// The letters' weights.
    fn letters<'a>(&'a self, mut s: &'a [u8]) -> impl Iterator<Item = &'static [u8]> + 'a {
        std::iter::from_fn(move || {
            s.first()?;
            let (weights, n) = self.letter(s);
            s = &s[n..];
            Some(weights)
        })
    }
}

impl Czech {
    fn charset(self) -> Charset {
        match self {
            Czech::Latin2 => Charset::Latin2,
            Czech::Cp1250 => Charset::Cp1250,
        }
    }

    fn table(self) -> Table {
        let (four, rest) = table_at(DATA, 4);
        match self {
            Czech::Latin2 => four,
            Czech::Cp1250 => table_at(rest, 2).0,
        }
    }

    /// The weights that WEIGHT_STRING() shows of some levels, a bit for each.
    pub(super) fn weights(self, text: &[u8], levels: u32) -> Vec<u8> {
        let bytes = self.charset().encode(text);
        let wanted = |level: usize| levels >> level & 1 == 1;
        match self {
            Czech::Latin2 => four_levels(&self.table(), &bytes, &wanted),
            Czech::Cp1250 => {
                let (table, mut out) = (self.table(), Vec::new());
                for level in (0..2).filter(|level| wanted(*level)) {
                    out.extend(table.letters(&bytes).filter_map(|w| w.get(level)));
                }
                out
            }
        }
    }

    /// The levels that there are.
    pub(super) fn levels(self) -> usize {
        match self {
            Czech::Latin2 => 4,
            Czech::Cp1250 => 2,
        }
    }

    /// Appends bytes that compare as texts do; none is the beginning of another.
    pub(super) fn sort_key(self, text: &[u8], out: &mut Vec<u8>) {
        out.extend(self.weights(trim_spaces(text), u32::MAX));
        if self == Czech::Cp1250 {
            out.push(END);
        }
    }
}

/// The weights of words and of the whole text under latin2_czech_cs.
fn four_levels(table: &Table, bytes: &[u8], wanted: &dyn Fn(usize) -> bool) -> Vec<u8> {
    let letters: Vec<&[u8]> = table.letters(bytes).collect();
    let is_space = |w: &&[u8]| w.first() == Some(&WORD);
    let end = letters.len() - letters.iter().rev().take_while(|w| is_space(w)).count();
    let letters = &letters[..end];
    let weights = |part: &[&[u8]], level: usize, out: &mut Vec<u8>| {
        out.extend(
            part.iter()
                .filter_map(|w| w.get(level))
                .filter(|w| **w != 0),
        );
    };
    let mut out = Vec::new();
    let mut rest = letters;
    loop {
        let word = rest.iter().take_while(|w| !is_space(w)).count();
        let last = word == rest.len();
        for level in (0..2).filter(|level| wanted(*level)) {
            weights(&rest[..word], level, &mut out);
            out.push(if last { LEVEL } else { WORD });
        }
        if last {
            break;
        }
        let spaces = rest[word..].iter().take_while(|w| is_space(w)).count();
        rest = &rest[word + spaces..];
    }
    if wanted(2) {
        for part in letters.chunk_by(|a, b| is_space(a) == is_space(b)) {
            let once = if is_space(&part[0]) { 1 } else { part.len() };
            weights(&part[..once], 2, &mut out);
        }
        out.push(LEVEL);
    }
    if wanted(3) {
        weights(letters, 3, &mut out);
        out.push(END);
    }
    out
}
