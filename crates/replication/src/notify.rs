//! The thread that wakes sleeping dumps when there is more in the log. Committers know nothing of them.

use crate::source::Shared;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long a wait lasts at most; then the thread looks whether it is needed any more.
const WAIT: Duration = Duration::from_secs(1);

/// Starts the thread; false if there can be none.
pub(crate) fn start(shared: &Arc<Shared>) -> bool {
    let weak = Arc::downgrade(shared);
    let spawned = std::thread::Builder::new()
        .name("binlog-readers".into())
        .stack_size(256 << 10)
        .spawn(move || run(&weak));
    match spawned {
        Ok(_) => true,
        Err(e) => {
            tracing::error!("readers of the binary log will not hear of commits: no thread: {e}");
            false
        }
    }
}

fn run(shared: &Weak<Shared>) {
    let mut lsn = 0;
    while let Some(shared) = shared.upgrade() {
        let before = lsn;
        // Where commits do not wait for a sync, this makes durable what dumps wait for: nothing else leaves.
        let now = shared.db.wait_readable(lsn, WAIT);
        let mut readers = shared.readers.lock();
        match now {
            Ok(now) => lsn = now,
            // The log has ended or has failed: nothing more will come.
            Err(_) => {
                readers.watched = false;
                return;
            }
        }
        if readers.all.is_empty() {
            readers.watched = false;
            return;
        }
        if lsn > before {
            for reader in readers.all.values() {
                reader.rouse();
            }
        }
    }
}
