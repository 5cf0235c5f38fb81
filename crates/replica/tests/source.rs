//! What a source sends, well-formed and hostile: groups come out whole, once and in order, or there is an error; never a
//! panic, never memory for what did not come. `NARWAL_SEEDS` says how many hostile streams, `NARWAL_SEED` repeats one.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::{
    ContentHasher, EventHeader, EventReader, FDE_LEN, Gtid, GtidState, event_flags, event_type,
    format_description_event, gtid_list_event, heartbeat_event, rotate_event,
};
use narwal_replica::assemble::{Assembler, Broken, Contents, Fault, Rules, Seen, SourcePosition};
use narwal_replica::queue::{Item, PushError};
use narwal_session::replica::ConnectionConfig;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SOURCE: u32 = 1;
const ME: u32 = 2;
const INCIDENT: u8 = 26;

/// A source's log as it is sent.
struct Stream {
    file: String,
    pos: u64,
    packets: Vec<Vec<u8>>,
    checksums: bool,
}

fn gtid(domain: u32, server: u32, seq: u64) -> Gtid {
    Gtid {
        domain,
        server,
        seq,
    }
}

fn event(
    kind: u8,
    server: u32,
    timestamp: u32,
    end: u64,
    flags: u16,
    body: &[u8],
    sum: bool,
) -> Vec<u8> {
    let header = EventHeader {
        timestamp,
        event_type: kind,
        server_id: server,
        event_size: (19 + body.len() + if sum { 4 } else { 0 }) as u32,
        end_log_pos: end as u32,
        flags,
    };
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend_from_slice(body);
    if sum {
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
    }
    bytes
}

impl Stream {
    /// As Narwal and MariaDB begin: ROTATE, format description, GTID list.
    fn new() -> Self {
        let mut s = Stream {
            file: "bin.000001".into(),
            pos: 4,
            packets: Vec::new(),
            checksums: true,
        };
        s.head();
        s
    }

    fn head(&mut self) {
        self.pos = 4;
        self.packets.push(rotate_event(
            4,
            &self.file,
            SOURCE,
            0,
            0,
            event_flags::ARTIFICIAL,
        ));
        self.pos += FDE_LEN as u64;
        self.packets.push(format_description_event(
            "10.11.0-MariaDB",
            SOURCE,
            0,
            0,
            self.pos as u32,
            0,
        ));
        let list = gtid_list_event(&GtidState::new(), 0, SOURCE, 0, 0, 0);
        self.pos += list.len() as u64;
        self.packets.push(gtid_list_event(
            &GtidState::new(),
            0,
            SOURCE,
            0,
            self.pos as u32,
            0,
        ));
    }

    fn next_file(&mut self) {
        let number: u32 = self.file.rsplit_once('.').unwrap().1.parse().unwrap();
        self.file = format!("bin.{:06}", number + 1);
        let rotate = rotate_event(4, &self.file, SOURCE, 7, self.pos as u32 + 40, 0);
        self.packets.push(rotate);
        self.head();
    }

    fn put(&mut self, kind: u8, server: u32, body: &[u8]) {
        let size = 19 + body.len() as u64 + if self.checksums { 4 } else { 0 };
        self.pos += size;
        self.packets
            .push(event(kind, server, 1000, self.pos, 0, body, self.checksums));
    }

    fn begin(&mut self, g: Gtid, flags2: u8) {
        let mut body = g.seq.to_le_bytes().to_vec();
        body.extend_from_slice(&g.domain.to_le_bytes());
        body.push(flags2);
        body.extend_from_slice(&[0; 6]);
        self.put(event_type::GTID, g.server, &body);
    }

    fn query(&mut self, server: u32, sql: &str) {
        let mut body = vec![0; 13];
        body.push(0);
        body.extend_from_slice(sql.as_bytes());
        self.put(event_type::QUERY, server, &body);
    }

