//! The base's writer: whether it waits for room on the disk, and who copies the file beside it.

use crate::store::dirty::Dirty;
use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// What happens when the disk is full in the middle of a checkpoint.
///
/// redb takes a failed write as the end of the file's use, reads included. So the writer (there is one, the checkpoint)
/// waits for room instead of failing. Meanwhile the answer to everyone is that the disk is full.
#[derive(Debug, Default)]
pub(crate) struct Room {
    waits: AtomicBool,
    full: Mutex<Option<String>>,
    pub(crate) written: AtomicU64,
    /// Backups that copy the base just now, and whether there may be any.
    copies: Mutex<Vec<Weak<Dirty>>>,
    copied: AtomicBool,
    /// Commits that are not durable stand in redb, of a merge that has not ended.
    partial: AtomicBool,
    closed: AtomicBool,
}

impl Room {
    /// From here on `dirty` learns of everything that was written to the base.
    pub(crate) fn watch(&self, dirty: &Arc<Dirty>) {
        let mut copies = self.copies.lock();
        copies.retain(|c| c.strong_count() > 0);
        copies.push(Arc::downgrade(dirty));
        self.copied.store(true, Ordering::SeqCst);
    }

    /// Bytes were written, or failed to be.
    pub(crate) fn note(&self, offset: u64, len: u64) {
        if !self.copied.load(Ordering::SeqCst) {
            return;
        }
        let mut copies = self.copies.lock();
        copies.retain(|c| match c.upgrade() {
            Some(dirty) => {
                dirty.mark(offset, len);
                true
            }
            None => false,
        });
        self.copied.store(!copies.is_empty(), Ordering::SeqCst);
    }

    /// Whether redb has a part of a merge: it must not get into the file.
    pub(crate) fn set_partial(&self, on: bool) {
        self.partial.store(on, Ordering::SeqCst);
    }

    /// No merge comes any more. redb makes durable what it has when it is dropped; if that is a part of a merge, it is kept
    /// from it, and the file stays as of the last checkpoint.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn check(&self) -> io::Result<()> {
        if self.closed.load(Ordering::Relaxed) && self.partial.load(Ordering::SeqCst) {
            return Err(io::Error::other("a checkpoint that failed leaves nothing"));
        }
        Ok(())
    }

    /// From here on a full disk makes the writer wait, or no longer.
    pub(crate) fn set_waits(&self, on: bool) {
        self.waits.store(on, Ordering::Relaxed);
    }

    /// Whether a full disk makes the writer wait.
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Says why the writer waits, or that it does no longer.
    pub(crate) fn set_full(&self, why: Option<String>) {
        *self.full.lock() = why;
    }

    /// Bytes written to the base.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Why the writer waits, if it does.
    pub(crate) fn full(&self) -> Option<String> {
        self.full.lock().clone()
    }
}
