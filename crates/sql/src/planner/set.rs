//! Planning SELECTs that are put together, and WITH.

use crate::bind::scope::{OuterScope, Source};
use crate::env::StatementEnv;
use crate::expr::node::{Coercibility, ExprType};
use crate::expr::types;
use crate::plan::made::{column_type, derived};
use crate::plan::query::Out;
use crate::plan::query::Rows;
use crate::plan::query::SelectPlan;
use crate::plan::query::SetPlan;
use crate::planner::logical::Resolved;
use crate::planner::resolve::Known;
use crate::planner::resolve::Resolver;
use crate::planner::with_order::{in_order, used_later};
use crate::view_def::loses_order;
use narwal_syntax::ast::{Cte, From, Select, SetOp, TableRef, With};
use narwal_types::errors;
use narwal_types::{Name, ResultColumn, SqlError, SqlResult, TypeKind};
use std::sync::Arc;

/// Uses of tables of WITH in one statement, beyond one of each: every use is planned anew.
const MAX_USES: usize = 1000;

pub(super) fn wrong_columns() -> SqlError {
    errors::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.plain()
}

impl Resolver<'_> {
    /// Plans with the tables of a WITH known.
    pub fn with<T>(&self, with: &With, plan: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        let before = self.ctes.known.borrow().len();
        if before == 0 {
            // Each of them may be planned once, however many there are.
            self.ctes.most.set(MAX_USES + with.ctes.len());
        }
        // Those that are not used must be right, too.
        let used = used_later(with);
        let mut r = Ok(());
        for (i, (cte, group)) in in_order(with).into_iter().enumerate() {
            let unused = group.is_some() || !used.contains(&Arc::as_ptr(&cte));
            self.ctes.known.borrow_mut().push(Known {
                cte: cte.clone(),
                group,
                working: None,
            });
            if r.is_ok() && unused && self.group_is_complete(before + i) {
                r = self.known_at(before + i, &cte.name).map(|_| ());
            }
        }
        let r = r.and_then(|()| plan());
        self.ctes.known.borrow_mut().truncate(before);
        r
    }

    /// The table of WITH that a name means, if it means one.
    pub fn cte(&self, t: &TableRef) -> SqlResult<Option<Resolved>> {
        if t.name.db.is_some() {
            return Ok(None);
        }
        let found = self
            .ctes
            .known
            .borrow()
            .iter()
            .rposition(|k| k.cte.name.same_name(&t.name.name));
        let Some(at) = found else {
            return Ok(None);
        };
        self.known_at(at, t.alias.as_deref().unwrap_or(&t.name.name))
            .map(Some)
    }

    /// True if a name means a table of WITH.
    pub fn is_cte(&self, t: &TableRef) -> bool {
        t.name.db.is_none() && self.ctes.knows(&t.name.name)
    }

    fn known_at(&self, at: usize, alias: &str) -> SqlResult<Resolved> {
        let known = self.ctes.known.borrow()[at].clone();
        if let Some((id, source)) = known.working {
            return Ok(Resolved {
                source: Source {
                    name: alias.to_string(),
                    ..source
                },
                rows: Rows::Working(id),
            });
        }
        self.ctes.uses.set(self.ctes.uses.get() + 1);
        if self.ctes.uses.get() > self.ctes.most.get() {
            return Err(SqlError::unsupported(format!(
                "more than {MAX_USES} uses of the tables of WITH"
            )));
        }
        // It sees those before it.
        let cte = known.cte;
        let place = |g: &[Arc<Cte>]| g.iter().position(|c| Arc::ptr_eq(c, &cte)).unwrap_or(0);
        let first = at - known.group.as_deref().map_or(0, place);
        let hidden = self.ctes.known.borrow_mut().split_off(first);
        let r = match &known.group {
            Some(group) => self.recursive(group, place(group), alias),
            None => self.select_derived(&cte.query).and_then(|plan| {
                check_names(&cte, plan.columns.len())?;
                let made = self.derived(plan, "", alias, &cte.columns)?;
                Ok(made.of_query(&cte.query))
            }),
        };
        self.ctes.known.borrow_mut().extend(hidden);
        r
    }

    /// Plans one of SELECTs put together: a plain one loses its order.
    fn select_part(&self, s: &Select, outer: Option<&OuterScope<'_>>) -> SqlResult<SelectPlan> {
        match &s.from {
            Some(From::Set { rest, .. }) if !rest.is_empty() => self.select_within(s, outer),
            _ => self.select_unsorted(s, outer),
        }
    }

    /// Plans the SELECT of a table that a FROM holds. MariaDB merges a plain one into the query, and its order is lost.
    pub(super) fn select_derived(&self, s: &Select) -> SqlResult<SelectPlan> {
        match loses_order(s) && !self.numbered.get() {
            true => self.select_unsorted(s, None),
            false => self.select(s),
        }
    }

    /// True for the last table of those that name each other: all of them are known.
    fn group_is_complete(&self, at: usize) -> bool {
        let known = &self.ctes.known.borrow()[at];
        let last = known.group.as_ref().and_then(|g| g.last());
        last.is_none_or(|c| Arc::ptr_eq(c, &known.cte))
    }

    /// SELECTs put together.
    pub fn set(
        &self,
        first: &Select,
        rest: &[(SetOp, Select)],
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<Resolved> {
        let first = self.select_part(first, outer)?;
        // VALUES may have a million rows, and a plan is large: asked at once, since a list that doubles is not asked for.
        narwal_memory::reserve((rest.len() * size_of::<(SetOp, SelectPlan)>()) as u64)?;
        let mut planned = Vec::with_capacity(rest.len());
        for (op, s) in rest {
            self.env.check_interrupt()?;
            planned.push((*op, self.select_part(s, outer)?));
        }
        let rest = planned;
        let plan = SetPlan { first, rest };
        let (columns, types) = unified(plan.parts(), self.env)?;
        Ok(Resolved {
            source: derived("", "", &columns, types)?,
            rows: Rows::Set(Box::new(plan)),
        })
    }
}

