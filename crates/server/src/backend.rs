//! What the protocol front needs from the rest of the server. The front knows no SQL and no storage. The
//! implementation of these traits knows no packets.

use crate::kill::KillHandle;
pub use crate::peer_certificate::TlsRule;
use narwal_types::{
    BulkValue, Collation, LateAnswer, ResultColumn, ResultSink, SessionChange, SqlError, SqlResult,
    ValueRef,
};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use narwal_wire::protocol::status;

/// Where a client comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// `localhost` for the Unix socket and for loopback addresses, else the address. Accounts are matched by it, and
    /// messages name it.
    pub host: String,
    /// Address of a TCP client, without the port; `None` on the Unix socket.
    pub ip: Option<String>,
    /// TCP port of the client, or 0.
    pub port: u16,
}

/// How an account proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthMethod {
    /// `mysql_native_password` with SHA1(SHA1(password)); `None` for an empty password.
    Native(Option<[u8; 20]>),
    /// `caching_sha2_password` with its stored form (`$A$005$`, salt, digest); empty for an empty password.
    CachingSha2(Vec<u8>),
    /// `mysql_old_password`, which proves nothing: refused.
    Old,
}

/// The account that a client is to be authenticated as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// User name as stored (empty for an anonymous account).
    pub user: String,
    /// Host pattern as stored.
    pub host: String,
    /// Proof it asks for.
    pub auth: AuthMethod,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// Too many wrong passwords were given for it.
    pub blocked: bool,
    /// REQUIRE.
    pub tls: TlsRule,
}

/// A client that has been authenticated, for [`Backend::connect`] and [`Session::change_user`].
#[derive(Debug, Clone)]
pub struct ConnectInfo {
    /// Connection id, as `CONNECTION_ID()` and KILL have it.
    pub id: u32,
    /// User name as the client gave it.
    pub user: String,
    /// The account it was authenticated as.
    pub account: Account,
    /// Where it comes from.
    pub peer: Peer,
    /// Default database it asks for.
    pub db: Option<String>,
    /// Collation id of the handshake (45 is utf8mb4_general_ci).
    pub collation: u8,
    /// TLS protocol version and cipher suite, if the connection is encrypted.
    pub tls: Option<(String, String)>,
    /// CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS.
    pub handles_expired: bool,
    /// Connection attributes (program_name and so on).
    pub attributes: Vec<(String, String)>,
    /// CLIENT_FOUND_ROWS: UPDATE reports rows matched, not rows changed.
    pub found_rows: bool,
    /// CLIENT_MULTI_STATEMENTS: one query may hold several statements.
    pub multi_statements: bool,
    /// CLIENT_IGNORE_SPACE.
    pub ignore_space: bool,
    /// CLIENT_INTERACTIVE: `interactive_timeout` in place of `wait_timeout`.
    pub interactive: bool,
    /// CLIENT_COMPRESS: the connection is compressed from the first command on.
    pub compressed: bool,
    /// CLIENT_SESSION_TRACK: the client wants to hear what changes in its session.
    pub session_track: bool,
}

/// Server-wide limits, read when a connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `max_connections`.
    pub max_connections: usize,
    /// `max_allowed_packet` in bytes.
    pub max_allowed_packet: usize,
    /// `connect_timeout`: all of the handshake must happen within it.
    pub connect_timeout: Duration,
    /// `require_secure_transport`: TLS or the Unix socket.
    pub require_secure_transport: bool,
}

/// A login that was refused.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// Connection id.
    pub id: u32,
    /// User name as given.
    pub user: &'a str,
    /// Where the client comes from.
    pub peer: &'a Peer,
    /// Default database it asked for.
    pub db: Option<&'a str>,
    /// The account, if there is one.
    pub account: Option<&'a Account>,
    /// The answer.
    pub error: &'a SqlError,
    /// Why: more than the client is told.
    pub reason: &'static str,
    /// The account's password was wrong, and not empty.
    pub wrong_password: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_connections: 151,
            max_allowed_packet: 16 << 20,
            connect_timeout: Duration::from_secs(10),
            require_secure_transport: false,
        }
    }
}

