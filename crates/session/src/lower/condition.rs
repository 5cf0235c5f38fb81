//! WHERE of SHOW: columns compared with constants.

use crate::show::filter::{Cmp, Condition};
use narwal_syntax::ast::admin::Operand;
use narwal_syntax::ast::{BinaryOp, Expr, IsTest, Literal, UnaryOp};

/// The condition that an expression is; `None` if it has functions and the like.
pub(super) fn condition(operand: &Operand) -> Option<Condition> {
    of(&operand.value.expr)
}

// The parser bounds the depth.
fn of(e: &Expr) -> Option<Condition> {
    Some(match e {
        Expr::Nested(e) => of(e)?,
        Expr::Unary {
            op: UnaryOp::Not | UnaryOp::Bang,
            expr,
        } => Condition::Not(Box::new(of(expr)?)),
        Expr::Binary { op, left, right } => binary(*op, left, right)?,
        Expr::Is {
            expr,
            what: IsTest::Null,
            negated,
        } => Condition::IsNull(column(expr)?, *negated),
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let values = list.iter().map(constant).collect::<Option<_>>()?;
            Condition::In(column(expr)?, values, *negated)
        }
        Expr::Like {
            expr,
            pattern,
            escape: None,
            negated,
        } => Condition::Like(column(expr)?, constant(pattern)?, *negated),
        Expr::Literal(Literal::Bool(b)) => Condition::Constant(*b),
        Expr::Literal(Literal::Number(n)) => {
            Condition::Constant(n.parse::<f64>().is_ok_and(|n| n != 0.0))
        }
        _ => return None,
    })
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Condition> {
    let both = |f: fn(Box<Condition>, Box<Condition>) -> Condition| {
        Some(f(Box::new(of(left)?), Box::new(of(right)?)))
    };
    let cmp = match op {
        BinaryOp::And => return both(Condition::And),
        BinaryOp::Or => return both(Condition::Or),
        BinaryOp::Eq => Cmp::Eq,
        BinaryOp::NullSafeEq => Cmp::NullSafeEq,
        BinaryOp::Ne => Cmp::Ne,
        BinaryOp::Lt => Cmp::Lt,
        BinaryOp::Le => Cmp::Le,
        BinaryOp::Gt => Cmp::Gt,
        BinaryOp::Ge => Cmp::Ge,
        _ => return None,
    };
    Some(Condition::Compare(column(left)?, cmp, constant(right)?))
}

fn column(e: &Expr) -> Option<String> {
    match e {
        Expr::Column(name) => Some(name.clone()),
        Expr::Qualified(q) => Some(q.column.clone()),
        Expr::Nested(e) => column(e),
        _ => None,
    }
}

fn constant(e: &Expr) -> Option<String> {
    match e {
        Expr::Literal(Literal::Number(s) | Literal::String(s) | Literal::National(s)) => {
            Some(s.clone())
        }
        Expr::Unary {
            op: UnaryOp::Minus,
            expr,
        } => Some(format!("-{}", constant(expr)?)),
        Expr::Nested(e) => constant(e),
        _ => None,
    }
}
