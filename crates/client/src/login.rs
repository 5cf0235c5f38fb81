//! The first packets: greeting, TLS, authentication.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Protocol::HandshakeV10",
//! "Protocol::HandshakeResponse41", "Protocol::AuthSwitchRequest", "caching_sha2_password".

use crate::channel::{Channel, server_error};
use crate::options::{Options, TlsMode};
use crate::{Error, Result, tls};
use narwal_wire::auth::{NATIVE, SHA2, native, sha2};
use narwal_wire::codec::{Cursor, put_lenenc_bytes};
use narwal_wire::protocol::Capabilities as Cap;
use rsa::pkcs8::DecodePublicKey;

/// utf8mb4_general_ci.
const COLLATION: u8 = 45;
/// The longest packet this side takes, as the server is told.
const MAX_PACKET: u32 = 1 << 30;
/// The longest packet before the login is done.
const MAX_LOGIN_PACKET: usize = 64 * 1024;
/// Rounds of an authentication, more than any method has.
const MAX_ROUNDS: usize = 10;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    pub(crate) connection_id: u32,
    pub(crate) caps: Cap,
    pub(crate) scramble: Vec<u8>,
    pub(crate) plugin: String,
}

impl Greeting {
    /// Reads the greeting.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self> {
        let mut c = Cursor::new(payload);
        match c.u8()? {
            10 => {}
            0xFF => return Err(server_error(c.rest())),
            _ => return Err(Error::Protocol("a greeting of another protocol")),
        }
        let version = String::from_utf8_lossy(c.nul_bytes()?).into_owned();
        let connection_id = c.u32()?;
        let mut scramble = c.bytes(8)?.to_vec();
        c.u8()?;
        let low = c.u16()?;
        let _collation = c.u8()?;
        let _status = c.u16()?;
        let high = c.u16()?;
        let caps = Cap(u32::from(low) | u32::from(high) << 16);
        let len = usize::from(c.u8()?);
        c.bytes(10)?;
        if !caps.contains(Cap::PROTOCOL_41 | Cap::SECURE_CONNECTION) {
            return Err(Error::Protocol("a greeting of before MySQL 4.1"));
        }
        let rest = c.bytes(len.saturating_sub(8).max(13).min(c.rest().len()))?;
        scramble.extend(rest.iter().copied().take_while(|&b| b != 0));
        let plugin = if caps.contains(Cap::PLUGIN_AUTH) {
            String::from_utf8_lossy(c.nul_bytes_or_rest()).into_owned()
        } else {
            NATIVE.to_owned()
        };
        Ok(Greeting {
            version,
            connection_id,
            caps,
            scramble,
            plugin,
        })
    }
}

/// The proof of a password by a method.
fn proof(plugin: &str, password: &str, scramble: &[u8]) -> Result<Vec<u8>> {
    match plugin {
        NATIVE => Ok(native::answer(password.as_bytes(), scramble)),
        SHA2 => Ok(sha2::answer(password.as_bytes(), scramble)),
        other => Err(Error::Auth(format!(
            "the account has the authentication method {other}, which this program does not have"
        ))),
    }
}

