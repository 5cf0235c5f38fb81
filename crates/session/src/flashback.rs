//! FLASHBACK BINARY LOGS GTIDS '0-2-101..103': takes back transactions that stand in this server's binary log and should
//! not, and lets the log end without them. It is how a server comes back that has transactions of its own which its source
//! lacks; `narwal rejoin` runs it.
//!
//! 1. Nothing commits meanwhile (the lock of FLUSH TABLES WITH READ LOCK).
//! 2. The row events of these transactions are applied turned round, the newest first, in one transaction that replicas do
//!    not see. Each row must be as the log says that the transactions left it: if one is not, all of it is rolled back. The
//!    transaction's record names the transactions that it takes back (as its origin, channel [`CHANNEL`]).
//! 3. A new binary log begins, behind what is left: no reader can read the old one any more.
//! 4. `gtid_slave_pos` becomes what is left, so that CHANGE MASTER ... MASTER_USE_GTID=slave_pos goes on there.
//!
//! After a crash behind step 2 the statement, given once more (also with an empty list), does the rest.

use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use narwal_binlog::{Event, EventReader, Gtid, GtidState, Inverted, TableMap};
use narwal_engine::apply::RowApplier;
use narwal_engine::{
    CatalogChange, Ddl, EngineError, Isolation, LiveRecords, Origin, ReadStart, SourceGtid,
    Transaction, TxnOptions,
};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, TypeKind, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The channel of a transaction's origin that says: it takes back what the origin's file names. Connections are numbered
/// from 1.
const CHANNEL: u32 = 0;
/// Bytes of events of one transaction that are held in memory at most.
const LARGEST: usize = 256 << 20;
/// Longest list taken, in transactions.
const MOST: u64 = 1 << 20;

type Groups = narwal_engine::GroupReader<LiveRecords>;

/// What the statement did.
#[derive(Debug, Default)]
struct Done {
    transactions: u64,
    rows: u64,
}

/// What the statement answers.
pub(crate) fn columns() -> Grid {
    let mut grid = Grid::new();
    grid.any("Transactions", TypeKind::BigInt, false)
        .any("Rows", TypeKind::BigInt, false)
        .text_null("Gtid_binlog_state", 1024)
        .text_null("Gtid_slave_pos", 1024);
    grid
}

fn error(text: impl Into<Box<str>>) -> SqlError {
    errors::UNKNOWN_ERROR.text(text)
}

/// A list of GTIDs and ranges, `0-2-101..103,1-2-7`.
fn parse(list: &str) -> SqlResult<BTreeSet<Gtid>> {
    let bad = || errors::INCORRECT_GTID_STATE.plain();
    let mut all = BTreeSet::new();
    for part in list.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once("..").unwrap_or((part, ""));
        let first: Gtid = first.parse().map_err(|_| bad())?;
        let last = match last {
            "" => first.seq,
            last => last.parse().map_err(|_| bad())?,
        };
        if last < first.seq || last - first.seq >= MOST {
            return Err(bad());
        }
        all.extend((first.seq..=last).map(|seq| Gtid { seq, ..first }));
    }
    Ok(all)
}

