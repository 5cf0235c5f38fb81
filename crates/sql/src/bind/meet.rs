//! Texts of several character sets that meet in one operation: what has to be converted can be, or it is error 1267.

use crate::env::StatementEnv;
use crate::expr::node::{Coercibility, Expr, ExprKind, ExprType, Function, make};
use crate::expr::types::{collation_of, illegal_mix_of};
use narwal_types::{Charset, Collation, SqlError, SqlResult, TypeKind, Value, errors};

/// Functions whose result is made of the texts that they are given.
const MADE_OF_TEXTS: &[&str] = &[
    "coalesce",
    "concat",
    "concat_ws",
    "elt",
    "export_set",
    "greatest",
    "if",
    "ifnull",
    "insert",
    "lcase",
    "least",
    "left",
    "lower",
    "lpad",
    "ltrim",
    "make_set",
    "nullif",
    "nvl",
    "nvl2",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "substr",
    "substring",
    "trim",
    "ucase",
    "upper",
];

/// Those that put several texts together to one.
const JOINED: &[&str] = &[
    "concat",
    "concat_ws",
    "elt",
    "export_set",
    "greatest",
    "insert",
    "least",
    "lpad",
    "make_set",
    "replace",
    "rpad",
    "trim",
];

/// Those that choose one of their texts.
const CHOSEN: &[&str] = &["coalesce", "if", "ifnull", "nvl", "nvl2"];

/// Those that compare theirs.
const COMPARED: &[&str] = &[
    "field",
    "find_in_set",
    "instr",
    "locate",
    "nullif",
    "position",
    "strcmp",
    "substring_index",
];

fn is_text(e: &Expr) -> bool {
    e.ty.is_string()
}

/// Gives a call's texts the form that they have in the result.
pub(super) fn in_call(
    func: &Function,
    args: Vec<Expr>,
    ty: &ExprType,
    env: &StatementEnv,
) -> SqlResult<Vec<Expr>> {
    let name = func.name();
    let (joined, chosen) = (JOINED.contains(&name), CHOSEN.contains(&name));
    if ty.ty.fixed().is_some() || args.iter().any(|a| a.ty.ty.fixed().is_some()) {
        return Ok(args);
    }
    let bytes = ty.ty.collation == Collation::Binary;
    if chosen && ty.ty.is_string() || joined && bytes {
        // The condition is none of the values.
        let mut all = args;
        let values = all.split_off(usize::from(matches!(name, "if" | "nvl2")));
        all.extend(together(values, ty.ty.collation, name, joined, env)?);
        return Ok(all);
    }
    // One number makes all of FIELD()'s values numbers.
    let compared = COMPARED.contains(&name) && (name != "field" || args.iter().all(is_text));
    if (joined && ty.ty.is_string() || compared) && args.iter().any(is_text) {
        let (c, _) = collation_of(args.iter().filter(|a| is_text(a)).map(|a| &a.ty), name)?;
        return together(args, c, name, true, env);
    }
    Ok(args)
}

/// The same for texts that an operator compares.
pub(super) fn compared<const N: usize>(
    texts: [Expr; N],
    collation: Collation,
    operation: &str,
    env: &StatementEnv,
) -> SqlResult<[Expr; N]> {
    let set = collation.charset();
    let is_other = |e: &Expr| is_text(e) && e.ty.ty.collation.charset() != set;
    // What else is compared is compared as numbers, but for a pattern.
    let searched = operation == "like" && set == Charset::Swe7;
    if !searched && !texts.iter().any(is_other) {
        return Ok(texts);
    }
    let all = together(texts.into(), collation, operation, true, env)?;
    // As many as there were.
    all.try_into()
        .map_err(|_| errors::UNKNOWN_ERROR.with([&"an operand is lost"]))
}

/// The same for a list of them.
pub(super) fn together(
    args: Vec<Expr>,
    c: Collation,
    operation: &str,
    as_bytes: bool,
    env: &StatementEnv,
) -> SqlResult<Vec<Expr>> {
    let to = c.charset();
    let is_other = |e: &Expr| is_text(e) && e.ty.ty.collation.charset() != to;
    if to == Charset::Swe7 {
        no_numbers(&args, operation)?;
    }
    // What a variable holds is known when it is read.
    let unknown = to == Charset::Binary && args.iter().any(has_variable);
    if unknown || !args.iter().any(is_other) {
        return Ok(args);
    }
    if !to.is_unicode() && args.iter().any(|e| is_other(e) && has_slot(e)) {
        // The values come later.
        env.ascii_slots.set(true);
    }
    if to != Charset::Binary && args.iter().any(|e| is_other(e) && !fits(e, to)) {
        return Err(told(&args, operation));
    }
    args.into_iter()
        .map(|e| match is_other(&e) {
            true if to != Charset::Binary => of_bytes(seen_by(e, c), c, env),
            true if as_bytes => Ok(own_bytes(e)),
            _ => Ok(e),
        })
        .collect()
}