/// Logs in. `channel` has nothing sent or received yet.
pub(crate) fn log_in(channel: &mut Channel, options: &Options) -> Result<Greeting> {
    channel.set_max_packet(MAX_LOGIN_PACKET);
    let greeting = Greeting::parse(channel.read()?)?;
    let wanted = Cap::LONG_PASSWORD
        | Cap::LONG_FLAG
        | Cap::PROTOCOL_41
        | Cap::TRANSACTIONS
        | Cap::SECURE_CONNECTION
        | Cap::PLUGIN_AUTH
        | Cap::CONNECT_ATTRS
        | Cap::PLUGIN_AUTH_LENENC_CLIENT_DATA;
    // A MariaDB server leaves this one out of its own.
    let mut caps = wanted & (greeting.caps | Cap::LONG_PASSWORD);
    if options.database.is_some() && greeting.caps.contains(Cap::CONNECT_WITH_DB) {
        caps |= Cap::CONNECT_WITH_DB;
    }
    start_tls(channel, options, &greeting, &mut caps)?;
    let mut plugin = match greeting.plugin.as_str() {
        SHA2 => SHA2.to_owned(),
        _ => NATIVE.to_owned(),
    };
    let mut scramble = greeting.scramble.clone();
    let auth = proof(&plugin, &options.password, &scramble)?;
    channel.send(|p| response(p, caps, options, &auth, &plugin))?;
    for _ in 0..MAX_ROUNDS {
        let payload = channel.read()?.to_vec();
        let mut c = Cursor::new(&payload);
        match c.u8()? {
            0x00 => {
                channel.logged_in();
                return Ok(greeting);
            }
            0xFF => return Err(server_error(c.rest())),
            // The account wants another method.
            0xFE if !c.is_empty() => {
                plugin = String::from_utf8_lossy(c.nul_bytes()?).into_owned();
                scramble = c.nul_bytes_or_rest().to_vec();
                let auth = proof(&plugin, &options.password, &scramble)?;
                channel.send(|p| p.extend_from_slice(&auth))?;
            }
            0xFE => {
                return Err(Error::Auth(
                    "the account has a password of before MySQL 4.1".into(),
                ));
            }
            0x01 if plugin == SHA2 => more(channel, options, c.rest(), &scramble)?,
            _ => return Err(Error::Protocol("an answer that is none to a login")),
        }
    }
    Err(Error::Protocol("a login without end"))
}

fn start_tls(
    channel: &mut Channel,
    options: &Options,
    greeting: &Greeting,
    caps: &mut Cap,
) -> Result<()> {
    let offered = greeting.caps.contains(Cap::SSL);
    match &options.tls {
        TlsMode::Disabled => return Ok(()),
        TlsMode::Preferred if !offered || channel.stream().is_unix() => return Ok(()),
        _ if !offered => return Err(Error::Tls("the server does not offer it".into())),
        _ => {}
    }
    *caps |= Cap::SSL;
    let request = *caps;
    channel.send(|p| head(p, request))?;
    if channel.has_rest() {
        // It was sent without the keys, so it may be anybody's.
        return Err(Error::Protocol("something before TLS began"));
    }
    let config = tls::config(options)?;
    let name = tls::server_name(&options.address)?;
    channel.stream().start_tls(config, name)
}

fn head(p: &mut Vec<u8>, caps: Cap) {
    p.extend_from_slice(&caps.0.to_le_bytes());
    p.extend_from_slice(&MAX_PACKET.to_le_bytes());
    p.push(COLLATION);
    p.extend_from_slice(&[0; 23]);
}

fn response(p: &mut Vec<u8>, caps: Cap, options: &Options, auth: &[u8], plugin: &str) {
    let text = |p: &mut Vec<u8>, s: &str| {
        // A NUL would end it early.
        p.extend(s.bytes().filter(|b| *b != 0));
        p.push(0);
    };
    head(p, caps);
    text(p, &options.user);
    // The proofs are at most 32 bytes, which both forms of the length have as one byte.
    p.push(auth.len() as u8);
    p.extend_from_slice(auth);
    if let Some(db) = &options.database
        && caps.contains(Cap::CONNECT_WITH_DB)
    {
        text(p, db);
    }
    if caps.contains(Cap::PLUGIN_AUTH) {
        text(p, plugin);
    }
    if caps.contains(Cap::CONNECT_ATTRS) {
        let mut attributes = Vec::new();
        let pid = std::process::id().to_string();
        for (key, value) in [
            ("_client_name", "narwal-client"),
            ("_client_version", env!("CARGO_PKG_VERSION")),
            ("_os", std::env::consts::OS),
            ("_pid", pid.as_str()),
            ("program_name", options.program.as_str()),
        ] {
            put_lenenc_bytes(&mut attributes, key.as_bytes());
            put_lenenc_bytes(&mut attributes, value.as_bytes());
        }
        put_lenenc_bytes(p, &attributes);
    }
}

