//! A client's certificate: what REQUIRE X509, ISSUER and SUBJECT ask of it, with names in OpenSSL's one-line form.

use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode, Reader, SliceReader, Tag, Tagged};
use std::fmt::Write;

/// What an account asks of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TlsRule {
    /// Nothing.
    #[default]
    None,
    /// TLS.
    Any,
    /// TLS with a certificate of the client's.
    Certificate,
    /// A certificate with these names, as far as they are not empty, and a cipher.
    Names {
        /// Of the certificate's issuer.
        issuer: String,
        /// Of its subject.
        subject: String,
        /// Name of the cipher.
        cipher: Option<String>,
    },
}

/// What a connection has to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsFacts {
    /// The cipher's name; `None` without TLS.
    pub cipher: Option<String>,
    /// Issuer and subject of the client's certificate, which has been verified.
    pub names: Option<(String, String)>,
}

impl TlsRule {
    /// Whether a connection is as the account wants it.
    pub(crate) fn is_met(&self, facts: &TlsFacts) -> bool {
        let Some(used) = &facts.cipher else {
            return *self == TlsRule::None;
        };
        match self {
            TlsRule::None | TlsRule::Any => true,
            TlsRule::Certificate => facts.names.is_some(),
            TlsRule::Names {
                issuer,
                subject,
                cipher,
            } => {
                let as_wanted = |wanted: &str, has: fn(&(String, String)) -> &str| {
                    wanted.is_empty() || facts.names.as_ref().is_some_and(|n| has(n) == wanted)
                };
                cipher.as_ref().is_none_or(|c| c == used)
                    && as_wanted(issuer, |n| &n.0)
                    && as_wanted(subject, |n| &n.1)
            }
        }
    }
}

/// Issuer and subject of a certificate; `None` if it can't be read.
pub(crate) fn names(certificate: &[u8]) -> Option<(String, String)> {
    let parts = parts(AnyRef::from_der(certificate).ok()?)?;
    let mut signed = self::parts(*parts.first()?)?;
    // The version stands before the serial number, or not.
    if signed.first()?.tag().is_context_specific() {
        signed.remove(0);
    }
    // Serial number, algorithm, issuer, validity, subject.
    Some((one_line(*signed.get(2)?)?, one_line(*signed.get(4)?)?))
}

/// What a sequence or a set is made of.
fn parts(of: AnyRef<'_>) -> Option<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(of.value()).ok()?;
    let mut all = Vec::new();
    while !reader.is_finished() {
        all.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(all)
}

/// A name as `X509_NAME_oneline` writes it: `/C=DE/O=Org/CN=name`, in the certificate's order, bytes that can't be
/// printed as `\xHH`.
fn one_line(name: AnyRef<'_>) -> Option<String> {
    let mut out = String::new();
    for set in parts(name)? {
        for attribute in parts(set)? {
            let pair = parts(attribute)?;
            let (kind, value) = (pair.first()?, pair.get(1)?);
            let oid = kind.decode_as::<ObjectIdentifier>().ok()?.to_string();
            let _ = write!(out, "/{}=", short_name(&oid).unwrap_or(&oid));
            put_value(&mut out, *value);
        }
    }
    Some(out)
}

fn put_value(out: &mut String, value: AnyRef<'_>) {
    let data = value.value();
    let wide = value.tag() == Tag::BmpString && data.len() % 2 == 0;
    // Characters of two bytes that are all below 256 come as one, else byte by byte.
    let step = if wide && data.chunks_exact(2).all(|c| c[0] == 0) {
        2
    } else {
        1
    };
    for b in data.iter().skip(step - 1).step_by(step) {
        if (b' '..=b'~').contains(b) {
            out.push(char::from(*b));
        } else {
            let _ = write!(out, "\\x{b:02X}");
        }
    }
}

/// OpenSSL's short name of what names are made of.
fn short_name(oid: &str) -> Option<&'static str> {
    Some(match oid {
        "2.5.4.3" => "CN",
        "2.5.4.4" => "SN",
        "2.5.4.5" => "serialNumber",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "street",
        "2.5.4.10" => "O",
        "2.5.4.11" => "OU",
        "2.5.4.12" => "title",
        "2.5.4.13" => "description",
        "2.5.4.15" => "businessCategory",
        "2.5.4.16" => "postalAddress",
        "2.5.4.17" => "postalCode",
        "2.5.4.18" => "postOfficeBox",
        "2.5.4.20" => "telephoneNumber",
        "2.5.4.41" => "name",
        "2.5.4.42" => "GN",
        "2.5.4.43" => "initials",
        "2.5.4.44" => "generationQualifier",
        "2.5.4.45" => "x500UniqueIdentifier",
        "2.5.4.46" => "dnQualifier",
        "2.5.4.65" => "pseudonym",
        "2.5.4.72" => "role",
        "2.5.4.97" => "organizationIdentifier",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.3" => "mail",
        "0.9.2342.19200300.100.1.25" => "DC",
        "1.2.840.113549.1.9.1" => "emailAddress",
        "1.2.840.113549.1.9.2" => "unstructuredName",
        "1.2.840.113549.1.9.8" => "unstructuredAddress",
        "1.3.6.1.4.1.311.60.2.1.1" => "jurisdictionL",
        "1.3.6.1.4.1.311.60.2.1.2" => "jurisdictionST",
        "1.3.6.1.4.1.311.60.2.1.3" => "jurisdictionC",
        _ => return None,
    })
}

