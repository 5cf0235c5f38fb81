//! FLUSH, RESET, BACKUP, and what keeps tables in order.

use super::replication;
use crate::admin::{
    Admin, BinlogStatement, Flush, Maintenance, Persistent, ReplicaStatement, TableRef,
};
use crate::words::{BackupLock, BackupWords};
use narwal_syntax::ast::admin as ast;
use narwal_types::{SqlError, SqlResult};

pub(super) fn flush(item: ast::Flush) -> SqlResult<Flush> {
    Ok(match item {
        ast::Flush::Privileges => Flush::Privileges,
        ast::Flush::Tables { tables, lock } => match (lock, tables.is_empty()) {
            (ast::FlushLock::None, _) => Flush::Tables(tables),
            // A checkpoint changes nothing that a copy of the folder needs to be kept from.
            (ast::FlushLock::Read | ast::FlushLock::ReadNoCheckpoint, true) => Flush::ReadLock,
            // Tables have no files of their own to be copied: what is left of FOR EXPORT is its lock.
            (
                ast::FlushLock::Read | ast::FlushLock::ReadNoCheckpoint | ast::FlushLock::Export,
                _,
            ) => Flush::TablesReadLock(tables),
        },
        ast::Flush::Logs => Flush::Logs,
        ast::Flush::EngineLogs => Flush::EngineLogs,
        ast::Flush::BinaryLogs(domains) => Flush::BinaryLogs(domains),
        ast::Flush::Status => Flush::Status,
        ast::Flush::RelayLogs(connection) => {
            replication::target(connection)?;
            Flush::Nothing
        }
        ast::Flush::TextLogs(_) | ast::Flush::Hosts | ast::Flush::QueryCache => Flush::Nothing,
        ast::Flush::Slave(_) => return Err(SqlError::unsupported("FLUSH SLAVE")),
        ast::Flush::Master => return Err(SqlError::unsupported("FLUSH MASTER")),
        ast::Flush::Other(name) if name.eq_ignore_ascii_case("USER_RESOURCES") => {
            Flush::UserResources
        }
        ast::Flush::Other(name) if is_nothing(&name) => Flush::Nothing,
        ast::Flush::Other(name) => return Err(SqlError::unsupported(format!("FLUSH {name}"))),
    })
}

/// CACHE INDEX and LOAD INDEX INTO CACHE, which no table here takes.
pub(super) fn cache(op: Maintenance, tables: Vec<ast::CacheTable>) -> Admin {
    Admin::Maintain {
        op,
        persistent: None,
        tables: self::tables(tables),
    }
}

/// The tables of CACHE INDEX. Which of their indexes it names is all one.
pub(super) fn tables(list: Vec<ast::CacheTable>) -> Vec<TableRef> {
    list.into_iter().map(|t| t.table).collect()
}

pub(super) fn reset(mut items: Vec<ast::Reset>) -> SqlResult<Admin> {
    match (items.pop(), items.is_empty()) {
        (Some(ast::Reset::Master(first)), true) => Ok(Admin::Binlog(BinlogStatement::Reset {
            first,
            gtids: false,
        })),
        (Some(ast::Reset::BinaryLogs(first)), true) => {
            Ok(Admin::Binlog(BinlogStatement::Reset { first, gtids: true }))
        }
        (Some(ast::Reset::Slave { connection, all }), true) => {
            Ok(Admin::Replica(ReplicaStatement::Reset {
                target: replication::target(connection)?,
                all,
            }))
        }
        (Some(ast::Reset::QueryCache), true) => Ok(Admin::Flush(vec![Flush::Nothing])),
        _ => Err(SqlError::unsupported(
            "RESET other than RESET MASTER and RESET SLAVE",
        )),
    }
}

pub(super) fn backup(given: ast::Backup) -> Admin {
    let words = match given {
        ast::Backup::To {
            folder,
            parent,
            no_log,
            max_rate,
        } => BackupWords {
            to: Some(folder),
            parent,
            no_log,
            max_rate,
            resume: None,
        },
        ast::Backup::Stream {
            no_log,
            max_rate,
            resume,
        } => BackupWords {
            no_log,
            max_rate,
            resume,
            ..BackupWords::default()
        },
        ast::Backup::Stage(stage) => return Admin::BackupLock(BackupLock::Stage(stage)),
        ast::Backup::Lock(table) => return Admin::BackupLock(BackupLock::Table(table)),
        ast::Backup::Unlock => return Admin::BackupLock(BackupLock::Unlock),
        ast::Backup::Instance(locks) => return Admin::BackupLock(BackupLock::Instance(locks)),
    };
    Admin::Backup(words)
}

/// The names of COLUMNS or INDEXES; `None` for all.
fn named(given: ast::AnalyzeColumns) -> Option<Vec<String>> {
    match given {
        ast::AnalyzeColumns::All => None,
        ast::AnalyzeColumns::Some(names) => Some(names),
    }
}

pub(super) fn maintain(m: ast::Maintain) -> SqlResult<Admin> {
    let (op, name) = match m.op {
        ast::Maintenance::Check => (Maintenance::Check, "CHECK"),
        ast::Maintenance::Analyze => (Maintenance::Analyze, "ANALYZE"),
        ast::Maintenance::Optimize => (Maintenance::Optimize, "OPTIMIZE"),
        ast::Maintenance::Repair => (Maintenance::Repair, "REPAIR"),
    };
    if m.kind == ast::TableKind::View {
        return Err(SqlError::unsupported(format!("{name} VIEW")));
    }
    if m.wait.is_some() {
        return Err(SqlError::unsupported("OPTIMIZE TABLE ... WAIT"));
    }
    Ok(Admin::Maintain {
        op,
        persistent: m.persistent.map(|(columns, indexes)| Persistent {
            columns: named(columns),
            indexes: named(indexes),
        }),
        tables: m.tables,
    })
}

/// What MariaDB flushes and this server has nothing of: threads kept for later, keys of DES, statistics of users.
fn is_nothing(name: &str) -> bool {
    const NOTHING: &[&str] = &[
        "CLIENT_STATISTICS",
        "DES_KEY_FILE",
        "INDEX_STATISTICS",
        "TABLE_STATISTICS",
        "THREADS",
        "USER_STATISTICS",
    ];
    NOTHING.iter().any(|n| n.eq_ignore_ascii_case(name))
}
