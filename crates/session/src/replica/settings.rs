//! Variables that rule replication: positions, filters, and what may not be set while a connection runs.

use super::errors::no_connection_text;
use super::filter::{FilterList, ReplicaFilter};
use crate::gtids::{gtid_position, gtid_text};
use crate::instance::Instance;
use crate::session::ClientSession;
use narwal_binlog::Gtid;
use narwal_engine::{CatalogChange, Ddl, TxnOptions};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Instance {
    /// The filters of a connection, as they are now.
    pub fn replica_filter(&self, connection: &str) -> Arc<ReplicaFilter> {
        self.replica_filters.get(connection)
    }

    /// Sets one of the filter variables of a connection.
    pub(crate) fn set_replica_filter(
        &self,
        connection: &str,
        list: FilterList,
        text: &str,
    ) -> SqlResult<()> {
        let mut filters = self.replica_filters.0.write();
        let slot = filters.entry(connection.to_lowercase()).or_default();
        let mut filter = ReplicaFilter::clone(slot);
        filter.set(list, text)?;
        *slot = Arc::new(filter);
        Ok(())
    }

    /// `gtid_slave_pos`, domain by domain: the last GTID that was applied. It is what a client may be told: durable, and
    /// readable by it.
    pub fn gtid_slave_pos(&self) -> BTreeMap<u32, Gtid> {
        let db = self.database();
        let state = db.visible_replica_state().unwrap_or_else(|e| {
            tracing::warn!("gtid_slave_pos is told before it is durable: {e}");
            db.replica_state()
        });
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
                mysql: None,
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

impl ClientSession {
    /// Checks a new `gtid_slave_pos`: what this server itself wrote should not be newer. In strict mode that is an error,
    /// else a warning.
    pub(crate) fn check_gtid_slave_pos(&self, text: &str) -> SqlResult<()> {
        let new = gtid_position(text)?;
        if self.tx.open.is_some() {
            return Err(errors::CANT_DO_THIS_DURING_AN_TRANSACTION.plain());
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
                    codes::MASTER_GTID_POS_CONFLICTS_WITH_BINLOG,
                    format!(
                        "GTID {g} is older than {own}, which this server has written itself: with MASTER_USE_GTID=current_pos the newer one counts"
                    ),
                ),
                None => (
                    codes::MASTER_GTID_POS_MISSING_DOMAIN,
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
            self.env
                .warn(codes::WARN_NO_MASTER_INFO, no_connection_text(connection));
            return Err(errors::WRONG_ARGUMENTS.with([&"SET"]));
        }
        Ok(())
    }
}
