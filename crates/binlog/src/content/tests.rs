use super::*;
use crate::event::{build, event_type, rows_flags};
use crate::lenenc::put_lenenc;
use proptest::prelude::*;

/// A row change of the test table: an integer and a text that may be NULL.
type Row = (i32, Option<Vec<u8>>);
type Change = (usize, Option<Row>, Option<Row>);

/// How a server writes.
#[derive(Debug, Clone)]
struct Style {
    server: u32,
    first_id: u64,
    /// The text column: VARCHAR of one or two bytes of length, or TEXT of as many as it says.
    code: u8,
    meta: Vec<u8>,
    /// Rows in an event at most.
    rows: usize,
    /// Every so many rows a statement ends.
    statement: usize,
    v2: bool,
    annotate: bool,
    /// Bits behind the last column.
    spare: u8,
}

fn event(style: &Style, code: u8, body: &[u8]) -> Vec<u8> {
    build(code, style.server * 1000, style.server, 77, 0, &[body])
}

fn put_text(out: &mut Vec<u8>, style: &Style, text: &[u8]) {
    let n = match style.code {
        t::BLOB => usize::from(style.meta[0]),
        _ => length_prefix(style.code, &style.meta),
    };
    out.extend_from_slice(&(text.len() as u32).to_le_bytes()[..n]);
    out.extend_from_slice(text);
}

fn put_image(out: &mut Vec<u8>, style: &Style, row: &Row, columns: u8) {
    let second = columns & 2 != 0;
    let null = second && row.1.is_none();
    let nth = if columns & 1 != 0 { 1 } else { 0 };
    out.push(u8::from(null) << nth | style.spare & 0xfc);
    if columns & 1 != 0 {
        out.extend_from_slice(&row.0.to_le_bytes());
    }
    if let (true, Some(text)) = (second, &row.1) {
        put_text(out, style, text);
    }
}

fn map(style: &Style, table: usize) -> Vec<u8> {
    let name = [b'a' + table as u8];
    let mut body = (style.first_id + table as u64).to_le_bytes()[..6].to_vec();
    body.extend_from_slice(&[1, 0, 1, b'd', 0, 1, name[0], 0, 2, t::LONG, style.code]);
    put_lenenc(&mut body, style.meta.len() as u64);
    body.extend_from_slice(&style.meta);
    body.push(0xff);
    event(style, event_type::TABLE_MAP, &body)
}

fn kind(change: &Change) -> RowsKind {
    match (&change.1, &change.2) {
        (None, _) => RowsKind::Write,
        (_, None) => RowsKind::Delete,
        _ => RowsKind::Update,
    }
}

/// The group as this server writes it; `columns`: those in before and after images.
fn group(style: &Style, changes: &[Change], columns: (u8, u8)) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut body: Vec<u8> = (77u64).to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 0, 0, 0, 0x0c, 0, 0, 0, 0, 0, 0]);
    out.push(event(style, event_type::GTID, &body));
    for statement in changes.chunks(style.statement) {
        if style.annotate {
            out.push(event(style, event_type::ANNOTATE_ROWS, b"said"));
        }
        for table in 0..2 {
            out.push(map(style, table));
        }
        let mut rest = statement;
        while let Some(first) = rest.first() {
            let alike = |c: &&Change| c.0 == first.0 && kind(c) == kind(first);
            let n = rest.iter().take(style.rows).take_while(alike).count();
            let (these, others) = rest.split_at(n);
            rest = others;
            let mut body = (style.first_id + first.0 as u64).to_le_bytes()[..6].to_vec();
            let flags = if rest.is_empty() {
                rows_flags::STMT_END
            } else {
                0
            };
            body.extend_from_slice(&flags.to_le_bytes());
            if style.v2 {
                body.extend_from_slice(&[2, 0]);
            }
            body.push(2);
            let code = match kind(first) {
                RowsKind::Write => event_type::WRITE_ROWS_V1,
                RowsKind::Update => event_type::UPDATE_ROWS_V1,
                RowsKind::Delete => event_type::DELETE_ROWS_V1,
            };
            match kind(first) {
                RowsKind::Write => body.push(columns.1 | style.spare & 0xfc),
                RowsKind::Delete => body.push(columns.0 | style.spare & 0xfc),
                RowsKind::Update => body.extend([columns.0 | style.spare & 0xfc, columns.1]),
            }
            for (_, before, after) in these {
                if let Some(row) = before {
                    put_image(&mut body, style, row, columns.0);
                }
                if let Some(row) = after {
                    put_image(&mut body, style, row, columns.1);
                }
            }
            let v2 = event_type::WRITE_ROWS_V2 - event_type::WRITE_ROWS_V1;
            out.push(event(style, code + if style.v2 { v2 } else { 0 }, &body));
        }
    }
    let xid = u64::from(style.server).to_le_bytes();
    out.push(event(style, event_type::XID, &xid));
    out
}

