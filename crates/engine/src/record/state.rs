//! The State record: where the virtual files stand at a place of the log, whatever came before.

use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidState, VirtualConfig, VirtualFiles};

/// Why a State record was written. Readers need it in one case: behind a reset nothing before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum StateReason {
    /// `binlog_state_interval` bytes since the last one, or a new file or segment was begun by size.
    Interval = 0,
    /// FLUSH BINARY LOGS.
    Rotate = 1,
    /// RESET MASTER: files, groups and GTIDs before it are gone. Or FLASHBACK BINARY LOGS: the GTIDs of what was not taken
    /// back are the new log's first state.
    Reset = 2,
    /// The GTID state was set or domains were deleted.
    Set = 3,
    /// Files were purged.
    Purge = 4,
}

/// A State record, taken apart.
///
/// ```text
/// u8 version = 1 | u8 reason | u16 zeros | u32 length of the state
/// | u32 time of the last event before it | u32 time of the last event of the file before
/// | u32 oldest file | u64 its first LSN | u64 first LSN of the current file
/// | state (VirtualFiles) | [u8 1 | u32 n | n x { u32 domain | u32 server | u64 sequence }] | zeros
/// ```
/// In brackets: what the GTID_LIST of the current file says, left out where it is not known.
///
/// Times are seconds since 1970 by the server's clock, not by the events' own timestamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRecord {
    /// Why it was written.
    pub reason: StateReason,
    /// When the last event before it was logged.
    pub last_event_time: u32,
    /// When the last event of the file before the current one was logged, 0 if unknown.
    pub closed_time: u32,
    /// The oldest file that has not been purged.
    pub oldest_file: u32,
    /// LSN from which that file's groups stand.
    pub oldest_lsn: u64,
    /// LSN from which the current file's groups stand.
    pub file_lsn: u64,
    /// The state at the record's place.
    pub files: VirtualFiles,
    /// The GTIDs before the current file, if known.
    pub file_gtids: Option<GtidState>,
}

/// Bytes before the state.
const HEAD: usize = 36;
const VERSION: u8 = 1;

impl StateRecord {
    /// Bytes to reserve for a record of the state `files`, with room for some more GTIDs.
    pub(crate) fn room(files: &VirtualFiles) -> usize {
        HEAD + files.bytes_len() + Self::list_len(files.gtids()) + SLACK
    }

    /// Whether a record of the state `files` fits into `room` bytes.
    pub(crate) fn fits(files: &VirtualFiles, room: usize) -> bool {
        HEAD + files.bytes_len() <= room
    }

    /// Bytes of a file's list in the record.
    fn list_len(gtids: &GtidState) -> usize {
        1 + 4 + 16 * gtids.len()
    }

