//! UUID, INET4 and INET6 in expressions: what they may meet, and text beside them.

use crate::env::StatementEnv;
use crate::expr::node::{AggFunc, ArithOp, Expr, ExprKind, ExprType, make};
use crate::expr::node::{Function, NOT_FIXED, Refuses};
use crate::expr::value::Warn;
use narwal_types::convert::{SqlWarning, Warnings, shown};
use narwal_types::errors;
use narwal_types::errors::{abridged, codes};
use narwal_types::{ColumnType, Fixed, FixedKind, SqlError, SqlResult, TypeKind, Value, ValueRef};
use std::cmp::Ordering;

impl ExprType {
    /// A UUID, INET4 or INET6.
    pub fn fixed(kind: FixedKind, nullable: bool) -> Self {
        Self::of_column(ColumnType::new(TypeKind::Fixed(kind)), nullable)
    }

    /// What UUID() returns.
    pub fn new_uuid() -> Self {
        ExprType {
            decimals: NOT_FIXED,
            ..Self::fixed(FixedKind::Uuid, true)
        }
    }
}

/// Error 4078: these types don't go together.
fn pair_error(a: &ExprType, b: &ExprType, op: &str) -> SqlError {
    errors::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION.with([&met_name(a), &met_name(b), &op])
}

/// Error 4079: the operation does not take this type.
fn refused(t: &ExprType, op: &str) -> SqlError {
    errors::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION.with([&met_name(t), &op])
}

/// A type as errors 4078 and 4079 name it: text and bytes have one name there.
fn met_name(t: &ExprType) -> String {
    let name = t.ty.family_name();
    match name.as_str() {
        "binary" => "char".into(),
        "varbinary" => "varchar".into(),
        "longtext" if t.json => "longblob/json".into(),
        "year unsigned" => "year".into(),
        name => match name.strip_suffix("text") {
            Some(size) => format!("{size}blob"),
            None => name.into(),
        },
    }
}

/// If one of the types is of a fixed length: that one. Types meet from the left to the right: error 4078 if one of a fixed
/// length meets what is neither the same, a string nor NULL.
pub(crate) fn shared<'a>(
    types: impl IntoIterator<Item = &'a ExprType>,
    op: &str,
) -> SqlResult<Option<FixedKind>> {
    let mut met: Option<&ExprType> = None;
    for t in types.into_iter().filter(|t| !t.null) {
        met = match met {
            None => Some(t),
            Some(m) => Some(meet(m, t, op)?),
        };
    }
    Ok(met.and_then(|t| t.ty.fixed()))
}

/// Which of two types the next one meets.
fn meet<'a>(a: &'a ExprType, b: &'a ExprType, op: &str) -> SqlResult<&'a ExprType> {
    match (a.ty.fixed(), b.ty.fixed()) {
        (Some(x), Some(y)) if x == y => Ok(a),
        (Some(_), None) if b.ty.is_string() => Ok(a),
        (None, Some(_)) if a.ty.is_string() => Ok(b),
        (None, None) if b.ty.is_string() => Ok(b),
        (None, None) => Ok(a),
        _ => Err(pair_error(a, b, op)),
    }
}

/// Arithmetic does not take these types.
pub(crate) fn check_arith(op: ArithOp, a: &ExprType, b: &ExprType) -> SqlResult<()> {
    let Some(first) = [a, b].into_iter().find(|t| t.ty.fixed().is_some()) else {
        return Ok(());
    };
    let symbol = match op {
        ArithOp::Add => "+",
        ArithOp::Sub => "-",
        ArithOp::Mul => "*",
        ArithOp::Div => "/",
        ArithOp::Mod => "MOD",
        ArithOp::IntDiv => return Ok(()),
        ArithOp::BitAnd => return Err(refused(first, "&")),
        ArithOp::BitOr => return Err(refused(first, "|")),
        ArithOp::BitXor => return Err(refused(first, "^")),
        ArithOp::ShiftLeft => return Err(refused(first, "<<")),
        ArithOp::ShiftRight => return Err(refused(first, ">>")),
    };
    Err(pair_error(a, b, symbol))
}

/// An operation on one value that does not take these types.
pub(crate) fn check_unary(t: &ExprType, op: &str) -> SqlResult<()> {
    match t.ty.fixed() {
        Some(_) => Err(refused(t, op)),
        None => Ok(()),
    }
}

/// A truth value: where a condition is written out as `x <> 0`, these types are refused.
pub(crate) fn check_truth(t: &ExprType, op: &str) -> SqlResult<()> {
    match t.ty.fixed() {
        Some(_) => Err(pair_error(t, &ExprType::int(false), op)),
        None => Ok(()),
    }
}