/// The further packets of `caching_sha2_password`.
fn more(channel: &mut Channel, options: &Options, data: &[u8], scramble: &[u8]) -> Result<()> {
    let mut password = options.password.clone().into_bytes();
    password.push(0);
    match data {
        [sha2::FAST_OK] => Ok(()),
        // The password itself, where nobody can listen; else sealed with the server's key.
        [sha2::FULL_NEEDED] if channel.stream().is_tls() || channel.stream().is_unix() => {
            channel.send(|p| p.extend_from_slice(&password))
        }
        [sha2::FULL_NEEDED] if options.server_key => channel.send(|p| p.push(sha2::WANT_KEY)),
        [sha2::FULL_NEEDED] => Err(Error::Auth(
            "the password may only be sent over TLS, or with the server's public key".into(),
        )),
        key if key.starts_with(b"-----BEGIN") => {
            if scramble.is_empty() {
                return Err(Error::Protocol("an empty challenge"));
            }
            for (b, s) in password.iter_mut().zip(scramble.iter().cycle()) {
                *b ^= s;
            }
            let wrong = |_| Error::Protocol("a key that is none");
            let pem =
                std::str::from_utf8(key).map_err(|_| Error::Protocol("a key that is none"))?;
            let key = rsa::RsaPublicKey::from_public_key_pem(pem.trim_end_matches('\0'))
                .map_err(wrong)?;
            let sealed = key
                .encrypt(
                    &mut rsa::rand_core::OsRng,
                    rsa::Oaep::new::<sha1::Sha1>(),
                    &password,
                )
                .map_err(|e| Error::Auth(e.to_string()))?;
            channel.send(|p| p.extend_from_slice(&sealed))
        }
        _ => Err(Error::Protocol("an unknown step of caching_sha2_password")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn greeting(plugin: &str) -> Vec<u8> {
        let caps = (Cap::PROTOCOL_41 | Cap::SECURE_CONNECTION | Cap::PLUGIN_AUTH).0;
        let mut p = vec![10];
        p.extend_from_slice(b"5.5.5-10.11.0-MariaDB\0");
        p.extend_from_slice(&7u32.to_le_bytes());
        p.extend_from_slice(b"abcdefgh\0");
        p.extend_from_slice(&(caps as u16).to_le_bytes());
        p.push(45);
        p.extend_from_slice(&[2, 0]);
        p.extend_from_slice(&((caps >> 16) as u16).to_le_bytes());
        p.push(21);
        p.extend_from_slice(&[0; 10]);
        p.extend_from_slice(b"ijklmnopqrst\0");
        p.extend_from_slice(plugin.as_bytes());
        p.push(0);
        p
    }

    #[test]
    fn a_greeting_is_understood() {
        let g = Greeting::parse(&greeting(SHA2)).unwrap();
        assert_eq!(g.version, "5.5.5-10.11.0-MariaDB");
        assert_eq!((g.connection_id, g.plugin.as_str()), (7, SHA2));
        assert_eq!(g.scramble, b"abcdefghijklmnopqrst");
        let e = Greeting::parse(b"\xff\x10\x04Too many connections").unwrap_err();
        assert_eq!(e.code(), 1040);
        assert!(e.is_retriable());
    }

    proptest! {
        #[test]
        fn hostile_greetings_never_panic(p in prop::collection::vec(any::<u8>(), 0..120), cut in 0usize..100) {
            let _ = Greeting::parse(&p);
            let mut q = vec![10];
            q.extend_from_slice(&p);
            let _ = Greeting::parse(&q);
            let whole = greeting(NATIVE);
            let _ = Greeting::parse(&whole[..cut.min(whole.len())]);
        }
    }
}
