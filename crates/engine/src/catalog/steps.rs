//! How a server counts, so that several draw numbers without asking each other.

/// Which numbers AUTO_INCREMENT gives: `offset`, `offset + step` and so on, each server of several its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// `auto_increment_increment`, at least 1.
    pub step: u64,
    /// `auto_increment_offset`.
    pub offset: u64,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { step: 1, offset: 1 }
    }
}

impl Steps {
    /// The first of the numbers from `at` on; the largest `u64` if there is none.
    #[must_use]
    pub fn first_from(self, at: u64) -> u64 {
        at.saturating_add(self.until_own(i128::from(at)) as u64)
    }

    /// How far the first of them is from `at` on: less than a step.
    pub(crate) fn until_own(self, at: i128) -> i128 {
        if self.step <= 1 {
            return 0;
        }
        (i128::from(self.offset) - at).rem_euclid(i128::from(self.step))
    }
}
