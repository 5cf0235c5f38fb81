//! `caching_sha2_password`: a fast path by a cached digest, a full path by the password itself over a safe channel.
//!
//! How passwords are stored is the backend's business ([`crate::Backend::verify_password`]).

pub use narwal_wire::auth::sha2::{ANSWER_LEN, answer};
use narwal_wire::auth::sha2::{digest, verify};
use parking_lot::Mutex;
use std::collections::HashMap;

const CACHE_ENTRIES: usize = 4096;

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
        verify(response, scramble, &digest)
    }

    /// Remembers a password that has been verified.
    pub fn remember(&self, user: &str, host: &str, stored: &[u8], password: &[u8]) {
        let digest = digest(password);
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
