//! The page in front of every encrypted file.
//!
//! ```text
//! offset 0        8         12       16            20            24      40                 56        4096
//!        +--------+---------+--------+-------------+-------------+-------+------------------+---------+
//!        | magic  | version | cipher | data key id | page length | salt  | check            | zeros   |
//!        | 8      | u32 = 1 | u32=1  | u32         | u32 = 4096  | 16    | 16               |         |
//!        +--------+---------+--------+-------------+-------------+-------+------------------+---------+
//! ```
//!
//! - magic: `NARWALCR`. Cipher 1: AES-256-XTS over sectors of 512 bytes.
//! - salt: random, made with the file. The file's own key (64 bytes) is HMAC-SHA-512 of the data key over
//!   `narwal file key 1` and the salt, so no two files share a key and a sector number is all the tweak needs.
//! - check: the first 16 bytes of HMAC-SHA-256 of the data key over `narwal file head 1` and the 40 bytes before it. It
//!   tells a wrong key from the right one before any byte is decrypted.
//!
//! All that matters is in the first sector, so the page is there whole or not at all.

use crate::keyring::DataKeys;
use crate::xts::{SECTOR, Xts, is_zero};
use ring::hmac;
use std::io;
use zeroize::Zeroizing;

/// Bytes in front of a file's content.
pub const HEAD_LEN: u64 = 4096;
/// What every encrypted file begins with.
pub const MAGIC: &[u8; 8] = b"NARWALCR";

const VERSION: u32 = 1;
const CIPHER: u32 = 1;
const CHECK_AT: usize = 40;
const USED: usize = 56;

pub(crate) type Salt = [u8; 16];

/// What the page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub key_id: u32,
    pub salt: Salt,
}

/// What a file's first sector is.
#[derive(Debug)]
pub(crate) enum Head {
    /// Nothing was written to it yet.
    Missing,
    /// Something else than an encrypted file.
    Plain,
    Encrypted(Header),
}

fn bad(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

impl Header {
    /// The page, with the check made by the data key.
    pub fn encode(&self, key: &[u8; 32]) -> Vec<u8> {
        let mut p = vec![0u8; HEAD_LEN as usize];
        p[..8].copy_from_slice(MAGIC);
        p[8..12].copy_from_slice(&VERSION.to_le_bytes());
        p[12..16].copy_from_slice(&CIPHER.to_le_bytes());
        p[16..20].copy_from_slice(&self.key_id.to_le_bytes());
        p[20..24].copy_from_slice(&(HEAD_LEN as u32).to_le_bytes());
        p[24..40].copy_from_slice(&self.salt);
        let check = check(key, &p[..CHECK_AT]);
        p[CHECK_AT..USED].copy_from_slice(&check);
        p
    }

    /// Looks at the first sector (or less, if the file is shorter) of a file of `len` bytes.
    pub fn look(sector: &[u8], len: u64) -> io::Result<Head> {
        if is_zero(sector) {
            // The page is synced before anything is written behind it.
            return if len <= HEAD_LEN {
                Ok(Head::Missing)
            } else {
                Ok(Head::Plain)
            };
        }
        if sector.len() < USED || &sector[..8] != MAGIC {
            return Ok(Head::Plain);
        }
        let u32_at =
            |i: usize| u32::from_le_bytes([sector[i], sector[i + 1], sector[i + 2], sector[i + 3]]);
        if u32_at(8) != VERSION || u32_at(12) != CIPHER || u32_at(20) != HEAD_LEN as u32 {
            return Err(bad(format!(
                "encrypted in a way that this program does not know (version {}, cipher {})",
                u32_at(8),
                u32_at(12)
            )));
        }
        let mut salt = Salt::default();
        salt.copy_from_slice(&sector[24..40]);
        Ok(Head::Encrypted(Header {
            key_id: u32_at(16),
            salt,
        }))
    }

    /// The file's cipher; fails if the data key is not there or is not the one that made this page.
    pub fn cipher(&self, sector: &[u8], keys: &DataKeys) -> io::Result<Xts> {
        let key = keys.get(self.key_id).ok_or_else(|| {
            bad(format!(
                "encrypted with data key {}, which the keys file does not hold",
                self.key_id
            ))
        })?;
        if sector.get(CHECK_AT..USED) != Some(&check(key, &sector[..CHECK_AT])[..]) {
            return Err(bad(
                "the encryption header is damaged, or belongs to another data folder's keys",
            ));
        }
        Ok(file_cipher(key, &self.salt))
    }
}

fn check(key: &[u8; 32], head: &[u8]) -> [u8; USED - CHECK_AT] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    context.update(b"narwal file head 1");
    context.update(head);
    let mut out = [0; USED - CHECK_AT];
    out.copy_from_slice(&context.sign().as_ref()[..USED - CHECK_AT]);
    out
}

/// The cipher of a file with this salt.
pub(crate) fn file_cipher(key: &[u8; 32], salt: &Salt) -> Xts {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA512, key));
    context.update(b"narwal file key 1");
    context.update(salt);
    let mut derived = Zeroizing::new([0u8; 64]);
    derived.copy_from_slice(context.sign().as_ref());
    Xts::new(&derived)
}

/// Where the content's byte `offset`'s sector begins in the file.
pub(crate) fn physical(sector: u64) -> u64 {
    HEAD_LEN + sector * SECTOR as u64
}
