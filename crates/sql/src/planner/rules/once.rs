//! Select items whose every evaluation gives something else (RAND(), an assignment to a user variable), and that other
//! clauses name: what is shown is the value that counted.
//!
//! While a SELECT is bound, clauses that name such an item hold it as [`ExprKind::Item`]. [`settle`] then decides where it is
//! computed: with the row, if it is a key of GROUP BY or rows are sorted by something volatile (then all items are, as if
//! they went through a temporary table); with the group, behind its aggregates; or, as HAVING without groups does, in each
//! place anew.

use crate::expr::node::{Expr, ExprKind};
use crate::plan::query::Computed;
use crate::plan::query::GroupPlan;
use crate::plan::query::SortKey;
use narwal_engine::Table;
use narwal_types::SqlResult;

/// What of a SELECT names its items.
pub struct Clauses<'a> {
    /// The select list.
    pub items: &'a mut [Expr],
    /// Its groups.
    pub group: Option<&'a mut GroupPlan>,
    /// HAVING.
    pub having: Option<&'a mut Expr>,
    /// ORDER BY.
    pub order: &'a mut [SortKey],
}

impl Expr {
    /// The same, marked as the n-th select item.
    pub fn as_item(&self, n: usize) -> Expr {
        Expr {
            kind: ExprKind::Item(n, Box::new(self.clone())),
            ty: self.ty,
        }
    }

    /// Itself without the mark of [`Expr::as_item`].
    pub fn without_mark(&self) -> &Expr {
        match &self.kind {
            ExprKind::Item(_, e) => e,
            _ => self,
        }
    }

    /// Takes all marks off.
    pub fn take_marks_off(&mut self) {
        if let ExprKind::Item(_, e) = &mut self.kind {
            self.kind = std::mem::replace(&mut e.kind, ExprKind::Param(0));
        }
        self.for_each_child_mut(&mut Expr::take_marks_off);
    }
}

/// A value that is kept: the item that it is, or an expression that any may be, and how it is got at.
struct Kept {
    item: Option<usize>,
    expr: Expr,
    place: ExprKind,
}

/// Reads kept values from where they are kept.
fn read_kept(e: &mut Expr, kept: &[Kept]) {
    let found = match &e.kind {
        ExprKind::Item(n, _) => kept.iter().find(|k| k.item == Some(*n)),
        _ => None,
    };
    match found.or_else(|| kept.iter().find(|k| k.expr == *e)) {
        Some(k) => e.kind = k.place.clone(),
        None => e.for_each_child_mut(&mut |c| read_kept(c, kept)),
    }
}

/// True if the keys tell all rows of a table apart.
fn one_row_each(g: &GroupPlan, table: &Table) -> bool {
    let is_key = |c: usize| (g.keys.iter()).any(|k| k.expr.as_column().is_some_and(|k| k.1 == c));
    let unique = |i: &narwal_engine::Index| {
        i.unique
            && !i.parts.is_empty()
            && (i.parts.iter()).all(|p| p.prefix.is_none() && is_key(p.column) && !p.nullable)
    };
    g.aggregates.is_empty() && !g.rollup && table.indexes.iter().any(unique)
}

/// A value that stands behind the columns of a row.
fn behind_columns(column: usize) -> ExprKind {
    ExprKind::Column {
        source: 0,
        column,
        timestamp: false,
        name: Box::default(),
    }
}

/// ROWNUM() is the number of the row as it was read: it goes with the row, whatever sorts or groups come behind.
fn number_rows<'e>(
    exprs: impl Iterator<Item = &'e mut Expr>,
    table: Option<&Table>,
    with_row: &mut dyn FnMut(&Expr) -> ExprKind,
) {
    fn replace(
        e: &mut Expr,
        place: &mut Option<ExprKind>,
        with_row: &mut dyn FnMut(&Expr) -> ExprKind,
    ) {
        if matches!(&e.kind, ExprKind::Func { func, .. } if func.name() == "rownum") {
            e.kind = place.get_or_insert_with(|| with_row(e)).clone();
        }
        e.for_each_child_mut(&mut |c| replace(c, place, with_row));
    }
    if table.is_none() {
        return;
    }
    let mut place = None;
    for e in exprs.filter(|e| e.numbers_rows()) {
        replace(e, &mut place, with_row);
    }
}

