//! Who a session is, and what that lets it do.

use crate::acl::{Account, Acl};
use crate::limits::Connected;
use narwal_types::{SqlResult, errors};
use std::sync::Arc;

/// The session's account, its role, and the limits that count for it.
pub(crate) struct SessionRights {
    pub acl: Arc<Acl>,
    /// Own account, as of `acl`.
    pub account: Arc<Account>,
    /// SET ROLE.
    pub role: Option<Arc<str>>,
    /// The connection as it counts for its account's limits. None for the server's own sessions.
    pub connected: Option<Connected>,
    /// The password has expired: nothing but SET goes until it is a new one.
    pub must_change_password: bool,
}

impl SessionRights {
    pub(crate) fn new(acl: Arc<Acl>, account: Arc<Account>) -> SessionRights {
        SessionRights {
            acl,
            account,
            role: None,
            connected: None,
            must_change_password: false,
        }
    }

    /// Error 1226: the account has run as many statements as it may in an hour.
    pub(crate) fn count_query(&self) -> SqlResult<()> {
        match (&self.connected, &self.account.limits) {
            (Some(c), l) if l.queries > 0 => c.usage().query(&self.account.user, l),
            _ => Ok(()),
        }
    }

    /// The same for statements that change something.
    pub(crate) fn count_update(&self) -> SqlResult<()> {
        match (&self.connected, &self.account.limits) {
            (Some(c), l) if l.updates > 0 => c.usage().update(&self.account.user, l),
            _ => Ok(()),
        }
    }

    /// Error 1820 while the password has to be changed.
    pub(crate) fn refuse_expired(&self) -> SqlResult<()> {
        match self.must_change_password {
            true => Err(errors::MUST_CHANGE_PASSWORD.plain()),
            false => Ok(()),
        }
    }
}