    /// The body in exactly `room` bytes, which it must fit into.
    pub(crate) fn encode(&self, room: usize) -> Vec<u8> {
        let state = self.files.to_bytes();
        let mut body = vec![0; room];
        body[0] = VERSION;
        body[1] = self.reason as u8;
        let mut at = 4;
        let mut put = |bytes: &[u8]| {
            body[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&(state.len() as u32).to_le_bytes());
        put(&self.last_event_time.to_le_bytes());
        put(&self.closed_time.to_le_bytes());
        put(&self.oldest_file.to_le_bytes());
        put(&self.oldest_lsn.to_le_bytes());
        put(&self.file_lsn.to_le_bytes());
        put(&state);
        // Where a domain was deleted meanwhile it may be longer than there is room for.
        let free = room - HEAD - state.len();
        if let Some(gtids) = self
            .file_gtids
            .as_ref()
            .filter(|g| Self::list_len(g) <= free)
        {
            put(&[1]);
            put(&(gtids.len() as u32).to_le_bytes());
            for g in gtids.iter() {
                put(&g.domain.to_le_bytes());
                put(&g.server.to_le_bytes());
                put(&g.seq.to_le_bytes());
            }
        }
        body
    }

    /// Takes a State record's body apart. `config` gives names and limits.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] if it is no such body.
    pub fn parse(config: VirtualConfig, body: &[u8]) -> Result<StateRecord> {
        let bad = |e: &str| EngineError::Corrupt(format!("a state record: {e}"));
        let (head, rest) = body
            .split_first_chunk::<HEAD>()
            .ok_or_else(|| bad("it is too short"))?;
        if head[0] != VERSION {
            return Err(bad("its version is not known to this program"));
        }
        let u32_at =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let reason = match head[1] {
            0 => StateReason::Interval,
            1 => StateReason::Rotate,
            2 => StateReason::Reset,
            3 => StateReason::Set,
            4 => StateReason::Purge,
            _ => return Err(bad("its reason is not known to this program")),
        };
        let (state, rest) = rest
            .split_at_checked(u32_at(4) as usize)
            .ok_or_else(|| bad("it is cut short"))?;
        let file_gtids = match rest.first() {
            Some(1) => Some(list(rest).ok_or_else(|| bad("it is cut short"))?),
            _ => None,
        };
        Ok(StateRecord {
            reason,
            last_event_time: u32_at(8),
            closed_time: u32_at(12),
            oldest_file: u32_at(16),
            oldest_lsn: u64_at(20),
            file_lsn: u64_at(28),
            files: VirtualFiles::from_bytes(config, state).map_err(|e| bad(&e.to_string()))?,
            file_gtids,
        })
    }
}

/// The list at the front of `bytes`, behind its mark.
fn list(bytes: &[u8]) -> Option<GtidState> {
    let count = u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?) as usize;
    let entries = bytes.get(5..)?.get(..count.checked_mul(16)?)?;
    let mut gtids = GtidState::new();
    for entry in entries.chunks_exact(16) {
        let word = |at: usize| Some(u32::from_le_bytes(entry.get(at..at + 4)?.try_into().ok()?));
        gtids.observe(Gtid {
            domain: word(0)?,
            server: word(4)?,
            seq: u64::from(word(8)?) | u64::from(word(12)?) << 32,
        });
    }
    Some(gtids)
}

/// Room in a State record for what may come in between the guess of its length and its reservation, bytes.
pub(crate) const SLACK: usize = 4 * 16;

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_binlog::GtidChoice;

    fn record() -> StateRecord {
        let mut files = VirtualFiles::new(VirtualConfig::default());
        files.place_gtid(100, "7-9-1000".parse().unwrap());
        files.place(200, &GtidChoice::default());
        StateRecord {
            reason: StateReason::Rotate,
            last_event_time: 3,
            closed_time: 4,
            oldest_file: 5,
            oldest_lsn: 6 << 40,
            file_lsn: 7 << 40,
            files,
            file_gtids: Some(
                ["3-1-2", "0-5-1"]
                    .iter()
                    .map(|g| g.parse::<Gtid>().unwrap())
                    .collect(),
            ),
        }
    }

    #[test]
    fn it_reads_back_and_cut_ones_are_refused() {
        let r = record();
        let body = r.encode(StateRecord::room(&r.files));
        assert_eq!(body.len(), StateRecord::room(&r.files));
        let config = || VirtualConfig::default();
        assert_eq!(StateRecord::parse(config(), &body).unwrap(), r);
        let used = HEAD + r.files.bytes_len();
        let list = StateRecord::list_len(r.file_gtids.as_ref().unwrap());
        for n in (0..used).chain(used + 1..used + list) {
            assert!(StateRecord::parse(config(), &body[..n]).is_err(), "{n}");
        }
        // Records of former programs have zeros there, and a long list is left out where there is no room.
        let without = StateRecord {
            file_gtids: None,
            ..r.clone()
        };
        assert_eq!(
            StateRecord::parse(config(), &r.encode(used + list - 1)).unwrap(),
            without
        );
        assert_eq!(
            StateRecord::parse(config(), &without.encode(used + list)).unwrap(),
            without
        );
        for (at, value) in [(0, 2), (1, 9), (4, 255), (HEAD, 77)] {
            let mut b = body.clone();
            b[at] = value;
            assert!(StateRecord::parse(config(), &b).is_err(), "{at}");
        }
    }
}
