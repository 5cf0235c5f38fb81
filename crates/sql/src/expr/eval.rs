//! Evaluation: the value of an expression for a row. Operators are in `operators.rs`, `arith.rs`, `cast.rs`, `date_add.rs`.

use super::date::Interval;
use super::named::naming;
use super::operators;
use crate::expr::arith::{Num, arith, bits, num, out_of_range};
use crate::expr::compare::satisfied;
use crate::expr::node::{EvalCtx, Expr, ExprKind, ExprType, RowAccess, StoredCall, SubqueryExpr};
use crate::expr::value::{Val, Warn, truth};
use crate::zone::seen;
use narwal_types::convert::{NoWarnings, to_f64, to_i64, to_integer};
use narwal_types::errors::codes;
use narwal_types::{Collation, Decimal, SqlError, SqlResult, TypeKind, Value, ValueRef};

impl StoredCall {
    #[cold]
    fn call<'a>(&'a self, ctx: &EvalCtx<'a>, row: &'a dyn RowAccess) -> SqlResult<Value> {
        let args = self.args.iter().map(|a| a.eval(ctx, row));
        let args = args.collect::<SqlResult<Vec<Value>>>()?;
        ctx.subqueries.call(&self.function, args, ctx.env)
    }
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

    /// One arm per kind of expression. What needs more than a few lines stands in `operators.rs`.
    fn eval_slow<'a>(&'a self, ctx: &EvalCtx<'a>, row: &'a dyn RowAccess) -> SqlResult<Val<'a>> {
        ctx.env.check_stopped()?;
        match &self.kind {
            ExprKind::Column { .. }
            | ExprKind::Param(_)
            | ExprKind::Slot(_)
            | ExprKind::Literal(_) => self.eval_ref(ctx, row),
            ExprKind::Item(_, e) => e.eval_ref(ctx, row),
            ExprKind::Window(_) => Ok(Val::NULL),
            ExprKind::Aggregate(n, _) => Ok(Val::Ref(row.aggregate(*n))),
            ExprKind::Outer(n) => Ok(Val::Ref(
                ctx.outer.get(*n).map_or(ValueRef::Null, Value::as_ref),
            )),
            ExprKind::InsertValue(c) => {
                let v = row.insert_value(*c)?;
                let ts = matches!(self.ty.ty.kind, TypeKind::Timestamp(_));
                Ok(Val::Ref(if ts { seen(v, ctx.env.time_zone) } else { v }))
            }
            ExprKind::Stored(c) => c.call(ctx, row).map(Val::Owned),
            ExprKind::Subquery(s) => subquery(s, ctx, row),
            ExprKind::And(list) => operators::and(list, ctx, row),
            ExprKind::Or(list) => operators::or(list, ctx, row),
            ExprKind::Xor(a, b) => {
                let a = a.eval_truth(ctx, row)?;
                let b = b.eval_truth(ctx, row)?;
                Ok(Val::bool(a.zip(b).map(|(a, b)| a != b)))
            }
            ExprKind::Not(e) => Ok(Val::bool(e.eval_truth(ctx, row)?.map(|b| !b))),
            ExprKind::Compare {
                op,
                left,
                right,
                collation,
            } => operators::comparison(*op, (left, right), *collation, ctx, row),
            ExprKind::Between {
                expr,
                low,
                high,
                negated,
                collation,
            } => {
                let within = operators::between((expr, low, high), *collation, ctx, row)?;
                Ok(Val::bool(within.map(|b| b != *negated)))
            }
            ExprKind::InList {
                expr,
                list,
                negated,
                collation,
            } => {
                let found = operators::in_list(expr, list, *collation, ctx, row)?;
                Ok(Val::bool(found.map(|b| b != *negated)))
            }
            ExprKind::Like {
                expr,
                pattern,
                escape,
                negated,
                collation,
            } => {
                let like = operators::is_like((expr, pattern), *escape, *collation, ctx, row)?;
                Ok(Val::bool(like.map(|b| b != *negated)))
            }
            ExprKind::IsNull { expr, negated } => Ok(Val::int(
                (expr.eval_ref(ctx, row)?.is_null() != *negated) as i64,
            )),
            ExprKind::IsBool {
                expr,
                value,
                negated,
            } => {
                let t = expr.eval_truth(ctx, row)?;
                Ok(Val::int(((t == Some(*value)) != *negated) as i64))
            }
            ExprKind::Case { .. } => self.eval_case(ctx, row, false),
            ExprKind::Arith { .. } => self.eval_arith(ctx, row, false),
            ExprKind::Neg(e) => self.negate(e, e.eval_ref(ctx, row)?, ctx),
            ExprKind::BitNot(e) => Ok(match e.eval_ref(ctx, row)? {
                v if v.is_null() => Val::NULL,
                v => Val::Ref(ValueRef::UInt(!bits(v.as_ref(), ctx.env))),
            }),
            ExprKind::Cast(e) => self.eval_cast(e, ctx, row),
            ExprKind::Collate(e) => Ok(self.collated(e.eval_ref(ctx, row)?, e)),
            ExprKind::DateAdd { .. } => self.eval_date_add(ctx, row),
            ExprKind::Func { func, args } => super::call::call(self, (func, args), ctx, row, false),
            ExprKind::SystemVariable { scope, name } => {
                Ok(Val::Owned(ctx.env.system_variable(*scope, name)?))
            }
            ExprKind::UserVariable(name, _) => user_variable(name, &self.ty, ctx),
            ExprKind::SetUserVariable(name, e) => {
                // With all digits that a quotient has.
                let v = e.eval_unrounded(ctx, row)?.into_value();
                let v = crate::user_kind::as_kept(v);
                let collation = self.ty.ty.collation;
                (ctx.env.variables).set_user_text(name, v.clone(), collation);
                Ok(Val::Owned(v))
            }
        }
    }

    /// The value's truth.
    #[inline]
    pub(super) fn eval_truth<'a>(
        &'a self,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
    ) -> SqlResult<Option<bool>> {
        Ok(truth(self.eval_unrounded(ctx, row)?.as_ref(), ctx.env))
    }

    /// CASE. `raw` as for [`Expr::fitted`].
    fn eval_case<'a>(
        &'a self,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
        raw: bool,
    ) -> SqlResult<Val<'a>> {
        let ExprKind::Case {
            operand,
            whens,
            otherwise,
            collation,
        } = &self.kind
        else {
            return self.eval_ref(ctx, row);
        };
        let case = (operand.as_deref(), whens.as_slice(), *collation);
        let Some(e) = operators::case_branch(case, otherwise.as_deref(), ctx, row)? else {
            return Ok(Val::NULL);
        };
        let v = match raw {
            true => e.eval_unrounded(ctx, row)?,
            false => self.branch_value(e, ctx, row)?,
        };
        Ok(self.fitted(v, raw))
    }

    /// CAST.
    fn eval_cast<'a>(
        &self,
        e: &'a Expr,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
    ) -> SqlResult<Val<'a>> {
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
        naming([e], ctx.env, || self.cast(v, ctx))
    }

    /// COLLATE: a text, of bytes for BINARY.
    /// `of`: what the value comes from. As bytes it is those of its own character set.
    fn collated<'a>(&self, v: Val<'a>, of: &Expr) -> Val<'a> {
        let binary = self.ty.ty.collation == Collation::Binary;
        let set = of.ty.ty.collation.charset();
        if binary
            && of.ty.is_string()
            && !set.stores_utf8()
            && let ValueRef::Str(s) = v.as_ref()
        {
            return Val::Owned(Value::bytes(set.encode(s).into_owned()));
        }
        match v {
            Val::Ref(ValueRef::Str(s)) if binary => Val::Ref(ValueRef::Bytes(s)),
            Val::Owned(Value::Str(s)) if binary => Val::Owned(Value::Bytes(s.into_boxed_bytes())),
            v => match v.as_ref() {
                ValueRef::Null | ValueRef::Str(_) | ValueRef::Bytes(_) => v,
                other if binary => Val::Owned(Value::bytes(other.to_text().into_bytes())),
                other => Val::text(other.to_text()),
            },
        }
    }

    /// A date and an interval.
    fn eval_date_add<'a>(
        &'a self,
        ctx: &EvalCtx<'a>,
        row: &'a dyn RowAccess,
    ) -> SqlResult<Val<'a>> {
        let ExprKind::DateAdd {
            date,
            amount,
            unit,
            negated,
        } = &self.kind
        else {
            return self.eval_ref(ctx, row);
        };
        let d = date.eval_ref(ctx, row)?;
        let n = amount.eval_ref(ctx, row)?;
        if d.is_null() || n.is_null() {
            return Ok(Val::NULL);
        }
        if let ValueRef::Str(_) = n.as_ref()
            && unit.is_whole()
        {
            // For its warning.
            to_integer(n.as_ref(), &mut Warn(ctx.env));
        }
        let Some(mut i) = Interval::from_value(n.as_ref(), *unit) else {
            return Ok(Val::NULL);
        };
        if *negated {
            i = i.negate();
        }
        Ok(naming([date], ctx.env, || {
            self.date_add(d.as_ref(), i, *unit, ctx)
        }))
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
            ExprKind::Case { .. } => self.eval_case(ctx, row, true),
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
                    Err(_) => return Err(self.name_expr(out_of_range("BIGINT"), ctx)),
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
            .map_err(|e| self.name_expr(e, ctx))?;
        Ok(match scale {
            Some(_) => self.fitted(v, raw),
            None => v,
        })
    }

    /// An exact number of several that meet in a DECIMAL (branches, operands): with the digits of the type, or with its own
    /// (`raw`).
    pub(super) fn fitted<'a>(&self, v: Val<'a>, raw: bool) -> Val<'a> {
        let scale = match self.ty.ty.kind {
            TypeKind::Decimal(_, scale) => scale,
            TypeKind::Bit(_) => return bits_as_number(v),
            _ => return v,
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
    fn name_expr(&self, e: SqlError, ctx: &EvalCtx<'_>) -> SqlError {
        if e.code != codes::DATA_OUT_OF_RANGE {
            return e;
        }
        let message = (e.message).replace("''", &format!("'{}'", self.with_values(ctx.params)));
        SqlError {
            message: message.into(),
            ..e
        }
    }
}

