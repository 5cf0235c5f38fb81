//! A client that has proved who it is, as a session begins with it.

use crate::process::Killer;

/// A client that has proved who it is.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Connection id.
    pub id: u32,
    /// User name as given.
    pub user: String,
    /// The account it was matched with.
    pub account_user: String,
    /// That account's host pattern.
    pub account_host: String,
    /// Where it comes from, as accounts are matched: `localhost` or an address.
    pub host: String,
    /// Its address, if it came by TCP.
    pub ip: Option<String>,
    /// Its TCP port, or 0.
    pub port: u16,
    /// Default database.
    pub db: Option<String>,
    /// Collation id of the handshake.
    pub collation: u16,
    /// TLS version and cipher.
    pub tls: Option<(String, String)>,
    /// CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS.
    pub handles_expired: bool,
    /// CLIENT_FOUND_ROWS.
    pub found_rows: bool,
    /// CLIENT_MULTI_STATEMENTS.
    pub multi_statements: bool,
    /// CLIENT_INTERACTIVE.
    pub interactive: bool,
    /// CLIENT_COMPRESS: the connection is compressed.
    pub compressed: bool,
    /// CLIENT_SESSION_TRACK: the client wants to be told what changes in its session.
    pub session_track: bool,
    /// Ends the connection or its statement from outside.
    pub killer: Option<Killer>,
}

impl ConnectOptions {
    /// A local connection as `root@localhost`: for tests and embedders.
    pub fn local(id: u32) -> Self {
        ConnectOptions {
            id,
            user: "root".into(),
            account_user: "root".into(),
            account_host: "localhost".into(),
            host: "localhost".into(),
            ip: None,
            port: 0,
            db: None,
            collation: 45,
            tls: None,
            handles_expired: false,
            found_rows: false,
            multi_statements: true,
            interactive: false,
            compressed: false,
            session_track: false,
            killer: None,
        }
    }
}
