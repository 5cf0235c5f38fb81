//! Memory for the pages of the base, beside the C library's allocator.
//!
//! Any thread may bring a page into the base's cache, and whichever next needs the room drops it. The C library gives each
//! thread's allocations to one of a few arenas, and what is freed stays with its arena: after four threads had filled the cache
//! in turn, 28 MiB of pages held 130 MiB. Here all pages share one free list, in regions of the size of a huge page, which the
//! kernel is asked to use: looking up rows in a large cache takes fewer walks of page tables.
//!
//! What comes from the C library is counted ([`narwal_memory`]): that is how a statement's memory is known.
//!
//! A region is never given back: there are as many as the most pages that were held at once, which the base's cache bounds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A page of the base (redb's default), as it stands in an `Arc<[u8]>`: two counts in front.
const BLOCK: usize = 4096 + 2 * size_of::<usize>();

/// What memory is taken from the C library by: the size of a huge page on x86-64 and AArch64.
const REGION: usize = 2 << 20;

/// The C library's allocator, but for blocks of one size.
pub(crate) struct Allocator {
    pool: Mutex<Pool>,
}

/// The free blocks.
struct Pool {
    /// Freed ones, the last one first; each holds a pointer to the next.
    free: Option<NonNull<Free>>,
    /// The rest of the newest region, which was never in use.
    rest: *mut u8,
    /// Bytes of it.
    left: usize,
}

struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: a pool's pointers lead to memory that it alone has, and its mutex lets one thread at a time see them.
unsafe impl Send for Pool {}

impl Allocator {
    pub(crate) const fn new() -> Self {
        Allocator {
            pool: Mutex::new(Pool {
                free: None,
                rest: null_mut(),
                left: 0,
            }),
        }
    }

    /// True for what comes from the pool. It hangs on the layout alone, so that a block goes back to where it came from.
    #[inline]
    fn pooled(layout: Layout) -> bool {
        layout.size() == BLOCK && layout.align() <= align_of::<Free>()
    }
}

/// What glibc takes for a block: a word for itself, all in steps of two words, four words at least. A million texts of a letter are
/// 32 MB, not one. Other C libraries take about as much.
#[inline]
const fn chunk(size: usize) -> usize {
    const WORD: usize = size_of::<usize>();
    let least = 3 * WORD;
    let size = if size > least { size } else { least };
    (size + 3 * WORD - 1) & !(2 * WORD - 1)
}

