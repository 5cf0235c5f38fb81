//! The thread that reads the end of the log and wakes the readers.

use super::{PAUSE, WAIT};
use crate::shared::Shared;
use narwal_engine::{GroupReader, LiveRecords, Result};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Starts the thread; false if there can be none.
pub(crate) fn start(shared: &Arc<Shared>) -> bool {
    let weak = Arc::downgrade(shared);
    let spawned = std::thread::Builder::new()
        .name("narwal-tail".into())
        .stack_size(512 << 10)
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
    let mut reader = None;
    while let Some(shared) = shared.upgrade() {
        let pause = {
            let mut readers = shared.readers.lock();
            if readers.all.is_empty() {
                readers.watched = false;
                shared.tail.close();
                return;
            }
            !readers.all.values().any(|r| r.semi_sync())
        };
        if let Err(e) = step(&shared, &mut reader, pause) {
            tracing::debug!("the end of the log can't be read for its readers: {e}");
            reader = None;
            let mut readers = shared.readers.lock();
            shared.tail.close();
            // The log has ended or has failed: nothing more will come. Else readers find the error themselves.
            let over = shared.db.wait_readable(u64::MAX, Duration::ZERO).is_err();
            readers.watched = !over;
            for reader in readers.all.values() {
                reader.rouse();
            }
            if over {
                return;
            }
            drop(readers);
            std::thread::sleep(WAIT);
        }
    }
}

/// Delivers what is new, then waits until there is more.
fn step(shared: &Shared, reader: &mut Option<GroupReader<LiveRecords>>, pause: bool) -> Result<()> {
    let begun = reader.is_none();
    let reader = match reader {
        Some(reader) => reader,
        none => none.insert(shared.tail.restart(&shared.db)?),
    };
    // At the beginning too: one may have fallen asleep before where this reader began.
    if shared.tail.fill(reader)? || begun {
        for reader in shared.readers.lock().all.values() {
            reader.rouse();
        }
        if pause {
            std::thread::sleep(PAUSE);
        }
    }
    shared.db.wait_readable(reader.records().lsn(), WAIT)?;
    Ok(())
}
