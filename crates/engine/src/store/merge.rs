//! A checkpoint's entries on their way into the base.
//!
//! redb reads and writes every page of a transaction once more when it commits, for the checksums. What did not fit its
//! memory would go to the disk twice. So a merge whose pages begin to leave memory is cut into transactions that are not
//! durable; the last one is, and makes all of them durable together. A crash before it leaves nothing of them. Nor does an
//! orderly end of the process: [`crate::store::room::Room::set_partial`].

use crate::catalog::names::Catalog;
use crate::key::FullKey;
use crate::store::base::{Base, Bytes, META, base_err, table_name};
use crate::store::damage::LOST;
use crate::store::entry::Payload;
use crate::store::part::Store;
use crate::{EngineError, Result};
use redb::{TableDefinition, TableHandle, WriteTransaction};
use std::time::{Duration, Instant};

/// Entries that are put into the base together, at most: they touch an eighth of the pages that memory holds.
const BATCH: u64 = 128;
/// Bytes of rows that are enough for a batch.
const BATCH_BYTES: u64 = 1 << 20;
/// Bytes of a page of the base.
const PAGE: u64 = 4096;

/// Is told how far a merge is.
pub(crate) trait Progress {
    /// So many more entries are in the base.
    fn merged(&self, entries: u64);
    /// A transaction of the base was ended before its time.
    fn cut(&self);
    /// Whether the merge may take its time.
    fn has_time(&self) -> bool;
}

/// Puts entries into the base.
pub(crate) struct Merger<'a> {
    store: &'a Store,
    progress: &'a dyn Progress,
    /// The indexes that there are.
    live: ahash::HashSet<u32>,
    /// Always there, but for a failed cut.
    txn: Option<WriteTransaction>,
    batch: Vec<(u32, FullKey, u64, Payload)>,
    batch_size: usize,
    batch_bytes: u64,
    value: Vec<u8>,
    /// Bytes written to the base when the transaction began, and after how many more it is cut.
    written: u64,
    cut_after: u64,
}

/// The longest pause between two pieces.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// How long to pause behind a piece: as long as it took, if that was work. One that took seconds waited for the disk, or the
/// process was stopped meanwhile, and writers may need the room before the same time has passed again.
fn pause(took: Duration) -> Duration {
    took.min(LONGEST_PAUSE)
}

/// Begins a transaction that drops the tables of indexes that are gone. If a damaged page hides which pages a table has,
/// the table is set aside under another name: its room is lost until the base is made anew, and nobody reads it again.
fn begin(base: &Base, live: &ahash::HashSet<u32>) -> Result<WriteTransaction> {
    let mut lost: Vec<String> = Vec::new();
    'again: loop {
        let txn = base.redb.begin_write().map_err(base_err)?;
        let names: Vec<String> = (txn.list_tables().map_err(base_err)?)
            .map(|t| t.name().to_owned())
            .collect();
        for name in names {
            let id = name.strip_prefix('i').and_then(|n| n.parse::<u32>().ok());
            if id.is_none_or(|id| live.contains(&id)) {
                continue;
            }
            let table = TableDefinition::<Bytes, Bytes>::new(&name);
            if lost.contains(&name) {
                let aside = format!("{LOST}{name}");
                let aside = TableDefinition::<Bytes, Bytes>::new(&aside);
                txn.rename_table(table, aside).map_err(base_err)?;
                continue;
            }
            match txn.delete_table(table).map_err(base_err) {
                Ok(_) => {}
                Err(e @ EngineError::Damaged { .. }) => {
                    tracing::warn!("a dropped index leaves its room in the base unused: {e}");
                    txn.abort().map_err(base_err)?;
                    lost.push(name);
                    continue 'again;
                }
                Err(e) => return Err(e),
            }
        }
        return Ok(txn);
    }
}

impl<'a> Merger<'a> {
    /// Begins, and drops the tables of indexes that are gone.
    pub(crate) fn new(
        store: &'a Store,
        progress: &'a dyn Progress,
        catalog: &Catalog,
    ) -> Result<Self> {
        let cache = store.base.cache;
        let batch_size = (cache / PAGE / 8).clamp(1, BATCH) as usize;
        let live: ahash::HashSet<u32> = catalog.index_ids().collect();
        let txn = begin(&store.base, &live)?;
        Ok(Merger {
            store,
            progress,
            live,
            txn: Some(txn),
            batch: Vec::with_capacity(batch_size),
            batch_size,
            batch_bytes: 0,
            value: Vec::new(),
            written: store.base.room.written(),
            // All that leaves memory before the first cut is of this transaction.
            cut_after: cache / 64,
        })
    }

