//! The thread that waits until what was applied is durable. It does not wait for replicas of this server: the source's
//! acknowledgement is due when the group is durable here, whatever this server's own gate holds back.
//!
//! In group commit, a thread that waits for a commit writes the log. The applier's commits do not wait, so this thread is
//! their leader. It waits for the newest commit, again and again, and each time all commits that came meanwhile are written
//! and synced at once.

use super::progress::{GroupEnd, Progress};
use narwal_engine::{Database, Reserved};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two syncs at least, unless somebody waits: fewer syncs, larger groups, and readers are no later than so much.
const PACE: Duration = Duration::from_millis(3);

/// How long a thread sleeps before it looks again what is visible.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of groups that may be on their way to the disk, or be held back by this server's gate.
const UNSYNCED: u64 = 64 << 20;

#[derive(Default)]
struct Shared {
    /// The newest commit, and the place behind it.
    last: Option<(Reserved, GroupEnd)>,
    /// The newest place that the source wants acknowledged.
    ack: Option<GroupEnd>,
    /// Bytes noted since the thread has taken `last`.
    bytes: u64,
    /// Bytes it is waiting for.
    syncing: u64,
    /// Commits that are durable and not visible: their numbers, and the bytes up to each one.
    held: VecDeque<(u64, u64)>,
    /// The thread sleeps.
    sleeps: bool,
    /// Somebody waits for everything.
    hurry: bool,
    closed: bool,
    failed: bool,
}

impl Shared {
    /// Bytes that are not visible yet.
    fn on_their_way(&mut self, visible: u64) -> u64 {
        while self.held.front().is_some_and(|(seq, _)| *seq <= visible) {
            self.held.pop_front();
        }
        let held: u64 = self.held.iter().map(|(_, bytes)| bytes).sum();
        self.bytes + self.syncing + held
    }
}

/// Between the threads that commit and the one that waits.
pub(super) struct Committer {
    db: Database,
    /// Whoever applies is to end at once.
    stop: Arc<AtomicBool>,
    shared: Mutex<Shared>,
    filled: Condvar,
    synced: Condvar,
}

impl Committer {
    pub(super) fn new(db: Database, stop: Arc<AtomicBool>) -> Self {
        Committer {
            db,
            stop,
            shared: Mutex::default(),
            filled: Condvar::new(),
            synced: Condvar::new(),
        }
    }

    /// A group of `bytes` has its place. Waits while too much is on its way.
    pub(super) fn note(&self, reserved: Reserved, place: GroupEnd, wants_ack: bool, bytes: u64) {
        let mut s = self.shared.lock();
        while s.on_their_way(self.db.visible_seq()) > UNSYNCED
            && !s.failed
            && !self.stop.load(Ordering::SeqCst)
        {
            self.synced.wait_for(&mut s, LOOK);
        }
        s.bytes += bytes;
        if wants_ack && s.ack.as_ref().is_none_or(|a| newer(&place, a)) {
            s.ack = Some(place.clone());
        }
        // Workers come here in any order.
        if s.last.as_ref().is_none_or(|(r, _)| r.seq < reserved.seq) {
            s.last = Some((reserved, place));
        }
        self.wake(s);
    }

    /// The source wants a place acknowledged before which everything was noted, and for which nothing was committed.
    pub(super) fn acknowledge(&self, place: GroupEnd) {
        let mut s = self.shared.lock();
        s.ack = Some(place);
        self.wake(s);
    }

    fn wake(&self, mut s: parking_lot::MutexGuard<'_, Shared>) {
        let wake = std::mem::take(&mut s.sleeps);
        drop(s);
        if wake {
            self.filled.notify_all();
        }
    }

    /// Waits until everything noted is durable.
    pub(super) fn finish(&self) {
        let mut s = self.shared.lock();
        while (s.last.is_some() || s.ack.is_some() || s.syncing > 0) && !s.failed {
            s.hurry = true;
            self.filled.notify_all();
            self.synced.wait_for(&mut s, Duration::from_millis(50));
        }
    }

    /// Lets the thread end when everything noted is durable.
    pub(super) fn close(&self) {
        let mut s = self.shared.lock();
        s.closed = true;
        s.sleeps = false;
        drop(s);
        self.filled.notify_all();
    }

    /// The thread.
    pub(super) fn work(&self, progress: &Progress) {
        let mut began = Instant::now() - PACE;
        let mut s = self.shared.lock();
        loop {
            if s.last.is_none() && s.ack.is_none() {
                s.hurry = false;
                if s.closed {
                    return;
                }
                s.sleeps = true;
                self.filled.wait(&mut s);
                continue;
            }
            let pace = PACE.saturating_sub(began.elapsed());
            if !pace.is_zero() && s.ack.is_none() && !s.hurry && !s.closed {
                self.filled.wait_for(&mut s, pace);
                continue;
            }
            let (last, ack) = (s.last.take(), s.ack.take());
            // Never 0 while it waits: see `finish`.
            s.syncing = std::mem::take(&mut s.bytes).max(1);
            drop(s);
            began = Instant::now();
            let waited = match &last {
                Some((reserved, _)) => self.db.wait_durable(reserved),
                None => Ok(()),
            };
            let seq = last.as_ref().map_or(0, |(reserved, _)| reserved.seq);
            let failed = waited.is_err();
            match waited {
                Ok(()) => progress.durable(last.map(|(_, place)| place), ack),
                Err(e) => {
                    let e = e.to_sql();
                    progress.fail(e.code, e.message.to_string(), None);
                    self.stop.store(true, Ordering::SeqCst);
                }
            }
            s = self.shared.lock();
            let synced = std::mem::take(&mut s.syncing);
            if self.db.visible_seq() < seq {
                s.held.push_back((seq, synced));
            }
            s.failed |= failed;
            self.synced.notify_all();
            if failed {
                return;
            }
        }
    }
}

/// Places of one source: file names of one length compare as their numbers do.
fn newer(a: &GroupEnd, b: &GroupEnd) -> bool {
    (a.file.len(), &a.file, a.pos) > (b.file.len(), &b.file, b.pos)
}
