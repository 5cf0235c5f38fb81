//! Recovery of positions, GTID state and index from the records behind a checkpoint.

use crate::binlog::index::{FileEntry, Index};
use crate::binlog::track::Track;
use crate::record::state::{StateReason, StateRecord};
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, VirtualFiles};
use narwal_log::{DirReader, Disk, RecordKind, RecordRef};
use std::path::Path;
use std::sync::Arc;

/// The binary log's state while records are replayed.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) files: VirtualFiles,
    pub(crate) track: Track,
    pub(crate) index: Index,
}

impl Replay {
    /// Before the record at `lsn`, behind commit `seq`: `files` is the state there. `stored` is the index and the
    /// current file as the checkpoint has stored them.
    pub(crate) fn new(
        files: VirtualFiles,
        lsn: u64,
        seq: u64,
        stored: Option<(Index, FileEntry)>,
    ) -> Self {
        let (track, index) = match stored {
            Some((index, current)) => (Track::stored(current, &index), index),
            None => (
                Track::new(&files, lsn, seq, crate::clock::now()),
                Index::default(),
            ),
        };
        Replay {
            files,
            track,
            index,
        }
    }

    /// The same for a base of an older version, which has no index: reads the log up to the checkpoint, once.
    pub(crate) fn rebuild(
        files: VirtualFiles,
        lsn: u64,
        seq: u64,
        disk: Arc<dyn Disk>,
        log_dir: &Path,
    ) -> Self {
        match Self::from_log(&files, lsn, disk, log_dir) {
            Ok(Some(replay)) => return replay,
            Ok(None) => {
                tracing::warn!("the log's head is gone: older binary log files are not listed")
            }
            Err(e) => tracing::warn!("older binary log files are not listed: {e}"),
        }
        let mut replay = Self::new(files, lsn, seq, None);
        // Not known what is before, so it stays until this file goes.
        replay.track.current.needed_lsn = 0;
        replay
    }

    fn from_log(
        files: &VirtualFiles,
        lsn: u64,
        disk: Arc<dyn Disk>,
        log_dir: &Path,
    ) -> Result<Option<Self>> {
        let mut replay = Self::new(
            VirtualFiles::new(files.config().clone()),
            narwal_log::FIRST_LSN,
            0,
            None,
        );
        let Some(mut log) = DirReader::open(disk, log_dir)? else {
            return Ok(None);
        };
        while let Some(record) = log.next()?.filter(|r| r.lsn < lsn) {
            if !record.kind.is_commit() || record.kind == RecordKind::LocalCommit {
                continue;
            }
            let Some(group) = crate::record::annex::event_group(record.kind, record.body) else {
                return Ok(None);
            };
            if replay
                .commit(&record, &group, group.len() as u64, 0)
                .is_err()
            {
                return Ok(None);
            }
        }
        let place = |f: &VirtualFiles| (f.file_no(), f.offset(), f.gtids().to_string());
        Ok((place(&replay.files) == place(files)).then_some(replay))
    }

    /// A commit with an event group of `len` bytes of which `events` holds at least the GTID event. `first_chunk`: LSN
    /// of its first chunk, 0 if it has none. Gives its GTID.
    pub(crate) fn commit(
        &mut self,
        record: &RecordRef<'_>,
        events: &[u8],
        len: u64,
        first_chunk: u64,
    ) -> Result<Gtid> {
        let damaged = |e: narwal_binlog::BinlogError| {
            EngineError::Corrupt(format!("log record at LSN {}: {e}", record.lsn))
        };
        let placement = self.files.observe_len(events, len).map_err(damaged)?;
        let time = events
            .first_chunk::<4>()
            .map_or(0, |t| u32::from_le_bytes(*t));
        let time = self.track.logged_at(time, crate::clock::now());
        self.track.group(
            &self.files,
            &placement,
            (record.lsn, record.seq),
            time,
            first_chunk,
        );
        Ok(placement.gtid)
    }

    /// A State record.
    pub(crate) fn state(&mut self, record: &RecordRef<'_>) -> Result<()> {
        let config = self.files.config().clone();
        let r = StateRecord::parse(config, record.body)
            .map_err(|e| EngineError::Corrupt(format!("log record at LSN {}: {e}", record.lsn)))?;
        if matches!(r.reason, StateReason::Interval | StateReason::Purge) && r.files != self.files {
            tracing::warn!(
                "the state record at LSN {} says {}:{} [{}], the groups before it make {}:{} [{}]; the record counts",
                record.lsn,
                r.files.current_file(),
                r.files.offset(),
                r.files.gtids(),
                self.files.current_file(),
                self.files.offset(),
                self.files.gtids()
            );
        }
        let same_file = r.files.file_no() == self.files.file_no();
        match r.reason {
            StateReason::Reset => self.index.clear(),
            StateReason::Set if same_file => {
                self.index.begin_anew(r.files.file_no(), record.lsn);
            }
            _ => {}
        }
        self.track.state(
            &r.files,
            r.reason,
            (record.lsn, record.seq),
            r.last_event_time,
        );
        self.track.times(&r);
        if r.oldest_file > self.track.oldest.0 {
            self.track.drain(&mut self.index);
            self.index.drop_before(r.oldest_file, r.oldest_lsn);
            self.track.oldest = (r.oldest_file, r.oldest_lsn);
        }
        self.files = r.files;
        Ok(())
    }
}