    /// Adds an entry. They come in key order within each index, older layers first.
    pub(crate) fn put(&mut self, index: u32, key: &[u8], seq: u64, payload: Payload) -> Result<()> {
        self.batch_bytes += payload.heap_bytes();
        self.batch.push((index, key.into(), seq, payload));
        if self.batch.len() < self.batch_size && self.batch_bytes < BATCH_BYTES {
            return Ok(());
        }
        let began = Instant::now();
        self.flush()?;
        if self.progress.has_time() {
            // A thread that computes without a break makes those wait that answer clients.
            std::thread::sleep(pause(began.elapsed()));
        }
        if self.store.base.room.written() - self.written >= self.cut_after {
            self.cut()?;
        }
        Ok(())
    }

    fn txn(&mut self) -> Result<&mut WriteTransaction> {
        (self.txn.as_mut())
            .ok_or_else(|| EngineError::Io("a merge went on behind its failure".into()))
    }

    fn flush(&mut self) -> Result<()> {
        let (batch, mut value) = (
            std::mem::take(&mut self.batch),
            std::mem::take(&mut self.value),
        );
        for entries in batch.chunk_by(|a, b| a.0 == b.0) {
            let index = entries[0].0;
            if !self.live.contains(&index) {
                continue; // dropped meanwhile
            }
            let name = table_name(index);
            // Names the index in an error.
            let base = self.store.state.load().base.clone();
            let mut table = (self.txn()?)
                .open_table(TableDefinition::<Bytes, Bytes>::new(&name))
                .map_err(|e| base.failed(index, e))?;
            for (_, key, seq, payload) in entries {
                let key = key.as_slice();
                match payload {
                    Payload::Tombstone => table.remove(key).map(drop),
                    Payload::Present => table.insert(key, [].as_slice()).map(drop),
                    Payload::Row(row) => {
                        value.clear();
                        value.extend_from_slice(&seq.to_le_bytes());
                        value.extend_from_slice(row);
                        table.insert(key, value.as_slice()).map(drop)
                    }
                }
                .map_err(|e| base.failed(index, e))?;
            }
        }
        self.progress.merged(batch.len() as u64);
        (self.batch, self.value) = (batch, value);
        self.batch.clear();
        self.batch_bytes = 0;
        Ok(())
    }

    /// Ends the transaction, not durably, and begins another.
    fn cut(&mut self) -> Result<()> {
        self.store.base.room.set_partial(true);
        self.progress.cut();
        if let Some(mut txn) = self.txn.take() {
            txn.set_durability(redb::Durability::None)
                .map_err(|e| EngineError::Io(format!("base file: {e}")))?;
            txn.commit().map_err(base_err)?;
        }
        self.txn = Some(self.store.base.redb.begin_write().map_err(base_err)?);
        self.written = self.store.base.room.written();
        // What leaves memory first is of the transaction before, which has its checksums.
        self.cut_after = self.store.base.cache / 4;
        Ok(())
    }

    /// Stores what the base says about itself (`meta`, and what `beside` writes), and makes everything durable.
    pub(crate) fn finish(
        mut self,
        meta: &[u8],
        beside: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<()> {
        self.flush()?;
        let txn = self.txn()?;
        beside(txn)?;
        {
            let mut table = txn.open_table(META).map_err(base_err)?;
            table.insert("checkpoint", meta).map_err(base_err)?;
        }
        txn.set_quick_repair(true);
        if let Some(txn) = self.txn.take() {
            txn.commit().map_err(base_err)?;
        }
        self.store.base.room.set_partial(false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_as_long_as_the_work_but_never_long() {
        let ms = Duration::from_millis;
        assert_eq!(pause(ms(3)), ms(3));
        // The process was stopped for seconds: it must not stand still for as long again.
        assert_eq!(pause(ms(7000)), LONGEST_PAUSE);
    }
}
