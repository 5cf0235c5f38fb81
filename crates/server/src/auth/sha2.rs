//! `caching_sha2_password`: a fast path by a cached digest, a full path by the password itself over a safe channel.
//!
//! The stored form is SHA-crypt (Ulrich Drepper, "Unix crypt using SHA-256 and SHA-512") with MySQL's wrapping:
//! `$A$` rounds/1000 in three hexadecimal digits `$`, 20 bytes of salt, 43 characters of digest.

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Length of the client's answer on the fast path.
pub const ANSWER_LEN: usize = 32;
const SALT_LEN: usize = 20;
const DIGEST_CHARS: usize = 43;
const CACHE_ENTRIES: usize = 4096;
/// Longest password that MySQL lets through this method.
const MAX_PASSWORD: usize = 256;

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut h = Sha256::new();
    for p in parts {
        h.update(p);
    }
    h.finalize().into()
}

/// SHA-crypt with SHA-256: the 43 characters of digest for a password, a salt and a number of rounds.
pub fn sha256_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; DIGEST_CHARS] {
    let b = sha256(&[password, salt, password]);
    let mut a = Sha256::new();
    a.update(password);
    a.update(salt);
    let mut left = password.len();
    while left > 0 {
        a.update(&b[..left.min(32)]);
        left -= left.min(32);
    }
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            a.update(b);
        } else {
            a.update(password);
        }
        bits >>= 1;
    }
    let mut digest: [u8; 32] = a.finalize().into();

    let mut dp = Sha256::new();
    for _ in 0..password.len() {
        dp.update(password);
    }
    let dp = dp.finalize();
    let p: Vec<u8> = dp.iter().copied().cycle().take(password.len()).collect();
    let mut ds = Sha256::new();
    for _ in 0..16 + usize::from(digest[0]) {
        ds.update(salt);
    }
    let ds = ds.finalize();
    let s: Vec<u8> = ds.iter().copied().cycle().take(salt.len()).collect();

    for round in 0..rounds {
        let mut c = Sha256::new();
        if round % 2 == 1 {
            c.update(&p);
        } else {
            c.update(digest);
        }
        if round % 3 != 0 {
            c.update(&s);
        }
        if round % 7 != 0 {
            c.update(&p);
        }
        if round % 2 == 1 {
            c.update(digest);
        } else {
            c.update(&p);
        }
        digest = c.finalize().into();
    }
    encode(&digest)
}

fn encode(d: &[u8; 32]) -> [u8; DIGEST_CHARS] {
    const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut out = [0u8; DIGEST_CHARS];
    let mut at = 0;
    let mut put = |b2: u8, b1: u8, b0: u8, n: usize| {
        let mut w = u32::from(b2) << 16 | u32::from(b1) << 8 | u32::from(b0);
        for _ in 0..n {
            out[at] = ALPHABET[(w & 63) as usize];
            at += 1;
            w >>= 6;
        }
    };
    let (mut i, mut j, mut k) = (0, 10, 20);
    for _ in 0..10 {
        put(d[i], d[j], d[k], 4);
        (i, j, k) = ((i + 21) % 30, (j + 21) % 30, (k + 21) % 30);
    }
    put(0, d[31], d[30], 3);
    out
}

/// The stored form of a password, with the given salt (20 bytes, without NUL and `$`).
pub fn stored(password: &[u8], salt: &[u8; SALT_LEN]) -> Vec<u8> {
    let mut out = b"$A$005$".to_vec();
    out.extend_from_slice(salt);
    out.extend_from_slice(&sha256_crypt(password, salt, 5000));
    out
}

/// True if `password` is the one behind `stored`.
pub fn verify_password(password: &[u8], stored: &[u8]) -> bool {
    if stored.is_empty() || password.is_empty() {
        return stored.is_empty() && password.is_empty();
    }
    let Some(rest) = stored.strip_prefix(b"$A$") else {
        return false;
    };
    if password.len() > MAX_PASSWORD || rest.len() != 4 + SALT_LEN + DIGEST_CHARS || rest[3] != b'$'
    {
        return false;
    }
    let Some(thousands) = std::str::from_utf8(&rest[..3])
        .ok()
        .and_then(|t| u32::from_str_radix(t, 16).ok())
    else {
        return false;
    };
    let (salt, digest) = rest[4..].split_at(SALT_LEN);
    super::same(&sha256_crypt(password, salt, thousands * 1000), digest)
}

