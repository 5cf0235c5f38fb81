//! The catalog that all share, and how it changes.

use crate::catalog::names::Catalog;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The catalog's versions that count now.
pub(crate) struct Catalogs {
    /// What sessions see: every DDL in it is durable.
    pub(crate) current: ArcSwap<Catalog>,
    /// The version of `current`, for statements that only ask whether their plan is still good: a load, where `current` takes
    /// a lease. It rises behind `current`, before the DDL statement is answered.
    version: AtomicU64,
    /// With the DDL that has a place in the log and may not be durable yet.
    pub(crate) latest: Mutex<Arc<Catalog>>,
    /// Held by the one DDL statement that runs.
    pub(crate) serial: Mutex<()>,
}

impl Catalogs {
    pub(crate) fn new(catalog: Catalog) -> Self {
        let catalog = Arc::new(catalog);
        Catalogs {
            version: AtomicU64::new(catalog.version),
            current: ArcSwap::new(catalog.clone()),
            latest: Mutex::new(catalog),
            serial: Mutex::new(()),
        }
    }

    /// Lets sessions see the catalog of a DDL that is durable and visible.
    pub(crate) fn publish(&self, after: &Arc<Catalog>) {
        self.current.rcu(|c| {
            if c.version < after.version {
                after.clone()
            } else {
                c.clone()
            }
        });
        self.version.fetch_max(after.version, Ordering::Release);
    }

    /// The version of the catalog that sessions see.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}
