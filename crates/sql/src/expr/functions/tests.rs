//! Tests of the registry as a whole, and the documentation that is made of it.

use super::aggregate::AGGREGATES;
use super::forms::FORMS;
use super::window::WINDOW_FUNCTIONS;
use super::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn all() -> impl Iterator<Item = &'static Function> {
    SUBJECTS.iter().flat_map(|(_, list)| list.iter().copied())
}

#[test]
fn no_name_means_two_functions() {
    let mut seen = BTreeMap::new();
    for f in all() {
        for name in f.names() {
            assert_eq!(name, name.to_ascii_lowercase());
            assert!(seen.insert(name, f).is_none(), "{name} is there twice");
            assert!(
                aggregate::lookup(name).is_none(),
                "{name} is an aggregate too"
            );
            assert_eq!(lookup(name), Some(f));
        }
        assert!(f.min <= f.max, "{}", f.name());
    }
    assert_eq!(lookup("nosuch"), None);
}

#[test]
fn lines_of_documentation_are_sentences() {
    let docs = all()
        .map(|f| (f.name(), f.doc))
        .chain(AGGREGATES.iter().map(|a| (a.name, a.doc)))
        .chain(WINDOW_FUNCTIONS.iter().map(|w| (w.name, w.doc)))
        .chain(FORMS.iter().map(|f| (f.0, f.2)));
    for (name, doc) in docs {
        assert!(doc.ends_with('.') && !doc.contains('\n'), "{name}: {doc}");
    }
}

#[test]
fn arguments_are_counted_by_what_documentation_shows() {
    let counts = |name| lookup(name).map(|f| (f.min, f.max));
    assert_eq!(counts("concat"), Some((1, usize::MAX)));
    assert_eq!(counts("json_valid"), Some((1, 1)));
    assert_eq!(counts("log"), Some((1, 2)));
    assert_eq!(counts("setval"), Some((3, 5)));
    assert_eq!(counts("now"), Some((0, 1)));
    let object = lookup("json_object");
    assert!(object.is_some_and(|f| f.accepts(4) && !f.accepts(3)));
}

/// What a table's cell may hold.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn steadiness(f: &Function) -> &'static str {
    match f.steadiness(f.min) {
        Steadiness::Row => "row",
        Steadiness::Statement if f.steadiness(f.max) == Steadiness::Constant => {
            "statement if not all arguments are given"
        }
        Steadiness::Statement => "statement",
        Steadiness::Constant => "",
    }
}

fn row(out: &mut String, (name, aliases): (&str, &[&str]), usage: &str, rest: &str) {
    let mut names = format!("`{}({})`", name.to_ascii_uppercase(), usage);
    for a in aliases {
        let _ = write!(names, ", `{}`", a.to_ascii_uppercase());
    }
    let _ = writeln!(out, "| {} | {rest} |", cell(&names));
}

/// `docs/functions.md`.
fn documentation() -> String {
    let mut out = String::from(
        "# Functions\n\nMade of the registry in `crates/sql/src/expr/functions/`, one entry a function; a test says when this page is \
        stale, and `NARWAL_WRITE_DOCS=1 cargo test -p narwal-sql documentation` writes it anew.\n\nThe last column says how steady \
        a value is while the arguments stay the same: nothing if it is always the same, `statement` if it is the same for all rows \
        of a statement, `row` if it may differ from row to row or if evaluating it does something. Only what is always the same may \
        stand in CHECK, in indexes, and in generated columns that are stored or indexed. **No definition** of a table may hold what is marked so.\n",
    );
    for (subject, list) in SUBJECTS {
        let _ = write!(
            out,
            "\n## {subject}\n\n| function | what it is | steady |\n|---|---|---|\n"
        );
        for f in list.iter().filter(|f| !f.is_hidden()) {
            let never = if f.never_defined {
                " **No definition.**"
            } else {
                ""
            };
            let rest = format!("{}{never} | {}", cell(f.doc), steadiness(f));
            row(&mut out, (f.name(), f.aliases), f.usage, &rest);
        }
    }
    out.push_str("\n## With a syntax of their own\n\n| function | what it is |\n|---|---|\n");
    for (name, usage, doc) in FORMS {
        row(&mut out, (name, &[]), usage, &cell(doc));
    }
    out.push_str("\n## Aggregates\n\n| function | what it is |\n|---|---|\n");
    for a in AGGREGATES {
        row(&mut out, (a.name, a.aliases), a.usage, &cell(a.doc));
    }
    out.push_str(
        "\n## Window functions\n\nThey have `OVER`. Aggregates may have it too, but those that make a text of all values, and \
        `DISTINCT` in sums, averages and counts.\n\n| function | what it is |\n|---|---|\n",
    );
    for w in WINDOW_FUNCTIONS {
        row(&mut out, (w.name, &[]), w.usage, &cell(w.doc));
    }
    out
}

#[test]
fn documentation_is_of_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");
    let wanted = documentation();
    if std::env::var_os("NARWAL_WRITE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == wanted,
        "docs/functions.md is stale: NARWAL_WRITE_DOCS=1 cargo test -p narwal-sql documentation"
    );
}
