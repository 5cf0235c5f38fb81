//! One connection from its greeting to its end: authentication, then a command at a time.

use crate::answer::{put_changes, put_err, put_ok};
use crate::auth::{self, NATIVE, SCRAMBLE_LEN, SHA2, access_denied, native, sha2};
use crate::backend::{Account, AuthMethod, ConnectInfo, Limits, Peer, Refused, Session, Timeouts};
use crate::channel::{Channel, End, Ended};
use crate::codec::Cursor;
use crate::definition::{Form, put_column};
use crate::handshake::{self, Answer, Login};
use crate::kill::KillHandle;
use crate::late::Late;
use crate::packet::{PacketReader, PacketWriter};
use crate::processors::{Follower, Pair};
use crate::protocol::{Capabilities as Cap, command, mariadb_capability};
use crate::raw_channel::RawChannel;
use crate::result::{ResultState, WireSink};
use crate::shared::Shared;
use crate::socket::Socket;
use crate::statements::{self, Statements};
use crate::stream::Stream;
use narwal_syntax::{Kw, SqlMode, glance};
use narwal_types::face::is_mysql;
use narwal_types::{Discard, OkInfo, SqlError, SqlResult, errors};
use std::mem::take;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes after which a connection's traffic is counted, so that busy connections don't contend for a counter.
const TRAFFIC_STEP: u64 = 64 << 10;

fn malformed() -> SqlError {
    errors::MALFORMED_PACKET.plain()
}

fn unknown_command() -> SqlError {
    errors::UNKNOWN_COM_ERROR.plain()
}

struct Connection<'a> {
    shared: &'a Shared,
    id: u32,
    peer: Peer,
    chan: Channel,
    scramble: [u8; SCRAMBLE_LEN],
    caps: Cap,
    mariadb_caps: u32,
    collation: u8,
    limits: Limits,
    unix: bool,
}

/// Serves a client until it leaves or is made to.
pub(crate) fn serve(
    shared: &Shared,
    socket: Arc<Socket>,
    peer: Peer,
    kill: Arc<KillHandle>,
) -> Ended {
    let id = kill.id();
    let mut had_session = false;
    let end = run(shared, socket, peer.clone(), &kill, &mut had_session);
    if !had_session {
        shared.backend.aborted_connect();
    }
    let ended = match &end {
        Err(End::Later(..)) => Ended::Parked,
        _ => Ended::Closed,
    };
    match end {
        Ok(()) | Err(End::Quit) => tracing::debug!(connection = id, "closed"),
        Err(End::Killed) => tracing::debug!(connection = id, "killed"),
        Err(end) if had_session => {
            tracing::info!(connection = id, host = %peer.host, reason = %end, "aborted connection");
        }
        Err(end) => {
            tracing::info!(connection = id, host = %peer.host, reason = %end, "refused connection")
        }
    }
    ended
}

