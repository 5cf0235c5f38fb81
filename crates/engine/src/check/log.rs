//! The log: every record from the oldest on, the chunks that commits name, group structure, event checksums, State records.

use crate::check::finding::{Check, Finding};
use crate::check::recount::{Counted, Recount, Watched};
use crate::groups::reader::{GroupHead, GroupKind, GroupReader};
use crate::groups::records::{FolderRecords, Records};
use crate::record::annex::Spill;
use crate::{EngineError, Result};
use narwal_binlog::{Event, EventReader, VirtualConfig, VirtualFiles, event_type, gtid_flags};
use narwal_log::{DirEnd, FIRST_LSN, Lsn, parse_segment_name};

/// So many events of a group pass between two looks at the progress.
const TELL_EVERY: u64 = 4096;

/// What the log says about the rest of the folder.
#[derive(Default)]
pub(crate) struct LogSaid {
    /// LSN of the oldest record.
    pub(super) oldest: Option<Lsn>,
    /// What the groups make of positions and index up to the checkpoint, where all of it is known.
    pub(super) counted: Option<Counted>,
    /// Run files that commits behind the checkpoint name, with the commit's LSN.
    pub(super) spills: Vec<(Lsn, Spill)>,
}

/// What of a commit's annex is about run files.
#[derive(serde::Deserialize)]
struct SpillView {
    #[serde(default)]
    spill: Option<Spill>,
}

/// What a group's events said so far.
#[derive(Default)]
struct Structure {
    first: bool,
    ended: bool,
    statement: bool,
    open_statement: bool,
    /// Table maps of the statement: id and event.
    maps: Vec<(u64, Vec<u8>)>,
}

