//! The log of a server, as a replica gets it: of Narwal, or of a MariaDB 10.11 with `binlog_row_metadata=FULL`.

use super::{EventGroup, Source, Start, Step};
use crate::stream::fill;
use crate::{Error, Place, Result};
use narwal_binlog::{
    BinlogError, Event, EventHeader, EventReader, Gtid, GtidState, RawEvent, event_type,
    gtid_flags, uncompressed_type,
};
use narwal_client::{Connection, Dump, DumpRequest, Packet, Replica};
use narwal_types::errors::codes;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one look at the connection lasts inside a group.
const SLICE: Duration = Duration::from_secs(1);

/// How to read a server's log.
#[derive(Debug, Clone)]
pub struct NetworkOptions {
    /// Where the server is, and as whom to connect: an account with REPLICATION SLAVE.
    pub connect: narwal_client::Options,
    /// Server id of the reader, which no other reader or replica of the server may have.
    pub server_id: u32,
    /// The server says this often that it is there when it has nothing to say.
    pub heartbeat: Duration,
    /// End at the end of the log.
    pub only_what_is_there: bool,
    /// Ask for statements' texts.
    pub with_query: bool,
}

impl NetworkOptions {
    /// With a server id by chance, a heartbeat every 5 s, without an end.
    #[must_use]
    pub fn new(connect: narwal_client::Options) -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos() as u64);
        let chance = now ^ u64::from(std::process::id()) << 32;
        // Any bijection that stirs the bits will do; ids of servers are small as a rule.
        let stirred = chance.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34;
        NetworkOptions {
            connect,
            server_id: 0x8000_0000 | stirred as u32,
            heartbeat: Duration::from_secs(5),
            only_what_is_there: false,
            with_query: false,
        }
    }
}

impl From<narwal_client::Error> for Error {
    fn from(e: narwal_client::Error) -> Self {
        use narwal_client::Error as C;
        const FATAL_READ: u16 = codes::MASTER_FATAL_ERROR_READING_BINLOG;
        match e {
            C::Server {
                code: FATAL_READ,
                message,
                ..
            } if [
                "urged",
                "ould not find",
                "not in the master",
                "not in the source",
            ]
            .iter()
            .any(|part| message.contains(part)) =>
            {
                Error::Gone(message)
            }
            e if e.is_retriable() => Error::Lost(e.to_string()),
            e => Error::Refused(e.to_string()),
        }
    }
}

/// The group that events come of.
#[derive(Debug, Clone, Copy)]
struct Open {
    gtid: Gtid,
    standalone: bool,
    /// Its last event was given.
    over: bool,
}

/// Reads a server's log over a connection.
#[derive(Debug)]
pub struct NetworkSource {
    options: NetworkOptions,
    start: Start,
    dump: Option<Dump>,
    checksums: bool,
    file: Arc<str>,
    open: Option<Open>,
    place: Option<Place>,
    event: Vec<u8>,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// The GTID position at an offset of a file.
pub(crate) fn position_at(c: &mut Connection, file: &str, offset: u64) -> Result<Place> {
    let sql = format!("SELECT BINLOG_GTID_POS({},{offset})", quoted(file));
    match c.value(&sql)? {
        Some(text) => text.parse(),
        None => Err(Error::Gone(format!(
            "the server has no transaction that begins or ends at {file}:{offset}"
        ))),
    }
}

impl NetworkSource {
    /// Connects and asks for the log from `start` on.
    ///
    /// # Errors
    /// [`Error::Lost`] if the server can't be reached, [`Error::Refused`] if it refuses. That the log does not have what
    /// follows `start`, [`Error::Gone`], is said by the first call of [`Source::next_group`] as a rule.
    pub fn open(options: NetworkOptions, start: &Start) -> Result<Self> {
        let mut source = NetworkSource {
            options,
            start: start.clone(),
            dump: None,
            checksums: false,
            file: "".into(),
            open: None,
            place: None,
            event: Vec::new(),
        };
        source.attach(start)?;
        Ok(source)
    }

