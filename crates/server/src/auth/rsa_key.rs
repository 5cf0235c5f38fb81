//! The RSA key pair with which a client without TLS sends its password on `caching_sha2_password`'s full path.

use crate::tls::write_private;
use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

/// File name of the private key in the data folder (MySQL's name for it).
pub const PRIVATE_FILE: &str = "private_key.pem";
const BITS: usize = 2048;

/// The key pair, read or made when a client first asks for it: making one takes up to a second or two.
#[derive(Debug)]
pub struct RsaKey {
    path: PathBuf,
    key: OnceLock<Result<(RsaPrivateKey, String), String>>,
}

impl RsaKey {
    /// The key pair in the folder `dir`.
    pub fn new(dir: &std::path::Path) -> Self {
        RsaKey {
            path: dir.join(PRIVATE_FILE),
            key: OnceLock::new(),
        }
    }

    fn get(&self) -> io::Result<&(RsaPrivateKey, String)> {
        self.key
            .get_or_init(|| {
                self.load()
                    .map_err(|e| format!("{}: {e}", self.path.display()))
            })
            .as_ref()
            .map_err(|e| io::Error::other(e.clone()))
    }

    fn load(&self) -> io::Result<(RsaPrivateKey, String)> {
        let private = match fs::read_to_string(&self.path) {
            Ok(pem) => RsaPrivateKey::from_pkcs8_pem(&pem).map_err(io::Error::other)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let private = RsaPrivateKey::new(&mut OsRng, BITS).map_err(io::Error::other)?;
                let pem = private
                    .to_pkcs8_pem(LineEnding::LF)
                    .map_err(io::Error::other)?;
                write_private(&self.path, pem.as_bytes())?;
                private
            }
            Err(e) => return Err(e),
        };
        let public = RsaPublicKey::from(&private)
            .to_public_key_pem(LineEnding::LF)
            .map_err(io::Error::other)?;
        Ok((private, public))
    }

    /// The public key in PEM.
    ///
    /// # Errors
    /// The key file can't be read or written.
    pub fn public_pem(&self) -> io::Result<&str> {
        self.get().map(|(_, pem)| pem.as_str())
    }

    /// Opens what a client encrypted: OAEP with SHA-1 over the password with its NUL, XOR the scramble. `None` if it is
    /// not that.
    pub fn open_password(&self, sealed: &[u8], scramble: &[u8]) -> Option<Vec<u8>> {
        let (private, _) = self.get().ok()?;
        let mut plain = private
            .decrypt_blinded(&mut OsRng, Oaep::new::<sha1::Sha1>(), sealed)
            .ok()?;
        for (p, s) in plain.iter_mut().zip(scramble.iter().cycle()) {
            *p ^= s;
        }
        (plain.pop() == Some(0)).then_some(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::pkcs8::DecodePublicKey;

    #[test]
    fn a_password_sealed_with_the_public_key_opens() {
        let dir = tempfile::tempdir().unwrap();
        let key = RsaKey::new(dir.path());
        let public = RsaPublicKey::from_public_key_pem(key.public_pem().unwrap()).unwrap();
        let scramble = [5u8; 20];
        let mut plain = b"secret\0".to_vec();
        plain.iter_mut().for_each(|b| *b ^= 5);
        let sealed = public
            .encrypt(&mut OsRng, Oaep::new::<sha1::Sha1>(), &plain)
            .unwrap();
        assert_eq!(key.open_password(&sealed, &scramble).unwrap(), b"secret");
        assert!(key.open_password(&sealed[1..], &scramble).is_none());
        let again = RsaKey::new(dir.path());
        assert_eq!(again.open_password(&sealed, &scramble).unwrap(), b"secret");
    }
}