fn run(
    shared: &Shared,
    socket: Arc<Socket>,
    peer: Peer,
    kill: &Arc<KillHandle>,
    had_session: &mut bool,
) -> Result<(), End> {
    let limits = shared.backend.limits();
    let unix = matches!(*socket, Socket::Unix(_));
    let pair = Pair::new(shared.processors.as_ref(), &socket);
    let deadline = Instant::now() + limits.connect_timeout;
    let net_write = Timeouts::default().net_write;
    let stream = Stream::new(socket, deadline, net_write, kill.clone())?;
    let mut c = Connection {
        shared,
        id: kill.id(),
        peer,
        chan: Channel {
            stream,
            reader: PacketReader::asking(|bytes| narwal_memory::reserve(bytes).is_ok()),
            writer: PacketWriter::new(),
        },
        scramble: auth::new_scramble()?,
        caps: Cap::default(),
        mariadb_caps: 0,
        collation: 0,
        limits,
        unix,
    };
    let info = match c.login() {
        Ok(info) => info,
        Err(end) => return Err(c.leave(end)),
    };
    let user = info.user.clone();
    let mut session = match shared.backend.connect(info, kill.clone()) {
        Ok(s) => s,
        Err(e) => return Err(c.chan.refuse(e)),
    };
    *had_session = true;
    tracing::debug!(connection = c.id, user, host = %c.peer.host, "connected");
    c.chan.stream.authenticated();
    c.chan.stream.set_interrupt(session.interrupt_flag());
    let zipped = c.caps.contains(Cap::COMPRESS);
    let late = c.chan.stream.answer_late(pair.clone()).filter(|_| !zipped);
    if let Some(l) = &late {
        session.answer_through(l.clone());
    }
    let mut commands = Commands {
        follower: pair.map(Follower::new),
        late,
        statements: Statements::default(),
        results: ResultState::new(
            c.mariadb_caps & mariadb_capability::CACHE_METADATA != 0,
            Form {
                extended: c.mariadb_caps & mariadb_capability::EXTENDED_METADATA != 0,
                results: session.results_collation(),
            },
        ),
        session,
        kill,
        deprecate_eof: c.caps.contains(Cap::DEPRECATE_EOF),
    };
    commands.ok(&mut c);
    c.chan.flush()?;
    if zipped {
        c.chan.stream.start_zip();
    }
    let end = commands.run(&mut c);
    if !matches!(end, Err(End::Later(..))) {
        c.chan.stream.goodbye();
    }
    // The session goes first. Others may wait for this connection to end, and must find its locks and transaction gone.
    drop(commands);
    end.map_err(|end| c.leave(end))
}

