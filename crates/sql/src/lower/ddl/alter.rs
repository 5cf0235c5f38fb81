//! ALTER TABLE.

use super::refuse::{no_wait, unsupported};
use super::{charset, column, table};
use crate::ast::{AlterAction, ColumnPlace, DdlStmt, DropKind};
use crate::charset_words::CharsetWords;
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl as syntax;
use narwal_syntax::ast::ddl::TableElement;
use narwal_types::SqlResult;

/// ALTER TABLE.
pub(super) fn alter_table(t: syntax::AlterTable, sql_mode: SqlMode) -> SqlResult<DdlStmt> {
    no_wait(t.wait)?;
    let mut actions = Vec::with_capacity(t.actions.len());
    for a in t.actions {
        if let Some(a) = action(a, sql_mode)? {
            actions.push(a);
        }
    }
    match t.partitioning {
        Some(syntax::AlterPartitioning::By(_)) => {
            return unsupported("ALTER TABLE ... PARTITION");
        }
        Some(syntax::AlterPartitioning::Remove) => return unsupported("ALTER TABLE ... REMOVE"),
        None => {}
    }
    Ok(DdlStmt::AlterTable {
        ignore: t.ignore,
        if_exists: t.if_exists,
        table: t.table,
        actions,
    })
}

/// `None` for an action that changes nothing.
fn action(a: syntax::AlterAction, sql_mode: SqlMode) -> SqlResult<Option<AlterAction>> {
    use syntax::AlterAction as A;
    Ok(Some(match a {
        A::Add {
            elements,
            place: at,
            if_not_exists,
        } => AlterAction::Add {
            elements: table::elements(elements, sql_mode)?,
            place: at.map(place),
            if_not_exists,
        },
        A::Drop {
            kind,
            name,
            if_exists,
        } => AlterAction::Drop {
            kind: drop_kind(kind, &name)?,
            name,
            if_exists,
        },
        A::Change {
            column,
            to,
            place: at,
            if_exists,
        } => AlterAction::Change {
            column,
            elements: table::elements(vec![TableElement::Column(to)], sql_mode)?,
            place: at.map(place),
            if_exists,
        },
        A::SetDefault {
            column,
            default,
            if_exists,
        } => AlterAction::SetDefault {
            column,
            default: default.map(column::plain_default).transpose()?,
            if_exists,
        },
        A::IgnoreIndex {
            index,
            ignored,
            if_exists,
        } => AlterAction::IgnoreIndex {
            name: index,
            ignored,
            if_exists,
        },
        A::EnforceCheck {
            name,
            enforced,
            check,
        } => AlterAction::EnforceCheck {
            name,
            enforced,
            check,
        },
        A::RenameColumn {
            from,
            to,
            if_exists,
        } => AlterAction::RenameColumn {
            from,
            to,
            if_exists,
        },
        A::RenameIndex {
            from,
            to,
            if_exists,
        } => AlterAction::RenameIndex {
            from,
            to,
            if_exists,
        },
        A::RenameTo(to) => AlterAction::RenameTo(to),
        A::Options(options) => AlterAction::Options(table::options(options, sql_mode)?),
        A::ConvertTo(options) => match converted_to(&options)? {
            words if words.is_empty() => return Ok(None),
            words => AlterAction::ConvertTo(words),
        },
        A::OrderBy(columns) => AlterAction::OrderBy(columns),
        A::Force => AlterAction::Force,
        A::DisableKeys(_) => AlterAction::KeysNoOp,
        A::DiscardTablespace(true) => return unsupported("ALTER TABLE ... DISCARD"),
        A::DiscardTablespace(false) => return unsupported("ALTER TABLE ... IMPORT"),
        A::How(how) => match (how.algorithm, how.lock) {
            (Some(a), _) => AlterAction::Algorithm(a.to_ascii_uppercase()),
            (None, Some(l)) => AlterAction::Lock(l.to_ascii_uppercase()),
            (None, None) => return Ok(None),
        },
        A::SystemVersioning(true) => return unsupported("ALTER TABLE ... ADD SYSTEM"),
        A::SystemVersioning(false) => return unsupported("ALTER TABLE ... DROP SYSTEM"),
        A::Partition(p) => return unsupported(format!("ALTER TABLE ... {}", p.word())),
    }))
}

/// What CONVERT TO CHARACTER SET says.
fn converted_to(options: &[syntax::CharsetOption]) -> SqlResult<CharsetWords> {
    let mut words = CharsetWords::default();
    for o in options {
        charset::add(o, &mut words)?;
    }
    Ok(words)
}

fn drop_kind(kind: syntax::DropKind, name: &str) -> SqlResult<DropKind> {
    Ok(match kind {
        syntax::DropKind::Column => DropKind::Column,
        syntax::DropKind::Index => DropKind::Index,
        syntax::DropKind::Constraint => DropKind::Constraint,
        syntax::DropKind::Check => DropKind::Check,
        syntax::DropKind::ForeignKey => DropKind::ForeignKey,
        syntax::DropKind::Period if name.eq_ignore_ascii_case("SYSTEM_TIME") => {
            return unsupported("PERIOD FOR SYSTEM_TIME");
        }
        syntax::DropKind::Period => DropKind::Period,
    })
}

fn place(p: syntax::ColumnPlace) -> ColumnPlace {
    match p {
        syntax::ColumnPlace::First => ColumnPlace::First,
        syntax::ColumnPlace::After(c) => ColumnPlace::After(c),
    }
}
