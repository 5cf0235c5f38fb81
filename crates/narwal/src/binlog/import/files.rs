//! Classic binary log files, read event by event.

use crate::Failure;
use narwal_binlog::{
    BinlogError, Event, EventHeader, EventReader, HEADER_LEN, MAGIC, MAX_EVENT_LEN, RawEvent,
    event_type,
};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// MySQL's GTID event.
pub const GTID_LOG: u8 = 33;
/// MySQL's GTID event of a group without GTID.
pub const ANONYMOUS_GTID: u8 = 34;
/// The set of GTIDs before a file of MySQL's.
pub const PREVIOUS_GTIDS: u8 = 35;
/// MySQL's GTID event with a tag.
pub const GTID_TAGGED: u8 = 42;
/// What follows is encrypted (MariaDB).
pub const START_ENCRYPTION: u8 = 164;

/// The binary log files that were named, directly or by index files.
pub fn list(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut out = Vec::new();
    for path in inputs {
        let failed = |e| Failure::run(path.display(), e);
        let mut head = BufReader::new(File::open(path).map_err(failed)?);
        if head.fill_buf().map_err(failed)?.starts_with(&MAGIC) {
            out.push(path.clone());
            continue;
        }
        let mut text = String::new();
        let readable = head.take(16 << 20).read_to_string(&mut text).is_ok();
        let folder = path.parent().unwrap_or(Path::new(""));
        let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty());
        if !readable || lines().next().is_none() {
            return Err(Failure::Run(format!(
                "{}: neither a binary log file nor an index of some",
                path.display()
            )));
        }
        for line in lines() {
            let file = folder.join(line);
            let mut magic = [0; MAGIC.len()];
            File::open(&file)
                .and_then(|mut f| f.read_exact(&mut magic))
                .map_err(|e| {
                    Failure::run(
                        format!("{} (named in {})", file.display(), path.display()),
                        e,
                    )
                })?;
            if magic != MAGIC {
                return Err(Failure::Run(format!(
                    "{} (named in {}): not a binary log file",
                    file.display(),
                    path.display()
                )));
            }
            out.push(file);
        }
    }
    Ok(out)
}

/// Why no further event can be read.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The file ends inside an event.
    #[error("the file ends inside the event at position {offset}")]
    CutShort {
        /// Where the event starts.
        offset: u64,
    },
    /// The event is damaged.
    #[error("position {offset}: {error}")]
    Event {
        /// Where it starts.
        offset: u64,
        /// What is wrong with it.
        error: BinlogError,
    },
    /// Reading failed.
    #[error("position {offset}: {error}")]
    Io {
        /// Where.
        offset: u64,
        /// The error.
        error: std::io::Error,
    },
}

/// An event with its place.
#[derive(Debug)]
pub struct FlatEvent<'a> {
    /// Byte offset in the file.
    pub offset: u64,
    /// The event; its checksum was verified, if it has one.
    pub raw: RawEvent<'a>,
}

/// A binary log file that is being read. One event is in memory at a time.
#[derive(Debug)]
pub struct FlatFile {
    file: BufReader<File>,
    offset: u64,
    len: u64,
    checksums: bool,
    buf: Vec<u8>,
}

impl FlatFile {
    /// Opens a file and reads its magic.
    pub fn open(path: &Path) -> Result<FlatFile, Failure> {
        let failed = |e| Failure::run(path.display(), e);
        let file = File::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(failed)?;
        if magic != MAGIC {
            return Err(Failure::Run(format!(
                "{}: not a binary log file",
                path.display()
            )));
        }
        Ok(FlatFile {
            file,
            offset: MAGIC.len() as u64,
            len,
            checksums: true,
            buf: Vec::new(),
        })
    }

    /// Bytes of the file when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The next event, `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<FlatEvent<'_>>, Broken> {
        let offset = self.offset;
        let io = |error| Broken::Io { offset, error };
        let wrong = |error| Broken::Event { offset, error };
        if self.file.fill_buf().map_err(io)?.is_empty() {
            return Ok(None);
        }
        self.buf.clear();
        let read = (&mut self.file)
            .take(HEADER_LEN as u64)
            .read_to_end(&mut self.buf)
            .map_err(io)?;
        if read < HEADER_LEN {
            return Err(Broken::CutShort { offset });
        }
        let header = EventHeader::parse(&self.buf).map_err(wrong)?;
        let size = header.event_size as usize;
        if size < HEADER_LEN {
            return Err(wrong(BinlogError::Invalid(
                "event size smaller than an event",
            )));
        }
        if size > MAX_EVENT_LEN {
            return Err(wrong(BinlogError::TooLarge {
                what: "event",
                size: size as u64,
                limit: MAX_EVENT_LEN as u64,
            }));
        }
        let rest = (size - HEADER_LEN) as u64;
        let read = (&mut self.file)
            .take(rest)
            .read_to_end(&mut self.buf)
            .map_err(io)?;
        if (read as u64) < rest {
            return Err(Broken::CutShort { offset });
        }
        self.offset += size as u64;
        let mut reader = EventReader::new(&self.buf);
        if !self.checksums {
            reader = reader.without_checksums();
        }
        let raw = reader
            .next()
            .ok_or(wrong(BinlogError::Truncated("an event")))?
            .map_err(wrong)?;
        if raw.header.event_type == event_type::FORMAT_DESCRIPTION
            && let Event::FormatDescription {
                checksum_algorithm, ..
            } = raw.decode().map_err(wrong)?
        {
            self.checksums = checksum_algorithm != 0;
        }
        Ok(Some(FlatEvent { offset, raw }))
    }
}

/// Source uuid and number of a MySQL GTID event.
///
/// ```text
/// u8 flags | 16 bytes uuid | u64 number | ...
/// ```
pub fn mysql_gtid(body: &[u8]) -> Option<(String, u64)> {
    let uuid = body.get(1..17)?;
    let gno = u64::from_le_bytes(body.get(17..25)?.try_into().ok()?);
    let mut text = String::with_capacity(36);
    for (i, b) in uuid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{b:02x}"));
    }
    Some((text, gno))
}
