//! Out-of-band transactions: what grows too large for one commit record goes to the log, and out of memory, while the
//! transaction runs.
//!
//! - **Chunks.** When the finished events of a transaction pass `binlog_oob_threshold` they are sent to the log as Chunk
//!   records. Other commits interleave. The commit record names the chunks (see [`crate::groups`] for the bytes), so its
//!   size and the time of the commit do not depend on the size of the transaction. Chunks that no commit names are dead.
//! - **Spill.** When the write set passes its share of memory it is written to a run file ([`crate::writeset`]). A commit
//!   record that names runs needs no replay of what is in them: recovery opens them and replays only the chunks since
//!   the last spill. If a run is missing or damaged, the chunks say it all again.
//! - **Places to roll back to.** Chunks and runs end at every savepoint that is alive, so that a rollback drops whole
//!   chunks and whole runs.

use crate::Result;
use crate::record::chunk::CHUNK_HEAD_LEN;
use crate::record::packed::{CHUNK_PACKED, pack_events};
use crate::store::writeset::SpillEnd;
use crate::txn::events::{Oob, SentChunk};
use crate::txn::savepoint::SavepointAt;
use crate::txn::transaction::Transaction;
use narwal_log::{HEADER_LEN, Lsn, RecordKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of events in a chunk, about, once a transaction is out of band: larger ones hold up small commits behind them.
const CHUNK_BYTES: u64 = 256 << 10;
/// A commit record names up to this many chunks itself.
pub(crate) const CHUNKS_IN_COMMIT: usize = 128;
/// Bytes of events in memory from which on no event waits for another. Far from what one record takes.
const MUCH: u64 = 64 << 20;
/// Entries of one ChunkIndex record.
pub(crate) const CHUNKS_IN_INDEX: usize = 4096;

impl Transaction {
    /// Sends events and writes out of memory if they have outgrown it. Called before a row change.
    #[inline]
    pub(crate) fn make_room(&mut self) -> Result<()> {
        let drainable = match &self.events.builder {
            Some(b) => b.drainable() as u64,
            None => return Ok(()),
        };
        let large = self.writes.bytes() > self.db.store.runs.limit;
        let mut threshold = self.db.settings.oob_threshold.load(Ordering::Relaxed);
        if self.events.oob.is_some() {
            threshold = threshold.min(CHUNK_BYTES);
        }
        if drainable <= threshold && !large {
            return Ok(());
        }
        if drainable > 0 {
            self.send_chunks()?;
        }
        if large && self.events.oob.is_some() {
            // What is spilled can't be asked for by key any more.
            self.settle_writes()?;
            self.spill()?;
        }
        if self.locks.names.len() > self.locks.spill_at {
            self.spill_locks()?;
        }
        Ok(())
    }

    /// After a row change: if much is in memory, what is finished goes without waiting for the next change. So no chunk
    /// and no commit record holds more than one event that is large by itself.
    #[inline]
    pub(crate) fn make_room_behind(&mut self) -> Result<()> {
        match &self.events.builder {
            Some(b) if b.events_len() - b.drained() > MUCH && b.drainable() > 0 => {
                self.send_chunks()
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn live_savepoints(&mut self) -> Vec<Arc<SavepointAt>> {
        self.undo.savepoints.retain(|s| s.strong_count() > 0);
        self.undo
            .savepoints
            .iter()
            .filter_map(|s| s.upgrade())
            .collect()
    }

    /// Sends all finished events to the log.
    fn send_chunks(&mut self) -> Result<()> {
        let live = self.live_savepoints();
        let Some(builder) = &self.events.builder else {
            return Ok(());
        };
        let from = builder.drained();
        let mut to = from + builder.drainable() as u64;
        // A savepoint in the middle of a rows event needs the event here.
        let marks = || {
            live.iter()
                .filter_map(|s| s.mark.as_ref().map(|m| (m, s.row_ids)))
        };
        for (m, _) in marks() {
            if let Some(start) = m.needs_from().filter(|s| *s >= from) {
                to = to.min(start);
            }
        }
        let ids_total = match self.events.row_ids_open {
            (Some(open), before) if Some(open) == builder.open_rows() => before,
            _ => self.row_ids_total(),
        };
        let mut cuts: Vec<(u64, u64)> = marks()
            .map(|(m, ids)| (m.position(), ids))
            .filter(|(p, _)| *p > from && *p < to)
            .collect();
        cuts.sort_unstable();
        cuts.dedup_by_key(|c| c.0);
        cuts.push((to, ids_total));
        for (to, ids) in cuts {
            self.send_chunk(to, ids)?;
        }
        Ok(())
    }

    /// Sends the events up to position `to`, with the row ids up to number `ids`, as one chunk.
    fn send_chunk(&mut self, to: u64, ids: u64) -> Result<()> {
        let Some(builder) = &mut self.events.builder else {
            return Ok(());
        };
        let from = builder.drained();
        if to <= from {
            return Ok(());
        }
        let ids =
            (ids.saturating_sub(self.events.row_ids_sent) as usize).min(self.events.row_ids.len());
        let len = (to - from) as usize;
        let packed = (self.db.options.compression.as_ref())
            .and_then(|how| pack_events(how, builder.front(len)));
        let body = CHUNK_HEAD_LEN + ids * 8 + packed.as_ref().map_or(len, Vec::len);
        let number = self.events.oob.as_ref().map_or(0, |o| o.chunks.len()) as u32;
        // A rollback may have dropped all earlier chunks: then this one is the first.
        let first = match &self.events.oob {
            Some(o) if number > 0 => o.first,
            _ => 0,
        };
        let mut buf = Vec::with_capacity(HEADER_LEN + body);
        buf.resize(HEADER_LEN, 0);
        let flags = if packed.is_some() { CHUNK_PACKED } else { 0 };
        buf.extend_from_slice(&[flags, 0, 0, 0]);
        buf.extend_from_slice(&number.to_le_bytes());
        buf.extend_from_slice(&first.to_le_bytes());
        buf.extend_from_slice(&(ids as u32).to_le_bytes());
        for id in &self.events.row_ids[..ids] {
            buf.extend_from_slice(&id.to_le_bytes());
        }
        buf.extend_from_slice(packed.as_deref().unwrap_or_else(|| builder.front(len)));
        // It need not be durable before the commit record is, and waits only while too many bytes of chunks are on
        // their way: that bounds memory, and what is left to sync at the commit.
        // If there is no room, nothing has been taken out of memory.
        // The first one is held where it gets its place: a checkpoint behind it, and a purge after that, can only come
        // later than the hold.
        let registry = self
            .events
            .oob
            .is_none()
            .then(|| self.db.binlog.oob.clone());
        let (at, (state_due, hold)) = (self.db.binlog.log).append_chunk(buf, |at, o| {
            (o.track.due(at.lsn), registry.map(|r| r.hold(at.lsn)))
        })?;
        self.events.row_ids.drain(..ids);
        self.events.row_ids_sent += ids as u64;
        builder.drain(len);
        debug_assert_eq!(builder.drained(), to);
        let lsn = at.lsn;
        let db = self.db.clone();
        let oob = self.events.oob.get_or_insert_with(|| Oob {
            first: lsn,
            chunks: Vec::new(),
            hold,
        });
        if number == 0 {
            // What is held back of the log, from an earlier first chunk on, is more than needed then.
            oob.first = lsn;
        }
        oob.chunks.push(SentChunk {
            lsn,
            len: len as u64,
            end: to,
        });
        if state_due {
            crate::binlog::write::state_due(&db.binlog);
        }
        let c = &db.counters;
        c.oob_chunks.fetch_add(1, Ordering::Relaxed);
        c.oob_bytes.fetch_add(len as u64, Ordering::Relaxed);
        db.pressure.note_log_growth(&db.binlog, lsn);
        db.pressure.slow_down(&db.store);
        Ok(())
    }

    /// Writes the write set to run files.
    fn spill(&mut self) -> Result<()> {
        let Some(oob) = &self.events.oob else {
            return Ok(());
        };
        let place = self.db.store.runs.place(oob.first, &self.options.interrupt);
        let Some(builder) = &self.events.builder else {
            return Ok(());
        };
        if builder.drainable() > 0 || self.events.local.is_some() {
            // Recovery could not tell what of the events in the commit record is in the runs.
            return Ok(());
        }
        let end = SpillEnd {
            writes: 0,
            events: builder.drained(),
            skip: builder.open_row_count(),
        };
        let live = self.live_savepoints();
        let ends: Vec<SpillEnd> = live
            .iter()
            .map(|s| SpillEnd {
                writes: s.writes,
                events: s.mark.as_ref().map_or(0, |m| m.position()),
                skip: 0,
            })
            .collect();
        let bytes = self.writes.spill(&place, &ends, end)?;
        // Now rather than at the commit, which should be quick.
        self.sync_run_names()?;
        let c = &self.db.counters;
        c.spills.fetch_add(1, Ordering::Relaxed);
        c.spill_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// [`make_room`](Self::make_room) of a transaction whose events are in the log already; `id` names its run files.
    pub(crate) fn make_room_redoing(&mut self, id: Lsn) -> Result<()> {
        if self.writes.bytes() > self.db.store.runs.limit {
            self.settle_writes()?;
            let place = self.db.store.runs.place(id, &None);
            self.writes.spill(&place, &[], SpillEnd::default())?;
        }
        if self.locks.names.len() > self.locks.spill_at {
            self.spill_locks()?;
        }
        Ok(())
    }

    /// Makes the names of the run files durable, which they must be before a commit record that counts on them.
    pub(crate) fn sync_run_names(&mut self) -> Result<()> {
        if self.writes.has_runs() && !self.writes.names_durable() {
            let dir = &self.db.store.runs.dir;
            (self.db.folder.disk.sync_dir(dir))
                .map_err(|e| crate::error::io_error("syncing", dir, &e))?;
            self.writes.set_names_durable();
        }
        Ok(())
    }

    /// Moves row locks out of memory.
    fn spill_locks(&mut self) -> Result<()> {
        self.locks.spilled = true;
        self.db.locks.spill(self.id, &mut self.locks.names)?;
        // Shared locks and those that others wait for stay: no new try before there are many more.
        self.locks.spill_at = self
            .db
            .store
            .runs
            .locks_in_memory()
            .max(self.locks.names.len() * 2);
        Ok(())
    }

    /// Names the chunks for the commit record; writes ChunkIndex records if they are many.
    pub(crate) fn name_chunks(&self) -> Result<Option<crate::record::chunk::Oob>> {
        let Some(oob) = self.events.oob.as_ref().filter(|o| !o.chunks.is_empty()) else {
            return Ok(None);
        };
        let mut named = crate::record::chunk::Oob {
            first: oob.chunks[0].lsn,
            events_len: oob.chunks.last().map_or(0, |c| c.end),
            row_ids: self.events.row_ids_sent,
            ..Default::default()
        };
        if oob.chunks.len() <= CHUNKS_IN_COMMIT {
            named.chunks = oob.chunks.iter().map(|c| (c.lsn, c.len)).collect();
            return Ok(Some(named));
        }
        for part in oob.chunks.chunks(CHUNKS_IN_INDEX) {
            let body = part.len() * 16;
            let (ticket, ()) =
                self.db
                    .binlog
                    .log
                    .reserve(RecordKind::ChunkIndex, body, |_, _| ())?;
            let mut buf = Vec::with_capacity(HEADER_LEN + body);
            buf.resize(HEADER_LEN, 0);
            for c in part {
                buf.extend_from_slice(&c.lsn.to_le_bytes());
                buf.extend_from_slice(&c.len.to_le_bytes());
            }
            named.index.push(ticket.lsn());
            self.db.binlog.log.fill(&ticket, buf);
        }
        Ok(Some(named))
    }
}