/// Aggregates of numbers do not take these types.
pub(crate) fn check_aggregate(func: AggFunc, distinct: bool, args: &[Expr]) -> SqlResult<()> {
    let Some(arg) = args.first().filter(|_| func.is_numeric()) else {
        return Ok(());
    };
    let distinct = if distinct { "distinct " } else { "" };
    check_unary(&arg.ty, &format!("{}({distinct}", func.name()))
}

/// What a function does not take of these types.
pub(crate) fn check_call(func: &Function, args: &[Expr]) -> SqlResult<()> {
    match (func.refuses_fixed, args) {
        (Refuses::Each(op), _) => args.iter().try_for_each(|a| check_unary(&a.ty, op)),
        (Refuses::First, [a, ..]) => check_unary(&a.ty, func.name()),
        (Refuses::Pair, [a, b, ..]) if a.ty.ty.fixed().or(b.ty.ty.fixed()).is_some() => {
            Err(pair_error(&a.ty, &b.ty, func.name()))
        }
        _ => Ok(()),
    }
}

/// A date and an interval: the date is none of these types.
pub(crate) fn check_date_add(date: &ExprType) -> SqlResult<()> {
    match date.ty.fixed() {
        Some(_) => Err(errors::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION.with([
            &date.ty.family_name(),
            &"interval",
            &"date_add_interval",
        ])),
        None => Ok(()),
    }
}

/// CAST of these types to a number or a date.
pub(crate) fn check_cast(from: &ExprType, to: &ColumnType) -> SqlResult<()> {
    let op = match to.kind {
        _ if to.is_integer() && to.unsigned => "cast_as_unsigned",
        _ if to.is_integer() => "cast_as_signed",
        TypeKind::Decimal(..) => "decimal_typecast",
        TypeKind::Double => "double_typecast",
        TypeKind::Float => "float_typecast",
        TypeKind::Date => "cast_as_date",
        TypeKind::Time(_) => "cast_as_time",
        TypeKind::DateTime(_) => "cast_as_datetime",
        _ => return Ok(()),
    };
    check_unary(from, op)
}

/// The value that a text or a byte string is; else `None`, and warning 1292.
pub(crate) fn read(v: ValueRef<'_>, kind: FixedKind, env: &StatementEnv) -> Option<Fixed> {
    let found = match v {
        ValueRef::Null => return None,
        ValueRef::Fixed(f) if f.kind == kind => return Some(f),
        ValueRef::Str(s) => Fixed::parse(kind, s),
        ValueRef::Bytes(s) => Fixed::from_bytes(kind, s),
        ValueRef::Coded(set, s) => Fixed::parse(kind, set.decode(s).as_bytes()),
        ValueRef::Member(m) => Fixed::parse(kind, m.text().as_bytes()),
        _ => None,
    };
    if found.is_none() {
        Warn(env).push(SqlWarning {
            note: false,
            code: codes::TRUNCATED_WRONG_VALUE,
            message: format!(
                "Incorrect {} value: '{}'",
                kind.name(),
                abridged(shown(v), 128)
            )
            .into(),
        });
    }
    found
}

/// Never NULL as a value of this type: one that is, or a literal that is read as one.
pub(crate) fn is_always(e: &Expr, kind: FixedKind) -> bool {
    is_good_literal(e, kind) || e.ty.ty.fixed() == Some(kind) && !e.ty.nullable
}

/// A literal that is read as a value of this type.
pub(crate) fn is_good_literal(e: &Expr, kind: FixedKind) -> bool {
    match &e.kind {
        ExprKind::Literal(Value::Str(s)) => Fixed::parse(kind, s.as_bytes()).is_some(),
        ExprKind::Literal(Value::Bytes(b)) => Fixed::from_bytes(kind, b).is_some(),
        _ => false,
    }
}

/// A literal beside a value of such a type: it is read once. What is no value of it is NULL, with a warning.
pub(crate) fn literal_beside(e: Expr, kind: FixedKind, env: &StatementEnv) -> Expr {
    let v = match &e.kind {
        ExprKind::Literal(v @ (Value::Str(_) | Value::Bytes(_))) => v,
        _ => return e,
    };
    match read(v.as_ref(), kind, env) {
        Some(f) => make(
            ExprKind::Literal(Value::Fixed(f)),
            ExprType::fixed(kind, false),
        ),
        None => Expr::literal(Value::Null),
    }
}

/// Compares two values of which one is of such a type; `None` if the other is none.
pub(crate) fn compare(a: ValueRef<'_>, b: ValueRef<'_>, env: &StatementEnv) -> Option<Ordering> {
    match (a, b) {
        (ValueRef::Fixed(x), _) => Some(x.cmp(&read(b, x.kind, env)?)),
        (_, ValueRef::Fixed(y)) => Some(read(a, y.kind, env)?.cmp(&y)),
        _ => None,
    }
}
