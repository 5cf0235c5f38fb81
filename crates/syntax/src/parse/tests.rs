//! Texts and their trees, in a form with all parentheses.

use super::*;
use crate::SqlMode;
use crate::ast::{BinaryOp, Expr, From, InsertSource, IsTest, Literal, UnaryOp};

fn options(mode: SqlMode) -> ParseOptions {
    ParseOptions {
        sql_mode: mode,
        ..ParseOptions::default()
    }
}

fn show(e: &Expr) -> String {
    match e {
        Expr::Column(n) => n.clone(),
        Expr::Qualified(q) => format!("{}.{}", q.table, q.column),
        Expr::Literal(Literal::Number(n)) => n.clone(),
        Expr::Literal(Literal::String(s)) => format!("'{s}'"),
        Expr::Literal(Literal::Null) => "null".into(),
        Expr::Param(n) => format!("?{n}"),
        Expr::UserVar(n) => format!("@{n}"),
        Expr::Assign { name, value } => format!("(@{name} := {})", show(value)),
        Expr::Nested(e) => format!("[{}]", show(e)),
        Expr::Unary { op, expr } => {
            let word = match op {
                UnaryOp::Not => "not ",
                UnaryOp::Bang => "!",
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::BitNot => "~",
                UnaryOp::Binary => "binary ",
            };
            format!("({word}{})", show(expr))
        }
        Expr::Binary { op, left, right } => {
            let word = match op {
                BinaryOp::Or => "or",
                BinaryOp::And => "and",
                BinaryOp::Eq => "=",
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::BitXor => "^",
                BinaryOp::Concat => "||",
                _ => "op",
            };
            format!("({} {word} {})", show(left), show(right))
        }
        Expr::Like { expr, pattern, .. } => format!("({} like {})", show(expr), show(pattern)),
        Expr::Between {
            expr,
            low,
            high,
            negated,
        } => {
            let not = if *negated { "not " } else { "" };
            format!(
                "({} {not}between {} and {})",
                show(expr),
                show(low),
                show(high)
            )
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let list: Vec<String> = list.iter().map(show).collect();
            let not = if *negated { "not " } else { "" };
            format!("({} {not}in {})", show(expr), list.join(","))
        }
        Expr::InQuery { expr, query, .. } => format!("({} in q{query})", show(expr)),
        Expr::Is {
            expr,
            what: IsTest::Null,
            negated: false,
        } => format!("({} is null)", show(expr)),
        Expr::Collate { expr, collation } => format!("({} collate {collation})", show(expr)),
        Expr::Interval { value, unit } => format!("(interval {} {})", show(value), unit.name()),
        Expr::Subquery(n) => format!("q{n}"),
        Expr::Exists(n) => format!("e{n}"),
        Expr::Call(c) => {
            let args: Vec<String> = c.args.iter().map(show).collect();
            format!("{}({})", c.name, args.join(","))
        }
        other => format!("{other:?}"),
    }
}

fn tree(text: &str) -> String {
    tree_in(text, SqlMode(0))
}

fn tree_in(text: &str, mode: SqlMode) -> String {
    match parse_expression(text, &options(mode)) {
        Ok(e) => show(&e.expr),
        Err(e) => panic!("{text}: {e}"),
    }
}

#[test]
fn operators() {
    for (text, expected) in [
        ("a or b and c", "(a or (b and c))"),
        ("not a = b", "(not (a = b))"),
        (
            "a like binary 'x%' or b like binary 'y%'",
            "((a like (binary 'x%')) or (b like (binary 'y%')))",
        ),
        ("-a ^ b", "((-a) ^ b)"),
        ("-a collate c", "(-(a collate c))"),
        ("a between 1 and 2 and b", "((a between 1 and 2) and b)"),
        ("a between 1 and b in (2)", "(a between 1 and (b in 2))"),
        (
            "a between 1 and b not in (2)",
            "(a between 1 and (b not in 2))",
        ),
        (
            "d + interval 1 day - interval n hour",
            "((d + (interval 1 day)) - (interval n hour))",
        ),
        ("interval 1 day + d = e", "((interval 1 day) + (d = e))"),
        ("interval (1, 2)", "interval(1,2)"),
        ("@a := 1 or 0", "(@a := (1 or 0))"),
        ("a in ((select 1))", "(a in q0)"),
        ("((select 1) + 2) * exists (select 1)", "([(q0 + 2)] * e1)"),
        ("a || b && c", "(a or (b and c))"),
        ("'a' 'b'", "'ab'"),
        ("t.1b + .5", "(t.1b + .5)"),
        ("? + ?", "(?0 + ?1)"),
    ] {
        assert_eq!(tree(text), expected, "{text}");
    }
    assert_eq!(
        tree_in("a || b ^ c", SqlMode::PIPES_AS_CONCAT),
        "((a || b) ^ c)"
    );
    assert_eq!(
        tree_in("not a = b", SqlMode::HIGH_NOT_PRECEDENCE),
        "((not a) = b)"
    );
    assert_eq!(tree_in("\"a\" + b", SqlMode::ANSI_QUOTES), "(a + b)");
}

