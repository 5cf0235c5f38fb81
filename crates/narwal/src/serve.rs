//! `narwal serve`: start, wait for a signal, stop.

use crate::options::Serve;
use crate::{Failure, glue, init_file};
use narwal_server::{Server, ServerConfig};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::IsTerminal;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

/// How long connections get to end when the server stops.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a server until it is told to stop.
pub fn run(o: Serve) -> Result<(), Failure> {
    start_logging(o.log_level.as_deref())?;
    // Before anything else, so that no signal finds the default action.
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|e| Failure::run("signals", e))?;
    allow_core_dumps(wants_core(&o.settings));
    make_datadir(&o.datadir)?;
    let instance = glue::open(&o)?;
    crate::allocator::stay_within(instance.memory_budget(), instance.memory_limit());
    let replicas = match instance.open_replicas() {
        Ok(replicas) => replicas,
        Err(e) => {
            instance.close();
            return Err(e);
        }
    };

    if let Err(e) = init_file::run(&instance, &o.datadir) {
        instance.close();
        return Err(e);
    }
    let mut config = ServerConfig::new(&o.datadir);
    config.addresses = [(o.port, o.face)]
        .iter()
        .chain(&o.ports)
        .flat_map(|(port, face)| {
            let with_port = |ip: &IpAddr| (SocketAddr::new(*ip, *port), *face);
            o.addresses.iter().map(with_port)
        })
        .collect();
    config.sockets = (o.socket.iter().map(|path| (path.clone(), o.face)))
        .chain(o.sockets.iter().cloned())
        .collect();
    config.tls = o.tls;
    config.tls_files.clone_from(&o.tls_files);
    config.client_affinity = instance.client_affinity();
    short_turns(instance.time_slice());
    let started = Server::start(&config, instance.backend());
    let mut server = match started {
        Ok(server) => server,
        Err(e) => {
            instance.close();
            return Err(Failure::run("can't listen", e));
        }
    };
    let port = server.addresses().first().map_or(0, SocketAddr::port);
    let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        address = addresses.join(","),
        socket = o
            .socket
            .as_deref()
            .map(|p| p.display().to_string())
            .unwrap_or_default(),
        port,
        "ready for connections"
    );

    if instance.starts_replicas() {
        replicas.start_all();
    }
    instance.start_events();
    instance.on_shutdown(|| {
        // What SHUTDOWN does is what SIGTERM does.
        let _ = signal_hook::low_level::raise(SIGTERM);
    });
    let signal = signals.forever().next();
    tracing::info!(signal = signal.unwrap_or(SIGTERM), "stopping");
    // A second signal does not wait.
    let _ = std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                tracing::warn!("stopped at once by a second signal");
                std::process::exit(1);
            }
        });
    instance.stop_replicas();
    instance.stop_events();
    instance.kill_all();
    let left = server.stop(PATIENCE);
    if left > 0 {
        tracing::warn!(connections = left, "some connections did not end in time");
    }
    instance.close();
    tracing::info!("stopped");
    Ok(())
}

fn start_logging(level: Option<&str>) -> Result<(), Failure> {
    let given = level
        .map(str::to_owned)
        .or_else(|| std::env::var("NARWAL_LOG").ok());
    let filter = match given.as_deref() {
        Some(text) => tracing_subscriber::EnvFilter::try_new(text)
            .map_err(|e| Failure::Usage(format!("log level {text:?}: {e}")))?,
        None => tracing_subscriber::EnvFilter::new("info"),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
    Ok(())
}

fn make_datadir(dir: &Path) -> Result<(), Failure> {
    if crate::binlog::is_unfinished_import(dir) {
        return Err(Failure::Run(format!(
            "{}: an import into this folder has not come to its end; narwal binlog import --resume goes on with it",
            dir.display()
        )));
    }
    if dir.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|e| Failure::run(format!("can't make the data folder {}", dir.display()), e))
}

/// Short turns on the processors, for the threads that are there already and for those that answer clients, all of which are
/// started from here on.
fn short_turns(turn: Option<Duration>) {
    if let Some(turn) = turn
        && let Err(e) = crate::time_slice::set(turn)
    {
        tracing::debug!("narwal_time_slice has no effect: {e}");
    }
}

/// Whether `--core-file` was given; the last one counts.
fn wants_core(settings: &[(String, Option<String>)]) -> bool {
    let given = settings
        .iter()
        .rev()
        .find_map(|(name, value)| match name.as_str() {
            "core_file" => Some(!matches!(value.as_deref(), Some("0" | "OFF" | "off"))),
            "skip_core_file" | "disable_core_file" => Some(false),
            _ => None,
        });
    given.unwrap_or(false)
}

/// The memory of the server has what clients send, passwords among it: a core dump is made only if it is asked for.
/// A kernel that pipes dumps to a program does not look at the limit, hence both.
fn allow_core_dumps(allow: bool) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: getrlimit and setrlimit get a pointer to an initialised rlimit that lives across the call; this use of prctl
    // takes numbers only.
    let done = unsafe {
        libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) == 0
            && {
                limit.rlim_cur = if allow { limit.rlim_max } else { 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) == 0
            }
            && libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(allow), 0, 0, 0) == 0
    };
    if !done {
        tracing::warn!(
            allow,
            "can't decide about core dumps: they are as the system has them"
        );
    }
}
