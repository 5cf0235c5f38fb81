//! What all rules do with single characters.

/// Weight of everything outside of the BMP, and of bytes that are not UTF-8.
pub(super) const REPLACEMENT: u16 = 0xfffd;

/// Weight of an ASCII byte.
#[inline]
pub(super) fn ascii_weight(b: u8) -> u8 {
    b.to_ascii_uppercase()
}

/// The first character of a string that is not empty, and its length in bytes; U+FFFD for a byte that is not UTF-8.
pub(super) fn split_char(s: &[u8]) -> (u32, usize) {
    let n = match s[0] {
        0..=0x7f => return (u32::from(s[0]), 1),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let c = s.get(..n).and_then(|c| std::str::from_utf8(c).ok());
    match c.and_then(|c| c.chars().next()) {
        Some(c) => (c as u32, n),
        None => (u32::from(REPLACEMENT), 1),
    }
}

/// Without the spaces at its end.
pub(super) fn trim_spaces(s: &[u8]) -> &[u8] {
    let n = s.iter().rev().take_while(|b| **b == b' ').count();
    &s[..s.len() - n]
}
