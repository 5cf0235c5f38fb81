//! A flat file with every column type, read by Debian's `mariadb-binlog`.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::File;
use std::io::BufWriter;
use std::process::Command;

use narwal_binlog::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// (SQL type, type code, metadata, unsigned, collation, value, what `mariadb-binlog -v` shows of the value)
type Column = (
    &'static str,
    u8,
    &'static str,
    bool,
    Option<u16>,
    &'static str,
    &'static str,
);

#[rustfmt::skip]
const COLUMNS: &[Column] = {
    use column_type as t;
    &[
        ("tinyint", t::TINY, "", false, None, "ff", "-1 (255)"),
        ("smallint unsigned", t::SHORT, "", true, None, "ffff", "-1 (65535)"),
        ("mediumint", t::INT24, "", false, None, "feffff", "-2 (16777214)"),
        ("int", t::LONG, "", false, None, "07000000", "7"),
        ("bigint unsigned", t::LONGLONG, "", true, None, "ffffffffffffffff", "-1 (18446744073709551615)"),
        ("float", t::FLOAT, "04", false, None, "0000c03f", "1.5"),
        ("double", t::DOUBLE, "08", false, None, "000000000000f8bf", "-1.5"),
        ("decimal(20,6)", t::NEWDECIMAL, "1406", false, None, "7fcfc6d788ca0df755ac", "-12345678901234.567891"),
        ("year", t::YEAR, "", true, None, "7c", "2024"),
        ("date", t::DATE, "", false, None, "43d00f", "'2024:02:03'"),
        ("time", t::TIME2, "00", false, None, "7fef7d", "'-01:02:03'"),
        ("time(3)", t::TIME2, "03", false, None, "80c8b81ed2", "'12:34:56.789'"),
        ("datetime", t::DATETIME2, "00", false, None, "99b2864146", "'2024-02-03 04:05:06'"),
        ("datetime(3)", t::DATETIME2, "03", false, None, "99b24431051a7c", "'2024-01-02 03:04:05.678'"),
        ("timestamp(2)", t::TIMESTAMP2, "02", false, None, "65bdbb724e", "1706933106.78"),
        ("char(10)", t::STRING, "fe28", false, Some(45), "026162", "'ab'"),
        ("char(100)", t::STRING, "ee90", false, Some(45), "0200 6162", "'ab'"),
        ("binary(5)", t::STRING, "fe05", false, Some(63), "0362696e", "'bin'"),
        ("varchar(20)", t::VARCHAR, "5000", false, Some(45), "03 616263", "'abc'"),
        ("varchar(200)", t::VARCHAR, "2003", false, Some(46), "0300 616263", "'abc'"),
        ("varbinary(9)", t::VARCHAR, "0900", false, Some(63), "03 616263", "'abc'"),
        ("bit(13)", t::BIT, "0501", false, None, "1555", "b'1010101010101'"),
        ("enum('x','yy')", t::STRING, "f701", false, Some(45), "02", "2"),
        ("set('a','b','c')", t::STRING, "f801", false, Some(45), "05", "b'00000101'"),
        ("tinytext", t::BLOB, "01", false, Some(45), "01 74", "'t'"),
        ("blob", t::BLOB, "02", false, Some(63), "0200 6262", "'bb'"),
        ("mediumtext", t::BLOB, "03", false, Some(45), "010000 6d", "'m'"),
        ("longtext", t::BLOB, "04", false, Some(45), "07000000 7b226b223a317d", "'{\"k\":1}'"),
    ]
};