/// OpenSSL's name of a cipher suite, from IANA's; those of TLS 1.3 are the same.
pub(crate) fn cipher_name(iana: &str) -> String {
    match iana
        .strip_prefix("TLS_")
        .and_then(|n| n.split_once("_WITH_"))
    {
        None => iana.replace("TLS13_", "TLS_"),
        Some((exchange, cipher)) => {
            let cipher = cipher
                .replace("AES_128", "AES128")
                .replace("AES_256", "AES256")
                .replace("POLY1305_SHA256", "POLY1305");
            format!("{exchange}-{cipher}").replace('_', "-")
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_as_openssl_prints_them() {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        let dn = &mut params.distinguished_name;
        dn.push(rcgen::DnType::CountryName, "DE");
        dn.push(rcgen::DnType::OrganizationName, "Narwal, Inc/x");
        dn.push(rcgen::DnType::CommonName, "Jürgen");
        dn.push(rcgen::DnType::from_oid(&[1, 2, 3, 4]), "odd");
        let key = rcgen::KeyPair::generate().unwrap();
        let cert = params.self_signed(&key).unwrap();
        let want = "/C=DE/O=Narwal, Inc/x/CN=J\\xC3\\xBCrgen/1.2.3.4=odd".to_string();
        assert_eq!(names(cert.der()), Some((want.clone(), want)));
        assert_eq!(names(b"nonsense"), None);
    }

    #[test]
    fn ciphers_have_openssls_names() {
        for (iana, openssl) in [
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            (
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "ECDHE-RSA-AES128-GCM-SHA256",
            ),
            (
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                "ECDHE-ECDSA-CHACHA20-POLY1305",
            ),
        ] {
            assert_eq!(cipher_name(iana), openssl);
        }
    }

    #[test]
    fn rules() {
        let clear = TlsFacts::default();
        let tls = TlsFacts {
            cipher: Some("X".into()),
            names: None,
        };
        let cert = TlsFacts {
            names: Some(("/CN=ca".into(), "/CN=me".into())),
            ..tls.clone()
        };
        let named = |issuer: &str, subject: &str, cipher: Option<&str>| TlsRule::Names {
            issuer: issuer.into(),
            subject: subject.into(),
            cipher: cipher.map(String::from),
        };
        for (rule, met) in [
            (TlsRule::None, [true, true, true]),
            (TlsRule::Any, [false, true, true]),
            (TlsRule::Certificate, [false, false, true]),
            (named("/CN=ca", "", None), [false, false, true]),
            (named("/CN=ca", "/CN=me", Some("X")), [false, false, true]),
            (named("/CN=ca", "/CN=m", None), [false, false, false]),
            (named("", "", Some("X")), [false, true, true]),
            (named("", "", Some("")), [false, false, false]),
            (named("", "", None), [false, true, true]),
        ] {
            assert_eq!(
                [&clear, &tls, &cert].map(|f| rule.is_met(f)),
                met,
                "{rule:?}"
            );
        }
    }
}
