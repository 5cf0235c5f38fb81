//! From a source's packets to groups: every length, checksum and order is checked here, without any I/O. What a source
//! sends is never trusted: wrong bytes end in a [`Fault`], and memory is bounded by what really arrived.

use crate::queue::{GroupHead, Item, PushError};
use narwal_binlog::{
    BinlogError, ContentHash, ContentHasher, Event, EventHeader, EventReader, Gtid, GtidSet,
    HEADER_LEN, MysqlGtid, PayloadEvents, RawEvent, SameContent, decompressed_body, event_flags,
    event_type, gtid_flags, mysql_event, uncompressed_type,
};
use narwal_engine::SourceGtid;
use narwal_session::replica::ConnectionConfig;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A group of more bytes than this is applied while it arrives.
pub const STREAM_THRESHOLD: usize = 1 << 20;

/// Domains that a source may have.
const MAX_DOMAINS: usize = 1 << 16;
/// Bytes of a file's name, as MariaDB has it.
const MAX_NAME: usize = 512;

/// Event types that only matter here.
mod kind {
    pub(super) const INCIDENT: u8 = 26;
    pub(super) const START_ENCRYPTION: u8 = 164;
}

/// Bit of an artificial GTID_LIST: everything up to UNTIL was sent.
const UNTIL_REACHED: u8 = 1;

/// Error numbers of MariaDB that SQL statements don't meet.
pub mod errno {
    use narwal_types::errors::codes;

    /// Something that Narwal does not have.
    pub const NOT_SUPPORTED: u16 = codes::NOT_SUPPORTED_YET;
    /// The source says that its log lacks something.
    pub const INCIDENT: u16 = codes::SLAVE_INCIDENT;
    /// The link is refused for good.
    pub const FATAL: u16 = codes::SLAVE_FATAL_ERROR;
    /// What was received can't be used.
    pub const QUEUE: u16 = codes::SLAVE_RELAY_LOG_WRITE_FAILURE;
    /// The source does not answer what a replica must know: its server id and the like.
    pub const SOURCE_COMMAND: u16 = codes::SLAVE_MASTER_COM_FAILURE;
    /// A heartbeat makes no sense.
    pub const HEARTBEAT: u16 = codes::SLAVE_HEARTBEAT_FAILURE;
    /// A checksum is wrong.
    pub const CHECKSUM: u16 = codes::NETWORK_READ_EVENT_CHECKSUM_FAILURE;
    /// A GTID is not the next one.
    pub const OUT_OF_ORDER: u16 = codes::GTID_STRICT_OUT_OF_ORDER;
}

/// Why receiving can't go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// MariaDB's error number, `Last_IO_Errno`.
    pub code: u16,
    /// The sentence, `Last_IO_Error`.
    pub text: String,
    /// A new link may do better; else the receiver stops.
    pub retry: bool,
}

impl Fault {
    pub(crate) fn fatal(code: u16, text: impl Into<String>) -> Self {
        Fault {
            code,
            text: text.into(),
            retry: false,
        }
    }
}

/// What ended the work on a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// What was sent.
    Fault(Fault),
    /// The queue takes nothing.
    Queue(PushError),
}

impl From<Fault> for Broken {
    fn from(f: Fault) -> Self {
        Broken::Fault(f)
    }
}

impl From<PushError> for Broken {
    fn from(e: PushError) -> Self {
        Broken::Queue(e)
    }
}

/// What a packet was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A part of a group, or something between groups.
    Event,
    /// The end of a group with this GTID.
    Group(Gtid),
    /// The source has nothing new.
    Heartbeat,
    /// Everything up to START SLAVE UNTIL's GTIDs was sent.
    UntilReached,
}

/// Looks the content of a group of this server up.
#[derive(Clone)]
pub struct Contents(pub Arc<dyn Fn(Gtid) -> Option<ContentHash> + Send + Sync>);

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contents")
    }
}

