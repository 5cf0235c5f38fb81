//! From the parser's trees to what the session runs: [`Admin`], with the session's own types. What Narwal does not have is
//! refused here by its name.

mod account;
mod condition;
mod maintain;
mod replication;
mod show;
#[cfg(test)]
pub(crate) mod tests;

use crate::admin::{
    Admin, BinlogStatement, HELP, KillTarget, Maintenance, ReplicaStatement, SetItem, Show,
    TableLock, TransactionStatement,
};
use crate::words::{
    ExplainConnection, PluginWords, ServerStatement, SqlPrepared, Using, XaModifier, XaStatement,
};
use narwal_engine::Isolation;
use narwal_engine::xa::Xid;
use narwal_sql::{ParamDefault, ParseOptions, Stmt};
use narwal_syntax::Statement;
use narwal_syntax::ast::TableName;
use narwal_syntax::ast::admin as ast;
use narwal_syntax::ast::admin::{Scope, SetValue};
use narwal_syntax::ast::ddl::{AlterRoutine, Ddl, DropObject, MetadataWait, ProgramKind};
use narwal_syntax::ast::program::Program;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// What is to be done for a statement.
pub(crate) enum Work {
    /// narwal-sql runs it.
    Sql(Stmt),
    /// The session runs it.
    Admin(Box<Admin>),
    /// A statement of the language of stored programs.
    Program(Box<Program>),
    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT.
    DropProgram(ProgramKind, DropObject<TableName>),
    /// ALTER PROCEDURE, ALTER FUNCTION.
    AlterRoutine(AlterRoutine),
    /// Another statement, under other settings.
    Settings {
        /// The outermost first.
        settings: Vec<Vec<SetItem>>,
        statement: Box<Statement>,
        /// Its text; empty if that is the whole statement's.
        text: String,
    },
}

/// Which part of the server runs a statement.
pub(crate) fn work(statement: Statement, options: &ParseOptions) -> SqlResult<Work> {
    let admin = match statement {
        Statement::Admin(a) => *a,
        Statement::SetStatement(s) => {
            return Ok(Work::Settings {
                settings: s.settings,
                statement: s.statement,
                text: s.text,
            });
        }
        Statement::Program(p) => return Ok(Work::Program(p)),
        Statement::Ddl(mut d) => {
            return match d.take_wait() {
                None => definition(*d, options),
                Some(wait) => Ok(waiting(wait, Statement::Ddl(d))),
            };
        }
        other => return Ok(Work::Sql(narwal_sql::lower(other, options)?)),
    };
    Ok(match admin {
        ast::Admin::Checksum { tables, .. } => Work::Sql(Stmt::ChecksumTable(tables)),
        ast::Admin::LockTables {
            tables,
            wait: Some(wait),
        } => {
            let wait = match wait {
                ast::LockWait::No => MetadataWait::No,
                ast::LockWait::Seconds(n) => MetadataWait::Seconds(n),
            };
            let lock = ast::Admin::LockTables { tables, wait: None };
            waiting(wait, Statement::Admin(Box::new(lock)))
        }
        ast::Admin::Handler(h) => match *h {
            ast::Handler::Read(name, read) => Work::Sql(Stmt::HandlerRead(name.name, read)),
            ast::Handler::Open { table, alias } => {
                Work::Admin(Box::new(Admin::HandlerOpen { table, alias }))
            }
            ast::Handler::Close(name) => Work::Admin(Box::new(Admin::HandlerClose(name.name))),
        },
        a => Work::Admin(Box::new(admin_statement(a)?)),
    })
}

/// WAIT n and NOWAIT: the statement under other limits.
fn waiting(wait: MetadataWait, statement: Statement) -> Work {
    let seconds = match wait {
        MetadataWait::No => 0,
        MetadataWait::Seconds(n) => n,
    };
    let item = |name: &str| SetItem::System {
        scope: Scope::Default,
        name: name.to_string(),
        value: SetValue::Expr(ast::Operand::number(seconds)),
    };
    let limits = ["lock_wait_timeout", "innodb_lock_wait_timeout"];
    Work::Settings {
        settings: vec![limits.map(item).into()],
        statement: Box::new(statement),
        text: String::new(),
    }
}

/// Which part of the server runs a definition.
fn definition(d: Ddl, options: &ParseOptions) -> SqlResult<Work> {
    Ok(match d {
        Ddl::DropProgram(
            kind @ (ProgramKind::Procedure
            | ProgramKind::Function
            | ProgramKind::Trigger
            | ProgramKind::Event
            | ProgramKind::Package
            | ProgramKind::PackageBody),
            d,
        ) => Work::DropProgram(kind, d),
        Ddl::AlterRoutine(a) => Work::AlterRoutine(a),
        Ddl::CreateServer(c) => server(ServerStatement::Create(c)),
        Ddl::AlterServer(name, options) => server(ServerStatement::Alter(name, options)),
        Ddl::DropServer(d) => server(ServerStatement::Drop(d)),
        d => Work::Sql(narwal_sql::lower(Statement::Ddl(Box::new(d)), options)?),
    })
}

