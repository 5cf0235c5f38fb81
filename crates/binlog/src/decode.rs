//! Reading events: lengths, checksums and bodies, all checked.

use crate::context::QueryContext;
use crate::error::BinlogError;
use crate::event::{
    CHECKSUM_LEN, EventHeader, HEADER_LEN, MAGIC, MAX_EVENT_LEN, event_flags, event_type,
    gtid_flags,
};
use crate::gtid::{Gtid, GtidState};
use crate::lenenc::Reader;
use crate::rows::RowsEvent;
use crate::table_map::TableMap;

/// Largest GTID list accepted, in entries.
const MAX_GTID_LIST: usize = 1 << 16;

/// Walks the events in a slice: a group, a stream or a file. Every event's length and checksum is checked.
/// After an error it yields nothing more.
#[derive(Debug, Clone)]
pub struct EventReader<'a> {
    bytes: &'a [u8],
    at: usize,
    checksums: bool,
    verify: bool,
}

impl<'a> EventReader<'a> {
    /// Reads events that have checksums (until a format description event says otherwise).
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            checksums: true,
            verify: true,
        }
    }

    /// Reads a whole binary log file.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] if it does not begin with the magic.
    pub fn file(bytes: &'a [u8]) -> Result<Self, BinlogError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(BinlogError::Invalid("file without the binary log magic"));
        }
        Ok(Self {
            at: MAGIC.len(),
            ..Self::new(bytes)
        })
    }

    /// Takes checksums for granted: for bytes that another checksum has just vouched for.
    #[must_use]
    pub fn trusting_checksums(mut self) -> Self {
        self.verify = false;
        self
    }

    /// Reads events that have no checksums (`@master_binlog_checksum = 'NONE'`).
    #[must_use]
    pub fn without_checksums(mut self) -> Self {
        self.checksums = false;
        self
    }

    /// Offset of the next event in the slice.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    fn read(&mut self) -> Result<RawEvent<'a>, BinlogError> {
        let rest = &self.bytes[self.at..];
        let header = EventHeader::parse(rest)?;
        let size = header.event_size as usize;
        let description = header.event_type == event_type::FORMAT_DESCRIPTION;
        let tail = if self.checksums || description {
            CHECKSUM_LEN
        } else {
            0
        };
        if size < HEADER_LEN + tail {
            return Err(BinlogError::Invalid("event size smaller than an event"));
        }
        if size > MAX_EVENT_LEN {
            return Err(BinlogError::TooLarge {
                what: "event",
                size: size as u64,
                limit: MAX_EVENT_LEN as u64,
            });
        }
        let bytes = rest.get(..size).ok_or(BinlogError::Truncated("an event"))?;
        let (checked, crc) = bytes.split_at(size - tail);
        if let Ok(crc) = <[u8; CHECKSUM_LEN]>::try_from(crc)
            && self.verify
        {
            let stored = u32::from_le_bytes(crc);
            let computed = checksum(checked, description);
            if stored != computed {
                return Err(BinlogError::Checksum {
                    offset: self.at,
                    stored,
                    computed,
                });
            }
        }
        let body = &checked[HEADER_LEN..];
        if description && let Some(&algorithm) = body.last() {
            self.checksums = algorithm != 0;
        }
        self.at += size;
        Ok(RawEvent {
            header,
            bytes,
            body,
        })
    }
}

/// CRC32 of an event without its last four bytes. A format description event's is that of the event with the
/// in-use flag cleared.
fn checksum(event: &[u8], description: bool) -> u32 {
    if description && let Some((head, rest)) = event.split_first_chunk::<HEADER_LEN>() {
        let mut head = *head;
        head[17] &= !(event_flags::IN_USE as u8);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        hasher.update(rest);
        return hasher.finalize();
    }
    crc32fast::hash(event)
}

impl<'a> Iterator for EventReader<'a> {
    type Item = Result<RawEvent<'a>, BinlogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let result = self.read();
        if result.is_err() {
            self.at = self.bytes.len();
        }
        Some(result)
    }
}

