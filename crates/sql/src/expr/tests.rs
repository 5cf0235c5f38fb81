//! Answers and result types compared with those of MariaDB 10.11, recorded in `answers.tsv`: expression, value as its client
//! prints it, type of the column that CREATE TABLE ... AS SELECT makes of it.

use super::*;
use crate::bind::bind;
use crate::bind::scope::{Scope, Source};
use crate::env::StatementEnv;
use crate::{NoVariables, parse_expression};
use narwal_engine::{CatalogChange, ColumnDef, Database, Ddl, TableDef};
use narwal_syntax::ParseOptions;
use narwal_types::temporal_parse::{DateRules, parse_datetime, parse_time};
use narwal_types::{Collation, ColumnType, SqlResult, Value, ValueRef};
use narwal_types::{Decimal, TypeKind};
use std::cell::RefCell;
use std::sync::Arc;

struct Fixture {
    _dir: tempfile::TempDir,
    sources: Vec<Source>,
    row: Vec<u8>,
}

fn fixture() -> Fixture {
    let ty = ColumnType::new;
    let cols = [
        ("i", ColumnType::int()),
        ("u", ColumnType::unsigned(TypeKind::Int)),
        ("b", ColumnType::bigint()),
        ("n", ColumnType::decimal(10, 2)),
        ("d", ColumnType::double()),
        ("f", ty(TypeKind::Float)),
        ("c", ColumnType::char(10)),
        ("vc", ColumnType::varchar(20)),
        ("vb", ty(TypeKind::VarBinary(10))),
        ("da", ty(TypeKind::Date)),
        ("dt", ColumnType::datetime(3)),
        ("ts", ty(TypeKind::Timestamp(0))),
        ("tm", ty(TypeKind::Time(0))),
    ];
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(dir.path()).unwrap();
    let def = TableDef {
        id: 0,
        db: "x1".into(),
        name: "t".into(),
        columns: cols
            .iter()
            .enumerate()
            .map(|(k, (name, ty))| ColumnDef::new(*name, *ty, k > 0))
            .collect(),
        indexes: vec![],
        hidden_index_id: 0,
        collation: Collation::default(),
        comment: String::new(),
        auto_increment_start: 0,
        engine: "InnoDB".into(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    };
    db.ddl(
        Ddl {
            sql: "create database x1".into(),
            changes: vec![
                CatalogChange::PutDatabase(narwal_engine::DatabaseDef {
                    name: "x1".into(),
                    collation: Collation::default(),
                    comment: String::new(),
                }),
                CatalogChange::CreateTable(def),
            ],
            ..Ddl::default()
        },
        &narwal_engine::TxnOptions::default(),
    )
    .unwrap();
    let table = db.catalog().table("x1", "t").unwrap().clone();
    let dt = |s: &str| {
        ValueRef::DateTime(
            parse_datetime(s.as_bytes(), DateRules::default())
                .unwrap()
                .value,
        )
    };
    let values = [
        ValueRef::Int(1),
        ValueRef::UInt(2),
        ValueRef::Int(3),
        ValueRef::Decimal(Decimal::parse("4.50").unwrap()),
        ValueRef::Double(5.5),
        ValueRef::Float(6.5),
        ValueRef::Str(b"abc"),
        ValueRef::Str(b"Hello"),
        ValueRef::Bytes(b"bin"),
        ValueRef::Date(narwal_types::Date::new(2024, 2, 3)),
        dt("2024-02-03 10:11:12.345"),
        dt("2024-02-03 10:11:12"),
        ValueRef::Time(parse_time(b"10:11:12", false).unwrap().value),
    ];
    let mut row = Vec::new();
    table.layout.encode(&values, &mut row).unwrap();
    Fixture {
        _dir: dir,
        sources: vec![Source::new("t", table)],
        row,
    }
}

fn env() -> StatementEnv {
    let mut env = StatementEnv::new(Arc::new(NoVariables));
    env.db = Some("x1".into());
    // 2024-06-07 08:09:10
    env.now_micros = 1_717_747_750_000_000;
    env
}

impl Fixture {
    fn eval(
        &self,
        text: &str,
        env: &StatementEnv,
        params: &[Value],
    ) -> SqlResult<(Value, ExprType)> {
        let ast = parse_expression(text, &ParseOptions::default())?;
        let scope = Scope {
            sources: &self.sources,
            ..Scope::empty(env)
        };
        let e = bind(&ast, &scope)?;
        let row = ImageRow {
            layout: &self.sources[0].table.layout,
            row: &self.row,
        };
        let v = e.eval(&EvalCtx::new(env, params), &row)?;
        Ok((v, e.ty()))
    }

    fn text(&self, text: &str, params: &[Value]) -> String {
        match self.eval(text, &env(), params) {
            Ok((Value::Null, _)) => "NULL".into(),
            Ok((v, _)) => v.to_text(),
            Err(e) => format!("{} ({}) {}", e.code, e.sqlstate_str(), e.message),
        }
    }
}

/// What matters of a type: its family, and digits after the point.
fn family(sql: &str) -> String {
    let base = sql.split(['(', ' ']).next().unwrap_or("");
    let args = sql
        .split_once('(')
        .and_then(|(_, r)| r.split_once(')'))
        .map_or("", |(a, _)| a);
    match base {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => {
            format!(
                "integer{}",
                if sql.contains("unsigned") {
                    " unsigned"
                } else {
                    ""
                }
            )
        }
        "decimal" => format!("decimal {}", args.split(',').nth(1).unwrap_or("0")),
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => "text".into(),
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => "bytes".into(),
        "time" | "datetime" | "timestamp" => format!("{base} {args}"),
        other => other.into(),
    }
}

#[test]
fn answers_of_mariadb() {
    let f = fixture();
    let mut wrong = Vec::new();
    for line in include_str!("answers.tsv").lines() {
        let mut parts = line.split('\t');
        let (Some(text), Some(want), Some(want_ty)) = (parts.next(), parts.next(), parts.next())
        else {
            panic!("bad line {line}");
        };
        let want = want.replace("\\0", "\0").replace("\\\\", "\\");
        let (got, ty) = match f.eval(text, &env(), &[]) {
            Ok((Value::Null, ty)) => ("NULL".into(), ty.ty.sql_name()),
            // The protocol writes doubles with fixed digits.
            Ok((Value::Double(v), ty)) if ty.decimals < 31 => {
                (format!("{v:.*}", ty.decimals as usize), ty.ty.sql_name())
            }
            Ok((v, ty)) => (v.to_text(), ty.ty.sql_name()),
            Err(e) => (format!("error {} {}", e.code, e.message), String::new()),
        };
        if got != want {
            wrong.push(format!("{text}: {got:?}, MariaDB {want:?}"));
        } else if want_ty != "-" && family(&ty) != family(want_ty) {
            wrong.push(format!("{text}: type {ty}, MariaDB {want_ty}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn errors_of_mariadb() {
    let f = fixture();
    for (text, want) in [
        (
            "nosuch(1)",
            "1305 (42000) FUNCTION x1.nosuch does not exist",
        ),
        (
            "x1.nosuch(1)",
            "1305 (42000) FUNCTION x1.nosuch does not exist",
        ),
        ("nocol", "1054 (42S22) Unknown column 'nocol' in 'SELECT'"),
        ("t2.i", "1054 (42S22) Unknown column 't2.i' in 'SELECT'"),
        ("count(*)", "1111 (HY000) Invalid use of group function"),
        (
            "concat()",
            "1582 (42000) Incorrect parameter count in the call to native function 'concat'",
        ),
        (
            "'a' collate nosuch",
            "1273 (HY000) Unknown collation: 'nosuch'",
        ),
        (
            "9223372036854775807 + 1",
            "1690 (22003) BIGINT value is out of range in '9223372036854775807 + 1'",
        ),
        (
            "cast(1 as unsigned) - 2",
            "1690 (22003) BIGINT UNSIGNED value is out of range in 'cast(1 as unsigned) - 2'",
        ),
        (
            "i + b + 9223372036854775807",
            "1690 (22003) BIGINT value is out of range in '`x1`.`t`.`i` + `x1`.`t`.`b` + 9223372036854775807'",
        ),
        (
            "1e308 * 10",
            "1690 (22003) DOUBLE value is out of range in '1e308 * 10'",
        ),
        (
            "(select 1)",
            "1235 (42000) This version of Narwal doesn't yet support 'subqueries in this place'",
        ),
        (
            "sum(i) over ()",
            "4015 (HY000) Window function is allowed only in SELECT list and ORDER BY clause",
        ),
    ] {
        assert_eq!(f.text(text, &[]), want, "{text}");
    }
}

#[test]
fn parameters_take_the_type_of_their_value() {
    let f = fixture();
    let int = Value::Int;
    for (text, params, want) in [
        ("i = ?", vec![int(1)], "1"),
        ("c = ?", vec![Value::str("ABC")], "1"),
        ("? + 1", vec![int(2)], "3"),
        ("? + 1", vec![Value::str("2")], "3"),
        ("? / 3", vec![int(1)], "0.3333"),
        ("da = ?", vec![Value::str("2024-2-3")], "1"),
        ("b between ? and ?", vec![int(1), int(3)], "1"),
        ("concat(?, vc)", vec![Value::Null], "NULL"),
        ("if(?, 'a', 'b')", vec![int(0)], "b"),
        ("coalesce(?, 1)", vec![Value::Null], "1"),
        ("i in (?, ?)", vec![int(5), int(1)], "1"),
        ("vc like ?", vec![Value::str("he%")], "1"),
    ] {
        assert_eq!(f.text(text, &params), want, "{text}");
    }
}

#[test]
fn warnings_of_mariadb() {
    let f = fixture();
    for (text, want) in [
        ("'abc' + 1", "1292 Truncated incorrect DOUBLE value: 'abc'"),
        (
            "i = '1abc'",
            "1292 Truncated incorrect DECIMAL value: '1abc'",
        ),
        (
            "cast('12abc' as signed)",
            "1292 Truncated incorrect INTEGER value: '12abc'",
        ),
        (
            "da = 'abc'",
            "1292 Truncated incorrect datetime value: 'abc'",
        ),
        ("1 / 0", "1365 Division by 0"),
        ("cast('x' as date)", "1292 Incorrect datetime value: 'x'"),
        (
            "cast('abcdef' as char(3))",
            "1292 Truncated incorrect CHAR(3) value: 'abcdef'",
        ),
    ] {
        let env = env();
        f.eval(text, &env, &[]).unwrap();
        let w = env.conditions();
        assert_eq!(w.len(), 1, "{text}");
        assert_eq!(format!("{} {}", w[0].code, w[0].message), want);
    }
}

#[test]
fn timestamps_are_seen_in_the_time_zone() {
    let f = fixture();
    let mut env = env();
    env.time_zone = narwal_types::Zone::Offset(2 * 3600);
    let text = |t: &str| f.eval(t, &env, &[]).unwrap().0.to_text();
    assert_eq!(text("ts"), "2024-02-03 12:11:12");
    assert_eq!(text("dt"), "2024-02-03 10:11:12.345");
    assert_eq!(text("now()"), "2024-06-07 10:09:10");
    assert_eq!(text("utc_timestamp()"), "2024-06-07 08:09:10");
    assert_eq!(text("unix_timestamp(ts)"), "1706955072");
    assert_eq!(text("from_unixtime(0)"), "1970-01-01 02:00:00");
}

#[test]
fn aggregates_are_collected_once() {
    let f = fixture();
    let env = env();
    let aggs = RefCell::new(Vec::new());
    let scope = Scope {
        sources: &f.sources,
        aggregates: Some(&aggs),
        ..Scope::empty(&env)
    };
    let parse = |t: &str| parse_expression(t, &ParseOptions::default()).unwrap();
    let e = bind(&parse("sum(i) + count(*) + sum(i)"), &scope).unwrap();
    assert!(e.has_aggregate() && !e.has_column());
    bind(&parse("avg(n)"), &scope).unwrap();
    bind(&parse("count(distinct c)"), &scope).unwrap();
    bind(&parse("max(d)"), &scope).unwrap();
    assert!(bind(&parse("sum(count(*))"), &scope).is_err());
    let types: Vec<String> = aggs.borrow().iter().map(|a| a.ty.ty.sql_name()).collect();
    assert_eq!(
        types,
        [
            "decimal(32,0)",
            "bigint(20)",
            "decimal(14,6)",
            "bigint(20)",
            "double"
        ]
    );
}
