//! UUID, INET4 and INET6: values of a fixed number of bytes that have a text.
//!
//! In rows and in the log they are byte strings of that length, as MariaDB 10.11 writes them. INET4 and INET6 sort by their bytes.
//! UUIDs of versions 1 to 5 sort as if their fields stood in the reverse order, so that those of one host come in the order of
//! their time; all others by their bytes.

use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Which type of fixed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum FixedKind {
    Uuid,
    Inet4,
    Inet6,
}

impl FixedKind {
    /// The type's name, lower case.
    pub fn name(self) -> &'static str {
        match self {
            FixedKind::Uuid => "uuid",
            FixedKind::Inet4 => "inet4",
            FixedKind::Inet6 => "inet6",
        }
    }

    /// Bytes of a value.
    pub const fn bytes(self) -> usize {
        match self {
            FixedKind::Uuid | FixedKind::Inet6 => 16,
            FixedKind::Inet4 => 4,
        }
    }

    /// Characters of the longest text.
    pub const fn chars(self) -> u16 {
        match self {
            FixedKind::Uuid => 36,
            FixedKind::Inet4 => 15,
            FixedKind::Inet6 => 39,
        }
    }
}

/// A value of UUID, INET4 or INET6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// Its type.
    pub kind: FixedKind,
    /// The bytes; behind those of the type zeros.
    raw: [u8; 16],
}

impl Fixed {
    /// The value with all bytes zero: what NOT NULL columns get for want of another.
    pub const fn zero(kind: FixedKind) -> Self {
        Fixed { kind, raw: [0; 16] }
    }

    /// The value with these bytes; those missing at the end are zeros, as MariaDB's log leaves them out. `None` if there are too many.
    pub fn padded(kind: FixedKind, bytes: &[u8]) -> Option<Self> {
        let mut raw = [0; 16];
        if bytes.len() > kind.bytes() {
            return None;
        }
        raw[..bytes.len()].copy_from_slice(bytes);
        Some(Fixed { kind, raw })
    }

    /// A value from a byte string, which must have the type's length and be a value of it.
    pub fn from_bytes(kind: FixedKind, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != kind.bytes() {
            return None;
        }
        Self::padded(kind, bytes).filter(Self::is_valid)
    }

    /// MariaDB takes no UUIDs whose version has the highest bit set while their variant is one of those before RFC 4122.
    fn is_valid(&self) -> bool {
        self.kind != FixedKind::Uuid || self.raw[6] < 0x80 || !(1..=0x80).contains(&self.raw[8])
    }

    /// Reads a text. UUID: 32 hexadecimal digits, between which there may be dashes anywhere.
    pub fn parse(kind: FixedKind, text: &[u8]) -> Option<Self> {
        match kind {
            FixedKind::Uuid => parse_uuid(text).filter(Self::is_valid),
            FixedKind::Inet4 => {
                Self::padded(kind, &ipv4(std::str::from_utf8(text).ok()?)?.octets())
            }
            FixedKind::Inet6 => {
                Self::padded(kind, &ipv6(std::str::from_utf8(text).ok()?)?.octets())
            }
        }
    }

    /// The value's bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.raw[..self.kind.bytes()]
    }

    /// Bytes that sort as the values do.
    #[inline]
    pub fn sort_bytes(&self) -> [u8; 16] {
        let r = &self.raw;
        if self.kind != FixedKind::Uuid || r[8] < 0x80 || !(1..0x60).contains(&r[6]) {
            return *r;
        }
        [
            r[10], r[11], r[12], r[13], r[14], r[15], r[8], r[9], r[6], r[7], r[4], r[5], r[0],
            r[1], r[2], r[3],
        ]
    }

    /// True if a byte is not zero: what the value is in a condition.
    pub fn is_true(&self) -> bool {
        self.raw.iter().any(|b| *b != 0)
    }

    /// Appends the text.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self.kind {
            FixedKind::Uuid => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                for (i, b) in self.raw.iter().enumerate() {
                    if matches!(i, 4 | 6 | 8 | 10) {
                        out.push(b'-');
                    }
                    out.push(HEX[usize::from(b >> 4)]);
                    out.push(HEX[usize::from(b & 15)]);
                }
            }
            FixedKind::Inet4 => {
                let [a, b, c, d, ..] = self.raw;
                out.extend_from_slice(Ipv4Addr::new(a, b, c, d).to_string().as_bytes());
            }
            FixedKind::Inet6 => {
                out.extend_from_slice(ipv6_text(Ipv6Addr::from(self.raw)).as_bytes());
            }
        }
    }
}

impl PartialOrd for Fixed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fixed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.kind as u8, self.sort_bytes()).cmp(&(other.kind as u8, other.sort_bytes()))
    }
}

fn parse_uuid(text: &[u8]) -> Option<Fixed> {
    let mut raw = [0u8; 16];
    let mut digits = 0;
    for (i, c) in text.iter().enumerate() {
        let d = match c {
            b'-' if digits > 0 && i + 1 < text.len() => continue,
            b'0'..=b'9' => c - b'0',
            b'a'..=b'f' => c - b'a' + 10,
            b'A'..=b'F' => c - b'A' + 10,
            _ => return None,
        };
        *raw.get_mut(digits / 2)? |= d << (4 * (1 - digits % 2));
        digits += 1;
    }
    (digits == 32).then_some(Fixed {
        kind: FixedKind::Uuid,
        raw,
    })
}

