//! DDL: one commit that carries a QUERY event for replicas and the settled catalog changes for recovery.

use crate::catalog::change::{CatalogChange, Ddl, LoggedChange};
use crate::catalog::def::{ForeignKeyDef, TableDef};
use crate::catalog::names::Catalog;
use crate::commit::land::{LAYER_BYTES, spill_of};
use crate::commit::place::{NewLayer, Place, record, reserve, reserve_local};
use crate::commit::reserved::{CommitInfo, Reserved};
use crate::ddl::fill::{FillRows, TableFill};
use crate::ddl::table_locks::TableLocks;
use crate::error::{binlog_err, definition_changed};
use crate::locks::types::{LockMode, Locked, WaitPolicy};
use crate::parts::Parts;
use crate::record::annex::Annex;
use crate::record::replica::{ReplicaMove, local_gtid};
use crate::store::index_build::IndexBuild;
use crate::store::writeset::RowDeltas;
use crate::txn::options::TxnOptions;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{DdlQuery, GroupBuilder, QueryContext};
use narwal_log::HEADER_LEN;
use narwal_types::Name;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// MariaDB's `lock_wait_timeout`: a day.
const DEFINITION_LOCK_WAIT: Duration = Duration::from_secs(86_400);
/// `check_constraint_checks=0` in a QUERY event's flags2.
const NO_CHECK_CONSTRAINT_CHECKS: u32 = 0x8000;
/// `explicit_defaults_for_timestamp=1` in a QUERY event's flags2.
const EXPLICIT_TIMESTAMPS: u32 = 1 << 24;
/// `sql_if_exists=1` in a QUERY event's flags2.
const IF_EXISTS: u32 = 1 << 28;
/// `foreign_key_checks=0` in a QUERY event's flags2.
const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;

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
            CatalogChange::AlterTable { db, name, .. }
            | CatalogChange::RebuildTable { db, name, .. }
            | CatalogChange::SetAutoIncrement { db, name, .. } => add(db, name),
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

/// Gives rows to the tables that a statement makes, and says how they are logged.
pub(crate) type Filler<'a> = (
    FillRows<'a>,
    &'a mut dyn FnMut(&mut TableFill<'_>) -> Result<()>,
);

/// Runs a DDL statement.
pub(crate) fn run(
    db: &Arc<Parts>,
    ddl: Ddl,
    options: &TxnOptions,
    mut filler: Option<Filler<'_>>,
) -> Result<CommitInfo> {
    if let Some(m) = db.binlog.log.failed() {
        return Err(EngineError::LogFailed(m));
    }
    db.pressure.admit(&db.store, &db.binlog.log, false)?;
    // Another DDL may change which tables are meant while this one waits for their locks.
    for _ in 0..10 {
        if let Some(info) = attempt(db, &ddl, options, filler.as_mut())? {
            return Ok(info);
        }
    }
    Err(definition_changed())
}

