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
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

impl Resolver<'_> {
    /// A MERGE table as a source.
    pub fn merge_table(&self, table: Arc<Table>, alias: String) -> SqlResult<Resolved> {
        let behind = tables_behind(&table, self.catalog, self.env)?;
        if let Some(w) = &*self.written_merge.borrow()
            && w.in_join.as_ref() == Some(&alias)
            && let Some(table) = behind.get(w.at)
        {
            return Ok(Resolved {
                source: Source::new(alias, table.clone()),
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
        if names.any(|(a, b)| !a.name.eq_ignore_ascii_case(&b.name)) {
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
        in_join: Option<&str>,
        plan: &mut dyn FnMut() -> SqlResult<T>,
    ) -> SqlResult<(T, Vec<T>)> {
        let mut at = |at| {
            self.written_merge.replace(Some(WrittenMerge {
                at,
                in_join: in_join.map(str::to_string),
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
        let (mut plan, mut others) = self.for_each_behind(behind, None, &mut || self.update(u))?;
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
        let (mut plan, mut others) = self.for_each_behind(behind, None, &mut || self.delete(d))?;
        let all = || std::iter::once(&plan).chain(&others);
        let read = all().any(|p| all().any(|q| reads(&p.subqueries, &q.target.table)));
        others.iter_mut().for_each(|p| p.reads_target = read);
        plan.reads_target = read;
        plan.behind = others;
        Ok(plan)
    }

    /// Plans UPDATE and DELETE of a join, with each table behind a MERGE table that it writes.
    pub fn write_join_each(&mut self, w: &WriteJoin) -> SqlResult<WriteJoinPlan> {
        let Some((alias, behind)) = self.merge_in_join(w)? else {
            return self.write_join(w);
        };
        if behind > 1 && w.select.from.as_ref().is_some_and(has_outer) {
            return Err(SqlError::unsupported(
                "a MERGE table that is written in an outer join",
            ));
        }
        let mut inside = w.select.clone();
        let mut again = 0;
        for_each_table(&mut inside, &mut |t| {
            again += usize::from(t.alias.as_ref().unwrap_or(&t.name.name) == &alias);
        });
        if again > 1 {
            return Err(SqlError::unsupported(
                "two tables of the name of a MERGE table that is written",
            ));
        }
        let at = |r: &mut Self, at| {
            r.written_merge.replace(Some(WrittenMerge {
                at,
                in_join: Some(alias.clone()),
            }));
            let plan = r.write_join(w);
            r.written_merge.take();
            plan
        };
        let mut plan = at(self, 0)?;
        for n in 1..behind {
            plan.behind.push(at(self, n)?);
        }
        Ok(plan)
    }

    /// The MERGE table that the statement writes, by the name that it has in the join, and how many tables are behind it.
    fn merge_in_join(&self, w: &WriteJoin) -> SqlResult<Option<(String, usize)>> {
        let mut found = None;
        let mut refs = Vec::new();
        if let Some(from) = &w.select.from {
            tables(from, &mut refs);
        }
        for t in refs {
            let alias = t.alias.as_ref().unwrap_or(&t.name.name);
            if !self.is_merge(t) || !may_be_written(w, alias) {
                continue;
            }
            if found.is_some() {
                return Err(SqlError::unsupported(
                    "several MERGE tables in a statement that writes a join",
                ));
            }
            found = Some((alias.clone(), self.behind(t)?));
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

/// Whether a statement may write the table of that name: a column without a table may be any one's.
fn may_be_written(w: &WriteJoin, alias: &str) -> bool {
    match &w.targets {
        WriteTargets::Delete(names) => names.iter().any(|n| n.name == alias),
        WriteTargets::Update(list) => {
            (list.iter()).any(|a| a.table.as_ref().is_none_or(|t| t == alias))
        }
    }
}

fn tables<'f>(from: &'f From, out: &mut Vec<&'f TableRef>) {
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
