//! Positions, GTIDs and the index, counted again from the groups: what State records, checkpoint and index say must agree.

use crate::binlog::index::{FileEntry, Index, Point};
use crate::binlog::replay::Replay;
use crate::groups::reader::GroupHead;
use crate::groups::records::{FolderRecords, Records};
use crate::record::state::{StateReason, StateRecord};
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, VirtualConfig, VirtualFiles};
use narwal_log::{FIRST_LSN, Lsn, RecordKind, RecordRef, Seq};
use std::path::PathBuf;

/// The log's records, with notes of those that are no groups.
pub(crate) struct Watched {
    pub(super) inner: FolderRecords,
    /// State records that were passed and not looked at yet.
    pub(super) states: Vec<StateSeen>,
    /// Chunk records.
    pub(super) chunks: u64,
    /// Those of them that commits name.
    pub(super) named: u64,
    /// What is wrong with the commit numbers.
    pub(super) odd: Vec<(Lsn, String)>,
    seq: Option<Seq>,
}

/// A State record, kept.
pub(crate) struct StateSeen {
    pub(super) lsn: Lsn,
    end_lsn: Lsn,
    seq: Seq,
    body: Vec<u8>,
}

impl Watched {
    pub(super) fn new(inner: FolderRecords) -> Self {
        Watched {
            inner,
            states: Vec::new(),
            chunks: 0,
            named: 0,
            odd: Vec::new(),
            seq: None,
        }
    }

    /// Goes on behind damage.
    pub(super) fn resume(&mut self) -> Result<Option<Lsn>> {
        self.seq = None;
        self.inner.resume()
    }
}

impl Records for Watched {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        let Some(record) = self.inner.next()? else {
            return Ok(None);
        };
        match record.kind {
            RecordKind::State => self.states.push(StateSeen {
                lsn: record.lsn,
                end_lsn: record.end_lsn,
                seq: record.seq,
                body: record.body.to_vec(),
            }),
            RecordKind::Chunk => self.chunks += 1,
            _ => {}
        }
        if record.kind.is_commit() {
            if let Some(last) = self.seq.filter(|last| last + 1 != record.seq) {
                self.odd.push((
                    record.lsn,
                    format!("commit {} follows commit {last}", record.seq),
                ));
            }
            self.seq = Some(record.seq);
        }
        Ok(Some(record))
    }

    fn read_at(&mut self, lsn: Lsn, buf: &mut Vec<u8>) -> Result<RecordKind> {
        let kind = self.inner.read_at(lsn, buf)?;
        self.named += u64::from(kind == RecordKind::Chunk);
        Ok(kind)
    }

    fn place(&self, lsn: Lsn) -> Option<(PathBuf, u64)> {
        self.inner.place(lsn)
    }
}

/// What the groups up to a place of the log make.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    pub(super) files: VirtualFiles,
    pub(super) seq: Seq,
    /// Files, the one that is written last.
    entries: Vec<FileEntry>,
    points: Vec<Point>,
    /// Points behind this LSN and files behind this number are known.
    since: (Lsn, u32),
}

/// Counts.
pub(crate) struct Recount {
    config: VirtualConfig,
    /// `None`: not known what came before. The next State record tells.
    replay: Option<Replay>,
    since: (Lsn, u32),
    seq: Seq,
    /// Where the checkpoint stands.
    until: Option<Lsn>,
    at_checkpoint: Option<Counted>,
    /// Where the oldest file begins that is not purged, by the newest State record that was passed.
    pub(super) binlog_start: Lsn,
}

impl Recount {
    /// For a log whose oldest record is at `oldest`, with a checkpoint at `until`.
    pub(super) fn new(config: VirtualConfig, oldest: Lsn, until: Option<Lsn>) -> Self {
        let replay = (oldest == FIRST_LSN)
            .then(|| Replay::new(VirtualFiles::new(config.clone()), FIRST_LSN, 0, None));
        Recount {
            config,
            replay,
            since: (0, 0),
            seq: 0,
            until,
            at_checkpoint: None,
            binlog_start: 0,
        }
    }

    /// Something was left out: what is known begins anew behind it.
    pub(super) fn gap(&mut self) {
        self.replay = None;
    }

    /// The last GTID of a domain, once known.
    pub(super) fn last(&self, domain: u32) -> Option<Gtid> {
        self.replay.as_ref()?.files.gtids().last(domain)
    }

    /// Everything before `lsn` was counted.
    pub(super) fn reach(&mut self, lsn: Lsn) {
        if self.at_checkpoint.is_some() || self.until.is_none_or(|u| lsn < u) {
            return;
        }
        self.at_checkpoint = self.replay.as_mut().map(|r| {
            r.track.drain(&mut r.index);
            let current = r.track.current.clone();
            Counted {
                files: r.files.clone(),
                seq: self.seq,
                entries: r.index.files.iter().cloned().chain([current]).collect(),
                points: r.index.points.iter().cloned().collect(),
                since: self.since,
            }
        });
        self.until = None;
    }