// SAFETY: blocks of the pool are `BLOCK` bytes, aligned, and with one owner (see `Pool`); everything else is the C library's,
// with the layouts it was asked for with. `pooled` says the same of a layout each time. Nothing here panics or allocates by
// way of the global allocator: a mutex of the standard library does not on Linux.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::pooled(layout) {
            return self
                .pool
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
        }
        // SAFETY: the caller's promises are those that `System` wants.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            // SAFETY: as above.
            return again(layout.size(), || unsafe { System.alloc(layout) });
        }
        narwal_memory::taken(chunk(layout.size()));
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if Self::pooled(layout) {
            let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: by its layout the block is one of the pool's, and the caller gives it up.
            return unsafe { pool.put(block) };
        }
        narwal_memory::freed(chunk(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::pooled(layout) {
            // SAFETY: as above; the block is of this layout.
            unsafe {
                let block = self.alloc(layout);
                if !block.is_null() {
                    block.write_bytes(0, layout.size());
                }
                return block;
            }
        }
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            // SAFETY: as above.
            return again(layout.size(), || unsafe { System.alloc_zeroed(layout) });
        }
        narwal_memory::taken(chunk(layout.size()));
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size` and the alignment make a layout.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if !Self::pooled(layout) && !Self::pooled(new) {
            // SAFETY: as above.
            let moved = unsafe { System.realloc(block, layout, size) };
            if moved.is_null() {
                // SAFETY: as above; what could not be moved is still there.
                let moved = again(size, || unsafe { System.realloc(block, layout, size) });
                if !moved.is_null() {
                    narwal_memory::freed(chunk(layout.size()));
                }
                return moved;
            }
            narwal_memory::freed(chunk(layout.size()));
            narwal_memory::taken(chunk(size));
            return moved;
        }
        // SAFETY: both blocks hold the bytes that are copied, and are two; the old one was the caller's to give up.
        unsafe {
            let to = self.alloc(new);
            if !to.is_null() {
                to.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            to
        }
    }
}

/// The C library had nothing: gives the reserve back to the system and asks again, for half a minute if need be (a busy machine lets a session reach its next check late). Statements that
/// hold much end at their next check meanwhile, with an error, and the others go on.
#[cold]
fn again(size: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    let block = ask_on(ask);
    if !block.is_null() {
        narwal_memory::taken(chunk(size));
    }
    block
}

/// How often the C library is asked again, and how long after.
const ROUNDS: u32 = 3000;
const PAUSE: Duration = Duration::from_millis(10);

#[cold]
fn ask_on(ask: impl Fn() -> *mut u8) -> *mut u8 {
    for _ in 0..ROUNDS {
        crate::reserve::give_back();
        let block = ask();
        if !block.is_null() {
            return block;
        }
        // Also if others have the reserve.
        narwal_memory::set_exhausted(true);
        std::thread::sleep(PAUSE);
    }
    null_mut()
}

impl Pool {
    /// A block that nobody has; null if there is no memory.
    fn take(&mut self) -> *mut u8 {
        if let Some(block) = self.free {
            // SAFETY: what is in the list was put there by `put`, which wrote `Free`, and nobody else has it.
            self.free = unsafe { block.as_ref() }.next;
            return block.as_ptr().cast();
        }
        if self.left < BLOCK {
            let Ok(layout) = Layout::from_size_align(REGION, REGION) else {
                return null_mut();
            };
            // SAFETY: the layout is not empty.
            let mut region = unsafe { System.alloc(layout) };
            if region.is_null() {
                // SAFETY: as above.
                region = ask_on(|| unsafe { System.alloc(layout) });
            }
            if region.is_null() {
                return region;
            }
            huge(region);
            self.rest = region;
            self.left = REGION;
        }
        let block = self.rest;
        // SAFETY: the rest has at least `BLOCK` bytes. That is a multiple of `Free`'s alignment, as the region's start is.
        self.rest = unsafe { block.add(BLOCK) };
        self.left -= BLOCK;
        block
    }

    /// # Safety
    /// The block came from [`Pool::take`] and nobody uses it any more.
    unsafe fn put(&mut self, block: *mut u8) {
        let Some(block) = NonNull::new(block.cast::<Free>()) else {
            return;
        };
        // SAFETY: it is `BLOCK` bytes, aligned for `Free`, and ours.
        unsafe { block.write(Free { next: self.free }) };
        self.free = Some(block);
    }
}

/// Asks for a huge page; without one the region has small ones.
#[cfg(all(target_os = "linux", not(miri)))]
fn huge(region: *mut u8) {
    // SAFETY: the region is whole pages of ours, and the advice changes nothing in them.
    unsafe { libc::madvise(region.cast(), REGION, libc::MADV_HUGEPAGE) };
}

#[cfg(any(not(target_os = "linux"), miri))]
fn huge(_: *mut u8) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const PAGE: Layout = match Layout::from_size_align(BLOCK, 8) {
        Ok(layout) => layout,
        Err(_) => panic!(),
    };

    #[test]
    fn blocks_are_apart_and_come_back() {
        let a = Allocator::new();
        // Behind the end of a region too.
        let n = REGION / BLOCK + 5;
        // SAFETY: each block is written within its layout, and given back once with it.
        unsafe {
            let blocks: Vec<*mut u8> = (0..n).map(|_| a.alloc(PAGE)).collect();
            for (i, b) in blocks.iter().enumerate() {
                assert!(!b.is_null() && b.addr().is_multiple_of(8));
                b.write_bytes(i as u8, BLOCK);
            }
            for (i, b) in blocks.iter().enumerate() {
                let bytes = std::slice::from_raw_parts(*b, BLOCK);
                assert!(bytes.iter().all(|x| *x == i as u8), "block {i}");
                a.dealloc(*b, PAGE);
            }
            let again: HashSet<*mut u8> = (0..n).map(|_| a.alloc(PAGE)).collect();
            assert_eq!(
                again,
                blocks.iter().copied().collect(),
                "nothing new was taken"
            );
            let zeroed = *again.iter().next().unwrap();
            a.dealloc(zeroed, PAGE);
            let zeroed = a.alloc_zeroed(PAGE);
            assert!(
                std::slice::from_raw_parts(zeroed, BLOCK)
                    .iter()
                    .all(|x| *x == 0)
            );
        }
    }

    #[test]
    fn other_sizes_and_changes_of_size_keep_their_bytes() {
        let a = Allocator::new();
        let small = Layout::from_size_align(100, 1).unwrap();
        // SAFETY: as above; `realloc` takes the layout that the block has.
        unsafe {
            let b = a.alloc(small);
            b.write_bytes(7, 100);
            let b = a.realloc(b, small, BLOCK);
            let page = Layout::from_size_align(BLOCK, 1).unwrap();
            assert!(std::slice::from_raw_parts(b, 100).iter().all(|x| *x == 7));
            b.write_bytes(8, BLOCK);
            let b = a.realloc(b, page, 2 * BLOCK);
            assert!(std::slice::from_raw_parts(b, BLOCK).iter().all(|x| *x == 8));
            let large = Layout::from_size_align(2 * BLOCK, 1).unwrap();
            let b = a.realloc(b, large, 50);
            assert!(std::slice::from_raw_parts(b, 50).iter().all(|x| *x == 8));
            a.dealloc(b, Layout::from_size_align(50, 1).unwrap());
            // Of a page's size, but with an alignment that the pool does not keep.
            let apart = Layout::from_size_align(BLOCK, 4096).unwrap();
            let b = a.alloc(apart);
            assert!(b.addr().is_multiple_of(4096));
            a.dealloc(b, apart);
        }
    }

    #[test]
    fn threads_pass_blocks_around() {
        let a = Allocator::new();
        let rounds = if cfg!(miri) { 30 } else { 3000 };
        std::thread::scope(|s| {
            for t in 0..4u8 {
                let a = &a;
                s.spawn(move || {
                    let mut held = Vec::new();
                    for i in 0..rounds {
                        // SAFETY: as above.
                        unsafe {
                            let b = a.alloc(PAGE);
                            b.write(t);
                            b.add(BLOCK - 1).write(t);
                            held.push(b);
                            if i % 3 == 2 {
                                let b = held.swap_remove(i % held.len());
                                assert_eq!((b.read(), b.add(BLOCK - 1).read()), (t, t));
                                a.dealloc(b, PAGE);
                            }
                        }
                    }
                    for b in held {
                        // SAFETY: as above.
                        unsafe {
                            assert_eq!((b.read(), b.add(BLOCK - 1).read()), (t, t));
                            a.dealloc(b, PAGE);
                        }
                    }
                });
            }
        });
    }
}
