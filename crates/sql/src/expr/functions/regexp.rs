//! REGEXP, REGEXP_REPLACE, REGEXP_SUBSTR and REGEXP_INSTR: Perl's expressions, by the library that MariaDB uses too.
//! Case is as in the collation, the text is UTF-8 unless it is binary. An expression is compiled once per thread.

use super::regexp_search::{Failed, Mode, Regex};
use super::typing::int;
use crate::env::StatementEnv;
use crate::expr::node::{Call, Expr, ExprKind, ExprType, Function, Typing};
use crate::expr::types::{collation_of, compare_collation};
use crate::expr::value::Val;
use crate::expr::value::with_text;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{Collation, SqlResult, Value, ValueRef};
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
        let found = matches(c.ctx.env, c.v(0), c.v(1), collation);
        of_row(c, found.map(|found| Val::int(found.into())))
    },
)
.predicate();

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "regexp_instr",
        "text, pattern[, from, occurrence, behind, how]",
        "Where an expression first matches, counted from 1; 0 if nowhere. More than two arguments are MySQL's.",
        instr_type,
        |c| of_row(c, instr(c)),
    ).takes_texts(),
    &Function::new(
        "regexp_like",
        "text, pattern[, how]",
        "Whether an expression matches a part of the text; `i` and `c` say how case counts, `m` and `n` what ends a line. MySQL's.",
        int,
        |c| of_row(c, like(c)),
    ).takes_texts(),
    &Function::new(
        "regexp_replace",
        "text, pattern, new[, from, occurrence, how]",
        "The text with each match of an expression replaced. More than three arguments are MySQL's.",
        |t| {
            mysqls_arguments(t, 3)?;
            t.string_of(0..3, 1 << 24, t.nullable())
        },
        |c| of_row(c, replace(c)),
    ).takes_texts(),
    &Function::new(
        "regexp_substr",
        "text, pattern[, from, occurrence, how]",
        "The first part that an expression matches. More than two arguments are MySQL's.",
        |t| {
            mysqls_arguments(t, 2)?;
            t.string_of(0..2, t.chars(0), t.nullable())
        },
        |c| of_row(c, substr(c)),
    ).takes_texts(),
];

fn mode_of(c: Collation, env: &StatementEnv) -> Mode {
    Mode {
        // In MariaDB also under uca1400_*_cs.
        caseless: c.name().ends_with("_ci") || c.expands(),
        utf: c != Collation::Binary,
        broken: false,
        options: env.regex_options,
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
/// Error 1139 for REGEXP and REGEXP_INSTR whose pattern is a literal and no expression: it is told before any row is read, and
/// of definitions. The others tell it when they are run.
pub(crate) fn check_pattern(func: &Function, args: &[Expr], env: &StatementEnv) -> SqlResult<()> {
    let Some(pattern) = args.get(1) else {
        return Ok(());
    };
    let ExprKind::Literal(Value::Str(s)) = &pattern.kind else {
        return Ok(());
    };
    match func.name() {
        "regexp" | "regexp_instr" => compile(s, mode_of(pattern.ty.ty.collation, env)).map(drop),
        _ => Ok(()),
    }
}

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

/// What a function found. An expression that is another one for each row may be none in some: there it finds NULL.
fn of_row<'a>(c: &Call<'_, '_>, found: SqlResult<Val<'a>>) -> SqlResult<Val<'a>> {
    match found {
        Err(e)
            if e.code == codes::REGEXP_ERROR && c.exprs().get(1).is_some_and(|p| !p.is_const()) =>
        {
            Ok(Val::NULL)
        }
        found => found,
    }
}

/// `text REGEXP pattern`.
fn matches(
    env: &StatementEnv,
    text: ValueRef<'_>,
    pattern: ValueRef<'_>,
    collation: Collation,
) -> SqlResult<bool> {
    with_text(text, |t| {
        let r = compile_for(t, &pattern.to_text(), mode_of(collation, env))?;
        search(env, &r, t, 0)
    })
}

/// REGEXP_LIKE.
fn like<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (mode, pattern) = told(c, 2)?;
    let found = with_text(c.v(0), |t| {
        let r = compile_for(t, &pattern, mode)?;
        search(c.ctx.env, &r, t, 0)
    })?;
    Ok(Val::int(found.into()))
}

/// How to search, and for what: argument `how` says it by letters.
fn told(c: &Call<'_, '_>, how: usize) -> SqlResult<(Mode, String)> {
    let mut mode = call_mode(c)?;
    let mut pattern = c.text(1);
    let how = match c.exprs().len() > how {
        true => c.text(how),
        false => String::new(),
    };
    for letter in how.chars() {
        match letter {
            'c' => mode.caseless = false,
            'i' => mode.caseless = true,
            'm' => pattern.insert_str(0, "(?m)"),
            'n' => pattern.insert_str(0, "(?s)"),
            'u' => {}
            _ => return Err(errors::WRONG_ARGUMENTS.with([&c.func.name()])),
        }
    }
    Ok((mode, pattern))
}

/// 1582 for arguments that MariaDB's function does not have.
fn mysqls_arguments(t: &Typing<'_>, own: usize) -> SqlResult<()> {
    match t.args.len() > own && !is_mysql() {
        true => Err(errors::WRONG_PARAMCOUNT_TO_NATIVE_FCT.with([&t.name.to_ascii_uppercase()])),
        false => Ok(()),
    }
}

/// Argument `i`, a number from 1 on, or `1` if it is not there.
fn counted(c: &Call<'_, '_>, i: usize) -> i64 {
    match c.exprs().len() > i {
        true => c.int(i),
        false => 1,
    }
}

