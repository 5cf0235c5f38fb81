//! The binary log as a server sends it to replicas: COM_REGISTER_SLAVE, COM_BINLOG_DUMP, event packets.

use crate::channel::server_error;
use crate::connection::Connection;
use crate::rows::is_eof;
use crate::socket::Hangup;
use crate::{Error, Result};
use narwal_wire::protocol::command;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// What marks the packets of semi-synchronous replication.
const SEMI_SYNC_MAGIC: u8 = 0xEF;

/// How a replica registers (SHOW SLAVE HOSTS).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replica {
    /// Its server id.
    pub server_id: u32,
    /// Host that it reports, at most 60 bytes in MariaDB.
    pub host: String,
    /// Port that it reports.
    pub port: u16,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DumpRequest {
    /// Server id of the reader: two readers of one id push each other out. 0 means: end at the end of the log.
    pub server_id: u32,
    /// File name; empty: the oldest one. Without meaning if `@slave_connect_state` was set.
    pub file: String,
    /// The transactions that the reader has, in MySQL's form: the log of a MySQL comes without them, and file and offset have
    /// no meaning.
    pub gtid_set: Option<Vec<u8>>,
    /// Offset, at least 4. Without meaning if `@slave_connect_state` was set.
    pub position: u32,
    /// End at the end of the log.
    pub non_blocking: bool,
    /// Send statements' texts too.
    pub annotate: bool,
    /// `@rpl_semi_sync_slave` was set: packets say whether an acknowledgement is wanted.
    pub semi_sync: bool,
}

