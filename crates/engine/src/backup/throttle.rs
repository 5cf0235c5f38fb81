//! Not more than so many bytes a second.

use std::time::{Duration, Instant};

/// How far behind its rate a slow user may be and catch up.
const CREDIT: Duration = Duration::from_millis(200);

/// Counts bytes against a rate.
#[derive(Debug)]
pub struct Throttle {
    bytes_per_second: u64,
    /// Up to when the bytes so far have used the rate up.
    until: Instant,
}

impl Throttle {
    /// `bytes_per_second`; 0: no limit.
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Throttle {
        Throttle {
            bytes_per_second,
            until: Instant::now(),
        }
    }

    /// So many bytes went: how long to wait before more may go.
    pub fn after(&mut self, bytes: u64) -> Duration {
        if self.bytes_per_second == 0 {
            return Duration::ZERO;
        }
        let now = Instant::now();
        let from = self.until.max(now.checked_sub(CREDIT).unwrap_or(now));
        let takes = bytes as f64 / self.bytes_per_second as f64;
        self.until = from + Duration::from_secs_f64(takes.min(3600.0));
        self.until.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_to_the_rate() {
        let mut t = Throttle::new(1000);
        let waits: Vec<_> = (0..10).map(|_| t.after(100)).collect();
        assert!(waits.windows(2).all(|w| w[1] >= w[0]));
        assert!(waits[9] >= Duration::from_millis(500), "{waits:?}");
        assert_eq!(Throttle::new(0).after(u64::MAX), Duration::ZERO);
    }
}
