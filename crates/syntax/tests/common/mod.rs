//! Hostile statements: random words, damaged and spliced statements, and things nested in each other.
#![allow(missing_docs, clippy::unwrap_used)]

use narwal_syntax::{ParseOptions, SqlMode, parse_statement, split_statements};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// A statement of each kind, to be damaged.
const STATEMENTS: &[&str] = &[
    "SELECT DISTINCT a, t.b AS c, COUNT(*) FROM d.t AS t LEFT JOIN (SELECT 1 AS x) u ON t.a = u.x WHERE a LIKE 'x%' AND NOT b BETWEEN 1 AND 2 OR c IN (SELECT d FROM e) GROUP BY a WITH ROLLUP HAVING COUNT(*) > 1 ORDER BY 1 DESC LIMIT 5, 10 FOR UPDATE",
    "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n, SUM(n) OVER (PARTITION BY n ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM r",
    "(SELECT 1) UNION (SELECT 2 EXCEPT SELECT 3) INTERSECT VALUES (1), (2) ORDER BY 1 LIMIT 1",
    "SELECT CASE a WHEN 1 THEN 'x' ELSE CAST(b AS CHAR(3) CHARACTER SET utf8mb4) END, EXTRACT(DAY FROM c), c + INTERVAL 1 DAY, TRIM(BOTH 'x' FROM d), _utf8'y' COLLATE utf8_bin, @v := 1, @@global.x, {d '2020-01-01'}, 0x41, b'1', 1e5, .5",
    "INSERT LOW_PRIORITY IGNORE INTO t (a, b) VALUES (1, DEFAULT), (2, 'x') ON DUPLICATE KEY UPDATE a = VALUES(a) + 1 RETURNING a, b",
    "REPLACE INTO t SET a = 1, b = (SELECT MAX(a) FROM u)",
    "UPDATE t, u SET t.a = u.b WHERE t.id = u.id",
    "DELETE t FROM t USING t JOIN u USING (id) WHERE u.x IS NOT NULL",
    "LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE t CHARACTER SET utf8 FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES STARTING BY 'x' IGNORE 1 LINES (a, @b) SET c = @b",
    "CREATE OR REPLACE TEMPORARY TABLE d.t (id INT(11) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'x', a VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'y' CHECK (a > ''), b ENUM('p','q') AS (a) STORED UNIQUE, c TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE NOW(6), PRIMARY KEY (id), KEY k USING BTREE (a(3) DESC) KEY_BLOCK_SIZE 4, CONSTRAINT f FOREIGN KEY (a) REFERENCES u (b) ON DELETE SET NULL ON UPDATE CASCADE, PERIOD FOR p (x, y)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4, ROW_FORMAT=DYNAMIC x='y' PARTITION BY RANGE (id) SUBPARTITION BY KEY (a) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (10) COMMENT 'x' (SUBPARTITION s0, SUBPARTITION s1), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "CREATE TABLE IF NOT EXISTS t (a INT) IGNORE AS SELECT 1 AS a",
    "CREATE TABLE t (LIKE d.u)",
    "ALTER ONLINE IGNORE TABLE IF EXISTS t WAIT 5 ADD COLUMN (a INT, b INT), DROP FOREIGN KEY IF EXISTS f, MODIFY c INT AFTER a, CHANGE d e BLOB FIRST, ALTER f SET DEFAULT (1 + 2), RENAME INDEX i TO j, CONVERT TO CHARACTER SET utf8 COLLATE utf8_bin, ALGORITHM=INPLACE, LOCK=NONE, ADD PERIOD FOR SYSTEM_TIME (x, y) REMOVE PARTITIONING",
    "ALTER TABLE t REORGANIZE PARTITION p INTO (PARTITION q VALUES IN ((1, 2), (3, 4)))",
    "CREATE UNIQUE INDEX i USING HASH ON t (a, b WITHOUT OVERLAPS) NOWAIT COMMENT 'x' ALGORITHM=COPY",
    "CREATE ALGORITHM=MERGE DEFINER=a@localhost SQL SECURITY INVOKER VIEW v (x) AS SELECT 1 WITH CASCADED CHECK OPTION",
    "CREATE SEQUENCE s START WITH 1 INCREMENT BY -2 MINVALUE -10 NO MAXVALUE CACHE 5 CYCLE ENGINE=InnoDB",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h', PORT 1)",
    "CREATE DATABASE d CHARACTER SET utf8 COLLATE utf8_bin COMMENT 'x'",
    "DROP TABLE IF EXISTS a, b.c WAIT 1 CASCADE",
    "RENAME TABLE a TO b, c NOWAIT TO d",
    "CREATE DEFINER=CURRENT_USER PROCEDURE p (IN a INT, OUT b TYPE OF t.c) READS SQL DATA l: BEGIN DECLARE x, y INT DEFAULT 1; DECLARE c CURSOR (z INT) FOR SELECT z; DECLARE EXIT HANDLER FOR NOT FOUND, SQLSTATE '42000' BEGIN END; IF x THEN LEAVE l; ELSEIF y THEN SELECT 1 INTO x; ELSE CALL q(1); END IF; CASE x WHEN 1 THEN SET y = 2; END CASE; m: WHILE x DO ITERATE m; END WHILE m; REPEAT FETCH c INTO x; UNTIL x END REPEAT; FOR i IN REVERSE 1..10 DO SELECT i; END FOR; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'; GET DIAGNOSTICS CONDITION 1 @a = MESSAGE_TEXT; END l",
    "CREATE FUNCTION f (a INT) RETURNS VARCHAR(10) DETERMINISTIC RETURN CONCAT(a, 'x')",
    "CREATE TRIGGER t BEFORE INSERT ON u FOR EACH ROW FOLLOWS v SET NEW.a = OLD.b + 1",
    "CREATE EVENT e ON SCHEDULE EVERY '1:2' HOUR_MINUTE STARTS NOW() ON COMPLETION PRESERVE DISABLE ON SLAVE COMMENT 'x' DO BEGIN NOT ATOMIC SELECT 1; END",
    "SET STATEMENT max_statement_time = 1 FOR SET SESSION x = 1, @y := 2, GLOBAL z = DEFAULT, NAMES utf8 COLLATE utf8_bin",
    "SHOW FULL COLUMNS FROM t IN d LIKE 'x%'",
    "GRANT SELECT (a, b), INSERT ON d.* TO 'u'@'%' IDENTIFIED BY 'p' REQUIRE SSL WITH GRANT OPTION MAX_QUERIES_PER_HOUR 5",
    "EXPLAIN FORMAT=JSON SELECT 1",
    "CHANGE MASTER TO MASTER_HOST='h', MASTER_PORT=1, MASTER_USE_GTID=slave_pos",
    "XA START 'a', 'b', 1",
    "PREPARE s FROM 'SELECT ?'",
    "LOCK TABLES a READ LOCAL, b AS c WRITE",
    "/*!50001 SELECT /*M!100300 1 */ */ -- x\n + 2 # y",
];

