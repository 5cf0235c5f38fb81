//! Evaluation of operators.

use super::compare::compare_one;
use super::date::Interval;
use crate::env::StatementEnv;
use crate::expr::IntervalUnit;
use crate::expr::compare::satisfied;
use crate::expr::node::{ArithOp, CmpOp, EvalCtx, Expr, ExprKind, RowAccess};
use crate::expr::value::{Val, Warn, date_rules, with_text};
use crate::like::like;
use crate::zone::seen;
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::collation::char_prefix;
use narwal_types::convert;
use narwal_types::convert::{number_parts, to_bool, to_decimal, to_f64, to_integer};
use narwal_types::decimal::DIV_PRECISION_INCREMENT;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::temporal::{SECOND, TIME_MAX};
use narwal_types::temporal_parse::{datetime_from_number, parse_datetime};
use narwal_types::{
    Charset, Collation, DateTime, Decimal, SqlError, SqlResult, Time, TypeKind, Value, ValueRef,
};
use std::cmp::Ordering;

/// Truth of a value.
#[inline]
pub(crate) fn truth(v: ValueRef<'_>, ctx: &EvalCtx<'_>) -> SqlResult<Option<bool>> {
    Ok(to_bool(v, &mut Warn(ctx.env)))
}

/// The branch of a CASE for a row: `case` is its operand, its WHENs and the collation of their comparison.
fn case_branch<'a>(
    (operand, whens, collation): (Option<&'a Expr>, &'a [(Expr, Expr)], Collation),
    otherwise: Option<&'a Expr>,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Option<&'a Expr>> {
    let subject = match operand {
        Some(o) => Some(o.eval_unrounded(ctx, row)?),
        None => None,
    };
    for (when, then) in whens {
        let w = when.eval_unrounded(ctx, row)?;
        let hit = match &subject {
            Some(s) => {
                compare_one(s.as_ref(), w.as_ref(), collation, ctx.env) == Some(Ordering::Equal)
            }
            None => truth(w.as_ref(), ctx)? == Some(true),
        };
        ctx.env.check_stopped()?;
        if hit {
            return Ok(Some(then));
        }
    }
    Ok(otherwise)
}

