//! Settings of the command line and of option files, before the server starts.

use crate::persisted::{FILE, Persisted};
use crate::replica::filter::ReplicaFilter;
use crate::variables::{self, AtStart, Effect, Scope, VARIABLES, VarValue, VariableDef};
use narwal_engine::BinlogFilter;
use narwal_types::face::{self, Face};
use std::collections::{BTreeMap, BTreeSet};

/// Settings of the command line and of option files, before the server starts.
#[derive(Debug, Clone)]
pub struct Startup {
    pub(crate) values: Vec<VarValue>,
    pub(crate) persisted: Persisted,
    /// Facts that hold under one face alone.
    facts_of: Vec<(Face, usize, VarValue)>,
    pub(crate) given: BTreeSet<usize>,
    pub(crate) filter: BinlogFilter,
    /// By connection, in lower case.
    pub(crate) replica_filters: BTreeMap<String, ReplicaFilter>,
    /// Sentences for the log: settings that were accepted but changed or without effect.
    pub warnings: Vec<String>,
}

/// The settings of the server's character set, which others follow.
const SERVER_SET: [&str; 2] = ["character_set_server", "collation_server"];
/// One setting by two names.
const CONNECTION_SET: [&str; 2] = ["character_set_connection", "collation_connection"];
/// What follows the server's character set.
const SET_NAMES: &[&str] = &[
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_results",
];
/// What follows its collation.
const COLLATION_NAMES: &[&str] = &["collation_connection", "collation_database"];

impl Default for Startup {
    fn default() -> Self {
        Startup {
            values: VARIABLES.iter().map(VariableDef::default_value).collect(),
            persisted: Persisted::default(),
            facts_of: Vec::new(),
            given: BTreeSet::new(),
            filter: BinlogFilter::default(),
            replica_filters: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }
}

impl Startup {
    /// MariaDB's defaults.
    pub fn new() -> Self {
        Startup::default()
    }

    /// Takes an option. The name may have `-` or `_`, and the prefixes `loose-` (unknown is a warning), `skip-`,
    /// `disable-` and `enable-`. The error is a sentence for the person at the terminal; for an unknown name it
    /// suggests the nearest.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let name = name
            .trim_start_matches('-')
            .replace('-', "_")
            .to_ascii_lowercase();
        let (loose, name) = match name.strip_prefix("loose_") {
            Some(n) => (true, n.to_string()),
            None => (false, name),
        };
        let known = variables::lookup(&name);
        if let Some(AtStart::Ignored(text)) = known.map(|d| d.hooks.at_start)
            && !matches!(value, Some("0" | "OFF" | "off"))
        {
            self.warnings.push(text.into());
            return Ok(());
        }
        // `connection.variable`; without a name it is the default connection's.
        let (connection, variable) = name.rsplit_once('.').unwrap_or(("", &name));
        if let Some(list) = variables::lookup(variable).and_then(|d| d.hooks.filter) {
            return self
                .replica_filters
                .entry(connection.to_string())
                .or_default()
                .add(list, value.unwrap_or_default())
                .map_err(|_| {
                    format!(
                        "--{} needs names of the form database.table",
                        name.replace('_', "-")
                    )
                });
        }
        let found = variables::index(&name)
            .map(|i| (i, value))
            .or_else(|| {
                let off = name
                    .strip_prefix("skip_")
                    .or_else(|| name.strip_prefix("disable_"))?;
                variables::index(off).map(|i| (i, Some("OFF")))
            })
            .or_else(|| {
                let on = name.strip_prefix("enable_")?;
                variables::index(on).map(|i| (i, Some("ON")))
            });
        let Some((i, value)) = found else {
            if loose {
                self.warnings.push(format!(
                    "unknown option --{} is ignored (loose)",
                    name.replace('_', "-")
                ));
                return Ok(());
            }
            let hint = variables::nearest(&name)
                .map(|n| format!(". Did you mean --{}?", n.replace('_', "-")))
                .unwrap_or_default();
            return Err(format!("unknown option --{}{hint}", name.replace('_', "-")));
        };
        self.accept(i, value)
    }

    /// Takes what SET PERSIST has kept, behind all options if it is to be loaded. A value that is not taken any more is a warning: who wrote it can
    /// only change it in a server that runs.
    pub fn persisted(&mut self, persisted: Persisted, load: bool) {
        for (name, value) in persisted.list().iter().filter(|_| load) {
            if let Err(e) = self.set(name, Some(value)) {
                self.warnings.push(format!("{FILE}: {e}"));
            }
        }
        self.persisted = persisted;
    }

    /// Gives a variable its value.
    fn accept(&mut self, i: usize, value: Option<&str>) -> Result<(), String> {
        let d = &VARIABLES[i];
        let option = d.option_name();
        if matches!(d.effect, Effect::Computed | Effect::State) || d.scope == Scope::Session {
            return Err(format!("--{option} can't be set: it is not a setting"));
        }
        let accepted = d.accept_option(value)?;
        let truncated = accepted.truncated.map(|given| d.truncated_text(&given));
        self.warnings.extend(truncated);
        let value = accepted.value;
        if value != d.default_value() {
            let refused = match (d.hooks.at_start, d.effect) {
                (AtStart::Refused(reason), _) => Some(reason.to_string()),
                (_, Effect::Fixed) => Some(format!("Narwal has {} only", d.default)),
                _ => None,
            };
            if let Some(reason) = refused {
                return Err(format!(
                    "--{option}={} is not supported: {reason}",
                    value.show()
                ));
            }
            if d.effect == Effect::Inert {
                self.warnings.push(d.inert_text());
            }
        }
        if let Some(check) = d.hooks.check_option {
            check(&value).map_err(|e| format!("--{option}: {e}"))?;
        }
        self.put(i, value);
        self.given.insert(i);
        if SERVER_SET.contains(&d.name) {
            self.follow_server_set();
        }
        Ok(())
    }

