//! Classic binary log files, event by event: groups may be larger than memory.

use narwal_binlog::{
    FDE_LEN, GtidState, MAGIC, format_description_event, gtid_list_event, gtid_list_event_len,
    rotate_event, stamp_event,
};
use std::io::{self, Write};

/// Version in the file's head, as the server's streams have it: readers choose MariaDB's dialect by it.
pub const BINLOG_VERSION: &str = concat!("10.11.0-MariaDB-narwal-", env!("CARGO_PKG_VERSION"));

/// One file.
pub struct FlatOut<W: Write> {
    out: W,
    pos: u64,
}

/// An end position; what lies behind 4 GiB has none.
fn end_pos(pos: u64) -> u32 {
    u32::try_from(pos).unwrap_or(0)
}

impl<W: Write> FlatOut<W> {
    /// Writes the head: magic, format description, GTID list.
    pub fn new(mut out: W, server_id: u32, timestamp: u32, before: &GtidState) -> io::Result<Self> {
        let mut pos = (MAGIC.len() + FDE_LEN) as u64;
        out.write_all(&MAGIC)?;
        out.write_all(&format_description_event(
            BINLOG_VERSION,
            server_id,
            timestamp,
            0,
            end_pos(pos),
            0,
        ))?;
        pos += gtid_list_event_len(before.len()) as u64;
        out.write_all(&gtid_list_event(
            before,
            0,
            server_id,
            timestamp,
            end_pos(pos),
            0,
        ))?;
        Ok(FlatOut { out, pos })
    }

    /// Offset of the next event.
    pub fn position(&self) -> u64 {
        self.pos
    }

    /// Appends an event as it is.
    pub fn put(&mut self, event: &[u8]) -> io::Result<()> {
        self.pos += event.len() as u64;
        self.out.write_all(event)
    }

    /// Appends an event with the position that it gets here.
    pub fn put_moved(&mut self, event: &[u8], server_id: u32) -> io::Result<()> {
        let mut event = event.to_vec();
        let end = end_pos(self.pos + event.len() as u64);
        stamp_event(&mut event, server_id, end).map_err(io::Error::other)?;
        self.put(&event)
    }

    /// Ends the file because `next` follows it.
    pub fn rotate(mut self, next: &str, server_id: u32, timestamp: u32) -> io::Result<W> {
        let event = |end| rotate_event(4, next, server_id, timestamp, end, 0);
        let end = self.pos + event(0).len() as u64;
        self.put(&event(end_pos(end)))?;
        self.finish()
    }

    /// Ends the file as it is.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Hands everything on.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