impl Expr {
    /// The value for a row, borrowed where it can be.
    #[inline]
    pub fn eval_ref<'a>(&'a self, ctx: &EvalCtx<'a>, row: &'a dyn RowAccess) -> SqlResult<Val<'a>> {
        match &self.kind {
            ExprKind::Column {
                source,
                column,
                timestamp,
                ..
            } => {
                let v = row.column(*source, *column)?;
                if *timestamp {
                    return Ok(as_seen(v, &self.ty.ty, ctx));
                }
                Ok(Val::Ref(v))
            }
            ExprKind::Param(i) | ExprKind::Slot(i) => Ok(Val::Ref(
                ctx.params.get(*i).map_or(ValueRef::Null, Value::as_ref),
            )),
            ExprKind::Literal(v) => Ok(Val::Ref(v.as_ref())),
            _ => self.eval_slow(ctx, row),
        }
    }

    fn eval_slow<'a>(&'a self, ctx: &EvalCtx<'a>, row: &'a dyn RowAccess) -> SqlResult<Val<'a>> {
        ctx.env.check_stopped()?;
        Ok(match &self.kind {
            ExprKind::Column { .. }
            | ExprKind::Param(_)
            | ExprKind::Slot(_)
            | ExprKind::Literal(_) => {
                return self.eval_ref(ctx, row);
            }
            ExprKind::Window(_) => Val::Ref(ValueRef::Null),
            ExprKind::Aggregate(n) => Val::Ref(row.aggregate(*n)),
            ExprKind::Stored(c) => {
                let args = c.args.iter().map(|a| a.eval(ctx, row));
                let args = args.collect::<SqlResult<Vec<Value>>>()?;
                Val::Owned(ctx.subqueries.call(&c.function, args, ctx.env)?)
            }
            ExprKind::Item(_, e) => return e.eval_ref(ctx, row),
            ExprKind::InsertValue(c) => {
                let v = row.insert_value(*c)?;
                let ts = matches!(self.ty.ty.kind, TypeKind::Timestamp(_));
                Val::Ref(if ts { seen(v, ctx.env.time_zone) } else { v })
            }
            ExprKind::And(list) => {
                let mut out = Some(true);
                for e in list {
                    ctx.env.check_stopped()?;
                    match truth(e.eval_unrounded(ctx, row)?.as_ref(), ctx)? {
                        Some(true) => {}
                        Some(false) => return Ok(Val::int(0)),
                        None => out = None,
                    }
                }
                Val::bool(out)
            }
            ExprKind::Or(list) => {
                let mut out = Some(false);
                for e in list {
                    ctx.env.check_stopped()?;
                    match truth(e.eval_unrounded(ctx, row)?.as_ref(), ctx)? {
                        Some(false) => {}
                        Some(true) => return Ok(Val::int(1)),
                        None => out = None,
                    }
                }
                Val::bool(out)
            }
            ExprKind::Xor(a, b) => {
                let a = truth(a.eval_unrounded(ctx, row)?.as_ref(), ctx)?;
                let b = truth(b.eval_unrounded(ctx, row)?.as_ref(), ctx)?;
                Val::bool(a.zip(b).map(|(a, b)| a != b))
            }
            ExprKind::Not(e) => {
                Val::bool(truth(e.eval_unrounded(ctx, row)?.as_ref(), ctx)?.map(|b| !b))
            }
            ExprKind::Compare {
                op,
                left,
                right,
                collation,
            } => {
                // Exact numbers meet with the digits that they show, others with all.
                let l = match right.ty.is_exact() {
                    true => left.eval_ref(ctx, row)?,
                    false => left.eval_unrounded(ctx, row)?,
                };
                if l.is_null() && *op != CmpOp::NullSafeEq {
                    return Ok(Val::NULL);
                }
                let r = match left.ty.is_exact() {
                    true => right.eval_ref(ctx, row)?,
                    false => right.eval_unrounded(ctx, row)?,
                };
                match compare_one(l.as_ref(), r.as_ref(), *collation, ctx.env) {
                    Some(o) => {
                        ctx.env.check_stopped()?;
                        Val::int(satisfied(*op, o) as i64)
                    }
                    None if *op == CmpOp::NullSafeEq => {
                        Val::int((l.is_null() && r.is_null()) as i64)
                    }
                    None => Val::NULL,
                }
            }
            ExprKind::Between {
                expr,
                low,
                high,
                negated,
                collation,
            } => {
                let v = expr.eval_unrounded(ctx, row)?;
                let lo = low.eval_unrounded(ctx, row)?;
                let hi = high.eval_unrounded(ctx, row)?;
                let above = compare_one(v.as_ref(), lo.as_ref(), *collation, ctx.env)
                    .map(|o| o != Ordering::Less);
                let below = compare_one(v.as_ref(), hi.as_ref(), *collation, ctx.env)
                    .map(|o| o != Ordering::Greater);
                let within = match (above, below) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                ctx.env.check_stopped()?;
                Val::bool(within.map(|b| b != *negated))
            }
            ExprKind::InList {
                expr,
                list,
                negated,
                collation,
            } => {
                // A list of one is a comparison with `=`.
                let all = list.len() > 1;
                let value = |e: &'a Expr| match all {
                    true => e.eval_unrounded(ctx, row),
                    false => e.eval_ref(ctx, row),
                };
                let v = value(expr)?;
                if v.is_null() {
                    return Ok(Val::NULL);
                }
                let mut found = Some(false);
                for e in list {
                    let x = value(e)?;
                    match compare_one(v.as_ref(), x.as_ref(), *collation, ctx.env) {
                        Some(Ordering::Equal) => {
                            found = Some(true);
                            break;
                        }
                        Some(_) => {}
                        None => found = None,
                    }
                }
                ctx.env.check_stopped()?;
                Val::bool(found.map(|b| b != *negated))
            }
            ExprKind::Subquery(s) => Val::Owned(ctx.subqueries.value(s, ctx, row)?),
            ExprKind::Outer(n) => Val::Ref(ctx.outer.get(*n).map_or(ValueRef::Null, Value::as_ref)),
            ExprKind::IsNull { expr, negated } => {
                Val::int((expr.eval_ref(ctx, row)?.is_null() != *negated) as i64)
            }
            ExprKind::IsBool {
                expr,
                value,
                negated,
            } => {
                let t = truth(expr.eval_unrounded(ctx, row)?.as_ref(), ctx)?;
                Val::int(((t == Some(*value)) != *negated) as i64)
            }
            ExprKind::Like {
                expr,
                pattern,
                escape,
                negated,
                collation,
            } => {
                let v = expr.eval_ref(ctx, row)?;
                let p = pattern.eval_ref(ctx, row)?;
                if v.is_null() || p.is_null() {
                    return Ok(Val::NULL);
                }
                let m = with_text(v.as_ref(), |t| {
                    with_text(p.as_ref(), |p| like(t, p, *escape, *collation))
                });
                ctx.env.check_interrupt()?;
                Val::int((m != *negated) as i64)
            }
            ExprKind::Arith { .. } => return self.eval_arith(ctx, row, false),
            ExprKind::Neg(e) => return self.negate(e, e.eval_ref(ctx, row)?, ctx),
            ExprKind::BitNot(e) => {
                let v = e.eval_ref(ctx, row)?;
                if v.is_null() {
                    return Ok(Val::NULL);
                }
                Val::Ref(ValueRef::UInt(!bits(v.as_ref(), ctx.env)))
            }
            ExprKind::Case {
                operand,
                whens,
                otherwise,
                collation,
            } => {
                let case = (operand.as_deref(), whens.as_slice(), *collation);
                match case_branch(case, otherwise.as_deref(), ctx, row)? {
                    Some(e) => self.fitted(self.branch_value(e, ctx, row)?, false),
                    None => Val::NULL,
                }
            }
            ExprKind::Cast(e) => {
                // Numbers take all digits of a quotient.
                let v = match self.ty.ty.is_numeric() {
                    true => e.eval_unrounded(ctx, row)?,
                    false => e.eval_ref(ctx, row)?,
                };
                if v.is_null() {
                    return Ok(Val::NULL);
                }
                if e.ty.has_form() && self.ty.ty.is_string() {
                    return self.cast(Val::text(e.ty.formed_text(v.as_ref())), ctx);
                }
                return self.cast(v, ctx);
            }
            ExprKind::Collate(e) => {
                let v = e.eval_ref(ctx, row)?;
                let binary = self.ty.ty.collation == Collation::Binary;
                match v {
                    Val::Ref(ValueRef::Str(s)) if binary => Val::Ref(ValueRef::Bytes(s)),
                    Val::Owned(Value::Str(s)) if binary => {
                        Val::Owned(Value::Bytes(s.into_boxed_bytes()))
                    }
                    v if v.is_null()
                        || matches!(v.as_ref(), ValueRef::Str(_) | ValueRef::Bytes(_)) =>
                    {
                        v
                    }
                    v => {
                        let t = v.as_ref().to_text();
                        if binary {
                            Val::Owned(Value::bytes(t.into_bytes()))
                        } else {
                            Val::text(t)
                        }
                    }
                }
            }
            ExprKind::DateAdd {
                date,
                amount,
                unit,
                negated,
            } => {
                let d = date.eval_ref(ctx, row)?;
                let n = amount.eval_ref(ctx, row)?;
                if d.is_null() || n.is_null() {
                    return Ok(Val::NULL);
                }
                if let (ValueRef::Str(_), IntervalUnit::Day) = (n.as_ref(), unit) {
                    // For its warning.
                    to_integer(n.as_ref(), &mut Warn(ctx.env));
                }
                let Some(mut i) = Interval::from_value(n.as_ref(), *unit) else {
                    return Ok(Val::NULL);
                };
                if *negated {
                    i = i.negate();
                }
                return Ok(self.date_add(d.as_ref(), i, *unit, ctx));
            }
            ExprKind::Func { func, args } => {
                return super::call::call(self, (func, args), ctx, row, false);
            }
            ExprKind::SystemVariable { scope, name } => {
                Val::Owned(ctx.env.variables.system(*scope, name)?)
            }
            ExprKind::UserVariable(name) => Val::Owned(ctx.env.variables.user(name)),
            ExprKind::SetUserVariable(name, e) => {
                let v = e.eval_ref(ctx, row)?.into_value();
                ctx.env.variables.set_user(name, v.clone());
                Val::Owned(v)
            }
        })
    }

    /// The value with all digits that a quotient of exact numbers was computed to: what is computed with, added up by SUM and
    /// AVG, asked for its truth, and stored. Rounded to the digits of the type is what is shown and compared by `=` and `<`.
    pub(crate) fn eval_unrounded<'a>(
        &'a self,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
    ) -> SqlResult<Val<'a>> {
        if !matches!(self.ty.ty.kind, TypeKind::Decimal(..) | TypeKind::Double) {
            return self.eval_ref(ctx, row);
        }
        match &self.kind {
            ExprKind::Arith { .. } => self.eval_arith(ctx, row, true),
            ExprKind::Neg(e) => self.negate(e, e.eval_unrounded(ctx, row)?, ctx),
            ExprKind::Case {
                operand,
                whens,
                otherwise,
                collation,
            } => {
                let case = (operand.as_deref(), whens.as_slice(), *collation);
                match case_branch(case, otherwise.as_deref(), ctx, row)? {
                    Some(e) => Ok(self.fitted(e.eval_unrounded(ctx, row)?, true)),
                    None => Ok(Val::NULL),
                }
            }
            ExprKind::Func { func, args } => super::call::call(self, (func, args), ctx, row, true),
            _ => self.eval_ref(ctx, row),
        }
    }

    /// The value of one of several that meet in this expression: as many digits of a quotient as this one shows.
    pub(super) fn branch_value<'a>(
        &self,
        e: &'a Expr,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
    ) -> SqlResult<Val<'a>> {
        match self.ty.ty.kind {
            TypeKind::Decimal(..) | TypeKind::Double => e.eval_unrounded(ctx, row),
            _ => e.eval_ref(ctx, row),
        }
    }

    /// `-e`, whose value is `v`.
    fn negate<'a>(&self, e: &Expr, v: Val<'a>, ctx: &EvalCtx<'a>) -> SqlResult<Val<'a>> {
        Ok(match num(v.as_ref(), ctx.env) {
            None => Val::NULL,
            Some(Num::Int(v)) => {
                // 2^63 unsigned negates to the smallest integer, whose own negation is no BIGINT any more. A literal becomes an
                // exact number instead.
                match i64::try_from(-v) {
                    Ok(v) => Val::int(v),
                    Err(_) if matches!(e.kind, ExprKind::Literal(_)) => {
                        Val::Ref(ValueRef::Decimal(Decimal::from_i128(-v, 0)))
                    }
                    Err(_) => return Err(self.name_expr(out_of_range("BIGINT"))),
                }
            }
            Some(Num::Dec(d)) => Val::Ref(ValueRef::Decimal(d.neg())),
            Some(Num::Real(f)) => Val::Ref(ValueRef::Double(0.0 - f)),
        })
    }

    /// Arithmetic. A quotient of exact numbers keeps all computed digits inside of a larger expression (`raw`) and is rounded to
    /// the digits of its type at the end: 1/3*3 is 1.0000.
    fn eval_arith<'a>(
        &'a self,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
        raw: bool,
    ) -> SqlResult<Val<'a>> {
        let ExprKind::Arith { op, left, right } = &self.kind else {
            return self.eval_ref(ctx, row);
        };
        ctx.env.check_stopped()?;
        let scale = match self.ty.ty.kind {
            TypeKind::Decimal(_, s) => Some(s),
            _ => None,
        };
        let l = left.eval_unrounded(ctx, row)?;
        if l.is_null() {
            return Ok(Val::NULL);
        }
        let r = right.eval_unrounded(ctx, row)?;
        if r.is_null() {
            return Ok(Val::NULL);
        }
        let v = arith(*op, l.as_ref(), r.as_ref(), scale.is_some(), ctx)
            .map_err(|e| self.name_expr(e))?;
        Ok(match scale {
            Some(_) => self.fitted(v, raw),
            None => v,
        })
    }

    /// An exact number of several that meet in a DECIMAL (branches, operands): with the digits of the type, or with its own
    /// (`raw`).
    pub(super) fn fitted<'a>(&self, v: Val<'a>, raw: bool) -> Val<'a> {
        let TypeKind::Decimal(_, scale) = self.ty.ty.kind else {
            return v;
        };
        let d = match v.as_ref() {
            ValueRef::Int(n) => Decimal::from(n),
            ValueRef::UInt(n) => Decimal::from(n),
            ValueRef::Decimal(d) if !raw && d.scale() != scale => d,
            _ => return v,
        };
        Val::Ref(ValueRef::Decimal(if raw { d } else { d.round(scale) }))
    }

    /// Puts the expression into the message of error 1690.
    fn name_expr(&self, e: SqlError) -> SqlError {
        if e.code != codes::DATA_OUT_OF_RANGE {
            return e;
        }
        let message = e.message.replace("''", &format!("'{self}'"));
        SqlError {
            message: message.into(),
            ..e
        }
    }

    /// Digits of the seconds in INTERVAL n SECOND, for an exact number.
    fn interval_digits(&self) -> Option<u8> {
        match &self.kind {
            ExprKind::DateAdd {
                amount,
                unit: IntervalUnit::Second,
                ..
            } => match amount.ty.ty.kind {
                TypeKind::Decimal(_, s) => Some(s.min(6)),
                _ => None,
            },
            _ => None,
        }
    }

    fn date_add<'a>(
        &self,
        d: ValueRef<'_>,
        i: Interval,
        unit: super::IntervalUnit,
        ctx: &EvalCtx<'_>,
    ) -> Val<'a> {
        let overflow = || {
            ctx.env.warn(
                codes::DATETIME_FUNCTION_OVERFLOW,
                "Datetime function: datetime field overflow",
            );
            Val::NULL
        };
        let incomplete = |t: &DateTime| t.date.month == 0 || t.date.day == 0;
        let us_digits = if i.micros % SECOND as i128 == 0 && !unit.has_micros() {
            0
        } else {
            6
        };
        if let ValueRef::Time(t) = d {
            if unit.has_months() {
                return overflow();
            }
            let us = t.micros as i128 + i.micros;
            if us.abs() > TIME_MAX as i128 {
                return overflow();
            }
            return Val::Ref(ValueRef::Time(Time {
                micros: us as i64,
                fsp: t.fsp.max(us_digits),
            }));
        }
        let (t, only_date) = match d {
            ValueRef::Date(d) => (d.at_midnight(), true),
            ValueRef::DateTime(t) => (t, false),
            ValueRef::Str(s) | ValueRef::Bytes(s) => match parse_datetime(s, date_rules(ctx.env)) {
                Some(p) => (p.value, !p.has_time),
                None => {
                    ctx.env.warn(
                        codes::TRUNCATED_WRONG_VALUE,
                        format!("Incorrect datetime value: '{}'", d.to_text()),
                    );
                    return Val::NULL;
                }
            },
            v => match number_parts(v)
                .and_then(|(n, us, fsp)| datetime_from_number(n, us, fsp, date_rules(ctx.env)))
            {
                Some((t, has_time)) => (t, !has_time),
                None => {
                    ctx.env.warn(
                        codes::TRUNCATED_WRONG_VALUE,
                        format!("Incorrect datetime value: '{}'", v.to_text()),
                    );
                    return Val::NULL;
                }
            },
        };
        if incomplete(&t) {
            let shown = match only_date {
                true => ValueRef::Date(t.date).to_text(),
                false => ValueRef::DateTime(t).to_text(),
            };
            ctx.env.warn(
                codes::TRUNCATED_WRONG_VALUE,
                format!("Incorrect datetime value: '{shown}'"),
            );
            return Val::NULL;
        }
        let text = matches!(d, ValueRef::Str(_) | ValueRef::Bytes(_)) && self.ty.ty.is_string();
        let Some(mut r) = i.add_to(t) else {
            return overflow();
        };
        let out = if only_date && !unit.has_time() {
            ValueRef::Date(r.date)
        } else {
            r.fsp = match self.ty.ty.kind {
                TypeKind::DateTime(f) => f,
                _ if let Some(digits) = self.interval_digits() => digits,
                // A string shows microseconds if there are any.
                _ if r.micros % SECOND as u64 != 0 => 6,
                _ => 0,
            };
            ValueRef::DateTime(r)
        };
        if text {
            return Val::text(out.to_text());
        }
        // A statically known DATETIME stays one.
        match (out, self.ty.ty.kind) {
            (ValueRef::Date(d), TypeKind::DateTime(fsp)) => {
                Val::Ref(ValueRef::DateTime(DateTime {
                    fsp,
                    ..d.at_midnight()
                }))
            }
            (v, _) => Val::Ref(v),
        }
    }

    /// CAST of a value that is not NULL.
    fn cast<'a>(&self, v: Val<'a>, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
        let env = ctx.env;
        let r = v.as_ref();
        if let ValueRef::Str(s) | ValueRef::Bytes(s) = r {
            // A copy, in another character set too, and the warning that quotes it.
            narwal_memory::reserve(4 * s.len() as u64)?;
        }
        let ty = &self.ty.ty;
        let incorrect = |kind: &str, v: ValueRef<'_>| {
            env.warn(
                codes::TRUNCATED_WRONG_VALUE,
                format!("Incorrect {kind} value: '{}'", v.to_text()),
            );
            Val::NULL
        };
        Ok(match ty.kind {
            _ if ty.is_integer() => {
                let n = match r {
                    ValueRef::Int(_) | ValueRef::UInt(_) => to_integer(r, &mut Warn(env)),
                    ValueRef::Double(f) => {
                        let n = to_integer(r, &mut Warn(env));
                        let hi = if ty.unsigned {
                            u64::MAX as i128
                        } else {
                            i64::MAX as i128
                        };
                        if f.abs() > 2e19 || n > hi {
                            env.note(
                                codes::DATA_OVERFLOW,
                                format!(
                                    "Got overflow when converting '{}' to {} BIGINT. Value truncated",
                                    r.to_text(),
                                    if ty.unsigned { "UNSIGNED" } else { "SIGNED" }
                                ),
                            );
                        }
                        if !ty.unsigned {
                            n.min(i64::MAX as i128)
                        } else {
                            n
                        }
                    }
                    ValueRef::Decimal(d) => return Ok(exact_as_integer(d, ty.unsigned, env)),
                    ValueRef::Time(t) => to_integer(ValueRef::Time(t.truncate(0)), &mut Warn(env)),
                    ValueRef::DateTime(t) => {
                        to_integer(ValueRef::DateTime(t.truncate(0)), &mut Warn(env))
                    }
                    r => to_integer(r, &mut Warn(env)),
                };
                let wraps = !matches!(
                    r,
                    ValueRef::Double(_) | ValueRef::Float(_) | ValueRef::Time(_)
                );
                if ty.unsigned && n < 0 && !wraps {
                    env.note(
                        codes::DATA_OVERFLOW,
                        format!(
                            "Got overflow when converting '{}' to UNSIGNED BIGINT. Value truncated",
                            r.to_text()
                        ),
                    );
                    return Ok(Val::Ref(ValueRef::UInt(0)));
                }
                if ty.unsigned {
                    if n < 0 {
                        env.note(
                            codes::UNKNOWN_ERROR,
                            "Cast to unsigned converted negative integer to it's positive complement",
                        );
                    }
                    Val::Ref(ValueRef::UInt(n as u64))
                } else {
                    if n > i64::MAX as i128 && matches!(r, ValueRef::Str(_) | ValueRef::Bytes(_)) {
                        env.note(
                            codes::UNKNOWN_ERROR,
                            "Cast to signed converted positive out-of-range integer to it's negative complement",
                        );
                    }
                    Val::int(n as u64 as i64)
                }
            }
            TypeKind::Decimal(p, s) => {
                let d = to_decimal(r, &mut Warn(env));
                let mut k = d.round(s);
                if !k.fits(p, s) {
                    env.warn(
                        codes::WARN_DATA_OUT_OF_RANGE,
                        format!("Out of range value for column '{self}' at row 0"),
                    );
                    k = Decimal::max_value(p, s, d.is_negative());
                }
                Val::Ref(ValueRef::Decimal(k))
            }
            // Zero has no sign.
            TypeKind::Double => Val::Ref(ValueRef::Double(to_f64(r, &mut Warn(env)) + 0.0)),
            TypeKind::Float => Val::Ref(ValueRef::Float(to_f64(r, &mut Warn(env)) as f32 + 0.0)),
            TypeKind::Date => match r {
                ValueRef::Time(t) => {
                    Val::Ref(ValueRef::Date(super::compare::on_today(t, env).date))
                }
                r => match convert::to_datetime(r, date_rules(env)) {
                    Some(t) => Val::Ref(ValueRef::Date(t.date)),
                    None => incorrect("datetime", r),
                },
            },
            TypeKind::DateTime(f) | TypeKind::Timestamp(f) => match r {
                ValueRef::Time(t) => Val::Ref(ValueRef::DateTime(
                    super::compare::on_today(t, env).truncate(f),
                )),
                r => match convert::to_datetime(r, date_rules(env)) {
                    Some(t) => Val::Ref(ValueRef::DateTime(t.truncate(f))),
                    None => incorrect("datetime", r),
                },
            },
            TypeKind::Time(f) => match convert::to_time(r) {
                Some(t) => Val::Ref(ValueRef::Time(t.truncate(f))),
                None => incorrect("time", r),
            },
            TypeKind::Fixed(kind) => {
                Val::Ref(super::fixed::read(r, kind, env).map_or(ValueRef::Null, ValueRef::Fixed))
            }
            TypeKind::Year => Val::int(to_integer(r, &mut Warn(env)).clamp(0, 9999) as i64),
            TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => {
                let max = match ty.kind {
                    TypeKind::Char(n) | TypeKind::VarChar(n)
                        if n != crate::expr::node::NO_LENGTH =>
                    {
                        n as usize
                    }
                    _ => usize::MAX,
                };
                if max != usize::MAX && max as u64 > env.max_allowed_packet {
                    cast_too_long("cast_as_char", env);
                }
                let set = ty.collation.charset();
                match v {
                    Val::Ref(ValueRef::Str(s)) if max >= s.len() && set == Charset::Utf8mb4 => {
                        Val::Ref(ValueRef::Str(s))
                    }
                    v => {
                        let r = v.as_ref();
                        let t = match r {
                            // Bytes are taken as text of the set.
                            ValueRef::Bytes(b) if !set.stores_utf8() => match set.text_of(b) {
                                Ok(t) => t.into_owned(),
                                Err(bad) => {
                                    let set = set.name();
                                    let told = format!("Invalid {set} character string: '{bad}'");
                                    env.warn(codes::INVALID_CHARACTER_STRING, told);
                                    ty.collation.charset().decode(b).into_owned()
                                }
                            },
                            ValueRef::Bytes(b) if std::str::from_utf8(b).is_err() => {
                                env.warn(
                                    codes::INVALID_CHARACTER_STRING,
                                    "Invalid utf8mb4 character string",
                                );
                                return Ok(Val::NULL);
                            }
                            r => r.to_text(),
                        };
                        let t = match &self.kind {
                            ExprKind::Cast(e) if e.ty.ty.collation.charset() != set => {
                                e.ty.ty.collation.charset().unveiled(&t)
                            }
                            _ => t.as_str().into(),
                        };
                        let t = set.replaced(&t);
                        let kept = char_prefix(t.as_bytes(), max);
                        if kept.len() < t.len() {
                            env.warn(
                                codes::TRUNCATED_WRONG_VALUE,
                                format!("Truncated incorrect CHAR({max}) value: '{t}'"),
                            );
                        }
                        Val::text(String::from_utf8_lossy(kept).into_owned())
                    }
                }
            }
            _ => {
                let mut b = Vec::new();
                match r {
                    ValueRef::Fixed(f) => b.extend_from_slice(f.bytes()),
                    r => r.write_text(&mut b),
                }
                if let ExprKind::Cast(e) = &self.kind
                    && e.ty.is_string()
                    && !matches!(r, ValueRef::Bytes(_))
                {
                    // The bytes are those of the character set.
                    b = e.ty.ty.collation.charset().encode(&b).into_owned();
                }
                match ty.kind {
                    TypeKind::Binary(n) if n != crate::expr::node::NO_LENGTH => {
                        let n = match env.max_allowed_packet {
                            most if u64::from(n) > most => {
                                cast_too_long("cast_as_binary", env);
                                most as u16
                            }
                            _ => n,
                        };
                        if b.len() > n as usize {
                            env.warn(
                                codes::TRUNCATED_WRONG_VALUE,
                                format!("Truncated incorrect BINARY({n}) value: '{}'", r.to_text()),
                            );
                        }
                        b.resize(n as usize, 0);
                    }
                    TypeKind::VarBinary(n)
                        if n != crate::expr::node::NO_LENGTH && b.len() > n as usize =>
                    {
                        env.warn(
                            codes::TRUNCATED_WRONG_VALUE,
                            format!("Truncated incorrect BINARY({n}) value: '{}'", r.to_text()),
                        );
                        b.truncate(n as usize);
                    }
                    _ => {}
                }
                Val::Owned(Value::bytes(b))
            }
        })
    }
}

