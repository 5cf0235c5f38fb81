//! `mysql_native_password`: the client sends SHA1(pw) XOR SHA1(scramble + SHA1(SHA1(pw))); the server keeps the inner
//! SHA1(SHA1(pw)).

use sha1::{Digest, Sha1};

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut h = Sha1::new();
    for p in parts {
        h.update(p);
    }
    h.finalize().into()
}

/// SHA1(SHA1(password)), which is what the server keeps.
pub fn stored(password: &[u8]) -> [u8; 20] {
    sha1(&[&sha1(&[password])])
}

/// The client's answer to a scramble.
pub fn answer(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let stage1 = sha1(&[password]);
    let mask = sha1(&[scramble, &sha1(&[&stage1])]);
    stage1.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// True if `response` proves knowledge of the password behind `stored` (`None`: the empty password).
pub fn verify(response: &[u8], scramble: &[u8], stored: Option<&[u8; 20]>) -> bool {
    let Some(stored) = stored else {
        return response.is_empty();
    };
    if response.len() != 20 {
        return false;
    }
    let mask = sha1(&[scramble, stored]);
    let mut stage1 = [0u8; 20];
    for (s, (r, m)) in stage1.iter_mut().zip(response.iter().zip(mask)) {
        *s = r ^ m;
    }
    super::same(&sha1(&[&stage1]), stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_passes() {
        let scramble = [7u8; 20];
        let kept = stored(b"secret");
        assert!(verify(
            &answer(b"secret", &scramble),
            &scramble,
            Some(&kept)
        ));
        assert!(!verify(
            &answer(b"Secret", &scramble),
            &scramble,
            Some(&kept)
        ));
        assert!(!verify(
            &answer(b"secret", &[8; 20]),
            &scramble,
            Some(&kept)
        ));
        assert!(!verify(b"", &scramble, Some(&kept)));
        assert!(verify(b"", &scramble, None));
        assert!(!verify(&answer(b"x", &scramble), &scramble, None));
    }

    #[test]
    fn the_stored_form_is_that_of_password() {
        // SELECT PASSWORD('secret') on MariaDB.
        let hex: String = stored(b"secret")
            .iter()
            .map(|b| format!("{b:02X}"))
            .collect();
        assert_eq!(hex, "14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
    }
}
