//! Options: from the command line and from option files, by MariaDB's names.

use crate::variables;
use narwal_server::TlsFiles;
use narwal_types::face::Face;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// What was wrong with the options, for the person who gave them.
#[derive(Debug, PartialEq, Eq)]
pub struct Usage(pub String);

type Result<T> = std::result::Result<T, Usage>;

/// Sections of an option file that are read.
const SECTIONS: [&str; 6] = [
    "narwal",
    "mysqld",
    "mariadb",
    "mariadbd",
    "server",
    "mysql.server",
];

/// What an own option of `narwal serve` does: one that is no system variable, or whose variable only states it.
type Take = fn(&mut Building, &Given) -> Result<()>;

/// The own options: name, whether a value follows it, and what it does.
const OWN: &[(&str, bool, Take)] = &[
    (ACCEPT_LOG_LOSS, false, |b, g| {
        // Not from a file: who forgets it there would never again be asked.
        if !g.place.is_empty() {
            return Err(g.error("is for the command line only"));
        }
        b.serve.accept_log_loss = g.boolean()?;
        Ok(())
    }),
    ("bind-address", true, |b, g| {
        b.serve.addresses = parse_addresses(g)?;
        Ok(())
    }),
    ("config", true, option_file),
    ("datadir", true, |b, g| {
        g.path().map(|p| b.serve.datadir = p)
    }),
    ("defaults-extra-file", true, option_file),
    ("defaults-file", true, option_file),
    (KEY_FILE, true, take_key_file),
    (KEY_FILE_ALIAS, true, take_key_file),
    ("log-level", true, |b, g| {
        b.serve.log_level = Some(g.required()?.to_owned());
        Ok(())
    }),
    ("narwal-dialect", true, |b, g| {
        b.serve.face = match g.required()?.to_ascii_lowercase().as_str() {
            "mysql" => Face::MySql,
            "mariadb" => Face::MariaDb,
            other => return Err(g.error(format!("{other:?} is neither mysql nor mariadb"))),
        };
        Ok(())
    }),
    ("narwal-mariadb-port", true, |b, g| {
        g.port().map(|p| b.serve.ports.push((p, Face::MariaDb)))
    }),
    ("narwal-mariadb-socket", true, |b, g| {
        g.path().map(|p| b.serve.sockets.push((p, Face::MariaDb)))
    }),
    ("narwal-mysql-port", true, |b, g| {
        g.port().map(|p| b.serve.ports.push((p, Face::MySql)))
    }),
    ("narwal-mysql-socket", true, |b, g| {
        g.path().map(|p| b.serve.sockets.push((p, Face::MySql)))
    }),
    ("no-defaults", false, |_, _| Ok(())),
    ("port", true, |b, g| g.port().map(|p| b.serve.port = p)),
    ("skip-networking", false, |b, g| {
        b.networking = !g.boolean()?;
        Ok(())
    }),
    ("skip-ssl", false, |b, g| {
        b.serve.tls = !g.boolean()?;
        Ok(())
    }),
    ("socket", true, |b, g| g.path().map(|p| b.socket = Some(p))),
    ("ssl", false, |b, g| {
        b.serve.tls = g.boolean()?;
        Ok(())
    }),
    ("ssl-ca", true, |b, g| {
        g.path().map(|p| b.serve.tls_files.ca = Some(p))
    }),
    ("ssl-cert", true, |b, g| g.path().map(|p| b.cert = Some(p))),
    ("ssl-crl", true, |b, g| {
        g.path().map(|p| b.serve.tls_files.crl = Some(p))
    }),
    ("ssl-key", true, |b, g| g.path().map(|p| b.key = Some(p))),
    ("tls-version", true, |b, g| {
        b.serve.tls_versions = g.required()?.to_owned();
        b.serve.tls_files.versions = narwal_server::tls::versions(&b.serve.tls_versions)
            .map_err(|v| g.error(format!("{v:?} is not offered: TLSv1.2, TLSv1.3 are")))?;
        Ok(())
    }),
];

/// An own option by its name.
fn own(name: &str) -> Option<&'static (&'static str, bool, Take)> {
    OWN.iter().find(|o| o.0 == name)
}

