//! Damaged and missing segments of the log.

use super::folder::{Damage, Folder, io, old_name};
use super::sources::{Sources, read_whole, segments};
use crate::Failure;
use narwal_log::{Lsn, SegmentCopy, parse_segment_name, segment_name};
use std::path::{Path, PathBuf};

/// Puts whole records in the place of damaged ones, and whole segments where they are missing.
pub(super) fn mend(
    folder: &Folder<'_>,
    damage: &Damage,
    sources: &Sources,
    dry_run: bool,
    aside: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let log = folder.dir.join("log");
    for path in &damage.segments {
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        match parse_segment_name(name) {
            Some(start) => mend_segment(folder, path, start, sources, dry_run, aside)?,
            None => println!(
                "{}: no segment of the log; it is left as it is",
                path.display()
            ),
        }
    }
    fill_gaps(folder, &log, sources, dry_run)
}

fn mend_segment(
    folder: &Folder<'_>,
    path: &Path,
    start: Lsn,
    sources: &Sources,
    dry_run: bool,
    aside: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let own = match folder.disk.exists(path).map_err(io("looking for", path))? {
        true => read_whole(&*folder.disk, path)?,
        false => Vec::new(),
    };
    let mut why = Vec::new();
    for (from, copy) in sources.segment(start)? {
        match copy.mend(&own) {
            // Its neighbour is missing: what was found is where this one ends.
            Ok(mended) if mended.records == 0 => return Ok(()),
            Ok(mended) => {
                println!("{}: {} records from {from}", path.display(), mended.records);
                if !dry_run {
                    replace(folder, path, &mended.bytes, !own.is_empty(), aside)?;
                }
                return Ok(());
            }
            Err(e) => why.push(format!("{from}: {e}")),
        }
    }
    Err(Failure::Damaged(format!(
        "{}: no whole copy of this segment{}; name a backup with --from or an archive with --archive that has it, or \
         make the server anew from a replica or a backup",
        path.display(),
        match why.is_empty() {
            true => String::new(),
            false => format!(" ({})", why.join("; ")),
        }
    )))
}

/// Writes a file beside its place and renames it there.
fn replace(
    folder: &Folder<'_>,
    path: &Path,
    bytes: &[u8],
    keep: bool,
    aside: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let disk = &folder.disk;
    let log = folder.dir.join("log");
    let tmp = log.join("wal.tmp");
    let write = || -> std::io::Result<()> {
        let file = disk.create(&tmp)?;
        file.write_at(bytes, 0)?;
        file.sync_data()
    };
    write().map_err(io("writing", &tmp))?;
    if keep {
        let old = old_name(path);
        disk.rename(path, &old).map_err(io("renaming", path))?;
        aside.push(old);
    }
    disk.rename(&tmp, path).map_err(io("renaming", &tmp))?;
    disk.sync_dir(&log).map_err(io("syncing", &log))
}

/// Brings segments that are missing between others.
fn fill_gaps(
    folder: &Folder<'_>,
    log: &Path,
    sources: &Sources,
    dry_run: bool,
) -> Result<(), Failure> {
    let own = segments(&*folder.disk, log)?;
    let (Some(&first), Some(&last)) = (own.first(), own.last()) else {
        return Ok(());
    };
    let missing = sources
        .starts()?
        .into_iter()
        .filter(|s| *s > first && *s < last && !own.contains(s));
    for start in missing {
        let Some((from, copy)) = full(sources.segment(start)?) else {
            continue;
        };
        let path = log.join(segment_name(start));
        println!("{}: was missing, from {from}", path.display());
        if !dry_run {
            replace(folder, &path, &copy.bytes, false, &mut Vec::new())?;
        }
    }
    Ok(())
}

/// A copy of a whole segment, to whose end its log went on.
fn full(copies: Vec<(String, SegmentCopy)>) -> Option<(String, SegmentCopy)> {
    copies.into_iter().find(|(_, c)| c.next.is_some())
}

/// Brings the log from `from` to where the folder's own log begins.
pub(super) fn reach_back(
    folder: &Folder<'_>,
    sources: &Sources,
    from: Lsn,
    dry_run: bool,
) -> Result<(), Failure> {
    let log = folder.dir.join("log");
    let own = segments(&*folder.disk, &log)?;
    let Some(&oldest) = own.first() else {
        return Err(Failure::Damaged(format!(
            "{}: there is no log at all; restore a backup into a new folder",
            log.display()
        )));
    };
    let mut wanted = oldest;
    let mut found = Vec::new();
    let mut starts = sources.starts()?;
    while wanted > from {
        starts.retain(|s| *s < wanted);
        let before = match starts.last() {
            Some(&start) => full(sources.segment(start)?).filter(|(_, c)| c.next == Some(wanted)),
            None => None,
        };
        let Some((origin, copy)) = before else {
            return Err(Failure::Damaged(format!(
                "the tables would have to be built from LSN {from} on, and the log before LSN {wanted} is not to be had: \
                 name a newer backup with --from, or an archive that has it with --archive"
            )));
        };
        wanted = copy.start;
        found.push((origin, copy));
    }
    let check = own_copy(folder, &log, oldest)?;
    for (origin, copy) in found {
        if check.is_some_and(|id| id != copy.log_id) {
            return Err(Failure::Run(format!("{origin} is of another server's log")));
        }
        let path = log.join(segment_name(copy.start));
        println!("{}: from {origin}", path.display());
        if !dry_run {
            replace(folder, &path, &copy.bytes, false, &mut Vec::new())?;
        }
    }
    Ok(())
}

/// The number that names the folder's log.
fn own_copy(folder: &Folder<'_>, log: &Path, start: Lsn) -> Result<Option<u64>, Failure> {
    let bytes = read_whole(&*folder.disk, &log.join(segment_name(start)))?;
    Ok(narwal_log::log_id(&bytes))
}

/// Fails unless the backup's log and the folder's tell the same history where they overlap.
pub(super) fn same_history(folder: &Folder<'_>, sources: &Sources) -> Result<(), Failure> {
    let Some(backup) = &sources.backup else {
        return Ok(());
    };
    let log = folder.dir.join("log");
    let own = segments(&*folder.disk, &log)?;
    let theirs = segments(&*backup.disk, &backup.dir.join("log"))?;
    for start in own.into_iter().filter(|s| theirs.contains(s)) {
        let bytes = read_whole(&*folder.disk, &log.join(segment_name(start)))?;
        for (from, copy) in sources.segment(start)? {
            copy.mend(&bytes)
                .map_err(|e| Failure::Run(format!("{}, {from}: {e}", segment_name(start))))?;
        }
    }
    Ok(())
}