/// Error 1267: the digits of a number are ASCII, which swe7 is not, and are known in advance for constants alone.
pub(super) fn no_numbers(args: &[Expr], operation: &str) -> SqlResult<()> {
    // The other arguments of these are numbers in themselves.
    let takes_text = |at: usize| match operation {
        "elt" | "export_set" | "make_set" => at > 0,
        "insert" => at == 0 || at == 3,
        "lpad" | "rpad" => at != 1,
        "locate" | "position" | "instr" | "substring_index" => at < 2,
        _ => true,
    };
    let is_number = |e: &Expr| {
        let bits = matches!(e.ty.ty.kind, TypeKind::Bit(_));
        !is_text(e) && !bits && !e.ty.null && !e.is_const()
    };
    let places = args.iter().enumerate();
    let texts: Vec<&Expr> = (places.filter(|(at, _)| takes_text(*at)))
        .map(|(_, e)| e)
        .collect();
    if !texts.iter().any(|e| is_number(e)) {
        return Ok(());
    }
    let mut all: Vec<&ExprType> = texts.iter().map(|e| &e.ty).collect();
    if matches!(operation, "locate" | "position") {
        all.reverse();
    }
    Err(illegal_mix_of(all, operation))
}

/// Error 1267 as it names the texts: numbers that are no texts there do not count, and what is searched comes behind what is
/// searched for.
fn told(args: &[Expr], operation: &str) -> SqlError {
    let counts = |e: &&Expr| !matches!(operation, "elt" | "insert" | "lpad" | "rpad") || is_text(e);
    let mut all: Vec<&ExprType> = args.iter().filter(counts).map(|e| &e.ty).collect();
    if matches!(operation, "locate" | "position" | "trim") {
        all.reverse();
    }
    illegal_mix_of(all, operation)
}

/// A text as its bytes in its own character set.
fn own_bytes(e: Expr) -> Expr {
    let ty = ExprType::string(
        e.ty.chars(),
        Collation::Binary,
        e.ty.coercibility,
        e.ty.nullable,
    );
    make(ExprKind::Collate(Box::new(e)), ty)
}

/// A text as another set sees it, if its own has codes that mean something there only.
pub(super) fn seen_by(e: Expr, c: Collation) -> Expr {
    let from = e.ty.ty.collation.charset();
    if !is_text(&e) || from == c.charset() || !from.has_private() {
        return e;
    }
    let ty = ExprType::string(e.ty.chars(), c, e.ty.coercibility, e.ty.nullable);
    if let ExprKind::Literal(Value::Str(s)) = &e.kind {
        return make(ExprKind::Literal(Value::str(from.unveiled(s))), ty);
    }
    make(ExprKind::Cast(Box::new(e)), ty)
}

/// Bytes that are written out are text beside text; error 1300 if they are none.
fn of_bytes(e: Expr, c: Collation, env: &StatementEnv) -> SqlResult<Expr> {
    let written = match &e.kind {
        // Behind `_binary`.
        ExprKind::Collate(e) => &e.kind,
        kind => kind,
    };
    let ExprKind::Literal(Value::Bytes(b)) = written else {
        return Ok(computed_bytes(e, c));
    };
    let set = c.charset();
    let aligned = set.aligned(b);
    let good = set.well_formed(&aligned);
    if good < aligned.len() {
        if env.raw_literals.get() {
            return Ok(e);
        }
        let bad: String = aligned[good..]
            .iter()
            .take(3)
            .map(|b| format!("{b:02X}"))
            .collect();
        return Err(errors::INVALID_CHARACTER_STRING.with([&set.name(), &bad]));
    }
    let text = set.decode(&aligned).into_owned();
    let chars = text.chars().count() as u64;
    let ty = ExprType::string(chars, c, e.ty.coercibility, false);
    Ok(make(ExprKind::Literal(Value::str(text)), ty))
}

/// Bytes that are computed without a column are text, too.
fn computed_bytes(e: Expr, c: Collation) -> Expr {
    let is_bytes = e.ty.ty.collation == Collation::Binary && !e.ty.null;
    if !is_bytes || !e.is_const() || has_variable(&e) || has_slot(&e) {
        return e;
    }
    let chars = e.ty.chars();
    let ty = ExprType::string(chars, c, e.ty.coercibility, true);
    make(ExprKind::Cast(Box::new(e)), ty)
}

fn has_variable(e: &Expr) -> bool {
    e.any(&|e| matches!(e.kind, ExprKind::UserVariable(..)))
}

fn has_slot(e: &Expr) -> bool {
    e.any(&|e| matches!(e.kind, ExprKind::Slot(_)))
}

/// A text can be converted to this character set: all that it may be is there.
fn fits(e: &Expr, to: Charset) -> bool {
    match e.ty.ty.collation.charset() {
        _ if !is_text(e) => true,
        from if from == to => true,
        Charset::Binary | Charset::Ascii => true,
        from if to.is_unicode() => match (from, to) {
            (Charset::Utf8mb3, Charset::Utf8mb4) => true,
            (from, _) if !from.is_unicode() => true,
            _ => all_of_it_fits(e, to),
        },
        _ => all_of_it_fits(e, to),
    }
}

fn all_of_it_fits(e: &Expr, to: Charset) -> bool {
    let constant = e.is_const();
    every_text(e, &|text| match constant {
        true => text.chars().all(|c| to.has(c)),
        false => text.is_ascii(),
    })
}

/// Whether all texts that an expression is made of are as they should be; a column may have any.
fn every_text(e: &Expr, good: &dyn Fn(&str) -> bool) -> bool {
    match &e.kind {
        _ if !is_text(e) || e.ty.ty.collation.charset() == Charset::Ascii => true,
        ExprKind::Literal(Value::Str(s)) => good(s),
        ExprKind::Column { .. } => e.ty.coercibility > Coercibility::Implicit,
        ExprKind::Collate(e) | ExprKind::Cast(e) => every_text(e, good),
        ExprKind::Func { func, args } if MADE_OF_TEXTS.contains(&func.name()) => {
            args.iter().all(|a| every_text(a, good))
        }
        _ => true,
    }
}
