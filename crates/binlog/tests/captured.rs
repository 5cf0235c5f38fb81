//! Our bytes against bytes captured from MariaDB 10.11.

#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

const TIME: u32 = 0x6b01_4a20;

#[test]
fn stream_events_with_checksums() {
    assert_eq!(
        rotate_event(4, "bin.000001", 1, 0, 0, event_flags::ARTIFICIAL),
        hex(
            "00000000 04 01000000 29000000 00000000 2000 0400000000000000 62696e2e303030303031 738f82a5"
        )
    );
    assert_eq!(
        gtid_list_event(&GtidState::new(), 0, 1, TIME, 0x11d, 0),
        hex("204a016b a3 01000000 1d000000 1d010000 0000 00000000 0000 0cd4c42a")
    );
    assert_eq!(
        gtid_list_event(
            &"0-1-5".parse().unwrap(),
            0,
            1,
            0,
            0x583,
            event_flags::ARTIFICIAL
        ),
        hex(
            "00000000 a3 01000000 2b000000 83050000 2000 01000000 00000000 01000000 0500000000000000 9b6c00ff"
        )
    );
    assert_eq!(
        heartbeat_event("bin.000001", 1, 0x583),
        hex("00000000 1b 01000000 21000000 83050000 0000 62696e2e303030303031 62a91b72")
    );
}

#[test]
fn format_description() {
    let event = format_description_event("10.11.0-MariaDB-narwal-0.1.0", 1, TIME, 0, 256, 0);
    assert_eq!(event.len(), FDE_LEN);
    assert_eq!(
        event[..19],
        hex("204a016b 0f 01000000 fc000000 00010000 0000")
    );
    let lengths = &event[19 + 2 + 50 + 4 + 1..][..171];
    assert_eq!(
        lengths[..41],
        hex("380d000800120004040404120000e400041a08000000080808020000000a0a0a0000000000000a0a0a")
    );
    assert!(lengths[41..160].iter().all(|&b| b == 0));
    assert_eq!(lengths[160..], hex("041304000d0808080a0a0a"));
    // The in-use flag is not in the checksum.
    let in_use = format_description_event("10.11.0-MariaDB-narwal-0.1.0", 1, TIME, 0, 256, 1);
    assert_eq!(in_use[17], 1);
    assert_eq!(in_use[248..], event[248..]);
    for event in [event, in_use] {
        let decoded = EventReader::new(&event).next().unwrap().unwrap();
        assert_eq!(
            decoded.decode().unwrap(),
            Event::FormatDescription {
                server_version: b"10.11.0-MariaDB-narwal-0.1.0",
                created: 0,
                checksum_algorithm: 1
            }
        );
    }
}

#[test]
fn ddl_gtid_event_with_checksum() {
    let query = DdlQuery {
        server_id: 1,
        timestamp: 0x6b01_4a5f,
        thread_id: 0x23,
        exec_time: 0,
        db: "d2",
        sql: b"create",
        context: QueryContext {
            collation_server: 8,
            ..QueryContext::default()
        },
        suppress_use: true,
        time_zone: "",
    };
    let group = GroupBuilder::ddl(3, &query).unwrap();
    let len = group.len();
    let gtid = Gtid {
        domain: 0,
        server: 1,
        seq: 6,
    };
    let bytes = group.into_stamped(gtid, 0x5ad - 42, 0);
    assert_eq!(bytes.len(), 3 + len as usize);
    assert_eq!(
        bytes[3..45],
        hex(
            "5f4a016b a2 01000000 2a000000 ad050000 0800 0600000000000000 00000000 29 000000000000 8b9f6ed4"
        )
    );
    let events: Vec<_> = EventReader::new(&bytes[3..]).map(Result::unwrap).collect();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1].header.flags, event_flags::SUPPRESS_USE);
    assert_eq!(events[1].header.end_log_pos, 0x5ad - 42 + len);
    assert_eq!(
        events[1].body,
        hex(
            "23000000 00000000 02 0000 1a00 00 00000001 01 0000205400000000 06 03737464 04 2d002d000800 \
             6432 00 637265617465"
        )
    );
    let Event::Query(event) = events[1].decode().unwrap() else {
        panic!()
    };
    assert_eq!(event.context().unwrap(), query.context);
}

