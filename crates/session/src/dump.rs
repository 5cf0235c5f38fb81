//! A session as a replica's: COM_REGISTER_SLAVE, COM_BINLOG_DUMP. Privileges, the variables that a reader sets before,
//! the process list; the rest is [`narwal_source::Source`]'s.

use crate::privileges::PrivilegeSet;
use crate::process::{Command, Process, Stage};
use crate::session::ClientSession;
use crate::status;
use narwal_binlog::GtidSet;
use narwal_source::{
    Checksum, Client, ClientVars, DumpError, DumpIo, DumpRequest, MalformedPacket, RegisterRequest,
    State, Wake,
};
use narwal_sql::VariableSource;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn malformed(_: MalformedPacket) -> SqlError {
    errors::MALFORMED_PACKET.plain()
}

/// The dump's view of its session.
struct Dumping(Arc<Process>);

impl Client for Dumping {
    fn killed(&self) -> bool {
        self.0.interrupt.load(Ordering::SeqCst) || self.0.killed.load(Ordering::SeqCst)
    }

    fn state(&self, state: State) {
        self.0.stage(match state {
            State::Sending => Stage::SendingEvents,
            State::NextFile => Stage::NextBinlog,
            State::SentAll => Stage::SentAll,
        });
    }
}

impl ClientSession {
    /// COM_REGISTER_SLAVE; the caller sends OK.
    pub fn register_replica(&mut self, packet: &[u8]) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.begin_command(Command::RegisterReplica, b"");
        let done = self
            .rights
            .refuse_expired()
            .and_then(|()| self.register(packet));
        self.process.end(self.instance.processes.now());
        done
    }

    fn register(&mut self, packet: &[u8]) -> SqlResult<()> {
        if !self.account().global.has(PrivilegeSet::REPLICATION_SLAVE) {
            // What MariaDB says here, and it names the account.
            return Err(errors::ACCESS_DENIED_ERROR.with([
                &self.client.account_user,
                &self.client.account_host,
                &(if self.rights.account.auth.is_empty() {
                    "NO"
                } else {
                    "YES"
                }),
            ]));
        }
        let request = RegisterRequest::parse(packet).map_err(malformed)?;
        self.instance.source().register(self.client.id, request);
        Ok(())
    }

    /// COM_BINLOG_DUMP: sends events until something ends the dump, and with it the connection.
    pub fn binlog_dump(&mut self, packet: &[u8], io: &mut dyn DumpIo) -> SqlResult<()> {
        self.begin_dump();
        let done = DumpRequest::parse(packet)
            .map_err(malformed)
            .and_then(|request| self.dump(&request, None, io));
        self.end_dump(done)
    }

    /// COM_BINLOG_DUMP_GTID, the command of MySQL's readers: as [`binlog_dump`](Self::binlog_dump), from the first
    /// transaction on that the reader does not have.
    pub fn binlog_dump_gtid(&mut self, packet: &[u8], io: &mut dyn DumpIo) -> SqlResult<()> {
        self.begin_dump();
        let done = DumpRequest::parse_gtid(packet)
            .map_err(malformed)
            .and_then(|(request, executed)| self.dump(&request, Some(executed), io));
        self.end_dump(done)
    }

    fn begin_dump(&mut self) {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.begin_command(Command::BinlogDump, b"");
        self.process.interrupt.store(false, Ordering::SeqCst);
    }

    fn end_dump(&mut self, done: SqlResult<()>) -> SqlResult<()> {
        self.process.set_waker(None);
        self.process.end(self.instance.processes.now());
        done
    }

    fn dump(
        &mut self,
        request: &DumpRequest,
        executed: Option<GtidSet>,
        io: &mut dyn DumpIo,
    ) -> SqlResult<()> {
        self.rights.refuse_expired()?;
        self.need_any(PrivilegeSet::REPLICATION_SLAVE)?;
        // A MySQL server, or who speaks like one: it says this, and not what it knows of MariaDB. It counts the bytes that
        // it is sent, so no place in a file means the same to both.
        let says = |name| self.vars.user(name) != Value::Null;
        if executed.is_none() && says("replica_uuid") && !says("mariadb_slave_capability") {
            return Err(errors::MASTER_FATAL_ERROR_READING_BINLOG.text(
                "A MySQL replica of Narwal attaches by GTID only: CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1, with gtid_mode = ON",
            ));
        }
        // A snapshot that it may have is not to be kept for as long as the dump runs.
        self.rollback_open();
        let wake = Wake::new().map_err(|e| errors::UNKNOWN_ERROR.text(e.to_string()))?;
        let waker = wake.clone();
        self.process.set_waker(Some(Arc::new(move || waker.wake())));
        let mut vars = self.reader_vars();
        vars.executed = executed;
        let client = Dumping(self.process.clone());
        // As with MariaDB, nothing comes after a dump.
        self.release = true;
        let source = self.instance.source().clone();
        match source.dump(request, &vars, &client, &wake, io) {
            Ok(_) => Ok(()),
            Err(DumpError::Refused(e)) => Err(e),
            Err(DumpError::Lost(e)) => Err(errors::NET_READ_ERROR
                .text(format!("Got an error reading communication packets: {e}"))),
        }
    }

    /// What the reader has said of itself by SET.
    fn reader_vars(&self) -> ClientVars {
        let user = |name: &str| match self.vars.user(name) {
            Value::Null => None,
            v => Some(text(&v)),
        };
        // MySQL's readers have words of their own for some.
        let var = |name: &str| {
            user(name).or_else(|| match name {
                "master_heartbeat_period" => user("source_heartbeat_period"),
                "master_binlog_checksum" => user("source_binlog_checksum"),
                "rpl_semi_sync_slave" => user("rpl_semi_sync_replica"),
                _ => None,
            })
        };
        let number = |name: &str| -> Option<f64> { var(name)?.trim().parse().ok() };
        let on = |name: &str| number(name).is_some_and(|n| n != 0.0);
        let heartbeat = number("master_heartbeat_period")
            .filter(|n| *n >= 1.0)
            // The shortest period that a replica can be told to ask for: nobody may have a core kept busy with them.
            .map(|n| Duration::from_nanos(n as u64).max(Duration::from_millis(1)));
        let line = self.process.line(0);
        ClientVars {
            connection_id: self.client.id,
            user: line.user,
            host: line.host,
            source_id: self.instance.global_value("server_id").as_u64() as u32,
            heartbeat,
            checksum: match var("master_binlog_checksum") {
                None => Checksum::Unset,
                Some(v) if v.eq_ignore_ascii_case("NONE") => Checksum::None,
                Some(_) => Checksum::Crc32,
            },
            executed: None,
            capability: number("mariadb_slave_capability").map_or(0, |n| n as u64),
            connect_state: var("slave_connect_state"),
            contents: var("narwal_connect_hash")
                .map(|v| narwal_binlog::parse_connect_hash(&v))
                .unwrap_or_default(),
            strict: on("slave_gtid_strict_mode"),
            ignore_duplicates: on("slave_gtid_ignore_duplicates"),
            until: var("slave_until_gtid"),
            semi_sync: on("rpl_semi_sync_slave"),
        }
    }
}

/// A user variable's value as text.
fn text(value: &Value) -> String {
    match value {
        Value::Str(s) => s.to_string(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Float(n) => n.to_string(),
        Value::Double(n) => n.to_string(),
        Value::Decimal(n) => n.to_string(),
        _ => String::new(),
    }
}