impl Connection<'_> {
    /// Hands over a client that is to be answered later.
    fn leave(self, end: End) -> End {
        if let End::Later(e, delay) = &end {
            self.shared.parked.park(self.chan, e.clone(), *delay);
        }
        end
    }

    /// Refuses a login.
    fn deny(
        &mut self,
        login: (&str, Option<&str>),
        account: Option<&Account>,
        e: SqlError,
        reason: &'static str,
        wrong_password: bool,
    ) -> End {
        let delay = self.shared.backend.login_refused(&Refused {
            id: self.id,
            user: login.0,
            peer: &self.peer,
            db: login.1,
            account,
            error: &e,
            reason,
            wrong_password,
        });
        tracing::info!(connection = self.id, user = login.0, host = %self.peer.host, reason, "login refused");
        if delay.is_zero() {
            self.chan.refuse(e)
        } else {
            End::Later(e, delay)
        }
    }

    /// Greets the client, reads its answer, and authenticates it.
    fn login(&mut self) -> Result<ConnectInfo, End> {
        let tls_offered = self.shared.tls.is_some();
        let version = self.shared.backend.greeting_version();
        handshake::put_greeting(
            self.chan.writer.begin(),
            &version,
            self.id,
            &self.scramble,
            tls_offered,
        );
        self.chan.writer.finish();
        let mut in_tls = false;
        let login = loop {
            let payload = match self.chan.read_reply() {
                Ok(p) => p,
                Err(End::Read(e)) => return Err(self.chan.refuse_read(e)),
                Err(end) => return Err(end),
            };
            match handshake::parse_answer(&payload, in_tls, tls_offered) {
                Ok(Answer::Login(login)) => break *login,
                Ok(Answer::Tls) => {
                    let Some(config) = &self.shared.tls else {
                        return Err(self.chan.refuse(bad_handshake()));
                    };
                    let rest = self.chan.reader.take_rest();
                    self.chan.stream.start_tls(config.clone(), rest)?;
                    in_tls = true;
                }
                Ok(Answer::TooOld) | Err(_) => return Err(self.chan.refuse(bad_handshake())),
            }
        };
        self.caps = login.caps;
        self.mariadb_caps = login.mariadb_caps;
        self.collation = login.collation;
        self.authenticate(login)
    }

    /// Refuses logins for which no proof is good enough.
    fn may_prove(
        &mut self,
        login: &Login,
        account: Option<&Account>,
        secure: bool,
    ) -> Result<(), End> {
        let (e, reason) = match account {
            _ if self.shared.backend.limits().require_secure_transport && !secure => {
                let given = !matches!(&login.auth[..], [] | [0]);
                (
                    access_denied(&login.user, &self.peer.host, given),
                    "insecure transport, and require_secure_transport is on",
                )
            }
            Some(a) if a.blocked => (errors::USER_IS_BLOCKED.plain(), "too many wrong passwords"),
            Some(a) if a.auth == AuthMethod::Old => (
                errors::SERVER_IS_IN_SECURE_AUTH_MODE.with([&a.user, &a.host]),
                "a password in the old format",
            ),
            _ => return Ok(()),
        };
        let who = (login.user.as_str(), login.db.as_deref());
        Err(self.deny(who, account, e, reason, false))
    }

    /// Checks the proof of a login, asking for another where the account wants one.
    fn authenticate(&mut self, login: Login) -> Result<ConnectInfo, End> {
        let account = self.shared.backend.account(&login.user, &self.peer);
        let who = (login.user.as_str(), login.db.as_deref());
        let facts = self.chan.stream.tls_facts();
        let secure = facts.cipher.is_some() || self.unix;
        self.may_prove(&login, account.as_ref(), secure)?;
        let wanted = match &account {
            Some(Account {
                auth: AuthMethod::CachingSha2(_),
                ..
            }) => SHA2,
            // An unknown user is asked for a proof like everyone else.
            None if is_mysql() => SHA2,
            _ => NATIVE,
        };
        let mut response = login.auth;
        let can_switch = login.caps.contains(Cap::PLUGIN_AUTH);
        let used = if login.plugin.is_empty() {
            NATIVE
        } else {
            login.plugin.as_str()
        };
        if used != wanted {
            if !can_switch {
                return Err(self.chan.refuse(bad_handshake()));
            }
            response = self.ask_for(wanted)?;
        }
        let given = !matches!(&response[..], [] | [0]);
        let passed = match &account {
            None => false,
            Some(a) => match &a.auth {
                AuthMethod::Native(stored) => {
                    native::verify(&response, &self.scramble, stored.as_ref())
                }
                AuthMethod::CachingSha2(stored) => {
                    self.prove_sha2(&a.user, &a.host, stored, &response, !given)?
                }
                // Refused above.
                AuthMethod::Old => false,
            },
        };
        let account = match account {
            Some(a) if passed && a.tls.is_met(&facts) => a,
            other => {
                let e = access_denied(&login.user, &self.peer.host, given);
                let reason = match &other {
                    None => "no such account",
                    Some(_) if !passed => "wrong password",
                    Some(_) => "REQUIRE is not met",
                };
                let wrong_password = other.is_some() && !passed && given;
                return Err(self.deny(who, other.as_ref(), e, reason, wrong_password));
            }
        };
        if account.locked {
            let e = errors::ACCOUNT_HAS_BEEN_LOCKED.plain();
            return Err(self.deny(who, Some(&account), e, "account is locked", false));
        }
        let wait = self.shared.backend.login_passed(&account);
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
        let tls = match (
            self.chan.stream.tls_version(),
            self.chan.stream.tls_cipher(),
        ) {
            (Some(version), Some(cipher)) => Some((version.to_owned(), cipher)),
            _ => None,
        };
        Ok(ConnectInfo {
            id: self.id,
            user: login.user,
            account,
            peer: self.peer.clone(),
            db: login.db,
            collation: login.collation,
            tls,
            handles_expired: login.caps.contains(Cap::CAN_HANDLE_EXPIRED_PASSWORDS),
            attributes: login.attributes,
            found_rows: login.caps.contains(Cap::FOUND_ROWS),
            multi_statements: login.caps.contains(Cap::MULTI_STATEMENTS),
            ignore_space: login.caps.contains(Cap::IGNORE_SPACE),
            interactive: login.caps.contains(Cap::INTERACTIVE),
            session_track: login.caps.contains(Cap::SESSION_TRACK),
            compressed: login.caps.contains(Cap::COMPRESS),
        })
    }

    /// Asks the client for a proof by another method.
    fn ask_for(&mut self, method: &str) -> Result<Vec<u8>, End> {
        let out = self.chan.writer.begin();
        out.push(0xFE);
        out.extend_from_slice(method.as_bytes());
        out.push(0);
        out.extend_from_slice(&self.scramble);
        out.push(0);
        self.chan.writer.finish();
        self.chan.read_reply()
    }

    /// caching_sha2_password: the fast path, then the full one.
    fn prove_sha2(
        &mut self,
        user: &str,
        host: &str,
        stored: &[u8],
        response: &[u8],
        empty: bool,
    ) -> Result<bool, End> {
        const MORE: u8 = 1;
        const FAST_OK: u8 = 3;
        const FULL: u8 = 4;
        const WANT_KEY: u8 = 2;
        if empty || stored.is_empty() {
            return Ok(empty && stored.is_empty());
        }
        if response.len() != sha2::ANSWER_LEN {
            return Ok(false);
        }
        if self
            .shared
            .sha2
            .verify(user, host, stored, response, &self.scramble)
        {
            self.chan.writer.packet(&[MORE, FAST_OK]);
            return Ok(true);
        }
        self.chan.writer.packet(&[MORE, FULL]);
        let reply = self.chan.read_reply()?;
        let in_tls = matches!(self.chan.stream, Stream::Tls(_));
        let password = if !in_tls && reply == [WANT_KEY] {
            let pem = self.shared.rsa.public_pem()?;
            let out = self.chan.writer.begin();
            out.push(MORE);
            out.extend_from_slice(pem.as_bytes());
            self.chan.writer.finish();
            let sealed = self.chan.read_reply()?;
            self.shared.rsa.open_password(&sealed, &self.scramble)
        } else if in_tls || self.unix {
            let mut clear = reply;
            (clear.pop() == Some(0)).then_some(clear)
        } else {
            self.shared.rsa.open_password(&reply, &self.scramble)
        };
        let Some(password) = password else {
            return Ok(false);
        };
        let passed = self.shared.backend.verify_password(stored, &password);
        if passed {
            self.shared.sha2.remember(user, host, stored, &password);
        }
        Ok(passed)
    }
}