    /// Gives all that was not said a character set of its own the server's.
    fn follow_server_set(&mut self) {
        for (names, from) in [
            (SET_NAMES, self.get("character_set_server")),
            (COLLATION_NAMES, self.get("collation_server")),
        ] {
            let said = |s: &Self| CONNECTION_SET.iter().any(|n| s.is_given(n));
            for name in names {
                if self.is_given(name) || CONNECTION_SET.contains(name) && said(self) {
                    continue;
                }
                self.fact(name, from.clone());
            }
        }
    }

    fn put(&mut self, i: usize, value: VarValue) {
        let hooks = &VARIABLES[i].hooks;
        self.values[i] = match hooks.at_start {
            AtStart::Appended(between) => {
                let before = self.values[i].show();
                VarValue::text(format!("{before}{between}{}", value.show()))
            }
            AtStart::Names(list) => {
                let list = list(&mut self.filter);
                list.push(value.show());
                VarValue::text(list.join(","))
            }
            _ => value,
        };
        if let Some(Ok((name, other))) = hooks.twin.map(|twin| twin(&self.values[i]))
            && let Some(at) = variables::index(name)
        {
            self.values[at] = other;
        }
    }

    /// States a fact that the server knows (data folder, port, socket, host name).
    pub fn fact(&mut self, name: &str, value: VarValue) {
        if let Some(i) = variables::index(name) {
            self.values[i] = value;
        }
    }

    /// States a fact that holds for those who meet this face only.
    pub fn fact_of(&mut self, face: Face, name: &str, value: VarValue) {
        self.facts_of
            .extend(variables::index(name).map(|i| (face, i, value)));
    }

    /// The global values that a face shows. They are those of the process's face, but for defaults that depend on the face
    /// and that nobody has overruled, and for facts. What has its effect on the whole server is as it is.
    pub(crate) fn values_under(&self, shown: Face) -> Vec<VarValue> {
        let mut shows = self.clone();
        if shown != face::current() {
            for (i, d) in VARIABLES.iter().enumerate() {
                let default = face::under(shown, || d.default_value());
                let untouched = self.values[i] == d.default_value();
                if untouched && d.hooks.mysql_default.is_some() && !d.steers_the_server() {
                    shows.values[i] = default;
                }
            }
            shows.follow_server_set();
        }
        for (_, i, value) in self.facts_of.iter().filter(|(f, ..)| *f == shown) {
            shows.values[*i] = value.clone();
        }
        shows.fact("narwal_dialect", VarValue::text(shown.name()));
        shows.values
    }

    /// A value by name; NULL if there is no such variable.
    pub fn get(&self, name: &str) -> VarValue {
        variables::index(name).map_or(VarValue::Null, |i| self.values[i].clone())
    }

    /// True if the option was given.
    pub fn is_given(&self, name: &str) -> bool {
        variables::index(name).is_some_and(|i| self.given.contains(&i))
    }

    /// The settings that the store needs.
    pub fn engine_options(&self) -> narwal_engine::Options {
        let mut o = narwal_engine::Options {
            binlog_filter: self.filter.clone(),
            ..narwal_engine::Options::default()
        };
        for (d, v) in VARIABLES.iter().zip(&self.values) {
            if let Some(option) = d.hooks.option {
                option(&mut o, v);
            }
            if let Some(options) = d.hooks.options {
                options(&mut o, &|name| self.get(name));
            }
        }
        o
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_options() {
        let mut s = Startup::new();
        s.set("--innodb-flush-log-at-trx-commit", Some("2"))
            .unwrap();
        s.set("innodb_buffer_pool_size", Some("64M")).unwrap();
        s.set("skip-name-resolve", None).unwrap();
        s.set("loose-no-such-thing", Some("1")).unwrap();
        s.set("sync-binlog", Some("1")).unwrap();
        assert_eq!(s.warnings.len(), 1, "{:?}", s.warnings);
        s.set("sync-binlog", Some("0")).unwrap();
        assert!(s.warnings[1].contains("sync_binlog has no effect"));
        let o = s.engine_options();
        assert_eq!((o.flush_log_at_trx_commit, o.memory_budget), (2, 64 << 20));
        assert!(s.is_given("innodb_buffer_pool_size") && !s.is_given("port"));
        let e = s.set("max-conections", Some("5")).unwrap_err();
        assert!(e.contains("Did you mean --max-connections?"), "{e}");
        let e = s.set("lower-case-table-names", Some("1")).unwrap_err();
        assert!(e.contains("not supported"), "{e}");
        assert!(s.set("version", Some("x")).is_err());
        assert!(s.set("port", Some("x")).is_err());
        assert!(s.set("port", None).is_err());
    }

    #[test]
    fn mysqls_group_commit_names() {
        let mut s = Startup::new();
        s.set("binlog-group-commit-sync-delay", Some("500"))
            .unwrap();
        let o = s.engine_options();
        assert_eq!((o.commit_wait_count, o.commit_wait_usec), (u32::MAX, 500));
        let mut s = Startup::new();
        s.set("binlog-commit-wait-count", Some("10")).unwrap();
        let o = s.engine_options();
        assert_eq!((o.commit_wait_count, o.commit_wait_usec), (10, 100_000));
    }
}
