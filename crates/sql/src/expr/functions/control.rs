//! Choices between values, and comparisons of several.

use super::typing::int_not_null;
use crate::expr::call::reserve_for;
use crate::expr::compare::{as_moment, compare_one, read_datetime};
use crate::expr::eval::bits_as_number;
use crate::expr::node::Operands;
use crate::expr::node::{Call, Expr, ExprKind, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::expr::{fixed, types};
use crate::literal::bits_number;
use narwal_types::convert::{NoWarnings, parse_f64_prefix, store};
use narwal_types::temporal_parse::{DateRules, parse_datetime, parse_time};
use narwal_types::{Collation, DateTime, SqlResult};
use narwal_types::{ColumnType, StoreMode, StoreTarget, TypeKind, Value, ValueRef};
use std::cmp::Ordering;

pub(crate) static GREATEST: Function = Function::new(
    "greatest",
    "value, value, ...",
    "The greatest of the values; NULL if one is.",
    extreme_type,
    |c| extreme(c, Ordering::Greater),
)
.computes()
.branches_but_texts();

pub(crate) static LEAST: Function = Function::new(
    "least",
    "value, value, ...",
    "The least of the values; NULL if one is.",
    extreme_type,
    |c| extreme(c, Ordering::Less),
)
.computes()
.branches_but_texts();

pub(crate) static IF: Function = Function::of_operands(
    "if",
    "condition, then, else",
    "One of two values, by a condition.",
    // Of two NULLs it is of a type, as MIN and MAX of NULL are.
    |t| {
        let ty = types::unify(t.types().skip(1), "if")?;
        Ok(ExprType {
            null: false,
            ..ty.with_nullable(ty.nullable || t.arg(0).nullable)
        })
    },
    choose,
)
.branches(|i, _| i > 0);

pub(crate) static NULLIF: Function = Function::of_operands(
    "nullif",
    "a, b",
    "NULL if both are equal, else the first one.",
    |t| {
        fixed::shared(t.types(), "nullif")?;
        let first = t.arg(0);
        Ok(match first.ty.is_member() {
            true => types::unify([&first], t.name)?,
            false => first.chosen_text(),
        }
        .with_nullable(true))
    },
    nullif,
);

/// The year that a constant beside a YEAR column stands for.
pub(crate) static YEAR_OF: Function = Function::new(
    " year_of",
    "value",
    "The year that a value is stored as.",
    |t| Ok(t.arg(0)),
    |c| Ok(year_of(c.v(0)).map_or_else(|| c.args[0].clone(), Val::int)),
);

/// The text of a user variable where a number is wanted: the number that it begins with. As in MariaDB nobody is told of the
/// rest.
pub(crate) static NUMBER_OF: Function = Function::new(
    " number_of",
    "variable",
    "The number that a text begins with.",
    |t| Ok(t.arg(0)),
    |c| match c.v(0) {
        ValueRef::Str(s) => Ok(Val::text(
            String::from_utf8_lossy(leading_number(s)).into_owned(),
        )),
        _ => Ok(c.args[0].clone()),
    },
);

/// The number that a text begins with, 0 if there is none.
fn leading_number(s: &[u8]) -> &[u8] {
    match &s[..parse_f64_prefix(s).1] {
        [] => b"0",
        number => number,
    }
}

/// The number that the two digits of a YEAR(2) are; what is no year stays as it is.
pub(crate) static TWO_DIGITS: Function = Function::new(
    " two_digits",
    "year",
    "The last two digits of a year, as a number.",
    |t| Ok(ExprType::bigint(true, t.nullable()).with_chars(2, false)),
    |c| {
        Ok(match c.v(0) {
            ValueRef::Int(y @ (0 | 1901..=2155)) => Val::int(y % 100),
            _ => c.args[0].clone(),
        })
    },
);

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::of_operands(
        "coalesce",
        "value, ...",
        "The first value that is not NULL.",
        coalesce_type,
        coalesce,
    )
    .branches(|_, _| true),
    &Function::new(
        "decode_oracle",
        "value, search, result, ...[, otherwise]",
        "The result behind the searched value that equals the first one; NULLs are equal.",
        decode_type,
        decode,
    )
    .takes_null()
    .results(is_decoded),
    &GREATEST,
    &IF,
    &Function::of_operands(
        "ifnull",
        "a, b",
        "The second value if the first one is NULL.",
        coalesce_type,
        coalesce,
    )
    .or(&["nvl"])
    .branches(|_, _| true),
    &Function::new(
        "interval",
        "n, bound, ...",
        "How many of the ascending bounds are not greater than n; -1 for NULL.",
        int_not_null,
        interval,
    )
    .takes_null()
    .computes(),
    &Function::new(
        "isnull",
        "value",
        "Whether it is NULL.",
        int_not_null,
        |c| Ok(Val::int(c.v(0).is_null().into())),
    )
    .takes_null()
    .predicate(),
    &Function::new(
        "last_value",
        "value, ...",
        "The last of the values; the others are evaluated.",
        |t| Ok(t.arg(t.args.len() - 1)),
        |c| Ok(c.args[c.args.len() - 1].clone()),
    )
    .takes_null(),
    &LEAST,
    &Function::new(
        "name_const",
        "name, value",
        "The value, as a column of that name.",
        name_const_type,
        |c| Ok(c.args[1].clone()),
    )
    .takes_null(),
    &NULLIF,
    &Function::new(
        "nvl2",
        "value, a, b",
        "a if the value is not NULL, else b.",
        |t| Ok(types::unify(t.types().skip(1), "nvl2")?.with_nullable(t.nullable())),
        |c| {
            Ok(bits_as_number(
                c.args[if c.v(0).is_null() { 2 } else { 1 }].clone(),
            ))
        },
    )
    .results(|i, _| i > 0)
    .takes_null(),
    &YEAR_OF,
    &NUMBER_OF,
    &TWO_DIGITS,
];

