//! Views.

use crate::ast::{CreateView, Definer, ViewCreation};
use narwal_engine::{CheckOption, ViewAlgorithm};
use narwal_syntax::ast::ddl as syntax;
use narwal_syntax::ast::{From, LockWait, Select, SelectItem};
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
    let wrong = |n: &&String| n.is_empty() || n.ends_with(' ') || n.chars().count() > 64;
    let own = v.select.items.iter().filter_map(alias);
    let name = own.chain(&v.columns).find(wrong);
    if let Some(name) = name.or_else(|| alias_within(&v.select, &wrong)) {
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

fn alias(i: &SelectItem) -> Option<&String> {
    match i {
        SelectItem::Expr { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

/// The first alias of this kind in a SELECT, or in one within it.
fn alias_within<'s>(s: &'s Select, wrong: &dyn Fn(&&String) -> bool) -> Option<&'s String> {
    let within = |s: &'s Select| alias_within(s, wrong);
    let mut ctes = s.with.iter().flat_map(|w| &w.ctes);
    (s.items.iter().filter_map(alias).find(wrong))
        .or_else(|| ctes.find_map(|c| within(&c.query)))
        .or_else(|| s.from.as_ref().and_then(|f| alias_from(f, wrong)))
        .or_else(|| s.subqueries.iter().find_map(|(_, s)| within(s)))
}

fn alias_from<'s>(f: &'s From, wrong: &dyn Fn(&&String) -> bool) -> Option<&'s String> {
    match f {
        From::Query { query, .. } => alias_within(query, wrong),
        From::Set { first, rest } => alias_within(first, wrong)
            .or_else(|| rest.iter().find_map(|(_, s)| alias_within(s, wrong))),
        From::Join(j) => alias_from(&j.left, wrong).or_else(|| alias_from(&j.right, wrong)),
        _ => None,
    }
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
