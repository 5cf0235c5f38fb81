//! Long INSERTs whose rows are read from the text do as those whose rows are parsed.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{Conn, Out};
use proptest::prelude::*;

/// Rows that make a statement long enough.
fn padding(row: &str) -> String {
    std::iter::repeat_n(row, (20 << 10) / row.len())
        .collect::<Vec<_>>()
        .join(",")
}

const TABLE: &str = "(id INT PRIMARY KEY AUTO_INCREMENT, i BIGINT, u BIGINT UNSIGNED, d DECIMAL(20,4), f DOUBLE, s VARCHAR(40), b VARBINARY(40), t DATETIME(2), g BIGINT AS (i + 1))";

/// A code and its text.
type Message = (u16, String);

/// What the statement gives, its warnings, and the table's rows behind it.
fn run(c: &mut Conn, table: &str, sql: &str) -> (Result<Out, Message>, Vec<Message>, String) {
    // The names that differ between the two.
    let plain = |text: &str| text.replace("`q`", "`t`").replace("CONCAT(NULL)", "NULL");
    c.begin();
    let r = c.run(sql, &[]).map_err(|e| (e.code, plain(&e.message)));
    let warnings = c
        .warnings()
        .into_iter()
        .map(|(n, text)| (n, plain(&text)))
        .collect();
    let rows = c.rows(&format!("SELECT * FROM {table} ORDER BY id"));
    c.rollback();
    (r, warnings, rows)
}

/// Two alike: their numbers go on over a rollback.
fn tables(c: &mut Conn) {
    c.ok(&format!("CREATE TABLE t {TABLE}"));
    c.ok(&format!("CREATE TABLE q {TABLE}"));
}

fn same(c: &mut Conn, rows: &str, tail: &str) {
    // A row with an expression makes all of them parsed. It comes last, so that numbers of rows are the same.
    let pad = padding("(NULL,1,2,3.25,'4e1','x''y\\n',NULL,'2020-01-01')");
    let long = |table: &str, end: &str| {
        format!("INSERT INTO {table} (id,i,u,d,f,s,b,t) VALUES {rows},{pad},({end}){tail}")
    };
    let (read, read_warnings, read_rows) = run(c, "t", &long("t", "NULL,7,7,7,7,7,7,NULL"));
    let (parsed, parsed_warnings, parsed_rows) =
        run(c, "q", &long("q", "NULL,7,7,7,7,7,7,CONCAT(NULL)"));
    assert_eq!(read, parsed, "{rows}");
    assert_eq!(read_warnings, parsed_warnings, "{rows}");
    assert_eq!(read_rows, parsed_rows, "{rows}");
}

#[test]
fn literals_of_all_kinds() {
    let mut c = Conn::new();
    tables(&mut c);
    for row in [
        "(5,-1,18446744073709551615,-1.5,1e3,'a','b','2024-02-29 1:2:3.456')",
        "( 5 , -9223372036854775808 , 9223372036854775808,12345678901234567890123456789.5,-1.5E-3,\"q\"\"u\",'\\0\\Z\\\\','2024-02-30')",
        "(5,'12x',-1,'abc','1e400','é\u{1F600}','é',0)",
        "(5,99999999999999999999,1.5,0.00005,.5,'x','y',NULL)",
        "(NULL,NULL,null,Null,NULL,NULL,NULL,NULL)",
        "(5,1,1,1,1,'0123456789012345678901234567890123456789012345','x',20240101)",
        "(5,1,1,1,1,'',\"\",'')",
        "(5,1,1,1,1,'a' 'b','x',NULL)",
        "(5,0x41,1,1,1,0x41,b'1000001',NULL)",
        "(5,1,1,1,1,_latin1'x',N'x',NULL)",
        "(5,TRUE,1,1,1,DEFAULT,'x',NULL)",
        "(5,1,1,1,1,'x','y',NULL),(5,1,1,1,1,'x','y',NULL)",
        "(5,1,1,1,1,'x','y')",
        "(5,1,1,1,1,'x','y',NULL,1)",
        "(5,--1,1,1,1,'x','y',NULL)",
        "(5,- 1,1,1,1,'x','y',NULL)",
        "(5,1,1,1,1,'x','y',NULL) , \n (6,1,1,1,1,'/* x */','-- y',NULL)",
    ] {
        same(&mut c, row, "");
        same(
            &mut c,
            row,
            "\nON DUPLICATE KEY UPDATE i = VALUES(i) + 1, s = (SELECT 'é')",
        );
        for (mode, charset) in [
            ("", "latin1_swedish_ci"),
            ("", "utf8mb3_general_ci"),
            ("ANSI_QUOTES", ""),
        ] {
            let before = (c.env.sql_mode, c.env.collation);
            if let Some(charset) = narwal_types::Collation::from_name(charset) {
                c.env.collation = charset;
            }
            if !mode.is_empty() {
                c.env.sql_mode = narwal_sql::SqlMode::parse(mode).unwrap();
            }
            same(&mut c, row, "");
            (c.env.sql_mode, c.env.collation) = before;
        }
    }
}

