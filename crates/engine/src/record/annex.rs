//! The annex: what the events of a commit record can't say, and how a record is taken apart.

use crate::catalog::change::LoggedChange;
use crate::record::chunk::Oob;
use crate::record::packed::unpack;
use crate::record::replica::{Origin, SourceGtid, local_gtid};
use crate::record::xa::StoredStep;
use crate::store::run::writer::RunMeta;
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidChoice};
use narwal_log::{HEADER_LEN, RecordKind};
use std::borrow::Cow;
use std::sync::Arc;

/// What the events of a record can't say.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Annex {
    /// Changes of the catalog, for DDL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<LoggedChange>,
    /// Hidden row ids of the row changes of tables without primary key, in event order; of chunks, the chunks have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) row_ids: Vec<u64>,
    /// The same for the local events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) local_row_ids: Vec<u64>,
    /// Bytes of local events between annex and event group: redo of filtered tables, which readers of the binary log
    /// never see.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) local_len: u32,
    /// Where the events are that were sent out of band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oob: Option<Oob>,
    /// Where the local events are that were sent out of band: redo of the rows that ALTER TABLE made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) local_oob: Option<Oob>,
    /// The spilled write set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spill: Option<Spill>,
    /// Where the commit comes from: connection, the source's file, position behind the group there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<(u32, Arc<str>, u64)>,
    /// The GTID that it has there if the source is a MySQL; empty: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mysql: Option<String>,
    /// The GTID that it has there, if the record's events don't say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gtid: Option<(u32, u32, u64)>,
    /// It prepares an XA transaction, or ends a prepared one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) xa: Option<StoredStep>,
}

pub(crate) fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Annex {
    /// What stands before the event group in a record: the annex with its length, then the local events. Empty if
    /// there is nothing to say.
    pub(crate) fn encode(&mut self, local: &[u8]) -> Result<Vec<u8>> {
        self.local_len = u32::try_from(local.len())
            .map_err(|_| EngineError::TransactionTooLarge(u64::from(u32::MAX)))?;
        if self.changes.is_empty()
            && self.row_ids.is_empty()
            && self.local_row_ids.is_empty()
            && local.is_empty()
            && self.oob.is_none()
            && self.local_oob.is_none()
            && self.origin.is_none()
            && self.xa.is_none()
        {
            return Ok(Vec::new());
        }
        let mut prefix = vec![0; 4];
        serde_json::to_writer(&mut prefix, self)
            .map_err(|e| EngineError::Io(format!("annex: {e}")))?;
        let len = prefix.len() as u32 - 4;
        prefix[..4].copy_from_slice(&len.to_le_bytes());
        prefix.extend_from_slice(local);
        Ok(prefix)
    }

    /// Notes where the transaction comes from. `local`: its GTID does not stand in the record otherwise.
    pub(crate) fn set_origin(&mut self, origin: Option<&Origin>, gtid: &GtidChoice, local: bool) {
        if let Some(o) = origin {
            self.origin = Some((o.channel, o.file.clone(), o.pos));
            self.mysql = o.gtid.to_text();
            self.gtid =
                (local.then(|| local_gtid(gtid)).flatten()).map(|g| (g.domain, g.server, g.seq));
        }
    }

    /// What was noted so.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] if the source's GTID is none.
    pub(crate) fn origin(&self) -> Result<Option<(Origin, Option<Gtid>)>> {
        let Some((channel, file, pos)) = self.origin.clone() else {
            return Ok(None);
        };
        let gtid = self.gtid.map(|(domain, server, seq)| Gtid {
            domain,
            server,
            seq,
        });
        let origin = Origin {
            channel,
            file,
            pos,
            gtid: SourceGtid::from_text(self.mysql.as_deref())?,
        };
        Ok(Some((origin, gtid)))
    }
}

/// The spilled part of a write set. All of it follows from the chunks: it only saves their replay.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Spill {
    /// The run files, newest first.
    pub(crate) runs: Vec<RunMeta>,
    /// Bytes of events (without the GTID event) whose changes are all in the runs.
    pub(crate) events: u64,
    /// Row changes behind those that are in the runs too.
    #[serde(default)]
    pub(crate) skip: u64,
    /// By how much the number of rows of each clustered index changes through the runs.
    pub(crate) rows: Vec<(u32, i64)>,
    /// Table id, AUTO_INCREMENT counter and hidden row id counter of the tables written.
    pub(crate) counters: Vec<(u64, u64, u64)>,
}

/// A local commit's buffer: header room, annex (its length is always there), local events, unstamped events.
pub(crate) fn local_record(prefix: &[u8], events: &[u8]) -> Vec<u8> {
    let prefix = if prefix.is_empty() { &[0; 4] } else { prefix };
    let mut buf = Vec::with_capacity(HEADER_LEN + prefix.len() + events.len());
    buf.resize(HEADER_LEN, 0);
    buf.extend_from_slice(prefix);
    buf.extend_from_slice(events);
    buf
}

/// A commit record's parts.
pub(crate) struct Parts<'a> {
    pub(crate) annex: Annex,
    /// Events of filtered tables, for recovery only.
    pub(crate) local: &'a [u8],
    /// The event group; in a local commit events without GTID and XID, for recovery only too.
    pub(crate) events: &'a [u8],
}

/// Splits a commit record's body.
pub(crate) fn split_record(kind: RecordKind, body: &[u8]) -> Result<Parts<'_>> {
    if kind == RecordKind::Commit {
        return Ok(Parts {
            annex: Annex::default(),
            local: &[],
            events: body,
        });
    }
    let short = || EngineError::Corrupt("a commit record is shorter than its annex".into());
    let (len, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
    let (annex, rest) = rest
        .split_at_checked(u32::from_le_bytes(*len) as usize)
        .ok_or_else(short)?;
    let annex: Annex = if annex.is_empty() {
        Annex::default()
    } else {
        serde_json::from_slice(annex).map_err(|e| EngineError::Corrupt(format!("annex: {e}")))?
    };
    let (local, events) = rest
        .split_at_checked(annex.local_len as usize)
        .ok_or_else(short)?;
    Ok(Parts {
        annex,
        local,
        events,
    })
}

/// The event group in a log record's body, for readers of the log: behind annex and local events, if there are any;
/// empty for a record that carries no events for them. `None` if the record is shorter than its annex says.
pub fn event_group(kind: RecordKind, body: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (kind, body) = unpack(kind, body).ok()?;
    if !matches!(kind, RecordKind::Commit | RecordKind::AnnexCommit) {
        return Some(Cow::Borrowed(&[]));
    }
    Some(match body {
        Cow::Borrowed(body) => Cow::Borrowed(split_record(kind, body).ok()?.events),
        Cow::Owned(mut body) => {
            let at = body.len() - split_record(kind, &body).ok()?.events.len();
            body.drain(..at);
            Cow::Owned(body)
        }
    })
}
