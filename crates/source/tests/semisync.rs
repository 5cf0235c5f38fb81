//! Semi-synchronous replication without connections: who must acknowledge what, and what nobody may say.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::Gtid;
use narwal_engine::{Database, Gate, Options, TableBuilder, TxnOptions};
use narwal_log::sim::SimDisk;
use narwal_source::{GroupEnd, SemiSync, SemiSyncReader, WaitPoint};
use narwal_types::{TypeKind, ValueRef};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::time::Duration;

fn database() -> Database {
    let db = Database::open_with(
        "/d",
        Options {
            disk: Arc::new(SimDisk::new()),
            background: false,
            ..Options::default()
        },
    )
    .unwrap();
    db.create_database("d").unwrap();
    let table = TableBuilder::new("d", "t")
        .column("id", TypeKind::BigInt, false)
        .primary_key(&["id"]);
    db.create_table(table.build().unwrap()).unwrap();
    db
}

fn enabled(db: &Database, replicas: u32) -> SemiSync {
    let semi = SemiSync::new(db.clone());
    semi.set(|s| {
        s.enabled = true;
        s.timeout = Duration::from_secs(100_000);
        s.wait_point = WaitPoint::AfterSync;
        s.replicas = replicas;
    });
    assert_eq!(db.gate(), Gate::Visibility);
    semi
}

fn insert(db: &Database, id: i64) {
    let catalog = db.catalog();
    let table = catalog.table("d", "t").unwrap();
    let mut t = db.begin(TxnOptions::default());
    t.insert(table, table.row(&[ValueRef::Int(id)]).unwrap())
        .unwrap();
    t.commit().unwrap();
}

/// Commits in threads that wait, until the gate holds all of them; the place of each.
fn held(
    db: &Database,
    ids: std::ops::Range<i64>,
) -> (Vec<std::thread::JoinHandle<()>>, Vec<GroupEnd>) {
    let (mut threads, mut places) = (Vec::new(), Vec::new());
    for id in ids {
        let before = db.held().commits;
        let other = db.clone();
        threads.push(std::thread::spawn(move || insert(&other, id)));
        while db.held().commits == before {
            std::thread::yield_now();
        }
        let at = db.binlog_position();
        places.push(GroupEnd {
            file_no: 1,
            end_pos: at.offset,
            seq: db.held().last,
            gtid: Gtid::default(),
        });
    }
    (threads, places)
}

fn packet(db: &Database, place: &GroupEnd) -> Vec<u8> {
    let mut p = vec![0xef];
    p.extend_from_slice(&place.end_pos.to_le_bytes());
    p.extend_from_slice(db.binlog_file_name(place.file_no).as_bytes());
    p
}

fn sent(reader: &mut SemiSyncReader, places: &[GroupEnd]) -> Vec<bool> {
    places.iter().map(|p| reader.wants_ack(p)).collect()
}

#[test]
fn an_acknowledgement_counts_for_what_is_before_it_and_is_asked_for_once() {
    let db = database();
    let semi = enabled(&db, 1);
    let mut reader = semi.attach(7);
    let old = GroupEnd {
        file_no: 1,
        end_pos: 400,
        seq: 1,
        gtid: Gtid::default(),
    };
    assert!(!reader.wants_ack(&old), "visible before it was enabled");
    let (threads, places) = held(&db, 1..4);
    assert_eq!(sent(&mut reader, &places), [true; 3]);
    let before = db.visible_seq();
    reader.ack_packet(&packet(&db, &places[1])).unwrap();
    assert_eq!(db.visible_seq(), before + 2);
    // Said before, by it or by a cover: nothing.
    reader.ack_packet(&packet(&db, &places[0])).unwrap();
    reader.ack_packet(&packet(&db, &places[1])).unwrap();
    // Another replica need not say what one has said.
    let mut other = semi.attach(8);
    assert_eq!(sent(&mut other, &places), [false, false, true]);
    other.ack_packet(&packet(&db, &places[2])).unwrap();
    for t in threads {
        t.join().unwrap();
    }
    let s = semi.status();
    assert_eq!((s.on, s.clients, s.yes_tx, s.no_tx), (true, 2, 3, 0));
    assert_eq!((s.asked, s.received, s.requested), (4, 4, 3));
}

