//! Events that no transaction has: the heads and ends of files and streams. And whole flat files.

use std::io::Write;

use crate::decode::{Event, EventReader};
use crate::error::BinlogError;
use crate::event::{CHECKSUM_LEN, HEADER_LEN, MAGIC, build, event_flags, event_type, seal};
use crate::gtid::GtidState;

/// Bytes of a format description event.
pub const FDE_LEN: usize = 252;

/// Post-header lengths of MariaDB 10.11's event types 1 to 41 and 161 to 171; readers check that they know these.
const POST_HEADER_LOW: [u8; 41] = [
    0x38, 0x0d, 0x00, 0x08, 0x00, 0x12, 0x00, 0x04, 0x04, 0x04, 0x04, 0x12, 0x00, 0x00, 0xe4, 0x00,
    0x04, 0x1a, 0x08, 0x00, 0x00, 0x00, 0x08, 0x08, 0x08, 0x02, 0x00, 0x00, 0x00, 0x0a, 0x0a, 0x0a,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x0a, 0x0a,
];
const POST_HEADER_HIGH: [u8; 11] = [4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];
const EVENT_TYPES: usize = 171;

/// A format description event, [`FDE_LEN`] bytes. `server_version` is cut to 49 bytes; it should contain
/// `MariaDB`, by which readers choose the dialect. `created` is not 0 only in the first file after a start
/// where replicas should drop temporary tables. `flags` are of [`event_flags`].
#[must_use]
pub fn format_description_event(
    server_version: &str,
    server_id: u32,
    timestamp: u32,
    created: u32,
    end_log_pos: u32,
    flags: u16,
) -> Vec<u8> {
    let mut version = [0; 50];
    let len = server_version.len().min(49);
    version[..len].copy_from_slice(&server_version.as_bytes()[..len]);
    let mut lengths = [0; EVENT_TYPES];
    lengths[..POST_HEADER_LOW.len()].copy_from_slice(&POST_HEADER_LOW);
    lengths[EVENT_TYPES - POST_HEADER_HIGH.len()..].copy_from_slice(&POST_HEADER_HIGH);
    // The checksum is that of the event with the in-use flag cleared.
    let mut event = build(
        event_type::FORMAT_DESCRIPTION,
        timestamp,
        server_id,
        end_log_pos,
        flags & !event_flags::IN_USE,
        &[
            &4u16.to_le_bytes(),
            &version,
            &created.to_le_bytes(),
            &[HEADER_LEN as u8],
            &lengths,
            &[1],
        ],
    );
    event[17] |= (flags & event_flags::IN_USE) as u8;
    event
}

/// Two zero bytes end an empty GTID list: readers refuse a body of four bytes.
const EMPTY_LIST_PADDING: [u8; 2] = [0; 2];

/// Bytes of a GTID_LIST event with `entries` entries.
#[must_use]
pub const fn gtid_list_event_len(entries: usize) -> usize {
    let list = if entries == 0 {
        EMPTY_LIST_PADDING.len()
    } else {
        16 * entries
    };
    HEADER_LEN + 4 + list + CHECKSUM_LEN
}

/// A GTID_LIST event. `list_flags`: bit 0 UNTIL reached, bit 1 to be ignored.
#[must_use]
pub fn gtid_list_event(
    gtids: &GtidState,
    list_flags: u8,
    server_id: u32,
    timestamp: u32,
    end_log_pos: u32,
    flags: u16,
) -> Vec<u8> {
    let word = gtids.len() as u32 & 0x0fff_ffff | u32::from(list_flags) << 28;
    let mut entries = Vec::with_capacity(16 * gtids.len());
    gtids.encode_entries(&mut entries);
    if gtids.is_empty() {
        entries.extend_from_slice(&EMPTY_LIST_PADDING);
    }
    build(
        event_type::GTID_LIST,
        timestamp,
        server_id,
        end_log_pos,
        flags,
        &[&word.to_le_bytes(), &entries],
    )
}

/// A ROTATE event: the next event is at `position` of file `name`. In a stream's first event `flags` is
/// [`event_flags::ARTIFICIAL`], timestamp and `end_log_pos` 0.
#[must_use]
pub fn rotate_event(
    position: u64,
    name: &str,
    server_id: u32,
    timestamp: u32,
    end_log_pos: u32,
    flags: u16,
) -> Vec<u8> {
    build(
        event_type::ROTATE,
        timestamp,
        server_id,
        end_log_pos,
        flags,
        &[&position.to_le_bytes(), name.as_bytes()],
    )
}

/// A heartbeat: the stream stands at `end_log_pos` of file `name`.
#[must_use]
pub fn heartbeat_event(name: &str, server_id: u32, end_log_pos: u32) -> Vec<u8> {
    build(
        event_type::HEARTBEAT,
        0,
        server_id,
        end_log_pos,
        0,
        &[name.as_bytes()],
    )
}

