//! What WEIGHT_STRING() shows: the weights that a collation compares a text by, level by level.

use super::chars::split_char;
use super::czech::Czech;
use super::list::Rule;
use super::{Collation, GeneralWeights, Weights, thai};
use crate::charset::{Charset, push_code_weight};

/// Which levels WEIGHT_STRING() shows, and how: a bit for each.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    /// Those that are shown.
    pub wanted: u32,
    /// Each bit of their bytes turned.
    pub turned: u32,
    /// Their bytes backwards.
    pub backwards: u32,
}

impl Levels {
    /// All of them, as they are.
    pub const ALL: Levels = Levels {
        wanted: u32::MAX,
        turned: 0,
        backwards: 0,
    };

    /// Of so many levels that there are: one that the collation does not have is its last one.
    fn among(self, count: usize) -> u32 {
        let last = count.saturating_sub(1);
        (0..6usize)
            .filter(|n| self.wanted >> n & 1 == 1)
            .fold(0u32, |w, n| w | 1 << n.min(last))
    }

    /// The bytes of the levels that are asked for.
    pub fn of(self, levels: Vec<Vec<u8>>) -> Vec<u8> {
        let wanted = self.among(levels.len());
        let mut out = Vec::new();
        for (n, mut level) in levels.into_iter().enumerate() {
            if wanted >> n & 1 == 0 {
                continue;
            }
            if self.turned >> n & 1 == 1 {
                level.iter_mut().for_each(|b| *b = !*b);
            }
            if self.backwards >> n & 1 == 1 {
                level.reverse();
            }
            out.append(&mut level);
        }
        out
    }
}

impl Collation {
    /// The weights of a string; with `n` exactly so many weights on each level: others are left out, and what is missing is a
    /// space's. `None` for [`Collation::Binary`], where the weights are the bytes.
    pub fn weight_string(self, s: &[u8], n: Option<usize>, levels: Levels) -> Option<Vec<u8>> {
        let one = match self.info().rule {
            _ if self == Collation::Binary => return None,
            Rule::Uca(u) => u.weight_levels(s, n, self.pads()),
            Rule::Czech(c) => return Some(c.weights(s, levels.among(c.levels()))),
            _ => vec![self.one_level(s, n)],
        };
        Some(levels.of(one))
    }

    /// The weights under a collation of one level.
    fn one_level(self, s: &[u8], n: Option<usize>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut seen = 0;
        self.each_weight(s, &mut |w| {
            if n.is_none_or(|n| seen < n) {
                out.extend_from_slice(w);
            }
            seen += 1;
        });
        let space = self.shown_space();
        for _ in seen..n.unwrap_or(0) {
            out.extend_from_slice(&space);
        }
        out
    }

    /// What a text is filled with: the weight of a space; zeros, as many as it has bytes, with NO PAD.
    fn shown_space(self) -> Vec<u8> {
        let mut space = Vec::new();
        if !self.charset().is_unicode() && self.pads() {
            // Whatever weight a space has there.
            return vec![b' '];
        }
        self.each_weight(b" ", &mut |w| space.extend_from_slice(w));
        if !self.pads() {
            space.fill(0);
        }
        space
    }

    /// What all of WEIGHT_STRING() is filled with up to a number of bytes.
    pub fn weight_filling(self) -> Vec<u8> {
        match self.info().rule {
            _ if !self.pads() => vec![0],
            Rule::Czech(Czech::Latin2) => vec![b' '],
            Rule::Czech(Czech::Cp1250) => vec![0],
            Rule::Uca(u) if u.several_levels() => vec![0],
            Rule::Uca(u) => u.weight_levels(b" ", None, true).concat(),
            _ if self == Collation::Binary => vec![b' '],
            _ => self.shown_space(),
        }
    }

    /// The bytes of each weight of a string, one after the other.
    fn each_weight(self, s: &[u8], take: &mut dyn FnMut(&[u8])) {
        let charset = self.charset();
        match self.info().rule {
            Rule::Bytes => each_code(s, charset, take),
            Rule::General => GeneralWeights { s }.for_each(|w| take(&w.to_be_bytes())),
            Rule::Table(weights) => {
                let (weights, mut rest) = (weights(), s);
                let mut code = Vec::with_capacity(3);
                while !rest.is_empty() {
                    let (cp, n) = split_char(rest);
                    rest = &rest[n..];
                    for w in weights.shown(cp) {
                        code.clear();
                        push_code_weight(w, charset.max_width(), &mut code);
                        take(&code);
                    }
                }
            }
            Rule::Thai => thai::weights(s).iter().for_each(|w| take(&[*w])),
            rule => Weights::new(s, rule).for_each(|w| match w {
                0..0x100 if !charset.is_unicode() => take(&[w as u8]),
                _ => take(&w.to_be_bytes()),
            }),
        }
    }
}

/// The code of each character: of Unicode in two or three bytes, as many as the largest of the set needs, or the set's own.
fn each_code(s: &[u8], charset: Charset, take: &mut dyn FnMut(&[u8])) {
    let two = matches!(charset, Charset::Utf8mb3 | Charset::Ucs2);
    let mut code = Vec::with_capacity(4);
    for c in String::from_utf8_lossy(s).chars() {
        let point = u32::from(c).to_be_bytes();
        match charset.is_unicode() {
            true => take(&point[if two { 2 } else { 1 }..]),
            false => {
                code.clear();
                charset.push_char(c, &mut code);
                take(&code);
            }
        }
    }
}
