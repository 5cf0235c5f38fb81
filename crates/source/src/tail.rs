//! The newest groups of the log, read once for all readers at its end, and the thread that reads them and wakes the
//! readers. Committers know nothing of either.
//!
//! A reader that comes from far behind reads the log by itself. At the durable end it joins the ring: from there on it
//! shares what the thread has read. It leaves the ring when it has fallen out of it (a slow reader must not make it
//! longer) and for a group that is too large for it, and comes back at the next end.
//!
//! The thread delivers at once when the log was quiet. Under load it collects for [`PAUSE`]: waking every reader for
//! every group commit would cost the committers more than the readers gain. With a semi-synchronous reader somebody
//! waits for each group, and it does not pause.

use crate::groups::Groups;
use narwal_binlog::{Gtid, GtidState};
use narwal_engine::{BegunFile, Database, GroupHead, GroupReader, LiveRecords, ReadStart, Result};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub(crate) mod thread;

/// Bytes of events in the ring.
const RING_BYTES: usize = if cfg!(test) { 32 << 10 } else { 16 << 20 };
/// Groups with more bytes of events are not kept in the ring.
const LARGE: u64 = if cfg!(test) { 8 << 10 } else { 1 << 20 };
/// Groups that a reader takes out of the ring in one go.
const BATCH: usize = 64;
/// How long the thread collects under load.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a wait lasts at most; then the thread looks whether it is needed any more.
const WAIT: Duration = Duration::from_secs(1);

/// A group in the ring.
struct TailGroup {
    head: GroupHead,
    begun: Vec<BegunFile>,
    /// The GTIDs before its file, if it is the first one there.
    file_gtids: Option<GtidState>,
    resets: u64,
    /// Its events, one after the other; `None`: too large, everybody reads them for himself.
    events: Option<Vec<u8>>,
}

impl TailGroup {
    fn bytes(&self) -> usize {
        self.events.as_ref().map_or(0, Vec::len)
    }
}

#[derive(Default)]
struct Ring {
    groups: VecDeque<Arc<TailGroup>>,
    bytes: usize,
    /// Every group from this LSN on, up to `to`, is in it.
    from: u64,
    to: u64,
    /// Files begun behind the last group.
    begun: Vec<BegunFile>,
    /// Resets that have come by, and those before the present reader of the log.
    resets: u64,
    resets_before: u64,
}

impl Ring {
    /// Empty, with everything from `lsn` on to come.
    fn begin(&mut self, lsn: u64) {
        *self = Ring {
            from: lsn,
            to: lsn,
            resets: self.resets,
            resets_before: self.resets,
            ..Ring::default()
        };
    }

    fn push(&mut self, group: TailGroup) {
        self.to = group.head.end_lsn;
        self.bytes += group.bytes();
        self.groups.push_back(Arc::new(group));
        while self.bytes > RING_BYTES {
            let Some(oldest) = self.groups.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
            self.from = oldest.head.end_lsn;
        }
    }

    /// Where the first group from `lsn` on is.
    fn at(&self, lsn: u64) -> usize {
        self.groups.partition_point(|g| g.head.lsn < lsn)
    }
}

/// What readers at the end of the log share.
#[derive(Default)]
pub(crate) struct Tail(Mutex<Ring>);

impl Tail {
    /// Reads what is new into the ring; whether there was something.
    fn fill(&self, reader: &mut GroupReader<LiveRecords>) -> Result<bool> {
        let before = reader.records().lsn();
        while let Some(head) = reader.next_group()? {
            let events = if head.len <= LARGE {
                let mut events = Vec::with_capacity(head.len as usize);
                while let Some(event) = reader.next_event()? {
                    events.extend_from_slice(event);
                }
                Some(events)
            } else {
                None
            };
            let mut ring = self.0.lock();
            let group = TailGroup {
                head,
                begun: reader.begun_files().to_vec(),
                file_gtids: head
                    .new_file
                    .then(|| reader.file_gtids().cloned())
                    .flatten(),
                resets: ring.resets_before + reader.resets(),
                events,
            };
            ring.push(group);
        }
        let mut ring = self.0.lock();
        ring.to = reader.records().lsn();
        ring.resets = ring.resets_before + reader.resets();
        ring.begun.clear();
        ring.begun.extend_from_slice(reader.begun_files());
        Ok(ring.to > before)
    }

