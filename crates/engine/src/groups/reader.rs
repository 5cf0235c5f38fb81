//! The group reader: event groups out of log records, event by event.
//!
//! A small transaction's events stand in its commit record. A large one's stand in Chunk records that other commits
//! interleave with; its commit record names them. The reader follows the names. Its user sees one group
//! whose events come one after the other, and needs memory for one record at a time, whatever the group's length.
//!
//! ```text
//! Chunk       u8 flags | 3 zeros | u32 number | u64 LSN of the first chunk that the transaction sent (0 in that one)
//!             | u32 n | n x u64 row id | events
//! ChunkIndex  n x { u64 LSN | u64 bytes of events }
//! ```
//! Everything is little-endian. Events in chunks are not stamped: server id, `end_log_pos` and CRC32 are filled in here,
//! from the group's GTID event and by counting.

use crate::Result;
use crate::groups::records::Records;
use crate::groups::records::corrupt;
use crate::record::chunk::{Chunk, Oob};
use crate::record::packed::{unpack, unpack_chunk};
use crate::record::state::{StateReason, StateRecord};
use narwal_binlog::{
    CHECKSUM_LEN, Event, EventHeader, EventReader, Gtid, GtidState, HEADER_LEN, MysqlGtid,
    VirtualConfig, VirtualFiles, stamp_event,
};
use narwal_log::{Lsn, RecordKind, Seq};

/// What kind of entry the reader stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// An event group, as replicas see it.
    Group,
    /// Changes that replicas never see (`sql_log_bin=0`): no GTID, no place in a virtual file. Their events are
    /// completed with server id and end position 0.
    Local,
}

/// The head of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupHead {
    /// The commit record.
    pub lsn: Lsn,
    /// LSN behind it.
    pub end_lsn: Lsn,
    /// Its commit sequence number.
    pub seq: Seq,
    /// What it is.
    pub kind: GroupKind,
    /// Number of the virtual file, from 1; 0 for [`GroupKind::Local`].
    pub file_no: u32,
    /// Offset of its first event there.
    pub start_pos: u64,
    /// It is the first group of its file.
    pub new_file: bool,
    /// Its GTID; all zero for [`GroupKind::Local`].
    pub gtid: Gtid,
    /// Its GTID at the MySQL that it comes from, or that a client gave it by `gtid_next`.
    pub mysql: Option<MysqlGtid>,
    /// Bits of [`narwal_binlog::gtid_flags`]; 0 for [`GroupKind::Local`].
    pub flags2: u8,
    /// Bytes of all its events.
    pub len: u64,
    /// Seconds since 1970 UTC, of its first event.
    pub timestamp: u32,
    /// The lowest LSN that it needs: that of its first chunk, or its own.
    pub first_lsn: Lsn,
    /// Chunks that it has: 0 for a group that stands in its commit record; `u64::MAX` if only the chunk index tells.
    pub chunks: u64,
}

/// What a commit's annex says to readers. The store has more in it, which is not their business.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Deserialize)]
struct AnnexView {
    #[serde(default)]
    oob: Option<Oob>,
    #[serde(default)]
    local_len: u32,
    /// A MySQL's GTID; empty if it gave none.
    #[serde(default)]
    mysql: String,
}

/// Follows a commit's names of its chunks.
#[derive(Debug, Default)]
struct ChunkNames {
    list: std::vec::IntoIter<(Lsn, u64)>,
    index: std::vec::IntoIter<Lsn>,
    /// The present ChunkIndex record and how far it was read.
    page: Vec<u8>,
    at: usize,
    /// The chunk named last: names only ascend, and stay below the commit.
    last: Lsn,
    below: Lsn,
}

impl ChunkNames {
    fn new(oob: Oob, commit: Lsn) -> Self {
        ChunkNames {
            list: oob.chunks.into_iter(),
            index: oob.index.into_iter(),
            below: commit,
            ..ChunkNames::default()
        }
    }

