//! Which sorts the window functions of a SELECT need, and in which order they are computed.

use crate::expr::window::{WindowCall, WindowKey};
use crate::expr::{Expr, ExprKind};
use crate::plan::query::{GroupPlan, SortKey, WindowPlan, WindowSort};

/// A sort while calls are put under it.
struct Gathering {
    keys: Vec<WindowKey>,
    partition: usize,
    /// Places in the list of calls.
    calls: Vec<usize>,
}

impl Gathering {
    /// True if rows sorted for it are sorted for the call.
    fn serves(&self, c: &WindowCall) -> bool {
        let (partition, order) = self.keys.split_at(self.partition);
        *partition == *c.partition && order.starts_with(&c.order)
    }
}

/// Parts the calls into sorts: calls of one partition share one if the order of one begins with that of the other.
fn gather(calls: &[WindowCall]) -> Vec<Gathering> {
    let mut by_length: Vec<usize> = (0..calls.len()).collect();
    by_length.sort_by_key(|i| std::cmp::Reverse(calls[*i].order.len()));
    let mut sorts: Vec<Gathering> = Vec::new();
    for i in by_length {
        let c = &calls[i];
        match sorts.iter_mut().find(|s| s.serves(c)) {
            Some(s) => s.calls.push(i),
            None => sorts.push(Gathering {
                keys: c.partition.iter().chain(&c.order).cloned().collect(),
                partition: c.partition.len(),
                calls: vec![i],
            }),
        }
    }
    for s in &mut sorts {
        s.calls.sort_unstable();
    }
    sorts.sort_by_key(|s| s.calls[0]);
    sorts
}

/// Plans the calls. The second result: for each call its place behind the values that stand before.
pub fn plan_windows(calls: Vec<WindowCall>) -> (WindowPlan, Vec<usize>) {
    let mut places = vec![0; calls.len()];
    let mut calls: Vec<Option<WindowCall>> = calls.into_iter().map(Some).collect();
    let given: Vec<WindowCall> = calls.iter().flatten().cloned().collect();
    let mut sorted = Vec::with_capacity(calls.len());
    let mut sorts = Vec::new();
    for g in gather(&given) {
        let start = sorted.len();
        for i in &g.calls {
            places[*i] = sorted.len();
            sorted.extend(calls[*i].take());
        }
        let length = |c: &WindowCall| c.partition.len() + c.order.len();
        let mut levels: Vec<usize> = sorted[start..].iter().map(length).collect();
        levels.push(g.partition);
        levels.sort_unstable();
        levels.dedup();
        let level_of = (sorted[start..].iter())
            .map(|c| levels.iter().position(|l| *l == length(c)).unwrap_or(0))
            .collect();
        let key = |k: WindowKey| SortKey {
            expr: k.expr,
            desc: k.desc,
        };
        sorts.push(WindowSort {
            keys: g.keys.into_iter().map(key).collect(),
            partition: g.partition,
            levels,
            calls: start..sorted.len(),
            level_of,
        });
    }
    let plan = WindowPlan {
        calls: sorted,
        sorts,
        order: Vec::new(),
        behind: 0,
        columns: Vec::new(),
    };
    (plan, places)
}

/// Puts the places of the values of window functions into an expression: `places` counts from `behind` on.
fn place(e: &mut Expr, behind: usize, places: &[usize]) {
    match &e.kind {
        ExprKind::Window(n) => {
            let place = behind + places.get(*n).copied().unwrap_or(0);
            e.kind = ExprKind::Aggregate(place, "window function".into());
        }
        _ => e.for_each_child_mut(&mut |c| place(c, behind, places)),
    }
}

/// Plans the window functions of a SELECT, and puts their places into its items and its ORDER BY, which becomes theirs.
pub fn settle_windows(
    calls: Vec<WindowCall>,
    group: Option<&GroupPlan>,
    items: &mut [Expr],
    order: &mut Vec<SortKey>,
) -> Option<WindowPlan> {
    if calls.is_empty() {
        return None;
    }
    let (mut plan, places) = plan_windows(calls);
    plan.behind = group.map_or(0, |g| g.aggregates.len() + g.rolled() + g.computed.len());
    let orders = order.iter_mut().map(|k| &mut k.expr);
    for e in items.iter_mut().chain(orders) {
        place(e, plan.behind, &places);
    }
    plan.order = std::mem::take(order);
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::ExprType;
    use crate::expr::window::{Bound, Computes, Frame, WindowFunc};
    use narwal_types::Value;

    fn call(partition: &[i64], order: &[i64]) -> WindowCall {
        let keys = |l: &[i64]| {
            l.iter()
                .map(|n| WindowKey {
                    expr: Expr {
                        kind: ExprKind::Literal(Value::Int(*n)),
                        ty: ExprType::bigint(false, false),
                    },
                    desc: *n < 0,
                })
                .collect()
        };
        WindowCall {
            computes: Computes::Func(WindowFunc::RowNumber, Vec::new()),
            partition: keys(partition),
            order: keys(order),
            frame: Frame {
                start: Bound::Unbounded,
                end: Bound::Peers,
            },
            ty: ExprType::bigint(false, false),
        }
    }

    #[test]
    fn calls_whose_order_begins_alike_share_a_sort() {
        let (p, places) = plan_windows(vec![
            call(&[1], &[2]),
            call(&[1], &[3]),
            call(&[1], &[2, 3]),
            call(&[1], &[]),
            call(&[], &[2]),
            call(&[1], &[-2]),
        ]);
        assert_eq!(p.sorts.len(), 4);
        let first = &p.sorts[0];
        assert_eq!((first.keys.len(), first.partition), (3, 1));
        assert_eq!(first.calls, 0..3);
        assert_eq!(
            (&first.levels[..], &first.level_of[..]),
            (&[1, 2, 3][..], &[1, 2, 0][..])
        );
        assert_eq!(places, [0, 3, 1, 2, 4, 5]);
    }
}
