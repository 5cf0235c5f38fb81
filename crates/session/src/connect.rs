//! Sessions of a server: for clients, and of the server's own.

use crate::acl::Account;
use crate::client::ConnectOptions;
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use narwal_types::SqlResult;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Instance {
    /// A session of the server's own, with all privileges, whatever the accounts are. It is not in the process list.
    ///
    /// # Errors
    /// The session can't be made.
    pub fn connect_internal(self: &Arc<Self>) -> SqlResult<ClientSession> {
        let mut account = Account::new("", "");
        account.global = PrivilegeSet::ALL_GLOBAL.with(PrivilegeSet::GRANT_OPTION);
        let client = ConnectOptions {
            user: "system user".into(),
            account_user: String::new(),
            account_host: String::new(),
            host: String::new(),
            ..ConnectOptions::local(self.system_ids(1))
        };
        ClientSession::for_applier(self.clone(), client, Arc::new(account), Arc::default())
    }

    /// Makes the session of a client that has been authenticated.
    pub fn connect(self: &Arc<Self>, options: ConnectOptions) -> SqlResult<ClientSession> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let session = ClientSession::new(self.clone(), options.clone());
        match &session {
            Ok(s) => self.audit_client("connect", &s.client, None),
            Err(e) => self.audit_client("failed_connect", &options, Some(e)),
        }
        session
    }
}
