//! The INNODB tables: transactions, who waits for whose locks, and what the catalog holds. They take PROCESS. Of pages,
//! tablespaces and the like there is none.

use super::rows::Rows;
use super::tables::unix_time;
use crate::acl::privilege_needed;
use crate::privileges::PrivilegeSet;
use crate::view::View;
use narwal_engine::{ForeignAction, ForeignKeyDef, LockMode, LockWaiting, Locked, Table};
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{DateTime, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

fn text(s: &str) -> Value {
    Value::str(s)
}

/// No rows, for who may see them.
pub(super) fn nothing(view: &View) -> SqlResult<Rows> {
    match view.account.global.has(PrivilegeSet::PROCESS) {
        true => Ok(Vec::new()),
        false => Err(privilege_needed(PrivilegeSet::PROCESS)),
    }
}

/// Seconds since 1970 of a moment so long ago.
fn ago(time: Duration) -> u64 {
    SystemTime::now()
        .checked_sub(time)
        .and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0, |t| t.as_secs())
}

/// A lock, as one that a transaction holds or asks for.
fn lock_id(transaction: u64, w: &LockWaiting) -> String {
    match w.of {
        Locked::Key(index) | Locked::Gap(index) => {
            format!("{transaction}:{index}:{:016x}", w.lock as u64)
        }
        Locked::Table(table) => format!("{transaction}:{table}"),
    }
}

/// INNODB_TRX: the open transactions of sessions, and those whose statement waits for a lock.
pub(super) fn transactions(view: &View, env: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut rows = nothing(view)?;
    let processes = &view.instance.processes;
    let now = processes.now();
    let waits: BTreeMap<u64, LockWaiting> = (view.instance.database().lock_waits().into_iter())
        .map(|w| (w.transaction, w))
        .collect();
    for p in processes.all() {
        let t = &p.transaction;
        let id = t.id.load(Relaxed);
        let wait = waits.get(&id);
        if id == 0 || (wait.is_none() && !t.kept.load(Relaxed)) {
            continue;
        }
        let began = Duration::from_micros(now.saturating_sub(t.since.load(Relaxed)));
        let (locks, changed) = (t.locks.load(Relaxed), t.changed.load(Relaxed));
        let isolation = match t.isolation.load(Relaxed) {
            0 => "READ COMMITTED",
            1 => "REPEATABLE READ",
            _ => "SERIALIZABLE",
        };
        let line = p.line(now);
        let zero = Value::UInt(0);
        let tables = t.tables.load(Relaxed);
        // Each table's definition is locked too.
        let rows_locked = locks.saturating_sub(tables);
        let tables = Value::UInt(tables);
        rows.push(vec![
            Value::UInt(id),
            text(if wait.is_some() {
                "LOCK WAIT"
            } else {
                "RUNNING"
            }),
            unix_time(ago(began), env.time_zone),
            wait.map_or(Value::Null, |w| Value::str(lock_id(id, w))),
            wait.map_or(Value::Null, |w| {
                unix_time(ago(w.since.elapsed()), env.time_zone)
            }),
            Value::UInt(locks + u64::from(changed)),
            Value::UInt(u64::from(line.id)),
            line.info.map_or(Value::Null, |i| {
                Value::str(i.chars().take(1024).collect::<String>())
            }),
            Value::str(if line.state.is_empty() {
                ""
            } else {
                line.state
            }),
            tables.clone(),
            tables,
            Value::UInt(locks),
            zero.clone(),
            Value::UInt(rows_locked),
            zero.clone(),
            zero,
            text(isolation),
            Value::Int(1),
            Value::Int(1),
            Value::Null,
            Value::Int(i64::from(t.read_only.load(Relaxed))),
            Value::Int(0),
        ]);
    }
    Ok(rows)
}

