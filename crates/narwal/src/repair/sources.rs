//! Where whole copies come from.

use super::args::RepairArgs;
use super::folder::{Folder, engine, io};
use crate::Failure;
use crate::backup::bar::Bar;
use crate::folder::open_disk;
use narwal_archive::{Archive, HistoryName};
use narwal_crypt::{Access, KeyFile};
use narwal_engine::backup::{Chain, Manifest, restore_files};
use narwal_log::{Disk, Lsn, RealDisk, SegmentCopy, parse_segment_name, segment_name};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A backup, unpacked beside the folder under repair.
pub(super) struct Backup {
    pub(super) dir: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) manifest: Manifest,
}

/// All that the command line names.
pub(super) struct Sources {
    pub(super) backup: Option<Backup>,
    archive: Option<(Archive, Vec<HistoryName>, Option<KeyFile>)>,
}

/// Where a backup is unpacked, in the data folder: its files are on the same file system.
const UNPACKED: &str = "repair.tmp";

impl Sources {
    pub(super) fn open(args: &RepairArgs, folder: &Folder<'_>) -> Result<Sources, Failure> {
        let backup = match &args.from {
            Some(from) => Some(unpack(args, from, folder.dir)?),
            None => None,
        };
        let archive = match &args.archive {
            Some(url) => Some(open_archive(args, url)?),
            None => None,
        };
        Ok(Sources { backup, archive })
    }

    /// Removes what was unpacked.
    pub(super) fn close(&self, folder: &Folder<'_>) -> Result<(), Failure> {
        let dir = folder.dir.join(UNPACKED);
        match std::fs::remove_dir_all(&dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::run(dir.display(), e))
            }
            _ => Ok(()),
        }
    }

    /// Every whole copy of the segment that starts at `start`, the longest first, with where it is from.
    pub(super) fn segment(&self, start: Lsn) -> Result<Vec<(String, SegmentCopy)>, Failure> {
        let mut all = Vec::new();
        if let Some((archive, histories, keys)) = &self.archive {
            for &h in histories {
                let listed = archive.list(h).map_err(failed)?;
                let Some(l) = listed.into_iter().find(|l| l.start == start) else {
                    continue;
                };
                let copy = archive
                    .entry(h, &l)
                    .and_then(|e| archive.read(h, &e, keys.as_ref()));
                match copy {
                    Ok(copy) => all.push((format!("{}, history {h}", archive.url()), copy)),
                    Err(e) => println!("not used: {e}"),
                }
            }
        }
        if let Some(b) = &self.backup
            && let Some(copy) = b.segment(start)?
        {
            all.push((format!("the backup of {}", b.manifest.id), copy));
        }
        all.sort_by_key(|(_, c)| std::cmp::Reverse((c.next.is_some(), c.end)));
        Ok(all)
    }

    /// Where segments start that any source has, ascending.
    pub(super) fn starts(&self) -> Result<Vec<Lsn>, Failure> {
        let mut all = Vec::new();
        if let Some((archive, histories, _)) = &self.archive {
            for &h in histories {
                all.extend(archive.list(h).map_err(failed)?.iter().map(|l| l.start));
            }
        }
        if let Some(b) = &self.backup {
            all.extend(segments(&*b.disk, &b.dir.join("log"))?);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

impl Backup {
    fn segment(&self, start: Lsn) -> Result<Option<SegmentCopy>, Failure> {
        let path = self.dir.join("log").join(segment_name(start));
        if !self.disk.exists(&path).map_err(io("looking for", &path))? {
            return Ok(None);
        }
        let mut bytes = read_whole(&*self.disk, &path)?;
        // The backup's last segment ends where the backup does.
        let end = self.manifest.end.log_end;
        if end >= start {
            let len = narwal_log::SEGMENT_HEADER_LEN + (end - start);
            bytes.truncate(bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX)));
        }
        match SegmentCopy::verify(bytes) {
            Ok(copy) => Ok(Some(copy)),
            Err(e) => {
                println!("not used: {}, {e}", path.display());
                Ok(None)
            }
        }
    }
}

fn failed(e: narwal_archive::ArchiveError) -> Failure {
    Failure::Run(e.to_string())
}

/// Reads a file whole.
pub(super) fn read_whole(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, Failure> {
    let read = || -> std::io::Result<Vec<u8>> {
        let file = disk.open_read(path)?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
        let n = file.read_at(&mut bytes, 0)?;
        bytes.truncate(n);
        Ok(bytes)
    };
    read().map_err(io("reading", path))
}

/// Where the segments in `log` start, ascending.
pub(super) fn segments(disk: &dyn Disk, log: &Path) -> Result<Vec<Lsn>, Failure> {
    let names = disk.list(log).map_err(io("looking into", log))?;
    let mut starts: Vec<Lsn> = names.iter().filter_map(|n| parse_segment_name(n)).collect();
    starts.sort_unstable();
    Ok(starts)
}

fn unpack(args: &RepairArgs, from: &Path, datadir: &Path) -> Result<Backup, Failure> {
    let real: Arc<dyn Disk> = Arc::new(RealDisk);
    let chain = Chain::open(real.clone(), from, &args.parent).map_err(engine)?;
    let manifest = chain.manifest().clone();
    if manifest.encrypted && args.encryption_key_file.is_none() {
        return Err(Failure::Usage(
            "the backup is encrypted: name the server's key file with --encryption-key-file".into(),
        ));
    }
    let dir = datadir.join(UNPACKED);
    match std::fs::remove_dir_all(&dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::run(dir.display(), e));
        }
        _ => {}
    }
    let log = dir.join("log");
    real.create_dir_all(&log).map_err(io("making", &log))?;
    let mut bar = Bar::new("unpacking the backup", manifest.bytes());
    restore_files(&chain, &real, &dir, |n| {
        bar.add(n);
        Ok(())
    })
    .map_err(engine)?;
    bar.clear();
    let keys = args
        .encryption_key_file
        .as_deref()
        .filter(|_| manifest.encrypted);
    let disk = open_disk(&dir, keys, Access::Read)?.disk;
    Ok(Backup {
        dir,
        disk,
        manifest,
    })
}

fn open_archive(
    args: &RepairArgs,
    url: &str,
) -> Result<(Archive, Vec<HistoryName>, Option<KeyFile>), Failure> {
    let archive = Archive::open(&crate::restore::url_of(url)?).map_err(failed)?;
    let histories = match &args.archive_history {
        Some(name) => vec![archive.choose(Some(name)).map_err(failed)?],
        None => archive.histories().map_err(failed)?,
    };
    let keys = args
        .encryption_key_file
        .as_deref()
        .map(KeyFile::read)
        .transpose();
    Ok((
        archive,
        histories,
        keys.map_err(|e| Failure::Run(e.to_string()))?,
    ))
}