/// Warning 1301 for a CAST to more than a value may have.
#[cold]
fn cast_too_long(name: &str, env: &StatementEnv) {
    env.warn(
        codes::WARN_ALLOWED_PACKET_OVERFLOWED,
        format!(
            "Result of {name}() was larger than max_allowed_packet ({}) - truncated",
            env.max_allowed_packet
        ),
    );
}

/// CAST of an exact number to an integer: rounded, and what is out of range becomes the end of the range.
fn exact_as_integer<'a>(d: Decimal, unsigned: bool, env: &StatementEnv) -> Val<'a> {
    let (low, high) = match unsigned {
        true => (0, i128::from(u64::MAX)),
        false => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    let n = d.round(0).to_i128();
    let end = if d.is_negative() { low } else { high };
    let kept = n.map_or(end, |n| n.clamp(low, high));
    if n != Some(kept) {
        env.warn(
            codes::DATA_OVERFLOW,
            format!(
                "Got overflow when converting '{d}' to {}INT. Value truncated",
                if unsigned { "UNSIGNED " } else { "" }
            ),
        );
    }
    Val::Ref(match unsigned {
        true => ValueRef::UInt(kept as u64),
        false => ValueRef::Int(kept as i64),
    })
}

/// A value that is stored in another form than it is seen in.
#[cold]
fn as_seen<'a>(v: ValueRef<'a>, ty: &narwal_types::ColumnType, ctx: &EvalCtx<'_>) -> Val<'a> {
    match v {
        ValueRef::Str(_) | ValueRef::Coded(..) if ctx.env.pads(ty) => {
            let mut text = v.to_text();
            if let TypeKind::Char(n) = ty.kind {
                let chars = text.chars().count();
                text.extend(std::iter::repeat_n(
                    ' ',
                    usize::from(n).saturating_sub(chars),
                ));
            }
            Val::text(text)
        }
        ValueRef::Coded(set, s) => Val::text(set.decode(s).into_owned()),
        v => Val::Ref(seen(v, ctx.env.time_zone)),
    }
}

/// A number as arithmetic sees it.
pub(crate) enum Num {
    /// An integer with its sign; whether it was unsigned is told apart.
    Int(i128),
    /// An exact number.
    Dec(Decimal),
    /// A double.
    Real(f64),
}

/// A value as a number; `None` for NULL. Strings are doubles.
pub(crate) fn num(v: ValueRef<'_>, env: &StatementEnv) -> Option<Num> {
    Some(match v {
        ValueRef::Null => return None,
        ValueRef::Int(v) => Num::Int(v as i128),
        ValueRef::UInt(v) => Num::Int(v as i128),
        ValueRef::Decimal(d) => Num::Dec(d),
        ValueRef::Float(f) => Num::Real(f as f64),
        ValueRef::Double(f) => Num::Real(f),
        ValueRef::Str(_) | ValueRef::Bytes(_) => Num::Real(to_f64(v, &mut Warn(env))),
        ValueRef::Date(d) => Num::Int(d.to_number() as i128),
        // Bit 63 of a SET is a sign here.
        ValueRef::Member(m) => Num::Int(m.number as i64 as i128),
        ValueRef::Bits(b) => Num::Int(b.value as i128),
        ValueRef::Time(Time { fsp: 0, .. }) | ValueRef::DateTime(DateTime { fsp: 0, .. }) => {
            Num::Int(to_integer(v, &mut Warn(env)))
        }
        v => Num::Dec(to_decimal(v, &mut Warn(env))),
    })
}

impl Num {
    fn real(&self) -> f64 {
        match self {
            Num::Int(v) => *v as f64,
            Num::Dec(d) => d.to_f64(),
            Num::Real(f) => *f,
        }
    }

    fn decimal(&self) -> Decimal {
        match self {
            Num::Int(v) => Decimal::from_i128(*v, 0),
            Num::Dec(d) => *d,
            Num::Real(f) => Decimal::from_f64(*f),
        }
    }
}

#[cold]
fn out_of_range(ty: &str) -> SqlError {
    errors::DATA_OUT_OF_RANGE.text(format!("{ty} value is out of range in ''"))
}

/// Operand of a bit operator.
pub(crate) fn bits(v: ValueRef<'_>, env: &StatementEnv) -> u64 {
    match v {
        ValueRef::Int(v) => v as u64,
        ValueRef::UInt(v) => v,
        // Strings count as exact numbers here.
        ValueRef::Str(_) | ValueRef::Bytes(_) => {
            let d = to_decimal(v, &mut Warn(env));
            to_integer(ValueRef::Decimal(d), &mut Warn(env)) as u64
        }
        v => to_integer(v, &mut Warn(env)) as u64,
    }
}

/// Division by zero, or the logarithm of what has none: a warning where the mode asks for it, NULL.
pub(crate) fn by_zero<'a>(ctx: &EvalCtx<'_>) -> Val<'a> {
    if ctx.env.sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
        ctx.env.warn(codes::DIVISION_BY_ZERO, "Division by 0");
    }
    Val::NULL
}

