//! Workers: execute groups at once, commit them in order.
//!
//! The coordinator puts groups in with the number of the last group that each must wait for. A worker does whatever is
//! next: commit the group whose turn it is, if it was executed; else execute the oldest group that need not wait. So
//! nobody waits for a turn, and a group that is slow keeps the others from committing but not from executing, up to the
//! window.
//!
//! What the keys did not tell (a lock of a local client, tables without keys, a hash that was read wrong) shows as a lock
//! wait, a deadlock or a row that is not there. Whatever error a group meets, it is rolled back and tried again *alone*: when it
//! is first in line, everything behind it is rolled back and nothing else runs. Only what fails then is an error.

use super::committer::Committer;
use super::error;
use super::error::{is_temporary, tell};
use super::progress::{GroupEnd, Progress};
use super::settings::ApplySettings;
use crate::queue::GroupHead;
use narwal_engine::Origin;
use narwal_session::Instance;
use narwal_session::apply::{Applier, ApplyError, Executed, Ready};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a group waits for a row lock while others run beside it.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// How long it waits when it is alone: `innodb_lock_wait_timeout`'s default.
const LOCK_WAIT_ALONE: Duration = Duration::from_secs(50);

/// Groups in the window for each worker.
const WINDOW: usize = 32;

/// Bytes of events in the window.
const WINDOW_BYTES: usize = 16 << 20;

/// A group to apply.
pub(super) struct Task {
    pub(super) head: GroupHead,
    pub(super) events: Vec<u8>,
    pub(super) origin: Arc<Origin>,
    /// The last group that must have ended before this one begins; 0: none.
    pub(super) after: u64,
}

impl Task {
    fn place(&self) -> GroupEnd {
        place_of(&self.head)
    }
}

pub(super) fn place_of(head: &GroupHead) -> GroupEnd {
    GroupEnd {
        gtid: Some(head.gtid),
        file: head.file.clone(),
        pos: head.end_pos,
        timestamp: head.timestamp,
    }
}

enum Slot {
    /// To be executed.
    Waiting(Box<Task>),
    /// To be executed alone.
    Alone(Box<Task>),
    /// By this worker.
    Running(usize),
    /// To be committed.
    Executed(Box<Task>, Ready),
    Done,
}

#[derive(Default)]
struct Line {
    slots: VecDeque<Slot>,
    /// Number of the first slot's group; numbers begin with 1.
    first: u64,
    /// The next group to take its place in the log.
    turn: u64,
    /// Somebody is taking a place.
    placing: bool,
    /// No slot before this index is to be executed.
    hint: usize,
    running: usize,
    /// The group that runs alone.
    alone: Option<u64>,
    idle: usize,
    bytes: usize,
    /// The coordinator waits for room or for the end.
    waits: bool,
    closed: bool,
    failed: bool,
}

impl Line {
    /// All groups up to this one have ended.
    fn done(&self) -> u64 {
        self.first - 1
    }

    fn slot(&mut self, n: u64) -> Option<&mut Slot> {
        let at = usize::try_from(n.checked_sub(self.first)?).ok()?;
        self.slots.get_mut(at)
    }

    /// The oldest group that may be executed now.
    fn ready(&mut self) -> Option<u64> {
        if self.alone.is_some() || self.failed {
            return None;
        }
        let done = self.done();
        let mut hint = None;
        for at in self.hint..self.slots.len() {
            if let Slot::Waiting(task) = &self.slots[at] {
                hint = hint.or(Some(at));
                if task.after <= done {
                    self.hint = hint.unwrap_or(at);
                    return Some(self.first + at as u64);
                }
            }
        }
        self.hint = hint.unwrap_or(self.slots.len());
        None
    }

    fn set(&mut self, n: u64, slot: Slot) {
        if let Some(s) = self.slot(n) {
            *s = slot;
        }
        let at = (n - self.first) as usize;
        self.hint = self.hint.min(at);
    }

