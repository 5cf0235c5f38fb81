//! What sql_mode=ORACLE means by some functions: an empty text is NULL, and NULL beside a text is empty.

use super::string::{pad, replace, replaced_chars, trim, wanted_chars};
use super::typing::like_first;
use crate::expr::node::{Call, Function, Typing};
use crate::expr::value::Val;
use narwal_syntax::Kw;
use narwal_types::{SqlResult, ValueRef};

/// The function that a name means in sql_mode=ORACLE; `None` for those that mean the same.
pub(crate) fn name_of(name: &str, arguments: usize) -> Option<&'static str> {
    Some(match name {
        "concat" => "concat_operator_oracle",
        "length" => "char_length",
        "lpad" => "lpad_oracle",
        "rpad" => "rpad_oracle",
        "ltrim" => "ltrim_oracle",
        "rtrim" => "rtrim_oracle",
        "trim" if arguments == 1 => "trim_oracle",
        "regexp_replace" => "regexp_replace_oracle",
        "replace" => "replace_oracle",
        "substr" | "substring" | "mid" => "substr_oracle",
        "decode" => "decode_oracle",
        _ => return None,
    })
}

/// True for the name of a function that can be called with a schema before it: no keyword, and no name of a schema's own.
pub(crate) fn in_schema(name: &str) -> bool {
    let keyword = Kw::of(name) != Kw::Plain
        && !matches!(name, "replace" | "substr" | "substring" | "mid" | "trim");
    !keyword && !name.ends_with("_oracle")
}

/// An empty text is NULL: what TRIM gives with words between its arguments.
pub(crate) const NULL_IF_EMPTY: &str = " null_if_empty";

pub(super) static FUNCTIONS: &[&Function] = &[
    &CONCAT_OPERATOR,
    &Function::new(
        "lpad_oracle",
        "text, n[, filling]",
        "LPAD in Oracle's way: an empty result is NULL.",
        |t| t.string_of_first(wanted_chars(t), true),
        |c| pad(c, true).map(null_if_empty),
    )
    .takes_texts(),
    &Function::new(
        "ltrim_oracle",
        "text",
        "LTRIM in Oracle's way: an empty result is NULL.",
        like_first,
        |c| trim(c, true, false).map(null_if_empty),
    )
    .takes_texts(),
    &Function::new(
        NULL_IF_EMPTY,
        "text",
        "The text, or NULL if it is empty.",
        |t| t.string_of_first(t.chars(0), true),
        |c| c.string(c.text(0).into_bytes()).map(null_if_empty),
    ),
    &Function::new(
        "regexp_replace_oracle",
        "text, pattern, new",
        "REGEXP_REPLACE in Oracle's way: NULL is an empty text there.",
        |t| t.string_of(0..3, 1 << 24, true),
        super::regexp::replace_by_null,
    )
    .takes_texts()
    .takes_null(),
    &Function::new(
        "replace_oracle",
        "text, part, new",
        "REPLACE in Oracle's way: NULL is an empty text.",
        |t| t.string_of_all(replaced_chars(t), true),
        replace_oracle,
    )
    .takes_null()
    .takes_texts(),
    &Function::new(
        "rpad_oracle",
        "text, n[, filling]",
        "RPAD in Oracle's way: an empty result is NULL.",
        |t| t.string_of_first(wanted_chars(t), true),
        |c| pad(c, false).map(null_if_empty),
    )
    .takes_texts(),
    &Function::new(
        "rtrim_oracle",
        "text",
        "RTRIM in Oracle's way: an empty result is NULL.",
        like_first,
        |c| trim(c, false, true).map(null_if_empty),
    )
    .takes_texts(),
    &Function::new(
        "trim_oracle",
        "text",
        "TRIM in Oracle's way: an empty result is NULL.",
        like_first,
        |c| trim(c, true, true).map(null_if_empty),
    )
    .takes_texts(),
];

pub(in crate::expr) static CONCAT_OPERATOR: Function = Function::new(
    "concat_operator_oracle",
    "text, ...",
    "The texts one behind the other, without those that are NULL.",
    |t: &Typing<'_>| t.string_of_all(t.all_chars(), t.nullable()),
    concat,
)
.takes_null()
.takes_texts();

/// NULL in the place of an empty text.
fn null_if_empty(v: Val<'_>) -> Val<'_> {
    match v.as_ref() {
        ValueRef::Str([]) | ValueRef::Bytes([]) => Val::NULL,
        _ => v,
    }
}

fn concat<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.args.iter().all(|a| a.is_null()) {
        return Ok(Val::NULL);
    }
    let mut out = Vec::new();
    for a in c.args.iter().filter(|a| !a.is_null()) {
        a.as_ref().write_text(&mut out);
        if !c.may_be(out.len() as u64)? {
            return Ok(Val::NULL);
        }
    }
    c.string(out)
}

fn replace_oracle<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    let text = |n: usize| {
        let mut text = Vec::new();
        c.v(n).write_text(&mut text);
        text
    };
    if c.v(1).is_null() {
        return c.string(text(0)).map(null_if_empty);
    }
    if !c.v(2).is_null() {
        return replace(c).map(null_if_empty);
    }
    let (s, from) = (text(0), text(1));
    if from.is_empty() {
        return c.string(s).map(null_if_empty);
    }
    let mut out = Vec::with_capacity(s.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(&s, &from) {
        out.extend_from_slice(&s[done..at]);
        done = at + from.len();
    }
    out.extend_from_slice(&s[done..]);
    c.string(out).map(null_if_empty)
}
