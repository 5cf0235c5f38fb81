//! The names and values inside of parsed expressions.

use narwal_syntax::ast::{CastType, Expr as Ast, Over, Special, TableName};
use narwal_types::Charset;

/// Calls `f` with each name, each value and each subquery in an expression; it may put something else there.
pub fn for_each_leaf(e: &mut Ast, f: &mut dyn FnMut(&mut Ast)) {
    if is_leaf(e) {
        f(e);
    } else {
        for_each_operand(e, &mut |e| for_each_leaf(e, f));
    }
}

fn is_leaf(e: &Ast) -> bool {
    matches!(
        e,
        Ast::Column(_)
            | Ast::Qualified(_)
            | Ast::Literal(_)
            | Ast::Param(_)
            | Ast::UserVar(_)
            | Ast::CursorAttribute(..)
            | Ast::SystemVar(_)
            | Ast::Subquery(_)
            | Ast::Exists(_)
    )
}

/// Calls `f` with the operands of an expression, in the order of the text.
pub fn for_each_operand(e: &mut Ast, f: &mut dyn FnMut(&mut Ast)) {
    match e {
        Ast::Column(_)
        | Ast::Qualified(_)
        | Ast::Literal(_)
        | Ast::Param(_)
        | Ast::UserVar(_)
        | Ast::CursorAttribute(..)
        | Ast::SystemVar(_)
        | Ast::Subquery(_)
        | Ast::Exists(_)
        | Ast::Introduced { .. }
        | Ast::Temporal { .. } => {}
        Ast::Nested(e)
        | Ast::Default(e)
        | Ast::Values(e)
        | Ast::Assign { value: e, .. }
        | Ast::Unary { expr: e, .. }
        | Ast::Is { expr: e, .. }
        | Ast::InQuery { expr: e, .. }
        | Ast::Quantified { left: e, .. }
        | Ast::Cast { expr: e, .. }
        | Ast::ConvertUsing { expr: e, .. }
        | Ast::Collate { expr: e, .. }
        | Ast::Interval { value: e, .. } => f(e),
        Ast::Binary { left, right, .. } => {
            f(left);
            f(right);
        }
        Ast::Between {
            expr, low, high, ..
        } => [expr, low, high].into_iter().for_each(|e| f(e)),
        Ast::InList { expr, list, .. } => {
            f(expr);
            list.iter_mut().for_each(f);
        }
        Ast::Row(list) => list.iter_mut().for_each(f),
        Ast::Like {
            expr,
            pattern,
            escape,
            ..
        } => {
            f(expr);
            f(pattern);
            escape.iter_mut().for_each(|e| f(e));
        }
        Ast::Regexp { expr, pattern, .. } => {
            f(expr);
            f(pattern);
        }
        Ast::Case {
            operand,
            whens,
            otherwise,
        } => {
            operand.iter_mut().for_each(|e| f(e));
            for (when, then) in whens {
                f(when);
                f(then);
            }
            otherwise.iter_mut().for_each(|e| f(e));
        }
        Ast::Call(call) => {
            call.args.iter_mut().for_each(&mut *f);
            let Some(c) = &mut call.clauses else { return };
            let within = c.within_group.iter_mut().flatten();
            c.order_by
                .iter_mut()
                .chain(within)
                .for_each(|o| f(&mut o.expr));
            if let Some(Over::Window(w)) = &mut c.over {
                w.partition_by
                    .iter_mut()
                    .chain(&mut w.order_by)
                    .for_each(|o| f(&mut o.expr));
            }
        }
        Ast::Special(s) => special_operands(s, f),
    }
}

fn special_operands(s: &mut Special, f: &mut dyn FnMut(&mut Ast)) {
    match s {
        Special::Trim { what, text, .. } => {
            what.iter_mut().for_each(&mut *f);
            f(text);
        }
        Special::Extract(_, e)
        | Special::GetFormat(_, e)
        | Special::PaddedWeights(e, _)
        | Special::WeightString { text: e, .. } => f(e),
        Special::Position(a, b)
        | Special::TimestampAdd(_, a, b)
        | Special::TimestampDiff(_, a, b) => {
            f(a);
            f(b);
        }
        Special::Substring(a, b, c) => {
            f(a);
            f(b);
            c.iter_mut().for_each(f);
        }
        Special::Char(list, _) => list.iter_mut().for_each(f),
        Special::DateArith { date, amount, .. } => {
            f(date);
            f(amount);
        }
        Special::Match {
            columns, against, ..
        } => {
            columns.iter_mut().for_each(&mut *f);
            f(against);
        }
        Special::NextValue(_) | Special::LastValue(_) | Special::SetValue { .. } => {}
        Special::ColumnCreate(list) => list.iter_mut().for_each(|c| {
            f(&mut c.name);
            f(&mut c.value);
        }),
        Special::ColumnAdd(blob, list) => {
            f(blob);
            list.iter_mut().for_each(|c| {
                f(&mut c.name);
                f(&mut c.value);
            });
        }
        Special::ColumnGet(blob, name, _) => {
            f(blob);
            f(name);
        }
    }
}

/// Gives sequences without a database this one.
pub fn name_sequences(e: &mut Ast, db: &str) {
    for_each_sequence(e, &mut |name| {
        name.db.get_or_insert_with(|| db.to_string());
    });
}

/// The sequences that an expression names.
pub fn for_each_sequence(e: &mut Ast, f: &mut dyn FnMut(&mut TableName)) {
    if let Ast::Special(s) = e
        && let Special::NextValue(name) | Special::LastValue(name) | Special::SetValue { name, .. } =
            &mut **s
    {
        f(name);
    }
    for_each_operand(e, &mut |e| for_each_sequence(e, f));
}

/// Gives each type CHAR of a CAST that names no character set this one: what is kept does not depend on who reads it.
pub fn name_charsets(e: &mut Ast, set: Charset) {
    let name = |t: &mut CastType| {
        if let CastType::Char {
            charset,
            collation: None,
            national: false,
            ..
        } = t
        {
            charset.get_or_insert_with(|| set.name().to_string());
        }
    };
    match e {
        Ast::Cast { ty, .. } => name(ty),
        Ast::Special(s) => match &mut **s {
            Special::ColumnGet(_, _, ty) => name(ty),
            Special::ColumnCreate(list) | Special::ColumnAdd(_, list) => {
                list.iter_mut().filter_map(|c| c.ty.as_mut()).for_each(name);
            }
            _ => {}
        },
        _ => {}
    }
    for_each_operand(e, &mut |e| name_charsets(e, set));
}

/// The expression with plain column names only.
pub fn unqualified(e: &Ast) -> Ast {
    let mut e = e.clone();
    for_each_leaf(&mut e, &mut |leaf| {
        if let Ast::Qualified(q) = leaf {
            *leaf = Ast::Column(std::mem::take(&mut q.column));
        }
    });
    e
}
