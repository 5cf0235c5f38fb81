//! JSON_SET and its kin: functions that change documents or merge them.

use super::path::{Path, Step, element};
use super::value::{Kind, Node, escape, unescape};
use crate::expr::functions::json::document::{append_arg, loose, parse, plain_path};
use crate::expr::node::Call;
use crate::expr::value::Val;
use narwal_types::SqlResult;
use narwal_types::errors::codes;
use narwal_types::work::stopped;
use std::borrow::Cow;

/// Argument `i` as a value of its own.
fn value_arg(c: &Call<'_, '_>, i: usize) -> Option<Node<'static>> {
    let mut text = String::new();
    append_arg(c, i, &mut text);
    parse(c, i, &text).map(Node::into_owned)
}

/// The value that steps without wildcards lead to.
fn follow<'d, 't>(mut at: &'d mut Node<'t>, steps: &[Step]) -> Option<&'d mut Node<'t>> {
    for s in steps {
        if *s == Step::Index(0) && !matches!(at.kind, Kind::Array(_)) {
            continue;
        }
        at = match (s, &mut at.kind) {
            (Step::Key(k), Kind::Object(o)) => {
                let i = o.iter().position(|(x, _)| unescape(x) == *k)?;
                &mut o[i].1
            }
            (s, Kind::Array(a)) => {
                let i = element(s, a.len())?;
                a.get_mut(i)?
            }
            _ => return None,
        };
    }
    Some(at)
}

/// Runs `f` with each path and value of the arguments behind the first.
fn change<'a>(
    c: &Call<'a, '_>,
    step: usize,
    mut f: impl FnMut(&mut Node<'static>, &Path, usize) -> Option<()>,
) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    let text = c.text(0);
    let Some(doc) = parse(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let mut doc = doc.into_owned();
    for i in (1..c.args.len()).step_by(step) {
        if c.v(i).is_null() {
            return Ok(Val::NULL);
        }
        let Some(p) = plain_path(c, i) else {
            return Ok(Val::NULL);
        };
        if f(&mut doc, &p, i).is_none() {
            return Ok(Val::NULL);
        }
    }
    loose(c, &doc)
}

fn take<'t>(n: &mut Node<'t>) -> Node<'t> {
    std::mem::replace(n, Node::scalar("null"))
}

/// JSON_SET, JSON_INSERT (only new places) and JSON_REPLACE (only old ones).
pub(super) fn set<'a>(c: &Call<'a, '_>, insert: bool, replace: bool) -> SqlResult<Val<'a>> {
    change(c, 2, |doc, p, i| {
        let value = value_arg(c, i + 1)?;
        if let Some(old) = follow(doc, &p.0) {
            if replace {
                *old = value;
            }
            return Some(());
        }
        if !insert {
            return Some(());
        }
        let (last, before) = p.0.split_last()?;
        let Some(parent) = follow(doc, before) else {
            return Some(());
        };
        match (last, &mut parent.kind) {
            (Step::Key(k), Kind::Object(o)) => {
                let mut key = String::new();
                escape(k, &mut key);
                o.push((Cow::Owned(key), value));
            }
            (Step::Index(_), Kind::Array(a)) => a.push(value),
            (Step::FromEnd(_), Kind::Array(a)) => a.insert(0, value),
            (Step::Index(_), _) => {
                let old = take(parent);
                parent.kind = Kind::Array(vec![old, value]);
            }
            // What is no array is its own last element, for JSON_SET at least.
            (Step::FromEnd(0), _) if replace => *parent = value,
            (Step::FromEnd(0), _) => {
                let old = take(parent);
                parent.kind = Kind::Array(vec![old, value]);
            }
            _ => {}
        }
        Some(())
    })
}

pub(super) fn array_append<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    change(c, 2, |doc, p, i| {
        let value = value_arg(c, i + 1)?;
        let at = follow(doc, &p.0)?;
        match &mut at.kind {
            Kind::Array(a) => a.push(value),
            _ => {
                let old = take(at);
                at.kind = Kind::Array(vec![old, value]);
            }
        }
        Some(())
    })
}