pub(super) fn check_names(cte: &Cte, columns: usize) -> SqlResult<()> {
    if cte.columns.is_empty() || cte.columns.len() == columns {
        return Ok(());
    }
    Err(errors::WITH_COL_WRONG_LIST.plain())
}

/// The type that a column brings into a union. What is computed has no fixed length, and a literal's collation gives way to a
/// column's.
fn united(part: &SelectPlan, column: usize) -> ExprType {
    let c = &part.columns[column];
    let mut ty = column_type(c);
    if ty.ty.is_character()
        && let Some(k) = part.coercibility.get(column)
    {
        ty.coercibility = *k;
    }
    match ty.ty.kind {
        TypeKind::Char(n) if c.org_name.is_empty() => ty.ty.kind = TypeKind::VarChar(n),
        TypeKind::Binary(n) if c.org_name.is_empty() => ty.ty.kind = TypeKind::VarBinary(n),
        _ => {}
    }
    // A literal has a digit for each of its characters, and no sign.
    if let Some(Out::Expr(e)) = part.items.get(column)
        && ty.ty.is_integer()
        && e.ty.ty.is_integer()
    {
        ty.digits = e.ty.int_digits().min(20) as u8;
    }
    ty
}

/// Texts of numbers and moments alone are in the connection's collation.
fn in_connection(ty: ExprType, env: &StatementEnv) -> ExprType {
    match ty.ty.is_character() && ty.coercibility == Coercibility::Numeric {
        true => ExprType::string(ty.chars(), env.collation, ty.coercibility, ty.nullable),
        false => ty,
    }
}

/// Names of the first SELECT's columns, and the types that all have together.
pub(super) fn unified<'p>(
    parts: impl Iterator<Item = &'p SelectPlan>,
    env: &StatementEnv,
) -> SqlResult<(Vec<ResultColumn>, Vec<ExprType>)> {
    let parts: Vec<&SelectPlan> = parts.collect();
    let columns = parts.first().map_or_else(Vec::new, |p| p.columns.to_vec());
    if parts.iter().any(|p| p.columns.len() != columns.len()) {
        return Err(wrong_columns());
    }
    let types = (0..columns.len())
        .map(|i| {
            let of: Vec<ExprType> = parts.iter().map(|p| united(p, i)).collect();
            match of.as_slice() {
                [one] => Ok(*one),
                _ => Ok(in_connection(types::unify(&of, "UNION")?, env)),
            }
        })
        .collect::<SqlResult<Vec<_>>>()?;
    Ok((columns, types))
}