/// One event with its header read and its checksum checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEvent<'a> {
    /// The header.
    pub header: EventHeader,
    /// The whole event, header and checksum included.
    pub bytes: &'a [u8],
    /// What is between header and checksum.
    pub body: &'a [u8],
}

/// An event's meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// Begin of an event group.
    Gtid(GtidEvent),
    /// Text of the statement that the following row events come from.
    Annotate(&'a [u8]),
    /// A table that rows events refer to.
    TableMap(TableMap<'a>),
    /// Rows written, updated or deleted.
    Rows(RowsEvent<'a>),
    /// A statement.
    Query(QueryEvent<'a>),
    /// End of a transaction, with its local id.
    Xid(u64),
    /// Head of a file or stream.
    FormatDescription {
        /// Server version text.
        server_version: &'a [u8],
        /// Not 0 in the first file after a server start.
        created: u32,
        /// 0 none, 1 CRC32.
        checksum_algorithm: u8,
    },
    /// What was written before this file, or skipped so far in a stream.
    GtidList {
        /// Bit 0: UNTIL reached, bit 1: to be ignored.
        flags: u8,
        /// The GTIDs.
        gtids: GtidState,
    },
    /// The stream goes on in another file.
    Rotate {
        /// Offset of the next event there.
        position: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// Nothing new; the stream stands in this file.
    Heartbeat(&'a [u8]),
    /// Clean end of the last file.
    Stop,
    /// A type that this crate does not read.
    Unknown(u8),
}

/// A GTID event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GtidEvent {
    /// The GTID; its server is that of the event's header.
    pub gtid: Gtid,
    /// Bits of [`gtid_flags`].
    pub flags2: u8,
    /// Equal for transactions that were committed together.
    pub commit_id: Option<u64>,
}

/// A QUERY event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryEvent<'a> {
    /// Connection id.
    pub thread_id: u32,
    /// Seconds it took.
    pub exec_time: u32,
    /// Error it ended with, 0 for none.
    pub error_code: u16,
    /// Status variables, not taken apart; see [`context`](Self::context).
    pub status_vars: &'a [u8],
    /// Default database, possibly empty.
    pub db: &'a [u8],
    /// Statement text.
    pub sql: &'a [u8],
}

impl<'a> RawEvent<'a> {
    /// Takes the body apart.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] and [`BinlogError::Invalid`] for bodies that are not what their type says.
    pub fn decode(&self) -> Result<Event<'a>, BinlogError> {
        let body = self.body;
        Ok(match self.header.event_type {
            event_type::GTID => Event::Gtid(self.gtid()?),
            event_type::ANNOTATE_ROWS => Event::Annotate(body),
            event_type::TABLE_MAP => Event::TableMap(TableMap::parse(body)?),
            event_type::WRITE_ROWS_V1..=event_type::DELETE_ROWS_V1
            | event_type::WRITE_ROWS_V2..=event_type::DELETE_ROWS_V2 => {
                Event::Rows(RowsEvent::parse(self.header.event_type, body)?)
            }
            event_type::QUERY => Event::Query(QueryEvent::parse(body)?),
            event_type::XID => Event::Xid(Reader::new(body, "an XID event").u64()?),
            event_type::FORMAT_DESCRIPTION => self.format_description()?,
            event_type::GTID_LIST => self.gtid_list()?,
            event_type::ROTATE => {
                let mut reader = Reader::new(body, "a ROTATE event");
                Event::Rotate {
                    position: reader.u64()?,
                    name: reader.rest(),
                }
            }
            event_type::HEARTBEAT => Event::Heartbeat(body),
            event_type::STOP => Event::Stop,
            other => Event::Unknown(other),
        })
    }

    fn gtid(&self) -> Result<GtidEvent, BinlogError> {
        let mut reader = Reader::new(self.body, "a GTID event");
        let (seq, domain, flags2) = (reader.u64()?, reader.u32()?, reader.u8()?);
        let commit_id = if flags2 & gtid_flags::GROUP_COMMIT_ID != 0 {
            Some(reader.u64()?)
        } else {
            None
        };
        Ok(GtidEvent {
            gtid: Gtid {
                domain,
                server: self.header.server_id,
                seq,
            },
            flags2,
            commit_id,
        })
    }

    fn format_description(&self) -> Result<Event<'a>, BinlogError> {
        let mut reader = Reader::new(self.body, "a format description event");
        if reader.u16()? != 4 {
            return Err(BinlogError::Invalid("binary log version other than 4"));
        }
        let version = reader.bytes(50)?;
        let end = version
            .iter()
            .position(|&b| b == 0)
            .unwrap_or(version.len());
        let created = reader.u32()?;
        if usize::from(reader.u8()?) != HEADER_LEN {
            return Err(BinlogError::Invalid("event headers of other than 19 bytes"));
        }
        let checksum_algorithm = match reader.rest() {
            [.., algorithm @ 0..=1] => *algorithm,
            _ => return Err(BinlogError::Invalid("unknown checksum algorithm")),
        };
        Ok(Event::FormatDescription {
            server_version: &version[..end],
            created,
            checksum_algorithm,
        })
    }

    fn gtid_list(&self) -> Result<Event<'a>, BinlogError> {
        let mut reader = Reader::new(self.body, "a GTID list event");
        let word = reader.u32()?;
        let count = (word & 0x0fff_ffff) as usize;
        if count > MAX_GTID_LIST {
            return Err(BinlogError::TooLarge {
                what: "GTID list",
                size: count as u64,
                limit: MAX_GTID_LIST as u64,
            });
        }
        Ok(Event::GtidList {
            flags: (word >> 28) as u8,
            gtids: GtidState::decode_entries(&mut reader, count)?,
        })
    }
}

