//! Variables that rule replication: positions, filters, and what may not be set while a connection runs.

use super::errors::must_stop;
use super::{FILTER_VARIABLES, ReplicaFilter, no_connection_text};
use crate::binlog_admin::gtid_list;
use crate::instance::Instance;
use crate::session::ClientSession;
use narwal_binlog::Gtid;
use narwal_engine::{CatalogChange, Ddl, TxnOptions};
use narwal_types::{SqlError, SqlResult};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Filters by the connection's name in lower case; the default connection's name is empty.
#[derive(Debug, Default)]
pub(crate) struct Filters(RwLock<BTreeMap<String, Arc<ReplicaFilter>>>);

impl Filters {
    pub(crate) fn new(given: BTreeMap<String, ReplicaFilter>) -> Self {
        Filters(RwLock::new(
            given.into_iter().map(|(n, f)| (n, Arc::new(f))).collect(),
        ))
    }

    fn get(&self, connection: &str) -> Arc<ReplicaFilter> {
        let filters = self.0.read();
        filters
            .get(&connection.to_lowercase())
            .cloned()
            .unwrap_or_default()
    }
}

/// Variables that can only be set while no connection runs.
const NEED_STOP: [&str; 5] = [
    "gtid_ignore_duplicates",
    "slave_domain_parallel_threads",
    "slave_parallel_mode",
    "slave_parallel_threads",
    "slave_parallel_workers",
];

impl Instance {
    /// The filters of a connection, as they are now.
    pub fn replica_filter(&self, connection: &str) -> Arc<ReplicaFilter> {
        self.replica_filters.get(connection)
    }

    /// Sets one of the filter variables of a connection.
    pub(crate) fn set_replica_filter(
        &self,
        connection: &str,
        variable: &str,
        text: &str,
    ) -> SqlResult<()> {
        let mut filters = self.replica_filters.0.write();
        let slot = filters.entry(connection.to_lowercase()).or_default();
        let mut filter = ReplicaFilter::clone(slot);
        filter.set(variable, text)?;
        *slot = Arc::new(filter);
        Ok(())
    }

    /// `gtid_slave_pos`, domain by domain: the last GTID that was applied. It is what a client may be told: durable, and
    /// readable by it.
    pub fn gtid_slave_pos(&self) -> BTreeMap<u32, Gtid> {
        let state = self.database().replica_state();
        if let Err(e) = self.database().wait_visible(state.seq) {
            tracing::warn!("gtid_slave_pos is told before it is durable: {e}");
        }
        state.slave_pos
    }

    /// `gtid_slave_pos` as text.
    pub fn gtid_slave_pos_text(&self) -> String {
        gtid_text(self.gtid_slave_pos().values())
    }

    /// `gtid_current_pos`: `gtid_slave_pos`, but what this server itself wrote last in a domain if that is newer.
    pub fn gtid_current_pos(&self) -> String {
        let mut pos = self.gtid_slave_pos();
        let me = self.global_value("server_id").as_u64();
        for own in self.binlog_pos() {
            if u64::from(own.server) == me && pos.get(&own.domain).is_none_or(|g| g.seq < own.seq) {
                pos.insert(own.domain, own);
            }
        }
        gtid_text(pos.values())
    }

    /// The last GTID of each domain in the binary log.
    fn binlog_pos(&self) -> Vec<Gtid> {
        self.database()
            .binlog_position()
            .gtid_pos
            .split(',')
            .filter_map(|g| g.parse().ok())
            .collect()
    }

    /// Sets `gtid_slave_pos`: a local commit. Without checks.
    pub fn set_gtid_slave_pos(&self, text: String) -> SqlResult<()> {
        let ddl = Ddl {
            changes: vec![CatalogChange::SetReplicaState {
                slave_pos: Some(text),
                channel: None,
            }],
            ..Ddl::default()
        };
        let options = TxnOptions {
            log_bin: false,
            ..TxnOptions::default()
        };
        self.database().ddl(ddl, &options)?;
        Ok(())
    }
}

