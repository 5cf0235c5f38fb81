//! The flat files of an open database: the log's second stage.

use crate::classic::files::{index_path, io, remove};
use crate::classic::tail::Tail;
use crate::groups::reader::GroupReader;
use crate::groups::records::Records;
use crate::record::annex::split_record;
use crate::record::state::{StateReason, StateRecord};
use crate::{EngineError, Result};
use narwal_binlog::{
    GtidState, MAGIC, VirtualConfig, VirtualFiles, format_description_event, gtid_list_event,
    gtid_list_event_len, rotate_event,
};
use narwal_log::{Disk, DiskFile, LogError, LogRecords, Lsn, RecordKind, RecordRef, SecondLog};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Version in a file's head, as the server's streams have it: readers choose MariaDB's dialect by it.
const VERSION: &str = concat!("10.11.0-MariaDB-narwal-", env!("CARGO_PKG_VERSION"));
/// A large group is copied in pieces of about so many bytes.
const PIECE: usize = 1 << 20;

/// The flat files of an open database.
#[derive(Debug)]
pub(crate) struct FlatBinlog {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    /// `sync_binlog`: a sync after so many groups of commits; 0: the operating system decides.
    sync_every: AtomicU32,
    writer: Mutex<Writer>,
    /// The engine's log, for transactions whose events stand in chunks.
    log: OnceLock<LogRecords>,
    syncs: AtomicU64,
    writes: AtomicU64,
    bytes: AtomicU64,
}

/// What advances with the files.
#[derive(Debug)]
struct Writer {
    /// Where the next group goes.
    files: VirtualFiles,
    /// The current file: its number, itself, its length.
    number: u32,
    file: Arc<dyn DiskFile>,
    len: u64,
    /// Groups of commits since the last sync.
    unsynced: u32,
    /// The numbers of all files, in order.
    numbers: Vec<u32>,
}

/// A file of the binary log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlatFile {
    pub(crate) number: u32,
    pub(crate) len: u64,
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FlatStats {
    pub(crate) syncs: u64,
    pub(crate) writes: u64,
    pub(crate) bytes: u64,
}

/// The head of a file: magic, format description, the GTIDs before it.
fn head(config: &VirtualConfig, time: u32, before: &GtidState) -> Vec<u8> {
    let server = config.server_id;
    let mut bytes = MAGIC.to_vec();
    let end = (bytes.len() + narwal_binlog::FDE_LEN) as u32;
    bytes.extend(format_description_event(VERSION, server, time, 0, end, 0));
    let end = end + gtid_list_event_len(before.len()) as u32;
    bytes.extend(gtid_list_event(before, 0, server, time, end, 0));
    bytes
}

/// Makes a file with its head, durable but for its name.
fn create_file(
    disk: &dyn Disk,
    path: &Path,
    config: &VirtualConfig,
    before: &GtidState,
) -> Result<(Arc<dyn DiskFile>, u64)> {
    let head = head(config, crate::clock::now(), before);
    let made = || {
        let file = disk.create(path)?;
        file.write_at(&head, 0)?;
        file.sync_data()?;
        Ok(file)
    };
    let file = made().map_err(|e| io(path, &e))?;
    Ok((file, head.len() as u64))
}

/// Writes the index: the names of the files, in order. Durable, with the names of the files, when it returns.
fn write_index(disk: &dyn Disk, dir: &Path, files: &VirtualFiles, numbers: &[u32]) -> Result<()> {
    let path = index_path(dir, files.config());
    let new = dir.join(format!("{}.index.new", files.config().base_name));
    let text: String = (numbers.iter())
        .map(|n| format!("./{}\n", files.file_name(*n)))
        .collect();
    let written = || {
        let file = disk.create(&new)?;
        file.write_at(text.as_bytes(), 0)?;
        file.sync_data()?;
        disk.rename(&new, &path)?;
        disk.sync_dir(dir)
    };
    written().map_err(|e| io(&path, &e))
}