fn bad_handshake() -> SqlError {
    errors::HANDSHAKE_ERROR.plain()
}

struct Commands<'a> {
    session: Box<dyn Session>,
    /// Where answers to commits are left for others to send.
    late: Option<Arc<Late>>,
    /// The client is on this machine, and the thread goes where it is.
    follower: Option<Follower>,
    statements: Statements,
    results: ResultState,
    kill: &'a Arc<KillHandle>,
    deprecate_eof: bool,
}

/// What a command leaves to be sent.
enum Reply {
    /// Its results are already in the buffer.
    Sent,
    /// A plain OK.
    Ok,
    /// Nothing: the command has no answer.
    None,
}

impl Commands<'_> {
    fn run(&mut self, c: &mut Connection<'_>) -> Result<(), End> {
        let mut t = self.session.timeouts();
        let (mut received, mut sent) = (0, 0);
        loop {
            if take(&mut self.results.changed) || t.idle_changes {
                t = self.session.timeouts();
            }
            c.chan.stream.set_timeouts(t.idle, t.net_write)?;
            c.chan.reader.expect_seq(0);
            let at = match c.chan.read(c.limits.max_allowed_packet, t.net_read) {
                Ok(at) => at,
                Err(_) if self.kill.connection_killed() => return Err(End::Killed),
                Err(e) => return Err(c.chan.refuse_read(e)),
            };
            if self.kill.connection_killed() {
                return Err(End::Killed);
            }
            if let Some(f) = &mut self.follower {
                f.received();
            }
            if let Some(l) = &self.late {
                l.wait_committed();
            }
            self.kill.begin_statement();
            self.kill.step();
            received += 4 + at.len() as u64;
            // Whatever a statement broke, the client is told, and its transaction is rolled back in an orderly way.
            let run = || {
                let done = self.command(c, at);
                if self.session.has_commit_pending() {
                    self.settle(c);
                }
                done
            };
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(done) => done?,
                Err(_) => {
                    tracing::error!(connection = c.id, "a panic ended the connection");
                    c.chan.writer.abandon();
                    let e = "Internal error; the connection ends, and the server's log says more";
                    return Err(c.chan.refuse(errors::UNKNOWN_ERROR.text(e)));
                }
            }
            c.chan.stream.set_interruptible(false);
            c.chan.flush()?;
            self.kill.step();
            sent += c.chan.writer.take_sent();
            if received + sent >= TRAFFIC_STEP {
                c.shared
                    .backend
                    .traffic(take(&mut received), take(&mut sent));
            }
            if self.kill.connection_killed() {
                return Err(End::Killed);
            }
            if self.session.wants_to_end() {
                return Ok(());
            }
        }
    }

    /// The answer in the buffer is to a commit. Leaves both to the thread that writes the commit, or waits for it.
    fn settle(&mut self, c: &mut Connection<'_>) {
        let (reader, writer) = (&c.chan.reader, &mut c.chan.writer);
        let seq = reader.next_seq();
        let late = (self.late.as_ref())
            .filter(|_| !reader.has_rest() && !self.session.wants_to_end())
            .filter(|l| l.put(writer, seq));
        match self.session.settle(late.is_some()) {
            Ok(true) => {}
            Ok(false) => {
                if let Some(l) = late {
                    l.take_back(writer);
                }
            }
            Err(e) => {
                if let Some(l) = late {
                    l.take_back(writer);
                }
                writer.start_over(seq);
                c.chan.error(&e, self.results.form);
            }
        }
    }

    fn command(&mut self, c: &mut Connection<'_>, at: Range<usize>) -> Result<(), End> {
        let Some(&code) = c.chan.reader.payload(at.clone()).first() else {
            c.chan.error(&unknown_command(), self.results.form);
            return Ok(());
        };
        let body = at.start + 1..at.end;
        let outcome = match code {
            command::QUIT => return Err(End::Quit),
            command::CHANGE_USER => return self.change_user(c, body),
            command::REGISTER_SLAVE | command::BINLOG_DUMP | command::BINLOG_DUMP_GTID => {
                let payload = c.chan.reader.payload(body).to_vec();
                let mut raw =
                    RawChannel::new(&mut c.chan, self.session.timeouts(), &*c.shared.backend);
                self.session
                    .raw_command(code, &payload, &mut raw)
                    .map(|()| Reply::Sent)
            }
            _ => {
                let Channel {
                    stream,
                    reader,
                    writer,
                } = &mut c.chan;
                // LOAD DATA LOCAL reads more packets: its text must not stay in the reader's buffer.
                let copied;
                let loads = code == command::QUERY
                    && c.caps.contains(Cap::LOCAL_FILES)
                    && is_load(reader.payload(body.clone()));
                let (payload, reader) = if loads {
                    copied = reader.payload(body).to_vec();
                    let timeout = self.session.timeouts().net_read;
                    (&copied[..], Some((reader, timeout)))
                } else {
                    (reader.payload(body), None)
                };
                let mut sink = WireSink::new(
                    writer,
                    stream,
                    reader,
                    &mut self.results,
                    self.deprecate_eof,
                );
                // The others don't say when a statement begins: a KILL that came before would end them.
                let statement = matches!(
                    code,
                    command::QUERY | command::STMT_EXECUTE | command::STMT_BULK_EXECUTE
                );
                sink.stream.set_interruptible(statement);
                match code {
                    command::QUERY => {
                        sink.multi_results = c.caps.contains(Cap::MULTI_RESULTS);
                        let done = self.session.query(payload, &mut sink);
                        sink.end_local_file();
                        done.and_then(|()| sink.check_answered())
                            .map(|()| Reply::Sent)
                    }
                    command::STMT_EXECUTE => {
                        sink.binary = true;
                        sink.multi_results = c.caps.contains(Cap::PS_MULTI_RESULTS);
                        let done = statements::execute(
                            &mut *self.session,
                            &mut self.statements,
                            payload,
                            &mut sink,
                        );
                        done.and_then(|()| sink.check_answered())
                            .map(|()| Reply::Sent)
                    }
                    command::STMT_BULK_EXECUTE
                        if c.mariadb_caps & mariadb_capability::BULK_OPERATIONS != 0 =>
                    {
                        sink.binary = true;
                        statements::bulk_execute(
                            &mut *self.session,
                            &mut self.statements,
                            payload,
                            &mut sink,
                        )
                        .map(|()| Reply::Sent)
                    }
                    _ => other(
                        &mut *self.session,
                        &mut self.statements,
                        code,
                        payload,
                        c.limits.max_allowed_packet,
                        sink,
                    ),
                }
            }
        };
        match outcome {
            Ok(Reply::Sent | Reply::None) => {}
            Ok(Reply::Ok) => self.ok(c),
            Err(e) => c.chan.error(&e, self.results.form),
        }
        Ok(())
    }

    /// An OK packet with nothing in it but what the session tells.
    fn ok(&mut self, c: &mut Connection<'_>) {
        let mut changes = Vec::new();
        put_changes(&mut changes, &self.session.take_changes());
        let status = self.session.status_flags();
        let out = c.chan.writer.begin();
        put_ok(out, 0, &OkInfo::default(), status, &changes);
        c.chan.writer.finish();
    }

    fn change_user(&mut self, c: &mut Connection<'_>, body: Range<usize>) -> Result<(), End> {
        self.results.changed = true;
        let Ok(login) =
            handshake::parse_change_user(c.chan.reader.payload(body), c.caps, c.collation)
        else {
            return Err(c.chan.refuse(malformed()));
        };
        // A wrong password ends the connection: guessing must not be cheaper here than by connecting.
        let info = c.authenticate(login)?;
        c.collation = info.collation;
        self.statements.clear();
        match self.session.change_user(info) {
            Ok(()) => {
                self.results.form.results = self.session.results_collation();
                self.ok(c);
                Ok(())
            }
            Err(e) => Err(c.chan.refuse(e)),
        }
    }
}

