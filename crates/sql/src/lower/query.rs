//! What queries and DML may not have yet.

use narwal_syntax::ast::{
    Delete, From, Insert, InsertSource, Into, IntoVariable, Join, LoadData, Select, TableRef,
    Update,
};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

fn refused<T>(what: &str) -> SqlResult<T> {
    Err(SqlError::unsupported(what))
}

/// Refuses what a SELECT, or one within it, may not have.
pub(super) fn check(s: &Select) -> SqlResult<()> {
    match &s.procedure {
        Some(p) if p.name.eq_ignore_ascii_case("analyse") => {
            return refused("PROCEDURE ANALYSE");
        }
        Some(p) => return Err(errors::UNKNOWN_PROCEDURE.with([&p.name])),
        None => {}
    }
    if let Some(with) = &s.with {
        for cte in &with.ctes {
            check(&cte.query)?;
        }
    }
    if let Some(from) = &s.from {
        check_from(from)?;
    }
    check_subqueries(&s.subqueries)
}

fn check_subqueries(list: &[(usize, Select)]) -> SqlResult<()> {
    list.iter().try_for_each(|(_, s)| check(s))
}

fn check_from(f: &From) -> SqlResult<()> {
    match f {
        From::Table(t) => check_table(t),
        From::Query { query, .. } => check(query),
        From::Set { first, rest } => {
            check(first)?;
            rest.iter().try_for_each(|(_, s)| check(s))
        }
        From::Join(j) => {
            let Join { left, right, .. } = &**j;
            check_from(left)?;
            check_from(right)
        }
        From::JsonTable(_) => refused("JSON_TABLE"),
    }
}

fn check_table(t: &TableRef) -> SqlResult<()> {
    if !t.partitions.is_empty() {
        return refused("PARTITION");
    }
    if t.system_time.is_some() {
        return refused("FOR SYSTEM_TIME");
    }
    Ok(())
}

pub(super) fn check_insert(i: &Insert) -> SqlResult<()> {
    if !i.partitions.is_empty() {
        return refused("PARTITION");
    }
    if let InsertSource::Select(s) = &i.source {
        check(s)?;
    }
    check_subqueries(&i.subqueries)
}

pub(super) fn check_update(u: &Update) -> SqlResult<()> {
    check_table(&u.table)?;
    check_subqueries(&u.subqueries)
}

pub(super) fn check_delete(d: &Delete) -> SqlResult<()> {
    check_table(&d.table)?;
    if d.history.is_some() {
        return refused("DELETE HISTORY");
    }
    check_subqueries(&d.subqueries)
}

pub(super) fn check_load(l: &LoadData) -> SqlResult<()> {
    if !l.partitions.is_empty() {
        return refused("PARTITION");
    }
    check_subqueries(&l.subqueries)
}

/// Without stored programs there are no variables but those of the session.
pub(super) fn check_into(into: &Into) -> SqlResult<()> {
    let Into::Variables(list) = into else {
        return Ok(());
    };
    match list.iter().find_map(|v| match v {
        IntoVariable::Local(name, _) => Some(name),
        IntoVariable::User(_) => None,
    }) {
        Some(name) => Err(errors::SP_UNDECLARED_VAR.with([&name])),
        None => Ok(()),
    }
}
