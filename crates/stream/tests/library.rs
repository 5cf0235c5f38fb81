//! A stream of a database in the same process: places, snapshots, sinks, and events that make no sense.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_engine::{Database, GtidChoice, Table, TableBuilder, TxnOptions};
use narwal_stream::{
    DatabaseSource, Error, EventGroup, FileSink, Filter, FolderSource, Format, JsonLines, Next, Op,
    Place, PumpOptions, Record, Sink, SnapshotOptions, Source, Start, Step, Stop, Stream,
    WriterSink, pump, snapshot_database,
};
use narwal_types::{TypeKind, ValueRef};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

fn open(dir: &std::path::Path) -> (Database, Arc<Table>, Arc<Table>) {
    let db = Database::open(dir).unwrap();
    db.create_database("d").unwrap();
    for name in ["a", "b"] {
        let table = TableBuilder::new("d", name)
            .column("id", TypeKind::Int, false)
            .column("v", TypeKind::VarChar(40), true)
            .primary_key(&["id"])
            .build()
            .unwrap();
        db.create_table(table).unwrap();
    }
    let catalog = db.catalog();
    let table = |n| catalog.table("d", n).unwrap().clone();
    (db.clone(), table("a"), table("b"))
}

fn row(table: &Table, id: i64, v: &str) -> Vec<u8> {
    table
        .row(&[ValueRef::Int(id), ValueRef::Str(v.as_bytes())])
        .unwrap()
}

/// Inserts some rows into both tables, by turns, in one transaction of a domain.
fn write(db: &Database, tables: [&Arc<Table>; 2], ids: std::ops::Range<i64>, domain: u32) {
    let mut t = db.begin(TxnOptions::default());
    t.set_gtid(GtidChoice {
        domain_id: Some(domain),
        ..GtidChoice::default()
    });
    for id in ids {
        for table in tables {
            t.insert(table, row(table, id, &format!("v{id}"))).unwrap();
            t.end_statement();
        }
    }
    t.commit().unwrap();
}

/// What a record says, and the place behind it.
fn told(record: &Record<'_>, place: &Place) -> (String, String) {
    let mut line = Vec::new();
    JsonLines::new(Format::default()).line(record, None, 0, &mut line);
    (String::from_utf8(line).unwrap(), place.to_string())
}

fn all(source: impl Source, start: Option<Place>, filter: Filter) -> Vec<(String, String)> {
    let mut stream = Stream::new(source, start, filter);
    let mut out = Vec::new();
    loop {
        match stream.next(Duration::ZERO).unwrap() {
            Next::Record(record, place) => out.push(told(&record, place)),
            Next::Idle | Next::Committed(_) => {}
            Next::End => return out,
        }
    }
}

fn from(db: &Database, start: Start) -> Vec<(String, String)> {
    let known = match &start {
        Start::Place(place) => Some(place.clone()),
        _ => None,
    };
    let source = DatabaseSource::open(db, &start)
        .unwrap()
        .only_what_is_there(true);
    all(source, known, Filter::all())
}

#[test]
fn every_place_gives_what_follows_it() {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(dir.path());
    // Chunks of a large transaction among others, and two domains.
    db.set_oob_threshold(4096);
    for i in 0..6 {
        write(&db, [&a, &b], i * 10..i * 10 + 3, (i % 2) as u32);
    }
    write(&db, [&a, &b], 1000..1400, 0);
    write(&db, [&a, &b], 2000..2002, 1);
    let whole = from(&db, Start::Beginning);
    assert_eq!(whole.len(), 3 + 6 * 6 + 800 + 4);
    for (i, (_, place)) in whole.iter().enumerate() {
        // All but a few of the large one's.
        if (60..830).contains(&i) && i % 97 != 0 {
            continue;
        }
        let rest = from(&db, Start::Place(place.parse().unwrap()));
        assert_eq!(rest, whole[i + 1..], "behind {place}");
    }
    // The same from the files, and from a position in them.
    let disk = || Arc::new(narwal_log::RealDisk);
    let log = narwal_stream::source::folder::log_dir(dir.path()).unwrap();
    let folder =
        |start: &Start| FolderSource::open(disk(), &log, "narwal-bin", start, false).unwrap();
    assert_eq!(all(folder(&Start::Beginning), None, Filter::all()), whole);
    for i in [0, 2, 9, 20, 500, whole.len() - 2] {
        let place: Place = whole[i].1.parse().unwrap();
        let source = folder(&Start::Place(place.clone()));
        assert_eq!(all(source, Some(place), Filter::all()), whole[i + 1..]);
    }
    let file = Start::File {
        name: "narwal-bin.000001".into(),
        offset: 4,
    };
    assert_eq!(from(&db, file.clone()), whole);
    assert_eq!(all(folder(&file), None, Filter::all()), whole);
    assert_eq!(from(&db, Start::Now), []);
    assert_eq!(all(folder(&Start::Now), None, Filter::all()), []);
    // A selection gives the same lines, and their places are the same.
    let source = DatabaseSource::open(&db, &Start::Beginning)
        .unwrap()
        .only_what_is_there(true);
    let only_b = all(source, None, Filter::all().table("d.b").unwrap());
    let expected: Vec<_> = whole
        .iter()
        .filter(|l| l.0.contains("\"table\":\"b\""))
        .cloned()
        .collect();
    assert_eq!(only_b, expected);
}