/// By which rules groups are received.
#[derive(Debug, Clone)]
pub struct Rules {
    /// This server's id: its own groups come back in circles.
    pub server_id: u32,
    /// What is left out.
    pub config: Arc<ConnectionConfig>,
    /// `gtid_strict_mode`: sequence numbers must grow.
    pub strict: bool,
    /// `narwal_gtid_gaps` is STOP: and by one.
    pub stop_at_gaps: bool,
    /// Groups larger than this (bytes) are handed on in parts.
    pub stream_threshold: usize,
    /// The source is Narwal: its files are virtual, and this server's begin where they do.
    pub narwal: bool,
    /// An INCIDENT is passed over.
    pub pass_incident: bool,
    /// `gtid_domain_id`: domain of the GTIDs that a MySQL's groups get here.
    pub domain: u32,
    /// The last GTID of each domain in this server's own log, where that is behind what was received.
    pub own: BTreeMap<u32, Gtid>,
    /// What this server's groups change: to be compared with what comes under the same GTID.
    pub contents: Option<Contents>,
}

/// Where a stream stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    /// The last group received of each domain.
    pub gtids: BTreeMap<u32, Gtid>,
    /// The groups received, or applied before, of MySQLs.
    pub mysql: GtidSet,
    /// The source's file.
    pub file: Arc<str>,
    /// Offset in it, behind the last group that is complete.
    pub pos: u64,
}

impl Default for SourcePosition {
    fn default() -> Self {
        SourcePosition {
            gtids: BTreeMap::new(),
            mysql: GtidSet::new(),
            file: "".into(),
            pos: 4,
        }
    }
}

impl SourcePosition {
    /// The GTIDs as SQL writes them.
    #[must_use]
    pub fn gtid_text(&self) -> String {
        gtid_text(self.gtids.values())
    }
}

/// A list of GTIDs as SQL writes it.
pub(crate) fn gtid_text<'a>(gtids: impl Iterator<Item = &'a Gtid>) -> String {
    let all: Vec<String> = gtids.map(ToString::to_string).collect();
    all.join(",")
}

/// The group that is arriving.
#[derive(Debug)]
struct Open {
    head: GroupHead,
    events: Vec<u8>,
    /// It is not handed on.
    skip: bool,
    /// Its GTID event does not say what kind of group it is (MySQL's do not): the next event will.
    undecided: bool,
}

/// A group that was handed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastGroup {
    /// Bytes in the source's log.
    pub bytes: u64,
    /// Of its GTID event.
    pub timestamp: u32,
    /// The source's name for it.
    pub source: SourceGtid,
}

/// Makes groups of one link's events.
#[derive(Debug)]
pub struct Assembler {
    rules: Rules,
    checksums: bool,
    /// What is complete.
    place: SourcePosition,
    file: Arc<str>,
    pos: u64,
    /// End of the GTID_LIST at the present file's head, where the file's first group stands.
    list_end: Option<u64>,
    open: Option<Open>,
    /// The beginning of the group at hand has been handed on.
    streaming: bool,
    last: LastGroup,
    /// The applier was told to stop, so what follows is not needed.
    parked: bool,
    /// Bytes of the last group.
    usual: usize,
}

type Put<'a> = &'a mut dyn FnMut(Item) -> Result<(), PushError>;

fn malformed(e: &BinlogError) -> Fault {
    match e {
        BinlogError::Checksum { .. } => Fault::fatal(
            errno::CHECKSUM,
            format!("the source sent an event with a wrong checksum: {e}"),
        ),
        e => Fault::fatal(
            errno::QUEUE,
            format!("the source sent an event that can't be used: {e}"),
        ),
    }
}

fn unusable(what: &str) -> Broken {
    Fault::fatal(errno::QUEUE, format!("the source sent {what}")).into()
}

/// How a group ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    Rollback,
}

impl Assembler {
    /// For a new link that goes on behind `place`.
    #[must_use]
    pub fn new(rules: Rules, place: SourcePosition) -> Self {
        Assembler {
            rules,
            checksums: true,
            file: place.file.clone(),
            pos: place.pos,
            place,
            list_end: None,
            open: None,
            streaming: false,
            last: LastGroup::default(),
            parked: false,
            usual: 0,
        }
    }

    /// Up to where everything is handed on.
    #[must_use]
    pub fn place(&self) -> &SourcePosition {
        &self.place
    }

    /// The last group that was handed on.
    #[must_use]
    pub fn last(&self) -> LastGroup {
        self.last
    }

    /// The stream stands inside a group.
    #[must_use]
    pub fn in_group(&self) -> bool {
        self.open.is_some()
    }

