//! Shipping: what is to go next, and putting it there.
//!
//! Where the archive stands is read from the archive itself, at the start and after every failure: there is no note of
//! it anywhere else that could be wrong.

use crate::archive::Archive;
use crate::entry::{FORMAT, HISTORY};
use crate::seal::{FolderKeys, keys_object, sha256};
use crate::{ArchiveError, Entry, History, HistoryName, Listed, Result};
use narwal_engine::{Database, ReaderHold};
use narwal_log::{LogRecords, Lsn, SegmentCopy, SegmentSpan};
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

/// Ships one database's log.
pub(crate) struct Shipper {
    db: Database,
    log: LogRecords,
    archive: Archive,
    keys: Option<FolderKeys>,
    hold: ReaderHold,
    place: Option<ArchiveEnd>,
    /// What the archive has, as far as known.
    shipped: Lsn,
    /// What it had last.
    last: Option<Entry>,
    /// When something was first seen that is durable and not shipped.
    waiting: Option<Instant>,
}

/// Where the archive stands.
#[derive(Debug)]
struct ArchiveEnd {
    history: HistoryName,
    /// Start of the first segment that is not shipped whole.
    start: Lsn,
    /// What of it is shipped: LSN and object.
    part: Option<Listed>,
    /// Objects with keys that are there.
    keys: BTreeSet<String>,
}

impl ArchiveEnd {
    fn shipped(&self) -> Lsn {
        self.part
            .as_ref()
            .and_then(|p| p.part_end)
            .unwrap_or(self.start)
    }
}

/// How an archive's end and the log go together.
#[derive(Debug, PartialEq, Eq)]
enum Fit {
    /// The log goes on where the archive ends.
    Continues,
    /// It does not, and why.
    Other(String),
}

impl Shipper {
    pub fn new(db: Database, archive: Archive, keys: Option<FolderKeys>) -> Shipper {
        let hold = db
            .take_log_hold()
            .unwrap_or_else(|| db.hold_log("archive", 0));
        Shipper {
            log: db.log_records(),
            db,
            archive,
            keys,
            hold,
            place: None,
            shipped: 0,
            last: None,
            waiting: None,
        }
    }

    /// After a failure: nothing is known of what the archive has.
    pub fn forget(&mut self) {
        self.place = None;
    }

    /// Bytes of durable log that are not shipped, as far as known.
    pub fn lag(&self) -> u64 {
        let from = self.shipped.max(self.log.oldest_lsn());
        self.log.durable_lsn().saturating_sub(from)
    }

    /// The last segment in the archive, as far as known.
    pub fn last(&self) -> Option<&Entry> {
        self.last.as_ref()
    }

    /// The history in use.
    pub fn history(&self) -> Option<HistoryName> {
        self.place.as_ref().map(|p| p.history)
    }

    /// Ships one thing that is due: a full segment, or what is durable of the current one if it has waited for
    /// `timeout` (`None`: never; zero: at once). `None`: nothing is due.
    pub fn step(&mut self, timeout: Option<Duration>) -> Result<Option<Entry>> {
        let place = match self.place.take() {
            Some(p) => p,
            None => {
                let (place, last) = self.find_place()?;
                self.last = last;
                place
            }
        };
        let place = self.place.insert(place);
        // In the middle of a segment keeps the whole of it; it is needed again when it is full.
        self.hold.advance(place.shipped());
        self.shipped = place.shipped();
        let Some(span) = self.log.spans(place.start).first().copied() else {
            return Ok(None);
        };
        if span.start != place.start {
            // The hold prevents it; so somebody took files away.
            return Err(ArchiveError::Gap {
                behind: String::new(),
                from: place.start,
                to: span.start,
            });
        }
        if span.next.is_none() {
            if span.end <= place.shipped() {
                self.waiting = None;
                return Ok(None);
            }
            let since = *self.waiting.get_or_insert_with(Instant::now);
            if timeout.is_none_or(|t| since.elapsed() < t) {
                return Ok(None);
            }
        }
        let entry = self.ship(&span)?;
        self.waiting = None;
        Ok(Some(entry))
    }

