//! The log of a data folder: where it is, what to do about damage, and waiting for more.

use super::progress::Progress;
use super::{Groups, Trouble};
use crate::Failure;
use crate::folder::open_disk;
use narwal_binlog::{VirtualConfig, VirtualFiles};
use narwal_crypt::Access;
use narwal_engine::{EngineError, FolderRecords, GroupHead, GroupReader, Records};
use narwal_log::{FIRST_LSN, parse_segment_name};
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
    spots: u32,
    judged: Option<Instant>,
}

/// The folder of the segments: `dir` itself or its `log`.
pub fn log_dir(dir: &Path) -> Result<PathBuf, Failure> {
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    let log = dir.join("log");
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
    match (is_log(&log), is_log(dir)) {
        (true, _) => Ok(log),
        (false, true) => Ok(dir.to_path_buf()),
        (false, false) => Err(Failure::Run(format!("{}: holds no log", log.display()))),
    }
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

/// The settings of a log whose files have this base name.
pub fn config(base_name: &str) -> VirtualConfig {
    VirtualConfig {
        base_name: base_name.to_owned(),
        ..VirtualConfig::default()
    }
}

impl Source {
    /// Opens the log of data folder `dir`, at its oldest record, without a lock.
    pub fn open(dir: &Path, key_file: Option<&Path>, base_name: &str) -> Result<Self, Failure> {
        let log = log_dir(dir)?;
        let data = if log == dir { dir.parent() } else { Some(dir) };
        let data = data.filter(|d| d.is_dir()).unwrap_or(dir);
        let disk = open_disk(data, key_file, Access::Read)?.disk;
        let records = FolderRecords::open(disk, &log)
            .map_err(|e| Failure::Run(e.to_string()))?
            .ok_or_else(|| Failure::Run(format!("{}: holds no log", log.display())))?;
        let start = records.lsn();
        let config = config(base_name);
        let state = (start == FIRST_LSN).then(|| VirtualFiles::new(config.clone()));
        Ok(Source {
            groups: GroupReader::new(records, config, state),
            progress: Progress::none(),
            log,
            follow: false,
            start,
            spots: 0,
            judged: None,
        })
    }

    /// Waits for more at the end.
    pub fn following(mut self, follow: bool) -> Self {
        self.follow = follow;
        self
    }

    /// Shows progress on a terminal; `to_file`: standard output is not used.
    pub fn with_progress(mut self, to_file: bool) -> Self {
        self.progress = Progress::new(size(&self.log), to_file);
        self
    }

    /// The reader, to read the present group's events.
    pub fn groups(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// Damaged places so far.
    pub fn spots(&self) -> u32 {
        self.spots
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
                    return Ok(Some(head));
                }
                Ok(None) => {
                    if !self.at_end(idle)? {
                        return Ok(None);
                    }
                }
                Err(e @ EngineError::Corrupt(_)) => {
                    let stuck = self.groups.records().lsn() == before;
                    self.damage(e)?;
                    if stuck && !self.resume()? {
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
        let found = self.groups.records_after_gap().resume()?;
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
            None => eprintln!("narwal: nothing behind it can be read"),
        }
        Ok(found.is_some())
    }

    /// Reports a damaged place. The next group is looked for behind it.
    pub fn damage(&mut self, e: EngineError) -> Result<(), Trouble> {
        let EngineError::Corrupt(text) = e else {
            return Err(e.into());
        };
        self.progress.clear();
        self.spots += 1;
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
        match self.spots {
            0 => Ok(()),
            1 => Err(Failure::Run("the log is damaged in one place".into())),
            n => Err(Failure::Run(format!("the log is damaged in {n} places"))),
        }
    }
}
