//! The end of the flat files, as a start finds it.

use crate::classic::files::{index_path, io, remove};
use crate::{EngineError, Result};
use narwal_binlog::{
    Event, EventHeader, EventReader, Gtid, GtidState, HEADER_LEN, MAGIC, VirtualFiles, gtid_flags,
};
use narwal_log::{Disk, DiskFile};
use std::path::Path;
use std::sync::Arc;

/// How the files end.
#[derive(Debug, Clone)]
pub(crate) struct Tail {
    /// The numbers of all files, in order.
    pub(crate) numbers: Vec<u32>,
    /// Number of the last file.
    pub(crate) number: u32,
    /// Behind its last whole group.
    pub(crate) end: u64,
    /// Bytes behind that, which were cut off: of a group that a crash has left torn.
    pub(crate) torn: u64,
    /// Everything that was ever written to the files.
    pub(crate) gtids: GtidState,
}

impl Tail {
    /// Reads the last file, cuts what is torn, and removes files that the index does not know. `names` has the files' names.
    ///
    /// # Errors
    /// A file of the index is missing or is none.
    pub(crate) fn read(disk: &Arc<dyn Disk>, dir: &Path, names: &VirtualFiles) -> Result<Tail> {
        let index = index_path(dir, names.config());
        let text = read_text(&**disk, &index)?;
        let mut numbers = Vec::new();
        for line in text.lines() {
            let name = line.strip_prefix("./").unwrap_or(line);
            let number = names.parse_file_name(name).ok_or_else(|| {
                EngineError::Corrupt(format!("{}: {line:?} is no file of it", index.display()))
            })?;
            let path = dir.join(name);
            if !disk.exists(&path).map_err(|e| io(&path, &e))? {
                return Err(EngineError::Corrupt(format!(
                    "the binary log file {} is missing: without it nobody can tell which transactions were committed. Put it back",
                    path.display()
                )));
            }
            numbers.push(number);
        }
        let Some(&number) = numbers.last() else {
            return Err(EngineError::Corrupt(format!(
                "{} names no file",
                index.display()
            )));
        };
        // Made and not yet in the index, or out of the index and not yet removed.
        for name in disk.list(dir).map_err(|e| io(dir, &e))? {
            if let Some(n) = names.parse_file_name(&name)
                && !numbers.contains(&n)
            {
                remove(&**disk, &dir.join(name))?;
            }
        }
        let path = dir.join(names.file_name(number));
        let file = disk.open(&path).map_err(|e| io(&path, &e))?;
        let len = file.len().map_err(|e| io(&path, &e))?;
        // From its head on, also where a checkpoint knows more: without syncs what lies before may be torn, too.
        let mut scan = FileScan::new(&*file).map_err(|e| io(&path, &e))?;
        let gtids = scan.head().ok_or_else(|| {
            EngineError::Corrupt(format!("{} has no head of a binary log", path.display()))
        })?;
        let mut tail = Tail {
            numbers,
            number,
            end: scan.at,
            torn: 0,
            gtids,
        };
        while let Some((gtid, _, end)) = scan.next_group() {
            // A ROTATE without the file that it names is written again.
            if let Some(gtid) = gtid {
                tail.gtids.observe(gtid);
                tail.end = end;
            }
        }
        tail.torn = len - tail.end;
        if tail.torn > 0 {
            tracing::info!(
                "{}: {} bytes behind the last whole event group were cut off at position {}",
                path.display(),
                tail.torn,
                tail.end
            );
            file.set_len(tail.end)
                .and_then(|()| file.sync_data())
                .map_err(|e| io(&path, &e))?;
        }
        Ok(tail)
    }

    /// The groups that stand in the files behind file `number`, position `pos`.
    pub(crate) fn groups_behind(
        &self,
        disk: &dyn Disk,
        dir: &Path,
        files: &VirtualFiles,
    ) -> Result<Vec<Gtid>> {
        let mut found = Vec::new();
        for &number in self.numbers.iter().filter(|n| **n >= files.file_no()) {
            let path = dir.join(files.file_name(number));
            let Ok(file) = disk.open_read(&path) else {
                continue;
            };
            let mut scan = FileScan::new(&*file).map_err(|e| io(&path, &e))?;
            if scan.head().is_none() {
                continue;
            }
            while let Some((gtid, start, _)) = scan.next_group() {
                if number > files.file_no() || start >= files.offset() {
                    found.extend(gtid);
                }
            }
        }
        Ok(found)
    }
}

