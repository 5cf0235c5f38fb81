//! The command line of the fuzzers, and a count of panics.

use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// `--seconds N --seed S --cases N`.
#[derive(Debug, Clone, Copy)]
pub struct Args {
    /// How long to go on.
    pub seconds: u64,
    /// Of the first case; the next has the next.
    pub seed: u64,
    /// How many cases at most.
    pub cases: u64,
}

impl Args {
    /// The arguments of this process, which has this name.
    ///
    /// # Errors
    /// The process's exit code, once the usage is printed.
    pub fn read(name: &str) -> Result<Args, ExitCode> {
        let mut read = Args {
            seconds: 10,
            seed: 1,
            cases: u64::MAX,
        };
        let mut args = std::env::args().skip(1);
        while let Some(a) = args.next() {
            let value = args.next().and_then(|v| v.parse().ok());
            match (a.as_str(), value) {
                ("--seconds", Some(v)) => read.seconds = v,
                ("--seed", Some(v)) => read.seed = v,
                ("--cases", Some(v)) => read.cases = v,
                _ => {
                    eprintln!("usage: {name} [--seconds N] [--seed S] [--cases N]");
                    return Err(2.into());
                }
            }
        }
        Ok(read)
    }
}

/// Counts the panics of all threads from now on, and reports them as before; but for those that are `expected`.
pub fn count_panics(expected: fn(&PanicHookInfo<'_>) -> bool) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !expected(info) {
            PANICS.fetch_add(1, Ordering::Relaxed);
            report(info);
        }
    }));
}

/// How many there were.
pub fn panics() -> usize {
    PANICS.load(Ordering::Relaxed)
}
