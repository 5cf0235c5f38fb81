//! Where a reader of a folder's log begins: at the oldest group that was not purged, or near what is wanted, with the
//! position and the GTIDs that are before it.
//!
//! The server knows that from its index; without it the log itself must tell. Each segment has a State record soon
//! behind its start, so the first State record of each segment is a sparse index. The newest State record says which
//! file is the oldest and where it begins. What was written before that file is known from a State record before it, or
//! in it; at worst it is guessed from the first one behind it, less what stands between.

use crate::groups::reader::{GroupHead, GroupReader};
use crate::groups::records::{FolderRecords, Records};
use crate::record::state::{StateReason, StateRecord};
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidState, VirtualConfig, VirtualFiles};
use narwal_log::{Disk, FIRST_LSN, Lsn, RecordKind, parse_segment_name, segment_name};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of an empty file's head but for the entries of its GTID list.
const HEAD_WITHOUT_ENTRIES: u64 = 4 + 252 + 19 + 4 + 4;

/// A folder's log, open for reading.
#[derive(Debug)]
pub struct FolderLog {
    /// Its groups.
    pub groups: GroupReader<FolderRecords>,
    /// Groups below do not count: they were purged, or are from before a reset.
    pub floor: Lsn,
    /// What is wrong with the log's beginning.
    pub damage: Vec<EngineError>,
}

/// The folder that is being opened.
struct Opening<'a> {
    disk: Arc<dyn Disk>,
    dir: &'a Path,
    config: VirtualConfig,
    /// Where its segments start, ascending.
    starts: Vec<Lsn>,
}

/// Opens the log in folder `dir`, whether or not a server is writing it. `None` if there is no log.
///
/// `skip` is asked about State records, the newest first: whether nothing that stands before this one is wanted.
/// Reading begins there; without such a record, at the oldest group that was not purged.
///
/// # Errors
/// Errors of reading the files. Damage is no error: what keeps the beginning from being read is in
/// [`FolderLog::damage`], the rest the reader will meet.
pub fn open_folder(
    disk: Arc<dyn Disk>,
    dir: &Path,
    config: VirtualConfig,
    skip: &dyn Fn(&StateRecord) -> bool,
) -> Result<Option<FolderLog>> {
    let mut tries = 0;
    loop {
        let starts = segments(&*disk, dir)?;
        if starts.is_empty() {
            return Ok(None);
        }
        let opening = Opening {
            disk: disk.clone(),
            dir,
            config: config.clone(),
            starts,
        };
        match opening.open(skip) {
            // A server may take the oldest files away meanwhile.
            Err(EngineError::Io(_)) if tries < 5 && opening.has_changed() => tries += 1,
            result => return result.map(Some),
        }
    }
}

fn segments(disk: &dyn Disk, dir: &Path) -> Result<Vec<Lsn>> {
    let names = disk
        .list(dir)
        .map_err(|e| EngineError::Io(format!("list {}: {e}", dir.display())))?;
    let gone = |name: &String| parse_segment_name(name.strip_suffix(".gone")?);
    let gone = names.iter().filter_map(gone).max();
    let mut starts: Vec<Lsn> = names
        .iter()
        .filter_map(|n| parse_segment_name(n))
        .filter(|&start| gone.is_none_or(|g| start > g))
        .collect();
    starts.sort_unstable();
    Ok(starts)
}