/// The commands that are not run often.
fn other(
    session: &mut dyn Session,
    statements: &mut Statements,
    code: u8,
    payload: &[u8],
    max: usize,
    mut sink: WireSink<'_>,
) -> SqlResult<Reply> {
    match code {
        command::PING => Ok(Reply::Ok),
        command::INIT_DB => {
            session.init_db(database_name(payload)?)?;
            Ok(Reply::Ok)
        }
        command::STMT_PREPARE => {
            statements.forget_last();
            let info = session.prepare(payload)?;
            statements::prepared(session, statements, &info, &mut sink);
            Ok(Reply::Sent)
        }
        command::STMT_CLOSE => {
            if let Some(s) = Cursor::new(payload)
                .u32()
                .ok()
                .and_then(|id| statements.remove(id))
            {
                session.close_statement(s.handle);
            }
            Ok(Reply::None)
        }
        command::STMT_RESET => {
            let id = Cursor::new(payload).u32()?;
            match statements.get(id) {
                Some(s) => s.reset_all(),
                None => return Err(statements::unknown(id, "mysqld_stmt_reset")),
            }
            Ok(Reply::Ok)
        }
        command::STMT_SEND_LONG_DATA => {
            // No answer, whatever happens.
            let mut c = Cursor::new(payload);
            if let (Ok(id), Ok(param)) = (c.u32(), c.u16())
                && let Some(s) = statements.get(id)
            {
                s.append(param, c.rest(), max);
            }
            Ok(Reply::None)
        }
        command::STMT_FETCH => {
            statements::fetch(session, statements, payload, &mut sink)?;
            Ok(Reply::Sent)
        }
        command::SET_OPTION => {
            match Cursor::new(payload).u16()? {
                0 => session.set_multi_statements(true),
                1 => session.set_multi_statements(false),
                _ => return Err(unknown_command()),
            }
            let status = session.status_flags();
            sink.eof(0, status);
            Ok(Reply::Sent)
        }
        command::RESET_CONNECTION => {
            sink.state.changed = true;
            session.reset()?;
            sink.state.form.results = session.results_collation();
            statements.clear();
            Ok(Reply::Ok)
        }
        command::STATISTICS => {
            let line = session.statistics();
            sink.writer.packet(line.as_bytes());
            Ok(Reply::Sent)
        }
        command::PROCESS_KILL => {
            let id = Cursor::new(payload).u32()?;
            session.kill(id)?;
            Ok(Reply::Ok)
        }
        command::REFRESH => {
            let what = payload.first().copied().unwrap_or(0);
            let mut statements = refresh(what)?;
            let last = statements.pop().unwrap_or_default();
            for statement in statements {
                session.query(statement.as_bytes(), &mut Discard)?;
            }
            session.query(last.as_bytes(), &mut sink)?;
            Ok(Reply::Sent)
        }
        command::PROCESS_INFO => {
            session.query(b"SHOW PROCESSLIST", &mut sink)?;
            Ok(Reply::Sent)
        }
        command::FIELD_LIST => {
            field_list(session, payload, &mut sink)?;
            Ok(Reply::Sent)
        }
        _ => Err(unknown_command()),
    }
}

