"""Stored programs on Narwal and MariaDB 10.11: equal answers, result by result; and what becomes of them in crashes and on
replicas."""

from __future__ import annotations

import subprocess
import time

import pymysql
import pytest

import packets as p
from support import Client


def results(client: Client, sql: str) -> list:
    """All results of a statement: rows with their columns, how many rows were affected, or an error at the end."""
    connection = client.connection
    found = []
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        while True:
            if cursor.description is not None:
                found.append(([c[0] for c in cursor.description], list(cursor.fetchall())))
            else:
                found.append(("affected", cursor.rowcount))
            if not cursor.nextset():
                break
    except pymysql.MySQLError as error:
        found.append(("error", error.args[0], getattr(error, "sqlstate", ""), error.args[1]))
    finally:
        cursor.close()
    return found


def compare(both, script: list[str]) -> None:
    for sql in script:
        ours, theirs = (results(client, sql) for client in both)
        assert ours == theirs, f"{sql}\n  Narwal:  {ours}\n  MariaDB: {theirs}"


# Adds up.
AGGREGATE = (
    "CREATE AGGREGATE FUNCTION s(x INT) RETURNS INT BEGIN DECLARE r INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN r;"
    " LOOP FETCH GROUP NEXT ROW; SET r = r + x; END LOOP; END"
)

