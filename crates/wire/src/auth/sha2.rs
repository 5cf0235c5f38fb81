//! `caching_sha2_password`: the client sends SHA256(pw) XOR SHA256(SHA256(SHA256(pw)) + scramble); the server keeps the
//! inner SHA256(SHA256(pw)) of passwords it has seen.

use sha2::{Digest, Sha256};

/// Length of the client's answer on the fast path.
pub const ANSWER_LEN: usize = 32;

/// What the server says in its packet of more data: the fast path was taken.
pub const FAST_OK: u8 = 3;
/// What the server says instead: the password itself is needed.
pub const FULL_NEEDED: u8 = 4;
/// What the client then sends without TLS: it asks for the server's RSA key.
pub const WANT_KEY: u8 = 2;

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut h = Sha256::new();
    for p in parts {
        h.update(p);
    }
    h.finalize().into()
}

/// SHA256(SHA256(password)), which is what the server keeps.
pub fn digest(password: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[password])])
}

/// The client's answer to a scramble.
pub fn answer(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha256(&[password]);
    let mask = sha256(&[&sha256(&[&stage1]), scramble]);
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// True if `response` proves knowledge of the password behind `digest`.
pub fn verify(response: &[u8], scramble: &[u8], digest: &[u8; 32]) -> bool {
    if response.len() != ANSWER_LEN {
        return false;
    }
    let mask = sha256(&[digest, scramble]);
    let mut stage1 = [0u8; 32];
    for (s, (r, m)) in stage1.iter_mut().zip(response.iter().zip(mask)) {
        *s = r ^ m;
    }
    super::same(&sha256(&[&stage1]), digest)
}