#[test]
fn errors_name_the_place() {
    let mut c = Conn::new();
    tables(&mut c);
    let pad = padding("(1,'é\n')");
    for (tail, near) in [
        (" ON DUPLICATE KEY", "''"),
        (" nonsense", "'nonsense'"),
        (",(1,2", "''"),
        ("(1)", "'(1)'"),
        (" \n\n é ORDER BY", "'é ORDER BY'"),
    ] {
        let sql = format!("INSERT INTO t (i, s) VALUES {pad}{tail}");
        let (code, text) = c.err(&sql);
        assert_eq!(code, 1064, "{tail}");
        let line = sql[..sql.len() - near.len().saturating_sub(2)]
            .matches('\n')
            .count()
            + 1;
        assert!(
            text.ends_with(&format!("near {near} at line {line}")),
            "{tail}: {text}"
        );
    }
    assert_eq!(c.err(&format!("INSERT INTO t VALUES {pad}")).0, 1136);
    assert_eq!(
        c.err(&format!("INSERT INTO t (id, s) VALUES {pad}")).0,
        1062
    );
    assert_eq!(c.rows("SELECT COUNT(*) FROM t"), "0");
}

#[test]
fn as_a_prepared_statement() {
    let mut c = Conn::new();
    tables(&mut c);
    let pad = padding("(1,'x')");
    let p = c.prepare(&format!(
        "INSERT INTO t (id, s) VALUES {pad} ON DUPLICATE KEY UPDATE s = CONCAT(s, ?), i = IFNULL(i, 0) + 1"
    ));
    for _ in 0..2 {
        c.execute(&p, &[narwal_types::Value::str("")]).unwrap();
    }
    assert!(
        p.params() == 1 && c.rows("SELECT id, s FROM t") == "1|x",
        "{}",
        c.rows("SELECT id, s FROM t")
    );
}

#[test]
fn memory_follows_the_rows() {
    // 2 MB of text with half a million values: 200 MB as tokens and expressions.
    let mut c = Conn::new();
    c.ok("CREATE TABLE t (a INT)");
    let rows = std::iter::repeat_n("(1)", 500_000)
        .collect::<Vec<_>>()
        .join(",");
    let stmt =
        narwal_sql::parse_statement(&format!("INSERT INTO t VALUES {rows}"), &Default::default())
            .unwrap();
    let narwal_sql::Stmt::Insert(i) = stmt else {
        panic!()
    };
    assert!(
        matches!(&i.source, narwal_sql::ast::InsertSource::Literals(r) if r.len() == 500_000 && r.columns() == 1)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
    /// Bytes at random among literals: the same result both ways.
    #[test]
    fn damaged_rows(at in 0usize..60, bit in "[-0-9a-zé'\"(),. \\\\xNULe+]{1,3}") {
        let mut c = Conn::new();
        tables(&mut c);
        let mut row = String::from("(5,-12,34,5.6,'7e8','nine''s',\"ten\\\"\",'2011-12-13 14:15:16')");
        let at = at.min(row.len() - 1);
        row.replace_range(at..at + 1, &bit);
        same(&mut c, &row, "");
    }
}
