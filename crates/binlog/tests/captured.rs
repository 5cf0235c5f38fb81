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
