//! Events that no server has written: every form of output gives an error or something, never a panic.

use super::flashback::Flashback;
use super::json::Json;
use super::print::Print;
use super::raw::Raw;
use super::select::{SelectArgs, Selection};
use super::{Events, Output, Trouble};
use narwal_binlog::{
    ColumnMeta, Event, EventReader, GroupBuilder, Gtid, GtidState, TableMapTemplate,
    column_type as t,
};
use narwal_engine::{GroupHead, GroupKind};

struct Sample {
    events: Vec<Vec<u8>>,
    at: usize,
    gtids: GtidState,
}

impl Events for Sample {
    fn next_event(&mut self) -> narwal_engine::Result<Option<&[u8]>> {
        self.at += 1;
        Ok(self.events.get(self.at - 1).map(Vec::as_slice))
    }

    fn gtids_before(&self) -> &GtidState {
        &self.gtids
    }

    fn file_gtids(&self) -> Option<&GtidState> {
        Some(&self.gtids)
    }
}

/// A column, and a value of its.
fn column(name: &str, code: u8, meta: &[u8], numeric: bool, value: &[u8]) -> (ColumnMeta, Vec<u8>) {
    let mut column = ColumnMeta::new(name, code, meta);
    column.numeric = numeric;
    (column, value.to_vec())
}

/// The events of a transaction that inserts, updates and deletes a row of all types.
fn sample() -> Vec<Vec<u8>> {
    let mut columns = vec![
        column("id", t::LONG, &[], true, &[1, 0, 0, 0]),
        column("tiny", t::TINY, &[], true, &[0xff]),
        column("short", t::SHORT, &[], true, &[0, 0x80]),
        column("medium", t::INT24, &[], true, &[1, 2, 0x83]),
        column("long", t::LONGLONG, &[], true, &[0xff; 8]),
        column("float", t::FLOAT, &[4], true, &0.1f32.to_le_bytes()),
        column("double", t::DOUBLE, &[8], true, &(-1e300f64).to_le_bytes()),
        column(
            "decimal",
            t::NEWDECIMAL,
            &[20, 6],
            true,
            &[0x80, 0, 0, 1, 0, 0, 0, 2, 3, 4],
        ),
        column("year", t::YEAR, &[], true, &[124]),
        column("date", t::DATE, &[], false, &[0x5d, 0xd0, 0x0f]),
        column(
            "time",
            t::TIME2,
            &[3],
            false,
            &[0x80, 0x12, 0x34, 0x01, 0x02],
        ),
        column(
            "datetime",
            t::DATETIME2,
            &[6],
            false,
            &[0x99, 0xb2, 0x12, 0x34, 0x56, 1, 2, 3],
        ),
        column("stamp", t::TIMESTAMP2, &[2], false, &[0x65, 1, 2, 3, 45]),
        column("bits", t::BIT, &[3, 1], false, &[0x05, 0xaa]),
        column("enum", t::STRING, &[t::ENUM, 1], false, &[2]),
        column("set", t::STRING, &[t::SET, 2], false, &[3, 0]),
        column("char", t::STRING, &[0xfe, 30], false, b"\x03a\"\\"),
        column(
            "varchar",
            t::VARCHAR,
            &[0, 4],
            false,
            b"\x04\x00\xc3\xa4\n'",
        ),
        column("blob", t::BLOB, &[2], false, b"\x03\x00\x00\xff\x1a"),
    ];
    for i in [14, 15, 16, 17] {
        columns[i].0.collation = Some(45);
    }
    columns[18].0.collation = Some(63);
    columns[14].0.labels = vec![b"x".to_vec(), b"y".to_vec()];
    columns[15].0.labels = vec![b"p".to_vec(), b"q".to_vec()];
    let metas: Vec<ColumnMeta> = columns.iter().map(|c| c.0.clone()).collect();
    let table = TableMapTemplate::new(5, "db", "t\"`", &metas, &[(0, 0)]).unwrap();
    let mut row = vec![0, 0, 0xf8];
    row.extend(columns.iter().flat_map(|c| c.1.clone()));
    let nulls = [&[0xfe, 0xff, 0xff][..], &[9; 4]].concat();
    let mut group = GroupBuilder::new(0, 1);
    group.annotate(b"insert\nof all").unwrap();
    group.write_row(&table, &row).unwrap();
    group.write_row(&table, &nulls).unwrap();
    group.update_row(&table, &nulls, &row).unwrap();
    group.delete_row(&table, &row).unwrap();
    let bytes = group.finish().unwrap().into_stamped(gtid(), 400, 1);
    let events = EventReader::new(&bytes).map(|e| e.unwrap().bytes.to_vec());
    events.collect()
}

fn gtid() -> Gtid {
    "0-1-7".parse().unwrap()
}

fn head(len: usize) -> GroupHead {
    GroupHead {
        lsn: 5000,
        end_lsn: 6000,
        seq: 7,
        kind: GroupKind::Group,
        file_no: 2,
        start_pos: 400,
        new_file: true,
        gtid: gtid(),
        mysql: None,
        flags2: 0,
        len: len as u64,
        timestamp: 1,
        first_lsn: 5000,
        chunks: 0,
    }
}