    fn next(&mut self, records: &mut impl Records) -> Result<Option<(Lsn, u64)>> {
        let found = match self.list.next() {
            Some(found) => found,
            None => loop {
                if let Some(entry) = self.page.get(self.at..self.at + 16) {
                    self.at += 16;
                    let word = |b: &[u8]| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
                    break (word(&entry[..8]), word(&entry[8..]));
                }
                let Some(lsn) = self.index.next() else {
                    return Ok(None);
                };
                if lsn >= self.below {
                    return Err(corrupt(
                        self.below,
                        format!("names the chunk index {lsn} behind it"),
                    ));
                }
                let kind = records.read_at(lsn, &mut self.page)?;
                if kind != RecordKind::ChunkIndex || !self.page.len().is_multiple_of(16) {
                    return Err(corrupt(
                        lsn,
                        "is no chunk index, but a commit names it as one",
                    ));
                }
                self.at = 0;
            },
        };
        if found.0 <= self.last || found.0 >= self.below {
            return Err(corrupt(
                self.below,
                format!("names the chunk {} out of order", found.0),
            ));
        }
        self.last = found.0;
        Ok(Some(found))
    }
}

/// A virtual file that was begun by a statement, not by a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunFile {
    /// Its number.
    pub number: u32,
    /// The GTIDs before it.
    pub gtids: GtidState,
    /// When, at the latest, the last event before it was logged: seconds since 1970.
    pub time: u32,
}

/// Reads event groups, whatever form they have in the log.
///
/// [`next_group`](Self::next_group) goes to the next group, whether or not the one before was read to its end;
/// [`next_event`](Self::next_event) then gives its events.
#[derive(Debug)]
pub struct GroupReader<R> {
    pub(crate) records: R,
    pub(crate) config: VirtualConfig,
    pub(crate) files: Option<VirtualFiles>,
    /// The State record read last, and how many of them were resets.
    state: Option<StateRecord>,
    resets: u64,
    begun: Vec<BegunFile>,
    begun_done: bool,
    /// GTIDs before the present group.
    before: GtidState,
    /// GTIDs before the first group of its file, if that was seen.
    file_gtids: Option<GtidState>,
    /// Something was left out: positions must be learnt anew.
    gap: bool,
    /// `files` is what a state says and the groups since, not what the groups alone tell.
    exact: bool,
    with_local: bool,
    head: Option<GroupHead>,
    /// The commit record's body; `at..` are the events still to come, behind the chunks.
    body: Vec<u8>,
    at: usize,
    oob: Oob,
    names: ChunkNames,
    /// Bytes of chunk events still to come.
    chunked: u64,
    chunk: Vec<u8>,
    chunk_at: usize,
    chunk_no: u32,
    first_chunk: Lsn,
    chunk_name: Option<Lsn>,
    /// End position of the last event given.
    pos: u64,
    annex: std::ops::Range<usize>,
}

impl<R: Records> GroupReader<R> {
    /// Reads the groups of `records`. `state` is the virtual position at their first record; without it the first
    /// group's position is taken as it is, in a file number that is a guess until a state record tells.
    pub fn new(records: R, config: VirtualConfig, state: Option<VirtualFiles>) -> Self {
        GroupReader {
            records,
            config,
            state: None,
            resets: 0,
            begun: Vec::new(),
            begun_done: false,
            before: state
                .as_ref()
                .map_or_else(GtidState::new, |s| s.gtids().clone()),
            file_gtids: state
                .as_ref()
                .filter(|s| s.is_file_empty())
                .map(|s| s.gtids().clone()),
            exact: state.is_some(),
            files: state,
            gap: false,
            with_local: false,
            head: None,
            body: Vec::new(),
            at: 0,
            oob: Oob::default(),
            names: ChunkNames::default(),
            chunked: 0,
            chunk: Vec::new(),
            chunk_at: 0,
            chunk_no: 0,
            first_chunk: 0,
            chunk_name: None,
            pos: 0,
            annex: 0..0,
        }
    }

    /// Gives [`GroupKind::Local`] entries too.
    #[must_use]
    pub fn with_local(mut self) -> Self {
        self.with_local = true;
        self
    }

    /// The virtual position behind the last group, once known.
    #[must_use]
    pub fn files(&self) -> Option<&VirtualFiles> {
        self.files.as_ref()
    }

    /// The State record that was read last.
    #[must_use]
    pub fn last_state(&self) -> Option<&StateRecord> {
        self.state.as_ref()
    }

    /// How often everything so far was reset (RESET MASTER): files before do not count any more.
    #[must_use]
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// The files that were begun without a group (FLUSH BINARY LOGS) between the group before and the present one, or
    /// the end.
    #[must_use]
    pub fn begun_files(&self) -> &[BegunFile] {
        &self.begun
    }

    /// The GTIDs written before the present group, as far as known.
    #[must_use]
    pub fn gtids_before(&self) -> &GtidState {
        &self.before
    }