/// Option files are read before anything else; one can't name another.
fn option_file(b: &mut Building, g: &Given) -> Result<()> {
    match g.place.is_empty() {
        true => Ok(()),
        false => variable(g, &mut b.serve.settings),
    }
}

fn take_key_file(b: &mut Building, g: &Given) -> Result<()> {
    b.serve.key_file = key_file(g)?;
    Ok(())
}

/// [`Serve`] while options are read, with what only all of them together say.
struct Building {
    serve: Serve,
    socket: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    networking: bool,
}

impl Building {
    fn new() -> Building {
        Building {
            serve: Serve {
                datadir: PathBuf::from("narwal-data"),
                key_file: None,
                accept_log_loss: false,
                port: 3306,
                addresses: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
                socket: None,
                tls: true,
                tls_files: TlsFiles::default(),
                tls_versions: String::new(),
                face: Face::MariaDb,
                ports: Vec::new(),
                sockets: Vec::new(),
                log_level: None,
                settings: Vec::new(),
            },
            socket: None,
            cert: None,
            key: None,
            networking: true,
        }
    }

    fn finish(self) -> Result<Serve> {
        let mut o = self.serve;
        if !self.networking {
            o.addresses.clear();
        }
        o.tls_files.own = match (self.cert, self.key) {
            (Some(c), Some(k)) => Some((c, k)),
            (None, None) => None,
            _ => return Err(Usage("ssl-cert and ssl-key go together".into())),
        };
        if o.tls_files.crl.is_some() && o.tls_files.ca.is_none() {
            return Err(Usage("ssl-crl needs ssl-ca".into()));
        }
        o.socket = match self.socket {
            Some(s) if s.as_os_str().is_empty() => None,
            Some(s) => Some(s),
            None => Some(o.datadir.join("narwal.sock")),
        };
        Ok(o)
    }
}

/// How `narwal serve` was asked to run.
#[derive(Debug, Clone)]
pub struct Serve {
    /// Data folder.
    pub datadir: PathBuf,
    /// Key file of an encrypted data folder.
    pub key_file: Option<PathBuf>,
    /// Start even if that gives up a damaged or missing part of the log.
    pub accept_log_loss: bool,
    /// TCP port.
    pub port: u16,
    /// Addresses to listen on; empty without networking.
    pub addresses: Vec<IpAddr>,
    /// Unix socket; `None` for none.
    pub socket: Option<PathBuf>,
    /// Offer TLS.
    pub tls: bool,
    /// Own certificate and key, clients' certificates.
    pub tls_files: TlsFiles,
    /// `tls_version` as given.
    pub tls_versions: String,
    /// `narwal_dialect`: what the clients of `port` and `socket` meet, and what the server's own threads take for theirs.
    pub face: Face,
    /// Further ports, on the same addresses, whose clients meet this face.
    pub ports: Vec<(u16, Face)>,
    /// Further sockets, likewise.
    pub sockets: Vec<(PathBuf, Face)>,
    /// Filter for log messages.
    pub log_level: Option<String>,
    /// System variables, in the order given; later ones win. No value: as a switch.
    pub settings: Vec<(String, Option<String>)>,
}

/// How `narwal export-binlog` was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Data folder.
    pub datadir: PathBuf,
    /// Output; `None` for standard output.
    pub out: Option<PathBuf>,
    /// GTID after which to begin.
    pub from: Option<String>,
    /// Key file of an encrypted data folder.
    pub key_file: Option<PathBuf>,
}

/// How `narwal verify-log` was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// Data folder.
    pub datadir: PathBuf,
    /// Key file of an encrypted data folder.
    pub key_file: Option<PathBuf>,
}

/// How `narwal rotate-key`, `encrypt` or `decrypt` was asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// Data folder.
    pub datadir: PathBuf,
    /// Key file.
    pub key_file: Option<PathBuf>,
    /// Encrypt every file anew.
    pub new_data_key: bool,
}

/// The name most like `name`, if one is at all like it.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .min()
        .filter(|(distance, k)| *distance <= 2 + k.len() / 5)
        .map(|(_, k)| k)
}

/// One option as given, before anyone knows what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    name: String,
    value: Option<String>,
    /// Where it was given, for messages: empty on the command line.
    place: String,
    /// May be unknown.
    loose: bool,
}

