//! TLS: the server's configuration, and a self-signed certificate made at the first start.

use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
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

/// What the server shows and asks for in TLS.
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// Certificate chain and key in PEM; `None`: the self-signed ones.
    pub own: Option<(PathBuf, PathBuf)>,
    /// Certificates in PEM that sign clients' certificates. With them clients may show one, and one that is none of
    /// theirs is refused; nobody has to.
    pub ca: Option<PathBuf>,
    /// Revoked ones, in PEM.
    pub crl: Option<PathBuf>,
    /// TLS 1.2, TLS 1.3; both if neither is named.
    pub versions: Vec<&'static rustls::SupportedProtocolVersion>,
}

/// The protocol versions of `tls_version`'s value; the error is a name that is none of them.
///
/// # Errors
/// A version that is not offered.
pub fn versions(list: &str) -> Result<Vec<&'static rustls::SupportedProtocolVersion>, String> {
    list.split(',')
        .map(str::trim)
        .filter(|v| !v.is_empty())
        .map(|v| match v.to_ascii_lowercase().as_str() {
            "tlsv1.2" => Ok(&rustls::version::TLS12),
            "tlsv1.3" => Ok(&rustls::version::TLS13),
            _ => Err(v.to_owned()),
        })
        .collect()
}

/// A server's TLS with a certificate chain and key from PEM files.
///
/// # Errors
/// A file can't be read, or certificate and key are not usable together.
pub fn load(
    cert_path: &Path,
    key_path: &Path,
    files: &TlsFiles,
) -> io::Result<Arc<rustls::ServerConfig>> {
    let named = |path: &Path, e: &dyn std::fmt::Display| {
        io::Error::other(format!("{}: {e}", path.display()))
    };
    let certificates = |path: &Path| {
        CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|e| named(path, &e))
    };
    let certs = certificates(cert_path)?;
    let key = PrivateKeyDer::from_pem_file(key_path).map_err(|e| named(key_path, &e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider.clone());
    let builder = if files.versions.is_empty() {
        builder.with_safe_default_protocol_versions()
    } else {
        builder.with_protocol_versions(&files.versions)
    }
    .map_err(io::Error::other)?;
    let builder = match &files.ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let mut roots = rustls::RootCertStore::empty();
            for cert in certificates(ca)? {
                roots.add(cert).map_err(|e| named(ca, &e))?;
            }
            let mut verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            if let Some(crl) = &files.crl {
                let lists = CertificateRevocationListDer::pem_file_iter(crl)
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                    .map_err(|e| named(crl, &e))?;
                verifier = verifier
                    .with_crls(lists)
                    .only_check_end_entity_revocation()
                    .allow_unknown_revocation_status();
            }
            let verifier = verifier.allow_unauthenticated().build();
            builder.with_client_cert_verifier(verifier.map_err(|e| named(ca, &e))?)
        }
    };
    let config = builder
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
        let (cert, key) = (dir.path().join(CERT_FILE), dir.path().join(KEY_FILE));
        let mut files = TlsFiles::default();
        load(&cert, &key, &files).unwrap();
        assert!(load(&key, &cert, &files).is_err());
        files.ca = Some(key.clone());
        assert!(load(&cert, &key, &files).is_err(), "no certificate in it");
        files.ca = Some(cert.clone());
        files.versions = versions("TLSv1.3").unwrap();
        load(&cert, &key, &files).unwrap();
        assert_eq!(versions("TLSv1.2, TLSv1.1").unwrap_err(), "TLSv1.1");
    }
}
