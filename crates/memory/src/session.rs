//! What the session that runs on this thread holds, and when that is too much.

use crate::count::{STEP, end_promise, forget_peak, held, most, promise, settle_if_far};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// From so many bytes on the system is asked beforehand: what most code needs at once and can't do without. The server has that much
/// in reserve for what is not asked for.
const LARGE: i64 = 32 << 20;

/// Whether the system would give so many bytes at once.
static SYSTEM: OnceLock<fn(usize) -> bool> = OnceLock::new();

thread_local! {
    /// What the thread held when the session had nothing: whatever it holds beyond that is the session's.
    static BASE: Cell<i64> = const { Cell::new(0) };
    /// What the session may hold.
    static LIMIT: Cell<i64> = const { Cell::new(i64::MAX) };
    /// Up to here a check is only a comparison: the limit, or where the system is asked next.
    static NEXT: Cell<i64> = const { Cell::new(LARGE) };
}

/// A session can't have what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It would hold more than its limit, `max_session_mem_used`.
    Session(i64),
    /// It would hold too much of what the server has.
    Server,
}

/// Sets what the calling thread's session may hold.
#[inline]
pub fn set_session_limit(bytes: i64) {
    LIMIT.set(bytes);
    ask_again();
}

/// How the system is asked for large pieces before they are taken; the first one that is set counts. Code that takes memory has no way
/// to hear that there is none.
pub fn ask_system_by(has_room: fn(usize) -> bool) {
    _ = SYSTEM.set(has_room);
}

/// A statement begins on this thread: peaks count from here, and the system is asked anew.
pub fn begin() {
    end_promise();
    forget_peak();
    ask_again();
}

/// What the system has said before does not count any more.
#[inline]
fn ask_again() {
    NEXT.set(LARGE.min(LIMIT.get()));
}

/// The session has `kept` bytes between two statements. What the thread holds besides is others': rows that went into memtables,
/// definitions that all sessions share. Returns where the session's bytes count from now.
#[inline]
pub fn keep(kept: i64) -> i64 {
    end_promise();
    let base = held() - kept;
    BASE.set(base);
    base
}

/// Where the session's bytes count from.
#[inline]
pub fn base() -> i64 {
    BASE.get()
}

/// Bytes that the session holds.
#[inline]
pub fn used() -> i64 {
    held() - BASE.get()
}

/// Refuses a session that holds too much. Cheap enough to be asked for each row.
#[inline]
pub fn check() -> Result<(), Refused> {
    settle_if_far();
    let used = used();
    if used > NEXT.get() || used > most() {
        return look_closely(used);
    }
    Ok(())
}

#[cold]
fn look_closely(used: i64) -> Result<(), Refused> {
    // A list that grows takes twice what it has.
    if used > LIMIT.get() || used > most() || !system_has(used.saturating_mul(2)) {
        return Err(refusal(used));
    }
    NEXT.set((used + used / 4).min(LIMIT.get()));
    Ok(())
}

fn system_has(bytes: i64) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    SYSTEM.get().is_none_or(|has_room| has_room(bytes))
}

/// As [`check`], before so many bytes are taken at once. They are kept for this thread until it takes them, asks again or its statement ends.
#[inline]
pub fn reserve(bytes: u64) -> Result<(), Refused> {
    match bytes < STEP as u64 {
        true => check(),
        false => reserve_much(i64::try_from(bytes).unwrap_or(i64::MAX)),
    }
}

#[cold]
fn reserve_much(bytes: i64) -> Result<(), Refused> {
    let used = used();
    let wanted = used.saturating_add(bytes);
    let refused = wanted > LIMIT.get() || !promise(used, bytes);
    if refused || bytes >= LARGE && !system_has(bytes) {
        return Err(refusal(wanted));
    }
    Ok(())
}

#[cold]
fn refusal(wanted: i64) -> Refused {
    match LIMIT.get() {
        limit if wanted > limit => Refused::Session(limit),
        _ => Refused::Server,
    }
}

/// What [`check_or_unwind`] throws.
struct Thrown(Refused);

/// As [`check`], for a callback that can't return an error: unwinds to [`unwinding`], which must be around it.
#[inline]
pub fn check_or_unwind() {
    if let Err(e) = check() {
        resume_unwind(Box::new(Thrown(e)));
    }
}

/// Runs what may call [`check_or_unwind`], and must leave nothing behind if it does.
pub fn unwinding<T>(f: impl FnOnce() -> T) -> Result<T, Refused> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|thrown| match thrown.downcast::<Thrown>() {
        Ok(e) => e.0,
        Err(other) => resume_unwind(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{freed, taken};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static ASKED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn the_system_is_asked_before_much_is_taken() {
        let _alone = crate::count::ALONE.lock();
        crate::set_limit(u64::MAX);
        ask_system_by(|bytes| {
            ASKED.store(bytes, Relaxed);
            bytes < 100 << 20
        });
        keep(0);
        taken(LARGE as usize);
        assert_eq!((check(), ASKED.load(Relaxed)), (Ok(()), 0));
        taken(8 << 20);
        assert_eq!((check(), ASKED.load(Relaxed)), (Ok(()), 80 << 20));
        taken(8 << 20);
        assert_eq!(
            (check(), ASKED.load(Relaxed)),
            (Ok(()), 80 << 20),
            "a quarter more"
        );
        taken(8 << 20);
        assert_eq!(
            (check(), ASKED.load(Relaxed)),
            (Err(Refused::Server), 112 << 20)
        );
        freed(24 << 20);
        begin();
        assert_eq!(reserve(31 << 20), Ok(()));
        assert_eq!(reserve(99 << 20), Ok(()));
        assert_eq!(reserve(100 << 20), Err(Refused::Server));
        freed(held() as usize);
        crate::settle();
    }

    #[test]
    fn a_session_has_its_limit() {
        let _alone = crate::count::ALONE.lock();
        taken(1000);
        keep(10);
        assert_eq!((used(), base()), (10, 990));
        set_session_limit(100_000);
        taken(99_990);
        assert_eq!(check(), Ok(()));
        taken(1);
        assert_eq!(check(), Err(Refused::Session(100_000)));
        let thrown = unwinding(|| {
            check_or_unwind();
            1
        });
        assert_eq!(thrown, Err(Refused::Session(100_000)));
        freed(90_000);
        assert_eq!(unwinding(check_or_unwind), Ok(()));
        assert_eq!(reserve(80_000), Ok(()));
        assert_eq!(reserve(90_000), Err(Refused::Session(100_000)));
        assert_eq!(reserve(u64::MAX), Err(Refused::Session(100_000)));
        freed(held() as usize);
        crate::settle();
    }
}