impl Given {
    fn new(name: &str, value: Option<String>, place: String) -> Self {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let (name, loose) = match name.strip_prefix("loose-") {
            Some(rest) => (rest.to_owned(), true),
            None => (name, false),
        };
        Given {
            name,
            value,
            place,
            loose,
        }
    }

    fn error(&self, what: impl std::fmt::Display) -> Usage {
        Usage(format!("{}option {}: {what}", self.place, self.name))
    }

    fn required(&self) -> Result<&str> {
        self.value
            .as_deref()
            .ok_or_else(|| self.error("needs a value, as in --name=value"))
    }

    fn path(&self) -> Result<PathBuf> {
        Ok(PathBuf::from(self.required()?))
    }

    fn port(&self) -> Result<u16> {
        let port = self.required()?;
        port.parse()
            .map_err(|_| self.error(format!("{port:?} is not a port")))
    }

    fn boolean(&self) -> Result<bool> {
        match self
            .value
            .as_deref()
            .map(str::to_ascii_lowercase)
            .as_deref()
        {
            None | Some("1" | "on" | "true" | "yes") => Ok(true),
            Some("0" | "off" | "false" | "no") => Ok(false),
            Some(_) => Err(self.error("wants ON or OFF")),
        }
    }
}

/// Splits `--name[=value]` arguments. `takes_value` says which names take the next argument when there is no `=`.
fn split(args: &[String], takes_value: impl Fn(&str) -> bool) -> Result<Vec<Given>> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < args.len() {
        let arg = &args[i];
        i += 1;
        let Some(body) = arg.strip_prefix("--").filter(|b| !b.is_empty()) else {
            return Err(Usage(format!(
                "{arg:?} is not an option (options begin with --)"
            )));
        };
        let mut given = match body.split_once('=') {
            Some((name, value)) => Given::new(name, Some(value.to_owned()), String::new()),
            None => Given::new(body, None, String::new()),
        };
        if given.value.is_none()
            && takes_value(&given.name)
            && let Some(next) = args.get(i).filter(|n| !n.starts_with("--"))
        {
            given.value = Some(next.clone());
            i += 1;
        }
        out.push(given);
    }
    Ok(out)
}

/// Reads an option file's sections for servers.
fn read_file(path: &Path, out: &mut Vec<Given>) -> Result<()> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Usage(format!("{}: {e}", path.display())))?;
    parse_file(&text, &path.display().to_string(), out)
}

fn parse_file(text: &str, name: &str, out: &mut Vec<Given>) -> Result<()> {
    let mut wanted = false;
    let mut section = false;
    for (i, line) in text.lines().enumerate() {
        let place = format!("{name}:{}: ", i + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('!') {
            return Err(Usage(format!(
                "{place}!include and !includedir are not supported"
            )));
        }
        if let Some(head) = line.strip_prefix('[') {
            let Some(head) = head.strip_suffix(']') else {
                return Err(Usage(format!("{place}a section without its ]")));
            };
            let head = head.trim();
            section = true;
            wanted = SECTIONS.contains(&head) && head != "mysql.server";
            continue;
        }
        if !section {
            return Err(Usage(format!(
                "{place}an option before the first [section]"
            )));
        }
        if !wanted {
            continue;
        }
        let given = match line.split_once('=') {
            Some((key, value)) => Given::new(key.trim(), Some(file_value(value)), place),
            None => Given::new(strip_comment(line), None, place),
        };
        out.push(given);
    }
    Ok(())
}

/// A comment begins at a `#` after white space.
fn strip_comment(s: &str) -> &str {
    let mut end = s.len();
    for (i, _) in s.match_indices('#') {
        if s[..i].ends_with([' ', '\t']) {
            end = i;
            break;
        }
    }
    s[..end].trim()
}

fn file_value(raw: &str) -> String {
    let raw = raw.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = raw.strip_prefix(quote)
            && let Some(end) = rest.find(quote)
        {
            return rest[..end].to_owned();
        }
    }
    strip_comment(raw).to_owned()
}

fn takes_value(name: &str) -> bool {
    match own(name) {
        Some((_, takes, _)) => *takes,
        None => variables::variable(&name.replace('-', "_")).is_some_and(|v| !v.boolean),
    }
}