    /// The applier was told to stop, so nothing more is handed on.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.parked
    }

    /// The link is gone: takes back what of a group was handed on. It goes on behind [`place`](Self::place).
    ///
    /// # Errors
    /// Those of the queue.
    pub fn abandon(&mut self, put: Put<'_>) -> Result<(), PushError> {
        self.open = None;
        match std::mem::take(&mut self.streaming) {
            true => put(Item::Abandon),
            false => Ok(()),
        }
    }

    /// Takes an event packet, without what precedes the event. `ack`: an answer is wanted to the group that it ends.
    ///
    /// # Errors
    /// [`Broken`]; the link is of no more use then.
    pub fn event(&mut self, bytes: &[u8], ack: bool, put: Put<'_>) -> Result<Seen, Broken> {
        let header = EventHeader::parse(bytes).map_err(|e| malformed(&e))?;
        if header.event_size as usize != bytes.len() {
            return Err(unusable("an event of another length than it says"));
        }
        let raw = self.read(bytes, &header)?;
        match header.event_type {
            event_type::HEARTBEAT => return self.heartbeat(&raw, put),
            event_type::ROTATE => self.rotate(&raw, put)?,
            event_type::FORMAT_DESCRIPTION => {
                let Event::FormatDescription {
                    checksum_algorithm, ..
                } = raw.decode().map_err(|e| malformed(&e))?
                else {
                    return Err(unusable("a strange format description"));
                };
                self.checksums = checksum_algorithm != 0;
                self.drop_open(put)?;
                self.advance(&header);
            }
            event_type::GTID_LIST => return self.list(&raw, put),
            event_type::GTID => self.begin(&raw)?,
            mysql_event::GTID | mysql_event::ANONYMOUS_GTID | mysql_event::GTID_TAGGED => {
                self.begin_mysql(&raw)?;
            }
            kind::INCIDENT => self.incident(&raw, put)?,
            event_type::STOP | event_type::BINLOG_CHECKPOINT | kind::START_ENCRYPTION => {
                self.advance(&header);
            }
            _ if self.open.is_some() => return self.inside(&raw, ack, put),
            _ if header.flags & event_flags::IGNORABLE != 0 => self.advance(&header),
            other => {
                return Err(unusable(&format!(
                    "an event of type {other} outside of a group, which servers before MariaDB 10.0 do"
                )));
            }
        }
        if self.open.is_none() {
            self.moved(put)?;
        }
        Ok(Seen::Event)
    }

    fn read<'a>(&self, bytes: &'a [u8], header: &EventHeader) -> Result<RawEvent<'a>, Fault> {
        let read = |checksums| {
            let reader = EventReader::new(bytes);
            let mut reader = match checksums {
                true => reader,
                false => reader.without_checksums(),
            };
            reader
                .next()
                .unwrap_or(Err(BinlogError::Truncated("an event")))
        };
        // What is made for the stream may have a checksum though the file has none, and the other way round.
        let made = matches!(
            header.event_type,
            event_type::ROTATE | event_type::HEARTBEAT
        ) || header.flags & event_flags::ARTIFICIAL != 0;
        match read(self.checksums) {
            Err(e) if made => read(!self.checksums).map_err(|_| malformed(&e)),
            other => other.map_err(|e| malformed(&e)),
        }
    }

    /// The stream is behind the event with this header.
    fn advance(&mut self, header: &EventHeader) {
        const WRAP: u64 = 1 << 32;
        if header.end_log_pos == 0
            || header.flags & event_flags::ARTIFICIAL != 0 && self.open.is_some()
        {
            return;
        }
        let mut pos = self.pos & !(WRAP - 1) | u64::from(header.end_log_pos);
        // A file of 4 GiB and more.
        if pos + WRAP / 2 < self.pos {
            pos += WRAP;
        }
        self.pos = self.pos.max(pos);
    }

    /// Hands on that there is nothing up to here.
    fn moved(&mut self, put: Put<'_>) -> Result<(), Broken> {
        // A new link begins at the head of a file; that is no way back.
        let ahead = match self.place.file == self.file {
            true => self.pos > self.place.pos,
            false => !self.file.is_empty(),
        };
        if ahead {
            self.place.pos = self.pos;
            self.place.file = self.file.clone();
            self.hand(
                Item::Position {
                    gtid: None,
                    mysql: None,
                    file: self.file.clone(),
                    pos: self.pos,
                    wants_ack: false,
                },
                put,
            )?;
        }
        Ok(())
    }

    fn hand(&self, item: Item, put: Put<'_>) -> Result<(), Broken> {
        match self.parked {
            true => Ok(()),
            false => Ok(put(item)?),
        }
    }

    /// A group that its source did not complete: it has crashed in it.
    fn drop_open(&mut self, put: Put<'_>) -> Result<(), Broken> {
        if let Some(open) = self.open.take() {
            tracing::warn!(gtid = open.head.name(), file = %open.head.file, "the source's log has an incomplete group, which is left out");
            self.abandon(put)?;
        }
        Ok(())
    }

    fn name(bytes: &[u8]) -> Result<&str, Broken> {
        // Some servers end it with a NUL.
        let name = bytes.split(|b| *b == 0).next().unwrap_or_default();
        match std::str::from_utf8(name) {
            Ok(name)
                if !name.is_empty()
                    && name.len() <= MAX_NAME
                    && !name.contains(char::is_control) =>
            {
                Ok(name)
            }
            _ => Err(unusable("a file name that is none")),
        }
    }

    fn rotate(&mut self, raw: &RawEvent<'_>, put: Put<'_>) -> Result<(), Broken> {
        let Event::Rotate { position, name } = raw.decode().map_err(|e| malformed(&e))? else {
            return Err(unusable("a strange ROTATE"));
        };
        let name = Self::name(name)?;
        self.drop_open(put)?;
        if *name != *self.file {
            self.file = name.into();
        }
        self.pos = position;
        self.list_end = None;
        Ok(())
    }

    fn list(&mut self, raw: &RawEvent<'_>, put: Put<'_>) -> Result<Seen, Broken> {
        let Event::GtidList { flags, .. } = raw.decode().map_err(|e| malformed(&e))? else {
            return Err(unusable("a strange GTID list"));
        };
        if self.open.is_some() {
            return Err(unusable("a GTID list inside a group"));
        }
        self.advance(&raw.header);
        if raw.header.flags & event_flags::ARTIFICIAL == 0 {
            self.list_end = Some(self.pos);
        }
        self.moved(put)?;
        Ok(match flags & UNTIL_REACHED != 0 {
            true => Seen::UntilReached,
            false => Seen::Event,
        })
    }

    fn heartbeat(&mut self, raw: &RawEvent<'_>, put: Put<'_>) -> Result<Seen, Broken> {
        let name = Self::name(raw.body)?;
        let wrong = |text: String| Broken::Fault(Fault::fatal(errno::HEARTBEAT, text));
        if *name != *self.file {
            return Err(wrong(format!(
                "the source's heartbeat names the file {name:?}, but its stream is in {:?}",
                &*self.file
            )));
        }
        if self.open.is_none() {
            self.advance(&raw.header);
            self.moved(put)?;
        }
        Ok(Seen::Heartbeat)
    }

    fn incident(&mut self, raw: &RawEvent<'_>, put: Put<'_>) -> Result<(), Broken> {
        let message = match raw.body {
            [_, _, len, text @ ..] => &text[..text.len().min(usize::from(*len))],
            _ => &[],
        };
        let message = String::from_utf8_lossy(message).into_owned();
        self.drop_open(put)?;
        self.advance(&raw.header);
        if std::mem::take(&mut self.rules.pass_incident) {
            tracing::warn!(message, file = %self.file, pos = self.pos, "the source says that its log lacks something; passed over");
            return Ok(());
        }
        self.park(
            errno::INCIDENT,
            format!(
                "the source says that changes are missing in its log before {} {}: {message}. Set up this replica anew, or pass it over \
                 with SET GLOBAL sql_slave_skip_counter=1",
                self.file, self.pos
            ),
            None,
            put,
        )
    }

    /// Lets the applier stop when it comes here.
    fn park(
        &mut self,
        code: u16,
        text: String,
        gtid: Option<Gtid>,
        put: Put<'_>,
    ) -> Result<(), Broken> {
        self.hand(Item::Stop { code, text, gtid }, put)?;
        self.parked = true;
        Ok(())
    }

    fn begin(&mut self, raw: &RawEvent<'_>) -> Result<(), Broken> {
        let Event::Gtid(event) = raw.decode().map_err(|e| malformed(&e))? else {
            return Err(unusable("a strange GTID event"));
        };
        if let Some(open) = &self.open {
            return Err(unusable(&format!(
                "group {} before the end of group {}",
                event.gtid,
                open.head.name()
            )));
        }
        let gtid = event.gtid;
        let header = &raw.header;
        let config = &self.rules.config;
        let skip = gtid.server == self.rules.server_id
            || config.ignore_server_ids.contains(&gtid.server)
            || !config.wants_domain(gtid.domain);
        let start = u64::from(header.end_log_pos).saturating_sub(u64::from(header.event_size));
        let first = self.rules.narwal && self.list_end.take() == Some(start);
        self.advance(header);
        self.open = Some(Open {
            head: GroupHead {
                gtid,
                source: SourceGtid::MariaDb,
                standalone: event.flags2 & gtid_flags::STANDALONE != 0,
                flags2: event.flags2,
                timestamp: header.timestamp,
                file: self.file.clone(),
                end_pos: 0,
                begins_file: first.then(|| file_number(&self.file)).flatten(),
                bytes: u64::from(header.event_size),
                wants_ack: false,
            },
            events: Vec::new(),
            skip,
            undecided: false,
        });
        Ok(())
    }

    /// The head of a group of a MySQL.
    fn begin_mysql(&mut self, raw: &RawEvent<'_>) -> Result<(), Broken> {
        let source = match raw.mysql_gtid().map_err(|e| malformed(&e))? {
            Some(gtid) => SourceGtid::Mysql(gtid),
            None => SourceGtid::Anonymous,
        };
        if let Some(open) = &self.open {
            return Err(unusable(&format!(
                "a group before the end of group {}",
                open.head.name()
            )));
        }
        let header = &raw.header;
        let server = header.server_id;
        let known = mysql_gtid(source).is_some_and(|g| self.place.mysql.has_mysql(&g));
        self.advance(header);
        self.open = Some(Open {
            head: GroupHead {
                gtid: Gtid {
                    domain: self.rules.domain,
                    server,
                    seq: 0,
                },
                source,
                standalone: false,
                flags2: 0,
                timestamp: header.timestamp,
                file: self.file.clone(),
                end_pos: 0,
                begins_file: None,
                bytes: u64::from(header.event_size),
                wants_ack: false,
            },
            events: Vec::new(),
            skip: known
                || server == self.rules.server_id
                || self.rules.config.ignore_server_ids.contains(&server),
            undecided: true,
        });
        Ok(())
    }

    /// Why a group may not be applied; of a large one `events` are only the first.
    fn objection(&self, head: &GroupHead, events: &[u8], whole: bool) -> Option<(u16, String)> {
        let gtid = head.gtid;
        if head.source != SourceGtid::MariaDb {
            return None;
        }
        let mut text = self.out_of_order(gtid)?;
        if whole && let Some(comparison) = self.compared(gtid, events) {
            text.push_str(comparison);
        }
        Some((errno::OUT_OF_ORDER, text))
    }

    /// What this server's group of the same GTID says.
    fn compared(&self, gtid: Gtid, events: &[u8]) -> Option<&'static str> {
        let here = (self.rules.contents.as_ref()?.0)(gtid)?;
        let mut hasher = ContentHasher::new();
        for event in EventReader::new(events).without_checksums() {
            hasher.event(&event.ok()?).ok()?;
        }
        Some(match hasher.finish().same_as(&here) {
            SameContent::Yes => ". This server has that GTID, with the same content",
            SameContent::No => {
                ". This server has that GTID, with other content: the histories have parted (narwal diverge)"
            }
            SameContent::Unknown => {
                ". This server has that GTID; whether its content is the same can't be told"
            }
        })
    }

    /// Why a group may not be applied, by its GTID.
    fn out_of_order(&self, gtid: Gtid) -> Option<String> {
        let domain = gtid.domain;
        let received = self.place.gtids.get(&domain);
        if self.rules.strict {
            if let Some(own) = self.rules.own.get(&domain)
                && gtid.seq <= own.seq
                && received.is_none_or(|r| r.seq < own.seq)
            {
                return Some(format!(
                    "GTID {gtid} of the source does not come after {own}, the last one of domain {domain} in this server's own log, \
                     and gtid_strict_mode is on: this server has committed what the source has not, or is told to fetch what it has \
                     (gtid_slave_pos)"
                ));
            }
            if let Some(last) = received
                && gtid.seq <= last.seq
            {
                return Some(format!(
                    "GTID {gtid} of the source does not come after {last}, the last one of domain {domain} that was received from it, \
                     and gtid_strict_mode is on: the source's own log is not in order"
                ));
            }
        }
        match received {
            Some(last) if self.rules.stop_at_gaps && gtid.seq > last.seq.saturating_add(1) => {
                Some(format!(
                    "GTID {gtid} of the source follows {last}: in domain {domain} {} missing in its log. If nothing is lost with \
                     that, let gaps pass with SET GLOBAL narwal_gtid_gaps=WARN",
                    match gtid.seq - last.seq - 1 {
                        1 => "the GTID between them is".to_owned(),
                        n => format!("{n} GTIDs between them are"),
                    },
                ))
            }
            Some(last) if gtid.seq > last.seq.saturating_add(1) => {
                tracing::warn!(%gtid, %last, "a gap in the source's GTIDs");
                None
            }
            _ => None,
        }
    }

    fn inside(&mut self, raw: &RawEvent<'_>, ack: bool, put: Put<'_>) -> Result<Seen, Broken> {
        let Some(mut open) = self.open.take() else {
            return Err(unusable("an event outside of a group"));
        };
        let end = match raw.header.event_type {
            mysql_event::TRANSACTION_PAYLOAD => {
                let (rest, end) = self.unpack(open, raw, put)?;
                open = rest;
                end
            }
            _ => self.append(&mut open, raw)?,
        };
        if open.events.is_empty() && !self.streaming && !open.skip && !self.parked {
            return Err(unusable("a group without events"));
        }
        self.open = Some(open);
        self.advance(&raw.header);
        match end {
            None => self.stream(put)?,
            Some(end) => return self.end(end, ack, put),
        }
        Ok(Seen::Event)
    }

    /// Appends the events of a compressed transaction to the group at hand; how it ends, if it does. What is unpacked is
    /// handed on in parts as if it had come so.
    fn unpack(
        &mut self,
        mut open: Open,
        raw: &RawEvent<'_>,
        put: Put<'_>,
    ) -> Result<(Open, Option<End>), Broken> {
        let lost = || unusable("a group that ends while it arrives");
        let bytes = open.head.bytes + u64::from(raw.header.event_size);
        let mut events = PayloadEvents::new(raw.body).map_err(|e| malformed(&e))?;
        let mut end = None;
        while let Some(event) = events.next_event().map_err(|e| malformed(&e))? {
            if end.is_some() {
                return Err(unusable(
                    "an event behind the end of a compressed transaction",
                ));
            }
            end = self.append(&mut open, &event)?;
            if end.is_none() {
                self.open = Some(open);
                self.stream(put)?;
                open = self.open.take().ok_or_else(lost)?;
            }
        }
        open.head.bytes = bytes;
        Ok((open, end))
    }

    /// Appends an event to the group at hand; how it ends, if it does.
    fn append(&mut self, open: &mut Open, raw: &RawEvent<'_>) -> Result<Option<End>, Broken> {
        let header = &raw.header;
        open.head.bytes += u64::from(header.event_size);
        if std::mem::take(&mut open.undecided) {
            open.head.standalone = is_statement(raw)?;
        }
        let plain = uncompressed_type(header.event_type).unwrap_or(header.event_type);
        let end = match plain {
            event_type::XID | event_type::XA_PREPARE => Some(End::Commit),
            event_type::QUERY if open.head.standalone => Some(End::Commit),
            event_type::QUERY if header.event_type == event_type::QUERY => {
                let Event::Query(query) = raw.decode().map_err(|e| malformed(&e))? else {
                    return Err(unusable("a strange statement"));
                };
                if query.sql.eq_ignore_ascii_case(b"COMMIT") {
                    Some(End::Commit)
                } else if query.sql.eq_ignore_ascii_case(b"ROLLBACK") {
                    Some(End::Rollback)
                } else {
                    None
                }
            }
            _ => None,
        };
        if open.skip || self.parked {
            return Ok(end);
        }
        let body = decompressed_body(raw).map_err(|e| malformed(&e))?;
        let body = body.as_deref().unwrap_or(raw.body);
        let Ok(size) = u32::try_from(HEADER_LEN + body.len()) else {
            return Err(unusable("an event that is too long"));
        };
        if open.events.capacity() == 0 {
            open.events.reserve_exact((size as usize).max(self.usual));
        }
        let header = EventHeader {
            event_type: plain,
            event_size: size,
            ..*header
        };
        open.events.extend_from_slice(&header.to_bytes());
        open.events.extend_from_slice(body);
        Ok(end)
    }

    /// Hands on what of the group at hand has come, if that is much.
    fn stream(&mut self, put: Put<'_>) -> Result<(), Broken> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if !open.skip && !self.parked && open.events.len() >= self.rules.stream_threshold {
            if !self.streaming {
                if let Some((code, text)) = self.objection(&open.head, &[], false) {
                    self.park(code, text, Some(open.head.gtid), put)?;
                    open.events = Vec::new();
                } else {
                    self.hand(
                        Item::Begin {
                            head: open.head.clone(),
                        },
                        put,
                    )?;
                    self.streaming = true;
                }
            }
            if self.streaming {
                let events = std::mem::take(&mut open.events);
                self.hand(Item::Events(events), put)?;
            }
        }
        self.open = Some(open);
        Ok(())
    }

    fn end(&mut self, end: End, ack: bool, put: Put<'_>) -> Result<Seen, Broken> {
        let Some(mut open) = self.open.take() else {
            return Err(unusable("the end of a group that has none"));
        };
        let gtid = open.head.gtid;
        open.head.end_pos = self.pos;
        open.head.wants_ack = ack;
        if !open.skip
            && !self.streaming
            && !self.parked
            && let Some((code, text)) = self.objection(&open.head, &open.events, true)
        {
            self.park(code, text, Some(gtid), put)?;
        }
        if self.parked {
            return Ok(Seen::Event);
        }
        let source = open.head.source;
        let mysql = mysql_gtid(source);
        let is_mariadb = source == SourceGtid::MariaDb;
        if is_mariadb
            && self.place.gtids.len() >= MAX_DOMAINS
            && !self.place.gtids.contains_key(&gtid.domain)
        {
            return Err(unusable("GTIDs of too many domains"));
        }
        let passed = open.skip || end == End::Rollback;
        // A group that is passed over does not move the position back to before what was handed on.
        let back = passed
            && self.rules.strict
            && (self.place.gtids.get(&gtid.domain)).is_some_and(|last| gtid.seq <= last.seq);
        self.last = LastGroup {
            bytes: open.head.bytes,
            timestamp: open.head.timestamp,
            source,
        };
        if passed {
            if self.streaming {
                self.hand(Item::Abandon, put)?;
                self.streaming = false;
            }
            self.hand(
                Item::Position {
                    gtid: (!back && is_mariadb).then_some(gtid),
                    mysql,
                    file: self.file.clone(),
                    pos: self.pos,
                    wants_ack: ack,
                },
                put,
            )?;
        } else if self.streaming {
            if !open.events.is_empty() {
                self.hand(Item::Events(open.events), put)?;
            }
            self.hand(Item::End { head: open.head }, put)?;
            self.streaming = false;
        } else {
            self.usual = open.events.len();
            self.hand(
                Item::Group {
                    head: open.head,
                    events: open.events,
                },
                put,
            )?;
        }
        // Only what the queue has taken counts as received.
        match mysql {
            Some(gtid) => self.place.mysql.insert(&gtid),
            None if is_mariadb && !back => drop(self.place.gtids.insert(gtid.domain, gtid)),
            None => {}
        }
        self.place.pos = self.pos;
        self.place.file = self.file.clone();
        Ok(Seen::Group(gtid))
    }
}

/// The GTID of a group of a MySQL, if it has one.
fn mysql_gtid(source: SourceGtid) -> Option<MysqlGtid> {
    match source {
        SourceGtid::Mysql(gtid) => Some(gtid),
        SourceGtid::MariaDb | SourceGtid::Anonymous => None,
    }
}

/// Whether the first event of a MySQL's group is a statement that commits by itself. Else it begins a transaction.
fn is_statement(raw: &RawEvent<'_>) -> Result<bool, Broken> {
    let Event::Query(query) = raw.decode().map_err(|e| malformed(&e))? else {
        return Ok(false);
    };
    let begins = [
        &b"BEGIN"[..],
        b"START TRANSACTION",
        b"XA START",
        b"XA BEGIN",
    ]
    .iter()
    .any(|b| query.sql.len() >= b.len() && query.sql[..b.len()].eq_ignore_ascii_case(b));
    Ok(!begins)
}

/// The number at the end of a file's name.
fn file_number(name: &str) -> Option<u32> {
    name.rsplit_once('.')?.1.parse().ok()
}