/// INNODB_LOCKS: the locks that somebody waits for, as asked for and as held.
pub(super) fn locks(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    nothing(view)?;
    let db = view.instance.database();
    let catalog = db.catalog();
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for w in db.lock_waits() {
        let (kind, found) = match w.of {
            Locked::Table(id) => ("TABLE", catalog.table_by_id(id).map(|t| (t.clone(), None))),
            Locked::Key(id) | Locked::Gap(id) => {
                let all = catalog.databases().flat_map(|d| catalog.tables(&d.name));
                let mut named = all.filter_map(|t| {
                    let i = t.indexes.iter().find(|i| i.id == id)?;
                    Some((t.clone(), Some(i.name.clone())))
                });
                ("RECORD", named.next())
            }
        };
        let (table, index) = match found {
            Some((t, i)) => (format!("`{}`.`{}`", t.def.db, t.def.name), i),
            None => (String::new(), None),
        };
        let index = index.map(|i| match i.is_empty() {
            true => "GEN_CLUST_INDEX".to_string(),
            false => i,
        });
        let all = w.blockers.iter().copied().chain([(w.transaction, w.mode)]);
        for (transaction, mode) in all {
            let mode = match (mode, w.of) {
                (LockMode::Shared, Locked::Gap(_)) => "S,GAP",
                (LockMode::Shared, _) => "S",
                (LockMode::Exclusive, Locked::Gap(_)) => "X,GAP",
                (LockMode::Exclusive, _) => "X",
            };
            let id = lock_id(transaction, &w);
            let row = vec![
                text(&id),
                Value::UInt(transaction),
                text(mode),
                text(kind),
                text(&table),
                index.as_deref().map_or(Value::Null, text),
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
            ];
            rows.entry(id).or_insert(row);
        }
    }
    Ok(rows.into_values().collect())
}

/// INNODB_LOCK_WAITS: who waits for whom.
pub(super) fn lock_waits(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    nothing(view)?;
    let mut rows = Vec::new();
    for w in view.instance.database().lock_waits() {
        for (b, _) in &w.blockers {
            rows.push(vec![
                Value::UInt(w.transaction),
                Value::str(lock_id(w.transaction, &w)),
                Value::UInt(*b),
                Value::str(lock_id(*b, &w)),
            ]);
        }
    }
    Ok(rows)
}

/// All tables, by database and name.
fn all_tables(view: &View) -> SqlResult<Vec<Arc<Table>>> {
    nothing(view)?;
    let catalog = view.instance.database().catalog();
    let all = catalog.databases().flat_map(|d| catalog.tables(&d.name));
    Ok(all.cloned().collect())
}

/// A table's name as InnoDB has it.
fn path(db: &str, name: &str) -> Value {
    Value::str(format!("{db}/{name}"))
}

/// INNODB_SYS_TABLES.
pub(super) fn tables(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let row = |t: &Arc<Table>| {
        vec![
            Value::UInt(t.def.id),
            path(&t.def.db, &t.def.name),
            Value::Int(33),
            // As InnoDB counts: with its three hidden columns.
            Value::UInt(t.columns().len() as u64 + 3),
            Value::UInt(0),
            text("Dynamic"),
            Value::UInt(0),
            text("Single"),
        ]
    };
    Ok(all_tables(view)?.iter().map(row).collect())
}

/// Bytes of a page, as `innodb_page_size` has them.
const PAGE: u64 = 16_384;

/// Each table with its rows and, roughly, its pages.
fn pages(view: &View) -> SqlResult<Vec<(Arc<Table>, u64, u64)>> {
    let size = |t: Arc<Table>| {
        let rows = view.instance.database().table_rows(&t);
        let bytes = super::tables::data_length(&view.instance, &t);
        (t, rows, bytes.div_ceil(PAGE).max(1))
    };
    Ok(all_tables(view)?.into_iter().map(size).collect())
}

/// `mysql.innodb_table_stats`.
pub(super) fn kept_table_stats(view: &View) -> SqlResult<Rows> {
    let row = |(t, rows, pages): (Arc<Table>, u64, u64)| {
        vec![
            text(&t.def.db),
            text(&t.def.name),
            Value::DateTime(DateTime::default()),
            Value::UInt(rows),
            Value::UInt(pages),
            Value::UInt(0),
        ]
    };
    Ok(pages(view)?.into_iter().map(row).collect())
}

