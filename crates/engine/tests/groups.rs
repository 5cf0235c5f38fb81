//! Event groups out of log records, in every form that they have there; and records that no one should write.
//!
//! `NARWAL_SEEDS=n` sets the number of damaged logs, `NARWAL_SEED=n` repeats one.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::*;
use narwal_engine::groups::{Oob, Records};
use narwal_engine::{EngineError, GroupKind, GroupReader, Result};
use narwal_log::{RecordKind, RecordRef};
use rand::{Rng, SeedableRng, rngs::StdRng};

#[derive(Debug, Clone)]
struct Fake {
    records: Vec<(u64, RecordKind, Vec<u8>)>,
    at: usize,
}

impl Fake {
    fn new() -> Self {
        Fake {
            records: Vec::new(),
            at: 0,
        }
    }

    fn end(&self) -> u64 {
        self.records
            .last()
            .map_or(4096, |(lsn, _, body)| lsn + 16 + body.len() as u64)
    }

    fn put(&mut self, kind: RecordKind, body: Vec<u8>) -> u64 {
        let lsn = self.end();
        self.records.push((lsn, kind, body));
        lsn
    }
}

impl Records for Fake {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        let Some((lsn, kind, body)) = self.records.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        Ok(Some(RecordRef {
            lsn: *lsn,
            end_lsn: lsn + 16 + body.len() as u64,
            kind: *kind,
            seq: self.at as u64,
            body,
        }))
    }

    fn read_at(&mut self, lsn: u64, buf: &mut Vec<u8>) -> Result<RecordKind> {
        let found = self.records.iter().find(|r| r.0 == lsn);
        let (_, kind, body) =
            found.ok_or_else(|| EngineError::Corrupt(format!("no record at LSN {lsn}")))?;
        buf.clear();
        buf.extend_from_slice(body);
        Ok(*kind)
    }
}

fn table() -> TableMapTemplate {
    let columns = [ColumnMeta {
        name: "a".into(),
        type_code: column_type::LONG,
        numeric: true,
        ..ColumnMeta::default()
    }];
    TableMapTemplate::new(7, "d", "t", &columns, &[(0, 0)]).unwrap()
}

fn group(rows: i32) -> PendingGroup {
    let table = table();
    let mut group = GroupBuilder::new(0, 3);
    group.set_timestamp(77);
    group.set_row_event_max_size(200);
    for n in 0..rows {
        let mut row = vec![0xfe];
        row.extend_from_slice(&n.to_le_bytes());
        group.write_row(&table, &row).unwrap();
    }
    group.finish().unwrap()
}

fn stamped(rows: i32, files: &mut VirtualFiles) -> Vec<u8> {
    let group = group(rows);
    let place = files.place(u64::from(group.len()), &GtidChoice::default());
    group.into_stamped(place.gtid, place.start_pos, 9)
}

/// Sizes of the events in `bytes`.
fn sizes(bytes: &[u8]) -> Vec<usize> {
    EventReader::new(bytes)
        .trusting_checksums()
        .map(|e| e.unwrap().bytes.len())
        .collect()
}

/// Takes stamps out: as chunks have their events.
fn unstamp(events: &mut [u8]) {
    let mut at = 0;
    while at < events.len() {
        let size = EventHeader::parse(&events[at..]).unwrap().event_size as usize;
        events[at + 5..at + 9].fill(0);
        events[at + 13..at + 17].fill(0);
        events[at + size - 4..at + size].fill(0);
        at += size;
    }
}

fn chunk_body(number: u32, first: u64, row_ids: &[u64], events: &[u8]) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend_from_slice(&number.to_le_bytes());
    body.extend_from_slice(&first.to_le_bytes());
    body.extend_from_slice(&(row_ids.len() as u32).to_le_bytes());
    for id in row_ids {
        body.extend_from_slice(&id.to_le_bytes());
    }
    body.extend_from_slice(events);
    body
}

fn annexed(json: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut body = (json.len() as u32).to_le_bytes().to_vec();
    body.extend_from_slice(json.as_bytes());
    for part in parts {
        body.extend_from_slice(part);
    }
    body
}

