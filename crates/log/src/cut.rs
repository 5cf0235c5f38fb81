//! Cutting a log that nobody has open: what lies behind a place is taken out of it.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::LogError;
use crate::segment::{SEGMENT_HEADER_LEN, list_segments, segment_name};
use std::path::Path;

/// How much is read at a time.
const PIECE: u64 = 1 << 20;

/// Ends the log in `dir` in front of `lsn`, the start of a record: later segments are removed, last one first, and what
/// lies behind in its own becomes zeros. Durable when it returns; after a crash in the middle it can be called again.
///
/// For a copy of a log (a restored backup), whose commits behind the place are not wanted: the next start finds the end
/// there and no sign that there ever was more.
///
/// # Errors
/// [`LogError::Purged`] if the log begins behind `lsn`, [`LogError::BehindEnd`] if it has no such place; errors of the
/// disk.
pub fn cut_behind(disk: &dyn Disk, dir: &Path, lsn: Lsn) -> Result<(), LogError> {
    let starts = list_segments(disk, dir, false)?;
    let oldest = starts.first().copied().unwrap_or(0);
    let Some(own) = starts.iter().copied().rfind(|&s| s <= lsn) else {
        return Err(LogError::Purged { lsn, oldest });
    };
    for &start in starts.iter().rev().filter(|&&s| s > own) {
        let path = dir.join(segment_name(start));
        disk.remove(&path)
            .and_then(|()| disk.sync_dir(dir))
            .map_err(|e| LogError::io("remove", &path, e))?;
    }
    let path = dir.join(segment_name(own));
    let io = |what| move |e| (what, e);
    let cut = || -> Result<Option<Lsn>, (&'static str, std::io::Error)> {
        let file = disk.open(&path).map_err(io("open"))?;
        let len = file.len().map_err(io("read"))?;
        let mut at = SEGMENT_HEADER_LEN + (lsn - own);
        if at > len {
            return Ok(Some(own + len.saturating_sub(SEGMENT_HEADER_LEN)));
        }
        let mut buf = vec![0; PIECE as usize];
        while at < len {
            let n = (len - at).min(PIECE) as usize;
            let n = file.read_at(&mut buf[..n], at).map_err(io("read"))?;
            if n == 0 {
                break;
            }
            if buf[..n].iter().any(|b| *b != 0) {
                buf[..n].fill(0);
                file.write_at(&buf[..n], at).map_err(io("write"))?;
            }
            at += n as u64;
        }
        file.sync_data().map_err(io("sync"))?;
        Ok(None)
    };
    match cut() {
        Ok(None) => Ok(()),
        Ok(Some(end)) => Err(LogError::BehindEnd { lsn, end }),
        Err((what, e)) => Err(LogError::io(what, &path, e)),
    }
}
