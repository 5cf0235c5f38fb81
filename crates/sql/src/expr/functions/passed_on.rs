//! Texts on their way from one character set into a column of another. In flight a text is UTF-8 in which codes that stand for
//! no character, or for one that has another code, are private characters of its own set: what they stand for has to be known
//! while it still is.

use crate::expr::node::{Call, Expr, ExprKind, Function, make};
use crate::expr::value::Val;
use narwal_types::convert;
use narwal_types::{Charset, ColumnType, SqlResult, Value, ValueRef};

/// A text and the name of the other set.
static PASSED_ON: Function = Function::new(
    " passed_on",
    "",
    "A text as a column of another character set takes it.",
    |t| Ok(t.args[0].ty),
    passed_on,
)
.never_defined();

/// An expression as a column takes it: as it is, unless its character set has codes that mean something there only.
pub(crate) fn into_column(e: Expr, to: &ColumnType) -> Expr {
    let Some((_, to)) = e.ty.ty.passed_on_to(to).filter(|_| e.ty.is_string()) else {
        return e;
    };
    let ty = e.ty;
    let name = Expr::literal(Value::str(to.name()));
    make(
        ExprKind::Func {
            func: &PASSED_ON,
            args: vec![e, name],
        },
        ty,
    )
}

fn passed_on<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let ValueRef::Str(name) = c.v(1) else {
        return Ok(Val::NULL);
    };
    let to = str::from_utf8(name).ok().and_then(Charset::from_name);
    let from = c.exprs().first().map(|e| e.ty.ty.collation.charset());
    if let (ValueRef::Str(s), Some(from), Some(to)) = (c.v(0), from, to)
        && let Some(other) = convert::passed_on(&String::from_utf8_lossy(s), from, to)
    {
        return Ok(Val::Owned(other));
    }
    Ok(c.args
        .first()
        .map_or(Val::NULL, |v| Val::Owned(v.as_ref().to_value())))
}
