//! The binary as a person or a script meets it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

fn narwal(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_narwal"))
        .args(args)
        .output()
        .unwrap()
}

fn stderr(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// A server; ended with the test, however that ends.
struct Running {
    child: Child,
    port: u16,
    log: BufReader<ChildStderr>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server on a free port, ready.
fn serve(datadir: &Path, extra: &[&str]) -> Running {
    let mut child = Command::new(env!("CARGO_BIN_EXE_narwal"))
        .args(["serve", "--port=0", "--datadir"])
        .arg(datadir)
        .args(extra)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut running = Running {
        child,
        port: 0,
        log,
    };
    let mut seen = String::new();
    while running.port == 0 {
        let mut line = String::new();
        let n = running.log.read_line(&mut line).unwrap();
        assert!(n > 0, "ended before it was ready: {seen}");
        if line.contains("ready for connections") {
            let port = line.rsplit("port=").next().unwrap();
            running.port = port.trim().parse().unwrap();
        }
        seen.push_str(&line);
    }
    running
}

impl Running {
    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Exit status and the rest of the log.
    fn wait(mut self) -> (i32, String) {
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

#[test]
fn help_and_mistakes() {
    for args in [
        &["--help"][..],
        &["serve", "--help"],
        &["export-binlog", "--help"],
        &["binlog", "--help"],
        &["binlog", "export", "--help"],
        &["verify-log", "--help"],
        &[],
    ] {
        let o = narwal(args);
        assert!(
            o.status.success()
                && ["narwal", "usage", "Reads", "Writes"]
                    .iter()
                    .any(|w| o.stdout.starts_with(w.as_bytes())),
            "{args:?}"
        );
    }
    assert!(String::from_utf8_lossy(&narwal(&["--version"]).stdout).starts_with("narwal 0."));
    for (args, hint) in [
        (&["sevre"][..], "did you mean serve?"),
        (
            &["serve", "--max-conections=5"],
            "did you mean --max-connections?",
        ),
        (
            &["serve", "--innodb_flush_log_at_trx_comit=2"],
            "did you mean --innodb-flush-log-at-trx-commit?",
        ),
        (&["serve", "--innodb-flush-log-at-trx-commit=7"], "innodb"),
        (&["serve", "--config=/nonexistent.cnf"], "/nonexistent.cnf"),
        (&["export-binlog", "--ouT"], "needs a value"),
    ] {
        let o = narwal(args);
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", stderr(&o));
        assert!(stderr(&o).contains(hint), "{args:?}: {}", stderr(&o));
    }
    let o = narwal(&["verify-log", "--datadir=/nonexistent"]);
    assert_eq!(o.status.code(), Some(1));
}

#[test]
fn a_server_starts_refuses_a_second_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("new/data");
    for (round, signal) in ["-TERM", "-INT"].into_iter().enumerate() {
        let server = serve(
            &data,
            &[
                "--innodb-flush-log-at-trx-commit=2",
                "--max_connections",
                "20",
            ],
        );
        assert!(data.join("narwal.sock").exists(), "round {round}");
        TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let datadir = format!("--datadir={}", data.display());
        let second = narwal(&["serve", "--port=0", &datadir]);
        assert_eq!(second.status.code(), Some(1));
        assert!(stderr(&second).contains("in use"), "{}", stderr(&second));
        let o = narwal(&["verify-log", &datadir]);
        assert!(stderr(&o).contains("in use"), "{}", stderr(&o));
        // Reading needs no lock.
        let o = narwal(&["binlog", &datadir]);
        assert!(o.status.success(), "{}", stderr(&o));
        assert!(String::from_utf8_lossy(&o.stdout).contains("DELIMITER"));
        server.signal(signal);
        let (code, log) = server.wait();
        assert_eq!(code, 0, "{log}");
        assert!(log.contains("stopped"), "{log}");
        assert!(!data.join("narwal.sock").exists());
        let o = narwal(&["verify-log", &datadir]);
        assert!(o.status.success(), "{}", stderr(&o));
        assert!(String::from_utf8_lossy(&o.stdout).contains("no damage"));
        let out = dir.path().join("flat");
        let o = narwal(&[
            "export-binlog",
            &datadir,
            &format!("--out={}", out.display()),
        ]);
        assert!(o.status.success(), "{}", stderr(&o));
        assert_eq!(std::fs::read(&out).unwrap()[..4], *b"\xfebin");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let o = narwal(&[
        "serve",
        &format!("--datadir={}", dir.path().display()),
        &format!("--port={port}"),
    ]);
    assert_eq!(o.status.code(), Some(1));
    assert!(
        stderr(&o).contains(&format!("127.0.0.1:{port}")),
        "{}",
        stderr(&o)
    );
}