pub(super) fn array_insert<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    change(c, 2, |doc, p, i| {
        let value = value_arg(c, i + 1)?;
        let (last, before) = p.0.split_last()?;
        if matches!(last, Step::Key(_)) {
            return None;
        }
        if let Some(Node {
            kind: Kind::Array(a),
            ..
        }) = follow(doc, before)
        {
            // Counted from the end it is the place behind an element, or behind all.
            let at = match last {
                Step::FromEnd(n) => a.len().checked_sub(*n).unwrap_or(a.len()),
                last => element(last, a.len()).unwrap_or(0).min(a.len()),
            };
            a.insert(at, value);
        }
        Some(())
    })
}

pub(super) fn remove<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    change(c, 1, |doc, p, i| {
        let Some((last, before)) = p.0.split_last() else {
            c.ctx.env.warn(
                codes::JSON_PATH_EMPTY,
                format!(
                    "Path expression '$' is not allowed in argument {} to function 'json_remove'.",
                    i + 1
                ),
            );
            return None;
        };
        match (last, follow(doc, before).map(|n| &mut n.kind)) {
            (Step::Key(k), Some(Kind::Object(o))) => {
                if let Some(at) = o.iter().position(|(x, _)| unescape(x) == *k) {
                    o.remove(at);
                }
            }
            (s, Some(Kind::Array(a))) => {
                if let Some(at) = element(s, a.len()).filter(|at| *at < a.len()) {
                    a.remove(at);
                }
            }
            _ => {}
        }
        Some(())
    })
}

/// Members of equal names are merged, other values become arrays.
fn merge(a: Node<'static>, b: Node<'static>) -> Node<'static> {
    match (a.kind, b.kind) {
        (Kind::Object(mut x), Kind::Object(y)) => {
            for (k, v) in y {
                if stopped() {
                    break;
                }
                match x.iter().position(|(n, _)| unescape(n) == unescape(&k)) {
                    Some(i) => {
                        let old = take(&mut x[i].1);
                        x[i].1 = merge(old, v);
                    }
                    None => x.push((k, v)),
                }
            }
            Node::new(Kind::Object(x))
        }
        (x, y) => {
            let list = |k: Kind<'static>| match k {
                Kind::Array(a) => a,
                k => vec![Node::new(k)],
            };
            let mut all = list(x);
            all.extend(list(y));
            Node::new(Kind::Array(all))
        }
    }
}

pub(super) fn merge_preserve<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut sum: Option<Node<'static>> = None;
    for i in 0..c.args.len() {
        let text = c.text(i);
        let Some(n) = parse(c, i, &text).map(Node::into_owned) else {
            return Ok(Val::NULL);
        };
        sum = Some(match sum {
            Some(s) => merge(s, n),
            None => n,
        });
    }
    sum.map_or(Ok(Val::NULL), |n| loose(c, &n))
}

/// RFC 7396.
fn patch(target: Option<Node<'static>>, by: Node<'static>) -> Node<'static> {
    let Kind::Object(changes) = by.kind else {
        return by;
    };
    let mut o = match target.map(|t| t.kind) {
        Some(Kind::Object(o)) => o,
        _ => Vec::new(),
    };
    for (k, v) in changes {
        if stopped() {
            break;
        }
        let at = o.iter().position(|(n, _)| unescape(n) == unescape(&k));
        let is_null = matches!(&v.kind, Kind::Scalar(s) if s == "null");
        match (at, is_null) {
            (Some(i), true) => {
                o.remove(i);
            }
            (None, true) => {}
            (Some(i), false) => {
                let old = take(&mut o[i].1);
                o[i].1 = patch(Some(old), v);
            }
            (None, false) => o.push((k, patch(None, v))),
        }
    }
    Node::new(Kind::Object(o))
}

/// A NULL makes everything unknown until an argument that is no object.
pub(super) fn merge_patch<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut known: Option<Node<'static>> = None;
    for i in 0..c.args.len() {
        if c.v(i).is_null() {
            known = None;
            continue;
        }
        let text = c.text(i);
        let Some(n) = parse(c, i, &text).map(Node::into_owned) else {
            return Ok(Val::NULL);
        };
        known = match (known, &n.kind) {
            (Some(t), _) => Some(patch(Some(t), n)),
            (None, Kind::Object(_)) if i > 0 => None,
            (None, _) => Some(n),
        };
    }
    known.map_or(Ok(Val::NULL), |n| loose(c, &n))
}