impl<'a> QueryEvent<'a> {
    fn parse(body: &'a [u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(body, "a QUERY event");
        let thread_id = reader.u32()?;
        let exec_time = reader.u32()?;
        let db_len = usize::from(reader.u8()?);
        let error_code = reader.u16()?;
        let vars_len = usize::from(reader.u16()?);
        let status_vars = reader.bytes(vars_len)?;
        let db = reader.bytes(db_len)?;
        if reader.u8()? != 0 {
            return Err(BinlogError::Invalid(
                "database name without its NUL in a QUERY event",
            ));
        }
        Ok(Self {
            thread_id,
            exec_time,
            error_code,
            status_vars,
            db,
            sql: reader.rest(),
        })
    }

    /// `time_zone`, if the event names one.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] if a variable is cut off.
    pub fn time_zone(&self) -> Result<Option<&'a [u8]>, BinlogError> {
        let mut reader = Reader::new(self.status_vars, "a status variable");
        while !reader.is_empty() {
            let skipped = match reader.u8()? {
                0x05 => {
                    let len = usize::from(reader.u8()?);
                    return reader.bytes(len).map(Some);
                }
                0x00 | 0x03 => 4,
                0x01 => 8,
                0x04 => 6,
                0x06 => usize::from(reader.u8()?),
                _ => break,
            };
            reader.bytes(skipped)?;
        }
        Ok(None)
    }

    /// The session settings among the status variables; defaults for those that are missing. A variable of
    /// unknown length ends the reading, as it must.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] if a variable is cut off.
    pub fn context(&self) -> Result<QueryContext, BinlogError> {
        let mut context = QueryContext::default();
        let mut reader = Reader::new(self.status_vars, "a status variable");
        while !reader.is_empty() {
            match reader.u8()? {
                0x00 => context.flags2 = reader.u32()?,
                0x01 => context.sql_mode = reader.u64()?,
                0x04 => {
                    context.charset_client = reader.u16()?;
                    context.collation_connection = reader.u16()?;
                    context.collation_server = reader.u16()?;
                }
                0x03 => {
                    reader.bytes(4)?;
                }
                0x05 | 0x06 => {
                    let len = usize::from(reader.u8()?);
                    reader.bytes(len)?;
                }
                0x07 | 0x08 => {
                    reader.bytes(2)?;
                }
                0x0b => {
                    for _ in 0..2 {
                        let len = usize::from(reader.u8()?);
                        reader.bytes(len)?;
                    }
                }
                0x80 => {
                    reader.bytes(3)?;
                }
                0x81 => {
                    reader.bytes(8)?;
                }
                _ => break,
            }
        }
        Ok(context)
    }
}