/// Writes the group in every form; what came of each.
fn write_all(events: &[Vec<u8>]) -> Vec<(Result<(), Trouble>, Vec<u8>)> {
    let head = head(events.iter().map(Vec::len).sum());
    let selection = Selection::new(&SelectArgs::default(), "b").unwrap();
    (0..4)
        .map(|form| {
            let mut out = Vec::new();
            let mut sample = Sample {
                events: events.to_vec(),
                at: 0,
                gtids: "0-1-6".parse().unwrap(),
            };
            let mut output: Box<dyn Output> = match form {
                0 => Box::new(Json::new(&mut out, "b".into())),
                1 => Box::new(Print::new(&mut out, "b".into(), 2, true).unwrap()),
                2 => Box::new(Flashback::new(&mut out, false).unwrap()),
                _ => Box::new(Raw::new(&mut out).quiet()),
            };
            let mut done = output.group(&head, &mut sample, &selection);
            if done.is_err() {
                let _ = output.abandon(&head);
            }
            done = done.and(output.finish(true));
            drop(output);
            (done, out)
        })
        .collect()
}

fn json_lines(out: &[u8]) -> Vec<serde_json::Value> {
    let lines = out.split(|&b| b == b'\n').filter(|l| !l.is_empty());
    lines.map(|l| serde_json::from_slice(l).unwrap()).collect()
}

#[test]
fn every_type_in_every_form() {
    let forms = write_all(&sample());
    for (form, (done, _)) in forms.iter().enumerate() {
        assert!(done.is_ok(), "form {form}: {done:?}");
    }
    let lines = json_lines(&forms[0].1);
    assert_eq!(lines.len(), 4);
    let row = serde_json::json!({
        "id": 1, "tiny": -1, "short": -32768, "medium": -8_191_487, "long": -1, "float": 0.1, "double": -1e300,
        "decimal": "16777216.131844", "year": 2024, "date": "2024-02-29", "time": lines[0]["after"]["time"],
        "datetime": lines[0]["after"]["datetime"], "stamp": "2023-09-13 00:27:47.45", "bits": 1450, "enum": "y",
        "set": "p,q", "char": "a\"\\", "varchar": "ä\n'", "blob": {"base64": "AP8a"},
    });
    assert_eq!(lines[0]["after"], row);
    assert_eq!(lines[2]["after"], row);
    assert_eq!(lines[3]["before"], row);
    let undo = String::from_utf8_lossy(&forms[2].1);
    let verbs: Vec<&str> = undo.lines().filter_map(|l| l.split(' ').next()).collect();
    let statements: Vec<&str> = verbs
        .into_iter()
        .filter(|v| ["INSERT", "UPDATE", "DELETE"].contains(v))
        .collect();
    assert_eq!(statements, ["INSERT", "UPDATE", "DELETE", "DELETE"]);
}

/// splitmix64: enough for mutations.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn mutated_events_never_panic() {
    let valid = sample();
    let seeds: u64 = std::env::var("NARWAL_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4000);
    let (mut good, mut bad) = (0, 0);
    for seed in 0..seeds {
        let mut state = seed;
        let mut events = valid.clone();
        for _ in 0..1 + next(&mut state) % 3 {
            let n = next(&mut state) as usize % events.len();
            // Behind the header, mostly: what is wrong there the group reader says.
            let from = if next(&mut state).is_multiple_of(8) {
                0
            } else {
                19
            };
            let span = (events[n].len() - from).max(1);
            let at = from + next(&mut state) as usize % span;
            match next(&mut state) % 6 {
                0 | 1 => events[n][at] = next(&mut state) as u8,
                2 => events[n][at] ^= 1 << (next(&mut state) % 8),
                3 => {
                    let len = next(&mut state) as usize % 9;
                    let end = (at + len).min(events[n].len());
                    events[n][at..end].fill(0xff);
                }
                4 => {
                    let other = next(&mut state) as usize % events.len();
                    events.swap(n, other);
                }
                _ => {
                    // Shorter, and its header says so.
                    let cut = (next(&mut state) as usize % 8).min(events[n].len() - 23);
                    let keep = events[n].len() - cut;
                    events[n].truncate(keep);
                    events[n][9..13].copy_from_slice(&(keep as u32).to_le_bytes());
                }
            }
        }
        let caught = std::panic::catch_unwind(|| {
            let forms = write_all(&events);
            json_lines(&forms[0].1);
            forms.iter().filter(|f| f.0.is_ok()).count()
        });
        match caught {
            Ok(4) => good += 1,
            Ok(_) => bad += 1,
            Err(_) => panic!("NARWAL_SEED={seed}"),
        }
    }
    // The mutations are neither all harmless nor all refused at the door.
    assert!(good > seeds / 20 && bad > seeds / 20, "{good} {bad}");
    assert!(matches!(
        EventReader::new(&valid[0])
            .next()
            .unwrap()
            .unwrap()
            .decode(),
        Ok(Event::Gtid(_))
    ));
}
