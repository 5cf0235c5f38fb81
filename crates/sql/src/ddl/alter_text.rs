//! ALTER TABLE as the log has it: without ONLINE, ALGORITHM and LOCK.
//!
//! They say how a change is to be made, and each server has its own ways: what is done in place here may need a copy on a
//! replica, which would refuse the statement.

use narwal_syntax::{Kw, SqlMode, Tok, Token, glance};

const HOW: [&str; 9] = [
    "DEFAULT",
    "INPLACE",
    "COPY",
    "NOCOPY",
    "INSTANT",
    "NONE",
    "SHARED",
    "EXCLUSIVE",
    "SHARE",
];

/// The statement without what says how it is to be made; as it is if nothing else would be left.
pub(super) fn without_ways(sql: &str, mode: SqlMode) -> String {
    let mut text = sql.to_owned();
    loop {
        let tokens = glance::tokens(&text, mode);
        let Some((from, to)) = way(&text, &tokens) else {
            return text;
        };
        text.replace_range(from..to, " ");
    }
}

/// Where the first of them stands, with the comma that goes with it.
fn way(text: &str, tokens: &[Token]) -> Option<(usize, usize)> {
    let tok = |n: usize| tokens.get(n).map_or(Tok::End, |t| t.tok);
    let start = |n: usize| tokens[n].start as usize;
    let end = |n: usize| tokens[n].end as usize;
    if tok(0) == Tok::Word(Kw::ALTER) && tok(1) == Tok::Word(Kw::ONLINE) {
        return Some((start(1), end(1)));
    }
    let name_ends = name_end(tokens)?;
    let mut depth = 0usize;
    for n in 0..tokens.len() {
        match tok(n) {
            Tok::LParen => depth += 1,
            Tok::RParen => depth = depth.saturating_sub(1),
            Tok::Word(Kw::ALGORITHM | Kw::LOCK) if depth == 0 && n >= name_ends => {}
            _ => continue,
        }
        if !matches!(tok(n), Tok::Word(Kw::ALGORITHM | Kw::LOCK)) {
            continue;
        }
        let value = n + 1 + usize::from(tok(n + 1) == Tok::Eq);
        let says_how = tokens
            .get(value)
            .is_some_and(|t| HOW.iter().any(|w| t.of(text).eq_ignore_ascii_case(w)));
        let first = n == name_ends;
        let behind_comma = tok(n - 1) == Tok::Comma;
        if !says_how || !(first || behind_comma) {
            continue;
        }
        return match (behind_comma, tok(value + 1)) {
            (true, _) => Some((start(n - 1), end(value))),
            (false, Tok::Comma) => Some((start(n), end(value + 1))),
            // Nothing else is said.
            _ => None,
        };
    }
    None
}

/// The number of the token behind the table's name of an ALTER TABLE.
fn name_end(tokens: &[Token]) -> Option<usize> {
    let tok = |n: usize| tokens.get(n).map_or(Tok::End, |t| t.tok);
    let table = (0..4).find(|n| tok(*n) == Tok::Word(Kw::TABLE))?;
    let mut n = table + 1;
    if tok(n) == Tok::Word(Kw::IF) && tok(n + 1) == Tok::Word(Kw::EXISTS) {
        n += 2;
    }
    n += 1;
    while tok(n) == Tok::Dot {
        n += 2;
    }
    match (tok(n), tok(n + 1)) {
        (Tok::Word(Kw::NOWAIT), _) => n += 1,
        (Tok::Word(Kw::WAIT), Tok::Int) => n += 2,
        _ => {}
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_left_out() {
        for (sql, logged) in [
            (
                "ALTER ONLINE TABLE t ADD a INT",
                "ALTER   TABLE t ADD a INT",
            ),
            (
                "alter table t algorithm=inplace, add a int",
                "alter table t   add a int",
            ),
            (
                "alter table d.t add a int, lock = none, drop b",
                "alter table d.t add a int , drop b",
            ),
            (
                "alter table t add a int, algorithm copy, lock=shared",
                "alter table t add a int  ",
            ),
            (
                "alter table t wait 5 lock=none, force",
                "alter table t wait 5   force",
            ),
            // Names and values that look alike.
            (
                "alter table t change `lock` shared int",
                "alter table t change `lock` shared int",
            ),
            (
                "alter table t add c int comment ', lock=none'",
                "alter table t add c int comment ', lock=none'",
            ),
            (
                "alter table t add (a int, algorithm int)",
                "alter table t add (a int, algorithm int)",
            ),
            // Nothing else is said.
            ("alter table t lock=none", "alter table t lock=none"),
            ("alter table lock add a int", "alter table lock add a int"),
        ] {
            assert_eq!(without_ways(sql, SqlMode::DEFAULT), logged, "{sql}");
        }
    }
}