impl Opening<'_> {
    fn has_changed(&self) -> bool {
        segments(&*self.disk, self.dir).is_ok_and(|now| now.first() != self.starts.first())
    }

    fn file(&self, start: Lsn) -> PathBuf {
        self.dir.join(segment_name(start))
    }

    fn at(&self, lsn: Lsn) -> Result<FolderRecords> {
        let found = FolderRecords::open_at(self.disk.clone(), self.dir, lsn)?;
        found.ok_or_else(|| EngineError::Io(format!("{}: the log is gone", self.dir.display())))
    }

    /// Start of the segment that holds `lsn`, or of the first one.
    fn segment_of(&self, lsn: Lsn) -> Lsn {
        let below = self.starts.partition_point(|&s| s <= lsn);
        self.starts[below.saturating_sub(1)]
    }

    fn reader(
        &self,
        records: FolderRecords,
        state: Option<VirtualFiles>,
    ) -> GroupReader<FolderRecords> {
        GroupReader::new(records, self.config.clone(), state)
    }

    fn open(&self, skip: &dyn Fn(&StateRecord) -> bool) -> Result<FolderLog> {
        let mut damage = Vec::new();
        let newest = self.last_state()?;
        let oldest = newest.as_ref().map_or(0, |(_, s)| s.oldest_lsn);
        if let Some((lsn, groups)) = self.skip_to(oldest, skip)? {
            return Ok(FolderLog {
                groups,
                floor: lsn,
                damage,
            });
        }
        let first = self.starts[0];
        if oldest != 0 && oldest < first {
            damage.push(EngineError::Corrupt(format!(
                "the log begins with {}, but should have what stands from LSN {oldest} on: the segments before are missing",
                self.file(first).display(),
            )));
        }
        let floor = oldest.max(first);
        if floor > first
            && let Ok(records) = self.at(floor)
        {
            let file = newest.map(|(_, s)| s.oldest_file);
            let state = match self.state_before(floor) {
                Some(state) => Some(state),
                None => self.state_from(floor, file)?,
            };
            return Ok(FolderLog {
                groups: self.reader(records, state),
                floor,
                damage,
            });
        }
        // From the segment's beginning, or from the first one that can be opened.
        let from = self.segment_of(floor);
        for &start in self.starts.iter().filter(|&&s| s >= from) {
            match self.at(start) {
                Ok(records) => {
                    let state = if start == FIRST_LSN {
                        Some(VirtualFiles::new(self.config.clone()))
                    } else {
                        self.state_from(start, None)?
                    };
                    return Ok(FolderLog {
                        groups: self.reader(records, state),
                        floor,
                        damage,
                    });
                }
                Err(e @ EngineError::Corrupt(_)) => damage.push(e),
                Err(e) => return Err(e),
            }
        }
        Err(damage
            .pop()
            .unwrap_or_else(|| EngineError::Corrupt(format!("{}: no log", self.dir.display()))))
    }

    /// The last place that `skip` agrees to, at or behind `oldest`.
    fn skip_to(
        &self,
        oldest: Lsn,
        skip: &dyn Fn(&StateRecord) -> bool,
    ) -> Result<Option<(Lsn, GroupReader<FolderRecords>)>> {
        for (i, &start) in self.starts.iter().enumerate().rev() {
            let end = self.starts.get(i + 1).copied().unwrap_or(Lsn::MAX);
            if end <= oldest {
                break;
            }
            let from = (start, oldest.max(start), end);
            let Some((mut lsn, state)) = self.scan_states(from, true)? else {
                continue;
            };
            if !skip(&state) {
                continue;
            }
            // A later one in the same segment may do as well; damage between is then not met.
            self.each_state((start, lsn + 1, end), |at, state| {
                let agreed = skip(&state);
                if agreed {
                    lsn = at;
                }
                agreed
            })?;
            let groups = self.reader(self.at(lsn)?, None);
            return Ok(Some((lsn, groups)));
        }
        Ok(None)
    }

    /// The newest State record and its LSN.
    fn last_state(&self) -> Result<Option<(Lsn, StateRecord)>> {
        let mut end = Lsn::MAX;
        for &start in self.starts.iter().rev() {
            if let Some(found) = self.scan_states((start, start, end), false)? {
                return Ok(Some(found));
            }
            end = start;
        }
        Ok(None)
    }

    /// The first or the last State record of a segment's part.
    fn scan_states(
        &self,
        part: (Lsn, Lsn, Lsn),
        first: bool,
    ) -> Result<Option<(Lsn, StateRecord)>> {
        let mut found = None;
        self.each_state(part, |lsn, state| {
            found = Some((lsn, state));
            !first
        })?;
        Ok(found)
    }

    /// Calls `f` with the State records in the segment from `start` to `end` that stand at `from` or behind, while it
    /// says so. Damaged places are passed over.
    fn each_state(
        &self,
        (start, from, end): (Lsn, Lsn, Lsn),
        mut f: impl FnMut(Lsn, StateRecord) -> bool,
    ) -> Result<()> {
        let mut records = match self.at(start) {
            Ok(records) => records,
            Err(EngineError::Corrupt(_)) => return Ok(()),
            Err(e) => return Err(e),
        };
        loop {
            match records.next() {
                Ok(Some(record)) if record.lsn < end => {
                    if record.kind == RecordKind::State
                        && record.lsn >= from
                        && let Ok(state) = StateRecord::parse(self.config.clone(), record.body)
                        && !f(record.lsn, state)
                    {
                        return Ok(());
                    }
                }
                Ok(Some(_)) => return Ok(()),
                Ok(None) => {
                    // The end, or damage that hides what is behind.
                    let more = matches!(records.end(), Err(EngineError::Corrupt(_)));
                    if !more || records.resume()?.is_none_or(|lsn| lsn >= end) {
                        return Ok(());
                    }
                }
                Err(EngineError::Corrupt(_)) => {
                    if records.resume()?.is_none_or(|lsn| lsn >= end) {
                        return Ok(());
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// The state before the first group at or behind `lsn`, if a State record stands between the segment's start and it.
    fn state_before(&self, lsn: Lsn) -> Option<VirtualFiles> {
        let records = self.at(self.segment_of(lsn)).ok()?;
        let mut ahead = self.reader(records, None);
        loop {
            let head = ahead.next_group().ok()??;
            if head.lsn >= lsn {
                ahead.last_state()?;
                return Some(VirtualFiles::at(
                    self.config.clone(),
                    head.file_no,
                    if head.new_file { head.start_pos } else { 0 },
                    head.start_pos,
                    ahead.gtids_before().clone(),
                ));
            }
        }
    }

    /// The position before the first group behind `from`, as far as what follows tells. `file`: number of its file, if
    /// it is the first group there. `None`: the State record that comes first tells the reader itself.
    fn state_from(&self, from: Lsn, file: Option<u32>) -> Result<Option<VirtualFiles>> {
        let ahead = match self.at(from) {
            Ok(records) => Ahead::look(self.reader(records, None))?,
            Err(_) => None,
        };
        let Some(ahead) = ahead else {
            return Ok(None);
        };
        if let (Some(file), Some(state)) = (file, &ahead.state)
            && let Some(gtids) = state.file_gtids.clone()
            && state.files.file_no() == file
        {
            let (config, at) = (self.config.clone(), ahead.first.start_pos);
            return Ok(Some(VirtualFiles::at(config, file, at, at, gtids)));
        }
        let Ahead { first, seen, .. } = &ahead;
        let before_first = |(&(domain, server), &seq): (&(u32, u32), &u64)| {
            let seq = seq.checked_sub(1).filter(|&s| s > 0)?;
            Some(Gtid {
                domain,
                server,
                seq,
            })
        };
        let mut gtids: Vec<Gtid> = match &ahead.state {
            Some(s) if matches!(s.reason, StateReason::Reset | StateReason::Set) => Vec::new(),
            Some(s) => s
                .files
                .gtids()
                .iter()
                .filter_map(|g| match seen.get_key_value(&(g.domain, g.server)) {
                    Some(entry) => before_first(entry),
                    None => Some(g),
                })
                .collect(),
            None => seen.iter().filter_map(before_first).collect(),
        };
        if file.is_some() {
            // The file's head says how many there are: one that was seen here for the first time has none before.
            let entries = first.start_pos.saturating_sub(HEAD_WITHOUT_ENTRIES) / 16;
            while gtids.len() as u64 > entries {
                let new = |g: &Gtid| seen.contains_key(&(g.domain, g.server));
                match gtids.iter().rposition(new) {
                    Some(at) => gtids.remove(at),
                    None => break,
                };
            }
        }
        let number = file.unwrap_or_else(|| ahead.first_file());
        let mut known = GtidState::new();
        for gtid in gtids {
            known.observe(gtid);
        }
        let head = if file.is_some() { first.start_pos } else { 0 };
        let config = self.config.clone();
        Ok(Some(VirtualFiles::at(
            config,
            number,
            head,
            first.start_pos,
            known,
        )))
    }
}

/// The groups from a place on up to the first State record.
struct Ahead {
    first: GroupHead,
    /// The first number of each (domain, server).
    seen: BTreeMap<(u32, u32), u64>,
    /// How many files were begun among them.
    begun: u32,
    state: Option<StateRecord>,
}

impl Ahead {
    /// `None` if a State record or the end comes first.
    fn look(mut groups: GroupReader<FolderRecords>) -> Result<Option<Ahead>> {
        let mut first: Option<GroupHead> = None;
        let (mut seen, mut file_no) = (BTreeMap::new(), 0);
        loop {
            let head = match groups.next_group() {
                Ok(head) => head,
                // The reader will meet it.
                Err(EngineError::Corrupt(_)) => None,
                Err(e) => return Err(e),
            };
            let (Some(head), None) = (head, groups.last_state()) else {
                break;
            };
            first.get_or_insert(head);
            seen.entry((head.gtid.domain, head.gtid.server))
                .or_insert(head.gtid.seq);
            file_no = head.file_no;
        }
        Ok(first.map(|first| Ahead {
            begun: file_no.saturating_sub(first.file_no),
            state: groups.last_state().cloned(),
            seen,
            first,
        }))
    }

    /// Number of the first group's file; a guess without a State record.
    fn first_file(&self) -> u32 {
        let last = self
            .state
            .as_ref()
            .map_or(1 + self.begun, |s| match s.reason {
                StateReason::Interval | StateReason::Purge => s.files.file_no(),
                // These begin another file.
                _ => s.files.file_no().saturating_sub(1),
            });
        last.saturating_sub(self.begun).max(1)
    }
}

/// The state before the first group of `ahead`, which stands behind a gap; `known` is the one before the gap. `None`: the
/// groups there must do without.
pub(crate) fn after_gap(
    ahead: GroupReader<FolderRecords>,
    known: Option<&VirtualFiles>,
) -> Result<Option<VirtualFiles>> {
    let (Some(known), Some(ahead)) = (known, Ahead::look(ahead)?) else {
        return Ok(None);
    };
    let Some(state) = &ahead.state else {
        return Ok(None);
    };
    let mut gtids = known.gtids().clone();
    if !matches!(state.reason, StateReason::Reset | StateReason::Set) {
        // What was not seen since stood before.
        for g in state.files.gtids().iter() {
            if !ahead.seen.contains_key(&(g.domain, g.server))
                && gtids.last_of(g.domain, g.server) != Some(g.seq)
            {
                gtids.observe(g);
            }
        }
    }
    let at = ahead.first.start_pos;
    let config = known.config().clone();
    Ok(Some(VirtualFiles::at(
        config,
        ahead.first_file(),
        0,
        at,
        gtids,
    )))
}

impl GroupReader<FolderRecords> {
    /// Goes on behind damage, see [`narwal_log::DirReader::resume`]. The positions there are learnt by looking ahead to the next
    /// State record.
    ///
    /// # Errors
    /// Errors of reading the files.
    pub fn resume(&mut self) -> Result<Option<Lsn>> {
        let found = self.records_after_gap().resume()?;
        if let Some(lsn) = found
            && let Ok(Some(records)) = self.records.another_at(lsn)
        {
            let ahead = GroupReader::new(records, self.config.clone(), None);
            if let Some(files) = after_gap(ahead, self.files.as_ref())? {
                self.set_files(files);
            }
        }
        Ok(found)
    }
}