fn read(bytes: &[u8]) -> RawEvent<'_> {
    crate::decode::EventReader::new(bytes)
        .next()
        .unwrap()
        .unwrap()
}

fn hash(events: &[Vec<u8>]) -> ContentHash {
    let mut hasher = ContentHasher::new();
    for e in events {
        hasher.event(&read(e)).unwrap();
    }
    hasher.finish()
}

fn statement(server: u32, flags: u16, db: &str, sql: &str) -> Vec<Vec<u8>> {
    let mut body = vec![
        server as u8,
        0,
        0,
        0,
        9,
        0,
        0,
        0,
        db.len() as u8,
        0,
        0,
        5,
        0,
    ];
    body.extend_from_slice(&[0, server as u8, 0, 0, 0]);
    body.extend_from_slice(db.as_bytes());
    body.push(0);
    body.extend_from_slice(sql.as_bytes());
    vec![build(event_type::QUERY, server, server, 1, flags, &[&body])]
}

fn rows() -> impl Strategy<Value = Row> {
    let text = prop::option::of(prop::collection::vec(33..=255u8, 0..12));
    (-3..3i32, text)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (0..2usize, prop::option::of(rows()), rows(), any::<bool>());
    let change = change.prop_map(|(table, before, after, gone)| match before {
        Some(b) if gone => (table, Some(b), None),
        before => (table, before, Some(after)),
    });
    prop::collection::vec(change, 1..12)
}

fn styles() -> impl Strategy<Value = Style> {
    let form = prop::sample::select(vec![
        (t::VARCHAR, vec![100, 0]),
        (t::VARCHAR, vec![0, 2]),
        (t::BLOB, vec![1]),
        (t::BLOB, vec![2]),
        (t::BLOB, vec![4]),
        (t::STRING, vec![0xfe, 40]),
        (t::STRING, vec![0xee, 0x90]),
    ]);
    (
        1..9u32,
        1..99u64,
        form,
        1..9usize,
        1..9usize,
        any::<(bool, bool, u8)>(),
    )
        .prop_map(
            |(server, first_id, (code, meta), rows, statement, (v2, annotate, spare))| Style {
                server,
                first_id,
                code,
                meta,
                rows,
                statement,
                v2,
                annotate,
                spare,
            },
        )
}

const FULL: (u8, u8) = (3, 3);
const MINIMAL: (u8, u8) = (1, 2);

proptest! {
    #[test]
    fn every_server_has_the_same_hash(c in changes(), one in styles(), other in styles()) {
        let (a, b) = (hash(&group(&one, &c, FULL)), hash(&group(&other, &c, FULL)));
        prop_assert_eq!(a, b);
        prop_assert_eq!(a.detail, Detail::Full);
        prop_assert_eq!(a.to_string().parse::<ContentHash>().unwrap(), a);
    }

    #[test]
    fn other_changes_have_another(c in changes(), d in changes(), style in styles()) {
        let (a, b) = (hash(&group(&style, &c, FULL)), hash(&group(&style, &d, FULL)));
        prop_assert_eq!(a.same_as(&b), if c == d { SameContent::Yes } else { SameContent::No });
    }

    #[test]
    fn incomplete_images_prove_little(c in changes(), d in changes(), one in styles(), other in styles()) {
        let full = hash(&group(&one, &c, FULL));
        let minimal = hash(&group(&other, &c, MINIMAL));
        prop_assert_eq!(minimal.detail, Detail::Partial);
        prop_assert_eq!(full.same_as(&minimal), SameContent::Unknown);
        prop_assert_eq!(minimal.same_as(&hash(&group(&one, &c, MINIMAL))), SameContent::Yes);
        // Other tables, kinds or numbers of rows are another change all the same.
        let shape = |c: &[Change]| c.iter().map(|c| (c.0, format!("{:?}", kind(c)))).collect::<Vec<_>>();
        let other = hash(&group(&other, &d, MINIMAL));
        let expected = if shape(&c) == shape(&d) { SameContent::Unknown } else { SameContent::No };
        prop_assert_eq!(full.same_as(&other), expected);
    }

    #[test]
    fn hostile_events_never_panic(c in changes(), style in styles(), at in any::<prop::sample::Index>(), b in any::<u8>()) {
        let mut hasher = ContentHasher::new();
        for e in group(&style, &c, FULL) {
            let mut body = read(&e).body.to_vec();
            let at = at.index(body.len());
            body[at] = b;
            let _ = hasher.event(&RawEvent { header: read(&e).header, bytes: &[], body: &body });
        }
        let _ = hasher.finish();
    }

    #[test]
    fn hostile_texts_never_panic(text in "[0-9a-fps:,\\-]{0,80}") {
        let _ = text.parse::<ContentHash>();
        let _ = parse_connect_hash(&text);
    }
}

