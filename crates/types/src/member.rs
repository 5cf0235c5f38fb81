//! Values of ENUM and SET columns, and the lists they are chosen from.
//!
//! [`ColumnType`](crate::ColumnType) is copied freely, so a list is kept once for the whole process and never freed: a type holds
//! a reference to it. Columns with the same members share one list.

use crate::Collation;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The members of an ENUM or SET in their order, without trailing spaces.
#[derive(Clone, Copy)]
pub struct Members(&'static [Box<str>]);

impl Members {
    /// The list with these members.
    pub fn new(list: Vec<String>) -> Self {
        static LISTS: OnceLock<Mutex<HashSet<&'static [Box<str>]>>> = OnceLock::new();
        let list: Box<[Box<str>]> = list.into_iter().map(String::into_boxed_str).collect();
        let mut lists = LISTS
            .get_or_init(Mutex::default)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lists.get(&*list) {
            return Members(known);
        }
        let kept: &'static [Box<str>] = Box::leak(list);
        lists.insert(kept);
        Members(kept)
    }

    /// The members in order.
    pub fn list(self) -> &'static [Box<str>] {
        self.0
    }

    /// Number of members.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// True without members (no column has such a type).
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of an ENUM value: its number.
    pub fn enum_bytes(self) -> u8 {
        if self.len() < 256 { 1 } else { 2 }
    }

    /// Bytes of a SET value: one bit per member; 1, 2, 3, 4 or 8.
    pub fn set_bytes(self) -> u8 {
        match self.len().div_ceil(8) {
            n @ 0..=4 => n.max(1) as u8,
            _ => 8,
        }
    }

    /// All bits of a SET.
    pub fn set_mask(self) -> u64 {
        match self.len() {
            n @ 0..64 => (1 << n) - 1,
            _ => u64::MAX,
        }
    }

    /// Characters of the longest ENUM member.
    pub fn enum_chars(self) -> usize {
        self.0.iter().map(|m| m.chars().count()).max().unwrap_or(0)
    }

    /// Characters of a SET value with all members.
    pub fn set_chars(self) -> usize {
        let commas = self.len().saturating_sub(1);
        self.0.iter().map(|m| m.chars().count()).sum::<usize>() + commas
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        // Equal lists are one list.
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Members {}

impl Hash for Members {
    fn hash<H: Hasher>(&self, h: &mut H) {
        std::ptr::hash(self.0.as_ptr(), h);
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(d).map(Members::new)
    }
}

/// A value of an ENUM or SET: a number that has a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// ENUM: the member's place, from 1; 0 is the empty text that stands for an invalid value. SET: bit n for member n.
    pub number: u64,
    /// It is of a SET.
    pub set: bool,
    /// What it is chosen from.
    pub of: Members,
}

impl Member {
    /// A value of an ENUM; `None` if there is no such member.
    pub fn of_enum(of: Members, number: u64) -> Option<Self> {
        (number <= of.len() as u64).then_some(Member {
            number,
            set: false,
            of,
        })
    }

    /// A value of a SET; `None` if it has bits without members.
    pub fn of_set(of: Members, number: u64) -> Option<Self> {
        (number & !of.set_mask() == 0).then_some(Member {
            number,
            set: true,
            of,
        })
    }

    /// Appends the text.
    pub fn write(&self, out: &mut Vec<u8>) {
        if !self.set {
            if let Some(m) = (self.number as usize)
                .checked_sub(1)
                .and_then(|i| self.of.list().get(i))
            {
                out.extend_from_slice(m.as_bytes());
            }
            return;
        }
        let start = out.len();
        for (i, m) in self.of.list().iter().enumerate() {
            if self.number >> i & 1 == 1 {
                if out.len() > start || self.number & ((1 << i) - 1) != 0 {
                    out.push(b',');
                }
                out.extend_from_slice(m.as_bytes());
            }
        }
    }

    /// The member of an ENUM that this text names, or all members of a SET that it lists with commas; and whether something in
    /// it is no member. Spaces at the end of a member don't count.
    pub fn parse(of: Members, set: bool, text: &[u8], collation: Collation) -> (Self, bool) {
        // Bytes keep their spaces.
        let bytes = collation == Collation::Binary;
        let place = |t: &[u8]| {
            let t = if bytes { t } else { trim(t) };
            of.list()
                .iter()
                .position(|m| collation.equal(m.as_bytes(), t))
        };
        if !set {
            let n = place(text).map_or(0, |i| i as u64 + 1);
            let value = Member { number: n, set, of };
            return (value, n == 0);
        }
        let mut value = Member { number: 0, set, of };
        let mut unknown = false;
        let text = if bytes { text } else { trim(text) };
        if !text.is_empty() {
            for part in text.split(|b| *b == b',') {
                // Only the last may have had spaces behind it.
                match place(part).filter(|_| bytes || part.last() != Some(&b' ')) {
                    Some(i) => value.number |= 1 << i,
                    None => unknown = true,
                }
            }
        }
        (value, unknown)
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn trim(mut s: &[u8]) -> &[u8] {
    while let [head @ .., b' '] = s {
        s = head;
    }
    s
}

/// A value of a BIT column: a number that has the bytes of its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// The bits.
    pub value: u64,
    /// The column's width in bits, 1 to 64.
    pub width: u8,
}

impl Bits {
    /// Bytes of a value of so many bits.
    pub const fn bytes_of(width: u8) -> usize {
        width.div_ceil(8) as usize
    }

    /// Appends the value's bytes, the highest first.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.value.to_be_bytes()[8 - Self::bytes_of(self.width).min(8)..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(list: &[&str]) -> Members {
        Members::new(list.iter().map(|s| s.to_string()).collect())
    }

    #[test]
    fn equal_lists_are_one() {
        assert_eq!(members(&["a", "b"]), members(&["a", "b"]));
        assert_ne!(members(&["a", "b"]), members(&["b", "a"]));
        let json = serde_json::to_string(&members(&["x", "it's"])).unwrap();
        assert_eq!(json, r#"["x","it's"]"#);
        let back: Members = serde_json::from_str(&json).unwrap();
        assert_eq!(back, members(&["x", "it's"]));
    }

    #[test]
    fn texts() {
        let m = members(&["a", "", "c"]);
        let text = |v: Option<Member>| v.map(|v| v.text());
        assert_eq!(text(Member::of_enum(m, 3)), Some("c".into()));
        assert_eq!(text(Member::of_enum(m, 0)), Some("".into()));
        assert_eq!(text(Member::of_enum(m, 4)), None);
        assert_eq!(text(Member::of_set(m, 5)), Some("a,c".into()));
        assert_eq!(text(Member::of_set(m, 6)), Some(",c".into()));
        assert_eq!(text(Member::of_set(m, 8)), None);
        let mut b = Vec::new();
        Bits {
            value: 513,
            width: 10,
        }
        .write(&mut b);
        assert_eq!(b, [2, 1]);
    }

    #[test]
    fn widths() {
        let n = |n: usize| Members::new((0..n).map(|i| i.to_string()).collect());
        assert_eq!((n(255).enum_bytes(), n(256).enum_bytes()), (1, 2));
        let sets: Vec<u8> = [1, 8, 9, 24, 25, 32, 33, 64]
            .iter()
            .map(|i| n(*i).set_bytes())
            .collect();
        assert_eq!(sets, [1, 1, 2, 3, 4, 4, 8, 8]);
        assert_eq!(n(64).set_mask(), u64::MAX);
    }
}
