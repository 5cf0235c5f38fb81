//! What the session is, as virtual tables and SHOW see it.

use crate::acl::{Account, Acl};
use crate::instance::Instance;
use crate::process::Process;
use crate::session::ClientSession;
use crate::session_vars::SessionVars;
use std::sync::Arc;

/// What the rows are made from. Which account reads them, and what it sees, is settled when the statement is planned.
#[derive(Clone)]
pub(crate) struct View {
    pub instance: Arc<Instance>,
    pub acl: Arc<Acl>,
    pub account: Arc<Account>,
    pub user: String,
    /// SET ROLE.
    pub role: Option<Arc<str>>,
    pub vars: Arc<SessionVars>,
    pub process: Arc<Process>,
    /// TLS version and cipher.
    pub tls: (String, String),
    /// The connection is compressed.
    pub compressed: bool,
    /// The snapshot of the open transaction.
    pub snapshot: Option<u64>,
}

impl View {
    /// What another account sees, if one is named by its name and host; for one that is gone it stays.
    pub(crate) fn read_by(self, reader: Option<&(String, String)>) -> View {
        let Some((user, host)) = reader else {
            return self;
        };
        let Some(account) = self.acl.definer(user, host) else {
            return self;
        };
        View {
            account,
            user: user.clone(),
            role: host.is_empty().then(|| user.as_str().into()),
            ..self
        }
    }
}

impl ClientSession {
    /// What virtual tables show to this session.
    pub(crate) fn view(&self) -> View {
        View {
            instance: self.instance.clone(),
            acl: self.instance.acl(),
            account: self.rights.account.clone(),
            user: self.client.user.clone(),
            role: self.rights.role.clone(),
            vars: self.vars.clone(),
            process: self.process.clone(),
            tls: self.client.tls.clone().unwrap_or_default(),
            compressed: self.client.compressed,
            snapshot: self.tx.open.as_ref().and_then(|o| o.txn.snapshot_seq()),
        }
    }
}
