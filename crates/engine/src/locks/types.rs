//! Names of locks, modes, waits.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Names a lock.
pub(crate) type LockName = u128;

/// A transaction's identity in the lock table.
pub(crate) type LockOwner = u64;

/// What a lock protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locked {
    /// A key of an index, by the index's id.
    Key(u32),
    /// A range of an index's keys.
    Gap(u32),
    /// A table's definition, by the table's id.
    Table(u64),
}

/// A transaction that waits for a lock.
#[derive(Debug, Clone)]
pub struct LockWaiting {
    /// Its id.
    pub transaction: u64,
    /// Those that hold the lock, and those that wait in front of it, when it began to wait, and what they have or ask for.
    pub blockers: Vec<(u64, LockMode)>,
    /// The lock's name.
    pub lock: u128,
    /// What it protects.
    pub of: Locked,
    /// What is asked for.
    pub mode: LockMode,
    /// When it began to wait.
    pub since: Instant,
}

/// How long and whether to wait.
pub(crate) struct WaitPolicy<'a> {
    pub(crate) timeout: Option<Duration>,
    /// What is locked, for those who look on.
    pub(crate) of: Locked,
    pub(crate) interrupt: Option<&'a AtomicBool>,
}

/// Row lock modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// LOCK IN SHARE MODE.
    Shared,
    /// FOR UPDATE, and every write.
    Exclusive,
}

/// What to do when a row is locked by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Wait up to the lock wait timeout.
    #[default]
    Wait,
    /// WAIT n: wait so long.
    UpTo(Duration),
    /// NOWAIT: fail with [`crate::EngineError::LockNotAvailable`].
    NoWait,
    /// SKIP LOCKED: the row counts as absent.
    SkipLocked,
}