/// A list of GTIDs as text.
pub(super) fn gtid_text<'a>(list: impl Iterator<Item = &'a Gtid>) -> String {
    list.map(Gtid::to_string).collect::<Vec<_>>().join(",")
}

/// Reads a list that names each domain once: errors 1941 and 1943.
pub(crate) fn gtid_position(text: &str) -> SqlResult<BTreeMap<u32, Gtid>> {
    gtid_list(text)?;
    let mut out = BTreeMap::<u32, Gtid>::new();
    let parts = text.split(',').map(str::trim).filter(|p| !p.is_empty());
    for gtid in parts.filter_map(|p| p.parse::<Gtid>().ok()) {
        if let Some(other) = out.get(&gtid.domain) {
            return Err(SqlError::new(
                1943,
                b"HY000",
                format!(
                    "GTID {gtid} and {other} conflict (duplicate domain id {})",
                    gtid.domain
                ),
            ));
        }
        out.insert(gtid.domain, gtid);
    }
    Ok(out)
}

impl ClientSession {
    /// Error 1198 for a variable that can't be set while a connection runs.
    pub(crate) fn check_replica_setting(&self, name: &str) -> SqlResult<()> {
        if NEED_STOP.contains(&name) || FILTER_VARIABLES.contains(&name) || name == "gtid_slave_pos"
        {
            return match self.instance.replica_control().and_then(|c| c.running()) {
                Some(running) => Err(must_stop(&running)),
                None => Ok(()),
            };
        }
        Ok(())
    }

    /// Checks a new `gtid_slave_pos`: what this server itself wrote should not be newer. In strict mode that is an error,
    /// else a warning.
    pub(crate) fn check_gtid_slave_pos(&self, text: &str) -> SqlResult<()> {
        let new = gtid_position(text)?;
        if self.open.is_some() {
            return Err(SqlError::new(
                1179,
                b"25000",
                "You are not allowed to execute this command in a transaction",
            ));
        }
        let strict = self.instance.global_value("gtid_strict_mode").as_bool();
        let me = self.instance.global_value("server_id").as_u64();
        for own in self.instance.binlog_pos() {
            if u64::from(own.server) != me {
                continue;
            }
            let (code, text) = match new.get(&own.domain) {
                Some(g) if g.seq >= own.seq => continue,
                Some(g) => (
                    1947,
                    format!(
                        "GTID {g} is older than {own}, which this server has written itself: with MASTER_USE_GTID=current_pos the newer one counts"
                    ),
                ),
                None => (
                    1948,
                    format!(
                        "The new gtid_slave_pos has no GTID of domain {}, and this server has written {own} itself: with MASTER_USE_GTID=current_pos that one counts",
                        own.domain
                    ),
                ),
            };
            if strict {
                return Err(SqlError::new(code, b"HY000", text));
            }
            self.env.warn(code, text);
        }
        Ok(())
    }

    /// Error 1210 with a warning if there is no connection of this name: for `name.variable`.
    pub(crate) fn check_variable_connection(&self, connection: &str) -> SqlResult<()> {
        if self.need_connection(connection).is_err() {
            self.env.warn(1617, no_connection_text(connection));
            return Err(SqlError::new(1210, b"HY000", "Incorrect arguments to SET"));
        }
        Ok(())
    }

    /// SET GLOBAL read_only waits for nobody, but not under one's own locks: error 1192.
    pub(crate) fn check_read_only_change(&self) -> SqlResult<()> {
        if self.open.is_some() || self.locked.is_some() {
            return Err(super::locked_or_in_transaction());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_name_each_domain_once() {
        let p = gtid_position("0-1-5, 1-2-3").unwrap();
        assert_eq!(gtid_text(p.values()), "0-1-5,1-2-3");
        assert!(gtid_position("").unwrap().is_empty());
        assert_eq!(gtid_position("0-1-5,0-2-6").unwrap_err().code, 1943);
        assert_eq!(gtid_position("x").unwrap_err().code, 1941);
    }
}
