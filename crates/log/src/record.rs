//! What the callers of the log see of a record: its place when it is reserved, its content when it is read.

use crate::frame::{HEADER_LEN, RecordKind};
use crate::{Lsn, Seq};

/// The place that a record got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    /// Where the record starts.
    pub lsn: Lsn,
    /// LSN behind it. (The next record may start later: at the start of the next segment.)
    pub end_lsn: Lsn,
    /// Its commit sequence number; for a record that is no commit, that of the last commit before it.
    pub seq: Seq,
    /// It is the first of the caller's records in its segment.
    pub new_segment: bool,
}

/// A record, borrowed from a reader's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordRef<'a> {
    /// Where it starts.
    pub lsn: Lsn,
    /// LSN behind it.
    pub end_lsn: Lsn,
    /// What it is; never one of the log's own kinds.
    pub kind: RecordKind,
    /// Its commit sequence number; for a record that is no commit, that of the last commit before it.
    pub seq: Seq,
    /// The body.
    pub body: &'a [u8],
}

/// A record that was read by its LSN; its body is in the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordAt {
    /// Where it starts.
    pub lsn: Lsn,
    /// LSN behind it.
    pub end_lsn: Lsn,
    /// What it is; never one of the log's own kinds.
    pub kind: RecordKind,
    /// Its commit sequence number; for a record that is no commit, that of the last commit before it.
    pub seq: Seq,
}

/// The whole sequence number from its low half: a segment holds far less than 2^32 commits, and starts with `first`.
pub(crate) fn full_seq(first: Seq, low: u32) -> Seq {
    let before = first.saturating_sub(1);
    before + u64::from(low.wrapping_sub(before as u32))
}

/// Bytes that a record of `body_len` takes in the log.
pub(crate) fn frame_len(body_len: usize) -> u64 {
    (HEADER_LEN + body_len) as u64
}
