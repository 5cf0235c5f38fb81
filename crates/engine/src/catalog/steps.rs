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
        if self.step <= 1 {
            return at;
        }
        let behind = (at % self.step + self.step - self.offset % self.step) % self.step;
        match behind {
            0 => at,
            _ => at.saturating_add(self.step - behind),
        }
    }
}
