//! REGEXP, REGEXP_REPLACE, REGEXP_SUBSTR and REGEXP_INSTR: Perl's expressions, by the library that MariaDB uses too.
//! Case is as in the collation, the text is UTF-8 unless it is binary. An expression is compiled once per thread.

use super::{Call, Function, Typing, Val};
use crate::env::StatementEnv;
use crate::expr::eval::with_text;
use crate::expr::types::{collation_of, compare_collation};
use crate::expr::{ExprKind, ExprType};
use narwal_types::{Collation, SqlError, SqlResult, ValueRef};
use pcre2::bytes::{Regex, RegexBuilder};
use std::cell::RefCell;
use std::rc::Rc;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("regexp_instr", (2, 2), instr_type, instr),
    Function::new("regexp_replace", (3, 3), replace_type, replace),
    Function::new("regexp_substr", (2, 2), substr_type, substr),
];

/// How an expression is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mode {
    caseless: bool,
    utf: bool,
}

impl Mode {
    fn of(c: Collation) -> Mode {
        Mode {
            // In MariaDB also under uca1400_*_cs.
            caseless: c.name().ends_with("_ci") || c.expands(),
            utf: c != Collation::Binary,
        }
    }
}

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
        let r = RegexBuilder::new()
            .caseless(mode.caseless)
            .utf(mode.utf)
            .ucp(mode.utf)
            .build(pattern)
            .map_err(|e| error(&e))?;
        let r = Rc::new(r);
        kept.truncate(KEPT - 1);
        kept.insert(0, (mode, pattern.to_string(), Rc::clone(&r)));
        Ok(r)
    })
}

fn error(e: &pcre2::Error) -> SqlError {
    let text = e.to_string();
    // "PCRE2: error compiling pattern at offset 3: message"
    let told = match text.split_once("at offset ") {
        Some((_, rest)) => match rest.split_once(": ") {
            Some((at, what)) => format!("{what} at offset {at}"),
            None => rest.to_string(),
        },
        None => text,
    };
    SqlError::new(1139, b"42000", format!("Regex error '{told}'"))
}

/// A match that the library gave up: a warning, and no match.
fn gave_up(env: &StatementEnv, e: &pcre2::Error) {
    env.warn(1139, format!("Got error '{e}' from regexp"));
}

/// `text REGEXP pattern`.
pub(in crate::expr) fn matches(
    env: &StatementEnv,
    text: ValueRef<'_>,
    pattern: ValueRef<'_>,
    collation: Collation,
) -> SqlResult<bool> {
    let r = compile(&pattern.to_text(), Mode::of(collation))?;
    Ok(with_text(text, |t| match r.is_match(t) {
        Ok(m) => m,
        Err(e) => {
            gave_up(env, &e);
            false
        }
    }))
}

/// Collation of the text and the pattern of a call.
fn call_mode(c: &Call<'_, '_>) -> SqlResult<Mode> {
    let collation = match &c.expr.kind {
        ExprKind::Func { args, .. } => compare_collation(args.iter().take(2), c.func.name())?,
        _ => Collation::default(),
    };
    Ok(Mode::of(collation))
}

fn compiled(c: &Call<'_, '_>) -> SqlResult<(Rc<Regex>, Mode)> {
    let mode = call_mode(c)?;
    Ok((compile(&c.text(1), mode)?, mode))
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

fn instr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (r, mode) = compiled(c)?;
    Ok(Val::int(with_text(c.v(0), |t| match r.find(t) {
        Ok(Some(m)) => position(t, m.start(), mode.utf),
        Ok(None) => 0,
        Err(e) => {
            gave_up(c.ctx.env, &e);
            0
        }
    })))
}

fn substr_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    t.string_of(0..2, t.chars(0), true)
}

fn substr<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (r, _) = compiled(c)?;
    let found = with_text(c.v(0), |t| match r.find(t) {
        Ok(Some(m)) => m.as_bytes().to_vec(),
        Ok(None) => Vec::new(),
        Err(e) => {
            gave_up(c.ctx.env, &e);
            Vec::new()
        }
    });
    c.string(found)
}

fn replace_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    t.string_of(0..3, 1 << 24, true)
}

/// Replaces all matches; `\1` to `\9` stand for groups, `\\` for a backslash.
fn replace<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (r, _) = compiled(c)?;
    let mut text = Vec::new();
    c.v(0).write_text(&mut text);
    let by = c.text(2);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at <= text.len() {
        let mut places = r.capture_locations();
        let found = match r.captures_read_at(&mut places, &text, at) {
            Ok(m) => m,
            Err(e) => {
                gave_up(c.ctx.env, &e);
                return Ok(Val::NULL);
            }
        };
        // An empty match ends it, as in MariaDB.
        let Some(m) = found.filter(|m| m.start() < m.end()) else {
            break;
        };
        out.extend_from_slice(&text[at..m.start()]);
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
                    if let Some((s, e)) = places.get(d as usize - '0' as usize) {
                        out.extend_from_slice(&text[s..e]);
                    }
                }
                Some(ch) => out.extend_from_slice(ch.encode_utf8(&mut buf).as_bytes()),
                None => {}
            }
        }
        at = m.end();
    }
    out.extend_from_slice(&text[at.min(text.len())..]);
    c.string(out)
}
