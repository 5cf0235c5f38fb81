//! Plans of statements that come as text: statements that differ in their literals alone ([`narwal_sql::shape`]) are
//! parsed and planned once in a session. What a plan depends on is checked at each use (catalog, default database), or
//! empties the cache when it changes (session variables, the user).

use crate::plan_cache::{Found, Kind, TextPlan, TextPlans};
use crate::session::{ClientSession, is_virtual};
use crate::statement::{Source, keeps_diagnostics};
use crate::status;
use narwal_sql::shape::has_shape;
use narwal_sql::{Prepared, SqlMode, Stmt};
use narwal_types::{Charset, ResultSink, SqlResult, Value};
use std::sync::Arc;

impl ClientSession {
    /// Runs a statement by the plan of its shape, made now if need be. `None` if it has to go the long way.
    pub(crate) fn run_by_shape(
        &mut self,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> Option<SqlResult<()>> {
        let mode = self.env.sql_mode;
        if self.settings.text_plans == 0
            || self.internal
            || !has_shape(text)
            || mode.has(SqlMode::ANSI_QUOTES)
            || mode.has(SqlMode::NO_BACKSLASH_ESCAPES)
            || mode.has(SqlMode::EMPTY_STRING_IS_NULL)
            || self.env.collation.charset() != Charset::Utf8mb4
        {
            return None;
        }
        // The session runs one statement at a time: nobody misses its plans meanwhile.
        let mut plans = std::mem::take(&mut self.text_plans);
        let r = self
            .plan_of_shape(&mut plans, text)
            .map(|p| self.run_text_plan(&p, &mut plans.values, text, out, more));
        self.text_plans = plans;
        r
    }

    /// The plan for a statement; the values of its slots are in `plans`.
    fn plan_of_shape(&mut self, plans: &mut TextPlans, text: &str) -> Option<Arc<TextPlan>> {
        if !plans.shape.read(text) {
            return None;
        }
        let version = (
            self.instance.database().catalog_version(),
            self.plan_generation,
        );
        let known = match plans.find(text, version) {
            Found::Never => return None,
            Found::Nothing => None,
            Found::Slots(s) => Some(s),
            Found::Plan(p) => {
                if p.version == version
                    && p.db == self.env.db
                    && !p.plan.is_worn(self.instance.database(), &*self.vars)
                {
                    self.process.counters.add(status::TEXT_PLAN_HITS, 1);
                    return plans
                        .shape
                        .values(text, &p.slots, &mut plans.values)
                        .then_some(p)
                        .filter(|p| p.takes(&plans.values));
                }
                Some(p.slots.clone())
            }
        };
        self.process.counters.add(status::TEXT_PLAN_MISSES, 1);
        let room = self.settings.text_plans;
        let slots = match known {
            Some(s) => s,
            None => {
                let code = plans.shape.with_placeholders(text, None);
                let slots: Arc<[bool]> = match self.parse(&code) {
                    Ok(stmt) if !keeps_diagnostics(&stmt) => plans.shape.slots(&stmt).into(),
                    _ => {
                        plans.put_shape(Kind::Never(version), room);
                        return None;
                    }
                };
                if !slots.iter().all(|s| *s) {
                    let kind = Kind::Some {
                        slots: slots.clone(),
                        hits: 0,
                        misses: 0,
                    };
                    plans.put_shape(kind, room);
                }
                slots
            }
        };
        if !plans.shape.values(text, &slots, &mut plans.values) {
            return None;
        }
        plans.shape.key_with_fixed(text, &slots, &mut plans.key);
        let key = std::mem::take(&mut plans.key);
        let made = self.make_text_plan(plans, text, slots);
        let kind = match &made {
            Some(p) => Kind::Plan(p.clone()),
            None => Kind::Never(version),
        };
        plans.put(&key, kind, room);
        plans.key = key;
        made.filter(|p| p.takes(&plans.values))
    }

    /// Plans a statement whose slots' values are in `plans`; `None` if a plan can't be kept, or there is an error, which
    /// the long way will find again.
    fn make_text_plan(
        &mut self,
        plans: &TextPlans,
        text: &str,
        slots: Arc<[bool]>,
    ) -> Option<Arc<TextPlan>> {
        let code = plans.shape.with_placeholders(text, Some(&slots));
        let stmt = self.parse(&code).ok()?;
        if !matches!(
            stmt,
            Stmt::Select(_) | Stmt::Insert(_) | Stmt::Update(_) | Stmt::Delete(_)
        ) {
            return None;
        }
        let warnings = self.env.warning_count();
        self.env.ascii_slots.set(false);
        let plan = self.plan_with_slots(&stmt, text, &plans.values).ok()?;
        // Warnings of planning belong to each execution.
        if self.env.warning_count() != warnings
            || plan.is_tableless()
            || plan.params() != plans.values.len()
            || plan.needs().is_empty()
            || plan.needs().iter().any(|n| is_virtual(&n.db))
        {
            return None;
        }
        Some(Arc::new(TextPlan {
            counter: status::counter(stmt.counter()),
            stmt,
            slots,
            db: self.env.db.clone(),
            ascii: self.env.ascii_slots.get(),
            version: (plan.catalog_version(), self.plan_generation),
            plan,
        }))
    }

    /// Plans a statement whose `?` are slots for such values.
    pub(crate) fn plan_with_slots(
        &mut self,
        stmt: &Stmt,
        text: &str,
        values: &[Value],
    ) -> SqlResult<Prepared> {
        *self.env.slots.borrow_mut() = values.to_vec();
        let plan = self.plan(stmt, text);
        self.env.slots.borrow_mut().clear();
        plan
    }

    fn run_text_plan(
        &mut self,
        p: &TextPlan,
        values: &mut Vec<Value>,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.begin_statement(p.counter, false);
        let from = Source::Shape(&p.stmt, values);
        let r = self.run_plan(&p.plan, from, p.stmt.writes(), text, values, out, more);
        values.clear();
        r
    }
}