impl Check<'_> {
    /// Reads the log to its end, whatever is damaged. `checkpoint`: where the base stands.
    pub(super) fn check_log(&mut self, checkpoint: Option<Lsn>) -> Result<LogSaid> {
        let dir = self.dir.join("log");
        let total = self.log_size(&dir);
        let mut said = LogSaid::default();
        let records = match FolderRecords::open(self.options.disk.clone(), &dir) {
            Ok(Some(r)) => r,
            Ok(None) => {
                self.found(Finding::damage("there is no log").in_file(&dir));
                return Ok(said);
            }
            Err(e @ EngineError::Corrupt(_)) => {
                self.found(Finding::damage(e.to_string()).in_file(&dir));
                return Ok(said);
            }
            Err(e) => return Err(e),
        };
        let oldest = records.lsn();
        said.oldest = Some(oldest);
        let config = VirtualConfig::default();
        let mut recount = Recount::new(config.clone(), oldest, checkpoint);
        let state = (oldest == FIRST_LSN).then(|| VirtualFiles::new(config.clone()));
        let mut groups = GroupReader::new(Watched::new(records), config, state).with_local();
        // Groups whose chunks stand before the oldest record. A segment may begin with groups of purged files, and their
        // chunks may have gone with the segments before.
        let mut cut = Vec::new();
        loop {
            let before = groups.records().inner.lsn();
            self.observer
                .progress("log", before.saturating_sub(oldest), total);
            let next = groups.next_group();
            self.passed(&mut groups, &mut recount)?;
            match next {
                Ok(Some(head)) => {
                    self.report.groups += 1;
                    if head.kind == GroupKind::Group {
                        self.check_gtid(&groups, &head, &recount);
                    }
                    if checkpoint.is_none_or(|c| head.lsn >= c)
                        && let Ok(SpillView { spill: Some(s) }) =
                            serde_json::from_slice(groups.annex())
                    {
                        said.spills.push((head.lsn, s));
                    }
                    let counted = recount.group(&head);
                    if head.first_lsn < oldest && checkpoint.is_some_and(|c| head.lsn < c) {
                        cut.push(head.lsn);
                        if let Err(e) = counted {
                            self.damaged(&groups, e, Some(head.lsn))?;
                        }
                    } else if let Err(e) = self.check_group(&mut groups, &head).and(counted) {
                        self.damaged(&groups, e, Some(head.lsn))?;
                    }
                }
                Ok(None) => match groups.records_mut().inner.end() {
                    Ok(end) if end.more => {}
                    Ok(end) => {
                        recount.reach(end.end_lsn);
                        self.log_ends(end);
                        break;
                    }
                    Err(e) => {
                        recount.gap();
                        self.damaged(&groups, e, None)?;
                        if groups.records_after_gap().resume()?.is_none() {
                            break;
                        }
                    }
                },
                Err(e) => {
                    recount.gap();
                    let stuck = groups.records().inner.lsn() == before;
                    self.damaged(&groups, e, None)?;
                    let records = groups.records_after_gap();
                    if stuck && records.resume()?.is_none() {
                        break;
                    }
                }
            }
        }
        for lsn in cut.into_iter().filter(|lsn| *lsn >= recount.binlog_start) {
            let what = "the group's first chunks are no longer in the log".to_owned();
            self.at_record(&groups, lsn, what);
        }
        self.report.log_bytes = groups.records().inner.lsn().saturating_sub(oldest);
        self.report.chunks = groups.records().chunks;
        self.report.dead_chunks = self.report.chunks.saturating_sub(groups.records().named);
        self.report.gtid_pos = groups
            .files()
            .map_or(String::new(), |f| f.gtids().position_text());
        said.counted = recount.counted();
        Ok(said)
    }

    /// Takes down where the log ends.
    fn log_ends(&mut self, end: DirEnd) {
        self.report.end_lsn = end.end_lsn;
        self.report.last_seq = end.last_seq;
        if let Some(why) = end.torn {
            let what = format!("a torn tail, which the next start cuts off: {why}");
            let mut note = Finding::note(what).in_file(end.file);
            note.offset = Some(end.offset);
            self.found(note);
        }
    }

    /// Looks at the records that the reader went over on its way to the next group.
    fn passed(&mut self, groups: &mut GroupReader<Watched>, recount: &mut Recount) -> Result<()> {
        let records = groups.records_mut();
        let (states, odd) = (
            std::mem::take(&mut records.states),
            std::mem::take(&mut records.odd),
        );
        for seen in &states {
            self.report.states += 1;
            match recount.state(seen) {
                Ok(None) => {}
                Ok(Some(what)) => self.at_record(groups, seen.lsn, what),
                Err(e) => {
                    recount.gap();
                    self.damaged(groups, e, Some(seen.lsn))?;
                }
            }
        }
        for (lsn, what) in odd {
            self.at_record(groups, lsn, what);
        }
        Ok(())
    }

    /// Damage in the record at `lsn`.
    fn at_record(&mut self, groups: &GroupReader<Watched>, lsn: Lsn, what: String) {
        let place = groups.records().place(lsn);
        self.found(Finding {
            lsn: Some(lsn),
            offset: place.as_ref().map(|p| p.1),
            file: place.map(|p| p.0),
            ..Finding::damage(what)
        });
    }

    fn log_size(&self, dir: &std::path::Path) -> u64 {
        let disk = &self.options.disk;
        let names = disk.list(dir).unwrap_or_default();
        names
            .iter()
            .filter(|n| parse_segment_name(n).is_some())
            .filter_map(|n| disk.open_read(&dir.join(n)).ok()?.len().ok())
            .sum()
    }

    /// Reports damage; other errors end the check.
    fn damaged(
        &mut self,
        groups: &GroupReader<Watched>,
        e: EngineError,
        lsn: Option<Lsn>,
    ) -> Result<()> {
        let EngineError::Corrupt(text) = e else {
            return Err(e);
        };
        let mut finding = Finding::damage(text.clone());
        finding.lsn = lsn_in(&text).or(lsn);
        if let Some((file, offset)) = finding.lsn.and_then(|l| groups.records().place(l)) {
            finding.file = Some(file);
            finding.offset = Some(offset);
        }
        self.found(finding);
        Ok(())
    }

    /// GTIDs of a domain should rise; without strict mode they need not.
    fn check_gtid(&mut self, groups: &GroupReader<Watched>, head: &GroupHead, before: &Recount) {
        let gtid = head.gtid;
        let finding = match before.last(gtid.domain) {
            Some(last) if last == gtid => Finding::damage(format!("GTID {gtid} stands here twice")),
            Some(last) if last.seq >= gtid.seq => Finding::note(format!(
                "GTID {gtid} comes after {last}: out of order, as without gtid_strict_mode"
            )),
            _ => return,
        };
        let place = groups.records().place(head.lsn);
        self.found(Finding {
            lsn: Some(head.lsn),
            offset: place.as_ref().map(|p| p.1),
            file: place.map(|p| p.0),
            ..finding
        });
    }

    fn check_group(&mut self, groups: &mut GroupReader<Watched>, head: &GroupHead) -> Result<()> {
        let bad =
            |what: String| EngineError::Corrupt(format!("log record at LSN {}: {what}", head.lsn));
        let mut s = Structure::default();
        let mut bytes = 0u64;
        while let Some(event) = groups.next_event()? {
            bytes += event.len() as u64;
            self.report.events += 1;
            if self.report.events.is_multiple_of(TELL_EVERY) {
                self.observer
                    .progress("a large transaction", bytes, head.len);
            }
            let raw = EventReader::new(event)
                .next()
                .ok_or_else(|| bad("an empty event".into()))?
                .map_err(|e| bad(e.to_string()))?;
            if head.kind == GroupKind::Group && raw.header.server_id != head.gtid.server {
                return Err(bad(format!(
                    "an event of server {} in the group {}",
                    raw.header.server_id, head.gtid
                )));
            }
            let decoded = raw.decode().map_err(|e| bad(e.to_string()))?;
            s.event(&decoded, event, head).map_err(bad)?;
        }
        if bytes != head.len {
            return Err(bad(format!(
                "its events have {bytes} bytes, and {} were announced",
                head.len
            )));
        }
        s.end(head).map_err(bad)
    }
}

