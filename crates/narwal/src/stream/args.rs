//! The options of `narwal stream`.

use crate::Failure;
use clap::{Args, Parser, ValueEnum};
use narwal_binlog::DEFAULT_BASE_NAME;
use narwal_client::TlsMode;
use narwal_stream::{Binary, DecimalForm, Filter, Format, NetworkOptions, Place, Start, Temporal};
use std::path::{Path, PathBuf};
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  narwal stream --host=db1 --user=cdc --snapshot=initial -o changes.jsonl
                                                               rows that are there, then changes, each line once
  narwal stream --socket=./narwal-data/narwal.sock --from=now  from a server on this machine
  narwal stream ./narwal-data                                  all changes in the log, then those to come
  narwal stream ./narwal-data --from=now -t shop.orders        changes of a table from now on
  narwal stream ./narwal-data --until=end | gzip > all.gz      what there is, and no more
  narwal stream ./narwal-data --from=0-1-4711                  what somebody at this GTID position lacks
  narwal stream ./narwal-data -o changes.jsonl                 run it again after whatever: it goes on behind the last line
  narwal stream ./narwal-data --state=place | consumer         the same for a pipe: the consumer may see some lines twice

Every line has `resume`: --from=VALUE goes on with the change behind that line. A pattern is a name, a name with * and ?,
or a regular expression in slashes: -t 'shop.order*', -t '/shop_[0-9]+[.](orders|items)/'.

Exit status: 0 ended as asked (--until, a signal, nobody reads); 1 could not be done; 2 wrong options; 3 the log is damaged;
4 the log does not have what follows the place any more: take a new snapshot.

docs/change-stream.md tells more: the lines, types, places, and what is delivered exactly once.";

/// Streams changes of rows as JSON lines, in the envelope that Debezium has for MariaDB.
#[derive(Debug, Parser)]
#[command(name = "narwal stream", max_term_width = 110, after_help = EXAMPLES)]
pub struct StreamArgs {
    #[command(flatten)]
    pub folder: FolderArgs,
    #[command(flatten)]
    pub server: ServerArgs,
    /// Where the first run begins: beginning, now, a GTID position, FILE:OFFSET, or the `resume` of a line
    #[arg(long, value_name = "WHERE", default_value = "beginning")]
    pub from: From,
    /// Where to end: end (of what is there), or a GTID position
    #[arg(long, value_name = "WHERE")]
    pub until: Option<Until>,
    /// Rows that are there at the start, before the changes: never, initial (only in the first run), only (no changes)
    #[arg(long, value_enum, default_value = "never")]
    pub snapshot: SnapshotMode,
    /// Write to this file; a run goes on behind the lines that it has
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep the place in this file
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Seconds for which a lost connection is tried again; 0: not at all
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub retry: u64,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    form: FormArgs,
    /// Give the text of the statement with each row, if the log has it
    #[arg(long)]
    pub with_query: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "From a data folder")]
pub struct FolderArgs {
    /// Data folder (default ./narwal-data), or its folder `log`; its server may run
    dir: Option<PathBuf>,
    /// Data folder, as an option
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    datadir: Option<PathBuf>,
    /// Key file of an encrypted data folder
    #[arg(long, value_name = "FILE")]
    pub encryption_key_file: Option<PathBuf>,
    /// Name of the binary log's files without number (the server's --log-bin)
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASE_NAME)]
    pub base_name: String,
}

#[derive(Debug, Args)]
#[command(
    next_help_heading = "From a server, if one of --host, --port, --socket and --user is given"
)]
pub struct ServerArgs {
    /// Host (default 127.0.0.1)
    #[arg(long, value_name = "HOST", conflicts_with_all = ["dir", "datadir"])]
    host: Option<String>,
    /// Port (default 3306)
    #[arg(short = 'P', long, value_name = "N", conflicts_with_all = ["dir", "datadir"])]
    port: Option<u16>,
    /// Unix socket
    #[arg(short = 'S', long, value_name = "PATH", conflicts_with_all = ["host", "port", "dir", "datadir"])]
    socket: Option<PathBuf>,
    /// Account (default root); it needs REPLICATION SLAVE, and SELECT and BINLOG MONITOR for --snapshot
    #[arg(short, long, value_name = "NAME", conflicts_with_all = ["dir", "datadir"])]
    user: Option<String>,
    /// File with the password in its first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// TLS: disabled, preferred, required (any certificate), verify-ca, verify-identity
    #[arg(long, value_enum, default_value = "preferred")]
    ssl_mode: SslMode,
    /// Certificates of the authorities that --ssl-mode=verify-... trusts, PEM
    #[arg(long, value_name = "FILE", required_if_eq_any = [("ssl_mode", "verify-ca"), ("ssl_mode", "verify-identity")])]
    ssl_ca: Option<PathBuf>,
    /// Server id of this reader, which no replica and no other reader may have (default: by chance)
    #[arg(long, value_name = "N")]
    server_id: Option<u32>,
}

