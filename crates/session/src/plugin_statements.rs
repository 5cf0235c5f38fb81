//! INSTALL and UNINSTALL.

use crate::acl;
use crate::plugins::{AUDIT, PREFIX, known};
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use crate::words::PluginWords;
use narwal_engine::{CatalogChange, Ddl};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

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
