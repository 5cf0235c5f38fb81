//! Random, damaged and deeply nested statements through the parser.
//!
//! `cargo run --release -p narwal-syntax --example fuzz_syntax -- --seconds 30 --seed 1`
//!
//! It fails when the parser panics, overflows its stack or takes longer than a statement may. The seed of the case is printed;
//! `--seed S --cases 1` repeats it. After a crash of the process it is in the file that is named at the start.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use narwal_testkit::fuzz;
use std::io::{Seek, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Statements of the project's own tests.
fn corner() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corner");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut statements = Vec::new();
    for f in files.filter(|f| f.path().extension().is_some_and(|e| e == "sql")) {
        let text = std::fs::read_to_string(f.path()).unwrap_or_default();
        statements.extend(
            text.split(";\n")
                .map(|s| s.trim().to_string())
                .filter(|s| !s.is_empty()),
        );
    }
    statements.sort();
    statements
}

fn main() -> ExitCode {
    let args = match fuzz::Args::read("fuzz_syntax") {
        Ok(args) => args,
        Err(code) => return code,
    };
    let run = move || {
        let more = corner();
        let path = std::env::temp_dir().join(format!("fuzz_syntax-{}", std::process::id()));
        let mut last = std::fs::File::create(&path).unwrap();
        println!("fuzz_syntax: the seed under way is in {}", path.display());
        let until = Instant::now() + Duration::from_secs(args.seconds);
        let (mut done, mut taken) = (0, 0u64);
        while done < args.cases && Instant::now() < until {
            let seed = args.seed.wrapping_add(done);
            last.rewind()
                .and_then(|()| writeln!(last, "{seed:20}"))
                .unwrap();
            let case = std::panic::catch_unwind(|| common::case(seed, &more));
            let Ok(parsed) = case else {
                eprintln!("fuzz_syntax: failed; again: --seed {seed} --cases 1");
                return ExitCode::FAILURE;
            };
            taken += u64::from(parsed);
            done += 1;
        }
        let _ = std::fs::remove_file(&path);
        println!("fuzz_syntax: {done} texts, {taken} of them statements");
        ExitCode::SUCCESS
    };
    // As much stack as a connection has.
    std::thread::Builder::new()
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap()
}