    fn take(&mut self, n: u64, slot: Slot) -> Option<Slot> {
        self.slot(n).map(|s| std::mem::replace(s, slot))
    }

    /// A group has ended.
    fn end(&mut self, n: u64) {
        self.set(n, Slot::Done);
        while matches!(self.slots.front(), Some(Slot::Done)) {
            self.slots.pop_front();
            self.first += 1;
            self.hint = self.hint.saturating_sub(1);
        }
    }
}

/// The workers' common state.
pub(super) struct Pool {
    line: Mutex<Line>,
    work: Condvar,
    room: Condvar,
    window: usize,
    /// End each worker's waits.
    interrupts: Vec<Arc<AtomicBool>>,
    stopping: AtomicBool,
}

impl Pool {
    pub(super) fn new(threads: usize) -> Self {
        Pool {
            line: Mutex::new(Line {
                first: 1,
                turn: 1,
                ..Line::default()
            }),
            work: Condvar::new(),
            room: Condvar::new(),
            window: WINDOW * threads,
            interrupts: (0..threads).map(|_| Arc::default()).collect(),
            stopping: AtomicBool::new(false),
        }
    }

    /// The next group's number, and the last one up to which all have ended.
    pub(super) fn numbers(&self) -> (u64, u64) {
        let line = self.line.lock();
        (line.first + line.slots.len() as u64, line.done())
    }

    /// Whether a group has failed.
    pub(super) fn failed(&self) -> bool {
        self.line.lock().failed
    }

    /// Puts a group in line; waits for room. False if a group has failed, or `stop` is set.
    pub(super) fn put(&self, task: Task, stop: &AtomicBool) -> bool {
        let mut line = self.line.lock();
        let full = |l: &Line| l.slots.len() >= self.window || l.bytes >= WINDOW_BYTES;
        if full(&line) {
            // Not woken for each single place that gets free.
            self.wait(&mut line, stop, |l| {
                l.slots.len() <= self.window / 2 && l.bytes <= WINDOW_BYTES / 2
            });
        }
        if line.failed || stop.load(Ordering::Relaxed) {
            return false;
        }
        line.bytes += task.events.len();
        let ready = task.after <= line.done() && line.alone.is_none();
        line.slots.push_back(Slot::Waiting(Box::new(task)));
        let wake = ready && line.idle > 0;
        drop(line);
        if wake {
            self.work.notify_one();
        }
        true
    }

    /// Waits until every group has ended. False if one has failed, or `stop` is set.
    pub(super) fn drain(&self, stop: &AtomicBool) -> bool {
        let mut line = self.line.lock();
        self.wait(&mut line, stop, |l| l.slots.is_empty());
        !line.failed && line.slots.is_empty()
    }

    fn wait(
        &self,
        line: &mut MutexGuard<'_, Line>,
        stop: &AtomicBool,
        enough: impl Fn(&Line) -> bool,
    ) {
        while !enough(line) && !line.failed && !stop.load(Ordering::Relaxed) {
            line.waits = true;
            self.room.wait_for(line, Duration::from_millis(50));
        }
        line.waits = false;
    }

    /// Ends all waits; what has no place yet is rolled back.
    pub(super) fn abort(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        for i in &self.interrupts {
            i.store(true, Ordering::SeqCst);
        }
        self.line.lock().failed = true;
        self.work.notify_all();
    }

    /// Lets the workers go.
    pub(super) fn close(&self) {
        self.line.lock().closed = true;
        self.work.notify_all();
    }

