//! The first packets of a connection: the greeting, the client's answer, the SSL request, COM_CHANGE_USER.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Protocol::HandshakeV10",
//! "Protocol::HandshakeResponse41", "COM_CHANGE_USER"; MariaDB knowledge base, "Connecting".

use crate::auth::{NATIVE, SCRAMBLE_LEN, SHA2};
use crate::backend::status;
use crate::codec::{Cursor, Malformed};
use crate::protocol::{Capabilities as Cap, mariadb_capability};
use narwal_types::face::is_mysql;

/// Longest packet that a client may send before it is authenticated, in bytes.
pub const MAX_HANDSHAKE_PACKET: usize = 64 * 1024;
const MAX_ATTRIBUTES: usize = 128;
const DEFAULT_COLLATION: u8 = 45;
/// utf8mb4_0900_ai_ci.
const MYSQLS_COLLATION: u8 = 255;

/// What the server can do of what only MariaDB's dialect has.
pub const MARIADB_CAPABILITIES: u32 = mariadb_capability::BULK_OPERATIONS
    | mariadb_capability::EXTENDED_METADATA
    | mariadb_capability::CACHE_METADATA;

/// What the server can do. Under MariaDB's face CLIENT_LONG_PASSWORD is left out: that is how a server says that it speaks
/// MariaDB's dialect, and that the greeting's last reserved bytes are MariaDB's own capabilities ([`MARIADB_CAPABILITIES`]).
pub fn server_capabilities(tls: bool) -> Cap {
    let mut caps = Cap::FOUND_ROWS
        | Cap::LONG_FLAG
        | Cap::CONNECT_WITH_DB
        | Cap::IGNORE_SPACE
        | Cap::PROTOCOL_41
        | Cap::INTERACTIVE
        | Cap::IGNORE_SIGPIPE
        | Cap::TRANSACTIONS
        | Cap::SECURE_CONNECTION
        | Cap::MULTI_STATEMENTS
        | Cap::LOCAL_FILES
        | Cap::COMPRESS
        | Cap::MULTI_RESULTS
        | Cap::PS_MULTI_RESULTS
        | Cap::PLUGIN_AUTH
        | Cap::CONNECT_ATTRS
        | Cap::PLUGIN_AUTH_LENENC_CLIENT_DATA
        | Cap::CAN_HANDLE_EXPIRED_PASSWORDS
        | Cap::SESSION_TRACK
        | Cap::DEPRECATE_EOF;
    if tls {
        caps |= Cap::SSL;
    }
    if is_mysql() {
        caps |= Cap::LONG_PASSWORD;
    }
    caps
}

/// Appends the greeting (protocol version 10).
pub fn put_greeting(
    out: &mut Vec<u8>,
    version: &str,
    id: u32,
    scramble: &[u8; SCRAMBLE_LEN],
    tls: bool,
) {
    let caps = server_capabilities(tls).0;
    out.push(10);
    out.extend_from_slice(version.as_bytes());
    out.push(0);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&scramble[..8]);
    out.push(0);
    out.extend_from_slice(&(caps as u16).to_le_bytes());
    out.push(if is_mysql() {
        MYSQLS_COLLATION
    } else {
        DEFAULT_COLLATION
    });
    out.extend_from_slice(&status::AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&((caps >> 16) as u16).to_le_bytes());
    out.push(SCRAMBLE_LEN as u8 + 1);
    out.extend_from_slice(&[0; 6]);
    let own = if is_mysql() { 0 } else { MARIADB_CAPABILITIES };
    out.extend_from_slice(&own.to_le_bytes());
    out.extend_from_slice(&scramble[8..]);
    out.push(0);
    // What most accounts prove themselves by: others are asked again.
    out.extend_from_slice(if is_mysql() { SHA2 } else { NATIVE }.as_bytes());
    out.push(0);
}

/// What a client says of itself, at the start or in COM_CHANGE_USER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Capabilities that both sides have.
    pub caps: Cap,
    /// Those of MariaDB's dialect ([`mariadb_capability`]) that both sides have.
    pub mariadb_caps: u32,
    /// Collation id.
    pub collation: u8,
    /// User name.
    pub user: String,
    /// Answer to the scramble, by the method in `plugin`.
    pub auth: Vec<u8>,
    /// Default database.
    pub db: Option<String>,
    /// Authentication method the client has used; empty if it doesn't say.
    pub plugin: String,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
}

/// The client's answer to the greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It wants TLS first, and answers again inside it.
    Tls,
    /// It speaks a protocol older than 4.1.
    TooOld,
    /// Its login.
    Login(Box<Login>),
}

fn text(bytes: &[u8]) -> Result<String, Malformed> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Malformed)
}

