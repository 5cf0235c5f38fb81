//! Hostile statements, some thousands of them: no panic, no hang, no stack that is too small.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

#[test]
fn hostile_statements_are_parsed_or_refused() {
    let count = std::env::var("NARWAL_SEEDS").map_or(4_000, |n| n.parse().unwrap());
    // As much as a connection has.
    let run = move || (0..count).filter(|seed| common::case(*seed, &[])).count();
    let taken = std::thread::Builder::new()
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
    // Damage that makes everything a syntax error would find nothing.
    assert!(taken > 50, "only {taken} were statements");
}
