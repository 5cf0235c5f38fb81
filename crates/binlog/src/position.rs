//! Virtual positions: the file and offset that a group would have in a binary log made of flat files.

use crate::decode::{Event, EventReader};
use crate::error::BinlogError;
use crate::event::MAGIC;
use crate::file::{FDE_LEN, gtid_list_event_len};
use crate::gtid::{Gtid, GtidChoice, GtidError, GtidState};
use crate::lenenc::Reader;

/// Base name of virtual files unless `log_bin` says otherwise.
pub const DEFAULT_BASE_NAME: &str = "narwal-bin";

/// Largest `max_binlog_size`, in bytes (1 GiB).
const MAX_BINLOG_SIZE_LIMIT: u32 = 1 << 30;
const STATE_VERSION: u8 = 2;
/// Least bytes before the first group of a file: its GTID list is empty.
const MIN_HEAD: u64 = (MAGIC.len() + FDE_LEN + gtid_list_event_len(0)) as u64;

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
    /// Offset in bytes of the group's first byte in it; always below 4 GiB.
    pub start_pos: u64,
    /// The group's GTID.
    pub gtid: Gtid,
    /// The group is the first of its file.
    pub new_file: bool,
}

/// The state that advances with every group in log order: GTID counters and the virtual position.
///
/// A virtual file begins with the magic (4 bytes), a format description event (252 bytes) and a GTID_LIST event
/// of the state before the file; groups follow without gaps and are never split. A group that would end beyond
/// 4 GiB goes to a file of its own, which may then be longer than that.
#[derive(Debug, Clone)]
pub struct VirtualFiles {
    config: VirtualConfig,
    file_no: u32,
    offset: u64,
    /// Bytes before the first group of the current file.
    head: u64,
    gtids: GtidState,
    /// The state at the start of the current file; not known behind a stored state.
    at_start: Option<GtidState>,
}

/// What is stored of it is what counts, and the settings.
impl PartialEq for VirtualFiles {
    fn eq(&self, other: &Self) -> bool {
        self.config == other.config
            && self.file_no == other.file_no
            && self.offset == other.offset
            && self.head == other.head
            && self.gtids == other.gtids
    }
}

impl Eq for VirtualFiles {}

impl VirtualFiles {
    /// The state before the first group ever.
    #[must_use]
    pub fn new(config: VirtualConfig) -> Self {
        let mut this = Self {
            config,
            file_no: 1,
            offset: 0,
            head: 0,
            gtids: GtidState::new(),
            at_start: None,
        };
        this.set_max_binlog_size(this.config.max_binlog_size);
        this.begin_file(1);
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
    fn header_len(&self) -> u64 {
        (MAGIC.len() + FDE_LEN + gtid_list_event_len(self.gtids.len())) as u64
    }

    fn begin_file(&mut self, file_no: u32) {
        self.file_no = file_no;
        self.head = self.header_len();
        self.offset = self.head;
        self.at_start = Some(self.gtids.clone());
    }

    /// A place known from elsewhere: `offset` bytes into file `file_no`, whose first group stands at `head`, behind
    /// the GTIDs `gtids`.
    #[must_use]
    pub fn at(
        config: VirtualConfig,
        file_no: u32,
        head: u64,
        offset: u64,
        gtids: GtidState,
    ) -> Self {
        let mut this = Self {
            config,
            file_no,
            offset,
            head,
            at_start: (offset <= head).then(|| gtids.clone()),
            gtids,
        };
        this.set_max_binlog_size(this.config.max_binlog_size);
        this
    }

    /// The GTID state at the start of the current file, if known: not right after [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn gtids_at_file_start(&self) -> Option<&GtidState> {
        self.at_start.as_ref()
    }

    /// The GTID that a group with this choice would get now.
    #[must_use]
    pub fn gtid_for(&self, choice: &GtidChoice) -> Gtid {
        let domain = choice.domain_id.unwrap_or(self.config.domain_id);
        Gtid {
            domain,
            server: choice.server_id.unwrap_or(self.config.server_id),
            seq: choice.seq_no.unwrap_or_else(|| self.gtids.next_seq(domain)),
        }
    }

    /// Whether a group with this choice may be placed now. To be asked before [`place`](Self::place), in the same
    /// step of the log's order.
    ///
    /// # Errors
    /// In strict mode, if its sequence number is not greater than that of the last group in its domain.
    pub fn check(&self, choice: &GtidChoice) -> Result<(), GtidError> {
        if !choice.strict {
            return Ok(());
        }
        let gtid = self.gtid_for(choice);
        match self.gtids.last(gtid.domain) {
            Some(last) if gtid.seq <= last.seq => Err(GtidError { gtid, last }),
            _ => Ok(()),
        }
    }