    /// The GTIDs written before the present group's virtual file, which its GTID_LIST says. `None` if reading began
    /// inside the file.
    #[must_use]
    pub fn file_gtids(&self) -> Option<&GtidState> {
        self.file_gtids.as_ref()
    }

    /// The records below.
    #[must_use]
    pub fn records(&self) -> &R {
        &self.records
    }

    /// The records below, to ask things that do not move them.
    pub fn records_mut(&mut self) -> &mut R {
        &mut self.records
    }

    /// The records below, to be moved over something that can't be read. The next group's position is then taken as
    /// it is.
    pub fn records_after_gap(&mut self) -> &mut R {
        (self.gap, self.exact) = (true, false);
        self.head = None;
        &mut self.records
    }

    /// The state before the next group, found out by looking ahead: after a gap.
    pub(crate) fn set_files(&mut self, files: VirtualFiles) {
        self.files = Some(files);
        self.gap = false;
    }

    /// The head of the present group.
    #[must_use]
    pub fn head(&self) -> Option<&GroupHead> {
        self.head.as_ref()
    }

    /// The present group's annex, JSON; empty for most groups.
    #[must_use]
    pub fn annex(&self) -> &[u8] {
        &self.body[self.annex.clone()]
    }

    /// Goes to the next group; `None` at the end of the log. In a running log, call again when there is more.
    ///
    /// # Errors
    /// [`crate::EngineError::Corrupt`] with the LSN; errors of reading the log.
    pub fn next_group(&mut self) -> Result<Option<GroupHead>> {
        self.head = None;
        if std::mem::take(&mut self.begun_done) {
            self.begun.clear();
        }
        loop {
            let Some(record) = self.records.next()? else {
                return Ok(None);
            };
            let at = (record.lsn, record.end_lsn, record.seq);
            let (stored_as, body) =
                unpack(record.kind, record.body).map_err(|e| corrupt(record.lsn, e))?;
            let kind = match stored_as {
                RecordKind::Commit | RecordKind::AnnexCommit => GroupKind::Group,
                RecordKind::LocalCommit if self.with_local => GroupKind::Local,
                RecordKind::State => {
                    let state = StateRecord::parse(self.config.clone(), record.body)
                        .map_err(|e| corrupt(at.0, e))?;
                    self.observe_state(state);
                    continue;
                }
                _ => continue,
            };
            let annexed = stored_as != RecordKind::Commit;
            self.body.clear();
            self.body.extend_from_slice(&body);
            if let Some(head) = self.begin(at, kind, annexed)? {
                self.head = Some(head);
                self.begun_done = true;
                return Ok(Some(head));
            }
        }
    }

    fn observe_state(&mut self, state: StateRecord) {
        let number = state.files.file_no();
        // Reading may begin with the reset that made the log what it is.
        let same = self.files.as_ref().is_some_and(|f| {
            f.is_file_empty()
                && f.file_no() == state.files.file_no()
                && f.gtids() == state.files.gtids()
        });
        let reset = state.reason == StateReason::Reset && !same;
        self.resets += u64::from(reset);
        if reset {
            self.begun.clear();
        }
        if state.file_gtids.is_some() {
            self.file_gtids.clone_from(&state.file_gtids);
        }
        if state.files.is_file_empty() {
            self.begun.retain(|f| f.number != number);
            self.begun.push(BegunFile {
                number,
                gtids: state.files.gtids().clone(),
                time: state.last_event_time,
            });
            self.file_gtids = Some(state.files.gtids().clone());
        } else if state.file_gtids.is_none()
            && self.files.as_ref().is_none_or(|f| f.file_no() != number)
        {
            self.file_gtids = None;
        }
        self.files = Some(state.files.clone());
        self.state = Some(state);
        (self.gap, self.exact) = (false, true);
    }