fn int_result<'a>(v: i128, unsigned: bool) -> SqlResult<Val<'a>> {
    if unsigned {
        u64::try_from(v)
            .map(|v| Val::Ref(ValueRef::UInt(v)))
            .map_err(|_| out_of_range("BIGINT UNSIGNED"))
    } else {
        i64::try_from(v)
            .map(Val::int)
            .map_err(|_| out_of_range("BIGINT"))
    }
}

fn real_result<'a>(v: f64) -> SqlResult<Val<'a>> {
    if v.is_finite() {
        // Zero has no sign.
        Ok(Val::Ref(ValueRef::Double(v + 0.0)))
    } else {
        Err(out_of_range("DOUBLE"))
    }
}

/// How many digits behind the point a quotient of exact numbers is computed to: digits come in groups of nine, and what is
/// beyond the last group is cut.
pub(crate) fn quotient_digits(dividend: u8, divisor: u8) -> u8 {
    let up = |n: u8| n.div_ceil(9) * 9;
    let gained = up(dividend) - dividend + up(divisor) - divisor;
    let more = DIV_PRECISION_INCREMENT.saturating_sub(gained);
    up(up(dividend) + up(divisor) + more).min(38)
}

/// Two values that are not NULL.
pub(crate) fn arith<'a>(
    op: ArithOp,
    a: ValueRef<'_>,
    b: ValueRef<'_>,
    raw: bool,
    ctx: &EvalCtx<'_>,
) -> SqlResult<Val<'a>> {
    // k + 1 and the like.
    if let (ValueRef::Int(x), ValueRef::Int(y)) = (a, b) {
        let r = match op {
            ArithOp::Add => x.checked_add(y),
            ArithOp::Sub => x.checked_sub(y),
            ArithOp::Mul => x.checked_mul(y),
            _ => None,
        };
        if let Some(v) = r {
            return Ok(Val::int(v));
        }
    }
    let env = ctx.env;
    match op {
        ArithOp::BitAnd | ArithOp::BitOr | ArithOp::BitXor => {
            let (x, y) = (bits(a, env), bits(b, env));
            return Ok(Val::Ref(ValueRef::UInt(match op {
                ArithOp::BitAnd => x & y,
                ArithOp::BitOr => x | y,
                _ => x ^ y,
            })));
        }
        ArithOp::ShiftLeft | ArithOp::ShiftRight => {
            let (x, n) = (bits(a, env), bits(b, env));
            let r = if n > 63 {
                0
            } else if op == ArithOp::ShiftLeft {
                x << n
            } else {
                x >> n
            };
            return Ok(Val::Ref(ValueRef::UInt(r)));
        }
        _ => {}
    }
    let is_unsigned = |v| matches!(v, ValueRef::UInt(_) | ValueRef::Bits(_));
    let a_unsigned = is_unsigned(a);
    let mut unsigned = a_unsigned || is_unsigned(b);
    let (Some(x), Some(y)) = (num(a, env), num(b, env)) else {
        return Ok(Val::NULL);
    };
    let dec = |d: Option<Decimal>| {
        d.map(|d| Val::Ref(ValueRef::Decimal(d)))
            .ok_or_else(|| out_of_range("DECIMAL"))
    };
    let real = matches!(x, Num::Real(_)) || matches!(y, Num::Real(_));
    match (op, &x, &y) {
        (ArithOp::Div, ..) if real => {
            let d = y.real();
            if d == 0.0 {
                return Ok(by_zero(ctx));
            }
            real_result(x.real() / d)
        }
        (ArithOp::Div, ..) => {
            let (x, y) = (x.decimal(), y.decimal());
            if y.is_zero() {
                return Ok(by_zero(ctx));
            }
            if raw && x.is_zero() {
                // As it is stored in a text.
                return dec(Some(Decimal::ZERO));
            }
            let digits = quotient_digits(x.scale(), y.scale());
            let scale = (x.scale() + DIV_PRECISION_INCREMENT).min(38);
            let q = x
                .checked_div(&y, digits.max(scale))
                .ok_or_else(|| out_of_range("DECIMAL"))?;
            dec(Some(if raw { q } else { q.round(scale) }))
        }
        (ArithOp::IntDiv, Num::Int(x), Num::Int(y)) => {
            if *y == 0 {
                return Ok(by_zero(ctx));
            }
            int_result(x / y, unsigned)
        }
        (ArithOp::IntDiv, ..) => {
            let (x, y) = (x.decimal(), y.decimal());
            if y.is_zero() {
                return Ok(by_zero(ctx));
            }
            let q = x
                .checked_int_div(&y)
                .and_then(|q| q.to_i128())
                .ok_or_else(|| out_of_range("BIGINT"))?;
            int_result(q, unsigned)
        }
        (ArithOp::Mod, Num::Int(x), Num::Int(y)) => {
            if *y == 0 {
                return Ok(by_zero(ctx));
            }
            int_result(x % y, a_unsigned)
        }
        (ArithOp::Mod, ..) if real => {
            let d = y.real();
            if d == 0.0 {
                return Ok(by_zero(ctx));
            }
            real_result(x.real() % d)
        }
        (ArithOp::Mod, ..) => {
            let y = y.decimal();
            if y.is_zero() {
                return Ok(by_zero(ctx));
            }
            dec(x.decimal().checked_rem(&y))
        }
        (_, Num::Int(x), Num::Int(y)) => {
            let r = match op {
                ArithOp::Add => Some(x + y),
                ArithOp::Sub => {
                    if env.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) {
                        unsigned = false;
                    }
                    Some(x - y)
                }
                _ => x.checked_mul(*y),
            };
            int_result(r.unwrap_or(i128::MAX), unsigned)
        }
        _ if real => {
            let (x, y) = (x.real(), y.real());
            real_result(match op {
                ArithOp::Add => x + y,
                ArithOp::Sub => x - y,
                _ => x * y,
            })
        }
        _ => {
            let (x, y) = (x.decimal(), y.decimal());
            dec(match op {
                ArithOp::Add => x.checked_add(&y),
                ArithOp::Sub => x.checked_sub(&y),
                _ => x.checked_mul(&y),
            })
        }
    }
}