/// One try; `None` if the tables that the statement names are not those that were locked.
fn attempt(
    db: &Arc<Parts>,
    ddl: &Ddl,
    options: &TxnOptions,
    filler: Option<&mut Filler<'_>>,
) -> Result<Option<CommitInfo>> {
    let mut locks = TableLocks::new(db, LockMode::Exclusive);
    let ids = touched(&db.catalogs.current.load(), &ddl.changes);
    for id in ids.iter().filter(|id| !options.holds(**id)) {
        let policy = WaitPolicy {
            timeout: Some(options.lock_wait_timeout.unwrap_or(DEFINITION_LOCK_WAIT)),
            of: Locked::Table(*id),
            interrupt: options.interrupt.as_deref(),
        };
        locks.add(*id, policy)?;
    }
    // One DDL at a time from here to its place in the log. Not held while the log syncs.
    let serial = db.catalogs.serial.lock();
    let before = db.catalogs.latest.lock().clone();
    if touched(&before, &ddl.changes) != ids {
        return Ok(None);
    }
    let mut after = (*before).clone();
    let mut changes = Vec::new();
    // Rows of a new table may be a layer themselves, and a statement has one at most. It has no index to make of old rows.
    let in_memory = filler.as_ref().map_or(db.store.runs.limit, |_| u64::MAX);
    let mut indexes = IndexBuild::new(db.store.runs.place(0, &options.interrupt), in_memory);
    settle(db, ddl, options, &mut after, &mut indexes, &mut changes)?;
    // Rows of new tables: after `after` is complete, before the statement has its place.
    let filled = match filler {
        Some((rows, fill)) => {
            let logged = options.log_bin && db.options.binlog_filter.logs_ddl(ddl);
            let mut tables = TableFill::new(db, &before, &after, options);
            tables.begin(rows, logged, &query(db, ddl, options))?;
            fill(&mut tables)?;
            Some(tables.into_transaction())
        }
        None => None,
    };
    let same_catalog = changes.iter().all(LoggedChange::is_replica_state);
    let after = if same_catalog {
        before.clone()
    } else {
        after.version += 1;
        Arc::new(after)
    };
    let latest = Latest {
        before: &before,
        after: &after,
    };
    let place = log(
        db,
        ddl,
        options,
        changes,
        Some(latest),
        Some(indexes),
        filled,
    )?;
    drop(serial);
    db.pressure
        .note_progress(&db.binlog, place.ticket.lsn(), &place.memtable);
    let info = place.info();
    match options.wait_ddl(&db.binlog.log, &place.ticket) {
        Ok(true) => db.catalogs.publish(&after),
        Ok(false) => {
            // Its catalog has what held statements before it made: nobody may see that yet.
            finish_aside(locks, place, after);
            return Ok(Some(info));
        }
        Err(EngineError::KilledInCommit) => {
            finish_aside(locks, place, after);
            return Err(EngineError::KilledInCommit);
        }
        Err(e) => return Err(e),
    }
    drop(locks);
    Ok(Some(info))
}

/// Settles the statement's changes one after the other in `after`, and makes the keys of new indexes.
fn settle(
    db: &Parts,
    ddl: &Ddl,
    options: &TxnOptions,
    after: &mut Catalog,
    indexes: &mut IndexBuild,
    changes: &mut Vec<LoggedChange>,
) -> Result<()> {
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
                let duplicate = indexes.add(&db.store.state.load_full(), t, *index)?;
                if let Some(existing_pk) = duplicate {
                    // What the error tells is something read.
                    let last = db.binlog.log.with_order_state(|_, at| at.seq);
                    db.binlog
                        .log
                        .wait_visible_or(last, || options.interrupted())?;
                    let at = t.indexes.iter().position(|i| i.id == *index).unwrap_or(0);
                    return Err(EngineError::Duplicate {
                        index: at,
                        existing_pk,
                    });
                }
            }
            changes.push(step);
        }
    }
    Ok(())
}

/// The catalog before and after a statement.
struct Latest<'a> {
    before: &'a Catalog,
    after: &'a Arc<Catalog>,
}

impl Latest<'_> {
    /// Snapshots from before commit `seq` can't use what it made.
    fn made_at(&self, seq: u64) {
        for (id, t) in &self.after.by_id {
            let old = self.before.by_id.get(id);
            if !old.is_some_and(|o| Arc::ptr_eq(o, t)) {
                t.set_since(seq, old.map(|o| &**o));
            }
        }
    }
}

/// A foreign key comes over a virtual column, or over one whose type changes with it: a MariaDB makes it only where it looks
/// at the rows, in a copy.
fn copies_for_key(change: &CatalogChange) -> bool {
    let (CatalogChange::AlterTable { was, def, .. } | CatalogChange::RebuildTable { was, def, .. }) =
        change
    else {
        return false;
    };
    let named = |d: &TableDef, name: &str| {
        let mut columns = d.columns.iter();
        columns.position(|c| c.name.same_name(name))
    };
    let unlike = |name: &String| {
        let Some(now) = named(def, name).map(|at| &def.columns[at]) else {
            return false;
        };
        let before = named(was, name).map(|at| &was.columns[at]);
        now.generated.as_ref().is_some_and(|g| !g.stored) || before.is_some_and(|b| b.ty != now.ty)
    };
    let fresh = |k: &&ForeignKeyDef| !was.foreign_keys.iter().any(|w| w.name == k.name);
    let mut keys = def.foreign_keys.iter().filter(fresh);
    keys.any(|k| k.columns.iter().any(unlike))
}