fn coalesce_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let ty = types::unify(t.types(), t.name)?;
    // A text may be no UUID.
    let is_value = |a: &Expr| match ty.ty.fixed() {
        Some(kind) => fixed::is_always(a, kind),
        None => !a.ty.nullable,
    };
    Ok(ty.with_nullable(!t.args.iter().any(is_value)))
}

fn coalesce<'a>(o: &Operands<'a, '_>) -> SqlResult<Val<'a>> {
    for a in o.args {
        let v = o.expr.branch_value(a, o.ctx, o.row)?;
        if !v.is_null() {
            return Ok(o.expr.fitted(v, o.raw));
        }
    }
    Ok(Val::NULL)
}

fn choose<'a>(o: &Operands<'a, '_>) -> SqlResult<Val<'a>> {
    let condition = o.args[0].eval_unrounded(o.ctx, o.row)?;
    let holds = crate::expr::value::truth(condition.as_ref(), o.ctx.env) == Some(true);
    let chosen = &o.args[if holds { 1 } else { 2 }];
    Ok(o.expr
        .fitted(o.expr.branch_value(chosen, o.ctx, o.row)?, o.raw))
}

/// What it compares are shown digits; the value that it gives on keeps all of them.
fn nullif<'a>(o: &Operands<'a, '_>) -> SqlResult<Val<'a>> {
    let values = [
        o.args[0].eval_ref(o.ctx, o.row)?,
        o.args[1].eval_ref(o.ctx, o.row)?,
    ];
    reserve_for(&values, o.ctx)?;
    let collation = types::compare_collation(o.args, "nullif").unwrap_or_default();
    let [a, b] = values;
    let compared = match (
        a.as_ref(),
        o.args[0].ty.bits && o.args[1].ty.ty.is_numeric(),
    ) {
        (ValueRef::Bytes(b), true) => ValueRef::UInt(bits_number(b)),
        (a, _) => a,
    };
    let order = compare_one(compared, b.as_ref(), collation, o.ctx.env);
    o.ctx.env.check_interrupt()?;
    match a.as_ref() {
        _ if order == Some(Ordering::Equal) => Ok(Val::NULL),
        ValueRef::Decimal(_) if o.raw => o.args[0].eval_unrounded(o.ctx, o.row),
        // Of an ENUM or a SET it gives the text.
        _ if o.args[0].ty.ty.is_member() => Ok(o.expr.fitted(a, o.raw)),
        _ => Ok(bits_as_number(a)),
    }
}

fn interval<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::int(-1));
    }
    // Texts and moments count as numbers.
    let is_no_number = |i| {
        matches!(
            c.v(i),
            ValueRef::Str(_)
                | ValueRef::Bytes(_)
                | ValueRef::Date(_)
                | ValueRef::Time(_)
                | ValueRef::DateTime(_)
        )
    };
    let as_doubles = (0..c.args.len()).any(is_no_number);
    let reached = |i: &usize| match as_doubles {
        true => c.v(*i).is_null() || c.f64(*i) <= c.f64(0),
        false => compare_one(c.v(*i), c.v(0), Collation::Binary, c.ctx.env)
            .is_none_or(|o| o != Ordering::Greater),
    };
    let n = (1..c.args.len()).take_while(reached).count();
    Ok(Val::int(n as i64))
}

fn extreme_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    fixed::shared(t.types(), t.name)?;
    let temporal = |t: &&ExprType| t.ty.is_temporal();
    let has_number = t.types().any(|t| t.ty.is_numeric());
    // Beside a temporal value everything is temporal.
    if t.types().any(|t| temporal(&t)) {
        // What is none may be among the others.
        let nullable = t.nullable() || !t.types().all(|t| temporal(&t));
        let mut ty = types::unify(t.types().filter(temporal), t.name)?.with_nullable(nullable);
        // The others bring their digits along.
        let said = (0..t.args.len()).filter(|i| !t.arg(*i).null);
        let digits = said.map(|i| digits_of(t, i)).max().unwrap_or(0);
        if let TypeKind::Timestamp(f) = ty.ty.kind
            && !t.types().all(|t| temporal(&t))
        {
            ty.ty.kind = TypeKind::DateTime(f);
        }
        match &mut ty.ty.kind {
            TypeKind::Time(f) | TypeKind::DateTime(f) => *f = digits,
            _ => return Ok(ty),
        }
        return Ok(ExprType::of_column(ty.ty, nullable));
    }
    let ty = types::unify(t.types(), t.name)?;
    // Numbers among strings make the comparison numeric.
    Ok(match ty.ty.is_string() && has_number {
        true => ExprType::double(t.nullable()),
        false => ty.with_nullable(t.nullable()),
    })
}