    fn attach(&mut self, start: &Start) -> Result<()> {
        (self.dump, self.open) = (None, None);
        let o = &self.options;
        let mut connect = o.connect.clone();
        // Three heartbeats and a little.
        connect.read_timeout = connect.read_timeout.max(o.heartbeat * 3 + SLICE);
        let mut c = Connection::connect(&connect)?;
        let place = match start {
            Start::Beginning => None,
            Start::Now => {
                let now = c.value("SELECT @@GLOBAL.gtid_binlog_pos")?;
                Some(now.unwrap_or_default().parse()?)
            }
            Start::Place(place) => Some(place.clone()),
            Start::File { name, offset } => Some(position_at(&mut c, name, *offset)?),
        };
        c.execute(&format!(
            "SET @master_heartbeat_period={}",
            o.heartbeat.as_nanos()
        ))?;
        c.execute("SET @master_binlog_checksum=@@global.binlog_checksum")?;
        c.execute("SET @mariadb_slave_capability=4")?;
        if let Some(place) = &place {
            let state = quoted(&place.opening().position_text());
            c.execute(&format!("SET @slave_connect_state={state}"))?;
            c.execute("SET @slave_gtid_strict_mode=0")?;
            c.execute("SET @slave_gtid_ignore_duplicates=0")?;
        }
        c.register_replica(&Replica {
            server_id: o.server_id,
            ..Replica::default()
        })?;
        self.dump = Some(c.dump(&DumpRequest {
            server_id: o.server_id,
            file: String::new(),
            position: 4,
            gtid_set: None,
            non_blocking: o.only_what_is_there,
            annotate: o.with_query,
            semi_sync: false,
        })?);
        self.place = place;
        self.checksums = false;
        Ok(())
    }

    /// Reads the next event into `self.event`; `None` if nothing came in time. The third is the end.
    fn read(&mut self, wait: Duration) -> Result<Got> {
        let Some(dump) = &mut self.dump else {
            return Err(Error::Lost("not connected".into()));
        };
        let got = match dump.next(wait) {
            Ok(Packet::Event(bytes) | Packet::WantsAck(bytes)) => {
                fill(&mut self.event, bytes);
                Ok(Got::Event(EventHeader::parse(&self.event).map_err(broken)?))
            }
            Ok(Packet::Idle) => Ok(Got::Nothing),
            Ok(Packet::End) if self.options.only_what_is_there => Ok(Got::End),
            Ok(Packet::End) => Err(Error::Lost("the server ended the stream".into())),
            Err(e) => Err(e.into()),
        };
        if got.is_err() {
            self.dump = None;
        }
        got
    }

    /// The event in `self.event`, verified.
    fn raw(&self) -> Result<RawEvent<'_>> {
        let read = |checksums| {
            let reader = EventReader::new(&self.event);
            let mut reader = match checksums {
                true => reader,
                false => reader.without_checksums(),
            };
            let read = reader.next();
            read.unwrap_or(Err(BinlogError::Truncated("an event")))
        };
        let artificial = EventHeader::parse(&self.event)
            .is_ok_and(|h| h.event_type == event_type::ROTATE && h.end_log_pos == 0);
        let first = read(self.checksums || artificial);
        match first {
            // What is made for the stream may have a checksum though the file has none, and the other way round.
            Err(_) if artificial => read(false),
            other => other,
        }
        .map_err(broken)
    }