impl FlatBinlog {
    /// Begins the files of a new database, `files` being its first state.
    pub(crate) fn create(disk: &Arc<dyn Disk>, dir: &Path, files: &VirtualFiles) -> Result<()> {
        let first = files.file_no();
        let path = dir.join(files.current_file());
        create_file(&**disk, &path, files.config(), files.gtids())?;
        write_index(&**disk, dir, files, &[first])
    }

    /// Goes on behind `tail`; the engine's log stands at `files`.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        files: VirtualFiles,
        tail: &Tail,
        sync_every: u32,
    ) -> Result<Self> {
        let path = dir.join(files.file_name(tail.number));
        let file = disk.open(&path).map_err(|e| io(&path, &e))?;
        Ok(FlatBinlog {
            disk,
            dir: dir.to_owned(),
            sync_every: AtomicU32::new(sync_every),
            writer: Mutex::new(Writer {
                files,
                number: tail.number,
                file,
                len: tail.end,
                unsynced: 0,
                numbers: tail.numbers.clone(),
            }),
            log: OnceLock::new(),
            syncs: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// Hands over the way to records of the engine's log.
    pub(crate) fn set_log(&self, log: LogRecords) {
        let _ = self.log.set(log);
    }

    /// `sync_binlog`.
    pub(crate) fn set_sync_every(&self, groups: u32) {
        self.sync_every.store(groups, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> FlatStats {
        FlatStats {
            syncs: self.syncs.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Where the last group that is in the files ends: the file's name, its length, the GTIDs.
    pub(crate) fn position(&self) -> (String, u64, GtidState) {
        let w = self.writer.lock();
        (w.files.file_name(w.number), w.len, w.files.gtids().clone())
    }

    /// The files, oldest first.
    pub(crate) fn list(&self) -> Vec<FlatFile> {
        let w = self.writer.lock();
        let len = |n| {
            let path = self.dir.join(w.files.file_name(n));
            let file = self.disk.open_read(&path).and_then(|f| f.len());
            file.unwrap_or(0)
        };
        (w.numbers.iter().copied())
            .map(|number| FlatFile {
                number,
                len: if number == w.number {
                    w.len
                } else {
                    len(number)
                },
            })
            .collect()
    }

    /// Makes everything that was appended durable.
    pub(crate) fn sync(&self) -> Result<()> {
        let mut w = self.writer.lock();
        self.sync_file(&mut w)
    }

    fn sync_file(&self, w: &mut Writer) -> Result<()> {
        w.file
            .sync_data()
            .map_err(|e| io(&self.dir.join(w.files.file_name(w.number)), &e))?;
        w.unsynced = 0;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Writes `bufs` behind what is there.
    fn write(&self, w: &mut Writer, bufs: &mut Vec<&[u8]>) -> Result<()> {
        let bytes: usize = bufs.iter().map(|b| b.len()).sum();
        if bytes > 0 {
            w.file
                .write_vectored_at(bufs, w.len)
                .map_err(|e| io(&self.dir.join(w.files.file_name(w.number)), &e))?;
            w.len += bytes as u64;
            self.writes.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        bufs.clear();
        Ok(())
    }

    /// Ends the current file and begins `number`, behind the GTIDs `before`.
    fn rotate(&self, w: &mut Writer, number: u32, before: &GtidState) -> Result<()> {
        let (name, server) = (w.files.file_name(number), w.files.config().server_id);
        let event = |end| rotate_event(4, &name, server, crate::clock::now(), end, 0);
        let end = w.len + event(0).len() as u64;
        let event = event(u32::try_from(end).unwrap_or(0));
        self.write(w, &mut vec![&event])?;
        self.sync_file(w)?;
        let path = self.dir.join(&name);
        let (file, len) = create_file(&*self.disk, &path, w.files.config(), before)?;
        (w.file, w.len, w.number) = (file, len, number);
        w.numbers.push(number);
        write_index(&*self.disk, &self.dir, &w.files, &w.numbers)
    }

    /// Removes files before `oldest`.
    fn purge(&self, w: &mut Writer, oldest: u32) -> Result<()> {
        let kept = w.numbers.partition_point(|n| *n < oldest);
        let gone: Vec<u32> = w.numbers.drain(..kept).collect();
        write_index(&*self.disk, &self.dir, &w.files, &w.numbers)?;
        for number in gone {
            remove(&*self.disk, &self.dir.join(w.files.file_name(number)))?;
        }
        Ok(())
    }

    fn state(&self, w: &mut Writer, record: &RecordRef<'_>) -> Result<()> {
        let r = StateRecord::parse(w.files.config().clone(), record.body)?;
        if r.files.file_no() > w.number {
            self.rotate(w, r.files.file_no(), r.files.gtids())?;
        }
        w.files = r.files;
        if r.reason == StateReason::Purge {
            self.purge(w, r.oldest_file.min(w.number))?;
        }
        Ok(())
    }

    fn append_group(
        &self,
        group: &[RecordRef<'_>],
        durable: &dyn Fn() -> std::result::Result<(), LogError>,
    ) -> Result<()> {
        let mut writer = self.writer.lock();
        let w = &mut *writer;
        let mut bufs: Vec<&[u8]> = Vec::with_capacity(group.len());
        let mut wrote = false;
        for r in group {
            match r.kind {
                RecordKind::State => {
                    self.write(w, &mut bufs)?;
                    self.state(w, r)?;
                    continue;
                }
                kind if kind.is_local() => continue,
                _ => {}
            }
            wrote = true;
            let parts = split_record(r.kind, r.body)?;
            let sent = parts.annex.oob.as_ref().map_or(0, |o| o.events_len);
            let large = (sent > 0).then(|| w.files.clone());
            let placed = w
                .files
                .observe_len(parts.events, parts.events.len() as u64 + sent)
                .map_err(|e| EngineError::Corrupt(e.to_string()))?;
            if placed.file_no > w.number {
                self.write(w, &mut bufs)?;
                let gtids = w.files.gtids_at_file_start().cloned().unwrap_or_default();
                self.rotate(w, placed.file_no, &gtids)?;
            }
            match large {
                None => bufs.push(parts.events),
                Some(files) => {
                    self.write(w, &mut bufs)?;
                    self.copy_large(w, r, files, durable)?;
                }
            }
        }
        self.write(w, &mut bufs)?;
        let every = self.sync_every.load(Ordering::Relaxed);
        if wrote && every > 0 {
            w.unsynced += 1;
            if w.unsynced >= every {
                self.sync_file(w)?;
            }
        }
        Ok(())
    }

    /// Copies a transaction whose events stand in chunks of the engine's log: as the classic design copies its cache at
    /// the commit.
    fn copy_large(
        &self,
        w: &mut Writer,
        record: &RecordRef<'_>,
        before: VirtualFiles,
        durable: &dyn Fn() -> std::result::Result<(), LogError>,
    ) -> Result<()> {
        durable()?;
        let Some(log) = self.log.get() else {
            return Err(EngineError::Io("the engine's log is not open yet".into()));
        };
        let one = OneRecord {
            record: Some(*record),
            log,
        };
        let mut reader = GroupReader::new(one, before.config().clone(), Some(before));
        reader.next_group()?;
        let mut piece = Vec::with_capacity(PIECE);
        while let Some(event) = reader.next_event()? {
            piece.extend_from_slice(event);
            if piece.len() >= PIECE {
                self.write(w, &mut vec![&piece])?;
                piece.clear();
            }
        }
        self.write(w, &mut vec![&piece])
    }
}

impl SecondLog for FlatBinlog {
    fn append(
        &self,
        group: &[RecordRef<'_>],
        durable: &dyn Fn() -> std::result::Result<(), LogError>,
    ) -> std::result::Result<(), String> {
        self.append_group(group, durable)
            .map_err(|e| format!("the binary log file can't be written: {e}"))
    }
}

/// One record and, by place, all others of the log.
struct OneRecord<'a> {
    record: Option<RecordRef<'a>>,
    log: &'a LogRecords,
}

impl Records for OneRecord<'_> {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        Ok(self.record.take())
    }

    fn read_at(&mut self, lsn: Lsn, buf: &mut Vec<u8>) -> Result<RecordKind> {
        Ok(self.log.read_at(lsn, buf)?.kind)
    }
}
