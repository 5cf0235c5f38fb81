//! Expressions as text, for messages (error 1690 names the expression).

use super::functions::json::SCALAR;
use crate::expr::node::{Aggregate, ArithOp, CmpOp, Expr, ExprKind, SubqueryExpr};
use crate::expr::window::{Computes, WindowCall, WindowKey};
use narwal_types::{TypeKind, Value};
use std::fmt;

impl ArithOp {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            ArithOp::Add => "+",
            ArithOp::Sub => "-",
            ArithOp::Mul => "*",
            ArithOp::Div => "/",
            ArithOp::IntDiv => "DIV",
            ArithOp::Mod => "MOD",
            ArithOp::BitAnd => "&",
            ArithOp::BitOr => "|",
            ArithOp::BitXor => "^",
            ArithOp::ShiftLeft => "<<",
            ArithOp::ShiftRight => ">>",
        }
    }
}

impl CmpOp {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "=",
            CmpOp::NullSafeEq => "<=>",
            CmpOp::Ne => "<>",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }
}

struct List<'a>(&'a [Expr], &'a str);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, e) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(self.1)?;
            }
            write!(f, "{e}")?;
        }
        Ok(())
    }
}

fn subquery(f: &mut fmt::Formatter<'_>, s: &SubqueryExpr) -> fmt::Result {
    use crate::expr::node::SubqueryUse as U;
    let list = List(&s.left, ",");
    match s.used {
        U::Value | U::Field(_) => f.write_str("(subquery)"),
        U::Exists => f.write_str("exists(subquery)"),
        U::Any(CmpOp::Eq) => write!(f, "{list} in (subquery)"),
        U::All(CmpOp::Ne) => write!(f, "{list} not in (subquery)"),
        U::Any(op) => write!(f, "{list} {} any (subquery)", op.symbol()),
        U::All(op) => write!(f, "{list} {} all (subquery)", op.symbol()),
        U::Row(op) => write!(f, "({list}) {} (subquery)", op.symbol()),
    }
}

/// Sums are written flat, everything else that is nested in parentheses.
fn arithmetic(f: &mut fmt::Formatter<'_>, op: ArithOp, left: &Expr, right: &Expr) -> fmt::Result {
    use ArithOp::{Add, Div, IntDiv, Mod, Mul, Sub};
    let flat = |e: &Expr| match &e.kind {
        ExprKind::Arith { op: inner, .. } => {
            matches!(op, Add | Sub) || matches!(inner, Mul | Div | Mod | IntDiv)
        }
        _ => true,
    };
    let operand = |f: &mut fmt::Formatter<'_>, e: &Expr| match flat(e) {
        true => write!(f, "{e}"),
        false => write!(f, "({e})"),
    };
    operand(f, left)?;
    write!(f, " {} ", op.symbol())?;
    operand(f, right)
}

