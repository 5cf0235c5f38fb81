//! More log from an archive.

use super::args::RestoreArgs;
use crate::Failure;
use narwal_archive::{Archive, ArchiveError, Entry, HistoryName};
use narwal_binlog::GtidState;
use narwal_crypt::KeyFile;
use narwal_engine::backup::{Manifest, Point};
use narwal_log::{Disk, Lsn, SEGMENT_HEADER_LEN, SegmentCopy, segment_name};
use std::path::Path;

/// Bytes of the record that ends a full segment.
const SEGMENT_END: u64 = 24;

/// `file://` in front of a folder.
pub fn url_of(text: &str) -> Result<String, Failure> {
    if text.contains("://") {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(text).map_err(|e| Failure::run(text, e))?;
    Ok(format!("file://{}", path.display()))
}

/// Says of a segment whether the log up to its end reaches the point. One that does not say enough of itself does not.
fn reaches(point: Option<&Point>) -> impl Fn(&Entry) -> bool {
    let gtids = match point {
        Some(Point::Gtid(list)) => list.parse::<GtidState>().ok(),
        _ => None,
    };
    let point = point.cloned();
    let number = |file: &str| file.rsplit('.').next().and_then(|n| n.parse::<u32>().ok());
    move |e| match &point {
        None => false,
        Some(Point::Gtid(_)) => {
            let after = e.gtids_after.as_ref().and_then(|g| g.parse().ok());
            gtids.as_ref().zip(after).is_some_and(|(wanted, after)| {
                let after: GtidState = after;
                wanted.iter().all(|g| {
                    let last = after.last_of(g.domain, g.server);
                    last.is_some_and(|n| n >= g.seq)
                })
            })
        }
        Some(Point::Time(t)) => e.last_time.is_some_and(|last| last > *t),
        Some(Point::Position { file, offset }) => {
            let ends = e.file.as_deref().and_then(number).zip(e.position);
            ends.zip(number(file))
                .is_some_and(|(ends, file)| ends >= (file, *offset))
        }
    }
}

/// Brings the log behind the backup's end, as far as `point` needs it; where it ends then.
pub fn fetch(
    args: &RestoreArgs,
    manifest: &Manifest,
    point: Option<&Point>,
    url: &str,
    disk: &dyn Disk,
    log: &Path,
) -> Result<Lsn, Failure> {
    let failed = |e: ArchiveError| match e {
        ArchiveError::Damaged { .. } | ArchiveError::Missing(_) => Failure::Damaged(e.to_string()),
        e => Failure::Run(e.to_string()),
    };
    let end = &manifest.end;
    let archive = Archive::open(&url_of(url)?).map_err(failed)?;
    let key_file = args
        .encryption_key_file
        .as_deref()
        .map(KeyFile::read)
        .transpose()
        .map_err(|e| Failure::Run(e.to_string()))?;
    let candidates = match &args.archive_history {
        Some(name) => vec![archive.choose(Some(name)).map_err(failed)?],
        None => {
            let all = archive.histories().map_err(failed)?;
            all.into_iter().filter(|h| h.log_id == end.log_id).collect()
        }
    };
    let own = own_tail(disk, log, end.log_end)?;
    let enough = reaches(point);
    let mut fit: Vec<(HistoryName, Vec<Entry>)> = Vec::new();
    let mut why = Vec::new();
    for h in candidates {
        let entries = match archive.entries_until(h, end.log_end, &enough) {
            Ok(entries) => entries,
            Err(gap @ ArchiveError::Gap { from, .. }) if from > end.log_end => {
                // How far it goes all the same.
                let before = archive.entries_until(h, end.log_end, |e| e.next == Some(from));
                let before = before.ok().and_then(|all| all.last()?.gtids_after.clone());
                return Err(Failure::Damaged(format!(
                    "{}, history {h}: {gap}; what is before that ends with the GTIDs {}",
                    archive.url(),
                    before.as_deref().unwrap_or("of the backup"),
                )));
            }
            Err(e) => {
                why.push(format!("{h}: {e}"));
                continue;
            }
        };
        let Some(first) = entries.first() else {
            continue;
        };
        // The archive's segment must tell what the backup's does, as far as that goes.
        let copy = archive.read(h, first, key_file.as_ref()).map_err(failed)?;
        match same_so_far(&own, &copy, end.log_end) {
            true => fit.push((h, entries)),
            false => why.push(format!("{h} is another continuation of this log")),
        }
    }
    let (history, entries) = match fit.len() {
        1 => fit.remove(0),
        0 => {
            return Err(Failure::Run(format!(
                "{} has no log that goes on where the backup ends{}",
                archive.url(),
                match why.is_empty() {
                    true => String::new(),
                    false => format!(": {}", why.join("; ")),
                }
            )));
        }
        _ => {
            let names: Vec<String> = fit.iter().map(|(h, _)| h.to_string()).collect();
            return Err(Failure::Usage(format!(
                "{} has several histories that go on where the backup ends: name one of {} with --archive-history",
                archive.url(),
                names.join(", ")
            )));
        }
    };
    archive
        .fetch(history, &entries, key_file.as_ref(), disk, log, &mut |_| {})
        .map_err(failed)?;
    match entries.last() {
        // The segment that the record at its end names is not in the archive.
        Some(last) if last.next.is_some() => Ok(last.end - SEGMENT_END),
        Some(last) => Ok(last.end),
        None => Ok(end.log_end),
    }
}

/// The start of the restored log's last segment, and its records.
fn own_tail(disk: &dyn Disk, log: &Path, end: Lsn) -> Result<(Lsn, Vec<u8>), Failure> {
    let failed = |e: std::io::Error| Failure::run(log.display(), e);
    let names = disk.list(log).map_err(failed)?;
    let start = names
        .iter()
        .filter_map(|n| narwal_log::parse_segment_name(n))
        .filter(|s| *s <= end)
        .max()
        .ok_or_else(|| Failure::Damaged(format!("{}: no log", log.display())))?;
    let path = log.join(segment_name(start));
    let file = disk.open_read(&path).map_err(failed)?;
    let mut bytes = vec![0; (end - start) as usize];
    let n = file
        .read_at(&mut bytes, SEGMENT_HEADER_LEN)
        .map_err(failed)?;
    bytes.truncate(n);
    Ok((start, bytes))
}

fn same_so_far((start, bytes): &(Lsn, Vec<u8>), copy: &SegmentCopy, end: Lsn) -> bool {
    let from = SEGMENT_HEADER_LEN as usize;
    copy.start != *start
        || copy.end < end
        || copy.bytes.get(from..from + bytes.len()) == Some(&bytes[..])
}
