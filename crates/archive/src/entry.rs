//! Names and markers in an archive.
//!
//! ```text
//! <log id>-<n>/history.json                 a history: the log of one server, from some place on, without gaps
//! <log id>-<n>/wal.<start>                  a full segment
//! <log id>-<n>/wal.<start>.<end>.part       the current segment as far as it was durable
//! <log id>-<n>/<either>.json                its marker, put after it: without it the other is not there
//! <log id>-<n>/keys.<id>                    wrapped keys of an encrypted folder
//! ```
//! No object is ever changed. LSNs in names have 16 hex digits, so names sort as the log does.

use narwal_log::{Lsn, Seq, segment_name};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// Version of the markers.
pub(crate) const FORMAT: u32 = 1;
/// The object that describes a history.
pub(crate) const HISTORY: &str = "history.json";
/// Ends the name of a marker.
const MARKER: &str = ".json";

/// Name of a history: the random number of the log, and a number from 1 on, since one log can have more than one
/// continuation (a copy of the server that runs on by itself, a log whose end was given up).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryName {
    /// Random number of the log, as its segments have it.
    pub log_id: u64,
    /// Which of its histories.
    pub number: u32,
}

impl fmt::Display for HistoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.log_id, self.number)
    }
}

impl FromStr for HistoryName {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let parse = || {
            let (id, n) = s.split_once('-')?;
            Some(HistoryName {
                log_id: (id.len() == 16).then(|| u64::from_str_radix(id, 16).ok())??,
                number: n.parse().ok().filter(|n| *n > 0)?,
            })
        };
        parse().ok_or_else(|| format!("{s:?} is not the name of a history"))
    }
}

/// What `history.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Version of the format: 1.
    pub format: u32,
    /// Random number of the log, in hex.
    pub log_id: String,
    /// LSN of its first segment.
    pub start: Lsn,
    /// Server id of the server that began it.
    pub server_id: u32,
    /// When, seconds since 1970.
    pub created: u64,
    /// Why it does not continue an earlier history of the same log, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// A segment in an archive: what its marker says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of the format: 1.
    pub format: u32,
    /// Name of the object with its bytes.
    pub object: String,
    /// LSN of its first record.
    pub start: Lsn,
    /// LSN behind its last record.
    pub end: Lsn,
    /// Start of the next segment; `None` for one that was not full when it was shipped.
    pub next: Option<Lsn>,
    /// Bytes of the object.
    pub bytes: u64,
    /// SHA-256 of the object, hex.
    pub sha256: String,
    /// CRC32C of the records, not encrypted: says whether two logs are the same up to `end`.
    pub records_crc: u32,
    /// Sequence number of its first commit.
    pub first_seq: Seq,
    /// Sequence number of the last commit in it or before it.
    pub last_seq: Seq,
    /// `gtid_binlog_state` before it; not known of a part of the log that is not in the binary log any more.
    pub gtids_before: Option<String>,
    /// `gtid_binlog_state` behind it.
    pub gtids_after: Option<String>,
    /// Virtual binary log file where it ends.
    pub file: Option<String>,
    /// Offset there.
    pub position: Option<u64>,
    /// Timestamp of its last group, seconds since 1970, if known.
    pub last_time: Option<u32>,
    /// When it was shipped, seconds since 1970 by the server's clock.
    pub archived_at: u64,
    /// Object with the wrapped keys, if the bytes are those of an encrypted file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
}

/// A segment as the listing of an archive shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// LSN of its first record.
    pub start: Lsn,
    /// Of one that was not full: the LSN behind its last record.
    pub part_end: Option<Lsn>,
}

impl Listed {
    /// Name of the object.
    pub fn object(&self) -> String {
        let name = segment_name(self.start);
        match self.part_end {
            None => name,
            Some(end) => format!("{name}.{end:016x}.part"),
        }
    }

    /// Name of its marker.
    pub fn marker(&self) -> String {
        self.object() + MARKER
    }

    /// From the name of an object that is not a marker.
    pub(crate) fn parse(name: &str) -> Option<Listed> {
        let (segment, part_end) = match name.strip_suffix(".part") {
            None => (name, None),
            Some(rest) => {
                let (segment, end) = rest.rsplit_once('.')?;
                let end = (end.len() == 16).then(|| Lsn::from_str_radix(end, 16).ok())??;
                (segment, Some(end))
            }
        };
        let start = narwal_log::parse_segment_name(segment)?;
        Some(Listed { start, part_end })
    }
}

/// From the names of all objects of a history: the segments that count, in the order of the log, and the objects that
/// something later has replaced.
pub(crate) fn sort_out(names: &[String]) -> (Vec<Listed>, Vec<Listed>) {
    let markers: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut whole: Vec<Listed> = names
        .iter()
        .filter_map(|n| Listed::parse(n))
        .filter(|l| markers.contains(l.marker().as_str()))
        .collect();
    // Of one segment the full one, else the longest part.
    whole.sort_by_key(|l| (l.start, l.part_end.unwrap_or(Lsn::MAX)));
    let (mut counts, mut replaced): (Vec<Listed>, Vec<Listed>) = (Vec::new(), Vec::new());
    for l in whole {
        if let Some(last) = counts.last_mut().filter(|last| last.start == l.start) {
            replaced.push(std::mem::replace(last, l));
        } else {
            counts.push(l);
        }
    }
    (counts, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let h = HistoryName {
            log_id: 0xABC,
            number: 12,
        };
        assert_eq!(h.to_string().parse(), Ok(h));
        assert!("abc-1".parse::<HistoryName>().is_err());
        assert!("0000000000000abc-0".parse::<HistoryName>().is_err());
        for l in [
            Listed {
                start: 4096,
                part_end: None,
            },
            Listed {
                start: 1 << 40,
                part_end: Some((1 << 40) + 77),
            },
        ] {
            assert_eq!(Listed::parse(&l.object()), Some(l.clone()));
            assert_eq!(Listed::parse(&l.marker()), None);
        }
        assert_eq!(Listed::parse("wal.tmp"), None);
        assert_eq!(Listed::parse("wal.0000000000001000.zz.part"), None);
    }

    #[test]
    fn what_counts() {
        let full = |start| Listed {
            start,
            part_end: None,
        };
        let part = |start, end| Listed {
            start,
            part_end: Some(end),
        };
        let mut names = Vec::new();
        for l in [part(1, 5), part(1, 9), full(1), part(20, 30), part(20, 25)] {
            names.extend([l.object(), l.marker()]);
        }
        // Half put: the bytes without their marker, and the other way round.
        names.push(full(20).object());
        names.push(full(40).marker());
        let (counts, mut replaced) = sort_out(&names);
        assert_eq!(counts, [full(1), part(20, 30)]);
        replaced.sort();
        assert_eq!(replaced, [part(1, 5), part(1, 9), part(20, 25)]);
    }
}
