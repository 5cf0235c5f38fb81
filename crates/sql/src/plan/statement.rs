//! The plan of a whole statement.

use super::counts::Counts;
use super::dml::{DeletePlan, InsertPlan, LoadPlan, RowSource, UpdatePlan, WriteJoinPlan};
use super::explain::{Explained, columns};
use super::handler::HandlerPlan;
use super::query::SelectPlan;
use narwal_engine::Table;
use narwal_syntax::ast::ExplainForm;
use narwal_types::{ResultColumn, SqlResult, Value};
use std::sync::Arc;

/// The plan of a statement.
pub enum Plan {
    /// SELECT.
    Select(Box<SelectPlan>),
    /// INSERT and REPLACE.
    Insert(Box<InsertPlan>),
    /// UPDATE of one table.
    Update(Box<UpdatePlan>),
    /// DELETE of one table.
    Delete(Box<DeletePlan>),
    /// UPDATE and DELETE of joins.
    WriteJoin(Box<WriteJoinPlan>),
    /// LOAD DATA.
    Load(Box<LoadPlan>),
    /// DO.
    Do(Box<SelectPlan>),
    /// Name as shown, and the tables whose rows it has (several behind a MERGE table), or what is wrong with it.
    Checksum(Vec<(String, SqlResult<Vec<Arc<Table>>>)>),
    /// HANDLER ... READ.
    Handler(Box<HandlerPlan>),
    /// EXPLAIN: rows made when it was planned.
    Explain(ExplainForm, Vec<Vec<Value>>),
    /// ANALYZE: a statement that runs, and then its rows are made.
    Analyze(Box<Analyzed>),
}

/// A statement that ANALYZE runs.
pub struct Analyzed {
    /// Its plan.
    pub plan: Plan,
    /// What its target is called.
    pub alias: String,
    /// How to answer.
    pub form: ExplainForm,
    /// The columns of the answer.
    pub columns: Arc<[ResultColumn]>,
}

impl Analyzed {
    /// Of a plan.
    pub fn new(plan: Plan, alias: String, form: ExplainForm) -> Self {
        Analyzed {
            plan,
            alias,
            form,
            columns: columns(form).into(),
        }
    }
}

impl Plan {
    /// The plan as EXPLAIN shows it; `None` for a statement that EXPLAIN does not take. `alias`: what its target is called.
    /// `counts`: what it has read, if it ran.
    pub fn explained(&self, alias: &str, counts: Option<&Counts>) -> Option<Explained> {
        Some(match self {
            Plan::Select(s) => Explained::select(s, counts),
            Plan::WriteJoin(w) => Explained::select(&w.query, counts),
            Plan::Update(u) => Explained::write(
                (&u.target, alias),
                "update",
                !u.order.is_empty() && !u.target.access.ordered,
                &u.subqueries,
                counts,
            ),
            Plan::Delete(d) => Explained::write(
                (&d.target, alias),
                "delete",
                !d.order.is_empty() && !d.target.access.ordered,
                &d.subqueries,
                counts,
            ),
            Plan::Insert(i) => match &i.source {
                RowSource::Select(s) => Explained::select(s, counts),
                _ => Explained::insert(alias, &i.subqueries, counts),
            },
            _ => return None,
        })
    }

    /// True if it never writes. It may take row locks.
    pub fn only_reads(&self) -> bool {
        match self {
            Plan::Select(_)
            | Plan::Do(_)
            | Plan::Checksum(_)
            | Plan::Handler(_)
            | Plan::Explain(..) => true,
            Plan::Insert(_)
            | Plan::Update(_)
            | Plan::Delete(_)
            | Plan::WriteJoin(_)
            | Plan::Load(_) => false,
            Plan::Analyze(a) => a.plan.only_reads(),
        }
    }

    /// The SELECT of a statement that only reads.
    pub fn as_select(&self) -> Option<&SelectPlan> {
        match self {
            Plan::Select(s) => Some(s),
            Plan::Analyze(a) => a.plan.as_select(),
            _ => None,
        }
    }

    /// True if it touches no table at all (`SELECT 1`).
    pub fn is_tableless(&self) -> bool {
        match self {
            Plan::Select(s) | Plan::Do(s) => s.table.is_none() && s.subqueries.is_empty(),
            Plan::Explain(..) => true,
            Plan::Analyze(a) => a.plan.is_tableless(),
            _ => false,
        }
    }
}