impl Expr {
    /// The value for a row, owned.
    pub fn eval(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        Ok(self.eval_ref(ctx, row)?.into_value())
    }

    /// True, false, or `None` for NULL.
    pub fn eval_bool(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Option<bool>> {
        if let Some(b) = self.compare_ints(ctx, row) {
            return Ok(Some(b));
        }
        truth(self.eval_unrounded(ctx, row)?.as_ref(), ctx)
    }

    /// What a comparison of an integer column with given integers says, without a detour over values.
    #[inline]
    pub(crate) fn compare_ints(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> Option<bool> {
        let column = |e: &Expr| match e.kind {
            ExprKind::Column { source, column, .. } => row.int(source, column),
            _ => None,
        };
        let given = |e: &Expr| {
            let v = match &e.kind {
                ExprKind::Literal(v) => v,
                ExprKind::Param(n) | ExprKind::Slot(n) => ctx.params.get(*n)?,
                _ => return None,
            };
            match v {
                narwal_types::Value::Int(i) => Some(*i),
                _ => None,
            }
        };
        match &self.kind {
            ExprKind::Compare {
                op, left, right, ..
            } => {
                let k = given(right)?;
                Some(satisfied(*op, column(left)?.cmp(&k)))
            }
            ExprKind::Between {
                expr,
                low,
                high,
                negated,
                ..
            } => {
                let (low, high) = (given(low)?, given(high)?);
                let v = column(expr)?;
                Some((low <= v && v <= high) != *negated)
            }
            _ => None,
        }
    }

    /// True if the value is TRUE: how WHERE, HAVING and ON use a condition.
    pub fn matches(&self, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<bool> {
        let ExprKind::And(list) = &self.kind else {
            return Ok(self.eval_bool(ctx, row)? == Some(true));
        };
        let mut all = true;
        for e in list {
            match e.eval_bool(ctx, row)? {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => all = false,
            }
        }
        Ok(all)
    }
}
