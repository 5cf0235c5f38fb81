//! The greater part of most sort keys: runs of ASCII, 16 bytes at a time, which compilers turn into vector instructions.

use super::chars::ascii_weight;

/// Bytes of a piece.
pub(super) const AT_ONCE: usize = 16;

/// Appends the sort key, under PAD SPACE, of as much of the beginning of `s` as is plain: ASCII from the space on, in whole
/// pieces of 16 bytes that do not end with a space. Returns its length.
///
/// A space in such a piece, and one right in front of it, stands before something above the space; its symbol is what the
/// rule for other characters gives.
#[inline]
pub(super) fn padded(s: &[u8], out: &mut Vec<u8>) -> usize {
    append(
        s,
        out,
        |piece| plain(piece, b' ') && piece[AT_ONCE - 1] != b' ',
        |b| ascii_weight(b) + 2,
    )
}

/// As [`padded`], under NO PAD: any ASCII is plain.
#[inline]
pub(super) fn unpadded(s: &[u8], out: &mut Vec<u8>) -> usize {
    append(s, out, |piece| plain(piece, 0), |b| ascii_weight(b) + 1)
}

/// True if all bytes are ASCII of at least `least`. Looks at each of them: to stop early takes longer.
#[inline]
fn plain(piece: &[u8; AT_ONCE], least: u8) -> bool {
    (piece.iter()).fold(true, |all, b| all & (*b >= least) & (*b < 0x80))
}

#[inline]
fn append(
    s: &[u8],
    out: &mut Vec<u8>,
    plain: impl Fn(&[u8; AT_ONCE]) -> bool,
    symbol: impl Fn(u8) -> u8,
) -> usize {
    let (pieces, _) = s.as_chunks::<AT_ONCE>();
    let mut n = 0;
    for piece in pieces {
        if !plain(piece) {
            break;
        }
        out.extend_from_slice(&piece.map(&symbol));
        n += AT_ONCE;
    }
    n
}