fn database_name(payload: &[u8]) -> SqlResult<&str> {
    std::str::from_utf8(payload)
        .map_err(|_| errors::BAD_DB_ERROR.with([&String::from_utf8_lossy(payload)]))
}

/// COM_FIELD_LIST: the columns of a table.
fn field_list(session: &mut dyn Session, payload: &[u8], sink: &mut WireSink<'_>) -> SqlResult<()> {
    let mut c = Cursor::new(payload);
    let table = c.nul_bytes()?;
    let text = |b| std::str::from_utf8(b).map_err(|_| malformed());
    let columns = session.field_list(text(table)?, text(c.rest())?)?;
    for column in &columns {
        let out = sink.writer.begin();
        put_column(out, column, sink.state.form);
        // The default value, which nothing reads any more: NULL.
        out.push(0xFB);
        sink.writer.finish();
    }
    let status = session.status_flags();
    sink.eof(0, status);
    Ok(())
}

/// True for a text that begins with LOAD.
fn is_load(sql: &[u8]) -> bool {
    // Most texts begin with another letter: those need no look at their words.
    let other =
        matches!(sql.first(), Some(b) if b.is_ascii_alphabetic() && !matches!(b, b'l' | b'L'));
    !other && glance::first_words(sql, SqlMode::DEFAULT)[0] == Kw::LOAD
}

