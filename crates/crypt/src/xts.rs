//! AES-256 in XTS mode (IEEE 1619) over sectors of 512 bytes.
//!
//! The blocks of a sector are handed to the cipher together, so that it can keep its pipeline full: one block at a time
//! is five times slower with AES instructions.

use aes::Aes256;
use aes::cipher::{Block, BlockDecrypt, BlockEncrypt, KeyInit};

/// Bytes that are encrypted as one unit, and that a disk writes as one piece: a torn write leaves whole sectors, each
/// of which decrypts by itself.
pub const SECTOR: usize = 512;
const BLOCK: usize = 16;
const BLOCKS: usize = SECTOR / BLOCK;

/// The cipher of one file.
pub(crate) struct Xts {
    data: Aes256,
    tweak: Aes256,
}

impl Xts {
    /// `key`: the key for the data, then the key for the tweaks.
    pub fn new(key: &[u8; 64]) -> Xts {
        let (data, tweak) = key.split_at(32);
        Xts {
            data: Aes256::new(data.into()),
            tweak: Aes256::new(tweak.into()),
        }
    }

    /// Encrypts whole sectors in place; the first has the number `first`. A sector of zeros stays one: space that was
    /// allocated ahead costs nothing and can be told from what was written.
    ///
    /// (A sector that is not zero would have to encrypt to 512 zeros to be taken for an empty one: one chance in
    /// 2^4096.)
    pub fn encrypt(&self, sectors: &mut [u8], first: u64) {
        for (sector, n) in sectors.chunks_exact_mut(SECTOR).zip(first..) {
            if !is_zero(sector) {
                self.sector(sector, n, |blocks| self.data.encrypt_blocks(blocks));
            }
        }
    }

    /// Reverses [`Xts::encrypt`].
    pub fn decrypt(&self, sectors: &mut [u8], first: u64) {
        for (sector, n) in sectors.chunks_exact_mut(SECTOR).zip(first..) {
            if !is_zero(sector) {
                self.sector(sector, n, |blocks| self.data.decrypt_blocks(blocks));
            }
        }
    }

    fn sector(&self, sector: &mut [u8], number: u64, cipher: impl FnOnce(&mut [Block<Aes256>])) {
        let mut first = Block::<Aes256>::from(u128::from(number).to_le_bytes());
        self.tweak.encrypt_block(&mut first);
        let mut tweak = u128::from_le_bytes(first.into());
        let mut tweaks = [0u128; BLOCKS];
        let mut blocks = [Block::<Aes256>::default(); BLOCKS];
        for ((block, bytes), t) in blocks
            .iter_mut()
            .zip(sector.chunks_exact(BLOCK))
            .zip(&mut tweaks)
        {
            *t = tweak;
            let mut b = [0; BLOCK];
            b.copy_from_slice(bytes);
            *block = (u128::from_le_bytes(b) ^ tweak).to_le_bytes().into();
            // Multiplication by x in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1.
            tweak = (tweak << 1) ^ ((tweak >> 127) * 0x87);
        }
        cipher(&mut blocks);
        for ((block, bytes), t) in blocks
            .into_iter()
            .zip(sector.chunks_exact_mut(BLOCK))
            .zip(tweaks)
        {
            let b: [u8; BLOCK] = block.into();
            bytes.copy_from_slice(&(u128::from_le_bytes(b) ^ t).to_le_bytes());
        }
    }
}

impl std::fmt::Debug for Xts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Xts")
    }
}

/// Whether all bytes are zero. The first few tell for almost every sector that is in use.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(64)
        .all(|c| c.iter().fold(0, |a, b| a | b) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::cipher::generic_array::GenericArray;
    use proptest::prelude::*;

    fn hex(s: &str) -> Vec<u8> {
        (0..s.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&s[i..i + 2], 16).unwrap())
            .collect()
    }

    /// IEEE 1619-2007, vector 10: AES-256, data unit 0xff, 512 bytes counting up twice.
    #[test]
    fn the_standards_vector() {
        let key = hex(
            "2718281828459045235360287471352662497757247093699959574966967627\
             3141592653589793238462643383279502884197169399375105820974944592",
        );
        let mut data: Vec<u8> = (0..512).map(|i| i as u8).collect();
        let plain = data.clone();
        let x = Xts::new(key.as_slice().try_into().unwrap());
        x.encrypt(&mut data, 0xff);
        assert_eq!(
            data[..32],
            hex("1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b")
        );
        x.decrypt(&mut data, 0xff);
        assert_eq!(data, plain);
    }

    #[test]
    fn zeros_stay_zeros_and_nothing_else_does() {
        let x = Xts::new(&[7; 64]);
        let mut s = vec![0u8; 3 * SECTOR];
        s[SECTOR + 100] = 1;
        x.encrypt(&mut s, 5);
        assert!(is_zero(&s[..SECTOR]) && is_zero(&s[2 * SECTOR..]));
        assert!(s[SECTOR..2 * SECTOR].iter().filter(|b| **b != 0).count() > 400);
        x.decrypt(&mut s, 5);
        assert_eq!(s.iter().map(|b| u32::from(*b)).sum::<u32>(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Against another implementation of the same mode.
        #[test]
        fn as_another_implementation(key in prop::array::uniform32(any::<u8>()), first in any::<u32>(), sectors in 1usize..5, seed in any::<u8>()) {
            let mut both = [0u8; 64];
            both[..32].copy_from_slice(&key);
            both[32..].copy_from_slice(&key.map(|b| b.wrapping_mul(3) ^ 0x5a));
            let mut ours: Vec<u8> = (0..sectors * SECTOR).map(|i| (i as u8).wrapping_mul(31) ^ seed).collect();
            let mut theirs = ours.clone();
            Xts::new(&both).encrypt(&mut ours, u64::from(first));
            let other = xts_mode::Xts128::new(
                Aes256::new(GenericArray::from_slice(&both[..32])),
                Aes256::new(GenericArray::from_slice(&both[32..])),
            );
            other.encrypt_area(&mut theirs, SECTOR, u128::from(first), xts_mode::get_tweak_default);
            prop_assert_eq!(&ours, &theirs);
        }
    }
}
