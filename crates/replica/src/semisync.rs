//! Acknowledgements to a semi-synchronous source: when a group that it waits for is durable here, the receiver, which owns
//! the connection, is woken and says so. A later acknowledgement covers earlier ones.

use crate::apply::Progress;
use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How long the thread sleeps before it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(200);

/// The acknowledgement to be sent next.
#[derive(Debug)]
pub(crate) struct Acks {
    slot: Mutex<Option<(Arc<str>, u64)>>,
    due: AtomicBool,
    wake: OwnedFd,
    pub(crate) sent: AtomicU64,
}

impl Acks {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Acks {
            slot: Mutex::new(None),
            due: AtomicBool::new(false),
            wake: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sent: AtomicU64::new(0),
        })
    }

    /// Can be read when there is something to send.
    pub(crate) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    fn put(&self, file: Arc<str>, pos: u64) {
        *self.slot.lock() = Some((file, pos));
        self.due.store(true, Ordering::SeqCst);
        // If it is full, the receiver has been woken already.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// What is to be sent, once.
    pub(crate) fn take(&self) -> Option<(Arc<str>, u64)> {
        if !self.due.swap(false, Ordering::SeqCst) {
            return None;
        }
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        self.slot.lock().take()
    }

    /// Waits for the applier until `stop`.
    pub(crate) fn watch(&self, progress: &Progress, stop: &AtomicBool) {
        let mut last = None;
        while !stop.load(Ordering::SeqCst) {
            if let Some(place) = progress.wait_ack(last.as_ref(), LOOK) {
                self.put(place.file.clone(), place.pos);
                last = Some(place);
            }
        }
    }
}

/// The places that the source of one link asked to be acknowledged. What an earlier link asked for is no business of this
/// one: its source knows by the place that was asked for, and takes an acknowledgement of what it never sent for a fault.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    places: VecDeque<(Arc<str>, u64)>,
}

impl Asked {
    /// The source wants the group acknowledged that ends here.
    pub(crate) fn push(&mut self, file: Arc<str>, pos: u64) {
        self.places.push_back((file, pos));
    }

    /// True if this place was asked for and is still to be acknowledged; it and all before it then are.
    pub(crate) fn take(&mut self, file: &str, pos: u64) -> bool {
        let found = self
            .places
            .iter()
            .position(|(f, p)| *p == pos && **f == *file);
        if let Some(at) = found {
            self.places.drain(..=at);
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_this_link_asked_for() {
        let mut asked = Asked::default();
        assert!(!asked.take("bin.000001", 100), "of an earlier link");
        for pos in [200, 300, 400] {
            asked.push("bin.000001".into(), pos);
        }
        assert!(asked.take("bin.000001", 300));
        assert!(!asked.take("bin.000001", 200), "covered already");
        assert!(!asked.take("bin.000002", 400));
        assert!(asked.take("bin.000001", 400));
    }

    #[test]
    fn the_last_one_counts() {
        let acks = Acks::new().unwrap();
        assert_eq!(acks.take(), None);
        acks.put("bin.000001".into(), 100);
        acks.put("bin.000001".into(), 200);
        let mut fds = [rustix::event::PollFd::from_borrowed_fd(
            acks.wake_fd(),
            rustix::event::PollFlags::IN,
        )];
        assert_eq!(
            rustix::event::poll(
                &mut fds,
                Some(&rustix::event::Timespec {
                    tv_sec: 0,
                    tv_nsec: 0
                })
            )
            .unwrap(),
            1
        );
        assert_eq!(acks.take(), Some(("bin.000001".into(), 200)));
        assert_eq!(acks.take(), None);
        assert_eq!(
            rustix::event::poll(
                &mut fds,
                Some(&rustix::event::Timespec {
                    tv_sec: 0,
                    tv_nsec: 0
                })
            )
            .unwrap(),
            0
        );
    }
}
