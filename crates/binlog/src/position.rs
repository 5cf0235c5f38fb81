//! Virtual positions: the file and offset that a group would have in a binary log made of flat files.

use crate::decode::{Event, EventReader};
use crate::error::BinlogError;
use crate::event::MAX_GROUP_LEN;
use crate::file::{FDE_LEN, MAGIC, gtid_list_event_len};
use crate::gtid::{Gtid, GtidState};
use crate::lenenc::Reader;

/// Base name of virtual files unless `log_bin` says otherwise.
pub const DEFAULT_BASE_NAME: &str = "narwal-bin";

/// Largest `max_binlog_size`, in bytes (1 GiB).
const MAX_BINLOG_SIZE_LIMIT: u32 = 1 << 30;
const STATE_VERSION: u8 = 1;

/// Settings of [`VirtualFiles`] that come from options and are not part of its stored state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualConfig {
    /// File names are `base_name.000001` and so on.
    pub base_name: String,
    /// `gtid_domain_id` of transactions that start here.
    pub domain_id: u32,
    /// `server_id`.
    pub server_id: u32,
    /// Offset in bytes from which the next group goes to a new file: 4 KiB to 1 GiB (values outside are moved
    /// to the nearest).
    pub max_binlog_size: u32,
}

impl Default for VirtualConfig {
    fn default() -> Self {
        Self {
            base_name: DEFAULT_BASE_NAME.to_owned(),
            domain_id: 0,
            server_id: 1,
            max_binlog_size: MAX_BINLOG_SIZE_LIMIT,
        }
    }
}

/// Where a group stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Number of the virtual file, from 1.
    pub file_no: u32,
    /// Offset of the group's first byte in it.
    pub start_pos: u32,
    /// The group's GTID.
    pub gtid: Gtid,
    /// The group is the first of its file.
    pub new_file: bool,
}

/// The state that advances with every group in log order: GTID counters and the virtual position.
///
/// A virtual file begins with the magic (4 bytes), a format description event (252 bytes) and a GTID_LIST event
/// of the state before the file; groups follow without gaps and are never split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualFiles {
    config: VirtualConfig,
    file_no: u32,
    offset: u32,
    gtids: GtidState,
}

impl VirtualFiles {
    /// The state before the first group ever.
    #[must_use]
    pub fn new(config: VirtualConfig) -> Self {
        let mut this = Self {
            config,
            file_no: 1,
            offset: 0,
            gtids: GtidState::new(),
        };
        this.set_max_binlog_size(this.config.max_binlog_size);
        this.offset = this.header_len();
        this
    }

    /// The state before `group`, as far as that group tells: for reading a log whose beginning was purged. The
    /// file number is a guess (1), and of the GTIDs only the one before the group's own is known.
    ///
    /// # Errors
    /// Errors of reading the group's GTID event.
    pub fn before_group(config: VirtualConfig, group: &[u8]) -> Result<Self, BinlogError> {
        let (start, gtid) = start_of(group)?;
        let mut this = Self::new(config);
        this.offset = start;
        if let Some(seq) = gtid.seq.checked_sub(1).filter(|&seq| seq > 0) {
            this.gtids.observe(Gtid { seq, ..gtid });
        }
        Ok(this)
    }

    /// Bytes before the first group of a file that would begin now.
    fn header_len(&self) -> u32 {
        (MAGIC.len() + FDE_LEN + gtid_list_event_len(self.gtids.len())) as u32
    }

    /// Gives a group of `group_len` bytes (at most [`MAX_GROUP_LEN`]) its GTID in the server's own domain and
    /// its position, and advances. Takes constant time; meant to run inside the log's ordering step.
    pub fn place(&mut self, group_len: u32) -> Placement {
        let gtid = Gtid {
            domain: self.config.domain_id,
            server: self.config.server_id,
            seq: self.gtids.next_seq(self.config.domain_id),
        };
        self.place_gtid(group_len, gtid)
    }

    /// As [`place`](Self::place), for a group that brings its GTID (`gtid_seq_no`, or applied from a primary).
    pub fn place_gtid(&mut self, group_len: u32, gtid: Gtid) -> Placement {
        debug_assert!(group_len as usize <= MAX_GROUP_LEN);
        let new_file = self.offset >= self.config.max_binlog_size
            || self.offset.checked_add(group_len).is_none();
        if new_file {
            self.next_file();
        }
        let placement = Placement {
            file_no: self.file_no,
            start_pos: self.offset,
            gtid,
            new_file: new_file || self.offset == self.header_len(),
        };
        self.offset += group_len;
        self.gtids.observe(gtid);
        placement
    }

    fn next_file(&mut self) {
        self.file_no += 1;
        self.offset = self.header_len();
    }

    /// Begins a new file now (FLUSH BINARY LOGS). Does nothing in a file that has no group yet: so what
    /// [`observe`](Self::observe) concludes from positions alone is never ambiguous. Until a group is placed in
    /// it the new file leaves no trace in the log.
    pub fn rotate(&mut self) {
        if self.offset > self.header_len() {
            self.next_file();
        }
    }

    /// Recovery: takes notice of a stamped group read back from the log, in log order.
    ///
    /// # Errors
    /// Errors of reading its GTID event; [`BinlogError::Position`] if the group can't stand after what was
    /// observed before.
    pub fn observe(&mut self, group: &[u8]) -> Result<Placement, BinlogError> {
        let (found, gtid) = start_of(group)?;
        self.observe_at(u64::from(found), group.len() as u64, gtid)
    }

