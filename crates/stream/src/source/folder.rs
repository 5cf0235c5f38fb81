//! The log of a data folder, whether or not its server runs.

use super::{EventGroup, Source, Start, Step};
use crate::{Error, Place, Result};
use narwal_binlog::{Gtid, GtidState, VirtualConfig, VirtualFiles};
use narwal_engine::{
    EngineError, FolderRecords, GroupHead, GroupReader, GtidFilter, StateRecord, open_folder,
};
use narwal_log::{Disk, parse_segment_name};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a follower looks for more.
const POLL: Duration = Duration::from_millis(100);
/// How often a follower that gets nothing makes sure that what it waits behind is the end, and no damage.
const JUDGE: Duration = Duration::from_secs(10);

/// The folder of a log's segments: `dir` itself or its `log`. `None` if neither has any.
#[must_use]
pub fn log_dir(dir: &Path) -> Option<PathBuf> {
    let is_log = |dir: &Path| {
        std::fs::read_dir(dir).is_ok_and(|mut entries| {
            entries.any(|e| {
                e.is_ok_and(|e| {
                    e.file_name()
                        .to_str()
                        .and_then(parse_segment_name)
                        .is_some()
                })
            })
        })
    };
    [dir.join("log"), dir.to_path_buf()]
        .into_iter()
        .find(|d| is_log(d))
}

/// Reads the groups of a folder's log. Files are opened for reading only and nothing is held: a server may purge what was
/// not read yet. In a running server's folder it sees what is in the files, of which the last moments may not be durable.
pub struct FolderSource {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    config: VirtualConfig,
    groups: GroupReader<FolderRecords>,
    floor: u64,
    filter: Option<GtidFilter>,
    /// Groups before this file and offset are not wanted.
    from: Option<(u32, u64)>,
    /// What the log must still have before its first group for nothing to be missing.
    known: Option<Place>,
    /// The first group is still to come.
    first: bool,
    place: Option<Place>,
    file: (u32, Arc<str>),
    follow: bool,
    judged: Option<Instant>,
}

impl std::fmt::Debug for FolderSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderSource")
            .field("dir", &self.dir)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl FolderSource {
    /// Opens the log in folder `dir` (that of the segments, see [`log_dir`]) of a server whose binary log files have this
    /// base name. With `follow` it waits for more at the end.
    ///
    /// # Errors
    /// [`Error::Gone`] if the log does not have what follows `start`; the log can't be read.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        base_name: &str,
        start: &Start,
        follow: bool,
    ) -> Result<Self> {
        let config = VirtualConfig {
            base_name: base_name.to_owned(),
            ..VirtualConfig::default()
        };
        let mut from = None;
        let mut known = None;
        match start {
            Start::Beginning | Start::Now => {}
            Start::Place(place) => known = Some(place.opening()),
            Start::File { name, offset } => {
                let number = VirtualFiles::new(config.clone())
                    .parse_file_name(name)
                    .ok_or_else(|| {
                        Error::Usage(format!(
                            "{name}: files are named {base_name}.000001 and so on"
                        ))
                    })?;
                from = Some((number, *offset));
            }
        }
        let skip = |state: &StateRecord| {
            let files = &state.files;
            match start {
                Start::Beginning => false,
                Start::Now => true,
                Start::Place(_) => known.as_ref().is_some_and(|p| has_all(p, files.gtids())),
                Start::File { .. } => {
                    from.is_some_and(|at| (files.file_no(), files.offset()) <= at)
                }
            }
        };
        let opened = open_folder(disk.clone(), dir, config.clone(), &skip)?
            .ok_or_else(|| Error::Usage(format!("{}: holds no log", dir.display())))?;
        if let Some(e) = opened.damage.into_iter().next() {
            return Err(e.into());
        }
        let mut source = FolderSource {
            disk,
            dir: dir.to_path_buf(),
            config,
            groups: opened.groups,
            floor: opened.floor,
            filter: None,
            from,
            known,
            first: true,
            place: None,
            file: (0, "".into()),
            follow,
            judged: None,
        };
        if *start == Start::Now {
            while source.groups.next_group()?.is_some() {}
            let end = source
                .groups
                .files()
                .map(|f| f.gtids().position().collect::<Vec<_>>());
            let end = end.unwrap_or_default();
            source.place = Some(Place::new(end));
            source.first = false;
        } else if let Start::Place(place) = start {
            source.place = Some(place.clone());
        }
        Ok(source)
    }

    /// What to do at the first group there is: see that nothing is missing before it.
    fn check_first(&mut self, head: &GroupHead) -> Result<()> {
        if !std::mem::take(&mut self.first) {
            return Ok(());
        }
        let before = self.groups.gtids_before();
        let name = |n: u32| format!("{}.{n:06}", self.config.base_name);
        let begins = || format!("it begins with {} and {}", name(head.file_no), head.gtid);
        if let Some(place) = &self.known {
            let has = |g: &Gtid| place.position().find(|p| p.domain == g.domain);
            for g in before.position() {
                if has(&g).is_none_or(|h| h.seq < g.seq) {
                    return Err(Error::Gone(format!(
                        "what follows place {place} in domain {} is not in the log any more; {}",
                        g.domain,
                        begins()
                    )));
                }
            }
            let mut have = GtidState::new();
            place.position().for_each(|g| have.observe(g));
            let mut filter = GtidFilter::new(&have);
            filter.passed(before.iter());
            self.filter = Some(filter);
        } else {
            self.place = Some(Place::new(before.position()));
        }
        if let Some((file, _)) = self.from {
            let oldest = self
                .groups
                .last_state()
                .map_or(head.file_no, |s| s.oldest_file.min(head.file_no));
            if file < oldest {
                return Err(Error::Gone(format!(
                    "{} is not in the log any more; {}",
                    name(file),
                    begins()
                )));
            }
        }
        Ok(())
    }

    fn wanted(&mut self, head: &GroupHead) -> Result<bool> {
        if head.lsn < self.floor {
            return Ok(false);
        }
        self.check_first(head)?;
        if let Some(filter) = &mut self.filter
            && !filter.wants(head.gtid)
        {
            return Ok(false);
        }
        if let Some((file, offset)) = self.from {
            if (head.file_no, head.start_pos) < (file, offset) {
                if head.file_no == file && head.start_pos + head.len > offset {
                    return Err(Error::Usage(format!(
                        "position {offset} of {}.{file:06} is inside transaction {}, which begins at {}",
                        self.config.base_name, head.gtid, head.start_pos
                    )));
                }
                return Ok(false);
            }
            self.from = None;
        }
        if self.known.is_none() {
            self.place = Some(Place::new(self.groups.gtids_before().position()));
        }
        Ok(true)
    }

    /// At the end of what can be read: whether there is more after all.
    fn judge(&mut self) -> Result<bool> {
        if self.judged.is_some_and(|at| at.elapsed() < JUDGE) {
            return Ok(false);
        }
        self.judged = Some(Instant::now());
        Ok(self.groups.records_mut().end()?.more)
    }

    /// What was asked for must not lie behind the end.
    fn check_end(&mut self) -> Result<()> {
        let Some(files) = self.groups.files() else {
            return Ok(());
        };
        if let Some((file, offset)) = self.from
            && (file, offset) > (files.file_no(), files.offset())
        {
            return Err(Error::Usage(format!(
                "{}.{file:06}:{offset} is behind the end of the log, {}:{}",
                self.config.base_name,
                files.current_file(),
                files.offset()
            )));
        }
        if self.first
            && let Some(place) = &self.known
            && let Some(g) = place
                .position()
                .find(|g| files.gtids().last(g.domain).is_some_and(|l| l.seq < g.seq))
        {
            return Err(Error::Gone(format!("transaction {g} is not in this log")));
        }
        Ok(())
    }
}

