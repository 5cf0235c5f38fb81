//! What this server has applied of other servers' logs.
//!
//! A replicated transaction's log record says where it comes from ([`Origin`], in the annex), so its rows, its GTID and the
//! source's position are one record. [`ReplicaState`] is what all records together say. It advances in the step that gives
//! a commit its place, a checkpoint stores it as it was at exactly its sequence number, and recovery goes on from there:
//! there is nothing else that would have to be kept in step.

use crate::catalog::change::LoggedChange;
use crate::gtid_list::parse_list;
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidChoice, GtidSet, MysqlGtid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the source of a transaction calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceGtid {
    /// By a GTID of MariaDB's form, which it keeps here.
    #[default]
    MariaDb,
    /// By a GTID of MySQL's form. Here it gets one of MariaDB's form besides.
    Mysql(MysqlGtid),
    /// Not at all (`gtid_mode=OFF` of a MySQL).
    Anonymous,
}

impl SourceGtid {
    /// As an annex has it: nothing for MariaDB, an empty text for a transaction without GTID.
    pub(crate) fn to_text(self) -> Option<String> {
        match self {
            SourceGtid::MariaDb => None,
            SourceGtid::Mysql(gtid) => Some(gtid.to_string()),
            SourceGtid::Anonymous => Some(String::new()),
        }
    }

    pub(crate) fn from_text(text: Option<&str>) -> Result<Self> {
        Ok(match text {
            None => SourceGtid::MariaDb,
            Some("") => SourceGtid::Anonymous,
            Some(gtid) => SourceGtid::Mysql(
                gtid.parse()
                    .map_err(|_| EngineError::Corrupt(format!("GTID {gtid:?} in an annex")))?,
            ),
        })
    }
}

/// Where a replicated transaction comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Id of the connection it came over, from 1.
    pub channel: u32,
    /// The source's binary log file.
    pub file: Arc<str>,
    /// Position behind the group in it.
    pub pos: u64,
    /// The source's name for it.
    pub gtid: SourceGtid,
}

/// What was applied so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaState {
    /// The commit that changed it last; 0 if it was none. (After a start: the last checkpoint, if it was one before that.)
    pub seq: u64,
    /// The last replicated GTID of each domain: `gtid_slave_pos`.
    pub slave_pos: BTreeMap<u32, Gtid>,
    /// Up to where each connection's source was applied: its file and the position in it.
    pub channels: BTreeMap<u32, (Arc<str>, u64)>,
    /// Transactions of MySQLs that were applied, by the GTIDs that they have there.
    pub mysql: GtidSet,
}

/// As a checkpoint stores it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredReplica {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    slave_pos: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    channels: BTreeMap<u32, (Arc<str>, u64)>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    mysql: String,
}

/// What a commit does to the state.
#[derive(Debug)]
pub(crate) struct ReplicaMove<'a> {
    pub(crate) origin: Option<&'a Origin>,
    /// The GTID of a commit that gets none here.
    pub(crate) gtid: Option<Gtid>,
    pub(crate) changes: &'a [LoggedChange],
}

/// The GTID that a choice spells out.
pub(crate) fn local_gtid(choice: &GtidChoice) -> Option<Gtid> {
    Some(Gtid {
        domain: choice.domain_id?,
        server: choice.server_id?,
        seq: choice.seq_no?,
    })
}

impl ReplicaState {
    /// `gtid_slave_pos` as text.
    #[must_use]
    pub fn slave_pos_text(&self) -> String {
        let list: Vec<String> = self.slave_pos.values().map(Gtid::to_string).collect();
        list.join(",")
    }

    pub(crate) fn to_stored(&self) -> StoredReplica {
        StoredReplica {
            slave_pos: self.slave_pos_text(),
            channels: self.channels.clone(),
            mysql: self.mysql.to_string(),
        }
    }

    pub(crate) fn from_stored(stored: &StoredReplica, seq: u64) -> Result<Self> {
        let gtids = parse_list(&stored.slave_pos)
            .map_err(|_| EngineError::Corrupt("gtid_slave_pos in the base".into()))?;
        Ok(ReplicaState {
            seq,
            slave_pos: gtids.into_iter().map(|g| (g.domain, g)).collect(),
            channels: stored.channels.clone(),
            mysql: (stored.mysql.parse())
                .map_err(|_| EngineError::Corrupt("GTIDs of MySQL in the base".into()))?,
        })
    }

    /// Commit `seq` came from `origin` with this GTID. One that was given here says nothing of how far the source is.
    #[inline]
    pub(crate) fn advance(&mut self, seq: u64, gtid: Option<Gtid>, origin: &Origin) {
        self.seq = seq;
        match (&origin.gtid, gtid) {
            (SourceGtid::MariaDb, Some(g)) => drop(self.slave_pos.insert(g.domain, g)),
            (SourceGtid::Mysql(g), _) => self.mysql.insert(g),
            (SourceGtid::MariaDb, None) | (SourceGtid::Anonymous, _) => {}
        }
        self.position(origin.channel, &origin.file, origin.pos);
    }

    fn position(&mut self, channel: u32, file: &Arc<str>, pos: u64) {
        match self.channels.get_mut(&channel) {
            Some(at) => {
                if at.0 != *file {
                    at.0 = file.clone();
                }
                at.1 = pos;
            }
            None => drop(self.channels.insert(channel, (file.clone(), pos))),
        }
    }

    /// Applies a logged change, which [`check_list`] has seen.
    pub(crate) fn change(&mut self, seq: u64, change: &LoggedChange) {
        let gtids = |list: &str| {
            let list = parse_list(list).unwrap_or_default();
            list.into_iter().map(|g| (g.domain, g))
        };
        match change {
            LoggedChange::SetReplicaState {
                slave_pos,
                channel,
                mysql,
            } => {
                if let Some(set) = mysql {
                    self.mysql = set.parse().unwrap_or_default();
                }
                if let Some(list) = slave_pos {
                    self.slave_pos = gtids(list).collect();
                }
                match channel {
                    Some((id, Some((file, pos)))) => {
                        self.position(*id, &file.as_str().into(), *pos);
                    }
                    Some((id, None)) => drop(self.channels.remove(id)),
                    None => {}
                }
            }
            LoggedChange::MoveReplicaState {
                gtids: list,
                channel,
                file,
                pos,
                mysql,
            } => {
                self.mysql.merge(&mysql.parse().unwrap_or_default());
                self.slave_pos.extend(gtids(list));
                self.position(*channel, &file.as_str().into(), *pos);
            }
            _ => return,
        }
        self.seq = seq;
    }

    /// Under the order mutex: commit `seq` has got its place, and `gtid` unless it is a local one.
    #[inline]
    pub(crate) fn moved(&mut self, seq: u64, gtid: Option<Gtid>, moves: &ReplicaMove<'_>) {
        if let Some(origin) = moves.origin {
            self.advance(seq, gtid.or(moves.gtid), origin);
        }
        for change in moves.changes {
            self.change(seq, change);
        }
    }
}
