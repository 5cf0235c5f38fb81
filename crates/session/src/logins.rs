//! Failed logins: who is blocked (`max_password_errors`), and how long an answer is kept back
//! (`connection_control_...`, MySQL's names).

use narwal_types::SqlError;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Names that are no account's are forgotten when there are more of them.
const MOST_STRANGERS: usize = 4096;

/// How often in a row an account, or somebody with a name that is none, has failed.
#[derive(Debug, Default, Clone, Copy)]
struct Failed {
    /// With a wrong password, for `max_password_errors`.
    passwords: u64,
    /// In any way, for the delay.
    tries: u64,
}

/// By name and host: the account's, or as they came.
type Counts = HashMap<(String, String), Failed>;

/// What is remembered of failed logins while the server runs.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    accounts: Mutex<Counts>,
    strangers: Mutex<Counts>,
    /// Logins whose answer was kept back.
    pub(crate) delayed: AtomicU64,
}

/// A login that was refused.
#[derive(Debug, Clone, Copy)]
pub struct FailedLogin<'a> {
    /// Connection id.
    pub id: u32,
    /// User name as given.
    pub user: &'a str,
    /// Where it comes from, as accounts are matched.
    pub host: &'a str,
    /// Default database it asked for.
    pub db: Option<&'a str>,
    /// Name and host of the account, if there is one.
    pub account: Option<(&'a str, &'a str)>,
    /// The answer.
    pub error: &'a SqlError,
    /// Why, for the audit log: more than the client is told.
    pub reason: &'static str,
    /// The account's password was wrong, and not empty.
    pub wrong_password: bool,
}

impl Logins {
    fn map(&self, known: bool) -> &Mutex<Counts> {
        if known {
            &self.accounts
        } else {
            &self.strangers
        }
    }

    pub(crate) fn wrong_passwords(&self, user: &str, host: &str) -> u64 {
        let accounts = self.accounts.lock();
        if accounts.is_empty() {
            return 0;
        }
        accounts
            .get(&(user.to_string(), host.to_string()))
            .map_or(0, |f| f.passwords)
    }

    /// Counts a failure and says how many there were in a row.
    pub(crate) fn failed(&self, who: (&str, &str), known: bool, wrong_password: bool) -> u64 {
        let mut map = self.map(known).lock();
        if !known && map.len() >= MOST_STRANGERS {
            map.clear();
        }
        let f = map
            .entry((who.0.to_string(), who.1.to_string()))
            .or_default();
        f.passwords += u64::from(wrong_password);
        f.tries += 1;
        f.tries
    }

    /// Forgets an account's failures; how many there were in a row.
    pub(crate) fn forget(&self, user: &str, host: &str) -> u64 {
        let mut map = self.accounts.lock();
        if map.is_empty() {
            return 0;
        }
        map.remove(&(user.to_string(), host.to_string()))
            .map_or(0, |f| f.tries)
    }

    /// FLUSH PRIVILEGES.
    pub(crate) fn forget_all(&self) {
        self.accounts.lock().clear();
        self.strangers.lock().clear();
    }
}

/// How long the answer after `tries` failures in a row is kept back.
pub(crate) fn delay(tries: u64, threshold: u64, least: u64, most: u64) -> Duration {
    if threshold == 0 || tries <= threshold {
        return Duration::ZERO;
    }
    let millis = (tries - threshold)
        .saturating_mul(1000)
        .max(least)
        .min(most);
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_within_bounds() {
        let d = |tries| delay(tries, 3, 1500, 4000).as_millis();
        assert_eq!(
            [d(3), d(4), d(5), d(6), d(100)],
            [0, 1500, 2000, 3000, 4000]
        );
        assert_eq!(delay(9, 0, 1000, 4000), Duration::ZERO);
        assert_eq!(delay(u64::MAX, 1, 1, 5).as_millis(), 5);
    }

    #[test]
    fn counts_are_by_account_and_bounded() {
        let l = Logins::default();
        assert_eq!(l.failed(("u", "%"), true, true), 1);
        assert_eq!(l.failed(("u", "%"), true, false), 2);
        assert_eq!(l.wrong_passwords("u", "%"), 1);
        assert_eq!(l.forget("u", "%"), 2);
        assert_eq!((l.wrong_passwords("u", "%"), l.forget("u", "%")), (0, 0));
        for i in 0..2 * MOST_STRANGERS {
            l.failed((&i.to_string(), "h"), false, true);
        }
        assert!(l.strangers.lock().len() <= MOST_STRANGERS);
    }
}
