//! SHOW.

use super::{account, condition, replication};
use crate::acl::RoutineKind;
use crate::admin::{EventRange, Filter, Show, UserName};
use narwal_syntax::ast::admin as ast;
use narwal_syntax::ast::{Expr, Limit, Literal};
use narwal_types::{SqlError, SqlResult};

/// Lists of what Narwal does not count: tables of `information_schema`.
const UNCOUNTED: [&str; 4] = [
    "USER_STATISTICS",
    "CLIENT_STATISTICS",
    "INDEX_STATISTICS",
    "TABLE_STATISTICS",
];

/// Columns of SHOW OPEN TABLES.
const OPEN_TABLES: &[&str] = &["Database", "Table", "In_use", "Name_locked"];

pub(super) fn show(given: ast::Show) -> SqlResult<Show> {
    use ast::Show as S;
    Ok(match given {
        S::Databases(f) => Show::Databases(filter(f)?),
        S::Tables {
            full,
            db,
            filter: f,
        } => Show::Tables {
            full,
            db,
            filter: filter(f)?,
        },
        S::TableStatus { db, filter: f } => Show::TableStatus {
            db,
            filter: filter(f)?,
        },
        S::OpenTables { filter: f, .. } => empty(OPEN_TABLES, f)?,
        S::Triggers { db, filter: f, .. } => Show::Triggers {
            db,
            filter: filter(f)?,
        },
        S::Events { db, filter: f } => Show::Events {
            db,
            filter: filter(f)?,
        },
        S::RoutineStatus(kind, f) => Show::RoutineStatus(routine(kind), filter(f)?),
        S::Columns {
            full,
            table,
            filter: f,
        } => Show::Columns {
            full,
            table,
            filter: filter(f)?,
        },
        S::Index { table, filter: f } => Show::Index {
            table,
            filter: filter(f)?,
        },
        S::Create(c) => create(c)?,
        S::Variables { global, filter: f } => Show::Variables {
            global,
            filter: filter(f)?,
        },
        S::Status { global, filter: f } => Show::Status {
            global,
            filter: filter(f)?,
        },
        S::Warnings { kind, limit: l } => {
            let (offset, limit) = limit(l)?;
            let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            Show::Warnings {
                errors: kind == ast::WarningKind::Errors,
                offset: size(offset),
                limit: size(limit),
            }
        }
        S::CountWarnings(kind) => Show::CountWarnings {
            errors: kind == ast::WarningKind::Errors,
        },
        S::ProcessList { full } => Show::ProcessList { full },
        S::Grants(None) => Show::Grants(UserName::CurrentWithRole),
        S::Grants(who) => Show::Grants(user(who)?),
        S::Engines => Show::Engines,
        S::Engine { engine, what } => Show::Engine {
            engine,
            status: what == "STATUS",
        },
        S::Collation(f) => Show::Collation(filter(f)?),
        S::CharacterSet(f) => Show::CharacterSet(filter(f)?),
        S::MasterStatus(mysql) => Show::MasterStatus(mysql),
        S::BinaryLogs => Show::BinaryLogs,
        S::BinlogEvents(range) => {
            let (offset, limit) = limit(range.limit)?;
            Show::BinlogEvents(EventRange {
                file: range.file,
                from: range.from.unwrap_or(0),
                offset,
                limit,
            })
        }
        S::ReplicaStatus(connection) => Show::ReplicaStatus(replication::target(connection)?),
        S::ReplicaHosts => Show::ReplicaHosts,
        S::Privileges => Show::Privileges,
        S::Plugins => Show::Plugins,
        // Nothing is timed: `profiling` has no effect.
        S::Profiles => Show::Empty(&["Query_ID", "Duration", "Query"]),
        S::Profile { .. } => Show::Empty(&["Status", "Duration"]),
        S::Other(list, f) => match uncounted(&list) {
            Some(table) => {
                filter(f)?;
                Show::Uncounted(table)
            }
            None => return Err(not_shown(&list)),
        },
        other => return Err(not_shown(name(&other))),
    })
}

fn not_shown(what: &str) -> SqlError {
    SqlError::unsupported(format!("SHOW {what}"))
}

/// The name of what Narwal does not show.
fn name(show: &ast::Show) -> &str {
    match show {
        ast::Show::RoutineCode(..) => "PROCEDURE CODE",
        ast::Show::RelaylogEvents(..) => "RELAYLOG",
        ast::Show::PluginsSoname(..) => "PLUGINS SONAME",
        ast::Show::Authors => "AUTHORS",
        ast::Show::Contributors => "CONTRIBUTORS",
        _ => "of this kind",
    }
}

/// The list of what Narwal does not count that has this name.
fn uncounted(name: &str) -> Option<&'static str> {
    UNCOUNTED.into_iter().find(|n| n.eq_ignore_ascii_case(name))
}

/// A list that is always empty: Narwal has none of these.
fn empty(columns: &'static [&'static str], f: ast::Filter) -> SqlResult<Show> {
    filter(f)?;
    Ok(Show::Empty(columns))
}

fn filter(given: ast::Filter) -> SqlResult<Filter> {
    Ok(match given {
        ast::Filter::None => Filter::None,
        ast::Filter::Like(pattern) => Filter::Like(pattern),
        ast::Filter::Where(operand) => match condition::condition(&operand) {
            Some(simple) => Filter::Where(simple),
            None => Filter::Query(Box::new(operand)),
        },
    })
}

fn user(given: Option<ast::UserName>) -> SqlResult<UserName> {
    given.map_or(Ok(UserName::Current), account::name)
}

fn create(given: ast::ShowCreate) -> SqlResult<Show> {
    Ok(match given {
        ast::ShowCreate::Table(t) => Show::CreateTable(t),
        ast::ShowCreate::View(t) => Show::CreateView(t),
        ast::ShowCreate::Sequence(t) => Show::CreateSequence(t),
        ast::ShowCreate::Database {
            if_not_exists,
            name,
        } => Show::CreateDatabase {
            if_not_exists,
            name,
        },
        ast::ShowCreate::User(who) => Show::CreateUser(user(who)?),
        ast::ShowCreate::Routine(kind, t) => Show::CreateRoutine(routine(kind), t),
        ast::ShowCreate::Trigger(t) => Show::CreateTrigger(t),
        ast::ShowCreate::Event(t) => Show::CreateEvent(t),
    })
}

/// Offset and count of LIMIT.
fn limit(given: Option<Limit>) -> SqlResult<(u64, u64)> {
    let Some(l) = given else {
        return Ok((0, u64::MAX));
    };
    let number = |e: &Expr| match e {
        // Too large is as large as it gets.
        Expr::Literal(Literal::Number(n)) => Ok(n.parse().unwrap_or(u64::MAX)),
        _ => Err(SqlError::unsupported("parameters in LIMIT of SHOW")),
    };
    let offset = l.offset.as_ref().map_or(Ok(0), number)?;
    Ok((offset, number(&l.count)?))
}

fn routine(kind: ast::RoutineKind) -> RoutineKind {
    match kind {
        ast::RoutineKind::Procedure => RoutineKind::Procedure,
        ast::RoutineKind::Function => RoutineKind::Function,
        ast::RoutineKind::Package => RoutineKind::Package,
        ast::RoutineKind::PackageBody => RoutineKind::PackageBody,
    }
}