/// Writes a stamped group in chunks of about `chunk` bytes, `between` other groups in front of each.
fn write_chunked(log: &mut Fake, whole: &[u8], chunk: usize, index_from: usize, local: &[u8]) {
    // The first chunk that the transaction sent was dropped by a rollback to a savepoint: it still gives the name.
    let name = match local {
        [] => 0,
        _ => log.put(RecordKind::Chunk, chunk_body(0, 0, &[], b"rolled back")),
    };
    let sizes = sizes(whole);
    let (gtid, tail) = (sizes[0], sizes[sizes.len() - 1]);
    let mut events = whole[gtid..whole.len() - tail].to_vec();
    unstamp(&mut events);
    let mut oob = Oob {
        events_len: events.len() as u64,
        ..Oob::default()
    };
    let mut at = 0;
    let mut sizes = sizes[1..sizes.len() - 1].iter().peekable();
    while sizes.peek().is_some() {
        let start = at;
        while let Some(size) = sizes.peek() {
            if at > start && at + *size - start > chunk {
                break;
            }
            at += *size;
            sizes.next();
        }
        let number = oob.chunks.len() as u32;
        let ids: Vec<u64> = (0..u64::from(number % 3)).collect();
        let first = if name > 0 { name } else { oob.first };
        let body = chunk_body(number, first, &ids, &events[start..at]);
        let lsn = log.put(RecordKind::Chunk, body);
        if oob.first == 0 {
            oob.first = lsn;
        }
        oob.chunks.push((lsn, (at - start) as u64));
    }
    if oob.chunks.len() >= index_from {
        let kind = RecordKind::ChunkIndex;
        for part in std::mem::take(&mut oob.chunks).chunks(3) {
            let mut body = Vec::new();
            for (lsn, len) in part {
                body.extend_from_slice(&lsn.to_le_bytes());
                body.extend_from_slice(&len.to_le_bytes());
            }
            oob.index.push(log.put(kind, body));
        }
    }
    let json = format!(
        "{{\"changes\":[],\"oob\":{},\"local_len\":{},\"spill\":{{\"x\":1}}}}",
        serde_json::to_string(&oob).unwrap(),
        local.len()
    );
    let body = annexed(
        &json,
        &[local, &whole[..gtid], &whole[whole.len() - tail..]],
    );
    log.put(RecordKind::AnnexCommit, body);
}

fn read_group<R: Records>(reader: &mut GroupReader<R>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        bytes.extend_from_slice(event);
    }
    bytes
}

#[test]
fn a_group_is_the_same_in_one_record_and_in_chunks() {
    for index_from in [usize::MAX, 1] {
        let mut files = VirtualFiles::new(VirtualConfig {
            max_binlog_size: 4096,
            ..VirtualConfig::default()
        });
        let state = files.clone();
        let mut log = Fake::new();
        let mut expected = Vec::new();
        for (nth, rows) in [1, 500, 3, 200, 1].into_iter().enumerate() {
            let whole = stamped(rows, &mut files);
            if rows > 100 {
                write_chunked(&mut log, &whole, 500 * nth, index_from, b"local");
            } else {
                log.put(RecordKind::Commit, whole.clone());
            }
            // A dead chunk is nobody's.
            log.put(RecordKind::Chunk, chunk_body(0, 0, &[1], b"rubbish"));
            log.put(RecordKind::Note, vec![1, 2, 3]);
            expected.push(whole);
        }
        // All the events, or none: going on to the next group is always possible.
        for read in [true, false] {
            let mut reader =
                GroupReader::new(log.clone(), VirtualConfig::default(), Some(state.clone()));
            let mut file = state.clone();
            for whole in &expected {
                let head = reader.next_group().unwrap().unwrap();
                let place = file.observe(whole).unwrap();
                assert_eq!(head.kind, GroupKind::Group);
                assert_eq!((head.file_no, head.gtid), (place.file_no, place.gtid));
                assert_eq!(head.start_pos, place.start_pos);
                assert_eq!(head.len, whole.len() as u64);
                assert_eq!(head.timestamp, 77);
                assert_eq!(head.new_file, place.new_file);
                assert!(head.chunks == 0 || head.first_lsn < head.lsn);
                if read {
                    assert_eq!(&read_group(&mut reader), whole);
                    assert!(reader.next_event().unwrap().is_none());
                } else {
                    reader.next_event().unwrap().unwrap();
                    reader.next_event().unwrap().unwrap();
                }
            }
            assert_eq!(reader.next_group().unwrap(), None);
            assert_eq!(reader.files().unwrap().gtids(), file.gtids());
        }
    }
}

