//! The store's components at one moment, and snapshots of them.

use crate::Result;
use crate::key::FullKey;
use crate::store::base::BaseGen;
use crate::store::base_trait::ReadBase;
use crate::store::entry::Payload;
use crate::store::memtable::Memtable;
use crate::store::row::{Row, RowInner};
use crate::store::spilled::Spilled;
use smallvec::SmallVec;
use std::sync::Arc;

/// A component between the active memtable and the base. It is not written any more, except that commits which took
/// their place before it was covered may still be putting their rows into a memtable.
#[derive(Clone)]
pub(crate) enum Layer {
    /// A memtable that was active once.
    Memtable(Arc<Memtable>),
    /// The write set of a huge transaction.
    Spilled(Arc<Spilled>),
}

impl Layer {
    /// Whether it is this very one.
    pub(crate) fn is(&self, other: &Layer) -> bool {
        match (self, other) {
            (Layer::Memtable(a), Layer::Memtable(b)) => Arc::ptr_eq(a, b),
            (Layer::Spilled(a), Layer::Spilled(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Number of keys.
    pub(crate) fn entries(&self) -> u64 {
        match self {
            Layer::Memtable(m) => m.keys(),
            Layer::Spilled(s) => s.map.len() as u64 + s.runs.entries(),
        }
    }

    /// Memory, bytes.
    pub(crate) fn memory(&self) -> u64 {
        match self {
            Layer::Memtable(m) => m.bytes(),
            Layer::Spilled(s) => s.map_bytes,
        }
    }
}

/// Active memtable, older layers that a checkpoint has not merged yet (newest first), and the base below them.
///
/// Every commit in a layer comes before every commit in the layers above it.
pub(crate) struct State {
    pub(crate) active: Arc<Memtable>,
    pub(crate) older: SmallVec<[Layer; 2]>,
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
        let mut hit = self.active.get(key, index, seq);
        if hit.is_none() {
            for layer in &self.older {
                hit = match layer {
                    Layer::Memtable(m) => m.get(key, index, seq),
                    Layer::Spilled(s) if s.seq <= seq => s.get(key)?.map(|p| (s.seq, p)),
                    Layer::Spilled(_) => None,
                };
                if hit.is_some() {
                    break;
                }
            }
        }
        if let Some((at, payload)) = hit {
            debug_assert!(at <= seq, "a version from behind the snapshot");
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

    /// Memory of the memtables, bytes.
    pub(crate) fn memtable_bytes(&self) -> u64 {
        self.active.bytes() + self.older.iter().map(Layer::memory).sum::<u64>()
    }

    /// The same with a fresh active memtable on top, and `middle` between it and the one that was active.
    pub(crate) fn covered(&self, fresh: Arc<Memtable>, middle: Option<Layer>) -> State {
        debug_assert!(
            !Arc::ptr_eq(&fresh, &self.active),
            "a memtable covers itself"
        );
        let mut older = SmallVec::with_capacity(self.older.len() + 2);
        older.extend(middle);
        older.push(Layer::Memtable(self.active.clone()));
        older.extend(self.older.iter().cloned());
        State {
            active: fresh,
            older,
            base: self.base.clone(),
        }
    }
}
