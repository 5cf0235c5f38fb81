use super::*;
use crate::ast::*;
use narwal_syntax::SqlMode;

fn parse(s: &str) -> SqlResult<Stmt> {
    parse_statement(s, &ParseOptions::default())
}

/// The error of a text, which may be nested deeply.
fn code(s: &str) -> u16 {
    let run = || match parse(s) {
        Ok(x) => panic!("{s}: {x:?}"),
        Err(e) => e.code,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(narwal_memory::STATEMENT_STACK);
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}

#[test]
fn sysbench_statements() {
    for s in [
        "CREATE TABLE sbtest1(\n  id INTEGER NOT NULL AUTO_INCREMENT,\n  k INTEGER DEFAULT '0' NOT NULL,\n  c CHAR(120) DEFAULT '' NOT NULL,\n  pad CHAR(60) DEFAULT '' NOT NULL,\n  PRIMARY KEY (id)\n) /*! ENGINE = innodb */ ",
        "CREATE INDEX k_1 ON sbtest1(k)",
        "SELECT c FROM sbtest1 WHERE id=?",
        "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?",
        "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?",
        "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c",
        "UPDATE sbtest1 SET k=k+1 WHERE id=?",
        "DELETE FROM sbtest1 WHERE id=?",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
        "INSERT INTO sbtest1(k, c, pad) VALUES(1, 'a', 'b'),(2, 'c', 'd')",
        "DROP TABLE IF EXISTS sbtest1",
        "SELECT count(k)\n FROM sbtest1\n WHERE k BETWEEN ? AND ? OR k BETWEEN ? AND ?",
        "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (?, ?, ?)",
        "CREATE TABLE IF NOT EXISTS sbtest1 (id INTEGER UNSIGNED NOT NULL,k INTEGER UNSIGNED DEFAULT '0' NOT NULL,KEY xid (id))",
    ] {
        parse(s).unwrap_or_else(|e| panic!("{s}: {e}"));
    }
}

#[test]
fn select_forms() {
    let Stmt::Select(s) =
        parse("SELECT DISTINCT a, b+1 AS x, t.*, COUNT(*) n, 'lit' FROM d.t AS t USE INDEX (k) WHERE a=? GROUP BY a HAVING n>1 ORDER BY 1 DESC, b LIMIT ?, 5 FOR UPDATE SKIP LOCKED")
            .unwrap()
    else {
        panic!()
    };
    assert!(s.distinct);
    assert_eq!(s.params, 2);
    assert_eq!(s.items.len(), 5);
    assert!(
        matches!(&s.items[1], SelectItem::Expr { alias: Some(a), text, .. } if a == "x" && text == "b+1")
    );
    assert!(
        matches!(&s.items[3], SelectItem::Expr { alias: Some(a), text, .. } if a == "n" && text == "COUNT(*)")
    );
    assert!(matches!(&s.items[4], SelectItem::Expr { alias: None, text, .. } if text == "lit"));
    assert_eq!(s.order_by.len(), 2);
    assert!(s.order_by[0].desc);
    assert_eq!(
        s.locking,
        [Locking {
            exclusive: true,
            wait: LockWait::SkipLocked,
            of: Vec::new(),
        }]
    );
    let Stmt::Select(s) =
        parse("select  1 +\n 1 , @@version_comment  from dual limit 1 lock in share mode nowait")
            .unwrap()
    else {
        panic!()
    };
    assert!(matches!(&s.items[0], SelectItem::Expr { text, .. } if text == "1 +\n 1"));
    assert!(matches!(&s.items[1], SelectItem::Expr { text, .. } if text == "@@version_comment"));
    assert!(s.from.is_none());
}

#[test]
fn errors() {
    // FULL is an alias to MariaDB, which has no full joins.
    assert!(parse("SELECT a FROM t FULL JOIN u").is_ok());
    assert_eq!(code("SELECT a FROM t x FULL JOIN u"), 1064);
    assert_eq!(code("SELECT a FROM (SELECT 1)"), 1064);
    assert_eq!(code("SELECT a FROM t LEFT JOIN u"), 1064);
    assert_eq!(code("SELECT 1 LIMIT 1 UNION SELECT 2"), 1064);
    assert_eq!(code("SELECT (SELECT 1"), 1064);
    assert_eq!(
        code(&format!("{}SELECT 1{}", "(".repeat(5000), ")".repeat(5000))),
        1436
    );
    assert_eq!(
        code(&format!(
            "SELECT 1 FROM {}t{}",
            "(".repeat(5000),
            ")".repeat(5000)
        )),
        1436
    );
    assert_eq!(
        code(&format!(
            "SELECT {}1{}",
            "(SELECT ".repeat(70),
            ")".repeat(70)
        )),
        1473
    );
    assert_eq!(code("SELECT FROM t"), 1064);
    assert_eq!(code("SELECT 1 1"), 1064);
    assert_eq!(code("SELEC 1"), 1064);
    assert_eq!(code("INSERT INTO t VALUES (1"), 1064);
    assert_eq!(
        code(&format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000))),
        1436
    );
    assert_eq!(code(&format!("SELECT 1{}", "+1".repeat(5000))), 1436);
    assert_eq!(code("SELECT '"), 1064);
    assert_eq!(code("SELECT 1 FROM select"), 1064);
}