#[test]
fn local_commits_are_seen_by_those_who_ask() {
    let mut files = VirtualFiles::new(VirtualConfig::default());
    let mut log = Fake::new();
    let one = stamped(1, &mut files);
    let mut events = one[42..one.len() - 31].to_vec();
    unstamp(&mut events);
    log.put(
        RecordKind::LocalCommit,
        annexed("{\"row_ids\":[1]}", &[&events]),
    );
    log.put(RecordKind::Commit, one);
    let mut reader = GroupReader::new(log.clone(), VirtualConfig::default(), None);
    assert_eq!(reader.next_group().unwrap().unwrap().kind, GroupKind::Group);
    assert_eq!(reader.next_group().unwrap(), None);
    let mut reader = GroupReader::new(log, VirtualConfig::default(), None).with_local();
    let head = reader.next_group().unwrap().unwrap();
    assert_eq!((head.kind, head.file_no), (GroupKind::Local, 0));
    assert_eq!(reader.annex(), b"{\"row_ids\":[1]}");
    let found = read_group(&mut reader);
    let types: Vec<u8> = EventReader::new(&found)
        .map(|e| e.unwrap().header.event_type)
        .collect();
    assert_eq!(types, [event_type::TABLE_MAP, event_type::WRITE_ROWS_V1]);
    assert_eq!(reader.next_group().unwrap().unwrap().kind, GroupKind::Group);
}

#[test]
fn positions_are_learnt_anew_behind_a_gap() {
    let mut files = VirtualFiles::new(VirtualConfig::default());
    let mut log = Fake::new();
    let groups: Vec<Vec<u8>> = (0..4).map(|_| stamped(2, &mut files)).collect();
    for group in &groups {
        log.put(RecordKind::Commit, group.clone());
    }
    let mut reader = GroupReader::new(log, VirtualConfig::default(), None);
    reader.next_group().unwrap().unwrap();
    reader.records_after_gap().at = 3;
    let head = reader.next_group().unwrap().unwrap();
    assert_eq!((head.file_no, head.gtid.seq), (1, 4));
    assert_eq!(read_group(&mut reader), groups[3]);
}

/// Reads all that can be read.
fn drain(log: Fake) -> Vec<String> {
    let mut errors = Vec::new();
    let mut reader = GroupReader::new(log, VirtualConfig::default(), None).with_local();
    loop {
        match reader.next_group() {
            Ok(None) => return errors,
            Ok(Some(_)) => loop {
                match reader.next_event() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(e) => {
                        errors.push(e.to_string());
                        break;
                    }
                }
            },
            Err(e) => {
                errors.push(e.to_string());
                let _ = reader.records_after_gap();
            }
        }
    }
}

#[test]
fn damaged_records_are_errors_that_name_the_place() {
    let mut files = VirtualFiles::new(VirtualConfig::default());
    let mut good = Fake::new();
    for (chunk, index_from) in [(300, usize::MAX), (2000, usize::MAX), (300, 1)] {
        let whole = stamped(150, &mut files);
        write_chunked(&mut good, &whole, chunk, index_from, b"");
        good.put(RecordKind::Commit, stamped(2, &mut files));
    }
    let local = annexed("{}", &[b"rubbish"]);
    let number = |name| std::env::var(name).ok().map(|v| v.parse::<u64>().unwrap());
    let seeds = match number("NARWAL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("NARWAL_SEEDS").unwrap_or(2000),
    };
    let mut failed = 0;
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut log = good.clone();
        for _ in 0..rng.random_range(1..4) {
            let n = log.records.len();
            let at = rng.random_range(0..n);
            let other = log.records[rng.random_range(0..n)].2.clone();
            let (_, kind, body) = &mut log.records[at];
            match rng.random_range(0..8) {
                0 => *body = other,
                1 => *body = local.clone(),
                2 => body.truncate(rng.random_range(0..=body.len())),
                3 => {
                    *kind = RecordKind::from_u8(rng.random_range(1..9)).unwrap_or(RecordKind::Note);
                }
                _ => {
                    for _ in 0..rng.random_range(1..5) {
                        if !body.is_empty() {
                            // Heads are where lengths and names stand.
                            let end = if rng.random() {
                                body.len()
                            } else {
                                body.len().min(120)
                            };
                            let i = rng.random_range(0..end);
                            body[i] = rng.random();
                        }
                    }
                }
            }
        }
        let errors = drain(log);
        failed += usize::from(!errors.is_empty());
        for e in errors {
            assert!(e.contains("LSN"), "seed {seed}: {e}");
        }
    }
    if number("NARWAL_SEED").is_none() {
        assert!(failed > 100, "{failed}");
    }
}
