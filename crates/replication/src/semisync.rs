//! Semi-synchronous replication: commits wait until replicas have them.

use narwal_binlog::Gtid;

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

/// Semi-synchronous replication of a server.
#[derive(Debug, Default)]
pub struct SemiSync {}

impl SemiSync {
    /// A replica that acknowledges has attached.
    #[must_use]
    pub fn attach(&self, server_id: u32) -> SemiSyncReader {
        let _ = server_id;
        SemiSyncReader {}
    }
}

/// One replica that acknowledges. Dropped: detached.
#[derive(Debug)]
pub struct SemiSyncReader {}

impl SemiSyncReader {
    /// Whether the group's last event asks for an acknowledgement; it is remembered. Called just before that event is
    /// sent.
    pub fn wants_ack(&mut self, group: &GroupEnd) -> bool {
        let _ = group;
        false
    }

    /// An acknowledgement as it was read: `ef`, `u64` end position, file name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn ack_packet(&mut self, packet: &[u8]) -> Result<(), String> {
        let _ = packet;
        Ok(())
    }
}
