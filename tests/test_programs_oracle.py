"""sql_mode=ORACLE on Narwal and MariaDB 10.11: its language of stored programs, its types and functions: equal answers."""

from __future__ import annotations

import pytest

from test_programs import compare

SETUP = ["SET sql_mode = ORACLE"]

SCRIPTS = {
    "what SHOW CREATE says": [
        "CREATE TABLE p (id INT PRIMARY KEY)",
        "CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT 'it''s `x`',"
        " c VARCHAR(10) CHARACTER SET latin1, d mariadb_schema.DATE, e DATE, f INT, g oracle_schema.DATE, KEY k (c) COMMENT 'kk',"
        " CONSTRAINT fk FOREIGN KEY (f) REFERENCES p (id), CHECK (f > 1)) COMMENT = 'c'",
        "SHOW CREATE TABLE t", "SET sql_mode = 'NO_FIELD_OPTIONS'", "SHOW CREATE TABLE t", "SET sql_mode = 'NO_KEY_OPTIONS'", "SHOW CREATE TABLE t",
        "SET sql_mode = 'NO_TABLE_OPTIONS'", "SHOW CREATE TABLE t", "SET sql_mode = 'ANSI_QUOTES'", "SHOW CREATE TABLE t", "SET sql_mode = ORACLE",
        "CREATE VIEW v AS SELECT a, b FROM t", "SHOW CREATE VIEW v",
        "CREATE TABLE u (a maxdb_schema.TIMESTAMP, b maxdb_schema.DATE)", "SHOW CREATE TABLE u",
    ],
    "bodies of packages": [
        "CREATE PACKAGE k AS FUNCTION f1 RETURN INT; PROCEDURE p1; END",
        "CREATE PACKAGE BODY k AS FUNCTION f1 RETURN INT AS BEGIN RETURN 1; END; PROCEDURE p1(a INT) AS BEGIN NULL; END; END",
        "CREATE PACKAGE BODY k AS n INT := 0; FUNCTION f1 RETURN TEXT AS BEGIN n := n + 1; RETURN n; END;"
        " PROCEDURE p1 AS BEGIN n := n + 1; SELECT n; END; END",
        "SELECT k.f1()", "CALL k.p1()", "CREATE FUNCTION other RETURN INT AS BEGIN RETURN 1; END", "SELECT k.f1()", "DROP FUNCTION other", "CALL k.p1()",
    ],
    "routines": [
        "CREATE FUNCTION f1 RETURN INT AS BEGIN RETURN 10; END", "SELECT f1()", "SELECT f1 + 1", "CREATE PROCEDURE p1 IS BEGIN SET @a = 5; END p1",
        "CALL p1", "CALL p1()", "SELECT @a",
        "CREATE PROCEDURE p2(a IN INT, b OUT INT, c IN OUT VARCHAR2(20)) AS x INT := 3; y INT DEFAULT 4; BEGIN b := a + x + y; c := c || b; END",
        "SET @c = 'c'", "CALL p2(1, @b, @c)", "SELECT @b, @c",
        "CREATE PROCEDURE p3 AS BEGIN p1; p2(2, @b, @c); END", "CALL p3", "SELECT @b, @c",
        "CREATE PROCEDURE p4 AS BEGIN RETURN; SELECT 'never'; END", "CALL p4", "CREATE PROCEDURE p5 AS BEGIN RETURN 1; END",
        "CREATE FUNCTION f2(a NUMBER, b NUMBER(10,2), c VARCHAR2, d CLOB) RETURN VARCHAR AS BEGIN RETURN a || b || c || d; END",
        "SELECT f2(1, 2.345, 'x', 'y')", "CREATE PROCEDURE p6() BEGIN END",
    ],
    "blocks": [
        "BEGIN SELECT 1; END", "DECLARE a INT := 5; BEGIN a := a + 1; SELECT a; END", "<<lab>> BEGIN SELECT 2; END lab",
        "DECLARE a INT; BEGIN DECLARE b INT := 7; BEGIN a := b; END; SELECT a; END", "BEGIN SELECT 1; END x",
        "DECLARE i INT := 0; BEGIN LOOP i := i + 1; EXIT WHEN i = 3; END LOOP; SELECT i; END",
        "DECLARE i INT := 0; BEGIN <<l>> WHILE i < 10 LOOP i := i + 1; CONTINUE l WHEN i < 5; EXIT l; END LOOP l; SELECT i; END",
        "DECLARE s INT := 0; BEGIN FOR i IN 1..4 LOOP s := s + i; END LOOP; FOR i IN REVERSE 1..2 LOOP s := s * 10 + i; END LOOP; SELECT s; END",
        "BEGIN EXIT; END", "BEGIN CONTINUE; END", "BEGIN LOOP EXIT nolab; END LOOP; END",
        "DECLARE a INT := 2; BEGIN IF a = 1 THEN SELECT 'one'; ELSIF a = 2 THEN SELECT 'two'; ELSE SELECT 'more'; END IF; END",
        "DECLARE a INT := 2; BEGIN CASE a WHEN 1 THEN NULL; WHEN 2 THEN SELECT 'case'; END CASE; END",
        "DECLARE i INT := 0; BEGIN <<again>> i := i + 1; IF i < 3 THEN GOTO again; END IF; SELECT i; GOTO done; SELECT 'skipped'; <<done>> SELECT 'done'; END",
        "BEGIN GOTO nolab; END", "BEGIN <<a>> NULL; <<a>> NULL; END", "BEGIN IF 1 THEN <<inner>> NULL; END IF; GOTO inner; END",
    ],
    "exceptions": [
        "CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)",
        "DECLARE x INT; BEGIN SELECT a INTO x FROM t; EXCEPTION WHEN TOO_MANY_ROWS THEN SELECT 'many', SQLCODE; WHEN NO_DATA_FOUND THEN SELECT 'none'; END",
        "DECLARE x INT; BEGIN SELECT a INTO x FROM t WHERE a = 9; EXCEPTION WHEN TOO_MANY_ROWS THEN SELECT 'many'; WHEN NO_DATA_FOUND THEN SELECT 'none', SQLCODE; END",
        "BEGIN INSERT INTO t VALUES (1); EXCEPTION WHEN DUP_VAL_ON_INDEX THEN SELECT 'dup', SQLERRM; END",
        "BEGIN SELECT * FROM nothing; EXCEPTION WHEN OTHERS THEN SELECT 'others', SQLCODE; END", "BEGIN SELECT SQLCODE, SQLERRM; END",
        "DECLARE e EXCEPTION; f EXCEPTION; BEGIN RAISE e; EXCEPTION WHEN f THEN SELECT 'f'; WHEN e THEN SELECT 'e'; END",
        "DECLARE e EXCEPTION; BEGIN RAISE e; END", "RAISE NO_DATA_FOUND", "RAISE", "BEGIN RAISE nothing; END",
        "BEGIN SELECT * FROM nothing; EXCEPTION WHEN OTHERS THEN RAISE; END",
        "DECLARE e EXCEPTION; BEGIN BEGIN RAISE e; EXCEPTION WHEN e THEN RAISE; END; EXCEPTION WHEN e, TOO_MANY_ROWS THEN SELECT 'outer'; END",
        "DECLARE CURSOR c IS SELECT a FROM t; x INT; BEGIN FETCH c INTO x; EXCEPTION WHEN INVALID_CURSOR THEN SELECT 'closed'; END",
    ],
    "cursors": [
        "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10))", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')",
        """DECLARE CURSOR c(n INT) IS SELECT a, b FROM t WHERE a >= n ORDER BY a; r c%ROWTYPE; BEGIN
           SELECT c%ISOPEN; OPEN c(2); SELECT c%ISOPEN, c%FOUND, c%NOTFOUND, c%ROWCOUNT;
           LOOP FETCH c INTO r; EXIT WHEN c%NOTFOUND; SELECT r.a, r.b, c%ROWCOUNT; END LOOP; SELECT c%FOUND, c%ROWCOUNT; CLOSE c; SELECT c%ISOPEN; END""",
        "DECLARE CURSOR c IS SELECT 1 FROM t; BEGIN SELECT c%FOUND; END", "SELECT c%ISOPEN", "BEGIN SELECT c%FOUND; END",
        "BEGIN FOR r IN (SELECT * FROM t ORDER BY a) LOOP SELECT r.a, r.b; END LOOP; END",
        "DECLARE CURSOR c(n INT) IS SELECT a FROM t WHERE a > n ORDER BY a; BEGIN FOR r IN c(1) LOOP SELECT r.a; END LOOP; END",
        "DECLARE x t.a%TYPE; y x%TYPE; r t%ROWTYPE; BEGIN x := 4; y := x + 1; r.a := y; r.b := 'r'; SELECT x, y, r.a, r.b; END",
        "BEGIN UPDATE t SET b = 'q' WHERE a > 1; SELECT SQL%ROWCOUNT; END",
        "DECLARE r ROW(a INT, b VARCHAR(5)) := ROW(1, 'k'); s ROW(a INT, b VARCHAR(5)); BEGIN s := r; s.a := s.a + 1; SELECT r.a, s.a, s.b; END",
    ],
    "triggers": [
        "CREATE TABLE t (a INT, b INT)",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN IF :NEW.a IS NULL THEN :NEW.a := 10; END IF; NEW.b := :NEW.a * 2; END",
        "INSERT INTO t (a) VALUES (1), (NULL)", "SELECT * FROM t",
        "CREATE TRIGGER tu BEFORE UPDATE ON t FOR EACH ROW DECLARE d INT := :NEW.a - :OLD.a; BEGIN :NEW.b := d; END",
        "UPDATE t SET a = a + 5", "SELECT * FROM t",
    ],
    "packages": [
        "CREATE PACKAGE pkg AS FUNCTION f1 RETURN INT; PROCEDURE p1(a INT); PROCEDURE show_it; END",
        """CREATE PACKAGE BODY pkg AS n INT := 10;
           FUNCTION f1 RETURN INT AS BEGIN n := n + 1; RETURN n; END;
           FUNCTION priv RETURN INT AS BEGIN RETURN n * 100; END;
           PROCEDURE p1(a INT) AS BEGIN n := a; END;
           PROCEDURE show_it AS BEGIN SELECT n; SELECT priv(); p1(n + 1); SELECT n; END;
           BEGIN n := n + 5; END""",
        "SELECT pkg.f1()", "SELECT pkg.f1()", "CALL pkg.p1(3)", "CALL pkg.show_it()", "CALL pkg.show_it", "SELECT pkg.priv()", "SELECT pkg.nothing()",
        "BEGIN pkg.p1(7); pkg.show_it; END", "CREATE PACKAGE pkg AS PROCEDURE x; END", "CREATE PACKAGE IF NOT EXISTS pkg AS PROCEDURE x; END",
        "CREATE OR REPLACE PACKAGE BODY pkg AS PROCEDURE p1(a INT) AS BEGIN NULL; END; END", "CREATE PACKAGE BODY nothing AS PROCEDURE x AS BEGIN NULL; END; END",
        "CREATE PACKAGE two AS PROCEDURE a; PROCEDURE a; END",
        "CREATE PACKAGE two AS PROCEDURE a; END two", "CREATE PACKAGE BODY two AS PROCEDURE b; PROCEDURE a AS BEGIN NULL; END; END",
        "DROP PACKAGE BODY pkg", "CALL pkg.show_it", "DROP PACKAGE pkg", "DROP PACKAGE pkg", "DROP PACKAGE IF EXISTS pkg", "DROP PACKAGE BODY pkg",
        "SELECT ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.routines WHERE routine_schema = DATABASE()",
    ],
    "functions": [
        "SELECT 'a' || NULL || 'b', NULL || NULL, CONCAT('a', NULL)", "SELECT LENGTH('ab'), SUBSTR('hello', 0, 2), SUBSTR('hello', 2), SUBSTR('hello', 9)",
        "SELECT LPAD('a', 0), RPAD('a', 3, 'x'), LTRIM('  '), RTRIM('a '), TRIM('  '), TRIM(BOTH 'x' FROM 'xax')",
        "SELECT REPLACE('abc', 'b', NULL), REPLACE('abc', NULL, 'x'), REPLACE('abc', 'b', 'xx')", "SELECT DECODE(2, 1, 'one', 2, 'two', 'more')",
        "SELECT NVL(NULL, 1), NVL2(1, 2, 3), CHR(65), SYSDATE > DATE '2020-01-01'", "SELECT * FROM (SELECT 1 AS a)", "SELECT 1 FROM DUAL",
        "SELECT 1 UNION SELECT 2 MINUS SELECT 1", "CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 2)", "UPDATE t SET a = b, b = a",
        "SELECT * FROM t", "CREATE SEQUENCE s", "SELECT s.NEXTVAL, s.CURRVAL", "TRUNCATE TABLE t DROP STORAGE",
        "CREATE TABLE u (a VARCHAR2(10), b NUMBER, c NUMBER(5), d CLOB, e RAW(5), f DATE, g BLOB)", "DESCRIBE u",
        "SELECT @@sql_mode", "PREPARE s1 FROM 'SELECT :a, :b'", "SET @x = 1, @y = 2", "EXECUTE s1 USING @x, @y", "EXECUTE IMMEDIATE 'SELECT :1' USING 5",
    ],
    "whose functions views and tables call": [
        "CREATE VIEW v AS SELECT CONCAT('a', NULL) AS a, 'a' || NULL AS b, SUBSTR('abc', 0) AS d, TRIM('a') AS e,"
        " TRIM(LEADING 'a' FROM 'a') AS f, LTRIM('a') AS g, LPAD('a', 2, 'b') AS h, DECODE(1, 1, 2) AS i, LENGTH('a') AS j,"
        " REGEXP_REPLACE('a', 'a', NULL) AS k, SUBSTRING('a' FROM 1 FOR 2) AS l, mariadb_schema.CONCAT('a', NULL) AS m FROM DUAL",
        "SHOW CREATE VIEW v", "SELECT * FROM v", "CREATE TABLE t (a VARCHAR(10) AS (CONCAT('a', NULL)), b VARCHAR(20) DEFAULT ('x' || NULL))",
        "INSERT INTO t () VALUES ()", "SET sql_mode = DEFAULT", "SELECT * FROM v", "SELECT * FROM t", "INSERT INTO t () VALUES ()", "SELECT * FROM t",
        "SELECT oracle_schema.concat('a', NULL), mariadb_schema.concat('a', NULL), oracle_schema.trim(''), mariadb_schema.trim('')",
        "SELECT oracle_schema.replace('a', 'b', NULL), mariadb_schema.replace('a', 'b', NULL), oracle_schema.substr('abc', 0)",
        "SELECT mariadb_schema.substring('abc' FROM 1 FOR 2), oracle_schema.trim(LEADING 'a' FROM 'a'), mariadb_schema.trim(LEADING 'a' FROM 'a')",
        "SELECT oracle_schema.nosuch(1)", "SELECT mariadb_schema.nosuch(1)", "SELECT oracle_schema.trim_oracle('a')", "SELECT oracle_schema.decode(1)",
        "SELECT decode(1)", "SELECT nosuch_schema.replace('a', 'b', 'c')", "SELECT oracle_schema.abs(-1)",
    ],
    "an empty text is NULL": [
        "SET sql_mode = 'EMPTY_STRING_IS_NULL'", "CREATE TABLE t (a VARCHAR(10) DEFAULT '' NOT NULL)",
        "CREATE TABLE t (a VARCHAR(10) DEFAULT '', b ENUM('', 'a') DEFAULT '', c INT COMMENT '')", "SHOW CREATE TABLE t", "INSERT INTO t VALUES ('', '', ''), ('a', 'a', '1')",
        "SELECT * FROM t WHERE a = ''", "SELECT * FROM t WHERE b IN ('', 'a')", "SELECT '' = '', CONCAT('', 'a'), x'', _latin1'', N'', 'a' '', '' 'b', '' ''",
        "SELECT CHARSET(''), CHARSET(N''), CHARSET(_latin1''), COALESCE('', 1), '' IS NULL", "CREATE TABLE u AS SELECT '' AS a, N'' AS b, CONCAT('') AS c",
        "SHOW CREATE TABLE u", "SET @a = ''", "PREPARE s FROM 'SELECT ?, '''''", "EXECUTE s USING @a", "CREATE VIEW v AS SELECT '' AS a",
        "SELECT view_definition FROM information_schema.views WHERE table_schema = DATABASE()", "INSERT INTO t (a) VALUES " + ", ".join(["('')"] * 4000), "SELECT COUNT(*), COUNT(a) FROM t", "SET sql_mode = DEFAULT", "SELECT '' IS NULL, CHARSET(N'x')",
    ],
    "texts without a length": [
        "CREATE FUNCTION f1(a CHAR) RETURN CHAR AS BEGIN RETURN a; END", "SELECT dtd_identifier FROM information_schema.routines WHERE routine_schema = DATABASE()", "SELECT f1('abc'), f1('abc ') || '.'",
        "CREATE FUNCTION f2(a VARCHAR2) RETURN CLOB AS BEGIN RETURN a; END", "SELECT LENGTH(f2(LPAD('x', 9000, 'y')))",
        "CREATE PROCEDURE p1(a OUT VARCHAR, b IN VARCHAR CHARACTER SET latin1) AS BEGIN a := b; END", "SET sql_mode = 'ORACLE,STRICT_TRANS_TABLES'",
        "DECLARE s VARCHAR(40000) CHARACTER SET latin1 := LPAD('x', 40000, 'y'); t CLOB; BEGIN p1(t, s); SELECT LENGTH(t); END",
        "DECLARE s CLOB := LPAD('x', 80000, 'y'); t CLOB; BEGIN p1(t, s); SELECT LENGTH(t); END",
        "DECLARE v VARCHAR; BEGIN NULL; END",
    ],
    "what a body of a package must have": [
        "CREATE PACKAGE a AS PROCEDURE p(x TEXT); FUNCTION f(y INT) RETURN INT; END nosuch",
        "CREATE PACKAGE a AS PROCEDURE p(x TEXT); END a", "CREATE PACKAGE BODY a AS PROCEDURE p(x INT, y INT) AS BEGIN NULL; END; END",
        "CREATE PACKAGE BODY a AS PROCEDURE p(x INT) AS BEGIN NULL; END nosuch; END", "CREATE PACKAGE BODY a AS PROCEDURE p(x INT) AS BEGIN NULL; END a.p; END",
        "CREATE PACKAGE BODY a AS n INT; n INT; PROCEDURE q AS BEGIN NULL; END; END", "CREATE PACKAGE BODY a AS PROCEDURE q AS BEGIN nosuch := 1; END; END",
        "CREATE PACKAGE BODY a AS PROCEDURE p(z OUT INT) AS BEGIN z := 7; END p; END a", "CALL a.p(@z)", "SELECT @z",
        "CREATE PROCEDURE q AS EXIT HANDLER FOR SQLEXCEPTION BEGIN NULL; END; v INT; BEGIN NULL; END", "CREATE TABLE sysdate (a INT)", "CREATE TABLE minus (a INT)",
        "SELECT UNIQUE 1 FROM DUAL", "SELECT CAST(1 AS ascii)", "SELECT CAST(1 AS GEOMETRY)", "SELECT CAST(1 AS text)",
        "CREATE USER og@localhost", "SHOW GRANTS FOR og@localhost", "DROP USER og@localhost",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_as_in_mariadb(both, name):
    compare(both, SETUP + SCRIPTS[name])