#[test]
fn table_map_and_rows() {
    let mut columns = [
        ColumnMeta::new("id", column_type::LONG, &[]),
        ColumnMeta::new("s", column_type::VARCHAR, &hex("1400")),
        ColumnMeta::new("d", column_type::NEWDECIMAL, &[10, 2]),
        ColumnMeta::new("t", column_type::DATETIME2, &[3]),
        ColumnMeta::new("j", column_type::BLOB, &[4]),
    ];
    columns[0].nullable = false;
    let table = TableMapTemplate::new(0x12, "d1", "t1", &columns, &[(0, 0)]).unwrap();
    let mut group = GroupBuilder::new(0, 1);
    let rows = hex("e0 01000000 0178 8000000132 99b24431051a7c 07000000 7b226b223a317d");
    let nulls = hex("fa 02000000 7ffffffdff");
    group.write_row(&table, &rows).unwrap();
    group.write_row(&table, &nulls).unwrap();
    let bytes = group.finish().unwrap().into_stamped(
        Gtid {
            domain: 0,
            server: 1,
            seq: 5,
        },
        256,
        9,
    );
    let events: Vec<_> = EventReader::new(&bytes).map(Result::unwrap).collect();
    assert_eq!(
        events[0].body,
        hex("0500000000000000 00000000 0c 000000000000")
    );
    assert!(events[1].body.starts_with(&hex(
        "120000000000 0100 02 6431 00 02 7431 00 05 030ff612fc 06 1400 0a02 03 04 1e"
    )));
    assert_eq!(
        events[2].body,
        hex(
            "120000000000 0100 05 1f e0 01000000 0178 8000000132 99b24431051a7c 07000000 7b226b223a317d \
             fa 02000000 7ffffffdff"
        )
    );
    assert_eq!(events[3].body, hex("0900000000000000"));
    assert_eq!(events.len(), 4);

    let Event::TableMap(map) = events[1].decode().unwrap() else {
        panic!()
    };
    let Event::Rows(event) = events[2].decode().unwrap() else {
        panic!()
    };
    let split: Vec<_> = event
        .rows(&map)
        .unwrap()
        .map(|r| r.unwrap().after.unwrap())
        .collect();
    assert_eq!(split, [rows, nulls]);
}

#[test]
fn minimal_update() {
    // binlog_row_image=MINIMAL: update pk set b=2 where a=1; update pk set c='zz' where a=1
    let columns = [
        ColumnMeta::new("a", column_type::LONG, &[]),
        ColumnMeta::new("b", column_type::LONG, &[]),
        ColumnMeta::new("c", column_type::BLOB, &[2]),
        ColumnMeta::new("d", column_type::VARCHAR, &hex("0a00")),
    ];
    let table = TableMapTemplate::new(0x12, "d", "pk", &columns, &[(0, 0)]).unwrap();
    let mut group = GroupBuilder::new(0, 1);
    let b = Presence {
        before: &[1],
        after: &[2],
    };
    let c = Presence {
        before: &[1],
        after: &[4],
    };
    let key = hex("fe 01000000");
    assert_eq!(group.open_update_columns(&table), None);
    group
        .update_row_partial(&table, b, &key, &hex("fe 02000000"))
        .unwrap();
    assert_eq!(group.open_update_columns(&table), Some(&[2][..]));
    group
        .update_row_partial(&table, b, &key, &hex("fe 03000000"))
        .unwrap();
    group
        .update_row_partial(&table, c, &key, &hex("fe 0200 7a7a"))
        .unwrap();
    // A full row between partial ones, and a deletion by key.
    let full = hex("f0 01000000 02000000 0100 78 01 79");
    group.update_row(&table, &full, &full).unwrap();
    assert_eq!(group.open_update_columns(&table), None);
    group.delete_row_partial(&table, b, &key).unwrap();
    assert!(
        group
            .delete_row_partial(
                &table,
                Presence {
                    before: &[1, 0],
                    after: &[]
                },
                &key
            )
            .is_err()
    );
    let gtid = Gtid {
        domain: 0,
        server: 1,
        seq: 5,
    };
    let bytes = group.finish().unwrap().into_stamped(gtid, 256, 9);
    let events: Vec<_> = EventReader::new(&bytes).map(Result::unwrap).collect();
    let bodies: Vec<_> = events[2..6].iter().map(|e| e.body.to_vec()).collect();
    assert_eq!(
        bodies,
        [
            hex("120000000000 0000 04 01 02 fe01000000 fe02000000 fe01000000 fe03000000"),
            hex("120000000000 0000 04 01 04 fe01000000 fe02007a7a"),
            hex(
                "120000000000 0000 04 0f 0f f001000000020000000100780179 f001000000020000000100780179"
            ),
            hex("120000000000 0100 04 01 fe01000000"),
        ]
    );
    let Event::TableMap(map) = events[1].decode().unwrap() else {
        panic!()
    };
    let Event::Rows(rows) = events[3].decode().unwrap() else {
        panic!()
    };
    assert!(!rows.is_full_image() && rows.has_column(0) && !rows.has_column(2));
    assert!(rows.has_column_after(2) && !rows.has_column_after(0));
    let change = rows.rows(&map).unwrap().next().unwrap().unwrap();
    assert_eq!(change.after.unwrap(), hex("fe 0200 7a7a"));
}

