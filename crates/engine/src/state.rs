//! The store's components at one moment, and snapshots of them.

use crate::Result;
use crate::base::BaseGen;
use crate::memtable::{FullKey, Memtable, Payload};
use crate::txn::{Row, RowInner};
use std::sync::Arc;

/// Active memtable, frozen memtable while a checkpoint runs, and the base below them.
pub(crate) struct State {
    pub(crate) active: Arc<Memtable>,
    pub(crate) frozen: Option<Arc<Memtable>>,
    pub(crate) base: Arc<BaseGen>,
}

/// A sequence number with the components that hold every version up to it.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) seq: u64,
    pub(crate) state: Arc<State>,
}

impl State {
    /// The newest version of a clustered key at or below `seq`: its sequence number and row (`None`: deleted).
    #[inline]
    pub(crate) fn get(
        &self,
        index: u32,
        key: &FullKey,
        seq: u64,
    ) -> Result<Option<(u64, Option<Row>)>> {
        let hit = self
            .active
            .get(key, index, seq)
            .or_else(|| self.frozen.as_ref().and_then(|f| f.get(key, index, seq)));
        if let Some((at, payload)) = hit {
            let row = match payload {
                Payload::Row(r) => Some(Row(RowInner::Memory(r))),
                _ => None,
            };
            return Ok(Some((at, row)));
        }
        match self.base.get(index, &key[4..])? {
            Some(b) => {
                let at = b.parts()?.0;
                Ok(Some((at, Some(Row(RowInner::Base(b))))))
            }
            None => Ok(None),
        }
    }

    /// True if the newest version of a clustered key is a row.
    pub(crate) fn exists(&self, index: u32, key: &FullKey) -> Result<bool> {
        Ok(matches!(
            self.get(index, key, u64::MAX)?,
            Some((_, Some(_)))
        ))
    }

    /// Memory of the memtables, bytes.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.active.bytes() + self.frozen.as_ref().map_or(0, |f| f.bytes())
    }
}
