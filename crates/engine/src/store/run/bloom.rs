//! Bloom filters: 10 bits per key and 7 probes give about 1 % of false positives.
//!
//! The hash is part of the file format: it must not change with a library's version.

const BITS_PER_KEY: usize = 10;
const PROBES: u32 = 7;

/// A 64-bit hash of a key: eight bytes at a time, multiplied and folded.
pub(crate) fn hash(key: &[u8]) -> u64 {
    const M: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |h: u64, w: u64| {
        let wide = u128::from(h ^ w) * u128::from(M | 1);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let mut h = 0x2d35_8dcc_aa6c_78a5 ^ (key.len() as u64);
    let mut words = key.chunks_exact(8);
    for w in &mut words {
        let mut b = [0; 8];
        b.copy_from_slice(w);
        h = mix(h, u64::from_le_bytes(b))
            .rotate_left(23)
            .wrapping_add(M);
    }
    let mut b = [0; 8];
    b[..words.remainder().len()].copy_from_slice(words.remainder());
    h = mix(h, u64::from_le_bytes(b));
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    h ^ (h >> 32)
}

/// The filter of a set of hashes.
pub(crate) fn build(hashes: &[u64]) -> Vec<u8> {
    let mut filter = vec![0u8; (hashes.len() * BITS_PER_KEY).div_ceil(8).max(8)];
    let bits = filter.len() as u64 * 8;
    for &h in hashes {
        for bit in probes(h, bits) {
            filter[(bit / 8) as usize] |= 1 << (bit % 8);
        }
    }
    filter
}

/// False if the key is certainly not in the set.
pub(crate) fn may_contain(filter: &[u8], h: u64) -> bool {
    let bits = filter.len() as u64 * 8;
    bits == 0 || probes(h, bits).all(|bit| filter[(bit / 8) as usize] & (1 << (bit % 8)) != 0)
}

fn probes(h: u64, bits: u64) -> impl Iterator<Item = u64> {
    let step = (h >> 32) | 1;
    (0..PROBES).map(move |i| h.wrapping_add(step.wrapping_mul(u64::from(i)).rotate_left(i)) % bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_member_is_missed_and_few_others_hit() {
        let keys =
            |from: u32| (from..from + 500).map(|i| [&[0, 0, 0, 7][..], &i.to_be_bytes()].concat());
        let mut false_hits = 0;
        for group in 0..20 {
            let from = group * 1000;
            let filter = build(&keys(from).map(|k| hash(&k)).collect::<Vec<_>>());
            assert!(keys(from).all(|k| may_contain(&filter, hash(&k))));
            false_hits += keys(from + 500)
                .filter(|k| may_contain(&filter, hash(k)))
                .count();
        }
        assert!(false_hits < 300, "{false_hits} of 10000");
    }
}