#[test]
fn table_map_metadata_levels() {
    // create table md (a int unsigned primary key, b int, e enum('x','y'), f set('p','q'), v varchar(10),
    // w varchar(5), t text, bb blob), latin1; the capture had a geometry too.
    use column_type as t;
    let mut columns = [
        ColumnMeta::new("a", t::LONG, &[]),
        ColumnMeta::new("b", t::LONG, &[]),
        ColumnMeta::new("e", t::STRING, &hex("f701")),
        ColumnMeta::new("f", t::STRING, &hex("f801")),
        ColumnMeta::new("v", t::VARCHAR, &hex("0a00")),
        ColumnMeta::new("w", t::VARCHAR, &hex("0500")),
        ColumnMeta::new("t", t::BLOB, &[2]),
        ColumnMeta::new("bb", t::BLOB, &[2]),
    ];
    columns[0].nullable = false;
    columns[0].unsigned = true;
    for (i, c) in columns.iter_mut().enumerate() {
        c.numeric = i < 2;
        c.collation = match i {
            2..=6 => Some(8),
            7 => Some(63),
            _ => None,
        };
    }
    columns[2].labels = vec![b"x".to_vec(), b"y".to_vec()];
    columns[3].labels = vec![b"p".to_vec(), b"q".to_vec()];
    let full = TableMapTemplate::new(0x1e, "d", "md", &columns, &[(0, 0)]).unwrap();
    let body = |table: &TableMapTemplate| {
        let mut group = GroupBuilder::new(0, 1);
        group.write_row(table, &hex("fe 01000000")).unwrap();
        let bytes = group
            .finish()
            .unwrap()
            .into_stamped(Gtid::default(), 256, 9);
        let event = EventReader::new(&bytes).nth(1).unwrap().unwrap();
        event.body.to_vec()
    };
    let no_log = hex(
        "1e0000000000 0100 016400 026d6400 08 0303fefe0f0ffcfc 0a f701 f801 0a00 0500 02 02 fe",
    );
    let minimal = [no_log.clone(), hex("01 01 80 02 03 08 03 3f")].concat();
    assert_eq!(body(&full.with_metadata(RowMetadata::NoLog)), no_log);
    let got = body(&full.with_metadata(RowMetadata::Minimal));
    assert_eq!(got, minimal);
    let event = body(&full);
    assert!(event.starts_with(&got) && event.len() > got.len());
    assert_eq!(full.with_metadata(RowMetadata::Full), full);
}

#[test]
fn value_lengths_of_captured_values() {
    use column_type as t;
    let cases: &[(u8, &str, &str)] = &[
        (t::NEWDECIMAL, "1406", "7fcfc6d788ca0df755ac"),
        (t::YEAR, "", "7c"),
        (t::DATE, "", "43d00f"),
        (t::TIME2, "00", "7fef7d"),
        (t::TIME2, "03", "80c8b81ed2"),
        (t::DATETIME2, "00", "99b2864146"),
        (t::TIMESTAMP2, "02", "65bdbb724e"),
        (t::STRING, "fe05", "0362696e"),
        (t::STRING, "fe10", "0e123e4567e89b12d3a45642665544"),
        (t::BIT, "0501", "1555"),
        (t::STRING, "f701", "02"),
        (t::STRING, "f808", "0102030405060708"),
        (t::STRING, "fe28", "0161"),
        (t::STRING, "ee90", "010061"),
        (t::GEOMETRY, "04", "0200000000ff"),
    ];
    for (code, meta, value) in cases {
        let (meta, value) = (hex(meta), hex(value));
        let mut longer = value.clone();
        longer.push(0xaa);
        assert_eq!(
            value_len(*code, &meta, &longer).unwrap(),
            value.len(),
            "{code:#x}"
        );
        assert!(
            value_len(*code, &meta, &value[..value.len() - 1]).is_err(),
            "{code:#x}"
        );
    }
}
