//! One reserved record in the queue, its states, and its owner.
//!
//! The owner is the thread that reserved the record. It waits for the record, or it has left and is told later.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use crate::error::LogError;
use crate::frame::RecordKind;
use crate::record::Reserved;

/// Slot states. A slot is "ready" in every state but RESERVED.
pub(crate) const RESERVED: u8 = 0;
pub(crate) const FILLED: u8 = 1;
/// Filled, and its owner sleeps.
pub(crate) const SLEEPING: u8 = 2;
/// Filled, and its owner has left. The thread that finishes the record calls what the owner left behind.
pub(crate) const LEFT: u8 = 3;
/// Durable, and kept back by the gate.
pub(crate) const HELD: u8 = 4;
/// Held, and its owner sleeps.
pub(crate) const HELD_SLEEPING: u8 = 5;
/// Held, and its owner has left.
pub(crate) const HELD_LEFT: u8 = 6;
pub(crate) const DONE: u8 = 7;
pub(crate) const FAILED: u8 = 8;

/// What the owner of a record leaves behind instead of waiting for it: see [`crate::Log::leave`].
pub trait OnDone: Send + Sync + std::fmt::Debug {
    /// The record is done, or the log has failed. Called once, by the thread that finished its group, which does the same
    /// for others: it must be quick and must neither block, nor panic, nor call the log.
    fn done(&self, result: Result<(), LogError>);
}

/// How the owner of a finished record is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Sleeps,
    Left,
}

impl Owner {
    /// By the state that the record had before; `None` if its owner is awake and will see for itself.
    pub fn of(state: u8) -> Option<Owner> {
        match state {
            SLEEPING | HELD_SLEEPING => Some(Owner::Sleeps),
            LEFT | HELD_LEFT => Some(Owner::Left),
            _ => None,
        }
    }
}

/// One reserved record in the queue.
#[derive(Debug)]
pub(crate) struct Slot {
    pub at: Reserved,
    pub kind: RecordKind,
    /// No record: its owner waits until everything before it is written.
    pub barrier: bool,
    /// Of a barrier: until it is durable.
    pub sync: bool,
    pub state: AtomicU8,
    pub buf: OnceLock<Vec<u8>>,
    pub sleeper: OnceLock<Thread>,
    pub left: OnceLock<Arc<dyn OnDone>>,
}

impl Slot {
    pub fn new(at: Reserved, kind: RecordKind) -> Slot {
        Slot {
            at,
            kind,
            barrier: false,
            sync: false,
            state: AtomicU8::new(RESERVED),
            buf: OnceLock::new(),
            sleeper: OnceLock::new(),
            left: OnceLock::new(),
        }
    }

    pub fn ready(&self) -> bool {
        self.state.load(Ordering::SeqCst) != RESERVED
    }

    pub fn wake(&self) {
        if let Some(t) = self.sleeper.get() {
            t.unpark();
        }
    }

    /// Tells the owner of a finished record.
    pub fn tell(&self, owner: Owner, result: impl FnOnce() -> Result<(), LogError>) {
        match owner {
            Owner::Sleeps => self.wake(),
            Owner::Left => {
                if let Some(l) = self.left.get() {
                    l.done(result());
                }
            }
        }
    }

    pub fn is_commit(&self) -> bool {
        !self.barrier && self.kind.is_commit()
    }

    /// Of its segment it is the first record.
    pub fn starts_segment(&self) -> bool {
        !self.barrier && self.kind == RecordKind::SegmentStart
    }

    pub fn is_chunk(&self) -> bool {
        !self.barrier && self.kind == RecordKind::Chunk
    }

    /// Bytes of the whole record.
    pub fn len(&self) -> u64 {
        self.at.end_lsn - self.at.lsn
    }
}

/// How long a waiter of the gate sleeps before it asks whether it should give up.
pub(crate) const GIVE_UP_SLICE: Duration = Duration::from_millis(50);

impl Slot {
    /// The gate, or the second stage, keeps it; false if it was finished before (mode 0 had published it).
    pub fn hold(&self) -> bool {
        self.state
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |st| match st {
                FILLED => Some(HELD),
                SLEEPING => Some(HELD_SLEEPING),
                LEFT => Some(HELD_LEFT),
                _ => None,
            })
            .is_ok()
    }

    pub fn is_held(&self) -> bool {
        matches!(
            self.state.load(Ordering::SeqCst),
            HELD | HELD_SLEEPING | HELD_LEFT
        )
    }

    /// Marks it done; its owner, if that must be told.
    pub fn finish(&self) -> Option<Owner> {
        Owner::of(self.state.swap(DONE, Ordering::SeqCst))
    }

    /// The owner waits for the gate; false if `give_up` said so.
    pub fn wait_held(&self, give_up: &mut dyn FnMut() -> bool) -> bool {
        self.sleeper.get_or_init(std::thread::current);
        loop {
            match self.state.load(Ordering::SeqCst) {
                HELD => {
                    let _ = self.state.compare_exchange(
                        HELD,
                        HELD_SLEEPING,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    );
                }
                HELD_SLEEPING => {
                    if give_up() {
                        let _ = self.state.compare_exchange(
                            HELD_SLEEPING,
                            HELD,
                            Ordering::SeqCst,
                            Ordering::SeqCst,
                        );
                        return self.state.load(Ordering::SeqCst) >= DONE;
                    }
                    std::thread::park_timeout(GIVE_UP_SLICE);
                }
                _ => return true,
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(buf) = self.buf.take() {
            crate::buffers::keep(buf);
        }
    }
}

/// Slots of finished groups whose owners must be told, and how.
pub(crate) type Tell = Vec<(Arc<Slot>, Owner)>;
