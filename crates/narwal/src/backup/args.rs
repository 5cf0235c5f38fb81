//! The options of `narwal backup` and `narwal restore`.

use crate::Failure;
use clap::{Args, Parser, Subcommand, ValueEnum};
use narwal_client::{Options, TlsMode};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  narwal backup --to=/backups/monday --socket=./narwal-data/narwal.sock     of a server on this machine
  narwal backup --to=/backups/tuesday --incremental-from=/backups/monday --socket=./narwal-data/narwal.sock
                                                                           only what has changed since
  narwal backup --to=./copy --host=db1 --user=backup --max-rate=50          of another machine's, at most 50 MiB/s
  narwal backup --stream --compress=zstd --host=db1 | ssh store 'cat > db1.tar.zst'
  narwal backup --stream --encrypt-key-file=keys --host=db1 > db1.sealed    nobody reads it without the key
  narwal backup verify /backups/tuesday                                     reads and checks every byte, and the parents'

Writers and readers go on meanwhile, and so do checkpoints. The account needs RELOAD and REPLICATION SLAVE, or SUPER.
narwal restore makes a data folder of a backup. docs/backup.md tells more.

Exit status: 0 done; 1 could not be done; 2 wrong options; 3 a backup is damaged.";

/// Copies a running server's data, consistent as of one transaction.
#[derive(Debug, Parser)]
#[command(
    name = "narwal backup",
    max_term_width = 110,
    after_help = EXAMPLES,
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true
)]
pub struct BackupArgs {
    #[command(subcommand)]
    pub command: Option<BackupCommand>,
    /// Folder for the backup; made, or empty
    #[arg(long, value_name = "DIR", required_unless_present = "stream")]
    pub to: Option<PathBuf>,
    /// Write the backup to standard output, as a tar
    #[arg(long, conflicts_with_all = ["to", "incremental_from", "on_server"])]
    pub stream: bool,
    /// Only what has changed since the backup in this folder, which is needed for a restore
    #[arg(long, value_name = "DIR")]
    pub incremental_from: Option<PathBuf>,
    /// Leave the binary log out: the backup has what recovery needs of it, and no more
    #[arg(long)]
    pub no_log: bool,
    /// MiB per second at most; 0: no limit. Not given: 40 for each of the server's processors, while it has commits to do
    #[arg(long, value_name = "MIB")]
    pub max_rate: Option<u64>,
    /// Compress the stream
    #[arg(long, value_enum, requires = "stream")]
    pub compress: Option<Compress>,
    /// Encrypt the stream with the newest key of this file (form: docs/encryption.md)
    #[arg(long, value_name = "FILE", requires = "stream")]
    pub encrypt_key_file: Option<PathBuf>,
    /// Have the server write the folder, on its machine (as it does if --socket is given)
    #[arg(long, conflicts_with = "over_connection")]
    pub on_server: bool,
    /// Have the data come through the connection, also with --socket
    #[arg(long)]
    pub over_connection: bool,
    /// Seconds for which a lost connection is tried again; the backup then goes on where it was
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub retry: u64,
    #[command(flatten)]
    pub server: ServerArgs,
}

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Reads a backup and those that it is incremental to, and checks every byte
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Folder of the backup
    pub dir: PathBuf,
    /// Where a parent of an incremental backup is now, if it was moved (may be given several times)
    #[arg(long, value_name = "DIR")]
    pub parent: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    Zstd,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The server")]
pub struct ServerArgs {
    /// Host (default 127.0.0.1)
    #[arg(long, value_name = "HOST", conflicts_with = "socket")]
    host: Option<String>,
    /// Port (default 3306)
    #[arg(short = 'P', long, value_name = "N", conflicts_with = "socket")]
    port: Option<u16>,
    /// Unix socket
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Account
    #[arg(short, long, value_name = "NAME", default_value = "root")]
    user: String,
    /// Its password; others on this machine may see it: rather use --password-file, or the environment variable MYSQL_PWD
    #[arg(long, value_name = "PASSWORD", conflicts_with = "password_file")]
    password: Option<String>,
    /// File with the password in its first line
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// TLS: disabled, preferred, required (any certificate), verify-ca, verify-identity
    #[arg(long, value_enum, default_value = "preferred")]
    ssl_mode: SslMode,
    /// Certificates of the authorities that --ssl-mode=verify-... trusts, PEM
    #[arg(long, value_name = "FILE", required_if_eq_any = [("ssl_mode", "verify-ca"), ("ssl_mode", "verify-identity")])]
    ssl_ca: Option<PathBuf>,
}

/// What `--ssl-mode` may be.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SslMode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl ServerArgs {
    /// How to connect.
    pub fn options(&self) -> Result<Options, Failure> {
        let mut connect = match &self.socket {
            Some(path) => Options::unix(path),
            None => Options::tcp(
                self.host.as_deref().unwrap_or("127.0.0.1"),
                self.port.unwrap_or(3306),
            ),
        };
        connect.user.clone_from(&self.user);
        connect.password = match (&self.password, &self.password_file) {
            (Some(p), _) => p.clone(),
            (None, Some(path)) => {
                let text =
                    std::fs::read_to_string(path).map_err(|e| Failure::run(path.display(), e))?;
                text.lines().next().unwrap_or_default().to_owned()
            }
            (None, None) => std::env::var("MYSQL_PWD").unwrap_or_default(),
        };
        let ca = self.ssl_ca.clone().unwrap_or_default();
        connect.tls = match self.ssl_mode {
            SslMode::Disabled => TlsMode::Disabled,
            SslMode::Preferred => TlsMode::Preferred,
            SslMode::Required => TlsMode::Required,
            SslMode::VerifyCa => TlsMode::VerifyCa(ca),
            SslMode::VerifyIdentity => TlsMode::VerifyIdentity(ca),
        };
        connect.program = "narwal backup".to_owned();
        Ok(connect)
    }
}
