//! The JSON functions. A JSON value is text; a document that a function changes is written anew with a space behind commas and
//! colons.
//!
//! | file | holds |
//! |---|---|
//! | `value.rs` | texts as trees, and back |
//! | `path.rs` | paths |
//! | `document.rs` | arguments as documents and paths |
//! | `change.rs` | the functions that change or merge documents |

mod change;
pub(crate) mod document;
mod path;
mod value;

use super::typing::int_or_null;
use crate::expr::functions::json::document::{
    append_arg, doc, loose, parse, parse_first, path, plain_path, warn_text,
};
use crate::expr::functions::json::path::{Path, Place, walk};
use crate::expr::functions::json::value::{Kind, Node, string_value};
use crate::expr::node::{Call, Coercibility, Expr, ExprKind, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::like::like;
use narwal_types::Value;
use narwal_types::convert::parse_f64_prefix;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::work::stopped;
use narwal_types::{Collation, SqlResult, ValueRef};

pub(crate) use value::escape;

pub(crate) static EXTRACT: Function = Function::new(
    "json_extract",
    "document, path, ...",
    "The values at the paths.",
    extract_type,
    extract,
)
.json();

/// What stands around a JSON_EXTRACT whose value counts, not its JSON text.
pub(crate) static SCALAR: Function = Function::new(
    " json_scalar",
    "document, place",
    "The value of a JSON text.",
    |t| {
        Ok(ExprType {
            json: false,
            ..t.arg(0)
        })
    },
    scalar,
);

/// `value MEMBER OF (array)`.
static MEMBER_OF: Function = Function::new(
    "member of",
    "value, array",
    "Whether a value is an element of a JSON array, or equals a JSON value that is no array.",
    int_or_null,
    member_of,
)
.predicate();

/// `CAST(value AS JSON)`.
static CAST_AS_JSON: Function = Function::new(
    "cast_as_json",
    "value",
    "A text read as JSON, and other values as JSON says them.",
    |t| {
        Ok(ExprType {
            json: true,
            ..like_first(t)?
        })
    },
    cast_as_json,
)
.json();

pub(super) static FUNCTIONS: &[&Function] = &[
    &MEMBER_OF,
    &CAST_AS_JSON,
    &Function::new(
        "json_array",
        "[value, ...]",
        "A JSON array of the values.",
        all_args,
        array,
    )
    .takes_null()
    .json(),
    &Function::new(
        "json_array_append",
        "document, path, value, ...",
        "The document with values put behind the arrays at the paths.",
        grown_type,
        change::array_append,
    )
    .takes_null()
    .pairs_behind(1)
    .json(),
    &Function::new(
        "json_array_insert",
        "document, path, value, ...",
        "The document with values put into arrays.",
        grown_type,
        change::array_insert,
    )
    .takes_null()
    .pairs_behind(1)
    .json(),
    &Function::new(
        "json_compact",
        "document",
        "The document without spaces.",
        like_first,
        |c| rewrite(c, false),
    )
    .json(),
    &Function::new(
        "json_contains",
        "document, value[, path]",
        "Whether a value stands in the document.",
        int_or_null,
        contains,
    )
    .predicate(),
    &Function::new(
        "json_contains_path",
        "document, one_or_all, path, ...",
        "Whether there is something at one of the paths, or at all.",
        int_or_null,
        contains_path,
    )
    .predicate(),
    &Function::new(
        "json_depth",
        "document",
        "How deep values are nested.",
        int_or_null,
        |c| {
            let text = c.text(0);
            Ok(doc(c, 0, text.as_str(), |n| Val::int(n.depth() as i64)))
        },
    ),
    &Function::new(
        "json_detailed",
        "document[, indentation]",
        "The document in lines.",
        lines_type,
        detailed,
    )
    .or(&["json_pretty"])
    .json(),
    &Function::new(
        "json_equals",
        "a, b",
        "Whether two documents say the same.",
        int_or_null,
        equals,
    )
    .predicate(),
    &Function::new(
        "json_exists",
        "document, path",
        "Whether there is something at the path.",
        int_or_null,
        exists,
    )
    .predicate(),
    &EXTRACT,
    &Function::new(
        "json_insert",
        "document, path, value, ...",
        "The document with values put where there is none.",
        set_type,
        |c| change::set(c, true, false),
    )
    .takes_null()
    .pairs_behind(1)
    .json(),
    &Function::new(
        "json_keys",
        "document[, path]",
        "The keys of an object, as an array.",
        like_first,
        keys,
    ),
    &Function::new(
        "json_length",
        "document[, path]",
        "How many values an array or object has.",
        int_or_null,
        length,
    ),
    &Function::new(
        "json_loose",
        "document",
        "The document with a space behind commas and colons.",
        loose_type,
        |c| rewrite(c, true),
    )
    .json(),
    &Function::new(
        "json_merge_patch",
        "document, document, ...",
        "The documents merged as RFC 7396 says: later values replace earlier ones.",
        all_args,
        change::merge_patch,
    )
    .takes_null()
    .json(),
    &Function::new(
        "json_merge_preserve",
        "document, document, ...",
        "The documents merged; of one key all values are kept.",
        all_args,
        change::merge_preserve,
    )
    .or(&["json_merge"])
    .json(),
    &Function::new(
        "json_normalize",
        "document",
        "A form of the document that is the same for documents that say the same.",
        normalized_type,
        normalize,
    )
    .json(),
    &Function::new(
        "json_object",
        "[key, value, ...]",
        "A JSON object of keys and values.",
        all_args,
        object,
    )
    .takes_null()
    .pairs_behind(0)
    .json(),
    &Function::new(
        "json_overlaps",
        "a, b",
        "Whether two documents have a key and value, or an element, in common.",
        int_or_null,
        overlaps,
    )
    .predicate(),
    &Function::new(
        "json_query",
        "document, path",
        "The array or object at the path.",
        like_first,
        query,
    )
    .json(),
    &Function::new(
        "json_quote",
        "text",
        "The text as a JSON string.",
        quote_type,
        quote,
    ),
    &Function::new(
        "json_remove",
        "document, path, ...",
        "The document without what is at the paths.",
        like_first,
        change::remove,
    )
    .json(),
    &Function::new(
        "json_replace",
        "document, path, value, ...",
        "The document with values replaced that are there.",
        set_type,
        |c| change::set(c, false, true),
    )
    .takes_null()
    .pairs_behind(1)
    .json(),
    &Function::new(
        "json_search",
        "document, one_or_all, pattern[, escape[, path, ...]]",
        "Where strings stand that are LIKE a pattern.",
        search_type,
        search,
    )
    .takes_null()
    .json(),
    &Function::new(
        "json_set",
        "document, path, value, ...",
        "The document with values put at the paths.",
        set_type,
        |c| change::set(c, true, true),
    )
    .takes_null()
    .pairs_behind(1)
    .json(),
    &Function::new(
        "json_type",
        "document",
        "What kind of value it is.",
        |_| {
            let c = Collation::Utf8mb3GeneralCi;
            Ok(ExprType::string(12, c, Coercibility::Coercible, true))
        },
        |c| {
            let text = c.text(0);
            Ok(doc(c, 0, text.as_str(), |n| {
                Val::text(n.type_name().to_string())
            }))
        },
    ),
    &Function::new(
        "json_unquote",
        "text",
        "What stands in a JSON string.",
        |t| Ok(binary_text(t.chars(0))),
        unquote,
    ),
    &Function::new(
        "json_valid",
        "text",
        "Whether it is JSON.",
        int_or_null,
        valid,
    )
    .predicate(),
    &Function::new(
        "json_value",
        "document, path",
        "The number or string at the path.",
        like_first,
        value_of,
    ),
    &SCALAR,
];

/// Room for all arguments, quoted and escaped where they are no JSON.
fn all_args(t: &Typing<'_>) -> SqlResult<ExprType> {
    let chars = t.types().map(element_chars).sum::<u64>() + 2;
    let ty = text_of(t, 0..t.args.len(), chars)?;
    Ok(ty.with_nullable(t.nullable()))
}

/// Most characters that a value takes in a document with what stands around it.
fn element_chars(ty: &ExprType) -> u64 {
    let is_text = ty.is_string() || ty.ty.is_temporal() || ty.ty.fixed().is_some();
    let escaped = if is_text && !ty.json { 2 } else { 1 };
    (ty.chars() * escaped).max(4) + 4
}

fn like_first(t: &Typing<'_>) -> SqlResult<ExprType> {
    text_of(t, 0..1, t.chars(0))
}

/// Each path may find the whole document; those of several paths become an array.
fn extract_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let document = t.chars(0) * 2;
    let chars = match t.args.len() as u64 - 1 {
        1 => document,
        paths => (document + 2) * paths,
    };
    text_of(t, 0..1, chars)
}

