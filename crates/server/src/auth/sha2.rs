//! `caching_sha2_password`: a fast path by a cached digest, a full path by the password itself over a safe channel.
//!
//! How passwords are stored is the backend's business ([`crate::Backend::verify_password`]).

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Length of the client's answer on the fast path.
pub const ANSWER_LEN: usize = 32;
const CACHE_ENTRIES: usize = 4096;

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut h = Sha256::new();
    for p in parts {
        h.update(p);
    }
    h.finalize().into()
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

/// User, host pattern, stored form.
type Key = (String, String, Vec<u8>);

/// Digests of passwords that have passed the full path. In memory only, so every account takes the full path once
/// after a start. The stored form is part of the key: a changed password forgets the old one.
#[derive(Debug, Default)]
pub struct Cache {
    digests: Mutex<HashMap<Key, [u8; 32]>>,
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