    /// Takes the record in `body` apart. `None` if it has no events for readers.
    fn begin(
        &mut self,
        (lsn, end_lsn, seq): (Lsn, Lsn, Seq),
        kind: GroupKind,
        annexed: bool,
    ) -> Result<Option<GroupHead>> {
        let mut annex = AnnexView::default();
        self.annex = 0..0;
        self.at = 0;
        if annexed {
            let short = || corrupt(lsn, "is shorter than its annex");
            let (len, rest) = self.body.split_first_chunk::<4>().ok_or_else(short)?;
            let len = u32::from_le_bytes(*len) as usize;
            let json = rest.get(..len).ok_or_else(short)?;
            if len > 0 {
                annex = serde_json::from_slice(json)
                    .map_err(|e| corrupt(lsn, format!("annex: {e}")))?;
            }
            self.annex = 4..4 + len;
            self.at = 4 + len;
            // What replicas never see of a transaction stands before what they see.
            if kind == GroupKind::Group {
                self.at += annex.local_len as usize;
            }
            if self.at > self.body.len() {
                return Err(short());
            }
        }
        let named = |_| corrupt(lsn, format!("GTID {:?} in its annex", annex.mysql));
        let mysql = match annex.mysql.is_empty() {
            true => None,
            false => Some(annex.mysql.parse().map_err(named)?),
        };
        let own = (self.body.len() - self.at) as u64;
        let oob = annex.oob.unwrap_or_default();
        (self.chunked, self.first_chunk) = (oob.events_len, oob.first);
        if self.chunked == 0 && own == 0 {
            return Ok(None);
        }
        let len = own
            .checked_add(oob.events_len)
            .ok_or_else(|| corrupt(lsn, "names more bytes of chunks than there can be"))?;
        let chunks = match (oob.index.is_empty(), oob.events_len) {
            (_, 0) => 0,
            (true, _) => oob.chunks.len() as u64,
            (false, _) => u64::MAX,
        };
        let first_lsn = if chunks > 0 { oob.first } else { lsn };
        self.oob = oob;
        self.begin_chunks(lsn);
        let mut head = GroupHead {
            lsn,
            end_lsn,
            seq,
            kind,
            file_no: 0,
            start_pos: 0,
            new_file: false,
            gtid: Gtid::default(),
            mysql,
            flags2: 0,
            len,
            timestamp: 0,
            first_lsn,
            chunks,
        };
        if kind == GroupKind::Group {
            self.place(&mut head)?;
        }
        self.pos = head.start_pos;
        Ok(Some(head))
    }

    fn begin_chunks(&mut self, commit: Lsn) {
        self.chunked = self.oob.events_len;
        self.names = ChunkNames::new(self.oob.clone(), commit);
        self.chunk.clear();
        (self.chunk_at, self.chunk_no, self.chunk_name) = (0, 0, None);
    }

    /// Reads the chunks of the present group, of which no event was read yet, so that its events can then be given
    /// without an error in their midst. Nothing to do for a group without chunks.
    ///
    /// # Errors
    /// As [`next_group`](Self::next_group); an error ends the group.
    pub fn verify_chunks(&mut self) -> Result<()> {
        let Some(head) = self.head else {
            return Ok(());
        };
        while self.chunked > 0 {
            self.chunk_at = self.chunk.len();
            if let Err(e) = self.next_chunk(&head) {
                self.head = None;
                return Err(e);
            }
        }
        self.begin_chunks(head.lsn);
        Ok(())
    }

    /// Reads the GTID event and fixes the group's place.
    fn place(&mut self, head: &mut GroupHead) -> Result<()> {
        let damaged = |e: &dyn std::fmt::Display| corrupt(head.lsn, e);
        let events = &self.body[self.at..];
        let first = EventReader::new(events)
            .next()
            .ok_or_else(|| damaged(&"has no event"))?
            .map_err(|e| damaged(&e))?;
        let Event::Gtid(event) = first.decode().map_err(|e| damaged(&e))? else {
            return Err(damaged(&"its events do not begin with a GTID"));
        };
        let start = first
            .header
            .end_log_pos
            .checked_sub(first.header.event_size)
            .map(u64::from)
            .ok_or_else(|| damaged(&"its GTID event ends before it starts"))?;
        let files = match &mut self.files {
            Some(files) => {
                if self.gap {
                    files.resume_at(start);
                }
                files
            }
            none => none.insert(
                VirtualFiles::before_group(self.config.clone(), first.bytes)
                    .map_err(|e| damaged(&e))?,
            ),
        };
        self.gap = false;
        self.before.clone_from(files.gtids());
        let file_no = files.file_no();
        let placement = match files.observe_at(start, head.len, event.gtid) {
            // A new file's head is as long as the GTIDs before it make it, and not all of them are known.
            Err(_) if !self.exact => {
                files.resume_at(start);
                files.observe_at(start, head.len, event.gtid)
            }
            found => found,
        }
        .map_err(|e| damaged(&e))?;
        if placement.new_file && self.exact {
            self.file_gtids = Some(self.before.clone());
        } else if placement.file_no != file_no {
            self.file_gtids = None;
        }
        head.file_no = placement.file_no;
        head.start_pos = start;
        head.new_file = placement.new_file;
        head.gtid = event.gtid;
        head.flags2 = event.flags2;
        head.timestamp = first.header.timestamp;
        Ok(())
    }