/// A space behind each comma and colon.
fn loose_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    text_of(t, 0..1, t.chars(0) * 2)
}

fn search_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    text_of(t, 0..1, t.bytes(0).saturating_mul(t.chars(0)))
}

/// JSON_ARRAY_APPEND and JSON_ARRAY_INSERT: the document with the new elements.
fn grown_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let new = t.types().skip(2).step_by(2).map(|ty| ty.chars() + 4);
    text_of(t, 0..1, t.chars(0) + new.sum::<u64>())
}

fn normalized_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(binary_text(t.chars(0) * 5))
}

fn lines_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    text_of(t, 0..1, 1 << 24)
}

/// JSON_SET and its kin, as long as MariaDB takes their results for.
fn set_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let pairs = (t.args.len() as u64 - 1) / 2;
    let more = 15 * pairs.saturating_sub(1);
    text_of(t, 0..1, t.chars(0) * 2 + t.chars(1) + 10 + more)
}

/// A text in the collation of these arguments. Numbers have that of a literal.
fn text_of(t: &Typing<'_>, args: std::ops::Range<usize>, chars: u64) -> SqlResult<ExprType> {
    let ty = t.string_of(args, chars, true)?;
    Ok(match ty.coercibility {
        Coercibility::Numeric => ExprType {
            coercibility: Coercibility::Coercible,
            ..ty
        },
        Coercibility::Ignorable if t.args.is_empty() => ExprType::text(chars, true),
        Coercibility::Ignorable => {
            ExprType::string(chars, Collation::Binary, Coercibility::Ignorable, true)
        }
        _ => ty,
    })
}

