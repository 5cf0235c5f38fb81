//! The header common to all events, and the numbers of the format.

use crate::error::BinlogError;

/// The first bytes of a binary log file.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];

/// Bytes of the header that starts every event.
pub const HEADER_LEN: usize = 19;
/// Bytes of the CRC32 that ends every event.
pub const CHECKSUM_LEN: usize = 4;
/// Largest event written or accepted, in bytes: the largest packet a replica takes (1 GiB).
pub const MAX_EVENT_LEN: usize = 1 << 30;
/// Largest event group written, in bytes. With `max_binlog_size` at most 1 GiB, every group fits into one
/// virtual file, whose offsets are 32-bit.
pub const MAX_GROUP_LEN: usize = 1 << 30;

/// Event type codes.
#[allow(missing_docs)]
pub mod event_type {
    pub const QUERY: u8 = 2;
    pub const STOP: u8 = 3;
    pub const ROTATE: u8 = 4;
    pub const FORMAT_DESCRIPTION: u8 = 15;
    pub const XID: u8 = 16;
    pub const TABLE_MAP: u8 = 19;
    pub const WRITE_ROWS_V1: u8 = 23;
    pub const UPDATE_ROWS_V1: u8 = 24;
    pub const DELETE_ROWS_V1: u8 = 25;
    pub const HEARTBEAT: u8 = 27;
    pub const WRITE_ROWS_V2: u8 = 30;
    pub const UPDATE_ROWS_V2: u8 = 31;
    pub const DELETE_ROWS_V2: u8 = 32;
    pub const XA_PREPARE: u8 = 38;
    pub const ANNOTATE_ROWS: u8 = 160;
    pub const BINLOG_CHECKPOINT: u8 = 161;
    pub const GTID: u8 = 162;
    pub const GTID_LIST: u8 = 163;
}

/// Bits of the header's flags field.
pub mod event_flags {
    /// The file is being written (format description event only).
    pub const IN_USE: u16 = 0x0001;
    /// The statement does not depend on the default database, or sets it itself.
    pub const SUPPRESS_USE: u16 = 0x0008;
    /// Made for the stream; it stands in no file.
    pub const ARTIFICIAL: u16 = 0x0020;
    /// A reader that does not know the event's type may skip it.
    pub const IGNORABLE: u16 = 0x0080;
}

/// Bits of a GTID event's `flags2`.
pub mod gtid_flags {
    /// One event follows and ends the group (DDL).
    pub const STANDALONE: u8 = 0x01;
    /// A commit id follows.
    pub const GROUP_COMMIT_ID: u8 = 0x02;
    /// The group can be rolled back as a whole.
    pub const TRANSACTIONAL: u8 = 0x04;
    /// A replica may apply the group in parallel with others.
    pub const ALLOW_PARALLEL: u8 = 0x08;
    /// The transaction waited for a row lock.
    pub const WAITED: u8 = 0x10;
    /// The group prepares an XA transaction, whose name follows.
    pub const PREPARED_XA: u8 = 0x40;
    /// The group commits or rolls back a prepared XA transaction, whose name follows.
    pub const COMPLETED_XA: u8 = 0x80;
    /// The group is a DDL statement.
    pub const DDL: u8 = 0x20;
}

/// Bits of a rows event's flags.
pub mod rows_flags {
    /// Last rows event of its statement.
    pub const STMT_END: u16 = 0x0001;
    /// Foreign keys were not checked.
    pub const NO_FOREIGN_KEY_CHECKS: u16 = 0x0002;
    /// `unique_checks` was off.
    pub const RELAXED_UNIQUE_CHECKS: u16 = 0x0004;
}

/// Offset of the event size in a header.
pub(crate) const SIZE_AT: usize = 9;
/// Offset of `end_log_pos` in a header.
pub(crate) const END_POS_AT: usize = 13;

