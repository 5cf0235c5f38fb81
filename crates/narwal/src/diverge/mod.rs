//! `narwal diverge`: where this server's history and another's part, and what only this one has.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command |
//! | `args.rs` | options that name the two servers |
//! | `side.rs` | the two logs: of a folder, of a server |
//! | `compare.rs` | the comparison itself, domain by domain |
//! | `find.rs` | where to begin reading |
//! | `show.rs`, `report.rs` | what was found, as text and as JSON |
//! | `save.rs` | what only this side has, in files |

pub mod args;
mod compare;
pub mod find;
pub mod report;
pub mod save;
pub mod show;
pub mod side;

use crate::Failure;
use args::{FolderArgs, LocalArgs, OtherArgs, this_side};
use clap::Parser;
use find::{Found, find};
use narwal_binlog::Gtid;
use narwal_stream::Start;
use report::Report;
use save::{Saved, new_folder, save, save_report};
use show::Show;
use side::{Side, put};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Two histories are compared domain by domain, by GTID and by what each transaction does. Nothing is changed. What only this
server has is printed, and saved in files in a new folder:

  rogue.sql        plain SQL that does these changes once more, to be looked through and run where they are wanted
  rogue-undo.sql   plain SQL that undoes them, the last one first; not written if they can't be undone (DDL)
  rogue.bin        their events: mariadb-binlog -v rogue.bin
  report.json      what --json prints

Examples:
  narwal diverge --from=db1 --user=repl --datadir=/var/lib/narwal      this server's folder; the server may run or not
  narwal diverge --from=db1:3307 --user=repl --socket=/run/narwal.sock this server, running
  narwal diverge --from=db1 --user=repl --datadir=. --json --save=none nothing but the report

Then: narwal rejoin, which undoes them and makes this server a replica of the other one; or by hand, as
docs/divergence.md tells.

Exit status: 0 nothing is only here (the other server may have more); 5 something is; 1 could not be done; 2 wrong
options; 3 a log is damaged; 4 the logs do not go back far enough to tell.";

/// Finds where this server's history and another server's part, and shows and saves what only this one has.
#[derive(Debug, Parser)]
#[command(name = "narwal diverge", max_term_width = 110, after_help = EXAMPLES)]
struct DivergeArgs {
    #[command(flatten)]
    other: OtherArgs,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    local: LocalArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Print JSON
    #[arg(long, help_heading = "What is shown and saved")]
    json: bool,
}

/// What is shown, and where it is saved.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is shown and saved")]
pub struct OutputArgs {
    /// New or empty folder for the files (default ./rogue-GTID); none: write no files
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Print so many changes at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    changes: u64,
}

/// Both sides, what was found, what was saved.
pub struct Outcome {
    pub found: Found,
    pub show: Show,
    pub saved: Option<Saved>,
    /// What only this side has.
    pub only_here: BTreeSet<Gtid>,
}

impl OutputArgs {
    /// What only this server has is saved.
    pub fn saves(&self) -> bool {
        self.save.as_deref() != Some(Path::new("none"))
    }

    /// Compares the two, and saves what only this side has.
    pub fn examine(&self, here: &Side, there: &Side) -> Result<Outcome, Failure> {
        self.look(here, there, self.saves())
    }

    /// Compares the two.
    pub fn look(&self, here: &Side, there: &Side, saves: bool) -> Result<Outcome, Failure> {
        let found = find(here, there)?;
        let only_here = found.only_here();
        let mut show = Show::new(self.changes);
        let mut saved = None;
        if let Some(first) = only_here.first() {
            put(
                here,
                &Start::Place(found.start.clone()),
                &only_here,
                &mut show,
            )?;
            if saves {
                let dir = new_folder(self.save.as_deref(), *first)?;
                saved = Some(save(here, &found, &only_here, dir)?);
            }
        }
        let mut outcome = Outcome {
            found,
            show,
            saved,
            only_here,
        };
        if let Some(mut files) = outcome.saved.take() {
            save_report(&mut files, &outcome.report(here, there).json())?;
            outcome.saved = Some(files);
        }
        Ok(outcome)
    }
}

impl Outcome {
    /// As a report.
    pub fn report<'a>(&'a self, here: &'a Side, there: &'a Side) -> Report<'a> {
        Report {
            here,
            there,
            found: &self.found,
            show: &self.show,
            saved: self.saved.as_ref(),
        }
    }
}

/// Runs the command with the arguments behind `diverge`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    const NAME: &str = "narwal diverge";
    let Some(args) = crate::cli::parse::<DivergeArgs>(NAME, args)? else {
        return Ok(());
    };
    let here = this_side(&args.folder, &args.local, &args.other, NAME)?;
    let there = Side::server(args.other.options(NAME)?);
    let outcome = args.output.examine(&here, &there)?;
    let report = outcome.report(&here, &there);
    if args.json {
        println!("{:#}", report.json());
    } else {
        print!("{}", report.text());
    }
    if outcome.only_here.is_empty() {
        return Ok(());
    }
    Err(Failure::Parted(match outcome.found.only_there() {
        0 => "this server has transactions that the other one lacks".to_owned(),
        _ => "the histories of the two servers part".to_owned(),
    }))
}