/// A text that is compared by its characters' codes.
fn binary_text(chars: u64) -> ExprType {
    ExprType::string(chars, Collation::Utf8mb4Bin, Coercibility::Coercible, true)
}

fn quote_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(binary_text(t.chars(0) * 12 + 2).with_nullable(t.nullable()))
}

/// JSON_EXTRACT beside something else than JSON: a string is what stands in its quotes, and in a numeric place true is 1.
/// Other expressions as they are.
pub(crate) fn as_scalar(e: Expr, numeric: bool) -> Expr {
    of_extract(
        e,
        if numeric {
            Beside::Number
        } else {
            Beside::Text
        },
    )
}

/// The same in a condition.
pub(crate) fn as_truth(e: Expr) -> Expr {
    of_extract(e, Beside::Truth)
}

/// What stands around a JSON_EXTRACT.
#[derive(Clone, Copy)]
enum Beside {
    Text,
    Number,
    /// A condition: what is no number is false, and no warning tells of it.
    Truth,
}

fn of_extract(e: Expr, place: Beside) -> Expr {
    if !is_extract(&e) {
        return e;
    }
    let ty = match place {
        Beside::Truth => ExprType::bigint(false, e.ty.nullable),
        Beside::Text | Beside::Number => ExprType {
            json: false,
            ..e.ty
        },
    };
    let args = vec![e, Expr::literal(Value::Int(place as i64))];
    Expr {
        kind: ExprKind::Func {
            func: &SCALAR,
            args,
        },
        ty,
    }
}

