//! Reading on behind damage: for tools that save what can be read. Recovery never does this.

use super::{Scanner, read_rest};
use crate::error::LogError;
use crate::frame::{self, HEADER_LEN, Header, RecordKind};
use crate::{Lsn, Seq};

impl Scanner {
    /// Goes to the next record behind the current place that verifies, in this segment or a later one. `None` if there
    /// is none.
    pub fn resume(&mut self) -> Result<Option<Lsn>, LogError> {
        let mut from = self.lsn + 1;
        loop {
            if let Some((lsn, seq_before)) = self.search(from)? {
                self.source.forget(lsn);
                self.lsn = lsn;
                self.seq = seq_before;
                self.seq_unknown = false;
                return Ok(Some(lsn));
            }
            // A later segment's file may be damaged too, even in its header.
            loop {
                let Some(&start) = self.segments.get(self.index + 1) else {
                    return Ok(None);
                };
                self.index += 1;
                match Self::open_segment(&*self.disk, &self.dir, start, Some(self.log_id)) {
                    Ok((source, limit, _)) => {
                        (self.source, self.limit) = (source, limit);
                        self.lsn = start;
                        from = start;
                        break;
                    }
                    Err(LogError::Corrupt(_)) => {}
                    Err(e) => return Err(e),
                }
            }
        }
    }

    /// The first record at or behind `from` in the current segment, and the sequence number before it.
    fn search(&self, from: Lsn) -> Result<Option<(Lsn, Seq)>, LogError> {
        let (bytes, used) = read_rest(&self.source, from, self.limit)?;
        for at in 0..used.min((bytes.len() + 1).saturating_sub(HEADER_LEN)) {
            let Some(head) = bytes[at..].first_chunk::<HEADER_LEN>() else {
                break;
            };
            let lsn = from + at as u64;
            let header = Header::decode(head);
            let Some(kind) = RecordKind::from_u8(header.kind) else {
                continue;
            };
            let Some(record) = bytes.get(at..at + HEADER_LEN + header.body_len as usize) else {
                continue;
            };
            if !frame::verify(self.log_id, lsn, record) {
                continue;
            }
            let body = <[u8; 8]>::try_from(&record[HEADER_LEN..]).map(u64::from_le_bytes);
            let seq = match (kind, body) {
                // It says the whole number.
                (RecordKind::SegmentStart, Ok(first)) if first > 0 => first - 1,
                _ if self.seq_unknown => u64::from(header.seq_low),
                _ => self.seq + u64::from(header.seq_low.wrapping_sub(self.seq as u32)),
            };
            return Ok(Some((lsn, seq.saturating_sub(u64::from(kind.is_commit())))));
        }
        Ok(None)
    }
}
