//! Options that name the two servers.

use super::side::Side;
use crate::Failure;
use crate::stream::args::{SslMode, password};
use clap::Args;
use narwal_binlog::DEFAULT_BASE_NAME;
use narwal_client::Options;
use std::path::{Path, PathBuf};

/// The server that is right: the primary.
#[derive(Debug, Args)]
#[command(next_help_heading = "The other server, whose history counts")]
pub struct OtherArgs {
    /// Host, host and port, or Unix socket of the server to compare with
    #[arg(long, value_name = "HOST[:PORT]")]
    pub from: String,
    /// Account there (default root); it needs REPLICATION SLAVE and BINLOG MONITOR
    #[arg(short, long, value_name = "NAME", default_value = "root")]
    pub user: String,
    /// File with the password in its first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// TLS: disabled, preferred, required (any certificate), verify-ca, verify-identity
    #[arg(long, value_enum, default_value = "preferred")]
    pub ssl_mode: SslMode,
    /// Certificates of the authorities that --ssl-mode=verify-... trusts, PEM
    #[arg(long, value_name = "FILE", required_if_eq_any = [("ssl_mode", "verify-ca"), ("ssl_mode", "verify-identity")])]
    pub ssl_ca: Option<PathBuf>,
}

/// `HOST`, `HOST:PORT`, `[V6]:PORT`, or the path of a socket, given by `option`.
pub(crate) fn address(option: &str, text: &str) -> Result<Options, Failure> {
    let bad = || {
        Failure::Usage(format!(
            "{option}={text}: a host, HOST:PORT, or the path of a socket"
        ))
    };
    if text.contains('/') {
        return Ok(Options::unix(text));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or_else(bad)?;
            (host, rest.strip_prefix(':'))
        }
        None => match text.rsplit_once(':') {
            // An address of version 6 without brackets has no port.
            Some((host, port)) if !host.contains(':') => (host, Some(port)),
            _ => (text, None),
        },
    };
    let port = match port {
        Some(port) => port.parse().map_err(|_| bad())?,
        None => 3306,
    };
    if host.is_empty() {
        return Err(bad());
    }
    Ok(Options::tcp(host, port))
}

impl OtherArgs {
    /// How to connect; `program`: as what.
    pub fn options(&self, program: &str) -> Result<Options, Failure> {
        let mut connect = address("--from", &self.from)?;
        connect.user.clone_from(&self.user);
        connect.password = password(self.password_file.as_deref())?;
        connect.program = program.to_owned();
        connect.tls = self.ssl_mode.with_ca(self.ssl_ca.as_deref());
        Ok(connect)
    }
}

/// This server, as a data folder.
#[derive(Debug, Args)]
#[command(next_help_heading = "This server, as a data folder (it may run)")]
pub struct FolderArgs {
    /// Data folder (default ./narwal-data)
    #[arg(long, value_name = "DIR")]
    pub datadir: Option<PathBuf>,
    /// Key file of an encrypted data folder
    #[arg(long, value_name = "FILE")]
    pub encryption_key_file: Option<PathBuf>,
    /// Name of the binary log's files without number (the server's --log-bin)
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASE_NAME)]
    pub base_name: String,
}

/// This server, running.
#[derive(Debug, Args)]
#[command(next_help_heading = "This server, over a connection")]
pub struct LocalArgs {
    /// Host (default 127.0.0.1, if --port is given)
    #[arg(long, value_name = "HOST", conflicts_with = "socket")]
    pub host: Option<String>,
    /// Port (default 3306)
    #[arg(short = 'P', long, value_name = "N", conflicts_with = "socket")]
    pub port: Option<u16>,
    /// Unix socket
    #[arg(short = 'S', long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Account here (default: --user)
    #[arg(long, value_name = "NAME")]
    pub local_user: Option<String>,
    /// File with its password (default: --password-file)
    #[arg(long, value_name = "FILE")]
    pub local_password_file: Option<PathBuf>,
}

impl LocalArgs {
    /// A connection is named.
    pub fn given(&self) -> bool {
        self.host.is_some() || self.port.is_some() || self.socket.is_some()
    }

    /// How to connect.
    pub fn options(&self, other: &OtherArgs, program: &str) -> Result<Options, Failure> {
        let mut connect = match &self.socket {
            Some(path) => Options::unix(path),
            None => Options::tcp(
                self.host.as_deref().unwrap_or("127.0.0.1"),
                self.port.unwrap_or(3306),
            ),
        };
        connect
            .user
            .clone_from(self.local_user.as_ref().unwrap_or(&other.user));
        let file = self
            .local_password_file
            .as_ref()
            .or(other.password_file.as_ref());
        connect.password = password(file.map(PathBuf::as_path))?;
        connect.program = program.to_owned();
        Ok(connect)
    }
}

/// This side: the connection if one is named, else the folder.
pub fn this_side(
    folder: &FolderArgs,
    local: &LocalArgs,
    other: &OtherArgs,
    program: &str,
) -> Result<Side, Failure> {
    if local.given() {
        if folder.datadir.is_some() {
            return Err(Failure::Usage(
                "--datadir, or a connection to this server: not both".into(),
            ));
        }
        return Ok(Side::server(local.options(other, program)?));
    }
    let dir = folder
        .datadir
        .as_deref()
        .unwrap_or(Path::new("./narwal-data"));
    Side::folder(
        dir,
        folder.encryption_key_file.as_deref(),
        &folder.base_name,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let of = |text| {
            address("--from", text)
                .map(|o| o.address.to_string())
                .unwrap_or_default()
        };
        assert_eq!(of("db1"), "db1:3306");
        assert_eq!(of("db1:3307"), "db1:3307");
        assert_eq!(of("[::1]:3307"), "[::1]:3307");
        assert_eq!(of("::1"), "[::1]:3306");
        assert_eq!(of("/run/mysqld.sock"), "/run/mysqld.sock");
        for bad in ["", ":3306", "db:x", "[::1"] {
            assert!(address("--from", bad).is_err(), "{bad}");
        }
    }
}
