//! Strings: putting together, cutting, searching, changing.

use super::typing::{bigint, int, int_not_null, like_first};
use crate::expr::call::wrong_arguments;
use crate::expr::compare::compare_one;
use crate::expr::node::{Call, Expr, ExprKind, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::expr::value::with_text;
use crate::like::{escape_char, like};
use narwal_syntax::SqlMode;
use narwal_types::work::{Work, in_pieces};
use narwal_types::{Charset, SqlResult, TypeKind, Value, ValueRef};
use std::borrow::Cow;
use std::cmp::Ordering;

pub(in crate::expr) static CONCAT: Function = Function::new(
    "concat",
    "text, ...",
    "The texts one behind the other.",
    |t| t.string_of_all(t.all_chars(), t.nullable()),
    concat,
)
.takes_texts();

pub(in crate::expr) static LOCATE: Function = Function::new(
    "locate",
    "part, text[, from]",
    "Where a part first stands in a text, counted from 1; 0 if nowhere.",
    int,
    locate,
)
.takes_texts()
.or(&["position"]);

pub(in crate::expr) static SUBSTRING: Function = Function::new(
    "substr",
    "text, from[, length]",
    "The characters from one on; counted from the end if negative.",
    part_type,
    substring,
)
.takes_texts()
.or(&["substring", "mid"]);

pub(in crate::expr) static TRIM: Function = Function::new(
    "trim",
    "text",
    "The text without spaces, or another text, at both ends.",
    |t| t.string_of_all(t.chars(0), t.nullable()),
    |c| trim(c, true, true),
)
.takes_texts();

pub(in crate::expr) static TRIM_LEADING: Function = Function::new(
    " trim",
    "text[, what]",
    "TRIM(LEADING what FROM text).",
    |t| t.string_of_all(t.chars(0), t.nullable()),
    |c| trim(c, true, false),
)
.takes_texts();

pub(in crate::expr) static TRIM_TRAILING: Function = Function::new(
    " trim",
    "text[, what]",
    "TRIM(TRAILING what FROM text).",
    |t| t.string_of_all(t.chars(0), t.nullable()),
    |c| trim(c, false, true),
)
.takes_texts();

/// LIKE whose ESCAPE is known when the statement runs.
pub(crate) static LIKE_ESCAPED: Function = Function::new(
    " like",
    "text, pattern, escape",
    "Whether the text matches the pattern.",
    int,
    |c| {
        let collation = c.shared_collation_of(0, 1);
        let escape = (!c.v(2).is_null()).then(|| c.text(2));
        let least = usize::from(c.ctx.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES));
        if let Some(e) = &escape
            && !(least..=1).contains(&e.chars().count())
        {
            return Err(wrong_arguments("ESCAPE"));
        }
        if c.v(0).is_null() || c.v(1).is_null() {
            return Ok(Val::NULL);
        }
        let escape = escape_char(escape.as_deref(), c.charset(2), collation);
        Ok(Val::bool(Some(like(
            &c.bytes(0),
            &c.bytes(1),
            escape,
            collation,
        ))))
    },
)
.takes_null()
.predicate();

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "ascii",
        "text",
        "The code of the first byte, 0 of an empty text.",
        int,
        |c| {
            let first = c.with_bytes(0, |s| s.first().copied());
            Ok(Val::int(i64::from(first.unwrap_or(0))))
        },
    )
    .takes_texts(),
    &Function::new("bit_length", "text", "The length in bits.", bigint, |c| {
        Ok(Val::int(c.byte_length(0) * 8))
    })
    .takes_texts(),
    &Function::new(
        "char_length",
        "text",
        "The length in characters.",
        int,
        |c| Ok(Val::int(c.length(0) as i64)),
    )
    .or(&["character_length"])
    .takes_texts(),
    &CONCAT,
    &Function::new(
        "concat_ws",
        "separator, text, ...",
        "The texts that are not NULL, with a separator between them.",
        |t| {
            let separators = t.chars(0) * t.args.len().saturating_sub(2) as u64;
            let texts: u64 = t.types().skip(1).map(ExprType::chars).sum();
            t.string_of_all(texts + separators, t.nullable())
        },
        concat_ws,
    )
    .takes_texts()
    .takes_null(),
    &Function::new(
        "elt",
        "n, text, ...",
        "The n-th of the texts.",
        |t| {
            let longest = t.types().skip(1).map(ExprType::chars).max();
            t.string_of(1..t.args.len(), longest.unwrap_or(0), true)
        },
        elt,
    )
    .takes_texts()
    .takes_null(),
    &Function::new(
        "field",
        "value, value, ...",
        "Which of the later values the first one equals, 0 if none.",
        |t| {
            if t.args.iter().all(|a| a.ty.is_string()) {
                crate::expr::types::compare_collation(t.args, "field")?;
            }
            int_not_null(t)
        },
        field,
    )
    .takes_null()
    .computes(),
    &Function::new(
        "find_in_set",
        "text, list",
        "Which of the texts between commas it is, 0 if none.",
        int,
        find_in_set,
    )
    .takes_texts(),
    &Function::new(
        "insert",
        "text, from, length, new",
        "The text with another one in place of some characters.",
        |t| t.string_of_both(0, 3, t.chars(0) + t.chars(3), t.nullable()),
        insert,
    )
    .takes_texts(),
    &Function::new(
        "instr",
        "text, part",
        "Where a part first stands in a text, counted from 1; 0 if nowhere.",
        int,
        |c| c.locate(1, 0, 0),
    )
    .takes_texts(),
    &Function::new(
        "lcase",
        "text",
        "The text in lower case.",
        like_first,
        |c| change_case(c, false),
    )
    .or(&["lower"])
    .takes_texts(),
    &Function::new(
        "left",
        "text, n",
        "The first n characters.",
        end_type,
        |c| c.slice(0, 0, c.int(1).max(0) as usize),
    )
    .takes_texts(),
    &Function::new("octet_length", "text", "The length in bytes.", int, |c| {
        Ok(Val::int(c.byte_length(0)))
    })
    .or(&["length"])
    .takes_texts(),
    &LOCATE,
    &Function::new(
        "lpad",
        "text, n[, filling]",
        "The text made n characters long by a filling in front.",
        |t| t.string_of_both(0, 2, wanted_chars(t), may_not_fill(t)),
        |c| pad(c, true),
    )
    .takes_texts(),
    &Function::new(
        "ltrim",
        "text",
        "The text without spaces in front.",
        like_first,
        |c| trim(c, true, false),
    )
    .takes_texts(),
    &Function::new(
        "ord",
        "text",
        "The bytes of the first character as one number.",
        int,
        |c| {
            let text = c.bytes(0);
            let first = c.head(0, &text, 1);
            let bytes = match c.is_bytes(0) {
                true => first.into(),
                // The bytes are those of the character set.
                false => c.charset(0).encode(first),
            };
            let number = bytes.iter().fold(0i64, |a, b| a << 8 | i64::from(*b));
            Ok(Val::int(number))
        },
    )
    .takes_texts(),
    &Function::new(
        "quote",
        "text",
        "The text as a literal that SQL reads.",
        // NULL is the word.
        |t| t.string_of_all((t.chars(0) * 2 + 2).max(4), t.nullable()),
        quote,
    )
    .takes_null()
    .takes_texts(),
    &Function::new(
        "repeat",
        "text, n",
        "The text n times.",
        |t| {
            let chars = match t.literal_int(1) {
                Some(n) => t.chars(0).saturating_mul(n.max(0) as u64),
                None if t.arg(1).null => 0,
                None => u64::from(u32::MAX),
            };
            // So many that nobody knows may be too many.
            let nullable = t.nullable() || t.literal_int(1).is_none();
            t.string_of_first(chars, nullable)
        },
        |c| {
            let mut text = Vec::new();
            c.v(0).write_text(&mut text);
            repeated(c, &text, c.int(1))
        },
    )
    .takes_texts(),
    &Function::new(
        "replace",
        "text, part, new",
        "The text with each occurrence of a part replaced.",
        |t| t.string_of_all(replaced_chars(t), t.nullable()),
        replace,
    )
    .takes_null()
    .takes_texts(),
    &Function::new(
        "reverse",
        "text",
        "The characters in the opposite order.",
        like_first,
        reverse,
    )
    .takes_texts(),
    &Function::new(
        "right",
        "text, n",
        "The last n characters.",
        end_type,
        |c| {
            let n = c.length(0);
            let k = (c.int(1).max(0) as usize).min(n);
            c.slice(0, n - k, n)
        },
    )
    .takes_texts(),
    &Function::new(
        "rpad",
        "text, n[, filling]",
        "The text made n characters long by a filling behind.",
        |t| t.string_of_both(0, 2, wanted_chars(t), may_not_fill(t)),
        |c| pad(c, false),
    )
    .takes_texts(),
    &Function::new(
        "rtrim",
        "text",
        "The text without spaces at the end.",
        like_first,
        |c| trim(c, false, true),
    )
    .takes_texts(),
    &Function::new(
        "space",
        "n",
        "n spaces.",
        |t| {
            let n = match t.literal_int(0) {
                Some(n) => n.max(0) as u64,
                None if t.arg(0).null => 0,
                None => u64::from(u32::MAX),
            };
            Ok(ExprType::text(n, t.literal_int(0).is_none()))
        },
        |c| repeated(c, b" ", c.int(0)),
    ),
    &Function::new(
        "strcmp",
        "a, b",
        "-1, 0 or 1: how two texts compare.",
        int,
        strcmp,
    )
    .takes_texts(),
    &SUBSTRING,
    &Function::new(
        "substring_index",
        "text, separator, n",
        "What stands before the n-th separator; counted from the end if negative.",
        |t| t.string_of(0..2, t.chars(0), t.nullable()),
        substring_index,
    )
    .takes_texts(),
    &TRIM,
    &Function::new(
        "ucase",
        "text",
        "The text in upper case.",
        like_first,
        |c| change_case(c, true),
    )
    .or(&["upper"])
    .takes_texts(),
];

