//! Running HANDLER ... READ: a few entries of an index, from where the handler is.

use super::outcome::Outcome;
use super::select::limit_of;
use crate::exec::context::RunCtx;
use crate::expr::node::{ImageRow, NoRow};
use crate::handlers::{At, Place};
use crate::plan::dml::{store_mode, store_target};
use crate::plan::handler::{HandlerPlan, KeyComparison, KeyValue, Step};
use crate::plan::query::Out;
use crate::status_counts::StatusCount;
use crate::zone::seen;
use narwal_engine::{KeyRange, ReadView, Transaction};
use narwal_types::convert::{NoWarnings, implicit_default, store};
use narwal_types::{ResultSink, SqlResult, Value, ValueRef, key};
use smallvec::SmallVec;
use std::ops::Bound;

/// What is to be read, and where the handler is if there is nothing.
struct Way {
    range: KeyRange,
    backwards: bool,
    nothing: At,
}

impl HandlerPlan {
    /// Sends the rows, and moves the handler.
    pub fn run(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        sink.begin_plan_rows(&self.columns)?;
        let (mut skip, mut left) = (0, 1);
        if let Some(l) = &self.limit {
            skip = l.offset.as_ref().map_or(Ok(0), |e| limit_of(e, ctx))?;
            left = l
                .count
                .as_ref()
                .map_or(Ok(u64::MAX), |e| limit_of(e, ctx))?;
        }
        let mut rows = 0;
        if left > 0
            && let Some(way) = self.way(ctx)?
        {
            let mut on = None;
            let mut looked_at = 0u32;
            let (backwards, view) = (way.backwards, ReadView::Snapshot);
            let mut scan = txn.scan(&self.table, self.index, way.range, backwards, view, false)?;
            while left > 0
                && let Some(item) = scan.next()?
            {
                looked_at = looked_at.wrapping_add(1);
                if looked_at & 0xff == 0 {
                    ctx.env.check_interrupt()?;
                }
                let key = on.get_or_insert_with(Vec::new);
                key.clear();
                key.extend_from_slice(item.key);
                if !self.matches(item.row, ctx)? {
                    continue;
                }
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                self.send(item.row, ctx, sink)?;
                rows += 1;
                left -= 1;
            }
            let step = match backwards {
                true => StatusCount::HandlerReadPrev,
                false => StatusCount::HandlerReadNext,
            };
            ctx.env.status_counts.add(step, looked_at.into());
            // Without a limit it went behind its last row.
            let at = match on {
                Some(key) if left == 0 || matches!(way.nothing, At::Before(_)) => At::Entry(key),
                _ => way.nothing,
            };
            self.leave(ctx, at);
        }
        Ok(Outcome::Rows {
            rows,
            found_rows: ctx.env.found_rows,
        })
    }

    fn leave(&self, ctx: &RunCtx<'_>, at: At) {
        let place = Place {
            index: self.table.indexes[self.index].id,
            scan: self.scan,
            at,
        };
        ctx.env.handlers.leave(&self.name, place);
    }

    fn matches(&self, row: &[u8], ctx: &RunCtx<'_>) -> SqlResult<bool> {
        let layout = &self.table.layout;
        match &self.filter {
            Some(f) => f.matches(ctx, &ImageRow { layout, row }),
            None => Ok(true),
        }
    }

    fn send(&self, row: &[u8], ctx: &RunCtx<'_>, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let layout = &self.table.layout;
        let mut computed: SmallVec<[Value; 2]> = SmallVec::new();
        for i in &self.items {
            if let Out::Expr(e) = i {
                computed.push(e.eval(ctx, &ImageRow { layout, row })?);
            }
        }
        let mut computed = computed.iter();
        let mut values: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
        for i in &self.items {
            values.push(match i {
                Out::Column { column, timestamp } => {
                    let v = layout.column(row, *column)?;
                    match timestamp {
                        true => seen(v, ctx.env.time_zone),
                        false => v,
                    }
                }
                Out::Expr(_) => computed.next().map_or(ValueRef::Null, Value::as_ref),
            });
        }
        sink.row(&values)
    }

    /// The way that this READ goes; `None` leads nowhere.
    fn way(&self, ctx: &RunCtx<'_>) -> SqlResult<Option<Way>> {
        let (op, values) = match &self.step {
            Step::End(backwards) => return Ok(Some(Way::all(*backwards))),
            Step::On(backwards) => {
                let id = self.table.indexes[self.index].id;
                let place = ctx.env.handlers.place(&self.name);
                return Ok(
                    match place.filter(|p| p.index == id && p.scan == self.scan) {
                        None => Some(Way::all(*backwards)),
                        Some(p) => p.at.onward(*backwards).map(|range| Way {
                            range,
                            ..Way::all(*backwards)
                        }),
                    },
                );
            }
            Step::Key(op, values) => (*op, values),
        };
        Ok(Some(Way::to_key(op, self.key(values, ctx)?)))
    }

    /// The first parts of a key, in the form of the index. Values are made to fit the columns, as if they were stored.
    fn key(&self, values: &[KeyValue], ctx: &RunCtx<'_>) -> SqlResult<Vec<u8>> {
        let mut out = Vec::new();
        let mode = store_mode(ctx.env, true, true);
        for (v, part) in values.iter().zip(&self.table.indexes[self.index].parts) {
            let target = store_target(&self.table, part.column);
            let v = match v {
                KeyValue::Default(v) => v.clone(),
                KeyValue::Expr(e) => match e.eval(ctx, &NoRow)? {
                    Value::Null if part.nullable => Value::Null,
                    Value::Null => implicit_default(target.ty),
                    v => store(v.as_ref(), &target, 1, &mode, &mut NoWarnings)?,
                },
            };
            key::encode_value(v.as_ref(), target.ty, part, &mut out)?;
        }
        Ok(out)
    }
}

impl Way {
    fn all(backwards: bool) -> Way {
        Way {
            range: KeyRange::all(),
            backwards,
            nothing: match backwards {
                true => At::Start,
                false => At::End,
            },
        }
    }

    fn to_key(op: KeyComparison, key: Vec<u8>) -> Way {
        let behind = || key::successor(&key);
        let from = |k: Vec<u8>| Bound::Included(k);
        let up_to = |k: Option<Vec<u8>>| k.map_or(Bound::Unbounded, Bound::Excluded);
        let (start, end, backwards) = match op {
            KeyComparison::Equal => (from(key.clone()), up_to(behind()), false),
            KeyComparison::AtLeast => (from(key), Bound::Unbounded, false),
            KeyComparison::Greater => match behind() {
                Some(k) => (from(k), Bound::Unbounded, false),
                None => (Bound::Excluded(key), Bound::Unbounded, false),
            },
            KeyComparison::AtMost => (Bound::Unbounded, up_to(behind()), true),
            KeyComparison::Less => (Bound::Unbounded, up_to(Some(key)), true),
        };
        let nothing = match (&start, op) {
            (Bound::Included(k), KeyComparison::Equal) => At::Before(k.clone()),
            _ if backwards => At::Start,
            _ => At::End,
        };
        Way {
            range: KeyRange { start, end },
            backwards,
            nothing,
        }
    }
}
