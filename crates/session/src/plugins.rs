//! What an administrator switches on as a plugin: in MariaDB a shared library, here a part of the server under its name.
//! `--plugin-load-add` holds while the server runs; INSTALL is kept in the catalog of this server and is not replicated.

use narwal_engine::Catalog;
use parking_lot::RwLock;
use std::collections::BTreeSet;

/// Judges passwords.
pub(crate) const SIMPLE: &str = "simple_password_check";
/// The audit log is always there; whether it writes is `server_audit_logging`'s business.
pub(crate) const AUDIT: &str = "server_audit";

/// Prefix of the catalog's objects.
pub(crate) const PREFIX: &str = "plugin/";

/// What is switched on.
#[derive(Debug, Default)]
pub(crate) struct Plugins {
    pub(crate) on: RwLock<BTreeSet<&'static str>>,
}

/// The plugin of a library's name, with or without its ending.
pub(crate) fn known(library: &str) -> Option<&'static str> {
    let stem = library.strip_suffix(".so").unwrap_or(library);
    [SIMPLE, AUDIT].into_iter().find(|n| *n == stem)
}

impl Plugins {
    /// What an option (`--plugin-load-add`: names with `;` between them) and the catalog ask for.
    pub(crate) fn new(option: &str, catalog: &Catalog) -> Plugins {
        let given = option.split(';').filter_map(known);
        let kept = catalog
            .objects(PREFIX)
            .filter_map(|(key, _)| known(key.strip_prefix(PREFIX)?));
        Plugins {
            on: RwLock::new(given.chain(kept).chain([AUDIT]).collect()),
        }
    }

    /// Whether a plugin is switched on.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.on.read().contains(name)
    }

    /// Name, type and library of what is on.
    pub(crate) fn listed(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let on = self.on.read();
        [
            (SIMPLE, "PASSWORD VALIDATION", "simple_password_check.so"),
            ("SERVER_AUDIT", "AUDIT", "server_audit.so"),
        ]
        .into_iter()
        .filter(|p| on.contains(p.0.to_ascii_lowercase().as_str()))
        .collect()
    }
}

/// The first name in an option that is not a plugin of Narwal's.
pub fn unknown_plugin(option: &str) -> Option<&str> {
    option
        .split(';')
        .map(str::trim)
        .find(|n| !n.is_empty() && known(n).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let p = Plugins::new("simple_password_check.so", &Catalog::default());
        assert!(p.has(SIMPLE) && p.has(AUDIT));
        assert!(!Plugins::new("", &Catalog::default()).has(SIMPLE));
        assert_eq!(unknown_plugin("server_audit;ha_x.so"), Some("ha_x.so"));
        assert_eq!(unknown_plugin("server_audit"), None);
    }
}
