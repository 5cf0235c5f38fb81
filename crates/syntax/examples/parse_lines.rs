//! Says of statements whether they are syntax errors: the half of `scripts/grammar_agreement.py` that knows our grammar.
//!
//! Reads `sql_mode`, a byte 31, a statement and a zero byte, again and again, and writes for each the error's number, a space,
//! its message and a zero byte; the number is 0 if there is no error.
#![allow(clippy::unwrap_used)]

use narwal_syntax::{ParseOptions, SqlMode, parse_statement};
use std::io::{Read, Write};

fn main() {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).unwrap();
    let input = String::from_utf8_lossy(&input).into_owned();
    // As deep a stack as a connection has.
    let run = move || {
        let mut out = std::io::stdout().lock();
        for case in input.split_terminator('\0') {
            let (mode, text) = case.split_once('\x1f').unwrap();
            let sql_mode = SqlMode::parse(mode).unwrap_or_default();
            match parse_statement(
                text,
                &ParseOptions {
                    sql_mode,
                    ..ParseOptions::default()
                },
            ) {
                Ok(_) => write!(out, "0 \0").unwrap(),
                Err(e) => write!(out, "{} {}\0", e.code, e.message).unwrap(),
            }
        }
    };
    std::thread::Builder::new()
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}
