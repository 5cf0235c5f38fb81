//! Damaged and spliced statements through whole sessions: parser, planner, execution, result.
//!
//! `cargo run --release -p narwal-session --example fuzz_sql -- --seconds 30 --seed 1`
//!
//! A case is a walk through a file of `tests/corner` in a new database, with some statements mutated: parts cut out,
//! doubled, nested or exchanged for parts of other statements. It fails when a statement panics, when one lasts much longer
//! than `max_statement_time`, and when a statement takes, or the cases leave behind, more memory than they may. The seed of
//! a failing case is printed; `--seed S --cases 1` repeats it. A crash of the process leaves its statement in the file
//! that is named at the start.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::Server;
use narwal_testkit::allocation::{Watch, Watched};
use narwal_testkit::fuzz;
use narwal_testkit::sql::BITS;
use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, ValueRef};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes in use, and their highest count since it was last set.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what is in use.
struct InUse;

impl Watch for InUse {
    fn took(bytes: usize) {
        let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
    fn gave(bytes: usize) {
        LIVE.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Watched<InUse> = Watched::new();

/// Seconds that a statement may take, by `max_statement_time`.
const STATEMENT_TIME: f64 = 0.5;
/// How long it may really take: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);
/// What one statement may take beside what is in use already.
const STATEMENT_MEMORY: usize = 256 << 20;
/// And for each byte of its text: a byte can be a token, tokens take 88 bytes, and their list grows by doubling.
const MEMORY_OF_A_BYTE: usize = 88 * 3;
/// What a database of many cases may leave behind in caches and logs.
const LEFT_BEHIND: usize = 64 << 20;
/// Rows of a result, then the client is gone.
const ROWS: usize = 20_000;
/// Statements of a case.
const STATEMENTS: usize = 80;

/// Statements that reach beyond their session: other files, other connections, the server's own settings.
const OUTSIDE: &[&str] = &[
    "outfile",
    "dumpfile",
    "infile",
    "shutdown",
    "kill",
    "global",
    "change master",
    "slave",
    "replica",
    "reset ",
    "purge",
    "backup",
];

/// Counts rows instead of keeping them.
#[derive(Default)]
struct Counted(usize);

impl ResultSink for Counted {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, _: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0 += 1;
        if self.0 > ROWS {
            return Err(SqlError::new(1158, b"08S01", "enough"));
        }
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

/// The statements of the files, in order, and the words that all of them are made of.
struct Corpus {
    files: Vec<Vec<String>>,
    words: Vec<String>,
}

impl Corpus {
    fn read(folder: &Path) -> std::io::Result<Corpus> {
        let mut paths: Vec<_> = std::fs::read_dir(folder)?
            .filter_map(|e| e.ok().map(|e| e.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "sql"))
            .collect();
        paths.sort();
        let mut files = Vec::new();
        let mut words = BTreeSet::new();
        for p in paths {
            let text = std::fs::read_to_string(p)?;
            let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with("--")).collect();
            let statements: Vec<String> = lines
                .join("\n")
                .split(";\n")
                .map(|s| s.trim().trim_end_matches(';').to_string())
                .filter(|s| !s.is_empty())
                .collect();
            for s in &statements {
                words.extend(pieces(s).into_iter().map(str::to_string));
            }
            files.push(statements);
        }
        let words = words.into_iter().collect();
        Ok(Corpus { files, words })
    }
}

/// A statement cut into words, strings and signs.
fn pieces(sql: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '@' || c == '$' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut last = None;
    for (i, c) in sql.char_indices() {
        if let Some(q) = quote {
            if c == q {
                quote = None;
                out.push(&sql[start..i + c.len_utf8()]);
                start = i + c.len_utf8();
                last = None;
            }
            continue;
        }
        if last.is_some_and(|l| l != class(c) || l == 2) && start < i {
            out.push(&sql[start..i]);
            start = i;
        }
        last = Some(class(c));
        if matches!(c, '\'' | '"' | '`') {
            quote = Some(c);
        }
    }
    out.push(&sql[start..]);
    out.retain(|p| !p.is_empty());
    out
}

fn pick<'a, T>(rng: &mut StdRng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}

/// The parts between a pair of parentheses, or some pieces in a row.
fn part(rng: &mut StdRng, list: &[String]) -> (usize, usize) {
    if list.is_empty() {
        return (0, 0);
    }
    let from = rng.random_range(0..list.len());
    if let Some(open) = list[..=from].iter().rposition(|p| p == "(")
        && rng.random_bool(0.5)
    {
        let mut depth = 0;
        for (i, p) in list.iter().enumerate().skip(open) {
            depth += i32::from(p == "(") - i32::from(p == ")");
            if depth == 0 {
                return (open, i + 1);
            }
        }
    }
    (from, (from + rng.random_range(1..8)).min(list.len()))
}

fn mutated(rng: &mut StdRng, sql: &str, corpus: &Corpus) -> String {
    let mut list: Vec<String> = pieces(sql).into_iter().map(str::to_string).collect();
    for _ in 0..rng.random_range(1..4) {
        let (from, to) = part(rng, &list);
        match rng.random_range(0..10) {
            0 => drop(list.drain(from..to)),
            1 => {
                let copy = list[from..to].to_vec();
                let at = rng.random_range(0..=list.len());
                list.splice(at..at, copy);
            }
            2 | 3 => {
                let word = pick(rng, &corpus.words).clone();
                list.splice(from..(from + 1).min(to), [word]);
            }
            4 => {
                let bit = pick(rng, BITS).to_string();
                list.splice(from..from, [bit]);
            }
            5 | 6 => {
                let file: &Vec<String> = pick(rng, &corpus.files);
                let source: &String = pick(rng, file);
                let other = pieces(source)
                    .into_iter()
                    .map(str::to_string)
                    .collect::<Vec<_>>();
                let (a, b) = part(rng, &other);
                list.splice(from..to, other[a..b].iter().cloned());
            }
            7 => {
                let deep = if rng.random_ratio(1, 40) { 3000 } else { 5 };
                let n = rng.random_range(1..=deep);
                let open = pick(
                    rng,
                    &["(", "NOT ", "-", "CONCAT(", "(SELECT ", "IF(1,", "- -", "~"],
                );
                let close = if open.contains('(') { ")" } else { "" };
                list.insert(from, open.repeat(n));
                list.insert((to + 1).min(list.len()), close.repeat(n));
            }
            8 => {
                let most = if rng.random_ratio(1, 40) { 2000 } else { 6 };
                let n = rng.random_range(1..most);
                let copy = list[from..to].concat();
                list.insert(to, copy.repeat(n));
            }
            _ => {
                let mut bytes: Vec<char> = list.concat().chars().collect();
                if !bytes.is_empty() {
                    let at = rng.random_range(0..bytes.len());
                    bytes[at] = char::from(rng.random_range(0..128u8));
                }
                list = vec![bytes.into_iter().collect()];
            }
        }
    }
    list.concat()
}

struct Fuzz {
    corpus: Corpus,
    server: Server,
    /// The statement under way.
    last: File,
    statements: u64,
    succeeded: u64,
}

impl Fuzz {
    fn statement(&mut self, conn: &mut common::Conn, sql: &str) -> Result<(), String> {
        let lower = sql.to_ascii_lowercase();
        if OUTSIDE.iter().any(|word| lower.contains(word)) {
            return Ok(());
        }
        let written = self.last.rewind().and_then(|()| {
            self.last.set_len(0)?;
            self.last.write_all(sql.as_bytes())
        });
        written.map_err(|e| e.to_string())?;
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let start = Instant::now();
        let answer = conn.0.query(sql.as_bytes(), &mut Counted::default());
        let took = start.elapsed();
        let memory = PEAK.load(Ordering::Relaxed).saturating_sub(before);
        self.statements += 1;
        self.succeeded += u64::from(answer.is_ok());
        if took > PATIENCE {
            return Err(format!("{took:?} for\n{sql}"));
        }
        if memory > STATEMENT_MEMORY + MEMORY_OF_A_BYTE * sql.len() {
            return Err(format!("{} MiB for\n{sql}", memory >> 20));
        }
        match answer {
            Err(e) if e.code == 0 => Err(format!("an error without a code for\n{sql}")),
            _ => Ok(()),
        }
    }

    fn case(&mut self, seed: u64) -> Result<(), String> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut conn = self.server.root();
        for sql in [
            // An earlier case may have left a table in another database that references one here.
            "SET foreign_key_checks = 0",
            "DROP DATABASE IF EXISTS fuzz",
            "SET foreign_key_checks = 1",
            "CREATE DATABASE fuzz",
            "USE fuzz",
            &format!("SET max_statement_time = {STATEMENT_TIME}, max_recursive_iterations = 1000"),
        ] {
            conn.all(sql).map_err(|e| format!("{sql}: {e}"))?;
        }
        let file = pick(&mut rng, &self.corpus.files).clone();
        let most = rng.random_range(0..=file.len());
        let damage = *pick(&mut rng, &[0.05, 0.3, 0.7]);
        for sql in &file[most.saturating_sub(STATEMENTS)..most] {
            // As bytes: what stands there may be half of a letter.
            let first = sql.as_bytes().get(..6);
            let defines = first.is_some_and(|word| word.eq_ignore_ascii_case(b"create"));
            if !defines && rng.random_bool(damage) {
                let sql = mutated(&mut rng, sql, &self.corpus);
                self.statement(&mut conn, &sql)?;
            } else {
                self.statement(&mut conn, sql)?;
            }
        }
        Ok(())
    }

    /// True if the server still answers.
    fn alive(&self) -> bool {
        self.server.root().one("SELECT 1 + 1") == "2"
    }
}

fn run(args: fuzz::Args) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corner");
    let corpus = Corpus::read(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let name = dir.path().join("statement.sql");
    println!("fuzz_sql: the statement under way is in {}", name.display());
    let mut all = Fuzz {
        corpus,
        server: Server::start(),
        last: File::create(&name).map_err(|e| e.to_string())?,
        statements: 0,
        succeeded: 0,
    };
    let until = Instant::now() + Duration::from_secs(args.seconds);
    let (mut done, mut settled) = (0, None);
    while done < args.cases && (done == 0 || Instant::now() < until) {
        let this = args.seed.wrapping_add(done);
        let again = |why: String| format!("seed {this}: {why}\nagain: --seed {this} --cases 1");
        all.case(this).map_err(again)?;
        if fuzz::panics() > 0 {
            return Err(again("a panic".into()));
        }
        done += 1;
        // Caches have filled after some cases.
        let live = LIVE.load(Ordering::Relaxed);
        let base = *settled.get_or_insert(live);
        if done <= 50 {
            settled = Some(live.max(base));
        } else if live > base + LEFT_BEHIND {
            return Err(again(format!(
                "{} MiB are left behind",
                (live - base) >> 20
            )));
        }
    }
    if !all.alive() {
        return Err("the server answers no more".into());
    }
    Ok(format!(
        "{done} cases from seed {}, {} statements, {} of them without an error: no fault",
        args.seed, all.statements, all.succeeded
    ))
}

fn main() -> std::process::ExitCode {
    let args = match fuzz::Args::read("fuzz_sql") {
        Ok(args) => args,
        Err(code) => return code,
    };
    fuzz::count_panics(|_| false);
    // The stack of a connection's thread, not the main one's.
    let thread = std::thread::Builder::new()
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(move || run(args));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(report))) => {
            println!("fuzz_sql: {report}");
            0.into()
        }
        Ok(Ok(Err(why))) => {
            println!("fuzz_sql: {why}");
            1.into()
        }
        _ => {
            println!("fuzz_sql: the session's thread is gone");
            1.into()
        }
    }
}
