//! `narwal binlog`: reading a data folder's log without its server.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command line |
//! | `groups.rs` | groups of events, and what may go wrong with them |
//! | `output.rs` | what all forms of output have in common |
//! | `source.rs` | the log of a folder: damage, following, progress |
//! | `select.rs` | which groups and tables are wanted |
//! | `rows.rs` | table maps and rows of the present statement |
//! | `print.rs`, `json.rs`, `raw.rs`, `flashback.rs` | the forms of output |
//! | `export.rs` | classic binary log files |
//! | `import.rs` | the other way: such files into a new folder |
//! | `values.rs` | column values as text |

mod export;
pub(crate) mod flashback;
pub(crate) mod flat;
mod groups;
#[cfg(test)]
mod hostile;
mod import;
mod json;
pub(crate) mod localtime;
mod output;
pub(crate) mod print;
mod progress;
pub(crate) mod raw;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod source;
pub(crate) mod values;

pub(crate) use groups::{Events, Groups, Trouble, damaged};
pub(crate) use output::Output;

use crate::Failure;
use clap::{Args, Parser, Subcommand, ValueEnum};
use narwal_binlog::DEFAULT_BASE_NAME;
use output::OUT_BUFFER;
use select::{SelectArgs, Selection, Verdict};
use source::{Source, data_dir};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

/// Reads the log of a data folder, whether or not its server runs.
///
/// Without a subcommand: prints the log in the form of mariadb-binlog. The output can be piped into `mariadb`.
#[derive(Debug, Parser)]
#[command(
    name = "narwal binlog",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    max_term_width = 110,
    after_help = EXAMPLES
)]
struct BinlogArgs {
    #[command(subcommand)]
    command: Option<BinlogCommand>,
    #[command(flatten)]
    print: PrintArgs,
}

const EXAMPLES: &str = "\
Examples:
  narwal binlog ./narwal-data -v --base64-output=decode-rows     what happened, to read
  narwal binlog ./narwal-data --json --table=shop.orders         every change of a table
  narwal binlog ./narwal-data --json --stop-never                changes as they happen
  narwal binlog ./narwal-data --start-gtid=0-1-4711 | mariadb -h other
                                                                 what a server at that position lacks
  narwal binlog ./narwal-data --start-datetime='2026-03-01 14:00:00' -v
  narwal binlog ./narwal-data --flashback --start-gtid=0-1-4711 > undo.sql
                                                                 SQL that takes back all that came after
  narwal binlog export --datadir=./narwal-data OUT               files that mariadb-binlog reads

Exit status: 0 done; 1 could not be done; 2 wrong options; 3 done, but the log is damaged: standard error says where,
and which transactions are lost.

docs/reading-the-log.md tells more.";

const EXPORT_EXAMPLES: &str = "\
Every event has the offset that SHOW BINLOG EVENTS tells, every file the size of SHOW BINARY LOGS; the server may run.

  narwal binlog export --datadir=./narwal-data OUT && mariadb-binlog -v OUT/narwal-bin.000001

Exit status 3: the log is damaged; what stands before the damage was exported.";

const IMPORT_EXAMPLES: &str = "\
The files must have been written with binlog_format=ROW. Groups keep their GTIDs, server ids and times. The work is done
in DIR.importing, which gets its name at the very end; what can't be taken over ends the import, with file, position,
GTID and table.

  narwal binlog import --into=/var/lib/narwal /var/lib/mysql/mariadb-bin.index
  narwal binlog import --into=/var/lib/narwal --resume /var/lib/mysql/mariadb-bin.index    after a failure
  narwal binlog import --into=/var/lib/narwal --append /var/lib/mysql/mariadb-bin.index    what came since

docs/migration.md tells more.";

#[derive(Debug, Subcommand)]
enum BinlogCommand {
    /// Writes classic binary log files and their index, as a server with flat files would hold them.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(export::ExportArgs),
    /// Takes classic binary log files of MariaDB or MySQL into a new data folder.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(import::ImportArgs),
}

/// What `--base64-output` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Base64 {
    /// Row changes as BINLOG statements, which a server can run.
    #[value(alias = "AUTO")]
    Auto,
    /// No BINLOG statements; with -v the output is for people.
    #[value(alias = "NEVER")]
    Never,
    /// The same, by the name that mariadb-binlog has for it.
    #[value(alias = "DECODE-ROWS")]
    DecodeRows,
}