impl Structure {
    fn event(
        &mut self,
        event: &Event<'_>,
        bytes: &[u8],
        head: &GroupHead,
    ) -> std::result::Result<(), String> {
        if self.ended {
            return Err("events go on behind the end of the group".into());
        }
        let group = head.kind == GroupKind::Group;
        match event {
            Event::Gtid(_) if group && !self.first => {}
            Event::Annotate(_) if !self.open_statement => {}
            Event::TableMap(map) => {
                if self.open_statement {
                    return Err("a table map inside a statement's rows".into());
                }
                self.maps.push((map.table_id, bytes.to_vec()));
            }
            Event::Rows(rows) => {
                let Some((_, map)) = self.maps.iter().find(|m| m.0 == rows.table_id) else {
                    return Err(format!(
                        "rows of table id {}, which the statement has no table map of",
                        rows.table_id
                    ));
                };
                let raw = EventReader::new(map).next();
                if let Some(Ok(raw)) = raw
                    && let Ok(Event::TableMap(map)) = raw.decode()
                {
                    let name = format!("{}.{}", map.db, map.table);
                    for row in rows.rows(&map).map_err(|e| format!("table {name}: {e}"))? {
                        row.map_err(|e| format!("table {name}: {e}"))?;
                    }
                }
                self.open_statement = !rows.is_statement_end();
                if rows.is_statement_end() {
                    self.maps.clear();
                }
            }
            Event::Query(_) if group => {
                self.statement = true;
                if head.flags2 & gtid_flags::STANDALONE != 0 {
                    self.ended = true;
                }
            }
            Event::Xid(_) | Event::Unknown(event_type::XA_PREPARE) if group => self.ended = true,
            other => return Err(format!("an event that does not belong here: {other:.100?}")),
        }
        if group && !self.first && !matches!(event, Event::Gtid(_)) {
            return Err("the group does not begin with its GTID".into());
        }
        self.first = true;
        Ok(())
    }

    fn end(&self, head: &GroupHead) -> std::result::Result<(), String> {
        if self.open_statement {
            return Err("the last statement's rows are not marked as its end".into());
        }
        if head.kind == GroupKind::Group && !self.ended {
            return Err("the group has no end".into());
        }
        Ok(())
    }
}

/// The LSN that an error's text names.
fn lsn_in(text: &str) -> Option<Lsn> {
    let at = text.find("LSN ")? + 4;
    let digits = text[at..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
