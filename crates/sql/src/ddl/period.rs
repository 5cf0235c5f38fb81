//! PERIOD FOR: two columns of a table from when until when a row holds, and what follows from it for columns and keys.

use crate::ast::{AlterAction, DropKind, PeriodSpec};
use crate::env::StatementEnv;
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, DefaultDef, IndexColumn, PeriodDef, TableDef};
use narwal_types::{Name, SqlError, SqlResult, TypeKind, errors};

fn same(a: &str, b: &str) -> bool {
    a.same_name(b)
}

fn not_found(period: &str) -> SqlError {
    errors::PERIOD_NOT_FOUND.with([&quote_ident(period)])
}

/// A column that the period names is not there.
pub(super) fn unknown_column(column: &str, period: &str) -> SqlError {
    errors::BAD_FIELD_ERROR.with([&column, &period])
}

/// The period of a new table.
///
/// # Errors
/// 4152, 4154.
pub(super) fn of_new_table(specs: &[PeriodSpec], temporary: bool) -> SqlResult<Option<PeriodDef>> {
    let Some((first, more)) = specs.split_first() else {
        return Ok(None);
    };
    if temporary {
        return Err(errors::PERIOD_TEMPORARY_NOT_ALLOWED.plain());
    }
    match more.iter().any(|p| !is_there(p, &first.def)) {
        true => Err(errors::MORE_THAN_ONE_PERIOD.plain()),
        false => Ok(Some(first.def.clone())),
    }
}

/// True for a period with IF NOT EXISTS that exists.
fn is_there(spec: &PeriodSpec, there: &PeriodDef) -> bool {
    spec.if_not_exists && same(&spec.def.name, &there.name)
}

/// Checks a period and makes its columns NOT NULL. Its names become those of the columns.
///
/// # Errors
/// 1054, 1060, 1063, 1110, 1166, 4153, 4155.
pub(super) fn settle<'c>(
    period: &mut PeriodDef,
    columns: impl Iterator<Item = &'c mut ColumnDef>,
) -> SqlResult<()> {
    let mut columns: Vec<&mut ColumnDef> = columns.collect();
    let name = period.name.clone();
    if name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
        return Err(errors::WRONG_COLUMN_NAME.with([&name]));
    }
    if let Some(c) = columns.iter().find(|c| same(&c.name, &name)) {
        return Err(errors::DUP_FIELDNAME.with([&c.name]));
    }
    let mut types = Vec::with_capacity(2);
    let twice = same(&period.start, &period.end);
    for of in [&mut period.start, &mut period.end] {
        let Some(c) = columns.iter_mut().find(|c| same(&c.name, of)) else {
            return Err(unknown_column(of, &name));
        };
        use TypeKind::{Date, DateTime, Timestamp};
        if !matches!(c.ty.kind, Date | DateTime(_) | Timestamp(_)) {
            return Err(errors::WRONG_FIELD_SPEC.with([&c.name]));
        }
        if c.generated.is_some() {
            let what = "GENERATED ALWAYS AS";
            return Err(errors::PERIOD_FIELD_WRONG_ATTRIBUTES.with([&quote_ident(&c.name), &what]));
        }
        if twice {
            return Err(errors::FIELD_SPECIFIED_TWICE.with([&c.name]));
        }
        of.clone_from(&c.name);
        types.push(c.ty.kind);
        c.nullable = false;
        if c.default == DefaultDef::Null {
            c.default = DefaultDef::None;
        }
    }
    match types[0] == types[1] {
        true => Ok(()),
        false => Err(errors::PERIOD_TYPES_MISMATCH.with([&quote_ident(&name)])),
    }
}

