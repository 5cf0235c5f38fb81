//! What `narwal rejoin` is told, on the command line and by the person at the terminal.

use crate::diverge::OutputArgs;
use crate::diverge::args::{LocalArgs, OtherArgs};
use crate::failure::Failure;
use clap::Parser;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

pub(super) const NAME: &str = "narwal rejoin";

pub(super) const HEADING: &str = "What is done";

pub(super) const EXAMPLES: &str = "\
What it does, step by step:

  1. STOP ALL SLAVES here; those that ran start again in the end
  2. compares the two histories and saves what only this server has, as narwal diverge does
  3. asks (not with --yes)
  4. takes these transactions back: FLASHBACK BINARY LOGS GTIDS '...'. All of them or none, in one transaction; each row
     must still be as they left it. Then a new binary log begins without them, and gtid_slave_pos is what is left
  5. CHANGE MASTER TO the other server, MASTER_USE_GTID=slave_pos; START SLAVE
  6. waits until this server has everything that the other one has

Nothing of the other server's is changed. What was taken back is in the files: rogue.sql does it once more, where it is
wanted. If rejoin is interrupted, run it again: it goes on where it was.

What can't be undone from the log (DDL, row images that are not complete, rows that were changed by others since) ends it
before anything is changed. Then: undo it by hand, or stop the server and let --refetch copy all data anew. That is how
narwal replica --from does it; the account needs RELOAD, too. The old folder stays, as DIR.before-rejoin.

With --datadir of a server that does not run, rejoin starts one there that nobody else can connect to, and stops it again.

Examples:
  narwal rejoin --from=db1 --user=repl --password-file=pw --socket=/run/narwal.sock --local-user=root
  narwal rejoin --from=db1:3307 --datadir=/var/lib/narwal --yes       its socket is /var/lib/narwal/narwal.sock
  narwal rejoin --from=db1 --datadir=/var/lib/narwal -- --server-id=2 it does not run; with this option it does
  narwal rejoin --from=db2 --datadir=/var/lib/narwal --fence --yes    a former primary, behind narwal promote
  narwal rejoin --from=db1 --datadir=/var/lib/narwal --refetch        it does not run; if there is DDL to be undone

Exit status: 0 it follows; 1 could not be done, nothing is lost; 2 wrong options; 4 the logs do not go back far enough.

docs/divergence.md tells more.";

/// Takes back what only this server has, and makes it a replica of the other one.
#[derive(Debug, Parser)]
#[command(name = "narwal rejoin", max_term_width = 110, after_help = EXAMPLES)]
pub(super) struct RejoinArgs {
    #[command(flatten)]
    pub(super) other: OtherArgs,
    #[command(flatten)]
    pub(super) local: LocalArgs,
    /// Its data folder: for the socket in it, or if it does not run
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "This server, over a connection"
    )]
    pub(super) datadir: Option<PathBuf>,
    /// Key file of an encrypted data folder whose server does not run
    #[arg(long, value_name = "FILE", requires = "datadir")]
    pub(super) encryption_key_file: Option<PathBuf>,
    /// If something can't be undone: copy all data anew from the other server, which replaces the folder of a server that does
    /// not run
    #[arg(long, requires = "datadir", conflicts_with_all = ["connection", "replication_user"], help_heading = HEADING)]
    pub(super) refetch: bool,
    /// Account that this server follows the other one with (default: --user)
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(super) replication_user: Option<String>,
    /// File with its password (default: --password-file)
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(super) replication_password_file: Option<PathBuf>,
    /// Name of the connection (CHANGE MASTER 'NAME' TO)
    #[arg(long, value_name = "NAME", default_value = "", help_heading = HEADING)]
    pub(super) connection: String,
    /// It was a primary, and may think that it is one: first make it read-only, end its clients' connections, and switch
    /// rpl_semi_sync_master_enabled off
    #[arg(long, help_heading = HEADING)]
    pub(super) fence: bool,
    /// Do not ask
    #[arg(short, long, help_heading = HEADING)]
    pub(super) yes: bool,
    /// Wait so many seconds at most until it has caught up; 0: not at all
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, help_heading = HEADING)]
    pub(super) wait: u64,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    /// Options of `narwal serve` for the folder of a server that does not run; --server-id is needed if it has one
    #[arg(last = true, value_name = "OPTIONS", requires = "datadir")]
    pub(super) server: Vec<String>,
}

/// Asks the person at the terminal.
pub(super) fn agreed(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(
            "nobody is there to be asked (standard input is no terminal): --yes says yes".into(),
        ));
    }
    eprint!("{question} [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .map_err(|e| Failure::run("standard input", e))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