    /// As [`observe`](Self::observe), for a group whose start, length in bytes and GTID are known already.
    ///
    /// # Errors
    /// [`BinlogError::Position`] and [`BinlogError::TooLarge`] as there.
    pub fn observe_at(
        &mut self,
        found: u64,
        len: u64,
        gtid: Gtid,
    ) -> Result<Placement, BinlogError> {
        let too_large = |what, size, limit| BinlogError::TooLarge { what, size, limit };
        let len = u32::try_from(len)
            .ok()
            .filter(|&len| len as usize <= MAX_GROUP_LEN)
            .ok_or(too_large("event group", len, MAX_GROUP_LEN as u64))?;
        let found = u32::try_from(found)
            .map_err(|_| too_large("virtual position", found, u64::from(u32::MAX)))?;
        if found != self.offset {
            // A group adds more bytes to a file than entries to its GTID list, so a later file's head is
            // always shorter than a file that has a group.
            if found != self.header_len() || self.offset < found {
                return Err(BinlogError::Position {
                    found,
                    expected: self.offset,
                });
            }
            self.next_file();
        }
        let placement = Placement {
            file_no: self.file_no,
            start_pos: found,
            gtid,
            new_file: self.offset == self.header_len(),
        };
        self.offset = found.checked_add(len).ok_or(too_large(
            "virtual binary log file",
            u64::from(found) + u64::from(len),
            u64::from(u32::MAX),
        ))?;
        self.gtids.observe(gtid);
        Ok(placement)
    }

    /// Reading behind a gap in the log: takes `start` for where the next group stands, in this file if it may be
    /// there, else in the next.
    pub fn resume_at(&mut self, start: u64) {
        if start < u64::from(self.offset) {
            self.file_no += 1;
        }
        self.offset = u32::try_from(start).unwrap_or(u32::MAX);
    }

    /// Number of the current file, from 1.
    #[must_use]
    pub fn file_no(&self) -> u32 {
        self.file_no
    }

    /// Offset at which the next group would stand if it goes to the current file.
    #[must_use]
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// What was written so far.
    #[must_use]
    pub fn gtids(&self) -> &GtidState {
        &self.gtids
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &VirtualConfig {
        &self.config
    }

    /// Changes `max_binlog_size` (bytes, moved into 4 KiB to 1 GiB) for groups to come.
    pub fn set_max_binlog_size(&mut self, bytes: u32) {
        self.config.max_binlog_size = bytes.clamp(4096, MAX_BINLOG_SIZE_LIMIT);
    }

    /// Changes `server_id` for groups to come.
    pub fn set_server_id(&mut self, server_id: u32) {
        self.config.server_id = server_id;
    }

    /// Changes `gtid_domain_id` for groups to come.
    pub fn set_domain_id(&mut self, domain_id: u32) {
        self.config.domain_id = domain_id;
    }

    /// Name of file number `file_no`: the base name and at least six digits.
    #[must_use]
    pub fn file_name(&self, file_no: u32) -> String {
        format!("{}.{:06}", self.config.base_name, file_no)
    }

    /// Name of the current file.
    #[must_use]
    pub fn current_file(&self) -> String {
        self.file_name(self.file_no)
    }

    /// The number in a file name of this base name, or `None`.
    #[must_use]
    pub fn parse_file_name(&self, name: &str) -> Option<u32> {
        let digits = name
            .strip_prefix(self.config.base_name.as_str())?
            .strip_prefix('.')?;
        let number = digits.parse().ok()?;
        // Only the canonical spelling: no sign, no missing or additional zero.
        (self.file_name(number) == name).then_some(number)
    }

    /// The state as bytes, to be stored with a checkpoint.
    ///
    /// ```text
    /// u8 version = 1 | u32 file number | u32 offset | u32 count | count x { u32 domain | u32 server | u64 seq }
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![STATE_VERSION];
        bytes.extend_from_slice(&self.file_no.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&(self.gtids.len() as u32).to_le_bytes());
        self.gtids.encode_entries(&mut bytes);
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) made.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] or [`BinlogError::Truncated`] if it is not that.
    pub fn from_bytes(config: VirtualConfig, bytes: &[u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(bytes, "the stored binary log state");
        if reader.u8()? != STATE_VERSION {
            return Err(BinlogError::Invalid(
                "unknown version of the stored binary log state",
            ));
        }
        let (file_no, offset, count) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let gtids = GtidState::decode_entries(&mut reader, count as usize)?;
        if !reader.is_empty() || file_no == 0 || gtids.len() != count as usize {
            return Err(BinlogError::Invalid("stored binary log state"));
        }
        let mut this = Self {
            config,
            file_no,
            offset,
            gtids,
        };
        this.set_max_binlog_size(this.config.max_binlog_size);
        Ok(this)
    }
}

/// Virtual position and GTID of a stamped group, from its GTID event.
fn start_of(group: &[u8]) -> Result<(u32, Gtid), BinlogError> {
    let first = EventReader::new(group)
        .next()
        .ok_or(BinlogError::Truncated("an event group"))??;
    let Event::Gtid(event) = first.decode()? else {
        return Err(BinlogError::Invalid(
            "event group that does not start with a GTID event",
        ));
    };
    let start = first
        .header
        .end_log_pos
        .wrapping_sub(first.header.event_size);
    Ok((start, event.gtid))
}
