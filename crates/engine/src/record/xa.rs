//! What records do to the list of prepared XA transactions.

use crate::{EngineError, Result};
use narwal_binlog::Xid;
use narwal_log::Lsn;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a prepared transaction stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreparedAt {
    /// Its record.
    pub(crate) lsn: Lsn,
    /// The first record that it needs: that one, or its first chunk.
    pub(crate) needed: Lsn,
}

/// The prepared transactions at a place in the log's order.
pub(crate) type PreparedList = BTreeMap<Xid, PreparedAt>;

/// One of them as a checkpoint stores it: name, record, first record needed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPrepared(String, Lsn, Lsn);

pub(crate) fn to_stored(list: &PreparedList) -> Vec<StoredPrepared> {
    list.iter()
        .map(|(xid, at)| StoredPrepared(xid.to_string(), at.lsn, at.needed))
        .collect()
}

pub(crate) fn from_stored(stored: &[StoredPrepared]) -> Result<PreparedList> {
    stored
        .iter()
        .map(|StoredPrepared(xid, lsn, needed)| {
            let at = PreparedAt {
                lsn: *lsn,
                needed: *needed,
            };
            Ok((parse(xid)?, at))
        })
        .collect()
}

pub(crate) fn parse(xid: &str) -> Result<Xid> {
    Xid::parse(xid)
        .ok_or_else(|| EngineError::Corrupt(format!("{xid} is no name of an XA transaction")))
}

/// What a record does to the list.
#[derive(Debug)]
pub(crate) enum XaStep {
    Prepared(Xid),
    /// The transaction whose record is at LSN `at` is committed or rolled back.
    Ended {
        xid: Xid,
        at: Lsn,
        commit: bool,
    },
}

/// The same in a record's annex.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredStep {
    xid: String,
    /// LSN of the record that prepared it, and whether it is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<(Lsn, bool)>,
}

impl XaStep {
    pub(crate) fn to_stored(&self) -> StoredStep {
        match self {
            XaStep::Prepared(xid) => StoredStep {
                xid: xid.to_string(),
                end: None,
            },
            XaStep::Ended { xid, at, commit } => StoredStep {
                xid: xid.to_string(),
                end: Some((*at, *commit)),
            },
        }
    }

    pub(crate) fn parse(stored: &StoredStep) -> Result<XaStep> {
        let xid = parse(&stored.xid)?;
        Ok(match stored.end {
            None => XaStep::Prepared(xid),
            Some((at, commit)) => XaStep::Ended { xid, at, commit },
        })
    }
}
