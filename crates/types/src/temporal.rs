//! Dates and times as MySQL has them (zero dates, times beyond 24 hours).

/// A calendar date; month and day may be 0 (a zero date).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A signed time span of up to 838:59:59.999999, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Microseconds, negative for negative times.
    pub micros: i64,
    /// Digits shown after the second, 0 to 6.
    pub fsp: u8,
}

/// A date with a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// Microseconds since midnight, 0 to 86_399_999_999.
    pub micros: u64,
    /// Digits shown after the second, 0 to 6.
    pub fsp: u8,
}
