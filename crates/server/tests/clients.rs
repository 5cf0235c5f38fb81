//! The front against a client that others wrote: MariaDB's own command line.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Running, start};
use std::process::Command;

struct Outcome {
    out: String,
    err: String,
    ok: bool,
}

fn mariadb(args: &[&str]) -> Option<Outcome> {
    let found = Command::new("mariadb")
        .arg("--no-defaults")
        .args(args)
        .output();
    match found {
        Ok(o) => Some(Outcome {
            out: String::from_utf8_lossy(&o.stdout).into_owned(),
            err: String::from_utf8_lossy(&o.stderr).into_owned(),
            ok: o.status.success(),
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: no mariadb client on this machine");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

fn tcp(r: &Running) -> Vec<String> {
    vec!["-h127.0.0.1".into(), format!("-P{}", r.addr().port())]
}

fn run(r: &Running, extra: &[&str]) -> Option<Outcome> {
    let base = tcp(r);
    let mut args: Vec<&str> = base.iter().map(String::as_str).collect();
    args.extend_from_slice(extra);
    mariadb(&args)
}

macro_rules! or_skip {
    ($e:expr) => {
        match $e {
            Some(o) => o,
            None => return,
        }
    };
}

#[test]
fn text_rows_of_every_kind() {
    let r = start();
    let o = or_skip!(run(
        &r,
        &["-uroot", "--skip-ssl", "-N", "-e", "select kinds"]
    ));
    assert!(o.ok, "{}", o.err);
    assert_eq!(
        o.out,
        "-5\t-300\t-70000\t-9223372036854775808\t1.5\t0.1\t-12.50\th\u{e9}llo\t\x01\x02\t2026-02-03\t2026-02-03 01:02:03\t-01:02:03\n\
         NULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\n"
    );
}

#[test]
fn passwords_by_both_methods_over_all_transports() {
    let r = start();
    let socket = format!("-S{}", r.socket().display());
    for user in ["nat", "sha"] {
        let u = format!("-u{user}");
        // Twice: the second time caching_sha2_password takes the fast path, without TLS as well.
        for (round, ssl) in [(1, "--ssl"), (2, "--ssl"), (3, "--skip-ssl")] {
            let o = or_skip!(run(&r, &[&u, "-psecret", ssl, "-N", "-e", "select user"]));
            assert_eq!(
                o.out,
                format!("{user}@localhost\n"),
                "{user} {round} {ssl}: {}",
                o.err
            );
        }
        let o = or_skip!(mariadb(&[
            &socket,
            &u,
            "-psecret",
            "-N",
            "-e",
            "select user"
        ]));
        assert_eq!(o.out, format!("{user}@localhost\n"), "{user}: {}", o.err);
        let o = or_skip!(run(&r, &[&u, "-pwrong", "--ssl", "-e", "select user"]));
        assert!(!o.ok);
        assert!(
            o.err
                .contains(&format!("ERROR 1045 (28000): Access denied for user '{user}'@'localhost' (using password: YES)")),
            "{}",
            o.err
        );
        let o = or_skip!(run(&r, &[&u, "--skip-ssl", "-e", "select user"]));
        assert!(o.err.contains("(using password: NO)"), "{}", o.err);
    }
    let o = or_skip!(run(&r, &["-unobody", "-px", "-e", "select user"]));
    assert!(
        o.err.contains(
            "ERROR 1045 (28000): Access denied for user 'nobody'@'localhost' (using password: YES)"
        ),
        "{}",
        o.err
    );
    let o = or_skip!(run(&r, &["-ushaempty", "-N", "-e", "select user"]));
    assert_eq!(o.out, "shaempty@localhost\n", "{}", o.err);
}

#[test]
fn the_full_path_without_tls_uses_rsa() {
    let r = start();
    let o = or_skip!(run(
        &r,
        &["-usha", "-psecret", "--skip-ssl", "-N", "-e", "select user"]
    ));
    assert_eq!(o.out, "sha@localhost\n", "{}", o.err);
    assert!(r.dir.path().join("private_key.pem").exists());
    let o = or_skip!(run(
        &r,
        &["-usha", "-pwrong", "--skip-ssl", "-N", "-e", "select user"]
    ));
    assert!(o.err.contains("ERROR 1045 (28000)"), "{}", o.err);
}

#[test]
fn tls_is_used_and_can_be_required() {
    let r = start();
    let o = or_skip!(run(&r, &["-uroot", "--ssl", "-N", "-e", "select cipher"]));
    assert!(o.out.starts_with("TLSv1.3 TLS_"), "{:?} {}", o.out, o.err);
    let o = or_skip!(run(&r, &["-utls", "--ssl", "-N", "-e", "select user"]));
    assert!(o.ok, "{}", o.err);
    let o = or_skip!(run(&r, &["-utls", "--skip-ssl", "-N", "-e", "select user"]));
    assert!(o.err.contains("ERROR 1045 (28000)"), "{}", o.err);
    // Larger than a TLS record, both ways.
    let o = or_skip!(run(
        &r,
        &["-uroot", "--ssl", "-N", "-e", "select long 500000"]
    ));
    assert_eq!(o.out.len(), 500_001, "{}", o.err);
}

#[test]
fn several_statements_and_their_errors() {
    let r = start();
    let o = or_skip!(run(
        &r,
        &[
            "-uroot",
            "-N",
            "--delimiter=//",
            "-e",
            "select rows 2; update; select user"
        ]
    ));
    assert_eq!(o.out, "0\n1\nroot@localhost\n", "{}", o.err);
    let o = or_skip!(run(
        &r,
        &[
            "-uroot",
            "-N",
            "--delimiter=//",
            "-e",
            "select user; fail; select user"
        ]
    ));
    assert_eq!(o.out, "root@localhost\n");
    assert!(
        o.err.contains("ERROR 1146 (42S02)") && o.err.contains("Table 'd.t' doesn't exist"),
        "{}",
        o.err
    );
    let o = or_skip!(run(&r, &["-uroot", "-vvv", "-e", "update"]));
    assert!(
        o.out.contains("300 rows affected, 1 warning")
            && o.out
                .contains("Rows matched: 300  Changed: 300  Warnings: 1"),
        "{}",
        o.out
    );
}

#[test]
fn refusals_before_a_session() {
    let r = start();
    let o = or_skip!(run(&r, &["-uroot", "-e", "select user", "nodb"]));
    assert!(
        o.err
            .contains("ERROR 1049 (42000): Unknown database 'nodb'"),
        "{}",
        o.err
    );
    let o = or_skip!(run(&r, &["-uroot", "-N", "-e", "select db", "somedb"]));
    assert_eq!(o.out, "somedb\n", "{}", o.err);
    let o = or_skip!(run(&r, &["-ulocked", "-e", "select user"]));
    assert!(
        o.err.contains("4151") && o.err.contains("this account is locked"),
        "{}",
        o.err
    );
    r.fake.limits.lock().unwrap().max_connections = 0;
    let o = or_skip!(run(&r, &["-uroot", "--skip-ssl", "-e", "select user"]));
    assert!(
        o.err.contains("ERROR 1040 (08004): Too many connections"),
        "{}",
        o.err
    );
}

#[test]
fn many_rows_and_packets_of_16_mib() {
    let r = start();
    r.fake.limits.lock().unwrap().max_allowed_packet = 64 << 20;
    let o = or_skip!(run(&r, &["-uroot", "-N", "-q", "-e", "select rows 200000"]));
    assert_eq!(o.out.lines().count(), 200_000, "{}", o.err);
    for n in [0xFF_FFFA, 0xFF_FFFB, 0xFF_FFFF, 17_000_000] {
        let q = format!("select long {n}");
        let o = or_skip!(run(
            &r,
            &["-uroot", "--max-allowed-packet=64M", "-N", "-e", &q]
        ));
        assert_eq!(o.out.len(), n + 1, "{}", o.err);
    }
}

#[test]
fn a_query_that_is_too_long_is_told_so() {
    let r = start();
    // Far more than socket buffers hold: the client is still writing when the server has decided.
    let file = r.dir.path().join("long.sql");
    std::fs::write(&file, format!("select '{}';\n", "x".repeat(12 << 20))).unwrap();
    let source = format!("source {}", file.display());
    let o = or_skip!(run(
        &r,
        &[
            "-uroot",
            "--skip-ssl",
            "--max-allowed-packet=64M",
            "-e",
            &source
        ]
    ));
    let told = o.err.lines().last().unwrap_or_default();
    assert!(told.contains("ERROR 1153 (08S01)"), "{told}");
}