/// The 19 bytes that start every event.
///
/// ```text
/// u32 timestamp | u8 type | u32 server_id | u32 event_size | u32 end_log_pos | u16 flags
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHeader {
    /// Seconds since 1970 (UTC) at which the statement started.
    pub timestamp: u32,
    /// One of [`event_type`], or a type this crate does not know.
    pub event_type: u8,
    /// Server where the event was first written.
    pub server_id: u32,
    /// Bytes of the event with header and checksum.
    pub event_size: u32,
    /// File offset after the event.
    pub end_log_pos: u32,
    /// Bits of [`event_flags`].
    pub flags: u16,
}

impl EventHeader {
    /// Reads a header; says nothing about whether its size is plausible.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] if there are fewer than [`HEADER_LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, BinlogError> {
        let b: &[u8; HEADER_LEN] = bytes
            .get(..HEADER_LEN)
            .and_then(|b| b.try_into().ok())
            .ok_or(BinlogError::Truncated("an event header"))?;
        Ok(Self {
            timestamp: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            event_type: b[4],
            server_id: u32::from_le_bytes([b[5], b[6], b[7], b[8]]),
            event_size: u32::from_le_bytes([b[9], b[10], b[11], b[12]]),
            end_log_pos: u32::from_le_bytes([b[13], b[14], b[15], b[16]]),
            flags: u16::from_le_bytes([b[17], b[18]]),
        })
    }

    /// The header's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut b = [0; HEADER_LEN];
        b[0..4].copy_from_slice(&self.timestamp.to_le_bytes());
        b[4] = self.event_type;
        b[5..9].copy_from_slice(&self.server_id.to_le_bytes());
        b[9..13].copy_from_slice(&self.event_size.to_le_bytes());
        b[13..17].copy_from_slice(&self.end_log_pos.to_le_bytes());
        b[17..19].copy_from_slice(&self.flags.to_le_bytes());
        b
    }
}

/// Overwrites four bytes at `at`; the caller knows that they are there.
pub(crate) fn put_u32(buf: &mut [u8], at: usize, value: u32) {
    buf[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Completes one finished event in place: size, end position and CRC32. `event` ends in four spare bytes.
pub(crate) fn seal(event: &mut [u8], end_log_pos: u32) {
    let len = event.len();
    put_u32(event, SIZE_AT, len as u32);
    put_u32(event, END_POS_AT, end_log_pos);
    let crc = crc32fast::hash(&event[..len - CHECKSUM_LEN]);
    put_u32(event, len - CHECKSUM_LEN, crc);
}

/// Completes an event that stands in a chunk of a large transaction: sets the server id and the end position and
/// computes the checksum. Its size must be that of `event`.
///
/// # Errors
/// [`BinlogError::Invalid`] if the size in the header is another.
pub fn stamp_event(
    event: &mut [u8],
    server_id: u32,
    end_log_pos: u32,
) -> Result<EventHeader, BinlogError> {
    let mut header = EventHeader::parse(event)?;
    if event.len() < HEADER_LEN + CHECKSUM_LEN || header.event_size as usize != event.len() {
        return Err(BinlogError::Invalid("event size that is not the event's"));
    }
    put_u32(event, 5, server_id);
    seal(event, end_log_pos);
    (header.server_id, header.end_log_pos) = (server_id, end_log_pos);
    Ok(header)
}

/// A complete event made of a header and a body, with its checksum.
pub(crate) fn build(
    event_type: u8,
    timestamp: u32,
    server_id: u32,
    end_log_pos: u32,
    flags: u16,
    body: &[&[u8]],
) -> Vec<u8> {
    let body_len: usize = body.iter().map(|b| b.len()).sum();
    let len = HEADER_LEN + body_len + CHECKSUM_LEN;
    let header = EventHeader {
        timestamp,
        event_type,
        server_id,
        event_size: 0,
        end_log_pos: 0,
        flags,
    };
    let mut event = Vec::with_capacity(len);
    event.extend_from_slice(&header.to_bytes());
    for part in body {
        event.extend_from_slice(part);
    }
    event.extend_from_slice(&[0; CHECKSUM_LEN]);
    seal(&mut event, end_log_pos);
    event
}