fn all_types() -> (TableMapTemplate, Vec<u8>) {
    let mut columns = Vec::new();
    let mut row = vec![0; COLUMNS.len().div_ceil(8)];
    for (i, &(_, code, meta, unsigned, collation, value, _)) in COLUMNS.iter().enumerate() {
        let mut column = ColumnMeta::new(&format!("c{}", i + 1), code, &hex(meta));
        column.unsigned = unsigned;
        column.collation = collation;
        column.numeric = matches!(
            code,
            column_type::TINY
                ..=column_type::DOUBLE
                    | column_type::LONGLONG
                    | column_type::INT24
                    | column_type::YEAR
                    | column_type::NEWDECIMAL
        );
        match column.real_type() {
            column_type::ENUM => column.labels = vec![b"x".to_vec(), b"yy".to_vec()],
            column_type::SET => column.labels = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()],
            _ => {}
        }
        columns.push(column);
        row.extend_from_slice(&hex(value));
    }
    if let used @ 1.. = COLUMNS.len() % 8 {
        row[COLUMNS.len().div_ceil(8) - 1] = 0xffu8 << used;
    }
    (
        TableMapTemplate::new(40, "d1", "alltypes", &columns, &[(3, 0)]).unwrap(),
        row,
    )
}

fn binlog_text(path: &std::path::Path) -> String {
    let output = Command::new("mariadb-binlog")
        .args(["-v", "--verify-binlog-checksum", "--print-table-metadata"])
        .arg(path)
        .env("TZ", "UTC")
        .output()
        .expect("this test needs mariadb-binlog (Debian: mariadb-server-core or mariadb-client)");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{errors}\n{text}",
        output.status
    );
    for line in errors.lines().chain(text.lines()) {
        let line = line.to_lowercase();
        assert!(
            !line.contains("error") || line.contains("error_code=0"),
            "{line}"
        );
        assert!(!line.contains("warning"), "{line}");
    }
    text
}

fn ddl(db: &str, sql: &str) -> PendingGroup {
    let query = DdlQuery {
        server_id: 1,
        timestamp: 1_706_933_106,
        thread_id: 5,
        exec_time: 0,
        db,
        sql: sql.as_bytes(),
        context: QueryContext::default(),
        suppress_use: sql.starts_with("create database"),
        time_zone: "",
    };
    GroupBuilder::ddl(7, &query).unwrap()
}

