//! How passwords are stored: `mysql_native_password` and `caching_sha2_password`.

use sha1::{Digest, Sha1};
use sha2::Sha256;

/// The stored form of `mysql_native_password`: `*` and SHA1(SHA1(password)) in upper-case hexadecimal; empty for an
/// empty password.
pub fn native_hash(password: &str) -> String {
    if password.is_empty() {
        return String::new();
    }
    let twice = Sha1::digest(Sha1::digest(password.as_bytes()));
    let mut s = String::with_capacity(41);
    s.push('*');
    for b in twice {
        s.push_str(&format!("{b:02X}"));
    }
    s
}

/// The 20 bytes of a stored `mysql_native_password` hash; `None` if it is not of that form.
pub fn parse_native_hash(hash: &str) -> Option<[u8; 20]> {
    let hex = hash.strip_prefix('*')?;
    if hex.len() != 40 || !hex.is_ascii() {
        return None;
    }
    let mut out = [0u8; 20];
    for (i, b) in out.iter_mut().enumerate() {
        *b = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(out)
}

/// Whether a text may be stored as a hash of `mysql_native_password`: 40 hexadecimal digits behind a character, which is
/// a star in all that a server has made. Others let nobody in.
pub(crate) fn is_native_hash(hash: &str) -> bool {
    hash.len() == 41 && hash.is_ascii() && hash[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

/// Digits of a hash of `mysql_old_password`.
pub(crate) const OLD_HASH: usize = 16;

/// Rounds of what is stored here. MySQL 8 has as many, 9.7 twice that.
const SHA2_ROUNDS: u32 = 5000;
/// Bytes in front of the salt.
const SHA2_HEAD: usize = 7;
const SHA2_SALT: usize = 20;
const CRYPT64: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The stored form of `caching_sha2_password`: `$A$005$`, 20 characters of salt, 43 characters of SHA-256-crypt
/// digest; empty for an empty password.
pub fn sha2_hash(password: &str) -> String {
    if password.is_empty() {
        return String::new();
    }
    // Letters and digits only, so that the string survives statement texts and JSON.
    let salt: [u8; SHA2_SALT] = std::array::from_fn(|_| CRYPT64[rand::random_range(2..64)]);
    sha2_hash_with(password.as_bytes(), &salt)
}

fn sha2_hash_with(password: &[u8], salt: &[u8; SHA2_SALT]) -> String {
    format!(
        "$A$005${}{}",
        String::from_utf8_lossy(salt),
        sha256_crypt(password, salt, SHA2_ROUNDS)
    )
}

/// True if `hash` has the stored form of `caching_sha2_password`.
pub fn is_sha2_hash(hash: &str) -> bool {
    sha2_rounds(hash).is_some()
}

/// The rounds that a stored form says: three hexadecimal digits, in thousands, at least MySQL's 5. `None` if it is none.
fn sha2_rounds(hash: &str) -> Option<u32> {
    if hash.len() != SHA2_HEAD + SHA2_SALT + 43 {
        return None;
    }
    let (digits, _) = hash.strip_prefix("$A$")?.split_once('$')?;
    if digits.len() != 3 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let thousands = u32::from_str_radix(digits, 16).ok()?;
    (thousands >= 5).then_some(thousands * 1000)
}

/// True if the password is the one behind a stored `caching_sha2_password` string.
pub fn sha2_verify(password: &[u8], hash: &str) -> bool {
    if hash.is_empty() {
        return password.is_empty();
    }
    let Some(rounds) = sha2_rounds(hash) else {
        return false;
    };
    let (salt, stored) = hash.as_bytes()[SHA2_HEAD..].split_at(SHA2_SALT);
    let digest = sha256_crypt(password, salt, rounds);
    // Equal time whatever the first difference is.
    digest
        .as_bytes()
        .iter()
        .zip(stored)
        .fold(0u8, |acc, (a, b)| acc | (a ^ b))
        == 0
}

/// The digest part of Ulrich Drepper's SHA-256 crypt ("Unix crypt using SHA-256 and SHA-512", public domain
/// specification), with a salt of any length.
fn sha256_crypt(password: &[u8], salt: &[u8], rounds: u32) -> String {
    let mut h = Sha256::new();
    h.update(password);
    h.update(salt);
    h.update(password);
    let b = h.finalize();

    let mut h = Sha256::new();
    h.update(password);
    h.update(salt);
    let mut n = password.len();
    while n > 32 {
        h.update(b);
        n -= 32;
    }
    h.update(&b[..n]);
    let mut n = password.len();
    while n > 0 {
        if n & 1 == 1 {
            h.update(b);
        } else {
            h.update(password);
        }
        n >>= 1;
    }
    let mut a = h.finalize();

    let mut h = Sha256::new();
    for _ in 0..password.len() {
        h.update(password);
    }
    let p: Vec<u8> = h
        .finalize()
        .iter()
        .copied()
        .cycle()
        .take(password.len())
        .collect();

    let mut h = Sha256::new();
    for _ in 0..16 + a[0] as usize {
        h.update(salt);
    }
    let s: Vec<u8> = h
        .finalize()
        .iter()
        .copied()
        .cycle()
        .take(salt.len())
        .collect();

    for i in 0..rounds {
        let mut h = Sha256::new();
        if i & 1 == 1 {
            h.update(&p);
        } else {
            h.update(a);
        }
        if i % 3 != 0 {
            h.update(&s);
        }
        if i % 7 != 0 {
            h.update(&p);
        }
        if i & 1 == 1 {
            h.update(a);
        } else {
            h.update(&p);
        }
        a = h.finalize();
    }

    let mut out = String::with_capacity(43);
    let mut put = |b2: u8, b1: u8, b0: u8, n: usize| {
        let mut w = u32::from(b2) << 16 | u32::from(b1) << 8 | u32::from(b0);
        for _ in 0..n {
            out.push(CRYPT64[(w & 0x3f) as usize] as char);
            w >>= 6;
        }
    };
    for (x, y, z) in [
        (0, 10, 20),
        (21, 1, 11),
        (12, 22, 2),
        (3, 13, 23),
        (24, 4, 14),
        (15, 25, 5),
        (6, 16, 26),
        (27, 7, 17),
        (18, 28, 8),
        (9, 19, 29),
    ] {
        put(a[x], a[y], a[z], 4);
    }
    put(0, a[31], a[30], 3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_hash_as_mariadb_prints_it() {
        assert_eq!(
            native_hash("zz"),
            "*D7D6F58029EDE62070BA204436DE23AC54D8BD8A"
        );
        assert_eq!(native_hash(""), "");
        assert!(parse_native_hash("*D7D6F58029EDE62070BA204436DE23AC54D8BD8A").is_some());
        assert!(parse_native_hash("*D7D6").is_none());
        assert!(parse_native_hash("zz").is_none());
    }

    #[test]
    fn sha256_crypt_as_others_compute_it() {
        // As `openssl passwd -5 -salt saltstring` prints it.
        assert_eq!(
            sha256_crypt(b"Hello world!", b"saltstring", 5000),
            "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
        );
    }

    #[test]
    fn sha2_verifies_its_own_and_nothing_else() {
        let h = sha2_hash("geheim");
        assert!(is_sha2_hash(&h), "{h}");
        assert!(sha2_verify(b"geheim", &h));
        assert!(!sha2_verify(b"Geheim", &h));
        assert!(!sha2_verify(b"", &h));
        assert!(sha2_verify(b"", ""));
        assert_ne!(h, sha2_hash("geheim"), "salted");
    }

    #[test]
    fn rounds_are_what_the_hash_says() {
        // As MySQL 9.7 stored it for the password `secret`: 10,000 rounds.
        let h = r"$A$00A$\7ZQD.H*%]+H0c{|y>n~jeLs2oqamWykKEGlu056PPWdKgQLVMCZSD5i3R3kLK0";
        assert!(sha2_verify(b"secret", h));
        assert!(!sha2_verify(b"secret", &h.replace("00A", "005")));
        for wrong in ["004", "000", "00g", "0A", "+0A"] {
            assert!(!is_sha2_hash(&h.replace("00A", wrong)), "{wrong}");
        }
    }
}
