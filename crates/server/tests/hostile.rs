//! Bytes that no honest client sends, and clients that just sit there: an error or a closed connection, and the server
//! goes on serving.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::raw::{CAPS, Client, packet};
use common::{Running, start};
use narwal_server::auth;
use narwal_server::handshake::client_answer;
use narwal_server::protocol::{Capabilities as Cap, command};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn still_serves(r: &Running) {
    Client::login(r).ping();
}

fn wait_for(what: &str, mut f: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !f() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn hostile_handshakes() {
    let r = start();
    let good = client_answer(Cap(CAPS), "root", b"", None, auth::NATIVE);
    // Cut at every byte, as a whole packet and as a connection that breaks off.
    // (behind the user name and the length of the proof it is complete).
    for cut in 0..=32 + 5 {
        let mut c = Client::connect(&r);
        c.send(1, &good[..cut]);
        c.expect_error(1043);
        c.expect_closed();
        let mut c = Client::connect(&r);
        let whole = packet(1, &good);
        c.raw(&whole[..4 + cut]);
        drop(c);
    }
    // Wrong order, too long, garbage.
    let mut c = Client::connect(&r);
    c.send(0, &good);
    c.expect_error(1156);
    c.expect_closed();
    let mut c = Client::connect(&r);
    c.raw(&[0xFF, 0xFF, 0xFF, 1]);
    c.expect_error(1153);
    c.expect_closed();
    let mut c = Client::connect(&r);
    c.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    c.expect_closed();
    // An SSL request, then no TLS.
    let mut c = Client::connect(&r);
    let mut ssl = (CAPS | Cap::SSL.0).to_le_bytes().to_vec();
    ssl.resize(32, 0);
    c.send(1, &ssl);
    c.raw(&[0x55; 600]);
    let mut sink = Vec::new();
    let _ = c.s.read_to_end(&mut sink);
    still_serves(&r);
    wait_for("connections to end", || r.server.connections() == 0);
}

#[test]
fn a_slow_loris_is_cut_off() {
    let r = start();
    let mut c = Client::connect(&r);
    let began = Instant::now();
    let answer = packet(
        1,
        &client_answer(Cap(CAPS), "root", b"", None, auth::NATIVE),
    );
    for b in &answer {
        c.raw(&[*b]);
        std::thread::sleep(Duration::from_millis(100));
        if r.server.connections() == 0 {
            break;
        }
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "the deadline is for all of the handshake"
    );
    // And one that says nothing at all.
    let mut c = Client::connect(&r);
    c.expect_closed();
    still_serves(&r);
}

#[test]
fn hostile_commands() {
    let r = start();
    let mut c = Client::login(&r);
    c.send(0, b"");
    c.expect_error(1047);
    for unknown in [0u8, 5, 6, 8, 11, 13, 15, 16, 19, 20, 29, 32, 99, 0xFA, 255] {
        c.command(unknown, b"x");
        c.expect_error(1047);
    }
    for later in [
        command::BINLOG_DUMP,
        command::REGISTER_SLAVE,
        command::BINLOG_DUMP_GTID,
    ] {
        c.command(later, b"xxxxxxxxxxxxxxx");
        c.expect_error(1235);
    }
    c.command(command::STMT_FETCH, b"xxxxxxxx");
    c.expect_error(1243);
    // Commands cut short.
    for code in [
        command::STMT_EXECUTE,
        command::STMT_RESET,
        command::PROCESS_KILL,
        command::SET_OPTION,
    ] {
        c.command(code, b"\x01");
        c.expect_error(1835);
    }
    // These have no answer.
    c.command(command::STMT_CLOSE, b"\x01");
    c.command(command::STMT_CLOSE, &77u32.to_le_bytes());
    c.command(command::STMT_SEND_LONG_DATA, b"\x01");
    c.ping();
    let mut execute = 5u32.to_le_bytes().to_vec();
    execute.extend_from_slice(&[0, 1, 0, 0, 0]);
    c.command(command::STMT_EXECUTE, &execute);
    assert!(
        c.expect_error(1243)
            .contains("(5) given to mysqld_stmt_execute")
    );
    c.command(command::FIELD_LIST, b"t\0%");
    c.expect_error(1235);
    c.command(command::CHANGE_USER, b"ro");
    c.expect_error(1835);
    c.expect_closed();

    let mut c = Client::login(&r);
    c.send(3, &[command::PING]);
    c.expect_error(1156);
    c.expect_closed();
    still_serves(&r);
}

#[test]
fn packets_beyond_the_limit() {
    let r = start();
    // Exactly the limit passes; one more does not, and is never stored.
    let mut c = Client::login(&r);
    let mut query = vec![b' '; 1 << 20];
    query[0] = command::QUERY;
    c.send(0, &query);
    // It was read: there is just nothing in it to run.
    c.expect_error(1065);
    query.push(b' ');
    c.send(0, &query);
    c.expect_error(1153);
    c.expect_closed();
    still_serves(&r);
}

#[test]
fn who_still_writes_a_packet_that_is_too_long_finds_the_error() {
    let r = start();
    let mut c = Client::login(&r);
    // Far more than socket buffers hold: the server has decided while the client is still writing.
    let mut wire = packet(0, &vec![b' '; 12 << 20]);
    wire[4] = command::QUERY;
    c.s.write_all(&wire).unwrap();
    c.expect_error(1153);
    c.expect_closed();
}

#[test]
fn prepared_statements() {
    let r = start();
    let mut c = Client::login(&r);
    let id = c.prepare("echo ? ?");
    let mut run = id.to_le_bytes().to_vec();
    run.extend_from_slice(&[0, 1, 0, 0, 0]);
    let head = run.clone();
    run.extend_from_slice(&[0b10, 1, 3, 0, 253, 0, 7, 0, 0, 0]);
    c.command(command::STMT_EXECUTE, &run);
    assert_eq!(c.rows(), [b"\0\0\x06Int(7)\x04Null".to_vec()]);
    // Types stay bound; "the last statement" is MariaDB's -1.
    let mut again = u32::MAX.to_le_bytes().to_vec();
    again.extend_from_slice(&[0, 1, 0, 0, 0, 0b10, 0, 8, 0, 0, 0]);
    c.command(command::STMT_EXECUTE, &again);
    assert_eq!(c.rows(), [b"\0\0\x06Int(8)\x04Null".to_vec()]);
    // Long data wins over what the packet has, once.
    let mut long = id.to_le_bytes().to_vec();
    long.extend_from_slice(&[1, 0]);
    long.extend_from_slice(b"ab");
    c.command(command::STMT_SEND_LONG_DATA, &long);
    c.command(command::STMT_EXECUTE, &run);
    assert_eq!(c.rows(), [b"\0\0\x06Int(7)\x0dStr([97, 98])".to_vec()]);
    c.command(command::STMT_EXECUTE, &run);
    assert_eq!(c.rows(), [b"\0\0\x06Int(7)\x04Null".to_vec()]);
    // A statement that may not hold its rows sends them, cursor or not; there is nothing to fetch then.
    let mut cursor = run.clone();
    cursor[4] = 1;
    c.command(command::STMT_EXECUTE, &cursor);
    assert_eq!(c.rows(), [b"\0\0\x06Int(7)\x04Null".to_vec()]);
    let mut fetch = id.to_le_bytes().to_vec();
    fetch.extend_from_slice(&1u32.to_le_bytes());
    c.command(command::STMT_FETCH, &fetch);
    c.expect_error(1421);
    for cut in head.len()..run.len() {
        c.command(command::STMT_EXECUTE, &run[..cut]);
        c.expect_error(1835);
    }
    c.command(command::STMT_PREPARE, b"fail");
    c.expect_error(1064);
    c.command(command::STMT_EXECUTE, &again);
    c.expect_error(1243);
    c.command(command::STMT_RESET, &id.to_le_bytes());
    c.expect_ok();
    c.command(command::STMT_CLOSE, &id.to_le_bytes());
    c.command(command::STMT_EXECUTE, &run);
    c.expect_error(1243);

    // Every kind in binary: a row of values and one of NULLs.
    let id = c.prepare("select kinds");
    let mut run = id.to_le_bytes().to_vec();
    run.extend_from_slice(&[0, 1, 0, 0, 0]);
    c.command(command::STMT_EXECUTE, &run);
    let rows = c.rows();
    let mut want = vec![0, 0, 0, (-5i8) as u8];
    want.extend_from_slice(&(-300i16).to_le_bytes());
    want.extend_from_slice(&(-70_000i32).to_le_bytes());
    want.extend_from_slice(&i64::MIN.to_le_bytes());
    want.extend_from_slice(&1.5f64.to_le_bytes());
    want.extend_from_slice(&0.1f32.to_le_bytes());
    want.extend_from_slice(b"\x06-12.50\x06h\xc3\xa9llo\x02\x01\x02");
    want.extend_from_slice(&[
        4, 0xEA, 7, 2, 3, 7, 0xEA, 7, 2, 3, 1, 2, 3, 8, 1, 0, 0, 0, 0, 1, 2, 3,
    ]);
    assert_eq!(rows, [want, vec![0, 0b1111_1100, 0b0011_1111]]);

    // A reset forgets statements.
    c.command(command::RESET_CONNECTION, b"");
    c.expect_ok();
    c.command(command::STMT_EXECUTE, &run);
    c.expect_error(1243);
}

#[test]
fn other_commands() {
    let r = start();
    let mut c = Client::login(&r);
    c.command(command::INIT_DB, b"shop");
    c.expect_ok();
    c.command(command::QUERY, b"select db");
    assert_eq!(c.rows(), [b"\x04shop".to_vec()]);
    c.command(command::STATISTICS, b"");
    assert_eq!(c.read().unwrap().1, b"Uptime: 1");
    c.command(command::SET_OPTION, &1u16.to_le_bytes());
    assert_eq!(c.read().unwrap().1[0], 0xFE);
    c.command(command::SET_OPTION, &9u16.to_le_bytes());
    c.expect_error(1047);
    c.command(command::QUERY, b"failmid");
    let seen: Vec<_> = (0..5).map(|_| c.read().unwrap().1).collect();
    assert_eq!(seen[4][0], 0xFF, "an error in place of a row: {seen:?}");
    c.ping();
    // Another user on the same connection: with the password, then without it.
    let mut user = b"nat\0".to_vec();
    let proof = auth::native::answer(b"secret", &c.scramble);
    user.push(proof.len() as u8);
    user.extend_from_slice(&proof);
    user.extend_from_slice(b"other\0\x2d\0mysql_native_password\0");
    c.command(command::CHANGE_USER, &user);
    c.expect_ok();
    c.command(command::QUERY, b"select user");
    assert_eq!(c.rows(), [b"\x0dnat@localhost".to_vec()]);
    c.command(
        command::CHANGE_USER,
        b"nat\0\0\0\x2d\0mysql_native_password\0",
    );
    assert!(
        c.expect_error(1045)
            .contains("'nat'@'localhost' (using password: NO)")
    );
    c.expect_closed();
}

#[test]
fn pipelined_commands_are_answered_in_order() {
    let r = start();
    let mut c = Client::login(&r);
    let mut all = Vec::new();
    for _ in 0..50 {
        all.extend(packet(0, &[command::PING]));
    }
    c.raw(&all);
    (0..50).for_each(|_| c.expect_ok());
}

#[test]
fn a_panic_ends_only_its_connection() {
    let r = start();
    let mut other = Client::login(&r);
    let mut c = Client::login(&r);
    c.command(command::QUERY, b"panic");
    c.expect_error(1105);
    assert!(c.read().is_none());
    other.ping();
    still_serves(&r);
    drop(other);
    wait_for("connections to end", || r.server.connections() == 0);
    wait_for("sessions to end", || {
        r.fake.handles.lock().unwrap().is_empty()
    });
}

#[test]
fn kills_reach_a_running_and_an_idle_connection() {
    let r = start();
    let mut c = Client::login(&r);
    let kill = {
        let handles = r.fake.handles.lock().unwrap();
        handles.values().next().unwrap().clone()
    };
    c.command(command::QUERY, b"sleep");
    std::thread::sleep(Duration::from_millis(50));
    kill.kill_query();
    c.expect_error(1317);
    c.ping();
    c.command(command::QUERY, b"sleep");
    std::thread::sleep(Duration::from_millis(50));
    kill.kill_connection();
    c.expect_error(1317);
    c.expect_closed();

    let mut idle = Client::login(&r);
    wait_for("a session", || r.fake.handles.lock().unwrap().len() == 1);
    let kill = r
        .fake
        .handles
        .lock()
        .unwrap()
        .values()
        .next()
        .unwrap()
        .clone();
    kill.kill_connection();
    idle.expect_closed();
    wait_for("connections to end", || r.server.connections() == 0);
}

#[test]
fn idle_connections_are_closed() {
    let r = start();
    *r.fake.idle.lock().unwrap() = Duration::from_millis(200);
    let mut c = Client::login(&r);
    c.ping();
    c.expect_closed();
    wait_for("connections to end", || r.server.connections() == 0);
}

#[test]
fn the_end_is_quick_with_busy_idle_and_deaf_clients() {
    let mut r = start();
    let mut idle = Client::login(&r);
    let mut busy = Client::login(&r);
    busy.command(command::QUERY, b"sleep");
    // Does not read what it asked for.
    let mut deaf = Client::login(&r);
    deaf.command(command::QUERY, b"select rows 3000000");
    let half = Client::connect(&r);
    std::thread::sleep(Duration::from_millis(100));
    let began = Instant::now();
    assert_eq!(r.server.stop(Duration::from_secs(4)), 0);
    assert!(began.elapsed() < Duration::from_secs(4));
    idle.expect_closed();
    assert!(
        TcpStream::connect(r.addr()).is_err(),
        "nobody listens any more"
    );
    assert!(!r.socket().exists());
    drop(half);
}
