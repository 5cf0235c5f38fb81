//! Arguments of JSON functions as documents and paths.

use crate::expr::functions::control::IF;
use crate::expr::functions::json::path::{Path, PathFault};
use crate::expr::functions::json::value::{Fault, Node, escape};
use crate::expr::node::{Call, Expr, ExprKind, SubqueryUse};
use crate::expr::value::Val;
use narwal_types::errors::codes;
use narwal_types::{SqlResult, ValueRef};

/// Appends a value as JSON: JSON texts as they are, numbers as text, the rest as strings.
pub(crate) fn append_value(e: &Expr, v: ValueRef<'_>, out: &mut String) {
    match v {
        ValueRef::Null => out.push_str("null"),
        v if e.ty().json => out.push_str(&v.to_text()),
        ValueRef::Int(n) if is_bool(e) => out.push_str(if n != 0 { "true" } else { "false" }),
        ValueRef::Int(_) | ValueRef::UInt(_) | ValueRef::Decimal(_) | ValueRef::Float(_) => {
            out.push_str(&v.to_text())
        }
        v if e.ty.has_form() && !v.is_null() => out.push_str(&e.ty.formed_text(v)),
        ValueRef::Double(_) => out.push_str(&v.to_text()),
        v => {
            out.push('"');
            escape(&v.to_text(), out);
            out.push('"');
        }
    }
}

pub(crate) fn append_arg(c: &Call<'_, '_>, i: usize, out: &mut String) {
    if let Some(e) = c.exprs().get(i) {
        append_value(e, c.v(i), out);
    }
}

/// Warns that argument `i` (from 0) is no JSON text.
pub(crate) fn warn_text(c: &Call<'_, '_>, i: usize, f: Fault, note: bool) {
    let (arg, name) = (i + 1, c.func.name());
    let (code, message) = match f {
        Fault::End => (
            codes::JSON_EOS,
            format!("Unexpected end of JSON text in argument {arg} to function '{name}'"),
        ),
        Fault::Syntax(p) => (
            codes::JSON_SYNTAX,
            format!(
                "Syntax error in JSON text in argument {arg} to function '{name}' at position {p}"
            ),
        ),
        Fault::Character(p) => (
            codes::JSON_NOT_JSON_CHR,
            format!(
                "Character disallowed in JSON in argument {arg} to function '{name}' at position {p}"
            ),
        ),
        Fault::Depth(p) => (
            codes::JSON_DEPTH,
            format!(
                "Limit of 32 on JSON nested structures depth is reached in argument {arg} to function '{name}' at position {p}"
            ),
        ),
    };
    if note {
        c.ctx.env.note(code, message);
    } else {
        c.ctx.env.warn(code, message);
    }
}

/// The document in argument `i`; `None` with a warning if it is none.
pub(crate) fn parse<'t>(c: &Call<'_, '_>, i: usize, text: &'t str) -> Option<Node<'t>> {
    Node::parse(text)
        .map_err(|f| warn_text(c, i, f, false))
        .ok()
}

/// The first value in argument `i`, whatever follows it; `None` with a warning if there is none.
pub(crate) fn parse_first<'t>(c: &Call<'_, '_>, i: usize, text: &'t str) -> Option<Node<'t>> {
    Node::parse_first(text)
        .map_err(|f| warn_text(c, i, f, false))
        .ok()
}

/// Computes something of a document, or warns and gives NULL.
pub(crate) fn doc<'a>(
    c: &Call<'a, '_>,
    i: usize,
    text: &str,
    f: impl FnOnce(&Node<'_>) -> Val<'a>,
) -> Val<'a> {
    parse(c, i, text).map_or(Val::NULL, |n| f(&n))
}

/// The path in argument `i`; `None` with a warning if it is none.
pub(crate) fn path(c: &Call<'_, '_>, i: usize) -> Option<Path> {
    let (arg, name) = (i + 1, c.func.name());
    Path::parse(&c.text(i))
        .map_err(|f| match f {
            PathFault::End => c.ctx.env.warn(
                codes::JSON_PATH_EOS,
                format!("Unexpected end of JSON path in argument {arg} to function '{name}'"),
            ),
            PathFault::Syntax(p) => c.ctx.env.warn(
                codes::JSON_PATH_SYNTAX,
                format!(
                    "Syntax error in JSON path in argument {arg} to function '{name}' at position {p}"
                ),
            ),
        })
        .ok()
}

/// A path without wildcards.
pub(crate) fn plain_path(c: &Call<'_, '_>, i: usize) -> Option<Path> {
    let p = path(c, i)?;
    if p.is_wild() {
        c.ctx.env.warn(
            codes::JSON_PATH_NO_WILDCARD,
            format!(
                "Wildcards or range in JSON path not allowed in argument {} to function '{}'",
                i + 1,
                c.func.name()
            ),
        );
        return None;
    }
    Some(p)
}

/// A document as its function gives it.
pub(crate) fn loose<'a>(c: &Call<'a, '_>, n: &Node<'_>) -> SqlResult<Val<'a>> {
    let mut out = String::new();
    n.write(true, &mut out);
    c.string(out.into_bytes())
}

/// True if a number is a truth value.
pub(crate) fn is_bool(e: &Expr) -> bool {
    if e.ty.boolean {
        return true;
    }
    match &e.kind {
        ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Xor(..)
        | ExprKind::Not(_)
        | ExprKind::Compare { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::IsBool { .. }
        | ExprKind::Like { .. } => true,
        ExprKind::Subquery(s) => !matches!(s.used, SubqueryUse::Value),
        ExprKind::Func { func, args } if **func == IF => args.iter().skip(1).all(is_bool),
        ExprKind::Func { func, .. } => func.predicate,
        _ => false,
    }
}