/// `mysql.innodb_index_stats`: the sizes.
pub(super) fn kept_index_stats(view: &View) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for (t, _, pages) in pages(view)? {
        for i in &t.indexes {
            rows.push(vec![
                text(&t.def.db),
                text(&t.def.name),
                text(if i.name.is_empty() {
                    "GEN_CLUST_INDEX"
                } else {
                    &i.name
                }),
                Value::DateTime(DateTime::default()),
                text("size"),
                Value::UInt(pages),
                Value::Null,
                text("Number of pages in the index"),
            ]);
        }
    }
    Ok(rows)
}

/// Id, name and rough size in bytes of each table.
pub(super) fn sizes(view: &View) -> SqlResult<Vec<(u64, Value, u64)>> {
    let size = |t: &Arc<Table>| {
        let bytes = super::tables::data_length(&view.instance, t);
        (t.def.id, path(&t.def.db, &t.def.name), bytes)
    };
    Ok(all_tables(view)?.iter().map(size).collect())
}

/// INNODB_SYS_TABLESTATS.
pub(super) fn table_stats(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let row = |t: &Arc<Table>| {
        let rows = view.instance.database().table_rows(t);
        let mut row = vec![
            Value::UInt(t.def.id),
            path(&t.def.db, &t.def.name),
            Value::Int(1),
            Value::UInt(rows),
        ];
        row.extend((0..4).map(|_| Value::UInt(0)));
        row.push(Value::Int(0));
        row
    };
    Ok(all_tables(view)?.iter().map(row).collect())
}

/// INNODB_SYS_INDEXES.
pub(super) fn indexes(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in all_tables(view)? {
        for i in &t.indexes {
            let (name, kind) = match i.name.as_str() {
                "" => ("GEN_CLUST_INDEX", 1),
                "PRIMARY" => ("PRIMARY", 3),
                name => (name, if i.unique { 2 } else { 0 }),
            };
            rows.push(vec![
                Value::UInt(u64::from(i.id)),
                text(name),
                Value::UInt(t.def.id),
                Value::Int(kind),
                Value::Int(i.parts.len() as i64),
                Value::Null,
                Value::Null,
                Value::Int(50),
            ]);
        }
    }
    Ok(rows)
}

/// INNODB_SYS_FIELDS.
pub(super) fn fields(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in all_tables(view)? {
        for i in &t.indexes {
            for (n, p) in i.parts.iter().enumerate() {
                rows.push(vec![
                    Value::UInt(u64::from(i.id)),
                    text(&t.columns()[p.column].name),
                    Value::UInt(n as u64),
                ]);
            }
        }
    }
    Ok(rows)
}

/// Calls `f` for each foreign key, with its table.
fn each_foreign(view: &View, f: &mut dyn FnMut(&Table, &ForeignKeyDef)) -> SqlResult<()> {
    for t in all_tables(view)? {
        for k in &t.def.foreign_keys {
            f(&t, k);
        }
    }
    Ok(())
}

/// INNODB_SYS_FOREIGN.
pub(super) fn foreign(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    each_foreign(view, &mut |t, k| {
        // InnoDB's bits: cascade, set null, no action.
        let bits = |a: ForeignAction, [cascade, null, none]: [u64; 3]| match a {
            ForeignAction::Restrict => 0,
            ForeignAction::Cascade => cascade,
            ForeignAction::SetNull => null,
            ForeignAction::NoAction => none,
        };
        rows.push(vec![
            path(&t.def.db, &k.name),
            path(&t.def.db, &t.def.name),
            path(&k.parent_db, &k.parent),
            Value::UInt(k.columns.len() as u64),
            Value::UInt(bits(k.on_delete, [1, 2, 16]) | bits(k.on_update, [4, 8, 32])),
        ]);
    })?;
    Ok(rows)
}

/// INNODB_SYS_FOREIGN_COLS.
pub(super) fn foreign_columns(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    each_foreign(view, &mut |t, k| {
        for (n, (c, p)) in k.columns.iter().zip(&k.parent_columns).enumerate() {
            rows.push(vec![
                path(&t.def.db, &k.name),
                text(c),
                text(p),
                Value::UInt(n as u64),
            ]);
        }
    })?;
    Ok(rows)
}
