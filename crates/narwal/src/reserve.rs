//! Room for the server to say that there is no memory.
//!
//! When the system refuses memory (a limit of the process, of its group, or no room to back it), the request may come from
//! anywhere, and most code can't go on without it. So the server keeps a piece of address space that it does not use, gives it
//! back in that moment, and ends statements that hold much before it takes it again.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Bytes: more than one statement takes between two checks, see `docs/memory.md`.
const SIZE: usize = 64 << 20;

static RESERVE: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

/// A piece of address space; `None` if the system has none to give.
fn map(size: usize) -> Option<*mut libc::c_void> {
    let (prot, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping, at a place that the kernel chooses; nothing reads or writes it.
    let piece = unsafe { libc::mmap(null_mut(), size, prot, flags, -1, 0) };
    (piece != libc::MAP_FAILED).then_some(piece)
}

/// Whether the system would give so many bytes in one piece now.
pub(crate) fn system_has(bytes: usize) -> bool {
    let Some(piece) = map(bytes) else {
        return false;
    };
    // SAFETY: it is the mapping that was just made, and nobody else knows it.
    unsafe { libc::munmap(piece, bytes) };
    true
}

/// Takes the reserve, if it isn't there. False if the system has none to give.
pub(crate) fn take() -> bool {
    if !RESERVE.load(Ordering::Relaxed).is_null() {
        return true;
    }
    let Some(piece) = map(SIZE) else {
        return false;
    };
    if RESERVE
        .compare_exchange(null_mut(), piece, Ordering::AcqRel, Ordering::Relaxed)
        .is_err()
    {
        // SAFETY: as above.
        unsafe { libc::munmap(piece, SIZE) };
    }
    true
}

/// Gives the reserve back to the system; false if it is not there. The allocator calls it: it allocates nothing.
pub(crate) fn give_back() -> bool {
    let piece = RESERVE.swap(null_mut(), Ordering::AcqRel);
    if piece.is_null() {
        return false;
    }
    // SAFETY: `take` has mapped so much there, the swap lets one thread have it, and nobody uses it.
    unsafe { libc::munmap(piece, SIZE) };
    narwal_memory::set_exhausted(true);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_once_and_comes_back() {
        assert!(take() && take());
        assert!(give_back());
        assert!(narwal_memory::is_exhausted());
        assert!(!give_back());
        narwal_memory::set_exhausted(false);
    }

    #[test]
    fn the_system_is_asked() {
        assert!(system_has(1 << 20));
        assert!(!system_has(usize::MAX / 2));
        assert!(
            !system_has(0),
            "nothing can't be mapped, and nobody asks for it"
        );
    }
}
