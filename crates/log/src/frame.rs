//! The record frame: sixteen bytes of header and the body. See `docs/log-format.md`.

use crate::Lsn;

/// Bytes of a record's header.
pub const HEADER_LEN: usize = 16;
/// The largest body that the 28-bit length can say.
pub const MAX_BODY: usize = (1 << 28) - 1;
/// `durable_delta` that proves nothing.
pub const NO_PROOF: u32 = u32::MAX;

/// What a record is. The numbers are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RecordKind {
    /// A committed transaction with its event group: takes the next sequence number.
    Commit = 1,
    /// A committed change that replicas never see: takes the next sequence number too.
    LocalCommit = 2,
    /// A piece of a large transaction, written before its commit record.
    Chunk = 3,
    /// A GTID state record.
    State = 4,
    /// Anything else of the layer above that is no commit.
    Note = 5,
    /// As `Commit`, with an annex (what the events can't say) in front of the event group, behind its length (u32).
    AnnexCommit = 6,
    /// Where the chunks of a large transaction lie, written just before its commit record.
    ChunkIndex = 7,
    /// As `Commit` or `AnnexCommit`, with a compressed body: takes the next sequence number.
    PackedCommit = 8,
    /// As `LocalCommit`, with a compressed body: takes the next sequence number. Reserved.
    PackedLocal = 9,
    /// With a second log ([`crate::SecondLog`]): every commit up to the sequence number that is its body (u64) is there,
    /// too. No commit itself.
    CommitMark = 10,
    /// First record of each segment: the sequence number of the next commit. The log's own.
    SegmentStart = 12,
    /// Written when the log is quiet, only to prove how far it was durable. The log's own.
    Mark = 13,
    /// Last record of a segment: the LSN of the next one. The log's own.
    EndOfSegment = 14,
    /// Written by a clean shutdown, after everything before it was synced. The log's own.
    Shutdown = 15,
}

impl RecordKind {
    /// The kind with this number, if there is one.
    pub fn from_u8(n: u8) -> Option<RecordKind> {
        Some(match n {
            1 => RecordKind::Commit,
            2 => RecordKind::LocalCommit,
            3 => RecordKind::Chunk,
            4 => RecordKind::State,
            5 => RecordKind::Note,
            6 => RecordKind::AnnexCommit,
            7 => RecordKind::ChunkIndex,
            8 => RecordKind::PackedCommit,
            9 => RecordKind::PackedLocal,
            10 => RecordKind::CommitMark,
            12 => RecordKind::SegmentStart,
            13 => RecordKind::Mark,
            14 => RecordKind::EndOfSegment,
            15 => RecordKind::Shutdown,
            _ => return None,
        })
    }

    /// Whether a record of this kind takes a commit sequence number.
    pub fn is_commit(self) -> bool {
        matches!(
            self,
            RecordKind::Commit
                | RecordKind::LocalCommit
                | RecordKind::AnnexCommit
                | RecordKind::PackedCommit
                | RecordKind::PackedLocal
        )
    }

    /// Whether replicas never see it, though it is a commit.
    pub fn is_local(self) -> bool {
        matches!(self, RecordKind::LocalCommit | RecordKind::PackedLocal)
    }

    /// Whether it only says how far others have come: nobody waits for it, and a sync for it alone is not worth it.
    pub(crate) fn is_mark(self) -> bool {
        matches!(self, RecordKind::Mark | RecordKind::CommitMark)
    }

    /// Whether the log writes such records itself and hides them from readers.
    pub fn is_internal(self) -> bool {
        self as u8 >= RecordKind::SegmentStart as u8
    }
}

/// A decoded header. Nothing in it is to be believed before [`verify`] said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// CRC32C over log id, LSN, the rest of the header and the body.
    pub crc: u32,
    /// The kind's number.
    pub kind: u8,
    /// Bytes of body.
    pub body_len: u32,
    /// LSN minus the durable LSN known when the record was made; [`NO_PROOF`] if that did not fit.
    pub durable_delta: u32,
    /// Low half of the sequence number: its own for a commit, that of the last commit before it for the rest.
    pub seq_low: u32,
}

impl Header {
    /// Reads a header from the first sixteen bytes.
    pub fn decode(b: &[u8; HEADER_LEN]) -> Header {
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let kl = word(4);
        Header {
            crc: word(0),
            kind: (kl >> 28) as u8,
            body_len: kl & MAX_BODY as u32,
            durable_delta: word(8),
            seq_low: word(12),
        }
    }

    /// Up to where (exclusive) the disk was durable when this record was made, if the header proves it.
    pub fn proven_durable(&self, lsn: Lsn) -> Option<Lsn> {
        (self.durable_delta != NO_PROOF).then(|| lsn.saturating_sub(u64::from(self.durable_delta)))
    }
}