/// The sides of a comparison of strings: a JSON_EXTRACT on one side, the left one if both are, gives its value.
pub(crate) fn compared(l: Expr, r: Expr) -> (Expr, Expr) {
    if !(l.ty.is_string() && r.ty.is_string()) {
        (l, r)
    } else if is_extract(&l) {
        (as_scalar(l, false), r)
    } else {
        (l, as_scalar(r, false))
    }
}

pub(crate) fn is_extract(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Func { func, .. } if **func == EXTRACT)
}

fn scalar<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let numeric = c.int(1) == Beside::Number as i64;
    let text = c.text(0);
    if c.int(1) == Beside::Truth as i64 {
        let text = match text.starts_with('"') {
            true => string_value(&text).into_owned(),
            false => text,
        };
        let holds = text == "true" || parse_f64_prefix(text.as_bytes()).0 != 0.0;
        return Ok(Val::int(holds.into()));
    }
    match text.as_str() {
        "null" if numeric => Ok(Val::text("0".into())),
        "true" if numeric => Ok(Val::text("1".into())),
        "false" if numeric => Ok(Val::text("0".into())),
        t if t.starts_with('"') => c.string(string_value(t).into_owned().into_bytes()),
        _ => c.string(text.into_bytes()),
    }
}

/// "one" (true) or "all" (false); `None` with a warning for anything else.
fn one_or_all(c: &Call<'_, '_>, i: usize) -> Option<bool> {
    match c.text(i).to_ascii_lowercase().as_str() {
        "one" => Some(true),
        "all" => Some(false),
        _ => {
            c.ctx.env.warn(
                codes::JSON_ONE_OR_ALL,
                format!(
                    "Argument {} to function '{}' must be \"one\" or \"all\".",
                    i + 1,
                    c.func.name()
                ),
            );
            None
        }
    }
}

fn array<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut out = String::from("[");
    for i in 0..c.args.len() {
        if i > 0 {
            out.push_str(", ");
        }
        append_arg(c, i, &mut out);
    }
    out.push(']');
    c.string(out.into_bytes())
}

fn object<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut out = String::from("{");
    for i in (0..c.args.len()).step_by(2) {
        if i > 0 {
            out.push_str(", ");
        }
        out.push('"');
        if !c.v(i).is_null() {
            escape(&c.text(i), &mut out);
        }
        out.push_str("\": ");
        append_arg(c, i + 1, &mut out);
    }
    out.push('}');
    c.string(out.into_bytes())
}

fn rewrite<'a>(c: &Call<'a, '_>, spaces: bool) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let Some(n) = parse(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let mut out = String::new();
    n.write(spaces, &mut out);
    c.string(out.into_bytes())
}

fn detailed<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let tab = if c.args.len() > 1 {
        c.int(1).clamp(0, 16) as usize
    } else {
        4
    };
    let Some(n) = parse(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let mut out = String::new();
    n.write_lines(tab, 0, &mut out);
    c.string(out.into_bytes())
}

fn normalize<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let Some(n) = parse(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let mut out = String::new();
    n.normalize().write(false, &mut out);
    c.string(out.into_bytes())
}

fn valid<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    Ok(Val::int(match Node::parse(&c.text(0)) {
        Ok(_) => 1,
        Err(f) => {
            warn_text(c, 0, f, true);
            0
        }
    }))
}

fn equals<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (a, b) = (c.text(0), c.text(1));
    let (Some(a), Some(b)) = (parse(c, 0, &a), parse(c, 1, &b)) else {
        return Ok(Val::NULL);
    };
    Ok(Val::int((a.normalize() == b.normalize()) as i64))
}

