//! What is written is what is read, whatever the statements, rollbacks and sizes.

#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::*;
use proptest::prelude::*;

/// Two tables of (INT, VARCHAR(2000)).
fn table(id: u64) -> TableMapTemplate {
    let mut columns = [
        ColumnMeta::new("id", column_type::LONG, &[]),
        ColumnMeta::new("v", column_type::VARCHAR, &2000u16.to_le_bytes()),
    ];
    columns[0].nullable = false;
    columns[1].collation = Some(45);
    TableMapTemplate::new(id, "db", &format!("t{id}"), &columns, &[(0, 0)]).unwrap()
}

fn image(id: u32, len: usize) -> Vec<u8> {
    let mut row = vec![0xfc];
    row.extend_from_slice(&id.to_le_bytes());
    row.extend_from_slice(&(len as u16).to_le_bytes());
    row.resize(row.len() + len, b'x');
    row
}

#[derive(Debug, Clone)]
enum Op {
    Write(u64, u32, usize),
    Update(u64, u32, usize),
    Delete(u64, u32, usize),
    Annotate,
    MapBoth,
    EndStatement,
    Mark,
    Truncate,
}

fn op() -> impl Strategy<Value = Op> {
    let row = || (1u64..3, any::<u32>(), 0usize..1500);
    prop_oneof![
        4 => row().prop_map(|(t, id, n)| Op::Write(t, id, n)),
        2 => row().prop_map(|(t, id, n)| Op::Update(t, id, n)),
        2 => row().prop_map(|(t, id, n)| Op::Delete(t, id, n)),
        1 => Just(Op::Annotate),
        1 => Just(Op::MapBoth),
        2 => Just(Op::EndStatement),
        2 => Just(Op::Mark),
        1 => Just(Op::Truncate),
    ]
}

type Row = (u64, RowsKind, Option<Vec<u8>>, Option<Vec<u8>>);

/// Reads a group back as its rows, and checks its shape on the way.
fn read(group: &[u8], start: u32, max: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut maps: Vec<TableMap<'_>> = Vec::new();
    let mut pos = start;
    let mut statement_open = false;
    let mut rows_seen = false;
    let mut last = None;
    for event in EventReader::new(group) {
        let event = event.unwrap();
        pos += event.header.event_size;
        assert_eq!(event.header.end_log_pos, pos);
        assert_eq!(event.header.server_id, 7);
        last = Some(event.header.event_type);
        match event.decode().unwrap() {
            Event::Gtid(gtid) => {
                assert_eq!(pos, start + 42);
                assert_eq!(
                    gtid.gtid,
                    Gtid {
                        domain: 3,
                        server: 7,
                        seq: 99
                    }
                );
                assert_eq!(gtid.flags2, 0x0c);
            }
            Event::Annotate(text) => {
                assert!(!statement_open);
                assert_eq!(text, b"statement");
            }
            Event::TableMap(map) => {
                assert!(!rows_seen, "table map after rows of the same statement");
                assert_eq!(map.columns().unwrap()[1].name, "v");
                assert_eq!(map.primary_key().unwrap(), [(0, 0)]);
                statement_open = true;
                maps.push(map);
            }
            Event::Rows(event_rows) => {
                let map = maps
                    .iter()
                    .find(|m| m.table_id == event_rows.table_id)
                    .unwrap();
                assert!(event_rows.is_full_image());
                let before = rows.len();
                for row in event_rows.rows(map).unwrap() {
                    let row = row.unwrap();
                    rows.push((
                        map.table_id,
                        event_rows.kind,
                        row.before.map(<[u8]>::to_vec),
                        row.after.map(<[u8]>::to_vec),
                    ));
                }
                assert!(rows.len() > before, "rows event without rows");
                assert!(event.header.event_size <= max || rows.len() == before + 1);
                rows_seen = true;
                if event_rows.is_statement_end() {
                    maps.clear();
                    statement_open = false;
                    rows_seen = false;
                }
            }
            Event::Xid(xid) => assert_eq!(xid, 42),
            other => panic!("{other:?}"),
        }
    }
    assert!(!statement_open, "statement without its end");
    assert_eq!(last, Some(event_type::XID));
    assert_eq!(pos as usize, start as usize + group.len());
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups(ops in proptest::collection::vec(op(), 0..60), max in 200u32..4000, reserve in 0usize..40) {
        let tables = [table(1), table(2)];
        let mut group = GroupBuilder::new(reserve, 1);
        group.set_row_event_max_size(max);
        let mut model: Vec<Row> = Vec::new();
        let mut marks: Vec<(Mark, usize)> = Vec::new();
        for op in ops {
            if matches!(op, Op::Annotate | Op::MapBoth | Op::EndStatement) {
                // Ending a statement without rows cuts the group shorter than marks inside it.
                group.end_statement();
                marks.retain(|(mark, _)| mark.is_in(&group));
            }
            match op {
                Op::Write(t, id, n) => {
                    let row = image(id, n);
                    group.write_row(&tables[t as usize - 1], &row).unwrap();
                    model.push((t, RowsKind::Write, None, Some(row)));
                }
                Op::Update(t, id, n) => {
                    let (before, after) = (image(id, n), image(id, n / 2));
                    group.update_row(&tables[t as usize - 1], &before, &after).unwrap();
                    model.push((t, RowsKind::Update, Some(before), Some(after)));
                }
                Op::Delete(t, id, n) => {
                    let row = image(id, n);
                    group.delete_row(&tables[t as usize - 1], &row).unwrap();
                    model.push((t, RowsKind::Delete, Some(row), None));
                }
                Op::Annotate => group.annotate(b"statement").unwrap(),
                Op::MapBoth => group.map_tables(&[&tables[0], &tables[1]]).unwrap(),
                Op::EndStatement => {}
                Op::Mark => marks.push((group.mark(), model.len())),
                Op::Truncate => {
                    if let Some((mark, rows)) = marks.pop() {
                        group.truncate(mark);
                        model.truncate(rows);
                    }
                }
            }
            prop_assert_eq!(group.is_empty(), model.is_empty());
        }
        let pending = group.finish().unwrap();
        let len = pending.len() as usize;
        let bytes = pending.into_stamped(Gtid { domain: 3, server: 7, seq: 99 }, 1000, 42);
        prop_assert_eq!(bytes.len(), reserve + len);
        prop_assert!(bytes[..reserve].iter().all(|&b| b == 0));
        prop_assert_eq!(read(&bytes[reserve..], 1000, max), model);
    }
}

