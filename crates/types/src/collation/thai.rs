//! `tis620_thai_ci`: a vowel that is written in front of its consonant counts behind it, and marks above letters count at the
//! end, the less the more letters stand in front of them. Learned from what MariaDB's WEIGHT_STRING() answers, with its way of
//! two marks of which one is lost.

use crate::charset::Charset;

/// Letters that take a vowel in front of them.
fn is_consonant(b: u8) -> bool {
    (0xa1..=0xce).contains(&b)
}

/// A mark's weight at the beginning of a text.
fn mark(b: u8) -> Option<u8> {
    Some(match b {
        0xec => 0xf9,
        0xe7..=0xeb => 0xfa + (b - 0xe7),
        _ => return None,
    })
}

/// The weights of a text: a byte for each character.
pub(super) fn weights(text: &[u8]) -> Vec<u8> {
    let mut s = Charset::Tis620.encode(text).into_owned();
    let Some(last) = s.len().checked_sub(1) else {
        return s;
    };
    // `end` comes nearer with each mark that has left.
    let (mut at, mut end, mut letters) = (0, s.len(), 0u8);
    while at < end {
        let b = s[at];
        if b < 0x80 {
            letters = letters.wrapping_add(1);
            s[at] = b.to_ascii_lowercase();
        } else if is_consonant(b) {
            letters = letters.wrapping_add(1);
        } else if (0xe0..=0xe4).contains(&b) && at + 1 < end && is_consonant(s[at + 1]) {
            s.swap(at, at + 1);
            at += 1;
        } else if let Some(w) = mark(b) {
            s.copy_within(at + 1..end, at);
            s[last] = w.wrapping_sub(letters.wrapping_mul(8));
            end -= 1;
            continue;
        }
        at += 1;
    }
    s
}
