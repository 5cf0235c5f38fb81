//! The log of a data folder: where it is, what to do about damage, and waiting for more.

use super::progress::Progress;
use super::{Groups, Trouble};
use crate::Failure;
use crate::folder::open_disk;
use narwal_binlog::{GtidState, VirtualConfig};
use narwal_crypt::Access;
use narwal_engine::{EngineError, GroupHead, Records, StateRecord, open_folder};
use narwal_log::parse_segment_name;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a follower looks for more.
const POLL: Duration = Duration::from_millis(100);
/// How often a follower that gets nothing makes sure that what it waits behind is the end, and no damage.
const JUDGE: Duration = Duration::from_secs(10);

/// The groups of a folder's log.
pub struct Source {
    groups: Groups,
    progress: Progress,
    log: PathBuf,
    follow: bool,
    start: u64,
    floor: u64,
    spots: u32,
    /// Groups whose commits verify, but not all of their chunks.
    broken: u32,
    gap: Option<Gap>,
    judged: Option<Instant>,
}

/// What was known before something that can't be read.
struct Gap {
    lost_commits: u64,
    gtids: GtidState,
}

/// The folder of the segments: `dir` itself or its `log`.
pub fn log_dir(dir: &Path) -> Result<PathBuf, Failure> {
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    narwal_stream::source::folder::log_dir(dir)
        .ok_or_else(|| Failure::Run(format!("{}: holds no log", dir.join("log").display())))
}

/// The folder that the segments in `log` belong to, which was found through `dir`.
pub fn data_dir_of<'a>(log: &'a Path, dir: &'a Path) -> &'a Path {
    let data = if log == dir { dir.parent() } else { Some(dir) };
    data.filter(|d| d.is_dir()).unwrap_or(dir)
}

/// Bytes of all segment files.
fn size(log: &Path) -> u64 {
    let files = std::fs::read_dir(log).into_iter().flatten().flatten();
    files
        .filter(|e| {
            e.file_name()
                .to_str()
                .and_then(parse_segment_name)
                .is_some()
        })
        .filter_map(|e| e.metadata().ok())
        .map(|m| m.len())
        .sum()
}

/// Where the oldest segment starts.
fn oldest(log: &Path) -> u64 {
    let files = std::fs::read_dir(log).into_iter().flatten().flatten();
    files
        .filter_map(|e| e.file_name().to_str().and_then(parse_segment_name))
        .min()
        .unwrap_or(0)
}

/// The settings of a log whose files have this base name.
pub fn config(base_name: &str) -> VirtualConfig {
    VirtualConfig {
        base_name: base_name.to_owned(),
        ..VirtualConfig::default()
    }
}

impl Source {
    /// Opens the log of data folder `dir` without a lock, at its oldest group, or behind what `skip` says is not wanted
    /// (see [`open_folder`]).
    pub fn open(
        dir: &Path,
        key_file: Option<&Path>,
        base_name: &str,
        skip: &dyn Fn(&StateRecord) -> bool,
    ) -> Result<Self, Failure> {
        let log = log_dir(dir)?;
        let disk = open_disk(data_dir_of(&log, dir), key_file, Access::Read)?.disk;
        let opened = open_folder(disk, &log, config(base_name), skip)
            .map_err(|e| Failure::Run(e.to_string()))?
            .ok_or_else(|| Failure::Run(format!("{}: holds no log", log.display())))?;
        let mut source = Source {
            start: opened.groups.records().lsn(),
            groups: opened.groups,
            progress: Progress::none(),
            log,
            follow: false,
            floor: opened.floor,
            spots: 0,
            broken: 0,
            gap: None,
            judged: None,
        };
        for e in opened.damage {
            source.damage(e).map_err(|e| Failure::Run(e.to_string()))?;
        }
        Ok(source)
    }

