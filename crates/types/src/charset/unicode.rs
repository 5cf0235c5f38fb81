//! The forms of Unicode that are not UTF-8. A surrogate that stands alone, which ucs2 allows, is a private character (see
//! `table.rs`).

use super::table::{private, private_code};

/// Its code in these forms: a private character's own code is that of a lone surrogate.
pub(super) fn code_point(c: char) -> u32 {
    match private_code(c) {
        Some(code @ 0xd800..=0xdfff) => u32::from(code),
        _ => c as u32,
    }
}

/// A surrogate that stands alone: in UTF-16 none does.
pub(super) fn is_half(c: char) -> bool {
    (0xd800..=0xdfff).contains(&code_point(c))
}

pub(super) fn in_ucs2(c: char) -> bool {
    code_point(c) <= 0xffff
}

/// Appends a character in UTF-16, big-endian.
pub(super) fn push_utf16(c: char, out: &mut Vec<u8>) {
    match code_point(c) {
        code @ 0..=0xffff => out.extend_from_slice(&(code as u16).to_be_bytes()),
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(&unit.to_be_bytes());
            }
        }
    }
}

pub(super) fn first_ucs2(s: &[u8]) -> (Option<char>, usize) {
    let [a, b, ..] = *s else {
        return (None, s.len());
    };
    let code = u16::from_be_bytes([a, b]);
    let c = char::from_u32(u32::from(code)).unwrap_or_else(|| private(code));
    (Some(c), 2)
}

pub(super) fn first_utf16(s: &[u8], unit: fn([u8; 2]) -> u16) -> (Option<char>, usize) {
    let [a, b, ref rest @ ..] = *s else {
        return (None, 1);
    };
    let first = unit([a, b]);
    match char::from_u32(u32::from(first)) {
        Some(c) => (Some(c), 2),
        None => match *rest {
            [c, d, ..] => match char::decode_utf16([first, unit([c, d])]).next() {
                Some(Ok(c)) => (Some(c), 4),
                _ => (None, 1),
            },
            _ => (None, 1),
        },
    }
}

pub(super) fn first_utf32(s: &[u8]) -> (Option<char>, usize) {
    match *s {
        [0, 0, c @ 0xd8..=0xdf, d, ..] => (Some(private(u16::from_be_bytes([c, d]))), 4),
        [a, b, c, d, ..] => match char::from_u32(u32::from_be_bytes([a, b, c, d])) {
            Some(c) => (Some(c), 4),
            None => (None, 1),
        },
        _ => (None, 1),
    }
}

/// The first character of UTF-8 with at most so many bytes; each byte is a character if that is one.
pub(super) fn first_utf8(s: &[u8], max: usize) -> (Option<char>, usize) {
    let n = match s[0] {
        0..=0x7f => return (Some(char::from(s[0])), 1),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let c = s
        .get(..n)
        .filter(|_| n <= max)
        .and_then(|c| std::str::from_utf8(c).ok());
    match c.and_then(|c| c.chars().next()) {
        Some(c) => (Some(c), n),
        None => (None, 1),
    }
}