    /// Begins anew at the durable end.
    fn restart(&self, db: &Database) -> Result<GroupReader<LiveRecords>> {
        let reader = db.binlog_reader(ReadStart::Lsn(db.durable_lsn()))?;
        let lsn = reader.records().lsn();
        self.0.lock().begin(lsn);
        Ok(reader)
    }

    /// No reader can join from here on; readers that have joined fall out.
    fn close(&self) {
        self.0.lock().begin(u64::MAX);
    }
}

/// A group that a reader has taken out of the ring, and how far its events were given.
struct Current {
    group: Arc<TailGroup>,
    at: usize,
}

/// The groups of one reader: its own way through the log, or the ring.
pub(crate) struct TailGroups<'a> {
    db: &'a Database,
    tail: &'a Tail,
    /// `None` while it shares the ring.
    own: Option<GroupReader<LiveRecords>>,
    /// In the ring: what it takes next.
    lsn: u64,
    taken: VecDeque<Arc<TailGroup>>,
    current: Option<Current>,
    begun: Vec<BegunFile>,
    before: GtidState,
    /// The present group's GTID, not in `before` yet.
    last: Option<Gtid>,
    /// Resets seen before `own` or the ring counted, and how many the ring had counted when it was joined.
    resets: u64,
    resets_then: u64,
    resets_now: u64,
}

impl<'a> TailGroups<'a> {
    /// Begins with a reader of its own.
    pub(crate) fn new(db: &'a Database, tail: &'a Tail, own: GroupReader<LiveRecords>) -> Self {
        TailGroups {
            db,
            tail,
            own: Some(own),
            lsn: 0,
            taken: VecDeque::new(),
            current: None,
            begun: Vec::new(),
            before: GtidState::new(),
            last: None,
            resets: 0,
            resets_then: 0,
            resets_now: 0,
        }
    }

    /// Goes over to the ring, if that has everything from here on. `own` is at the durable end.
    fn join(&mut self) -> bool {
        let Some(own) = &self.own else {
            return true;
        };
        let lsn = own.records().lsn();
        {
            let ring = self.tail.0.lock();
            if lsn < ring.from || ring.to == 0 {
                return false;
            }
            let behind = ring.at(lsn).checked_sub(1).and_then(|n| ring.groups.get(n));
            self.resets_then = match behind {
                Some(group) => group.resets,
                None if lsn >= ring.to => ring.resets,
                None => ring.groups.front().map_or(ring.resets, |g| g.resets),
            };
        }
        self.resets_now = self.resets_then;
        self.resets += own.resets();
        self.begun = own.begun_files().to_vec();
        self.before.clone_from(
            own.files()
                .map_or_else(|| own.gtids_before(), |files| files.gtids()),
        );
        (self.last, self.current, self.lsn) = (None, None, lsn);
        self.own = None;
        true
    }

    /// Reads by itself from here on.
    fn leave(&mut self, lsn: u64) -> Result<&mut GroupReader<LiveRecords>> {
        let own = self.db.binlog_reader(ReadStart::Lsn(lsn))?;
        self.resets += self.resets_now - self.resets_then;
        (self.resets_then, self.resets_now) = (0, 0);
        self.taken.clear();
        self.current = None;
        Ok(self.own.insert(own))
    }

