//! Weights of long texts: their comparison ends when the statement is to end.

use crate::work::Work;

/// Bytes from which on a text is long: going through it may take a millisecond or more.
pub(super) const LONG: usize = 1 << 18;

/// Both texts are long. Where one is short, a comparison is soon at its end.
pub(super) fn both_long(a: &[u8], b: &[u8]) -> bool {
    a.len().min(b.len()) >= LONG
}

/// Gives what `inner` gives, and nothing more once the running statement is to end (see [`crate::work`]).
pub(super) struct Watched<I> {
    inner: I,
    work: Work,
    ended: bool,
}

impl<I> Watched<I> {
    pub(super) fn new(inner: I) -> Self {
        Watched {
            inner,
            work: Work::default(),
            ended: false,
        }
    }
}

impl<I: Iterator> Iterator for Watched<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.ended = self.ended || self.work.stops(1);
        if self.ended { None } else { self.inner.next() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::collation::Collation;

    /// Texts that are equal but in case and at their ends: each rule must go through them.
    fn texts() -> (Vec<u8>, Vec<u8>) {
        let text = |c: &str, end: &str| (c.repeat(LONG) + end).into_bytes();
        (text("a", "x"), text("A", "y"))
    }

    #[test]
    fn long_texts_compare_as_short_ones() {
        let (a, b) = texts();
        for name in [
            "utf8mb4_general_ci",
            "utf8mb4_general_nopad_ci",
            "utf8mb4_bin",
            "latin1_swedish_ci",
            "latin2_general_nopad_ci",
            "utf8mb4_unicode_ci",
            "utf8mb4_uca1400_nopad_as_cs",
        ] {
            let c = Collation::from_name(name).expect(name);
            let short = c.compare(b"ax", b"Ay");
            assert_eq!(c.compare(&a, &b), short, "{c:?}");
            assert_eq!(c.compare(&b, &a), short.reverse(), "{c:?}");
        }
    }

    #[test]
    fn a_statement_that_is_to_end_compares_no_further() {
        let flag = Arc::new(AtomicBool::new(true));
        crate::work::watch(&flag);
        let mut taken = 0;
        let taken_by = Watched::new(std::iter::repeat_with(|| taken += 1)).count();
        assert!(taken_by < LONG, "{taken_by}");
        flag.store(false, Ordering::Relaxed);
        assert_eq!(Watched::new(0..LONG).count(), LONG);
    }
}