    /// A transaction of so many events of so many bytes.
    fn transaction(&mut self, g: Gtid, events: usize, len: usize) {
        self.begin(g, 0x0c);
        for _ in 0..events {
            self.put(event_type::WRITE_ROWS_V1, g.server, &vec![0x55; len]);
        }
        self.put(event_type::XID, g.server, &9u64.to_le_bytes());
    }

    fn ddl(&mut self, g: Gtid) {
        self.begin(g, 0x29);
        self.query(g.server, "CREATE TABLE t(a INT)");
    }
}

fn rules() -> Rules {
    Rules {
        server_id: ME,
        config: Arc::new(ConnectionConfig::default()),
        strict: true,
        stop_at_gaps: true,
        stream_threshold: 4096,
        domain: 0,
        narwal: true,
        pass_incident: false,
        own: BTreeMap::new(),
        contents: None,
    }
}

/// What a receiver hands on.
#[derive(Default)]
struct Got {
    items: Vec<Item>,
    seen: Vec<Seen>,
    fault: Option<Fault>,
}

impl Got {
    fn take(&mut self, a: &mut Assembler, packets: &[Vec<u8>]) {
        for p in packets {
            let items = &mut self.items;
            match a.event(p, false, &mut |i| {
                items.push(i);
                Ok(())
            }) {
                Ok(seen) => self.seen.push(seen),
                Err(Broken::Fault(f)) => {
                    self.fault = Some(f);
                    break;
                }
                Err(Broken::Queue(e)) => panic!("{e:?}"),
            }
        }
    }

    fn abandon(&mut self, a: &mut Assembler) {
        let items = &mut self.items;
        a.abandon(&mut |i| {
            items.push(i);
            Ok(())
        })
        .unwrap();
    }

    /// Groups that were handed on, whole ones and those in parts.
    fn groups(&self) -> Vec<Gtid> {
        self.items
            .iter()
            .filter_map(|i| match i {
                Item::Group { head, .. } | Item::End { head } => Some(head.gtid),
                _ => None,
            })
            .collect()
    }

    fn stop(&self) -> Option<(u16, &str)> {
        match self.items.last() {
            Some(Item::Stop { code, text, .. }) => Some((*code, text)),
            _ => None,
        }
    }
}

fn receive(rules: Rules, place: SourcePosition, s: &Stream) -> (Got, Assembler) {
    let mut a = Assembler::new(rules, place);
    let mut got = Got::default();
    got.take(&mut a, &s.packets);
    (got, a)
}

fn behind(gtids: &[Gtid]) -> SourcePosition {
    SourcePosition {
        gtids: gtids.iter().map(|g| (g.domain, *g)).collect(),
        ..SourcePosition::default()
    }
}

/// The items are what an applier can take: parts belong together, events can be read.
fn check(items: &[Item]) {
    let mut open = false;
    let read = |events: &[u8]| {
        let mut n = 0;
        for e in EventReader::new(events).without_checksums() {
            e.unwrap();
            n += 1;
        }
        assert!(n > 0, "events without an event");
    };
    for i in items {
        match i {
            Item::Group { events, head } => {
                assert!(!open && head.end_pos > 0);
                read(events);
            }
            Item::Begin { .. } => assert!(!std::mem::replace(&mut open, true)),
            Item::Events(events) => {
                assert!(open);
                read(events);
            }
            Item::End { .. } | Item::Abandon => assert!(std::mem::replace(&mut open, false)),
            Item::Position { .. } | Item::Stop { .. } => assert!(!open),
        }
    }
    assert!(!open, "a group that does not end");
}

