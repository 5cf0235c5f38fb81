//! The server's clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 by the server's clock.
pub(crate) fn now() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u32::try_from(d.as_secs()).unwrap_or(u32::MAX))
}
