//! A server's log over a connection, from a server that says the right things, and from one that says anything.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::{
    GtidState, event_flags, format_description_event, gtid_list_event, rotate_event,
};
use narwal_engine::{Database, ReadStart, TableBuilder, TxnOptions};
use narwal_stream::{
    DatabaseSource, Error, Filter, NetworkOptions, NetworkSource, Next, Source, Start, Stream,
};
use narwal_types::{TypeKind, ValueRef};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::OnceLock;
use std::time::Duration;

/// The log of a small database, as a dump sends it, and what a stream of it gives.
struct Log {
    events: Vec<Vec<u8>>,
    records: Vec<String>,
}

fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let db = Database::open(dir.path()).unwrap();
        db.create_database("d").unwrap();
        let table = TableBuilder::new("d", "t")
            .column("id", TypeKind::Int, false)
            .column("v", TypeKind::VarChar(40), true)
            .primary_key(&["id"])
            .build()
            .unwrap();
        db.create_table(table).unwrap();
        let table = db.catalog().table("d", "t").unwrap().clone();
        for id in 0..3 {
            let mut t = db.begin(TxnOptions::default());
            for n in 0..2 {
                let row = [ValueRef::Int(id * 10 + n), ValueRef::Str(b"value")];
                t.insert(&table, table.row(&row).unwrap()).unwrap();
            }
            t.commit().unwrap();
        }
        let file = "narwal-bin.000001";
        let mut events = vec![
            rotate_event(4, file, 1, 0, 0, event_flags::ARTIFICIAL),
            format_description_event("10.11.0-MariaDB", 1, 1, 0, 256, 0),
            gtid_list_event(&GtidState::new(), 0, 1, 1, 285, 0),
        ];
        let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
        while reader.next_group().unwrap().is_some() {
            while let Some(event) = reader.next_event().unwrap() {
                events.push(event.to_vec());
            }
        }
        let source = DatabaseSource::open(&db, &Start::Beginning).unwrap();
        Log {
            events,
            records: records(source.only_what_is_there(true)).unwrap(),
        }
    })
}

fn records(source: impl Source) -> Result<Vec<String>, Error> {
    let mut stream = Stream::new(source, None, Filter::all());
    let mut out = Vec::new();
    loop {
        match stream.next(Duration::from_millis(300))? {
            Next::Record(record, place) => out.push(format!("{record:?} {place}")),
            Next::Committed(_) => {}
            Next::Idle | Next::End => return Ok(out),
        }
    }
}

fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    p.push(seq);
    p.extend_from_slice(payload);
    p
}

/// Serves the events to one replica that asks from the beginning.
fn served(events: Vec<Vec<u8>>) -> Result<Vec<String>, Error> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut s, _) = listener.accept().unwrap();
        s.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut buf = [0; 4096];
        let mut greeting = vec![10];
        greeting.extend_from_slice(
            b"10.11.0-MariaDB\0\x07\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15",
        );
        greeting.extend_from_slice(&[0; 10]);
        greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
        let _ = s.write_all(&packet(0, &greeting));
        // The login; heartbeat, checksum, capability, registration.
        for seq in [2, 1, 1, 1, 1] {
            let _ = s.read(&mut buf);
            let _ = s.write_all(&packet(seq, &[0, 0, 0, 2, 0, 0, 0]));
        }
        let _ = s.read(&mut buf);
        let mut seq = 1u8;
        for event in events {
            let _ = s.write_all(&packet(seq, &[&[0], &event[..]].concat()));
            seq = seq.wrapping_add(1);
        }
        let _ = s.write_all(&packet(seq, &[0xfe, 0, 0, 2, 0]));
    });
    let mut connect = narwal_client::Options::unix(&path).user("root", "");
    connect.read_timeout = Duration::from_secs(2);
    let mut options = NetworkOptions::new(connect);
    options.only_what_is_there = true;
    let result = NetworkSource::open(options, &Start::Beginning).and_then(records);
    server.join().unwrap();
    result
}

#[test]
fn it_is_what_the_server_itself_reads() {
    assert_eq!(served(log().events.clone()).unwrap(), log().records);
    assert_eq!(log().records.len(), 2 + 6);
}

#[test]
fn a_stream_that_breaks_off_is_lost_not_ended() {
    // In the midst of the last transaction.
    let mut events = log().events.clone();
    events.pop();
    assert!(matches!(served(events), Err(Error::Lost(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn events_that_make_no_sense_are_errors(
        at in 0usize..100,
        flips in prop::collection::vec((0usize..300, any::<u8>()), 0..4),
        cut in 0usize..400,
        left_out in 0usize..100,
    ) {
        let mut events = log().events.clone();
        let at = at % events.len();
        let event = &mut events[at];
        for (i, to) in flips {
            let i = i % event.len().max(1);
            event[i] = to;
        }
        if cut < 100 {
            event.truncate(cut);
        }
        if left_out < events.len() {
            events.remove(left_out);
        }
        let _ = served(events);
    }
}
