//! Which server a process shows itself as: MariaDB or MySQL.
//!
//! The two have other names for the same collations, other defaults, other versions in comments that are run. All
//! sessions of a process have one face, and it is chosen before the first of them begins (`--narwal-dialect`). What is
//! stored does not depend on it: a folder can be opened with either.

use std::sync::atomic::{AtomicBool, Ordering};

static MYSQL: AtomicBool = AtomicBool::new(false);

/// Shows MySQL's face from now on (true) or MariaDB's, which is where a process begins. For the start of a server: sessions
/// that exist keep the defaults that they began with.
pub fn set_mysql(on: bool) {
    MYSQL.store(on, Ordering::Relaxed);
}

/// True if the process shows MySQL's face.
#[inline]
#[must_use]
pub fn is_mysql() -> bool {
    MYSQL.load(Ordering::Relaxed)
}