    /// What was counted up to the checkpoint, if all of it is known.
    pub(super) fn counted(self) -> Option<Counted> {
        self.at_checkpoint
    }

    /// A group or local commit.
    pub(super) fn group(&mut self, head: &GroupHead) -> Result<()> {
        self.reach(head.lsn);
        self.seq = head.seq;
        if let (Some(r), true) = (&mut self.replay, head.gtid != Gtid::default()) {
            let placement = r
                .files
                .observe_at(head.start_pos, head.len, head.gtid)
                .map_err(|e| {
                    EngineError::Corrupt(format!("log record at LSN {}: {e}", head.lsn))
                })?;
            let first_chunk = if head.chunks > 0 { head.first_lsn } else { 0 };
            let at = (head.lsn, head.seq);
            r.track
                .group(&r.files, &placement, at, head.timestamp, first_chunk);
        }
        Ok(())
    }

    /// A State record. Gives what is wrong with it; goes on with what it says.
    pub(super) fn state(&mut self, seen: &StateSeen) -> Result<Option<String>> {
        self.reach(seen.lsn);
        self.seq = seen.seq;
        let record = RecordRef {
            lsn: seen.lsn,
            end_lsn: seen.end_lsn,
            kind: RecordKind::State,
            seq: seen.seq,
            body: &seen.body,
        };
        let r = StateRecord::parse(self.config.clone(), &seen.body)
            .map_err(|e| EngineError::Corrupt(format!("log record at LSN {}: {e}", seen.lsn)))?;
        self.binlog_start = r.oldest_lsn;
        let mut wrong = None;
        if r.oldest_file > r.files.file_no() || r.oldest_lsn > seen.lsn {
            wrong = Some(format!(
                "the state record says that file {} from LSN {} on is the oldest",
                r.oldest_file, r.oldest_lsn
            ));
        }
        let Some(replay) = &mut self.replay else {
            self.since = (seen.lsn, r.files.file_no());
            self.replay = Some(Replay::new(r.files, seen.lsn, seen.seq, None));
            return Ok(wrong);
        };
        let mut expected = replay.files.clone();
        let known = match r.reason {
            StateReason::Interval | StateReason::Purge => true,
            StateReason::Rotate => {
                // A replica passes over numbers to come to that of its source.
                expected.rotate_to(r.files.file_no().max(expected.file_no() + 1));
                true
            }
            StateReason::Reset => {
                expected.reset(r.files.file_no());
                if !r.files.gtids().is_empty() {
                    // The log was made to end before some of its groups; what is left is nowhere else.
                    expected.set_gtids(r.files.gtids().clone());
                }
                true
            }
            // The new GTIDs are nowhere else.
            StateReason::Set => false,
        };
        if known && expected != r.files {
            wrong = Some(format!(
                "the state record says {}, the groups before it make {}",
                text(&r.files),
                text(&expected)
            ));
        }
        replay.state(&record)?;
        let current = &replay.track.current;
        if wrong.is_none() && current.number > self.since.1 && current.first_lsn != r.file_lsn {
            wrong = Some(format!(
                "the state record says that file {} begins at LSN {}, and it begins at {}",
                current.number, r.file_lsn, current.first_lsn
            ));
        }
        if let Some(said) = &r.file_gtids
            && wrong.is_none()
            && current.number > self.since.1
            && *said != current.gtids
        {
            wrong = Some(format!(
                "the state record says that [{said}] is before file {}, and that is [{}]",
                current.number, current.gtids
            ));
        }
        Ok(wrong)
    }
}

/// A state in words.
pub(crate) fn text(files: &VirtualFiles) -> String {
    format!(
        "{}:{} [{}]",
        files.current_file(),
        files.offset(),
        files.gtids()
    )
}

