//! Backups whose connection broke, for a while.

use narwal_engine::backup::Backup;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long a backup whose connection broke is kept.
const KEPT: Duration = Duration::from_secs(600);

/// By the token that names each, with the time until which it is kept.
type Kept = Mutex<HashMap<String, (Backup, Instant)>>;

/// Backups whose connection broke.
#[derive(Debug, Default)]
pub(crate) struct Parked(Arc<Kept>);

impl Parked {
    /// Keeps a backup until somebody takes it up again, or the time is over.
    pub(crate) fn put(&self, token: String, backup: Backup) {
        let until = Instant::now() + KEPT;
        self.0.lock().insert(token.clone(), (backup, until));
        let weak: Weak<Kept> = Arc::downgrade(&self.0);
        let reaper = std::thread::Builder::new()
            .name("narwal-backup".into())
            .spawn(move || {
                std::thread::sleep(KEPT);
                if let Some(kept) = weak.upgrade() {
                    let now = Instant::now();
                    kept.lock().retain(|_, (_, t)| *t > now);
                }
            });
        if let Err(e) = reaper {
            tracing::warn!("a broken backup is not kept: {e}");
            self.0.lock().remove(&token);
        }
    }

    /// Takes a backup up again.
    pub(crate) fn take(&self, token: &str) -> Option<Backup> {
        self.0.lock().remove(token).map(|(backup, _)| backup)
    }
}
