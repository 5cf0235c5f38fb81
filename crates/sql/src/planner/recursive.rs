//! Planning tables of WITH RECURSIVE that name themselves or each other.

use crate::bind::scope::Source;
use crate::env::VariableScope;
use crate::expr::node::ExprType;
use crate::plan::made::derived;
use crate::plan::query::{RecursivePlan, RecursiveTable, Rows, SelectPlan, SetPlan};
use crate::planner::logical::Resolved;
use crate::planner::resolve::{Known, Resolver};
use crate::planner::set::{check_names, unified, wrong_columns};
use crate::planner::with_order::{Group, Named};
use narwal_syntax::ast::{Cte, From, JoinKind, Select, SelectItem, SetKind, SetOp};
use narwal_types::errors;
use narwal_types::{Name, ResultColumn, SqlError, SqlResult, Value};
use std::sync::Arc;

/// The columns that CYCLE names.
fn cycle_columns(cte: &Cte, columns: &[ResultColumn]) -> SqlResult<Vec<usize>> {
    let mut found = Vec::with_capacity(cte.cycle.len());
    for name in &cte.cycle {
        let at = columns
            .iter()
            .position(|c| c.name.same_name(name))
            .ok_or_else(|| errors::BAD_FIELD_ERROR.with([name, &"CYCLE clause".to_string()]))?;
        if found.contains(&at) {
            return Err(errors::DUP_FIELDNAME.with([&columns[at].name]));
        }
        found.push(at);
    }
    Ok(found)
}

/// True if a query names one of these tables.
fn names(s: &Select, group: &[Arc<Cte>]) -> bool {
    let mut named = Named::default();
    named.select(s);
    group.iter().any(|c| named.has(&c.name))
}

/// UNION ALL, which stands before the first SELECT.
const ALL: SetOp = SetOp {
    kind: SetKind::Union,
    all: true,
};

/// The SELECTs of one table: those that begin, and those that go on from rows of the group.
struct Parts<'a> {
    cte: &'a Arc<Cte>,
    anchors: Vec<(SetOp, &'a Select)>,
    steps: Vec<&'a Select>,
    /// Equal rows count once.
    distinct: bool,
}

impl<'a> Parts<'a> {
    fn of(cte: &'a Arc<Cte>, group: &[Arc<Cte>]) -> SqlResult<Parts<'a>> {
        let q = &cte.query;
        let whole = match &q.from {
            Some(From::Set { first, rest })
                if matches!(q.items.as_slice(), [SelectItem::Wildcard]) =>
            {
                if !q.order_by.is_empty() || q.limit.is_some() {
                    return Err(SqlError::unsupported(
                        "global ORDER_BY/LIMIT in recursive CTE spec",
                    ));
                }
                let rest = rest.iter().map(|(op, s)| (*op, s));
                std::iter::once((ALL, &**first)).chain(rest).collect()
            }
            _ => vec![(ALL, q)],
        };
        let mut alls = whole[1..].iter().map(|(op, _)| op.all);
        let distinct = alls.clone().any(|all| !all);
        if distinct && alls.any(|all| all) {
            return Err(SqlError::unsupported(
                "mix of ALL and DISTINCT UNION operations in recursive CTE spec",
            ));
        }
        // Those that name none of the group give the rows to begin with, wherever they stand.
        let (steps, anchors): (Vec<_>, Vec<_>) =
            whole.into_iter().partition(|(_, s)| names(s, group));
        if steps.iter().any(|(op, _)| op.kind != SetKind::Union) {
            return Err(errors::NOT_STANDARD_COMPLIANT_RECURSIVE.with([&cte.name]));
        }
        Ok(Parts {
            cte,
            anchors,
            steps: steps.into_iter().map(|(_, s)| s).collect(),
            distinct,
        })
    }

    /// True if a step looks at more than a row of the group at once, whatever its functions are: the standard has no such.
    fn breaks_standard(&self, group: &[Arc<Cte>]) -> bool {
        self.steps.iter().any(|s| {
            let mut uses = Uses::default();
            uses.select(s, group);
            uses.refused || uses.count > 1
        })
    }
}

/// How a step uses the tables of its group.
#[derive(Default)]
struct Uses {
    /// In FROM, also in derived tables of it.
    count: usize,
    /// In a subquery of an expression, or where an outer join puts NULLs.
    refused: bool,
}

impl Uses {
    fn select(&mut self, s: &Select, group: &[Arc<Cte>]) {
        let with = s.with.iter().flat_map(|w| &w.ctes);
        with.for_each(|c| self.select(&c.query, group));
        self.refused |= s.subqueries.iter().any(|(_, s)| names(s, group));
        if let Some(f) = &s.from {
            self.from(f, false, group);
        }
    }