#[test]
fn as_many_different_replicas_as_are_wanted() {
    let db = database();
    let semi = enabled(&db, 2);
    let mut one = semi.attach(1);
    let mut again = semi.attach(1);
    let mut two = semi.attach(2);
    assert_eq!(semi.status().clients, 2);
    let (threads, places) = held(&db, 1..3);
    for r in [&mut one, &mut again, &mut two] {
        sent(r, &places);
    }
    one.ack_packet(&packet(&db, &places[1])).unwrap();
    again.ack_packet(&packet(&db, &places[1])).unwrap();
    assert_eq!(db.held().commits, 2, "the same replica twice");
    drop(one);
    two.ack_packet(&packet(&db, &places[0])).unwrap();
    assert_eq!(db.held().commits, 1);
    semi.set(|s| s.replicas = 1);
    assert_eq!(db.held().commits, 0, "one has both");
    for t in threads {
        t.join().unwrap();
    }
}

#[test]
fn what_a_replica_has_is_known_when_it_is_at_the_end() {
    let db = database();
    let semi = enabled(&db, 1);
    let (threads, places) = held(&db, 1..3);
    // It was sent the second one, and has not said that it has it.
    let mut reader = semi.attach(7);
    reader.skipped(places[0].seq);
    assert!(reader.wants_ack(&places[1]));
    let end = reader.wants_end().unwrap();
    assert_eq!(end, places[1].seq);
    reader.at_end(end, db.durable_lsn());
    assert_eq!(db.held().commits, 2);
    drop(reader);
    // It is back, and asks for nothing more.
    let mut reader = semi.attach(7);
    let end = reader.wants_end().unwrap();
    reader.at_end(end, db.durable_lsn() - 1);
    assert_eq!(
        db.held().commits,
        2,
        "there is something that it was not sent"
    );
    reader.at_end(end, db.durable_lsn());
    assert_eq!(db.held().commits, 0);
    assert_eq!(reader.wants_end(), None);
    for t in threads {
        t.join().unwrap();
    }
}

#[test]
fn off_by_time_and_on_again_by_a_replica_that_has_caught_up() {
    let db = database();
    let semi = enabled(&db, 1);
    let mut reader = semi.attach(7);
    let (threads, places) = held(&db, 1..3);
    sent(&mut reader, &places);
    semi.set(|s| s.timeout = Duration::ZERO);
    for t in threads {
        t.join().unwrap();
    }
    let s = semi.status();
    assert_eq!((s.on, s.no_tx, s.no_times, s.yes_tx), (false, 2, 1, 0));
    assert_eq!(db.gate(), Gate::Open);
    insert(&db, 100);
    assert_eq!(semi.status().no_tx, 3);
    semi.set(|s| s.timeout = Duration::from_secs(100_000));
    assert!(!semi.status().on, "a setting is no replica");
    reader.ack_packet(&packet(&db, &places[1])).unwrap();
    assert!(semi.status().on, "it lacks one transaction");
    assert_eq!(db.gate(), Gate::Visibility);
    semi.set(|s| s.enabled = false);
    assert_eq!((semi.status().no_times, semi.status().no_tx), (2, 3));
}

/// Whatever comes instead of an acknowledgement: an error or nothing, never a panic, and nothing passes that was not
/// acknowledged.
#[test]
fn random_acknowledgements() {
    let db = database();
    let semi = enabled(&db, 1);
    let (threads, places) = held(&db, 1..6);
    let before = db.visible_seq();
    for seed in 0..3000 {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut reader = semi.attach(7);
        let n = rng.random_range(0..places.len());
        sent(&mut reader, &places[..n]);
        let mut bytes = packet(&db, &places[rng.random_range(0..places.len())]);
        match rng.random_range(0..4) {
            0 => bytes.truncate(rng.random_range(0..bytes.len())),
            1 => {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
            }
            2 => bytes.extend((0..rng.random_range(1..600)).map(|_| rng.random::<u8>())),
            _ => bytes = (0..rng.random_range(0..64)).map(|_| rng.random()).collect(),
        }
        let whole = places[..n].iter().any(|p| packet(&db, p) == bytes);
        // A NUL behind the name is no harm.
        let whole = whole
            || places[..n]
                .iter()
                .any(|p| [packet(&db, p), vec![0]].concat() == bytes);
        if !whole {
            let _ = reader.ack_packet(&bytes);
            assert_eq!(db.visible_seq(), before, "seed {seed}: {bytes:?}");
        }
    }
    semi.set(|s| s.enabled = false);
    for t in threads {
        t.join().unwrap();
    }
}