fn exists<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Ok(p) = Path::parse(&c.text(1)) else {
        return Ok(Val::NULL);
    };
    let text = c.text(0);
    Ok(Val::int(match Node::parse(&text) {
        Ok(n) => p.first(&n).is_some() as i64,
        // What can't be read begins somewhere nevertheless.
        Err(_) => p.0.is_empty() as i64,
    }))
}

fn extract<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let mut paths = Vec::with_capacity(c.args.len() - 1);
    for i in 1..c.args.len() {
        match path(c, i) {
            Some(p) => paths.push(p),
            None => return Ok(Val::NULL),
        }
    }
    let Some(n) = parse(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    if let [one] = paths.as_slice()
        && !one.is_wild()
    {
        return match one.first(&n) {
            Some(found) => loose(c, found),
            None => Ok(Val::NULL),
        };
    }
    let mut found = Vec::new();
    walk(&n, &mut Vec::new(), &mut |place, node| {
        let array = matches!(node.kind, Kind::Array(_));
        for p in &paths {
            if path::matches_place(&p.0, place, array) {
                found.push(node.clone());
            }
        }
        true
    });
    if found.is_empty() {
        return Ok(Val::NULL);
    }
    loose(c, &Node::new(Kind::Array(found)))
}

/// The first scalar (JSON_VALUE) or container (JSON_QUERY) that the path leads to.
fn find<'d, 't>(p: &Path, doc: &'d Node<'t>, container: bool) -> Option<&'d Node<'t>> {
    p.first_of(doc, &|n| n.is_container() == container)
}

fn value_of<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(p) = plain_path(c, 1) else {
        return Ok(Val::NULL);
    };
    let text = c.text(0);
    let Ok(n) = Node::parse_first(&text) else {
        return Ok(Val::NULL);
    };
    match find(&p, &n, false).map(|n| (&n.kind, n.type_name())) {
        Some((Kind::Scalar(s), t)) => match t {
            "STRING" => c.string(string_value(s).into_owned().into_bytes()),
            "NULL" => Ok(Val::NULL),
            "BOOLEAN" => Ok(Val::text(if s == "true" { "1" } else { "0" }.into())),
            _ => c.string(s.as_bytes().to_vec()),
        },
        _ => Ok(Val::NULL),
    }
}

fn query<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(p) = path(c, 1) else {
        return Ok(Val::NULL);
    };
    let text = c.text(0);
    let Ok(n) = Node::parse_first(&text) else {
        return Ok(Val::NULL);
    };
    match find(&p, &n, true) {
        Some(found) => c.string(text.as_bytes()[found.span.clone()].to_vec()),
        None => Ok(Val::NULL),
    }
}

/// The document, or what a path as the given argument leads to in it.
fn part<'d, 't>(c: &Call<'_, '_>, doc: &'d Node<'t>, path_arg: usize) -> Option<&'d Node<'t>> {
    if c.args.len() > path_arg {
        plain_path(c, path_arg)?.first(doc)
    } else {
        Some(doc)
    }
}

fn length<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let first = Node::parse_first(&text);
    let found = match first.as_ref() {
        Ok(n) => part(c, n, 1),
        // For the warning about its path.
        Err(_) => part(c, &Node::scalar("0"), 1).and(None),
    };
    // What follows a scalar is not looked at.
    if let Some(found) = found
        && !found.is_container()
    {
        return Ok(Val::int(1));
    }
    if parse(c, 0, &text).is_none() {
        return Ok(Val::NULL);
    }
    Ok(found.map_or(Val::NULL, |n| Val::int(n.len() as i64)))
}

