//! TLS: the server's configuration, and a self-signed certificate made at the first start.

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

/// File name of the server's certificate in the data folder.
pub const CERT_FILE: &str = "server-cert.pem";
/// File name of its private key.
pub const KEY_FILE: &str = "server-key.pem";

/// Writes a file that only its owner may read, in whole or not at all.
pub(crate) fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    let temp = path.with_extension("tmp");
    let _ = fs::remove_file(&temp);
    let mut f = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temp)?;
    f.write_all(contents)?;
    f.sync_all()?;
    fs::rename(&temp, path)
}

/// Makes `server-cert.pem` and `server-key.pem` in `dir` unless both are there. Replace them by your own if you like.
///
/// # Errors
/// The files can't be written.
pub fn ensure_certificate(dir: &Path) -> io::Result<()> {
    let (cert_path, key_path) = (dir.join(CERT_FILE), dir.join(KEY_FILE));
    if cert_path.exists() && key_path.exists() {
        return Ok(());
    }
    let mut params =
        rcgen::CertificateParams::new(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
    params.distinguished_name.push(
        rcgen::DnType::CommonName,
        "Narwal auto-generated server certificate",
    );
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2099, 12, 31);
    let key = rcgen::KeyPair::generate().map_err(io::Error::other)?;
    let cert = params.self_signed(&key).map_err(io::Error::other)?;
    write_private(&key_path, key.serialize_pem().as_bytes())?;
    write_private(&cert_path, cert.pem().as_bytes())?;
    tracing::info!(certificate = %cert_path.display(), "made a self-signed TLS certificate");
    Ok(())
}

/// TLS 1.2 and 1.3 with a certificate chain and key from PEM files.
///
/// # Errors
/// A file can't be read, or certificate and key are not usable together.
pub fn load(cert_path: &Path, key_path: &Path) -> io::Result<Arc<rustls::ServerConfig>> {
    let named = |path: &Path, e: &dyn std::fmt::Display| {
        io::Error::other(format!("{}: {e}", path.display()))
    };
    let certs = CertificateDer::pem_file_iter(cert_path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| named(cert_path, &e))?;
    let key = PrivateKeyDer::from_pem_file(key_path).map_err(|e| named(key_path, &e))?;
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(io::Error::other)?
    .with_no_client_auth()
    .with_single_cert(certs, key)
    .map_err(|e| named(cert_path, &e))?;
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_certificate_is_made_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        ensure_certificate(dir.path()).unwrap();
        let key = fs::read(dir.path().join(KEY_FILE)).unwrap();
        let mode = fs::metadata(dir.path().join(KEY_FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        ensure_certificate(dir.path()).unwrap();
        assert_eq!(fs::read(dir.path().join(KEY_FILE)).unwrap(), key);
        load(&dir.path().join(CERT_FILE), &dir.path().join(KEY_FILE)).unwrap();
        assert!(load(&dir.path().join(KEY_FILE), &dir.path().join(CERT_FILE)).is_err());
    }
}