#[test]
fn errors_show_where() {
    for (text, near) in [
        ("SELECT 1 FROM", "near '' at line 1"),
        ("SELECT 1\nFROM t WHERE\n= 2", "near '= 2' at line 3"),
        ("SELECT 'abc", "near ''abc' at line 1"),
        ("SELECT 1 /* x", "near '/* x' at line 1"),
        ("SELECT 1, FROM t", "near 'FROM t' at line 1"),
        ("SELECT count (*)", "near '*)' at line 1"),
        ("SELECT 1 = NOT 1", "near 'NOT 1' at line 1"),
        ("SELECT a FROM t LEFT JOIN u", "near '' at line 1"),
        ("INSERT INTO t VALUES (1", "near '' at line 1"),
        ("DELETE FROM t AS x", "near 'AS x' at line 1"),
    ] {
        let e = parse_statement(text, &options(SqlMode::DEFAULT)).unwrap_err();
        assert_eq!(e.code, 1064, "{text}");
        assert!(e.message.ends_with(near), "{text}: {}", e.message);
    }
}

/// A `?` stands for a parameter of a prepared statement. In other texts it is an error where it stands, but behind earlier
/// ones.
#[test]
fn texts_that_run_at_once_have_no_parameters() {
    for (text, near) in [
        ("SELECT ?", "near '?' at line 1"),
        ("SELECT '?', ?, FROM", "near '?, FROM' at line 1"),
        ("CREATE VIEW v AS SELECT ?", "near '?' at line 1"),
        (
            "SELECT FROM t WHERE a = ?",
            "near 'FROM t WHERE a = ?' at line 1",
        ),
        ("UPDATE t SET a = 1 LIMIT ?", "near '?' at line 1"),
    ] {
        let e = parse_text(text, &options(SqlMode::DEFAULT)).unwrap_err();
        assert_eq!(e.code, 1064, "{text}");
        assert!(e.message.ends_with(near), "{text}: {}", e.message);
    }
    assert!(parse_text("SELECT '?', `?` /* ? */", &options(SqlMode::DEFAULT)).is_ok());
    assert!(parse_statement("SELECT ?", &options(SqlMode::DEFAULT)).is_ok());
}

/// Runs a test on a stack as statements have it.
fn on_a_statement_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(narwal_memory::STATEMENT_STACK);
    thread.spawn(test).unwrap().join().unwrap();
}

#[test]
fn nesting_ends() {
    on_a_statement_stack(|| {
        for text in [
            format!("SELECT {}1", "(".repeat(20_000)),
            format!("SELECT {}1", "-".repeat(20_000).replace("--", "- -")),
            format!("SELECT {}1", "NOT ".repeat(20_000)),
            format!("SELECT {}1", "f(".repeat(20_000)),
            format!("SELECT 1{}", " BETWEEN 1 AND 1".repeat(20_000)),
            format!("SELECT {}1", "@a := ".repeat(20_000)),
            format!("SELECT {}", "CASE WHEN ".repeat(20_000)),
            format!("SELECT 1{}", " + INTERVAL 1 DAY".repeat(20_000)),
            format!("SELECT {}", "INTERVAL 1 DAY + ".repeat(20_000)),
            format!("SELECT {}1", "BINARY ".repeat(20_000)),
            format!("SELECT 1 FROM {}t", "t LEFT JOIN (".repeat(20_000)),
            format!("SELECT 1 FROM {}", "t JOIN ".repeat(20_000)),
        ] {
            let e = parse_statement(&text, &options(SqlMode::DEFAULT)).unwrap_err();
            assert!(matches!(e.code, 1436 | 1064 | 1116), "{}: {e}", &text[..30]);
        }
    });
}

