//! RAND() with a seed: a series that is always the same.

/// MariaDB's generator with a seed: two remainders that move on together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeded(u64, u64);

impl Seeded {
    const MAX: u64 = 0x3fff_ffff;

    /// Begins a series.
    pub(crate) fn new(seed: u32) -> Self {
        Seeded(
            u64::from(seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555)) % Self::MAX,
            u64::from(seed.wrapping_mul(0x1000_0001)) % Self::MAX,
        )
    }

    /// Begins a series with both of its numbers.
    pub(crate) fn of(a: u32, b: u32) -> Self {
        Seeded(u64::from(a) % Self::MAX, u64::from(b) % Self::MAX)
    }

    /// Its next number, from 0 to 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = (self.0 * 3 + self.1) % Self::MAX;
        self.1 = (self.0 + self.1 + 33) % Self::MAX;
        self.0 as f64 / Self::MAX as f64
    }
}