    fn ship(&mut self, span: &SegmentSpan) -> Result<Entry> {
        let copy = self.log.copy_segment(span)?;
        let Some(place) = &mut self.place else {
            return Err(ArchiveError::Which("no history".into()));
        };
        let folder = place.history.to_string();
        let store = self.archive.store();
        let listed = Listed {
            start: copy.start,
            part_end: copy.next.is_none().then_some(copy.end),
        };
        let marker = format!("{folder}/{}", listed.marker());
        if store.exists(&marker)? {
            // What is in the archive was looked at before: somebody else is at work here.
            return Err(ArchiveError::Which(format!(
                "{marker} is there already: another server with a copy of this log ships to the same archive"
            )));
        }
        let (bytes, keys) = match &self.keys {
            None => (copy.bytes.clone(), None),
            Some(keys) => {
                let sealed = keys.seal(&copy.bytes)?;
                let name = keys_object(&sealed.keys);
                if !place.keys.contains(&name) {
                    store.put(&format!("{folder}/{name}"), sealed.keys)?;
                    place.keys.insert(name.clone());
                }
                (sealed.bytes, Some(name))
            }
        };
        let entry = entry_of(&self.db, &copy, &listed, &bytes, keys);
        store.put(&format!("{folder}/{}", listed.object()), bytes)?;
        store.put(&marker, json(&entry))?;
        let replaced = place.part.take().filter(|old| *old != listed);
        match copy.next {
            Some(next) => {
                place.start = next;
            }
            None => place.part = Some(listed),
        }
        self.shipped = place.shipped();
        self.hold.advance(self.shipped);
        self.last = Some(entry.clone());
        if let Some(old) = replaced {
            remove(&self.archive, &folder, &old);
        }
        Ok(entry)
    }

    /// Reads from the archive where it stands; begins a history if none can be continued.
    fn find_place(&self) -> Result<(ArchiveEnd, Option<Entry>)> {
        let log_id = self.log.log_id();
        let mut because = None;
        let ours: Vec<HistoryName> = self
            .archive
            .histories()?
            .into_iter()
            .filter(|h| h.log_id == log_id)
            .collect();
        for history in ours.iter().rev() {
            let names = self.archive.store().files(&history.to_string())?;
            let (listed, replaced) = crate::entry::sort_out(&names);
            for old in &replaced {
                remove(&self.archive, &history.to_string(), old);
            }
            let keys = names.iter().filter(|n| n.starts_with("keys.")).cloned();
            let place = |start, part| ArchiveEnd {
                history: *history,
                start,
                part,
                keys: keys.clone().collect(),
            };
            let Some(last) = listed.last() else {
                let start = self.archive.history(*history)?.start;
                if start >= self.log.oldest_lsn() && self.begins_at(start) {
                    return Ok((place(start, None), None));
                }
                continue;
            };
            let entry = self.archive.entry(*history, last)?;
            match self.fits(&entry)? {
                Fit::Continues => {
                    // Nobody else ships to it.
                    self.archive.store().clean(&history.to_string());
                    let place = match entry.next {
                        Some(next) => place(next, None),
                        None => place(entry.start, Some(last.clone())),
                    };
                    return Ok((place, Some(entry)));
                }
                Fit::Other(why) => {
                    because.get_or_insert(why);
                }
            }
        }
        let number = ours.last().map_or(1, |h| h.number + 1);
        let history = HistoryName { log_id, number };
        let start = match self.log.spans(0).first() {
            Some(span) => span.start,
            None => self.log.oldest_lsn(),
        };
        match &because {
            Some(why) => tracing::warn!(
                history = %history,
                "the archive can't be continued: {why}. A new history begins with the log from LSN {start} on; restores by it need a backup from now on"
            ),
            None => {
                tracing::info!(history = %history, "a new archive begins with the log from LSN {start} on")
            }
        }
        let about = History {
            format: FORMAT,
            log_id: format!("{log_id:016x}"),
            start,
            server_id: self.db.options().server_id,
            created: now(),
            because,
        };
        let object = format!("{history}/{HISTORY}");
        self.archive.store().put(&object, json(&about))?;
        let place = ArchiveEnd {
            history,
            start,
            part: None,
            keys: BTreeSet::new(),
        };
        Ok((place, None))
    }

