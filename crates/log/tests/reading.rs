//! Reading by LSN, from folders, and behind a writer.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use narwal_log::sim::SimDisk;
use narwal_log::{
    DirReader, DirRecords, Disk, Durability, FIRST_LSN, HEADER_LEN, Log, LogError, LogOptions,
    RecordKind, Reserved, SEGMENT_HEADER_LEN, SegmentCopy, frame, segment_name,
};

const DIR: &str = "/data/log";

fn sim(disk: &SimDisk) -> LogOptions {
    LogOptions {
        disk: Arc::new(disk.clone()),
        segment_size: 16 << 10,
        initial_size: 12 << 10,
        grow_step: 4096,
        background: false,
        ..LogOptions::new(DIR)
    }
}

fn open(disk: &SimDisk) -> Log<()> {
    Log::<()>::open(sim(disk), None, |_| Ok::<_, Infallible>(()))
        .unwrap()
        .start(())
        .unwrap()
}

fn put(log: &Log<()>, kind: RecordKind, body: &[u8]) -> Reserved {
    let (t, ()) = log.reserve(kind, body.len(), |_, ()| ()).unwrap();
    let mut b = vec![0; HEADER_LEN];
    b.extend_from_slice(body);
    log.fill(&t, b);
    log.wait(&t).unwrap();
    t.reserved()
}

