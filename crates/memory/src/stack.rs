//! Stacks of the threads that run statements: how large they are, and how much of one programs may take that call each other.
//!
//! The parser bounds how deep a statement's trees are, so what recurses over them needs no look at the stack. Stored programs
//! are not bounded that way: each may call the next from within an expression. So they ask here.

use std::cell::Cell;

/// Stack of a thread that runs statements, in bytes: three times what the deepest expression needs that the parser takes.
/// Only what is used takes memory. Without the optimiser a function's frame is several times as large.
pub const STATEMENT_STACK: usize = if cfg!(debug_assertions) { 128 } else { 20 } << 20;

/// What lies between the outermost program and one that it calls, at most. A statement of either may need a third of the
/// stack by itself.
const BETWEEN_PROGRAMS: usize = STATEMENT_STACK / 5;

thread_local! {
    /// Where on the stack the outermost program of this thread began; 0: none runs.
    static OUTERMOST: Cell<usize> = const { Cell::new(0) };
}

/// A program that runs, until it is dropped.
#[derive(Debug)]
pub struct InProgram {
    outermost: bool,
}

impl InProgram {
    /// A program begins. `None` if those that run already have taken too much stack for another one.
    #[inline(never)]
    pub fn begin() -> Option<InProgram> {
        let here = 0u8;
        let here = std::ptr::from_ref(&here).addr();
        let first = OUTERMOST.get();
        if first == 0 {
            OUTERMOST.set(here);
        } else if first.abs_diff(here) > BETWEEN_PROGRAMS {
            return None;
        }
        Some(InProgram {
            outermost: first == 0,
        })
    }
}

impl Drop for InProgram {
    fn drop(&mut self) {
        if self.outermost {
            OUTERMOST.set(0);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// How many programs fit when each takes 64 KiB of stack.
    fn within(depth: usize) -> usize {
        let frame = std::hint::black_box([0u8; 64 << 10]);
        let deepest = match InProgram::begin() {
            Some(_program) if depth < 1_000_000 => within(depth + 1),
            _ => depth,
        };
        std::hint::black_box(&frame);
        deepest
    }

    #[test]
    fn programs_within_each_other_end_before_the_stack_does() {
        let run = || (within(0), within(0));
        let thread = std::thread::Builder::new().stack_size(STATEMENT_STACK);
        let (first, again) = thread.spawn(run).unwrap().join().unwrap();
        let fit = BETWEEN_PROGRAMS / (64 << 10);
        assert!(first > fit / 3 && first <= fit + 1, "{first} of {fit}");
        assert_eq!(first, again, "the outermost one ends");
    }
}
