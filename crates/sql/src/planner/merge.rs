//! MERGE tables in statements: read as the rows of the tables behind them, one table after the other. A statement that writes
//! one is planned for the tables behind it: INSERT for that which gets new rows, others once for each.

use crate::bind::scope::Source;
use crate::expr::node::Expr;
use crate::merge_table::{table_for_inserts, tables_behind};
use crate::plan::access::Access;
use crate::plan::dml::{DeletePlan, UpdatePlan, WriteJoinPlan};
use crate::plan::query::{Rows, SubPlan, TablePlan};
use crate::planner::logical::Resolved;
use crate::planner::resolve::{Resolver, WrittenMerge};
use crate::planner::view_write::Verb;
use crate::query_walk::for_each_table;
use narwal_engine::Table;
use narwal_syntax::ast::{Delete, From, JoinKind, TableRef, Update, WriteJoin, WriteTargets};
use narwal_types::{Name, SqlError, SqlResult};
use std::sync::Arc;

impl Resolver<'_> {
    /// A MERGE table as a source.
    pub fn merge_table(&self, table: Arc<Table>, alias: String) -> SqlResult<Resolved> {
        let behind = tables_behind(&table, self.catalog, self.env)?;
        if let Some(w) = &*self.written_merge.borrow()
            && let Some((_, at)) = w.in_join.iter().find(|(name, _)| *name == alias)
        {
            // With none behind it, the table itself, which has no rows.
            let table = behind.get(*at).cloned().unwrap_or(table);
            return Ok(Resolved {
                source: Source::new(alias, table),
                rows: Rows::Stored,
            });
        }
        let plan = |table: Arc<Table>| TablePlan {
            table,
            access: Access::full(0),
            filter: None,
            late: None,
            rows: Rows::Stored,
            cover: None,
        };
        Ok(Resolved {
            source: Source::new(alias, table),
            rows: Rows::Merge(behind.into_iter().map(plan).collect()),
        })
    }

    /// Chooses where rows are looked for in the tables behind a MERGE table.
    pub fn reach_behind(&self, rows: &mut Rows, filter: Option<&Expr>) -> SqlResult<()> {
        let Rows::Merge(behind) = rows else {
            return Ok(());
        };
        for b in behind {
            b.access = Access::choose(&b.table, filter, &[], None, &[], &self.estimates)?;
        }
        Ok(())
    }

    /// The table behind a MERGE table that a statement writes; with none behind it, the table itself, which has no rows.
    /// Gives the others, too.
    pub fn table_written(
        &self,
        table: &Arc<Table>,
        verb: Verb,
    ) -> SqlResult<(Arc<Table>, Vec<Arc<Table>>)> {
        let mut behind = tables_behind(table, self.catalog, self.env)?;
        let at = match verb {
            Verb::Insert => table_for_inserts(table, &behind)?,
            _ => self.written_merge.borrow().as_ref().map_or(0, |w| w.at),
        };
        if at >= behind.len() {
            return Ok((table.clone(), behind));
        }
        let found = behind.remove(at);
        let mut names = table.columns().iter().zip(found.columns());
        if names.any(|(a, b)| !a.name.same_name(&b.name)) {
            return Err(SqlError::unsupported(
                "writing a MERGE table whose columns have other names than those of its tables",
            ));
        }
        Ok((found, behind))
    }

    /// How many tables are behind a table: one, if it is no MERGE table.
    fn behind(&self, t: &TableRef) -> SqlResult<usize> {
        let Some(db) = t.name.db.as_deref().or(self.env.db.as_deref()) else {
            return Ok(1);
        };
        let temporary = self.env.temporary_table(db, &t.name.name);
        match temporary.or_else(|| self.catalog.table(db, &t.name.name).cloned()) {
            Some(table) if table.def.merge.is_some() => {
                Ok(tables_behind(&table, self.catalog, self.env)?.len())
            }
            _ => Ok(1),
        }
    }

    /// Plans a statement for the first table behind a MERGE table, and for each of the others.
    fn for_each_behind<T>(
        &self,
        behind: usize,
        plan: &mut dyn FnMut() -> SqlResult<T>,
    ) -> SqlResult<(T, Vec<T>)> {
        let mut at = |at| {
            self.written_merge.replace(Some(WrittenMerge {
                at,
                in_join: Vec::new(),
            }));
            plan()
        };
        let first = at(0);
        let others = (1..behind).map(at).collect::<SqlResult<Vec<T>>>();
        self.written_merge.take();
        Ok((first?, others?))
    }

    /// Plans UPDATE, of each table behind a MERGE table.
    pub fn update_each(&self, u: &Update) -> SqlResult<UpdatePlan> {
        let behind = self.behind(&u.table)?;
        if behind == 1 {
            return self.update(u);
        }
        unordered(behind, !u.order_by.is_empty() && u.limit.is_some())?;
        let (mut plan, mut others) = self.for_each_behind(behind, &mut || self.update(u))?;
        let all = || std::iter::once(&plan).chain(&others);
        let read = all().any(|p| all().any(|q| reads(&p.subqueries, &q.target.table)));
        others.iter_mut().for_each(|p| p.reads_target = read);
        plan.reads_target = read;
        plan.behind = others;
        Ok(plan)
    }

    /// Plans DELETE, from each table behind a MERGE table.
    pub fn delete_each(&self, d: &Delete) -> SqlResult<DeletePlan> {
        let behind = self.behind(&d.table)?;
        if behind == 1 {
            return self.delete(d);
        }
        unordered(behind, !d.order_by.is_empty() && d.limit.is_some())?;
        let (mut plan, mut others) = self.for_each_behind(behind, &mut || self.delete(d))?;
        let all = || std::iter::once(&plan).chain(&others);
        let read = all().any(|p| all().any(|q| reads(&p.subqueries, &q.target.table)));
        others.iter_mut().for_each(|p| p.reads_target = read);
        plan.reads_target = read;
        plan.behind = others;
        Ok(plan)
    }

    /// Plans UPDATE and DELETE of a join, with each table behind the MERGE tables that it writes.
    pub fn write_join_each(&mut self, w: &WriteJoin) -> SqlResult<WriteJoinPlan> {
        let merges = self.merges_in_join(w)?;
        if merges.is_empty() {
            return self.write_join(w);
        }
        let several = merges.iter().any(|(_, behind)| *behind > 1);
        if several && w.select.from.as_ref().is_some_and(has_outer) {
            return Err(SqlError::unsupported(
                "a MERGE table that is written in an outer join",
            ));
        }
        named_once(w, &merges)?;
        // Each table behind the one together with each behind the other.
        let mut all: Vec<Vec<(String, usize)>> = vec![Vec::new()];
        for (alias, behind) in &merges {
            let with = |chosen: &Vec<(String, usize)>, at| {
                let mut chosen = chosen.clone();
                chosen.push((alias.clone(), at));
                chosen
            };
            all = (all.iter())
                .flat_map(|chosen| (0..(*behind).max(1)).map(move |at| with(chosen, at)))
                .collect();
        }
        let mut plans = Vec::with_capacity(all.len());
        for in_join in all {
            self.written_merge
                .replace(Some(WrittenMerge { at: 0, in_join }));
            let plan = self.write_join(w);
            self.written_merge.take();
            plans.push(plan?);
        }
        let mut plan = plans.remove(0);
        plan.behind = plans;
        Ok(plan)
    }

    /// The MERGE tables that the statement writes, by the names that they have in the join, and how many tables are behind
    /// each.
    fn merges_in_join(&self, w: &WriteJoin) -> SqlResult<Vec<(String, usize)>> {
        let mut found = Vec::new();
        let mut refs = Vec::new();
        if let Some(from) = &w.select.from {
            tables(from, &mut refs);
        }
        for t in refs {
            let alias = t.alias.as_ref().unwrap_or(&t.name.name);
            if self.is_merge(t) && may_be_written(w, alias) {
                found.push((alias.clone(), self.behind(t)?));
            }
        }
        Ok(found)
    }

    fn is_merge(&self, t: &TableRef) -> bool {
        let Some(db) = t.name.db.as_deref().or(self.env.db.as_deref()) else {
            return false;
        };
        let merge = |t: &Table| t.def.merge.is_some();
        match self.env.temporary_table(db, &t.name.name) {
            Some(t) => merge(&t),
            None => self
                .catalog
                .table(db, &t.name.name)
                .is_some_and(|t| merge(t)),
        }
    }
}