/// The longest that a text with each occurrence of a part replaced can become.
pub(super) fn replaced_chars(t: &Typing<'_>) -> u64 {
    let (text, new) = (t.chars(0), t.chars(2));
    // The part may be a single character.
    text.saturating_mul(new.max(1))
}

/// SUBSTR: what is left behind the place where it begins, at most as much as is asked for.
pub(super) fn part_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    // MariaDB begins with the text's bytes.
    let all = t.bytes(0);
    let rest = match t.literal_int(1) {
        Some(from) if from < 0 => match from.unsigned_abs() {
            n if n > all => 0,
            n => n,
        },
        Some(0) => 0,
        Some(from) => all.saturating_sub(from as u64 - 1),
        None if t.arg(1).null => 0,
        None => all,
    };
    let chars = t.literal_int(2).map_or(rest, |n| rest.min(n.max(0) as u64));
    t.string_of_first(chars, t.nullable())
}

/// LEFT and RIGHT: so many characters as are asked for, or all.
fn end_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let all = t.chars(0);
    let chars = match t.literal_int(1) {
        Some(n) => (n.max(0) as u64).min(all),
        None if t.arg(1).null => 0,
        None => all,
    };
    t.string_of_first(chars, t.nullable())
}

/// LPAD and RPAD may be NULL: an argument is, or there may be nothing to fill with.
fn may_not_fill(t: &Typing<'_>) -> bool {
    let fills = match t.args.get(2).map(|a| &a.kind) {
        Some(ExprKind::Literal(Value::Str(s))) => !s.is_empty(),
        Some(_) => false,
        None => true,
    };
    t.nullable() || !fills || t.literal_int(1).is_none()
}