/// Digits behind the point of an argument beside moments: what is none has six.
fn digits_of(t: &Typing<'_>, i: usize) -> u8 {
    match t.args.get(i).map(|a| &a.kind) {
        Some(ExprKind::Literal(Value::Str(s)))
            if parse_datetime(s.as_bytes(), DateRules::COMPARED).is_none()
                && parse_time(s.as_bytes(), false).is_none() =>
        {
            6
        }
        _ => t.fraction(i),
    }
}

/// The extreme of moments. What is none is the zero date.
fn extreme_moment<'a>(c: &Call<'a, '_>, wanted: Ordering, fsp: Option<u8>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let moment = |i: usize| match c.v(i) {
        ValueRef::Date(d) => d.at_midnight(),
        ValueRef::DateTime(t) => t,
        ValueRef::Time(t) => as_moment(t, env).unwrap_or_default(),
        v => c.naming(i, || read_datetime(v, env)),
    };
    let key = |t: &DateTime| (t.date, t.micros);
    let mut best = moment(0);
    for t in (1..c.args.len()).map(moment) {
        if key(&t).cmp(&key(&best)) == wanted {
            best = t;
        }
    }
    if !c.rules().allows_moment(&best) {
        return Ok(Val::NULL);
    }
    Ok(Val::Ref(match fsp {
        None => ValueRef::Date(best.date),
        Some(fsp) => ValueRef::DateTime(DateTime { fsp, ..best }.truncate(fsp)),
    }))
}

fn extreme<'a>(c: &Call<'a, '_>, wanted: Ordering) -> SqlResult<Val<'a>> {
    match c.expr.ty.ty.kind {
        TypeKind::Date => return extreme_moment(c, wanted, None),
        TypeKind::DateTime(fsp) => return extreme_moment(c, wanted, Some(fsp)),
        _ => {}
    }
    let mut best = 0;
    for i in 1..c.args.len() {
        if c.compare(i, best) == Some(wanted) {
            best = i;
        }
    }
    Ok(bits_as_number(c.args[best].clone()))
}

/// The year that a constant beside a YEAR column stands for; none where storing it would fail.
pub(crate) fn year_of(v: ValueRef<'_>) -> Option<i64> {
    let ty = ColumnType::new(TypeKind::Year);
    let target = StoreTarget {
        db: "",
        table: "",
        column: "",
        ty: &ty,
        nullable: true,
    };
    let mode = StoreMode {
        strict: true,
        ..StoreMode::default()
    };
    // What stands behind a number is left.
    let v = match v {
        ValueRef::Str(s) => ValueRef::Str(&s[..parse_f64_prefix(s).1]),
        v => v,
    };
    match store(v, &target, 1, &mode, &mut NoWarnings) {
        Ok(Value::Int(year)) => Some(year),
        _ => None,
    }
}

/// The results stand behind each searched value, the default at the end.
fn is_decoded(i: usize, n: usize) -> bool {
    i >= 2 && (i.is_multiple_of(2) || n.is_multiple_of(2) && i == n - 1)
}

fn decode_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let n = t.args.len();
    let results = t.types().enumerate().filter(|(i, _)| is_decoded(*i, n));
    let ty = types::unify(results.map(|(_, ty)| ty), "decode_oracle")?;
    // Without a default the value may be NULL, and where what is compared may be.
    Ok(ty.with_nullable(t.nullable() || n % 2 == 1))
}

/// DECODE of Oracle: NULLs are equal.
fn decode<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = c.args.len();
    let mut i = 1;
    while i + 1 < n {
        let equal = match (c.v(0).is_null(), c.v(i).is_null()) {
            (true, true) => true,
            (false, false) => {
                compare_one(c.v(0), c.v(i), Collation::default(), c.ctx.env)
                    == Some(Ordering::Equal)
            }
            _ => false,
        };
        if equal {
            return Ok(c.args[i + 1].clone());
        }
        i += 2;
    }
    Ok(match n.is_multiple_of(2) {
        true => c.args[n - 1].clone(),
        false => Val::NULL,
    })
}

fn name_const_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let literal = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
    let constant = |e: &Expr| match &e.kind {
        ExprKind::Neg(x) | ExprKind::Collate(x) => literal(x),
        _ => literal(e),
    };
    if t.args.iter().all(constant) {
        return Ok(t.arg(1).with_nullable(true));
    }
    Err(crate::expr::call::wrong_arguments("NAME_CONST"))
}