/// Four numbers of up to three digits; leading zeros are decimal too.
pub fn ipv4(s: &str) -> Option<Ipv4Addr> {
    let mut out = [0; 4];
    let mut parts = s.split('.');
    for b in &mut out {
        let p = parts.next()?;
        if !(1..=3).contains(&p.len()) || !p.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        *b = p.parse().ok()?;
    }
    parts.next().is_none().then_some(Ipv4Addr::from(out))
}

/// Rust's parser is MariaDB's, but for zones, which neither takes, and groups of IPv4 at the end, which both take.
pub fn ipv6(s: &str) -> Option<Ipv6Addr> {
    s.parse().ok()
}

/// The longest run of zeros is `::`, be it a single one; an address that holds an IPv4 one shows it.
pub fn ipv6_text(a: Ipv6Addr) -> String {
    let s = a.segments();
    let v4 = || Ipv4Addr::new((s[6] >> 8) as u8, s[6] as u8, (s[7] >> 8) as u8, s[7] as u8);
    if s[..6].iter().all(|x| *x == 0) && s[6] != 0 {
        return format!("::{}", v4());
    }
    if s[..5] == [0; 5] && s[5] == 0xffff {
        return format!("::ffff:{}", v4());
    }
    let run = |i: usize| s[i..].iter().take_while(|x| **x == 0).count();
    let longest = (0..8).rev().max_by_key(|i| run(*i)).filter(|i| run(*i) > 0);
    let hex = |part: &[u16]| {
        let words: Vec<String> = part.iter().map(|x| format!("{x:x}")).collect();
        words.join(":")
    };
    match longest {
        Some(i) => format!("{}::{}", hex(&s[..i]), hex(&s[i + run(i)..])),
        None => hex(&s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(s: &str) -> Option<Fixed> {
        Fixed::parse(FixedKind::Uuid, s.as_bytes())
    }

    fn text(v: Fixed) -> String {
        let mut out = Vec::new();
        v.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn uuid_texts() {
        let want = "123e4567-e89b-12d3-a456-426655440000";
        for t in [
            want,
            "123E4567E89B12D3A456426655440000",
            "1-23e--4567e89b12d3a456426655440000",
        ] {
            assert_eq!(uuid(t).map(text).as_deref(), Some(want), "{t}");
        }
        for t in [
            "",
            "-123e4567e89b12d3a456426655440000",
            "123e4567e89b12d3a456426655440000-",
            "123e4567e89b12d3a45642665544000",
            "123e4567e89b12d3a4564266554400000",
            "{123e4567-e89b-12d3-a456-426655440000}",
            " 123e4567-e89b-12d3-a456-426655440000",
            "00000000-0000-9000-8000-000000000000",
        ] {
            assert_eq!(uuid(t), None, "{t}");
        }
        assert!(uuid("ffffffff-ffff-ffff-ffff-ffffffffffff").is_some());
        assert!(uuid("00000000-0000-9000-0000-000000000000").is_some());
    }

    /// The order that MariaDB 10.11.19 gave.
    #[test]
    fn uuid_order() {
        let sorted = [
            "00000000-0000-0000-0000-000000000000",
            "00000000-0001-1000-8000-000000000000",
            "00000000-0000-0278-803a-000000000000",
            "00000001-0000-1000-8000-000000000001",
            "00000002-0000-4000-8000-000000000001",
            "00000000-0002-4000-8000-000000000001",
            "00000000-0002-6000-8000-000000000002",
            "00000000-0002-7000-8000-000000000001",
            "00000003-0000-1000-0000-000000000001",
            "10000000-0002-7000-8000-000000000001",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ]
        .map(|t| uuid(t).unwrap());
        let mut other = sorted;
        other.reverse();
        other.sort();
        // The two whose node is 0 by clock, then time.
        assert_eq!(
            other.map(text)[0..3],
            [0, 1, 2].map(|i| text(sorted[i])),
            "{:?}",
            other.map(text)
        );
        assert_eq!(other[3..], sorted[3..]);
    }

    #[test]
    fn addresses() {
        let four = |s: &str| Fixed::parse(FixedKind::Inet4, s.as_bytes()).map(text);
        let six = |s: &str| Fixed::parse(FixedKind::Inet6, s.as_bytes()).map(text);
        assert_eq!(four("001.2.3.4").as_deref(), Some("1.2.3.4"));
        assert_eq!(four("1.2.3.256"), None);
        assert_eq!(six("1:0:0:2:0:0:0:3").as_deref(), Some("1:0:0:2::3"));
        assert_eq!(six("::2:3").as_deref(), Some("::0.2.0.3"));
        assert_eq!(six("1.2.3.4"), None);
        assert!(Fixed::from_bytes(FixedKind::Inet4, &[1, 2, 3]).is_none());
        let short = Fixed::padded(FixedKind::Inet6, &[0xab]).unwrap();
        assert_eq!((text(short), short.bytes().len()), ("ab00::".into(), 16));
    }
}