/// What goes over a tree needs stack for all of its levels, whether parentheses or a chain of operators made them.
#[test]
fn levels_of_a_tree_count_together() {
    let code = |text: String| match parse_statement(&text, &options(SqlMode::DEFAULT)) {
        Ok(_) => 0,
        Err(e) => e.code,
    };
    let nested = |n: usize| format!("SELECT {}1{}", "IF(1,2,".repeat(n), ")".repeat(n));
    let chain = |n: usize| format!("SELECT 1{}", " + 1".repeat(n));
    let both = |n: usize, k: usize| {
        let more = format!("){}", " + 1".repeat(k));
        format!("SELECT {}1{}", "(".repeat(n), more.repeat(n))
    };
    let beside = |n: usize| format!("SELECT f({}1)", "1 + 1, ".repeat(n));
    let parens = |n: usize| format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n));
    let list = |n: usize| format!("SELECT 1{}", " OR 1".repeat(n));
    let run = move || {
        assert_eq!([code(nested(593)), code(chain(593))], [0, 0]);
        assert_eq!([code(nested(594)), code(chain(594))], [1436, 1436]);
        assert_eq!([code(parens(1290)), code(list(1290))], [0, 0]);
        assert_eq!([code(parens(1400)), code(list(1400))], [1436, 1436]);
        assert_eq!([code(both(190, 3)), code(both(2, 290))], [0, 0]);
        assert_eq!([code(both(300, 3)), code(both(3, 290))], [1436, 1436]);
        assert_eq!(code(beside(3000)), 0, "as high as one of them");
    };
    on_a_statement_stack(run);
}

#[test]
fn comments_that_are_run() {
    let columns = |text: &str| match parse_statement(text, &options(SqlMode::DEFAULT)).unwrap() {
        Statement::Select(s) => s
            .items
            .into_iter()
            .map(|i| match i {
                SelectItem::Expr { text, .. } => text,
                _ => "*".into(),
            })
            .collect::<Vec<_>>(),
        s => panic!("{s:?}"),
    };
    assert_eq!(columns("SELECT 1 /*! + 2 */"), ["1  + 2"]);
    assert_eq!(columns("SELECT 1 /*!999999 + 2 */ + 4"), ["1  + 4"]);
    assert_eq!(columns("SELECT 1 /* c */ + 2"), ["1 /* c */ + 2"]);
    assert_eq!(
        columns("/*!50001 SELECT */ /*M! 1 */, 'x' 'y', _utf8mb4'z'"),
        ["1", "xy", "z"]
    );
}

#[test]
fn rows_of_literals_are_kept_as_text() {
    let rows = "(1,'a;b'),".repeat(5000);
    let text = format!(
        "INSERT INTO t VALUES {} ON DUPLICATE KEY UPDATE a = ?",
        rows.trim_end_matches(',')
    );
    for mode in [
        SqlMode(0),
        SqlMode::ANSI_QUOTES,
        SqlMode::NO_BACKSLASH_ESCAPES,
    ] {
        let Statement::Insert(i) = parse_statement(&text, &options(mode)).unwrap() else {
            panic!("no INSERT")
        };
        assert!(matches!(&i.source, InsertSource::Literals(r) if r.len() == 5000));
        assert_eq!((i.params, i.on_duplicate.len()), (1, 1));
    }
}

#[test]
fn joins_stand_together() {
    let from = |text: &str| match parse_statement(text, &options(SqlMode::DEFAULT)).unwrap() {
        Statement::Select(s) => s.from.unwrap(),
        s => panic!("{s:?}"),
    };
    let From::Join(j) = from("SELECT 1 FROM a LEFT JOIN b JOIN c ON 1 ON 2") else {
        panic!("no join")
    };
    assert!(matches!(
        (&j.left, &j.right),
        (From::Table(_), From::Join(_))
    ));
    assert!(matches!(
        from("SELECT 1 FROM {oj a LEFT JOIN b ON 1}"),
        From::Join(_)
    ));
    assert!(matches!(
        from("SELECT 1 FROM (((SELECT 1) t))"),
        From::Query { .. }
    ));
}
