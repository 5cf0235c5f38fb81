//! What the status counters say of a plan: how its SELECTs read their tables, and which tables they make for themselves. Each
//! SELECT counts once in a statement, however often it runs.

use super::access::Lookup;
use super::dml::RowSource;
use super::query::{RecursivePlan, Rows, SelectPlan, SetPlan, SubPlan, TablePlan};
use super::sarg::ColCond;
use super::statement::Plan;
use crate::status_counts::{StatusCount, StatusCounts};

/// Counts what a statement's plan is made of.
struct Reads<'c>(&'c StatusCounts);

impl Reads<'_> {
    fn one(&self, what: StatusCount) {
        self.0.add(what, 1);
    }

    fn subqueries(&self, all: &[SubPlan]) {
        all.iter().for_each(|s| self.select(&s.plan));
    }

    fn select(&self, p: &SelectPlan) {
        let ends = p.group.as_ref().is_some_and(|g| !g.ends.is_empty());
        if let Some(t) = p.table.as_ref().filter(|_| !ends) {
            match &t.rows {
                Rows::Set(set) => self.set(set),
                _ => self.table(t, &mut true),
            }
        }
        let grouped = |g: &super::query::GroupPlan| !g.keys.is_empty() && g.by_index.is_none();
        let made = [
            p.group.as_ref().is_some_and(grouped),
            p.distinct && !p.distinct_by_sort,
            p.windows.is_some(),
        ];
        let made = made.into_iter().filter(|made| *made).count();
        self.0.add(StatusCount::CreatedTmpTables, made as u64);
        self.subqueries(&p.subqueries);
    }

    fn set(&self, set: &SetPlan) {
        if !set.appends() {
            self.one(StatusCount::CreatedTmpTables);
        }
        self.select(&set.first);
        set.rest.iter().for_each(|(_, p)| self.select(p));
    }

    /// `first`: no table before it gives more than one row.
    fn table(&self, t: &TablePlan, first: &mut bool) {
        match &t.rows {
            Rows::Join(join) => {
                for i in join.order() {
                    self.table(&join.leaves[i].plan, first);
                }
                return;
            }
            Rows::Stored | Rows::Merge(_) | Rows::Working(_) => {}
            Rows::Virtual(_) => self.one(StatusCount::CreatedTmpTables),
            Rows::Query(p) => {
                self.one(StatusCount::CreatedTmpTables);
                self.select(p);
            }
            Rows::Set(set) => {
                self.one(StatusCount::CreatedTmpTables);
                self.set(set);
            }
            Rows::Recursive(r) => self.recursive(r),
        }
        match how(t) {
            How::Row => return,
            How::Key => {}
            How::Range if *first => self.one(StatusCount::SelectRange),
            How::Range => self.one(StatusCount::SelectFullRangeJoin),
            How::All if *first => self.one(StatusCount::SelectScan),
            How::All => self.one(StatusCount::SelectFullJoin),
        }
        *first = false;
    }

    fn recursive(&self, r: &RecursivePlan) {
        for member in &r.members {
            self.one(StatusCount::CreatedTmpTables);
            member.anchors.iter().for_each(|set| self.set(set));
            member.steps.iter().for_each(|p| self.select(p));
        }
    }
}

/// How a table is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// One row by its key.
    Row,
    /// Rows by values of a key's first columns.
    Key,
    /// Ranges of an index.
    Range,
    /// All rows.
    All,
}

fn how(t: &TablePlan) -> How {
    match &t.access.lookup {
        Lookup::Point(_) => How::Row,
        Lookup::Ranges(c) if c.iter().all(ColCond::is_single) => How::Key,
        Lookup::Ranges(_) => How::Range,
        Lookup::Full => How::All,
    }
}

impl TablePlan {
    /// It is read by a range of an index.
    pub(crate) fn reads_range(&self) -> bool {
        how(self) == How::Range
    }
}

fn reads_all(target: &TablePlan) -> bool {
    how(target) == How::All
}

impl Plan {
    /// Counts what it will do, before it runs.
    pub fn count_reads(&self, counts: &StatusCounts) {
        let reads = Reads(counts);
        match self {
            Plan::Select(p) | Plan::Do(p) => reads.select(p),
            Plan::WriteJoin(w) => reads.select(&w.query),
            Plan::Update(u) => {
                counts.add(StatusCount::UpdateScan, reads_all(&u.target).into());
                reads.subqueries(&u.subqueries);
            }
            Plan::Delete(d) => {
                counts.add(StatusCount::DeleteScan, reads_all(&d.target).into());
                reads.subqueries(&d.subqueries);
            }
            Plan::Insert(i) => {
                if let RowSource::Select(p) = &i.source {
                    reads.select(p);
                }
                reads.subqueries(&i.subqueries);
            }
            Plan::Analyze(a) => a.plan.count_reads(counts),
            Plan::Load(_) | Plan::Checksum(_) | Plan::Handler(_) | Plan::Explain(..) => {}
        }
    }
}
