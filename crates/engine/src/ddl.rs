//! DDL: one commit that carries a QUERY event for replicas and the settled catalog changes for recovery.

use crate::catalog::{Catalog, LoggedChange};
use crate::commit::{Annex, Place, record, reserve, reserve_local};
use crate::db::{Ddl, Inner};
use crate::locks::WaitPolicy;
use crate::memtable::{Payload, full_key};
use crate::recovery::index_keys;
use crate::replica::{ReplicaMove, local_gtid};
use crate::table_locks::TableLocks;
use crate::txn::{CommitInfo, Reserved, TxnOptions, binlog_err};
use crate::{CatalogChange, EngineError, Result};
use narwal_binlog::{DdlQuery, GroupBuilder, QueryContext};
use narwal_log::HEADER_LEN;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// MariaDB's `lock_wait_timeout`: a day.
const DEFINITION_LOCK_WAIT: Duration = Duration::from_secs(86_400);

fn touched(catalog: &Catalog, changes: &[CatalogChange]) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut add = |db: &str, name: &str| ids.extend(catalog.table(db, name).map(|t| t.def.id));
    for c in changes {
        match c {
            CatalogChange::DropTable { db, name } | CatalogChange::TruncateTable { db, name } => {
                add(db, name)
            }
            CatalogChange::CreateIndex { db, table, .. }
            | CatalogChange::DropIndex { db, table, .. } => add(db, table),
            CatalogChange::DropDatabase(db) => {
                for t in catalog.tables(db) {
                    add(db, &t.def.name);
                }
            }
            _ => {}
        }
    }
    // One order for all: two statements over the same tables can't deadlock.
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Runs a DDL statement.
pub(crate) fn run(db: &Arc<Inner>, ddl: Ddl, options: &TxnOptions) -> Result<CommitInfo> {
    if let Some(m) = db.log.failed() {
        return Err(EngineError::LogFailed(m));
    }
    db.admit(false)?;
    // Another DDL may change which tables are meant while this one waits for their locks.
    for _ in 0..10 {
        if let Some(info) = attempt(db, &ddl, options)? {
            return Ok(info);
        }
    }
    Err(EngineError::Sql(narwal_types::SqlError::new(
        1412,
        b"HY000",
        "Table definition has changed, please retry transaction",
    )))
}

/// One try; `None` if the tables that the statement names are not those that were locked.
fn attempt(db: &Arc<Inner>, ddl: &Ddl, options: &TxnOptions) -> Result<Option<CommitInfo>> {
    let mut locks = TableLocks::new(db);
    let ids = touched(&db.catalog.load(), &ddl.changes);
    for id in ids.iter().filter(|id| !options.holds(**id)) {
        let policy = WaitPolicy {
            timeout: Some(options.lock_wait_timeout.unwrap_or(DEFINITION_LOCK_WAIT)),
            interrupt: options.interrupt.as_deref(),
        };
        locks.add(*id, policy)?;
    }
    // One DDL at a time from here to its place in the log. Not held while the log syncs.
    let serial = db.ddl_serial.lock();
    let before = db.latest_catalog.lock().clone();
    if touched(&before, &ddl.changes) != ids {
        return Ok(None);
    }
    let mut after = (*before).clone();
    let mut changes = Vec::new();
    let mut entries: Vec<(u32, Vec<Vec<u8>>)> = Vec::new();
    for change in ddl.changes.iter().cloned() {
        for step in after.resolve(change, u64::from(ddl.timestamp))? {
            if step.is_replica_state() {
                changes.push(step);
                continue;
            }
            after.apply(&step)?;
            if let LoggedChange::BuildIndex { table, index } = &step
                && let Some(t) = after.table_by_id(*table)
            {
                // No writer holds the table now, and all that did have applied their rows.
                let (keys, duplicate) = index_keys(&db.state.load_full(), t, *index)?;
                if let Some(existing_pk) = duplicate {
                    // What the error tells is something read.
                    let last = db.log.with_order_state(|_, at| at.seq);
                    db.log.wait_visible_or(last, || options.interrupted())?;
                    let at = t.indexes.iter().position(|i| i.id == *index).unwrap_or(0);
                    return Err(EngineError::Duplicate {
                        index: at,
                        existing_pk,
                    });
                }
                entries.push((*index, keys));
            }
            changes.push(step);
        }
    }
    let same_catalog = changes.iter().all(LoggedChange::is_replica_state);
    let after = if same_catalog {
        before
    } else {
        after.version += 1;
        Arc::new(after)
    };
    let place = log(db, ddl, options, changes, Some(&after), entries)?;
    drop(serial);
    db.note_progress(&place);
    let info = place.info();
    match options.wait_committed(db, &place.ticket) {
        Ok(()) => publish(db, &after),
        Err(EngineError::KilledInCommit) => {
            finish_aside(locks, place, after);
            return Err(EngineError::KilledInCommit);
        }
        Err(e) => return Err(e),
    }
    drop(locks);
    Ok(Some(info))
}