fn parse_addresses(given: &Given) -> Result<Vec<IpAddr>> {
    let mut out = Vec::new();
    for part in given
        .required()?
        .split(',')
        .map(str::trim)
        .filter(|p| !p.is_empty())
    {
        match part {
            "*" => out.push(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            "localhost" => out.push(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            _ => out.push(
                part.parse()
                    .map_err(|_| given.error(format!("{part:?} is not an address")))?,
            ),
        }
    }
    Ok(out)
}

/// Options of `narwal serve`.
pub fn serve(args: &[String]) -> Result<Serve> {
    let command_line = split(args, takes_value)?;
    let mut all = Vec::new();
    for g in &command_line {
        if matches!(
            g.name.as_str(),
            "config" | "defaults-file" | "defaults-extra-file"
        ) {
            read_file(Path::new(g.required()?), &mut all)?;
        }
    }
    all.extend(command_line);

    let mut building = Building::new();
    for g in &all {
        match own(&g.name) {
            Some((_, _, take)) => take(&mut building, g)?,
            None => variable(g, &mut building.serve.settings)?,
        }
    }
    building.finish()
}

/// A system variable as an option: `--name=value`, `--name`, `--skip-name`. Only the name
/// is looked at here; the value is judged where the variable is known.
fn variable(g: &Given, settings: &mut Vec<(String, Option<String>)>) -> Result<()> {
    let name = g.name.replace('-', "_");
    let switched = || {
        let rest = ["skip_", "disable_", "enable_"]
            .iter()
            .find_map(|p| name.strip_prefix(p))?;
        variables::variable(rest).filter(|v| v.boolean && g.value.is_none())
    };
    if variables::variable(&name).or_else(switched).is_some() {
        settings.push((name, g.value.clone()));
        return Ok(());
    }
    if g.loose {
        eprintln!(
            "narwal: {}unknown option {} ignored, as loose- asks for",
            g.place, g.name
        );
        return Ok(());
    }
    Err(unknown(
        g,
        OWN.iter().map(|o| o.0).chain(variables::variable_names()),
    ))
}

fn unknown<'a>(g: &Given, known: impl Iterator<Item = &'a str>) -> Usage {
    // Compared with one spelling, suggested in the option's.
    let known: Vec<String> = known.map(|k| k.replace('_', "-")).collect();
    let hint = nearest(&g.name, known.iter().map(String::as_str)).map_or(String::new(), |n| {
        let dashes = if g.place.is_empty() { "--" } else { "" };
        format!("; did you mean {dashes}{n}?")
    });
    Usage(format!("{}unknown option {}{hint}", g.place, g.name))
}

/// Options of `narwal export-binlog`.
pub fn export(args: &[String]) -> Result<Export> {
    let mut o = Export {
        datadir: PathBuf::from("narwal-data"),
        out: None,
        from: None,
        key_file: None,
    };
    for g in split(args, |_| true)? {
        match g.name.as_str() {
            "datadir" => o.datadir = PathBuf::from(g.required()?),
            "out" => o.out = Some(PathBuf::from(g.required()?)),
            "from" => o.from = Some(g.required()?.to_owned()),
            KEY_FILE | KEY_FILE_ALIAS => o.key_file = key_file(&g)?,
            _ => {
                return Err(unknown(
                    &g,
                    ["datadir", "out", "from", KEY_FILE].into_iter(),
                ));
            }
        }
    }
    Ok(o)
}

/// Options of `narwal verify-log`.
pub fn verify(args: &[String]) -> Result<Verify> {
    let mut o = Verify {
        datadir: PathBuf::from("narwal-data"),
        key_file: None,
    };
    for g in split(args, |_| true)? {
        match g.name.as_str() {
            "datadir" => o.datadir = PathBuf::from(g.required()?),
            KEY_FILE | KEY_FILE_ALIAS => o.key_file = key_file(&g)?,
            _ => return Err(unknown(&g, ["datadir", KEY_FILE].into_iter())),
        }
    }
    Ok(o)
}

/// Lets a start give up a part of the log.
const ACCEPT_LOG_LOSS: &str = "accept-log-loss";

/// Names the key file; the second is MariaDB's.
pub const KEY_FILE: &str = "encryption-key-file";
const KEY_FILE_ALIAS: &str = "file-key-management-filename";

/// An empty name stands for none.
fn key_file(g: &Given) -> Result<Option<PathBuf>> {
    Ok(Some(PathBuf::from(g.required()?)).filter(|p| !p.as_os_str().is_empty()))
}

/// Options of `narwal rotate-key` (with `rotate`), `narwal encrypt` and `narwal decrypt`.
pub fn keys(args: &[String], rotate: bool) -> Result<Keys> {
    let mut o = Keys {
        datadir: PathBuf::from("narwal-data"),
        key_file: None,
        new_data_key: false,
    };
    for g in split(args, |name| name != "new-data-key")? {
        match g.name.as_str() {
            "datadir" => o.datadir = PathBuf::from(g.required()?),
            KEY_FILE | KEY_FILE_ALIAS => o.key_file = key_file(&g)?,
            "new-data-key" if rotate => o.new_data_key = g.boolean()?,
            _ => {
                return Err(unknown(
                    &g,
                    ["datadir", KEY_FILE, "new-data-key"].into_iter(),
                ));
            }
        }
    }
    Ok(o)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn args(s: &str) -> Vec<String> {
        s.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn both_spellings_and_both_forms_of_values() {
        let o = serve(&args(
            "--datadir /d --port=3307 --innodb_flush_log_at_trx_commit=2 --max-connections 10 --bind-address=*",
        ))
        .unwrap();
        assert_eq!(o.datadir, PathBuf::from("/d"));
        assert_eq!(o.port, 3307);
        assert_eq!(o.socket, Some(PathBuf::from("/d/narwal.sock")));
        assert_eq!(o.addresses, [IpAddr::V6(Ipv6Addr::UNSPECIFIED)]);
        assert_eq!(
            o.settings,
            [
                (
                    "innodb_flush_log_at_trx_commit".to_owned(),
                    Some("2".to_owned())
                ),
                ("max_connections".to_owned(), Some("10".to_owned()))
            ]
        );
        assert_eq!(serve(&args("--socket=")).unwrap().socket, None);
        assert!(
            serve(&args("--skip-networking"))
                .unwrap()
                .addresses
                .is_empty()
        );
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let e = serve(&args("--max-conections=5")).unwrap_err();
        assert_eq!(
            e.0,
            "unknown option max-conections; did you mean --max-connections?"
        );
        let e = serve(&args("--dataidr=5")).unwrap_err();
        assert!(e.0.contains("--datadir"), "{}", e.0);
        let e = serve(&args("--xyzzy-plugh")).unwrap_err();
        assert_eq!(e.0, "unknown option xyzzy-plugh");
        assert!(serve(&args("--loose-xyzzy-plugh=1")).is_ok());
        assert!(serve(&args("stray")).is_err());
        assert!(serve(&args("--port=70000")).is_err());
        assert!(serve(&args("--datadir")).is_err());
        assert!(!serve(&[]).unwrap().accept_log_loss);
        assert!(serve(&args("--accept-log-loss")).unwrap().accept_log_loss);
    }

    #[test]
    fn option_files() {
        let text = "# comment\n[client]\nport=1\n[mysqld]\nport = 3310 # why not\nmax_connections=\"7\"\n\
                    [other]\nnonsense\n[narwal]\nskip-ssl\n";
        let mut out = Vec::new();
        parse_file(text, "f", &mut out).unwrap();
        let got: Vec<_> = out
            .iter()
            .map(|g| (g.name.as_str(), g.value.as_deref()))
            .collect();
        assert_eq!(
            got,
            [
                ("port", Some("3310")),
                ("max-connections", Some("7")),
                ("skip-ssl", None)
            ]
        );
        assert_eq!(out[0].place, "f:5: ");
        assert!(parse_file("port=1\n", "f", &mut out).is_err());

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("my.cnf");
        std::fs::write(&file, "[mysqld]\nport=3310\nmax-conections=9\n").unwrap();
        let config = format!("--config={}", file.display());
        let e = serve(std::slice::from_ref(&config)).unwrap_err();
        assert!(
            e.0.ends_with("my.cnf:3: unknown option max-conections; did you mean max-connections?"),
            "{}",
            e.0
        );
        std::fs::write(&file, "[mysqld]\nport=3310\n").unwrap();
        assert_eq!(serve(std::slice::from_ref(&config)).unwrap().port, 3310);
        assert_eq!(serve(&[config, "--port=3311".into()]).unwrap().port, 3311);
    }
}