/// LPAD and RPAD: the length that is asked for.
pub(super) fn wanted_chars(t: &Typing<'_>) -> u64 {
    match t.literal_int(1) {
        Some(n) => n.max(0) as u64,
        None if t.arg(1).null => 0,
        None => u64::from(u32::MAX),
    }
}

/// Bytes of a value that is a text; other values are short.
pub(super) fn text_length(v: ValueRef<'_>) -> u64 {
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => s.len() as u64,
        _ => 0,
    }
}

/// Bytes of the texts among the arguments from one on.
pub(super) fn text_bytes(c: &Call<'_, '_>, from: usize) -> u64 {
    let texts = c.args[from.min(c.args.len())..].iter();
    texts.map(|a| text_length(a.as_ref())).sum()
}

fn concat<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if !c.may_be(text_bytes(c, 0))? {
        return Ok(Val::NULL);
    }
    let mut out = Vec::new();
    for a in &c.args {
        a.as_ref().write_text(&mut out);
    }
    c.string(out)
}

fn concat_ws<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    let texts = || c.args[1..].iter().filter(|a| !a.is_null());
    let between = (texts().count() as u64).saturating_sub(1) * text_length(c.v(0));
    if !c.may_be(text_bytes(c, 1) + between)? {
        return Ok(Val::NULL);
    }
    let mut out = Vec::new();
    for (i, a) in texts().enumerate() {
        if i > 0 {
            c.v(0).write_text(&mut out);
        }
        a.as_ref().write_text(&mut out);
    }
    c.string(out)
}