/// Gives the statement its place in the log and hands its record over. `latest`: the catalog from there on; `entries`: keys
/// of new indexes.
fn log(
    db: &Arc<Inner>,
    ddl: &Ddl,
    options: &TxnOptions,
    changes: Vec<LoggedChange>,
    latest: Option<&Arc<Catalog>>,
    entries: Vec<(u32, Vec<Vec<u8>>)>,
) -> Result<Place> {
    let logged = options.log_bin && db.options.binlog_filter.logs_ddl(ddl);
    let replica_changes: Vec<LoggedChange> = changes
        .iter()
        .filter(|c| c.is_replica_state())
        .cloned()
        .collect();
    let mut annex = Annex {
        changes,
        ..Annex::default()
    };
    annex.set_origin(options, !logged);
    let prefix = annex.encode(&[])?;
    let moves = ReplicaMove {
        origin: options.origin.as_deref(),
        gtid: (!logged).then(|| local_gtid(&options.gtid)).flatten(),
        changes: &replica_changes,
    };
    let query = DdlQuery {
        server_id: db.options.server_id,
        timestamp: ddl.timestamp,
        thread_id: ddl.thread_id,
        exec_time: 0,
        db: &ddl.db,
        sql: ddl.sql.as_bytes(),
        context: QueryContext {
            sql_mode: ddl.sql_mode,
            ..QueryContext::default()
        },
        suppress_use: ddl.suppress_use,
    };
    let group = GroupBuilder::ddl(HEADER_LEN, &query).map_err(binlog_err)?;
    let group_len = group.len();
    let place = {
        // The catalog of a freeze and the sequence number of a freeze must be of one moment.
        let mut current = db.latest_catalog.lock();
        let place = if logged {
            reserve(
                db,
                group_len,
                u64::from(group_len),
                prefix.len(),
                None,
                &options.gtid,
                0,
                None,
                &moves,
            )?
        } else {
            reserve_local(db, prefix.len().max(4), None, &moves)?
        };
        if let Some(latest) = latest {
            *current = latest.clone();
        }
        place
    };
    for (index, keys) in entries {
        for key in keys {
            place.memtable.put(
                &full_key(index, &key),
                place.seq,
                Payload::Present,
                &db.registry,
            );
        }
    }
    db.log.fill(&place.ticket, record(group, &place, &prefix));
    if place.state_due {
        crate::binlog::state_due(db);
    }
    if logged {
        db.counters
            .group_bytes
            .fetch_add(u64::from(group_len), Ordering::Relaxed);
    }
    Ok(place)
}

/// Logs a statement that changes no table: it may be one without effect here, or move the replica state. Does not wait until
/// it is durable.
pub(crate) fn run_reserved(
    db: &Arc<Inner>,
    ddl: &Ddl,
    options: &TxnOptions,
    placed: impl FnOnce(),
) -> Result<Reserved> {
    if let Some(m) = db.log.failed() {
        return Err(EngineError::LogFailed(m));
    }
    db.admit(false)?;
    let mut none = Catalog::default();
    let mut changes = Vec::new();
    for change in ddl.changes.iter().cloned() {
        changes.extend(none.resolve(change, u64::from(ddl.timestamp))?);
    }
    if !changes.iter().all(LoggedChange::is_replica_state) {
        return Err(EngineError::Catalog(
            "a change of the catalog has to be waited for".into(),
        ));
    }
    let place = log(db, ddl, options, changes, None, Vec::new())?;
    placed();
    db.note_progress(&place);
    Ok(Reserved {
        seq: place.seq,
        gtid: place.placement.map(|p| p.gtid),
        ticket: Some(place.ticket),
    })
}

/// Lets sessions see the catalog of a DDL that is durable and visible.
fn publish(db: &Inner, after: &Arc<Catalog>) {
    db.catalog.rcu(|c| {
        if c.version < after.version {
            after.clone()
        } else {
            c.clone()
        }
    });
}

/// The connection of a DDL was killed while it waited for a replica: another thread does what is left, so that the
/// tables are free again when the statement has its effect.
fn finish_aside(locks: TableLocks, place: Place, after: Arc<Catalog>) {
    let rest = move || {
        if locks.db.log.wait(&place.ticket).is_ok() {
            publish(&locks.db, &after);
        }
    };
    if let Err(e) = std::thread::Builder::new()
        .name("narwal-ddl".into())
        .spawn(rest)
    {
        tracing::error!("a killed DDL statement shows its effect after a restart only: {e}");
    }
}
