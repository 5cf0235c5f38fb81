//! What all connections share.

use crate::auth::rsa_key::RsaKey;
use crate::auth::sha2;
use crate::backend::Backend;
use crate::kill::KillHandle;
use crate::parked::Parked;
use crate::processors::Processors;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) sha2: sha2::Cache,
    pub(crate) rsa: RsaKey,
    pub(crate) parked: Parked,
    pub(crate) connections: Mutex<HashMap<u32, Arc<KillHandle>>>,
    pub(crate) ended: Condvar,
    pub(crate) next_id: AtomicU32,
    pub(crate) stopping: AtomicBool,
    pub(crate) thread_stack: usize,
    pub(crate) processors: Option<Arc<Processors>>,
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Handles of all connections that `wanted` chooses.
    pub(crate) fn handles(&self, wanted: impl Fn(&KillHandle) -> bool) -> Vec<Arc<KillHandle>> {
        let all = self.connections.lock();
        all.values().filter(|k| wanted(k)).cloned().collect()
    }
}