fn elt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = c.int(0);
    if c.v(0).is_null() || n < 1 || n as usize >= c.args.len() {
        return Ok(Val::NULL);
    }
    Ok(match c.v(n as usize) {
        ValueRef::Null => Val::NULL,
        ValueRef::Str(_) | ValueRef::Bytes(_) => c.args[n as usize].clone(),
        v => Val::text(v.to_text()),
    })
}

fn field<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::int(0));
    }
    // Texts are compared by one collation, numbers each with the first.
    let is_text = |a: &Expr| a.ty.is_string() || a.ty.ty.is_temporal() || a.ty.null;
    let shared = c.exprs().iter().all(is_text);
    let collation = shared.then(|| c.shared_collation());
    let is_exact = |a: &Expr| a.ty.ty.is_integer() || matches!(a.ty.ty.kind, TypeKind::Decimal(..));
    let exact = c.exprs().iter().all(|a| is_exact(a) || a.ty.null);
    // Read once, for its warning.
    let number = std::cell::OnceCell::new();
    let at = (1..c.args.len()).find(|i| {
        let order = match collation {
            _ if c.v(*i).is_null() => None,
            Some(collation) => with_text(c.v(0), |a| {
                with_text(c.v(*i), |b| {
                    compare_one(ValueRef::Str(a), ValueRef::Str(b), collation, c.ctx.env)
                })
            }),
            None if exact => c.compare(0, *i),
            None => number.get_or_init(|| c.f64(0)).partial_cmp(&c.f64(*i)),
        };
        order == Some(Ordering::Equal)
    });
    Ok(Val::int(at.unwrap_or(0) as i64))
}

fn find_in_set<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (needle, set) = (c.text(0), c.text(1));
    if set.is_empty() || set.len() < needle.len() {
        return Ok(Val::int(0));
    }
    let collation = c.shared_collation();
    // Spaces at the end count.
    let spaces = |s: &str| s.len() - s.trim_end_matches(' ').len();
    if let ValueRef::Member(m) = c.v(1)
        && m.set
        && c.exprs()[0].is_const()
    {
        // A column's value counts as its members are numbered.
        let at =
            m.of.list().iter().position(|p| {
                collation.equal(p.as_bytes(), needle.trim_end_matches(' ').as_bytes())
            });
        let at = at.filter(|p| m.number >> p & 1 == 1);
        return Ok(Val::int(at.map_or(0, |p| p as i64 + 1)));
    }
    let at = set.split(',').position(|p| {
        spaces(p) == spaces(&needle) && collation.equal(p.as_bytes(), needle.as_bytes())
    });
    Ok(Val::int(at.map_or(0, |p| p as i64 + 1)))
}

fn insert<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (s, length) = (c.bytes(0), c.length(0));
    let (pos, len) = (c.int(1), c.int(2));
    if pos < 1 || pos as usize > length {
        return Ok(c.args[0].clone());
    }
    let start = pos as usize - 1;
    let end = match len < 0 {
        true => length,
        false => start.saturating_add(len as usize).min(length),
    };
    let head = c.head(0, &s, start);
    let tail = &s[c.head(0, &s, end).len()..];
    if !c.may_be((head.len() + tail.len()) as u64 + text_length(c.v(3)))? {
        return Ok(Val::NULL);
    }
    let mut out = head.to_vec();
    c.v(3).write_text(&mut out);
    out.extend_from_slice(tail);
    c.string(out)
}