#[test]
fn statements() {
    let drop = hash(&statement(1, 0, "d", "DROP TABLE t"));
    for sql in [
        "drop table `t` /* generated by server */",
        "DROP TABLE IF EXISTS `t` /* generated by server */",
    ] {
        assert_eq!(drop, hash(&statement(7, 0, "d", sql)));
    }
    assert_eq!(
        drop.same_as(&hash(&statement(1, 0, "e", "DROP TABLE t"))),
        SameContent::No
    );
    assert_eq!(
        drop.same_as(&hash(&statement(1, 0, "d", "DROP TABLE u"))),
        SameContent::No
    );
    let create = hash(&statement(
        1,
        event_flags::SUPPRESS_USE,
        "d",
        "CREATE DATABASE d",
    ));
    assert_eq!(
        create,
        hash(&statement(
            2,
            event_flags::SUPPRESS_USE,
            "",
            "CREATE DATABASE d"
        ))
    );
    // One server has the statement, the other one its rows, or left them out.
    let nothing = hash(&statement(
        1,
        0,
        "",
        "DO 0 /* a transaction that changed nothing here */",
    ));
    assert_eq!(nothing.same_as(&drop), SameContent::Unknown);
    let insert = hash(&statement(1, 0, "d", "INSERT INTO t VALUES (1)"));
    assert_eq!(insert.same_as(&nothing), SameContent::Unknown);
    // Words that frame a transaction are none of its content.
    let framed = [
        statement(1, 8, "", "BEGIN"),
        statement(1, 0, "d", "DROP TABLE t"),
        statement(1, 8, "", "COMMIT"),
    ];
    assert_eq!(hash(&framed.concat()), drop);
}

#[test]
fn what_columns_are_filled_up_with_does_not_count() {
    let style = |code, meta: &[u8]| Style {
        server: 1,
        first_id: 1,
        code,
        meta: meta.to_vec(),
        rows: 1,
        statement: 1,
        v2: false,
        annotate: false,
        spare: 0,
    };
    let of = |style: &Style, text: &[u8]| {
        hash(&group(
            style,
            &[(0, None, Some((1, Some(text.to_vec()))))],
            FULL,
        ))
    };
    let binary = style(t::STRING, &[0xfe, 5]);
    assert_eq!(of(&binary, b"a\0b\0\0"), of(&binary, b"a\0b"));
    assert_ne!(of(&binary, b"a\0b"), of(&binary, b"ab"));
    let varchar = style(t::VARCHAR, &[5, 0]);
    assert_ne!(of(&varchar, b"a "), of(&varchar, b"a"));
}

#[test]
fn lists_of_hashes() {
    let (a, b) = (
        hash(&statement(1, 0, "d", "x")),
        hash(&statement(1, 0, "d", "y")),
    );
    let list = [
        ("0-1-100".parse().unwrap(), a),
        ("7-2-3".parse().unwrap(), b),
    ];
    let text = connect_hash_text(&list);
    assert_eq!(parse_connect_hash(&text), list);
    // Hashes of another version, and noise, say nothing.
    let later = text.replacen(":1", ":2", 1);
    assert_eq!(parse_connect_hash(&later), list[1..]);
    assert!(parse_connect_hash(",,0-1-1:,0-1:1f00,x").is_empty());
    assert_eq!(a.short().len(), 12);
}
