//! A global allocator that tells what is taken and given back, so that "no unbounded allocation" is checked and not
//! believed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::marker::PhantomData;

/// Hears of every allocation of the process. It must not allocate itself.
pub trait Watch {
    /// Bytes were asked for.
    fn took(bytes: usize);
    /// Bytes were given back.
    fn gave(_bytes: usize) {}
}

/// The system allocator, watched: `#[global_allocator] static A: Watched<W> = Watched::new();`
pub struct Watched<W>(PhantomData<fn() -> W>);

impl<W> Watched<W> {
    /// One for a `static`.
    pub const fn new() -> Self {
        Watched(PhantomData)
    }
}

impl<W> Default for Watched<W> {
    fn default() -> Self {
        Self::new()
    }
}

// SAFETY: every call is handed to the system allocator unchanged; only its size is looked at.
unsafe impl<W: Watch> GlobalAlloc for Watched<W> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        W::took(layout.size());
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        W::gave(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        W::took(size);
        W::gave(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(p, layout, size) }
    }
}
