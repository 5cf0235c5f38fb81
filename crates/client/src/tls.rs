//! TLS: which servers a client trusts.

use crate::options::{Address, Options, TlsMode};
use crate::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::path::Path;
use std::sync::Arc;

/// Takes any certificate, or one of an authority whatever name it is made out to. That the server has the certificate's key
/// is checked in either case.
#[derive(Debug)]
struct NameIgnored {
    provider: Arc<CryptoProvider>,
    /// Whom to trust; `None`: anybody.
    authorities: Option<Arc<rustls::client::WebPkiServerVerifier>>,
}

impl ServerCertVerifier for NameIgnored {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError as C;
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(end, between, name, ocsp, now) {
            // The name is looked at last, when all the rest was found good.
            Err(rustls::Error::InvalidCertificate(
                C::NotValidForName | C::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn roots(path: &Path) -> Result<Arc<RootCertStore>> {
    let named = |e: &dyn std::fmt::Display| Error::Tls(format!("{}: {e}", path.display()));
    let mut roots = RootCertStore::empty();
    for cert in CertificateDer::pem_file_iter(path).map_err(|e| named(&e))? {
        roots
            .add(cert.map_err(|e| named(&e))?)
            .map_err(|e| named(&e))?;
    }
    if roots.is_empty() {
        return Err(named(&"holds no certificate"));
    }
    Ok(Arc::new(roots))
}

type Builder = rustls::ConfigBuilder<rustls::ClientConfig, rustls::client::WantsClientCert>;

/// Adds the client's own certificate, if it has one.
fn with_identity(builder: Builder, options: &Options) -> Result<Arc<rustls::ClientConfig>> {
    let Some((cert, key)) = &options.identity else {
        return Ok(Arc::new(builder.with_no_client_auth()));
    };
    let named =
        |path: &Path, e: &dyn std::fmt::Display| Error::Tls(format!("{}: {e}", path.display()));
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|e| named(cert, &e))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| named(key, &e))?;
    let config = builder.with_client_auth_cert(chain, secret);
    Ok(Arc::new(config.map_err(|e| named(cert, &e))?))
}

/// The configuration for a mode other than [`TlsMode::Disabled`].
pub(crate) fn config(options: &Options) -> Result<Arc<rustls::ClientConfig>> {
    let mode = &options.tls;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = |e: &dyn std::fmt::Display| Error::Tls(e.to_string());
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| tls(&e))?;
    let verifier = |path: &Path| {
        rustls::client::WebPkiServerVerifier::builder_with_provider(roots(path)?, provider.clone())
            .build()
            .map_err(|e| tls(&e))
    };
    let authorities = match mode {
        TlsMode::VerifyIdentity(path) => {
            return with_identity(builder.with_webpki_verifier(verifier(path)?), options);
        }
        TlsMode::VerifyCa(path) => Some(verifier(path)?),
        TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => None,
    };
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(NameIgnored {
            provider,
            authorities,
        }));
    with_identity(builder, options)
}

/// The name that a server's certificate should be made out to.
pub(crate) fn server_name(address: &Address) -> Result<ServerName<'static>> {
    let host = match address {
        Address::Tcp(host, _) => host.clone(),
        Address::Unix(_) => "localhost".to_owned(),
    };
    ServerName::try_from(host).map_err(|e| Error::Tls(e.to_string()))
}