#[test]
fn mariadb_binlog_reads_what_we_write() {
    let dir = tempfile::tempdir().unwrap();
    let (all, row) = all_types();
    let small = TableMapTemplate::new(
        41,
        "d1",
        "small",
        &[ColumnMeta {
            numeric: true,
            ..ColumnMeta::new("id", column_type::LONG, &[])
        }],
        &[],
    )
    .unwrap();
    let nulls = vec![0xff; COLUMNS.len().div_ceil(8)];

    let mut groups = vec![
        ddl("d1", "create database d1"),
        ddl("d1", "create table small (id int)"),
    ];
    let mut group = GroupBuilder::new(7, 1);
    group.set_timestamp(1_706_933_107);
    group
        .annotate(b"insert into alltypes values (...), (null, ...)")
        .unwrap();
    group.write_row(&all, &row).unwrap();
    group.write_row(&all, &nulls).unwrap();
    group.end_statement();
    group.annotate(b"update alltypes ...").unwrap();
    group.update_row(&all, &nulls, &row).unwrap();
    group.delete_row(&all, &row).unwrap();
    group.end_statement();
    let savepoint = group.mark();
    group.write_row(&small, &[0xfe, 77, 77, 0, 0]).unwrap();
    group.truncate(savepoint);
    groups.push(group.finish().unwrap());
    let mut group = GroupBuilder::new(7, 1);
    group.map_tables(&[&all, &small]).unwrap();
    for i in 0..3000u16 {
        let [low, high] = i.to_le_bytes();
        group.write_row(&small, &[0xfe, low, high, 0, 0]).unwrap();
    }
    group.delete_row(&all, &row).unwrap();
    groups.push(group.finish().unwrap());

    // One rotation between the first and the other groups, as the virtual files have it.
    let mut files = VirtualFiles::new(VirtualConfig::default());
    let mut out: Option<FlatFileWriter<BufWriter<File>>> = None;
    let mut paths = Vec::new();
    for (i, group) in groups.into_iter().enumerate() {
        if i == 1 {
            files.rotate();
        }
        let before = files.gtids().clone();
        let at = files.place(u64::from(group.len()), &GtidChoice::default());
        if at.new_file {
            let name = files.file_name(at.file_no);
            if let Some(out) = out.take() {
                out.rotate(&name).unwrap();
            }
            let path = dir.path().join(name);
            let file = BufWriter::new(File::create(&path).unwrap());
            paths.push(path);
            out = Some(
                FlatFileWriter::new(
                    file,
                    "10.11.0-MariaDB-narwal-0.1.0",
                    1,
                    1_706_933_100,
                    &before,
                )
                .unwrap(),
            );
        }
        let bytes = group.into_stamped(at.gtid, at.start_pos, at.start_pos);
        out.as_mut().unwrap().append(&bytes[7..]).unwrap();
    }
    out.unwrap().stop().unwrap();
    assert_eq!(paths.len(), 2);

    let first = binlog_text(&paths[0]);
    assert!(first.contains("create database d1"), "{first}");
    assert!(first.contains("Rotate to narwal-bin.000002"), "{first}");
    let second = binlog_text(&paths[1]);
    assert!(second.contains("Gtid list [0-1-1]"), "{second}");
    assert!(second.contains("GTID 0-1-2 ddl"), "{second}");
    assert!(second.contains("GTID 0-1-3 trans"), "{second}");
    assert!(second.contains("create table small (id int)"), "{second}");
    assert!(second.contains("#Q> update alltypes ..."), "{second}");
    assert!(second.contains("# Primary Key(c4)"), "{second}");
    for (i, &(sql, .., shown)) in COLUMNS.iter().enumerate() {
        let name = format!("`c{}` ", i + 1);
        let column = second
            .lines()
            .find(|l| l.contains(&name))
            .unwrap_or_default()
            .to_lowercase();
        assert!(column.contains(&format!("{name}{sql}")), "{sql}: {column}");
        let line = format!("###   @{}={shown}", i + 1);
        assert!(
            second
                .lines()
                .any(|l| l == line || l.starts_with(&format!("{line} "))),
            "{sql}: {line}\n{second}"
        );
    }
    assert_eq!(second.matches("### INSERT INTO `d1`.`small`").count(), 3000);
    eprintln!("{second}");
    assert!(!second.contains("@1=19789"), "a rolled-back row");
    assert_eq!(second.matches("### UPDATE `d1`.`alltypes`").count(), 1);
    assert_eq!(second.matches("### DELETE FROM `d1`.`alltypes`").count(), 2);

    // Our reader agrees.
    let bytes = std::fs::read(&paths[1]).unwrap();
    let mut end = 4;
    for event in EventReader::file(&bytes).unwrap() {
        let event = event.unwrap();
        event.decode().unwrap();
        end += event.header.event_size;
        assert_eq!(event.header.end_log_pos, end);
    }
    assert_eq!(end as usize, bytes.len());
}

#[test]
fn groups_moved_to_another_place_are_read_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("moved.000001");
    let group = ddl("d1", "create table t (i int)");
    let bytes = group.into_stamped(
        Gtid {
            domain: 0,
            server: 1,
            seq: 9,
        },
        123_456,
        0,
    );
    let out = File::create(&path).unwrap();
    let before = "0-1-8".parse().unwrap();
    let mut out = FlatFileWriter::new(out, "10.11.0-MariaDB-narwal", 1, 1, &before).unwrap();
    assert!(matches!(
        out.append(&bytes[7..]),
        Err(BinlogError::Position { .. })
    ));
    out.append_moved(&bytes[7..]).unwrap();
    out.stop().unwrap();
    assert!(binlog_text(&path).contains("create table t (i int)"));
}
