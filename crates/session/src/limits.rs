//! What accounts may use in an hour, and how many connections they may have at a time.

use crate::acl::Limits;
use crate::clock::unix_micros;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// What an account has used.
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Open now.
    open: u64,
    /// When the hour began, microseconds since 1970.
    since: i64,
    queries: u64,
    updates: u64,
    connections: u64,
}

impl Counts {
    /// Begins a new hour if the last one is over.
    fn turn(&mut self) {
        let now = unix_micros();
        if now.saturating_sub(self.since) >= HOUR {
            *self = Counts {
                open: self.open,
                since: now,
                ..Counts::default()
            };
        }
    }
}

/// Counts one more, unless the limit is reached.
fn take(count: &mut u64, limit: u64, user: &str, name: &str) -> SqlResult<()> {
    if limit > 0 && *count >= limit {
        return Err(reached(user, name, &limit));
    }
    *count += 1;
    Ok(())
}

/// Error 1226.
fn reached(user: &str, name: &str, limit: &dyn std::fmt::Display) -> SqlError {
    errors::USER_LIMIT_REACHED.with([&user, &name, limit])
}

impl Usage {
    /// Counts a statement.
    pub(crate) fn query(&self, user: &str, limits: &Limits) -> SqlResult<()> {
        let mut counts = self.0.lock();
        counts.turn();
        take(
            &mut counts.queries,
            limits.queries,
            user,
            "max_queries_per_hour",
        )
    }

    /// Counts a statement that changes something.
    pub(crate) fn update(&self, user: &str, limits: &Limits) -> SqlResult<()> {
        let mut counts = self.0.lock();
        counts.turn();
        take(
            &mut counts.updates,
            limits.updates,
            user,
            "max_updates_per_hour",
        )
    }
}

/// A connection of an account. It is open until this is dropped.
#[derive(Debug)]
pub(crate) struct Connected(Arc<Usage>);

impl Connected {
    /// What the account has used.
    pub(crate) fn usage(&self) -> &Usage {
        &self.0
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.0.lock().open -= 1;
    }
}

/// What all accounts have used.
#[derive(Debug, Default)]
pub(crate) struct Resources(Mutex<HashMap<(String, String), Arc<Usage>>>);

impl Resources {
    /// Counts a connection, if the limits let it be. `most`: `max_user_connections`, 0 for no limit. `above`: the account is
    /// above limits of connections at a time.
    pub(crate) fn connect(
        &self,
        (user, host): (&str, &str),
        limits: &Limits,
        most: u64,
        above: bool,
    ) -> SqlResult<Connected> {
        let usage = {
            let mut all = self.0.lock();
            let key = (user.to_string(), host.to_string());
            all.entry(key).or_default().clone()
        };
        let mut counts = usage.0.lock();
        let own = limits.user_connections;
        if !above && own == 0 && most > 0 && counts.open >= most {
            return Err(errors::TOO_MANY_USER_CONNECTIONS.with([&user]));
        }
        counts.turn();
        if !above && own != 0 && i64::try_from(counts.open).unwrap_or(i64::MAX) >= own {
            return Err(reached(user, "max_user_connections", &own));
        }
        take(
            &mut counts.connections,
            limits.connections,
            user,
            "max_connections_per_hour",
        )?;
        counts.open += 1;
        drop(counts);
        Ok(Connected(usage))
    }

    /// FLUSH USER_RESOURCES: the hour begins anew for all.
    pub(crate) fn flush(&self) {
        let mut all = self.0.lock();
        all.retain(|_, u| {
            let mut counts = u.0.lock();
            *counts = Counts {
                open: counts.open,
                ..Counts::default()
            };
            counts.open > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_and_flushed() {
        let all = Resources::default();
        let who = ("u", "%");
        let limits = Limits {
            queries: 2,
            updates: 1,
            connections: 3,
            user_connections: 2,
            statement_micros: 0,
        };
        let first = all.connect(who, &limits, 0, false).unwrap();
        let second = all.connect(who, &limits, 0, false).unwrap();
        let e = all.connect(who, &limits, 0, false).unwrap_err();
        assert_eq!(
            &*e.message,
            "User 'u' has exceeded the 'max_user_connections' resource (current value: 2)"
        );
        drop(second);
        let third = all.connect(who, &limits, 0, false).unwrap();
        drop(third);
        let e = all.connect(who, &limits, 0, false).unwrap_err();
        assert!(e.message.contains("max_connections_per_hour"), "{e:?}");
        assert!(first.usage().query("u", &limits).is_ok());
        assert!(first.usage().query("u", &limits).is_ok());
        assert_eq!(first.usage().query("u", &limits).unwrap_err().code, 1226);
        assert!(first.usage().update("u", &limits).is_ok());
        assert_eq!(first.usage().update("u", &limits).unwrap_err().code, 1226);
        all.flush();
        assert!(first.usage().query("u", &limits).is_ok());
        // Of all accounts, and above it.
        let none = Limits::default();
        let _one = all.connect(("v", "%"), &none, 1, false).unwrap();
        assert_eq!(
            all.connect(("v", "%"), &none, 1, false).unwrap_err().code,
            1203
        );
        assert!(all.connect(("v", "%"), &none, 1, true).is_ok());
    }
}
