//! Views.

use crate::ast::{CreateView, Definer, ViewCreation};
use narwal_engine::{CheckOption, ViewAlgorithm};
use narwal_syntax::ast::ddl as syntax;
use narwal_syntax::ast::{LockWait, SelectItem};
use narwal_types::SqlResult;
use narwal_types::errors;

/// CREATE VIEW and ALTER VIEW.
pub(super) fn create(v: syntax::CreateView) -> SqlResult<CreateView> {
    if v.select.params > 0 {
        return Err(errors::VIEW_SELECT_VARIABLE.plain());
    }
    let waits = |w: LockWait| matches!(w, LockWait::NoWait | LockWait::Seconds(_));
    if v.select.locking.iter().any(|l| waits(l.wait)) {
        return Err(errors::VIEW_SELECT_CLAUSE.with([&"[NO]WAIT"]));
    }
    let aliases = v.select.items.iter().filter_map(|i| match i {
        SelectItem::Expr { alias, .. } => alias.as_ref(),
        _ => None,
    });
    if let Some(name) = aliases
        .chain(&v.columns)
        .find(|n| n.is_empty() || n.ends_with(' ') || n.chars().count() > 64)
    {
        return Err(errors::WRONG_COLUMN_NAME.with([&name]));
    }
    Ok(CreateView {
        creation: match v.creation {
            syntax::ViewCreation::New => ViewCreation::New,
            syntax::ViewCreation::OrReplace => ViewCreation::OrReplace,
            syntax::ViewCreation::IfNotExists => ViewCreation::IfNotExists,
            syntax::ViewCreation::Alter => ViewCreation::Alter,
        },
        algorithm: v.algorithm.map(|a| match a {
            syntax::ViewAlgorithm::Undefined => ViewAlgorithm::Undefined,
            syntax::ViewAlgorithm::Merge => ViewAlgorithm::Merge,
            syntax::ViewAlgorithm::TempTable => ViewAlgorithm::TempTable,
        }),
        definer: v.definer.map(definer).transpose()?,
        invoker: v.invoker,
        view: v.view,
        columns: v.columns,
        select: v.select.into(),
        source: v.source,
        check: match v.check {
            syntax::CheckOption::None => CheckOption::None,
            syntax::CheckOption::Local => CheckOption::Local,
            syntax::CheckOption::Cascaded => CheckOption::Cascaded,
        },
        settled: None,
    })
}

fn definer(d: syntax::Definer) -> SqlResult<Definer> {
    match d {
        syntax::Definer::CurrentUser => Ok(Definer::CurrentUser),
        syntax::Definer::CurrentRole => Ok(Definer::CurrentRole),
        syntax::Definer::Account(user, host) => {
            Ok(Definer::Account(user, host.unwrap_or_default()))
        }
    }
}
