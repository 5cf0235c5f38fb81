//! From where on the log is kept for transactions that have chunks in it.

use narwal_log::Lsn;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// First LSNs of transactions whose chunks must stay: retention looks here.
#[derive(Debug, Default)]
pub(crate) struct OobRegistry {
    holds: Mutex<BTreeMap<Lsn, usize>>,
}

impl OobRegistry {
    /// Keeps the log from `lsn` on until the hold is dropped.
    pub(crate) fn hold(self: &Arc<Self>, lsn: Lsn) -> OobHold {
        *self.holds.lock().entry(lsn).or_default() += 1;
        OobHold {
            lsn,
            registry: self.clone(),
        }
    }

    /// The lowest LSN that is held.
    pub(crate) fn oldest(&self) -> Option<Lsn> {
        self.holds.lock().keys().next().copied()
    }
}

/// See [`OobRegistry::hold`].
#[derive(Debug)]
pub(crate) struct OobHold {
    lsn: Lsn,
    registry: Arc<OobRegistry>,
}

impl Drop for OobHold {
    fn drop(&mut self) {
        let mut holds = self.registry.holds.lock();
        debug_assert!(holds.contains_key(&self.lsn), "a hold was let go twice");
        if let Some(n) = holds.get_mut(&self.lsn) {
            *n -= 1;
            if *n == 0 {
                holds.remove(&self.lsn);
            }
        }
    }
}
