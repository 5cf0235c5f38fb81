//! One replica that acknowledges: what it was asked for, what it has.

use super::state::{Asks, CAUGHT_UP, Shared};
use narwal_binlog::Gtid;
use narwal_engine::Gate;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// First byte of an acknowledgement, and second of every event packet to such a replica.
const MAGIC: u8 = 0xef;
/// Longest file name that is accepted.
const LONGEST_NAME: usize = 512;

/// Where a group ends, for [`SemiSyncReader::wants_ack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupEnd {
    /// Number of its virtual file.
    pub file_no: u32,
    /// Offset behind it.
    pub end_pos: u64,
    /// Its commit sequence number.
    pub seq: u64,
    /// Its GTID.
    pub gtid: Gtid,
}

/// One replica that acknowledges. Dropped: detached.
pub struct SemiSyncReader {
    shared: Arc<Shared>,
    id: u64,
    server_id: u32,
    /// Groups that it was asked for, oldest first.
    asked: VecDeque<GroupEnd>,
    /// The last one that it has acknowledged.
    acked: GroupEnd,
    /// The last group that it was sent.
    sent: u64,
    /// It has everything up to here.
    has: u64,
    /// It has come to the end of the log before.
    was_at_end: bool,
    /// Name of the virtual file of the last acknowledgement.
    file: (u32, String),
}

impl std::fmt::Debug for SemiSyncReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SemiSyncReader")
            .field("server_id", &self.server_id)
            .finish_non_exhaustive()
    }
}

impl Drop for SemiSyncReader {
    fn drop(&mut self) {
        self.shared.detach(self.id);
    }
}

impl SemiSyncReader {
    pub(super) fn new(shared: Arc<Shared>, id: u64, server_id: u32) -> Self {
        SemiSyncReader {
            shared,
            id,
            server_id,
            asked: VecDeque::new(),
            acked: GroupEnd::default(),
            sent: 0,
            has: 0,
            was_at_end: false,
            file: (0, String::new()),
        }
    }

    /// Whether the group's last event asks for an acknowledgement; it is remembered. Called just before that event is
    /// sent.
    pub fn wants_ack(&mut self, group: &GroupEnd) -> bool {
        self.sent = group.seq;
        let sh = &*self.shared;
        let ask = match sh.asks() {
            Asks::None => false,
            Asks::Missing => group.seq > sh.settled.load(Ordering::Acquire),
            Asks::NearEnd => group.seq + CAUGHT_UP >= sh.db.visible_seq(),
        };
        if ask {
            sh.asked.fetch_add(1, Ordering::Relaxed);
            self.asked.push_back(*group);
        }
        ask
    }

    /// It is not sent the commits up to `seq`, because it has them.
    pub fn skipped(&mut self, seq: u64) {
        // What it was sent before and has not acknowledged is not certain.
        if self.sent <= self.has && seq > self.has {
            self.has = seq;
        }
    }

    /// It is not sent commit `seq`, which it does not have.
    pub fn left_out(&mut self, seq: u64) {
        self.sent = seq;
    }

    /// The last commit that may wait for a replica, if this replica should tell whether it has it: when it comes to the
    /// end of the log for the first time, or while semi-synchronous replication waits for one that has caught up.
    #[must_use]
    pub fn wants_end(&self) -> Option<u64> {
        let db = &self.shared.db;
        let wanted = !self.was_at_end || self.shared.asks() == Asks::NearEnd;
        wanted.then(|| db.visible_seq().max(db.held().last))
    }

    /// Its dump stands at `lsn` and found nothing more there, after [`wants_end`](Self::wants_end) gave `end`.
    pub fn at_end(&mut self, end: u64, lsn: u64) {
        let db = &self.shared.db;
        // Without a gate commits may be visible long before they are durable (modes 0 and 2), and so not sent.
        let all = match db.gate() {
            Gate::Open => db.log_end().0,
            _ => db.durable_lsn(),
        };
        if lsn < all {
            return;
        }
        self.skipped(end);
        if self.has >= end {
            self.was_at_end = true;
            self.shared.has(self.server_id, self.has);
        }
    }

    /// True if acknowledgements are still to come.
    #[must_use]
    pub fn waits_for_ack(&self) -> bool {
        !self.asked.is_empty()
    }

    /// An acknowledgement as it was read: `ef`, `u64` end position, file name. It counts for everything before it, too.
    ///
    /// # Errors
    /// What is wrong with it: it is malformed, or for a place that this replica was not asked for.
    pub fn ack_packet(&mut self, packet: &[u8]) -> Result<(), String> {
        let (file_no, pos, name) = self.place(packet)?;
        self.shared.received.fetch_add(1, Ordering::Relaxed);
        let found = self
            .asked
            .iter()
            .position(|g| g.end_pos == pos && g.file_no == file_no);
        let Some(at) = found else {
            if (file_no, pos) <= (self.acked.file_no, self.acked.end_pos) {
                return Ok(()); // said before
            }
            return Err(format!(
                "an acknowledgement of {name} {pos}, where nothing that was sent ends"
            ));
        };
        for group in self.asked.drain(..=at) {
            self.acked = group;
        }
        self.has = self.has.max(self.acked.seq);
        tracing::trace!(server_id = self.server_id, gtid = %self.acked.gtid, file = name, pos, "acknowledged");
        self.shared.has(self.server_id, self.has);
        Ok(())
    }

    /// Takes an acknowledgement apart.
    fn place<'p>(&mut self, packet: &'p [u8]) -> Result<(u32, u64, &'p str), String> {
        let malformed = || format!("a malformed acknowledgement of {} bytes", packet.len());
        let rest = packet.strip_prefix(&[MAGIC]).ok_or_else(malformed)?;
        let (pos, name) = rest.split_first_chunk::<8>().ok_or_else(malformed)?;
        let name = name.strip_suffix(&[0]).unwrap_or(name);
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(malformed());
        }
        let name = std::str::from_utf8(name).map_err(|_| malformed())?;
        if name != self.file.1 {
            let number = name
                .rsplit_once('.')
                .and_then(|(_, n)| n.parse::<u32>().ok())
                .filter(|n| self.shared.db.binlog_file_name(*n) == name)
                .ok_or_else(|| format!("an acknowledgement for an unknown file {name:?}"))?;
            self.file = (number, name.to_owned());
        }
        Ok((self.file.0, u64::from_le_bytes(*pos), name))
    }
}