/// The checksum of a whole frame (header and body) at `lsn` of log `log_id`. Its place is part of it, so that a frame
/// left from an older use of the same bytes never verifies.
pub fn checksum(log_id: u64, lsn: Lsn, frame: &[u8]) -> u32 {
    crc32c::crc32c_append(place_checksum(log_id, lsn), &frame[4..])
}

fn place_checksum(log_id: u64, lsn: Lsn) -> u32 {
    let mut place = [0u8; 16];
    place[..8].copy_from_slice(&log_id.to_le_bytes());
    place[8..].copy_from_slice(&lsn.to_le_bytes());
    crc32c::crc32c(&place)
}

/// As [`checksum`], of a header and a body that lie apart.
pub(crate) fn checksum_parts(log_id: u64, lsn: Lsn, head: &[u8; HEADER_LEN], body: &[u8]) -> u32 {
    let head = crc32c::crc32c_append(place_checksum(log_id, lsn), &head[4..]);
    crc32c::crc32c_append(head, body)
}

/// Fills the header of `frame`, whose body is already in place behind [`HEADER_LEN`] bytes, and the checksum.
///
/// The body must not be longer than [`MAX_BODY`].
pub fn seal(frame: &mut [u8], log_id: u64, lsn: Lsn, kind: RecordKind, durable: Lsn, seq: u64) {
    let body_len = (frame.len() - HEADER_LEN) as u32;
    debug_assert!(body_len as usize <= MAX_BODY);
    let delta = u32::try_from(lsn.saturating_sub(durable)).unwrap_or(NO_PROOF);
    frame[4..8].copy_from_slice(&((kind as u32) << 28 | body_len).to_le_bytes());
    frame[8..12].copy_from_slice(&delta.to_le_bytes());
    frame[12..16].copy_from_slice(&(seq as u32).to_le_bytes());
    let crc = checksum(log_id, lsn, frame);
    frame[..4].copy_from_slice(&crc.to_le_bytes());
}

/// Whether `frame` (exactly header and body) is a record of `log_id` at `lsn`.
pub fn verify(log_id: u64, lsn: Lsn, frame: &[u8]) -> bool {
    frame.len() >= HEADER_LEN
        && u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]])
            == checksum(log_id, lsn, frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_kind() -> impl Strategy<Value = RecordKind> {
        (0u8..16).prop_filter_map("a kind", RecordKind::from_u8)
    }

    proptest! {
        #[test]
        fn a_sealed_frame_verifies_only_as_it_is_and_where_it_is(
            body in prop::collection::vec(any::<u8>(), 0..300),
            kind in any_kind(),
            log_id: u64,
            lsn in 1u64..u64::MAX / 2,
            back in 0u64..10_000_000_000,
            seq: u64,
            bit: prop::sample::Index,
            other in 1u64..1_000_000,
        ) {
            let durable = lsn.saturating_sub(back);
            let mut frame = vec![0xEE; HEADER_LEN];
            frame.extend_from_slice(&body);
            seal(&mut frame, log_id, lsn, kind, durable, seq);
            prop_assert!(verify(log_id, lsn, &frame));
            let mut head = [0; HEADER_LEN];
            head.copy_from_slice(&frame[..HEADER_LEN]);
            let h = Header::decode(&head);
            prop_assert_eq!(h.body_len as usize, body.len());
            prop_assert_eq!(RecordKind::from_u8(h.kind), Some(kind));
            prop_assert_eq!(h.seq_low, seq as u32);
            // The proof is exact or absent, never beyond the truth.
            match h.proven_durable(lsn) {
                Some(d) => prop_assert_eq!(d, durable),
                None => prop_assert!(lsn - durable >= u64::from(u32::MAX)),
            }
            prop_assert!(!verify(log_id, lsn + other, &frame));
            prop_assert!(!verify(log_id, lsn.wrapping_sub(other), &frame));
            prop_assert!(!verify(log_id ^ other, lsn, &frame));
            let bit = bit.index(frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!verify(log_id, lsn, &frame));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = verify(1, 1, &bytes);
            if let Ok(head) = <[u8; HEADER_LEN]>::try_from(&bytes[..bytes.len().min(HEADER_LEN)]) {
                let _ = Header::decode(&head).proven_durable(1);
            }
        }
    }

    #[test]
    fn zeros_are_no_record() {
        assert!(!verify(0, 0, &[0; HEADER_LEN]));
        assert!(!verify(0, 0, &[]));
        assert_eq!(RecordKind::from_u8(0), None);
    }
}
