//! Authentication: which account, which method, and whether the proof holds.

pub mod rsa_key;
pub mod sha2;

use narwal_types::SqlError;
use narwal_types::errors;
pub use narwal_wire::auth::{NATIVE, OLD, SCRAMBLE_LEN, SHA2, native};
use rand::TryRngCore;

/// A new challenge: 20 bytes without NUL, which ends it on the wire, and `$`, which MySQL leaves out too.
///
/// # Errors
/// The system gives no random numbers.
pub fn new_scramble() -> std::io::Result<[u8; SCRAMBLE_LEN]> {
    let mut s = [0u8; SCRAMBLE_LEN];
    rand::rngs::OsRng
        .try_fill_bytes(&mut s)
        .map_err(std::io::Error::other)?;
    for b in &mut s {
        *b &= 0x7F;
        if *b == 0 || *b == b'$' {
            *b += 1;
        }
    }
    Ok(s)
}

/// 1045, in MariaDB's words.
pub fn access_denied(user: &str, host: &str, using_password: bool) -> SqlError {
    errors::ACCESS_DENIED_ERROR.with([&user, &host, &(if using_password { "YES" } else { "NO" })])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambles_differ_and_can_be_sent() {
        let (a, b) = (new_scramble().unwrap(), new_scramble().unwrap());
        assert_ne!(a, b);
        for _ in 0..200 {
            let s = new_scramble().unwrap();
            assert!(s.iter().all(|&c| c != 0 && c != b'$' && c < 0x80));
        }
    }
}
