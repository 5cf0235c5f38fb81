//! Bytes that no one should send: errors, never a panic, never an endless loop.

#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::*;
use proptest::prelude::*;

/// Reads everything that can be read.
fn read_all(bytes: &[u8], trusting: bool) -> usize {
    let mut reader = EventReader::new(bytes);
    if trusting {
        reader = reader.trusting_checksums();
    }
    let mut found = 0;
    let mut maps: Vec<TableMap<'_>> = Vec::new();
    for event in reader {
        let Ok(event) = event else { break };
        found += 1;
        match event.decode() {
            Ok(Event::TableMap(map)) => {
                let _ = map.columns();
                let _ = map.primary_key();
                maps.push(map);
            }
            Ok(Event::Rows(rows)) => {
                for map in &maps {
                    if let Ok(rows) = rows.rows(map) {
                        found += rows.filter(Result::is_ok).count();
                    }
                }
            }
            Ok(Event::Query(query)) => {
                let _ = query.context();
            }
            _ => {}
        }
    }
    let _ = VirtualFiles::new(VirtualConfig::default()).observe(bytes);
    let _ = VirtualFiles::from_bytes(VirtualConfig::default(), bytes);
    let file = FlatFileWriter::new(Vec::new(), "v", 1, 1, &GtidState::new());
    let _ = file.unwrap().append_moved(bytes);
    found
}

fn sample() -> Vec<u8> {
    use column_type as t;
    let mut columns = vec![
        ColumnMeta::new("a", t::LONG, &[]),
        ColumnMeta::new("b", t::VARCHAR, &[0, 4]),
        ColumnMeta::new("c", t::NEWDECIMAL, &[20, 6]),
        ColumnMeta::new("d", t::BLOB, &[3]),
        ColumnMeta::new("e", t::STRING, &[t::SET, 2]),
        ColumnMeta::new("f", t::DATETIME2, &[6]),
        ColumnMeta::new("g", t::STRING, &[0xfe, 30]),
    ];
    columns[0].numeric = true;
    columns[2].numeric = true;
    for i in [1, 3, 4, 6] {
        columns[i].collation = Some(45 + i as u16);
    }
    columns[4].labels = vec![b"x".to_vec(), b"y".to_vec()];
    let table = TableMapTemplate::new(5, "db", "t", &columns, &[(0, 0), (1, 7)]).unwrap();
    let mut row = vec![0x80, 1, 0, 0, 0, 2, 0, b'x', b'y'];
    row.extend_from_slice(&[0x80; 10]);
    row.extend_from_slice(&[4, 0, 0, 1, 2, 3, 4, 3, 0]);
    row.extend_from_slice(&[0x99; 8]);
    row.extend_from_slice(b"\x03abc");
    let nulls = [0xfe, 9, 9, 9, 9];
    let mut group = GroupBuilder::new(0, 1);
    group.annotate(b"insert").unwrap();
    group.write_row(&table, &row).unwrap();
    group.write_row(&table, &nulls).unwrap();
    group.update_row(&table, &nulls, &row).unwrap();
    group.delete_row(&table, &row).unwrap();
    let mut bytes = group.finish().unwrap().into_stamped(
        Gtid {
            domain: 0,
            server: 1,
            seq: 1,
        },
        4,
        1,
    );
    let query = DdlQuery {
        server_id: 1,
        timestamp: 1,
        thread_id: 1,
        exec_time: 0,
        db: "db",
        sql: b"create table x",
        context: QueryContext::default(),
        suppress_use: false,
        time_zone: "",
    };
    let ddl = GroupBuilder::ddl(0, &query).unwrap();
    bytes.extend(ddl.into_stamped(
        Gtid {
            domain: 0,
            server: 1,
            seq: 2,
        },
        300,
        0,
    ));
    bytes.extend(gtid_list_event(
        &"0-1-1,1-1-2".parse().unwrap(),
        0,
        1,
        1,
        4,
        0,
    ));
    bytes.extend(rotate_event(4, "bin.1", 1, 1, 1, 0));
    bytes.extend(format_description_event("v", 1, 1, 0, 1, 0));
    bytes
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
fn mutated_groups_never_panic() {
    let valid = sample();
    assert_eq!(read_all(&valid, false), 12 + 4, "the sample itself is read");
    let seeds: u64 = std::env::var("NARWAL_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(20_000);
    for seed in 0..seeds {
        let mut state = seed;
        let mut bytes = valid.clone();
        for _ in 0..1 + next(&mut state) % 4 {
            let at = next(&mut state) as usize % bytes.len();
            match next(&mut state) % 6 {
                0 => bytes[at] = next(&mut state) as u8,
                1 => bytes[at] ^= 1 << (next(&mut state) % 8),
                2 => bytes[at] = 0xff,
                3 => bytes[at] = 0,
                4 => bytes.truncate(at.max(1)),
                _ => {
                    let byte = next(&mut state) as u8;
                    bytes.insert(at, byte);
                }
            }
        }
        let result = std::panic::catch_unwind(|| read_all(&bytes, true));
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let mut group = GroupBuilder::new(0, 1);
    group.annotate(b"x").unwrap();
    let bytes = group.finish().unwrap().into_stamped(Gtid::default(), 4, 1);
    let count = EventReader::new(&bytes).count();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read: Result<Vec<_>, _> = EventReader::new(&flipped).collect();
        assert!(read.is_err() || read.unwrap().len() != count, "bit {bit}");
    }
    for cut in 1..bytes.len() {
        let read: Result<Vec<_>, _> = EventReader::new(&bytes[..cut]).collect();
        assert!(read.is_err() || read.unwrap().len() < count, "cut {cut}");
    }
}

#[test]
fn rows_without_columns_end() {
    // Post-header, no columns, then data: there is no first row to read.
    let bytes = {
        let mut group = GroupBuilder::new(0, 1);
        let columns = [ColumnMeta::new("a", column_type::TINY, &[])];
        let table = TableMapTemplate::new(1, "d", "t", &columns, &[]).unwrap();
        group.write_row(&table, &[0xfe, 1]).unwrap();
        group.finish().unwrap().into_stamped(Gtid::default(), 4, 1)
    };
    let events: Vec<_> = EventReader::new(&bytes).map(Result::unwrap).collect();
    let Event::TableMap(map) = events[1].decode().unwrap() else {
        panic!()
    };
    let Event::Rows(mut rows) = events[2].decode().unwrap() else {
        panic!()
    };
    rows.present = &[0];
    assert!(rows.rows(&map).unwrap().next().unwrap().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes, true);
    }

    #[test]
    fn random_bodies(code in any::<u8>(), body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut event = vec![0; 19];
        event[4] = code;
        event[9..13].copy_from_slice(&(body.len() as u32 + 23).to_le_bytes());
        event.extend_from_slice(&body);
        event.extend_from_slice(&[0; 4]);
        read_all(&event, true);
    }

    #[test]
    fn random_values(code in any::<u8>(), meta in any::<[u8; 2]>(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(n) = metadata_len(code) && let Ok(len) = value_len(code, &meta[..n], &bytes) {
            prop_assert!(len <= bytes.len());
        }
    }
}