fn server(s: ServerStatement) -> Work {
    Work::Admin(Box::new(Admin::Server(s)))
}

/// One name of an isolation level, and what Narwal does for it.
type Level = (Isolation, &'static str);

/// What the session runs for an administrative statement.
pub(crate) fn admin_statement(statement: ast::Admin) -> SqlResult<Admin> {
    use TransactionStatement as T;
    use ast::Admin as A;
    Ok(match statement {
        A::Begin {
            read_only,
            snapshot,
        } => Admin::Transaction(T::Begin {
            read_only,
            snapshot,
        }),
        A::Commit(ast::Completion { chain, release }) => {
            Admin::Transaction(T::Commit { chain, release })
        }
        A::Rollback(ast::Completion { chain, release }) => {
            Admin::Transaction(T::Rollback { chain, release })
        }
        A::Savepoint(name) => Admin::Transaction(T::Savepoint(name)),
        A::RollbackTo(name) => Admin::Transaction(T::RollbackTo(name)),
        A::ReleaseSavepoint(name) => Admin::Transaction(T::ReleaseSavepoint(name)),
        A::Xa(statement) => Admin::Xa(xa_statement(statement)?),
        A::Set(ast::Set { items }) => Admin::Set(set_items(items)?),
        A::SetTransaction(t) => set_transaction(t),
        A::Use(db) => Admin::Use(db),
        A::Show(show) => Admin::Show(show::show(*show)?),
        A::Describe { table, like } => Admin::Describe { table, like },
        A::ExplainConnection {
            analyze,
            json,
            connection,
        } => Admin::ExplainConnection(ExplainConnection {
            analyze,
            json,
            connection,
        }),
        A::LockTables { tables, .. } => lock_tables(tables),
        A::UnlockTables => Admin::UnlockTables,
        A::Handler(_) => return Err(SqlError::unsupported("HANDLER here")),
        A::Prepared(p) => Admin::Prepared(prepared(p)),
        A::Kill(kill) => Admin::Kill {
            query: kill.query,
            target: match kill.target {
                ast::KillTarget::Connection(id) => KillTarget::Connection(id),
                ast::KillTarget::QueryId(id) => KillTarget::QueryId(id),
                ast::KillTarget::User(user) => KillTarget::User(account::name(user)?),
            },
        },
        A::Flush(items) => Admin::Flush(
            items
                .into_iter()
                .map(maintain::flush)
                .collect::<SqlResult<_>>()?,
        ),
        A::Reset(items) => maintain::reset(items)?,
        A::PurgeTo(file) => Admin::Binlog(BinlogStatement::PurgeTo(file)),
        A::PurgeBefore(time) => Admin::Binlog(BinlogStatement::PurgeBefore(time)),
        A::ChangeMaster(change) => replication::change_master(*change)?,
        A::StartReplica(start) => replication::start(start)?,
        A::StopReplica {
            connection,
            threads,
        } => Admin::Replica(ReplicaStatement::Stop {
            target: replication::target(connection)?,
            threads: replication::threads(threads),
        }),
        A::Binlog(text) => Admin::Binlog(BinlogStatement::Replay(text)),
        A::Backup(backup) => maintain::backup(backup),
        A::Flashback(list) => Admin::Binlog(BinlogStatement::Flashback(list)),
        A::Maintain(m) => maintain::maintain(m)?,
        A::Checksum { .. } => return Err(SqlError::unsupported("CHECKSUM TABLE here")),
        A::CacheIndex { tables, cache } => Admin::CacheIndex {
            cache: cache.unwrap_or_else(|| "default".to_string()),
            tables: maintain::tables(tables),
        },
        A::LoadIndex(tables) => maintain::cache(Maintenance::PreloadKeys, tables),
        A::Plugin(p) => Admin::Plugin(plugin(p)?),
        // No topic is known: there are no help texts.
        A::Help(_) => Admin::Show(Show::Empty(HELP)),
        A::Shutdown { wait: true } => {
            return Err(SqlError::unsupported("SHUTDOWN WAIT FOR ALL SLAVES"));
        }
        A::Shutdown { wait: false } => Admin::Shutdown,
        account => Admin::Account(account::account(account)?),
    })
}

/// The parts of SET. Roles and passwords have statements of their own.
pub(crate) fn set_items(items: Vec<SetItem>) -> SqlResult<Vec<SetItem>> {
    for item in &items {
        match item {
            SetItem::Role(_) | SetItem::DefaultRole(..) => {
                return Err(SqlError::unsupported("SET ROLE beside other assignments"));
            }
            SetItem::Password(_) => {
                return Err(SqlError::unsupported(
                    "SET PASSWORD beside other assignments",
                ));
            }
            _ => {}
        }
    }
    Ok(items)
}

fn isolation(level: ast::Isolation) -> Level {
    match level {
        ast::Isolation::ReadUncommitted => (Isolation::ReadCommitted, "READ-UNCOMMITTED"),
        ast::Isolation::ReadCommitted => (Isolation::ReadCommitted, "READ-COMMITTED"),
        ast::Isolation::RepeatableRead => (Isolation::RepeatableRead, "REPEATABLE-READ"),
        ast::Isolation::Serializable => (Isolation::Serializable, "SERIALIZABLE"),
    }
}

fn set_transaction(t: ast::SetTransaction) -> Admin {
    let level = t.isolation.map(isolation);
    Admin::Transaction(TransactionStatement::Set {
        scope: t.scope,
        isolation: level.map(|l| l.0),
        isolation_name: level.map(|l| l.1),
        read_only: t.read_only,
    })
}

fn lock_tables(tables: Vec<ast::TableLock>) -> Admin {
    let lock = |t: ast::TableLock| TableLock {
        table: t.table,
        alias: t.alias,
        write: !matches!(t.kind, ast::LockKind::Read | ast::LockKind::ReadLocal),
        shared: t.kind == ast::LockKind::WriteConcurrent,
    };
    Admin::LockTables(tables.into_iter().map(lock).collect())
}

fn prepared(statement: ast::Prepared) -> SqlPrepared {
    let using = |list: Vec<ast::Using>| {
        list.into_iter()
            .map(|u| match u {
                ast::Using::Value(v) => Using::Value(v),
                ast::Using::Default => Using::LeftOut(ParamDefault::Default),
                ast::Using::Ignore => Using::LeftOut(ParamDefault::Ignore),
            })
            .collect()
    };
    match statement {
        ast::Prepared::Prepare { name, from } => SqlPrepared::Prepare { name, from },
        ast::Prepared::Execute { name, using: list } => SqlPrepared::Execute {
            name,
            using: using(list),
        },
        ast::Prepared::Immediate { from, using: list } => SqlPrepared::Immediate {
            from,
            using: using(list),
        },
        ast::Prepared::Deallocate(name) => SqlPrepared::Deallocate(name),
    }
}

fn plugin(statement: ast::Plugin) -> SqlResult<PluginWords> {
    let conditional = |given: bool| match given {
        true => Err(SqlError::unsupported("INSTALL and UNINSTALL PLUGIN IF")),
        false => Ok(()),
    };
    Ok(match statement {
        ast::Plugin::Install {
            if_not_exists,
            name,
            library,
        } => {
            conditional(if_not_exists)?;
            PluginWords::Install { name, library }
        }
        ast::Plugin::Uninstall { if_exists, name } => {
            conditional(if_exists)?;
            PluginWords::UninstallPlugin(name.to_ascii_lowercase())
        }
        ast::Plugin::UninstallLibrary { if_exists, library } => {
            conditional(if_exists)?;
            PluginWords::UninstallLibrary(library)
        }
    })
}

fn xa_statement(statement: ast::Xa) -> SqlResult<XaStatement> {
    // `None`: the name is empty, which names nothing.
    let xid = |n: ast::XaName| Xid::new(n.format, &n.gtrid, &n.bqual);
    let modifier = |m: ast::XaModifier| match m {
        ast::XaModifier::None => XaModifier::None,
        ast::XaModifier::OnePhase => XaModifier::OnePhase,
        ast::XaModifier::Resume => XaModifier::Resume,
        _ => XaModifier::Other,
    };
    Ok(match statement {
        ast::Xa::Start(name, m) => XaStatement::Start(xid(name), modifier(m)),
        ast::Xa::End(name, m) => XaStatement::End(xid(name), modifier(m)),
        ast::Xa::Prepare(name) => XaStatement::Prepare(xid(name)),
        ast::Xa::Commit(name, m) => XaStatement::Commit(xid(name), modifier(m)),
        ast::Xa::Rollback(name) => XaStatement::Rollback(xid(name)),
        ast::Xa::Recover(None) => XaStatement::Recover(false),
        ast::Xa::Recover(Some(name)) if name.eq_ignore_ascii_case("SQL") => {
            XaStatement::Recover(true)
        }
        ast::Xa::Recover(Some(name)) if name.eq_ignore_ascii_case("RAW") => {
            XaStatement::Recover(false)
        }
        ast::Xa::Recover(Some(name)) => {
            return Err(errors::UNKNOWN_EXPLAIN_FORMAT.with([&"XA RECOVER", &name]));
        }
    })
}