/// The statement as it is logged.
fn query<'a>(db: &Parts, ddl: &'a Ddl, options: &'a TxnOptions) -> DdlQuery<'a> {
    let mut context = QueryContext {
        sql_mode: ddl.sql_mode,
        collation_connection: options.collations.0,
        collation_server: options.collations.1,
        ..QueryContext::default()
    };
    if ddl.implicit_timestamps {
        context.flags2 &= !EXPLICIT_TIMESTAMPS;
    }
    if ddl.if_exists {
        context.flags2 |= IF_EXISTS;
    }
    let makes_keys = ddl.changes.iter().any(|c| match c {
        CatalogChange::CreateTable(def)
        | CatalogChange::AlterTable { def, .. }
        | CatalogChange::RebuildTable { def, .. } => !def.foreign_keys.is_empty(),
        _ => false,
    });
    let has_keys = makes_keys || !db.catalogs.current.load().references.is_empty();
    if has_keys && !ddl.changes.iter().any(copies_for_key) {
        // What foreign keys forbid was looked at here, or was told not to be.
        context.flags2 |= NO_FOREIGN_KEY_CHECKS;
    }
    let checks = ddl.changes.iter().any(|c| match c {
        CatalogChange::AlterTable { def, .. } | CatalogChange::RebuildTable { def, .. } => {
            !def.checks.is_empty()
        }
        _ => false,
    });
    if checks {
        // So was what CHECK constraints say of the rows.
        context.flags2 |= NO_CHECK_CONSTRAINT_CHECKS;
    }
    DdlQuery {
        server_id: db.options.server_id,
        timestamp: ddl.timestamp,
        thread_id: ddl.thread_id,
        exec_time: 0,
        db: &ddl.db,
        sql: ddl.sql.as_bytes(),
        context,
        suppress_use: ddl.suppress_use,
        time_zone: options.time_zone.as_deref().unwrap_or(""),
    }
}

/// Gives the statement its place in the log and hands its record over. `latest`: the catalog from there on; `indexes`: keys
/// of new ones; `filled`: the rows of new tables.
fn log(
    db: &Arc<Parts>,
    ddl: &Ddl,
    options: &TxnOptions,
    changes: Vec<LoggedChange>,
    latest: Option<Latest<'_>>,
    mut indexes: Option<IndexBuild>,
    mut filled: Option<Transaction>,
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
    annex.set_origin(options.origin.as_deref(), &options.gtid, !logged);
    let LoggedRows {
        public,
        mut local,
        layered,
        deltas,
    } = match &mut filled {
        Some(txn) => log_rows(txn, &mut annex)?,
        None => LoggedRows::default(),
    };
    let prefix = annex.encode(local.as_mut().map_or(&[][..], |b| b.finish_local()))?;
    let moves = ReplicaMove {
        origin: options.origin.as_deref(),
        gtid: (!logged).then(|| local_gtid(&options.gtid)).flatten(),
        changes: &replica_changes,
    };
    let group = match public {
        Some(builder) => builder.finish(),
        None => GroupBuilder::ddl(HEADER_LEN, &query(db, ddl, options)),
    }
    .map_err(binlog_err)?;
    let group_len = group.group_len();
    let mut filled = filled.as_mut();
    let index_layer = indexes.as_mut().map_or(Ok(None), IndexBuild::layer)?;
    let indexes_layered = index_layer.is_some();
    let place = {
        // The catalog of a freeze and the sequence number of a freeze must be of one moment.
        let mut current = db.catalogs.latest.lock();
        let rows = (filled.as_mut().filter(|_| layered)).map(|t| &mut t.writes);
        let layer = rows.or(index_layer).map(NewLayer::new);
        let place = if logged {
            reserve(
                db,
                group.len(),
                group_len,
                prefix.len(),
                None,
                &options.gtid,
                annex.oob.as_ref().map_or(0, |o| o.first),
                layer,
                &moves,
                None,
            )?
        } else {
            reserve_local(db, prefix.len().max(4), layer, &moves, None, 0)?
        };
        if let Some(latest) = latest {
            latest.made_at(place.seq);
            *current = latest.after.clone();
        }
        place
    };
    if let Some(indexes) = indexes.filter(|_| !indexes_layered) {
        indexes.put_into(&place.memtable, place.seq, &db.store.registry);
    }
    if let Some(txn) = filled {
        land_rows(db, txn, &place, &deltas, layered);
    }
    db.binlog
        .log
        .fill(&place.ticket, record(group, &place, &prefix));
    if layered || indexes_layered {
        db.pressure.bell.want();
    }
    if place.state_due {
        crate::binlog::write::state_due(&db.binlog);
    }
    if logged {
        db.counters
            .group_bytes
            .fetch_add(group_len, Ordering::Relaxed);
    }
    Ok(place)
}

