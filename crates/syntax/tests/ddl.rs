//! DDL and stored programs: a syntax error is one where MariaDB says so, and in the same place.

use narwal_syntax::{ParseOptions, parse_statement};

/// Statements with what MariaDB 10.11 answers to them.
const ANSWERS: &str = include_str!("data/ddl_answers.txt");

/// What is other here: no name is looked up before the statement has been read, and where MariaDB notices late that RESTART has
/// no place, it names it as it was not written.
const OURS: &[&str] = &[
    "create sequence s restart",
    "create sequence s restart with 5",
    "signal sqlstate '42000' set message_text = concat('a','b')",
];

/// `ok`, or `1064` and the text that the error is near.
fn answer(text: &str) -> String {
    match parse_statement(text, &ParseOptions::default()) {
        Err(e) if e.code == 1064 => {
            let near = e.message.split_once("near '").map_or("?", |n| n.1);
            let near = near.rsplit_once("' at line").map_or("?", |n| n.0);
            format!("1064 {near}")
        }
        _ => "ok".into(),
    }
}

#[test]
fn syntax_errors_are_mariadbs() {
    let mut wrong = Vec::new();
    for line in ANSWERS.lines().filter(|l| !l.starts_with('#')) {
        let (want, text) = line.split_once('\t').expect("an answer and a statement");
        let got = answer(text);
        if got != want && !OURS.contains(&text) {
            wrong.push(format!("{text}\n    MariaDB: {want}\n    here:    {got}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