#[test]
fn interleaved_tables_share_a_statement_when_mapped_first() {
    let tables = [table(1), table(2)];
    let mut group = GroupBuilder::new(0, 7);
    group.map_tables(&[&tables[0], &tables[1]]).unwrap();
    for i in 0..4 {
        group
            .write_row(&tables[i % 2], &image(i as u32, 3))
            .unwrap();
    }
    group.end_statement();
    let bytes = group.finish().unwrap().into_stamped(
        Gtid {
            domain: 3,
            server: 7,
            seq: 99,
        },
        4,
        42,
    );
    assert_eq!(read(&bytes, 4, 8192).len(), 4);
    let ends = EventReader::new(&bytes)
        .filter(|e| {
            matches!(e.as_ref().unwrap().decode().unwrap(), Event::Rows(r) if r.is_statement_end())
        })
        .count();
    assert_eq!(ends, 1);
}

#[test]
fn rows_are_split_as_mariadb_splits_them() {
    // 1000-byte rows: eight to an event, each event 8089 bytes there; ours differ only by the columns.
    let table = table(1);
    let mut group = GroupBuilder::new(0, 7);
    for i in 0..20 {
        group.write_row(&table, &image(i, 993)).unwrap();
    }
    group.write_row(&table, &image(99, 1900)).unwrap();
    let bytes = group.finish().unwrap().into_stamped(
        Gtid {
            domain: 3,
            server: 7,
            seq: 99,
        },
        4,
        42,
    );
    let sizes: Vec<u32> = EventReader::new(&bytes)
        .map(|e| e.unwrap().header)
        .filter(|h| h.event_type == event_type::WRITE_ROWS_V1)
        .map(|h| h.event_size)
        .collect();
    assert_eq!(sizes, [8033, 8033, 5940]);
    read(&bytes, 4, 8192);
}