#[test]
fn a_place_that_is_gone_or_never_was() {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(dir.path());
    write(&db, [&a, &b], 0..2, 0);
    db.flush_binary_logs(&[]).unwrap();
    write(&db, [&a, &b], 2..4, 0);
    db.purge_binary_logs_to("narwal-bin.000002").unwrap();
    for place in ["0-1-1", "0-1-99"] {
        let start = Start::Place(place.parse().unwrap());
        let e = DatabaseSource::open(&db, &start).map(|_| ()).unwrap_err();
        assert!(matches!(e, Error::Gone(_)), "{place}: {e}");
        let log = narwal_stream::source::folder::log_dir(dir.path()).unwrap();
        let disk = Arc::new(narwal_log::RealDisk);
        let e = FolderSource::open(disk, &log, "narwal-bin", &start, false)
            .and_then(|mut s| s.next_group(Duration::ZERO))
            .map(|_| ())
            .unwrap_err();
        assert!(matches!(e, Error::Gone(_)), "{place}: {e}");
    }
    assert_eq!(from(&db, Start::Beginning).len(), 4);
}

#[test]
fn a_reader_sleeps_until_there_is_something_durable() {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(dir.path());
    let source = DatabaseSource::open(&db, &Start::Now).unwrap();
    let mut stream = Stream::new(source, None, Filter::all());
    assert_eq!(stream.next(Duration::from_millis(1)).unwrap(), Next::Idle);
    let writer = {
        let db = db.clone();
        std::thread::spawn(move || {
            for mode in [1, 2, 0] {
                db.set_flush_log_at_trx_commit(mode);
                write(
                    &db,
                    [&a, &b],
                    i64::from(mode) * 10..i64::from(mode) * 10 + 1,
                    0,
                );
            }
        })
    };
    while stream.counts().records < 6 {
        let next = stream.next(Duration::from_secs(30)).unwrap();
        assert!(
            matches!(next, Next::Record(..) | Next::Committed(_)),
            "nothing came"
        );
    }
    writer.join().unwrap();
}

/// Rows by table and key.
type Rows = BTreeMap<(String, i64), String>;