impl Expr {
    /// The expression with the values of its parameters in their places, for messages: a plan that is kept has parameters where
    /// the statement has literals.
    pub(crate) fn with_values(&self, params: &[Value]) -> Expr {
        fn put(e: &mut Expr, params: &[Value]) {
            if let ExprKind::Param(n) | ExprKind::Slot(n) = e.kind
                && let Some(value) = params.get(n)
            {
                e.kind = ExprKind::Literal(value.clone());
            }
            e.for_each_child_mut(&mut |c| put(c, params));
        }
        let mut e = self.clone();
        put(&mut e, params);
        e
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |n: &bool| if *n { " not" } else { "" };
        match &self.kind {
            ExprKind::Literal(Value::Null) => f.write_str("NULL"),
            ExprKind::Literal(v @ (Value::Str(_) | Value::Bytes(_))) => {
                write!(f, "'{}'", v.to_text().replace('\'', "\\'"))
            }
            ExprKind::Literal(v @ (Value::Date(_) | Value::Time(_) | Value::DateTime(_))) => {
                write!(f, "'{}'", v.to_text())
            }
            ExprKind::Literal(v) => f.write_str(&v.to_text()),
            ExprKind::Param(_) | ExprKind::Slot(_) => f.write_str("?"),
            ExprKind::Column { name, .. } => f.write_str(name),
            ExprKind::Aggregate(_, text) => f.write_str(text),
            ExprKind::Window(n) => write!(f, "window#{n}"),
            ExprKind::Item(_, e) => write!(f, "{e}"),
            ExprKind::InsertValue(_) => f.write_str("values(...)"),
            ExprKind::And(v) => {
                for (i, e) in v.iter().enumerate() {
                    let between = if i > 0 { " and " } else { "" };
                    match e.kind {
                        ExprKind::Or(_) => write!(f, "{between}({e})")?,
                        _ => write!(f, "{between}{e}")?,
                    }
                }
                Ok(())
            }
            ExprKind::Or(v) => write!(f, "{}", List(v, " or ")),
            ExprKind::Subquery(s) => subquery(f, s),
            ExprKind::Outer(n) => write!(f, "outer#{n}"),
            ExprKind::Xor(a, b) => write!(f, "{a} xor {b}"),
            ExprKind::Not(e) => write!(f, "!{e}"),
            ExprKind::Compare {
                op, left, right, ..
            } => write!(f, "{left} {} {right}", op.symbol()),
            ExprKind::Between {
                expr,
                low,
                high,
                negated,
                ..
            } => write!(f, "{expr}{} between {low} and {high}", not(negated)),
            ExprKind::InList {
                expr,
                list,
                negated,
                ..
            } => write!(f, "{expr}{} in ({})", not(negated), List(list, ",")),
            ExprKind::IsNull { expr, negated } => write!(f, "{expr} is{} null", not(negated)),
            ExprKind::IsBool {
                expr,
                value,
                negated,
            } => write!(f, "{expr} is{} {value}", not(negated)),
            ExprKind::Like {
                expr,
                pattern,
                negated,
                ..
            } => write!(f, "{expr}{} like {pattern}", not(negated)),
            ExprKind::Arith { op, left, right } => arithmetic(f, *op, left, right),
            ExprKind::Neg(e) => write!(f, "-{e}"),
            ExprKind::BitNot(e) => write!(f, "~{e}"),
            ExprKind::Case { .. } => f.write_str("case ... end"),
            ExprKind::Cast(e) if e.ty.ty.kind == TypeKind::Year => write!(f, "{e}"),
            ExprKind::Cast(e) if self.ty.ty.is_integer() => match self.ty.ty.unsigned {
                true => write!(f, "cast({e} as unsigned)"),
                false => write!(f, "cast({e} as signed)"),
            },
            ExprKind::Cast(e) => write!(f, "cast({e} as {})", self.ty.ty.sql_name()),
            ExprKind::Collate(e) => write!(f, "{e} collate {}", self.ty.ty.collation.name()),
            ExprKind::DateAdd {
                date,
                amount,
                unit,
                negated,
            } => write!(
                f,
                "{date} {} interval {amount} {}",
                if *negated { '-' } else { '+' },
                unit.name()
            ),
            // What stands around an operand without being written.
            ExprKind::Func { func, args } if **func == SCALAR => write!(f, "{}", args[0]),
            ExprKind::Func { func, args } => write!(f, "{}({})", func.name(), List(args, ",")),
            ExprKind::SystemVariable { name, .. } => write!(f, "@@{name}"),
            ExprKind::UserVariable(name, _) => write!(f, "@{name}"),
            ExprKind::Stored(c) => {
                let (db, name) = (&c.function.db, &c.function.name);
                write!(f, "`{db}`.`{name}`({})", List(&c.args, ","))
            }
            ExprKind::SetUserVariable(name, e) => write!(f, "@{name}:={e}"),
        }
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distinct = if self.distinct { "distinct " } else { "" };
        write!(
            f,
            "{}({distinct}{})",
            self.func.name(),
            List(&self.args, ",")
        )
    }
}

impl fmt::Display for WindowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.desc { " desc" } else { "" })
    }
}

/// A call without its frame, as printed plans have it.
impl fmt::Display for WindowCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.computes {
            Computes::Func(func, args) => write!(f, "{func:?}({})", List(args, ","))?,
            Computes::Aggregate(a) => write!(f, "{a}")?,
        }
        for (word, keys) in [("partition by", &self.partition), ("order by", &self.order)] {
            for (i, k) in keys.iter().enumerate() {
                match i {
                    0 => write!(f, " {word} {k}")?,
                    _ => write!(f, ", {k}")?,
                }
            }
        }
        Ok(())
    }
}
