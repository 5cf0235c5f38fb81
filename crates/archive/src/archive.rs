//! An archive as its readers have it.

use crate::entry::{HISTORY, sort_out};
use crate::seal::{sha256, unseal};
use crate::store::Store;
use crate::{ArchiveError, Entry, History, HistoryName, Listed, Result, Target};
use narwal_crypt::KeyFile;
use narwal_log::{Disk, Lsn, SegmentCopy, segment_name};
use std::path::Path;

/// An archive, opened for reading (and, inside this crate, for shipping).
#[derive(Debug)]
pub struct Archive {
    store: Store,
    url: String,
}

/// What [`Archive::fetch`] has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Segments.
    pub segments: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// LSN behind the last record that came.
    pub end: Lsn,
}

/// Something wrong that [`Archive::verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The object.
    pub object: String,
    /// What is wrong.
    pub what: String,
}

pub(crate) fn parse_marker<'a, T: serde::Deserialize<'a>>(
    object: &str,
    bytes: &'a [u8],
) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|e| ArchiveError::Damaged {
        object: object.to_owned(),
        why: format!("not what a server has put there: {e}"),
    })
}

/// Where a gap begins, by the marker of the segment in front of it.
fn behind(entry: &Entry) -> String {
    format!(", behind {}", entry.object)
}

impl Archive {
    /// Opens the archive at a URL (see [`Target`]) for reading. Of a bucket nothing is asked yet.
    ///
    /// # Errors
    /// [`ArchiveError::Url`]; a folder that is not there.
    pub fn open(url: &str) -> Result<Archive> {
        Self::at(url, false)
    }

