//! Which server Narwal shows itself as: MariaDB or MySQL.
//!
//! The two have other names for the same collations, other defaults, other versions in comments that are run. A process
//! has a face (`--narwal-dialect`), which all of its threads show, but for those that serve clients of a port or socket
//! with a face of its own (`--narwal-mysql-port`): a connection has one thread, so the face is a fact of the thread, and
//! no function between the socket and an error's text has to hand it on. What is stored does not depend on it: a folder can
//! be opened, and a server be used, with either.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The server that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// MariaDB 10.11, where a process begins.
    MariaDb,
    /// MySQL 8.4.
    MySql,
}

impl Face {
    /// Both, in the order of their numbers (`as usize`).
    pub const ALL: [Face; 2] = [Face::MariaDb, Face::MySql];

    /// Its name as `@@narwal_dialect` has it.
    pub fn name(self) -> &'static str {
        match self {
            Face::MariaDb => "MARIADB",
            Face::MySql => "MYSQL",
        }
    }
}

static OF_PROCESS: AtomicBool = AtomicBool::new(false);

thread_local! {
    static OF_THREAD: Cell<Option<Face>> = const { Cell::new(None) };
}

/// Gives the process a face, which all threads show that were given none. For the start of a server: sessions that exist
/// keep the defaults that they began with.
pub fn set_of_process(face: Face) {
    OF_PROCESS.store(face == Face::MySql, Ordering::Relaxed);
}

/// Gives this thread a face until it ends.
pub fn set_of_thread(face: Face) {
    OF_THREAD.set(Some(face));
}

/// What `work` gives when this thread shows `face`.
pub fn under<T>(face: Face, work: impl FnOnce() -> T) -> T {
    /// Back to the face before, also when `work` panics.
    struct Before(Option<Face>);
    impl Drop for Before {
        fn drop(&mut self) {
            OF_THREAD.set(self.0);
        }
    }
    let _before = Before(OF_THREAD.replace(Some(face)));
    work()
}

/// The face that this thread shows.
#[inline]
#[must_use]
pub fn current() -> Face {
    match (OF_THREAD.get(), OF_PROCESS.load(Ordering::Relaxed)) {
        (Some(own), _) => own,
        (None, true) => Face::MySql,
        (None, false) => Face::MariaDb,
    }
}

/// True if this thread shows MySQL's face.
#[inline]
#[must_use]
pub fn is_mysql() -> bool {
    current() == Face::MySql
}

/// What is made once for each face, when it is first asked for.
#[derive(Debug, Default)]
pub struct PerFace<T>([OnceLock<T>; Face::ALL.len()]);

impl<T> PerFace<T> {
    /// Nothing made yet.
    #[must_use]
    pub const fn new() -> Self {
        PerFace([const { OnceLock::new() }; Face::ALL.len()])
    }

    /// That of the face that this thread shows.
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0[current() as usize].get_or_init(make)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_own_and_others_keep_theirs() {
        assert_eq!(current(), Face::MariaDb);
        let inside = under(Face::MySql, || {
            let other = std::thread::spawn(current).join().unwrap();
            (current(), other, under(Face::MariaDb, current), current())
        });
        let expected = (Face::MySql, Face::MariaDb, Face::MariaDb, Face::MySql);
        assert_eq!(inside, expected);
        let panicked = std::panic::catch_unwind(|| under(Face::MySql, || panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(current(), Face::MariaDb);
    }
}