/// What a server sends of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet<'a> {
    /// An event, whole.
    Event(&'a [u8]),
    /// An event, whole, which ends a group that the server wants acknowledged ([`Dump::acknowledge`]).
    WantsAck(&'a [u8]),
    /// Nothing within the time.
    Idle,
    /// The end of the log, if that was asked for; else the server stops.
    End,
}

impl Connection {
    /// Registers as a replica; needed only to be listed.
    ///
    /// # Errors
    /// All kinds.
    pub fn register_replica(&mut self, replica: &Replica) -> Result<()> {
        self.send(command::REGISTER_SLAVE, |p| {
            let host = &replica.host.as_bytes()[..replica.host.len().min(60)];
            p.extend_from_slice(&replica.server_id.to_le_bytes());
            p.push(host.len() as u8);
            p.extend_from_slice(host);
            // No user, no password.
            p.extend_from_slice(&[0, 0]);
            p.extend_from_slice(&replica.port.to_le_bytes());
            // Rank, source id.
            p.extend_from_slice(&[0; 8]);
        })?;
        self.read_ok().map(|_| ())
    }

    /// Asks for the log. What the source must know of this side before (checksums, capability, heartbeat, GTID position) are
    /// user variables, to be set by statements.
    ///
    /// # Errors
    /// All kinds; refusals come with the first packet.
    pub fn dump(mut self, request: &DumpRequest) -> Result<Dump> {
        const NON_BLOCK: u16 = 0x0001;
        const ANNOTATE: u16 = 0x0002;
        const BY_GTID: u16 = 0x0004;
        let by_set = |p: &mut Vec<u8>, set: &[u8]| {
            let non_blocking = u16::from(request.non_blocking) * NON_BLOCK;
            p.extend_from_slice(&(BY_GTID | non_blocking).to_le_bytes());
            p.extend_from_slice(&request.server_id.to_le_bytes());
            // No file name.
            p.extend_from_slice(&0u32.to_le_bytes());
            p.extend_from_slice(&4u64.to_le_bytes());
            p.extend_from_slice(&(set.len() as u32).to_le_bytes());
            p.extend_from_slice(set);
        };
        let by_position = |p: &mut Vec<u8>| {
            let mut flags = 0;
            if request.non_blocking {
                flags |= NON_BLOCK;
            }
            if request.annotate {
                flags |= ANNOTATE;
            }
            p.extend_from_slice(&request.position.to_le_bytes());
            p.extend_from_slice(&flags.to_le_bytes());
            p.extend_from_slice(&request.server_id.to_le_bytes());
            p.extend_from_slice(request.file.as_bytes());
        };
        match &request.gtid_set {
            Some(set) => self.send(command::BINLOG_DUMP_GTID, |p| by_set(p, set))?,
            None => self.send(command::BINLOG_DUMP, by_position)?,
        }
        Ok(Dump {
            silent: self.read_timeout(),
            quiet: Duration::ZERO,
            semi_sync: request.semi_sync,
            counts_anew: false,
            connection: self,
            over: false,
        })
    }
}

/// The log on its way.
#[derive(Debug)]
pub struct Dump {
    connection: Connection,
    /// How long the server may say nothing at all; with a heartbeat it never does for long.
    silent: Duration,
    /// How long it was listened to in vain: time in which nobody listened does not count.
    quiet: Duration,
    semi_sync: bool,
    /// The server counts its packets from 1 again behind one whose acknowledgement it wants.
    counts_anew: bool,
    over: bool,
}

impl Dump {
    /// The next event packet; waits at most `wait` for one to begin.
    ///
    /// # Errors
    /// [`Error::Server`] with 1236 if the log does not have what was asked for; [`Error::Timeout`] if the server has said
    /// nothing for the connection's read timeout; and all others. No packet comes after one.
    pub fn next(&mut self, wait: Duration) -> Result<Packet<'_>> {
        if self.over {
            return Ok(Packet::End);
        }
        let since = Instant::now();
        self.connection.channel.stream().set_idle(wait);
        if self.semi_sync && std::mem::take(&mut self.counts_anew) {
            self.connection.channel.expect_seq(1);
        }
        let result = match self.connection.channel.try_read() {
            Ok(Some([0x00, SEMI_SYNC_MAGIC, 0, event @ ..])) if self.semi_sync => {
                Ok(Packet::Event(event))
            }
            Ok(Some([0x00, SEMI_SYNC_MAGIC, 1, event @ ..])) if self.semi_sync => {
                self.counts_anew = true;
                Ok(Packet::WantsAck(event))
            }
            Ok(Some([0x00, ..])) if self.semi_sync => Err(Error::Protocol(
                "a packet without the mark of semi-synchronous replication",
            )),
            Ok(Some([0x00, event @ ..])) => Ok(Packet::Event(event)),
            Ok(Some([0xFF, rest @ ..])) => Err(server_error(rest)),
            Ok(Some(p)) if is_eof(p) => Ok(Packet::End),
            Ok(Some(_)) => Err(Error::Protocol("a packet that is none of a log")),
            Ok(None) => {
                self.quiet += since.elapsed();
                match self.quiet > self.silent {
                    true => Err(Error::Timeout),
                    false => Ok(Packet::Idle),
                }
            }
            Err(e) => Err(e),
        };
        match &result {
            Ok(Packet::Event(_) | Packet::WantsAck(_)) => self.quiet = Duration::ZERO,
            Ok(Packet::Idle) => {}
            Ok(Packet::End) | Err(_) => self.over = true,
        }
        result
    }

    /// Waits until there is something for [`next`](Self::next), at most for `wait`; false if there is not, or if `wake` can be
    /// read.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn ready(&mut self, wake: BorrowedFd<'_>, wait: Duration) -> Result<bool> {
        if self.over || self.connection.channel.has_rest() {
            return Ok(true);
        }
        let since = Instant::now();
        let ready = self.connection.channel.stream().wait(wake, wait)?;
        if !ready {
            self.quiet += since.elapsed();
            if self.quiet > self.silent {
                self.over = true;
                return Err(Error::Timeout);
            }
        }
        Ok(ready)
    }

    /// Tells a semi-synchronous server that everything up to this place of its log is safe here.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn acknowledge(&mut self, file: &str, pos: u64) -> Result<()> {
        self.connection.channel.interject(|p| {
            p.push(SEMI_SYNC_MAGIC);
            p.extend_from_slice(&pos.to_le_bytes());
            p.extend_from_slice(file.as_bytes());
        })
    }

    /// Ends the dump from another thread.
    #[must_use]
    pub fn hangup(&mut self) -> Option<Hangup> {
        self.connection.hangup()
    }
}
