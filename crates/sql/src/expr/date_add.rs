//! A date and an interval: `date + INTERVAL n unit`.

use super::call::fraction_of_text;
use super::date::Interval;
use crate::expr::IntervalUnit;
use crate::expr::node::{EvalCtx, Expr, ExprKind};
use crate::expr::value::{Val, date_rules};
use narwal_types::convert::no_moment;
use narwal_types::convert::number_as_datetime;
use narwal_types::errors::codes;
use narwal_types::temporal::{SECOND, TIME_MAX};
use narwal_types::temporal_parse::parse_datetime;
use narwal_types::{DateTime, Time, TypeKind, ValueRef};

impl Expr {
    /// Digits of the seconds that the text shows of a moment that came as a text or a number. A text that is known before the
    /// rows are read has its own, others have all.
    fn text_digits(&self, d: ValueRef<'_>) -> u8 {
        let by_type = (self.ty.chars().saturating_sub(20)).min(6) as u8;
        let ExprKind::DateAdd {
            date, amount, unit, ..
        } = &self.kind
        else {
            return by_type;
        };
        match d {
            ValueRef::Str(s) | ValueRef::Bytes(s) if !date.is_of_rows() => {
                fraction_of_text(s).max(unit.fraction(&amount.ty.ty))
            }
            _ => by_type,
        }
    }

    /// `d + i`: a value of the kind that its operand has, NULL with a warning where there is no such date.
    pub(super) fn date_add<'a>(
        &self,
        d: ValueRef<'_>,
        i: Interval,
        unit: IntervalUnit,
        ctx: &EvalCtx<'_>,
    ) -> Val<'a> {
        if let ValueRef::Time(t) = d {
            let digits = match self.ty.ty.kind {
                TypeKind::Time(f) => Some(f),
                _ => None,
            };
            return time_add(t, i, unit, digits).unwrap_or_else(|| overflow(ctx));
        }
        let Some((t, only_date)) = as_datetime(d, ctx) else {
            return Val::NULL;
        };
        if t.date.month == 0 || t.date.day == 0 {
            let shown = match only_date {
                true => ValueRef::Date(t.date),
                false => ValueRef::DateTime(t),
            };
            return incorrect(shown, ctx);
        }
        let Some(mut r) = i.add_to(t) else {
            return overflow(ctx);
        };
        let out = if only_date && !unit.has_time() {
            ValueRef::Date(r.date)
        } else {
            r.fsp = match self.ty.ty.kind {
                TypeKind::DateTime(f) => f,
                _ => self.text_digits(d),
            };
            ValueRef::DateTime(r)
        };
        if matches!(d, ValueRef::Str(_) | ValueRef::Bytes(_)) && self.ty.ty.is_string() {
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
}

/// NULL, with the warning that no such date exists.
fn overflow<'a>(ctx: &EvalCtx<'_>) -> Val<'a> {
    ctx.env.warn(
        codes::DATETIME_FUNCTION_OVERFLOW,
        "Datetime function: datetime field overflow",
    );
    Val::NULL
}

/// NULL, with the warning that the operand is no date.
fn incorrect<'a>(v: ValueRef<'_>, ctx: &EvalCtx<'_>) -> Val<'a> {
    ctx.env.warn(
        codes::TRUNCATED_WRONG_VALUE,
        format!("Incorrect datetime value: '{}'", no_moment(v)),
    );
    Val::NULL
}

/// `t + i`, unless it is out of the range of TIME.
/// `digits`: behind the point, if its type says how many.
fn time_add<'a>(t: Time, i: Interval, unit: IntervalUnit, digits: Option<u8>) -> Option<Val<'a>> {
    if unit.has_months() {
        return None;
    }
    let us = t.micros as i128 + i.micros;
    if us.abs() > TIME_MAX as i128 {
        return None;
    }
    let needed = match i.micros % SECOND as i128 == 0 && !unit.has_micros() {
        true => 0,
        false => 6,
    };
    Some(Val::Ref(ValueRef::Time(Time {
        micros: us as i64,
        fsp: digits.unwrap_or(t.fsp.max(needed)),
    })))
}

/// A value as a date and time, and whether it was only a date. `None`, with a warning, if it is none.
fn as_datetime(v: ValueRef<'_>, ctx: &EvalCtx<'_>) -> Option<(DateTime, bool)> {
    let rules = date_rules(ctx.env);
    let read = match v {
        ValueRef::Date(d) => return Some((d.at_midnight(), true)),
        ValueRef::DateTime(t) => return Some((t, false)),
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            parse_datetime(s, rules).map(|p| (p.value, !p.has_time))
        }
        v => number_as_datetime(v, rules).map(|(t, has_time)| (t, !has_time)),
    };
    match read {
        None => drop(incorrect(v, ctx)),
        Some(_) => super::cast::note_fraction(v, ctx.env),
    }
    read
}