fn arc(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// The segment file that holds `lsn`, and its start.
fn file_of(disk: &SimDisk, lsn: u64) -> (PathBuf, u64) {
    disk.paths()
        .into_iter()
        .filter_map(|p| {
            let start = narwal_log::parse_segment_name(p.file_name()?.to_str()?)?;
            (start <= lsn).then_some((p, start))
        })
        .max()
        .unwrap()
}

/// Records of several kinds over several segments: place, kind, body.
fn fill(log: &Log<()>) -> Vec<(Reserved, RecordKind, Vec<u8>)> {
    let kinds = [
        RecordKind::Commit,
        RecordKind::Chunk,
        RecordKind::ChunkIndex,
        RecordKind::PackedCommit,
        RecordKind::PackedLocal,
        RecordKind::State,
    ];
    (0..60usize)
        .map(|i| {
            let kind = kinds[i % kinds.len()];
            let body = vec![i as u8 + 1; i * 97 % 2500];
            (put(log, kind, &body), kind, body)
        })
        .collect()
}

#[test]
fn any_record_is_read_by_its_lsn_from_the_log_and_from_its_folder() {
    let disk = SimDisk::new();
    let log = open(&disk);
    let records = fill(&log);
    assert!(log.stats().segments > 3);
    let dir = DirRecords::open(arc(&disk), Path::new(DIR));
    let mut out = vec![7; 9];
    // Not in order, so that segments change back and forth.
    for i in (0..records.len()).map(|i| i * 37 % records.len()) {
        let (at, kind, body) = &records[i];
        let from_log = log.read_at(at.lsn, &mut out).unwrap();
        assert_eq!(&out, body);
        assert_eq!(
            (from_log.lsn, from_log.end_lsn, from_log.kind, from_log.seq),
            (at.lsn, at.end_lsn, *kind, at.seq)
        );
        assert_eq!(dir.read_at(at.lsn, &mut out).unwrap(), from_log);
        assert_eq!(&out, body);
    }
    assert_eq!(records[59].0.seq, 30);
    // Not a record, behind the end, the log's own.
    for lsn in [records[1].0.lsn + 3, FIRST_LSN] {
        let e = log.read_at(lsn, &mut out).unwrap_err();
        assert!(matches!(e, LogError::Corrupt(_)), "{e}");
        let e = dir.read_at(lsn, &mut out).unwrap_err();
        assert!(matches!(e, LogError::Corrupt(_)), "{e}");
    }
    let end = log.durable_lsn();
    assert!(matches!(
        log.read_at(end, &mut out),
        Err(LogError::BehindEnd { .. })
    ));
    // What is written and not durable is not read from the log.
    log.set_durability(Durability::Written).unwrap();
    let at = put(&log, RecordKind::Commit, b"soon");
    assert!(matches!(
        log.read_at(at.lsn, &mut out),
        Err(LogError::BehindEnd { .. })
    ));
    log.sync_all().unwrap();
    log.read_at(at.lsn, &mut out).unwrap();
    assert_eq!(out, b"soon");
    // A record that was made after the folder was listed, and one that was purged.
    for _ in 0..20 {
        put(&log, RecordKind::Commit, &[1; 1000]);
    }
    let last = put(&log, RecordKind::Commit, b"last");
    dir.read_at(last.lsn, &mut out).unwrap();
    assert_eq!(out, b"last");
    log.sync_all().unwrap();
    log.purge_before(last.lsn).unwrap();
    assert!(matches!(
        log.read_at(records[0].0.lsn, &mut out),
        Err(LogError::Purged { .. })
    ));
    let fresh = DirRecords::open(arc(&disk), Path::new(DIR));
    assert!(matches!(
        fresh.read_at(records[0].0.lsn, &mut out),
        Err(LogError::Purged { .. })
    ));
    // A flipped byte is seen.
    let (file, offset) = {
        let (file, start) = file_of(&disk, last.lsn);
        (file, last.lsn - start + SEGMENT_HEADER_LEN)
    };
    disk.damage(&file, offset + HEADER_LEN as u64, |b| b[0] ^= 1);
    for e in [
        log.read_at(last.lsn, &mut out),
        dir.read_at(last.lsn, &mut out),
    ] {
        match e {
            Err(LogError::Corrupt(c)) => assert_eq!((&c.file, c.offset), (&file, offset)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_replay_can_read_records_before_its_start() {
    let disk = SimDisk::new();
    let log = open(&disk);
    let records = fill(&log);
    let cp = log.with_order_state(|(), at| (at.lsn, at.seq));
    let commit = put(&log, RecordKind::Commit, b"names them");
    drop(log);
    let dir = DirRecords::open(arc(&disk), Path::new(DIR));
    let mut seen = 0;
    Log::<()>::open(sim(&disk), Some(cp), |r| {
        assert_eq!(r.lsn, commit.lsn);
        let mut out = Vec::new();
        for (at, _, body) in &records {
            dir.read_at(at.lsn, &mut out).map_err(|e| e.to_string())?;
            assert_eq!(&out, body);
            seen += 1;
        }
        Ok::<_, String>(())
    })
    .unwrap();
    assert_eq!(seen, records.len());
}

#[test]
fn a_folder_is_read_from_any_record_on() {
    let disk = SimDisk::new();
    let log = open(&disk);
    let records = fill(&log);
    for (i, (at, ..)) in records.iter().enumerate() {
        let mut r = DirReader::open_at(arc(&disk), Path::new(DIR), at.lsn)
            .unwrap()
            .unwrap();
        for (at, kind, body) in records[i..].iter().take(15) {
            let got = r.next().unwrap().unwrap();
            assert_eq!((got.lsn, got.kind, got.seq), (at.lsn, *kind, at.seq));
            assert_eq!(got.body, &body[..]);
        }
    }
    // From the end on, with what comes later.
    let end = log.with_order_state(|(), at| at.lsn);
    let mut r = DirReader::open_at(arc(&disk), Path::new(DIR), end)
        .unwrap()
        .unwrap();
    assert!(r.next().unwrap().is_none());
    let at = put(&log, RecordKind::Commit, b"later");
    let got = r.next().unwrap().unwrap();
    assert_eq!(
        (got.lsn, got.seq, got.body),
        (at.lsn, at.seq, &b"later"[..])
    );
    for lsn in [at.lsn + 1, records[7].0.lsn + 1] {
        let e = DirReader::open_at(arc(&disk), Path::new(DIR), lsn).unwrap_err();
        assert!(matches!(e, LogError::Corrupt(_)), "{e}");
    }
    let e = DirReader::open_at(arc(&disk), Path::new(DIR), at.end_lsn + 5000).unwrap_err();
    assert!(matches!(e, LogError::BehindEnd { .. }), "{e}");
}

#[test]
fn a_reader_follows_a_log_that_is_being_written() {
    let disk = SimDisk::new();
    let log = open(&disk);
    put(&log, RecordKind::Commit, &[0; 10]);
    let mut r = DirReader::open(arc(&disk), Path::new(DIR))
        .unwrap()
        .unwrap();
    let mut seen = 0;
    for i in 0..80u64 {
        while let Some(got) = r.next().unwrap() {
            seen += 1;
            assert_eq!(got.seq, seen);
        }
        assert_eq!(seen, i + 1);
        let end = r.end().unwrap();
        assert_eq!((end.torn, end.more, end.last_seq), (None, false, seen));
        // Some rounds see several new segments at once.
        put(
            &log,
            RecordKind::Commit,
            &vec![1; (i as usize * 211) % 3000],
        );
    }
    // A record that is half written is an end, not damage, and is read when it is whole.
    let at = r.next().unwrap().map(|r| r.end_lsn).unwrap();
    let (file, start) = file_of(&disk, at);
    let offset = at - start + SEGMENT_HEADER_LEN;
    put(&log, RecordKind::Commit, &[9; 300]);
    let whole = disk.content(&file).unwrap();
    disk.damage(&file, offset + 200, |b| b[..116].fill(0));
    assert!(r.next().unwrap().is_none());
    assert!(r.end().unwrap().torn.is_some());
    disk.damage(&file, offset, |b| {
        b[..316].copy_from_slice(&whole[offset as usize..offset as usize + 316]);
    });
    assert_eq!(r.next().unwrap().unwrap().body, &[9; 300]);
    // Retention takes away what it has not read yet.
    let mut slow = DirReader::open(arc(&disk), Path::new(DIR))
        .unwrap()
        .unwrap();
    slow.next().unwrap().unwrap();
    log.purge_before(log.durable_lsn()).unwrap();
    let e = loop {
        match slow.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("this is not the end"),
            Err(e) => break e,
        }
    };
    assert!(matches!(e, LogError::Purged { .. }), "{e}");
    assert!(
        !disk
            .paths()
            .contains(&Path::new(DIR).join(segment_name(FIRST_LSN)))
    );
}

#[test]
fn an_end_that_moved_on_meanwhile_is_no_damage() {
    let disk = SimDisk::new();
    let log = open(&disk);
    put(&log, RecordKind::Commit, &[0; 10]);
    let mut r = DirReader::open(arc(&disk), Path::new(DIR))
        .unwrap()
        .unwrap();
    r.next().unwrap().unwrap();
    assert!(r.next().unwrap().is_none());
    // The second of these proves the first durable.
    put(&log, RecordKind::Commit, &[1; 10]);
    put(&log, RecordKind::Commit, &[2; 10]);
    let end = r.end().unwrap();
    assert!(end.more && end.torn.is_none());
    assert_eq!(r.next().unwrap().unwrap().body, &[1; 10]);
}

/// The copies of all segments, and what the files hold.
fn copies(disk: &SimDisk, log: &Log<()>) -> Vec<(SegmentCopy, Vec<u8>)> {
    let records = log.records();
    let spans = records.spans(0);
    let copy = |s: &narwal_log::SegmentSpan| {
        let copy = records.copy_segment(s).unwrap();
        let path = Path::new(DIR).join(segment_name(s.start));
        let file = arc(disk).open_read(&path).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        (copy, bytes)
    };
    spans.iter().map(copy).collect()
}

#[test]
fn a_copy_mends_what_is_damaged_and_nothing_else() {
    let disk = SimDisk::new();
    let log = open(&disk);
    fill(&log);
    let page = SEGMENT_HEADER_LEN as usize;
    let all = copies(&disk, &log);
    assert!(all.len() > 3 && all.iter().any(|(c, _)| c.next.is_none()));
    for (copy, own) in &all {
        assert_eq!(copy.mend(own).unwrap().records, 0);
        let records = page + (copy.end - copy.start) as usize;
        // Every byte of the header's fields and of the records.
        for at in (0..44).chain((page..records).step_by(7)) {
            let mut bad = own.clone();
            bad[at] ^= 1 << (at % 8);
            let mended = copy.mend(&bad).unwrap();
            assert_eq!(mended.records, 1, "byte {at}");
            assert_eq!(mended.bytes[page..], own[page..], "byte {at}");
        }
        // A part of the file is gone, or all of it.
        let mended = copy.mend(&own[..own.len() / 2]).unwrap();
        assert_eq!(mended.bytes[page..records], own[page..records]);
        assert_eq!(
            copy.mend(&[]).unwrap().bytes[page..records],
            own[page..records]
        );
    }
}

#[test]
fn a_copy_of_another_history_mends_nothing() {
    let (disk, other) = (SimDisk::new(), SimDisk::new());
    let log = open(&disk);
    fill(&log);
    let foreign = open(&other);
    fill(&foreign);
    let (mine, theirs) = (copies(&disk, &log), copies(&other, &foreign));
    let e = theirs[0].0.mend(&mine[0].1).unwrap_err();
    assert!(e.reason.contains("another log"), "{e}");
    // The same log went on in two ways: a restored server's. The first record is behind the one that starts the segment.
    let (copy, mut own) = mine.last().unwrap().clone();
    let skip = HEADER_LEN + 8;
    let at = SEGMENT_HEADER_LEN as usize + skip;
    let head: [u8; HEADER_LEN] = own[at..at + HEADER_LEN].try_into().unwrap();
    let h = frame::Header::decode(&head);
    let record = &mut own[at..at + HEADER_LEN + h.body_len as usize];
    let kind = RecordKind::from_u8(h.kind).unwrap();
    let lsn = copy.start + skip as u64;
    frame::seal(record, copy.log_id, lsn, kind, 0, u64::from(h.seq_low) + 1);
    let e = copy.mend(&own).unwrap_err();
    assert!(e.reason.contains("another history"), "{e}");
}