/// Decides where volatile items are computed, and takes all marks off. `table`: what gives the rows. Returns what is to be
/// computed with each row.
pub fn settle(
    clauses: Clauses<'_>,
    table: Option<&Table>,
    volatile: &dyn Fn(&Expr) -> bool,
) -> SqlResult<Option<Computed>> {
    let Clauses {
        items,
        mut group,
        mut having,
        order,
    } = clauses;
    let keys = group.as_ref().map_or(&[][..], |g| &g.keys);
    if !items.iter().any(volatile)
        && !(keys.iter().chain(order.iter())).any(|k| volatile(&k.expr))
        && !having.as_ref().is_some_and(|h| h.numbers_rows())
    {
        return Ok(None);
    }
    let width = table.map_or(0, |t| t.columns().len());
    let mut exprs: Vec<Expr> = Vec::new();
    let mut kept: Vec<Kept> = Vec::new();
    let mut with_row = |expr: &Expr, item: Option<usize>, kept: &mut Vec<Kept>| {
        let place = behind_columns(width + exprs.len());
        exprs.push(expr.clone());
        kept.push(Kept {
            item,
            expr: expr.clone(),
            place: place.clone(),
        });
        place
    };
    number_rows(
        (items.iter_mut())
            .chain(having.iter_mut().map(|e| &mut **e))
            .chain(order.iter_mut().map(|k| &mut k.expr))
            .chain(
                group
                    .iter_mut()
                    .flat_map(|g| &mut g.keys)
                    .map(|k| &mut k.expr),
            ),
        table,
        &mut |e| with_row(e, None, &mut kept),
    );
    if let Some(g) = &mut group {
        for k in g.keys.iter_mut().filter(|k| volatile(&k.expr)) {
            if table.is_none() {
                continue;
            }
            let item = match &k.expr.kind {
                ExprKind::Item(n, _) => Some(*n),
                _ => None,
            };
            let place = with_row(k.expr.without_mark(), item, &mut kept);
            match item {
                Some(n) => items[n].kind = place.clone(),
                None => items.iter_mut().for_each(|e| read_kept(e, &kept)),
            }
            k.expr.kind = place;
        }
        // A group that is one row is none: its values are computed as it is put out, unless that would be too late.
        let marked = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Item(..)));
        let late = table.is_some_and(|t| one_row_each(g, t))
            && !having.as_ref().is_some_and(|h| marked(h))
            && !order.iter().any(|k| volatile(&k.expr));
        let items = if late { &mut [][..] } else { &mut *items };
        let behind = g.aggregates.len() + g.rolled();
        for (n, e) in items.iter_mut().enumerate() {
            // Window functions come behind the groups.
            if !volatile(e) || e.has_window() {
                continue;
            }
            let place = ExprKind::Aggregate(behind + g.computed.len(), e.to_string().into());
            g.computed.push(e.clone());
            kept.push(Kept {
                item: Some(n),
                expr: e.clone(),
                place: place.clone(),
            });
            e.kind = place;
        }
    } else if table.is_some() && order.iter().any(|k| volatile(&k.expr)) {
        for (n, e) in items.iter_mut().enumerate() {
            if e.as_column().is_none() && !e.is_const() && !e.has_window() {
                e.kind = with_row(e, Some(n), &mut kept);
            }
        }
    }
    let keys = group.into_iter().flat_map(|g| &mut g.keys);
    for e in (having.iter_mut().map(|e| &mut **e))
        .chain(order.iter_mut().chain(keys).map(|k| &mut k.expr))
    {
        read_kept(e, &kept);
        e.take_marks_off();
    }
    match table {
        Some(t) if !exprs.is_empty() => Computed::new(t, exprs).map(Some),
        _ => Ok(None),
    }
}