/// What `--ssl-mode` may be.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SslMode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

impl SslMode {
    /// With the certificates of these authorities.
    pub fn with_ca(self, ca: Option<&Path>) -> TlsMode {
        let ca = ca.unwrap_or(Path::new("")).to_path_buf();
        match self {
            SslMode::Disabled => TlsMode::Disabled,
            SslMode::Preferred => TlsMode::Preferred,
            SslMode::Required => TlsMode::Required,
            SslMode::VerifyCa => TlsMode::VerifyCa(ca),
            SslMode::VerifyIdentity => TlsMode::VerifyIdentity(ca),
        }
    }
}

/// The password in the file's first line; without a file, that of the environment.
pub fn password(file: Option<&Path>) -> Result<String, Failure> {
    match file {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).map_err(|e| Failure::run(path.display(), e))?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        }
        None => Ok(std::env::var("MYSQL_PWD").unwrap_or_default()),
    }
}

impl ServerArgs {
    /// How to connect; `None` if a data folder is to be read.
    pub fn options(&self) -> Result<Option<NetworkOptions>, Failure> {
        let given = self.host.is_some()
            || self.port.is_some()
            || self.socket.is_some()
            || self.user.is_some();
        if !given {
            return Ok(None);
        }
        let mut connect = match &self.socket {
            Some(path) => narwal_client::Options::unix(path),
            None => {
                let host = self.host.as_deref().unwrap_or("127.0.0.1");
                narwal_client::Options::tcp(host, self.port.unwrap_or(3306))
            }
        };
        connect.user = self.user.clone().unwrap_or_else(|| "root".to_owned());
        connect.password = password(self.password_file.as_deref())?;
        connect.program = "narwal stream".to_owned();
        connect.tls = self.ssl_mode.with_ca(self.ssl_ca.as_deref());
        let mut options = NetworkOptions::new(connect);
        if let Some(id) = self.server_id {
            options.server_id = id;
        }
        Ok(Some(options))
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Selection (may be given several times)")]
struct SelectArgs {
    /// Only these databases
    #[arg(short, long, value_name = "PATTERN")]
    database: Vec<String>,
    /// Only these tables: TABLE or DATABASE.TABLE
    #[arg(short, long, value_name = "PATTERN")]
    table: Vec<String>,
    /// Not these databases
    #[arg(long, value_name = "PATTERN")]
    exclude_database: Vec<String>,
    /// Not these tables
    #[arg(long, value_name = "PATTERN")]
    exclude_table: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Form of the lines")]
struct FormArgs {
    /// Name of the source in every line
    #[arg(long, value_name = "NAME", default_value = "narwal")]
    name: String,
    /// Dates and times: ISO 8601, as SQL has them, or Debezium's numbers
    #[arg(long, value_enum, default_value = "iso")]
    time: TimeArg,
    /// DECIMAL as text or as a number
    #[arg(long, value_enum, default_value = "text")]
    decimal: NumberArg,
    /// BIGINT as text or as a number
    #[arg(long, value_enum, default_value = "number")]
    bigint: NumberArg,
    /// BINARY, VARBINARY and BLOB
    #[arg(long, value_enum, default_value = "base64")]
    binary: BinaryArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TimeArg {
    Iso,
    Sql,
    Debezium,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NumberArg {
    Text,
    Number,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BinaryArg {
    Base64,
    Hex,
}

/// What `--snapshot` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SnapshotMode {
    Never,
    Initial,
    Only,
}

/// What `--from` may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// The oldest transaction there is.
    Beginning,
    /// Behind the newest one.
    Now,
    /// A place.
    Place(Place),
    /// A place in a binary log file.
    File {
        /// Its name.
        name: String,
        /// Bytes.
        offset: u64,
    },
}

impl FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "beginning" => return Ok(From::Beginning),
            "now" => return Ok(From::Now),
            _ => {}
        }
        if let Ok(place) = text.parse() {
            return Ok(From::Place(place));
        }
        let (name, offset) = text.rsplit_once(':').unwrap_or((text, "4"));
        let number = name.rsplit_once('.').map_or("", |n| n.1);
        match offset.parse() {
            Ok(offset) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                Ok(From::File {
                    name: name.to_owned(),
                    offset,
                })
            }
            _ => Err(
                "not beginning, now, a GTID position (0-1-5,1-1-2), FILE:OFFSET or the resume of a line"
                    .into(),
            ),
        }
    }
}