    /// Gives a group of `group_len` bytes its GTID and its position, and advances. Takes constant time; meant to
    /// run inside the log's ordering step. Does not [`check`](Self::check).
    pub fn place(&mut self, group_len: u64, choice: &GtidChoice) -> Placement {
        self.place_gtid(group_len, self.gtid_for(choice))
    }

    /// As [`place`](Self::place), for a group that brings its GTID (applied from a primary).
    pub fn place_gtid(&mut self, group_len: u64, gtid: Gtid) -> Placement {
        let full = self.offset >= u64::from(self.config.max_binlog_size)
            || self.offset.saturating_add(group_len) > u64::from(u32::MAX);
        if full && !self.is_file_empty() {
            self.begin_file(self.file_no + 1);
        }
        let placement = Placement {
            file_no: self.file_no,
            start_pos: self.offset,
            gtid,
            new_file: self.is_file_empty(),
        };
        self.offset = self.offset.saturating_add(group_len);
        self.gtids.observe(gtid);
        placement
    }

    /// Begins a new file now (FLUSH BINARY LOGS), even if the current one has no group yet. Positions alone do not
    /// tell this to a reader: the caller writes the state into the log in the same step.
    pub fn rotate(&mut self) {
        self.begin_file(self.file_no + 1);
    }

    /// As [`rotate`](Self::rotate), with the number of the new file, unless the current one is that or a later one: a
    /// replica's files have their source's numbers.
    pub fn rotate_to(&mut self, file_no: u32) {
        if file_no > self.file_no {
            self.begin_file(file_no);
        }
    }

    /// Forgets everything and begins file `first_file` (RESET MASTER). As for [`rotate`](Self::rotate) the state
    /// belongs into the log in the same step.
    pub fn reset(&mut self, first_file: u32) {
        self.gtids = GtidState::new();
        self.begin_file(first_file);
    }

    /// Replaces the GTID state and begins a new file (a file's head names the state before it), or the current one
    /// anew if it has no group. As for [`rotate`](Self::rotate) the state belongs into the log in the same step.
    pub fn set_gtids(&mut self, gtids: GtidState) {
        let next = self.file_no + u32::from(!self.is_file_empty());
        self.gtids = gtids;
        self.begin_file(next);
    }

    /// Takes domains out of the GTID state and begins a new file. As for [`rotate`](Self::rotate) the state belongs
    /// into the log in the same step.
    pub fn delete_domains(&mut self, domains: &[u32]) {
        for &domain in domains {
            self.gtids.remove_domain(domain);
        }
        self.rotate();
    }

    /// Recovery: takes notice of a stamped group read back from the log, in log order.
    ///
    /// # Errors
    /// As [`observe_len`](Self::observe_len).
    pub fn observe(&mut self, group: &[u8]) -> Result<Placement, BinlogError> {
        self.observe_len(group, group.len() as u64)
    }

    /// As [`observe`](Self::observe), for a group of `len` bytes of which `gtid_event` holds at least the GTID event.
    ///
    /// # Errors
    /// Errors of reading its GTID event; [`BinlogError::Position`] if the group can't stand after what was
    /// observed before.
    pub fn observe_len(&mut self, gtid_event: &[u8], len: u64) -> Result<Placement, BinlogError> {
        let (found, gtid) = start_of(gtid_event)?;
        self.observe_at(found, len, gtid)
    }

    /// As [`observe`](Self::observe), for a group whose start, length in bytes and GTID are known already.
    ///
    /// # Errors
    /// [`BinlogError::Position`] as there.
    pub fn observe_at(
        &mut self,
        found: u64,
        len: u64,
        gtid: Gtid,
    ) -> Result<Placement, BinlogError> {
        if found != self.offset {
            // A group adds more bytes to a file than entries to its GTID list, so a later file's head is
            // always shorter than a file that has a group.
            if found != self.header_len() || self.offset < found || self.is_file_empty() {
                return Err(BinlogError::Position {
                    found,
                    expected: self.offset,
                });
            }
            self.begin_file(self.file_no + 1);
        }
        let placement = Placement {
            file_no: self.file_no,
            start_pos: found,
            gtid,
            new_file: self.is_file_empty(),
        };
        self.offset = found.saturating_add(len);
        self.gtids.observe(gtid);
        Ok(placement)
    }

