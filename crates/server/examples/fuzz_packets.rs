//! Seeded mutations of client conversations against the whole front, with a backend that answers without a database.
//!
//! `cargo run --release -p narwal-server --example fuzz_packets -- --seconds 30 --seed 1`
//!
//! Every case is a conversation (login, commands) that is damaged in a few places and sent in pieces. It fails when a
//! connection's thread panics, when memory grows beyond what the limits allow, when a connection does not end after its
//! client has gone, or when the server no longer serves. The seed of a failing case is printed; `--seed S --cases 1`
//! repeats it.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use narwal_server::handshake::client_answer;
use narwal_server::protocol::{Capabilities as Cap, command};
use narwal_server::{auth, server::connect_tcp};
use narwal_testkit::allocation::{Watch, Watched};
use narwal_testkit::fuzz;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Largest single allocation since the start of the case.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Sizes;

impl Watch for Sizes {
    fn took(bytes: usize) {
        LARGEST.fetch_max(bytes, Ordering::Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Watched<Sizes> = Watched::new();

const MAX_PACKET: usize = 64 * 1024;
/// A packet, the growth of its buffer, a result of some rows; nothing like a claimed 16 MiB.
const MAX_ALLOCATION: usize = 4 * MAX_PACKET;

fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    p.push(seq);
    p.extend_from_slice(payload);
    p
}

fn bytes(rng: &mut StdRng, max: usize) -> Vec<u8> {
    let n = rng.random_range(0..=max);
    (0..n).map(|_| rng.random()).collect()
}

fn execute(rng: &mut StdRng, id: u32, params: usize) -> Vec<u8> {
    let mut p = vec![command::STMT_EXECUTE];
    p.extend_from_slice(&id.to_le_bytes());
    p.extend_from_slice(&[0, 1, 0, 0, 0]);
    p.extend((0..params.div_ceil(8)).map(|_| rng.random::<u8>() & rng.random::<u8>()));
    p.push(1);
    let types = [
        1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 246, 252, 253, 254, 255,
    ];
    for _ in 0..params {
        p.push(types[rng.random_range(0..types.len())]);
        p.push(if rng.random() { 0x80 } else { 0 });
    }
    p.extend(bytes(rng, 64));
    p
}

/// A conversation as an honest client might hold it.
fn conversation(rng: &mut StdRng) -> Vec<Vec<u8>> {
    let caps = if rng.random_ratio(1, 3) {
        rng.random()
    } else {
        0x01BF_F7DFu32 & !Cap::SSL.0
    };
    let caps = Cap(caps | Cap::PROTOCOL_41.0);
    let user = ["root", "nat", "sha", "nobody"][rng.random_range(0..4)];
    let plugin = [auth::NATIVE, auth::SHA2, "odd"][rng.random_range(0..3)];
    let proof = if user == "root" {
        Vec::new()
    } else {
        bytes(rng, 32)
    };
    let user = if rng.random_ratio(2, 3) { "root" } else { user };
    let mut out = vec![packet(
        1,
        &client_answer(caps, user, &proof, Some("d"), plugin),
    )];
    for _ in 0..rng.random_range(0..12) {
        let p = match rng.random_range(0..14) {
            0 => b"\x03select kinds".to_vec(),
            1 => b"\x03select rows 100; update; select user".to_vec(),
            2 => b"\x16echo ? ? ?".to_vec(),
            3 | 4 => {
                let id = if rng.random() {
                    u32::MAX
                } else {
                    rng.random_range(0..4)
                };
                execute(rng, id, 3)
            }
            5 => {
                let mut p = vec![
                    command::STMT_SEND_LONG_DATA,
                    1,
                    0,
                    0,
                    0,
                    rng.random_range(0..4),
                    0,
                ];
                p.extend(bytes(rng, 3000));
                p
            }
            6 => vec![command::STMT_RESET, 1, 0, 0, 0],
            7 => vec![command::STMT_CLOSE, rng.random_range(0..3), 0, 0, 0],
            8 => vec![command::RESET_CONNECTION],
            9 => {
                let mut p = vec![command::CHANGE_USER];
                p.extend_from_slice(b"root\0\0d\0\x2d\0mysql_native_password\0");
                p.extend(bytes(rng, 20));
                p
            }
            10 => vec![command::SET_OPTION, rng.random_range(0..3), 0],
            11 => vec![command::FIELD_LIST, b't', 0, b'%'],
            12 => b"\x16select kinds".to_vec(),
            _ => {
                let mut p = vec![rng.random()];
                p.extend(bytes(rng, 40));
                p
            }
        };
        out.push(packet(0, &p));
    }
    out
}

fn mutate(rng: &mut StdRng, wire: &mut Vec<u8>) {
    for _ in 0..rng.random_range(0..4) {
        if wire.is_empty() {
            return;
        }
        let at = rng.random_range(0..wire.len());
        match rng.random_range(0..6) {
            0 => wire[at] ^= 1 << rng.random_range(0..8),
            1 => {
                wire[at] = [0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF][rng.random_range(0..9)]
            }
            2 => wire.truncate(at),
            3 => {
                let extra = bytes(rng, 20);
                wire.splice(at..at, extra);
            }
            4 => {
                let end = (at + rng.random_range(1..20)).min(wire.len());
                wire.drain(at..end);
            }
            _ => {
                let end = (at + rng.random_range(1..40)).min(wire.len());
                let copy = wire[at..end].to_vec();
                wire.splice(at..at, copy);
            }
        }
    }
}

fn case(seed: u64, r: &common::Running) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(seed);
    LARGEST.store(0, Ordering::Relaxed);
    let mut wire: Vec<u8> = conversation(&mut rng).concat();
    mutate(&mut rng, &mut wire);
    let mut s = connect_tcp(r.addr()).map_err(|e| format!("can't connect: {e}"))?;
    s.set_read_timeout(Some(Duration::from_secs(10)))
        .map_err(|e| e.to_string())?;
    let mut rest = &wire[..];
    while !rest.is_empty() {
        let n = rng.random_range(1..=rest.len());
        if s.write_all(&rest[..n]).is_err() {
            break;
        }
        rest = &rest[n..];
    }
    let _ = s.shutdown(Shutdown::Write);
    // Nothing is kept of the answer: what a client takes for a long one is not the server's memory.
    match std::io::copy(
        &mut Read::by_ref(&mut s).take(1 << 20),
        &mut std::io::sink(),
    ) {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(e) => return Err(format!("the connection does not end: {e}")),
    }
    if fuzz::panics() > 0 {
        return Err("a panic".into());
    }
    let largest = LARGEST.load(Ordering::Relaxed);
    if largest > MAX_ALLOCATION {
        return Err(format!("an allocation of {largest} bytes"));
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    let args = match fuzz::Args::read("fuzz_packets") {
        Ok(args) => args,
        Err(code) => return code,
    };
    // The fake backend has a statement that panics; what is looked for are panics of the front.
    fuzz::count_panics(|info| info.payload().downcast_ref::<&str>() == Some(&"asked to"));
    // Tables of character sets and collations are unpacked at their first use, once for the process: that is not what a packet takes.
    for set in narwal_types::Charset::ALL {
        set.has('é');
    }
    for collation in narwal_types::Collation::all() {
        collation.compare("é".as_bytes(), b"e");
    }
    let r = common::start();
    r.fake.limits.lock().unwrap().max_allowed_packet = MAX_PACKET;
    let until = Instant::now() + Duration::from_secs(args.seconds);
    let mut done = 0;
    while done < args.cases && Instant::now() < until {
        let this = args.seed.wrapping_add(done);
        if let Err(why) = case(this, &r) {
            println!("fuzz_packets: seed {this}: {why}");
            println!("again: --seed {this} --cases 1");
            return 1.into();
        }
        done += 1;
    }
    let patience = Instant::now() + Duration::from_secs(10);
    while r.server.connections() > 0 {
        if Instant::now() > patience {
            println!(
                "fuzz_packets: {} connections never ended",
                r.server.connections()
            );
            return 1.into();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    println!(
        "fuzz_packets: {done} conversations from seed {}: no fault",
        args.seed
    );
    0.into()
}
