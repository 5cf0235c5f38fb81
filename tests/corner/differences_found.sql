-- What the random queries of test_queries.py found: one cause after the other.
CREATE TABLE t (id INT PRIMARY KEY, i INT, d DECIMAL(10,3), t VARCHAR(20), y YEAR, r DOUBLE, KEY (y));
INSERT INTO t VALUES (0, 1, 2, 'b ', 2020, 1), (1, 1, 2, 'a', 2020, 2), (2, 1, 2.5, 'A', 1999, 3), (3, NULL, NULL, NULL, NULL, NULL);
-- Doubles with a fixed number of digits keep it in UNION and derived tables.
SELECT i FROM t UNION SELECT -3.000*NULL;
SELECT i FROM t UNION ALL SELECT ROUND(NULL, 1);
SELECT d FROM t UNION ALL SELECT CEIL(NULL);
SELECT i FROM t UNION SELECT NULL/2;
SELECT i FROM t UNION SELECT AVG(NULL) FROM t;
SELECT i FROM t UNION SELECT ROUND(r, 2) FROM t;
SELECT 1.50 UNION SELECT ROUND(r) FROM t;
SELECT CONCAT(x), x + 0 FROM (SELECT 1.50 x UNION SELECT ROUND(r) FROM t) z;
SELECT CASE WHEN 0 = 1 THEN d + (SELECT SUM(NULL) FROM t) ELSE 0 END FROM t;
-- MIN and MAX of NULL are of a type, though of none that matters.
SELECT JSON_OBJECT('a', IFNULL((SELECT MAX(NULL) FROM t), 1)), JSON_OBJECT('a', IFNULL((SELECT NULL FROM t LIMIT 1), 1));
SELECT JSON_ARRAY(IFNULL(MIN(IF(id, NULL, NULL)), 1), IFNULL(MAX(NULL), 1.5)) FROM t;
SELECT ROUND(LEAST(IFNULL((SELECT MAX(NULL) FROM t), 1), IFNULL(id, 0)), 3) FROM t ORDER BY id;
SELECT CHARSET(QUOTE(NULL)), HEX(WEIGHT_STRING(QUOTE(NULL))), CHARSET(CONCAT(NULL)), QUOTE(NULL);
SELECT JSON_ARRAY(IFNULL(IF(1, NULL, NULL), 1), IFNULL(CASE WHEN 1 THEN NULL END, 1), IFNULL(COALESCE(NULL), 1));
SELECT ROUND(COALESCE(IF(1, NULL, NULL), 0), 1), IF(id, NULL, NULL) FROM t;
-- GREATEST and LEAST of texts where a number is wanted.
SELECT GREATEST('10', '9'), GREATEST('10', '9') + 0, LEAST('10', '9') * 1.5, -LEAST('10', '9'), LEAST('10', '9') < 9.5, LEAST('a', '1') = 0;
SELECT CAST(LEAST('10', '9') AS DOUBLE), CAST(LEAST('10', '9.25') AS DECIMAL(10,2)), CAST(LEAST('10', '9') AS SIGNED), ROUND(LEAST('10', '9'), 1);
SELECT SUM(LEAST('10', '9')), AVG(GREATEST('10', '9')), ABS(LEAST('10', '-9')) FROM t;
-- nowarn
SELECT id FROM t WHERE GREATEST(t, 'B') = 0 ORDER BY id;
-- A number among the texts of BETWEEN makes all three numbers.
-- nowarn
SELECT 'b' BETWEEN '10' AND 1, 'b' BETWEEN 'a' AND 1, 'b' BETWEEN -1 AND 'x', '5' BETWEEN '10' AND 7, '5' BETWEEN '10' AND '7', '5' BETWEEN 1 AND 9;
-- nowarn sorted
SELECT id FROM t WHERE t BETWEEN JSON_ARRAY(10, t) AND i;
-- A byte string that comes from a column's text is compared as text, one of a literal or column as bytes.
SELECT id, RTRIM(t) = UNHEX(HEX(t)), t = UNHEX(HEX(t)), UNHEX(HEX(t)) BETWEEN t AND 'B', BINARY t BETWEEN t AND 'B', 'b' = UNHEX('6220') FROM t ORDER BY id;
SELECT id FROM t WHERE t = x'61' ORDER BY id;
SELECT id FROM t WHERE t IN (x'61', 'z') ORDER BY id;
SELECT id FROM t WHERE BINARY t = 'a' ORDER BY id;
-- A constant beside a YEAR column is the year that it would be stored as.
SELECT id FROM t WHERE y = 20;
SELECT id FROM t WHERE 20 = y;
SELECT id FROM t WHERE y = MINUTE(TIMESTAMP '2020-01-31 10:20:30');
SELECT id FROM t WHERE y IN (20, 99);
SELECT id FROM t WHERE y < 20;
SELECT id FROM t WHERE y BETWEEN 19 AND 21;
SELECT id FROM t WHERE y = '20';
SELECT id FROM t WHERE y = 20.0;
SELECT id FROM t WHERE y > 3000 OR y < -1;
SELECT id FROM t WHERE y = i + 19;
SELECT y = 20, y = 10 + 10, y < 21, y <=> 20, y IN (20, 99), y BETWEEN 19 AND 21, y = 20e0, CASE y WHEN 20 THEN 1 END, y = CAST('20' AS SIGNED) FROM t ORDER BY id;
UPDATE t SET i = 5 WHERE y = 99;
SELECT id, i FROM t WHERE i = 5;
-- Numbers in YEAR and SET columns.
CREATE TABLE n (id INT PRIMARY KEY AUTO_INCREMENT, y YEAR, s SET('a', 'b', 'c'), i TINYINT, u SMALLINT UNSIGNED, d DECIMAL(3,1));
SET sql_mode = '';
INSERT INTO n (y) VALUES (0.5), (0.5e0), (1.5e0), (1.5), (2155.4e0), (2155.9), (2154.9e0), (-0.4e0), (-0.4), (1900.9e0), (1900.9);
INSERT INTO n (id, y) SELECT 50 + id, r + 0.75 FROM t;
INSERT INTO n (s) VALUES ('1010'), ('7'), ('8'), (8), (1010), (BIN(10)), (HEX('ab')), ('9a'), ('a,1');
INSERT INTO n (y) VALUES ('0x'), ('0abc'), ('x'), ('0'), ('0000'), ('00'), ('0000 '), ('5x');
INSERT INTO n (y) VALUES ('2000 ');
INSERT INTO n (y) VALUES ('5 ');
INSERT INTO n (y) VALUES ('3000 ');
INSERT INTO n (d) VALUES ('1234x');
INSERT INTO n (i) VALUES ('2020/02/29'), ('20/02');
SET sql_mode = 'STRICT_ALL_TABLES';
INSERT INTO n (y) VALUES (-0.4e0);
INSERT INTO n (y) VALUES (2155.4e0);
INSERT INTO n (s) VALUES ('1010');
INSERT INTO n (s) VALUES ('  ');
INSERT INTO n (id, s) VALUES (90, '0'), (91, ''), (92, 'a ');
-- The range is looked at before what stands behind the number.
INSERT INTO n (i) VALUES ('2020/02/29');
INSERT INTO n (i) VALUES ('20/02');
INSERT INTO n (u) VALUES ('-1x');
INSERT INTO n (y) VALUES ('1234x');
INSERT INTO n (y) VALUES ('2020x');
INSERT INTO n (d) VALUES ('1234x');
SELECT id, y, s, s + 0, i, u, d FROM n;
-- Values are stored in the order of the statement: its first bad one is told.
CREATE TABLE o (id INT PRIMARY KEY, a INT NOT NULL, e ENUM('x'), b DOUBLE, c INT DEFAULT 7);
INSERT INTO o (id, e, a) VALUES (1, 'q', NULL);
INSERT INTO o (id, e, a) SELECT 1, 'q', NULL;
INSERT INTO o (id, b, a) SELECT 1, 'abc', NULL;
INSERT INTO o (b, a, id) VALUES ('abc', 'def', 1);
INSERT INTO o (c, a, id) VALUES (3, c + 1, 2), (id, a, c), (DEFAULT, c, 4);
INSERT INTO o SET b = 4, a = b + c, id = 5;
SELECT * FROM o;
-- What is no date, no JSON and so on is an error where a strict statement stores it.
UPDATE o SET a = STR_TO_DATE('x', '%d') WHERE id = 2;
UPDATE o SET a = STR_TO_DATE(CONCAT('2020-1-', a - 9), '%Y-%m-%d') WHERE id = 2;
UPDATE o SET c = DATE_ADD('9999-12-31', INTERVAL 1 DAY) WHERE id = 2;
UPDATE o SET c = FROM_BASE64('?') WHERE id = 2;
UPDATE o SET c = REPEAT('a', 100000000) WHERE id = 2;
UPDATE o SET c = JSON_EXTRACT('{', '$.a') WHERE id = 2;
UPDATE o SET c = JSON_EXTRACT('{"a": 1}', '$.') WHERE id = 2;
UPDATE o SET c = UNCOMPRESS('xxxxxxxx') WHERE id = 2;
UPDATE IGNORE o SET c = STR_TO_DATE('x', '%d') WHERE id = 2;
-- DELETE stores nothing.
-- nowarn
DELETE FROM o WHERE id = 2 AND STR_TO_DATE('x', '%d') IS NULL;
-- nowarn
DELETE FROM o WHERE id = 4 AND CAST('x' AS SIGNED) = 0;
-- nowarn
DELETE FROM a USING o a JOIN o b ON a.id = b.id WHERE a.id = 5 AND DATE('x') IS NULL;
SELECT * FROM o;
SET sql_mode = DEFAULT;
SELECT CAST('-0' AS DOUBLE), CAST(CONCAT('-', '0.0') AS DOUBLE), CAST('-0' AS FLOAT);
-- [last] of what is no array.
SELECT JSON_SET('{"a": 1}', '$[last]', 'a'), JSON_INSERT('{"a": 1}', '$[last]', 'a');
-- Subqueries in CREATE TABLE ... SELECT and DO.
CREATE TABLE c1 SELECT id, (SELECT MAX(i) FROM t) a FROM t WHERE id IN (SELECT id FROM t WHERE id > 0);
SELECT * FROM c1;
CREATE TABLE c2 (x INT) AS SELECT (SELECT 1) x;
SELECT * FROM c2;
CREATE TABLE c3 (SELECT id, (SELECT COUNT(*) FROM t b WHERE b.id <= a.id) n FROM t a);
SELECT * FROM c3;
CREATE TABLE c4 AS WITH w AS (SELECT 1 a UNION SELECT (SELECT 5)) SELECT a FROM w WHERE EXISTS (SELECT 1 FROM t);
SELECT * FROM c4;
DO (SELECT MAX(i) FROM t), 2;
DO (SELECT id FROM t);
SHOW WARNINGS;
DO 9223372036854775807 + 1;
DO EXISTS (SELECT 1 FROM nope);
DO SUM(1);
DO (SELECT 1 UNION SELECT 1);
-- A part of a date with too many digits makes it none.
SET sql_mode = '';
CREATE TABLE p (id INT PRIMARY KEY AUTO_INCREMENT, d DATE, dt DATETIME);
INSERT INTO p (d) VALUES ('2020-02-299'), ('2020-02-292020-01-31 10:20:30'), ('2020-02-29 x'), ('2020-02-29x'), ('2020-02-29 1010:20'), ('20200229x'), ('2020-2-2999 10');
INSERT INTO p (dt) VALUES ('2020-02-299'), ('2020-02-29 10:200:10'), ('2020-02-29 10:20:300'), ('2020-02-29 10:20:30x'), ('2020-02-2910:20:30'), ('2020-02-29-01');
SELECT * FROM p;
SELECT CAST('2020-02-299' AS DATE), CAST('2020-02-29 10:20:300' AS DATETIME), DATE('2020-02-291'), DATE_ADD('2020-02-299', INTERVAL 1 DAY), TIMESTAMP('2020-02-29 101:10');
SET sql_mode = DEFAULT;
