//! Servers that send anything: a client gives errors, or what it was sent, and never panics, hangs or takes memory for what
//! did not come.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_client::{Connection, DumpRequest, Error, Options, Packet};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    p.push(seq);
    p.extend_from_slice(payload);
    p
}

fn greeting() -> Vec<u8> {
    let mut p = vec![10];
    p.extend_from_slice(b"10.11.0-MariaDB\0\x07\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15");
    p.extend_from_slice(&[0; 10]);
    p.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &p)
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// Runs `client` against a server that sends `first` at once and one of `answers` for each thing it gets.
fn against<T>(first: Vec<u8>, answers: Vec<Vec<u8>>, client: impl FnOnce(Options) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut s, _) = listener.accept().unwrap();
        s.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut buf = [0; 4096];
        let _ = s.write_all(&first);
        for answer in answers {
            if !matches!(s.read(&mut buf), Ok(1..)) || s.write_all(&answer).is_err() {
                return;
            }
        }
    });
    let mut options = Options::unix(&path).user("root", "secret");
    options.connect_timeout = Duration::from_secs(5);
    options.read_timeout = Duration::from_secs(5);
    let result = client(options);
    server.join().unwrap();
    result
}

fn lenenc(parts: &[&[u8]]) -> Vec<u8> {
    parts
        .iter()
        .flat_map(|p| [&[p.len() as u8], *p].concat())
        .collect()
}

/// A result of one text column and two rows.
fn result() -> Vec<u8> {
    let mut column = lenenc(&[b"def", b"", b"", b"", b"a", b""]);
    column.extend_from_slice(&[12, 45, 0, 40, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
    let eof = [0xfe, 0, 0, 2, 0];
    let parts: [&[u8]; 6] = [&[1], &column, &eof, &lenenc(&[b"one"]), &[0xfb], &eof];
    let numbered = parts.iter().enumerate();
    numbered.flat_map(|(i, p)| packet(i as u8 + 1, p)).collect()
}

#[test]
fn a_server_that_behaves() {
    let event = packet(1, b"\0event");
    let end = packet(2, &[0xfe, 0, 0, 2, 0]);
    let answers = vec![packet(2, OK), result(), [event, end].concat()];
    against(greeting(), answers, |o| {
        let mut c = Connection::connect(&o).unwrap();
        assert_eq!(
            (c.server_version(), c.is_mariadb(), c.id()),
            ("10.11.0-MariaDB", true, 7)
        );
        let rows = c.query("SELECT a").unwrap();
        assert_eq!(rows.columns[0].name, "a");
        assert_eq!(
            (rows.text(0, 0).as_deref(), rows.text(1, 0)),
            (Some("one"), None)
        );
        let mut dump = c.dump(&DumpRequest::default()).unwrap();
        assert_eq!(
            dump.next(Duration::from_secs(5)).unwrap(),
            Packet::Event(b"event")
        );
        assert_eq!(dump.next(Duration::from_secs(5)).unwrap(), Packet::End);
        assert_eq!(dump.next(Duration::from_secs(5)).unwrap(), Packet::End);
    });
}

#[test]
fn semi_synchronous_packets() {
    // Behind a packet whose acknowledgement is wanted the server counts from 1 again, whether or not that has come.
    let events = [
        packet(1, b"\0\xef\0one"),
        packet(2, b"\0\xef\x01two"),
        packet(1, b"\0\xef\x01three"),
        packet(1, b"\0\xef\0four"),
        packet(2, b"\0five"),
    ];
    // The acknowledgement is what the last ones answer.
    let answers = vec![packet(2, OK), events[..2].concat(), events[2..].concat()];
    against(greeting(), answers, |o| {
        let c = Connection::connect(&o).unwrap();
        let request = DumpRequest {
            semi_sync: true,
            ..DumpRequest::default()
        };
        let mut dump = c.dump(&request).unwrap();
        let (wake, woken) = std::os::unix::net::UnixStream::pair().unwrap();
        let wait = Duration::from_secs(5);
        assert!(dump.ready(woken.as_fd(), wait).unwrap());
        assert_eq!(dump.next(wait).unwrap(), Packet::Event(b"one"));
        assert_eq!(dump.next(wait).unwrap(), Packet::WantsAck(b"two"));
        dump.acknowledge("bin.000001", 700).unwrap();
        assert_eq!(dump.next(wait).unwrap(), Packet::WantsAck(b"three"));
        assert_eq!(dump.next(wait).unwrap(), Packet::Event(b"four"));
        drop(wake);
        // One without the mark.
        let e = dump.next(wait).unwrap_err();
        assert!(matches!(e, Error::Protocol(_)), "{e}");
    });
}

#[test]
fn what_was_not_read_to_its_end_ends_the_connection() {
    let answers = vec![packet(2, OK), result()];
    against(greeting(), answers, |o| {
        let mut c = Connection::connect(&o).unwrap();
        let mut rows = c.rows("SELECT a").unwrap();
        assert!(rows.next().unwrap().is_some());
        drop(rows);
        assert!(matches!(c.ping(), Err(Error::Protocol(_))));
    });
}

#[test]
fn refusals() {
    let denied = packet(2, b"\xff\x15\x04#28000Access denied");
    let e = against(greeting(), vec![denied], |o| {
        Connection::connect(&o).unwrap_err()
    });
    assert_eq!((e.code(), e.is_retriable()), (1045, false));
    // An unknown method, one of before 4.1, a request for a file, a packet of 1 GiB that never comes.
    for answer in [packet(2, b"\xfedialog\0salt"), packet(2, &[0xfe])] {
        let e = against(greeting(), vec![answer], |o| {
            Connection::connect(&o).unwrap_err()
        });
        assert!(matches!(e, Error::Auth(_)), "{e}");
    }
    let answers = vec![packet(2, OK), packet(1, b"\xfb/etc/passwd")];
    let e = against(greeting(), answers, |o| {
        Connection::connect(&o).unwrap().query("x").unwrap_err()
    });
    assert!(matches!(e, Error::Protocol(_)), "{e}");
    let e = against(greeting(), vec![vec![0xff, 0xff, 0xff, 2]], |o| {
        Connection::connect(&o).unwrap_err()
    });
    assert!(matches!(e, Error::Protocol(_)), "{e}");
}

/// Bytes of a server, with some changed and the end cut off.
fn spoiled(mut bytes: Vec<u8>, flips: &[(usize, u8)], cut: usize) -> Vec<u8> {
    for (i, to) in flips {
        let i = i % bytes.len();
        bytes[i] = *to;
    }
    if cut < 300 {
        bytes.truncate(cut);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn anything(
        which in 0usize..4,
        flips in prop::collection::vec((0usize..200, any::<u8>()), 0..5),
        cut in 0usize..600,
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut parts = [greeting(), packet(2, OK), result(), packet(1, b"\0event")];
        let spoil = spoiled(parts[which].clone(), &flips, cut);
        parts[which] = [spoil, noise].concat();
        let [first, answers @ ..] = parts;
        against(first, answers.to_vec(), |mut o| {
            // The server says no more than this; whoever waits for more sees it close.
            o.read_timeout = Duration::from_millis(300);
            o.connect_timeout = Duration::from_millis(300);
            let Ok(mut c) = Connection::connect(&o) else { return };
            if c.query("SELECT 1").is_err() && c.ping().is_err() {
                return;
            }
            let Ok(mut dump) = c.dump(&DumpRequest::default()) else { return };
            for _ in 0..5 {
                if dump.next(Duration::from_millis(5)).is_err() {
                    return;
                }
            }
        });
    }
}