    /// `inner`: rows of it may be missing in an outer join.
    fn from(&mut self, f: &From, inner: bool, group: &[Arc<Cte>]) {
        match f {
            From::Table(t) => {
                let name = &t.name.name;
                if t.name.db.is_none() && group.iter().any(|c| c.name == *name) {
                    self.count += 1;
                    self.refused |= inner;
                }
            }
            From::Query { query, .. } => self.select(query, group),
            From::JsonTable(_) => {}
            // The SELECTs of a derived table are not joined.
            From::Set { first, rest } => {
                let mut most = 0;
                for s in std::iter::once(&**first).chain(rest.iter().map(|(_, s)| s)) {
                    let mut one = Uses::default();
                    one.select(s, group);
                    self.refused |= one.refused;
                    most = most.max(one.count);
                }
                self.count += most;
            }
            From::Join(j) => {
                self.from(&j.left, inner || j.kind == JoinKind::Right, group);
                self.from(&j.right, inner || j.kind == JoinKind::Left, group);
            }
        }
    }
}

/// A table whose columns are known.
struct Typed {
    id: usize,
    source: Source,
    anchors: Option<SetPlan>,
    /// Planned with the rest unless there was no other way to know its columns.
    steps: Option<Vec<SelectPlan>>,
    columns: Vec<ResultColumn>,
    types: Vec<ExprType>,
}

impl Resolver<'_> {
    /// One table of a group that name each other.
    pub(super) fn recursive(
        &self,
        group: &Group,
        wanted: usize,
        alias: &str,
    ) -> SqlResult<Resolved> {
        let parts = group
            .iter()
            .map(|c| Parts::of(c, group))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut whole = parts.iter().find(|p| p.breaks_standard(group));
        self.allowed(whole)?;
        let before = self.ctes.known.borrow().len();
        let planned = self.typed(&parts).and_then(|typed| {
            let steps = typed.iter().zip(&parts).map(|(t, p)| match &t.steps {
                Some(_) => Ok(Vec::new()),
                None => self.steps(p),
            });
            let steps = steps.collect::<SqlResult<Vec<_>>>()?;
            Ok((typed, steps))
        });
        self.ctes.known.borrow_mut().truncate(before);
        let (typed, steps) = planned?;
        let source = Source {
            name: alias.to_string(),
            ..typed[wanted].source.clone()
        };
        let mut members = Vec::with_capacity(typed.len());
        for ((mut t, steps), p) in typed.into_iter().zip(steps).zip(&parts) {
            let steps = t.steps.take().unwrap_or(steps);
            if steps.iter().any(|s| s.columns.len() != t.columns.len()) {
                return Err(wrong_columns());
            }
            if steps.iter().any(SelectPlan::has_values_over_rows) {
                whole = whole.or(Some(p));
            }
            members.push(table(t, steps, p)?);
        }
        self.allowed(whole)?;
        let plan = RecursivePlan {
            members,
            wanted,
            whole: whole.is_some(),
        };
        Ok(Resolved {
            source,
            rows: Rows::Recursive(Box::new(plan)),
        })
    }

    /// Error 4008 for a table that the standard does not have, unless `standard_compliant_cte` is off.
    fn allowed(&self, broken: Option<&Parts<'_>>) -> SqlResult<()> {
        let Some(p) = broken else {
            return Ok(());
        };
        let variables = &self.env.variables;
        match variables.system(VariableScope::Session, "standard_compliant_cte") {
            Ok(Value::Int(0)) => Ok(()),
            _ => Err(errors::NOT_STANDARD_COMPLIANT_RECURSIVE.with([&p.cte.name])),
        }
    }