#[test]
fn groups_come_out_whole() {
    let mut s = Stream::new();
    s.transaction(gtid(0, SOURCE, 1), 2, 100);
    s.ddl(gtid(0, SOURCE, 2));
    s.begin(gtid(1, 7, 40), 0x08);
    s.put(event_type::WRITE_ROWS_V1, 7, &[1; 30]);
    s.query(7, "COMMIT");
    s.next_file();
    s.transaction(gtid(0, SOURCE, 3), 1, 10);
    let (got, a) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.fault, None);
    check(&got.items);
    let all = [gtid(0, 1, 1), gtid(0, 1, 2), gtid(1, 7, 40), gtid(0, 1, 3)];
    assert_eq!(got.groups(), all);
    assert_eq!(a.place().gtid_text(), "0-1-3,1-7-40");
    assert_eq!((&*a.place().file, a.place().pos), ("bin.000002", s.pos));
    let heads: Vec<_> = got
        .items
        .iter()
        .filter_map(|i| match i {
            Item::Group { head, .. } => Some(head),
            _ => None,
        })
        .collect();
    // The first groups of their files.
    let begins: Vec<_> = heads.iter().map(|h| h.begins_file).collect();
    assert_eq!(begins, [Some(1), None, None, Some(2)]);
    let standalone: Vec<_> = heads.iter().map(|h| h.standalone).collect();
    assert_eq!(standalone, [false, true, false, false]);
    // GTID event, two rows events, XID, with their checksums.
    assert_eq!(heads[0].bytes, 42 + 2 * 123 + 31);
}