/// What `--until` may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// The end of what is there.
    End,
    /// A GTID position.
    Place(Place),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "end" {
            return Ok(Until::End);
        }
        match text.parse::<Place>() {
            Ok(place) if place.position().next().is_some() => Ok(Until::Place(place)),
            _ => Err("neither end nor a GTID position (0-1-5,1-1-2)".into()),
        }
    }
}

impl StreamArgs {
    /// Options that do not go together.
    pub fn check(&self) -> Result<(), Failure> {
        if self.server.server_id == Some(0) {
            return Err(Failure::Usage("--server-id=0 is no server id".into()));
        }
        if self.snapshot != SnapshotMode::Never && self.from != From::Beginning {
            return Err(Failure::Usage(
                "--snapshot and --from: a stream with a snapshot begins where that was taken"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Where the first run begins.
    pub fn start(&self) -> Start {
        match &self.from {
            From::Beginning => Start::Beginning,
            From::Now => Start::Now,
            From::Place(place) => Start::Place(place.clone()),
            From::File { name, offset } => Start::File {
                name: name.clone(),
                offset: *offset,
            },
        }
    }

    /// The data folder.
    pub fn dir(&self) -> PathBuf {
        let given = self.folder.dir.as_ref().or(self.folder.datadir.as_ref());
        given.cloned().unwrap_or_else(|| "./narwal-data".into())
    }

    /// What is wanted.
    pub fn filter(&self) -> Result<Filter, Failure> {
        let mut filter = Filter::all();
        for pattern in &self.select.database {
            filter = filter.database(pattern)?;
        }
        for pattern in &self.select.exclude_database {
            filter = filter.exclude_database(pattern)?;
        }
        for pattern in &self.select.table {
            filter = filter.table(pattern)?;
        }
        for pattern in &self.select.exclude_table {
            filter = filter.exclude_table(pattern)?;
        }
        Ok(filter)
    }

    /// How lines look.
    pub fn format(&self) -> Format {
        Format {
            name: self.form.name.clone(),
            temporal: match self.form.time {
                TimeArg::Iso => Temporal::Iso,
                TimeArg::Sql => Temporal::Sql,
                TimeArg::Debezium => Temporal::Debezium,
            },
            decimal: match self.form.decimal {
                NumberArg::Text => DecimalForm::Text,
                NumberArg::Number => DecimalForm::Number,
            },
            binary: match self.form.binary {
                BinaryArg::Base64 => Binary::Base64,
                BinaryArg::Hex => Binary::Hex,
            },
            bigint_text: self.form.bigint == NumberArg::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_to_begin_and_to_end() {
        let from = |t: &str| t.parse::<From>();
        assert_eq!(from("now"), Ok(From::Now));
        assert!(matches!(from("0-1-5,1-1-2"), Ok(From::Place(_))));
        assert!(matches!(from("0-1-5+0-1-6:3"), Ok(From::Place(_))));
        let file = |name: &str, offset| {
            Ok(From::File {
                name: name.into(),
                offset,
            })
        };
        assert_eq!(
            from("narwal-bin.000002:400"),
            file("narwal-bin.000002", 400)
        );
        assert_eq!(from("a.b.000002"), file("a.b.000002", 4));
        for bad in ["yesterday", "narwal-bin:4", "b.000001:x", "0-1"] {
            assert!(from(bad).is_err(), "{bad}");
        }
        assert_eq!("end".parse(), Ok(Until::End));
        assert!("0-1-1".parse::<Until>().is_ok() && "".parse::<Until>().is_err());
    }
}