fn read_text(disk: &dyn Disk, path: &Path) -> Result<String> {
    let read = || {
        let file = disk.open_read(path)?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX)];
        let n = file.read_at(&mut bytes, 0)?;
        bytes.truncate(n);
        Ok(bytes)
    };
    let bytes = read().map_err(|e| io(path, &e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file's events one after the other, as far as they are whole and verify.
struct FileScan<'a> {
    file: &'a dyn DiskFile,
    len: u64,
    /// Where the next event stands.
    at: u64,
    buf: Vec<u8>,
    /// Where the buffer begins in the file.
    buf_at: u64,
}

/// What of an event counts here.
enum Seen {
    Gtid(Gtid, bool),
    List(GtidState),
    /// A statement; whether it ends a transaction.
    Query(bool),
    Xid,
    /// Neither begins nor ends a group, and stands between groups if there.
    Head,
    Other,
}

impl<'a> FileScan<'a> {
    /// Bytes read at once.
    const READ: usize = 256 << 10;

    fn new(file: &'a dyn DiskFile) -> std::io::Result<Self> {
        Ok(FileScan {
            len: file.len()?,
            file,
            at: 0,
            buf: Vec::new(),
            buf_at: 0,
        })
    }

    /// Bytes of the file from `at` on, `n` of them.
    fn bytes(&mut self, at: u64, n: usize) -> Option<&[u8]> {
        if at + n as u64 > self.len {
            return None;
        }
        let have = self.buf_at + self.buf.len() as u64;
        if at < self.buf_at || at + n as u64 > have {
            let want = (n.max(Self::READ) as u64).min(self.len - at) as usize;
            self.buf.resize(want, 0);
            let n = self.file.read_at(&mut self.buf, at).unwrap_or(0);
            self.buf.truncate(n);
            self.buf_at = at;
        }
        let begin = (at - self.buf_at) as usize;
        self.buf.get(begin..begin + n)
    }

    /// The event at `at`, and where it ends. `None` if there is no whole one.
    fn event(&mut self, at: u64) -> Option<(Seen, u64)> {
        let header = EventHeader::parse(self.bytes(at, HEADER_LEN)?).ok()?;
        let size = header.event_size as usize;
        let bytes = self.bytes(at, size)?;
        let event = EventReader::new(bytes).next()?.ok()?;
        let seen = match event.decode().ok()? {
            Event::Gtid(g) => Seen::Gtid(g.gtid, g.flags2 & gtid_flags::STANDALONE != 0),
            Event::GtidList { gtids, .. } => Seen::List(gtids),
            Event::Query(q) => Seen::Query(q.sql == b"COMMIT" || q.sql == b"ROLLBACK"),
            Event::Xid(_) => Seen::Xid,
            Event::FormatDescription { .. } | Event::Rotate { .. } => Seen::Head,
            _ => Seen::Other,
        };
        Some((seen, at + size as u64))
    }

    /// Reads the head; the GTIDs before the file.
    fn head(&mut self) -> Option<GtidState> {
        if self.bytes(0, MAGIC.len())? != MAGIC {
            return None;
        }
        self.at = MAGIC.len() as u64;
        loop {
            let (seen, end) = self.event(self.at)?;
            self.at = end;
            match seen {
                Seen::List(gtids) => return Some(gtids),
                Seen::Head => {}
                _ => return None,
            }
        }
    }

    /// The next whole group: its GTID, start and end; without GTID an event between groups. `None` at the end, or in front
    /// of what is torn.
    fn next_group(&mut self) -> Option<(Option<Gtid>, u64, u64)> {
        let start = self.at;
        let (first, mut end) = self.event(start)?;
        let (gtid, standalone) = match first {
            Seen::Gtid(gtid, standalone) => (gtid, standalone),
            Seen::Head => {
                self.at = end;
                return Some((None, start, end));
            }
            _ => return None,
        };
        loop {
            let (seen, next) = self.event(end)?;
            end = next;
            match seen {
                Seen::Xid => break,
                Seen::Query(ends) if ends || standalone => break,
                Seen::Gtid(..) | Seen::Head | Seen::List(_) => return None,
                _ => {}
            }
        }
        self.at = end;
        Some((Some(gtid), start, end))
    }
}