fn keys<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    let Some(n) = parse_first(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let Some(Kind::Object(o)) = part(c, &n, 1).map(|n| &n.kind) else {
        return Ok(Val::NULL);
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut out = String::from("[");
    for (k, _) in o {
        if seen.contains(&&**k) {
            continue;
        }
        if !seen.is_empty() {
            out.push_str(", ");
        }
        seen.push(k);
        out.push('"');
        out.push_str(k);
        out.push('"');
    }
    out.push(']');
    c.string(out.into_bytes())
}

fn contains<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (text, wanted) = (c.text(0), c.text(1));
    let Some(n) = parse_first(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let within = if c.args.len() > 2 {
        let Some(p) = plain_path(c, 2) else {
            return Ok(Val::NULL);
        };
        p.first(&n)
    } else {
        Some(&n)
    };
    let Some(w) = parse_first(c, 1, &wanted) else {
        return Ok(Val::NULL);
    };
    Ok(Val::int(within.is_some_and(|n| holds(n, &w)) as i64))
}

fn member_of<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut wanted = String::new();
    append_arg(c, 0, &mut wanted);
    let text = c.text(1);
    let Ok(array) = Node::parse(&text) else {
        return Err(errors::INVALID_JSON_TEXT_IN_PARAM.with([&2, &"member of"]));
    };
    let Ok(wanted) = Node::parse(&wanted) else {
        return Ok(Val::NULL);
    };
    let wanted = wanted.normalize();
    let found = match array.kind {
        Kind::Array(elements) => elements.into_iter().any(|e| e.normalize() == wanted),
        _ => array.normalize() == wanted,
    };
    Ok(Val::int(found.into()))
}

fn cast_as_json<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut text = String::new();
    match c.exprs().first() {
        Some(e) if e.ty.ty.is_string() => text = c.text(0).to_string(),
        _ => append_arg(c, 0, &mut text),
    }
    let Ok(n) = Node::parse(&text) else {
        return Err(errors::INVALID_JSON_TEXT_IN_PARAM.with([&1, &"cast_as_json"]));
    };
    let mut out = String::new();
    n.write(true, &mut out);
    c.string(out.into_bytes())
}

/// True if a value contains another: arrays their elements, objects their members.
fn holds(n: &Node<'_>, w: &Node<'_>) -> bool {
    if stopped() {
        return false;
    }
    match (&n.kind, &w.kind) {
        (Kind::Object(_), Kind::Object(wanted)) => wanted.iter().all(|(k, v)| {
            n.member(&value::unescape(k))
                .is_some_and(|have| holds(have, v))
        }),
        (Kind::Array(_), Kind::Array(wanted)) => wanted.iter().all(|v| holds(n, v)),
        (Kind::Array(_), _) => holds_element(n, w),
        (Kind::Scalar(_), Kind::Scalar(_)) => n.same_scalar(w),
        _ => false,
    }
}

fn holds_element(n: &Node<'_>, w: &Node<'_>) -> bool {
    match &n.kind {
        Kind::Array(a) => a.iter().any(|e| holds(e, w)),
        _ => false,
    }
}

fn contains_path<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(one) = one_or_all(c, 1) else {
        return Ok(Val::NULL);
    };
    let text = c.text(0);
    let mut paths = Vec::new();
    for i in 2..c.args.len() {
        match path(c, i) {
            Some(p) => paths.push(p),
            None => return Ok(Val::NULL),
        }
    }
    Ok(doc(c, 0, &text, |n| {
        let found = |p: &Path| p.first(n).is_some();
        Val::int(if one {
            paths.iter().any(found)
        } else {
            paths.iter().all(found)
        } as i64)
    }))
}

fn overlaps<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (a, b) = (c.text(0), c.text(1));
    let (Some(a), Some(b)) = (parse_first(c, 0, &a), parse_first(c, 1, &b)) else {
        return Ok(Val::int(0));
    };
    Ok(Val::int(overlap(&a, &b) as i64))
}