/// Error 1235: a name of a table that is written means another one, too.
fn named_once(w: &WriteJoin, merges: &[(String, usize)]) -> SqlResult<()> {
    let mut all = w.select.clone();
    let mut names = Vec::new();
    for_each_table(&mut all, &mut |t| {
        names.push(t.alias.as_ref().unwrap_or(&t.name.name).clone());
    });
    let times = |alias: &str| names.iter().filter(|n| *n == alias).count();
    match merges.iter().all(|(alias, _)| times(alias) == 1) {
        true => Ok(()),
        false => Err(SqlError::unsupported(
            "two tables of the name of a MERGE table that is written",
        )),
    }
}

/// Whether a statement may write the table of that name: a column without a table may be any one's.
fn may_be_written(w: &WriteJoin, alias: &str) -> bool {
    match &w.targets {
        WriteTargets::Delete(names) => names.iter().any(|n| n.name == alias),
        WriteTargets::Update(list) => {
            (list.iter()).any(|a| a.table.as_ref().is_none_or(|t| t == alias))
        }
    }
}

pub(super) fn tables<'f>(from: &'f From, out: &mut Vec<&'f TableRef>) {
    match from {
        From::Table(t) => out.push(t),
        From::Join(j) => {
            tables(&j.left, out);
            tables(&j.right, out);
        }
        _ => {}
    }
}

fn has_outer(from: &From) -> bool {
    match from {
        From::Join(j) => j.kind != JoinKind::Inner || has_outer(&j.left) || has_outer(&j.right),
        _ => false,
    }
}

/// Error 1235: the first rows of several tables would be wanted.
fn unordered(behind: usize, ordered: bool) -> SqlResult<()> {
    match behind > 1 && ordered {
        true => Err(SqlError::unsupported(
            "ORDER BY with LIMIT in UPDATE and DELETE of a MERGE table with several tables",
        )),
        false => Ok(()),
    }
}

fn reads(subqueries: &[SubPlan], table: &Table) -> bool {
    subqueries.iter().any(|s| s.plan.reads_table(table))
}
