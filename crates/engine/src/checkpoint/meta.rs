//! What the base says about itself.

use crate::catalog::resolve::StoredCatalog;
use crate::record::replica::StoredReplica;
use crate::record::xa::StoredPrepared;
use crate::store::apart::Apart;
use crate::store::base::{META, base_err};
use crate::{EngineError, Result};
use narwal_binlog::{VirtualConfig, VirtualFiles};
use redb::ReadableDatabase;
use serde::{Deserialize, Serialize};

/// What the base says about itself. Stored as JSON in the table `meta` under the key `checkpoint`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckpointMeta {
    /// Format version, 1.
    pub(crate) format: u32,
    /// Every commit up to this one is in the base.
    pub(crate) seq: u64,
    /// Replay starts here.
    pub(crate) lsn: u64,
    /// Binlog position and GTID counters after commit `seq` (`VirtualFiles::to_bytes`, hexadecimal).
    pub(crate) binlog: String,
    /// The catalog after commit `seq`.
    pub(crate) catalog: StoredCatalog,
    /// What was applied of other servers' logs up to commit `seq`.
    #[serde(default)]
    pub(crate) replica: StoredReplica,
    /// XA transactions that were prepared and not ended after commit `seq`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) prepared: Vec<StoredPrepared>,
    /// Damaged tables, which are not in the base as of commit `seq`.
    #[serde(default, skip_serializing_if = "Apart::is_empty")]
    pub(crate) apart: Apart,
    /// Where the scrub was.
    #[serde(default)]
    pub(crate) scrubbed: u64,
}

impl CheckpointMeta {
    /// `gtid_binlog_state` after commit `seq`.
    pub(crate) fn gtids(&self, config: VirtualConfig) -> Result<String> {
        let bytes = from_hex(&self.binlog)
            .ok_or_else(|| EngineError::Corrupt("binlog state in the base".into()))?;
        let files = VirtualFiles::from_bytes(config, &bytes)
            .map_err(|e| EngineError::Corrupt(e.to_string()))?;
        Ok(files.gtids().to_string())
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn from_hex(s: &str) -> Option<Vec<u8>> {
    (0..s.len())
        .step_by(2)
        .map(|i| s.get(i..i + 2).and_then(|h| u8::from_str_radix(h, 16).ok()))
        .collect()
}

/// Reads what the last checkpoint stored.
pub(crate) fn read_meta(redb: &redb::Database) -> Result<Option<CheckpointMeta>> {
    let txn = redb.begin_read().map_err(base_err)?;
    let table = match txn.open_table(META) {
        Ok(t) => t,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(e) => return Err(base_err(e)),
    };
    let Some(v) = table.get("checkpoint").map_err(base_err)? else {
        return Ok(None);
    };
    let meta: CheckpointMeta = serde_json::from_slice(v.value())
        .map_err(|e| EngineError::Corrupt(format!("checkpoint in the base: {e}")))?;
    if meta.format != 1 {
        return Err(EngineError::Io(format!(
            "the base has format {}, this version of Narwal reads format 1; use the version that wrote it",
            meta.format
        )));
    }
    Ok(Some(meta))
}