    /// Reading behind a gap in the log: takes `start` for where the next group stands, in this file if it may be
    /// there, else in the next.
    pub fn resume_at(&mut self, start: u64) {
        if start < self.offset {
            self.file_no += 1;
            self.head = start.min(self.header_len());
            self.at_start = None;
        }
        self.offset = start;
    }

    /// The current file has no group yet.
    #[must_use]
    pub fn is_file_empty(&self) -> bool {
        self.offset <= self.head
    }

    /// Bytes before the first group of the current file.
    #[must_use]
    pub fn head_len(&self) -> u64 {
        self.head
    }

    /// Number of the current file, from 1.
    #[must_use]
    pub fn file_no(&self) -> u32 {
        self.file_no
    }

    /// Offset at which the next group would stand if it goes to the current file.
    #[must_use]
    pub fn offset(&self) -> u64 {
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

    /// The state as bytes, to be stored with a checkpoint and in State records.
    ///
    /// ```text
    /// u8 version = 2 | u32 file number | u64 offset | u64 length of the file's head
    /// | u32 count | count x { u32 domain | u32 server | u64 seq }
    /// | u32 count | count x { u32 domain | u64 largest seq }      where the last in a domain is not the largest
    /// ```
    ///
    /// Version 1 had a `u32 offset`, no head length and no largest numbers.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes_len());
        bytes.push(STATE_VERSION);
        bytes.extend_from_slice(&self.file_no.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.head.to_le_bytes());
        bytes.extend_from_slice(&(self.gtids.len() as u32).to_le_bytes());
        self.gtids.encode_entries(&mut bytes);
        let largest = self.gtids.hidden_counters();
        bytes.extend_from_slice(&(largest.clone().count() as u32).to_le_bytes());
        for (domain, seq) in largest {
            bytes.extend_from_slice(&domain.to_le_bytes());
            bytes.extend_from_slice(&seq.to_le_bytes());
        }
        bytes
    }

    /// Length of [`to_bytes`](Self::to_bytes).
    #[must_use]
    pub fn bytes_len(&self) -> usize {
        1 + 4 + 8 + 8 + 4 + 16 * self.gtids.len() + 4 + 12 * self.gtids.hidden_counters().count()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) made, also in version 1.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] or [`BinlogError::Truncated`] if it is not that.
    pub fn from_bytes(config: VirtualConfig, bytes: &[u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(bytes, "the stored binary log state");
        let version = reader.u8()?;
        let file_no = reader.u32()?;
        let (offset, head) = match version {
            1 => (u64::from(reader.u32()?), None),
            STATE_VERSION => (reader.u64()?, Some(reader.u64()?)),
            _ => {
                return Err(BinlogError::Invalid(
                    "unknown version of the stored binary log state",
                ));
            }
        };
        let count = reader.u32()? as usize;
        let mut gtids = GtidState::decode_entries(&mut reader, count)?;
        if gtids.len() != count || file_no == 0 {
            return Err(BinlogError::Invalid("stored binary log state"));
        }
        if version > 1 {
            for _ in 0..reader.u32()? {
                let (domain, seq) = (reader.u32()?, reader.u64()?);
                if !gtids.raise_counter(domain, seq) {
                    return Err(BinlogError::Invalid("stored binary log state"));
                }
            }
        }
        let mut this = Self {
            config,
            file_no,
            offset,
            head: 0,
            gtids,
            at_start: None,
        };
        // Of a file that has groups version 1 does not say how long its head is; at least it is not empty.
        this.head = head.unwrap_or_else(|| match this.header_len() {
            now if now == offset => now,
            _ => MIN_HEAD,
        });
        if !reader.is_empty() || this.offset < this.head || this.head < MIN_HEAD {
            return Err(BinlogError::Invalid("stored binary log state"));
        }
        if this.is_file_empty() {
            this.at_start = Some(this.gtids.clone());
        }
        this.set_max_binlog_size(this.config.max_binlog_size);
        Ok(this)
    }
}

/// Virtual position and GTID of a stamped group, from its GTID event.
fn start_of(group: &[u8]) -> Result<(u64, Gtid), BinlogError> {
    let first = EventReader::new(group)
        .next()
        .ok_or(BinlogError::Truncated("an event group"))??;
    let Event::Gtid(event) = first.decode()? else {
        return Err(BinlogError::Invalid(
            "event group that does not start with a GTID event",
        ));
    };
    // A group starts little more than 1 GiB into its file at most, so this event's end is never the 0 of a position
    // that 32 bits can't say.
    let start = first
        .header
        .end_log_pos
        .wrapping_sub(first.header.event_size);
    Ok((u64::from(start), event.gtid))
}
