//! Values as literals: for statements that take no parameters.

use narwal_sql::Stmt;
use narwal_syntax::ast::{Expr, Expression, Literal, TemporalKind};
use narwal_types::Value;

/// A value as an expression that has it.
pub(crate) fn literal(v: &Value) -> Expr {
    let text = |v: &Value| {
        let mut text = Vec::new();
        v.as_ref().write_text(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let number = |t: String| match t.strip_prefix('-') {
        Some(digits) => Expr::Nested(Box::new(Expr::Unary {
            op: narwal_syntax::ast::UnaryOp::Minus,
            expr: Box::new(Expr::Literal(Literal::Number(digits.to_string()))),
        })),
        None => Expr::Literal(Literal::Number(t)),
    };
    match v {
        Value::Null => Expr::Literal(Literal::Null),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => number(text(v)),
        Value::Double(_) | Value::Float(_) => number(format!("{}e0", text(v))),
        Value::Bytes(b) => {
            let hex = b.iter().map(|b| format!("{b:02X}")).collect();
            Expr::Literal(Literal::HexText(hex))
        }
        Value::Date(_) => Expr::Temporal {
            kind: TemporalKind::Date,
            text: text(v),
            odbc: false,
        },
        Value::DateTime(_) => Expr::Temporal {
            kind: TemporalKind::Timestamp,
            text: text(v),
            odbc: false,
        },
        Value::Time(_) => Expr::Temporal {
            kind: TemporalKind::Time,
            text: text(v),
            odbc: false,
        },
        _ => Expr::Literal(Literal::String(text(v))),
    }
}

/// The number of `?` in a CALL's arguments.
pub fn count_params(arguments: &[Expression]) -> usize {
    let mut n = 0;
    for a in arguments {
        crate::rewrite::expression(&mut a.clone(), &mut |e| {
            if matches!(e, Expr::Param(_)) {
                n += 1;
            }
        });
    }
    n
}

/// Puts values in the place of the `?`.
pub fn fill_params(arguments: &mut [Expression], values: &[Value]) {
    for a in arguments {
        crate::rewrite::expression(a, &mut |e| {
            if let Expr::Param(n) = e {
                *e = literal(values.get(*n).unwrap_or(&Value::Null));
            }
        });
    }
}

/// A statement that has so many parameters.
pub fn with_params(stmt: &Stmt, n: usize) -> Stmt {
    let mut stmt = stmt.clone();
    set_params(&mut stmt, n);
    stmt
}

fn set_params(stmt: &mut Stmt, n: usize) {
    match stmt {
        Stmt::Select(s) | Stmt::Do(s) => s.params = n,
        Stmt::Insert(i) => i.params = n,
        Stmt::Update(u) => u.params = n,
        Stmt::Delete(d) => d.params = n,
        Stmt::WriteJoin(w) => w.select.params = n,
        Stmt::Explain(inner, _) => set_params(inner, n),
        _ => {}
    }
}