    /// The columns of all tables of a group: those of the rows that one begins with, or else those that it makes of tables
    /// whose columns are known. All of them are known as tables then.
    fn typed(&self, parts: &[Parts<'_>]) -> SqlResult<Vec<Typed>> {
        let mut done: Vec<Option<Typed>> = Vec::with_capacity(parts.len());
        for p in parts {
            let anchors = (p.anchors.iter())
                .map(|(op, s)| Ok((*op, self.within(p.cte, s)?)))
                .collect::<SqlResult<Vec<_>>>()?;
            let mut anchors = anchors.into_iter();
            done.push(match anchors.next() {
                None => None,
                Some((_, first)) => {
                    let rest = anchors.collect();
                    Some(self.typed_by(p, Some(SetPlan { first, rest }), None)?)
                }
            });
        }
        let Some(anchored) = done.iter().position(Option::is_some) else {
            return Err(errors::RECURSIVE_WITHOUT_ANCHORS.with([&parts[0].cte.name]));
        };
        for (p, t) in parts.iter().zip(&done) {
            if let Some(t) = t {
                self.works(p, t);
            }
        }
        while let Some(next) = (0..parts.len()).find(|i| {
            let unknown = |j: &usize| done[*j].is_none();
            let open: Vec<Arc<Cte>> = (0..parts.len())
                .filter(unknown)
                .map(|j| parts[j].cte.clone())
                .collect();
            done[*i].is_none() && !parts[*i].steps.iter().any(|s| names(s, &open))
        }) {
            let steps = self.steps(&parts[next])?;
            let t = self.typed_by(&parts[next], None, Some(steps))?;
            self.works(&parts[next], &t);
            done[next] = Some(t);
        }
        let anchored = &parts[anchored].cte.name;
        done.into_iter()
            .map(|t| t.ok_or_else(|| errors::UNACCEPTABLE_MUTUAL_RECURSION.with([anchored])))
            .collect()
    }

    /// Its name means its rows of the step before from now on.
    fn works(&self, p: &Parts<'_>, t: &Typed) {
        self.ctes.known.borrow_mut().push(Known {
            cte: p.cte.clone(),
            group: None,
            working: Some((t.id, t.source.clone())),
        });
    }

    /// Plans a SELECT of a table, which sees that table's own WITH.
    fn within(&self, cte: &Cte, s: &Select) -> SqlResult<SelectPlan> {
        match &cte.query.with {
            Some(with) if !std::ptr::eq(s, &cte.query) => self.with(with, || self.select(s)),
            _ => self.select(s),
        }
    }

    fn steps(&self, p: &Parts<'_>) -> SqlResult<Vec<SelectPlan>> {
        let steps = p.steps.iter().map(|s| self.within(p.cte, s));
        steps.collect()
    }

    /// A table with the columns of its anchors, or else of its steps.
    fn typed_by(
        &self,
        p: &Parts<'_>,
        anchors: Option<SetPlan>,
        steps: Option<Vec<SelectPlan>>,
    ) -> SqlResult<Typed> {
        let first = anchors.iter().flat_map(SetPlan::parts);
        let (mut columns, mut types) = unified(first.chain(steps.iter().flatten()), self.env)?;
        check_names(p.cte, columns.len())?;
        for (c, name) in columns.iter_mut().zip(&p.cte.columns) {
            c.name.clone_from(name);
        }
        for (c, t) in columns.iter_mut().zip(&mut types) {
            c.nullable = true;
            t.nullable = true;
        }
        let id = self.ctes.recursive.get();
        self.ctes.recursive.set(id + 1);
        Ok(Typed {
            id,
            source: derived("", &p.cte.name, &columns, types.clone())?,
            anchors,
            steps,
            columns,
            types,
        })
    }
}

/// A table as it runs.
fn table(t: Typed, steps: Vec<SelectPlan>, p: &Parts<'_>) -> SqlResult<RecursiveTable> {
    let cycle = cycle_columns(p.cte, &t.columns)?;
    Ok(RecursiveTable {
        id: t.id,
        table: t.source.table.clone(),
        anchors: t.anchors,
        steps,
        distinct: match cycle.is_empty() {
            false => Some(cycle),
            true => p.distinct.then(|| (0..t.columns.len()).collect()),
        },
        columns: (t.columns.iter().zip(&t.types))
            .map(|(c, t)| (c.name.clone(), *t))
            .collect(),
    })
}