#[test]
fn joins_unions_and_subqueries() {
    let select = |t: &str| match parse(t).unwrap_or_else(|e| panic!("{t}: {e:?}")) {
        Stmt::Select(s) => *s,
        _ => panic!(),
    };
    let s = select("SELECT * FROM a, b LEFT JOIN (c JOIN d USING (x)) ON a.y = b.y");
    let Some(From::Join(j)) = &s.from else {
        panic!()
    };
    assert_eq!((j.kind, &j.on), (JoinKind::Inner, &JoinOn::Nothing));
    let From::Join(j) = &j.right else { panic!() };
    assert_eq!(j.kind, JoinKind::Left);
    let From::Join(j) = &j.right else { panic!() };
    assert_eq!(j.on, JoinOn::Using(vec!["x".into()]));

    let s = select("(SELECT 1) UNION SELECT 2 UNION ALL SELECT 3 ORDER BY 1 LIMIT 2");
    let Some(From::Set { rest, .. }) = &s.from else {
        panic!()
    };
    let all: Vec<bool> = rest.iter().map(|(op, _)| op.all).collect();
    assert_eq!(all, [false, true]);
    assert!(s.limit.is_some() && rest[1].1.limit.is_none());

    let s = select(
        "SELECT (SELECT 7), t.* FROM (SELECT 1 AS x) t WHERE x IN (SELECT y FROM u WHERE y > ?) \
         AND NOT EXISTS (SELECT 1 FROM v WHERE z = (SELECT ?)) HAVING x = ?",
    );
    assert_eq!(s.subqueries.len(), 3);
    assert_eq!(s.params, 3);
    assert_eq!(s.subqueries[2].1.subqueries.len(), 1);
    assert!(matches!(&s.items[0], SelectItem::Expr { text, .. } if text == "(SELECT 7)"));
    assert!(matches!(&s.from, Some(From::Query { alias, .. }) if alias == "t"));
    let Stmt::Insert(i) = parse("INSERT INTO t (SELECT 1)").unwrap() else {
        panic!()
    };
    assert!(i.select().is_some());
}

#[test]
fn queries_put_together() {
    let select = |t: &str| match parse(t).unwrap_or_else(|e| panic!("{t}: {e:?}")) {
        Stmt::Select(s) => *s,
        _ => panic!(),
    };
    let rest = |s: &Select| match &s.from {
        Some(From::Set { rest, .. }) => rest.clone(),
        _ => panic!("{s:?}"),
    };
    // INTERSECT binds tighter.
    let s = select("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4");
    let parts = rest(&s);
    let kinds: Vec<(SetKind, bool)> = parts.iter().map(|(o, _)| (o.kind, o.all)).collect();
    assert_eq!(kinds, [(SetKind::Union, false), (SetKind::Except, true)]);
    assert_eq!(rest(&parts[0].1)[0].0.kind, SetKind::Intersect);
    // A parenthesis is a query only if it holds one.
    let s = select(
        "SELECT ((SELECT 1) + 2), x IN ((SELECT 1) UNION (SELECT 2)) FROM ((SELECT 1) UNION (SELECT 2)) t",
    );
    assert_eq!(s.subqueries.len(), 2);
    assert!(matches!(&s.from, Some(From::Query { .. })));
    let s = select("WITH RECURSIVE a (x) AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a, b");
    let with = s.with.unwrap();
    assert!(with.recursive && with.ctes.len() == 2 && with.ctes[0].columns == ["x"]);
    for bad in [
        "SELECT 1 ORDER BY 1 UNION SELECT 2",
        "SELECT 1 UNION",
        "WITH a AS SELECT 1 SELECT 2",
        "((SELECT 1)",
    ] {
        assert_eq!(parse(bad).unwrap_err().code, 1064, "{bad}");
    }
}