#[test]
fn too_large_is_an_error_and_leaves_the_group_as_it_was() {
    let table = TableMapTemplate::new(
        1,
        "db",
        "t",
        &[ColumnMeta::new("b", column_type::BLOB, &[4])],
        &[],
    )
    .unwrap();
    let mut group = GroupBuilder::new(0, 7);
    group.write_row(&table, &[0xfe, 1, 0, 0, 0, b'x']).unwrap();
    let len = group.len();
    let huge = vec![0; MAX_EVENT_LEN];
    assert!(matches!(
        group.write_row(&table, &huge),
        Err(BinlogError::TooLarge { .. })
    ));
    assert!(
        group
            .update_row(&table, &huge[..600 << 20], &huge[..600 << 20])
            .is_err()
    );
    assert_eq!(group.len(), len);
    assert!(matches!(
        group.annotate(&huge),
        Err(BinlogError::TooLarge { .. })
    ));
    let name = "x".repeat(256);
    assert!(TableMapTemplate::new(1, &name, "t", &[ColumnMeta::default()], &[]).is_err());
    let column = [ColumnMeta::new("i", column_type::LONG, &[])];
    assert!(TableMapTemplate::new(1 << 48, "d", "t", &column, &[]).is_err());
    assert!(TableMapTemplate::new(1, "d", "t", &column, &[(1, 0)]).is_err());
    assert!(TableMapTemplate::new(1, "d", "t", &[], &[]).is_err());
}

#[test]
fn full_metadata_comes_back() {
    use column_type as t;
    let text = |name, code, meta: &[u8], collation| ColumnMeta {
        collation: Some(collation),
        ..ColumnMeta::new(name, code, meta)
    };
    let number = |name, code, meta: &[u8], unsigned| ColumnMeta {
        numeric: true,
        unsigned,
        ..ColumnMeta::new(name, code, meta)
    };
    let labels = |n: u8| (0..n).map(|i| vec![b'a' + i; 2]).collect::<Vec<_>>();
    let columns = vec![
        ColumnMeta {
            nullable: false,
            ..number("a", t::LONGLONG, &[], true)
        },
        number("b", t::TINY, &[], false),
        number("c", t::NEWDECIMAL, &[20, 6], false),
        number("y", t::YEAR, &[], true),
        text("d", t::VARCHAR, &[80, 0], 45),
        text("e", t::STRING, &[0xfe, 40], 45),
        text("f", t::BLOB, &[2], 63),
        text("g", t::BLOB, &[4], 45),
        ColumnMeta {
            labels: labels(3),
            ..text("h", t::STRING, &[t::ENUM, 1], 45)
        },
        ColumnMeta {
            labels: labels(9),
            ..text("i", t::STRING, &[t::SET, 2], 46)
        },
        ColumnMeta::new("j", t::DATETIME2, &[6]),
        ColumnMeta::new("name with ü and more", t::DATE, &[]),
        number("k", t::FLOAT, &[4], false),
        number("l", t::DOUBLE, &[8], true),
        number("m", t::INT24, &[], false),
        number("n", t::SHORT, &[], true),
    ];
    for pk in [vec![], vec![(0, 0)], vec![(4, 10), (0, 0)]] {
        let table = TableMapTemplate::new(77, "db", "t", &columns, &pk).unwrap();
        let mut group = GroupBuilder::new(0, 1);
        group.write_row(&table, &[0xff, 0xff]).unwrap();
        let bytes = group.finish().unwrap().into_stamped(Gtid::default(), 4, 1);
        let event = EventReader::new(&bytes).nth(1).unwrap().unwrap();
        let Event::TableMap(map) = event.decode().unwrap() else {
            panic!()
        };
        assert_eq!((map.db, map.table, map.table_id), ("db", "t", 77));
        assert_eq!(map.columns().unwrap(), columns);
        assert_eq!(map.primary_key().unwrap(), pk);
    }
    // Different collations of every column: the list form.
    let columns: Vec<_> = (0..5)
        .map(|i| text("x", t::VARCHAR, &[1, 0], 40 + i))
        .collect();
    let table = TableMapTemplate::new(1, "d", "t", &columns, &[]).unwrap();
    let mut group = GroupBuilder::new(0, 1);
    group.write_row(&table, &[0xff]).unwrap();
    let bytes = group.finish().unwrap().into_stamped(Gtid::default(), 4, 1);
    let event = EventReader::new(&bytes).nth(1).unwrap().unwrap();
    let Event::TableMap(map) = event.decode().unwrap() else {
        panic!()
    };
    assert_eq!(map.columns().unwrap(), columns);
    assert!(map.optional_fields().any(|f| f.unwrap().0 == 3));
}
