//! Authentication methods: what proves a password against a random challenge.

pub mod native;
pub mod sha2;

/// Length of the random challenge.
pub const SCRAMBLE_LEN: usize = 20;

/// Plugin names of the protocol.
pub const NATIVE: &str = "mysql_native_password";
/// See [`NATIVE`].
pub const SHA2: &str = "caching_sha2_password";
/// See [`NATIVE`]. Accounts may have it; nobody is let in by it.
pub const OLD: &str = "mysql_old_password";

/// Equal, in a time that does not depend on where they differ.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0u8, |acc, (x, y)| acc | (x ^ y)) == 0
}
