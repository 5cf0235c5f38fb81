//! MD5 (RFC 1321), for the function of that name. Not for security.

use narwal_types::work::Work;
use std::sync::LazyLock;

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The fractions of sines.
static SINES: LazyLock<[u32; 64]> = LazyLock::new(|| {
    std::array::from_fn(|i| (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32)
});

/// The digest of `data`; of its beginning if the statement is to end.
pub(super) fn digest(data: &[u8]) -> [u8; 16] {
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut tail = data[data.len() / 64 * 64..].to_vec();
    tail.push(0x80);
    while tail.len() % 64 != 56 {
        tail.push(0);
    }
    tail.extend_from_slice(&((data.len() as u64).wrapping_mul(8)).to_le_bytes());
    let sines = &*SINES;
    let mut work = Work::default();
    for block in data.chunks_exact(64).chain(tail.chunks_exact(64)) {
        if work.stops(64) {
            break;
        }
        let mut m = [0u32; 16];
        for (w, b) in m.iter_mut().zip(block.chunks_exact(4)) {
            *w = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64usize {
            let (f, g) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let x = a.wrapping_add(f).wrapping_add(sines[i]).wrapping_add(m[g]);
            (a, d, c, b) = (
                d,
                c,
                b,
                b.wrapping_add(x.rotate_left(SHIFTS[i / 16][i % 4])),
            );
        }
        for (s, v) in state.iter_mut().zip([a, b, c, d]) {
            *s = s.wrapping_add(v);
        }
    }
    let mut out = [0; 16];
    for (o, s) in out.chunks_exact_mut(4).zip(state) {
        o.copy_from_slice(&s.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn rfc_examples() {
        let hex = |s: &[u8]| -> String {
            super::digest(s)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect()
        };
        assert_eq!(hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            hex("1234567890".repeat(8).as_bytes()),
            "57edf4a22be3c955ac49da2e2107b67a"
        );
    }
}