fn attributes(c: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Malformed> {
    if c.is_empty() {
        return Ok(Vec::new());
    }
    let mut c = Cursor::new(c.lenenc_bytes()?);
    let mut out = Vec::new();
    while !c.is_empty() && out.len() < MAX_ATTRIBUTES {
        let key = String::from_utf8_lossy(c.lenenc_bytes()?).into_owned();
        let value = String::from_utf8_lossy(c.lenenc_bytes()?).into_owned();
        out.push((key, value));
    }
    Ok(out)
}

/// Reads the client's answer to the greeting. `tls`: the connection is already in TLS; `offered`: TLS was offered.
///
/// # Errors
/// [`Malformed`]: cut short, lengths beyond the end, names that are not UTF-8.
pub fn parse_answer(payload: &[u8], tls: bool, offered: bool) -> Result<Answer, Malformed> {
    let mut c = Cursor::new(payload);
    let low = c.u16()?;
    if !Cap(u32::from(low)).contains(Cap::PROTOCOL_41) {
        return Ok(Answer::TooOld);
    }
    let high = c.u16()?;
    let asked = Cap(u32::from(low) | u32::from(high) << 16);
    let _max_packet = c.u32()?;
    let collation = c.u8()?;
    c.bytes(19)?;
    let own = c.u32()?;
    let mariadb_caps = if asked.contains(Cap::LONG_PASSWORD) || is_mysql() {
        0
    } else {
        own & MARIADB_CAPABILITIES
    };
    if asked.contains(Cap::SSL) && c.is_empty() && !tls {
        return if offered {
            Ok(Answer::Tls)
        } else {
            Err(Malformed)
        };
    }
    let caps = asked & server_capabilities(offered);
    let user = text(c.nul_bytes()?)?;
    let auth = if caps.contains(Cap::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
        c.lenenc_bytes()?
    } else if caps.contains(Cap::SECURE_CONNECTION) {
        let n = c.u8()?;
        c.bytes(usize::from(n))?
    } else {
        c.nul_bytes_or_rest()
    }
    .to_vec();
    let db = if caps.contains(Cap::CONNECT_WITH_DB) {
        let db = text(c.nul_bytes_or_rest())?;
        (!db.is_empty()).then_some(db)
    } else {
        None
    };
    let plugin = if caps.contains(Cap::PLUGIN_AUTH) {
        text(c.nul_bytes_or_rest())?
    } else {
        String::new()
    };
    let attributes = if caps.contains(Cap::CONNECT_ATTRS) {
        attributes(&mut c)?
    } else {
        Vec::new()
    };
    Ok(Answer::Login(Box::new(Login {
        caps,
        mariadb_caps,
        collation,
        user,
        auth,
        db,
        plugin,
        attributes,
    })))
}

/// Reads COM_CHANGE_USER's payload (after the command byte); `caps` are those of the connection.
///
/// # Errors
/// [`Malformed`], as for [`parse_answer`].
pub fn parse_change_user(payload: &[u8], caps: Cap, collation: u8) -> Result<Login, Malformed> {
    let mut c = Cursor::new(payload);
    let user = text(c.nul_bytes()?)?;
    let n = c.u8()?;
    let auth = c.bytes(usize::from(n))?.to_vec();
    let db = text(c.nul_bytes_or_rest())?;
    let mut login = Login {
        caps,
        // As agreed on at the start.
        mariadb_caps: 0,
        collation,
        user,
        auth,
        db: (!db.is_empty()).then_some(db),
        plugin: String::new(),
        attributes: Vec::new(),
    };
    if !c.is_empty() {
        login.collation = c.u16()? as u8;
    }
    if caps.contains(Cap::PLUGIN_AUTH) && !c.is_empty() {
        login.plugin = text(c.nul_bytes_or_rest())?;
    }
    if caps.contains(Cap::CONNECT_ATTRS) {
        login.attributes = attributes(&mut c)?;
    }
    Ok(login)
}

/// A login packet as a client would send it; for tests and fuzzing.
#[doc(hidden)]
pub fn client_answer(
    caps: Cap,
    user: &str,
    auth: &[u8],
    db: Option<&str>,
    plugin: &str,
) -> Vec<u8> {
    let mut p = caps.0.to_le_bytes().to_vec();
    p.extend_from_slice(&(1u32 << 24).to_le_bytes());
    p.push(DEFAULT_COLLATION);
    p.extend_from_slice(&[0; 23]);
    p.extend_from_slice(user.as_bytes());
    p.push(0);
    p.push(auth.len() as u8);
    p.extend_from_slice(auth);
    if let Some(db) = db {
        p.extend_from_slice(db.as_bytes());
        p.push(0);
    }
    p.extend_from_slice(plugin.as_bytes());
    p.push(0);
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn caps() -> Cap {
        Cap::PROTOCOL_41 | Cap::SECURE_CONNECTION | Cap::PLUGIN_AUTH | Cap::CONNECT_WITH_DB
    }

    #[test]
    fn a_login_is_understood_and_its_cuts_are_not() {
        let p = client_answer(caps(), "root", &[1, 2, 3], Some("test"), NATIVE);
        let Ok(Answer::Login(l)) = parse_answer(&p, false, true) else {
            panic!("not understood");
        };
        assert_eq!(
            (
                l.user.as_str(),
                &l.auth[..],
                l.db.as_deref(),
                l.plugin.as_str()
            ),
            ("root", &[1u8, 2, 3][..], Some("test"), NATIVE)
        );
        for cut in 0..40 {
            assert!(
                !matches!(parse_answer(&p[..cut], false, true), Ok(Answer::Login(_))),
                "{cut}"
            );
        }
    }

    #[test]
    fn tls_and_old_clients() {
        let mut p = (caps() | Cap::SSL).0.to_le_bytes().to_vec();
        p.resize(32, 0);
        assert_eq!(parse_answer(&p, false, true), Ok(Answer::Tls));
        assert_eq!(parse_answer(&p, false, false), Err(Malformed));
        assert_eq!(parse_answer(&p, true, true), Err(Malformed));
        assert_eq!(
            parse_answer(&[0x85, 0xa4, 0, 0, 0], false, true),
            Ok(Answer::TooOld)
        );
    }

    proptest! {
        #[test]
        fn hostile_logins_never_panic(p in prop::collection::vec(any::<u8>(), 0..200), caps in any::<u32>()) {
            let _ = parse_answer(&p, true, true);
            let mut q = (Cap::PROTOCOL_41.0 | caps).to_le_bytes().to_vec();
            q.extend_from_slice(&p);
            let _ = parse_answer(&q, true, true);
            let _ = parse_change_user(&p, Cap(caps), 45);
        }
    }
}