    /// An event between groups; the group that it begins.
    fn between(&mut self, header: &EventHeader) -> Result<Option<EventGroup>> {
        if !matches!(
            header.event_type,
            event_type::FORMAT_DESCRIPTION
                | event_type::ROTATE
                | event_type::GTID_LIST
                | event_type::GTID
        ) {
            return Ok(None);
        }
        let decoded = self.raw()?.decode().map_err(broken)?;
        let list = match decoded {
            Event::FormatDescription {
                checksum_algorithm, ..
            } => {
                self.checksums = checksum_algorithm != 0;
                return Ok(None);
            }
            Event::Rotate { name, .. } => {
                // Some readers' servers end it with a NUL.
                let name = name.split(|b| *b == 0).next().unwrap_or_default();
                self.file = String::from_utf8_lossy(name).into();
                return Ok(None);
            }
            Event::GtidList { gtids, .. } => gtids,
            Event::Gtid(event) => {
                let size = u64::from(header.event_size);
                self.open = Some(Open {
                    gtid: event.gtid,
                    standalone: event.flags2 & gtid_flags::STANDALONE != 0,
                    over: false,
                });
                self.place.get_or_insert_default();
                return Ok(Some(EventGroup {
                    gtid: event.gtid,
                    flags2: event.flags2,
                    file: self.file.clone(),
                    pos: u64::from(header.end_log_pos).saturating_sub(size),
                    timestamp: header.timestamp,
                }));
            }
            _ => return Ok(None),
        };
        self.learn(&list);
        Ok(None)
    }

    /// The head of a file: what was written before it.
    fn learn(&mut self, list: &GtidState) {
        if self.place.is_none() {
            self.place = Some(Place::new(list.position()));
        }
    }

    /// Whether the event in `self.event` ends the group at hand.
    fn ends(&self, header: &EventHeader, standalone: bool) -> Result<bool> {
        const XA_PREPARE: u8 = 38;
        let code = uncompressed_type(header.event_type).unwrap_or(header.event_type);
        Ok(match code {
            event_type::XID | XA_PREPARE => true,
            event_type::QUERY if standalone => true,
            event_type::QUERY if header.event_type == event_type::QUERY => {
                let Event::Query(query) = self.raw()?.decode().map_err(broken)? else {
                    return Ok(false);
                };
                query.sql.eq_ignore_ascii_case(b"COMMIT")
                    || query.sql.eq_ignore_ascii_case(b"ROLLBACK")
            }
            _ => false,
        })
    }
}

/// What came over the connection.
enum Got {
    Event(EventHeader),
    Nothing,
    End,
}

/// Events that make no sense: bytes went wrong on their way, if the server's own checks let them pass.
fn broken(e: BinlogError) -> Error {
    Error::Damaged(format!("an event from the server: {e}"))
}

impl Source for NetworkSource {
    fn next_group(&mut self, wait: Duration) -> Result<Step> {
        while self.open.is_some_and(|o| !o.over) {
            self.next_event()?;
        }
        self.open = None;
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.read(left)? {
                Got::Event(header) => {
                    if let Some(group) = self.between(&header)? {
                        return Ok(Step::Group(group));
                    }
                }
                Got::Nothing => return Ok(Step::Idle),
                Got::End => return Ok(Step::End),
            }
        }
    }

    fn next_event(&mut self) -> Result<Option<&[u8]>> {
        let Some(open) = self.open.filter(|o| !o.over) else {
            return Ok(None);
        };
        loop {
            match self.read(SLICE)? {
                Got::Event(header) if header.event_type == event_type::HEARTBEAT => {}
                Got::Event(header) => {
                    if self.ends(&header, open.standalone)? {
                        self.open = Some(Open { over: true, ..open });
                    }
                    return Ok(Some(&self.event));
                }
                Got::Nothing => {}
                Got::End => {
                    self.dump = None;
                    return Err(Error::Lost(format!(
                        "the server ended the stream inside transaction {}",
                        open.gtid
                    )));
                }
            }
        }
    }

    fn checksums(&self) -> bool {
        self.checksums
    }

    fn place(&self) -> Option<Place> {
        self.place.clone()
    }

    fn reopen(&mut self, place: Option<&Place>) -> Result<()> {
        let start = match place {
            Some(place) => Start::Place(place.clone()),
            None => self.start.clone(),
        };
        self.attach(&start)
    }
}