/// Words that most grammars have, beside those of the statements.
const WORDS: &[&str] = &[
    "(",
    ")",
    ",",
    ".",
    ";",
    "=",
    ":=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "~",
    "||",
    "&&",
    "<=>",
    "@",
    "@@",
    "?",
    "'",
    "\"",
    "`",
    "''",
    "'a'",
    "``",
    "`a`",
    "1",
    "0",
    "1.5",
    "1e5",
    "0x41",
    "x'4'",
    "b'2'",
    "18446744073709551616",
    "..",
    "1..2",
    ":",
    "{",
    "}",
    "/*",
    "*/",
    "/*!",
    "/*!99999 ",
    "/*M!",
    "-- ",
    "#",
    "\\",
    "\0",
    "é",
    "😀",
    "_utf8",
    "N'x'",
    "END",
    "BEGIN",
    "NOT",
    "NULL",
    "SELECT",
    "FROM",
    "WHERE",
    "UNION",
    "VALUES",
    "ROW",
    "INTERVAL",
    "BINARY",
    "COLLATE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "IF",
    "EXISTS",
    "AS",
    "ON",
    "SET",
    "DEFAULT",
    "FOR",
    "WITH",
    "OF",
    "TO",
    "IN",
    "BY",
    "KEY",
    "INDEX",
    "TABLE",
    "PARTITION",
];