/// A session's timeouts, read after each command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// `wait_timeout` (or `interactive_timeout`): an idle connection is closed after it.
    pub idle: Duration,
    /// `idle` depends on whether a transaction is open, so it is asked for after each command.
    pub idle_changes: bool,
    /// `net_read_timeout`: a read inside a packet.
    pub net_read: Duration,
    /// `net_write_timeout`: a write that makes no progress.
    pub net_write: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            idle: Duration::from_secs(28_800),
            idle_changes: false,
            net_read: Duration::from_secs(30),
            net_write: Duration::from_secs(60),
        }
    }
}

/// The server behind the front: accounts, and sessions for them.
pub trait Backend: Send + Sync + 'static {
    /// Version for the greeting, e.g. `5.5.5-10.11.0-MariaDB-narwal-0.1.0` (old replicas need the `5.5.5-`).
    fn greeting_version(&self) -> String;

    /// The limits as they stand now.
    fn limits(&self) -> Limits;

    /// The account that `user` from `peer` is, if there is one. The password is not checked yet.
    fn account(&self, user: &str, peer: &Peer) -> Option<Account>;

    /// True if `password` is the one behind the stored form of an [`AuthMethod::CachingSha2`] account. Slow on purpose;
    /// called once an account and start, as long as the password stays.
    fn verify_password(&self, stored: &[u8], password: &[u8]) -> bool;

    /// A login is refused: how long its answer is to be kept back.
    fn login_refused(&self, refused: &Refused<'_>) -> Duration {
        let _ = refused;
        Duration::ZERO
    }

    /// A login has passed: how long it is to wait for its session.
    fn login_passed(&self, account: &Account) -> Duration {
        let _ = account;
        Duration::ZERO
    }

    /// Makes the session of an authenticated client. An error (1049 for an unknown database, say) refuses it.
    fn connect(&self, info: ConnectInfo, kill: Arc<KillHandle>) -> SqlResult<Box<dyn Session>>;

    /// A connection has ended; its session has been dropped.
    fn disconnected(&self, id: u32) {
        let _ = id;
    }

    /// Bytes read from and written to clients, now and then (`Bytes_received`, `Bytes_sent`). What a connection moved
    /// last may be missing.
    fn traffic(&self, received: u64, sent: u64) {
        let _ = (received, sent);
    }

    /// A client was refused or lost before it had a session (`Aborted_connects`).
    fn aborted_connect(&self) {}
}

/// What a prepared statement looks like to the client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreparedInfo {
    /// The session's own name for it; unique within the session while the statement lives.
    pub handle: u32,
    /// Number of `?`.
    pub params: u16,
    /// Columns of its result set; empty if it has none (or its shape is only known at execution).
    pub columns: Vec<ResultColumn>,
    /// Its rows may be kept for a cursor.
    pub cursor: bool,
    /// [`Session::execute_bulk`] may run it.
    pub bulk: bool,
}

/// One client's session. Called by the connection's own thread only.
pub trait Session: Send {
    /// The flag that is set when the running statement is to end: it ends the sending of its result too.
    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// Runs a query of one or more statements (`;` between them, if multi-statements are on). Each result goes to
    /// `out`; an error ends the query and is sent by the front.
    fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()>;

    /// Parses and plans a statement.
    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo>;

    /// Runs a prepared statement with as many parameters as it has. `types`: MYSQL_TYPE_* and flags that they were bound
    /// with.
    fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()>;