/// The rows of new tables, as they are logged with their statement.
#[derive(Default)]
struct LoggedRows {
    /// Rows that replicas see: they stand in the statement's group.
    public: Option<GroupBuilder>,
    /// Others: they stand beside it.
    local: Option<GroupBuilder>,
    /// The rows become a layer of the store as they are.
    layered: bool,
    deltas: RowDeltas,
}

/// Ends the statement that filled new tables; what its rows add to the record goes into `annex`.
fn log_rows(txn: &mut Transaction, annex: &mut Annex) -> Result<LoggedRows> {
    txn.end_statement();
    txn.sync_run_names()?;
    let oob = txn.name_chunks()?;
    let mut rows = LoggedRows {
        layered: txn.writes.has_runs() || (oob.is_some() && txn.writes.bytes() > LAYER_BYTES),
        deltas: txn.writes.row_deltas(),
        ..LoggedRows::default()
    };
    annex.spill = spill_of(txn);
    let row_ids = std::mem::take(&mut txn.events.row_ids);
    let builder = txn.events.builder.take();
    if txn.options.log_bin {
        (annex.oob, annex.row_ids, rows.public) = (oob, row_ids, builder);
    } else {
        (annex.local_oob, annex.local_row_ids, rows.local) = (oob, row_ids, builder);
    }
    Ok(rows)
}

/// Puts the rows of new tables into the store, unless they are a layer of it already.
fn land_rows(db: &Parts, txn: &mut Transaction, place: &Place, deltas: &RowDeltas, layered: bool) {
    for t in &txn.tables {
        if let Some(delta) = deltas.get(&t.indexes[0].id) {
            t.counters.rows.fetch_add(*delta, Ordering::Relaxed);
        }
    }
    if !layered {
        for (key, own) in txn.writes.take().0 {
            (place.memtable).put(&key, place.seq, own.payload, &db.store.registry);
        }
    }
    if let Some(hold) = txn.events.oob.take().and_then(|o| o.hold) {
        // Until a checkpoint has the rows, recovery may read the chunks.
        db.binlog.oob_committed.lock().push((place.seq, hold));
    }
}

/// Logs a statement that changes no table: it may be one without effect here, or move the replica state. Does not wait until
/// it is durable.
pub(crate) fn run_reserved(
    db: &Arc<Parts>,
    ddl: &Ddl,
    options: &TxnOptions,
    placed: impl FnOnce(),
) -> Result<Reserved> {
    if let Some(m) = db.binlog.log.failed() {
        return Err(EngineError::LogFailed(m));
    }
    db.pressure.admit(&db.store, &db.binlog.log, false)?;
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
    let place = log(db, ddl, options, changes, None, None, None)?;
    placed();
    db.pressure
        .note_progress(&db.binlog, place.ticket.lsn(), &place.memtable);
    Ok(Reserved {
        seq: place.seq,
        gtid: place.placement.map(|p| p.gtid),
        ticket: Some(place.ticket),
    })
}

/// The statement's connection does not wait for a replica (it was killed, or the statement is [`TxnOptions::unheld`]): another
/// thread does what is left, so that the tables are free again when the statement has its effect.
fn finish_aside(locks: TableLocks, place: Place, after: Arc<Catalog>) {
    let rest = move || {
        if locks.db.binlog.log.wait(&place.ticket).is_ok() {
            locks.db.catalogs.publish(&after);
        }
    };
    if let Err(e) = std::thread::Builder::new()
        .name("narwal-ddl".into())
        .spawn(rest)
    {
        tracing::error!("a killed DDL statement shows its effect after a restart only: {e}");
    }
}