    /// A worker's thread.
    pub(super) fn work(
        &self,
        id: usize,
        instance: &Arc<Instance>,
        settings: &ApplySettings,
        committer: &Committer,
        progress: &Progress,
    ) {
        let _alarm = Alarm(self);
        let interrupt = self.interrupts[id].clone();
        let mut worker = Worker {
            pool: self,
            id,
            applier: Applier::with_interrupt(
                instance,
                settings.thread_id,
                settings.options.clone(),
                interrupt,
            ),
            retries: settings.retries,
            committer,
            progress,
        };
        worker.applier.set_lock_wait(LOCK_WAIT);
        let mut line = self.line.lock();
        loop {
            let turn = line.turn;
            if !line.failed && !line.placing {
                match line.slot(turn) {
                    Some(Slot::Executed(..)) => {
                        line = worker.commit(line, turn);
                        continue;
                    }
                    Some(Slot::Alone(_)) => {
                        line = worker.alone(line, turn);
                        continue;
                    }
                    _ => {}
                }
            }
            if let Some(n) = line.ready() {
                line = worker.execute(line, n);
                continue;
            }
            if line.failed || (line.closed && line.slots.is_empty()) {
                // Rolled back outside of the lock.
                let left = match line.failed && line.running == 0 {
                    true => std::mem::take(&mut line.slots),
                    false => VecDeque::new(),
                };
                drop(line);
                drop(left);
                self.work.notify_all();
                self.room.notify_all();
                return;
            }
            line.idle += 1;
            self.work.wait(&mut line);
            line.idle -= 1;
        }
    }
}

/// Lets nobody wait for a worker that panicked.
struct Alarm<'p>(&'p Pool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort();
            self.0.room.notify_all();
        }
    }
}

struct Worker<'p> {
    pool: &'p Pool,
    id: usize,
    applier: Applier,
    retries: u32,
    committer: &'p Committer,
    progress: &'p Progress,
}

impl<'p> Worker<'p> {
    fn run(&mut self, task: &Task) -> Result<Ready, ApplyError> {
        self.applier
            .begin_from(task.head.gtid, Some(false), Some(task.origin.clone()))?;
        match self.applier.execute(&task.events)? {
            Some(Executed::Ready(ready)) => Ok(ready),
            Some(Executed::Done(_)) => Err(error::malformed("a statement among changes of rows")),
            None => {
                self.applier.abandon();
                Err(error::malformed("a group without an end"))
            }
        }
    }

