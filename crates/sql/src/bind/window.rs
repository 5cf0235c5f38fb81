//! Calls of window functions. A call's arguments are bound where it stands; its window is bound when the select list is known,
//! whose names PARTITION BY and ORDER BY may use.

use super::binder::{Binder, as_operand, member_as_text};
use super::scope::{Clause, Scope};
use super::windows::{Pending, WindowsHere};
use crate::expr::fixed;
use crate::expr::functions::window::{Wants, WindowFunction, lookup};
use crate::expr::node::{AggFunc, Aggregate, ArithOp, Expr, ExprKind, ExprType, make};
use crate::expr::types::Class;
use crate::expr::window::{Bound, Computes, Frame, WindowCall, WindowFunc, WindowKey};
use crate::twice::first_twice;
use narwal_syntax::ast::{
    Call, Expr as Ast, FrameBound, FrameExclude, FrameUnit, Literal, OrderItem, Over, WindowSpec,
};
use narwal_types::errors;
use narwal_types::{Decimal, Name, SqlError, SqlResult, Value};

/// Error 4015.
pub fn not_here() -> SqlError {
    errors::WRONG_PLACEMENT_OF_WINDOW_FUNCTION.plain()
}

/// Fails if an expression has a window function, by way of a name of the select list.
pub fn refuse_window(e: &Expr) -> SqlResult<()> {
    match e.has_window() {
        true => Err(not_here()),
        false => Ok(()),
    }
}

/// A window, with what it takes from one that it names.
pub fn resolve(over: &Over, named: &[(String, WindowSpec)]) -> SqlResult<WindowSpec> {
    match over {
        Over::Window(w) => complete(w, named),
        Over::Name(name) => find(name, named).and_then(|(at, w)| complete(w, &named[..at])),
    }
}

fn find<'n>(name: &str, named: &'n [(String, WindowSpec)]) -> SqlResult<(usize, &'n WindowSpec)> {
    let at = named.iter().position(|(n, _)| n.same_name(name));
    match at {
        Some(at) => Ok((at, &named[at].1)),
        None => Err(errors::WRONG_WINDOW_SPEC_NAME.with([&name])),
    }
}

fn complete(w: &WindowSpec, named: &[(String, WindowSpec)]) -> SqlResult<WindowSpec> {
    let Some(name) = &w.base else {
        return Ok(w.clone());
    };
    let (at, base) = find(name, named)?;
    let base = complete(base, &named[..at])?;
    if !w.partition_by.is_empty() {
        return Err(errors::PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC.with([&name]));
    }
    if !w.order_by.is_empty() && !base.order_by.is_empty() {
        return Err(errors::ORDER_LIST_IN_REFERENCING_WINDOW_SPEC.with([&name]));
    }
    if base.frame.is_some() {
        return Err(errors::WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC.with([&name]));
    }
    Ok(WindowSpec {
        base: None,
        partition_by: base.partition_by,
        order_by: match w.order_by.is_empty() {
            true => base.order_by,
            false => w.order_by.clone(),
        },
        frame: w.frame.clone(),
    })
}

/// Checks the windows of WINDOW, used or not.
pub fn check_named(named: &[(String, WindowSpec)]) -> SqlResult<()> {
    if let Some(twice) = first_twice(named.iter().map(|(n, _)| n.as_str())) {
        return Err(errors::DUP_WINDOW_NAME.with([&twice]));
    }
    for (i, (_, w)) in named.iter().enumerate() {
        complete(w, &named[..i])?;
    }
    Ok(())
}