fn locate<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let from = if c.args.len() > 2 { c.int(2) } else { 1 };
    if from < 1 {
        return Ok(Val::int(0));
    }
    c.locate(0, 1, from as usize - 1)
}

fn change_case<'a>(c: &Call<'a, '_>, upper: bool) -> SqlResult<Val<'a>> {
    if c.is_bytes(0) {
        return Ok(c.args[0].clone());
    }
    let t = c.text(0);
    let collation = c.collation_of(0);
    if t.is_ascii() && !collation.is_turkish() {
        return c.string(ascii_in_case(t.as_bytes(), upper));
    }
    let set = c.charset(0);
    // One character each, as the collation's case tables have it.
    let mut work = Work::default();
    let mut out = String::with_capacity(t.len());
    for ch in t.chars().take_while(|_| !work.stops(1)) {
        // A second code of a character has that character's cases.
        let plain = set.unveiled_char(ch);
        out.push(match collation.in_case(plain, upper) {
            same if same == plain => ch,
            // Latin1 has it, but not in its case tables.
            '\u{178}' if set == Charset::Latin1 => ch,
            other if set.has(other) => other,
            _ => ch,
        });
    }
    c.string(out.into_bytes())
}

/// ASCII in upper or lower case, whole pieces at a time, since most texts have nothing else.
fn ascii_in_case(text: &[u8], upper: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    // A KILL ends it early; what is there then is not used.
    in_pieces(text, |piece| {
        let at = out.len();
        out.extend_from_slice(piece);
        match upper {
            true => out[at..].make_ascii_uppercase(),
            false => out[at..].make_ascii_lowercase(),
        }
    });
    out
}

fn substring<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = c.length(0) as i64;
    let start = match c.int(1) {
        0 => return c.string(Vec::new()),
        p if p > 0 => p - 1,
        p if p < -n => return c.string(Vec::new()),
        p => n + p,
    };
    let len = if c.args.len() > 2 { c.int(2).max(0) } else { n };
    c.slice(0, start as usize, start.saturating_add(len) as usize)
}

fn substring_index<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    // The count is one of 32 bits: a larger one loses its high bits, as in MariaDB.
    let (s, d, n) = (c.bytes(0), c.bytes(1), c.int(2) as i32);
    if d.is_empty() || n == 0 {
        return c.string(Vec::new());
    }
    let k = n.unsigned_abs() as usize - 1;
    let out = if n > 0 {
        let at = memchr::memmem::find_iter(&s, &*d).nth(k);
        at.map_or(&s[..], |i| &s[..i])
    } else {
        // Where characters are bytes they are looked for from the end: of separators that overlap others count.
        let at = match c.expr.ty.ty.collation.charset().max_width() {
            1 => memchr::memmem::rfind_iter(&s, &*d).nth(k),
            _ => {
                let at: Vec<usize> = memchr::memmem::find_iter(&s, &*d).collect();
                at.len().checked_sub(k + 1).map(|n| at[n])
            }
        };
        at.map_or(&s[..], |i| &s[i + d.len()..])
    };
    c.string(out.to_vec())
}

/// LPAD and RPAD.
pub(super) fn pad<'a>(c: &Call<'a, '_>, in_front: bool) -> SqlResult<Val<'a>> {
    let want = c.int(1);
    if want < 0 {
        return Ok(Val::NULL);
    }
    // As if each character took as many bytes as one may.
    let each = c.expr.ty.ty.collation.charset().max_width() as u64;
    if !c.may_be((want as u64).saturating_mul(each))? {
        return Ok(Val::NULL);
    }
    let (s, have, want) = (c.bytes(0), c.length(0), want as usize);
    if have >= want {
        return c.string(c.head(0, &s, want).to_vec());
    }
    let (filling, each) = match c.args.len() > 2 {
        true => (c.bytes(2), c.length(2)),
        false => (Cow::Borrowed(&b" "[..]), 1),
    };
    if filling.is_empty() {
        return Ok(Val::NULL);
    }
    let missing = want - have;
    let mut fill = filling.repeat(missing / each);
    fill.extend_from_slice(c.head(2, &filling, missing % each));
    c.string(match in_front {
        true => [&fill, &*s].concat(),
        false => [&*s, &fill].concat(),
    })
}

