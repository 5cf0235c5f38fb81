//! The base: one redb file, written by the checkpoint only.
//!
//! Every index is one redb table named `i<id>`. A clustered entry's value is the commit sequence number of its last
//! change (8 bytes, little-endian) followed by the row image; a secondary entry's value is empty. The table `meta`
//! holds one value, the [`crate::checkpoint::CheckpointMeta`] that says where replay starts.

use crate::{EngineError, Result};
use redb::{
    ReadOnlyTable, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition,
};
use std::ops::Bound;
use std::sync::Arc;

pub(crate) type Bytes = &'static [u8];
pub(crate) const META: TableDefinition<'static, &str, Bytes> = TableDefinition::new("meta");

/// Name of an index's table.
pub(crate) fn table_name(index: u32) -> String {
    format!("i{index}")
}

/// One generation of the base: a read transaction with its tables kept open (opening costs more than a read).
pub(crate) struct BaseGen {
    /// Every commit up to this sequence number is in it.
    pub(crate) seq: u64,
    tables: ahash::HashMap<u32, ReadOnlyTable<Bytes, Bytes>>,
}

/// A row in a page of the base. It keeps its generation's read transaction open: the page is not used again before.
pub(crate) struct BaseRow(redb::OwnedAccessGuard<Bytes>);

impl BaseRow {
    /// Sequence number and row image.
    pub(crate) fn parts(&self) -> Result<(u64, &[u8])> {
        split_value(self.0.value())
    }
}

/// Splits a clustered value.
pub(crate) fn split_value(v: &[u8]) -> Result<(u64, &[u8])> {
    v.split_first_chunk::<8>()
        .map(|(s, row)| (u64::from_le_bytes(*s), row))
        .ok_or_else(|| {
            EngineError::Corrupt("a base row is shorter than its sequence number".into())
        })
}

impl BaseGen {
    /// Opens the newest generation. `indexes`: ids of all indexes that may be read.
    pub(crate) fn open(
        db: &redb::Database,
        seq: u64,
        indexes: impl Iterator<Item = u32>,
    ) -> Result<Arc<BaseGen>> {
        let txn = db.begin_read().map_err(base_err)?;
        let mut tables = ahash::HashMap::default();
        for id in indexes {
            match txn.open_table(TableDefinition::<Bytes, Bytes>::new(&table_name(id))) {
                Ok(t) => {
                    tables.insert(id, t);
                }
                Err(redb::TableError::TableDoesNotExist(_)) => {}
                Err(e) => return Err(base_err(e)),
            }
        }
        Ok(Arc::new(BaseGen { seq, tables }))
    }

    /// Reads a clustered entry.
    #[inline]
    pub(crate) fn get(&self, index: u32, key: &[u8]) -> Result<Option<BaseRow>> {
        match self.tables.get(&index) {
            Some(t) => Ok(t.get_owned(key).map_err(base_err)?.map(BaseRow)),
            None => Ok(None),
        }
    }

    /// Scans.
    pub(crate) fn range(
        &self,
        index: u32,
        range: &crate::KeyRange,
    ) -> Result<Option<redb::Range<'static, Bytes, Bytes>>> {
        fn b(b: &Bound<Vec<u8>>) -> Bound<&[u8]> {
            b.as_ref().map(Vec::as_slice)
        }
        match self.tables.get(&index) {
            Some(t) => Ok(Some(
                t.range::<&[u8]>((b(&range.start), b(&range.end)))
                    .map_err(base_err)?,
            )),
            None => Ok(None),
        }
    }

    /// Calls `f` with the entries from `start` to `end`, both in the direction of the scan, until it says false; returns what
    /// it said last. The cursor that it uses costs a fifth less for each entry than the iterator of [`BaseGen::range`].
    pub(crate) fn walk<E: From<EngineError>>(
        &self,
        index: u32,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        reverse: bool,
        mut f: impl FnMut(&[u8], &[u8]) -> std::result::Result<bool, E>,
    ) -> std::result::Result<bool, E> {
        let Some(t) = self.tables.get(&index) else {
            return Ok(true);
        };
        let mut cursor = if reverse {
            t.upper_bound(start)
        } else {
            t.lower_bound(start)
        }
        .map_err(base_err)?;
        loop {
            let item = if reverse {
                cursor.prev()
            } else {
                cursor.next()
            };
            let Some((k, v)) = item.map_err(base_err)? else {
                return Ok(true);
            };
            let key = k.value();
            let within = match (end, reverse) {
                (Bound::Unbounded, _) => true,
                (Bound::Included(e), false) => key <= e,
                (Bound::Excluded(e), false) => key < e,
                (Bound::Included(e), true) => key >= e,
                (Bound::Excluded(e), true) => key > e,
            };
            if !within {
                return Ok(true);
            }
            if !f(key, v.value())? {
                return Ok(false);
            }
        }
    }

    /// The last key of an index up to a bound.
    pub(crate) fn last_key(&self, index: u32, end: Bound<&[u8]>) -> Result<Option<Vec<u8>>> {
        let Some(t) = self.tables.get(&index) else {
            return Ok(None);
        };
        let last = t.upper_bound(end).map_err(base_err)?.prev();
        Ok(last.map_err(base_err)?.map(|(k, _)| k.value().to_vec()))
    }

    /// Number of entries of an index.
    pub(crate) fn len(&self, index: u32) -> Result<u64> {
        self.tables
            .get(&index)
            .map_or(Ok(0), |t| t.len().map_err(base_err))
    }
}

/// Any redb error as ours.
pub(crate) fn base_err(e: impl Into<redb::Error>) -> EngineError {
    match e.into() {
        redb::Error::Corrupted(m) => EngineError::Corrupt(format!("base file: {m}")),
        redb::Error::Io(e) if e.raw_os_error() == Some(libc::ENOSPC) => {
            EngineError::DiskFull("base file".into())
        }
        e => EngineError::Io(format!("base file: {e}")),
    }
}
