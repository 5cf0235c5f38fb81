//! Administrative statements: a syntax error is one where MariaDB says so, and in the same place.

use narwal_syntax::secrets::mask_from;
use narwal_syntax::{ParseOptions, parse_statement};
use narwal_types::errors::abridged;

/// Statements with what MariaDB 10.11 answers to them.
const ANSWERS: &str = include_str!("data/admin_answers.txt");

/// What is other here: MySQL's way to give a password is taken, a comma with nothing behind it is not, and names are not
/// looked up before the statement has been read. MySQL's words for the binary log and its replicas are known.
const OURS: &[&str] = &[
    "create user x identified with mysql_native_password by 'y'",
    "start slave io_thread,",
    "show engine x foo",
    "kill user current_role",
    "kill id 5",
    "kill connection id 5",
    "show binary log status",
    "show replicas status",
    "reset binary logs and gtids",
    "start slave until sql_before_gtids='0-1-1'",
    "start slave until sql_after_gtids='0-1-1'",
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

/// The answer as it is where passwords are not shown.
fn masked(want: &str, text: &str) -> String {
    match want.strip_prefix("1064 ") {
        Some(near) if text.ends_with(near) => {
            let near = mask_from(text, text.len() - near.len());
            format!("1064 {}", abridged(near, 80))
        }
        _ => want.into(),
    }
}

#[test]
fn syntax_errors_are_mariadbs() {
    let mut wrong = Vec::new();
    for line in ANSWERS.lines().filter(|l| !l.starts_with('#')) {
        let (want, text) = line.split_once('\t').expect("an answer and a statement");
        let got = answer(text);
        if got != masked(want, text) && !OURS.contains(&text) {
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
