//! Whether the running statement is to end, for loops that know nothing of statements: a loop over the characters of a text
//! of a gigabyte, say.
//!
//! A session's thread says once which flag KILL sets. A loop that may run long counts its work in a [`Work`], and when told
//! to stop it returns what it has. The flag stays set, so the caller fails with error 1317 before it uses the value.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Bytes, characters or steps between two looks at the flag: well below a tenth of a second of any loop.
const STEP: usize = 64 << 10;

/// Names the flag that ends the statements of this thread. Cheap if it is the one that was named last.
#[inline]
pub fn watch(flag: &Arc<AtomicBool>) {
    FLAG.with_borrow_mut(|f| {
        if !matches!(f, Some(known) if Arc::ptr_eq(known, flag)) {
            *f = Some(flag.clone());
        }
    });
}

/// True if the running statement is to end.
pub fn stopped() -> bool {
    FLAG.with_borrow(|f| f.as_ref().is_some_and(|f| f.load(Ordering::Relaxed)))
}

/// Counts work, and looks at the flag now and then.
#[derive(Debug)]
pub struct Work {
    left: usize,
}

impl Default for Work {
    fn default() -> Self {
        Work { left: STEP }
    }
}

impl Work {
    /// So much work is done: true if there is to be no more.
    #[inline]
    pub fn stops(&mut self, done: usize) -> bool {
        match self.left.checked_sub(done) {
            Some(left) => {
                self.left = left;
                false
            }
            None => {
                self.left = STEP;
                stopped()
            }
        }
    }
}

/// Gives `bytes` to `take` piece by piece; false if the statement is to end before all are taken.
pub fn in_pieces(bytes: &[u8], mut take: impl FnMut(&[u8])) -> bool {
    for piece in bytes.chunks(16 * STEP) {
        take(piece);
        if piece.len() == 16 * STEP && stopped() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_stops_once_the_flag_is_set() {
        let flag = Arc::new(AtomicBool::new(false));
        watch(&flag);
        let mut w = Work::default();
        assert!(!(0..10).any(|_| w.stops(STEP)));
        assert!(in_pieces(&vec![0; 40 * STEP], |_| ()));
        flag.store(true, Ordering::Relaxed);
        assert!((0..=STEP).any(|_| w.stops(1)));
        assert!(!in_pieces(&vec![0; 40 * STEP], |_| ()));
        assert!(in_pieces(&[0; 40], |_| ()));
    }

    #[test]
    fn other_threads_go_on() {
        let flag = Arc::new(AtomicBool::new(true));
        watch(&flag);
        assert!(stopped());
        assert!(!std::thread::spawn(stopped).join().unwrap());
    }
}
