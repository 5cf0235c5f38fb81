//! REGEXP, REGEXP_REPLACE, REGEXP_SUBSTR and REGEXP_INSTR: Perl's expressions, by the library that MariaDB uses too.
//! Case is as in the collation, the text is UTF-8 unless it is binary. An expression is compiled once per thread.

use super::regexp_search::{Failed, Mode, Regex};
use super::typing::int;
use crate::env::StatementEnv;
use crate::expr::node::{Call, ExprType, Function, Typing};
use crate::expr::types::{collation_of, compare_collation};
use crate::expr::value::Val;
use crate::expr::value::with_text;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlResult, ValueRef};
use std::cell::RefCell;
use std::rc::Rc;

/// `text REGEXP pattern`.
pub(in crate::expr) static REGEXP: Function = Function::new(
    " regexp",
    "text, pattern",
    "Whether an expression matches a part of the text.",
    int,
    |c| {
        let collation = compare_collation(c.exprs(), "regexp")?;
        let found = matches(c.ctx.env, c.v(0), c.v(1), collation)?;
        Ok(Val::int(found.into()))
    },
)
.predicate();

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "regexp_instr",
        "text, pattern",
        "Where an expression first matches, counted from 1; 0 if nowhere.",
        instr_type,
        instr,
    ),
    &Function::new(
        "regexp_like",
        "text, pattern[, how]",
        "Whether an expression matches a part of the text; `i` and `c` say how case counts, `m` and `n` what ends a line. MySQL's.",
        int,
        like,
    ),
    &Function::new(
        "regexp_replace",
        "text, pattern, new",
        "The text with each match of an expression replaced.",
        |t| t.string_of(0..3, 1 << 24, true),
        replace,
    ),
    &Function::new(
        "regexp_substr",
        "text, pattern",
        "The first part that an expression matches.",
        |t| t.string_of(0..2, t.chars(0), true),
        substr,
    ),
];

fn mode_of(c: Collation) -> Mode {
    Mode {
        // In MariaDB also under uca1400_*_cs.
        caseless: c.name().ends_with("_ci") || c.expands(),
        utf: c != Collation::Binary,
        broken: false,
    }
}

/// An expression keeps what a match took, for the next one; with more than so many bytes it goes.
const KEEPS: i64 = 1 << 20;

/// Compiled expressions of a thread, the last used first.
const KEPT: usize = 16;
thread_local! {
    static COMPILED: RefCell<Vec<(Mode, String, Rc<Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// Compiles an expression, or finds it compiled. Error 1139 says what is wrong with it.
fn compile(pattern: &str, mode: Mode) -> SqlResult<Rc<Regex>> {
    COMPILED.with_borrow_mut(|kept| {
        if let Some(i) = kept.iter().position(|k| k.0 == mode && k.1 == pattern) {
            kept[..=i].rotate_right(1);
            return Ok(Rc::clone(&kept[0].2));
        }
        let r = Regex::new(pattern, mode).map_err(|e| errors::REGEXP_ERROR.with([&e]))?;
        let r = Rc::new(r);
        kept.truncate(KEPT - 1);
        kept.insert(0, (mode, pattern.to_string(), Rc::clone(&r)));
        Ok(r)
    })
}

/// Looks for a match in `text` at or behind `from`. A search that the library gives up is a warning, and no match.
fn search(env: &StatementEnv, r: &Regex, text: &[u8], from: usize) -> SqlResult<bool> {
    let before = narwal_memory::held();
    let found = r.search(text, from);
    if narwal_memory::held() - before > KEEPS {
        COMPILED.with_borrow_mut(Vec::clear);
    }
    match found {
        Ok(found) => Ok(found),
        Err(Failed::Stopped) => env.check_interrupt().map(|()| false),
        Err(Failed::GaveUp(what)) => {
            env.warn(codes::REGEXP_ERROR, format!("Regex error '{what}'"));
            Ok(false)
        }
    }
}

/// Compiles an expression for a text.
fn compile_for(text: &[u8], pattern: &str, mut mode: Mode) -> SqlResult<Rc<Regex>> {
    mode.broken = mode.utf && std::str::from_utf8(text).is_err();
    compile(pattern, mode)
}

/// `text REGEXP pattern`.
fn matches(
    env: &StatementEnv,
    text: ValueRef<'_>,
    pattern: ValueRef<'_>,
    collation: Collation,
) -> SqlResult<bool> {
    with_text(text, |t| {
        let r = compile_for(t, &pattern.to_text(), mode_of(collation))?;
        search(env, &r, t, 0)
    })
}

/// REGEXP_LIKE.
fn like<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut mode = call_mode(c)?;
    let mut pattern = c.text(1);
    let how = match c.exprs().len() {
        3.. => c.text(2),
        _ => String::new(),
    };
    for letter in how.chars() {
        match letter {
            'c' => mode.caseless = false,
            'i' => mode.caseless = true,
            'm' => pattern.insert_str(0, "(?m)"),
            'n' => pattern.insert_str(0, "(?s)"),
            'u' => {}
            _ => return Err(errors::WRONG_ARGUMENTS.with([&"regexp_like"])),
        }
    }
    let found = with_text(c.v(0), |t| {
        let r = compile_for(t, &pattern, mode)?;
        search(c.ctx.env, &r, t, 0)
    })?;
    Ok(Val::int(found.into()))
}

/// Collation of the text and the pattern of a call.
fn call_mode(c: &Call<'_, '_>) -> SqlResult<Mode> {
    let both = c.exprs().iter().take(2);
    Ok(mode_of(compare_collation(both, c.func.name())?))
}

/// Characters in front of a byte, from 1.
fn position(text: &[u8], at: usize, utf: bool) -> i64 {
    1 + if utf {
        narwal_types::collation::char_count(&text[..at])
    } else {
        at
    } as i64
}

fn instr_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    collation_of(t.args.iter().map(|a| &a.ty), t.name)?;
    Ok(ExprType::int(t.nullable()))
}