PROGRAMS = {
    "virtual tables in functions and triggers": [
        "CREATE TABLE t (a INT)", "CREATE TABLE names (n VARCHAR(64))",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW INSERT INTO names SELECT trigger_name FROM information_schema.triggers"
        " WHERE trigger_schema = DATABASE()",
        "INSERT INTO t VALUES (1)", "SELECT * FROM names",
        "CREATE FUNCTION f() RETURNS INT RETURN (SELECT COUNT(*) FROM mysql.user WHERE user = 'nobody_here')", "SELECT f()", "SELECT f() FROM t",
        "CREATE FUNCTION g() RETURNS INT BEGIN DECLARE n INT; SELECT COUNT(*) INTO n FROM information_schema.tables WHERE table_schema = DATABASE(); RETURN n; END",
        "SELECT g()", "CREATE TRIGGER tr2 AFTER INSERT ON t FOR EACH ROW SET @n = g()", "INSERT INTO t VALUES (2)", "SELECT @n",
        "CREATE USER vt@localhost", "CREATE DEFINER = vt@localhost FUNCTION h() RETURNS INT RETURN (SELECT COUNT(*) FROM mysql.user)",
        "CREATE DEFINER = vt@localhost FUNCTION i() RETURNS INT RETURN (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE())",
        "SELECT h()", "SELECT i()", "GRANT EXECUTE ON FUNCTION h TO vt@localhost", "GRANT EXECUTE ON FUNCTION i TO vt@localhost", "SELECT h()", "SELECT i()",
        "DROP USER vt@localhost", "SELECT i()", "DROP TABLE t, names",
    ],
    "BEFORE triggers mend rows": [
        "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT NOT NULL, b VARCHAR(10) NOT NULL DEFAULT 'd',"
        " ts TIMESTAMP NOT NULL DEFAULT '2020-01-01', n INT)",
        "CREATE TABLE log (x VARCHAR(100))",
        """CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW BEGIN
           INSERT INTO log VALUES (CONCAT_WS(',', IFNULL(NEW.id, 'NULL'), IFNULL(NEW.a, 'NULL'), IFNULL(NEW.b, 'NULL'), IFNULL(NEW.ts, 'NULL')));
           IF NEW.a IS NULL THEN SET NEW.a = 7; END IF; END""",
        "INSERT INTO t (a) VALUES (1)", "INSERT INTO t VALUES (NULL, NULL, 'x', '2020-02-02', 1)", "INSERT INTO t VALUES (0, 2, NULL, '2020-02-02', 1)",
        "INSERT INTO t () VALUES ()", "INSERT INTO t (n) VALUES (3)", "INSERT INTO t (id, a) VALUES (50, 1)", "INSERT INTO t (a) VALUES (1), (2)",
        "SELECT * FROM t", "SELECT * FROM log", "SELECT LAST_INSERT_ID()", "TRUNCATE t", "TRUNCATE log",
        "CREATE OR REPLACE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.id = 100 + NEW.a",
        "INSERT INTO t (a) VALUES (1)", "INSERT INTO t (a) VALUES (NULL)", "INSERT INTO t (a) VALUES (2), (3)", "SELECT * FROM t",
        "CREATE OR REPLACE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 5",
        "INSERT INTO t (n) VALUES (3)", "INSERT INTO t (n) VALUES (3), (4)", "INSERT INTO t (id, n) SELECT 5, 6",
        "CREATE OR REPLACE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = NULL",
        "INSERT INTO t (a) VALUES (9)", "INSERT IGNORE INTO t (a) VALUES (9)", "SHOW WARNINGS",
        "CREATE TRIGGER bu BEFORE UPDATE ON t FOR EACH ROW BEGIN IF NEW.b IS NULL THEN SET NEW.b = 'fixed'; END IF; END",
        "DROP TRIGGER bi", "UPDATE t SET b = NULL WHERE a = 1", "UPDATE t SET a = NULL WHERE a = 1", "INSERT INTO t (a) VALUES (NULL)",
        "CREATE OR REPLACE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = 'q'",
        "INSERT INTO t (a, b) SELECT 5, NULL", "INSERT INTO t (a, b) VALUES (NULL, NULL) ON DUPLICATE KEY UPDATE a = 5",
        "INSERT INTO t (id, a, b) VALUES (101, 1, NULL) ON DUPLICATE KEY UPDATE b = NULL",
        "REPLACE INTO t (id, a, b) VALUES (101, NULL, NULL)", "REPLACE INTO t (id, a, b) VALUES (101, 3, NULL)", "SELECT * FROM t",
        "CREATE TABLE g (id INT PRIMARY KEY AUTO_INCREMENT, v INT NOT NULL, d INT AS (v * 2) STORED, UNIQUE (v))",
        "CREATE TRIGGER g1 BEFORE INSERT ON g FOR EACH ROW IF NEW.v IS NULL THEN SET NEW.v = 3; END IF",
        "INSERT INTO g (v) VALUES (NULL)", "INSERT INTO g (v) VALUES (NULL)", "SELECT * FROM g",
        "CREATE TEMPORARY TABLE g (v INT)", "INSERT INTO g VALUES (NULL)", "SELECT * FROM g", "DROP TEMPORARY TABLE g",
    ],
    "control": [
        """CREATE PROCEDURE p(n INT) BEGIN DECLARE i INT DEFAULT 0; DECLARE s VARCHAR(200) DEFAULT '';
           a: LOOP SET i = i + 1; IF i = 2 THEN ITERATE a; END IF; IF i > n THEN LEAVE a; END IF;
             SET s = CONCAT(s, i, ','); END LOOP a;
           REPEAT SET i = i - 1; UNTIL i < 2 END REPEAT;
           WHILE i < 4 DO SET i = i + 1; SET s = CONCAT(s, 'w'); END WHILE;
           FOR k IN 1..3 DO SET s = CONCAT(s, k); END FOR;
           FOR k IN REVERSE 1..3 DO SET s = CONCAT(s, k); END FOR;
           CASE n WHEN 1 THEN SELECT 'one'; WHEN 5 THEN SELECT 'five', s; ELSE SELECT 'else', s; END CASE;
           CASE WHEN n > 100 THEN SELECT 1; WHEN n > 1 THEN SELECT i; END CASE; END""",
        "CALL p(5)", "CALL p(3)", "CALL p(1)", "CALL p()", "CALL p(1, 2)", "CALL nothing()", "DROP PROCEDURE p",
    ],
    "parameters": [
        "CREATE PROCEDURE p(IN a INT, OUT b INT, INOUT c VARCHAR(10)) BEGIN SET b = a * 2; SET c = CONCAT(c, a); SET a = 0; END",
        "SET @c = 'x'", "CALL p(4, @b, @c)", "SELECT @b, @c", "CALL p(4, 5, @c)", "CALL p('z', @b, @c)",
        "CREATE PROCEDURE q(x INT) BEGIN DECLARE y, z INT; DECLARE t VARCHAR(10) DEFAULT 'q'; CALL p(x, y, t); SELECT y, t; END",
        "CALL q(7)",
        "CREATE PROCEDURE r(n INT) BEGIN SELECT n; IF n > 0 THEN CALL r(n - 1); END IF; END",
        "CALL r(2)", "SET max_sp_recursion_depth = 5", "CALL r(2)", "CALL r(9)",
    ],
    "handlers": [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL)", "INSERT INTO t VALUES (1, 1), (2, 2)",
        """CREATE PROCEDURE p() BEGIN DECLARE n INT DEFAULT 0; DECLARE dup CONDITION FOR 1062;
           DECLARE CONTINUE HANDLER FOR dup SET n = n + 1; INSERT INTO t VALUES (1, 5); INSERT INTO t VALUES (3, 3);
           INSERT INTO t VALUES (2, 5); SELECT n; END""",
        "CALL p()", "SELECT * FROM t",
        """CREATE PROCEDURE q() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS CONDITION 1 @s = RETURNED_SQLSTATE,
           @m = MESSAGE_TEXT, @e = MYSQL_ERRNO; SELECT @s, @m, @e; END; SELECT 1; INSERT INTO t VALUES (1, 1); SELECT 2; END""",
        "CALL q()",
        "CREATE PROCEDURE s() SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no', MYSQL_ERRNO = 5000", "CALL s()",
        """CREATE PROCEDURE u() BEGIN DECLARE EXIT HANDLER FOR SQLSTATE '45000' BEGIN SELECT 'caught'; RESIGNAL; END; CALL s(); END""",
        "CALL u()",
        """CREATE PROCEDURE v() BEGIN DECLARE x INT; DECLARE CONTINUE HANDLER FOR NOT FOUND SELECT 'none';
           SELECT a INTO x FROM t WHERE a = 99; SELECT x; BEGIN DECLARE EXIT HANDLER FOR 1172 SELECT 'many';
           SELECT a INTO x FROM t; SELECT 'not here'; END; SELECT 'end'; END""",
        "CALL v()", "SIGNAL SQLSTATE '01000'", "SHOW WARNINGS", "SIGNAL SQLSTATE '02000'", "RESIGNAL",
        "CREATE PROCEDURE w() BEGIN DECLARE x INT; SET x = 'abc'; END", "CALL w()",
        "CREATE PROCEDURE x() BEGIN DECLARE x TINYINT; SET x = 1000; END", "CALL x()",
    ],
    "cursors": [
        "CREATE TABLE t (a INT, b VARCHAR(10))", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, NULL)",
        """CREATE PROCEDURE p(low INT) BEGIN DECLARE done INT DEFAULT FALSE; DECLARE x INT; DECLARE y VARCHAR(10);
           DECLARE s VARCHAR(100) DEFAULT ''; DECLARE c CURSOR FOR SELECT a, b FROM t WHERE a >= low ORDER BY a DESC;
           DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE; OPEN c;
           l: LOOP FETCH c INTO x, y; IF done THEN LEAVE l; END IF; SET s = CONCAT(s, x, IFNULL(y, '-')); END LOOP;
           CLOSE c; SELECT s; END""",
        "CALL p(1)", "CALL p(2)", "CALL p(9)",
        """CREATE PROCEDURE q() BEGIN DECLARE c CURSOR(k INT) FOR SELECT b FROM t WHERE a = k; DECLARE y VARCHAR(10);
           OPEN c(2); FETCH c INTO y; SELECT y; FETCH c INTO y; END""",
        "CALL q()",
        "CREATE PROCEDURE r() BEGIN DECLARE c CURSOR FOR SELECT 1; CLOSE c; END", "CALL r()",
        "CREATE PROCEDURE s() BEGIN FOR r IN (SELECT a, b FROM t ORDER BY a) DO SELECT r.a, r.b; END FOR; END", "CALL s()",
        "CREATE PROCEDURE u() BEGIN DECLARE r ROW TYPE OF t; DECLARE z TYPE OF t.b; SELECT * INTO r FROM t WHERE a = 1; SET z = r.b; SELECT r.a, z; END",
        "CALL u()",
    ],
    "functions": [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)",
        "CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x * x",
        "CREATE FUNCTION g() RETURNS INT READS SQL DATA BEGIN DECLARE n INT; SELECT SUM(b) INTO n FROM t; RETURN n; END",
        "CREATE FUNCTION h(x INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (x); RETURN x + 1; END",
        "CREATE TABLE log (x INT)",
        "SELECT f(3)", "SELECT a, f(a) FROM t ORDER BY f(a) DESC", "SELECT a FROM t WHERE f(a) = 4", "SELECT g(), g() + a FROM t",
        "SELECT a FROM t WHERE g() = 60 AND a > 1", "SELECT h(a) FROM t", "SELECT * FROM log", "UPDATE t SET b = f(a) + g()",
        "SELECT * FROM t", "INSERT INTO t VALUES (f(2), h(7))", "SELECT * FROM t", "SELECT COUNT(*) FROM log", "SELECT f(1, 2)",
        "SELECT nothing(1)", "DELETE FROM t WHERE f(a) = 16", "SELECT MAX(f(a)), SUM(h(a)) FROM t", "DROP FUNCTION f", "SELECT f(1)",
        "CREATE FUNCTION k() RETURNS INT BEGIN UPDATE t SET b = 0; RETURN 1; END", "SELECT k() FROM t", "SELECT k()",
        "SELECT * FROM t",
        "CREATE FUNCTION m(s VARCHAR(10)) RETURNS VARCHAR(20) BEGIN IF s IS NULL THEN RETURN 'none'; END IF; RETURN UPPER(s); END",
        "SELECT m(NULL), m('abc'), LENGTH(m('xy'))", "SET @v = m('z')", "SELECT @v",
    ],
    "widths of integers": [
        "CREATE FUNCTION yes() RETURNS BOOLEAN RETURN 1", "CREATE FUNCTION n() RETURNS INT(3) UNSIGNED RETURN 1",
        "CREATE PROCEDURE w(a BOOL, b TINYINT(2), c INT(3) ZEROFILL, OUT d BIGINT) SELECT 1",
        "SELECT dtd_identifier FROM information_schema.parameters WHERE specific_schema = DATABASE() ORDER BY specific_name, ordinal_position",
        "SELECT routine_name, dtd_identifier FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1",
    ],
    "refused": [
        "CREATE FUNCTION f() RETURNS INT BEGIN SELECT 1; RETURN 1; END", "CREATE FUNCTION f() RETURNS INT BEGIN COMMIT; RETURN 1; END",
        "CREATE PROCEDURE p() RETURN 1", "CREATE PROCEDURE p() BEGIN LEAVE x; END", "CREATE PROCEDURE p() BEGIN ITERATE x; END",
        "CREATE PROCEDURE p() BEGIN DECLARE a INT; DECLARE a INT; END", "CREATE PROCEDURE p(a INT, a INT) SELECT 1",
        "CREATE PROCEDURE p() BEGIN OPEN c; END", "CREATE PROCEDURE p() BEGIN DECLARE CONTINUE HANDLER FOR x SET @a = 1; END",
        "CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE a INT; END",
        "CREATE PROCEDURE p() BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND SET @a = 1; DECLARE c CURSOR FOR SELECT 1; END",
        "CREATE PROCEDURE p() BEGIN DECLARE CONTINUE HANDLER FOR 1062, 1062 SET @a = 1; END", "CREATE PROCEDURE p() USE test",
        "CREATE PROCEDURE p() LOCK TABLES t READ", "CREATE FUNCTION f() RETURNS INT BEGIN DECLARE x INT; END",
        "CREATE PROCEDURE p() SIGNAL SQLSTATE '00000'", "CREATE PROCEDURE p() a: BEGIN a: BEGIN END; END",
        "CREATE PROCEDURE p() SELECT 1", "CREATE PROCEDURE p() SELECT 2", "DROP PROCEDURE nothing", "DROP PROCEDURE IF EXISTS nothing",
        "CREATE OR REPLACE PROCEDURE p() SELECT 3", "CALL p()", "DROP FUNCTION nothing",
    ],
    "triggers": [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(20))", "CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(100))",
        "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.c = CONCAT('<', NEW.b, '>')",
        "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('insert ', NEW.a, NEW.c))",
        "CREATE TRIGGER bu BEFORE UPDATE ON t FOR EACH ROW BEGIN IF NEW.b < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'negative'; END IF; SET NEW.c = 'u'; END",
        "CREATE TRIGGER au AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('update ', OLD.b, '-', NEW.b))",
        "CREATE TRIGGER bd BEFORE DELETE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('before delete ', OLD.a))",
        "CREATE TRIGGER ad AFTER DELETE ON t FOR EACH ROW INSERT INTO log (what) VALUES (CONCAT('delete ', OLD.a))",
        "INSERT INTO t (a, b) VALUES (1, 10), (2, 20), (3, 30)", "SELECT * FROM t", "UPDATE t SET b = b + 1 WHERE a < 3",
        "UPDATE t SET b = -1", "SELECT * FROM t", "DELETE FROM t WHERE a = 1", "REPLACE INTO t (a, b) VALUES (2, 99), (7, 70)",
        "INSERT INTO t (a, b) VALUES (2, 5) ON DUPLICATE KEY UPDATE b = 55", "INSERT IGNORE INTO t (a, b) VALUES (2, 1), (8, 8)",
        "SELECT * FROM t", "SELECT what FROM log ORDER BY id",
        "CREATE TRIGGER bi2 BEFORE INSERT ON t FOR EACH ROW FOLLOWS bi SET NEW.c = CONCAT(NEW.c, '2')",
        "CREATE TRIGGER bi0 BEFORE INSERT ON t FOR EACH ROW PRECEDES bi SET NEW.b = NEW.b * 2",
        "INSERT INTO t (a, b) VALUES (20, 1)", "SELECT * FROM t WHERE a = 20",
        "SELECT trigger_name, action_order, action_timing, event_manipulation FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY 1",
        "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET @x = 1", "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @x = OLD.a",
        "CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW SET NEW.a = 1", "CREATE TRIGGER x AFTER DELETE ON t FOR EACH ROW SET @x = NEW.a",
        "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SELECT 1", "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW COMMIT",
        "CREATE TRIGGER x BEFORE INSERT ON nothing FOR EACH ROW SET @x = 1", "DROP TRIGGER nothing", "DROP TRIGGER IF EXISTS nothing",
        "CREATE TRIGGER x AFTER UPDATE ON t FOR EACH ROW DELETE FROM t WHERE a = 99", "UPDATE t SET b = 1 WHERE a = 20", "DROP TRIGGER x",
        "RENAME TABLE t TO t2", "INSERT INTO t2 (a, b) VALUES (30, 3)", "SELECT * FROM t2 WHERE a = 30", "DROP TABLE t2",
        "SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()",
    ],
    "compound": [
        "BEGIN NOT ATOMIC DECLARE x INT DEFAULT 3; SELECT x; END", "IF 1 > 0 THEN SELECT 'yes'; ELSE SELECT 'no'; END IF",
        "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 'no table'; SELECT * FROM nothing; END",
        "FOR i IN 1..2 DO SELECT i; END FOR",
        "CREATE TABLE t (a INT)",
        "CREATE PROCEDURE p() BEGIN START TRANSACTION; INSERT INTO t VALUES (1); ROLLBACK; INSERT INTO t VALUES (2); COMMIT; END",
        "CALL p()", "SELECT * FROM t",
        "CREATE PROCEDURE q(n VARCHAR(20)) BEGIN SET @s = CONCAT('SELECT COUNT(*) FROM ', n); PREPARE s FROM @s; EXECUTE s; DEALLOCATE PREPARE s; EXECUTE IMMEDIATE CONCAT('SELECT ', '1 + 1'); END",
        "CALL q('t')", "SELECT ROUTINE_NAME, ROUTINE_TYPE, SQL_DATA_ACCESS FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1",
        "SELECT ORDINAL_POSITION, PARAMETER_MODE, PARAMETER_NAME, DTD_IDENTIFIER FROM information_schema.parameters WHERE specific_schema = DATABASE() ORDER BY 1",
    ],
    "rows as values": [
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b VARCHAR(10)) DEFAULT ROW(1, 'x'); SELECT r.a, r.b; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT) DEFAULT ROW(1, 2); DECLARE s ROW(a INT, b INT); SET s = r; SET r = ROW(r.b, r.a); SELECT r.a, r.b, s.a, s.b; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT) DEFAULT NULL; SELECT r.a; SET r = ROW(3, 4); SELECT r = ROW(3, 4), r <> ROW(3, 5); END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = 1; END", "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = ROW(1, 2, 3); END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT); DECLARE s ROW(a INT); SET r = ROW(5); SET s = r; SELECT s.a; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SELECT r.c; END", "CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 2)",
        "BEGIN NOT ATOMIC DECLARE r ROW TYPE OF t DEFAULT ROW(7, 8); DECLARE x TYPE OF r.a DEFAULT 9; SELECT r.a, r.b, x; SELECT * INTO r FROM t; SELECT r.a, r.b; END",
    ],
    "variables": [
        "BEGIN NOT ATOMIC DECLARE v INT DEFAULT 42; SET v = 1; SET v = DEFAULT; SELECT v; END", "BEGIN NOT ATOMIC DECLARE v INT; SET v = 1; SET v = DEFAULT; SELECT v; END",
        "BEGIN NOT ATOMIC DECLARE v INT DEFAULT nothing; END", "CREATE PROCEDURE p() BEGIN DECLARE v INT; SET v = v + nothing; END",
        "CREATE PROCEDURE p() IF nothing THEN SELECT 1; END IF", "CREATE PROCEDURE p() BEGIN DECLARE v INT; SET v = (SELECT nothing); END",
        "CREATE FUNCTION f() RETURNS INT RETURN nothing + 1", "CREATE PROCEDURE p(a DATE) SELECT 1 LIMIT a", "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)",
        "BEGIN NOT ATOMIC DECLARE v INT; SET v = (SELECT MAX(a) FROM t); SELECT v; END",
        "CREATE PROCEDURE p() SET STATEMENT sql_select_limit = 1 FOR SELECT a FROM t", "CALL p()", "SELECT @@sql_select_limit > 1",
        "BEGIN NOT ATOMIC DECLARE n INT DEFAULT 1; SET STATEMENT sql_select_limit = n FOR SELECT a FROM t; SELECT a FROM t; END",
        "CREATE FUNCTION g() RETURNS INT RETURN 1 / 0", "SELECT g()", "BEGIN NOT ATOMIC DECLARE v INT; SET v = 1 / 0; SELECT v; END",
        "SET @x = 5", "CREATE FUNCTION h() RETURNS INT BEGIN INSERT INTO t VALUES (9); RETURN 3; END", "SET @x = h()", "SELECT @x", "SELECT COUNT(*) FROM t",
    ],
    "conditions": [
        "SELECT * FROM nothing", "GET DIAGNOSTICS CONDITION 2 @a = MYSQL_ERRNO", "SHOW WARNINGS",
        "GET DIAGNOSTICS CONDITION '1' @a = MYSQL_ERRNO", "SELECT @a",
        """BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLSTATE '45000' BEGIN
           GET DIAGNOSTICS CONDITION 1 @a = CLASS_ORIGIN, @b = TABLE_NAME, @c = COLUMN_NAME, @d = MESSAGE_TEXT, @e = RETURNED_SQLSTATE, @f = CONSTRAINT_NAME;
           SELECT @a, @b, @c, @d, @e, @f; END;
           SIGNAL SQLSTATE '45000' SET CLASS_ORIGIN = 'me', TABLE_NAME = 't', MESSAGE_TEXT = 'm'; END""",
        "BEGIN NOT ATOMIC DECLARE v VARCHAR(9); SIGNAL SQLSTATE '45000' SET TABLE_NAME = v; END", "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 65535",
        "CREATE FUNCTION f() RETURNS INT BEGIN SIGNAL SQLSTATE '77777' SET MYSQL_ERRNO = 1000, SCHEMA_NAME = 's'; RETURN 1; END",
        """BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN
           GET DIAGNOSTICS CONDITION 1 @a = SCHEMA_NAME, @b = RETURNED_SQLSTATE; SELECT @a, @b; END; SET @x = f(); END""",
    ],
    "what is not allowed where": [
        "CREATE FUNCTION f() RETURNS INT BEGIN RESET QUERY CACHE; RETURN 1; END", "CREATE FUNCTION f() RETURNS INT BEGIN SET autocommit = 0; RETURN 1; END",
        "CREATE FUNCTION f() RETURNS INT BEGIN DROP TRIGGER x; RETURN 1; END", "CREATE FUNCTION f() RETURNS INT BEGIN HANDLER t OPEN; RETURN 1; END",
        "CREATE PROCEDURE p() ALTER VIEW v AS SELECT 1", "CREATE PROCEDURE ` `() SELECT 1", "CREATE PROCEDURE p() FLUSH TABLES", "CREATE TABLE t (a INT)",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW CALL p()", "INSERT INTO t VALUES (1)", "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE TRIGGER tr2 BEFORE INSERT ON v FOR EACH ROW SET @a = 1", "CREATE DATABASE IF NOT EXISTS other_of_programs", "RENAME TABLE t TO other_of_programs.t",
        "ALTER TABLE t RENAME other_of_programs.t", "DROP DATABASE other_of_programs", "LOCK TABLES t WRITE", "CREATE PROCEDURE q() SELECT 1", "DROP PROCEDURE p",
        "UNLOCK TABLES", "DROP TRIGGER tr",
        "CREATE FUNCTION s() RETURNS INT BEGIN INSERT INTO t VALUES (5); SAVEPOINT a; INSERT INTO t VALUES (6); ROLLBACK TO a; RETURN 1; END", "SELECT s()",
        "SELECT * FROM t", "CREATE FUNCTION o(OUT a INT) RETURNS INT BEGIN SET a = 1; RETURN 2; END", "SELECT o(@a)",
        "PREPARE s FROM 'CREATE PROCEDURE r() SELECT 8'", "EXECUTE s", "CALL r()", "PREPARE s FROM 'DROP PROCEDURE r'", "EXECUTE s", "CALL r()",
        "CREATE PROCEDURE w(IN a INT, OUT b INT, INOUT c INT) BEGIN SET b = a + 1; SET c = c + a; END", "PREPARE s FROM 'CALL w(?, ?, ?)'", "SET @a = 1, @b = 2, @c = 3",
        "EXECUTE s USING @a, @b, @c", "SELECT @a, @b, @c", "CREATE PROCEDURE e() EXECUTE s", "PREPARE s FROM 'CALL e()'", "EXECUTE s",
    ],
    "parameters of type ROW": [
        "CREATE PROCEDURE p1(a ROW(a INT, b INT)) SELECT a.a, a.b", "CALL p1(ROW(1, 2))", "CALL p1(10)", "CALL p1(ROW(1, 2, 3))", "CALL p1(@x)",
        "CALL p1(NULL)", "CREATE FUNCTION f1(a ROW(a INT, b INT)) RETURNS INT RETURN a.b", "SELECT f1(ROW(1, 2)), f1(NULL)", "SELECT f1(10)",
        "SELECT f1(ROW(1, 2, 3))", "CREATE FUNCTION f2(a INT) RETURNS INT RETURN a", "SELECT f2(ROW(1, 2))",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT) DEFAULT (11, 21); SELECT f1(r); CALL p1(r); END",
        "CREATE PROCEDURE p2(a INT) SELECT a", "CALL p2(ROW(1, 2))", "BEGIN NOT ATOMIC DECLARE a ROW(a INT); CALL p2(a); END",
        "CREATE PROCEDURE p3(OUT a ROW(a INT, b INT)) SET a = ROW(1, 2)", "CALL p3(@x)",
        "BEGIN NOT ATOMIC DECLARE x ROW(a INT, b INT); CALL p3(x); SELECT x.a, x.b; END", "BEGIN NOT ATOMIC DECLARE x INT; CALL p3(x); END",
        "BEGIN NOT ATOMIC DECLARE x ROW(a INT, b INT, c INT); CALL p3(x); END",
        "CREATE PROCEDURE p4(OUT a INT) SET a = 1", "BEGIN NOT ATOMIC DECLARE x ROW(a INT, b INT, c INT); CALL p4(x); END",
        "BEGIN NOT ATOMIC DECLARE x ROW(a INT, b INT, c INT); CALL p4(x.b); SELECT x.a, x.b; END",
        "CREATE TABLE t1 (a INT, b VARCHAR(10), c DOUBLE, d DECIMAL(10,3))",
        "CREATE PROCEDURE p5(INOUT a ROW TYPE OF t1) SET a.a = a.a + 1",
        "BEGIN NOT ATOMIC DECLARE r ROW TYPE OF t1 DEFAULT (1, 2, 3, 4); CALL p5(r); SELECT r.a, r.d; END",
        "CREATE PROCEDURE p6(a ROW TYPE OF nowhere) SELECT a.a", "CALL p6(ROW(1, 2))",
        "SELECT specific_name, parameter_name, data_type, dtd_identifier FROM information_schema.parameters WHERE specific_schema = DATABASE()"
        " AND specific_name IN ('p1', 'p5') ORDER BY 1",
        "CREATE PROCEDURE p7(a ROW(a INT, a INT)) SELECT 1", "PREPARE s FROM 'CALL p1(?)'", "EXECUTE s USING @a",
    ],
    "rows and what they are at run time": [
        "CREATE TABLE t1 (a INT, b VARCHAR(10))",
        "BEGIN NOT ATOMIC DECLARE a ROW(a INT); DECLARE b INT; SET b = a; END", "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SET a = 1; END",
        "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SELECT a; END", "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SELECT a + 1; END",
        "BEGIN NOT ATOMIC DECLARE a ROW(a INT, b INT); SELECT 1 - a; END", "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SELECT a = 1; END",
        "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SET @x = a; END", "BEGIN NOT ATOMIC DECLARE a ROW(a INT); SELECT COALESCE(a); END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT) DEFAULT (1, 2); DECLARE r2 TYPE OF r; SET r2 = r; SELECT r2.b; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = (SELECT 1, 2); SELECT r.b; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = (SELECT 1, 2 UNION SELECT 3, 4); END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = (SELECT 1, 2 FROM DUAL WHERE 0); SELECT r.b; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SET r = (SELECT 1); END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT) DEFAULT (SELECT 5, 6); SELECT r.a; SET r = NULL; SELECT r.a; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); SELECT 1, 2 INTO r, r; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); DECLARE x INT; SELECT 1, 2 INTO r, x; END",
        "CREATE PROCEDURE p1() BEGIN DECLARE r ROW(a INT, b INT); SET r.c = 1; END", "CREATE PROCEDURE p1() SET r.c = 1",
        "CREATE PROCEDURE p1() BEGIN DECLARE r ROW TYPE OF t1; SELECT 'before'; SELECT r.zz; END", "CALL p1()",
        "CREATE PROCEDURE p2() BEGIN DECLARE r ROW TYPE OF t1; SELECT 'before'; SET r.zz = 1; END", "CALL p2()",
        "CREATE PROCEDURE p3() BEGIN DECLARE r ROW TYPE OF t1 DEFAULT (1, 2, 3); SELECT r.a; END", "CALL p3()",
        "CREATE PROCEDURE p4() BEGIN DECLARE a TYPE OF t1.zz; SELECT 1; END", "CALL p4()",
        "CREATE PROCEDURE p5() BEGIN DECLARE r ROW TYPE OF t1; SELECT * FROM t1 LIMIT r; END",
        "CREATE PROCEDURE p5() BEGIN DECLARE c CURSOR FOR SELECT 1 AS a, 2 AS a; BEGIN DECLARE r ROW TYPE OF c; SELECT 1; END; END", "CALL p5()",
        "CREATE PROCEDURE p6() BEGIN DECLARE r ROW TYPE OF t1; DECLARE i INT(3); DECLARE j TINYINT(12);"
        " CREATE TABLE t2 AS SELECT r.a, r.b, i, j; SHOW CREATE TABLE t2; DROP TABLE t2; END", "CALL p6()",
    ],
    "SELECT INTO that is prepared": [
        "PREPARE s FROM 'SELECT ? + 1, 2 INTO @a, @b'", "SET @x = 41", "EXECUTE s USING @x", "SELECT @a, @b", "EXECUTE s",
        "CREATE TABLE t1 (a INT)", "PREPARE s FROM 'SELECT a INTO @c FROM t1 WHERE a = ?'", "EXECUTE s USING 3", "INSERT INTO t1 VALUES (3), (4)",
        "EXECUTE s USING 4", "SELECT @c", "EXECUTE IMMEDIATE 'SELECT MAX(a) FROM t1 INTO @c'", "SELECT @c",
    ],
    "functions with OUT parameters": [
        "CREATE FUNCTION f1(OUT x INT) RETURNS INT BEGIN SET x = 5; RETURN 1; END", "SELECT f1(@a)", "SET @b = f1(@a)", "SELECT @a, @b",
        "CREATE PROCEDURE p1() BEGIN DECLARE v, r INT; SET r = f1(v); SELECT v, r; END", "CALL p1()",
        "CREATE PROCEDURE p2() BEGIN DECLARE v, r INT; SELECT f1(v) INTO r; END", "CALL p2()",
        "CREATE PROCEDURE p3() BEGIN DECLARE v INT; IF f1(v) THEN SELECT v; END IF; SET v = f1(v) + f1(@a); SELECT v; END", "CALL p3()",
        "CREATE FUNCTION f2() RETURNS INT BEGIN DECLARE v, r INT; SET r = f1(v); RETURN v; END", "SELECT f2()",
        "CREATE PROCEDURE p4() BEGIN DECLARE v INT; SET v = 1 + f1(3); END", "CALL p4()",
        "CREATE TABLE t (a INT)", "CREATE FUNCTION f3(INOUT x INT) RETURNS INT BEGIN INSERT INTO t VALUES (x); SET x = x + 1; RETURN x * 10; END",
        "SET @x = 3", "SET @y = f3(@x)", "SELECT @x, @y", "SELECT * FROM t", "INSERT INTO t VALUES (f3(@x))",
        "CREATE FUNCTION f4(OUT r ROW(a INT, b INT)) RETURNS INT BEGIN SET r = ROW(1, 2); RETURN 0; END",
        "BEGIN NOT ATOMIC DECLARE r ROW(a INT, b INT); DECLARE x INT; SET x = f4(r); SELECT r.a, r.b, x; END",
    ],
    "where errors come up": [
        "CREATE PROCEDURE p1() BEGIN DECLARE x INT DEFAULT 5; SIGNAL SQLSTATE '45000'; END", "CALL p1()", "SHOW WARNINGS",
        "CREATE PROCEDURE p2()\nBEGIN\n  CALL p1();\nEND", "CALL p2()",
        "CREATE PROCEDURE p3() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN GET DIAGNOSTICS @n = NUMBER; SELECT @n; END; CALL p2(); END", "CALL p3()",
        "CREATE FUNCTION f1() RETURNS INT\nBEGIN\n  INSERT INTO nowhere VALUES (1);\n  RETURN 1;\nEND", "SELECT f1()",
        "CREATE TABLE t (a INT)", "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; SIGNAL SQLSTATE '45000'; END",
        "INSERT INTO t VALUES (1)", "BEGIN NOT ATOMIC\n DECLARE a INT;\n SET a = 1;\n SELECT nocol;\nEND", "SHOW WARNINGS", "SELECT 1 FROM nowhere", "SHOW WARNINGS",
    ],
    "the row that a condition is about": [
        "CREATE TABLE t (a INT PRIMARY KEY, b CHAR(1))", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'c')", "GET DIAGNOSTICS CONDITION 1 @r = ROW_NUMBER", "SELECT @r",
        "INSERT INTO t VALUES (5, 'e'), (6)", "GET DIAGNOSTICS CONDITION 1 @r = ROW_NUMBER", "SELECT @r",
        "INSERT IGNORE INTO t VALUES (1, 'a'), (2, 'bb'), (3, 'cc')", "GET DIAGNOSTICS CONDITION 2 @r = ROW_NUMBER", "SELECT @r",
    ],
    "functions that run statements, in INSERT ... SELECT": [
        "CREATE TABLE a (id INT PRIMARY KEY, n INT)", "INSERT INTO a VALUES (1, 1), (2, 2), (3, 3)", "CREATE TABLE log (x INT)",
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE FUNCTION noted(x INT) RETURNS INT BEGIN INSERT INTO log VALUES (x); RETURN x; END",
        "CREATE FUNCTION held(x INT) RETURNS INT READS SQL DATA RETURN (SELECT n FROM a WHERE id = x)",
        "INSERT INTO t SELECT noted(id), 5 FROM a", "INSERT INTO t SELECT noted(id), held(id) FROM a WHERE id < 3 ON DUPLICATE KEY UPDATE v = VALUES(v)",
        "INSERT INTO t SELECT id, held(id) FROM a ON DUPLICATE KEY UPDATE v = noted(held(1))", "REPLACE INTO t SELECT noted(id) + 2, held(id) FROM a",
        "INSERT INTO t SELECT id + 10, 1 FROM a WHERE noted(id) > 1", "SELECT * FROM t ORDER BY id", "SELECT COUNT(*), SUM(x) FROM log",
    ],
    "SET of session variables in functions and triggers": [
        "SET time_zone = '+00:00'", "CREATE TABLE t (a INT, b VARCHAR(40))", "INSERT INTO t VALUES (1, 'aaaaaaaaaa'), (2, 'bbbbbbbbbb')",
        "CREATE FUNCTION at_zone(z VARCHAR(10)) RETURNS DATETIME BEGIN DECLARE old VARCHAR(64) DEFAULT @@time_zone; DECLARE d DATETIME;"
        " SET time_zone = z; SET d = FROM_UNIXTIME(86400); SET time_zone = old; RETURN d; END",
        "SELECT at_zone('+02:00'), at_zone('-03:30')", "SELECT @@time_zone, FROM_UNIXTIME(86400)",
        "CREATE FUNCTION lengths(n INT) RETURNS INT BEGIN SET SESSION group_concat_max_len = n * 4, lock_wait_timeout = 7; RETURN @@group_concat_max_len; END",
        "SELECT lengths(10)", "SELECT @@group_concat_max_len, @@lock_wait_timeout", "SELECT GROUP_CONCAT(b, b, b, b ORDER BY a) FROM t", "SHOW WARNINGS",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET @@lock_wait_timeout = NEW.a; SET NEW.b = @@lock_wait_timeout; END",
        "INSERT INTO t (a) VALUES (9)", "SELECT b FROM t WHERE a = 9", "SELECT @@lock_wait_timeout",
        "CREATE FUNCTION bad() RETURNS INT BEGIN SET max_error_count = 'x'; RETURN 1; END", "SELECT bad()",
        "CREATE FUNCTION again() RETURNS INT BEGIN SET lock_wait_timeout = DEFAULT, group_concat_max_len = DEFAULT; RETURN 1; END", "DO again()",
        "SELECT @@lock_wait_timeout, @@group_concat_max_len",
    ],
    "statements of events commit first": [
        "CREATE TABLE t (a INT)", "SET autocommit = 0", "INSERT INTO t VALUES (1)", "CREATE EVENT nowhere.e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "ROLLBACK",
        "SELECT * FROM t", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "INSERT INTO t VALUES (2)", "ALTER EVENT e RENAME TO e", "ROLLBACK",
        "SELECT * FROM t", "ALTER EVENT gone RENAME TO e", "ALTER EVENT gone RENAME TO other", "SET autocommit = 1",
    ],
    "programs in the schema mysql": [
        "CREATE FUNCTION mysql.f(s CHAR(20)) RETURNS CHAR(30) DETERMINISTIC RETURN CONCAT('<', s, '>')", "CREATE PROCEDURE mysql.p(OUT n INT) SELECT 7 INTO n",
        "SELECT mysql.f('a')", "CALL mysql.p(@n)", "SELECT @n",
        "SELECT user, USER, host FROM mysql.user WHERE is_role = 'y'", "DROP FUNCTION mysql.f", "DROP PROCEDURE mysql.p", "SELECT mysql.f(1)",
    ],
    "names that no role has": [
        "CREATE ROLE r1", "GRANT r1 TO none", "GRANT SELECT ON *.* TO none", "REVOKE r1 FROM none", "SHOW GRANTS FOR none", "GRANT r1 TO CURRENT_ROLE",
        "CREATE DEFINER = none VIEW v AS SELECT 1", "CREATE DEFINER = public PROCEDURE p() SELECT 1", "SET ROLE r1",
        "SELECT * FROM information_schema.enabled_roles", "SET DEFAULT ROLE CURRENT_ROLE FOR CURRENT_USER", "SELECT MAX(default_role) FROM mysql.user WHERE user = 'root'",
        "SET DEFAULT ROLE NONE", "SET DEFAULT ROLE r1 FOR nobody", "DROP ROLE r1", "SELECT * FROM information_schema.enabled_roles",
    ],
    "aggregate functions": [
        "CREATE TABLE t (a INT, b INT, c VARCHAR(10), e ENUM('p','q'))", "INSERT INTO t VALUES (1,1,'x','q'),(2,1,'y','p'),(3,2,'z',NULL),(NULL,2,'w','q')",
        "CREATE AGGREGATE FUNCTION s(x INT) RETURNS INT BEGIN DECLARE r INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN r;"
        " LOOP FETCH GROUP NEXT ROW; SET r = r + IFNULL(x, 100); END LOOP; END",
        "SELECT s(a) FROM t", "SELECT b, s(a), s(a + 1), SUM(a) FROM t GROUP BY b", "SELECT s(a) FROM t WHERE 0", "SELECT b, s(a) FROM t WHERE 0 GROUP BY b",
        "SELECT s(DISTINCT a) FROM t", "SELECT s(a ORDER BY b) FROM t", "SELECT b, s(a) OVER (PARTITION BY b) FROM t", "SELECT s(s(a)) FROM t",
        "SELECT SUM(s(a)) FROM t", "SELECT a FROM t WHERE s(a) > 1", "SELECT b FROM t GROUP BY b ORDER BY s(a) DESC", "UPDATE t SET a = s(a)", "SET @x = s(3)",
        "SELECT s(1), s(NULL), s('7')", "SELECT s(1, 2)", "SELECT s()", "SELECT b, s(a) FROM t GROUP BY b WITH ROLLUP", "SELECT (SELECT s(t.a)) FROM t",
        "SELECT b FROM t WHERE b IN (SELECT s(a) - 1 FROM t GROUP BY b)", "SELECT EXISTS (SELECT s(a) FROM t WHERE 0)", "SELECT DISTINCT s(b) FROM t GROUP BY b",
        "SELECT * FROM (SELECT b, s(a) n FROM t GROUP BY b) q WHERE n > 5",
        "CREATE AGGREGATE FUNCTION told(x INT) RETURNS VARCHAR(100) BEGIN DECLARE r VARCHAR(100) DEFAULT CONCAT('start ', x, ';');"
        " DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN CONCAT(r, 'end ', IFNULL(x, 'null'));"
        " SET r = CONCAT(r, 'before ', x, ';'); LOOP FETCH GROUP NEXT ROW; SET r = CONCAT(r, IFNULL(x, 'null'), ','); END LOOP; END",
        "SELECT told(a) FROM t", "SELECT told(5)", "CREATE AGGREGATE FUNCTION early(x INT) RETURNS INT BEGIN FETCH GROUP NEXT ROW; RETURN x; END",
        "SELECT early(a) FROM t", "SELECT early(b) FROM t", "CREATE AGGREGATE FUNCTION counted() RETURNS INT BEGIN DECLARE n INT DEFAULT 0;"
        " DECLARE EXIT HANDLER FOR NOT FOUND RETURN n; LOOP FETCH GROUP NEXT ROW; SET n = n + 1; END LOOP; END",
        "SELECT counted() FROM t", "SELECT b, counted(), COUNT(*) FROM t GROUP BY b",
        "CREATE AGGREGATE FUNCTION over(x INT) RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN 5; FETCH GROUP NEXT ROW; END", "SELECT over(a) FROM t",
        "CREATE OR REPLACE AGGREGATE FUNCTION over(x INT) RETURNS INT BEGIN LOOP FETCH GROUP NEXT ROW; END LOOP; RETURN 1; END", "SELECT over(a) FROM t",
        "CREATE OR REPLACE AGGREGATE FUNCTION over(x INT) RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND SET @over = x;"
        " LOOP FETCH GROUP NEXT ROW; END LOOP; RETURN 1; END", "SELECT over(a) FROM t",
        "CREATE AGGREGATE FUNCTION q(x INT) RETURNS INT RETURN 1", "CREATE AGGREGATE FUNCTION q(x INT) RETURNS INT BEGIN FETCH GROUP NEXT ROW; END",
        "CREATE FUNCTION q(x INT) RETURNS INT BEGIN FETCH GROUP NEXT ROW; RETURN 1; END", "CREATE PROCEDURE q() FETCH GROUP NEXT ROW",
        "CREATE TRIGGER q BEFORE INSERT ON t FOR EACH ROW FETCH GROUP NEXT ROW", "BEGIN NOT ATOMIC FETCH GROUP NEXT ROW; END",
        "CREATE EVENT q ON SCHEDULE EVERY 1 HOUR DO FETCH GROUP NEXT ROW", "CREATE AGGREGATE PROCEDURE q() SELECT 1", "ALTER FUNCTION s AGGREGATE NONE",
        "ALTER FUNCTION s COMMENT 'sum'", "SELECT name, aggregate FROM mysql.proc WHERE db = DATABASE() ORDER BY name",
        "CREATE AGGREGATE FUNCTION IF NOT EXISTS s(x INT) RETURNS INT BEGIN FETCH GROUP NEXT ROW; RETURN 1; END", "SELECT s(a) FROM t",
        "CREATE VIEW v AS SELECT b, s(a) AS n FROM t GROUP BY b", "SELECT * FROM v", "SELECT view_definition LIKE '%`s`(%' FROM information_schema.views WHERE table_name = 'v'",
        "SELECT n FROM v WHERE b = 1", "CREATE TABLE made AS SELECT s(a) n, told(a) m FROM t", "SHOW COLUMNS FROM made",
        "PREPARE p FROM 'SELECT s(a + ?) FROM t'", "SET @y = 10", "EXECUTE p USING @y", "EXECUTE p USING @y", "DROP FUNCTION s", "EXECUTE p USING @y",
        "CREATE FUNCTION s(x INT) RETURNS INT RETURN -x", "EXECUTE p USING @y",
    ],
    "aggregate functions that run statements": [
        "CREATE TABLE t (a INT, b INT)", "CREATE TABLE log (x INT)", "INSERT INTO t VALUES (1, 1), (2, 1), (3, 2)",
        "CREATE AGGREGATE FUNCTION noted(x INT) RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN 0;"
        " LOOP FETCH GROUP NEXT ROW; INSERT INTO log VALUES (x); END LOOP; END",
        "SELECT noted(a) FROM t", "SELECT * FROM log", "SELECT noted(a) FROM t GROUP BY b", "SELECT COUNT(*) FROM log",
        "CREATE AGGREGATE FUNCTION read_it(x INT) RETURNS INT BEGIN DECLARE n, d, v INT DEFAULT 0; DECLARE c CURSOR FOR SELECT x FROM log;"
        " DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN n; LOOP FETCH GROUP NEXT ROW;"
        " BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND SET d = 1; OPEN c; SET d = 0; r: LOOP FETCH c INTO v; IF d THEN LEAVE r; END IF; SET n = n + v; END LOOP;"
        " CLOSE c; END; END LOOP; END", "SELECT read_it(a) FROM t",
        "CREATE AGGREGATE FUNCTION deep(i INT) RETURNS INT BEGIN FETCH GROUP NEXT ROW; IF i <= 0 THEN RETURN 0; END IF; RETURN (SELECT deep(i - 1) FROM t LIMIT 1); END",
        "SELECT deep(0)", "SELECT deep(2)", "CREATE FUNCTION around() RETURNS INT RETURN (SELECT noted(a) FROM t)", "SELECT around()",
        "CREATE AGGREGATE FUNCTION fails(x INT) RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN 0; LOOP FETCH GROUP NEXT ROW;"
        " INSERT INTO log VALUES (-x); IF x = 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'three'; END IF; END LOOP; END",
        "SELECT fails(a) FROM t WHERE a < 3", "INSERT INTO log SELECT fails(a) FROM t", "SELECT COUNT(*) FROM log WHERE x = -3",
        "SET tmp_table_size = 16384, max_heap_table_size = 16384",
        "CREATE AGGREGATE FUNCTION many(x BIGINT, y TEXT) RETURNS BIGINT BEGIN DECLARE n BIGINT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN n;"
        " LOOP FETCH GROUP NEXT ROW; SET n = n + x * CHAR_LENGTH(y); END LOOP; END",
        "SELECT many(seq, REPEAT('a', seq % 50)), COUNT(*) FROM seq_1_to_3000", "SELECT seq % 7 k, many(seq, REPEAT('a', seq % 50)) FROM seq_1_to_3000 GROUP BY k",
        "SELECT COUNT(*), SUM(m) FROM (SELECT many(seq, 'ab') m FROM seq_1_to_3000 GROUP BY seq DIV 2) q",
    ],
    "what functions and triggers may set": [
        "CREATE TABLE t (a INT)", "SET sql_mode = ''", "CREATE FUNCTION modes() RETURNS VARCHAR(200) RETURN @@sql_mode",
        "CREATE FUNCTION literals() RETURNS VARCHAR(200) RETURN CONCAT(@@collation_connection, @@character_set_connection)",
        "SET sql_mode = 'ansi'", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SELECT modes(), literals()", "SET sql_mode = DEFAULT", "SET NAMES utf8mb4",
        "CREATE FUNCTION f(m VARCHAR(100)) RETURNS VARCHAR(200) BEGIN SET sql_mode = m; RETURN @@sql_mode; END", "SELECT f('ansi'), f('')", "SELECT @@sql_mode",
        "SELECT f('nosuch')", "CREATE FUNCTION strict(x VARCHAR(20), m VARCHAR(100)) RETURNS INT BEGIN DECLARE i INT; SET sql_mode = m; SET i = x; RETURN i; END",
        "SELECT strict('12x', '')", "SELECT strict('12x', 'STRICT_ALL_TABLES')",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET character_set_client = latin1, collation_connection = latin1_bin; RETURN 1; END", "SELECT f()",
        "SELECT @@character_set_client, @@collation_connection", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET NAMES latin1; RETURN 1; END", "SELECT f()",
        "SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SET NAMES utf8mb4",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET tx_isolation = 'serializable'; RETURN 1; END", "SELECT f()", "SELECT @@tx_isolation",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; RETURN 1; END", "SELECT f()",
        "SELECT @@tx_isolation, @@tx_read_only", "SET tx_isolation = 'repeatable-read'",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET TRANSACTION READ ONLY; RETURN 1; END", "SELECT f()", "BEGIN", "SELECT f()", "ROLLBACK", "INSERT INTO t VALUES (1)",
        "CREATE OR REPLACE FUNCTION f() RETURNS BIGINT BEGIN SET timestamp = 1000; RETURN UNIX_TIMESTAMP(); END", "SELECT f()", "SELECT UNIX_TIMESTAMP()",
        "SET timestamp = DEFAULT", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET last_insert_id = 5; RETURN LAST_INSERT_ID(); END", "SELECT f()",
        "SELECT LAST_INSERT_ID()", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET sql_log_bin = 0; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET binlog_format = STATEMENT; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET gtid_domain_id = 5; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET gtid_seq_no = 5; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET skip_replication = 1; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET max_connections = 1; RETURN 1; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET GLOBAL max_length_for_sort_data = 2048; RETURN @@GLOBAL.max_length_for_sort_data; END", "SELECT f()",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET autocommit = 0; RETURN 1; END", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET nosuch = 1; RETURN 1; END",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET PASSWORD = PASSWORD('x'); RETURN 1; END", "CREATE PROCEDURE p() SET GLOBAL nosuch = 1",
        "CREATE PROCEDURE p() SET @@nosuch = 1", "CREATE PROCEDURE p() SET STATEMENT nosuch = 1 FOR SELECT 1", "BEGIN NOT ATOMIC SET nosuch = 1; END",
        "CREATE PROCEDURE sets(m VARCHAR(50)) SET sql_mode = m, lock_wait_timeout = 4321", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN CALL sets('ansi'); RETURN @@lock_wait_timeout; END",
        "SELECT f()", "SELECT @@sql_mode, @@lock_wait_timeout", "SET lock_wait_timeout = DEFAULT",
        "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET STATEMENT lock_wait_timeout = 77 FOR INSERT INTO t VALUES (@@lock_wait_timeout); RETURN @@lock_wait_timeout; END",
        "SELECT f()", "SELECT * FROM t", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET STATEMENT sql_mode = 'nosuch' FOR INSERT INTO t VALUES (1); RETURN 1; END",
        "SELECT f()", "CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN SET STATEMENT autocommit = 0 FOR INSERT INTO t VALUES (1); RETURN 1; END",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET sql_mode = 'ansi'; SET NEW.a = NEW.a + LENGTH(@@sql_mode); END", "INSERT INTO t VALUES (5)",
        "SELECT @@sql_mode", "SELECT * FROM t ORDER BY a",
    ],
    "temporary tables in functions and triggers": [
        "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)",
        "CREATE FUNCTION f1() RETURNS INT BEGIN CREATE TEMPORARY TABLE tt (a INT); INSERT INTO tt VALUES (1), (2), (3); RETURN (SELECT SUM(a) FROM tt); END",
        "SELECT f1()", "SELECT * FROM tt", "SELECT f1()", "DROP TEMPORARY TABLE tt", "SELECT f1()", "SELECT COUNT(*) FROM tt", "DROP TEMPORARY TABLE tt",
        "CREATE FUNCTION f2(n INT) RETURNS INT BEGIN DECLARE s INT; CREATE TEMPORARY TABLE IF NOT EXISTS tt (a INT); INSERT INTO tt VALUES (n), (n);"
        " SELECT SUM(a) INTO s FROM tt; DROP TEMPORARY TABLE tt; RETURN s; END",
        "SELECT f2(a) FROM t", "SELECT * FROM tt", "BEGIN", "INSERT INTO t VALUES (3)", "SELECT f2(a) FROM t", "ROLLBACK", "SELECT COUNT(*) FROM t",
        "CREATE FUNCTION f3(n INT) RETURNS INT BEGIN CREATE OR REPLACE TEMPORARY TABLE t3 AS SELECT a + n AS b FROM t; RETURN (SELECT SUM(b) FROM t3); END",
        "SELECT f3(10)", "SELECT * FROM t3", "INSERT INTO t SELECT f3(5)", "SELECT * FROM t", "SELECT COUNT(*) FROM t3", "DROP TABLE t3",
        "CREATE FUNCTION f4() RETURNS INT BEGIN CREATE TEMPORARY TABLE t (a INT, b INT); RETURN (SELECT COUNT(*) FROM t); END", "SELECT f4()", "SELECT * FROM t",
        "DROP TEMPORARY TABLE t", "SELECT COUNT(*) FROM t", "CREATE FUNCTION f5() RETURNS INT BEGIN CREATE TABLE t4 (a INT); RETURN 1; END",
        "CREATE FUNCTION f5() RETURNS INT BEGIN DROP TABLE t4; RETURN 1; END", "CREATE FUNCTION f5() RETURNS INT BEGIN TRUNCATE t; RETURN 1; END",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN CREATE TEMPORARY TABLE IF NOT EXISTS seen (a INT); INSERT INTO seen VALUES (NEW.a); END",
        "INSERT INTO t VALUES (50), (51)", "SELECT * FROM seen", "INSERT INTO t VALUES (52)", "SELECT * FROM seen",
        "CREATE TEMPORARY TABLE u (a INT)", "CREATE FUNCTION reads() RETURNS INT RETURN (SELECT COUNT(*) FROM u)", "SELECT reads()", "DROP TABLE u",
        "CREATE TABLE u (a INT)", "INSERT INTO u VALUES (1), (2)", "SELECT reads()", "CREATE TEMPORARY TABLE u (a INT)", "SELECT reads()", "DROP TEMPORARY TABLE u", "SELECT reads()",
        "CREATE PROCEDURE makes() CREATE TEMPORARY TABLE IF NOT EXISTS w (a INT)", "CREATE FUNCTION f6() RETURNS INT BEGIN CALL makes(); RETURN (SELECT COUNT(*) FROM w); END",
        "SELECT f6()", "INSERT INTO w VALUES (1)", "SELECT f6()",
    ],
    "grant tables written by hand": [
        "CREATE USER u1@localhost IDENTIFIED BY 'x'", "CREATE ROLE mapped1", "CREATE TABLE t (a INT, b INT)",
        "INSERT INTO mysql.db (host, db, user, select_priv, insert_priv) VALUES ('localhost', 'granted', 'u1', 'Y', 'Y')", "FLUSH PRIVILEGES",
        "SHOW GRANTS FOR u1@localhost", "UPDATE mysql.db SET delete_priv = 'Y', insert_priv = 'N' WHERE user = 'u1'", "FLUSH PRIVILEGES",
        "SHOW GRANTS FOR u1@localhost", "DELETE FROM mysql.db WHERE user = 'u1'", "FLUSH PRIVILEGES", "SHOW GRANTS FOR u1@localhost",
        "INSERT INTO mysql.roles_mapping VALUES ('localhost', 'u1', 'mapped1', 'N')", "FLUSH PRIVILEGES", "SHOW GRANTS FOR u1@localhost",
        "UPDATE mysql.roles_mapping SET admin_option = 'Y' WHERE role = 'mapped1' AND user = 'u1'", "FLUSH PRIVILEGES",
        "SELECT user, role, admin_option FROM mysql.roles_mapping WHERE user = 'u1'", "DELETE FROM mysql.roles_mapping WHERE role = 'mapped1' AND user = 'u1'",
        "FLUSH PRIVILEGES", "SHOW GRANTS FOR u1@localhost",
        "INSERT INTO mysql.tables_priv (host, db, user, table_name, table_priv) VALUES ('localhost', 'granted', 'u1', 't', 'Select,Grant,Create View')",
        "FLUSH PRIVILEGES", "SHOW GRANTS FOR u1@localhost", "DELETE FROM mysql.tables_priv WHERE user = 'u1'", "FLUSH PRIVILEGES",
        "UPDATE mysql.global_priv SET priv = JSON_SET(priv, '$.access', 1 + 2 + 1024 + 65536) WHERE user = 'u1'", "FLUSH PRIVILEGES", "SHOW GRANTS FOR u1@localhost",
        "SELECT JSON_VALUE(priv, '$.access') FROM mysql.global_priv WHERE user = 'u1'", "INSERT INTO mysql.global_priv VALUES ('%', 'u2', '{\"access\":4}')",
        "FLUSH PRIVILEGES", "SHOW GRANTS FOR u2", "INSERT INTO mysql.global_priv VALUES ('%', 'u2', '{}')",
        "INSERT INTO mysql.global_priv VALUES ('', 'mapped2', '{\"is_role\":true}')", "FLUSH PRIVILEGES", "SHOW GRANTS FOR mapped2", "DELETE FROM mysql.user WHERE user = 'u2'",
        "FLUSH PRIVILEGES", "SHOW GRANTS FOR u2", "DELETE FROM mysql.user WHERE user = 'nobody'", "INSERT INTO mysql.db (nosuch) VALUES (1)",
        "INSERT INTO mysql.db (host) VALUES (1, 2)", "DELETE FROM mysql.nosuch", "DELETE FROM mysql.global_priv WHERE user IN ('u1', 'mapped1', 'mapped2')", "FLUSH PRIVILEGES",
        "SELECT user FROM mysql.user WHERE user IN ('u1', 'u2', 'mapped1', 'mapped2')",
    ],
    "types of results and parameters": [
        "CREATE PROCEDURE p(a INT, b VARCHAR(20), c DECIMAL(10,3), d DATETIME(3), e TEXT, f ENUM('a','b'), g BIT(5), h BINARY(4), i DOUBLE, j FLOAT, k YEAR,"
        " l TIME(2), m DATE, o CHAR(3) CHARACTER SET latin1, p TINYINT UNSIGNED, q BIGINT UNSIGNED, r LONGBLOB, s SET('x','yy')) SELECT 1",
        "CREATE FUNCTION f(a INT) RETURNS VARCHAR(30) CHARACTER SET latin1 RETURN 'a'", "CREATE FUNCTION g() RETURNS DECIMAL(5,2) RETURN 1", "CREATE TABLE t (a INT)",
        "CREATE PROCEDURE p3(a TYPE OF t.a, r ROW TYPE OF t, x ROW(a INT, b INT)) SELECT 1",
        "SELECT parameter_name, data_type, character_maximum_length, character_octet_length, numeric_precision, numeric_scale, datetime_precision,"
        " character_set_name, collation_name, dtd_identifier FROM information_schema.parameters WHERE specific_schema = DATABASE() ORDER BY specific_name, ordinal_position",
        "SELECT routine_name, data_type, character_maximum_length, character_octet_length, numeric_precision, numeric_scale, datetime_precision,"
        " character_set_name, collation_name, dtd_identifier FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY routine_name",
        "CREATE VIEW v AS SELECT a, a + 0.5 AS c FROM t", "CREATE PROCEDURE p4() BEGIN DECLARE x TYPE OF v.c; DECLARE r ROW TYPE OF v; SET x = 1, r.a = 3; SELECT x, r.a; END",
        "CALL p4()", "LOCK TABLES t READ, mysql.proc WRITE", "LOCK TABLES mysql.proc WRITE", "CREATE PROCEDURE p5() SELECT 1", "UNLOCK TABLES",
    ],
    "what a trigger's definer may do": [
        "CREATE TABLE t (a INT, b INT)", "CREATE USER tu@localhost", "CREATE DEFINER = tu@localhost TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @x = NEW.b",
        "INSERT INTO t VALUES (1, 2)", "GRANT TRIGGER ON t TO tu@localhost", "INSERT INTO t VALUES (1, 2)", "GRANT SELECT (b) ON t TO tu@localhost",
        "INSERT INTO t VALUES (1, 2)", "CREATE OR REPLACE DEFINER = tu@localhost TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.b = 5",
        "INSERT INTO t VALUES (1, 2)", "GRANT UPDATE (b) ON t TO tu@localhost", "INSERT INTO t VALUES (1, 2)",
        "CREATE OR REPLACE DEFINER = tu@localhost TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET @x = OLD.a", "UPDATE t SET a = 3", "DROP USER tu@localhost",
        "UPDATE t SET a = 3", "SELECT * FROM t", "CREATE USER tv@localhost", "CREATE DEFINER = tv@localhost PROCEDURE p() BEGIN DECLARE x TYPE OF t.a; SET x = 1; SELECT x; END",
        "SET @db = DATABASE()", "EXECUTE IMMEDIATE CONCAT('GRANT EXECUTE ON ', @db, '.* TO tv@localhost')", "CALL p()", "GRANT SELECT (a) ON t TO tv@localhost", "CALL p()",
        "CREATE OR REPLACE DEFINER = tv@localhost PROCEDURE p() BEGIN DECLARE x TYPE OF t.b; SET x = 1; SELECT x; END", "CALL p()", "DROP USER tv@localhost", "CALL p()",
    ],
    "what is wrong with a definition as it stands": [
        "CREATE TABLE t (a INT)", "CREATE PROCEDURE p1() BEGIN DECLARE x INT DEFAULT x; END",
        "CREATE PROCEDURE p1() BEGIN DECLARE v INT; SELECT @@SESSION.v; END",
        "CREATE FUNCTION f1(a INT, b FLOAT) RETURNS INT RETURN (SELECT COUNT(*) FROM t LIMIT a, b)", "CREATE PROCEDURE p1(a INT) SET @x = (VALUES (unknown_ident))",
        "CREATE PROCEDURE p2(OUT x INT) SET x = 1", "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW CALL p2(NEW.a)", "INSERT INTO t VALUES (1)",
        "DROP TRIGGER tr", "SET @a = ''", "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW SET @a = IF(@a, CONCAT(@a, ':', NEW.a), NEW.a)", "INSERT INTO t VALUES (2), (3)",
        "SELECT @a",
    ],
    "rows where one value is wanted": [
        "SELECT 1 IN (ROW(1, 2))", "SELECT 1 NOT IN ((1, 2))", "SELECT 1 IN (1, ROW(1, 2))", "SELECT ROW(1, 2) IN (1)", "SELECT ROW(1, 2) NOT IN (1, 2)",
        "CREATE PROCEDURE p1() BEGIN DECLARE r ROW(a INT, b INT) DEFAULT ROW(1, 2); SELECT 1 IN (r); END", "CALL p1()",
        "CREATE PROCEDURE p2() BEGIN DECLARE r ROW(a INT, b INT) DEFAULT ROW(1, 2); SELECT r IN (1); END", "CALL p2()",
    ],
    "LIMIT with a variable": [
        "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE PROCEDURE p(n INT, m BIGINT UNSIGNED) SELECT a FROM t ORDER BY a LIMIT m, n",
        "CALL p(-1, 1)", "CALL p(2, 0)", "CALL p(-9223372036854775808, 0)", "CALL p(0, 0)", "SET @n = -1", "PREPARE s FROM 'SELECT 1 LIMIT ?'", "EXECUTE s USING @n",
    ],
    "what DO and functions leave of errors and warnings": [
        "CREATE TABLE t (a INT)", "CREATE FUNCTION f1() RETURNS INT BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'boom'; RETURN 1; END", "DO f1()", "SHOW WARNINGS",
        "CREATE FUNCTION f2() RETURNS INT BEGIN INSERT INTO t VALUES (1); INSERT INTO t VALUES (CAST('9x' AS INT)); RETURN 1; END", "DO f2()", "SHOW WARNINGS",
        "SELECT * FROM t", "CREATE PROCEDURE p1() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 'caught'; DO f1(); SELECT 'behind'; END", "CALL p1()", "DO nosuch()",
        "SET group_concat_max_len = 4", "CREATE FUNCTION f3() RETURNS TEXT BEGIN DECLARE x TEXT; SET x = (SELECT GROUP_CONCAT(a) FROM (SELECT 1111 a UNION SELECT 2222) d); RETURN x; END",
        "SELECT f3()", "CREATE FUNCTION f4() RETURNS TEXT RETURN (SELECT GROUP_CONCAT(a) FROM (SELECT 1111 a UNION SELECT 2222) d)", "SELECT f4()", "SHOW WARNINGS",
        "SET group_concat_max_len = DEFAULT", "SET sql_mode = ''", "CREATE FUNCTION f5() RETURNS INT BEGIN DECLARE x INT; SET x = CAST('9x' AS INT); RETURN 1; END",
        "SELECT a FROM t", "SELECT f5()", "SHOW WARNINGS", "CREATE FUNCTION f6() RETURNS INT RETURN CAST('9x' AS INT)", "SELECT f6()", "SHOW WARNINGS",
        "CREATE PROCEDURE p2() BEGIN END", "SHOW WARNINGS", "CALL p2()", "SHOW WARNINGS", "CREATE PROCEDURE p3() INSERT INTO t VALUES (5)", "CALL p3()", "SHOW WARNINGS",
    ],
    "what RESIGNAL and SIGNAL leave": [
        "CREATE PROCEDURE p1() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL SET MYSQL_ERRNO = 9999; DROP TABLE nosuch; END", "CALL p1()", "SHOW WARNINGS",
        "CREATE PROCEDURE p2() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL SET MESSAGE_TEXT = 'inner'; CALL p1(); END", "CALL p2()", "SHOW WARNINGS",
        "CREATE PROCEDURE p3() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL SQLSTATE '99002' SET MYSQL_ERRNO = 2;"
        " SIGNAL SQLSTATE '99001' SET MYSQL_ERRNO = 1, MESSAGE_TEXT = 'Original'; END", "CALL p3()", "SHOW WARNINGS",
        "CREATE PROCEDURE p4(n INT) BEGIN DECLARE m TEXT DEFAULT REPEAT('a', n); SIGNAL SQLSTATE '45000' SET TABLE_NAME = m, MESSAGE_TEXT = 'x'; END", "CALL p4(64)", "CALL p4(65)",
        "CREATE PROCEDURE p5(n INT) BEGIN DECLARE m TEXT DEFAULT REPEAT('a', n); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = m; END", "CALL p5(200)", "CALL p5(513)",
        "SET sql_mode = ''", "CREATE OR REPLACE PROCEDURE p4(n INT) BEGIN DECLARE m TEXT DEFAULT REPEAT('a', n); SIGNAL SQLSTATE '45000' SET TABLE_NAME = m, MESSAGE_TEXT = 'x'; END",
        "CALL p4(65)", "SHOW WARNINGS", "GET DIAGNOSTICS CONDITION nosuch @x = CLASS_ORIGIN",
    ],
    "how many rows a CALL has changed": [
        "CREATE TABLE t (a INT)", "CREATE TABLE u (a INT)", "INSERT INTO u VALUES (1), (2)", "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW INSERT INTO u VALUES (3), (4)",
        "CREATE PROCEDURE p1() INSERT INTO t VALUES (1)", "CALL p1()", "DROP TRIGGER tr", "CREATE PROCEDURE p2() BEGIN DECLARE x INT; SELECT a INTO x FROM u LIMIT 1; END",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW CALL p2()", "CALL p1()", "CREATE FUNCTION f1() RETURNS INT BEGIN INSERT INTO u VALUES (1), (2), (3); RETURN 1; END",
        "CREATE PROCEDURE p3() BEGIN DECLARE x INT DEFAULT f1(); SET x = f1(); SET @x = f1(); DO f1(); END", "CALL p3()",
        "CREATE PROCEDURE p4() BEGIN INSERT INTO t VALUES (f1()); CALL p3(); END", "CALL p4()",
    ],
    "joins in a UNION that use a variable": [
        "CREATE TABLE t (id INT PRIMARY KEY, rid INT, UNIQUE (rid, id))", "INSERT INTO t VALUES (1, 1), (2, 1), (3, 1)",
        "CREATE PROCEDURE p1(v INT) SELECT a.id FROM t AS a WHERE a.id = v UNION ALL SELECT a.id FROM t AS a, t AS b WHERE a.id = b.rid AND b.id = v",
        "CALL p1(2)", "CALL p1(3)", "CREATE FUNCTION f1(v INT) RETURNS INT RETURN (SELECT SUM(a.id) FROM t AS a, t AS b WHERE a.id = b.rid AND b.id = v)", "SELECT f1(2)",
        "CREATE PROCEDURE p2(v INT) SELECT 7, (SELECT a.id FROM t AS a, t AS b WHERE a.id = b.rid AND b.id = v) AS x FROM (SELECT a.id FROM t AS a, t AS b"
        " WHERE a.id = b.rid AND b.id = v) AS d WHERE d.id IN (SELECT a.id FROM t AS a, t AS b WHERE a.id = b.rid AND b.id = v)", "CALL p2(2)",
        "CREATE PROCEDURE p3(v INT) INSERT INTO t SELECT a.id + 10, 5 FROM t AS a, t AS b WHERE a.id = b.rid AND b.id = v", "CALL p3(2)", "SELECT * FROM t ORDER BY id",
        "CREATE PROCEDURE p4() BEGIN DECLARE a, b INT DEFAULT UNIX_TIMESTAMP(); DO SLEEP(1.1); SET b = UNIX_TIMESTAMP(); SELECT b > a; END", "CALL p4()",
    ],
    "a duplicate that changes nothing": [
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "CREATE TABLE l (m VARCHAR(20))", "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW INSERT INTO l VALUES ('before')",
        "CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW INSERT INTO l VALUES ('after')", "INSERT INTO t VALUES (1, 1)",
        "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 1", "SELECT * FROM l", "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", "SELECT * FROM l",
    ],
    "writes to grant tables": [
        "CREATE USER wgu", "CREATE PROCEDURE p1() INSERT INTO mysql.db (host, db, user, select_priv) VALUES ('%', 'wgd', 'wgu', 'Y')", "CALL p1()",
        "SELECT host, db, user, select_priv FROM mysql.db WHERE db = 'wgd'", "PREPARE s FROM 'UPDATE mysql.db SET select_priv = ?, insert_priv = ''Y'' WHERE db = ?'",
        "SET @n = 'N', @d = 'wgd'", "EXECUTE s USING @n, @d",
        "SELECT select_priv, insert_priv FROM mysql.db WHERE db = 'wgd'", "PREPARE s FROM 'DELETE FROM mysql.db WHERE db = ?'", "EXECUTE s USING @d", "EXECUTE s USING @d",
        "SELECT host, db FROM mysql.db WHERE db = 'wgd'", "DROP USER wgu",
    ],
    "values that are not as they should be": [
        "CREATE PROCEDURE p1() BEGIN DECLARE x INT; SELECT 1 / 0 INTO x; SELECT x; END", "CALL p1()", "CREATE PROCEDURE p2() BEGIN SELECT 1 / 0 INTO @x; SELECT @x; END", "CALL p2()",
        "CREATE FUNCTION f1() RETURNS INT BEGIN DECLARE x INT; SELECT CAST('x' AS INT) INTO x; RETURN x; END", "SELECT f1()",
        "CREATE FUNCTION f2() RETURNS INT BEGIN DECLARE CONTINUE HANDLER FOR SQLSTATE '42000' SET @a = 1; RETURN nosuch(); END", "SELECT f2()",
        "CREATE PROCEDURE p3() SET sql_mode = ''", "CALL p3()", "SELECT @@sql_mode", "CREATE FUNCTION f3(a TINYINT) RETURNS INT RETURN a", "SELECT f3(1000)",
        "CREATE PROCEDURE p4() BEGIN SELECT 1 /*! , 2 */ /*!999999 , 3 */ /* c */; SELECT '/*! x */'; END", "SELECT routine_definition FROM information_schema.routines WHERE routine_name = 'p4'"
        " AND routine_schema = DATABASE()", "CALL p4()", "CREATE TABLE t (a INT PRIMARY KEY)", "CREATE PROCEDURE p5() INSERT INTO t VALUES (2), (1)", "INSERT INTO t VALUES (1)", "CALL p5()",
        "GET DIAGNOSTICS CONDITION 1 @n = ROW_NUMBER, @m = MESSAGE_TEXT", "SELECT @n, @m", "SELECT CAST('a' AS INT)",
        "BEGIN NOT ATOMIC DECLARE m TEXT; GET DIAGNOSTICS CONDITION 1 m = MESSAGE_TEXT; SELECT m, @@warning_count; END", "SHOW WARNINGS",
        "CREATE TEMPORARY TABLE tt (a INT)", "LOCK TABLES tt WRITE", "CREATE PROCEDURE p6() SELECT 1", "INSERT INTO tt VALUES (1)", "SELECT * FROM t", "UNLOCK TABLES",
    ],
    "SET ROLE in programs": [
        "CREATE ROLE sra", "CREATE USER sru@localhost", "GRANT sra TO sru@localhost", "CREATE PROCEDURE p1() SELECT CURRENT_ROLE()", "CREATE PROCEDURE p2() SET ROLE sra",
        "CREATE PROCEDURE p3() SQL SECURITY INVOKER SET ROLE NONE", "CALL p2()", "SELECT CURRENT_ROLE()", "CALL p1()", "CALL p3()", "SELECT CURRENT_ROLE()",
        "CREATE FUNCTION f1() RETURNS VARCHAR(20) BEGIN SET ROLE sra; RETURN CURRENT_ROLE(); END", "SELECT f1()", "SELECT CURRENT_ROLE()",
        "CREATE FUNCTION f2() RETURNS INT BEGIN SET ROLE nosuch; RETURN 1; END", "SELECT f2()", "SELECT CURRENT_ROLE()",
        "CREATE DEFINER = sru@localhost FUNCTION f3() RETURNS VARCHAR(20) BEGIN SET ROLE sra; RETURN CURRENT_ROLE(); END", "SET ROLE NONE", "SET @db = DATABASE()",
        "EXECUTE IMMEDIATE CONCAT('GRANT EXECUTE ON ', @db, '.* TO sru@localhost')", "SELECT f3()", "SELECT CURRENT_ROLE()", "DROP USER sru@localhost", "DROP ROLE sra",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_mariadb(both, name):
    compare(both, PROGRAMS[name])


def test_programs_survive_kill(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        for sql in (
            "CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT)", "CREATE TABLE log (a INT)",
            "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1", "CREATE PROCEDURE p() SELECT f(1)",
            "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (f(NEW.a))",
        ):  # fmt: skip
            client.ok(sql)
    server.kill()
    server.start()
    with Client(server, "d") as client:
        assert results(client, "CALL p()")[0] == (["f(1)"], [("2",)])
        client.ok("INSERT INTO t VALUES (1), (2)")
        assert client.rows("SELECT * FROM log") == [("2",), ("3",)]


def test_a_loop_without_an_end_ends(narwal):
    with Client(narwal) as client, Client(narwal) as other:
        client.ok("SET max_statement_time = 0.3")
        answer = client.run("BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @x = 1; LOOP SET @y = 1; END LOOP; END")
        assert answer.error == 1969
        client.ok("SET max_statement_time = 0")
        number = client.value("SELECT CONNECTION_ID()")
        client.send("BEGIN NOT ATOMIC LOOP DO 1; END LOOP; END")
        time.sleep(0.3)
        other.ok(f"KILL QUERY {number}")
        assert client.receive().error == 1317


def test_a_dump_loads(own_narwal):
    """mariadb-dump writes routines and triggers, and what it writes loads."""
    server, other = own_narwal(), own_narwal()
    with Client(server) as client:
        for sql in (
            "CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT)", "CREATE TABLE log (a INT)",
            "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1", "CREATE PROCEDURE p() SELECT f(1)",
            "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (f(NEW.a))", AGGREGATE,
        ):  # fmt: skip
            client.ok(sql)
    login = ["-h127.0.0.1", "-uroot"]
    dump = subprocess.run(
        ["mariadb-dump", *login, f"-P{server.port}", "--routines", "--triggers", "--databases", "d"],
        check=True, capture_output=True,
    ).stdout  # fmt: skip
    subprocess.run(["mariadb", *login, f"-P{other.port}"], input=dump, check=True)
    with Client(other, "d") as client:
        assert results(client, "CALL p()")[0] == (["f(1)"], [("2",)])
        client.ok("INSERT INTO t VALUES (1)")
        assert client.rows("SELECT * FROM log") == [("2",)]
        assert client.value("SELECT s(a) FROM log") == "2"


@pytest.mark.parametrize("kind", ["to MariaDB", "to Narwal"])
def test_replicas_get_rows_and_fire_nothing(kind, lab, own):
    """What triggers did is in the source's rows: a replica, which has the triggers too, does it once."""
    primary = own(lab.narwal())
    replica = own(lab.replica() if kind == "to MariaDB" else lab.narwal_replica())
    replica.follow(primary.port)
    with Client(primary) as client:
        for sql in (
            "CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT PRIMARY KEY, b INT)", "CREATE TABLE log (id INT PRIMARY KEY AUTO_INCREMENT, a INT)",
            "CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC RETURN x + 1",
            "CREATE TRIGGER bi BEFORE INSERT ON t FOR EACH ROW SET NEW.b = f(NEW.a)",
            "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO log (a) VALUES (NEW.b)",
            "CREATE PROCEDURE p(n INT) BEGIN WHILE n > 0 DO INSERT INTO t (a) VALUES (n); SET n = n - 1; END WHILE; END",
            AGGREGATE, "INSERT INTO log (a) SELECT s(b) FROM t", "DELETE FROM log",
            "CALL p(3)", "DROP PROCEDURE p", "ALTER FUNCTION f COMMENT 'adds one'", "RENAME TABLE t TO u", "INSERT INTO u (a) VALUES (9)",
        ):  # fmt: skip
            client.ok(sql)
    replica.catch_up(primary.port, 30)
    for server in (primary, replica):
        with Client(server, "d") as client:
            assert client.rows("SELECT * FROM u ORDER BY a") == [("1", "2"), ("2", "3"), ("3", "4"), ("9", "10")]
            assert client.rows("SELECT a FROM log ORDER BY id") == [("4",), ("3",), ("2",), ("10",)]
            names = client.rows("SELECT trigger_name, event_object_table FROM information_schema.triggers WHERE trigger_schema = 'd' ORDER BY 1")
            assert names == [("ai", "u"), ("bi", "u")]
            routines = client.rows("SELECT routine_name, routine_comment FROM information_schema.routines WHERE routine_schema = 'd' ORDER BY 1")
            assert routines == [("f", "adds one"), ("s", "")]
            assert client.value("SELECT s(b) FROM u") == "19"


def executed(link: p.Link, call: str, values: tuple) -> list:
    """All results of an execution: names, rows as they come, and whether it says that it is the OUT parameters."""
    answers = [link.execute(link.prepare(call), *values)]
    while p.status_of(answers[-1]) & p.MORE_RESULTS:
        answers.append(link.answer(True))
    out_params = 0x1000
    return [
        ([c.name for c in a.columns], a.rows, bool(p.status_of(a) & out_params)) if isinstance(a, p.Rows) else type(a).__name__
        for a in answers
    ]


def test_out_parameters_come_back_by_the_protocol(both):
    """As a result of their own, which its status tells from the procedure's results."""
    several_results = 1 << 17 | 1 << 18
    found = []
    for client in both:
        client.ok("CREATE PROCEDURE w(IN a INT, OUT b INT, INOUT c VARCHAR(10)) BEGIN SELECT a; SET b = a + 1; SET c = CONCAT(c, a); END")
        with p.Link(client.server, caps=several_results, database=client.value("SELECT DATABASE()")) as link:
            found.append([
                executed(link, "CALL w(?, ?, ?)", (7, 0, "x")),
                executed(link, "CALL w(1, @b, ?)", ("y",)),
                executed(link, "CALL w(?, @b, @c)", (3,)),
            ])
    assert found[0] == found[1]
    assert [r[2] for r in found[0][0][:2]] == [False, True]