/// COM_REFRESH as the statements that do the same: bit by bit what is to be flushed.
fn refresh(what: u8) -> SqlResult<Vec<String>> {
    const PARTS: [(u8, &str); 4] = [
        (0x01, "PRIVILEGES"),
        (0x02, "LOGS"),
        (0x08, "HOSTS"),
        (0x10, "STATUS"),
    ];
    const TABLES: u8 = 0x04;
    const MASTER: u8 = 0x80;
    let parts: Vec<&str> = PARTS
        .iter()
        .filter(|(bit, _)| what & bit != 0)
        .map(|(_, part)| *part)
        .collect();
    let mut statements = Vec::new();
    // Tables are flushed by a statement of their own.
    if what & TABLES != 0 {
        statements.push("FLUSH TABLES".to_string());
    }
    if !parts.is_empty() {
        statements.push(format!("FLUSH {}", parts.join(", ")));
    }
    match (what & !0x1f, statements.is_empty()) {
        (0, false) => Ok(statements),
        (MASTER, true) => Ok(vec!["RESET MASTER".into()]),
        _ => Err(SqlError::unsupported("this COM_REFRESH")),
    }
}

/// Sends an error to a client that gets no connection at all, in place of the greeting.
pub(crate) fn turn_away(socket: &Socket, e: &SqlError) {
    let mut writer = PacketWriter::new();
    put_err(writer.begin(), e, Form::default());
    writer.finish();
    let mut wire = Vec::new();
    let _ = writer.flush(&mut wire);
    let _ = socket.write_all(&wire, Duration::ZERO);
}
