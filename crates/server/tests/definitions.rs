//! MARIADB_CLIENT_CACHE_METADATA: a prepared statement's column definitions are sent again only if they have changed.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::raw::Client;
use common::start;
use narwal_server::protocol::{command, mariadb_capability};

/// The packets of a result set of `rows` rows: its head, then how many came up to and with the last EOF.
fn result(c: &mut Client, code: u8, body: &[u8], rows: usize) -> (Vec<u8>, usize) {
    c.command(code, body);
    let (_, head) = c.read().unwrap();
    assert!(head[0] != 0xFF, "{}", String::from_utf8_lossy(&head));
    let (mut packets, mut ends) = (0, 0);
    while ends < 2 {
        let (seq, p) = c.read().unwrap();
        packets += 1;
        assert_eq!(usize::from(seq), packets + 1);
        ends += usize::from(p[0] == 0xFE && p.len() < 9);
    }
    (head, packets - rows - 2)
}

fn execute(c: &mut Client, id: u32, rows: usize) -> (Vec<u8>, usize) {
    let mut body = id.to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 1, 0, 0, 0]);
    result(c, command::STMT_EXECUTE, &body, rows)
}

#[test]
fn definitions_that_the_client_has_are_left_out() {
    let r = start();
    let mut c = Client::login_with(&r, mariadb_capability::CACHE_METADATA | 1);
    let kinds = c.prepare("select kinds");
    for _ in 0..2 {
        assert_eq!(execute(&mut c, kinds, 2), (vec![12, 0], 0));
    }
    // Its preparation told nothing of this one's column.
    let rows = c.prepare("select rows 3");
    assert_eq!(execute(&mut c, rows, 3), (vec![1, 1], 1));
    assert_eq!(execute(&mut c, rows, 3), (vec![1, 0], 0));
    assert_eq!(execute(&mut c, kinds, 2), (vec![12, 0], 0));
    // Text results always have them, and say so.
    for _ in 0..2 {
        let text = result(&mut c, command::QUERY, b"select kinds", 2);
        assert_eq!(text, (vec![12, 1], 12));
    }
    // Statements that a reset has forgotten, prepared again.
    c.command(command::RESET_CONNECTION, b"");
    c.expect_ok();
    let rows = c.prepare("select rows 3");
    assert_eq!(execute(&mut c, rows, 3), (vec![1, 1], 1));
}

#[test]
fn others_always_get_them() {
    let r = start();
    let mut c = Client::login(&r);
    let kinds = c.prepare("select kinds");
    for _ in 0..2 {
        assert_eq!(execute(&mut c, kinds, 2), (vec![12], 12));
    }
}