/// A STOP event: the clean end of a file that no other follows.
#[must_use]
pub fn stop_event(server_id: u32, timestamp: u32, end_log_pos: u32) -> Vec<u8> {
    build(event_type::STOP, timestamp, server_id, end_log_pos, 0, &[])
}

/// Writes one flat binary log file: head, event groups, and possibly ROTATE or STOP.
///
/// Dropping it leaves a file without a proper end, which readers accept.
#[derive(Debug)]
pub struct FlatFileWriter<W: Write> {
    out: W,
    server_id: u32,
    timestamp: u32,
    pos: u32,
}

impl<W: Write> FlatFileWriter<W> {
    /// Writes the head: magic, format description, GTID list. `timestamp` is in seconds since 1970 UTC;
    /// `before` is what was written before this file. Give a buffered writer.
    ///
    /// # Errors
    /// [`BinlogError::Io`].
    pub fn new(
        mut out: W,
        server_version: &str,
        server_id: u32,
        timestamp: u32,
        before: &GtidState,
    ) -> Result<Self, BinlogError> {
        let mut pos = MAGIC.len() + FDE_LEN;
        let description =
            format_description_event(server_version, server_id, timestamp, 0, pos as u32, 0);
        pos += gtid_list_event_len(before.len());
        let list = gtid_list_event(before, 0, server_id, timestamp, pos as u32, 0);
        out.write_all(&MAGIC)?;
        out.write_all(&description)?;
        out.write_all(&list)?;
        Ok(Self {
            out,
            server_id,
            timestamp,
            pos: pos as u32,
        })
    }

    /// Offset of the next event.
    #[must_use]
    pub fn position(&self) -> u32 {
        self.pos
    }

    /// Appends a group as it is, for a file whose groups are complete from its head on.
    ///
    /// # Errors
    /// [`BinlogError::Position`] if the group's own virtual position is another, errors of reading the group,
    /// [`BinlogError::TooLarge`] beyond 4 GiB, [`BinlogError::Io`].
    pub fn append(&mut self, group: &[u8]) -> Result<(), BinlogError> {
        let found = self.check(group)?;
        if found != self.pos {
            return Err(BinlogError::Position {
                found: u64::from(found),
                expected: u64::from(self.pos),
            });
        }
        self.put(group)
    }

    /// Appends a group with its positions changed to those it gets in this file, for a file that begins in the
    /// middle of the log.
    ///
    /// # Errors
    /// As [`append`](Self::append), except for the position.
    pub fn append_moved(&mut self, group: &[u8]) -> Result<(), BinlogError> {
        self.check(group)?;
        let mut moved = group.to_vec();
        let mut pos = self.pos;
        let mut at = 0;
        for event in EventReader::new(group).trusting_checksums() {
            let size = event?.header.event_size;
            pos = pos.saturating_add(size);
            seal(&mut moved[at..at + size as usize], pos);
            at += size as usize;
        }
        self.put(&moved)
    }

    /// Checks the whole group; the position at which it was placed.
    fn check(&mut self, group: &[u8]) -> Result<u32, BinlogError> {
        let mut start = None;
        for event in EventReader::new(group) {
            let event = event?;
            if start.is_none() {
                let Event::Gtid(_) = event.decode()? else {
                    return Err(BinlogError::Invalid(
                        "event group that does not start with a GTID event",
                    ));
                };
                start = Some(
                    event
                        .header
                        .end_log_pos
                        .wrapping_sub(event.header.event_size),
                );
            }
            self.timestamp = event.header.timestamp;
        }
        start.ok_or(BinlogError::Truncated("an event group"))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), BinlogError> {
        let size = u64::from(self.pos) + bytes.len() as u64;
        self.pos = u32::try_from(size).map_err(|_| BinlogError::TooLarge {
            what: "binary log file",
            size,
            limit: u64::from(u32::MAX),
        })?;
        self.out.write_all(bytes)?;
        Ok(())
    }

    /// Ends the file because `next` follows it.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`], [`BinlogError::Io`].
    pub fn rotate(mut self, next: &str) -> Result<W, BinlogError> {
        let len = (HEADER_LEN + 8 + next.len() + CHECKSUM_LEN) as u32;
        let end = self.pos.saturating_add(len);
        let event = rotate_event(4, next, self.server_id, self.timestamp, end, 0);
        self.put(&event)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Ends the last file.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`], [`BinlogError::Io`].
    pub fn stop(mut self) -> Result<W, BinlogError> {
        let end = self.pos.saturating_add((HEADER_LEN + CHECKSUM_LEN) as u32);
        let event = stop_event(self.server_id, self.timestamp, end);
        self.put(&event)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