#[derive(Debug, Args)]
struct PrintArgs {
    /// Data folder (default ./narwal-data), or its folder `log`
    dir: Option<PathBuf>,
    /// Data folder, as an option
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    datadir: Option<PathBuf>,
    /// Key file of an encrypted data folder
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// Show row changes as commented pseudo SQL; twice: with column types
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    /// How row changes are written
    #[arg(long, value_enum, ignore_case = true, default_value = "auto")]
    base64_output: Base64,
    /// One JSON object a line for every change
    #[arg(long, conflicts_with_all = ["raw", "flashback"])]
    json: bool,
    /// Binary log events, as one classic file
    #[arg(long, conflicts_with = "flashback")]
    raw: bool,
    /// SQL that undoes the selected changes, the last one first
    #[arg(long, conflicts_with = "stop_never")]
    flashback: bool,
    /// With --flashback: leave out statements that can't be undone (DDL) instead of giving up
    #[arg(long, requires = "flashback")]
    skip_ddl: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    result_file: Option<PathBuf>,
    /// Wait for more at the end of the log
    #[arg(long)]
    stop_never: bool,
    /// Name of the binary log's files without number (the server's --log-bin)
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASE_NAME)]
    base_name: String,
    #[command(flatten)]
    select: SelectArgs,
}

pub use import::is_unfinished as is_unfinished_import;
pub use progress::Progress;
pub use source::{data_dir_of, log_dir};

/// Runs `narwal binlog` with the arguments behind that.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<BinlogArgs>("narwal binlog", args)? else {
        return Ok(());
    };
    match args.command {
        Some(BinlogCommand::Export(o)) => export::run(&o),
        Some(BinlogCommand::Import(o)) => import::run(&o),
        None => print_log(args.print),
    }
}

/// `narwal export-binlog`: the name of former versions for `narwal binlog --raw`, and for `narwal binlog export`.
pub fn export_binlog(o: crate::options::Export) -> Result<(), Failure> {
    let mut args = vec!["--raw".to_owned()];
    args.push(format!("--datadir={}", o.datadir.display()));
    if let Some(file) = &o.key_file {
        args.push(format!("--encryption-key-file={}", file.display()));
    }
    if let Some(out) = &o.out {
        args.push(format!("--result-file={}", out.display()));
    }
    if let Some(from) = &o.from {
        args.push(format!("--start-gtid={from}"));
    }
    run(&args)
}

fn print_log(o: PrintArgs) -> Result<(), Failure> {
    let dir = data_dir(o.dir.as_deref().or(o.datadir.as_deref()));
    let mut selection = Selection::new(&o.select, &o.base_name)?;
    let mut source = Source::open(
        &dir,
        o.encryption_key_file.as_deref(),
        &o.base_name,
        &|state| selection.is_behind(state),
    )?
    .following(o.stop_never)
    .with_progress(o.result_file.is_some());
    let write: Box<dyn Write> = match &o.result_file {
        Some(path) => Box::new(File::create(path).map_err(|e| Failure::run(path.display(), e))?),
        None if o.raw && io::stdout().is_terminal() => {
            return Err(Failure::Usage(
                "--raw writes bytes that are not for a terminal; give --result-file=FILE".into(),
            ));
        }
        None => Box::new(io::stdout().lock()),
    };
    let out = BufWriter::with_capacity(OUT_BUFFER, write);
    let base = o.base_name.clone();
    let mut output: Box<dyn Output> = if o.json {
        Box::new(json::Json::new(out, base))
    } else if o.raw {
        Box::new(raw::Raw::new(out))
    } else if o.flashback {
        Box::new(flashback::Flashback::new(out, o.skip_ddl)?)
    } else {
        let base64 = o.base64_output == Base64::Auto;
        Box::new(print::Print::new(out, base, o.verbose, base64)?)
    };
    match pump(&mut source, &mut selection, &mut *output) {
        Ok(()) => source.verdict(),
        // The reader of the output has seen enough.
        Err(Trouble::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(Trouble::Write(e)) => Err(Failure::run("can't write", e)),
        Err(Trouble::Log(e)) => Err(Failure::Run(e.to_string())),
        Err(Trouble::Fail(e)) => Err(e),
    }
}

fn pump(
    source: &mut Source,
    selection: &mut Selection,
    output: &mut dyn Output,
) -> Result<(), Trouble> {
    let mut end = false;
    while let Some(head) = source.next(&mut || output.flush())? {
        match selection.verdict(&head, source.groups())? {
            Verdict::Skip => {}
            Verdict::Stop => {
                end = true;
                break;
            }
            Verdict::Take => match output.group(&head, source.groups(), selection) {
                // What is left of the group can't be read; the next one may be.
                Err(Trouble::Log(e)) => {
                    source.damage(e)?;
                    output.abandon(&head)?;
                }
                other => other?,
            },
        }
        if selection.is_done(&head) {
            end = true;
            break;
        }
    }
    source.clear_progress();
    if !end && source.spots() == 0 {
        selection.at_end(source.groups().files())?;
    }
    output.finish(source.spots() == 0)
}