#[test]
fn a_large_group_comes_in_parts() {
    let mut s = Stream::new();
    s.transaction(gtid(0, SOURCE, 1), 50, 500);
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    check(&got.items);
    let parts = got
        .items
        .iter()
        .filter(|i| matches!(i, Item::Events(_)))
        .count();
    assert!(parts >= 5, "{parts}");
    match got.items.last() {
        Some(Item::End { head }) => {
            assert_eq!((head.bytes, head.end_pos), (42 + 50 * 523 + 31, s.pos));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_link_that_breaks_loses_and_doubles_nothing() {
    let mut s = Stream::new();
    for seq in 1..=20 {
        let n = if seq % 5 == 0 { 30 } else { 2 };
        s.transaction(gtid(0, SOURCE, seq), n, 300);
    }
    for cut in 0..s.packets.len() {
        let mut a = Assembler::new(rules(), SourcePosition::default());
        let mut got = Got::default();
        got.take(&mut a, &s.packets[..cut]);
        got.abandon(&mut a);
        let done = got.groups();
        // The source goes on behind what was received: head of the file, then the next group.
        let place = a.place().clone();
        assert_eq!(place.gtids.get(&0).map_or(0, |g| g.seq), done.len() as u64);
        let mut rest = Stream::new();
        for seq in done.len() as u64 + 1..=20 {
            rest.transaction(gtid(0, SOURCE, seq), 2, 300);
        }
        let mut b = Assembler::new(rules(), place);
        got.take(&mut b, &rest.packets);
        assert_eq!(got.fault, None);
        check(&got.items);
        let seqs: Vec<u64> = got.groups().iter().map(|g| g.seq).collect();
        assert_eq!(seqs, (1..=20).collect::<Vec<_>>(), "cut at {cut}");
    }
}

#[test]
fn what_is_left_out_moves_the_position() {
    let mut s = Stream::new();
    s.transaction(gtid(0, ME, 1), 1, 10);
    s.transaction(gtid(0, 9, 2), 40, 500);
    s.transaction(gtid(5, SOURCE, 1), 1, 10);
    s.transaction(gtid(0, SOURCE, 3), 1, 10);
    s.begin(gtid(0, SOURCE, 4), 0x0c);
    for _ in 0..30 {
        s.put(event_type::WRITE_ROWS_V1, SOURCE, &[3; 400]);
    }
    s.query(SOURCE, "ROLLBACK");
    let config = ConnectionConfig {
        ignore_server_ids: BTreeSet::from([9]),
        ignore_domain_ids: BTreeSet::from([5]),
        ..ConnectionConfig::default()
    };
    let r = Rules {
        config: Arc::new(config),
        ..rules()
    };
    let (got, a) = receive(r, SourcePosition::default(), &s);
    check(&got.items);
    assert_eq!(got.groups(), [gtid(0, SOURCE, 3)]);
    let passed: Vec<Gtid> = got
        .items
        .iter()
        .filter_map(|i| match i {
            Item::Position { gtid, .. } => *gtid,
            _ => None,
        })
        .collect();
    assert_eq!(
        passed,
        [gtid(0, ME, 1), gtid(0, 9, 2), gtid(5, 1, 1), gtid(0, 1, 4)]
    );
    assert_eq!(a.place().gtid_text(), "0-1-4,5-1-1");
}

#[test]
fn sequence_numbers_that_do_not_follow() {
    let stream = |seqs: &[u64]| {
        let mut s = Stream::new();
        for &seq in seqs {
            s.transaction(gtid(0, SOURCE, seq), 1, 10);
        }
        s
    };
    let start = || behind(&[gtid(0, SOURCE, 10)]);
    // Going back.
    let (got, a) = receive(rules(), start(), &stream(&[11, 11, 12]));
    assert_eq!(got.groups(), [gtid(0, 1, 11)]);
    let (code, text) = got.stop().unwrap();
    assert_eq!(code, 1950);
    assert!(text.contains("0-1-11"), "{text}");
    assert!(a.is_parked());
    assert_eq!(a.place().gtid_text(), "0-1-11");
    // A gap.
    let (got, _) = receive(rules(), start(), &stream(&[11, 15]));
    let (code, text) = got.stop().unwrap();
    assert_eq!(code, 1950);
    assert!(
        text.contains("0-1-15") && text.contains("0-1-11") && text.contains("3 GTIDs"),
        "{text}"
    );
    // The first group of a domain may have any number.
    let (got, _) = receive(rules(), SourcePosition::default(), &stream(&[11, 12]));
    assert_eq!(got.groups().len(), 2);
    // Neither is refused where the settings say so.
    let r = Rules {
        strict: false,
        stop_at_gaps: false,
        ..rules()
    };
    let (got, _) = receive(r, start(), &stream(&[11, 15, 12]));
    assert_eq!(got.groups().len(), 3);
    // This server has committed something itself.
    let r = Rules {
        own: BTreeMap::from([(0, gtid(0, ME, 12))]),
        ..rules()
    };
    let (got, _) = receive(r, start(), &stream(&[11]));
    let (code, text) = got.stop().unwrap();
    assert_eq!(code, 1950);
    assert!(text.contains("0-1-11") && text.contains("0-2-12"), "{text}");
}

#[test]
fn a_gtid_that_this_server_has_is_compared() {
    let mut s = Stream::new();
    s.ddl(gtid(0, SOURCE, 5));
    let mut hasher = ContentHasher::new();
    for event in EventReader::new(&s.packets.last().unwrap().clone()) {
        hasher.event(&event.unwrap()).unwrap();
    }
    let same = hasher.finish();
    let other = ContentHasher::new().finish();
    for (here, word) in [(same, "the same content"), (other, "other content")] {
        let r = Rules {
            contents: Some(Contents(Arc::new(move |g| {
                (g == gtid(0, SOURCE, 5)).then_some(here)
            }))),
            ..rules()
        };
        let (got, _) = receive(r, behind(&[gtid(0, SOURCE, 5)]), &s);
        let (code, text) = got.stop().unwrap();
        assert!(code == 1950 && text.contains(word), "{text}");
    }
}

#[test]
fn what_prepares_an_xa_transaction_ends_its_group() {
    let mut s = Stream::new();
    s.begin(gtid(0, SOURCE, 1), 0x4c);
    s.put(event_type::WRITE_ROWS_V1, SOURCE, &[1; 30]);
    s.put(event_type::XA_PREPARE, SOURCE, &[0; 20]);
    s.transaction(gtid(0, SOURCE, 2), 1, 10);
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.groups(), [gtid(0, 1, 1), gtid(0, 1, 2)]);
    assert_eq!(got.stop(), None);
}

#[test]
fn what_can_not_be_applied_stops_the_applier() {
    let mut s = Stream::new();
    s.put(INCIDENT, SOURCE, b"\x01\0\x04LOST");
    s.transaction(gtid(0, SOURCE, 1), 1, 10);
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    let (code, text) = got.stop().unwrap();
    assert!(code == 1590 && text.contains("LOST"), "{text}");
    let r = Rules {
        pass_incident: true,
        ..rules()
    };
    let (got, _) = receive(r, SourcePosition::default(), &s);
    assert_eq!(got.groups(), [gtid(0, 1, 1)]);
}

#[test]
fn an_incomplete_group_of_a_source_that_crashed_is_left_out() {
    let mut s = Stream::new();
    s.begin(gtid(0, SOURCE, 1), 0x0c);
    for _ in 0..20 {
        s.put(event_type::WRITE_ROWS_V1, SOURCE, &[3; 400]);
    }
    s.next_file();
    s.transaction(gtid(0, SOURCE, 1), 1, 10);
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.fault, None);
    check(&got.items);
    assert!(got.items.contains(&Item::Abandon));
    assert_eq!(got.groups(), [gtid(0, 1, 1)]);
}

#[test]
fn heartbeats_move_the_position_but_not_elsewhere() {
    let mut s = Stream::new();
    s.packets.push(heartbeat_event(&s.file, SOURCE, 5000));
    let (got, a) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.seen.last(), Some(&Seen::Heartbeat));
    assert_eq!(a.place().pos, 5000);
    assert!(matches!(
        got.items.last(),
        Some(Item::Position {
            pos: 5000,
            gtid: None,
            ..
        })
    ));
    s.packets.push(heartbeat_event("bin.000009", SOURCE, 6000));
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.fault.unwrap().code, 1623);
}

