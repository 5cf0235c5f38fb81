//! Planning SELECTs that are put together, and WITH.

use crate::bind::scope::{OuterScope, Source};
use crate::expr::node::ExprType;
use crate::expr::types;
use crate::plan::made::{column_type, derived};
use crate::plan::query::Rows;
use crate::plan::query::SelectPlan;
use crate::plan::query::{RecursivePlan, SetPlan};
use crate::planner::logical::Resolved;
use crate::planner::resolve::Known;
use crate::planner::resolve::Resolver;
use narwal_syntax::ast::{Cte, From, Select, SelectItem, SetKind, SetOp, TableRef, With};
use narwal_types::errors;
use narwal_types::{ResultColumn, SqlError, SqlResult};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Uses of tables of WITH in one statement, beyond one of each: every use is planned anew.
const MAX_USES: usize = 1000;

fn wrong_columns() -> SqlError {
    errors::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.plain()
}

/// The columns that CYCLE names.
fn cycle_columns(cte: &Cte, columns: &[ResultColumn]) -> SqlResult<Vec<usize>> {
    let mut found = Vec::with_capacity(cte.cycle.len());
    for name in &cte.cycle {
        let at = columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| errors::BAD_FIELD_ERROR.with([name, &"CYCLE clause".to_string()]))?;
        if found.contains(&at) {
            return Err(errors::DUP_FIELDNAME.with([&columns[at].name]));
        }
        found.push(at);
    }
    Ok(found)
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
        let mut used = Named::default();
        with.ctes.iter().for_each(|c| used.select(&c.query));
        let mut r = Ok(());
        for (i, cte) in with.ctes.iter().enumerate() {
            self.ctes.known.borrow_mut().push(Known {
                cte: cte.clone(),
                recursive: with.recursive,
                working: None,
            });
            if r.is_ok() && !used.tables.contains(cte.name.as_str()) {
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
            .rposition(|k| k.cte.name == t.name.name);
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
        let hidden = self.ctes.known.borrow_mut().split_off(at);
        let cte = known.cte;
        let r = if known.recursive && names(&cte.query, &cte.name) {
            self.recursive(&cte, alias)
        } else {
            self.select(&cte.query).and_then(|plan| {
                check_names(&cte, plan.columns.len())?;
                self.derived(plan, "", alias, &cte.columns)
            })
        };
        self.ctes.known.borrow_mut().extend(hidden);
        r
    }

    /// SELECTs put together.
    pub fn set(
        &self,
        first: &Select,
        rest: &[(SetOp, Select)],
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<Resolved> {
        let first = self.select_within(first, outer)?;
        // VALUES may have a million rows, and a plan is large: asked at once, since a list that doubles is not asked for.
        narwal_memory::reserve((rest.len() * size_of::<(SetOp, SelectPlan)>()) as u64)?;
        let mut planned = Vec::with_capacity(rest.len());
        for (op, s) in rest {
            self.env.check_interrupt()?;
            planned.push((*op, self.select_within(s, outer)?));
        }
        let rest = planned;
        let plan = SetPlan { first, rest };
        let (columns, types) = unified(plan.parts())?;
        Ok(Resolved {
            source: derived("", "", &columns, types)?,
            rows: Rows::Set(Box::new(plan)),
        })
    }

    /// A table of WITH RECURSIVE that names itself.
    fn recursive(&self, cte: &Arc<Cte>, alias: &str) -> SqlResult<Resolved> {
        let name = &cte.name;
        let broken = || errors::NOT_STANDARD_COMPLIANT_RECURSIVE.with([&name]);
        let no_anchor = || errors::RECURSIVE_WITHOUT_ANCHORS.with([&name]);
        let q = &cte.query;
        let Some(From::Set { first, rest }) = &q.from else {
            return Err(no_anchor());
        };
        if !matches!(q.items.as_slice(), [SelectItem::Wildcard]) {
            return Err(no_anchor());
        }
        if !q.order_by.is_empty() || q.limit.is_some() {
            return Err(SqlError::unsupported(
                "global ORDER_BY/LIMIT in recursive CTE spec",
            ));
        }
        // Those that do not name it give the rows to begin with, wherever they stand.
        let all = SetOp {
            kind: SetKind::Union,
            all: true,
        };
        let parts = std::iter::once((all, &**first)).chain(rest.iter().map(|(op, s)| (*op, s)));
        let (steps, anchors): (Vec<_>, Vec<_>) = parts.partition(|(_, s)| names(s, name));
        if steps.iter().any(|(op, _)| op.kind != SetKind::Union) {
            return Err(broken());
        }
        let mut anchors = anchors
            .into_iter()
            .map(|(op, s)| Ok((op, self.select(s)?)))
            .collect::<SqlResult<Vec<_>>>()?;
        if anchors.is_empty() {
            return Err(no_anchor());
        }
        let anchors = SetPlan {
            first: anchors.remove(0).1,
            rest: anchors,
        };
        let (mut columns, mut types) = unified(anchors.parts())?;
        check_names(cte, columns.len())?;
        for (c, name) in columns.iter_mut().zip(&cte.columns) {
            c.name.clone_from(name);
        }
        for (c, t) in columns.iter_mut().zip(&mut types) {
            c.nullable = true;
            t.nullable = true;
        }
        let source = derived("", alias, &columns, types.clone())?;
        let id = self.ctes.uses.get();
        self.ctes.known.borrow_mut().push(Known {
            cte: cte.clone(),
            recursive: true,
            working: Some((id, source.clone())),
        });
        let planned = steps
            .iter()
            .map(|(op, s)| Ok((op.all, self.select(s)?)))
            .collect::<SqlResult<Vec<_>>>();
        self.ctes.known.borrow_mut().pop();
        let planned = planned?;
        if planned
            .iter()
            .any(|(_, p)| p.columns.len() != columns.len())
        {
            return Err(wrong_columns());
        }
        if planned.iter().any(|(_, p)| p.computes_over_rows()) {
            return Err(broken());
        }
        let cycle = cycle_columns(cte, &columns)?;
        let distinct =
            planned.iter().any(|(all, _)| !all) || anchors.rest.iter().any(|(op, _)| !op.all);
        Ok(Resolved {
            source,
            rows: Rows::Recursive(Box::new(RecursivePlan {
                id,
                distinct: match cycle.is_empty() {
                    false => Some(cycle),
                    true => distinct.then(|| (0..columns.len()).collect()),
                },
                anchors,
                steps: planned.into_iter().map(|(_, p)| p).collect(),
                columns: columns
                    .iter()
                    .zip(&types)
                    .map(|(c, t)| (c.name.clone(), *t))
                    .collect(),
            })),
        })
    }
}

fn check_names(cte: &Cte, columns: usize) -> SqlResult<()> {
    if cte.columns.is_empty() || cte.columns.len() == columns {
        return Ok(());
    }
    Err(errors::WITH_COL_WRONG_LIST.plain())
}

/// Names of the first SELECT's columns, and the types that all have together.
fn unified<'p>(
    parts: impl Iterator<Item = &'p SelectPlan>,
) -> SqlResult<(Vec<ResultColumn>, Vec<ExprType>)> {
    let parts: Vec<&SelectPlan> = parts.collect();
    let columns = parts.first().map_or_else(Vec::new, |p| p.columns.to_vec());
    if parts.iter().any(|p| p.columns.len() != columns.len()) {
        return Err(wrong_columns());
    }
    let types = (0..columns.len())
        .map(|i| {
            let of: Vec<ExprType> = parts.iter().map(|p| column_type(&p.columns[i])).collect();
            match of.as_slice() {
                [one] => Ok(*one),
                _ => types::unify(&of, "UNION"),
            }
        })
        .collect::<SqlResult<Vec<_>>>()?;
    Ok((columns, types))
}