/// The client's answer to a scramble: SHA256(pw) XOR SHA256(SHA256(SHA256(pw)) + scramble).
pub fn answer(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha256(&[password]);
    let mask = sha256(&[&sha256(&[&stage1]), scramble]);
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// Digests of passwords that have passed the full path. In memory only, so every account takes the full path once
/// after a start. The stored form is part of the key: a changed password forgets the old one.
#[derive(Debug, Default)]
pub struct Cache {
    digests: Mutex<HashMap<(String, String, Vec<u8>), [u8; 32]>>,
}

impl Cache {
    /// The fast path: true if the answer fits the cached digest of this account.
    pub fn verify(
        &self,
        user: &str,
        host: &str,
        stored: &[u8],
        response: &[u8],
        scramble: &[u8],
    ) -> bool {
        if response.len() != ANSWER_LEN {
            return false;
        }
        let key = (user.to_owned(), host.to_owned(), stored.to_vec());
        let Some(digest) = self.digests.lock().get(&key).copied() else {
            return false;
        };
        let mask = sha256(&[&digest, scramble]);
        let mut stage1 = [0u8; 32];
        for (s, (r, m)) in stage1.iter_mut().zip(response.iter().zip(mask)) {
            *s = r ^ m;
        }
        super::same(&sha256(&[&stage1]), &digest)
    }

    /// Remembers a password that has been verified.
    pub fn remember(&self, user: &str, host: &str, stored: &[u8], password: &[u8]) {
        let digest = sha256(&[&sha256(&[password])]);
        let mut digests = self.digests.lock();
        if digests.len() >= CACHE_ENTRIES {
            digests.clear();
        }
        digests.insert((user.to_owned(), host.to_owned(), stored.to_vec()), digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha_crypt_as_published() {
        // Test vectors of the SHA-crypt specification.
        // What `openssl passwd -5` prints; the first two are the specification's own cases.
        for (salt, password, rounds, want) in [
            (
                "saltstring",
                "Hello world!",
                5000,
                "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5",
            ),
            (
                "saltstringsaltst",
                "Hello world!",
                10000,
                "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA",
            ),
            (
                "anotherlongsalts",
                "hello world, longer than thirty-two characters to be sure",
                5000,
                "Y7W3tg2C3SS1tV2SNQpWZ6UD4wuiKzaNTt9Yx0Z76c8",
            ),
        ] {
            let got = sha256_crypt(password.as_bytes(), salt.as_bytes(), rounds);
            assert_eq!(std::str::from_utf8(&got).unwrap(), want);
        }
    }

    #[test]
    fn only_the_password_passes() {
        let kept = stored(b"secret", b"abcdefghijklmnopqrst");
        assert!(verify_password(b"secret", &kept));
        assert!(!verify_password(b"secret1", &kept));
        assert!(!verify_password(b"", &kept));
        assert!(verify_password(b"", b""));
        assert!(!verify_password(b"x", b""));
        assert!(!verify_password(b"secret", &kept[..kept.len() - 1]));
        assert!(!verify_password(b"secret", b"$A$zzz$abc"));
    }

    #[test]
    fn the_cache_knows_only_what_passed() {
        let cache = Cache::default();
        let scramble = [9u8; 20];
        let good = answer(b"secret", &scramble);
        assert!(!cache.verify("u", "%", b"h1", &good, &scramble));
        cache.remember("u", "%", b"h1", b"secret");
        assert!(cache.verify("u", "%", b"h1", &good, &scramble));
        assert!(!cache.verify("u", "%", b"h1", &answer(b"other", &scramble), &scramble));
        assert!(!cache.verify("u", "%", b"h1", &good, &[1; 20]));
        assert!(!cache.verify("u", "%", b"h2", &good, &scramble));
        assert!(!cache.verify("v", "%", b"h1", &good, &scramble));
    }
}
