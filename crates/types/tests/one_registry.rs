//! Error numbers stand in the registry alone: no other file of the workspace writes one down.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};

/// What an error number stands behind.
const BEFORE: [&str; 11] = [
    "SqlError::new(",
    ".warn(",
    "note(",
    "warning(",
    "push_condition(",
    "code == ",
    "code != ",
    "code() == ",
    "code() != ",
    "(e.code, ",
    "code: ",
];

/// A crate that is not looked at: `client` knows only numbers that others have sent.
const OTHERS: [&str; 1] = ["client"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Whether a number of four digits begins here.
fn is_number(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && matches!(text.as_bytes()[0], b'1'..=b'4')
}

#[test]
fn no_other_file_has_numbers() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !OTHERS.contains(&name) && path.join("src").is_dir() {
            sources(&path.join("src"), &mut files);
        }
    }
    let mut bare = Vec::new();
    for path in &files {
        if path.ends_with("types/src/errors.rs") || path.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        // Tests say what they expect.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for before in BEFORE {
            for (at, _) in code.match_indices(before) {
                let behind = code[at + before.len()..].trim_start();
                if is_number(behind) {
                    let line = code[..at].matches('\n').count() + 1;
                    bare.push(format!(
                        "{}:{line}: {before}{}",
                        path.display(),
                        &behind[..4]
                    ));
                }
            }
        }
    }
    assert!(
        bare.is_empty(),
        "put these numbers into crates/types/src/errors.rs and use their names:\n{}",
        bare.join("\n")
    );
}