impl Binder<'_> {
    /// A call with OVER.
    pub(super) fn window_call(&self, f: &Call, over: &Over) -> SqlResult<Expr> {
        let list = match self.scope.windows {
            WindowsHere::Allowed(list) => list,
            WindowsHere::InArgument => {
                return Err(errors::SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG.plain());
            }
            WindowsHere::Refused => return Err(not_here()),
        };
        let spec = resolve(over, list.named)?;
        let name = f.name.to_ascii_lowercase();
        let inner = Scope {
            windows: WindowsHere::InArgument,
            ..*self.scope
        };
        let inner = Binder { scope: &inner };
        let mut pending = match (AggFunc::named(&name), lookup(&name)) {
            (Some(func), _) => inner.window_aggregate(func, f)?,
            (None, Some(w)) => inner.window_function(w, f)?,
            _ => return Err(SqlError::syntax(format!("OVER behind {name}()"))),
        };
        pending.spec = spec;
        let ty = pending.ty;
        let mut all = list.calls.borrow_mut();
        let n = match all.iter().position(|p| *p == pending) {
            Some(n) => n,
            None => {
                all.push(pending);
                all.len() - 1
            }
        };
        Ok(make(ExprKind::Window(n), ty))
    }

    /// An aggregate over a window.
    fn window_aggregate(&self, func: AggFunc, f: &Call) -> SqlResult<Pending> {
        let refused = |what: &str| {
            Err(SqlError::unsupported(format!(
                "{what} aggregate as window function"
            )))
        };
        match func {
            AggFunc::GroupConcat => return refused("GROUP_CONCAT()"),
            AggFunc::JsonArray => return refused("JSON_ARRAYAGG()"),
            AggFunc::JsonObject => return refused("JSON_OBJECTAGG()"),
            AggFunc::Rows => return refused("a stored"),
            AggFunc::Count if f.distinct => return refused("COUNT(DISTINCT)"),
            AggFunc::Sum if f.distinct => return refused("SUM(DISTINCT)"),
            AggFunc::Avg if f.distinct => return refused("AVG(DISTINCT)"),
            _ => {}
        }
        let mut args = Vec::with_capacity(f.args.len());
        for e in &f.args {
            args.push(match self.expr(e)? {
                e if func.is_numeric() => as_operand(e),
                e if matches!(func, AggFunc::Min | AggFunc::Max) => member_as_text(e),
                e => e,
            });
        }
        fixed::check_aggregate(func, false, &args)?;
        let ty = func.ty(&args, self.scope.env.div_precision)?;
        Ok(Pending {
            computes: Computes::Aggregate(Box::new(Aggregate {
                func,
                distinct: false,
                args,
                separator: Box::default(),
                list: None,
                ty,
            })),
            ty,
            name: func.name(),
            wants: Wants::Frame,
            spec: WindowSpec::default(),
            within: Vec::new(),
        })
    }

    /// A function that is nothing but a window function.
    fn window_function(&self, w: &'static WindowFunction, f: &Call) -> SqlResult<Pending> {
        let mut args = f
            .args
            .iter()
            .map(|e| self.expr(e).map(member_as_text))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut within = Vec::new();
        if w.kind == Wants::Group {
            within = match f.clauses.as_ref().and_then(|c| c.within_group.as_ref()) {
                Some(order) => order.clone(),
                // MEDIAN(x)
                None => {
                    let order = f
                        .args
                        .first()
                        .cloned()
                        .map(|expr| OrderItem { expr, desc: false });
                    args = vec![Expr::literal(Value::Decimal(
                        Decimal::parse("0.5").unwrap_or_default(),
                    ))];
                    order.into_iter().collect()
                }
            };
            let share = args.first().map(|a| &a.ty);
            if share.is_none_or(|t| t.null || !is_number(t)) {
                let name = crate::expr::functions::window::name_of(w.func);
                return Err(errors::WRONG_TYPE_OF_ARGUMENT.with([&name]));
            }
        }
        // The type of a percentile is known when its order is.
        let ty = match within.first() {
            Some(order) => {
                let mut typed = args.clone();
                typed.push(self.expr(&order.expr)?);
                w.ty(&typed, self.scope.env.div_precision)?
            }
            None => w.ty(&args, self.scope.env.div_precision)?,
        };
        Ok(Pending {
            computes: Computes::Func(w.func, args),
            ty,
            name: w.name,
            wants: w.kind,
            spec: WindowSpec::default(),
            within,
        })
    }

    /// Binds the window of a call.
    fn window_of(&self, p: Pending) -> SqlResult<WindowCall> {
        let scope = |clause| Scope {
            clause,
            windows: WindowsHere::Refused,
            ..*self.scope
        };
        let (by, ordering) = (scope(Clause::GroupBy), scope(Clause::OrderBy));
        let partition = keys(&Binder { scope: &by }, &p.spec.partition_by)?;
        let order = match p.wants {
            Wants::Group => &p.within,
            _ => &p.spec.order_by,
        };
        let binder = Binder { scope: &ordering };
        let order = keys(&binder, order)?;
        let mut computes = p.computes;
        if let (Wants::Group, Computes::Func(func, args)) = (p.wants, &mut computes)
            && let Some(key) = order.first()
        {
            if *func == WindowFunc::PercentileCont && !is_number(&key.expr.ty) {
                return Err(errors::WRONG_TYPE_FOR_PERCENTILE_FUNC.with([&"percentile_cont"]));
            }
            args.push(key.expr.clone());
        }
        match p.wants {
            Wants::Order | Wants::NoFrame if p.spec.frame.is_some() => {
                return Err(errors::NOT_ALLOWED_WINDOW_FRAME.with([&p.name]));
            }
            Wants::Order | Wants::OrderAlone if order.is_empty() => {
                return Err(errors::NO_ORDER_LIST_IN_WINDOW_SPEC.with([&p.name]));
            }
            _ => {}
        }
        let frame = match &p.spec.frame {
            Some(f) => binder.frame(f, &order)?,
            None => Frame {
                start: Bound::Unbounded,
                end: match order.is_empty() {
                    true => Bound::Unbounded,
                    false => Bound::Peers,
                },
            },
        };
        Ok(WindowCall {
            computes,
            partition,
            order,
            frame,
            ty: p.ty,
        })
    }

    fn frame(&self, f: &narwal_syntax::ast::Frame, order: &[WindowKey]) -> SqlResult<Frame> {
        use FrameBound::{
            CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding,
        };
        if !matches!(f.exclude, None | Some(FrameExclude::NoOthers)) {
            return Err(errors::FRAME_EXCLUSION_NOT_SUPPORTED.plain());
        }
        let end = f.end.as_ref().unwrap_or(&CurrentRow);
        let fits = match (&f.start, end) {
            (UnboundedFollowing, _) | (_, UnboundedPreceding) => false,
            (CurrentRow, Preceding(_)) | (Following(_), CurrentRow | Preceding(_)) => {
                // A frame that ends before it begins has no rows.
                matches!((&f.start, end), (Following(_), Preceding(_)))
            }
            _ => true,
        };
        if !fits {
            return Err(errors::BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS.plain());
        }
        Ok(Frame {
            start: self.bound_of(f.unit, &f.start, order)?,
            end: self.bound_of(f.unit, end, order)?,
        })
    }

    fn bound_of(
        &self,
        unit: FrameUnit,
        bound: &FrameBound,
        order: &[WindowKey],
    ) -> SqlResult<Bound> {
        let (amount, before) = match bound {
            FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => {
                return Ok(Bound::Unbounded);
            }
            FrameBound::CurrentRow => {
                return Ok(match unit {
                    FrameUnit::Rows => Bound::Row(0),
                    FrameUnit::Range => Bound::Peers,
                });
            }
            FrameBound::Preceding(n) => (&**n, true),
            FrameBound::Following(n) => (&**n, false),
        };
        match unit {
            FrameUnit::Rows => {
                let rows = match amount {
                    Ast::Literal(Literal::Number(n)) => n.parse::<u64>().ok(),
                    Ast::Literal(Literal::Bool(b)) => Some(u64::from(*b)),
                    _ => None,
                };
                let Some(rows) = rows else {
                    return Err(errors::WRONG_TYPE_FOR_ROWS_FRAME.plain());
                };
                // No partition has more rows.
                let rows = i64::try_from(rows).unwrap_or(i64::MAX);
                Ok(Bound::Row(if before { -rows } else { rows }))
            }
            FrameUnit::Range => {
                let [key] = order else {
                    return Err(errors::RANGE_FRAME_NEEDS_SIMPLE_ORDERBY.plain());
                };
                let number = matches!(amount, Ast::Literal(Literal::Number(_) | Literal::Bool(_)));
                if !number || !is_number(&key.expr.ty) {
                    return Err(errors::WRONG_TYPE_FOR_RANGE_FRAME.plain());
                }
                let op = match before != key.desc {
                    true => ArithOp::Sub,
                    false => ArithOp::Add,
                };
                let sum = self.arith(op, key.expr.clone(), self.expr(amount)?)?;
                Ok(Bound::Value(Box::new(sum)))
            }
        }
    }
}

/// True for numbers, and not for texts, times or NULL that become some.
fn is_number(t: &ExprType) -> bool {
    let temporal = t.ty.is_temporal() && !matches!(t.ty.kind, narwal_types::TypeKind::Year);
    !t.ty.is_string() && !temporal && !t.null && t.class() <= Class::Double
}

fn keys(binder: &Binder<'_>, list: &[OrderItem]) -> SqlResult<Vec<WindowKey>> {
    list.iter()
        .map(|o| {
            let expr = binder.expr(&o.expr)?;
            if expr.has_window() {
                return Err(errors::WINDOW_FUNCTION_IN_WINDOW_SPEC.plain());
            }
            Ok(WindowKey { expr, desc: o.desc })
        })
        .collect()
}

/// Binds the windows of calls that were collected, in the scope of ORDER BY.
pub fn bind_windows(calls: Vec<Pending>, scope: &Scope<'_>) -> SqlResult<Vec<WindowCall>> {
    let binder = Binder { scope };
    calls.into_iter().map(|p| binder.window_of(p)).collect()
}