#[test]
fn a_wrong_checksum_is_an_error_and_none_are_fine() {
    let mut s = Stream::new();
    s.transaction(gtid(0, SOURCE, 1), 1, 50);
    for i in 1..s.packets.len() {
        for at in [0, 20, s.packets[i].len() - 1] {
            let mut damaged = Stream::new();
            damaged.packets.clone_from(&s.packets);
            damaged.packets[i][at] ^= 4;
            let (got, _) = receive(rules(), SourcePosition::default(), &damaged);
            assert!(got.fault.is_some(), "packet {i}, byte {at}");
        }
    }
    let mut s = Stream::new();
    s.checksums = false;
    let n = s.packets[1].len();
    // The format description says so, and has one itself.
    s.packets[1][n - 5] = 0;
    let crc = crc32fast::hash(&s.packets[1][..n - 4]);
    s.packets[1][n - 4..].copy_from_slice(&crc.to_le_bytes());
    s.packets.truncate(2);
    s.transaction(gtid(0, SOURCE, 1), 3, 50);
    let (got, _) = receive(rules(), SourcePosition::default(), &s);
    assert_eq!(got.fault, None);
    check(&got.items);
    assert_eq!(got.groups().len(), 1);
}

#[test]
fn a_queue_that_takes_nothing_ends_the_link() {
    let mut s = Stream::new();
    s.transaction(gtid(0, SOURCE, 1), 50, 500);
    let mut a = Assembler::new(rules(), SourcePosition::default());
    let mut begun = false;
    let mut ended = None;
    for p in &s.packets {
        let result = a.event(p, false, &mut |i| match i {
            Item::Begin { .. } => {
                begun = true;
                Ok(())
            }
            Item::Events(_) => Err(PushError::Stopped),
            _ => Ok(()),
        });
        if let Err(e) = result {
            ended = Some(e);
            break;
        }
    }
    assert_eq!(ended, Some(Broken::Queue(PushError::Stopped)));
    assert!(begun);
    // The applier is told all the same.
    let mut last = None;
    a.abandon(&mut |i| {
        last = Some(i);
        Ok(())
    })
    .unwrap();
    assert_eq!(last, Some(Item::Abandon));
}

