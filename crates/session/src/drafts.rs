//! Accounts and roles as a statement has them so far: what it has changed is not stored yet.

use crate::acl::{Account, Acl};
use narwal_engine::CatalogChange;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Accounts and roles, with changes on top.
pub(crate) struct Drafts {
    acl: Arc<Acl>,
    /// By name and host. `None`: it is dropped.
    changed: BTreeMap<(String, String), Option<Account>>,
}

impl Drafts {
    pub(crate) fn new(acl: Arc<Acl>) -> Self {
        Drafts {
            acl,
            changed: BTreeMap::new(),
        }
    }

    /// An account or, without host, a role.
    pub(crate) fn get(&self, user: &str, host: &str) -> Option<Account> {
        let key = (user.to_string(), host.to_string());
        match self.changed.get(&key) {
            Some(changed) => changed.clone(),
            None => self.acl.get(user, host).map(|a| Account::clone(a)),
        }
    }

    pub(crate) fn role(&self, name: &str) -> Option<Account> {
        self.get(name, "").filter(|a| a.is_role)
    }

    pub(crate) fn put(&mut self, a: Account) {
        self.changed
            .insert((a.user.clone(), a.host.clone()), Some(a));
    }

    pub(crate) fn drop(&mut self, user: &str, host: &str) {
        self.changed
            .insert((user.to_string(), host.to_string()), None);
    }

    /// Drops a role, and takes it from all that have it.
    pub(crate) fn drop_role(&mut self, name: &str) {
        let has = |a: &&Arc<Account>| a.roles.contains_key(name);
        let with: Vec<_> = (self.acl.accounts().iter().filter(has))
            .map(|a| (a.user.clone(), a.host.clone()))
            .chain(self.changed.keys().cloned())
            .collect();
        for (user, host) in with {
            if let Some(mut a) = self.get(&user, &host)
                && a.roles.remove(name).is_some()
            {
                self.put(a);
            }
        }
        self.drop(name, "");
    }

    /// True if `role` is `from` or is granted to it, by others or not.
    pub(crate) fn reaches(&self, from: &str, role: &str) -> bool {
        let mut seen: Vec<String> = Vec::new();
        let mut open = vec![from.to_string()];
        while let Some(name) = open.pop() {
            if name == role {
                return true;
            }
            if !seen.contains(&name) {
                let granted = self.role(&name).map(|r| r.roles).unwrap_or_default();
                open.extend(granted.into_keys());
                seen.push(name);
            }
        }
        false
    }

    /// What is to be stored.
    pub(crate) fn changes(&self) -> Vec<CatalogChange> {
        self.changed
            .iter()
            .map(|((user, host), a)| match a {
                Some(a) => a.put(),
                None => match self.acl.get(user, host) {
                    Some(a) => a.delete(),
                    None => Account::new(user, host).delete(),
                },
            })
            .collect()
    }
}