/// A common element, a common member, or equality.
fn overlap(a: &Node<'_>, b: &Node<'_>) -> bool {
    let same = |a: &Node<'_>, b: &Node<'_>| {
        stopped() || a.same_scalar(b) || a.is_container() && a.normalize() == b.normalize()
    };
    match (&a.kind, &b.kind) {
        (Kind::Array(x), Kind::Array(y)) => x.iter().any(|v| y.iter().any(|w| same(v, w))),
        (Kind::Array(x), _) => x.iter().any(|v| same(v, b)),
        (_, Kind::Array(y)) => y.iter().any(|w| same(a, w)),
        (Kind::Object(x), Kind::Object(_)) => x
            .iter()
            .any(|(k, v)| b.member(&value::unescape(k)).is_some_and(|w| same(v, w))),
        _ => a.same_scalar(b),
    }
}

/// Places of strings that are LIKE a pattern.
fn search<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let escape_char = if c.args.len() > 3 && !c.v(3).is_null() {
        let t = c.text(3);
        let mut it = t.chars();
        match (it.next(), it.next()) {
            (None, _) => Some('\\'),
            (Some(e), None) => Some(e),
            _ => {
                return Err(errors::WRONG_ARGUMENTS.text("Incorrect arguments to ESCAPE"));
            }
        }
    } else {
        Some('\\')
    };
    if (0..3).any(|i| c.v(i).is_null()) || (4..c.args.len()).any(|i| c.v(i).is_null()) {
        return Ok(Val::NULL);
    }
    let Some(one) = one_or_all(c, 1) else {
        return Ok(Val::NULL);
    };
    let (text, pattern) = (c.text(0), c.text(2));
    let mut paths = Vec::new();
    for i in 4..c.args.len() {
        match path(c, i) {
            Some(p) => paths.push(p),
            None => return Ok(Val::NULL),
        }
    }
    let Some(n) = parse_first(c, 0, &text) else {
        return Ok(Val::NULL);
    };
    let mut found: Vec<String> = Vec::new();
    walk(&n, &mut Vec::new(), &mut |place, node| {
        let Kind::Scalar(s) = &node.kind else {
            return true;
        };
        let value = string_value(s);
        let hit = like(
            value.as_bytes(),
            pattern.as_bytes(),
            escape_char,
            c.exprs()[0].ty.ty.collation,
        );
        if hit && (paths.is_empty() || paths.iter().any(|p| p.covers(place))) {
            found.push(place_text(place));
            return !one;
        }
        true
    });
    match found.as_slice() {
        [] => Ok(Val::NULL),
        [only] => c.string(only.clone().into_bytes()),
        many => c.string(format!("[{}]", many.join(", ")).into_bytes()),
    }
}

/// A place as a quoted path.
fn place_text(place: &[Place]) -> String {
    let mut out = String::from("\"$");
    for p in place {
        match p {
            Place::Key(k) => {
                out.push('.');
                escape(k, &mut out);
            }
            Place::Index(i, _) => {
                out.push('[');
                out.push_str(&i.to_string());
                out.push(']');
            }
        }
    }
    out.push('"');
    out
}

/// Only strings are quoted.
fn quote<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    match c.v(0) {
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            let mut out = String::from("\"");
            escape(&String::from_utf8_lossy(s), &mut out);
            out.push('"');
            c.string(out.into_bytes())
        }
        v @ ValueRef::Fixed(_) => c.string(format!("\"{}\"", v.to_text()).into_bytes()),
        _ => Ok(Val::NULL),
    }
}

fn unquote<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.text(0);
    if !text.starts_with('"') {
        return c.string(text.into_bytes());
    }
    match Node::parse_first(&text) {
        Ok(Node {
            kind: Kind::Scalar(s),
            ..
        }) => c.string(string_value(&s).into_owned().into_bytes()),
        Ok(_) => c.string(text.into_bytes()),
        Err(f) => {
            warn_text(c, 0, f, false);
            c.string(text.into_bytes())
        }
    }
}
