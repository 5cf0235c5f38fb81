//! What each thread holds, what all hold together, and how much is left for one session.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicI64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Mutex, PoisonError};

/// A thread tells the server's count when its own has moved so far, in bytes.
pub const STEP: i64 = 64 << 10;

/// Pieces from here on look whether it is time for that, as each [`crate::check`] does. What grows out of small pieces alone, without any
/// list that grows with them and without a check, does not grow far.
const LARGE: usize = 4 << 10;

/// A session may hold so many times what is free.
const SHARE: i64 = 4;

/// A session that holds no more than this goes on, whatever is left: it ends soon, and to refuse it would gain nothing.
const SMALL: i64 = 512 << 10;

thread_local! {
    /// Bytes since the last step.
    static MOVED: Cell<i64> = const { Cell::new(0) };
    /// Bytes as of the last step.
    static TOLD: Cell<i64> = const { Cell::new(0) };
    /// The most since [`crate::begin`], as of the steps.
    static PEAK: Cell<i64> = const { Cell::new(0) };
    /// Bytes that were promised to the thread and that it has not taken yet.
    static PROMISE: Cell<i64> = const { Cell::new(0) };
    /// The thread's gauge; 0 is nobody's.
    static GAUGE: Cell<usize> = const { Cell::new(0) };
}

/// What all threads hold.
static TOTAL: AtomicI64 = AtomicI64::new(0);
/// What was promised to threads that have not taken it yet. The kernel may let a thread wait for the pages that it was promised, so
/// others that ask meanwhile have to know.
static PROMISED: AtomicI64 = AtomicI64::new(0);
/// What the process takes besides: code, stacks, what the C library keeps free between pieces.
static BESIDE: AtomicI64 = AtomicI64::new(0);
/// What the server may take.
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
/// What a session may hold now.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);

/// The system had no more memory to give.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// Gauges of threads that others look at. Sessions beyond so many have none, which only the process list shows.
const GAUGES: usize = 1 << 13;
static GAUGE_BYTES: [AtomicI64; GAUGES] = [const { AtomicI64::new(0) }; GAUGES];
/// How many were ever in use, the one that nobody has included, and those that were given back.
static GAUGES_USED: Mutex<(usize, Vec<usize>)> = Mutex::new((1, Vec::new()));

/// The allocator has given `n` bytes to the calling thread. One addition, for almost all.
#[inline(always)]
pub fn taken(n: usize) {
    // A thread that is ending has no count any more; what it moves then is little.
    let _ = MOVED.try_with(|m| m.set(m.get().wrapping_add(n as i64)));
    if n >= LARGE {
        settle_far();
    }
}

/// The allocator has taken `n` bytes back.
#[inline(always)]
pub fn freed(n: usize) {
    let _ = MOVED.try_with(|m| m.set(m.get().wrapping_sub(n as i64)));
    if n >= LARGE {
        settle_far();
    }
}

/// Tells the server's count if this thread has moved far since the last time.
#[cold]
#[inline(never)]
fn settle_far() {
    if MOVED.try_with(is_far).unwrap_or(false) {
        settle();
    }
}

#[inline]
pub(crate) fn settle_if_far() {
    if MOVED.with(is_far) {
        settle();
    }
}

#[inline]
fn is_far(moved: &Cell<i64>) -> bool {
    (moved.get() + STEP) as u64 > 2 * STEP as u64
}

/// Tells the server's count all that this thread has moved. To be called before a thread ends.
#[cold]
#[inline(never)]
pub fn settle() {
    let moved = MOVED.replace(0);
    let told = TOLD.get() + moved;
    TOLD.set(told);
    PEAK.set(PEAK.get().max(told));
    let gauge = GAUGE.get();
    if gauge != 0 {
        GAUGE_BYTES[gauge].store(told, Relaxed);
    }
    // Released by the promise's end: who sees that it is over sees what was taken.
    let total = TOTAL.fetch_add(moved, Relaxed) + moved;
    end_promise();
    work_out(total);
}

/// Works out what a session may hold.
fn work_out(total: i64) {
    let free = match EXHAUSTED.load(Relaxed) {
        true => 0,
        false => LIMIT
            .load(Relaxed)
            .saturating_sub(total + BESIDE.load(Relaxed)),
    };
    let most = free.max(0).saturating_mul(SHARE).max(SMALL);
    // A line that all threads read is written only if it says something else.
    if most != MOST.load(Relaxed) {
        MOST.store(most, Relaxed);
    }
}

/// Bytes that the calling thread took and has not given back. What others free for it, or it for others, counts where it happens.
#[inline]
pub fn held() -> i64 {
    TOLD.get() + MOVED.get()
}

/// What a session may hold now.
#[inline]
pub fn most() -> i64 {
    MOST.load(Relaxed)
}

/// Promises `more` bytes at once to the calling thread, whose session holds `own`, until it has taken them; false if there is no room: what
/// is left then has to be enough for the others. Two threads never get a promise of the same bytes.
pub(crate) fn promise(own: i64, more: i64) -> bool {
    end_promise();
    let fits = |promised: i64| {
        let taken = TOTAL.load(Relaxed) + MOVED.get() + BESIDE.load(Relaxed) + promised;
        let free = LIMIT.load(Relaxed).saturating_sub(taken);
        let most = free.saturating_sub(more).max(0).saturating_mul(SHARE);
        own.saturating_add(more) <= most.max(SMALL)
    };
    let promised =
        PROMISED.fetch_update(AcqRel, Acquire, |p| fits(p).then(|| p.saturating_add(more)));
    if promised.is_ok() {
        PROMISE.set(more);
    }
    promised.is_ok()
}

