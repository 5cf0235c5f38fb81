//! What the server does with a login that has passed or failed.

use crate::acl::Account;
use crate::instance::Instance;
use crate::logins::{FailedLogin, delay};
use crate::status;
use narwal_types::errors::codes;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