/// The value of a subquery.
fn subquery<'a>(s: &SubqueryExpr, ctx: &EvalCtx<'a>, row: &'a dyn RowAccess) -> SqlResult<Val<'a>> {
    let v = Val::Owned(ctx.subqueries.value(s, ctx, row)?);
    Ok(bits_as_number(v))
}

/// A BIT that an expression gives is a number, unlike that of a column.
pub(crate) fn bits_as_number(v: Val<'_>) -> Val<'_> {
    match v.as_ref() {
        ValueRef::Bits(b) => Val::Ref(ValueRef::UInt(b.value)),
        _ => v,
    }
}

/// A user variable's value as the statement was bound, if an assignment in it has made something else of the variable.
fn as_bound(v: Value, ty: &ExprType) -> Value {
    match &v {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_)
            if ty.ty.is_string() =>
        {
            Value::str(v.to_text())
        }
        Value::Str(_) | Value::Bytes(_) if ty.ty.is_integer() => {
            Value::Int(to_i64(v.as_ref(), &mut NoWarnings))
        }
        Value::Str(_) | Value::Bytes(_) if ty.ty.is_numeric() => {
            Value::Double(to_f64(v.as_ref(), &mut NoWarnings))
        }
        _ => v,
    }
}

/// `@name`: a copy, which may be long, and of which a statement may want thousands.
fn user_variable<'a>(name: &str, ty: &ExprType, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
    let mut value = Ok(Value::Null);
    ctx.env.variables.with_user(name, &mut |v, _| {
        let bytes = match v.as_ref() {
            ValueRef::Str(s) | ValueRef::Bytes(s) => s.len() as u64,
            _ => 0,
        };
        // With room for what is made of it.
        value = narwal_memory::reserve(4 * bytes).map(|()| v.clone());
    });
    Ok(Val::Owned(as_bound(value?, ty)))
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
        self.eval_truth(ctx, row)
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
