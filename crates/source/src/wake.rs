//! Waking a thread that sleeps at its connection.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A descriptor that becomes readable when somebody wakes its owner. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Wake(Arc<OwnedFd>);

impl Wake {
    /// A new one, asleep.
    ///
    /// # Errors
    /// No descriptor is free.
    pub fn new() -> io::Result<Self> {
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Wake(Arc::new(fd)))
    }

    /// Wakes the owner, or lets its next sleep end at once.
    pub fn wake(&self) {
        // Fails only when the counter is full, and then it is readable.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Forgets the wake-ups so far.
    pub fn clear(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