    /// The next event of the present group, complete (stamped, with its checksum); `None` behind the last one.
    ///
    /// # Errors
    /// As [`next_group`](Self::next_group); an error ends the group.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>> {
        let Some(head) = self.head else {
            return Ok(None);
        };
        match self.step(&head) {
            Ok(Some((false, range))) => Ok(self.body.get(range)),
            Ok(Some((true, range))) => Ok(self.chunk.get(range)),
            Ok(None) => {
                self.head = None;
                Ok(None)
            }
            Err(e) => {
                self.head = None;
                Err(e)
            }
        }
    }

    /// The next event's bytes: in the chunk (true) or in the commit record.
    fn step(&mut self, head: &GroupHead) -> Result<Option<(bool, std::ops::Range<usize>)>> {
        // The GTID event of a chunked group stands in the commit record, before the chunks.
        let gtid_next = head.kind == GroupKind::Group && self.pos == head.start_pos;
        if self.chunk_at == self.chunk.len() && !gtid_next {
            self.next_chunk(head)?;
        }
        let in_chunk = !gtid_next && self.chunk_at < self.chunk.len();
        let (bytes, at) = if in_chunk {
            (&mut self.chunk, &mut self.chunk_at)
        } else {
            (&mut self.body, &mut self.at)
        };
        if *at == bytes.len() {
            return Ok(None);
        }
        let damaged = |e: &dyn std::fmt::Display| corrupt(head.lsn, e);
        let header = EventHeader::parse(&bytes[*at..]).map_err(|e| damaged(&e))?;
        let size = header.event_size as usize;
        let event = bytes[*at..]
            .get_mut(..size)
            .filter(|e| e.len() >= HEADER_LEN + CHECKSUM_LEN)
            .ok_or_else(|| damaged(&"an event is longer or shorter than it can be"))?;
        self.pos += size as u64;
        // Positions are 32-bit; what lies behind has none.
        let end = u32::try_from(self.pos).unwrap_or(0);
        if head.kind == GroupKind::Local {
            stamp_event(event, 0, 0).map_err(|e| damaged(&e))?;
        } else if in_chunk {
            stamp_event(event, head.gtid.server, end).map_err(|e| damaged(&e))?;
        } else if header.end_log_pos != end {
            return Err(damaged(&format_args!(
                "an event ends at position {} where {end} is expected",
                header.end_log_pos
            )));
        }
        let range = *at..*at + size;
        *at = range.end;
        Ok(Some((in_chunk, range)))
    }

    /// Loads the next chunk that has events; leaves `chunk` empty behind the last one.
    fn next_chunk(&mut self, head: &GroupHead) -> Result<()> {
        while self.chunked > 0 && self.chunk_at == self.chunk.len() {
            let Some((lsn, len)) = self.names.next(&mut self.records)? else {
                return Err(corrupt(
                    head.lsn,
                    "names fewer bytes of chunks than it says",
                ));
            };
            let kind = self.records.read_at(lsn, &mut self.chunk)?;
            if kind != RecordKind::Chunk {
                return Err(corrupt(lsn, "is no chunk, but a commit names it as one"));
            }
            unpack_chunk(&mut self.chunk).map_err(|e| corrupt(lsn, e))?;
            let chunk = Chunk::parse(&self.chunk).map_err(|e| corrupt(lsn, e))?;
            // The transaction's name among chunks: the LSN of the first one that it ever sent, which a rollback to a
            // savepoint may have dropped since.
            let name = if chunk.first == 0 { lsn } else { chunk.first };
            let known = *self.chunk_name.get_or_insert(name);
            if chunk.number != self.chunk_no
                || name != known
                || name > lsn
                || (self.chunk_no == 0 && lsn != self.first_chunk)
            {
                return Err(corrupt(
                    lsn,
                    format!(
                        "is not chunk {} of the commit at LSN {}",
                        self.chunk_no, head.lsn
                    ),
                ));
            }
            if chunk.events.len() as u64 != len || len > self.chunked {
                return Err(corrupt(
                    lsn,
                    "has other bytes of events than its commit says",
                ));
            }
            self.chunked -= len;
            self.chunk_no += 1;
            self.chunk_at = self.chunk.len() - chunk.events.len();
        }
        Ok(())
    }
}