/// Whether somebody at `place` has everything in `gtids`.
fn has_all(place: &Place, gtids: &GtidState) -> bool {
    gtids.iter().all(|g| {
        let last = gtids.next_seq(g.domain).saturating_sub(1);
        place
            .position()
            .any(|p| p.domain == g.domain && last <= p.seq)
    })
}

impl Source for FolderSource {
    fn next_group(&mut self, wait: Duration) -> Result<Step> {
        let deadline = Instant::now() + wait;
        loop {
            let head = match self.groups.next_group() {
                Ok(head) => head,
                // A purge is no damage.
                Err(EngineError::Io(e)) => return Err(Error::Gone(e)),
                Err(e) => return Err(e.into()),
            };
            if let Some(head) = head {
                self.judged = None;
                if !self.wanted(&head)? {
                    continue;
                }
                if self.file.0 != head.file_no {
                    let name = format!("{}.{:06}", self.config.base_name, head.file_no);
                    self.file = (head.file_no, name.into());
                }
                // The GTID event.
                self.groups.next_event()?;
                return Ok(Step::Group(EventGroup {
                    gtid: head.gtid,
                    flags2: head.flags2,
                    file: self.file.1.clone(),
                    pos: head.start_pos,
                    timestamp: head.timestamp,
                }));
            }
            if self.judge()? {
                continue;
            }
            self.check_end()?;
            if self.place.is_none() {
                self.place = self
                    .groups
                    .files()
                    .map(|f| Place::new(f.gtids().position()));
            }
            if !self.follow {
                return Ok(Step::End);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Step::Idle);
            }
            std::thread::sleep(left.min(POLL));
        }
    }

    fn next_event(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.groups.next_event()?)
    }

    fn place(&self) -> Option<Place> {
        self.place.clone()
    }

    fn reopen(&mut self, place: Option<&Place>) -> Result<()> {
        let start = place.map_or(Start::Beginning, |p| Start::Place(p.clone()));
        *self = Self::open(
            self.disk.clone(),
            &self.dir,
            &self.config.base_name,
            &start,
            self.follow,
        )?;
        Ok(())
    }
}