fn apply(line: &str, rows: &mut Rows) {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let table = line["source"]["table"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let id = |image: &serde_json::Value| image["id"].as_i64().unwrap();
    match line["op"].as_str() {
        Some("d") => {
            rows.remove(&(table, id(&line["before"]))).unwrap();
        }
        Some(op) => {
            if op == "u" {
                rows.remove(&(table.clone(), id(&line["before"]))).unwrap();
            }
            let v = line["after"]["v"].as_str().unwrap().to_owned();
            assert_eq!(rows.insert((table, id(&line["after"])), v), None, "{line}");
        }
        None => {}
    }
}

#[test]
fn a_snapshot_and_what_follows_it_are_the_tables() {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(dir.path());
    write(&db, [&a, &b], 0..500, 0);
    let stop = Stop::new();
    let writer = {
        let (db, a, b, stop) = (db.clone(), a.clone(), b.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut id = 1000;
            while !stop.is_stopped() {
                write(&db, [&a, &b], id..id + 2, 0);
                id += 2;
                let mut t = db.begin(TxnOptions::default());
                let key = a.key(0, &[ValueRef::Int(id % 500)]).unwrap();
                if let Some(old) = t.get(&a, &key).unwrap() {
                    t.update(&a, &key, &old, row(&a, -id, "moved")).unwrap();
                }
                t.commit().unwrap();
            }
        })
    };
    let mut sink = WriterSink::new(Vec::new(), JsonLines::new(Format::default()));
    let filter = Filter::all();
    let options = SnapshotOptions {
        filter: &filter,
        stop: Stop::new(),
        progress: &mut |_| {},
    };
    let place = snapshot_database(&db, &mut sink, options).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    stop.stop();
    writer.join().unwrap();
    let source = DatabaseSource::open(&db, &Start::Place(place.clone()))
        .unwrap()
        .only_what_is_there(true);
    let mut stream = Stream::new(source, Some(place), Filter::all());
    let mut options = PumpOptions {
        stop: Stop::new(),
        retry: Duration::ZERO,
        until: None,
        progress: &mut |_| {},
    };
    pump(&mut stream, &mut sink, &mut options).unwrap();
    let text = String::from_utf8(sink.into_inner()).unwrap();
    let mut rows = Rows::new();
    text.lines().for_each(|l| apply(l, &mut rows));
    let snapshot: Vec<_> = text
        .lines()
        .filter(|l| l.contains("\"op\":\"r\""))
        .collect();
    assert!(snapshot.len() >= 1000);
    assert_eq!(
        snapshot
            .iter()
            .filter(|l| l.contains("\"snapshot\":\"last\""))
            .count(),
        1
    );
    assert!(snapshot.last().unwrap().contains("\"snapshot\":\"last\""));
    let mut expected = Rows::new();
    let mut t = db.begin(TxnOptions::default());
    for table in [&a, &b] {
        let range = narwal_engine::KeyRange::all();
        let view = narwal_engine::ReadView::Snapshot;
        let mut scan = t.scan(table, 0, range, false, view, false).unwrap();
        while let Some(item) = scan.next().unwrap() {
            let values = table.values(item.row).unwrap();
            let (ValueRef::Int(id), ValueRef::Str(v)) = (&values[0], &values[1]) else {
                panic!("{values:?}");
            };
            let v = String::from_utf8(v.to_vec()).unwrap();
            expected.insert((table.def.name.clone(), *id), v);
        }
    }
    assert_eq!(rows, expected);
}

#[test]
fn a_file_is_cut_back_to_what_is_sure() {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(&dir.path().join("data"));
    for i in 0..20 {
        write(&db, [&a, &b], i * 10..i * 10 + 3, (i % 2) as u32);
    }
    let out = dir.path().join("out");
    let state = dir.path().join("state");
    let json = || JsonLines::new(Format::default());
    // Reads `records` more lines (all: `None`), then dies without a word.
    let run = |state: Option<&std::path::Path>, records: Option<usize>| {
        let mut sink = FileSink::open(&out, state, json()).unwrap();
        let place = sink.place().cloned();
        let start = place.clone().map_or(Start::Beginning, Start::Place);
        let source = DatabaseSource::open(&db, &start)
            .unwrap()
            .only_what_is_there(true);
        let mut stream = Stream::new(source, place, Filter::all());
        let mut n = 0;
        loop {
            let (record, place) = match stream.next(Duration::ZERO).unwrap() {
                Next::Record(record, place) => (record, place),
                Next::End => break,
                _ => continue,
            };
            if records.is_some_and(|r| n >= r) {
                sink.flush().unwrap();
                return;
            }
            sink.write(&record, Some(place)).unwrap();
            n += 1;
            if n % 7 == 0 {
                let place = place.clone();
                sink.flush().unwrap();
                sink.commit(Some(&place)).unwrap();
            }
        }
        sink.flush().unwrap();
        sink.commit(stream.place()).unwrap();
    };
    let ids = || -> Vec<String> {
        let text = std::fs::read_to_string(&out).unwrap();
        let id = |l: &str| {
            let l: serde_json::Value = serde_json::from_str(l).unwrap();
            format!(
                "{}:{}",
                l["transaction"]["id"], l["transaction"]["total_order"]
            )
        };
        text.lines().map(id).collect()
    };
    run(None, None);
    let whole = ids();
    assert_eq!(whole.len(), 123);
    for with_state in [false, true] {
        std::fs::remove_file(&out).unwrap();
        let _ = std::fs::remove_file(&state);
        let state = with_state.then_some(state.as_path());
        for (i, records) in [9, 1, 30, 0, 17].into_iter().enumerate() {
            run(state, Some(records));
            if i % 2 == 0 && !with_state {
                // A line that was half written.
                let file = std::fs::OpenOptions::new().write(true).open(&out).unwrap();
                let len = file.metadata().unwrap().len();
                file.set_len(len - 100).unwrap();
            }
        }
        run(state, None);
        assert_eq!(ids(), whole, "with a state file: {with_state}");
    }
    // A state file of another output.
    std::fs::write(&out, "").unwrap();
    assert!(matches!(
        FileSink::open(&out, Some(&state), json()),
        Err(Error::Usage(_))
    ));
    std::fs::write(&out, "not a line of a stream\n").unwrap();
    assert!(matches!(
        FileSink::open(&out, None, json()),
        Err(Error::Usage(_))
    ));
}