/// The thread has taken what it was promised, or does without.
#[inline]
pub(crate) fn end_promise() {
    let promise = PROMISE.replace(0);
    if promise != 0 {
        PROMISED.fetch_sub(promise, AcqRel);
    }
}

/// Peaks count from here.
pub(crate) fn forget_peak() {
    PEAK.set(held());
}

/// The most that the thread held since [`crate::begin`], to about [`STEP`].
pub fn peak() -> i64 {
    PEAK.get().max(held())
}

/// Bytes that all threads hold.
pub fn total() -> i64 {
    TOTAL.load(Relaxed)
}

/// What the server may take.
pub fn limit() -> i64 {
    LIMIT.load(Relaxed)
}

/// Sets what the server may take.
pub fn set_limit(bytes: u64) {
    LIMIT.store(i64::try_from(bytes).unwrap_or(i64::MAX), Relaxed);
    work_out(total());
}

/// Tells the size of the process: what is more than the threads hold is not there for them either.
pub fn set_size(resident: u64) {
    let resident = i64::try_from(resident).unwrap_or(i64::MAX);
    BESIDE.store((resident - total()).max(0), Relaxed);
    work_out(total());
}

/// The system has no more memory to give, or has some again. Until then nobody may hold more than a little.
pub fn set_exhausted(yes: bool) {
    EXHAUSTED.store(yes, Relaxed);
    work_out(total());
}

/// True between the two calls of [`set_exhausted`].
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Relaxed)
}

/// Shows what a thread holds to others.
#[derive(Debug)]
pub struct Gauge(usize);

impl Gauge {
    /// The calling thread's gauge, as long as it lives; the last one made counts.
    pub fn of_this_thread() -> Gauge {
        let mut used = GAUGES_USED.lock().unwrap_or_else(PoisonError::into_inner);
        let n = used.1.pop().or_else(|| {
            used.0 += 1;
            (used.0 <= GAUGES).then_some(used.0 - 1)
        });
        let gauge = Gauge(n.unwrap_or(0));
        drop(used);
        GAUGE.set(gauge.0);
        gauge.show();
        gauge
    }

    /// Shows what the calling thread holds now, to the byte.
    #[inline]
    pub fn show(&self) {
        if self.0 != 0 {
            GAUGE_BYTES[self.0].store(held(), Relaxed);
        }
    }

    /// What it showed last.
    pub fn bytes(&self) -> i64 {
        GAUGE_BYTES[self.0].load(Relaxed)
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let _ = GAUGE.try_with(|g| {
            if g.get() == self.0 {
                g.set(0);
            }
        });
        let mut used = GAUGES_USED.lock().unwrap_or_else(PoisonError::into_inner);
        used.1.push(self.0);
    }
}

/// Held by tests: the counts are the process's.
#[cfg(test)]
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begin;

    /// Between the promise and the taking a thread may have to wait; whoever asks meanwhile gets the rest.
    #[test]
    fn the_same_bytes_are_promised_once() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        set_limit(100 << 20);
        let others = std::sync::Barrier::new(40);
        let promises: Vec<_> = std::thread::scope(|s| {
            let ask = || {
                others.wait();
                let had = promise(0, 10 << 20);
                others.wait();
                end_promise();
                had
            };
            let threads: Vec<_> = (0..40).map(|_| s.spawn(ask)).collect();
            threads.into_iter().filter_map(|t| t.join().ok()).collect()
        });
        let had = promises.iter().filter(|had| **had).count();
        assert_eq!(had, 9, "the last one would have left too little");
        assert_eq!(PROMISED.load(Relaxed), 0);
        set_limit(u64::MAX);
    }

    #[test]
    fn threads_count_and_the_largest_stops_first() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        taken(1000);
        assert_eq!((held(), total()), (1000, 0), "not yet told");
        taken(STEP as usize);
        assert_eq!(total(), held());
        assert_eq!(most(), i64::MAX, "no limit");
        set_limit(100 << 20);
        let free = (100 << 20) - total();
        assert_eq!(most(), 4 * free);
        begin();
        taken(60 << 20);
        assert!(held() <= most(), "one may have more than the half");
        taken(30 << 20);
        assert!(held() > most(), "but has to leave something");
        assert!(promise(1 << 20, 1 << 20), "to smaller ones");
        assert!(!promise(1 << 20, 9 << 20), "who ask for little");
        freed(60 << 20);
        assert!(peak() >= 90 << 20 && held() < 31 << 20);
        assert!(held() < most());
        set_exhausted(true);
        assert!(is_exhausted() && most() == SMALL);
        set_exhausted(false);

        // What stands beside it counts too.
        set_size(total() as u64 + (60 << 20));
        assert!(held() > most() / 2);
        set_size(0);

        let gauge = std::thread::spawn(|| {
            let g = Gauge::of_this_thread();
            taken(5 << 20);
            assert_eq!(g.bytes(), 5 << 20);
            freed(10);
            assert_eq!(g.bytes(), 5 << 20, "a step is larger");
            g.show();
            assert_eq!(g.bytes(), (5 << 20) - 10);
            freed((5 << 20) - 10);
            settle();
            g
        });
        let gauge = gauge.join().ok();
        assert_eq!(gauge.as_ref().map(Gauge::bytes), Some(0));
        let number = gauge.as_ref().map(|g| g.0);
        drop(gauge);
        assert_eq!(Some(Gauge::of_this_thread().0), number, "used again");

        freed(held() as usize);
        settle();
        assert_eq!((held(), total()), (0, 0));
    }
}