/// A stream of everything that there is, partly nonsense.
fn random_stream(rng: &mut StdRng) -> Vec<Vec<u8>> {
    let mut s = Stream::new();
    let mut seq = 0;
    for _ in 0..rng.random_range(1..30) {
        let server = if rng.random_bool(0.1) { ME } else { SOURCE };
        seq += if rng.random_bool(0.05) {
            rng.random_range(0..5)
        } else {
            1
        };
        let g = gtid(rng.random_range(0..2), server, seq);
        match rng.random_range(0..12) {
            0 => s.ddl(g),
            1 => s.next_file(),
            2 => s
                .packets
                .push(heartbeat_event(&s.file, SOURCE, s.pos as u32)),
            3 => {
                s.begin(g, rng.random());
                s.put(event_type::WRITE_ROWS_V1, server, &[0; 40]);
                s.query(
                    server,
                    ["COMMIT", "ROLLBACK", "SAVEPOINT a", ""][rng.random_range(0..4)],
                );
            }
            4 => s.put(
                rng.random(),
                server,
                &vec![rng.random(); rng.random_range(0..60)],
            ),
            5 => {
                // A statement that was compressed, or says so: up to what it claims to be.
                let mut body = vec![0; 14];
                let n = rng.random_range(1..5u8);
                body.push(0x80 | n);
                body.extend((0..n).map(|_| rng.random::<u8>()));
                body.extend((0..20).map(|_| rng.random::<u8>()));
                s.begin(g, 0x29);
                s.put(165, server, &body);
            }
            _ => s.transaction(g, rng.random_range(0..20), rng.random_range(0..900)),
        }
    }
    let mut packets = s.packets;
    for _ in 0..rng.random_range(0..4) {
        let i = rng.random_range(0..packets.len());
        match rng.random_range(0..5) {
            0 => drop(packets.remove(i)),
            1 => packets.insert(i, packets[i].clone()),
            2 => {
                let n = rng.random_range(0..=packets[i].len());
                packets[i].truncate(n);
            }
            3 => {
                let j = rng.random_range(0..packets.len());
                packets.swap(i, j);
            }
            _ => {
                // Damage that its own checksum does not show.
                let p = &mut packets[i];
                if p.len() > 27 {
                    let at = rng.random_range(0..p.len() - 4);
                    p[at] = rng.random();
                    let n = p.len();
                    let crc = crc32fast::hash(&p[..n - 4]);
                    p[n - 4..].copy_from_slice(&crc.to_le_bytes());
                }
            }
        }
        if packets.is_empty() {
            break;
        }
    }
    packets
}

fn hostile_case(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let packets = random_stream(&mut rng);
    let sent: usize = packets.iter().map(Vec::len).sum();
    let mut a = Assembler::new(rules(), SourcePosition::default());
    let mut got = Got::default();
    got.take(&mut a, &packets);
    got.abandon(&mut a);
    check(&got.items);
    let groups = got.groups();
    let mut last = BTreeMap::new();
    for g in &groups {
        let before = last.insert(g.domain, g.seq);
        assert!(
            before.is_none_or(|b| b < g.seq),
            "seed {seed}: {g} after {before:?}"
        );
    }
    for g in last {
        assert!(a.place().gtids[&g.0].seq >= g.1, "seed {seed}");
    }
    let held: usize = got
        .items
        .iter()
        .map(|i| match i {
            Item::Group { events, .. } | Item::Events(events) => events.len(),
            _ => 0,
        })
        .sum();
    assert!(held <= sent, "seed {seed}: {held} bytes of {sent}");
}

#[test]
fn hostile_sources_never_panic() {
    if let Ok(seed) = std::env::var("NARWAL_SEED") {
        return hostile_case(seed.parse().unwrap());
    }
    let n = std::env::var("NARWAL_SEEDS").map_or(3000, |n| n.parse().unwrap());
    for seed in 0..n {
        let caught = std::panic::catch_unwind(|| hostile_case(seed));
        assert!(caught.is_ok(), "NARWAL_SEED={seed} repeats it");
    }
}