/// Gives one group of these events.
#[derive(Debug)]
struct Fixed {
    events: Vec<Vec<u8>>,
    at: Option<usize>,
    checksums: bool,
}

impl Source for Fixed {
    fn next_group(&mut self, _: Duration) -> narwal_stream::Result<Step> {
        if self.at.is_some() {
            return Ok(Step::End);
        }
        self.at = Some(0);
        Ok(Step::Group(EventGroup {
            gtid: "0-1-1".parse().unwrap(),
            flags2: 0,
            file: "f".into(),
            pos: 4,
            timestamp: 0,
        }))
    }

    fn next_event(&mut self) -> narwal_stream::Result<Option<&[u8]>> {
        let at = self.at.unwrap();
        self.at = Some(at + 1);
        Ok(self.events.get(at).map(Vec::as_slice))
    }

    fn checksums(&self) -> bool {
        self.checksums
    }

    fn place(&self) -> Option<Place> {
        None
    }

    fn reopen(&mut self, _: Option<&Place>) -> narwal_stream::Result<()> {
        unreachable!()
    }
}

/// The events of one transaction of each kind, as the log has them, without checksums.
fn events() -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let (db, a, b) = open(dir.path());
    let mut t = db.begin(TxnOptions::default());
    t.insert(&a, row(&a, 1, "one")).unwrap();
    let key = a.key(0, &[ValueRef::Int(1)]).unwrap();
    let old = t.get(&a, &key).unwrap().unwrap();
    t.update(&a, &key, &old, row(&a, 1, "two")).unwrap();
    let old = t.get(&a, &key).unwrap().unwrap();
    t.delete(&a, &key, &old).unwrap();
    t.insert(&b, row(&b, 1, "b")).unwrap();
    t.commit().unwrap();
    let mut source = DatabaseSource::open(&db, &Start::Beginning).unwrap();
    let mut out = Vec::new();
    while let Step::Group(_) = source.next_group(Duration::ZERO).unwrap() {
        while let Some(event) = source.next_event().unwrap() {
            let mut event = event[..event.len() - 4].to_vec();
            let len = event.len() as u32;
            event[9..13].copy_from_slice(&len.to_le_bytes());
            out.push(event);
        }
    }
    out
}

fn read(events: Vec<Vec<u8>>, checksums: bool) -> Result<Vec<Op>, Error> {
    let source = Fixed {
        events,
        at: None,
        checksums,
    };
    let mut stream = Stream::new(source, None, Filter::all());
    let mut ops = Vec::new();
    let json = JsonLines::new(Format::default());
    let mut line = Vec::new();
    loop {
        match stream.next(Duration::ZERO)? {
            Next::Record(record, place) => {
                json.line(&record, Some(place), 0, &mut line);
                if let Record::Row(r) = record {
                    ops.push(r.op);
                }
            }
            Next::Idle | Next::Committed(_) => {}
            Next::End => return Ok(ops),
        }
    }
}

#[test]
fn events_give_the_rows_they_hold() {
    let events = events();
    let ops = read(events.clone(), false).unwrap();
    assert_eq!(ops, [Op::Create, Op::Update, Op::Delete, Op::Create]);
    // Without checksums they are no events of a log that has them.
    assert!(matches!(read(events, true), Err(Error::Damaged(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn events_that_make_no_sense_are_errors(
        at in 0usize..1000,
        cut in 0usize..1000,
        flips in prop::collection::vec((19usize..400, any::<u8>()), 0..6),
    ) {
        static EVENTS: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
        let mut events = EVENTS.get_or_init(events).clone();
        let at = at % events.len();
        let event = &mut events[at];
        for (i, to) in flips {
            let i = i % event.len().max(1);
            event[i] = to;
        }
        if cut < 200 {
            event.truncate(cut.max(1));
        }
        let _ = read(events, false);
    }
}
