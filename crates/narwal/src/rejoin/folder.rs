//! The folder of a server that does not run gets one for as long as it takes, which listens at the folder's socket only.

use crate::Failure;
use crate::diverge::side::connect;
use narwal_client::Options;
use narwal_log::{Disk, RealDisk};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to stop.
const STOP: Duration = Duration::from_secs(120);

/// Whether somebody listens at the folder's socket.
pub fn runs(dir: &Path) -> bool {
    UnixStream::connect(dir.join(SOCKET)).is_ok()
}

/// Keeps servers from the folder.
pub fn lock(dir: &Path) -> Result<impl Sized, Failure> {
    let failed = |e| Failure::run(format_args!("{}: its server runs", dir.display()), e);
    RealDisk.lock(&dir.join("narwal.lock")).map_err(failed)
}

/// A server of the folder, as a process of its own. Dropped before [`Served::stop`]: killed, which costs nothing but a recovery.
pub struct Served(Child);

impl Served {
    /// Starts it, with `options` of `narwal serve`, and waits until it takes connections, however long its recovery is.
    pub fn start(
        dir: &Path,
        key_file: Option<&Path>,
        options: &[String],
    ) -> Result<Served, Failure> {
        let program =
            std::env::current_exe().map_err(|e| Failure::run("finding this program", e))?;
        let mut command = Command::new(program);
        command.arg("serve").args(options);
        command.arg(format!("--datadir={}", dir.display()));
        command.arg(format!("--socket={}", dir.join(SOCKET).display()));
        command.args(["--skip-networking", "--skip-slave-start"]);
        if let Some(path) = key_file {
            command.arg(format!("--encryption-key-file={}", path.display()));
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| Failure::run("starting the folder's server", e))?;
        let mut served = Served(child);
        while !runs(dir) {
            let ended = served.0.try_wait();
            if let Some(status) = ended.map_err(|e| Failure::run("the folder's server", e))? {
                return Err(Failure::Run(format!(
                    "the server of {} did not start ({status}); what it said stands above",
                    dir.display()
                )));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(served)
    }

    /// Stops it cleanly.
    pub fn stop(mut self, options: &Options) -> Result<(), Failure> {
        let failed = |e| Failure::run("stopping the folder's server", e);
        // It may end before it answers.
        let _ = connect(options)?.execute("SHUTDOWN");
        let began = Instant::now();
        while began.elapsed() < STOP {
            if self.0.try_wait().map_err(failed)?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Failure::Run(format!(
            "the folder's server has not stopped in {} s",
            STOP.as_secs()
        )))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// A server's socket in its data folder, if it was not told of another place.
pub(super) const SOCKET: &str = "narwal.sock";
