//! Chunks: events that went to the log before their commit.

use crate::{EngineError, Result};
use narwal_log::{Lsn, RecordKind};

/// Bytes of a chunk before its row ids.
pub const CHUNK_HEAD_LEN: usize = 20;

/// Where a large transaction's events are.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Oob {
    /// LSN of the first chunk.
    pub first: Lsn,
    /// Bytes of events in all chunks.
    pub events_len: u64,
    /// Hidden row ids in all chunks.
    #[serde(default)]
    pub row_ids: u64,
    /// Chunks by LSN and bytes of events, if they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<(Lsn, u64)>,
    /// Else ChunkIndex records, which say the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub index: Vec<Lsn>,
}

/// A Chunk record, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Its number in the transaction, from 0.
    pub number: u32,
    /// LSN of the first chunk that the transaction sent, 0 in that one: its name among chunks.
    pub first: Lsn,
    /// Hidden row ids, `u64` each.
    pub row_ids: &'a [u8],
    /// Whole events, not stamped.
    pub events: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Takes a chunk's body apart. The text of the error says what is wrong.
    ///
    /// # Errors
    /// The body is shorter than it says, or has flags that this program does not know.
    pub fn parse(body: &'a [u8]) -> std::result::Result<Self, &'static str> {
        let short = "a chunk is shorter than its head says";
        let (head, rest) = body.split_first_chunk::<CHUNK_HEAD_LEN>().ok_or(short)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..4] != [0; 4] {
            return Err("a chunk has flags that this program does not know");
        }
        let ids = usize::try_from(word(16))
            .ok()
            .and_then(|n| n.checked_mul(8));
        let (row_ids, events) = ids.and_then(|n| rest.split_at_checked(n)).ok_or(short)?;
        Ok(Chunk {
            number: word(4),
            first: u64::from(word(8)) | u64::from(word(12)) << 32,
            row_ids,
            events,
        })
    }
}

/// All chunks of an out-of-band part, read through `read_at`: LSN and bytes of events.
pub(crate) fn chunk_list(
    oob: &crate::record::chunk::Oob,
    mut read_at: impl FnMut(Lsn, &mut Vec<u8>) -> Result<RecordKind>,
) -> Result<Vec<(Lsn, u64)>> {
    let mut list = oob.chunks.clone();
    let mut buf = Vec::new();
    for lsn in &oob.index {
        let kind = read_at(*lsn, &mut buf)?;
        if kind != RecordKind::ChunkIndex || !buf.len().is_multiple_of(16) {
            return Err(EngineError::Corrupt(format!(
                "log record at LSN {lsn}: a commit takes it for a chunk index, which it is not"
            )));
        }
        for e in buf.chunks_exact(16) {
            let (lsn, len) = e.split_at(8);
            let n = |b: &[u8]| b.try_into().map_or(0, u64::from_le_bytes);
            list.push((n(lsn), n(len)));
        }
    }
    Ok(list)
}
