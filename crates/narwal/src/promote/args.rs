//! What `narwal promote` is told.

use crate::Failure;
use crate::diverge::args::address;
use crate::stream::args::{SslMode, password};
use clap::Parser;
use narwal_client::Options;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) const NAME: &str = "narwal promote";

pub(super) const EXAMPLES: &str = "\
What it does, step by step:

  1. fences every server that answers: read_only=ON; connections of clients to a former primary are killed, so that nothing
     that waits for a replica is ever answered; its replicas get a moment to catch up; replication connections are forgotten
     (RESET SLAVE ALL), so that a former primary that does not answer gets no acknowledgement any more
  2. ends here, with exit status 1, if fewer than all but --acks servers answer: the others may have what these lack
  3. chooses the one with the newest term, then with the most transactions, and not the former primary if enough others are
     there; of equal ones --prefer, then the first named
  4. makes the others its replicas
  5. on the chosen one: semi-synchronous replication AFTER_SYNC without a time limit, --acks acknowledgements; then a row with
     a new term in narwal_ha.primaries, which a replica has to acknowledge. When too few of them can follow, that is told at
     once: one whose history has parted comes back by narwal rejoin, then run this again
  6. read_only=OFF on the chosen one

It decides how, not when: whoever runs it (a person, a cluster manager, a script under a lock) has found that the primary is
gone, or wants another one. Running it twice, or two at once, does no harm. A server that did not answer joins later by
narwal rejoin --fence.

Examples:
  narwal promote --servers=db1,db2,db3 --user=ha --password-file=pw
  narwal promote --servers=db1,db2,db3 --user=ha --password-file=pw --prefer=db2       a planned switch

Exit status: 0 there is a primary; 1 none was made, writes wait; 2 wrong options.

docs/high-availability.md tells more.";

/// Makes one of several servers the primary, the others its replicas.
#[derive(Debug, Parser)]
#[command(name = "narwal promote", max_term_width = 110, after_help = EXAMPLES)]
pub(super) struct PromoteArgs {
    /// All servers, with commas between, also those that are down; by names under which they find each other
    #[arg(
        long,
        value_name = "HOST[:PORT],...",
        value_delimiter = ',',
        required = true
    )]
    pub(super) servers: Vec<String>,
    /// So many replicas acknowledge each commit; the same number in every run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) acks: u32,
    /// Which of those that have everything
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(super) prefer: Option<String>,
    /// Account on all servers, with all privileges (default root)
    #[arg(short, long, value_name = "NAME", default_value = "root")]
    pub(super) user: String,
    /// File with the password in its first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
    /// Account that replicas follow the primary with (default: --user)
    #[arg(long, value_name = "NAME")]
    pub(super) replication_user: Option<String>,
    /// File with its password (default: --password-file)
    #[arg(long, value_name = "FILE")]
    pub(super) replication_password_file: Option<PathBuf>,
    /// TLS: disabled, preferred, required (any certificate), verify-ca, verify-identity
    #[arg(long, value_enum, default_value = "preferred")]
    pub(super) ssl_mode: SslMode,
    /// Certificates of the authorities that --ssl-mode=verify-... trusts, PEM
    #[arg(long, value_name = "FILE", required_if_eq_any = [("ssl_mode", "verify-ca"), ("ssl_mode", "verify-identity")])]
    pub(super) ssl_ca: Option<PathBuf>,
    /// A server that takes longer than so many seconds for a step does not answer
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub(super) timeout: f64,
    /// How many seconds replicas have at most to get what a former primary that answers has written at last
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(super) catch_up: f64,
    /// How many seconds replicas have to acknowledge the new term
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub(super) wait: f64,
}

/// A number of seconds, within what a clock can count.
fn seconds(of: f64) -> Duration {
    Duration::from_secs_f64(if of.is_finite() {
        of.clamp(0.05, 86_400.0)
    } else {
        86_400.0
    })
}

impl PromoteArgs {
    /// How long a server may take.
    pub(super) fn timeout(&self) -> Duration {
        seconds(self.timeout)
    }

    /// How long replicas may go on following a former primary.
    pub(super) fn catch_up(&self) -> Duration {
        seconds(self.catch_up).min(self.timeout())
    }

    /// How long replicas may take.
    pub(super) fn wait(&self) -> Duration {
        seconds(self.wait)
    }

    /// How to connect to each server, in the order in which they were named.
    pub(super) fn options(&self) -> Result<Vec<Options>, Failure> {
        let password = password(self.password_file.as_deref())?;
        let one = |name: &String| {
            let mut connect = address("--servers", name)?;
            connect.user.clone_from(&self.user);
            connect.password.clone_from(&password);
            connect.program = NAME.to_owned();
            connect.tls = self.ssl_mode.with_ca(self.ssl_ca.as_deref());
            connect.connect_timeout = self.timeout();
            connect.read_timeout = self.timeout();
            connect.write_timeout = self.timeout();
            Ok(connect)
        };
        let all = self
            .servers
            .iter()
            .map(one)
            .collect::<Result<Vec<_>, Failure>>()?;
        let twice = (1..all.len()).find(|&n| all[..n].iter().any(|o| o.address == all[n].address));
        if let Some(n) = twice {
            return Err(Failure::Usage(format!(
                "--servers: {} stands there twice",
                all[n].address
            )));
        }
        // With the primary they have to be a majority: any two of them have a server in common.
        let acks = self.acks as usize;
        let least = all.len() / 2;
        if acks < least.max(1) || acks >= all.len() {
            return Err(Failure::Usage(format!(
                "--acks={acks}: of {} servers at least {} and at most {}",
                all.len(),
                least.max(1),
                all.len().saturating_sub(1)
            )));
        }
        Ok(all)
    }

    /// Account and password of the replicas' connections.
    pub(super) fn replication(&self) -> Result<(String, String), Failure> {
        let user = self.replication_user.as_ref().unwrap_or(&self.user);
        let file = self
            .replication_password_file
            .as_ref()
            .or(self.password_file.as_ref());
        Ok((
            user.clone(),
            password(file.map(PathBuf::as_path).map(Path::new))?,
        ))
    }

    /// The server to prefer.
    pub(super) fn preferred(&self) -> Result<Option<Options>, Failure> {
        let name = self.prefer.as_ref();
        name.map(|name| address("--prefer", name)).transpose()
    }
}