/// The byte at which character `from` begins, from 1; 3686 beyond the text.
fn start(text: &[u8], from: i64, utf: bool) -> SqlResult<usize> {
    let chars = usize::try_from(from.saturating_sub(1)).ok();
    let at = chars.and_then(|n| match utf {
        true => {
            let at = narwal_types::collation::char_prefix(text, n).len();
            (narwal_types::collation::char_count(&text[..at]) == n).then_some(at)
        }
        false => (n <= text.len()).then_some(n),
    });
    at.ok_or_else(|| errors::REGEXP_INDEX_OUTOFBOUNDS_ERROR.plain())
}

/// Collation of the text and the pattern of a call.
fn call_mode(c: &Call<'_, '_>) -> SqlResult<Mode> {
    let both = c.exprs().iter().take(2);
    let collation = compare_collation(both, c.func.name())?;
    Ok(mode_of(collation, c.ctx.env))
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
    mysqls_arguments(t, 2)?;
    collation_of(t.args.iter().map(|a| &a.ty), t.name)?;
    Ok(ExprType::int(t.nullable()))
}

/// The match in the first argument that is asked for: the arguments from `2` on say from which character on, the how
/// manieth, and, as argument `how`, how to search.
fn find(c: &Call<'_, '_>, text: &[u8], how: usize) -> SqlResult<Option<(usize, usize)>> {
    let (mode, pattern) = told(c, how)?;
    let r = compile_for(text, &pattern, mode)?;
    let mut at = match counted(c, 2) {
        1 => 0,
        from => start(text, from, mode.utf)?,
    };
    let mut left = counted(c, 3);
    while at <= text.len() {
        let found = search(c.ctx.env, &r, text, at)?.then(|| r.group(0));
        let Some((from, to)) = found.flatten() else {
            break;
        };
        left -= 1;
        if left <= 0 {
            return Ok(Some((from, to)));
        }
        c.ctx.env.check_interrupt()?;
        at = behind(text, (from, to), mode.utf);
    }
    Ok(None)
}

/// Where to go on behind a match: one that is empty is passed over.
fn behind(text: &[u8], (from, to): (usize, usize), utf: bool) -> usize {
    if to > from {
        return to;
    }
    let rest = text.get(to..).unwrap_or_default();
    let one = match utf {
        true => narwal_types::collation::char_prefix(rest, 1).len(),
        false => 1,
    };
    to + one.max(1)
}

fn instr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mode = call_mode(c)?;
    let behind = c.exprs().len() > 4 && c.int(4) != 0;
    with_text(c.v(0), |t| {
        let found = find(c, t, 5)?.map(|m| if behind { m.1 } else { m.0 });
        Ok(Val::int(found.map_or(0, |at| position(t, at, mode.utf))))
    })
}

fn substr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let found = with_text(c.v(0), |t| {
        let found = find(c, t, 4)?;
        SqlResult::Ok(found.map(|(from, to)| t[from..to].to_vec()))
    })?;
    match found {
        None if is_mysql() => Ok(Val::NULL),
        found => c.string(found.unwrap_or_default()),
    }
}

/// Replaces all matches, or the one that is asked for. In the new text `\1` to `\9` stand for groups and `\\` for a
/// backslash; in MySQL it is `$1`, and a backslash takes the next character as it is.
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
    let (mode, pattern) = told(c, 5)?;
    let r = compile_for(&text, &pattern, mode)?;
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    let mut at = match counted(c, 3) {
        1 => 0,
        from => start(&text, from, mode.utf)?,
    };
    let only = match c.exprs().len() > 4 {
        true => c.int(4),
        false => 0,
    };
    let mut n = 0;
    while at <= text.len() {
        let found = search(c.ctx.env, &r, &text, at)?.then(|| r.group(0));
        // An empty match ends it in MariaDB.
        let Some((from, to)) = found.flatten().filter(|(a, b)| a < b || is_mysql()) else {
            break;
        };
        c.ctx.env.check_interrupt()?;
        n += 1;
        at = behind(&text, (from, to), mode.utf);
        if only > 0 && n != only {
            continue;
        }
        out.extend_from_slice(&text[copied..from]);
        copied = to;
        if !push_new(c, &r, &text, by, &mut out)? {
            return Ok(Val::NULL);
        }
        if only > 0 {
            break;
        }
    }
    out.extend_from_slice(&text[copied.min(text.len())..]);
    c.string(out)
}

/// Puts what replaces a match. False if the result is longer than it may be.
fn push_new(
    c: &Call<'_, '_>,
    r: &Regex,
    text: &[u8],
    by: &str,
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    let group = if is_mysql() { '$' } else { '\\' };
    let mut it = by.chars().peekable();
    let mut buf = [0; 4];
    while let Some(ch) = it.next() {
        // A group may be as long as the text, and stand there often.
        if !c.may_be(out.len() as u64)? {
            return Ok(false);
        }
        let digit = it.peek().and_then(|d| d.to_digit(10));
        match (ch, digit) {
            (_, Some(d)) if ch == group => {
                it.next();
                if let Some((s, e)) = r.group(d as usize) {
                    out.extend_from_slice(&text[s..e]);
                }
            }
            ('\\', _) => {
                if let Some(ch) = it.next() {
                    out.extend_from_slice(ch.encode_utf8(&mut buf).as_bytes());
                }
            }
            _ => out.extend_from_slice(ch.encode_utf8(&mut buf).as_bytes()),
        }
    }
    Ok(true)
}