/// [`parse`] backwards.
fn format(all: &BTreeSet<Gtid>) -> String {
    let mut runs: Vec<(Gtid, u64)> = Vec::new();
    for &gtid in all {
        match runs.last_mut() {
            Some((first, last))
                if (first.domain, first.server, last.wrapping_add(1))
                    == (gtid.domain, gtid.server, gtid.seq) =>
            {
                *last = gtid.seq;
            }
            _ => runs.push((gtid, gtid.seq)),
        }
    }
    let parts = runs.iter().map(|(first, last)| match last {
        last if *last == first.seq => first.to_string(),
        last => format!("{first}..{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// What undoes one rows event: its table map, and its rows turned round.
struct Step {
    map: Arc<[u8]>,
    rows: Inverted,
    timestamp: u32,
}

/// The one event in `bytes`, which comes out of the log.
fn one(bytes: &[u8]) -> SqlResult<narwal_binlog::RawEvent<'_>> {
    let event = EventReader::new(bytes).trusting_checksums().next();
    event
        .ok_or_else(|| error("an empty event"))?
        .map_err(|e| error(e.to_string()))
}

fn as_map<'a>(event: &narwal_binlog::RawEvent<'a>) -> SqlResult<TableMap<'a>> {
    match event.decode().map_err(|e| error(e.to_string()))? {
        Event::TableMap(map) => Ok(map),
        _ => Err(error("no table map")),
    }
}

/// What undoes the group at hand, the first event's last.
fn steps(gtid: Gtid, groups: &mut Groups) -> SqlResult<Vec<Step>> {
    let cant = |why: String| SqlError::unsupported(format!("undoing transaction {gtid}: {why}"));
    let mut maps: HashMap<u64, Arc<[u8]>> = HashMap::new();
    let mut steps = Vec::new();
    let mut size = 0;
    while let Some(bytes) = groups.next_event()? {
        let event = one(bytes)?;
        let timestamp = event.header.timestamp;
        match event.decode().map_err(|e| error(e.to_string()))? {
            Event::TableMap(map) => drop(maps.insert(map.table_id, bytes.into())),
            Event::Rows(rows) if !rows.data.is_empty() => {
                size += bytes.len();
                if size > LARGEST {
                    return Err(cant(format!(
                        "it has more than {} MiB of changes",
                        LARGEST >> 20
                    )));
                }
                let map = maps
                    .get(&rows.table_id)
                    .ok_or_else(|| error("rows of a table that has no table map"))?
                    .clone();
                let event = one(&map)?;
                let table = as_map(&event)?;
                let rows = Inverted::of(&rows, &table)
                    .map_err(|e| cant(format!("{}.{}: {e}", table.db, table.table)))?;
                steps.push(Step {
                    map,
                    rows,
                    timestamp,
                });
            }
            // What says itself that it does nothing, and what frames a transaction.
            Event::Query(q)
                if q.sql.starts_with(b"DO 0")
                    || [&b"BEGIN"[..], b"COMMIT"]
                        .iter()
                        .any(|w| q.sql.eq_ignore_ascii_case(w)) => {}
            Event::Query(q) => {
                let text: String = String::from_utf8_lossy(q.sql).chars().take(200).collect();
                return Err(cant(format!("it is a statement, {text}")));
            }
            _ => {}
        }
    }
    Ok(steps)
}

impl ClientSession {
    /// FLASHBACK BINARY LOGS GTIDS.
    pub(crate) fn flashback(&mut self, list: &str) -> SqlResult<Grid> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::BINLOG_ADMIN))?;
        let wanted = parse(list)?;
        if let Some(name) = self.instance.replica_control().and_then(|c| c.running()) {
            return Err(errors::SLAVE_MUST_STOP.with([&name, &name]));
        }
        let waiting = self.instance.database().held().commits;
        if waiting > 0 {
            // They would be answered as if they stayed.
            return Err(error(format!(
                "{waiting} commits wait for replicas to acknowledge them: end their connections and switch \
                 rpl_semi_sync_master_enabled off, or restart this server"
            )));
        }
        let had = self.locks.global_read;
        self.take_global_read_lock()?;
        let done = self.take_back(wanted);
        if !had {
            self.release_global_read_lock();
        }
        let done = done?;
        let db = self.instance.database();
        let number = |n: u64| Value::UInt(n);
        let mut grid = columns();
        grid.row(vec![
            number(done.transactions),
            number(done.rows),
            Value::str(db.gtid_binlog_state().as_str()),
            Value::str(db.replica_state().slave_pos_text().as_str()),
        ]);
        Ok(grid)
    }

    /// Nothing commits but this.
    fn take_back(&mut self, mut wanted: BTreeSet<Gtid>) -> SqlResult<Done> {
        let db = self.instance.database().clone();
        let before = db.replica_state();
        // What was taken back before a crash, and may stand in the log yet.
        let undone = match before.channels.get(&CHANNEL) {
            Some((list, _)) => parse(list)?,
            None => BTreeSet::new(),
        };
        wanted.extend(&undone);
        if wanted.is_empty() {
            return Ok(Done::default());
        }
        let ends_at = db.gtid_state();
        let (found, left) = self.find(&wanted)?;
        let missing = wanted
            .iter()
            .find(|g| !found.contains_key(*g) && !undone.contains(g));
        if let Some(gtid) = missing {
            return Err(error(format!(
                "GTID {gtid} is not in the binary log, or not any more"
            )));
        }
        let mut done = Done {
            transactions: wanted.len() as u64,
            rows: 0,
        };
        // The newest first.
        let mut to_undo: Vec<(u64, Gtid)> = found
            .iter()
            .filter(|(gtid, _)| !undone.contains(gtid))
            .map(|(gtid, lsn)| (*lsn, *gtid))
            .collect();
        to_undo.sort_unstable_by(|a, b| b.cmp(a));
        if !to_undo.is_empty() {
            let mut txn = db.begin(TxnOptions {
                isolation: Isolation::ReadCommitted,
                interrupt: Some(self.process.interrupt.clone()),
                log_bin: false,
                origin: Some(Arc::new(Origin {
                    channel: CHANNEL,
                    file: format(&wanted).into(),
                    pos: 0,
                    gtid: SourceGtid::MariaDb,
                })),
                ..TxnOptions::default()
            });
            for (lsn, gtid) in to_undo {
                done.rows += self.undo(&mut txn, lsn, gtid)?;
            }
            txn.commit()?;
        }
        if !found.is_empty() {
            db.end_binlog_at(&ends_at, &left)?;
            // Commits that wait for replicas to read the log that is gone.
            self.instance.source().semi_sync().reset();
        }
        let mut pos: BTreeMap<u32, Gtid> = before.slave_pos;
        pos.retain(|_, gtid| !wanted.contains(gtid));
        let touched: BTreeSet<u32> = wanted.iter().map(|g| g.domain).collect();
        for last in left.position() {
            let ahead = pos.get(&last.domain).is_some_and(|p| p.seq > last.seq);
            if touched.contains(&last.domain) || !ahead {
                pos.insert(last.domain, last);
            }
        }
        let list: Vec<String> = pos.values().map(Gtid::to_string).collect();
        db.ddl(
            Ddl {
                changes: vec![CatalogChange::SetReplicaState {
                    slave_pos: Some(list.join(",")),
                    channel: Some((CHANNEL, None)),
                    mysql: None,
                }],
                ..Ddl::default()
            },
            &TxnOptions {
                log_bin: false,
                ..TxnOptions::default()
            },
        )?;
        tracing::warn!(
            transactions = format(&wanted),
            rows = done.rows,
            gtid_binlog_state = %left,
            gtid_slave_pos = list.join(","),
            "transactions were taken back, and a new binary log was begun without them"
        );
        Ok(done)
    }

    /// Where the wanted groups stand in the log, and the GTIDs of what is left without them.
    fn find(&self, wanted: &BTreeSet<Gtid>) -> SqlResult<(BTreeMap<Gtid, u64>, GtidState)> {
        let db = self.instance.database();
        let list: Vec<Gtid> = wanted.iter().copied().collect();
        let mut groups = match db.binlog_reader_before(&list)? {
            Some(groups) => groups,
            None => db.binlog_reader(ReadStart::Oldest)?,
        };
        let mut found = BTreeMap::new();
        let mut left = groups
            .files()
            .map(|f| f.gtids().clone())
            .unwrap_or_default();
        while let Some(head) = groups.next_group()? {
            if self.process.interrupt.load(Ordering::Relaxed) {
                return Err(EngineError::Interrupted.to_sql());
            }
            if wanted.contains(&head.gtid) {
                found.insert(head.gtid, head.lsn);
            } else {
                left.observe(head.gtid);
            }
        }
        Ok((found, left))
    }

    /// Takes one transaction back; how many rows that were.
    fn undo(&self, txn: &mut Transaction, lsn: u64, gtid: Gtid) -> SqlResult<u64> {
        let db = self.instance.database();
        let mut groups = db.binlog_reader(ReadStart::Lsn(lsn))?;
        let there = groups.next_group()?.is_some_and(|h| h.gtid == gtid);
        if !there {
            return Err(error(format!(
                "GTID {gtid} is not in the binary log any more"
            )));
        }
        let mut rows = 0;
        for step in steps(gtid, &mut groups)?.iter().rev() {
            let event = one(&step.map)?;
            let map = as_map(&event)?;
            let name = format!("{}.{}", map.db, map.table);
            if (db.catalog().table(map.db, map.table)).is_some_and(|t| t.def.sequence) {
                // Numbers that were taken stay taken.
                continue;
            }
            let mut applier = RowApplier::new(true);
            txn.begin_statement(step.timestamp, None);
            let applied = applier
                .table_map(&db.catalog(), &map, event.body)
                .and_then(|()| applier.rows(txn, &step.rows.event(), step.timestamp));
            let applied = applied.map_err(|e| {
                let e = e.to_sql();
                SqlError::new(
                    e.code,
                    &e.sqlstate,
                    format!(
                        "Transaction {gtid} can't be taken back: a row of {name} is not as the log says that it left it ({}). \
                         Nothing was changed",
                        e.message
                    ),
                )
            })?;
            txn.end_statement();
            rows += applied.rows;
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let of = |text: &str| format(&parse(text).unwrap());
        assert_eq!(of(""), "");
        assert_eq!(
            of("0-2-101..103, 1-2-7,0-2-104,0-1-104"),
            "0-1-104,0-2-101..104,1-2-7"
        );
        assert_eq!(of("0-2-5..5"), "0-2-5");
        for bad in ["x", "0-1", "0-1-5..4", "0-1-5..x", "0-1-1..99999999999"] {
            assert_eq!(parse(bad).unwrap_err().code, 1941, "{bad}");
        }
    }
}