/// All that is the second argument, or a space, is taken away at the ends.
pub(super) fn trim<'a>(c: &Call<'a, '_>, in_front: bool, at_end: bool) -> SqlResult<Val<'a>> {
    let mut s = Vec::new();
    c.v(0).write_text(&mut s);
    let mut what = Vec::new();
    if c.args.len() > 1 {
        c.v(1).write_text(&mut what);
    } else {
        what.push(b' ');
    }
    let mut t: &[u8] = &s;
    if !what.is_empty() {
        while in_front && let Some(rest) = t.strip_prefix(&what[..]) {
            t = rest;
        }
        while at_end && let Some(rest) = t.strip_suffix(&what[..]) {
            t = rest;
        }
    }
    c.string(t.to_vec())
}

fn quote<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::text("NULL".into()));
    }
    if !c.may_be(text_bytes(c, 0) + 2)? {
        return Ok(Val::NULL);
    }
    let text = c.bytes(0);
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for b in text.iter() {
        match b {
            b'\'' => out.extend_from_slice(b"\\'"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => out.extend_from_slice(b"\\0"),
            0x1a => out.extend_from_slice(b"\\Z"),
            b => out.push(*b),
        }
    }
    out.push(b'\'');
    c.string(out)
}

fn repeated<'a>(c: &Call<'a, '_>, text: &[u8], n: i64) -> SqlResult<Val<'a>> {
    let n = n.max(0) as u64;
    if !c.may_be(n.saturating_mul(text.len() as u64))? {
        return Ok(Val::NULL);
    }
    c.string(text.repeat(n as usize))
}

pub(super) fn replace<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() || c.v(1).is_null() {
        return Ok(Val::NULL);
    }
    let (mut s, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
    c.v(0).write_text(&mut s);
    c.v(1).write_text(&mut from);
    c.v(2).write_text(&mut to);
    if from.is_empty() {
        return c.string(s);
    }
    if c.v(2).is_null() {
        // Where bytes are characters a text that has nothing to replace stays, whatever would come instead.
        let collation = c.expr.ty.ty.collation;
        let wide = !collation.is_bin() && collation.charset().is_unicode();
        if wide || memchr::memmem::find(&s, &from).is_some() {
            return Ok(Val::NULL);
        }
        return c.string(s);
    }
    match replace_all(c, &s, &from, &to) {
        Some(out) => c.string(out),
        None => {
            c.too_long();
            Ok(Val::NULL)
        }
    }
}

/// A text with each occurrence of another one replaced; `None` if it becomes longer than a value may be.
fn replace_all(c: &Call<'_, '_>, s: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let most = c.ctx.env.max_allowed_packet;
    let mut out = Vec::with_capacity(s.len());
    let mut done = 0;
    let mut work = Work::default();
    for at in memchr::memmem::find_iter(s, from) {
        out.extend_from_slice(&s[done..at]);
        out.extend_from_slice(to);
        done = at + from.len();
        if out.len() as u64 > most {
            return None;
        }
        if work.stops(1) {
            break;
        }
    }
    out.extend_from_slice(&s[done..]);
    (out.len() as u64 <= most).then_some(out)
}

fn reverse<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut s = c.bytes(0).into_owned();
    if !c.is_bytes(0) && !s.is_ascii() {
        // Each character's bytes turned round once, and once more with the whole.
        for ch in s.chunk_by_mut(|_, b| *b & 0xc0 == 0x80) {
            ch.reverse();
        }
    }
    s.reverse();
    c.string(s)
}

fn strcmp<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let order = with_text(c.v(0), |a| {
        with_text(c.v(1), |b| c.shared_collation().compare(a, b))
    });
    Ok(Val::int(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}
