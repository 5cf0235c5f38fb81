//! Failed logins: who is blocked (`max_password_errors`), and how long an answer is kept back
//! (`connection_control_...`, MySQL's names).

use crate::acl::Account;
use crate::instance::Instance;
use crate::status;
use narwal_types::SqlError;
use narwal_types::errors::codes;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
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

    fn wrong_passwords(&self, user: &str, host: &str) -> u64 {
        let accounts = self.accounts.lock();
        if accounts.is_empty() {
            return 0;
        }
        accounts
            .get(&(user.to_string(), host.to_string()))
            .map_or(0, |f| f.passwords)
    }

    /// Counts a failure and says how many there were in a row.
    fn failed(&self, who: (&str, &str), known: bool, wrong_password: bool) -> u64 {
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
fn delay(tries: u64, threshold: u64, least: u64, most: u64) -> Duration {
    if threshold == 0 || tries <= threshold {
        return Duration::ZERO;
    }
    let millis = (tries - threshold)
        .saturating_mul(1000)
        .max(least)
        .min(most);
    Duration::from_millis(millis)
}

impl Instance {
    fn login_delay(&self, tries: u64) -> Duration {
        let v = |name: &str| {
            self.global_value(&format!("connection_control_{name}"))
                .as_u64()
        };
        let d = delay(
            tries,
            v("failed_connections_threshold"),
            v("min_connection_delay"),
            v("max_connection_delay"),
        );
        if !d.is_zero() {
            self.logins.delayed.fetch_add(1, Ordering::Relaxed);
        }
        d
    }

    /// Whether an account has given too many wrong passwords. Root of this machine never has, so that somebody can let
    /// the others in again.
    pub fn login_blocked(&self, account: &Account) -> bool {
        let wrong = self.logins.wrong_passwords(&account.user, &account.host);
        let exempt =
            account.user == "root" && matches!(&*account.host, "localhost" | "127.0.0.1" | "::1");
        wrong > 0 && !exempt && wrong >= self.global_value("max_password_errors").as_u64()
    }

    /// A login was refused: counts it, and says how long the answer is to be kept back.
    pub fn login_failed(&self, failed: &FailedLogin<'_>) -> Duration {
        self.audit_refused(failed);
        if matches!(
            failed.error.code,
            codes::ACCESS_DENIED_ERROR | codes::USER_IS_BLOCKED | codes::ACCOUNT_HAS_BEEN_LOCKED
        ) {
            self.retired.add_shared(status::ACCESS_DENIED, 1);
        }
        if failed.error.code != codes::ACCESS_DENIED_ERROR {
            return self.login_delay(0);
        }
        let who = failed.account.unwrap_or((failed.user, failed.host));
        let known = failed.account.is_some();
        self.login_delay(self.logins.failed(who, known, failed.wrong_password))
    }

    /// A login has passed: how long its answer is to be kept back. As long as if it had failed: an answer that comes at
    /// once would tell who guesses that the guess was right.
    pub fn login_passed(&self, user: &str, host: &str) -> Duration {
        match self.logins.forget(user, host) {
            0 => Duration::ZERO,
            tries => self.login_delay(tries + 1),
        }
    }
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