impl Counted {
    /// How the stored index differs; each with the LSN that it is about.
    pub(super) fn differences(&self, index: &Index, current: &FileEntry) -> Vec<(Lsn, String)> {
        let mut found = Vec::new();
        let stored: Vec<&FileEntry> = index.files.iter().chain([current]).collect();
        // What was purged may have gone from the one and not from the other yet.
        let oldest = |entries: &mut dyn Iterator<Item = u32>| entries.next().unwrap_or(0);
        let from = oldest(&mut stored.iter().map(|f| f.number))
            .max(oldest(&mut self.entries.iter().map(|f| f.number)));
        let from_lsn = stored.first().map_or(0, |f| f.first_lsn).max(self.since.0);
        let mine = |f: &&FileEntry| f.number > self.since.1 && f.number >= from;
        for s in stored.iter().copied().filter(mine) {
            match self.entries.iter().find(|e| e.number == s.number) {
                None => found.push((
                    s.first_lsn,
                    format!("the index has file {}, which no group begins", s.number),
                )),
                Some(e) => {
                    if let Some(what) = file_difference(s, e) {
                        found.push((
                            s.first_lsn,
                            format!("the index says of file {} {what}", s.number),
                        ));
                    }
                }
            }
        }
        for e in self.entries.iter().filter(mine) {
            if !stored.iter().any(|s| s.number == e.number) {
                found.push((
                    e.first_lsn,
                    format!("file {} is not in the index", e.number),
                ));
            }
        }
        let mut stored = index.points.iter().filter(|p| p.lsn > from_lsn).peekable();
        let mut counted = self.points.iter().filter(|p| p.lsn > from_lsn).peekable();
        loop {
            let lsns = (stored.peek().map(|p| p.lsn), counted.peek().map(|p| p.lsn));
            match lsns {
                (None, None) => break,
                (Some(s), c) if c.is_none_or(|c| s < c) => {
                    found.push((s, "the index has a point here, and the log has none".into()));
                    stored.next();
                }
                (s, Some(c)) if s.is_none_or(|s| c < s) => {
                    found.push((c, "this point is not in the index".into()));
                    counted.next();
                }
                _ => {
                    let (Some(s), Some(c)) = (stored.next(), counted.next()) else {
                        break;
                    };
                    if s != c {
                        found.push((
                            s.lsn,
                            format!("the index says {}, the log {}", point(s), point(c)),
                        ));
                    }
                }
            }
        }
        found
    }
}

fn file_difference(stored: &FileEntry, counted: &FileEntry) -> Option<String> {
    let fields = [
        ("first LSN", stored.first_lsn, counted.first_lsn),
        ("needed LSN", stored.needed_lsn, counted.needed_lsn),
        (
            "last commit before it",
            stored.seq_before,
            counted.seq_before,
        ),
        ("bytes before its first group", stored.head, counted.head),
        ("size", stored.size, counted.size),
    ];
    for (name, said, is) in fields {
        if said != is {
            return Some(format!("{name} {said}, which is {is}"));
        }
    }
    (stored.gtids != counted.gtids).then(|| {
        format!(
            "GTIDs before it '{}', which are '{}'",
            stored.gtids, counted.gtids
        )
    })
}

fn point(p: &Point) -> String {
    let gtids: Vec<String> = p.gtids.iter().map(Gtid::to_string).collect();
    format!(
        "commit {}, file {}, offset {} [{}]",
        p.seq,
        p.file_no,
        p.offset,
        gtids.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_binlog::GtidChoice;

    fn seen(lsn: Lsn, reason: StateReason, files: &VirtualFiles, file_lsn: Lsn) -> StateSeen {
        let r = StateRecord {
            reason,
            last_event_time: 0,
            closed_time: 0,
            oldest_file: 1,
            oldest_lsn: FIRST_LSN,
            file_lsn,
            files: files.clone(),
            file_gtids: None,
        };
        StateSeen {
            lsn,
            end_lsn: lsn + 500,
            seq: 1,
            body: r.encode(StateRecord::room(files)),
        }
    }

    #[test]
    fn a_state_record_that_the_groups_before_it_do_not_make() {
        use StateReason::{Interval, Reset, Rotate};
        let config = VirtualConfig::default();
        let mut files = VirtualFiles::new(config.clone());
        let mut fresh = || {
            let mut r = Recount::new(config.clone(), FIRST_LSN, None);
            let mut state = VirtualFiles::new(config.clone());
            let p = state.place(1000, &GtidChoice::default());
            r.group(&GroupHead {
                lsn: FIRST_LSN,
                end_lsn: 6000,
                seq: 1,
                kind: crate::groups::reader::GroupKind::Group,
                file_no: p.file_no,
                start_pos: p.start_pos,
                new_file: p.new_file,
                gtid: p.gtid,
                mysql: None,
                flags2: 0,
                len: 1000,
                timestamp: 0,
                first_lsn: FIRST_LSN,
                chunks: 0,
            })
            .unwrap();
            files = state.clone();
            (r, state)
        };
        let (mut r, good) = fresh();
        assert_eq!(
            r.state(&seen(20_000, Interval, &good, FIRST_LSN)).unwrap(),
            None
        );
        let mut rotated = good.clone();
        rotated.rotate();
        assert_eq!(
            r.state(&seen(30_000, Rotate, &rotated, 30_000)).unwrap(),
            None
        );
        let mut reset = good.clone();
        reset.reset(7);
        assert_eq!(r.state(&seen(40_000, Reset, &reset, 40_000)).unwrap(), None);
        for (reason, state, file_lsn, what) in [
            (Interval, &rotated, FIRST_LSN, "make narwal-bin.000001:"),
            (Rotate, &good, FIRST_LSN, "make narwal-bin.000002:"),
            (Reset, &good, FIRST_LSN, "make narwal-bin.000001:"),
            (Interval, &good, 77, "begins at LSN 77"),
        ] {
            let (mut r, _) = fresh();
            let wrong = r.state(&seen(20_000, reason, state, file_lsn)).unwrap();
            assert!(wrong.as_ref().unwrap().contains(what), "{wrong:?}");
        }
    }
}