/// The first match in the first argument.
fn find(c: &Call<'_, '_>, text: &[u8], mode: Mode) -> SqlResult<Option<(usize, usize)>> {
    let r = compile_for(text, &c.text(1), mode)?;
    Ok(search(c.ctx.env, &r, text, 0)?
        .then(|| r.group(0))
        .flatten())
}

fn instr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mode = call_mode(c)?;
    with_text(c.v(0), |t| {
        let found = find(c, t, mode)?;
        Ok(Val::int(found.map_or(0, |m| position(t, m.0, mode.utf))))
    })
}

fn substr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mode = call_mode(c)?;
    let found = with_text(c.v(0), |t| {
        let found = find(c, t, mode)?;
        SqlResult::Ok(found.map_or(Vec::new(), |(from, to)| t[from..to].to_vec()))
    })?;
    c.string(found)
}

/// Replaces all matches; `\1` to `\9` stand for groups, `\\` for a backslash.
fn replace<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    replace_by(c, &c.text(2))
}

/// REGEXP_REPLACE with NULL for an empty text.
pub(super) fn replace_by_null<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() || c.v(1).is_null() {
        return Ok(Val::NULL);
    }
    match c.v(2).is_null() {
        true => replace_by(c, ""),
        false => replace(c),
    }
}

fn replace_by<'a>(c: &Call<'a, '_>, by: &str) -> SqlResult<Val<'a>> {
    let mut text = Vec::new();
    c.v(0).write_text(&mut text);
    let r = compile_for(&text, &c.text(1), call_mode(c)?)?;
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at <= text.len() {
        // An empty match ends it, as in MariaDB.
        let found = search(c.ctx.env, &r, &text, at)?
            .then(|| r.group(0))
            .flatten();
        let Some((from, to)) = found.filter(|(from, to)| from < to) else {
            break;
        };
        c.ctx.env.check_interrupt()?;
        out.extend_from_slice(&text[at..from]);
        let mut it = by.chars();
        let mut buf = [0; 4];
        while let Some(ch) = it.next() {
            // A group may be as long as the text, and stand there often.
            if !c.may_be(out.len() as u64)? {
                return Ok(Val::NULL);
            }
            if ch != '\\' {
                out.extend_from_slice(ch.encode_utf8(&mut buf).as_bytes());
                continue;
            }
            match it.next() {
                Some(d) if d.is_ascii_digit() => {
                    if let Some((s, e)) = r.group(d as usize - '0' as usize) {
                        out.extend_from_slice(&text[s..e]);
                    }
                }
                Some(ch) => out.extend_from_slice(ch.encode_utf8(&mut buf).as_bytes()),
                None => {}
            }
        }
        at = to;
    }
    out.extend_from_slice(&text[at.min(text.len())..]);
    c.string(out)
}