    pub(crate) fn at(url: &str, make: bool) -> Result<Archive> {
        Ok(Archive {
            store: Store::open(&Target::parse(url)?, make)?,
            url: url.to_owned(),
        })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The histories in it, by log and number.
    ///
    /// # Errors
    /// The store.
    pub fn histories(&self) -> Result<Vec<HistoryName>> {
        let mut found: Vec<HistoryName> = self
            .store
            .folders()?
            .iter()
            .filter_map(|n| n.parse().ok())
            .collect();
        found.sort_unstable();
        Ok(found)
    }

    /// What is said of a history.
    ///
    /// # Errors
    /// The store; a damaged object.
    pub fn history(&self, name: HistoryName) -> Result<History> {
        let object = format!("{name}/{HISTORY}");
        parse_marker(&object, &self.store.get(&object)?)
    }

    /// The history of that name, or the only one there is.
    ///
    /// # Errors
    /// [`ArchiveError::Which`] names those that there are.
    pub fn choose(&self, name: Option<&str>) -> Result<HistoryName> {
        let all = self.histories()?;
        let names = || {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            all.join(", ")
        };
        match (name, &all[..]) {
            (_, []) => Err(ArchiveError::Which(format!(
                "{}: no archive of a log is there",
                self.url
            ))),
            (Some(name), _) => name
                .parse()
                .ok()
                .filter(|n| all.contains(n))
                .ok_or_else(|| {
                    ArchiveError::Which(format!(
                        "{}: no history {name}; there are: {}",
                        self.url,
                        names()
                    ))
                }),
            (None, [only]) => Ok(*only),
            (None, _) => Err(ArchiveError::Which(format!(
                "{} holds several histories, name one: {}",
                self.url,
                names()
            ))),
        }
    }

    /// The segments of a history in the order of the log; of one that was not full, the longest part. Only the store's
    /// listing is read.
    ///
    /// # Errors
    /// The store.
    pub fn list(&self, history: HistoryName) -> Result<Vec<Listed>> {
        Ok(self.sorted(history)?.0)
    }

    /// As [`Archive::list`], and what later objects have replaced.
    pub(crate) fn sorted(&self, history: HistoryName) -> Result<(Vec<Listed>, Vec<Listed>)> {
        Ok(sort_out(&self.store.files(&history.to_string())?))
    }

    /// What is known of a segment.
    ///
    /// # Errors
    /// The store; a damaged marker.
    pub fn entry(&self, history: HistoryName, listed: &Listed) -> Result<Entry> {
        let mut all = self.entries(history, std::slice::from_ref(listed))?;
        all.pop()
            .ok_or_else(|| ArchiveError::Missing(listed.marker()))
    }

    /// What is known of many segments.
    ///
    /// # Errors
    /// As [`Archive::entry`].
    pub fn entries(&self, history: HistoryName, listed: &[Listed]) -> Result<Vec<Entry>> {
        let names: Vec<String> = listed
            .iter()
            .map(|l| format!("{history}/{}", l.marker()))
            .collect();
        let markers = self.store.get_all(&names)?;
        let mut entries = Vec::with_capacity(markers.len());
        for ((name, bytes), l) in names.iter().zip(&markers).zip(listed) {
            let e: Entry = parse_marker(name, bytes)?;
            let fits = e.start == l.start && e.object == l.object();
            if !fits || l.part_end.is_some_and(|end| end != e.end) {
                return Err(ArchiveError::Damaged {
                    object: name.clone(),
                    why: "says that it belongs to another object".into(),
                });
            }
            entries.push(e);
        }
        Ok(entries)
    }

    /// Runs `look`, which lists and then reads, again if an object has gone between: a part that its server has just
    /// replaced by a longer one.
    fn again<T>(&self, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        let mut tries = 0;
        loop {
            match look() {
                Err(ArchiveError::Missing(_)) if tries < 10 => tries += 1,
                result => return result,
            }
        }
    }

    /// What is known of all segments of a history.
    ///
    /// # Errors
    /// As [`Archive::entry`].
    pub fn all(&self, history: HistoryName) -> Result<Vec<Entry>> {
        self.again(|| self.entries(history, &self.list(history)?))
    }

    /// A segment's entry and what `read` makes of it, also if it is a part that is replaced meanwhile.
    fn current<T>(
        &self,
        history: HistoryName,
        start: Lsn,
        read: impl Fn(&Entry) -> Result<T>,
    ) -> Result<(Entry, T)> {
        self.again(|| {
            let mut listed = self.list(history)?;
            listed.retain(|l| l.start == start);
            let entry = match listed.pop() {
                Some(l) => self.entry(history, &l)?,
                None => return Err(ArchiveError::Missing(segment_name(start))),
            };
            let made = read(&entry)?;
            Ok((entry, made))
        })
    }

    /// The segments with the log from `from` (any LSN in it) to the end of the history, without gaps. What a restore of
    /// a backup whose log ends at `from` needs.
    ///
    /// # Errors
    /// [`ArchiveError::Gap`] if a part is missing, also where the history begins behind `from` or ends before it.
    pub fn entries_from(&self, history: HistoryName, from: Lsn) -> Result<Vec<Entry>> {
        self.entries_until(history, from, |_| false)
    }

    /// As [`Archive::entries_from`], but only to the first segment that is `enough`. What is missing behind that one does
    /// not matter.
    ///
    /// # Errors
    /// As [`Archive::entries_from`].
    pub fn entries_until(
        &self,
        history: HistoryName,
        from: Lsn,
        enough: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>> {
        self.again(|| self.entries_once(history, from, &enough))
    }

    fn entries_once(
        &self,
        history: HistoryName,
        from: Lsn,
        enough: &impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>> {
        let mut listed = self.list(history)?;
        let first = listed.partition_point(|l| l.start <= from);
        if first == 0 {
            let to = listed.first().map_or(Lsn::MAX, |l| l.start);
            let behind = String::new();
            return Err(ArchiveError::Gap { behind, from, to });
        }
        listed.drain(..first - 1);
        let mut entries = self.entries(history, &listed)?;
        if let Some(last) = entries.iter().position(enough) {
            entries.truncate(last + 1);
        }
        for pair in entries.windows(2) {
            if pair[0].next != Some(pair[1].start) {
                let from = pair[0].next.unwrap_or(pair[0].end);
                return Err(ArchiveError::Gap {
                    behind: behind(&pair[0]),
                    from,
                    to: pair[1].start,
                });
            }
        }
        match entries.last() {
            Some(last) if last.next.unwrap_or(last.end) < from => Err(ArchiveError::Gap {
                behind: behind(last),
                from: last.end,
                to: from,
            }),
            _ => Ok(entries),
        }
    }

    /// A segment's bytes as its server had them, not encrypted, verified down to each record.
    ///
    /// # Errors
    /// [`ArchiveError::Damaged`]; the store; keys that are missing or do not fit.
    pub fn read(
        &self,
        history: HistoryName,
        entry: &Entry,
        keys: Option<&KeyFile>,
    ) -> Result<SegmentCopy> {
        let object = format!("{history}/{}", entry.object);
        let bytes = self.read_sealed(&object, entry)?;
        let damaged = |why: String| ArchiveError::Damaged {
            object: object.clone(),
            why,
        };
        let plain = match (&entry.keys, keys) {
            (None, _) => bytes,
            (Some(_), None) => {
                return Err(narwal_crypt::CryptError::KeyNeeded(object.into()).into());
            }
            (Some(name), Some(key_file)) => {
                let wrapped = self.store.get(&format!("{history}/{name}"))?;
                unseal(bytes, wrapped, key_file)?
            }
        };
        let copy = SegmentCopy::verify(plain).map_err(|e| damaged(e.to_string()))?;
        if (copy.start, copy.end, copy.next) != (entry.start, entry.end, entry.next) {
            return Err(damaged(format!(
                "holds the log from LSN {} to {}, its marker says from {} to {}",
                copy.start, copy.end, entry.start, entry.end
            )));
        }
        if copy.records_crc(copy.end) != entry.records_crc {
            return Err(damaged(
                "holds other records than were shipped (CRC32C)".into(),
            ));
        }
        Ok(copy)
    }

    /// An object's bytes as they were put there.
    fn read_sealed(&self, object: &str, entry: &Entry) -> Result<Vec<u8>> {
        let bytes = self.store.get(object)?;
        let damaged = |why: String| ArchiveError::Damaged {
            object: object.to_owned(),
            why,
        };
        if bytes.len() as u64 != entry.bytes {
            return Err(damaged(format!(
                "has {} bytes instead of {}",
                bytes.len(),
                entry.bytes
            )));
        }
        if sha256(&bytes) != entry.sha256 {
            return Err(damaged("its SHA-256 is not that of its marker".into()));
        }
        Ok(bytes)
    }

    /// Brings segments into the folder `dir` on `disk`, under the names they have in a data folder's log, each by a
    /// rename once it is whole and synced. Segments that are there already are replaced. `told` hears of each.
    ///
    /// # Errors
    /// As [`Archive::read`]; the disk.
    pub fn fetch(
        &self,
        history: HistoryName,
        entries: &[Entry],
        keys: Option<&KeyFile>,
        disk: &dyn Disk,
        dir: &Path,
        told: &mut dyn FnMut(&Entry),
    ) -> Result<Fetched> {
        let mut fetched = Fetched::default();
        let io = |what, path: &Path, source| ArchiveError::Io {
            what,
            path: path.to_owned(),
            source,
        };
        disk.create_dir_all(dir).map_err(|e| io("making", dir, e))?;
        let tmp = dir.join("wal.tmp");
        for entry in entries {
            let (now, copy) = match self.read(history, entry, keys) {
                Err(ArchiveError::Missing(_)) if entry.next.is_none() => {
                    self.current(history, entry.start, |e| self.read(history, e, keys))?
                }
                result => (entry.clone(), result?),
            };
            let path = dir.join(segment_name(entry.start));
            let file = disk.create(&tmp).map_err(|e| io("making", &tmp, e))?;
            file.write_at(&copy.bytes, 0)
                .and_then(|()| file.sync_data())
                .map_err(|e| io("writing", &tmp, e))?;
            drop(file);
            disk.rename(&tmp, &path)
                .map_err(|e| io("renaming", &tmp, e))?;
            fetched.segments += 1;
            fetched.bytes += copy.bytes.len() as u64;
            fetched.end = now.end;
            told(&now);
        }
        disk.sync_dir(dir).map_err(|e| io("syncing", dir, e))?;
        Ok(fetched)
    }

    /// Reads every object of a history and says what is wrong with which. Without `keys` the records of an encrypted
    /// archive are not looked at, only the objects' checksums. `told` hears of each segment.
    ///
    /// # Errors
    /// The store can't be listed.
    pub fn verify(
        &self,
        history: HistoryName,
        keys: Option<&KeyFile>,
        told: &mut dyn FnMut(&Entry),
    ) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        let mut last: Option<Entry> = None;
        for listed in self.list(history)? {
            let object = listed.object();
            let problem = |what: String| Problem {
                object: object.clone(),
                what,
            };
            let check = |e: &Entry| {
                if e.keys.is_some() && keys.is_none() {
                    let object = format!("{history}/{}", e.object);
                    return self.read_sealed(&object, e).map(|_| ());
                }
                self.read(history, e, keys).map(|_| ())
            };
            let known = self.entry(history, &listed);
            let checked = match known {
                Ok(e) => check(&e).map(|()| e.clone()).map_err(|why| (Some(e), why)),
                Err(why) => Err((None, why)),
            };
            let entry = match checked {
                Ok(e) => e,
                // A part that its server has replaced since it was listed.
                Err((_, ArchiveError::Missing(_)))
                    if listed.part_end.is_some()
                        && let Ok((e, ())) = self.current(history, listed.start, check) =>
                {
                    e
                }
                Err((e, why)) => {
                    problems.push(problem(why.to_string()));
                    match e {
                        Some(e) => e,
                        None => {
                            last = None;
                            continue;
                        }
                    }
                }
            };
            if let Some(before) = &last
                && (before.next != Some(entry.start) || before.last_seq + 1 != entry.first_seq)
            {
                problems.push(problem(format!(
                    "does not continue {}, which ends at LSN {}",
                    before.object, before.end
                )));
            }
            told(&entry);
            last = Some(entry);
        }
        Ok(problems)
    }
}