#[test]
fn insert_forms() {
    let Stmt::Insert(i) = parse("INSERT IGNORE t (a, b) VALUES (1, DEFAULT), (-2, DEFAULT(a)), (NULL, 'x''y') ON DUPLICATE KEY UPDATE a=VALUES(a), b=b+?").unwrap()
    else {
        panic!()
    };
    assert!(i.ignore && !i.replace);
    assert_eq!(i.on_duplicate.len(), 2);
    let InsertSource::Values(v) = &i.source else {
        panic!()
    };
    assert_eq!(v.len(), 3);
    assert_eq!(v[0][1], SetValue::Default);
    assert!(
        matches!(parse("REPLACE INTO d.t SET a=1, b=2").unwrap(), Stmt::Insert(i) if i.replace)
    );
    assert!(
        matches!(parse("INSERT INTO t SELECT * FROM u WHERE a>1").unwrap(), Stmt::Insert(i) if i.select().is_some())
    );
    assert!(matches!(
        parse("INSERT INTO t () VALUES ()").unwrap(),
        Stmt::Insert(_)
    ));
    assert!(matches!(
        parse("DELETE FROM t WHERE a=1 ORDER BY b LIMIT 3").unwrap(),
        Stmt::Delete(_)
    ));
    assert!(
        matches!(parse("UPDATE IGNORE t AS x SET x.a=1, b=DEFAULT WHERE x.a IN (1,2) LIMIT ?").unwrap(), Stmt::Update(u) if u.params == 1)
    );
}

#[test]
fn create_table_forms() {
    let s = "CREATE TABLE IF NOT EXISTS `d`.`t` (
        id BIGINT(20) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'x',
        `key` varchar(10) COLLATE utf8mb4_bin DEFAULT NULL,
        d decimal(12,4) NOT NULL DEFAULT -1.5,
        ts timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
        b blob, PRIMARY KEY (id), UNIQUE KEY u (`key`(5) DESC, d) USING BTREE COMMENT 'c', INDEX (b(20))
      ) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='hi'";
    let Stmt::Ddl(d) = parse(s).unwrap() else {
        panic!()
    };
    let DdlStmt::CreateTable(t) = *d else {
        panic!()
    };
    assert_eq!(t.elements.columns.len(), 5);
    assert_eq!(t.elements.indexes.len(), 3);
    assert_eq!(
        t.elements.indexes[1].columns[0],
        ("key".to_string(), Some(5), true)
    );
    assert_eq!(t.options.auto_increment, Some(7));
    assert_eq!(t.elements.columns[3].def.on_update, Some(3));
    assert_eq!(
        t.elements.columns[2].def.default,
        narwal_engine::DefaultDef::Text("-1.5".into())
    );
}

#[test]
fn modes() {
    let o = ParseOptions {
        sql_mode: SqlMode(SqlMode::NO_BACKSLASH_ESCAPES.0 | SqlMode::ANSI_QUOTES.0),
        ..ParseOptions::default()
    };
    let Stmt::Select(s) = parse_statement(r#"SELECT 'a\', "b" FROM t"#, &o).unwrap() else {
        panic!()
    };
    assert!(matches!(&s.items[0], SelectItem::Expr { text, .. } if text == r"a\"));
    assert!(matches!(
        &s.items[1],
        SelectItem::Expr {
            expr: AstExpr::Column(_),
            ..
        }
    ));
}

#[test]
fn definers_of_views() {
    use crate::ast::{DdlStmt, Definer};
    let definer = |text: &str| {
        let sql = format!(
            "CREATE DEFINER={text} SQL SECURITY INVOKER VIEW v AS SELECT 1 WITH LOCAL CHECK OPTION"
        );
        match parse_statement(&sql, &ParseOptions::default()).unwrap() {
            Stmt::Ddl(d) => match *d {
                DdlStmt::CreateView(v) => {
                    assert_eq!(v.source, "SELECT 1 WITH LOCAL CHECK OPTION");
                    assert_eq!(v.invoker, Some(true));
                    v.definer.unwrap()
                }
                d => panic!("{d:?}"),
            },
            s => panic!("{s:?}"),
        }
    };
    let account = |u: &str, h: &str| Definer::Account(u.into(), h.into());
    assert_eq!(definer("CURRENT_USER"), Definer::CurrentUser);
    assert_eq!(definer("current_user()"), Definer::CurrentUser);
    for text in [
        "root@localhost",
        "`root`@`localhost`",
        "'root'@localhost",
        "root@'localhost'",
    ] {
        assert_eq!(definer(text), account("root", "localhost"), "{text}");
    }
    assert_eq!(definer("'a@b'@'%'"), account("a@b", "%"));
    // A name alone may be a role.
    assert_eq!(definer("root"), account("root", ""));
    assert_eq!(definer("CURRENT_ROLE"), Definer::CurrentRole);
}