    /// Whether a segment of the log begins there.
    fn begins_at(&self, start: Lsn) -> bool {
        let spans = self.log.spans(start);
        spans.first().is_some_and(|s| s.start == start) || self.log.durable_lsn() <= start
    }

    /// Whether the log continues what the archive's last segment says.
    fn fits(&self, last: &Entry) -> Result<Fit> {
        let other = |why: String| Ok(Fit::Other(why));
        let behind = last.next.unwrap_or(last.end);
        let durable = self.log.durable_lsn();
        if last.end > durable {
            return other(format!(
                "it holds the log up to LSN {}, but the log ends at {durable} (a part of it was given up, or the data folder is an older copy)",
                last.end
            ));
        }
        let oldest = self.log.oldest_lsn();
        if last.next.is_none() && oldest > last.start || oldest > behind {
            return other(format!(
                "it ends at LSN {}, and the log begins at {oldest} only",
                last.end
            ));
        }
        let spans = self.log.spans(last.start);
        if let Some(span) = spans.iter().find(|s| s.start == last.start) {
            // It is still here: it must be the same.
            let copy = self.log.copy_segment(span)?;
            let same = copy.end >= last.end && copy.records_crc(last.end) == last.records_crc;
            if !same || last.next.is_some() && copy.next != last.next {
                return other(format!(
                    "its segment {} holds another history than the log",
                    last.object
                ));
            }
            return Ok(Fit::Continues);
        }
        // Purged since: the next segment says which commit it begins with.
        match spans.iter().find(|s| s.start == behind) {
            Some(span) if self.log.copy_segment(span)?.first_seq == last.last_seq + 1 => {
                Ok(Fit::Continues)
            }
            _ => other(format!("the log does not go on at LSN {behind}")),
        }
    }
}

/// Removes what something later has replaced. It is no harm if it stays, as where a bucket forbids that.
fn remove(archive: &Archive, folder: &str, old: &Listed) {
    // The marker first: bytes without one do not count.
    for name in [old.marker(), old.object()] {
        if let Err(e) = archive.store().delete(&format!("{folder}/{name}")) {
            tracing::debug!("a replaced object stays in the archive: {e}");
            return;
        }
    }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    // Nothing in these types can fail to be written.
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn entry_of(
    db: &Database,
    copy: &SegmentCopy,
    listed: &Listed,
    bytes: &[u8],
    keys: Option<String>,
) -> Entry {
    let stretch = match db.log_stretch(copy.start, copy.next.unwrap_or(copy.end)) {
        Ok(s) => Some(s),
        Err(e) => {
            // A part from before a RESET MASTER: it is needed all the same by who restores an older backup.
            tracing::debug!(lsn = copy.start, "archive: no GTIDs for a segment: {e}");
            None
        }
    };
    Entry {
        format: FORMAT,
        object: listed.object(),
        start: copy.start,
        end: copy.end,
        next: copy.next,
        bytes: bytes.len() as u64,
        sha256: sha256(bytes),
        records_crc: copy.records_crc(copy.end),
        first_seq: copy.first_seq,
        last_seq: copy.last_seq,
        gtids_before: stretch.as_ref().and_then(|s| s.gtids_before.clone()),
        gtids_after: stretch.as_ref().map(|s| s.gtids_after.clone()),
        file: stretch.as_ref().map(|s| s.file.clone()),
        position: stretch.as_ref().map(|s| s.offset),
        last_time: stretch.and_then(|s| s.last_time),
        archived_at: now(),
        keys,
    }
}
