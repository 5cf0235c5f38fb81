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

    /// The seeds of a session out of one word. `None`: none was set.
    pub(crate) fn of_word(word: u64) -> Option<Self> {
        (word >> 63 == 1).then_some(Seeded((word >> 30) & Self::MAX, word & Self::MAX))
    }

    /// In one word, which is not 0.
    pub(crate) fn word(self) -> u64 {
        1 << 63 | self.0 << 30 | self.1
    }

    /// Its next number, from 0 to 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = (self.0 * 3 + self.1) % Self::MAX;
        self.1 = (self.0 + self.1 + 33) % Self::MAX;
        self.0 as f64 / Self::MAX as f64
    }
}

/// A session's seeds, kept in one word, with one of them set: `rand_seed1`, or `rand_seed2`.
#[must_use]
pub fn with_seed(word: u64, second: bool, seed: u64) -> u64 {
    let Seeded(one, two) = Seeded::of_word(word).unwrap_or(Seeded(0, 0));
    match second {
        false => Seeded(seed % Seeded::MAX, two),
        true => Seeded(one, seed % Seeded::MAX),
    }
    .word()
}

/// One of a session's seeds as it is now.
#[must_use]
pub fn seed_of(word: u64, second: bool) -> u64 {
    Seeded::of_word(word).map_or(0, |s| if second { s.1 } else { s.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The numbers are those of a MariaDB 10.11.
    #[test]
    fn seeds_that_are_set_begin_the_series_of_mariadb() {
        let word = with_seed(with_seed(0, false, 10_000_000), true, 1_000_000);
        let mut series = Seeded::of_word(word).expect("it is set");
        let numbers: Vec<String> = (0..3).map(|_| format!("{:.7}", series.next())).collect();
        assert_eq!(numbers, ["0.0288710", "0.1164154", "0.4954638"]);
        assert_eq!(seed_of(series.word(), false), 532_000_198);
        assert_eq!(seed_of(series.word(), true), 689_000_330);
        assert!(Seeded::of_word(0).is_none());
    }
}