/// What opens and closes something that may hold itself.
const NESTS: &[(&str, &str, &str)] = &[
    ("SELECT ", "(", ")"),
    ("SELECT 1 FROM ", "(", ")"),
    ("", "(SELECT ", ")"),
    ("SELECT ", "(SELECT ", ")"),
    ("SELECT * FROM ", "(SELECT * FROM ", ") x"),
    ("SELECT * FROM ", "(t JOIN ", ")"),
    ("SELECT ", "NOT ", ""),
    ("SELECT ", "- ", ""),
    ("SELECT ", "~ ! ", ""),
    ("SELECT ", "BINARY ", ""),
    ("SELECT ", "a OR ", ""),
    ("SELECT ", "a + ", ""),
    ("SELECT ", "a LIKE ", ""),
    ("SELECT ", "a BETWEEN b AND ", ""),
    ("SELECT a ", "COLLATE c ", ""),
    ("SELECT ", "f(", ")"),
    ("SELECT ", "CASE WHEN ", " THEN 1 END"),
    ("SELECT ", "CAST(", " AS INT)"),
    ("SELECT ", "INTERVAL 1 DAY + ", ""),
    ("SELECT ", "EXISTS (SELECT ", ")"),
    ("SELECT ", "{x ", "}"),
    ("SELECT ", "@a := ", ""),
    ("SELECT 1", " UNION SELECT 1", ""),
    ("SELECT * FROM a", " JOIN b", ""),
    ("WITH ", "a AS (WITH ", ") SELECT 1"),
    ("EXPLAIN ", "EXPLAIN ", ""),
    ("", "SET STATEMENT x = 1 FOR ", ""),
    ("CREATE PROCEDURE p() ", "BEGIN ", "; END"),
    ("CREATE PROCEDURE p() ", "IF 1 THEN ", "; END IF"),
    ("CREATE PROCEDURE p() ", "CASE WHEN 1 THEN ", "; END CASE"),
    ("CREATE PROCEDURE p() ", "a: LOOP ", "; END LOOP"),
    ("CREATE PROCEDURE p() ", "WHILE 1 DO ", "; END WHILE"),
    ("CREATE PROCEDURE p() ", "REPEAT ", "; UNTIL 1 END REPEAT"),
    (
        "CREATE PROCEDURE p() ",
        "BEGIN DECLARE EXIT HANDLER FOR 1 ",
        "; END",
    ),
    ("", "BEGIN NOT ATOMIC ", "; END"),
    ("", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ", ""),
    ("CREATE TABLE t (a INT DEFAULT ", "(", "))"),
    ("CREATE TABLE t ", "(", ")"),
    (
        "CREATE TABLE t (a INT) PARTITION BY LIST (a) (PARTITION p VALUES IN (",
        "(",
        ")))",
    ),
    ("", "/*!", "*/"),
    (
        "SELECT JSON_TABLE('x', '$' COLUMNS (",
        "NESTED PATH '$' COLUMNS (",
        "))",
    ),
    ("SELECT a -> ", "'x' -> ", ""),
    ("SHOW TABLES WHERE ", "(", ")"),
    ("", "ANALYZE ", "SELECT 1"),
];

/// How long one statement may take, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

fn pick<T: Clone>(rng: &mut StdRng, list: &[T]) -> T {
    list[rng.random_range(0..list.len())].clone()
}

/// A statement cut into words, strings and signs.
fn pieces(sql: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last = None;
    for c in sql.chars() {
        let class = match c {
            c if c.is_alphanumeric() || matches!(c, '_' | '@' | '\'') => 0,
            c if c.is_whitespace() => 1,
            _ => 2,
        };
        match out.last_mut() {
            Some(word) if last == Some(class) && class != 2 => word.push(c),
            _ => out.push(c.to_string()),
        }
        last = Some(class);
    }
    out
}

fn damaged(rng: &mut StdRng, more: &[String]) -> String {
    let any = |rng: &mut StdRng| match more.is_empty() || rng.random_bool(0.7) {
        true => pieces(pick(rng, STATEMENTS)),
        false => pieces(&pick(rng, more)),
    };
    let mut list = any(rng);
    for _ in 0..rng.random_range(1..4) {
        let from = rng.random_range(0..list.len().max(1)).min(list.len());
        let to = (from + rng.random_range(1..8)).min(list.len());
        match rng.random_range(0..6) {
            0 => drop(list.drain(from..to)),
            1 => {
                let copy = list[from..to].to_vec();
                list.splice(to..to, copy);
            }
            2 | 3 => {
                let word = pick(rng, WORDS).to_string();
                list.insert(from, word);
            }
            4 => {
                let other = any(rng);
                let a = rng.random_range(0..other.len().max(1)).min(other.len());
                let b = (a + rng.random_range(1..12)).min(other.len());
                list.splice(from..to, other[a..b].iter().cloned());
            }
            _ => {
                let mut text: Vec<char> = list.concat().chars().collect();
                if !text.is_empty() {
                    let at = rng.random_range(0..text.len());
                    text[at] = char::from(rng.random_range(0..128u8));
                }
                list = vec![text.into_iter().collect()];
            }
        }
    }
    list.concat()
}

fn words(rng: &mut StdRng) -> String {
    let mut out = String::new();
    for _ in 0..rng.random_range(1..40) {
        let from = pieces(pick(rng, STATEMENTS));
        match rng.random_bool(0.5) {
            true => out.push_str(pick(rng, WORDS)),
            false => out.push_str(&pick(rng, &from)),
        }
        if rng.random_bool(0.8) {
            out.push(' ');
        }
    }
    out
}

fn nested(rng: &mut StdRng) -> String {
    let (head, open, close) = pick(rng, NESTS);
    let most = if rng.random_ratio(1, 10) {
        100_000
    } else {
        400
    };
    let n = rng.random_range(1..most);
    let closed = if rng.random_bool(0.8) { n } else { n / 2 };
    let middle = pick(rng, &["1", "SELECT 1", "", "a", "(1", "BEGIN END"]);
    format!("{head}{}{middle}{}", open.repeat(n), close.repeat(closed))
}

/// Parses the statement of a seed.
///
/// # Panics
/// If the parser does, or takes too long, or gives an error that is none.
pub fn case(seed: u64, more: &[String]) -> bool {
    let mut rng = StdRng::seed_from_u64(seed);
    let text = match rng.random_range(0..10) {
        0 => nested(&mut rng),
        1..=3 => words(&mut rng),
        _ => damaged(&mut rng, more),
    };
    let modes = [
        SqlMode::default(),
        SqlMode::DEFAULT,
        SqlMode::ANSI_QUOTES,
        SqlMode::NO_BACKSLASH_ESCAPES,
        SqlMode::IGNORE_SPACE,
        SqlMode::PIPES_AS_CONCAT,
        SqlMode::HIGH_NOT_PRECEDENCE,
        SqlMode::ORACLE,
    ];
    let opts = ParseOptions {
        sql_mode: pick(&mut rng, &modes),
        ..ParseOptions::default()
    };
    let start = Instant::now();
    let parsed = parse_statement(&text, &opts);
    let _ = split_statements(&text, opts.sql_mode);
    let took = start.elapsed();
    let begin: String = text.chars().take(2000).collect();
    assert!(took < PATIENCE, "seed {seed}: {took:?} for\n{begin}");
    match parsed {
        Ok(_) => true,
        Err(e) => {
            assert!(
                e.code != 0 && !e.message.is_empty(),
                "seed {seed}: an error without a name for\n{begin}"
            );
            false
        }
    }
}