/// The parts that WITHOUT OVERLAPS puts behind those of a key: the end and the start of the period.
///
/// # Errors
/// 4156, 4170, 4171.
pub(super) fn key_parts(
    of: &str,
    period: Option<&PeriodDef>,
    key: &str,
    parts: &[IndexColumn],
    columns: &[ColumnDef],
    hashed: bool,
) -> SqlResult<[IndexColumn; 2]> {
    let period = period
        .filter(|p| same(&p.name, of))
        .ok_or_else(|| not_found(of))?;
    if let Some(p) = parts.iter().find(|p| period.has(&columns[p.column].name)) {
        let column = quote_ident(&columns[p.column].name);
        return Err(errors::KEY_CONTAINS_PERIOD_FIELDS.with([&quote_ident(key), &column]));
    }
    if hashed {
        return Err(errors::KEY_CANT_HAVE_WITHOUT_OVERLAPS.with([&quote_ident(key)]));
    }
    let part = |name: &String| {
        let column = columns.iter().position(|c| same(&c.name, name));
        column
            .map(|column| IndexColumn {
                column,
                prefix: None,
                desc: false,
            })
            .ok_or_else(|| not_found(of))
    };
    Ok([part(&period.end)?, part(&period.start)?])
}

/// Error 4156: a key that stays is about a period that goes.
pub(super) fn must_stay(of: &str, period: Option<&PeriodDef>) -> SqlResult<()> {
    match period.is_some_and(|p| same(&p.name, of)) {
        true => Ok(()),
        false => Err(not_found(of)),
    }
}

/// True if DROP CONSTRAINT of this name names a period's CHECK that goes with its period.
///
/// # Errors
/// 4158 if the period stays.
pub(super) fn drops_check(old: &TableDef, name: &str, actions: &[AlterAction]) -> SqlResult<bool> {
    let (Some(period), Some(check)) = (&old.period, old.period_check()) else {
        return Ok(false);
    };
    if !same(&check.name, name) {
        return Ok(false);
    }
    match actions.iter().any(|a| {
        matches!(
            a,
            AlterAction::Drop {
                kind: DropKind::Period,
                ..
            }
        )
    }) {
        true => Ok(true),
        false => Err(errors::PERIOD_CONSTRAINT_DROP.with([&name, &period.name])),
    }
}

/// The period that stays in an altered table, with its columns as they are called now. `called`: how the old column of this
/// number is, if it stays.
///
/// # Errors
/// 1054 if one of them goes, or gets another name by something else than RENAME COLUMN.
pub(super) fn that_stays(
    old: &TableDef,
    period: &PeriodDef,
    called: impl Fn(usize) -> Option<String>,
    actions: &[AlterAction],
) -> SqlResult<PeriodDef> {
    let now = |name: &str| called(old.columns.iter().position(|c| same(&c.name, name))?);
    let renamed = |name: &str| {
        let of = |a: &AlterAction| matches!(a, AlterAction::RenameColumn { from, .. } if same(from, name));
        actions.iter().any(of)
    };
    let (start, end) = (now(&period.start), now(&period.end));
    let named = [(&period.start, &start), (&period.end, &end)];
    let lost = named.iter().find(|(_, now)| now.is_none());
    if let Some((was, _)) = lost {
        // One goes: the CHECK of both misses it.
        let clause = match start.is_none() && end.is_none() {
            true => period.name.as_str(),
            false => "CHECK",
        };
        return Err(errors::BAD_FIELD_ERROR.with([was, &clause]));
    }
    for (was, now) in named {
        let now = now.as_deref().unwrap_or_default();
        if !same(was, now) && !renamed(was) {
            return Err(unknown_column(was, &period.name));
        }
    }
    Ok(PeriodDef {
        name: period.name.clone(),
        start: start.unwrap_or_default(),
        end: end.unwrap_or_default(),
    })
}

/// The period that ALTER TABLE adds to a table; `there`: the one that stays.
///
/// # Errors
/// 4152, 4154.
pub(super) fn added(
    actions: &[AlterAction],
    there: Option<&PeriodDef>,
    temporary: bool,
    env: &StatementEnv,
) -> SqlResult<Option<PeriodDef>> {
    let mut specs = Vec::new();
    for a in actions {
        let AlterAction::Add { elements, .. } = a else {
            continue;
        };
        for p in &elements.periods {
            match there.filter(|t| is_there(p, t)) {
                Some(_) => {
                    let e = errors::DUP_FIELDNAME.with([&p.def.name]);
                    env.note(e.code, e.message);
                }
                None => specs.push(p.clone()),
            }
        }
    }
    if there.is_some() && !specs.is_empty() {
        return Err(errors::MORE_THAN_ONE_PERIOD.plain());
    }
    of_new_table(&specs, temporary)
}