    /// Runs a prepared statement for many sets of parameters, whose values follow one another: all of it or nothing, with
    /// one result.
    fn execute_bulk(
        &mut self,
        handle: u32,
        values: &[BulkValue<'_>],
        types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let _ = (handle, values, types, out);
        Err(SqlError::unsupported("COM_STMT_BULK_EXECUTE"))
    }

    /// Forgets a prepared statement.
    fn close_statement(&mut self, handle: u32);

    /// Changes the default database.
    fn init_db(&mut self, db: &str) -> SqlResult<()>;

    /// COM_RESET_CONNECTION: rolls back, forgets variables, temporary tables, locks and prepared statements; keeps the
    /// user and the default database.
    fn reset(&mut self) -> SqlResult<()>;

    /// COM_CHANGE_USER: like a reset, then goes on as another, already authenticated user.
    fn change_user(&mut self, info: ConnectInfo) -> SqlResult<()>;

    /// COM_SET_OPTION: multi-statements on or off.
    fn set_multi_statements(&mut self, on: bool);

    /// The front can answer commits later, by this: see [`Session::settle`].
    fn answer_through(&mut self, late: Arc<dyn LateAnswer>) {
        let _ = late;
    }

    /// Whether the command that has just run stands for a commit that is not done yet. Its answer must not be sent before
    /// [`Session::settle`] says so.
    fn has_commit_pending(&self) -> bool {
        false
    }

    /// Waits for that commit (false), or, if `later` and that is possible, leaves it (true). Then the thread that finishes
    /// the commit has the answer sent through what [`Session::answer_through`] gave, perhaps before this returns.
    ///
    /// # Errors
    /// The commit has failed: the error is the answer.
    fn settle(&mut self, later: bool) -> SqlResult<bool> {
        let _ = later;
        Ok(false)
    }

    /// What results are sent under now: at the start, and after [`Session::reset`] and [`Session::change_user`]. Other
    /// changes are told to the sink.
    fn results_collation(&self) -> Option<Collation> {
        Some(Collation::default())
    }

    /// Changes of the session, to be told with an OK packet that the front makes itself.
    fn take_changes(&mut self) -> Vec<SessionChange> {
        Vec::new()
    }

    /// Current status flags ([`status`]).
    fn status_flags(&self) -> u16;

    /// Current timeouts.
    fn timeouts(&self) -> Timeouts {
        Timeouts::default()
    }

    /// True if the connection is to end now that the command is answered (COMMIT RELEASE).
    fn wants_to_end(&self) -> bool {
        false
    }

    /// COM_STATISTICS: one line of text.
    fn statistics(&mut self) -> String;

    /// COM_PROCESS_KILL: what `KILL CONNECTION id` does.
    fn kill(&mut self, id: u32) -> SqlResult<()>;

    /// COM_FIELD_LIST: the columns of a table whose names match a LIKE pattern (empty: all).
    fn field_list(&mut self, table: &str, pattern: &str) -> SqlResult<Vec<ResultColumn>> {
        let _ = (table, pattern);
        Err(SqlError::unsupported("COM_FIELD_LIST"))
    }

    /// A command that speaks its own protocol from here on (COM_REGISTER_SLAVE, COM_BINLOG_DUMP,
    /// COM_BINLOG_DUMP_GTID). The session writes its own packets; an error is sent by the front.
    fn raw_command(
        &mut self,
        command: u8,
        payload: &[u8],
        io: &mut dyn RawPackets,
    ) -> SqlResult<()> {
        let _ = (payload, io);
        Err(SqlError::unsupported(match command {
            0x12 => "COM_BINLOG_DUMP",
            0x15 => "COM_REGISTER_SLAVE",
            0x1e => "COM_BINLOG_DUMP_GTID",
            _ => "this command",
        }))
    }
}

/// Packets without a result set's form, for [`Session::raw_command`]. An error means that the connection is lost.
pub trait RawPackets {
    /// Appends a packet made of `parts` with the next sequence number; it is sent when enough has gathered or by
    /// [`flush`](Self::flush). Long parts are not copied.
    ///
    /// # Errors
    /// The connection is lost.
    fn write_packet(&mut self, parts: &[&[u8]]) -> io::Result<()>;

    /// Sends what has gathered.
    ///
    /// # Errors
    /// The connection is lost.
    fn flush(&mut self) -> io::Result<()>;

    /// The next packet gets sequence number 1, as if the client had sent a command: replicas expect that behind an event
    /// that they are to acknowledge.
    fn reset_sequence(&mut self);

    /// Sleeps until the client has sent something (or has gone), `wake` is readable, or `timeout` (`None`: for ever) has
    /// passed: which of the two it was.
    ///
    /// # Errors
    /// The connection is lost.
    fn wait(&mut self, wake: BorrowedFd<'_>, timeout: Option<Duration>)
    -> io::Result<(bool, bool)>;

    /// Takes one packet of the client's (a semi-sync acknowledgement, say) into `buf`, if all of it has arrived by the
    /// last [`wait`](Self::wait); never waits for the rest of one. Its sequence number does not count for packets sent.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the client has closed the connection; it is lost.
    fn read_packet(&mut self, buf: &mut Vec<u8>) -> io::Result<bool>;
}