    /// The next group of the ring: false if there is none yet, an LSN if the reader must go on by itself from there.
    fn next_taken(&mut self) -> std::result::Result<bool, u64> {
        self.current = None;
        if let Some(gtid) = self.last.take() {
            self.before.observe(gtid);
        }
        if self.taken.is_empty() {
            let ring = self.tail.0.lock();
            if self.lsn < ring.from {
                return Err(self.lsn);
            }
            let at = ring.at(self.lsn);
            self.taken
                .extend(ring.groups.range(at..).take(BATCH).cloned());
            if self.taken.is_empty() {
                self.lsn = self.lsn.max(ring.to);
                self.begun.clone_from(&ring.begun);
                self.resets_now = ring.resets.max(self.resets_now);
                return Ok(false);
            }
        }
        let Some(group) = self.taken.pop_front() else {
            return Ok(false);
        };
        if group.events.is_none() {
            return Err(group.head.lsn);
        }
        self.resets_now = group.resets.max(self.resets_now);
        self.begun.clone_from(&group.begun);
        self.last = Some(group.head.gtid);
        self.lsn = group.head.end_lsn;
        self.current = Some(Current { group, at: 0 });
        Ok(true)
    }
}

impl Groups for TailGroups<'_> {
    fn next_group(&mut self) -> Result<Option<GroupHead>> {
        if let Some(own) = &mut self.own {
            let next = own.next_group()?;
            if next.is_some() || !self.join() {
                return Ok(next);
            }
        }
        match self.next_taken() {
            Ok(_) => Ok(self.current.as_ref().map(|c| c.group.head)),
            Err(lsn) => self.leave(lsn)?.next_group(),
        }
    }

    fn next_event(&mut self) -> Result<Option<&[u8]>> {
        if let Some(own) = &mut self.own {
            return own.next_event();
        }
        let Some(Current { group, at }) = &mut self.current else {
            return Ok(None);
        };
        let rest = group.events.as_deref().and_then(|e| e.get(*at..));
        // The reader of the log has looked at every event's length.
        let Some(event) = rest.and_then(|rest| {
            let len = rest.get(9..13)?.try_into().map(u32::from_le_bytes).ok()?;
            rest.get(..len as usize)
        }) else {
            return Ok(None);
        };
        *at += event.len();
        Ok(Some(event))
    }

    fn begun_files(&self) -> &[BegunFile] {
        match &self.own {
            Some(own) => own.begun_files(),
            None => &self.begun,
        }
    }

    fn gtids_before(&self) -> &GtidState {
        match &self.own {
            Some(own) => own.gtids_before(),
            None => &self.before,
        }
    }

    fn file_gtids(&self) -> Option<&GtidState> {
        match &self.own {
            Some(own) => own.file_gtids(),
            None => self.current.as_ref()?.group.file_gtids.as_ref(),
        }
    }

    fn resets(&self) -> u64 {
        self.resets
            + match &self.own {
                Some(own) => own.resets(),
                None => self.resets_now - self.resets_then,
            }
    }

    fn lsn(&self) -> u64 {
        match &self.own {
            Some(own) => own.records().lsn(),
            None => self.lsn,
        }
    }

    fn has_more(&self) -> bool {
        match &self.own {
            Some(own) => self.db.durable_lsn() > own.records().lsn(),
            None => {
                let ring = self.tail.0.lock();
                !self.taken.is_empty() || ring.to > self.lsn || ring.from > self.lsn
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_engine::{Options, TableBuilder, TxnOptions};
    use narwal_log::sim::SimDisk;
    use narwal_types::{BlobSize, TypeKind, ValueRef};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// What a reader has seen of a group: GTID, file, the GTIDs before it, its events.
    type Seen = (Gtid, u32, String, Vec<u8>);

    fn next(groups: &mut impl Groups, files: &mut Vec<u32>) -> Option<Seen> {
        let head = groups.next_group().unwrap();
        for file in groups.begun_files() {
            if files.last().is_none_or(|&n| n < file.number) {
                files.push(file.number);
            }
        }
        let head = head?;
        if files.last().is_none_or(|&n| n < head.file_no) {
            files.push(head.file_no);
        }
        if head.new_file {
            let gtids = groups.file_gtids().unwrap().to_string();
            assert_eq!(gtids, groups.gtids_before().to_string());
        }
        let mut events = Vec::new();
        while let Some(event) = groups.next_event().unwrap() {
            events.extend_from_slice(event);
        }
        assert_eq!(events.len() as u64, head.len);
        let before = groups.gtids_before().to_string();
        Some((head.gtid, head.file_no, before, events))
    }

    /// Readers that come and go as they like see what one sees that reads the log by itself.
    #[test]
    fn every_way_leads_through_the_same_groups() {
        for seed in 0..20 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let db = Database::open_with(
                "/d",
                Options {
                    disk: Arc::new(SimDisk::new()),
                    segment_size: 64 << 10,
                    max_binlog_size: 100_000,
                    oob_threshold: 16 << 10,
                    background: false,
                    ..Options::default()
                },
            )
            .unwrap();
            db.create_database("d").unwrap();
            let table = TableBuilder::new("d", "t")
                .column("id", TypeKind::BigInt, false)
                .column("v", TypeKind::Blob(BlobSize::Normal), false)
                .primary_key(&["id"]);
            db.create_table(table.build().unwrap()).unwrap();
            let catalog = db.catalog();
            let table = catalog.table("d", "t").unwrap();
            let tail = Tail::default();
            let own = || db.binlog_reader(ReadStart::Oldest).unwrap();
            let mut readers: Vec<_> = (0..4)
                .map(|_| (TailGroups::new(&db, &tail, own()), Vec::new(), Vec::new()))
                .collect();
            let (mut thread, mut id, mut shared) = (None, 0, 0);
            for _ in 0..400 {
                match rng.random_range(0..12) {
                    0..4 => {
                        let mut t = db.begin(TxnOptions::default());
                        let rows = match rng.random_range(0..8) {
                            0 => 30,
                            1 => 6,
                            _ => 1,
                        };
                        for _ in 0..rows {
                            id += 1;
                            let v = vec![id as u8; rng.random_range(0..2000)];
                            let row = table.row(&[ValueRef::Int(id), ValueRef::Bytes(&v)]);
                            t.insert(table, row.unwrap()).unwrap();
                        }
                        t.commit().unwrap();
                    }
                    4 if rng.random_range(0..4) == 0 => {
                        db.flush_binary_logs(&[]).unwrap();
                    }
                    5 | 6 => match &mut thread {
                        Some(_) if rng.random_range(0..30) == 0 => {
                            tail.close();
                            thread = None;
                        }
                        Some(reader) => {
                            tail.fill(reader).unwrap();
                        }
                        None => thread = Some(tail.restart(&db).unwrap()),
                    },
                    _ => {
                        let n = rng.random_range(0..readers.len());
                        let (groups, seen, files) = &mut readers[n];
                        // The last one is always late.
                        let most = if n == 3 { 2 } else { 20 };
                        for _ in 0..rng.random_range(0..most) {
                            let Some(group) = next(groups, files) else {
                                break;
                            };
                            shared += usize::from(groups.own.is_none());
                            seen.push(group);
                        }
                    }
                }
            }
            db.sync().unwrap();
            if let Some(reader) = &mut thread {
                tail.fill(reader).unwrap();
            }
            let (mut seen, mut files) = (Vec::new(), Vec::new());
            let nobody = Tail::default();
            let mut alone = TailGroups::new(&db, &nobody, own());
            while let Some(group) = next(&mut alone, &mut files) {
                seen.push(group);
            }
            assert!(shared > 20, "{shared}");
            for (groups, so_far, files_so_far) in &mut readers {
                while groups.has_more() {
                    if let Some(group) = next(groups, files_so_far) {
                        so_far.push(group);
                    }
                }
                assert_eq!(so_far.len(), seen.len(), "seed {seed}");
                assert!(*so_far == seen, "seed {seed}");
                assert_eq!(*files_so_far, files, "seed {seed}");
            }
            // A reset is seen in the ring and outside.
            db.reset_master(None).unwrap();
            db.sync().unwrap();
            for (groups, ..) in &mut readers {
                let before = groups.resets();
                if let Some(reader) = &mut thread {
                    tail.fill(reader).unwrap();
                }
                while groups.has_more() {
                    assert!(groups.next_group().unwrap().is_none());
                }
                assert!(groups.resets() > before, "seed {seed}");
            }
        }
    }
}