/// True if a query names a table.
fn names(s: &Select, name: &str) -> bool {
    let hidden = s
        .with
        .as_ref()
        .is_some_and(|w| w.ctes.iter().any(|c| c.name == name));
    let in_with = s
        .with
        .as_ref()
        .is_some_and(|w| w.ctes.iter().any(|c| names(&c.query, name)));
    in_with
        || !hidden
            && (s.from.as_ref().is_some_and(|f| from_names(f, name))
                || s.subqueries.iter().any(|(_, s)| names(s, name)))
}

fn from_names(f: &From, name: &str) -> bool {
    match f {
        From::Table(t) => t.name.db.is_none() && t.name.name == name,
        From::Query { query, .. } => names(query, name),
        From::Set { first, rest } => names(first, name) || rest.iter().any(|(_, s)| names(s, name)),
        From::JsonTable(_) => false,
        From::Join(j) => from_names(&j.left, name) || from_names(&j.right, name),
    }
}

/// The tables that SELECTs name, but for those of a WITH of their own: all that [`names`] is true for.
#[derive(Default)]
struct Named<'a> {
    tables: HashSet<&'a str>,
    /// Names that mean something else here, and how often.
    hidden: HashMap<&'a str, usize>,
}

impl<'a> Named<'a> {
    fn select(&mut self, s: &'a Select) {
        let ctes = s.with.iter().flat_map(|w| &w.ctes);
        ctes.clone().for_each(|c| self.select(&c.query));
        ctes.clone()
            .for_each(|c| *self.hidden.entry(&c.name).or_default() += 1);
        s.from.iter().for_each(|f| self.from(f));
        s.subqueries.iter().for_each(|(_, s)| self.select(s));
        for c in ctes {
            if let Some(n) = self.hidden.get_mut(c.name.as_str()) {
                *n -= 1;
            }
        }
    }

    fn from(&mut self, f: &'a From) {
        match f {
            From::Table(t) => {
                let name = t.name.name.as_str();
                if t.name.db.is_none() && self.hidden.get(name).is_none_or(|n| *n == 0) {
                    self.tables.insert(name);
                }
            }
            From::Query { query, .. } => self.select(query),
            // It names no table.
            From::JsonTable(_) => {}
            From::Set { first, rest } => {
                self.select(first);
                rest.iter().for_each(|(_, s)| self.select(s));
            }
            From::Join(j) => {
                self.from(&j.left);
                self.from(&j.right);
            }
        }
    }
}