    /// Waits for more at the end.
    pub fn following(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Shows progress on a terminal; `to_file`: standard output is not used.
    pub fn with_progress(mut self, to_file: bool) -> Self {
        // Segments are named by where they start.
        let skipped = self.start.saturating_sub(oldest(&self.log));
        self.progress = Progress::new(size(&self.log).saturating_sub(skipped), to_file);
        self
    }

    /// The reader, to read the present group's events.
    pub fn groups(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// Damaged places so far, and groups that can't be read because of them.
    pub fn spots(&self) -> u32 {
        self.spots + self.broken
    }

    /// The next group. At the end, `None`, or, for a follower, a wait for more; `idle` is called before it.
    pub fn next(
        &mut self,
        idle: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<Option<GroupHead>, Trouble> {
        loop {
            let before = self.groups.records().lsn();
            match self.groups.next_group() {
                Ok(Some(head)) => {
                    self.progress
                        .at(head.end_lsn.saturating_sub(self.start), head.gtid);
                    self.judged = None;
                    self.tell_lost(Some(&head));
                    if head.lsn < self.floor {
                        continue;
                    }
                    // A group is given as a whole or not at all.
                    match self.groups.verify_chunks() {
                        Ok(()) => return Ok(Some(head)),
                        Err(EngineError::Corrupt(e)) => {
                            self.progress.clear();
                            self.broken += 1;
                            eprintln!(
                                "narwal: lost: transaction {} ({} bytes of events): {e}",
                                head.gtid, head.len
                            );
                        }
                        Err(e) => return Err(e.into()),
                    }
                }
                Ok(None) => {
                    if !self.at_end(idle)? {
                        self.tell_lost(None);
                        return Ok(None);
                    }
                }
                Err(e @ EngineError::Corrupt(_)) => {
                    let stuck = self.groups.records().lsn() == before;
                    self.damage(e)?;
                    if stuck && !self.resume()? {
                        self.tell_lost(None);
                        return Ok(None);
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Whether to try again at the end of what can be read.
    fn at_end(&mut self, idle: &mut dyn FnMut() -> io::Result<()>) -> Result<bool, Trouble> {
        let judge = self.judged.is_none_or(|at| at.elapsed() > JUDGE);
        if judge {
            match self.groups.records_mut().end() {
                Ok(end) if end.more => return Ok(true),
                Ok(_) => {}
                Err(e @ EngineError::Corrupt(_)) => {
                    self.damage(e)?;
                    return self.resume();
                }
                Err(e) => return Err(e.into()),
            }
            self.judged = Some(Instant::now());
        }
        if self.follow {
            self.progress.clear();
            idle()?;
            std::thread::sleep(POLL);
        }
        Ok(self.follow)
    }

    /// Goes on behind a damaged place; false if there is nothing more.
    fn resume(&mut self) -> Result<bool, Trouble> {
        let found = self.groups.resume()?;
        match found {
            Some(lsn) => {
                let place = self.groups.records().place(lsn);
                match place {
                    Some((file, offset)) => eprintln!(
                        "narwal: reading goes on in {} at byte {offset} (LSN {lsn})",
                        file.display()
                    ),
                    None => eprintln!("narwal: reading goes on at LSN {lsn}"),
                }
            }
            None => eprintln!("narwal: nothing behind that can be read"),
        }
        Ok(found.is_some())
    }

    /// Says what is missing between the last group before damage and `next`, or the end.
    fn tell_lost(&mut self, next: Option<&GroupHead>) {
        let Some(gap) = self.gap.take() else {
            return;
        };
        self.progress.clear();
        let commits = self.groups.records().lost_commits() - gap.lost_commits;
        // The largest number of each domain that is known to have been used by now.
        let mut used: BTreeMap<u32, u64> = BTreeMap::new();
        let mut use_up = |domain: u32, seq: u64| {
            let at = used.entry(domain).or_default();
            *at = seq.max(*at);
        };
        match next {
            Some(head) => {
                for g in self.groups.gtids_before().iter() {
                    use_up(g.domain, g.seq);
                }
                use_up(head.gtid.domain, head.gtid.seq.saturating_sub(1));
            }
            None => {
                for g in self
                    .groups
                    .files()
                    .into_iter()
                    .flat_map(|f| f.gtids().iter())
                {
                    use_up(g.domain, g.seq);
                }
            }
        }
        let gtids: Vec<String> = used
            .into_iter()
            .filter_map(|(domain, last)| {
                let first = gap.gtids.next_seq(domain);
                match last.checked_sub(first)? {
                    0 => Some(format!("{first} of domain {domain}")),
                    _ => Some(format!("{first} to {last} of domain {domain}")),
                }
            })
            .collect();
        let what = match (commits, next) {
            (0, Some(_)) => "no transaction".to_owned(),
            (0, None) => "what stood there, if anything".to_owned(),
            (1, _) => "1 transaction".to_owned(),
            (n, _) => format!("{n} transactions"),
        };
        if gtids.is_empty() {
            eprintln!("narwal: lost: {what}");
        } else {
            eprintln!("narwal: lost: {what}, GTIDs {}", gtids.join(", "));
        }
    }

    /// Reports a damaged place. The next group is looked for behind it.
    pub fn damage(&mut self, e: EngineError) -> Result<(), Trouble> {
        let EngineError::Corrupt(text) = e else {
            return Err(e.into());
        };
        self.progress.clear();
        self.spots += 1;
        if self.gap.is_none() {
            let gtids = self.groups.files().map(|f| f.gtids().clone());
            self.gap = Some(Gap {
                lost_commits: self.groups.records().lost_commits(),
                gtids: gtids.unwrap_or_default(),
            });
        }
        let _ = self.groups.records_after_gap();
        eprintln!("narwal: damage: {text}");
        Ok(())
    }

    /// Removes the progress line.
    pub fn clear_progress(&mut self) {
        self.progress.clear();
    }

    /// A failure if anything was damaged.
    pub fn verdict(&self) -> Result<(), Failure> {
        let places = match self.spots {
            0 => String::new(),
            1 => "the log is damaged in one place".into(),
            n => format!("the log is damaged in {n} places"),
        };
        let broken = match self.broken {
            0 => String::new(),
            1 => "one transaction has parts that can't be read".into(),
            n => format!("{n} transactions have parts that can't be read"),
        };
        let both = [places, broken].into_iter().filter(|s| !s.is_empty());
        match both.collect::<Vec<_>>() {
            said if said.is_empty() => Ok(()),
            said => Err(Failure::Damaged(said.join("; "))),
        }
    }
}

/// The folder that is meant if none was given.
pub(crate) fn data_dir(given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| PathBuf::from("./narwal-data"), Path::to_path_buf)
}