    /// Executes group `n`, which is waiting.
    fn execute(&mut self, mut line: MutexGuard<'p, Line>, n: u64) -> MutexGuard<'p, Line> {
        let Some(Slot::Waiting(task)) = line.take(n, Slot::Running(self.id)) else {
            return line;
        };
        line.running += 1;
        let first = n == line.turn;
        drop(line);
        if first {
            self.progress.begin(task.place());
        }
        let executed = self.run(&task);
        let mut line = self.pool.line.lock();
        line.running -= 1;
        let mut left = None;
        match executed {
            Ok(ready) if line.alone.is_none() => line.set(n, Slot::Executed(task, ready)),
            Ok(ready) => {
                // Another one runs alone and may want a row of this one.
                left = Some(ready);
                line.set(n, Slot::Waiting(task));
            }
            Err(_) if line.alone.is_some() => line.set(n, Slot::Waiting(task)),
            Err(e) => {
                tracing::debug!("group {} is tried again alone: {e}", task.head.name());
                line.set(n, Slot::Alone(task));
            }
        }
        if line.alone.is_some() && line.running == 0 {
            self.pool.work.notify_all();
        }
        if left.is_some() {
            drop(line);
            drop(left);
            line = self.pool.line.lock();
        }
        line
    }

    /// Commits group `n`, whose turn it is and which is executed.
    fn commit(&mut self, mut line: MutexGuard<'p, Line>, n: u64) -> MutexGuard<'p, Line> {
        let Some(Slot::Executed(task, ready)) = line.take(n, Slot::Running(self.id)) else {
            return line;
        };
        line.placing = true;
        line.running += 1;
        drop(line);
        let committed = self.place(&task, ready, n);
        let mut line = self.pool.line.lock();
        line.running -= 1;
        if let Err(e) = committed {
            line.placing = false;
            return self.fail(line, &task, &e);
        }
        self.ended(line, n, &task)
    }

    /// Takes the group's place in the log.
    fn place(&self, task: &Task, ready: Ready, n: u64) -> Result<(), ApplyError> {
        let (reserved, applied) = self.applier.commit_ready(ready, || {
            self.progress.reserve(task.place());
            let mut line = self.pool.line.lock();
            line.placing = false;
            line.turn = n + 1;
            // If all others sleep, this worker commits the next group.
        })?;
        self.progress.count(applied.rows, false);
        self.committer.note(
            reserved,
            task.place(),
            task.head.wants_ack,
            task.events.len() as u64,
        );
        Ok(())
    }

    fn ended(&self, mut line: MutexGuard<'p, Line>, n: u64, task: &Task) -> MutexGuard<'p, Line> {
        line.end(n);
        line.bytes -= task.events.len();
        if line.waits && line.slots.len() <= self.pool.window / 2 {
            self.pool.room.notify_all();
        }
        // This worker takes the next thing itself; is there something for another?
        if line.idle > 0 && line.slots.len() > 1 {
            self.pool.work.notify_one();
        }
        line
    }

    fn fail(
        &self,
        mut line: MutexGuard<'p, Line>,
        task: &Task,
        e: &ApplyError,
    ) -> MutexGuard<'p, Line> {
        if !self.pool.stopping.load(Ordering::SeqCst) {
            tell(self.progress, &task.head, e);
        }
        line.failed = true;
        line.alone = None;
        self.pool.work.notify_all();
        self.pool.room.notify_all();
        line
    }

    /// Runs group `n`, whose turn it is, with nothing beside it.
    fn alone(&mut self, mut line: MutexGuard<'p, Line>, n: u64) -> MutexGuard<'p, Line> {
        let Some(Slot::Alone(task)) = line.take(n, Slot::Running(self.id)) else {
            return line;
        };
        line.alone = Some(n);
        self.progress.retry();
        // What was executed behind it gives its locks back, what runs is interrupted.
        let mut back = Vec::new();
        for slot in &mut line.slots {
            match slot {
                Slot::Executed(..) => {
                    if let Slot::Executed(task, ready) = std::mem::replace(slot, Slot::Done) {
                        *slot = Slot::Waiting(task);
                        back.push(ready);
                    }
                }
                Slot::Running(worker) if *worker != self.id => {
                    self.pool.interrupts[*worker].store(true, Ordering::SeqCst);
                }
                _ => {}
            }
        }
        line.hint = 0;
        drop(line);
        drop(back);
        line = self.pool.line.lock();
        while line.running > 0 {
            self.pool
                .work
                .wait_for(&mut line, Duration::from_millis(10));
        }
        for i in &self.pool.interrupts {
            i.store(false, Ordering::SeqCst);
        }
        if self.pool.stopping.load(Ordering::SeqCst) {
            // It came in between.
            for i in &self.pool.interrupts {
                i.store(true, Ordering::SeqCst);
            }
        }
        line.placing = true;
        drop(line);
        self.applier.set_lock_wait(LOCK_WAIT_ALONE);
        let mut tries = 0;
        let result = loop {
            match self
                .run(&task)
                .and_then(|ready| self.place(&task, ready, n))
            {
                Err(e)
                    if is_temporary(&e)
                        && tries < self.retries
                        && !self.pool.stopping.load(Ordering::SeqCst) =>
                {
                    tries += 1;
                    self.progress.retry();
                }
                r => break r,
            }
        };
        self.applier.set_lock_wait(LOCK_WAIT);
        let mut line = self.pool.line.lock();
        line.alone = None;
        line.placing = false;
        match result {
            Err(e) if !self.applier.has_applied(&task.head.source) => self.fail(line, &task, &e),
            // What fails here because another connection has brought it meanwhile is done.
            _ => {
                let line = self.ended(line, n, &task);
                self.pool.work.notify_all();
                line
            }
        }
    }
}
