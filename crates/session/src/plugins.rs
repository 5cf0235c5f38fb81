//! What an administrator switches on as a plugin: in MariaDB a shared library, here a part of the server under its name.
//! `--plugin-load-add` holds while the server runs; INSTALL is kept in the catalog of this server and is not replicated.

use crate::acl;
use crate::instance::Instance;
use crate::password_rules::SIMPLE;
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use narwal_engine::{Catalog, CatalogChange, Ddl};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use parking_lot::RwLock;
use std::collections::BTreeSet;

/// The audit log is always there; whether it writes is `server_audit_logging`'s business.
const AUDIT: &str = "server_audit";
/// Prefix of the catalog's objects.
const PREFIX: &str = "plugin/";

/// INSTALL and UNINSTALL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PluginWords {
    Install {
        /// INSTALL PLUGIN's name; `None` is INSTALL SONAME.
        name: Option<String>,
        library: String,
    },
    UninstallPlugin(String),
    UninstallLibrary(String),
}

/// What is switched on.
#[derive(Debug, Default)]
pub(crate) struct Plugins {
    on: RwLock<BTreeSet<&'static str>>,
}

/// The plugin of a library's name, with or without its ending.
fn known(library: &str) -> Option<&'static str> {
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

/// The first name in an option that is no plugin of Narwal's.
pub fn unknown_plugin(option: &str) -> Option<&str> {
    option
        .split(';')
        .map(str::trim)
        .find(|n| !n.is_empty() && known(n).is_none())
}

fn missing(what: &str, name: &str) -> SqlError {
    errors::SP_DOES_NOT_EXIST.with([&what, &name])
}

impl ClientSession {
    /// INSTALL SONAME, INSTALL PLUGIN, UNINSTALL.
    pub(crate) fn plugin(&mut self, words: &PluginWords) -> SqlResult<()> {
        let table = match words {
            PluginWords::Install { .. } => ("INSERT", PrivilegeSet::INSERT),
            _ => ("DELETE", PrivilegeSet::DELETE),
        };
        let account = self.account();
        if !account.on_table("mysql", "plugin").has(table.1) {
            let host = &self.client.host;
            return Err(acl::table_denied(
                table.0, &account, host, "mysql", "plugin",
            ));
        }
        match words {
            PluginWords::Install { name, library } => self.install(name.as_deref(), library),
            PluginWords::UninstallPlugin(name) => {
                match known(name).filter(|n| self.instance.plugins.has(n)) {
                    Some(plugin) => self.uninstall(plugin),
                    None => Err(missing("PLUGIN", name)),
                }
            }
            PluginWords::UninstallLibrary(library) => {
                match known(library).filter(|n| self.instance.plugins.has(n)) {
                    Some(plugin) => self.uninstall(plugin),
                    None if library.ends_with(".so") => Err(missing("SONAME", library)),
                    None => Err(missing("SONAME", &format!("{library}.so"))),
                }
            }
        }
    }

    fn install(&mut self, name: Option<&str>, library: &str) -> SqlResult<()> {
        let Some(plugin) = known(library) else {
            return Err(errors::CANT_OPEN_LIBRARY.with([
                &library,
                &"2",
                &"Narwal has no such plugin",
            ]));
        };
        if let Some(name) = name {
            if !name.eq_ignore_ascii_case(plugin) {
                return Err(errors::CANT_FIND_DL_ENTRY.with([&name]));
            }
            if self.instance.plugins.has(plugin) {
                return Err(errors::PLUGIN_INSTALLED.with([&plugin]));
            }
        }
        if self.instance.plugins.has(plugin) {
            return Ok(());
        }
        self.keep(CatalogChange::PutObject {
            key: format!("{PREFIX}{plugin}"),
            value: "1".into(),
        })?;
        self.instance.plugins.on.write().insert(plugin);
        Ok(())
    }

    fn uninstall(&mut self, plugin: &'static str) -> SqlResult<()> {
        if plugin == AUDIT {
            return Err(errors::PLUGIN_DELETE_BUILTIN.plain());
        }
        let key = format!("{PREFIX}{plugin}");
        if self.instance.database().catalog().object(&key).is_some() {
            self.keep(CatalogChange::DeleteObject { key })?;
        }
        self.instance.plugins.on.write().remove(plugin);
        Ok(())
    }

    /// Stores a change of the catalog that is this server's own.
    fn keep(&mut self, change: CatalogChange) -> SqlResult<()> {
        self.refuse_under_read_lock()?;
        let instance = self.instance.clone();
        let _permit = instance.read_lock.enter(true, &self.patience())?;
        let ddl = Ddl {
            sql_mode: self.env.sql_mode.0,
            thread_id: self.client.id,
            timestamp: self.env.timestamp(),
            changes: vec![change],
            ..Ddl::default()
        };
        let mut options = self.txn_options(self.settings.isolation, false);
        options.log_bin = false;
        Ok(self.instance.database().ddl(ddl, &options).map(drop)?)
    }
}

impl Instance {
    /// Raises `simple_password_check_minimal_length` to what the other rules need.
    pub(crate) fn fit_password_length(&self) {
        let least = crate::password_rules::least_length(&|n| self.global_value(n).as_u64());
        self.raise_global("simple_password_check_minimal_length", least);
    }
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
